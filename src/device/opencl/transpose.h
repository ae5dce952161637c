// Copies whose neighbours are no neighbours afterwards: transposes, of any dimensions.
#ifndef RHEOS_SRC_DEVICE_OPENCL_TRANSPOSE_H
#define RHEOS_SRC_DEVICE_OPENCL_TRANSPOSE_H

#include "device/opencl/launch.h"
#include "ops/kit/array_util.h"

// Adds the copy from one operand to another, numbered as for stages, if it is such a one and the
// device reads neighbours faster; else false.
bool rheos__transpose_add(rheos__launch *launch, const rheos__copy *copy, int32_t from, int32_t to);

#endif  // RHEOS_SRC_DEVICE_OPENCL_TRANSPOSE_H
