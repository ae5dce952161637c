// What the ops of FakeQuantWithMinMax have in common.
#ifndef RHEOS_SRC_OPS_QUANTIZED_FAKE_QUANT_H
#define RHEOS_SRC_OPS_QUANTIZED_FAKE_QUANT_H

#include "graph/op_def.h"

// The state of the kernels.
typedef struct rheos__fake_quant {
  int64_t count;     // elements
  int64_t channels;  // how many of them follow each other on grids of their own
  int64_t num_bits;
  bool narrow_range, is_gradient;
  bool has_range;  // the op's own, else the last two inputs
  float lowest, highest;
} rheos__fake_quant;

#endif  // RHEOS_SRC_OPS_QUANTIZED_FAKE_QUANT_H
