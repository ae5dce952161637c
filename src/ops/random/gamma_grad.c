// RandomGammaGrad: how a sample of the gamma distribution moves with its parameter, if its place
// among the samples stays: -(dP/da) / (dP/dx) of the regularised incomplete gamma function P(a, x).
#include <math.h>

#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

// The logarithmic derivative of the gamma function: moves up to where its series is exact.
static double digamma_of(double x) {
  double result = 0;
  for (; x < 10; x += 1) result -= 1 / x;
  const double y = 1 / (x * x);
  return result + log(x) - 0.5 / x -
         y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y * (1.0 / 132)))));
}

enum { MAX_TERMS = 2000 };

// P = x^a e^-x / gamma(a + 1) * sum of c_n, c_n = c_(n-1) x / (a + n): for x below a + 1 or so.
static double by_series(double a, double x) {
  double term = 1, sum = 1, term_da = 0, sum_da = 0;
  for (int n = 1; n <= MAX_TERMS; n++) {
    const double r = a + n;
    term_da = term_da * (x / r) - term * x / (r * r);
    term *= x / r;
    sum += term;
    sum_da += term_da;
    if (fabs(term_da) <= 1e-17 * fabs(sum_da)) break;
  }
  return -(sum_da + sum * (log(x) - digamma_of(a + 1))) * x / a;
}

// 1 - P = x^a e^-x / gamma(a) * a continued fraction: its convergents p / q and their derivatives.
static double by_fraction(double a, double x) {
  double y = 1 - a, z = x + y + 1;
  double p2 = 1, q2 = x, p1 = x + 1, q1 = z * x;
  double p2_da = 0, q2_da = 0, p1_da = 0, q1_da = -x;
  double value = p1 / q1, value_da = (p1_da - value * q1_da) / q1;
  for (int c = 1; c <= MAX_TERMS; c++) {
    y += 1;
    z += 2;
    const double yc = y * c;
    const double p = p1 * z - p2 * yc, q = q1 * z - q2 * yc;
    const double p_da = p1_da * z - p1 - p2_da * yc + p2 * c;
    const double q_da = q1_da * z - q1 - q2_da * yc + q2 * c;
    const double before = value_da;
    if (q != 0) {
      value = p / q;
      value_da = (p_da - value * q_da) / q;
      if (fabs(value_da - before) <= 1e-16 * fabs(value_da)) break;
    }
    const double scale = fabs(p) > 0x1p52 ? 0x1p-52 : 1;
    p2 = p1 * scale, q2 = q1 * scale, p2_da = p1_da * scale, q2_da = q1_da * scale;
    p1 = p * scale, q1 = q * scale, p1_da = p_da * scale, q1_da = q_da * scale;
  }
  return x * (value_da + value * (log(x) - digamma_of(a)));
}

static double sample_derivative(double a, double x) {
  if (x == 0) return 0;
  if (!(x > 0) || !(a > 0)) return NAN;
  return x > 1 && x > a ? by_fraction(a, x) : by_series(a, x);
}

#define DERIVATIVES(type)                                                                 \
  static int loop_##type(const void *const *in, void *out, int64_t n, unsigned repeated,  \
                         double parameter) {                                              \
    const type *a = in[0], *x = in[1];                                                    \
    (void)parameter;                                                                      \
    for (int64_t i = 0; i < n; i++) {                                                     \
      const double alpha = (double)a[repeated & 1 ? 0 : i];                               \
      ((type *)out)[i] = (type)sample_derivative(alpha, (double)x[repeated & 2 ? 0 : i]); \
    }                                                                                     \
    return 0;                                                                             \
  }
DERIVATIVES(float)
DERIVATIVES(double)

static rheos_status *prepare(rheos__prepare *p) {
  const rheos__loop loop = p->output_dtypes[0] == RHEOS_FLOAT ? loop_float : loop_double;
  return rheos__prepare_elementwise(p, loop, 500, 0, NULL);
}

const rheos__op_def rheos__op_RandomGammaGrad = {
    .name = "RandomGammaGrad",
    .signature = "alpha: T, sample: T -> output: T; T: {float, double}",
    .doc = "The derivative of a `sample` of the gamma distribution with respect to its `alpha`.",
    .shape = rheos__shape_broadcast_2,
    .prepare = prepare,
};
