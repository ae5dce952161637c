// What the ops on sparse tensors share. A sparse tensor is three tensors: the indices of the values
// (one in each row), the values, and the shape, whose rank is not limited.
#ifndef RHEOS_SRC_OPS_SPARSE_SPARSE_UTIL_H
#define RHEOS_SRC_OPS_SPARSE_SPARSE_UTIL_H

#include "ops/kit/elementwise.h"

// Borrowed from its tensors.
typedef struct rheos__sparse {
  const int64_t *indices;  // (count, rank)
  const int64_t *dims;     // rank of them
  const rheos_tensor *values;
  int64_t count, rank;
} rheos__sparse;

// The sparse tensor of three inputs; fails unless they are a matrix and two vectors that fit, and
// no dimension is negative.
rheos_status *rheos__sparse_of(rheos_tensor *const *inputs, rheos__sparse *out_sparse);
// Fails unless every index is in the shape.
rheos_status *rheos__sparse_check_bounds(const rheos__sparse *sparse);
// The row of indices, which is the one of that number, is wrong in the way that `problem` says.
rheos_status *rheos__sparse_bad_row(const int64_t *row, int64_t rank, int64_t number,
                                    const char *problem);

// Negative, 0 or positive as row `a` of indices stands before, with or behind row `b`.
int rheos__sparse_compare(const int64_t *a, const int64_t *b, int64_t rank);
// The order in which the rows of `indices` ascend, equal ones as they stand; for rheos__free().
rheos_status *rheos__sparse_order(const int64_t *indices, int64_t count, int64_t rank,
                                  int64_t **out_order);

// Product of dimensions, none of them negative; fails if it overflows.
rheos_status *rheos__sparse_product(const int64_t *dims, int64_t rank, int64_t *out_product);
// The dense shape; fails if its rank is more than tensors have.
rheos_status *rheos__sparse_dense_shape(const int64_t *dims, int64_t rank, rheos_shape *out_shape);

// Outputs `indices` (count, rank) and, unless `values` is NULL, values and shape.
rheos_status *rheos__sparse_new(rheos_dtype dtype, int64_t count, int64_t rank,
                                rheos_tensor **outputs);
// to[i] = from[j], of tensors of one dtype.
rheos_status *rheos__copy_value(rheos_tensor *to, int64_t i, const rheos_tensor *from, int64_t j);

// Shape functions: fails unless three inputs from `first` on can be a sparse tensor; `out_rank` is
// -1 if it is not known. May be NULL.
rheos_status *rheos__infer_sparse(const rheos__infer *c, int32_t first, int64_t *out_rank);
// Three outputs from `first` on are a sparse tensor of that rank.
void rheos__infer_sparse_output(rheos__infer *c, int32_t first, int64_t rank);

#define RHEOS__SPARSE_NUMBERS                                                            \
  "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, " \
  "bfloat16, qint16, quint16, uint16, complex128, half, uint32, uint64}"
#define RHEOS__SPARSE_REALS \
  "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"

#endif  // RHEOS_SRC_OPS_SPARSE_SPARSE_UTIL_H
