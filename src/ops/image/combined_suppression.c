// CombinedNonMaxSuppression: boxes chosen for each picture and class, then the best of all classes.
#include "ops/image/non_max_suppression.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

typedef struct combined {
  bool pad_per_class, clip;
} combined;

typedef struct sizes {
  int64_t batch, boxes, box_sets, classes;  // box_sets: 1 for all classes, or one for each
  int64_t per_class, total;
  float threshold, score_threshold;
} sizes;

// What was chosen for all classes of one picture, and room to work in.
typedef struct work {
  rheos__suppressor one;  // for a class
  float *class_boxes;     // (boxes, 4)
  rheos__suppressor all;  // its heap: `box` is the place among the chosen
  int32_t *box_of, *class_of;
} work;

static void free_work(work *w) {
  rheos__free(w->one.heap);
  rheos__free(w->one.chosen);
  rheos__free(w->one.scores);
  rheos__free(w->class_boxes);
  rheos__free(w->all.heap);
  rheos__free(w->box_of);
  rheos__free(w->class_of);
}

static rheos_status *new_work(const sizes *n, int64_t num_scores, work *w) {
  const size_t boxes = (size_t)n->boxes, most = (size_t)num_scores;
  *w = (work){
      .one = {.n = n->boxes, .threshold = n->threshold, .score_threshold = n->score_threshold}};
  w->one.heap = rheos__alloc_array(boxes, sizeof *w->one.heap);
  w->one.chosen = rheos__alloc_array(boxes, sizeof *w->one.chosen);
  w->one.scores = rheos__alloc_array(boxes, sizeof *w->one.scores);
  w->class_boxes = rheos__alloc_array(boxes, 4 * sizeof *w->class_boxes);
  w->all.heap = rheos__alloc_array(most, sizeof *w->all.heap);
  w->box_of = rheos__alloc_array(most, sizeof *w->box_of);
  w->class_of = rheos__alloc_array(most, sizeof *w->class_of);
  const bool enough = w->one.heap != NULL && w->one.chosen != NULL && w->one.scores != NULL &&
                      w->class_boxes != NULL && w->all.heap != NULL && w->box_of != NULL &&
                      w->class_of != NULL;
  return enough ? NULL : rheos__out_of_memory();
}

static void choose_of_class(const sizes *n, const float *boxes, const float *scores, int64_t class,
                            work *w) {
  const int64_t set = n->box_sets == 1 ? 0 : class;
  w->one.count = w->one.num_chosen = 0;
  w->one.most = n->per_class < n->boxes ? n->per_class : n->boxes;
  w->one.boxes = w->class_boxes;
  for (int64_t i = 0; i < n->boxes; ++i) {
    for (int k = 0; k < 4; ++k) w->class_boxes[4 * i + k] = boxes[(i * n->box_sets + set) * 4 + k];
    const float score = scores[i * n->classes + class];
    if (score > n->score_threshold) {
      rheos__suppressor_push(&w->one, (rheos__candidate){score, (int32_t)i, 0});
    }
  }
  rheos__suppressor_choose(&w->one);
  for (int64_t i = 0; i < w->one.num_chosen; ++i) {
    const int32_t place = (int32_t)w->all.count;
    w->box_of[place] = w->one.chosen[i];
    w->class_of[place] = (int32_t)class;
    rheos__suppressor_push(&w->all, (rheos__candidate){w->one.scores[i], place, 0});
  }
}

static float clipped(float x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

// Picture `b`: its best boxes, then zeros.
static void store_picture(const combined *s, const sizes *n, int64_t b, int64_t length,
                          const float *boxes, work *w, rheos_tensor **outputs) {
  float *out_boxes = (float *)outputs[0]->data + 4 * b * length;
  float *out_scores = (float *)outputs[1]->data + b * length;
  float *out_classes = (float *)outputs[2]->data + b * length;
  int64_t count = 0;
  for (; count < length && w->all.count > 0; ++count) {
    const rheos__candidate best = rheos__suppressor_pop(&w->all);
    const int64_t class = w->class_of[best.box], set = n->box_sets == 1 ? 0 : class;
    const float *box = boxes + (w->box_of[best.box] * n->box_sets + set) * 4;
    for (int k = 0; k < 4; ++k) out_boxes[4 * count + k] = s->clip ? clipped(box[k]) : box[k];
    out_scores[count] = best.score;
    out_classes[count] = (float)class;
  }
  ((int32_t *)outputs[3]->data)[b] = (int32_t)count;
  for (int64_t i = count; i < length; ++i) {
    for (int k = 0; k < 4; ++k) out_boxes[4 * i + k] = 0;
    out_scores[i] = out_classes[i] = 0;
  }
}

static rheos_status *combine(const combined *s, const sizes *n, int64_t length, work *w,
                             rheos_tensor *const *inputs, rheos_tensor **outputs,
                             rheos__step *step) {
  for (int64_t b = 0; b < n->batch; ++b) {
    const float *boxes = (const float *)inputs[0]->data + b * n->boxes * n->box_sets * 4;
    const float *scores = (const float *)inputs[1]->data + b * n->boxes * n->classes;
    w->all.count = 0;
    for (int64_t class = 0; class < n->classes; ++class) {
      if (rheos__step_should_stop(step)) {
        return rheos_status_new(RHEOS_CANCELLED, "Step was cancelled.");
      }
      choose_of_class(n, boxes, scores, class, w);
    }
    store_picture(s, n, b, length, boxes, w, outputs);
  }
  return NULL;
}

static rheos_status *sizes_of(rheos_tensor *const *inputs, sizes *n) {
  const rheos_shape *boxes = &inputs[0]->shape, *scores = &inputs[1]->shape;
  rheos__shape_text a, b;
  const bool fit = boxes->rank == 4 && scores->rank == 3 && boxes->dims[3] == 4 &&
                   boxes->dims[0] == scores->dims[0] && boxes->dims[1] == scores->dims[1] &&
                   (boxes->dims[2] == 1 || boxes->dims[2] == scores->dims[2]);
  if (!fit) {
    return RHEOS_INVALID("boxes of shape %s do not go with scores of shape %s",
                         rheos__shape_text_of(boxes, &a), rheos__shape_text_of(scores, &b));
  }
  *n = (sizes){
      .batch = boxes->dims[0],
      .boxes = boxes->dims[1],
      .box_sets = boxes->dims[2],
      .classes = scores->dims[2],
      .per_class = rheos__tensor_int_at(inputs[2], 0),
      .total = rheos__tensor_int_at(inputs[3], 0),
      .threshold = *(const float *)inputs[4]->data,
      .score_threshold = *(const float *)inputs[5]->data,
  };
  if (n->per_class <= 0) {
    return RHEOS_INVALID("max_size_per_class must be positive, got %lld", (long long)n->per_class);
  }
  if (n->total <= 0) {
    return RHEOS_INVALID("max_total_size must be > 0, got %lld", (long long)n->total);
  }
  if (!(n->threshold >= 0 && n->threshold <= 1)) {
    return RHEOS_INVALID("iou_threshold must be in [0, 1]");
  }
  if (inputs[1]->num_elements > INT32_MAX) return RHEOS_INVALID("there are too many boxes");
  return NULL;
}

// How many boxes come out for a picture. At most 2^62, as both sizes fit 31 bits.
static int64_t length_of(bool pad_per_class, int64_t total, int64_t per_class, int64_t classes) {
  if (!pad_per_class || classes >= total || per_class * classes >= total) return total;
  return per_class * classes;
}

static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  const combined *s = state;
  sizes n = {0};
  work w;
  RHEOS_TRY(sizes_of(inputs, &n));
  const int64_t length = length_of(s->pad_per_class, n.total, n.per_class, n.classes);
  RHEOS_TRY(rheos__tensor_new(RHEOS_FLOAT, &RHEOS_SHAPE(n.batch, length, 4), &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_FLOAT, &RHEOS_SHAPE(n.batch, length), &outputs[1]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_FLOAT, &RHEOS_SHAPE(n.batch, length), &outputs[2]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT32, &RHEOS_SHAPE(n.batch), &outputs[3]));
  rheos_status *status = new_work(&n, inputs[1]->num_elements, &w);
  if (status == NULL) status = combine(s, &n, length, &w, inputs, outputs, step);
  free_work(&w);
  return status;
}

static rheos_status *prepare(rheos__prepare *p) {
  combined *s = RHEOS_NEW_STATE(p, combined);
  if (s == NULL) return rheos__out_of_memory();
  s->pad_per_class = rheos__attr_bool(p->attrs, "pad_per_class");
  s->clip = rheos__attr_bool(p->attrs, "clip_boxes");
  p->compute = compute;
  return NULL;
}

static rheos_status *shape(rheos__infer *c) {
  rheos_shape boxes, scores, scalar;
  RHEOS_TRY(rheos__infer_rank(c, 0, 4, &boxes));
  RHEOS_TRY(rheos__infer_rank(c, 1, 3, &scores));
  for (int32_t i = 2; i < 6; ++i) RHEOS_TRY(rheos__infer_rank(c, i, 0, &scalar));
  const rheos_shape fits = RHEOS_SHAPE(scores.dims[0], scores.dims[1], -1, 4), known = boxes;
  RHEOS_TRY(rheos__shape_merge(&fits, &known, &boxes));
  if (boxes.dims[2] >= 0 && boxes.dims[2] != 1 && scores.dims[2] >= 0 &&
      boxes.dims[2] != scores.dims[2]) {
    return RHEOS_INVALID(
        "third dimension of boxes must be either 1 or equal to the third dimension "
        "of scores");
  }
  const bool pad = rheos__attr_bool(c->attrs, "pad_per_class");
  int64_t length = -1, total, per_class = 0;
  if (rheos__infer_int(c, 3, &total)) {
    if (total <= 0) return RHEOS_INVALID("max_total_size should be > 0");
    const bool known_class = rheos__infer_int(c, 2, &per_class) && per_class > 0;
    if (!pad || (known_class && scores.dims[2] >= 0)) {
      length = length_of(pad, total, per_class, scores.dims[2]);
    }
  }
  c->output_shapes[0] = RHEOS_SHAPE(boxes.dims[0], length, 4);
  c->output_shapes[1] = c->output_shapes[2] = RHEOS_SHAPE(boxes.dims[0], length);
  c->output_shapes[3] = RHEOS_SHAPE(boxes.dims[0]);
  return NULL;
}

const rheos__op_def rheos__op_CombinedNonMaxSuppression = {
    .name = "CombinedNonMaxSuppression",
    .signature =
        "boxes: float, scores: float, max_output_size_per_class: int32, max_total_size: int32, "
        "iou_threshold: float, score_threshold: float -> nmsed_boxes: float, "
        "nmsed_scores: float, nmsed_classes: float, valid_detections: int32; "
        "pad_per_class: bool = false; clip_boxes: bool = true",
    .doc = "NonMaxSuppression for each picture and class; the best of all classes, then zeros.",
    .shape = shape,
    .prepare = prepare,
};
