// Special functions that are integrals or series of their own: Bessel functions, Dawson's and
// Fresnel's integrals, the exponential integral, the dilogarithm. By textbook methods, as in
// special_math.c, with which it is part of programs for graphics cards.
#ifndef __OPENCL_VERSION__
#include "ops/kit/special_math.h"

#include <math.h>
#endif

#define EULER 0.57721566490153286061

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
    const double t = k * step, sine = sinh(t / 2), exponent = 2 * x * sine * sine;
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

typedef struct pair {
  double real, imaginary;
} pair;

static pair pair_of(double real, double imaginary) {
  pair result;
  result.real = real;
  result.imaginary = imaginary;
  return result;
}

static pair pair_product(pair x, pair y) {
  return pair_of(x.real * y.real - x.imaginary * y.imaginary,
                 x.real * y.imaginary + x.imaginary * y.real);
}

static pair pair_quotient(double x, pair y) {
  const double square = y.real * y.real + y.imaginary * y.imaginary;
  return pair_of(x * y.real / square, -x * y.imaginary / square);
}

static pair fresnel_series(double x) {
  const double step = M_PI / 2 * x * x;
  double term = x, sums[2] = {x, 0};
  for (int k = 1; k < 60; k++) {  // i^k is 1, i, -1, -i in turn
    term *= step / k;
    sums[k & 1] += ((k & 2) != 0 ? -term : term) / (2 * k + 1);
  }
  return pair_of(sums[0], sums[1]);
}

static pair fresnel_fraction(double x) {
  pair b = pair_of(1, -M_PI * x * x), c = pair_of(0, 0), d = pair_quotient(1, b), h = d;
  for (int n = 1; n < 2000; n++) {
    const double a = -(2.0 * n - 1) * (2.0 * n);
    b.real += 4;
    d = pair_quotient(1, pair_of(a * d.real + b.real, a * d.imaginary + b.imaginary));
    // At first c is infinite.
    const pair part = n > 1 ? pair_quotient(a, c) : c;
    c = pair_of(b.real + part.real, b.imaginary + part.imaginary);
    const pair factor = pair_product(c, d);
    h = pair_product(h, factor);
    if (fabs(factor.real - 1) + fabs(factor.imaginary) < 1e-16) break;
  }
  const double phase = M_PI / 2 * fmod(x * x, 4.0);
  h = pair_product(pair_product(h, pair_of(x, -x)), pair_of(cos(phase), sin(phase)));
  return pair_product(pair_of(0.5, 0.5), pair_of(1 - h.real, -h.imaginary));
}

static pair fresnel(double x) {
  const double size = fabs(x);
  if (isnan(x)) return pair_of(x, x);
  if (size >= 1e7) return pair_of(copysign(0.5, x), copysign(0.5, x));
  const pair value = size < 1.5 ? fresnel_series(size) : fresnel_fraction(size);
  return x < 0 ? pair_of(-value.real, -value.imaginary) : value;
}
double rheos__fresnel_cos(double x) { return fresnel(x).real; }
double rheos__fresnel_sin(double x) { return fresnel(x).imaginary; }

// ---- Spence's function: the dilogarithm of 1 - x, by its series within [-1/2, 1/2]

static double dilogarithm(double z) {
  double power = z, sum = 0;
  for (int k = 1; k < 80; k++) {
    sum += power / ((double)k * k);
    power *= z;
  }
  return sum;
}

static double spence_up_to_1(double x) {
  if (x == 0) return M_PI * M_PI / 6;
  if (x >= 0.5) return dilogarithm(1 - x);
  return M_PI * M_PI / 6 - log(x) * log1p(-x) - dilogarithm(x);
}

double rheos__spence(double x) {
  if (isnan(x) || x < 0) return NAN;
  if (x <= 1) return spence_up_to_1(x);
  const double l = log(x);
  return -spence_up_to_1(1 / x) - l * l / 2;
}
