// Convolutions on the CPU.
#ifndef RHEOS_SRC_DEVICE_CPU_CONV_ONEDNN_H
#define RHEOS_SRC_DEVICE_CPU_CONV_ONEDNN_H

#include "graph/op_def.h"

// float32 convolutions through oneDNN, and their gradients for the image and for the filter.
rheos_status *rheos__conv_prepare_onednn(rheos__prepare *p);
rheos_status *rheos__conv_prepare_onednn_by_input(rheos__prepare *p);
rheos_status *rheos__conv_prepare_onednn_by_filter(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_CPU_CONV_ONEDNN_H
