// What recurrent cells ask of LAPACK's table where there is no LAPACK: products.
#include "ops/linalg/lapack.h"

// A row of the result at a time, which takes rows of b where it can.
static void product(bool adjoint_a, bool adjoint_b, int m, int n, int k, const void *va,
                    const void *vb, void *vc) {
  const float *a = va, *b = vb;
  const int64_t rows = m, columns = n, depth = k;
  const int64_t a_row = adjoint_a ? 1 : depth, a_column = adjoint_a ? rows : 1;
  const int64_t b_row = adjoint_b ? 1 : columns, b_column = adjoint_b ? depth : 1;
  for (int64_t i = 0; i < rows; i++) {
    float *c = (float *)vc + i * columns;
    for (int64_t j = 0; j < columns; j++) c[j] = 0;
    for (int64_t l = 0; l < depth; l++) {
      const float factor = a[i * a_row + l * a_column], *from = b + l * b_row;
      for (int64_t j = 0; j < columns; j++) c[j] += factor * from[j * b_column];
    }
  }
}

const rheos__lapack *rheos__lapack_plain(rheos_dtype dtype) {
  static const rheos__lapack only_products = {.element_bytes = sizeof(float),
                                              .real_bytes = sizeof(float),
                                              .dtype = RHEOS_FLOAT,
                                              .product = product};
  return dtype == RHEOS_FLOAT ? &only_products : NULL;
}
