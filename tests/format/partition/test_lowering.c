// Calls that lie on several tasks become nodes of the graph; others stay. That they give the same
// is tested where graphs are cut (test_graph_cut.c), and from Python (test_cluster_functions.py).
#include "format/partition/lowering.h"

#include <rheos/format.h>
#include <rheos/function.h>

#include "base/file.h"
#include "graph/counting_allocator.h"
#include "graph/graph_impl.h"
#include "ops/array_fixture.h"

static counting_allocator counter;

#define FUNCTION(name, device)                                                               \
  "function { signature { name: '" name                                                      \
  "' input_arg { name: 'x' type: DT_FLOAT } "                                                \
  "output_arg { name: 'y' type: DT_FLOAT } } node_def { name: 'sum' op: 'AddV2' input: 'x' " \
  "input: 'x' device: '" device                                                              \
  "' attr { key: 'T' value { type: DT_FLOAT } } } "                                          \
  "ret { key: 'y' value: 'sum:z:0' } } "
// One that calls itself.
#define ENDLESS                                                                                  \
  "function { signature { name: 'endless' input_arg { name: 'x' type: DT_FLOAT } "               \
  "output_arg { name: 'y' type: DT_FLOAT } } node_def { name: 'again' op: 'endless' input: 'x' " \
  "device: '/job:worker/task:1' } node_def { name: 'more' op: 'Neg' input: 'again:y:0' "         \
  "device: '/job:worker/task:2' attr { key: 'T' value { type: DT_FLOAT } } } "                   \
  "ret { key: 'y' value: 'more:y:0' } } "

// A graph of functions, of which "anywhere" and "there" double, of a placeholder, and of the nodes
// of the text.
static void read_text(fixture *f, const char *nodes) {
  static const char functions[] =
      "library { " FUNCTION("anywhere", "") FUNCTION("there", "/job:worker/task:1") ENDLESS
      "} node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } } ";
  char text[4096];
  void *bytes = NULL;
  size_t size = 0;
  snprintf(text, sizeof text, "%s%s", functions, nodes);
  check(rheos_message_from_text("GraphDef", text, strlen(text), &bytes, &size));
  rheos_import_graph_def(f->scope, bytes, size, NULL);
  check(rheos_scope_finish(f->scope));
  rheos_free(bytes);
}

#define CALL(name, function, input, device)                                           \
  "node { name: '" name "' op: 'PartitionedCall' input: '" input "' device: '" device \
  "' attr { "                                                                         \
  "key: 'f' value { func { name: '" function                                          \
  "' } } } attr { key: 'Tin' value { list { type: "                                   \
  "DT_FLOAT } } } attr { key: 'Tout' value { list { type: DT_FLOAT } } } } "

static const char *type_of(const fixture *f, const char *name) {
  return rheos_operation_type(rheos_graph_operation(f->graph, name));
}

static void test_lowering__only_what_lies_on_several_tasks(void **state) {
  fixture *f = *state;
  read_text(f, CALL("a", "anywhere", "x", "/job:worker/task:0")
                   CALL("b", "there", "x", "/job:worker/task:1")
                       CALL("c", "there", "x", "/job:worker/task:0") CALL("d", "there", "x", ""));
  rheos__lowered_calls calls = {0};
  check(rheos__lower_calls(f->graph, 0, &calls));
  assert_string_equal(type_of(f, "a"), "PartitionedCall");
  assert_string_equal(type_of(f, "b"), "PartitionedCall");
  assert_string_equal(type_of(f, "c"), "NoOp");
  assert_string_equal(type_of(f, "d"), "NoOp");
  const rheos_operation sum = rheos_graph_operation(f->graph, "c/body/sum");
  assert_string_equal(rheos_operation_type(sum), "AddV2");
  assert_string_equal(rheos_operation_device(sum), "/job:worker/task:1");
  rheos_output found;
  check(rheos__lowered_output(&calls, f->graph, "c:0", &found));
  assert_int_equal(found.id, sum.id);
  check(rheos__lowered_output(&calls, f->graph, "c", &found));
  assert_int_equal(found.id, sum.id);
  expect_error(rheos__lowered_output(&calls, f->graph, "c:1", &found), RHEOS_NOT_FOUND, "c:1");
  expect_error(rheos__lowered_output(&calls, f->graph, "no:0", &found), RHEOS_NOT_FOUND, "no");
  rheos__lowered_calls_deinit(&calls);
}

static void test_lowering__leads_takers_to_what_is_computed_now(void **state) {
  fixture *f = *state;
  read_text(f, CALL("once", "there", "x", "") CALL("twice", "there", "once", "")
            "node { name: 'negated' op: 'Neg' input: 'twice' attr { key: 'T' value { type: "
            "DT_FLOAT } } }");
  rheos__lowered_calls calls = {0};
  check(rheos__lower_calls(f->graph, 0, &calls));
  rheos__graph_check(f->graph);
  const int32_t negated = rheos_graph_operation(f->graph, "negated").id;
  const int32_t outer = rheos_graph_operation(f->graph, "twice/body/sum").id;
  const int32_t inner = rheos_graph_operation(f->graph, "once/body/sum").id;
  assert_int_equal(rheos__graph_node(f->graph, negated)->edges[0].id, outer);
  assert_int_equal(rheos__graph_node(f->graph, outer)->edges[0].id, inner);
  rheos__lowered_calls_deinit(&calls);
}

static void test_lowering__refuses_functions_without_end(void **state) {
  fixture *f = *state;
  read_text(f, CALL("c", "endless", "x", ""));
  rheos__lowered_calls calls = {0};
  expect_error(rheos__lower_calls(f->graph, 0, &calls), RHEOS_UNIMPLEMENTED, "calls itself");
  rheos__lowered_calls_deinit(&calls);
}

static void read_program(fixture *f, const char *name) {
  char path[512], *bytes = NULL;
  size_t size = 0;
  snprintf(path, sizeof path, RHEOS_SOURCE_DIR "/tests/golden/functions/%s.pb", name);
  check(rheos__file_read_all(path, 1 << 24, &bytes, &size));
  f->graph = rheos_graph_new();
  f->scope = rheos_scope_new(f->graph);
  rheos_import_graph_def(f->scope, bytes, size, NULL);
  check(rheos_scope_finish(f->scope));
  rheos__free(bytes);
}

// Moves what the calls run to a task that they do not ask for.
static void spread(rheos_graph *graph) {
  for (int32_t i = 0; i < rheos_graph_num_operations(graph); i++) {
    const rheos__function **functions;
    size_t count;
    if (rheos__call_kind_of(rheos__graph_node(graph, i)) == RHEOS__NO_CALL) continue;
    check(rheos__functions_of_call(graph, rheos__graph_node(graph, i), &functions, &count));
    for (size_t k = 0; k < count; k++) {
      rheos_graph *body = functions[k]->graph;
      for (int32_t n = 0; n < rheos_graph_num_operations(body); n++) {
        check(rheos_operation_set_device((rheos_operation){body, n}, "/job:worker/task:1"));
      }
    }
    rheos__free(functions);
  }
}

static void test_lowering__ends_where_memory_is_short(void **state) {
  (void)state;
  static const char *const programs[] = {"loop_with_branches", "cases", "call_in_call"};
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) {
    bool reached = true;
    for (int64_t n = 1; reached; n += n < 40 ? 1 : n / 8) {
      const int64_t alive = counter.alive;
      fixture f;
      rheos__lowered_calls calls = {0};
      read_program(&f, programs[i]);
      spread(f.graph);
      counter.fail_at = counter.requests + n;
      rheos_status *status = rheos__lower_calls(f.graph, 0, &calls);
      reached = counter.requests >= counter.fail_at;
      counter.fail_at = 0;
      assert_int_equal(rheos_status_code(status), reached ? RHEOS_RESOURCE_EXHAUSTED : RHEOS_OK);
      assert_true(reached || calls.count > 0);
      rheos_status_free(status);
      rheos__lowered_calls_deinit(&calls);
      rheos_scope_free(f.scope);
      rheos_graph_unref(f.graph);
      assert_int_equal(counter.alive, alive);
    }
  }
}

int main(void) {
  counting_allocator_install(&counter);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_lowering__only_what_lies_on_several_tasks, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_lowering__leads_takers_to_what_is_computed_now, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_lowering__refuses_functions_without_end, set_up,
                                      tear_down),
      cmocka_unit_test(test_lowering__ends_where_memory_is_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
