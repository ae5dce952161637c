// Sixteen-bit floats to and from float, rounding to nearest even, in integer arithmetic.
#include "tensor/tensor.h"

#include <assert.h>
#include <string.h>

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// Half: 1 sign, 5 exponent (bias 15), 10 fraction bits.
float rheos__half_to_float(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
  uint32_t exponent = (half >> 10) & 0x1fu;
  uint32_t fraction = half & 0x3ffu;
  if (exponent == 0x1f) return float_of(sign | 0x7f800000u | fraction << 13);
  if (exponent != 0) return float_of(sign | (exponent + 112) << 23 | fraction << 13);
  float value = (float)fraction * 0x1p-24f;  // subnormal: exact
  return sign != 0 ? -value : value;
}

// `value` >> `shift`, rounded to nearest even.
static uint32_t round_shift(uint32_t value, unsigned shift) {
  assert(shift >= 1 && shift < 32);
  uint32_t kept = value >> shift;
  uint32_t rest = value & ((1u << shift) - 1), tie = 1u << (shift - 1);
  return kept + (rest > tie || (rest == tie && (kept & 1u) != 0));
}

uint16_t rheos__float_to_half(float value) {
  uint32_t bits = bits_of(value);
  uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) {  // NaN stays one, and keeps the upper bits
    return (uint16_t)(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  }
  if (magnitude >= 0x47800000u) return (uint16_t)(sign | 0x7c00u);  // 2^16 and more
  if (magnitude >= 0x38800000u) {                                   // normal; may round to infinity
    return (uint16_t)(sign | (round_shift(magnitude, 13) - (112u << 10)));
  }
  if (magnitude < 0x33000000u) return (uint16_t)sign;  // below 2^-25
  uint32_t fraction = (magnitude & 0x7fffffu) | 0x800000u;
  return (uint16_t)(sign | round_shift(fraction, 126 - (magnitude >> 23)));
}

float rheos__bfloat16_to_float(uint16_t bits) { return float_of((uint32_t)bits << 16); }

uint16_t rheos__float_to_bfloat16(float value) {
  uint32_t bits = bits_of(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)((bits >> 16) | 0x40u);
  return (uint16_t)round_shift(bits, 16);
}

// ---- For programs

float rheos_half_to_float(uint16_t half) { return rheos__half_to_float(half); }
uint16_t rheos_float_to_half(float value) { return rheos__float_to_half(value); }
float rheos_bfloat16_to_float(uint16_t bfloat16) { return rheos__bfloat16_to_float(bfloat16); }
uint16_t rheos_float_to_bfloat16(float value) { return rheos__float_to_bfloat16(value); }
