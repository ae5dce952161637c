// Large matrix products.
#ifndef RHEOS_SRC_DEVICE_CPU_MATMUL_H
#define RHEOS_SRC_DEVICE_CPU_MATMUL_H

#include "graph/op_def.h"

// MatMul and _FusedMatMul of float32.
rheos_status *rheos__matmul_prepare_blas(rheos__prepare *p);
rheos_status *rheos__matmul_prepare_fused_blas(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_CPU_MATMUL_H
