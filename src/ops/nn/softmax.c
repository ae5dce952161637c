// Softmax, its logarithm, and the two cross entropies over it. A row (the last dimension) at a
// time: the largest logit is taken off first, so that no exponential overflows. Sums are made in
// double.
#include "ops/nn/softmax.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tgmath.h>

#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"
#include "ops/kit/vector_math.h"

// What one row kernel gets: rows of n elements. `scratch` has room for 2 n doubles.
typedef struct row {
  const void *logits;
  const void *labels;  // a row, of the loss with dense labels
  int64_t label_step;  // 0: one label for all classes
  int64_t logit_step;
  int64_t label;  // of the loss with sparse labels
  int64_t n;
  void *out;   // softmax, its logarithm, or backprop
  void *loss;  // one element
} row;
typedef void (*row_fn)(const row *r, void *scratch);

enum { LANES = 16 };

// Lane j takes elements j, j + LANES, ...; the lanes are joined as a tree.
#define IN_LANES(T, n, start, step, join)              \
  T lanes[LANES];                                      \
  int64_t i = 0;                                       \
  for (int j = 0; j < LANES; j++) lanes[j] = start;    \
  for (; i + LANES <= n; i += LANES) {                 \
    for (int j = 0; j < LANES; j++) {                  \
      const T a = lanes[j], b = values[i + j];         \
      lanes[j] = step;                                 \
    }                                                  \
  }                                                    \
  for (int j = 0; i < n; i++, j++) {                   \
    const T a = lanes[j], b = values[i];               \
    lanes[j] = step;                                   \
  }                                                    \
  for (int width = LANES / 2; width > 0; width /= 2) { \
    for (int j = 0; j < width; j++) {                  \
      const T a = lanes[j], b = lanes[j + width];      \
      lanes[j] = join;                                 \
    }                                                  \
  }                                                    \
  return lanes[0]

// The largest value, NaN if there is one; and the sum.
#define LARGER ((b > a) | (b != b) ? b : a)
RHEOS__WIDE static float largest_float(const float *values, int64_t n) {
  IN_LANES(float, n, -INFINITY, LARGER, LARGER);
}
RHEOS__WIDE static double largest_double(const double *values, int64_t n) {
  IN_LANES(double, n, -(double)INFINITY, LARGER, LARGER);
}
RHEOS__WIDE static double sum_float(const float *values, int64_t n) {
  IN_LANES(double, n, 0, a + b, a + b);
}
RHEOS__WIDE static double sum_double(const double *values, int64_t n) {
  IN_LANES(double, n, 0, a + b, a + b);
}
RHEOS__WIDE static void exp_float(float *values, int64_t n) {
  for (int64_t i = 0; i < n; i++) values[i] = rheos__expf(values[i]);
}
RHEOS__WIDE static void exp_double(double *values, int64_t n) {
  for (int64_t i = 0; i < n; i++) values[i] = rheos__exp(values[i]);
}
#define LARGEST(values, n) \
  _Generic((values)[0], float: largest_float, double: largest_double)(values, n)
#define SUM(values, n) _Generic((values)[0], float: sum_float, double: sum_double)(values, n)
#define EXPONENTIALS(values, n) \
  _Generic((values)[0], float: exp_float, double: exp_double)(values, n)

// The logits of a row, less the largest, into `shifted`.
#define SHIFT(S)                                                                          \
  typedef rheos__computed_##S C;                                                          \
  const rheos__stored_##S *xs = r->logits;                                                \
  rheos__stored_##S *zs = r->out;                                                         \
  C *shifted = scratch;                                                                   \
  for (int64_t i = 0; i < r->n; i++) shifted[i] = RHEOS__LOAD_##S(xs[i * r->logit_step]); \
  const C largest = LARGEST(shifted, r->n);                                               \
  for (int64_t i = 0; i < r->n; i++) shifted[i] -= largest

#define ROWS(S, unused)                                                                \
  static void softmax_##S(const row *r, void *scratch) {                               \
    SHIFT(S);                                                                          \
    EXPONENTIALS(shifted, r->n);                                                       \
    const C scale = (C)(1 / SUM(shifted, r->n));                                       \
    for (int64_t i = 0; i < r->n; i++) zs[i] = RHEOS__STORE_##S(shifted[i] * scale);   \
  }                                                                                    \
  static void log_softmax_##S(const row *r, void *scratch) {                           \
    SHIFT(S);                                                                          \
    C *exponentials = shifted + r->n;                                                  \
    memcpy(exponentials, shifted, (size_t)r->n * sizeof *shifted);                     \
    EXPONENTIALS(exponentials, r->n);                                                  \
    const C log_sum = (C)log(SUM(exponentials, r->n));                                 \
    for (int64_t i = 0; i < r->n; i++) zs[i] = RHEOS__STORE_##S(shifted[i] - log_sum); \
  }                                                                                    \
  static void dense_loss_##S(const row *r, void *scratch) {                            \
    SHIFT(S);                                                                          \
    const rheos__stored_##S *labels = r->labels;                                       \
    double loss = 0;                                                                   \
    C *exponentials = shifted + r->n;                                                  \
    memcpy(exponentials, shifted, (size_t)r->n * sizeof *shifted);                     \
    EXPONENTIALS(exponentials, r->n);                                                  \
    const double sum = SUM(exponentials, r->n);                                        \
    const C log_sum = (C)log(sum), scale = (C)(1 / sum);                               \
    for (int64_t i = 0; i < r->n; i++) {                                               \
      const C label = RHEOS__LOAD_##S(labels[i * r->label_step]);                      \
      loss += label * (log_sum - shifted[i]);                                          \
      zs[i] = RHEOS__STORE_##S(exponentials[i] * scale - label);                       \
    }                                                                                  \
    *(rheos__stored_##S *)r->loss = RHEOS__STORE_##S(loss);                            \
  }                                                                                    \
  static void sparse_loss_##S(const row *r, void *scratch) {                           \
    SHIFT(S);                                                                          \
    const C at_label = shifted[r->label];                                              \
    EXPONENTIALS(shifted, r->n);                                                       \
    const double sum = SUM(shifted, r->n);                                             \
    *(rheos__stored_##S *)r->loss = RHEOS__STORE_##S(log(sum) - at_label);             \
    const C scale = (C)(1 / sum);                                                      \
    shifted[r->label] -= (C)sum;                                                       \
    for (int64_t i = 0; i < r->n; i++) zs[i] = RHEOS__STORE_##S(shifted[i] * scale);   \
  }
RHEOS__FLOATS(ROWS, )

#define ROW_ENTRY(S, kind, name) [RHEOS__##kind][RHEOS__DTYPE_##S] = name##_##S,
static const row_fn row_fns[RHEOS__NUM_SOFTMAX_KINDS][RHEOS__NUM_DTYPES] = {
    RHEOS__FLOATS(ROW_ENTRY, SOFTMAX, softmax) RHEOS__FLOATS(ROW_ENTRY, LOG_SOFTMAX, log_softmax)
        RHEOS__FLOATS(ROW_ENTRY, DENSE_LOSS, dense_loss)
            RHEOS__FLOATS(ROW_ENTRY, SPARSE_LOSS, sparse_loss)};

typedef rheos__softmax_rows rows;

static rows *new_rows(rheos__prepare *p, rheos__softmax_kind kind, int64_t count, int64_t n) {
  rows *r = RHEOS_NEW_STATE(p, rows);
  if (r == NULL) return NULL;
  const rheos_dtype dtype = p->input_dtypes[0];
  r->kind = kind;
  r->dtype = dtype;
  r->count = count;
  r->n = n;
  r->unit_rows = n < RHEOS__UNIT_ELEMENTS / 8 && n > 0 ? RHEOS__UNIT_ELEMENTS / 8 / n : 1;
  r->element_bytes = (int64_t)rheos_dtype_size(dtype);
  r->logit_row = n;
  r->logit_step = 1;
  p->num_units = (count + r->unit_rows - 1) / r->unit_rows;
  if (p->num_units == 0) p->num_units = 1;
  p->scratch_bytes = 2 * (size_t)n * sizeof(double);
  p->flops = rheos__flops((double)count * n * 15);
  return r;
}

// ---- Softmax and LogSoftmax

static rheos_status *run_softmax(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first_unit, int64_t last_unit) {
  const rows *r = state;
  const int64_t end = rheos__softmax_last_row(r, last_unit);
  for (int64_t i = first_unit * r->unit_rows; i < end; i++) {
    const int64_t at = i * r->n * r->element_bytes;
    const row one = {.logits = (const char *)inputs[0] + at,
                     .logit_step = 1,
                     .n = r->n,
                     .out = (char *)outputs[0] + at};
    row_fns[r->kind][r->dtype](&one, scratch);
  }
  return NULL;
}

static rheos_status *prepare_rows(rheos__prepare *p, rheos__softmax_kind kind) {
  const rheos_shape *shape = &p->input_shapes[0];
  const int64_t n = shape->dims[shape->rank - 1];
  const int64_t elements = rheos_shape_num_elements(shape);
  if (row_fns[kind][p->input_dtypes[0]] == NULL) return rheos__no_kernel(p, p->input_dtypes[0]);
  if (new_rows(p, kind, n > 0 ? elements / n : 0, n) == NULL) return rheos__out_of_memory();
  p->run = run_softmax;
  p->reuse_input = 0;
  return NULL;
}
static rheos_status *prepare_Softmax(rheos__prepare *p) { return prepare_rows(p, RHEOS__SOFTMAX); }
static rheos_status *prepare_LogSoftmax(rheos__prepare *p) {
  return prepare_rows(p, RHEOS__LOG_SOFTMAX);
}

static rheos_status *softmax_shape(rheos__infer *c) {
  if (c->input_shapes[0].rank == 0) {
    return RHEOS_INVALID("logits must have >= 1 dimension, got []");
  }
  return rheos__shape_unchanged(c);
}

static void grad_softmax(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0), softmax = g->outputs[0];
  const rheos_output product = rheos__py_mul(s, dy, softmax);
  const rheos_output sum = rheos__sum_axes(s, product, NULL, -1, true);
  rheos__grad_set(g, 0, rheos__py_mul(s, rheos__py_sub(s, dy, sum), softmax));
}

static void grad_log_softmax(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0);
  const rheos_output softmax = rheos__op_1(s, "Exp", g->outputs[0]);
  const rheos_output sum = rheos__sum_axes(s, dy, NULL, -1, true);
  rheos__grad_set(g, 0, rheos__py_sub(s, dy, rheos__py_mul(s, sum, softmax)));
}

#define FLOAT_TYPES "T: {half, bfloat16, float, double}"

const rheos__op_def rheos__op_Softmax = {
    .name = "Softmax",
    .signature = "logits: T -> softmax: T; " FLOAT_TYPES,
    .doc = "exp(`logits`), scaled so that the last dimension sums to 1.",
    .shape = softmax_shape,
    .gradient = grad_softmax,
    .prepare = prepare_Softmax,
};

const rheos__op_def rheos__op_LogSoftmax = {
    .name = "LogSoftmax",
    .signature = "logits: T -> logsoftmax: T; " FLOAT_TYPES,
    .doc = "The logarithm of Softmax of `logits`.",
    .shape = softmax_shape,
    .gradient = grad_log_softmax,
    .prepare = prepare_LogSoftmax,
};

// ---- SoftmaxCrossEntropyWithLogits

// The operands broadcast to a matrix.
static rheos_status *dense_shape(rheos__infer *c) {
  const rheos_shape *features = &c->input_shapes[0], *labels = &c->input_shapes[1];
  rheos_shape both = RHEOS_SHAPE(-1, -1);
  if (features->rank >= 0 && labels->rank >= 0) {
    RHEOS_TRY(rheos__shape_unfit(rheos__shape_broadcast(features, labels, &both),
                                 "logits and labels must be broadcastable: logits_size=", features,
                                 " labels_size=", labels));
  } else if (features->rank >= 0 || labels->rank >= 0) {
    both.rank = features->rank >= 0 ? features->rank : labels->rank;
  }
  if (both.rank != 2) {
    return RHEOS_INVALID("Shape must be broadcasted with rank 2, but is rank %d", (int)both.rank);
  }
  c->output_shapes[1] = both;
  c->output_shapes[0] = RHEOS_SHAPE(both.dims[0]);
  return NULL;
}

// Elements that an operand moves from row to row and within a row of `out`: 0 where it broadcasts.
static void operand_steps(const rheos_shape *operand, const rheos_shape *out, int64_t *out_row,
                          int64_t *out_step) {
  const int64_t columns = operand->rank > 0 ? operand->dims[operand->rank - 1] : 1;
  const int64_t rows = operand->rank > 1 ? operand->dims[0] : 1;
  *out_row = rows == out->dims[0] ? columns : 0;
  *out_step = columns == out->dims[1];
}

static rheos_status *run_dense(const void *state, const void *const *inputs, void *const *outputs,
                               void *scratch, int64_t first_unit, int64_t last_unit) {
  const rows *r = state;
  const int64_t end = rheos__softmax_last_row(r, last_unit);
  for (int64_t i = first_unit * r->unit_rows; i < end; i++) {
    const row one = {
        .logits = (const char *)inputs[0] + i * r->logit_row * r->element_bytes,
        .logit_step = r->logit_step,
        .labels = (const char *)inputs[1] + i * r->label_row * r->element_bytes,
        .label_step = r->label_step,
        .n = r->n,
        .out = (char *)outputs[1] + i * r->n * r->element_bytes,
        .loss = (char *)outputs[0] + i * r->element_bytes,
    };
    row_fns[r->kind][r->dtype](&one, scratch);
  }
  return NULL;
}

static rheos_status *prepare_SoftmaxCrossEntropyWithLogits(rheos__prepare *p) {
  const rheos_shape *features = &p->input_shapes[0], *labels = &p->input_shapes[1];
  const rheos_shape *out = &p->output_shapes[1];
  if (row_fns[RHEOS__DENSE_LOSS][p->input_dtypes[0]] == NULL) {
    return rheos__no_kernel(p, p->input_dtypes[0]);
  }
  if (out->dims[1] == 0 && out->dims[0] > 0) {
    rheos__shape_text text;
    return RHEOS_INVALID("Must have at least one class, but got logits shape %s",
                         rheos__shape_text_of(features, &text));
  }
  rows *r = new_rows(p, RHEOS__DENSE_LOSS, out->dims[0], out->dims[1]);
  if (r == NULL) return rheos__out_of_memory();
  operand_steps(features, out, &r->logit_row, &r->logit_step);
  operand_steps(labels, out, &r->label_row, &r->label_step);
  p->run = run_dense;
  return NULL;
}

// A vector times the rows of a matrix
static rheos_output scaled_rows(rheos_scope *s, rheos_output vector, rheos_output matrix) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "ExpandDims", &inside);
  const rheos_output dim = rheos__const_scalar(s, RHEOS_INT32, -1, "dim");
  const rheos_output column = rheos__named_2(s, "ExpandDims", inside.name, vector, dim);
  rheos_scope_pop(s);
  return rheos__py_mul(s, column, matrix);
}

extern const rheos__op_def rheos__op_ZerosLike;

static bool is_zeros(rheos_output x) {
  if (!rheos__is_some(x)) return true;
  return rheos__graph_node(x.graph, x.id)->signature->op == &rheos__op_ZerosLike;
}

static rheos_output expanded(rheos_scope *s, rheos_output x, int32_t dim) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "ExpandDims", &inside);
  const rheos_output at = rheos__const_scalar(s, RHEOS_INT32, dim, "dim");
  const rheos_output y = rheos__named_2(s, "ExpandDims", inside.name, x, at);
  rheos_scope_pop(s);
  return y;
}

// For what arrives at backprop, if anything does: (g - <g, softmax>) softmax, row by row
static rheos_output add_second_order(rheos__grad *g, rheos_output logits, rheos_output by_logits) {
  rheos_scope *s = g->scope;
  const rheos_output arriving = g->out_grads[1].values;
  if (is_zeros(arriving)) return by_logits;
  const rheos_output softmax = rheos__op_1(s, "Softmax", logits);
  const rheos_output product = rheos__named_2(s, "BatchMatMulV2", "MatMul",
                                              expanded(s, arriving, 1), expanded(s, softmax, 2));
  const int64_t axis = 1;
  const rheos_attr dims = rheos_attr_ints("squeeze_dims", &axis, 1);
  const rheos_output sums =
      rheos_operation_output(rheos__op_n(s, "Squeeze", NULL, &product, 1, &dims, 1), 0);
  const rheos_output second = rheos__py_mul(s, rheos__py_sub(s, arriving, sums), softmax);
  return rheos__py_add(s, by_logits, second);
}

// Whether the operands are known to differ in shape, or nothing is known: dimensions that are known
// of neither are taken for the same, as those of batches are.
static bool may_broadcast(const rheos__grad *g) {
  const rheos_shape features = rheos_output_shape(g->inputs[0]);
  const rheos_shape labels = rheos_output_shape(g->inputs[1]);
  return features.rank < 0 || !rheos_shape_equal(&features, &labels);
}

static void grad_dense(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output loss = rheos__grad_dense(g, 0);
  const bool broadcast = may_broadcast(g);
  rheos_output logits = g->inputs[0];
  if (broadcast) {
    const rheos_output shape = rheos__shape_of(s, g->outputs[1], RHEOS_INT32);
    logits = rheos__op_2(s, "BroadcastTo", logits, shape);
  }
  rheos_output by_logits = add_second_order(g, logits, scaled_rows(s, loss, g->outputs[1]));
  const rheos_output logs = rheos__op_1(s, "LogSoftmax", logits);
  rheos_output by_labels = scaled_rows(s, loss, rheos__op_1(s, "Neg", logs));
  if (broadcast) {
    const rheos__unbroadcast u = rheos__unbroadcast_known(s, g->inputs[0], g->inputs[1], by_logits);
    by_logits = rheos__unbroadcast_to(s, &u, 0, by_logits);
    by_labels = rheos__unbroadcast_to(s, &u, 1, by_labels);
  }
  rheos__grad_set(g, 0, by_logits);
  rheos__grad_set(g, 1, by_labels);
}

const rheos__op_def rheos__op_SoftmaxCrossEntropyWithLogits = {
    .name = "SoftmaxCrossEntropyWithLogits",
    .signature = "features: T, labels: T -> loss: T, backprop: T; " FLOAT_TYPES,
    .doc =
        "The cross entropy of each row of `labels` with Softmax of `features`, and its gradient.",
    .shape = dense_shape,
    .gradient = grad_dense,
    .prepare = prepare_SoftmaxCrossEntropyWithLogits,
};

// ---- SparseSoftmaxCrossEntropyWithLogits

static rheos_status *sparse_shape(rheos__infer *c) {
  rheos_shape features, labels;
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &features));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &labels));
  const int64_t rows = features.dims[0] >= 0 ? features.dims[0] : labels.dims[0];
  if (labels.dims[0] >= 0 && labels.dims[0] != rows) {
    rheos__shape_text text, other;
    return RHEOS_INVALID(
        "logits and labels must have the same first dimension, got logits shape %s and labels "
        "shape %s",
        rheos__shape_text_of(&features, &text), rheos__shape_text_of(&labels, &other));
  }
  c->output_shapes[0] = RHEOS_SHAPE(rows);
  c->output_shapes[1] = RHEOS_SHAPE(rows, features.dims[1]);
  return NULL;
}

rheos_status *rheos__softmax_bad_label(const rows *r, const void *labels, int64_t bad) {
  char text[512];
  size_t length = 0;
  for (int64_t i = 0; i < r->count && length < sizeof text; i++) {
    length += (size_t)snprintf(text + length, sizeof text - length, "%s%" PRId64, i > 0 ? " " : "",
                               rheos__softmax_label(r, labels, i));
  }
  return RHEOS_INVALID("Received a label value of %" PRId64
                       " which is outside the valid range of [0, %" PRId64 ").  Label values: %s",
                       bad, r->n, text);
}

static rheos_status *run_sparse(const void *state, const void *const *inputs, void *const *outputs,
                                void *scratch, int64_t first_unit, int64_t last_unit) {
  const rows *r = state;
  const int64_t end = rheos__softmax_last_row(r, last_unit);
  for (int64_t i = first_unit * r->unit_rows; i < end; i++) {
    const int64_t label = rheos__softmax_label(r, inputs[1], i);
    if (label < 0 || label >= r->n) return rheos__softmax_bad_label(r, inputs[1], label);
    const row one = {
        .logits = (const char *)inputs[0] + i * r->n * r->element_bytes,
        .logit_step = 1,
        .label = label,
        .n = r->n,
        .out = (char *)outputs[1] + i * r->n * r->element_bytes,
        .loss = (char *)outputs[0] + i * r->element_bytes,
    };
    row_fns[r->kind][r->dtype](&one, scratch);
  }
  return NULL;
}

static rheos_status *prepare_SparseSoftmaxCrossEntropyWithLogits(rheos__prepare *p) {
  const rheos_shape *features = &p->input_shapes[0];
  if (row_fns[RHEOS__SPARSE_LOSS][p->input_dtypes[0]] == NULL) {
    return rheos__no_kernel(p, p->input_dtypes[0]);
  }
  if (features->dims[1] == 0) {
    rheos__shape_text text;
    return RHEOS_INVALID("Must have at least one class, but got logits shape %s",
                         rheos__shape_text_of(features, &text));
  }
  rows *r = new_rows(p, RHEOS__SPARSE_LOSS, features->dims[0], features->dims[1]);
  if (r == NULL) return rheos__out_of_memory();
  r->wide_labels = p->input_dtypes[1] == RHEOS_INT64;
  p->run = run_sparse;
  return NULL;
}

static void grad_sparse(rheos__grad *g) {
  const rheos_output first = scaled_rows(g->scope, rheos__grad_dense(g, 0), g->outputs[1]);
  rheos__grad_set(g, 0, add_second_order(g, g->inputs[0], first));
}

const rheos__op_def rheos__op_SparseSoftmaxCrossEntropyWithLogits = {
    .name = "SparseSoftmaxCrossEntropyWithLogits",
    .signature = "features: T, labels: Tlabels -> loss: T, backprop: T; " FLOAT_TYPES
                 "; Tlabels: {int32, int64} = int64",
    .doc =
        "The cross entropy of the classes `labels` with Softmax of `features`, and its gradient.",
    .shape = sparse_shape,
    .gradient = grad_sparse,
    .prepare = prepare_SparseSoftmaxCrossEntropyWithLogits,
};
