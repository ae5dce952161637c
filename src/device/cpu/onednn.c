// oneDNN runs its own OpenMP threads unless told otherwise. The session's pool owns the cores, so
// every call here is made with one thread, and the caller's setting is put back.
#include "device/cpu/onednn.h"

#include <dnnl.h>

// Of the OpenMP runtime; declared here because not every compiler ships its header.
extern int omp_get_max_threads(void);
extern void omp_set_num_threads(int num_threads);

rheos_status *rheos__sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                           const float *a, int64_t lda, const float *b, int64_t ldb, float *c,
                           int64_t ldc) {
  int threads = omp_get_max_threads();
  if (threads != 1) omp_set_num_threads(1);
  dnnl_status_t result = dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.0f,
                                    a, lda, b, ldb, 0.0f, c, ldc);
  if (threads != 1) omp_set_num_threads(threads);
  if (result == dnnl_success) return NULL;
  if (result == dnnl_out_of_memory) return rheos__out_of_memory();
  return rheos_status_new(RHEOS_INTERNAL, "oneDNN's sgemm failed with status %d", (int)result);
}
