// Pieces of array gradients. Names follow TensorFlow's Python functions, whose graphs people read
// and whose names they look up.
#include "ops/kit/array_grad.h"

#include "ops/kit/op_util.h"

static const rheos_output none;

rheos_output rheos__named_n(rheos_scope *s, const char *type, const char *name,
                            const rheos_output *inputs, size_t num_inputs, const rheos_attr *attrs,
                            size_t num_attrs) {
  rheos_operation operation = rheos__op_n(s, type, name, inputs, num_inputs, attrs, num_attrs);
  return operation.graph == NULL ? none : rheos_operation_output(operation, 0);
}

rheos_output rheos__size_of(rheos_scope *s, rheos_output x) {
  if (rheos_scope_status(s) != NULL) return none;
  rheos_shape shape = rheos_output_shape(x);
  int64_t count = rheos_shape_num_elements(&shape);
  if (count < 0 || count > INT32_MAX) return rheos__op_1(s, "Size", x);
  return rheos__const_scalar(s, RHEOS_INT32, (double)count, "Size");
}

rheos_output rheos__rank_of(rheos_scope *s, rheos_output x) {
  if (rheos_scope_status(s) != NULL) return none;
  rheos_shape shape = rheos_output_shape(x);
  if (shape.rank < 0) return rheos__op_1(s, "Rank", x);
  return rheos__const_scalar(s, RHEOS_INT32, shape.rank, "Rank");
}

rheos_output rheos__sum_all(rheos_scope *s, rheos_output x) {
  if (rheos_scope_status(s) != NULL) return none;
  rheos_shape shape = rheos_output_shape(x);
  if (shape.rank < 0) {
    rheos_output rank = rheos__rank_of(s, x);
    return rheos__sum_over(s, x, rheos__range(s, none, 0, rank, 0, 1), false);
  }
  int32_t axes[RHEOS_MAX_RANK];
  for (int32_t i = 0; i < shape.rank; ++i) axes[i] = i;
  return rheos__sum_over(s, x, rheos__const_ints(s, axes, shape.rank, "Const"), false);
}

rheos_output rheos__expand_dims(rheos_scope *s, rheos_output x, int32_t dim) {
  rheos__node_scope node;
  rheos__push_node_scope(s, "ExpandDims", &node);
  rheos_output inputs[] = {x, rheos__const_scalar(s, RHEOS_INT32, dim, "dim")};
  rheos_output result = rheos__named_n(s, "ExpandDims", node.name, inputs, 2, NULL, 0);
  rheos_scope_pop(s);
  return result;
}

rheos_output rheos__stack(rheos_scope *s, const rheos_output *values, int32_t count, int32_t axis) {
  rheos_attr attr = rheos_attr_int("axis", axis);
  return rheos__named_n(s, "Pack", "stack", values, (size_t)count, &attr, 1);
}

rheos_output rheos__stack_number(rheos_scope *s, const char *name, rheos_output x, int32_t number) {
  rheos__node_scope node;
  rheos__push_node_scope(s, name, &node);
  rheos_output inputs[] = {x, rheos__const_scalar(s, RHEOS_INT32, number, "1")};
  rheos_output result = rheos__named_n(s, "Pack", node.name, inputs, 2, NULL, 0);
  rheos_scope_pop(s);
  return result;
}

static rheos_output concat_node(rheos_scope *s, const char *name, const rheos_output *values,
                                int32_t count, rheos_output axis) {
  rheos_output *inputs = rheos__alloc_array((size_t)count + 1, sizeof *inputs);
  if (inputs == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return none;
  }
  for (int32_t i = 0; i < count; ++i) inputs[i] = values[i];
  inputs[count] = axis;
  rheos_output result = rheos__named_n(s, "ConcatV2", name, inputs, (size_t)count + 1, NULL, 0);
  rheos__free(inputs);
  return result;
}

rheos_output rheos__concat(rheos_scope *s, const rheos_output *values, int32_t count,
                           int32_t axis) {
  rheos__node_scope node;
  rheos__push_node_scope(s, "concat", &node);
  rheos_output at = rheos__const_scalar(s, RHEOS_INT32, axis, "axis");
  rheos_output result = concat_node(s, node.name, values, count, at);
  rheos_scope_pop(s);
  return result;
}

rheos_output rheos__concat_at(rheos_scope *s, const rheos_output *values, int32_t count,
                              rheos_output axis) {
  return concat_node(s, "concat", values, count, axis);
}

static rheos_output number_or(rheos_scope *s, rheos_output tensor, int32_t number,
                              const char *name) {
  return rheos__is_some(tensor) ? tensor : rheos__const_scalar(s, RHEOS_INT32, number, name);
}

rheos_output rheos__range(rheos_scope *s, rheos_output start, int32_t start_number,
                          rheos_output limit, int32_t limit_number, int32_t delta) {
  rheos__node_scope node;
  rheos__push_node_scope(s, "range", &node);
  rheos_output inputs[3];
  inputs[0] = number_or(s, start, start_number, "start");
  inputs[1] = number_or(s, limit, limit_number, "limit");
  inputs[2] = number_or(s, none, delta, "delta");
  rheos_output result = rheos__named_n(s, "Range", node.name, inputs, 3, NULL, 0);
  rheos_scope_pop(s);
  return result;
}

rheos_output rheos__gather(rheos_scope *s, rheos_output params, rheos_output indices) {
  rheos__node_scope node;
  rheos__push_node_scope(s, "GatherV2", &node);
  rheos_output axis = rheos__const_scalar(s, RHEOS_INT32, 0, "axis");
  rheos_output inputs[] = {params, indices, axis};
  rheos_output result = rheos__named_n(s, "GatherV2", node.name, inputs, 3, NULL, 0);
  rheos_scope_pop(s);
  return result;
}

// A bound as a vector of one element.
static rheos_output bound_vector(rheos_scope *s, rheos__bound bound, const char *name) {
  if (bound.present && rheos__is_some(bound.tensor)) {
    return rheos__named_n(s, "Pack", name, &bound.tensor, 1, NULL, 0);
  }
  int32_t number = bound.present ? bound.number : 0;
  return rheos__const_ints(s, &number, 1, name);
}

static rheos_output vector_slice(rheos_scope *s, rheos_output x, rheos_output begin,
                                 rheos_output end, const char *node_name, const rheos_attr *masks) {
  int32_t one = 1;
  rheos_output inputs[] = {x, begin, end, rheos__const_ints(s, &one, 1, "stack_2")};
  return rheos__named_n(s, "StridedSlice", node_name, inputs, 4, masks, 3);
}

rheos_output rheos__vector_slice(rheos_scope *s, rheos_output x, rheos__bound begin,
                                 rheos__bound end) {
  rheos__node_scope node;
  rheos__push_node_scope(s, "strided_slice", &node);
  rheos_output first = bound_vector(s, begin, "stack");
  rheos_output last = bound_vector(s, end, "stack_1");
  rheos_attr masks[] = {rheos_attr_int("begin_mask", !begin.present),
                        rheos_attr_int("end_mask", !end.present),
                        rheos_attr_int("shrink_axis_mask", 0)};
  rheos_output result = vector_slice(s, x, first, last, node.name, masks);
  rheos_scope_pop(s);
  return result;
}

rheos_output rheos__vector_at(rheos_scope *s, rheos_output x, rheos_output at) {
  rheos_output after = rheos__op_with_number(s, "AddV2", "add", at, 1);
  rheos__node_scope node;
  rheos__push_node_scope(s, "strided_slice", &node);
  rheos_output first = rheos__named_n(s, "Pack", "stack", &at, 1, NULL, 0);
  rheos_output last = rheos__named_n(s, "Pack", "stack_1", &after, 1, NULL, 0);
  rheos_attr masks[] = {rheos_attr_int("begin_mask", 0), rheos_attr_int("end_mask", 0),
                        rheos_attr_int("shrink_axis_mask", 1)};
  rheos_output result = vector_slice(s, x, first, last, node.name, masks);
  rheos_scope_pop(s);
  return result;
}

rheos_output rheos__flatten(rheos_scope *s, rheos_output x) {
  rheos__node_scope node;
  rheos__push_node_scope(s, "Reshape", &node);
  int32_t any = -1;
  rheos_output inputs[] = {x, rheos__const_ints(s, &any, 1, "shape")};
  rheos_output result = rheos__named_n(s, "Reshape", node.name, inputs, 2, NULL, 0);
  rheos_scope_pop(s);
  return result;
}

rheos_output rheos__transpose_by(rheos_scope *s, rheos_output x, rheos_output perm,
                                 bool conjugate) {
  rheos_output inputs[] = {x, perm};
  return rheos__named_n(s, conjugate ? "ConjugateTranspose" : "Transpose", "transpose", inputs, 2,
                        NULL, 0);
}

size_t rheos__bad_indices_attr(const rheos__grad *g, rheos_attr *out_attr) {
  const rheos_attr_value *policy = rheos__attrs_find(g->attrs, "bad_indices_policy");
  if (policy == NULL || policy->s.size_bytes == 0) return 0;
  *out_attr = (rheos_attr){"bad_indices_policy", *policy};
  return 1;
}
