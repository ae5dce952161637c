// BiasAdd: a vector added along the channels: the last dimension or, for NCHW, the second.
#include <string.h>

#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

static bool is_second(const rheos__attrs *attrs) {
  const rheos_attr_value *format = rheos__attrs_find(attrs, "data_format");
  return format != NULL && format->s.size_bytes == 4 && memcmp(format->s.data, "NCHW", 4) == 0;
}

static int32_t channel_dim(const rheos__attrs *attrs, int32_t rank) {
  return is_second(attrs) ? 1 : rank - 1;
}

static rheos_status *check_rank(const rheos__infer *c, int32_t rank) {
  if (!is_second(c->attrs) || rank < 0 || rank > 2) return NULL;
  return RHEOS_INVALID("Shape must be at least rank 3 but is rank %d", rank);
}

static rheos_status *bias_add_shape(rheos__infer *c) {
  const rheos_shape *value = &c->input_shapes[0];
  rheos_shape bias;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &bias));
  c->output_shapes[0] = *value;
  if (value->rank < 0) return NULL;
  rheos__shape_text text;
  RHEOS_TRY(check_rank(c, value->rank));
  if (value->rank < 2) {
    return RHEOS_INVALID("Input tensor must be at least 2D: %s",
                         rheos__shape_text_of(value, &text));
  }
  const int32_t channel = channel_dim(c->attrs, value->rank);
  const int64_t channels = value->dims[channel];
  if (channels >= 0 && bias.dims[0] >= 0 && channels != bias.dims[0]) {
    rheos__shape_text other;
    return RHEOS_INVALID(
        "Must provide as many biases as the channel dimension of the input tensor: %s vs. %lld in "
        "%s",
        rheos__shape_text_of(&bias, &other), (long long)channels,
        rheos__shape_text_of(value, &text));
  }
  if (channels < 0) c->output_shapes[0].dims[channel] = bias.dims[0];
  return NULL;
}

static rheos_status *prepare_bias_add(rheos__prepare *p) {
  const rheos_shape *given = p->input_shapes;
  rheos_shape shapes[] = {given[0], given[1]};
  const int32_t channel = channel_dim(p->attrs, given[0].rank);
  shapes[1].rank = given[0].rank - channel;
  for (int32_t d = 1; d < shapes[1].rank; d++) shapes[1].dims[d] = 1;
  p->input_shapes = shapes;
  rheos_status *status =
      rheos__prepare_elementwise(p, rheos__binary_loop(RHEOS__ADD, p->input_dtypes[0]), 1, 0, "");
  p->input_shapes = given;
  return status;
}

static rheos_output bias_add_grad(rheos__grad *g, rheos_output dy) {
  const char *format = rheos__attr_string(g->attrs, "data_format");
  const rheos_attr attr = rheos_attr_string("data_format", format, strlen(format));
  return rheos_operation_output(rheos__op_n(g->scope, "BiasAddGrad", NULL, &dy, 1, &attr, 1), 0);
}

static void grad_bias_add(rheos__grad *g) {
  const rheos_output dy = rheos__grad_dense(g, 0);
  rheos__grad_set(g, 0, dy);
  rheos__grad_set(g, 1, bias_add_grad(g, dy));
}

const rheos__op_def rheos__op_BiasAdd = {
    .name = "BiasAdd",
    .signature =
        "value: T, bias: T -> output: T; T: number; data_format: {\"NHWC\", \"NCHW\"} = \"NHWC\"",
    .doc = "`value` plus `bias`, which has one element for each channel.",
    .shape = bias_add_shape,
    .gradient = grad_bias_add,
    .prepare = prepare_bias_add,
};

static void grad_bias_add_v1(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output dy = rheos__grad_dense(g, 0);
  rheos__grad_set(g, 0, dy);
  const rheos_output rank = rheos__op_1(s, "Rank", dy);
  const rheos_output less = rheos__op_with_number(s, "Sub", "sub", rank, 1);
  rheos__grad_set(g, 1, rheos__sum_over(s, dy, rheos__py_range(s, less), false));
}

const rheos__op_def rheos__op_BiasAddV1 = {
    .name = "BiasAddV1",
    .signature = "value: T, bias: T -> output: T; T: number",
    .doc = "`value` plus `bias`, which has one element for each of the last dimension.",
    .shape = bias_add_shape,
    .gradient = grad_bias_add_v1,
    .prepare = prepare_bias_add,
};

// ---- BiasAddGrad

static rheos_status *bias_add_grad_shape(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  RHEOS_TRY(check_rank(c, in->rank));
  if (in->rank >= 0 && in->rank < 2) {
    rheos__shape_text text;
    return RHEOS_INVALID("Input tensor must be at least 2D: %s", rheos__shape_text_of(in, &text));
  }
  const int64_t channels = in->rank < 0 ? -1 : in->dims[channel_dim(c->attrs, in->rank)];
  c->output_shapes[0] = RHEOS_SHAPE(channels);
  return NULL;
}

static rheos_status *prepare_BiasAddGrad(rheos__prepare *p) {
  bool reduced[RHEOS_MAX_RANK];
  const int32_t rank = p->input_shapes[0].rank;
  for (int32_t d = 0; d < rank; d++) reduced[d] = d != channel_dim(p->attrs, rank);
  return rheos__prepare_sum(p, reduced);
}

// What arrives, repeated along all dimensions but the channels.
static void grad_bias_add_grad(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_output dy = rheos__grad_dense(g, 0);
  const rheos_shape in = rheos_output_shape(g->inputs[0]);
  const rheos_output dims = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
  const int32_t channel = channel_dim(g->attrs, in.rank);
  if (in.rank < 0 && strcmp(rheos__attr_string(g->attrs, "data_format"), "NCHW") == 0) {
    rheos_scope_fail_take(
        s, rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "the gradient of BiasAddGrad for NCHW needs a known rank"));
    return;
  }
  if (in.rank >= 0 && channel != in.rank - 1) {
    rheos_shape spread = {.rank = in.rank - channel, .dims = {-1}};
    for (int32_t d = 1; d < spread.rank; d++) spread.dims[d] = 1;
    dy = rheos__reshape_to(s, dy, &spread);
  }
  rheos__grad_set(g, 0, rheos__op_2(s, "BroadcastTo", dy, dims));
}

const rheos__op_def rheos__op_BiasAddGrad = {
    .name = "BiasAddGrad",
    .signature =
        "out_backprop: T -> output: T; T: number; data_format: {\"NHWC\", \"NCHW\"} = \"NHWC\"",
    .doc = "The gradient of a bias: `out_backprop` summed up to one element for each channel.",
    .shape = bias_add_grad_shape,
    .gradient = grad_bias_add_grad,
    .prepare = prepare_BiasAddGrad,
};
