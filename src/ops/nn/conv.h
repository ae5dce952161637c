// What convolutions have in common, in two and three dimensions, depthwise or in groups. A
// depthwise convolution has one group for each input channel; its filter [.., channels, multiplier]
// has the bytes of the filter [.., 1, channels * multiplier] of that.
#ifndef RHEOS_SRC_OPS_NN_CONV_H
#define RHEOS_SRC_OPS_NN_CONV_H

#include "ops/kit/window.h"

typedef struct rheos__conv {
  rheos__windows windows;
  int64_t batch;
  int64_t groups;
  int64_t group_in, group_out;  // channels of one group
  rheos__steps in, out;         // of the input and the output; the filter is row-major
} rheos__conv;

// The convolution that an op (forward or one of its two gradients) with these attributes does from
// an image and a filter of these shapes; what is not known is -1. `spatial` is 2 or 3.
rheos_status *rheos__conv_fit(const rheos__attrs *attrs, int32_t spatial, bool depthwise,
                              const rheos_shape *input, const rheos_shape *filter,
                              rheos__conv *out_conv, rheos_shape *out_shape);

// The convolution by the shapes of a call of the op, which must be known and fit together.
rheos_status *rheos__conv_of_forward(const rheos__prepare *p, rheos__conv *out_conv);
rheos_status *rheos__conv_of_backprop_input(const rheos__prepare *p, rheos__conv *out_conv);
rheos_status *rheos__conv_of_backprop_filter(const rheos__prepare *p, rheos__conv *out_conv);

// Elements of the filter at one channel of each, and multiply-adds of the whole, as an estimate.
int64_t rheos__conv_taps(const rheos__conv *c);
int64_t rheos__conv_flops(const rheos__conv *c);

// Reference kernels for ops whose inputs are (image, filter), (sizes, filter, output's gradient)
// and (image, sizes, output's gradient).
rheos_status *rheos__prepare_conv(rheos__prepare *p);
rheos_status *rheos__prepare_conv_backprop_input(rheos__prepare *p);
rheos_status *rheos__prepare_conv_backprop_filter(rheos__prepare *p);

#endif  // RHEOS_SRC_OPS_NN_CONV_H
