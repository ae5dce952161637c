// Functions of mathematical physics that <math.h> lacks, in double. They end for every input: no
// loop is longer than a fixed number of terms. NaN in, NaN out.
#ifndef RHEOS_SRC_OPS_KIT_SPECIAL_MATH_H
#define RHEOS_SRC_OPS_KIT_SPECIAL_MATH_H

#include <math.h>

// log |gamma(x)|; as lgamma(), which also writes a global variable.
double rheos__lgamma(double x);
// The derivative of lgamma, and its derivative of order n; NaN unless n is a whole number >= 0.
double rheos__digamma(double x);
double rheos__polygamma(double n, double x);
// Hurwitz: the sum of (q + k)^-x over k = 0, 1, ...
double rheos__zeta(double x, double q);

// The incomplete gamma functions divided by gamma(a): from 0 to x, and from x on; the derivative
// of the first by a.
double rheos__igamma(double a, double x);
double rheos__igammac(double a, double x);
double rheos__igamma_grad_a(double a, double x);
// The incomplete beta function divided by beta(a, b).
double rheos__betainc(double a, double b, double x);

// The inverses of erf and of the normal distribution's cumulative function.
double rheos__erfinv(double x);
double rheos__ndtri(double p);

// exp(-|x|) times the modified Bessel functions of the first kind, of order 0 and 1.
double rheos__bessel_i0e(double x);
double rheos__bessel_i1e(double x);

// Without that factor; those of the second kind, with a factor exp(x) or without; Bessel functions.
double rheos__bessel_i0(double x);
double rheos__bessel_i1(double x);
double rheos__bessel_k0(double x);
double rheos__bessel_k0e(double x);
double rheos__bessel_k1(double x);
double rheos__bessel_k1e(double x);
static inline double rheos__bessel_j0(double x) { return j0(x); }
static inline double rheos__bessel_j1(double x) { return j1(x); }
static inline double rheos__bessel_y0(double x) { return x <= 0 ? -INFINITY : y0(x); }
static inline double rheos__bessel_y1(double x) { return x <= 0 ? -INFINITY : y1(x); }

// Dawson's integral, the exponential integral of positive numbers, Fresnel's integrals, and the
// dilogarithm of 1 - x (special_integrals.c).
double rheos__dawson(double x);
double rheos__expint(double x);
double rheos__fresnel_cos(double x);
double rheos__fresnel_sin(double x);
double rheos__spence(double x);

// log(exp(a) + exp(b)), of minus infinity too.
static inline double rheos__log_sum(double a, double b) {
  if (a == -INFINITY) return b;
  if (b == -INFINITY) return a;
  return a > b ? a + log1p(exp(b - a)) : b + log1p(exp(a - b));
}

#endif  // RHEOS_SRC_OPS_KIT_SPECIAL_MATH_H
