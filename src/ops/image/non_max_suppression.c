// Boxes chosen by score, none of which overlaps one chosen before by more than a threshold. With a
// `soft` sigma overlap lowers scores instead (Bodla et al., 2017).
#include "ops/image/non_max_suppression.h"

#include <float.h>
#include <math.h>

#include "ops/image/resize.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

typedef struct suppression {
  int version;  // 1 to 5; 0: WithOverlaps
  bool pad;
  float threshold;  // of version 1
  rheos_dtype dtype;
} suppression;

static float overlap(const rheos__suppressor *w, int32_t i, int32_t j) {
  if (w->overlaps) return w->boxes[(int64_t)i * w->n + j];
  const float *a = w->boxes + 4 * (int64_t)i, *b = w->boxes + 4 * (int64_t)j;
  const float top_a = fminf(a[0], a[2]), bottom_a = fmaxf(a[0], a[2]);
  const float left_a = fminf(a[1], a[3]), right_a = fmaxf(a[1], a[3]);
  const float top_b = fminf(b[0], b[2]), bottom_b = fmaxf(b[0], b[2]);
  const float left_b = fminf(b[1], b[3]), right_b = fmaxf(b[1], b[3]);
  const float area_a = (bottom_a - top_a) * (right_a - left_a);
  const float area_b = (bottom_b - top_b) * (right_b - left_b);
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = fmaxf(fminf(bottom_a, bottom_b) - fmaxf(top_a, top_b), 0);
  const float width = fmaxf(fminf(right_a, right_b) - fmaxf(left_a, left_b), 0);
  const float common = height * width;
  return common / (area_a + area_b - common);
}

// ---- A heap of candidates, the highest score first, of equal ones the first box

static bool before(rheos__candidate a, rheos__candidate b) {
  return a.score > b.score || (a.score == b.score && a.box < b.box);
}

void rheos__suppressor_push(rheos__suppressor *w, rheos__candidate c) {
  int64_t at = w->count++;
  for (; at > 0 && before(c, w->heap[(at - 1) / 2]); at = (at - 1) / 2) {
    w->heap[at] = w->heap[(at - 1) / 2];
  }
  w->heap[at] = c;
}

rheos__candidate rheos__suppressor_pop(rheos__suppressor *w) {
  const rheos__candidate top = w->heap[0], moved = w->heap[--w->count];
  int64_t at = 0;
  for (int64_t child = 1; child < w->count; child = 2 * at + 1) {
    if (child + 1 < w->count && before(w->heap[child + 1], w->heap[child])) child++;
    if (!before(w->heap[child], moved)) break;
    w->heap[at] = w->heap[child];
    at = child;
  }
  if (w->count > 0) w->heap[at] = moved;
  return top;
}

// Lowers c's score by the boxes chosen since it was looked at; false if it is out.
static bool weigh(const rheos__suppressor *w, rheos__candidate *c) {
  const float scale = w->sigma > 0 ? -0.5f / w->sigma : 0;
  for (int64_t j = w->num_chosen - 1; j >= c->begin; j--) {
    const float similarity = overlap(w, c->box, w->chosen[j]);
    if (w->sigma <= 0 && similarity > w->threshold) return false;
    c->score *= expf(scale * similarity * similarity);  // 1 unless soft
    if (c->score <= w->score_threshold) break;
  }
  c->begin = (int32_t)w->num_chosen;
  return true;
}

void rheos__suppressor_choose(rheos__suppressor *w) {
  while (w->num_chosen < w->most && w->count > 0) {
    rheos__candidate next = rheos__suppressor_pop(w);
    const float score = next.score;
    if (!weigh(w, &next)) continue;
    if (next.score == score) {
      w->scores[w->num_chosen] = score;
      w->chosen[w->num_chosen++] = next.box;
    } else if (next.score > w->score_threshold) {
      rheos__suppressor_push(w, next);
    }
  }
}

// ---- The kernel

static float float_in(const rheos_tensor *tensor) {
  float value;
  rheos__load_floats_of(tensor->dtype)(tensor->data, 0, 1, &value);
  return value;
}

static rheos_status *check_inputs(const suppression *s, rheos_tensor *const *inputs) {
  const rheos_shape *boxes = &inputs[0]->shape, *scores = &inputs[1]->shape;
  rheos__shape_text text;
  if (boxes->rank != 2 || (s->version > 0 && boxes->dims[1] != 4) ||
      (s->version == 0 && boxes->dims[1] != boxes->dims[0])) {
    return RHEOS_INVALID("%s, got shape %s",
                         s->version > 0 ? "boxes must be [n, 4]" : "overlaps must be square",
                         rheos__shape_text_of(boxes, &text));
  }
  if (scores->rank != 1 || scores->dims[0] != boxes->dims[0]) {
    return RHEOS_INVALID("scores has incompatible shape %s", rheos__shape_text_of(scores, &text));
  }
  if (boxes->dims[0] > INT32_MAX) return RHEOS_INVALID("there are too many boxes");
  return NULL;
}

static rheos_status *read_options(const suppression *s, rheos_tensor *const *inputs,
                                  rheos__suppressor *w) {
  w->threshold = s->version == 1 ? s->threshold : float_in(inputs[3]);
  w->score_threshold = s->version == 0 || s->version >= 3 ? float_in(inputs[4]) : -FLT_MAX;
  w->sigma = s->version == 5 ? float_in(inputs[5]) : 0;
  w->most = rheos__tensor_int_at(inputs[2], 0);
  if (w->most < 0) {
    return RHEOS_INVALID("max_output_size must be non-negative, got %lld", (long long)w->most);
  }
  if (s->version > 0 && !(w->threshold >= 0 && w->threshold <= 1)) {
    return RHEOS_INVALID("iou_threshold must be in [0, 1]");
  }
  if (!(w->sigma >= 0)) return RHEOS_INVALID("soft_nms_sigma must be non-negative");
  return NULL;
}

// The scores in the dtype of the op.
static void store_scores(const rheos__suppressor *w, rheos_tensor *out) {
  for (int64_t i = 0; i < out->num_elements; i++) {
    const float score = i < w->num_chosen ? w->scores[i] : 0;
    if (out->dtype == RHEOS_HALF) {
      ((uint16_t *)out->data)[i] = rheos__float_to_half(score);
    } else {
      ((float *)out->data)[i] = score;
    }
  }
}

static rheos_status *store_results(const suppression *s, const rheos__suppressor *w, int64_t wanted,
                                   rheos_tensor **outputs) {
  const int64_t count = s->pad ? wanted : w->num_chosen;
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT32, &RHEOS_SHAPE(count), &outputs[0]));
  int32_t *indices = outputs[0]->data;
  for (int64_t i = 0; i < count; i++) indices[i] = i < w->num_chosen ? w->chosen[i] : 0;
  const int last = s->version == 5 ? 2 : 1;
  if (s->version < 4) return NULL;
  if (s->version == 5) {
    RHEOS_TRY(rheos__tensor_new(s->dtype, &RHEOS_SHAPE(count), &outputs[1]));
    store_scores(w, outputs[1]);
  }
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT32, &RHEOS_SCALAR, &outputs[last]));
  *(int32_t *)outputs[last]->data = (int32_t)w->num_chosen;
  return NULL;
}

static rheos_status *suppress(const suppression *s, rheos_tensor *const *inputs, float *boxes,
                              rheos__suppressor *w, rheos_tensor **outputs) {
  const rheos__load_floats_fn load = rheos__load_floats_of(inputs[0]->dtype);
  const int64_t wanted = w->most;
  load(inputs[0]->data, 0, inputs[0]->num_elements, boxes);
  w->boxes = boxes;
  if (w->most > w->n) w->most = w->n;
  for (int64_t i = 0; i < w->n; i++) {
    float score;
    load(inputs[1]->data, i, 1, &score);
    if (score > w->score_threshold)
      rheos__suppressor_push(w, (rheos__candidate){score, (int32_t)i, 0});
  }
  rheos__suppressor_choose(w);
  return store_results(s, w, wanted, outputs);
}

static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  const suppression *s = state;
  (void)step;
  rheos__suppressor w = {.overlaps = s->version == 0, .n = inputs[1]->num_elements};
  RHEOS_TRY(check_inputs(s, inputs));
  RHEOS_TRY(read_options(s, inputs, &w));
  float *boxes = rheos__alloc_array((size_t)inputs[0]->num_elements, sizeof *boxes);
  w.heap = rheos__alloc_array((size_t)w.n, sizeof *w.heap);
  w.chosen = rheos__alloc_array((size_t)w.n, sizeof *w.chosen);
  w.scores = rheos__alloc_array((size_t)w.n, sizeof *w.scores);
  const bool enough = boxes != NULL && w.heap != NULL && w.chosen != NULL && w.scores != NULL;
  rheos_status *status = enough ? suppress(s, inputs, boxes, &w, outputs) : rheos__out_of_memory();
  rheos__free(boxes);
  rheos__free(w.heap);
  rheos__free(w.chosen);
  rheos__free(w.scores);
  return status;
}

static rheos_status *prepare(rheos__prepare *p, int version) {
  suppression *s = RHEOS_NEW_STATE(p, suppression);
  if (s == NULL) return rheos__out_of_memory();
  s->version = version;
  s->dtype = p->input_dtypes[0];
  s->pad = version >= 4 && rheos__attr_bool(p->attrs, "pad_to_max_output_size");
  if (version == 1) s->threshold = rheos__attr_float(p->attrs, "iou_threshold");
  p->compute = compute;
  return NULL;
}

static rheos_status *prepare_0(rheos__prepare *p) { return prepare(p, 0); }
static rheos_status *prepare_1(rheos__prepare *p) { return prepare(p, 1); }
static rheos_status *prepare_2(rheos__prepare *p) { return prepare(p, 2); }
static rheos_status *prepare_3(rheos__prepare *p) { return prepare(p, 3); }
static rheos_status *prepare_4(rheos__prepare *p) { return prepare(p, 4); }
static rheos_status *prepare_5(rheos__prepare *p) { return prepare(p, 5); }

// ---- Shapes

static rheos_status *infer(rheos__infer *c, int64_t columns) {
  rheos_shape boxes, scores, scalar;
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &boxes));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &scores));
  for (int32_t i = 2; i < c->num_inputs; i++) RHEOS_TRY(rheos__infer_rank(c, i, 0, &scalar));
  if (boxes.dims[0] >= 0 && scores.dims[0] >= 0 && boxes.dims[0] != scores.dims[0]) {
    return RHEOS_INVALID("%lld boxes have %lld scores", (long long)boxes.dims[0],
                         (long long)scores.dims[0]);
  }
  if (columns > 0 && boxes.dims[1] != -1 && boxes.dims[1] != columns) {
    return RHEOS_INVALID("boxes must have 4 columns, got %lld", (long long)boxes.dims[1]);
  }
  if (columns == 0 && boxes.dims[0] >= 0 && boxes.dims[1] >= 0 && boxes.dims[0] != boxes.dims[1]) {
    return RHEOS_INVALID("overlaps must be square, got %lld rows of %lld", (long long)boxes.dims[0],
                         (long long)boxes.dims[1]);
  }
  for (int32_t i = 0; i < c->num_outputs; i++) c->output_shapes[i] = RHEOS_SHAPE(-1);
  return NULL;
}

static rheos_status *boxes_shape(rheos__infer *c) { return infer(c, 4); }
static rheos_status *overlaps_shape(rheos__infer *c) { return infer(c, 0); }

// With a number of boxes that count, at the end.
static rheos_status *counted_shape(rheos__infer *c) {
  int64_t most;
  RHEOS_TRY(infer(c, 4));
  c->output_shapes[c->num_outputs - 1] = RHEOS_SCALAR;
  if (rheos__attr_bool(c->attrs, "pad_to_max_output_size") && rheos__infer_int(c, 2, &most)) {
    if (most < 0) return RHEOS_INVALID("max_output_size must be non-negative");
    for (int32_t i = 0; i + 1 < c->num_outputs; i++) c->output_shapes[i] = RHEOS_SHAPE(most);
  }
  return NULL;
}

#define TYPES "; T: {half, float} = float; T_threshold: {half, float} = float"
#define NMS(op, text, words, infer_fn, prepare_fn)                      \
  const rheos__op_def rheos__op_##op = {.name = #op,                    \
                                        .signature = text,              \
                                        .doc = words,                   \
                                        .shape = infer_fn,              \
                                        .gradient = rheos__no_gradient, \
                                        .prepare = prepare_fn};
#define BEST \
  "The boxes of highest `scores` that overlap none chosen before by more than a threshold"

NMS(NonMaxSuppression,
    "boxes: float, scores: float, max_output_size: int32 -> selected_indices: int32; "
    "iou_threshold: float = 0.5",
    BEST ".", boxes_shape, prepare_1)
NMS(NonMaxSuppressionV2,
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold -> "
    "selected_indices: int32" TYPES,
    BEST ".", boxes_shape, prepare_2)
NMS(NonMaxSuppressionV3,
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold: "
    "T_threshold -> selected_indices: int32" TYPES,
    BEST ".", boxes_shape, prepare_3)
NMS(NonMaxSuppressionV4,
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, score_threshold: "
    "T_threshold -> selected_indices: int32, valid_outputs: int32" TYPES
    "; pad_to_max_output_size: bool = false",
    BEST ", and how many they are.", counted_shape, prepare_4)
NMS(NonMaxSuppressionV5,
    "boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T, "
    "soft_nms_sigma: T -> selected_indices: int32, selected_scores: T, valid_outputs: int32; "
    "T: {half, float} = float; pad_to_max_output_size: bool = false",
    BEST ", with their scores, which overlap lowers if `soft_nms_sigma` > 0.", counted_shape,
    prepare_5)
NMS(NonMaxSuppressionWithOverlaps,
    "overlaps: float, scores: float, max_output_size: int32, overlap_threshold: float, "
    "score_threshold: float -> selected_indices: int32",
    BEST ", by a matrix of `overlaps`.", overlaps_shape, prepare_0)
