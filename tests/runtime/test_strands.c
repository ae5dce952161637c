// Bodies of one step that need each other more than once: each waits until the other has gone on.
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "ops/queue_fixture.h"
#include "runtime/step/step.h"

static rheos_output queue(fixture *f, const char *name) {
  return scalar_queue(f, "FIFOQueueV2", RHEOS_INT32, 1, name);
}

static rheos_output take(fixture *f, rheos_output from) { return dequeued(f, RHEOS_INT32, from); }

// `value`, given when it has been put.
static rheos_output put(fixture *f, rheos_output to, rheos_output value) {
  const rheos_output inputs[] = {to, value};
  const rheos_operation op = add(f, "QueueEnqueueV2", inputs, 2, NULL, 0);
  rheos_push_control_dependencies(f->scope, &op, 1);
  const rheos_output given = rheos_identity(f->scope, value);
  rheos_scope_pop(f->scope);
  return given;
}

static rheos_output plus_one(fixture *f, rheos_output value) {
  return rheos_add(f->scope, value, rheos_constant_int(f->scope, 1, NULL));
}

// One side of a game: a loop of `trips` in which what comes goes back with one more.
typedef struct player {
  rheos_graph *graph;
  rheos_output from, to;
  int32_t trips;
  bool serves;  // puts before it takes
  bool fails;   // in its third trip
} player;

static rheos_output goes_on(rheos_scope *scope, void *argument, const rheos_output *variables,
                            size_t count) {
  (void)count;
  return rheos_less(scope, variables[0],
                    rheos_constant_int(scope, ((const player *)argument)->trips, NULL));
}

static rheos_output fail_in_third(fixture *f, rheos_output trip) {
  const rheos_output third = rheos_constant_int(f->scope, 2, NULL);
  const rheos_output left = rheos_sub(f->scope, third, trip);
  return rheos_floordiv(f->scope, rheos_constant_int(f->scope, 2, NULL), left);
}

static void play(rheos_scope *scope, void *argument, const rheos_output *variables,
                 rheos_output *next, size_t count) {
  const player *p = argument;
  fixture f = {.graph = p->graph, .scope = scope};
  (void)count;
  rheos_output trip = variables[0];
  if (p->fails) {
    const rheos_operation op = rheos_output_operation(fail_in_third(&f, trip));
    rheos_push_control_dependencies(scope, &op, 1);
    trip = rheos_identity(scope, trip);
    rheos_scope_pop(scope);
  }
  next[1] = p->serves ? plus_one(&f, variables[1]) : variables[1];
  if (p->serves) {
    const rheos_operation after = rheos_output_operation(put(&f, p->to, next[1]));
    rheos_push_control_dependencies(scope, &after, 1);
    next[1] = take(&f, p->from);
    rheos_scope_pop(scope);
  } else {
    next[1] = put(&f, p->to, plus_one(&f, take(&f, p->from)));
  }
  next[0] = plus_one(&f, trip);
}

// What a player holds in the end, played in a function of its own.
static rheos_output call_player(fixture *f, const char *name, player p) {
  rheos_function *fn = rheos_function_begin(f->scope, name, NULL);
  fixture inside = {.graph = f->graph, .scope = rheos_function_scope(fn)};
  p.graph = f->graph;
  p.from = rheos_function_capture(fn, p.from);
  p.to = rheos_function_capture(fn, p.to);
  const rheos_output start[] = {rheos_constant_int(inside.scope, 0, NULL),
                                rheos_constant_int(inside.scope, 0, NULL)};
  rheos_output end[2];
  const rheos_shape shapes[] = {{.rank = 0}, RHEOS_UNKNOWN_SHAPE};
  const rheos_while_options options = {.shapes = shapes};
  rheos_while_loop(inside.scope, goes_on, play, &p, start, 2, &options, end);
  rheos_function_result(fn, NULL, end[1]);
  check(rheos_scope_finish(inside.scope));
  assert_true(rheos_function_finish(fn, f->scope));
  const rheos_operation call = rheos_function_call(f->scope, fn, NULL, 0, NULL);
  rheos_function_free(fn);
  return rheos_operation_output(call, 0);
}

typedef struct game {
  rheos_output there, back, ends[2];
} game;

static game new_game(fixture *f, int32_t trips, bool fails) {
  game g = {.there = queue(f, "there"), .back = queue(f, "back")};
  const player first = {.from = g.back, .to = g.there, .trips = trips, .serves = true};
  const player second = {.from = g.there, .to = g.back, .trips = trips, .fails = fails};
  g.ends[0] = call_player(f, "first", first);
  g.ends[1] = call_player(f, "second", second);
  check(rheos_scope_finish(f->scope));
  return g;
}

static rheos_status *run_both(fixture *f, const game *g, bool swapped, int32_t *out_values,
                              const rheos_run_options *options) {
  rheos_fetch fetches[] = {{g->ends[swapped], NULL}, {g->ends[!swapped], NULL}};
  rheos_status *status = rheos_session_run(f->session, NULL, 0, fetches, 2, NULL, 0, options);
  for (int i = 0; status == NULL && i < 2; i++) {
    out_values[i] = *(const int32_t *)rheos_tensor_data(fetches[i].value);
    rheos_tensor_unref(fetches[i].value);
  }
  return status;
}

static void test_strands__loops_play_with_each_other(void **state) {
  fixture *f = *state;
  const game g = new_game(f, 500, false);
  const rheos_run_options options = {.timeout_ms = 60000};
  for (int i = 0; i < 3; i++) {
    int32_t values[2];
    check(run_both(f, &g, i % 2 == 1, values, &options));
    assert_int_equal(values[0], 1000);
    assert_int_equal(values[1], 1000);
  }
}

static void test_strands__a_failure_ends_the_other(void **state) {
  fixture *f = *state;
  const game g = new_game(f, 500, true);
  const rheos_run_options options = {.timeout_ms = 60000};
  for (int i = 0; i < 2; i++) {
    int32_t values[2];
    rheos_status *status = run_both(f, &g, i == 1, values, &options);
    assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
    assert_non_null(strstr(rheos_status_message(status), "in function second"));
    rheos_status_free(status);
  }
}

// The second player goes first in nothing, and the first one is not there.
static void test_strands__a_deadline_ends_all(void **state) {
  fixture *f = *state;
  const rheos_output a = queue(f, "a"), b = queue(f, "b");
  const player waits = {.from = a, .to = b, .trips = 5}, too = {.from = b, .to = a, .trips = 5};
  const game g = {.ends = {call_player(f, "waits", waits), call_player(f, "too", too)}};
  check(rheos_scope_finish(f->scope));
  const rheos_run_options options = {.timeout_ms = 50};
  int32_t values[2];
  for (int i = 0; i < 2; i++) {
    rheos_status *status = run_both(f, &g, false, values, &options);
    assert_int_equal(rheos_status_code(status), RHEOS_DEADLINE_EXCEEDED);
    rheos_status_free(status);
  }
}

typedef struct asked {
  pthread_t thread;
  int32_t left;  // until the answer is yes
  bool by_another;
} asked;

static bool ask(void *argument) {
  asked *a = argument;
  a->by_another = a->by_another || !pthread_equal(pthread_self(), a->thread);
  return --a->left <= 0;
}

// A loop that ends only when it is stopped, beside one that waits.
static void test_strands__only_the_callers_thread_is_asked(void **state) {
  fixture *f = *state;
  const rheos_output a = queue(f, "a"), b = queue(f, "b");
  const player plays = {.from = a, .to = b, .trips = INT32_MAX, .serves = true};
  const player too = {.from = b, .to = a, .trips = INT32_MAX};
  const game g = {.ends = {call_player(f, "plays", plays), call_player(f, "too", too)}};
  check(rheos_scope_finish(f->scope));
  asked a_while = {.thread = pthread_self(), .left = 4};
  const rheos_run_options options = {
      .timeout_ms = 60000, .should_stop = ask, .should_stop_argument = &a_while};
  int32_t values[2];
  rheos_status *status = run_both(f, &g, false, values, &options);
  assert_int_equal(rheos_status_code(status), RHEOS_CANCELLED);
  assert_false(a_while.by_another);
  rheos_status_free(status);
}

static void *cancel_later(void *cancellation) {
  const struct timespec time = {0, 20000000};
  nanosleep(&time, NULL);
  rheos_cancel(cancellation);
  return NULL;
}

static void test_strands__cancelling_ends_all(void **state) {
  fixture *f = *state;
  const game g = new_game(f, INT32_MAX, false);
  rheos_cancellation *cancellation = rheos_cancellation_new();
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, cancel_later, cancellation), 0);
  const rheos_run_options options = {.timeout_ms = 60000, .cancellation = cancellation};
  int32_t values[2];
  rheos_status *status = run_both(f, &g, false, values, &options);
  assert_int_equal(rheos_status_code(status), RHEOS_CANCELLED);
  rheos_status_free(status);
  pthread_join(thread, NULL);
  rheos_cancellation_free(cancellation);
}

static void test_strands__are_traced(void **state) {
  fixture *f = *state;
  const game g = new_game(f, 20, false);
  rheos_trace *trace = rheos_trace_new(0);
  const rheos_run_options options = {.timeout_ms = 60000, .trace = trace};
  int32_t values[2];
  check(run_both(f, &g, false, values, &options));
  assert_int_equal(values[0], 40);
  rheos_trace_free(trace);
}

// Each hands to the next what it took from the one before, many times around; begun in any order.
static void test_strands__many_in_a_ring(void **state) {
  fixture *f = *state;
  enum { COUNT = 40, TRIPS = 20 };
  rheos_output queues[COUNT];
  rheos_fetch fetches[COUNT];
  for (int i = 0; i < COUNT; i++) {
    char name[20];
    snprintf(name, sizeof name, "q%d", i);
    queues[i] = queue(f, name);
  }
  for (int i = 0; i < COUNT; i++) {
    char name[20];
    snprintf(name, sizeof name, "player%d", i);
    const player p = {
        .from = queues[i], .to = queues[(i + 1) % COUNT], .trips = TRIPS, .serves = i == COUNT / 2};
    fetches[i * 7 % COUNT] = (rheos_fetch){call_player(f, name, p), NULL};
  }
  check(rheos_scope_finish(f->scope));
  const rheos_run_options options = {.timeout_ms = 60000};
  check(rheos_session_run(f->session, NULL, 0, fetches, COUNT, NULL, 0, &options));
  for (int i = 0; i < COUNT; i++) {
    const int32_t value = *(const int32_t *)rheos_tensor_data(fetches[i].value);
    assert_int_equal(value / COUNT, TRIPS - (value % COUNT != 0));
    rheos_tensor_unref(fetches[i].value);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
      TEST(test_strands__loops_play_with_each_other),
      TEST(test_strands__a_failure_ends_the_other),
      TEST(test_strands__a_deadline_ends_all),
      TEST(test_strands__only_the_callers_thread_is_asked),
      TEST(test_strands__cancelling_ends_all),
      TEST(test_strands__are_traced),
      TEST(test_strands__many_in_a_ring),
#undef TEST
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
