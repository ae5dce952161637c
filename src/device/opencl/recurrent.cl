// Steps of recurrent cells, in float: what products leave of them. A work-item for each cell of each
// row of the batch. Gates of a row of x and of h are multiplied apart; of no inputs there is no
// first product.
#define FLOATS(name) ((global float *)(b##name + o##name))
#define IN(name) global const char *b##name, ulong o##name
#define OUT(name) global char *b##name, ulong o##name

// Where the gates are in a row, and what the op's attributes say.
typedef struct lstm {
  long batch, cells, at_ci, at_f;
  int has_peephole, has_inputs;
  float forget_bias, clip;
} lstm;

// Sequences tell how many of their steps are taken; after them all are zeros.
#ifdef IS_SEQUENCE
#define IS_TAKEN(step) ((step) < *(global const long *)(blength + olength))
#else
#define IS_TAKEN(step) true
#endif

float sum_of_products(global const float *x_part, global const float *h_part, ulong at,
                      int has_inputs) {
  return has_inputs ? x_part[at] + h_part[at] : h_part[at];
}

kernel void lstm_step(IN(x), IN(h_part), IN(bias), IN(before), IN(wci), IN(wcf), IN(wco),
                      IN(length), OUT(i), OUT(cs), OUT(f), OUT(o), OUT(ci), OUT(co), OUT(h),
                      lstm k, long step) {
  const long e = get_global_id(0), c = k.cells, j = e % c, row = e / c * 4 * c;
  if (e >= k.batch * c) return;
  if (!IS_TAKEN(step)) {
    FLOATS(i)[e] = FLOATS(cs)[e] = FLOATS(f)[e] = FLOATS(o)[e] = 0;
    FLOATS(ci)[e] = FLOATS(co)[e] = FLOATS(h)[e] = 0;
    return;
  }
#define SUM(at) \
  (sum_of_products(FLOATS(x), FLOATS(h_part), row + (at) + j, k.has_inputs) + FLOATS(bias)[(at) + j])
  const int has_peephole = k.has_peephole;
  const float before = FLOATS(before)[e], clip = k.clip;
  const float wci = FLOATS(wci)[j], wcf = FLOATS(wcf)[j], wco = FLOATS(wco)[j];
  const float i_sum = SUM(0), ci_sum = SUM(k.at_ci), o_sum = SUM(3 * c);
  const float f_sum = SUM(k.at_f) + k.forget_bias;
  LSTM_STEP
  FLOATS(i)[e] = i;
  FLOATS(cs)[e] = cs;
  FLOATS(f)[e] = f;
  FLOATS(o)[e] = o;
  FLOATS(ci)[e] = ci;
  FLOATS(co)[e] = co;
  FLOATS(h)[e] = h;
}

// What the step after leaves in `before_grad` and `carried`, gradients of the state and the output,
// is added to what is given, where there is one: then `before_grad` is of the state before this one.
kernel void lstm_step_grad(IN(before), IN(wci), IN(wcf), IN(wco), IN(i), IN(f), IN(o), IN(ci),
                           IN(co), IN(cs_grad), IN(h_grad), IN(carried), IN(length), OUT(gates),
                           OUT(before_grad), lstm k, long step) {
  const long e = get_global_id(0), c = k.cells, j = e % c;
  if (e >= k.batch * c) return;
  global float *gate = FLOATS(gates) + e / c * 4 * c + j;
  if (!IS_TAKEN(step)) {
    gate[0] = gate[c] = gate[2 * c] = gate[3 * c] = 0;
    return;
  }
  const int has_peephole = k.has_peephole;
  const float before = FLOATS(before)[e];
  const float wci = FLOATS(wci)[j], wcf = FLOATS(wcf)[j], wco = FLOATS(wco)[j];
  const float i = FLOATS(i)[e], f = FLOATS(f)[e], o = FLOATS(o)[e], ci = FLOATS(ci)[e];
  const float co = FLOATS(co)[e];
#ifdef IS_SEQUENCE
  const float cs_grad = FLOATS(cs_grad)[e] + FLOATS(before_grad)[e];
  const float h_grad = FLOATS(h_grad)[e] + FLOATS(carried)[e];
#else
  const float cs_grad = FLOATS(cs_grad)[e], h_grad = FLOATS(h_grad)[e];
#endif
  LSTM_STEP_GRAD
  gate[0] = i_grad;
  gate[k.at_ci] = ci_grad;
  gate[k.at_f] = f_grad;
  gate[3 * c] = o_grad;
  FLOATS(before_grad)[e] = before_grad;
}

// A group for each column: of `rows` rows of gates the sum.
kernel void bias_grad(IN(gates), OUT(bias), long rows, long columns) {
  local TOTAL all[GROUP];
  const long column = get_group_id(0);
  TOTAL sum = 0;
  for (long row = get_local_id(0); row < rows; row += GROUP) {
    sum += FLOATS(gates)[row * columns + column];
  }
  sum = sum_of(all, sum);
  if (get_local_id(0) == 0) FLOATS(bias)[column] = sum;
}

// A group for each cell: `first` are the states before the first step, those before the others are
// the ones after the step before.
kernel void peephole_grads(IN(gates), IN(first), IN(cs), OUT(wci), OUT(wcf), OUT(wco), lstm k,
                           long steps) {
  local TOTAL all[GROUP];
  const long j = get_group_id(0), c = k.cells;
  TOTAL i_sum = 0, f_sum = 0, o_sum = 0;
  for (long row = get_local_id(0); row < steps * k.batch; row += GROUP) {
    global const float *gate = FLOATS(gates) + row * 4 * c + j;
    const float before = row < k.batch ? FLOATS(first)[row * c + j]
                                       : FLOATS(cs)[(row - k.batch) * c + j];
    i_sum += gate[0] * before;
    f_sum += gate[k.at_f] * before;
    o_sum += gate[3 * c] * FLOATS(cs)[row * c + j];
  }
  i_sum = sum_of(all, i_sum);
  f_sum = sum_of(all, f_sum);
  o_sum = sum_of(all, o_sum);
  if (get_local_id(0) != 0) return;
  FLOATS(wci)[j] = i_sum;
  FLOATS(wcf)[j] = f_sum;
  FLOATS(wco)[j] = o_sum;
}

// What a sequence's outputs were before each step: `first`, then those of the steps before.
kernel void states_before(IN(first), IN(h), OUT(z), long step_count, long count) {
  const long e = get_global_id(0);
  if (e >= count) return;
  FLOATS(z)[e] = e < step_count ? FLOATS(first)[e] : FLOATS(h)[e - step_count];
}

// ---- GRU

// Both gates, and what the reset gate lets through of the state.
kernel void gru_gates(IN(x), IN(h_part), IN(bias), IN(before), OUT(r), OUT(u), OUT(kept),
                      long batch, long c, int has_inputs) {
  const long e = get_global_id(0), j = e % c, row = e / c * 2 * c;
  if (e >= batch * c) return;
#define GATE(at)                                                                      \
  RECURRENT_SIGMOID(sum_of_products(FLOATS(x), FLOATS(h_part), row + (at), has_inputs) + \
                    FLOATS(bias)[at])
  const float r = GATE(j);
  FLOATS(r)[e] = r;
  FLOATS(u)[e] = GATE(c + j);
  FLOATS(kept)[e] = FLOATS(before)[e] * r;
}

kernel void gru_state(IN(x), IN(h_part), IN(bias), IN(before), IN(u), OUT(c), OUT(h), long batch,
                      long cells, int has_inputs) {
  const long e = get_global_id(0);
  if (e >= batch * cells) return;
  const float c = tanh(sum_of_products(FLOATS(x), FLOATS(h_part), e, has_inputs) +
                       FLOATS(bias)[e % cells]);
  FLOATS(c)[e] = c;
  FLOATS(h)[e] = GRU_STATE(FLOATS(before)[e], FLOATS(u)[e], c);
}

kernel void gru_c_grad(IN(h_grad), IN(u), IN(c), OUT(c_grad), long count) {
  const long e = get_global_id(0);
  if (e < count) FLOATS(c_grad)[e] = GRU_C_GRAD(FLOATS(h_grad)[e], FLOATS(u)[e], FLOATS(c)[e]);
}

// `by_c`, and `by_gates` below: gradients by way of the candidate, and of the gates, of rows of
// inputs and cells.
kernel void gru_gate_grads(IN(by_c), IN(h_grad), IN(before), IN(r), IN(u), IN(c), OUT(gates),
                           long batch, long inputs, long cells) {
  const long e = get_global_id(0), row = e / cells, j = e % cells;
  if (row >= batch) return;
  const float before = FLOATS(before)[e], kept_grad = FLOATS(by_c)[row * (inputs + cells) + inputs + j];
  FLOATS(gates)[row * 2 * cells + j] = GRU_R_GRAD(kept_grad, before, FLOATS(r)[e]);
  FLOATS(gates)[row * 2 * cells + cells + j] =
      GRU_U_GRAD(FLOATS(h_grad)[e], before, FLOATS(u)[e], FLOATS(c)[e]);
}

// A work-item for each input and cell of each row.
kernel void gru_grads(IN(by_c), IN(by_gates), IN(h_grad), IN(r), IN(u), OUT(x_grad),
                      OUT(before_grad), long batch, long inputs, long cells) {
  const long at = get_global_id(0), width = inputs + cells, row = at / width, j = at % width;
  if (row >= batch) return;
  const float by_c = FLOATS(by_c)[at], by_gates = FLOATS(by_gates)[at];
  if (j < inputs) {
    FLOATS(x_grad)[row * inputs + j] = by_c + by_gates;
    return;
  }
  const long e = row * cells + j - inputs;
  FLOATS(before_grad)[e] = by_c * FLOATS(r)[e] + by_gates + FLOATS(h_grad)[e] * FLOATS(u)[e];
}

// ---- Zeros; half as float, and back

kernel void clear(OUT(z), long count) {
  const long e = get_global_id(0);
  if (e < count) FLOATS(z)[e] = 0;
}

kernel void widen(IN(x), OUT(z), long count) {
  const long e = get_global_id(0);
  if (e < count) FLOATS(z)[e] = half_to_float(((global const ushort *)(bx + ox))[e]);
}

kernel void narrow(IN(x), OUT(z), long count) {
  const long e = get_global_id(0);
  if (e < count) ((global ushort *)(bz + oz))[e] = float_to_half(FLOATS(x)[e]);
}
