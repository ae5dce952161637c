// QuantizeAndDequantize: numbers rounded to the grid of the integers that a range would be
// quantized to. Zero stays zero, and the side of the range that is wider for its integers sets the
// grid.
#include "ops/quantized/quantize_dequantize.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/quantized/quantize_formulas.h"

typedef rheos__rounding round_state;
typedef rheos__whole_range whole_range;

whole_range rheos__whole_range_of(const round_state *s, int64_t bits) {
  if (!s->is_signed) return (whole_range){0, ldexp(1, (int)bits) - 1};
  const double half = ldexp(1, (int)bits - 1);
  return (whole_range){-half + (s->narrow_range ? 1 : 0), half - 1};
}

static rheos_status *check_bits(int64_t bits, bool is_signed) {
  if (bits > 0 && bits < (is_signed ? 62 : 63)) return NULL;
  return RHEOS_INVALID("num_bits is out of range: %lld with signed_input_ %d", (long long)bits,
                       (int)is_signed);
}

#define LARGEST_float FLT_MAX
#define LARGEST_double DBL_MAX
#define ROUND_LOOPS(S)                                                                     \
  static void measure_##S(const rheos__slices *s, const S *x, int64_t slice, S *lowest,    \
                          S *highest) {                                                    \
    *lowest = LARGEST_##S;                                                                 \
    *highest = -LARGEST_##S;                                                               \
    for (int64_t o = 0; o < s->outer; ++o) {                                               \
      const int64_t start = (o * s->count + slice) * s->inner;                             \
      for (int64_t i = start; i < start + s->inner; ++i) {                                 \
        if (x[i] < *lowest) *lowest = x[i];                                                \
        if (x[i] > *highest) *highest = x[i];                                              \
      }                                                                                    \
    }                                                                                      \
  }                                                                                        \
  static void round_##S(const round_state *s, rheos__grid_##S g, const S *x, S *y,         \
                        int64_t slice) {                                                   \
    for (int64_t o = 0; o < s->slices.outer; ++o) {                                        \
      const int64_t start = (o * s->slices.count + slice) * s->slices.inner;               \
      for (int64_t i = start; i < start + s->slices.inner; ++i) {                          \
        y[i] = rheos__on_grid_##S(g, x[i], s->range_given, s->half_up);                    \
      }                                                                                    \
    }                                                                                      \
  }                                                                                        \
  static rheos_status *run_round_##S(const round_state *s, whole_range whole,              \
                                     const void *const *inputs, S *y) {                    \
    for (int64_t k = 0; k < s->slices.count; ++k) {                                        \
      S lowest = (S)s->lowest, highest = (S)s->highest;                                    \
      if (!s->range_given) {                                                               \
        measure_##S(&s->slices, inputs[0], k, &lowest, &highest);                          \
      } else if (!s->has_range_attrs) {                                                    \
        lowest = ((const S *)inputs[1])[k];                                                \
        highest = ((const S *)inputs[2])[k];                                               \
      }                                                                                    \
      if (s->range_given && !(lowest <= highest)) {                                        \
        return RHEOS_INVALID("Invalid range: input_min %g > input_max %g", (double)lowest, \
                             (double)highest);                                             \
      }                                                                                    \
      round_##S(s, rheos__grid_of_##S((S)whole.lowest, (S)whole.highest, lowest, highest), \
                inputs[0], y, k);                                                          \
    }                                                                                      \
    return NULL;                                                                           \
  }                                                                                        \
  /* Numbers inside the range pass their gradient on; the range itself gets none. */       \
  static void run_grad_##S(const rheos__slices *s, const void *const *inputs,              \
                           void *const *outputs) {                                         \
    const S *grad = inputs[0], *x = inputs[1];                                             \
    for (int64_t k = 0; k < s->count; ++k) {                                               \
      const S lowest = ((const S *)inputs[2])[k], highest = ((const S *)inputs[3])[k];     \
      for (int64_t o = 0; o < s->outer; ++o) {                                             \
        const int64_t start = (o * s->count + k) * s->inner;                               \
        for (int64_t i = start; i < start + s->inner; ++i) {                               \
          ((S *)outputs[0])[i] = x[i] >= lowest && x[i] <= highest ? grad[i] : 0;          \
        }                                                                                  \
      }                                                                                    \
      ((S *)outputs[1])[k] = ((S *)outputs[2])[k] = 0;                                     \
    }                                                                                      \
  }
ROUND_LOOPS(float)
ROUND_LOOPS(double)

static rheos_status *run_round(const void *state, const void *const *inputs, void *const *outputs,
                               void *scratch, int64_t first, int64_t last) {
  (void)scratch, (void)first, (void)last;
  const round_state *s = state;
  const int64_t bits = s->num_bits != 0 ? s->num_bits : ((const int32_t *)inputs[3])[0];
  RHEOS_TRY(check_bits(bits, s->is_signed));
  const whole_range whole = rheos__whole_range_of(s, bits);
  return s->dtype == RHEOS_FLOAT ? run_round_float(s, whole, inputs, outputs[0])
                                 : run_round_double(s, whole, inputs, outputs[0]);
}

static rheos_status *run_grad(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first, int64_t last) {
  (void)scratch, (void)first, (void)last;
  const round_state *s = state;
  (s->dtype == RHEOS_FLOAT ? run_grad_float : run_grad_double)(&s->slices, inputs, outputs);
  return NULL;
}

static rheos_status *new_state(rheos__prepare *p, round_state **out_state) {
  round_state *s = *out_state = RHEOS_NEW_STATE(p, round_state);
  if (s == NULL) return rheos__out_of_memory();
  s->dtype = p->input_dtypes[0];
  if (s->dtype != RHEOS_FLOAT && s->dtype != RHEOS_DOUBLE) return rheos__no_kernel(p, s->dtype);
  const rheos_attr_value *axis = rheos__attrs_find(p->attrs, "axis");
  s->slices = rheos__slices_of(&p->input_shapes[0], axis != NULL ? axis->i : -1);
  p->flops = rheos__flops(6.0 * (double)rheos_shape_num_elements(&p->input_shapes[0]));
  return NULL;
}

static rheos_status *prepare_round(rheos__prepare *p) {
  round_state *s;
  RHEOS_TRY(new_state(p, &s));
  s->is_signed = rheos__attr_bool(p->attrs, "signed_input");
  if (p->num_inputs < 4) {
    s->num_bits = rheos__attr_int(p->attrs, "num_bits");
    RHEOS_TRY(check_bits(s->num_bits, s->is_signed));
  }
  s->range_given = rheos__attr_bool(p->attrs, "range_given");
  const rheos_attr_value *narrow = rheos__attrs_find(p->attrs, "narrow_range");
  s->narrow_range = narrow != NULL && narrow->b;
  s->half_up = rheos__attrs_find(p->attrs, "round_mode") != NULL &&
               strcmp(rheos__attr_string(p->attrs, "round_mode"), "HALF_UP") == 0;
  s->has_range_attrs = p->num_inputs == 1;
  if (s->has_range_attrs) {
    s->lowest = (double)rheos__attr_float(p->attrs, "input_min");
    s->highest = (double)rheos__attr_float(p->attrs, "input_max");
  }
  p->run = run_round;
  return NULL;
}

static rheos_status *prepare_grad(rheos__prepare *p) {
  round_state *s;
  RHEOS_TRY(new_state(p, &s));
  p->run = run_grad;
  return NULL;
}

// ---- Shapes

static rheos_status *shape_round(rheos__infer *c) {
  rheos_shape range, bits;
  RHEOS_TRY(rheos__infer_ranges(c, 1, &range));
  c->output_shapes[0] = c->input_shapes[0];
  return c->num_inputs < 4 ? NULL : rheos__infer_rank(c, 3, 0, &bits);
}

static rheos_status *shape_grad(rheos__infer *c) {
  rheos_shape range;
  RHEOS_TRY(rheos__infer_ranges(c, 2, &range));
  RHEOS_TRY(rheos__shape_merge_2(c));
  c->output_shapes[1] = c->output_shapes[2] = range;
  return NULL;
}

// ---- Gradients

// As if nothing had been rounded.
static void gradient_round(rheos__grad *g) { rheos__grad_set(g, 0, rheos__grad_dense(g, 0)); }

static void gradient_v4(rheos__grad *g) {
  const rheos_output inputs[] = {rheos__grad_dense(g, 0), g->inputs[0], g->inputs[1], g->inputs[2]};
  const rheos_attr axis = rheos_attr_int("axis", rheos__attr_int(g->attrs, "axis"));
  const rheos_operation grad =
      rheos__op_n(g->scope, "QuantizeAndDequantizeV4Grad", NULL, inputs, 4, &axis, 1);
  if (grad.graph == NULL) return;
  for (int32_t i = 0; i < 3; ++i) rheos__grad_set(g, i, rheos_operation_output(grad, i));
}

// ---- Definitions

#define ROUND_TYPES "T: {bfloat16, half, float, double}"
#define ROUND_V2                                                                                   \
  "input: T, input_min: T, input_max: T -> output: T; signed_input: bool = true; "                 \
  "num_bits: int = 8; range_given: bool = false; " ROUND_TYPES                                     \
  "; round_mode: {\"HALF_TO_EVEN\", \"HALF_UP\"} = \"HALF_TO_EVEN\"; narrow_range: bool = false; " \
  "axis: int = -1"

const rheos__op_def rheos__op_QuantizeAndDequantize = {
    .name = "QuantizeAndDequantize",
    .signature =
        "input: T -> output: T; signed_input: bool = true; num_bits: int = 8; "
        "range_given: bool = false; input_min: float = 0; input_max: float = 0; " ROUND_TYPES,
    .doc = "QuantizeAndDequantizeV2 with a range of attributes.",
    .shape = rheos__shape_unchanged,
    .gradient = gradient_round,
    .prepare = prepare_round,
};

const rheos__op_def rheos__op_QuantizeAndDequantizeV2 = {
    .name = "QuantizeAndDequantizeV2",
    .signature = ROUND_V2,
    .doc = "`input` rounded as if it were quantized to `num_bits` and read back.",
    .shape = shape_round,
    .gradient = gradient_round,
    .prepare = prepare_round,
};

const rheos__op_def rheos__op_QuantizeAndDequantizeV3 = {
    .name = "QuantizeAndDequantizeV3",
    .signature =
        "input: T, input_min: T, input_max: T, num_bits: int32 -> output: T; "
        "signed_input: bool = true; range_given: bool = true; " ROUND_TYPES
        "; narrow_range: bool = false; axis: int = -1",
    .doc = "QuantizeAndDequantizeV2 with `num_bits` as an input.",
    .shape = shape_round,
    .gradient = gradient_round,
    .prepare = prepare_round,
};

const rheos__op_def rheos__op_QuantizeAndDequantizeV4 = {
    .name = "QuantizeAndDequantizeV4",
    .signature = ROUND_V2,
    .doc = "QuantizeAndDequantizeV2 whose gradient is 0 beyond the range.",
    .shape = shape_round,
    .gradient = gradient_v4,
    .prepare = prepare_round,
};

const rheos__op_def rheos__op_QuantizeAndDequantizeV4Grad = {
    .name = "QuantizeAndDequantizeV4Grad",
    .signature =
        "gradients: T, input: T, input_min: T, input_max: T -> input_backprop: T, "
        "input_min_backprop: T, input_max_backprop: T; " ROUND_TYPES "; axis: int = -1",
    .doc = "The gradients of QuantizeAndDequantizeV4.",
    .shape = shape_grad,
    .prepare = prepare_grad,
};
