// Convolutions and their gradients: Conv2D (in groups where the filter has fewer input channels
// than the image), DepthwiseConv2dNative and Conv3D. Each family is three ops that are the
// gradients of each other, so any order of differentiation works. The kernels are in conv_kernel.c.
#include "ops/nn/conv.h"

#include <inttypes.h>
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

// ---- What a convolution is, from attributes and shapes

static rheos_status *fit_channels(int64_t channels, int64_t filter_in, int64_t filter_out,
                                  rheos__conv *c) {
  c->group_in = filter_in;
  c->groups = c->group_out = -1;
  if (channels == 0) return RHEOS_INVALID("the image must have at least one channel");
  if (channels >= 0 && filter_in >= 0) {
    if (filter_in == 0 || channels % filter_in != 0) {
      return RHEOS_INVALID("Depth of input (%" PRId64
                           ") is not a multiple of input depth of filter (%" PRId64 ")",
                           channels, filter_in);
    }
    c->groups = channels / filter_in;
    if (filter_out >= 0 && filter_out % c->groups != 0) {
      return RHEOS_INVALID("Depth of output (%" PRId64
                           ") is not a multiple of the number of groups (%" PRId64 ")",
                           filter_out, c->groups);
    }
    if (filter_out >= 0) c->group_out = filter_out / c->groups;
  }
  return NULL;
}

static rheos_status *fit_depthwise(int64_t channels, int64_t filter_in, int64_t multiplier,
                                   rheos__conv *c, int64_t *out_channels) {
  if (channels >= 0 && filter_in >= 0 && channels != filter_in) {
    return RHEOS_INVALID("input and filter must have the same depth: %" PRId64 " vs %" PRId64,
                         channels, filter_in);
  }
  c->groups = channels >= 0 ? channels : filter_in;
  c->group_in = 1;
  c->group_out = multiplier;
  *out_channels = -1;
  if (c->groups < 0 || multiplier < 0) return NULL;
  if (__builtin_mul_overflow(c->groups, multiplier, out_channels)) {
    return RHEOS_INVALID("%" PRId64 " channels times %" PRId64 " are too many", c->groups,
                         multiplier);
  }
  return NULL;
}

static rheos_status *read_numbers(const rheos__attrs *attrs, const char *name,
                                  const rheos__layout *layout, rheos_code code, int64_t *numbers) {
  int64_t batch, channel;
  RHEOS_TRY(rheos__window_numbers(attrs, name, layout, NULL, numbers, &batch, &channel));
  if (batch == 1 && channel == 1) return NULL;
  return rheos_status_new(
      code, "Current implementation does not yet support %s in the batch and depth dimensions.",
      name);
}

rheos_status *rheos__conv_fit(const rheos__attrs *attrs, int32_t spatial, bool depthwise,
                              const rheos_shape *input, const rheos_shape *filter,
                              rheos__conv *out_conv, rheos_shape *out_shape) {
  rheos__conv *c = out_conv;
  memset(c, 0, sizeof *c);
  rheos__layout *layout = &c->windows.layout;
  int64_t strides[RHEOS__WINDOW_DIMS], dilations[RHEOS__WINDOW_DIMS];
  RHEOS_TRY(rheos__layout_of(attrs, spatial, layout));
  const rheos_code code = depthwise || spatial == 3 ? RHEOS_INVALID_ARGUMENT : RHEOS_UNIMPLEMENTED;
  RHEOS_TRY(read_numbers(attrs, "strides", layout, code, strides));
  RHEOS_TRY(read_numbers(attrs, "dilations", layout, code, dilations));
  for (int32_t d = 0; d < RHEOS__WINDOW_DIMS; d++) {
    const int32_t at = d - (RHEOS__WINDOW_DIMS - spatial);
    c->windows.dims[d] = (rheos__window){.in = at >= 0 ? input->dims[layout->first + at] : 1,
                                         .kernel = at >= 0 ? filter->dims[at] : 1,
                                         .stride = strides[d],
                                         .dilation = dilations[d]};
    if (c->windows.dims[d].kernel == 0) {
      return RHEOS_INVALID(
          "filter must not have zero elements (i.e. all dimensions must be "
          "non-zero)");
    }
  }
  c->batch = input->dims[0];
  const int64_t channels = input->dims[layout->channel];
  int64_t out_channels = filter->dims[spatial + 1];
  if (depthwise) {
    RHEOS_TRY(fit_depthwise(channels, filter->dims[spatial], out_channels, c, &out_channels));
  } else {
    RHEOS_TRY(fit_channels(channels, filter->dims[spatial], out_channels, c));
  }
  RHEOS_TRY(rheos__windows_fit(&c->windows, attrs));
  int64_t sizes[RHEOS__WINDOW_DIMS];
  for (int32_t d = 0; d < spatial; d++) {
    sizes[d] = c->windows.dims[RHEOS__WINDOW_DIMS - spatial + d].out;
  }
  *out_shape = rheos__layout_shape(layout, c->batch, sizes, out_channels);
  return NULL;
}

typedef struct conv_family {
  bool depthwise;
} conv_family;

static const conv_family plain = {.depthwise = false}, by_channel = {.depthwise = true};

static bool is_depthwise(const rheos__op_def *op) {
  const conv_family *family = op->family;
  return family != NULL && family->depthwise;  // NULL: an op that runs a convolution within it
}

static rheos_status *conv_of(const rheos__prepare *p, const rheos_shape *input,
                             const rheos_shape *filter, const rheos_shape *output,
                             rheos__conv *out_conv) {
  rheos_shape computed;
  RHEOS_TRY(rheos__conv_fit(p->attrs, output->rank - 2, is_depthwise(p->op), input, filter,
                            out_conv, &computed));
  out_conv->in = rheos__layout_steps(&out_conv->windows.layout, input);
  out_conv->out = rheos__layout_steps(&out_conv->windows.layout, output);
  if (rheos_shape_equal(&computed, output)) return NULL;
  rheos__shape_text actual, expected;
  return RHEOS_INVALID("Size of out_backprop doesn't match computed: actual = %s, computed = %s",
                       rheos__shape_text_of(output, &actual),
                       rheos__shape_text_of(&computed, &expected));
}

rheos_status *rheos__conv_of_forward(const rheos__prepare *p, rheos__conv *out_conv) {
  return conv_of(p, &p->input_shapes[0], &p->input_shapes[1], &p->output_shapes[0], out_conv);
}
rheos_status *rheos__conv_of_backprop_input(const rheos__prepare *p, rheos__conv *out_conv) {
  return conv_of(p, &p->output_shapes[0], &p->input_shapes[1], &p->input_shapes[2], out_conv);
}
rheos_status *rheos__conv_of_backprop_filter(const rheos__prepare *p, rheos__conv *out_conv) {
  return conv_of(p, &p->input_shapes[0], &p->output_shapes[0], &p->input_shapes[2], out_conv);
}

int64_t rheos__conv_taps(const rheos__conv *c) {
  const rheos__window *w = c->windows.dims;
  return rheos__estimate((const int64_t[]){w[0].kernel, w[1].kernel, w[2].kernel}, 3);
}

int64_t rheos__conv_flops(const rheos__conv *c) {
  const rheos__window *w = c->windows.dims;
  const int64_t factors[] = {
      2,         c->batch,    w[0].out, w[1].out, w[2].out, c->group_in, rheos__conv_taps(c),
      c->groups, c->group_out};
  return rheos__estimate(factors, 9);
}

// ---- Shape functions

static rheos_status *forward_shape(rheos__infer *c, int32_t spatial) {
  rheos_shape input, filter;
  rheos__conv conv;
  RHEOS_TRY(rheos__infer_rank(c, 0, spatial + 2, &input));
  RHEOS_TRY(rheos__infer_rank(c, 1, spatial + 2, &filter));
  rheos_status *fitted = rheos__conv_fit(c->attrs, spatial, is_depthwise(c->op), &input, &filter,
                                         &conv, &c->output_shapes[0]);
  return rheos__windows_inferred_take(c, &conv.windows, fitted);
}

// The shape that input `sizes` holds; for an image it may be its spatial dimensions alone.
static rheos_status *shape_in(rheos__infer *c, int32_t sizes, int32_t rank,
                              rheos_shape *out_shape) {
  rheos_shape vector;
  RHEOS_TRY(rheos__infer_rank(c, sizes, 1, &vector));
  RHEOS_TRY(rheos__infer_shape_value(c, sizes, out_shape));
  if (rheos__infer_value(c, sizes) != NULL && !rheos_shape_is_known(out_shape)) {
    rheos__shape_text text;
    return RHEOS_INVALID("sizes must not be negative, got %s",
                         rheos__shape_text_of(out_shape, &text));
  }
  if (out_shape->rank < 0) *out_shape = rheos__shape_of_rank(rank);
  return NULL;
}

static rheos_status *backprop_input_shape(rheos__infer *c, int32_t spatial) {
  rheos_shape filter, grad, image;
  rheos__layout layout;
  RHEOS_TRY(rheos__layout_of(c->attrs, spatial, &layout));
  RHEOS_TRY(rheos__infer_rank(c, 1, spatial + 2, &filter));
  RHEOS_TRY(rheos__infer_rank(c, 2, spatial + 2, &grad));
  RHEOS_TRY(shape_in(c, 0, spatial + 2, &image));
  if (image.rank == spatial && spatial == 2) {
    image = rheos__layout_shape(&layout, grad.dims[0], image.dims, filter.dims[spatial]);
  }
  if (image.rank != spatial + 2) {
    return RHEOS_INVALID("input_sizes must have %d elements, got %d", spatial + 2, image.rank);
  }
  const int64_t filters = filter.dims[spatial + 1], channels = grad.dims[layout.channel];
  if (spatial == 2 && !is_depthwise(c->op) && filters >= 0 && channels >= 0 &&
      filters != channels) {
    return RHEOS_INVALID("a gradient of %lld channels for %lld filters", (long long)channels,
                         (long long)filters);
  }
  if (image.dims[0] < 0) image.dims[0] = grad.dims[0];
  if (is_depthwise(c->op) && image.dims[layout.channel] < 0) {
    image.dims[layout.channel] = filter.dims[spatial];
  }
  c->output_shapes[0] = image;
  return NULL;
}

static rheos_status *backprop_filter_shape(rheos__infer *c, int32_t spatial) {
  rheos_shape input, grad, filter;
  RHEOS_TRY(rheos__infer_rank(c, 0, spatial + 2, &input));
  RHEOS_TRY(rheos__infer_rank(c, 2, spatial + 2, &grad));
  RHEOS_TRY(shape_in(c, 1, spatial + 2, &filter));
  if (filter.rank != spatial + 2) {
    return RHEOS_INVALID("filter_sizes must have %d elements, got %d", spatial + 2, filter.rank);
  }
  c->output_shapes[0] = filter;
  return NULL;
}

static rheos_status *conv2d_shape(rheos__infer *c) { return forward_shape(c, 2); }
static rheos_status *conv2d_input_shape(rheos__infer *c) { return backprop_input_shape(c, 2); }
static rheos_status *conv2d_filter_shape(rheos__infer *c) { return backprop_filter_shape(c, 2); }
static rheos_status *conv3d_shape(rheos__infer *c) { return forward_shape(c, 3); }
static rheos_status *conv3d_input_shape(rheos__infer *c) { return backprop_input_shape(c, 3); }
static rheos_status *conv3d_filter_shape(rheos__infer *c) { return backprop_filter_shape(c, 3); }

// ---- Gradients

typedef struct family {
  const char *forward, *input, *filter;
  bool shape_by_shape;  // else one ShapeN, which needs its inputs even where it is constant
} family;

// A node with the attributes of the one that is differentiated.
static rheos_output same_attrs(rheos__grad *g, const char *type, const rheos_output *inputs,
                               size_t num_inputs) {
  static const char *const names[] = {
      "strides",     "use_cudnn_on_gpu", "padding", "explicit_paddings",
      "data_format", "dilations",        NULL};
  rheos_attr attrs[8];
  const size_t count = rheos__attrs_by_name(g, names, attrs);
  return rheos_operation_output(rheos__op_n(g->scope, type, NULL, inputs, num_inputs, attrs, count),
                                0);
}
static rheos_output forward(rheos__grad *g, const family *f, rheos_output image,
                            rheos_output filter) {
  return same_attrs(g, f->forward, (const rheos_output[]){image, filter}, 2);
}
static rheos_output by_input(rheos__grad *g, const family *f, rheos_output sizes,
                             rheos_output filter, rheos_output dy) {
  return same_attrs(g, f->input, (const rheos_output[]){sizes, filter, dy}, 3);
}
static rheos_output by_filter(rheos__grad *g, const family *f, rheos_output image,
                              rheos_output sizes, rheos_output dy) {
  return same_attrs(g, f->filter, (const rheos_output[]){image, sizes, dy}, 3);
}

static void grad_forward(rheos__grad *g, const family *f) {
  const rheos_output dy = rheos__grad_dense(g, 0);
  if (f->shape_by_shape) {
    const rheos_output input_sizes = rheos__shape_of(g->scope, g->inputs[0], RHEOS_INT32);
    rheos__grad_set(g, 0, by_input(g, f, input_sizes, g->inputs[1], dy));
    const rheos_output filter_sizes = rheos__shape_of(g->scope, g->inputs[1], RHEOS_INT32);
    rheos__grad_set(g, 1, by_filter(g, f, g->inputs[0], filter_sizes, dy));
    return;
  }
  const rheos_operation sizes = rheos__op_n(g->scope, "ShapeN", NULL, g->inputs, 2, NULL, 0);
  rheos__grad_set(g, 0, by_input(g, f, rheos_operation_output(sizes, 0), g->inputs[1], dy));
  rheos__grad_set(g, 1, by_filter(g, f, g->inputs[0], rheos_operation_output(sizes, 1), dy));
}

static void grad_backprop_input(rheos__grad *g, const family *f) {
  const rheos_output arriving = rheos__grad_dense(g, 0), filter = g->inputs[1];
  const rheos_output sizes = rheos__shape_of(g->scope, filter, RHEOS_INT32);
  rheos__grad_set(g, 1, by_filter(g, f, arriving, sizes, g->inputs[2]));
  rheos__grad_set(g, 2, forward(g, f, arriving, filter));
}

static void grad_backprop_filter(rheos__grad *g, const family *f) {
  const rheos_output arriving = rheos__grad_dense(g, 0), image = g->inputs[0];
  const rheos_output sizes = rheos__shape_of(g->scope, image, RHEOS_INT32);
  rheos__grad_set(g, 0, by_input(g, f, sizes, arriving, g->inputs[2]));
  rheos__grad_set(g, 2, forward(g, f, image, arriving));
}

#define FAMILY(name, forward, input, filter, shape_by_shape)                         \
  static const family name = {forward, input, filter, shape_by_shape};               \
  static void grad_##name(rheos__grad *g) { grad_forward(g, &name); }                \
  static void grad_##name##_input(rheos__grad *g) { grad_backprop_input(g, &name); } \
  static void grad_##name##_filter(rheos__grad *g) { grad_backprop_filter(g, &name); }
FAMILY(conv2d, "Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", false)
FAMILY(depthwise, "DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput",
       "DepthwiseConv2dNativeBackpropFilter", true)
FAMILY(conv3d, "Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", true)

// ---- Definitions

#define FLOATS "T: {half, bfloat16, float, double}; "
#define FLOATS_AND_INT32 "T: {half, bfloat16, float, double, int32}; "
#define PADDING_2D                                                    \
  "padding: {\"SAME\", \"VALID\", \"EXPLICIT\"}; explicit_paddings: " \
  "list(int) = []; data_format: {\"NHWC\", \"NCHW\"} = \"NHWC\"; "    \
  "dilations: list(int) = [1, 1, 1, 1]"
#define ATTRS_2D "strides: list(int); use_cudnn_on_gpu: bool = true; " PADDING_2D
#define ATTRS_DEPTHWISE "strides: list(int); " PADDING_2D
#define ATTRS_3D                                                                                  \
  "strides: list(int) >= 5; padding: {\"SAME\", \"VALID\"}; data_format: {\"NDHWC\", \"NCDHW\"} " \
  "= \"NDHWC\"; dilations: list(int) = [1, 1, 1, 1, 1]"

#define CONV_OP(op, text, about, shape_fn, gradient_fn, prepare_fn, kind) \
  const rheos__op_def rheos__op_##op = {                                  \
      .name = #op,                                                        \
      .signature = text,                                                  \
      .doc = about,                                                       \
      .shape = shape_fn,                                                  \
      .gradient = gradient_fn,                                            \
      .prepare = prepare_fn,                                              \
      .family = &kind,                                                    \
  };

CONV_OP(Conv2D, "input: T, filter: T -> output: T; " FLOATS_AND_INT32 ATTRS_2D,
        "The convolution of the images `input` with `filter` [height, width, in, out].",
        conv2d_shape, grad_conv2d, rheos__prepare_conv, plain)
CONV_OP(Conv2DBackpropInput,
        "input_sizes: int32, filter: T, out_backprop: T -> output: T; " FLOATS_AND_INT32 ATTRS_2D,
        "The gradient of Conv2D for its images, which have the shape `input_sizes`.",
        conv2d_input_shape, grad_conv2d_input, rheos__prepare_conv_backprop_input, plain)
CONV_OP(Conv2DBackpropFilter,
        "input: T, filter_sizes: int32, out_backprop: T -> output: T; " FLOATS ATTRS_2D,
        "The gradient of Conv2D for its filter, which has the shape `filter_sizes`.",
        conv2d_filter_shape, grad_conv2d_filter, rheos__prepare_conv_backprop_filter, plain)
CONV_OP(DepthwiseConv2dNative, "input: T, filter: T -> output: T; " FLOATS ATTRS_DEPTHWISE,
        "The convolution of each channel of `input` with its own part of `filter` [height, width, "
        "channels, multiplier].",
        conv2d_shape, grad_depthwise, rheos__prepare_conv, by_channel)
CONV_OP(DepthwiseConv2dNativeBackpropInput,
        "input_sizes: int32, filter: T, out_backprop: T -> output: T; " FLOATS ATTRS_DEPTHWISE,
        "The gradient of DepthwiseConv2dNative for its images, which have the shape `input_sizes`.",
        conv2d_input_shape, grad_depthwise_input, rheos__prepare_conv_backprop_input, by_channel)
CONV_OP(DepthwiseConv2dNativeBackpropFilter,
        "input: T, filter_sizes: int32, out_backprop: T -> output: T; " FLOATS ATTRS_DEPTHWISE,
        "The gradient of DepthwiseConv2dNative for its filter, which has the shape `filter_sizes`.",
        conv2d_filter_shape, grad_depthwise_filter, rheos__prepare_conv_backprop_filter, by_channel)
CONV_OP(Conv3D, "input: T, filter: T -> output: T; " FLOATS ATTRS_3D,
        "The convolution of the volumes `input` with `filter` [depth, height, width, in, out].",
        conv3d_shape, grad_conv3d, rheos__prepare_conv, plain)
CONV_OP(Conv3DBackpropInputV2,
        "input_sizes: Tshape, filter: T, out_backprop: T -> output: T; " FLOATS ATTRS_3D
        "; Tshape: {int32, int64} = int32",
        "The gradient of Conv3D for its volumes, which have the shape `input_sizes`.",
        conv3d_input_shape, grad_conv3d_input, rheos__prepare_conv_backprop_input, plain)
CONV_OP(Conv3DBackpropFilterV2,
        "input: T, filter_sizes: int32, out_backprop: T -> output: T; " FLOATS ATTRS_3D,
        "The gradient of Conv3D for its filter, which has the shape `filter_sizes`.",
        conv3d_filter_shape, grad_conv3d_filter, rheos__prepare_conv_backprop_filter, plain)

// Before V2 the shape of a result was that of an input, whose numbers do not matter.

static rheos_status *shape_like(rheos__infer *c, int32_t like) {
  rheos_shape shapes[3];
  for (int32_t i = 0; i < 3; i++) RHEOS_TRY(rheos__infer_rank(c, i, 5, &shapes[i]));
  c->output_shapes[0] = shapes[like];
  return NULL;
}
static rheos_status *like_input_shape(rheos__infer *c) { return shape_like(c, 0); }
static rheos_status *like_filter_shape(rheos__infer *c) { return shape_like(c, 1); }

#define ATTRS_V1                                                                        \
  "T: {half, float, double}; strides: list(int) >= 5; padding: {\"SAME\", \"VALID\"}; " \
  "dilations: list(int) = [1, 1, 1, 1, 1]"

CONV_OP(Conv3DBackpropInput, "input: T, filter: T, out_backprop: T -> output: T; " ATTRS_V1,
        "The gradient of Conv3D for its volumes, which have the shape of `input`.",
        like_input_shape, NULL, rheos__prepare_conv_backprop_input, plain)
CONV_OP(Conv3DBackpropFilter, "input: T, filter: T, out_backprop: T -> output: T; " ATTRS_V1,
        "The gradient of Conv3D for its filter, which has the shape of `filter`.",
        like_filter_shape, NULL, rheos__prepare_conv_backprop_filter, plain)
