// Callables bound to buffers: fetches are left where the caller wants them, without any allocation.
#include <rheos/rheos.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "../graph/counting_allocator.h"

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

static void expect(rheos_status *status, rheos_code code, const char *text) {
  assert_non_null(status);
  assert_int_equal(rheos_status_code(status), code);
  if (strstr(rheos_status_message(status), text) == NULL) {
    fail_msg("'%s' is not in '%s'", text, rheos_status_message(status));
  }
  rheos_status_free(status);
}

typedef struct program {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_session *session;
  rheos_callable *callable;
} program;

static program start(void) {
  program p = {.graph = rheos_graph_new()};
  p.s = rheos_scope_new(p.graph);
  return p;
}

static void make_callable(program *p, const rheos_output *feeds, size_t num_feeds,
                          const rheos_output *fetches, size_t num_fetches,
                          const rheos_operation *target, const rheos_operation *init) {
  check(rheos_scope_finish(p->s));
  check(rheos_session_new(p->graph, NULL, &p->session));
  if (init != NULL) check(rheos_session_run(p->session, NULL, 0, NULL, 0, init, 1, NULL));
  check(rheos_callable_new(p->session, feeds, num_feeds, fetches, num_fetches, target,
                           target != NULL, &p->callable));
}

static void finish(program *p) {
  rheos_callable_free(p->callable);
  rheos_session_free(p->session);
  rheos_scope_free(p->s);
  rheos_graph_unref(p->graph);
}

// Nothing that was allocated since the counter was installed is left once the session is gone.
static void finish_counted(program *p, const counting_allocator *counter) {
  rheos_callable_free(p->callable);
  rheos_session_free(p->session);
  p->callable = NULL;
  p->session = NULL;
  assert_int_equal(counter->alive, 0);
  rheos_set_allocator(NULL);
  finish(p);
}

static rheos_tensor *vector(int64_t length, float value) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(length), &tensor));
  for (int64_t i = 0; i < length; i++) ((float *)rheos_tensor_data(tensor))[i] = value;
  return tensor;
}

static rheos_tensor *scalar(float value) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &value, &tensor));
  return tensor;
}

static float first(const rheos_tensor *tensor) { return *(float *)rheos_tensor_data(tensor); }

static void test_bound__results_of_every_kind_arrive(void **state) {
  (void)state;
  program p = start();
  const rheos_output x = rheos_placeholder(p.s, RHEOS_FLOAT);
  const rheos_output y = rheos_mul(p.s, x, x);
  // Computed, the same again, an alias of it, a feed, a constant, an inner value.
  const rheos_output fetches[] = {rheos_add(p.s, y, x),
                                  fetches[0],
                                  rheos_identity(p.s, fetches[0]),
                                  x,
                                  rheos_constant_float(p.s, 7, NULL),
                                  y};
  enum { COUNT = sizeof fetches / sizeof *fetches };
  make_callable(&p, &x, 1, fetches, COUNT, NULL, NULL);
  rheos_tensor *value = vector(5, 3), *results[COUNT];
  for (int i = 0; i < COUNT; i++) results[i] = i == 4 ? scalar(0) : vector(5, 0);
  check(rheos_callable_bind(p.callable, &value, results));
  for (int round = 1; round < 4; round++) {
    const float v = (float)round;
    for (int i = 0; i < 5; i++) ((float *)rheos_tensor_data(value))[i] = v;
    check(rheos_callable_run_bound(p.callable, NULL));
    const float expected[COUNT] = {v * v + v, v * v + v, v * v + v, v, 7, v * v};
    for (int i = 0; i < COUNT; i++) {
      for (int64_t k = 0; k < rheos_tensor_num_elements(results[i]); k++) {
        assert_float_equal(((float *)rheos_tensor_data(results[i]))[k], expected[i], 0);
      }
    }
  }
  rheos_tensor *plain[COUNT];  // the unbound way goes on beside it
  check(rheos_callable_run(p.callable, &value, plain, NULL));
  for (int i = 0; i < COUNT; i++) {
    assert_ptr_not_equal(plain[i], results[i]);
    assert_float_equal(first(plain[i]), first(results[i]), 0);
    rheos_tensor_unref(plain[i]);
    rheos_tensor_unref(results[i]);
  }
  rheos_tensor_unref(value);
  finish(&p);
}

static void test_bound__a_training_step_allocates_nothing(void **state) {
  (void)state;
  program p = start();
  const rheos_output m = rheos_get_variable(p.s, "m", RHEOS_FLOAT, RHEOS_SHAPE(40), rheos_zeros());
  const rheos_output b = rheos_get_variable(p.s, "b", RHEOS_FLOAT, RHEOS_SCALAR, rheos_zeros());
  const rheos_output feeds[] = {rheos_placeholder(p.s, RHEOS_FLOAT),
                                rheos_placeholder(p.s, RHEOS_FLOAT)};
  const rheos_output guess = rheos_add(p.s, rheos_mul(p.s, m, feeds[0]), b);
  const rheos_output loss = rheos_mean(p.s, rheos_square(p.s, rheos_sub(p.s, feeds[1], guess)),
                                       rheos_constant_int(p.s, 0, NULL));
  const rheos_operation train = rheos_minimize(p.s, rheos_gradient_descent(0.1), loss);
  const rheos_operation init = rheos_global_variables_initializer(p.s);
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  make_callable(&p, feeds, 2, &loss, 1, &train, &init);
  rheos_tensor *values[] = {vector(40, 2), vector(40, 5)}, *result = scalar(0);
  check(rheos_callable_bind(p.callable, values, &result));
  for (int i = 0; i < 3; i++) check(rheos_callable_run_bound(p.callable, NULL));
  const float before = first(result);
  const int64_t requests = counter.requests;
  for (int i = 0; i < 100; i++) check(rheos_callable_run_bound(p.callable, NULL));
  assert_int_equal(counter.requests, requests);
  assert_true(first(result) < before);
  rheos_tensor_unref(values[0]);
  rheos_tensor_unref(values[1]);
  rheos_tensor_unref(result);
  finish_counted(&p, &counter);
}

// Kernels with work space, split over threads: each thread gets its own once, when it first helps.
static void test_bound__threads_keep_their_work_space(void **state) {
  (void)state;
  enum { ROWS = 512, COLUMNS = 700, STEPS = 50, THREADS = 2 };
  program p = start();
  const rheos_output x = rheos_placeholder(p.s, RHEOS_FLOAT);
  const rheos_output y = rheos_softmax(p.s, rheos_tanh(p.s, rheos_exp(p.s, x)));
  const rheos_output fetches[] = {y, rheos_cumsum(p.s, y, rheos_constant_int(p.s, 0, NULL))};
  check(rheos_scope_finish(p.s));
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  const rheos_session_options options = {.num_threads = THREADS};
  check(rheos_session_new(p.graph, &options, &p.session));
  check(rheos_callable_new(p.session, &x, 1, fetches, 2, NULL, 0, &p.callable));
  rheos_tensor *value = vector(ROWS * COLUMNS, 0.3f), *results[2];
  rheos_tensor *rows = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(ROWS, COLUMNS), &rows));
  memcpy(rheos_tensor_data(rows), rheos_tensor_data(value), rheos_tensor_size_bytes(rows));
  for (int i = 0; i < 2; i++) {
    check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(ROWS, COLUMNS), &results[i]));
  }
  check(rheos_callable_bind(p.callable, &rows, results));
  for (int i = 0; i < 5; i++) check(rheos_callable_run_bound(p.callable, NULL));
  const int64_t requests = counter.requests;
  for (int i = 0; i < STEPS; i++) check(rheos_callable_run_bound(p.callable, NULL));
  assert_in_range(counter.requests - requests, 0, 2 * THREADS);  // a thread that slept so far
  assert_float_equal(first(results[0]), 1.0f / COLUMNS, 1e-6);
  rheos_tensor_unref(value);
  rheos_tensor_unref(rows);
  rheos_tensor_unref(results[0]);
  rheos_tensor_unref(results[1]);
  finish_counted(&p, &counter);
}

static void test_bound__a_result_can_be_the_next_value(void **state) {
  (void)state;
  program p = start();
  const rheos_output x = rheos_placeholder(p.s, RHEOS_FLOAT);
  const rheos_output fetches[] = {rheos_add(p.s, x, x), rheos_square(p.s, x)};
  make_callable(&p, &x, 1, fetches, 2, NULL, NULL);
  rheos_tensor *value = vector(100, 1), *results[] = {value, vector(100, 0)};
  check(rheos_callable_bind(p.callable, &value, results));
  for (int i = 0; i < 10; i++) {
    const float x_before = first(value);
    check(rheos_callable_run_bound(p.callable, NULL));
    assert_float_equal(first(value), 2 * x_before, 0);
    assert_float_equal(first(results[1]), x_before * x_before, 0);
  }
  rheos_tensor_unref(value);
  rheos_tensor_unref(results[1]);
  finish(&p);
}

static void test_bound__wrong_tensors_are_refused(void **state) {
  (void)state;
  program p = start();
  const rheos_output x = rheos_placeholder(p.s, RHEOS_FLOAT);
  const rheos_output fetches[] = {rheos_add(p.s, x, x), rheos_neg(p.s, x)};
  make_callable(&p, &x, 1, fetches, 2, NULL, NULL);
  rheos_tensor *value = vector(4, 1), *longer = vector(5, 0), *right = vector(4, 0), *ints = NULL;
  check(rheos_tensor_new(RHEOS_INT32, RHEOS_SHAPE(4), &ints));
  expect(rheos_callable_run_bound(p.callable, NULL), RHEOS_FAILED_PRECONDITION, "not bound");
  rheos_tensor *missing[] = {right, NULL};
  expect(rheos_callable_bind(p.callable, &value, missing), RHEOS_INVALID_ARGUMENT,
         "fetch 1 is NULL");
  rheos_tensor *twice[] = {right, right};
  expect(rheos_callable_bind(p.callable, &value, twice), RHEOS_FAILED_PRECONDITION, "elsewhere");
  rheos_tensor *wrong_shape[] = {right, longer};
  check(rheos_callable_bind(p.callable, &value, wrong_shape));
  expect(rheos_callable_run_bound(p.callable, NULL), RHEOS_INVALID_ARGUMENT, "fetch 1 is float[5]");
  rheos_tensor *wrong_dtype[] = {ints, right};
  check(rheos_callable_bind(p.callable, &value, wrong_dtype));
  expect(rheos_callable_run_bound(p.callable, NULL), RHEOS_INVALID_ARGUMENT, "fetch 0 is int32[4]");
  rheos_tensor *other = vector(4, 0), *fine[] = {other, right};
  check(rheos_callable_bind(p.callable, &value, fine));
  check(rheos_callable_run_bound(p.callable, NULL));
  assert_float_equal(first(other), 2, 0);
  assert_float_equal(first(right), -1, 0);
  // Parts of one buffer
  float block[64] = {0};
  rheos_tensor *lower = NULL, *upper = NULL;
  check(rheos_tensor_borrow(RHEOS_FLOAT, RHEOS_SHAPE(4), block, NULL, NULL, &lower));
  check(rheos_tensor_borrow(RHEOS_FLOAT, RHEOS_SHAPE(4), block + 3, NULL, NULL, &upper));
  rheos_tensor *sharing[] = {lower, upper};
  expect(rheos_callable_bind(p.callable, &value, sharing), RHEOS_INVALID_ARGUMENT,
         "fetches 0 and 1 share");
  rheos_tensor *of_feed[] = {lower, right};
  expect(rheos_callable_bind(p.callable, &upper, of_feed), RHEOS_INVALID_ARGUMENT,
         "feed 0 and fetch 0");
  rheos_tensor *borrowed[] = {upper, right};  // its bytes are not aligned
  check(rheos_callable_bind(p.callable, &value, borrowed));
  check(rheos_callable_run_bound(p.callable, NULL));
  assert_float_equal(block[3], 2, 0);
  assert_float_equal(block[6], 2, 0);
  rheos_tensor *all[] = {value, longer, right, ints, other, lower, upper};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) rheos_tensor_unref(all[i]);
  finish(&p);
}

static void test_bound__a_value_of_a_variable_is_no_buffer(void **state) {
  (void)state;
  program p = start();
  const rheos_output v = rheos_get_variable(p.s, "v", RHEOS_FLOAT, RHEOS_SHAPE(3000), rheos_ones());
  const rheos_operation init = rheos_global_variables_initializer(p.s);
  make_callable(&p, NULL, 0, &v, 1, NULL, &init);
  rheos_tensor *result = vector(3000, 0);
  check(rheos_callable_bind(p.callable, NULL, &result));
  check(rheos_callable_run_bound(p.callable, NULL));
  ((float *)rheos_tensor_data(result))[0] = 5;  // of the caller, not of the variable
  rheos_tensor *fetched = NULL;
  check(rheos_callable_run(p.callable, NULL, &fetched, NULL));
  assert_float_equal(first(fetched), 1, 0);
  rheos_tensor_unref(fetched);
  rheos_tensor_unref(result);
  finish(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_bound__results_of_every_kind_arrive),
      cmocka_unit_test(test_bound__a_training_step_allocates_nothing),
      cmocka_unit_test(test_bound__threads_keep_their_work_space),
      cmocka_unit_test(test_bound__a_result_can_be_the_next_value),
      cmocka_unit_test(test_bound__wrong_tensors_are_refused),
      cmocka_unit_test(test_bound__a_value_of_a_variable_is_no_buffer),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
