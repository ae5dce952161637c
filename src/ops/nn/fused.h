// Ops that are a product or a convolution and what follows it, as TensorFlow's own rewriting makes
// them: _FusedMatMul, _FusedConv2D. What follows is the epilogue: a bias or a normalization by
// given statistics, a tensor added, an activation. It is done by the loops of the ops it stands
// for, so that a fused op gives the bits of these ops one after the other.
#ifndef RHEOS_SRC_OPS_NN_FUSED_H
#define RHEOS_SRC_OPS_NN_FUSED_H

#include "ops/kit/elementwise.h"

typedef enum rheos__activation {
  RHEOS__NO_ACTIVATION,
  RHEOS__RELU,
  RHEOS__RELU6,
  RHEOS__ELU,
  RHEOS__LEAKY_RELU,
  RHEOS__TANH,
  RHEOS__SIGMOID,
  RHEOS__GELU_EXACT,
  RHEOS__GELU_APPROXIMATE,
} rheos__activation;

// Arguments are numbers of inputs of the op; -1 where there is none.
typedef struct rheos__epilogue {
  rheos_dtype dtype;
  int64_t channels;          // of the output
  int64_t inner;             // elements of a channel in a row: 1 with the channels last
  int32_t bias, norm, side;  // `norm` is the first of scale, offset, mean, variance
  rheos__activation activation;
  double alpha;  // of LeakyRelu
  float epsilon;
  rheos__loop add, mul, div, pow;  // the last three: for Gelu
  rheos__loop loop;                // of the activation; of Erf or Tanh in Gelu
  int64_t flops;                   // of one element
} rheos__epilogue;

// From the attributes and shapes of a fused op whose arguments start at input 2. Fails where they
// do not make sense.
rheos_status *rheos__epilogue_of(const rheos__prepare *p, int64_t channels, int64_t inner,
                                 rheos__epilogue *out_epilogue);

// Turns elements [first, first + count) of the output into what they shall be. Both are multiples
// of channels * inner. `inputs` are those of the op, `out` is its whole output.
void rheos__epilogue_run(const rheos__epilogue *e, const void *const *inputs, void *out,
                         int64_t first, int64_t count);

// As rheos__epilogue_run(), for columns [first_column, last_column) of the rows [first_row,
// last_row) of a matrix, whose rows are as long as there are channels; `inner` is 1.
void rheos__epilogue_run_piece(const rheos__epilogue *e, const void *const *inputs, void *out,
                               int64_t first_row, int64_t last_row, int64_t first_column,
                               int64_t last_column);

// Answers for a fused op with the fastest kernel that its product or convolution has, and the
// epilogue on what each unit of it made.
rheos_status *rheos__prepare_fused_matmul_by_variants(rheos__prepare *p);
rheos_status *rheos__prepare_fused_conv_by_variants(rheos__prepare *p);

#endif  // RHEOS_SRC_OPS_NN_FUSED_H
