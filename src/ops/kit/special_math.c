// Special functions by textbook methods, each named where it is used. Series and recurrences only:
// no tables of fitted coefficients. The file is also part of programs for graphics cards, so what
// it calls has the names and the argument types of OpenCL's C, which has no recursion.
#ifdef __OPENCL_VERSION__
#define FIXED constant
#else
#include "ops/kit/special_math.h"

#include <math.h>
#include <stdbool.h>
#define FIXED static const
#endif

double rheos__lgamma(double x) {
  int sign;
  return isinf(x) ? INFINITY : lgamma_r(x, &sign);
}

// B(2j) / (2j)! for j = 1, 2, ...: the coefficients of Euler and Maclaurin's sum formula.
FIXED double bernoulli[] = {
    1.0 / 12,
    -1.0 / 720,
    1.0 / 30240,
    -1.0 / 1209600,
    1.0 / 47900160,
    -691.0 / 1307674368000.0,
    1.0 / 74724249600.0,
    -3617.0 / 10670622842880000.0,
    43867.0 / 5109094217170944000.0,
    -174611.0 / 802857662698291200000.0,
};
enum { NUM_BERNOULLI = sizeof bernoulli / sizeof *bernoulli };

// Recurrence up to x >= 10, then Stirling's series: log x - 1/(2x) - sum B(2j) / (2j x^2j).
double rheos__digamma(double x) {
  if (isnan(x) || x == -INFINITY) return NAN;
  if (x == INFINITY) return x;
  if (x <= 0 && x == floor(x)) return NAN;  // a pole, with both signs on its sides
  double sum = 0;
  if (x < 0) {  // reflection
    const double part = x - floor(x);
    sum = -M_PI / tan(M_PI * part);
    if (part == 0.5) sum = 0;
    x = 1 - x;
  }
  for (; x < 10; x += 1) sum -= 1 / x;
  const double z = 1 / (x * x);
  double factorial = 1, power = z, tail = 0;  // (2j - 1)!
  for (int j = 1; j <= 8; j++) {
    tail += bernoulli[j - 1] * factorial * power;
    factorial *= (2.0 * j) * (2.0 * j + 1);
    power *= z;
  }
  return sum + (log(x) - 0.5 / x - tail);
}

// For q > 0: ten terms, then the sum formula of Euler and Maclaurin.
static double zeta_of_positive(double x, double q) {
  double sum = 0, term = 0;
  for (int k = 0; k < 10; k++) {
    term = pow(q + k, -x);
    sum += term;
    if (k > 0 && term < sum * 1e-18) return sum;
  }
  const double a = q + 10, power = pow(a, -x);
  sum += power * a / (x - 1) + 0.5 * power;
  double factor = x * power / a;
  for (int j = 1; j <= NUM_BERNOULLI; j++) {
    const double part = bernoulli[j - 1] * factor;
    sum += part;
    if (fabs(part) < fabs(sum) * 1e-18) break;
    factor *= (x + 2 * j - 1) * (x + 2 * j) / (a * a);
  }
  return sum;
}

double rheos__zeta(double x, double q) {
  if (isnan(x) || isnan(q) || x < 1) return NAN;
  if (x == 1) return INFINITY;
  if (q == (double)INFINITY) return 0;
  if (q > 0) return zeta_of_positive(x, q);
  const bool even = fmod(x, 2.0) == 0;
  if (q == floor(q)) return even ? INFINITY : NAN;
  if (x != floor(x)) return NAN;  // a negative number to a broken power
  // The terms left of 0 are those of another sum, mirrored: all to the left of the fraction f, less
  // those beyond q.
  const double f = q - floor(q);
  const double left = zeta_of_positive(x, 1 - f) - zeta_of_positive(x, 1 - q);
  return zeta_of_positive(x, f) + (even ? left : -left);
}

double rheos__polygamma(double n, double x) {
  if (!(n >= 0) || n != floor(n)) return NAN;
  if (n == 0) return rheos__digamma(x);
  const double size = tgamma(n + 1) * rheos__zeta(n + 1, x);
  return fmod(n, 2.0) == 1 ? size : -size;
}

// ---- Incomplete gamma functions

enum { GAMMA_TERMS = 20000 };
#define LARGE_A 1e7  // from here on the series would be too long

// x^a e^-x / gamma(a + 1)
static double gamma_term(double a, double x) { return exp(a * log(x) - x - rheos__lgamma(a + 1)); }

// From 0 to x by the series x^n / ((a + 1) ... (a + n)); for x < a + 1.
static double gamma_series(double a, double x) {
  double sum = 1, term = 1;
  for (int n = 1; n < GAMMA_TERMS && term > sum * 1e-17; n++) {
    term *= x / (a + n);
    sum += term;
  }
  return sum * gamma_term(a, x);
}

// From x on by the continued fraction (Abramowitz & Stegun 6.5.31), evaluated by Lentz's method.
static double gamma_fraction(double a, double x) {
  const double tiny = 1e-300;
  double b = x + 1 - a, c = 1 / tiny, d = 1 / (b == 0 ? tiny : b), h = d;
  for (int n = 1; n < GAMMA_TERMS; n++) {
    const double an = -n * (n - a);
    b += 2;
    d = an * d + b;
    d = 1 / (d == 0 ? tiny : d);
    c = b + an / c;
    if (c == 0) c = tiny;
    h *= d * c;
    if (fabs(d * c - 1) < 1e-16) break;
  }
  return h * gamma_term(a, x) * a;
}

// From x on for large a: the first terms of Temme's uniform expansion (1979).
static double gamma_of_large(double a, double x) {
  const double mu = (x - a) / a;
  const double halved = mu - log1p(mu);  // eta^2 / 2
  const double eta = copysign(sqrt(2 * (halved > 0 ? halved : 0)), mu);
  const double correction = fabs(eta) < 1e-3 ? -1.0 / 3 + eta / 12 : 1 / mu - 1 / eta;
  return 0.5 * erfc(eta * sqrt(a / 2)) + correction * exp(-a * halved) / sqrt(2 * M_PI * a);
}

static bool gamma_defined(double a, double x) { return x >= 0 && a > 0; }

double rheos__igamma(double a, double x) {
  if (!gamma_defined(a, x)) return NAN;
  if (x == 0 || isinf(a)) return 0;
  if (isinf(x)) return 1;
  if (a > LARGE_A) return 1 - gamma_of_large(a, x);
  return x > 1 && x > a ? 1 - gamma_fraction(a, x) : gamma_series(a, x);
}

double rheos__igammac(double a, double x) {
  if (!gamma_defined(a, x)) return NAN;
  if (isinf(x)) return 0;
  if (x == 0 || isinf(a)) return 1;
  if (a > LARGE_A) return gamma_of_large(a, x);
  return x < 1 || x < a ? 1 - gamma_series(a, x) : gamma_fraction(a, x);
}

// The series, term by term: x^(a+n) e^-x / gamma(a + n + 1) has the derivative of itself times
// log x - digamma(a + n + 1).
static double gamma_series_grad(double a, double x) {
  double term = gamma_term(a, x), slope = log(x) - rheos__digamma(a + 1), sum = term * slope;
  double whole = term;
  for (int n = 1; n < GAMMA_TERMS && term > whole * 1e-18; n++) {
    slope -= 1 / (a + n);
    term *= x / (a + n);
    whole += term;
    sum += term * slope;
  }
  return sum;
}

// The continued fraction's convergents p / q, with their derivatives by a beside them.
static double gamma_fraction_grad(double a, double x) {
  double b = x + 1 - a;
  double p0 = 0, q0 = 1, p1 = 1, q1 = b;  // convergents n - 1 and n
  double dp0 = 0, dq0 = 0, dp1 = 0, dq1 = -1;
  double value = p1 / q1, slope = (dp1 - value * dq1) / q1;
  for (int n = 1; n < GAMMA_TERMS; n++) {
    const double an = -n * (n - a);
    b += 2;
    const double p2 = b * p1 + an * p0, q2 = b * q1 + an * q0;
    const double dp2 = b * dp1 - p1 + an * dp0 + n * p0;
    const double dq2 = b * dq1 - q1 + an * dq0 + n * q0;
    const double scale = fabs(q2) > 1e100 ? 1e-100 : 1;
    p0 = p1 * scale, q0 = q1 * scale, dp0 = dp1 * scale, dq0 = dq1 * scale;
    p1 = p2 * scale, q1 = q2 * scale, dp1 = dp2 * scale, dq1 = dq2 * scale;
    if (q1 == 0) continue;
    const double last = slope;
    value = p1 / q1;
    slope = (dp1 - value * dq1) / q1;
    if (n > 2 && fabs(slope - last) <= fabs(slope) * 1e-16) break;
  }
  const double front = gamma_term(a, x) * a;
  return front * (value * (log(x) - rheos__digamma(a)) + slope);
}

double rheos__igamma_grad_a(double a, double x) {
  if (!gamma_defined(a, x) || isinf(a)) return NAN;
  if (x == 0 || isinf(x)) return 0;
  if (a > LARGE_A) {  // the normal distribution's density
    const double z = (x - a) / sqrt(a);
    return -exp(-z * z / 2) / sqrt(2 * M_PI * a) * (1 + z / (2 * sqrt(a)));
  }
  return x > 1 && x > a ? -gamma_fraction_grad(a, x) : gamma_series_grad(a, x);
}

// ---- Incomplete beta function: the continued fraction (Abramowitz & Stegun 26.5.8) by Lentz's
// method, of (a, b, x) or of its mirror image, whichever converges faster.

enum { BETA_TERMS = 20000 };

static double beta_fraction(double a, double b, double x) {
  const double tiny = 1e-300;
  double c = 1, d = 1 - (a + b) * x / (a + 1);
  d = 1 / (d == 0 ? tiny : d);
  double h = d;
  for (int m = 1; m < BETA_TERMS; m++) {
    double step = 1;
    for (int odd = 0; odd < 2; odd++) {
      const double an = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                            : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
      d = 1 + an * d;
      d = 1 / (d == 0 ? tiny : d);
      c = 1 + an / c;
      if (c == 0) c = tiny;
      step = d * c;
      h *= step;
    }
    if (fabs(step - 1) < 1e-16) break;
  }
  return h;
}

double rheos__betainc(double a, double b, double x) {
  if (!(a > 0) || !(b > 0) || !(x >= 0 && x <= 1)) return NAN;
  if (x == 0 || x == 1) return x;
  const double log_front =
      a * log(x) + b * log1p(-x) + rheos__lgamma(a + b) - rheos__lgamma(a) - rheos__lgamma(b);
  const double front = exp(log_front);
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

// ---- Inverses of the error function

// z >= 0 with erfc(z) = y, for y in (0, 1]: Winitzki's approximation, made exact by Halley's
// method.
static double erfc_inverse(double y) {
  const double c = 0.147, log_part = log(y * (2 - y)), mean = 2 / (M_PI * c) + log_part / 2;
  double z = sqrt(fmax(0.0, sqrt(mean * mean - log_part / c) - mean));
  for (int i = 0; i < 4; i++) {
    const double slope = -M_2_SQRTPI * exp(-z * z);
    const double step = (erfc(z) - y) / slope;
    if (!isfinite(step)) break;
    z -= step / (1 + z * step);
  }
  return z;
}

double rheos__erfinv(double x) {
  if (isnan(x) || fabs(x) > 1) return NAN;
  if (fabs(x) == 1) return copysign((double)INFINITY, x);
  if (fabs(x) >= 0.5) return copysign(erfc_inverse(1 - fabs(x)), x);
  double z = x * (1 / M_2_SQRTPI);
  for (int i = 0; i < 4; i++) {
    const double step = (erf(z) - x) / (M_2_SQRTPI * exp(-z * z));
    z -= step / (1 + z * step);
  }
  return z;
}

double rheos__ndtri(double p) {
  if (isnan(p) || p < 0 || p > 1) return NAN;
  if (p == 0 || p == 1) return p == 0 ? -INFINITY : INFINITY;
  if (p < 0.25) return -M_SQRT2 * erfc_inverse(2 * p);
  if (p > 0.75) return M_SQRT2 * erfc_inverse(2 * (1 - p));
  return M_SQRT2 * rheos__erfinv(2 * p - 1);
}

// ---- Bessel functions: the power series, and Hankel's asymptotic one (Abramowitz & Stegun 9.6.10,
// 9.7.1) from 25 on, where both are exact. `order` is 0 or 1.

static double bessel_ie(int order, double x) {
  x = fabs(x);
  if (isnan(x) || isinf(x)) return isnan(x) ? x : 0;
  double term = 1, sum = 1;
  if (x < 25) {
    const double quarter = x * x / 4;
    for (int k = 1; k < 100 && term > sum * 1e-18; k++) {
      term *= quarter / (k * (double)(k + order));
      sum += term;
    }
    return sum * exp(-x) * (order == 0 ? 1 : x / 2);
  }
  const double mu = 4.0 * order * order;
  for (int k = 1; k < 40 && fabs(term) > 1e-18; k++) {
    const double odd = 2 * k - 1;
    term *= -(mu - odd * odd) / (k * 8 * x);
    sum += term;
  }
  return sum / sqrt(2 * M_PI * x);
}

double rheos__bessel_i0e(double x) { return bessel_ie(0, x); }

double rheos__bessel_i1e(double x) { return copysign(1.0, x) * bessel_ie(1, x); }
