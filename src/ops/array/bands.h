// Bands of matrices, for kernels of other devices.
#ifndef RHEOS_SRC_OPS_ARRAY_BANDS_H
#define RHEOS_SRC_OPS_ARRAY_BANDS_H

#include "graph/op_def.h"

// On which side of their packed rows diagonals start, as `align` of an op says: those above the
// main one, and those below.
void rheos__band_align(const rheos__attrs *attrs, bool *out_upper_left, bool *out_lower_left);

#endif  // RHEOS_SRC_OPS_ARRAY_BANDS_H
