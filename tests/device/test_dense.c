// The loops under small products, for every width of vectors: right to rounding, the same bits for
// an element whatever is computed with it, nothing written beside the result, NaN and infinities as
// the formulas have them.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/cpu/dense.h"

static const int widths[] = {4, 8, 16};

static float *noise(int64_t count, float phase) {
  float *values = malloc((size_t)count * sizeof *values + 1);
  assert_non_null(values);
  for (int64_t i = 0; i < count; i++) values[i] = sinf(phase + 1.7f * (float)(i % 4099));
  return values;
}

static double activated(rheos__activation activation, double x) {
  switch (activation) {
    case RHEOS__RELU: return x < 0 ? 0 : x;
    case RHEOS__RELU6: return x < 0 ? 0 : x > 6 ? 6 : x;
    case RHEOS__LEAKY_RELU: return x > 0 ? x : 0.3 * x;
    default: return x;
  }
}

static void check_values(const rheos__dense *d, int64_t m, const float *a, const float *b,
                         const float *c) {
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < d->n; j++) {
      double sum = 0, size = 1;
      for (int64_t k = 0; k < d->k; k++) {
        const double term = (double)a[i * d->a_row + k * d->a_column] * (double)b[k * d->n + j];
        sum += term;
        size += fabs(term);
      }
      if (d->bias != NULL) sum += (double)d->bias[j];
      const double expected = activated(d->activation, sum), got = (double)c[i * d->n + j];
      if (!(fabs(got - expected) <= 1e-6 * size)) {
        fail_msg("%dx%dx%d: element %d, %d is %g, expected %g", (int)m, (int)d->n, (int)d->k,
                 (int)i, (int)j, got, expected);
      }
    }
  }
}

static void check_product(rheos__dense_fn f, int64_t m, int64_t n, int64_t k, bool turned,
                          rheos__activation activation, bool has_bias) {
  float *a = noise(m * k, 0.3f), *b = noise(k * n, 1.1f), *bias = noise(n, 2.2f);
  float *c = noise(m * n + 16, 0), *again = noise(m * n + 16, 0);
  rheos__dense d = {.n = n,
                    .k = k,
                    .a_row = turned ? 1 : k,
                    .a_column = turned ? m : 1,
                    .b_row = n,
                    .c_row = n,
                    .end_column = n,
                    .bias = has_bias ? bias : NULL,
                    .activation = activation,
                    .alpha = 0.3f};
  f(&d, a, b, c, 0, m);
  check_values(&d, m, a, b, c);
  // Rows and columns in other groups
  for (int64_t j = 0; j < n; j = d.end_column) {
    d.first_column = j;
    d.end_column = j + 1 + j % 37 < n ? j + 1 + j % 37 : n;
    for (int64_t i = 0; i < m; i += 1 + i % 5)
      f(&d, a, b, again, i, i + 1 + i % 5 < m ? i + 1 + i % 5 : m);
  }
  assert_memory_equal(c, again, (size_t)(m * n + 16) * sizeof *c);  // and what is behind
  free(a);
  free(b);
  free(bias);
  free(c);
  free(again);
}

static void test_dense__computes_products_of_every_size(void **state) {
  (void)state;
  static const int64_t sizes[] = {0, 1, 3, 5, 7, 13, 17, 65};
  enum { NUM_SIZES = sizeof sizes / sizeof sizes[0] };
  for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
    const rheos__dense_fn f = rheos__dense_kernel_of(widths[w]);
    if (f == NULL) continue;
    for (int64_t n = 0; n <= 2 * 64 + 17; n++) check_product(f, 3, n, 4, false, RHEOS__RELU, true);
    for (int64_t m = 0; m <= 27; m++) check_product(f, m, 21, 3, m % 2, RHEOS__RELU6, m % 3 > 0);
    for (int i = 0; i < NUM_SIZES * NUM_SIZES * NUM_SIZES; i++) {
      const int64_t k = sizes[i / NUM_SIZES / NUM_SIZES];
      check_product(f, sizes[i % NUM_SIZES], sizes[i / NUM_SIZES % NUM_SIZES], k, i % 2,
                    i % 3 == 0 ? RHEOS__LEAKY_RELU : RHEOS__NO_ACTIVATION, i % 5 > 0);
    }
  }
}

static void test_dense__keeps_nan_infinity_and_zero(void **state) {
  (void)state;
  const float a[] = {NAN, INFINITY, -INFINITY, -1, 0, 8}, b[] = {1}, none[] = {-0.0f};
  for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++) {
    const rheos__dense_fn f = rheos__dense_kernel_of(widths[w]);
    if (f == NULL) continue;
    float c[6];
    rheos__dense d = {.n = 1,
                      .k = 1,
                      .a_row = 1,
                      .a_column = 1,
                      .b_row = 1,
                      .c_row = 1,
                      .end_column = 1,
                      .bias = none,
                      .activation = RHEOS__RELU};
    f(&d, a, b, c, 0, 6);
    const float relu[] = {INFINITY, 0, 0, 0, 8};
    assert_true(isnan(c[0]));
    assert_memory_equal(c + 1, relu, sizeof relu);
    d.activation = RHEOS__RELU6;
    f(&d, a, b, c, 0, 6);
    const float relu6[] = {6, 0, 0, 0, 6};
    assert_true(isnan(c[0]));
    assert_memory_equal(c + 1, relu6, sizeof relu6);
    d.activation = RHEOS__LEAKY_RELU;
    d.alpha = 0.5f;
    f(&d, a, b, c, 0, 6);
    const float leaky[] = {INFINITY, -INFINITY, -0.5f, 0, 8};
    assert_true(isnan(c[0]));
    assert_memory_equal(c + 1, leaky, sizeof leaky);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dense__computes_products_of_every_size),
      cmocka_unit_test(test_dense__keeps_nan_infinity_and_zero),
  };
  return cmocka_run_group_tests_name("dense", tests, NULL, NULL);
}
