// Which kernels the device has.
#ifndef RHEOS_SRC_DEVICE_OPENCL_KERNELS_H
#define RHEOS_SRC_DEVICE_OPENCL_KERNELS_H

#include "device/device.h"

// Whether it has kernels of the op, or TensorFlow's has.
bool rheos__cl_knows(const rheos__op_def *op);
// As of rheos__device_kind: `variants`, `takes_on_host`.
const rheos__prepare_fn *rheos__cl_kernels_of(const rheos__op_def *op);
bool rheos__cl_takes_on_host(const rheos__device *device, const rheos__op_def *op,
                             const rheos__arg *arg);

#endif  // RHEOS_SRC_DEVICE_OPENCL_KERNELS_H
