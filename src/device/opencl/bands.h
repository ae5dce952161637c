// Matrices by bands of diagonals, packed as rows.
#ifndef RHEOS_SRC_DEVICE_OPENCL_BANDS_H
#define RHEOS_SRC_DEVICE_OPENCL_BANDS_H

#include "graph/op_def.h"

// The diagonals of matrices; matrices of diagonals; matrices with other diagonals.
rheos_status *rheos__cl_prepare_bands_part(rheos__prepare *p);
rheos_status *rheos__cl_prepare_bands(rheos__prepare *p);
rheos_status *rheos__cl_prepare_bands_set(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_BANDS_H
