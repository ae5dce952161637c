// Who takes what an operation gives: found as the graph grows, after surgery, and in short memory.
#include <rheos/control_flow.h>

#include "graph/build.h"
#include "graph/counting_allocator.h"
#include "graph/graph_fixture.h"
#include "graph/tiny_ops.h"

// "2:0 2:1" for inputs 0 and 1 of operation 2.
static const char *consumers_of(rheos_output output) {
  static char text[200];
  rheos_consumer found[8];
  size_t count;
  assert_ok(rheos_output_consumers(output, found, 8, &count));
  assert_true(count <= 8);
  text[0] = '\0';
  for (size_t i = 0; i < count; i++) {
    assert_ptr_equal(found[i].operation.graph, output.graph);
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d:%d", i > 0 ? " " : "",
             (int)found[i].operation.id, (int)found[i].input);
  }
  return text;
}

static const char *waiting_for(rheos_operation operation) {
  static char text[200];
  rheos_operation found[8];
  size_t count;
  assert_ok(rheos_operation_control_outputs(operation, found, 8, &count));
  text[0] = '\0';
  for (size_t i = 0; i < count && i < 8; i++) {
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d", i > 0 ? " " : "",
             (int)found[i].id);
  }
  return text;
}

static void test_consumers__are_found_as_the_graph_grows(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output x = rheos_constant_float(f.scope, 1, NULL);
  assert_string_equal(consumers_of(x), "");
  const rheos_output square = rheos__op_2(f.scope, "Add", x, x);
  assert_string_equal(consumers_of(x), "1:0 1:1");
  const rheos_operation on = rheos_output_operation(x);
  rheos_push_control_dependencies(f.scope, &on, 1);
  const rheos_output y = rheos_constant_float(f.scope, 2, NULL);
  rheos_scope_pop(f.scope);
  rheos__op_2(f.scope, "Add", square, x);
  assert_string_equal(consumers_of(x), "1:0 1:1 3:1");
  assert_string_equal(consumers_of(square), "3:0");
  assert_string_equal(consumers_of(y), "");
  assert_string_equal(waiting_for(on), "2");
  assert_string_equal(waiting_for(rheos_output_operation(square)), "");
  fixture_free(&f);
}

static void test_consumers__follow_changed_edges(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output x = rheos_constant_float(f.scope, 1, NULL);
  const rheos_output y = rheos_constant_float(f.scope, 2, NULL);
  const rheos_output sum = rheos__op_2(f.scope, "Add", x, x);
  assert_string_equal(consumers_of(x), "2:0 2:1");
  assert_ok(rheos__graph_set_input(f.graph, sum.id, 1, (rheos__edge){y.id, 0}));
  assert_string_equal(consumers_of(x), "2:0");
  assert_string_equal(consumers_of(y), "2:1");
  assert_ok(
      rheos_operation_add_control_input(rheos_output_operation(sum), rheos_output_operation(y)));
  assert_string_equal(waiting_for(rheos_output_operation(y)), "2");
  fixture_free(&f);
}

static void test_consumers__are_counted_beyond_the_room(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output x = rheos_constant_float(f.scope, 1, NULL);
  for (int i = 0; i < 100; i++) rheos__op_2(f.scope, "Add", x, x);
  size_t count;
  assert_ok(rheos_output_consumers(x, NULL, 0, &count));
  assert_int_equal(count, 200);
  rheos_consumer found[3] = {{{NULL, 0}, 0}, {{NULL, 0}, 0}, {{NULL, 0}, -7}};
  assert_ok(rheos_output_consumers(x, found, 2, &count));
  assert_int_equal(count, 200);
  assert_int_equal(found[1].operation.id, 1);
  assert_int_equal(found[1].input, 1);
  assert_int_equal(found[2].input, -7);
  fixture_free(&f);
}

static void test_consumers__of_nothing_are_an_error(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  size_t count = 1;
  expect_status_take(rheos_output_consumers((rheos_output){NULL, 0, 0}, NULL, 0, &count),
                     RHEOS_INVALID_ARGUMENT, "the output is no tensor");
  assert_int_equal(count, 0);
  const rheos_output x = rheos_constant_float(f.scope, 1, NULL);
  expect_status_take(rheos_output_consumers((rheos_output){f.graph, x.id, 1}, NULL, 0, &count),
                     RHEOS_INVALID_ARGUMENT, "the output");
  expect_status_take(
      rheos_operation_control_outputs((rheos_operation){f.graph, 9}, NULL, 0, &count),
      RHEOS_INVALID_ARGUMENT, "the operation");
  fixture_free(&f);
}

// A failed call changes no answer of a later one.
static void test_consumers__survive_short_memory(void **state) {
  (void)state;
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  int failures = 0;
  for (int64_t n = 1; n < 50; n++) {
    graph_fixture f = fixture_new();
    const rheos_output x = rheos_constant_float(f.scope, 1, NULL);
    for (int i = 0; i < 40; i++) rheos__op_2(f.scope, "Add", x, x);
    counter.requests = 0;
    counter.fail_at = n;
    size_t count;
    rheos_status *status = rheos_output_consumers(x, NULL, 0, &count);
    const bool failed = status != NULL;
    if (failed) assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
    rheos_status_free(status);
    counter.fail_at = 0;
    assert_ok(rheos_output_consumers(x, NULL, 0, &count));
    assert_int_equal(count, 80);
    failures += failed;
    fixture_free(&f);
    if (!failed) break;
  }
  rheos_set_allocator(NULL);
  assert_int_equal(counter.alive, 0);
  assert_true(failures > 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_consumers__are_found_as_the_graph_grows),
      cmocka_unit_test(test_consumers__follow_changed_edges),
      cmocka_unit_test(test_consumers__are_counted_beyond_the_room),
      cmocka_unit_test(test_consumers__of_nothing_are_an_error),
      cmocka_unit_test(test_consumers__survive_short_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
