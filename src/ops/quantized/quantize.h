// What the quantizing families share: ranges, one for a whole tensor or one for each place along an
// axis.
#ifndef RHEOS_SRC_OPS_QUANTIZED_QUANTIZE_H
#define RHEOS_SRC_OPS_QUANTIZED_QUANTIZE_H

#include "graph/op_def.h"

// A tensor's elements are [outer, count, inner], with a range for each of the `count`.
typedef struct rheos__slices {
  int64_t outer, count, inner;
} rheos__slices;
rheos__slices rheos__slices_of(const rheos_shape *shape, int64_t axis);  // axis below 0: one slice

// The inputs `first` and the one after it are ranges that fit the attribute `axis` of input 0;
// `*out_range` is their shape.
rheos_status *rheos__infer_ranges(const rheos__infer *c, int32_t first, rheos_shape *out_range);

#endif  // RHEOS_SRC_OPS_QUANTIZED_QUANTIZE_H
