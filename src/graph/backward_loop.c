// Loops backward: their counters, and the stacks between them and the loops forward.
#include "graph/backward_loop.h"

#include <string.h>

#include "graph/build.h"
#include "graph/dependencies.h"
#include "graph/graph_impl.h"

static rheos__edge edge_of(rheos_output output) { return (rheos__edge){output.id, output.index}; }

static rheos_output output_of(const rheos_scope *s, rheos__edge edge) {
  return (rheos_output){s->graph, edge.id, edge.index};
}

static void take(rheos_scope *s, rheos_status *status) {
  if (status != NULL) rheos_scope_fail_take(s, status);
}

static void know(rheos_scope *s, rheos_control_context *context, rheos_output value) {
  if (context != NULL && s->status == NULL) {
    take(s, rheos__context_know(context, edge_of(value), (rheos__edge){-1, 0}));
  }
}

static void add_control(rheos_scope *s, int32_t id, int32_t from) {
  if (s->status != NULL) return;
  if (!rheos__graph_add_controls(s->graph, id, &from, 1)) take(s, rheos__out_of_memory());
}

void rheos__backward_loop_free(rheos__backward_loop *loop) {
  if (loop == NULL) return;
  rheos__values_deinit(&loop->history);
  rheos__free(loop->merges);
  rheos__free(loop);
}

const rheos_control_context *rheos__forward_of(const rheos_control_context *context) {
  return context->backward != NULL ? context->backward->forward : NULL;
}

static rheos__backward_loop *loop_for(const rheos_scope *s, rheos_control_context *theirs) {
  const rheos_control_context *mine = rheos__while_context(s->now.context);
  if (mine == NULL || mine->backward == NULL || theirs == NULL) return NULL;
  return rheos__while_context(theirs) == mine->backward->forward ? mine->backward : NULL;
}

rheos__backward_loop *rheos__backward_loop_of(const rheos_scope *s, int32_t id) {
  return loop_for(s, rheos__output_context_of(s->graph, id));
}

rheos__backward_loop *rheos__backward_loop_by_context(const rheos_scope *s, int32_t id) {
  return loop_for(s, rheos__context_of(s->graph, id));
}

// ---- Nodes of loops

// One more of the loop's ends, which are an array in the graph's arena: its room doubles.
static void append_edge(rheos_scope *s, rheos__edge **edges, int32_t *count, rheos_output output) {
  if (s->status != NULL) return;
  rheos__edge *more = rheos__graph_alloc(s->graph, ((size_t)*count + 1) * sizeof *more);
  if (more == NULL) {
    take(s, rheos__out_of_memory());
    return;
  }
  if (*count > 0) memcpy(more, *edges, (size_t)*count * sizeof *more);
  more[*count] = edge_of(output);
  *edges = more;
  ++*count;
}

rheos_output rheos__backward_enter(rheos_scope *s, rheos_control_context *context,
                                   rheos_output data, bool has_shape, const char *name) {
  const rheos_attr attrs[] = {rheos_attr_string("frame_name", context->name, strlen(context->name)),
                              rheos_attr_bool("is_constant", false),
                              rheos_attr_int("parallel_iterations", context->parallel_iterations)};
  know(s, context, data);
  const rheos_output enter =
      rheos_operation_output(rheos__op_n(s, "Enter", name, &data, 1, attrs, 3), 0);
  if (has_shape && s->status == NULL) {
    take(s, rheos_output_set_shape(enter, rheos_output_shape(data)));
  }
  append_edge(s, &context->enters, &context->num_enters, enter);
  return enter;
}

rheos_output rheos__backward_exit(rheos_scope *s, rheos_control_context *context, rheos_output data,
                                  const char *name) {
  const rheos_output result =
      rheos_operation_output(rheos__op_n(s, "Exit", name, &data, 1, NULL, 0), 0);
  append_edge(s, &context->exits, &context->num_exits, result);
  know(s, context->outer, result);
  return result;
}

void rheos__backward_lead_back(rheos_scope *s, rheos_output merge, rheos_output next) {
  if (s->status == NULL) rheos__graph_rewire(s->graph, merge.id, 1, edge_of(next));
}

static rheos_output merge_of(rheos_scope *s, rheos_output enter) {
  return rheos__op_2(s, "Merge", enter, enter);
}

static rheos_operation switch_of(rheos_scope *s, rheos_output merged,
                                 const rheos_control_context *context) {
  const rheos_output inputs[] = {merged, output_of(s, context->pivot)};
  return rheos__op_n(s, "Switch", NULL, inputs, 2, NULL, 0);
}

// ---- Counters

static rheos_output add_one(rheos_scope *s, rheos_output x) {
  rheos_push_name_scope(s, "Add");
  const rheos_output both[] = {x, rheos__const_scalar(s, RHEOS_INT32, 1, "y")};
  char *name = rheos__scope_node_name(s);
  const rheos_operation sum = rheos__op_n(s, "Add", name, both, 2, NULL, 0);
  rheos__free(name);
  rheos_scope_pop(s);
  return rheos_operation_output(sum, 0);
}

static int32_t first_input(const rheos_scope *s, int32_t id) {
  return rheos__graph_node(s->graph, id)->edges[0].id;
}

// The number of trips that the loop forward makes, counted in it.
static rheos_output count_forward(rheos_scope *s, rheos__backward_loop *b) {
  rheos_control_context *forward = b->forward;
  const rheos_output zero = rheos__const_scalar(s, RHEOS_INT32, 0, "f_count");
  // What an inner loop pushes comes trip by trip of the outer one.
  if (b->outer != NULL && s->status == NULL) {
    add_control(s, zero.id, first_input(s, b->outer->forward_index));
  }
  rheos_push_control_context(s, forward);
  const rheos_output enter = rheos__backward_enter(s, forward, zero, true, "f_count");
  const rheos_output merged = merge_of(s, enter);
  const rheos_operation sides = switch_of(s, merged, forward);
  const rheos_output index = add_one(s, rheos_operation_output(sides, 1));
  const rheos_output next = rheos__op_1(s, "NextIteration", index);
  rheos__backward_lead_back(s, merged, next);
  b->forward_index = next.id;
  const rheos_output total =
      rheos__backward_exit(s, forward, rheos_operation_output(sides, 0), "f_count");
  rheos_scope_pop(s);
  return total;
}

static int32_t sync_of(rheos_scope *s, int32_t *sync, const char *name, int32_t index,
                       const rheos_control_context *context) {
  if (*sync >= 0 || s->status != NULL) return *sync;
  rheos_push_control_dependencies(s, NULL, 0);
  const rheos_operation trigger = rheos__op_n(s, "ControlTrigger", name, NULL, 0, NULL, 0);
  rheos_scope_pop(s);
  if (s->status != NULL) return -1;
  take(s, rheos__node_set_context(s->graph, trigger.id, context));
  add_control(s, index, trigger.id);
  *sync = trigger.id;
  return trigger.id;
}

static int32_t forward_sync(rheos_scope *s, rheos__backward_loop *b) {
  return sync_of(s, &b->forward_sync, "f_sync", b->forward_index, b->forward);
}

static int32_t backward_sync(rheos_scope *s, rheos__backward_loop *b) {
  return sync_of(s, &b->backward_sync, "b_sync", b->backward_index, b->backward);
}

// The counter that makes the loop backward go on `count` times.
static void count_backward(rheos_scope *s, rheos__backward_loop *b, rheos_output count) {
  rheos_control_context *context = b->backward;
  const rheos_output one = rheos__const_scalar(s, RHEOS_INT32, 1, "b_count");
  rheos_push_control_context(s, context);
  const rheos_output enter = rheos__backward_enter(s, context, count, true, "b_count");
  const rheos_output merged = merge_of(s, enter);
  context->pivot_for_pred = edge_of(merged);
  const rheos_output goes_on = rheos__op_2(s, "GreaterEqual", merged, one);
  const rheos_operation pivot = rheos__op_n(s, "LoopCond", "b_count", &goes_on, 1, NULL, 0);
  context->pivot = (rheos__edge){pivot.id, 0};
  const rheos_operation sides = switch_of(s, merged, context);
  const rheos_output index = rheos__op_2(s, "Sub", rheos_operation_output(sides, 1), one);
  context->pivot_for_body = edge_of(index);
  const rheos_output next = rheos__op_1(s, "NextIteration", index);
  rheos__backward_lead_back(s, merged, next);
  b->backward_index = next.id;
  const rheos_output last =
      rheos__backward_exit(s, context, rheos_operation_output(sides, 0), "b_count");
  if (b->outer != NULL) add_control(s, backward_sync(s, b->outer), last.id);
  rheos_scope_pop(s);
}

static void make_backward(rheos_scope *s, rheos__backward_loop *b) {
  const rheos_control_context *forward = b->forward;
  rheos_control_context *context = rheos__context_new(s, true, forward->name);
  if (context == NULL) return;
  context->maximum_iterations = forward->maximum_iterations;
  context->parallel_iterations = forward->parallel_iterations;
  context->back_prop = forward->back_prop;
  context->swap_memory = forward->swap_memory;
  context->backward = b;
  b->backward = context;
}

static void build(rheos_scope *s, rheos__backward_loop *b) {
  rheos_control_context *around = b->outer != NULL ? b->outer->forward : b->forward->outer;
  rheos_push_control_context(s, around != NULL ? around : b->called_in);
  rheos_output count = count_forward(s, b);
  rheos_scope_pop(s);
  rheos_output stack = count;
  if (b->outer != NULL) {
    know(s, around, count);
    stack = rheos__backward_push(s, b->outer, count, false);
    around = b->outer->backward;
  }
  rheos_push_control_context(s, around != NULL ? around : b->called_in);
  make_backward(s, b);
  if (b->outer != NULL) count = rheos__backward_pop(s, b->outer, stack, count, false);
  if (s->status == NULL) count_backward(s, b, count);
  rheos_scope_pop(s);
}

rheos__backward_loop *rheos__backward_loop_new(rheos_scope *s, rheos_control_context *forward,
                                               rheos__backward_loop *outer) {
  if (s->status != NULL) return NULL;
  rheos__backward_loop *b = rheos__alloc_zeroed(sizeof *b);
  if (b == NULL) {
    take(s, rheos__out_of_memory());
    return NULL;
  }
  b->forward = forward;
  b->outer = outer;
  b->called_in = s->now.context;
  b->forward_index = b->backward_index = b->forward_sync = b->backward_sync = -1;
  build(s, b);
  if (b->backward == NULL) {
    rheos__backward_loop_free(b);
    b = NULL;
  }
  return s->status == NULL ? b : NULL;
}

// ---- Stacks

static rheos_output new_stack(rheos_scope *s, rheos__backward_loop *b, rheos_output value) {
  rheos_push_control_context(s, b->called_in);
  rheos_push_colocation(s, rheos_output_operation(value));
  const rheos_output no_limit = rheos__const_scalar(s, RHEOS_INT32, -1, "Const");
  const rheos_attr type = rheos_attr_type("elem_type", rheos_dtype_base(rheos_output_dtype(value)));
  const rheos_operation stack = rheos__op_n(s, "StackV2", "f_acc", &no_limit, 1, &type, 1);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  return rheos_operation_output(stack, 0);
}

static rheos_operation push_in(rheos_scope *s, rheos_control_context *context, rheos__edge stack,
                               rheos_output value, bool swap_memory) {
  const rheos_output inputs[] = {output_of(s, stack), value};
  const rheos_attr swap = rheos_attr_bool("swap_memory", swap_memory);
  rheos_push_control_context(s, context);
  const rheos_operation push = rheos__op_n(s, "StackPushV2", NULL, inputs, 2, &swap, 1);
  rheos_scope_pop(s);
  return push;
}

static void order_push(rheos_scope *s, rheos__backward_loop *b, rheos_output value,
                       rheos__edge stack, bool dead_branch) {
  rheos_control_context *context = rheos__output_context_of(s->graph, value.id);
  rheos_control_context *in = dead_branch ? context->outer : context;
  const rheos_operation push = push_in(s, in, stack, value, b->forward->swap_memory);
  if (s->status != NULL) return;
  if (dead_branch) take(s, rheos__node_set_context(s->graph, push.id, context));
  const int32_t behind = context == b->forward ? b->forward_index : forward_sync(s, b);
  add_control(s, behind, push.id);
  add_control(s, push.id, first_input(s, b->forward_index));
}

rheos_output rheos__backward_push(rheos_scope *s, rheos__backward_loop *b, rheos_output value,
                                  bool dead_branch) {
  rheos_push_control_dependencies(s, NULL, 0);
  const rheos_output stack = new_stack(s, b, value);
  if (s->status == NULL) {
    const rheos__edge inside = rheos__context_value_of(s, b->forward, edge_of(stack));
    if (s->status == NULL) order_push(s, b, value, inside, dead_branch);
  }
  rheos_scope_pop(s);
  return stack;
}

// The innermost branch that `context` is in and `around` is not; NULL if there is none.
static const rheos_control_context *branch_within(const rheos_control_context *context,
                                                  const rheos_control_context *around) {
  for (; context != NULL && context != around; context = context->outer) {
    if (!context->is_while) return context;
  }
  return NULL;
}

static rheos__edge pred_of(const rheos__backward_loop *b, const rheos_control_context *branch) {
  for (; b != NULL; b = b->outer) {
    const rheos__context_value *known = rheos__values_find(&b->history, branch->pred);
    if (known != NULL) return known->inside;
  }
  return branch->pred;
}

rheos_output rheos__backward_pop(rheos_scope *s, rheos__backward_loop *b, rheos_output stack,
                                 rheos_output value, bool dead_branch) {
  if (s->status != NULL) return value;
  const rheos_control_context *branch =
      branch_within(rheos__context_of(s->graph, value.id), rheos__context_of(s->graph, stack.id));
  rheos_push_control_dependencies(s, NULL, 0);
  rheos_push_control_context(s, b->backward);
  if (branch != NULL) {
    const rheos_operation sides = rheos__switch_by(s, edge_of(stack), pred_of(b, branch));
    stack = rheos_operation_output(sides, dead_branch ? 1 - branch->branch : branch->branch);
  }
  const rheos_attr type = rheos_attr_type("elem_type", rheos_dtype_base(rheos_output_dtype(value)));
  const rheos_operation pop = rheos__op_n(s, "StackPopV2", NULL, &stack, 1, &type, 1);
  const rheos_output result = rheos_operation_output(pop, 0);
  if (s->status == NULL) take(s, rheos_output_set_shape(result, rheos_output_shape(value)));
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  if (b->backward->parallel_iterations > 1) add_control(s, backward_sync(s, b), pop.id);
  return result;
}

// ---- Values of the loop forward

static bool has_type(const rheos_graph *graph, int32_t id, const char *a, const char *b) {
  const char *type = rheos__graph_node(graph, id)->signature->op->name;
  return strcmp(type, a) == 0 || strcmp(type, b) == 0;
}

// The constant Enter that the value comes from as it is; -1 if it comes from elsewhere.
static int32_t constant_enter(const rheos_graph *graph, int32_t id) {
  while (has_type(graph, id, "Switch", "RefSwitch") ||
         has_type(graph, id, "Identity", "RefIdentity")) {
    id = rheos__graph_node(graph, id)->edges[0].id;
  }
  if (!has_type(graph, id, "Enter", "RefEnter")) return -1;
  const rheos_attr_value *value =
      rheos__attrs_find(rheos__graph_node(graph, id)->attrs, "is_constant");
  return value != NULL && value->b ? id : -1;
}

static rheos__edge popped_value(rheos_scope *s, rheos__backward_loop *b, rheos__backward_loop *from,
                                rheos__edge value) {
  const rheos_output stack = rheos__backward_push(s, from, output_of(s, value), false);
  rheos__edge real = edge_of(rheos__backward_pop(s, from, stack, output_of(s, value), false));
  return from != b && s->status == NULL ? rheos__context_value_of(s, b->backward, real) : real;
}

static rheos__edge real_value(rheos_scope *s, rheos__backward_loop *b, rheos__edge value) {
  rheos__backward_loop *from = b;
  for (;;) {
    const int32_t enter = constant_enter(s->graph, value.id);
    if (enter >= 0) {
      value = rheos__graph_node(s->graph, enter)->edges[0];
      from = from->outer;
      if (from == NULL) return rheos__context_value_of(s, b->backward, value);
      continue;
    }
    rheos_tensor *constant = rheos__const_value(s->graph, value);
    if (constant != NULL) return edge_of(rheos_constant(s, constant, "Const"));
    return popped_value(s, b, from, value);
  }
}

rheos__edge rheos__backward_value(rheos_scope *s, rheos__backward_loop *b, rheos__edge value) {
  const rheos__context_value *known = rheos__values_find(&b->history, value);
  if (known != NULL) return known->inside;
  const rheos__edge real = real_value(s, b, value);
  if (s->status == NULL) take(s, rheos__values_know(&b->history, value, real));
  return real;
}
