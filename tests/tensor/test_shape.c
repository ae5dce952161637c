// Shapes: what is known of them, how they are written, combined, and counted.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tensor/tensor.h"

static const rheos_shape UNKNOWN = {.rank = -1};

static void assert_text(rheos_shape shape, const char *expected) {
  rheos__shape_text text;
  assert_string_equal(rheos__shape_text_of(&shape, &text), expected);
}

static void test_shape__is_written_as_tensorflow_does(void **state) {
  (void)state;
  assert_text(UNKNOWN, "<unknown>");
  assert_text(RHEOS_SCALAR, "[]");
  assert_text(RHEOS_SHAPE(2, -1, 3), "[2,?,3]");
  rheos_shape widest = {.rank = 8};
  for (int i = 0; i < 8; i++) widest.dims[i] = INT64_MAX;
  char text[4];
  assert_int_equal(rheos_shape_format(&widest, text, sizeof text), 8 * 19 + 7 + 2);
  assert_string_equal(text, "[92");
}

static void test_shape__counts_elements(void **state) {
  (void)state;
  assert_int_equal(rheos_shape_num_elements(&RHEOS_SCALAR), 1);
  assert_int_equal(rheos_shape_num_elements(&RHEOS_SHAPE(2, 3)), 6);
  assert_int_equal(rheos_shape_num_elements(&RHEOS_SHAPE(2, -1)), -1);
  assert_int_equal(rheos_shape_num_elements(&UNKNOWN), -1);
  const int64_t huge = INT64_C(1) << 40;
  assert_int_equal(rheos_shape_num_elements(&RHEOS_SHAPE(huge, huge)), -1);
  assert_int_equal(rheos_shape_num_elements(&RHEOS_SHAPE(huge, huge, 0)), 0);
}

static void test_shape__compares(void **state) {
  (void)state;
  assert_true(rheos_shape_equal(&RHEOS_SHAPE(2, -1), &RHEOS_SHAPE(2, -1)));
  assert_false(rheos_shape_equal(&RHEOS_SHAPE(2, -1), &RHEOS_SHAPE(2, 3)));
  assert_false(rheos_shape_equal(&RHEOS_SCALAR, &UNKNOWN));
  assert_true(rheos_shape_equal(&UNKNOWN, &UNKNOWN));
  assert_true(rheos_shape_compatible(&RHEOS_SHAPE(2, -1), &RHEOS_SHAPE(-1, 3)));
  assert_true(rheos_shape_compatible(&RHEOS_SHAPE(2, 3), &UNKNOWN));
  assert_false(rheos_shape_compatible(&RHEOS_SHAPE(2), &RHEOS_SHAPE(2, 3)));
  assert_false(rheos_shape_compatible(&RHEOS_SHAPE(2, 3), &RHEOS_SHAPE(2, 4)));
}

static void test_shape__broadcasts(void **state) {
  (void)state;
  const struct {
    rheos_shape a, b;
    const char *expected;
  } cases[] = {
      {RHEOS_SHAPE(2, 3), RHEOS_SHAPE(3), "[2,3]"},
      {RHEOS_SHAPE(2, 1), RHEOS_SHAPE(1, 3), "[2,3]"},
      {RHEOS_SHAPE(2, 3), RHEOS_SCALAR, "[2,3]"},
      {RHEOS_SHAPE(0), RHEOS_SHAPE(1), "[0]"},
      {RHEOS_SHAPE(-1, 3), RHEOS_SHAPE(1, 3), "[?,3]"},
      {RHEOS_SHAPE(-1), RHEOS_SHAPE(4), "[4]"},
      {RHEOS_SHAPE(-1), RHEOS_SHAPE(-1), "[?]"},
      {UNKNOWN, RHEOS_SHAPE(4), "<unknown>"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    rheos_shape there, back;
    assert_null(rheos__shape_broadcast(&cases[i].a, &cases[i].b, &there));
    assert_null(rheos__shape_broadcast(&cases[i].b, &cases[i].a, &back));
    assert_text(there, cases[i].expected);
    assert_text(back, cases[i].expected);
  }
}

static void expect_take(rheos_status *status, const char *text) {
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  assert_non_null(strstr(rheos_status_message(status), text));
  rheos_status_free(status);
}

static void test_shape__that_do_not_fit_are_named(void **state) {
  (void)state;
  rheos_shape out;
  expect_take(rheos__shape_broadcast(&RHEOS_SHAPE(2, 3), &RHEOS_SHAPE(2), &out),
              "Incompatible shapes: [2,3] vs. [2]: Dimensions must be equal, but are 3 and 2");
  expect_take(rheos__shape_merge(&RHEOS_SHAPE(2), &RHEOS_SHAPE(2, 1), &out),
              "Shapes must be equal rank, but are 1 and 2");
  expect_take(rheos__shape_merge(&RHEOS_SHAPE(5, 2), &RHEOS_SHAPE(-1, 3), &out),
              "Dimension 1 in both shapes must be equal, but are 2 and 3. Shapes are [5,2] and "
              "[?,3].");
}

static void test_shape__merging_keeps_the_most_that_is_known(void **state) {
  (void)state;
  rheos_shape out;
  assert_null(rheos__shape_merge(&RHEOS_SHAPE(2, -1), &RHEOS_SHAPE(-1, 3), &out));
  assert_text(out, "[2,3]");
  assert_null(rheos__shape_merge(&UNKNOWN, &RHEOS_SHAPE(-1), &out));
  assert_text(out, "[?]");
}

static void test_shape__sizes_that_cannot_be_are_refused(void **state) {
  (void)state;
  int64_t count;
  size_t size_bytes;
  assert_null(rheos__shape_size(RHEOS_INT32, &RHEOS_SHAPE(2, 3), &count, &size_bytes));
  assert_int_equal(count, 6);
  assert_int_equal(size_bytes, 24);
  const int64_t huge = INT64_C(1) << 62;
  expect_take(rheos__shape_size(RHEOS_INT32, &RHEOS_SHAPE(huge), &count, &size_bytes), "too large");
  expect_take(rheos__shape_size(RHEOS_INT32, &RHEOS_SHAPE(-1), &count, &size_bytes), "[?]");
  expect_take(rheos__shape_size(RHEOS_INVALID_DTYPE, &RHEOS_SCALAR, &count, &size_bytes),
              "cannot have dtype");
  rheos_shape deep = {.rank = 9};
  expect_take(rheos__shape_size(RHEOS_INT32, &deep, &count, &size_bytes), "rank 9");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_shape__is_written_as_tensorflow_does),
      cmocka_unit_test(test_shape__counts_elements),
      cmocka_unit_test(test_shape__compares),
      cmocka_unit_test(test_shape__broadcasts),
      cmocka_unit_test(test_shape__that_do_not_fit_are_named),
      cmocka_unit_test(test_shape__merging_keeps_the_most_that_is_known),
      cmocka_unit_test(test_shape__sizes_that_cannot_be_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
