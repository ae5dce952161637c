// What changes variables in the card's memory: optimizers, and additions.
#ifndef RHEOS_SRC_DEVICE_OPENCL_UPDATE_H
#define RHEOS_SRC_DEVICE_OPENCL_UPDATE_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_apply(rheos__prepare *p);
rheos_status *rheos__cl_prepare_assign_add(rheos__prepare *p);
rheos_status *rheos__cl_prepare_assign_sub(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_UPDATE_H
