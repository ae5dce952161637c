// CTCBeamSearchDecoder: the likeliest sequences of labels, searched step by step (Graves, 2012). A
// beam is a sequence that was reached; those of its paths that end in a blank and those that end in
// its last label are counted apart, because only the first may go on with the same label.
#include <math.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/special_math.h"

typedef struct search_state {
  rheos_dtype dtype;
  int64_t steps, batch, classes, width, paths;
  bool merges;
} search_state;

// Logarithms of the probabilities of the paths to a beam.
typedef struct chances {
  double total, blank, label;
} chances;

static const chances no_chances = {-INFINITY, -INFINITY, -INFINITY};

typedef struct beam {
  int64_t parent, label;         // -1: the empty sequence
  int64_t first_child, sibling;  // -1: none
  chances before, now;
} beam;

typedef struct search {
  const search_state *s;
  beam *beams;  // all that were ever among the best
  int64_t count, capacity;
  int64_t *leaves, *last_leaves;  // the best, in falling order
  int64_t num_leaves;
  double *logs;
} search;

static rheos_status *new_beam(search *w, int64_t parent, int64_t label, int64_t *out_beam) {
  if (w->count == w->capacity) {
    const int64_t capacity = w->capacity * 2 + 64;
    beam *grown = rheos__alloc_array((size_t)capacity, sizeof *grown);
    if (grown == NULL) return rheos__out_of_memory();
    for (int64_t i = 0; i < w->count; ++i) grown[i] = w->beams[i];
    rheos__free(w->beams);
    w->beams = grown;
    w->capacity = capacity;
  }
  *out_beam = w->count++;
  w->beams[*out_beam] = (beam){parent, label, -1, -1, no_chances, no_chances};
  if (parent < 0) return NULL;
  w->beams[*out_beam].sibling = w->beams[parent].first_child;
  w->beams[parent].first_child = *out_beam;
  return NULL;
}

static int64_t child_of(const search *w, int64_t parent, int64_t label) {
  int64_t child = w->beams[parent].first_child;
  while (child >= 0 && w->beams[child].label != label) child = w->beams[child].sibling;
  return child;
}

static bool is_candidate(const search *w, double total) {
  if (!(total > -INFINITY)) return false;
  return w->num_leaves < w->s->width || total > w->beams[w->leaves[w->num_leaves - 1]].now.total;
}

// Among the leaves, of which the last goes if they are too many.
static void push_leaf(search *w, int64_t added) {
  const double total = w->beams[added].now.total;
  int64_t at = w->num_leaves;
  if (at == w->s->width) {
    w->beams[w->leaves[--at]].now = no_chances;
  } else {
    w->num_leaves++;
  }
  for (; at > 0 && w->beams[w->leaves[at - 1]].now.total < total; --at) {
    w->leaves[at] = w->leaves[at - 1];
  }
  w->leaves[at] = added;
}

static double input_at(const search_state *s, const void *data, int64_t t, int64_t b, int64_t k) {
  const int64_t at = (t * s->batch + b) * s->classes + k;
  return s->dtype == RHEOS_DOUBLE ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

static void read_logs(search *w, const void *inputs, int64_t t, int64_t b) {
  const search_state *s = w->s;
  double largest = -INFINITY, sum = 0;
  for (int64_t k = 0; k < s->classes; ++k) {
    w->logs[k] = input_at(s, inputs, t, b, k);
    if (w->logs[k] > largest) largest = w->logs[k];
  }
  for (int64_t k = 0; k < s->classes; ++k) sum += exp(w->logs[k] - largest);
  for (int64_t k = 0; k < s->classes; ++k) w->logs[k] -= largest + log(sum);
}

// The beams as they are: by a blank, by their last label again, or by it for the first time.
static void stay(search *w, int64_t index) {
  beam *b = &w->beams[index];
  if (b->parent >= 0) {
    const beam *parent = &w->beams[b->parent];
    if (parent->now.total > -INFINITY) {
      const double from = b->label == parent->label ? parent->before.blank : parent->before.total;
      b->now.label = rheos__log_sum(b->now.label, from);
    }
    b->now.label += w->logs[b->label];
  }
  b->now.blank = b->before.total + w->logs[w->s->classes - 1];
  b->now.total = rheos__log_sum(b->now.blank, b->now.label);
}

// The beams with one more label.
static rheos_status *grow(search *w, int64_t index) {
  for (int64_t label = 0; label < w->s->classes - 1; ++label) {
    const beam *b = &w->beams[index];
    int64_t child = child_of(w, index, label);
    if (child >= 0 && w->beams[child].now.total > -INFINITY) continue;
    const double from = label == b->label ? b->before.blank : b->before.total;
    const double total = w->logs[label] + from;
    if (!is_candidate(w, total)) {
      if (child >= 0) w->beams[child].before = w->beams[child].now = no_chances;
      continue;
    }
    if (child < 0) RHEOS_TRY(new_beam(w, index, label, &child));
    w->beams[child].now = (chances){total, -INFINITY, total};
    push_leaf(w, child);
  }
  return NULL;
}

static rheos_status *take_step(search *w) {
  const int64_t count = w->num_leaves;
  int64_t *const branches = w->leaves;
  w->leaves = w->last_leaves;
  w->last_leaves = branches;
  w->num_leaves = 0;
  for (int64_t i = 0; i < count; ++i) w->beams[branches[i]].before = w->beams[branches[i]].now;
  for (int64_t i = 0; i < count; ++i) {
    stay(w, branches[i]);
    push_leaf(w, branches[i]);
  }
  for (int64_t i = 0; i < count; ++i) {
    if (is_candidate(w, w->beams[branches[i]].before.total)) RHEOS_TRY(grow(w, branches[i]));
  }
  return NULL;
}

// The labels of a beam, in `labels` if it is not NULL; answers how many. Of equal ones in a row the
// first only, if repetitions are merged.
static int64_t read_labels(const search *w, int64_t leaf, int64_t count, int64_t *labels) {
  int64_t found = 0, before = -1;
  for (int64_t at = leaf; w->beams[at].parent >= 0; at = w->beams[at].parent) {
    const int64_t label = w->beams[at].label;
    if (!w->s->merges || label != before) {
      found++;
      if (labels != NULL) labels[count - found] = label;
    }
    before = label;
  }
  return found;
}

// ---- The sequences found: labels of all, path by path

typedef struct found {
  int64_t *lengths;  // (paths, batch)
  int64_t **labels;  // (paths, batch), each for rheos__free()
} found;

static rheos_status *keep_best(const search *w, int64_t b, const found *f, rheos_tensor *scores) {
  const search_state *s = w->s;
  if (w->num_leaves < s->paths) {
    return RHEOS_INVALID("Less leaves in the beam search than requested.");
  }
  for (int64_t k = 0; k < s->paths; ++k) {
    const int64_t leaf = w->leaves[k], at = k * s->batch + b;
    const int64_t length = read_labels(w, leaf, 0, NULL);
    f->lengths[at] = length;
    f->labels[at] = rheos__alloc_array((size_t)length, sizeof **f->labels);
    if (f->labels[at] == NULL) return rheos__out_of_memory();
    read_labels(w, leaf, length, f->labels[at]);
    const double score = w->beams[leaf].now.total;
    if (s->dtype == RHEOS_DOUBLE) {
      ((double *)scores->data)[b * s->paths + k] = score;
    } else {
      ((float *)scores->data)[b * s->paths + k] = (float)score;
    }
  }
  return NULL;
}

static rheos_status *search_one(search *w, rheos__step *step, rheos_tensor *const *inputs,
                                int64_t b) {
  const int64_t length = ((const int32_t *)inputs[1]->data)[b];
  int64_t root;
  w->count = w->num_leaves = 0;
  RHEOS_TRY(new_beam(w, -1, -1, &root));
  w->beams[root].now = (chances){0, 0, -INFINITY};
  push_leaf(w, root);
  for (int64_t t = 0; t < length; ++t) {
    if (rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "Step was cancelled.");
    }
    read_logs(w, inputs[0]->data, t, b);
    RHEOS_TRY(take_step(w));
  }
  return NULL;
}

static rheos_status *search_all(const search_state *s, rheos__step *step,
                                rheos_tensor *const *inputs, const found *f, rheos_tensor *scores) {
  search w = {.s = s};
  w.leaves = rheos__alloc_array((size_t)s->width, sizeof *w.leaves);
  w.last_leaves = rheos__alloc_array((size_t)s->width, sizeof *w.last_leaves);
  w.logs = rheos__alloc_array((size_t)s->classes, sizeof *w.logs);
  const bool enough = w.leaves != NULL && w.last_leaves != NULL && w.logs != NULL;
  rheos_status *status = enough ? NULL : rheos__out_of_memory();
  for (int64_t b = 0; b < s->batch && status == NULL; ++b) {
    status = search_one(&w, step, inputs, b);
    if (status == NULL) status = keep_best(&w, b, f, scores);
  }
  rheos__free(w.beams);
  rheos__free(w.leaves);
  rheos__free(w.last_leaves);
  rheos__free(w.logs);
  return status;
}

static rheos_status *store_path(const search_state *s, const found *f, int64_t k,
                                rheos_tensor **outputs) {
  const int64_t *lengths = f->lengths + k * s->batch;
  int64_t count = 0, longest = 0, at = 0;
  for (int64_t b = 0; b < s->batch; ++b) {
    count += lengths[b];
    if (lengths[b] > longest) longest = lengths[b];
  }
  const int64_t shape[] = {s->batch, longest};
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(count, 2), &outputs[k]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(count), &outputs[s->paths + k]));
  RHEOS_TRY(
      rheos_tensor_from_values(RHEOS_INT64, RHEOS_SHAPE(2), shape, &outputs[2 * s->paths + k]));
  int64_t *indices = outputs[k]->data, *values = outputs[s->paths + k]->data;
  for (int64_t b = 0; b < s->batch; ++b) {
    for (int64_t i = 0; i < lengths[b]; ++i, ++at) {
      indices[2 * at] = b;
      indices[2 * at + 1] = i;
      values[at] = f->labels[k * s->batch + b][i];
    }
  }
  return NULL;
}

static rheos_status *check_lengths(const search_state *s, const rheos_tensor *lengths) {
  for (int64_t b = 0; b < s->batch; ++b) {
    const int32_t length = ((const int32_t *)lengths->data)[b];
    if (length >= 0 && length <= s->steps) continue;
    return rheos_status_new(RHEOS_FAILED_PRECONDITION, "sequence_length(%lld) <= %lld",
                            (long long)b, (long long)s->steps);
  }
  return NULL;
}

static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  const search_state *s = state;
  RHEOS_TRY(check_lengths(s, inputs[1]));
  RHEOS_TRY(rheos__tensor_new(s->dtype, &RHEOS_SHAPE(s->batch, s->paths), &outputs[3 * s->paths]));
  const size_t sequences = (size_t)outputs[3 * s->paths]->num_elements;
  found f = {rheos__alloc_array(sequences, sizeof *f.lengths),
             rheos__alloc_array(sequences, sizeof *f.labels)};
  for (size_t i = 0; f.labels != NULL && i < sequences; ++i) f.labels[i] = NULL;
  const bool enough = f.lengths != NULL && f.labels != NULL;
  rheos_status *status =
      enough ? search_all(s, step, inputs, &f, outputs[3 * s->paths]) : rheos__out_of_memory();
  for (int64_t k = 0; k < s->paths && status == NULL; ++k) status = store_path(s, &f, k, outputs);
  for (size_t i = 0; f.labels != NULL && i < sequences; ++i) rheos__free(f.labels[i]);
  rheos__free(f.lengths);
  rheos__free(f.labels);
  return status;
}

static rheos_status *prepare(rheos__prepare *p) {
  search_state *s = RHEOS_NEW_STATE(p, search_state);
  if (s == NULL) return rheos__out_of_memory();
  const rheos_shape *in = &p->input_shapes[0];
  *s = (search_state){
      .dtype = p->input_dtypes[0],
      .steps = in->dims[0],
      .batch = in->dims[1],
      .classes = in->dims[2],
      .width = rheos__attr_int(p->attrs, "beam_width"),
      .paths = rheos__attr_int(p->attrs, "top_paths"),
      .merges = rheos__attr_bool(p->attrs, "merge_repeated"),
  };
  if (s->classes == 0) return RHEOS_INVALID("num_classes cannot be 0");
  if (s->paths > s->width) {
    return RHEOS_INVALID("requested more paths than the beam width: %lld and %lld",
                         (long long)s->paths, (long long)s->width);
  }
  p->compute = compute;
  return NULL;
}

static rheos_status *shape(rheos__infer *c) {
  rheos_shape inputs, lengths;
  const int64_t paths = rheos__attr_int(c->attrs, "top_paths");
  RHEOS_TRY(rheos__infer_rank(c, 0, 3, &inputs));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &lengths));
  const rheos_shape batch = RHEOS_SHAPE(inputs.dims[1]);
  rheos_shape merged;
  RHEOS_TRY(rheos__shape_merge(&batch, &lengths, &merged));
  for (int64_t k = 0; k < paths; ++k) {
    c->output_shapes[k] = RHEOS_SHAPE(-1, 2);
    c->output_shapes[paths + k] = RHEOS_SHAPE(-1);
    c->output_shapes[2 * paths + k] = RHEOS_SHAPE(2);
  }
  c->output_shapes[3 * paths] = RHEOS_SHAPE(merged.dims[0], paths);
  return NULL;
}

const rheos__op_def rheos__op_CTCBeamSearchDecoder = {
    .name = "CTCBeamSearchDecoder",
    .signature =
        "inputs: T, sequence_length: int32 -> decoded_indices: top_paths * int64, "
        "decoded_values: top_paths * int64, decoded_shape: top_paths * int64, "
        "log_probability: T; beam_width: int >= 1; top_paths: int >= 1; "
        "merge_repeated: bool = true; T: {float, double} = float",
    .doc =
        "The `top_paths` likeliest sequences that a search finds in `inputs` (steps, batch, "
        "classes), the last class being the blank.",
    .shape = shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare,
};
