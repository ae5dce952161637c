// Reductions: the same bits however the work is cut and whenever the axes are known; sums are exact
// enough; axes that do not fit fail.
#include <math.h>

#include "ops/kernel_fixture.h"

static kernel reduction(const char *op, rheos_tensor *x, const int32_t *axes, int64_t num_axes,
                        bool keep_dims) {
  return (kernel){.op = op,
                  .inputs = {x, ints_of(RHEOS_SHAPE(num_axes), axes)},
                  .is_constant = {false, true},
                  .attrs = {rheos_attr_bool("keep_dims", keep_dims)},
                  .output_dtypes = {x->dtype}};
}

static void check_all_ways(kernel *k) {
  kernel_run_ok(k);
  rheos_tensor *whole = k->outputs[0];
  k->outputs[0] = NULL;
  k->unit_by_unit = true;
  kernel_run_ok(k);
  assert_same_tensor(k->outputs[0], whole);
  kernel_clear(k);
  k->is_constant[1] = false;  // known when it runs
  kernel_run_ok(k);
  assert_same_tensor(k->outputs[0], whole);
  kernel_clear(k);
  rheos_tensor_unref(whole);
}

static void test_reduction__units_and_late_axes_give_the_same_bits(void **state) {
  (void)state;
  static const char *const ops[] = {"Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"};
  static const int32_t axes[][3] = {{0},    {1},       {2},  {0, 1}, {1, 2},
                                    {0, 2}, {0, 1, 2}, {-1}, {-3, 2}};
  static const int64_t counts[] = {1, 1, 1, 2, 2, 2, 3, 1, 2};
  for (size_t i = 0; i < 6; i++) {
    for (size_t j = 0; j < sizeof counts / sizeof counts[0]; j++) {
      kernel k =
          reduction(ops[i], noise_of(RHEOS_SHAPE(70, 33, 41), 5), axes[j], counts[j], j % 2 == 0);
      check_all_ways(&k);
      kernel_free_inputs(&k);
    }
  }
}

static void test_reduction__rows_and_columns_sum_to_the_same(void **state) {
  (void)state;
  enum { ROWS = 130, COLUMNS = 2100 };
  const int32_t one = 1, zero = 0;
  rheos_tensor *x = noise_of(RHEOS_SHAPE(ROWS, COLUMNS), 9);
  rheos_tensor *transposed = noise_of(RHEOS_SHAPE(COLUMNS, ROWS), 9);
  for (int64_t i = 0; i < ROWS * COLUMNS; i++) {
    ((float *)transposed->data)[i % COLUMNS * ROWS + i / COLUMNS] = ((float *)x->data)[i];
  }
  kernel by_rows = reduction("Sum", x, &one, 1, false);
  kernel by_columns = reduction("Sum", transposed, &zero, 1, false);
  kernel_run_ok(&by_rows);
  kernel_run_ok(&by_columns);
  for (int i = 0; i < ROWS; i++) {
    const float a = ((float *)by_rows.outputs[0]->data)[i];
    const float b = ((float *)by_columns.outputs[0]->data)[i];
    assert_true(fabsf(a - b) <= 1e-5f * fmaxf(1, fabsf(a)));
  }
  kernel_clear(&by_rows);
  kernel_clear(&by_columns);
  kernel_free_inputs(&by_rows);
  kernel_free_inputs(&by_columns);
}

static void test_reduction__long_sums_stay_exact(void **state) {
  (void)state;
  enum { N = 3000000 };
  const int32_t axis = 0;
  rheos_tensor *x = noise_of(RHEOS_SHAPE(N), 1);
  for (int64_t i = 0; i < N; i++) ((float *)x->data)[i] = 0.1f;
  kernel k = reduction("Sum", x, &axis, 1, false);
  kernel_run_ok(&k);
  const float exact = (float)((double)0.1f * N);
  assert_floats(&k, 0, &exact, 1);
  kernel_clear(&k);
  kernel_free_inputs(&k);
}

static void test_reduction__of_nothing(void **state) {
  (void)state;
  static const char *const ops[] = {"Sum", "Prod", "Max", "Min", "EuclideanNorm"};
  const float expected[] = {0, 1, -INFINITY, INFINITY, 0};
  const int32_t axis = 0;
  for (int i = 0; i < 5; i++) {
    kernel k = reduction(ops[i], noise_of(RHEOS_SHAPE(0, 2), 1), &axis, 1, false);
    kernel_run_ok(&k);
    const float both[] = {expected[i], expected[i]};
    assert_floats(&k, 0, both, 2);
    kernel_clear(&k);
    kernel_free_inputs(&k);
  }
  kernel k = reduction("Mean", noise_of(RHEOS_SHAPE(0), 1), &axis, 1, false);
  kernel_run_ok(&k);
  assert_true(isnan(*(float *)k.outputs[0]->data));
  kernel_clear(&k);
  kernel_free_inputs(&k);
}

static void test_reduction__without_axes_is_the_input(void **state) {
  (void)state;
  const int32_t one = 1;
  kernel k = reduction("Sum", noise_of(RHEOS_SHAPE(2, 3), 1), NULL, 0, false);
  kernel_run_ok(&k);
  assert_int_equal(k.prepared.alias_input, 0);
  assert_same_tensor(k.outputs[0], k.inputs[0]);
  kernel_clear(&k);
  kernel_free_inputs(&k);
  k = reduction("Max", noise_of(RHEOS_SHAPE(2, 1, 3), 1), &one, 1, false);
  kernel_run_ok(&k);
  assert_int_equal(k.prepared.alias_input, 0);
  assert_int_equal(k.outputs[0]->shape.rank, 2);
  kernel_clear(&k);
  kernel_free_inputs(&k);
}

static void test_reduction__bad_axes_fail_whenever_they_are_known(void **state) {
  (void)state;
  const int32_t outside[] = {2}, twice[] = {1, -1};
  for (int known = 0; known < 2; known++) {
    kernel k = reduction("Sum", noise_of(RHEOS_SHAPE(2, 3), 1), outside, 1, false);
    k.is_constant[1] = known == 1;
    kernel_run_fails(&k, RHEOS_INVALID_ARGUMENT,
                     "Invalid reduction dimension (2 for input with 2 dimension(s)");
    kernel_free_inputs(&k);
    k = reduction("Sum", noise_of(RHEOS_SHAPE(2, 3), 1), twice, 2, false);
    k.is_constant[1] = known == 1;
    kernel_run_fails(&k, RHEOS_INVALID_ARGUMENT, "Axes contains duplicate dimension: 1");
    kernel_free_inputs(&k);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reduction__units_and_late_axes_give_the_same_bits),
      cmocka_unit_test(test_reduction__rows_and_columns_sum_to_the_same),
      cmocka_unit_test(test_reduction__long_sums_stay_exact),
      cmocka_unit_test(test_reduction__of_nothing),
      cmocka_unit_test(test_reduction__without_axes_is_the_input),
      cmocka_unit_test(test_reduction__bad_axes_fail_whenever_they_are_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
