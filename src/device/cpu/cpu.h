// The CPU as a kind of device: the reference kernels of the ops, faster ones, fused loops.
#ifndef RHEOS_SRC_DEVICE_CPU_CPU_H
#define RHEOS_SRC_DEVICE_CPU_CPU_H

#include "device/device.h"

extern const rheos__device_kind rheos__cpu_kind;

// The faster kernels of an op, best first, NULL-terminated; NULL if there are none.
const rheos__prepare_fn *rheos__cpu_variants(const rheos__op_def *op);
// Whether the op can run at all: there is a kernel of either sort.
bool rheos__cpu_has_kernel(const rheos__op_def *op);

#endif  // RHEOS_SRC_DEVICE_CPU_CPU_H
