// Crops of pictures, resized, and the gradients for pictures and boxes. A crop of no picture is 0
// and gives no gradient.
#ifndef RHEOS_SRC_DEVICE_OPENCL_CROP_H
#define RHEOS_SRC_DEVICE_OPENCL_CROP_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_crop(rheos__prepare *p);
rheos_status *rheos__cl_prepare_crop_grad_image(rheos__prepare *p);
rheos_status *rheos__cl_prepare_crop_grad_boxes(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_CROP_H
