// Libraries that are opened when they are needed: what is missing is told, with what brings it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ops/data/run_time_library.h"

static void expect_told(rheos_status *status, void *library, const char *words) {
  assert_null(library);
  assert_non_null(status);
  assert_int_equal(rheos_status_code(status), RHEOS_FAILED_PRECONDITION);
  assert_non_null(strstr(rheos_status_message(status), words));
  rheos_status_free(status);
}

static void test_a_missing_library_is_told_with_its_package(void **state) {
  (void)state;
  void *library = &library;
  rheos_status *status = rheos__library_open("libnothing.so.7", "libnothing7", NULL, 0, &library);
  expect_told(status, library,
              "needs libnothing.so.7, which is not there: Debian's package libnothing7");
}

static void test_a_missing_function_is_told(void **state) {
  (void)state;
  double (*cosine)(double) = NULL, (*nothing)(void) = NULL;
  const rheos__library_function functions[] = {{"cos", &cosine}, {"rheos_no_function", &nothing}};
  void *library = NULL;
  rheos_status *status = rheos__library_open("libm.so.6", "libc6", functions, 1, &library);
  assert_null(status);
  assert_true(cosine(0) == 1);
  rheos__library_close(library);
  status = rheos__library_open("libm.so.6", "libc6", functions, 2, &library);
  expect_told(status, library, "libm.so.6 has no function rheos_no_function");
  rheos__library_close(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_missing_library_is_told_with_its_package),
      cmocka_unit_test(test_a_missing_function_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
