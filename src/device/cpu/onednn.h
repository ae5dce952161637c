// The library behind large products. oneDNN's C interface changed between the releases in use; what
// changed stays in this pair of files.
#ifndef RHEOS_SRC_DEVICE_CPU_ONEDNN_H
#define RHEOS_SRC_DEVICE_CPU_ONEDNN_H

#include "base/status.h"

// c[m,n] = a[m,k] b[k,n], row-major, either operand stored transposed. On the calling thread only.
rheos_status *rheos__sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                           const float *a, int64_t lda, const float *b, int64_t ldb, float *c,
                           int64_t ldc);

#endif  // RHEOS_SRC_DEVICE_CPU_ONEDNN_H
