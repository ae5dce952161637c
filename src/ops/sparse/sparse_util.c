// Checks and orders of sparse tensors: no kernel trusts an index before it went through here.
#include "ops/sparse/sparse_util.h"

#include <stdio.h>
#include <string.h>

#include "ops/kit/array_util.h"

rheos_status *rheos__sparse_of(rheos_tensor *const *inputs, rheos__sparse *out_sparse) {
  const rheos_tensor *indices = inputs[0], *values = inputs[1], *dims = inputs[2];
  rheos__shape_text text;
  if (indices->shape.rank != 2) {
    return RHEOS_INVALID("Input indices should be a matrix but received shape %s",
                         rheos__shape_text_of(&indices->shape, &text));
  }
  if (values->shape.rank != 1) {
    return RHEOS_INVALID("Input values should be a vector but received shape %s",
                         rheos__shape_text_of(&values->shape, &text));
  }
  if (dims->shape.rank != 1) {
    return RHEOS_INVALID("Input shape should be a vector but received shape %s",
                         rheos__shape_text_of(&dims->shape, &text));
  }
  *out_sparse = (rheos__sparse){indices->data, dims->data, values, indices->shape.dims[0],
                                dims->num_elements};
  if (indices->shape.dims[0] != values->num_elements) {
    return RHEOS_INVALID("Number of elements in indices (%lld) and values (%lld) do not match",
                         (long long)indices->shape.dims[0], (long long)values->num_elements);
  }
  if (indices->shape.dims[1] != dims->num_elements) {
    return RHEOS_INVALID("Index rank (%lld) and shape rank (%lld) do not match",
                         (long long)indices->shape.dims[1], (long long)dims->num_elements);
  }
  for (int64_t d = 0; d < out_sparse->rank; d++) {
    if (out_sparse->dims[d] >= 0) continue;
    return RHEOS_INVALID("Dimension %lld must be >= 0", (long long)out_sparse->dims[d]);
  }
  return NULL;
}

// "[1,2]", cut short if it is long.
static void format_row(const int64_t *row, int64_t rank, char *text, size_t size_bytes) {
  size_t used = (size_t)snprintf(text, size_bytes, "[");
  for (int64_t d = 0; d < rank && used + 24 < size_bytes; d++) {
    used += (size_t)snprintf(text + used, size_bytes - used, d > 0 ? ",%lld" : "%lld",
                             (long long)row[d]);
  }
  snprintf(text + used, size_bytes - used, "]");
}

rheos_status *rheos__sparse_bad_row(const int64_t *row, int64_t rank, int64_t number,
                                    const char *problem) {
  char text[256];
  format_row(row, rank, text, sizeof text);
  return RHEOS_INVALID("indices[%lld] = %s %s", (long long)number, text, problem);
}

rheos_status *rheos__sparse_check_bounds(const rheos__sparse *sparse) {
  for (int64_t i = 0; i < sparse->count; i++) {
    for (int64_t d = 0; d < sparse->rank; d++) {
      const int64_t at = sparse->indices[i * sparse->rank + d];
      if (at >= 0 && at < sparse->dims[d]) continue;
      char dims[256], problem[320];
      format_row(sparse->dims, sparse->rank, dims, sizeof dims);
      snprintf(problem, sizeof problem, "is out of bounds: need 0 <= index < %s", dims);
      return rheos__sparse_bad_row(sparse->indices + i * sparse->rank, sparse->rank, i, problem);
    }
  }
  return NULL;
}

int rheos__sparse_compare(const int64_t *a, const int64_t *b, int64_t rank) {
  for (int64_t d = 0; d < rank; d++) {
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  }
  return 0;
}

// Merges the runs [first, middle) and [middle, last).
static void merge(const int64_t *indices, int64_t rank, const int64_t *from, int64_t first,
                  int64_t middle, int64_t last, int64_t *to) {
  int64_t a = first, b = middle;
  for (int64_t i = first; i < last; i++) {
    const bool take_a =
        a < middle && (b >= last || rheos__sparse_compare(indices + from[a] * rank,
                                                          indices + from[b] * rank, rank) <= 0);
    to[i] = take_a ? from[a++] : from[b++];
  }
}

rheos_status *rheos__sparse_order(const int64_t *indices, int64_t count, int64_t rank,
                                  int64_t **out_order) {
  int64_t *order = rheos__alloc_array((size_t)count, sizeof *order);
  int64_t *other = rheos__alloc_array((size_t)count, sizeof *other);
  *out_order = NULL;
  if (order == NULL || other == NULL) {
    rheos__free(order);
    rheos__free(other);
    return rheos__out_of_memory();
  }
  for (int64_t i = 0; i < count; i++) order[i] = i;
  for (int64_t run = 1; run < count; run *= 2) {
    for (int64_t first = 0; first < count; first += 2 * run) {
      const int64_t middle = first + run < count ? first + run : count;
      const int64_t last = middle + run < count ? middle + run : count;
      merge(indices, rank, order, first, middle, last, other);
    }
    int64_t *merged = other;
    other = order;
    order = merged;
  }
  rheos__free(other);
  *out_order = order;
  return NULL;
}

rheos_status *rheos__sparse_product(const int64_t *dims, int64_t rank, int64_t *out_product) {
  int64_t product = 1;
  for (int64_t d = 0; d < rank; d++) {
    if (dims[d] < 0) return RHEOS_INVALID("Dimension %lld must be >= 0", (long long)dims[d]);
    if (__builtin_mul_overflow(product, dims[d], &product)) {
      return RHEOS_INVALID("the shape has too many elements to count");
    }
  }
  *out_product = product;
  return NULL;
}

rheos_status *rheos__sparse_dense_shape(const int64_t *dims, int64_t rank, rheos_shape *out_shape) {
  *out_shape = RHEOS_SCALAR;
  for (int64_t d = 0; d < rank; d++) {
    if (dims[d] < 0) return RHEOS_INVALID("Dimension %lld must be >= 0", (long long)dims[d]);
    RHEOS_TRY(rheos__shape_append(out_shape, dims[d]));
  }
  return NULL;
}

rheos_status *rheos__sparse_new(rheos_dtype dtype, int64_t count, int64_t rank,
                                rheos_tensor **outputs) {
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(count, rank), &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(dtype, &RHEOS_SHAPE(count), &outputs[1]));
  return rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(rank), &outputs[2]);
}

rheos_status *rheos__copy_value(rheos_tensor *to, int64_t i, const rheos_tensor *from, int64_t j) {
  const int64_t size = (int64_t)rheos_dtype_size(to->dtype);
  return rheos__copy_elements(to->dtype, (char *)to->data + i * size,
                              (const char *)from->data + j * size, 1);
}

rheos_status *rheos__infer_sparse(const rheos__infer *c, int32_t first, int64_t *out_rank) {
  rheos_shape indices, values, dims;
  RHEOS_TRY(rheos__infer_rank(c, first, 2, &indices));
  RHEOS_TRY(rheos__infer_rank(c, first + 1, 1, &values));
  RHEOS_TRY(rheos__infer_rank(c, first + 2, 1, &dims));
  const int64_t count = indices.dims[0], rank = indices.dims[1];
  if (count >= 0 && values.dims[0] >= 0 && count != values.dims[0]) {
    return RHEOS_INVALID("Number of elements in indices (%lld) and values (%lld) do not match",
                         (long long)count, (long long)values.dims[0]);
  }
  if (rank >= 0 && dims.dims[0] >= 0 && rank != dims.dims[0]) {
    return RHEOS_INVALID("Index rank (%lld) and shape rank (%lld) do not match", (long long)rank,
                         (long long)dims.dims[0]);
  }
  if (out_rank != NULL) *out_rank = rank >= 0 ? rank : dims.dims[0];
  return NULL;
}

void rheos__infer_sparse_output(rheos__infer *c, int32_t first, int64_t rank) {
  c->output_shapes[first] = RHEOS_SHAPE(-1, rank);
  c->output_shapes[first + 1] = RHEOS_SHAPE(-1);
  c->output_shapes[first + 2] = RHEOS_SHAPE(rank);
}
