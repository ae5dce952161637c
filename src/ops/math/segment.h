// What the families of segment ops share: how rows are joined, and what stands where there are
// none.
#ifndef RHEOS_SRC_OPS_MATH_SEGMENT_H
#define RHEOS_SRC_OPS_MATH_SEGMENT_H

#include "ops/kit/array_util.h"
#include "ops/kit/variable_util.h"

typedef enum rheos__segment_kind {
  RHEOS__SEGMENT_SUM,
  RHEOS__SEGMENT_MEAN,
  RHEOS__SEGMENT_SQRT_N,  // the sum divided by the root of the number of rows
  RHEOS__SEGMENT_PROD,
  RHEOS__SEGMENT_MAX,
  RHEOS__SEGMENT_MIN,
} rheos__segment_kind;

// Of an op by its name, such as UnsortedSegmentSum.
rheos__segment_kind rheos__segment_kind_named(const char *op);

// How to join a row to those before; NULL where there is none for the dtype.
rheos__change rheos__segment_join(rheos__segment_kind kind, rheos_dtype dtype);

// By which change that is, and what stands for a segment without rows: of unsorted ids what joins
// without an effect, of sorted ones 0, or 1 for products. `out` has 16 bytes.
rheos__change_kind rheos__segment_change(rheos__segment_kind kind);
void rheos__segment_start(rheos__segment_kind kind, rheos_dtype dtype, bool sorted, void *out);

// The elements of `row` divided by `divisor`; whole numbers towards 0.
void rheos__divide_row(rheos_dtype dtype, void *row, int64_t width, double divisor);

// The status of a row with id `id` where ids ascend from 0 and end before `limit`.
rheos_status *rheos__check_segment(int64_t id, int64_t previous, int64_t limit);

#endif  // RHEOS_SRC_OPS_MATH_SEGMENT_H
