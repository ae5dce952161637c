// Special functions that are integrals or series of their own: Bessel functions, Dawson's and
// Fresnel's integrals, the exponential integral, the dilogarithm. By textbook methods, as in
// special_math.c.
#include "ops/kit/special_math.h"

#include <math.h>

#include "base/complex.h"

static const double EULER = 0.57721566490153286061;

// ---- Modified Bessel functions of the first kind, without the factor exp(-|x|)

double rheos__bessel_i0(double x) {
  return isinf(x) ? INFINITY : exp(fabs(x)) * rheos__bessel_i0e(x);
}

double rheos__bessel_i1(double x) { return isinf(x) ? x : exp(fabs(x)) * rheos__bessel_i1e(x); }

// ---- Of the second kind: the power series below 1 (Abramowitz & Stegun 9.6.11), above it the
// integral of exp(-x (cosh t - 1)) cosh(n t) by the trapezoidal rule, whose error falls
// exponentially with the step.

static double bessel_k0_series(double x) {
  const double quarter = x * x / 4;
  double term = 1, harmonic = 0, sum = 0;
  for (int k = 1; k < 20; k++) {
    term *= quarter / ((double)k * k);
    harmonic += 1.0 / k;
    sum += term * harmonic;
  }
  return sum - (log(x / 2) + EULER) * rheos__bessel_i0(x);
}

static double bessel_k1_series(double x) {
  const double quarter = x * x / 4;
  double term = 1, digammas = 1 - 2 * EULER, sum = term * digammas;
  for (int k = 1; k < 20; k++) {
    term *= quarter / (k * (k + 1.0));
    digammas += 1.0 / k + 1.0 / (k + 1);
    sum += term * digammas;
  }
  return 1 / x + log(x / 2) * rheos__bessel_i1(x) - x / 4 * sum;
}

static double bessel_ke_integral(int order, double x) {
  const double step = 0.25 / sqrt(x > 4 ? x / 4 : 1);
  double sum = 0.5;
  for (int k = 1; k < 200; k++) {
    const double t = k * step, half = sinh(t / 2), exponent = 2 * x * half * half;
    if (exponent > 45) break;
    sum += exp(-exponent) * (order == 0 ? 1 : cosh(t));
  }
  return sum * step;
}

static double bessel_ke(int order, double x) {
  if (isnan(x)) return x;
  if (x <= 0) return INFINITY;
  if (isinf(x)) return 0;
  if (x >= 1) return bessel_ke_integral(order, x);
  return exp(x) * (order == 0 ? bessel_k0_series(x) : bessel_k1_series(x));
}

double rheos__bessel_k0e(double x) { return bessel_ke(0, x); }
double rheos__bessel_k1e(double x) { return bessel_ke(1, x); }

static double bessel_k(int order, double x) {
  return x > 0 ? exp(-x) * bessel_ke(order, x) : bessel_ke(order, x);
}
double rheos__bessel_k0(double x) { return bessel_k(0, x); }
double rheos__bessel_k1(double x) { return bessel_k(1, x); }

// ---- Those that the C library has

double rheos__bessel_j0(double x) { return j0(x); }
double rheos__bessel_j1(double x) { return j1(x); }
double rheos__bessel_y0(double x) { return x <= 0 ? -INFINITY : y0(x); }
double rheos__bessel_y1(double x) { return x <= 0 ? -INFINITY : y1(x); }

// ---- Dawson's integral: the power series, Rybicki's sum of bells (1989), the asymptotic series

static double dawson_series(double x) {
  double term = x, sum = x;
  for (int k = 1; k < 40; k++) {
    term *= -2 * x * x / (2 * k + 1);
    sum += term;
  }
  return sum;
}

// The sum of exp(-(x - n h)^2) / n over odd n, whose error is exp(-(pi / 2h)^2).
static double dawson_bells(double x) {
  const double step = 0.2;
  const int nearest = 2 * (int)(x / (2 * step));
  double sum = 0;
  for (int n = nearest - 35; n <= nearest + 35; n += 2) {
    const double away = x - n * step;
    sum += exp(-away * away) / n;
  }
  return sum / sqrt(M_PI);
}

double rheos__dawson(double x) {
  const double size = fabs(x);
  if (isnan(x)) return x;
  if (size < 1) return dawson_series(x);
  if (size < 50) return copysign(dawson_bells(size), x);
  const double z = 1 / (2 * x * x);
  return (1 + z * (1 + 3 * z * (1 + 5 * z * (1 + 7 * z)))) / x / 2;
}

// ---- The exponential integral Ei, for positive numbers: power series, asymptotic series

double rheos__expint(double x) {
  if (isnan(x) || x < 0) return NAN;
  if (x == 0 || isinf(x)) return x == 0 ? -INFINITY : x;
  double term = 1, sum = 0;
  if (x < 40) {
    for (int k = 1; k < 200; k++) {
      term *= x / k;
      sum += term / k;
      if (term / k < sum * 1e-18) break;
    }
    return sum + log(x) + EULER;
  }
  sum = 1;
  for (int k = 1; k < x && term > 1e-18; k++) {
    term *= k / x;
    sum += term;
  }
  return exp(x - log(x)) * sum;
}

// ---- Fresnel's integrals, cosine and sine as one complex number: the power series of the integral
// of exp(i pi t^2 / 2), then the continued fraction of the complementary error function.

static double complex fresnel_series(double x) {
  const double complex step = CMPLX(0, M_PI / 2 * x * x);
  double complex term = x, sum = x;
  for (int k = 1; k < 60; k++) {
    term *= step / k;
    sum += term / (2 * k + 1);
  }
  return sum;
}

static double complex fresnel_fraction(double x) {
  const double square = M_PI * x * x, tiny = 1e-300;
  double complex b = CMPLX(1, -square), c = 1 / tiny, d = 1 / b, h = d;
  for (int n = 1; n < 2000; n++) {
    const double a = -(2.0 * n - 1) * (2.0 * n);
    b += 4;
    d = 1 / (a * d + b);
    c = b + a / c;
    const double complex factor = c * d;
    h *= factor;
    if (fabs(creal(factor) - 1) + fabs(cimag(factor)) < 1e-16) break;
  }
  const double phase = M_PI / 2 * fmod(x * x, 4);
  h *= CMPLX(x, -x);
  return CMPLX(0.5, 0.5) * (1 - CMPLX(cos(phase), sin(phase)) * h);
}

static double complex fresnel(double x) {
  const double size = fabs(x);
  if (isnan(x)) return CMPLX(x, x);
  const double complex value = size < 1.5   ? fresnel_series(size)
                               : size < 1e7 ? fresnel_fraction(size)
                                            : CMPLX(0.5, 0.5);
  return x < 0 ? -value : value;
}
double rheos__fresnel_cos(double x) { return creal(fresnel(x)); }
double rheos__fresnel_sin(double x) { return cimag(fresnel(x)); }

// ---- Spence's function: the dilogarithm of 1 - x, by its series within [-1/2, 1/2]

static double dilogarithm(double z) {
  double power = z, sum = 0;
  for (int k = 1; k < 80; k++) {
    sum += power / ((double)k * k);
    power *= z;
  }
  return sum;
}

double rheos__spence(double x) {
  if (isnan(x) || x < 0) return NAN;
  if (x == 0) return M_PI * M_PI / 6;
  if (x > 1) {
    const double l = log(x);
    return -rheos__spence(1 / x) - l * l / 2;
  }
  if (x >= 0.5) return dilogarithm(1 - x);
  return M_PI * M_PI / 6 - log(x) * log1p(-x) - dilogarithm(x);
}
