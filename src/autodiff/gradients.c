// Reverse-mode differentiation of a graph. Nodes are visited from the ys back to the xs, each once
// all the nodes that read it have been, in the order and under the names that TensorFlow gives, so
// that graphs, checkpoints and tools made for one fit the other. No recursion: a chain of a million
// nodes is ordinary. Costs a dozen bytes for each node between the xs and the ys.
#include <rheos/gradients.h>

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "graph/handles.h"
#include "autodiff/accumulate.h"
#include "autodiff/custom_gradient.h"
#include "autodiff/paths.h"
#include "base/options.h"
#include "graph/context_recovery.h"
#include "graph/dependencies.h"
#include "graph/graph.h"
#include "graph/library.h"
#include "ops/kit/op_util.h"

// A gradient that has arrived at an output. Those of one node are a list, in order of arrival.
typedef struct arrival {
  rheos_gradient gradient;
  int32_t output;
  int32_t next;  // one more than an index; 0: the last
} arrival;

// Arrays are indexed by the id of a node less `paths.first_id`.
typedef struct backprop {
  rheos_scope *scope;
  rheos_graph *graph;
  const rheos_gradients_options *options;
  rheos__paths paths;
  int32_t *arrivals;  // one more than the index of the first, 0: none
  int32_t *last;      // one more than the index of the last
  arrival *pool;
  size_t pool_size, pool_capacity;
  int32_t free_arrival;  // one more than an index
  int32_t *queue;
  size_t queue_first, queue_last, queue_capacity;
  const rheos_output *ys;
  size_t num_ys;
  // For the node being visited
  rheos_output *inputs, *outputs;
  rheos_gradient *in_grads, *out_grads, *parts;
  int32_t *starts;
  size_t starts_capacity, parts_capacity;
  size_t inputs_capacity, outputs_capacity, in_capacity, out_capacity;
} backprop;

static bool failed(const backprop *b) { return rheos_scope_status(b->scope) != NULL; }

static void fail(backprop *b, rheos_status *status) { rheos_scope_fail_take(b->scope, status); }

// ---- Arrived gradients

static void add_arrival(backprop *b, rheos_output at, const rheos_gradient *gradient) {
  if (!rheos__path_has(&b->paths, at.id, RHEOS__PATH_BETWEEN)) return;
  int32_t index = b->free_arrival;
  if (index != 0) {
    b->free_arrival = b->pool[index - 1].next;
  } else {
    if (b->pool_size >= INT32_MAX - 1 ||
        !RHEOS_RESERVE(b->pool, b->pool_capacity, b->pool_size + 1)) {
      fail(b, rheos__out_of_memory());
      return;
    }
    index = (int32_t)++b->pool_size;
  }
  b->pool[index - 1] = (arrival){.gradient = *gradient, .output = at.index};
  int32_t slot = at.id - b->paths.first_id;
  if (b->arrivals[slot] == 0) {
    b->arrivals[slot] = index;
  } else {
    b->pool[b->last[slot] - 1].next = index;
  }
  b->last[slot] = index;
}

static void forget_arrivals(backprop *b, int32_t id) {
  int32_t slot = id - b->paths.first_id;
  if (b->arrivals[slot] == 0) return;
  assert(b->pool[b->last[slot] - 1].next == 0);
  b->pool[b->last[slot] - 1].next = b->free_arrival;
  b->free_arrival = b->arrivals[slot];
  b->arrivals[slot] = 0;
}

// Puts what arrived at a node in `parts`, output by output, each in order of arrival: those of
// output i start at starts[i]. `starts` gets num_outputs + 1 numbers.
static bool sort_arrivals(backprop *b, int32_t id, int32_t num_outputs) {
  size_t count = 0;
  if (!RHEOS_RESERVE(b->starts, b->starts_capacity, (size_t)num_outputs + 2)) return false;
  memset(b->starts, 0, ((size_t)num_outputs + 2) * sizeof(int32_t));
  for (int32_t i = b->arrivals[id - b->paths.first_id]; i != 0; i = b->pool[i - 1].next) {
    b->starts[b->pool[i - 1].output + 2]++;
    count++;
  }
  for (int32_t i = 0; i < num_outputs; i++) b->starts[i + 2] += b->starts[i + 1];
  if (!RHEOS_RESERVE(b->parts, b->parts_capacity, count)) return false;
  for (int32_t i = b->arrivals[id - b->paths.first_id]; i != 0; i = b->pool[i - 1].next) {
    b->parts[b->starts[b->pool[i - 1].output + 1]++] = b->pool[i - 1].gradient;
  }
  assert((size_t)b->starts[num_outputs] == count);
  return true;
}

// Adds up what arrived at each output of a node into `out_grads`. Returns whether there is any.
static bool sum_arrivals(backprop *b, int32_t id, int32_t num_outputs) {
  if (b->arrivals[id - b->paths.first_id] == 0) return false;
  if (!sort_arrivals(b, id, num_outputs)) {
    fail(b, rheos__out_of_memory());
    return false;
  }
  for (int32_t i = 0; i < num_outputs; i++) {
    size_t first = (size_t)b->starts[i], count = (size_t)b->starts[i + 1] - first;
    if (count > 0) b->out_grads[i] = rheos__sum_gradients(b->scope, b->parts + first, count);
  }
  forget_arrivals(b, id);
  // What is asked for is found here at the end, summed up.
  for (int32_t i = 0; i < num_outputs && rheos__path_has(&b->paths, id, RHEOS__PATH_IS_X); i++) {
    if (!rheos__is_some(b->out_grads[i].values)) continue;
    add_arrival(b, (rheos_output){b->graph, id, i}, &b->out_grads[i]);
  }
  return !failed(b);
}

static rheos_gradient gradient_at(const backprop *b, rheos_output x) {
  for (int32_t i = rheos__path_has(&b->paths, x.id, RHEOS__PATH_BETWEEN)
                       ? b->arrivals[x.id - b->paths.first_id]
                       : 0;
       i != 0; i = b->pool[i - 1].next) {
    if (b->pool[i - 1].output == x.index) return b->pool[i - 1].gradient;
  }
  return (rheos_gradient){{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}};
}

// ---- Visiting one node

static void enqueue(backprop *b, int32_t id) {
  if (!RHEOS_RESERVE(b->queue, b->queue_capacity, b->queue_last + 1)) {
    fail(b, rheos__out_of_memory());
    return;
  }
  assert(rheos__path_covers(&b->paths, id));
  b->queue[b->queue_last++] = id;
}

static bool prepare_visit(backprop *b, const rheos__node *node, int32_t id) {
  size_t num_inputs = (size_t)node->num_inputs, num_outputs = (size_t)node->num_outputs;
  if (!RHEOS_RESERVE(b->inputs, b->inputs_capacity, num_inputs) ||
      !RHEOS_RESERVE(b->in_grads, b->in_capacity, num_inputs) ||
      !RHEOS_RESERVE(b->outputs, b->outputs_capacity, num_outputs) ||
      !RHEOS_RESERVE(b->out_grads, b->out_capacity, num_outputs)) {
    fail(b, rheos__out_of_memory());
    return false;
  }
  for (int32_t i = 0; i < node->num_inputs; i++) {
    b->inputs[i] = (rheos_output){b->graph, node->edges[i].id, node->edges[i].index};
  }
  for (int32_t i = 0; i < node->num_outputs; i++) b->outputs[i] = (rheos_output){b->graph, id, i};
  if (num_inputs > 0) memset(b->in_grads, 0, num_inputs * sizeof(rheos_gradient));
  if (num_outputs > 0) memset(b->out_grads, 0, num_outputs * sizeof(rheos_gradient));
  return true;
}

// A gradient must fit what it is a gradient of; what is known of one shape is learnt for the other.
static void check_gradients(backprop *b, const rheos__node *node, int32_t num_inputs) {
  for (int32_t i = 0; i < num_inputs && !failed(b); i++) {
    const rheos_gradient *gradient = &b->in_grads[i];
    if (!rheos__is_some(gradient->values) || rheos__gradient_is_sparse(gradient)) continue;
    if (rheos_dtype_base(rheos_output_dtype(b->inputs[i])) == RHEOS_RESOURCE) continue;
    rheos_shape want = rheos_output_shape(b->inputs[i]);
    rheos_shape got = rheos_output_shape(gradient->values);
    rheos_shape merged;
    rheos_status *status = rheos__shape_merge(&want, &got, &merged);
    if (status == NULL) {
      if (!rheos_shape_equal(&merged, &got)) {
        status = rheos_output_set_shape(gradient->values, merged);
        if (status != NULL) fail(b, status);
      }
      continue;
    }
    rheos_status_free(status);
    rheos__shape_text want_text, got_text;
    char *name = rheos__node_name(b->graph, node);
    fail(b,
         RHEOS_INVALID("Incompatible shapes between op input and calculated input gradient.  "
                       "Forward operation: %s.  Input index: %d. Original input shape: %s.  "
                       "Calculated input gradient shape: %s",
                       name != NULL ? name : "?", (int)i, rheos__shape_text_of(&want, &want_text),
                       rheos__shape_text_of(&got, &got_text)));
    rheos__free(name);
  }
}

// Zeros for the side of a branch's Switch that no gradient comes from. They are made from the other
// side's value, so that they are there when that was taken.
static rheos_output zeros_of_side(backprop *b, rheos_output side, const rheos_control_context *at) {
  rheos_scope *s = b->scope;
  const rheos__edge data = rheos__graph_node(b->graph, side.id)->edges[0];
  const rheos_output inputs[] = {{b->graph, data.id, data.index},
                                 {b->graph, at->pred.id, at->pred.index}};
  const rheos_operation again = rheos__op_n(s, "Switch", NULL, inputs, 2, NULL, 0);
  const rheos_output value = rheos_operation_output(again, side.index);
  const rheos_operation pivot = rheos_output_operation(rheos__op_1(s, "Identity", value));
  const rheos_output shape = rheos__op_1(s, "Shape", value);
  const rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(side));
  rheos_push_control_dependencies(s, &pivot, 1);
  const rheos_output zeros = rheos__zeros_filled(s, shape, dtype);
  rheos_scope_pop(s);
  return zeros;
}

// Zeros for a side that is the handle of a variable: of the variable's shape, of the dtype of its
// gradients.
static rheos_output zeros_of_variable(backprop *b, rheos_output side, rheos_dtype dtype) {
  rheos_scope *s = b->scope;
  const rheos_control_context *at = rheos__context_of(b->graph, side.id);
  const rheos__loop *loop = rheos__loops_find(&b->paths.loops, b->graph, side.id);
  const rheos__edge data = rheos__graph_node(b->graph, side.id)->edges[0];
  rheos__edge pred = at->pred;
  if (loop != NULL) {
    const rheos__context_value *known = rheos__values_find(&loop->backward->history, pred);
    if (known != NULL) pred = known->inside;
  }
  const rheos_output inputs[] = {{b->graph, data.id, data.index}, {b->graph, pred.id, pred.index}};
  const rheos_operation again = rheos__op_n(s, "Switch", NULL, inputs, 2, NULL, 0);
  const rheos_output handle = rheos_operation_output(again, side.index);
  const rheos_operation pivot = rheos_output_operation(rheos__op_1(s, "Identity", handle));
  rheos_push_control_dependencies(s, &pivot, 1);
  rheos_output zeros = side;
  if (!failed(b)) zeros = rheos__zeros_filled(s, rheos__variable_shape(s, handle), dtype);
  rheos_scope_pop(s);
  return zeros;
}

static bool is_switch_of_branch(const backprop *b, int32_t id) {
  const rheos_control_context *context = rheos__context_of(b->graph, id);
  return rheos__graph_node(b->graph, id)->signature->op->flow == RHEOS__FLOW_SWITCH &&
         context != NULL && !context->is_while;
}

static rheos_output zeros_like(backprop *b, rheos_output output) {
  rheos__loop *loop = rheos__loops_find(&b->paths.loops, b->graph, output.id);
  if (loop != NULL) return rheos__zeros_in_loop(loop, b->scope, output);
  if (is_switch_of_branch(b, output.id)) {
    return zeros_of_side(b, output, rheos__context_of(b->graph, output.id));
  }
  return rheos_operation_output(
      rheos__op_n(b->scope, "ZerosLike", "zeros_like", &output, 1, NULL, 0), 0);
}

// Outputs that no gradient arrives at have the gradient zero, once another output has one.
static void fill_in_zeros(backprop *b, const rheos__node *node, int32_t id) {
  const rheos__op_def *op = node->signature->op;
  const bool by_name = op->gradient == rheos__gradient_call_by_name;
  if (!by_name && (op->flags & RHEOS_OP_CALLS) != 0) return;  // it tells them apart
  if (b->paths.loops.count > 0 && rheos__is_loop_switch(b->graph, id)) return;
  for (int32_t i = 0; i < node->num_outputs; i++) {
    rheos_dtype dtype = rheos_dtype_base(node->outputs[i].dtype);
    if (rheos__is_some(b->out_grads[i].values)) continue;
    if (!by_name && !rheos__is_differentiable(dtype)) continue;
    if (dtype == RHEOS_RESOURCE && node->num_outputs == 2 && is_switch_of_branch(b, id)) {
      const rheos_gradient *other = &b->out_grads[1 - i];
      if (!rheos__is_some(other->values)) continue;
      const rheos_dtype of_values = rheos_output_dtype(other->values);
      b->out_grads[i].values = zeros_of_variable(b, b->outputs[i], of_values);
      if (failed(b)) return;
    }
    if (dtype == RHEOS_RESOURCE || dtype == RHEOS_VARIANT) continue;
    b->out_grads[i].values = zeros_like(b, b->outputs[i]);
    if (failed(b)) return;
  }
}

static void gate(backprop *b, int32_t num_inputs) {
  if (!b->options->gate_gradients) return;
  int32_t count = 0;
  for (int32_t i = 0; i < num_inputs; i++) count += rheos__is_some(b->in_grads[i].values);
  if (count < 2) return;
  rheos_push_colocation(b->scope, (rheos_operation){NULL, 0});
  rheos__gate_gradients(b->scope, b->in_grads, num_inputs);
  rheos_scope_pop(b->scope);
}

// The type whose gradient a node has: its op's, or that which its attribute names.
static const char *gradient_type(const rheos__node *node) {
  const rheos_attr_value *named = rheos__attrs_find(node->attrs, "_gradient_op_type");
  const bool is_named = named != NULL && named->kind == RHEOS_ATTR_STRING;
  return is_named ? named->s.data : node->signature->op->name;
}

// Whether the gradient function of another op finds on this node what it looks at: as many inputs
// and outputs, and the attributes that are no dtypes.
static bool gradient_fits(const rheos__node *node, const rheos__signature *other) {
  if (node->num_inputs != other->num_inputs || node->num_outputs != other->num_outputs)
    return false;
  for (int32_t i = 0; i < other->num_inputs; i++) {
    if (other->inputs[i].number_attr >= 0 || other->inputs[i].type_list_attr >= 0) return false;
  }
  for (int32_t i = 0; i < other->num_attrs; i++) {
    if (other->attrs[i].kind == RHEOS_ATTR_TYPE) continue;
    const rheos_attr_value *value = rheos__attrs_find(node->attrs, other->attrs[i].name);
    if (value == NULL || value->kind != other->attrs[i].kind) return false;
  }
  return true;
}

// The library's op of a type, if its gradient is one for the node; else NULL.
static const rheos__op_def *op_of_type(const rheos__node *node, const char *type) {
  if (strcmp(type, node->signature->op->name) == 0) return node->signature->op;
  const rheos__signature *other = rheos__signature_by_name(type);
  return other != NULL && gradient_fits(node, other) ? other->op : NULL;
}

static bool ask_program(backprop *b, const rheos__grad *grad, const char *type) {
  const rheos_gradients_options *o = b->options;
  return o->gradient_function != NULL &&
         o->gradient_function(o->gradient_argument, b->scope, grad->operation, type,
                              grad->out_grads, grad->in_grads);
}

static void fail_without_gradient(backprop *b, const rheos__node *node) {
  char *name = rheos__node_name(b->graph, node);
  fail(b, RHEOS_NOTFOUND("No gradient defined for operation '%s' (op type: %s)",
                         name != NULL ? name : "?", node->signature->op->name));
  rheos__free(name);
}

static void differentiate(backprop *b, const rheos__node *node, int32_t id) {
  const char *type = gradient_type(node);
  const rheos__op_def *op = op_of_type(node, type);
  const rheos__gradient_fn gradient = op != NULL ? op->gradient : NULL;
  rheos_operation operation = {b->graph, id};
  const int32_t num_inputs = node->num_inputs;  // the gradient of a loop adds some
  if (num_inputs == 0 || gradient == rheos__no_gradient) return;
  fill_in_zeros(b, node, id);
  const bool has_scope = !b->options->flat_names;
  if (has_scope) {
    char *name = rheos__name_with_suffix(b->scope, operation, "_grad");
    if (name == NULL) return;
    rheos_push_name_scope(b->scope, name);
    rheos__free(name);
  }
  rheos__grad grad = {.scope = b->scope,
                      .op = op,
                      .operation = operation,
                      .attrs = node->attrs,
                      .num_inputs = num_inputs,
                      .num_outputs = node->num_outputs,
                      .options = b->options,
                      .inputs = b->inputs,
                      .outputs = b->outputs,
                      .out_grads = b->out_grads,
                      .in_grads = b->in_grads};
  // A program may have said what the gradient of its own function is.
  const bool is_own = gradient == rheos__gradient_call_by_name;
  const bool is_custom = rheos__has_custom_gradient(node->attrs);
  const bool is_asked = !failed(b) && is_own && ask_program(b, &grad, type);
  if (!failed(b) && is_custom) rheos__custom_gradient(&grad);
  if (!failed(b) && gradient != NULL && !is_asked && !is_custom) gradient(&grad);
  if (!failed(b) && gradient == NULL && !is_custom && !ask_program(b, &grad, type)) {
    fail_without_gradient(b, node);
  }
  if (!failed(b)) gate(b, num_inputs);
  if (!failed(b)) check_gradients(b, node, num_inputs);
  if (has_scope) rheos_scope_pop(b->scope);
}

static void add_zeros_for_exit(backprop *b, int32_t id) {
  const rheos_output exit = {b->graph, id, 0};
  const rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(exit));
  if (!rheos__is_differentiable(dtype) || dtype == RHEOS_RESOURCE || dtype == RHEOS_VARIANT) return;
  const rheos_gradient zeros = {.values = rheos__zeros_for_exit(&b->paths.loops, b->scope, exit)};
  if (!failed(b)) add_arrival(b, exit, &zeros);
}

// Exits that no y comes from. Those of a loop all of whose Exits are known now are visited.
static void start_exits(backprop *b) {
  for (size_t i = 0; i < b->paths.loops.count && !failed(b); i++) {
    rheos__loop *loop = &b->paths.loops.items[i];
    for (int32_t k = 0; k < loop->num_exits; k++) {
      const int32_t id = loop->exits[k];
      if (!rheos__path_is_free(&b->paths, id)) continue;
      loop->num_pending--;
      const bool is_start = rheos__path_has(&b->paths, id, RHEOS__PATH_IS_START);
      if (!is_start) loop->unused[loop->num_unused++] = id;
    }
    for (int32_t k = 0; k < loop->num_enters; k++) {
      const int32_t id = loop->enters[k];
      if (!rheos__path_is_free(&b->paths, id)) continue;
      b->paths.pending[id - b->paths.first_id] = 1;
      rheos__path_set(&b->paths, id, RHEOS__PATH_BETWEEN);
    }
  }
  for (size_t i = 0; i < b->paths.loops.count && !failed(b); i++) {
    const rheos__loop *loop = &b->paths.loops.items[i];
    for (int32_t k = 0; loop->num_pending == 0 && k < loop->num_unused && !failed(b); k++) {
      const int32_t id = loop->unused[k];
      const rheos_output exit = {b->graph, id, 0};
      if (!rheos__is_differentiable(rheos_output_dtype(exit))) continue;
      add_zeros_for_exit(b, id);
      if (!failed(b)) enqueue(b, id);
    }
  }
}

// Inside of a loop that is not gone back through as a whole, a gradient ends with the body's
// parameters.
static void check_not_around_loop(backprop *b, int32_t id) {
  if (failed(b) || !rheos__is_loop_switch(b->graph, id)) return;
  if (rheos__loops_find(&b->paths.loops, b->graph, id) != NULL) return;
  if (rheos__context_of(b->graph, id) != rheos_scope_control_context(b->scope)) return;
  char *name = rheos__node_name(b->graph, rheos__graph_node(b->graph, id));
  fail(b, RHEOS_INVALID("Cannot compute gradient inside while loop through the initial value of a "
                        "loop variable, at '%s'. Gradients can be computed through loop invariants "
                        "or wrt the input parameters to the loop body.",
                        name != NULL ? name : "?"));
  rheos__free(name);
}

// Gradients of a node of a loop are made in the loop backward.
static bool push_loop(backprop *b, const rheos__loop *loop) {
  if (loop != NULL) rheos_push_control_context(b->scope, loop->backward->backward);
  return loop != NULL;
}

// An Exit waits for the others of its loop. Where any has a gradient, those that have none have
// zeros.
static void defer_exit(backprop *b, rheos__loop *loop, int32_t exit) {
  loop->deferred[loop->num_deferred++] = exit;
  if (--loop->num_pending != 0) return;
  bool any = false;
  for (int32_t i = 0; i < loop->num_deferred; i++) {
    const int32_t id = loop->deferred[i];
    if (b->arrivals[id - b->paths.first_id] != 0) {
      any = true;
      enqueue(b, id);
    } else {
      loop->unused[loop->num_unused++] = id;
    }
  }
  for (int32_t i = 0; i < loop->num_unused && !failed(b); i++) {
    if (any) add_zeros_for_exit(b, loop->unused[i]);
    enqueue(b, loop->unused[i]);
  }
}

// One more reader of the node has been visited. The Switch of a loop is visited after the Exit, and
// again after the body.
static void count_down(backprop *b, int32_t from) {
  if (!rheos__path_has(&b->paths, from, RHEOS__PATH_BETWEEN)) return;
  const int32_t left = --b->paths.pending[from - b->paths.first_id];
  const bool is_ready =
      left == 0 || (left > 0 && b->paths.loops.count > 0 && rheos__is_loop_switch(b->graph, from));
  if (!is_ready) return;
  rheos__loop *loop = rheos__is_loop_exit(b->graph, from)
                          ? rheos__loops_find(&b->paths.loops, b->graph, from)
                          : NULL;
  if (loop != NULL) {
    defer_exit(b, loop, from);
  } else {
    enqueue(b, from);
  }
}

static void visit(backprop *b, int32_t id) {
  const rheos__node *node = rheos__graph_node(b->graph, id);
  const int32_t num_inputs = node->num_inputs;
  assert(rheos__path_has(&b->paths, id, RHEOS__PATH_BETWEEN));
  if (!prepare_visit(b, node, id)) return;
  bool colocate = b->options->colocate_gradients_with_ops;
  if (colocate) rheos_push_colocation(b->scope, (rheos_operation){b->graph, id});
  bool is_pushed = push_loop(b, rheos__loops_find_output(&b->paths.loops, b->graph, id));
  bool any = sum_arrivals(b, id, node->num_outputs);
  if (is_pushed) rheos_scope_pop(b->scope);
  is_pushed = push_loop(b, rheos__loops_find(&b->paths.loops, b->graph, id));
  check_not_around_loop(b, id);
  if (any && !rheos__path_has(&b->paths, id, RHEOS__PATH_STOP)) differentiate(b, node, id);
  if (is_pushed) rheos_scope_pop(b->scope);
  if (colocate) rheos_scope_pop(b->scope);
  if (failed(b)) return;
  for (int32_t i = 0; i < num_inputs; i++) {
    if (rheos__is_some(b->in_grads[i].values)) add_arrival(b, b->inputs[i], &b->in_grads[i]);
  }
  for (int32_t i = 0; i < num_inputs; i++) count_down(b, b->inputs[i].id);
}

// ---- The whole

// The gradient a y starts with: the caller's, or ones.
static rheos_output start_gradient(backprop *b, rheos_output y, size_t index) {
  rheos_scope *s = b->scope;
  const rheos_output none = {NULL, 0, 0};
  rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(y));
  char name[40];
  snprintf(name, sizeof(name), "grad_ys_%zu", index);
  rheos_output given = b->options->grad_ys != NULL ? b->options->grad_ys[index] : none;
  if (!rheos__is_some(given)) {
    if (rheos_dtype_is_complex(dtype)) {
      fail(b, RHEOS_INVALID("Gradients of complex tensors must set grad_ys (y.dtype = %s)",
                            rheos_dtype_name(dtype)));
      return none;
    }
    if (b->options->flat_names) return rheos__op_1(s, "OnesLike", y);
    rheos_output shape = rheos__shape_of(s, y, RHEOS_INT32);
    return rheos__op_2(s, "Fill", shape, rheos__const_scalar(s, dtype, 1, name));
  }
  rheos_dtype given_dtype = rheos_dtype_base(rheos_output_dtype(given));
  if (rheos_dtype_is_complex(given_dtype) != rheos_dtype_is_complex(dtype)) {
    fail(b, RHEOS_INVALID("grad_ys[%zu] is %s, which cannot be a gradient of a %s", index,
                          rheos_dtype_name(given_dtype), rheos_dtype_name(dtype)));
    return none;
  }
  if (b->options->flat_names) return given;
  return rheos_operation_output(rheos__op_n(s, "Identity", name, &given, 1, NULL, 0), 0);
}

static bool make_start_gradients(backprop *b, rheos_output *gradients) {
  for (size_t i = 0; i < b->num_ys && !failed(b); i++) {
    bool colocate = b->options->colocate_gradients_with_ops;
    if (colocate) rheos_push_colocation(b->scope, rheos_output_operation(b->ys[i]));
    gradients[i] = start_gradient(b, b->ys[i], i);
    if (colocate) rheos_scope_pop(b->scope);
  }
  return !failed(b);
}

static void start(backprop *b, const rheos_output *gradients) {
  for (size_t i = 0; i < b->num_ys; i++) {
    const rheos_gradient gradient = {.values = gradients[i]};
    if (!failed(b)) add_arrival(b, b->ys[i], &gradient);
  }
  for (size_t i = 0; i < b->num_ys && !failed(b); i++) {
    int32_t id = b->ys[i].id;
    const unsigned both = RHEOS__PATH_BETWEEN | RHEOS__PATH_IS_Y;
    if (!rheos__path_covers(&b->paths, id)) continue;
    uint8_t *flags = &b->paths.flags[id - b->paths.first_id];
    if ((*flags & both) != both) continue;
    *flags &= (uint8_t)~RHEOS__PATH_IS_Y;  // once, however many ys it has
    if (!rheos__path_is_free(&b->paths, id)) continue;
    rheos__path_set(&b->paths, id, RHEOS__PATH_IS_START);
    enqueue(b, id);
  }
  start_exits(b);
}

static void propagate(backprop *b, const rheos_output *xs, size_t num_xs) {
  rheos_output *gradients = rheos__alloc_array(b->num_ys + 1, sizeof *gradients);
  if (gradients == NULL) fail(b, rheos__out_of_memory());
  if (gradients != NULL && make_start_gradients(b, gradients)) {
    rheos__paths_mark(&b->paths);
    if (!failed(b)) start(b, gradients);
    rheos__paths_mark_stops(&b->paths, xs, num_xs);
    while (b->queue_first < b->queue_last && !failed(b)) visit(b, b->queue[b->queue_first++]);
    if (!failed(b)) rheos__loops_finish(&b->paths.loops, b->scope);
  }
  rheos__free(gradients);
}

static rheos_status *check_arguments(const backprop *b, const rheos_output *ys, size_t num_ys,
                                     const rheos_output *xs, size_t num_xs) {
  const rheos_gradients_options *o = b->options;
  RHEOS_TRY(rheos__check_outputs(b->graph, ys, num_ys, "ys", false));
  RHEOS_TRY(rheos__check_outputs(b->graph, xs, num_xs, "xs", false));
  const size_t num_grad_ys = o->grad_ys != NULL ? num_ys : 0;
  RHEOS_TRY(rheos__check_outputs(b->graph, o->grad_ys, num_grad_ys, "grad_ys", true));
  RHEOS_TRY(rheos__check_outputs(b->graph, o->stop_gradients, o->num_stop_gradients,
                                 "stop_gradients", false));
  const rheos_recorded *r = o->recorded;
  if (r == NULL) return NULL;
  RHEOS_NEED_LIST(r->spans, r->num_spans);
  RHEOS_NEED_LIST(r->since, r->num_watched);
  return rheos__check_outputs(b->graph, r->watched, r->num_watched, "watched", false);
}

static bool init_backprop(backprop *b, const rheos_output *ys, size_t num_ys,
                          const rheos_output *xs, size_t num_xs) {
  if (!rheos__scope_goes_on(b->scope, check_arguments(b, ys, num_ys, xs, num_xs))) return false;
  rheos__contexts_recover(b->scope);
  if (failed(b)) return false;
  if (!rheos__paths_init(&b->paths, xs, num_xs)) return false;
  const size_t count = (size_t)(b->paths.end_id - b->paths.first_id);
  b->arrivals = rheos__alloc_array(count, sizeof(int32_t));
  b->last = rheos__alloc_array(count, sizeof(int32_t));
  if (b->arrivals == NULL || b->last == NULL) {
    fail(b, rheos__out_of_memory());
    return false;
  }
  return true;
}

static void deinit_backprop(backprop *b) {
  rheos__paths_deinit(&b->paths);
  rheos__free(b->arrivals);
  rheos__free(b->last);
  rheos__free(b->pool);
  rheos__free(b->queue);
  rheos__free(b->inputs);
  rheos__free(b->outputs);
  rheos__free(b->in_grads);
  rheos__free(b->out_grads);
  rheos__free(b->parts);
  rheos__free(b->starts);
}

void rheos_gradients_sized(rheos_scope *scope, const rheos_output *ys, size_t num_ys,
                           const rheos_output *xs, size_t num_xs,
                           const rheos_gradients_options *options, size_t options_bytes,
                           rheos_gradient *out_gradients) {
  rheos_gradients_options known;
  rheos_scope_fail_take(
      scope, RHEOS_READ_OPTIONS(rheos_gradients_options, options, options_bytes, &known));
  rheos_scope_fail_take(scope, RHEOS_LIST_STATUS(out_gradients, num_xs));
  if (!rheos__is_list(out_gradients, num_xs, sizeof *out_gradients)) return;
  backprop b = {.scope = scope,
                .graph = rheos_scope_graph(scope),
                .options = &known,
                .paths = {.scope = scope, .options = &known, .ys = ys, .num_ys = num_ys},
                .ys = ys,
                .num_ys = num_ys};
  if (!failed(&b) && init_backprop(&b, ys, num_ys, xs, num_xs)) {
    rheos_push_name_scope(scope, known.name != NULL ? known.name : "gradients");
    propagate(&b, xs, num_xs);
    rheos_scope_pop(scope);
  }
  // Only now: the ys may be the values of these, when a gradient is differentiated again.
  for (size_t i = 0; i < num_xs; i++) {
    const bool has = !failed(&b) && rheos__paths_lead_to(&b.paths, xs[i]);
    out_gradients[i] = has ? gradient_at(&b, xs[i]) : (rheos_gradient){.values = {NULL, 0, 0}};
  }
  deinit_backprop(&b);
}
