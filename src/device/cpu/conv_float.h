// Convolutions of float32 in two dimensions with the channels last, by the loops of dense_kernel.c.
#ifndef RHEOS_SRC_DEVICE_CPU_CONV_FLOAT_H
#define RHEOS_SRC_DEVICE_CPU_CONV_FLOAT_H

#include "graph/op_def.h"

// Conv2D and _FusedConv2D.
rheos_status *rheos__conv_prepare_float(rheos__prepare *p);
rheos_status *rheos__conv_prepare_fused_float(rheos__prepare *p);
// Conv2DBackpropInput, of windows that move by one.
rheos_status *rheos__conv_prepare_float_by_input(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_CPU_CONV_FLOAT_H
