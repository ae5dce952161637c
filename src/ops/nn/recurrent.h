// What a kernel of a recurrent cell knows when it is prepared.
#ifndef RHEOS_SRC_OPS_NN_RECURRENT_H
#define RHEOS_SRC_OPS_NN_RECURRENT_H

#include "graph/op_def.h"

typedef struct rheos__recurrent {
  int64_t steps, batch, inputs, cells;  // steps: 1, or those of a sequence
  bool has_peephole;
  bool is_sequence;     // input 0 tells how many of the steps are taken
  bool forgets_second;  // the gates are i f c o, else i c f o
  float forget_bias, clip;
} rheos__recurrent;

// Of the state of the op's kernel.
rheos__recurrent rheos__recurrent_of(const void *state);

#endif  // RHEOS_SRC_OPS_NN_RECURRENT_H
