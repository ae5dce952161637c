// Pooling and its gradients.
#ifndef RHEOS_SRC_DEVICE_OPENCL_POOL_H
#define RHEOS_SRC_DEVICE_OPENCL_POOL_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_pool(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_POOL_H
