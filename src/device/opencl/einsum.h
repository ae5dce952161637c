// Einsum, as the batch of products that the CPU makes of it.
#ifndef RHEOS_SRC_DEVICE_OPENCL_EINSUM_H
#define RHEOS_SRC_DEVICE_OPENCL_EINSUM_H

#include "graph/op_def.h"

rheos_status *rheos__cl_prepare_einsum(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_EINSUM_H
