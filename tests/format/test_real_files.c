// What files from the wild hold that readers get wrong, in small messages made by hand;
// test_graph_def and test_saved_model have more of it.
#include <rheos/rheos.h>

#include "format/format_support.h"

static bytes message(const char *type, const char *text) {
  void *data;
  bytes b;
  expect_ok(rheos_message_from_text(type, text, strlen(text), &data, &b.size_bytes));
  b.data = data;
  return b;
}

static rheos_graph *import_with(const char *text, const rheos_import_options *options) {
  bytes b = message("GraphDef", text);
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_import_graph_def(scope, b.data, b.size_bytes, options);
  expect_ok(rheos_scope_finish(scope));
  rheos_scope_free(scope);
  rheos_free(b.data);
  return graph;
}

static rheos_graph *import(const char *text) { return import_with(text, NULL); }

static rheos_output output(rheos_graph *graph, const char *name) {
  rheos_output found;
  expect_ok(rheos_graph_output(graph, name, &found));
  return found;
}

static void expect_shape(rheos_graph *graph, const char *name, const char *expected) {
  char text[64];
  const rheos_shape shape = rheos_output_shape(output(graph, name));
  rheos_shape_format(&shape, text, sizeof text);
  assert_string_equal(text, expected);
}

static rheos_tensor *value_of(rheos_graph *graph, const char *name) {
  rheos_session *session;
  rheos_fetch fetch = {.output = output(graph, name)};
  expect_ok(rheos_session_new(graph, NULL, &session));
  expect_ok(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  rheos_session_free(session);
  return fetch.value;
}

// ---- Graphs

static void test_real_files__an_assignment_of_any_shape_has_its_values(void **state) {
  (void)state;
  rheos_graph *graph = import(
      "node { name: 'v' op: 'Variable' attr { key: 'dtype' value { type: DT_FLOAT } }"
      "  attr { key: 'shape' value { shape { } } } }"
      "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }"
      "  attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } }"
      "    float_val: 1 float_val: 2 } } } }"
      "node { name: 'a' op: 'Assign' input: 'v' input: 'c'"
      "  attr { key: 'T' value { type: DT_FLOAT } }"
      "  attr { key: 'validate_shape' value { b: false } } }"
      "versions { producer: 21 }");
  expect_shape(graph, "v", "<unknown>");
  expect_shape(graph, "a", "[2]");
  rheos_tensor *value = value_of(graph, "a");
  assert_float_equal(((float *)rheos_tensor_data(value))[1], 2, 0);
  rheos_tensor_unref(value);
  rheos_graph_unref(graph);
}

static void test_real_files__shapes_of_an_older_program_may_be_wrong(void **state) {
  (void)state;
  rheos_graph *graph = import(
      "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }"
      "  attr { key: '_output_shapes' value { list { shape { dim { size: 7 } } shape { } } } }"
      "  attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } }"
      "    float_val: 1 } } } }"
      "node { name: 'n' op: 'Neg' input: 'c' attr { key: 'T' value { type: DT_FLOAT } }"
      "  attr { key: '_output_shapes' value { list { } } } }"
      "node { name: 'm' op: 'Neg' input: 'c' attr { key: 'T' value { type: DT_FLOAT } }"
      "  attr { key: '_output_shapes' value { s: 'no list' } } }");
  expect_shape(graph, "c", "[2]");
  expect_shape(graph, "n", "[2]");
  expect_shape(graph, "m", "[2]");
  rheos_graph_unref(graph);
}

static void test_real_files__a_function_is_called_by_its_name(void **state) {
  (void)state;
  const char *text =
      "node { name: 'x' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } }"
      "node { name: 'y' op: 'Twice' input: 'x' }"
      "node { name: 'g' op: 'SymbolicGradient' input: 'x' input: 'y'"
      "  attr { key: 'f' value { func { name: 'Twice' } } }"
      "  attr { key: 'Tin' value { list { type: DT_FLOAT type: DT_FLOAT } } }"
      "  attr { key: 'Tout' value { list { type: DT_FLOAT } } } }"
      "library { function { signature { name: 'Twice'"
      "    input_arg { name: 'a' type: DT_FLOAT } output_arg { name: 'b' type: DT_FLOAT } }"
      "  node_def { name: 'sum' op: 'Add' input: 'a' input: 'a'"
      "    attr { key: 'T' value { type: DT_FLOAT } } }"
      "  ret { key: 'b' value: 'sum:z:0' } } }";
  const rheos_import_options options = {.keep_unknown_ops = true};
  rheos_graph *graph = import_with(text, &options);
  assert_string_equal(rheos_operation_type(rheos_output_operation(output(graph, "y"))), "Twice");
  assert_int_equal(rheos_output_dtype(output(graph, "g")), RHEOS_FLOAT);
  rheos_graph_unref(graph);
}

static void test_real_files__values_fill_their_tensor(void **state) {
  (void)state;
#define CONST(name, dtype, dims, values)                                                      \
  "node { name: '" name "' op: 'Const' attr { key: 'dtype' value { type: " dtype              \
  " } }"                                                                                      \
  "  attr { key: 'value' value { tensor { dtype: " dtype " tensor_shape { " dims " } " values \
  " } } } }"
  rheos_graph *graph = import(
      CONST("pairs", "DT_COMPLEX64", "dim { size: 3 }",
            "scomplex_val: 1 scomplex_val: 2 scomplex_val: 3 scomplex_val: 4")
          CONST("zeros", "DT_INT64", "dim { size: 2 }", "") CONST(
              "last", "DT_INT32", "dim { size: 2 } dim { size: 2 }", "int_val: 5 int_val: 6")
              CONST("brain", "DT_BFLOAT16", "dim { size: 2 }", "half_val: 16256 half_val: 49184")
                  CONST("empty", "DT_STRING", "dim { size: 2 }", ""));
#undef CONST
  rheos_tensor *t = value_of(graph, "pairs");
  const float *pairs = rheos_tensor_data(t);
  assert_true(pairs[0] == 1 && pairs[3] == 4 && pairs[4] == 3 && pairs[5] == 4);
  rheos_tensor_unref(t);
  t = value_of(graph, "zeros");
  assert_int_equal(((int64_t *)rheos_tensor_data(t))[1], 0);
  rheos_tensor_unref(t);
  t = value_of(graph, "last");
  assert_int_equal(((int32_t *)rheos_tensor_data(t))[3], 6);
  rheos_tensor_unref(t);
  t = value_of(graph, "brain");
  assert_int_equal(((uint16_t *)rheos_tensor_data(t))[0], 0x3f80);  // 1
  assert_int_equal(((uint16_t *)rheos_tensor_data(t))[1], 0xc020);  // -2.5
  rheos_tensor_unref(t);
  t = value_of(graph, "empty");
  assert_int_equal(((rheos_string *)rheos_tensor_data(t))[1].size_bytes, 0);
  rheos_tensor_unref(t);
  rheos_graph_unref(graph);
}

// An attribute that came later: with its default it says nothing, else it is kept.
static void test_real_files__newer_attributes_are_accepted(void **state) {
  (void)state;
  const char *text =
      "node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }"
      "  attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { } } } } }"
      "node { name: 'one' op: 'Neg' input: 'c' attr { key: 'T' value { type: DT_FLOAT } }"
      "  attr { key: 'newer' value { i: 3 } } }"
      "node { name: 'other' op: 'Neg' input: 'c' attr { key: 'T' value { type: DT_FLOAT } }"
      "  attr { key: 'newer' value { i: 4 } } }";
  bytes ops = message("OpList",
                      "op { name: 'Abs' } op { name: 'Neg' attr { name: 'T' type: 'type' }"
                      "  attr { name: 'newer' type: 'int' default_value { i: 3 } } }");
  rheos_graph *graph = import(text);
  assert_int_equal(rheos_operation_attr(rheos_graph_operation(graph, "one"), "newer").i, 3);
  rheos_graph_unref(graph);
  const rheos_import_options options = {.op_list = ops.data, .op_list_bytes = ops.size_bytes};
  graph = import_with(text, &options);
  assert_int_equal(rheos_operation_attr(rheos_graph_operation(graph, "one"), "newer").kind,
                   RHEOS_ATTR_NONE);
  assert_int_equal(rheos_operation_attr(rheos_graph_operation(graph, "other"), "newer").i, 4);
  rheos_graph_unref(graph);
  rheos_free(ops.data);
}

// ---- Meta graphs and saved models

static rheos_meta_graph *describe(const char *text) {
  bytes b = message("MetaGraphDef", text);
  rheos_meta_graph *meta_graph;
  expect_ok(rheos_meta_graph_parse(b.data, b.size_bytes, &meta_graph));
  rheos_free(b.data);
  return meta_graph;
}

static void test_real_files__what_descriptions_meet(void **state) {
  (void)state;
  rheos_meta_graph *m = describe(
      "meta_info_def { tensorflow_version: '0.12.head' }\r\n"
      "signature_def { key: 's' value {\r\n"
      "  inputs { key: 'bare' value { } }\r\n"
      "  inputs { key: 'sparse' value { dtype: DT_INT64 coo_sparse { values_tensor_name: 'v:0' } } "
      "}"
      "  outputs { key: 'ref' value { name: 'w:0' dtype: DT_FLOAT_REF"
      "    tensor_shape { unknown_rank: true } } }"
      "  outputs { key: 'deep' value { dtype: DT_FLOAT tensor_shape { dim { size: 1 } dim { size: "
      "1 }"
      "    dim { size: 1 } dim { size: 1 } dim { size: 1 } dim { size: 1 } dim { size: 1 }"
      "    dim { size: 1 } dim { size: 1 } } } } } }"
      "signature_def { key: 'empty' }"
      "collection_def { key: 'none' value { } } collection_def { key: 'nothing' }");
  assert_string_equal(m->tensorflow_version, "0.12.head");
  assert_int_equal(m->num_tags, 0);
  assert_null(m->saver);
  assert_int_equal(m->graph_def_bytes, 0);
  const rheos_signature_def *s = rheos_meta_graph_signature(m, "s");
  assert_string_equal(s->inputs[0].key, "bare");
  assert_string_equal(s->inputs[0].name, "");
  assert_int_equal(s->inputs[0].dtype, RHEOS_INVALID_DTYPE);
  assert_true(s->inputs[1].is_sparse);
  assert_string_equal(s->inputs[1].indices_name, "");
  assert_int_equal(s->outputs[0].shape.rank, -1);
  assert_int_equal(s->outputs[1].dtype, RHEOS_FLOAT + RHEOS_REF);
  assert_string_equal(rheos_dtype_name(s->outputs[1].dtype), "float_ref");
  assert_int_equal(s->outputs[1].shape.rank, -1);
  assert_int_equal(rheos_meta_graph_signature(m, "empty")->num_inputs, 0);
  assert_int_equal(rheos_meta_graph_collection(m, "none")->kind, RHEOS_COLLECTION_EMPTY);
  assert_int_equal(rheos_meta_graph_collection(m, "nothing")->count, 0);
  rheos_meta_graph_free(m);
}

// A signature's output is a variable: the call reads it. The model has no tags, and no variables
// folder, for there is no saver.
static void test_real_files__a_reference_is_an_output_of_a_model_without_tags(void **state) {
  (void)state;
  bytes b =
      message("SavedModel",
              "saved_model_schema_version: 1 meta_graphs { graph_def {"
              "  node { name: 'v' op: 'VariableV2' attr { key: 'dtype' value { type: DT_FLOAT } }"
              "    attr { key: 'shape' value { shape { } } } }"
              "  node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }"
              "    attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { } "
              "float_val: 5 } } } }"
              "  node { name: 'init' op: 'Assign' input: 'v' input: 'c'"
              "    attr { key: 'T' value { type: DT_FLOAT } } } versions { producer: 26 } }"
              "  collection_def { key: 'legacy_init_op' value { node_list { value: 'init' } } }"
              "  signature_def { key: 'serving_default' value {"
              "    outputs { key: 'v' value { name: 'v:0' dtype: DT_FLOAT_REF } } } } }");
  char *folder = new_folder();
  char *path = rheos__path_join(folder, "saved_model.pb");
  write_bytes(path, b.data, b.size_bytes);
  rheos_saved_model *model;
  expect_ok(rheos_saved_model_load(folder, NULL, 0, NULL, &model));
  rheos_named_tensor out = {"v", NULL};
  expect_ok(rheos_saved_model_call(model, NULL, NULL, 0, &out, 1, NULL));
  assert_int_equal(rheos_tensor_dtype(out.value), RHEOS_FLOAT);
  assert_float_equal(*(float *)rheos_tensor_data(out.value), 5, 0);
  rheos_tensor_unref(out.value);
  rheos_saved_model_free(model);
  rheos__free(path);
  remove_folder(folder);
  rheos_free(b.data);
}

// Variables as TensorFlow 0.x and 2 describe them: without an initial value, without a snapshot.
static void test_real_files__variables_may_lack_nodes(void **state) {
  (void)state;
  bytes with = message("VariableDef",
                       "variable_name: 'v:0' initializer_name: 'init' snapshot_name: 'read:0'");
  bytes without = message("VariableDef", "variable_name: 'h:0' is_resource: true trainable: true");
  rheos_meta_graph *m = describe(
      "graph_def {"
      "  node { name: 'v' op: 'VariableV2' attr { key: 'dtype' value { type: DT_FLOAT } }"
      "    attr { key: 'shape' value { shape { } } } }"
      "  node { name: 'c' op: 'Const' attr { key: 'dtype' value { type: DT_FLOAT } }"
      "    attr { key: 'value' value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 5 } } "
      "} }"
      "  node { name: 'init' op: 'Assign' input: 'v' input: 'c'"
      "    attr { key: 'T' value { type: DT_FLOAT } } }"
      "  node { name: 'read' op: 'Identity' input: 'v' attr { key: 'T' value { type: DT_FLOAT } } }"
      "  node { name: 'h' op: 'VarHandleOp' attr { key: 'dtype' value { type: DT_FLOAT } }"
      "    attr { key: 'shape' value { shape { } } } }"
      "  node { name: 'h/Read/ReadVariableOp' op: 'ReadVariableOp' input: 'h'"
      "    attr { key: 'dtype' value { type: DT_FLOAT } } } }");
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_collection_def collection = {.key = "variables", .kind = RHEOS_COLLECTION_BYTES};
  const rheos_string both[] = {{with.data, with.size_bytes}, {without.data, without.size_bytes}};
  collection.bytes = both;
  collection.count = 2;
  m->collections = &collection;
  m->num_collections = 1;
  const rheos_saver saver = rheos_import_meta_graph(scope, m, NULL);
  expect_ok(rheos_scope_finish(scope));
  assert_ptr_equal(saver.filename.graph, graph);
  rheos_variable *variables;
  assert_int_equal(rheos_graph_collect_variables(graph, "variables", &variables), 2);
  assert_null(variables[0].initial_value.graph);
  assert_false(rheos_variable_is_resource(variables[0]));
  assert_true(rheos_variable_is_resource(variables[1]) && variables[1].trainable);
  assert_string_equal(rheos_operation_type(rheos_output_operation(variables[1].value)),
                      "ReadVariableOp");
  rheos_free(variables);
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
  rheos_meta_graph_free(m);
  rheos_free(with.data);
  rheos_free(without.data);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_real_files__an_assignment_of_any_shape_has_its_values),
      cmocka_unit_test(test_real_files__shapes_of_an_older_program_may_be_wrong),
      cmocka_unit_test(test_real_files__a_function_is_called_by_its_name),
      cmocka_unit_test(test_real_files__values_fill_their_tensor),
      cmocka_unit_test(test_real_files__newer_attributes_are_accepted),
      cmocka_unit_test(test_real_files__what_descriptions_meet),
      cmocka_unit_test(test_real_files__a_reference_is_an_output_of_a_model_without_tags),
      cmocka_unit_test(test_real_files__variables_may_lack_nodes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
