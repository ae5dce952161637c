// Elements that the first function of a dataset makes of those of its first input: what map and its
// fusion with batch share.
#ifndef RHEOS_SRC_OPS_DATA_MAPPED_H
#define RHEOS_SRC_OPS_DATA_MAPPED_H

#include "ops/data/stage.h"

// As in TensorFlow a function that is out of range ends the elements, unless their number is to
// stay: the first option of the dataset's kind.
rheos_status *rheos__mapped_end(const rheos__dataset *dataset, rheos_status *status, bool *out_end);

// A stage of up to `num_calls` calls at a time (-1: as many as there are threads) that keeps
// `buffer` results
// (-1: as measured).
rheos_status *rheos__mapped_stage(rheos__iterator *iterator, int64_t num_calls, int64_t buffer,
                                  bool any_order, rheos__step *step, rheos__stage **out_stage);

#endif  // RHEOS_SRC_OPS_DATA_MAPPED_H
