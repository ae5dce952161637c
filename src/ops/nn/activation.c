// Activations, and the ops that are gradients of a function of one number: rows as in unary.c.
// A gradient op takes two values of the same shape: those of y or x, and what arrives at y.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <complex.h>
#include <math.h>
#include <tgmath.h>

#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"
#include "ops/kit/vector_math.h"

// The two numbers that keep mean 0 and variance 1 from layer to layer (Klambauer et al., 2017):
// scale, and scale times alpha.
#define SELU_SCALE 1.0507009873554804934193349852946
#define SELU_SCALE_ALPHA 1.7580993408473768599402175208123

// ---- Formulas: ROW(op, dtypes, qualifier, formula). Comparisons let NaN through.
#define FORMULAS(ROW)                                                    \
  ROW(Relu, FLOATS, RHEOS__WIDE, x < 0 ? 0 : x)                          \
  ROW(Relu, SIGNED, , x < 0 ? 0 : x)                                     \
  ROW(Relu, UNSIGNED, , x)                                               \
  ROW(Relu6, FLOATS, RHEOS__WIDE, x < 0 ? 0 : x > 6 ? 6 : x)             \
  ROW(Relu6, SIGNED, , x < 0 ? 0 : x > 6 ? 6 : x)                        \
  ROW(Relu6, UNSIGNED, , x > 6 ? 6 : x)                                  \
  ROW(LeakyRelu, FLOATS, RHEOS__WIDE, x > 0 ? x : x * (C)parameter)      \
  ROW(Elu, FLOATS, RHEOS__WIDEST, x < 0 ? RHEOS__EXPM1(x) : x)           \
  ROW(Selu, FLOATS, RHEOS__WIDE,                                         \
      x < 0 ? (C)SELU_SCALE_ALPHA * RHEOS__EXPM1(x) : (C)SELU_SCALE * x) \
  ROW(Softplus, FLOATS, RHEOS__WIDEST, RHEOS__SOFTPLUS(x))               \
  ROW(Softsign, FLOATS, RHEOS__WIDE, x / (1 + fabs(x)))

// y is the second input: what arrived (x is the function's value), or the features (x arrived).
// Where nothing arrives, nothing goes on, even at a pole. Relu multiplies: NaN goes through zeros.
#define GRADIENT_FORMULAS(ROW)                                                                  \
  ROW(InvGrad, FLOATS, RHEOS__WIDE, y == 0 ? 0 : -y * x * x)                                    \
  ROW(ReciprocalGrad, FLOATS, RHEOS__WIDE, y == 0 ? 0 : -y * x * x)                             \
  ROW(SqrtGrad, FLOATS, RHEOS__WIDE, y == 0 ? 0 : (C)0.5 * y / x)                               \
  ROW(RsqrtGrad, FLOATS, RHEOS__WIDE, y == 0 ? 0 : (C) - 0.5 * y * x * x * x)                   \
  ROW(InvGrad, COMPLEXES, , y == 0 ? 0 : -y * conj(x) * conj(x))                                \
  ROW(ReciprocalGrad, COMPLEXES, , y == 0 ? 0 : -y * conj(x) * conj(x))                         \
  ROW(SqrtGrad, COMPLEXES, , y == 0 ? 0 : (C)0.5 * y / conj(x))                                 \
  ROW(RsqrtGrad, COMPLEXES, , y == 0 ? 0 : (C) - 0.5 * y * conj(x) * conj(x) * conj(x))         \
  ROW(TanhGrad, COMPLEXES, , y * (1 - x * x))                                                   \
  ROW(SigmoidGrad, COMPLEXES, , y *x * (1 - x))                                                 \
  ROW(TanhGrad, FLOATS, RHEOS__WIDE, y * (1 - x * x))                                           \
  ROW(SigmoidGrad, FLOATS, RHEOS__WIDE, y *x * (1 - x))                                         \
  ROW(ReluGrad, NUMBERS, , x *(y > 0))                                                          \
  ROW(Relu6Grad, NUMBERS, , x *(y > 0 && y < 6))                                                \
  ROW(LeakyReluGrad, FLOATS, RHEOS__WIDE, y > 0 ? x : x * (C)parameter)                         \
  ROW(EluGrad, FLOATS, RHEOS__WIDE, y < 0 ? x * (y + 1) : x)                                    \
  ROW(SeluGrad, FLOATS, RHEOS__WIDE, y < 0 ? x * (y + (C)SELU_SCALE_ALPHA) : x * (C)SELU_SCALE) \
  ROW(SoftplusGrad, FLOATS, RHEOS__WIDEST, x *RHEOS__SIGMOID(y))                                \
  ROW(SoftsignGrad, FLOATS, RHEOS__WIDE, x / ((1 + fabs(y)) * (1 + fabs(y))))

#define ROW(name, dtypes, qualifier, formula) \
  RHEOS__##dtypes(RHEOS__UNARY_LOOP, qualifier, name, formula)
FORMULAS(ROW)
#undef ROW
#define ROW(name, dtypes, qualifier, formula) \
  RHEOS__##dtypes(RHEOS__BINARY_LOOP, qualifier, name, formula)
GRADIENT_FORMULAS(ROW)
#undef ROW

// ---- The formulas as text

#define ROW(name, dtypes, qualifier, formula) RHEOS__##dtypes(RHEOS__UNARY_FORMULA, name, #formula)
#define GRADIENT_ROW(name, dtypes, qualifier, formula) \
  RHEOS__##dtypes(RHEOS__BINARY_FORMULA, name, #formula)
RHEOS__FORMULAS(activation, FORMULAS(ROW) GRADIENT_FORMULAS(GRADIENT_ROW));
#undef GRADIENT_ROW
#undef ROW

// ---- Gradients of the activations

static void grad_by(rheos__grad *g, const char *type, rheos_output of) {
  rheos__grad_set(g, 0, rheos__op_2(g->scope, type, rheos__grad_dense(g, 0), of));
}
static void grad_relu(rheos__grad *g) { grad_by(g, "ReluGrad", g->outputs[0]); }
static void grad_relu6(rheos__grad *g) { grad_by(g, "Relu6Grad", g->outputs[0]); }
static void grad_elu(rheos__grad *g) { grad_by(g, "EluGrad", g->outputs[0]); }
static void grad_selu(rheos__grad *g) { grad_by(g, "SeluGrad", g->outputs[0]); }
static void grad_softsign(rheos__grad *g) { grad_by(g, "SoftsignGrad", g->inputs[0]); }

static rheos_output leaky_relu_grad(rheos__grad *g, rheos_output dy, rheos_output features) {
  const rheos_output inputs[] = {dy, features};
  const rheos_attr alpha = rheos_attr_float("alpha", rheos__attr_float(g->attrs, "alpha"));
  return rheos_operation_output(rheos__op_n(g->scope, "LeakyReluGrad", NULL, inputs, 2, &alpha, 1),
                                0);
}

static void grad_leaky_relu(rheos__grad *g) {
  rheos__grad_set(g, 0, leaky_relu_grad(g, rheos__grad_dense(g, 0), g->inputs[0]));
}

static void grad_softplus(rheos__grad *g) {
  const rheos_output dy = rheos__grad_dense(g, 0);
  const rheos_output slope = rheos__op_1(g->scope, "Sigmoid", g->inputs[0]);
  rheos__grad_set(g, 0, rheos__py_mul(g->scope, dy, slope));
}

// ---- Gradients of the gradients

// Of a function f(a) b with the op TYPE(a, b): factor * g * b * a, and TYPE(a, g).
// Of complex numbers the conjugates: `cg` and `cb` are g and b, one of them conjugated.
static void grad_of_product(rheos__grad *g, const char *type, rheos_output cg, rheos_output cb) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0);
  rheos__push_after_grad(g);
  const rheos_output ca = rheos__conj(s, g->inputs[0]);
  const rheos_output scaled = rheos__op_with_number(s, "Mul", "mul", cg, -2);
  const rheos_output by_b = rheos__py_mul(s, scaled, cb);
  rheos__grad_set(g, 0, rheos__py_mul(s, by_b, ca));
  rheos__grad_set(g, 1, rheos__op_2(s, type, ca, dy));
  rheos_scope_pop(s);
}
static void grad_reciprocal_grad(rheos__grad *g) {
  grad_of_product(g, "ReciprocalGrad", rheos__conj(g->scope, rheos__grad_dense(g, 0)),
                  g->inputs[1]);
}
static void grad_tanh_grad(rheos__grad *g) {
  grad_of_product(g, "TanhGrad", rheos__grad_dense(g, 0), rheos__conj(g->scope, g->inputs[1]));
}

static void grad_sigmoid_grad(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0);
  rheos__push_after_grad(g);
  const rheos_output ca = rheos__conj(s, g->inputs[0]), cb = rheos__conj(s, g->inputs[1]);
  const rheos_output gb = rheos__py_mul(s, dy, cb);
  const rheos_output twice = rheos__op_of_number(s, "Mul", "mul", 2, gb);
  rheos__grad_set(g, 0, rheos__py_sub(s, gb, rheos__py_mul(s, twice, ca)));
  rheos__grad_set(g, 1, rheos__op_2(s, "SigmoidGrad", ca, dy));
  rheos_scope_pop(s);
}

static void grad_sqrt_grad(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0);
  rheos__push_after_grad(g);
  const rheos_output ga = rheos__py_div(s, dy, g->inputs[0]);
  const rheos_output minus = rheos__op_1(s, "Neg", rheos__conj(s, ga));
  rheos__grad_set(g, 0, rheos__py_mul(s, minus, g->outputs[0]));
  rheos__grad_set(g, 1, rheos__op_of_number(s, "Mul", "mul", 0.5, ga));
  rheos_scope_pop(s);
}

static void grad_rsqrt_grad(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0);
  rheos__push_after_grad(g);
  const rheos_output a = rheos__conj(s, g->inputs[0]);
  const rheos_output scaled = rheos__op_of_number(s, "Mul", "mul", -1.5, rheos__conj(s, dy));
  const rheos_output by_b = rheos__py_mul(s, scaled, g->inputs[1]);
  const rheos_output squared = rheos__op_1(s, "Square", a);
  rheos__grad_set(g, 0, rheos__py_mul(s, by_b, squared));
  rheos__grad_set(g, 1, rheos__op_2(s, "RsqrtGrad", a, dy));
  rheos_scope_pop(s);
}

// Piecewise linear functions: the same op for what arrived, nothing for the features.
static void grad_relu_grad(rheos__grad *g) {
  grad_by(g, "ReluGrad", g->inputs[1]);
  rheos__grad_set(g, 1, rheos__zeros_of_shape(g->scope, g->inputs[1]));
}
static void grad_relu6_grad(rheos__grad *g) {
  grad_by(g, "Relu6Grad", g->inputs[1]);
  rheos__grad_set(g, 1, rheos__zeros_of_shape(g->scope, g->inputs[1]));
}
static void grad_leaky_relu_grad(rheos__grad *g) {
  rheos__grad_set(g, 0, leaky_relu_grad(g, rheos__grad_dense(g, 0), g->inputs[1]));
  rheos__grad_set(g, 1, rheos__zeros_of_shape(g->scope, g->inputs[1]));
}

// Where the output is below 0, it still depends on itself: g times what had arrived.
static void grad_of_exponential(rheos__grad *g, const char *type) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0), x = g->inputs[1];
  rheos__grad_set(g, 0, rheos__op_2(s, type, dy, x));
  const rheos_output below = rheos__op_with_number(s, "Less", "Less", x, 0);
  const rheos_output product = rheos__py_mul(s, dy, g->inputs[0]);
  const rheos_output zeros = rheos__zeros_like(s, x);
  rheos__grad_set(g, 1, rheos__op_3(s, "Select", below, product, zeros));
}
static void grad_elu_grad(rheos__grad *g) { grad_of_exponential(g, "EluGrad"); }
static void grad_selu_grad(rheos__grad *g) { grad_of_exponential(g, "SeluGrad"); }

static void grad_softplus_grad(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0), x = g->inputs[1];
  rheos__push_after_grad(g);
  rheos__grad_set(g, 0, rheos__op_2(s, "SoftplusGrad", dy, x));
  const rheos_output product = rheos__py_mul(s, dy, g->inputs[0]);
  const rheos_output down = rheos__op_1(s, "Exp", rheos__op_1(s, "Neg", x));
  const rheos_output partly = rheos__op_with_number(s, "AddV2", "add", down, 2);
  const rheos_output below = rheos__py_add(s, partly, rheos__op_1(s, "Exp", x));
  rheos__grad_set(g, 1, rheos__py_div(s, product, below));
  rheos_scope_pop(s);
}

// ---- Ops: OP(name, dtypes, more attributes, gradient, cost, doc)
#define FLOAT_TYPES "T: {half, bfloat16, float, double}"
#define REAL_TYPES \
  "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
#define RELU_TYPES                                                                                \
  "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, " \
  "qint8}"
#define LEAKY_TYPES "alpha: float = 0.2; T: {half, bfloat16, float, double} = float"
#define COMPLEX_TYPES "T: {bfloat16, half, float, double, complex64, complex128}"

#define OPS(OP)                                                                                 \
  OP(Elu, FLOAT_TYPES, grad_elu, 10, "`features`, and exp(`features`) - 1 below 0.")            \
  OP(LeakyRelu, LEAKY_TYPES, grad_leaky_relu, 2, "`features`, and `alpha` times them below 0.") \
  OP(Relu, RELU_TYPES, grad_relu, 1, "`features`, and 0 below 0.")                              \
  OP(Relu6, REAL_TYPES, grad_relu6, 2, "`features`, and 0 below 0, and 6 above 6.")             \
  OP(Selu, FLOAT_TYPES, grad_selu, 10, "The self-normalising exponential linear unit.")         \
  OP(Softplus, FLOAT_TYPES, grad_softplus, 20, "log(1 + exp(`features`)).")                     \
  OP(Softsign, FLOAT_TYPES, grad_softsign, 6, "`features` / (1 + |`features`|).")

// y is the value of the function, dy what arrives there.
#define VALUE_GRADIENT_OPS(OP)                                                                 \
  OP(InvGrad, COMPLEX_TYPES, grad_reciprocal_grad, 2, "The gradient of Inv at its value `y`.") \
  OP(ReciprocalGrad, COMPLEX_TYPES, grad_reciprocal_grad, 2,                                   \
     "The gradient of Reciprocal at its value `y`.")                                           \
  OP(RsqrtGrad, COMPLEX_TYPES, grad_rsqrt_grad, 4, "The gradient of Rsqrt at its value `y`.")  \
  OP(SigmoidGrad, COMPLEX_TYPES, grad_sigmoid_grad, 3,                                         \
     "The gradient of Sigmoid at its value `y`.")                                              \
  OP(SqrtGrad, COMPLEX_TYPES, grad_sqrt_grad, 5, "The gradient of Sqrt at its value `y`.")     \
  OP(TanhGrad, COMPLEX_TYPES, grad_tanh_grad, 3, "The gradient of Tanh at its value `y`.")

#define OUTPUT_GRADIENT_OPS(OP)                                                             \
  OP(EluGrad, FLOAT_TYPES, grad_elu_grad, 3, "The gradient of Elu at its value `outputs`.") \
  OP(SeluGrad, FLOAT_TYPES, grad_selu_grad, 3, "The gradient of Selu at its value `outputs`.")

#define FEATURE_GRADIENT_OPS(OP)                                                                   \
  OP(LeakyReluGrad, LEAKY_TYPES, grad_leaky_relu_grad, 2,                                          \
     "The gradient of LeakyRelu at `features`.")                                                   \
  OP(Relu6Grad, REAL_TYPES, grad_relu6_grad, 2,                                                    \
     "The gradient of Relu6 at `features`, or at its value.")                                      \
  OP(ReluGrad, REAL_TYPES, grad_relu_grad, 1,                                                      \
     "The gradient of Relu at `features`, or at its value.")                                       \
  OP(SoftplusGrad, FLOAT_TYPES, grad_softplus_grad, 12, "The gradient of Softplus at `features`.") \
  OP(SoftsignGrad, FLOAT_TYPES, NULL, 6, "The gradient of Softsign at `features`.")

enum {
#define OP(name, attributes, gradient, cost, doc) row_##name,
  OPS(OP) VALUE_GRADIENT_OPS(OP) OUTPUT_GRADIENT_OPS(OP) FEATURE_GRADIENT_OPS(OP) NUM_ROWS
#undef OP
};

static const rheos__loop loops[NUM_ROWS][RHEOS__NUM_DTYPES] = {
#define ROW(name, dtypes, qualifier, formula) RHEOS__##dtypes(RHEOS__LOOP_ENTRY, name)
    FORMULAS(ROW) GRADIENT_FORMULAS(ROW)
#undef ROW
};

// As the dtype holds it.
static float alpha_of(const rheos__prepare *p) {
  const rheos_attr_value *alpha = rheos__attrs_find(p->attrs, "alpha");
  if (alpha == NULL) return 0;
  switch (p->input_dtypes[0]) {
    case RHEOS_HALF: return rheos__half_to_float(rheos__float_to_half(alpha->f));
    case RHEOS_BFLOAT16: return rheos__bfloat16_to_float(rheos__float_to_bfloat16(alpha->f));
    default: return alpha->f;
  }
}

static rheos_status *prepare(rheos__prepare *p, int row, int cost) {
  return rheos__prepare_elementwise(p, loops[row][rheos__loop_dtype(p)], cost, (double)alpha_of(p),
                                    "");
}

#define DEFINE(op, text, gradient_fn, shape_fn, cost, about)                                  \
  static rheos_status *prepare_##op(rheos__prepare *p) { return prepare(p, row_##op, cost); } \
  const rheos__op_def rheos__op_##op = {                                                      \
      .name = #op,                                                                            \
      .signature = text,                                                                      \
      .doc = about,                                                                           \
      .shape = shape_fn,                                                                      \
      .gradient = gradient_fn,                                                                \
      .prepare = prepare_##op,                                                                \
  };
#define OP(name, attributes, gradient, cost, doc)                                              \
  DEFINE(name, "features: T -> activations: T; " attributes, gradient, rheos__shape_unchanged, \
         cost, doc)
OPS(OP)
#undef OP
#define OP(name, attributes, gradient, cost, doc) \
  DEFINE(name, "y: T, dy: T -> z: T; " attributes, gradient, rheos__shape_merge_2, cost, doc)
VALUE_GRADIENT_OPS(OP)
#undef OP
#define OP(name, attributes, gradient, cost, doc)                                 \
  DEFINE(name, "gradients: T, outputs: T -> backprops: T; " attributes, gradient, \
         rheos__shape_merge_2, cost, doc)
OUTPUT_GRADIENT_OPS(OP)
#undef OP
#define OP(name, attributes, gradient, cost, doc)                                  \
  DEFINE(name, "gradients: T, features: T -> backprops: T; " attributes, gradient, \
         rheos__shape_merge_2, cost, doc)
FEATURE_GRADIENT_OPS(OP)
