// Many threads on one session, a graph that grows meanwhile, variables under contention, steps that
// are cancelled, and deep graphs on a small stack. Meant for the thread sanitizer as much as for
// itself.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rheos/scope.h>
#include <rheos/session.h>
#include <rheos/train.h>

enum { NUM_THREADS = 6, RUNS = 200 };

static rheos_output op_2(rheos_scope *s, const char *type, rheos_output a, rheos_output b) {
  rheos_output inputs[] = {a, b};
  rheos_op_args args = {.type = type, .inputs = inputs, .num_inputs = 2};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

static rheos_output placeholder(rheos_scope *s) {
  rheos_attr dtype = rheos_attr_type("dtype", RHEOS_FLOAT);
  rheos_op_args args = {.type = "Placeholder", .attrs = &dtype, .num_attrs = 1};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

static rheos_tensor *filled(int64_t count, float value) {
  rheos_tensor *t = NULL;
  if (rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(count), &t)) return NULL;
  for (int64_t i = 0; i < count; i++) ((float *)rheos_tensor_data(t))[i] = value;
  return t;
}

// Counts what goes wrong in threads: cmocka's assertions are for the main thread only.
static atomic_int wrong;

static void expect_ok(rheos_status *status) {
  if (!status) return;
  print_error("%s\n", rheos_status_message(status));
  rheos_status_free(status);
  atomic_fetch_add(&wrong, 1);
}

static void start_and_join(void *(*body)(void *), void *arguments, size_t size_bytes, int count) {
  pthread_t threads[NUM_THREADS];
  for (int i = 0; i < count; i++) {
    assert_int_equal(
        pthread_create(&threads[i], NULL, body, (char *)arguments + (size_t)i * size_bytes), 0);
  }
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
  assert_int_equal(atomic_load(&wrong), 0);
}

typedef struct shared {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_session *session;
  rheos_callable *callable;
  rheos_output x, y;
  rheos_operation step, init;
  int number;
} shared;

static void set_up(shared *t, int num_threads) {
  memset(t, 0, sizeof *t);
  t->graph = rheos_graph_new();
  t->s = rheos_scope_new(t->graph);
  t->x = placeholder(t->s);
  t->y = op_2(t->s, "Mul", op_2(t->s, "Add", t->x, t->x), t->x);
  assert_null(rheos_scope_finish(t->s));
  rheos_session_options options = {.num_threads = num_threads, .max_cached_plans = 4};
  assert_null(rheos_session_new(t->graph, &options, &t->session));
}

static void tear_down(shared *t) {
  rheos_callable_free(t->callable);
  rheos_session_free(t->session);
  rheos_scope_free(t->s);
  rheos_graph_unref(t->graph);
}

// 2 x^2 for sizes that differ between threads and runs, some large enough to be split.
static void *run_many(void *argument) {
  shared *t = argument;
  for (int i = 0; i < RUNS; i++) {
    int64_t count = i % 50 == 49 ? 40000 : 1 + (t->number + i) % 5;
    float value = (float)(t->number + 1);
    rheos_tensor *x = filled(count, value), *y = NULL;
    rheos_feed feed = {t->x, x};
    rheos_fetch fetch = {t->y, NULL};
    if (i % 2 && t->callable) {
      expect_ok(rheos_callable_run(t->callable, &x, &y, NULL));
    } else {
      expect_ok(rheos_session_run(t->session, &feed, 1, &fetch, 1, NULL, 0, NULL));
      y = fetch.value;
    }
    if (y && (rheos_tensor_num_elements(y) != count ||
              ((float *)rheos_tensor_data(y))[count - 1] != 2 * value * value)) {
      atomic_fetch_add(&wrong, 1);
    }
    rheos_tensor_unref(x);
    rheos_tensor_unref(y);
  }
  return NULL;
}

static void run_in_threads(int num_threads) {
  shared t, each[NUM_THREADS];
  set_up(&t, num_threads);
  assert_null(rheos_callable_new(t.session, &t.x, 1, &t.y, 1, NULL, 0, &t.callable));
  for (int i = 0; i < NUM_THREADS; i++) {
    each[i] = t;
    each[i].number = i;
  }
  start_and_join(run_many, each, sizeof *each, NUM_THREADS);
  tear_down(&t);
}

static void test_threads__run_one_session(void **state) {
  (void)state;
  run_in_threads(1);
}
static void test_threads__run_one_session_with_a_pool(void **state) {
  (void)state;
  run_in_threads(3);
}

// Thread 0 adds nodes and runs the newest, the others run the old ones.
static void *grow_or_run(void *argument) {
  shared *t = argument;
  if (t->number > 0) return run_many(t);
  rheos_output y = t->y;
  for (int i = 0; i < RUNS; i++) {
    y = op_2(t->s, "Add", y, t->x);
    rheos_tensor *x = filled(1, 1);
    rheos_feed feed = {t->x, x};
    rheos_fetch fetch = {y, NULL};
    expect_ok(rheos_scope_finish(t->s));
    expect_ok(rheos_session_run(t->session, &feed, 1, &fetch, 1, NULL, 0, NULL));
    if (fetch.value && *(float *)rheos_tensor_data(fetch.value) != 3 + (float)i) {
      atomic_fetch_add(&wrong, 1);
    }
    rheos_tensor_unref(fetch.value);
    rheos_tensor_unref(x);
  }
  return NULL;
}

static void test_threads__run_while_the_graph_grows(void **state) {
  (void)state;
  shared t, each[NUM_THREADS];
  set_up(&t, 2);
  for (int i = 0; i < NUM_THREADS; i++) {
    each[i] = t;
    each[i].number = i;
  }
  start_and_join(grow_or_run, each, sizeof *each, NUM_THREADS);
  tear_down(&t);
}

static void *count_up(void *argument) {
  shared *t = argument;
  for (int i = 0; i < RUNS; i++) {
    expect_ok(rheos_session_run(t->session, NULL, 0, NULL, 0, &t->step, 1, NULL));
    rheos_fetch fetch = {t->y, NULL};
    expect_ok(rheos_session_run(t->session, NULL, 0, &fetch, 1, NULL, 0, NULL));
    const float *value = fetch.value ? rheos_tensor_data(fetch.value) : NULL;
    // Reads do not tear: all elements were written by the same step.
    if (!value || value[0] != value[99]) atomic_fetch_add(&wrong, 1);
    rheos_tensor_unref(fetch.value);
  }
  return NULL;
}

static void test_threads__share_a_variable(void **state) {
  (void)state;
  shared t, each[NUM_THREADS];
  set_up(&t, 2);
  rheos_variable v =
      rheos_get_variable_record(t.s, "v", RHEOS_FLOAT, RHEOS_SHAPE(100), rheos_zeros(), false);
  rheos_tensor *ones = filled(100, 1);
  rheos_output add = op_2(t.s, "AssignAdd", v.handle, rheos_constant(t.s, ones, NULL));
  rheos_tensor_unref(ones);
  t.y = v.value;
  t.step = rheos_output_operation(add);
  assert_null(rheos_scope_finish(t.s));
  assert_null(rheos_session_run(t.session, NULL, 0, NULL, 0, &v.initializer, 1, NULL));
  for (int i = 0; i < NUM_THREADS; i++) each[i] = t;
  start_and_join(count_up, each, sizeof *each, NUM_THREADS);
  rheos_fetch fetch = {v.value, NULL};
  assert_null(rheos_session_run(t.session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  assert_true(((float *)rheos_tensor_data(fetch.value))[0] == NUM_THREADS * RUNS);
  rheos_tensor_unref(fetch.value);
  tear_down(&t);
}

static void *own_graph(void *argument) {
  shared t;
  set_up(&t, 1 + ((shared *)argument)->number % 2);
  t.number = ((shared *)argument)->number;
  run_many(&t);
  tear_down(&t);
  return NULL;
}

static void test_threads__each_with_a_graph_of_its_own(void **state) {
  (void)state;
  shared each[NUM_THREADS];
  memset(each, 0, sizeof each);
  for (int i = 0; i < NUM_THREADS; i++) each[i].number = i;
  start_and_join(own_graph, each, sizeof *each, NUM_THREADS);
}

// Runs that end when the session is closed under them: success or a clean failure.
static void *run_until_closed(void *argument) {
  shared *t = argument;
  for (int i = 0; i < 100000; i++) {
    rheos_tensor *x = filled(2, 1);
    rheos_feed feed = {t->x, x};
    rheos_fetch fetch = {t->y, NULL};
    rheos_status *status = rheos_session_run(t->session, &feed, 1, &fetch, 1, NULL, 0, NULL);
    rheos_code code = rheos_status_code(status);
    rheos_status_free(status);
    rheos_tensor_unref(fetch.value);
    rheos_tensor_unref(x);
    if (code == RHEOS_FAILED_PRECONDITION) return NULL;
    if (code != RHEOS_OK && code != RHEOS_CANCELLED) atomic_fetch_add(&wrong, 1);
  }
  return NULL;
}

static void test_threads__close_under_running_steps(void **state) {
  (void)state;
  shared t;
  set_up(&t, 2);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, run_until_closed, &t), 0);
  }
  for (int i = 0; i < 50; i++) {
    rheos_tensor *x = filled(2, 1);
    rheos_feed feed = {t.x, x};
    assert_null(rheos_session_run(t.session, &feed, 1, NULL, 0,
                                  (rheos_operation[]){rheos_output_operation(t.y)}, 1, NULL));
    rheos_tensor_unref(x);
  }
  rheos_session_close(t.session);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  assert_int_equal(atomic_load(&wrong), 0);
  tear_down(&t);
}

// ---- Depth

enum { DEPTH = 50000 };

static void *deep(void *argument) {
  (void)argument;
  shared t;
  set_up(&t, 1);
  rheos_output y = t.x;
  for (int i = 0; i < DEPTH; i++) y = op_2(t.s, "Add", y, i % 2 ? t.x : y);
  rheos_output z = rheos_constant_float(t.s, 1, NULL);
  for (int i = 0; i < DEPTH; i++) z = op_2(t.s, "Mul", z, z);  // folded, all of it
  rheos_gradient gradient = {0};
  rheos_output short_chain = t.x;
  for (int i = 0; i < DEPTH / 10; i++) short_chain = op_2(t.s, "Add", short_chain, t.x);
  rheos_gradients(t.s, &short_chain, 1, &t.x, 1, NULL, &gradient);
  expect_ok(rheos_scope_finish(t.s));
  rheos_tensor *x = filled(1, 1);
  rheos_feed feed = {t.x, x};
  rheos_fetch fetches[] = {{y, NULL}, {z, NULL}, {gradient.values, NULL}};
  expect_ok(rheos_session_run(t.session, &feed, 1, fetches, 3, NULL, 0, NULL));
  if (fetches[2].value && *(float *)rheos_tensor_data(fetches[2].value) != 1 + DEPTH / 10) {
    atomic_fetch_add(&wrong, 1);
  }
  for (int i = 0; i < 3; i++) rheos_tensor_unref(fetches[i].value);
  rheos_tensor_unref(x);
  tear_down(&t);
  return NULL;
}

static void test_threads__deep_graphs_on_a_small_stack(void **state) {
  (void)state;
  pthread_attr_t attributes;
  pthread_t thread;
  assert_int_equal(pthread_attr_init(&attributes), 0);
  assert_int_equal(pthread_attr_setstacksize(&attributes, 256 * 1024), 0);
  assert_int_equal(pthread_create(&thread, &attributes, deep, NULL), 0);
  pthread_attr_destroy(&attributes);
  pthread_join(thread, NULL);
  assert_int_equal(atomic_load(&wrong), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_threads__run_one_session),
      cmocka_unit_test(test_threads__run_one_session_with_a_pool),
      cmocka_unit_test(test_threads__run_while_the_graph_grows),
      cmocka_unit_test(test_threads__share_a_variable),
      cmocka_unit_test(test_threads__each_with_a_graph_of_its_own),
      cmocka_unit_test(test_threads__close_under_running_steps),
      cmocka_unit_test(test_threads__deep_graphs_on_a_small_stack),
  };
  return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
