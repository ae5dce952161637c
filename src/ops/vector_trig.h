// sin, cos and tan for float, of any size, without branches or calls: loops over them become vector
// code. Computed in double, rounded once.
//
// Quarter turns t = x 2/pi are exact enough even for the largest float after Payne and Hanek, "Radian
// reduction for trigonometric functions" (SIGNUM Newsletter 18, 1983): only the part of 2/pi that
// matters for x's exponent is multiplied, as multiples of 4 quarter turns change nothing.
#ifndef RHEOS_SRC_OPS_VECTOR_TRIG_H
#define RHEOS_SRC_OPS_VECTOR_TRIG_H

#include "ops/vector_math.h"

typedef struct rheos__quarter_turns {
  double part;     // from -1/2 to 1/2
  uint64_t whole;  // only its last two bits count
} rheos__quarter_turns;

// Of a number below 2^52; there is no vector instruction for it.
static inline double rheos__double_of_whole(uint64_t whole) {
  const uint64_t bits = whole | UINT64_C(0x4330000000000000);  // 2^52 + whole
  double value;
  memcpy(&value, &bits, sizeof value);
  return value - 0x1p52;
}

// NaN for infinities and NaN.
static inline rheos__quarter_turns rheos__quarter_turns_of(float x) {
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
  const double rest =
      mantissa * (rheos__double_of_whole((high << 29 | low >> 35) >> 12) * 0x1p-79);
  const double shifter = 0x1.8p52, shifted = turns + shifter;  // rounds to a whole number
  uint64_t whole;
  memcpy(&whole, &shifted, sizeof whole);
  const rheos__quarter_turns result = {(turns - (shifted - shifter)) + rest + (x - x), whole};
  return result;
}

// The sine (even quarters) or cosine (odd ones) of `part`, with the sign of the quarter.
static inline double rheos__sine_of_turns(double part, uint64_t whole) {
  const double z = part * part;
  const double sine =
      part * (1.5707963267881075 +
              z * (-0.6459640961476641 +
                   z * (0.07969258274303022 +
                        z * (-0.004681266368231455 + z * 0.00015820652687507355))));
  const double cosine =
      0.9999999999999447 +
      z * (-1.2337005501201614 +
           z * (0.25366950715373004 +
                z * (-0.020863468002250952 +
                     z * (0.0009191617359138592 + z * -2.4850960040534945e-05))));
  const double value = (whole & 1) != 0 ? cosine : sine;
  return (whole & 2) != 0 ? -value : value;
}

static inline float rheos__sinf(float x) {
  const rheos__quarter_turns t = rheos__quarter_turns_of(x);
  const float y = (float)rheos__sine_of_turns(t.part, t.whole);
  return x == 0 ? x : y;  // keeps the sign of zero
}

static inline float rheos__cosf(float x) {
  const rheos__quarter_turns t = rheos__quarter_turns_of(x);
  return (float)rheos__sine_of_turns(t.part, t.whole + 1);
}

static inline float rheos__tanf(float x) {
  const rheos__quarter_turns t = rheos__quarter_turns_of(x);
  const double sine = rheos__sine_of_turns(t.part, t.whole);
  const float y = (float)(sine / rheos__sine_of_turns(t.part, t.whole + 1));
  return x == 0 ? x : y;
}

#define RHEOS__SIN(x) _Generic((x), float: rheos__sinf, double: (sin))(x)
#define RHEOS__COS(x) _Generic((x), float: rheos__cosf, double: (cos))(x)
#define RHEOS__TAN(x) _Generic((x), float: rheos__tanf, double: (tan))(x)

#endif  // RHEOS_SRC_OPS_VECTOR_TRIG_H
