// Random numbers, of the generators that nodes keep, and of seeds or keys.
#ifndef RHEOS_SRC_DEVICE_OPENCL_RANDOM_H
#define RHEOS_SRC_DEVICE_OPENCL_RANDOM_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_uniform(rheos__prepare *p);
rheos_status *rheos__cl_prepare_full_int(rheos__prepare *p);
rheos_status *rheos__cl_prepare_normal(rheos__prepare *p);
rheos_status *rheos__cl_prepare_truncated(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_RANDOM_H
