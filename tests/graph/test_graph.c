// Graphs: looking at them, collections, shapes refined later, surgery, seeds, many nodes.
#include <pthread.h>
#include <rheos/collections.h>

#include "graph/graph_fixture.h"
#include "graph/tiny_ops.h"

#include "graph/build.h"
#include "graph/graph.h"

static void test_graph__handles_of_nothing_are_harmless(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_operation none[] = {{NULL, 0}, {f.graph, 0}, {f.graph, -1}};
  for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
    char name[8] = "x";
    assert_int_equal(rheos_operation_name(none[i], name, sizeof name), 0);
    assert_string_equal(name, "");
    assert_string_equal(rheos_operation_type(none[i]), "");
    assert_string_equal(rheos_operation_device(none[i]), "");
    assert_int_equal(rheos_operation_num_inputs(none[i]), 0);
    assert_null(rheos_operation_input(none[i], 0).graph);
    assert_int_equal(rheos_operation_num_attrs(none[i]), 0);
    assert_int_equal(rheos_output_dtype(rheos_operation_output(none[i], 0)), RHEOS_INVALID_DTYPE);
    assert_int_equal(rheos_output_shape(rheos_operation_output(none[i], 0)).rank, -1);
  }
  rheos_graph_unref(NULL);
  rheos_scope_free(NULL);
  assert_null(rheos_scope_new(NULL));
  fixture_free(&f);
}

static void test_graph__shapes_can_be_refined_but_not_contradicted(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output x = add_placeholder(f.scope, RHEOS_FLOAT, RHEOS_SHAPE(-1, 3));
  int64_t changes = rheos__graph_num_changes(f.graph);
  assert_ok(rheos_output_set_shape(x, RHEOS_SHAPE(-1, -1)));
  assert_int_equal(rheos__graph_num_changes(f.graph), changes);
  assert_ok(rheos_output_set_shape(x, RHEOS_SHAPE(2, -1)));
  assert_shape_text(rheos_output_shape(x), "[2,3]");
  assert_true(rheos__graph_num_changes(f.graph) > changes);
  expect_status_take(rheos_output_set_shape(x, RHEOS_SHAPE(5, 3)), RHEOS_INVALID_ARGUMENT,
                     "Dimension 0 in both shapes must be equal, but are 2 and 5");
  expect_status_take(rheos_output_set_shape(x, RHEOS_SHAPE(-2, 3)), RHEOS_INVALID_ARGUMENT, "-2");
  assert_shape_text(rheos_output_shape(x), "[2,3]");
  fixture_free(&f);
}

static void test_graph__collections_keep_order_and_copies(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_output x = rheos_constant_float(f.scope, 1, NULL);
  char bytes[] = "abc";
  rheos_item output = {.kind = RHEOS_ITEM_OUTPUT, .id = x.id, .index = 0};
  rheos_item text = {.kind = RHEOS_ITEM_BYTES, .bytes = {bytes, 3}};
  assert_ok(rheos_graph_add_to_collection(f.graph, "losses", output));
  assert_ok(rheos_graph_add_to_collection(f.graph, "losses", text));
  assert_ok(rheos_graph_add_to_collection(f.graph, "losses", output));
  bytes[0] = 'x';
  assert_int_equal(rheos_graph_collection_size(f.graph, "losses"), 3);
  assert_int_equal(rheos_graph_collection_size(f.graph, "other"), 0);
  assert_string_equal(rheos_graph_collection_item(f.graph, "losses", 1).bytes.data, "abc");
  assert_int_equal(rheos_graph_collection_item(f.graph, "losses", 2).id, x.id);
  output.index = 1;
  expect_status_take(rheos_graph_add_to_collection(f.graph, "losses", output),
                     RHEOS_INVALID_ARGUMENT, "collection 'losses'");
  fixture_free(&f);
}

static void test_graph__surgery_changes_edges(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output x = rheos_constant_float(s, 1, NULL), y = rheos_constant_float(s, 2, NULL);
  rheos_output i = rheos_constant_int(s, 1, NULL);
  const rheos_operation one = rheos_output_operation(i);
  rheos_operation sum = rheos_output_operation(rheos__op_2(s, "Add", x, x));
  assert_ok(rheos__graph_set_input(f.graph, sum.id, 1, (rheos__edge){y.id, 0}));
  assert_int_equal(rheos_operation_input(sum, 1).id, y.id);
  assert_ok(rheos_operation_add_control_input(sum, one));
  assert_ok(rheos_operation_add_control_input(sum, one));
  assert_int_equal(rheos_operation_num_control_inputs(sum), 1);
  assert_int_equal(rheos_operation_control_input(sum, 0).id, i.id);
  assert_int_equal(rheos_operation_input(sum, 0).id, x.id);
  expect_status_take(rheos__graph_set_input(f.graph, sum.id, 0, (rheos__edge){i.id, 0}),
                     RHEOS_INVALID_ARGUMENT, "has dtype float");
  expect_status_take(rheos__graph_set_input(f.graph, sum.id, 2, (rheos__edge){x.id, 0}),
                     RHEOS_INVALID_ARGUMENT, "no input 2");
  expect_status_take(rheos__graph_set_input(f.graph, sum.id, 0, (rheos__edge){x.id, 1}),
                     RHEOS_INVALID_ARGUMENT, "output 1 of a Const, which has 1");
  expect_status_take(rheos_operation_add_control_input(sum, (rheos_operation){f.graph, 77}),
                     RHEOS_INVALID_ARGUMENT, "no such operation: 3 and 77 of ");
  expect_status_take(rheos_operation_add_control_input(one, sum), RHEOS_INVALID_ARGUMENT,
                     "made before it");
  assert_ok(rheos_operation_clear_control_inputs(sum));
  assert_int_equal(rheos_operation_num_control_inputs(sum), 0);
  assert_int_equal(rheos_operation_num_inputs(sum), 2);
  expect_status_take(rheos_operation_clear_control_inputs((rheos_operation){f.graph, 77}),
                     RHEOS_INVALID_ARGUMENT, "no such operation");
  fixture_free(&f);
}

static void test_graph__inputs_are_replaced(void **state) {
  (void)state;
  graph_fixture f = fixture_new(), other = fixture_new();
  rheos_scope *s = f.scope;
  rheos_output x = rheos_constant_float(s, 1, NULL), y = rheos_constant_float(s, 5, NULL);
  rheos_output foreign = rheos_constant_float(other.scope, 1, NULL);
  const rheos_operation sum = rheos_output_operation(rheos__op_2(s, "Add", x, x));
  rheos_output later = rheos_constant_float(s, 2, NULL);
  assert_ok(rheos_operation_set_input(sum, 1, y));
  assert_int_equal(rheos_operation_input(sum, 0).id, x.id);
  assert_int_equal(rheos_operation_input(sum, 1).id, y.id);
  expect_status_take(rheos_operation_set_input(sum, 0, later), RHEOS_INVALID_ARGUMENT,
                     "made before it");
  expect_status_take(rheos_operation_set_input(sum, 0, foreign), RHEOS_INVALID_ARGUMENT,
                     "another graph");
  expect_status_take(rheos_operation_set_input(sum, 2, x), RHEOS_INVALID_ARGUMENT, "no input 2");
  expect_status_take(rheos_operation_set_input((rheos_operation){f.graph, 77}, 0, x),
                     RHEOS_INVALID_ARGUMENT, "no such operation");
  fixture_free(&other);
  fixture_free(&f);
}

static void expect_seeds(rheos_graph *graph, bool has_op_seed, int64_t op_seed, int64_t seed,
                         int64_t seed2) {
  int64_t a, b;
  rheos__graph_op_seeds(graph, has_op_seed, op_seed, &a, &b);
  assert_int_equal(a, seed);
  assert_int_equal(b, seed2);
}

static void test_graph__seeds_are_tensorflows(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  expect_seeds(f.graph, false, 0, 0, 0);
  expect_seeds(f.graph, true, 5, 87654321, 5);
  rheos_graph_set_seed(f.graph, true, 42);
  expect_seeds(f.graph, false, 0, 42, 0);
  no_op(f.scope, NULL);
  expect_seeds(f.graph, false, 0, 42, 1);
  expect_seeds(f.graph, true, 7, 42, 7);
  expect_seeds(f.graph, true, -1, 42, INT32_MAX - 1);
  rheos_graph_set_seed(f.graph, true, 0);
  expect_seeds(f.graph, true, 0, 0, INT32_MAX);
  rheos_graph_set_seed(f.graph, false, 0);
  expect_seeds(f.graph, false, 0, 0, 0);
  fixture_free(&f);
}

static void test_graph__lives_as_long_as_somebody_holds_it(void **state) {
  (void)state;
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_graph_unref(graph);
  rheos_operation a = no_op(scope, "a");
  assert_ptr_equal(rheos_graph_ref(graph), graph);
  rheos_scope_free(scope);
  assert_operation_name(a, "a");
  rheos_graph_unref(graph);
}

typedef struct reader {
  rheos_graph *graph;
  const char *failure;
} reader;

static void *read_while_it_grows(void *argument) {
  reader *r = argument;
  char name[32];
  int32_t count;
  do {
    count = rheos_graph_num_operations(r->graph);
    if (count == 0) continue;
    rheos_operation last = {r->graph, count - 1};
    rheos_operation_name(last, name, sizeof name);
    if (rheos_graph_operation(r->graph, name).id != last.id) r->failure = "name";
    if (rheos_operation_input(last, 0).graph != NULL &&
        rheos_operation_input(last, 0).id >= last.id) {
      r->failure = "input";
    }
  } while (r->failure == NULL && count < 5001);
  return NULL;
}

static void test_graph__can_be_read_while_it_grows(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  reader r = {f.graph, NULL};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, read_while_it_grows, &r), 0);
  rheos_output x = rheos_constant_float(f.scope, 1, "x");
  for (int i = 0; i < 5000; i++) x = rheos__op_1(f.scope, "Identity", x);
  pthread_join(thread, NULL);
  assert_null(r.failure);
  fixture_free(&f);
}

static void test_graph__a_million_nodes_take_under_200_bytes_each(void **state) {
  (void)state;
  enum { COUNT = 1000000 };
  graph_fixture f = fixture_new();
  rheos_output x = rheos_constant_float(f.scope, 0, "x");
  rheos_output one = rheos_constant_float(f.scope, 1, "one");
  for (int i = 0; i < COUNT; i++) {
    rheos_scope_set_source(f.scope, "chain.c", i);
    x = output_of_op(add_op(f.scope, "Add", "add", (rheos_output[]){x, one}, 2));
  }
  assert_int_equal(rheos_graph_num_operations(f.graph), COUNT + 2);
  assert_true(rheos__graph_size_bytes(f.graph) < (size_t)200 * COUNT);
  assert_operation_name(rheos_output_operation(x), "add_999999");
  assert_int_equal(rheos_graph_operation(f.graph, "add_654321").id, 654321 + 2);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_graph__handles_of_nothing_are_harmless),
      cmocka_unit_test(test_graph__shapes_can_be_refined_but_not_contradicted),
      cmocka_unit_test(test_graph__collections_keep_order_and_copies),
      cmocka_unit_test(test_graph__surgery_changes_edges),
      cmocka_unit_test(test_graph__inputs_are_replaced),
      cmocka_unit_test(test_graph__seeds_are_tensorflows),
      cmocka_unit_test(test_graph__lives_as_long_as_somebody_holds_it),
      cmocka_unit_test(test_graph__can_be_read_while_it_grows),
      cmocka_unit_test(test_graph__a_million_nodes_take_under_200_bytes_each),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
