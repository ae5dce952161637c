// Colors of pictures: hue, saturation, value and contrast.
#ifndef RHEOS_SRC_DEVICE_OPENCL_COLOR_H
#define RHEOS_SRC_DEVICE_OPENCL_COLOR_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_color(rheos__prepare *p);
rheos_status *rheos__cl_prepare_contrast(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_COLOR_H
