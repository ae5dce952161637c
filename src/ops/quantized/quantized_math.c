// Products, convolutions, sums and pooling of quantized numbers: integers less the one that stands
// for 0 are multiplied and added, and the range of the result follows from those of the operands.
#include <math.h>
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/nn/conv.h"
#include "ops/nn/pool.h"
#include "ops/quantized/quantized.h"

// One operand as integers around 0.
typedef struct operand {
  const rheos_tensor *tensor;
  rheos_dtype dtype;
  rheos__range range;
  int64_t zero;
} operand;

static rheos_status *operand_of(rheos_tensor *const *inputs, int32_t value, int32_t range,
                                const char *what, operand *out) {
  out->tensor = inputs[value];
  out->dtype = inputs[value]->dtype;
  RHEOS_TRY(rheos__range_of(inputs, range, true, what, &out->range));
  out->zero = rheos__to_quantized(out->dtype, 0, out->range);
  return NULL;
}

static int64_t number_at(const operand *x, int64_t index) {
  return rheos__quantized_at(x->dtype, x->tensor->data, index) - x->zero;
}

static float float_at(const operand *x, int64_t index) {
  return rheos__from_quantized(x->dtype, rheos__quantized_at(x->dtype, x->tensor->data, index),
                               x->range);
}

static float level_of(const operand *x) {
  int64_t lowest, highest;
  rheos__quantized_limits(x->dtype, &lowest, &highest);
  return (x->range.highest - x->range.lowest) / (float)(highest - lowest);
}

// The range where one level is the product of those of the operands.
static rheos_status *put_product_range(const operand *a, const operand *b, rheos_dtype dtype,
                                       rheos_tensor **outputs) {
  int64_t lowest, highest;
  rheos__quantized_limits(dtype, &lowest, &highest);
  const float level = level_of(a) * level_of(b);
  return rheos__put_range((rheos__range){level * (float)lowest, level * (float)highest}, outputs);
}

// ---- QuantizedMatMul

static rheos_status *shape_matmul(rheos__infer *c) {
  rheos_shape a, b;
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &a));
  RHEOS_TRY(rheos__infer_rank(c, 1, 2, &b));
  RHEOS_TRY(rheos__infer_scalars(c, 2, 6));
  const int at = rheos__attr_bool(c->attrs, "transpose_a"),
            bt = rheos__attr_bool(c->attrs, "transpose_b");
  const int64_t inner_a = a.dims[1 - at], inner_b = b.dims[bt];
  if (inner_a >= 0 && inner_b >= 0 && inner_a != inner_b) {
    rheos__shape_text first, second;
    return RHEOS_INVALID("Matrix size-incompatible: In[0]: %s, In[1]: %s",
                         rheos__shape_text_of(&a, &first), rheos__shape_text_of(&b, &second));
  }
  c->output_shapes[0] = RHEOS_SHAPE(a.dims[at], b.dims[1 - bt]);
  rheos__infer_range(c);
  return NULL;
}

static rheos_status *compute_matmul(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  operand a, b;
  RHEOS_TRY(operand_of(inputs, 0, 2, "a", &a));
  RHEOS_TRY(operand_of(inputs, 1, 4, "b", &b));
  const bool at = rheos__attr_bool(o->attrs, "transpose_a"),
             bt = rheos__attr_bool(o->attrs, "transpose_b");
  const int64_t *da = a.tensor->shape.dims, *db = b.tensor->shape.dims;
  const int64_t m = da[at], k = da[1 - at], n = db[1 - bt];
  if (db[bt] != k) return RHEOS_INVALID("Matrix size-incompatible");
  RHEOS_TRY(rheos__tensor_new(o->output_dtypes[0], &RHEOS_SHAPE(m, n), &outputs[0]));
  const int64_t a_row = at ? 1 : k, a_step = at ? m : 1, b_step = bt ? 1 : n, b_row = bt ? k : 1;
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      uint64_t sum = 0;
      for (int64_t l = 0; l < k; l++) {
        sum += (uint64_t)number_at(&a, i * a_row + l * a_step) *
               (uint64_t)number_at(&b, j * b_row + l * b_step);
      }
      rheos__set_quantized(o->output_dtypes[0], outputs[0]->data, i * n + j, (int64_t)sum);
    }
  }
  return put_product_range(&a, &b, o->output_dtypes[0], outputs);
}
static rheos_status *prepare_matmul(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_matmul);
}

const rheos__op_def rheos__op_QuantizedMatMul = {
    .name = "QuantizedMatMul",
    .signature =
        "a: T1, b: T2, min_a: float, max_a: float, min_b: float, max_b: float -> "
        "out: Toutput, min_out: float, max_out: float; T1: " RHEOS__QUANTIZED
        "; T2: " RHEOS__QUANTIZED "; Toutput: " RHEOS__QUANTIZED
        " = qint32; transpose_a: bool = false; transpose_b: bool = false; "
        "Tactivation: " RHEOS__QUANTIZED " = quint8",
    .doc = "The product of two quantized matrices.",
    .shape = shape_matmul,
    .prepare = prepare_matmul,
};

// ---- QuantizedConv2D

static rheos_status *shape_conv(rheos__infer *c) {
  rheos_shape input, filter;
  rheos__conv conv;
  RHEOS_TRY(rheos__infer_rank(c, 0, 4, &input));
  RHEOS_TRY(rheos__infer_rank(c, 1, 4, &filter));
  RHEOS_TRY(rheos__infer_scalars(c, 2, 6));
  rheos__infer_range(c);
  return rheos__conv_fit(c->attrs, 2, false, &input, &filter, &conv, &c->output_shapes[0]);
}

static int64_t conv_at(const rheos__conv *c, const operand *x, const operand *f, int64_t batch,
                       int64_t y, int64_t column, int64_t channel) {
  const rheos__window *rows = &c->windows.dims[1], *columns = &c->windows.dims[2];
  const int64_t group = channel / c->group_out, all_out = c->group_out * c->groups;
  uint64_t sum = 0;
  RHEOS__FOR(i, inside, rows, y) {
    RHEOS__FOR(j, inside, columns, column) {
      const int64_t from = batch * c->in.batch + rheos__window_at(rows, y, i) * c->in.dims[1] +
                           rheos__window_at(columns, column, j) * c->in.dims[2] +
                           group * c->group_in * c->in.channel;
      const int64_t weight = (i * columns->kernel + j) * c->group_in * all_out + channel;
      for (int64_t k = 0; k < c->group_in; k++) {
        sum += (uint64_t)number_at(x, from + k * c->in.channel) *
               (uint64_t)number_at(f, weight + k * all_out);
      }
    }
  }
  return (int64_t)sum;
}

static rheos_status *compute_conv(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  const rheos__operands *o = state;
  operand x, f;
  rheos__conv c;
  rheos_shape shape;
  RHEOS_TRY(operand_of(inputs, 0, 2, "input", &x));
  RHEOS_TRY(operand_of(inputs, 1, 4, "filter", &f));
  RHEOS_TRY(rheos__conv_fit(o->attrs, 2, false, &x.tensor->shape, &f.tensor->shape, &c, &shape));
  c.in = rheos__layout_steps(&c.windows.layout, &x.tensor->shape);
  RHEOS_TRY(rheos__tensor_new(o->output_dtypes[0], &shape, &outputs[0]));
  const int64_t channels = shape.dims[3], width = shape.dims[2], height = shape.dims[1];
  for (int64_t i = 0; i < outputs[0]->num_elements; i++) {
    if (i % 1024 == 0 && rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "Step was cancelled.");
    }
    const int64_t pixel = i / channels;
    rheos__set_quantized(o->output_dtypes[0], outputs[0]->data, i,
                         conv_at(&c, &x, &f, pixel / width / height, pixel / width % height,
                                 pixel % width, i % channels));
  }
  return put_product_range(&x, &f, o->output_dtypes[0], outputs);
}

static rheos_status *prepare_conv(rheos__prepare *p) {
  const rheos_attr_value *dilations = rheos__attrs_find(p->attrs, "dilations");
  for (int32_t i = 0; i < dilations->count; i++) {
    if (dilations->ints[i] == 1) continue;
    return RHEOS_INVALID("Current implementation only supports dilated rate as 1.");
  }
  return rheos__answer_compute_operands(p, compute_conv);
}

const rheos__op_def rheos__op_QuantizedConv2D = {
    .name = "QuantizedConv2D",
    .signature =
        "input: Tinput, filter: Tfilter, min_input: float, max_input: float, "
        "min_filter: float, max_filter: float -> output: out_type, min_output: float, "
        "max_output: float; Tinput: " RHEOS__QUANTIZED "; Tfilter: " RHEOS__QUANTIZED
        "; out_type: " RHEOS__QUANTIZED
        " = qint32; strides: list(int); padding: {\"SAME\", \"VALID\"}; "
        "dilations: list(int) = [1, 1, 1, 1]",
    .doc = "The convolution of quantized images with a quantized filter.",
    .shape = shape_conv,
    .prepare = prepare_conv,
};

// ---- QuantizedBiasAdd, QuantizedMul

static rheos_status *shape_bias(rheos__infer *c) {
  rheos_shape bias;
  const rheos_shape *in = &c->input_shapes[0];
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 2));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &bias));
  RHEOS_TRY(rheos__infer_scalars(c, 2, 6));
  if (in->rank > 0 && in->dims[in->rank - 1] >= 0 && bias.dims[0] >= 0 &&
      in->dims[in->rank - 1] != bias.dims[0]) {
    return RHEOS_INVALID(
        "Must provide as many biases as the last dimension of the input tensor: "
        "%lld vs. %lld",
        (long long)bias.dims[0], (long long)in->dims[in->rank - 1]);
  }
  c->output_shapes[0] = *in;
  rheos__infer_range(c);
  return NULL;
}

static rheos_status *shape_binary(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_scalars(c, 2, 6));
  rheos__infer_range(c);
  return rheos__shape_broadcast(&c->input_shapes[0], &c->input_shapes[1], &c->output_shapes[0]);
}

// A range with so many bits to spare that sums of many sums stay within it.
static rheos__range sum_range(const operand *x, const operand *y) {
  const float ends[] = {x->range.highest, -x->range.lowest, y->range.highest, -y->range.lowest};
  float most = ends[0];
  for (int i = 1; i < 4; i++) {
    if (ends[i] > most) most = ends[i];
  }
  most *= (float)(1 << 17);
  return (rheos__range){-most, most};
}

static rheos_status *elementwise(const rheos__operands *o, rheos_tensor *const *inputs,
                                 const char *first, const char *second, bool multiply,
                                 rheos_tensor **outputs) {
  operand x, y;
  rheos_shape shape;
  const rheos_dtype dtype = o->output_dtypes[0];
  RHEOS_TRY(operand_of(inputs, 0, 2, first, &x));
  RHEOS_TRY(operand_of(inputs, 1, 4, second, &y));
  RHEOS_TRY(rheos__shape_broadcast(&x.tensor->shape, &y.tensor->shape, &shape));
  RHEOS_TRY(rheos__tensor_new(dtype, &shape, &outputs[0]));
  const rheos__range range = sum_range(&x, &y);
  for (int64_t i = 0; i < outputs[0]->num_elements; i++) {
    const int64_t at_x = rheos__broadcast_index(&x.tensor->shape, &shape, i);
    const int64_t at_y = rheos__broadcast_index(&y.tensor->shape, &shape, i);
    const int64_t value =
        multiply ? (int64_t)((uint64_t)number_at(&x, at_x) * (uint64_t)number_at(&y, at_y))
                 : rheos__to_quantized(dtype, float_at(&x, at_x), range) +
                       rheos__to_quantized(dtype, float_at(&y, at_y), range);
    rheos__set_quantized(dtype, outputs[0]->data, i, value);
  }
  if (multiply) return put_product_range(&x, &y, dtype, outputs);
  return rheos__put_range(range, outputs);
}

static rheos_status *compute_bias(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                  rheos_tensor **outputs) {
  (void)step;
  return elementwise(state, inputs, "input", "bias", false, outputs);
}
static rheos_status *compute_mul(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  (void)step;
  return elementwise(state, inputs, "x", "y", true, outputs);
}
static rheos_status *prepare_bias(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_bias);
}
static rheos_status *prepare_mul(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_mul);
}

const rheos__op_def rheos__op_QuantizedBiasAdd = {
    .name = "QuantizedBiasAdd",
    .signature =
        "input: T1, bias: T2, min_input: float, max_input: float, min_bias: float, "
        "max_bias: float -> output: out_type, min_out: float, max_out: float; T1: " RHEOS__QUANTIZED
        "; T2: " RHEOS__QUANTIZED "; out_type: " RHEOS__QUANTIZED,
    .doc = "The quantized `input` plus the quantized `bias` along the last dimension.",
    .shape = shape_bias,
    .prepare = prepare_bias,
};

const rheos__op_def rheos__op_QuantizedMul = {
    .name = "QuantizedMul",
    .signature =
        "x: T1, y: T2, min_x: float, max_x: float, min_y: float, max_y: float -> "
        "z: Toutput, min_z: float, max_z: float; T1: " RHEOS__QUANTIZED "; T2: " RHEOS__QUANTIZED
        "; Toutput: " RHEOS__QUANTIZED " = qint32",
    .doc = "`x` times `y` of quantized numbers.",
    .shape = shape_binary,
    .prepare = prepare_mul,
};

// ---- QuantizedMaxPool, QuantizedAvgPool

static const rheos__pool_op pooling = {RHEOS__POOL_MAX, 2, "i>p"};

static rheos_status *shape_pool(rheos__infer *c) {
  rheos_shape image;
  rheos__pool pool;
  RHEOS_TRY(rheos__infer_rank(c, 0, 4, &image));
  RHEOS_TRY(rheos__infer_scalars(c, 1, 3));
  rheos__infer_range(c);
  return rheos__pool_fit(c->attrs, &pooling, &image, NULL, NULL, &pool, &c->output_shapes[0]);
}

// The largest number of a window, or the mean, rounded towards 0.
static int64_t pool_at(const rheos__pool *p, const rheos_tensor *x, bool average, int64_t batch,
                       int64_t y, int64_t column, int64_t channel) {
  const rheos__window *rows = &p->windows.dims[1], *columns = &p->windows.dims[2];
  int64_t sum = 0, most = INT64_MIN, count = 0;
  RHEOS__FOR(i, inside, rows, y) {
    RHEOS__FOR(j, inside, columns, column) {
      const int64_t value = rheos__quantized_at(
          x->dtype, x->data,
          batch * p->in.batch + rheos__window_at(rows, y, i) * p->in.dims[1] +
              rheos__window_at(columns, column, j) * p->in.dims[2] + channel * p->in.channel);
      sum += value, count++;
      if (value > most) most = value;
    }
  }
  if (count == 0) return 0;
  return average ? sum / count : most;
}

static rheos_status *compute_pool(const rheos__operands *o, bool average,
                                  rheos_tensor *const *inputs, rheos_tensor **outputs) {
  const rheos_tensor *x = inputs[0];
  rheos__pool pool;
  rheos_shape shape;
  rheos__range range;
  RHEOS_TRY(rheos__range_of(inputs, 1, false, "input", &range));
  RHEOS_TRY(rheos__pool_fit(o->attrs, &pooling, &x->shape, NULL, NULL, &pool, &shape));
  if (pool.depth != 1) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "pooling of quantized numbers over channels");
  }
  pool.in = rheos__layout_steps(&pool.windows.layout, &x->shape);
  RHEOS_TRY(rheos__tensor_new(x->dtype, &shape, &outputs[0]));
  const int64_t channels = shape.dims[3], width = shape.dims[2], height = shape.dims[1];
  for (int64_t i = 0; i < outputs[0]->num_elements; i++) {
    const int64_t pixel = i / channels;
    rheos__set_quantized(x->dtype, outputs[0]->data, i,
                         pool_at(&pool, x, average, pixel / width / height, pixel / width % height,
                                 pixel % width, i % channels));
  }
  return rheos__put_range(range, outputs);
}

static rheos_status *compute_max_pool(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  (void)step;
  return compute_pool(state, false, inputs, outputs);
}
static rheos_status *compute_avg_pool(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  (void)step;
  return compute_pool(state, true, inputs, outputs);
}
static rheos_status *prepare_max_pool(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_max_pool);
}
static rheos_status *prepare_avg_pool(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_avg_pool);
}

#define POOL_SIGNATURE                                                             \
  "input: T, min_input: float, max_input: float -> output: T, min_output: float, " \
  "max_output: float; T: " RHEOS__QUANTIZED                                        \
  "; ksize: list(int); strides: list(int); padding: {\"SAME\", \"VALID\"}"
const rheos__op_def rheos__op_QuantizedAvgPool = {
    .name = "QuantizedAvgPool",
    .signature = POOL_SIGNATURE,
    .doc = "The mean of each window of quantized images.",
    .shape = shape_pool,
    .prepare = prepare_avg_pool,
};
const rheos__op_def rheos__op_QuantizedMaxPool = {
    .name = "QuantizedMaxPool",
    .signature = POOL_SIGNATURE,
    .doc = "The largest of each window of quantized images.",
    .shape = shape_pool,
    .prepare = prepare_max_pool,
};
