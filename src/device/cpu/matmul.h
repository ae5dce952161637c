// Large matrix products.
#ifndef RHEOS_SRC_DEVICE_CPU_MATMUL_H
#define RHEOS_SRC_DEVICE_CPU_MATMUL_H

#include "graph/op_def.h"

// float32 products through oneDNN.
rheos_status *rheos__matmul_prepare_blas(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_CPU_MATMUL_H
