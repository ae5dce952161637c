// What a server counts, as Prometheus reads it, and what it tells its program of.
#include "net/metrics.h"

#include "graph/graph_fixture.h"

static void expect_line(const rheos__metrics *metrics, const char *line) {
  rheos__text text = {0};
  rheos__metrics_write(metrics, &text);
  assert_false(text.failed);
  const char *at = strstr(text.data, line);
  if (at == NULL || at[strlen(line)] != '\n') fail_msg("no line %s in\n%s", line, text.data);
  rheos__text_deinit(&text);
}

static void test_metrics__calls_are_counted_by_method_and_code(void **state) {
  (void)state;
  rheos__metrics metrics = {.tell = NULL};
  rheos__metrics_count_call(&metrics, RHEOS__RUN_STEP, RHEOS_OK, 1000);
  rheos__metrics_count_call(&metrics, RHEOS__RUN_STEP, RHEOS_OK, 1000);
  rheos__metrics_count_call(&metrics, RHEOS__RUN_STEP, RHEOS_ABORTED, 1000);
  rheos__metrics_count_call(&metrics, RHEOS__RUN_GRAPH, (rheos_code)99, 1000);
  expect_line(&metrics, "rheos_calls_total{method=\"RunStep\",code=\"OK\"} 2");
  expect_line(&metrics, "rheos_calls_total{method=\"RunStep\",code=\"ABORTED\"} 1");
  expect_line(&metrics, "rheos_calls_total{method=\"RunGraph\",code=\"UNKNOWN\"} 1");
}

static void test_metrics__classes_of_latency_add_up(void **state) {
  (void)state;
  rheos__metrics metrics = {.tell = NULL};
  rheos__metrics_count_call(&metrics, RHEOS__RUN_STEP, RHEOS_OK, 100000);  // 100 us
  rheos__metrics_count_call(&metrics, RHEOS__RUN_STEP, RHEOS_OK, 100001);
  rheos__metrics_count_call(&metrics, RHEOS__RUN_STEP, RHEOS_OK, 3600000000000);  // an hour
  expect_line(&metrics, "rheos_call_seconds_bucket{method=\"RunStep\",le=\"0.0001\"} 1");
  expect_line(&metrics, "rheos_call_seconds_bucket{method=\"RunStep\",le=\"0.00025\"} 2");
  expect_line(&metrics, "rheos_call_seconds_bucket{method=\"RunStep\",le=\"60\"} 2");
  expect_line(&metrics, "rheos_call_seconds_bucket{method=\"RunStep\",le=\"+Inf\"} 3");
  expect_line(&metrics, "rheos_call_seconds_count{method=\"RunStep\"} 3");
  expect_line(&metrics, "rheos_call_seconds_sum{method=\"RunStep\"} 3600.000200001");
}

static void count_warnings(void *argument, const rheos_server_event *event) {
  if (event->is_warning) ++*(int *)argument;
}

static void test_metrics__events_are_told(void **state) {
  (void)state;
  int num_warnings = 0;
  rheos__metrics metrics = {.tell = count_warnings, .tell_argument = &num_warnings};
  rheos__metrics_session_made(&metrics, "a");
  rheos__metrics_session_closed(&metrics, "a", "Session was closed.");
  assert_int_equal(num_warnings, 0);
  rheos__metrics_task_lost(&metrics, "/job:ps/replica:0/task:0");
  rheos__metrics_call_refused(&metrics, "/tensorflow.MasterService/RunStep", "no");
  assert_int_equal(num_warnings, 2);
  expect_line(&metrics, "rheos_sessions_made_total 1");
  expect_line(&metrics, "rheos_tasks_lost_total 1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_metrics__calls_are_counted_by_method_and_code),
      cmocka_unit_test(test_metrics__classes_of_latency_add_up),
      cmocka_unit_test(test_metrics__events_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
