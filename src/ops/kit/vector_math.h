// exp, expm1, log, tanh, erf, pow and their like for float, without branches, calls or tables, so
// that loops over them become vector code; exp, expm1, log, tanh, erf and pow within 2 units in the
// last place, the others within 3, with the usual answers for zeros, infinities and NaN. For double
// exp, log, tanh and pow are here too; the macros leave the rest to the C library.
//
// Where a product is added, RHEOS__FMA() says that it is not rounded before: one instruction on
// processors of the last ten years, a slow call of the C library on others, and so the same bits on
// all, which contraction left to the compiler would not give.
//
// Include after <tgmath.h>.
#ifndef RHEOS_SRC_OPS_KIT_VECTOR_MATH_H
#define RHEOS_SRC_OPS_KIT_VECTOR_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

// Inlined whatever the compiler thinks of the size: a loop with one call left in it is no vector
// code.
#if defined(__GNUC__)
#define RHEOS__VECTOR static inline __attribute__((always_inline))
#else
#define RHEOS__VECTOR static inline
#endif

// a * b + c, rounded once.
#define RHEOS__FMA(a, b, c) \
  _Generic((a) * (b) + (c), float: __builtin_fmaf, double: __builtin_fma)(a, b, c)

RHEOS__VECTOR float rheos__float_of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
RHEOS__VECTOR uint32_t rheos__bits_of_float(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// a where `condition`, else b. By bits: with ?: the compiler moves what makes up a and b into
// branches, where calls of fma() keep it from making vectors of them.
RHEOS__VECTOR float rheos__select(int condition, float a, float b) {
  const uint32_t mask = -(uint32_t)(condition != 0);
  return rheos__float_of_bits((rheos__bits_of_float(a) & mask) | (rheos__bits_of_float(b) & ~mask));
}

// exp(x) = 2^n exp(r) with r within half of ln 2; `p` is exp(r) - 1. x is within +-104 (or NaN),
// beyond which nothing changes.
typedef struct rheos__exp_parts {
  float p;
  int32_t n;
} rheos__exp_parts;

RHEOS__VECTOR rheos__exp_parts rheos__exp_parts_of(float x) {
  // Adding 1.5 * 2^23 rounds to a whole number, which is then in the low bits.
  const float shifter = 12582912.0f;
  const float shifted = RHEOS__FMA(x, 1.44269504088896341f, shifter), n = shifted - shifter;
  const float r = RHEOS__FMA(n, 2.12194440e-4f, RHEOS__FMA(n, -0.693359375f, x));
  // exp(r) = 1 + r + r^2 P(r), of least largest error, within 6e-9
  float p = 1.395058818e-3f;
  p = RHEOS__FMA(p, r, 8.368946612e-3f);
  p = RHEOS__FMA(p, r, 4.166620597e-2f);
  p = RHEOS__FMA(p, r, 0.1666651815f);
  p = RHEOS__FMA(p, r, 0.5f);
  p = RHEOS__FMA(p, r * r, r);
  const rheos__exp_parts parts = {
      p, (int32_t)(rheos__bits_of_float(shifted) - rheos__bits_of_float(shifter))};
  return parts;
}

// 2^n, for n from -126 to 127.
RHEOS__VECTOR float rheos__power_of_two(int32_t n) {
  return rheos__float_of_bits((uint32_t)(n + 127) << 23);
}

// In two steps, because 2^n itself may overflow, or be too small to be a normal number.
RHEOS__VECTOR float rheos__expf(float x) {
  x = x > 104 ? 104 : x;
  x = x < -104 ? -104 : x;
  const rheos__exp_parts e = rheos__exp_parts_of(x);
  const float low = rheos__power_of_two(e.n >> 1), high = rheos__power_of_two(e.n - (e.n >> 1));
  return RHEOS__FMA(low, e.p, low) * high;
}

// For x that are not positive: 0 below -87, where the answer soon is not a normal number.
RHEOS__VECTOR float rheos__expf_normal(float x) {
  const rheos__exp_parts e = rheos__exp_parts_of(x < -87 ? -87 : x);
  const float scale = rheos__power_of_two(e.n);
  return rheos__select(x < -87, 0, RHEOS__FMA(scale, e.p, scale));
}

// Exact also near 0, where exp(x) - 1 is not.
RHEOS__VECTOR float rheos__expm1f(float x) {
  const float within = x > 104 ? 104 : x < -30 ? -30 : x;
  const rheos__exp_parts e = rheos__exp_parts_of(within);
  const float low = rheos__power_of_two(e.n >> 1), high = rheos__power_of_two(e.n - (e.n >> 1));
  const float scale = low * high;
  const float near = RHEOS__FMA(scale, e.p, scale - 1), far = RHEOS__FMA(low, e.p, low) * high - 1;
  const float y = rheos__select(scale < 0x1p60f, near, far);
  return rheos__select(within == 0, x, y);
}

// (1 - e) / (1 + e) for e = exp(-2 |x|), both rounded once.
RHEOS__VECTOR float rheos__tanhf(float x) {
  float size = fabsf(x);
  size = size > 9.5f ? 9.5f : size;
  const rheos__exp_parts e = rheos__exp_parts_of(-2 * size);
  const float scale = rheos__power_of_two(e.n);
  const float less = RHEOS__FMA(scale, e.p, scale - 1), more = RHEOS__FMA(scale, e.p, scale + 1);
  return copysignf(less / more, x);
}

// No exponential of a positive number, so none overflows.
RHEOS__VECTOR float rheos__sigmoidf(float x) {
  const float e = rheos__expf(-fabsf(x));
  return (x < 0 ? e : 1) / (1 + e);
}

// log((2 + s) / (2 - s)) - s, for the s = f / (1 + f / 2) that stands for log(1 + f).
RHEOS__VECTOR float rheos__log_tail(float s) {
  const float z = s * s * 0.25f;
  float p = 1.0f / 13;
  p = RHEOS__FMA(p, z, 1.0f / 11);
  p = RHEOS__FMA(p, z, 1.0f / 9);
  p = RHEOS__FMA(p, z, 1.0f / 7);
  p = RHEOS__FMA(p, z, 1.0f / 5);
  p = RHEOS__FMA(p, z, 1.0f / 3);
  return s * z * p;
}

RHEOS__VECTOR float rheos__logf(float x) {
  // Below the smallest normal number the exponent is made larger first.
  const float scaled = x < 0x1p-126f ? x * 0x1p25f : x;
  const float less = x < 0x1p-126f ? 25.0f : 0.0f;
  // x = 2^n m with m from sqrt(1/2) to sqrt(2)
  const uint32_t bits = rheos__bits_of_float(scaled) - 0x3f3504f3u;
  const float n = (float)((int32_t)bits >> 23) - less;
  const float m = rheos__float_of_bits((bits & 0x7fffffu) + 0x3f3504f3u), f = m - 1, z = f * f;
  // log(1 + f) = f - f^2 / 2 + f^3 P(f), of least largest error, within 7e-9 of f
  float p = -7.865467668e-2f;
  p = RHEOS__FMA(p, f, 0.1287920922f);
  p = RHEOS__FMA(p, f, -0.1312529296f);
  p = RHEOS__FMA(p, f, 0.1418141872f);
  p = RHEOS__FMA(p, f, -0.1662496924f);
  p = RHEOS__FMA(p, f, 0.2000228316f);
  p = RHEOS__FMA(p, f, -0.2500079572f);
  p = RHEOS__FMA(p, f, 0.3333331645f);
  // The last two steps keep f and the larger part of n ln 2 exact.
  const float tail = RHEOS__FMA(z, RHEOS__FMA(p, f, -0.5f), n * -2.12194440e-4f);
  const float y = RHEOS__FMA(n, 0.693359375f, f + tail);
  const float special = x == 0 ? -INFINITY : x < 0 ? NAN : x;
  return rheos__select((x > 0) & (x < INFINITY), y, special);
}

// log(1 + x) for x from 0 to 1.
RHEOS__VECTOR float rheos__log1p_unit(float x) {
  const float s = x / (2 + x), half = 0.5f * x * x;
  return x - (half - s * half - rheos__log_tail(2 * s));
}

RHEOS__VECTOR float rheos__softplusf(float x) {
  return (x > 0 ? x : 0) + rheos__log1p_unit(rheos__expf(-fabsf(x)));
}
// Functions of double, exp within one unit in the last place: ln 2 in two parts, the first with so
// few bits that its product with n is exact, and the series of exp(r) - 1 up to r^13.
RHEOS__VECTOR double rheos__double_of_bits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
RHEOS__VECTOR uint64_t rheos__bits_of_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
RHEOS__VECTOR double rheos__select_double(int condition, double a, double b) {
  const uint64_t mask = -(uint64_t)(condition != 0);
  return rheos__double_of_bits((rheos__bits_of_double(a) & mask) |
                               (rheos__bits_of_double(b) & ~mask));
}

// exp(r) - 1 for r = high_part - low_part within half of ln 2.
RHEOS__VECTOR double rheos__exp_tail(double high_part, double low_part) {
  const double r = high_part - low_part;
  double p = 1.0 / 6227020800;
  p = RHEOS__FMA(p, r, 1.0 / 479001600);
  p = RHEOS__FMA(p, r, 1.0 / 39916800);
  p = RHEOS__FMA(p, r, 1.0 / 3628800);
  p = RHEOS__FMA(p, r, 1.0 / 362880);
  p = RHEOS__FMA(p, r, 1.0 / 40320);
  p = RHEOS__FMA(p, r, 1.0 / 5040);
  p = RHEOS__FMA(p, r, 1.0 / 720);
  p = RHEOS__FMA(p, r, 1.0 / 120);
  p = RHEOS__FMA(p, r, 1.0 / 24);
  p = RHEOS__FMA(p, r, 1.0 / 6);
  p = RHEOS__FMA(p, r, 0.5);
  return (p * (r * r) - low_part) + high_part;
}

RHEOS__VECTOR double rheos__exp(double x) {
  x = x > 710 ? 710 : x;
  x = x < -746 ? -746 : x;
  const double shifter = 0x1.8p52, shifted = RHEOS__FMA(x, 1.4426950408889634, shifter);
  const double n = shifted - shifter;
  const double high_part = x - n * 0x1.62e42feep-1, low_part = n * 0x1.a39ef35793c76p-33;
  const double p = rheos__exp_tail(high_part, low_part);
  // n, counted from -2048 so that it can be halved without a sign
  uint64_t bits, none;
  memcpy(&bits, &shifted, sizeof bits);
  memcpy(&none, &shifter, sizeof none);
  const uint64_t whole = bits - none + 2048, half = whole >> 1;
  const double low = rheos__double_of_bits((half + (1023 - 1024)) << 52);
  const double high = rheos__double_of_bits((whole - half + (1023 - 1024)) << 52);
  return (low + low * p) * high;
}

// Within two units in the last place; as for float.
RHEOS__VECTOR double rheos__tanh(double x) {
  double size = fabs(x);
  size = size > 22 ? 22 : size;
  const double y = -2 * size, shifter = 0x1.8p52;
  const double shifted = RHEOS__FMA(y, 1.4426950408889634, shifter), n = shifted - shifter;
  const double high_part = y - n * 0x1.62e42feep-1, low_part = n * 0x1.a39ef35793c76p-33;
  const double p = rheos__exp_tail(high_part, low_part);
  const uint64_t whole = rheos__bits_of_double(shifted) - rheos__bits_of_double(shifter);
  const double scale = rheos__double_of_bits((whole + 1023) << 52);
  const double less = RHEOS__FMA(scale, p, scale - 1), more = RHEOS__FMA(scale, p, scale + 1);
  return copysign(less / more, x);
}

// Within one unit. log(1 + f) = f - (h - s (h + z P(z))) with h = f^2 / 2, s = f / (2 + f) and z =
// s^2: the series of the inverse hyperbolic tangent, fitted at Chebyshev points within 1e-19.
RHEOS__VECTOR double rheos__log(double x) {
  const int is_tiny = x < 0x1p-1022;
  const double scaled = is_tiny ? x * 0x1p54 : x, less = is_tiny ? 54.0 : 0.0;
  // x = 2^n m with m from sqrt(1/2) to sqrt(2); n counted from -2048, in the low bits of a double
  const uint64_t bits = rheos__bits_of_double(scaled) - UINT64_C(0x3fe6a09e667f3bcd);
  const uint64_t exponent = bits >> 52 ^ 0x800;
  const double counted = rheos__double_of_bits(exponent | UINT64_C(0x4330000000000000));
  const double n = counted - (0x1p52 + 2048) - less;
  const double m =
      rheos__double_of_bits((bits & UINT64_C(0xfffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd));
  const double f = m - 1, s = f / (2 + f), z = s * s, half = 0.5 * f * f;
  double p = 0x1.0c04595972ab8p-3;
  p = RHEOS__FMA(p, z, 0x1.0fbe83c2cbcf3p-3);
  p = RHEOS__FMA(p, z, 0x1.3b1c360763b8ap-3);
  p = RHEOS__FMA(p, z, 0x1.745cf901605f7p-3);
  p = RHEOS__FMA(p, z, 0x1.c71c720160b47p-3);
  p = RHEOS__FMA(p, z, 0x1.2492492476c87p-2);
  p = RHEOS__FMA(p, z, 0x1.9999999999a38p-2);
  p = RHEOS__FMA(p, z, 0x1.5555555555555p-1);
  const double low = RHEOS__FMA(n, 0x1.ef35793c7673p-45, s * (half + z * p));
  const double y = RHEOS__FMA(n, 0x1.62e42fefa38p-1, f - (half - low));  // n times that is exact
  const double special = x == 0 ? -(double)INFINITY : x < 0 ? (double)NAN : x;
  return rheos__select_double((x > 0) & (x < (double)INFINITY), y, special);
}

RHEOS__VECTOR double rheos__softplus(double x) {
  return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}
RHEOS__VECTOR double rheos__sigmoid(double x) {
  const double e = rheos__exp(-fabs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

// Near 0 x + x P(x^2), beyond 1 - exp(Q(|x|)); both of least largest error, the first within 2e-8
// of x, the second within 2e-9.
RHEOS__VECTOR float rheos__erff(float x) {
  float size = fabsf(x);
  size = size > 3.95f ? 3.95f : size;
  const float z = size * size;
  float near = 8.31013749e-05f, far = -2.09094887e-05f;
  near = RHEOS__FMA(near, z, -0.00081290619f);
  near = RHEOS__FMA(near, z, 0.00519989105f);
  near = RHEOS__FMA(near, z, -0.0268589705f);
  near = RHEOS__FMA(near, z, 0.112836882f);
  near = RHEOS__FMA(near, z, -0.376126319f);
  near = RHEOS__FMA(near, z, 0.128379166f);
  far = RHEOS__FMA(far, size, 0.000432302273f);
  far = RHEOS__FMA(far, size, -0.00416052388f);
  far = RHEOS__FMA(far, size, 0.0250914879f);
  far = RHEOS__FMA(far, size, -0.108236611f);
  far = RHEOS__FMA(far, size, -0.633386672f);
  far = RHEOS__FMA(far, size, -1.12949514f);
  far = RHEOS__FMA(far, size, 0.000170551124f);
  const float tail = copysignf(1 - rheos__expf_normal(far), x);
  return rheos__select(size < 0.925f, RHEOS__FMA(x, near, x), tail);  // NaN goes through `size`
}

// size^y for a normal size, which stands for size 2^-less: 2^(y log2 size), where the logarithm and
// its product with y are sums of two floats. What is wrong in the logarithm, about 2^-32 of it, is
// then below half a unit of the largest answers.
RHEOS__VECTOR float rheos__power_of_size(float size, float less, float y) {
  const uint32_t bits = rheos__bits_of_float(size) - 0x3f3504f3u;  // sqrt(1/2)
  const float n = (float)((int32_t)bits >> 23) - less;
  const float m = rheos__float_of_bits((bits & 0x7fffffu) + 0x3f3504f3u);
  // One of three numbers c near m, whose logarithm is a sum of two floats; 1 keeps that near 1
  // exact.
  const int below = m < 0x1.c7ep-1f, above = m > 0x1.1f54p+0f;
  const float c = above ? 0x1.428p+0f : below ? 0x1.96p-1f : 1;
  const float log_c = above ? 0x1.552p-2f : below ? -0x1.56bp-2f : 0;
  const float log_c_low = above ? 0x1.ab4612p-16f : below ? -0x1.1735acp-17f : 0;
  // log2(m / c) = K (s + s^3 / 3 + s^5 / 5 + ...) with s = (m - c) / (m + c); m - c is exact
  const float f = m - c, d = m + c, d_low = m - (d - c), inverse = 1 / d, s = f * inverse;
  const float s_low = RHEOS__FMA(-s, d_low, RHEOS__FMA(-s, d, f)) * inverse;
  const float z = s * s;
  float p = 0x1.a7c55ap-2f;  // fitted at Chebyshev points, within 2^-40
  p = RHEOS__FMA(p, z, 0x1.27767ep-1f);
  p = RHEOS__FMA(p, z, 0x1.ec709ep-1f);
  const float k = 0x1.715476p+1f, high = k * s;
  float low = RHEOS__FMA(k, s, -high);
  low = RHEOS__FMA(0x1.4ae0cp-25f, s, low);
  low = RHEOS__FMA(k, s_low, low);
  low = RHEOS__FMA(s * z, p, low);
  const float whole = n + log_c, sum = whole + high;
  const float rest = (high - (sum - whole)) + (low + log_c_low);
  const float log_high = sum + rest, log_low = rest - (log_high - sum);
  // t + t_low = y log2(size); 2^t for t within +-200 in two steps, as with exp
  float t = y * log_high;
  float t_low = RHEOS__FMA(y, log_low, RHEOS__FMA(y, log_high, -t));
  t_low = fabsf(t) < 200 ? t_low : 0;
  t = t > 200 ? 200 : t;
  t = t < -200 ? -200 : t;
  const float shifter = 12582912.0f, shifted = t + shifter;
  const float r = (t - (shifted - shifter)) + t_low;
  float q = 0x1.4413a4p-13f;  // (2^r - 1) / r, fitted at Chebyshev points, within 2^-28
  q = RHEOS__FMA(q, r, 0x1.5f08b8p-10f);
  q = RHEOS__FMA(q, r, 0x1.3b2a52p-7f);
  q = RHEOS__FMA(q, r, 0x1.c6af6cp-5f);
  q = RHEOS__FMA(q, r, 0x1.ebfbep-3f);
  q = RHEOS__FMA(q, r, 0x1.62e43p-1f);
  const int32_t exponent = (int32_t)(rheos__bits_of_float(shifted) - rheos__bits_of_float(shifter));
  const float one = rheos__power_of_two(exponent >> 1);
  return RHEOS__FMA(one, q * r, one) * rheos__power_of_two(exponent - (exponent >> 1));
}

// Where the power is just that: x positive and normal, y finite.
RHEOS__VECTOR int rheos__pow_is_plain(float x, float y) {
  const int x_is = rheos__bits_of_float(x) - 0x00800000u < 0x7f000000u;
  const int y_is = rheos__bits_of_float(y) << 1 < 0xff000000u;
  return x_is & y_is;
}
RHEOS__VECTOR float rheos__plain_powf(float x, float y) { return rheos__power_of_size(x, 0, y); }

// Within 1.3 units in the last place, exact where the answer is a float.
RHEOS__VECTOR float rheos__powf(float x, float y) {
  const float size = fabsf(x), end = INFINITY;
  const int is_tiny = size < 0x1p-126f;
  float z = rheos__power_of_size(is_tiny ? size * 0x1p24f : size, is_tiny ? 24.0f : 0.0f, y);
  // |x| of 0 or infinity: 0 or infinity by the sign of y
  const float at_end = ((size == 0) == (y < 0)) ? end : 0;
  z = rheos__select((size == 0) | (size == end), at_end, z);
  // An infinite y
  const float forever = size == 1 ? 1 : ((size > 1) == (y > 0)) ? end : 0;
  z = rheos__select(fabsf(y) == end, forever, z);
  const float whole = truncf(y), half = 0.5f * y;
  const int is_whole = whole == y, is_odd = is_whole & (truncf(half) != half);
  const uint32_t sign = rheos__bits_of_float(x) & -(uint32_t)is_odd & 0x80000000u;
  z = rheos__float_of_bits(rheos__bits_of_float(z) ^ sign);
  z = rheos__select((x < 0) & (size != end) & !is_whole, NAN, z);
  z = rheos__select((x != x) | (y != y), x + y, z);
  return rheos__select((x == 1) | (y == 0), 1, z);
}

// ---- The power of doubles, in the same way

// The logarithm, wrong by about 2^-66 of it, and its product with y are sums of two doubles.
RHEOS__VECTOR double rheos__power_of_size_double(double size, double less, double y) {
  const uint64_t bits = rheos__bits_of_double(size) - UINT64_C(0x3fe6a09e667f3bcd);  // sqrt(1/2)
  const uint64_t counted = (bits >> 52 ^ 0x800) | UINT64_C(0x4330000000000000);
  const double n = rheos__double_of_bits(counted) - (0x1p52 + 2048) - less;
  const double m =
      rheos__double_of_bits((bits & UINT64_C(0xfffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd));
  const int below = m < 0x1.c7ep-1, above = m > 0x1.1f54p+0;
  const double c = above ? 0x1.428p+0 : below ? 0x1.96p-1 : 1;
  const double log_c = above ? 0x1.5526ad1848p-2 : below ? -0x1.56b22e6b58p-2 : 0;
  const double log_c_low = above ? 0x1.3cd8a459db47fp-42 : below ? 0x1.c6d8d86531d56p-44 : 0;
  const double f = m - c, d = m + c, d_low = m - (d - c), inverse = 1 / d, s = f * inverse;
  const double s_low = RHEOS__FMA(-s, d_low, RHEOS__FMA(-s, d, f)) * inverse;
  const double z = s * s, z_low = RHEOS__FMA(s, s, -z) + 2 * s * s_low;
  // log2(m / c) = K s (1 + z p) with p = 1/3 + z / 5 + ..., also a sum of two
  double q = 0x1.3d7607fba616p-4;  // fitted at Chebyshev points, within 2^-70
  q = RHEOS__FMA(q, z, 0x1.745b3b6e0022ap-4);
  q = RHEOS__FMA(q, z, 0x1.c71c725e66a2cp-4);
  q = RHEOS__FMA(q, z, 0x1.2492492489df1p-3);
  q = RHEOS__FMA(q, z, 0x1.999999999999cp-3);
  const double third = 0x1.5555555555555p-2, p = RHEOS__FMA(q, z, third);
  const double p_low = RHEOS__FMA(q, z, third - p) + 0x1.5555555555555p-56;
  const double e = z * p, e_low = RHEOS__FMA(z, p, -e) + RHEOS__FMA(z_low, p, z * p_low);
  const double k = 0x1.71547652b82fep+1, high = k * s;
  double low = RHEOS__FMA(0x1.777d0ffda0d24p-55, s, RHEOS__FMA(k, s, -high));
  low = RHEOS__FMA(k, s_low, low);
  const double more = high * e;
  low = RHEOS__FMA(low, e, low);
  low += RHEOS__FMA(high, e_low, RHEOS__FMA(high, e, -more));
  const double whole = n + log_c, sum = whole + high, all = sum + more;
  const double rest = (high - (sum - whole)) + (more - (all - sum)) + (low + log_c_low);
  const double log_high = all + rest, log_low = rest - (log_high - all);
  // t + t_low = y log2(size); 2^t for t within +-1200 in two steps
  double t = y * log_high;
  double t_low = RHEOS__FMA(y, log_low, RHEOS__FMA(y, log_high, -t));
  t_low = fabs(t) < 1200 ? t_low : 0;
  t = t > 1200 ? 1200 : t;
  t = t < -1200 ? -1200 : t;
  const double shifter = 0x1.8p52, shifted = t + shifter, r_high = t - (shifted - shifter);
  const double r = r_high + t_low, r_low = t_low - (r - r_high);
  // 2^r = 1 + r ln 2 + r^2 P(r), fitted at Chebyshev points, within 2^-58
  double a = 0x1.c48f769ad2c46p-36;
  a = RHEOS__FMA(a, r, 0x1.e9d3fe3952179p-32);
  a = RHEOS__FMA(a, r, 0x1.e4cf1cd08d4b8p-28);
  a = RHEOS__FMA(a, r, 0x1.b524fae627834p-24);
  a = RHEOS__FMA(a, r, 0x1.62c022401b97dp-20);
  a = RHEOS__FMA(a, r, 0x1.ffcbfc670dcd4p-17);
  a = RHEOS__FMA(a, r, 0x1.430912f86bf52p-13);
  a = RHEOS__FMA(a, r, 0x1.5d87fe78a5276p-10);
  a = RHEOS__FMA(a, r, 0x1.3b2ab6fba4e78p-7);
  a = RHEOS__FMA(a, r, 0x1.c6b08d704a0c2p-5);
  a = RHEOS__FMA(a, r, 0x1.ebfbdff82c58fp-3);
  const double ln_2 = 0x1.62e42fefa39efp-1, b = ln_2 * r;
  double b_low = RHEOS__FMA(0x1.abc9e3b39803fp-56, r, RHEOS__FMA(ln_2, r, -b));
  b_low = RHEOS__FMA(ln_2, r_low, b_low);
  const double one = 1 + b, one_low = b - (one - 1);
  const double power = one + RHEOS__FMA(r * r, a, one_low + b_low);
  const uint64_t exponent = rheos__bits_of_double(shifted) - rheos__bits_of_double(shifter) + 2048;
  const uint64_t half = exponent >> 1;
  return power * rheos__double_of_bits((half + (1023 - 1024)) << 52) *
         rheos__double_of_bits((exponent - half + (1023 - 1024)) << 52);
}

RHEOS__VECTOR int rheos__pow_is_plain_double(double x, double y) {
  const uint64_t from_least = rheos__bits_of_double(x) - UINT64_C(0x10000000000000);
  const int x_is = from_least < UINT64_C(0x7fe0000000000000);
  const int y_is = rheos__bits_of_double(y) << 1 < UINT64_C(0xffe0000000000000);
  return x_is & y_is;
}
RHEOS__VECTOR double rheos__plain_pow(double x, double y) {
  return rheos__power_of_size_double(x, 0, y);
}

// Within 0.7 units in the last place, 0.9 where the answer is not a normal number; exact where it
// is a double.
RHEOS__VECTOR double rheos__pow(double x, double y) {
  const double size = fabs(x), end = (double)INFINITY;
  const int is_tiny = size < 0x1p-1022;
  double z = rheos__power_of_size_double(is_tiny ? size * 0x1p54 : size, is_tiny ? 54.0 : 0.0, y);
  const double at_end = ((size == 0) == (y < 0)) ? end : 0;
  z = rheos__select_double((size == 0) | (size == end), at_end, z);
  const double forever = size == 1 ? 1 : ((size > 1) == (y > 0)) ? end : 0;
  z = rheos__select_double(fabs(y) == end, forever, z);
  const double whole = trunc(y), half = 0.5 * y;
  const int is_whole = whole == y, is_odd = is_whole & (trunc(half) != half);
  const uint64_t sign = rheos__bits_of_double(x) & -(uint64_t)is_odd & UINT64_C(0x8000000000000000);
  z = rheos__double_of_bits(rheos__bits_of_double(z) ^ sign);
  z = rheos__select_double((x < 0) & (size != end) & !is_whole, (double)NAN, z);
  z = rheos__select_double((x != x) | (y != y), x + y, z);
  return rheos__select_double((x == 1) | (y == 0), 1, z);
}

#define RHEOS__POW_IS_PLAIN(x, y) \
  _Generic((x), float: rheos__pow_is_plain, double: rheos__pow_is_plain_double)(x, y)
#define RHEOS__PLAIN_POW(x, y) \
  _Generic((x), float: rheos__plain_powf, double: rheos__plain_pow)(x, y)
#define RHEOS__POW(x, y) _Generic((x), float: rheos__powf, double: rheos__pow)(x, y)
#define RHEOS__EXP(x) _Generic((x), float: rheos__expf, double: rheos__exp)(x)
#define RHEOS__EXPM1(x) _Generic((x), float: rheos__expm1f, double: (expm1))(x)
#define RHEOS__LOG(x) _Generic((x), float: rheos__logf, double: rheos__log)(x)
#define RHEOS__TANH(x) _Generic((x), float: rheos__tanhf, double: rheos__tanh)(x)
#define RHEOS__SIGMOID(x) _Generic((x), float: rheos__sigmoidf, double: rheos__sigmoid)(x)
#define RHEOS__SOFTPLUS(x) _Generic((x), float: rheos__softplusf, double: rheos__softplus)(x)

#define RHEOS__ERF(x) _Generic((x), float: rheos__erff, double: (erf))(x)

#endif  // RHEOS_SRC_OPS_KIT_VECTOR_MATH_H
