// Learning rates as formulas of the step: the nodes are those of TensorFlow 1.15's functions,
// except that a choice is a Select where TensorFlow has a conditional.
#include <rheos/train.h>

#include <math.h>

#include "graph/handles.h"
#include "ops/kit/op_util.h"

// ---- Nodes

static rheos_output unary(rheos_scope *s, const char *type, const char *name, rheos_output x) {
  if (!rheos__is_some(x)) return x;
  return rheos_operation_output(rheos__op_n(s, type, name, &x, 1, NULL, 0), 0);
}

// cast(number, float): whole numbers are constants of int32 and a Cast.
static rheos_output cast_int(rheos_scope *s, int32_t value) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "Cast", &inside);
  const rheos_output x = rheos__const_scalar(s, RHEOS_INT32, value, "x");
  const rheos_attr to = rheos_attr_type("DstT", RHEOS_FLOAT);
  const rheos_operation cast = rheos__op_n(s, "Cast", inside.name, &x, 1, &to, 1);
  rheos_scope_pop(s);
  return rheos_operation_output(cast, 0);
}
static rheos_output cast_number(rheos_scope *s, double value) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "Cast", &inside);
  const rheos_output x = rheos__const_scalar(s, RHEOS_FLOAT, value, "x");
  rheos_scope_pop(s);
  return x;
}
static rheos_output cast_step(rheos_scope *s, rheos_output step) {
  return rheos__cast_to(s, step, RHEOS_FLOAT);
}

static rheos_output times(rheos_scope *s, double value, rheos_output x) {
  return rheos__op_of_number(s, "Mul", "mul", value, x);
}
static rheos_output less(rheos_scope *s, double value, rheos_output x) {
  return rheos__op_of_number(s, "Sub", "sub", value, x);
}
static rheos_output power(rheos_scope *s, rheos_output base, rheos_output exponent) {
  return rheos__named_2(s, "Pow", "Pow", base, exponent);
}

// Opens the schedule's name scope; NULL and an error in `s` unless the step is a number.
static bool begin(rheos_scope *s, const char *name, const char *otherwise, rheos_output step,
                  double learning_rate, rheos__node_scope *inside, rheos_output *out_rate) {
  if (rheos_scope_status(s) != NULL) return false;
  if (!rheos__is_some(step)) {
    rheos_scope_fail_take(s, RHEOS_INVALID("global_step is required for %s", otherwise));
    return false;
  }
  rheos__push_node_scope(s, name != NULL ? name : otherwise, inside);
  *out_rate = rheos__const_scalar(s, RHEOS_FLOAT, learning_rate, "initial_learning_rate");
  return true;
}

// ---- Exponential and inverse

static rheos_output exponential(rheos_scope *s, double learning_rate, rheos_output step,
                                int32_t decay_steps, double decay_rate, rheos_output factor,
                                bool staircase, const char *name) {
  rheos__node_scope inside;
  rheos_output rate;
  if (!begin(s, name, "ExponentialDecay", step, learning_rate, &inside, &rate))
    return (rheos_output){0};
  const rheos_output steps = cast_int(s, decay_steps);
  if (!rheos__is_some(factor)) factor = cast_number(s, decay_rate);
  rheos_output progress = rheos__py_div(s, cast_step(s, step), steps);
  if (staircase) progress = unary(s, "Floor", NULL, progress);
  const rheos_output z = rheos__named_2(s, "Mul", inside.name, rate, power(s, factor, progress));
  rheos_scope_pop(s);
  return z;
}

rheos_output rheos_exponential_decay(rheos_scope *s, double learning_rate, rheos_output step,
                                     int32_t decay_steps, double decay_rate, bool staircase,
                                     const char *name) {
  const rheos_output none = {0};
  return exponential(s, learning_rate, step, decay_steps, decay_rate, none, staircase, name);
}

rheos_output rheos_natural_exp_decay(rheos_scope *s, double learning_rate, rheos_output step,
                                     int32_t decay_steps, double decay_rate, bool staircase,
                                     const char *name) {
  rheos__node_scope inside;
  if (rheos_scope_status(s) != NULL) return (rheos_output){0};
  rheos__push_node_scope(s, "Neg", &inside);
  const rheos_output rate = rheos__const_scalar(s, RHEOS_FLOAT, decay_rate, "x");
  const rheos_output minus = unary(s, "Neg", inside.name, rate);
  rheos_scope_pop(s);
  const rheos_output factor = unary(s, "Exp", NULL, minus);
  return exponential(s, learning_rate, step, decay_steps, 0, factor, staircase, name);
}

rheos_output rheos_inverse_time_decay(rheos_scope *s, double learning_rate, rheos_output step,
                                      int32_t decay_steps, double decay_rate, bool staircase,
                                      const char *name) {
  rheos__node_scope inside;
  rheos_output rate;
  if (!begin(s, name, "InverseTimeDecay", step, learning_rate, &inside, &rate))
    return (rheos_output){0};
  const rheos_output steps = cast_int(s, decay_steps), factor = cast_number(s, decay_rate);
  rheos_output progress = rheos__py_div(s, cast_step(s, step), steps);
  if (staircase) progress = unary(s, "Floor", NULL, progress);
  const rheos_output one =
      rheos__cast_to(s, rheos__const_scalar(s, RHEOS_INT32, 1, "Const"), RHEOS_FLOAT);
  const rheos_output slower =
      rheos__named_2(s, "Add", "Add", one, rheos__named_2(s, "Mul", "Mul", factor, progress));
  const rheos_output z = rheos__named_2(s, "RealDiv", inside.name, rate, slower);
  rheos_scope_pop(s);
  return z;
}

// ---- Polynomial

rheos_output rheos_polynomial_decay(rheos_scope *s, double learning_rate, rheos_output global_step,
                                    int32_t decay_steps, double end_learning_rate, double exponent,
                                    bool cycle, const char *name) {
  rheos__node_scope inside;
  rheos_output rate;
  if (!begin(s, name, "PolynomialDecay", global_step, learning_rate, &inside, &rate)) {
    return (rheos_output){0};
  }
  const rheos_output end = cast_number(s, end_learning_rate), shape = cast_number(s, exponent);
  rheos_output step = cast_step(s, global_step), steps = cast_int(s, decay_steps);
  if (cycle) {
    const rheos_output is_first = rheos__op_with_number(s, "Equal", "Equal", step, 0);
    const rheos_output one = rheos__const_scalar(s, RHEOS_FLOAT, 1, "Const");
    const rheos_output times_over = unary(s, "Ceil", NULL, rheos__py_div(s, step, steps));
    const rheos_output multiplier = rheos__op_3(s, "Select", is_first, one, times_over);
    steps = rheos__named_2(s, "Mul", "Mul", steps, multiplier);
  } else {
    step = rheos__op_with_number(s, "Minimum", "Minimum", step, decay_steps);
  }
  const rheos_output part = rheos__py_div(s, step, steps);
  const rheos_output span = rheos__py_sub(s, rate, end);
  const rheos_output left = power(s, less(s, 1, part), shape);
  const rheos_output z =
      rheos__named_2(s, "Add", inside.name, rheos__named_2(s, "Mul", "Mul", span, left), end);
  rheos_scope_pop(s);
  return z;
}

// ---- Cosines

// 1 + cos(pi x)
static rheos_output one_and_cosine(rheos_scope *s, rheos_output x) {
  const rheos_output pi = rheos__const_scalar(s, RHEOS_FLOAT, M_PI, "Const");
  const rheos_output cosine = unary(s, "Cos", NULL, rheos__py_mul(s, pi, x));
  return rheos__op_of_number(s, "AddV2", "add", 1, cosine);
}

rheos_output rheos_cosine_decay(rheos_scope *s, double learning_rate, rheos_output global_step,
                                int32_t decay_steps, double alpha, const char *name) {
  rheos__node_scope inside;
  rheos_output rate;
  if (!begin(s, name, "CosineDecay", global_step, learning_rate, &inside, &rate))
    return (rheos_output){0};
  const rheos_output steps = cast_int(s, decay_steps);
  const rheos_output step = rheos__op_2(s, "Minimum", cast_step(s, global_step), steps);
  const rheos_output part = rheos__py_div(s, step, steps);
  const rheos_output decayed = times(s, 1 - alpha, times(s, 0.5, one_and_cosine(s, part)));
  const rheos_output factor = rheos__op_with_number(s, "AddV2", "add", decayed, alpha);
  const rheos_output z = rheos__named_2(s, "Mul", "Mul", rate, factor);
  rheos_scope_pop(s);
  return z;
}

// How often the cosine has started anew after `done` first lengths of it, and what part of it is
// over.
static rheos_output restarts_of(rheos_scope *s, rheos_output done, rheos_output longer,
                                double t_mul, rheos_output *out_part) {
  if (t_mul == 1) {
    const rheos_output restarts = unary(s, "Floor", NULL, done);
    *out_part = rheos__py_sub(s, done, restarts);
    return restarts;
  }
  const rheos_output grown = less(s, 1, rheos__py_mul(s, done, less(s, 1, longer)));
  const rheos_output logs =
      rheos__py_div(s, unary(s, "Log", NULL, grown), unary(s, "Log", NULL, longer));
  const rheos_output restarts = unary(s, "Floor", NULL, logs);
  const rheos_output length = rheos__named_2(s, "Pow", "pow", longer, restarts);
  const rheos_output before = rheos__py_div(s, less(s, 1, length), less(s, 1, longer));
  *out_part = rheos__py_div(s, rheos__py_sub(s, done, before), length);
  return restarts;
}

rheos_output rheos_cosine_decay_restarts(rheos_scope *s, double learning_rate,
                                         rheos_output global_step, int32_t first_decay_steps,
                                         double t_mul, double m_mul, double alpha,
                                         const char *name) {
  rheos__node_scope inside;
  rheos_output rate, part = {0};
  if (!begin(s, name, "SGDRDecay", global_step, learning_rate, &inside, &rate))
    return (rheos_output){0};
  const rheos_output steps = cast_int(s, first_decay_steps), floor_rate = cast_number(s, alpha);
  const rheos_output longer = cast_number(s, t_mul), lower = cast_number(s, m_mul);
  const rheos_output done = rheos__py_div(s, cast_step(s, global_step), steps);
  const rheos_output restarts = restarts_of(s, done, longer, t_mul, &part);
  const rheos_output height = rheos__named_2(s, "Pow", "pow", lower, restarts);
  const rheos_output cosine = rheos__py_mul(s, times(s, 0.5, height), one_and_cosine(s, part));
  const rheos_output decayed = rheos__py_mul(s, less(s, 1, floor_rate), cosine);
  const rheos_output z =
      rheos__named_2(s, "Mul", inside.name, rate, rheos__py_add(s, decayed, floor_rate));
  rheos_scope_pop(s);
  return z;
}

rheos_output rheos_linear_cosine_decay(rheos_scope *s, double learning_rate,
                                       rheos_output global_step, int32_t decay_steps,
                                       double num_periods, double alpha, double beta,
                                       const char *name) {
  rheos__node_scope inside;
  rheos_output rate;
  if (!begin(s, name, "LinearCosineDecay", global_step, learning_rate, &inside, &rate)) {
    return (rheos_output){0};
  }
  const rheos_output steps = cast_int(s, decay_steps), periods = cast_number(s, num_periods);
  const rheos_output raised = cast_number(s, alpha), least = cast_number(s, beta);
  const rheos_output step = rheos__op_2(s, "Minimum", cast_step(s, global_step), steps);
  const rheos_output linear = rheos__py_div(s, rheos__py_sub(s, steps, step), steps);
  const rheos_output twice = times(s, 2, periods);
  const rheos_output turns = rheos__py_mul(s, twice, rheos__py_div(s, step, steps));
  const rheos_output cosine = times(s, 0.5, one_and_cosine(s, turns));
  const rheos_output decayed = rheos__py_mul(s, rheos__py_add(s, raised, linear), cosine);
  const rheos_output z =
      rheos__named_2(s, "Mul", inside.name, rate, rheos__py_add(s, decayed, least));
  rheos_scope_pop(s);
  return z;
}

// ---- Steps

rheos_output rheos_piecewise_constant(rheos_scope *s, rheos_output global_step,
                                      const double *boundaries, const double *values, size_t count,
                                      const char *name) {
  rheos__node_scope inside;
  if (rheos_scope_status(s) != NULL) return (rheos_output){0};
  if (!rheos__is_some(global_step)) {
    rheos_scope_fail_take(s, RHEOS_INVALID("global_step is required for PiecewiseConstant"));
    return (rheos_output){0};
  }
  if (!rheos__scope_goes_on(s, RHEOS_LIST_STATUS(boundaries, count)) ||
      !rheos__scope_goes_on(s, RHEOS_LIST_STATUS(values, count + 1))) {
    return (rheos_output){0};
  }
  rheos__push_node_scope(s, name != NULL ? name : "PiecewiseConstant", &inside);
  rheos_output result = rheos__const_scalar(s, RHEOS_FLOAT, values[count], "Const");
  for (size_t i = count; i > 0; i--) {
    const rheos_output value = rheos__const_scalar(s, RHEOS_FLOAT, values[i - 1], "Const");
    const rheos_output is_before =
        rheos__op_with_number(s, "LessEqual", "LessEqual", global_step, boundaries[i - 1]);
    result = rheos__op_3(s, "Select", is_before, value, result);
  }
  rheos_scope_pop(s);
  return result;
}
