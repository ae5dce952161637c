// Sessions on one host: what they share, what they keep to themselves, and that they may run,
// change variables and be closed at the same time. Meant for the thread sanitizer as much as for
// itself.
#include "runtime/step/host.h"

#include "ops/array_fixture.h"
#include "runtime/session/session_plan.h"

enum { N = 300, K = 70, BATCH = 1500, NUM_SESSIONS = 3, THREADS_EACH = 2, STEPS = 20, ROUNDS = 4 };

typedef struct model {
  rheos_output x, y, w;
  rheos_operation init, step;
} model;

// y = x c^T w^T, c a constant and w a variable; a step adds 1 to all of w.
static model build(fixture *f) {
  model m = {.x = rheos_placeholder(f->scope, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(-1, K))};
  const rheos_variable w =
      rheos_variable_new(f->scope, waves(f, 0.5f, RHEOS_SHAPE(K, N), 0.1f), NULL);
  m.w = w.value;
  const rheos_output c = waves(f, 0.5f, RHEOS_SHAPE(N, K), 0.7f);
  m.y = rheos_matmul(f->scope, rheos_matmul(f->scope, m.x, c, .transpose_b = true), w.value,
                     .transpose_b = true);
  float ones[K * N];
  for (int i = 0; i < K * N; i++) ones[i] = 1;
  const rheos_output inputs[] = {w.handle, floats(f, RHEOS_SHAPE(K, N), ones)};
  m.step = add(f, "AssignAdd", inputs, 2, NULL, 0);
  m.init = rheos_global_variables_initializer(f->scope);
  check(rheos_scope_finish(f->scope));
  return m;
}

static rheos_host *new_host(int32_t num_threads) {
  rheos_host *host = NULL;
  check(rheos_host_new(&(rheos_host_options){.num_threads = num_threads}, &host));
  return host;
}

static rheos_session *start(fixture *f, rheos_host *host, bool shares_resources) {
  rheos_session *session = NULL;
  const rheos_session_options options = {.host = host, .shares_resources = shares_resources};
  check(rheos_session_new(f->graph, &options, &session));
  return session;
}

static rheos_status *run(rheos_session *session, rheos_operation target) {
  return rheos_session_run(session, NULL, 0, NULL, 0, &target, 1, NULL);
}

static rheos_status *fetch(rheos_session *session, rheos_output output, rheos_tensor **out_value) {
  rheos_fetch fetch = {output, NULL};
  rheos_status *status = rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL);
  *out_value = fetch.value;
  return status;
}

// Of a variable that began with sin(0.1) / 2: how many steps it has seen.
static float steps_seen(rheos_session *session, const model *m) {
  rheos_tensor *w = NULL;
  check(fetch(session, m->w, &w));
  const float seen = ((const float *)rheos_tensor_data(w))[0] - 0.5f * sinf(0.1f);
  rheos_tensor_unref(w);
  return roundf(seen);
}

static void test_host__gives_sessions_devices_and_threads(void **state) {
  fixture *f = *state;
  rheos_host *host = NULL;
  const rheos_host_options two = {.num_cpu_devices = 2, .num_threads = 3};
  check(rheos_host_new(&two, &host));
  rheos_session *session = start(f, host, false);
  assert_int_equal(rheos_session_num_devices(session), 2);
  assert_string_equal(rheos_session_device(session, 1), rheos_host_device(host, 1));
  const rheos_device_attributes *devices;
  size_t count;
  check(rheos_session_list_devices(session, &devices, &count));
  assert_int_equal(count, 2);
  assert_string_equal(devices[1].name, rheos_host_device(host, 1));
  assert_string_equal(devices[1].type, "CPU");
  assert_int_equal(devices[1].memory_limit_bytes, 256 << 20);
  assert_true(devices[0].incarnation != devices[1].incarnation);
  assert_null(rheos_host_device(host, 2));
  assert_int_equal(rheos_host_num_threads(host), 3);
  rheos_host_unref(host);  // the session holds on to it
  assert_int_equal(rheos_session_num_devices(session), 2);
  rheos_session_free(session);
}

static void test_host__has_the_devices_and_threads_alone(void **state) {
  fixture *f = *state;
  rheos_host *host = new_host(2);
  rheos_session *session = NULL;
  rheos_session_options options = {.host = host, .num_threads = 2};
  expect_error(rheos_session_new(f->graph, &options, &session), RHEOS_INVALID_ARGUMENT, "host");
  assert_null(session);
  options = (rheos_session_options){.host = host, .num_cpu_devices = 1};
  expect_error(rheos_session_new(f->graph, &options, &session), RHEOS_INVALID_ARGUMENT, "host");
  rheos_host_unref(host);
  host = NULL;
  expect_error(rheos_host_new(&(rheos_host_options){.num_cpu_devices = 1000}, &host),
               RHEOS_INVALID_ARGUMENT, "at most 64");
  assert_null(host);
}

static void test_host__sessions_have_resources_of_their_own(void **state) {
  fixture *f = *state;
  const model m = build(f);
  rheos_host *host = new_host(2);
  rheos_session *a = start(f, host, false), *b = start(f, host, false);
  check(run(a, m.init));
  expect_error(run(b, m.step), RHEOS_FAILED_PRECONDITION, "uninitialized");
  check(run(b, m.init));
  check(run(b, m.step));
  assert_true(steps_seen(a, &m) == 0);
  assert_true(steps_seen(b, &m) == 1);
  rheos_session_free(a);
  rheos_session_free(b);
  rheos_host_unref(host);
}

static void test_host__sessions_share_resources_that_ask_for_it(void **state) {
  fixture *f = *state;
  const model m = build(f);
  rheos_host *host = new_host(2);
  rheos_session *a = start(f, host, true), *b = start(f, host, true), *c = start(f, host, false);
  check(run(a, m.init));
  check(run(a, m.step));
  check(run(b, m.step));
  assert_true(steps_seen(a, &m) == 2);
  expect_error(run(c, m.step), RHEOS_FAILED_PRECONDITION, "uninitialized");
  rheos_session_free(a);
  rheos_session_close(b);
  expect_error(run(b, m.step), RHEOS_FAILED_PRECONDITION, "closed");
  rheos_session *later = start(f, host, true);
  assert_true(steps_seen(later, &m) == 2);  // they outlive sessions
  rheos_session_free(b);
  rheos_session_free(c);
  rheos_session_free(later);
  rheos_host_unref(host);
}

static void test_host__sharing_without_a_host_shares_nothing(void **state) {
  fixture *f = *state;
  const model m = build(f);
  rheos_session *a = start(f, NULL, true), *b = start(f, NULL, true);
  check(run(a, m.init));
  expect_error(run(b, m.step), RHEOS_FAILED_PRECONDITION, "uninitialized");
  rheos_session_free(a);
  rheos_session_free(b);
}

// Two steps with one number would look like one that makes the variable twice.
static void test_host__numbers_the_steps_of_all_sessions(void **state) {
  fixture *f = *state;
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &RHEOS_SCALAR)};
  const rheos_output made =
      rheos_operation_output(add(f, "TemporaryVariable", NULL, 0, attrs, 2), 0);
  const rheos_output inputs[] = {made, float_scalar(f, 1)};
  const rheos_operation assign = add(f, "Assign", inputs, 2, NULL, 0);
  check(rheos_scope_finish(f->scope));
  rheos_host *host = new_host(1);
  rheos_session *a = start(f, host, true), *b = start(f, host, true);
  for (int i = 0; i < 3; i++) {
    check(run(a, assign));
    check(run(b, assign));
  }
  rheos_session_free(a);
  rheos_session_free(b);
  rheos_host_unref(host);
}

// Assign without validate_shape makes plans out of date: those of sessions with that variable.
static void test_host__variables_of_any_shape_are_the_containers(void **state) {
  fixture *f = *state;
  const model m = build(f);
  const rheos_attr any = rheos_attr_bool("validate_shape", false);
  const rheos_output inputs[] = {rheos_operation_output(m.step, 0), float_scalar(f, 1)};
  const rheos_operation widen = add(f, "Assign", inputs, 2, &any, 1);
  check(rheos_scope_finish(f->scope));
  rheos_host *host = new_host(1);
  rheos_session *sessions[] = {start(f, host, true), start(f, host, true), start(f, host, false)};
  rheos_session_stats before[3], after[3];
  check(run(sessions[0], m.init));
  check(run(sessions[2], m.init));
  for (int i = 0; i < 3; i++) {
    steps_seen(sessions[i], &m);
    rheos_session_get_stats(sessions[i], &before[i]);
  }
  check(run(sessions[0], widen));
  for (int i = 1; i < 3; i++) {
    rheos_tensor *w = NULL;
    check(fetch(sessions[i], m.w, &w));
    assert_int_equal(rheos_tensor_num_elements(w), i == 1 ? 1 : K * N);
    rheos_tensor_unref(w);
    rheos_session_get_stats(sessions[i], &after[i]);
    assert_int_equal(after[i].num_plans - before[i].num_plans, i == 1 ? 1 : 0);
  }
  for (int i = 0; i < 3; i++) rheos_session_free(sessions[i]);
  rheos_host_unref(host);
}

static rheos_status *predict(rheos_session *session, const model *m, rheos_tensor *x,
                             rheos_tensor **out_y) {
  rheos_feed feed = {m->x, x};
  rheos_fetch fetch = {m->y, NULL};
  rheos_status *status = rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL);
  *out_y = fetch.value;
  return status;
}

static void predict_twice(rheos_session *session, const model *m, rheos_tensor *x) {
  for (int i = 0; i < 2; i++) {
    rheos_tensor *y = NULL;
    check(predict(session, m, x, &y));
    rheos_tensor_unref(y);
  }
}

static void test_host__operands_are_packed_once(void **state) {
  fixture *f = *state;
  const model m = build(f);
  rheos_host *host = new_host(2);
  rheos_session *sharing[] = {start(f, host, true), start(f, host, true)};
  rheos_session *alone = start(f, host, false);
  rheos_tensor *x = wave(RHEOS_SHAPE(BATCH, K), 0.3f);
  check(run(sharing[0], m.init));
  check(run(alone, m.init));
  predict_twice(sharing[0], &m, x);
  assert_int_equal(rheos__packings_made(host->packings), 2);
  predict_twice(sharing[1], &m, x);
  assert_int_equal(rheos__packings_made(host->packings), 2);
  predict_twice(alone, &m, x);
  assert_int_equal(rheos__packings_made(host->packings), 3);  // of its own variable
  rheos_session_free(sharing[0]);
  rheos_session_free(alone);
  predict_twice(sharing[1], &m, x);
  assert_int_equal(rheos__packings_made(host->packings), 3);
  rheos_session_free(sharing[1]);
  assert_int_equal(rheos__packings_bytes(host->packings), 0);
  rheos_tensor_unref(x);
  rheos_host_unref(host);
}

// ---- All at once

typedef struct contender {
  rheos_session *session;
  const model *m;
  rheos_tensor *x;
  int64_t num_steps;  // answers
  int num_closed, wrong;
} contender;

static void note(contender *c, rheos_status *status) {
  if (status == NULL) return;
  const bool is_closed = rheos_status_code(status) == RHEOS_FAILED_PRECONDITION ||
                         rheos_status_code(status) == RHEOS_CANCELLED;
  if (is_closed) {
    ++c->num_closed;
  } else {
    print_error("%s\n", rheos_status_message(status));
    ++c->wrong;
  }
  rheos_status_free(status);
}

// All elements of w have seen as many steps: what is read is never half of an update.
static void look_at_variable(contender *c) {
  rheos_tensor *w = NULL;
  note(c, fetch(c->session, c->m->w, &w));
  if (w == NULL) return;
  const float *values = rheos_tensor_data(w);
  const float first = values[0] - 0.5f * sinf(0.1f);
  const float last = values[K * N - 1] - 0.5f * sinf(0.1f + 1.7f * (float)((K * N - 1) % 4099));
  c->wrong += fabsf(first - last) > 0.1f;
  rheos_tensor_unref(w);
}

static void *contend(void *argument) {
  contender *c = argument;
  for (int i = 0; i < STEPS && c->num_closed == 0; i++) {
    rheos_status *status = run(c->session, c->m->step);
    c->num_steps += status == NULL;
    note(c, status);
    rheos_tensor *y = NULL;
    note(c, predict(c->session, c->m, c->x, &y));
    rheos_tensor_unref(y);
    look_at_variable(c);
  }
  return NULL;
}

static void *close_session(void *session) {
  rheos_session_close(session);
  return NULL;
}

// The first session is closed while its threads and those of the others run.
static void contend_once(fixture *f, const model *m, bool shares_resources) {
  rheos_host *host = new_host(3);
  rheos_tensor *x = wave(RHEOS_SHAPE(100, K), 0.3f);
  rheos_session *sessions[NUM_SESSIONS];
  contender contenders[NUM_SESSIONS * THREADS_EACH] = {0};
  pthread_t threads[NUM_SESSIONS * THREADS_EACH], closer;
  for (int i = 0; i < NUM_SESSIONS; i++) {
    sessions[i] = start(f, host, shares_resources);
    if (i == 0 || !shares_resources) check(run(sessions[i], m->init));
  }
  for (int i = 0; i < NUM_SESSIONS * THREADS_EACH; i++) {
    contenders[i] =
        (contender){.session = sessions[i / THREADS_EACH], .m = m, .x = rheos_tensor_ref(x)};
    pthread_create(&threads[i], NULL, contend, &contenders[i]);
  }
  pthread_create(&closer, NULL, close_session, sessions[0]);
  pthread_join(closer, NULL);
  int64_t num_steps = 0;
  for (int i = 0; i < NUM_SESSIONS * THREADS_EACH; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(contenders[i].wrong, 0);
    if (i >= THREADS_EACH) assert_int_equal(contenders[i].num_closed, 0);
    rheos_tensor_unref(contenders[i].x);
    num_steps += contenders[i].num_steps;
  }
  const float seen = steps_seen(sessions[1], m);
  if (shares_resources) {  // one that is cancelled may have been done
    assert_true(seen >= (float)num_steps && seen <= (float)(num_steps + THREADS_EACH));
  } else {
    assert_true(seen == (float)(THREADS_EACH * STEPS));
  }
  for (int i = 0; i < NUM_SESSIONS; i++) rheos_session_free(sessions[i]);
  rheos_tensor_unref(x);
  rheos_host_unref(host);
}

static void test_host__sessions_with_variables_of_their_own_run_at_once(void **state) {
  const model m = build(*state);
  for (int round = 0; round < ROUNDS; round++) contend_once(*state, &m, false);
}

static void test_host__sessions_that_share_variables_run_at_once(void **state) {
  const model m = build(*state);
  for (int round = 0; round < ROUNDS; round++) contend_once(*state, &m, true);
}

static void test_host__more_threads_than_any_machine_has_are_refused(void **state) {
  (void)state;
  const rheos_host_options options = {.num_threads = 100000000};
  rheos_host *host = (rheos_host *)state;
  rheos_status *status = rheos_host_new(&options, &host);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  assert_string_equal(rheos_status_message(status), "100000000 threads asked for, at most 4096");
  assert_null(host);
  rheos_status_free(status);
}

static void test_host__names_its_devices_by_its_task(void **state) {
  (void)state;
  rheos_host *host = NULL;
  const rheos_host_options options = {
      .num_cpu_devices = 2, .num_threads = 1, .job = "worker", .task = 3};
  check(rheos_host_new(&options, &host));
  assert_string_equal(rheos_host_device(host, 1), "/job:worker/replica:0/task:3/device:CPU:1");
  rheos_host_unref(host);
  const rheos_host_options wrong[] = {
      {.job = "1st"}, {.job = "a/task:1"}, {.job = ""}, {.job = "w", .task = -1}, {.replica = -1}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    rheos_status *status = rheos_host_new(&wrong[i], &host);
    assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
    rheos_status_free(status);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_host__gives_sessions_devices_and_threads),
      TEST(test_host__has_the_devices_and_threads_alone),
      TEST(test_host__sessions_have_resources_of_their_own),
      TEST(test_host__sessions_share_resources_that_ask_for_it),
      TEST(test_host__sharing_without_a_host_shares_nothing),
      TEST(test_host__numbers_the_steps_of_all_sessions),
      TEST(test_host__variables_of_any_shape_are_the_containers),
      TEST(test_host__operands_are_packed_once),
      TEST(test_host__sessions_with_variables_of_their_own_run_at_once),
      TEST(test_host__sessions_that_share_variables_run_at_once),
      TEST(test_host__more_threads_than_any_machine_has_are_refused),
      TEST(test_host__names_its_devices_by_its_task),
  };
  return cmocka_run_group_tests_name("host", tests, NULL, NULL);
}
