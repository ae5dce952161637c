// What differentiating loops needs beside the gradients of their nodes.
#include "autodiff/loops.h"

#include <string.h>

#include "graph/graph_impl.h"
#include "ops/kit/op_util.h"

static rheos__flow_role role_of(const rheos_graph *graph, int32_t id) {
  return rheos__graph_node(graph, id)->signature->op->flow;
}

bool rheos__is_loop_exit(const rheos_graph *graph, int32_t id) {
  return role_of(graph, id) == RHEOS__FLOW_EXIT;
}

bool rheos__is_loop_switch(const rheos_graph *graph, int32_t id) {
  if (role_of(graph, id) != RHEOS__FLOW_SWITCH) return false;
  const rheos_control_context *context = rheos__context_of(graph, id);
  const rheos__node *node = rheos__graph_node(graph, id);
  return context != NULL && context->is_while && node->num_inputs == 2 &&
         node->edges[1].id == context->pivot.id;
}

// ---- The list

static rheos__loop *find(const rheos__loops *loops, rheos_control_context *context) {
  context = rheos__while_context(context);
  for (size_t i = 0; context != NULL && i < loops->count; i++) {
    if (loops->items[i].forward == context) return &loops->items[i];
  }
  return NULL;
}

rheos__loop *rheos__loops_find(const rheos__loops *loops, const rheos_graph *graph, int32_t id) {
  return loops->count > 0 ? find(loops, rheos__context_of(graph, id)) : NULL;
}

rheos__loop *rheos__loops_find_output(const rheos__loops *loops, const rheos_graph *graph,
                                      int32_t id) {
  return loops->count > 0 ? find(loops, rheos__output_context_of(graph, id)) : NULL;
}

static bool copy_ends(rheos__loop *loop) {
  const rheos_control_context *forward = loop->forward;
  const size_t num_exits = (size_t)forward->num_exits, num_enters = (size_t)forward->num_enters;
  loop->exits = rheos__alloc_array(3 * num_exits + num_enters + 1, sizeof(int32_t));
  if (loop->exits == NULL) return false;
  loop->unused = loop->exits + num_exits;
  loop->deferred = loop->unused + num_exits;
  loop->enters = loop->deferred + num_exits;
  for (size_t i = 0; i < num_exits; i++) {
    if (forward->exits[i].id >= 0) loop->exits[loop->num_exits++] = forward->exits[i].id;
  }
  for (size_t i = 0; i < num_enters; i++) {
    if (forward->enters[i].id >= 0) loop->enters[loop->num_enters++] = forward->enters[i].id;
  }
  loop->num_pending = loop->num_exits;
  return true;
}

rheos__loop *rheos__loops_add(rheos__loops *loops, rheos_scope *s, int32_t exit) {
  rheos_control_context *forward = rheos__while_context(rheos__context_of(s->graph, exit));
  if (s->status != NULL || forward == NULL || find(loops, forward) != NULL) return NULL;
  rheos__loop loop = {.forward = forward};
  if (!RHEOS_RESERVE(loops->items, loops->capacity, loops->count + 1) || !copy_ends(&loop)) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return NULL;
  }
  const rheos__loop *outer = find(loops, forward->outer);
  loop.backward = rheos__backward_loop_new(s, forward, outer != NULL ? outer->backward : NULL);
  if (loop.backward == NULL) {
    rheos__free(loop.exits);
    return NULL;
  }
  loops->items[loops->count] = loop;
  return &loops->items[loops->count++];
}

void rheos__loops_deinit(rheos__loops *loops) {
  for (size_t i = 0; i < loops->count; i++) rheos__free(loops->items[i].exits);
  rheos__free(loops->items);
}

// ---- Zeros

// zeros(shape) of a known shape: a constant, if it is small.
static rheos_output zeros_of(rheos_scope *s, const rheos_shape *shape, rheos_dtype dtype) {
  double count = 1;
  for (int32_t d = 0; d < shape->rank; d++) count *= (double)shape->dims[d];
  if (count < 1000) return rheos__const_fill(s, dtype, *shape, 0, "zeros");
  rheos__node_scope inside;
  rheos__push_node_scope(s, "zeros", &inside);
  int32_t dims[RHEOS_MAX_RANK];
  for (int32_t d = 0; d < shape->rank; d++) dims[d] = (int32_t)shape->dims[d];
  const rheos_output fill[] = {rheos__const_ints(s, dims, shape->rank, "shape_as_tensor"),
                               rheos__const_scalar(s, dtype, 0, "Const")};
  const rheos_operation zeros = rheos__op_n(s, "Fill", inside.name, fill, 2, NULL, 0);
  rheos_scope_pop(s);
  return rheos_operation_output(zeros, 0);
}

rheos_output rheos__zeros_for_exit(const rheos__loops *loops, rheos_scope *s, rheos_output exit) {
  const rheos_shape shape = rheos_output_shape(exit);
  const rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(exit));
  rheos_control_context *forward = rheos__context_of(s->graph, exit.id);
  const rheos__loop *outer = find(loops, forward->outer);
  if (outer == NULL) {
    if (rheos_shape_is_known(&shape)) return zeros_of(s, &shape, dtype);
    return rheos_operation_output(rheos__op_n(s, "ZerosLike", "zeros_like", &exit, 1, NULL, 0), 0);
  }
  rheos_output zeros;
  rheos__backward_loop *b = outer->backward;
  if (rheos_shape_is_known(&shape)) {
    rheos_push_control_context(s, b->backward);
    zeros = zeros_of(s, &shape, dtype);
    rheos_scope_pop(s);
    return zeros;
  }
  rheos_push_control_context(s, forward->outer);
  const rheos_output dims = rheos__op_1(s, "Shape", exit);
  rheos_scope_pop(s);
  if (s->status != NULL) return exit;
  const rheos_output stack = rheos__backward_push(s, b, dims, false);
  rheos_push_control_context(s, b->backward);
  zeros = rheos__zeros_filled(s, rheos__backward_pop(s, b, stack, dims, false), dtype);
  rheos_scope_pop(s);
  return zeros;
}

// The shape of what the other side of a conditional's Switch would be, where it is made.
static rheos_output shape_of_dead(rheos_scope *s, rheos_output output,
                                  rheos_control_context *branch) {
  const rheos__edge data = rheos__graph_node(s->graph, output.id)->edges[0];
  rheos_push_control_context(s, branch->outer);
  const rheos_operation again = rheos__switch_by(s, data, branch->pred);
  const rheos_output dims =
      rheos__op_1(s, "Shape", rheos_operation_output(again, 1 - branch->branch));
  rheos_scope_pop(s);
  rheos_status *status =
      s->status == NULL ? rheos__node_set_context(s->graph, again.id, branch) : NULL;
  if (status == NULL && s->status == NULL) {
    status = rheos__node_set_context(s->graph, dims.id, branch);
  }
  rheos_scope_fail_take(s, status);
  return dims;
}

rheos_output rheos__zeros_in_loop(rheos__loop *loop, rheos_scope *s, rheos_output output) {
  const rheos_shape shape = rheos_output_shape(output);
  const rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(output));
  rheos_control_context *context = rheos__context_of(s->graph, output.id);
  const bool is_dead = role_of(s->graph, output.id) == RHEOS__FLOW_SWITCH && !context->is_while;
  rheos__backward_loop *b = loop->backward;
  if (rheos_shape_is_known(&shape)) {
    const rheos_output zeros = rheos__const_fill(s, dtype, shape, 0, "Const");
    if (!is_dead || s->status != NULL) return zeros;
    const rheos__context_value *pred = rheos__values_find(&b->history, context->pred);
    const rheos_operation sides = rheos__switch_by(s, (rheos__edge){zeros.id, zeros.index},
                                                   pred != NULL ? pred->inside : context->pred);
    return rheos_operation_output(sides, 1 - context->branch);
  }
  rheos_output dims;
  if (is_dead) {
    dims = shape_of_dead(s, output, context);
  } else {
    rheos_push_control_context(s, context);
    dims = rheos__op_1(s, "Shape", output);
    rheos_scope_pop(s);
  }
  if (s->status != NULL) return output;
  const rheos_output stack = rheos__backward_push(s, b, dims, is_dead);
  return rheos__zeros_filled(s, rheos__backward_pop(s, b, stack, dims, is_dead), dtype);
}

// ---- The end

// Nothing came back: the variable does not depend on what it was in the trip before.
static void lead_zeros_back(const rheos__backward_loop *b, rheos_scope *s, rheos_output merged) {
  const rheos__edge enter = rheos__graph_node(s->graph, merged.id)->edges[0];
  const rheos_output entered = {s->graph, enter.id, enter.index};
  const rheos_shape shape = rheos_output_shape(entered);
  const rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(entered));
  rheos_output zeros;
  if (rheos_shape_is_known(&shape)) {
    rheos_push_control_context(s, b->backward);
    zeros = rheos__const_fill(s, dtype, shape, 0, "Const");
  } else {
    const rheos__edge from = rheos__graph_node(s->graph, enter.id)->edges[0];
    rheos_control_context *around = b->backward->outer;
    rheos_push_control_context(s, around != NULL ? around : s->now.context);
    const rheos_output dims =
        rheos__op_1(s, "Shape", (rheos_output){s->graph, from.id, from.index});
    zeros = rheos__zeros_filled(s, dims, dtype);
    rheos_scope_pop(s);
    rheos_push_control_context(s, b->backward);
  }
  const rheos_output next = rheos__op_1(s, "NextIteration", zeros);
  rheos_scope_pop(s);
  rheos__backward_lead_back(s, merged, next);
}

static bool nothing_came_back(const rheos_graph *graph, rheos_output merged) {
  if (merged.graph == NULL) return false;
  const rheos__edge *edges = rheos__graph_node(graph, merged.id)->edges;
  return edges[0].id == edges[1].id && edges[0].index == edges[1].index;
}

void rheos__loops_finish(const rheos__loops *loops, rheos_scope *s) {
  for (size_t i = 0; i < loops->count; i++) {
    const rheos__backward_loop *b = loops->items[i].backward;
    for (size_t k = 0; k < b->num_merges && s->status == NULL; k++) {
      const rheos_gradient *merged = &b->merges[k].merged;
      const rheos_output parts[] = {merged->values, merged->indices, merged->dense_shape};
      for (int p = 0; p < 3 && s->status == NULL; p++) {
        if (nothing_came_back(s->graph, parts[p])) lead_zeros_back(b, s, parts[p]);
      }
    }
  }
}
