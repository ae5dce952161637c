// Alarms ring when their time has come, in the order of times, and not after they were cancelled.
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alarm.h"

typedef struct noted {
  rheos__alarm alarm;
  int number;
} noted;

static _Atomic int order[4], num_rung;

static void note(rheos__alarm *alarm) {
  const int at = atomic_load(&num_rung);
  atomic_store(&order[at], ((noted *)alarm)->number);
  atomic_store(&num_rung, at + 1);
}

static void set(rheos__alarms *alarms, noted *n, int number, double seconds) {
  *n = (noted){.alarm = {.ring = note, .at_ns = rheos__alarm_after(seconds)}, .number = number};
  assert_true(rheos__alarm_set(alarms, &n->alarm));
}

static void test_alarm__rings_in_the_order_of_times(void **state) {
  rheos__alarms alarms;
  noted n[3];
  (void)state;
  rheos__alarms_init(&alarms);
  set(&alarms, &n[0], 0, 0.2);
  set(&alarms, &n[1], 1, 0.1);
  set(&alarms, &n[2], 2, 1e300);
  while (atomic_load(&num_rung) < 2) usleep(1000);
  assert_int_equal(order[0], 1);
  assert_int_equal(order[1], 0);
  for (int i = 0; i < 3; i++) rheos__alarm_cancel(&alarms, &n[i].alarm);
  rheos__alarms_deinit(&alarms);
  assert_int_equal(num_rung, 2);
}

static _Atomic bool is_in, has_gone_on;

static void take_long(rheos__alarm *alarm) {
  (void)alarm;
  atomic_store(&is_in, true);
  usleep(100000);
  atomic_store(&has_gone_on, true);
}

static void test_alarm__cancelling_waits_for_one_that_rings(void **state) {
  rheos__alarms alarms;
  rheos__alarm alarm = {.ring = take_long, .at_ns = rheos__alarm_after(0)};
  (void)state;
  rheos__alarms_init(&alarms);
  assert_true(rheos__alarm_set(&alarms, &alarm));
  while (!atomic_load(&is_in)) usleep(1000);
  rheos__alarm_cancel(&alarms, &alarm);
  assert_true(has_gone_on);
  rheos__alarms_deinit(&alarms);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_alarm__rings_in_the_order_of_times),
      cmocka_unit_test(test_alarm__cancelling_waits_for_one_that_rings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
