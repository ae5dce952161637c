// The state of kernels that change rows or places of a variable, for devices that do so by kernels
// of their own.
#ifndef RHEOS_SRC_OPS_STATE_SCATTER_H
#define RHEOS_SRC_OPS_STATE_SCATTER_H

#include "ops/kit/array_util.h"
#include "ops/kit/variable_util.h"

// The places that indices name: `rows` of them, each by `depth` coordinates in the last dimension.
// Of no coordinates a place is all there is.
typedef struct rheos__named_places {
  int64_t depth, rows;
} rheos__named_places;
static inline rheos__named_places rheos__places_of(const rheos_shape *indices) {
  return (rheos__named_places){indices->dims[indices->rank - 1],
                               rheos__shape_product(indices, 0, indices->rank - 1)};
}

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
