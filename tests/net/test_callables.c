// Callables of sessions on servers, in one process over loopback.
#include "net/cluster_fixture.h"
#include "net/master_callable.h"
#include "net/server.h"

// y is x + 3, computed on another task than x is fed on; `count` adds 1 to v there.
typedef struct program {
  cluster cluster;
  rheos_output x, y, v;
  rheos_operation init, count;
  rheos_session *session;
} program;

static rheos_operation two(fixture *f, const char *op, rheos_output x, rheos_output y) {
  const rheos_output inputs[] = {x, y};
  return add(f, op, inputs, 2, NULL, 0);
}

static void start(fixture *f, program *p) {
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &RHEOS_SCALAR)};
  start_cluster(&p->cluster, 2, 0);
  rheos_push_device(f->scope, "/job:worker/task:0");
  p->x = rheos_operation_output(add(f, "Placeholder", NULL, 0, attrs, 2), 0);
  rheos_scope_pop(f->scope);
  rheos_push_device(f->scope, "/job:worker/task:1");
  p->y = rheos_operation_output(two(f, "AddV2", p->x, float_scalar(f, 3)), 0);
  p->v = rheos_operation_output(add(f, "VariableV2", NULL, 0, attrs, 2), 0);
  p->init = two(f, "Assign", p->v, float_scalar(f, 0));
  p->count = two(f, "AssignAdd", p->v, float_scalar(f, 1));
  rheos_scope_pop(f->scope);
  check(rheos_scope_finish(f->scope));
  p->session = session_on(f->graph, p->cluster.servers[0]);
  check(rheos_session_run(p->session, NULL, 0, NULL, 0, &p->init, 1, NULL));
}

static void stop(program *p) {
  rheos_session_free(p->session);
  stop_cluster(&p->cluster);
}

static rheos_callable *counting_sum(const program *p) {
  rheos_callable *callable;
  check(rheos_callable_new(p->session, &p->x, 1, &p->y, 1, &p->count, 1, &callable));
  return callable;
}

static float call(rheos_callable *callable, float number, const rheos_run_options *options) {
  rheos_tensor *value, *result;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &number, &value));
  check(rheos_callable_run(callable, &value, &result, options));
  const float sum = *(const float *)rheos_tensor_data(result);
  rheos_tensor_unref(result);
  rheos_tensor_unref(value);
  return sum;
}

static float counted(const program *p) {
  rheos_fetch fetch = {.output = p->v};
  check(rheos_session_run(p->session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  const float value = *(const float *)rheos_tensor_data(fetch.value);
  rheos_tensor_unref(fetch.value);
  return value;
}

static rheos__master_session *master_of(const program *p) {
  return p->cluster.servers[0]->master.sessions->session;
}

static int num_plans(const program *p) {
  int count = 0;
  for (const rheos__master_plan *plan = master_of(p)->plans; plan != NULL; plan = plan->next) {
    count++;
  }
  return count;
}

static void test_callables__run_on_the_tasks(void **state) {
  fixture *f = *state;
  program p;
  start(f, &p);
  rheos_callable *callable = counting_sum(&p);
  for (int i = 0; i < 5; i++) {
    assert_float_equal(call(callable, (float)i, NULL), i + 3, 0);
    assert_float_equal(counted(&p), i + 1, 0);
  }
  rheos_callable_free(callable);
  stop(&p);
}

static void test_callables__deadlines_are_told(void **state) {
  fixture *f = *state;
  program p;
  const rheos_run_options options = {.timeout_ms = 60000};
  start(f, &p);
  rheos_callable *callable = counting_sum(&p);
  assert_float_equal(call(callable, 1, NULL), 4, 0);
  assert_float_equal(call(callable, 2, &options), 5, 0);
  assert_float_equal(counted(&p), 2, 0);
  rheos_callable_free(callable);
  stop(&p);
}

static void test_callables__the_graph_may_grow(void **state) {
  fixture *f = *state;
  program p;
  start(f, &p);
  rheos_callable *first = counting_sum(&p);
  assert_float_equal(call(first, 1, NULL), 4, 0);
  p.y = rheos_operation_output(two(f, "AddV2", p.y, float_scalar(f, 10)), 0);
  check(rheos_scope_finish(f->scope));
  rheos_callable *second = counting_sum(&p);
  assert_float_equal(call(second, 1, NULL), 14, 0);
  assert_float_equal(call(first, 1, NULL), 4, 0);
  rheos_callable_free(second);
  rheos_callable_free(first);
  stop(&p);
}

static void test_callables__the_master_keeps_one_until_it_is_freed(void **state) {
  fixture *f = *state;
  program p;
  start(f, &p);
  const rheos__master_session *master = master_of(&p);
  rheos_callable *callable = counting_sum(&p);
  assert_null(master->callables);
  call(callable, 1, NULL);
  const int plans = num_plans(&p);
  const rheos__master_callable *kept = master->callables;
  assert_non_null(kept);
  call(callable, 2, NULL);
  assert_ptr_equal(master->callables, kept);
  assert_null(kept->next);
  assert_int_equal(num_plans(&p), plans);
  rheos_callable_free(callable);
  assert_null(master->callables);
  stop(&p);
}

static void test_callables__unknown_handles_are_errors(void **state) {
  fixture *f = *state;
  program p;
  rheos__master_callable *none;
  start(f, &p);
  rheos_callable *callable = counting_sum(&p);
  call(callable, 1, NULL);
  const int64_t handle = master_of(&p)->callables->handle;
  rheos_callable_free(callable);
  expect_error(rheos__master_callable_find(master_of(&p), handle, &none), RHEOS_INVALID_ARGUMENT,
               "Attempted to run callable after handle was released");
  expect_error(rheos__master_callable_find(master_of(&p), handle + 1, &none),
               RHEOS_INVALID_ARGUMENT, "No such callable handle");
  stop(&p);
}

static void test_callables__may_be_freed_after_the_session_is_closed(void **state) {
  fixture *f = *state;
  program p;
  start(f, &p);
  rheos_callable *callable = counting_sum(&p);
  call(callable, 1, NULL);
  rheos_session_close(p.session);
  rheos_tensor *value = NULL, *result;
  const float number = 1;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &number, &value));
  expect_error(rheos_callable_run(callable, &value, &result, NULL), RHEOS_FAILED_PRECONDITION,
               "closed");
  rheos_tensor_unref(value);
  rheos_callable_free(callable);
  stop(&p);
}

static void test_callables__errors_name_what_is_wrong(void **state) {
  fixture *f = *state;
  program p;
  start(f, &p);
  const rheos_output fed = p.x;
  rheos_callable *callable;
  check(rheos_callable_new(p.session, NULL, 0, &fed, 1, NULL, 0, &callable));
  rheos_tensor *result = NULL;
  expect_error(rheos_callable_run(callable, NULL, &result, NULL), RHEOS_INVALID_ARGUMENT,
               "You must feed a value for placeholder tensor");
  assert_null(result);
  rheos_callable_free(callable);
  stop(&p);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_callables__run_on_the_tasks),
      TEST(test_callables__deadlines_are_told),
      TEST(test_callables__the_graph_may_grow),
      TEST(test_callables__the_master_keeps_one_until_it_is_freed),
      TEST(test_callables__unknown_handles_are_errors),
      TEST(test_callables__may_be_freed_after_the_session_is_closed),
      TEST(test_callables__errors_name_what_is_wrong),
  };
  if (!can_serve()) return 0;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
