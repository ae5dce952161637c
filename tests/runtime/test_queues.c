// Ops that wait: steps go on without them, and what ends the waiting. Orders and errors of all
// queues are compared with TensorFlow's in tests/python/ops/test_golden_queues.py.
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "ops/queue_fixture.h"
#include "runtime/step/step.h"

enum { MS = 1000000 };

typedef struct queue_graph {
  rheos_output handle, fed, element;
  rheos_operation enqueue, close, cancel;
} queue_graph;

static rheos_operation on(fixture *f, const char *type, rheos_output handle) {
  return add(f, type, &handle, 1, NULL, 0);
}

static rheos_output queue(fixture *f, const char *type, int64_t capacity, const char *name) {
  return scalar_queue(f, type, RHEOS_INT32, capacity, name);
}

static rheos_operation dequeue_op(fixture *f, const char *type, const rheos_output *inputs,
                                  int32_t num_inputs) {
  return dequeue_op_of(f, type, RHEOS_INT32, inputs, num_inputs);
}

static queue_graph queue_graph_new(fixture *f, int64_t capacity, const char *name) {
  queue_graph q = {.handle = queue(f, "FIFOQueueV2", capacity, name)};
  q.fed = rheos_placeholder(f->scope, RHEOS_INT32);
  q.enqueue = add(f, "QueueEnqueueV2", (const rheos_output[]){q.handle, q.fed}, 2, NULL, 0);
  q.element = rheos_operation_output(dequeue_op(f, "QueueDequeueV2", &q.handle, 1), 0);
  const rheos_attr cancels = rheos_attr_bool("cancel_pending_enqueues", true);
  q.close = on(f, "QueueCloseV2", q.handle);
  q.cancel = add(f, "QueueCloseV2", &q.handle, 1, &cancels, 1);
  check(rheos_scope_finish(f->scope));
  return q;
}

static rheos_status *put(fixture *f, const queue_graph *q, int32_t value,
                         const rheos_run_options *options) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &value, &tensor));
  const rheos_feed feed = {q->fed, tensor};
  rheos_status *status = rheos_session_run(f->session, &feed, 1, NULL, 0, &q->enqueue, 1, options);
  rheos_tensor_unref(tensor);
  return status;
}

static rheos_status *get(fixture *f, rheos_output element, int32_t *out_value,
                         const rheos_run_options *options) {
  rheos_fetch fetch = {element, NULL};
  rheos_status *status = rheos_session_run(f->session, NULL, 0, &fetch, 1, NULL, 0, options);
  if (status == NULL) {
    *out_value = *(const int32_t *)rheos_tensor_data(fetch.value);
    rheos_tensor_unref(fetch.value);
  }
  return status;
}

static rheos_status *run_op(fixture *f, rheos_operation operation) {
  return rheos_session_run(f->session, NULL, 0, NULL, 0, &operation, 1, NULL);
}

static void nap(int64_t ns) {
  const struct timespec time = {ns / 1000000000, ns % 1000000000};
  nanosleep(&time, NULL);
}

static void test_queues__step_goes_on_without_what_waits(void **state) {
  fixture *f = *state;
  const queue_graph q = queue_graph_new(f, 10, "a");
  const int32_t value = 7;
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &value, &tensor));
  const rheos_feed feed = {q.fed, tensor};
  for (int i = 0; i < 3; i++) {
    rheos_fetch fetch = {q.element, NULL};
    check(rheos_session_run(f->session, &feed, 1, &fetch, 1, &q.enqueue, 1, NULL));
    assert_int_equal(*(const int32_t *)rheos_tensor_data(fetch.value), 7);
    rheos_tensor_unref(fetch.value);
  }
  rheos_tensor_unref(tensor);
}

// ---- In functions

// A function that takes an element of `from`, puts it into `to` if that is a queue, and gives it.
static rheos_function *make_taker(fixture *f, const char *name, rheos_output from,
                                  rheos_output to) {
  rheos_function *fn = rheos_function_begin(f->scope, name, NULL);
  fixture inside = {.graph = f->graph, .scope = rheos_function_scope(fn)};
  const rheos_output handle = rheos_function_capture(fn, from);
  rheos_output element =
      rheos_operation_output(dequeue_op(&inside, "QueueDequeueV2", &handle, 1), 0);
  if (to.graph != NULL) {
    const rheos_output inputs[] = {rheos_function_capture(fn, to), element};
    const rheos_operation put = add(&inside, "QueueEnqueueV2", inputs, 2, NULL, 0);
    rheos_push_control_dependencies(inside.scope, &put, 1);
    element = rheos_operation_output(add(&inside, "Identity", &element, 1, NULL, 0), 0);
    rheos_scope_pop(inside.scope);
  }
  rheos_function_result(fn, NULL, element);
  assert_true(rheos_function_finish(fn, f->scope));
  return fn;
}

static rheos_function *make_putter(fixture *f, const char *name, rheos_output to, int32_t value) {
  rheos_function *fn = rheos_function_begin(f->scope, name, NULL);
  fixture inside = {.graph = f->graph, .scope = rheos_function_scope(fn)};
  const rheos_output constant = rheos_constant_int(inside.scope, value, NULL);
  const rheos_output inputs[] = {rheos_function_capture(fn, to), constant};
  const rheos_operation put = add(&inside, "QueueEnqueueV2", inputs, 2, NULL, 0);
  rheos_push_control_dependencies(inside.scope, &put, 1);
  const rheos_operation given = add(&inside, "Identity", &constant, 1, NULL, 0);
  rheos_scope_pop(inside.scope);
  rheos_function_result(fn, NULL, rheos_operation_output(given, 0));
  assert_true(rheos_function_finish(fn, f->scope));
  return fn;
}

static rheos_output called(fixture *f, rheos_function *fn) {
  const rheos_operation call = rheos_function_call(f->scope, fn, NULL, 0, NULL);
  rheos_function_free(fn);
  return rheos_operation_output(call, 0);
}

// One step of all, each of which gives `value`.
static void expect_all(fixture *f, const rheos_output *outputs, size_t count, int32_t value) {
  rheos_fetch fetches[3];
  for (size_t i = 0; i < count; i++) fetches[i] = (rheos_fetch){outputs[i], NULL};
  const rheos_run_options options = {.timeout_ms = 20000};
  check(rheos_session_run(f->session, NULL, 0, fetches, count, NULL, 0, &options));
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(*(const int32_t *)rheos_tensor_data(fetches[i].value), value);
    rheos_tensor_unref(fetches[i].value);
  }
}

static void test_queues__a_body_that_waits_lets_its_caller_go_on(void **state) {
  fixture *f = *state;
  const queue_graph q = queue_graph_new(f, 10, "a");
  const rheos_output taken = called(f, make_taker(f, "take", q.handle, (rheos_output){0}));
  check(rheos_scope_finish(f->scope));
  const int32_t value = 7;
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &value, &tensor));
  const rheos_feed feed = {q.fed, tensor};
  rheos_fetch fetch = {taken, NULL};
  const rheos_run_options options = {.timeout_ms = 20000};
  check(rheos_session_run(f->session, &feed, 1, &fetch, 1, &q.enqueue, 1, &options));
  assert_int_equal(*(const int32_t *)rheos_tensor_data(fetch.value), 7);
  rheos_tensor_unref(fetch.value);
  rheos_tensor_unref(tensor);
}

// Whichever comes first in the plan.
static void test_queues__bodies_of_one_step_wait_for_each_other(void **state) {
  fixture *f = *state;
  const queue_graph q = queue_graph_new(f, 10, "a"), r = queue_graph_new(f, 10, "b");
  const rheos_output none = {0};
  const rheos_output take = called(f, make_taker(f, "take", q.handle, none));
  const rheos_output put = called(f, make_putter(f, "put", q.handle, 5));
  const rheos_output chain = called(f, make_taker(f, "chain", r.handle, q.handle));
  const rheos_output start = called(f, make_putter(f, "start", r.handle, 9));
  check(rheos_scope_finish(f->scope));
  const rheos_output orders[][3] = {{take, put}, {put, take}};
  for (int i = 0; i < 4; i++) expect_all(f, orders[i % 2], 2, 5);
  // take waits for chain, which waits for start
  const rheos_output chains[][3] = {
      {take, chain, start}, {start, take, chain}, {chain, start, take}};
  for (int i = 0; i < 3; i++) expect_all(f, chains[i], 3, 9);
}

static void test_queues__a_failure_beside_a_body_that_waits_ends_the_step(void **state) {
  fixture *f = *state;
  const queue_graph q = queue_graph_new(f, 10, "a"), r = queue_graph_new(f, 10, "b");
  const rheos_output none = {0};
  const rheos_output take = called(f, make_taker(f, "take", q.handle, none));
  const rheos_output fails = called(f, make_taker(f, "fails", r.handle, none));
  check(rheos_scope_finish(f->scope));
  check(run_op(f, r.close));
  rheos_fetch fetches[] = {{take, NULL}, {fails, NULL}};
  const rheos_run_options options = {.timeout_ms = 20000};
  rheos_status *status = rheos_session_run(f->session, NULL, 0, fetches, 2, NULL, 0, &options);
  assert_int_equal(rheos_status_code(status), RHEOS_OUT_OF_RANGE);
  assert_non_null(strstr(rheos_status_message(status), "in function fails"));
  assert_null(strstr(rheos_status_message(status), "in function take"));
  rheos_status_free(status);
}

// What is taken from one queue goes into the next, all in one step, made in the order of need.
static void test_queues__chain_in_one_step(void **state) {
  fixture *f = *state;
  enum { LENGTH = 5 };
  rheos_output handles[LENGTH], last = {NULL, 0, 0};
  rheos_operation puts[LENGTH];
  for (int i = 0; i < LENGTH; i++) {
    handles[i] = queue(f, i % 2 == 0 ? "FIFOQueue" : "FIFOQueueV2", 1, "");
  }
  for (int i = LENGTH - 1; i >= 0; i--) {
    const char *take = i % 2 == 0 ? "QueueDequeue" : "QueueDequeueV2";
    const rheos_output element = rheos_operation_output(dequeue_op(f, take, &handles[i], 1), 0);
    if (i == LENGTH - 1) {
      last = element;
    } else {
      const char *type = (i + 1) % 2 == 0 ? "QueueEnqueue" : "QueueEnqueueV2";
      puts[i + 1] = add(f, type, (const rheos_output[]){handles[i + 1], element}, 2, NULL, 0);
    }
  }
  const int32_t value = 42;
  const rheos_output start = ints(f, RHEOS_SCALAR, &value);
  puts[0] = add(f, "QueueEnqueue", (const rheos_output[]){handles[0], start}, 2, NULL, 0);
  check(rheos_scope_finish(f->scope));
  rheos_fetch fetch = {last, NULL};
  check(rheos_session_run(f->session, NULL, 0, &fetch, 1, puts, LENGTH, NULL));
  assert_int_equal(*(const int32_t *)rheos_tensor_data(fetch.value), 42);
  rheos_tensor_unref(fetch.value);
}

// ---- Threads

typedef struct worker {
  fixture *f;
  const queue_graph *q;
  rheos_cancellation *cancellation;
  int64_t timeout_ms;
  int32_t value;
  rheos_status *status;
  pthread_t thread;
} worker;

static void *take_one(void *argument) {
  worker *w = argument;
  const rheos_run_options options = {.cancellation = w->cancellation, .timeout_ms = w->timeout_ms};
  w->status = get(w->f, w->q->element, &w->value, &options);
  return NULL;
}

static void *put_one(void *argument) {
  worker *w = argument;
  const rheos_run_options options = {.cancellation = w->cancellation, .timeout_ms = w->timeout_ms};
  w->status = put(w->f, w->q, w->value, &options);
  return NULL;
}

static void begin(worker *w, void *(*body)(void *)) {
  assert_int_equal(pthread_create(&w->thread, NULL, body, w), 0);
  nap(30 * MS);
}

// How long the worker took to end, and no more than what a test may wait.
static void end(worker *w) { pthread_join(w->thread, NULL); }

static void test_queues__another_step_brings_the_element(void **state) {
  fixture *f = *state;
  const queue_graph q = queue_graph_new(f, 10, "a");
  worker w = {.f = f, .q = &q};
  begin(&w, take_one);
  check(put(f, &q, 5, NULL));
  end(&w);
  check(w.status);
  assert_int_equal(w.value, 5);
}

static void test_queues__waiting_takes_no_processor(void **state) {
  fixture *f = *state;
  const queue_graph q = queue_graph_new(f, 10, "a");
  worker w = {.f = f, .q = &q, .timeout_ms = 400};
  struct timespec before, after;
  begin(&w, take_one);
  nap(100 * MS);  // threads that have just been started look around for work
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
  end(&w);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
  const int64_t used =
      (after.tv_sec - before.tv_sec) * 1000000000 + (after.tv_nsec - before.tv_nsec);
  expect_error(w.status, RHEOS_DEADLINE_EXCEEDED, "an element of queue 'a'");
  assert_true(used < 100 * MS);
}

static void test_queues__deadline_names_the_node(void **state) {
  fixture *f = *state;
  const queue_graph q = queue_graph_new(f, 1, "a");
  const rheos_run_options options = {.timeout_ms = 50};
  int32_t value;
  expect_error(get(f, q.element, &value, &options), RHEOS_DEADLINE_EXCEEDED, "QueueDequeueV2");
  check(put(f, &q, 1, NULL));
  expect_error(put(f, &q, 2, &options), RHEOS_DEADLINE_EXCEEDED, "room of queue 'a'");
  check(get(f, q.element, &value, &options));
  assert_int_equal(value, 1);  // what timed out put nothing in
  expect_error(get(f, q.element, &value, &options), RHEOS_DEADLINE_EXCEEDED, "Timed out");
}

static void test_queues__cancellation_ends_waiting(void **state) {
  fixture *f = *state;
  const queue_graph q = queue_graph_new(f, 1, "a");
  worker w = {.f = f, .q = &q, .cancellation = rheos_cancellation_new()};
  begin(&w, take_one);
  rheos_cancel(w.cancellation);
  end(&w);
  expect_error(w.status, RHEOS_CANCELLED, "QueueDequeueV2");
  rheos_cancellation_free(w.cancellation);
}

static void test_queues__closing_the_session_ends_waiting(void **state) {
  fixture *f = *state;
  const queue_graph q = queue_graph_new(f, 1, "a");
  worker w = {.f = f, .q = &q};
  begin(&w, take_one);
  rheos_session_close(f->session);
  end(&w);
  expect_error(w.status, RHEOS_CANCELLED, "Session was closed");
}

static void test_queues__a_session_tells_what_waits(void **state) {
  fixture *f = *state;
  const queue_graph q = queue_graph_new(f, 1, "a");
  worker w = {.f = f, .q = &q};
  char *text = NULL;
  check(rheos_session_waiting(f->session, &text));
  assert_string_equal(text, "");
  rheos_free(text);
  begin(&w, take_one);
  for (bool told = false; !told;) {
    check(rheos_session_waiting(f->session, &text));
    told = strstr(text, " s for an element of queue 'a'\n") != NULL;
    rheos_free(text);
  }
  check(put(f, &q, 1, NULL));
  end(&w);
  check(w.status);
  check(rheos_session_waiting(f->session, &text));
  assert_string_equal(text, "");
  rheos_free(text);
}

static void test_queues__closing_the_queue_ends_waiting(void **state) {
  fixture *f = *state;
  const queue_graph q = queue_graph_new(f, 1, "a");
  worker taker = {.f = f, .q = &q};
  begin(&taker, take_one);
  check(run_op(f, q.close));
  end(&taker);
  expect_error(taker.status, RHEOS_OUT_OF_RANGE,
               "FIFOQueue 'a' is closed and has insufficient elements (requested 1, current size "
               "0)");
  expect_error(put(f, &q, 1, NULL), RHEOS_CANCELLED, "FIFOQueue 'a' is closed.");
  expect_error(run_op(f, q.close), RHEOS_CANCELLED, "already closed");
  check(run_op(f, q.cancel));
}

static void test_queues__close_waits_for_what_stands_in_line(void **state) {
  fixture *f = *state;
  const queue_graph q = queue_graph_new(f, 1, "a");
  check(put(f, &q, 1, NULL));
  worker putter = {.f = f, .q = &q, .value = 2};
  begin(&putter, put_one);
  const rheos_run_options options = {.timeout_ms = 50};
  expect_error(rheos_session_run(f->session, NULL, 0, NULL, 0, &q.close, 1, &options),
               RHEOS_DEADLINE_EXCEEDED, "QueueClose");
  int32_t value;
  check(get(f, q.element, &value, NULL));
  end(&putter);
  check(putter.status);
  worker other = {.f = f, .q = &q, .value = 3};
  begin(&other, put_one);
  check(run_op(f, q.cancel));
  end(&other);
  expect_error(other.status, RHEOS_CANCELLED, "Enqueue operation was cancelled");
  check(get(f, q.element, &value, NULL));
  assert_int_equal(value, 2);
}

// More than the queue has room for at once; and what is taken by one that gives up goes back in its
// place.
static void test_queues__many_at_once(void **state) {
  fixture *f = *state;
  const queue_graph q = queue_graph_new(f, 3, "a");
  const int32_t eight = 8, numbers[] = {0, 1, 2, 3, 4, 5, 6, 7};
  const rheos_output rows = ints(f, RHEOS_SHAPE(8), numbers), n = ints(f, RHEOS_SCALAR, &eight);
  const rheos_operation puts =
      add(f, "QueueEnqueueManyV2", (const rheos_output[]){q.handle, rows}, 2, NULL, 0);
  const rheos_output takes = rheos_operation_output(
      dequeue_op(f, "QueueDequeueManyV2", (const rheos_output[]){q.handle, n}, 2), 0);
  check(rheos_scope_finish(f->scope));
  rheos_fetch fetch = {takes, NULL};
  check(rheos_session_run(f->session, NULL, 0, &fetch, 1, &puts, 1, NULL));
  assert_memory_equal(rheos_tensor_data(fetch.value), numbers, sizeof numbers);
  rheos_tensor_unref(fetch.value);

  check(put(f, &q, 10, NULL));
  check(put(f, &q, 11, NULL));
  const rheos_run_options options = {.timeout_ms = 40};
  fetch.value = NULL;
  expect_error(rheos_session_run(f->session, NULL, 0, &fetch, 1, NULL, 0, &options),
               RHEOS_DEADLINE_EXCEEDED, "Timed out");
  int32_t value;
  check(get(f, q.element, &value, NULL));
  assert_int_equal(value, 10);
  check(get(f, q.element, &value, NULL));
  assert_int_equal(value, 11);
}

// ---- Many threads

enum { NUM_WORKERS = 8, NUM_EACH = 200 };

typedef struct crowd {
  fixture *f;
  const queue_graph *q;
  _Atomic int64_t put_sum, got_sum, num_put, num_got;
  _Atomic int next_value, num_cancelled;
} crowd;

static void *put_many(void *argument) {
  crowd *c = argument;
  for (int i = 0; i < NUM_EACH; i++) {
    const int value = atomic_fetch_add(&c->next_value, 1);
    const rheos_run_options options = {.timeout_ms = i % 5 == 0 ? 1 : 20000};
    rheos_status *status = put(c->f, c->q, value, &options);
    if (status == NULL) {
      atomic_fetch_add(&c->put_sum, value);
      atomic_fetch_add(&c->num_put, 1);
      continue;
    }
    const rheos_code code = rheos_status_code(status);
    rheos_status_free(status);
    if (code == RHEOS_CANCELLED) break;  // closed
    assert_int_equal(code, RHEOS_DEADLINE_EXCEEDED);
  }
  return NULL;
}

static void *take_many(void *argument) {
  crowd *c = argument;
  for (int i = 0;; i++) {
    int32_t value = 0;
    const rheos_run_options options = {.timeout_ms = i % 7 == 0 ? 1 : 20000};
    rheos_status *status = get(c->f, c->q->element, &value, &options);
    if (status == NULL) {
      atomic_fetch_add(&c->got_sum, value);
      atomic_fetch_add(&c->num_got, 1);
      continue;
    }
    const rheos_code code = rheos_status_code(status);
    rheos_status_free(status);
    if (code == RHEOS_OUT_OF_RANGE) return NULL;
    assert_int_equal(code, RHEOS_DEADLINE_EXCEEDED);
  }
}

// Steps time out in between, and in every other round the queue is closed under the hands of those
// that put.
static void test_queues__nothing_is_lost_or_doubled(void **state) {
  fixture *f = *state;
  for (int round = 0; round < 6; round++) {
    char name[16];
    snprintf(name, sizeof name, "round_%d", round);
    const queue_graph q = queue_graph_new(f, 3, name);
    crowd c = {.f = f, .q = &q};
    pthread_t putters[NUM_WORKERS], takers[NUM_WORKERS];
    for (int i = 0; i < NUM_WORKERS; i++) {
      assert_int_equal(pthread_create(&putters[i], NULL, put_many, &c), 0);
      assert_int_equal(pthread_create(&takers[i], NULL, take_many, &c), 0);
    }
    if (round % 2 == 1) {
      nap(10 * MS);
      check(run_op(f, q.cancel));
    }
    for (int i = 0; i < NUM_WORKERS; i++) pthread_join(putters[i], NULL);
    if (round % 2 == 0) check(run_op(f, q.close));
    for (int i = 0; i < NUM_WORKERS; i++) pthread_join(takers[i], NULL);
    assert_int_equal(atomic_load(&c.num_got), atomic_load(&c.num_put));
    assert_int_equal(atomic_load(&c.got_sum), atomic_load(&c.put_sum));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
      TEST(test_queues__step_goes_on_without_what_waits),
      TEST(test_queues__a_body_that_waits_lets_its_caller_go_on),
      TEST(test_queues__bodies_of_one_step_wait_for_each_other),
      TEST(test_queues__a_failure_beside_a_body_that_waits_ends_the_step),
      TEST(test_queues__chain_in_one_step),
      TEST(test_queues__another_step_brings_the_element),
      TEST(test_queues__waiting_takes_no_processor),
      TEST(test_queues__deadline_names_the_node),
      TEST(test_queues__cancellation_ends_waiting),
      TEST(test_queues__closing_the_session_ends_waiting),
      TEST(test_queues__a_session_tells_what_waits),
      TEST(test_queues__closing_the_queue_ends_waiting),
      TEST(test_queues__close_waits_for_what_stands_in_line),
      TEST(test_queues__many_at_once),
      TEST(test_queues__nothing_is_lost_or_doubled),
#undef TEST
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
