// Einsum as one batch of matrix products: what its kernels run by.
#ifndef RHEOS_SRC_OPS_LINALG_EINSUM_PRODUCTS_H
#define RHEOS_SRC_OPS_LINALG_EINSUM_PRODUCTS_H

#include "ops/kit/array_util.h"
#include "ops/math/product.h"

// An operand as a batch of matrices.
typedef struct rheos__einsum_operand {
  int32_t input;
  rheos__copy copy;      // gathers [batch, matrix, own]; own: dimensions of no other, summed first
  bool is_in_order;      // nothing to gather
  bool is_transposed;    // then it is in order
  int64_t num_elements;  // of [batch, matrix]
  int64_t own;
} rheos__einsum_operand;

// The state of Einsum.
typedef struct rheos__einsum_products {
  rheos__products products;
  int32_t num_inputs;  // one: it is gathered, and no product
  rheos_dtype dtype;
  rheos__einsum_operand operands[2];
  rheos__copy to_output;  // from [batch, rows, columns]
  bool is_output_in_order;
  bool fills_output;  // else the rest of it is 0
  rheos_shape output_shape;
} rheos__einsum_products;

#endif  // RHEOS_SRC_OPS_LINALG_EINSUM_PRODUCTS_H
