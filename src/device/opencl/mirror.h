// Tensors framed by their own mirror image, and the frame folded back.
#ifndef RHEOS_SRC_DEVICE_OPENCL_MIRROR_H
#define RHEOS_SRC_DEVICE_OPENCL_MIRROR_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_mirror_pad(rheos__prepare *p);
rheos_status *rheos__cl_prepare_mirror_pad_grad(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_MIRROR_H
