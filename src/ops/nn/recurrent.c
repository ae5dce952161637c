// Recurrent cells as one op: LSTM (a step, or all steps of a sequence) and GRU, forward and
// backward. Computed in float for half as well. One unit that writes all its outputs: the shapes
// are known beforehand, and how many steps of a sequence are taken is the only value that may be
// wrong.
#include "ops/nn/recurrent.h"

#include <string.h>
#include <tgmath.h>

#include "graph/build.h"
#include "ops/kit/op_util.h"
#include "ops/linalg/lapack.h"
#include "ops/nn/recurrent_formulas.h"

// ---- Shapes, by a letter for each dimension: t steps, b batch, i inputs, c cells,
// s = i + c, d = 2 c, q = 4 c. "-" stands for a scalar. Words are inputs, then outputs.

enum { STEPS, BATCH, INPUTS, CELLS, NUM_SIZES };

static int64_t times(int64_t factor, int64_t size) {
  return size < 0 || size > INT64_MAX / factor ? -1 : factor * size;
}

// -1 if it is not known, or beyond the integers.
static int64_t size_of_letter(const int64_t *sizes, char letter) {
  switch (letter) {
    case 't': return sizes[STEPS];
    case 'b': return sizes[BATCH];
    case 'i': return sizes[INPUTS];
    case 'c': return sizes[CELLS];
    case 'd': return times(2, sizes[CELLS]);
    case 'q': return times(4, sizes[CELLS]);
    default:
      if (sizes[INPUTS] < 0 || sizes[CELLS] < 0 || sizes[INPUTS] > INT64_MAX - sizes[CELLS])
        return -1;
      return sizes[INPUTS] + sizes[CELLS];
  }
}

static int index_of_letter(char letter) {
  const char *const letters = "tbic";
  const char *at = strchr(letters, letter);
  return at == NULL ? -1 : (int)(at - letters);
}

static const char *next_word(const char *layout, int32_t *out_rank) {
  while (*layout == ' ') layout++;
  *out_rank = *layout == '-' ? 0 : (int32_t)strcspn(layout, " ");
  return layout;
}

static const char *after_word(const char *word) { return word + strcspn(word, " "); }

static rheos_status *bad_dim(const rheos__infer *c, int32_t input, int32_t dim, int64_t expected) {
  rheos__shape_text text;
  return RHEOS_INVALID("input %d has shape %s: dimension %d should be %lld", (int)input,
                       rheos__shape_text_of(&c->input_shapes[input], &text), (int)dim,
                       (long long)expected);
}

// The sizes that single letters tell, then whether all dimensions agree with them.
static rheos_status *find_sizes(const rheos__infer *c, const char *layout, int64_t *sizes) {
  for (int k = 0; k < NUM_SIZES; ++k) sizes[k] = -1;
  for (int pass = 0; pass < 2; ++pass) {
    const char *word = layout;
    for (int32_t i = 0; i < c->num_inputs; ++i) {
      int32_t rank;
      rheos_shape shape;
      word = next_word(word, &rank);
      RHEOS_TRY(rheos__infer_rank(c, i, rank, &shape));
      for (int32_t d = 0; d < rank; ++d) {
        const int at = index_of_letter(word[d]);
        const int64_t size = shape.dims[d];
        if (size < 0) continue;
        if (pass == 0 && at >= 0 && sizes[at] < 0) sizes[at] = size;
        if (pass == 0 && word[d] == 'q' && sizes[CELLS] < 0 && size % 4 == 0)
          sizes[CELLS] = size / 4;
        const int64_t expected = size_of_letter(sizes, word[d]);
        if (pass == 1 && expected >= 0 && size != expected) return bad_dim(c, i, d, expected);
      }
      word = after_word(word);
    }
  }
  return NULL;
}

static rheos_status *infer_layout(rheos__infer *c, const char *layout) {
  int64_t sizes[NUM_SIZES];
  RHEOS_TRY(find_sizes(c, layout, sizes));
  const char *word = layout;
  for (int32_t i = 0; i < c->num_inputs + c->num_outputs; ++i) {
    int32_t rank;
    word = next_word(word, &rank);
    if (i >= c->num_inputs) {
      rheos_shape *out = &c->output_shapes[i - c->num_inputs];
      *out = (rheos_shape){.rank = rank};
      for (int32_t d = 0; d < rank; ++d) out->dims[d] = size_of_letter(sizes, word[d]);
    }
    word = after_word(word);
  }
  return NULL;
}

// ---- A call: all operands as floats, but for the number of steps

enum { MAX_INPUTS = 18, MAX_OUTPUTS = 8, MAX_WORK = 6 };

typedef struct call {
  const float *in[MAX_INPUTS];
  float *out[MAX_OUTPUTS];  // zeros at the start
  float *work[MAX_WORK];    // anything
  int64_t steps;
} call;

// An operand, or work space of a call. `offset` is where its floats are in the scratch memory; what
// is float already stays where it is.
typedef struct piece {
  int64_t count;
  size_t offset;
} piece;

typedef struct recurrent_state recurrent_state;
typedef void (*recurrent_body)(const recurrent_state *s, call *k);

struct recurrent_state {
  int32_t num_inputs, num_outputs, num_work;
  piece in[MAX_INPUTS], out[MAX_OUTPUTS], work[MAX_WORK];  // without the number of steps
  int64_t steps, batch, inputs, cells;
  bool is_half, has_peephole, is_sequence, forgets_second;  // gates i f c o, else i c f o
  float forget_bias, clip;
  recurrent_body body;
};

static float *at_piece(void *scratch, const piece *p) {
  return (float *)(void *)((char *)scratch + p->offset);
}

static void load_inputs(const recurrent_state *s, const void *const *inputs, void *scratch,
                        call *k) {
  for (int32_t i = 0; i < s->num_inputs; ++i) {
    k->in[i] = s->in[i].count > 0 ? inputs[i] : scratch;  // offsets of 0 are added
    if (!s->is_half) continue;
    const uint16_t *from = inputs[i];
    float *to = at_piece(scratch, &s->in[i]);
    for (int64_t e = 0; e < s->in[i].count; ++e) to[e] = rheos__half_to_float(from[e]);
    k->in[i] = to;
  }
}

static void clear_outputs(const recurrent_state *s, void *const *outputs, void *scratch, call *k) {
  for (int32_t i = 0; i < s->num_outputs; ++i) {
    if (s->out[i].count == 0) continue;
    k->out[i] = s->is_half ? at_piece(scratch, &s->out[i]) : outputs[i];
    memset(k->out[i], 0, (size_t)s->out[i].count * sizeof(float));
  }
}

static void store_outputs(const recurrent_state *s, void *const *outputs, const call *k) {
  for (int32_t i = 0; i < s->num_outputs && s->is_half; ++i) {
    uint16_t *to = outputs[i];
    for (int64_t e = 0; e < s->out[i].count; ++e) to[e] = rheos__float_to_half(k->out[i][e]);
  }
}

static rheos_status *run_recurrent(const void *state, const void *const *inputs,
                                   void *const *outputs, void *scratch, int64_t first_unit,
                                   int64_t last_unit) {
  (void)first_unit;
  (void)last_unit;
  const recurrent_state *s = state;
  call k = {.steps = s->steps};
  if (s->is_sequence) {
    k.steps = *(const int64_t *)*inputs++;
    if (k.steps < 0 || k.steps > s->steps) {
      return RHEOS_INVALID("seq_len_max must be between 0 and %lld, got %lld", (long long)s->steps,
                           (long long)k.steps);
    }
  }
  clear_outputs(s, outputs, scratch, &k);
  if (s->batch > 0 && s->cells > 0) {  // else zeros are all
    load_inputs(s, inputs, scratch, &k);
    for (int32_t i = 0; i < s->num_work; ++i) k.work[i] = at_piece(scratch, &s->work[i]);
    rheos__lapack_begin();
    s->body(s, &k);
    rheos__lapack_end();
  }
  store_outputs(s, outputs, &k);
  return NULL;
}

// The number of elements of the word's shape. False if it is beyond the integers.
static bool count_word(const int64_t *sizes, const char *word, int32_t rank, int64_t *out_count) {
  int64_t count = 1;
  for (int32_t d = 0; d < rank; ++d) {
    if (size_of_letter(sizes, word[d]) == 0) count = 0;
  }
  for (int32_t d = 0; d < rank && count > 0; ++d) {
    const int64_t size = size_of_letter(sizes, word[d]);
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return false;
  }
  *out_count = count;
  return true;
}

// Pieces for the next words, with a place in the scratch memory if they need one. NULL if all of
// them would be more than there are bytes; else what follows.
static const char *place_words(const int64_t *sizes, const char *word, int32_t count,
                               bool in_scratch, piece *pieces, size_t *scratch_bytes) {
  for (int32_t i = 0; i < count; ++i) {
    int32_t rank;
    size_t bytes;
    word = next_word(word, &rank);
    pieces[i].offset = *scratch_bytes;
    if (!count_word(sizes, word, rank, &pieces[i].count) ||
        !rheos__mul_size((size_t)pieces[i].count, sizeof(float), &bytes) || bytes > SIZE_MAX / 2) {
      return NULL;
    }
    bytes = rheos__carved_bytes(pieces[i].count, sizeof(float));
    if (in_scratch && !rheos__add_size(*scratch_bytes, bytes, scratch_bytes)) return NULL;
    word = after_word(word);
  }
  return word;
}

static bool place_all(recurrent_state *s, const int64_t *sizes, const char *layout,
                      const char *work, size_t *scratch_bytes) {
  if (s->is_sequence) layout = after_word(layout);
  layout = place_words(sizes, layout, s->num_inputs, s->is_half, s->in, scratch_bytes);
  if (layout == NULL) return false;
  if (place_words(sizes, layout, s->num_outputs, s->is_half, s->out, scratch_bytes) == NULL) {
    return false;
  }
  for (const char *word = work; *word != 0; word = after_word(word)) {
    if (*word == ' ') ++word;
    ++s->num_work;
  }
  return place_words(sizes, work, s->num_work, true, s->work, scratch_bytes) != NULL;
}

// Of the ops over sequences; the others have none.
typedef struct sequence_family {
  bool forgets_second;   // the order of the gates
  const char *gradient;  // op; NULL: it is one itself
} sequence_family;

static const sequence_family sequence = {.gradient = "BlockLSTMGrad"};
static const sequence_family sequence_v2 = {.forgets_second = true, .gradient = "BlockLSTMGradV2"};
static const sequence_family gradient_v2 = {.forgets_second = true};

static void read_attrs(const rheos__prepare *p, recurrent_state *s) {
  const rheos_attr_value *value = rheos__attrs_find(p->attrs, "use_peephole");
  s->has_peephole = value != NULL && value->b;
  value = rheos__attrs_find(p->attrs, "forget_bias");
  s->forget_bias = value != NULL ? value->f : 0;
  value = rheos__attrs_find(p->attrs, "cell_clip");
  s->clip = value != NULL ? value->f : 0;
  const sequence_family *family = p->op->family;
  s->forgets_second = family != NULL && family->forgets_second;
}

rheos__recurrent rheos__recurrent_of(const void *state) {
  const recurrent_state *s = state;
  return (rheos__recurrent){.steps = s->steps,
                            .batch = s->batch,
                            .inputs = s->inputs,
                            .cells = s->cells,
                            .has_peephole = s->has_peephole,
                            .is_sequence = s->is_sequence,
                            .forgets_second = s->forgets_second,
                            .forget_bias = s->forget_bias,
                            .clip = s->clip};
}

// `work` are the shapes of the body's work space; `columns`: how many times c numbers a row of
// inputs and cells is multiplied by.
static rheos_status *prepare_recurrent(rheos__prepare *p, const char *layout, const char *work,
                                       int columns, recurrent_body body) {
  recurrent_state *s = RHEOS_NEW_STATE(p, recurrent_state);
  if (s == NULL) return rheos__out_of_memory();
  int64_t sizes[NUM_SIZES];
  const rheos__infer infer = {.op = p->op,
                              .attrs = p->attrs,
                              .num_inputs = p->num_inputs,
                              .input_dtypes = p->input_dtypes,
                              .input_shapes = p->input_shapes};
  RHEOS_TRY(find_sizes(&infer, layout, sizes));
  s->is_sequence = layout[0] == '-';
  s->num_inputs = p->num_inputs - (s->is_sequence ? 1 : 0);
  s->num_outputs = p->num_outputs;
  s->is_half = p->output_dtypes[0] == RHEOS_HALF;
  s->steps = s->is_sequence ? sizes[STEPS] : 1;
  s->batch = sizes[BATCH];
  s->inputs = sizes[INPUTS];
  s->cells = sizes[CELLS];
  s->body = body;
  read_attrs(p, s);
  if (!place_all(s, sizes, layout, work, &p->scratch_bytes)) return rheos__out_of_memory();
  const double row = (double)s->inputs + (double)s->cells;
  p->flops = rheos__flops((double)s->steps * (double)s->batch * (double)s->cells *
                          (2 * columns * row + 50));
  p->num_units = 1;
  p->run = run_recurrent;
  return NULL;
}

// c (m,n) = op(a) op(b), or added to what is there.
static void product(bool turn_a, bool turn_b, int64_t m, int64_t n, int64_t k, const float *a,
                    const float *b, float *c) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    memset(c, 0, (size_t)(m * n) * sizeof *c);
    return;
  }
  rheos__lapack_of(RHEOS_FLOAT)->product(turn_a, turn_b, (int)m, (int)n, (int)k, a, b, c);
}

// Rows of x (b,i) and h (b,c) beside each other.
static void join(int64_t rows, int64_t i, const float *x, int64_t c, const float *h, float *xh) {
  for (int64_t r = 0; r < rows; ++r) {
    if (i > 0) memcpy(xh + r * (i + c), x + r * i, (size_t)i * sizeof *xh);
    memcpy(xh + r * (i + c) + i, h + r * c, (size_t)c * sizeof *xh);
  }
}

// ---- LSTM, forward

typedef struct lstm_weights {
  const float *w, *wci, *wcf, *wco, *b;
} lstm_weights;

// What a step keeps: each (b,c).
typedef struct lstm_step {
  float *i, *cs, *f, *o, *ci, *co, *h;
} lstm_step;

static lstm_step step_at(float *const *tensors, int64_t offset) {
  return (lstm_step){tensors[0] + offset, tensors[1] + offset, tensors[2] + offset,
                     tensors[3] + offset, tensors[4] + offset, tensors[5] + offset,
                     tensors[6] + offset};
}

static void lstm_forward(const recurrent_state *s, const lstm_weights *w, const float *x,
                         const float *cs_prev, const float *h_prev, const lstm_step *out, float *xh,
                         float *gates) {
  const bool has_peephole = s->has_peephole;
  const int64_t c = s->cells, width = s->inputs + c;
  const int64_t at_ci = s->forgets_second ? 2 * c : c, at_f = s->forgets_second ? c : 2 * c;
  join(s->batch, s->inputs, x, c, h_prev, xh);
  product(false, false, s->batch, 4 * c, width, xh, w->w, gates);
  for (int64_t e = 0; e < s->batch * c; ++e) {
    const int64_t j = e % c;
    const float *gate = gates + e / c * 4 * c + j;
    const float before = cs_prev[e], clip = s->clip;
    const float wci = w->wci[j], wcf = w->wcf[j], wco = w->wco[j];
    const float i_sum = gate[0] + w->b[j], ci_sum = gate[at_ci] + w->b[at_ci + j];
    const float f_sum = gate[at_f] + w->b[at_f + j] + s->forget_bias;
    const float o_sum = gate[3 * c] + w->b[3 * c + j];
    LSTM_STEP
    out->i[e] = i;
    out->cs[e] = cs;
    out->f[e] = f;
    out->o[e] = o;
    out->ci[e] = ci;
    out->co[e] = co;
    out->h[e] = h;
  }
}

static void lstm_body(const recurrent_state *s, call *k) {
  const float *const *in = k->in;
  const lstm_weights w = {in[3], in[4], in[5], in[6], in[7]};
  const int64_t size = s->batch * s->cells;
  const float *cs_prev = in[1], *h_prev = in[2];
  for (int64_t t = 0; t < k->steps; ++t) {
    const lstm_step out = step_at(k->out, t * size);
    lstm_forward(s, &w, in[0] + t * s->batch * s->inputs, cs_prev, h_prev, &out, k->work[0],
                 k->work[1]);
    cs_prev = out.cs;
    h_prev = out.h;
  }
}

// ---- LSTM, backward

// Gradients of the gates (b,4c) and of the state before, from those of the state and output after.
// Gradients of the peephole weights are added up.
static void lstm_backward(const recurrent_state *s, const lstm_weights *w, const lstm_step *kept,
                          const float *cs_prev, const float *cs_grads, const float *h_grads,
                          float *gates_grad, float *cs_prev_grad, float *const *peephole_grads) {
  const bool has_peephole = s->has_peephole;
  const int64_t c = s->cells;
  const int64_t at_ci = s->forgets_second ? 2 * c : c, at_f = s->forgets_second ? c : 2 * c;
  for (int64_t e = 0; e < s->batch * c; ++e) {
    const int64_t j = e % c;
    const float i = kept->i[e], f = kept->f[e], o = kept->o[e], ci = kept->ci[e];
    const float co = kept->co[e], before = cs_prev[e], cs_grad = cs_grads[e], h_grad = h_grads[e];
    const float wci = w->wci[j], wcf = w->wcf[j], wco = w->wco[j];
    float *gate = gates_grad + e / c * 4 * c + j;
    LSTM_STEP_GRAD
    gate[0] = i_grad;
    gate[at_ci] = ci_grad;
    gate[at_f] = f_grad;
    gate[3 * c] = o_grad;
    cs_prev_grad[e] = before_grad;
    if (!has_peephole) continue;
    peephole_grads[0][j] += i_grad * before;
    peephole_grads[1][j] += f_grad * before;
    peephole_grads[2][j] += o_grad * kept->cs[e];
  }
}

static lstm_step kept_at(const float *const *tensors, int64_t offset) {
  float *pointers[7];
  for (int i = 0; i < 7; ++i) pointers[i] = (float *)(uintptr_t)tensors[i];
  return step_at(pointers, offset);
}

static void lstm_grad_body(const recurrent_state *s, call *k) {
  const float *const *in = k->in;
  const lstm_weights w = {in[3], in[4], in[5], in[6], in[7]};
  // x cs_prev h_prev w wci wcf wco b, i cs f o ci co, cs_grad h_grad
  const float *const kept[7] = {in[8], in[9], in[10], in[11], in[12], in[13], in[13]};
  const lstm_step step = kept_at(kept, 0);
  lstm_backward(s, &w, &step, in[1], in[14], in[15], k->out[1], k->out[0], k->out + 2);
}

// to[i] += from[i]
static void add_to(float *to, const float *from, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] += from[i];
}

static void block_lstm_grad_body(const recurrent_state *s, call *k) {
  const float *const *in = k->in;
  const lstm_weights w = {in[3], in[4], in[5], in[6], in[7]};
  const int64_t b = s->batch, c = s->cells, i = s->inputs, size = b * c, width = i + c;
  float *xh = k->work[0], *xh_grad = k->work[1], *gates = k->work[2], *w_part = k->work[3];
  float *cs_grad = k->work[4], *h_grad = k->work[5];
  float *cs_prev_grad = k->out[1], *h_prev_grad = k->out[2];  // zeros at the start
  for (int64_t t = k->steps - 1; t >= 0; --t) {
    const lstm_step kept = kept_at(in + 8, t * size);
    const float *cs_prev = t == 0 ? in[1] : in[9] + (t - 1) * size;
    const float *h_prev = t == 0 ? in[2] : in[14] + (t - 1) * size;
    for (int64_t e = 0; e < size; ++e) {
      cs_grad[e] = in[15][t * size + e] + cs_prev_grad[e];
      h_grad[e] = in[16][t * size + e] + h_prev_grad[e];
    }
    lstm_backward(s, &w, &kept, cs_prev, cs_grad, h_grad, gates, cs_prev_grad, k->out + 4);
    product(false, true, b, width, 4 * c, gates, w.w, xh_grad);
    for (int64_t r = 0; r < b; ++r) {
      if (i > 0) memcpy(k->out[0] + (t * b + r) * i, xh_grad + r * width, (size_t)i * sizeof *xh);
      memcpy(h_prev_grad + r * c, xh_grad + r * width + i, (size_t)c * sizeof *xh);
      add_to(k->out[7], gates + r * 4 * c, 4 * c);
    }
    join(b, i, in[0] + t * b * i, c, h_prev, xh);
    product(true, false, width, 4 * c, b, xh, gates, w_part);
    add_to(k->out[3], w_part, width * 4 * c);
  }
}

// ---- GRU

static void gru_body(const recurrent_state *s, call *k) {
  const float *x = k->in[0], *h_prev = k->in[1], *b_ru = k->in[4], *b_c = k->in[5];
  const int64_t b = s->batch, c = s->cells, width = s->inputs + c;
  float *r = k->out[0], *u = k->out[1], *cell = k->out[2], *h = k->out[3];
  float *xh = k->work[0], *gates = k->work[1], *kept = k->work[2];
  join(b, s->inputs, x, c, h_prev, xh);
  product(false, false, b, 2 * c, width, xh, k->in[2], gates);
  for (int64_t e = 0; e < b * c; ++e) {
    const int64_t row = e / c, j = e % c;
    r[e] = RECURRENT_SIGMOID(gates[row * 2 * c + j] + b_ru[j]);
    u[e] = RECURRENT_SIGMOID(gates[row * 2 * c + c + j] + b_ru[c + j]);
    kept[e] = h_prev[e] * r[e];
  }
  join(b, s->inputs, x, c, kept, xh);
  product(false, false, b, c, width, xh, k->in[3], gates);
  for (int64_t e = 0; e < b * c; ++e) {
    cell[e] = tanh(gates[e] + b_c[e % c]);
    h[e] = GRU_STATE(h_prev[e], u[e], cell[e]);
  }
}

static void gru_grad_body(const recurrent_state *s, call *k) {
  const float *h_prev = k->in[1], *r = k->in[6], *u = k->in[7], *cell = k->in[8];
  const float *d_h = k->in[9];
  const int64_t b = s->batch, c = s->cells, i = s->inputs, width = i + c;
  float *d_x = k->out[0], *d_h_prev = k->out[1], *d_c_bar = k->out[2], *d_ru = k->out[3];
  float *by_c = k->work[0], *by_ru = k->work[1];
  for (int64_t e = 0; e < b * c; ++e) {
    d_c_bar[e] = GRU_C_GRAD(d_h[e], u[e], cell[e]);
  }
  product(false, true, b, width, c, d_c_bar, k->in[3], by_c);
  for (int64_t e = 0; e < b * c; ++e) {
    const int64_t row = e / c, j = e % c;
    d_ru[row * 2 * c + j] = GRU_R_GRAD(by_c[row * width + i + j], h_prev[e], r[e]);
    d_ru[row * 2 * c + c + j] = GRU_U_GRAD(d_h[e], h_prev[e], u[e], cell[e]);
  }
  product(false, true, b, width, 2 * c, d_ru, k->in[2], by_ru);
  for (int64_t row = 0; row < b; ++row) {
    const float *x_part = by_c + row * width, *ru_part = by_ru + row * width;
    for (int64_t j = 0; j < i; ++j) d_x[row * i + j] = x_part[j] + ru_part[j];
    for (int64_t j = 0; j < c; ++j) {
      const int64_t e = row * c + j;
      d_h_prev[e] = x_part[i + j] * r[e] + ru_part[i + j] + d_h[e] * u[e];
    }
  }
}

// ---- The ops

#define RECURRENT(name, layout, work, columns, body)                                     \
  static rheos_status *shape_##name(rheos__infer *c) { return infer_layout(c, layout); } \
  static rheos_status *prepare_##name(rheos__prepare *p) {                               \
    return prepare_recurrent(p, layout, work, columns, body);                            \
  }
#define WEIGHTS "sq c c c q "
#define KEPT_STEP "bc bc bc bc bc bc "
#define KEPT "tbc tbc tbc tbc tbc tbc tbc "
RECURRENT(lstm_cell, "bi bc bc " WEIGHTS KEPT_STEP "bc", "bs bq", 4, lstm_body)
RECURRENT(lstm_cell_grad, "bi bc bc " WEIGHTS KEPT_STEP "bc bc bc bq c c c", "", 0, lstm_grad_body)
RECURRENT(block_lstm, "- tbi bc bc " WEIGHTS KEPT, "bs bq", 4, lstm_body)
RECURRENT(block_lstm_grad, "- tbi bc bc " WEIGHTS KEPT "tbc tbc tbi bc bc " WEIGHTS,
          "bs bs bq sq bc bc", 8, block_lstm_grad_body)
RECURRENT(gru_cell, "bi bc sd sc d c bc bc bc bc", "bs bd bc", 3, gru_body)
RECURRENT(gru_cell_grad, "bi bc sd sc d c bc bc bc bc bi bc bc bd", "bs bs", 3, gru_grad_body)

static void gradient_block_lstm(rheos__grad *g) {
  rheos_output inputs[MAX_INPUTS];
  for (int32_t i = 0; i < 9; ++i) inputs[i] = g->inputs[i];
  for (int32_t i = 0; i < 7; ++i) inputs[9 + i] = g->outputs[i];
  inputs[16] = rheos__grad_dense(g, 1);
  inputs[17] = rheos__grad_dense(g, 6);
  const sequence_family *family = g->op->family;
  const rheos_attr attr =
      rheos_attr_bool("use_peephole", rheos__attr_bool(g->attrs, "use_peephole"));
  const rheos_operation grad = rheos__op_n(g->scope, family->gradient, NULL, inputs, 18, &attr, 1);
  if (grad.graph == NULL) return;
  for (int32_t i = 0; i < 8; ++i) rheos__grad_set(g, i + 1, rheos_operation_output(grad, i));
}

// [x, h]^T times the gradient of what a row of gates is before its activation, and the sum of that.
static void set_weight_gradients(rheos__grad *g, int32_t weights, int32_t biases, rheos_output h,
                                 rheos_output gates) {
  rheos_scope *s = g->scope;
  const rheos_output parts[] = {g->inputs[0], h, rheos__const_scalar(s, RHEOS_INT32, 1, NULL)};
  const rheos_operation rows = rheos__op_n(s, "ConcatV2", NULL, parts, 3, NULL, 0);
  if (rows.graph == NULL) return;
  const rheos_output both[] = {rheos_operation_output(rows, 0), gates};
  const rheos_attr transpose = rheos_attr_bool("transpose_a", true);
  const rheos_operation product = rheos__op_n(s, "MatMul", NULL, both, 2, &transpose, 1);
  if (product.graph == NULL) return;
  rheos__grad_set(g, weights, rheos_operation_output(product, 0));
  rheos__grad_set(g, biases, rheos__op_1(s, "BiasAddGrad", gates));
}

// As TensorFlow's contributors have it: of `h` alone.
static void gradient_gru_cell(rheos__grad *g) {
  rheos_output inputs[MAX_INPUTS];
  for (int32_t i = 0; i < 6; ++i) inputs[i] = g->inputs[i];
  for (int32_t i = 0; i < 3; ++i) inputs[6 + i] = g->outputs[i];
  inputs[9] = rheos__grad_dense(g, 3);
  const rheos_operation grad = rheos__op_n(g->scope, "GRUBlockCellGrad", NULL, inputs, 10, NULL, 0);
  if (grad.graph == NULL) return;
  for (int32_t i = 0; i < 2; ++i) rheos__grad_set(g, i, rheos_operation_output(grad, i));
  const rheos_output reset = rheos__op_2(g->scope, "Mul", g->inputs[1], g->outputs[0]);
  set_weight_gradients(g, 2, 4, g->inputs[1], rheos_operation_output(grad, 3));
  set_weight_gradients(g, 3, 5, reset, rheos_operation_output(grad, 2));
}

#define STATE_INPUTS "cs_prev: T, h_prev: T, w: T, wci: T, wcf: T, wco: T, b: T"
#define STATE_OUTPUTS "i: T, cs: T, f: T, o: T, ci: T, co: T, h: T"
#define SEQUENCE_GRADS                                                                \
  "x_grad: T, cs_prev_grad: T, h_prev_grad: T, w_grad: T, wci_grad: T, wcf_grad: T, " \
  "wco_grad: T, b_grad: T; use_peephole: bool; T: {half, float}"
#define LSTM_TYPES "use_peephole: bool = false; T: {half, float}"

const rheos__op_def rheos__op_LSTMBlockCell = {
    .name = "LSTMBlockCell",
    .signature = "x: T, " STATE_INPUTS " -> " STATE_OUTPUTS
                 "; forget_bias: float = 1; cell_clip: float = 3; " LSTM_TYPES,
    .doc = "One step of an LSTM: its gates, state `cs` and output `h`.",
    .shape = shape_lstm_cell,
    .prepare = prepare_lstm_cell,
};

const rheos__op_def rheos__op_LSTMBlockCellGrad = {
    .name = "LSTMBlockCellGrad",
    .signature = "x: T, " STATE_INPUTS
                 ", i: T, cs: T, f: T, o: T, ci: T, co: T, cs_grad: T, "
                 "h_grad: T -> cs_prev_grad: T, dicfo: T, wci_grad: T, wcf_grad: T, "
                 "wco_grad: T; use_peephole: bool; T: {half, float}",
    .doc = "The gradients of a step of LSTMBlockCell: of the gates, the state before, peepholes.",
    .shape = shape_lstm_cell_grad,
    .prepare = prepare_lstm_cell_grad,
};

const rheos__op_def rheos__op_BlockLSTM = {
    .name = "BlockLSTM",
    .signature = "seq_len_max: int64, x: T, " STATE_INPUTS " -> " STATE_OUTPUTS
                 "; forget_bias: float = 1; cell_clip: float = 3; " LSTM_TYPES,
    .doc = "The first `seq_len_max` steps of an LSTM over the sequence `x`; zeros after them.",
    .shape = shape_block_lstm,
    .gradient = gradient_block_lstm,
    .prepare = prepare_block_lstm,
    .family = &sequence,
};

const rheos__op_def rheos__op_BlockLSTMV2 = {
    .name = "BlockLSTMV2",
    .signature = "seq_len_max: int64, x: T, " STATE_INPUTS " -> " STATE_OUTPUTS
                 "; cell_clip: float = 0; " LSTM_TYPES,
    .doc = "BlockLSTM with the gates in the order i, f, ci, o and no forget bias.",
    .shape = shape_block_lstm,
    .gradient = gradient_block_lstm,
    .prepare = prepare_block_lstm,
    .family = &sequence_v2,
};

const rheos__op_def rheos__op_BlockLSTMGrad = {
    .name = "BlockLSTMGrad",
    .signature = "seq_len_max: int64, x: T, " STATE_INPUTS ", " STATE_OUTPUTS
                 ", cs_grad: T, h_grad: T -> " SEQUENCE_GRADS,
    .doc = "The gradients of BlockLSTM.",
    .shape = shape_block_lstm_grad,
    .prepare = prepare_block_lstm_grad,
};

const rheos__op_def rheos__op_BlockLSTMGradV2 = {
    .name = "BlockLSTMGradV2",
    .signature = "seq_len_max: int64, x: T, " STATE_INPUTS ", " STATE_OUTPUTS
                 ", cs_grad: T, h_grad: T -> " SEQUENCE_GRADS,
    .doc = "The gradients of BlockLSTMV2.",
    .shape = shape_block_lstm_grad,
    .prepare = prepare_block_lstm_grad,
    .family = &gradient_v2,
};

const rheos__op_def rheos__op_GRUBlockCell = {
    .name = "GRUBlockCell",
    .signature =
        "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T -> r: T, u: T, c: T, h: T; "
        "T: {float}",
    .doc = "One step of a GRU: its gates and output `h`.",
    .shape = shape_gru_cell,
    .gradient = gradient_gru_cell,
    .prepare = prepare_gru_cell,
};

const rheos__op_def rheos__op_GRUBlockCellGrad = {
    .name = "GRUBlockCellGrad",
    .signature =
        "x: T, h_prev: T, w_ru: T, w_c: T, b_ru: T, b_c: T, r: T, u: T, c: T, d_h: T -> "
        "d_x: T, d_h_prev: T, d_c_bar: T, d_r_bar_u_bar: T; T: {float}",
    .doc = "The gradients of GRUBlockCell.",
    .shape = shape_gru_cell_grad,
    .prepare = prepare_gru_cell_grad,
};
