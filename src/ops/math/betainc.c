// Betainc: the incomplete beta function, of three tensors of one shape, or scalars among them.
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"
#include "ops/kit/special_math.h"

#define BETAINC_LOOP(S, name)                                                                    \
  static int name##_##S(const void *const *in, void *out, int64_t n, unsigned repeated,          \
                        double parameter) {                                                      \
    (void)parameter;                                                                             \
    const rheos__stored_##S *as = in[0], *bs = in[1], *xs = in[2];                               \
    rheos__stored_##S *zs = out;                                                                 \
    const int64_t a_step = !(repeated & 1), b_step = !(repeated & 2), x_step = !(repeated & 4);  \
    for (int64_t i = 0; i < n; i++) {                                                            \
      zs[i] = (rheos__stored_##S)rheos__betainc(as[i * a_step], bs[i * b_step], xs[i * x_step]); \
    }                                                                                            \
    return 0;                                                                                    \
  }
RHEOS__REALS(BETAINC_LOOP, betainc)

#define BETAINC_FORMULA(S, name)                           \
  {name##_##S,                                             \
   "rheos__betainc(x, y, z)",                              \
   3,                                                      \
   {RHEOS__DTYPE_##S, RHEOS__DTYPE_##S, RHEOS__DTYPE_##S}, \
   RHEOS__DTYPE_##S},
RHEOS__FORMULAS(betainc, RHEOS__REALS(BETAINC_FORMULA, betainc));

static rheos_status *shape_betainc(rheos__infer *c) {
  rheos_shape *out = &c->output_shapes[0], merged = RHEOS_UNKNOWN_SHAPE;
  bool unknown = false;
  int32_t tensors = 0;
  for (int32_t k = 0; k < 3; k++) {
    unknown = unknown || c->input_shapes[k].rank < 0;
    if (c->input_shapes[k].rank <= 0) continue;
    const rheos_shape so_far = merged;
    tensors++;
    RHEOS_TRY(rheos__shape_merge(&so_far, &c->input_shapes[k], &merged));
  }
  if (tensors > 0) {
    *out = merged;
  } else if (!unknown) {
    *out = RHEOS_SCALAR;
  }
  return NULL;
}

static rheos_status *prepare_betainc(rheos__prepare *p) {
  const rheos__loop loop = p->input_dtypes[0] == RHEOS_FLOAT ? betainc_float : betainc_double;
  return rheos__prepare_elementwise(p, loop, 400, 0, "");
}

// x^(a-1) (1-x)^(b-1) / beta(a, b), by logarithms; none is defined by a and b. Xlogy(b - 1, 1 - x)
// is what tends to 0 with b - 1.
static void grad_betainc(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dz = rheos__grad_dense(g, 0);
  const rheos_output a = g->inputs[0], b = g->inputs[1], x = g->inputs[2];
  const rheos__unbroadcast u = rheos__unbroadcast_always(s, g->outputs[0], x);
  const rheos_output both =
      rheos__py_add(s, rheos__op_1(s, "Lgamma", a), rheos__op_1(s, "Lgamma", b));
  const rheos_output sum = rheos__py_add(s, a, b);
  const rheos_output log_beta = rheos__py_sub(s, both, rheos__op_1(s, "Lgamma", sum));
  const rheos_output b_less = rheos__op_with_number(s, "Sub", "sub", b, 1);
  const rheos_output rest = rheos__op_of_number(s, "Sub", "sub", 1, x);
  const rheos_output a_less = rheos__op_with_number(s, "Sub", "sub", a, 1);
  const rheos_output powers = rheos__py_add(s, rheos__named_2(s, "Xlogy", "Xlogy", b_less, rest),
                                            rheos__named_2(s, "Xlogy", "Xlogy", a_less, x));
  const rheos_output density = rheos__op_1(s, "Exp", rheos__py_sub(s, powers, log_beta));
  rheos__grad_set(g, 2, rheos__unbroadcast_to(s, &u, 1, rheos__py_mul(s, density, dz)));
}

const rheos__op_def rheos__op_Betainc = {
    .name = "Betainc",
    .signature = "a: T, b: T, x: T -> z: T; T: {float, double}",
    .doc = "The integral of t^(`a`-1) (1-t)^(`b`-1) from 0 to `x`, divided by that up to 1.",
    .shape = shape_betainc,
    .gradient = grad_betainc,
    .prepare = prepare_betainc,
};
