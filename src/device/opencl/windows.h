// Windows that slide over images, for kernels of convolutions, pooling and their like.
#ifndef RHEOS_SRC_DEVICE_OPENCL_WINDOWS_H
#define RHEOS_SRC_DEVICE_OPENCL_WINDOWS_H

#include "base/text.h"
#include "device/opencl/library.h"
#include "ops/kit/window.h"

// As windows.cl has it.
typedef struct rheos__card_windows {
  cl_int batch, in[3], out[3], taps[3], stride[3], dilation[3], before[3];
  cl_int in_batch, in_steps[3], in_channel, out_batch, out_steps[3], out_channel;
} rheos__card_windows;

// Of an image and a result of these steps, neither of which has more elements than an int counts.
rheos__card_windows rheos__windows_for_card(const rheos__windows *windows, int64_t batch,
                                            const rheos__steps *in, const rheos__steps *out);

// What kernels find elements by.
void rheos__windows_add_text(rheos__text *text);

#endif  // RHEOS_SRC_DEVICE_OPENCL_WINDOWS_H
