// DenseCountSparseOutput, SparseCountSparseOutput and RaggedCountSparseOutput: how often each
// number occurs in each row, as a sparse tensor. The numbers are sorted, so that their size costs
// nothing.
#include <string.h>

#include "base/numbers.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/ragged/ragged.h"
#include "ops/sparse/sparse_util.h"

typedef struct count_state {
  int64_t least, most;  // bins of a row; -1: as many as there are
  bool binary;
} count_state;

// The numbers that are counted. `places` (count, rank) are their rows, unless there is only one,
// and they themselves; `weights` are those of `places`, or NULL.
typedef struct counted {
  int64_t rank, rows, count, largest;
  int64_t *places, *weights;
} counted;

static rheos_status *counted_new(int64_t rank, int64_t rows, int64_t capacity, counted *out) {
  *out = (counted){.rank = rank, .rows = rows};
  out->places = rheos__alloc_array((size_t)capacity + 1, 2 * sizeof *out->places);
  out->weights = rheos__alloc_array((size_t)capacity + 1, sizeof *out->weights);
  return out->places != NULL && out->weights != NULL ? NULL : rheos__out_of_memory();
}

static void counted_free(counted *c) {
  rheos__free(c->places);
  rheos__free(c->weights);
}

// Number `i` of `values`, in row `row`.
static rheos_status *count_one(const count_state *s, const rheos_tensor *values, int64_t i,
                               int64_t row, counted *c) {
  const int64_t value = rheos__tensor_int_at(values, i);
  if (value < 0) return RHEOS_INVALID("Input values must all be non-negative");
  if (value == INT64_MAX && s->most < 0) {
    return RHEOS_INVALID("a row with a place for %lld has no length", (long long)value);
  }
  if (value > c->largest) c->largest = value;
  if (s->most >= 0 && value >= s->most) return NULL;
  int64_t *place = c->places + c->count * c->rank;
  place[0] = row;
  place[c->rank - 1] = value;
  c->weights[c->count++] = i;
  return NULL;
}

// How many of the ordered places differ.
static int64_t num_different(const counted *c, const int64_t *order) {
  int64_t different = c->count > 0;
  for (int64_t i = 1; i < c->count; i++) {
    different += rheos__sparse_compare(c->places + order[i] * c->rank,
                                       c->places + order[i - 1] * c->rank, c->rank) != 0;
  }
  return different;
}

// Adds what number `place` counts to element `at` of `sums`.
static void add_to(rheos_tensor *sums, int64_t at, const rheos_tensor *weights, int64_t place) {
  const size_t size = rheos_dtype_size(sums->dtype);
  char *to = (char *)sums->data + (size_t)at * size;
  if (weights != NULL) {
    rheos__add_of(sums->dtype)(to, (const char *)weights->data + (size_t)place * size, 1);
    return;
  }
  switch (sums->dtype) {
    case RHEOS_INT32: *(int32_t *)to += 1; break;
    case RHEOS_INT64: *(int64_t *)to += 1; break;
    case RHEOS_FLOAT: *(float *)to += 1; break;
    default: *(double *)to += 1;
  }
}

static rheos_status *give(const count_state *s, const counted *c, const rheos_tensor *weights,
                          const int64_t *order, rheos_tensor **outputs) {
  const bool weighs = weights->num_elements > 0 && !s->binary;
  RHEOS_TRY(rheos__sparse_new(weights->dtype, num_different(c, order), c->rank, outputs));
  int64_t *indices = outputs[0]->data, *dims = outputs[2]->data, at = -1;
  if (outputs[1]->size_bytes > 0) memset(outputs[1]->data, 0, outputs[1]->size_bytes);
  for (int64_t i = 0; i < c->count; i++) {
    const int64_t *place = c->places + order[i] * c->rank;
    const bool repeats =
        at >= 0 && rheos__sparse_compare(place, indices + at * c->rank, c->rank) == 0;
    if (!repeats) memcpy(indices + ++at * c->rank, place, (size_t)c->rank * sizeof *place);
    if (repeats && s->binary) continue;
    add_to(outputs[1], at, weighs ? weights : NULL, c->weights[order[i]]);
  }
  dims[0] = c->rows;
  dims[c->rank - 1] = s->most >= 0 ? s->most : rheos__max(c->largest + 1, s->least);
  return NULL;
}

// Takes what was counted, which may have failed.
static rheos_status *finish_take(rheos_status *status, const count_state *s, counted *c,
                                 const rheos_tensor *weights, rheos_tensor **outputs) {
  int64_t *order = NULL;
  if (status == NULL) status = rheos__sparse_order(c->places, c->count, c->rank, &order);
  if (status == NULL) status = give(s, c, weights, order, outputs);
  rheos__free(order);
  counted_free(c);
  return status;
}

static rheos_status *check_weights(const rheos_tensor *values, const rheos_tensor *weights) {
  rheos__shape_text of_weights, of_values;
  if (weights->num_elements == 0 || rheos_shape_equal(&weights->shape, &values->shape)) return NULL;
  return RHEOS_INVALID(
      "Weights and values must have the same shape. Weight shape: %s; values shape: %s",
      rheos__shape_text_of(&weights->shape, &of_weights),
      rheos__shape_text_of(&values->shape, &of_values));
}

// ---- Kernels

static rheos_status *compute_dense(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step;
  const rheos_tensor *values = inputs[0], *weights = inputs[1];
  const rheos_shape *shape = &values->shape;
  rheos__shape_text text;
  if (shape->rank != 1 && shape->rank != 2) {
    return RHEOS_INVALID("Input must be a 1 or 2-dimensional tensor. Got: %s",
                         rheos__shape_text_of(shape, &text));
  }
  RHEOS_TRY(check_weights(values, weights));
  const int64_t columns = shape->dims[shape->rank - 1];
  counted c;
  rheos_status *status = counted_new(shape->rank, shape->dims[0], values->num_elements, &c);
  for (int64_t i = 0; status == NULL && i < values->num_elements; i++) {
    status = count_one(state, values, i, i / columns, &c);
  }
  return finish_take(status, state, &c, weights, outputs);
}

static rheos_status *compute_sparse(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  rheos__sparse sparse;
  RHEOS_TRY(rheos__sparse_of(inputs, &sparse));
  RHEOS_TRY(rheos__sparse_check_bounds(&sparse));
  if (sparse.rank < 1) return RHEOS_INVALID("a sparse tensor of rank 0 has no rows");
  RHEOS_TRY(check_weights(sparse.values, inputs[3]));
  counted c;
  rheos_status *status = counted_new(sparse.rank == 1 ? 1 : 2, sparse.dims[0], sparse.count, &c);
  for (int64_t i = 0; status == NULL && i < sparse.count; i++) {
    status = count_one(state, sparse.values, i, sparse.indices[i * sparse.rank], &c);
  }
  return finish_take(status, state, &c, inputs[3], outputs);
}

static rheos_status *compute_ragged(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const rheos_tensor *splits = inputs[0], *values = inputs[1], *weights = inputs[2];
  if (splits->num_elements < 2) {
    return RHEOS_INVALID("Must provide at least 2 elements for the splits argument");
  }
  if (values->shape.rank != 1) {
    return RHEOS_INVALID("values must be a vector, but have rank %d", values->shape.rank);
  }
  RHEOS_TRY(rheos__check_splits(splits, values->num_elements));
  RHEOS_TRY(check_weights(values, weights));
  counted c;
  rheos_status *status = counted_new(2, rheos__num_rows(splits), values->num_elements, &c);
  for (int64_t row = 0; status == NULL && row < rheos__num_rows(splits); row++) {
    const int64_t end = rheos__tensor_int_at(splits, row + 1);
    for (int64_t i = rheos__tensor_int_at(splits, row); status == NULL && i < end; i++) {
      status = count_one(state, values, i, row, &c);
    }
  }
  return finish_take(status, state, &c, weights, outputs);
}

static rheos_status *prepare_count(rheos__prepare *p) {
  count_state *s = RHEOS_NEW_STATE(p, count_state);
  if (s == NULL) return rheos__out_of_memory();
  *s = (count_state){.least = rheos__attr_int(p->attrs, "minlength"),
                     .most = rheos__attr_int(p->attrs, "maxlength"),
                     .binary = rheos__attr_bool(p->attrs, "binary_output")};
  p->compute = p->op->compute;
  return NULL;
}

// ---- Shapes

static rheos_status *shape_dense(rheos__infer *c) {
  const int32_t rank = c->input_shapes[0].rank;
  if (rank == 0 || rank > 2) return RHEOS_INVALID("Input must be a 1 or 2-dimensional tensor");
  rheos__infer_sparse_output(c, 0, rank < 0 ? -1 : rank);
  return NULL;
}

static rheos_status *shape_sparse(rheos__infer *c) {
  int64_t rank;
  RHEOS_TRY(rheos__infer_sparse(c, 0, &rank));
  rheos__infer_sparse_output(c, 0, rank > 2 ? 2 : rank);
  return NULL;
}

static rheos_status *shape_ragged(rheos__infer *c) {
  rheos_shape splits;
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &splits));
  rheos__infer_sparse_output(c, 0, 2);
  return NULL;
}

// ---- Definitions

#define OUTPUTS                                                                   \
  ", weights: output_type -> output_indices: int64, output_values: output_type, " \
  "output_dense_shape: int64; T: {int32, int64}; minlength: int >= -1 = -1; "     \
  "maxlength: int >= -1 = -1; binary_output: bool; output_type: {int32, int64, float, double}"
#define COUNT(NAME, INPUTS, TEXT, SHAPE, COMPUTE) \
  const rheos__op_def rheos__op_##NAME = {        \
      .name = #NAME,                              \
      .signature = INPUTS OUTPUTS,                \
      .doc = TEXT,                                \
      .shape = SHAPE,                             \
      .prepare = prepare_count,                   \
      .compute = COMPUTE,                         \
  }

COUNT(DenseCountSparseOutput, "values: T",
      "How often each number occurs in `values` or in each of its rows, or the sum of its "
      "`weights`, or "
      "whether it occurs.",
      shape_dense, compute_dense);
COUNT(SparseCountSparseOutput, "indices: int64, values: T, dense_shape: int64",
      "DenseCountSparseOutput of a sparse tensor.", shape_sparse, compute_sparse);
COUNT(RaggedCountSparseOutput, "splits: int64, values: T",
      "DenseCountSparseOutput of a ragged matrix.", shape_ragged, compute_ragged);
