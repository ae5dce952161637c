// Reference kernels of pooling. Which element wins where several are equal, and what becomes of
// NaN, is TensorFlow's and differs from op to op: MaxPool starts from the lowest finite number and
// skips NaN; the index of the largest is that of the first, a NaN in front included; in three
// dimensions a NaN wins only as the last element, and the gradient goes to every element that
// equals the largest.
#include "ops/nn/pool.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <float.h>
#include <math.h>
#include <string.h>

#include "ops/kit/elementwise.h"

// Channels that one unit of a gradient covers, in all windows of one batch entry.
enum { CHUNK = 16 };

#define LOWEST_float -FLT_MAX
#define LOWEST_double -DBL_MAX
#define LOWEST_half -65504.0f
#define LOWEST_bfloat16 -0x1.fep127f
#define LOWEST_int8 INT8_MIN
#define LOWEST_int16 INT16_MIN
#define LOWEST_int32 INT32_MIN
#define LOWEST_int64 INT64_MIN
#define LOWEST_uint8 0
#define LOWEST_uint16 0
#define LOWEST_uint32 0
#define LOWEST_uint64 0

static int64_t position(const rheos__steps *s, int64_t n, int64_t z, int64_t y, int64_t x) {
  return n * s->batch + z * s->dims[0] + y * s->dims[1] + x * s->dims[2];
}

// Loops over the windows of a row, over those of a whole image, and over the elements of the window
// (oz, oy, ox) that lie inside: `at` is where they are.
#define FOR_ROW                                                        \
  const rheos__window *w = p->windows.dims;                            \
  const int64_t n = unit / w[1].out / w[0].out;                        \
  const int64_t oz = unit / w[1].out % w[0].out, oy = unit % w[1].out; \
  for (int64_t ox = 0; ox < w[2].out; ox++)
#define FOR_IMAGE                             \
  for (int64_t oz = 0; oz < w[0].out; oz++)   \
    for (int64_t oy = 0; oy < w[1].out; oy++) \
      for (int64_t ox = 0; ox < w[2].out; ox++)
#define FOR_WINDOW(at)                                                                          \
  RHEOS__FOR(kz, inside, &w[0], oz)                                                             \
  RHEOS__FOR(ky, inside, &w[1], oy)                                                             \
  RHEOS__FOR(kx, inside, &w[2], ox)                                                             \
  for (int64_t once = 1,                                                                        \
               at = position(&p->in, n, rheos__window_at(&w[0], oz, kz),                        \
                             rheos__window_at(&w[1], oy, ky), rheos__window_at(&w[2], ox, kx)); \
       once; once = 0)

// The channels of a unit of a gradient, and the batch entry; and zeros for them.
#define CHUNK_OF_UNIT                                                             \
  const rheos__window *w = p->windows.dims;                                       \
  const int64_t chunks = (p->channels + CHUNK - 1) / CHUNK, n = unit / chunks;    \
  const int64_t first = unit % chunks * CHUNK;                                    \
  const int64_t last = first + CHUNK < p->channels ? first + CHUNK : p->channels; \
  clear_chunk(p, outputs[0], sizeof *dx, n, first, last)

static void clear_chunk(const rheos__pool *p, void *out, size_t size, int64_t n, int64_t first,
                        int64_t last) {
  const rheos__window *w = p->windows.dims;
  for (int64_t z = 0; z < w[0].in; z++) {
    for (int64_t y = 0; y < w[1].in; y++) {
      for (int64_t x = 0; x < w[2].in; x++) {
        char *at = (char *)out + (size_t)position(&p->in, n, z, y, x) * size;
        for (int64_t c = first; c < last; c++)
          memset(at + (size_t)(c * p->in.channel) * size, 0, size);
      }
    }
  }
}

// The row-major number of an element of an image that has its channels last.
static void store_index(const rheos__pool *p, void *argmax, bool wide, int64_t to, int64_t n,
                        int64_t index) {
  if (!p->batch_in_index) index -= n * p->in.batch;
  if (wide) {
    ((int64_t *)argmax)[to] = index;
  } else {
    ((int32_t *)argmax)[to] = (int32_t)index;
  }
}

// The parameters of every kernel, of which each uses some.
#define POOL_FN(name)                                                                     \
  static void name(const rheos__pool *p, const void *const *inputs, void *const *outputs, \
                   bool wide_index, int64_t unit)

#define KERNELS(S, unused)                                                                         \
  typedef rheos__stored_##S stored_##S;                                                            \
  /* The first element of the window that no other exceeds; a NaN stays if it is the first. */     \
  static int64_t first_largest_##S(const rheos__pool *p, const stored_##S *x, int64_t n,           \
                                   int64_t oz, int64_t oy, int64_t ox, int64_t c) {                \
    const rheos__window *w = p->windows.dims;                                                      \
    int64_t best = -1;                                                                             \
    FOR_WINDOW(at) {                                                                               \
      const int64_t i = at + c * p->in.channel;                                                    \
      if (best < 0 || RHEOS__LOAD_##S(x[i]) > RHEOS__LOAD_##S(x[best])) best = i;                  \
    }                                                                                              \
    return best;                                                                                   \
  }                                                                                                \
  POOL_FN(max_##S) {                                                                               \
    (void)wide_index;                                                                              \
    const stored_##S *x = inputs[0];                                                               \
    FOR_ROW {                                                                                      \
      stored_##S *y = (stored_##S *)outputs[0] + position(&p->out, n, oz, oy, ox);                 \
      for (int64_t c = 0; c < p->channels; c++) {                                                  \
        rheos__computed_##S best = LOWEST_##S;                                                     \
        FOR_WINDOW(at) {                                                                           \
          for (int64_t d = c * p->depth; d < (c + 1) * p->depth; d++) {                            \
            const rheos__computed_##S value = RHEOS__LOAD_##S(x[at + d * p->in.channel]);          \
            if (value > best) best = value;                                                        \
          }                                                                                        \
        }                                                                                          \
        y[c * p->out.channel] = RHEOS__STORE_##S(best);                                            \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  POOL_FN(argmax_##S) {                                                                            \
    const stored_##S *x = inputs[0];                                                               \
    FOR_ROW {                                                                                      \
      const int64_t y = position(&p->out, n, oz, oy, ox);                                          \
      for (int64_t c = 0; c < p->channels; c++) {                                                  \
        const int64_t best = first_largest_##S(p, x, n, oz, oy, ox, c);                            \
        ((stored_##S *)outputs[0])[y + c] = x[best];                                               \
        store_index(p, outputs[1], wide_index, y + c, n, best);                                    \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  POOL_FN(max_grad_##S) {                                                                          \
    (void)wide_index;                                                                              \
    stored_##S *dx = outputs[0];                                                                   \
    CHUNK_OF_UNIT;                                                                                 \
    FOR_IMAGE {                                                                                    \
      const stored_##S *dy = (const stored_##S *)inputs[2] + position(&p->out, n, oz, oy, ox);     \
      for (int64_t c = first; c < last; c++) {                                                     \
        const int64_t best = first_largest_##S(p, inputs[0], n, oz, oy, ox, c);                    \
        if (best < 0) continue;                                                                    \
        dx[best] = RHEOS__STORE_##S((rheos__wrapping_##S)RHEOS__LOAD_##S(dx[best]) +               \
                                    (rheos__wrapping_##S)RHEOS__LOAD_##S(dy[c * p->out.channel])); \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  /* What arrives at the first element that equals the largest. */                                 \
  POOL_FN(max_grad_grad_##S) {                                                                     \
    (void)wide_index;                                                                              \
    const stored_##S *x = inputs[0], *g = inputs[2];                                               \
    FOR_ROW {                                                                                      \
      const int64_t at_out = position(&p->out, n, oz, oy, ox);                                     \
      for (int64_t c = 0; c < p->channels; c++) {                                                  \
        const int64_t to = at_out + c * p->out.channel;                                            \
        const rheos__computed_##S largest = RHEOS__LOAD_##S(((const stored_##S *)inputs[1])[to]);  \
        int64_t found = -1;                                                                        \
        FOR_WINDOW(at) {                                                                           \
          const int64_t i = at + c * p->in.channel;                                                \
          if (found < 0 && RHEOS__LOAD_##S(x[i]) == largest) found = i;                            \
        }                                                                                          \
        ((stored_##S *)outputs[0])[to] = found < 0 ? RHEOS__STORE_##S(0) : g[found];               \
      }                                                                                            \
    }                                                                                              \
  }

#define FLOAT_KERNELS(S, unused)                                                                   \
  POOL_FN(max_3d_##S) {                                                                            \
    (void)wide_index;                                                                              \
    const stored_##S *x = inputs[0];                                                               \
    FOR_ROW {                                                                                      \
      stored_##S *y = (stored_##S *)outputs[0] + position(&p->out, n, oz, oy, ox);                 \
      for (int64_t c = 0; c < p->channels; c++) {                                                  \
        rheos__computed_##S best = -INFINITY;                                                      \
        FOR_WINDOW(at) {                                                                           \
          const rheos__computed_##S value = RHEOS__LOAD_##S(x[at + c * p->in.channel]);            \
          best = best > value ? best : value;                                                      \
        }                                                                                          \
        y[c * p->out.channel] = RHEOS__STORE_##S(best);                                            \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  POOL_FN(max_3d_grad_##S) {                                                                       \
    (void)wide_index;                                                                              \
    stored_##S *dx = outputs[0];                                                                   \
    CHUNK_OF_UNIT;                                                                                 \
    FOR_IMAGE {                                                                                    \
      const int64_t at_out = position(&p->out, n, oz, oy, ox);                                     \
      for (int64_t c = first; c < last; c++) {                                                     \
        const stored_##S *y = (const stored_##S *)inputs[1] + at_out + c * p->out.channel;         \
        const stored_##S *dy = (const stored_##S *)inputs[2] + at_out + c * p->out.channel;        \
        FOR_WINDOW(at) {                                                                           \
          const int64_t i = at + c * p->in.channel;                                                \
          if (RHEOS__LOAD_##S(((const stored_##S *)inputs[0])[i]) != RHEOS__LOAD_##S(*y)) {        \
            continue;                                                                              \
          }                                                                                        \
          dx[i] = RHEOS__STORE_##S(RHEOS__LOAD_##S(dx[i]) + RHEOS__LOAD_##S(*dy));                 \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  POOL_FN(average_##S) {                                                                           \
    (void)wide_index;                                                                              \
    const stored_##S *x = inputs[0];                                                               \
    FOR_ROW {                                                                                      \
      stored_##S *y = (stored_##S *)outputs[0] + position(&p->out, n, oz, oy, ox);                 \
      for (int64_t c = 0; c < p->channels; c++) {                                                  \
        double sum = 0, count = 0;                                                                 \
        FOR_WINDOW(at) {                                                                           \
          sum += (double)RHEOS__LOAD_##S(x[at + c * p->in.channel]);                               \
          count++;                                                                                 \
        }                                                                                          \
        y[c * p->out.channel] = RHEOS__STORE_##S(sum / count);                                     \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  /* One row of the image: each element gets its share from every window that has it. */           \
  POOL_FN(average_grad_##S) {                                                                      \
    (void)wide_index;                                                                              \
    const rheos__window *w = p->windows.dims;                                                      \
    const int64_t n = unit / w[1].in / w[0].in;                                                    \
    const int64_t z = unit / w[1].in % w[0].in, y = unit % w[1].in;                                \
    for (int64_t x = 0; x < w[2].in; x++) {                                                        \
      stored_##S *dx = (stored_##S *)outputs[0] + position(&p->in, n, z, y, x);                    \
      for (int64_t c = 0; c < p->channels; c++) {                                                  \
        double sum = 0;                                                                            \
        RHEOS__FOR(kz, covering, &w[0], z)                                                         \
        RHEOS__FOR(ky, covering, &w[1], y) RHEOS__FOR(kx, covering, &w[2], x) {                    \
          const int64_t oz = rheos__window_with(&w[0], z, kz);                                     \
          const int64_t oy = rheos__window_with(&w[1], y, ky);                                     \
          const int64_t ox = rheos__window_with(&w[2], x, kx);                                     \
          if (oz < 0 || oy < 0 || ox < 0) continue;                                                \
          const stored_##S *dy = (const stored_##S *)inputs[1] + position(&p->out, n, oz, oy, ox); \
          sum += (double)RHEOS__LOAD_##S(dy[c * p->out.channel]) / elements(w, oz, oy, ox);        \
        }                                                                                          \
        dx[c * p->in.channel] = RHEOS__STORE_##S(sum);                                             \
      }                                                                                            \
    }                                                                                              \
  }

// Elements of a window that lie inside.
static double elements(const rheos__window *w, int64_t oz, int64_t oy, int64_t ox) {
  const int64_t at[] = {oz, oy, ox};
  double count = 1;
  for (int d = 0; d < RHEOS__WINDOW_DIMS; d++) {
    int64_t last;
    const int64_t first = rheos__window_inside(&w[d], at[d], &last);
    count *= (double)(last - first);
  }
  return count;
}

RHEOS__NUMBERS(KERNELS, )
RHEOS__FLOATS(FLOAT_KERNELS, )

#define ENTRY(S, kind, name) [RHEOS__POOL_##kind][RHEOS__DTYPE_##S] = name##_##S,
static const rheos__pool_fn fns[RHEOS__POOL_NUM_KINDS][RHEOS__NUM_DTYPES] = {
    RHEOS__NUMBERS(ENTRY, MAX, max) RHEOS__NUMBERS(ENTRY, ARGMAX, argmax) RHEOS__NUMBERS(
        ENTRY, MAX_GRAD, max_grad) RHEOS__NUMBERS(ENTRY, MAX_GRAD_GRAD, max_grad_grad)
        RHEOS__FLOATS(ENTRY, MAX_3D, max_3d) RHEOS__FLOATS(ENTRY, AVERAGE, average) RHEOS__FLOATS(
            ENTRY, MAX_3D_GRAD, max_3d_grad) RHEOS__FLOATS(ENTRY, AVERAGE_GRAD, average_grad)};

rheos__pool_fn rheos__pool_kernel(rheos__pool_kind kind, rheos_dtype dtype) {
  return fns[kind][dtype];
}

int64_t rheos__pool_units(rheos__pool_kind kind, const rheos__pool *p) {
  const rheos__window *w = p->windows.dims;
  if (kind == RHEOS__POOL_MAX_GRAD || kind == RHEOS__POOL_MAX_3D_GRAD) {
    return rheos__estimate((const int64_t[]){p->batch, (p->channels + CHUNK - 1) / CHUNK}, 2);
  }
  if (kind == RHEOS__POOL_AVERAGE_GRAD) {
    return rheos__estimate((const int64_t[]){p->batch, w[0].in, w[1].in}, 3);
  }
  return rheos__estimate((const int64_t[]){p->batch, w[0].out, w[1].out}, 3);
}
