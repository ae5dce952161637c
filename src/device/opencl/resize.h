// Pictures resized, and the gradients, which are gathered: each pixel of the input asks those of
// the output that may be made of it, in their order.
#ifndef RHEOS_SRC_DEVICE_OPENCL_RESIZE_H
#define RHEOS_SRC_DEVICE_OPENCL_RESIZE_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_resize(rheos__prepare *p);
rheos_status *rheos__cl_prepare_resize_grad(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_RESIZE_H
