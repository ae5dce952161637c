// Connectionist temporal classification: sequences of labels that a recognizer's output over time
// stands for. A path through the steps spells a sequence with blanks between its labels; the loss
// sums the probabilities of all paths by a recurrence forward and one backward, in logarithms.
#include <math.h>
#include <string.h>

#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/special_math.h"

typedef struct ctc_state {
  rheos_dtype dtype;
  int64_t steps, batch, classes;
  bool collapses, merges, ignores_longer;  // CTCLoss
  int64_t blank;                           // CTCGreedyDecoder
} ctc_state;

static double input_at(const ctc_state *s, const void *data, int64_t t, int64_t b, int64_t k) {
  const int64_t at = (t * s->batch + b) * s->classes + k;
  return s->dtype == RHEOS_DOUBLE ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

static void store(const ctc_state *s, void *data, int64_t at, double value) {
  if (s->dtype == RHEOS_DOUBLE) {
    ((double *)data)[at] = value;
  } else {
    ((float *)data)[at] = (float)value;
  }
}

static rheos_status *new_state(rheos__prepare *p, ctc_state **out_state) {
  ctc_state *s = RHEOS_NEW_STATE(p, ctc_state);
  *out_state = s;
  if (s == NULL) return rheos__out_of_memory();
  const rheos_shape *in = &p->input_shapes[0];
  *s = (ctc_state){.dtype = p->input_dtypes[0],
                   .steps = in->dims[0],
                   .batch = in->dims[1],
                   .classes = in->dims[2]};
  if (s->classes == 0) return RHEOS_INVALID("num_classes cannot be 0");
  return NULL;
}

// The inputs (steps, batch, classes) and the lengths of the sequences.
static rheos_status *infer_inputs(const rheos__infer *c, int32_t lengths, rheos_shape *out_inputs,
                                  int64_t *out_batch) {
  rheos_shape length;
  RHEOS_TRY(rheos__infer_rank(c, 0, 3, out_inputs));
  RHEOS_TRY(rheos__infer_rank(c, lengths, 1, &length));
  const int64_t batch = out_inputs->dims[1];
  if (batch >= 0 && length.dims[0] >= 0 && batch != length.dims[0]) {
    return RHEOS_INVALID(
        "len(sequence_length) != batch_size. len(sequence_length): %lld "
        "batch_size: %lld",
        (long long)length.dims[0], (long long)batch);
  }
  *out_batch = batch >= 0 ? batch : length.dims[0];
  out_inputs->dims[1] = *out_batch;
  return NULL;
}

// ---- CTCLoss

static rheos_status *shape_loss(rheos__infer *c) {
  rheos_shape inputs, indices, values;
  int64_t batch;
  RHEOS_TRY(infer_inputs(c, 3, &inputs, &batch));
  RHEOS_TRY(rheos__infer_rank(c, 1, 2, &indices));
  RHEOS_TRY(rheos__infer_rank(c, 2, 1, &values));
  if (indices.dims[1] >= 0 && indices.dims[1] != 2) {
    return RHEOS_INVALID("labels_indices must have 2 columns, got %lld",
                         (long long)indices.dims[1]);
  }
  if (indices.dims[0] >= 0 && values.dims[0] >= 0 && indices.dims[0] != values.dims[0]) {
    return RHEOS_INVALID(
        "labels_indices and labels_values must contain the same number of rows, "
        "got %lld and %lld",
        (long long)indices.dims[0], (long long)values.dims[0]);
  }
  c->output_shapes[0] = RHEOS_SHAPE(batch);
  c->output_shapes[1] = inputs;
  return NULL;
}

// What one sequence is worked on with; arrays hold `steps` rows.
typedef struct loss_work {
  const ctc_state *s;
  const int32_t *labels;
  int64_t batch, length, num_labels;  // of the sequence
  int64_t width;                      // 2 * num_labels + 1: labels with blanks around them
  double *logs;                       // logarithms of probabilities (steps, classes)
  double *forward, *backward;         // (steps, width)
} loss_work;

static int64_t label_at(const loss_work *w, int64_t u) {
  return u % 2 == 0 ? w->s->classes - 1 : w->labels[u / 2];
}

static void fill_logs(const loss_work *w, const void *inputs) {
  const ctc_state *s = w->s;
  for (int64_t t = 0; t < w->length; ++t) {
    double *row = w->logs + t * s->classes, largest = -INFINITY, sum = 0;
    for (int64_t k = 0; k < s->classes; ++k) {
      row[k] = input_at(s, inputs, t, w->batch, k);
      if (row[k] > largest) largest = row[k];
    }
    for (int64_t k = 0; k < s->classes; ++k) sum += exp(row[k] - largest);
    for (int64_t k = 0; k < s->classes; ++k) row[k] -= largest + log(sum);
  }
}

// Whether a path may stay at place u, and jump over the blank between u and u + 2.
static bool may_stay(const loss_work *w, int64_t u) { return w->s->merges || u % 2 == 0; }
static bool may_jump(const loss_work *w, int64_t u) {
  return u % 2 == 1 && !(w->s->merges && label_at(w, u) == label_at(w, u + 2));
}

static void run_forward(const loss_work *w) {
  for (int64_t t = 0; t < w->length; ++t) {
    const double *logs = w->logs + t * w->s->classes;
    double *now = w->forward + t * w->width, *before = now - w->width;
    for (int64_t u = 0; u < w->width; ++u) {
      double sum = -INFINITY;
      if (t == 0) {
        sum = u < 2 ? 0 : -INFINITY;
      } else {
        if (may_stay(w, u)) sum = before[u];
        if (u > 0) sum = rheos__log_sum(sum, before[u - 1]);
        if (u > 1 && may_jump(w, u - 2)) sum = rheos__log_sum(sum, before[u - 2]);
      }
      now[u] = sum + logs[label_at(w, u)];
    }
  }
}

static void run_backward(const loss_work *w) {
  for (int64_t t = w->length - 1; t >= 0; --t) {
    double *now = w->backward + t * w->width;
    const double *after = now + w->width, *logs = w->logs + (t + 1) * w->s->classes;
    for (int64_t u = 0; u < w->width; ++u) {
      double sum = u + 2 >= w->width ? 0 : -INFINITY;
      if (t < w->length - 1) {
        sum = may_stay(w, u) ? after[u] + logs[label_at(w, u)] : -INFINITY;
        if (u + 1 < w->width) sum = rheos__log_sum(sum, after[u + 1] + logs[label_at(w, u + 1)]);
        if (u + 2 < w->width && may_jump(w, u)) {
          sum = rheos__log_sum(sum, after[u + 2] + logs[label_at(w, u + 2)]);
        }
      }
      now[u] = sum;
    }
  }
}

// The logarithm of the probability of all paths.
static double log_probability(const loss_work *w) {
  double sum = -INFINITY;
  for (int64_t u = 0; u < w->width; ++u) sum = rheos__log_sum(sum, w->forward[u] + w->backward[u]);
  return sum;
}

// The softmax less the share of the paths that are in class k at step t.
static void store_gradient(const loss_work *w, double total, void *gradient) {
  const ctc_state *s = w->s;
  for (int64_t t = 0; t < w->length; ++t) {
    for (int64_t k = 0; k < s->classes; ++k) {
      double sum = -INFINITY;
      for (int64_t u = 0; u < w->width && total != -INFINITY; ++u) {
        const int64_t at = t * w->width + u;
        if (label_at(w, u) == k) sum = rheos__log_sum(sum, w->forward[at] + w->backward[at]);
      }
      const double share = total != -INFINITY ? exp(sum - total) : 0;
      store(s, gradient, (t * s->batch + w->batch) * s->classes + k,
            exp(w->logs[t * s->classes + k]) - share);
    }
  }
}

// The labels of row `batch` that count, in `labels`; those behind a blank must be blanks too.
static rheos_status *collect_labels(const ctc_state *s, rheos_tensor *const *inputs, int64_t batch,
                                    int64_t *at, int32_t *labels, int64_t *out_count) {
  const int64_t *indices = inputs[1]->data;
  const int32_t *values = inputs[2]->data;
  const int64_t first = *at, rows = inputs[2]->num_elements;
  bool finished = false;
  *out_count = 0;
  while (*at < rows && indices[2 * *at] == batch) {
    const int32_t label = values[*at];
    const bool repeats = *at > first && label == values[*at - 1];
    ++*at;
    if (repeats && s->collapses) continue;
    if (label < 0) {
      return RHEOS_INVALID("All labels must be nonnegative integers, batch: %lld labels: %d",
                           (long long)batch, (int)label);
    }
    if (label >= s->classes - 1) {
      finished = true;
      continue;
    }
    if (finished) {
      return RHEOS_INVALID(
          "Saw a non-null label (index >= num_classes - 1) following a null "
          "label, batch: %lld",
          (long long)batch);
    }
    labels[(*out_count)++] = label;
  }
  if (*at == first) return RHEOS_INVALID("Labels length is zero in batch %lld", (long long)batch);
  return NULL;
}

static rheos_status *check_loss_inputs(const ctc_state *s, rheos_tensor *const *inputs) {
  const int64_t *indices = inputs[1]->data;
  for (int64_t i = 0; i < inputs[2]->num_elements; ++i) {
    const int64_t row = indices[2 * i], place = indices[2 * i + 1];
    const bool follows = i == 0 || row > indices[2 * i - 2] ||
                         (row == indices[2 * i - 2] && place > indices[2 * i - 1]);
    if (row < 0 || row >= s->batch || place < 0 || !follows) {
      return RHEOS_INVALID(
          "label SparseTensor is not valid: indices[%lld] = [%lld,%lld] is out of "
          "bounds or out of order",
          (long long)i, (long long)row, (long long)place);
    }
  }
  for (int64_t b = 0; b < s->batch; ++b) {
    const int32_t length = ((const int32_t *)inputs[3]->data)[b];
    if (length < 0 || length > s->steps) {
      return RHEOS_INVALID("sequence_length(%lld) <= %lld", (long long)b, (long long)s->steps);
    }
  }
  return NULL;
}

static rheos_status *loss_of_sequence(loss_work *w, const void *inputs, rheos_tensor **outputs) {
  const ctc_state *s = w->s;
  if (w->length < w->num_labels && !s->ignores_longer) {
    return RHEOS_INVALID(
        "Not enough time for target transition sequence (required: %lld, "
        "available: %lld)",
        (long long)w->num_labels, (long long)w->length);
  }
  store(s, outputs[0]->data, w->batch, 0);
  if (w->length < w->num_labels || w->length == 0) return NULL;
  w->width = 2 * w->num_labels + 1;
  fill_logs(w, inputs);
  run_forward(w);
  run_backward(w);
  const double total = log_probability(w);
  store(s, outputs[0]->data, w->batch, -total);
  store_gradient(w, total, outputs[1]->data);
  return NULL;
}

static rheos_status *compute_losses(const ctc_state *s, rheos__step *step,
                                    rheos_tensor *const *inputs, rheos_tensor **outputs,
                                    int32_t *labels, loss_work *w) {
  int64_t at = 0;
  w->s = s;
  w->labels = labels;
  for (int64_t b = 0; b < s->batch; ++b) {
    if (rheos__step_should_stop(step)) return rheos_status_new(RHEOS_CANCELLED, "cancelled");
    RHEOS_TRY(collect_labels(s, inputs, b, &at, labels, &w->num_labels));
    w->batch = b;
    w->length = ((const int32_t *)inputs[3]->data)[b];
    RHEOS_TRY(loss_of_sequence(w, inputs[0]->data, outputs));
  }
  return NULL;
}

static rheos_status *compute_loss(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const ctc_state *s = state;
  RHEOS_TRY(check_loss_inputs(s, inputs));
  RHEOS_TRY(rheos__tensor_new(s->dtype, &RHEOS_SHAPE(s->batch), &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(s->dtype, &RHEOS_SHAPE(s->steps, s->batch, s->classes), &outputs[1]));
  if (outputs[1]->size_bytes > 0) memset(outputs[1]->data, 0, outputs[1]->size_bytes);
  // No sequence that is worked on has more labels than steps.
  const size_t most = (size_t)inputs[2]->num_elements, steps = (size_t)s->steps;
  const size_t width = 2 * (most < steps ? most : steps) + 1;
  size_t cells = 0;
  const bool fits = rheos__mul_size(steps, width, &cells);
  int32_t *labels = rheos__alloc_array(most + 1, sizeof *labels);
  loss_work w = {.logs = rheos__alloc_array(steps * (size_t)s->classes, sizeof *w.logs),
                 .forward = fits ? rheos__alloc_array(cells, sizeof *w.forward) : NULL,
                 .backward = fits ? rheos__alloc_array(cells, sizeof *w.backward) : NULL};
  rheos_status *status = rheos__out_of_memory();
  if (labels != NULL && w.logs != NULL && w.forward != NULL && w.backward != NULL) {
    status = compute_losses(s, step, inputs, outputs, labels, &w);
  }
  rheos__free(labels);
  rheos__free(w.logs);
  rheos__free(w.forward);
  rheos__free(w.backward);
  return status;
}

static rheos_status *prepare_loss(rheos__prepare *p) {
  ctc_state *s;
  RHEOS_TRY(new_state(p, &s));
  if (s->batch == 0) return RHEOS_INVALID("batch_size must not be 0");
  s->collapses = rheos__attr_bool(p->attrs, "preprocess_collapse_repeated");
  s->merges = rheos__attr_bool(p->attrs, "ctc_merge_repeated");
  s->ignores_longer = rheos__attr_bool(p->attrs, "ignore_longer_outputs_than_inputs");
  p->compute = compute_loss;
  return NULL;
}

static void gradient_loss(rheos__grad *g) {
  const rheos_output column = rheos__expand_dims(g->scope, rheos__grad_dense(g, 0), -1);
  const rheos_output fixed = rheos__op_1(g->scope, "PreventGradient", g->outputs[1]);
  rheos__grad_set(g, 0, rheos__py_mul(g->scope, column, fixed));
}

const rheos__op_def rheos__op_CTCLoss = {
    .name = "CTCLoss",
    .signature =
        "inputs: T, labels_indices: int64, labels_values: int32, "
        "sequence_length: int32 -> loss: T, gradient: T; "
        "preprocess_collapse_repeated: bool = false; ctc_merge_repeated: bool = true; "
        "ignore_longer_outputs_than_inputs: bool = false; T: {float, double} = float",
    .doc = "How unlikely `inputs` (steps, batch, classes; the last is the blank) spell the labels.",
    .shape = shape_loss,
    .gradient = gradient_loss,
    .prepare = prepare_loss,
};

// ---- CTCGreedyDecoder

static rheos_status *shape_greedy(rheos__infer *c) {
  rheos_shape inputs;
  int64_t batch;
  RHEOS_TRY(infer_inputs(c, 1, &inputs, &batch));
  c->output_shapes[0] = RHEOS_SHAPE(-1, 2);
  c->output_shapes[1] = RHEOS_SHAPE(-1);
  c->output_shapes[2] = RHEOS_SHAPE(2);
  c->output_shapes[3] = RHEOS_SHAPE(batch, 1);
  return NULL;
}

// The likeliest class at each step, without blanks and (if asked) repetitions. Answers how many
// labels there are; `labels` may be NULL. `*out_score` is minus the sum of the likeliest inputs.
static int64_t decode(const ctc_state *s, const void *inputs, int64_t b, int64_t length,
                      int64_t *labels, double *out_score) {
  int64_t count = 0, before = -1;
  *out_score = 0;
  for (int64_t t = 0; t < length; ++t) {
    int64_t best = 0;
    for (int64_t k = 1; k < s->classes; ++k) {
      if (input_at(s, inputs, t, b, k) > input_at(s, inputs, t, b, best)) best = k;
    }
    *out_score -= input_at(s, inputs, t, b, best);
    if (best != s->blank && !(s->merges && best == before)) {
      if (labels != NULL) labels[count] = best;
      count++;
    }
    before = best;
  }
  return count;
}

static rheos_status *compute_greedy(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const ctc_state *s = state;
  const int32_t *lengths = inputs[1]->data;
  int64_t count = 0, longest = 0, at = 0;
  double score;
  for (int64_t b = 0; b < s->batch; ++b) {
    if (lengths[b] > s->steps) {
      return rheos_status_new(RHEOS_FAILED_PRECONDITION, "sequence_length(%lld) <= %lld",
                              (long long)b, (long long)s->steps);
    }
    const int64_t own = decode(s, inputs[0]->data, b, lengths[b], NULL, &score);
    count += own;
    if (own > longest) longest = own;
  }
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(count, 2), &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(count), &outputs[1]));
  const int64_t shape[] = {s->batch, longest};
  RHEOS_TRY(rheos_tensor_from_values(RHEOS_INT64, RHEOS_SHAPE(2), shape, &outputs[2]));
  RHEOS_TRY(rheos__tensor_new(s->dtype, &RHEOS_SHAPE(s->batch, 1), &outputs[3]));
  int64_t *indices = outputs[0]->data, *values = outputs[1]->data;
  for (int64_t b = 0; b < s->batch; ++b) {
    const int64_t own = decode(s, inputs[0]->data, b, lengths[b], values + at, &score);
    store(s, outputs[3]->data, b, score);
    for (int64_t k = 0; k < own; ++k, ++at) {
      indices[2 * at] = b;
      indices[2 * at + 1] = k;
    }
  }
  return NULL;
}

static rheos_status *prepare_greedy(rheos__prepare *p) {
  ctc_state *s;
  RHEOS_TRY(new_state(p, &s));
  s->merges = rheos__attr_bool(p->attrs, "merge_repeated");
  const int64_t blank = rheos__attr_int(p->attrs, "blank_index");
  if (blank < -s->classes || blank >= s->classes) {
    return RHEOS_INVALID("blank_index expected to be between %lld and %lld but was %lld",
                         (long long)-s->classes, (long long)s->classes - 1, (long long)blank);
  }
  s->blank = blank < 0 ? blank + s->classes : blank;
  p->compute = compute_greedy;
  return NULL;
}

const rheos__op_def rheos__op_CTCGreedyDecoder = {
    .name = "CTCGreedyDecoder",
    .signature =
        "inputs: T, sequence_length: int32 -> decoded_indices: int64, "
        "decoded_values: int64, decoded_shape: int64, log_probability: T; "
        "merge_repeated: bool = false; blank_index: int = -1; "
        "T: {float, double} = float",
    .doc = "The likeliest classes of `inputs` (steps, batch, classes), blanks left out.",
    .shape = shape_greedy,
    .gradient = rheos__no_gradient,
    .prepare = prepare_greedy,
};
