// Ragged tensors: rows of unlike lengths. Row r of the values starts at splits[r] and ends before
// splits[r + 1].
#ifndef RHEOS_SRC_OPS_RAGGED_RAGGED_H
#define RHEOS_SRC_OPS_RAGGED_RAGGED_H

#include "ops/kit/array_util.h"

// The number of rows that splits stand for.
static inline int64_t rheos__num_rows(const rheos_tensor *splits) {
  return splits->num_elements - 1;
}

// Fails unless `splits` is a vector that ascends from 0 to `num_values`.
rheos_status *rheos__check_splits(const rheos_tensor *splits, int64_t num_values);

// How a value finds its row.
typedef enum rheos__partition_kind {
  RHEOS__FIRST_DIM_SIZE,  // the number of rows of the outermost dimension, a scalar
  RHEOS__VALUE_ROWIDS,    // the row of each value
  RHEOS__ROW_SPLITS,
} rheos__partition_kind;

// The attribute row_partition_types. `out_kinds` has room for RHEOS_MAX_RANK + 1.
rheos_status *rheos__partition_kinds(const rheos__attrs *attrs, int32_t num_tensors,
                                     rheos__partition_kind *out_kinds, int32_t *out_ragged_rank);

#endif  // RHEOS_SRC_OPS_RAGGED_RAGGED_H
