// Convolutions and their gradients, in two and three dimensions, in groups, of either layout.
#ifndef RHEOS_SRC_DEVICE_OPENCL_CONV_H
#define RHEOS_SRC_DEVICE_OPENCL_CONV_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_conv(rheos__prepare *p);
rheos_status *rheos__cl_prepare_conv_by_input(rheos__prepare *p);
rheos_status *rheos__cl_prepare_conv_by_filter(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_CONV_H
