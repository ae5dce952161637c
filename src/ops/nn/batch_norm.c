// FusedBatchNorm in its three versions, and its gradient. Statistics are those of the batch while
// training, given ones otherwise; sums are made in double. Channels are independent of each other.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <math.h>
#include <string.h>

#include "base/numbers.h"
#include "ops/kit/array_util.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"
#include "ops/nn/batch_norm.h"

enum { UNIT_CHANNELS = 16 };

typedef rheos__norm norm;
typedef rheos__norm_range range;

// ---- Kernels

static double param_at(rheos_dtype dtype, const void *data, int64_t i) {
  if (dtype == RHEOS_BFLOAT16) return rheos__bfloat16_to_float(((const uint16_t *)data)[i]);
  return ((const float *)data)[i];
}
static void set_param(rheos_dtype dtype, void *data, int64_t i, double value) {
  if (dtype == RHEOS_BFLOAT16) {
    ((uint16_t *)data)[i] = rheos__float_to_bfloat16((float)value);
  } else {
    ((float *)data)[i] = (float)value;
  }
}

#define FOR_RANGE(at, c)                                                        \
  for (int64_t n = 0; n < s->batch; n++)                                        \
    for (int64_t position = 0; position < s->spatial; position++)               \
      for (int64_t c = 0, at = n * s->batch_step + position * s->spatial_step + \
                               k->first * s->channel_step;                      \
           c < k->count; c++, at += s->channel_step)

#define KERNELS(S, unused)                                                                     \
  static void moments_##S(const norm *s, const void *x, range *k) {                            \
    const rheos__stored_##S *xs = x;                                                           \
    const double count = (double)(s->batch * s->spatial);                                      \
    for (int64_t c = 0; c < k->count; c++) k->mean[c] = k->variance[c] = 0;                    \
    FOR_RANGE(at, c) k->mean[c] += (double)RHEOS__LOAD_##S(xs[at]);                            \
    for (int64_t c = 0; c < k->count; c++) k->mean[c] /= count;                                \
    FOR_RANGE(at, c) {                                                                         \
      const double d = (double)RHEOS__LOAD_##S(xs[at]) - k->mean[c];                           \
      k->variance[c] += d * d;                                                                 \
    }                                                                                          \
    for (int64_t c = 0; c < k->count; c++) k->variance[c] /= count;                            \
  }                                                                                            \
  static void normalize_##S(const norm *s, const void *x, const range *k, const double *scale, \
                            const double *offset, void *y) {                                   \
    const rheos__stored_##S *xs = x;                                                           \
    rheos__stored_##S *ys = y;                                                                 \
    FOR_RANGE(at, c) {                                                                         \
      const double centered = (double)RHEOS__LOAD_##S(xs[at]) - k->mean[c];                    \
      ys[at] = RHEOS__STORE_##S(centered * scale[c] + offset[c]);                              \
    }                                                                                          \
  }                                                                                            \
  /* Sums of what arrives, and of its products with x - mean. */                               \
  static void grad_sums_##S(const norm *s, const void *dy, const void *x, const range *k,      \
                            double *sum, double *product) {                                    \
    const rheos__stored_##S *xs = x, *dys = dy;                                                \
    for (int64_t c = 0; c < k->count; c++) sum[c] = product[c] = 0;                            \
    FOR_RANGE(at, c) {                                                                         \
      const double d = (double)RHEOS__LOAD_##S(dys[at]);                                       \
      sum[c] += d;                                                                             \
      product[c] += d * ((double)RHEOS__LOAD_##S(xs[at]) - k->mean[c]);                        \
    }                                                                                          \
  }                                                                                            \
  /* dx = (dy - mean of dy - (x - mean) slope) scale */                                        \
  static void grad_x_##S(const norm *s, const void *dy, const void *x, const range *k,         \
                         const double *scale, const double *mean_dy, const double *slope,      \
                         void *dx) {                                                           \
    const rheos__stored_##S *xs = x, *dys = dy;                                                \
    rheos__stored_##S *dxs = dx;                                                               \
    FOR_RANGE(at, c) {                                                                         \
      const double centered = (double)RHEOS__LOAD_##S(xs[at]) - k->mean[c];                    \
      const double d = (double)RHEOS__LOAD_##S(dys[at]) - mean_dy[c] - centered * slope[c];    \
      dxs[at] = RHEOS__STORE_##S(d * scale[c]);                                                \
    }                                                                                          \
  }
#define DTYPES(M, ...) M(float, __VA_ARGS__) M(half, __VA_ARGS__) M(bfloat16, __VA_ARGS__)
DTYPES(KERNELS, )

#define LOOPS(S, unused) \
  [RHEOS__DTYPE_##S] = {moments_##S, normalize_##S, grad_sums_##S, grad_x_##S},
static const rheos__norm_loops reference_loops[RHEOS__NUM_DTYPES] = {DTYPES(LOOPS, )};

// Ranges of channels, over all those of the units.
#define FOR_RANGES(first_channel, count_channels)                                               \
  const int64_t end = rheos__min(last_unit * s->unit_channels, s->channels);                    \
  for (int64_t first_channel = first_unit * s->unit_channels, count_channels;                   \
       count_channels = rheos__min(s->most_channels, end - first_channel), first_channel < end; \
       first_channel += count_channels)

static void given_moments(const norm *s, const void *mean, const void *variance, range *k) {
  for (int64_t c = 0; c < k->count; c++) {
    k->mean[c] = param_at(s->param_dtype, mean, k->first + c);
    k->variance[c] = param_at(s->param_dtype, variance, k->first + c);
  }
}

// Batch statistics, mixed into the running ones; the variance is that of the sample.
static void store_moments(const norm *s, const void *const *inputs, void *const *outputs,
                          const range *k) {
  const double count = (double)(s->batch * s->spatial);
  for (int64_t c = 0; c < k->count; c++) {
    const int64_t i = k->first + c;
    double mean = k->mean[c], variance = k->variance[c];
    if (s->is_training) {
      if (count > 1) variance *= count / (count - 1);
      if (s->factor != 1 && s->has_mean) {
        mean = (1 - s->factor) * param_at(s->param_dtype, inputs[3], i) + s->factor * mean;
        variance = (1 - s->factor) * param_at(s->param_dtype, inputs[4], i) + s->factor * variance;
      }
    }
    set_param(s->param_dtype, outputs[1], i, mean);
    set_param(s->param_dtype, outputs[2], i, variance);
    set_param(s->param_dtype, outputs[3], i, k->mean[c]);
    set_param(s->param_dtype, outputs[4], i, k->variance[c]);
  }
}

static rheos_status *run_norm(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  const norm *s = state;
  if (first_unit == 0 && s->num_outputs > 5) set_param(s->param_dtype, outputs[5], 0, 0);
  FOR_RANGES(first, count) {
    range k;
    k.first = first;
    k.count = count;
    if (s->is_training) {
      s->loops->moments(s, inputs[0], &k);
    } else {
      given_moments(s, inputs[3], inputs[4], &k);
    }
    double scale[RHEOS__NORM_CHANNELS], offset[RHEOS__NORM_CHANNELS];
    for (int64_t c = 0; c < k.count; c++) {
      scale[c] =
          param_at(s->param_dtype, inputs[1], k.first + c) / sqrt(k.variance[c] + s->epsilon);
      offset[c] = param_at(s->param_dtype, inputs[2], k.first + c);
    }
    s->loops->normalize(s, inputs[0], &k, scale, offset, outputs[0]);
    store_moments(s, inputs, outputs, &k);
  }
  return NULL;
}

static rheos_status *run_grad(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  const norm *s = state;
  const void *dy = inputs[0], *x = inputs[1];
  FOR_RANGES(first, count) {
    range k;
    k.first = first;
    k.count = count;
    given_moments(s, inputs[3], inputs[4], &k);
    double sum[RHEOS__NORM_CHANNELS], product[RHEOS__NORM_CHANNELS];
    double scale[RHEOS__NORM_CHANNELS], slope[RHEOS__NORM_CHANNELS];
    s->loops->grad_sums(s, dy, x, &k, sum, product);
    const double elements = (double)(s->batch * s->spatial);
    for (int64_t c = 0; c < k.count; c++) {
      const double rstd = 1 / sqrt(k.variance[c] + s->epsilon);
      const bool empty = elements == 0;
      set_param(s->param_dtype, outputs[1], k.first + c, empty ? 0 : product[c] * rstd);
      set_param(s->param_dtype, outputs[2], k.first + c, sum[c]);
      scale[c] = param_at(RHEOS_FLOAT, inputs[2], k.first + c) * rstd;
      slope[c] = s->is_training ? product[c] * rstd * rstd / elements : 0;
      sum[c] = s->is_training ? sum[c] / elements : 0;
    }
    s->loops->grad_x(s, dy, x, &k, scale, sum, slope, outputs[0]);
  }
  return NULL;
}

// ---- Shapes

static int32_t channel_dim(const rheos__attrs *attrs, int32_t rank) {
  return rheos__attr_string(attrs, "data_format")[1] == 'C' ? 1 : rank - 1;
}

typedef struct norm_family {
  bool volumes;  // may be normalized too; an op without a family takes images only
} norm_family;

static const norm_family images_and_volumes = {.volumes = true};

// The rank that `data_format` says; an image may also be a volume where the op allows both.
static rheos_status *infer_image(const rheos__infer *c, int32_t input, rheos_shape *out_shape) {
  const int32_t rank = (int32_t)strlen(rheos__attr_string(c->attrs, "data_format"));
  return rheos__infer_rank(c, input, rank, out_shape);
}

// Merges the length of vector `input` into the number of channels; an empty one may stand for none.
static rheos_status *merge_channels(const rheos__infer *c, int32_t input, bool may_be_empty,
                                    int64_t *channels) {
  rheos_shape vector;
  RHEOS_TRY(rheos__infer_rank(c, input, 1, &vector));
  const int64_t length = vector.dims[0];
  if (length < 0 || (may_be_empty && (length == 0 || *channels < 0))) return NULL;
  if (*channels >= 0 && length != *channels) {
    return RHEOS_INVALID(
        "input %d must have the same number of elements as the channels of x, got %lld and %lld",
        (int)input, (long long)length, (long long)*channels);
  }
  *channels = length;
  return NULL;
}

static rheos_status *norm_shape(rheos__infer *c) {
  rheos_shape x;
  RHEOS_TRY(infer_image(c, 0, &x));
  const int32_t channel = x.rank < 0 ? -1 : channel_dim(c->attrs, x.rank);
  int64_t channels = channel < 0 ? -1 : x.dims[channel];
  const bool given = !rheos__attr_bool(c->attrs, "is_training") ||
                     rheos__attr_float(c->attrs, "exponential_avg_factor") != 1.0f;
  RHEOS_TRY(merge_channels(c, 1, false, &channels));
  RHEOS_TRY(merge_channels(c, 2, false, &channels));
  RHEOS_TRY(merge_channels(c, 3, !given, &channels));
  RHEOS_TRY(merge_channels(c, 4, !given, &channels));
  if (channel >= 0) x.dims[channel] = channels;
  c->output_shapes[0] = x;
  for (int32_t i = 1; i < 5; i++) c->output_shapes[i] = RHEOS_SHAPE(channels);
  if (c->num_outputs > 5) c->output_shapes[5] = RHEOS_SCALAR;
  return NULL;
}

static rheos_status *grad_shape(rheos__infer *c) {
  rheos_shape dy, x;
  RHEOS_TRY(infer_image(c, 0, &dy));
  RHEOS_TRY(infer_image(c, 1, &x));
  if (!rheos_shape_compatible(&dy, &x)) {
    rheos__shape_text text, other;
    return RHEOS_INVALID(
        "x and y_backprop must have same shape, but x has shape %s and "
        "y_backprop has shape %s",
        rheos__shape_text_of(&x, &text), rheos__shape_text_of(&dy, &other));
  }
  if (x.rank < 0) x = dy;
  const int32_t channel = x.rank < 0 ? -1 : channel_dim(c->attrs, x.rank);
  int64_t channels = channel < 0 ? -1 : x.dims[channel];
  if (channel >= 0 && channels < 0 && dy.rank >= 0) channels = dy.dims[channel];
  for (int32_t i = 2; i < 5; i++) RHEOS_TRY(merge_channels(c, i, false, &channels));
  for (int32_t d = 0; d < x.rank; d++) {
    if (x.dims[d] < 0 && dy.rank >= 0) x.dims[d] = dy.dims[d];
  }
  if (channel >= 0) x.dims[channel] = channels;
  c->output_shapes[0] = x;
  c->output_shapes[1] = c->output_shapes[2] = RHEOS_SHAPE(channels);
  c->output_shapes[3] = c->output_shapes[4] = RHEOS_SHAPE(0);
  return NULL;
}

static rheos_status *prepare_on(rheos__prepare *p, int32_t image, rheos_dtype param_dtype,
                                rheos__run_fn run) {
  norm *s = RHEOS_NEW_STATE(p, norm);
  if (s == NULL) return rheos__out_of_memory();
  const rheos_shape *x = &p->input_shapes[image];
  const rheos_attr_value *factor = rheos__attrs_find(p->attrs, "exponential_avg_factor");
  const int32_t channel = channel_dim(p->attrs, x->rank);
  int64_t steps[RHEOS_MAX_RANK];
  rheos__row_major_steps(x, steps);
  *s = (norm){.batch = x->dims[0],
              .channels = x->dims[channel],
              .batch_step = steps[0],
              .channel_step = steps[channel],
              .dtype = p->input_dtypes[image],
              .param_dtype = param_dtype,
              .epsilon = (double)rheos__attr_float(p->attrs, "epsilon"),
              .factor = factor != NULL ? (double)factor->f : 1,
              .is_training = rheos__attr_bool(p->attrs, "is_training"),
              .has_mean = image == 0 && p->input_shapes[3].dims[0] > 0,
              .num_outputs = p->num_outputs};
  const int64_t elements = rheos_shape_num_elements(x);
  const int64_t entries = elements == 0 ? 0 : elements / s->channels;
  s->spatial = entries == 0 ? 0 : entries / s->batch;
  s->batch = entries == 0 ? 0 : s->batch;
  s->spatial_step = channel == 1 ? 1 : s->channels;
  if (s->epsilon < 0) return RHEOS_INVALID("epsilon must not be negative");
  s->loops = &reference_loops[s->dtype];
  s->unit_channels = s->most_channels = UNIT_CHANNELS;
  p->num_units = s->channels / UNIT_CHANNELS + 1;
  p->flops = rheos__flops((double)elements * 8);
  p->run = run;
  return NULL;
}

static rheos_status *prepare_norm(rheos__prepare *p) {
  return prepare_on(p, 0, p->input_dtypes[1], run_norm);
}
static rheos_status *prepare_grad(rheos__prepare *p) {
  return prepare_on(p, 1, p->input_dtypes[3], run_grad);
}

// ---- Gradients

static rheos_output transposed(rheos_scope *s, rheos_output x, int32_t rank, bool to_last) {
  int32_t order[5] = {0};
  for (int32_t d = 1; d < rank; d++) {
    order[d] = to_last ? (d == rank - 1 ? 1 : d + 1) : (d == 1 ? rank - 1 : d - 1);
  }
  rheos__node_scope inside;
  rheos__push_node_scope(s, "transpose", &inside);
  const rheos_output perm = rheos__const_ints(s, order, rank, "perm");
  const rheos_output y = rheos__named_2(s, "Transpose", inside.name, x, perm);
  rheos_scope_pop(s);
  return y;
}

// Rank of the images: what is known, else what the format says.
static int32_t image_rank(const rheos__grad *g, int32_t input, const char *format) {
  const int32_t rank = rheos_output_shape(g->inputs[input]).rank;
  return rank >= 0 ? rank : (int32_t)strlen(format);
}

// While training by the batch's statistics, which outputs 3 and 4 hold; otherwise by those given,
// with the channels last, as TensorFlow builds it.
static void grad_norm(rheos__grad *g) {
  rheos_scope *s = g->scope;
  char type[32] = "FusedBatchNormGrad";
  strcat(type, g->num_outputs > 5 ? "V3" : rheos__attrs_find(g->attrs, "U") != NULL ? "V2" : "");
  const char *format = rheos__attr_string(g->attrs, "data_format");
  const bool training = rheos__attr_bool(g->attrs, "is_training"), move = format[1] == 'C';
  const int32_t rank = image_rank(g, 0, format);
  rheos_output x = g->inputs[0], dy = rheos__grad_dense(g, 0);
  if (!training && move) {
    x = transposed(s, x, rank, true);
    dy = transposed(s, dy, rank, true);
    format = rank == 5 ? "NDHWC" : "NHWC";
  }
  const rheos_output inputs[] = {dy,
                                 x,
                                 rheos__cast_to(s, g->inputs[1], RHEOS_FLOAT),
                                 training ? g->outputs[3] : g->inputs[3],
                                 training ? g->outputs[4] : g->inputs[4],
                                 g->num_outputs > 5 ? g->outputs[5] : x};
  const rheos_attr attrs[] = {{"epsilon", *rheos__attrs_find(g->attrs, "epsilon")},
                              rheos_attr_string("data_format", format, strlen(format)),
                              rheos_attr_bool("is_training", training)};
  const rheos_operation grad =
      rheos__op_n(s, type, NULL, inputs, g->num_outputs > 5 ? 6 : 5, attrs, 3);
  rheos_output dx = rheos_operation_output(grad, 0);
  if (!training && move) dx = transposed(s, dx, rank, false);
  rheos__grad_set(g, 0, dx);
  rheos__grad_set(g, 1, rheos_operation_output(grad, 1));
  rheos__grad_set(g, 2, rheos_operation_output(grad, 2));
}

// What the second derivative is written with.
typedef struct second {
  rheos_scope *s;
  rheos_shape spread;  // a vector of channels as an image
  int32_t axes[4], num_axes;
} second;

static rheos_output times(const second *k, rheos_output a, rheos_output b) {
  return rheos__op_2(k->s, "Mul", a, b);
}
static rheos_output plus(const second *k, rheos_output a, rheos_output b) {
  return rheos__op_2(k->s, "AddV2", a, b);
}
static rheos_output minus(const second *k, rheos_output a, rheos_output b) {
  return rheos__op_2(k->s, "Sub", a, b);
}
static rheos_output mean_of(const second *k, rheos_output a) {
  const rheos_output inputs[] = {a, rheos__const_ints(k->s, k->axes, k->num_axes, "axes")};
  const rheos_attr keep = rheos_attr_bool("keep_dims", true);
  return rheos_operation_output(rheos__op_n(k->s, "Mean", NULL, inputs, 2, &keep, 1), 0);
}
static rheos_output sum_of(const second *k, rheos_output a) {
  return rheos__sum_axes(k->s, a, k->axes, k->num_axes, false);
}
static rheos_output image_of(const second *k, rheos_output vector) {
  return rheos__reshape_to(k->s, rheos__cast_to(k->s, vector, RHEOS_FLOAT), &k->spread);
}
// v less its mean and its part along the normalized x: what normalization lets through.
static rheos_output projected(const second *k, rheos_output v, rheos_output normal) {
  const rheos_output along = times(k, normal, mean_of(k, times(k, v, normal)));
  return minus(k, minus(k, v, mean_of(k, v)), along);
}

static second second_of(rheos__grad *g) {
  const int32_t rank = image_rank(g, 1, rheos__attr_string(g->attrs, "data_format"));
  const int32_t channel = channel_dim(g->attrs, rank);
  second k = {.s = g->scope, .spread = {.rank = rank}};
  for (int32_t d = 0; d < rank; d++) {
    k.spread.dims[d] = d == channel ? -1 : 1;
    if (d != channel) k.axes[k.num_axes++] = d;
  }
  return k;
}

// With r = 1/sqrt(variance + epsilon), z = (x - mean) r, P = projected, <> sums over a channel, and
// v, a, b what arrives at the gradients of x, scale and offset, the function is
//   scale r <P(v), dy> + a <dy, z> + b <dy>          while training, and
//   scale r <v, dy> + a <dy, z> + b <dy>             with statistics that are given.
// These are its derivatives by dy, x and scale.
static void grad_grad(rheos__grad *g) {
  const second k = second_of(g);
  const bool training = rheos__attr_bool(g->attrs, "is_training");
  const rheos_dtype dtype = rheos_output_dtype(g->inputs[1]);
  const rheos_output dy = rheos__cast_to(k.s, g->inputs[0], RHEOS_FLOAT);
  const rheos_output x = rheos__cast_to(k.s, g->inputs[1], RHEOS_FLOAT);
  const rheos_output scale = image_of(&k, g->inputs[2]);
  const rheos_output v = rheos__cast_to(k.s, rheos__grad_dense(g, 0), RHEOS_FLOAT);
  const rheos_output a = image_of(&k, rheos__grad_dense(g, 1));
  const rheos_output b = image_of(&k, rheos__grad_dense(g, 2));
  const rheos_output centered =
      minus(&k, x, training ? mean_of(&k, x) : image_of(&k, g->inputs[3]));
  const rheos_output variance =
      training ? mean_of(&k, rheos__op_1(k.s, "Square", centered)) : image_of(&k, g->inputs[4]);
  const rheos_output epsilon = rheos__const_scalar(
      k.s, RHEOS_FLOAT, (double)rheos__attr_float(g->attrs, "epsilon"), "epsilon");
  const rheos_output r = rheos__op_1(k.s, "Rsqrt", plus(&k, variance, epsilon));
  const rheos_output z = times(&k, centered, r), slope = times(&k, scale, r);
  const rheos_output through = training ? projected(&k, v, z) : v;
  const rheos_output by_dy = plus(&k, times(&k, slope, through), plus(&k, times(&k, a, z), b));
  const rheos_output product = times(&k, through, dy);
  rheos_output by_x = times(&k, a, dy);
  if (training) {
    const rheos_output both = plus(&k, times(&k, v, mean_of(&k, times(&k, dy, z))),
                                   times(&k, dy, mean_of(&k, times(&k, v, z))));
    const rheos_output at_z = projected(&k, minus(&k, by_x, times(&k, slope, both)), z);
    const rheos_output by_r = times(&k, z, times(&k, slope, mean_of(&k, product)));
    by_x = minus(&k, at_z, by_r);
  }
  rheos__grad_set(g, 0, rheos__cast_to(k.s, by_dy, dtype));
  rheos__grad_set(g, 1, rheos__cast_to(k.s, times(&k, r, by_x), dtype));
  rheos__grad_set(g, 2, sum_of(&k, times(&k, r, product)));
}

// ---- Definitions

#define FORMATS "data_format: {\"NHWC\", \"NCHW\"} = \"NHWC\"; is_training: bool = true"
#define FORMATS_3                                                                     \
  "data_format: {\"NHWC\", \"NCHW\", \"NDHWC\", \"NCDHW\"} = \"NHWC\"; is_training: " \
  "bool = true"
#define NUMBERS "epsilon: float = 0.0001; exponential_avg_factor: float = 1.0; "
#define DOC                                                                                 \
  "The images `x` with each channel brought to mean 0 and variance 1, times `scale`, plus " \
  "`offset`."
#define DOC_GRAD "The gradients of batch normalization for `x`, `scale` and the offset."

const rheos__op_def rheos__op_FusedBatchNorm = {
    .name = "FusedBatchNorm",
    .signature =
        "x: T, scale: T, offset: T, mean: T, variance: T -> y: T, batch_mean: T, batch_variance: "
        "T, "
        "reserve_space_1: T, reserve_space_2: T; T: {float}; " NUMBERS FORMATS,
    .doc = DOC,
    .shape = norm_shape,
    .gradient = grad_norm,
    .prepare = prepare_norm,
};
const rheos__op_def rheos__op_FusedBatchNormV2 = {
    .name = "FusedBatchNormV2",
    .signature =
        "x: T, scale: U, offset: U, mean: U, variance: U -> y: T, batch_mean: U, batch_variance: "
        "U, "
        "reserve_space_1: U, reserve_space_2: U; T: {half, bfloat16, float}; U: {float}; " NUMBERS
            FORMATS,
    .doc = DOC,
    .shape = norm_shape,
    .gradient = grad_norm,
    .prepare = prepare_norm,
};
const rheos__op_def rheos__op_FusedBatchNormV3 = {
    .name = "FusedBatchNormV3",
    .signature =
        "x: T, scale: U, offset: U, mean: U, variance: U -> y: T, batch_mean: U, batch_variance: "
        "U, "
        "reserve_space_1: U, reserve_space_2: U, reserve_space_3: U; T: {half, bfloat16, float}; "
        "U: {bfloat16, float}; " NUMBERS FORMATS_3,
    .doc = DOC,
    .shape = norm_shape,
    .gradient = grad_norm,
    .prepare = prepare_norm,
    .family = &images_and_volumes,
};
const rheos__op_def rheos__op_FusedBatchNormGrad = {
    .name = "FusedBatchNormGrad",
    .signature =
        "y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T -> x_backprop: T, "
        "scale_backprop: T, offset_backprop: T, reserve_space_3: T, reserve_space_4: T; T: "
        "{float}; "
        "epsilon: float = 0.0001; " FORMATS,
    .doc = DOC_GRAD,
    .shape = grad_shape,
    .gradient = grad_grad,
    .prepare = prepare_grad,
};
const rheos__op_def rheos__op_FusedBatchNormGradV2 = {
    .name = "FusedBatchNormGradV2",
    .signature =
        "y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U -> x_backprop: "
        "T, "
        "scale_backprop: U, offset_backprop: U, reserve_space_3: U, reserve_space_4: U; "
        "T: {half, bfloat16, float}; U: {float}; epsilon: float = 0.0001; " FORMATS,
    .doc = DOC_GRAD,
    .shape = grad_shape,
    .gradient = grad_grad,
    .prepare = prepare_grad,
};
const rheos__op_def rheos__op_FusedBatchNormGradV3 = {
    .name = "FusedBatchNormGradV3",
    .signature =
        "y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U, "
        "reserve_space_3: U -> x_backprop: T, scale_backprop: U, offset_backprop: U, "
        "reserve_space_4: U, reserve_space_5: U; T: {half, bfloat16, float}; U: {float}; "
        "epsilon: float = 0.0001; " FORMATS_3,
    .doc = DOC_GRAD,
    .shape = grad_shape,
    .gradient = grad_grad,
    .prepare = prepare_grad,
    .family = &images_and_volumes,
};
