// Ops that repeat, reverse or frame a tensor, and the arithmetic of broadcasting.
#include <string.h>

#include "graph/build.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

// ---- Tile

static rheos_status *tile_multiple(int64_t multiple, int32_t d) {
  if (multiple >= 0) return NULL;
  return RHEOS_INVALID("Expected multiples[%d] >= 0, but got %lld", d, (long long)multiple);
}

static rheos_status *shape_tile(rheos__infer *c) {
  rheos_shape vector, multiples;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &vector));
  const rheos_shape *in = &c->input_shapes[0];
  if (in->rank >= 0 && vector.dims[0] >= 0 && vector.dims[0] != in->rank) {
    return RHEOS_INVALID(
        "Expected multiples argument to be a vector of length %d but got length %lld", in->rank,
        (long long)vector.dims[0]);
  }
  int64_t values[RHEOS_MAX_RANK];
  int32_t count;
  if (rheos__infer_ints(c, 1, values, RHEOS_MAX_RANK, &count)) {
    for (int32_t d = 0; d < count; ++d) RHEOS_TRY(tile_multiple(values[d], d));
  }
  RHEOS_TRY(rheos__infer_shape_value(c, 1, &multiples));
  rheos_shape *out = &c->output_shapes[0];
  if (in->rank < 0) {
    if (multiples.rank >= 0) *out = rheos__shape_of_rank(multiples.rank);
    return NULL;
  }
  *out = rheos__shape_of_rank(in->rank);
  if (multiples.rank != in->rank) return NULL;
  for (int32_t d = 0; d < in->rank; ++d) {
    if (multiples.dims[d] == 0) out->dims[d] = 0;
    if (in->dims[d] < 0 || multiples.dims[d] < 0) continue;
    if (__builtin_mul_overflow(in->dims[d], multiples.dims[d], &out->dims[d])) {
      return RHEOS_INVALID("dimension %d of the result is too large", d);
    }
  }
  return NULL;
}

// Each dimension becomes two loops: over the copies, which start again, and over the elements.
static rheos_status *make_tile(const rheos__operands *o, const void *const *inputs,
                               rheos__copy *out_copy) {
  const rheos_shape *in = &o->input_shapes[0], *out = &o->output_shapes[0];
  int64_t in_steps[RHEOS_MAX_RANK], out_steps[RHEOS_MAX_RANK];
  rheos__row_major_steps(in, in_steps);
  rheos__row_major_steps(out, out_steps);
  rheos__copy_init(out_copy, o->output_dtypes[0]);
  for (int32_t d = 0; d < in->rank; ++d) {
    int64_t multiple = rheos__operand_int(o, inputs, 1, d), size;
    RHEOS_TRY(tile_multiple(multiple, d));
    if (__builtin_mul_overflow(in->dims[d], multiple, &size) || size != out->dims[d]) {
      return RHEOS_INVALID("multiples do not lead to the expected shape");
    }
    rheos__copy_add(out_copy, multiple, 0, in->dims[d] * out_steps[d]);
    rheos__copy_add(out_copy, in->dims[d], in_steps[d], out_steps[d]);
  }
  return NULL;
}

static rheos_status *prepare_tile(rheos__prepare *p) { return rheos__answer_copy(p, 0, make_tile); }

// d input: the copies seen as dimensions of their own, between the others, and summed up.
// The rows of two vectors in turn: of `multiples` and of the sizes.
static rheos_output in_turn(rheos_scope *s, rheos_output multiples, rheos_output sizes) {
  rheos_output pair[] = {multiples, sizes};
  rheos_output table = rheos__stack(s, pair, 2, 0);
  rheos__node_scope node;
  rheos__push_node_scope(s, "transpose", &node);
  rheos_output inputs[] = {table, rheos__const_ints(s, (int32_t[]){1, 0}, 2, "perm")};
  rheos_output swapped = rheos__named_n(s, "Transpose", node.name, inputs, 2, NULL, 0);
  rheos_scope_pop(s);
  return rheos__flatten(s, swapped);
}

// The product of elements [begin, end) of a vector, as a vector of one.
static rheos_output product_of(rheos_scope *s, rheos_output x, int64_t begin, rheos__bound end) {
  const rheos__bound first = {.present = true, .number = begin};
  const int32_t zero = 0, one = 1;
  const rheos_output product = rheos__op_2(s, "Prod", rheos__vector_slice(s, x, first, end),
                                           rheos__const_ints(s, &zero, 1, "Const"));
  return rheos__op_2(s, "Reshape", product, rheos__const_ints(s, &one, 1, "shape"));
}

// Where twice the rank is more than a tensor may have: some dimensions after the other, with all
// before and all behind them each as one.
static rheos_output sum_in_turns(rheos_scope *s, rheos_output grad, rheos_output multiples,
                                 rheos_output sizes, int32_t rank) {
  enum { AT_ONCE = (RHEOS_MAX_RANK - 2) / 2 };
  const rheos__bound end = {.present = false};
  const rheos_output whole = rheos__op_2(s, "Mul", multiples, sizes);
  for (int32_t from = 0; from < rank; from += AT_ONCE) {
    const int32_t to = from + AT_ONCE < rank ? from + AT_ONCE : rank;
    const rheos__bound first = {.present = true, .number = from};
    const rheos__bound last = {.present = true, .number = to};
    const rheos_output parts[] = {
        product_of(s, sizes, 0, first),
        in_turn(s, rheos__vector_slice(s, multiples, first, last),
                rheos__vector_slice(s, sizes, first, last)),
        product_of(s, whole, to, end),
    };
    int32_t axes[AT_ONCE];
    for (int32_t d = from; d < to; d++) axes[d - from] = 1 + 2 * (d - from);
    const rheos_output split = rheos__op_2(s, "Reshape", grad, rheos__concat(s, parts, 3, 0));
    grad = rheos__sum_over(s, split, rheos__const_ints(s, axes, to - from, "axes"), false);
  }
  return rheos__op_2(s, "Reshape", grad, sizes);
}

// A vector for the dimensions with 1 in front, until there are as many as a tensor may have.
static rheos_output with_ones_before(rheos_scope *s, rheos_output vector) {
  int32_t ones[RHEOS_MAX_RANK];
  for (int32_t i = 0; i < RHEOS_MAX_RANK; i++) ones[i] = 1;
  const rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(vector));
  const rheos__bound first = {.present = true, .tensor = rheos__size_of(s, vector)};
  const rheos_output all = rheos__const_ints(s, ones, RHEOS_MAX_RANK, "ones");
  const rheos_output parts[] = {
      rheos__cast_to(s, rheos__vector_slice(s, all, first, (rheos__bound){.present = false}),
                     dtype),
      vector};
  return rheos__concat(s, parts, 2, 0);
}

// Of any rank.
static rheos_output sum_of_unknown_rank(rheos_scope *s, rheos_output grad, rheos_output multiples,
                                        rheos_output sizes) {
  const rheos_output sum = sum_in_turns(s, grad, with_ones_before(s, multiples),
                                        with_ones_before(s, sizes), RHEOS_MAX_RANK);
  return rheos__op_2(s, "Reshape", sum, sizes);
}

static void gradient_tile(rheos__grad *g) {
  rheos_scope *s = g->scope;
  if (rheos_scope_status(s) != NULL) return;
  rheos_output grad = rheos__grad_dense(g, 0);
  rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(g->inputs[1]));
  const int32_t rank = rheos_output_shape(g->inputs[0]).rank;
  const rheos_output shape = rheos__shape_of(s, g->inputs[0], dtype);
  rheos_output sum;
  if (rank < 0) {
    sum = sum_of_unknown_rank(s, grad, g->inputs[1], shape);
  } else if (2 * rank > RHEOS_MAX_RANK) {
    sum = sum_in_turns(s, grad, g->inputs[1], shape, rank);
  } else {
    rheos_output split_shape = in_turn(s, g->inputs[1], shape);
    rheos_output size = rheos__size_of(s, split_shape);
    rheos_output axes = rheos__range(s, (rheos_output){0}, 0, size, 0, 2);
    rheos_output parts = rheos__op_2(s, "Reshape", grad, split_shape);
    sum = rheos__sum_over(s, parts, axes, false);
  }
  if (rheos_scope_status(s) != NULL) return;
  rheos_status *status = rheos_output_set_shape(sum, rheos_output_shape(g->inputs[0]));
  if (status != NULL) rheos_scope_fail_take(s, status);
  rheos__grad_set(g, 0, sum);
}

const rheos__op_def rheos__op_Tile = {
    .name = "Tile",
    .signature =
        "input: T, multiples: Tmultiples -> output: T; T: type; "
        "Tmultiples: {int32, int64} = int32",
    .doc = "`input` repeated `multiples`[i] times along dimension i.",
    .shape = shape_tile,
    .gradient = gradient_tile,
    .prepare = prepare_tile,
};

// ---- Pad, PadV2

static rheos_status *check_padding(int64_t before, int64_t after) {
  if (before >= 0 && after >= 0) return NULL;
  return RHEOS_INVALID("Paddings must be non-negative: %lld %lld", (long long)before,
                       (long long)after);
}

static rheos_status *padded(int64_t dim, int64_t before, int64_t after, int64_t *out_dim) {
  RHEOS_TRY(check_padding(before, after));
  RHEOS_TRY(rheos__dim_add(dim, before, out_dim));
  return rheos__dim_add(*out_dim, after, out_dim);
}

rheos_status *rheos__shape_pad(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  rheos_shape table, ignored;
  RHEOS_TRY(rheos__infer_rank(c, 1, 2, &table));
  if (c->num_inputs > 2) RHEOS_TRY(rheos__infer_rank(c, 2, 0, &ignored));
  rheos__shape_text a, b;
  if (table.dims[1] >= 0 && table.dims[1] != 2) {
    return RHEOS_INVALID("paddings must be a matrix with 2 columns: %s",
                         rheos__shape_text_of(&table, &a));
  }
  if (in->rank >= 0 && table.dims[0] >= 0 && table.dims[0] != in->rank) {
    return RHEOS_INVALID("The first dimension of paddings must be the rank of inputs%s %s",
                         rheos__shape_text_of(&table, &a), rheos__shape_text_of(in, &b));
  }
  int64_t values[2 * RHEOS_MAX_RANK];
  int32_t count, rank = in->rank >= 0 ? in->rank : (int32_t)table.dims[0];
  if (rank < 0 || rank > RHEOS_MAX_RANK) return NULL;
  rheos_shape *out = &c->output_shapes[0];
  *out = rheos__shape_of_rank(rank);
  if (!rheos__infer_ints(c, 1, values, 2 * RHEOS_MAX_RANK, &count)) return NULL;
  for (int32_t d = 0; d < rank; ++d) {
    RHEOS_TRY(check_padding(values[2 * d], values[2 * d + 1]));
    if (in->rank < 0 || in->dims[d] < 0) continue;
    RHEOS_TRY(padded(in->dims[d], values[2 * d], values[2 * d + 1], &out->dims[d]));
  }
  return NULL;
}

// Dimensions, innermost last, of which those without padding are part of the one outside them. A
// row is the innermost one.
typedef struct frame {
  int32_t rank;
  int64_t in[RHEOS_MAX_RANK], out[RHEOS_MAX_RANK], before[RHEOS_MAX_RANK];
} frame;

typedef struct pad_kernel {
  const rheos__operands *operands;
  frame known;  // of rank 0: not before the run
} pad_kernel;

static rheos_status *frame_of(const rheos__operands *o, const void *const *inputs,
                              frame *out_frame) {
  const rheos_shape *in = &o->input_shapes[0], *out = &o->output_shapes[0];
  int32_t at = RHEOS_MAX_RANK;  // from the end of the arrays
  frame f = {0};
  for (int32_t d = in->rank - 1; d >= 0; --d) {
    const int64_t before = rheos__operand_int(o, inputs, 1, 2 * d);
    int64_t size;
    RHEOS_TRY(padded(in->dims[d], before, rheos__operand_int(o, inputs, 1, 2 * d + 1), &size));
    if (size != out->dims[d]) return RHEOS_INVALID("paddings do not lead to the expected shape");
    const bool joins = at < RHEOS_MAX_RANK && f.in[at] == f.out[at];
    const int64_t inner = joins ? f.in[at] : 1;
    if (!joins) --at;
    f.in[at] = in->dims[d] * inner;
    f.out[at] = size * inner;
    f.before[at] = before * inner;
  }
  if (at == RHEOS_MAX_RANK) {  // a scalar is a row of one
    --at;
    f.in[at] = f.out[at] = 1;
  }
  f.rank = RHEOS_MAX_RANK - at;
  memmove(f.in, f.in + at, (size_t)f.rank * sizeof *f.in);
  memmove(f.out, f.out + at, (size_t)f.rank * sizeof *f.out);
  memmove(f.before, f.before + at, (size_t)f.rank * sizeof *f.before);
  *out_frame = f;
  return NULL;
}

enum { FEW_BYTES = 64 };  // of padding, filled without a call

// The place of output row `row` in the dimensions but the innermost.
static void find_row(const frame *f, int64_t row, int64_t *index) {
  for (int32_t d = f->rank - 2; d >= 0; --d) {
    index[d] = row % f->out[d];
    row /= f->out[d];
  }
}

static void next_row(const frame *f, int64_t *index) {
  for (int32_t d = f->rank - 2; d >= 0 && ++index[d] == f->out[d]; --d) index[d] = 0;
}

// The row of the input that the output's row at `index` has inside it, or -1.
static int64_t row_inside(const frame *f, const int64_t *index) {
  int64_t inside = 0;
  for (int32_t d = 0; d < f->rank - 1; ++d) {
    const int64_t at = index[d] - f->before[d];
    if (at < 0 || at >= f->in[d]) return -1;
    inside = inside * f->in[d] + at;
  }
  return inside;
}

// From `to` up to `end`.
static rheos_status *fill_padding(rheos_dtype dtype, char *to, const char *end, const void *value) {
  if (value == NULL) return NULL;  // strings are empty already
  const int64_t size = (int64_t)rheos_dtype_size(dtype);
  if (size != sizeof(uint32_t) || end - to > FEW_BYTES) {
    return rheos__fill_elements(dtype, to, value, (end - to) / size);
  }
  for (; to < end; to += sizeof(uint32_t)) memcpy(to, value, sizeof(uint32_t));
  return NULL;
}

// A unit's rows are those that start in it. Padding behind a row goes on as that before the next.
static rheos_status *run_pad(const void *state, const void *const *inputs, void *const *outputs,
                             void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  static const char zero[16];
  const pad_kernel *k = state;
  const rheos__operands *o = k->operands;
  const rheos_dtype dtype = o->output_dtypes[0];
  const int64_t size = (int64_t)rheos_dtype_size(dtype);
  frame made;
  const frame *f = &k->known;
  if (f->rank == 0) {
    RHEOS_TRY(frame_of(o, inputs, &made));
    f = &made;
  }
  const int64_t n = f->out[f->rank - 1], own = f->in[f->rank - 1], before = f->before[f->rank - 1];
  const int64_t elements = rheos_shape_num_elements(&o->output_shapes[0]);
  const void *value = o->num_inputs > 2 ? inputs[2] : dtype == RHEOS_STRING ? NULL : zero;
  if (elements == 0) return NULL;
  int64_t row = (first_unit * RHEOS__COPY_UNIT + n - 1) / n;
  char *to = (char *)outputs[0] + row * n * size, *done = to;  // all before it is filled
  int64_t index[RHEOS_MAX_RANK];
  find_row(f, row, index);
  for (; row * n < elements && row * n < last_unit * RHEOS__COPY_UNIT; ++row, to += n * size) {
    const int64_t inside = row_inside(f, index);
    next_row(f, index);
    if (inside < 0) continue;
    RHEOS_TRY(fill_padding(dtype, done, to + before * size, value));
    done = to + (before + own) * size;
    RHEOS_TRY(rheos__copy_elements(dtype, to + before * size,
                                   (const char *)inputs[0] + inside * own * size, own));
  }
  return fill_padding(dtype, done, to, value);
}

static rheos_status *prepare_pad(rheos__prepare *p) {
  const int64_t elements = rheos_shape_num_elements(&p->output_shapes[0]);
  pad_kernel *k = RHEOS_NEW_STATE(p, pad_kernel);
  if (k == NULL) return rheos__out_of_memory();
  k->operands = rheos__keep_operands(p);
  if (k->operands == NULL) return rheos__out_of_memory();
  if (p->input_values != NULL && p->input_values[1] != NULL) {
    const void *inputs[] = {NULL, p->input_values[1]->data};
    RHEOS_TRY(frame_of(k->operands, inputs, &k->known));
  }
  return rheos__answer_run(p, run_pad, (elements + RHEOS__COPY_UNIT - 1) / RHEOS__COPY_UNIT);
}

// d input: the gradient without its frame.
static void gradient_pad(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_output grad = rheos__grad_dense(g, 0);
  rheos_output rank = rheos__rank_of(s, g->inputs[0]);
  rheos_output column = rheos__stack_number(s, "stack", rank, 1);
  rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(g->inputs[1]));
  rheos__node_scope node;
  rheos__push_node_scope(s, "Slice", &node);
  rheos_output corner = rheos__const_ints(s, (int32_t[]){0, 0}, 2, "begin");
  corner = rheos__cast_to(s, corner, dtype);
  column = rheos__cast_to(s, column, dtype);
  rheos_output inputs[] = {g->inputs[1], corner, column};
  rheos_output before = rheos__named_n(s, "Slice", node.name, inputs, 3, NULL, 0);
  rheos_scope_pop(s);
  rheos_output begin = rheos__flatten(s, before);
  rheos_output size = rheos__shape_of(s, g->inputs[0], dtype);
  rheos__grad_set(g, 0, rheos__op_3(s, "Slice", grad, begin, size));
}

const rheos__op_def rheos__op_Pad = {
    .name = "Pad",
    .signature =
        "input: T, paddings: Tpaddings -> output: T; T: type; "
        "Tpaddings: {int32, int64} = int32",
    .doc = "`input` with `paddings`[i] zeros before and after it in dimension i.",
    .shape = rheos__shape_pad,
    .gradient = gradient_pad,
    .prepare = prepare_pad,
};

const rheos__op_def rheos__op_PadV2 = {
    .name = "PadV2",
    .signature =
        "input: T, paddings: Tpaddings, constant_values: T -> output: T; T: type; "
        "Tpaddings: {int32, int64} = int32",
    .doc = "`input` with `paddings`[i] times `constant_values` before and after it in dimension i.",
    .shape = rheos__shape_pad,
    .gradient = gradient_pad,
    .prepare = prepare_pad,
};

// ---- ReverseV2

static rheos_status *add_reversed(int64_t axis, int32_t i, int32_t rank, unsigned *axes) {
  if (axis < -(int64_t)rank || axis >= rank) {
    return RHEOS_INVALID("'axis'[%d] = %lld is out of valid range [0, %d", i, (long long)axis,
                         rank - 1);
  }
  if (axis < 0) axis += rank;
  if (*axes >> axis & 1) {
    return RHEOS_INVALID("axis %lld specified more than once.", (long long)axis);
  }
  *axes |= 1u << axis;
  return NULL;
}

static rheos_status *shape_reverse(rheos__infer *c) {
  rheos_shape ignored;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &ignored));
  const rheos_shape *in = &c->input_shapes[0];
  c->output_shapes[0] = *in;
  const rheos_tensor *value = c->input_values == NULL ? NULL : c->input_values[1];
  unsigned axes = 0;
  for (int32_t i = 0; value != NULL && in->rank > 0 && i < value->num_elements; ++i) {
    RHEOS_TRY(add_reversed(rheos__tensor_int_at(value, i), i, in->rank, &axes));
  }
  return NULL;
}

static void reverse_axes(const rheos__operands *o, unsigned axes, rheos__copy *out_copy) {
  const rheos_shape *in = &o->input_shapes[0];
  int64_t steps[RHEOS_MAX_RANK];
  rheos__row_major_steps(in, steps);
  rheos__copy_init(out_copy, o->output_dtypes[0]);
  for (int32_t d = 0; d < in->rank; ++d) {
    bool reversed = axes >> d & 1;
    if (reversed && in->dims[d] > 0) out_copy->in_start += (in->dims[d] - 1) * steps[d];
    rheos__copy_add(out_copy, in->dims[d], reversed ? -steps[d] : steps[d], steps[d]);
  }
}

static rheos_status *make_reverse(const rheos__operands *o, const void *const *inputs,
                                  rheos__copy *out_copy) {
  const rheos_shape *in = &o->input_shapes[0];
  unsigned axes = 0;
  for (int32_t i = 0; in->rank > 0 && i < o->input_shapes[1].dims[0]; ++i) {
    RHEOS_TRY(add_reversed(rheos__operand_int(o, inputs, 1, i), i, in->rank, &axes));
  }
  reverse_axes(o, axes, out_copy);
  return NULL;
}

static rheos_status *prepare_reverse(rheos__prepare *p) {
  return rheos__answer_copy(p, 0, make_reverse);
}

static void gradient_reverse(rheos__grad *g) {
  rheos__grad_set(g, 0, rheos__op_2(g->scope, "ReverseV2", rheos__grad_dense(g, 0), g->inputs[1]));
}

const rheos__op_def rheos__op_ReverseV2 = {
    .name = "ReverseV2",
    .signature =
        "tensor: T, axis: Tidx -> output: T; Tidx: {int32, int64} = int32; "
        "T: {uint8, int8, uint16, int16, int32, uint32, int64, uint64, bool, bfloat16, "
        "half, float, double, complex64, complex128, string}",
    .doc = "`tensor` with the dimensions in `axis` backwards.",
    .shape = shape_reverse,
    .gradient = gradient_reverse,
    .prepare = prepare_reverse,
};

// ---- Reverse: one flag for each dimension

static rheos_status *shape_reverse_flags(rheos__infer *c) {
  rheos_shape flags;
  const rheos_shape *in = &c->input_shapes[0];
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &flags));
  if (in->rank >= 0 && flags.dims[0] >= 0 && flags.dims[0] != in->rank) {
    return RHEOS_INVALID("reverse dims should have one element for each of %d dimensions, got %lld",
                         in->rank, (long long)flags.dims[0]);
  }
  c->output_shapes[0] = *in;
  if (in->rank < 0 && flags.dims[0] >= 0 && flags.dims[0] <= RHEOS_MAX_RANK) {
    c->output_shapes[0] = rheos__shape_of_rank((int32_t)flags.dims[0]);
  }
  return NULL;
}

static rheos_status *make_reverse_by_flags(const rheos__operands *o, const void *const *inputs,
                                           rheos__copy *out_copy) {
  unsigned axes = 0;
  for (int32_t d = 0; d < o->input_shapes[0].rank; ++d) {
    if (rheos__operand_int(o, inputs, 1, d)) axes |= 1u << d;
  }
  reverse_axes(o, axes, out_copy);
  return NULL;
}

static rheos_status *prepare_reverse_by_flags(rheos__prepare *p) {
  return rheos__answer_copy(p, 0, make_reverse_by_flags);
}

static void gradient_reverse_by_flags(rheos__grad *g) {
  rheos__grad_set(g, 0, rheos__op_2(g->scope, "Reverse", rheos__grad_dense(g, 0), g->inputs[1]));
}

const rheos__op_def rheos__op_Reverse = {
    .name = "Reverse",
    .signature =
        "tensor: T, dims: bool -> output: T; "
        "T: {uint8, int8, uint16, int16, uint32, int32, uint64, int64, bool, bfloat16, "
        "half, float, double, complex64, complex128, string}",
    .doc = "`tensor` with the dimensions marked in `dims` backwards.",
    .shape = shape_reverse_flags,
    .gradient = gradient_reverse_by_flags,
    .prepare = prepare_reverse_by_flags,
};

// ---- BroadcastTo

static rheos_status *shape_broadcast_to(rheos__infer *c) {
  rheos_shape vector, *out = &c->output_shapes[0];
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &vector));
  const rheos_shape *in = &c->input_shapes[0];
  if (in->rank >= 0 && vector.dims[0] >= 0 && in->rank > vector.dims[0]) {
    return RHEOS_INVALID("Rank of input (%d) must be no greater than rank of output shape (%lld).",
                         in->rank, (long long)vector.dims[0]);
  }
  int64_t values[RHEOS_MAX_RANK];
  int32_t count;
  if (rheos__infer_ints(c, 1, values, RHEOS_MAX_RANK, &count)) {
    for (int32_t d = 0; d < count; ++d) {
      if (values[d] < 0) {
        return RHEOS_INVALID("Dimension %lld must be >= 0", (long long)values[d]);
      }
    }
  }
  RHEOS_TRY(rheos__infer_shape_value(c, 1, out));
  if (in->rank < 0 || out->rank < 0) return NULL;
  rheos__shape_text a, b;
  for (int32_t d = 0; d < in->rank; ++d) {
    int64_t from = in->dims[d], to = out->dims[out->rank - in->rank + d];
    if (from >= 0 && to >= 0 && from != to && from != 1) {
      return RHEOS_INVALID("Incompatible shapes: %s vs. %s", rheos__shape_text_of(in, &a),
                           rheos__shape_text_of(out, &b));
    }
    if (to < 0 && from > 1) out->dims[out->rank - in->rank + d] = from;
  }
  return NULL;
}

static rheos_status *make_broadcast(const rheos__operands *o, const void *const *inputs,
                                    rheos__copy *out_copy) {
  const rheos_shape *in = &o->input_shapes[0], *out = &o->output_shapes[0];
  int64_t in_steps[RHEOS_MAX_RANK], out_steps[RHEOS_MAX_RANK];
  rheos__row_major_steps(in, in_steps);
  rheos__row_major_steps(out, out_steps);
  rheos__copy_init(out_copy, o->output_dtypes[0]);
  for (int32_t d = 0; d < out->rank; ++d) {
    int32_t from = d - (out->rank - in->rank);
    int64_t wanted = rheos__operand_int(o, inputs, 1, d);
    bool repeated = from < 0 || (in->dims[from] == 1 && out->dims[d] != 1);
    if (wanted != out->dims[d] || (!repeated && in->dims[from] != wanted)) {
      rheos__shape_text text;
      return RHEOS_INVALID("Incompatible shapes: %s vs. dimension %d of %lld",
                           rheos__shape_text_of(in, &text), d, (long long)wanted);
    }
    rheos__copy_add(out_copy, out->dims[d], repeated ? 0 : in_steps[from], out_steps[d]);
  }
  return NULL;
}

static rheos_status *prepare_broadcast_to(rheos__prepare *p) {
  return rheos__answer_copy(p, 0, make_broadcast);
}

static void gradient_broadcast_to(rheos__grad *g) {
  rheos_scope *s = g->scope;
  if (rheos_scope_status(s) != NULL) return;
  rheos_output grad = rheos__grad_dense(g, 0);
  rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(g->inputs[1]));
  rheos_output shape = rheos__shape_of(s, g->inputs[0], dtype);
  rheos_output shapes[] = {g->inputs[1], shape};
  rheos_operation args = rheos__op_n(s, "BroadcastGradientArgs", NULL, shapes, 2, NULL, 0);
  if (args.graph == NULL) return;
  rheos_output sum = rheos__sum_over(s, grad, rheos_operation_output(args, 1), true);
  rheos__grad_set(g, 0, rheos__op_2(s, "Reshape", sum, shape));
}

const rheos__op_def rheos__op_BroadcastTo = {
    .name = "BroadcastTo",
    .signature = "input: T, shape: Tidx -> output: T; T: type; Tidx: {int32, int64} = int32",
    .doc = "`input` repeated to `shape` by the rules of broadcasting.",
    .shape = shape_broadcast_to,
    .gradient = gradient_broadcast_to,
    .prepare = prepare_broadcast_to,
};

// ---- BroadcastArgs, BroadcastGradientArgs: broadcasting of shapes that are values

static rheos_status *shape_vectors(rheos__infer *c, rheos_shape *a, rheos_shape *b) {
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, a));
  return rheos__infer_rank(c, 1, 1, b);
}

static rheos_status *shape_broadcast_args(rheos__infer *c) {
  rheos_shape a, b;
  RHEOS_TRY(shape_vectors(c, &a, &b));
  bool known = a.dims[0] >= 0 && b.dims[0] >= 0;
  c->output_shapes[0] = RHEOS_SHAPE(-1);
  if (known) c->output_shapes[0].dims[0] = a.dims[0] > b.dims[0] ? a.dims[0] : b.dims[0];
  return NULL;
}

// Dimension `d` from the left of `rank` dimensions in all, of the shape that is input `input`.
static int64_t dim_of(const rheos__operands *o, const void *data, int32_t input, int64_t rank,
                      int64_t d) {
  int64_t own = o->input_shapes[input].dims[0], at = d - (rank - own);
  return at < 0 ? 1 : rheos__int_in(o->input_dtypes[input], data, at);
}

static rheos_status *incompatible(const rheos__operands *o, const void *a, const void *b) {
  rheos_shape shapes[2];
  rheos__shape_text text[2];
  for (int32_t k = 0; k < 2; ++k) {
    int64_t rank = o->input_shapes[k].dims[0];
    shapes[k] = rheos__shape_of_rank((int32_t)(rank < RHEOS_MAX_RANK ? rank : RHEOS_MAX_RANK));
    for (int32_t d = 0; d < shapes[k].rank; ++d) {
      shapes[k].dims[d] = rheos__int_in(o->input_dtypes[k], k == 0 ? a : b, d);
    }
  }
  return RHEOS_INVALID("Incompatible shapes: %s vs. %s", rheos__shape_text_of(&shapes[0], &text[0]),
                       rheos__shape_text_of(&shapes[1], &text[1]));
}

static int64_t rank_of_both(const rheos__operands *o) {
  int64_t a = o->input_shapes[0].dims[0], b = o->input_shapes[1].dims[0];
  return a > b ? a : b;
}

static rheos_status *run_broadcast_args(const void *state, const void *const *inputs,
                                        void *const *outputs, void *scratch, int64_t first_unit,
                                        int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const rheos__operands *o = state;
  int64_t rank = rank_of_both(o);
  for (int64_t d = 0; d < rank; ++d) {
    int64_t x = dim_of(o, inputs[0], 0, rank, d), y = dim_of(o, inputs[1], 1, rank, d);
    if (x != y && x != 1 && y != 1) return incompatible(o, inputs[0], inputs[1]);
    rheos__set_int(o->output_dtypes[0], outputs[0], d, x == 1 ? y : x);
  }
  return NULL;
}

static rheos_status *prepare_broadcast_args(rheos__prepare *p) {
  return rheos__answer_run_operands(p, run_broadcast_args, 1);
}

const rheos__op_def rheos__op_BroadcastArgs = {
    .name = "BroadcastArgs",
    .signature = "s0: T, s1: T -> r0: T; T: {int32, int64} = int32",
    .doc = "The shape that `s0` and `s1` broadcast to.",
    .shape = shape_broadcast_args,
    .gradient = rheos__no_gradient,
    .prepare = prepare_broadcast_args,
};

static rheos_status *shape_broadcast_gradient_args(rheos__infer *c) {
  rheos_shape a, b;
  RHEOS_TRY(shape_vectors(c, &a, &b));
  c->output_shapes[0] = c->output_shapes[1] = RHEOS_SHAPE(-1);
  return NULL;
}

// A dimension is summed up for the operand that was repeated in it, and for both where both are 1.
// Equal shapes are the exception: nothing is to be done.
static rheos_status *compute_broadcast_gradient_args(void *state, rheos__step *step,
                                                     rheos_tensor *const *inputs,
                                                     rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  const void *a = inputs[0]->data, *b = inputs[1]->data;
  int64_t rank = rank_of_both(o), counts[2] = {0, 0};
  bool same = o->input_shapes[0].dims[0] == o->input_shapes[1].dims[0];
  for (int64_t d = 0; d < rank; ++d) {
    int64_t x = dim_of(o, a, 0, rank, d), y = dim_of(o, b, 1, rank, d);
    if (x != y && x != 1 && y != 1) return incompatible(o, a, b);
    same = same && x == y;
    counts[0] += x == 1;
    counts[1] += y == 1;
  }
  for (int32_t k = 0; k < 2; ++k) {
    RHEOS_TRY(
        rheos__tensor_new(o->output_dtypes[k], &RHEOS_SHAPE(same ? 0 : counts[k]), &outputs[k]));
    for (int64_t d = 0, at = 0; d < rank && !same; ++d) {
      if (dim_of(o, k == 0 ? a : b, k, rank, d) != 1) continue;
      rheos__set_int(o->output_dtypes[k], outputs[k]->data, at++, d);
    }
  }
  return NULL;
}

static rheos_status *prepare_broadcast_gradient_args(rheos__prepare *p) {
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = compute_broadcast_gradient_args;
  return NULL;
}

const rheos__op_def rheos__op_BroadcastGradientArgs = {
    .name = "BroadcastGradientArgs",
    .signature = "s0: T, s1: T -> r0: T, r1: T; T: {int32, int64} = int32",
    .doc = "The dimensions that the gradients of operands of shapes `s0` and `s1` are summed over.",
    .shape = shape_broadcast_gradient_args,
    .gradient = rheos__no_gradient,
    .prepare = prepare_broadcast_gradient_args,
};
