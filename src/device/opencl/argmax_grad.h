// The gradient of pooling that goes to elements by their indices.
#ifndef RHEOS_SRC_DEVICE_OPENCL_ARGMAX_GRAD_H
#define RHEOS_SRC_DEVICE_OPENCL_ARGMAX_GRAD_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_argmax_grad(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_ARGMAX_GRAD_H
