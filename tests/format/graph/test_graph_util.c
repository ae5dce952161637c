// Parts of graphs, graphs without nodes for training, frozen graphs: what stays, what it computes,
// and what cannot be.
#include <rheos/rheos.h>

#include "format/format_support.h"
#include "format/graph/graph_def.h"
#include "format/recorded.h"

typedef struct model {
  rheos_graph *graph;
  rheos_scope *scope;
  rheos_session *session;
} model;

static model new_model(void) {
  model m;
  m.graph = rheos_graph_new();
  m.scope = rheos_scope_new(m.graph);
  expect_ok(rheos_session_new(m.graph, NULL, &m.session));
  return m;
}

static void model_free(model *m) {
  rheos_session_free(m->session);
  rheos_scope_free(m->scope);
  rheos_graph_unref(m->graph);
}

static bytes export(rheos_graph *graph) {
  void *data;
  bytes b;
  expect_ok(rheos_graph_to_graph_def(graph, &data, &b.size_bytes));
  b.data = data;
  return b;
}

static rheos_graph *import(const void *data, size_t size_bytes) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_import_graph_def(scope, data, size_bytes, NULL);
  expect_ok(rheos_scope_finish(scope));
  rheos_scope_free(scope);
  return graph;
}

static bool has(rheos_graph *graph, const char *name) {
  return rheos_graph_operation(graph, name).graph != NULL;
}

static const char *type_of(rheos_graph *graph, const char *name) {
  return rheos_operation_type(rheos_graph_operation(graph, name));
}

// The value of output 0 of a node that nothing has to be fed for.
static rheos_tensor *value_of(rheos_graph *graph, const char *name) {
  rheos_session *session;
  rheos_fetch fetch = {.value = NULL};
  expect_ok(rheos_graph_output(graph, name, &fetch.output));
  expect_ok(rheos_session_new(graph, NULL, &session));
  expect_ok(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  rheos_session_free(session);
  return fetch.value;
}

// ---- Parts

static void test_graph_util__a_part_is_what_the_outputs_need(void **state) {
  (void)state;
  model m = new_model();
  const rheos_output a = rheos_constant_float(m.scope, 1, "a");
  const rheos_output b = rheos_constant_float(m.scope, 2, "b");
  const rheos_operation first = rheos_output_operation(b);
  rheos_push_control_dependencies(m.scope, &first, 1);
  const rheos_output gone = rheos_abs(m.scope, a, .name = "d");
  rheos_push_colocation(m.scope, rheos_output_operation(gone));
  rheos_neg(m.scope, a, .name = "c");
  rheos_scope_pop(m.scope);
  rheos_scope_pop(m.scope);
  expect_ok(rheos_scope_finish(m.scope));
  bytes whole = export(m.graph);
  void *part;
  size_t size_bytes;
  const char *outputs[] = {"c:0", "none", "nor"};
  expect_ok(rheos_graph_def_strip(whole.data, whole.size_bytes, outputs, 1, &part, &size_bytes));
  rheos_graph *graph = import(part, size_bytes);
  assert_int_equal(rheos_graph_num_operations(graph), 3);
  assert_true(has(graph, "a") && has(graph, "b") && has(graph, "c"));
  assert_int_equal(rheos_operation_attr(rheos_graph_operation(graph, "c"), "_class").kind,
                   RHEOS_ATTR_NONE);
  rheos_graph_unref(graph);
  rheos_free(part);
  expect_error(rheos_graph_def_strip(whole.data, whole.size_bytes, outputs, 3, &part, &size_bytes),
               RHEOS_NOT_FOUND, "the graph has no node 'none', 'nor'");
  expect_error(rheos_graph_def_strip("x", 1, outputs, 1, &part, &size_bytes), RHEOS_DATA_LOSS, "");
  rheos_free(whole.data);
  model_free(&m);
}

// ---- Nodes for training

static void test_graph_util__nodes_for_training_go(void **state) {
  (void)state;
  model m = new_model();
  const rheos_output a = rheos_constant_float(m.scope, 1, "a");
  const rheos_output b = rheos_identity(m.scope, a, .name = "b");
  const rheos_output c = rheos_check_numerics(m.scope, b, "", .name = "c");
  const rheos_output d = rheos_identity(m.scope, c, .name = "d");
  const rheos_output stays = rheos_identity(m.scope, c, .name = "stays");
  rheos_neg(m.scope, d, .name = "e");
  const rheos_operation last = rheos_output_operation(stays);
  rheos_push_control_dependencies(m.scope, &last, 1);
  const rheos_output waits = rheos_identity(m.scope, d, .name = "waits");
  rheos_scope_pop(m.scope);
  rheos_neg(m.scope, waits, .name = "f");
  expect_ok(rheos_scope_finish(m.scope));
  bytes whole = export(m.graph);
  void *out;
  size_t size_bytes;
  const char *protected[] = {"waits"};
  expect_ok(rheos_graph_def_remove_training_nodes(whole.data, whole.size_bytes, protected, 1, &out,
                                                  &size_bytes));
  rheos_graph *graph = import(out, size_bytes);
  assert_false(has(graph, "b") || has(graph, "c") || has(graph, "d"));
  assert_true(has(graph, "stays") && has(graph, "waits"));
  rheos_tensor *value = value_of(graph, "e");
  assert_float_equal(*(float *)rheos_tensor_data(value), -1, 0);
  rheos_tensor_unref(value);
  rheos_graph_unref(graph);
  rheos_free(out);
  rheos_free(whole.data);
  model_free(&m);
}

// Two identities of each other are no graph, but a message.
static void test_graph_util__a_ring_is_refused(void **state) {
  (void)state;
  static const char text[] =
      "node { name: 'a' op: 'Identity' input: 'b' } node { name: 'b' op: 'Identity' input: 'a' } "
      "node { name: 'c' op: 'Neg' input: 'b:0' }";
  void *message, *out;
  size_t message_bytes, size_bytes;
  expect_ok(rheos_message_from_text("GraphDef", text, strlen(text), &message, &message_bytes));
  expect_error(
      rheos_graph_def_remove_training_nodes(message, message_bytes, NULL, 0, &out, &size_bytes),
      RHEOS_INVALID_ARGUMENT, "depends on itself");
  rheos_free(message);
}

// ---- Defaults

static bool has_attr(const void *bytes, size_t size_bytes, const char *node, const char *attr) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  Tensorflow__GraphDef *def;
  expect_ok(RHEOS_PROTO_UNPACK(graph_def, bytes, size_bytes, &arena, &def));
  bool found = false, exists = false;
  for (size_t i = 0; i < def->n_node; i++) {
    if (strcmp(def->node[i]->name, node) != 0) continue;
    exists = true;
    for (size_t k = 0; k < def->node[i]->n_attr; k++) {
      found = found || strcmp(def->node[i]->attr[k]->key, attr) == 0;
    }
  }
  assert_true(exists);
  rheos__arena_deinit(&arena);
  return found;
}

static void test_graph_util__defaults_are_stripped_and_come_back(void **state) {
  (void)state;
  model m = new_model();
  const float values[] = {1, 2, 3, 4};
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(2, 2), values, &tensor));
  const rheos_output a = rheos_constant(m.scope, tensor, "a");
  rheos_matmul(m.scope, a, a, .transpose_a = true, .name = "x");
  rheos_squeeze(m.scope, a, .name = "y");
  expect_ok(rheos_scope_finish(m.scope));
  bytes whole = export(m.graph);
  void *out;
  size_t size_bytes;
  expect_ok(rheos_graph_def_strip_default_attrs(whole.data, whole.size_bytes, &out, &size_bytes));
  assert_true(has_attr(whole.data, whole.size_bytes, "x", "transpose_b"));
  assert_false(has_attr(out, size_bytes, "x", "transpose_b"));
  assert_true(has_attr(out, size_bytes, "x", "transpose_a"));
  assert_true(has_attr(out, size_bytes, "x", "T"));
  assert_true(has_attr(whole.data, whole.size_bytes, "y", "squeeze_dims"));
  assert_false(has_attr(out, size_bytes, "y", "squeeze_dims"));
  rheos_graph *graph = import(out, size_bytes);
  bytes again = export(graph);
  assert_int_equal(again.size_bytes, whole.size_bytes);
  assert_memory_equal(again.data, whole.data, whole.size_bytes);
  rheos_graph_unref(graph);
  rheos_free(again.data);
  rheos_free(out);
  rheos_free(whole.data);
  rheos_tensor_unref(tensor);
  model_free(&m);
}

// ---- Freezing

// y = gather(w, [2, 0]) * read(w)[0] + r, with w a resource variable and r a reference.
static model new_mixed_model(void) {
  model m = new_model();
  const float rows[] = {1, 2, 3};
  const int32_t places[] = {2, 0};
  const int32_t axis[] = {0};
  rheos_tensor *start, *indices, *axes;
  expect_ok(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(1), axis, &axes));
  expect_ok(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(3), rows, &start));
  expect_ok(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(2), places, &indices));
  const rheos_variable_options resource = {.name = "w", .use_resource = true};
  const rheos_variable_options reference = {.name = "r"};
  const rheos_variable w =
      rheos_variable_new(m.scope, rheos_constant(m.scope, start, NULL), &resource);
  const rheos_variable r =
      rheos_variable_new(m.scope, rheos_constant_float(m.scope, 10, NULL), &reference);
  const rheos_output gathered = rheos_resource_gather(
      m.scope, w.handle, rheos_constant(m.scope, indices, NULL), RHEOS_FLOAT, .name = "gathered");
  const rheos_output read = rheos_variable_read(m.scope, w);
  const rheos_output all = rheos_constant(m.scope, axes, NULL);
  rheos_add(m.scope, rheos_mul(m.scope, gathered, rheos_sum(m.scope, read, all)), r.value,
            .name = "y");
  rheos_assign(m.scope, r.handle, rheos_constant_float(m.scope, 1, NULL), .name = "assign");
  rheos_destroy_resource_op(m.scope, w.handle, .name = "destroy");
  const rheos_operation init = rheos_global_variables_initializer(m.scope);
  expect_ok(rheos_scope_finish(m.scope));
  expect_ok(rheos_session_run(m.session, NULL, 0, NULL, 0, &init, 1, NULL));
  rheos_tensor_unref(start);
  rheos_tensor_unref(indices);
  rheos_tensor_unref(axes);
  return m;
}

static rheos_status *freeze(const model *m, const char *output, const rheos_freeze_options *options,
                            bytes *out) {
  bytes whole = export(m->graph);
  void *data;
  rheos_status *status = rheos_graph_def_freeze(whole.data, whole.size_bytes, m->session, &output,
                                                1, options, &data, &out->size_bytes);
  out->data = data;
  rheos_free(whole.data);
  return status;
}

static void test_graph_util__frozen_variables_are_constants(void **state) {
  (void)state;
  model m = new_mixed_model();
  bytes frozen;
  expect_ok(freeze(&m, "y", NULL, &frozen));
  rheos_graph *graph = import(frozen.data, frozen.size_bytes);
  assert_string_equal(type_of(graph, "w"), "Const");
  assert_string_equal(type_of(graph, "r"), "Const");
  assert_string_equal(type_of(graph, "gathered"), "GatherV2");
  assert_false(has(graph, "assign"));
  rheos_tensor *y = value_of(graph, "y");
  // [3, 1] * 6 + 10
  assert_float_equal(((float *)rheos_tensor_data(y))[0], 28, 0);
  assert_float_equal(((float *)rheos_tensor_data(y))[1], 16, 0);
  rheos_tensor_unref(y);
  rheos_graph_unref(graph);
  rheos_free(frozen.data);
  model_free(&m);
}

static void test_graph_util__some_variables_stay(void **state) {
  (void)state;
  model m = new_mixed_model();
  const char *names[] = {"w"};
  rheos_freeze_options options = {.variables = names, .num_variables = 1};
  bytes frozen;
  for (int i = 0; i < 2; i++) {
    expect_ok(freeze(&m, "y", &options, &frozen));
    rheos_graph *graph = import(frozen.data, frozen.size_bytes);
    assert_string_equal(type_of(graph, "w"), i == 0 ? "Const" : "VarHandleOp");
    assert_string_equal(type_of(graph, "r"), i == 0 ? "VariableV2" : "Const");
    rheos_graph_unref(graph);
    rheos_free(frozen.data);
    options = (rheos_freeze_options){.kept_variables = names, .num_kept_variables = 1};
  }
  model_free(&m);
}

static void test_graph_util__what_takes_variables_cannot_be_frozen(void **state) {
  (void)state;
  model m = new_mixed_model();
  bytes frozen;
  expect_error(freeze(&m, "assign", NULL, &frozen), RHEOS_UNIMPLEMENTED,
               "variable 'r' cannot become a constant for 'Assign' ('assign')");
  expect_error(freeze(&m, "destroy", NULL, &frozen), RHEOS_UNIMPLEMENTED,
               "'DestroyResourceOp' ('destroy')");
  assert_null(frozen.data);
  model_free(&m);
  m = new_model();
  const rheos_variable_options options = {.name = "v"};
  rheos_variable_new(m.scope, rheos_constant_float(m.scope, 3, NULL), &options);
  expect_error(freeze(&m, "v", NULL, &frozen), RHEOS_FAILED_PRECONDITION, "uninitialized");
  rheos_status_free(rheos_scope_finish(m.scope));
  model_free(&m);
}

// A saved model of TensorFlow to one file.
static void test_graph_util__a_saved_model_is_frozen(void **state) {
  (void)state;
  char *folder = rheos__text_format("%s/tests/golden/saved_models/mlp", RHEOS_SOURCE_DIR);
  const char *tag = "serve", *output = "y";
  rheos_saved_model *saved;
  expect_ok(rheos_saved_model_load(folder, &tag, 1, NULL, &saved));
  bytes whole = export(rheos_saved_model_graph(saved));
  void *frozen;
  size_t size_bytes;
  expect_ok(rheos_graph_def_freeze(whole.data, whole.size_bytes, rheos_saved_model_session(saved),
                                   &output, 1, NULL, &frozen, &size_bytes));
  rheos_saved_model_free(saved);
  rheos_graph *graph = import(frozen, size_bytes);
  rheos_session *session;
  expect_ok(rheos_session_new(graph, NULL, &session));
  rheos_feed feed = {.value = recorded_tensor("saved_models/mlp", "features")};
  rheos_fetch fetch = {.value = NULL};
  expect_ok(rheos_graph_output(graph, "x:0", &feed.output));
  expect_ok(rheos_graph_output(graph, "y:0", &fetch.output));
  expect_ok(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL));
  rheos_tensor *expected = recorded_tensor("saved_models/mlp", "scores");
  expect_close(fetch.value, expected, 1e-6f);
  rheos_tensor_unref(expected);
  rheos_tensor_unref(fetch.value);
  rheos_tensor_unref(feed.value);
  rheos_session_free(session);
  rheos_graph_unref(graph);
  rheos_free(frozen);
  rheos_free(whole.data);
  rheos__free(folder);
}

// ---- Anything that may happen

static const char *const names[] = {"y", "gathered"};

static rheos_status *change_all(const bytes *in, rheos_session *session) {
  void *out;
  size_t size_bytes;
  rheos_status *status =
      rheos_graph_def_strip(in->data, in->size_bytes, names, 1, &out, &size_bytes);
  rheos_free(out);
  if (status != NULL) return status;
  status =
      rheos_graph_def_remove_training_nodes(in->data, in->size_bytes, names, 1, &out, &size_bytes);
  rheos_free(out);
  if (status != NULL) return status;
  status = rheos_graph_def_strip_default_attrs(in->data, in->size_bytes, &out, &size_bytes);
  rheos_free(out);
  if (status != NULL || session == NULL) return status;
  status =
      rheos_graph_def_freeze(in->data, in->size_bytes, session, names, 2, NULL, &out, &size_bytes);
  rheos_free(out);
  return status;
}

static void test_graph_util__any_byte_may_be_wrong(void **state) {
  (void)state;
  model m = new_mixed_model();
  bytes whole = export(m.graph);
  for (size_t i = 0; i < whole.size_bytes; i++) {
    const char old = whole.data[i];
    whole.data[i] = (char)(old ^ (1 << i % 8));
    rheos_status_free(change_all(&whole, i % 8 == 0 ? m.session : NULL));
    whole.data[i] = old;
  }
  rheos_free(whole.data);
  model_free(&m);
}

static rheos_status *change_without_session(void *in) { return change_all(in, NULL); }

static void test_graph_util__any_allocation_may_fail(void **state) {
  (void)state;
  model m = new_mixed_model();
  bytes whole = export(m.graph);
  model_free(&m);
  sweep_allocations(change_without_session, &whole);
  rheos_free(whole.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_graph_util__a_part_is_what_the_outputs_need),
      cmocka_unit_test(test_graph_util__nodes_for_training_go),
      cmocka_unit_test(test_graph_util__a_ring_is_refused),
      cmocka_unit_test(test_graph_util__defaults_are_stripped_and_come_back),
      cmocka_unit_test(test_graph_util__frozen_variables_are_constants),
      cmocka_unit_test(test_graph_util__some_variables_stay),
      cmocka_unit_test(test_graph_util__what_takes_variables_cannot_be_frozen),
      cmocka_unit_test(test_graph_util__a_saved_model_is_frozen),
      cmocka_unit_test(test_graph_util__any_byte_may_be_wrong),
      cmocka_unit_test(test_graph_util__any_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
