// Resized pictures. Who includes this says how: NEAREST, BILINEAR, BICUBIC or AREA, and whether
// HALF_PIXEL and ALIGN_CORNERS. A work-item has a channel of a pixel.
typedef struct resize {
  int batch, in_height, in_width, out_height, out_width, channels;
  float height_scale, width_scale, area;  // area: one over that of an output pixel
} resize;

// Pixels that one is made of along a dimension.
#if NEAREST
enum { TAPS = 1 };
#elif BICUBIC
enum { TAPS = 4 };
#else
enum { TAPS = 2 };
#endif
typedef struct taps {
  int index[TAPS];
  float weight[TAPS];
} taps;

taps taps_at(int at, float scale, int count) {
  taps t;
#if NEAREST
  t.index[0] = rheos__nearest_at(at, scale, count, HALF_PIXEL, ALIGN_CORNERS);
  t.weight[0] = 1;
#elif BICUBIC
  const rheos__four_taps f = rheos__four_taps_at(at, scale, count, HALF_PIXEL);
  for (int k = 0; k < 4; k++) {
    t.index[k] = f.index[k];
    t.weight[k] = f.weight[k];
  }
#else
  const rheos__two_taps f =
      rheos__two_taps_at(rheos__resize_at(at, scale, HALF_PIXEL), count);
  t.index[0] = f.low;
  t.index[1] = f.high;
  t.weight[0] = 1 - f.share;
  t.weight[1] = f.share;
#endif
  return t;
}

// ---- Forward

// Channel c of a pixel of the input, as a float.
#define PIXEL(y, x) ((float)LOAD(xs[((n * r.in_height + (y)) * r.in_width + (x)) * r.channels + c]))

#define PLACE(height, width)                                             \
  int rest = (int)get_global_id(0);                                      \
  if (rest >= count) return;                                             \
  const int c = rest % r.channels;                                       \
  rest /= r.channels;                                                    \
  const int x = rest % (width);                                          \
  rest /= (width);                                                       \
  const int y = rest % (height), n = rest / (height);

#if NEAREST
kernel void forward(global const char *bx, ulong ox, global char *bz, ulong oz, resize r,
                    int count) {
  PLACE(r.out_height, r.out_width)
  const int row = taps_at(y, r.height_scale, r.in_height).index[0];
  const int column = taps_at(x, r.width_scale, r.in_width).index[0];
  ((global STORED *)(bz + oz))[get_global_id(0)] = ((global const STORED *)(
      bx + ox))[((n * r.in_height + row) * r.in_width + column) * r.channels + c];
}
#else
float resized(global const STORED *xs, resize r, int n, int y, int x, int c) {
#if BILINEAR
  const rheos__two_taps down = rheos__two_taps_at(
      rheos__resize_at(y, r.height_scale, HALF_PIXEL), r.in_height);
  const rheos__two_taps across = rheos__two_taps_at(
      rheos__resize_at(x, r.width_scale, HALF_PIXEL), r.in_width);
  return rheos__between(PIXEL(down.low, across.low), PIXEL(down.low, across.high),
                        PIXEL(down.high, across.low), PIXEL(down.high, across.high),
                        across.share, down.share);
#elif BICUBIC
  const taps down = taps_at(y, r.height_scale, r.in_height);
  const taps across = taps_at(x, r.width_scale, r.in_width);
  float columns[4];
  for (int k = 0; k < 4; k++) {
    columns[k] = rheos__mixed(down.weight, PIXEL(down.index[0], across.index[k]),
                              PIXEL(down.index[1], across.index[k]),
                              PIXEL(down.index[2], across.index[k]),
                              PIXEL(down.index[3], across.index[k]));
  }
  return rheos__mixed(across.weight, columns[0], columns[1], columns[2], columns[3]);
#else
  const float top = (float)y * r.height_scale, bottom = (float)(y + 1) * r.height_scale;
  const float left = (float)x * r.width_scale, right = (float)(x + 1) * r.width_scale;
  const int first = (int)floor(left), end = (int)ceil(right);
  float total = 0;
  for (int i = (int)floor(top); i < (int)ceil(bottom); i++) {
    const int row = rheos__clamp_index(i, r.in_height);
    float sum = PIXEL(row, rheos__clamp_index(first, r.in_width)) *
                rheos__covered(first, left, right, r.width_scale);
    for (int j = first + 1; j < end; j++) {
      const float value = PIXEL(row, rheos__clamp_index(j, r.in_width));
      sum += j + 1 < end ? value : value * rheos__covered(j, left, right, r.width_scale);
    }
    total += sum * rheos__covered(i, top, bottom, r.height_scale);
  }
  return total * r.area;
#endif
}

kernel void forward(global const char *bx, ulong ox, global char *bz, ulong oz, resize r,
                    int count) {
  PLACE(r.out_height, r.out_width)
  ((global float *)(bz + oz))[get_global_id(0)] =
      resized((global const STORED *)(bx + ox), r, n, y, x, c);
}
#endif

// ---- Backward

// The output pixels [x, y) that may be made of input pixel `at`: pixels are at most two and a half
// away from those that they are made of, and what the numbers are rounded by is less than another.
int2 made_of(int at, float scale, int count) {
  const float shift = HALF_PIXEL ? 0.5f : 0.0f;
  if (scale == 0) return (int2)(0, count);
  const float first = ((float)at - 3 + shift) / scale - shift - 2;
  const float last = ((float)at + 3 + shift) / scale - shift + 3;
  return (int2)(clamp(convert_int_sat(first), 0, count), clamp(convert_int_sat(last), 0, count));
}

// A gradient is a float, but of NEAREST one of the output's numbers.
#if NEAREST
#define GRAD STORED
#define PART(g, a, b) LOAD(g)
#elif BICUBIC
#define GRAD float
#define PART(g, a, b) ((COMPUTED)(g) * (a) * (b))
#else
#define GRAD float
#define PART(g, a, b) ((g) * (a) * (b))
#endif

kernel void backward(global const char *bg, ulong og, global char *bz, ulong oz, resize r,
                     int count) {
  PLACE(r.in_height, r.in_width)
  global const GRAD *gs = (global const GRAD *)(bg + og) + n * r.out_height * r.out_width * r.channels;
  const int2 rows = made_of(y, r.height_scale, r.out_height);
  const int2 columns = made_of(x, r.width_scale, r.out_width);
  COMPUTED sum = 0;
  for (int i = rows.x; i < rows.y; i++) {
    const taps down = taps_at(i, r.height_scale, r.in_height);
    bool takes = false;
    for (int k = 0; k < TAPS; k++) takes |= down.index[k] == y;
    if (!takes) continue;
    for (int j = columns.x; j < columns.y; j++) {
      const taps across = taps_at(j, r.width_scale, r.in_width);
      for (int k = 0; k < TAPS; k++) {
        for (int l = 0; l < TAPS; l++) {
          if (down.index[k] != y || across.index[l] != x) continue;
          const GRAD g = gs[(i * r.out_width + j) * r.channels + c];
          const COMPUTED part = LOAD(STORE(PART(g, down.weight[k], across.weight[l])));
          sum = LOAD(STORE(W(sum) + W(part)));
        }
      }
    }
  }
  ((global STORED *)(bz + oz))[get_global_id(0)] = STORE(sum);
}
