// The nodes that do what a call does. See lowering.h.
#include "format/partition/lowering.h"

#include <rheos/control_context.h>
#include <string.h>

#include "base/file.h"
#include "graph/build.h"
#include "graph/dependencies.h"
#include "graph/graph_impl.h"
#include "graph/node_copies.h"

static const rheos_output none = {NULL, 0, 0};

static void fail(rheos_scope *s, rheos_status *status) {
  if (status != NULL) rheos_scope_fail_take(s, status);
}

static bool is_ok(const rheos_scope *s) { return s->status == NULL; }

// ---- Bodies

// Marks what results and effects are made of.
static bool mark_wanted(const rheos__function *f, bool *wanted) {
  for (int32_t i = 0; i < f->num_results; i++) wanted[f->results[i].id] = true;
  for (int32_t i = 0; i < f->num_targets; i++) wanted[f->targets[i]] = true;
  return rheos__mark_inputs(f->graph, wanted, true);
}

// A NoOp behind what the function runs whoever needs it; none where there is nothing.
static rheos_operation copy_effects(rheos_scope *s, const rheos__copier *c,
                                    const rheos__function *f) {
  rheos_operation *after = rheos__alloc_array((size_t)f->num_targets + 1, sizeof *after);
  rheos_operation all = {NULL, 0};
  size_t count = 0;
  if (after == NULL) {
    fail(s, rheos__out_of_memory());
    return all;
  }
  for (int32_t i = 0; i < f->num_targets; i++) {
    const int32_t copy = c->nodes[f->targets[i]];
    if (copy >= 0) after[count++] = (rheos_operation){s->graph, copy};
  }
  if (count > 0) {
    all = rheos_op(s, &(rheos_op_args){.type = "NoOp",
                                       .name = "effects",
                                       .control_inputs = after,
                                       .num_control_inputs = count});
  }
  rheos__free(after);
  return all;
}

// Copies the nodes of the function into the name scope `name`, and sets its results. Gives what its
// effects are done with.
static rheos_operation copy_body(rheos_scope *s, const rheos__function *f, const char *name,
                                 const rheos_output *args, rheos_output *results) {
  rheos_operation effects = {NULL, 0};
  rheos__copier c;
  rheos_push_name_scope(s, name);
  fail(s, rheos__copier_init(&c, f->graph, s));
  bool *wanted = is_ok(s) ? rheos__alloc_zeroed((size_t)c.num_nodes + 1) : NULL;
  if (is_ok(s) && (wanted == NULL || !mark_wanted(f, wanted))) fail(s, rheos__out_of_memory());
  if (is_ok(s)) {
    c.is_named_in_scope = true;
    for (int32_t i = 0; i < f->num_args; i++) rheos__copier_put(&c, f->args[i], args[i]);
    rheos__copy_nodes(&c, wanted);
    for (int32_t i = 0; i < f->num_results; i++) {
      results[i] = rheos__copy_edge(&c, f->results[i]);
    }
    if (is_ok(s)) effects = copy_effects(s, &c, f);
  }
  rheos__free(wanted);
  rheos__copier_deinit(&c);
  rheos_scope_pop(s);
  return effects;
}

// ---- A call that is lowered

typedef struct call {
  const rheos__node *node;
  const rheos__function **functions;
  size_t num_functions;
  rheos_output *inputs;  // without what chooses
  size_t num_inputs;
  rheos_output *outputs;
  size_t num_outputs;
} call;

static bool fits(const rheos__function *f, size_t num_args, size_t num_results) {
  return (size_t)f->num_args == num_args && (size_t)f->num_results == num_results;
}

static rheos_status *does_not_fit(const rheos__function *f, size_t num_args, size_t num_results) {
  return RHEOS_INVALID(
      "function %s takes %d and gives %d values, where it is called with %zu for "
      "%zu",
      f->name, (int)f->num_args, (int)f->num_results, num_args, num_results);
}

static rheos_operation lower_plain(rheos_scope *s, const call *c) {
  return copy_body(s, c->functions[0], "body", c->inputs, c->outputs);
}

// ---- Conditionals

typedef struct branches {
  const call *call;
  rheos_output index;  // which branch; none: there are two
  size_t first;        // of those that are left
} branches;

// The results of the branch, and a value that waits for its effects.
static void build_branch(rheos_scope *s, const branches *b, size_t which, rheos_output *outputs) {
  const call *c = b->call;
  const char *name = b->index.graph != NULL ? "branch" : which == 0 ? "then" : "else";
  const rheos_operation effects = copy_body(s, c->functions[which], name, c->inputs, outputs);
  if (!is_ok(s)) return;
  rheos_output done = rheos__const_scalar(s, RHEOS_BOOL, 1, "done");
  if (effects.graph != NULL) done = rheos__with_dependency(s, effects, done);
  outputs[c->num_outputs] = done;
}

static void build_choice(rheos_scope *s, const branches *b, rheos_output *outputs);

static void build_first(rheos_scope *s, void *argument, rheos_output *outputs, size_t count) {
  const branches *b = argument;
  (void)count;
  build_branch(s, b, b->first, outputs);
}

static void build_rest(rheos_scope *s, void *argument, rheos_output *outputs, size_t count) {
  branches rest = *(const branches *)argument;
  (void)count;
  rest.first++;
  if (rest.first + 1 == rest.call->num_functions) {
    build_branch(s, &rest, rest.first, outputs);
  } else {
    build_choice(s, &rest, outputs);
  }
}

// Out of range means the last.
static void build_choice(rheos_scope *s, const branches *b, rheos_output *outputs) {
  const rheos_output number = rheos__const_scalar(s, RHEOS_INT32, (double)b->first, "number");
  const rheos_output is_first = rheos__op_2(s, "Equal", b->index, number);
  rheos_cond(s, is_first, build_first, build_rest, (void *)(uintptr_t)b, "choice", outputs,
             b->call->num_outputs + 1);
}

static rheos_operation lower_conditional(rheos_scope *s, const call *c, rheos_output chooser,
                                         bool is_case) {
  rheos_output *outputs = rheos__alloc_array(c->num_outputs + 1, sizeof *outputs);
  branches b = {.call = c, .index = is_case ? chooser : none};
  for (size_t i = 0; i < c->num_functions && is_ok(s); i++) {
    if (!fits(c->functions[i], c->num_inputs, c->num_outputs)) {
      fail(s, does_not_fit(c->functions[i], c->num_inputs, c->num_outputs));
    }
  }
  if (outputs == NULL) {
    fail(s, rheos__out_of_memory());
  } else if (is_case && c->num_functions == 1) {
    if (is_ok(s)) build_branch(s, &b, 0, outputs);
  } else if (is_case) {
    if (is_ok(s)) build_choice(s, &b, outputs);
  } else {
    const rheos_shape shape = rheos_output_shape(chooser);
    const bool is_bool = rheos_output_dtype(chooser) == RHEOS_BOOL && shape.rank == 0;
    if (!is_bool) chooser = rheos__op_1(s, "ToBool", chooser);
    rheos_cond(s, chooser, build_first, build_rest, &b, "choice", outputs, c->num_outputs + 1);
  }
  rheos_operation done = {NULL, 0};
  if (is_ok(s)) {
    memcpy(c->outputs, outputs, c->num_outputs * sizeof *outputs);
    done = rheos_output_operation(outputs[c->num_outputs]);
  }
  rheos__free(outputs);
  return done;
}

// ---- Loops

// Variables that the body hands on as they came are no variables of the loop, but values from
// outside of it.
typedef struct loop {
  const call *call;
  rheos_output *args, *results;  // of a function, with room for all
  int32_t *variables;            // by variable: the argument that it is
  size_t num_variables;
} loop;

// The argument that a result is, through nodes that hand it on; -1: none.
static int32_t argument_of(const rheos__function *f, rheos__edge edge) {
  const rheos__node *node = rheos__graph_node(f->graph, edge.id);
  while (strcmp(node->signature->op->name, "Identity") == 0) {
    edge = node->edges[0];
    node = rheos__graph_node(f->graph, edge.id);
  }
  for (int32_t i = 0; i < f->num_args; i++) {
    if (f->args[i].id == edge.id && f->args[i].index == edge.index) return i;
  }
  return -1;
}

static void enter_args(loop *l, const rheos_output *variables) {
  memcpy(l->args, l->call->inputs, l->call->num_inputs * sizeof *l->args);
  for (size_t i = 0; i < l->num_variables; i++) l->args[l->variables[i]] = variables[i];
}

static rheos_output build_condition(rheos_scope *s, void *argument, const rheos_output *variables,
                                    size_t num_variables) {
  loop *l = argument;
  (void)num_variables;
  enter_args(l, variables);
  rheos_output holds = none;
  const rheos_operation effects = copy_body(s, l->call->functions[0], "cond", l->args, &holds);
  if (!is_ok(s)) return none;
  const rheos_shape shape = rheos_output_shape(holds);
  if (rheos_output_dtype(holds) != RHEOS_BOOL || shape.rank != 0) {
    holds = rheos__op_1(s, "ToBool", holds);
  }
  return effects.graph != NULL ? rheos__with_dependency(s, effects, holds) : holds;
}

// The last variable waits for the effects.
static void build_body(rheos_scope *s, void *argument, const rheos_output *variables,
                       rheos_output *next, size_t num_variables) {
  loop *l = argument;
  enter_args(l, variables);
  const rheos_operation effects = copy_body(s, l->call->functions[1], "body", l->args, l->results);
  if (!is_ok(s)) return;
  for (size_t i = 0; i < l->num_variables; i++) {
    next[i] = l->results[l->variables[i]];
    // What a call gives that is not lowered yet has no shape here; the loop says which one it has.
    if (rheos_output_shape(next[i]).rank >= 0) continue;
    fail(s, rheos_output_set_shape(next[i], rheos_output_shape(variables[i])));
  }
  rheos_output *done = &next[num_variables - 1];
  if (num_variables > l->num_variables) *done = variables[num_variables - 1];
  if (effects.graph != NULL) *done = rheos__with_dependency(s, effects, *done);
}

static rheos_status *find_variables(loop *l) {
  const call *c = l->call;
  const rheos__function *condition = c->functions[0], *body = c->functions[1];
  const size_t count = c->num_inputs;
  if (!fits(condition, count, 1)) return does_not_fit(condition, count, 1);
  if (!fits(body, count, c->num_outputs)) return does_not_fit(body, count, c->num_outputs);
  if (count != c->num_outputs) return RHEOS_INVALID("a loop gives as many values as it takes");
  for (size_t i = 0; i < count; i++) {
    if (argument_of(body, body->results[i]) == (int32_t)i) continue;
    if (rheos_output_dtype(c->inputs[i]) == RHEOS_RESOURCE) {
      return rheos_status_new(RHEOS_UNIMPLEMENTED,
                              "variable %zu of a loop that lies on several tasks is a resource, "
                              "which is another one in each trip",
                              i);
    }
    l->variables[l->num_variables++] = (int32_t)i;
  }
  return NULL;
}

static bool is_kept_shape(const rheos_shape *before, const rheos_shape *after) {
  if (after->rank < 0) return true;
  if (before->rank != after->rank) return false;
  for (int32_t d = 0; d < after->rank; d++) {
    if (after->dims[d] >= 0 && after->dims[d] != before->dims[d]) return false;
  }
  return true;
}

static rheos_operation run_loop(rheos_scope *s, loop *l, rheos_output *in, rheos_output *out,
                                rheos_shape *shapes) {
  const call *c = l->call;
  const rheos_attr_value *parallel = rheos__attrs_find(c->node->attrs, "parallel_iterations");
  size_t count = l->num_variables;
  for (size_t i = 0; i < count; i++) {
    in[i] = c->inputs[l->variables[i]];
    const rheos_shape before = rheos_output_shape(in[i]);
    shapes[i] = *c->node->outputs[l->variables[i]].shape;
    if (!is_kept_shape(&before, &shapes[i])) shapes[i] = RHEOS_UNKNOWN_SHAPE;
  }
  if (count == 0) {
    in[count] = rheos__const_scalar(s, RHEOS_BOOL, 1, "done");
    shapes[count++] = RHEOS_SCALAR;
  }
  const rheos_while_options options = {
      .name = "loop",
      .shapes = shapes,
      .parallel_iterations = parallel != NULL && parallel->i > 0 ? (int32_t)parallel->i : 0};
  if (is_ok(s)) rheos_while_loop(s, build_condition, build_body, l, in, count, &options, out);
  if (!is_ok(s)) return (rheos_operation){NULL, 0};
  memcpy(c->outputs, c->inputs, c->num_outputs * sizeof *c->outputs);
  for (size_t i = 0; i < l->num_variables; i++) c->outputs[l->variables[i]] = out[i];
  return rheos_output_operation(out[count - 1]);
}

static rheos_operation lower_loop(rheos_scope *s, const call *c) {
  const size_t count = c->num_inputs + 1;
  loop l = {.call = c, .variables = rheos__alloc_array(count, sizeof *l.variables)};
  rheos_output *work = rheos__alloc_array(count, 4 * sizeof *work);
  rheos_shape *shapes = rheos__alloc_array(count, sizeof *shapes);
  rheos_operation done = {NULL, 0};
  if (l.variables == NULL || work == NULL || shapes == NULL) {
    fail(s, rheos__out_of_memory());
  } else {
    l.args = work;
    l.results = work + count;
    fail(s, find_variables(&l));
    if (is_ok(s)) done = run_loop(s, &l, work + 2 * count, work + 3 * count, shapes);
  }
  rheos__free(l.variables);
  rheos__free(work);
  rheos__free(shapes);
  return done;
}

// ---- All kinds

static rheos_operation lower_kind(rheos_scope *s, call *c, rheos__call_kind kind) {
  const bool chooses = kind == RHEOS__CALL_IF || kind == RHEOS__CALL_CASE;
  const rheos_output chooser = chooses ? c->inputs[0] : none;
  c->inputs += chooses;
  c->num_inputs -= chooses;
  if (chooses) return lower_conditional(s, c, chooser, kind == RHEOS__CALL_CASE);
  if (kind == RHEOS__CALL_WHILE) return lower_loop(s, c);
  if (fits(c->functions[0], c->num_inputs, c->num_outputs)) return lower_plain(s, c);
  fail(s, does_not_fit(c->functions[0], c->num_inputs, c->num_outputs));
  return (rheos_operation){NULL, 0};
}

// What the call waits for, as one operation; none where it waits for nothing.
static void push_controls(rheos_scope *s, const rheos__node *node) {
  const size_t count = (size_t)node->num_control_inputs;
  rheos_operation *controls = rheos__alloc_array(count + 1, sizeof *controls);
  if (controls == NULL) {
    fail(s, rheos__out_of_memory());
    return;
  }
  for (size_t i = 0; i < count; i++) {
    controls[i] = (rheos_operation){s->graph, node->edges[(size_t)node->num_inputs + i].id};
  }
  const rheos_operation all = rheos_op(s, &(rheos_op_args){.type = "NoOp",
                                                           .name = "before",
                                                           .control_inputs = controls,
                                                           .num_control_inputs = count});
  rheos__free(controls);
  if (is_ok(s)) rheos_push_control_dependencies(s, &all, 1);
}

// Where the call is, in its name scope.
static void enter(rheos_scope *s, int32_t id, const char *name) {
  const rheos__node *node = rheos__graph_node(s->graph, id);
  char *scope = rheos__text_format("%s/", name);
  const char *file;
  int32_t line;
  if (scope == NULL) {
    fail(s, rheos__out_of_memory());
    return;
  }
  rheos__scope_take_internal_names(s);
  rheos_operation_source((rheos_operation){s->graph, id}, &file, &line);
  rheos_scope_set_source(s, file, line);
  rheos_push_control_context(s, rheos__context_of(s->graph, id));
  rheos_push_name_scope(s, scope);
  rheos_push_device(s, node->device);
  rheos__free(scope);
  if (node->num_control_inputs > 0) push_controls(s, node);
}

static rheos_status *become_no_op(rheos_scope *s, int32_t id, const call *c, rheos_operation done) {
  int32_t *after = rheos__alloc_array(c->num_outputs + 1, sizeof *after);
  if (after == NULL) return rheos__out_of_memory();
  size_t count = 0;
  for (size_t i = 0; i < c->num_outputs; i++) after[count++] = c->outputs[i].id;
  if (done.graph != NULL) after[count++] = done.id;
  rheos__graph_lock(s->graph);
  rheos_status *status = rheos__graph_become_no_op(s->graph, id, after, count);
  rheos__graph_unlock(s->graph);
  rheos__free(after);
  return status;
}

static rheos_status *lower_in(rheos_scope *s, int32_t id, const char *name, call *c,
                              rheos__edge *outputs) {
  const rheos__node *node = rheos__graph_node(s->graph, id);
  for (size_t i = 0; i < c->num_inputs; i++) {
    c->inputs[i] = (rheos_output){s->graph, node->edges[i].id, node->edges[i].index};
  }
  call inner = *c;
  enter(s, id, name);
  rheos_operation done = {NULL, 0};
  if (is_ok(s)) done = lower_kind(s, &inner, rheos__call_kind_of(node));
  RHEOS_TRY(rheos_scope_finish(s));
  for (size_t i = 0; i < c->num_outputs; i++) {
    outputs[i] = (rheos__edge){c->outputs[i].id, c->outputs[i].index};
  }
  return become_no_op(s, id, c, done);
}

rheos_status *rheos__lower_call(rheos_graph *graph, int32_t id, rheos__edge *outputs) {
  const rheos__node *node = rheos__graph_node(graph, id);
  call c = {.node = node,
            .num_inputs = (size_t)node->num_inputs,
            .num_outputs = (size_t)node->num_outputs};
  RHEOS_TRY(rheos__functions_of_call(graph, node, &c.functions, &c.num_functions));
  c.inputs = rheos__alloc_array(c.num_inputs + 1, sizeof *c.inputs);
  c.outputs = rheos__alloc_array(c.num_outputs + 1, sizeof *c.outputs);
  char *name = rheos__node_name(graph, node);
  rheos_scope *s = rheos_scope_new(graph);
  rheos_status *status = NULL;
  if (c.inputs == NULL || c.outputs == NULL || name == NULL || s == NULL) {
    status = rheos__out_of_memory();
  } else {
    status = rheos__status_at_take(lower_in(s, id, name, &c, outputs), graph, id);
  }
  rheos_scope_free(s);
  rheos__free(name);
  rheos__free(c.inputs);
  rheos__free(c.outputs);
  rheos__free(c.functions);
  return status;
}
