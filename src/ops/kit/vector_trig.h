// sin, cos and tan for float, of any size, without branches or calls: loops over them become vector
// code. Two forms of each: for any number, computed in double and rounded once; and a faster one
// for numbers below RHEOS__NEAR_ANGLE, within 1.6 units in the last place. For double the second of
// sin and cos.
//
// Quarter turns t = x 2/pi are exact enough even for the largest float after Payne and Hanek,
// "Radian reduction for trigonometric functions" (SIGNUM Newsletter 18, 1983): only the part of
// 2/pi that matters for x's exponent is multiplied, as multiples of 4 quarter turns change nothing.
#ifndef RHEOS_SRC_OPS_KIT_VECTOR_TRIG_H
#define RHEOS_SRC_OPS_KIT_VECTOR_TRIG_H

#include "ops/kit/vector_math.h"

typedef struct rheos__quarter_turns {
  double part;     // from -1/2 to 1/2
  uint64_t whole;  // only its last two bits count
} rheos__quarter_turns;

// Of a number below 2^52; there is no vector instruction for it.
RHEOS__VECTOR double rheos__double_of_whole(uint64_t whole) {
  const uint64_t bits = whole | UINT64_C(0x4330000000000000);  // 2^52 + whole
  double value;
  memcpy(&value, &bits, sizeof value);
  return value - 0x1p52;
}

// NaN for infinities and NaN.
RHEOS__VECTOR rheos__quarter_turns rheos__quarter_turns_of(float x) {
  // x = mantissa 2^(shift + 2), a whole number where it is 4 or more
  const int32_t exponent = (int32_t)(rheos__bits_of_float(x) >> 23 & 255) - 127;
  const int32_t shift = exponent < 25 ? 0 : exponent - 25;
  const uint64_t scale_bits = (uint64_t)(1023 - 2 - shift) << 52;
  double scale;
  memcpy(&scale, &scale_bits, sizeof scale);
  const double mantissa = (double)x * scale;
  // 128 bits of 2/pi, from `shift` on
  const uint64_t w0 = UINT64_C(0xa2f9836e4e441529), w1 = UINT64_C(0xfc2757d1f534ddc0);
  const uint64_t w2 = UINT64_C(0xdb6295993c439041), w3 = UINT64_C(0xfe5163abdebbc561);
  const uint64_t a = shift < 64 ? w0 : w1, b = shift < 64 ? w1 : w2, c = shift < 64 ? w2 : w3;
  const uint64_t left = (uint64_t)shift & 63, right = 63 - left;
  const uint64_t high = a << left | b >> 1 >> right, low = b << left | c >> 1 >> right;
  // The first 29 of them times 24 bits of x are exact in double; the next 52 are rounded
  const double turns = mantissa * (rheos__double_of_whole(high >> 35) * 0x1p-27);
  const double rest = mantissa * (rheos__double_of_whole((high << 29 | low >> 35) >> 12) * 0x1p-79);
  const double shifter = 0x1.8p52, shifted = turns + shifter;  // rounds to a whole number
  uint64_t whole;
  memcpy(&whole, &shifted, sizeof whole);
  const rheos__quarter_turns result = {(turns - (shifted - shifter)) + rest + (x - x), whole};
  return result;
}

// The sine (even quarters) or cosine (odd ones) of `part`, with the sign of the quarter.
RHEOS__VECTOR double rheos__sine_of_turns(double part, uint64_t whole) {
  const double z = part * part;
  const double sine =
      part *
      (1.5707963267881075 +
       z * (-0.6459640961476641 +
            z * (0.07969258274303022 + z * (-0.004681266368231455 + z * 0.00015820652687507355))));
  const double cosine = 0.9999999999999447 +
                        z * (-1.2337005501201614 +
                             z * (0.25366950715373004 +
                                  z * (-0.020863468002250952 +
                                       z * (0.0009191617359138592 + z * -2.4850960040534945e-05))));
  const double value = (whole & 1) != 0 ? cosine : sine;
  return (whole & 2) != 0 ? -value : value;
}

RHEOS__VECTOR float rheos__sinf(float x) {
  const rheos__quarter_turns t = rheos__quarter_turns_of(x);
  const float y = (float)rheos__sine_of_turns(t.part, t.whole);
  return x == 0 ? x : y;  // keeps the sign of zero
}

RHEOS__VECTOR float rheos__cosf(float x) {
  const rheos__quarter_turns t = rheos__quarter_turns_of(x);
  return (float)rheos__sine_of_turns(t.part, t.whole + 1);
}

RHEOS__VECTOR float rheos__tanf(float x) {
  const rheos__quarter_turns t = rheos__quarter_turns_of(x);
  const double sine = rheos__sine_of_turns(t.part, t.whole);
  const float y = (float)(sine / rheos__sine_of_turns(t.part, t.whole + 1));
  return x == 0 ? x : y;
}

// ---- Below RHEOS__NEAR_ANGLE

#define RHEOS__NEAR_ANGLE 0x1p17f

// The quarter turns of an angle below RHEOS__NEAR_ANGLE, for which the first bits of 2/pi are those
// that matter.
RHEOS__VECTOR rheos__quarter_turns rheos__quarter_turns_near(float x) {
  const double turns = (double)x * 0x1.45f306dp-1, rest = (double)x * 0x1.9391054a7f09dp-30;
  const double shifter = 0x1.8p52, shifted = turns + shifter;
  uint64_t whole;
  memcpy(&whole, &shifted, sizeof whole);
  const rheos__quarter_turns result = {(turns - (shifted - shifter)) + rest, whole};
  return result;
}

// The sine, `quarter` quarter turns on. The angle that is left, within pi/4 and a little, is exact
// after the first part of pi/2, whose bits and x's begin and end at most 24 apart; the series were
// fitted at Chebyshev points, within 5e-9.
RHEOS__VECTOR float rheos__sine_near(float x, uint32_t quarter) {
  const float shifter = 12582912.0f;  // rounds
  const float shifted = RHEOS__FMA(x, 0.636619772f, shifter), turns = shifted - shifter;
  float r = RHEOS__FMA(turns, -0x1.921fb6p+0f, x);
  r = RHEOS__FMA(turns, 0x1.777a5cp-25f, r);
  r = RHEOS__FMA(turns, 0x1.ee59dap-50f, r);
  const float z = r * r;
  const uint32_t whole = rheos__bits_of_float(shifted) + quarter;
  float s = -0.00019504317f, c = 2.4423888e-05f;
  s = RHEOS__FMA(s, z, 0.008332083f);
  s = RHEOS__FMA(s, z, -0.16666654f);
  s = RHEOS__FMA(r * z, s, r);
  c = RHEOS__FMA(c, z, -0.0013887243f);
  c = RHEOS__FMA(c, z, 0.041666645f);
  c = RHEOS__FMA(z * z, c, RHEOS__FMA(-0.5f, z, 1.0f));
  const float value = (whole & 1) != 0 ? c : s;
  return rheos__float_of_bits(rheos__bits_of_float(value) ^ (whole & 2) << 30);
}

RHEOS__VECTOR float rheos__sinf_near(float x) { return x == 0 ? x : rheos__sine_near(x, 0); }
RHEOS__VECTOR float rheos__cosf_near(float x) { return rheos__sine_near(x, 1); }
RHEOS__VECTOR float rheos__tanf_near(float x) {
  const rheos__quarter_turns t = rheos__quarter_turns_near(x);
  const double sine = rheos__sine_of_turns(t.part, t.whole);
  const float y = (float)(sine / rheos__sine_of_turns(t.part, t.whole + 1));
  return x == 0 ? x : y;
}

// For double, within one unit in the last place: the angle that is left, a sum of two, after three
// parts of pi/2, whose first leaves it exact; the series were fitted at Chebyshev points, within
// 2e-20.
RHEOS__VECTOR double rheos__sine_near_double(double x, uint64_t quarter) {
  const double shifter = 0x1.8p52;
  const double shifted = RHEOS__FMA(x, 0x1.45f306dc9c883p-1, shifter), n = shifted - shifter;
  const double a = RHEOS__FMA(n, -0x1.921fb54442d18p+0, x);
  const double t = n * 0x1.1a62633145c07p-54, r = a - t;
  const double t_low = RHEOS__FMA(n, 0x1.1a62633145c07p-54, -t);
  const double low = ((a - r) - t) - t_low + n * 0x1.f1976b7ed8fbcp-110;
  const uint64_t whole = rheos__bits_of_double(shifted) + quarter;
  const double z = r * r, half = 0.5 * z, one = 1 - half;
  double s = -0x1.ab17d373ff85ap-41, c = 0x1.ab785a7fd505ep-45;
  s = RHEOS__FMA(s, z, 0x1.61217f0a8a4adp-33);
  s = RHEOS__FMA(s, z, -0x1.ae645412c42aap-26);
  s = RHEOS__FMA(s, z, 0x1.71de3a5460950p-19);
  s = RHEOS__FMA(s, z, -0x1.a01a01a019938p-13);
  s = RHEOS__FMA(s, z, 0x1.1111111111110p-7);
  s = RHEOS__FMA(s, z, -0x1.5555555555555p-3);
  c = RHEOS__FMA(c, z, -0x1.9394ba0bfc4ebp-37);
  c = RHEOS__FMA(c, z, 0x1.1eed8deb971f9p-29);
  c = RHEOS__FMA(c, z, -0x1.27e4fb7712d60p-22);
  c = RHEOS__FMA(c, z, 0x1.a01a01a019d0ap-16);
  c = RHEOS__FMA(c, z, -0x1.6c16c16c16c16p-10);
  c = RHEOS__FMA(c, z, 0x1.5555555555555p-5);
  const double sine = r + RHEOS__FMA(r * z, s, low * one);
  const double cosine = one + (((1 - one) - half) + RHEOS__FMA(z * z, c, -r * low));
  const double value = (whole & 1) != 0 ? cosine : sine;
  return rheos__double_of_bits(rheos__bits_of_double(value) ^ (whole & 2) << 62);
}

RHEOS__VECTOR double rheos__sin_near(double x) {
  return x == 0 ? x : rheos__sine_near_double(x, 0);
}
RHEOS__VECTOR double rheos__cos_near(double x) { return rheos__sine_near_double(x, 1); }

#endif  // RHEOS_SRC_OPS_KIT_VECTOR_TRIG_H
