// A running step: when it is to stop, why, and its parallel work.
#include "runtime/step/home.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void expect_stopped(rheos__step *step, rheos_code code, const char *message) {
  assert_true(rheos__step_poll(step));
  assert_true(rheos__step_should_stop(step));
  rheos_status *status = rheos__step_error(step);
  assert_int_equal(rheos_status_code(status), code);
  assert_string_equal(rheos_status_message(status), message);
  rheos_status_free(status);
}

static void init_home(rheos__home *home, int32_t num_threads) {
  *home = (rheos__home){0};
  const rheos__home_options options = {.owner = "Session",
                                       .own_host = {.num_threads = num_threads}};
  assert_null(rheos__home_init(home, &options));
}

static void sleep_ms(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL); }

static void test_step__goes_on_without_options(void **state) {
  (void)state;
  rheos__step step;
  rheos__step_init(&step, NULL, NULL);
  assert_null(step.pool);
  assert_false(rheos__step_poll(&step));
  assert_false(rheos__step_is_observed(&step));
  assert_false(rheos__step_should_stop(NULL));
}

static void test_step__stops_when_it_is_cancelled(void **state) {
  (void)state;
  rheos_cancellation *cancellation = rheos_cancellation_new();
  const rheos_run_options options = {.cancellation = cancellation};
  rheos__step step;
  rheos__step_init(&step, NULL, &options);
  assert_false(rheos__step_poll(&step));
  rheos_cancel(cancellation);
  expect_stopped(&step, RHEOS_CANCELLED, "Step was cancelled.");
  rheos_cancellation_free(cancellation);
  assert_true(rheos__step_poll(&step));  // it remembers, and asks nobody any more
  rheos_cancel(NULL);
}

static void test_step__stops_when_its_home_closes(void **state) {
  (void)state;
  rheos__home home;
  init_home(&home, 1);
  rheos__step step;
  rheos__step_init(&step, &home, NULL);
  assert_false(rheos__step_poll(&step));
  rheos__home_close(&home);
  expect_stopped(&step, RHEOS_CANCELLED, "Session was closed: the step was cancelled.");
  rheos__home_deinit(&home);
}

static void test_step__stops_at_its_deadline(void **state) {
  (void)state;
  const rheos_run_options options = {.timeout_ms = 20};
  rheos__step step;
  rheos__step_init(&step, NULL, &options);
  assert_true(step.deadline_ns > 0);
  sleep_ms(25);
  expect_stopped(&step, RHEOS_DEADLINE_EXCEEDED, "Timed out: the step took longer than 20 ms");
}

static void test_step__a_deadline_beyond_all_times_is_none(void **state) {
  (void)state;
  const rheos_run_options options = {.timeout_ms = INT64_MAX};
  rheos__step step;
  rheos__step_init(&step, NULL, &options);
  assert_int_equal(step.deadline_ns, 0);
  assert_false(rheos__step_poll(&step));
}

typedef struct question {
  int asked;
  bool answer;
} question;

static bool ask(void *argument) {
  question *q = argument;
  q->asked++;
  return q->answer;
}

static void test_step__asks_now_and_then_whether_to_stop(void **state) {
  (void)state;
  question q = {0};
  const rheos_run_options options = {.should_stop = ask, .should_stop_argument = &q};
  rheos__step step;
  rheos__step_init(&step, NULL, &options);
  for (int i = 0; i < 3; i++) assert_false(rheos__step_poll(&step));
  const int asked_at_once = q.asked;
  sleep_ms(15);
  assert_false(rheos__step_poll(&step));
  assert_int_equal(q.asked, asked_at_once + 1);
  q.answer = true;
  sleep_ms(15);
  expect_stopped(&step, RHEOS_CANCELLED, "Step was cancelled.");
  assert_int_equal(q.asked, asked_at_once + 2);
}

typedef struct ranges {
  _Atomic int count;
  _Atomic int64_t units;
} ranges;

static rheos_status *count_range(void *argument, int64_t first, int64_t last) {
  ranges *r = argument;
  atomic_fetch_add(&r->count, 1);
  atomic_fetch_add(&r->units, last - first);
  return NULL;
}

// Cancels the step in its first range.
typedef struct stopping {
  rheos_cancellation *cancellation;
  _Atomic int64_t units;
} stopping;

static rheos_status *cancel_range(void *argument, int64_t first, int64_t last) {
  stopping *s = argument;
  rheos_cancel(s->cancellation);
  atomic_fetch_add(&s->units, last - first);
  return NULL;
}

static void test_step__polls_long_work_on_any_thread(void **state) {
  (void)state;
  rheos__home home;
  init_home(&home, 2);
  stopping s = {.cancellation = rheos_cancellation_new()};
  const rheos_run_options options = {.cancellation = s.cancellation};
  rheos__step step;
  rheos__step_init(&step, &home, &options);
  assert_false(rheos__is_stopping());  // of no step
  rheos__step *before = rheos__pool_set_step(&step);
  assert_null(before);
  assert_null(rheos__step_parallel_whole(&step, 1000, 1000000000, count_range, &(ranges){0}));
  rheos_status *status = rheos__step_parallel(&step, 1000, 1000000000, cancel_range, &s);
  assert_non_null(status);
  assert_int_equal(rheos_status_code(status), RHEOS_CANCELLED);
  assert_true(atomic_load(&s.units) < 1000);
  assert_true(rheos__is_stopping());
  s.units = 0;
  assert_null(rheos__step_parallel_whole(&step, 1000, 1000000000, cancel_range, &s));
  assert_int_equal(atomic_load(&s.units), 1000);  // never stopped in between
  rheos__pool_set_step(before);
  rheos_status_free(status);
  rheos_cancellation_free(s.cancellation);
  rheos__home_deinit(&home);
}

static void test_step__hands_out_work_that_is_worth_it(void **state) {
  (void)state;
  rheos__home home;
  init_home(&home, 2);
  rheos__step step;
  rheos__step_init(&step, &home, NULL);
  assert_ptr_equal(step.pool, home.host->pool);
  ranges little = {0}, much = {0}, alone = {0};
  assert_null(rheos__step_parallel(&step, 100, 1000, count_range, &little));
  assert_int_equal(atomic_load(&little.count), 1);
  assert_null(rheos__step_parallel(&step, 100, 100000000, count_range, &much));
  assert_true(atomic_load(&much.count) > 1);
  assert_null(rheos__step_parallel(NULL, 100, 100000000, count_range, &alone));
  assert_int_equal(atomic_load(&alone.count), 1);
  assert_int_equal(atomic_load(&little.units), 100);
  assert_int_equal(atomic_load(&much.units), 100);
  assert_int_equal(atomic_load(&alone.units), 100);
  rheos__home_deinit(&home);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_step__goes_on_without_options),
      cmocka_unit_test(test_step__stops_when_it_is_cancelled),
      cmocka_unit_test(test_step__stops_when_its_home_closes),
      cmocka_unit_test(test_step__stops_at_its_deadline),
      cmocka_unit_test(test_step__a_deadline_beyond_all_times_is_none),
      cmocka_unit_test(test_step__asks_now_and_then_whether_to_stop),
      cmocka_unit_test(test_step__polls_long_work_on_any_thread),
      cmocka_unit_test(test_step__hands_out_work_that_is_worth_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
