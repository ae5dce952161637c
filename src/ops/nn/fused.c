// _FusedMatMul and _FusedConv2D: the kernels of MatMul and Conv2D, and an epilogue on each part of
// the output while it is at hand.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include "ops/nn/fused.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/numbers.h"
#include "ops/kit/op_util.h"

// Elements that Gelu works on at a time; channels whose scales are computed together.
enum { TILE = 512, CHANNELS = 128 };

extern const rheos__op_def rheos__op_AddV2, rheos__op_Conv2D, rheos__op_Elu, rheos__op_Erf,
    rheos__op_LeakyRelu, rheos__op_MatMul, rheos__op_Mul, rheos__op_Pow, rheos__op_RealDiv,
    rheos__op_Relu, rheos__op_Relu6, rheos__op_Sigmoid, rheos__op_Tanh;

// ---- What the epilogue is

typedef struct activation_row {
  const char *name;
  const rheos__op_def *op;  // whose loop it takes
  int cost;
} activation_row;

static const activation_row activations[] = {
    [RHEOS__NO_ACTIVATION] = {"", NULL, 0},
    [RHEOS__RELU] = {"Relu", &rheos__op_Relu, 1},
    [RHEOS__RELU6] = {"Relu6", &rheos__op_Relu6, 2},
    [RHEOS__ELU] = {"Elu", &rheos__op_Elu, 10},
    [RHEOS__LEAKY_RELU] = {"LeakyRelu", &rheos__op_LeakyRelu, 2},
    [RHEOS__TANH] = {"Tanh", &rheos__op_Tanh, 12},
    [RHEOS__SIGMOID] = {"Sigmoid", &rheos__op_Sigmoid, 12},
    [RHEOS__GELU_EXACT] = {"GeluExact", &rheos__op_Erf, 24},
    [RHEOS__GELU_APPROXIMATE] = {"GeluApproximate", &rheos__op_Tanh, 60},
};
enum { NUM_ACTIVATIONS = sizeof activations / sizeof activations[0] };

// The loop of an elementwise op; the number that goes with it, where it has one, is the attribute
// `alpha`.
static rheos_status *loop_of(const rheos__prepare *p, const rheos__op_def *op, int32_t num_inputs,
                             float alpha, rheos__loop *out_loop, double *out_alpha) {
  const rheos_dtype dtypes[] = {p->output_dtypes[0], p->output_dtypes[0]};
  const rheos_shape scalars[] = {RHEOS_SCALAR, RHEOS_SCALAR};
  rheos__attrs *attrs = rheos__arena_alloc_zeroed(p->arena, sizeof *attrs + sizeof attrs->items[0]);
  if (attrs == NULL) return rheos__out_of_memory();
  attrs->count = 1;
  attrs->items[0] = rheos_attr_float("alpha", alpha);
  rheos__prepare q = *p;
  q.op = op;
  q.attrs = attrs;
  q.num_inputs = num_inputs;
  q.num_outputs = 1;
  q.input_dtypes = q.output_dtypes = dtypes;
  q.input_shapes = q.output_shapes = scalars;
  RHEOS_TRY(op->prepare(&q));
  *out_loop = rheos__elementwise_loop(&q, out_alpha);
  return NULL;
}

static bool is_text(const rheos_string *text, const char *name) {
  return text->size_bytes == strlen(name) && memcmp(text->data, name, text->size_bytes) == 0;
}

static rheos_status *unsupported(const rheos_attr_value *ops) {
  char list[256] = "";
  size_t length = 0;
  for (int64_t i = 0; i < ops->count; i++) {
    const rheos_string *op = &ops->strings[i];
    const size_t size = op->size_bytes < 64 ? op->size_bytes : 64;
    if (length + size + 2 > sizeof list) break;
    if (i > 0) list[length++] = ',';
    memcpy(list + length, op->data, size);
    length += size;
    list[length] = '\0';
  }
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "Fusion is not implemented: [%s]", list);
}

// The grammar: a bias or a normalization, a tensor added, an activation, each of which may be left
// out, in this order.
static rheos_status *read_ops(const rheos_attr_value *ops, int32_t num_args, rheos__epilogue *e) {
  int64_t at = 0;
  int32_t arg = 2;
  e->bias = e->norm = e->side = -1;
  if (at < ops->count && is_text(&ops->strings[at], "BiasAdd")) {
    e->bias = arg;
    arg += 1;
    at++;
  } else if (at < ops->count && is_text(&ops->strings[at], "FusedBatchNorm")) {
    e->norm = arg;
    arg += 4;
    at++;
  }
  if (at < ops->count && is_text(&ops->strings[at], "Add")) {
    e->side = arg++;
    at++;
  }
  for (int k = 1; at < ops->count && k < NUM_ACTIVATIONS; k++) {
    if (!is_text(&ops->strings[at], activations[k].name)) continue;
    e->activation = (rheos__activation)k;
    at++;
    break;
  }
  if (at < ops->count) return unsupported(ops);
  if (arg - 2 == num_args) return NULL;
  return RHEOS_INVALID("the fused ops take %d arguments, got %d", (int)(arg - 2), (int)num_args);
}

static rheos_status *check_vector(const rheos__prepare *p, int32_t input, int64_t channels) {
  const rheos_shape *shape = &p->input_shapes[input];
  if (shape->rank == 1 && shape->dims[0] == channels) return NULL;
  rheos__shape_text text;
  return RHEOS_INVALID("argument %d must be a vector of %" PRId64 " elements, got shape %s",
                       (int)input - 2, channels, rheos__shape_text_of(shape, &text));
}

static rheos_status *check_args(const rheos__prepare *p, const rheos__epilogue *e) {
  for (int32_t i = 2; i < p->num_inputs; i++) {
    if (p->input_dtypes[i] == p->output_dtypes[0]) continue;
    return RHEOS_INVALID("argument %d must be of the output's dtype, got %s", (int)i - 2,
                         rheos_dtype_name(p->input_dtypes[i]));
  }
  if (e->bias >= 0) RHEOS_TRY(check_vector(p, e->bias, e->channels));
  for (int32_t i = 0; e->norm >= 0 && i < 4; i++) {
    RHEOS_TRY(check_vector(p, e->norm + i, e->channels));
  }
  if (e->norm >= 0 && e->dtype != RHEOS_FLOAT) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "FusedBatchNorm is fused for float only");
  }
  if (e->side >= 0 && !rheos_shape_equal(&p->input_shapes[e->side], &p->output_shapes[0])) {
    rheos__shape_text is, must;
    return RHEOS_INVALID("the tensor to add must have the output's shape %s, got %s",
                         rheos__shape_text_of(&p->output_shapes[0], &must),
                         rheos__shape_text_of(&p->input_shapes[e->side], &is));
  }
  return NULL;
}

static rheos_status *find_loops(const rheos__prepare *p, rheos__epilogue *e) {
  const rheos__op_def *op = activations[e->activation].op;
  double unused;
  RHEOS_TRY(loop_of(p, &rheos__op_AddV2, 2, 0, &e->add, &unused));
  if (op != NULL) {
    const float alpha = rheos__attr_float(p->attrs, "leakyrelu_alpha");
    RHEOS_TRY(loop_of(p, op, 1, alpha, &e->loop, &e->alpha));
  }
  if (e->activation == RHEOS__GELU_EXACT || e->activation == RHEOS__GELU_APPROXIMATE) {
    RHEOS_TRY(loop_of(p, &rheos__op_Mul, 2, 0, &e->mul, &unused));
    RHEOS_TRY(loop_of(p, &rheos__op_RealDiv, 2, 0, &e->div, &unused));
    RHEOS_TRY(loop_of(p, &rheos__op_Pow, 2, 0, &e->pow, &unused));
  }
  return NULL;
}

rheos_status *rheos__epilogue_of(const rheos__prepare *p, int64_t channels, int64_t inner,
                                 rheos__epilogue *out_epilogue) {
  rheos__epilogue *e = out_epilogue;
  *e = (rheos__epilogue){.dtype = p->output_dtypes[0], .channels = channels, .inner = inner};
  RHEOS_TRY(read_ops(rheos__attrs_find(p->attrs, "fused_ops"), p->num_inputs - 2, e));
  e->epsilon = rheos__attr_float(p->attrs, "epsilon");
  if (e->norm >= 0 && !(e->epsilon >= 0)) return RHEOS_INVALID("epsilon must not be negative");
  RHEOS_TRY(check_args(p, e));
  RHEOS_TRY(find_loops(p, e));
  e->flops = activations[e->activation].cost + (e->bias >= 0) + 4 * (e->norm >= 0) + (e->side >= 0);
  return NULL;
}

// ---- Its loops

static const void *at(const void *data, const rheos__epilogue *e, int64_t element) {
  return (const char *)data + (size_t)element * rheos_dtype_size(e->dtype);
}
static void *place(void *data, const rheos__epilogue *e, int64_t element) {
  return (char *)data + (size_t)element * rheos_dtype_size(e->dtype);
}

static void add_bias(const rheos__epilogue *e, const void *bias, void *out, int64_t count) {
  for (int64_t i = 0; i < count; i += e->channels * e->inner) {
    if (e->inner == 1) {
      void *row = place(out, e, i);
      e->add((const void *const[]){row, bias}, row, e->channels, 0, 0);
      continue;
    }
    for (int64_t c = 0; c < e->channels; c++) {
      void *plane = place(out, e, i + c * e->inner);
      e->add((const void *const[]){plane, at(bias, e, c)}, plane, e->inner, 2, 0);
    }
  }
}

// By the formula of FusedBatchNorm, in double, for some channels.
typedef struct channel_norms {
  double factor[CHANNELS], shift[CHANNELS], center[CHANNELS];
} channel_norms;

static void set_norms(const rheos__epilogue *e, const void *const *args, int64_t first, int64_t n,
                      channel_norms *out) {
  const float *scale = args[0], *offset = args[1], *mean = args[2], *variance = args[3];
  for (int64_t c = 0; c < n; c++) {
    out->factor[c] =
        (double)scale[first + c] / sqrt((double)variance[first + c] + (double)e->epsilon);
    out->shift[c] = (double)offset[first + c];
    out->center[c] = (double)mean[first + c];
  }
}

// Each channel has a plane of its own.
RHEOS__WIDEST static void normalize_planes(const channel_norms *k, float *y, int64_t channels,
                                           int64_t inner) {
  for (int64_t c = 0; c < channels; c++) {
    for (int64_t i = c * inner; i < (c + 1) * inner; i++) {
      y[i] = (float)(((double)y[i] - k->center[c]) * k->factor[c] + k->shift[c]);
    }
  }
}

// Rows of n channels that begin `step` apart, with the tensor added and the activation that is most
// common while they are at hand.
static inline __attribute__((always_inline)) void normalize_rows(
    const channel_norms *k, float *restrict out, const float *restrict side, int64_t rows,
    int64_t step, int64_t n, const bool adds, const bool is_relu) {
  for (int64_t i = 0; i < rows; i++) {
    float *restrict y = out + i * step;
    const float *restrict z = adds ? side + i * step : NULL;
    for (int64_t c = 0; c < n; c++) {
      float x = (float)(((double)y[c] - k->center[c]) * k->factor[c] + k->shift[c]);
      if (adds) x = x + z[c];
      y[c] = is_relu && x < 0 ? 0 : x;
    }
  }
}
RHEOS__WIDEST static void normalize_1(const channel_norms *k, float *y, int64_t rows, int64_t step,
                                      int64_t n) {
  normalize_rows(k, y, NULL, rows, step, n, false, false);
}
RHEOS__WIDEST static void normalize_1_relu(const channel_norms *k, float *y, int64_t rows,
                                           int64_t step, int64_t n) {
  normalize_rows(k, y, NULL, rows, step, n, false, true);
}
RHEOS__WIDEST static void normalize_2(const channel_norms *k, float *y, const float *side,
                                      int64_t rows, int64_t step, int64_t n) {
  normalize_rows(k, y, side, rows, step, n, true, false);
}
RHEOS__WIDEST static void normalize_2_relu(const channel_norms *k, float *y, const float *side,
                                           int64_t rows, int64_t step, int64_t n) {
  normalize_rows(k, y, side, rows, step, n, true, true);
}

// Columns [first, last) of some rows: normalized, the tensor added, and then Relu if it says so.
static void normalize_piece(const rheos__epilogue *e, const void *const *inputs, float *out,
                            int64_t first_row, int64_t last_row, int64_t first, int64_t last,
                            bool is_relu) {
  const float *side = e->side >= 0 ? inputs[e->side] : NULL;
  const int64_t rows = last_row - first_row, step = e->channels;
  for (int64_t c = first; c < last; c += CHANNELS) {
    const int64_t left = last - c, n = left < CHANNELS ? left : CHANNELS;
    const int64_t begin = first_row * step + c;
    channel_norms k;
    set_norms(e, inputs + e->norm, c, n, &k);
    if (side == NULL && is_relu) {
      normalize_1_relu(&k, out + begin, rows, step, n);
    } else if (side == NULL) {
      normalize_1(&k, out + begin, rows, step, n);
    } else if (is_relu) {
      normalize_2_relu(&k, out + begin, side + begin, rows, step, n);
    } else {
      normalize_2(&k, out + begin, side + begin, rows, step, n);
    }
  }
}

static void normalize(const rheos__epilogue *e, const void *const *args, float *out,
                      int64_t count) {
  for (int64_t first = 0; first < e->channels; first += CHANNELS) {
    const int64_t left = e->channels - first, n = left < CHANNELS ? left : CHANNELS;
    channel_norms k;
    set_norms(e, args, first, n, &k);
    for (int64_t i = first * e->inner; i < count; i += e->channels * e->inner) {
      normalize_planes(&k, out + i, n, e->inner);
    }
  }
}

static void set_number(rheos_dtype dtype, double value, void *out) {
  switch (dtype) {
    case RHEOS_HALF: *(uint16_t *)out = rheos__float_to_half((float)value); break;
    case RHEOS_BFLOAT16: *(uint16_t *)out = rheos__float_to_bfloat16((float)value); break;
    case RHEOS_DOUBLE: *(double *)out = value; break;
    default: *(float *)out = (float)value;
  }
}

// out = x OP number, or number OP x
static void with_number(const rheos__epilogue *e, rheos__loop loop, const void *x, double number,
                        bool number_first, void *out, int64_t n) {
  double stored;
  set_number(e->dtype, number, &stored);
  const void *const after[] = {x, &stored}, *const before[] = {&stored, x};
  loop(number_first ? before : after, out, n, number_first ? 1 : 2, 0);
}

// The ops of tf.nn.gelu in their order, on a tile:
//   exact: (x / 2) (1 + erf(x / sqrt(2)))
//   approximate: (x / 2) (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
static void gelu(const rheos__epilogue *e, void *x, int64_t n) {
  double memory[TILE];
  void *t = memory;
  if (e->activation == RHEOS__GELU_EXACT) {
    with_number(e, e->div, x, 1.4142135623730951, false, t, n);
  } else {
    with_number(e, e->pow, x, 3, false, t, n);
    with_number(e, e->mul, t, 0.044715, true, t, n);
    e->add((const void *const[]){x, t}, t, n, 0, 0);
    with_number(e, e->mul, t, 0.7978845608028654, true, t, n);
  }
  e->loop((const void *const[]){t}, t, n, 0, 0);
  with_number(e, e->add, t, 1, true, t, n);
  with_number(e, e->mul, x, 0.5, true, x, n);
  e->mul((const void *const[]){x, t}, x, n, 0, 0);
}

static void activate(const rheos__epilogue *e, void *y, int64_t count) {
  if (e->mul != NULL) {
    for (int64_t i = 0; i < count; i += TILE) {
      gelu(e, place(y, e, i), count - i < TILE ? count - i : TILE);
    }
  } else if (e->loop != NULL) {
    e->loop((const void *const[]){y}, y, count, 0, e->alpha);
  }
}

static void run_normalized_piece(const rheos__epilogue *e, const void *const *inputs, float *out,
                                 int64_t first_row, int64_t last_row, int64_t first, int64_t last) {
  const bool is_relu = e->activation == RHEOS__RELU;
  normalize_piece(e, inputs, out, first_row, last_row, first, last, is_relu);
  if (is_relu || e->activation == RHEOS__NO_ACTIVATION) return;
  for (int64_t row = first_row; row < last_row; row++) {
    activate(e, out + row * e->channels + first, last - first);
  }
}

void rheos__epilogue_run(const rheos__epilogue *e, const void *const *inputs, void *out,
                         int64_t first, int64_t count) {
  void *y = place(out, e, first);
  if (count <= 0) return;
  if (e->norm >= 0 && e->inner == 1) {
    const int64_t n = e->channels;
    run_normalized_piece(e, inputs, out, first / n, (first + count) / n, 0, n);
    return;
  }
  if (e->bias >= 0) add_bias(e, inputs[e->bias], y, count);
  if (e->norm >= 0) normalize(e, inputs + e->norm, y, count);
  if (e->side >= 0) {
    e->add((const void *const[]){y, at(inputs[e->side], e, first)}, y, count, 0, 0);
  }
  activate(e, y, count);
}

// A row's piece is a row of fewer channels, whose arguments begin further on.
void rheos__epilogue_run_piece(const rheos__epilogue *e, const void *const *inputs, void *out,
                               int64_t first_row, int64_t last_row, int64_t first_column,
                               int64_t last_column) {
  enum { MAX_INPUTS = 2 + 4 + 1 };
  const int64_t n = e->channels, columns = last_column - first_column;
  if (e->norm >= 0) {
    run_normalized_piece(e, inputs, out, first_row, last_row, first_column, last_column);
    return;
  }
  if (columns == n) {
    rheos__epilogue_run(e, inputs, out, first_row * n, (last_row - first_row) * n);
    return;
  }
  rheos__epilogue piece = *e;
  piece.channels = columns;
  const void *args[MAX_INPUTS] = {0};
  if (e->bias >= 0) args[e->bias] = at(inputs[e->bias], e, first_column);
  for (int64_t row = first_row; row < last_row; row++) {
    const int64_t element = row * n + first_column;
    if (e->side >= 0) args[e->side] = at(inputs[e->side], e, element);
    rheos__epilogue_run(&piece, args, place(out, e, element), 0, columns);
  }
}

// ---- Kernels: those of the first op, an epilogue behind each unit

typedef struct fused_state {
  rheos__run_fn run;
  void *state;
  void (*release)(void *state);
  int64_t inner_units, units_in_one;
  int64_t elements, unit_elements;
  rheos__epilogue epilogue;
} fused_state;

static void release_fused(void *state) {
  const fused_state *s = state;
  s->release(s->state);
}

static rheos_status *run_fused(const void *state, const void *const *inputs, void *const *outputs,
                               void *scratch, int64_t first, int64_t last) {
  const fused_state *s = state;
  for (int64_t unit = first; unit < last; unit++) {
    const int64_t begin = unit * s->units_in_one;
    RHEOS_TRY(s->run(s->state, inputs, outputs, scratch, begin,
                     rheos__min(begin + s->units_in_one, s->inner_units)));
    const int64_t element = unit * s->unit_elements;
    rheos__epilogue_run(&s->epilogue, inputs, outputs[0], element,
                        rheos__min(s->unit_elements, s->elements - element));
  }
  return NULL;
}

static void begin_inner(const rheos__prepare *p, const rheos__op_def *op,
                        rheos__prepare *out_inner) {
  *out_inner = *p;
  out_inner->op = op;
  out_inner->num_inputs = 2;
}

// Units of `inner` that make `unit_elements` of the output each are taken `units_in_one` at a time.
static rheos_status *answer(rheos__prepare *p, const rheos__prepare *inner, int64_t units_in_one,
                            int64_t unit_elements, const rheos__epilogue *epilogue) {
  fused_state *s = RHEOS_NEW_STATE(p, fused_state);
  if (s == NULL) {
    if (inner->release != NULL) inner->release(inner->state);
    return rheos__out_of_memory();
  }
  const int64_t inner_units = inner->num_units > 1 ? inner->num_units : 1;
  *s = (fused_state){.run = inner->run,
                     .state = inner->state,
                     .release = inner->release,
                     .inner_units = inner_units,
                     .units_in_one = units_in_one,
                     .elements = rheos_shape_num_elements(&p->output_shapes[0]),
                     .unit_elements = unit_elements * units_in_one,
                     .epilogue = *epilogue};
  if (units_in_one >= inner_units) s->unit_elements = s->elements;
  if (s->release != NULL) p->release = release_fused;
  p->run = run_fused;
  p->packing = inner->packing;
  p->scratch_bytes = inner->scratch_bytes;
  p->num_units = (inner_units + units_in_one - 1) / units_in_one;
  p->unit_elements = s->unit_elements;
  p->flops = rheos__flops((double)inner->flops + (double)s->elements * (double)epilogue->flops);
  return NULL;
}

// The kernel of `op` that it has for the shapes, the fastest first; all its units in one where
// it does not say what they are.
static rheos_status *by_variants(rheos__prepare *p, const rheos__op_def *op,
                                 const rheos__epilogue *epilogue) {
  const rheos__prepare_fn *variants = p->variants != NULL ? p->variants(op) : NULL;
  for (; variants != NULL && *variants != NULL; ++variants) {
    rheos__prepare inner;
    begin_inner(p, op, &inner);
    RHEOS_TRY((*variants)(&inner));
    if (inner.decline_reason != NULL) continue;
    const int64_t units = inner.num_units > 1 ? inner.num_units : 1;
    const int64_t block = epilogue->channels * epilogue->inner;
    const bool split = inner.unit_elements > 0 && inner.unit_elements % block == 0;
    const int64_t elements = rheos_shape_num_elements(&p->output_shapes[0]);
    return answer(p, &inner, split ? 1 : units, split ? inner.unit_elements : elements / units,
                  epilogue);
  }
  p->decline_reason = "no faster kernel";
  return NULL;
}

// ---- _FusedMatMul

static rheos_status *matmul_epilogue(const rheos__prepare *p, rheos__epilogue *out_epilogue) {
  return rheos__epilogue_of(p, p->output_shapes[0].dims[1], 1, out_epilogue);
}

static rheos_status *prepare_fused_matmul(rheos__prepare *p) {
  rheos__epilogue epilogue;
  rheos__prepare inner;
  RHEOS_TRY(matmul_epilogue(p, &epilogue));
  begin_inner(p, &rheos__op_MatMul, &inner);
  RHEOS_TRY(rheos__op_MatMul.prepare(&inner));
  return answer(p, &inner, 1, p->output_shapes[0].dims[1], &epilogue);  // a unit is a row
}

rheos_status *rheos__prepare_fused_matmul_by_variants(rheos__prepare *p) {
  rheos__epilogue epilogue;
  RHEOS_TRY(matmul_epilogue(p, &epilogue));
  return by_variants(p, &rheos__op_MatMul, &epilogue);
}

static rheos_status *fused_matmul_shape(rheos__infer *c) { return rheos__op_MatMul.shape(c); }

#define EPILOGUE_ATTRS \
  "fused_ops: list(string) = []; epsilon: float = 0.0001; leakyrelu_alpha: float = 0.2"

const rheos__op_def rheos__op__FusedMatMul = {
    .name = "_FusedMatMul",
    .signature =
        "a: T, b: T, args: num_args * T -> product: T; transpose_a: bool = false; "
        "transpose_b: bool = false; T: {bfloat16, half, float}; num_args: int >= "
        "0; " EPILOGUE_ATTRS,
    .doc = "MatMul and the ops behind it that `fused_ops` names, which take `args`.",
    .flags = RHEOS_OP_BY_ROWS,
    .shape = fused_matmul_shape,
    .prepare = prepare_fused_matmul,
};

// ---- _FusedConv2D

static rheos_status *fused_conv_shape(rheos__infer *c) {
  if (strcmp(rheos__attr_string(c->attrs, "filter_format"), "HWIO") != 0) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "filter_format %s is not available",
                            rheos__attr_string(c->attrs, "filter_format"));
  }
  return rheos__op_Conv2D.shape(c);
}

static rheos_status *conv_epilogue(const rheos__prepare *p, rheos__epilogue *out_epilogue) {
  const int64_t *dims = p->output_shapes[0].dims;
  const bool second = strcmp(rheos__attr_string(p->attrs, "data_format"), "NCHW") == 0;
  if (rheos__attr_int(p->attrs, "num_host_args") > 0) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "host_args are not available");
  }
  if (!second) return rheos__epilogue_of(p, dims[3], 1, out_epilogue);
  return rheos__epilogue_of(p, dims[1], dims[2] * dims[3], out_epilogue);
}

// A unit is an image.
static rheos_status *prepare_fused_conv(rheos__prepare *p) {
  rheos__epilogue epilogue;
  rheos__prepare inner;
  RHEOS_TRY(conv_epilogue(p, &epilogue));
  begin_inner(p, &rheos__op_Conv2D, &inner);
  RHEOS_TRY(rheos__op_Conv2D.prepare(&inner));
  const int64_t elements = rheos_shape_num_elements(&p->output_shapes[0]);
  const int64_t batch = elements > 0 ? p->output_shapes[0].dims[0] : 1;
  const int64_t units = inner.num_units > 1 ? inner.num_units : 1;
  return answer(p, &inner, units / batch, elements / units, &epilogue);
}

rheos_status *rheos__prepare_fused_conv_by_variants(rheos__prepare *p) {
  rheos__epilogue epilogue;
  RHEOS_TRY(conv_epilogue(p, &epilogue));
  return by_variants(p, &rheos__op_Conv2D, &epilogue);
}

const rheos__op_def rheos__op__FusedConv2D = {
    .name = "_FusedConv2D",
    .signature =
        "input: T, filter: T, args: TArgs, host_args: num_host_args * float -> output: T; "
        "T: {half, float, double, int8, qint8}; TArgs: list(type) >= 1; num_args: int >= 0; "
        "num_host_args: int >= 0 = 0; strides: list(int); "
        "padding: {\"SAME\", \"VALID\", \"EXPLICIT\"}; explicit_paddings: list(int) = []; "
        "data_format: {\"NHWC\", \"NCHW\", \"NCHW_VECT_C\"} = \"NHWC\"; "
        "filter_format: {\"HWIO\", \"OIHW\", \"OIHW_VECT_I\"} = \"HWIO\"; "
        "dilations: list(int) = [1, 1, 1, 1]; use_cudnn_on_gpu: bool = true; " EPILOGUE_ATTRS,
    .doc = "Conv2D and the ops behind it that `fused_ops` names, which take `args`.",
    .shape = fused_conv_shape,
    .prepare = prepare_fused_conv,
};
