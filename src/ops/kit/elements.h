// Elements of several dtypes as numbers of one type of C.
#ifndef RHEOS_SRC_OPS_KIT_ELEMENTS_H
#define RHEOS_SRC_OPS_KIT_ELEMENTS_H

#include <complex.h>

#include "tensor/tensor.h"

// Of float, double, complex64 or complex128.
static inline double complex rheos__complex_at(rheos_dtype dtype, const void *data, int64_t index) {
  switch (dtype) {
    case RHEOS_FLOAT: return ((const float *)data)[index];
    case RHEOS_DOUBLE: return ((const double *)data)[index];
    case RHEOS_COMPLEX64: return ((const float complex *)data)[index];
    default: return ((const double complex *)data)[index];
  }
}

static inline void rheos__set_complex(rheos_dtype dtype, void *data, int64_t index,
                                      double complex value) {
  switch (dtype) {
    case RHEOS_FLOAT: ((float *)data)[index] = (float)creal(value); break;
    case RHEOS_DOUBLE: ((double *)data)[index] = creal(value); break;
    case RHEOS_COMPLEX64: ((float complex *)data)[index] = (float complex)value; break;
    default: ((double complex *)data)[index] = value; break;
  }
}

// Of a tensor of real numbers of any dtype.
static inline double rheos__real_at(const rheos_tensor *tensor, int64_t index) {
  const void *data = tensor->data;
  switch (tensor->dtype) {
    case RHEOS_FLOAT: return (double)((const float *)data)[index];
    case RHEOS_DOUBLE: return ((const double *)data)[index];
    case RHEOS_HALF: return (double)rheos__half_to_float(((const uint16_t *)data)[index]);
    case RHEOS_BFLOAT16: return (double)rheos__bfloat16_to_float(((const uint16_t *)data)[index]);
    default: return (double)rheos__tensor_int_at(tensor, index);
  }
}

// Sets an element of half, float, double, int32 or int64; a whole number that is out of range or
// none becomes the nearest one, 0 for NaN.
static inline void rheos__set_real_near(rheos_tensor *tensor, int64_t index, double value) {
  void *data = tensor->data;
  switch (tensor->dtype) {
    case RHEOS_HALF: ((uint16_t *)data)[index] = rheos__float_to_half((float)value); return;
    case RHEOS_FLOAT: ((float *)data)[index] = (float)value; return;
    case RHEOS_DOUBLE: ((double *)data)[index] = value; return;
    default: break;
  }
  const bool is_int32 = tensor->dtype == RHEOS_INT32;
  const double end = is_int32 ? 0x1p31 : 0x1p63;
  int64_t whole = is_int32 ? INT32_MAX : INT64_MAX;
  if (value < end) whole = value < -end ? (is_int32 ? INT32_MIN : INT64_MIN) : (int64_t)value;
  if (value != value) whole = 0;
  if (is_int32) {
    ((int32_t *)data)[index] = (int32_t)whole;
  } else {
    ((int64_t *)data)[index] = whole;
  }
}

#endif  // RHEOS_SRC_OPS_KIT_ELEMENTS_H
