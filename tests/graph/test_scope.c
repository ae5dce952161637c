// Scopes: the sticky error, the stack, devices, control dependencies, colocation, attributes.
#include "graph/graph_fixture.h"
#include "graph/tiny_ops.h"

#include "graph/build.h"

static void test_scope__the_first_error_sticks(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_op_args args = {.type = "NoSuchOp"};
  assert_null(rheos_op(f.scope, &args).graph);
  assert_null(no_op(f.scope, "fine").graph);
  rheos_constant(f.scope, NULL, NULL);
  assert_non_null(rheos_scope_status(f.scope));
  assert_int_equal(rheos_graph_num_operations(f.graph), 0);
  expect_error(f.scope, RHEOS_NOT_FOUND, "Op type not registered 'NoSuchOp'");
  static const char *const meant[][2] = {
      {"Plaecholder", "Placeholder"}, {"placeholders", "Placeholder"}, {"NoOpp", "NoOp"}};
  for (size_t i = 0; i < sizeof meant / sizeof *meant; i++) {
    char text[80];
    snprintf(text, sizeof text, "'%s'; did you mean '%s'?", meant[i][0], meant[i][1]);
    args.type = meant[i][0];
    assert_null(rheos_op(f.scope, &args).graph);
    expect_error(f.scope, RHEOS_NOT_FOUND, text);
  }
  assert_operation_name(no_op(f.scope, "fine"), "fine");
  fixture_free(&f);
}

static void test_scope__pushes_after_an_error_still_balance(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_push_name_scope(s, "outer");
  rheos_push_name_scope(s, "not valid");
  rheos_push_device(s, "/cpu:0");
  rheos_push_control_dependencies(s, NULL, 0);
  rheos_push_colocation(s, (rheos_operation){0});
  rheos_push_attr(s, rheos_attr_int("_a", 1));
  rheos__push_variable_frame(s, "v", 1);
  for (int i = 0; i < 6; i++) rheos_scope_pop(s);
  expect_error(s, RHEOS_INVALID_ARGUMENT, "'not valid' is not a valid scope name");
  assert_operation_name(no_op(s, "c"), "outer/c");
  assert_string_equal(rheos_operation_device(no_op(s, "d")), "");
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  expect_error(s, RHEOS_FAILED_PRECONDITION, "never pushed");
  fixture_free(&f);
}

static void test_scope__errors_name_the_node_and_the_line(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  char file[] = "program.c";
  rheos_scope_set_source(f.scope, file, 7);
  rheos_operation first = no_op(f.scope, "c");
  file[0] = 'P';  // copied
  rheos_scope_set_source(f.scope, file, 8);
  rheos_push_name_scope(f.scope, "outer");
  rheos_output x = rheos_constant_float(f.scope, 1, "x"), y = rheos_constant_int(f.scope, 1, "y");
  add_op(f.scope, "Add", "sum", (rheos_output[]){x, y}, 2);
  assert_string_equal(rheos_status_node(rheos_scope_status(f.scope)), "outer/sum");
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "defined at Program.c:8");
  const char *source;
  int32_t line;
  rheos_operation_source(first, &source, &line);
  assert_string_equal(source, "program.c");
  assert_int_equal(line, 7);
  rheos_scope_set_source(f.scope, NULL, 0);
  rheos_operation_source(no_op(f.scope, "d"), &source, &line);
  assert_null(source);
  rheos_scope_pop(f.scope);
  fixture_free(&f);
}

static void test_scope__devices_merge_inwards(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_push_device(s, "/job:ps/cpu:1");
  assert_string_equal(rheos_operation_device(no_op(s, NULL)), "/job:ps/device:CPU:1");
  rheos_push_device(s, "/task:3");
  assert_string_equal(rheos_operation_device(no_op(s, NULL)), "/job:ps/task:3/device:CPU:1");
  rheos_push_device(s, "/gpu:*");
  assert_string_equal(rheos_operation_device(no_op(s, NULL)), "/job:ps/task:3/device:GPU:1");
  rheos_push_device(s, NULL);
  assert_string_equal(rheos_operation_device(no_op(s, NULL)), "");
  rheos_op_args args = {.type = "NoOp", .device = "cpu:0"};
  assert_string_equal(rheos_operation_device(rheos_op(s, &args)), "/device:CPU:0");
  for (int i = 0; i < 4; i++) rheos_scope_pop(s);
  rheos_push_device(s, "/nonsense:0");
  expect_error(s, RHEOS_INVALID_ARGUMENT, "'/nonsense:0'");
  rheos_scope_pop(s);
  fixture_free(&f);
}

static void test_scope__an_operation_gets_another_device(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_operation a = no_op(f.scope, "a");
  assert_null(rheos_operation_set_device(a, "/gpu:1/job:ps"));
  assert_string_equal(rheos_operation_device(a), "/gpu:1/job:ps");
  rheos_status *status = rheos_operation_set_device(a, "/jobbb");
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  assert_non_null(strstr(rheos_status_message(status), "cannot read 'jobbb'"));
  rheos_status_free(status);
  assert_string_equal(rheos_operation_device(a), "/gpu:1/job:ps");
  assert_null(rheos_operation_set_device(a, ""));
  assert_string_equal(rheos_operation_device(a), "");
  status = rheos_operation_set_device((rheos_operation){NULL, 0}, "");
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  rheos_status_free(status);
  fixture_free(&f);
}

static void assert_controls(rheos_operation operation, int32_t count, const int32_t *ids) {
  assert_int_equal(rheos_operation_num_control_inputs(operation), count);
  for (int32_t i = 0; i < count; i++) {
    assert_int_equal(rheos_operation_control_input(operation, i).id, ids[i]);
  }
}

static void test_scope__control_dependencies_nest(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_operation a = no_op(s, "a"), b = no_op(s, "b");
  rheos_push_control_dependencies(s, (rheos_operation[]){a, a}, 2);
  assert_controls(no_op(s, NULL), 1, (int32_t[]){a.id});
  rheos_push_control_dependencies(s, &b, 1);
  rheos_op_args args = {.type = "NoOp", .control_inputs = &a, .num_control_inputs = 1};
  assert_controls(rheos_op(s, &args), 2, (int32_t[]){a.id, b.id});
  rheos_push_control_dependencies(s, NULL, 0);
  assert_controls(no_op(s, NULL), 0, NULL);
  rheos_push_control_dependencies(s, &b, 1);
  assert_controls(no_op(s, NULL), 1, (int32_t[]){b.id});
  for (int i = 0; i < 3; i++) rheos_scope_pop(s);
  assert_controls(no_op(s, NULL), 1, (int32_t[]){a.id});
  rheos_scope_pop(s);
  assert_controls(no_op(s, NULL), 0, NULL);
  fixture_free(&f);
}

static void test_scope__implied_control_edges_are_left_out(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output x = rheos_constant_float(s, 1, "x");
  rheos_operation a = no_op(s, "a");
  rheos_operation both[] = {a, rheos_output_operation(x)};
  rheos_push_control_dependencies(s, both, 2);
  rheos_output y = rheos__op_1(s, "Identity", x);  // x is an input already
  assert_controls(rheos_output_operation(y), 1, (int32_t[]){a.id});
  rheos_output z = rheos__op_1(s, "Identity", y);  // y waits already
  assert_controls(rheos_output_operation(z), 0, NULL);
  rheos_push_control_dependencies(s, NULL, 0);
  rheos_output w = rheos__op_1(s, "Identity", x);
  rheos_scope_pop(s);
  rheos_output v = rheos__op_1(s, "Identity", w);  // w was made where nothing is waited for
  assert_controls(rheos_output_operation(v), 2, (int32_t[]){a.id, x.id});
  rheos_scope_pop(s);
  fixture_free(&f);
}

static void test_scope__control_inputs_of_other_graphs_are_refused(void **state) {
  (void)state;
  graph_fixture f = fixture_new(), other = fixture_new();
  rheos_operation foreign = no_op(other.scope, "f");
  rheos_push_control_dependencies(f.scope, &foreign, 1);
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "of another graph");
  rheos_scope_pop(f.scope);
  rheos_op_args args = {.type = "NoOp", .control_inputs = &foreign, .num_control_inputs = 1};
  rheos_op(f.scope, &args);
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "control input 0 is not in the graph");
  fixture_free(&other);
  fixture_free(&f);
}

static void assert_class(rheos_operation operation, int32_t count, const char *const *groups) {
  rheos_attr_value value = rheos_operation_attr(operation, "_class");
  if (count == 0) assert_int_equal(value.kind, RHEOS_ATTR_NONE);
  assert_int_equal(value.count, count);
  for (int32_t i = 0; i < count; i++) assert_string_equal(value.strings[i].data, groups[i]);
}

static void test_scope__colocation_gives_class_and_device(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_op_args placed = {.type = "NoOp", .name = "v", .device = "/job:ps"};
  rheos_operation v = rheos_op(s, &placed), a = no_op(s, "a");
  rheos_push_device(s, "/cpu:0");
  rheos_push_colocation(s, v);
  rheos_operation y = no_op(s, "y");
  assert_class(y, 1, (const char *[]){"loc:@v"});
  assert_string_equal(rheos_operation_device(y), "/job:ps");
  rheos_push_colocation(s, a);
  assert_class(no_op(s, NULL), 2, (const char *[]){"loc:@a", "loc:@v"});
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  rheos_push_colocation(s, y);  // y stands for what it is colocated with
  assert_class(no_op(s, NULL), 1, (const char *[]){"loc:@v"});
  rheos_push_colocation(s, (rheos_operation){0});
  assert_class(no_op(s, NULL), 0, NULL);
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  rheos_operation plain = no_op(s, NULL);
  assert_class(plain, 0, NULL);
  assert_string_equal(rheos_operation_device(plain), "/device:CPU:0");
  rheos_scope_pop(s);
  fixture_free(&f);
}

static void test_scope__attributes_reach_every_operation(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  char text[] = "custom";
  rheos_push_attr(s, rheos_attr_string("_gradient_op_type", text, 6));
  text[0] = 'X';
  rheos_push_attr(s, rheos_attr_int("_n", 1));
  rheos_push_attr(s, rheos_attr_int("_n", 2));
  rheos_operation a = no_op(s, "a");
  assert_int_equal(rheos_operation_num_attrs(a), 2);
  assert_int_equal(rheos_operation_attr(a, "_n").i, 2);  // the innermost
  assert_string_equal(rheos_operation_attr(a, "_gradient_op_type").s.data, "custom");
  rheos_attr own = rheos_attr_int("_n", 3);
  rheos_operation b = add_op_attrs(s, "NoOp", NULL, 0, &own, 1);
  assert_int_equal(rheos_operation_attr(b, "_n").i, 3);  // the operation's own comes first
  for (int i = 0; i < 3; i++) rheos_scope_pop(s);
  assert_int_equal(rheos_operation_num_attrs(no_op(s, "c")), 0);
  rheos_push_attr_of_type(s, "NoOp", rheos_attr_int("_n", 4));
  rheos_push_attr_of_type(s, "Relu", rheos_attr_int("_n", 5));
  assert_int_equal(rheos_operation_attr(no_op(s, "d"), "_n").i, 4);
  for (int i = 0; i < 2; i++) rheos_scope_pop(s);
  assert_int_equal(rheos_operation_num_attrs(no_op(s, "e")), 0);
  rheos_push_attr(s, rheos_attr_int("n", 1));
  expect_error(s, RHEOS_INVALID_ARGUMENT, "starts with '_'");
  rheos_scope_pop(s);
  fixture_free(&f);
}

static void test_scope__any_name_is_taken_if_it_says_so(void **state) {
  (void)state;
  static const char *const taken[] = {"a b/", "_x/", "const/0/[1 2 3]/"};
  static const char *const refused[] = {"/", "/a/", "a //b/", "a:0/", "^a/", "a b//"};
  graph_fixture f = fixture_new();
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
    assert_null(no_op(f.scope, taken[i]).graph);
    expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "is not a valid node name");
  }
  rheos_scope_take_any_name(f.scope, true);
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    assert_null(no_op(f.scope, refused[i]).graph);
    expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "is not a valid node name");
  }
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
    assert_non_null(no_op(f.scope, taken[i]).graph);
  }
  assert_non_null(rheos_graph_operation(f.graph, "const/0/[1 2 3]").graph);
  no_op(f.scope, "a b/");
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "Duplicate node name in graph: 'a b'");
  rheos_scope_take_any_name(NULL, true);
  fixture_free(&f);
}

static void test_scope__joined_frames_are_popped_as_one(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_push_name_scope(s, "outer");
  rheos__push_variable_frame(s, "outer", 2);
  rheos__join_frames(s);
  assert_string_equal(rheos__scope_variable_scope(s).prefix, "outer");
  assert_int_equal(rheos__scope_variable_scope(s).reuse, 2);
  assert_operation_name(no_op(s, "c"), "outer/c");
  rheos_scope_pop(s);
  assert_string_equal(rheos__scope_variable_scope(s).prefix, "");
  assert_operation_name(no_op(s, "c"), "c");
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_scope__the_first_error_sticks),
      cmocka_unit_test(test_scope__pushes_after_an_error_still_balance),
      cmocka_unit_test(test_scope__errors_name_the_node_and_the_line),
      cmocka_unit_test(test_scope__devices_merge_inwards),
      cmocka_unit_test(test_scope__control_dependencies_nest),
      cmocka_unit_test(test_scope__implied_control_edges_are_left_out),
      cmocka_unit_test(test_scope__control_inputs_of_other_graphs_are_refused),
      cmocka_unit_test(test_scope__an_operation_gets_another_device),
      cmocka_unit_test(test_scope__colocation_gives_class_and_device),
      cmocka_unit_test(test_scope__attributes_reach_every_operation),
      cmocka_unit_test(test_scope__any_name_is_taken_if_it_says_so),
      cmocka_unit_test(test_scope__joined_frames_are_popped_as_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
