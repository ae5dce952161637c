// Conditionals and loops built in C: nodes, contexts, errors, and building when memory is short.
// That the nodes are TensorFlow's is shown by tests/python/ops/test_control_flow.py.
#include <rheos/control_context.h>

#include "graph/graph_fixture.h"

#include "graph/build.h"
#include "graph/counting_allocator.h"

// "name: input, input, ^control" of the operation.
static void assert_node(rheos_graph *graph, const char *name, const char *type,
                        const char *wanted) {
  rheos_operation operation = rheos_graph_operation(graph, name);
  if (operation.graph == NULL) fail_msg("there is no operation '%s'", name);
  assert_string_equal(rheos_operation_type(operation), type);
  char text[512] = "", input[128];
  for (int32_t i = 0; i < rheos_operation_num_inputs(operation); i++) {
    rheos_output output = rheos_operation_input(operation, i);
    rheos_operation_name(rheos_output_operation(output), input, sizeof input);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s%s:%d", i > 0 ? ", " : "", input, output.index);
  }
  for (int32_t i = 0; i < rheos_operation_num_control_inputs(operation); i++) {
    rheos_operation_name(rheos_operation_control_input(operation, i), input, sizeof input);
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used, "%s^%s", used > 0 ? ", " : "", input);
  }
  assert_string_equal(text, wanted);
}

static const char *context_of(rheos_graph *graph, const char *name) {
  const rheos_control_context *context =
      rheos_operation_control_context(rheos_graph_operation(graph, name));
  return context != NULL ? rheos_control_context_describe(context).name : "none";
}

static rheos_output placeholder(rheos_scope *s, rheos_dtype dtype, const char *name) {
  const rheos_shape shape = RHEOS_SCALAR;
  const rheos_attr attrs[] = {rheos_attr_type("dtype", dtype), rheos_attr_shape("shape", &shape)};
  return rheos_operation_output(rheos__op_n(s, "Placeholder", name, NULL, 0, attrs, 2), 0);
}

// ---- Conditionals

static void twice(rheos_scope *s, void *argument, rheos_output *outputs, size_t num_outputs) {
  const rheos_output *x = argument;
  assert_true(num_outputs == 1);
  outputs[0] = rheos__op_2(s, "Add", *x, *x);
}

static void one(rheos_scope *s, void *argument, rheos_output *outputs, size_t num_outputs) {
  (void)argument;
  for (size_t i = 0; i < num_outputs; i++) outputs[i] = rheos_constant_float(s, 1, "one");
}

static void itself(rheos_scope *s, void *argument, rheos_output *outputs, size_t num_outputs) {
  (void)s;
  for (size_t i = 0; i < num_outputs; i++) outputs[i] = *(const rheos_output *)argument;
}

static void test_cond__leads_values_in_by_switches(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output pred = placeholder(f.scope, RHEOS_BOOL, "p"),
               x = placeholder(f.scope, RHEOS_FLOAT, "x");
  rheos_output y;
  rheos_cond(f.scope, pred, twice, one, &x, NULL, &y, 1);
  assert_scope_ok(f.scope);
  assert_node(f.graph, "cond/Switch", "Switch", "p:0, p:0");
  assert_node(f.graph, "cond/switch_t", "Identity", "cond/Switch:1");
  assert_node(f.graph, "cond/switch_f", "Identity", "cond/Switch:0");
  assert_node(f.graph, "cond/pred_id", "Identity", "p:0");
  assert_node(f.graph, "cond/Add", "Add", "cond/Add/Switch:1, cond/Add/Switch:1");
  assert_node(f.graph, "cond/Add/Switch", "Switch", "x:0, cond/pred_id:0");
  assert_node(f.graph, "cond/one", "Const", "^cond/switch_f");
  assert_node(f.graph, "cond/Merge", "Merge", "cond/one:0, cond/Add:0");
  assert_true(y.id == rheos_graph_operation(f.graph, "cond/Merge").id);
  assert_string_equal(context_of(f.graph, "cond/Add"), "cond/cond_text");
  assert_string_equal(context_of(f.graph, "cond/one"), "cond/cond_text_1");
  assert_string_equal(context_of(f.graph, "cond/Merge"), "none");
  assert_false(rheos_operation_is_fetchable(rheos_graph_operation(f.graph, "cond/Add")));
  assert_true(rheos_operation_is_fetchable(rheos_graph_operation(f.graph, "cond/Merge")));
  fixture_free(&f);
}

static void test_cond__returns_values_from_outside(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output pred = placeholder(f.scope, RHEOS_BOOL, "p"),
               x = placeholder(f.scope, RHEOS_FLOAT, "x");
  rheos_output y;
  rheos_cond(f.scope, pred, itself, itself, &x, "choice", &y, 1);
  assert_node(f.graph, "choice/Merge", "Merge", "choice/Switch_2:0, choice/Switch_1:1");
  fixture_free(&f);
}

typedef struct nest {
  rheos_output pred, x;
} nest;

static void inner_cond(rheos_scope *s, void *argument, rheos_output *outputs, size_t num_outputs) {
  nest *n = argument;
  rheos_cond(s, n->pred, twice, one, &n->x, NULL, outputs, num_outputs);
}

static void inner_one(rheos_scope *s, void *argument, rheos_output *outputs, size_t num_outputs) {
  one(s, argument, outputs, num_outputs);
}

static void test_cond__nests(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  nest n = {placeholder(f.scope, RHEOS_BOOL, "p"), placeholder(f.scope, RHEOS_FLOAT, "x")};
  rheos_output y;
  rheos_cond(f.scope, n.pred, inner_cond, inner_one, &n, NULL, &y, 1);
  assert_node(f.graph, "cond/cond/Add", "Add",
              "cond/cond/Add/Switch_1:1, cond/cond/Add/Switch_1:1");
  assert_node(f.graph, "cond/cond/Add/Switch_1", "Switch",
              "cond/cond/Add/Switch:1, cond/cond/pred_id:0");
  assert_node(f.graph, "cond/cond/Add/Switch", "Switch", "x:0, cond/pred_id:0");
  assert_string_equal(context_of(f.graph, "cond/cond/Add"), "cond/cond/cond_text");
  assert_string_equal(context_of(f.graph, "cond/cond/Merge"), "cond/cond_text");
  fixture_free(&f);
}

static void ints(rheos_scope *s, void *argument, rheos_output *outputs, size_t num_outputs) {
  (void)argument;
  for (size_t i = 0; i < num_outputs; i++) outputs[i] = rheos_constant_int(s, 1, "one");
}

static void nothing(rheos_scope *s, void *argument, rheos_output *outputs, size_t num_outputs) {
  (void)s, (void)argument, (void)outputs, (void)num_outputs;
}

static void test_cond__refuses_branches_that_differ(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output pred = placeholder(f.scope, RHEOS_BOOL, "p"), y;
  rheos_cond(f.scope, pred, one, ints, NULL, NULL, &y, 1);
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "must have the same type: float32, int32");
  assert_null(y.graph);
  rheos_cond(f.scope, pred, one, nothing, NULL, NULL, &y, 1);
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "result 0 is no tensor");
  rheos_cond(f.scope, rheos_constant_float(f.scope, 1, "f"), one, one, NULL, NULL, &y, 1);
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "expected type of bool");
  assert_null(rheos_scope_control_context(f.scope));
  fixture_free(&f);
}

static void test_case__takes_the_first_that_holds(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output p = placeholder(f.scope, RHEOS_BOOL, "p"), q = placeholder(f.scope, RHEOS_BOOL, "q");
  const rheos_case_branch branches[] = {{p, one}, {q, one}};
  rheos_output y;
  rheos_case(f.scope, branches, 2, one, NULL, NULL, &y, 1);
  assert_node(f.graph, "case/cond/Merge", "Merge", "case/cond/cond/Merge:0, case/cond/one:0");
  assert_node(f.graph, "case/cond/cond/Switch", "Switch",
              "case/cond/cond/Switch/Switch:0, case/cond/cond/Switch/Switch:0");
  fixture_free(&f);
}

// ---- Loops

static rheos_output below(rheos_scope *s, void *argument, const rheos_output *variables,
                          size_t num_variables) {
  (void)argument, (void)num_variables;
  return rheos__op_2(s, "Less", variables[0], rheos_constant_int(s, 10, "limit"));
}

static void step(rheos_scope *s, void *argument, const rheos_output *variables, rheos_output *next,
                 size_t num_variables) {
  const rheos_output *x = argument;
  next[0] = rheos__op_2(s, "Add", variables[0], rheos_constant_int(s, 1, "one"));
  if (num_variables > 1) next[1] = rheos__op_2(s, "Mul", variables[1], *x);
}

static void test_while__makes_a_frame(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output x = placeholder(f.scope, RHEOS_FLOAT, "x"), after[2];
  const rheos_output start[] = {rheos_constant_int(f.scope, 0, "zero"), x};
  rheos_while_loop(f.scope, below, step, &x, start, 2, NULL, after);
  assert_scope_ok(f.scope);
  assert_node(f.graph, "while/Enter", "Enter", "zero:0");
  assert_node(f.graph, "while/Merge_1", "Merge", "while/Enter_1:0, while/NextIteration_1:0");
  assert_node(f.graph, "while/limit", "Const", "^while/Merge");
  assert_node(f.graph, "while/LoopCond", "LoopCond", "while/Less:0");
  assert_node(f.graph, "while/Switch_1", "Switch", "while/Merge_1:0, while/LoopCond:0");
  assert_node(f.graph, "while/Identity", "Identity", "while/Switch:1");
  assert_node(f.graph, "while/one", "Const", "^while/Identity");
  assert_node(f.graph, "while/Mul", "Mul", "while/Identity_1:0, while/Mul/Enter:0");
  assert_node(f.graph, "while/Mul/Enter", "Enter", "x:0");
  assert_node(f.graph, "while/Exit_1", "Exit", "while/Switch_1:0");
  assert_true(after[1].id == rheos_graph_operation(f.graph, "while/Exit_1").id);
  rheos_operation enter = rheos_graph_operation(f.graph, "while/Mul/Enter");
  assert_true(rheos_operation_attr(enter, "is_constant").b);
  assert_string_equal(rheos_operation_attr(enter, "frame_name").s.data, "while/while_context");
  assert_string_equal(context_of(f.graph, "while/Exit"), "while/while_context");
  fixture_free(&f);
}

static void test_while__counts_its_trips(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output after, start = rheos_constant_int(f.scope, 0, "zero");
  const rheos_while_options options = {.name = "turns",
                                       .parallel_iterations = 3,
                                       .max_iterations = rheos_constant_int(f.scope, 5, "most")};
  rheos_while_loop(f.scope, below, step, NULL, &start, 1, &options, &after);
  assert_node(f.graph, "turns/Less", "Less", "turns/Merge:0, turns/Less/Enter:0");
  assert_node(f.graph, "turns/LogicalAnd", "LogicalAnd", "turns/Less:0, turns/Less_1:0");
  assert_node(f.graph, "turns/add", "Add", "turns/Identity:0, turns/add/y:0");
  assert_node(f.graph, "turns/Exit_1", "Exit", "turns/Switch_1:0");
  rheos_operation enter = rheos_graph_operation(f.graph, "turns/Enter");
  assert_int_equal(rheos_operation_attr(enter, "parallel_iterations").i, 3);
  const rheos_control_context *context =
      rheos_operation_control_context(rheos_graph_operation(f.graph, "turns/add"));
  rheos_control_context_info info = rheos_control_context_describe(context);
  assert_int_equal(info.num_enters, 2);
  assert_int_equal(info.num_exits, 2);
  assert_true(info.is_while && info.back_prop && !info.swap_memory);
  assert_true(info.max_iterations.id == options.max_iterations.id);
  fixture_free(&f);
}

static void grow(rheos_scope *s, void *argument, const rheos_output *variables, rheos_output *next,
                 size_t num_variables) {
  (void)argument, (void)num_variables;
  next[0] = rheos__op_1(s, "Shape", variables[0]);
}

static rheos_output always(rheos_scope *s, void *argument, const rheos_output *variables,
                           size_t num_variables) {
  (void)argument, (void)variables, (void)num_variables;
  return rheos__const_scalar(s, RHEOS_BOOL, 1, "true");
}

static void to_float(rheos_scope *s, void *argument, const rheos_output *variables,
                     rheos_output *next, size_t num_variables) {
  (void)argument, (void)variables, (void)num_variables;
  next[0] = rheos_constant_float(s, 1, "f");
}

static void test_while__refuses_what_does_not_stay(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output start = rheos_constant_int(f.scope, 0, "zero"), after;
  rheos_while_loop(f.scope, always, grow, NULL, &start, 1, NULL, &after);
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT,
               "'zero:0' enters the loop with shape (), but has shape (0,) after one iteration");
  rheos_while_loop(f.scope, always, to_float, NULL, &start, 1, NULL, &after);
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "was passed float from");
  const rheos_shape vector = {.rank = 1, .dims = {-1}};
  const rheos_while_options options = {.shapes = &vector};
  rheos_while_loop(f.scope, always, grow, NULL, &start, 1, &options, &after);
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "the specified shape invariant is (?,)");
  rheos_while_loop(f.scope, always, grow, NULL, NULL, 0, NULL, NULL);
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "No loop variables provided");
  assert_null(rheos_scope_control_context(f.scope));
  fixture_free(&f);
}

static void test_while__keeps_its_values_inside(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output start = rheos_constant_int(f.scope, 0, "zero"), after;
  rheos_while_loop(f.scope, below, step, NULL, &start, 1, NULL, &after);
  rheos_output inside = rheos_operation_output(rheos_graph_operation(f.graph, "while/Add"), 0);
  rheos__op_2(f.scope, "Add", inside, inside);
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT,
               "Cannot use 'while/Add' as input to 'Add' because 'while/Add' is in a while loop. "
               "See info log for more details.");
  rheos__op_2(f.scope, "Add", after, after);
  fixture_free(&f);
}

static void test_control_dependencies__stay_outside_of_loops(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output x = placeholder(f.scope, RHEOS_FLOAT, "x"), after;
  rheos_output start = rheos_constant_int(f.scope, 0, "zero");
  rheos_operation first = rheos_output_operation(x);
  rheos_push_control_dependencies(f.scope, &first, 1);
  rheos_while_loop(f.scope, below, step, NULL, &start, 1, NULL, &after);
  rheos_scope_pop(f.scope);
  assert_node(f.graph, "while/Enter", "Enter", "zero:0, ^x");
  assert_node(f.graph, "while/Merge", "Merge", "while/Enter:0, while/NextIteration:0");
  fixture_free(&f);
}

static void test_control_context__is_left_by_no_dependencies(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output pred = placeholder(f.scope, RHEOS_BOOL, "p");
  rheos_control_context *branches[2];
  assert_true(rheos_cond_begin(f.scope, pred, branches));
  rheos_push_control_context(f.scope, branches[1]);
  rheos_push_control_dependencies(f.scope, NULL, 0);
  rheos_constant_float(f.scope, 1, "outside");
  rheos_scope_pop(f.scope);
  rheos_constant_float(f.scope, 1, "inside");
  rheos_scope_pop(f.scope);
  assert_node(f.graph, "outside", "Const", "");
  assert_node(f.graph, "inside", "Const", "^switch_t");
  rheos_cond_result(f.scope, pred);
  expect_error(f.scope, RHEOS_FAILED_PRECONDITION, "the scope is in no branch");
  fixture_free(&f);
}

// ---- Memory

static void build_all(rheos_scope *s) {
  nest n = {placeholder(s, RHEOS_BOOL, "p"), placeholder(s, RHEOS_FLOAT, "x")};
  rheos_output y, after[2];
  rheos_cond(s, n.pred, inner_cond, inner_one, &n, NULL, &y, 1);
  const rheos_output start[] = {rheos_constant_int(s, 0, "zero"), n.x};
  if (rheos_scope_status(s) == NULL) rheos_while_loop(s, below, step, &n.x, start, 2, NULL, after);
}

static bool build_and_free(void) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  bool enough = false;
  if (scope != NULL) {
    build_all(scope);
    rheos_status *status = rheos_scope_finish(scope);
    enough = status == NULL;
    if (status != NULL) assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
    rheos_status_free(status);
  }
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
  return enough;
}

static bool fails_cleanly(int64_t fail_at, bool fail_after) {
  counting_allocator counter = {.fail_at = fail_at, .fail_after = fail_after};
  counting_allocator_install(&counter);
  bool enough = build_and_free();
  rheos_set_allocator(NULL);
  assert_int_equal(counter.alive, 0);
  return !enough;
}

static void test_control_flow__fails_with_a_status_when_memory_is_short(void **state) {
  (void)state;
  build_and_free();  // what is made once for the process
  int64_t request = 1;
  while (fails_cleanly(request, true)) request++;
  assert_true(request > 20);
  for (int64_t i = 1; i < request; i++) fails_cleanly(i, false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cond__leads_values_in_by_switches),
      cmocka_unit_test(test_cond__returns_values_from_outside),
      cmocka_unit_test(test_cond__nests),
      cmocka_unit_test(test_cond__refuses_branches_that_differ),
      cmocka_unit_test(test_case__takes_the_first_that_holds),
      cmocka_unit_test(test_while__makes_a_frame),
      cmocka_unit_test(test_while__counts_its_trips),
      cmocka_unit_test(test_while__refuses_what_does_not_stay),
      cmocka_unit_test(test_while__keeps_its_values_inside),
      cmocka_unit_test(test_control_dependencies__stay_outside_of_loops),
      cmocka_unit_test(test_control_context__is_left_by_no_dependencies),
      cmocka_unit_test(test_control_flow__fails_with_a_status_when_memory_is_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
