// FusedBatchNorm of float32 images with channels last, and its gradient, on the CPU.
#ifndef RHEOS_SRC_DEVICE_CPU_BATCH_NORM_FLOAT_H
#define RHEOS_SRC_DEVICE_CPU_BATCH_NORM_FLOAT_H

#include "graph/op_def.h"

rheos_status *rheos__batch_norm_prepare_float(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_CPU_BATCH_NORM_FLOAT_H
