// The text of slices, as TensorFlow reads it, and the boxes they are.
#include "format/checkpoint/tensor_slice.h"
#include "format/format_support.h"

static rheos_status *parse(const char *text, rheos_shape *out_shape, rheos__slice *out_slice,
                           rheos_shape *out_part) {
  rheos_string string = {(char *)(uintptr_t)text, strlen(text)};
  return rheos__slice_parse(&string, out_shape, out_slice, out_part);
}

static void test_tensor_slice__text_is_read(void **state) {
  (void)state;
  rheos_shape shape, part;
  rheos__slice slice;
  rheos__slice_text text;
  expect_ok(parse("4 10 0,2:-", &shape, &slice, &part));
  assert_true(rheos_shape_equal(&shape, &RHEOS_SHAPE(4, 10)));
  assert_true(rheos_shape_equal(&part, &RHEOS_SHAPE(2, 10)));
  assert_string_equal(rheos__slice_text_of(&slice, &text), "0,2:-");
  expect_ok(parse("0 3 -:-", &shape, &slice, &part));
  assert_true(rheos_shape_equal(&part, &RHEOS_SHAPE(0, 3)));
  expect_ok(parse("1 1 1 1 1 1 1 9 -:-:-:-:-:-:-:8,1", &shape, &slice, &part));
  assert_int_equal(part.rank, 8);
  assert_int_equal(part.dims[7], 1);
}

static void test_tensor_slice__bad_text_is_told(void **state) {
  (void)state;
  const struct {
    const char *text;
    rheos_code code;
    const char *message;
  } cases[] = {
      {"-", RHEOS_INVALID_ARGUMENT, "Need least two elements"},
      {"4 3 0,2", RHEOS_INTERNAL, "Mismatching ranks: shape = [4,3], slice = 0,2"},
      {"2 3 ", RHEOS_INTERNAL, "Mismatching ranks: shape = [2,3], slice = "},
      {"4 3 3,2:-", RHEOS_INTERNAL, "Extent in dimension 0 out of bounds"},
      {"4 3 9,1:-", RHEOS_INTERNAL, "Extent in dimension 0 out of bounds"},
      {"4 3 0,0:-", RHEOS_INVALID_ARGUMENT, "start = 0, length = 0: string = 0,0:-"},
      {"4 3 -1,2:-", RHEOS_INVALID_ARGUMENT, "start = -1, length = 2"},
      {"4  3 0,2:-", RHEOS_INVALID_ARGUMENT, "Non numerical dimension"},
      {"x 3 0,2:-", RHEOS_INVALID_ARGUMENT, "Non numerical dimension"},
      {"-4 3 0,2:-", RHEOS_INVALID_ARGUMENT, "Non numerical dimension"},
      {"2 3", RHEOS_INVALID_ARGUMENT, "Expected a pair of numbers or '-' but got '3'"},
      {"4 3 0,99999999999999999999:-", RHEOS_INVALID_ARGUMENT, "Expected a pair of numbers"},
      {"4 3 0,9223372036854775807:-", RHEOS_INTERNAL, "out of bounds"},
      {"1 1 1 1 1 1 1 1 1 -", RHEOS_INVALID_ARGUMENT, "more than 8 dimensions"},
      {"1 -:-:-:-:-:-:-:-:-", RHEOS_INVALID_ARGUMENT, "more than 8 dimensions"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    rheos_shape shape, part;
    rheos__slice slice;
    expect_error(parse(cases[i].text, &shape, &slice, &part), cases[i].code, cases[i].message);
  }
  rheos_shape shape, part;
  rheos__slice slice;
  rheos_status *status =
      parse("9223372036854775807 9223372036854775807 -:-", &shape, &slice, &part);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  rheos_status_free(status);
}

static void expect_cover(const char *const *stored, size_t count, const char *wanted,
                         bool expected) {
  rheos_shape shape, part;
  rheos__slice slices[4], slice;
  for (size_t i = 0; i < count; i++) expect_ok(parse(stored[i], &shape, &slices[i], &part));
  expect_ok(parse(wanted, &shape, &slice, &part));
  bool covered;
  expect_ok(rheos__slices_cover(&shape, slices, count, &slice, &covered));
  assert_int_equal(covered, expected);
}

static void test_tensor_slice__covers(void **state) {
  (void)state;
  const char *quarters[] = {"4 4 0,2:0,2", "4 4 0,2:2,2", "4 4 2,2:0,2", "4 4 2,2:2,2"};
  expect_cover(quarters, 4, "4 4 -:-", true);
  expect_cover(quarters, 3, "4 4 -:-", false);
  expect_cover(quarters, 3, "4 4 1,1:-", true);
  expect_cover(quarters, 3, "4 4 1,2:1,2", false);
  expect_cover(quarters, 0, "0 4 -:-", true);
}

static void test_tensor_slice__copies_what_is_common(void **state) {
  (void)state;
  rheos_shape shape, part;
  rheos__slice from_slice, to_slice;
  expect_ok(parse("3 2 4 0,2:-:0,3", &shape, &from_slice, &part));
  rheos_tensor *from, *to;
  int32_t numbers[12];
  for (int i = 0; i < 12; i++) numbers[i] = i;
  expect_ok(rheos_tensor_from_values(RHEOS_INT32, part, numbers, &from));
  expect_ok(parse("3 2 4 1,2:1,1:2,2", &shape, &to_slice, &part));
  int32_t unset[4] = {-1, -1, -1, -1};
  expect_ok(rheos_tensor_from_values(RHEOS_INT32, part, unset, &to));
  expect_ok(rheos__slice_copy(&shape, &from_slice, from, &to_slice, to));
  // Of rows 1..2, column 1, depths 2..3 only (1, 1, 2) is in the other.
  const int32_t expected[] = {11, -1, -1, -1};
  assert_memory_equal(to->data, expected, sizeof expected);
  rheos_tensor_unref(from);
  rheos_tensor_unref(to);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tensor_slice__text_is_read),
      cmocka_unit_test(test_tensor_slice__bad_text_is_told),
      cmocka_unit_test(test_tensor_slice__covers),
      cmocka_unit_test(test_tensor_slice__copies_what_is_common),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
