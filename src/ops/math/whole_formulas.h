// What the formulas of whole numbers use: plain functions, so that they are part of programs for
// graphics cards too. The result of the one quotient that overflows, the least number by -1, wraps
// around as sums and products do.
#ifndef RHEOS_SRC_OPS_MATH_WHOLE_FORMULAS_H
#define RHEOS_SRC_OPS_MATH_WHOLE_FORMULAS_H

static inline int64_t quotient(int64_t x, int64_t y, int *failed) {
  if (y == 0) *failed = 1;
  if (y == 0) return 0;
  return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}
static inline int64_t remainder_of(int64_t x, int64_t y, int *failed) {
  if (y == 0) *failed = 1;
  return y == 0 || y == -1 ? 0 : x % y;
}
static inline int64_t floor_quotient(int64_t x, int64_t y, int *failed) {
  const int64_t q = quotient(x, y, failed);
  return remainder_of(x, y, failed) != 0 && (x < 0) != (y < 0) ? q - 1 : q;
}
static inline int64_t floor_remainder(int64_t x, int64_t y, int *failed) {
  const int64_t r = remainder_of(x, y, failed);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
static inline uint64_t unsigned_quotient(uint64_t x, uint64_t y, int *failed) {
  if (y == 0) *failed = 1;
  return y == 0 ? 0 : x / y;
}
static inline uint64_t unsigned_remainder(uint64_t x, uint64_t y, int *failed) {
  if (y == 0) *failed = 1;
  return y == 0 ? 0 : x % y;
}
// x^y by squaring, for y >= 0; the low bits are right for every width.
static inline uint64_t whole_power(uint64_t x, uint64_t y) {
  uint64_t product = 1;
  for (; y != 0; y >>= 1, x *= x) {
    if (y & 1) product *= x;
  }
  return product;
}
static inline uint64_t signed_power(int64_t x, int64_t y, int *failed) {
  if (y < 0) *failed = 1;
  return y < 0 ? 0 : whole_power((uint64_t)x, (uint64_t)y);
}
static inline int64_t reciprocal_of_integer(int64_t x, int *failed) {
  if (x == 0) *failed = 1;
  return x == 1 || x == -1 ? x : 0;
}

#endif  // RHEOS_SRC_OPS_MATH_WHOLE_FORMULAS_H
