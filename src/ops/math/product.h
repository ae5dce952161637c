// Rows of matrix products: the loops under MatMul, and what other families build of them.
#ifndef RHEOS_SRC_OPS_MATH_PRODUCT_H
#define RHEOS_SRC_OPS_MATH_PRODUCT_H

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

// Computes rows [first, last) of c, a block at most.
typedef rheos_status *(*rheos__rows_fn)(const rheos__product *s, const void *a, const void *b,
                                        void *c, int64_t first, int64_t last, void *scratch);

// Products of one shape, and how they are computed: the state of MatMul, BatchMatMul and Einsum
// starts with it. A faster kernel puts in its own `rows`, `block_rows` and `scratch_bytes`.
typedef struct rheos__products {
  rheos_dtype dtype;
  rheos__product product;
  int64_t count;         // products
  rheos__row_loop loop;  // used where `rows` is NULL
  rheos__rows_fn rows;
  int64_t block_rows;
  size_t scratch_bytes;
} rheos__products;

// Blocks of rows, the units of work, in all products.
static inline int64_t rheos__products_blocks(const rheos__products *s) {
  return (s->product.m + s->block_rows - 1) / s->block_rows;
}

// Computes block `block` of one product.
rheos_status *rheos__products_run(const rheos__products *s, const void *a, const void *b, void *c,
                                  int64_t block, void *scratch);

#endif  // RHEOS_SRC_OPS_MATH_PRODUCT_H
