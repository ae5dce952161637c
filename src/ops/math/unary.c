// Functions of one number: one row for each formula (see elementwise.h), one row for each op, and
// their gradients. Activations are in activation.c.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <math.h>
#include <tgmath.h>

#include "base/complex.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"
#include "ops/kit/special_math.h"
#include "ops/kit/vector_math.h"
#include "ops/kit/vector_trig.h"
#include "ops/math/whole_formulas.h"

// ---- Formulas: ROW(op, dtypes, qualifier, formula)
#define FORMULAS(ROW)                                                                             \
  ROW(Abs, FLOATS, RHEOS__WIDE, fabs(x))                                                          \
  ROW(Abs, SIGNED, , x < 0 ? 0 - W(x) : W(x))                                                     \
  ROW(Neg, FLOATS, RHEOS__WIDE, -x)                                                               \
  ROW(Neg, SIGNED, , 0 - W(x))                                                                    \
  ROW(Sign, FLOATS, RHEOS__WIDE, x > 0 ? (C)1 : x < 0 ? (C) - 1 : x)                              \
  ROW(Sign, SIGNED, , (x > 0) - (x < 0))                                                          \
  ROW(Square, FLOATS, RHEOS__WIDE, x *x)                                                          \
  ROW(Square, INTEGERS, , W(x) * W(x))                                                            \
  ROW(Sqrt, FLOATS, RHEOS__WIDE, sqrt(x))                                                         \
  ROW(Rsqrt, FLOATS, RHEOS__WIDE, 1 / sqrt(x))                                                    \
  ROW(Exp, FLOATS, RHEOS__WIDEST, RHEOS__EXP(x))                                                  \
  ROW(Expm1, FLOATS, RHEOS__WIDEST, RHEOS__EXPM1(x))                                              \
  ROW(Log, FLOATS, RHEOS__WIDEST, RHEOS__LOG(x))                                                  \
  ROW(Log1p, FLOATS, , log1p(x))                                                                  \
  ROW(Asin, FLOATS, , asin(x))                                                                    \
  ROW(Acos, FLOATS, , acos(x))                                                                    \
  ROW(Atan, FLOATS, , atan(x))                                                                    \
  ROW(Sinh, FLOATS, , sinh(x))                                                                    \
  ROW(Cosh, FLOATS, , cosh(x))                                                                    \
  ROW(Tanh, FLOATS, RHEOS__WIDEST, RHEOS__TANH(x))                                                \
  ROW(Asinh, FLOATS, , asinh(x))                                                                  \
  ROW(Acosh, FLOATS, , acosh(x))                                                                  \
  ROW(Atanh, FLOATS, , atanh(x))                                                                  \
  ROW(Sigmoid, FLOATS, RHEOS__WIDEST, RHEOS__SIGMOID(x))                                          \
  ROW(Erf, FLOATS, RHEOS__WIDEST, RHEOS__ERF(x))                                                  \
  ROW(Erfc, FLOATS, , erfc(x))                                                                    \
  ROW(Erfinv, FLOATS, , rheos__erfinv(x))                                                         \
  ROW(Ndtri, FLOATS, , rheos__ndtri(x))                                                           \
  ROW(Lgamma, FLOATS, , rheos__lgamma(x))                                                         \
  ROW(Digamma, FLOATS, , rheos__digamma(x))                                                       \
  ROW(BesselI0e, FLOATS, , rheos__bessel_i0e(x))                                                  \
  ROW(BesselI1e, FLOATS, , rheos__bessel_i1e(x))                                                  \
  ROW(Floor, FLOATS, RHEOS__WIDE, floor(x))                                                       \
  ROW(Ceil, FLOATS, RHEOS__WIDE, ceil(x))                                                         \
  ROW(Round, FLOATS, RHEOS__WIDE, rint(x)) /* half to even: the rounding mode is never changed */ \
  ROW(Round, SIGNED, , x)                                                                         \
  ROW(Rint, FLOATS, RHEOS__WIDE, rint(x))                                                         \
  ROW(Reciprocal, FLOATS, RHEOS__WIDE, 1 / x)                                                     \
  ROW(Reciprocal, SIGNED, , reciprocal_of_integer(x, &failed))                                    \
  ROW(Inv, FLOATS, RHEOS__WIDE, 1 / x)                                                            \
  ROW(Inv, SIGNED, , reciprocal_of_integer(x, &failed))                                           \
  ROW(Invert, INTEGERS, , ~W(x))                                                                  \
  ROW(Neg, COMPLEXES, , -x)                                                                       \
  ROW(Sign, COMPLEXES, , x == 0 ? 0 : x / fabs(x))                                                \
  ROW(Square, COMPLEXES, , x *x)                                                                  \
  ROW(Sqrt, COMPLEXES, , sqrt(x))                                                                 \
  ROW(Rsqrt, COMPLEXES, , 1 / sqrt(x))                                                            \
  ROW(Exp, COMPLEXES, , exp(x))                                                                   \
  ROW(Expm1, COMPLEXES, , complex_expm1(x))                                                       \
  ROW(Log, COMPLEXES, , log(x))                                                                   \
  ROW(Log1p, COMPLEXES, , complex_log1p(x))                                                       \
  ROW(Sin, COMPLEXES, , sin(x))                                                                   \
  ROW(Cos, COMPLEXES, , cos(x))                                                                   \
  ROW(Tan, COMPLEXES, , tan(x))                                                                   \
  ROW(Asin, COMPLEXES, , asin(x))                                                                 \
  ROW(Acos, COMPLEXES, , acos(x))                                                                 \
  ROW(Atan, COMPLEXES, , atan(x))                                                                 \
  ROW(Sinh, COMPLEXES, , sinh(x))                                                                 \
  ROW(Cosh, COMPLEXES, , cosh(x))                                                                 \
  ROW(Tanh, COMPLEXES, , tanh(x))                                                                 \
  ROW(Asinh, COMPLEXES, , asinh(x))                                                               \
  ROW(Acosh, COMPLEXES, , acosh(x))                                                               \
  ROW(Atanh, COMPLEXES, , atanh(x))                                                               \
  ROW(Sigmoid, COMPLEXES, , 1 / (1 + exp(-x)))                                                    \
  ROW(Reciprocal, COMPLEXES, , 1 / x)                                                             \
  ROW(Inv, COMPLEXES, , 1 / x)

// Functions of angles have a faster formula for angles that are not huge.
#define ANGLES(ROW)                       \
  ROW(Sin, rheos__sinf_near, rheos__sinf) \
  ROW(Cos, rheos__cosf_near, rheos__cosf) \
  ROW(Tan, rheos__tanf_near, rheos__tanf)

#define TESTS(ROW)                               \
  ROW(IsNan, FLOATS, , x != x)                   \
  ROW(IsInf, FLOATS, , fabs(x) == (C)INFINITY)   \
  ROW(IsFinite, FLOATS, , fabs(x) < (C)INFINITY) \
  ROW(LogicalNot, BOOLS, , !x)

// Numbers of bits
#define NUMBER_OF_BITS(v) __builtin_popcountll(v)
#define COUNTS(ROW) \
  ROW(PopulationCount, INTEGERS, , NUMBER_OF_BITS((uint64_t)x &(UINT64_MAX >> (64 - 8 * sizeof x))))

// By the real functions that are exact near 0.
static inline double _Complex complex_expm1(double _Complex x) {
  const double half = sin(cimag(x) / 2), size = expm1(creal(x));
  return CMPLX(size * cos(cimag(x)) - 2 * half * half, exp(creal(x)) * sin(cimag(x)));
}
static inline double _Complex complex_log1p(double _Complex x) {
  const double re = creal(x), im = cimag(x);
  return CMPLX(log1p(re * (2 + re) + im * im) / 2, atan2(im, 1 + re));
}

#define ROW(name, dtypes, qualifier, formula) \
  RHEOS__##dtypes(RHEOS__UNARY_LOOP, qualifier, name, formula)
FORMULAS(ROW)
#undef ROW
// Chunk by chunk: where a chunk has a huge angle, its elements take one of two formulas each, so
// that an answer never depends on its neighbours.
enum { ANGLES_CHUNK = 1024 };
#define ANGLE_LOOP(S, name, near, far)                                             \
  RHEOS__WIDEST static int name##_##S(const void *const *in, void *out, int64_t n, \
                                      unsigned repeated, double parameter) {       \
    RHEOS__LOOP_TYPES(S);                                                          \
    for (int64_t begin = 0; begin < n; begin += ANGLES_CHUNK) {                    \
      const rheos__stored_##S *xs = (const rheos__stored_##S *)in[0] + begin;      \
      rheos__stored_##S *zs = (rheos__stored_##S *)out + begin;                    \
      const int64_t count = n - begin < ANGLES_CHUNK ? n - begin : ANGLES_CHUNK;   \
      int huge = 0;                                                                \
      for (int64_t i = 0; i < count; i++) {                                        \
        huge |= !(fabs(RHEOS__LOAD_##S(xs[i])) < RHEOS__NEAR_ANGLE);               \
      }                                                                            \
      if (huge) {                                                                  \
        RHEOS__INDEPENDENT for (int64_t i = 0; i < count; i++) {                   \
          const C x = RHEOS__LOAD_##S(xs[i]);                                      \
          const C y = fabs(x) < RHEOS__NEAR_ANGLE ? near(x) : far(x);              \
          zs[i] = RHEOS__STORE_##S(y);                                             \
        }                                                                          \
        continue;                                                                  \
      }                                                                            \
      RHEOS__INDEPENDENT for (int64_t i = 0; i < count; i++) {                     \
        const C x = RHEOS__LOAD_##S(xs[i]);                                        \
        zs[i] = RHEOS__STORE_##S(near(x));                                         \
      }                                                                            \
    }                                                                              \
    return 0;                                                                      \
  }
#define ROW(name, near, far)         \
  ANGLE_LOOP(float, name, near, far) \
  ANGLE_LOOP(half, name, near, far)  \
  ANGLE_LOOP(bfloat16, name, near, far)
ANGLES(ROW)
#undef ROW
ANGLE_LOOP(double, Sin, rheos__sin_near, (sin))
ANGLE_LOOP(double, Cos, rheos__cos_near, (cos))
RHEOS__UNARY_LOOP(double, , Tan, (tan)(x))
#define ROW(name, dtypes, qualifier, formula) \
  RHEOS__##dtypes(RHEOS__UNARY_TEST, qualifier, name, formula)
TESTS(ROW)
#undef ROW
#define COUNT_LOOP(S, qualifier, name, formula) \
  RHEOS__UNARY_LOOP_TO(S, uint8, qualifier, name, formula)
#define ROW(name, dtypes, qualifier, formula) RHEOS__##dtypes(COUNT_LOOP, qualifier, name, formula)
COUNTS(ROW)
#undef ROW

// ---- The formulas as text

#define ROW(name, dtypes, qualifier, formula) RHEOS__##dtypes(RHEOS__UNARY_FORMULA, name, #formula)
#define TEST(name, dtypes, qualifier, formula) \
  RHEOS__##dtypes(RHEOS__UNARY_TEST_FORMULA, name, #formula)
#define COUNT_FORMULA(S, name, text) RHEOS__UNARY_FORMULA_TO(S, uint8, name, text)
#define COUNT(name, dtypes, qualifier, formula) RHEOS__##dtypes(COUNT_FORMULA, name, #formula)
RHEOS__FORMULAS(unary, FORMULAS(ROW) TESTS(TEST) COUNTS(COUNT)
                           RHEOS__FLOATS(RHEOS__UNARY_FORMULA, Sin, "sin(x)")
                               RHEOS__FLOATS(RHEOS__UNARY_FORMULA, Cos, "cos(x)")
                                   RHEOS__FLOATS(RHEOS__UNARY_FORMULA, Tan, "tan(x)"));
#undef TEST
#undef ROW

// ---- Gradients: g arrives at y = f(x). The nodes are TensorFlow's.

static void grad_abs(rheos__grad *g) {
  const rheos_output sign = rheos__op_1(g->scope, "Sign", g->inputs[0]);
  rheos__grad_set(g, 0, rheos__py_mul(g->scope, rheos__grad_dense(g, 0), sign));
}

static void grad_neg(rheos__grad *g) {
  rheos__grad_set(g, 0, rheos__op_1(g->scope, "Neg", rheos__grad_dense(g, 0)));
}

static void grad_sign(rheos__grad *g) {
  rheos__grad_set(g, 0, rheos__zeros_of_shape(g->scope, g->inputs[0]));
}

static void grad_square(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0);
  rheos__push_after_grad(g);
  const rheos_output two = rheos__const_scalar(s, g->attrs->items[0].value.type, 2, "Const");
  const rheos_output x2 = rheos__op_2(s, "Mul", rheos__conj(s, g->inputs[0]), two);
  rheos__grad_set(g, 0, rheos__op_2(s, "Mul", dy, x2));
  rheos_scope_pop(s);
}

// Gradients that have an op of their own, of y and g.
static void grad_by_op(rheos__grad *g, const char *type) {
  const rheos_output dy = rheos__grad_dense(g, 0);
  rheos__grad_set(g, 0, rheos__op_2(g->scope, type, g->outputs[0], dy));
}
static void grad_sqrt(rheos__grad *g) { grad_by_op(g, "SqrtGrad"); }
static void grad_rsqrt(rheos__grad *g) { grad_by_op(g, "RsqrtGrad"); }
static void grad_reciprocal(rheos__grad *g) { grad_by_op(g, "ReciprocalGrad"); }

// TanhGrad and SigmoidGrad do not conjugate y themselves.
static void grad_by_op_of_conjugate(rheos__grad *g, const char *type) {
  const rheos_output dy = rheos__grad_dense(g, 0), y = rheos__conj(g->scope, g->outputs[0]);
  rheos__grad_set(g, 0, rheos__op_2(g->scope, type, y, dy));
}
static void grad_tanh(rheos__grad *g) { grad_by_op_of_conjugate(g, "TanhGrad"); }
static void grad_sigmoid(rheos__grad *g) { grad_by_op_of_conjugate(g, "SigmoidGrad"); }

static void grad_exp(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0);
  rheos__grad_set(g, 0, rheos__py_mul(s, dy, rheos__conj(s, g->outputs[0])));
}

// g times a function of x that is one node.
static void grad_times(rheos__grad *g, const char *type) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0);
  rheos__push_after_grad(g);
  const rheos_output f = rheos__op_1(s, type, rheos__conj(s, g->inputs[0]));
  rheos__grad_set(g, 0, rheos__py_mul(s, dy, f));
  rheos_scope_pop(s);
}
static void grad_expm1(rheos__grad *g) { grad_times(g, "Exp"); }
static void grad_log(rheos__grad *g) { grad_times(g, "Reciprocal"); }
static void grad_sin(rheos__grad *g) { grad_times(g, "Cos"); }
static void grad_sinh(rheos__grad *g) { grad_times(g, "Cosh"); }
static void grad_cosh(rheos__grad *g) { grad_times(g, "Sinh"); }
static void grad_lgamma(rheos__grad *g) { grad_times(g, "Digamma"); }

static void grad_digamma(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0);
  rheos__push_after_grad(g);
  const rheos_output one = rheos__const_scalar(s, rheos_output_dtype(g->inputs[0]), 1, "Const");
  rheos__grad_set(g, 0, rheos__py_mul(s, dy, rheos__op_2(s, "Polygamma", one, g->inputs[0])));
  rheos_scope_pop(s);
}

static void grad_log1p(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0);
  rheos__push_after_grad(g);
  const rheos_output sum = rheos__op_of_number(s, "AddV2", "add", 1, rheos__conj(s, g->inputs[0]));
  rheos__grad_set(g, 0, rheos__py_mul(s, dy, rheos__op_1(s, "Reciprocal", sum)));
  rheos_scope_pop(s);
}

static void grad_cos(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0);
  rheos__push_after_grad(g);
  const rheos_output minus = rheos__op_1(s, "Neg", dy);
  const rheos_output sine = rheos__op_1(s, "Sin", rheos__conj(s, g->inputs[0]));
  rheos__grad_set(g, 0, rheos__py_mul(s, minus, sine));
  rheos_scope_pop(s);
}

static void grad_tan(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0);
  rheos__push_after_grad(g);
  const rheos_output cosine = rheos__op_1(s, "Cos", rheos__conj(s, g->inputs[0]));
  const rheos_output secant = rheos__op_1(s, "Reciprocal", cosine);
  rheos__grad_set(g, 0, rheos__py_mul(s, rheos__op_1(s, "Square", secant), dy));
  rheos_scope_pop(s);
}

// 1 / (1 + x^2) or 1 / (1 - x^2), of which the root is taken if `root`
static rheos_output one_over(rheos__grad *g, const char *combine, bool root) {
  rheos_scope *s = g->scope;
  const rheos_output squared = rheos__op_1(s, "Square", rheos__conj(s, g->inputs[0]));
  const rheos_output one =
      rheos__const_scalar(s, rheos_output_dtype(g->out_grads[0].values), 1, "Const");
  rheos_output below = rheos__op_2(s, combine, one, squared);
  if (root) below = rheos__op_1(s, "Sqrt", below);
  return rheos__op_1(s, "Reciprocal", below);
}

static void grad_by_one_over(rheos__grad *g, const char *combine, bool root, bool minus) {
  rheos_output dy = rheos__grad_dense(g, 0);
  rheos__push_after_grad(g);
  const rheos_output inverse = one_over(g, combine, root);
  if (minus) dy = rheos__op_1(g->scope, "Neg", dy);
  rheos__grad_set(g, 0, rheos__py_mul(g->scope, dy, inverse));
  rheos_scope_pop(g->scope);
}
static void grad_asin(rheos__grad *g) { grad_by_one_over(g, "Sub", true, false); }
static void grad_acos(rheos__grad *g) { grad_by_one_over(g, "Sub", true, true); }
static void grad_atan(rheos__grad *g) { grad_by_one_over(g, "Add", false, false); }
static void grad_atanh(rheos__grad *g) { grad_by_one_over(g, "Sub", false, false); }

static void grad_over(rheos__grad *g, const char *type) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0);
  rheos__push_after_grad(g);
  const rheos_output slope = rheos__op_1(s, type, rheos__conj(s, g->outputs[0]));
  rheos__grad_set(g, 0, rheos__py_div(s, dy, slope));
  rheos_scope_pop(s);
}
static void grad_asinh(rheos__grad *g) { grad_over(g, "Cosh"); }
static void grad_acosh(rheos__grad *g) { grad_over(g, "Sinh"); }

// g * factor * exp(-x^2), with the factor 2 / sqrt(pi)
static void grad_of_erf(rheos__grad *g, double factor) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0);
  const rheos_output scale =
      rheos__const_scalar(s, rheos_output_dtype(g->inputs[0]), factor, "Const");
  rheos__push_after_grad(g);
  const rheos_output scaled = rheos__py_mul(s, dy, scale);
  const rheos_output squared = rheos__op_1(s, "Square", g->inputs[0]);
  const rheos_output bell = rheos__op_1(s, "Exp", rheos__op_1(s, "Neg", squared));
  rheos__grad_set(g, 0, rheos__py_mul(s, scaled, bell));
  rheos_scope_pop(s);
}
static void grad_erf(rheos__grad *g) { grad_of_erf(g, M_2_SQRTPI); }
static void grad_erfc(rheos__grad *g) { grad_of_erf(g, -M_2_SQRTPI); }

// g * factor * exp(y^2 / divisor)
static void grad_of_inverse(rheos__grad *g, double factor, double divisor) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0);
  const rheos_output scale =
      rheos__const_scalar(s, rheos_output_dtype(g->inputs[0]), factor, "Const");
  rheos__push_after_grad(g);
  const rheos_output scaled = rheos__py_mul(s, dy, scale);
  rheos_output exponent = rheos__op_1(s, "Square", g->outputs[0]);
  if (divisor != 1) {
    exponent = rheos__op_with_number(s, "RealDiv", "truediv", exponent, divisor);
  }
  rheos__grad_set(g, 0, rheos__py_mul(s, scaled, rheos__op_1(s, "Exp", exponent)));
  rheos_scope_pop(s);
}
static void grad_erfinv(rheos__grad *g) { grad_of_inverse(g, 1 / M_2_SQRTPI, 1); }
static void grad_ndtri(rheos__grad *g) { grad_of_inverse(g, sqrt(2 * M_PI), 2); }

// g * (i1e(x) - sign(x) y)
static void grad_bessel_i0e(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0), x = g->inputs[0];
  rheos__push_after_grad(g);
  const rheos_output next = rheos__op_1(s, "BesselI1e", x);
  const rheos_output decay = rheos__py_mul(s, rheos__op_1(s, "Sign", x), g->outputs[0]);
  rheos__grad_set(g, 0, rheos__py_mul(s, dy, rheos__py_sub(s, next, decay)));
  rheos_scope_pop(s);
}

// g * (i0e(x) - (sign(x) + 1 / x) y), and g / 2 at 0
static void grad_bessel_i1e(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0), x = g->inputs[0];
  rheos__push_after_grad(g);
  const rheos_output at_0 = rheos__op_with_number(s, "Equal", "Equal", x, 0);
  const rheos_output before = rheos__op_1(s, "BesselI0e", x);
  const rheos_output sum =
      rheos__py_add(s, rheos__op_1(s, "Sign", x), rheos__op_1(s, "Reciprocal", x));
  const rheos_output slope = rheos__py_sub(s, before, rheos__py_mul(s, g->outputs[0], sum));
  const rheos_output half = rheos__const_scalar(s, rheos_output_dtype(dy), 0.5, "Const");
  rheos__grad_set(g, 0, rheos__py_mul(s, dy, rheos__op_3(s, "SelectV2", at_0, half, slope)));
  rheos_scope_pop(s);
}

// ---- Ops: OP(name, dtypes, gradient, cost, doc)
#define FLOAT_TYPES "{bfloat16, half, float, double}"
#define COMPLEX_TYPES "{bfloat16, half, float, double, complex64, complex128}"
#define SIGNED_TYPES "{bfloat16, half, float, double, int8, int16, int32, int64}"
#define SIGNED_OR_COMPLEX \
  "{bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}"
#define ANGLE_TYPES "{bfloat16, half, float, double, int32, int64, complex64, complex128}"
#define SQUARE_TYPES                                                                           \
  "{bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, " \
  "complex64, complex128}"

#define OPS(OP)                                                                                  \
  OP(Abs, SIGNED_TYPES, grad_abs, 1, "The absolute value of `x`.")                               \
  OP(Acos, ANGLE_TYPES, grad_acos, 20, "The angle whose cosine is `x`.")                         \
  OP(Acosh, COMPLEX_TYPES, grad_acosh, 20, "The inverse hyperbolic cosine of `x`.")              \
  OP(Asin, ANGLE_TYPES, grad_asin, 20, "The angle whose sine is `x`.")                           \
  OP(Asinh, COMPLEX_TYPES, grad_asinh, 20, "The inverse hyperbolic sine of `x`.")                \
  OP(Atan, ANGLE_TYPES, grad_atan, 20, "The angle whose tangent is `x`.")                        \
  OP(Atanh, COMPLEX_TYPES, grad_atanh, 20, "The inverse hyperbolic tangent of `x`.")             \
  OP(BesselI0e, FLOAT_TYPES, grad_bessel_i0e, 60,                                                \
     "exp(-|`x`|) times the modified Bessel function of order 0 of `x`.")                        \
  OP(BesselI1e, FLOAT_TYPES, grad_bessel_i1e, 60,                                                \
     "exp(-|`x`|) times the modified Bessel function of order 1 of `x`.")                        \
  OP(Ceil, FLOAT_TYPES, rheos__no_gradient, 2, "The smallest whole number not below `x`.")       \
  OP(Cos, COMPLEX_TYPES, grad_cos, 20, "The cosine of `x`.")                                     \
  OP(Cosh, COMPLEX_TYPES, grad_cosh, 20, "The hyperbolic cosine of `x`.")                        \
  OP(Digamma, FLOAT_TYPES, grad_digamma, 60, "The derivative of Lgamma at `x`.")                 \
  OP(Erf, FLOAT_TYPES, grad_erf, 20, "The Gauss error function of `x`.")                         \
  OP(Erfc, FLOAT_TYPES, grad_erfc, 20, "1 minus the Gauss error function of `x`.")               \
  OP(Erfinv, FLOAT_TYPES, grad_erfinv, 200, "The number whose Erf is `x`.")                      \
  OP(Exp, COMPLEX_TYPES, grad_exp, 10, "e to the power of `x`.")                                 \
  OP(Expm1, COMPLEX_TYPES, grad_expm1, 10, "exp(`x`) - 1, exact also near 0.")                   \
  OP(Floor, FLOAT_TYPES, rheos__no_gradient, 2, "The largest whole number not above `x`.")       \
  OP(Inv, SIGNED_OR_COMPLEX, grad_reciprocal, 4, "1 / `x`.")                                     \
  OP(Lgamma, FLOAT_TYPES, grad_lgamma, 60,                                                       \
     "The logarithm of the absolute value of the gamma function of `x`.")                        \
  OP(Log, COMPLEX_TYPES, grad_log, 10, "The natural logarithm of `x`.")                          \
  OP(Log1p, COMPLEX_TYPES, grad_log1p, 10, "log(1 + `x`), exact also near 0.")                   \
  OP(Ndtri, FLOAT_TYPES, grad_ndtri, 200,                                                        \
     "The number below which a standard normal variable is with probability `x`.")               \
  OP(Neg, SIGNED_OR_COMPLEX, grad_neg, 1, "`x` with the other sign.")                            \
  OP(Reciprocal, SIGNED_OR_COMPLEX, grad_reciprocal, 4, "1 / `x`.")                              \
  OP(Rint, FLOAT_TYPES, rheos__no_gradient, 2, "`x` rounded, halves to the even number.")        \
  OP(Round, SIGNED_OR_COMPLEX, rheos__no_gradient, 2, "`x` rounded, halves to the even number.") \
  OP(Rsqrt, COMPLEX_TYPES, grad_rsqrt, 8, "1 / sqrt(`x`).")                                      \
  OP(Sigmoid, COMPLEX_TYPES, grad_sigmoid, 12, "1 / (1 + exp(-`x`)).")                           \
  OP(Sign, SIGNED_OR_COMPLEX, grad_sign, 2, "-1, 0 or 1, as `x` is below, at or above 0.")       \
  OP(Sin, COMPLEX_TYPES, grad_sin, 20, "The sine of `x`.")                                       \
  OP(Sinh, COMPLEX_TYPES, grad_sinh, 20, "The hyperbolic sine of `x`.")                          \
  OP(Sqrt, COMPLEX_TYPES, grad_sqrt, 4, "The square root of `x`.")                               \
  OP(Square, SQUARE_TYPES, grad_square, 1, "`x` times itself.")                                  \
  OP(Tan, ANGLE_TYPES, grad_tan, 20, "The tangent of `x`.")                                      \
  OP(Tanh, COMPLEX_TYPES, grad_tanh, 12, "The hyperbolic tangent of `x`.")

// OTHER(name, signature, gradient, doc)
#define OTHER_OPS(OTHER)                                                                           \
  OTHER(Invert, "x: T -> y: T; T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}",     \
        rheos__no_gradient, "Every bit of `x` flipped.")                                           \
  OTHER(IsFinite, "x: T -> y: bool; T: " FLOAT_TYPES, rheos__no_gradient,                          \
        "Whether `x` is neither infinite nor NaN.")                                                \
  OTHER(IsInf, "x: T -> y: bool; T: " FLOAT_TYPES, rheos__no_gradient, "Whether `x` is infinite.") \
  OTHER(IsNan, "x: T -> y: bool; T: " FLOAT_TYPES, rheos__no_gradient, "Whether `x` is NaN.")      \
  OTHER(LogicalNot, "x: bool -> y: bool", rheos__no_gradient, "Whether `x` is false.")             \
  OTHER(PopulationCount,                                                                           \
        "x: T -> y: uint8; T: {int8, int16, int32, int64, uint8, uint16, uint32, uint64}",         \
        rheos__no_gradient, "The number of bits that are set in `x`.")

enum {
#define OP(name, dtypes, gradient, cost, doc) row_##name,
#define OTHER(name, signature, gradient, doc) row_##name,
  OPS(OP) OTHER_OPS(OTHER) NUM_ROWS
#undef OP
#undef OTHER
};

static const rheos__loop loops[NUM_ROWS][RHEOS__NUM_DTYPES] = {
#define ROW(name, dtypes, qualifier, formula) RHEOS__##dtypes(RHEOS__LOOP_ENTRY, name)
    FORMULAS(ROW) TESTS(ROW) COUNTS(ROW)
#undef ROW
#define ROW(name, near, far) RHEOS__FLOATS(RHEOS__LOOP_ENTRY, name)
        ANGLES(ROW)
#undef ROW
};

static rheos_status *prepare(rheos__prepare *p, int row, int cost) {
  const bool divides = row == row_Reciprocal || row == row_Inv;  // the others never fail
  return rheos__prepare_elementwise(p, loops[row][rheos__loop_dtype(p)], cost, 0,
                                    divides ? "Integer division by zero" : NULL);
}

#define DEFINE(op, text, gradient_fn, cost, about)                                            \
  static rheos_status *prepare_##op(rheos__prepare *p) { return prepare(p, row_##op, cost); } \
  const rheos__op_def rheos__op_##op = {                                                      \
      .name = #op,                                                                            \
      .signature = text,                                                                      \
      .doc = about,                                                                           \
      .shape = rheos__shape_unchanged,                                                        \
      .gradient = gradient_fn,                                                                \
      .prepare = prepare_##op,                                                                \
  };
#define OP(name, dtypes, gradient, cost, doc) \
  DEFINE(name, "x: T -> y: T; T: " dtypes, gradient, cost, doc)
OPS(OP)
#define OTHER(name, signature, gradient, doc) DEFINE(name, signature, gradient, 1, doc)
OTHER_OPS(OTHER)
