// Reductions: a group of work-items for each output, or one work-item for each of many outputs that
// lie side by side. Few outputs of many elements are reduced in pieces first. Who adds what to what
// is settled by the shapes, so the bits are the same every time.
#ifndef RHEOS_SRC_DEVICE_OPENCL_REDUCE_H
#define RHEOS_SRC_DEVICE_OPENCL_REDUCE_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_reduction(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_REDUCE_H
