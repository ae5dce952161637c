// What devices ask of slices.
#ifndef RHEOS_SRC_OPS_ARRAY_SLICE_H
#define RHEOS_SRC_OPS_ARRAY_SLICE_H

#include "ops/kit/array_util.h"

// What StridedSliceAssign copies from its value, input 4, into a variable of the shape of input 0;
// nothing where the slice is empty. Of the inputs begin, end and strides are read, 1 to 3.
rheos_status *rheos__assigned_slice(const rheos__operands *o, const void *const *inputs,
                                    rheos__copy *out_copy);

#endif  // RHEOS_SRC_OPS_ARRAY_SLICE_H
