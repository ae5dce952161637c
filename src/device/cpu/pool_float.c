// Pooling of float32 images that have their channels last: the formulas of the reference kernels,
// over a few channels at a time, which are kept in registers while the window's elements go by.
// Same bits as the reference, but for averages: small windows are summed in float, as TensorFlow
// does, and the gradient multiplies instead of dividing.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include "device/cpu/pool_float.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "ops/kit/elementwise.h"
#include "ops/kit/vector_math.h"
#include "ops/nn/pool.h"

// Channels that are worked on together; those that one unit of a gradient of the largest has.
// And the largest windows whose average is of sums in float; how many sums of columns are kept for
// it, so that they and what they are made of stay in the first-level cache.
enum { LANES = 32, CHUNK = 64, FEW = 25, COLUMN_SUMS = 4096 };

// The part of a window that lies inside the image: pixels (z, y, x) from first to last.
typedef struct box {
  int64_t first[RHEOS__WINDOW_DIMS], last[RHEOS__WINDOW_DIMS];
} box;

static box box_of(const rheos__pool *p, int64_t oz, int64_t oy, int64_t ox) {
  const int64_t at[] = {oz, oy, ox};
  box b;
  for (int d = 0; d < RHEOS__WINDOW_DIMS; d++) {
    const rheos__window *w = &p->windows.dims[d];
    const int64_t start = at[d] * w->stride - w->before, end = start + w->kernel;
    b.first[d] = start > 0 ? start : 0;
    b.last[d] = end < w->in ? end : w->in;
  }
  return b;
}

static double pixels_of(const box *b) {
  double count = 1;
  for (int d = 0; d < RHEOS__WINDOW_DIMS; d++) count *= (double)(b->last[d] - b->first[d]);
  return count;
}

// Over the pixels of box `b`, in order: `at` is where pixel number k is, from the batch entry on.
#define FOR_PIXELS(b)                                                              \
  for (int64_t z = (b)->first[0], k = 0; z < (b)->last[0]; z++)                    \
    for (int64_t y = (b)->first[1]; y < (b)->last[1]; y++)                         \
      for (int64_t x = (b)->first[2],                                              \
                   at = z * p->in.dims[0] + y * p->in.dims[1] + x * p->in.dims[2]; \
           x < (b)->last[2]; x++, at += p->in.dims[2], k++)

// A loop over `n` lanes: the compiler makes vector code of the case that all are used.
#define FOR_LANES(body)                                               \
  do {                                                                \
    if (n == LANES) {                                                 \
      RHEOS__KEEP_LANES for (int64_t j = 0; j < LANES; j++) { body; } \
    } else {                                                          \
      for (int64_t j = 0; j < n; j++) {                               \
        body;                                                         \
      }                                                               \
    }                                                                 \
  } while (0)

// ---- Of a window's pixels, for `n` channels from `x` on; `x` is the batch entry

typedef void (*window_fn)(const rheos__pool *p, const box *b, const float *x, int64_t n, float *y);

#define WINDOW_FN(name, TOTAL, start, step, result)                                              \
  RHEOS__WIDEST static void name(const rheos__pool *p, const box *b, const float *xs, int64_t n, \
                                 float *ys) {                                                    \
    TOTAL totals[LANES];                                                                         \
    const TOTAL count = (TOTAL)pixels_of(b);                                                     \
    (void)count;                                                                                 \
    for (int j = 0; j < LANES; j++) totals[j] = start;                                           \
    FOR_PIXELS(b) {                                                                              \
      const float *pixel = xs + at;                                                              \
      (void)k;                                                                                   \
      FOR_LANES(const TOTAL a = totals[j]; const TOTAL v = (TOTAL)pixel[j]; totals[j] = step);   \
    }                                                                                            \
    FOR_LANES(const TOTAL a = totals[j]; ys[j] = (float)(result));                               \
  }
WINDOW_FN(largest, float, -FLT_MAX, v > a ? v : a, a)
WINDOW_FN(largest_3d, float, -INFINITY, a > v ? a : v, a)
WINDOW_FN(average, double, 0, a + v, a / count)

// A row of the result.
static void pool_row(const rheos__pool *p, const float *in, float *out, int64_t unit,
                     window_fn window) {
  const rheos__window *w = p->windows.dims;
  const int64_t n = unit / w[1].out / w[0].out;
  const int64_t oz = unit / w[1].out % w[0].out, oy = unit % w[1].out;
  const float *x = in + n * p->in.batch;
  float *y = out + n * p->out.batch + oz * p->out.dims[0] + oy * p->out.dims[1];
  for (int64_t ox = 0; ox < w[2].out; ox++, y += p->out.dims[2]) {
    const box b = box_of(p, oz, oy, ox);
    for (int64_t c = 0; c < p->channels; c += LANES) {
      window(p, &b, x + c, p->channels - c < LANES ? p->channels - c : LANES, y + c);
    }
  }
}

static void max_row(const rheos__pool *p, const void *const *inputs, void *const *outputs,
                    bool wide_index, int64_t unit) {
  (void)wide_index;
  pool_row(p, inputs[0], outputs[0], unit, largest);
}
static void max_3d_row(const rheos__pool *p, const void *const *inputs, void *const *outputs,
                       bool wide_index, int64_t unit) {
  (void)wide_index;
  pool_row(p, inputs[0], outputs[0], unit, largest_3d);
}

// ---- Averages of small windows: rows are added up first, then columns of these sums

// to[j] = rows[0][j] + rows[1][j] + ..., in this order.
RHEOS__VECTOR void add_up(const float *const *rows, int64_t count, int64_t n, float *restrict to) {
  int64_t done = count < 3 ? count : 3;
  if (count < 1) memset(to, 0, (size_t)n * sizeof *to);
  if (count == 1) memcpy(to, rows[0], (size_t)n * sizeof *to);
  if (count == 2) {
    for (int64_t j = 0; j < n; j++) to[j] = rows[0][j] + rows[1][j];
  }
  if (count >= 3) {
    for (int64_t j = 0; j < n; j++) to[j] = rows[0][j] + rows[1][j] + rows[2][j];
  }
  for (; done < count; done++) {
    for (int64_t j = 0; j < n; j++) to[j] += rows[done][j];
  }
}

// Some channels of some pixels of a row of the result, and of the image beneath them.
typedef struct strip {
  int64_t first, last;  // pixels of the result
  int64_t left;         // the first column of the image
  int64_t columns;
  int64_t channels;
  float sums[COLUMN_SUMS];  // (columns, channels): of the rows in the windows
} strip;

// `x` is the batch entry, from the first channel on; `row_box` is of any pixel of the row.
RHEOS__WIDEST static void sum_columns(const rheos__pool *p, const box *row_box, const float *x,
                                      strip *s) {
  const float *rows[FEW];
  int64_t count = 0;
  x += s->left * p->in.dims[2];
  for (int64_t z = row_box->first[0]; z < row_box->last[0]; z++) {
    for (int64_t y = row_box->first[1]; y < row_box->last[1]; y++) {
      rows[count++] = x + z * p->in.dims[0] + y * p->in.dims[1];
    }
  }
  if (s->channels == p->in.dims[2]) {
    add_up(rows, count, s->columns * s->channels, s->sums);
    return;
  }
  for (int64_t column = 0; column < s->columns; column++) {
    add_up(rows, count, s->channels, s->sums + column * s->channels);
    for (int64_t i = 0; i < count; i++) rows[i] += p->in.dims[2];
  }
}

// `y` is the row of the result, from the first channel on.
RHEOS__WIDEST static void average_columns(const rheos__pool *p, const box *row_box, const strip *s,
                                          float *y) {
  const rheos__window *w = &p->windows.dims[2];
  const int64_t rows =
      (row_box->last[0] - row_box->first[0]) * (row_box->last[1] - row_box->first[1]);
  for (int64_t ox = s->first; ox < s->last; ox++) {
    const int64_t start = ox * w->stride - w->before, end = start + w->kernel;
    const int64_t first = start > 0 ? start : 0, last = end < w->in ? end : w->in;
    const float *columns[FEW], pixels = (float)(rows * (last - first));
    float *to = y + ox * p->out.dims[2];
    for (int64_t i = first; i < last; i++) {
      columns[i - first] = s->sums + (i - s->left) * s->channels;
    }
    if (last - first == 3) {
      for (int64_t j = 0; j < s->channels; j++) {
        to[j] = (columns[0][j] + columns[1][j] + columns[2][j]) / pixels;
      }
      continue;
    }
    add_up(columns, last - first, s->channels, to);
    for (int64_t j = 0; j < s->channels; j++) to[j] /= pixels;
  }
}

// The columns of the image beneath `first` to `last`.
static void set_columns(const rheos__window *w, strip *s) {
  const int64_t left = s->first * w->stride - w->before;
  const int64_t right = (s->last - 1) * w->stride - w->before + w->kernel;
  s->left = left > 0 ? left : 0;
  s->columns = (right < w->in ? right : w->in) - s->left;
}

static void average_few_row(const rheos__pool *p, const float *in, float *out, int64_t unit) {
  const rheos__window *w = p->windows.dims;
  if (p->channels == 0) return;
  const int64_t n = unit / w[1].out / w[0].out;
  const int64_t oz = unit / w[1].out % w[0].out, oy = unit % w[1].out;
  const float *x = in + n * p->in.batch;
  float *y = out + n * p->out.batch + oz * p->out.dims[0] + oy * p->out.dims[1];
  const box row_box = box_of(p, oz, oy, 0);
  // At least one window's columns go in.
  const int64_t most = COLUMN_SUMS / w[2].kernel;
  const int64_t channels = p->channels < most ? p->channels : most;
  const int64_t pixels = (COLUMN_SUMS / channels - w[2].kernel) / w[2].stride + 1;
  strip s;
  for (int64_t c = 0; c < p->channels; c += channels) {
    s.channels = p->channels - c < channels ? p->channels - c : channels;
    for (s.first = 0; s.first < w[2].out; s.first = s.last) {
      s.last = s.first + pixels < w[2].out ? s.first + pixels : w[2].out;
      set_columns(&w[2], &s);
      sum_columns(p, &row_box, x + c, &s);
      average_columns(p, &row_box, &s, y + c);
    }
  }
}

static void average_row(const rheos__pool *p, const void *const *inputs, void *const *outputs,
                        bool wide_index, int64_t unit) {
  (void)wide_index;
  double pixels = 1;
  for (int d = 0; d < RHEOS__WINDOW_DIMS; d++) pixels *= (double)p->windows.dims[d].kernel;
  if (pixels <= FEW) {
    average_few_row(p, inputs[0], outputs[0], unit);
  } else {
    pool_row(p, inputs[0], outputs[0], unit, average);
  }
}

// ---- Gradients of the largest: units are chunks of channels of a batch entry

typedef void (*spread_fn)(const rheos__pool *p, const box *b, const float *x, const float *y,
                          const float *dy, int64_t n, float *dx);

// To the first of the largest; a NaN is one only if it is the first.
RHEOS__WIDEST static void to_first(const rheos__pool *p, const box *b, const float *xs,
                                   const float *ys, const float *dys, int64_t n, float *dxs) {
  (void)ys;
  float best[LANES];
  int32_t chosen[LANES];
  for (int j = 0; j < LANES; j++) best[j] = 0, chosen[j] = 0;
  FOR_PIXELS(b) {
    const float *pixel = xs + at;
    const int32_t number = (int32_t)k;
    FOR_LANES(const float v = pixel[j]; const bool larger = (k == 0) | (v > best[j]);
              best[j] = larger ? v : best[j]; chosen[j] = larger ? number : chosen[j]);
  }
  FOR_PIXELS(b) {
    float *pixel = dxs + at;
    const int32_t number = (int32_t)k;
    FOR_LANES(pixel[j] += chosen[j] == number ? dys[j] : 0);
  }
}

// To every pixel that equals the largest.
RHEOS__WIDEST static void to_equals(const rheos__pool *p, const box *b, const float *xs,
                                    const float *ys, const float *dys, int64_t n, float *dxs) {
  FOR_PIXELS(b) {
    const float *from = xs + at;
    float *pixel = dxs + at;
    (void)k;
    FOR_LANES(pixel[j] += from[j] == ys[j] ? dys[j] : 0);
  }
}

static void clear_channels(const rheos__pool *p, float *dx, int64_t count) {
  const rheos__window *w = p->windows.dims;
  for (int64_t z = 0; z < w[0].in; z++) {
    for (int64_t y = 0; y < w[1].in; y++) {
      float *at = dx + z * p->in.dims[0] + y * p->in.dims[1];
      for (int64_t x = 0; x < w[2].in; x++, at += p->in.dims[2]) {
        memset(at, 0, (size_t)count * sizeof *at);
      }
    }
  }
}

static int64_t num_chunks(const rheos__pool *p) { return (p->channels + CHUNK - 1) / CHUNK; }

static void spread_chunk(const rheos__pool *p, const void *const *inputs, float *out, int64_t unit,
                         spread_fn spread) {
  const rheos__window *w = p->windows.dims;
  const int64_t n = unit / num_chunks(p), first = unit % num_chunks(p) * CHUNK;
  const int64_t last = first + CHUNK < p->channels ? first + CHUNK : p->channels;
  const float *x = (const float *)inputs[0] + n * p->in.batch;
  float *dx = out + n * p->in.batch;
  clear_channels(p, dx + first, last - first);
  for (int64_t oz = 0; oz < w[0].out; oz++) {
    for (int64_t oy = 0; oy < w[1].out; oy++) {
      for (int64_t ox = 0; ox < w[2].out; ox++) {
        const box b = box_of(p, oz, oy, ox);
        const int64_t to =
            n * p->out.batch + oz * p->out.dims[0] + oy * p->out.dims[1] + ox * p->out.dims[2];
        const float *y = (const float *)inputs[1] + to, *dy = (const float *)inputs[2] + to;
        for (int64_t c = first; c < last; c += LANES) {
          spread(p, &b, x + c, y + c, dy + c, last - c < LANES ? last - c : LANES, dx + c);
        }
      }
    }
  }
}

static void max_grad_chunk(const rheos__pool *p, const void *const *inputs, void *const *outputs,
                           bool wide_index, int64_t unit) {
  (void)wide_index;
  spread_chunk(p, inputs, outputs[0], unit, to_first);
}
static void max_3d_grad_chunk(const rheos__pool *p, const void *const *inputs, void *const *outputs,
                              bool wide_index, int64_t unit) {
  (void)wide_index;
  spread_chunk(p, inputs, outputs[0], unit, to_equals);
}

// ---- Gradient of the average: a row of the image, each pixel from the windows that have it

// The windows that have pixel `in` along one dimension are [first, last).
static void windows_with(const rheos__window *w, int64_t in, int64_t *first, int64_t *last) {
  const int64_t reach = in + w->before, least = reach - w->kernel + 1;
  *first = least > 0 ? (least + w->stride - 1) / w->stride : 0;
  *last = reach / w->stride + 1 < w->out ? reach / w->stride + 1 : w->out;
}

RHEOS__WIDEST static void add_scaled(double *totals, const float *dy, double scale, int64_t n) {
  FOR_LANES(totals[j] += (double)dy[j] * scale);
}

static void average_grad_pixel(const rheos__pool *p, const box *windows, const float *dy, int64_t n,
                               float *dx) {
  double totals[LANES] = {0};
  for (int64_t oz = windows->first[0]; oz < windows->last[0]; oz++) {
    for (int64_t oy = windows->first[1]; oy < windows->last[1]; oy++) {
      for (int64_t ox = windows->first[2]; ox < windows->last[2]; ox++) {
        const box b = box_of(p, oz, oy, ox);
        add_scaled(totals, dy + oz * p->out.dims[0] + oy * p->out.dims[1] + ox * p->out.dims[2],
                   1 / pixels_of(&b), n);
      }
    }
  }
  for (int64_t j = 0; j < n; j++) dx[j] = (float)totals[j];
}

static void average_grad_row(const rheos__pool *p, const void *const *inputs, void *const *outputs,
                             bool wide_index, int64_t unit) {
  (void)wide_index;
  const rheos__window *w = p->windows.dims;
  const int64_t n = unit / w[1].in / w[0].in;
  const int64_t z = unit / w[1].in % w[0].in, y = unit % w[1].in;
  const float *dy = (const float *)inputs[1] + n * p->out.batch;
  float *dx = (float *)outputs[0] + n * p->in.batch + z * p->in.dims[0] + y * p->in.dims[1];
  box windows;
  windows_with(&w[0], z, &windows.first[0], &windows.last[0]);
  windows_with(&w[1], y, &windows.first[1], &windows.last[1]);
  for (int64_t x = 0; x < w[2].in; x++, dx += p->in.dims[2]) {
    windows_with(&w[2], x, &windows.first[2], &windows.last[2]);
    for (int64_t c = 0; c < p->channels; c += LANES) {
      const int64_t lanes = p->channels - c < LANES ? p->channels - c : LANES;
      average_grad_pixel(p, &windows, dy + c, lanes, dx + c);
    }
  }
}

// ---- The kernel

static const rheos__pool_fn fns[RHEOS__POOL_NUM_KINDS] = {
    [RHEOS__POOL_MAX] = max_row,
    [RHEOS__POOL_MAX_3D] = max_3d_row,
    [RHEOS__POOL_AVERAGE] = average_row,
    [RHEOS__POOL_MAX_GRAD] = max_grad_chunk,
    [RHEOS__POOL_MAX_3D_GRAD] = max_3d_grad_chunk,
    [RHEOS__POOL_AVERAGE_GRAD] = average_grad_row,
};

static bool is_plain(const rheos__pool *p) {
  if (p->depth != 1 || p->in.channel != 1 || p->out.channel != 1) return false;
  double pixels = 1;
  for (int d = 0; d < RHEOS__WINDOW_DIMS; d++) {
    const rheos__window *w = &p->windows.dims[d];
    if (w->dilation != 1) return false;
    pixels *= (double)w->kernel;
  }
  return pixels < INT32_MAX;  // a window's pixels are numbered
}

rheos_status *rheos__pool_prepare_float(rheos__prepare *p) {
  if (p->output_dtypes[0] != RHEOS_FLOAT) {
    p->decline_reason = "not float32";
    return NULL;
  }
  RHEOS_TRY(rheos__prepare_reference(p));
  rheos__pool_state *s = p->state;
  const rheos__pool_kind kind = s->op->kind;
  if (s->late || !is_plain(&s->pool)) {
    p->decline_reason = "channels that are not last, or windows not known";
    return NULL;
  }
  s->fn = fns[kind];
  if (s->units > 0 && (kind == RHEOS__POOL_MAX_GRAD || kind == RHEOS__POOL_MAX_3D_GRAD)) {
    s->units = p->num_units = s->pool.batch * num_chunks(&s->pool);
  }
  return NULL;
}
