// Counting numbers into bins, for the ops that take them dense, sparse or ragged.
#ifndef RHEOS_SRC_OPS_MATH_BINNING_H
#define RHEOS_SRC_OPS_MATH_BINNING_H

#include "ops/kit/array_util.h"

typedef struct rheos__counting {
  rheos_dtype dtype;    // of the bins and weights: int32, int64, float or double
  int64_t size;         // bins of a row
  bool binary;          // whether a number occurs, not how often
  const void *weights;  // NULL: each counts 1
  void *bins;
  rheos__add_fn add;
} rheos__counting;

// A number that occurs in row `row`; weight number `weight` is its own. Numbers from `size` on have
// no bin; a negative one is refused.
rheos_status *rheos__count(const rheos__counting *k, int64_t row, int64_t value, int64_t weight);

#endif  // RHEOS_SRC_OPS_MATH_BINNING_H
