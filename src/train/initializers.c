// Initializers: the nodes that compute a variable's first value, with TensorFlow's names, so that a
// graph's random seeds (which count nodes) give TensorFlow's numbers.
#include <rheos/train.h>

#include <math.h>

#include "graph/dependencies.h"
#include "ops/kit/op_util.h"
#include "train/variables.h"

rheos_initializer rheos_zeros(void) { return (rheos_initializer){.kind = RHEOS_INIT_ZEROS}; }

rheos_initializer rheos_ones(void) { return (rheos_initializer){.kind = RHEOS_INIT_ONES}; }

rheos_initializer rheos_constant_initializer(double value) {
  return (rheos_initializer){.kind = RHEOS_INIT_CONSTANT, .a = value};
}

rheos_initializer rheos_random_uniform_initializer(double minimum, double maximum) {
  return (rheos_initializer){.kind = RHEOS_INIT_UNIFORM, .a = minimum, .b = maximum};
}

rheos_initializer rheos_random_normal_initializer(double mean, double stddev) {
  return (rheos_initializer){.kind = RHEOS_INIT_NORMAL, .a = mean, .b = stddev};
}

rheos_initializer rheos_truncated_normal_initializer(double mean, double stddev) {
  return (rheos_initializer){.kind = RHEOS_INIT_TRUNCATED_NORMAL, .a = mean, .b = stddev};
}

rheos_initializer rheos_glorot_uniform_initializer(void) {
  return (rheos_initializer){.kind = RHEOS_INIT_GLOROT_UNIFORM};
}

rheos_initializer rheos_glorot_normal_initializer(void) {
  return (rheos_initializer){.kind = RHEOS_INIT_GLOROT_NORMAL};
}

static const rheos_output none = {NULL, 0, 0};

static rheos_output int_vector(rheos_scope *s, const rheos_shape *shape, const char *name) {
  int32_t dims[RHEOS_MAX_RANK];
  for (int32_t i = 0; i < shape->rank; i++) {
    if (shape->dims[i] > INT32_MAX) {
      rheos_scope_fail_take(s, RHEOS_INVALID("dimension %lld of a variable does not fit in int32",
                                             (long long)shape->dims[i]));
      return none;
    }
    dims[i] = (int32_t)shape->dims[i];
  }
  return rheos__const_ints(s, dims, shape->rank, name);
}

// A small fill is a constant; a large one is computed, so that it does not swell the graph.
static rheos_output fill(rheos_scope *s, rheos_dtype dtype, const rheos_shape *shape, double value,
                         const char *name) {
  if (dtype == RHEOS_STRING && value == 0) {
    rheos_tensor *empty = NULL;
    rheos_status *status = rheos_tensor_new(RHEOS_STRING, *shape, &empty);
    if (status != NULL) {
      rheos_scope_fail_take(s, status);
      return none;
    }
    rheos_output constant = rheos_constant(s, empty, name);
    rheos_tensor_unref(empty);
    return constant;
  }
  if (rheos_shape_num_elements(shape) < 1000) {
    return rheos__const_fill(s, dtype, *shape, value, name);
  }
  rheos_push_name_scope(s, name);
  rheos_output inputs[] = {int_vector(s, shape, "shape_as_tensor"),
                           rheos__const_scalar(s, dtype, value, "Const")};
  char *node_name = rheos__scope_node_name(s);
  rheos_output result = none;
  if (node_name != NULL) {
    result = rheos_operation_output(rheos__op_n(s, "Fill", node_name, inputs, 2, NULL, 0), 0);
  }
  rheos__free(node_name);
  rheos_scope_pop(s);
  return result;
}

static rheos_output random_op(rheos_scope *s, const rheos_initializer *init, const char *type,
                              rheos_output shape, rheos_dtype dtype) {
  int64_t seed, seed2;
  rheos__graph_op_seeds(rheos_scope_graph(s), init->has_seed, init->seed, &seed, &seed2);
  rheos_attr attrs[] = {rheos_attr_int("seed", seed), rheos_attr_int("seed2", seed2),
                        rheos_attr_type("dtype", dtype)};
  return rheos_operation_output(rheos__op_n(s, type, NULL, &shape, 1, attrs, 3), 0);
}

// The last node of a family carries the family's name.
static rheos_output named_add(rheos_scope *s, rheos_output a, rheos_output b) {
  char *name = rheos__scope_node_name(s);
  if (name == NULL) return none;
  rheos_output inputs[] = {a, b};
  rheos_output sum = rheos_operation_output(rheos__op_n(s, "Add", name, inputs, 2, NULL, 0), 0);
  rheos__free(name);
  return sum;
}

// minimum + (maximum - minimum) * u
static rheos_output uniform(rheos_scope *s, const rheos_initializer *init, double minimum,
                            double maximum, rheos_dtype dtype, const rheos_shape *shape) {
  rheos_push_name_scope(s, "random_uniform");
  rheos_output dims = int_vector(s, shape, "shape");
  rheos_output low = rheos__const_scalar(s, dtype, minimum, "min");
  rheos_output high = rheos__const_scalar(s, dtype, maximum, "max");
  rheos_output u = random_op(s, init, "RandomUniform", dims, dtype);
  rheos_output range = rheos__named_2(s, "Sub", "sub", high, low);
  rheos_output result = named_add(s, rheos__named_2(s, "Mul", "mul", u, range), low);
  rheos_scope_pop(s);
  return result;
}

// mean + stddev * z
static rheos_output normal(rheos_scope *s, const rheos_initializer *init, const char *name,
                           const char *type, double mean, double stddev, rheos_dtype dtype,
                           const rheos_shape *shape) {
  rheos_push_name_scope(s, name);
  rheos_output dims = int_vector(s, shape, "shape");
  rheos_output mean_node = rheos__const_scalar(s, dtype, mean, "mean");
  rheos_output stddev_node = rheos__const_scalar(s, dtype, stddev, "stddev");
  rheos_output z = random_op(s, init, type, dims, dtype);
  rheos_output result = named_add(s, rheos__named_2(s, "Mul", "mul", z, stddev_node), mean_node);
  rheos_scope_pop(s);
  return result;
}

// 1 over the mean of a layer's numbers of inputs and outputs.
static double glorot_scale(const rheos_shape *shape) {
  double in = 1, out = 1;
  if (shape->rank == 1) in = out = (double)shape->dims[0];
  if (shape->rank >= 2) {
    double receptive = 1;
    for (int32_t i = 0; i < shape->rank - 2; i++) receptive *= (double)shape->dims[i];
    in = (double)shape->dims[shape->rank - 2] * receptive;
    out = (double)shape->dims[shape->rank - 1] * receptive;
  }
  double mean = (in + out) / 2;
  return 1 / (mean > 1 ? mean : 1);
}

rheos_output rheos__initial_value(rheos_scope *s, const rheos_initializer *init, rheos_dtype dtype,
                                  const rheos_shape *shape) {
  // A normal distribution cut off at two standard deviations has this standard deviation.
  const double cut_stddev = .87962566103423978;
  rheos_initializer_kind kind = init->kind;
  if (kind == RHEOS_INIT_DEFAULT) {
    kind = rheos_dtype_is_floating(dtype) ? RHEOS_INIT_GLOROT_UNIFORM : RHEOS_INIT_ZEROS;
  }
  if (kind >= RHEOS_INIT_UNIFORM && kind <= RHEOS_INIT_GLOROT_NORMAL &&
      !rheos_dtype_is_floating(dtype)) {
    rheos_scope_fail_take(s, RHEOS_INVALID("Value passed to parameter 'dtype' has DataType %s not "
                                           "in list of allowed values: float16, bfloat16, "
                                           "float32, float64",
                                           rheos__python_dtype(dtype)));
    return none;
  }
  switch (kind) {
    case RHEOS_INIT_ZEROS: return fill(s, dtype, shape, 0, "zeros");
    case RHEOS_INIT_ONES: return fill(s, dtype, shape, 1, "ones");
    case RHEOS_INIT_CONSTANT: return rheos__const_fill(s, dtype, *shape, init->a, NULL);
    case RHEOS_INIT_UNIFORM: return uniform(s, init, init->a, init->b, dtype, shape);
    case RHEOS_INIT_NORMAL:
      return normal(s, init, "random_normal", "RandomStandardNormal", init->a, init->b, dtype,
                    shape);
    case RHEOS_INIT_TRUNCATED_NORMAL:
      return normal(s, init, "truncated_normal", "TruncatedNormal", init->a, init->b, dtype, shape);
    case RHEOS_INIT_GLOROT_UNIFORM: {
      double limit = sqrt(3 * glorot_scale(shape));
      return uniform(s, init, -limit, limit, dtype, shape);
    }
    case RHEOS_INIT_GLOROT_NORMAL:
      return normal(s, init, "truncated_normal", "TruncatedNormal", 0,
                    sqrt(glorot_scale(shape)) / cut_stddev, dtype, shape);
    case RHEOS_INIT_VALUE: return init->value;
    case RHEOS_INIT_DEFAULT: break;
  }
  rheos_scope_fail_take(s, RHEOS_INVALID("initializer of unknown kind %d", (int)init->kind));
  return none;
}
