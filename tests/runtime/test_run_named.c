// Graphs from files, run by the names of their tensors; variables set by their records.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <rheos/rheos.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

static void expect(rheos_status *status, rheos_code code, const char *part) {
  assert_non_null(status);
  assert_int_equal(rheos_status_code(status), code);
  if (strstr(rheos_status_message(status), part) == NULL) {
    fail_msg("'%s' lacks '%s'", rheos_status_message(status), part);
  }
  rheos_status_free(status);
}

static float number(const rheos_tensor *tensor) {
  return *(const float *)rheos_tensor_data(tensor);
}

// y = 3 x + 1 with constants, and something nobody asks for.
static void write_line(const char *path) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_output x = rheos_placeholder(s, RHEOS_FLOAT, .name = "x");
  rheos_add(s, rheos_mul(s, rheos_const_f32(s, 3), x), rheos_const_f32(s, 1), .name = "y");
  check(rheos_scope_finish(s));
  check(rheos_graph_write(graph, path, 0));
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

static void test_run_named__a_frozen_graph_in_three_calls(void **state) {
  (void)state;
  char path[] = "/tmp/rheos_named_XXXXXX";
  close(mkstemp(path));
  write_line(path);
  rheos_graph *graph;
  rheos_session *session;
  check(rheos_graph_read(path, &graph));
  check(rheos_session_new(graph, NULL, &session));
  rheos_graph_unref(graph);  // the session has it

  const float two = 2;
  rheos_tensor *x;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &two, &x));
  const rheos_named_tensor feed = {"x", x};
  rheos_named_tensor fetches[] = {{"y:0", NULL}, {"x", NULL}};
  check(rheos_session_run_named(session, &feed, 1, fetches, 2, NULL));
  assert_float_equal(number(fetches[0].value), 7, 0);
  assert_float_equal(number(fetches[1].value), 2, 0);
  for (int i = 0; i < 2; i++) rheos_tensor_unref(fetches[i].value);

  fetches[1].name = "z";
  expect(rheos_session_run_named(session, &feed, 1, fetches, 2, NULL), RHEOS_NOT_FOUND, "'z'");
  assert_null(fetches[0].value);
  fetches[1].name = NULL;
  rheos_status *unnamed = rheos_session_run_named(session, &feed, 1, fetches, 2, NULL);
  expect(unnamed, RHEOS_INVALID_ARGUMENT, "name");
  expect(rheos_session_run_named(session, NULL, 0, fetches, 1, NULL), RHEOS_INVALID_ARGUMENT,
         "placeholder");
  check(rheos_session_run_named(session, &feed, 1, fetches, 1, NULL));
  rheos_tensor_unref(fetches[0].value);
  rheos_tensor_unref(x);
  rheos_session_free(session);
  remove(path);
}

static void test_run_named__files_that_are_no_graphs_are_refused(void **state) {
  (void)state;
  rheos_graph *graph = NULL;
  expect(rheos_graph_read("/no/such/file.pb", &graph), RHEOS_NOT_FOUND, "/no/such/file.pb");
  assert_null(graph);
  char path[] = "/tmp/rheos_named_XXXXXX";
  const int file = mkstemp(path);
  assert_int_equal(write(file, "not a graph", 11), 11);
  close(file);
  expect(rheos_graph_read(path, &graph), RHEOS_DATA_LOSS, "GraphDef");
  assert_null(graph);
  remove(path);
}

static void test_run_named__variables_of_both_kinds_are_set(void **state) {
  (void)state;
  for (int use_resource = 0; use_resource < 2; use_resource++) {
    rheos_graph *graph = rheos_graph_new();
    rheos_scope *s = rheos_scope_new(graph);
    rheos_graph_use_resource_variables(graph, use_resource != 0);
    rheos_output v = rheos_get_variable(s, "v", RHEOS_FLOAT, RHEOS_SCALAR, rheos_zeros());
    rheos_variable variable = rheos_variable_of(v);
    const rheos_operation steps[] = {
        rheos_variable_assign(s, variable, rheos_const_f32(s, 5)),
        rheos_variable_assign_add(s, variable, rheos_const_f32(s, 3)),
        rheos_variable_assign_sub(s, variable, rheos_const_f32(s, 1)),
    };
    const float after[] = {5, 8, 7};
    check(rheos_scope_finish(s));
    rheos_session *session;
    check(rheos_session_new(graph, NULL, &session));
    for (int i = 0; i < 3; i++) {
      check(rheos_session_run(session, NULL, 0, NULL, 0, &steps[i], 1, NULL));
      rheos_fetch fetch = {v, NULL};
      check(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
      assert_float_equal(number(fetch.value), after[i], 0);
      rheos_tensor_unref(fetch.value);
    }
    rheos_variable_assign(s, (rheos_variable){.graph = NULL}, v);
    expect(rheos_scope_finish(s), RHEOS_INVALID_ARGUMENT, "variable");
    rheos_session_free(session);
    rheos_scope_free(s);
    rheos_graph_unref(graph);
  }
}

static void test_run_named__errors_say_which_fetch(void **state) {
  (void)state;
  rheos_graph *graph = rheos_graph_new(), *other = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph), *elsewhere = rheos_scope_new(other);
  rheos_fetch fetches[] = {{rheos_const_f32(s, 1), NULL}, {rheos_const_f32(elsewhere, 1), NULL}};
  const rheos_operation target = rheos_no_op(elsewhere, .name = "there");
  rheos_session *session;
  check(rheos_session_new(graph, NULL, &session));
  expect(rheos_session_run(session, NULL, 0, fetches, 2, NULL, 0, NULL), RHEOS_INVALID_ARGUMENT,
         "fetches[1], 'Const:0', is not an element of this session's graph");
  expect(rheos_session_run(session, NULL, 0, NULL, 0, &target, 1, NULL), RHEOS_INVALID_ARGUMENT,
         "targets[0], 'there', is not an element of this session's graph");
  fetches[0].output.index = 3;
  expect(rheos_session_run(session, NULL, 0, fetches, 1, NULL, 0, NULL), RHEOS_INVALID_ARGUMENT,
         "fetches[0] does not exist in the graph");
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_scope_free(elsewhere);
  rheos_graph_unref(graph);
  rheos_graph_unref(other);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_run_named__a_frozen_graph_in_three_calls),
      cmocka_unit_test(test_run_named__files_that_are_no_graphs_are_refused),
      cmocka_unit_test(test_run_named__variables_of_both_kinds_are_set),
      cmocka_unit_test(test_run_named__errors_say_which_fetch),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
