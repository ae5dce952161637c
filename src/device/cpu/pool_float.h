// Pooling of float32 images with channels last, and its gradients, on the CPU.
#ifndef RHEOS_SRC_DEVICE_CPU_POOL_FLOAT_H
#define RHEOS_SRC_DEVICE_CPU_POOL_FLOAT_H

#include "graph/op_def.h"

rheos_status *rheos__pool_prepare_float(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_CPU_POOL_FLOAT_H
