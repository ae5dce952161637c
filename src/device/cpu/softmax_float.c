// Softmax, its logarithm and the cross entropies over it, of float32. Long rows go over the lanes
// of a vector, three times through a row that stays in the cache: largest, exponentials and their
// sum, result. Of short rows, 16 go side by side, one a lane. Sums are made in double, of blocks in
// float. Large results are streamed past the caches (stream.h), from exponentials that stay in
// them.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include "device/cpu/softmax_float.h"

#include <math.h>
#include <string.h>

#include "ops/kit/elementwise.h"
#include "ops/kit/stream.h"
#include "ops/kit/vector_math.h"
#include "ops/nn/softmax.h"

enum { LANES = 16, SHORT = 32, BLOCK = 64 * LANES, STREAMED = 16 * BLOCK };

typedef struct row {
  const float *x, *labels;  // `labels` of the loss with dense ones
  int64_t label;            // of the loss with sparse ones
  int64_t n;
  float *y, *loss;
  bool stream;  // `y` of softmax
} row;

#define FOR_LANES RHEOS__KEEP_LANES for (int j = 0; j < LANES; j++)

// ---- Long rows

// NaN is passed over: its exponential makes the sum, and so the whole row, NaN.
RHEOS__WIDEST static float largest_of(const float *x, int64_t n) {
  float lanes[2 * LANES];
  for (int j = 0; j < 2 * LANES; j++) lanes[j] = -INFINITY;
  int64_t i = 0;
  for (; i + 2 * LANES <= n; i += 2 * LANES) {
    RHEOS__KEEP_LANES for (int j = 0; j < 2 * LANES; j++) {
      lanes[j] = x[i + j] > lanes[j] ? x[i + j] : lanes[j];
    }
  }
  for (int j = 0; i < n; i++, j++) lanes[j] = x[i] > lanes[j] ? x[i] : lanes[j];
  for (int width = LANES; width > 0; width /= 2) {
    for (int j = 0; j < width; j++) {
      lanes[j] = lanes[j + width] > lanes[j] ? lanes[j + width] : lanes[j];
    }
  }
  return lanes[0];
}

// e[i] = exp(x[i] - largest); returns their sum. At most BLOCK elements. Meanwhile what is `ahead`
// elements on, in the next row, is fetched.
RHEOS__WIDEST static float exponentials(const float *x, float largest, int64_t n, int64_t ahead,
                                        float *e) {
  float lanes[LANES] = {0};
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    float values[LANES];  // or the compiler asks at each step whether `x` and `e` overlap
    FOR_LANES values[j] = rheos__expf_normal(x[i + j] - largest);
    FOR_LANES lanes[j] += values[j];
    memcpy(e + i, values, sizeof values);
    __builtin_prefetch((const void *)((uintptr_t)(x + i) + (uintptr_t)ahead * sizeof *x));
  }
  float sum = 0;
  for (; i < n; i++) {
    e[i] = rheos__expf_normal(x[i] - largest);
    sum += e[i];
  }
  for (int width = LANES / 2; width > 0; width /= 2) {
    for (int j = 0; j < width; j++) lanes[j] += lanes[j + width];
  }
  return sum + lanes[0];
}

RHEOS__WIDEST static void scale_by(float *y, int64_t n, float scale) {
  for (int64_t i = 0; i < n; i++) y[i] *= scale;
}

// To a row that is streamed.
RHEOS__WIDEST static void scale_to(const float *e, float *y, int64_t n, float scale) {
  for (int64_t i = 0; i < n; i += LANES) {
    _Alignas(RHEOS__LINE_BYTES) float values[LANES];
    FOR_LANES values[j] = e[i + j] * scale;
    rheos__stream_line(y + i, values);
  }
}

RHEOS__WIDEST static void shift_by(const float *x, float *y, int64_t n, float first, float second) {
  RHEOS__INDEPENDENT for (int64_t i = 0; i < n; i++) y[i] = (x[i] - first) - second;
}

// y = y * scale - labels; returns the sum of labels * (log_sum - (x - largest)).
RHEOS__WIDEST static double loss_of(const row *r, float largest, float log_sum, float scale) {
  double lanes[LANES] = {0};
  const float *x = r->x, *labels = r->labels;
  float *y = r->y;
  int64_t i = 0;
  for (; i + LANES <= r->n; i += LANES) {
    FOR_LANES {
      const float label = labels[i + j];
      lanes[j] += (double)(label * (log_sum - (x[i + j] - largest)));
      y[i + j] = y[i + j] * scale - label;
    }
  }
  double sum = 0;
  for (; i < r->n; i++) {
    sum += (double)(labels[i] * (log_sum - (x[i] - largest)));
    y[i] = y[i] * scale - labels[i];
  }
  for (int j = 0; j < LANES; j++) sum += lanes[j];
  return sum;
}

static double all_exponentials(const row *r, float largest, float *e, bool keep) {
  double sum = 0;
  for (int64_t i = 0; i < r->n; i += BLOCK) {
    const int64_t count = r->n - i < BLOCK ? r->n - i : BLOCK;
    sum += (double)exponentials(r->x + i, largest, count, r->n, keep ? e + i : e);
  }
  return sum;
}

static void long_row(rheos__softmax_kind kind, const row *r, float *block) {
  const float largest = largest_of(r->x, r->n);
  if (r->stream) {
    scale_to(block, r->y, r->n, (float)(1 / all_exponentials(r, largest, block, true)));
    return;
  }
  const bool keep = kind != RHEOS__LOG_SOFTMAX;
  const double sum = all_exponentials(r, largest, keep ? r->y : block, keep);
  if (kind == RHEOS__SOFTMAX) {
    scale_by(r->y, r->n, (float)(1 / sum));
  } else if (kind == RHEOS__LOG_SOFTMAX) {
    shift_by(r->x, r->y, r->n, largest, (float)log(sum));
  } else if (kind == RHEOS__DENSE_LOSS) {
    *r->loss = (float)loss_of(r, largest, (float)log(sum), (float)(1 / sum));
  } else {
    const float at_label = r->y[r->label];
    *r->loss = (float)(log(sum) - (double)(r->x[r->label] - largest));
    scale_by(r->y, r->n, (float)(1 / sum));
    r->y[r->label] = (at_label - (float)sum) * (float)(1 / sum);
  }
}

// ---- Short rows, LANES of them: element i of row j is at [i][j]

typedef struct group {
  int64_t n;
  float x[SHORT][LANES], y[SHORT][LANES], labels[SHORT][LANES];
  int64_t label[LANES];
  float loss[LANES];
} group;

static void gather(float to[SHORT][LANES], const float *from, int64_t step, int64_t rows,
                   int64_t n) {
  for (int j = 0; j < LANES; j++) {
    const float *x = from + (j < rows ? j : 0) * step;
    for (int64_t i = 0; i < n; i++) to[i][j] = x[i];
  }
}

static void scatter(float from[SHORT][LANES], float *to, int64_t rows, int64_t n) {
  for (int64_t j = 0; j < rows; j++) {
    for (int64_t i = 0; i < n; i++) to[j * n + i] = from[i][j];
  }
}

RHEOS__WIDEST static void short_softmax(group *g, rheos__softmax_kind kind) {
  float largest[LANES], log_sum[LANES], scale[LANES];
  double sum[LANES], exact_log[LANES];
  FOR_LANES largest[j] = -INFINITY, sum[j] = 0;
  for (int64_t i = 0; i < g->n; i++) {
    FOR_LANES largest[j] = g->x[i][j] > largest[j] ? g->x[i][j] : largest[j];
  }
  for (int64_t i = 0; i < g->n; i++) {
    FOR_LANES g->y[i][j] = rheos__expf_normal(g->x[i][j] - largest[j]);
    FOR_LANES sum[j] += (double)g->y[i][j];
  }
  FOR_LANES scale[j] = (float)(1 / sum[j]);
  if (kind == RHEOS__SOFTMAX) {
    for (int64_t i = 0; i < g->n; i++) FOR_LANES g->y[i][j] *= scale[j];
    return;
  }
  // log(sum), with what rounding the sum to float has taken off
  FOR_LANES {
    const float near = (float)sum[j];
    exact_log[j] = (double)rheos__logf(near) + (sum[j] - (double)near) / (double)near;
    log_sum[j] = (float)exact_log[j];
  }
  if (kind == RHEOS__LOG_SOFTMAX) {
    for (int64_t i = 0; i < g->n; i++) {
      FOR_LANES g->y[i][j] = (g->x[i][j] - largest[j]) - log_sum[j];
    }
  } else if (kind == RHEOS__DENSE_LOSS) {
    double loss[LANES] = {0};
    for (int64_t i = 0; i < g->n; i++) {
      FOR_LANES {
        const float label = g->labels[i][j];
        loss[j] += (double)(label * (log_sum[j] - (g->x[i][j] - largest[j])));
        g->y[i][j] = g->y[i][j] * scale[j] - label;
      }
    }
    FOR_LANES g->loss[j] = (float)loss[j];
  } else {
    for (int j = 0; j < LANES; j++) {
      const int64_t at = g->label[j];
      g->loss[j] = (float)(exact_log[j] - (double)(g->x[at][j] - largest[j]));
      g->y[at][j] -= (float)sum[j];
    }
    for (int64_t i = 0; i < g->n; i++) FOR_LANES g->y[i][j] *= scale[j];
  }
}

// ---- The kernel

// The class of row `i`, checked.
static rheos_status *class_of(const rheos__softmax_rows *s, const void *labels, int64_t i,
                              int64_t *out_label) {
  *out_label = rheos__softmax_label(s, labels, i);
  if (*out_label >= 0 && *out_label < s->n) return NULL;
  return rheos__softmax_bad_label(s, labels, *out_label);
}

static rheos_status *run_short(const rheos__softmax_rows *s, const void *const *inputs, float *y,
                               float *losses, int64_t first, int64_t last, group *g) {
  g->n = s->n;
  for (int64_t i = first; i < last; i += LANES) {
    const int64_t rows = last - i < LANES ? last - i : LANES;
    gather(g->x, (const float *)inputs[0] + i * s->logit_row, s->logit_row, rows, s->n);
    if (s->kind == RHEOS__DENSE_LOSS) {
      gather(g->labels, (const float *)inputs[1] + i * s->label_row, s->label_row, rows, s->n);
    }
    for (int64_t j = 0; s->kind == RHEOS__SPARSE_LOSS && j < LANES; j++) {
      RHEOS_TRY(class_of(s, inputs[1], i + (j < rows ? j : 0), &g->label[j]));
    }
    short_softmax(g, s->kind);
    scatter(g->y, y + i * s->n, rows, s->n);
    for (int64_t j = 0; losses != NULL && j < rows; j++) losses[i + j] = g->loss[j];
  }
  return NULL;
}

// Whether rows of softmax are whole lines of a result that is too large for the caches.
static bool is_streamed(const rheos__softmax_rows *s, const float *y) {
  return s->kind == RHEOS__SOFTMAX && s->n <= STREAMED && s->n % LANES == 0 &&
         s->count >= RHEOS__STREAM_FROM / (s->n * (int64_t)sizeof *y) &&
         rheos__is_aligned(y, RHEOS__LINE_BYTES);
}

static rheos_status *run_long(const rheos__softmax_rows *s, const void *const *inputs, float *y,
                              float *losses, int64_t first, int64_t last, float *block) {
  const bool stream = is_streamed(s, y);
  for (int64_t i = first; i < last; i++) {
    row r = {.x = (const float *)inputs[0] + i * s->logit_row,
             .n = s->n,
             .y = y + i * s->n,
             .loss = losses == NULL ? NULL : losses + i,
             .stream = stream};
    if (s->kind == RHEOS__DENSE_LOSS) r.labels = (const float *)inputs[1] + i * s->label_row;
    if (s->kind == RHEOS__SPARSE_LOSS) RHEOS_TRY(class_of(s, inputs[1], i, &r.label));
    long_row(s->kind, &r, block);
  }
  if (stream) rheos__stream_end();
  return NULL;
}

static rheos_status *run(const void *state, const void *const *inputs, void *const *outputs,
                         void *scratch, int64_t first_unit, int64_t last_unit) {
  const rheos__softmax_rows *s = state;
  const bool is_loss = s->kind == RHEOS__DENSE_LOSS || s->kind == RHEOS__SPARSE_LOSS;
  float *losses = is_loss ? outputs[0] : NULL, *y = is_loss ? outputs[1] : outputs[0];
  const int64_t first = first_unit * s->unit_rows, last = rheos__softmax_last_row(s, last_unit);
  if (s->n < SHORT) return run_short(s, inputs, y, losses, first, last, scratch);
  return run_long(s, inputs, y, losses, first, last, scratch);
}

rheos_status *rheos__softmax_prepare_float(rheos__prepare *p) {
  if (p->input_dtypes[0] != RHEOS_FLOAT) {
    p->decline_reason = "not float32";
    return NULL;
  }
  RHEOS_TRY(rheos__prepare_reference(p));
  rheos__softmax_rows *s = p->state;
  const bool dense = s->kind == RHEOS__DENSE_LOSS;
  if (s->n < 2 || (dense && (s->logit_step == 0 || s->label_step == 0))) {
    p->decline_reason = "one class, or broadcast ones";
    return NULL;
  }
  const int64_t kept = s->n > BLOCK && s->n <= STREAMED ? s->n : BLOCK;
  p->scratch_bytes = s->n < SHORT ? sizeof(group) : (size_t)kept * sizeof(float);
  p->flops = p->flops / 2;  // an exponential is a few operations on vectors
  p->run = run;
  return NULL;
}
