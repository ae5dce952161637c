// Reading by indices. An index that is out of range reads 0, as on TensorFlow's GPUs: nothing waits
// for the card to see it.
#ifndef RHEOS_SRC_DEVICE_OPENCL_INDEX_H
#define RHEOS_SRC_DEVICE_OPENCL_INDEX_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_gather(rheos__prepare *p);
rheos_status *rheos__cl_prepare_gather_nd(rheos__prepare *p);
rheos_status *rheos__cl_prepare_variable_gather(rheos__prepare *p);
rheos_status *rheos__cl_prepare_one_hot(rheos__prepare *p);
rheos_status *rheos__cl_prepare_arg_extreme(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_INDEX_H
