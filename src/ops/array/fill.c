// Tensors made from a description: shapes of other tensors, repeated values, sequences.
#include <math.h>

#include "graph/build.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "tensor/variant.h"

// ---- Shape, ShapeN, Size, Rank

static rheos_status *shape_shape(rheos__infer *c) {
  for (int32_t i = 0; i < c->num_outputs; ++i) {
    c->output_shapes[i] = RHEOS_SHAPE(c->input_shapes[i].rank);
  }
  return NULL;
}

// Integers of 32 bits may be too narrow for a dimension.
static rheos_status *set_size(rheos_dtype dtype, void *out, int64_t index, int64_t value) {
  if (dtype == RHEOS_INT32 && value > INT32_MAX) {
    return RHEOS_INVALID("%lld does not fit into int32: use out_type=int64", (long long)value);
  }
  rheos__set_int(dtype, out, index, value);
  return NULL;
}

static rheos_status *run_shape(const void *state, const void *const *inputs, void *const *outputs,
                               void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)inputs, (void)scratch, (void)first_unit, (void)last_unit;
  const rheos__operands *o = state;
  for (int32_t i = 0; i < o->num_outputs; ++i) {
    const rheos_shape *shape = &o->input_shapes[i];
    for (int32_t d = 0; d < shape->rank; ++d) {
      RHEOS_TRY(set_size(o->output_dtypes[i], outputs[i], d, shape->dims[d]));
    }
  }
  return NULL;
}

static rheos_status *prepare_shape(rheos__prepare *p) {
  return rheos__answer_run_operands(p, run_shape, 1);
}

const rheos__op_def rheos__op_Shape = {
    .name = "Shape",
    .signature = "input: T -> output: out_type; T: type; out_type: {int32, int64} = int32",
    .doc = "The dimensions of `input`.",
    .flags = RHEOS_OP_READS_SHAPES,
    .shape = shape_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_shape,
};

const rheos__op_def rheos__op_ShapeN = {
    .name = "ShapeN",
    .signature =
        "input: N * T -> output: N * out_type; N: int >= 1; T: type; "
        "out_type: {int32, int64} = int32",
    .doc = "The dimensions of each of `input`.",
    .flags = RHEOS_OP_READS_SHAPES,
    .shape = shape_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_shape,
};

static rheos_status *run_size(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)inputs, (void)scratch, (void)first_unit, (void)last_unit;
  const rheos__operands *o = state;
  return set_size(o->output_dtypes[0], outputs[0], 0,
                  rheos_shape_num_elements(&o->input_shapes[0]));
}

static rheos_status *prepare_size(rheos__prepare *p) {
  return rheos__answer_run_operands(p, run_size, 1);
}

const rheos__op_def rheos__op_Size = {
    .name = "Size",
    .signature = "input: T -> output: out_type; T: type; out_type: {int32, int64} = int32",
    .doc = "The number of elements of `input`.",
    .flags = RHEOS_OP_READS_SHAPES,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_size,
};

static rheos_status *run_rank(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)inputs, (void)scratch, (void)first_unit, (void)last_unit;
  const rheos__operands *o = state;
  *(int32_t *)outputs[0] = o->input_shapes[0].rank;
  return NULL;
}

static rheos_status *prepare_rank(rheos__prepare *p) {
  return rheos__answer_run_operands(p, run_rank, 1);
}

const rheos__op_def rheos__op_Rank = {
    .name = "Rank",
    .signature = "input: T -> output: int32; T: type",
    .doc = "The number of dimensions of `input`.",
    .flags = RHEOS_OP_READS_SHAPES,
    .shape = rheos__shape_scalar,
    .gradient = rheos__no_gradient,
    .prepare = prepare_rank,
};

// ---- ZerosLike, OnesLike, Fill: one element, repeated

static rheos_status *make_repeated(const rheos__operands *o, const void *const *inputs,
                                   rheos__copy *out_copy) {
  (void)inputs;
  rheos__copy_init(out_copy, o->output_dtypes[0]);
  rheos__copy_add(out_copy, rheos_shape_num_elements(&o->output_shapes[0]), 0, 1);
  return NULL;
}

// Zero, or one, of any dtype that has it, in the first bytes; all zeros is also the empty string.
typedef union element {
  float f;
  double d;
  float complex64[2];
  double complex128[2];
  int64_t int64;
  int32_t int32;
  int16_t int16;
  int8_t int8;
  rheos_string string;
} element;

static element one_of(rheos_dtype dtype) {
  element one = {.complex128 = {0, 0}};
  switch (dtype) {
    case RHEOS_FLOAT:
    case RHEOS_COMPLEX64: one.f = 1; break;
    case RHEOS_DOUBLE:
    case RHEOS_COMPLEX128: one.d = 1; break;
    case RHEOS_HALF: one.int16 = (int16_t)rheos__float_to_half(1); break;
    case RHEOS_BFLOAT16: one.int16 = (int16_t)rheos__float_to_bfloat16(1); break;
    case RHEOS_INT64:
    case RHEOS_UINT64: one.int64 = 1; break;
    case RHEOS_INT32:
    case RHEOS_UINT32: one.int32 = 1; break;
    case RHEOS_INT16:
    case RHEOS_UINT16: one.int16 = 1; break;
    default: one.int8 = 1; break;
  }
  return one;
}

typedef struct constant_fill {
  element value;
  rheos_dtype dtype;
  int64_t count;
} constant_fill;

static rheos_status *run_constant_fill(const void *state, const void *const *inputs,
                                       void *const *outputs, void *scratch, int64_t first_unit,
                                       int64_t last_unit) {
  (void)inputs, (void)scratch;
  const constant_fill *f = state;
  int64_t first = first_unit * RHEOS__COPY_UNIT, last = last_unit * RHEOS__COPY_UNIT;
  if (last > f->count) last = f->count;
  if (first >= last) return NULL;
  char *out = (char *)outputs[0] + first * (int64_t)rheos_dtype_size(f->dtype);
  return rheos__fill_part(f->dtype, out, &f->value, last - first, f->count);
}

static rheos_status *prepare_constant_fill(rheos__prepare *p, bool ones) {
  constant_fill *f = RHEOS_NEW_STATE(p, constant_fill);
  if (f == NULL) return rheos__out_of_memory();
  f->dtype = p->output_dtypes[0];
  f->count = rheos_shape_num_elements(&p->output_shapes[0]);
  if (ones) f->value = one_of(f->dtype);
  return rheos__answer_run(p, run_constant_fill,
                           (f->count + RHEOS__COPY_UNIT - 1) / RHEOS__COPY_UNIT);
}

static rheos_status *compute_zero_variants(void *state, rheos__step *step,
                                           rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)state, (void)step;
  return rheos__variants_zeros_like(inputs[0], 0, &outputs[0]);
}

static rheos_status *prepare_zeros_like(rheos__prepare *p) {
  if (p->output_dtypes[0] != RHEOS_VARIANT) return prepare_constant_fill(p, false);
  p->compute = compute_zero_variants;  // which shapes the values have inside, only they tell
  return NULL;
}

static rheos_status *prepare_ones_like(rheos__prepare *p) { return prepare_constant_fill(p, true); }

const rheos__op_def rheos__op_ZerosLike = {
    .name = "ZerosLike",
    .signature = "x: T -> y: T; T: type",
    .doc = "Zeros in the shape of `x`.",
    .flags = RHEOS_OP_READS_SHAPES,
    .shape = rheos__shape_unchanged,
    .gradient = rheos__no_gradient,
    .prepare = prepare_zeros_like,
};

const rheos__op_def rheos__op_OnesLike = {
    .name = "OnesLike",
    .signature =
        "x: T -> y: T; T: {bfloat16, half, float, double, int8, uint8, int16, uint16, "
        "int32, uint32, int64, uint64, complex64, complex128, bool}",
    .doc = "Ones in the shape of `x`.",
    .flags = RHEOS_OP_READS_SHAPES,
    .shape = rheos__shape_unchanged,
    .gradient = rheos__no_gradient,
    .prepare = prepare_ones_like,
};

static rheos_status *shape_fill(rheos__infer *c) {
  rheos_shape ignored;
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &ignored));
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &ignored));
  int64_t dims[RHEOS_MAX_RANK];
  int32_t count;
  if (rheos__infer_ints(c, 0, dims, RHEOS_MAX_RANK, &count)) {
    for (int32_t i = 0; i < count; ++i) {
      if (dims[i] < 0) {
        return RHEOS_INVALID("Fill dimensions must be >= 0: Dimension %lld must be >= 0",
                             (long long)dims[i]);
      }
    }
  }
  return rheos__infer_shape_value(c, 0, &c->output_shapes[0]);
}

static rheos_status *prepare_fill(rheos__prepare *p) {
  return rheos__answer_copy(p, 1, make_repeated);
}

// d value: the sum of all, over axes that are constants where the rank is known.
static void gradient_fill(rheos__grad *g) {
  rheos__grad_set(g, 1, rheos__sum_all(g->scope, rheos__grad_dense(g, 0)));
}

const rheos__op_def rheos__op_Fill = {
    .name = "Fill",
    .signature =
        "dims: index_type, value: T -> output: T; T: type; "
        "index_type: {int32, int64} = int32",
    .doc = "A tensor of shape `dims` filled with the scalar `value`.",
    .shape = shape_fill,
    .gradient = gradient_fill,
    .prepare = prepare_fill,
};

// ---- Range

// An element of any real dtype; integers of up to 53 bits pass unharmed, others go by integers.
static double number_in(rheos_dtype dtype, const void *data) {
  switch (dtype) {
    case RHEOS_FLOAT: return *(const float *)data;
    case RHEOS_DOUBLE: return *(const double *)data;
    case RHEOS_HALF: return rheos__half_to_float(*(const uint16_t *)data);
    case RHEOS_BFLOAT16: return rheos__bfloat16_to_float(*(const uint16_t *)data);
    default: return (double)rheos__int_in(dtype, data, 0);
  }
}

// How many steps of `delta` there are, rounded as numbers of the dtype are: in float32 there are
// exactly 10 from 0.1 to 1.1 by 0.1.
static double steps_between(rheos_dtype dtype, double start, double limit, double delta) {
  if (dtype != RHEOS_FLOAT) return (limit - start) / delta;
  float distance = (float)limit - (float)start;
  return distance / (float)delta;
}

static rheos_status *range_floats(rheos_dtype dtype, double start, double limit, double delta,
                                  int64_t *out_size) {
  if (delta == 0) return RHEOS_INVALID("Requires delta != 0: 0");
  if (delta > 0 && start > limit) {
    return RHEOS_INVALID("Requires start <= limit when delta > 0: %g/%g", start, limit);
  }
  if (delta < 0 && start < limit) {
    return RHEOS_INVALID("Requires start >= limit when delta < 0: %g/%g", start, limit);
  }
  double size = ceil(fabs(steps_between(dtype, start, limit, delta)));
  if (!(size < 9e18)) return RHEOS_INVALID("Requires ((limit - start) / delta) <= 2^63 - 1");
  *out_size = (int64_t)size;
  return NULL;
}

static rheos_status *range_ints(int64_t start, int64_t limit, int64_t delta, int64_t *out_size) {
  if (delta == 0) return RHEOS_INVALID("Requires delta != 0: 0");
  if (delta > 0 && start > limit) {
    return RHEOS_INVALID("Requires start <= limit when delta > 0: %lld/%lld", (long long)start,
                         (long long)limit);
  }
  if (delta < 0 && start < limit) {
    return RHEOS_INVALID("Requires start >= limit when delta < 0: %lld/%lld", (long long)start,
                         (long long)limit);
  }
  // In unsigned numbers, because the distance may be more than the largest integer.
  uint64_t distance =
      delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
  uint64_t step = delta > 0 ? (uint64_t)delta : -(uint64_t)delta;
  uint64_t size = distance / step + (distance % step != 0);
  if (size > INT64_MAX) return RHEOS_INVALID("Requires ((limit - start) / delta) <= 2^63 - 1");
  *out_size = (int64_t)size;
  return NULL;
}

static rheos_status *shape_range(rheos__infer *c) {
  rheos_shape ignored;
  for (int32_t i = 0; i < 3; ++i) RHEOS_TRY(rheos__infer_rank(c, i, 0, &ignored));
  c->output_shapes[0] = RHEOS_SHAPE(-1);
  if (rheos_dtype_is_integer(c->output_dtypes[0])) {
    int64_t start, limit, delta;
    const bool known = rheos__infer_int(c, 0, &start) && rheos__infer_int(c, 1, &limit) &&
                       rheos__infer_int(c, 2, &delta);
    return known ? range_ints(start, limit, delta, &c->output_shapes[0].dims[0]) : NULL;
  }
  if (c->input_values == NULL) return NULL;
  const rheos_tensor *const *v = (const rheos_tensor *const *)c->input_values;
  if (v[0] == NULL || v[1] == NULL || v[2] == NULL) return NULL;
  rheos_dtype dtype = c->output_dtypes[0];
  return range_floats(dtype, number_in(dtype, v[0]->data), number_in(dtype, v[1]->data),
                      number_in(dtype, v[2]->data), &c->output_shapes[0].dims[0]);
}

enum { RANGE_UNIT = 1 << 16 };  // elements of an integer range; others are one unit

// Sums, as TensorFlow's kernel does it: start, then delta added again and again. Of integers, any
// part can be had at once.
static rheos_status *run_range(const void *state, const void *const *inputs, void *const *outputs,
                               void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  const rheos__operands *o = state;
  rheos_dtype dtype = o->output_dtypes[0];
  int64_t count = o->output_shapes[0].dims[0];
  switch (dtype) {
    case RHEOS_FLOAT: {
      float value = *(const float *)inputs[0], delta = *(const float *)inputs[2];
      for (int64_t i = 0; i < count; ++i, value += delta) ((float *)outputs[0])[i] = value;
      break;
    }
    case RHEOS_DOUBLE: {
      double value = *(const double *)inputs[0], delta = *(const double *)inputs[2];
      for (int64_t i = 0; i < count; ++i, value += delta) ((double *)outputs[0])[i] = value;
      break;
    }
    case RHEOS_HALF:
    case RHEOS_BFLOAT16: {
      uint16_t *out = outputs[0];
      double value = number_in(dtype, inputs[0]), delta = number_in(dtype, inputs[2]);
      for (int64_t i = 0; i < count; ++i) {
        out[i] = dtype == RHEOS_HALF ? rheos__float_to_half((float)value)
                                     : rheos__float_to_bfloat16((float)value);
        value = number_in(dtype, &out[i]) + delta;
      }
      break;
    }
    default: {
      uint64_t value = (uint64_t)rheos__int_in(dtype, inputs[0], 0);
      uint64_t delta = (uint64_t)rheos__int_in(dtype, inputs[2], 0);
      int64_t first = first_unit * RANGE_UNIT;
      if (last_unit * RANGE_UNIT < count) count = last_unit * RANGE_UNIT;
      value += (uint64_t)first * delta;
      for (int64_t i = first; i < count; ++i, value += delta) {
        rheos__set_int(dtype, outputs[0], i, (int64_t)value);
      }
    }
  }
  return NULL;
}

static rheos_status *prepare_range(rheos__prepare *p) {
  int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  bool integer = rheos_dtype_is_integer(p->output_dtypes[0]);
  p->flops = count > 0 ? count : 0;
  return rheos__answer_run_operands(p, run_range,
                                    integer && count > 0 ? (count - 1) / RANGE_UNIT + 1 : 1);
}

const rheos__op_def rheos__op_Range = {
    .name = "Range",
    .signature =
        "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx; Tidx: {bfloat16, half, "
        "float, double, int8, int16, int32, int64, uint16, uint32, uint64} = int32",
    .doc = "`start`, `start` + `delta`, ... up to `limit`, which is left out.",
    .shape = shape_range,
    .gradient = rheos__no_gradient,
    .prepare = prepare_range,
};

// ---- LinSpace

static rheos_status *shape_lin_space(rheos__infer *c) {
  rheos_shape ignored;
  for (int32_t i = 0; i < 3; ++i) RHEOS_TRY(rheos__infer_rank(c, i, 0, &ignored));
  int64_t num = -1;
  if (rheos__infer_int(c, 2, &num) && num <= 0) {
    return RHEOS_INVALID("Requires num > 0: %lld", (long long)num);
  }
  c->output_shapes[0] = RHEOS_SHAPE(num);
  return NULL;
}

// The last element is `stop` itself.
static rheos_status *run_lin_space(const void *state, const void *const *inputs,
                                   void *const *outputs, void *scratch, int64_t first_unit,
                                   int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const rheos__operands *o = state;
  rheos_dtype dtype = o->output_dtypes[0];
  int64_t num = o->output_shapes[0].dims[0];
  if (dtype == RHEOS_DOUBLE) {
    double start = *(const double *)inputs[0], stop = *(const double *)inputs[1];
    double step = num > 1 ? (stop - start) / (double)(num - 1) : 0;
    double *out = outputs[0];
    for (int64_t i = 0; i < num; ++i) out[i] = start + step * (double)i;
    if (num > 1) out[num - 1] = stop;
    return NULL;
  }
  float start = (float)number_in(dtype, inputs[0]), stop = (float)number_in(dtype, inputs[1]);
  float step = num > 1 ? (stop - start) / (float)(num - 1) : 0;
  for (int64_t i = 0; i < num; ++i) {
    float value = i > 0 && i == num - 1 ? stop : start + step * (float)i;
    if (dtype == RHEOS_FLOAT) {
      ((float *)outputs[0])[i] = value;
    } else {
      ((uint16_t *)outputs[0])[i] =
          dtype == RHEOS_HALF ? rheos__float_to_half(value) : rheos__float_to_bfloat16(value);
    }
  }
  return NULL;
}

static rheos_status *prepare_lin_space(rheos__prepare *p) {
  return rheos__answer_run_operands(p, run_lin_space, 1);
}

const rheos__op_def rheos__op_LinSpace = {
    .name = "LinSpace",
    .signature =
        "start: T, stop: T, num: Tidx -> output: T; T: {bfloat16, half, float, double}; "
        "Tidx: {int32, int64} = int32",
    .doc = "`num` numbers from `start` to `stop` at equal distances.",
    .shape = shape_lin_space,
    .gradient = rheos__no_gradient,
    .prepare = prepare_lin_space,
};

// ---- Empty: zeros here, whatever `init` says

static rheos_status *shape_empty(rheos__infer *c) {
  rheos_shape vector;
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &vector));
  RHEOS_TRY(rheos__infer_shape_value(c, 0, &c->output_shapes[0]));
  const rheos_tensor *value = rheos__infer_value(c, 0);
  for (int64_t d = 0; value != NULL && d < value->num_elements; ++d) {
    const int64_t dim = rheos__tensor_int_at(value, d);
    if (dim < 0) return RHEOS_INVALID("Dimension %lld must be >= 0", (long long)dim);
  }
  return NULL;
}

static rheos_status *run_empty(const void *state, const void *const *inputs, void *const *outputs,
                               void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)inputs, (void)scratch, (void)first_unit, (void)last_unit;
  static const char zero[16];
  const rheos__operands *o = state;
  if (o->output_dtypes[0] == RHEOS_STRING) return NULL;
  return rheos__fill_elements(o->output_dtypes[0], outputs[0], zero,
                              rheos_shape_num_elements(&o->output_shapes[0]));
}

static rheos_status *prepare_empty(rheos__prepare *p) {
  return rheos__answer_run_operands(p, run_empty, 1);
}

const rheos__op_def rheos__op_Empty = {
    .name = "Empty",
    .signature = "shape: int32 -> output: dtype; dtype: type; init: bool = false",
    .doc = "A tensor of shape `shape` and any content: zeros.",
    .flags = RHEOS_OP_STATEFUL,
    .shape = shape_empty,
    .prepare = prepare_empty,
};
