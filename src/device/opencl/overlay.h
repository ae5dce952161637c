// Ops that lay a tensor over zeros, another one or a slice of a variable, or take a band of it.
#ifndef RHEOS_SRC_DEVICE_OPENCL_OVERLAY_H
#define RHEOS_SRC_DEVICE_OPENCL_OVERLAY_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_spread(rheos__prepare *p);
rheos_status *rheos__cl_prepare_slice_assign(rheos__prepare *p);
rheos_status *rheos__cl_prepare_band(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_OVERLAY_H
