// When memory runs out: building a graph fails with a status at every single request, and nothing
// is left behind.
#include <rheos/collections.h>

#include "graph/graph_fixture.h"
#include "graph/tiny_ops.h"

#include "graph/build.h"
#include "graph/counting_allocator.h"
#include "graph/graph.h"

// Touches every kind of thing a graph keeps.
static void build_some(rheos_scope *s) {
  rheos_scope_set_source(s, "program.c", 1);
  rheos_push_name_scope(s, "outer");
  rheos_push_device(s, "/cpu:0");
  rheos_output x = rheos_constant_float(s, 1, "x");
  rheos_operation dependency = rheos_output_operation(x);
  rheos_push_control_dependencies(s, &dependency, x.graph != NULL);
  rheos_push_colocation(s, x.graph != NULL ? dependency : (rheos_operation){0});
  rheos_push_attr(s, rheos_attr_string("_tag", "text", 4));
  rheos__push_variable_frame(s, "scope", 1);
  const char *words[] = {"one", "two", "three"};
  rheos__const_strings(s, words, 3, NULL);
  rheos_output many[40];
  for (int i = 0; i < 40; i++) many[i] = rheos_constant_int(s, i, "c");
  rheos_output packed = output_of_op(add_op(s, "Pack", NULL, many, 40));
  for (int i = 0; i < 200; i++) packed = rheos__op_2(s, "Add", packed, packed);
  rheos_output shape = rheos__const_ints(s, (int32_t[]){2, 20}, 2, NULL);
  rheos__op_2(s, "Reshape", packed, shape);
  rheos__op_2(s, "Add", packed, x);  // an error of the user's
  for (int i = 0; i < 6; i++) rheos_scope_pop(s);
}

static void change_some(rheos_graph *graph) {
  if (rheos_graph_num_operations(graph) < 3) return;
  rheos_item item = {.kind = RHEOS_ITEM_BYTES, .bytes = {(char *)(uintptr_t)"bytes", 5}};
  rheos_status_free(rheos_graph_add_to_collection(graph, "key", item));
  rheos_status_free(
      rheos_operation_add_control_input((rheos_operation){graph, 2}, (rheos_operation){graph, 0}));
  rheos_free(rheos__node_name(graph, rheos__graph_node(graph, 2)));
  rheos_output output;
  rheos_status_free(rheos_graph_output(graph, "no such/name:0", &output));
}

// Returns whether nothing failed for want of memory.
static bool build_and_free(void) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  bool enough = scope != NULL;
  if (scope != NULL) {
    build_some(scope);
    rheos_status *status = rheos_scope_finish(scope);
    assert_non_null(status);
    enough = rheos_status_code(status) == RHEOS_INVALID_ARGUMENT;
    rheos_status_free(status);
    change_some(graph);
    no_op(scope, "after");  // usable, or a status
    rheos_status_free(rheos_scope_finish(scope));
  }
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
  return enough;
}

static void sweep(bool fail_after) {
  counting_allocator counter = {.fail_after = fail_after};
  counting_allocator_install(&counter);
  bool enough = build_and_free();
  int64_t requests = counter.requests, failures = 0;
  for (int64_t n = 1; enough && n <= requests; n++) {
    counter.fail_at = n;
    counter.requests = 0;
    failures += !build_and_free();
    if (counter.alive != 0) break;
  }
  rheos_set_allocator(NULL);
  assert_true(enough);
  assert_int_equal(counter.alive, 0);
  assert_true(requests > 20);
  assert_true(failures > 10);
}

static void test_graph__any_one_failed_allocation_is_survived(void **state) {
  (void)state;
  sweep(false);
}

static void test_graph__memory_that_stays_short_is_survived(void **state) {
  (void)state;
  sweep(true);
}

static void test_graph__a_failed_node_leaves_its_name_free(void **state) {
  (void)state;
  // Wherever in the making of a node memory ends, trying again gives what it would have given.
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  int64_t failures = 0;
  for (int64_t n = 1; n < 200; n++) {
    graph_fixture f = fixture_new();
    counter.requests = 0;
    counter.fail_at = n;
    rheos_operation first = no_op(f.scope, "a");
    bool failed = first.graph == NULL;
    if (failed) {
      rheos_status_free(rheos_scope_finish(f.scope));
      assert_int_equal(rheos_graph_num_operations(f.graph), 0);
      first = no_op(f.scope, "a");
      failures++;
    }
    counter.fail_at = 0;
    assert_operation_name(first, "a");
    assert_operation_name(no_op(f.scope, "a"), "a_1");
    fixture_free(&f);
    if (!failed) break;
  }
  rheos_set_allocator(NULL);
  assert_int_equal(counter.alive, 0);
  assert_true(failures > 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_graph__any_one_failed_allocation_is_survived),
      cmocka_unit_test(test_graph__memory_that_stays_short_is_survived),
      cmocka_unit_test(test_graph__a_failed_node_leaves_its_name_free),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
