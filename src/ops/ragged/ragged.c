// Ragged tensors made and taken apart: ranges, rows gathered, indices of sparse tensors.
#include "ops/ragged/ragged.h"

#include <math.h>

#include "ops/kit/array_grad.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

rheos_status *rheos__check_splits(const rheos_tensor *splits, int64_t num_values) {
  const int64_t count = splits->num_elements;
  if (splits->shape.rank != 1 || count == 0)
    return RHEOS_INVALID("ragged splits may not be empty.");
  if (rheos__tensor_int_at(splits, 0) != 0) {
    return RHEOS_INVALID("First value of ragged splits must be 0, got %lld",
                         (long long)rheos__tensor_int_at(splits, 0));
  }
  for (int64_t i = 1; i < count; i++) {
    const int64_t before = rheos__tensor_int_at(splits, i - 1),
                  at = rheos__tensor_int_at(splits, i);
    if (at >= before) continue;
    return RHEOS_INVALID("Ragged splits should be non decreasing, but we got %lld followed by %lld",
                         (long long)before, (long long)at);
  }
  const int64_t last = rheos__tensor_int_at(splits, count - 1);
  if (last == num_values) return NULL;
  return RHEOS_INVALID(
      "Final value of ragged splits must match the length of the corresponding ragged values: "
      "%lld and %lld",
      (long long)last, (long long)num_values);
}

// ---- RaggedRange: a range for each row

static rheos_status *shape_range(rheos__infer *c) {
  int64_t rows = -1;
  bool scalars = true;
  for (int32_t i = 0; i < 3; i++) {
    const rheos_shape *in = &c->input_shapes[i];
    static const char *const names[] = {"starts", "limits", "deltas"};
    if (in->rank > 1) return RHEOS_INVALID("%s must be a scalar or vector", names[i]);
    scalars = scalars && in->rank == 0;
    if (in->rank != 1 || in->dims[0] < 0) continue;
    if (rows >= 0 && rows != in->dims[0]) {
      return RHEOS_INVALID(
          "starts, limits, and deltas must have the same shape: %lld and %lld rows",
          (long long)rows, (long long)in->dims[0]);
    }
    rows = in->dims[0];
  }
  if (scalars) rows = 1;
  c->output_shapes[0] = c->output_shapes[1] = RHEOS_SHAPE(-1);
  return rheos__dim_add(rows, 1, &c->output_shapes[0].dims[0]);
}

// Elements of one range; -1 if they cannot be counted, -2 for a delta of 0.
typedef int64_t (*range_size_fn)(const void *start, const void *limit, const void *delta);
// Fills in `count` elements.
typedef void (*range_fill_fn)(const void *start, const void *delta, void *out, int64_t count);

static int64_t float_range(double start, double limit, double delta) {
  if (delta == 0) return -2;
  if ((delta > 0 && start >= limit) || (delta < 0 && start <= limit)) return 0;
  const double size = ceil(fabs((limit - start) / delta));
  return size < 0x1p62 ? (int64_t)size : -1;  // not NaN either
}

static int64_t int_range(int64_t start, int64_t limit, int64_t delta) {
  if (delta == 0) return -2;
  if ((delta > 0 && start >= limit) || (delta < 0 && start <= limit)) return 0;
  const uint64_t span =
      delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
  const uint64_t step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta;
  const uint64_t size = (span - 1) / step + 1;
  return size < UINT64_C(1) << 62 ? (int64_t)size : -1;
}

#define RANGE(S, size_of)                                                                \
  static int64_t size_of_##S(const void *start, const void *limit, const void *delta) {  \
    return size_of(RHEOS__LOAD_##S(*(const rheos__stored_##S *)start),                   \
                   RHEOS__LOAD_##S(*(const rheos__stored_##S *)limit),                   \
                   RHEOS__LOAD_##S(*(const rheos__stored_##S *)delta));                  \
  }                                                                                      \
  static void fill_##S(const void *start, const void *delta, void *out, int64_t count) { \
    typedef rheos__wrapping_##S wide;                                                    \
    const wide step = (wide)RHEOS__LOAD_##S(*(const rheos__stored_##S *)delta);          \
    rheos__stored_##S *to = out, at = *(const rheos__stored_##S *)start;                 \
    for (int64_t i = 0; i < count; i++) {                                                \
      to[i] = at;                                                                        \
      at = RHEOS__STORE_##S((wide)RHEOS__LOAD_##S(at) + step);                           \
    }                                                                                    \
  }
RANGE(bfloat16, float_range)
RANGE(float, float_range)
RANGE(double, float_range)
RANGE(int32, int_range)
RANGE(int64, int_range)

static const range_size_fn range_sizes[RHEOS__NUM_DTYPES] = {[RHEOS_BFLOAT16] = size_of_bfloat16,
                                                             [RHEOS_FLOAT] = size_of_float,
                                                             [RHEOS_DOUBLE] = size_of_double,
                                                             [RHEOS_INT32] = size_of_int32,
                                                             [RHEOS_INT64] = size_of_int64};
static const range_fill_fn range_fills[RHEOS__NUM_DTYPES] = {[RHEOS_BFLOAT16] = fill_bfloat16,
                                                             [RHEOS_FLOAT] = fill_float,
                                                             [RHEOS_DOUBLE] = fill_double,
                                                             [RHEOS_INT32] = fill_int32,
                                                             [RHEOS_INT64] = fill_int64};

// The number of row `row`, of a vector or of a scalar that is repeated.
static const void *number_of_row(const rheos_tensor *tensor, int64_t row) {
  const size_t size = rheos_dtype_size(tensor->dtype);
  return (const char *)tensor->data + (tensor->shape.rank == 0 ? 0 : (size_t)row * size);
}

static rheos_status *compute_range(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  const rheos_dtype dtype = o->input_dtypes[0], splits_dtype = o->output_dtypes[0];
  const int64_t most = splits_dtype == RHEOS_INT32 ? INT32_MAX : INT64_C(1) << 60;
  int64_t rows = 1, total = 0;
  for (int i = 0; i < 3; i++) {
    if (inputs[i]->shape.rank == 1) rows = inputs[i]->num_elements;
  }
  RHEOS_TRY(rheos__tensor_new(splits_dtype, &RHEOS_SHAPE(rows + 1), &outputs[0]));
  rheos__set_int(splits_dtype, outputs[0]->data, 0, 0);
  for (int64_t row = 0; row < rows; row++) {
    const int64_t size =
        range_sizes[dtype](number_of_row(inputs[0], row), number_of_row(inputs[1], row),
                           number_of_row(inputs[2], row));
    if (size == -2) return RHEOS_INVALID("Requires delta != 0");
    if (size < 0 || size > most - total) {
      return RHEOS_INVALID("Requires ((limit - start) / delta) <= %lld", (long long)most);
    }
    total += size;
    rheos__set_int(splits_dtype, outputs[0]->data, row + 1, total);
  }
  RHEOS_TRY(rheos__tensor_new(dtype, &RHEOS_SHAPE(total), &outputs[1]));
  const size_t bytes = rheos_dtype_size(dtype);
  for (int64_t row = 0; row < rows; row++) {
    const int64_t first = rheos__tensor_int_at(outputs[0], row);
    const int64_t count = rheos__tensor_int_at(outputs[0], row + 1) - first;
    if (count == 0) continue;
    range_fills[dtype](number_of_row(inputs[0], row), number_of_row(inputs[2], row),
                       (char *)outputs[1]->data + (size_t)first * bytes, count);
  }
  return NULL;
}

static rheos_status *prepare_range(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_range);
}

const rheos__op_def rheos__op_RaggedRange = {
    .name = "RaggedRange",
    .signature =
        "starts: T, limits: T, deltas: T -> rt_nested_splits: Tsplits, rt_dense_values: T; "
        "T: {bfloat16, float, double, int32, int64} = int32; Tsplits: index = int64",
    .doc = "A ragged matrix whose rows count from `starts` by `deltas` to before `limits`.",
    .shape = shape_range,
    .gradient = rheos__no_gradient,
    .prepare = prepare_range,
};

// ---- RaggedTensorToSparse

static rheos_status *shape_to_sparse(rheos__infer *c) {
  const int32_t levels = c->num_inputs - 1;
  const rheos_shape *values = &c->input_shapes[levels];
  rheos_shape ignored;
  for (int32_t i = 0; i < levels; i++) RHEOS_TRY(rheos__infer_rank(c, i, 1, &ignored));
  RHEOS_TRY(rheos__infer_rank_at_least(c, levels, 1));
  const int64_t rank = values->rank < 0 ? -1 : values->rank + levels;
  const int64_t count = rheos_shape_is_known(values) ? rheos_shape_num_elements(values) : -1;
  c->output_shapes[0] = RHEOS_SHAPE(count, rank);
  c->output_shapes[1] = RHEOS_SHAPE(count);
  c->output_shapes[2] = RHEOS_SHAPE(rank);
  return NULL;
}

// Fills in the column of indices that level `level` gives: for each value, its place in its row.
// `ends` of the level below (of values, for the lowest level) are the splits folded so far.
static void fill_level(const rheos_tensor *const *splits, int32_t level, int32_t levels,
                       int64_t width, int64_t rank, int64_t *indices) {
  for (int64_t row = 0; row < rheos__num_rows(splits[level]); row++) {
    const int64_t first = rheos__tensor_int_at(splits[level], row);
    const int64_t last = rheos__tensor_int_at(splits[level], row + 1);
    for (int64_t item = first; item < last; item++) {
      int64_t from = item, to = item + 1;  // followed down to the values
      for (int32_t below = level + 1; below < levels; below++) {
        from = rheos__tensor_int_at(splits[below], from);
        to = rheos__tensor_int_at(splits[below], to);
      }
      for (int64_t at = from * width; at < to * width; at++) {
        if (level == 0) indices[at * rank] = row;
        indices[at * rank + level + 1] = item - first;
      }
    }
  }
}

static rheos_status *compute_to_sparse(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  const int32_t levels = o->num_inputs - 1;
  const rheos_tensor *values = inputs[levels];
  const rheos_tensor *const *splits = (const rheos_tensor *const *)inputs;
  for (int32_t i = 0; i < levels; i++) {
    if (splits[i]->num_elements == 0) return RHEOS_INVALID("ragged splits may not be empty.");
  }
  for (int32_t i = 0; i < levels; i++) {
    RHEOS_TRY(rheos__check_splits(
        splits[i], i + 1 < levels ? rheos__num_rows(splits[i + 1]) : values->shape.dims[0]));
  }
  const int64_t rank = levels + values->shape.rank;
  const int64_t width = rheos__shape_product(&values->shape, 1, values->shape.rank);
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(values->num_elements, rank), &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(values->dtype, &RHEOS_SHAPE(values->num_elements), &outputs[1]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(rank), &outputs[2]));
  RHEOS_TRY(
      rheos__copy_elements(values->dtype, outputs[1]->data, values->data, values->num_elements));
  int64_t *dims = outputs[2]->data, *indices = outputs[0]->data;
  dims[0] = rheos__num_rows(splits[0]);
  for (int32_t level = 0; level < levels; level++) {
    int64_t longest = 0;
    for (int64_t row = 0; row < rheos__num_rows(splits[level]); row++) {
      const int64_t length =
          rheos__tensor_int_at(splits[level], row + 1) - rheos__tensor_int_at(splits[level], row);
      if (length > longest) longest = length;
    }
    dims[level + 1] = longest;
    if (values->num_elements > 0) fill_level(splits, level, levels, width, rank, indices);
  }
  for (int32_t i = 1; i < values->shape.rank; i++) dims[levels + i] = values->shape.dims[i];
  for (int64_t at = 0; at < values->num_elements; at++) {
    int64_t rest = at;
    for (int32_t i = values->shape.rank - 1; i >= 1; i--) {
      indices[at * rank + levels + i] = rest % values->shape.dims[i];
      rest /= values->shape.dims[i];
    }
  }
  return NULL;
}

static rheos_status *prepare_to_sparse(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_to_sparse);
}

static void grad_to_sparse(rheos__grad *g) {
  const int32_t values = g->num_inputs - 1;
  rheos_scope *s = g->scope;
  if (!rheos__is_some(g->out_grads[1].values)) return;
  const rheos_output shape = rheos__shape_of(s, g->inputs[values], RHEOS_INT32);
  rheos__grad_set(g, values, rheos__op_2(s, "Reshape", rheos__grad_dense(g, 1), shape));
}

const rheos__op_def rheos__op_RaggedTensorToSparse = {
    .name = "RaggedTensorToSparse",
    .signature =
        "rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: T -> "
        "sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64; "
        "RAGGED_RANK: int >= 1; T: type; Tsplits: index = int64",
    .doc = "A ragged tensor as a sparse one.",
    .shape = shape_to_sparse,
    .gradient = grad_to_sparse,
    .prepare = prepare_to_sparse,
};

// ---- RaggedGather: rows of the outermost dimension

static rheos_status *shape_gather(rheos__infer *c) {
  const int32_t values = c->num_inputs - 2;
  const rheos_shape *indices = &c->input_shapes[values + 1];
  const int64_t out_levels = rheos__attr_int(c->attrs, "OUTPUT_RAGGED_RANK");
  rheos_shape ignored;
  for (int32_t i = 0; i < values; i++) RHEOS_TRY(rheos__infer_rank(c, i, 1, &ignored));
  RHEOS_TRY(rheos__infer_rank_at_least(c, values, 1));
  if (indices->rank >= 0 && out_levels != values + indices->rank - 1) {
    return RHEOS_INVALID("expected OUTPUT_RAGGED_RANK %d, got %lld",
                         (int)(values + indices->rank - 1), (long long)out_levels);
  }
  for (int32_t i = 0; i < (int32_t)out_levels; i++) c->output_shapes[i] = RHEOS_SHAPE(-1);
  c->output_shapes[out_levels] = c->input_shapes[values];
  if (c->input_shapes[values].rank > 0) c->output_shapes[out_levels].dims[0] = -1;
  return NULL;
}

// Splits of the dimensions of the indices, which are not ragged: every row is as long as the next.
static rheos_status *even_splits(rheos_dtype dtype, int64_t rows, int64_t length,
                                 rheos_tensor **out) {
  RHEOS_TRY(rheos__tensor_new(dtype, &RHEOS_SHAPE(rows + 1), out));
  for (int64_t row = 0; row <= rows; row++) rheos__set_int(dtype, (*out)->data, row, row * length);
  return NULL;
}

// The rows of one level that are taken, as runs [first, last).
typedef struct run_of_rows {
  int64_t first, last;
} run_of_rows;

static rheos_status *check_gather(rheos_tensor *const *inputs, int32_t levels) {
  const rheos_tensor *values = inputs[levels], *indices = inputs[levels + 1];
  for (int32_t i = 0; i < levels; i++) {
    const int64_t count = inputs[i]->num_elements;
    const int64_t limit = i + 1 < levels ? rheos__num_rows(inputs[i + 1]) : values->shape.dims[0];
    if (count == 0) return RHEOS_INVALID("Splits tensors must not be empty");
    int64_t before = 0;
    for (int64_t at = 0; at < count; at++) {
      const int64_t split = rheos__tensor_int_at(inputs[i], at);
      if (split < before) {
        return RHEOS_INVALID("Ragged splits must be %s", at == 0 ? "non-negative" : "sorted");
      }
      if (split > limit) return RHEOS_INVALID("Ragged splits must not point past values");
      before = split;
    }
  }
  const int64_t rows = rheos__num_rows(inputs[0]);
  for (int64_t i = 0; i < indices->num_elements; i++) {
    const int64_t index = rheos__tensor_int_at(indices, i);
    if (index >= 0 && index < rows) continue;
    return RHEOS_INVALID("indices[%lld] = %lld is not in [0, %lld)", (long long)i, (long long)index,
                         (long long)rows);
  }
  return NULL;
}

// The lengths of the rows in `runs` become splits, and the runs those of the level below.
static rheos_status *gather_level(const rheos_tensor *splits, run_of_rows *runs, int64_t num_runs,
                                  rheos_tensor **out) {
  int64_t rows = 0, at = 0;
  for (int64_t i = 0; i < num_runs; i++) {
    if (__builtin_add_overflow(rows, runs[i].last - runs[i].first, &rows)) {
      return RHEOS_INVALID("the rows gathered are too many");
    }
  }
  const int64_t most = splits->dtype == RHEOS_INT32 ? INT32_MAX : INT64_MAX;
  RHEOS_TRY(rheos__tensor_new(splits->dtype, &RHEOS_SHAPE(rows == INT64_MAX ? -1 : rows + 1), out));
  int64_t total = 0;
  rheos__set_int(splits->dtype, (*out)->data, at++, 0);
  for (int64_t i = 0; i < num_runs; i++) {
    for (int64_t row = runs[i].first; row < runs[i].last; row++) {
      const int64_t length =
          rheos__tensor_int_at(splits, row + 1) - rheos__tensor_int_at(splits, row);
      if (length > most - total) return RHEOS_INVALID("the values gathered are too many");
      total += length;
      rheos__set_int(splits->dtype, (*out)->data, at++, total);
    }
    runs[i].first = rheos__tensor_int_at(splits, runs[i].first);
    runs[i].last = rheos__tensor_int_at(splits, runs[i].last);
  }
  return NULL;
}

static rheos_status *gather_values(const rheos_tensor *values, const run_of_rows *runs,
                                   int64_t num_runs, rheos_tensor **out) {
  rheos_shape shape = values->shape;
  shape.dims[0] = 0;
  for (int64_t i = 0; i < num_runs; i++) {
    if (__builtin_add_overflow(shape.dims[0], runs[i].last - runs[i].first, &shape.dims[0])) {
      return RHEOS_INVALID("the values gathered are too many");
    }
  }
  RHEOS_TRY(rheos__tensor_new(values->dtype, &shape, out));
  if ((*out)->num_elements == 0) return NULL;
  const int64_t width = rheos__shape_product(&shape, 1, shape.rank);
  const size_t bytes = rheos_dtype_size(values->dtype) * (size_t)width;
  char *to = (*out)->data;
  for (int64_t i = 0; i < num_runs; i++) {
    const int64_t count = runs[i].last - runs[i].first;
    if (count == 0) continue;
    RHEOS_TRY(rheos__copy_elements(values->dtype, to,
                                   (const char *)values->data + (size_t)runs[i].first * bytes,
                                   count * width));
    to += (size_t)count * bytes;
  }
  return NULL;
}

static rheos_status *compute_gather(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  const int32_t levels = o->num_inputs - 2;
  const rheos_tensor *indices = inputs[levels + 1];
  RHEOS_TRY(check_gather(inputs, levels));
  int32_t at = 0;
  for (int32_t i = 1; i < indices->shape.rank; i++) {
    RHEOS_TRY(even_splits(o->output_dtypes[0], rheos__shape_product(&indices->shape, 0, i),
                          indices->shape.dims[i], &outputs[at++]));
  }
  run_of_rows *runs = rheos__alloc_array((size_t)indices->num_elements + 1, sizeof *runs);
  if (runs == NULL) return rheos__out_of_memory();
  for (int64_t i = 0; i < indices->num_elements; i++) {
    runs[i].first = rheos__tensor_int_at(indices, i);
    runs[i].last = runs[i].first + 1;
  }
  // A scalar index names one row, whose length is not a dimension of the answer any more.
  rheos_status *status = NULL;
  for (int32_t i = 0; i < levels && status == NULL; i++) {
    if (i == 0 && indices->shape.rank == 0) {
      const int64_t row = runs[0].first;
      runs[0].first = rheos__tensor_int_at(inputs[0], row);
      runs[0].last = rheos__tensor_int_at(inputs[0], row + 1);
    } else {
      status = gather_level(inputs[i], runs, indices->num_elements, &outputs[at++]);
    }
  }
  if (status == NULL) {
    status = gather_values(inputs[levels], runs, indices->num_elements, &outputs[at]);
  }
  rheos__free(runs);
  return status;
}

static rheos_status *prepare_gather(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_gather);
}

// The rows of values that each row of `params` covers say where the gathered ones came from.
static void grad_gather(rheos__grad *g) {
  static const rheos__bound all, from_1 = {.present = true, .number = 1};
  rheos_scope *s = g->scope;
  const int32_t levels = g->num_inputs - 2;
  if (!rheos__is_some(g->out_grads[g->num_outputs - 1].values)) return;
  const rheos_output grad = rheos__grad_dense(g, g->num_outputs - 1);
  rheos_output splits = g->inputs[0];
  for (int32_t i = 1; i < levels; i++) splits = rheos__gather(s, g->inputs[i], splits);
  const rheos_output rows = rheos__flatten(s, g->inputs[levels + 1]);
  const rheos_output inputs[] = {
      rheos__gather(s, splits, rows),
      rheos__gather(s, rheos__vector_slice(s, splits, from_1, all), rows),
      rheos__const_scalar(s, rheos_output_dtype(splits), 1, "Const"),
  };
  const rheos_operation range = rheos__op_n(s, "RaggedRange", NULL, inputs, 3, NULL, 0);
  if (rheos_scope_status(s) != NULL) return;
  g->in_grads[levels] = (rheos_gradient){
      .values = grad,
      .indices = rheos_operation_output(range, 1),
      .dense_shape = rheos__shape_of(s, g->inputs[levels], RHEOS_INT32),
  };
}

const rheos__op_def rheos__op_RaggedGather = {
    .name = "RaggedGather",
    .signature =
        "params_nested_splits: PARAMS_RAGGED_RANK * Tsplits, params_dense_values: Tvalues, "
        "indices: Tindices -> output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits, "
        "output_dense_values: Tvalues; Tvalues: type; Tindices: index; "
        "Tsplits: index = int64; PARAMS_RAGGED_RANK: int >= 1; OUTPUT_RAGGED_RANK: int >= 0",
    .doc = "The rows of a ragged tensor that `indices` name.",
    .shape = shape_gather,
    .gradient = grad_gather,
    .prepare = prepare_gather,
};
