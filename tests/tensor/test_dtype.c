// dtypes: names both ways, sizes, and what kind each is.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <rheos/tensor.h>

static void test_dtype__names_go_both_ways(void **state) {
  (void)state;
  for (int dtype = RHEOS_FLOAT; dtype <= RHEOS_UINT64; dtype++) {
    for (int ref = 0; ref <= RHEOS_REF; ref += RHEOS_REF) {
      const char *name = rheos_dtype_name((rheos_dtype)(dtype + ref));
      assert_int_equal(rheos_dtype_from_name(name), dtype + ref);
    }
    assert_true(rheos_dtype_size((rheos_dtype)dtype) > 0);
  }
}

static void test_dtype__python_names_are_understood(void **state) {
  (void)state;
  assert_int_equal(rheos_dtype_from_name("float32"), RHEOS_FLOAT);
  assert_int_equal(rheos_dtype_from_name("float64"), RHEOS_DOUBLE);
  assert_int_equal(rheos_dtype_from_name("float16"), RHEOS_HALF);
  assert_int_equal(rheos_dtype_from_name("float32_ref"), RHEOS_FLOAT + RHEOS_REF);
}

static void test_dtype__other_names_and_numbers_are_invalid(void **state) {
  (void)state;
  const char *const names[] = {"", "int", "Float", "_ref", "float_reff", "float 32"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    assert_int_equal(rheos_dtype_from_name(names[i]), RHEOS_INVALID_DTYPE);
  }
  assert_int_equal(rheos_dtype_from_name(NULL), RHEOS_INVALID_DTYPE);
  const int numbers[] = {-1, 0, 24, 28, 31, 99, 100, 124, 1000};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    assert_int_equal(rheos_dtype_size((rheos_dtype)numbers[i]), 0);
  }
}

static void test_dtype__sizes_are_those_of_c(void **state) {
  (void)state;
  assert_int_equal(rheos_dtype_size(RHEOS_FLOAT), 4);
  assert_int_equal(rheos_dtype_size(RHEOS_HALF), 2);
  assert_int_equal(rheos_dtype_size(RHEOS_COMPLEX128), 16);
  assert_int_equal(rheos_dtype_size(RHEOS_BOOL), 1);
  assert_int_equal(rheos_dtype_size(RHEOS_STRING), sizeof(rheos_string));
}

static void test_dtype__kinds_are_told_apart(void **state) {
  (void)state;
  assert_true(rheos_dtype_is_floating(RHEOS_BFLOAT16));
  assert_false(rheos_dtype_is_floating(RHEOS_COMPLEX64));
  assert_true(rheos_dtype_is_complex(RHEOS_COMPLEX64));
  assert_true(rheos_dtype_is_integer(RHEOS_UINT64));
  assert_true(rheos_dtype_is_integer(RHEOS_INT4));
  assert_false(rheos_dtype_is_integer(RHEOS_QINT8));
  assert_false(rheos_dtype_is_integer(RHEOS_BOOL));
  assert_true(rheos_dtype_is_ref((rheos_dtype)(RHEOS_FLOAT + RHEOS_REF)));
  assert_int_equal(rheos_dtype_base((rheos_dtype)(RHEOS_FLOAT + RHEOS_REF)), RHEOS_FLOAT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dtype__names_go_both_ways),
      cmocka_unit_test(test_dtype__python_names_are_understood),
      cmocka_unit_test(test_dtype__other_names_and_numbers_are_invalid),
      cmocka_unit_test(test_dtype__sizes_are_those_of_c),
      cmocka_unit_test(test_dtype__kinds_are_told_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
