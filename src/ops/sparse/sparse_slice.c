// SparseSlice and SparseFillEmptyRows, and the ops of their gradients.
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/sparse/sparse_util.h"

// ---- SparseSlice

static rheos_status *check_slice(rheos_tensor *const *inputs, rheos__sparse *out_x) {
  RHEOS_TRY(rheos__sparse_of(inputs, out_x));
  for (int k = 3; k < 5; k++) {
    const char *name = k == 3 ? "start" : "size";
    if (inputs[k]->shape.rank == 1 && inputs[k]->num_elements == out_x->rank) continue;
    return RHEOS_INVALID("Expected %s to be a vector of length %lld but got length %lld", name,
                         (long long)out_x->rank, (long long)inputs[k]->num_elements);
  }
  for (int64_t d = 0; d < out_x->rank; d++) {
    const int64_t size = ((const int64_t *)inputs[4]->data)[d];
    if (size < 0) {
      return RHEOS_INVALID("Expected a non-negative size, got %lld", (long long)size);
    }
  }
  return NULL;
}

static bool is_within(const int64_t *row, const int64_t *start, const int64_t *size,
                      const int64_t *dims, int64_t rank) {
  for (int64_t d = 0; d < rank; d++) {
    int64_t end;
    if (__builtin_add_overflow(start[d], size[d], &end)) end = INT64_MAX;
    if (row[d] < start[d] || row[d] >= end || row[d] >= dims[d]) return false;
  }
  return true;
}

// As much of `size` as there is behind `start`.
static int64_t size_left(int64_t dim, int64_t start, int64_t size) {
  int64_t left;
  if (__builtin_sub_overflow(dim, start, &left)) left = INT64_MAX;
  if (left < 0) left = 0;
  return size < left ? size : left;
}

static rheos_status *compute_slice(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  rheos__sparse x;
  (void)state, (void)step;
  RHEOS_TRY(check_slice(inputs, &x));
  const int64_t *start = inputs[3]->data, *size = inputs[4]->data;
  int64_t count = 0;
  for (int64_t i = 0; i < x.count; i++) {
    count += is_within(x.indices + i * x.rank, start, size, x.dims, x.rank);
  }
  RHEOS_TRY(rheos__sparse_new(x.values->dtype, count, x.rank, outputs));
  for (int64_t i = 0, row = 0; i < x.count; i++) {
    const int64_t *from = x.indices + i * x.rank;
    if (!is_within(from, start, size, x.dims, x.rank)) continue;
    for (int64_t d = 0; d < x.rank; d++) {
      ((int64_t *)outputs[0]->data)[row * x.rank + d] =
          (int64_t)((uint64_t)from[d] - (uint64_t)start[d]);
    }
    RHEOS_TRY(rheos__copy_value(outputs[1], row++, x.values, i));
  }
  for (int64_t d = 0; d < x.rank; d++) {
    ((int64_t *)outputs[2]->data)[d] = size_left(x.dims[d], start[d], size[d]);
  }
  return NULL;
}

static rheos_status *prepare_slice(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_slice);
}

static rheos_status *shape_slice(rheos__infer *c) {
  int64_t rank;
  rheos_shape vector;
  RHEOS_TRY(rheos__infer_sparse(c, 0, &rank));
  RHEOS_TRY(rheos__infer_rank(c, 3, 1, &vector));
  RHEOS_TRY(rheos__infer_rank(c, 4, 1, &vector));
  rheos__infer_sparse_output(c, 0, rank);
  return NULL;
}

static void gradient_slice(rheos__grad *g) {
  const rheos_output inputs[] = {rheos__grad_dense(g, 1), g->inputs[0], g->inputs[3],
                                 g->outputs[0]};
  const rheos_operation grad = rheos__op_n(g->scope, "SparseSliceGrad", NULL, inputs, 4, NULL, 0);
  if (rheos_scope_status(g->scope) != NULL) return;
  rheos__grad_set(g, 1, rheos_operation_output(grad, 0));
}

const rheos__op_def rheos__op_SparseSlice = {
    .name = "SparseSlice",
    .signature =
        "indices: int64, values: T, shape: int64, start: int64, size: int64 -> "
        "output_indices: int64, output_values: T, output_shape: int64; T: type",
    .doc = "What a sparse tensor has within `size` from `start` on.",
    .shape = shape_slice,
    .gradient = gradient_slice,
    .prepare = prepare_slice,
};

// ---- SparseSliceGrad

static rheos_status *check_slice_grad(rheos_tensor *const *inputs) {
  const rheos_tensor *grad = inputs[0], *all = inputs[1], *start = inputs[2], *taken = inputs[3];
  if (all->shape.rank != 2 || taken->shape.rank != 2) {
    return RHEOS_INVALID("Input and output indices should be matrices");
  }
  if (grad->shape.rank != 1) return RHEOS_INVALID("Input backprop_val_grad should be a vector");
  if (all->shape.dims[1] != taken->shape.dims[1]) {
    return RHEOS_INVALID("The input and output should have the same ndims: got: %lld and %lld",
                         (long long)all->shape.dims[1], (long long)taken->shape.dims[1]);
  }
  if (taken->shape.dims[0] != grad->num_elements) {
    return RHEOS_INVALID(
        "# elements of backprop_val_grad and # rows of output_indices should "
        "match (#nnz of sum): got %lld and %lld",
        (long long)grad->num_elements, (long long)taken->shape.dims[0]);
  }
  if (taken->shape.dims[0] > all->shape.dims[0]) {
    return RHEOS_INVALID(
        "# rows of output_indices should be not greater than of input_indices, "
        "got %lld and %lld",
        (long long)taken->shape.dims[0], (long long)all->shape.dims[0]);
  }
  if (start->shape.rank != 1 || start->num_elements != all->shape.dims[1]) {
    return RHEOS_INVALID("The input_start should be a vector of length %lld, got %lld elements",
                         (long long)all->shape.dims[1], (long long)start->num_elements);
  }
  return NULL;
}

static bool same_place(const int64_t *row, const int64_t *start, const int64_t *taken,
                       int64_t rank) {
  for (int64_t d = 0; d < rank; d++) {
    if ((uint64_t)row[d] != (uint64_t)taken[d] + (uint64_t)start[d]) return false;
  }
  return true;
}

// Rows that were taken stand in the order of all rows.
static rheos_status *compute_slice_grad(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                        rheos_tensor **outputs) {
  const rheos_tensor *grad = inputs[0], *all = inputs[1];
  (void)state, (void)step;
  RHEOS_TRY(check_slice_grad(inputs));
  const int64_t count = all->shape.dims[0], rank = all->shape.dims[1];
  const int64_t *rows = all->data, *start = inputs[2]->data, *taken = inputs[3]->data;
  RHEOS_TRY(rheos__tensor_new(grad->dtype, &RHEOS_SHAPE(count), &outputs[0]));
  memset(outputs[0]->data, 0, outputs[0]->size_bytes);
  int64_t used = 0;
  for (int64_t i = 0; i < count && used < grad->num_elements; i++) {
    if (!same_place(rows + i * rank, start, taken + used * rank, rank)) continue;
    RHEOS_TRY(rheos__copy_value(outputs[0], i, grad, used++));
  }
  if (used == grad->num_elements) return NULL;
  return RHEOS_INVALID(
      "Elements of backprop_val_grad aren't all propagated. Num elements:%lld, "
      "used: %lld",
      (long long)grad->num_elements, (long long)used);
}

static rheos_status *prepare_slice_grad(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_slice_grad);
}

static rheos_status *shape_slice_grad(rheos__infer *c) {
  rheos_shape indices;
  RHEOS_TRY(rheos__infer_rank(c, 1, 2, &indices));
  c->output_shapes[0] = RHEOS_SHAPE(indices.dims[0]);
  return NULL;
}

const rheos__op_def rheos__op_SparseSliceGrad = {
    .name = "SparseSliceGrad",
    .signature =
        "backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64 -> "
        "val_grad: T; T: " RHEOS__SPARSE_NUMBERS,
    .doc = "The gradient of SparseSlice: `backprop_val_grad` where values were taken, else 0.",
    .shape = shape_slice_grad,
    .prepare = prepare_slice_grad,
};

// ---- SparseFillEmptyRows

static rheos_status *check_rows(const rheos__sparse *x) {
  if (x->rank < 1) return RHEOS_INVALID("Dense shape cannot be empty.");
  if (x->dims[0] == 0 && x->count > 0) {
    return RHEOS_INVALID(
        "Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = "
        "%lld",
        (long long)x->count);
  }
  for (int64_t i = 0; i < x->count; i++) {
    const int64_t row = x->indices[i * x->rank];
    if (row < 0) {
      return RHEOS_INVALID("indices(%lld, 0) is invalid: %lld < 0", (long long)i, (long long)row);
    }
    if (row >= x->dims[0]) {
      return RHEOS_INVALID("indices(%lld, 0) is invalid: %lld >= %lld", (long long)i,
                           (long long)row, (long long)x->dims[0]);
    }
  }
  return NULL;
}

// `next` has a place for each row: how many values it has, then where its next value goes.
static rheos_status *fill_rows(const rheos__sparse *x, const rheos_tensor *value, int64_t *next,
                               rheos_tensor **outputs) {
  const int64_t num_rows = x->dims[0];
  int64_t total = 0;
  for (int64_t i = 0; i < x->count; i++) next[x->indices[i * x->rank]]++;
  for (int64_t row = 0; row < num_rows; row++) {
    const int64_t count = next[row];
    ((bool *)outputs[2]->data)[row] = count == 0;
    next[row] = total;
    total += count > 0 ? count : 1;
  }
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(total, x->rank), &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(x->values->dtype, &RHEOS_SHAPE(total), &outputs[1]));
  int64_t *indices = outputs[0]->data;
  for (int64_t row = 0; row < num_rows; row++) {
    if (!((const bool *)outputs[2]->data)[row]) continue;
    memset(indices + next[row] * x->rank, 0, (size_t)x->rank * sizeof *indices);
    indices[next[row] * x->rank] = row;
    RHEOS_TRY(rheos__copy_value(outputs[1], next[row], value, 0));
  }
  for (int64_t i = 0; i < x->count; i++) {
    const int64_t *from = x->indices + i * x->rank, to = next[from[0]]++;
    memcpy(indices + to * x->rank, from, (size_t)x->rank * sizeof *indices);
    RHEOS_TRY(rheos__copy_value(outputs[1], to, x->values, i));
    ((int64_t *)outputs[3]->data)[i] = to;
  }
  return NULL;
}

static rheos_status *compute_fill_rows(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  rheos__sparse x;
  (void)state, (void)step;
  RHEOS_TRY(rheos__sparse_of(inputs, &x));
  if (inputs[3]->shape.rank != 0) return RHEOS_INVALID("default_value must be a scalar");
  RHEOS_TRY(check_rows(&x));
  RHEOS_TRY(rheos__tensor_new(RHEOS_BOOL, &RHEOS_SHAPE(x.dims[0]), &outputs[2]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(x.count), &outputs[3]));
  int64_t *next = rheos__alloc_array((size_t)x.dims[0], sizeof *next);
  if (next == NULL) return rheos__out_of_memory();
  rheos_status *status = fill_rows(&x, inputs[3], next, outputs);
  rheos__free(next);
  return status;
}

static rheos_status *prepare_fill_rows(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_fill_rows);
}

static rheos_status *shape_fill_rows(rheos__infer *c) {
  int64_t rank;
  rheos_shape scalar, dims;
  RHEOS_TRY(rheos__infer_sparse(c, 0, &rank));
  RHEOS_TRY(rheos__infer_rank(c, 3, 0, &scalar));
  RHEOS_TRY(rheos__infer_shape_value(c, 2, &dims));
  c->output_shapes[0] = RHEOS_SHAPE(-1, rank);
  c->output_shapes[1] = RHEOS_SHAPE(-1);
  c->output_shapes[2] = RHEOS_SHAPE(dims.rank > 0 ? dims.dims[0] : -1);
  int64_t count = c->input_shapes[0].rank == 2 ? c->input_shapes[0].dims[0] : -1;
  if (count < 0 && c->input_shapes[1].rank == 1) count = c->input_shapes[1].dims[0];
  c->output_shapes[3] = RHEOS_SHAPE(count);
  return NULL;
}

static void gradient_fill_rows(rheos__grad *g) {
  const rheos_output inputs[] = {g->outputs[3], rheos__grad_dense(g, 1)};
  const rheos_operation grad =
      rheos__op_n(g->scope, "SparseFillEmptyRowsGrad", NULL, inputs, 2, NULL, 0);
  if (rheos_scope_status(g->scope) != NULL) return;
  rheos__grad_set(g, 1, rheos_operation_output(grad, 0));
  rheos__grad_set(g, 3, rheos_operation_output(grad, 1));
}

const rheos__op_def rheos__op_SparseFillEmptyRows = {
    .name = "SparseFillEmptyRows",
    .signature =
        "indices: int64, values: T, dense_shape: int64, default_value: T -> output_indices: int64, "
        "output_values: T, empty_row_indicator: bool, reverse_index_map: int64; T: type",
    .doc =
        "The sparse tensor with `default_value` first in every row that has no value, which rows "
        "these "
        "are, and where each value went.",
    .shape = shape_fill_rows,
    .gradient = gradient_fill_rows,
    .prepare = prepare_fill_rows,
};

// ---- SparseFillEmptyRowsGrad

static rheos_status *gather_grads(const rheos_tensor *map, const rheos_tensor *grad,
                                  rheos__loop add, bool *used, rheos_tensor **outputs) {
  const int64_t size = (int64_t)rheos_dtype_size(grad->dtype);
  for (int64_t i = 0; i < map->num_elements; i++) {
    const int64_t at = ((const int64_t *)map->data)[i];
    if (at < 0 || at >= grad->num_elements) {
      return RHEOS_INVALID("Elements in reverse index must be in [0, %lld) but got %lld",
                           (long long)grad->num_elements, (long long)at);
    }
    used[at] = true;
    RHEOS_TRY(rheos__copy_value(outputs[0], i, grad, at));
  }
  void *sum = outputs[1]->data;
  memset(sum, 0, (size_t)size);
  for (int64_t i = 0; i < grad->num_elements; i++) {
    if (!used[i]) add((const void *const[]){sum, (char *)grad->data + i * size}, sum, 1, 0, 0);
  }
  return NULL;
}

static rheos_status *compute_fill_rows_grad(void *state, rheos__step *step,
                                            rheos_tensor *const *inputs, rheos_tensor **outputs) {
  const rheos_tensor *map = inputs[0], *grad = inputs[1];
  (void)state, (void)step;
  if (map->shape.rank != 1) return RHEOS_INVALID("reverse_index_map must be a vector");
  if (grad->shape.rank != 1) return RHEOS_INVALID("grad_values must be a vector");
  RHEOS_TRY(rheos__tensor_new(grad->dtype, &map->shape, &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(grad->dtype, &RHEOS_SCALAR, &outputs[1]));
  bool *used = rheos__alloc_array((size_t)grad->num_elements, sizeof *used);
  if (used == NULL) return rheos__out_of_memory();
  rheos_status *status =
      gather_grads(map, grad, rheos__binary_loop(RHEOS__ADD, grad->dtype), used, outputs);
  rheos__free(used);
  return status;
}

static rheos_status *prepare_fill_rows_grad(rheos__prepare *p) {
  const rheos_dtype dtype = p->output_dtypes[0];
  if (rheos__binary_loop(RHEOS__ADD, dtype) == NULL) return rheos__no_kernel(p, dtype);
  return rheos__answer_compute_operands(p, compute_fill_rows_grad);
}

static rheos_status *shape_fill_rows_grad(rheos__infer *c) {
  rheos_shape map, grad;
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &map));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &grad));
  c->output_shapes[0] = map;
  c->output_shapes[1] = RHEOS_SCALAR;
  return NULL;
}

const rheos__op_def rheos__op_SparseFillEmptyRowsGrad = {
    .name = "SparseFillEmptyRowsGrad",
    .signature =
        "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T; T: type",
    .doc =
        "The gradients of SparseFillEmptyRows: `grad_values` where the values went, and the sum of "
        "the "
        "others.",
    .shape = shape_fill_rows_grad,
    .prepare = prepare_fill_rows_grad,
};
