// Ops that hand values on: what they promise about shapes, and where gradients stop.
#include "ops/array_fixture.h"

static rheos_output placeholder(fixture *f, rheos_dtype dtype, rheos_shape shape,
                                const char *name) {
  rheos_attr attrs[] = {rheos_attr_type("dtype", dtype), rheos_attr_shape("shape", &shape)};
  rheos_operation op = rheos_op(
      f->scope,
      &(rheos_op_args){.type = "Placeholder", .name = name, .attrs = attrs, .num_attrs = 2});
  return rheos_operation_output(op, 0);
}

static void test_placeholder__must_be_fed(void **state) {
  fixture *f = *state;
  rheos_tensor *out = NULL;
  rheos_output x = placeholder(f, RHEOS_INT32, RHEOS_UNKNOWN_SHAPE, "x");
  expect_error(run_output(f, rheos_output_operation(x), 0, NULL, &out), RHEOS_INVALID_ARGUMENT,
               "You must feed a value for placeholder tensor 'x' with dtype int32");
  x = placeholder(f, RHEOS_FLOAT, RHEOS_SHAPE(-1, 3), "y");
  expect_error(run_output(f, rheos_output_operation(x), 0, NULL, &out), RHEOS_INVALID_ARGUMENT,
               "You must feed a value for placeholder tensor 'y' with dtype float and shape [?,3]");
}

static void test_placeholder_with_default__may_be_fed_or_not(void **state) {
  fixture *f = *state;
  const float values[] = {1, 2};
  rheos_output x = floats(f, RHEOS_SHAPE(1, 2), values);
  rheos_shape shape = RHEOS_SHAPE(-1, 2);
  rheos_attr attr = rheos_attr_shape("shape", &shape);
  rheos_operation op = add(f, "PlaceholderWithDefault", &x, 1, &attr, 1);
  rheos_shape known = rheos_output_shape(rheos_operation_output(op, 0));
  assert_true(rheos_shape_equal(&known, &shape));
  rheos_tensor *out = NULL;
  check(run_output(f, op, 0, NULL, &out));
  expect_floats(out, RHEOS_SHAPE(1, 2), values);

  const float other[] = {3, 4, 5, 6};
  fed values_fed = {.count = 1};
  values_fed.feeds[0].output = rheos_operation_output(op, 0);
  check(
      rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(2, 2), other, &values_fed.feeds[0].value));
  check(run_output(f, op, 0, &values_fed, &out));
  expect_floats(out, RHEOS_SHAPE(2, 2), other);
  free_feeds(&values_fed);
}

static void test_placeholder_with_default__refuses_a_default_of_another_shape(void **state) {
  fixture *f = *state;
  rheos_output x = floats(f, RHEOS_SHAPE(1, 2), (const float[]){1, 2});
  rheos_shape shape = RHEOS_SHAPE(-1, 3);
  rheos_attr attr = rheos_attr_shape("shape", &shape);
  add(f, "PlaceholderWithDefault", &x, 1, &attr, 1);
  expect_error(rheos_scope_finish(f->scope), RHEOS_INVALID_ARGUMENT, "[1,2]");
}

static void test_ensure_shape__checks_when_the_value_is_there(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  rheos_output x = feed(f, &values, RHEOS_FLOAT, RHEOS_SHAPE(2), (const float[]){1, 2});
  rheos_shape right = RHEOS_SHAPE(-1), wrong = RHEOS_SHAPE(3);
  rheos_attr attr = rheos_attr_shape("shape", &right);
  rheos_tensor *out = NULL;
  check(run_output(f, add(f, "EnsureShape", &x, 1, &attr, 1), 0, &values, &out));
  expect_floats(out, RHEOS_SHAPE(2), (const float[]){1, 2});
  attr = rheos_attr_shape("shape", &wrong);
  expect_error(run_output(f, add(f, "EnsureShape", &x, 1, &attr, 1), 0, &values, &out),
               RHEOS_INVALID_ARGUMENT, "[2] is not compatible with expected shape [3]");
  free_feeds(&values);
}

static void test_identity_n__passes_all_on(void **state) {
  fixture *f = *state;
  const char *const words[] = {"a", "bc"};
  const rheos_output inputs[] = {int_scalar(f, 7), strings(f, RHEOS_SHAPE(2), words)};
  rheos_operation op = add(f, "IdentityN", inputs, 2, NULL, 0);
  rheos_tensor *out = NULL;
  check(run_output(f, op, 0, NULL, &out));
  expect_ints(out, RHEOS_SCALAR, (const int32_t[]){7});
  check(run_output(f, op, 1, NULL, &out));
  expect_strings(out, RHEOS_SHAPE(2), words);
}

static rheos_gradient gradient_through(fixture *f, const char *type) {
  rheos_output x = placeholder(f, RHEOS_FLOAT, RHEOS_SHAPE(2), NULL);
  rheos_attr attr = rheos_attr_string("message", "why", 3);
  bool has_message = strcmp(type, "PreventGradient") == 0;
  rheos_output y = rheos_operation_output(add(f, type, &x, 1, &attr, has_message), 0);
  rheos_gradient gradient = {{NULL, 0, 0}, {NULL, 0, 0}, {NULL, 0, 0}};
  rheos_gradients(f->scope, &y, 1, &x, 1, NULL, &gradient);
  return gradient;
}

static void test_gradients__pass_identity_and_stop_at_stop_gradient(void **state) {
  fixture *f = *state;
  assert_non_null(gradient_through(f, "Identity").values.graph);
  assert_null(gradient_through(f, "StopGradient").values.graph);
  assert_null(gradient_through(f, "ZerosLike").values.graph);
  check(rheos_scope_finish(f->scope));
}

static void test_prevent_gradient__says_why(void **state) {
  fixture *f = *state;
  gradient_through(f, "PreventGradient");
  expect_error(rheos_scope_finish(f->scope), RHEOS_NOT_FOUND,
               "Gradient explicitly disabled. Reason: why");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_placeholder__must_be_fed),
      TEST(test_placeholder_with_default__may_be_fed_or_not),
      TEST(test_placeholder_with_default__refuses_a_default_of_another_shape),
      TEST(test_ensure_shape__checks_when_the_value_is_there),
      TEST(test_identity_n__passes_all_on),
      TEST(test_gradients__pass_identity_and_stop_at_stop_gradient),
      TEST(test_prevent_gradient__says_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
