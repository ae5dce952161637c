// Steps in parts of sessions on servers, in one process over loopback.
#include "net/cluster_fixture.h"
#include "net/server.h"

// sum = 2 a + b on the other task, product = sum * c on the first; `count` adds 1 to v there.
typedef struct program {
  cluster cluster;
  rheos_output a, b, c, twice, sum, product, v, late;
  rheos_operation count;
  rheos_session *session;
  int64_t step;
} program;

static rheos_operation two(fixture *f, const char *op, rheos_output x, rheos_output y) {
  const rheos_output inputs[] = {x, y};
  return add(f, op, inputs, 2, NULL, 0);
}

static rheos_output of(rheos_operation operation) { return rheos_operation_output(operation, 0); }

// Nobody puts anything into the queue that `late` is taken from.
static rheos_output take_late(fixture *f) {
  const rheos_dtype dtype = RHEOS_FLOAT;
  const rheos_attr attrs[] = {rheos_attr_types("component_types", &dtype, 1)};
  const rheos_output queue = of(add(f, "FIFOQueueV2", NULL, 0, attrs, 1));
  return of(add(f, "QueueDequeueV2", &queue, 1, attrs, 1));
}

static void build(fixture *f, program *p, rheos_operation *out_init) {
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &RHEOS_SCALAR)};
  rheos_push_device(f->scope, "/job:worker/task:0");
  rheos_output *const fed[] = {&p->a, &p->b, &p->c};
  for (int i = 0; i < 3; i++) *fed[i] = of(add(f, "Placeholder", NULL, 0, attrs, 2));
  p->twice = of(two(f, "Mul", p->a, float_scalar(f, 2)));
  p->v = of(add(f, "VariableV2", NULL, 0, attrs, 2));
  *out_init = two(f, "Assign", p->v, float_scalar(f, 0));
  p->count = two(f, "AssignAdd", p->v, float_scalar(f, 1));
  rheos_scope_pop(f->scope);
  rheos_push_device(f->scope, "/job:worker/task:1");
  p->sum = of(two(f, "AddV2", p->twice, p->b));
  p->late = take_late(f);
  rheos_scope_pop(f->scope);
  rheos_push_device(f->scope, "/job:worker/task:0");
  p->product = of(two(f, "Mul", p->sum, p->c));
  rheos_scope_pop(f->scope);
  check(rheos_scope_finish(f->scope));
}

static void start(fixture *f, program *p) {
  rheos_operation init;
  start_cluster(&p->cluster, 2, 0);
  build(f, p, &init);
  p->session = session_on(f->graph, p->cluster.servers[0]);
  check(rheos_session_run(p->session, NULL, 0, NULL, 0, &init, 1, NULL));
}

static void stop(program *p) {
  rheos_session_free(p->session);
  stop_cluster(&p->cluster);
}

static void set_up_step(program *p, const rheos_output *fetches, size_t num_fetches,
                        const rheos_operation *target) {
  const rheos_output feeds[] = {p->a, p->b, p->c};
  check(rheos_session_partial_setup(p->session, feeds, 3, fetches, num_fetches, target,
                                    target != NULL ? 1 : 0, &p->step));
}

static void set_up_both(program *p) {
  const rheos_output fetches[] = {p->sum, p->product};
  set_up_step(p, fetches, 2, NULL);
}

typedef struct given {
  rheos_output output;
  float value;
} given;

// The next call: at most two feeds, and a fetch unless it is NULL.
static rheos_status *next(const program *p, const given *feeds, size_t num_feeds,
                          const rheos_output *fetch, float *out_value) {
  rheos_feed fed[2] = {0};
  rheos_fetch fetched = {.output = fetch != NULL ? *fetch : (rheos_output){0}};
  for (size_t i = 0; i < num_feeds; i++) {
    fed[i].output = feeds[i].output;
    check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &feeds[i].value, &fed[i].value));
  }
  rheos_status *status = rheos_session_partial_run(p->session, p->step, fed, num_feeds, &fetched,
                                                   fetch != NULL ? 1 : 0, NULL);
  for (size_t i = 0; i < num_feeds; i++) rheos_tensor_unref(fed[i].value);
  if (status == NULL && fetch != NULL) {
    *out_value = *(const float *)rheos_tensor_data(fetched.value);
    rheos_tensor_unref(fetched.value);
  }
  return status;
}

static void expect_next(const program *p, const given *feeds, size_t num_feeds, rheos_output fetch,
                        float expected) {
  float value = NAN;
  check(next(p, feeds, num_feeds, &fetch, &value));
  assert_float_equal(value, expected, 0);
}

static void expect_wrong(const program *p, const given *feeds, size_t num_feeds, rheos_output fetch,
                         const char *part) {
  float value;
  expect_error(next(p, feeds, num_feeds, &fetch, &value), RHEOS_INVALID_ARGUMENT, part);
}

static float counted(const program *p) {
  rheos_fetch fetch = {.output = p->v};
  check(rheos_session_run(p->session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  const float value = *(const float *)rheos_tensor_data(fetch.value);
  rheos_tensor_unref(fetch.value);
  return value;
}

static int num_steps(const rheos_server *server) {
  int count = 0;
  for (int i = 0; i < RHEOS__STEP_BUCKETS; i++) {
    const rheos__worker_step *step = server->worker.steps.buckets[i];
    for (; step != NULL; step = step->next) count++;
  }
  return count;
}

static void test_partial__feeds_and_fetches_come_in_several_calls(void **state) {
  fixture *f = *state;
  program p;
  start(f, &p);
  for (int i = 0; i < 3; i++) {
    const float n = (float)i;
    set_up_both(&p);
    expect_next(&p, (given[]){{p.a, n}, {p.b, 1}}, 2, p.sum, 2 * n + 1);
    assert_int_equal(num_steps(p.cluster.servers[0]), 1);
    expect_next(&p, (given[]){{p.c, 10}}, 1, p.product, 10 * (2 * n + 1));
    assert_int_equal(num_steps(p.cluster.servers[0]), 0);
  }
  stop(&p);
}

static void test_partial__may_be_fed_alone_and_fetched_alone(void **state) {
  fixture *f = *state;
  program p;
  start(f, &p);
  set_up_both(&p);
  check(next(&p, (given[]){{p.a, 1}, {p.b, 1}}, 2, NULL, NULL));
  check(next(&p, (given[]){{p.c, 4}}, 1, NULL, NULL));
  expect_next(&p, NULL, 0, p.product, 12);
  expect_next(&p, NULL, 0, p.sum, 3);
  stop(&p);
}

static void test_partial__steps_may_be_open_together(void **state) {
  fixture *f = *state;
  program p;
  start(f, &p);
  set_up_both(&p);
  const int64_t first = p.step;
  expect_next(&p, (given[]){{p.a, 1}, {p.b, 1}}, 2, p.sum, 3);
  set_up_both(&p);
  const int64_t second = p.step;
  expect_next(&p, (given[]){{p.a, 2}, {p.b, 1}}, 2, p.sum, 5);
  p.step = first;
  expect_next(&p, (given[]){{p.c, 2}}, 1, p.product, 6);
  p.step = second;
  expect_next(&p, (given[]){{p.c, 2}}, 1, p.product, 10);
  stop(&p);
}

static void test_partial__targets_run_once(void **state) {
  fixture *f = *state;
  program p;
  start(f, &p);
  const rheos_output fetches[] = {p.sum, p.product};
  set_up_step(&p, fetches, 2, &p.count);
  expect_next(&p, (given[]){{p.a, 1}, {p.b, 1}}, 2, p.sum, 3);
  expect_next(&p, (given[]){{p.c, 2}}, 1, p.product, 6);
  assert_float_equal(counted(&p), 1, 0);
  stop(&p);
}

static void test_partial__wrong_calls_leave_the_step_as_it_was(void **state) {
  fixture *f = *state;
  program p;
  start(f, &p);
  set_up_both(&p);
  expect_wrong(&p, (given[]){{p.a, 1}, {p.b, 1}}, 2, p.product,
               "can't be computed from the feeds that have been fed so far");
  expect_wrong(&p, (given[]){{p.a, 1}, {p.b, 1}}, 2, p.twice,
               "was not specified in partial_run_setup");
  expect_wrong(&p, (given[]){{p.v, 1}}, 1, p.sum, "was not specified in partial_run_setup");
  expect_next(&p, (given[]){{p.a, 1}, {p.b, 1}}, 2, p.sum, 3);
  expect_wrong(&p, (given[]){{p.a, 1}}, 1, p.product, "has already been fed");
  expect_wrong(&p, (given[]){{p.c, 1}}, 1, p.sum, "has already been fetched");
  expect_next(&p, (given[]){{p.c, 2}}, 1, p.product, 6);
  expect_wrong(&p, (given[]){{p.c, 2}}, 1, p.product, "before performing partial runs");
  stop(&p);
}

static void test_partial__what_is_fed_is_not_fetched(void **state) {
  fixture *f = *state;
  program p;
  start(f, &p);
  expect_error(rheos_session_partial_setup(p.session, &p.a, 1, &p.a, 1, NULL, 0, &p.step),
               RHEOS_INVALID_ARGUMENT, "is both fed and fetched");
  stop(&p);
}

static void test_partial__an_error_ends_the_step(void **state) {
  fixture *f = *state;
  program p;
  const rheos_attr attrs[] = {rheos_attr_string("message", "odd", 3)};
  start(f, &p);
  rheos_push_device(f->scope, "/job:worker/task:1");
  const rheos_output odd = of(add(f, "CheckNumerics", &p.a, 1, attrs, 1));
  rheos_scope_pop(f->scope);
  check(rheos_scope_finish(f->scope));
  const rheos_output fetches[] = {odd, p.sum};
  set_up_step(&p, fetches, 2, NULL);
  expect_wrong(&p, (given[]){{p.a, NAN}}, 1, odd, "odd : Tensor had NaN values");
  expect_wrong(&p, (given[]){{p.b, 1}}, 1, p.sum, "before performing partial runs");
  assert_int_equal(num_steps(p.cluster.servers[0]), 0);
  stop(&p);
}

static void test_partial__a_call_ends_by_its_deadline(void **state) {
  fixture *f = *state;
  program p;
  const rheos_run_options options = {.timeout_ms = 100};
  start(f, &p);
  const rheos_output fetches[] = {p.late};
  set_up_step(&p, fetches, 1, NULL);
  rheos_fetch fetch = {.output = p.late};
  rheos_status *status = rheos_session_partial_run(p.session, p.step, NULL, 0, &fetch, 1, &options);
  assert_int_equal(rheos_status_code(status), RHEOS_DEADLINE_EXCEEDED);
  rheos_status_free(status);
  assert_int_equal(num_steps(p.cluster.servers[0]), 0);
  stop(&p);
}

static void test_partial__ends_with_the_session_and_the_server(void **state) {
  fixture *f = *state;
  program p;
  start(f, &p);
  const rheos_output fetches[] = {p.late, p.sum};
  set_up_step(&p, fetches, 2, NULL);
  expect_next(&p, (given[]){{p.a, 1}, {p.b, 1}}, 2, p.sum, 3);
  rheos_session_partial_end(p.session, p.step);
  expect_wrong(&p, (given[]){{p.c, 1}}, 1, p.late, "before performing partial runs");
  set_up_step(&p, fetches, 2, NULL);
  expect_next(&p, (given[]){{p.a, 1}, {p.b, 1}}, 2, p.sum, 3);
  assert_int_equal(num_steps(p.cluster.servers[0]), 2);
  rheos_session_close(p.session);
  assert_int_equal(num_steps(p.cluster.servers[0]), 0);
  stop(&p);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_partial__feeds_and_fetches_come_in_several_calls),
      TEST(test_partial__may_be_fed_alone_and_fetched_alone),
      TEST(test_partial__steps_may_be_open_together),
      TEST(test_partial__targets_run_once),
      TEST(test_partial__wrong_calls_leave_the_step_as_it_was),
      TEST(test_partial__what_is_fed_is_not_fetched),
      TEST(test_partial__an_error_ends_the_step),
      TEST(test_partial__a_call_ends_by_its_deadline),
      TEST(test_partial__ends_with_the_session_and_the_server),
  };
  if (!can_serve()) return 0;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
