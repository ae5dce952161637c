// Where pixels of a resized picture lie in the one it is made of, and which pixels they are made
// of: plain functions, so that they are part of programs for graphics cards too. The arithmetic is
// float in TensorFlow's order, so that the answers have its bits.
#ifndef RHEOS_SRC_OPS_IMAGE_RESIZE_FORMULAS_H
#define RHEOS_SRC_OPS_IMAGE_RESIZE_FORMULAS_H

#ifdef __OPENCL_VERSION__
typedef int rheos__pixel;
#else
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
typedef int64_t rheos__pixel;
#endif

static inline rheos__pixel rheos__clamp_index(rheos__pixel index, rheos__pixel count) {
  return index < 0 ? 0 : index < count ? index : count - 1;
}

// Where output pixel `at` lies in the input, in pixels.
static inline float rheos__resize_at(rheos__pixel at, float scale, bool half_pixel) {
  return half_pixel ? ((float)at + 0.5f) * scale - 0.5f : (float)at * scale;
}

static inline rheos__pixel rheos__nearest_at(rheos__pixel at, float scale, rheos__pixel count,
                                             bool half_pixel, bool align_corners) {
  const float place = ((float)at + (half_pixel ? 0.5f : 0.0f)) * scale;
  return rheos__clamp_index((rheos__pixel)(align_corners ? roundf(place) : floorf(place)), count);
}

// ---- Between two

typedef struct rheos__two_taps {
  rheos__pixel low, high;
  float share;  // of `high`
} rheos__two_taps;

static inline rheos__two_taps rheos__two_taps_at(float place, rheos__pixel count) {
  const float below = floorf(place);
  rheos__two_taps t;
  t.low = rheos__clamp_index((rheos__pixel)below, count);
  t.high = rheos__clamp_index((rheos__pixel)ceilf(place), count);
  t.share = place - below;
  return t;
}

// Between two by two: a and b are above c and d.
static inline float rheos__between(float a, float b, float c, float d, float across, float down) {
  const float top = a + (b - a) * across;
  const float bottom = c + (d - c) * across;
  return top + (bottom - top) * down;
}

// ---- The cubic of Keys (1981), as a table of a 1024th of a pixel

typedef struct rheos__four_taps {
  rheos__pixel index[4];
  float weight[4];
} rheos__four_taps;

// Weight of the nearer or the further neighbour `step` 1024ths away.
static inline float rheos__nearer_weight(double a, int step) {
  const float x = (float)((double)step / 1024);
  return (float)(((a + 2) * x - (a + 3)) * x * x + 1);
}
static inline float rheos__further_weight(double a, int step) {
  const float x = (float)((float)((double)step / 1024) + 1.0);
  return (float)(((a * x - 5 * a) * x + 8 * a) * x - 4 * a);
}

// With half_pixel weights outside the picture are left out and the others scaled to 1; without,
// pixels at the border count again.
static inline rheos__four_taps rheos__four_taps_at(rheos__pixel at, float scale, rheos__pixel count,
                                                   bool half_pixel) {
  const double a = half_pixel ? -0.5 : -0.75;
  const float place = rheos__resize_at(at, scale, half_pixel);
  const rheos__pixel here = (rheos__pixel)floorf(place);
  const int step = (int)rintf((place - (float)here) * 1024);
  rheos__four_taps t;
  t.weight[0] = rheos__further_weight(a, step);
  t.weight[1] = rheos__nearer_weight(a, step);
  t.weight[2] = rheos__nearer_weight(a, 1024 - step);
  t.weight[3] = rheos__further_weight(a, 1024 - step);
  for (int i = 0; i < 4; i++) {
    t.index[i] = rheos__clamp_index(here - 1 + i, count);
    if (half_pixel && t.index[i] != here - 1 + i) t.weight[i] = 0;
  }
  if (!half_pixel) return t;
  const float sum = t.weight[0] + t.weight[1] + t.weight[2] + t.weight[3];
  if (fabsf(sum) < 1000.0f * FLT_MIN) return t;
  const float inverse = 1.0f / sum;
  for (int i = 0; i < 4; i++) t.weight[i] *= inverse;
  return t;
}

static inline float rheos__mixed(const float *weight, float a, float b, float c, float d) {
  return a * weight[0] + b * weight[1] + c * weight[2] + d * weight[3];
}

// ---- The mean over an area

// The part of pixel `at` between `from` and `to`, which are `width` apart.
static inline float rheos__covered(rheos__pixel at, float from, float to, float width) {
  const float first = (float)at, next = (float)(at + 1);
  if (first < from) return next > to ? width : next - from;
  return next > to ? to - first : 1.0f;
}

// ---- Crops

// One line through a crop: where its first pixel lies in the picture, and the next after it.
typedef struct rheos__crop_line {
  float first, step;
} rheos__crop_line;

static inline rheos__crop_line rheos__crop_line_of(float from, float to, rheos__pixel crop_size,
                                                   rheos__pixel size) {
  const float last = (float)(size - 1);
  rheos__crop_line l;
  l.first = crop_size > 1 ? from * last : (float)(0.5 * (double)(from + to) * (double)last);
  l.step = crop_size > 1 ? (to - from) * last / (float)(crop_size - 1) : 0;
  return l;
}

// Pixel `at` of the line between two pixels of the picture; `valid` is false outside.
typedef struct rheos__crop_place {
  bool valid;
  rheos__pixel low, high, nearest;
  float share;  // of `high`
} rheos__crop_place;

static inline rheos__crop_place rheos__crop_place_of(rheos__crop_line line, rheos__pixel at,
                                                     rheos__pixel size) {
  const float in = line.first + (float)at * line.step;
  rheos__crop_place p;
  p.valid = in >= 0 && in <= (float)(size - 1);  // not NaN
  const float inside = p.valid ? in : 0;
  const rheos__two_taps t = rheos__two_taps_at(inside, size);
  p.low = t.low;
  p.high = t.high;
  p.nearest = rheos__clamp_index((rheos__pixel)roundf(inside), size);
  p.share = t.share;
  return p;
}

// What pixel `at` of such a line says about where it begins and ends: `by` is the gradient times
// the slope of the picture there.
static inline void rheos__crop_box_grad(float by, rheos__pixel at, rheos__pixel crop_size,
                                        rheos__pixel size, float *out_from, float *out_to) {
  const float last = (float)(size - 1);
  const float step = crop_size > 1 ? last / (float)(crop_size - 1) : 0;
  *out_from = crop_size > 1 ? by * (last - (float)at * step) : by * 0.5f * last;
  *out_to = crop_size > 1 ? by * ((float)at * step) : by * 0.5f * last;
}

#endif  // RHEOS_SRC_OPS_IMAGE_RESIZE_FORMULAS_H
