// Numbers rounded as if they were quantized and read back, on grids that a range sets, which is
// given or that of the numbers.
#ifndef RHEOS_SRC_DEVICE_OPENCL_ROUNDING_H
#define RHEOS_SRC_DEVICE_OPENCL_ROUNDING_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_rounding(rheos__prepare *p);
rheos_status *rheos__cl_prepare_rounding_grad(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_ROUNDING_H
