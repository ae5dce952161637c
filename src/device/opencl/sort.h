// Sorting of keys of 64 bits, all different, in rows of one length: there is one order, so the bits
// are the same each time.
#ifndef RHEOS_SRC_DEVICE_OPENCL_SORT_H
#define RHEOS_SRC_DEVICE_OPENCL_SORT_H

#include "device/opencl/launch.h"

// How many keys a row of so many is filled up to, with the largest ones: a power of 2.
int64_t rheos__sort_padded(int64_t count);
// How many kernels sort rows of so many keys.
int32_t rheos__sort_stages(int64_t padded);
void rheos__sort_add(rheos__launch *launch, const rheos__stage_operand *keys, int64_t num_rows,
                     int64_t padded);

#endif  // RHEOS_SRC_DEVICE_OPENCL_SORT_H
