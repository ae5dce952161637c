// Complex numbers from their parts and back: loops like those of the other elementwise ops, between
// the dtype of the parts and that of the whole.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <math.h>
#include <tgmath.h>

#include "base/complex.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

// ---- Loops. S is the complex dtype, and Z that of its parts.
#define PART_LOOPS(LOOP, qualifier, name, formula) \
  LOOP(complex64, float, qualifier, name, formula) \
  LOOP(complex128, double, qualifier, name, formula)
PART_LOOPS(RHEOS__UNARY_LOOP_TO, , Real, creal(x))
PART_LOOPS(RHEOS__UNARY_LOOP_TO, , Imag, cimag(x))
PART_LOOPS(RHEOS__UNARY_LOOP_TO, , Angle, carg(x))
PART_LOOPS(RHEOS__UNARY_LOOP_TO, , ComplexAbs, fabs(x))
RHEOS__COMPLEXES(RHEOS__UNARY_LOOP, , Conj, conj(x))

static inline float _Complex joined_float(float x, float y) { return CMPLXF(x, y); }
static inline double _Complex joined_double(double x, double y) { return CMPLX(x, y); }
RHEOS__BINARY_LOOP_TO(float, complex64, , Complex, joined_float(x, y))
RHEOS__BINARY_LOOP_TO(double, complex128, , Complex, joined_double(x, y))

// ---- Gradients

static rheos_attr parts_attr(rheos_dtype whole) {
  return rheos_attr_type("Tout", whole == RHEOS_COMPLEX128 ? RHEOS_DOUBLE : RHEOS_FLOAT);
}

static rheos_output part_of(rheos_scope *s, const char *type, rheos_output x) {
  if (!rheos__is_some(x)) return x;
  const rheos_attr out = parts_attr(rheos_output_dtype(x));
  return rheos_operation_output(rheos__op_n(s, type, NULL, &x, 1, &out, 1), 0);
}

static rheos_output joined(rheos_scope *s, rheos_output real, rheos_output imaginary) {
  if (!rheos__is_some(real) || !rheos__is_some(imaginary)) return (rheos_output){0};
  const rheos_output inputs[] = {real, imaginary};
  const bool wide = rheos_output_dtype(real) == RHEOS_DOUBLE;
  const rheos_attr out = rheos_attr_type("Tout", wide ? RHEOS_COMPLEX128 : RHEOS_COMPLEX64);
  return rheos_operation_output(rheos__op_n(s, "Complex", NULL, inputs, 2, &out, 1), 0);
}

static rheos_output zero_like_scalar(rheos_scope *s, rheos_output x) {
  return rheos__is_some(x) ? rheos__const_scalar(s, rheos_output_dtype(x), 0, "Const") : x;
}

static void grad_complex(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0), x = g->inputs[0], y = g->inputs[1];
  const rheos_output real = part_of(s, "Real", dz), imaginary = part_of(s, "Imag", dz);
  const rheos__unbroadcast u = rheos__unbroadcast_always(s, x, y);
  rheos__grad_set(g, 0, rheos__unbroadcast_to(s, &u, 0, real));
  rheos__grad_set(g, 1, rheos__unbroadcast_to(s, &u, 1, imaginary));
}

static void grad_real(rheos__grad *g) {
  const rheos_output dz = rheos__grad_dense(g, 0);
  rheos__grad_set(g, 0, joined(g->scope, dz, zero_like_scalar(g->scope, dz)));
}

static void grad_imag(rheos__grad *g) {
  const rheos_output dz = rheos__grad_dense(g, 0);
  rheos__grad_set(g, 0, joined(g->scope, zero_like_scalar(g->scope, dz), dz));
}

static void grad_conj(rheos__grad *g) {
  rheos__grad_set(g, 0, rheos__op_1(g->scope, "Conj", rheos__grad_dense(g, 0)));
}

// -g / (im + i re)
static void grad_angle(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0), x = g->inputs[0];
  rheos__push_after_grad(g);
  const rheos_output real = part_of(s, "Real", x), imaginary = part_of(s, "Imag", x);
  const rheos_output inverse = rheos__op_1(s, "Reciprocal", joined(s, imaginary, real));
  const rheos_output whole = joined(s, dz, zero_like_scalar(s, dz));
  rheos__grad_set(g, 0, rheos__py_mul(s, rheos__op_1(s, "Neg", whole), inverse));
  rheos_scope_pop(s);
}

// g x / |x|, and 0 at 0
static void grad_complex_abs(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0);
  const rheos_output above = rheos__py_mul(s, joined(s, dz, zero_like_scalar(s, dz)), g->inputs[0]);
  const rheos_output below = joined(s, g->outputs[0], zero_like_scalar(s, g->outputs[0]));
  rheos__grad_set(g, 0, rheos__named_2(s, "DivNoNan", "div_no_nan", above, below));
}

// ---- Ops

// `part` is the dtype of the parts: the attributes say both, so they may disagree.
static rheos_status *prepare_by(rheos__prepare *p, rheos_dtype whole, rheos_dtype part,
                                rheos__loop narrow, rheos__loop wide, int cost) {
  const bool is_wide = whole == RHEOS_COMPLEX128;
  if (is_wide != (part == RHEOS_DOUBLE)) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "%s does not go with %s", rheos_dtype_name(whole),
                            rheos_dtype_name(part));
  }
  return rheos__prepare_elementwise(p, is_wide ? wide : narrow, cost, 0, "");
}

#define PART_OP(op, argument, result, gradient_fn, cost, about)                                    \
  static rheos_status *prepare_##op(rheos__prepare *p) {                                           \
    return prepare_by(p, p->input_dtypes[0], p->output_dtypes[0], op##_complex64, op##_complex128, \
                      cost);                                                                       \
  }                                                                                                \
  const rheos__op_def rheos__op_##op = {                                                           \
      .name = #op,                                                                                 \
      .signature = argument                                                                        \
      ": T -> " result                                                                             \
      ": Tout; T: {complex64, complex128} = complex64; Tout: {float, double} = float",             \
      .doc = about,                                                                                \
      .shape = rheos__shape_unchanged,                                                             \
      .gradient = gradient_fn,                                                                     \
      .prepare = prepare_##op,                                                                     \
  };
PART_OP(Real, "input", "output", grad_real, 1, "The real part of `input`.")
PART_OP(Imag, "input", "output", grad_imag, 1, "The imaginary part of `input`.")
PART_OP(Angle, "input", "output", grad_angle, 20, "The angle of `input` in the complex plane.")
PART_OP(ComplexAbs, "x", "y", grad_complex_abs, 8, "The absolute value of `x`.")

static rheos_status *prepare_Complex(rheos__prepare *p) {
  return prepare_by(p, p->output_dtypes[0], p->input_dtypes[0], Complex_float, Complex_double, 1);
}

const rheos__op_def rheos__op_Complex = {
    .name = "Complex",
    .signature =
        "real: T, imag: T -> out: Tout; T: {float, double} = float; "
        "Tout: {complex64, complex128} = complex64",
    .doc = "The complex numbers `real` + i `imag`.",
    .shape = rheos__shape_broadcast_2,
    .gradient = grad_complex,
    .prepare = prepare_Complex,
};

static rheos_status *prepare_Conj(rheos__prepare *p) {
  const bool wide = p->input_dtypes[0] == RHEOS_COMPLEX128;
  if (!rheos_dtype_is_complex(p->input_dtypes[0])) return rheos__no_kernel(p, p->input_dtypes[0]);
  return rheos__prepare_elementwise(p, wide ? Conj_complex128 : Conj_complex64, 1, 0, "");
}

const rheos__op_def rheos__op_Conj = {
    .name = "Conj",
    .signature = "input: T -> output: T; T: {complex64, complex128, variant} = complex64",
    .doc = "The complex conjugate of `input`.",
    .shape = rheos__shape_unchanged,
    .gradient = grad_conj,
    .prepare = prepare_Conj,
};
