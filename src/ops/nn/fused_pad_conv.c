// FusedPadConv2D and FusedResizeAndPadConv2D: images (resized, and) framed by their own mirror
// image, then convolved. Graphs rewritten for inference hold them. The framed image is made for one
// batch entry at a time.
#include <math.h>
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"
#include "ops/kit/window.h"

// Where the inputs are: `size` only when resizing.
typedef struct places {
  int32_t size, paddings, filter;  // size is 0 if there is none
} places;

static places places_of(int32_t num_inputs) {
  return num_inputs == 4 ? (places){1, 2, 3} : (places){0, 1, 2};
}

// ---- Sizes

typedef struct fused {
  rheos__windows windows;  // over the framed images
  int64_t batch, height, width, channels, filters;
  int64_t resized[2], before[2];  // rows and columns
  int64_t edge;                   // 0: the outermost row is not repeated, 1: it is
  bool resize, align_corners;
  rheos_dtype dtype;
} fused;

static rheos_status *read_window(const rheos__attrs *attrs, const rheos_shape *filter, fused *f) {
  int64_t strides[RHEOS__WINDOW_DIMS], batch, channel;
  RHEOS_TRY(rheos__layout_of(attrs, 2, &f->windows.layout));
  RHEOS_TRY(
      rheos__window_numbers(attrs, "strides", &f->windows.layout, NULL, strides, &batch, &channel));
  if (batch != 1 || channel != 1) {
    return RHEOS_INVALID("strides in the batch and depth dimensions are not supported");
  }
  for (int32_t d = 0; d < RHEOS__WINDOW_DIMS; d++) {
    f->windows.dims[d] = (rheos__window){
        .in = 1, .kernel = d > 0 ? filter->dims[d - 1] : 1, .stride = strides[d], .dilation = 1};
    if (f->windows.dims[d].kernel == 0) return RHEOS_INVALID("filter must not have zero elements");
  }
  f->filters = filter->dims[3];
  return NULL;
}

static rheos_status *framed(int64_t size, int64_t before, int64_t after, int64_t edge,
                            int64_t *out) {
  if (before < 0 || after < 0) {
    return RHEOS_INVALID("paddings must be non-negative: %lld %lld", (long long)before,
                         (long long)after);
  }
  *out = -1;
  if (size < 0) return NULL;
  const int64_t most = edge ? size : size - 1;
  if (before > most || after > most) {
    return RHEOS_INVALID("paddings must be %s the dimension size: %lld, %lld for %lld",
                         edge ? "no greater than" : "less than", (long long)before,
                         (long long)after, (long long)size);
  }
  if (size > INT32_MAX / 3) return RHEOS_INVALID("images are too large");
  *out = size + before + after;
  return NULL;
}

// From [4, 2] paddings, or NULL where they are not known.
static rheos_status *read_paddings(const int64_t *paddings, fused *f) {
  const int64_t sizes[] = {f->resized[0], f->resized[1]};
  for (int32_t d = 0; d < 2; d++) {
    rheos__window *w = &f->windows.dims[1 + d];
    w->in = -1;
    if (paddings == NULL) continue;
    f->before[d] = paddings[2 + 2 * d];
    RHEOS_TRY(framed(sizes[d], f->before[d], paddings[3 + 2 * d], f->edge, &w->in));
  }
  if (paddings != NULL &&
      (paddings[0] != 0 || paddings[1] != 0 || paddings[6] != 0 || paddings[7] != 0)) {
    return RHEOS_INVALID("paddings of batch and channels must be 0");
  }
  return NULL;
}

static rheos_status *check_size(int64_t height, int64_t width) {
  if (height > 0 && width > 0) return NULL;
  return RHEOS_INVALID("output dimensions must be positive, got %lld and %lld", (long long)height,
                       (long long)width);
}

// What does not need values: `image` may be partly known.
static rheos_status *fit_shapes(const rheos__attrs *attrs, const rheos_shape *image,
                                const rheos_shape *filter, fused *out) {
  memset(out, 0, sizeof *out);
  out->batch = image->dims[0];
  out->height = out->resized[0] = image->dims[1];
  out->width = out->resized[1] = image->dims[2];
  out->channels = image->dims[3];
  out->edge = strcmp(rheos__attr_string(attrs, "mode"), "SYMMETRIC") == 0;
  if (image->dims[3] >= 0 && filter->dims[2] >= 0 && image->dims[3] != filter->dims[2]) {
    return RHEOS_INVALID("input and filter must have the same depth: %lld vs %lld",
                         (long long)image->dims[3], (long long)filter->dims[2]);
  }
  return read_window(attrs, filter, out);
}

static rheos_status *fused_shape(rheos__infer *c) {
  const places at = places_of(c->num_inputs);
  rheos_shape image, filter, table, size;
  fused f;
  int64_t numbers[8], sizes[2];
  int32_t count;
  RHEOS_TRY(rheos__infer_rank(c, 0, 4, &image));
  RHEOS_TRY(rheos__infer_rank(c, at.paddings, 2, &table));
  RHEOS_TRY(rheos__infer_rank(c, at.filter, 4, &filter));
  if ((table.dims[0] >= 0 && table.dims[0] != 4) || (table.dims[1] >= 0 && table.dims[1] != 2)) {
    return RHEOS_INVALID("paddings must be [4, 2], got [%lld, %lld]", (long long)table.dims[0],
                         (long long)table.dims[1]);
  }
  RHEOS_TRY(fit_shapes(c->attrs, &image, &filter, &f));
  if (at.size > 0) {
    RHEOS_TRY(rheos__infer_rank(c, at.size, 1, &size));
    if (size.dims[0] >= 0 && size.dims[0] != 2) {
      return RHEOS_INVALID("size must have two elements, got %lld", (long long)size.dims[0]);
    }
    const bool known = rheos__infer_ints(c, at.size, sizes, 2, &count);
    if (known) RHEOS_TRY(check_size(sizes[0], sizes[1]));
    f.resized[0] = known ? sizes[0] : -1;
    f.resized[1] = known ? sizes[1] : -1;
  }
  const bool known = rheos__infer_ints(c, at.paddings, numbers, 8, &count);
  RHEOS_TRY(read_paddings(known ? numbers : NULL, &f));
  RHEOS_TRY(rheos__windows_fit(&f.windows, c->attrs));
  c->output_shapes[0] =
      RHEOS_SHAPE(f.batch, f.windows.dims[1].out, f.windows.dims[2].out, f.filters);
  return NULL;
}

// ---- The framed image

// A place in the image by interpolation between two.
typedef struct tap {
  int64_t low, high;
  double share;  // of `high`
} tap;

// Row (d = 0) or column `at` of the framed image.
static tap tap_at(const fused *f, int32_t d, int64_t at) {
  const int64_t inner = f->resized[d], in = d == 0 ? f->height : f->width;
  int64_t i = at - f->before[d];
  if (i < 0) i = -i - f->edge;
  if (i >= inner) i = 2 * inner - 2 - i + f->edge;
  if (!f->resize) return (tap){i, i, 0};
  const float scale = f->align_corners && inner > 1 ? (float)(in - 1) / (float)(inner - 1)
                                                    : (float)in / (float)inner;
  const float place = (float)i * scale;
  const int64_t low = (int64_t)place < in ? (int64_t)place : in - 1;
  return (tap){low, low + 1 < in ? low + 1 : in - 1, (double)place - (double)low};
}

typedef struct call {
  fused fused;
  const void *image, *filter;
  void *out;
  double *framed;  // (height, width, channels) of one batch entry
  tap *columns;
  int64_t entry;
} call;

typedef void (*frame_fn)(const call *c, int64_t row);
typedef void (*conv_fn)(const call *c, double *sums, int64_t row);

#define KERNELS(S, unused)                                                                   \
  static void frame_##S(const call *c, int64_t row) {                                        \
    const fused *f = &c->fused;                                                              \
    const rheos__stored_##S *image =                                                         \
        (const rheos__stored_##S *)c->image + c->entry * f->height * f->width * f->channels; \
    const int64_t width = f->windows.dims[2].in, depth = f->channels;                        \
    const tap y = tap_at(f, 0, row);                                                         \
    const rheos__stored_##S *top = image + y.low * f->width * depth;                         \
    const rheos__stored_##S *bottom = image + y.high * f->width * depth;                     \
    double *to = c->framed + row * width * depth;                                            \
    for (int64_t x = 0; x < width; x++) {                                                    \
      const tap *t = &c->columns[x];                                                         \
      for (int64_t k = 0; k < depth; k++) {                                                  \
        const double a = (double)RHEOS__LOAD_##S(top[t->low * depth + k]);                   \
        if (!f->resize) {                                                                    \
          *to++ = a;                                                                         \
          continue;                                                                          \
        }                                                                                    \
        const double b = (double)RHEOS__LOAD_##S(top[t->high * depth + k]);                  \
        const double e = (double)RHEOS__LOAD_##S(bottom[t->low * depth + k]);                \
        const double g = (double)RHEOS__LOAD_##S(bottom[t->high * depth + k]);               \
        const double upper = a + (b - a) * t->share, lower = e + (g - e) * t->share;         \
        *to++ = upper + (lower - upper) * y.share;                                           \
      }                                                                                      \
    }                                                                                        \
  }                                                                                          \
  static void conv_##S(const call *c, double *sums, int64_t row) {                           \
    const fused *f = &c->fused;                                                              \
    const rheos__window *w = f->windows.dims;                                                \
    const rheos__stored_##S *filter = c->filter;                                             \
    rheos__stored_##S *to =                                                                  \
        (rheos__stored_##S *)c->out + (c->entry * w[1].out + row) * w[2].out * f->filters;   \
    for (int64_t ox = 0; ox < w[2].out; ox++) {                                              \
      memset(sums, 0, (size_t)f->filters * sizeof *sums);                                    \
      RHEOS__FOR(ky, inside, &w[1], row) RHEOS__FOR(kx, inside, &w[2], ox) {                 \
        const int64_t y = rheos__window_at(&w[1], row, ky);                                  \
        const int64_t x = rheos__window_at(&w[2], ox, kx);                                   \
        const double *pixel = c->framed + (y * w[2].in + x) * f->channels;                   \
        const rheos__stored_##S *weights =                                                   \
            filter + (ky * w[2].kernel + kx) * f->channels * f->filters;                     \
        for (int64_t k = 0; k < f->channels; k++, weights += f->filters) {                   \
          for (int64_t j = 0; j < f->filters; j++) {                                         \
            sums[j] += pixel[k] * (double)RHEOS__LOAD_##S(weights[j]);                       \
          }                                                                                  \
        }                                                                                    \
      }                                                                                      \
      for (int64_t j = 0; j < f->filters; j++) *to++ = RHEOS__STORE_##S(sums[j]);            \
    }                                                                                        \
  }
RHEOS__FLOATS(KERNELS, )

#define ENTRY(S, name) [RHEOS__DTYPE_##S] = name##_##S,
static const frame_fn frame_fns[RHEOS__NUM_DTYPES] = {RHEOS__FLOATS(ENTRY, frame)};
static const conv_fn conv_fns[RHEOS__NUM_DTYPES] = {RHEOS__FLOATS(ENTRY, conv)};

// ---- The kernel

static rheos_status *frame_rows(void *argument, int64_t first, int64_t last) {
  const call *c = argument;
  for (int64_t row = first; row < last; row++) frame_fns[c->fused.dtype](c, row);
  return NULL;
}

static rheos_status *conv_rows(void *argument, int64_t first, int64_t last) {
  const call *c = argument;
  double *sums = rheos__alloc_array((size_t)c->fused.filters, sizeof *sums);
  if (sums == NULL) return rheos__out_of_memory();
  for (int64_t row = first; row < last; row++) conv_fns[c->fused.dtype](c, sums, row);
  rheos__free(sums);
  return NULL;
}

static rheos_status *convolve(call *c, rheos__step *step) {
  const fused *f = &c->fused;
  const rheos__window *w = f->windows.dims;
  const int64_t sizes[] = {w[1].in, w[2].in, f->channels};
  const int64_t work[] = {w[1].out, w[2].out, f->filters, w[1].kernel, w[2].kernel, f->channels, 2};
  rheos_status *status = NULL;
  for (int64_t x = 0; x < w[2].in; x++) c->columns[x] = tap_at(f, 1, x);
  for (c->entry = 0; c->entry < f->batch && status == NULL; c->entry++) {
    status = rheos__step_parallel(step, w[1].in, rheos__estimate(sizes, 3), frame_rows, c);
    if (status == NULL) {
      status = rheos__step_parallel(step, w[1].out, rheos__estimate(work, 7), conv_rows, c);
    }
  }
  return status;
}

static rheos_status *fit_call(const rheos__operands *o, rheos_tensor *const *inputs, fused *f) {
  const places at = places_of(o->num_inputs);
  int64_t paddings[8];
  RHEOS_TRY(fit_shapes(o->attrs, &inputs[0]->shape, &inputs[at.filter]->shape, f));
  f->dtype = o->output_dtypes[0];
  f->resize = at.size > 0;
  if (f->resize) {
    f->align_corners = rheos__attr_bool(o->attrs, "resize_align_corners");
    for (int32_t d = 0; d < 2; d++) f->resized[d] = rheos__tensor_int_at(inputs[at.size], d);
    RHEOS_TRY(check_size(f->resized[0], f->resized[1]));
    if (f->height == 0 || f->width == 0) {
      return RHEOS_INVALID("input image must be of non-zero size");
    }
  }
  for (int32_t i = 0; i < 8; i++) paddings[i] = rheos__tensor_int_at(inputs[at.paddings], i);
  RHEOS_TRY(read_paddings(paddings, f));
  return rheos__windows_fit(&f->windows, o->attrs);
}

static rheos_status *compute_fused(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  const rheos__operands *o = state;
  call c = {.image = inputs[0]->data, .filter = inputs[places_of(o->num_inputs).filter]->data};
  size_t elements, depth;
  RHEOS_TRY(fit_call(o, inputs, &c.fused));
  const rheos__window *w = c.fused.windows.dims;
  const rheos_shape shape = RHEOS_SHAPE(c.fused.batch, w[1].out, w[2].out, c.fused.filters);
  RHEOS_TRY(rheos__tensor_new(c.fused.dtype, &shape, &outputs[0]));
  if (outputs[0]->num_elements == 0) return NULL;
  if (!rheos__mul_size((size_t)w[2].in, (size_t)c.fused.channels, &depth) ||
      !rheos__mul_size((size_t)w[1].in, depth, &elements)) {
    return RHEOS_INVALID("images are too large");
  }
  c.out = outputs[0]->data;
  c.framed = rheos__alloc_array(elements > 0 ? elements : 1, sizeof *c.framed);
  c.columns = rheos__alloc_array((size_t)w[2].in + 1, sizeof *c.columns);
  rheos_status *status =
      c.framed != NULL && c.columns != NULL ? convolve(&c, step) : rheos__out_of_memory();
  rheos__free(c.framed);
  rheos__free(c.columns);
  return status;
}

static rheos_status *prepare_fused(rheos__prepare *p) {
  if (conv_fns[p->output_dtypes[0]] == NULL) return rheos__no_kernel(p, p->output_dtypes[0]);
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = compute_fused;
  return NULL;
}

#define ATTRS                                                         \
  "mode: {\"REFLECT\", \"SYMMETRIC\"}; strides: list(int); padding: " \
  "{\"SAME\", \"VALID\"}"

const rheos__op_def rheos__op_FusedPadConv2D = {
    .name = "FusedPadConv2D",
    .signature =
        "input: T, paddings: int32, filter: T -> output: T; "
        "T: {half, bfloat16, float, double}; " ATTRS,
    .doc = "MirrorPad of the images `input`, then Conv2D.",
    .shape = fused_shape,
    .prepare = prepare_fused,
};

const rheos__op_def rheos__op_FusedResizeAndPadConv2D = {
    .name = "FusedResizeAndPadConv2D",
    .signature =
        "input: T, size: int32, paddings: int32, filter: T -> output: T; "
        "T: {half, float, double}; resize_align_corners: bool = false; " ATTRS,
    .doc = "ResizeBilinear of the images `input`, then MirrorPad, then Conv2D.",
    .shape = fused_shape,
    .prepare = prepare_fused,
};
