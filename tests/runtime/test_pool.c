// The pool: every unit exactly once, whatever the threads do.
#include "runtime/pool.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>

#include <cmocka.h>

enum { UNITS = 1000, ROUNDS = 200 };

typedef struct counts {
  _Atomic int units[UNITS];
  int64_t fail_at;  // -1: never
} counts;

static rheos_status *count(void *argument, int64_t first, int64_t last) {
  counts *c = argument;
  for (int64_t i = first; i < last; ++i) {
    if (i == c->fail_at) return rheos_status_new(RHEOS_ABORTED, "unit %lld", (long long)i);
    atomic_fetch_add(&c->units[i], 1);
  }
  return NULL;
}

static void expect_each_once(counts *c, int64_t units) {
  for (int64_t i = 0; i < UNITS; ++i) assert_int_equal(c->units[i], i < units ? 1 : 0);
}

static void test_pool__runs_every_unit_once(void **state) {
  (void)state;
  static counts c;
  for (int32_t threads = 1; threads <= 8; threads *= 2) {
    rheos__pool *pool = rheos__pool_new(threads);
    for (int round = 0; round < ROUNDS; ++round) {
      int64_t units = (round * 37) % UNITS;
      memset(&c, 0, sizeof c);
      c.fail_at = -1;
      assert_null(rheos__pool_run(pool, units, count, &c));
      expect_each_once(&c, units);
    }
    rheos__pool_free(pool);
  }
}

// The units so far, and the sum of the squares of what ends a share less those of what begins it.
typedef struct sums {
  _Atomic int64_t units;
  _Atomic uint64_t squares;
} sums;

static rheos_status *sum_up(void *argument, int64_t first, int64_t last) {
  sums *s = argument;
  atomic_fetch_add(&s->units, last - first);
  atomic_fetch_add(&s->squares,
                   (uint64_t)last * (uint64_t)last - (uint64_t)first * (uint64_t)first);
  return NULL;
}

static void test_pool__takes_any_number_of_units(void **state) {
  (void)state;
  static const int64_t numbers[] = {(1 << 30) - 1, 1 << 30,          (1 << 30) + 1,
                                    UINT32_MAX,    INT64_C(1) << 32, (INT64_C(1) << 40) + 3};
  rheos__pool *pool = rheos__pool_new(3);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    sums s = {0};
    assert_null(rheos__pool_run(pool, numbers[i], sum_up, &s));
    assert_int_equal(s.units, numbers[i]);
    assert_true(s.squares == (uint64_t)numbers[i] * (uint64_t)numbers[i]);
  }
  rheos__pool_free(pool);
}

static void test_pool__none_is_the_callers_thread(void **state) {
  (void)state;
  static counts c = {.fail_at = -1};
  assert_null(rheos__pool_run(NULL, UNITS, count, &c));
  expect_each_once(&c, UNITS);
}

static void test_pool__an_error_comes_back_and_the_pool_goes_on(void **state) {
  (void)state;
  static counts c;
  rheos__pool *pool = rheos__pool_new(4);
  for (int round = 0; round < ROUNDS; ++round) {
    c.fail_at = round;
    rheos_status *status = rheos__pool_run(pool, UNITS, count, &c);
    assert_int_equal(rheos_status_code(status), RHEOS_ABORTED);
    rheos_status_free(status);
  }
  memset(&c, 0, sizeof c);
  c.fail_at = -1;
  assert_null(rheos__pool_run(pool, UNITS, count, &c));
  expect_each_once(&c, UNITS);
  rheos__pool_free(pool);
}

static void *run_rounds(void *argument) {
  for (int round = 0; round < ROUNDS; ++round) {
    counts own = {.fail_at = -1};
    rheos_status *status = rheos__pool_run(argument, UNITS, count, &own);
    if (status != NULL) return status;
    for (int64_t i = 0; i < UNITS; ++i) {
      if (own.units[i] != 1) return argument;
    }
  }
  return NULL;
}

static void test_pool__callers_do_not_wait_for_each_other(void **state) {
  (void)state;
  rheos__pool *pool = rheos__pool_new(2);
  pthread_t callers[4];
  for (int i = 0; i < 4; ++i) pthread_create(&callers[i], NULL, run_rounds, pool);
  for (int i = 0; i < 4; ++i) {
    void *wrong = NULL;
    pthread_join(callers[i], &wrong);
    assert_null(wrong);
  }
  rheos__pool_free(pool);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_pool__runs_every_unit_once),
      cmocka_unit_test(test_pool__takes_any_number_of_units),
      cmocka_unit_test(test_pool__none_is_the_callers_thread),
      cmocka_unit_test(test_pool__an_error_comes_back_and_the_pool_goes_on),
      cmocka_unit_test(test_pool__callers_do_not_wait_for_each_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
