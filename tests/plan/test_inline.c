// Calls whose bodies take their places in a plan: which, what they run, the order that reads keep,
// and that errors name what they named before.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rheos/function.h>

#include "plan/plan_text.h"

typedef struct fixture {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_output x;  // floats, [?, 4]
} fixture;

static int set_up(void **state) {
  fixture *f = malloc(sizeof *f);
  f->graph = rheos_graph_new();
  f->s = rheos_scope_new(f->graph);
  f->x = rheos_placeholder(f->s, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(-1, 4), .name = "x");
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  rheos_scope_free(f->s);
  rheos_graph_unref(f->graph);
  free(f);
  return 0;
}

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

static const rheos_shape any_shape = {.rank = -1};

static rheos_output op(rheos_scope *s, const char *type, const char *name, rheos_output a,
                       rheos_output b) {
  const rheos_output inputs[] = {a, b};
  const rheos_op_args args = {
      .type = type, .name = name, .inputs = inputs, .num_inputs = b.graph != NULL ? 2 : 1};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

static const rheos_output none = {NULL, 0, 0};

// (tanh(x), x * y); `noinline`: its definition says that it is not inlined.
static rheos_function *make_two(rheos_scope *s, const char *name, bool noinline) {
  const rheos_attr attr = {"_noinline", {.kind = RHEOS_ATTR_BOOL, .b = true}};
  const rheos_function_options options = {.attrs = &attr, .num_attrs = noinline ? 1 : 0};
  rheos_function *f = rheos_function_begin(s, name, &options);
  rheos_scope *inside = rheos_function_scope(f);
  const rheos_output x = rheos_function_argument(f, "x", RHEOS_FLOAT, any_shape);
  const rheos_output y = rheos_function_argument(f, "y", RHEOS_FLOAT, any_shape);
  rheos_function_result(f, NULL, op(inside, "Tanh", "tanh", x, none));
  rheos_function_result(f, NULL, op(inside, "Mul", "product", x, y));
  assert_true(rheos_function_finish(f, s));
  return f;
}

static rheos_output call(rheos_scope *s, rheos_function *f, rheos_output x, rheos_output y,
                         const char *name, int32_t result) {
  const rheos_output args[] = {x, y};
  const rheos_operation made = rheos_function_call(s, f, args, y.graph != NULL ? 2 : 1, name);
  return rheos_operation_output(made, result);
}

// ---- What is inlined

static void test_inline__bodies_take_the_places_of_calls(void **state) {
  fixture *f = *state;
  rheos_function *two = make_two(f->s, "two", false);
  const rheos_output a = call(f->s, two, f->x, f->x, "call", 0);
  check_plan_of(f->s, f->x, op(f->s, "Neg", "y", a, none),
                "call/tanh = Tanh(x)\ny = Neg(call/tanh)\n");
  // Both results; a fetch is the value in the body.
  const rheos_output both[] = {call(f->s, two, a, f->x, "next", 1),
                               call(f->s, two, a, f->x, "other", 0)};
  check_plan(
      f->s, NULL, &f->x, 1, both, 2,
      "call/tanh = Tanh(x)\nnext/product = Mul(call/tanh, x)\nother/tanh = Tanh(call/tanh)\n");
  rheos_function_free(two);
}

static void test_inline__bodies_in_bodies_too(void **state) {
  fixture *f = *state;
  rheos_function *two = make_two(f->s, "two", false);
  rheos_function *outer = rheos_function_begin(f->s, "outer", NULL);
  rheos_scope *inside = rheos_function_scope(outer);
  const rheos_output x = rheos_function_argument(outer, "x", RHEOS_FLOAT, any_shape);
  rheos_function_result(outer, NULL,
                        call(inside, two, x, op(inside, "Neg", "n", x, none), "in", 1));
  rheos_function_result(outer, NULL, x);  // as it is
  assert_true(rheos_function_finish(outer, f->s));
  const rheos_output fetches[] = {call(f->s, outer, f->x, none, "out", 0),
                                  call(f->s, outer, f->x, none, "out2", 1)};
  check_plan(f->s, NULL, &f->x, 1, fetches, 2, "out/n = Neg(x)\nout/in/product = Mul(x, out/n)\n");
  rheos_function_free(two);
  rheos_function_free(outer);
}

static void test_inline__what_is_said_not_to_be_is_not(void **state) {
  fixture *f = *state;
  rheos_function *two = make_two(f->s, "two", false), *stays = make_two(f->s, "stays", true);
  const rheos_output y = call(f->s, stays, f->x, f->x, "y", 0);
  check_plan_of(f->s, f->x, y, "y = PartitionedCall(x, x)\n");
  const rheos_output z = call(f->s, two, f->x, f->x, "z", 0);
  const rheos_rewrite_options off = {.function_optimization = RHEOS_TOGGLE_OFF};
  check_plan(f->s, &off, &f->x, 1, &z, 1, "z = PartitionedCall(x, x)\n");
  rheos_function_free(two);
  rheos_function_free(stays);
}

static void test_inline__large_bodies_stay_calls(void **state) {
  fixture *f = *state;
  rheos_function *large = rheos_function_begin(f->s, "large", NULL);
  rheos_scope *inside = rheos_function_scope(large);
  rheos_output x = rheos_function_argument(large, "x", RHEOS_FLOAT, any_shape);
  for (int i = 0; i < 65; i++) x = op(inside, "Tanh", NULL, x, none);
  rheos_function_result(large, NULL, x);
  assert_true(rheos_function_finish(large, f->s));
  check_plan_of(f->s, f->x, call(f->s, large, f->x, none, "y", 0), "y = PartitionedCall(x)\n");
  rheos_function_free(large);
}

static rheos_operation call_named(rheos_scope *s, const char *name, rheos_output x) {
  const rheos_func func = {.name = {(char *)(uintptr_t)name, strlen(name)}};
  const rheos_dtype types[] = {RHEOS_FLOAT};
  const rheos_attr attrs[] = {rheos_attr_func("f", &func), rheos_attr_types("Tout", types, 1)};
  const rheos_op_args args = {.type = "PartitionedCall",
                              .name = "y",
                              .inputs = &x,
                              .num_inputs = 1,
                              .attrs = attrs,
                              .num_attrs = 2};
  return rheos_op(s, &args);
}

static void test_inline__recursion_stays_a_call(void **state) {
  fixture *f = *state;
  rheos_function *again = rheos_function_begin(f->s, "again", NULL);
  const rheos_output x = rheos_function_argument(again, "x", RHEOS_FLOAT, any_shape);
  const rheos_operation inner = call_named(rheos_function_scope(again), "again", x);
  rheos_function_result(again, NULL, rheos_operation_output(inner, 0));
  assert_true(rheos_function_finish(again, f->s));
  const rheos_output y = rheos_operation_output(call_named(f->s, "again", f->x), 0);
  char *text = plan_text(f->graph, NULL, &f->x, 1, &y, 1);
  assert_string_equal(text, "y = PartitionedCall(x)\n");
  free(text);
  rheos_function_free(again);
}

// A chain, each of which takes what the one before gives: nothing recurses over it.
static void test_inline__a_hundred_thousand_calls_in_a_row(void **state) {
  fixture *f = *state;
  rheos_function *two = make_two(f->s, "two", false);
  rheos_output y = f->x;
  for (int i = 0; i < 100000; i++) y = call(f->s, two, y, f->x, NULL, i % 2);
  check(rheos_scope_finish(f->s));
  rheos_session *session;
  check(rheos_session_new(f->graph, NULL, &session));
  const float ones[] = {1, 1, 1, 1};
  rheos_tensor *x;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(1, 4), ones, &x));
  rheos_fetch fetch = {.output = y};
  check(rheos_session_run(session, &(rheos_feed){f->x, x}, 1, &fetch, 1, NULL, 0, NULL));
  rheos_tensor_unref(fetch.value);
  rheos_tensor_unref(x);
  rheos_session_free(session);
  rheos_function_free(two);
}

// ---- The order of reads

typedef struct counter {
  rheos_output handle;
  rheos_operation reset, add;
  rheos_function *read;  // x + the variable
} counter;

static rheos_operation on_variable(rheos_scope *s, const char *type, rheos_output handle,
                                   float value) {
  const rheos_output inputs[] = {handle, rheos_constant_float(s, value, NULL)};
  const rheos_op_args args = {.type = type, .inputs = inputs, .num_inputs = 2};
  return rheos_op(s, &args);
}

static counter make_counter(rheos_scope *s) {
  const rheos_shape scalar = RHEOS_SCALAR;
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &scalar)};
  const rheos_op_args args = {.type = "VarHandleOp", .name = "v", .attrs = attrs, .num_attrs = 2};
  counter c = {.handle = rheos_operation_output(rheos_op(s, &args), 0)};
  c.reset = on_variable(s, "AssignVariableOp", c.handle, 1);
  c.add = on_variable(s, "AssignAddVariableOp", c.handle, 10);
  c.read = rheos_function_begin(s, "reading", NULL);
  rheos_scope *inside = rheos_function_scope(c.read);
  const rheos_output x = rheos_function_argument(c.read, "x", RHEOS_FLOAT, scalar);
  const rheos_output handle = rheos_function_capture(c.read, c.handle);
  const rheos_op_args read = {
      .type = "ReadVariableOp", .inputs = &handle, .num_inputs = 1, .attrs = attrs, .num_attrs = 1};
  rheos_function_result(
      c.read, NULL,
      op(inside, "AddV2", NULL, x, rheos_operation_output(rheos_op(inside, &read), 0)));
  rheos_function_order_effects(c.read, 0);
  assert_true(rheos_function_finish(c.read, s));
  return c;
}

// What a step gives for `fetch` when it runs `target` too, in a session of its own; and that
// inlining does not change it.
static float run(rheos_graph *graph, const counter *c, rheos_output fetched,
                 rheos_operation target) {
  float values[2];
  for (int off = 0; off < 2; off++) {
    const rheos_session_options options = {.rewrites.function_optimization =
                                               off ? RHEOS_TOGGLE_OFF : RHEOS_TOGGLE_DEFAULT};
    rheos_session *session;
    check(rheos_session_new(graph, &options, &session));
    check(rheos_session_run(session, NULL, 0, NULL, 0, &c->reset, 1, NULL));
    rheos_fetch fetch = {.output = fetched};
    check(rheos_session_run(session, NULL, 0, &fetch, 1, &target, 1, NULL));
    values[off] = *(const float *)rheos_tensor_data(fetch.value);
    rheos_tensor_unref(fetch.value);
    rheos_session_free(session);
  }
  assert_float_equal(values[0], values[1], 0);
  return values[0];
}

static void test_inline__reads_come_behind_what_the_call_waits_for(void **state) {
  fixture *f = *state;
  const counter c = make_counter(f->s);
  const rheos_output zero = rheos_constant_float(f->s, 0, NULL);
  const rheos_output before = call(f->s, c.read, zero, none, "before", 0);
  rheos_push_control_dependencies(f->s, &c.add, 1);
  const rheos_output behind = call(f->s, c.read, zero, none, "behind", 0);
  const rheos_output written = op(f->s, "Identity", NULL, zero, none);
  rheos_scope_pop(f->s);
  // By a value, which the read itself does not take
  const rheos_output by_value = call(f->s, c.read, written, none, "by_value", 0);
  check(rheos_scope_finish(f->s));
  assert_float_equal(run(f->graph, &c, before, c.add), 1, 0);
  assert_float_equal(run(f->graph, &c, behind, c.add), 11, 0);
  assert_float_equal(run(f->graph, &c, by_value, c.add), 11, 0);
  rheos_function_free(c.read);
}

static void test_inline__who_waits_for_a_call_waits_for_its_reads(void **state) {
  fixture *f = *state;
  const counter c = make_counter(f->s);
  const rheos_output zero = rheos_constant_float(f->s, 0, NULL);
  const rheos_output first = call(f->s, c.read, zero, none, "first", 0);
  const rheos_operation called = rheos_output_operation(first);
  rheos_push_control_dependencies(f->s, &called, 1);
  const rheos_operation later = on_variable(f->s, "AssignAddVariableOp", c.handle, 100);
  rheos_scope_pop(f->s);
  check(rheos_scope_finish(f->s));
  assert_float_equal(run(f->graph, &c, first, later), 1, 0);
  rheos_function_free(c.read);
}

// ---- Errors

static void test_inline__errors_name_the_node_and_the_calls(void **state) {
  fixture *f = *state;
  rheos_function *take = rheos_function_begin(f->s, "take", NULL);
  rheos_scope *inside = rheos_function_scope(take);
  const rheos_output x = rheos_function_argument(take, "x", RHEOS_FLOAT, any_shape);
  const rheos_output i = rheos_function_argument(take, "i", RHEOS_INT32, any_shape);
  rheos_function_result(take, NULL, op(inside, "Gather", "pick", x, i));
  assert_true(rheos_function_finish(take, f->s));
  const rheos_output far = rheos_placeholder(f->s, RHEOS_INT32, .name = "far");
  const rheos_output y = call(f->s, take, f->x, far, "call", 0);
  check(rheos_scope_finish(f->s));
  char messages[2][1024];
  for (int off = 0; off < 2; off++) {
    const rheos_session_options options = {.rewrites.function_optimization =
                                               off ? RHEOS_TOGGLE_OFF : RHEOS_TOGGLE_DEFAULT};
    rheos_session *session;
    check(rheos_session_new(f->graph, &options, &session));
    const int32_t seven = 7;
    const float zeros[4] = {0};
    rheos_feed feeds[] = {{.output = f->x}, {.output = far}};
    check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(1, 4), zeros, &feeds[0].value));
    check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &seven, &feeds[1].value));
    rheos_fetch fetch = {.output = y};
    rheos_status *status = rheos_session_run(session, feeds, 2, &fetch, 1, NULL, 0, NULL);
    assert_non_null(status);
    snprintf(messages[off], sizeof messages[off], "%s", rheos_status_message(status));
    assert_string_equal(rheos_status_node(status), "call");
    rheos_status_free(status);
    for (int k = 0; k < 2; k++) rheos_tensor_unref(feeds[k].value);
    rheos_session_free(session);
  }
  assert_string_equal(messages[0], messages[1]);
  assert_non_null(strstr(messages[0], "[[node pick"));
  assert_non_null(strstr(messages[0], "in function take"));
  assert_non_null(strstr(messages[0], "[[node call"));
  rheos_function_free(take);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_inline__bodies_take_the_places_of_calls, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_inline__bodies_in_bodies_too, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_inline__what_is_said_not_to_be_is_not, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_inline__large_bodies_stay_calls, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_inline__recursion_stays_a_call, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_inline__a_hundred_thousand_calls_in_a_row, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_inline__reads_come_behind_what_the_call_waits_for,
                                      set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_inline__who_waits_for_a_call_waits_for_its_reads, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_inline__errors_name_the_node_and_the_calls, set_up,
                                      tear_down),
  };
  return cmocka_run_group_tests_name("inline", tests, NULL, NULL);
}
