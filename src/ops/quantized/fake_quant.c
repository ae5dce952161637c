// Quantization that is only simulated: numbers are rounded to a grid and stay floating-point.
// The grid is shifted so that zero is on it.
#include "ops/quantized/fake_quant.h"

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/quantized/quantize_formulas.h"

// ---- FakeQuantWithMinMax*

typedef rheos__fake_quant fake_state;

static rheos__fake_grid grid_at(const fake_state *s, const void *const *inputs, int64_t channel) {
  const float *const *range = (const float *const *)(inputs + (s->is_gradient ? 2 : 1));
  const float lowest = s->has_range ? s->lowest : range[0][channel];
  const float highest = s->has_range ? s->highest : range[1][channel];
  return rheos__fake_grid_of(lowest, highest, (int)s->num_bits, s->narrow_range);
}

static rheos_status *run_fake(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first, int64_t last) {
  (void)scratch, (void)first, (void)last;
  const fake_state *s = state;
  const float *x = inputs[0];
  float *y = outputs[0];
  for (int64_t channel = 0; channel < s->channels; ++channel) {
    const rheos__fake_grid g = grid_at(s, inputs, channel);
    for (int64_t i = channel; i < s->count; i += s->channels) y[i] = rheos__on_fake_grid(g, x[i]);
  }
  return NULL;
}

// Numbers inside the range pass their gradient on, those beyond give it to the end of the range.
// They are products with 0 and 1, so that a gradient that is not finite shows everywhere.
static rheos_status *run_fake_gradient(const void *state, const void *const *inputs,
                                       void *const *outputs, void *scratch, int64_t first,
                                       int64_t last) {
  (void)scratch, (void)first, (void)last;
  const fake_state *s = state;
  const float *grad = inputs[0], *x = inputs[1];
  float *y = outputs[0];
  for (int64_t channel = 0; channel < s->channels; ++channel) {
    const rheos__fake_grid g = grid_at(s, inputs, channel);
    double below = 0, above = 0;
    for (int64_t i = channel; i < s->count; i += s->channels) {
      const bool is_inside = rheos__is_on_fake_grid(g, x[i]);
      y[i] = grad[i] * (float)is_inside;
      below += grad[i] * (float)(!is_inside && x[i] < g.lowest);
      above += grad[i] * (float)(!is_inside && x[i] > g.highest);
    }
    if (s->has_range) continue;
    ((float *)outputs[1])[channel] = (float)below;
    ((float *)outputs[2])[channel] = (float)above;
  }
  return NULL;
}

static rheos_status *check_bits(const rheos__attrs *attrs) {
  const int64_t bits = rheos__attr_int(attrs, "num_bits");
  if (bits >= 2 && bits <= 16) return NULL;
  return RHEOS_INVALID("num_bits must be between 2 and 16, inclusive");
}

typedef struct fake_family {
  const char *gradient;  // op; NULL: it is one itself
} fake_family;

static const fake_family fake_args = {"FakeQuantWithMinMaxArgsGradient"};
static const fake_family fake_vars = {"FakeQuantWithMinMaxVarsGradient"};
static const fake_family fake_channels = {"FakeQuantWithMinMaxVarsPerChannelGradient"};
static const fake_family fake_gradient = {NULL};

static rheos_status *prepare_fake(rheos__prepare *p) {
  fake_state *s = RHEOS_NEW_STATE(p, fake_state);
  if (s == NULL) return rheos__out_of_memory();
  RHEOS_TRY(check_bits(p->attrs));
  s->has_range = rheos__attrs_find(p->attrs, "min") != NULL;
  const fake_family *family = p->op->family;
  s->is_gradient = family->gradient == NULL;
  s->num_bits = rheos__attr_int(p->attrs, "num_bits");
  s->narrow_range = rheos__attr_bool(p->attrs, "narrow_range");
  s->count = rheos_shape_num_elements(&p->output_shapes[0]);
  s->channels = 1;
  if (s->has_range) {
    s->lowest = rheos__attr_float(p->attrs, "min");
    s->highest = rheos__attr_float(p->attrs, "max");
    if (!(s->lowest < s->highest)) {
      return RHEOS_INVALID("min has to be smaller than max, was: %g >= %g", (double)s->lowest,
                           (double)s->highest);
    }
  } else {
    s->channels = rheos_shape_num_elements(&p->input_shapes[s->is_gradient ? 2 : 1]);
  }
  p->flops = rheos__flops(6.0 * s->count);
  p->run = s->is_gradient ? run_fake_gradient : run_fake;
  return NULL;
}

// ---- Shapes

// Two inputs of one shape if the op is a gradient.
static rheos_status *shape_values(rheos__infer *c, bool is_gradient) {
  RHEOS_TRY(check_bits(c->attrs));
  if (is_gradient) return rheos__shape_merge_2(c);
  c->output_shapes[0] = c->input_shapes[0];
  return NULL;
}

static rheos_status *shape_fake_args(rheos__infer *c) {
  return shape_values(c, c->num_inputs == 2);
}

static rheos_status *shape_fake_vars(rheos__infer *c) {
  const bool is_gradient = c->num_inputs == 4;
  rheos_shape scalar;
  for (int32_t i = c->num_inputs - 2; i < c->num_inputs; ++i) {
    RHEOS_TRY(rheos__infer_rank(c, i, 0, &scalar));
  }
  for (int32_t i = 1; i < c->num_outputs; ++i) c->output_shapes[i] = RHEOS_SCALAR;
  return shape_values(c, is_gradient);
}

static rheos_status *shape_fake_channels(rheos__infer *c) {
  const bool is_gradient = c->num_inputs == 4;
  RHEOS_TRY(shape_values(c, is_gradient));
  rheos_shape *values = &c->output_shapes[0];
  rheos_shape channels = RHEOS_SHAPE(-1);
  if (values->rank == 0) return RHEOS_INVALID("inputs must have a last dimension, got a scalar");
  if (values->rank > 0) channels.dims[0] = values->dims[values->rank - 1];
  for (int32_t i = c->num_inputs - 2; i < c->num_inputs; ++i) {
    rheos_shape range;
    const rheos_shape known = channels;
    RHEOS_TRY(rheos__infer_rank(c, i, 1, &range));
    RHEOS_TRY(rheos__shape_merge(&known, &range, &channels));
  }
  for (int32_t i = 1; i < c->num_outputs; ++i) c->output_shapes[i] = channels;
  if (values->rank > 0) values->dims[values->rank - 1] = channels.dims[0];
  return NULL;
}

// ---- Gradients

static const char *const attr_names[] = {"min", "max", "num_bits", "narrow_range"};

// The op's gradient of what arrives and the inputs, with the same attributes.
static void gradient_fake(rheos__grad *g) {
  const fake_family *family = g->op->family;
  rheos_output inputs[4] = {rheos__grad_dense(g, 0)};
  rheos_attr attrs[4];
  size_t num_attrs = 0;
  for (size_t i = 0; i < sizeof attr_names / sizeof *attr_names; ++i) {
    const rheos_attr_value *value = rheos__attrs_find(g->attrs, attr_names[i]);
    if (value != NULL) attrs[num_attrs++] = (rheos_attr){attr_names[i], *value};
  }
  for (int32_t i = 0; i < g->num_inputs; ++i) inputs[i + 1] = g->inputs[i];
  const rheos_operation grad = rheos__op_n(g->scope, family->gradient, NULL, inputs,
                                           (size_t)g->num_inputs + 1, attrs, num_attrs);
  if (grad.graph == NULL) return;
  for (int32_t i = 0; i < g->num_inputs; ++i) {
    rheos__grad_set(g, i, rheos_operation_output(grad, i));
  }
}

#define RANGE_ATTRS "min: float = -6; max: float = 6; "
#define GRID_ATTRS "num_bits: int = 8; narrow_range: bool = false"
#define GRAD_OUTPUTS \
  "backprops_wrt_input: float, backprop_wrt_min: float, backprop_wrt_max: float; "

const rheos__op_def rheos__op_FakeQuantWithMinMaxArgs = {
    .name = "FakeQuantWithMinMaxArgs",
    .signature = "inputs: float -> outputs: float; " RANGE_ATTRS GRID_ATTRS,
    .doc = "`inputs` rounded to 2^`num_bits` numbers from about `min` to `max`, 0 among them.",
    .shape = shape_fake_args,
    .gradient = gradient_fake,
    .prepare = prepare_fake,
    .family = &fake_args,
};

const rheos__op_def rheos__op_FakeQuantWithMinMaxArgsGradient = {
    .name = "FakeQuantWithMinMaxArgsGradient",
    .signature = "gradients: float, inputs: float -> backprops: float; " RANGE_ATTRS GRID_ATTRS,
    .doc = "The gradient of FakeQuantWithMinMaxArgs.",
    .shape = shape_fake_args,
    .gradient = rheos__no_gradient,
    .prepare = prepare_fake,
    .family = &fake_gradient,
};

const rheos__op_def rheos__op_FakeQuantWithMinMaxVars = {
    .name = "FakeQuantWithMinMaxVars",
    .signature = "inputs: float, min: float, max: float -> outputs: float; " GRID_ATTRS,
    .doc = "FakeQuantWithMinMaxArgs from `min` to `max`, which are trained.",
    .shape = shape_fake_vars,
    .gradient = gradient_fake,
    .prepare = prepare_fake,
    .family = &fake_vars,
};

const rheos__op_def rheos__op_FakeQuantWithMinMaxVarsGradient = {
    .name = "FakeQuantWithMinMaxVarsGradient",
    .signature =
        "gradients: float, inputs: float, min: float, max: float -> " GRAD_OUTPUTS GRID_ATTRS,
    .doc = "The gradients of FakeQuantWithMinMaxVars.",
    .shape = shape_fake_vars,
    .gradient = rheos__no_gradient,
    .prepare = prepare_fake,
    .family = &fake_gradient,
};

const rheos__op_def rheos__op_FakeQuantWithMinMaxVarsPerChannel = {
    .name = "FakeQuantWithMinMaxVarsPerChannel",
    .signature = "inputs: float, min: float, max: float -> outputs: float; " GRID_ATTRS,
    .doc = "FakeQuantWithMinMaxVars with a range for each place in the last dimension.",
    .shape = shape_fake_channels,
    .gradient = gradient_fake,
    .prepare = prepare_fake,
    .family = &fake_channels,
};

const rheos__op_def rheos__op_FakeQuantWithMinMaxVarsPerChannelGradient = {
    .name = "FakeQuantWithMinMaxVarsPerChannelGradient",
    .signature =
        "gradients: float, inputs: float, min: float, max: float -> " GRAD_OUTPUTS GRID_ATTRS,
    .doc = "The gradients of FakeQuantWithMinMaxVarsPerChannel.",
    .shape = shape_fake_channels,
    .gradient = rheos__no_gradient,
    .prepare = prepare_fake,
    .family = &fake_gradient,
};
