// Graphs of version 1's control flow give what TensorFlow gave: tests/golden/flow and flow_by_hand, written
// by make_flow.py and make_flow_by_hand.py. Each run is done on 1, 2 and 8 threads, raised where that is possible
// and on tokens, and with edges watched: all of them, and all but those of what moves values; and gives the same
// bits; also where all nodes that it has kernels for are on a device with a memory of its own.
#include <rheos/format.h>
#include <stdio.h>

#include "base/file.h"
#include "device/private_device.h"
#include "ops/array_fixture.h"
#include "runtime/host.h"
#include "runtime/watch_all.h"
#include "runtime/watched_run.h"

enum { MAX_VALUES = 16, LINE_BYTES = 1 << 16, NUM_SESSIONS = 10, FIRST_WATCHED = 6 };

static const int32_t numbers_of_threads[] = {1, 2, 8};

// Of a host with a device besides the CPU, one of each number of threads.
typedef struct host_with_device {
  rheos_host *host;
  rheos__device device;
} host_with_device;

typedef struct recorded {
  const char *folder;
  host_with_device *hosts;  // NULL: the CPU alone
  fixture f;
  rheos_session *sessions[NUM_SESSIONS];
  rheos__watches *watches[2];
  int64_t num_delivered;
  char name[128];
  rheos_feed feeds[MAX_VALUES];
  rheos_fetch fetches[MAX_VALUES];
  rheos_operation targets[MAX_VALUES];
  rheos_tensor *expected[MAX_VALUES];
  size_t num_feeds, num_fetches, num_targets, num_expected;
  int error;
  int refused;  // the code of the error of a graph that the library does not take
  bool has_run;
  int num_runs, num_cases;
} recorded;

static void set_element(rheos_tensor *tensor, int64_t i, const char *word) {
  void *data = rheos_tensor_data(tensor);
  switch (rheos_tensor_dtype(tensor)) {
    case RHEOS_FLOAT: ((float *)data)[i] = strtof(word, NULL); return;
    case RHEOS_DOUBLE: ((double *)data)[i] = strtod(word, NULL); return;
    case RHEOS_HALF: ((uint16_t *)data)[i] = rheos__float_to_half(strtof(word, NULL)); return;
    case RHEOS_STRING: check(rheos_tensor_set_string(tensor, i, word, strlen(word))); return;
    case RHEOS_BOOL: ((bool *)data)[i] = word[0] == '1'; return;
    case RHEOS_INT8: ((int8_t *)data)[i] = (int8_t)atoi(word); return;
    case RHEOS_UINT8: ((uint8_t *)data)[i] = (uint8_t)atoi(word); return;
    case RHEOS_INT16: ((int16_t *)data)[i] = (int16_t)atoi(word); return;
    case RHEOS_INT32: ((int32_t *)data)[i] = (int32_t)atol(word); return;
    case RHEOS_INT64: ((int64_t *)data)[i] = atoll(word); return;
    default: fail_msg("no reader of %s", rheos_dtype_name(rheos_tensor_dtype(tensor)));
  }
}

// The words that are left: dtype, rank, dimensions, elements.
static rheos_tensor *read_tensor(char **rest) {
  const rheos_dtype dtype = rheos_dtype_from_name(strtok_r(NULL, " \n", rest));
  rheos_shape shape = {.rank = atoi(strtok_r(NULL, " \n", rest))};
  for (int32_t i = 0; i < shape.rank; i++) shape.dims[i] = atoll(strtok_r(NULL, " \n", rest));
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(dtype, shape, &tensor));
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    set_element(tensor, i, strtok_r(NULL, " \n", rest));
  }
  return tensor;
}

static rheos_output output_named(const recorded *r, char *name) {
  char *colon = strchr(name, ':');
  const int32_t index = colon != NULL ? atoi(colon + 1) : 0;
  if (colon != NULL) *colon = '\0';
  const rheos_operation op = rheos_graph_operation(r->f.graph, name);
  if (op.graph == NULL) fail_msg("%s: there is no %s", r->name, name);
  return rheos_operation_output(op, index);
}

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
  recorded *r = argument;
  rheos__text text = {0};
  rheos__place_text(delivered->place, &text);
  assert_false(text.failed);
  rheos__text_deinit(&text);
  assert_non_null(delivered->value);
  r->num_delivered++;
  return NULL;
}

static void run_in(recorded *r, int number) {
  rheos_session *session = r->sessions[number];
  const rheos__observer observer = {.deliver = count_value, .argument = r};
  rheos_status *status =
      number < FIRST_WATCHED
          ? rheos_session_run(session, r->feeds, r->num_feeds, r->fetches, r->num_fetches,
                              r->targets, r->num_targets, NULL)
          : rheos__session_run_watched(session, r->feeds, r->num_feeds, r->fetches, r->num_fetches,
                                       r->targets, r->num_targets, NULL, r->watches[number % 2],
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

// Does the run that has been read, if there is one.
static void end_run(recorded *r) {
  if (r->has_run && r->refused != 0) {  // TensorFlow refuses it when it is run
    if (r->error != r->refused) fail_msg("%s: the graph is refused: %d", r->name, r->refused);
  } else if (r->has_run) {
    assert_true(r->error != 0 || r->num_expected == r->num_fetches);
    for (int i = 0; i < NUM_SESSIONS; i++) run_in(r, i);
    r->num_runs++;
  }
  for (size_t i = 0; i < r->num_feeds; i++) rheos_tensor_unref(r->feeds[i].value);
  for (size_t i = 0; i < r->num_expected; i++) rheos_tensor_unref(r->expected[i]);
  r->num_feeds = r->num_fetches = r->num_targets = r->num_expected = 0;
  r->error = 0;
  r->has_run = false;
}

static void begin_case(recorded *r, const char *name) {
  snprintf(r->name, sizeof r->name, "%s", name);
  char path[512], *bytes = NULL;
  size_t size = 0;
  snprintf(path, sizeof path, RHEOS_SOURCE_DIR "/tests/golden/%s/%s.pb", r->folder, name);
  check(rheos__file_read_all(path, 1 << 24, &bytes, &size));
  r->f.graph = rheos_graph_new();
  r->f.scope = rheos_scope_new(r->f.graph);
  rheos_import_options options = {.prefix = ""};
  if (r->hosts != NULL) rheos_push_device(r->f.scope, "/device:TEST:0");
  rheos_import_graph_def(r->f.scope, bytes, size, &options);
  if (r->hosts != NULL) rheos_scope_pop(r->f.scope);
  rheos_status *status = rheos_scope_finish(r->f.scope);
  r->refused = (int)rheos_status_code(status);
  rheos_status_free(status);
  rheos__free(bytes);
  for (int i = 0; i < NUM_SESSIONS; i++) {
    const rheos_session_options session_options = {
        .num_threads = r->hosts == NULL ? numbers_of_threads[i % 3] : 0,
        .host = r->hosts != NULL ? r->hosts[i % 3].host : NULL,
        .allow_soft_placement = r->hosts != NULL,
        .rewrites.raise_control_flow =
            i < 3 || i == FIRST_WATCHED ? RHEOS_TOGGLE_ON : RHEOS_TOGGLE_OFF};
    check(rheos_session_new(r->f.graph, &session_options, &r->sessions[i]));
  }
  for (int i = 0; i < 2; i++) r->watches[i] = watch_all(r->f.graph, i == 1);
  r->num_cases++;
  r->num_runs = 0;
}

static void end_case(recorded *r) {
  for (int i = 0; i < NUM_SESSIONS; i++) rheos_session_free(r->sessions[i]);
  for (int i = 0; i < 2; i++) rheos__watches_unref(r->watches[i]);
  rheos_scope_free(r->f.scope);
  rheos__graph_check(r->f.graph);
  rheos_graph_unref(r->f.graph);
}

static void read_line(recorded *r, char *line) {
  char *rest = NULL;
  const char *kind = strtok_r(line, " \n", &rest);
  if (kind == NULL) return;
  if (strcmp(kind, "case") == 0) {
    begin_case(r, strtok_r(NULL, " \n", &rest));
  } else if (strcmp(kind, "run") == 0 || strcmp(kind, "end") == 0) {
    end_run(r);
    r->has_run = kind[0] == 'r';
    if (kind[0] == 'e') end_case(r);
  } else if (strcmp(kind, "error") == 0) {
    r->error = atoi(strtok_r(NULL, " \n", &rest));
  } else if (r->refused != 0) {
    assert_null(strstr(kind, "out"));
  } else if (strcmp(kind, "feed") == 0) {
    const rheos_output output = output_named(r, strtok_r(NULL, " \n", &rest));
    r->feeds[r->num_feeds++] = (rheos_feed){output, read_tensor(&rest)};
  } else if (strcmp(kind, "fetch") == 0) {
    const rheos_output output = output_named(r, strtok_r(NULL, " \n", &rest));
    r->fetches[r->num_fetches++] = (rheos_fetch){output, NULL};
  } else if (strcmp(kind, "target") == 0) {
    const rheos_output output = output_named(r, strtok_r(NULL, " \n", &rest));
    r->targets[r->num_targets++] = rheos_output_operation(output);
  } else if (strcmp(kind, "out") == 0) {
    r->expected[r->num_expected++] = read_tensor(&rest);
  } else {
    fail_msg("what is '%s'?", kind);
  }
}

static int run_cases(const char *folder, host_with_device *hosts) {
  char path[512];
  snprintf(path, sizeof path, RHEOS_SOURCE_DIR "/tests/golden/%s/cases.txt", folder);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  char *line = malloc(LINE_BYTES);
  recorded r = {.folder = folder, .hosts = hosts};
  while (fgets(line, LINE_BYTES, file) != NULL) read_line(&r, line);
  fclose(file);
  free(line);
  assert_true(r.num_delivered > 100 * (int64_t)r.num_cases);
  return r.num_cases;
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
