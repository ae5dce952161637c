// Parts of graphs, variables as constants: what comes out runs elsewhere and gives the same.
#include <rheos/rheos.h>

#include "format/format_support.h"

static rheos_tensor *run(rheos_session *session, rheos_output fetched, rheos_output fed,
                         float value) {
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &value, &tensor));
  const rheos_feed feed = {fed, tensor};
  rheos_fetch fetch = {fetched, NULL};
  expect_ok(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL));
  rheos_tensor_unref(tensor);
  return fetch.value;
}

static rheos_output output_named(rheos_graph *graph, const char *name) {
  rheos_output output;
  expect_ok(rheos_graph_output(graph, name, &output));
  return output;
}

// What the frozen bytes give for x = 3.
static float run_bytes(const void *data, size_t size_bytes) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_import_graph_def(scope, data, size_bytes, NULL);
  expect_ok(rheos_scope_finish(scope));
  assert_null(rheos_graph_operation(graph, "init").graph);
  rheos_session *session;
  expect_ok(rheos_session_new(graph, NULL, &session));
  rheos_tensor *y = run(session, output_named(graph, "y"), output_named(graph, "x"), 3);
  const float value = *(float *)rheos_tensor_data(y);
  rheos_tensor_unref(y);
  rheos_session_free(session);
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
  return value;
}

typedef struct line {
  rheos_graph *graph;
  rheos_scope *scope;
  rheos_session *session;
  void *bytes;
  size_t size_bytes;
} line;

// y = 2 x + 1 with variables of 2 and 1, not initialized yet.
static line new_line(bool resource) {
  line l = {.graph = rheos_graph_new()};
  l.scope = rheos_scope_new(l.graph);
  rheos_graph_use_resource_variables(l.graph, resource);
  const rheos_output x = rheos_placeholder(l.scope, RHEOS_FLOAT, .name = "x");
  const rheos_output m =
      rheos_get_variable(l.scope, "m", RHEOS_FLOAT, RHEOS_SCALAR, rheos_constant_initializer(2));
  const rheos_output b = rheos_get_variable(l.scope, "b", RHEOS_FLOAT, RHEOS_SCALAR, rheos_ones());
  rheos_add(l.scope, rheos_mul(l.scope, m, x), b, .name = "y");
  rheos_global_variables_initializer(l.scope);
  expect_ok(rheos_scope_finish(l.scope));
  expect_ok(rheos_session_new(l.graph, NULL, &l.session));
  expect_ok(rheos_graph_to_graph_def(l.graph, &l.bytes, &l.size_bytes));
  return l;
}

static void free_line(line *l) {
  rheos_free(l->bytes);
  rheos_session_free(l->session);
  rheos_scope_free(l->scope);
  rheos_graph_unref(l->graph);
}

static void initialize(const line *l) {
  const rheos_operation init = rheos_graph_operation(l->graph, "init");
  assert_non_null(init.graph);
  expect_ok(rheos_session_run(l->session, NULL, 0, NULL, 0, &init, 1, NULL));
}

static void test_freeze__constants_for_variables_of_both_kinds(void **state) {
  (void)state;
  static const char *const outputs[] = {"y:0"};
  for (int resource = 0; resource < 2; resource++) {
    line l = new_line(resource);
    void *frozen;
    size_t frozen_bytes;
    expect_error(rheos_graph_def_freeze(l.bytes, l.size_bytes, l.session, outputs, 1, NULL, &frozen,
                                        &frozen_bytes),
                 RHEOS_FAILED_PRECONDITION, "");
    assert_null(frozen);
    initialize(&l);
    expect_ok(rheos_graph_def_freeze(l.bytes, l.size_bytes, l.session, outputs, 1, NULL, &frozen,
                                     &frozen_bytes));
    assert_true(run_bytes(frozen, frozen_bytes) == 7);
    rheos_free(frozen);
    static const char *const all[] = {"y", "init"};
    expect_error(rheos_graph_def_freeze(l.bytes, l.size_bytes, l.session, all, 2, NULL, &frozen,
                                        &frozen_bytes),
                 RHEOS_UNIMPLEMENTED, "cannot become a constant");
    free_line(&l);
  }
}

static void test_strip__keeps_what_is_needed(void **state) {
  (void)state;
  line l = new_line(false);
  void *part;
  size_t part_bytes;
  static const char *const outputs[] = {"m/read", "x"};
  expect_ok(rheos_graph_def_strip(l.bytes, l.size_bytes, outputs, 2, &part, &part_bytes));
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_import_graph_def(scope, part, part_bytes, NULL);
  expect_ok(rheos_scope_finish(scope));
  assert_int_equal(rheos_graph_num_operations(graph), 3);
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
  rheos_free(part);
  static const char *const missing[] = {"zz"};
  expect_error(rheos_graph_def_strip(l.bytes, l.size_bytes, missing, 1, &part, &part_bytes),
               RHEOS_NOT_FOUND, "no node 'zz'");
  expect_error(rheos_graph_def_strip(l.bytes, l.size_bytes - 1, outputs, 2, &part, &part_bytes),
               RHEOS_DATA_LOSS, "GraphDef");
  free_line(&l);
}

static void test_checkpoint_writer__old_or_new(void **state) {
  (void)state;
  char *folder = new_folder();
  char *prefix = rheos__path_join(folder, "model");
  for (int round = 0; round < 3; round++) {
    rheos_checkpoint_writer *writer;
    rheos_tensor *tensor;
    const int32_t value = round;
    expect_ok(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &value, &tensor));
    expect_ok(rheos_checkpoint_writer_open(prefix, &writer));
    expect_ok(rheos_checkpoint_writer_add(writer, "b", tensor));
    expect_ok(rheos_checkpoint_writer_add(writer, "a", tensor));
    if (round < 2) {
      expect_ok(rheos_checkpoint_writer_finish(writer));
    } else {
      rheos_checkpoint_writer_abandon(writer);
    }
    rheos_tensor_unref(tensor);
    rheos_checkpoint_reader *reader;
    expect_ok(rheos_checkpoint_reader_open(prefix, &reader));
    assert_int_equal(rheos_checkpoint_reader_count(reader), 2);
    assert_string_equal(rheos_checkpoint_reader_name(reader, 0), "a");
    expect_ok(rheos_checkpoint_reader_read(reader, 1, &tensor));
    assert_int_equal(*(int32_t *)rheos_tensor_data(tensor), round < 2 ? round : 1);
    rheos_tensor_unref(tensor);
    rheos_checkpoint_reader_free(reader);
  }
  rheos_checkpoint_writer_abandon(NULL);
  rheos__free(prefix);
  remove_folder(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_freeze__constants_for_variables_of_both_kinds),
      cmocka_unit_test(test_strip__keeps_what_is_needed),
      cmocka_unit_test(test_checkpoint_writer__old_or_new),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
