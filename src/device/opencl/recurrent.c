// What x gives to the gates of all steps is one product, which is there before the first step; so
// is one what all steps together give to the gradient of the weights, after the last. A step has a
// product of the output before and one kernel. Half is widened first and narrowed last.
#include "device/opencl/recurrent.h"

#include "device/opencl/card_product.h"
#include "device/opencl/move.h"
#include "device/opencl/source.h"
#include "ops/kit/op_util.h"
#include "ops/nn/recurrent.h"

#include "opencl/recurrent.inc"
#include "opencl/recurrent_formulas.inc"

enum { MAX_INPUTS = 17, MAX_OUTPUTS = 8 };

typedef rheos__stage_operand operand;

typedef struct recurrence {
  rheos__launch *launch;
  rheos__recurrent r;
  bool is_half;
  // In floats. Inputs of sequences are those behind the length, which others do not have
  operand length, in[MAX_INPUTS], out[MAX_OUTPUTS];
  int32_t num_outputs;
  size_t scratch_bytes;
} recurrence;

// As recurrent.cl has it.
typedef struct card_lstm {
  cl_long batch, cells, at_ci, at_f;
  cl_int has_peephole, has_inputs;
  cl_float forget_bias, clip;
} card_lstm;

// ---- Pieces of launches

static operand behind(operand o, int64_t floats) {
  o.offset_bytes += (uint64_t)floats * sizeof(float);
  return o;
}

static operand scratch(recurrence *w, int64_t floats) {
  const operand o = {RHEOS__SCRATCH, w->scratch_bytes};
  w->scratch_bytes += ((size_t)floats * sizeof(float) + 63) / 64 * 64;
  return o;
}

static void add(const recurrence *w, const char *name, const operand *operands, int32_t count,
                const rheos__grid *grid) {
  rheos__text text = {0};
  rheos__cl_add_prelude(&text);
  if (w->r.is_sequence) rheos__cl_add(&text, "#define IS_SEQUENCE\n");
  rheos__cl_add_group(&text, "float");
  rheos__text_add_string(&text, rheos__cl_recurrent_formulas);
  rheos__text_add_string(&text, rheos__cl_recurrent);
  rheos__launch_add_text(w->launch, &text, name, operands, count, grid);
}

static void add_for_each(const recurrence *w, const char *name, const operand *operands,
                         int32_t count, int64_t num_items) {
  const rheos__grid grid = {1, {(size_t)num_items}, {0}};
  add(w, name, operands, count, &grid);
}

static void add_groups(const recurrence *w, const char *name, const operand *operands,
                       int32_t count, int64_t num_groups) {
  const rheos__grid grid = {1, {(size_t)num_groups * RHEOS__GROUP}, {RHEOS__GROUP, 1, 1}};
  add(w, name, operands, count, &grid);
}

static void set_numbers(const recurrence *w, const int64_t *numbers, int32_t count) {
  for (int32_t i = 0; i < count; i++) rheos__launch_set_number(w->launch, numbers[i]);
}

static void set_int(const recurrence *w, cl_int number) {
  rheos__launch_set(w->launch, &number, sizeof number);
}

static void set_lstm(const recurrence *w, int64_t number) {
  const rheos__recurrent *r = &w->r;
  const card_lstm k = {.batch = r->batch,
                       .cells = r->cells,
                       .at_ci = r->forgets_second ? 2 * r->cells : r->cells,
                       .at_f = r->forgets_second ? r->cells : 2 * r->cells,
                       .has_peephole = r->has_peephole,
                       .has_inputs = r->inputs > 0,
                       .forget_bias = r->forget_bias,
                       .clip = r->clip};
  rheos__launch_set(w->launch, &k, sizeof k);
  rheos__launch_set_number(w->launch, number);
}

static void clear(const recurrence *w, operand to, int64_t count) {
  if (count == 0) return;
  add_for_each(w, "clear", &to, 1, count);
  rheos__launch_set_number(w->launch, count);
}

static void convert(const recurrence *w, const char *name, operand from, operand to,
                    int64_t count) {
  const operand operands[] = {from, to};
  if (count == 0) return;
  add_for_each(w, name, operands, 2, count);
  rheos__launch_set_number(w->launch, count);
}

// c (m,n) = a b, where there is anything in it.
static void multiply(const recurrence *w, int64_t m, int64_t n, int64_t k, operand a, operand b,
                     operand c) {
  const rheos__card_product product = {
      .dtype = RHEOS_FLOAT, .a = a, .b = b, .c = c, .m = m, .n = n, .k = k};
  if (m > 0 && n > 0 && k > 0) rheos__product_add(w->launch, &product);
}

// The transpose of a, or of b, is what is in memory.
static void multiply_turned(const recurrence *w, bool turns_a, int64_t m, int64_t n, int64_t k,
                            operand a, operand b, operand c) {
  const rheos__card_product product = {.dtype = RHEOS_FLOAT,
                                       .a = a,
                                       .b = b,
                                       .c = c,
                                       .m = m,
                                       .n = n,
                                       .k = k,
                                       .transpose_a = turns_a,
                                       .transpose_b = !turns_a};
  if (m > 0 && n > 0 && k > 0) rheos__product_add(w->launch, &product);
}

// ---- Beginning and ending

static const char cannot[] = "the device has no recurrent cells of this kind";

// Whether the number of steps is one that the op's own kernel reports.
static bool has_bad_length(const rheos__prepare *p, const rheos__recurrent *r) {
  if (!r->is_sequence || p->input_values == NULL || p->input_values[0] == NULL) return false;
  const int64_t length = rheos__tensor_int_at(p->input_values[0], 0);
  return length < 0 || length > r->steps;
}

static void take_inputs(rheos__prepare *p, recurrence *w) {
  const int32_t first = w->r.is_sequence;
  for (int32_t i = first; i < p->num_inputs; i++) {
    const int64_t count = rheos_shape_num_elements(&p->input_shapes[i]);
    const operand given = {i, 0};
    w->in[i - first] = w->is_half ? scratch(w, count) : given;
    if (w->is_half) convert(w, "widen", given, w->in[i - first], count);
  }
  w->num_outputs = p->num_outputs;
  for (int32_t i = 0; i < p->num_outputs; i++) {
    const int64_t count = rheos_shape_num_elements(&p->output_shapes[i]);
    w->out[i] = w->is_half ? scratch(w, count) : (operand){p->num_inputs + i, 0};
  }
}

// A launch of so many kernels, and so many a step. Its status, or that it declines, is told by
// end(). False where there is nothing to compute: all outputs are zeros.
static rheos_status *begin(rheos__prepare *p, int64_t num_stages, int64_t per_step, recurrence *w,
                           bool *out_is_empty) {
  rheos__card *card = rheos__card_of(p->device);
  RHEOS_TRY(p->op->prepare(p));
  *w = (recurrence){.r = rheos__recurrent_of(p->state),
                    .is_half = p->output_dtypes[0] == RHEOS_HALF};
  const rheos__recurrent *r = &w->r;
  if (!rheos__product_can(card, RHEOS_FLOAT) || has_bad_length(p, r) ||
      r->steps > (INT32_MAX - 64) / (per_step + 1)) {
    p->decline_reason = cannot;
    return NULL;
  }
  *out_is_empty = r->batch == 0 || r->cells == 0 || r->steps == 0;
  num_stages += per_step * r->steps + p->num_inputs + p->num_outputs;
  w->launch = rheos__launch_begin(card, p->arena, p->num_inputs, (int32_t)num_stages);
  if (w->launch == NULL) return rheos__out_of_memory();
  if (!*out_is_empty) take_inputs(p, w);
  return NULL;
}

static rheos_status *end(rheos__prepare *p, const recurrence *w, bool is_empty) {
  for (int32_t i = 0; i < p->num_outputs; i++) {
    const int64_t count = rheos_shape_num_elements(&p->output_shapes[i]);
    if (is_empty) {
      rheos__move_add_fill(w->launch, p->num_inputs + i, count,
                           rheos_dtype_size(p->output_dtypes[i]), 0);
    } else if (w->is_half) {
      convert(w, "narrow", w->out[i], (operand){p->num_inputs + i, 0}, count);
    }
  }
  return rheos__launch_end(w->launch, p, w->scratch_bytes);
}

// Where a step's part of the output, or of the input, begins.
static operand step_of(const recurrence *w, operand o, int64_t step) {
  return behind(o, step * w->r.batch * w->r.cells);
}

// ---- LSTM, forward: x cs_prev h_prev w wci wcf wco b -> i cs f o ci co h

static void add_lstm_step(const recurrence *w, operand x_part, operand h_part, int64_t t) {
  const rheos__recurrent *r = &w->r;
  const int64_t b = r->batch, c = r->cells;
  const operand h_before = t == 0 ? w->in[2] : step_of(w, w->out[6], t - 1);
  const operand cs_before = t == 0 ? w->in[1] : step_of(w, w->out[1], t - 1);
  multiply(w, b, 4 * c, c, h_before, behind(w->in[3], r->inputs * 4 * c), h_part);
  operand operands[] = {behind(x_part, r->inputs > 0 ? t * b * 4 * c : 0),
                        h_part,
                        w->in[7],
                        cs_before,
                        w->in[4],
                        w->in[5],
                        w->in[6],
                        r->is_sequence ? (operand){0, 0} : w->in[7],
                        {0},
                        {0},
                        {0},
                        {0},
                        {0},
                        {0},
                        {0}};
  for (int32_t i = 0; i < 7; i++) operands[8 + i] = step_of(w, w->out[i], t);
  add_for_each(w, "lstm_step", operands, 15, b * c);
  set_lstm(w, t);
}

rheos_status *rheos__cl_prepare_lstm(rheos__prepare *p) {
  recurrence w;
  bool is_empty;
  RHEOS_TRY(begin(p, 1, 2, &w, &is_empty));
  if (p->decline_reason != NULL) return NULL;
  const int64_t rows = w.r.steps * w.r.batch, gates = 4 * w.r.cells, inputs = w.r.inputs;
  if (!is_empty) {
    const operand h_part = scratch(&w, w.r.batch * gates);
    const operand x_part = inputs > 0 ? scratch(&w, rows * gates) : h_part;
    multiply(&w, rows, gates, inputs, w.in[0], w.in[3], x_part);
    for (int64_t t = 0; t < w.r.steps; t++) add_lstm_step(&w, x_part, h_part, t);
  }
  return end(p, &w, is_empty);
}

// ---- LSTM, backward: x cs_prev h_prev w wci wcf wco b, i cs f o ci co, of sequences h, then
// cs_grad h_grad

// What the kernel of a step and of all of them share.
typedef struct lstm_grads {
  operand cs_grad, h_grad;              // given
  operand gates, before_grad, carried;  // computed
  operand wci, wcf, wco;
} lstm_grads;

static void add_lstm_step_grad(const recurrence *w, const lstm_grads *g, int64_t t) {
  const int64_t gates = 4 * w->r.cells * w->r.batch;
  const operand before = t == 0 ? w->in[1] : step_of(w, w->in[9], t - 1);
  const operand operands[] = {before,
                              w->in[4],
                              w->in[5],
                              w->in[6],
                              step_of(w, w->in[8], t),
                              step_of(w, w->in[10], t),
                              step_of(w, w->in[11], t),
                              step_of(w, w->in[12], t),
                              step_of(w, w->in[13], t),
                              step_of(w, g->cs_grad, t),
                              step_of(w, g->h_grad, t),
                              g->carried,
                              w->r.is_sequence ? (operand){0, 0} : w->in[7],
                              behind(g->gates, t * gates),
                              g->before_grad};
  add_for_each(w, "lstm_step_grad", operands, 15, w->r.batch * w->r.cells);
  set_lstm(w, t);
}

static void add_peephole_grads(const recurrence *w, const lstm_grads *g) {
  const operand operands[] = {g->gates, w->in[1], w->in[9], g->wci, g->wcf, g->wco};
  if (w->r.has_peephole) {
    add_groups(w, "peephole_grads", operands, 6, w->r.cells);
    set_lstm(w, w->r.steps);
    return;
  }
  for (int32_t i = 0; i < 3; i++) clear(w, operands[3 + i], w->r.cells);
}

// To cs_prev_grad, gates, wci_grad wcf_grad wco_grad.
rheos_status *rheos__cl_prepare_lstm_cell_grad(rheos__prepare *p) {
  recurrence w;
  bool is_empty;
  RHEOS_TRY(begin(p, 4, 0, &w, &is_empty));
  if (p->decline_reason != NULL) return NULL;
  if (!is_empty) {
    const lstm_grads g = {w.in[14], w.in[15], w.out[1], w.out[0],
                          w.in[7],  w.out[2], w.out[3], w.out[4]};
    add_lstm_step_grad(&w, &g, 0);
    add_peephole_grads(&w, &g);
  }
  return end(p, &w, is_empty);
}

// What the steps together give: x_grad, w_grad and b_grad of the gradients of the gates.
static void add_weight_grads(recurrence *w, const lstm_grads *g) {
  const rheos__recurrent *r = &w->r;
  const int64_t rows = r->steps * r->batch, c = r->cells, i = r->inputs;
  const operand before = scratch(w, rows * c);
  const operand states[] = {w->in[2], w->in[14], before}, bias[] = {g->gates, w->out[7]};
  multiply_turned(w, false, rows, i, 4 * c, g->gates, w->in[3], w->out[0]);
  multiply_turned(w, true, i, 4 * c, rows, w->in[0], g->gates, w->out[3]);
  add_for_each(w, "states_before", states, 3, rows * c);
  set_numbers(w, (const int64_t[]){r->batch * c, rows * c}, 2);
  multiply_turned(w, true, c, 4 * c, rows, before, g->gates, behind(w->out[3], i * 4 * c));
  add_groups(w, "bias_grad", bias, 2, 4 * c);
  set_numbers(w, (const int64_t[]){rows, 4 * c}, 2);
}

// To x_grad cs_prev_grad h_prev_grad w_grad wci_grad wcf_grad wco_grad b_grad.
rheos_status *rheos__cl_prepare_lstm_grad(rheos__prepare *p) {
  recurrence w;
  bool is_empty;
  RHEOS_TRY(begin(p, 11, 2, &w, &is_empty));
  if (p->decline_reason != NULL) return NULL;
  const int64_t b = w.r.batch, c = w.r.cells;
  if (!is_empty) {
    const lstm_grads g = {w.in[15], w.in[16], scratch(&w, w.r.steps * b * 4 * c),
                          w.out[1], w.out[2], w.out[4],
                          w.out[5], w.out[6]};
    clear(&w, g.before_grad, b * c);
    clear(&w, g.carried, b * c);
    for (int64_t t = w.r.steps - 1; t >= 0; t--) {
      add_lstm_step_grad(&w, &g, t);
      multiply_turned(&w, false, b, c, 4 * c, behind(g.gates, t * b * 4 * c),
                      behind(w.in[3], w.r.inputs * 4 * c), g.carried);
    }
    add_weight_grads(&w, &g);
    add_peephole_grads(&w, &g);
  }
  return end(p, &w, is_empty);
}

// ---- GRU: x h_prev w_ru w_c b_ru b_c -> r u c h

// Parts of x and of the state, each multiplied by its rows of the weights, of so many columns.
static void add_parts(const recurrence *w, operand state, operand weights, int64_t columns,
                      operand x_part, operand h_part) {
  const rheos__recurrent *r = &w->r;
  multiply(w, r->batch, columns, r->inputs, w->in[0], weights, x_part);
  multiply(w, r->batch, columns, r->cells, state, behind(weights, r->inputs * columns), h_part);
}

rheos_status *rheos__cl_prepare_gru(rheos__prepare *p) {
  recurrence w;
  bool is_empty;
  RHEOS_TRY(begin(p, 6, 0, &w, &is_empty));
  if (p->decline_reason != NULL) return NULL;
  if (!is_empty) {
    const int64_t b = w.r.batch, c = w.r.cells, sizes[] = {b, c};
    const operand h_part = scratch(&w, b * 2 * c), kept = scratch(&w, b * c);
    const operand x_part = w.r.inputs > 0 ? scratch(&w, b * 2 * c) : h_part;
    add_parts(&w, w.in[1], w.in[2], 2 * c, x_part, h_part);
    const operand gates[] = {x_part, h_part, w.in[4], w.in[1], w.out[0], w.out[1], kept};
    add_for_each(&w, "gru_gates", gates, 7, b * c);
    set_numbers(&w, sizes, 2);
    set_int(&w, w.r.inputs > 0);
    add_parts(&w, kept, w.in[3], c, x_part, h_part);
    const operand state[] = {x_part, h_part, w.in[5], w.in[1], w.out[1], w.out[2], w.out[3]};
    add_for_each(&w, "gru_state", state, 7, b * c);
    set_numbers(&w, sizes, 2);
    set_int(&w, w.r.inputs > 0);
  }
  return end(p, &w, is_empty);
}

// The inputs above, r u c, d_h -> d_x d_h_prev, of the candidate, of the gates
rheos_status *rheos__cl_prepare_gru_grad(rheos__prepare *p) {
  recurrence w;
  bool is_empty;
  RHEOS_TRY(begin(p, 5, 0, &w, &is_empty));
  if (p->decline_reason != NULL) return NULL;
  if (!is_empty) {
    const int64_t b = w.r.batch, c = w.r.cells, i = w.r.inputs, sizes[] = {b, i, c};
    const operand by_c = scratch(&w, b * (i + c)), by_gates = scratch(&w, b * (i + c));
    const operand candidate[] = {w.in[9], w.in[7], w.in[8], w.out[2]};
    add_for_each(&w, "gru_c_grad", candidate, 4, b * c);
    rheos__launch_set_number(w.launch, b * c);
    multiply_turned(&w, false, b, i + c, c, w.out[2], w.in[3], by_c);
    const operand gates[] = {by_c, w.in[9], w.in[1], w.in[6], w.in[7], w.in[8], w.out[3]};
    add_for_each(&w, "gru_gate_grads", gates, 7, b * c);
    set_numbers(&w, sizes, 3);
    multiply_turned(&w, false, b, i + c, 2 * c, w.out[3], w.in[2], by_gates);
    const operand last[] = {
        by_c, by_gates, w.in[9], w.in[6], w.in[7], i > 0 ? w.out[0] : w.out[1], w.out[1]};
    add_for_each(&w, "gru_grads", last, 7, b * (i + c));
    set_numbers(&w, sizes, 3);
  }
  return end(p, &w, is_empty);
}
