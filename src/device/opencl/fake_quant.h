// Numbers rounded as if they were quantized, on grids with 0, and the gradients for them and for
// the ends of their ranges.
#ifndef RHEOS_SRC_DEVICE_OPENCL_FAKE_QUANT_H
#define RHEOS_SRC_DEVICE_OPENCL_FAKE_QUANT_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_fake_quant(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_FAKE_QUANT_H
