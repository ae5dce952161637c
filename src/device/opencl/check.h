// Checks of numbers. Each waits for its answer, a whole number: a step that fails does not go on to
// change variables.
#ifndef RHEOS_SRC_DEVICE_OPENCL_CHECK_H
#define RHEOS_SRC_DEVICE_OPENCL_CHECK_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_check_numerics(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_CHECK_H
