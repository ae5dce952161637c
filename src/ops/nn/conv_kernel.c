// Reference kernels of the convolutions: the sums as they are written, one position after the
// other.
//   y[n, o, (g, j)]  = sum over k, i  x[n, o*stride + k*dilation - before, (g, i)] f[k, i, (g, j)]
// Sums of float are made in double, those of half and bfloat16 in float.
#include "ops/nn/conv.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <inttypes.h>
#include <string.h>

#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

typedef double sum_float, sum_double;
typedef float sum_half, sum_bfloat16;
typedef uint32_t sum_int32;

typedef void (*unit_fn)(const rheos__conv *c, const void *a, const void *b, void *out, void *sums,
                        int64_t unit);

// Loops over the elements of a window that lie inside, and over positions
#define FOR_INSIDE(k, d, o) RHEOS__FOR(k, inside, &w[d], o)
#define FOR_COVERING(k, d, at) RHEOS__FOR(k, covering, &w[d], at)
#define FOR_OUTPUTS(o, d, k) RHEOS__FOR(o, outputs, &w[d], k)

// Where a position of the input, or of the output, starts.
static int64_t input_at(const rheos__conv *c, int64_t n, int64_t z, int64_t y, int64_t x) {
  return n * c->in.batch + z * c->in.dims[0] + y * c->in.dims[1] + x * c->in.dims[2];
}
static int64_t output_at(const rheos__conv *c, int64_t n, int64_t z, int64_t y, int64_t x) {
  return n * c->out.batch + z * c->out.dims[0] + y * c->out.dims[1] + x * c->out.dims[2];
}
// The first element of the filter at window element (kz, ky, kx), for input channel i of a group.
static int64_t filter_at(const rheos__conv *c, int64_t kz, int64_t ky, int64_t kx, int64_t i) {
  const rheos__window *w = c->windows.dims;
  const int64_t tap = (kz * w[1].kernel + ky) * w[2].kernel + kx;
  return (tap * c->group_in + i) * c->groups * c->group_out;
}

#define KERNELS(S, unused)                                                                         \
  /* One row of the output. */                                                                     \
  static void forward_##S(const rheos__conv *c, const void *image, const void *filter, void *out,  \
                          void *sums, int64_t unit) {                                              \
    const rheos__stored_##S *xs = image, *fs = filter;                                             \
    rheos__stored_##S *ys = out;                                                                   \
    sum_##S *sum = sums;                                                                           \
    const rheos__window *w = c->windows.dims;                                                      \
    const int64_t channels = c->groups * c->group_out;                                             \
    const int64_t n = unit / w[1].out / w[0].out;                                                  \
    const int64_t oz = unit / w[1].out % w[0].out, oy = unit % w[1].out;                           \
    for (int64_t ox = 0; ox < w[2].out; ox++) {                                                    \
      memset(sum, 0, (size_t)channels * sizeof *sum);                                              \
      FOR_INSIDE(kz, 0, oz) FOR_INSIDE(ky, 1, oy) FOR_INSIDE(kx, 2, ox) {                          \
        const int64_t at =                                                                         \
            input_at(c, n, rheos__window_at(&w[0], oz, kz), rheos__window_at(&w[1], oy, ky),       \
                     rheos__window_at(&w[2], ox, kx));                                             \
        for (int64_t g = 0; g < c->groups; g++) {                                                  \
          for (int64_t i = 0; i < c->group_in; i++) {                                              \
            const sum_##S x =                                                                      \
                (sum_##S)RHEOS__LOAD_##S(xs[at + (g * c->group_in + i) * c->in.channel]);          \
            const rheos__stored_##S *f = fs + filter_at(c, kz, ky, kx, i) + g * c->group_out;      \
            sum_##S *of_group = sum + g * c->group_out;                                            \
            for (int64_t j = 0; j < c->group_out; j++) {                                           \
              of_group[j] += x * (sum_##S)RHEOS__LOAD_##S(f[j]);                                   \
            }                                                                                      \
          }                                                                                        \
        }                                                                                          \
      }                                                                                            \
      rheos__stored_##S *y = ys + output_at(c, n, oz, oy, ox);                                     \
      for (int64_t j = 0; j < channels; j++) y[j * c->out.channel] = RHEOS__STORE_##S(sum[j]);     \
    }                                                                                              \
  }                                                                                                \
  /* One row of the input's gradient. */                                                           \
  static void backprop_input_##S(const rheos__conv *c, const void *filter, const void *grad,       \
                                 void *out, void *sums, int64_t unit) {                            \
    const rheos__stored_##S *fs = filter, *gs = grad;                                              \
    rheos__stored_##S *dxs = out;                                                                  \
    sum_##S *sum = sums;                                                                           \
    const rheos__window *w = c->windows.dims;                                                      \
    const int64_t channels = c->groups * c->group_in;                                              \
    const int64_t n = unit / w[1].in / w[0].in;                                                    \
    const int64_t z = unit / w[1].in % w[0].in, y = unit % w[1].in;                                \
    for (int64_t x = 0; x < w[2].in; x++) {                                                        \
      memset(sum, 0, (size_t)channels * sizeof *sum);                                              \
      FOR_COVERING(kz, 0, z) FOR_COVERING(ky, 1, y) FOR_COVERING(kx, 2, x) {                       \
        const int64_t oz = rheos__window_with(&w[0], z, kz);                                       \
        const int64_t oy = rheos__window_with(&w[1], y, ky);                                       \
        const int64_t ox = rheos__window_with(&w[2], x, kx);                                       \
        if (oz < 0 || oy < 0 || ox < 0) continue;                                                  \
        const int64_t at = output_at(c, n, oz, oy, ox);                                            \
        for (int64_t i = 0; i < channels; i++) {                                                   \
          const int64_t g = i / c->group_in, first = g * c->group_out;                             \
          const rheos__stored_##S *f = fs + filter_at(c, kz, ky, kx, i % c->group_in) + first;     \
          const rheos__stored_##S *dy = gs + at + first * c->out.channel;                          \
          sum_##S of_tap = 0;                                                                      \
          for (int64_t j = 0; j < c->group_out; j++) {                                             \
            of_tap +=                                                                              \
                (sum_##S)RHEOS__LOAD_##S(dy[j * c->out.channel]) * (sum_##S)RHEOS__LOAD_##S(f[j]); \
          }                                                                                        \
          sum[i] += of_tap;                                                                        \
        }                                                                                          \
      }                                                                                            \
      rheos__stored_##S *dx = dxs + input_at(c, n, z, y, x);                                       \
      for (int64_t i = 0; i < channels; i++) dx[i * c->in.channel] = RHEOS__STORE_##S(sum[i]);     \
    }                                                                                              \
  }                                                                                                \
  /* One row of the filter's gradient: an element of the window, an input channel of the groups.   \
   */                                                                                              \
  static void backprop_filter_##S(const rheos__conv *c, const void *image, const void *grad,       \
                                  void *out, void *sums, int64_t unit) {                           \
    const rheos__stored_##S *xs = image, *gs = grad;                                               \
    rheos__stored_##S *df = (rheos__stored_##S *)out + unit * c->groups * c->group_out;            \
    sum_##S *sum = sums;                                                                           \
    const rheos__window *w = c->windows.dims;                                                      \
    const int64_t channels = c->groups * c->group_out;                                             \
    const int64_t i = unit % c->group_in, kx = unit / c->group_in % w[2].kernel;                   \
    const int64_t ky = unit / c->group_in / w[2].kernel % w[1].kernel;                             \
    const int64_t kz = unit / c->group_in / w[2].kernel / w[1].kernel;                             \
    memset(sum, 0, (size_t)channels * sizeof *sum);                                                \
    for (int64_t n = 0; n < c->batch; n++) {                                                       \
      FOR_OUTPUTS(oz, 0, kz) FOR_OUTPUTS(oy, 1, ky) FOR_OUTPUTS(ox, 2, kx) {                       \
        const rheos__stored_##S *x =                                                               \
            xs + input_at(c, n, rheos__window_at(&w[0], oz, kz), rheos__window_at(&w[1], oy, ky),  \
                          rheos__window_at(&w[2], ox, kx));                                        \
        const rheos__stored_##S *dy = gs + output_at(c, n, oz, oy, ox);                            \
        for (int64_t g = 0; g < c->groups; g++) {                                                  \
          const sum_##S of_image =                                                                 \
              (sum_##S)RHEOS__LOAD_##S(x[(g * c->group_in + i) * c->in.channel]);                  \
          for (int64_t j = g * c->group_out; j < (g + 1) * c->group_out; j++) {                    \
            sum[j] += of_image * (sum_##S)RHEOS__LOAD_##S(dy[j * c->out.channel]);                 \
          }                                                                                        \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
    for (int64_t j = 0; j < channels; j++) df[j] = RHEOS__STORE_##S(sum[j]);                       \
  }
#define DTYPES(M, ...) RHEOS__FLOATS(M, __VA_ARGS__) M(int32, __VA_ARGS__)
DTYPES(KERNELS, )

enum { row_forward, row_backprop_input, row_backprop_filter, NUM_ROWS };
#define UNIT_ENTRY(S, name) [row_##name][RHEOS__DTYPE_##S] = name##_##S,
static const unit_fn unit_fns[NUM_ROWS][RHEOS__NUM_DTYPES] = {DTYPES(UNIT_ENTRY, forward) DTYPES(
    UNIT_ENTRY, backprop_input) DTYPES(UNIT_ENTRY, backprop_filter)};

typedef struct conv_state {
  rheos__conv conv;
  unit_fn unit;
  int64_t units;  // 0: there is nothing to compute
  int32_t a, b;   // the two inputs that are read
} conv_state;

static rheos_status *run_conv(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  const conv_state *s = state;
  if (last_unit > s->units) last_unit = s->units;
  for (int64_t unit = first_unit; unit < last_unit; unit++) {
    s->unit(&s->conv, inputs[s->a], inputs[s->b], outputs[0], scratch, unit);
  }
  return NULL;
}

static rheos_status *answer(rheos__prepare *p, int row, const rheos__conv *conv, int32_t a,
                            int32_t b, int64_t units, int64_t channels) {
  conv_state *s = RHEOS_NEW_STATE(p, conv_state);
  if (s == NULL) return rheos__out_of_memory();
  const rheos_dtype dtype = p->output_dtypes[0];
  *s = (conv_state){.conv = *conv, .unit = unit_fns[row][dtype], .units = units, .a = a, .b = b};
  if (s->unit == NULL) return rheos__no_kernel(p, dtype);
  if (rheos_shape_num_elements(&p->output_shapes[0]) == 0) s->units = 0;
  if (!rheos__mul_size((size_t)channels, sizeof(double), &p->scratch_bytes)) {
    return rheos__out_of_memory();
  }
  p->num_units = s->units;
  p->flops = rheos__conv_flops(conv);
  p->run = run_conv;
  return NULL;
}

rheos_status *rheos__prepare_conv(rheos__prepare *p) {
  rheos__conv c;
  RHEOS_TRY(rheos__conv_of_forward(p, &c));
  const int64_t rows[] = {c.batch, c.windows.dims[0].out, c.windows.dims[1].out};
  return answer(p, row_forward, &c, 0, 1, rheos__estimate(rows, 3), c.groups * c.group_out);
}

rheos_status *rheos__prepare_conv_backprop_input(rheos__prepare *p) {
  rheos__conv c;
  RHEOS_TRY(rheos__conv_of_backprop_input(p, &c));
  const int64_t rows[] = {c.batch, c.windows.dims[0].in, c.windows.dims[1].in};
  return answer(p, row_backprop_input, &c, 1, 2, rheos__estimate(rows, 3), c.groups * c.group_in);
}

rheos_status *rheos__prepare_conv_backprop_filter(rheos__prepare *p) {
  rheos__conv c;
  RHEOS_TRY(rheos__conv_of_backprop_filter(p, &c));
  const int64_t rows[] = {rheos__conv_taps(&c), c.group_in};
  return answer(p, row_backprop_filter, &c, 0, 2, rheos__estimate(rows, 2), c.groups * c.group_out);
}
