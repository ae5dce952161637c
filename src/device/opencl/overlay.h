// Ops that lay a tensor over zeros or over another one, take a band of it, or frame it by its
// mirror image.
#ifndef RHEOS_SRC_DEVICE_OPENCL_OVERLAY_H
#define RHEOS_SRC_DEVICE_OPENCL_OVERLAY_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_spread(rheos__prepare *p);
rheos_status *rheos__cl_prepare_band(rheos__prepare *p);
rheos_status *rheos__cl_prepare_mirror_pad(rheos__prepare *p);
rheos_status *rheos__cl_prepare_mirror_pad_grad(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_OVERLAY_H
