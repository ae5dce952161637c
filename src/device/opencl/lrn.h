// Local response normalization.
#ifndef RHEOS_SRC_DEVICE_OPENCL_LRN_H
#define RHEOS_SRC_DEVICE_OPENCL_LRN_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_lrn(rheos__prepare *p);
rheos_status *rheos__cl_prepare_lrn_grad(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_LRN_H
