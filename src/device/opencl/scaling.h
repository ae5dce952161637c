// Pictures that are scaled and moved on by a filter, and the gradient.
#ifndef RHEOS_SRC_DEVICE_OPENCL_SCALING_H
#define RHEOS_SRC_DEVICE_OPENCL_SCALING_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_scaling(rheos__prepare *p);
rheos_status *rheos__cl_prepare_scaling_grad(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_SCALING_H
