// The functions of a graph's library as a program reads them, and a graph from an operation on.
#include <rheos/format.h>
#include <rheos/function.h>
#include <rheos/ops.h>

#include "graph/counting_allocator.h"
#include "graph/graph_fixture.h"

static void add_function(rheos_scope *scope, const char *name) {
  rheos_function *function = rheos_function_begin(scope, name, NULL);
  const rheos_output x = rheos_function_argument(function, "x", RHEOS_FLOAT, RHEOS_SCALAR);
  rheos_function_result(function, "y", rheos_neg(rheos_function_scope(function), x));
  assert_true(rheos_function_finish(function, scope));
  rheos_function_free(function);
}

// A graph of its own of what another one has.
static graph_fixture copy_of(rheos_graph *graph) {
  void *bytes;
  size_t size_bytes;
  assert_ok(rheos_graph_to_graph_def(graph, &bytes, &size_bytes));
  graph_fixture copy = fixture_new();
  rheos_import_graph_def(copy.scope, bytes, size_bytes, NULL);
  rheos_free(bytes);
  assert_scope_ok(copy.scope);
  return copy;
}

static void assert_functions(rheos_graph *graph, const char *const *names, size_t count) {
  assert_int_equal(rheos_graph_num_functions(graph), count);
  for (size_t i = 0; i < count; i++) {
    assert_string_equal(rheos_graph_function_name(graph, i), names[i]);
    assert_string_equal(rheos_op_def_type(rheos_op_def_find(graph, names[i])), names[i]);
  }
  assert_null(rheos_graph_function_name(graph, count));
  assert_null(rheos_graph_function_name(graph, SIZE_MAX));
}

static void test_function_list__has_those_of_files_and_of_programs(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  assert_functions(f.graph, NULL, 0);
  add_function(f.scope, "first");
  add_function(f.scope, "second");
  assert_ok(rheos_graph_set_function_gradient(f.graph, "first", "second"));
  assert_functions(f.graph, (const char *const[]){"first", "second"}, 2);
  graph_fixture copy = copy_of(f.graph);
  add_function(copy.scope, "third");
  assert_functions(copy.graph, (const char *const[]){"first", "second", "third"}, 3);
  assert_string_equal(rheos_graph_function_gradient(copy.graph, "first"), "second");
  assert_null(rheos_graph_function_gradient(copy.graph, "second"));
  assert_ok(rheos_graph_remove_function(copy.graph, "first"));
  assert_functions(copy.graph, (const char *const[]){"second", "third"}, 2);
  fixture_free(&copy);
  fixture_free(&f);
}

static void test_function_list__gives_definitions(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  add_function(f.scope, "first");
  graph_fixture copy = copy_of(f.graph);
  void *made, *read;
  size_t made_bytes, read_bytes;
  assert_ok(rheos_graph_function_def(f.graph, "first", &made, &made_bytes));
  assert_ok(rheos_graph_function_def(copy.graph, "first", &read, &read_bytes));
  assert_int_equal(made_bytes, read_bytes);
  assert_memory_equal(made, read, made_bytes);
  rheos_free(made);
  rheos_free(read);
  expect_status_take(rheos_graph_function_def(f.graph, "none", &made, &made_bytes), RHEOS_NOT_FOUND,
                     "no function 'none'");
  assert_null(made);
  fixture_free(&copy);
  fixture_free(&f);
}

static void test_function_list__survives_short_memory(void **state) {
  (void)state;
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  graph_fixture f = fixture_new();
  add_function(f.scope, "first");
  int failures = 0;
  for (int64_t n = 1; n < 100; n++) {
    void *bytes;
    size_t size_bytes;
    counter.requests = 0;
    counter.fail_at = n;
    rheos_status *status = rheos_graph_function_def(f.graph, "first", &bytes, &size_bytes);
    counter.fail_at = 0;
    rheos_free(bytes);
    if (status == NULL) break;
    assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
    rheos_status_free(status);
    failures++;
  }
  fixture_free(&f);
  rheos_set_allocator(NULL);
  assert_int_equal(counter.alive, 0);
  assert_true(failures > 1);
}

static void test_graph_def__begins_at_an_operation(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output x = rheos_constant_float(f.scope, 1, "x");
  const int32_t first = rheos_graph_num_operations(f.graph);
  rheos_neg(f.scope, x, .name = "y");
  void *bytes;
  size_t size_bytes;
  assert_ok(rheos_graph_to_graph_def_from(f.graph, first, &bytes, &size_bytes));
  graph_fixture rest = fixture_new();
  rheos_import_mapping map = {.from = "x:0", .to = rheos_constant_float(rest.scope, 5, "other")};
  const rheos_import_options options = {.input_map = &map, .num_mappings = 1};
  rheos_import_graph_def(rest.scope, bytes, size_bytes, &options);
  assert_scope_ok(rest.scope);
  assert_int_equal(rheos_graph_num_operations(rest.graph), 2);
  assert_string_equal(rheos_operation_type(rheos_graph_operation(rest.graph, "y")), "Neg");
  fixture_free(&rest);
  rheos_free(bytes);
  assert_ok(rheos_graph_to_graph_def_from(f.graph, 2, &bytes, &size_bytes));
  rheos_free(bytes);
  expect_status_take(rheos_graph_to_graph_def_from(f.graph, 3, &bytes, &size_bytes),
                     RHEOS_INVALID_ARGUMENT, "number 3");
  expect_status_take(rheos_graph_to_graph_def_from(f.graph, -1, &bytes, &size_bytes),
                     RHEOS_INVALID_ARGUMENT, "number -1");
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_function_list__has_those_of_files_and_of_programs),
      cmocka_unit_test(test_function_list__gives_definitions),
      cmocka_unit_test(test_function_list__survives_short_memory),
      cmocka_unit_test(test_graph_def__begins_at_an_operation),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
