// Colors of single pixels: plain functions, so that they are part of programs for graphics cards
// too. Hue is a place on a circle of six stretches, in each of which one of red, green and blue is
// largest and one smallest.
#ifndef RHEOS_SRC_OPS_IMAGE_COLOR_FORMULAS_H
#define RHEOS_SRC_OPS_IMAGE_COLOR_FORMULAS_H

#ifdef __OPENCL_VERSION__
#define COLOR_TABLE constant int
#else
#include <math.h>
#define COLOR_TABLE static const int
#endif

#define HSV_PIXELS(C, suffix)                                                            \
  static inline C hue_of##suffix(const C *in, C most, C range) {                         \
    const C r = in[0], g = in[1], b = in[2], norm = (C)1 / range * ((C)1 / (C)6);        \
    const C hue = r == most   ? norm * (g - b)                                           \
                  : g == most ? norm * (b - r) + (C)2 / (C)6                             \
                              : norm * (r - g) + (C)4 / (C)6;                            \
    return !(range > 0) ? 0 : hue < 0 ? hue + 1 : hue;                                   \
  }                                                                                      \
  static inline void to_hsv##suffix(const C *in, C *out) {                               \
    const C r = in[0], g = in[1], b = in[2];                                             \
    const C most = r > g ? (r > b ? r : b) : (g > b ? g : b);                            \
    const C least = r < g ? (r < b ? r : b) : (g < b ? g : b);                           \
    const C range = most - least;                                                        \
    out[0] = hue_of##suffix(in, most, range);                                            \
    out[1] = most > 0 ? range / most : (C)0;                                             \
    out[2] = most;                                                                       \
  }                                                                                      \
  static inline C color_share##suffix(C x) { return x < 0 ? 0 : x > 1 ? 1 : x; }         \
  static inline void to_rgb##suffix(const C *in, C *out) {                               \
    const C hue = in[0] * 6, s = in[1], v = in[2];                                       \
    for (int i = 0; i < 3; i++) {                                                        \
      const C away = hue - (i == 0 ? 3 : i == 1 ? 2 : 4), far = away < 0 ? -away : away; \
      const C share = color_share##suffix(i == 0 ? far - 1 : 2 - far);                   \
      out[i] = ((1 - s) + s * share) * v;                                                \
    }                                                                                    \
  }
HSV_PIXELS(float, )
#if !defined(__OPENCL_VERSION__) || defined(RHEOS_HAS_DOUBLE)
HSV_PIXELS(double, _wide)
#endif

// Which channels are largest, middle and smallest on each stretch of the circle.
COLOR_TABLE color_order[6][3] = {{0, 1, 2}, {1, 0, 2}, {1, 2, 0}, {2, 1, 0}, {2, 0, 1}, {0, 2, 1}};
COLOR_TABLE color_stretches[3][3] = {{-1, 0, 5}, {1, -1, 2}, {4, 3, -1}};  // [largest][middle]

// The stretch of a color. NaN compares false, which decides where it goes: as in TensorFlow.
static inline int stretch_of(const float *c) {
  const float r = c[0], g = c[1], b = c[2];
  const int top = r < g ? (b > g ? 2 : 1) : (b > r ? 2 : 0);
  const int bottom = r < g ? (b < r ? 2 : 0) : (b < g ? 2 : 1);
  return color_stretches[top][3 - top - bottom];
}

// The hue turned by `amount` of the circle; the largest and smallest channel keep their values.
static inline void hue_pixel(const float *in, float amount, float *out) {
  int stretch = stretch_of(in);
  const float most = in[color_order[stretch][0]], least = in[color_order[stretch][2]];
  float hue = 0;
  if (most != least) {
    const float ratio = (in[color_order[stretch][1]] - least) / (most - least);
    hue = (float)stretch + (stretch % 2 == 0 ? ratio : 1 - ratio);
  }
  hue = fmodf(hue + amount * 6, 6.0f);
  if (hue < 0) hue += 6;
  stretch = isnan(hue) ? 5 : hue < 6 ? (int)hue : 0;
  const float part = hue - (float)stretch;
  out[color_order[stretch][0]] = most;
  out[color_order[stretch][1]] = least + (stretch % 2 == 0 ? part : 1 - part) * (most - least);
  out[color_order[stretch][2]] = least;
}

static inline float second_if_more(float a, float b) { return a < b ? b : a; }
static inline float second_if_less(float a, float b) { return b < a ? b : a; }

// A color without a hue (NaN or infinite channels) becomes gray.
static inline void saturation_pixel(const float *in, float amount, float *out) {
  const float r = in[0], g = in[1], b = in[2];
  const float most = second_if_more(r, second_if_more(g, b));
  const float range = most - second_if_less(r, second_if_less(g, b));
  const float saturation = fminf(1.0f, fmaxf(0.0f, (most > 0 ? range / most : 0) * amount));
  const float chroma = saturation * most, rest = most - chroma;
  const float hue = hue_of(in, most, range) * 6;
  out[0] = out[1] = out[2] = rest;
  if (isnan(hue)) return;
  const int stretch = hue >= 0 && hue < 6 ? (int)hue : 0;
  out[color_order[stretch][0]] = chroma + rest;
  out[color_order[stretch][1]] = chroma * (1 - fabsf(fmodf(hue, 2.0f) - 1)) + rest;
}

#endif  // RHEOS_SRC_OPS_IMAGE_COLOR_FORMULAS_H
