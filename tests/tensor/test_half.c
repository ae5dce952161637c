// Sixteen-bit floats: exactness of the way up, nearest-even rounding of the way down.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tensor/tensor.h"

static void test_half__every_half_survives_a_round_trip(void **state) {
  (void)state;
  for (uint32_t bits = 0; bits < 0x10000; bits++) {
    float value = rheos__half_to_float((uint16_t)bits);
    if (isnan(value)) {
      assert_true(isnan(rheos__half_to_float(rheos__float_to_half(value))));
    } else {
      assert_int_equal(rheos__float_to_half(value), bits);
    }
  }
}

static void test_half__known_values(void **state) {
  (void)state;
  assert_true(rheos__half_to_float(0x3c00) == 1.0f);
  assert_true(rheos__half_to_float(0xc000) == -2.0f);
  assert_true(rheos__half_to_float(0x7bff) == 65504.0f);
  assert_true(rheos__half_to_float(0x0001) == 0x1p-24f);
  assert_true(isinf(rheos__half_to_float(0x7c00)));
}

static void test_half__rounding_is_to_nearest_even(void **state) {
  (void)state;
  assert_int_equal(rheos__float_to_half(65519.0f), 0x7bff);
  assert_int_equal(rheos__float_to_half(65520.0f), 0x7c00);
  assert_int_equal(rheos__float_to_half(1.0f + 0x1p-11f), 0x3c00);      // a tie, to even
  assert_int_equal(rheos__float_to_half(1.0f + 3 * 0x1p-11f), 0x3c02);  // a tie, to even
  assert_int_equal(rheos__float_to_half(1.0f + 0x1.1p-11f), 0x3c01);    // above the tie
  assert_int_equal(rheos__float_to_half(0x1p-25f), 0x0000);             // a tie, to zero
  assert_int_equal(rheos__float_to_half(0x1.8p-25f), 0x0001);
  assert_int_equal(rheos__float_to_half(-0.0f), 0x8000);
}

static void test_bfloat16__rounding_is_to_nearest_even(void **state) {
  (void)state;
  assert_int_equal(rheos__float_to_bfloat16(1.0f), 0x3f80);
  assert_int_equal(rheos__float_to_bfloat16(1.0f + 0x1p-8f), 0x3f80);
  assert_int_equal(rheos__float_to_bfloat16(1.0f + 3 * 0x1p-8f), 0x3f82);
  assert_int_equal(rheos__float_to_bfloat16(0x1.ffffp127f), 0x7f80);
  assert_true(isnan(rheos__bfloat16_to_float(rheos__float_to_bfloat16(NAN))));
  assert_true(rheos__bfloat16_to_float(0xc040) == -3.0f);
}

static void test_half__programs_get_the_same(void **state) {
  (void)state;
  const float values[] = {0, -0.0f, 1.5f, 65504, 0x1p-25f, 1e9f, -INFINITY, 1 + 0x1.1p-11f};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    const uint16_t half = rheos_float_to_half(values[i]);
    const uint16_t bfloat16 = rheos_float_to_bfloat16(values[i]);
    assert_int_equal(half, rheos__float_to_half(values[i]));
    assert_int_equal(bfloat16, rheos__float_to_bfloat16(values[i]));
    assert_true(rheos_half_to_float(half) == rheos__half_to_float(half));
    assert_true(rheos_bfloat16_to_float(bfloat16) == rheos__bfloat16_to_float(bfloat16));
  }
  assert_int_equal(rheos_float_to_half(1.5f), 0x3e00);
  assert_true(rheos_bfloat16_to_float(0xc040) == -3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_half__every_half_survives_a_round_trip),
      cmocka_unit_test(test_half__known_values),
      cmocka_unit_test(test_half__rounding_is_to_nearest_even),
      cmocka_unit_test(test_bfloat16__rounding_is_to_nearest_even),
      cmocka_unit_test(test_half__programs_get_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
