// Conditionals and loops, node by node as TensorFlow 1.15 makes them.
#include <rheos/control_flow.h>

#include <rheos/control_context.h>
#include <stdio.h>
#include <string.h>

#include "base/options.h"
#include "graph/build.h"
#include "graph/dependencies.h"
#include "graph/graph_impl.h"
#include "graph/handles.h"

static const rheos_output none = {NULL, 0, 0};
static const rheos__edge no_edge = {-1, 0};

static rheos__edge edge_of(rheos_output output) { return (rheos__edge){output.id, output.index}; }

static rheos_output output_of(const rheos_scope *s, rheos__edge edge) {
  return (rheos_output){s->graph, edge.id, edge.index};
}

static void take(rheos_scope *s, rheos_status *status) {
  if (status != NULL) rheos_scope_fail_take(s, status);
}

static void know(rheos_scope *s, rheos_control_context *context, rheos_output value,
                 rheos__edge inside) {
  if (context != NULL) take(s, rheos__context_know(context, edge_of(value), inside));
}

static bool is_output(const rheos_scope *s, rheos_output output) {
  if (output.graph != s->graph || output.id < 0 ||
      output.id >= rheos_graph_num_operations(s->graph)) {
    return false;
  }
  return output.index >= 0 && output.index < rheos__graph_node(s->graph, output.id)->num_outputs;
}

static bool check_outputs(rheos_scope *s, const rheos_output *outputs, size_t count,
                          const char *what) {
  for (size_t i = 0; i < count && s->status == NULL; i++) {
    if (!is_output(s, outputs[i])) take(s, RHEOS_INVALID("%s %zu is no tensor", what, i));
  }
  return s->status == NULL;
}

static bool is_reference(rheos_output output) {
  return rheos_dtype_is_ref(rheos_output_dtype(output));
}

// ---- Conditionals

static rheos_output identity_marked(rheos_scope *s, rheos_output value, const char *name) {
  rheos_operation operation = rheos__op_n(s, "Identity", name, &value, 1, NULL, 0);
  if (operation.graph != NULL) {
    take(s, rheos__node_mark(s->graph, operation.id, RHEOS__UNFETCHABLE));
  }
  return rheos_operation_output(operation, 0);
}

static rheos_control_context *new_branch(rheos_scope *s, rheos_output pred, rheos_output pivot,
                                         int32_t branch) {
  rheos_control_context *context = rheos__context_new(s, false, "cond_text");
  if (context == NULL) return NULL;
  context->pred = edge_of(pred);
  context->pivot = edge_of(pivot);
  context->branch = branch;
  know(s, context, pred, context->pred);
  know(s, context, pivot, no_edge);
  take(s, rheos__node_set_context(s->graph, pivot.id, context));
  return context;
}

bool rheos_cond_begin(rheos_scope *s, rheos_output pred, rheos_control_context *out_branches[2]) {
  rheos_status *status = RHEOS_LIST_STATUS(out_branches, 2);
  if (status == NULL) out_branches[0] = out_branches[1] = NULL;
  if (!rheos__scope_goes_on(s, status)) return false;
  const rheos_output both[] = {pred, pred};
  rheos_operation sides = rheos__op_n(s, "Switch", "Switch", both, 2, NULL, 0);
  if (s->status != NULL) return false;
  take(s, rheos__node_mark(s->graph, sides.id, RHEOS__UNFETCHABLE));
  rheos_output if_true = identity_marked(s, rheos_operation_output(sides, 1), "switch_t");
  rheos_output if_false = identity_marked(s, rheos_operation_output(sides, 0), "switch_f");
  rheos_output id = identity_marked(s, pred, "pred_id");
  if (s->status != NULL) return false;
  out_branches[1] = new_branch(s, id, if_true, 1);
  out_branches[0] = new_branch(s, id, if_false, 0);
  return s->status == NULL;
}

static rheos_control_context *current_branch(rheos_scope *s) {
  if (s == NULL) return NULL;
  rheos_control_context *context = s->status == NULL ? s->now.context : NULL;
  if (s->status == NULL && (context == NULL || context->is_while)) {
    take(s, rheos_status_new(RHEOS_FAILED_PRECONDITION, "the scope is in no branch"));
    return NULL;
  }
  return context;
}

// The result of a branch that comes from outside of it.
static rheos_output foreign_result(rheos_scope *s, rheos_control_context *context,
                                   rheos_output value) {
  know(s, context, value, no_edge);
  rheos__edge real = edge_of(value);
  if (context->outer != NULL) {
    real = rheos__context_value_of(s, context->outer, real);
    know(s, context, output_of(s, real), real);
  }
  rheos_operation operation = rheos__switch_by(s, real, context->pred);
  if (s->status != NULL) return none;
  rheos_output result = rheos_operation_output(operation, context->branch);
  know(s, context, value, edge_of(result));
  return result;
}

rheos_output rheos_cond_result(rheos_scope *s, rheos_output value) {
  rheos_control_context *context = current_branch(s);
  if (context == NULL || !check_outputs(s, &value, 1, "result")) return none;
  const rheos__context_value *known = rheos__context_find(context, edge_of(value));
  rheos_output result = value;
  if (known == NULL) {
    result = foreign_result(s, context, value);
  } else if (known->inside.id >= 0) {
    result = output_of(s, known->inside);
  }
  if (s->status != NULL) return none;
  know(s, context->outer, result, no_edge);
  return result;
}

rheos_output rheos_cond_result_after(rheos_scope *s, rheos_operation operation) {
  rheos_control_context *context = current_branch(s);
  if (context == NULL ||
      !rheos__scope_goes_on(s, rheos__check_operation(s->graph, operation, "the operation"))) {
    return none;
  }
  rheos_output pivot = output_of(s, context->pivot);
  rheos_output waited = rheos__with_dependency(s, operation, pivot);
  return s->status == NULL ? rheos_cond_result(s, waited) : none;
}

rheos_output rheos_cond_merge(rheos_scope *s, rheos_output if_false, rheos_output if_true) {
  if (s == NULL || s->status != NULL) return none;
  const rheos_output both[] = {if_false, if_true};
  if (!check_outputs(s, both, 2, "result")) return none;
  bool is_ref = is_reference(if_false) && is_reference(if_true);
  for (int i = 0; is_ref && i < 2; i++) rheos_push_colocation(s, rheos_output_operation(both[i]));
  rheos_operation merge = rheos__op_n(s, is_ref ? "RefMerge" : "Merge", "Merge", both, 2, NULL, 0);
  for (int i = 0; is_ref && i < 2; i++) rheos_scope_pop(s);
  return merge.graph != NULL ? rheos_operation_output(merge, 0) : none;
}

static void build_branch(rheos_scope *s, rheos_control_context *context,
                         rheos_branch_function function, void *argument, rheos_output *outputs,
                         size_t count) {
  rheos_push_control_context(s, context);
  for (size_t i = 0; i < count; i++) outputs[i] = none;
  if (s->status == NULL) function(s, argument, outputs, count);
  check_outputs(s, outputs, count, "result");
  for (size_t i = 0; i < count; i++) outputs[i] = rheos_cond_result(s, outputs[i]);
  rheos_scope_pop(s);
}

static void merge_branches(rheos_scope *s, const rheos_output *if_false,
                           const rheos_output *if_true, rheos_output *outputs, size_t count) {
  for (size_t i = 0; i < count && s->status == NULL; i++) {
    rheos_dtype x = rheos_output_dtype(if_true[i]), y = rheos_output_dtype(if_false[i]);
    if (rheos_dtype_base(x) == rheos_dtype_base(y)) continue;
    take(s, RHEOS_INVALID("Outputs of true_fn and false_fn must have the same type: %s, %s",
                          rheos__python_dtype(x), rheos__python_dtype(y)));
  }
  for (size_t i = 0; i < count; i++) outputs[i] = rheos_cond_merge(s, if_false[i], if_true[i]);
  for (size_t i = 0; i < count && s->status != NULL; i++) outputs[i] = none;
}

// Sets the outputs to none, where there is room for them, and says whether to go on.
static bool begin_outputs(rheos_scope *s, rheos_output *outputs, size_t count) {
  rheos_status *status = RHEOS_LIST_STATUS(outputs, count);
  for (size_t i = 0; i < count && status == NULL; i++) outputs[i] = none;
  return rheos__scope_goes_on(s, status);
}

static rheos_status *check_branch(rheos_branch_function function) {
  return function != NULL ? NULL : RHEOS_INVALID("the function of a branch is NULL");
}

// Functions of the two sides may have arguments of their own.
static void build_cond(rheos_scope *s, rheos_output pred, rheos_branch_function if_true,
                       void *true_argument, rheos_branch_function if_false, void *false_argument,
                       const char *name, rheos_output *outputs, size_t count) {
  rheos_output *results = rheos__alloc_array(count != 0 ? count : 1, 2 * sizeof *results);
  if (results == NULL) take(s, rheos__out_of_memory());
  for (size_t i = 0; i < count; i++) outputs[i] = none;
  rheos_push_name_scope(s, name != NULL ? name : "cond");
  rheos_control_context *branches[2];
  if (s->status == NULL && rheos_cond_begin(s, pred, branches)) {
    build_branch(s, branches[1], if_true, true_argument, results, count);
    build_branch(s, branches[0], if_false, false_argument, results + count, count);
    if (s->status == NULL) merge_branches(s, results + count, results, outputs, count);
  }
  rheos_scope_pop(s);
  rheos__free(results);
}

void rheos_cond(rheos_scope *s, rheos_output pred, rheos_branch_function if_true,
                rheos_branch_function if_false, void *argument, const char *name,
                rheos_output *outputs, size_t num_outputs) {
  if (!begin_outputs(s, outputs, num_outputs) || !rheos__scope_goes_on(s, check_branch(if_true)) ||
      !rheos__scope_goes_on(s, check_branch(if_false))) {
    return;
  }
  build_cond(s, pred, if_true, argument, if_false, argument, name, outputs, num_outputs);
}

// The branches of a case that are left.
typedef struct case_rest {
  const rheos_case_branch *branches;
  size_t num_branches;
  rheos_branch_function otherwise;
  void *argument;
} case_rest;

static void build_rest(rheos_scope *s, void *argument, rheos_output *outputs, size_t num_outputs) {
  const case_rest *rest = argument;
  if (rest->num_branches == 0) {
    rest->otherwise(s, rest->argument, outputs, num_outputs);
    return;
  }
  case_rest next = {rest->branches + 1, rest->num_branches - 1, rest->otherwise, rest->argument};
  build_cond(s, rest->branches->pred, rest->branches->function, rest->argument, build_rest, &next,
             NULL, outputs, num_outputs);
}

void rheos_case(rheos_scope *s, const rheos_case_branch *branches, size_t num_branches,
                rheos_branch_function otherwise, void *argument, const char *name,
                rheos_output *outputs, size_t num_outputs) {
  if (!begin_outputs(s, outputs, num_outputs) ||
      !rheos__scope_goes_on(s, RHEOS_LIST_STATUS(branches, num_branches)) ||
      !rheos__scope_goes_on(s, check_branch(otherwise))) {
    return;
  }
  for (size_t i = 0; i < num_branches; i++) {
    if (!rheos__scope_goes_on(s, check_branch(branches[i].function))) return;
  }
  rheos_push_name_scope(s, name != NULL ? name : "case");
  case_rest rest = {branches, num_branches, otherwise, argument};
  if (s->status == NULL) build_rest(s, &rest, outputs, num_outputs);
  rheos_scope_pop(s);
}

// ---- Loops

static void python_shape(const rheos_shape *shape, char *text, size_t size_bytes) {
  if (shape->rank < 0) {
    snprintf(text, size_bytes, "<unknown>");
    return;
  }
  size_t used = (size_t)snprintf(text, size_bytes, "(");
  for (int32_t i = 0; i < shape->rank; i++) {
    const char *before = i > 0 ? ", " : "";
    int length = shape->dims[i] < 0 ? snprintf(text + used, size_bytes - used, "%s?", before)
                                    : snprintf(text + used, size_bytes - used, "%s%lld", before,
                                               (long long)shape->dims[i]);
    used += (size_t)length;
  }
  snprintf(text + used, size_bytes - used, shape->rank == 1 ? ",)" : ")");
}

enum { shape_text_bytes = 24 * RHEOS_MAX_RANK + 8 };

// Whether every tensor of shape `x` is one of shape `y`.
static bool is_within(const rheos_shape *x, const rheos_shape *y) {
  if (y->rank < 0) return true;
  if (x->rank != y->rank) return false;
  for (int32_t i = 0; i < y->rank; i++) {
    if (y->dims[i] >= 0 && x->dims[i] != y->dims[i]) return false;
  }
  return true;
}

static void describe(rheos_output value, const rheos_shape *shape, char *name, size_t name_bytes,
                     char *text) {
  rheos_operation_name(rheos_output_operation(value), name, name_bytes);
  python_shape(shape, text, shape_text_bytes);
}

static rheos_status *set_invariant(rheos_output variable, rheos_output enter,
                                   const rheos_shape *shape) {
  if (shape->rank > RHEOS_MAX_RANK) {
    return RHEOS_INVALID("rank %d is more than the maximum of %d", shape->rank, RHEOS_MAX_RANK);
  }
  rheos_shape given = rheos_output_shape(variable);
  if (is_within(&given, shape)) return rheos_output_set_shape(enter, *shape);
  char name[256], enters[shape_text_bytes], wanted[shape_text_bytes];
  describe(variable, &given, name, sizeof name, enters);
  python_shape(shape, wanted, sizeof wanted);
  return RHEOS_INVALID(
      "The shape invariant specified for %s:%d is not compatible with the initial shape of the "
      "loop "
      "variable. It enters the loop with shape %s, but the specified shape invariant is %s.",
      name, variable.index, enters, wanted);
}

static rheos_control_context *new_loop(rheos_scope *s, const rheos_while_options *options,
                                       size_t count) {
  rheos_control_context *context = rheos__context_new(s, true, "while_context");
  if (context == NULL) return NULL;
  context->parallel_iterations =
      options->parallel_iterations != 0 ? options->parallel_iterations : 10;
  context->back_prop = !options->no_back_prop;
  context->swap_memory = options->swap_memory;
  if (options->max_iterations.graph != NULL) {
    context->maximum_iterations = edge_of(options->max_iterations);
  }
  rheos__edge *edges = rheos__graph_alloc(s->graph, 4 * count * sizeof *edges);
  if (edges == NULL) {
    take(s, rheos__out_of_memory());
    return NULL;
  }
  context->enters = edges;
  context->merges = edges + count;
  context->switches = edges + 2 * count;
  context->exits = edges + 3 * count;
  return context;
}

static bool is_constant_enter(const rheos_scope *s, int32_t id) {
  rheos_operation operation = {s->graph, id};
  const char *type = rheos_operation_type(operation);
  if (strcmp(type, "Enter") != 0 && strcmp(type, "RefEnter") != 0) return false;
  return rheos_operation_attr(operation, "is_constant").b;
}

// The Enters of the variables; `real` are the variables as they are around the loop.
static void enter_variables(rheos_scope *s, rheos_control_context *context,
                            const rheos_output *variables, rheos_output *real, size_t count) {
  for (size_t i = 0; i < count; i++) know(s, context, variables[i], no_edge);
  for (size_t i = 0; i < count; i++) {
    real[i] = output_of(s, rheos__context_value_of(s, context->outer, edge_of(variables[i])));
  }
  for (size_t i = 0; i < count && s->status == NULL; i++) {
    rheos_operation enter = rheos__enter_frame(s, context, edge_of(real[i]), false);
    context->enters[i] = (rheos__edge){enter.id, 0};
  }
}

// What is the same in all trips of a loop around waits for that loop's pivot.
static void wait_for_outer_pivot(rheos_scope *s, const rheos_control_context *context,
                                 const rheos_output *real, size_t count) {
  const rheos_control_context *outer = context->outer;
  if (outer == NULL) return;
  int32_t pivot = rheos__control_pivot(outer);
  for (size_t i = 0; i < count && s->status == NULL; i++) {
    if (!is_constant_enter(s, real[i].id)) continue;
    if (!rheos__graph_add_controls(s->graph, context->enters[i].id, &pivot, 1)) {
      take(s, rheos__out_of_memory());
    }
  }
}

static void set_invariants(rheos_scope *s, const rheos_control_context *context,
                           const rheos_output *real, const rheos_shape *shapes, size_t count) {
  for (size_t i = 0; i < count && s->status == NULL; i++) {
    rheos_shape own = rheos_output_shape(real[i]);
    take(s, set_invariant(real[i], output_of(s, context->enters[i]),
                          shapes != NULL ? &shapes[i] : &own));
  }
}

static void begin_loop(rheos_scope *s, rheos_control_context *context,
                       const rheos_output *variables, size_t count, const rheos_shape *shapes,
                       rheos_output *out_variables) {
  enter_variables(s, context, variables, out_variables, count);
  wait_for_outer_pivot(s, context, out_variables, count);
  set_invariants(s, context, out_variables, shapes, count);
  for (size_t i = 0; i < count && s->status == NULL; i++) {
    rheos__fix_enter(s, context, context->enters[i].id);
  }
  rheos__context_forget(context);
  for (size_t i = 0; i < count && s->status == NULL; i++) {
    know(s, context, output_of(s, context->enters[i]), no_edge);
  }
  context->num_enters = (int32_t)count;
  for (size_t i = 0; i < count && s->status == NULL; i++) {
    rheos_output enter = output_of(s, context->enters[i]);
    const rheos_output both[] = {enter, enter};
    rheos_operation merge = rheos__op_n(s, "Merge", "Merge", both, 2, NULL, 0);
    out_variables[i] = rheos_operation_output(merge, 0);
    context->merges[i] = edge_of(out_variables[i]);
  }
  if (s->status == NULL) context->pivot_for_pred = edge_of(out_variables[0]);
}

static void check_limit(rheos_scope *s, rheos_output limit) {
  if (limit.graph == NULL) return;
  take(s, rheos__check_output(s->graph, limit, "the maximum of iterations"));
}

rheos_control_context *rheos_while_begin_sized(rheos_scope *s, const rheos_output *variables,
                                               size_t num_variables,
                                               const rheos_while_options *options,
                                               size_t options_bytes, rheos_output *out_variables) {
  rheos_while_options known = {0};
  if (!begin_outputs(s, out_variables, num_variables) ||
      !rheos__scope_goes_on(s, RHEOS_LIST_STATUS(variables, num_variables))) {
    return NULL;
  }
  take(s, RHEOS_READ_OPTIONS(rheos_while_options, options, options_bytes, &known));
  if (s->status == NULL && num_variables == 0) {
    take(s, RHEOS_INVALID("No loop variables provided"));
  }
  if (s->status == NULL && known.parallel_iterations < 0) {
    take(s, RHEOS_INVALID("`parallel_iterations` must be a positive integer: %d",
                          known.parallel_iterations));
  }
  check_limit(s, known.max_iterations);
  if (s->status != NULL || !check_outputs(s, variables, num_variables, "loop variable")) {
    return NULL;
  }
  rheos_control_context *context = new_loop(s, &known, num_variables);
  if (context == NULL) return NULL;
  rheos_push_control_context(s, context);
  begin_loop(s, context, variables, num_variables, known.shapes, out_variables);
  rheos_scope_pop(s);
  return s->status == NULL ? context : NULL;
}

static rheos_control_context *current_loop(rheos_scope *s) {
  if (s == NULL) return NULL;
  rheos_control_context *context = s->status == NULL ? s->now.context : NULL;
  if (s->status == NULL && (context == NULL || !context->is_while)) {
    take(s, rheos_status_new(RHEOS_FAILED_PRECONDITION, "the scope is in no loop"));
    return NULL;
  }
  if (context != NULL && context->merges == NULL) {
    take(s, rheos_status_new(RHEOS_FAILED_PRECONDITION, "the loop '%s' is there already",
                             context->name));
    return NULL;
  }
  return context;
}

void rheos_while_body(rheos_scope *s, rheos_output condition, rheos_output *out_variables) {
  rheos_control_context *context = current_loop(s);
  if (context == NULL || !check_outputs(s, &condition, 1, "condition") ||
      !rheos__scope_goes_on(s, RHEOS_LIST_STATUS(out_variables, (size_t)context->num_enters))) {
    return;
  }
  rheos_operation loop_cond = rheos__op_n(s, "LoopCond", "LoopCond", &condition, 1, NULL, 0);
  if (s->status != NULL) return;
  context->pivot = (rheos__edge){loop_cond.id, 0};
  int32_t count = context->num_enters;
  for (int32_t i = 0; i < count && s->status == NULL; i++) {
    rheos_operation sides = rheos__switch_by(s, context->merges[i], context->pivot);
    context->switches[i] = (rheos__edge){sides.id, 0};
  }
  for (int32_t i = 0; i < count && s->status == NULL; i++) {
    rheos_output taken = output_of(s, (rheos__edge){context->switches[i].id, 1});
    out_variables[i] = rheos__op_1(s, "Identity", taken);
  }
  if (s->status == NULL) context->pivot_for_body = edge_of(out_variables[0]);
}

// The value that a variable has in the next trip, led back to its Merge.
static rheos_status *check_next(const rheos_scope *s, const rheos_control_context *context,
                                int32_t index, rheos_output next) {
  rheos_output variable = output_of(s, context->merges[index]);
  rheos_shape before = rheos_output_shape(variable), after = rheos_output_shape(next);
  if (!is_within(&after, &before)) {
    rheos__edge edge = rheos__graph_node(s->graph, context->enters[index].id)->edges[0];
    rheos_output entered = output_of(s, edge);
    rheos_shape given = rheos_output_shape(entered);
    char name[256], enters[shape_text_bytes], leaves[shape_text_bytes];
    describe(entered, &given, name, sizeof name, enters);
    python_shape(&after, leaves, sizeof leaves);
    return RHEOS_INVALID(
        "Input tensor '%s:%d' enters the loop with shape %s, but has shape %s after one iteration. "
        "To allow the shape to vary across iterations, give a less specific one in `shapes` of "
        "rheos_while_options.",
        name, entered.index, enters, leaves);
  }
  rheos_dtype wanted = rheos_dtype_base(rheos_output_dtype(variable));
  rheos_dtype given = rheos_dtype_base(rheos_output_dtype(next));
  if (wanted == given) return NULL;
  char name[256], theirs[256];
  rheos_operation_name(rheos_output_operation(variable), name, sizeof name);
  rheos_operation_name(rheos_output_operation(next), theirs, sizeof theirs);
  return RHEOS_INVALID("Input 1 of node %s was passed %s from %s:%d incompatible with expected %s.",
                       name, rheos_dtype_name(given), theirs, next.index, rheos_dtype_name(wanted));
}

static void add_back_edge(rheos_scope *s, const rheos_control_context *context, int32_t index,
                          rheos_output next) {
  bool is_ref = is_reference(next);
  if (is_ref) rheos_push_colocation(s, rheos_output_operation(next));
  const char *type = is_ref ? "RefNextIteration" : "NextIteration";
  rheos_operation operation = rheos__op_n(s, type, type, &next, 1, NULL, 0);
  if (is_ref) rheos_scope_pop(s);
  if (s->status != NULL) return;
  rheos_output value = rheos_operation_output(operation, 0);
  take(s, check_next(s, context, index, value));
  if (s->status == NULL)
    rheos__graph_rewire(s->graph, context->merges[index].id, 1, edge_of(value));
}

void rheos_while_end(rheos_scope *s, const rheos_output *next, rheos_output *out_variables) {
  rheos_control_context *context = current_loop(s);
  int32_t count = context != NULL ? context->num_enters : 0;
  if (count == 0 || !rheos__scope_goes_on(s, RHEOS_LIST_STATUS(next, (size_t)count)) ||
      !rheos__scope_goes_on(s, RHEOS_LIST_STATUS(out_variables, (size_t)count))) {
    return;
  }
  if (context->pivot.id < 0) {
    take(s, rheos_status_new(RHEOS_FAILED_PRECONDITION, "the loop has no condition"));
  }
  check_outputs(s, next, (size_t)count, "next value");
  for (int32_t i = 0; i < count && s->status == NULL; i++) add_back_edge(s, context, i, next[i]);
  for (int32_t i = 0; i < count && s->status == NULL; i++) {
    out_variables[i] = rheos__op_1(s, "Exit", output_of(s, context->switches[i]));
    context->exits[i] = edge_of(out_variables[i]);
    context->num_exits = i + 1;
  }
  for (int32_t i = 0; i < count && s->status == NULL; i++) {
    know(s, context->outer, out_variables[i], no_edge);
  }
  for (int32_t i = 0; i < count && s->status != NULL; i++) out_variables[i] = none;
}

// A loop whose trips are counted, if it has a limit.
typedef struct counted_loop {
  rheos_condition_function condition;
  rheos_body_function body;
  void *argument;
  rheos_output limit;  // none: no limit
} counted_loop;

static rheos_output build_condition(rheos_scope *s, const counted_loop *loop,
                                    const rheos_output *variables, size_t count) {
  if (loop->limit.graph == NULL) return loop->condition(s, loop->argument, variables, count);
  rheos_output goes_on = rheos__op_2(s, "Less", variables[0], loop->limit);
  rheos_output wanted = loop->condition(s, loop->argument, variables + 1, count - 1);
  return rheos__op_2(s, "LogicalAnd", goes_on, wanted);
}

static void build_body(rheos_scope *s, const counted_loop *loop, const rheos_output *variables,
                       rheos_output *next, size_t count) {
  size_t first = loop->limit.graph != NULL ? 1 : 0;
  if (first != 0) {
    rheos_push_name_scope(s, "add");
    rheos_output one = rheos__const_scalar(s, rheos_output_dtype(loop->limit), 1, "y");
    char *name = rheos__scope_node_name(s);
    const rheos_output both[] = {variables[0], one};
    if (name != NULL) {
      next[0] = rheos_operation_output(rheos__op_n(s, "Add", name, both, 2, NULL, 0), 0);
    }
    rheos__free(name);
    rheos_scope_pop(s);
  }
  if (s->status == NULL) {
    loop->body(s, loop->argument, variables + first, next + first, count - first);
  }
}

static void build_loop(rheos_scope *s, const counted_loop *loop, const rheos_output *variables,
                       size_t count, const rheos_while_options *options, rheos_output *work) {
  rheos_output *inside = work, *next = work + count;
  rheos_control_context *context = rheos_while_begin(s, variables, count, options, inside);
  if (context == NULL) return;
  rheos_push_control_context(s, context);
  rheos_output condition = build_condition(s, loop, inside, count);
  rheos_while_body(s, condition, inside);
  for (size_t i = 0; i < count; i++) next[i] = none;
  if (s->status == NULL) build_body(s, loop, inside, next, count);
  rheos_while_end(s, next, inside);
  rheos_scope_pop(s);
}

static void run_loop(rheos_scope *s, counted_loop *loop, const rheos_output *variables,
                     size_t count, const rheos_while_options *options, rheos_output *outputs) {
  size_t first = loop->limit.graph != NULL ? 1 : 0;
  size_t total = count + first;
  rheos_output *work = rheos__alloc_array(total, 3 * sizeof *work);
  rheos_shape *shapes = options->shapes != NULL ? rheos__alloc_array(total, sizeof *shapes) : NULL;
  if (work == NULL || (options->shapes != NULL && shapes == NULL)) {
    take(s, rheos__out_of_memory());
  } else {
    rheos_while_options counted = *options;
    if (shapes != NULL) {
      shapes[0] = (rheos_shape){.rank = 0};
      memcpy(shapes + first, options->shapes, count * sizeof *shapes);
      counted.shapes = shapes;
    }
    if (first != 0) {
      rheos_dtype dtype = rheos_output_dtype(loop->limit);
      work[0] = rheos__const_scalar(s, dtype, 0, "iteration_counter");
    }
    memcpy(work + first, variables, count * sizeof *work);
    if (s->status == NULL) build_loop(s, loop, work, total, &counted, work + total);
    if (s->status == NULL) memcpy(outputs, work + total + first, count * sizeof *outputs);
  }
  rheos__free(shapes);
  rheos__free(work);
}

void rheos_while_loop_sized(rheos_scope *s, rheos_condition_function condition,
                            rheos_body_function body, void *argument, const rheos_output *variables,
                            size_t num_variables, const rheos_while_options *options,
                            size_t options_bytes, rheos_output *outputs) {
  rheos_while_options known = {0};
  if (!begin_outputs(s, outputs, num_variables) ||
      !rheos__scope_goes_on(s, RHEOS_LIST_STATUS(variables, num_variables))) {
    return;
  }
  take(s, RHEOS_READ_OPTIONS(rheos_while_options, options, options_bytes, &known));
  if (condition == NULL || body == NULL) take(s, RHEOS_INVALID("a function of the loop is NULL"));
  check_limit(s, known.max_iterations);
  if (s->status != NULL) return;
  if (num_variables == 0) {
    take(s, RHEOS_INVALID("No loop variables provided"));
    return;
  }
  counted_loop loop = {condition, body, argument, known.max_iterations};
  rheos_push_name_scope(s, known.name != NULL ? known.name : "while");
  if (s->status == NULL) run_loop(s, &loop, variables, num_variables, &known, outputs);
  rheos_scope_pop(s);
}
