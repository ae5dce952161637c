// Batch normalization and its gradient.
#ifndef RHEOS_SRC_DEVICE_OPENCL_NORM_H
#define RHEOS_SRC_DEVICE_OPENCL_NORM_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_batch_norm(rheos__prepare *p);
rheos_status *rheos__cl_prepare_batch_norm_grad(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_NORM_H
