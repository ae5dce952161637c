// exp, expm1, log, tanh and their like for float, without branches, calls or tables, so that loops
// over them become vector code; within 3 units in the last place, with the usual answers for zeros,
// infinities and NaN. The macros take them for float, and <tgmath.h> for double.
//
// Include after <tgmath.h>.
#ifndef RHEOS_SRC_OPS_VECTOR_MATH_H
#define RHEOS_SRC_OPS_VECTOR_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float rheos__float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline uint32_t rheos__bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// exp(x) = 2^n exp(r) with r within half of ln 2; `p` is exp(r) - 1, `low` and `high` multiply to
// 2^n without overflowing themselves. x is within +-104 (or NaN), beyond which nothing changes.
typedef struct rheos__exp_parts {
  float p, low, high;
} rheos__exp_parts;

static inline rheos__exp_parts rheos__exp_parts_of(float x) {
  // Adding 1.5 * 2^23 rounds to a whole number, which is then in the low bits.
  const float shifter = 12582912.0f, shifted = x * 1.44269504088896341f + shifter;
  const float n = shifted - shifter;
  const float r = (x - n * 0.693359375f) - n * -2.12194440e-4f;
  // The series of exp(r) - 1 up to r^7
  float p = 1.0f / 5040;
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * (r * r) + r;
  const int32_t whole = (int32_t)(rheos__bits_of_float(shifted) - rheos__bits_of_float(shifter));
  const int32_t half = whole >> 1;
  const rheos__exp_parts parts = {p, rheos__float_of_bits((uint32_t)(half + 127) << 23),
                                  rheos__float_of_bits((uint32_t)(whole - half + 127) << 23)};
  return parts;
}

static inline float rheos__expf(float x) {
  x = x > 104 ? 104 : x;
  x = x < -104 ? -104 : x;
  const rheos__exp_parts e = rheos__exp_parts_of(x);
  return (e.low + e.low * e.p) * e.high;
}

// Exact also near 0, where exp(x) - 1 is not.
static inline float rheos__expm1f(float x) {
  const float within = x > 104 ? 104 : x < -30 ? -30 : x;
  const rheos__exp_parts e = rheos__exp_parts_of(within);
  const float scale = e.low * e.high;
  const float near = scale * e.p + (scale - 1), far = (e.low + e.low * e.p) * e.high - 1;
  const float y = scale < 0x1p60f ? near : far;
  return within == 0 ? x : y;
}

static inline float rheos__tanhf(float x) {
  float size = fabsf(x);
  size = size > 9.5f ? 9.5f : size;
  const rheos__exp_parts e = rheos__exp_parts_of(2 * size);
  const float scale = e.low * e.high, above = scale * e.p + (scale - 1);
  return copysignf(above / (above + 2), x);
}

// No exponential of a positive number, so none overflows.
static inline float rheos__sigmoidf(float x) {
  const float e = rheos__expf(-fabsf(x));
  return (x < 0 ? e : 1) / (1 + e);
}

// log((2 + s) / (2 - s)) - s, for the s = f / (1 + f / 2) that stands for log(1 + f).
static inline float rheos__log_tail(float s) {
  const float z = s * s * 0.25f;
  float p = 1.0f / 13;
  p = p * z + 1.0f / 11;
  p = p * z + 1.0f / 9;
  p = p * z + 1.0f / 7;
  p = p * z + 1.0f / 5;
  p = p * z + 1.0f / 3;
  return s * z * p;
}

static inline float rheos__logf(float x) {
  // Below the smallest normal number the exponent is made larger first.
  const float scaled = x < 0x1p-126f ? x * 0x1p25f : x;
  const float less = x < 0x1p-126f ? 25.0f : 0.0f;
  // x = 2^n m with m from sqrt(1/2) to sqrt(2)
  const uint32_t bits = rheos__bits_of_float(scaled) - 0x3f3504f3u;
  const float n = (float)((int32_t)bits >> 23) - less;
  const float m = rheos__float_of_bits((bits & 0x7fffffu) + 0x3f3504f3u), f = m - 1;
  // log(1 + f) = f - (f^2 / 2 - s' (f^2 / 2 + tail)), which keeps f exact
  const float s = f / (2 + f), half = 0.5f * f * f, tail = rheos__log_tail(2 * s);
  const float rest = half - s * half - tail;
  const float y = n * 0.693359375f + (f - (rest - n * -2.12194440e-4f));
  const float special = x == 0 ? -INFINITY : x < 0 ? NAN : x;
  return x > 0 && x < INFINITY ? y : special;
}

// log(1 + x) for x from 0 to 1.
static inline float rheos__log1p_unit(float x) {
  const float s = x / (2 + x), half = 0.5f * x * x;
  return x - (half - s * half - rheos__log_tail(2 * s));
}

static inline float rheos__softplusf(float x) {
  return (x > 0 ? x : 0) + rheos__log1p_unit(rheos__expf(-fabsf(x)));
}
static inline double rheos__softplus(double x) {
  return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}
static inline double rheos__sigmoid(double x) {
  const double e = exp(-fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

#define RHEOS__EXP(x) _Generic((x), float: rheos__expf, double: (exp))(x)
#define RHEOS__EXPM1(x) _Generic((x), float: rheos__expm1f, double: (expm1))(x)
#define RHEOS__LOG(x) _Generic((x), float: rheos__logf, double: (log))(x)
#define RHEOS__TANH(x) _Generic((x), float: rheos__tanhf, double: (tanh))(x)
#define RHEOS__SIGMOID(x) _Generic((x), float: rheos__sigmoidf, double: rheos__sigmoid)(x)
#define RHEOS__SOFTPLUS(x) _Generic((x), float: rheos__softplusf, double: rheos__softplus)(x)

#endif  // RHEOS_SRC_OPS_VECTOR_MATH_H
