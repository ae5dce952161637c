// Softmax, LogSoftmax and the cross entropies over them, of float32 on the CPU.
#ifndef RHEOS_SRC_DEVICE_CPU_SOFTMAX_FLOAT_H
#define RHEOS_SRC_DEVICE_CPU_SOFTMAX_FLOAT_H

#include "graph/op_def.h"

rheos_status *rheos__softmax_prepare_float(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_CPU_SOFTMAX_FLOAT_H
