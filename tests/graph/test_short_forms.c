// Constants in one call.
#include <string.h>

#include "graph/graph_fixture.h"

static const rheos_tensor *value_of(rheos_output constant) {
  return rheos_operation_attr(rheos_output_operation(constant), "value").tensor;
}

static void assert_constant(rheos_output constant, rheos_dtype dtype, rheos_shape shape,
                            const void *values, size_t size_bytes) {
  assert_non_null(constant.graph);
  const rheos_tensor *value = value_of(constant);
  const rheos_shape found = *rheos_tensor_shape(value);
  assert_int_equal(rheos_tensor_dtype(value), dtype);
  assert_true(rheos_shape_equal(&found, &shape));
  assert_int_equal(rheos_tensor_size_bytes(value), size_bytes);
  assert_memory_equal(rheos_tensor_data(value), values, size_bytes);
}

#define ASSERT_CONSTANT(constant, dtype, shape, type, ...)                  \
  do {                                                                      \
    const type values_[] = {__VA_ARGS__};                                   \
    assert_constant((constant), (dtype), (shape), values_, sizeof values_); \
  } while (0)

static void test_short_forms__one_value_is_a_scalar_several_are_a_vector(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  rheos_scope *s = f.scope;
  ASSERT_CONSTANT(rheos_const_f32(s, 2), RHEOS_FLOAT, RHEOS_SCALAR, float, 2);
  ASSERT_CONSTANT(rheos_const_f32(s, 1, 2.5F, -3), RHEOS_FLOAT, RHEOS_SHAPE(3), float, 1, 2.5F, -3);
  ASSERT_CONSTANT(rheos_const_f64(s, 0.1, 0.2), RHEOS_DOUBLE, RHEOS_SHAPE(2), double, 0.1, 0.2);
  ASSERT_CONSTANT(rheos_const_i32(s, 7), RHEOS_INT32, RHEOS_SCALAR, int32_t, 7);
  ASSERT_CONSTANT(rheos_const_i64(s, INT64_MAX, INT64_MIN), RHEOS_INT64, RHEOS_SHAPE(2), int64_t,
                  INT64_MAX, INT64_MIN);
  ASSERT_CONSTANT(rheos_const_bool(s, true, false), RHEOS_BOOL, RHEOS_SHAPE(2), bool, true, false);
  const int32_t square[] = {1, 2, 3, 4};
  const rheos_output named = rheos_constant_values(s, RHEOS_INT32, RHEOS_SHAPE(2, 2), square, "k");
  assert_constant(named, RHEOS_INT32, RHEOS_SHAPE(2, 2), square, sizeof square);
  assert_operation_name(rheos_output_operation(named), "k");
  assert_scope_ok(s);
  fixture_free(&f);
}

static void test_short_forms__texts(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const rheos_tensor *one = value_of(rheos_const_text(f.scope, "alone"));
  const rheos_tensor *two = value_of(rheos_const_text(f.scope, "", "b"));
  assert_int_equal(rheos_tensor_shape(one)->rank, 0);
  assert_int_equal(rheos_tensor_shape(two)->dims[0], 2);
  const rheos_string alone = *(const rheos_string *)rheos_tensor_data((rheos_tensor *)one);
  const rheos_string empty = *(const rheos_string *)rheos_tensor_data((rheos_tensor *)two);
  assert_int_equal(alone.size_bytes, 5);
  assert_memory_equal(alone.data, "alone", 5);
  assert_int_equal(empty.size_bytes, 0);
  const rheos_tensor *no_texts = value_of(rheos_constant_texts(f.scope, NULL, 0, NULL));
  assert_int_equal(rheos_tensor_shape(no_texts)->dims[0], 0);
  assert_scope_ok(f.scope);
  fixture_free(&f);
}

static void test_short_forms__errors_go_to_the_scope(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  assert_null(rheos_constant_values(f.scope, RHEOS_FLOAT, RHEOS_SHAPE(2), NULL, NULL).graph);
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "values of a tensor are NULL");
  assert_null(rheos_constant_values(f.scope, RHEOS_VARIANT, RHEOS_SCALAR, "x", NULL).graph);
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "dtype variant cannot be made of values");
  assert_null(rheos_const_text(f.scope, "a", NULL).graph);
  expect_error(f.scope, RHEOS_INVALID_ARGUMENT, "texts[1] is NULL");
  fixture_free(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_short_forms__one_value_is_a_scalar_several_are_a_vector),
      cmocka_unit_test(test_short_forms__texts),
      cmocka_unit_test(test_short_forms__errors_go_to_the_scope),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
