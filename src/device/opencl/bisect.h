// Where values belong among sorted numbers.
#ifndef RHEOS_SRC_DEVICE_OPENCL_BISECT_H
#define RHEOS_SRC_DEVICE_OPENCL_BISECT_H

#include "graph/op_def.h"

rheos_status *rheos__cl_prepare_lower_bound(rheos__prepare *p);
rheos_status *rheos__cl_prepare_upper_bound(rheos__prepare *p);
// Among the numbers of an attribute, which are part of the program.
rheos_status *rheos__cl_prepare_bucketize(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_BISECT_H
