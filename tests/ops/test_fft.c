// Fourier transforms: plans of every length against the sum that defines them.
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ops/signal/fft_plan.h"

static void check_length(int64_t n) {
  enum { MOST = 400 };
  double complex data[MOST], from[MOST];
  rheos__arena arena;
  rheos__arena_init(&arena);
  rheos__fft_plan *plan = rheos__fft_plan_new(&arena, n);
  assert_non_null(plan);
  double complex *work = rheos__arena_alloc(&arena, (size_t)rheos__fft_work(plan) * sizeof *work);
  for (int64_t k = 0; k < n; k++) {
    data[k] = from[k] = CMPLX(sin(3.7 * (double)k), cos(1.3 * (double)(k * k)));
  }
  rheos__fft_run(plan, false, data, work);
  for (int64_t j = 0; j < n; j++) {
    double complex sum = 0;
    for (int64_t k = 0; k < n; k++) {
      sum += from[k] * cexp(-2 * M_PI * I * (double)(j * k % n) / (double)n);
    }
    assert_true(cabs(sum - data[j]) < 1e-13 * (double)(n + 10));
  }
  rheos__fft_run(plan, true, data, work);
  for (int64_t k = 0; k < n; k++) {
    assert_true(cabs(data[k] / (double)n - from[k]) < 1e-13);
  }
  rheos__arena_deinit(&arena);
}

static void test_fft__every_length(void **state) {
  (void)state;
  for (int64_t n = 1; n <= 130; n++) check_length(n);
  check_length(256);
  check_length(331);  // a prime
  check_length(360);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fft__every_length),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
