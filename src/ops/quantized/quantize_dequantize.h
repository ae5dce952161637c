// What ops have in common that round numbers as if they were quantized and read back.
#ifndef RHEOS_SRC_OPS_QUANTIZED_QUANTIZE_DEQUANTIZE_H
#define RHEOS_SRC_OPS_QUANTIZED_QUANTIZE_DEQUANTIZE_H

#include "ops/quantized/quantize.h"

// The state of the kernels.
typedef struct rheos__rounding {
  rheos_dtype dtype;
  rheos__slices slices;
  int64_t num_bits;  // 0: the fourth input tells
  bool is_signed, range_given, narrow_range, half_up;
  bool has_range_attrs;
  double lowest, highest;  // if so
} rheos__rounding;

// The range of integers of so many bits.
typedef struct rheos__whole_range {
  double lowest, highest;
} rheos__whole_range;
rheos__whole_range rheos__whole_range_of(const rheos__rounding *rounding, int64_t bits);

#endif  // RHEOS_SRC_OPS_QUANTIZED_QUANTIZE_DEQUANTIZE_H
