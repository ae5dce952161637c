// The state of kernels that change rows or places of a variable, for devices that do so by kernels
// of their own.
#ifndef RHEOS_SRC_OPS_STATE_SCATTER_H
#define RHEOS_SRC_OPS_STATE_SCATTER_H

#include "ops/kit/variable_util.h"

typedef struct rheos__scatter {
  rheos__cells cells;
  rheos__change_kind change;
  bool by_coordinates;      // an index is the last dimension of `indices`, not a number of it
  bool ignore_bad_indices;  // of coordinates
  // Fails unless the shapes fit together.
  rheos_status *(*check)(const rheos_shape *variable, const rheos_shape *indices,
                         const rheos_shape *updates);
} rheos__scatter;

#endif  // RHEOS_SRC_OPS_STATE_SCATTER_H
