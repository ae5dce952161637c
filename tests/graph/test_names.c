// Names: TensorFlow's rules for making them unique, and finding nodes by them.
#include "graph/graph_fixture.h"
#include "graph/tiny_ops.h"

#include "graph/names.h"

static void test_names__follow_scopes_as_in_tensorflow(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  assert_operation_name(no_op(s, "c"), "c");
  assert_operation_name(no_op(s, "c"), "c_1");
  rheos_push_name_scope(s, "outer");
  assert_operation_name(no_op(s, "c"), "outer/c");
  rheos_push_name_scope(s, "inner");
  assert_operation_name(no_op(s, "c"), "outer/inner/c");
  rheos_scope_pop(s);
  assert_operation_name(no_op(s, "c"), "outer/c_1");
  rheos_push_name_scope(s, "inner");
  assert_operation_name(no_op(s, "c"), "outer/inner_1/c");
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  rheos_push_name_scope(s, "outer");
  assert_operation_name(no_op(s, "c"), "outer_1/c");
  rheos_scope_pop(s);
  fixture_free(&f);
}

// Every row was seen in TensorFlow 1.15: what a sequence of operations is called.
static void test_names__sequences_are_tensorflows(void **state) {
  (void)state;
  static const struct {
    const char *wanted[6], *given[6];
  } cases[] = {
      {{"a", "A", "a", "A"}, {"a", "A_1", "a_2", "A_3"}},
      {{"a", "a_1", "a", "a_1"}, {"a", "a_1", "a_2", "a_1_1"}},
      {{"a_1", "a", "a", "a"}, {"a_1", "a", "a_2", "a_3"}},
      {{"x_01", "x_1", "x", "x"}, {"x_01", "x_1", "x", "x_2"}},
      {{"x", "X_1", "x"}, {"x", "X_1", "x_2"}},
      {{"p/q", "p/q", "p/Q"}, {"p/q", "p/q_1", "p/Q_2"}},
      {{"n_0", "n_0", "n"}, {"n_0", "n_0_1", "n"}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    graph_fixture f = fixture_new();
    for (size_t k = 0; k < 6 && cases[i].wanted[k] != NULL; k++) {
      assert_operation_name(no_op(f.scope, cases[i].wanted[k]), cases[i].given[k]);
    }
    fixture_free(&f);
  }
}

static void test_names__default_to_the_type(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  assert_operation_name(no_op(f.scope, NULL), "NoOp");
  assert_operation_name(no_op(f.scope, NULL), "NoOp_1");
  fixture_free(&f);
}

static void test_names__ending_in_a_slash_are_used_as_they_are(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_push_name_scope(s, "outer");
  assert_operation_name(no_op(s, "a/b/"), "a/b");
  assert_operation_name(no_op(s, "outer/"), "outer");
  rheos_push_name_scope(s, "x/y/");
  assert_operation_name(no_op(s, "c"), "x/y/c");
  rheos_scope_pop(s);
  rheos_push_name_scope(s, "x/y/");
  assert_operation_name(no_op(s, "c"), "x/y/c_1");
  rheos_scope_pop(s);
  rheos_push_name_scope(s, "");
  assert_operation_name(no_op(s, "c"), "c");
  rheos_scope_pop(s);
  no_op(s, "a/b/");
  expect_error(s, RHEOS_INVALID_ARGUMENT, "Duplicate node name in graph: 'a/b'");
  rheos_scope_pop(s);
  assert_operation_name(no_op(s, "A/B/"),
                        "A/B");  // another name, but when a free one is searched for
  assert_operation_name(no_op(s, "A/b"), "A/b_1");
  fixture_free(&f);
}

static void test_names__invalid_ones_are_named(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  static const char *const names[] = {"a b", "", "_x", "-x", "/x", "a:0", "a\\b", "caf\xc3\xa9"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char expected[64];
    snprintf(expected, sizeof expected, "'%s' is not a valid node name", names[i]);
    no_op(f.scope, names[i]);
    expect_error(f.scope, RHEOS_INVALID_ARGUMENT, expected);
    if (names[i][0] == '\0') continue;
    snprintf(expected, sizeof expected, "'%s' is not a valid scope name", names[i]);
    rheos_push_name_scope(f.scope, names[i]);
    expect_error(f.scope, RHEOS_INVALID_ARGUMENT, expected);
    rheos_scope_pop(f.scope);
  }
  assert_int_equal(rheos_graph_num_operations(f.graph), 0);
  rheos_push_name_scope(f.scope, "outer");
  assert_operation_name(no_op(f.scope, "_x"), "outer/_x");  // inside a scope it is valid
  rheos_scope_pop(f.scope);
  fixture_free(&f);
}

static int32_t find(rheos_graph *graph, const char *name) {
  rheos_operation operation = rheos_graph_operation(graph, name);
  return operation.graph != NULL ? operation.id : -1;
}

static void test_names__are_found_whatever_way_they_came_in(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  no_op(s, "outer/add_5/y");  // 0, before any scope of that name
  rheos_push_name_scope(s, "outer");
  no_op(s, "c_7");                              // 1
  for (int i = 0; i < 7; i++) no_op(s, "add");  // 2 to 8
  rheos_push_name_scope(s, "add_5/");
  rheos_scope_pop(s);
  rheos_scope_pop(s);
  rheos_push_name_scope(s, "outer/add_5/");
  no_op(s, "z");  // 9
  rheos_scope_pop(s);
  assert_int_equal(find(f.graph, "outer/add_5/y"), 0);
  assert_int_equal(find(f.graph, "outer/c_7"), 1);
  assert_int_equal(find(f.graph, "outer/add"), 2);
  assert_int_equal(find(f.graph, "outer/add_6"), 8);
  assert_int_equal(find(f.graph, "outer/add_5/z"), 9);
  assert_int_equal(find(f.graph, "outer/ADD"), -1);  // case counts when looking
  assert_int_equal(find(f.graph, "outer"), -1);      // a scope is no operation
  assert_int_equal(find(f.graph, "outer/add_7"), -1);
  assert_int_equal(find(f.graph, ""), -1);
  fixture_free(&f);
}

static void test_names__can_be_asked_for_beforehand(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  char name[32];
  rheos_push_name_scope(f.scope, "outer");
  assert_int_equal(rheos_scope_unique_name(f.scope, "v", false, name, sizeof name), 7);
  assert_string_equal(name, "outer/v");
  assert_int_equal(rheos_scope_unique_name(f.scope, "v", true, name, sizeof name), 7);
  assert_int_equal(rheos_scope_unique_name(f.scope, "v", true, name, sizeof name), 9);
  assert_string_equal(name, "outer/v_1");
  assert_operation_name(no_op(f.scope, "v"), "outer/v_2");
  assert_int_equal(rheos_scope_unique_name(f.scope, "v", false, name, 4), 9);
  assert_string_equal(name, "out");
  assert_int_equal(rheos_scope_unique_name(f.scope, "a b", true, name, sizeof name), 0);
  assert_string_equal(name, "");
  rheos_scope_pop(f.scope);
  fixture_free(&f);
}

static void test_names__of_tensors_are_read(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output x = rheos_constant_float(f.scope, 1, "in/x"), found;
  assert_ok(rheos_graph_output(f.graph, "in/x:0", &found));
  assert_int_equal(found.id, x.id);
  assert_ok(rheos_graph_output(f.graph, "in/x", &found));
  expect_status_take(rheos_graph_output(f.graph, "in/x:1", &found), RHEOS_NOT_FOUND,
                     "'in/x', exists but only has 1 outputs");
  assert_null(found.graph);
  expect_status_take(rheos_graph_output(f.graph, "y:0", &found), RHEOS_NOT_FOUND,
                     "The operation, 'y', does not exist in the graph");
  static const char *const malformed[] = {"",      ":0",   "x:",    "x:a",
                                          "x:0:1", "x:-1", "x y:0", "x:99999999999"};
  for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
    expect_status_take(rheos_graph_output(f.graph, malformed[i], &found), RHEOS_INVALID_ARGUMENT,
                       "is not a name of a tensor");
  }
  fixture_free(&f);
}

static void test_names__searches_do_not_start_over(void **state) {
  (void)state;
  // With 30,000 names in the way, starting over each time would be 900 million steps.
  enum { COUNT = 30000 };
  rheos__names names;
  rheos__names_init(&names);
  uint32_t entry;
  char name[32];
  for (int i = 1; i <= COUNT; i++) {
    size_t length = (size_t)snprintf(name, sizeof name, "n_%d", i);
    assert_ok(rheos__names_take(&names, 0, name, length, &entry));
  }
  for (int i = 0; i < COUNT; i++) assert_ok(rheos__names_take(&names, 0, "n", 1, &entry));
  rheos__names_format(&names, entry, name, sizeof name);
  assert_string_equal(name, "n_59999");
  assert_int_equal(names.bases.count, 2);  // "n_5" is kept as ("n", 5)
  rheos__names_deinit(&names);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names__follow_scopes_as_in_tensorflow),
      cmocka_unit_test(test_names__sequences_are_tensorflows),
      cmocka_unit_test(test_names__default_to_the_type),
      cmocka_unit_test(test_names__ending_in_a_slash_are_used_as_they_are),
      cmocka_unit_test(test_names__invalid_ones_are_named),
      cmocka_unit_test(test_names__are_found_whatever_way_they_came_in),
      cmocka_unit_test(test_names__can_be_asked_for_beforehand),
      cmocka_unit_test(test_names__of_tensors_are_read),
      cmocka_unit_test(test_names__searches_do_not_start_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
