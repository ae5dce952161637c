// What stages choose by measured times: the size of a buffer, and how many threads work.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ops/data/autotune.h"

enum { KIB = 1024 };

static rheos__tuner open_tuner(void) {
  rheos__tuner tuner;
  rheos__tuner_init(&tuner, -1);
  return tuner;
}

static void burst(rheos__tuner *tuner, int64_t left_bytes) {
  rheos__tuner_full(tuner);
  rheos__tuner_starved(tuner, KIB, left_bytes);
}

static void test_autotune__a_buffer_grows_by_bursts_only(void **state) {
  (void)state;
  rheos__tuner tuner = open_tuner();
  assert_int_equal(tuner.limit, RHEOS__TUNER_FIRST);
  for (int i = 0; i < 10; ++i) rheos__tuner_starved(&tuner, KIB, INT64_MAX);
  assert_int_equal(tuner.limit,
                   RHEOS__TUNER_FIRST);  // it was never full: a larger one would not be either
  for (int i = 0; i < 3; ++i) burst(&tuner, INT64_MAX);
  assert_int_equal(tuner.limit, 8 * RHEOS__TUNER_FIRST);
  for (int i = 0; i < 100; ++i) burst(&tuner, INT64_MAX);
  assert_int_equal(tuner.limit, RHEOS__TUNER_MOST);
}

static void test_autotune__a_buffer_stays_within_the_budget(void **state) {
  (void)state;
  rheos__tuner tuner = open_tuner();
  for (int i = 0; i < 100; ++i) burst(&tuner, 32 * KIB - tuner.limit * KIB);
  assert_int_equal(tuner.limit, 32);
  rheos__tuner_spent(&tuner);
  assert_int_equal(tuner.limit, RHEOS__TUNER_FIRST);
}

static void test_autotune__a_buffer_that_stays_full_shrinks(void **state) {
  (void)state;
  rheos__tuner tuner = open_tuner();
  for (int i = 0; i < 6; ++i) burst(&tuner, INT64_MAX);
  const int64_t large = tuner.limit;
  for (int64_t i = 0; i < 15 * large; ++i) rheos__tuner_fed(&tuner, large, 1);
  assert_int_equal(tuner.limit, large);
  for (int64_t i = 0; i < large; ++i) rheos__tuner_fed(&tuner, large, 1);
  assert_int_equal(tuner.limit, large / 2);
  for (int64_t i = 0; i < 100 * large; ++i) rheos__tuner_fed(&tuner, i % 8, 1);
  assert_int_equal(tuner.limit, large / 2);  // it is needed
}

static void test_autotune__a_buffer_that_the_program_sizes_stays(void **state) {
  (void)state;
  rheos__tuner tuner;
  rheos__tuner_init(&tuner, 5);
  for (int i = 0; i < 10; ++i) burst(&tuner, INT64_MAX);
  rheos__tuner_spent(&tuner);
  for (int i = 0; i < 1000; ++i) rheos__tuner_fed(&tuner, 5, 1);
  assert_int_equal(tuner.limit, 5);
}

static void test_autotune__as_many_threads_work_as_the_consumer_needs(void **state) {
  (void)state;
  rheos__tuner tuner = open_tuner();
  assert_int_equal(rheos__tuner_threads(&tuner, 1000, 8), 8);  // nothing is known
  for (int i = 0; i < 100; ++i) rheos__tuner_used(&tuner, 10 * 1000.0, 10);
  assert_int_equal(rheos__tuner_threads(&tuner, 100, 8), 1);
  assert_int_equal(rheos__tuner_threads(&tuner, 1000, 8), 2);
  assert_int_equal(rheos__tuner_threads(&tuner, 3000, 8), 4);
  assert_int_equal(rheos__tuner_threads(&tuner, 1e6, 8), 8);
  rheos__tuner_starved(&tuner, KIB, INT64_MAX);
  assert_int_equal(rheos__tuner_threads(&tuner, 100, 8), 8);
  for (int i = 0; i < 1000; ++i) rheos__tuner_fed(&tuner, 2, 1);
  assert_int_equal(rheos__tuner_threads(&tuner, 100, 8), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_autotune__a_buffer_grows_by_bursts_only),
      cmocka_unit_test(test_autotune__a_buffer_stays_within_the_budget),
      cmocka_unit_test(test_autotune__a_buffer_that_stays_full_shrinks),
      cmocka_unit_test(test_autotune__a_buffer_that_the_program_sizes_stays),
      cmocka_unit_test(test_autotune__as_many_threads_work_as_the_consumer_needs),
  };
  return cmocka_run_group_tests_name("autotune", tests, NULL, NULL);
}
