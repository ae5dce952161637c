// Quantized numbers moved to other ranges, cut off, reshaped and joined.
#include "ops/quantized/quantized.h"

#include <math.h>
#include <string.h>

#include "ops/kit/array_util.h"

// ---- Numbers and ranges

void rheos__quantized_limits(rheos_dtype dtype, int64_t *out_lowest, int64_t *out_highest) {
  const int bits = 8 * (int)rheos_dtype_size(dtype);
  const bool is_unsigned = dtype == RHEOS_QUINT8 || dtype == RHEOS_QUINT16;
  *out_lowest = is_unsigned ? 0 : -(INT64_C(1) << (bits - 1));
  *out_highest = *out_lowest + (INT64_C(1) << bits) - 1;
}

static rheos_dtype storage_of(rheos_dtype dtype) {
  switch (dtype) {
    case RHEOS_QINT8: return RHEOS_INT8;
    case RHEOS_QUINT8: return RHEOS_UINT8;
    case RHEOS_QINT16: return RHEOS_INT16;
    case RHEOS_QUINT16: return RHEOS_UINT16;
    default: return RHEOS_INT32;
  }
}

int64_t rheos__quantized_at(rheos_dtype dtype, const void *data, int64_t index) {
  return rheos__int_in(storage_of(dtype), data, index);
}

void rheos__set_quantized(rheos_dtype dtype, void *data, int64_t index, int64_t value) {
  int64_t lowest, highest;
  rheos__quantized_limits(dtype, &lowest, &highest);
  rheos__set_int(storage_of(dtype), data, index,
                 value < lowest    ? lowest
                 : value > highest ? highest
                                   : value);
}

// Floats between two neighbouring numbers.
static double step_of(rheos_dtype dtype, rheos__range range) {
  int64_t lowest, highest;
  rheos__quantized_limits(dtype, &lowest, &highest);
  return ((double)range.highest - range.lowest) / (double)(highest - lowest);
}

float rheos__from_quantized(rheos_dtype dtype, int64_t value, rheos__range range) {
  int64_t lowest, highest;
  if (range.lowest == range.highest) return range.lowest;
  rheos__quantized_limits(dtype, &lowest, &highest);
  const double step = step_of(dtype, range);
  // The lowest number is moved so that 0 is a number itself, in the precision of floats.
  const float short_step = (float)step;
  const float start = roundf(range.lowest / short_step) * short_step;
  return (float)((double)start + (double)(value - lowest) * step);
}

static int64_t whole(double value) {
  if (isnan(value)) return 0;
  return value > 0x1p61 ? INT64_C(1) << 61 : value < -0x1p61 ? -(INT64_C(1) << 61) : (int64_t)value;
}

int64_t rheos__to_quantized(rheos_dtype dtype, double value, rheos__range range) {
  int64_t lowest, highest;
  rheos__quantized_limits(dtype, &lowest, &highest);
  if (range.lowest == range.highest) return lowest;
  const double scale = 1 / step_of(dtype, range);
  return whole(round(value * scale) - round(range.lowest * scale)) + lowest;
}

rheos_status *rheos__range_of(rheos_tensor *const *inputs, int32_t first, bool ordered,
                              const char *what, rheos__range *out_range) {
  for (int32_t i = first; i < first + 2; i++) {
    if (inputs[i]->num_elements == 1) continue;
    rheos__shape_text text;
    return RHEOS_INVALID("the ends of the range of %s must be scalars, got shape %s", what,
                         rheos__shape_text_of(&inputs[i]->shape, &text));
  }
  *out_range =
      (rheos__range){*(const float *)inputs[first]->data, *(const float *)inputs[first + 1]->data};
  if (!ordered) return NULL;
  if (isfinite(out_range->lowest) && isfinite(out_range->highest) &&
      out_range->lowest < out_range->highest) {
    return NULL;
  }
  return RHEOS_INVALID("max_%s must be larger than min_%s: %g and %g", what, what,
                       (double)out_range->highest, (double)out_range->lowest);
}

rheos_status *rheos__put_range(rheos__range range, rheos_tensor **outputs) {
  RHEOS_TRY(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &range.lowest, &outputs[1]));
  return rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &range.highest, &outputs[2]);
}

rheos_status *rheos__infer_scalars(const rheos__infer *c, int32_t first, int32_t last) {
  rheos_shape ignored;
  for (int32_t i = first; i < last; i++) RHEOS_TRY(rheos__infer_rank(c, i, 0, &ignored));
  return NULL;
}

void rheos__infer_range(rheos__infer *c) {
  c->output_shapes[1] = c->output_shapes[2] = RHEOS_SCALAR;
}

static rheos_status *shape_of_first(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_scalars(c, 1, c->num_inputs));
  c->output_shapes[0] = c->input_shapes[0];
  rheos__infer_range(c);
  return NULL;
}

// ---- Requantize, RequantizationRange, QuantizeDownAndShrinkRange

// 32 bits to 8 without a sign, in whole numbers with 16 binary places, as TensorFlow does it: what
// is in the middle of two numbers goes where these places lead.
static void shrink(const int32_t *from, int64_t count, rheos__range in, rheos__range out,
                   uint8_t *to) {
  const float in_span = in.highest - in.lowest, out_span = out.highest - out.lowest;
  const double one = 65536;
  const bool flat = out_span == 0;
  const float per_unit = flat ? 0 : 255.0f / out_span;
  const int64_t factor = flat ? 0 : whole(255.0 * one * in_span / out_span);
  const int64_t middle = whole((in.lowest + in.highest) / 2.0f * per_unit * one);
  const int64_t start = flat ? 0 : whole(one * (out.lowest * 255.0) / out_span);
  for (int64_t i = 0; i < count; i++) {
    int64_t product;
    if (__builtin_mul_overflow((int64_t)from[i], factor, &product)) {
      to[i] = (from[i] < 0) == (factor < 0) ? 255 : 0;  // far beyond the range
      continue;
    }
    const int64_t value = ((product >> 32) + (middle - start) + 32768) >> 16;
    to[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
  }
}

static rheos_status *requantize(const rheos_tensor *input, rheos__range in, rheos__range out,
                                rheos_tensor *output) {
  if (input->dtype == RHEOS_QINT32 && output->dtype == RHEOS_QUINT8) {
    shrink(input->data, input->num_elements, in, out, output->data);
    return NULL;
  }
  for (int64_t i = 0; i < input->num_elements; i++) {
    const float value =
        rheos__from_quantized(input->dtype, rheos__quantized_at(input->dtype, input->data, i), in);
    rheos__set_quantized(output->dtype, output->data, i,
                         rheos__to_quantized(output->dtype, value, out));
  }
  return NULL;
}

static rheos_status *compute_requantize(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                        rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  rheos__range in, out;
  RHEOS_TRY(rheos__range_of(inputs, 1, false, "input", &in));
  RHEOS_TRY(rheos__range_of(inputs, 3, false, "output", &out));
  if (!(out.lowest <= 0)) {
    return RHEOS_INVALID("requested_output_min must be <= 0, but got %g", (double)out.lowest);
  }
  if (!(out.highest >= out.lowest)) {
    return RHEOS_INVALID("requested_output_max must be >= requested_output_min, but got %g and %g",
                         (double)out.highest, (double)out.lowest);
  }
  RHEOS_TRY(rheos__tensor_new(o->output_dtypes[0], &inputs[0]->shape, &outputs[0]));
  RHEOS_TRY(requantize(inputs[0], in, out, outputs[0]));
  return rheos__put_range(out, outputs);
}
static rheos_status *prepare_requantize(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_requantize);
}

const rheos__op_def rheos__op_Requantize = {
    .name = "Requantize",
    .signature =
        "input: Tinput, input_min: float, input_max: float, requested_output_min: float, "
        "requested_output_max: float -> output: out_type, output_min: float, "
        "output_max: float; Tinput: " RHEOS__QUANTIZED "; out_type: " RHEOS__QUANTIZED,
    .doc = "The quantized numbers `input` in another range and dtype.",
    .shape = shape_of_first,
    .prepare = prepare_requantize,
};

// The range of the numbers that there are, with 0 in it or below it.
static rheos__range used_range(const rheos_tensor *input, rheos__range in) {
  int64_t lowest, highest;
  rheos__quantized_limits(input->dtype, &lowest, &highest);
  int64_t least = highest, most = lowest;
  for (int64_t i = 0; i < input->num_elements; i++) {
    const int64_t value = rheos__quantized_at(input->dtype, input->data, i);
    if (value < least) least = value;
    if (value > most) most = value;
  }
  const float low = rheos__from_quantized(input->dtype, least, in);
  return (rheos__range){low < 0 ? low : 0, rheos__from_quantized(input->dtype, most, in)};
}

static rheos_status *shape_of_range(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_scalars(c, 1, 3));
  c->output_shapes[0] = c->output_shapes[1] = RHEOS_SCALAR;
  return NULL;
}

static rheos_status *compute_range(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)state, (void)step;
  rheos__range in;
  RHEOS_TRY(rheos__range_of(inputs, 1, false, "input", &in));
  const rheos__range used = used_range(inputs[0], in);
  RHEOS_TRY(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &used.lowest, &outputs[0]));
  return rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &used.highest, &outputs[1]);
}
static rheos_status *prepare_range(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_range);
}

const rheos__op_def rheos__op_RequantizationRange = {
    .name = "RequantizationRange",
    .signature =
        "input: Tinput, input_min: float, input_max: float -> output_min: float, "
        "output_max: float; Tinput: " RHEOS__QUANTIZED,
    .doc = "The range of the floats that the quantized `input` stands for.",
    .shape = shape_of_range,
    .prepare = prepare_range,
};

static rheos_status *compute_shrink(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  rheos__range in;
  RHEOS_TRY(rheos__range_of(inputs, 1, false, "input", &in));
  const rheos__range used = used_range(inputs[0], in);
  RHEOS_TRY(rheos__tensor_new(o->output_dtypes[0], &inputs[0]->shape, &outputs[0]));
  RHEOS_TRY(requantize(inputs[0], in, used, outputs[0]));
  return rheos__put_range(used, outputs);
}
static rheos_status *prepare_shrink(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_shrink);
}

const rheos__op_def rheos__op_QuantizeDownAndShrinkRange = {
    .name = "QuantizeDownAndShrinkRange",
    .signature =
        "input: Tinput, input_min: float, input_max: float -> output: out_type, "
        "output_min: float, output_max: float; Tinput: " RHEOS__QUANTIZED
        "; out_type: " RHEOS__QUANTIZED,
    .doc = "The quantized numbers `input` in the range that they use, in a smaller dtype.",
    .shape = shape_of_first,
    .prepare = prepare_shrink,
};

// ---- QuantizedRelu, QuantizedRelu6

static rheos_status *relu(const rheos__operands *o, rheos_tensor *const *inputs, double limit,
                          rheos_tensor **outputs) {
  const rheos_dtype dtype = o->input_dtypes[0];
  rheos__range range;
  RHEOS_TRY(rheos__range_of(inputs, 1, false, "features", &range));
  const int64_t lowest = rheos__to_quantized(dtype, 0, range);
  const int64_t highest = isinf(limit) ? INT64_MAX : rheos__to_quantized(dtype, limit, range);
  RHEOS_TRY(rheos__tensor_new(dtype, &inputs[0]->shape, &outputs[0]));
  for (int64_t i = 0; i < inputs[0]->num_elements; i++) {
    int64_t value = rheos__quantized_at(dtype, inputs[0]->data, i);
    if (value < lowest) value = lowest;
    rheos__set_quantized(dtype, outputs[0]->data, i, value > highest ? highest : value);
  }
  return rheos__put_range(range, outputs);
}

static rheos_status *compute_relu(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)step;
  return relu(state, inputs, INFINITY, outputs);
}
static rheos_status *compute_relu6(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step;
  return relu(state, inputs, 6, outputs);
}
static rheos_status *prepare_any_relu(rheos__prepare *p, rheos__compute_fn compute) {
  if (p->input_dtypes[0] != p->output_dtypes[0]) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "%s from %s to %s", p->op->name,
                            rheos_dtype_name(p->input_dtypes[0]),
                            rheos_dtype_name(p->output_dtypes[0]));
  }
  return rheos__answer_compute_operands(p, compute);
}
static rheos_status *prepare_relu(rheos__prepare *p) { return prepare_any_relu(p, compute_relu); }
static rheos_status *prepare_relu6(rheos__prepare *p) { return prepare_any_relu(p, compute_relu6); }
#define RELU_RANGE "min_features: float, max_features: float -> "
#define RELU_OUTPUTS                                                        \
  "activations: out_type, min_activations: float, max_activations: float; " \
  "Tinput: " RHEOS__QUANTIZED "; out_type: " RHEOS__QUANTIZED " = quint8"
const rheos__op_def rheos__op_QuantizedRelu = {
    .name = "QuantizedRelu",
    .signature = "features: Tinput, " RELU_RANGE RELU_OUTPUTS,
    .doc = "The quantized `features`, those below 0 made 0.",
    .shape = shape_of_first,
    .prepare = prepare_relu,
};
const rheos__op_def rheos__op_QuantizedRelu6 = {
    .name = "QuantizedRelu6",
    .signature = "features: Tinput, " RELU_RANGE RELU_OUTPUTS,
    .doc = "The quantized `features`, those below 0 made 0 and those above 6 made 6.",
    .shape = shape_of_first,
    .prepare = prepare_relu6,
};
// ---- QuantizedReshape

static rheos_status *compute_reshape(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)state, (void)step;
  const rheos_tensor *input = inputs[0], *wanted = inputs[1];
  rheos__range range;
  if (wanted->shape.rank != 1 || wanted->num_elements > RHEOS_MAX_RANK) {
    return RHEOS_INVALID("the shape must be a vector of at most %d", RHEOS_MAX_RANK);
  }
  rheos_shape shape = {.rank = (int32_t)wanted->num_elements};
  int32_t open = -1;
  int64_t others = 1;
  for (int32_t i = 0; i < shape.rank; i++) {
    shape.dims[i] = rheos__tensor_int_at(wanted, i);
    if (shape.dims[i] < -1 || (shape.dims[i] == -1 && open >= 0)) {
      return RHEOS_INVALID("dimension %d of the shape is %lld", i, (long long)shape.dims[i]);
    }
    if (shape.dims[i] == -1) {
      open = i;
    } else if (__builtin_mul_overflow(others, shape.dims[i], &others)) {
      return RHEOS_INVALID("the shape has too many elements");
    }
  }
  if (open >= 0) {
    if (others == 0 || input->num_elements % others != 0) {
      return RHEOS_INVALID("%lld elements do not divide by %lld", (long long)input->num_elements,
                           (long long)others);
    }
    shape.dims[open] = input->num_elements / others;
  } else if (others != input->num_elements) {
    return RHEOS_INVALID("a tensor of %lld elements reshaped to one of %lld",
                         (long long)input->num_elements, (long long)others);
  }
  RHEOS_TRY(rheos__range_of(inputs, 2, false, "input", &range));
  RHEOS_TRY(rheos__tensor_seen_as(inputs[0], input->dtype, shape, &outputs[0]));
  return rheos__put_range(range, outputs);
}
static rheos_status *prepare_reshape(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_reshape);
}

static rheos_status *shape_reshape(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_scalars(c, 2, 4));
  RHEOS_TRY(rheos__infer_shape_vector(c, 1, &c->output_shapes[0]));
  rheos_shape *shape = &c->output_shapes[0];
  const int64_t count = rheos_shape_is_known(&c->input_shapes[0])
                            ? rheos_shape_num_elements(&c->input_shapes[0])
                            : -1;
  int64_t others = 1;
  int32_t open = -1, num_open = 0;
  for (int32_t i = 0; i < shape->rank; i++) {
    if (shape->dims[i] < 0) {
      open = i, num_open++;
    } else if (__builtin_mul_overflow(others, shape->dims[i], &others)) {
      return RHEOS_INVALID("the shape has too many elements");
    }
  }
  if (shape->rank == 0 && count >= 0 && count != 1) {
    return RHEOS_INVALID("a tensor of %lld elements reshaped to a scalar", (long long)count);
  }
  if (num_open == 1 && count > 0 && others > 0 && count % others == 0) {
    shape->dims[open] = count / others;
  }
  rheos__infer_range(c);
  return NULL;
}

const rheos__op_def rheos__op_QuantizedReshape = {
    .name = "QuantizedReshape",
    .signature =
        "tensor: T, shape: Tshape, input_min: float, input_max: float -> output: T, "
        "output_min: float, output_max: float; T: type; Tshape: index = int32",
    .doc = "The quantized `tensor` under another shape.",
    .shape = shape_reshape,
    .prepare = prepare_reshape,
};

// ---- QuantizedConcat

static rheos_status *shape_concat(rheos__infer *c) {
  const int32_t count = (c->num_inputs - 1) / 3;
  rheos_shape merged = RHEOS_UNKNOWN_SHAPE;
  int64_t axis = 0;
  RHEOS_TRY(rheos__infer_scalars(c, 0, 1));
  RHEOS_TRY(rheos__infer_scalars(c, 1 + count, c->num_inputs));
  rheos__infer_range(c);
  const bool known = rheos__infer_int(c, 0, &axis);
  bool all = true;
  for (int32_t i = 0; i < count; i++) {
    const rheos_shape *in = &c->input_shapes[1 + i];
    if (in->rank == 0) return RHEOS_INVALID("Can't concatenate scalars");
    all = all && in->rank > 0;
    if (merged.rank < 0) merged.rank = in->rank;
    if (in->rank >= 0 && in->rank != merged.rank) {
      return RHEOS_INVALID("Ranks of all input tensors should match");
    }
  }
  if (!all) {
    if (merged.rank > 0) c->output_shapes[0] = rheos__shape_of_rank(merged.rank);
    return NULL;
  }
  for (int32_t i = 0; i < count; i++) {
    const rheos_shape *in = &c->input_shapes[1 + i];
    if (i == 0) merged = *in;
    if (i == 0 && known) {
      int32_t normal;
      RHEOS_TRY(rheos__normal_axis(axis, in->rank, &normal));
      axis = normal;
    }
    for (int32_t d = 0; d < in->rank && i > 0 && known; d++) {
      int64_t *dim = &merged.dims[d];
      if (d == axis) {
        *dim =
            *dim < 0 || in->dims[d] < 0 || *dim > INT64_MAX - in->dims[d] ? -1 : *dim + in->dims[d];
      } else if (*dim >= 0 && in->dims[d] >= 0 && *dim != in->dims[d]) {
        return RHEOS_INVALID("Dimensions of inputs should match: %lld and %lld", (long long)*dim,
                             (long long)in->dims[d]);
      } else if (*dim < 0) {
        *dim = in->dims[d];
      }
    }
  }
  c->output_shapes[0] = known ? merged : rheos__shape_of_rank(merged.rank);
  return NULL;
}

// The range of all parts, with 0 in it; of numbers with a sign, as far below 0 as above.
static rheos_status *joint_range(rheos_tensor *const *inputs, int32_t count, rheos__range *out) {
  *out = (rheos__range){0, 0};
  for (int32_t i = 0; i < count; i++) {
    const rheos_tensor *low = inputs[1 + count + i], *high = inputs[1 + 2 * count + i];
    if (low->num_elements != 1 || high->num_elements != 1) {
      return RHEOS_INVALID("the ends of the range of value %d must be scalars", i);
    }
    const float least = *(const float *)low->data, most = *(const float *)high->data;
    if (least < out->lowest) out->lowest = least;
    if (i == 0 || most > out->highest) out->highest = most;
  }
  const rheos_dtype dtype = inputs[1]->dtype;
  if (dtype == RHEOS_QUINT8 || dtype == RHEOS_QUINT16) return NULL;
  const float most = fmaxf(fabsf(out->lowest), fabsf(out->highest));
  *out = (rheos__range){-most, most};
  return NULL;
}

// From one range to another in the precision of floats, as TensorFlow does it here.
static int64_t to_range(rheos_dtype dtype, int64_t value, rheos__range from, rheos__range to) {
  int64_t lowest, highest;
  rheos__quantized_limits(dtype, &lowest, &highest);
  if (to.lowest == to.highest) return lowest;
  const float levels = (float)((double)highest - (double)lowest);
  const float step = (from.highest - from.lowest) / levels;
  const float start = step == 0 ? from.lowest : roundf(from.lowest / step) * step;
  const float number = ((float)value - (float)lowest) * step + start;
  const float scale = levels / (to.highest - to.lowest);
  const float places = roundf(number * scale) - roundf(to.lowest * scale) + (float)lowest;
  return whole(places);
}

static rheos_status *compute_concat(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  const int32_t count = (o->num_inputs - 1) / 3;
  const rheos_dtype dtype = o->output_dtypes[0];
  rheos_shape shape = inputs[1]->shape;
  rheos__range range;
  int32_t axis;
  RHEOS_TRY(rheos__normal_axis(rheos__tensor_int_at(inputs[0], 0), shape.rank, &axis));
  for (int32_t i = 1; i < count; i++) {
    const rheos_shape *in = &inputs[1 + i]->shape;
    rheos_shape rest = *in;
    if (rest.rank == shape.rank) rest.dims[axis] = shape.dims[axis];
    if (!rheos_shape_equal(&rest, &shape)) {
      return RHEOS_INVALID("Dimensions of inputs should match but for dimension %d", axis);
    }
    RHEOS_TRY(rheos__dim_add(shape.dims[axis], in->dims[axis], &shape.dims[axis]));
  }
  RHEOS_TRY(joint_range(inputs, count, &range));
  RHEOS_TRY(rheos__tensor_new(dtype, &shape, &outputs[0]));
  const int64_t inner = rheos__shape_product(&shape, axis + 1, shape.rank);
  int64_t before = 0;
  for (int32_t i = 0; i < count && outputs[0]->num_elements > 0; i++) {
    const rheos_tensor *in = inputs[1 + i];
    const rheos__range own = {*(const float *)inputs[1 + count + i]->data,
                              *(const float *)inputs[1 + 2 * count + i]->data};
    const bool same = own.lowest == range.lowest && own.highest == range.highest;
    const int64_t run = in->shape.dims[axis] * inner;
    for (int64_t k = 0; k < in->num_elements; k++) {
      const int64_t to = k / run * shape.dims[axis] * inner + before * inner + k % run;
      int64_t value = rheos__quantized_at(dtype, in->data, k);
      if (!same) value = to_range(dtype, value, own, range);
      rheos__set_quantized(dtype, outputs[0]->data, to, value);
    }
    before += in->shape.dims[axis];
  }
  return rheos__put_range(range, outputs);
}

static rheos_status *prepare_concat(rheos__prepare *p) {
  switch (p->output_dtypes[0]) {
    case RHEOS_QINT8:
    case RHEOS_QUINT8:
    case RHEOS_QINT16:
    case RHEOS_QUINT16:
    case RHEOS_QINT32: return rheos__answer_compute_operands(p, compute_concat);
    default:
      return rheos_status_new(RHEOS_UNIMPLEMENTED, "QuantizedConcat is not available for dtype %s",
                              rheos_dtype_name(p->output_dtypes[0]));
  }
}

const rheos__op_def rheos__op_QuantizedConcat = {
    .name = "QuantizedConcat",
    .signature =
        "concat_dim: int32, values: N * T, input_mins: N * float, input_maxes: N * float -> "
        "output: T, output_min: float, output_max: float; N: int >= 2; T: type",
    .doc = "The quantized `values` joined along a dimension, in a range that holds all of theirs.",
    .shape = shape_concat,
    .prepare = prepare_concat,
};
