// Dilation2D: the largest sum of a window of the image and the filter, channel by channel, and its
// two gradients, which go to the first element that gives the largest sum.
#include "ops/nn/dilation.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <float.h>
#include <inttypes.h>
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

typedef rheos__dilation dilation;

static rheos_status *fit(const rheos__attrs *attrs, const rheos_shape *image,
                         const rheos_shape *filter, dilation *out, rheos_shape *out_shape) {
  memset(out, 0, sizeof *out);
  rheos__layout *layout = &out->windows.layout;
  int64_t strides[RHEOS__WINDOW_DIMS], rates[RHEOS__WINDOW_DIMS], batch, channel;
  RHEOS_TRY(rheos__layout_of(attrs, 2, layout));
  RHEOS_TRY(rheos__window_numbers(attrs, "strides", layout, NULL, strides, &batch, &channel));
  if (batch != 1 || channel != 1) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "Stride is only supported across spatial dimensions.");
  }
  RHEOS_TRY(rheos__window_numbers(attrs, "rates", layout, NULL, rates, &batch, &channel));
  if (batch != 1 || channel != 1) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "Rate is only supported across spatial dimensions.");
  }
  for (int32_t d = 0; d < RHEOS__WINDOW_DIMS; d++) {
    out->windows.dims[d] = (rheos__window){.in = d > 0 ? image->dims[d] : 1,
                                           .kernel = d > 0 ? filter->dims[d - 1] : 1,
                                           .stride = strides[d],
                                           .dilation = rates[d]};
  }
  if (image->dims[3] >= 0 && filter->dims[2] >= 0 && image->dims[3] != filter->dims[2]) {
    return RHEOS_INVALID("input and filter must have the same depth: %" PRId64 " vs %" PRId64,
                         image->dims[3], filter->dims[2]);
  }
  out->batch = image->dims[0];
  out->channels = image->dims[3] >= 0 ? image->dims[3] : filter->dims[2];
  RHEOS_TRY(rheos__windows_fit(&out->windows, attrs));
  const rheos__window *w = out->windows.dims;
  *out_shape = RHEOS_SHAPE(out->batch, w[1].out, w[2].out, out->channels);
  return NULL;
}

// ---- Kernels

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

// The largest sum at one place, and where it is in the image and in the filter. The first window
// element inside wins if no sum exceeds the lowest number.
#define KERNELS(S, unused)                                                                         \
  static rheos__computed_##S largest_##S(const dilation *s, const void *image, const void *filter, \
                                         int64_t n, int64_t oy, int64_t ox, int64_t c,             \
                                         int64_t *in_image, int64_t *in_filter) {                  \
    const rheos__window *w = s->windows.dims;                                                      \
    const rheos__stored_##S *xs = image, *fs = filter;                                             \
    rheos__computed_##S best = LOWEST_##S;                                                         \
    *in_image = *in_filter = -1;                                                                   \
    RHEOS__FOR(ky, inside, &w[1], oy) RHEOS__FOR(kx, inside, &w[2], ox) {                          \
      const int64_t y = rheos__window_at(&w[1], oy, ky), x = rheos__window_at(&w[2], ox, kx);      \
      const int64_t at = n * s->in.batch + y * s->in.dims[1] + x * s->in.dims[2] + c;              \
      const int64_t tap = (ky * w[2].kernel + kx) * s->channels + c;                               \
      const rheos__computed_##S sum =                                                              \
          (rheos__computed_##S)((rheos__wrapping_##S)RHEOS__LOAD_##S(xs[at]) +                     \
                                (rheos__wrapping_##S)RHEOS__LOAD_##S(fs[tap]));                    \
      if (*in_image >= 0 && !(sum > best)) continue;                                               \
      if (sum > best) best = sum;                                                                  \
      *in_image = at;                                                                              \
      *in_filter = tap;                                                                            \
    }                                                                                              \
    return best;                                                                                   \
  }                                                                                                \
  static void forward_##S(const dilation *s, const void *const *inputs, void *out, int64_t n,      \
                          int64_t oy, int64_t ox, int64_t c) {                                     \
    int64_t at, tap;                                                                               \
    const int64_t to = n * s->out.batch + oy * s->out.dims[1] + ox * s->out.dims[2] + c;           \
    ((rheos__stored_##S *)out)[to] =                                                               \
        RHEOS__STORE_##S(largest_##S(s, inputs[0], inputs[1], n, oy, ox, c, &at, &tap));           \
  }                                                                                                \
  static void backward_##S(const dilation *s, const void *const *inputs, void *out, int64_t n,     \
                           int64_t oy, int64_t ox, int64_t c, bool to_image) {                     \
    int64_t at, tap;                                                                               \
    (void)largest_##S(s, inputs[0], inputs[1], n, oy, ox, c, &at, &tap);                           \
    if (at < 0) return;                                                                            \
    const rheos__stored_##S *dy = inputs[2];                                                       \
    rheos__stored_##S *sum = (rheos__stored_##S *)out + (to_image ? at : tap);                     \
    const int64_t from = n * s->out.batch + oy * s->out.dims[1] + ox * s->out.dims[2] + c;         \
    *sum = RHEOS__STORE_##S((rheos__wrapping_##S)RHEOS__LOAD_##S(*sum) +                           \
                            (rheos__wrapping_##S)RHEOS__LOAD_##S(dy[from]));                       \
  }                                                                                                \
  static void to_image_##S(const dilation *s, const void *const *inputs, void *out, int64_t n,     \
                           int64_t oy, int64_t ox, int64_t c) {                                    \
    backward_##S(s, inputs, out, n, oy, ox, c, true);                                              \
  }                                                                                                \
  static void to_filter_##S(const dilation *s, const void *const *inputs, void *out, int64_t n,    \
                            int64_t oy, int64_t ox, int64_t c) {                                   \
    backward_##S(s, inputs, out, n, oy, ox, c, false);                                             \
  }
RHEOS__NUMBERS(KERNELS, )

typedef void (*place_fn)(const dilation *s, const void *const *inputs, void *out, int64_t n,
                         int64_t oy, int64_t ox, int64_t c);
enum { row_forward, row_to_image, row_to_filter, NUM_ROWS };
#define ENTRY(S, name) [row_##name][RHEOS__DTYPE_##S] = name##_##S,
static const place_fn places[NUM_ROWS][RHEOS__NUM_DTYPES] = {RHEOS__NUMBERS(
    ENTRY, forward) RHEOS__NUMBERS(ENTRY, to_image) RHEOS__NUMBERS(ENTRY, to_filter)};

typedef struct dilation_state {
  dilation dilation;  // which devices read
  place_fn place;
  size_t clear_bytes;  // of the output, before anything is added to it
  bool by_channel;     // a unit is a channel, else a batch entry
  int64_t units;
} dilation_state;

// The channels of the filter's gradient, and the batch entries of the others, are independent.
static rheos_status *run_dilation(const void *state, const void *const *inputs,
                                  void *const *outputs, void *scratch, int64_t first_unit,
                                  int64_t last_unit) {
  (void)scratch;
  const dilation_state *d = state;
  const dilation *s = &d->dilation;
  const rheos__window *w = s->windows.dims;
  if (last_unit > d->units) last_unit = d->units;
  const int64_t first_n = d->by_channel ? 0 : first_unit;
  const int64_t last_n = d->by_channel ? s->batch : last_unit;
  const int64_t first_c = d->by_channel ? first_unit : 0;
  const int64_t last_c = d->by_channel ? last_unit : s->channels;
  if (d->clear_bytes > 0 && first_n < last_n) {
    memset((char *)outputs[0] + (size_t)first_n * d->clear_bytes, 0,
           (size_t)(last_n - first_n) * d->clear_bytes);
  }
  for (int64_t n = first_n; n < last_n; n++) {
    for (int64_t oy = 0; oy < w[1].out; oy++) {
      for (int64_t ox = 0; ox < w[2].out; ox++) {
        for (int64_t c = first_c; c < last_c; c++) d->place(s, inputs, outputs[0], n, oy, ox, c);
      }
    }
  }
  return NULL;
}

// The filter's gradient by one unit, which clears all of it.
static rheos_status *run_to_filter(const void *state, const void *const *inputs,
                                   void *const *outputs, void *scratch, int64_t first_unit,
                                   int64_t last_unit) {
  (void)first_unit;
  (void)last_unit;
  const dilation_state *d = state;
  const rheos__window *w = d->dilation.windows.dims;
  memset(outputs[0], 0,
         (size_t)(w[1].kernel * w[2].kernel * d->dilation.channels) *
             rheos_dtype_size(d->dilation.dtype));
  return run_dilation(state, inputs, outputs, scratch, 0, d->units);
}

static rheos_status *prepare_rows(rheos__prepare *p, int row) {
  dilation_state *d = RHEOS_NEW_STATE(p, dilation_state);
  if (d == NULL) return rheos__out_of_memory();
  dilation *s = &d->dilation;
  rheos_shape out;
  RHEOS_TRY(fit(p->attrs, &p->input_shapes[0], &p->input_shapes[1], s, &out));
  if (row != row_forward && !rheos_shape_equal(&out, &p->input_shapes[2])) {
    return RHEOS_INVALID("out_backprop has incompatible size.");
  }
  s->in = rheos__layout_steps(&s->windows.layout, &p->input_shapes[0]);
  s->out = rheos__layout_steps(&s->windows.layout, &out);
  s->dtype = p->output_dtypes[0];
  d->place = places[row][s->dtype];
  if (d->place == NULL) return rheos__no_kernel(p, s->dtype);
  const int64_t elements = rheos_shape_num_elements(&p->output_shapes[0]);
  d->by_channel = row == row_to_filter;
  d->units = elements == 0 ? 0 : d->by_channel ? s->channels : s->batch;
  if (row == row_to_image && elements > 0) {
    d->clear_bytes = (size_t)(elements / s->batch) * rheos_dtype_size(s->dtype);
  }
  const rheos__window *w = s->windows.dims;
  p->num_units = d->by_channel ? 1 : d->units;
  p->flops = rheos__estimate(
      (const int64_t[]){2, s->batch, w[1].out, w[2].out, s->channels, w[1].kernel, w[2].kernel}, 7);
  p->run = d->by_channel ? run_to_filter : run_dilation;
  return NULL;
}
static rheos_status *prepare_forward(rheos__prepare *p) { return prepare_rows(p, row_forward); }
static rheos_status *prepare_to_image(rheos__prepare *p) { return prepare_rows(p, row_to_image); }
static rheos_status *prepare_to_filter(rheos__prepare *p) { return prepare_rows(p, row_to_filter); }

// ---- Shapes and gradients

static rheos_status *forward_shape(rheos__infer *c) {
  rheos_shape image, filter;
  dilation ignored;
  RHEOS_TRY(rheos__infer_rank(c, 0, 4, &image));
  RHEOS_TRY(rheos__infer_rank(c, 1, 3, &filter));
  return fit(c->attrs, &image, &filter, &ignored, &c->output_shapes[0]);
}

static rheos_status *backprop_shape(rheos__infer *c, int32_t like) {
  rheos_shape shapes[3];
  for (int32_t i = 0; i < 3; i++) {
    RHEOS_TRY(rheos__infer_rank(c, i, i == 1 ? 3 : 4, &shapes[i]));
  }
  c->output_shapes[0] = shapes[like];
  return NULL;
}
static rheos_status *to_image_shape(rheos__infer *c) { return backprop_shape(c, 0); }
static rheos_status *to_filter_shape(rheos__infer *c) { return backprop_shape(c, 1); }

static void grad_dilation(rheos__grad *g) {
  static const char *const names[] = {"strides", "rates", "padding", NULL};
  rheos_attr attrs[8];
  const size_t count = rheos__attrs_by_name(g, names, attrs);
  const rheos_output inputs[] = {g->inputs[0], g->inputs[1], rheos__grad_dense(g, 0)};
  for (int32_t i = 0; i < 2; i++) {
    const char *type = i == 0 ? "Dilation2DBackpropInput" : "Dilation2DBackpropFilter";
    rheos__grad_set(
        g, i,
        rheos_operation_output(rheos__op_n(g->scope, type, NULL, inputs, 3, attrs, count), 0));
  }
}

#define ATTRS                                                                               \
  "; T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, " \
  "uint64}; strides: list(int) >= 4; rates: list(int) >= 4; padding: {\"SAME\", \"VALID\"}"

const rheos__op_def rheos__op_Dilation2D = {
    .name = "Dilation2D",
    .signature = "input: T, filter: T -> output: T" ATTRS,
    .doc =
        "The largest sum of each window of the images `input` and `filter` [height, width, "
        "channels].",
    .shape = forward_shape,
    .gradient = grad_dilation,
    .prepare = prepare_forward,
};
const rheos__op_def rheos__op_Dilation2DBackpropInput = {
    .name = "Dilation2DBackpropInput",
    .signature = "input: T, filter: T, out_backprop: T -> in_backprop: T" ATTRS,
    .doc = "The gradient of Dilation2D for its images.",
    .shape = to_image_shape,
    .prepare = prepare_to_image,
};
const rheos__op_def rheos__op_Dilation2DBackpropFilter = {
    .name = "Dilation2DBackpropFilter",
    .signature = "input: T, filter: T, out_backprop: T -> filter_backprop: T" ATTRS,
    .doc = "The gradient of Dilation2D for its filter.",
    .shape = to_filter_shape,
    .prepare = prepare_to_filter,
};
