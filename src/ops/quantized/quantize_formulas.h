// The grids that numbers are rounded to where quantization is only simulated: plain functions, so
// that they are part of programs for graphics cards too.
#ifndef RHEOS_SRC_OPS_QUANTIZED_QUANTIZE_FORMULAS_H
#define RHEOS_SRC_OPS_QUANTIZED_QUANTIZE_FORMULAS_H

#ifndef __OPENCL_VERSION__
#include <float.h>
#include <math.h>
#include <stdbool.h>
#endif

// ---- FakeQuantWithMinMax*: zero is on the grid, which is shifted for it

typedef struct rheos__fake_grid {
  float lowest, highest, scale, inverse, zero;
  bool is_nothing;  // the range 0 to 0: everything is 0
} rheos__fake_grid;

static inline rheos__fake_grid rheos__fake_grid_of(float lowest, float highest, int num_bits,
                                                   bool narrow_range) {
  rheos__fake_grid g;
  g.lowest = g.highest = g.scale = g.inverse = g.zero = 0;
  g.is_nothing = lowest == 0 && highest == 0;
  if (g.is_nothing) return g;
  const float first = narrow_range ? 1 : 0, last = (float)((1 << num_bits) - 1);
  g.scale = (highest - lowest) / (last - first);
  const float at = first - lowest / g.scale;
  const float zero = at < first ? first : at > last ? last : roundf(at);
  g.lowest = (first - zero) * g.scale;
  g.highest = (last - zero) * g.scale;
  g.inverse = 1 / g.scale;
  g.zero = floorf(-g.lowest * g.inverse + 0.5f);
  return g;
}

static inline float rheos__on_fake_grid(rheos__fake_grid g, float x) {
  if (g.is_nothing) return 0;
  const float clamped = x < g.lowest ? g.lowest : x > g.highest ? g.highest : x;
  return floorf((clamped - g.lowest) * g.inverse - g.zero + 0.5f) * g.scale;
}

// Whether x gets its gradient; below or above, an end of the range does.
static inline bool rheos__is_on_fake_grid(rheos__fake_grid g, float x) {
  return g.is_nothing || (x >= g.lowest && x <= g.highest);
}

// ---- QuantizeAndDequantize*: the side of the range that is wider for its integers, `low` to
// `high`, sets the grid

#define ROUND_GRID(S, largest)                                                            \
  typedef struct rheos__grid_##S {                                                        \
    S least, most; /* what lies beyond is moved there */                                  \
    S factor, inverse;                                                                    \
  } rheos__grid_##S;                                                                      \
  static inline rheos__grid_##S rheos__grid_of_##S(S low, S high, S lowest, S highest) {  \
    const S from_low = low * lowest > 0 ? low / lowest : largest;                         \
    const S from_high = high * highest > 0 ? high / highest : largest;                    \
    rheos__grid_##S g;                                                                    \
    if (from_low < from_high) {                                                           \
      g.least = lowest;                                                                   \
      g.most = high * (lowest / low);                                                     \
      g.factor = from_low;                                                                \
      g.inverse = lowest / low;                                                           \
    } else {                                                                              \
      g.least = low * (highest / high);                                                   \
      g.most = highest;                                                                   \
      g.factor = from_high;                                                               \
      g.inverse = highest / high;                                                         \
    }                                                                                     \
    return g;                                                                             \
  }                                                                                       \
  static inline S rheos__on_grid_##S(rheos__grid_##S g, S x, bool clamps, bool half_up) { \
    const S clamped = !clamps ? x : x < g.least ? g.least : x > g.most ? g.most : x;      \
    const S v = clamped * g.factor;                                                       \
    return (S)(half_up ? floor((double)(v + (S)0.5)) : rint((double)v)) * g.inverse;      \
  }
ROUND_GRID(float, FLT_MAX)
#if !defined(__OPENCL_VERSION__) || defined(RHEOS_HAS_DOUBLE)
ROUND_GRID(double, DBL_MAX)
#endif

#endif  // RHEOS_SRC_OPS_QUANTIZED_QUANTIZE_FORMULAS_H
