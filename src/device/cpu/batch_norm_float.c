// FusedBatchNorm of float32 images that have their channels last: rows of pixels, a range of
// channels at a time. The variance comes from the same pass as the mean, as the sums of what the
// elements differ from the first pixel by, and of the squares: in double, nothing is lost by it.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include "device/cpu/batch_norm_float.h"

#include "ops/kit/elementwise.h"
#include "ops/nn/batch_norm.h"

// Rows are taken ROWS at a time, so that what belongs to a channel is loaded once for them.
enum { UNIT_CHANNELS = 32, ROWS = 4 };

typedef rheos__norm norm;
typedef rheos__norm_range range;

static int64_t rows_of(const norm *s) { return s->batch * s->spatial; }

// sum += x - shift, square += its square; of `rows` rows (a constant where this is called).
static inline __attribute__((always_inline)) void add_moments(const float *restrict x, int64_t step,
                                                              const double *restrict shift,
                                                              int64_t n, const int rows,
                                                              double *restrict sum,
                                                              double *restrict square) {
  for (int64_t c = 0; c < n; c++) {
    double total = sum[c], squares = square[c];
    for (int r = 0; r < rows; r++) {
      const double d = (double)x[r * step + c] - shift[c];
      total += d;
      squares += d * d;
    }
    sum[c] = total;
    square[c] = squares;
  }
}

RHEOS__WIDEST static void sums_of(const float *x, int64_t rows, int64_t step, const double *shift,
                                  int64_t n, double *sum, double *square) {
  for (; rows >= ROWS; rows -= ROWS, x += ROWS * step) {
    add_moments(x, step, shift, n, ROWS, sum, square);
  }
  for (; rows > 0; rows--, x += step) add_moments(x, step, shift, n, 1, sum, square);
}

static void moments(const norm *s, const void *data, range *k) {
  const float *x = (const float *)data + k->first;
  const int64_t rows = rows_of(s);
  double shift[RHEOS__NORM_CHANNELS] = {0};
  for (int64_t c = 0; c < k->count; c++) {
    if (rows > 0) shift[c] = (double)x[c];
    k->mean[c] = k->variance[c] = 0;
  }
  sums_of(x, rows, s->channels, shift, k->count, k->mean, k->variance);
  for (int64_t c = 0; c < k->count; c++) {
    const double mean = k->mean[c] / (double)rows;
    const double variance = k->variance[c] / (double)rows - mean * mean;
    k->variance[c] = variance < 0 ? 0 : variance;
    k->mean[c] = shift[c] + mean;
  }
}

static inline __attribute__((always_inline)) void normalize_some(
    const float *restrict x, int64_t step, int64_t n, const double *restrict mean,
    const double *restrict scale, const double *restrict offset, const int rows,
    float *restrict y) {
  for (int64_t c = 0; c < n; c++) {
    for (int r = 0; r < rows; r++) {
      y[r * step + c] = (float)(((double)x[r * step + c] - mean[c]) * scale[c] + offset[c]);
    }
  }
}

RHEOS__WIDEST static void normalize_rows(const float *x, int64_t rows, int64_t step, int64_t n,
                                         const double *mean, const double *scale,
                                         const double *offset, float *y) {
  for (; rows >= ROWS; rows -= ROWS, x += ROWS * step, y += ROWS * step) {
    normalize_some(x, step, n, mean, scale, offset, ROWS, y);
  }
  for (; rows > 0; rows--, x += step, y += step) {
    normalize_some(x, step, n, mean, scale, offset, 1, y);
  }
}

static void normalize(const norm *s, const void *x, const range *k, const double *scale,
                      const double *offset, void *y) {
  normalize_rows((const float *)x + k->first, rows_of(s), s->channels, k->count, k->mean, scale,
                 offset, (float *)y + k->first);
}

static inline __attribute__((always_inline)) void add_products(
    const float *restrict dy, const float *restrict x, int64_t step, const double *restrict mean,
    int64_t n, const int rows, double *restrict sum, double *restrict product) {
  for (int64_t c = 0; c < n; c++) {
    double total = sum[c], products = product[c];
    for (int r = 0; r < rows; r++) {
      const double d = (double)dy[r * step + c];
      total += d;
      products += d * ((double)x[r * step + c] - mean[c]);
    }
    sum[c] = total;
    product[c] = products;
  }
}

RHEOS__WIDEST static void products_of(const float *dy, const float *x, int64_t rows, int64_t step,
                                      const double *mean, int64_t n, double *sum, double *product) {
  for (; rows >= ROWS; rows -= ROWS, x += ROWS * step, dy += ROWS * step) {
    add_products(dy, x, step, mean, n, ROWS, sum, product);
  }
  for (; rows > 0; rows--, x += step, dy += step) {
    add_products(dy, x, step, mean, n, 1, sum, product);
  }
}

static void grad_sums(const norm *s, const void *dy, const void *x, const range *k, double *sum,
                      double *product) {
  for (int64_t c = 0; c < k->count; c++) sum[c] = product[c] = 0;
  products_of((const float *)dy + k->first, (const float *)x + k->first, rows_of(s), s->channels,
              k->mean, k->count, sum, product);
}

static inline __attribute__((always_inline)) void grad_some(
    const float *restrict dy, const float *restrict x, int64_t step, int64_t n,
    const double *restrict mean, const double *restrict scale, const double *restrict mean_dy,
    const double *restrict slope, const int rows, float *restrict dx) {
  for (int64_t c = 0; c < n; c++) {
    for (int r = 0; r < rows; r++) {
      const double centered = (double)x[r * step + c] - mean[c];
      dx[r * step + c] =
          (float)(((double)dy[r * step + c] - mean_dy[c] - centered * slope[c]) * scale[c]);
    }
  }
}

RHEOS__WIDEST static void grad_rows(const float *dy, const float *x, int64_t rows, int64_t step,
                                    int64_t n, const double *mean, const double *scale,
                                    const double *mean_dy, const double *slope, float *dx) {
  const int64_t more = ROWS * step;
  for (; rows >= ROWS; rows -= ROWS, x += more, dy += more, dx += more) {
    grad_some(dy, x, step, n, mean, scale, mean_dy, slope, ROWS, dx);
  }
  for (; rows > 0; rows--, x += step, dy += step, dx += step) {
    grad_some(dy, x, step, n, mean, scale, mean_dy, slope, 1, dx);
  }
}

static void grad_x(const norm *s, const void *dy, const void *x, const range *k,
                   const double *scale, const double *mean_dy, const double *slope, void *dx) {
  grad_rows((const float *)dy + k->first, (const float *)x + k->first, rows_of(s), s->channels,
            k->count, k->mean, scale, mean_dy, slope, (float *)dx + k->first);
}

static const rheos__norm_loops loops = {moments, normalize, grad_sums, grad_x};

rheos_status *rheos__batch_norm_prepare_float(rheos__prepare *p) {
  if (p->output_dtypes[0] != RHEOS_FLOAT || p->input_dtypes[0] != RHEOS_FLOAT) {
    p->decline_reason = "not float32";
    return NULL;
  }
  RHEOS_TRY(rheos__prepare_reference(p));
  norm *s = p->state;
  if (s->channel_step != 1) {
    p->decline_reason = "channels that are not last";
    return NULL;
  }
  s->loops = &loops;
  s->unit_channels = UNIT_CHANNELS;
  s->most_channels = RHEOS__NORM_CHANNELS;
  p->num_units = s->channels / UNIT_CHANNELS + 1;
  return NULL;
}
