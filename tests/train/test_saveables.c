// Savers of more than variables, checkpoints that TensorFlow 2 wrote by objects, and variables that
// start with values of a checkpoint.
#include <rheos/rheos.h>

#include "format/format_support.h"

static rheos_graph *graph;
static rheos_scope *s;
static rheos_session *session;
static char *folder, *prefix;

static int setup(void **state) {
  (void)state;
  graph = rheos_graph_new();
  s = rheos_scope_new(graph);
  session = NULL;
  folder = new_folder();
  prefix = rheos__path_join(folder, "model");
  return s == NULL;
}

static int teardown(void **state) {
  (void)state;
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  rheos__free(prefix);
  remove_folder(folder);
  return 0;
}

static void open_session(void) {
  expect_ok(rheos_scope_finish(s));
  expect_ok(rheos_session_new(graph, NULL, &session));
}

static void run(rheos_operation target) {
  expect_ok(rheos_session_run(session, NULL, 0, NULL, 0, &target, 1, NULL));
}

static rheos_tensor *fetch(rheos_output output) {
  rheos_fetch f = {.output = output};
  expect_ok(rheos_session_run(session, NULL, 0, &f, 1, NULL, 0, NULL));
  return f.value;
}

static void expect_floats(rheos_output output, const float *values, int64_t count) {
  rheos_tensor *tensor = fetch(output);
  assert_int_equal(rheos_tensor_num_elements(tensor), count);
  for (int64_t i = 0; i < count; i++) {
    assert_true(((const float *)rheos_tensor_data(tensor))[i] == values[i]);
  }
  rheos_tensor_unref(tensor);
}

static char *golden(const char *name) {
  return rheos__text_format("%s/tests/golden/checkpoints/%s", RHEOS_SOURCE_DIR, name);
}

static rheos_variable filled(const char *name, rheos_shape shape, double value) {
  return rheos_get_variable_record(s, name, RHEOS_FLOAT, shape, rheos_constant_initializer(value),
                                   true);
}

// ---- Tables

static rheos_output new_table(const char *name) {
  const rheos_attr attrs[] = {rheos_attr_type("key_dtype", RHEOS_STRING),
                              rheos_attr_type("value_dtype", RHEOS_INT64),
                              rheos_attr_string("shared_name", name, strlen(name))};
  const rheos_op_args args = {
      .type = "MutableHashTableV2", .name = name, .attrs = attrs, .num_attrs = 3};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

static rheos_output texts(const char *a, const char *b) {
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(2), &tensor));
  expect_ok(rheos_tensor_set_string(tensor, 0, a, strlen(a)));
  expect_ok(rheos_tensor_set_string(tensor, 1, b, strlen(b)));
  const rheos_output output = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

static rheos_output numbers(int64_t a, int64_t b) {
  rheos_tensor *tensor;
  const int64_t values[] = {a, b};
  expect_ok(rheos_tensor_from_values(RHEOS_INT64, RHEOS_SHAPE(2), values, &tensor));
  const rheos_output output = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

static rheos_output found_in(rheos_output table, const char *a, const char *b) {
  rheos_tensor *none;
  const int64_t value = -1;
  expect_ok(rheos_tensor_from_values(RHEOS_INT64, RHEOS_SCALAR, &value, &none));
  const rheos_output output =
      rheos_lookup_table_find_v2(s, table, texts(a, b), rheos_constant(s, none, NULL));
  rheos_tensor_unref(none);
  return output;
}

static void expect_numbers(rheos_output output, int64_t a, int64_t b) {
  rheos_tensor *tensor = fetch(output);
  assert_int_equal(((const int64_t *)rheos_tensor_data(tensor))[0], a);
  assert_int_equal(((const int64_t *)rheos_tensor_data(tensor))[1], b);
  rheos_tensor_unref(tensor);
}

// What TensorFlow's saver wrote of a table and a variable goes into both.
static void test_saveables__restore_tensorflows_table(void **state) {
  (void)state;
  const rheos_saveable table = {.name = "tab", .table = new_table("tab")};
  filled("v", RHEOS_SCALAR, 0);
  const rheos_saver saver = rheos_saver_new_with(
      s, NULL, NULL, 0, &(rheos_saver_options){.saveables = &table, .num_saveables = 1});
  const rheos_output found = found_in(table.table, "a", "b");
  open_session();
  char *path = golden("table");
  expect_ok(rheos_saver_restore(saver, session, path));
  rheos__free(path);
  expect_numbers(found, 5, 6);
}

static void save_and_restore_tables(const rheos_saver_options *options, rheos_variable variable) {
  const rheos_saver saver = rheos_saver_new_with(s, NULL, NULL, 0, options);
  const rheos_output table = options->saveables[0].table;
  const rheos_operation fill =
      rheos_lookup_table_insert_v2(s, table, texts("a", "b"), numbers(5, 6));
  const rheos_operation change =
      rheos_lookup_table_insert_v2(s, table, texts("b", "c"), numbers(8, 9));
  const rheos_output found = found_in(table, "b", "c");
  const rheos_operation init = rheos_global_variables_initializer(s);
  open_session();
  run(init);
  run(fill);
  expect_ok(rheos_saver_save(saver, session, prefix));
  run(change);
  expect_numbers(found, 8, 9);
  expect_ok(rheos_saver_restore(saver, session, prefix));
  expect_numbers(found, 6, -1);
  expect_floats(variable.value, (const float[]){3}, 1);
}

static void test_saveables__tables_come_back_as_they_were(void **state) {
  (void)state;
  const rheos_saveable table = {.name = "tab", .table = new_table("tab")};
  save_and_restore_tables(&(rheos_saver_options){.saveables = &table, .num_saveables = 1},
                          filled("v", RHEOS_SCALAR, 3));
}

static void test_saveables__may_lie_in_shards(void **state) {
  (void)state;
  const rheos_saveable table = {.name = "tab", .table = new_table("tab")};
  rheos_push_device(s, "/job:ps/task:1");
  const rheos_variable variable = filled("v", RHEOS_SCALAR, 3);
  rheos_scope_pop(s);
  const rheos_saver_options options = {.saveables = &table, .num_saveables = 1, .sharded = true};
  // Devices of other machines are none here: only what the nodes are is looked at.
  rheos_saver_new_with(s, NULL, NULL, 0, &options);
  expect_ok(rheos_scope_finish(s));
  int shards = 0;
  for (int32_t i = 0; i < rheos_graph_num_operations(graph); i++) {
    shards += strcmp(rheos_operation_type((rheos_operation){graph, i}), "ShardedFilename") == 0;
  }
  assert_int_equal(shards, 2);
  (void)variable;
}

static void test_saveables__in_shards_come_back(void **state) {
  (void)state;
  rheos_push_device(s, "/device:CPU:0");
  const rheos_saveable table = {.name = "tab", .table = new_table("tab")};
  rheos_scope_pop(s);
  save_and_restore_tables(
      &(rheos_saver_options){.saveables = &table, .num_saveables = 1, .sharded = true},
      filled("v", RHEOS_SCALAR, 3));
  char *second = rheos__text_format("%s.data-00001-of-00002", prefix);
  bool exists;
  expect_ok(rheos__file_exists(second, &exists));
  assert_true(exists);
  rheos__free(second);
}

static void test_saveables__that_are_no_tables_are_refused(void **state) {
  (void)state;
  const rheos_saveable table = {.name = "tab", .table = numbers(1, 2)};
  rheos_saver_new_with(s, NULL, NULL, 0,
                       &(rheos_saver_options){.saveables = &table, .num_saveables = 1});
  expect_error(rheos_scope_finish(s), RHEOS_INVALID_ARGUMENT, "Const is not the op of one");
}

// ---- Saveables of one's own

// Restores twice what was saved: the function is asked, not the variable's assignment.
static rheos_operation assign_sum(rheos_scope *scope, const rheos_output *values, void *context) {
  const rheos_variable *variable = context;
  return rheos_output_operation(
      rheos_assign(scope, variable->handle, rheos_add(scope, values[0], values[1])));
}

static void test_saveables__have_their_own_way_back(void **state) {
  (void)state;
  rheos_variable a = filled("a", RHEOS_SCALAR, 3);
  const rheos_saveable_part parts[] = {{.name = "half/a", .tensor = a.value},
                                       {.name = "half/b", .tensor = rheos_neg(s, a.value)}};
  const rheos_saveable own = {
      .name = "own", .parts = parts, .num_parts = 2, .restore = assign_sum, .context = &a};
  const rheos_saver saver = rheos_saver_new_with(
      s, &a, NULL, 0, &(rheos_saver_options){.saveables = &own, .num_saveables = 1});
  const rheos_operation init = rheos_global_variables_initializer(s);
  open_session();
  run(init);
  expect_ok(rheos_saver_save(saver, session, prefix));
  expect_ok(rheos_saver_restore(saver, session, prefix));
  expect_floats(a.value, (const float[]){0}, 1);
  rheos_checkpoint_reader *reader;
  expect_ok(rheos_checkpoint_reader_open(prefix, &reader));
  assert_int_equal(rheos_checkpoint_reader_count(reader), 2);
  assert_string_equal(rheos_checkpoint_reader_name(reader, 1), "half/b");
  rheos_checkpoint_reader_free(reader);
}

static void test_saveables__of_one_name_are_refused(void **state) {
  (void)state;
  filled("tab", RHEOS_SCALAR, 3);
  const rheos_saveable table = {.name = "tab", .table = new_table("other")};
  rheos_saver_new_with(s, NULL, NULL, 0,
                       &(rheos_saver_options){.saveables = &table, .num_saveables = 1});
  expect_error(rheos_scope_finish(s), RHEOS_INVALID_ARGUMENT, "have the same name: tab");
}

// ---- Checkpoints written by objects

static void test_saveables__of_objects_are_found_by_name(void **state) {
  (void)state;
  const rheos_variable kernel = filled("layer/kernel", RHEOS_SHAPE(2, 3), 0);
  const rheos_variable bias = filled("layer/bias", RHEOS_SHAPE(3), 0);
  const rheos_saver saver = rheos_saver_new(s, NULL, NULL, 0, NULL);
  open_session();
  char *path = golden("objects");
  expect_ok(rheos_saver_restore(saver, session, path));
  expect_floats(kernel.value, (const float[]){0, 1, 2, 3, 4, 5}, 6);
  expect_floats(bias.value, (const float[]){1, 2, 3}, 3);
  rheos_checkpoint_reader *reader;
  expect_ok(rheos_checkpoint_reader_open(path, &reader));
  rheos_object_name *names;
  size_t count;
  expect_ok(rheos_checkpoint_reader_object_names(reader, &names, &count));
  assert_int_equal(count, 3);
  assert_string_equal(names[1].full_name, "layer/kernel");
  assert_string_equal(names[1].key, "model/w/.ATTRIBUTES/VARIABLE_VALUE");
  rheos_free(names);
  rheos_checkpoint_reader_free(reader);
  rheos__free(path);
}

static void test_saveables__of_objects_that_are_missing_are_named(void **state) {
  (void)state;
  filled("layer/other", RHEOS_SHAPE(3), 0);
  const rheos_saver saver = rheos_saver_new(s, NULL, NULL, 0, NULL);
  open_session();
  char *path = golden("objects");
  expect_error(rheos_saver_restore(saver, session, path), RHEOS_NOT_FOUND, "'layer/other'");
  rheos__free(path);
}

// ---- Variables that start with values of a checkpoint

static void write_checkpoint(void) {
  rheos_checkpoint_writer *writer;
  expect_ok(rheos_checkpoint_writer_open(prefix, &writer));
  const float values[] = {1, 2, 3, 4};
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(4), values, &tensor));
  expect_ok(rheos_checkpoint_writer_add(writer, "old/a", tensor));
  expect_ok(rheos_checkpoint_writer_add(writer, "old/in/b", tensor));
  expect_ok(rheos_checkpoint_writer_add(writer, "whole", tensor));
  rheos_tensor_unref(tensor);
  expect_ok(rheos_checkpoint_writer_finish(writer));
}

static void initialize(void) {
  const rheos_operation init = rheos_global_variables_initializer(s);
  open_session();
  run(init);
}

static const float ALL[] = {1, 2, 3, 4};

static void test_saveables__scopes_start_with_scopes(void **state) {
  (void)state;
  write_checkpoint();
  const rheos_variable a = filled("new/a", RHEOS_SHAPE(4), 0);
  rheos_graph_use_resource_variables(graph, true);
  const rheos_variable b = filled("new/in/b", RHEOS_SHAPE(4), 0);
  const rheos_variable other = filled("other", RHEOS_SCALAR, 5);
  const rheos_checkpoint_assignment assignment = {.from = "old/", .to = "new/"};
  rheos_init_from_checkpoint(s, prefix, &assignment, 1);
  initialize();
  expect_floats(a.value, ALL, 4);
  expect_floats(b.value, ALL, 4);
  expect_floats(other.value, (const float[]){5}, 1);
}

static void test_saveables__variables_start_one_by_one(void **state) {
  (void)state;
  write_checkpoint();
  const rheos_variable a = filled("x", RHEOS_SHAPE(4), 0), b = filled("y", RHEOS_SHAPE(4), 0);
  const rheos_variable parts[] = {filled("p/0", RHEOS_SHAPE(1), 0),
                                  filled("p/1", RHEOS_SHAPE(3), 0)};
  rheos_variable_set_slice(s, parts[0], "p", "4 0,1");
  rheos_variable_set_slice(s, parts[1], "p", "4 1,3");
  const rheos_checkpoint_assignment assignments[] = {
      {.from = "old/a", .to = "x"},
      {.from = "old/in/b", .variables = &b, .num_variables = 1},
      {.from = "whole", .variables = parts, .num_variables = 2}};
  char *index = rheos__text_format("%s.index", prefix);
  rheos_init_from_checkpoint(s, index, assignments, 3);
  rheos__free(index);
  initialize();
  expect_floats(a.value, ALL, 4);
  expect_floats(b.value, ALL, 4);
  expect_floats(parts[0].value, ALL, 1);
  expect_floats(parts[1].value, ALL + 1, 3);
}

static void test_saveables__what_does_not_fit_changes_nothing(void **state) {
  (void)state;
  write_checkpoint();
  filled("new/a", RHEOS_SHAPE(4), 0);
  filled("new/c", RHEOS_SHAPE(4), 0);
  const int32_t before = rheos_graph_num_operations(graph);
  rheos_checkpoint_assignment assignment = {.from = "old/", .to = "new/"};
  rheos_init_from_checkpoint(s, prefix, &assignment, 1);
  expect_error(rheos_scope_finish(s), RHEOS_NOT_FOUND, "old/c");
  assert_int_equal(rheos_graph_num_operations(graph), before);
  rheos_scope_free(s);
  s = rheos_scope_new(graph);
  assignment = (rheos_checkpoint_assignment){.from = "old", .to = "new"};
  rheos_init_from_checkpoint(s, prefix, &assignment, 1);
  expect_error(rheos_scope_finish(s), RHEOS_INVALID_ARGUMENT, "should map to scope only");
}

static char *vocabulary_file(const char *name, const char *text) {
  char *path = rheos__path_join(folder, name);
  expect_ok(rheos__file_replace(path, text, strlen(text)));
  return path;
}

// A matrix [3, 2] of 10 20; 11 21; 12 22, rows of the entries a, b, c, and its transpose.
static void write_rows(void) {
  rheos_checkpoint_writer *writer;
  expect_ok(rheos_checkpoint_writer_open(prefix, &writer));
  const float values[] = {10, 20, 11, 21, 12, 22}, turned[] = {10, 11, 12, 20, 21, 22};
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(3, 2), values, &tensor));
  expect_ok(rheos_checkpoint_writer_add(writer, "rows", tensor));
  rheos_tensor_unref(tensor);
  expect_ok(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(2, 3), turned, &tensor));
  expect_ok(rheos_checkpoint_writer_add(writer, "columns", tensor));
  rheos_tensor_unref(tensor);
  expect_ok(rheos_checkpoint_writer_finish(writer));
}

// As TensorFlow's warm_start() with VocabInfo.
static void test_saveables__rows_follow_their_vocabulary(void **state) {
  (void)state;
  write_rows();
  char *before = vocabulary_file("old", "a\r\nb\r\nc\r\n"),
       *now = vocabulary_file("new", "c\nd\na\nx");
  const rheos_variable rows = filled("rows", RHEOS_SHAPE(4, 2), 0);
  const rheos_variable parts[] = {filled("p/0", RHEOS_SHAPE(2, 1), 0),
                                  filled("p/1", RHEOS_SHAPE(2, 3), 0)};
  rheos_variable_set_slice(s, parts[0], "columns", "2 4 0,2:0,1");
  rheos_variable_set_slice(s, parts[1], "columns", "2 4 0,2:1,3");
  const rheos_variable lower = filled("l", RHEOS_SHAPE(1, 3), 0);
  rheos_variable_set_slice(s, lower, "l", "2 3 1,1:0,3");
  rheos_vocabulary v = {.new_file = now, .new_size = 3, .num_oov_buckets = 1, .old_file = before};
  rheos_vocabulary columns = v, of_part = v;
  v.initializer = rheos_constant_initializer(7);
  columns.axis = of_part.axis = 1;
  of_part.num_oov_buckets = 0;
  of_part.old_size = 2;  // "c" is not known
  const rheos_checkpoint_assignment assignments[] = {
      {.from = "/", .to = "/"},  // all others, and there are none
      {.from = "rows", .to = "rows", .vocabulary = &v},
      {.from = "columns", .variables = parts, .num_variables = 2, .vocabulary = &columns},
      {.from = "columns", .to = "l", .vocabulary = &of_part}};
  rheos_init_from_checkpoint(s, prefix, assignments, 4);
  initialize();
  expect_floats(rows.value, (const float[]){12, 22, 7, 7, 10, 20, 7, 7}, 8);
  expect_floats(parts[0].value, (const float[]){12, 22}, 2);
  expect_floats(parts[1].value, (const float[]){0, 10, 0, 0, 20, 0}, 6);
  expect_floats(lower.value, (const float[]){0, 0, 20}, 3);
  rheos__free(before);
  rheos__free(now);
}

static void expect_no_start(const rheos_vocabulary *vocabulary, const char *to, rheos_code code,
                            const char *message) {
  const int32_t before = rheos_graph_num_operations(graph);
  const rheos_checkpoint_assignment assignment = {
      .from = to[strlen(to) - 1] == '/' ? to : "rows", .to = to, .vocabulary = vocabulary};
  rheos_init_from_checkpoint(s, prefix, &assignment, 1);
  expect_error(rheos_scope_finish(s), code, message);
  assert_int_equal(rheos_graph_num_operations(graph), before);
}

static void test_saveables__vocabularies_that_do_not_fit_are_refused(void **state) {
  (void)state;
  write_rows();
  char *before = vocabulary_file("old", "a\nb\nc\n"),
       *twice = vocabulary_file("twice", "a\nb\na\n");
  filled("rows", RHEOS_SHAPE(4, 2), 0);
  const rheos_vocabulary good = {.new_file = before, .new_size = 4, .old_file = before};
  rheos_vocabulary v = good;
  expect_no_start(&v, "rows", RHEOS_INVALID_ARGUMENT, "has 3 entries, not 4");
  v.new_size = 3;
  expect_no_start(&v, "rows", RHEOS_INVALID_ARGUMENT,
                  "Variable rows:0 has 4 entries along axis 0, its vocabulary has 3");
  v.num_oov_buckets = 1;
  v.old_file = twice;
  expect_no_start(&v, "rows", RHEOS_FAILED_PRECONDITION, "Key a has 0 and trying to add value 2");
  v.old_file = "/nonexistent/file";
  expect_no_start(&v, "rows", RHEOS_NOT_FOUND, "/nonexistent/file");
  v.old_file = NULL;
  expect_no_start(&v, "rows", RHEOS_INVALID_ARGUMENT, "a vocabulary has no file");
  v = good;
  v.axis = 2;
  expect_no_start(&v, "rows", RHEOS_INVALID_ARGUMENT, "Provided axis: 2");
  v.axis = 0;
  v.new_size = 0;
  expect_no_start(&v, "rows", RHEOS_INVALID_ARGUMENT, "cannot have 0 entries");
  expect_no_start(&good, "/", RHEOS_INVALID_ARGUMENT, "a scope, which cannot have a vocabulary");
  rheos__free(before);
  rheos__free(twice);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_saveables__##name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(restore_tensorflows_table),
      TEST(tables_come_back_as_they_were),
      TEST(may_lie_in_shards),
      TEST(in_shards_come_back),
      TEST(that_are_no_tables_are_refused),
      TEST(have_their_own_way_back),
      TEST(of_one_name_are_refused),
      TEST(of_objects_are_found_by_name),
      TEST(of_objects_that_are_missing_are_named),
      TEST(scopes_start_with_scopes),
      TEST(variables_start_one_by_one),
      TEST(what_does_not_fit_changes_nothing),
      TEST(rows_follow_their_vocabulary),
      TEST(vocabularies_that_do_not_fit_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
