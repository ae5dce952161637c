// Gradients of loops. What leaves the loop forward enters the loop backward, and the other way
// round; what a Switch passes on forward comes together in a Merge backward. What is the same in
// all trips gets the sum of its gradients in all of them. Nodes and names are those of
// TensorFlow 1.15.
#include "ops/flow/loop_grad.h"

#include "ops/kit/op_util.h"

static const rheos_output none = {NULL, 0, 0};

static bool is_sparse(const rheos_gradient *gradient) { return rheos__is_some(gradient->indices); }

static void fail(rheos_scope *s, const char *message) {
  rheos_scope_fail_take(s, rheos_status_new(RHEOS_UNIMPLEMENTED, "%s", message));
}

void rheos__refuse_second_order(rheos_scope *s) {
  fail(s,
       "Second-order gradient for while loops not supported. Loops that are functions have them: "
       "enable_control_flow_v2() makes all loops so.");
}

rheos__backward_loop *rheos__grad_loop(const rheos__grad *g) {
  const rheos_control_context *context = rheos_scope_control_context(g->scope);
  context = rheos__while_context((rheos_control_context *)(uintptr_t)context);
  return context != NULL ? context->backward : NULL;
}

// ---- The parts of a gradient: its values, its indices, its dense shape

enum { NUM_PARTS = 3 };

static rheos_output part_of(const rheos_gradient *gradient, int part) {
  const rheos_output parts[NUM_PARTS] = {gradient->values, gradient->indices,
                                         gradient->dense_shape};
  return parts[part];
}

static void set_part(rheos_gradient *gradient, int part, rheos_output value) {
  if (part == 0) gradient->values = value;
  if (part == 1) gradient->indices = value;
  if (part == 2) gradient->dense_shape = value;
}

// Of a sparse gradient nodes are below `name`, by their types.
static bool push_below(rheos_scope *s, const char *name, const rheos_gradient *gradient) {
  if (!is_sparse(gradient)) return false;
  rheos_push_name_scope(s, name);
  return true;
}

void rheos__switch_gradient(rheos_scope *s, const char *name, const rheos_gradient *gradient,
                            rheos_output pred, rheos_gradient out_sides[2]) {
  out_sides[0] = out_sides[1] = (rheos_gradient){none, none, none};
  if (rheos_scope_status(s) != NULL) return;
  rheos_push_colocation(s, (rheos_operation){NULL, 0});
  rheos_push_colocation(s, rheos_output_operation(gradient->values));
  const bool below = push_below(s, name, gradient);
  for (int part = 0; part < NUM_PARTS; ++part) {
    const rheos_output inputs[] = {part_of(gradient, part), pred};
    if (!rheos__is_some(inputs[0])) continue;
    const rheos_operation sides = rheos__op_n(s, "Switch", below ? NULL : name, inputs, 2, NULL, 0);
    for (int i = 0; i < 2; ++i) set_part(&out_sides[i], part, rheos_operation_output(sides, i));
  }
  if (below) rheos_scope_pop(s);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
}

// The rows of a dense gradient with their numbers.
static rheos_gradient as_slices(rheos_scope *s, const rheos_gradient *gradient) {
  if (is_sparse(gradient)) return *gradient;
  const rheos_output shape = rheos__shape_node(s, gradient->values);
  const rheos_output count = rheos__first_element(s, shape);
  return (rheos_gradient){gradient->values, rheos__py_range(s, count), shape};
}

rheos_gradient rheos__merge_gradients(rheos_scope *s, const char *name,
                                      const rheos_gradient gradients[2]) {
  rheos_gradient merged = {none, none, none};
  const bool sparse = is_sparse(&gradients[0]) || is_sparse(&gradients[1]);
  if (sparse) rheos_push_name_scope(s, name);
  rheos_gradient both[2] = {gradients[0], gradients[1]};
  for (int i = 0; sparse && i < 2; ++i) both[i] = as_slices(s, &both[i]);
  if (sparse) rheos__unify_indices(s, both, 2);
  for (int part = 0; part < NUM_PARTS && rheos_scope_status(s) == NULL; ++part) {
    const rheos_output inputs[] = {part_of(&both[0], part), part_of(&both[1], part)};
    if (!rheos__is_some(inputs[0]) || !rheos__is_some(inputs[1])) continue;
    const rheos_operation merge = rheos__op_n(s, "Merge", sparse ? NULL : name, inputs, 2, NULL, 0);
    set_part(&merged, part, rheos_operation_output(merge, 0));
  }
  if (sparse) rheos_scope_pop(s);
  return merged;
}

// ---- Switch and Merge of a loop's variable

static rheos__backward_merge *merge_for(rheos__backward_loop *b, int32_t switch_id) {
  for (size_t i = 0; i < b->num_merges; ++i) {
    if (b->merges[i].switch_id == switch_id) return &b->merges[i];
  }
  return NULL;
}

// What comes back from the body, to the Merge that began with what the Exit gave.
static void lead_back(rheos_scope *s, const rheos_gradient *merged, rheos__grad *g) {
  rheos_gradient next = g->out_grads[1];
  if (is_sparse(merged)) {
    next = as_slices(s, &next);
    if (rheos__is_some(merged->dense_shape) != rheos__is_some(next.dense_shape)) {
      fail(s, "sparse gradients of a loop's variable, of which only some have a dense shape");
    }
  } else {
    next.values = rheos__grad_dense(g, 1);
    next.indices = next.dense_shape = none;
  }
  for (int part = 0; part < NUM_PARTS && rheos_scope_status(s) == NULL; ++part) {
    if (!rheos__is_some(part_of(&next, part))) continue;
    const rheos_output value = rheos__op_1(s, "NextIteration", part_of(&next, part));
    rheos__backward_lead_back(s, part_of(merged, part), value);
  }
}

// Comes twice: with the gradient of the Exit, then with that of the body.
void rheos__gradient_loop_switch(rheos__grad *g) {
  rheos__backward_loop *b = rheos__grad_loop(g);
  if (b == NULL) {
    fail(g->scope, "the gradient of a loop's variable inside of the loop");
    return;
  }
  const rheos__backward_merge *known = merge_for(b, g->operation.id);
  if (known != NULL) {
    if (rheos__is_some(g->out_grads[1].values)) lead_back(g->scope, &known->merged, g);
    return;
  }
  if (!rheos__is_some(g->out_grads[0].values)) return;
  const rheos_gradient both[] = {g->out_grads[0], g->out_grads[0]};
  const rheos_gradient merged = rheos__merge_gradients(g->scope, "b_switch", both);
  if (!RHEOS_RESERVE(b->merges, b->merges_capacity, b->num_merges + 1)) {
    rheos_scope_fail_take(g->scope, rheos__out_of_memory());
    return;
  }
  b->merges[b->num_merges++] = (rheos__backward_merge){g->operation.id, merged};
  g->in_grads[0] = merged;
}

void rheos__gradient_loop_merge(rheos__grad *g) {
  const rheos_control_context *context = rheos_scope_control_context(g->scope);
  if (context == NULL || !context->is_while || context->pivot.id < 0) {
    fail(g->scope, "the gradient of a loop's variable inside of the loop");
    return;
  }
  const rheos_output pivot = {g->operation.graph, context->pivot.id, context->pivot.index};
  rheos_gradient sides[2];
  rheos__switch_gradient(g->scope, "Switch", &g->out_grads[0], pivot, sides);
  for (int32_t i = 0; i < 2 && i < g->num_inputs; ++i) g->in_grads[i] = sides[i];
}

// ---- Exit, NextIteration

void rheos__gradient_exit(rheos__grad *g) {
  rheos_control_context *context = rheos_scope_control_context(g->scope);
  const rheos_control_context *own = rheos__context_of(g->operation.graph, g->operation.id);
  if (context == NULL || context->backward == NULL) {
    fail(g->scope, "the gradient of a loop that has no context");
    return;
  }
  if (!context->back_prop) return;
  if (own != NULL && own->backward != NULL) {
    rheos__refuse_second_order(g->scope);
    return;
  }
  const bool sparse = is_sparse(&g->out_grads[0]);
  for (int part = 0; part < NUM_PARTS; ++part) {
    const rheos_output value = part_of(&g->out_grads[0], part);
    if (!rheos__is_some(value)) continue;
    set_part(&g->in_grads[0], part,
             rheos__backward_enter(g->scope, context, value, true, sparse ? NULL : "b_exit"));
  }
}

void rheos__gradient_next_iteration(rheos__grad *g) { g->in_grads[0] = g->out_grads[0]; }

// ---- Sums over the trips

// Nodes until the pop are around the loop backward.
static void push_around(rheos_scope *s, const rheos__backward_loop *b) {
  rheos_control_context *around = b->backward->outer;
  rheos_push_control_context(s, around != NULL ? around : b->called_in);
}

// The shape of what enters the loop forward, where the loop backward is entered.
static rheos_output shape_of_invariant(rheos_scope *s, const rheos__backward_loop *b,
                                       rheos_output value) {
  if (rheos_output_dtype(value) == RHEOS_RESOURCE) {
    push_around(s, b);
    const rheos_output shape = rheos__variable_shape(s, value);
    rheos_scope_pop(s);
    return shape;
  }
  rheos_control_context *around = b->backward->outer;
  if (b->outer == NULL || around == NULL || !around->is_while || around->backward == NULL) {
    push_around(s, b);
    const rheos_output shape = rheos__shape_node(s, value);
    rheos_scope_pop(s);
    return shape;
  }
  rheos_push_control_context(s, b->forward->outer);
  const rheos_output shape = rheos__shape_node(s, value);
  rheos_scope_pop(s);
  if (rheos_scope_status(s) != NULL) return shape;
  const rheos_output stack = rheos__backward_push(s, b->outer, shape, false);
  push_around(s, b);
  const rheos_output popped = rheos__backward_pop(s, b->outer, stack, shape, false);
  rheos_scope_pop(s);
  return popped;
}

static rheos_output zeros_like_invariant(rheos__grad *g, const rheos__backward_loop *b,
                                         rheos_output gradient) {
  rheos_scope *s = g->scope;
  const rheos_shape shape = rheos_output_shape(gradient);
  const rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(gradient));
  rheos_output zeros;
  if (rheos_shape_is_known(&shape)) {
    push_around(s, b);
    zeros = rheos__const_fill(s, dtype, shape, 0, "b_acc");
  } else {
    const rheos_output dims = shape_of_invariant(s, b, g->inputs[0]);
    push_around(s, b);
    zeros = rheos__zeros_filled(s, dims, dtype);
  }
  rheos_scope_pop(s);
  return zeros;
}

static rheos_output merge_twice(rheos_scope *s, rheos_output enter) {
  const rheos_output both[] = {enter, enter};
  return rheos_operation_output(rheos__op_n(s, "Merge", "b_acc", both, 2, NULL, 0), 0);
}

static rheos_operation switch_by_pivot(rheos_scope *s, const rheos_control_context *context,
                                       rheos_output merged) {
  const rheos_output inputs[] = {merged, {merged.graph, context->pivot.id, context->pivot.index}};
  return rheos__op_n(s, "Switch", NULL, inputs, 2, NULL, 0);
}

static void accumulate(rheos__grad *g, rheos__backward_loop *b) {
  rheos_scope *s = g->scope;
  rheos_control_context *context = b->backward;
  const rheos_output gradient = g->out_grads[0].values;
  const rheos_output zeros = zeros_like_invariant(g, b, gradient);
  const rheos_output enter = rheos__backward_enter(s, context, zeros, true, "b_acc");
  const rheos_output merged = merge_twice(s, enter);
  const rheos_operation sides = switch_by_pivot(s, context, merged);
  const rheos_output sum = rheos__op_2(s, "Add", rheos_operation_output(sides, 1), gradient);
  rheos__backward_lead_back(s, merged, rheos__op_1(s, "NextIteration", sum));
  rheos__grad_set(g, 0,
                  rheos__backward_exit(s, context, rheos_operation_output(sides, 0), "b_acc"));
}

// ---- Sparse ones: rows are collected

// A row of zeros, at index 0.
static rheos_output first_row(rheos__grad *g, const rheos__backward_loop *b, rheos_output values) {
  rheos_scope *s = g->scope;
  rheos_shape shape = rheos_output_shape(values);
  const rheos_dtype dtype = rheos_output_dtype(values);
  if (shape.rank > 0 && !rheos_shape_is_known(&shape)) {
    rheos_shape rest = shape;
    rest.dims[0] = 1;
    if (rheos_shape_is_known(&rest)) shape.dims[0] = 1;
  }
  if (rheos_shape_is_known(&shape) && shape.rank > 0) {
    shape.dims[0] = 1;
    push_around(s, b);
    const rheos_output zeros = rheos__const_fill(s, dtype, shape, 0, "b_acc");
    rheos_scope_pop(s);
    return zeros;
  }
  const rheos_output dims = shape_of_invariant(s, b, g->inputs[0]);
  push_around(s, b);
  const int32_t zero = 0, one = 1;
  const rheos_output inputs[] = {dims, rheos__const_ints(s, &one, 1, "b_acc/begin"),
                                 rheos__const_ints(s, &zero, 1, "b_acc/end"),
                                 rheos__const_ints(s, &one, 1, "b_acc/strides")};
  const rheos_attr mask = rheos_attr_int("end_mask", 1);
  const rheos_operation rest = rheos__op_n(s, "StridedSlice", NULL, inputs, 4, &mask, 1);
  const rheos_output parts[] = {rheos__const_ints(s, &one, 1, "b_acc/rows"),
                                rheos_operation_output(rest, 0),
                                rheos__const_scalar(s, RHEOS_INT32, 0, "b_acc/axis")};
  const rheos_operation whole = rheos__op_n(s, "ConcatV2", "concat", parts, 3, NULL, 0);
  const rheos_output zeros = rheos__zeros_filled(s, rheos_operation_output(whole, 0), dtype);
  rheos_scope_pop(s);
  return zeros;
}

static rheos_output first_dense_shape(rheos__grad *g, const rheos__backward_loop *b,
                                      rheos_output dense_shape) {
  rheos_scope *s = g->scope;
  const rheos_shape shape = rheos_output_shape(dense_shape);
  const rheos_dtype dtype = rheos_output_dtype(dense_shape);
  if (rheos_shape_is_known(&shape)) {
    push_around(s, b);
    const rheos_output zeros = rheos__const_fill(s, dtype, shape, 0, "Const");
    rheos_scope_pop(s);
    return zeros;
  }
  rheos_output dims = shape_of_invariant(s, b, g->inputs[0]);
  push_around(s, b);
  dims = rheos__cast_to(s, dims, dtype);
  const rheos_output zeros =
      rheos_operation_output(rheos__op_n(s, "ZerosLike", "zeros_like", &dims, 1, NULL, 0), 0);
  rheos_scope_pop(s);
  return zeros;
}

// Rows may be of any number.
static void set_any_rows(rheos_scope *s, rheos_output enter, const rheos_shape *like) {
  rheos_shape shape = *like;
  if (rheos_scope_status(s) != NULL || shape.rank < 1) return;
  shape.dims[0] = -1;
  rheos_scope_fail_take(s, rheos_output_set_shape(enter, shape));
}

// What a part is after a trip.
static rheos_output next_part(rheos_scope *s, int part, rheos_output so_far, rheos_output more) {
  if (part == 2) return rheos__op_2(s, "Maximum", more, so_far);
  rheos__node_scope inside;
  rheos__push_node_scope(s, "concat", &inside);
  const rheos_output inputs[] = {so_far, more, rheos__const_scalar(s, RHEOS_INT32, 0, "axis")};
  const rheos_operation all = rheos__op_n(s, "ConcatV2", inside.name, inputs, 3, NULL, 0);
  rheos_scope_pop(s);
  return rheos_operation_output(all, 0);
}

static void accumulate_slices(rheos__grad *g, rheos__backward_loop *b) {
  rheos_scope *s = g->scope;
  rheos_control_context *context = b->backward;
  const rheos_gradient *gradient = &g->out_grads[0];
  // In TensorFlow's order of nodes: indices before values.
  static const int order[] = {1, 0, 2};
  const int count = rheos__is_some(gradient->dense_shape) ? 3 : 2;
  rheos_output first[NUM_PARTS], merged[NUM_PARTS], next[NUM_PARTS];
  rheos_operation sides[NUM_PARTS];
  first[0] = first_row(g, b, gradient->values);
  push_around(s, b);
  first[1] =
      rheos__const_fill(s, rheos_output_dtype(gradient->indices), RHEOS_SHAPE(1), 0, "Const");
  rheos_scope_pop(s);
  if (count == 3) first[2] = first_dense_shape(g, b, gradient->dense_shape);
  for (int i = 0; i < count; ++i) {
    const int part = order[i];
    merged[part] = rheos__backward_enter(s, context, first[part], false, "b_acc");
  }
  if (rheos_scope_status(s) != NULL) return;
  const rheos_shape vector = RHEOS_SHAPE(1), row = rheos_output_shape(first[0]);
  set_any_rows(s, merged[1], &vector);
  set_any_rows(s, merged[0], &row);
  for (int i = 0; i < count; ++i) merged[order[i]] = merge_twice(s, merged[order[i]]);
  for (int i = 0; i < count; ++i) {
    sides[order[i]] = switch_by_pivot(s, context, merged[order[i]]);
  }
  for (int i = 0; i < count; ++i) {
    const int part = order[i];
    next[part] =
        next_part(s, part, rheos_operation_output(sides[part], 1), part_of(gradient, part));
  }
  for (int i = 0; i < count; ++i) next[order[i]] = rheos__op_1(s, "NextIteration", next[order[i]]);
  for (int i = 0; i < count; ++i) rheos__backward_lead_back(s, merged[order[i]], next[order[i]]);
  for (int i = 0; i < count; ++i) {
    const int part = order[i];
    set_part(&g->in_grads[0], part,
             rheos__backward_exit(s, context, rheos_operation_output(sides[part], 0), "b_acc"));
  }
}

// ---- Enter

void rheos__gradient_enter(rheos__grad *g) {
  rheos_control_context *context = rheos_scope_control_context(g->scope);
  if (context == NULL || !context->back_prop || context->backward == NULL) {
    g->in_grads[0] = g->out_grads[0];
    return;
  }
  if (rheos__attr_bool(g->attrs, "is_constant")) {
    (is_sparse(&g->out_grads[0]) ? accumulate_slices : accumulate)(g, context->backward);
    return;
  }
  for (int part = 0; part < NUM_PARTS; ++part) {
    const rheos_output value = part_of(&g->out_grads[0], part);
    if (!rheos__is_some(value)) continue;
    set_part(&g->in_grads[0], part, rheos__backward_exit(g->scope, context, value, NULL));
  }
}
