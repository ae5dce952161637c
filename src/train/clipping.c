// Gradients kept within bounds: the nodes of TensorFlow 1.15's clip_by_... functions.
#include <rheos/train.h>

#include <math.h>
#include <stdio.h>

#include "graph/handles.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/op_util.h"
#include "train/variables.h"

static rheos_output unary(rheos_scope *s, const char *type, const char *name, rheos_output x) {
  if (!rheos__is_some(x)) return x;
  return rheos_operation_output(rheos__op_n(s, type, name, &x, 1, NULL, 0), 0);
}

static bool is_none(rheos_scope *s, rheos_gradient gradient) {
  return rheos_scope_status(s) != NULL || !rheos__is_some(gradient.values);
}

rheos_gradient rheos_clip_gradient_by_value(rheos_scope *s, rheos_gradient gradient, double minimum,
                                            double maximum, const char *name) {
  rheos__node_scope inside;
  if (is_none(s, gradient)) return gradient;
  rheos__push_node_scope(s, name != NULL ? name : "clip_by_value", &inside);
  const rheos_output lower =
      rheos__op_with_number(s, "Minimum", "Minimum", gradient.values, maximum);
  const rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(gradient.values));
  const rheos_output least = rheos__const_scalar(s, dtype, minimum, "y");
  gradient.values = rheos__named_2(s, "Maximum", inside.name, lower, least);
  rheos_scope_pop(s);
  return gradient;
}

// Sum over all dimensions, which stay as ones: by a constant, or a range where the rank is not
// known.
static rheos_output sum_to_ones(rheos_scope *s, rheos_output x) {
  const rheos_shape shape = rheos_output_shape(x);
  rheos_output axes;
  if (shape.rank >= 0) {
    int32_t all[RHEOS_MAX_RANK];
    for (int32_t i = 0; i < shape.rank; i++) all[i] = i;
    axes = rheos__const_ints(s, all, shape.rank, "Const");
  } else {
    axes = rheos__py_range(s, rheos__rank_of(s, x));
  }
  return rheos__sum_over(s, x, axes, true);
}

rheos_gradient rheos_clip_gradient_by_norm(rheos_scope *s, rheos_gradient gradient,
                                           double clip_norm, const char *name) {
  rheos__node_scope inside;
  if (is_none(s, gradient)) return gradient;
  rheos__push_node_scope(s, name != NULL ? name : "clip_by_norm", &inside);
  const rheos_output x = gradient.values;
  const rheos_output total = sum_to_ones(s, rheos__py_mul(s, x, x));
  const rheos_output positive = rheos__op_with_number(s, "Greater", "Greater", total, 0);
  // The root is taken of numbers above 0 alone, so that its gradient is finite.
  const rheos_output safe = rheos__op_3(s, "Select", positive, total, rheos__ones_like(s, total));
  const rheos_output norm = rheos__op_3(s, "Select", positive, unary(s, "Sqrt", NULL, safe), total);
  const rheos_output scaled = rheos__op_with_number(s, "Mul", "mul", x, clip_norm);
  const rheos_output divisor = rheos__op_with_number(s, "Maximum", "Maximum", norm, clip_norm);
  gradient.values = unary(s, "Identity", inside.name, rheos__py_div(s, scaled, divisor));
  rheos_scope_pop(s);
  return gradient;
}

rheos_gradient rheos_clip_gradient_by_average_norm(rheos_scope *s, rheos_gradient gradient,
                                                   double clip_norm, const char *name) {
  rheos__node_scope inside;
  if (is_none(s, gradient)) return gradient;
  if (rheos__is_some(gradient.indices)) {
    rheos_scope_fail_take(s, RHEOS_INVALID("clip_by_average_norm is for dense gradients"));
    return gradient;
  }
  rheos__push_node_scope(s, name != NULL ? name : "clip_by_average_norm", &inside);
  const rheos_output x = gradient.values;
  const rheos_output count = rheos__cast_to(s, rheos__size_of(s, x), RHEOS_FLOAT);
  const rheos_output squares = rheos__py_mul(s, x, x);
  const rheos_output axes = rheos__py_range(s, rheos__rank_of(s, x));
  const rheos_output inverse = unary(s, "Rsqrt", NULL, rheos__sum_over(s, squares, axes, false));
  const rheos_output scaled = rheos__op_with_number(s, "Mul", "mul", x, clip_norm);
  const rheos_output factor = rheos__py_mul(s, inverse, count);
  const rheos_output one = rheos__const_scalar(s, RHEOS_FLOAT, 1, "Const");
  const rheos_output limit = rheos__op_with_number(s, "RealDiv", "truediv", one, clip_norm);
  const rheos_output least = rheos__op_2(s, "Minimum", factor, limit);
  gradient.values = unary(s, "Identity", inside.name, rheos__py_mul(s, scaled, least));
  rheos_scope_pop(s);
  return gradient;
}

rheos_output rheos_global_norm(rheos_scope *s, const rheos_gradient *gradients, size_t count,
                               const char *name) {
  rheos__node_scope inside;
  const rheos_output none = {0};
  rheos_status *status = rheos__check_gradients(rheos_scope_graph(s), gradients, count);
  if (!rheos__scope_goes_on(s, status)) return none;
  rheos_output *halves = rheos__alloc_array(count + 1, sizeof *halves);
  if (halves == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return none;
  }
  rheos__push_node_scope(s, name != NULL ? name : "global_norm", &inside);
  int32_t found = 0;
  for (size_t i = 0; i < count; i++) {
    if (!rheos__is_some(gradients[i].values)) continue;
    rheos_push_colocation(s, rheos_output_operation(gradients[i].values));
    halves[found++] = unary(s, "L2Loss", NULL, gradients[i].values);
    rheos_scope_pop(s);
  }
  rheos_output norm = none;
  if (found == 0) {
    rheos_scope_fail_take(s, RHEOS_INVALID("the global norm of no gradients"));
  } else {
    const int32_t first = 0;
    const rheos_output all = rheos__stack(s, halves, found, 0);
    const rheos_output sum =
        rheos__sum_over(s, all, rheos__const_ints(s, &first, 1, "Const"), false);
    if (rheos__is_some(sum)) {
      const rheos_output two = rheos__const_scalar(s, rheos_output_dtype(sum), 2, "Const");
      norm = unary(s, "Sqrt", "global_norm", rheos__py_mul(s, sum, two));
    }
  }
  rheos_scope_pop(s);
  rheos__free(halves);
  return norm;
}

rheos_output rheos_clip_gradients_by_global_norm(rheos_scope *s, const rheos_gradient *gradients,
                                                 size_t count, double clip_norm, const char *name,
                                                 rheos_gradient *out_gradients) {
  rheos__node_scope inside;
  if (!rheos__scope_goes_on(s, RHEOS_LIST_STATUS(out_gradients, count)) ||
      !rheos__scope_goes_on(s, RHEOS_LIST_STATUS(gradients, count))) {
    return (rheos_output){0};
  }
  for (size_t i = 0; i < count; i++) out_gradients[i] = gradients[i];
  const rheos_output norm = rheos_global_norm(s, gradients, count, name);
  if (!rheos__is_some(norm)) return norm;
  rheos__push_node_scope(s, name != NULL ? name : "clip_by_global_norm", &inside);
  const rheos_dtype dtype = rheos_output_dtype(norm);
  const rheos_output inverse = rheos__op_of_number(s, "RealDiv", "truediv", 1, norm);
  const rheos_output one = rheos__const_scalar(s, dtype, 1, "Const");
  const rheos_output limit = rheos__op_with_number(s, "RealDiv", "truediv", one, clip_norm);
  const rheos_output least = rheos__op_2(s, "Minimum", inverse, limit);
  const rheos_output scale = rheos__op_of_number(s, "Mul", "mul", clip_norm, least);
  const rheos_output finite = unary(s, "IsFinite", NULL, norm);
  const rheos_output nan = rheos__const_scalar(s, dtype, NAN, "Const");
  const rheos_output factor = rheos__op_3(s, "Select", finite, scale, nan);
  for (size_t i = 0; i < count; i++) {
    char own[sizeof inside.name + 32];
    if (!rheos__is_some(out_gradients[i].values)) continue;
    // TensorFlow's name: the scope's own, with its slash, inside itself.
    snprintf(own, sizeof own, "%s_%zu", inside.name, i);
    rheos_push_colocation(s, rheos_output_operation(out_gradients[i].values));
    const rheos_output scaled = rheos__py_mul(s, out_gradients[i].values, factor);
    out_gradients[i].values = unary(s, "Identity", own, scaled);
    rheos_scope_pop(s);
  }
  rheos_scope_pop(s);
  return norm;
}
