// What pixels of a picture are made of that is scaled and moved on.
#ifndef RHEOS_SRC_OPS_IMAGE_SCALE_AND_TRANSLATE_H
#define RHEOS_SRC_OPS_IMAGE_SCALE_AND_TRANSLATE_H

#include "ops/kit/array_util.h"

// Along one dimension: output pixel `at` is the sum of weights[at * width ..] times `counts[at]`
// pixels from starts[at] on.
typedef struct rheos__spans {
  int64_t out, width;
  int64_t *starts, *counts;
  float *weights;
} rheos__spans;

// From `in` pixels to `out`, by the filter of the attributes. To be ended after a failure too.
rheos_status *rheos__spans_init(rheos__spans *spans, const rheos__attrs *attrs, int64_t in,
                                int64_t out, float scale, float translation);
void rheos__spans_deinit(rheos__spans *spans);

#endif  // RHEOS_SRC_OPS_IMAGE_SCALE_AND_TRANSLATE_H
