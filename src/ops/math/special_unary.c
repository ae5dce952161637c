// Bessel functions, integrals and the dilogarithm as elementwise ops: one row each, and the
// gradients.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <math.h>

#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"
#include "ops/kit/special_math.h"

// OP(name, function, gradient, doc)
#define OPS(OP)                                                                              \
  OP(BesselI0, rheos__bessel_i0, grad_i0, "The modified Bessel function of order 0 of `x`.") \
  OP(BesselI1, rheos__bessel_i1, grad_i1, "The modified Bessel function of order 1 of `x`.") \
  OP(BesselJ0, rheos__bessel_j0, grad_j0, "The Bessel function of order 0 of `x`.")          \
  OP(BesselJ1, rheos__bessel_j1, grad_j1, "The Bessel function of order 1 of `x`.")          \
  OP(BesselK0, rheos__bessel_k0, grad_k0,                                                    \
     "The modified Bessel function of the second kind of order 0 of `x`.")                   \
  OP(BesselK0e, rheos__bessel_k0e, grad_k0e,                                                 \
     "exp(`x`) times the modified Bessel function of the second kind of order 0 of `x`.")    \
  OP(BesselK1, rheos__bessel_k1, grad_k1,                                                    \
     "The modified Bessel function of the second kind of order 1 of `x`.")                   \
  OP(BesselK1e, rheos__bessel_k1e, grad_k1e,                                                 \
     "exp(`x`) times the modified Bessel function of the second kind of order 1 of `x`.")    \
  OP(BesselY0, rheos__bessel_y0, grad_y0,                                                    \
     "The Bessel function of the second kind of order 0 of `x`.")                            \
  OP(BesselY1, rheos__bessel_y1, grad_y1,                                                    \
     "The Bessel function of the second kind of order 1 of `x`.")                            \
  OP(Dawsn, rheos__dawson, grad_dawson, "Dawson's integral from 0 to `x`.")                  \
  OP(Expint, rheos__expint, grad_expint, "The exponential integral Ei of a positive `x`.")   \
  OP(FresnelCos, rheos__fresnel_cos, grad_fresnel_cos,                                       \
     "The integral of cos(pi t^2 / 2) from 0 to `x`.")                                       \
  OP(FresnelSin, rheos__fresnel_sin, grad_fresnel_sin,                                       \
     "The integral of sin(pi t^2 / 2) from 0 to `x`.")                                       \
  OP(Spence, rheos__spence, grad_spence, "The dilogarithm of 1 - `x`.")

#define DTYPE_LOOP(S, name, function) RHEOS__UNARY_LOOP(S, , name, function(x))
#define OP(name, function, gradient, doc) RHEOS__FLOATS(DTYPE_LOOP, name, function)
OPS(OP)
#undef OP

#define OP(name, function, gradient, doc) RHEOS__FLOATS(RHEOS__UNARY_FORMULA, name, #function "(x)")
RHEOS__FORMULAS(special_unary, OPS(OP));
#undef OP

// ---- Gradients

// g times the slope, which is made after g is there.
static rheos_output begin(rheos__grad *g) {
  const rheos_output dy = rheos__grad_dense(g, 0);
  rheos__push_after_grad(g);
  return dy;
}
static void finish(rheos__grad *g, rheos_output dy, rheos_output slope) {
  rheos__grad_set(g, 0, rheos__py_mul(g->scope, dy, slope));
  rheos_scope_pop(g->scope);
}

// Another function of x is the slope, or its negative.
static void grad_by(rheos__grad *g, const char *type, bool minus) {
  const rheos_output dy = begin(g);
  rheos_output slope = rheos__op_1(g->scope, type, g->inputs[0]);
  if (minus) slope = rheos__op_1(g->scope, "Neg", slope);
  finish(g, dy, slope);
}
static void grad_i0(rheos__grad *g) { grad_by(g, "BesselI1", false); }
static void grad_j0(rheos__grad *g) { grad_by(g, "BesselJ1", true); }
static void grad_k0(rheos__grad *g) { grad_by(g, "BesselK1", true); }
static void grad_y0(rheos__grad *g) { grad_by(g, "BesselY1", true); }

static rheos_output y_over_x(rheos__grad *g) {
  return rheos__named_2(g->scope, "RealDiv", "div", g->outputs[0], g->inputs[0]);
}

// f(x) - y / x, and at 0 (where that is no number) the limit.
static void grad_of_order_1(rheos__grad *g, const char *type, double at_0) {
  rheos_scope *s = g->scope;
  const rheos_output dy = begin(g), x = g->inputs[0];
  rheos_output slope = rheos__py_sub(s, rheos__op_1(s, type, x), y_over_x(g));
  if (at_0 != 0) {
    const rheos_output is_0 = rheos__op_with_number(s, "Equal", "Equal", x, 0);
    const rheos_output limit = rheos__const_scalar(s, rheos_output_dtype(x), at_0, "Const");
    slope = rheos__op_3(s, "SelectV2", is_0, limit, slope);
  }
  finish(g, dy, slope);
}
static void grad_i1(rheos__grad *g) { grad_of_order_1(g, "BesselI0", 1); }
static void grad_j1(rheos__grad *g) { grad_of_order_1(g, "BesselJ0", 0.5); }
static void grad_y1(rheos__grad *g) { grad_of_order_1(g, "BesselY0", 0); }

static void grad_k1(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = begin(g);
  const rheos_output minus = rheos__op_1(s, "Neg", rheos__op_1(s, "BesselK0", g->inputs[0]));
  finish(g, dy, rheos__py_sub(s, minus, y_over_x(g)));
}

static void grad_k0e(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = begin(g);
  finish(g, dy, rheos__py_sub(s, g->outputs[0], rheos__op_1(s, "BesselK1e", g->inputs[0])));
}

// y (1 - 1 / x) - k0e(x)
static void grad_k1e(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = begin(g);
  const rheos_output inverse = rheos__op_1(s, "Reciprocal", g->inputs[0]);
  const rheos_output factor = rheos__op_of_number(s, "Sub", "sub", 1, inverse);
  const rheos_output part = rheos__py_mul(s, g->outputs[0], factor);
  finish(g, dy, rheos__py_sub(s, part, rheos__op_1(s, "BesselK0e", g->inputs[0])));
}

// 1 - 2 x y
static void grad_dawson(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = begin(g);
  const rheos_output twice = rheos__op_of_number(s, "Mul", "mul", 2, g->inputs[0]);
  const rheos_output product = rheos__py_mul(s, twice, g->outputs[0]);
  finish(g, dy, rheos__op_of_number(s, "Sub", "sub", 1, product));
}

static void grad_expint(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = begin(g);
  const rheos_output whole = rheos__py_mul(s, dy, rheos__op_1(s, "Exp", g->inputs[0]));
  rheos__grad_set(g, 0, rheos__py_div(s, whole, g->inputs[0]));
  rheos_scope_pop(s);
}

// The function under the integral.
static void grad_fresnel(rheos__grad *g, const char *type) {
  rheos_scope *s = g->scope;
  const rheos_output dy = begin(g);
  const rheos_output square = rheos__op_1(s, "Square", g->inputs[0]);
  const rheos_output phase = rheos__op_of_number(s, "Mul", "mul", M_PI / 2, square);
  finish(g, dy, rheos__op_1(s, type, phase));
}
static void grad_fresnel_cos(rheos__grad *g) { grad_fresnel(g, "Cos"); }
static void grad_fresnel_sin(rheos__grad *g) { grad_fresnel(g, "Sin"); }

// log x / (1 - x), and -1 at 1
static void grad_spence(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = begin(g), x = g->inputs[0];
  const rheos_output below = rheos__op_of_number(s, "Sub", "sub", 1, x);
  const rheos_output slope = rheos__py_div(s, rheos__op_1(s, "Log", x), below);
  const rheos_output is_1 = rheos__op_with_number(s, "Equal", "Equal", x, 1);
  const rheos_output limit = rheos__op_1(s, "Neg", rheos__ones_like(s, x));
  finish(g, dy, rheos__op_3(s, "SelectV2", is_1, limit, slope));
}

// ---- Ops

enum {
#define OP(name, function, gradient, doc) row_##name,
  OPS(OP) NUM_ROWS
#undef OP
};

#define DTYPE_ENTRY(S, name) RHEOS__LOOP_ENTRY(S, name)
static const rheos__loop loops[NUM_ROWS][RHEOS__NUM_DTYPES] = {
#define OP(name, function, gradient, doc) RHEOS__FLOATS(DTYPE_ENTRY, name)
    OPS(OP)
#undef OP
};

static rheos_status *prepare(rheos__prepare *p, int row) {
  return rheos__prepare_elementwise(p, loops[row][rheos__loop_dtype(p)], 200, 0, "");
}

#define OP(op, function, gradient_fn, about)                                            \
  static rheos_status *prepare_##op(rheos__prepare *p) { return prepare(p, row_##op); } \
  const rheos__op_def rheos__op_##op = {                                                \
      .name = #op,                                                                      \
      .signature = "x: T -> y: T; T: {bfloat16, half, float, double}",                  \
      .doc = about,                                                                     \
      .shape = rheos__shape_unchanged,                                                  \
      .gradient = gradient_fn,                                                          \
      .prepare = prepare_##op,                                                          \
  };
OPS(OP)
