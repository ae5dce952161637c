// Sessions seen from outside: what runs, in which order, what is re-used, and how a step is
// stopped.
#include <math.h>
#include <pthread.h>
#include <rheos/rheos.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

// ---- A graph, its scope and a session on it

typedef struct fixture {
  rheos_graph *graph;
  rheos_scope *scope;
  rheos_session *session;
} fixture;

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

static void expect(rheos_status *status, rheos_code code, const char *part) {
  assert_non_null(status);
  if (strstr(rheos_status_message(status), part) == NULL) {
    fail_msg("'%s' is not in '%s'", part, rheos_status_message(status));
  }
  assert_int_equal(rheos_status_code(status), code);
  rheos_status_free(status);
}

static int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  f->graph = rheos_graph_new();
  f->scope = rheos_scope_new(f->graph);
  check(rheos_session_new(f->graph, NULL, &f->session));
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  rheos_session_free(f->session);
  rheos_scope_free(f->scope);
  rheos_graph_unref(f->graph);
  free(f);
  return 0;
}

static rheos_tensor *floats(rheos_shape shape, const float *values) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_FLOAT, shape, values, &tensor));
  return tensor;
}

static rheos_tensor *scalar(float value) { return floats(RHEOS_SCALAR, &value); }

static float run_float(fixture *f, rheos_output output) {
  check(rheos_scope_finish(f->scope));
  rheos_fetch fetch = {output, NULL};
  check(rheos_session_run(f->session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  assert_int_equal(rheos_tensor_dtype(fetch.value), RHEOS_FLOAT);
  float value = *(float *)rheos_tensor_data(fetch.value);
  rheos_tensor_unref(fetch.value);
  return value;
}

static void run_target(fixture *f, rheos_operation target) {
  check(rheos_scope_finish(f->scope));
  check(rheos_session_run(f->session, NULL, 0, NULL, 0, &target, 1, NULL));
}

static rheos_session_stats stats(fixture *f) {
  rheos_session_stats result;
  rheos_session_get_stats(f->session, &result);
  return result;
}

static rheos_variable variable(fixture *f, const char *name, float value) {
  return rheos_variable_new(f->scope, rheos_constant_float(f->scope, value, NULL),
                            &(rheos_variable_options){.name = name});
}

// ---- What runs

static void test_session__computes_what_is_fetched(void **state) {
  fixture *f = *state;
  rheos_output two = rheos_constant_float(f->scope, 2, NULL);
  rheos_output sum = rheos_add(f->scope, two, rheos_constant_float(f->scope, 3, NULL));
  assert_float_equal(run_float(f, sum), 5, 0);
}

static void test_session__needs_only_the_placeholders_on_the_path(void **state) {
  fixture *f = *state;
  rheos_output x = rheos_placeholder(f->scope, RHEOS_INT32, .name = "x");
  rheos_output three = rheos_constant_float(f->scope, 3, NULL);
  assert_float_equal(run_float(f, three), 3, 0);
  rheos_fetch fetch = {x, NULL};
  expect(rheos_session_run(f->session, NULL, 0, &fetch, 1, NULL, 0, NULL), RHEOS_INVALID_ARGUMENT,
         "You must feed a value for placeholder tensor 'x' with dtype int32");
  assert_null(fetch.value);
  assert_float_equal(run_float(f, three), 3, 0);
}

static void test_session__errors_name_the_node_and_the_line(void **state) {
  fixture *f = *state;
  rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT, .name = "missing");
  int line = __LINE__ - 1;
  rheos_fetch fetch = {x, NULL};
  rheos_status *status = rheos_session_run(f->session, NULL, 0, &fetch, 1, NULL, 0, NULL);
  char place[200];
  snprintf(place, sizeof place, "node missing (defined at %s:%d)", __FILE__, line);
  assert_string_equal(rheos_status_node(status), "missing");
  expect(status, RHEOS_INVALID_ARGUMENT, place);
}

static void test_session__any_tensor_can_be_fed(void **state) {
  fixture *f = *state;
  rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT, .name = "x");
  rheos_output y = rheos_square(f->scope, x);
  rheos_output z = rheos_neg(f->scope, y);
  check(rheos_scope_finish(f->scope));
  rheos_tensor *nine = scalar(9);
  rheos_feed feed = {y, nine};
  rheos_fetch fetch = {z, NULL};
  check(rheos_session_run(f->session, &feed, 1, &fetch, 1, NULL, 0, NULL));
  assert_float_equal(*(float *)rheos_tensor_data(fetch.value), -9, 0);
  rheos_tensor_unref(fetch.value);
  rheos_tensor_unref(nine);
}

static void test_session__the_same_fetch_twice_gives_two_values(void **state) {
  fixture *f = *state;
  rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT, .name = "x");
  rheos_output y = rheos_square(f->scope, x);
  rheos_output same = rheos_identity(f->scope, y);
  check(rheos_scope_finish(f->scope));
  rheos_tensor *three = scalar(3);
  rheos_feed feed = {x, three};
  rheos_fetch fetches[] = {{y, NULL}, {y, NULL}, {same, NULL}, {x, NULL}};
  check(rheos_session_run(f->session, &feed, 1, fetches, 4, NULL, 0, NULL));
  const float expected[] = {9, 9, 9, 3};
  for (int i = 0; i < 4; ++i) {
    assert_float_equal(*(float *)rheos_tensor_data(fetches[i].value), expected[i], 0);
    for (int k = 0; k < i; ++k) {
      assert_ptr_not_equal(rheos_tensor_data(fetches[i].value),
                           rheos_tensor_data(fetches[k].value));
    }
  }
  for (int i = 0; i < 4; ++i) rheos_tensor_unref(fetches[i].value);
  rheos_tensor_unref(three);
}

// ---- Variables

static void test_session__an_uninitialized_variable_is_an_error(void **state) {
  fixture *f = *state;
  rheos_output count =
      rheos_get_variable(f->scope, "count", RHEOS_FLOAT, RHEOS_SCALAR, rheos_zeros());
  check(rheos_scope_finish(f->scope));
  rheos_fetch fetch = {count, NULL};
  expect(rheos_session_run(f->session, NULL, 0, &fetch, 1, NULL, 0, NULL),
         RHEOS_FAILED_PRECONDITION, "Attempting to use uninitialized value count");
  run_target(f, rheos_global_variables_initializer(f->scope));
  assert_float_equal(run_float(f, count), 0, 0);
}

static void test_session__variables_live_in_the_session(void **state) {
  fixture *f = *state;
  rheos_variable v = variable(f, "v", 1);
  rheos_session *other = NULL;
  check(rheos_session_new(f->graph, NULL, &other));
  run_target(f, v.initializer);
  rheos_fetch fetch = {v.value, NULL};
  expect(rheos_session_run(other, NULL, 0, &fetch, 1, NULL, 0, NULL), RHEOS_FAILED_PRECONDITION,
         "uninitialized");
  rheos_session_free(other);
}

static void test_session__reads_come_before_writes_they_do_not_wait_for(void **state) {
  fixture *f = *state;
  rheos_variable v = variable(f, "v", 1);
  rheos_output ten_times = rheos_mul(f->scope, v.value, rheos_constant_float(f->scope, 10, NULL));
  rheos_output added =
      rheos_assign_add(f->scope, v.handle, rheos_constant_float(f->scope, 1, NULL));
  run_target(f, v.initializer);
  rheos_fetch fetches[] = {{added, NULL}, {ten_times, NULL}};
  check(rheos_session_run(f->session, NULL, 0, fetches, 2, NULL, 0, NULL));
  const float expected[] = {2, 10};
  for (int i = 0; i < 2; ++i) {
    assert_float_equal(*(float *)rheos_tensor_data(fetches[i].value), expected[i], 0);
    rheos_tensor_unref(fetches[i].value);
  }
}

static void test_session__a_fetched_variable_is_read_at_the_end(void **state) {
  fixture *f = *state;
  rheos_variable v = variable(f, "v", 1);
  rheos_output added =
      rheos_assign_add(f->scope, v.handle, rheos_constant_float(f->scope, 1, NULL));
  run_target(f, v.initializer);
  rheos_fetch fetches[] = {{v.handle, NULL}, {v.value, NULL}};
  rheos_operation write = rheos_output_operation(added);
  check(rheos_session_run(f->session, NULL, 0, fetches, 2, &write, 1, NULL));
  for (int i = 0; i < 2; ++i) {
    assert_float_equal(*(float *)rheos_tensor_data(fetches[i].value), 2, 0);
    rheos_tensor_unref(fetches[i].value);
  }
}

static void test_session__a_control_dependency_on_a_write_gives_the_new_value(void **state) {
  fixture *f = *state;
  rheos_variable v = variable(f, "v", 1);
  rheos_output added =
      rheos_assign_add(f->scope, v.handle, rheos_constant_float(f->scope, 1, NULL));
  rheos_operation write = rheos_output_operation(added);
  rheos_push_control_dependencies(f->scope, &write, 1);
  rheos_output after = rheos_identity(f->scope, v.value);
  rheos_scope_pop(f->scope);
  run_target(f, v.initializer);
  assert_float_equal(run_float(f, after), 2, 0);
  assert_float_equal(run_float(f, after), 3, 0);
}

static void test_session__a_fetched_value_does_not_change_later(void **state) {
  fixture *f = *state;
  rheos_variable v = variable(f, "v", 1);
  rheos_output added =
      rheos_assign_add(f->scope, v.handle, rheos_constant_float(f->scope, 1, NULL));
  run_target(f, v.initializer);
  rheos_fetch fetch = {v.value, NULL};
  check(rheos_session_run(f->session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  run_float(f, added);
  assert_float_equal(*(float *)rheos_tensor_data(fetch.value), 1, 0);
  *(float *)rheos_tensor_data(fetch.value) = 100;  // the caller's own
  assert_float_equal(run_float(f, v.value), 2, 0);
  rheos_tensor_unref(fetch.value);
}

static void test_session__training_minimizes(void **state) {
  fixture *f = *state;
  rheos_variable v = variable(f, "v", 5);
  rheos_output loss = rheos_square(f->scope, v.value);
  rheos_operation train = rheos_minimize(f->scope, rheos_gradient_descent(0.25), loss);
  run_target(f, rheos_global_variables_initializer(f->scope));
  run_target(f, train);  // v -= 0.25 * 2 v
  assert_float_equal(run_float(f, v.value), 2.5, 0);
}

// ---- Shapes

static void test_session__new_shapes_reuse_the_plan(void **state) {
  fixture *f = *state;
  rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT, .name = "x");
  rheos_output sum = rheos_sum(f->scope, x, rheos_constant_int(f->scope, 0, NULL));
  check(rheos_scope_finish(f->scope));
  enum { SIZES = 200 };  // as many as a decoder's state has on its way
  float values[SIZES];
  for (int i = 0; i < SIZES; ++i) values[i] = (float)(i + 1);
  for (int round = 0; round < 3; ++round) {
    for (int64_t n = 1; n <= SIZES; ++n) {
      rheos_tensor *fed = floats(RHEOS_SHAPE(n), values);
      rheos_feed feed = {x, fed};
      rheos_fetch fetch = {sum, NULL};
      check(rheos_session_run(f->session, &feed, 1, &fetch, 1, NULL, 0, NULL));
      assert_float_equal(*(float *)rheos_tensor_data(fetch.value), (float)(n * (n + 1) / 2), 0);
      rheos_tensor_unref(fetch.value);
      rheos_tensor_unref(fed);
    }
  }
  assert_int_equal(stats(f).num_plans, 1);
  assert_int_equal(stats(f).num_specializations, SIZES);
}

static void test_session__shapes_may_depend_on_values(void **state) {
  fixture *f = *state;
  rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT, .name = "x");
  rheos_output positive =
      rheos_where(f->scope, rheos_greater(f->scope, x, rheos_constant_float(f->scope, 0, NULL)));
  rheos_output count = rheos_size(f->scope, positive);
  rheos_output doubled = rheos_add(f->scope, positive, positive);
  check(rheos_scope_finish(f->scope));
  const float values[][4] = {{1, -1, 2, 3}, {-1, -1, -1, 5}, {-1, -1, -1, -1}, {4, 4, 4, -4}};
  const int32_t counts[] = {3, 1, 0, 3};
  for (int i = 0; i < 4; ++i) {
    rheos_tensor *fed = floats(RHEOS_SHAPE(4), values[i]);
    rheos_feed feed = {x, fed};
    rheos_fetch fetches[] = {{count, NULL}, {doubled, NULL}, {positive, NULL}};
    check(rheos_session_run(f->session, &feed, 1, fetches, 3, NULL, 0, NULL));
    assert_int_equal(*(int32_t *)rheos_tensor_data(fetches[0].value), counts[i]);
    const rheos_shape *shape = rheos_tensor_shape(fetches[1].value);
    assert_int_equal(shape->rank, 2);
    assert_int_equal(shape->dims[0], counts[i]);
    for (int k = 0; k < counts[i]; ++k) {
      assert_int_equal(((int64_t *)rheos_tensor_data(fetches[1].value))[k],
                       2 * ((int64_t *)rheos_tensor_data(fetches[2].value))[k]);
    }
    for (int k = 0; k < 3; ++k) rheos_tensor_unref(fetches[k].value);
    rheos_tensor_unref(fed);
  }
  assert_int_equal(stats(f).num_plans, 1);
  assert_int_equal(stats(f).num_specializations, 1 + 3);  // counts 3, 1 and 0
}

static void test_session__a_shape_may_be_fed(void **state) {
  fixture *f = *state;
  rheos_output dims = rheos_placeholder(f->scope, RHEOS_INT32, .name = "dims");
  rheos_output filled = rheos_fill(f->scope, dims, rheos_constant_float(f->scope, 7, NULL));
  rheos_output sum =
      rheos_sum(f->scope, rheos_neg(f->scope, filled),
                rheos_range(f->scope, rheos_constant_int(f->scope, 0, NULL),
                            rheos_rank(f->scope, filled), rheos_constant_int(f->scope, 1, NULL)));
  check(rheos_scope_finish(f->scope));
  const int32_t shapes[][2] = {{2, 3}, {4, 1}, {2, 3}, {0, 5}};
  for (int i = 0; i < 4; ++i) {
    rheos_tensor *fed = NULL;
    check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(2), shapes[i], &fed));
    rheos_feed feed = {dims, fed};
    rheos_fetch fetch = {sum, NULL};
    check(rheos_session_run(f->session, &feed, 1, &fetch, 1, NULL, 0, NULL));
    assert_float_equal(*(float *)rheos_tensor_data(fetch.value),
                       (float)(-7 * shapes[i][0] * shapes[i][1]), 0);
    rheos_tensor_unref(fetch.value);
    rheos_tensor_unref(fed);
  }
}

// ---- Plans

// A product with ones is the matrix by the graph's shapes, and not by those of the feed.
static void test_session__feeds_may_have_any_shape_if_it_says_so(void **state) {
  fixture *f = *state;
  rheos_shape declared = RHEOS_SHAPE(2, 2);
  rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT, .shape = &declared);
  rheos_output y = rheos_mul(f->scope, x, rheos_const_f32(f->scope, 1, 1));
  check(rheos_scope_finish(f->scope));
  rheos_session *session;
  check(rheos_session_new(f->graph, &(rheos_session_options){.feeds_any_shape = true}, &session));
  rheos_tensor *three = scalar(3), *matrix = floats(declared, (float[]){1, 2, 3, 4});
  rheos_feed feed = {x, three};
  rheos_fetch fetch = {y, NULL};
  expect(rheos_session_run(f->session, &feed, 1, &fetch, 1, NULL, 0, NULL), RHEOS_INVALID_ARGUMENT,
         "Cannot feed a value of shape [] for a tensor of shape [2,2]");
  for (int i = 0; i < 2; i++) {
    feed.value = three;
    check(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL));
    assert_int_equal(rheos_tensor_num_elements(fetch.value), 2);
    assert_true(((float *)rheos_tensor_data(fetch.value))[1] == 3);
    rheos_tensor_unref(fetch.value);
    feed.value = matrix;
    check(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL));
    assert_int_equal(rheos_tensor_num_elements(fetch.value), 4);
    rheos_tensor_unref(fetch.value);
  }
  rheos_session_stats stats;
  rheos_session_get_stats(session, &stats);
  assert_int_equal(stats.num_plans, 2);
  rheos_tensor_unref(three);
  rheos_tensor_unref(matrix);
  rheos_session_free(session);
}

static void test_session__the_same_signature_plans_once(void **state) {
  fixture *f = *state;
  rheos_output x = rheos_constant_float(f->scope, 2, NULL);
  rheos_output y = rheos_square(f->scope, x);
  for (int i = 0; i < 10; ++i) assert_float_equal(run_float(f, y), 4, 0);
  rheos_output later = rheos_neg(f->scope, y);  // the graph grows: the plan stays
  for (int i = 0; i < 10; ++i) assert_float_equal(run_float(f, y), 4, 0);
  assert_int_equal(stats(f).num_plans, 1);
  assert_float_equal(run_float(f, later), -4, 0);
  assert_int_equal(stats(f).num_plans, 2);
  assert_int_equal(stats(f).num_runs, 21);
}

static void test_session__the_plan_cache_is_bounded(void **state) {
  fixture *f = *state;
  rheos_session *small = NULL;
  check(rheos_session_new(f->graph, &(rheos_session_options){.max_cached_plans = 2}, &small));
  rheos_output outputs[5];
  for (int i = 0; i < 5; ++i) outputs[i] = rheos_constant_float(f->scope, (float)i, NULL);
  check(rheos_scope_finish(f->scope));
  for (int i = 0; i < 10; ++i) {
    rheos_fetch fetch = {outputs[i % 5], NULL};
    check(rheos_session_run(small, NULL, 0, &fetch, 1, NULL, 0, NULL));
    assert_float_equal(*(float *)rheos_tensor_data(fetch.value), (float)(i % 5), 0);
    rheos_tensor_unref(fetch.value);
  }
  rheos_session_free(small);
}

static void test_callable__runs_and_outlives_growth(void **state) {
  fixture *f = *state;
  rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT, .name = "x");
  rheos_output y = rheos_square(f->scope, x);
  check(rheos_scope_finish(f->scope));
  rheos_callable *square = NULL;
  check(rheos_callable_new(f->session, &x, 1, &y, 1, NULL, 0, &square));
  for (int i = 0; i < 3; ++i) {
    rheos_tensor *fed = scalar((float)i), *result = NULL;
    check(rheos_callable_run(square, &fed, &result, NULL));
    assert_float_equal(*(float *)rheos_tensor_data(result), (float)(i * i), 0);
    rheos_tensor_unref(result);
    rheos_tensor_unref(fed);
    rheos_neg(f->scope, y);
  }
  check(rheos_scope_finish(f->scope));
  rheos_callable_free(square);
}

// ---- Devices

static void test_session__devices_are_checked_when_a_plan_is_made(void **state) {
  fixture *f = *state;
  rheos_push_device(f->scope, "/cpu:0");
  rheos_output here = rheos_constant_float(f->scope, 1, NULL);
  rheos_scope_pop(f->scope);
  rheos_push_device(f->scope, "/gpu:1");
  rheos_output there = rheos_constant_float(f->scope, 2, NULL);
  rheos_scope_pop(f->scope);
  assert_float_equal(run_float(f, here), 1, 0);
  rheos_fetch fetch = {there, NULL};
  expect(rheos_session_run(f->session, NULL, 0, &fetch, 1, NULL, 0, NULL), RHEOS_INVALID_ARGUMENT,
         "Cannot assign a device for operation");
  rheos_session *soft = NULL;
  check(rheos_session_new(f->graph, &(rheos_session_options){.allow_soft_placement = true}, &soft));
  check(rheos_session_run(soft, NULL, 0, &fetch, 1, NULL, 0, NULL));
  rheos_tensor_unref(fetch.value);
  rheos_session_free(soft);
}

// ---- Stopping

// A step that takes minutes if nobody stops it.
static rheos_output endless(fixture *f) {
  rheos_output side = rheos_fill(f->scope, rheos_placeholder(f->scope, RHEOS_INT32, .name = "dims"),
                                 rheos_constant_float(f->scope, 1e-3f, NULL));
  rheos_output product = side;
  for (int i = 0; i < 2000; ++i) product = rheos_matmul(f->scope, product, side);
  check(rheos_scope_finish(f->scope));
  return product;
}

static rheos_status *run_endless(fixture *f, rheos_output output,
                                 const rheos_run_options *options) {
  rheos_output dims;
  check(rheos_graph_output(f->graph, "dims:0", &dims));
  const int32_t size[] = {1500, 1500};
  rheos_tensor *fed = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(2), size, &fed));
  rheos_feed feed = {dims, fed};
  rheos_fetch fetch = {output, NULL};
  rheos_status *status = rheos_session_run(f->session, &feed, 1, &fetch, 1, NULL, 0, options);
  assert_null(fetch.value);
  rheos_tensor_unref(fed);
  return status;
}

static void test_session__a_deadline_ends_a_step(void **state) {
  fixture *f = *state;
  rheos_output output = endless(f);
  expect(run_endless(f, output, &(rheos_run_options){.timeout_ms = 50}), RHEOS_DEADLINE_EXCEEDED,
         "50 ms");
  assert_float_equal(run_float(f, rheos_constant_float(f->scope, 1, NULL)), 1, 0);
}

typedef struct soon {
  rheos_cancellation *cancellation;
  long wait_us;
} soon;

static void *cancel_soon(void *argument) {
  const soon *s = argument;
  nanosleep(&(struct timespec){0, s->wait_us * 1000}, NULL);
  rheos_cancel(s->cancellation);
  return NULL;
}

// Any thread of the pool may be the first to see it, so it is tried often.
static void test_session__another_thread_cancels_a_step(void **state) {
  fixture *f = *state;
  rheos_output output = endless(f);
  for (long i = 0; i < 50; i++) {
    soon s = {rheos_cancellation_new(), 2000 + 37 * i};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, &s), 0);
    expect(run_endless(f, output, &(rheos_run_options){.cancellation = s.cancellation}),
           RHEOS_CANCELLED, "cancelled");
    pthread_join(thread, NULL);
    rheos_cancellation_free(s.cancellation);
  }
  assert_float_equal(run_float(f, rheos_constant_float(f->scope, 1, NULL)), 1, 0);
}

static bool after_three(void *argument) { return ++*(int *)argument == 3; }

static void test_session__should_stop_is_asked(void **state) {
  fixture *f = *state;
  rheos_output output = endless(f);
  int questions = 0;
  rheos_run_options options = {.should_stop = after_three, .should_stop_argument = &questions};
  expect(run_endless(f, output, &options), RHEOS_CANCELLED, "cancelled");
  assert_int_equal(questions, 3);
}

static void *close_soon(void *argument) {
  nanosleep(&(struct timespec){0, 50 * 1000 * 1000}, NULL);
  rheos_session_close(argument);
  return NULL;
}

static void test_session__closing_ends_running_steps(void **state) {
  fixture *f = *state;
  rheos_output output = endless(f);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, close_soon, f->session), 0);
  expect(run_endless(f, output, NULL), RHEOS_CANCELLED, "closed");
  pthread_join(thread, NULL);
  expect(run_endless(f, output, NULL), RHEOS_FAILED_PRECONDITION, "closed Session");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_session__computes_what_is_fetched),
      TEST(test_session__needs_only_the_placeholders_on_the_path),
      TEST(test_session__errors_name_the_node_and_the_line),
      TEST(test_session__any_tensor_can_be_fed),
      TEST(test_session__the_same_fetch_twice_gives_two_values),
      TEST(test_session__an_uninitialized_variable_is_an_error),
      TEST(test_session__variables_live_in_the_session),
      TEST(test_session__reads_come_before_writes_they_do_not_wait_for),
      TEST(test_session__a_fetched_variable_is_read_at_the_end),
      TEST(test_session__a_control_dependency_on_a_write_gives_the_new_value),
      TEST(test_session__a_fetched_value_does_not_change_later),
      TEST(test_session__training_minimizes),
      TEST(test_session__new_shapes_reuse_the_plan),
      TEST(test_session__shapes_may_depend_on_values),
      TEST(test_session__a_shape_may_be_fed),
      TEST(test_session__feeds_may_have_any_shape_if_it_says_so),
      TEST(test_session__the_same_signature_plans_once),
      TEST(test_session__the_plan_cache_is_bounded),
      TEST(test_callable__runs_and_outlives_growth),
      TEST(test_session__devices_are_checked_when_a_plan_is_made),
      TEST(test_session__a_deadline_ends_a_step),
      TEST(test_session__another_thread_cancels_a_step),
      TEST(test_session__should_stop_is_asked),
      TEST(test_session__closing_ends_running_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
