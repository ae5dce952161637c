// Products of matrices through libraries, on the CPU.
#ifndef RHEOS_SRC_DEVICE_CPU_PRODUCTS_H
#define RHEOS_SRC_DEVICE_CPU_PRODUCTS_H

#include "graph/op_def.h"

// MatMul, BatchMatMul and Einsum of float32 over oneDNN, half and bfloat16 by way of float32,
// double and complex numbers over OpenBLAS.
rheos_status *rheos__products_prepare_library(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_CPU_PRODUCTS_H
