// What control flow costs: a trip of a loop, with its gradient too, a conditional beyond its
// branch, a call; by functions and by version 1's nodes. Scalars throughout. Processor time of the
// one thread. One JSON object a line.
#include <string.h>

#include <rheos/control_flow.h>
#include <rheos/ops.h>
#include <rheos/scope.h>
#include <rheos/session.h>
#include <rheos/train.h>

#define BENCH_CLOCK CLOCK_THREAD_CPUTIME_ID
#include "bench.h"
#include "graph/library.h"

enum { FEW_TRIPS = 1000, MANY_TRIPS = 21000, COPIES = 200 };
enum { KEPT_TRIPS = 1000000 };
enum { TRIP_GOAL_NS = 60, KEPT_GOAL_NS = 200, COND_GOAL_NS = 50, CALL_GOAL_NS = 100 };

static rheos_output float_of(rheos_scope *s, float value) {
  return rheos_constant_float(s, value, NULL);
}

// ---- What is measured: a loop of three ops on scalars, a branch of one

static rheos_output goes_on(rheos_scope *s, void *limit, const rheos_output *v, size_t count) {
  (void)count;
  return rheos_less(s, v[0], *(rheos_output *)limit);
}

static void next_values(rheos_scope *s, void *argument, const rheos_output *v, rheos_output *next,
                        size_t count) {
  (void)argument, (void)count;
  next[0] = rheos_add(s, v[0], float_of(s, 1));
  next[1] = rheos_add(s, rheos_mul(s, v[1], float_of(s, 0.5F)), float_of(s, 1));
}

// A body whose gradient needs what each trip began with.
static void next_square(rheos_scope *s, void *argument, const rheos_output *v, rheos_output *next,
                        size_t count) {
  (void)argument, (void)count;
  next[0] = rheos_add(s, v[0], float_of(s, 1));
  next[1] = rheos_square(s, v[1]);
}

static void branch_value(rheos_scope *s, void *argument, rheos_output *outputs, size_t count) {
  (void)count;
  outputs[0] = rheos_add(s, *(rheos_output *)argument, float_of(s, 1));
}

// ---- The same as functions

enum { MAX_ENDS = 3 };

static rheos_output argument_of(rheos_scope *s, int64_t index) {
  const rheos_attr attrs[] = {rheos_attr_type("T", RHEOS_FLOAT), rheos_attr_int("index", index)};
  const rheos_op_args args = {.type = "_Arg", .name = "arg", .attrs = attrs, .num_attrs = 2};
  const rheos_output output = rheos_operation_output(rheos_op(s, &args), 0);
  rheos_scope_fail_take(s, rheos_output_set_shape(output, RHEOS_SCALAR));
  return output;
}

static void result_is(rheos_scope *s, rheos_output value, int64_t index) {
  const rheos_attr attrs[] = {rheos_attr_int("index", index)};
  const rheos_op_args args = {.type = "_Retval",
                              .name = "result",
                              .attrs = attrs,
                              .num_attrs = 1,
                              .inputs = &value,
                              .num_inputs = 1};
  rheos_op(s, &args);
}

// The loop's variables are the two and its limit.
static void make_nodes(rheos_scope *s, const char *name) {
  rheos_output args[3], results[3];
  for (int32_t i = 0; i < 3; i++) args[i] = argument_of(s, i);
  results[2] = args[2];
  if (strcmp(name, "goes_on") == 0) {
    result_is(s, goes_on(s, &args[2], args, 2), 0);
    return;
  }
  (strcmp(name, "next_square") == 0 ? next_square : next_values)(s, NULL, args, results, 2);
  for (int32_t i = 0; i < 3; i++) result_is(s, results[i], i);
}

static void make_branch(rheos_scope *s) {
  rheos_output arg = argument_of(s, 0), result = {0};
  branch_value(s, &arg, &result, 1);
  result_is(s, result, 0);
}

static rheos_status *make_body(rheos_graph *graph, const rheos_func *func,
                               rheos__function *function) {
  (void)func, (void)graph;
  rheos_scope *s = rheos_scope_new(function->graph);
  if (strcmp(function->name, "branch") == 0) {
    make_branch(s);
  } else {
    make_nodes(s, function->name);
  }
  rheos_status *status = rheos_scope_finish(s);
  rheos_scope_free(s);
  return status;
}

static rheos_func function_named(const char *name) {
  return (rheos_func){.name = {(char *)(uintptr_t)name, strlen(name)}};
}

static rheos_output call(rheos_scope *s, const char *op, const rheos_output *inputs,
                         size_t num_inputs, const rheos_attr *attrs, size_t num_attrs) {
  const rheos_op_args args = {.type = op,
                              .attrs = attrs,
                              .num_attrs = num_attrs,
                              .inputs = inputs,
                              .num_inputs = num_inputs};
  return rheos_operation_output(rheos_op(s, &args), num_inputs == 3 ? 1 : 0);
}

// ---- Programs: of `count` trips or copies

typedef rheos_output (*program)(rheos_scope *s, rheos_output value, rheos_output limit, int count);

static rheos_output while_of(rheos_scope *s, const char *body_name, rheos_output value,
                             rheos_output limit) {
  const rheos_func condition = function_named("goes_on"), body = function_named(body_name);
  const rheos_attr attrs[] = {rheos_attr_func("cond", &condition), rheos_attr_func("body", &body)};
  return call(s, "While", (rheos_output[]){float_of(s, 0), value, limit}, 3, attrs, 2);
}

static rheos_output loop_of_functions(rheos_scope *s, rheos_output value, rheos_output limit,
                                      int count) {
  (void)count;
  return while_of(s, "next_values", value, limit);
}

static rheos_output loop_of_nodes(rheos_scope *s, rheos_output value, rheos_output limit,
                                  int count) {
  (void)count;
  rheos_output outputs[2];
  const rheos_output variables[] = {float_of(s, 0), value};
  rheos_while_loop(s, goes_on, next_values, &limit, variables, 2, NULL, outputs);
  return outputs[1];
}

static rheos_output gradient_of(rheos_scope *s, rheos_output result, rheos_output value) {
  rheos_gradient gradient = {0};
  rheos_gradients(s, &result, 1, &value, 1, NULL, &gradient);
  return gradient.values;
}

static rheos_output kept_by_functions(rheos_scope *s, rheos_output value, rheos_output limit,
                                      int count) {
  (void)count;
  return gradient_of(s, while_of(s, "next_square", value, limit), value);
}

static rheos_output kept_by_nodes(rheos_scope *s, rheos_output value, rheos_output limit,
                                  int count) {
  (void)count;
  rheos_output outputs[2];
  const rheos_output variables[] = {float_of(s, 0), value};
  rheos_while_loop(s, goes_on, next_square, &limit, variables, 2, NULL, outputs);
  return gradient_of(s, outputs[1], value);
}

static rheos_output is_less(rheos_scope *s, rheos_output value, rheos_output limit) {
  return rheos_less(s, value, limit);
}

static rheos_output branches_alone(rheos_scope *s, rheos_output value, rheos_output limit,
                                   int count) {
  for (int i = 0; i < count; i++) {
    is_less(s, value, limit);
    branch_value(s, &value, &value, 1);
  }
  return value;
}

static rheos_output conditionals_of_functions(rheos_scope *s, rheos_output value,
                                              rheos_output limit, int count) {
  static const rheos_dtype types[] = {RHEOS_FLOAT};
  const rheos_func branch = function_named("branch");
  const rheos_attr attrs[] = {rheos_attr_types("Tout", types, 1),
                              rheos_attr_func("then_branch", &branch),
                              rheos_attr_func("else_branch", &branch)};
  for (int i = 0; i < count; i++) {
    value = call(s, "If", (rheos_output[]){is_less(s, value, limit), value}, 2, attrs, 3);
  }
  return value;
}

static rheos_output conditionals_of_nodes(rheos_scope *s, rheos_output value, rheos_output limit,
                                          int count) {
  for (int i = 0; i < count; i++) {
    rheos_output from = value;
    rheos_cond(s, is_less(s, from, limit), branch_value, branch_value, &from, NULL, &value, 1);
  }
  return value;
}

static rheos_output calls(rheos_scope *s, rheos_output value, rheos_output limit, int count) {
  (void)limit;
  static const rheos_dtype types[] = {RHEOS_FLOAT};
  const rheos_func branch = function_named("branch");
  const rheos_attr attrs[] = {rheos_attr_types("Tout", types, 1), rheos_attr_func("f", &branch)};
  for (int i = 0; i < count; i++) value = call(s, "StatefulPartitionedCall", &value, 1, attrs, 2);
  return value;
}

static rheos_output nothing_called(rheos_scope *s, rheos_output value, rheos_output limit,
                                   int count) {
  (void)limit;
  for (int i = 0; i < count; i++) branch_value(s, &value, &value, 1);
  return value;
}

static void run(void *argument) { check(rheos_callable_run(argument, NULL, NULL, NULL)); }

// ns of a step. Variables, or much would be computed before the first step.
static double step_ns(program p, int count) {
  rheos_graph *graph = rheos_graph_new();
  check(rheos__graph_set_body_maker(graph, make_body));
  rheos_scope *s = rheos_scope_new(graph);
  const rheos_output value =
      rheos_get_variable(s, "value", RHEOS_FLOAT, RHEOS_SCALAR, rheos_zeros());
  const rheos_output limit = rheos_get_variable(s, "limit", RHEOS_FLOAT, RHEOS_SCALAR,
                                                rheos_constant_initializer((float)count));
  const rheos_operation init = rheos_global_variables_initializer(s);
  const rheos_operation target =
      rheos_output_operation(p(s, rheos_identity(s, value), rheos_identity(s, limit), count));
  check(rheos_scope_finish(s));
  rheos_session *session = NULL;
  const rheos_session_options options = {.num_threads = 1};
  check(rheos_session_new(graph, &options, &session));
  check(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  rheos_callable *callable = NULL;
  check(rheos_callable_new(session, NULL, 0, NULL, 0, &target, 1, &callable));
  const double result = time_calls(run, callable,
                                   count >= KEPT_TRIPS   ? 1
                                   : count >= MANY_TRIPS ? 5
                                                         : 50);
  rheos_callable_free(callable);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  return result;
}

static double one_ns(program p, int few, int many) {
  return (step_ns(p, many) - step_ns(p, few)) / (many - few);
}

int main(void) {
  report("While, 3 ops: a trip", "ns", one_ns(loop_of_functions, FEW_TRIPS, MANY_TRIPS),
         TRIP_GOAL_NS, NULL, 0);
  report("Loop of version 1, 3 ops: a trip", "ns", one_ns(loop_of_nodes, FEW_TRIPS, MANY_TRIPS),
         TRIP_GOAL_NS, NULL, 0);
  report("While, a value kept: a trip with its gradient", "ns",
         one_ns(kept_by_functions, FEW_TRIPS, KEPT_TRIPS), KEPT_GOAL_NS, NULL, 0);
  report("Loop of version 1, the same", "ns", one_ns(kept_by_nodes, FEW_TRIPS, KEPT_TRIPS),
         KEPT_GOAL_NS, NULL, 0);
  const double branch = one_ns(branches_alone, 1, COPIES);
  report("If, beyond its branch", "ns", one_ns(conditionals_of_functions, 1, COPIES) - branch,
         COND_GOAL_NS, NULL, 0);
  report("Conditional of version 1, beyond its branch", "ns",
         one_ns(conditionals_of_nodes, 1, COPIES) - branch, COND_GOAL_NS, NULL, 0);
  report("Call, beyond its body", "ns",
         one_ns(calls, 1, COPIES) - one_ns(nothing_called, 1, COPIES), CALL_GOAL_NS, NULL, 0);
  return 0;
}
