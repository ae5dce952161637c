// SavedModels: those of TensorFlow (tests/golden/make_saved_models.py) are described, loaded, and
// called by the names of their signatures; what is wrong with a folder is said.
#include <rheos/saved_model.h>

#include "format/format_support.h"
#include "format/recorded.h"

static char *golden_model(const char *name) {
  return rheos__text_format("%s/tests/golden/saved_models/%s", RHEOS_SOURCE_DIR, name);
}

static const char *const serve[] = {"serve"};

static rheos_saved_model *load(const char *name) {
  char *folder = golden_model(name);
  rheos_saved_model *model;
  expect_ok(rheos_saved_model_load(folder, serve, 1, NULL, &model));
  rheos__free(folder);
  return model;
}

static rheos_saved_model_def *read_def(const char *name) {
  char *folder = golden_model(name);
  rheos_saved_model_def *def;
  expect_ok(rheos_saved_model_read(folder, &def));
  rheos__free(folder);
  return def;
}

// ---- Descriptions

static void test_saved_model__says_what_it_holds(void **state) {
  (void)state;
  rheos_saved_model_def *def = read_def("mlp");
  assert_int_equal(def->schema_version, 1);
  assert_int_equal(def->num_meta_graphs, 1);
  const rheos_meta_graph *m = def->meta_graphs[0];
  assert_string_equal(m->tensorflow_version, "1.15.5");
  assert_int_equal(m->num_tags, 1);
  assert_string_equal(m->tags[0], "serve");
  assert_true(m->graph_def_bytes > 0);
  assert_true(m->op_list_bytes > 0);
  assert_string_equal(m->saver->restore_op_name, "save/restore_all");
  assert_int_equal(m->num_signatures, 1);
  const rheos_signature_def *s = rheos_meta_graph_signature(m, "serving_default");
  assert_string_equal(s->method_name, "tensorflow/serving/predict");
  assert_int_equal(s->num_inputs, 1);
  assert_string_equal(s->inputs[0].key, "features");
  assert_string_equal(s->inputs[0].name, "x:0");
  assert_int_equal(s->inputs[0].dtype, RHEOS_FLOAT);
  assert_int_equal(s->inputs[0].shape.rank, 2);
  assert_int_equal(s->inputs[0].shape.dims[0], -1);
  assert_int_equal(s->inputs[0].shape.dims[1], 3);
  assert_null(rheos_meta_graph_signature(m, "other"));
  const rheos_collection_def *c = rheos_meta_graph_collection(m, "variables");
  assert_int_equal(c->kind, RHEOS_COLLECTION_BYTES);
  assert_int_equal(c->count, 2);
  rheos_saved_model_def_free(def);
}

static void test_saved_model__describes_sparse_inputs_and_assets(void **state) {
  (void)state;
  rheos_saved_model_def *def = read_def("tables");
  const rheos_meta_graph *m;
  expect_ok(rheos_saved_model_find(def, serve, 1, &m));
  const rheos_signature_def *s = rheos_meta_graph_signature(m, "multiply");
  assert_true(s->inputs[0].is_sparse);
  assert_string_equal(s->inputs[0].name, "");
  assert_string_equal(s->inputs[0].indices_name, "sparse/indices:0");
  assert_string_equal(s->inputs[0].values_name, "sparse/values:0");
  assert_string_equal(s->inputs[0].dense_shape_name, "sparse/shape:0");
  assert_true(m->num_assets > 0);
  assert_string_equal(m->assets[0].file_name, "vocabulary.txt");
  assert_string_equal(m->assets[0].tensor.name, "path:0");
  rheos_saved_model_def_free(def);
}

static void test_saved_model__is_found_by_its_set_of_tags(void **state) {
  (void)state;
  rheos_saved_model_def *def = read_def("tables");
  const char *both[] = {"gpu", "serve", "gpu"};
  const rheos_meta_graph *m;
  expect_ok(rheos_saved_model_find(def, both, 3, &m));
  assert_ptr_equal(m, def->meta_graphs[1]);
  expect_ok(rheos_saved_model_find(def, serve, 1, &m));
  assert_ptr_equal(m, def->meta_graphs[0]);
  expect_error(rheos_saved_model_find(def, both, 1, &m), RHEOS_NOT_FOUND,
               "{'gpu'}; there are {'serve'}, {'serve', 'gpu'}");
  assert_null(m);
  expect_error(rheos_saved_model_find(def, NULL, 0, &m), RHEOS_NOT_FOUND, "the tags {}");
  rheos_saved_model_def_free(def);
}

// ---- Calls

static void expect_call(const rheos_saved_model *model, const char *recorded, const char *input,
                        const char *const *outputs, size_t num_outputs) {
  rheos_named_tensor in = {input, recorded_tensor(recorded, input)};
  rheos_named_tensor out[4] = {{NULL, NULL}};
  for (size_t i = 0; i < num_outputs; i++) out[i].name = outputs[i];
  expect_ok(rheos_saved_model_call(model, NULL, &in, 1, out, num_outputs, NULL));
  for (size_t i = 0; i < num_outputs; i++) {
    rheos_tensor *expected = recorded_tensor(recorded, outputs[i]);
    expect_close(out[i].value, expected, 1e-6f);
    rheos_tensor_unref(expected);
    rheos_tensor_unref(out[i].value);
  }
  rheos_tensor_unref(in.value);
}

static void test_saved_model__gives_what_tensorflow_gives(void **state) {
  (void)state;
  rheos_saved_model *model = load("mlp");
  const char *outputs[] = {"scores"};
  expect_call(model, "saved_models/mlp", "features", outputs, 1);
  rheos_saved_model_free(model);
}

static void test_saved_model__fills_tables_from_its_assets(void **state) {
  (void)state;
  rheos_saved_model *model = load("tables");
  const char *outputs[] = {"ids", "rows"};
  expect_call(model, "saved_models/tables", "words", outputs, 2);
  rheos_saved_model_free(model);
}

static void test_saved_model__callables_take_sparse_inputs(void **state) {
  (void)state;
  rheos_saved_model *model = load("tables");
  const char *inputs[] = {"matrix/values", "matrix/indices", "matrix/dense_shape"};
  const char *output = "product";
  rheos_callable *callable;
  expect_ok(rheos_saved_model_callable(model, "multiply", inputs, 3, &output, 1, &callable));
  rheos_tensor *rows = NULL, *values[3], *got;
  // Row 2 of the variable, twice: [[0, 0, 2, 0]] times it.
  const float two = 2;
  const int64_t place[] = {0, 2}, shape[] = {1, 4};
  expect_ok(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(1), &two, &values[0]));
  expect_ok(rheos_tensor_from_values(RHEOS_INT64, RHEOS_SHAPE(1, 2), place, &values[1]));
  expect_ok(rheos_tensor_from_values(RHEOS_INT64, RHEOS_SHAPE(2), shape, &values[2]));
  expect_ok(rheos_callable_run(callable, values, &got, NULL));
  rows = recorded_tensor("saved_models/tables", "rows");  // of the words 1, 3, 0, 2
  const float *row = (const float *)rheos_tensor_data(rows) + 3 * 2;
  const float *twice = rheos_tensor_data(got);
  assert_float_equal(twice[0], 2 * row[0], 1e-6);
  assert_float_equal(twice[1], 2 * row[1], 1e-6);
  rheos_tensor_unref(rows);
  rheos_tensor_unref(got);
  for (int i = 0; i < 3; i++) rheos_tensor_unref(values[i]);
  rheos_callable_free(callable);
  rheos_saved_model_free(model);
}

static void test_saved_model__says_which_names_there_are(void **state) {
  (void)state;
  rheos_saved_model *model = load("tables");
  rheos_output output;
  expect_error(rheos_saved_model_input(model, "train", "x", &output), RHEOS_NOT_FOUND,
               "no signature 'train'; there are 'multiply', 'serving_default'");
  expect_error(rheos_saved_model_output(model, NULL, "x", &output), RHEOS_NOT_FOUND,
               "no output 'x'; there are 'ids', 'rows'");
  expect_error(rheos_saved_model_input(model, "multiply", "matrix", &output), RHEOS_NOT_FOUND,
               "there are 'matrix/indices', 'matrix/values', 'matrix/dense_shape'");
  rheos_saved_model_free(model);
}

// ---- What cannot run

// As text, with lines that end as on Windows.
static void test_saved_model__may_be_text(void **state) {
  (void)state;
  char *folder = golden_model("mlp");
  char *path = rheos__path_join(folder, "saved_model.pb");
  bytes binary = read_bytes(path);
  char *text;
  size_t text_bytes;
  expect_ok(
      rheos_message_to_text("SavedModel", binary.data, binary.size_bytes, &text, &text_bytes));
  char *lines = rheos__alloc(2 * text_bytes);
  size_t length = 0;
  for (size_t i = 0; i < text_bytes; i++) {
    if (text[i] == '\n') lines[length++] = '\r';
    lines[length++] = text[i];
  }
  char *other = new_folder();
  char *other_path = rheos__path_join(other, "saved_model.pbtxt");
  write_bytes(other_path, lines, length);
  const rheos_saved_model_options options = {.graph_only = true};
  rheos_saved_model *one, *two;
  expect_ok(rheos_saved_model_load(folder, serve, 1, &options, &one));
  expect_ok(rheos_saved_model_load(other, serve, 1, &options, &two));
  rheos_output scores;
  expect_ok(rheos_saved_model_output(two, NULL, "scores", &scores));
  assert_string_equal(rheos_operation_type(rheos_output_operation(scores)), "Identity");
  assert_int_equal(rheos_graph_num_operations(rheos_saved_model_graph(two)),
                   rheos_graph_num_operations(rheos_saved_model_graph(one)));
  const char *wrong = "meta_graphs {\r\n  what: 1\r\n}\r\n";
  write_bytes(other_path, wrong, strlen(wrong));
  rheos_saved_model_def *none;
  expect_error(rheos_saved_model_read(other, &none), RHEOS_DATA_LOSS, "what");
  rheos_saved_model_free(one);
  rheos_saved_model_free(two);
  rheos__free(other_path);
  remove_folder(other);
  rheos__free(lines);
  rheos_free(text);
  rheos__free(binary.data);
  rheos__free(path);
  rheos__free(folder);
}

static void test_saved_model__with_missing_ops_is_described_and_refused(void **state) {
  (void)state;
  rheos_saved_model_def *def = read_def("functions");
  const rheos_signature_def *s = rheos_meta_graph_signature(def->meta_graphs[0], "serving_default");
  assert_string_equal(s->inputs[0].name, "serving_default_x:0");
  assert_string_equal(s->outputs[0].name, "StatefulPartitionedCall:0");
  assert_true(def->meta_graphs[0]->object_graph_bytes > 0);
  rheos_saved_model_def_free(def);
  char *folder = golden_model("functions");
  rheos_saved_model *model;
  const rheos_saved_model_options options = {.graph_only = true};
  expect_ok(rheos_saved_model_load(folder, serve, 1, &options, &model));
  assert_true(
      rheos_graph_operation(rheos_saved_model_graph(model), "StatefulPartitionedCall").graph !=
      NULL);
  rheos_saved_model_free(model);
  rheos__free(folder);
}

static void expect_refused(const char *folder, rheos_code code, const char *part) {
  rheos_saved_model *model;
  expect_error(rheos_saved_model_load(folder, serve, 1, NULL, &model), code, part);
  assert_null(model);
}

// A folder with the file of a golden model, without variables.
static char *new_model(const void *data, size_t size_bytes) {
  char *folder = new_folder();
  char *path = rheos__path_join(folder, "saved_model.pb");
  write_bytes(path, data, size_bytes);
  rheos__free(path);
  return folder;
}

static bytes golden_file(const char *name) {
  char *folder = golden_model(name);
  char *path = rheos__path_join(folder, "saved_model.pb");
  bytes b = read_bytes(path);
  rheos__free(path);
  rheos__free(folder);
  return b;
}

static void test_saved_model__wrong_folders_are_refused(void **state) {
  (void)state;
  expect_refused("/nonexistent", RHEOS_NOT_FOUND, "SavedModel file does not exist");
  bytes b = golden_file("mlp");
  char *folder = new_model(b.data, b.size_bytes);
  expect_refused(folder, RHEOS_NOT_FOUND, "no folder of variables");
  remove_folder(folder);
  folder = new_model(b.data, b.size_bytes - 1);
  expect_refused(folder, RHEOS_DATA_LOSS, "not a valid");
  remove_folder(folder);
  folder = new_model("", 0);
  expect_refused(folder, RHEOS_NOT_FOUND, "there are none");
  remove_folder(folder);
  rheos__free(b.data);
}

static rheos_status *describe(const void *data, size_t size_bytes) {
  rheos_meta_graph *meta_graph;
  rheos_status *status = rheos_meta_graph_parse(data, size_bytes, &meta_graph);
  rheos_meta_graph_free(meta_graph);
  return status;
}

static void test_saved_model__any_byte_may_be_wrong(void **state) {
  (void)state;
  const char *names[] = {"mlp", "tables", "functions"};
  for (int n = 0; n < 3; n++) {
    bytes b = golden_file(names[n]);
    for (size_t i = 0; i < b.size_bytes; i += 7) {
      const char old = b.data[i];
      b.data[i] = (char)(old ^ (1 << i % 8));
      char *copy = rheos__alloc(i);  // exactly as long: a sanitizer sees every step beyond it
      if (i > 0) memcpy(copy, b.data, i);
      rheos_status_free(describe(copy, i));
      rheos_status_free(describe(b.data, b.size_bytes));
      rheos__free(copy);
      b.data[i] = old;
    }
    rheos__free(b.data);
  }
}

static rheos_status *load_and_call(void *folder) {
  rheos_saved_model *model = NULL;
  rheos_tensor *x = NULL;
  const float values[] = {1, 2, 3};
  rheos_status *status = rheos_saved_model_load(folder, serve, 1, NULL, &model);
  if (status == NULL) {
    status = rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(1, 3), values, &x);
  }
  if (status == NULL) {
    const rheos_named_tensor in = {"features", x};
    rheos_named_tensor out = {"scores", NULL};
    status = rheos_saved_model_call(model, NULL, &in, 1, &out, 1, NULL);
    rheos_tensor_unref(out.value);
  }
  rheos_tensor_unref(x);
  rheos_saved_model_free(model);
  return status;
}

static void test_saved_model__any_allocation_may_fail(void **state) {
  (void)state;
  char *folder = golden_model("mlp");
  sweep_allocations(load_and_call, folder);
  rheos__free(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_saved_model__says_what_it_holds),
      cmocka_unit_test(test_saved_model__describes_sparse_inputs_and_assets),
      cmocka_unit_test(test_saved_model__is_found_by_its_set_of_tags),
      cmocka_unit_test(test_saved_model__gives_what_tensorflow_gives),
      cmocka_unit_test(test_saved_model__fills_tables_from_its_assets),
      cmocka_unit_test(test_saved_model__callables_take_sparse_inputs),
      cmocka_unit_test(test_saved_model__says_which_names_there_are),
      cmocka_unit_test(test_saved_model__may_be_text),
      cmocka_unit_test(test_saved_model__with_missing_ops_is_described_and_refused),
      cmocka_unit_test(test_saved_model__wrong_folders_are_refused),
      cmocka_unit_test(test_saved_model__any_byte_may_be_wrong),
      cmocka_unit_test(test_saved_model__any_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
