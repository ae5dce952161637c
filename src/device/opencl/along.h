// Ops along one dimension: running sums and products, and the largest elements.
#ifndef RHEOS_SRC_DEVICE_OPENCL_ALONG_H
#define RHEOS_SRC_DEVICE_OPENCL_ALONG_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_scan(rheos__prepare *p);
rheos_status *rheos__cl_prepare_top_k(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_ALONG_H
