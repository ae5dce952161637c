// Graphs as files, with large constants in files of their own, and where the format ends.
#include <fcntl.h>
#include <rheos/rheos.h>

#include "format/format_support.h"
#include "tensor/tensor.h"

enum { COUNT = 1000 };

typedef struct program {
  rheos_graph *graph;
  rheos_scope *scope;
  rheos_session *session;
} program;

static program new_program(void) {
  program p = {.graph = rheos_graph_new()};
  p.scope = rheos_scope_new(p.graph);
  expect_ok(rheos_session_new(p.graph, NULL, &p.session));
  return p;
}

static void free_program(program *p) {
  rheos_session_free(p->session);
  rheos_scope_free(p->scope);
  rheos_graph_unref(p->graph);
}

static rheos_output float_constant(program *p, int64_t count, float first, const char *name) {
  rheos_tensor *tensor;
  expect_ok(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(count), &tensor));
  float *data = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < count; i++) data[i] = first + (float)i;
  rheos_output output = rheos_constant(p->scope, tensor, name);
  rheos_tensor_unref(tensor);
  return output;
}

static rheos_output in_file(program *p, const char *path, rheos_shape shape) {
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &shape),
                              rheos_attr_string("memory_region_name", path, strlen(path))};
  rheos_operation operation = rheos_op(
      p->scope,
      &(rheos_op_args){.type = "ImmutableConst", .name = "w", .attrs = attrs, .num_attrs = 3});
  expect_ok(rheos_scope_finish(p->scope));
  return rheos_operation_output(operation, 0);
}

static rheos_status *run(program *p, rheos_output output, rheos_tensor **out_value) {
  rheos_fetch fetch = {output, NULL};
  rheos_status *status = rheos_session_run(p->session, NULL, 0, &fetch, 1, NULL, 0, NULL);
  *out_value = fetch.value;
  return status;
}

static void read_into(program *p, const char *path) {
  void *data;
  size_t size_bytes;
  expect_ok(rheos_graph_def_read(path, &data, &size_bytes));
  rheos_import_graph_def(p->scope, data, size_bytes, NULL);
  expect_ok(rheos_scope_finish(p->scope));
  rheos_free(data);
}

static size_t files_in(const char *folder) {
  char **names;
  size_t count;
  expect_ok(rheos__file_list(folder, &names, &count));
  rheos__file_list_free(names, count);
  return count;
}

static void test_graph_file__constants_are_inside(void **state) {
  (void)state;
  char *folder = new_folder(), *path = rheos__path_join(folder, "g.pb");
  program p = new_program(), q = new_program();
  float_constant(&p, COUNT, 1, "large");
  expect_ok(rheos_graph_write(p.graph, path, 0));
  assert_int_equal(files_in(folder), 1);
  read_into(&q, path);
  rheos_tensor *value;
  expect_ok(run(&q, rheos_operation_output(rheos_graph_operation(q.graph, "large"), 0), &value));
  assert_float_equal(((float *)rheos_tensor_data(value))[COUNT - 1], COUNT, 0);
  rheos_tensor_unref(value);
  free_program(&p);
  free_program(&q);
  rheos__free(path);
  remove_folder(folder);
}

static void test_graph_file__large_constants_lie_beside(void **state) {
  (void)state;
  char *folder = new_folder(), *path = rheos__path_join(folder, "g.pb");
  char *beside = rheos__path_join(folder, "g.pb.data");
  program p = new_program();
  float_constant(&p, COUNT, 1, "large");
  float_constant(&p, COUNT, 1, "equal");
  float_constant(&p, COUNT, 2, "other");
  float_constant(&p, 3, 5, "small");
  expect_ok(rheos_scope_finish(p.scope));
  for (int i = 0; i < 2; i++) {  // again, it is all there
    expect_ok(rheos_graph_write(p.graph, path, COUNT * sizeof(float)));
    assert_int_equal(files_in(beside), 2);
  }
  bytes file = read_bytes(path);
  assert_true(file.size_bytes < 1000);
  rheos__free(file.data);
  program q = new_program();
  read_into(&q, path);
  const char *const names[] = {"large", "equal", "other", "small"};
  const float firsts[] = {1, 1, 2, 5};
  for (int i = 0; i < 4; i++) {
    rheos_operation operation = rheos_graph_operation(q.graph, names[i]);
    assert_string_equal(rheos_operation_type(operation), i < 3 ? "ImmutableConst" : "Const");
    for (int again = 0; again < 2; again++) {
      rheos_tensor *value;
      expect_ok(run(&q, rheos_operation_output(operation, 0), &value));
      assert_int_equal(rheos_tensor_num_elements(value), i < 3 ? COUNT : 3);
      float *data = rheos_tensor_data(value);
      assert_float_equal(data[0], firsts[i], 0);
      data[0] = -1;  // what was fetched is the caller's: the file does not change
      rheos_tensor_unref(value);
      if (i < 3) break;
    }
  }
  // Once more, in another place: what lies in files stays there.
  char *copy = rheos__path_join(folder, "copy.pb");
  expect_ok(rheos_graph_write(q.graph, copy, COUNT));
  program r = new_program();
  read_into(&r, copy);
  rheos_tensor *value;
  expect_ok(run(&r, rheos_operation_output(rheos_graph_operation(r.graph, "other"), 0), &value));
  assert_float_equal(((float *)rheos_tensor_data(value))[1], 3, 0);
  rheos_tensor_unref(value);
  rheos__free(copy);
  free_program(&p);
  free_program(&q);
  free_program(&r);
  remove_folder(beside);
  rheos__free(path);
  remove_folder(folder);
}

static void test_graph_file__a_file_that_does_not_fit_is_named(void **state) {
  (void)state;
  char *folder = new_folder(), *path = rheos__path_join(folder, "w");
  write_bytes(path, "12345678", 8);
  rheos_tensor *value;
  program p = new_program();
  expect_error(run(&p, in_file(&p, path, RHEOS_SHAPE(3)), &value), RHEOS_OUT_OF_RANGE, path);
  expect_ok(run(&p, in_file(&p, path, RHEOS_SHAPE(2)), &value));
  rheos_tensor_unref(value);
  expect_ok(run(&p, in_file(&p, path, RHEOS_SHAPE(0)), &value));
  rheos_tensor_unref(value);
  expect_error(run(&p, in_file(&p, "/no/such/file", RHEOS_SHAPE(2)), &value), RHEOS_NOT_FOUND,
               "/no/such/file");
  free_program(&p);
  void *data;
  size_t size_bytes;
  expect_error(rheos_graph_def_read("/no/such/graph", &data, &size_bytes), RHEOS_NOT_FOUND,
               "graph");
  rheos__free(path);
  remove_folder(folder);
}

// ---- More than 2 GB

static const int64_t HUGE_COUNT = INT64_C(3) << 28;  // of floats: 3 GB

// A file with holes; the last element is 7. False if the file system has no such files.
static bool make_huge(const char *path) {
  const off_t end = (off_t)HUGE_COUNT * (off_t)sizeof(float);
  const float last = 7;
  int descriptor = open(path, O_RDWR | O_CREAT, 0600);
  assert_true(descriptor >= 0);
  const bool made = ftruncate(descriptor, end) == 0 &&
                    pwrite(descriptor, &last, sizeof last, end - (off_t)sizeof last) == sizeof last;
  close(descriptor);
  return made;
}

static size_t resident_bytes(void) {
  size_t total = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%zu %zu", &total, &resident), 2);
  fclose(file);
  return resident * (size_t)sysconf(_SC_PAGESIZE);
}

static void test_graph_file__huge_constants_are_mapped(void **state) {
  (void)state;
  char *folder = new_folder(), *weights = rheos__path_join(folder, "w");
  if (!make_huge(weights)) skip();
  const size_t before = resident_bytes();
  program p = new_program(), q = new_program();
  in_file(&p, "w", RHEOS_SHAPE(HUGE_COUNT));
  char *path = rheos__path_join(folder, "g.pb");
  expect_ok(rheos_graph_write(p.graph, path, 1 << 20));
  read_into(&q, path);
  const rheos_output w = rheos_operation_output(rheos_graph_operation(q.graph, "w"), 0);
  rheos_output last = rheos_constant_int(q.scope, (int32_t)(HUGE_COUNT - 1), NULL);
  rheos_output inputs[] = {w, last, rheos_constant_int(q.scope, 0, NULL)};
  rheos_operation gather =
      rheos_op(q.scope, &(rheos_op_args){.type = "GatherV2", .inputs = inputs, .num_inputs = 3});
  expect_ok(rheos_scope_finish(q.scope));
  rheos_tensor *value;
  expect_ok(run(&q, rheos_operation_output(gather, 0), &value));
  assert_float_equal(*(float *)rheos_tensor_data(value), 7, 0);
  rheos_tensor_unref(value);
  assert_true(resident_bytes() < before + ((size_t)1 << 28));
  free_program(&p);
  free_program(&q);
  rheos__free(path);
  rheos__free(weights);
  remove_folder(folder);
}

static void test_graph_file__the_format_ends_at_2_GB(void **state) {
  (void)state;
  char *folder = new_folder(), *weights = rheos__path_join(folder, "w");
  if (!make_huge(weights)) skip();
  program p = new_program();
  rheos_tensor *tensor;
  expect_ok(rheos__tensor_map(RHEOS_FLOAT, RHEOS_SHAPE(HUGE_COUNT), weights, &tensor));
  rheos_constant(p.scope, tensor, "w");
  rheos_tensor_unref(tensor);
  expect_ok(rheos_scope_finish(p.scope));
  const size_t before = resident_bytes();
  void *data;
  size_t size_bytes;
  expect_error(rheos_graph_to_graph_def(p.graph, &data, &size_bytes), RHEOS_INVALID_ARGUMENT,
               "cannot be larger than 2GB: it would have 32212");
  char *path = rheos__path_join(folder, "g.pb");
  expect_error(rheos_graph_write(p.graph, path, 0), RHEOS_INVALID_ARGUMENT, "2147483647");
  assert_true(resident_bytes() < before + ((size_t)1 << 28));
  assert_int_equal(files_in(folder), 1);
  free_program(&p);
  rheos__free(path);
  rheos__free(weights);
  remove_folder(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_graph_file__constants_are_inside),
      cmocka_unit_test(test_graph_file__large_constants_lie_beside),
      cmocka_unit_test(test_graph_file__a_file_that_does_not_fit_is_named),
      cmocka_unit_test(test_graph_file__huge_constants_are_mapped),
      cmocka_unit_test(test_graph_file__the_format_ends_at_2_GB),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
