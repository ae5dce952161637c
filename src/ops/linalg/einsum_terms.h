// Equations of Einsum, as its kernel, its shapes and its gradient read them.
#ifndef RHEOS_SRC_OPS_LINALG_EINSUM_TERMS_H
#define RHEOS_SRC_OPS_LINALG_EINSUM_TERMS_H

#include "graph/op_def.h"

// The subscripts of one operand or of the result. Labels are any bytes but ',' and '.'.
typedef struct rheos__einsum_term {
  int32_t count;
  unsigned char labels[RHEOS_MAX_RANK];
  int32_t ellipsis;  // how many labels stand before "..."; -1: there is none
} rheos__einsum_term;

typedef struct rheos__einsum {
  int32_t num_inputs;  // 1 or 2
  rheos__einsum_term inputs[2], output;
} rheos__einsum;

// A status unless `equation` is well formed and is for `num_inputs` operands.
rheos_status *rheos__einsum_parse(const char *equation, int32_t num_inputs,
                                  rheos__einsum *out_einsum);

bool rheos__einsum_has(const rheos__einsum_term *term, unsigned char label);

void rheos__gradient_einsum(rheos__grad *g);

#endif  // RHEOS_SRC_OPS_LINALG_EINSUM_TERMS_H
