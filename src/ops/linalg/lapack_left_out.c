// What a build without LAPACK answers: its ops say so, and the products that recurrent cells ask for
// are computed here.
#include "ops/linalg/lapack.h"

void rheos__lapack_begin(void) {}
void rheos__lapack_end(void) {}

int64_t rheos__schur(int n, void *a, void *w, void *vs, void *work, int64_t work_count,
                     double *real_work) {
  (void)n, (void)a, (void)w, (void)vs, (void)work, (void)work_count, (void)real_work;
  return 1;  // not reached: rheos__lapack_missing() is asked first
}

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

const rheos__lapack *rheos__lapack_of(rheos_dtype dtype) {
  static const rheos__lapack only_products = {.element_bytes = sizeof(float),
                                              .real_bytes = sizeof(float),
                                              .dtype = RHEOS_FLOAT,
                                              .product = product};
  return dtype == RHEOS_FLOAT ? &only_products : NULL;
}

rheos_status *rheos__lapack_missing(const char *op) {
  return rheos_status_new(RHEOS_UNIMPLEMENTED,
                          "%s is not available: Rheos was built without LAPACK "
                          "(RHEOS_WITH_LAPACK)",
                          op);
}
