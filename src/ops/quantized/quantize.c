// Quantized numbers: floats as integers of a range.
#include "ops/quantized/quantize.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

typedef enum quantize_mode { MIN_COMBINED, MIN_FIRST, SCALED } quantize_mode;

static quantize_mode mode_of(const rheos__attrs *attrs) {
  const char *mode = rheos__attr_string(attrs, "mode");
  return strcmp(mode, "SCALED") == 0      ? SCALED
         : strcmp(mode, "MIN_FIRST") == 0 ? MIN_FIRST
                                          : MIN_COMBINED;
}

// ---- The integers of a quantized dtype

typedef struct limits {
  double lowest, highest;
} limits;

static limits limits_of(rheos_dtype dtype) {
  switch (dtype) {
    case RHEOS_QINT8: return (limits){INT8_MIN, INT8_MAX};
    case RHEOS_QUINT8: return (limits){0, UINT8_MAX};
    case RHEOS_QINT16: return (limits){INT16_MIN, INT16_MAX};
    case RHEOS_QUINT16: return (limits){0, UINT16_MAX};
    default: return (limits){INT32_MIN, INT32_MAX};
  }
}

static int32_t quantized_at(rheos_dtype dtype, const void *data, int64_t i) {
  switch (dtype) {
    case RHEOS_QINT8: return ((const int8_t *)data)[i];
    case RHEOS_QUINT8: return ((const uint8_t *)data)[i];
    case RHEOS_QINT16: return ((const int16_t *)data)[i];
    case RHEOS_QUINT16: return ((const uint16_t *)data)[i];
    default: return ((const int32_t *)data)[i];
  }
}

// A whole number; what does not fit becomes the nearest that does, NaN 0.
static void set_quantized(rheos_dtype dtype, void *data, int64_t i, float value) {
  const limits l = limits_of(dtype);
  const double v = value;
  const int32_t whole = v != v          ? 0
                        : v < l.lowest  ? (int32_t)l.lowest
                        : v > l.highest ? (int32_t)l.highest
                                        : (int32_t)v;
  switch (dtype) {
    case RHEOS_QINT8: ((int8_t *)data)[i] = (int8_t)whole; break;
    case RHEOS_QUINT8: ((uint8_t *)data)[i] = (uint8_t)whole; break;
    case RHEOS_QINT16: ((int16_t *)data)[i] = (int16_t)whole; break;
    case RHEOS_QUINT16: ((uint16_t *)data)[i] = (uint16_t)whole; break;
    default: ((int32_t *)data)[i] = whole; break;
  }
}

// ---- Ranges: one for all, or one for each place along an axis

rheos__slices rheos__slices_of(const rheos_shape *shape, int64_t axis) {
  if (axis < 0) return (rheos__slices){1, 1, rheos_shape_num_elements(shape)};
  return (rheos__slices){rheos__shape_product(shape, 0, (int32_t)axis), shape->dims[axis],
                         rheos__shape_product(shape, (int32_t)axis + 1, shape->rank)};
}

rheos_status *rheos__infer_ranges(const rheos__infer *c, int32_t first, rheos_shape *out_range) {
  const int64_t axis = rheos__attr_int(c->attrs, "axis");
  const rheos_shape *in = &c->input_shapes[0];
  if (axis < -1) return RHEOS_INVALID("axis should be at least -1, got %lld", (long long)axis);
  *out_range = axis < 0 ? RHEOS_SCALAR : RHEOS_SHAPE(-1);
  if (axis >= 0 && in->rank >= 0) {
    if (axis >= in->rank) {
      return RHEOS_INVALID("axis %lld is not in the %d dimensions of the input", (long long)axis,
                           (int)in->rank);
    }
    out_range->dims[0] = in->dims[axis];
  }
  for (int32_t i = first; i < first + 2; ++i) {
    rheos_shape own;
    const rheos_shape known = *out_range;
    RHEOS_TRY(rheos__infer_rank(c, i, known.rank, &own));
    RHEOS_TRY(rheos__shape_merge(&known, &own, out_range));
  }
  return NULL;
}

typedef struct quantize_state {
  rheos_dtype from, to;
  rheos__slices slices;
  quantize_mode mode;
  bool narrow_range, to_even;
  float least_range;
} quantize_state;

// The factor under which neither end of a range passes the integers' ends.
static float scale_of(float lowest, float highest, float range_lowest, float range_highest) {
  const float low = lowest * range_lowest > 0 ? lowest / range_lowest : FLT_MAX;
  const float high = highest * range_highest > 0 ? highest / range_highest : FLT_MAX;
  return low < high ? low : high;
}

// ---- QuantizeV2

static rheos_status *shape_quantize(rheos__infer *c) {
  rheos_shape range;
  RHEOS_TRY(rheos__infer_ranges(c, 1, &range));
  c->output_shapes[0] = c->input_shapes[0];
  c->output_shapes[1] = c->output_shapes[2] = range;
  return NULL;
}

typedef struct range {
  float lowest, highest;
} range;

static float clamped(float x, const range *r) {
  return x < r->lowest ? r->lowest : x > r->highest ? r->highest : x;
}

// What one number becomes, as a float: from the range as it is put out.
static float quantized(const quantize_state *s, const range *r, float scale, float x) {
  const limits l = limits_of(s->to);
  if (s->mode == SCALED) {
    const float scaled = clamped(x, r) * scale;
    return s->to_even ? nearbyintf(scaled) : roundf(scaled);
  }
  if (s->mode == MIN_FIRST) {
    return roundf(x * scale) - (roundf(r->lowest * scale) - (float)l.lowest);
  }
  const float half = l.lowest < 0 ? (float)((l.highest - l.lowest + 1) / 2) : 0;
  return roundf((clamped(x, r) - r->lowest) * scale - half);
}

static float quantize_scale(const quantize_state *s, range *r) {
  const limits l = limits_of(s->to);
  if (s->mode == MIN_COMBINED) return (float)(l.highest - l.lowest) / (r->highest - r->lowest);
  if (s->mode == MIN_FIRST) {
    return (float)((l.highest - l.lowest) / ((double)r->highest - r->lowest));
  }
  const float lowest = (float)(l.lowest + (s->narrow_range ? 1 : 0)), highest = (float)l.highest;
  const float scale = scale_of(lowest, highest, r->lowest, r->highest);
  *r = (range){lowest / scale, highest / scale};
  return scale;
}

// Zero is in every range, and no range is too small to divide by.
static rheos_status *usable_range(const quantize_state *s, float lowest, float highest,
                                  range *out_range) {
  if (!isfinite(lowest) || !isfinite(highest)) {
    return RHEOS_INVALID("min_range and max_range must be finite, got %g and %g", (double)lowest,
                         (double)highest);
  }
  if (lowest > highest) {
    return RHEOS_INVALID("input_max_range must be larger than input_min_range.");
  }
  const float least = fmaxf(1, fmaxf(fabsf(lowest), fabsf(highest))) * s->least_range;
  out_range->lowest = fminf(0, lowest);
  out_range->highest = fmaxf(0, fmaxf(highest, out_range->lowest + least));
  if (out_range->lowest < out_range->highest) return NULL;
  return RHEOS_INVALID("the range from %g to %g is empty", (double)lowest, (double)highest);
}

static rheos_status *run_quantize(const void *state, const void *const *inputs,
                                  void *const *outputs, void *scratch, int64_t first,
                                  int64_t last) {
  (void)scratch, (void)first, (void)last;
  const quantize_state *s = state;
  const float *x = inputs[0];
  for (int64_t k = 0; k < s->slices.count; ++k) {
    range r = {0, 0};
    RHEOS_TRY(usable_range(s, ((const float *)inputs[1])[k], ((const float *)inputs[2])[k], &r));
    const float scale = quantize_scale(s, &r);
    for (int64_t o = 0; o < s->slices.outer; ++o) {
      const int64_t start = (o * s->slices.count + k) * s->slices.inner;
      for (int64_t i = start; i < start + s->slices.inner; ++i) {
        set_quantized(s->to, outputs[0], i, quantized(s, &r, scale, x[i]));
      }
    }
    ((float *)outputs[1])[k] = r.lowest;
    ((float *)outputs[2])[k] = r.highest;
  }
  return NULL;
}

static rheos_status *new_state(rheos__prepare *p, quantize_state **out_state) {
  quantize_state *s = RHEOS_NEW_STATE(p, quantize_state);
  *out_state = s;
  if (s == NULL) return rheos__out_of_memory();
  s->from = p->input_dtypes[0];
  s->to = p->output_dtypes[0];
  s->slices = rheos__slices_of(&p->input_shapes[0], rheos__attr_int(p->attrs, "axis"));
  s->mode = mode_of(p->attrs);
  s->narrow_range = rheos__attr_bool(p->attrs, "narrow_range");
  p->flops = rheos__flops(6.0 * rheos_shape_num_elements(&p->input_shapes[0]));
  if (s->mode != MIN_FIRST || rheos__attr_int(p->attrs, "axis") < 0) return NULL;
  return rheos_status_new(RHEOS_UNIMPLEMENTED,
                          "MIN_FIRST mode is not implemented for %s with axis != -1.", p->op->name);
}

static rheos_status *prepare_quantize(rheos__prepare *p) {
  quantize_state *s;
  RHEOS_TRY(new_state(p, &s));
  s->to_even = strcmp(rheos__attr_string(p->attrs, "round_mode"), "HALF_TO_EVEN") == 0;
  s->least_range = rheos__attr_float(p->attrs, "ensure_minimum_range");
  if (s->to_even && s->mode != SCALED) {
    return RHEOS_INVALID(
        "Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is "
        "'%s'.",
        rheos__attr_string(p->attrs, "mode"));
  }
  p->run = run_quantize;
  return NULL;
}

#define QUANTIZED "{qint8, quint8, qint32, qint16, quint16}"
#define MODES "mode: {\"MIN_COMBINED\", \"MIN_FIRST\", \"SCALED\"} = \"MIN_COMBINED\"; "

const rheos__op_def rheos__op_QuantizeV2 = {
    .name = "QuantizeV2",
    .signature =
        "input: float, min_range: float, max_range: float -> output: T, "
        "output_min: float, output_max: float; T: " QUANTIZED "; " MODES
        "round_mode: {\"HALF_AWAY_FROM_ZERO\", \"HALF_TO_EVEN\"} = "
        "\"HALF_AWAY_FROM_ZERO\"; narrow_range: bool = false; axis: int = -1; "
        "ensure_minimum_range: float = 0.01",
    .doc = "`input` as integers that stand for the numbers from `output_min` to `output_max`.",
    .shape = shape_quantize,
    .prepare = prepare_quantize,
};

// ---- Dequantize

static rheos_status *shape_dequantize(rheos__infer *c) {
  rheos_shape range;
  RHEOS_TRY(rheos__infer_ranges(c, 1, &range));
  c->output_shapes[0] = c->input_shapes[0];
  return NULL;
}

// The number is (integer + shift) * scale + start.
typedef struct line {
  float shift, scale, start;
} line;

static line line_of(const quantize_state *s, float lowest, float highest) {
  const limits l = limits_of(s->from);
  if (s->mode == SCALED) {
    const float low = (float)(l.lowest + (s->narrow_range ? 1 : 0));
    const float from_high = highest / (float)l.highest;
    const float from_low = low == 0 ? 0 : lowest / low;
    return (line){0, l.lowest < 0 && from_low > from_high ? from_low : from_high, 0};
  }
  const float scale = (float)((highest - lowest) / (l.highest - l.lowest));
  if (s->mode == MIN_COMBINED) {
    const float half = l.lowest < 0 ? (float)((l.highest - l.lowest + 1) / 2) : 0;
    return (line){half, scale, lowest};
  }
  const float start = highest == lowest ? lowest : roundf(lowest / scale) * scale;
  return (line){(float)-l.lowest, scale, start};
}

static rheos_status *run_dequantize(const void *state, const void *const *inputs,
                                    void *const *outputs, void *scratch, int64_t first,
                                    int64_t last) {
  (void)scratch, (void)first, (void)last;
  const quantize_state *s = state;
  for (int64_t k = 0; k < s->slices.count; ++k) {
    const line to = line_of(s, ((const float *)inputs[1])[k], ((const float *)inputs[2])[k]);
    for (int64_t o = 0; o < s->slices.outer; ++o) {
      const int64_t start = (o * s->slices.count + k) * s->slices.inner;
      for (int64_t i = start; i < start + s->slices.inner; ++i) {
        const float q = (float)quantized_at(s->from, inputs[0], i);
        const float value = (q + to.shift) * to.scale + to.start;
        if (s->to == RHEOS_BFLOAT16) {
          ((uint16_t *)outputs[0])[i] = rheos__float_to_bfloat16(value);
        } else {
          ((float *)outputs[0])[i] = value;
        }
      }
    }
  }
  return NULL;
}

static rheos_status *prepare_dequantize(rheos__prepare *p) {
  quantize_state *s;
  RHEOS_TRY(new_state(p, &s));
  p->run = run_dequantize;
  return NULL;
}

const rheos__op_def rheos__op_Dequantize = {
    .name = "Dequantize",
    .signature =
        "input: T, min_range: float, max_range: float -> output: dtype; T: " QUANTIZED "; " MODES
        "narrow_range: bool = false; axis: int = -1; "
        "dtype: {bfloat16, float} = float",
    .doc = "The numbers that quantized `input` stands for.",
    .shape = shape_dequantize,
    .prepare = prepare_dequantize,
};
