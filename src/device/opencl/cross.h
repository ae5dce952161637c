// Cross products of vectors of three.
#ifndef RHEOS_SRC_DEVICE_OPENCL_CROSS_H
#define RHEOS_SRC_DEVICE_OPENCL_CROSS_H

#include "graph/op_def.h"

rheos_status *rheos__cl_prepare_cross(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_CROSS_H
