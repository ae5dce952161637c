// Dilation of pictures. The gradients are gathered: where the largest sum of a window is, is found
// once, and each element of the picture or the filter asks the windows.
#ifndef RHEOS_SRC_DEVICE_OPENCL_DILATION_H
#define RHEOS_SRC_DEVICE_OPENCL_DILATION_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_dilation(rheos__prepare *p);
rheos_status *rheos__cl_prepare_dilation_by_input(rheos__prepare *p);
rheos_status *rheos__cl_prepare_dilation_by_filter(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_DILATION_H
