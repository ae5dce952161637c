// What the ops that resize pictures share: sizes, and rows as floats. Where an output pixel lies in
// the input is in resize_formulas.h.
#ifndef RHEOS_SRC_OPS_IMAGE_RESIZE_H
#define RHEOS_SRC_OPS_IMAGE_RESIZE_H

#include "ops/image/resize_formulas.h"
#include "ops/kit/array_util.h"

typedef void (*rheos__load_floats_fn)(const void *from, int64_t first, int64_t count, float *to);
// Reads elements of a dtype as floats; NULL for those that have no kernel here.
rheos__load_floats_fn rheos__load_floats_of(rheos_dtype dtype);

typedef struct rheos__resize {
  int64_t batch, in_height, in_width, out_height, out_width, channels;
  float height_scale, width_scale;  // input pixels an output pixel
  bool align_corners, half_pixel;
  rheos_dtype dtype;
  rheos__load_floats_fn load;
} rheos__resize;

// Output [batch, size[0], size[1], channels] of images (input 0) and size (input 1).
rheos_status *rheos__resize_shape(rheos__infer *c);
// Gradient ops: the shape of input 1, whose batch and channels are those of input 0.
rheos_status *rheos__resize_grad_shape(rheos__infer *c);

// Checks shapes and attributes, for an op from `from` to `to`, both [batch, height, width,
// channels]. Makes the state of `p`.
rheos_status *rheos__resize_init(rheos__prepare *p, const rheos_shape *from, const rheos_shape *to,
                                 rheos__resize **out_state);

// Answers with `run` over `num_units`, which may be none.
void rheos__resize_answer(rheos__prepare *p, rheos__run_fn run, int64_t num_units);

#endif  // RHEOS_SRC_OPS_IMAGE_RESIZE_H
