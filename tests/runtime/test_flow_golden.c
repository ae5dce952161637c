// Graphs of version 1's control flow give what TensorFlow gave: tests/golden/flow and flow_by_hand,
// written by make_flow.py and make_flow_by_hand.py. Each run is done on 1, 2 and 8 threads, raised
// where that is possible and on tokens, and with edges watched: all of them, and all but those of
// what moves values; and gives the same bits; also where all nodes that it has kernels for are on a
// device with a memory of its own.
#include "device/private_device.h"
#include "runtime/step/host.h"
#include "runtime/recorded_runs.h"
#include "runtime/watch_all.h"
#include "runtime/session/watched_run.h"

enum { NUM_SESSIONS = 10, FIRST_WATCHED = 6 };

static const int32_t numbers_of_threads[] = {1, 2, 8};

// Of a host with a device besides the CPU, one of each number of threads.
typedef struct host_with_device {
  rheos_host *host;
  rheos__device device;
} host_with_device;

typedef struct sessions {
  host_with_device *hosts;  // NULL: the CPU alone
  rheos_session *all[NUM_SESSIONS];
  rheos__watches *watches[2];
  int64_t num_delivered;
} sessions;

static bool is_close(double a, double b) {
  return a == b || fabs(a - b) <= 1e-6 * (fabs(a) + fabs(b));
}

static void compare(const recorded *r, const rheos_tensor *actual, const rheos_tensor *expected) {
  assert_int_equal(rheos_tensor_dtype(actual), rheos_tensor_dtype(expected));
  assert_shape(actual, *rheos_tensor_shape(expected));
  const int64_t count = rheos_tensor_num_elements(expected);
  const void *a = rheos_tensor_data((rheos_tensor *)(uintptr_t)actual);
  const void *b = rheos_tensor_data((rheos_tensor *)(uintptr_t)expected);
  for (int64_t i = 0; i < count; i++) {
    bool same;
    switch (rheos_tensor_dtype(expected)) {
      case RHEOS_FLOAT:
        same = is_close((double)((const float *)a)[i], (double)((const float *)b)[i]);
        break;
      case RHEOS_DOUBLE: same = is_close(((const double *)a)[i], ((const double *)b)[i]); break;
      case RHEOS_STRING:
        same = rheos__string_equal(&((const rheos_string *)a)[i], &((const rheos_string *)b)[i]);
        break;
      default: {
        const size_t size = rheos_dtype_size(rheos_tensor_dtype(expected));
        same = memcmp((const char *)a + (size_t)i * size, (const char *)b + (size_t)i * size,
                      size) == 0;
      }
    }
    if (!same) fail_msg("%s, run %d: element %d differs", r->name, r->num_runs, (int)i);
  }
}

static rheos_status *count_value(void *argument, const rheos__delivered *delivered) {
  sessions *s = argument;
  rheos__text text = {0};
  rheos__place_text(delivered->place, &text);
  assert_false(text.failed);
  rheos__text_deinit(&text);
  assert_non_null(delivered->value);
  s->num_delivered++;
  return NULL;
}

static void run_in(recorded *r, int number) {
  sessions *s = r->user;
  rheos_session *session = s->all[number];
  const rheos__observer observer = {.deliver = count_value, .argument = s};
  rheos_status *status =
      number < FIRST_WATCHED
          ? rheos_session_run(session, r->feeds, r->num_feeds, r->fetches, r->num_fetches,
                              r->targets, r->num_targets, NULL)
          : rheos__session_run_watched(session, r->feeds, r->num_feeds, r->fetches, r->num_fetches,
                                       r->targets, r->num_targets, NULL, s->watches[number % 2],
                                       &observer);
  if ((int)rheos_status_code(status) != r->error) {
    fail_msg("%s, run %d: expected code %d, got %d: %s", r->name, r->num_runs, r->error,
             (int)rheos_status_code(status), rheos_status_message(status));
  }
  rheos_status_free(status);
  for (size_t i = 0; i < r->num_fetches; i++) {
    if (r->error == 0) compare(r, r->fetches[i].value, r->expected[i]);
    rheos_tensor_unref(r->fetches[i].value);
    r->fetches[i].value = NULL;
  }
}

static void run(recorded *r) {
  for (int i = 0; i < NUM_SESSIONS; i++) run_in(r, i);
}

static void begin_case(recorded *r) {
  sessions *s = r->user;
  for (int i = 0; i < NUM_SESSIONS; i++) {
    const rheos_session_options session_options = {
        .num_threads = s->hosts == NULL ? numbers_of_threads[i % 3] : 0,
        .host = s->hosts != NULL ? s->hosts[i % 3].host : NULL,
        .allow_soft_placement = s->hosts != NULL,
        .rewrites.raise_control_flow =
            i < 3 || i == FIRST_WATCHED ? RHEOS_TOGGLE_ON : RHEOS_TOGGLE_OFF};
    check(rheos_session_new(r->f.graph, &session_options, &s->all[i]));
  }
  for (int i = 0; i < 2; i++) s->watches[i] = watch_all(r->f.graph, i == 1);
}

static void end_case(recorded *r) {
  sessions *s = r->user;
  for (int i = 0; i < NUM_SESSIONS; i++) rheos_session_free(s->all[i]);
  for (int i = 0; i < 2; i++) rheos__watches_unref(s->watches[i]);
}

static int run_cases(const char *folder, host_with_device *hosts) {
  sessions s = {.hosts = hosts};
  recorded r = {.device = hosts != NULL ? "/device:TEST:0" : NULL,
                .begin_case = begin_case,
                .run = run,
                .end_case = end_case,
                .user = &s};
  const int count = run_recorded(&r, folder);
  assert_true(s.num_delivered > 100 * (int64_t)count);
  return count;
}

static void test_flow__gives_what_tensorflow_gives(void **state) {
  (void)state;
  assert_true(run_cases("flow", NULL) >= 60);
}

static void test_flow__put_together_by_hand_too(void **state) {
  (void)state;
  assert_true(run_cases("flow_by_hand", NULL) >= 30);
}

static void test_flow__on_a_device_too(void **state) {
  (void)state;
  host_with_device hosts[3];
  for (int i = 0; i < 3; i++) {
    const rheos_host_options options = {.num_threads = numbers_of_threads[i]};
    check(rheos_host_new(&options, &hosts[i].host));
    check(private_device_init(&hosts[i].device, 0));
    check(rheos__host_add_device(hosts[i].host, &hosts[i].device));
  }
  assert_true(run_cases("flow", hosts) >= 60);
  assert_true(run_cases("flow_by_hand", hosts) >= 30);
  for (int i = 0; i < 3; i++) {
    const private_device_counts counts = private_device_count(&hosts[i].device);
    assert_true(counts.num_kernels > 500);
    rheos_host_unref(hosts[i].host);
    assert_int_equal(private_device_count(&hosts[i].device).blocks_in_use, 0);
    private_device_deinit(&hosts[i].device);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_flow__gives_what_tensorflow_gives),
      cmocka_unit_test(test_flow__put_together_by_hand_too),
      cmocka_unit_test(test_flow__on_a_device_too),
  };
  return cmocka_run_group_tests_name("flow_golden", tests, NULL, NULL);
}
