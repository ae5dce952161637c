// Servers and sessions on them, in one process over loopback.
#include "net/cluster_fixture.h"

static float fetch_float(rheos_session *session, rheos_output output) {
  rheos_fetch fetch = {.output = output};
  check(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  const float value = *(const float *)rheos_tensor_data(fetch.value);
  rheos_tensor_unref(fetch.value);
  return value;
}

static rheos_output sum(fixture *f, rheos_output x, rheos_output y) {
  const rheos_output inputs[] = {x, y};
  return rheos_operation_output(add(f, "AddV2", inputs, 2, NULL, 0), 0);
}

static void test_server__runs_steps_of_a_session(void **state) {
  fixture *f = *state;
  cluster c;
  start_cluster(&c, 1, 0);
  const rheos_output y = sum(f, float_scalar(f, 2), float_scalar(f, 3));
  check(rheos_scope_finish(f->scope));
  rheos_session *session = session_on(f->graph, c.servers[0]);
  assert_float_equal(fetch_float(session, y), 5, 0);
  rheos_session_free(session);
  stop_cluster(&c);
}

static void test_server__feeds_are_fed(void **state) {
  fixture *f = *state;
  cluster c;
  start_cluster(&c, 1, 0);
  const rheos_output x = float_scalar(f, 2), y = sum(f, x, float_scalar(f, 3));
  check(rheos_scope_finish(f->scope));
  rheos_session *session = session_on(f->graph, c.servers[0]);
  for (int i = 0; i < 3; i++) {
    const float number = (float)i;
    rheos_feed feed = {.output = x};
    rheos_fetch fetch = {.output = y};
    check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &number, &feed.value));
    check(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL));
    assert_float_equal(*(const float *)rheos_tensor_data(fetch.value), number + 3, 0);
    rheos_tensor_unref(feed.value);
    rheos_tensor_unref(fetch.value);
  }
  rheos_session_free(session);
  stop_cluster(&c);
}

static void test_server__a_graph_may_grow(void **state) {
  fixture *f = *state;
  cluster c;
  start_cluster(&c, 1, 0);
  rheos_output y = sum(f, float_scalar(f, 2), float_scalar(f, 3));
  check(rheos_scope_finish(f->scope));
  rheos_session *session = session_on(f->graph, c.servers[0]);
  for (int i = 0; i < 3; i++) {
    assert_float_equal(fetch_float(session, y), 5 + i, 0);
    y = sum(f, y, float_scalar(f, 1));
    check(rheos_scope_finish(f->scope));
  }
  rheos_session_free(session);
  stop_cluster(&c);
}

// ---- Two tasks

static rheos_output variable_on(fixture *f, const char *device, float first,
                                rheos_operation *out_init) {
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &RHEOS_SCALAR)};
  rheos_push_device(f->scope, device);
  const rheos_output v = rheos_operation_output(add(f, "VariableV2", NULL, 0, attrs, 2), 0);
  const rheos_output pair[] = {v, float_scalar(f, first)};
  *out_init = add(f, "Assign", pair, 2, NULL, 0);
  rheos_scope_pop(f->scope);
  return v;
}

static void test_server__tasks_share_a_step(void **state) {
  fixture *f = *state;
  cluster c;
  start_cluster(&c, 2, 1);
  rheos_operation init;
  const rheos_output v = variable_on(f, "/job:ps/task:0", 4, &init);
  rheos_push_device(f->scope, "/job:worker/task:1");
  const rheos_output y = sum(f, v, float_scalar(f, 3));
  rheos_scope_pop(f->scope);
  check(rheos_scope_finish(f->scope));
  rheos_session *session = session_on(f->graph, c.servers[0]);
  check(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  assert_float_equal(fetch_float(session, y), 7, 0);
  rheos_session *other = session_on(f->graph, c.servers[1]);
  assert_float_equal(fetch_float(other, y), 7, 0);  // the variable is the server's
  const rheos_device_attributes *devices;
  size_t count;
  check(rheos_session_list_devices(session, &devices, &count));
  assert_int_equal(count, 3);
  assert_string_equal(devices[2].type, "CPU");
  assert_int_equal(devices[2].memory_limit_bytes, 256 << 20);
  assert_true(devices[0].incarnation != devices[2].incarnation);
  rheos_session_free(other);
  rheos_session_free(session);
  stop_cluster(&c);
}

static void test_server__an_error_is_that_of_the_task(void **state) {
  fixture *f = *state;
  cluster c;
  start_cluster(&c, 1, 1);
  rheos_operation init;
  const rheos_output v = variable_on(f, "/job:ps/task:0", 4, &init);
  rheos_push_device(f->scope, "/job:worker/task:0");
  const rheos_output y = sum(f, v, float_scalar(f, 3));
  rheos_scope_pop(f->scope);
  check(rheos_scope_finish(f->scope));
  rheos_session *session = session_on(f->graph, c.servers[0]);
  rheos_fetch fetch = {.output = y};
  expect_error(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL),
               RHEOS_FAILED_PRECONDITION, "Attempting to use uninitialized value");
  check(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  assert_float_equal(fetch_float(session, y), 7, 0);
  rheos_session_free(session);
  stop_cluster(&c);
}

// ---- Ends

static void test_server__a_step_ends_by_its_deadline(void **state) {
  fixture *f = *state;
  cluster c;
  start_cluster(&c, 1, 1);
  const rheos_dtype dtype = RHEOS_FLOAT;
  const rheos_attr attrs[] = {rheos_attr_types("component_types", &dtype, 1)};
  rheos_push_device(f->scope, "/job:ps/task:0");
  const rheos_output queue = rheos_operation_output(add(f, "FIFOQueueV2", NULL, 0, attrs, 1), 0);
  const rheos_output x = rheos_operation_output(add(f, "QueueDequeueV2", &queue, 1, attrs, 1), 0);
  rheos_scope_pop(f->scope);
  rheos_push_device(f->scope, "/job:worker/task:0");
  const rheos_output y = sum(f, x, float_scalar(f, 3));
  rheos_scope_pop(f->scope);
  check(rheos_scope_finish(f->scope));
  rheos_session *session = session_on(f->graph, c.servers[0]);
  rheos_fetch fetch = {.output = y};
  const rheos_run_options options = {.timeout_ms = 100};
  rheos_status *status = rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, &options);
  assert_int_equal(rheos_status_code(status), RHEOS_DEADLINE_EXCEEDED);
  rheos_status_free(status);
  rheos_session_free(session);
  stop_cluster(&c);
}

static void test_server__nobody_there_is_an_error(void **state) {
  fixture *f = *state;
  char target[64];
  snprintf(target, sizeof target, "grpc://127.0.0.1:%d", free_port());
  const rheos_session_options options = {.target = target};
  rheos_fetch fetch = {.output = float_scalar(f, 2)};
  check(rheos_scope_finish(f->scope));
  rheos_session *session;
  check(rheos_session_new(f->graph, &options, &session));
  expect_error(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL), RHEOS_UNAVAILABLE,
               target);
  rheos_session_free(session);
}

// ---- Resets

static rheos_output variable_in(fixture *f, const char *container, rheos_operation *out_init) {
  rheos_output v;
  rheos_push_attr(f->scope, rheos_attr_string("container", container, strlen(container)));
  v = variable_on(f, "/job:ps/task:0", 4, out_init);
  rheos_scope_pop(f->scope);
  return v;
}

static void expect_uninitialized(rheos_session *session, rheos_output v) {
  rheos_fetch fetch = {.output = v};
  expect_error(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL),
               RHEOS_FAILED_PRECONDITION, "Attempting to use uninitialized value");
}

static void test_server__a_reset_frees_containers(void **state) {
  fixture *f = *state;
  cluster c;
  start_cluster(&c, 1, 1);
  rheos_operation inits[2];
  const rheos_output in_none = variable_in(f, "", &inits[0]);
  const rheos_output in_one = variable_in(f, "one", &inits[1]);
  check(rheos_scope_finish(f->scope));
  rheos_session *session = session_on(f->graph, c.servers[0]);
  const char *target = rheos_server_target(c.servers[0]), *one = "one", *workers = "/job:worker";
  check(rheos_session_run(session, NULL, 0, NULL, 0, inits, 2, NULL));
  check(rheos_cluster_reset(target, NULL, &one, 1, &workers, 1));  // but it is on the other task
  rheos_fetch fetch = {.output = in_one};
  expect_error(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL), RHEOS_ABORTED,
               "is not found");
  rheos_session_free(session);
  session = session_on(f->graph, c.servers[0]);
  assert_float_equal(fetch_float(session, in_one), 4, 0);
  check(rheos_cluster_reset(target, NULL, &one, 1, NULL, 0));
  rheos_session_free(session);
  session = session_on(f->graph, c.servers[0]);
  expect_uninitialized(session, in_one);
  assert_float_equal(fetch_float(session, in_none), 4, 0);
  check(rheos_cluster_reset(target, NULL, NULL, 0, NULL, 0));
  rheos_session_free(session);
  session = session_on(f->graph, c.servers[0]);
  expect_uninitialized(session, in_none);
  rheos_session_free(session);
  stop_cluster(&c);
}

static void test_server__a_reset_needs_a_server(void **state) {
  (void)state;
  char target[64];
  snprintf(target, sizeof target, "grpc://127.0.0.1:%d", free_port());
  expect_error(rheos_cluster_reset(target, NULL, NULL, 0, NULL, 0), RHEOS_UNAVAILABLE, target);
  expect_error(rheos_cluster_reset("", NULL, NULL, 0, NULL, 0), RHEOS_INVALID_ARGUMENT,
               "no target");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_server__runs_steps_of_a_session),
      TEST(test_server__feeds_are_fed),
      TEST(test_server__a_graph_may_grow),
      TEST(test_server__tasks_share_a_step),
      TEST(test_server__an_error_is_that_of_the_task),
      TEST(test_server__a_step_ends_by_its_deadline),
      TEST(test_server__nobody_there_is_an_error),
      TEST(test_server__a_reset_frees_containers),
      TEST(test_server__a_reset_needs_a_server),
  };
  if (!can_serve()) return 0;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
