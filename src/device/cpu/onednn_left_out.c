// What stands in for oneDNN in a build without it: products by BLAS, or where that was left out too
// by loops of our own, and no convolutions, whose other kernels then run.
#include "device/cpu/onednn.h"

#include <limits.h>

#include "ops/kit/elementwise.h"
#include "ops/linalg/lapack.h"

#ifdef RHEOS_WITH_LAPACK

#include <cblas.h>

static bool by_blas(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                    const float *a, int64_t lda, const float *b, int64_t ldb, float *c,
                    int64_t ldc) {
  if (!rheos__lapack_is_there() || m > INT_MAX || n > INT_MAX || k > INT_MAX || lda > INT_MAX ||
      ldb > INT_MAX || ldc > INT_MAX) {
    return false;
  }
  rheos__lapack_begin();
  cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans,
              transpose_b ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)k, 1, a, (int)lda, b,
              (int)ldb, 0, c, (int)ldc);
  rheos__lapack_end();
  return true;
}

#endif  // RHEOS_WITH_LAPACK

RHEOS__WIDEST static void add_row(int64_t n, float factor, const float *from, float *to) {
  for (int64_t j = 0; j < n; j++) to[j] += factor * from[j];
}

static void add_column(int64_t n, float factor, const float *from, int64_t step, float *to) {
  for (int64_t j = 0; j < n; j++) to[j] += factor * from[j * step];
}

rheos_status *rheos__sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                           const float *a, int64_t lda, const float *b, int64_t ldb, float *c,
                           int64_t ldc) {
#ifdef RHEOS_WITH_LAPACK
  if (by_blas(transpose_a, transpose_b, m, n, k, a, lda, b, ldb, c, ldc)) return NULL;
#endif
  for (int64_t i = 0; i < m; i++) {
    float *to = c + i * ldc;
    for (int64_t j = 0; j < n; j++) to[j] = 0;
    for (int64_t l = 0; l < k; l++) {
      const float factor = transpose_a ? a[l * lda + i] : a[i * lda + l];
      if (transpose_b) {
        add_column(n, factor, b + l, ldb, to);
      } else {
        add_row(n, factor, b + l * ldb, to);
      }
    }
  }
  return NULL;
}

rheos_status *rheos__dnnl_conv_new(rheos__dnnl_pass pass, const rheos__dnnl_conv_shape *shape,
                                   rheos__dnnl_conv **out_conv) {
  (void)pass, (void)shape;
  *out_conv = NULL;
  return NULL;
}

void rheos__dnnl_conv_free(rheos__dnnl_conv *conv) { (void)conv; }

size_t rheos__dnnl_conv_scratch_bytes(const rheos__dnnl_conv *conv) {
  (void)conv;
  return 0;
}

rheos_status *rheos__dnnl_conv_run(const rheos__dnnl_conv *conv, float *image, float *filter,
                                   float *result, int64_t image_step, int64_t result_step,
                                   int64_t count, void *scratch) {
  (void)conv, (void)image, (void)filter, (void)result, (void)image_step, (void)result_step;
  (void)count, (void)scratch;
  return rheos_status_new(RHEOS_INTERNAL, "Rheos was built without oneDNN (RHEOS_WITH_ONEDNN)");
}
