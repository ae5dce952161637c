// The library behind large products. oneDNN's C interface changed between the releases in use; what
// changed stays in this pair of files.
#ifndef RHEOS_SRC_DEVICE_CPU_ONEDNN_H
#define RHEOS_SRC_DEVICE_CPU_ONEDNN_H

#include "base/status.h"

// c[m,n] = a[m,k] b[k,n], row-major, either operand stored transposed. On the calling thread only.
rheos_status *rheos__sgemm(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k,
                           const float *a, int64_t lda, const float *b, int64_t ldb, float *c,
                           int64_t ldc);

// ---- Convolutions of float32, kept ready

typedef struct rheos__dnnl_conv rheos__dnnl_conv;

typedef enum rheos__dnnl_pass {
  RHEOS__DNNL_FORWARD,          // result from image and filter
  RHEOS__DNNL_BACKWARD_IMAGE,   // the gradient of the image from filter and the result's
  RHEOS__DNNL_BACKWARD_FILTER,  // the gradient of the filter from image and the result's
} rheos__dnnl_pass;

// Dimensions in oneDNN's order: batch, channels, spatial; (groups,) out, in, spatial of the filter.
// Strides count elements, so any layout can be said.
enum { RHEOS__DNNL_DIMS = 12 };  // as many as oneDNN's functions take
typedef struct rheos__dnnl_conv_shape {
  int rank, filter_rank;
  int64_t image[RHEOS__DNNL_DIMS], image_strides[RHEOS__DNNL_DIMS];
  int64_t result[RHEOS__DNNL_DIMS], result_strides[RHEOS__DNNL_DIMS];
  int64_t filter[RHEOS__DNNL_DIMS], filter_strides[RHEOS__DNNL_DIMS];
  int64_t strides[RHEOS__DNNL_DIMS], dilations[RHEOS__DNNL_DIMS];  // a dilation of 0: in a row
  int64_t before[RHEOS__DNNL_DIMS], after[RHEOS__DNNL_DIMS];       // of padding
} rheos__dnnl_conv_shape;

// NULL without a status if oneDNN has no fast kernel for the shape.
rheos_status *rheos__dnnl_conv_new(rheos__dnnl_pass pass, const rheos__dnnl_conv_shape *shape,
                                   rheos__dnnl_conv **out_conv);
void rheos__dnnl_conv_free(rheos__dnnl_conv *conv);
size_t rheos__dnnl_conv_scratch_bytes(const rheos__dnnl_conv *conv);
// `count` convolutions with one filter, images and results so many elements apart. The operand that
// the pass computes is written, the others are read. Any number of threads may do so at a time,
// each with scratch of its own, 64-byte aligned.
rheos_status *rheos__dnnl_conv_run(const rheos__dnnl_conv *conv, float *image, float *filter,
                                   float *result, int64_t image_step, int64_t result_step,
                                   int64_t count, void *scratch);

#endif  // RHEOS_SRC_DEVICE_CPU_ONEDNN_H
