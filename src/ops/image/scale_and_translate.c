// ScaleAndTranslate: images at another scale and place by a filter that is stretched when they
// become smaller, and its gradient, the same sums turned round. Along either dimension an output
// pixel is a weighted sum of a span of input pixels; the weights are float in TensorFlow's order.
#include "ops/image/scale_and_translate.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <float.h>
#include <math.h>
#include <string.h>

#include "ops/image/resize.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

// ---- The filters, as functions of a distance that is not negative

static float lanczos(float x, float radius) {
  const float pi = 3.14159265359f;
  if (x > radius) return 0;
  if (x <= 1e-3f) return 1;
  return radius * sinf(pi * x) * sinf(pi * x / radius) / (pi * pi * x * x);
}
static float lanczos1(float x) { return lanczos(x, 1); }
static float lanczos3(float x) { return lanczos(x, 3); }
static float lanczos5(float x) { return lanczos(x, 5); }

// Standard deviation 0.5
static float gaussian(float x) {
  return x >= 1.5f ? 0 : (float)exp((double)(-x * x) / (2.0 * 0.5 * 0.5));
}
static float box(float x) { return x < 0.5f ? 1 : x == 0.5f ? 0.5f : 0; }
static float triangle(float x) { return x < 1 ? 1 - x : 0; }

static float keys_cubic(float x) {
  if (x >= 2) return 0;
  if (x >= 1) return ((-0.5f * x + 2.5f) * x - 4.0f) * x + 2.0f;
  return ((1.5f * x - 2.5f) * x) * x + 1.0f;
}

static float mitchell_cubic(float x) {
  if (x >= 2) return 0;
  if (x >= 1) {
    return (((-7.0f / 18.0f) * x + 2.0f) * x - 10.0f / 3.0f) * x + 16.0f / 9.0f;
  }
  return (((7.0f / 6.0f) * x - 2.0f) * x) * x + 8.0f / 9.0f;
}

typedef struct kernel {
  const char *name;
  float (*weight)(float distance);
  float radius;
} kernel;

static const kernel kernels[] = {
    {"lanczos1", lanczos1, 1},
    {"lanczos3", lanczos3, 3},
    {"lanczos5", lanczos5, 5},
    {"gaussian", gaussian, 1.5f},
    {"box", box, 1},
    {"triangle", triangle, 1},
    {"keyscubic", keys_cubic, 2},
    {"mitchellcubic", mitchell_cubic, 2},
};

static rheos_status *kernel_of(const rheos__attrs *attrs, const kernel **out_kernel) {
  const char *name = rheos__attr_string(attrs, "kernel_type");
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    *out_kernel = &kernels[i];
    if (strcmp(kernels[i].name, name) == 0) return NULL;
  }
  return RHEOS_INVALID("Unrecognized kernel type: %s", name);
}

// ---- Spans

typedef rheos__spans spans;

void rheos__spans_deinit(spans *s) {
  rheos__free(s->starts);
  rheos__free(s->counts);
  rheos__free(s->weights);
}

// The span of an output pixel and its weights; none where it lies outside.
static void fill_span(const kernel *k, spans *s, int64_t at, int64_t in, float inverse, float shift,
                      float stretch) {
  const float sample = ((float)at + 0.5f) * inverse + shift;
  if (!(sample >= 0 && sample <= (float)in)) return;
  const float reach = k->radius * stretch;
  const float from = ceilf(sample - reach - 0.5f), to = floorf(sample + reach - 0.5f);
  const int64_t first = from <= 0 ? 0 : rheos__clamp_index((int64_t)from, in);
  const int64_t last = to >= (float)(in - 1) ? in - 1 : rheos__clamp_index((int64_t)to, in);
  const float unstretch = 1.0f / stretch;
  float *weights = s->weights + at * s->width;
  float sum = 0;
  s->starts[at] = first;
  s->counts[at] = last + 1 - first < s->width ? last + 1 - first : s->width;
  for (int64_t i = 0; i < s->counts[at]; i++) {
    const float distance = (float)(first + i) + 0.5f - sample;
    weights[i] = k->weight(fabsf(distance * unstretch));
    sum += weights[i];
  }
  const float scale = fabsf(sum) >= 1000.0f * FLT_MIN ? 1.0f / sum : 0;
  for (int64_t i = 0; i < s->counts[at]; i++) weights[i] *= scale;
}

rheos_status *rheos__spans_init(spans *s, const rheos__attrs *attrs, int64_t in, int64_t out,
                                float scale, float translation) {
  const bool antialias = rheos__attr_bool(attrs, "antialias");
  const kernel *k = NULL;
  size_t count;
  *s = (spans){.out = out};
  RHEOS_TRY(kernel_of(attrs, &k));
  if (!(scale > 0)) return RHEOS_INVALID("Scale must be greater than zero.");
  const float inverse = (float)(1.0 / (double)scale), shift = -inverse * translation;
  const float stretch = antialias && inverse > 1 ? inverse : 1;
  const float half = ceilf(k->radius * stretch);
  s->width = half < (float)in ? 2 * (int64_t)half + 1 : in;
  if (s->width > in) s->width = in;
  if (!rheos__mul_size((size_t)out, (size_t)s->width, &count)) {
    return RHEOS_INVALID("images are too large");
  }
  s->starts = rheos__alloc_zeroed((size_t)out * sizeof *s->starts);
  s->counts = rheos__alloc_zeroed((size_t)out * sizeof *s->counts);
  s->weights = rheos__alloc_array(count, sizeof *s->weights);
  if (s->starts == NULL || s->counts == NULL || s->weights == NULL) return rheos__out_of_memory();
  for (int64_t at = 0; at < out; at++) fill_span(k, s, at, in, inverse, shift, stretch);
  return NULL;
}

// ---- The kernels: columns first, into rows of float, then rows

typedef struct call {
  int64_t batch, in_height, in_width, out_height, out_width, channels;
  spans rows, columns;
  rheos__load_floats_fn load;
  const void *in;
  float *out, *middle;  // (batch, in_height, out_width, channels)
} call;

static rheos_status *do_columns(void *argument, int64_t first, int64_t last) {
  const call *c = argument;
  const int64_t length = c->in_width * c->channels;
  float *row = rheos__alloc_array((size_t)length, sizeof *row);
  if (row == NULL) return rheos__out_of_memory();
  for (int64_t r = first; r < last; r++) {
    float *to = c->middle + r * c->out_width * c->channels;
    c->load(c->in, r * length, length, row);
    for (int64_t x = 0; x < c->out_width; x++, to += c->channels) {
      const float *weights = c->columns.weights + x * c->columns.width;
      const float *from = row + c->columns.starts[x] * c->channels;
      for (int64_t k = 0; k < c->channels; k++) to[k] = 0;
      for (int64_t i = 0; i < c->columns.counts[x]; i++, from += c->channels) {
        for (int64_t k = 0; k < c->channels; k++) to[k] += from[k] * weights[i];
      }
    }
  }
  rheos__free(row);
  return NULL;
}

static rheos_status *do_rows(void *argument, int64_t first, int64_t last) {
  const call *c = argument;
  const int64_t length = c->out_width * c->channels;
  for (int64_t r = first; r < last; r++) {
    const int64_t n = r / c->out_height, y = r % c->out_height;
    const float *weights = c->rows.weights + y * c->rows.width;
    const float *from = c->middle + (n * c->in_height + c->rows.starts[y]) * length;
    float *to = c->out + r * length;
    for (int64_t j = 0; j < length; j++) to[j] = 0;
    for (int64_t i = 0; i < c->rows.counts[y]; i++, from += length) {
      for (int64_t j = 0; j < length; j++) to[j] += from[j] * weights[i];
    }
  }
  return NULL;
}

// The gradient: rows of what arrives are spread over those of `middle`, whose columns are spread
// over the image. A unit is a batch entry.
static rheos_status *spread(void *argument, int64_t first, int64_t last) {
  const call *c = argument;
  const int64_t length = c->out_width * c->channels;
  memset(c->middle + first * c->in_height * length, 0,
         (size_t)((last - first) * c->in_height * length) * sizeof(float));
  for (int64_t n = first; n < last; n++) {
    const float *from = (const float *)c->in + n * c->out_height * length;
    float *middle = c->middle + n * c->in_height * length;
    for (int64_t y = 0; y < c->out_height; y++, from += length) {
      for (int64_t i = 0; i < c->rows.counts[y]; i++) {
        const float weight = c->rows.weights[y * c->rows.width + i];
        float *to = middle + (c->rows.starts[y] + i) * length;
        for (int64_t j = 0; j < length; j++) to[j] += from[j] * weight;
      }
    }
    for (int64_t y = 0; y < c->in_height; y++) {
      float *row = c->out + (n * c->in_height + y) * c->in_width * c->channels;
      for (int64_t x = 0; x < c->out_width; x++) {
        const float *pixel = middle + y * length + x * c->channels;
        for (int64_t i = 0; i < c->columns.counts[x]; i++) {
          const float weight = c->columns.weights[x * c->columns.width + i];
          float *to = row + (c->columns.starts[x] + i) * c->channels;
          for (int64_t k = 0; k < c->channels; k++) to[k] += pixel[k] * weight;
        }
      }
    }
  }
  return NULL;
}

static rheos_status *run_call(call *c, rheos__step *step, bool is_gradient) {
  const int64_t out_row = c->out_width * c->channels;
  if (is_gradient) {
    const int64_t count = c->batch * c->in_height * c->in_width * c->channels;
    memset(c->out, 0, (size_t)count * sizeof(float));
    const int64_t work[] = {c->batch, c->in_height + c->out_height, out_row, c->columns.width, 2};
    int64_t flops = c->batch;
    for (int i = 1; i < 5; i++) {
      if (__builtin_mul_overflow(flops, work[i], &flops)) flops = INT64_MAX / 4;
    }
    return rheos__step_parallel(step, c->batch, flops, spread, c);
  }
  const double columns = (double)c->batch * c->in_height * out_row * c->columns.width * 2;
  const double rows = (double)c->batch * c->out_height * out_row * c->rows.width * 2;
  RHEOS_TRY(
      rheos__step_parallel(step, c->batch * c->in_height, rheos__flops(columns), do_columns, c));
  return rheos__step_parallel(step, c->batch * c->out_height, rheos__flops(rows), do_rows, c);
}

static rheos_status *make_and_run(call *c, rheos__step *step, const rheos__attrs *attrs,
                                  const float *scale, const float *translation, bool is_gradient) {
  size_t rows, length, count;
  if (!rheos__mul_size((size_t)c->batch, (size_t)c->in_height, &rows) ||
      !rheos__mul_size((size_t)c->out_width, (size_t)c->channels, &length) ||
      !rheos__mul_size(rows, length, &count)) {
    return RHEOS_INVALID("images are too large");
  }
  rheos_status *status =
      rheos__spans_init(&c->rows, attrs, c->in_height, c->out_height, scale[0], translation[0]);
  if (status == NULL) {
    status =
        rheos__spans_init(&c->columns, attrs, c->in_width, c->out_width, scale[1], translation[1]);
  }
  if (status == NULL && (c->middle = rheos__alloc_array(count, sizeof *c->middle)) == NULL) {
    status = rheos__out_of_memory();
  }
  if (status == NULL) status = run_call(c, step, is_gradient);
  rheos__free(c->middle);
  rheos__spans_deinit(&c->rows);
  rheos__spans_deinit(&c->columns);
  return status;
}

static rheos_status *check_image(const rheos_shape *image) {
  if (image->dims[3] <= 0) return RHEOS_INVALID("image must have at least one channel");
  if (image->dims[1] <= 0 || image->dims[2] <= 0) {
    return RHEOS_INVALID("input image must be of non-zero size");
  }
  return NULL;
}

static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  const rheos__operands *o = state;
  const rheos_shape *in = &inputs[0]->shape;
  const int64_t height = rheos__tensor_int_at(inputs[1], 0);
  const int64_t width = rheos__tensor_int_at(inputs[1], 1);
  if (height <= 0 || width <= 0) return RHEOS_INVALID("output dimensions must be positive");
  RHEOS_TRY(check_image(in));
  RHEOS_TRY(rheos__tensor_new(RHEOS_FLOAT, &RHEOS_SHAPE(in->dims[0], height, width, in->dims[3]),
                              &outputs[0]));
  call c = {.batch = in->dims[0],
            .in_height = in->dims[1],
            .in_width = in->dims[2],
            .out_height = height,
            .out_width = width,
            .channels = in->dims[3],
            .load = rheos__load_floats_of(inputs[0]->dtype),
            .in = inputs[0]->data,
            .out = outputs[0]->data};
  return make_and_run(&c, step, o->attrs, inputs[2]->data, inputs[3]->data, false);
}

static rheos_status *compute_grad(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const rheos__operands *o = state;
  const rheos_shape *grads = &inputs[0]->shape, *image = &inputs[1]->shape;
  RHEOS_TRY(check_image(image));
  if (grads->dims[1] <= 0 || grads->dims[2] <= 0) {
    return RHEOS_INVALID("output dimensions must be positive");
  }
  RHEOS_TRY(rheos__tensor_new(RHEOS_FLOAT, image, &outputs[0]));
  call c = {.batch = image->dims[0],
            .in_height = image->dims[1],
            .in_width = image->dims[2],
            .out_height = grads->dims[1],
            .out_width = grads->dims[2],
            .channels = image->dims[3],
            .in = inputs[0]->data,
            .out = outputs[0]->data};
  return make_and_run(&c, step, o->attrs, inputs[2]->data, inputs[3]->data, true);
}

static rheos_status *prepare_with(rheos__prepare *p, rheos__compute_fn compute_fn) {
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  if (rheos__load_floats_of(p->input_dtypes[0]) == NULL) {
    return rheos__no_kernel(p, p->input_dtypes[0]);
  }
  p->compute = compute_fn;
  return NULL;
}
static rheos_status *prepare(rheos__prepare *p) { return prepare_with(p, compute); }
static rheos_status *prepare_grad(rheos__prepare *p) { return prepare_with(p, compute_grad); }

// ---- Shapes and gradient

static rheos_status *check_pairs(const rheos__infer *c) {
  for (int32_t i = 2; i < 4; i++) {
    rheos_shape pair;
    RHEOS_TRY(rheos__infer_rank(c, i, 1, &pair));
    if (pair.dims[0] >= 0 && pair.dims[0] != 2) {
      return RHEOS_INVALID("input %d must have two elements, got %lld", i, (long long)pair.dims[0]);
    }
  }
  return NULL;
}

static rheos_status *shape(rheos__infer *c) {
  const kernel *k;
  RHEOS_TRY(kernel_of(c->attrs, &k));
  RHEOS_TRY(check_pairs(c));
  return rheos__resize_shape(c);
}

static rheos_status *shape_grad(rheos__infer *c) {
  const kernel *k;
  RHEOS_TRY(kernel_of(c->attrs, &k));
  RHEOS_TRY(check_pairs(c));
  return rheos__resize_grad_shape(c);
}

static void gradient(rheos__grad *g) {
  const rheos_attr attrs[] = {
      {"kernel_type", *rheos__attrs_find(g->attrs, "kernel_type")},
      {"antialias", *rheos__attrs_find(g->attrs, "antialias")},
  };
  const rheos_output images = rheos__cast_to(g->scope, g->inputs[0], RHEOS_FLOAT);
  const rheos_output inputs[] = {rheos__grad_dense(g, 0), images, g->inputs[2], g->inputs[3]};
  const rheos_operation node =
      rheos__op_n(g->scope, "ScaleAndTranslateGrad", NULL, inputs, 4, attrs, 2);
  if (node.graph == NULL) return;
  rheos__grad_set(
      g, 0,
      rheos__cast_to(g->scope, rheos_operation_output(node, 0), rheos_output_dtype(g->inputs[0])));
}

#define ATTRS "kernel_type: string = \"lanczos3\"; antialias: bool = true"

const rheos__op_def rheos__op_ScaleAndTranslate = {
    .name = "ScaleAndTranslate",
    .signature =
        "images: T, size: int32, scale: float, translation: float -> "
        "resized_images: float; T: {int8, uint8, int16, uint16, int32, int64, bfloat16, "
        "half, float, double}; " ATTRS,
    .doc = "`images` times `scale`, moved on by `translation`, cut to `size` [height, width].",
    .shape = shape,
    .gradient = gradient,
    .prepare = prepare,
};

const rheos__op_def rheos__op_ScaleAndTranslateGrad = {
    .name = "ScaleAndTranslateGrad",
    .signature =
        "grads: T, original_image: T, scale: float, translation: float -> output: T; "
        "T: {float}; " ATTRS,
    .doc = "The gradient of ScaleAndTranslate for its images.",
    .shape = shape_grad,
    .prepare = prepare_grad,
};
