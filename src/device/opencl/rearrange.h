// Ops that lay elements out anew: rolled, reversed, taken from space to the batch or into patches.
#ifndef RHEOS_SRC_DEVICE_OPENCL_REARRANGE_H
#define RHEOS_SRC_DEVICE_OPENCL_REARRANGE_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_roll(rheos__prepare *p);
rheos_status *rheos__cl_prepare_reverse_sequence(rheos__prepare *p);
rheos_status *rheos__cl_prepare_space_to_batch(rheos__prepare *p);
rheos_status *rheos__cl_prepare_batch_to_space(rheos__prepare *p);
rheos_status *rheos__cl_prepare_patches(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_REARRANGE_H
