// Print, Assert, CheckNumerics: the texts, which programs and people read, are TensorFlow 1's.
#include "ops/array_fixture.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "ops/kit/summarize.h"

// ---- Values as text

static void expect_summary(rheos_dtype dtype, rheos_shape shape, const void *values,
                           int64_t max_entries, const char *expected) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(dtype, shape, values, &tensor));
  rheos__text text = {0};
  rheos__text_add_string(&text, "");
  rheos__summarize(&text, tensor, max_entries);
  assert_false(text.failed);
  assert_string_equal(text.data, expected);
  rheos__free(text.data);
  rheos_tensor_unref(tensor);
}

static void test_summarize__puts_rows_in_brackets(void **state) {
  (void)state;
  const int32_t values[] = {1, 2, 3, 4, 5, 6, 7, 8};
  expect_summary(RHEOS_INT32, RHEOS_SCALAR, values, 3, "1");
  expect_summary(RHEOS_INT32, RHEOS_SHAPE(3), values, 3, "1 2 3");
  expect_summary(RHEOS_INT32, RHEOS_SHAPE(4), values, 3, "1 2 3...");
  expect_summary(RHEOS_INT32, RHEOS_SHAPE(4), values, -1, "1 2 3 4");
  expect_summary(RHEOS_INT32, RHEOS_SHAPE(4), values, 0, "...");
  expect_summary(RHEOS_INT32, RHEOS_SHAPE(2, 2), values, 3, "[1 2][3...]...");
  expect_summary(RHEOS_INT32, RHEOS_SHAPE(2, 2), values, 10, "[1 2][3 4]");
  expect_summary(RHEOS_INT32, RHEOS_SHAPE(2, 3), values, 4, "[1 2 3][4...]...");
  expect_summary(RHEOS_INT32, RHEOS_SHAPE(2, 2, 2), values, 10, "[[1 2][3 4]][[5 6][7 8]]");
  expect_summary(RHEOS_INT32, RHEOS_SHAPE(2, 2, 2), values, 5, "[[1 2][3 4]][[5...]]...");
  expect_summary(RHEOS_INT32, RHEOS_SHAPE(0), values, 3, "");
  expect_summary(RHEOS_INT32, RHEOS_SHAPE(2, 0), values, 3, "");
}

static void test_summarize__gives_floats_the_digits_they_need(void **state) {
  (void)state;
  const float values[] = {0.1f,     1.0f / 3, 1e20f,  1e-7f,   INFINITY, -INFINITY, NAN,
                          16777216, 1e6f,     100000, 1234567, -0.0f,    2.5f,      3};
  expect_summary(RHEOS_FLOAT, RHEOS_SHAPE(14), values, -1,
                 "0.1 0.333333343 1e+20 1e-07 inf -inf nan 16777216 1e+06 100000 1234567 -0 2.5 3");
  const double doubles[] = {0.1, 1.0 / 3, 1e20, 1e16, 123456789.123};
  expect_summary(RHEOS_DOUBLE, RHEOS_SHAPE(5), doubles, -1,
                 "0.1 0.33333333333333331 1e+20 1e+16 123456789.123");
  const uint16_t half[] = {0x2e66, 0x3555};
  expect_summary(RHEOS_HALF, RHEOS_SHAPE(2), half, -1, "0.0999755859 0.333251953");
}

static void test_summarize__knows_other_dtypes(void **state) {
  (void)state;
  expect_summary(RHEOS_BOOL, RHEOS_SHAPE(2), (const bool[]){true, false}, -1, "1 0");
  expect_summary(RHEOS_INT64, RHEOS_SCALAR, &(int64_t){INT64_C(1) << 60}, -1,
                 "1152921504606846976");
  expect_summary(RHEOS_UINT64, RHEOS_SCALAR, &(uint64_t){UINT64_MAX}, -1, "18446744073709551615");
  expect_summary(RHEOS_INT8, RHEOS_SCALAR, &(int8_t){-3}, -1, "-3");
  rheos_string text = {(char[]){'t', '\t', '"', 'q', '\'', '\\', (char)0xe9, 0, '\n'}, 9};
  expect_summary(RHEOS_STRING, RHEOS_SCALAR, &text, -1, "t\\t\\\"q\\'\\\\\\351\\000\\n");
}

// ---- Print

// What `run` writes to standard error, as a string for free().
static char *written(fixture *f, rheos_operation op, int times) {
  FILE *file = tmpfile();
  assert_non_null(file);
  int saved = dup(STDERR_FILENO);
  fflush(stderr);
  dup2(fileno(file), STDERR_FILENO);
  rheos_status *status = NULL;
  for (int i = 0; i < times && status == NULL; ++i) {
    rheos_tensor *value = NULL;
    status = run_output(f, op, 0, NULL, &value);
    rheos_tensor_unref(value);
  }
  fflush(stderr);
  dup2(saved, STDERR_FILENO);
  close(saved);
  check(status);
  rewind(file);
  char *text = calloc(1, 4096);
  assert_non_null(text);
  size_t size = fread(text, 1, 4095, file);
  text[size] = '\0';
  fclose(file);
  return text;
}

static void expect_written(fixture *f, rheos_operation op, int times, const char *expected) {
  char *text = written(f, op, times);
  assert_string_equal(text, expected);
  free(text);
}

static void test_print__writes_each_tensor_in_brackets(void **state) {
  fixture *f = *state;
  const rheos_output inputs[] = {int_scalar(f, 1), int_scalar(f, 2), int_scalar(f, 3)};
  expect_written(f, add(f, "Print", inputs, 3, NULL, 0), 1, "[2][3]\n");
  rheos_attr attrs[] = {rheos_attr_string("message", "m: ", 3), rheos_attr_int("summarize", 2)};
  const rheos_output mixed[] = {int_scalar(f, 1), float_scalar(f, 2.5f),
                                ints(f, RHEOS_SHAPE(3), (const int32_t[]){1, 2, 3}),
                                strings(f, RHEOS_SHAPE(2), (const char *const[]){"a", "b c"})};
  expect_written(f, add(f, "Print", mixed, 4, attrs, 2), 1, "m: [2.5][1 2...][a b c]\n");
}

static void test_print__stops_after_first_n(void **state) {
  fixture *f = *state;
  const rheos_output inputs[] = {int_scalar(f, 1), int_scalar(f, 2)};
  rheos_attr attrs[] = {rheos_attr_string("message", "fn", 2), rheos_attr_int("first_n", 2)};
  expect_written(f, add(f, "Print", inputs, 2, attrs, 2), 4, "fn[2]\nfn[2]\n");
}

static void test_print__passes_its_input_on(void **state) {
  fixture *f = *state;
  const float values[] = {1, 2, 3};
  const rheos_output inputs[] = {floats(f, RHEOS_SHAPE(3), values)};
  rheos_attr attr = rheos_attr_int("first_n", 0);
  rheos_tensor *out = NULL;
  check(run_output(f, add(f, "Print", inputs, 1, &attr, 1), 0, NULL, &out));
  expect_floats(out, RHEOS_SHAPE(3), values);
}

// ---- Assert

static void test_assert__tells_its_data(void **state) {
  fixture *f = *state;
  const rheos_output inputs[] = {constant(f, RHEOS_BOOL, RHEOS_SCALAR, &(bool){false}),
                                 strings(f, RHEOS_SCALAR, (const char *const[]){"x:"}),
                                 ints(f, RHEOS_SHAPE(2, 2), (const int32_t[]){1, 2, 3, 4}),
                                 float_scalar(f, 2.5f)};
  expect_error(run_target(f, add(f, "Assert", inputs, 4, NULL, 0)), RHEOS_INVALID_ARGUMENT,
               "assertion failed: [x:] [[1 2][3...]...] [2.5]");
  rheos_attr attr = rheos_attr_int("summarize", -1);
  expect_error(run_target(f, add(f, "Assert", inputs, 4, &attr, 1)), RHEOS_INVALID_ARGUMENT,
               "assertion failed: [x:] [[1 2][3 4]] [2.5]");
}

static void test_assert__is_silent_when_true(void **state) {
  fixture *f = *state;
  const rheos_output inputs[] = {constant(f, RHEOS_BOOL, RHEOS_SCALAR, &(bool){true}),
                                 int_scalar(f, 1)};
  check(run_target(f, add(f, "Assert", inputs, 2, NULL, 0)));
}

// ---- CheckNumerics

static void expect_flaw(fixture *f, const float *values, const char *message) {
  const rheos_output x = floats(f, RHEOS_SHAPE(3), values);
  rheos_attr attr = rheos_attr_string("message", "oops", 4);
  rheos_tensor *out = NULL;
  rheos_status *status = run_output(f, add(f, "CheckNumerics", &x, 1, &attr, 1), 0, NULL, &out);
  if (message != NULL) {
    expect_error(status, RHEOS_INVALID_ARGUMENT, message);
  } else {
    check(status);
    expect_floats(out, RHEOS_SHAPE(3), values);
  }
}

static void test_check_numerics__tells_inf_from_nan(void **state) {
  fixture *f = *state;
  expect_flaw(f, (const float[]){1, 2, 3}, NULL);
  expect_flaw(f, (const float[]){1, NAN, 3}, "oops : Tensor had NaN values");
  expect_flaw(f, (const float[]){1, 2, -INFINITY}, "oops : Tensor had Inf values");
  expect_flaw(f, (const float[]){NAN, 2, INFINITY}, "oops : Tensor had Inf and NaN values");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_summarize__puts_rows_in_brackets),
      cmocka_unit_test(test_summarize__gives_floats_the_digits_they_need),
      cmocka_unit_test(test_summarize__knows_other_dtypes),
      TEST(test_print__writes_each_tensor_in_brackets),
      TEST(test_print__stops_after_first_n),
      TEST(test_print__passes_its_input_on),
      TEST(test_assert__tells_its_data),
      TEST(test_assert__is_silent_when_true),
      TEST(test_check_numerics__tells_inf_from_nan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
