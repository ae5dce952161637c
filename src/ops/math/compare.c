// Comparisons, logic, and the ops that choose between operands: rows as in binary.c, and loops of
// three operands for Select, which only looks at the size of an element, and ClipByValue.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <math.h>
#include <string.h>
#include <tgmath.h>

#include "base/complex.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

// How far integers are apart, which may be more than their dtype holds.
#define DISTANCE(x, y) (x > y ? (uint64_t)x - (uint64_t)y : (uint64_t)y - (uint64_t)x)

// ---- Formulas: ROW(op, dtypes, qualifier, formula)
#define FORMULAS(ROW)                                           \
  ROW(Greater, NUMBERS, , x > y)                                \
  ROW(GreaterEqual, NUMBERS, , x >= y)                          \
  ROW(Less, NUMBERS, , x < y)                                   \
  ROW(LessEqual, NUMBERS, , x <= y)                             \
  ROW(Equal, NUMBERS_AND_BOOLS, , x == y)                       \
  ROW(NotEqual, NUMBERS_AND_BOOLS, , x != y)                    \
  ROW(Equal, COMPLEXES, , x == y)                               \
  ROW(NotEqual, COMPLEXES, , x != y)                            \
  ROW(ApproximateEqual, FLOATS, , fabs(x - y) < (C)parameter)   \
  ROW(ApproximateEqual, INTEGERS, , DISTANCE(x, y) < parameter) \
  ROW(LogicalAnd, BOOLS, , (unsigned)x &(unsigned)y)            \
  ROW(LogicalOr, BOOLS, , (unsigned)x | (unsigned)y)

#define ROW(name, dtypes, qualifier, formula) \
  RHEOS__##dtypes(RHEOS__BINARY_TEST, qualifier, name, formula)
FORMULAS(ROW)
#undef ROW

// ---- Ops of two operands: OP(name, signature, flags, shape, doc). All but one broadcast.
#define COMPARED \
  "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
#define SWAPS RHEOS_OP_COMMUTATIVE
#define BROADCAST rheos__shape_broadcast_2

#define TWO_NUMBERS "x: T, y: T -> z: bool; T: "
#define TWO_BOOLS "x: bool, y: bool -> z: bool"

#define OPS(OP)                                                                     \
  OP(ApproximateEqual, TWO_NUMBERS "number; tolerance: float = 1e-05", SWAPS,       \
     rheos__shape_merge_2, "Whether `x` and `y` differ by less than `tolerance`.")  \
  OP(Greater, TWO_NUMBERS COMPARED, 0, BROADCAST, "Whether `x` > `y`.")             \
  OP(GreaterEqual, TWO_NUMBERS COMPARED, 0, BROADCAST, "Whether `x` >= `y`.")       \
  OP(Less, TWO_NUMBERS COMPARED, 0, BROADCAST, "Whether `x` < `y`.")                \
  OP(LessEqual, TWO_NUMBERS COMPARED, 0, BROADCAST, "Whether `x` <= `y`.")          \
  OP(LogicalAnd, TWO_BOOLS, SWAPS, BROADCAST, "Whether both `x` and `y` are true.") \
  OP(LogicalOr, TWO_BOOLS, SWAPS, BROADCAST, "Whether `x` or `y` is true.")

enum {
#define OP(name, signature, flags, shape, doc) row_##name,
  OPS(OP) row_Equal,
  row_NotEqual,
  NUM_ROWS
#undef OP
};

static const rheos__loop loops[NUM_ROWS][RHEOS__NUM_DTYPES] = {
#define ROW(name, dtypes, qualifier, formula) RHEOS__##dtypes(RHEOS__LOOP_ENTRY, name)
    FORMULAS(ROW)
#undef ROW
};

static rheos_status *prepare(rheos__prepare *p, int row) {
  const rheos_attr_value *tolerance = rheos__attrs_find(p->attrs, "tolerance");
  const rheos_dtype dtype = rheos__stored_dtype(rheos__loop_dtype(p));
  return rheos__prepare_elementwise(p, loops[row][dtype], 1,
                                    tolerance != NULL ? (double)tolerance->f : 0, "");
}

#define OP(op, text, op_flags, shape_fn, about)                                         \
  static rheos_status *prepare_##op(rheos__prepare *p) { return prepare(p, row_##op); } \
  const rheos__op_def rheos__op_##op = {                                                \
      .name = #op,                                                                      \
      .signature = text,                                                                \
      .doc = about,                                                                     \
      .flags = op_flags,                                                                \
      .shape = shape_fn,                                                                \
      .gradient = rheos__no_gradient,                                                   \
      .prepare = prepare_##op,                                                          \
  };
OPS(OP)
#undef OP

// ---- Equal and NotEqual, which also compare strings, and may answer for shapes that do not fit

static rheos_status *equal_shape(rheos__infer *c) {
  if (rheos__attr_bool(c->attrs, "incompatible_shape_error")) return rheos__shape_broadcast_2(c);
  const rheos_shape *x = &c->input_shapes[0], *y = &c->input_shapes[1];
  rheos_shape both = RHEOS_UNKNOWN_SHAPE;
  if (x->rank < 0 || y->rank < 0) return NULL;
  rheos_status *status = rheos__shape_broadcast(x, y, &both);
  const bool fit = status == NULL;
  rheos_status_free(status);
  const bool known = rheos_shape_is_known(x) && rheos_shape_is_known(y);
  if (!fit) {
    c->output_shapes[0] = RHEOS_SCALAR;
  } else if (known || x->rank == 0 || y->rank == 0) {
    c->output_shapes[0] = both;
  }
  return NULL;
}

static rheos_status *never_equal(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)inputs, (void)scratch, (void)first_unit, (void)last_unit;
  *(bool *)outputs[0] = *(const bool *)state;
  return NULL;
}

static rheos_status *compare_strings(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)step;
  const bool unequal = *(const bool *)state;
  rheos_shape shape;
  RHEOS_TRY(rheos__shape_broadcast(&inputs[0]->shape, &inputs[1]->shape, &shape));
  RHEOS_TRY(rheos__tensor_new(RHEOS_BOOL, &shape, &outputs[0]));
  const rheos_string *xs = inputs[0]->data, *ys = inputs[1]->data;
  bool *out = outputs[0]->data;
  for (int64_t i = 0; i < outputs[0]->num_elements; i++) {
    const rheos_string *x = &xs[rheos__broadcast_index(&inputs[0]->shape, &shape, i)];
    const rheos_string *y = &ys[rheos__broadcast_index(&inputs[1]->shape, &shape, i)];
    const bool same = x->size_bytes == y->size_bytes &&
                      (x->size_bytes == 0 || memcmp(x->data, y->data, x->size_bytes) == 0);
    out[i] = same != unequal;
  }
  return NULL;
}

static rheos_status *prepare_equality(rheos__prepare *p, int row) {
  bool *unequal = NULL;
  rheos_shape shape;
  rheos_status *status = rheos__shape_broadcast(&p->input_shapes[0], &p->input_shapes[1], &shape);
  const bool fits = status == NULL;
  if (!fits && rheos__attr_bool(p->attrs, "incompatible_shape_error")) return status;
  rheos_status_free(status);
  if (fits && p->input_dtypes[0] != RHEOS_STRING) return prepare(p, row);
  unequal = RHEOS_NEW_STATE(p, bool);
  if (unequal == NULL) return rheos__out_of_memory();
  *unequal = row == row_NotEqual;
  if (fits) {
    p->compute = compare_strings;
  } else {
    p->run = never_equal;
  }
  return NULL;
}

static rheos_status *prepare_Equal(rheos__prepare *p) { return prepare_equality(p, row_Equal); }
static rheos_status *prepare_NotEqual(rheos__prepare *p) {
  return prepare_equality(p, row_NotEqual);
}

#define EQUALITY_SIGNATURE "x: T, y: T -> z: bool; T: type; incompatible_shape_error: bool = true"

const rheos__op_def rheos__op_Equal = {
    .name = "Equal",
    .signature = EQUALITY_SIGNATURE,
    .doc = "Whether `x` == `y`.",
    .flags = SWAPS,
    .shape = equal_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_Equal,
};

const rheos__op_def rheos__op_NotEqual = {
    .name = "NotEqual",
    .signature = EQUALITY_SIGNATURE,
    .doc = "Whether `x` != `y`.",
    .flags = SWAPS,
    .shape = equal_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_NotEqual,
};

// ---- Select

// z = condition ? t : e for elements of WIDTH words, each operand whole or repeated. By a mask: a
// choice between loads would be a branch, which no processor foresees.
#define SELECT_EACH(T, chosen_t, chosen_e)                           \
  RHEOS__INDEPENDENT for (int64_t i = 0; i < words; i++) {           \
    const T mask = (T)(0 - (T)(c[i / width] != 0));                  \
    z[i] = (T)(((T)(chosen_t) & mask) | ((T)(chosen_e) & (T)~mask)); \
  }
#define SELECT_LOOP(name, T, WIDTH)                                                           \
  RHEOS__WIDE static int name(const void *const *in, void *out, int64_t n, unsigned repeated, \
                              double parameter) {                                             \
    (void)parameter;                                                                          \
    enum { width = WIDTH };                                                                   \
    const int64_t words = n * width;                                                          \
    const uint8_t *c = in[0];                                                                 \
    const T *t = in[1], *e = in[2];                                                           \
    T *z = out;                                                                               \
    if (repeated == 0) {                                                                      \
      SELECT_EACH(T, t[i], e[i])                                                              \
    } else if (repeated == 2) {                                                               \
      SELECT_EACH(T, t[i % width], e[i])                                                      \
    } else if (repeated == 4) {                                                               \
      SELECT_EACH(T, t[i], e[i % width])                                                      \
    } else if (repeated == 6) {                                                               \
      SELECT_EACH(T, t[i % width], e[i % width])                                              \
    } else {                                                                                  \
      const T *x = n > 0 && c[0] != 0 ? t : e;                                                \
      const bool whole = (repeated & (x == t ? 2 : 4)) == 0;                                  \
      for (int64_t i = 0; i < words; i++) z[i] = x[whole ? i : i % width];                    \
    }                                                                                         \
    return 0;                                                                                 \
  }
SELECT_LOOP(select_1, uint8_t, 1)
SELECT_LOOP(select_2, uint16_t, 1)
SELECT_LOOP(select_4, uint32_t, 1)
SELECT_LOOP(select_8, uint64_t, 1)
SELECT_LOOP(select_16, uint64_t, 2)

// By the bytes of an element. A table, for where a function has versions for several processors
// code may see another address of it than tables do, by which its formula is found.
static const rheos__loop select_loops[] = {
    [1] = select_1, [2] = select_2, [4] = select_4, [8] = select_8, [16] = select_16};

static rheos__loop select_loop(rheos_dtype dtype) {
  if (dtype == RHEOS_STRING || dtype == RHEOS_RESOURCE || dtype == RHEOS_VARIANT) return NULL;
  const size_t size = rheos_dtype_size(dtype);
  return size < sizeof select_loops / sizeof *select_loops ? select_loops[size] : NULL;
}

// The condition of Select as a shape that broadcasts: a vector chooses whole rows.
static rheos_shape row_condition(const rheos_shape *condition, const rheos_shape *values) {
  rheos_shape shape = *condition;
  if (condition->rank != 1 || values->rank <= 1) return shape;
  shape.rank = values->rank;
  for (int32_t d = 1; d < shape.rank; d++) shape.dims[d] = 1;
  return shape;
}

static rheos_status *select_strings(rheos_tensor *const *inputs, const rheos_shape *condition,
                                    const rheos_shape *shape, rheos_tensor **out) {
  RHEOS_TRY(rheos__tensor_new(RHEOS_STRING, shape, out));
  const bool *c = inputs[0]->data;
  for (int64_t i = 0; i < (*out)->num_elements; i++) {
    const rheos_tensor *from =
        c[rheos__broadcast_index(condition, shape, i)] ? inputs[1] : inputs[2];
    const rheos_string *text =
        (const rheos_string *)from->data + rheos__broadcast_index(&from->shape, shape, i);
    RHEOS_TRY(rheos_tensor_set_string(*out, i, text->data, text->size_bytes));
  }
  return NULL;
}

static rheos_status *select_strings_v1(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)state, (void)step;
  const rheos_shape condition = row_condition(&inputs[0]->shape, &inputs[1]->shape);
  return select_strings(inputs, &condition, &inputs[1]->shape, &outputs[0]);
}

static rheos_status *select_strings_v2(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)state, (void)step;
  rheos_shape values, shape;
  RHEOS_TRY(rheos__shape_broadcast(&inputs[1]->shape, &inputs[2]->shape, &values));
  RHEOS_TRY(rheos__shape_broadcast(&inputs[0]->shape, &values, &shape));
  return select_strings(inputs, &inputs[0]->shape, &shape, &outputs[0]);
}

static rheos_status *select_shape(rheos__infer *c) {
  rheos_shape *out = &c->output_shapes[0];
  RHEOS_TRY(rheos__shape_merge(&c->input_shapes[1], &c->input_shapes[2], out));
  const rheos_shape *condition = &c->input_shapes[0];
  if (condition->rank <= 0 || out->rank < 0) return NULL;
  const rheos_shape values = *out;
  if (condition->rank != 1 || out->rank == 1) return rheos__shape_merge(condition, &values, out);
  rheos__shape_text text, other;
  const int64_t rows = condition->dims[0];
  if (out->rank == 0 || (rows >= 0 && out->dims[0] >= 0 && rows != out->dims[0])) {
    return RHEOS_INVALID("a condition of shape %s does not choose rows of values of shape %s",
                         rheos__shape_text_of(condition, &text), rheos__shape_text_of(out, &other));
  }
  if (rows >= 0) out->dims[0] = rows;
  return NULL;
}

static rheos_status *prepare_Select(rheos__prepare *p) {
  if (p->input_dtypes[1] == RHEOS_STRING) {
    p->compute = select_strings_v1;
    return NULL;
  }
  const rheos_shape *given = p->input_shapes;
  const rheos_shape shapes[] = {row_condition(&given[0], &given[1]), given[1], given[2]};
  p->input_shapes = shapes;
  rheos_status *status = rheos__prepare_elementwise(p, select_loop(p->input_dtypes[1]), 1, 0, "");
  p->input_shapes = given;
  return status;
}

static void grad_select(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0), c = g->inputs[0];
  const rheos_output zeros = rheos__zeros_like(s, g->inputs[1]);
  rheos__grad_set(g, 1, rheos__op_3(s, "Select", c, dz, zeros));
  rheos__grad_set(g, 2, rheos__op_3(s, "Select", c, zeros, dz));
}

const rheos__op_def rheos__op_Select = {
    .name = "Select",
    .signature = "condition: bool, t: T, e: T -> output: T; T: type",
    .doc = "`t` where `condition` is true, else `e`; a vector of conditions chooses whole rows.",
    .shape = select_shape,
    .gradient = grad_select,
    .prepare = prepare_Select,
};

static rheos_status *select_v2_shape(rheos__infer *c) {
  rheos_shape values;
  RHEOS_TRY(rheos__shape_broadcast(&c->input_shapes[1], &c->input_shapes[2], &values));
  return rheos__shape_broadcast(&c->input_shapes[0], &values, &c->output_shapes[0]);
}

static rheos_status *prepare_SelectV2(rheos__prepare *p) {
  if (p->input_dtypes[1] == RHEOS_STRING) {
    p->compute = select_strings_v2;
    return NULL;
  }
  return rheos__prepare_elementwise(p, select_loop(p->input_dtypes[1]), 1, 0, "");
}

// What arrives where `operand` was chosen, summed up to its shape.
static rheos_output chosen(rheos_scope *s, rheos_output gradient, rheos_output operand,
                           rheos_output out_dims) {
  const rheos_output dims = rheos__shape_of(s, operand, RHEOS_INT32);
  const rheos_output axes = rheos__op_2(s, "BroadcastGradientArgs", dims, out_dims);
  return rheos__op_2(s, "Reshape", rheos__sum_over(s, gradient, axes, true), dims);
}

static void grad_select_v2(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0), c = g->inputs[0];
  if (rheos_scope_status(s) != NULL) return;
  const rheos_output zero = rheos__const_scalar(s, rheos_output_dtype(dz), 0, "zeros");
  const rheos_output by_t = rheos__op_3(s, "SelectV2", c, dz, zero);
  const rheos_output t_dims = rheos__shape_of(s, g->inputs[1], RHEOS_INT32);
  const rheos_output dims = rheos__shape_of(s, g->outputs[0], RHEOS_INT32);
  const rheos_output axes = rheos__op_2(s, "BroadcastGradientArgs", t_dims, dims);
  const rheos_output sum = rheos__sum_over(s, by_t, axes, true);
  rheos__grad_set(g, 1, rheos__op_2(s, "Reshape", sum, t_dims));
  const rheos_output by_e = rheos__op_3(s, "SelectV2", c, zero, dz);
  rheos__grad_set(g, 2, chosen(s, by_e, g->inputs[2], dims));
}

const rheos__op_def rheos__op_SelectV2 = {
    .name = "SelectV2",
    .signature = "condition: bool, t: T, e: T -> output: T; T: type",
    .doc = "`t` where `condition` is true, else `e`; all three are broadcast.",
    .shape = select_v2_shape,
    .gradient = grad_select_v2,
    .prepare = prepare_SelectV2,
};

// ---- ClipByValue

#define CLIP_LOOP(S, name)                                                               \
  static int name##_##S(const void *const *in, void *out, int64_t n, unsigned repeated,  \
                        double parameter) {                                              \
    RHEOS__LOOP_TYPES(S);                                                                \
    const rheos__stored_##S *xs = in[0], *lows = in[1], *highs = in[2];                  \
    rheos__stored_##S *zs = out;                                                         \
    const int64_t low_step = !(repeated & 2), high_step = !(repeated & 4);               \
    RHEOS__INDEPENDENT for (int64_t i = 0; i < n; i++) {                                 \
      const C x = RHEOS__LOAD_##S(xs[i]), low = RHEOS__LOAD_##S(lows[i * low_step]),     \
              high = RHEOS__LOAD_##S(highs[i * high_step]), below = x > high ? high : x; \
      zs[i] = RHEOS__STORE_##S(below < low ? low : below);                               \
    }                                                                                    \
    return 0;                                                                            \
  }
RHEOS__NUMBERS(CLIP_LOOP, clip)

// Complex numbers are clipped by their parts.
#define CLIP_PARTS_LOOP(S, name)                                                        \
  static int name##_##S(const void *const *in, void *out, int64_t n, unsigned repeated, \
                        double parameter) {                                             \
    RHEOS__LOOP_TYPES(S);                                                               \
    const C *xs = in[0], *lows = in[1], *highs = in[2];                                 \
    C *zs = out;                                                                        \
    const int64_t low_step = !(repeated & 2), high_step = !(repeated & 4);              \
    for (int64_t i = 0; i < n; i++) {                                                   \
      const C x = xs[i], low = lows[i * low_step], high = highs[i * high_step];         \
      zs[i] = CMPLX(CLIP_PART(creal(x), creal(low), creal(high)),                       \
                    CLIP_PART(cimag(x), cimag(low), cimag(high)));                      \
    }                                                                                   \
    return 0;                                                                           \
  }
#define CLIP_PART(x, low, high) ((x) < (low) ? (low) : (x) > (high) ? (high) : (x))
RHEOS__COMPLEXES(CLIP_PARTS_LOOP, clip)

enum { row_clip };
static const rheos__loop clip_loops[1][RHEOS__NUM_DTYPES] = {
    RHEOS__NUMBERS(RHEOS__LOOP_ENTRY, clip) RHEOS__COMPLEXES(RHEOS__LOOP_ENTRY, clip)};

// ---- The formulas as text. Select moves bits, whatever they mean.

#define OF_THREE(loop, x, y, z, text) {loop, text, 3, {x, y, y}, z},
#define CLIP_FORMULA(S, text) \
  OF_THREE(clip_##S, RHEOS__DTYPE_##S, RHEOS__DTYPE_##S, RHEOS__DTYPE_##S, text)
#define SELECT_FORMULA(loop, dtype) OF_THREE(loop, RHEOS_BOOL, dtype, dtype, "x ? y : z")
#define ROW(name, dtypes, qualifier, formula) \
  RHEOS__##dtypes(RHEOS__BINARY_TEST_FORMULA, name, #formula)
RHEOS__FORMULAS(compare,
                FORMULAS(ROW) SELECT_FORMULA(select_1, RHEOS_UINT8)
                    SELECT_FORMULA(select_2, RHEOS_UINT16) SELECT_FORMULA(select_4, RHEOS_UINT32)
                        SELECT_FORMULA(select_8, RHEOS_UINT64)
                            RHEOS__NUMBERS(CLIP_FORMULA, "x < y ? y : x > z ? z : x"));
#undef ROW

static rheos_status *prepare_ClipByValue(rheos__prepare *p) {
  for (int32_t k = 1; k < 3; k++) {
    if (p->input_shapes[k].rank == 0 ||
        rheos_shape_equal(&p->input_shapes[k], &p->input_shapes[0])) {
      continue;
    }
    rheos__shape_text text, other;
    return RHEOS_INVALID("a bound of shape %s is neither a scalar nor like t of shape %s",
                         rheos__shape_text_of(&p->input_shapes[k], &text),
                         rheos__shape_text_of(&p->input_shapes[0], &other));
  }
  return rheos__prepare_elementwise(p, clip_loops[0][p->input_dtypes[0]], 2, 0, "");
}

static void grad_clip_by_value(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0);
  const rheos_output x = g->inputs[0], low = g->inputs[1], high = g->inputs[2];
  rheos_output dims[3];
  for (int32_t k = 0; k < 3; k++) dims[k] = rheos__shape_of(s, g->inputs[k], RHEOS_INT32);
  const rheos_output zeros = rheos__zeros_of_shape(s, dz);
  const rheos_output below = rheos__op_2(s, "Less", x, low);
  const rheos_output above = rheos__op_2(s, "Greater", x, high);
  const rheos_output axes_low = rheos__op_2(s, "BroadcastGradientArgs", dims[0], dims[1]);
  const rheos_output axes_high = rheos__op_2(s, "BroadcastGradientArgs", dims[0], dims[2]);
  const rheos_output outside = rheos__op_2(s, "LogicalOr", below, above);
  const rheos_output by[] = {rheos__op_3(s, "Select", outside, zeros, dz),
                             rheos__op_3(s, "Select", below, dz, zeros),
                             rheos__op_3(s, "Select", above, dz, zeros)};
  const rheos_output axes[] = {axes_high,
                               rheos_operation_output(rheos_output_operation(axes_low), 1),
                               rheos_operation_output(rheos_output_operation(axes_high), 1)};
  for (int32_t k = 0; k < 3; k++) {
    const rheos_output sum = rheos__sum_over(s, by[k], axes[k], false);
    rheos__grad_set(g, k, rheos__op_2(s, "Reshape", sum, dims[k]));
  }
}

const rheos__op_def rheos__op_ClipByValue = {
    .name = "ClipByValue",
    .signature = "t: T, clip_value_min: T, clip_value_max: T -> output: T; T: number",
    .doc = "`t`, but not below `clip_value_min` and not above `clip_value_max`.",
    .shape = rheos__shape_unchanged,
    .gradient = grad_clip_by_value,
    .prepare = prepare_ClipByValue,
};
