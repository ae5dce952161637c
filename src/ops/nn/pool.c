// Pooling: the largest or the average of windows, its gradients and theirs. The ops differ in which
// tensors have the image's shape and which that of the result; a table of roles says it, and one
// shape function, one check and one `prepare` serve all. The kernels are in pool_kernel.c.
#include "ops/nn/pool.h"

#include <inttypes.h>
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

// ---- What pooling is, from attributes and the image

static rheos_status *check_depth(const rheos__pool_op *op, rheos__pool *p, int64_t depth,
                                 int64_t depth_stride, int64_t channels) {
  p->depth = depth;
  p->channels = channels;
  if (depth == 1 && depth_stride == 1) return NULL;
  const rheos__window *w = p->windows.dims;
  const char *fact = NULL;
  if (op->kind != RHEOS__POOL_MAX) {
    fact = "Non-spatial pooling is available for MaxPool only";
  } else if (w[1].kernel != 1 || w[2].kernel != 1 || w[1].stride != 1 || w[2].stride != 1) {
    fact = "MaxPooling supports exactly one of pooling across depth or pooling across width/height";
  } else if (depth != depth_stride) {
    fact = "Depthwise max pooling requires the depth window to equal the depth stride";
  }
  if (fact != NULL) return rheos_status_new(RHEOS_UNIMPLEMENTED, "%s", fact);
  if (channels < 0) return NULL;
  if (channels % depth != 0) {
    return RHEOS_INVALID(
        "Depthwise max pooling requires the depth window to evenly divide the input depth");
  }
  p->channels = channels / depth;
  return NULL;
}

static rheos_status *check_padding(const rheos__pool *p) {
  for (int32_t d = 0; d < RHEOS__WINDOW_DIMS; d++) {
    const rheos__window *w = &p->windows.dims[d];
    if (w->before >= w->kernel || w->after >= w->kernel) {
      return RHEOS_INVALID("paddings of %" PRId64 " and %" PRId64
                           " need to be smaller than the window size %" PRId64,
                           w->before, w->after, w->kernel);
    }
  }
  return NULL;
}

rheos_status *rheos__pool_fit(const rheos__attrs *attrs, const rheos__pool_op *op,
                              const rheos_shape *image, const int64_t *sizes,
                              const int64_t *strides, rheos__pool *out_pool,
                              rheos_shape *out_shape) {
  rheos__pool *p = out_pool;
  memset(p, 0, sizeof *p);
  rheos__layout *layout = &p->windows.layout;
  RHEOS_TRY(rheos__layout_of(attrs, op->spatial, layout));
  int64_t kernel[RHEOS__WINDOW_DIMS], stride[RHEOS__WINDOW_DIMS];
  int64_t batch, depth, batch_stride, depth_stride;
  RHEOS_TRY(rheos__window_numbers(attrs, "ksize", layout, sizes, kernel, &batch, &depth));
  RHEOS_TRY(rheos__window_numbers(attrs, "strides", layout, strides, stride, &batch_stride,
                                  &depth_stride));
  if (batch != 1 || batch_stride != 1) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "Pooling is not yet supported on the batch dimension.");
  }
  for (int32_t d = 0; d < RHEOS__WINDOW_DIMS; d++) {
    const int32_t at = d - (RHEOS__WINDOW_DIMS - op->spatial);
    p->windows.dims[d] = (rheos__window){.in = at >= 0 ? image->dims[layout->first + at] : 1,
                                         .kernel = kernel[d],
                                         .stride = stride[d],
                                         .dilation = 1};
  }
  p->batch = image->dims[0];
  RHEOS_TRY(check_depth(op, p, depth, depth_stride, image->dims[layout->channel]));
  RHEOS_TRY(rheos__windows_fit(&p->windows, attrs));
  if (strcmp(rheos__attr_string(attrs, "padding"), "EXPLICIT") == 0) RHEOS_TRY(check_padding(p));
  const rheos_attr_value *in_index = rheos__attrs_find(attrs, "include_batch_in_index");
  p->batch_in_index = in_index != NULL && in_index->b;
  int64_t dims[RHEOS__WINDOW_DIMS];
  for (int32_t d = 0; d < op->spatial; d++) {
    dims[d] = p->windows.dims[RHEOS__WINDOW_DIMS - op->spatial + d].out;
  }
  *out_shape = rheos__layout_shape(layout, p->batch, dims, p->channels);
  return NULL;
}

// ---- Shape function

static const char *output_roles(const rheos__pool_op *op) { return strchr(op->roles, '>') + 1; }

// The window's sizes or strides in input `input`; false if they are not known.
static rheos_status *read_vector(rheos__infer *c, const rheos__pool_op *op, int32_t input,
                                 int64_t *values, bool *out_known) {
  rheos_shape vector;
  RHEOS_TRY(rheos__infer_rank(c, input, 1, &vector));
  if (vector.dims[0] >= 0 && vector.dims[0] != op->spatial + 2) {
    return RHEOS_INVALID("Sliding window ksize and strides fields must specify %d dimensions",
                         op->spatial + 2);
  }
  int32_t count;
  *out_known = rheos__infer_ints(c, input, values, RHEOS_MAX_RANK, &count);
  return NULL;
}

static rheos_status *infer_image(rheos__infer *c, const rheos__pool_op *op,
                                 rheos_shape *out_image) {
  const int32_t rank = op->spatial + 2;
  if (op->roles[0] == 'i') return rheos__infer_rank(c, 0, rank, out_image);
  rheos_shape vector;
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &vector));
  RHEOS_TRY(rheos__infer_shape_value(c, 0, out_image));
  if (out_image->rank < 0 && (vector.dims[0] < 0 || vector.dims[0] == rank)) {
    *out_image = rheos__shape_of_rank(rank);
  }
  if (out_image->rank != rank) {
    return RHEOS_INVALID("orig_input_shape must be 1-dimensional and %d elements", rank);
  }
  if (rheos__infer_value(c, 0) != NULL && !rheos_shape_is_known(out_image)) {
    return RHEOS_INVALID("orig_input_shape must not be negative");
  }
  return NULL;
}

// Inputs 0 and 2 are of the image's shape, input 1 of the result's.
static rheos_status *check_second_gradient(const rheos__infer *c, const rheos_shape *pooled) {
  rheos_shape ignored;
  RHEOS_TRY(rheos__shape_merge(&c->input_shapes[0], &c->input_shapes[2], &ignored));
  return rheos__shape_merge(&c->input_shapes[1], pooled, &ignored);
}

// How many channels windows over them give, as shape functions count them.
static int64_t depth_outputs(const rheos__attrs *attrs, int64_t channels, int64_t depth,
                             int64_t stride) {
  if (channels < 0 || depth < 1 || stride < 1) return -1;
  const bool is_same = strcmp(rheos__attr_string(attrs, "padding"), "SAME") == 0;
  if (is_same) return (channels + stride - 1) / stride;
  return channels < depth ? -1 : (channels - depth) / stride + 1;
}

// Windows over batch or channels, which have a shape whether or not a kernel takes them: MaxPool's
// over the channels count, others do not. Kernels refuse what they cannot do when they are
// prepared.
static rheos_status *fit_any(const rheos__infer *c, const rheos__pool_op *op,
                             const rheos_shape *image, rheos__pool *pool, rheos_shape *out_shape) {
  int64_t kernel[RHEOS__WINDOW_DIMS], stride[RHEOS__WINDOW_DIMS];
  int64_t sizes[RHEOS_MAX_RANK], strides[RHEOS_MAX_RANK];
  int64_t batch, depth, batch_stride, depth_stride;
  rheos__layout layout;
  RHEOS_TRY(rheos__layout_of(c->attrs, op->spatial, &layout));
  RHEOS_TRY(rheos__window_numbers(c->attrs, "ksize", &layout, NULL, kernel, &batch, &depth));
  RHEOS_TRY(rheos__window_numbers(c->attrs, "strides", &layout, NULL, stride, &batch_stride,
                                  &depth_stride));
  for (int32_t d = 0; d < op->spatial + 2; d++) sizes[d] = strides[d] = 1;
  for (int32_t d = 0; d < op->spatial; d++) {
    sizes[layout.first + d] = kernel[RHEOS__WINDOW_DIMS - op->spatial + d];
    strides[layout.first + d] = stride[RHEOS__WINDOW_DIMS - op->spatial + d];
  }
  RHEOS_TRY(rheos__pool_fit(c->attrs, op, image, sizes, strides, pool, out_shape));
  if (op->kind == RHEOS__POOL_MAX) {
    out_shape->dims[layout.channel] =
        depth_outputs(c->attrs, image->dims[layout.channel], depth, depth_stride);
  }
  return NULL;
}

static rheos_status *pool_shape(rheos__infer *c, const rheos__pool_op *op) {
  rheos_shape image, pooled = rheos__shape_of_rank(op->spatial + 2);
  RHEOS_TRY(infer_image(c, op, &image));
  int64_t values[2][RHEOS_MAX_RANK];
  const int64_t *given[2] = {NULL, NULL};
  bool known = true;
  for (int32_t i = 1; i < c->num_inputs; i++) {
    const char role = op->roles[i];
    if (role == 'i' || role == 'p') {
      rheos_shape ignored;
      RHEOS_TRY(rheos__infer_rank(c, i, op->spatial + 2, &ignored));
    } else {
      bool here = false;
      RHEOS_TRY(read_vector(c, op, i, values[role == 'd'], &here));
      given[role == 'd'] = values[role == 'd'];
      known = known && here;
    }
  }
  if (known) {
    rheos__pool pool;
    rheos_status *fitted =
        rheos__pool_fit(c->attrs, op, &image, given[0], given[1], &pool, &pooled);
    const bool forward = output_roles(op)[0] == 'p' && op->roles[1] != 'p';
    const bool is_refused = rheos_status_code(fitted) == RHEOS_UNIMPLEMENTED || pool.depth > 1;
    if (forward && given[0] == NULL && fitted != NULL && is_refused) {
      rheos_status_free(fitted);
      fitted = fit_any(c, op, &image, &pool, &pooled);
    }
    RHEOS_TRY(forward ? rheos__windows_inferred_take(c, &pool.windows, fitted) : fitted);
  } else {
    pooled.dims[0] = image.dims[0];
  }
  for (int32_t i = 0; i < c->num_outputs; i++) {
    c->output_shapes[i] = output_roles(op)[i] == 'i' ? image : pooled;
  }
  return strncmp(op->roles, "ipi", 3) == 0 ? check_second_gradient(c, &pooled) : NULL;
}

// ---- Kernel

typedef rheos__pool_state pool_state;

static rheos_status *check_shape(const rheos_shape *actual, const rheos_shape *expected) {
  if (rheos_shape_equal(actual, expected)) return NULL;
  rheos__shape_text text, other;
  return RHEOS_INVALID("Expected shape %s, but got %s", rheos__shape_text_of(expected, &text),
                       rheos__shape_text_of(actual, &other));
}

static const rheos_shape *shape_with_role(const rheos__operands *o, const rheos__pool_op *op,
                                          char role) {
  if (output_roles(op)[0] == role) return &o->output_shapes[0];
  return &o->input_shapes[strchr(op->roles, role) - op->roles];
}

// `sizes` and `strides` NULL: the attributes.
static rheos_status *describe(const rheos__operands *o, const rheos__pool_op *op,
                              const int64_t *sizes, const int64_t *strides, rheos__pool *out_pool) {
  const rheos_shape *image = shape_with_role(o, op, 'i');
  rheos_shape pooled;
  RHEOS_TRY(rheos__pool_fit(o->attrs, op, image, sizes, strides, out_pool, &pooled));
  for (int32_t i = 0; i < o->num_inputs; i++) {
    if (op->roles[i] == 'i') RHEOS_TRY(check_shape(&o->input_shapes[i], image));
    if (op->roles[i] == 'p') RHEOS_TRY(check_shape(&o->input_shapes[i], &pooled));
  }
  if (output_roles(op)[0] == 'p') RHEOS_TRY(check_shape(&o->output_shapes[0], &pooled));
  out_pool->in = rheos__layout_steps(&out_pool->windows.layout, image);
  out_pool->out = rheos__layout_steps(&out_pool->windows.layout, &pooled);
  return NULL;
}

static bool vector_of(const rheos__operands *o, const rheos__pool_op *op, char role,
                      const void *const *inputs, int64_t *values, const int64_t **out_values) {
  const char *at = strchr(op->roles, role);
  *out_values = NULL;
  if (at == NULL) return true;
  const int32_t input = (int32_t)(at - op->roles);
  if (inputs[input] == NULL) return false;
  for (int32_t i = 0; i < op->spatial + 2; i++) {
    values[i] = rheos__operand_int(o, inputs, input, i);
  }
  *out_values = values;
  return true;
}

static int64_t units_of(const rheos__operands *o, const rheos__pool_op *op, const rheos__pool *p) {
  if (rheos_shape_num_elements(&o->output_shapes[0]) == 0) return 0;
  return rheos__pool_units(op->kind, p);
}

static rheos_status *run_late(const pool_state *s, const void *const *inputs,
                              void *const *outputs) {
  int64_t sizes[RHEOS_MAX_RANK], strides[RHEOS_MAX_RANK];
  const int64_t *given_sizes, *given_strides;
  rheos__pool pool;
  vector_of(s->operands, s->op, 'k', inputs, sizes, &given_sizes);
  vector_of(s->operands, s->op, 'd', inputs, strides, &given_strides);
  RHEOS_TRY(describe(s->operands, s->op, given_sizes, given_strides, &pool));
  const int64_t units = units_of(s->operands, s->op, &pool);
  for (int64_t unit = 0; unit < units; unit++) s->fn(&pool, inputs, outputs, s->wide_index, unit);
  return NULL;
}

static rheos_status *run_pool(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  const pool_state *s = state;
  if (s->late) return run_late(s, inputs, outputs);
  if (last_unit > s->units) last_unit = s->units;
  for (int64_t unit = first_unit; unit < last_unit; unit++) {
    s->fn(&s->pool, inputs, outputs, s->wide_index, unit);
  }
  return NULL;
}

static rheos_status *prepare_pool(rheos__prepare *p, const rheos__pool_op *op) {
  pool_state *s = RHEOS_NEW_STATE(p, pool_state);
  if (s == NULL) return rheos__out_of_memory();
  s->op = op;
  s->fn = rheos__pool_kernel(op->kind, p->output_dtypes[0]);
  if (s->fn == NULL) return rheos__no_kernel(p, p->output_dtypes[0]);
  if (op->roles[0] == 'i' && p->input_dtypes[0] != p->output_dtypes[0]) {
    return rheos__no_kernel(p, p->input_dtypes[0]);
  }
  s->operands = rheos__keep_operands(p);
  if (s->operands == NULL) return rheos__out_of_memory();
  p->state = s;
  p->run = run_pool;
  const void *values[RHEOS_MAX_RANK] = {NULL};
  for (int32_t i = 0; i < p->num_inputs; i++) {
    if (p->input_values[i] != NULL) values[i] = rheos_tensor_data(p->input_values[i]);
  }
  int64_t sizes[RHEOS_MAX_RANK], strides[RHEOS_MAX_RANK];
  const int64_t *given_sizes, *given_strides;
  s->late = !vector_of(s->operands, op, 'k', values, sizes, &given_sizes) ||
            !vector_of(s->operands, op, 'd', values, strides, &given_strides);
  if (s->late) return NULL;
  RHEOS_TRY(describe(s->operands, op, given_sizes, given_strides, &s->pool));
  s->units = units_of(s->operands, op, &s->pool);
  s->wide_index = p->num_outputs > 1 && p->output_dtypes[1] == RHEOS_INT64;
  const int64_t elements = rheos_shape_num_elements(&p->output_shapes[0]);
  if (p->num_outputs > 1 && !s->wide_index &&
      rheos_shape_num_elements(&p->input_shapes[0]) > INT32_MAX) {
    return RHEOS_INVALID("the image has too many elements for an argmax of int32");
  }
  const rheos__window *w = s->pool.windows.dims;
  p->num_units = s->units;
  p->flops =
      rheos__estimate((const int64_t[]){elements, w[0].kernel, w[1].kernel, w[2].kernel, 2}, 5);
  return NULL;
}

// ---- Gradients

// The attributes of an op that its gradient has too: only the gradient of the largest takes
// explicit paddings.
static const char *const window_attrs[] = {
    "ksize", "strides", "padding", "data_format", "include_batch_in_index", NULL};
static const char *const padded_window_attrs[] = {"ksize",       "strides",           "padding",
                                                  "data_format", "explicit_paddings", NULL};

static rheos_output same_attrs(rheos__grad *g, const char *type, const rheos_output *inputs,
                               size_t num_inputs, const char *const *names) {
  rheos_attr attrs[8];
  const size_t count = rheos__attrs_by_name(g, names, attrs);
  return rheos_operation_output(rheos__op_n(g->scope, type, NULL, inputs, num_inputs, attrs, count),
                                0);
}

// Of the largest: TYPE(image, result, what arrives, window's sizes and strides if they are inputs).
static void grad_max(rheos__grad *g, const char *type) {
  rheos_output inputs[5] = {g->inputs[0], g->outputs[0], rheos__grad_dense(g, 0)};
  for (int32_t i = 1; i < g->num_inputs; i++) inputs[2 + i] = g->inputs[i];
  rheos__grad_set(g, 0,
                  same_attrs(g, type, inputs, 2 + (size_t)g->num_inputs, padded_window_attrs));
}

// Of a gradient of that, and of the gradient's gradient: linear in what arrived.
static void grad_max_grad(rheos__grad *g, const char *type) {
  rheos_output inputs[5] = {g->inputs[0], g->inputs[1], rheos__grad_dense(g, 0)};
  for (int32_t i = 3; i < g->num_inputs; i++) inputs[i] = g->inputs[i];
  rheos__grad_set(g, 0, rheos__zeros_of_shape(g->scope, g->inputs[0]));
  rheos__grad_set(g, 1, rheos__zeros_of_shape(g->scope, g->inputs[1]));
  rheos__grad_set(g, 2, same_attrs(g, type, inputs, (size_t)g->num_inputs, window_attrs));
}

static void grad_average(rheos__grad *g, const char *type) {
  const rheos_output inputs[] = {rheos__shape_of(g->scope, g->inputs[0], RHEOS_INT32),
                                 rheos__grad_dense(g, 0)};
  rheos__grad_set(g, 0, same_attrs(g, type, inputs, 2, window_attrs));
}
static void grad_average_grad(rheos__grad *g, const char *type) {
  const rheos_output arriving = rheos__grad_dense(g, 0);
  rheos__grad_set(g, 1, same_attrs(g, type, &arriving, 1, window_attrs));
}

static void grad_with_argmax(rheos__grad *g, const char *type) {
  const rheos_output inputs[] = {g->inputs[0], rheos__grad_dense(g, 0), g->outputs[1]};
  rheos__grad_set(g, 0, same_attrs(g, type, inputs, 3, window_attrs));
}

// ---- Definitions

#define NUMBERS \
  "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
#define MAX_TYPES \
  "{half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = float"
#define FLOATS "{half, bfloat16, float, double}"
#define FLOATS_3D "{half, bfloat16, float}"
#define PADDING "padding: {\"SAME\", \"VALID\"}"
#define ANY_PADDING \
  "padding: {\"SAME\", \"VALID\", \"EXPLICIT\"}; explicit_paddings: list(int) = []"
#define FORMAT "; data_format: {\"NHWC\", \"NCHW\"} = \"NHWC\""
#define FORMAT_C "; data_format: {\"NHWC\", \"NCHW\", \"NCHW_VECT_C\"} = \"NHWC\""
#define FORMAT_3D "; data_format: {\"NDHWC\", \"NCDHW\"} = \"NDHWC\""
#define SIZES "ksize: list(int) >= 4; strides: list(int) >= 4; "
#define SIZES_3D "ksize: list(int) >= 5; strides: list(int) >= 5; "
#define INDEX "; include_batch_in_index: bool = false"

#define POOL_OP(op, kind, spatial, roles, gradient_fn, text, about)                          \
  static const rheos__pool_op op_##op = {RHEOS__POOL_##kind, spatial, roles};                \
  static rheos_status *shape_##op(rheos__infer *c) { return pool_shape(c, &op_##op); }       \
  static rheos_status *prepare_##op(rheos__prepare *p) { return prepare_pool(p, &op_##op); } \
  const rheos__op_def rheos__op_##op = {                                                     \
      .name = #op,                                                                           \
      .signature = text,                                                                     \
      .doc = about,                                                                          \
      .shape = shape_##op,                                                                   \
      .gradient = gradient_fn,                                                               \
      .prepare = prepare_##op,                                                               \
  };
#define GRADIENT(name, function, type) \
  static void grad_##name(rheos__grad *g) { function(g, type); }

GRADIENT(MaxPool, grad_max, "MaxPoolGrad")
GRADIENT(MaxPoolGrad, grad_max_grad, "MaxPoolGradGrad")
GRADIENT(MaxPoolGradGrad, grad_max_grad, "MaxPoolGrad")
GRADIENT(MaxPoolV2, grad_max, "MaxPoolGradV2")
GRADIENT(MaxPoolGradV2, grad_max_grad, "MaxPoolGradGradV2")
GRADIENT(MaxPoolGradGradV2, grad_max_grad, "MaxPoolGradV2")
GRADIENT(MaxPool3D, grad_max, "MaxPool3DGrad")
GRADIENT(MaxPool3DGrad, grad_max_grad, "MaxPool3DGradGrad")
GRADIENT(MaxPool3DGradGrad, grad_max_grad, "MaxPool3DGrad")
GRADIENT(AvgPool, grad_average, "AvgPoolGrad")
GRADIENT(AvgPoolGrad, grad_average_grad, "AvgPool")
GRADIENT(AvgPool3D, grad_average, "AvgPool3DGrad")
GRADIENT(AvgPool3DGrad, grad_average_grad, "AvgPool3D")
GRADIENT(MaxPoolWithArgmax, grad_with_argmax, "MaxPoolGradWithArgmax")

POOL_OP(MaxPool, MAX, 2, "i>p", grad_MaxPool,
        "input: T -> output: T; T: " MAX_TYPES "; " SIZES ANY_PADDING FORMAT_C,
        "The largest element of each window of the images `input`.")
POOL_OP(MaxPoolGrad, MAX_GRAD, 2, "ipp>i", grad_MaxPoolGrad,
        "orig_input: T, orig_output: T, grad: T -> output: T; " SIZES ANY_PADDING FORMAT
        "; T: " NUMBERS " = float",
        "The gradient of MaxPool: `grad` goes to the first of the largest elements.")
POOL_OP(MaxPoolGradGrad, MAX_GRAD_GRAD, 2, "ipi>p", grad_MaxPoolGradGrad,
        "orig_input: T, orig_output: T, grad: T -> output: T; " SIZES PADDING FORMAT
        "; T: " NUMBERS,
        "The gradient of MaxPoolGrad: `grad` where the largest elements are.")
POOL_OP(MaxPoolV2, MAX, 2, "ikd>p", grad_MaxPoolV2,
        "input: T, ksize: int32, strides: int32 -> output: T; T: " MAX_TYPES "; " PADDING FORMAT_C,
        "MaxPool with windows of `ksize`, `strides` apart.")
POOL_OP(MaxPoolGradV2, MAX_GRAD, 2, "ippkd>i", grad_MaxPoolGradV2,
        "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: "
        "T; " PADDING FORMAT "; T: " NUMBERS " = float",
        "The gradient of MaxPoolV2.")
POOL_OP(MaxPoolGradGradV2, MAX_GRAD_GRAD, 2, "ipikd>p", grad_MaxPoolGradGradV2,
        "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: "
        "T; " PADDING FORMAT "; T: " NUMBERS,
        "The gradient of MaxPoolGradV2.")
POOL_OP(MaxPoolWithArgmax, ARGMAX, 2, "i>pp", grad_MaxPoolWithArgmax,
        "input: T -> output: T, argmax: Targmax; " SIZES
        "Targmax: {int32, int64} = int64; " PADDING INDEX "; T: " NUMBERS,
        "MaxPool, and the number of each element that was the largest.")
POOL_OP(AvgPool, AVERAGE, 2, "i>p", grad_AvgPool,
        "value: T -> output: T; " SIZES PADDING FORMAT "; T: " FLOATS,
        "The average of each window of the images `value`; padding is left out.")
POOL_OP(AvgPoolGrad, AVERAGE_GRAD, 2, "sp>i", grad_AvgPoolGrad,
        "orig_input_shape: int32, grad: T -> output: T; " SIZES PADDING FORMAT "; T: " FLOATS,
        "The gradient of AvgPool for images of the shape `orig_input_shape`.")
POOL_OP(MaxPool3D, MAX_3D, 3, "i>p", grad_MaxPool3D,
        "input: T -> output: T; " SIZES_3D PADDING FORMAT_3D "; T: " FLOATS_3D,
        "The largest element of each window of the volumes `input`.")
POOL_OP(MaxPool3DGrad, MAX_3D_GRAD, 3, "ipp>i", grad_MaxPool3DGrad,
        "orig_input: TInput, orig_output: TInput, grad: T -> output: T; " SIZES_3D PADDING FORMAT_3D
        "; T: " FLOATS_3D " = float; TInput: " FLOATS_3D " = float",
        "The gradient of MaxPool3D: `grad` goes to every largest element.")
POOL_OP(MaxPool3DGradGrad, MAX_GRAD_GRAD, 3, "ipi>p", grad_MaxPool3DGradGrad,
        "orig_input: T, orig_output: T, grad: T -> output: T; " SIZES_3D PADDING FORMAT_3D
        "; T: " NUMBERS,
        "The gradient of MaxPool3DGrad: `grad` where the first of the largest elements are.")
POOL_OP(AvgPool3D, AVERAGE, 3, "i>p", grad_AvgPool3D,
        "input: T -> output: T; " SIZES_3D PADDING FORMAT_3D "; T: " FLOATS,
        "The average of each window of the volumes `input`; padding is left out.")
POOL_OP(AvgPool3DGrad, AVERAGE_GRAD, 3, "sp>i", grad_AvgPool3DGrad,
        "orig_input_shape: int32, grad: T -> output: T; " SIZES_3D PADDING FORMAT_3D "; T: " FLOATS,
        "The gradient of AvgPool3D for volumes of the shape `orig_input_shape`.")

// ---- MaxPoolGradWithArgmax: the windows were done before, what is left is adding at indices

static rheos_status *run_with_argmax(const void *state, const void *const *inputs,
                                     void *const *outputs, void *scratch, int64_t first_unit,
                                     int64_t last_unit) {
  (void)scratch;
  (void)first_unit;
  (void)last_unit;
  const rheos__argmax_grad *s = state;
  char *out = outputs[0];
  memset(out, 0, (size_t)s->elements * s->element_bytes);
  for (int64_t i = 0; i < s->pooled; i++) {
    const int64_t index = rheos__int_in(s->index_dtype, inputs[2], i);
    if (index < 0 || index >= s->image) {
      return RHEOS_INVALID("Invalid argmax: index %" PRId64 " is not in [0, %" PRId64 ")", index,
                           s->image);
    }
    const int64_t to = i / s->pooled_image * s->image + index;
    s->add(out + (size_t)to * s->element_bytes,
           (const char *)inputs[1] + (size_t)i * s->element_bytes, 1);
  }
  return NULL;
}

static const rheos__pool_op op_with_argmax = {RHEOS__POOL_ARGMAX, 2, "ipp>i"};

static rheos_status *prepare_with_argmax(rheos__prepare *p) {
  const rheos__operands *operands = rheos__keep_operands(p);
  rheos__argmax_grad *s = RHEOS_NEW_STATE(p, rheos__argmax_grad);
  if (operands == NULL || s == NULL) return rheos__out_of_memory();
  rheos__pool pool;
  RHEOS_TRY(describe(operands, &op_with_argmax, NULL, NULL, &pool));
  const rheos_dtype dtype = p->output_dtypes[0];
  s->index_dtype = p->input_dtypes[2];
  s->add = rheos__add_of(dtype);
  if (s->add == NULL) return rheos__no_kernel(p, dtype);
  s->element_bytes = rheos_dtype_size(dtype);
  s->elements = rheos_shape_num_elements(&p->output_shapes[0]);
  s->pooled = rheos_shape_num_elements(&p->input_shapes[1]);
  const int64_t parts = pool.batch_in_index || pool.batch == 0 ? 1 : pool.batch;
  s->image = s->elements / parts;
  s->pooled_image = s->pooled > 0 ? s->pooled / parts : 1;
  p->run = run_with_argmax;
  return NULL;
}

static rheos_status *with_argmax_shape(rheos__infer *c) { return pool_shape(c, &op_with_argmax); }

const rheos__op_def rheos__op_MaxPoolGradWithArgmax = {
    .name = "MaxPoolGradWithArgmax",
    .signature = "input: T, grad: T, argmax: Targmax -> output: T; " SIZES PADDING INDEX
                 "; Targmax: {int32, int64}; T: " NUMBERS,
    .doc = "The gradient of MaxPoolWithArgmax: `grad` goes to the elements `argmax`.",
    .shape = with_argmax_shape,
    .prepare = prepare_with_argmax,
};
