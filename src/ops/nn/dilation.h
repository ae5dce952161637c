// What the ops of dilation have in common.
#ifndef RHEOS_SRC_OPS_NN_DILATION_H
#define RHEOS_SRC_OPS_NN_DILATION_H

#include "ops/kit/window.h"

// What the state of the kernels begins with.
typedef struct rheos__dilation {
  rheos__windows windows;
  int64_t batch, channels;
  rheos__steps in, out;
  rheos_dtype dtype;
} rheos__dilation;

#endif  // RHEOS_SRC_OPS_NN_DILATION_H
