// Arrays of tensors and functions over rows, built in C.
#include <rheos/rheos.h>

#include "graph/graph_fixture.h"

static rheos_output floats(rheos_scope *s, int64_t rows, int64_t columns, const float *values) {
  rheos_tensor *tensor;
  assert_ok(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(rows, columns), values, &tensor));
  const rheos_output made = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return made;
}

static void expect_values(rheos_graph *graph, rheos_output output, int64_t count,
                          const float *wanted) {
  rheos_session *session;
  assert_ok(rheos_session_new(graph, NULL, &session));
  rheos_fetch fetch = {.output = output};
  assert_ok(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  assert_int_equal(rheos_tensor_num_elements(fetch.value), count);
  const float *values = rheos_tensor_data(fetch.value);
  for (int64_t i = 0; i < count; i++) assert_float_equal(values[i], wanted[i], 1e-6f);
  rheos_tensor_unref(fetch.value);
  rheos_session_free(session);
}

static void test_array__is_written_and_read(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  const rheos_output two = rheos_constant_int(s, 2, NULL), one = rheos_constant_int(s, 1, NULL);
  const rheos_output zero = rheos_constant_int(s, 0, NULL);
  const rheos_array_options options = {.name = "mine", .not_cleared_after_read = true};
  rheos_array array = rheos_array_new(s, RHEOS_FLOAT, two, &options);
  assert_operation_name(rheos_output_operation(array.handle), "mine");
  array = rheos_array_write(s, array, one, rheos_constant_float(s, 3, NULL));
  array = rheos_array_write(s, array, zero, rheos_constant_float(s, 5, NULL));
  const rheos_output sum =
      rheos_add(s, rheos_array_read(s, array, zero), rheos_array_read(s, array, one));
  const rheos_output rows = rheos_array_stack(s, array);
  assert_scope_ok(s);
  expect_values(f.graph, sum, 1, (const float[]){8});
  expect_values(f.graph, rows, 2, (const float[]){5, 3});
  fixture_free(&f);
}

static void test_array__is_split_and_concatenated(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  const rheos_output x = floats(s, 3, 1, (const float[]){1, 2, 3});
  rheos_array array = rheos_array_new(s, RHEOS_FLOAT, rheos_constant_int(s, 2, NULL), NULL);
  rheos_tensor *lengths;
  assert_ok(
      rheos_tensor_from_values(RHEOS_INT64, RHEOS_SHAPE(2), (const int64_t[]){2, 1}, &lengths));
  array = rheos_array_split(s, array, x, rheos_constant(s, lengths, NULL));
  rheos_tensor_unref(lengths);
  const rheos_output back = rheos_array_concat(s, array);
  assert_scope_ok(s);
  expect_values(f.graph, back, 3, (const float[]){1, 2, 3});
  fixture_free(&f);
}

// The sum of a row and of another's square, and the row twice.
static void two_of_rows(rheos_scope *s, void *argument, const rheos_output *rows, size_t num_rows,
                        rheos_output *outputs, size_t num_outputs) {
  assert_int_equal(num_rows, 2);
  assert_int_equal(num_outputs, 1);
  const rheos_output factor = *(const rheos_output *)argument;
  outputs[0] = rheos_add(s, rheos_mul(s, rows[0], factor), rheos_square(s, rows[1]));
}

static void test_map__goes_over_rows_and_back(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  const rheos_output x = floats(s, 3, 2, (const float[]){1, 2, 3, 4, 5, 6});
  const rheos_output y = floats(s, 3, 2, (const float[]){1, 0, 2, 0, 3, 1});
  rheos_output factor = rheos_constant_float(s, 10, "factor");
  const rheos_output elems[] = {x, y};
  const rheos_dtype dtype = RHEOS_FLOAT;
  rheos_output made;
  rheos_map(s, two_of_rows, &factor, elems, 2, &dtype, NULL, &made, 1);
  const rheos_output xs[] = {y, factor};
  rheos_gradient slopes[2];
  rheos_gradients(s, &made, 1, xs, 2, NULL, slopes);
  assert_scope_ok(s);
  expect_values(f.graph, made, 6, (const float[]){11, 20, 34, 40, 59, 61});
  expect_values(f.graph, slopes[0].values, 6, (const float[]){2, 0, 4, 0, 6, 2});
  expect_values(f.graph, slopes[1].values, 1, (const float[]){21});
  fixture_free(&f);
}

static void test_map__refuses(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_output x = floats(f.scope, 1, 2, (const float[]){1, 2});
  const rheos_output elems[] = {x, x};
  rheos_output made = x;
  rheos_map(f.scope, two_of_rows, NULL, elems, 2, NULL, NULL, &made, 1);
  assert_null(made.graph);
  rheos_status *status = rheos_scope_finish(f.scope);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  rheos_status_free(status);
  rheos_map(f.scope, NULL, NULL, elems, 1, NULL, NULL, &made, 1);
  status = rheos_scope_finish(f.scope);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  rheos_status_free(status);
  const rheos_array nothing = {{NULL, 0, 0}, {NULL, 0, 0}, RHEOS_FLOAT};
  assert_null(rheos_array_stack(f.scope, nothing).graph);
  status = rheos_scope_finish(f.scope);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  rheos_status_free(status);
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_array__is_written_and_read),
      cmocka_unit_test(test_array__is_split_and_concatenated),
      cmocka_unit_test(test_map__goes_over_rows_and_back),
      cmocka_unit_test(test_map__refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
