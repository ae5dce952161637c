// What several op families share: nodes that many gradients are made of, under the names
// TensorFlow gives them, and small things for kernels and shapes.
#include "ops/kit/op_util.h"

#include <assert.h>
#include <string.h>

#include "base/file.h"
#include "graph/dependencies.h"

rheos_output rheos__named_2(rheos_scope *s, const char *type, const char *name, rheos_output a,
                            rheos_output b) {
  const rheos_output inputs[] = {a, b};
  return rheos_operation_output(rheos__op_n(s, type, name, inputs, 2, NULL, 0), 0);
}

void rheos__push_node_scope(rheos_scope *s, const char *name, rheos__node_scope *out_scope) {
  rheos_push_name_scope(s, name);
  const size_t room = sizeof out_scope->name - 1;
  const size_t length = rheos_scope_name(s, out_scope->name, room);
  if (length >= room) {
    rheos_scope_fail_take(s, RHEOS_INVALID("a name of %zu characters is too long", length));
    out_scope->name[0] = '\0';
    return;
  }
  assert(length + 2 <= sizeof out_scope->name);
  memcpy(out_scope->name + length, "/", 2);
}

rheos_output rheos__op_with_number(rheos_scope *s, const char *type, const char *name,
                                   rheos_output x, double value) {
  if (!rheos__is_some(x)) return x;
  rheos__node_scope inside;
  rheos__push_node_scope(s, name, &inside);
  const rheos_output y = rheos__const_scalar(s, rheos_output_dtype(x), value, "y");
  const rheos_output z = rheos__named_2(s, type, inside.name, x, y);
  rheos_scope_pop(s);
  return z;
}

rheos_output rheos__op_of_number(rheos_scope *s, const char *type, const char *name, double value,
                                 rheos_output x) {
  if (!rheos__is_some(x)) return x;
  rheos__node_scope inside;
  rheos__push_node_scope(s, name, &inside);
  const rheos_output constant = rheos__const_scalar(s, rheos_output_dtype(x), value, "x");
  const rheos_output z = rheos__named_2(s, type, inside.name, constant, x);
  rheos_scope_pop(s);
  return z;
}

static rheos_output sum_named(rheos_scope *s, const char *name, rheos_output x, rheos_output axes,
                              bool keep_dims) {
  const rheos_output inputs[] = {x, axes};
  const rheos_attr keep = rheos_attr_bool("keep_dims", keep_dims);
  return rheos_operation_output(rheos__op_n(s, "Sum", name, inputs, 2, &keep, 1), 0);
}

rheos_output rheos__sum_over(rheos_scope *s, rheos_output x, rheos_output axes, bool keep_dims) {
  return sum_named(s, "Sum", x, axes, keep_dims);
}

rheos_output rheos__sum_axes(rheos_scope *s, rheos_output x, const int32_t *axes, int32_t num_axes,
                             bool keep_dims) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "Sum", &inside);
  const rheos_output constant = num_axes < 0
                                    ? rheos__const_scalar(s, RHEOS_INT32, -1, "reduction_indices")
                                    : rheos__const_ints(s, axes, num_axes, "reduction_indices");
  const rheos_output sum = sum_named(s, inside.name, x, constant, keep_dims);
  rheos_scope_pop(s);
  return sum;
}

// A node of x and a constant vector of dimensions.
static rheos_output op_with_dims(rheos_scope *s, const char *type, const char *argument,
                                 rheos_output x, const rheos_shape *dims) {
  assert(dims->rank >= 0 && dims->rank <= RHEOS_MAX_RANK);
  int32_t values[RHEOS_MAX_RANK];
  for (int32_t d = 0; d < dims->rank; d++) values[d] = (int32_t)dims->dims[d];
  rheos__node_scope inside;
  rheos__push_node_scope(s, type, &inside);
  const rheos_output constant = rheos__const_ints(s, values, dims->rank, argument);
  const rheos_output z = rheos__named_2(s, type, inside.name, x, constant);
  rheos_scope_pop(s);
  return z;
}

rheos_output rheos__reshape_to(rheos_scope *s, rheos_output x, const rheos_shape *shape) {
  return op_with_dims(s, "Reshape", "shape", x, shape);
}

rheos_output rheos__tile_by(rheos_scope *s, rheos_output x, const rheos_shape *multiples) {
  return op_with_dims(s, "Tile", "multiples", x, multiples);
}

rheos_output rheos__first_element(rheos_scope *s, rheos_output vector) {
  const rheos_output none = {NULL, 0, 0};
  rheos_push_name_scope(s, "strided_slice");
  const int32_t zero = 0, one = 1;
  rheos_output inputs[] = {vector, rheos__const_ints(s, &zero, 1, "stack"),
                           rheos__const_ints(s, &one, 1, "stack_1"),
                           rheos__const_ints(s, &one, 1, "stack_2")};
  char *name = rheos__scope_node_name(s);
  rheos_attr shrink = rheos_attr_int("shrink_axis_mask", 1);
  rheos_output element = none;
  if (name != NULL) {
    element =
        rheos_operation_output(rheos__op_n(s, "StridedSlice", name, inputs, 4, &shrink, 1), 0);
  }
  rheos__free(name);
  rheos_scope_pop(s);
  return element;
}

void rheos__unify_indices(rheos_scope *s, rheos_gradient *gradients, size_t count) {
  size_t num_int32 = 0;
  for (size_t i = 0; i < count; i++) {
    num_int32 += rheos_output_dtype(gradients[i].indices) == RHEOS_INT32;
  }
  if (num_int32 == 0 || num_int32 == count) return;
  for (size_t i = 0; i < count; i++) {
    if (rheos_output_dtype(gradients[i].indices) != RHEOS_INT32) continue;
    rheos_attr to = rheos_attr_type("DstT", RHEOS_INT64);
    gradients[i].indices =
        rheos_operation_output(rheos__op_n(s, "Cast", NULL, &gradients[i].indices, 1, &to, 1), 0);
  }
}

rheos_output rheos__py_range(rheos_scope *s, rheos_output limit) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "range", &inside);
  const rheos_output start = rheos__const_scalar(s, RHEOS_INT32, 0, "start");
  const rheos_output delta = rheos__const_scalar(s, RHEOS_INT32, 1, "delta");
  const rheos_output inputs[] = {start, limit, delta};
  const rheos_operation range = rheos__op_n(s, "Range", inside.name, inputs, 3, NULL, 0);
  rheos_scope_pop(s);
  return rheos_operation_output(range, 0);
}

rheos_output rheos__shape_node(rheos_scope *s, rheos_output x) {
  return rheos__op_1(s, "Shape", x);
}

rheos_output rheos__cast_to(rheos_scope *s, rheos_output x, rheos_dtype dtype) {
  if (!rheos__is_some(x) || rheos_dtype_base(rheos_output_dtype(x)) == dtype) return x;
  const rheos_attr to = rheos_attr_type("DstT", dtype);
  return rheos_operation_output(rheos__op_n(s, "Cast", NULL, &x, 1, &to, 1), 0);
}

rheos_output rheos__conj(rheos_scope *s, rheos_output x) {
  if (!rheos__is_some(x) || !rheos_dtype_is_complex(rheos_dtype_base(rheos_output_dtype(x)))) {
    return x;
  }
  return rheos__op_1(s, "Conj", x);
}

rheos_output rheos__zeros_filled(rheos_scope *s, rheos_output dims, rheos_dtype dtype) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "zeros", &inside);
  if (rheos_output_shape(dims).rank != 1) {
    const int32_t any = -1;
    rheos__node_scope reshape;
    rheos__push_node_scope(s, "Reshape", &reshape);
    const rheos_output vector = rheos__const_ints(s, &any, 1, "shape");
    dims = rheos__named_2(s, "Reshape", reshape.name, dims, vector);
    rheos_scope_pop(s);
  }
  const rheos_output zero = rheos__const_scalar(s, dtype, 0, "Const");
  const rheos_output zeros = rheos__named_2(s, "Fill", inside.name, dims, zero);
  rheos_scope_pop(s);
  return zeros;
}

rheos_output rheos__zeros_of_shape(rheos_scope *s, rheos_output x) {
  if (!rheos__is_some(x)) return x;
  const rheos_output dims = rheos__shape_of(s, x, RHEOS_INT32);
  return rheos__zeros_filled(s, dims, rheos_dtype_base(rheos_output_dtype(x)));
}

rheos_output rheos__ones_like(rheos_scope *s, rheos_output x) {
  if (!rheos__is_some(x)) return x;
  rheos__node_scope inside;
  rheos__push_node_scope(s, "ones_like", &inside);
  const rheos_output dims = rheos__shape_of(s, x, RHEOS_INT32);
  const rheos_output one =
      rheos__const_scalar(s, rheos_dtype_base(rheos_output_dtype(x)), 1, "Const");
  const rheos_output ones = rheos__named_2(s, "Fill", inside.name, dims, one);
  rheos_scope_pop(s);
  return ones;
}

rheos_output rheos__zeros_like(rheos_scope *s, rheos_output x) {
  if (!rheos__is_some(x)) return x;
  const rheos_shape shape = rheos_output_shape(x);
  const rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(x));
  if (rheos_shape_is_known(&shape) && dtype != RHEOS_VARIANT) {
    return rheos__const_fill(s, dtype, shape, 0, "zeros_like");
  }
  return rheos_operation_output(rheos__op_n(s, "ZerosLike", "zeros_like", &x, 1, NULL, 0), 0);
}

void rheos__push_after_grad(rheos__grad *g) {
  const rheos_operation from = rheos_output_operation(g->out_grads[0].values);
  rheos_push_control_dependencies(g->scope, &from, from.graph != NULL);
}

// The axes along which operand `a` was repeated to fit `b`; where both are 1 counts for both.
static int32_t repeated_axes(const rheos_shape *a, const rheos_shape *b, int32_t *axes) {
  const int32_t rank = a->rank > b->rank ? a->rank : b->rank;
  assert(rheos_shape_is_known(a) && rheos_shape_is_known(b));
  if (rheos_shape_equal(a, b)) return 0;
  int32_t count = 0;
  for (int32_t d = 0; d < rank; d++) {
    const int32_t i = d - (rank - a->rank);
    if (i < 0 || a->dims[i] == 1) axes[count++] = d;
  }
  return count;
}

// TensorFlow evaluates a node for each pair of shapes that it meets in a graph, and leaves it
// there. Nothing reads it, but default seeds are counts of nodes.
static void leave_broadcast_node(rheos_scope *s, const rheos_shape *shapes) {
  bool first;
  rheos_status *status = rheos__graph_note_shapes(rheos_scope_graph(s), RHEOS__BROADCAST_SHAPES,
                                                  &shapes[0], &shapes[1], &first);
  if (status != NULL) {
    rheos_scope_fail_take(s, status);
    return;
  }
  if (!first) return;
  rheos__node_scope inside;
  rheos__push_node_scope(s, "BroadcastGradientArgs", &inside);
  rheos_output dims[2];
  for (int k = 0; k < 2; k++) {
    int32_t values[RHEOS_MAX_RANK];
    for (int32_t d = 0; d < shapes[k].rank; d++) values[d] = (int32_t)shapes[k].dims[d];
    dims[k] = rheos__const_ints(s, values, shapes[k].rank, k == 0 ? "s0" : "s1");
  }
  rheos__named_2(s, "BroadcastGradientArgs", inside.name, dims[0], dims[1]);
  rheos_scope_pop(s);
}

rheos__unbroadcast rheos__unbroadcast_known(rheos_scope *s, rheos_output x, rheos_output y,
                                            rheos_output grad) {
  rheos__unbroadcast u = {.reduce = {true, true}};
  if (!rheos__is_some(x) || !rheos__is_some(y) || !rheos__is_some(grad)) return u;
  u.shapes[0] = rheos_output_shape(x);
  u.shapes[1] = rheos_output_shape(y);
  const rheos_shape of_grad = rheos_output_shape(grad);
  u.is_static = rheos_shape_is_known(&u.shapes[0]) && rheos_shape_is_known(&u.shapes[1]);
  if (!u.is_static) {
    u.shape_nodes[0] = rheos__shape_node(s, x);
    u.shape_nodes[1] = rheos__shape_node(s, y);
    const rheos_output axes =
        rheos__op_2(s, "BroadcastGradientArgs", u.shape_nodes[0], u.shape_nodes[1]);
    u.axes_nodes[0] = axes;
    u.axes_nodes[1] = rheos_operation_output(rheos_output_operation(axes), 1);
    return u;
  }
  leave_broadcast_node(s, u.shapes);
  for (int k = 0; k < 2; k++) {
    u.reduce[k] = !rheos_shape_equal(&u.shapes[k], &of_grad);
    u.num_axes[k] = repeated_axes(&u.shapes[k], &u.shapes[1 - k], u.axes[k]);
  }
  return u;
}

rheos__unbroadcast rheos__unbroadcast_always(rheos_scope *s, rheos_output x, rheos_output y) {
  rheos__unbroadcast u = {.reduce = {true, true}};
  u.shape_nodes[0] = rheos__shape_of(s, x, RHEOS_INT32);
  u.shape_nodes[1] = rheos__shape_of(s, y, RHEOS_INT32);
  const rheos_output axes =
      rheos__op_2(s, "BroadcastGradientArgs", u.shape_nodes[0], u.shape_nodes[1]);
  u.axes_nodes[0] = axes;
  u.axes_nodes[1] = rheos_operation_output(rheos_output_operation(axes), 1);
  return u;
}

rheos_output rheos__unbroadcast_to(rheos_scope *s, const rheos__unbroadcast *u, int operand,
                                   rheos_output value) {
  assert(operand == 0 || operand == 1);
  if (!u->reduce[operand]) return value;
  if (u->is_static) {
    const rheos_output sum =
        rheos__sum_axes(s, value, u->axes[operand], u->num_axes[operand], false);
    return rheos__reshape_to(s, sum, &u->shapes[operand]);
  }
  const rheos_output sum = rheos__sum_over(s, value, u->axes_nodes[operand], false);
  return rheos__op_2(s, "Reshape", sum, u->shape_nodes[operand]);
}

bool rheos__same_known_shapes(rheos_output x, rheos_output y, rheos_output grad) {
  if (!rheos__is_some(x) || !rheos__is_some(y) || !rheos__is_some(grad)) return false;
  const rheos_shape a = rheos_output_shape(x), b = rheos_output_shape(y);
  const rheos_shape c = rheos_output_shape(grad);
  return rheos_shape_is_known(&a) && rheos_shape_equal(&a, &b) && rheos_shape_equal(&a, &c);
}

rheos_tensor *rheos__constant_value(rheos_output output) {
  if (!rheos__is_some(output)) return NULL;
  const rheos__node *node = rheos__graph_node(output.graph, output.id);
  if ((node->signature->op->flags & RHEOS_OP_CONSTANT) == 0) return NULL;
  return rheos_operation_attr(rheos_output_operation(output), "value").tensor;
}

rheos_status *rheos__shape_of_attr(rheos__infer *c) {
  c->output_shapes[0] = rheos__attr_shape(c->attrs, "shape");
  return NULL;
}

rheos_status *rheos__prepare_alias(rheos__prepare *p) {
  p->alias_input = 0;
  return NULL;
}

rheos_status *rheos__shape_merge_2(rheos__infer *c) {
  return rheos__shape_merge(&c->input_shapes[0], &c->input_shapes[1], &c->output_shapes[0]);
}

int64_t rheos__broadcast_index(const rheos_shape *from, const rheos_shape *to, int64_t index) {
  assert(from->rank <= to->rank && index >= 0);
  int64_t element = 0, step = 1;
  for (int32_t d = to->rank - 1; d >= 0; d--) {
    const int32_t own = d - (to->rank - from->rank);
    const int64_t dim = own >= 0 ? from->dims[own] : 1;
    if (dim != 1) element += index % to->dims[d] * step;
    index /= to->dims[d];
    step *= dim;
  }
  return element;
}

rheos_status *rheos__no_kernel(const rheos__prepare *p, rheos_dtype dtype) {
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "%s is not available for dtype %s", p->op->name,
                          rheos_dtype_name(dtype));
}

rheos_status *rheos__named_resource(const rheos__prepare *p, const rheos__resource_kind *kind,
                                    const void *argument, rheos__resource **out_resource) {
  const char *name = rheos__attr_string(p->attrs, "shared_name");
  const char *container = rheos__attr_string(p->attrs, "container");
  rheos__resources *resources = p->device_resources != NULL ? p->device_resources : p->resources;
  if (name == NULL || name[0] == '\0') name = p->node_name;
  if (container == NULL || container[0] == '\0') {
    return rheos__resources_get(resources, kind, name, argument, out_resource);
  }
  *out_resource = NULL;
  char *full = rheos__name_in_container(container, name);
  if (full == NULL) return rheos__out_of_memory();
  rheos_status *status = rheos__resources_get(resources, kind, full, argument, out_resource);
  rheos__free(full);
  return status;
}

rheos_output rheos__variable_shape(rheos_scope *s, rheos_output handle) {
  rheos_shape room;
  if (rheos_scope_status(s) != NULL) return (rheos_output){NULL, 0, 0};
  // TensorFlow forgets the shape where a handle enters a branch or a loop.
  if (rheos__graph_node(handle.graph, handle.id)->signature->op->flow != RHEOS__FLOW_NONE) {
    return rheos__op_1(s, "VariableShape", handle);
  }
  const rheos_shape *shape =
      rheos__handle_shape(handle.graph, (rheos__edge){handle.id, handle.index}, &room);
  if (shape == NULL || !rheos_shape_is_known(shape)) return rheos__op_1(s, "VariableShape", handle);
  int32_t dims[RHEOS_MAX_RANK];
  for (int32_t d = 0; d < shape->rank; ++d) {
    if (shape->dims[d] > INT32_MAX) return rheos__op_1(s, "VariableShape", handle);
    dims[d] = (int32_t)shape->dims[d];
  }
  return rheos__const_ints(s, dims, shape->rank, "Const");
}
