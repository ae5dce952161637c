// Arithmetic of two operands that are broadcast against each other: one row for each formula (see
// elementwise.h), one row for each op, and their gradients. Comparisons are in compare.c.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <complex.h>
#include <math.h>
#include <string.h>
#include <tgmath.h>

#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"
#include "ops/kit/special_math.h"
#include "ops/kit/vector_math.h"
#include "ops/math/whole_formulas.h"

static inline double _Complex complex_power(double _Complex x, double _Complex y) {
  if (x == 0) return y == 0 ? 1 : cpow(x, y);
  return cexp(y * clog(x));
}
static inline float floor_remainderf(float x, float y) {
  const float r = fmodf(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
static inline double floor_remainderd(double x, double y) {
  const double r = fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
#define FLOAT_FLOOR_REMAINDER(x, y) \
  _Generic((x), float: floor_remainderf, double: floor_remainderd)(x, y)

// How far to shift a number of `bits` bits: as far as asked, but not out of the number.
static inline int shift_of(int64_t y, size_t bits) {
  return y < 0 ? 0 : y < (int64_t)bits ? (int)y : (int)bits - 1;
}
static inline int unsigned_shift_of(uint64_t y, size_t bits) {
  return y < bits ? (int)y : (int)bits - 1;
}

// ---- Formulas: ROW(op, dtypes, qualifier, formula)
#define FORMULAS(ROW)                                                    \
  ROW(Add, FLOATS, RHEOS__WIDE, x + y)                                   \
  ROW(Add, INTEGERS, , W(x) + W(y))                                      \
  ROW(Sub, FLOATS, RHEOS__WIDE, x - y)                                   \
  ROW(Sub, INTEGERS, , W(x) - W(y))                                      \
  ROW(Mul, FLOATS, RHEOS__WIDE, x *y)                                    \
  ROW(Mul, INTEGERS, , W(x) * W(y))                                      \
  ROW(Div, FLOATS, RHEOS__WIDE, x / y)                                   \
  ROW(Div, SIGNED, , quotient(x, y, &failed))                            \
  ROW(Div, UNSIGNED, , unsigned_quotient(x, y, &failed))                 \
  ROW(RealDiv, FLOATS, RHEOS__WIDE, x / y)                               \
  ROW(TruncateDiv, FLOATS, RHEOS__WIDE, trunc(x / y))                    \
  ROW(TruncateDiv, SIGNED, , quotient(x, y, &failed))                    \
  ROW(TruncateDiv, UNSIGNED, , unsigned_quotient(x, y, &failed))         \
  ROW(FloorDiv, FLOATS, RHEOS__WIDE, floor(x / y))                       \
  ROW(FloorDiv, SIGNED, , floor_quotient(x, y, &failed))                 \
  ROW(FloorDiv, UNSIGNED, , unsigned_quotient(x, y, &failed))            \
  ROW(Mod, FLOATS, , fmod(x, y))                                         \
  ROW(Mod, SIGNED, , remainder_of(x, y, &failed))                        \
  ROW(TruncateMod, FLOATS, , fmod(x, y))                                 \
  ROW(TruncateMod, SIGNED, , remainder_of(x, y, &failed))                \
  ROW(FloorMod, FLOATS, , FLOAT_FLOOR_REMAINDER(x, y))                   \
  ROW(FloorMod, SIGNED, , floor_remainder(x, y, &failed))                \
  ROW(FloorMod, UNSIGNED, , unsigned_remainder(x, y, &failed))           \
  ROW(DivNoNan, FLOATS, RHEOS__WIDE, y == 0 ? 0 : x / y)                 \
  ROW(MulNoNan, FLOATS, RHEOS__WIDE, y == 0 ? 0 : x * y)                 \
  ROW(Xdivy, FLOATS, RHEOS__WIDE, x == 0 ? 0 : x / y)                    \
  ROW(Xlogy, FLOATS, RHEOS__WIDEST, x == 0 ? 0 : x * RHEOS__LOG(y))      \
  ROW(Xlog1py, FLOATS, , x == 0 ? 0 : x * log1p(y))                      \
  ROW(Maximum, FLOATS, RHEOS__WIDE, x > y || x != x ? x : y)             \
  ROW(Maximum, INTEGERS, , x > y ? x : y)                                \
  ROW(Minimum, FLOATS, RHEOS__WIDE, x < y || x != x ? x : y)             \
  ROW(Minimum, INTEGERS, , x < y ? x : y)                                \
  ROW(Pow, SIGNED, , signed_power(x, y, &failed))                        \
  ROW(SquaredDifference, FLOATS, RHEOS__WIDE, (x - y) * (x - y))         \
  ROW(SquaredDifference, INTEGERS, , (W(x) - W(y)) * (W(x) - W(y)))      \
  ROW(Atan2, FLOATS, , atan2(x, y))                                      \
  ROW(BitwiseAnd, INTEGERS, , x &y)                                      \
  ROW(BitwiseOr, INTEGERS, , x | y)                                      \
  ROW(BitwiseXor, INTEGERS, , x ^ y)                                     \
  ROW(Add, COMPLEXES, , x + y)                                           \
  ROW(Sub, COMPLEXES, , x - y)                                           \
  ROW(Mul, COMPLEXES, , x *y)                                            \
  ROW(Div, COMPLEXES, , x / y)                                           \
  ROW(RealDiv, COMPLEXES, , x / y)                                       \
  ROW(DivNoNan, COMPLEXES, , y == 0 ? 0 : x / y)                         \
  ROW(MulNoNan, COMPLEXES, , y == 0 ? 0 : x * y)                         \
  ROW(Xdivy, COMPLEXES, , x == 0 ? 0 : x / y)                            \
  ROW(Xlogy, COMPLEXES, , x == 0 ? 0 : x * log(y))                       \
  ROW(Xlog1py, COMPLEXES, , x == 0 ? 0 : x * log(1 + y))                 \
  ROW(Pow, COMPLEXES, , complex_power(x, y))                             \
  ROW(SquaredDifference, COMPLEXES, , (x - y) * conj(x - y))             \
  ROW(LeftShift, SIGNED, , W(x) << shift_of(y, 8 * sizeof y))            \
  ROW(LeftShift, UNSIGNED, , W(x) << unsigned_shift_of(y, 8 * sizeof y)) \
  ROW(RightShift, SIGNED, , x >> shift_of(y, 8 * sizeof y))              \
  ROW(RightShift, UNSIGNED, , x >> unsigned_shift_of(y, 8 * sizeof y))   \
  ROW(NextAfter, REALS, , nextafter(x, y))                               \
  ROW(Igamma, FLOATS, , rheos__igamma(x, y))                             \
  ROW(Igammac, FLOATS, , rheos__igammac(x, y))                           \
  ROW(IgammaGradA, REALS, , rheos__igamma_grad_a(x, y))                  \
  ROW(Polygamma, REALS, , rheos__polygamma(x, y))                        \
  ROW(Zeta, REALS, , rheos__zeta(x, y))

#define ROW(name, dtypes, qualifier, formula) \
  RHEOS__##dtypes(RHEOS__BINARY_LOOP, qualifier, name, formula)
FORMULAS(ROW)
#undef ROW

// Chunk by chunk: most have none of the special values, which take more than half of the time to be
// told apart. The answers are the same either way.
enum { POWERS_CHUNK = 1024 };
#define POWERS(store, x_at, y_at)                                                      \
  for (int64_t begin = 0; begin < n; begin += POWERS_CHUNK) {                          \
    const int64_t end = n - begin < POWERS_CHUNK ? n : begin + POWERS_CHUNK;           \
    int special = 0;                                                                   \
    for (int64_t i = begin; i < end; i++) special |= !RHEOS__POW_IS_PLAIN(x_at, y_at); \
    if (special) {                                                                     \
      RHEOS__INDEPENDENT for (int64_t i = begin; i < end; i++) {                       \
        zs[i] = store(RHEOS__POW(x_at, y_at));                                         \
      }                                                                                \
    } else {                                                                           \
      RHEOS__INDEPENDENT for (int64_t i = begin; i < end; i++) {                       \
        zs[i] = store(RHEOS__PLAIN_POW(x_at, y_at));                                   \
      }                                                                                \
    }                                                                                  \
  }
#define POWERS_LOOP(S)                                                                             \
  RHEOS__WIDEST static int Pow_##S(const void *const *in, void *out, int64_t n, unsigned repeated, \
                                   double parameter) {                                             \
    RHEOS__LOOP_TYPES(S);                                                                          \
    const rheos__stored_##S *xs = in[0], *ys = in[1];                                              \
    rheos__stored_##S *zs = out;                                                                   \
    if (repeated == 0) {                                                                           \
      POWERS(RHEOS__STORE_##S, RHEOS__LOAD_##S(xs[i]), RHEOS__LOAD_##S(ys[i]))                     \
    } else if (repeated == 2) {                                                                    \
      const C y = RHEOS__LOAD_##S(ys[0]);                                                          \
      POWERS(RHEOS__STORE_##S, RHEOS__LOAD_##S(xs[i]), y)                                          \
    } else {                                                                                       \
      const C x = RHEOS__LOAD_##S(xs[0]);                                                          \
      POWERS(RHEOS__STORE_##S, x, RHEOS__LOAD_##S(ys[i]))                                          \
    }                                                                                              \
    return 0;                                                                                      \
  }
POWERS_LOOP(float)
POWERS_LOOP(double)
POWERS_LOOP(half)
POWERS_LOOP(bfloat16)

// ---- The formulas as text

#define ROW(name, dtypes, qualifier, formula) RHEOS__##dtypes(RHEOS__BINARY_FORMULA, name, #formula)
RHEOS__FORMULAS(binary, FORMULAS(ROW) RHEOS__FLOATS(RHEOS__BINARY_FORMULA, Pow, "pow(x, y)"));
#undef ROW

// ---- Gradients: g arrives at z = f(x, y), and goes back to the shapes of x and y.

static rheos__unbroadcast unbroadcast(const rheos__grad *g) {
  return rheos__unbroadcast_always(g->scope, g->inputs[0], g->inputs[1]);
}

static void set_unbroadcast(rheos__grad *g, const rheos__unbroadcast *u, int operand,
                            rheos_output value) {
  rheos__grad_set(g, operand, rheos__unbroadcast_to(g->scope, u, operand, value));
}

static void grad_add(rheos__grad *g) {
  const rheos_output dz = rheos__grad_dense(g, 0), x = g->inputs[0], y = g->inputs[1];
  if (rheos__same_known_shapes(x, y, dz)) {
    rheos__grad_set(g, 0, dz);
    rheos__grad_set(g, 1, dz);
    return;
  }
  const rheos__unbroadcast u = rheos__unbroadcast_known(g->scope, x, y, dz);
  set_unbroadcast(g, &u, 0, dz);
  set_unbroadcast(g, &u, 1, dz);
}

static void grad_sub(rheos__grad *g) {
  const rheos_output dz = rheos__grad_dense(g, 0), x = g->inputs[0], y = g->inputs[1];
  if (rheos__same_known_shapes(x, y, dz)) {
    rheos__grad_set(g, 0, dz);
    rheos__grad_set(g, 1, rheos__op_1(g->scope, "Neg", dz));
    return;
  }
  const rheos__unbroadcast u = rheos__unbroadcast_known(g->scope, x, y, dz);
  set_unbroadcast(g, &u, 0, dz);
  set_unbroadcast(g, &u, 1, rheos__op_1(g->scope, "Neg", dz));
}

static void grad_mul(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0), x = g->inputs[0], y = g->inputs[1];
  const rheos_dtype dtype = rheos__is_some(dz) ? rheos_output_dtype(dz) : RHEOS_FLOAT;
  if ((dtype == RHEOS_FLOAT || dtype == RHEOS_INT32) && rheos__same_known_shapes(x, y, dz)) {
    rheos__grad_set(g, 0, rheos__op_2(s, "Mul", dz, y));
    rheos__grad_set(g, 1, rheos__op_2(s, "Mul", dz, x));
    return;
  }
  const rheos__unbroadcast u = rheos__unbroadcast_known(s, x, y, dz);
  const rheos_output cx = rheos__conj(s, x), cy = rheos__conj(s, y);
  set_unbroadcast(g, &u, 0, rheos__op_2(s, "Mul", dz, cy));
  set_unbroadcast(g, &u, 1, rheos__op_2(s, "Mul", cx, dz));
}

static void grad_mul_no_nan(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0), x = g->inputs[0], y = g->inputs[1];
  if (rheos__same_known_shapes(x, y, dz)) {
    rheos__grad_set(g, 0, rheos__op_2(s, "MulNoNan", dz, y));
    rheos__grad_set(g, 1, rheos__op_2(s, "MulNoNan", x, dz));
    return;
  }
  const rheos__unbroadcast u = unbroadcast(g);
  set_unbroadcast(g, &u, 0, rheos__op_2(s, "MulNoNan", dz, y));
  set_unbroadcast(g, &u, 1, rheos__op_2(s, "MulNoNan", x, dz));
}

// g / y, and g * ((-x / y) / y); `type` and `name` of the division.
static void grad_quotient(rheos__grad *g, const char *type, const char *name) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0);
  const rheos__unbroadcast u = unbroadcast(g);
  const rheos_output x = rheos__conj(s, g->inputs[0]), y = rheos__conj(s, g->inputs[1]);
  set_unbroadcast(g, &u, 0, rheos__named_2(s, type, name, dz, y));
  const rheos_output once = rheos__named_2(s, type, name, rheos__op_1(s, "Neg", x), y);
  const rheos_output twice = rheos__named_2(s, type, name, once, y);
  set_unbroadcast(g, &u, 1, rheos__py_mul(s, dz, twice));
}
static void grad_div(rheos__grad *g) { grad_quotient(g, "RealDiv", "truediv"); }
static void grad_real_div(rheos__grad *g) { grad_quotient(g, "RealDiv", "RealDiv"); }
static void grad_div_no_nan(rheos__grad *g) { grad_quotient(g, "DivNoNan", "div_no_nan"); }

static void grad_floor_mod(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0), x = g->inputs[0], y = g->inputs[1];
  const rheos__unbroadcast u = unbroadcast(g);
  const rheos_output floor_xy = rheos__op_2(s, "FloorDiv", x, y);
  set_unbroadcast(g, &u, 0, dz);
  const rheos_output minus = rheos__op_1(s, "Neg", floor_xy);
  set_unbroadcast(g, &u, 1, rheos__py_mul(s, dz, minus));
}

// 1 where x is not 0, else 0
static rheos_output not_zero(rheos__grad *g, rheos_output x) {
  rheos_scope *s = g->scope;
  const rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(x));
  rheos__node_scope inside;
  rheos__push_node_scope(s, "Cast", &inside);  // TensorFlow casts a number that needs no cast
  const rheos_output zero = rheos__const_scalar(s, dtype, 0, "x");
  rheos_scope_pop(s);
  return rheos__cast_to(s, rheos__op_2(s, "NotEqual", x, zero), dtype);
}

static void grad_xlogy(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0), x = g->inputs[0], y = g->inputs[1];
  const rheos__unbroadcast u = unbroadcast(g);
  rheos__push_after_grad(g);
  const rheos_output by_x = rheos__named_2(s, "Xlogy", "Xlogy", not_zero(g, x), y);
  const rheos_output by_y = rheos__named_2(s, "Xdivy", "Xdivy", x, y);
  set_unbroadcast(g, &u, 0, rheos__py_mul(s, by_x, dz));
  set_unbroadcast(g, &u, 1, rheos__py_mul(s, by_y, dz));
  rheos_scope_pop(s);
}

static void grad_xlog1py(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0), x = g->inputs[0], y = g->inputs[1];
  const rheos__unbroadcast u = unbroadcast(g);
  rheos__push_after_grad(g);
  const rheos_output by_x = rheos__op_2(s, "Xlog1py", not_zero(g, x), y);
  const rheos_output below = rheos__op_with_number(s, "AddV2", "add", y, 1);
  const rheos_output by_y = rheos__op_2(s, "Xdivy", x, below);
  set_unbroadcast(g, &u, 0, rheos__py_mul(s, by_x, dz));
  set_unbroadcast(g, &u, 1, rheos__py_mul(s, by_y, dz));
  rheos_scope_pop(s);
}

static void grad_xdivy(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0), x = g->inputs[0], y = g->inputs[1];
  const rheos__unbroadcast u = unbroadcast(g);
  rheos__push_after_grad(g);
  const rheos_output by_x = rheos__op_2(s, "Xdivy", not_zero(g, x), y);
  const rheos_output minus = rheos__op_1(s, "Neg", x);
  const rheos_output squared = rheos__op_with_number(s, "Pow", "pow", y, 2);
  const rheos_output by_y = rheos__op_2(s, "Xdivy", minus, squared);
  set_unbroadcast(g, &u, 0, rheos__py_mul(s, by_x, dz));
  set_unbroadcast(g, &u, 1, rheos__py_mul(s, by_y, dz));
  rheos_scope_pop(s);
}

// y x^(y-1) g, and x^y log(x) g where x > 0
static void grad_pow(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0);
  if (rheos_scope_status(s) != NULL) return;
  const rheos__unbroadcast u = rheos__unbroadcast_known(s, g->inputs[0], g->inputs[1], dz);
  const rheos_output x = rheos__conj(s, g->inputs[0]), y = rheos__conj(s, g->inputs[1]);
  const rheos_output z = rheos__conj(s, g->outputs[0]);
  const bool is_complex = rheos_dtype_is_complex(rheos_output_dtype(dz));
  const rheos_output gy = rheos__py_mul(s, dz, y);
  const rheos_output less = rheos__op_with_number(s, "Sub", "sub", y, 1);
  set_unbroadcast(g, &u, 0, rheos__py_mul(s, gy, rheos__op_2(s, "Pow", x, less)));
  const char *test = is_complex ? "NotEqual" : "Greater";  // where there is a logarithm
  const rheos_output mask = rheos__op_with_number(s, test, test, x, 0);
  const rheos_output safe = rheos__op_3(s, "Select", mask, x, rheos__ones_like(s, x));
  const rheos_output log_x = rheos__op_1(s, "Log", safe);
  const rheos_output logs = rheos__op_3(s, "Select", mask, log_x, rheos__zeros_like(s, x));
  const rheos_output gz = rheos__py_mul(s, dz, z);
  set_unbroadcast(g, &u, 1, rheos__py_mul(s, gz, logs));
}

// All of g goes to x where `test` holds, else to y.
static void grad_chosen(rheos__grad *g, const char *test) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0), x = g->inputs[0], y = g->inputs[1];
  rheos__unbroadcast u = {.reduce = {true, true}};
  u.shape_nodes[0] = rheos__shape_of(s, x, RHEOS_INT32);
  u.shape_nodes[1] = rheos__shape_of(s, y, RHEOS_INT32);
  const rheos_output zeros = rheos__zeros_of_shape(s, dz);
  const rheos_output mask = rheos__op_2(s, test, x, y);
  u.axes_nodes[0] = rheos__op_2(s, "BroadcastGradientArgs", u.shape_nodes[0], u.shape_nodes[1]);
  u.axes_nodes[1] = rheos_operation_output(rheos_output_operation(u.axes_nodes[0]), 1);
  set_unbroadcast(g, &u, 0, rheos__op_3(s, "Select", mask, dz, zeros));
  set_unbroadcast(g, &u, 1, rheos__op_3(s, "Select", mask, zeros, dz));
}
static void grad_maximum(rheos__grad *g) { grad_chosen(g, "GreaterEqual"); }
static void grad_minimum(rheos__grad *g) { grad_chosen(g, "LessEqual"); }

// 2 g (x - y), and its negative
static void grad_squared_difference(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0), x = g->inputs[0], y = g->inputs[1];
  if (rheos_scope_status(s) != NULL) return;
  rheos__push_after_grad(g);
  const rheos_output two = rheos__const_scalar(s, rheos_output_dtype(dz), 2, "scalar");
  const rheos_output twice = rheos__op_2(s, "Mul", two, dz);
  const rheos_output difference = rheos__py_sub(s, x, y);
  const rheos_output by_x = rheos__py_mul(s, twice, difference);
  rheos_scope_pop(s);
  if (rheos__same_known_shapes(x, y, dz)) {
    rheos__grad_set(g, 0, by_x);
    rheos__grad_set(g, 1, rheos__op_1(s, "Neg", by_x));
    return;
  }
  const rheos__unbroadcast u = rheos__unbroadcast_known(s, x, y, dz);
  set_unbroadcast(g, &u, 0, by_x);
  const rheos_output by_y = rheos__unbroadcast_to(s, &u, 1, by_x);
  rheos__grad_set(g, 1, rheos__op_1(s, "Neg", by_y));
}

static void grad_atan2(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0), y = g->inputs[0], x = g->inputs[1];
  rheos__push_after_grad(g);
  const rheos_output xx = rheos__op_1(s, "Square", x);
  const rheos_output below = rheos__py_add(s, xx, rheos__op_1(s, "Square", y));
  const rheos_output inverse = rheos__py_div(s, dz, below);
  const rheos_output by_y = rheos__py_mul(s, x, inverse);
  const rheos_output by_x = rheos__py_mul(s, rheos__op_1(s, "Neg", y), inverse);
  rheos_scope_pop(s);
  if (rheos__same_known_shapes(y, x, dz)) {  // as TensorFlow, which takes it for granted
    rheos__grad_set(g, 0, by_y);
    rheos__grad_set(g, 1, by_x);
    return;
  }
  const rheos__unbroadcast u = unbroadcast(g);
  set_unbroadcast(g, &u, 0, by_y);
  set_unbroadcast(g, &u, 1, by_x);
}

// By a with an op of its own, by x with the density exp(-x + (a - 1) log x - lgamma(a)).
static void grad_of_igamma(rheos__grad *g, bool complement) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0), a = g->inputs[0], x = g->inputs[1];
  const rheos__unbroadcast u = unbroadcast(g);
  rheos__push_after_grad(g);
  rheos_output by_a = rheos__py_mul(s, rheos__op_2(s, "IgammaGradA", a, x), dz);
  const rheos_output less = rheos__op_with_number(s, "Sub", "sub", a, 1);
  const rheos_output powers = rheos__py_mul(s, less, rheos__op_1(s, "Log", x));
  const rheos_output above = rheos__py_add(s, rheos__op_1(s, "Neg", x), powers);
  const rheos_output exponent = rheos__py_sub(s, above, rheos__op_1(s, "Lgamma", a));
  rheos_output by_x = rheos__py_mul(s, rheos__op_1(s, "Exp", exponent), dz);
  by_a = rheos__unbroadcast_to(s, &u, 0, by_a);
  by_x = rheos__unbroadcast_to(s, &u, 1, by_x);
  rheos_scope_pop(s);
  rheos__grad_set(g, 0, complement ? rheos__op_1(s, "Neg", by_a) : by_a);
  rheos__grad_set(g, 1, complement ? rheos__op_1(s, "Neg", by_x) : by_x);
}
static void grad_igamma(rheos__grad *g) { grad_of_igamma(g, false); }
static void grad_igammac(rheos__grad *g) { grad_of_igamma(g, true); }

// The op itself for the next order; there is none by the order.
static void grad_polygamma(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0), n = g->inputs[0], x = g->inputs[1];
  const rheos__unbroadcast u = unbroadcast(g);
  rheos__push_after_grad(g);
  const rheos_output next = rheos__op_with_number(s, "AddV2", "add", n, 1);
  const rheos_output slope = rheos__op_2(s, "Polygamma", next, x);
  set_unbroadcast(g, &u, 1, rheos__py_mul(s, slope, dz));
  rheos_scope_pop(s);
}

static void grad_zeta(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0), x = g->inputs[0], q = g->inputs[1];
  const rheos__unbroadcast u = unbroadcast(g);
  rheos__push_after_grad(g);
  const rheos_output minus = rheos__op_1(s, "Neg", x);
  const rheos_output next = rheos__op_with_number(s, "AddV2", "add", x, 1);
  const rheos_output slope = rheos__py_mul(s, minus, rheos__op_2(s, "Zeta", next, q));
  set_unbroadcast(g, &u, 1, rheos__py_mul(s, slope, dz));
  rheos_scope_pop(s);
}

// The next number moves as x1 does, and does not move with x2.
static void grad_next_after(rheos__grad *g) {
  const rheos_output dz = rheos__grad_dense(g, 0);
  const rheos__unbroadcast u = unbroadcast(g);
  set_unbroadcast(g, &u, 0, dz);
  rheos__grad_set(g, 1, rheos__zeros_of_shape(g->scope, g->inputs[1]));
}

// ---- Ops: OP(name, dtypes, flags, gradient, cost, doc)
#define ARITHMETIC                                                                             \
  "{bfloat16, half, float, double, uint8, int8, uint16, int16, int32, int64, uint32, uint64, " \
  "complex64, complex128}"
#define ADD_TYPES                                                                             \
  "{bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128, " \
  "string}"
#define NO_NAN_TYPES "{half, float, bfloat16, double, complex64, complex128}"
#define MOD_TYPES "{int32, int64, half, bfloat16, float, double}"
#define FLOOR_MOD_TYPES \
  "{int8, int16, int32, int64, uint8, uint16, uint32, uint64, bfloat16, half, float, double}"
#define ORDERED \
  "{bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}"
#define POW_TYPES \
  "{bfloat16, float, half, double, int8, int16, int32, int64, complex64, complex128}"
#define DIFFERENCE_TYPES "{bfloat16, half, float, double, int32, int64, complex64, complex128}"
#define BITS "{int8, int16, int32, int64, uint8, uint16, uint32, uint64}"
#define SWAPS RHEOS_OP_COMMUTATIVE

#define OPS(OP)                                                                                  \
  OP(BitwiseAnd, BITS, SWAPS, rheos__no_gradient, 1, "The bits set in both `x` and `y`.")        \
  OP(BitwiseOr, BITS, SWAPS, rheos__no_gradient, 1, "The bits set in `x` or `y`.")               \
  OP(BitwiseXor, BITS, SWAPS, rheos__no_gradient, 1, "The bits in which `x` and `y` differ.")    \
  OP(Div, ARITHMETIC, 0, grad_div, 4, "`x` / `y`; whole numbers are rounded towards 0.")         \
  OP(DivNoNan, NO_NAN_TYPES, 0, grad_div_no_nan, 4, "`x` / `y`, and 0 where `y` is 0.")          \
  OP(FloorDiv, ARITHMETIC, 0, rheos__no_gradient, 6, "`x` / `y`, rounded down.")                 \
  OP(FloorMod, FLOOR_MOD_TYPES, 0, grad_floor_mod, 8,                                            \
     "What is left of `x` after FloorDiv by `y`; it has the sign of `y`.")                       \
  OP(LeftShift, BITS, 0, rheos__no_gradient, 1, "The bits of `x` moved up by `y` places.")       \
  OP(Maximum, ORDERED, 0, grad_maximum, 1, "The larger of `x` and `y`.")                         \
  OP(Minimum, ORDERED, 0, grad_minimum, 1, "The smaller of `x` and `y`.")                        \
  OP(Mod, MOD_TYPES, 0, NULL, 8, "What is left of `x` after division by `y` towards 0.")         \
  OP(Mul, ARITHMETIC, SWAPS, grad_mul, 1, "`x` * `y`.")                                          \
  OP(MulNoNan, NO_NAN_TYPES, 0, grad_mul_no_nan, 2, "`x` * `y`, and 0 where `y` is 0.")          \
  OP(Pow, POW_TYPES, 0, grad_pow, 20, "`x` to the power of `y`.")                                \
  OP(RealDiv, ARITHMETIC, 0, grad_real_div, 4, "`x` / `y`.")                                     \
  OP(RightShift, BITS, 0, rheos__no_gradient, 1,                                                 \
     "The bits of `x` moved down by `y` places; the sign stays.")                                \
  OP(SquaredDifference, DIFFERENCE_TYPES, SWAPS, grad_squared_difference, 2,                     \
     "The square of `x` - `y`.")                                                                 \
  OP(Sub, ARITHMETIC, 0, grad_sub, 1, "`x` - `y`.")                                              \
  OP(TruncateDiv, ARITHMETIC, 0, rheos__no_gradient, 4, "`x` / `y`, rounded towards 0.")         \
  OP(TruncateMod, MOD_TYPES, 0, NULL, 8, "What is left of `x` after division by `y` towards 0.") \
  OP(Xdivy, NO_NAN_TYPES, 0, grad_xdivy, 4, "`x` / `y`, and 0 where `x` is 0.")                  \
  OP(Xlog1py, NO_NAN_TYPES, 0, grad_xlog1py, 12, "`x` * log(1 + `y`), and 0 where `x` is 0.")    \
  OP(Xlogy, NO_NAN_TYPES, 0, grad_xlogy, 12, "`x` * log(`y`), and 0 where `x` is 0.")

enum {
#define OP(name, dtypes, flags, gradient, cost, doc) row_##name,
  OPS(OP) row_Add,
  row_Atan2,
  row_Igamma,
  row_Igammac,
  row_IgammaGradA,
  row_NextAfter,
  row_Polygamma,
  row_Zeta,
  NUM_ROWS
#undef OP
};

static const rheos__loop loops[NUM_ROWS][RHEOS__NUM_DTYPES] = {
#define ROW(name, dtypes, qualifier, formula) RHEOS__##dtypes(RHEOS__LOOP_ENTRY, name)
    FORMULAS(ROW) RHEOS__FLOATS(RHEOS__LOOP_ENTRY, Pow)
#undef ROW
};

rheos__loop rheos__binary_loop(rheos__binary kind, rheos_dtype dtype) {
  static const int rows[] = {
      [RHEOS__ADD] = row_Add, [RHEOS__SUB] = row_Sub,         [RHEOS__MUL] = row_Mul,
      [RHEOS__DIV] = row_Div, [RHEOS__MAXIMUM] = row_Maximum, [RHEOS__MINIMUM] = row_Minimum,
  };
  return loops[rows[kind]][dtype];
}

// What is wrong where a formula of whole numbers fails; those of the others never do.
#define BY_ZERO "Integer division by zero"
static const char *const failures[NUM_ROWS] = {
    [row_Div] = BY_ZERO,
    [row_FloorDiv] = BY_ZERO,
    [row_FloorMod] = BY_ZERO,
    [row_Mod] = BY_ZERO,
    [row_TruncateDiv] = BY_ZERO,
    [row_TruncateMod] = BY_ZERO,
    [row_Pow] = "Integers to negative integer powers are not allowed",
};

static rheos_status *prepare(rheos__prepare *p, int row, int cost) {
  return rheos__prepare_elementwise(p, loops[row][rheos__loop_dtype(p)], cost, 0, failures[row]);
}

#define DEFINE(op, row, text, op_flags, gradient_fn, cost, about)                        \
  static rheos_status *prepare_##op(rheos__prepare *p) { return prepare(p, row, cost); } \
  const rheos__op_def rheos__op_##op = {                                                 \
      .name = #op,                                                                       \
      .signature = text,                                                                 \
      .doc = about,                                                                      \
      .flags = op_flags,                                                                 \
      .shape = rheos__shape_broadcast_2,                                                 \
      .gradient = gradient_fn,                                                           \
      .prepare = prepare_##op,                                                           \
  };
#define OP(name, dtypes, flags, gradient, cost, doc) \
  DEFINE(name, row_##name, "x: T, y: T -> z: T; T: " dtypes, flags, gradient, cost, doc)
OPS(OP)
DEFINE(AddV2, row_Add, "x: T, y: T -> z: T; T: " ARITHMETIC, SWAPS | RHEOS_OP_AGGREGATE, grad_add,
       1, "`x` + `y`.")
DEFINE(Atan2, row_Atan2, "y: T, x: T -> z: T; T: {bfloat16, half, float, double}", 0, grad_atan2,
       20, "The angle of the point (`x`, `y`).")
DEFINE(NextAfter, row_NextAfter, "x1: T, x2: T -> output: T; T: {double, float} = float", 0,
       grad_next_after, 4, "The number next to `x1` in the direction of `x2`.")

// Functions of two numbers whose inputs have names of their own
#define FLOAT_TYPES "{bfloat16, half, float, double}"
DEFINE(Igamma, row_Igamma, "a: T, x: T -> z: T; T: " FLOAT_TYPES, 0, grad_igamma, 200,
       "The integral of t^(`a`-1) exp(-t) from 0 to `x`, divided by gamma(`a`).")
DEFINE(Igammac, row_Igammac, "a: T, x: T -> z: T; T: " FLOAT_TYPES, 0, grad_igammac, 200,
       "The integral of t^(`a`-1) exp(-t) from `x` on, divided by gamma(`a`).")
DEFINE(IgammaGradA, row_IgammaGradA, "a: T, x: T -> z: T; T: {float, double}", 0, NULL, 400,
       "The derivative of Igamma by `a`.")
DEFINE(Polygamma, row_Polygamma, "a: T, x: T -> z: T; T: {float, double}", 0, grad_polygamma, 200,
       "The derivative of Digamma of order `a` at `x`.")
DEFINE(Zeta, row_Zeta, "x: T, q: T -> z: T; T: {float, double}", 0, grad_zeta, 200,
       "The sum of (`q` + k)^-`x` over all whole k >= 0.")

// ---- Add, which also joins strings

static rheos_status *join(const rheos_string *x, const rheos_string *y, rheos_tensor *out,
                          int64_t index) {
  char *bytes = rheos__alloc(x->size_bytes + y->size_bytes + 1);
  if (bytes == NULL) return rheos__out_of_memory();
  if (x->size_bytes > 0) memcpy(bytes, x->data, x->size_bytes);
  if (y->size_bytes > 0) memcpy(bytes + x->size_bytes, y->data, y->size_bytes);
  rheos_status *status = rheos_tensor_set_string(out, index, bytes, x->size_bytes + y->size_bytes);
  rheos__free(bytes);
  return status;
}

static rheos_status *add_strings(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  (void)state, (void)step;
  rheos_shape shape;
  RHEOS_TRY(rheos__shape_broadcast(&inputs[0]->shape, &inputs[1]->shape, &shape));
  RHEOS_TRY(rheos_tensor_new(RHEOS_STRING, shape, &outputs[0]));
  const rheos_string *x = inputs[0]->data, *y = inputs[1]->data;
  for (int64_t i = 0; i < outputs[0]->num_elements; i++) {
    const int64_t at_x = rheos__broadcast_index(&inputs[0]->shape, &shape, i);
    const int64_t at_y = rheos__broadcast_index(&inputs[1]->shape, &shape, i);
    RHEOS_TRY(join(&x[at_x], &y[at_y], outputs[0], i));
  }
  return NULL;
}

static rheos_status *prepare_Add(rheos__prepare *p) {
  if (p->input_dtypes[0] != RHEOS_STRING) return prepare(p, row_Add, 1);
  p->compute = add_strings;
  return NULL;
}

const rheos__op_def rheos__op_Add = {
    .name = "Add",
    .signature = "x: T, y: T -> z: T; T: " ADD_TYPES,
    .doc = "`x` + `y`; strings are joined.",
    .shape = rheos__shape_broadcast_2,
    .gradient = grad_add,
    .prepare = prepare_Add,
};
