// Functions of the program: each session calls its own.
#include "ops/array_fixture.h"

// Gives its input times the number that `argument` points to.
static rheos_status *multiply(void *argument, const char *token, rheos_tensor *const *inputs,
                              size_t num_inputs, rheos_tensor **outputs, size_t num_outputs) {
  assert_string_equal(token, "times");
  assert_int_equal(num_inputs, 1);
  assert_int_equal(num_outputs, 1);
  const float value = *(const float *)rheos_tensor_data(inputs[0]) * *(const float *)argument;
  return rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &value, &outputs[0]);
}

static rheos_output call(fixture *f) {
  const rheos_output x = float_scalar(f, 7);
  const rheos_dtype dtype = RHEOS_FLOAT;
  const rheos_attr attrs[] = {rheos_attr_string("token", "times", 5),
                              rheos_attr_types("Tout", &dtype, 1)};
  return rheos_operation_output(add(f, "PyFunc", &x, 1, attrs, 2), 0);
}

static float value_in(rheos_session *session, rheos_output output) {
  rheos_fetch fetch = {.output = output};
  check(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  const float value = *(const float *)rheos_tensor_data(fetch.value);
  rheos_tensor_unref(fetch.value);
  return value;
}

static void test_program_function__belongs_to_the_session(void **state) {
  fixture *f = *state;
  const rheos_output y = call(f);
  float two = 2, three = 3;
  rheos_session_options options = {.program_function = multiply, .program_argument = &two};
  rheos_session *doubling, *tripling;
  check(rheos_session_new(f->graph, &options, &doubling));
  options.program_argument = &three;
  check(rheos_session_new(f->graph, &options, &tripling));
  assert_float_equal(value_in(doubling, y), 14, 0);
  assert_float_equal(value_in(tripling, y), 21, 0);
  assert_float_equal(value_in(doubling, y), 14, 0);
  rheos_session_free(doubling);
  rheos_session_free(tripling);
}

static void test_program_function__is_missed_where_there_is_none(void **state) {
  fixture *f = *state;
  rheos_tensor *out;
  const rheos_output y = call(f);
  expect_error(run_output(f, rheos_output_operation(y), 0, NULL, &out), RHEOS_UNIMPLEMENTED,
               "the program has no function times to call");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_program_function__belongs_to_the_session),
      TEST(test_program_function__is_missed_where_there_is_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
