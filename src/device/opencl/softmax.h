// Softmax, its logarithm and the cross entropies over it. A label that is no class makes its row
// NaN, as on TensorFlow's GPUs: nothing waits for the card to see it.
#ifndef RHEOS_SRC_DEVICE_OPENCL_SOFTMAX_H
#define RHEOS_SRC_DEVICE_OPENCL_SOFTMAX_H

#include "device/opencl/launch.h"

rheos_status *rheos__cl_prepare_softmax(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_SOFTMAX_H
