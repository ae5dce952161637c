// Segments of sorted ids: sums, means, products and extremes of rows, or of picked rows.
#ifndef RHEOS_SRC_DEVICE_OPENCL_SEGMENT_H
#define RHEOS_SRC_DEVICE_OPENCL_SEGMENT_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_segment(rheos__prepare *p);
rheos_status *rheos__cl_prepare_sparse_segment(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_SEGMENT_H
