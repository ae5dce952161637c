// The formulas of recurrent cells: statements, and nothing but macros, so that they are part of
// programs for graphics cards too.
//
// Names that end in `sum` are what a gate is before its activation, without a peephole's part;
// `before` is the state of the cell before the step, `wci`, `wcf`, `wco` are the peephole's
// weights. Sources: Hochreiter and Schmidhuber 1997, with forget gates and peepholes: Gers et al.
// 2002; Cho et al. 2014; in the form of TensorFlow's CPU kernels.
#ifndef RHEOS_SRC_OPS_NN_RECURRENT_FORMULAS_H
#define RHEOS_SRC_OPS_NN_RECURRENT_FORMULAS_H

#define RECURRENT_SIGMOID(x) (1 / (1 + exp(-(x))))

// A state between -clip and clip; a clip of 0 is none.
#define RECURRENT_CLIPPED(x, clip) \
  ((clip) > 0 && (x) < -(clip) ? -(clip) : (clip) > 0 && (x) > (clip) ? (clip) : (x))

// i, ci, f, cs, o, co, h of a step of an LSTM.
#define LSTM_STEP                                                               \
  const float i = RECURRENT_SIGMOID(i_sum + (has_peephole ? before * wci : 0)); \
  const float ci = tanh(ci_sum);                                                \
  const float f = RECURRENT_SIGMOID(f_sum + (has_peephole ? before * wcf : 0)); \
  const float unclipped = ci * i + before * f;                                  \
  const float cs = RECURRENT_CLIPPED(unclipped, clip);                          \
  const float o = RECURRENT_SIGMOID(o_sum + (has_peephole ? cs * wco : 0));     \
  const float co = tanh(cs);                                                    \
  const float h = co * o;

// From the gradients of the state and the output after a step those of the gates before their
// activation, and of the state before.
#define LSTM_STEP_GRAD                                                                         \
  const float o_grad = o * (1 - o) * h_grad * co;                                              \
  const float grad = (1 - co * co) * h_grad * o + cs_grad + (has_peephole ? o_grad * wco : 0); \
  const float f_grad = f * (1 - f) * grad * before;                                            \
  const float i_grad = i * (1 - i) * grad * ci;                                                \
  const float ci_grad = (1 - ci * ci) * grad * i;                                              \
  const float before_grad = grad * f + (has_peephole ? i_grad * wci + f_grad * wcf : 0);

// The state of a GRU, and the gradients of what its candidate `c` and its gates `r`, `u` are before
// their activation; `kept_grad` is that of the part of the state that `r` lets through.
#define GRU_STATE(before, u, c) ((u) * (before) + (1 - (u)) * (c))
#define GRU_C_GRAD(h_grad, u, c) ((h_grad) * (1 - (u)) * (1 - (c) * (c)))
#define GRU_R_GRAD(kept_grad, before, r) ((kept_grad) * (before) * (r) * (1 - (r)))
#define GRU_U_GRAD(h_grad, before, u, c) ((h_grad) * ((before) - (c)) * (u) * (1 - (u)))

#endif  // RHEOS_SRC_OPS_NN_RECURRENT_FORMULAS_H
