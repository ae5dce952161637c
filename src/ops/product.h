// Rows of matrix products: the loops under MatMul, and what other families build of them.
#ifndef RHEOS_SRC_OPS_PRODUCT_H
#define RHEOS_SRC_OPS_PRODUCT_H

#include "graph/op_def.h"

// c (m,n) = a (m,k) b (k,n). Strides count elements and may be 0; c is row-major without gaps.
typedef struct rheos__product {
  int64_t m, n, k;
  int64_t a_row, a_column, b_row, b_column;
  bool conjugate_a, conjugate_b;  // of complex operands
} rheos__product;

// Computes row `row` of c.
typedef void (*rheos__row_loop)(const rheos__product *s, const void *a, const void *b, void *c,
                                int64_t row);

// NULL if there is no product of that dtype.
rheos__row_loop rheos__row_loop_of(rheos_dtype dtype);

#endif  // RHEOS_SRC_OPS_PRODUCT_H
