// Servers with graphics cards: what they tell of them, and steps whose values lie there. On what
// PoCL makes of a processor; skipped where there is none.
#include <stdlib.h>

#include "device/opencl/opencl.h"
#include "net/cluster_fixture.h"

static rheos_server *server_with(const cluster *c, const char *job, int task, int32_t num_cards,
                                 const char *config, size_t config_bytes) {
  const rheos_server_options options = {.cluster = c->text,
                                        .job = job,
                                        .task = task,
                                        .num_threads = 2,
                                        .num_gpu_devices = num_cards,
                                        .default_session_config = config,
                                        .default_session_config_bytes = config_bytes};
  rheos_server *server;
  check(rheos_server_new(&options, &server));
  return server;
}

static int num_devices(const rheos_server *server) {
  return rheos_host_num_devices(rheos_server_host(server));
}

static void test_server_cards__options_say_which(void **state) {
  (void)state;
  static const char no_cards[] = "\x0a\x07\x0a\x03GPU\x10\x00";  // device_count {"GPU": 0}
  // gpu_options.experimental.virtual_devices.memory_limit_mb [16, 8]
  static const char two_parts[] = "\x32\x0e\x4a\x0c\x0a\x0a\x0a\x08\0\0\x80\x41\0\0\0\x41";
  cluster c = {.text = "{"};
  add_job(&c, "worker", 1);
  strcat(c.text, "}");
  const int num_cards = rheos__opencl_count();
  const struct {
    int32_t cards;
    const char *config;
    size_t size_bytes;
    int expected;
  } rows[] = {{0, NULL, 0, 1 + num_cards},
              {1, NULL, 0, 2},
              {-1, NULL, 0, 1},
              {0, no_cards, sizeof no_cards - 1, 1},
              {1, no_cards, sizeof no_cards - 1, 2},
              {0, two_parts, sizeof two_parts - 1, 3}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    rheos_server *server =
        server_with(&c, "worker", 0, rows[i].cards, rows[i].config, rows[i].size_bytes);
    assert_int_equal(num_devices(server), rows[i].expected);
    rheos_server_free(server);
  }
}

static void test_server_cards__sessions_list_those_of_all_tasks(void **state) {
  fixture *f = *state;
  cluster c;
  start_cluster(&c, 2, 0);
  check(rheos_scope_finish(f->scope));
  rheos_session *session = session_on(f->graph, c.servers[0]);
  static const char *const names[] = {"/job:worker/replica:0/task:0/device:GPU:0",
                                      "/job:worker/replica:0/task:1/device:GPU:0"};
  int num_found = 0;
  const rheos_device_attributes *devices;
  size_t count;
  check(rheos_session_list_devices(session, &devices, &count));
  for (size_t i = 0; i < count; i++) {
    for (int k = 0; k < 2; k++) {
      if (strcmp(devices[i].name, names[k]) != 0) continue;
      assert_string_equal(devices[i].type, "GPU");
      assert_true(devices[i].memory_limit_bytes > 0);
      num_found++;
    }
  }
  assert_int_equal(num_found, 2);
  rheos_session_free(session);
  stop_cluster(&c);
}

// ---- Steps

static rheos_output variable_on(fixture *f, const char *device, rheos_output first,
                                rheos_operation *out_init) {
  const rheos_shape shape = RHEOS_SHAPE(3, 4);
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &shape)};
  rheos_push_device(f->scope, device);
  const rheos_output v = rheos_operation_output(add(f, "VariableV2", NULL, 0, attrs, 2), 0);
  const rheos_output pair[] = {v, first};
  *out_init = add(f, "Assign", pair, 2, NULL, 0);
  rheos_scope_pop(f->scope);
  return v;
}

static int64_t kernels(void) { return rheos__opencl_num_kernels(0); }

static float fetch_first(rheos_session *session, rheos_output output) {
  rheos_fetch fetch = {.output = output};
  check(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  const float value = *(const float *)rheos_tensor_data(fetch.value);
  rheos_tensor_unref(fetch.value);
  return value;
}

// A variable of the one task is read on the other's card, whose result updates it: the first value
// is 1 everywhere, and a step adds tanh of the products of its rows with themselves, in part.
static float step_on(fixture *f, cluster *c, const char *cell, const char *worker,
                     int64_t *out_kernels) {
  rheos_operation init;
  float ones[12];
  for (int i = 0; i < 12; i++) ones[i] = 1;
  const rheos_output v = variable_on(f, cell, floats(f, RHEOS_SHAPE(3, 4), ones), &init);
  rheos_push_device(f->scope, cell);
  const rheos_output read = rheos_identity(f->scope, v);
  rheos_scope_pop(f->scope);
  rheos_push_device(f->scope, worker);
  const rheos_output product =
      rheos_matmul(f->scope, read, read, .transpose_a = true);  // 3 everywhere
  const rheos_output change = rheos_matmul(f->scope, read, rheos_tanh(f->scope, product));
  rheos_scope_pop(f->scope);
  const rheos_output pair[] = {v, change};
  const rheos_output updated = rheos_operation_output(add(f, "AssignAdd", pair, 2, NULL, 0), 0);
  check(rheos_scope_finish(f->scope));
  rheos_session *session = session_on(f->graph, c->servers[0]);
  check(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  const int64_t before = kernels();
  const float value = fetch_first(session, updated);
  *out_kernels = kernels() - before;
  rheos_session_free(session);
  return value;
}

static void test_server_cards__values_of_cards_cross_tasks(void **state) {
  fixture *f = *state;
  static const char *const cells[] = {"/job:ps/cpu:0", "/job:ps/gpu:0"};
  const float expected = 1 + 4 * tanhf(3);
  cluster c;
  start_cluster(&c, 2, 1);
  for (int i = 0; i < 2; i++) {
    int64_t on_card, on_cpu;
    const float value = step_on(f, &c, cells[i], "/job:worker/task:1/gpu:0", &on_card);
    assert_float_equal(value, expected, 1e-4);
    assert_float_equal(step_on(f, &c, cells[i], "/job:worker/task:1/cpu:0", &on_cpu), expected,
                       1e-4);
    assert_true(on_card >= 3);  // two products and tanh
    assert_true(on_cpu <= on_card - 3);
  }
  stop_cluster(&c);
}

// The op waits for another task, and is all that its task does with what came.
static void test_server_cards__one_op_between_tasks_runs_on_a_card(void **state) {
  fixture *f = *state;
  cluster c;
  rheos_operation init;
  start_cluster(&c, 2, 0);
  const float numbers[12] = {1};
  const rheos_output v =
      variable_on(f, "/job:worker/task:0/cpu:0", floats(f, RHEOS_SHAPE(3, 4), numbers), &init);
  rheos_push_device(f->scope, "/job:worker/task:0/cpu:0");
  const rheos_output read = rheos_identity(f->scope, v);
  rheos_scope_pop(f->scope);
  rheos_push_device(f->scope, "/job:worker/task:1/gpu:0");
  const rheos_output y = rheos_tanh(f->scope, read);
  rheos_scope_pop(f->scope);
  check(rheos_scope_finish(f->scope));
  rheos_session *session = session_on(f->graph, c.servers[0]);
  check(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  const int64_t before = kernels();
  assert_float_equal(fetch_first(session, y), tanhf(1), 1e-6);
  assert_int_equal(kernels() - before, 1);
  rheos_session_free(session);
  stop_cluster(&c);
}

// What asks for no device is on a card of the master's own task.
static void test_server_cards__one_task_prefers_its_card(void **state) {
  fixture *f = *state;
  cluster c;
  start_cluster(&c, 1, 0);
  int64_t on_card;
  assert_float_equal(step_on(f, &c, "", "", &on_card), 1 + 4 * tanhf(3), 1e-4);
  assert_true(on_card >= 3);
  stop_cluster(&c);
}

static void test_server_cards__what_is_not_there_is_an_error(void **state) {
  fixture *f = *state;
  cluster c;
  start_cluster(&c, 1, 0);
  rheos_push_device(f->scope, "/job:worker/task:0/gpu:9");
  const rheos_output y = rheos_neg(f->scope, float_scalar(f, 1));
  rheos_scope_pop(f->scope);
  check(rheos_scope_finish(f->scope));
  rheos_session *session = session_on(f->graph, c.servers[0]);
  rheos_fetch fetch = {.output = y};
  expect_error(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL),
               RHEOS_INVALID_ARGUMENT, "/job:worker/replica:0/task:0/device:GPU:0");
  rheos_session_free(session);
  stop_cluster(&c);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_server_cards__options_say_which),
      TEST(test_server_cards__sessions_list_those_of_all_tasks),
      TEST(test_server_cards__values_of_cards_cross_tasks),
      TEST(test_server_cards__one_op_between_tasks_runs_on_a_card),
      TEST(test_server_cards__one_task_prefers_its_card),
      TEST(test_server_cards__what_is_not_there_is_an_error),
  };
  setenv("RHEOS_OPENCL", "cpu", 1);
  if (rheos__opencl_count() == 0 || !can_serve()) return 77;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
