// Datasets in C: sources, what is made of them, going over them, running ahead, ending in the
// middle.
#include <pthread.h>
#include <rheos/rheos.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "graph/graph_fixture.h"

#include "base/alloc.h"

static const rheos_dtype INT64 = RHEOS_INT64;

static void sleep_ms(int ms) {
  nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

// ---- Functions of the program

typedef struct program {
  _Atomic int calls, running, most_running;
  int sleep_ms;
} program;

// "count": the number itself, out of range from 8 on; "slow": the number squared, after a while;
// "fail": an error for 3.
static rheos_status *call_program(void *argument, const char *token, rheos_tensor *const *inputs,
                                  size_t num_inputs, rheos_tensor **outputs, size_t num_outputs) {
  program *p = argument;
  assert_int_equal(num_inputs, 1);
  assert_int_equal(num_outputs, 1);
  const int64_t value = *(const int64_t *)rheos_tensor_data(inputs[0]);
  const int running = atomic_fetch_add(&p->running, 1) + 1;
  if (running > atomic_load(&p->most_running)) atomic_store(&p->most_running, running);
  atomic_fetch_add(&p->calls, 1);
  if (p->sleep_ms > 0) sleep_ms(p->sleep_ms);
  atomic_fetch_sub(&p->running, 1);
  if (strcmp(token, "count") == 0 && value >= 8) {
    return rheos_status_new(RHEOS_OUT_OF_RANGE, "no more");
  }
  if (strcmp(token, "fail") == 0 && value == 3) {
    return rheos_status_new(RHEOS_DATA_LOSS, "three is lost");
  }
  rheos_status *status = rheos_tensor_new(RHEOS_INT64, RHEOS_SCALAR, &outputs[0]);
  if (status != NULL) return status;
  *(int64_t *)rheos_tensor_data(outputs[0]) = strcmp(token, "slow") == 0 ? value * value : value;
  return NULL;
}

// ---- A pipeline under test

typedef struct pipeline {
  graph_fixture f;
  program program;
  rheos_session *session;
  rheos_dataset_iterator *iterator;
} pipeline;

static void pipeline_init(pipeline *p) { *p = (pipeline){.f = fixture_new()}; }

static void begin(pipeline *p, rheos_output dataset, int32_t num_threads) {
  assert_scope_ok(p->f.scope);
  const rheos_session_options options = {.num_threads = num_threads,
                                         .program_function = call_program,
                                         .program_argument = &p->program};
  assert_ok(rheos_session_new(p->f.graph, &options, &p->session));
  assert_ok(rheos_dataset_iterator_new(p->session, dataset, &p->iterator));
}

static void pipeline_free(pipeline *p) {
  rheos_dataset_iterator_free(p->iterator);
  rheos_session_free(p->session);
  fixture_free(&p->f);
}

// The next element, of one component, an int64; -1 at the end.
static int64_t next_int(pipeline *p) {
  rheos_tensor *element = NULL;
  bool end;
  assert_ok(rheos_dataset_iterator_next(p->iterator, &element, &end, NULL));
  if (end) return -1;
  const int64_t value = *(const int64_t *)rheos_tensor_data(element);
  rheos_tensor_unref(element);
  return value;
}

static rheos_output by_program(pipeline *p, rheos_output dataset, const char *token,
                               int64_t num_parallel) {
  return rheos_dataset_map_program(p->f.scope, dataset, token, &INT64, &RHEOS_SCALAR, 1,
                                   num_parallel);
}

// x + 1
static rheos_function *make_increment(rheos_scope *scope) {
  rheos_function *f = rheos_function_begin(scope, "increment", NULL);
  rheos_scope *inside = rheos_function_scope(f);
  rheos_output x = rheos_function_argument(f, "x", RHEOS_INT64, RHEOS_SCALAR);
  rheos_tensor *one;
  assert_ok(rheos_tensor_new(RHEOS_INT64, RHEOS_SCALAR, &one));
  *(int64_t *)rheos_tensor_data(one) = 1;
  const rheos_output both[] = {x, rheos_constant(inside, one, NULL)};
  rheos_tensor_unref(one);
  rheos_function_result(f, NULL, output_of_op(add_op(inside, "AddV2", NULL, both, 2)));
  assert_true(rheos_function_finish(f, scope));
  return f;
}

// ---- Elements

static void test_dataset__gives_what_it_is_made_of(void **state) {
  (void)state;
  pipeline p;
  pipeline_init(&p);
  rheos_scope *s = p.f.scope;
  rheos_function *increment = make_increment(s);
  rheos_output d = rheos_dataset_range(s, 0, 10, 1);
  d = rheos_dataset_map(s, d, increment, 1);
  d = rheos_dataset_skip(s, rheos_dataset_take(s, d, 9), 1);
  d = rheos_dataset_batch(s, rheos_dataset_cache(s, d), 3, false);
  d = rheos_dataset_repeat(s, d, 2);
  assert_int_equal(rheos_dataset_num_components(d), 1);
  assert_int_equal(rheos_dataset_dtype(d, 0), RHEOS_INT64);
  begin(&p, d, 1);
  rheos_function_free(increment);
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (int64_t first = 2; first < 10; first += 3) {
      rheos_tensor *batch;
      bool end;
      assert_ok(rheos_dataset_iterator_next(p.iterator, &batch, &end, NULL));
      assert_false(end);
      const rheos_shape shape = *rheos_tensor_shape(batch);
      assert_int_equal(shape.dims[0], first == 8 ? 2 : 3);
      for (int64_t i = 0; i < shape.dims[0]; ++i) {
        assert_int_equal(((const int64_t *)rheos_tensor_data(batch))[i], first + i);
      }
      rheos_tensor_unref(batch);
    }
  }
  assert_int_equal(next_int(&p), -1);
  assert_int_equal(next_int(&p), -1);
  pipeline_free(&p);
}

// ---- Watches

typedef struct sum_told {
  int64_t sum;
  int count;
  rheos_code fails;
} sum_told;

static rheos_status *add_told(void *argument, const rheos_seen *seen) {
  sum_told *t = argument;
  assert_string_equal(seen->place, "increment;0");
  assert_string_equal(seen->name, "AddV2:0");
  t->sum += *(const int64_t *)rheos_tensor_data(seen->value);
  t->count++;
  return t->fails != RHEOS_OK ? rheos_status_new(t->fails, "seen enough") : NULL;
}

static rheos_watch *watch_sums(const pipeline *p, sum_told *t) {
  rheos_watch *watch = NULL;
  const rheos_watch_options options = {.names = "AddV2", .seen = add_told, .argument = t};
  assert_ok(rheos_session_watch(p->session, &options, &watch));
  return watch;
}

// The session was not watched when the dataset was made.
static void test_dataset__tells_watches_what_functions_compute(void **state) {
  (void)state;
  for (int32_t num_threads = 1; num_threads <= 8; num_threads += 7) {
    pipeline p;
    sum_told t = {.count = 0}, late = {.count = 0};
    pipeline_init(&p);
    rheos_function *increment = make_increment(p.f.scope);
    rheos_output d = rheos_dataset_range(p.f.scope, 0, 10, 1);
    d = rheos_dataset_map(p.f.scope, d, increment, num_threads == 1 ? 1 : 4);
    rheos_function_free(increment);
    begin(&p, d, num_threads);
    for (int64_t i = 1; i < 3; ++i) assert_int_equal(next_int(&p), i);
    rheos_watch *watch = watch_sums(&p, &t);
    for (int64_t i = 3; i < 7; ++i) assert_int_equal(next_int(&p), i);
    rheos_watch_free(watch);
    assert_true(num_threads > 1 || (t.sum == 3 + 4 + 5 + 6 && t.count == 4));
    assert_true(t.count <= 8);
    const int count = t.count;
    assert_int_equal(next_int(&p), 7);
    assert_int_equal(t.count, count);
    watch = watch_sums(&p, &late);
    for (int64_t i = 8; i < 11; ++i) assert_int_equal(next_int(&p), i);
    assert_int_equal(next_int(&p), -1);
    assert_true(num_threads > 1 || late.sum == 8 + 9 + 10);
    pipeline_free(&p);
    rheos_watch_free(watch);
  }
}

static void test_dataset__fails_as_its_watch_says(void **state) {
  (void)state;
  pipeline p;
  sum_told t = {.fails = RHEOS_ABORTED};
  pipeline_init(&p);
  rheos_function *increment = make_increment(p.f.scope);
  rheos_output d = rheos_dataset_range(p.f.scope, 0, 3, 1);
  begin(&p, rheos_dataset_map(p.f.scope, d, increment, 1), 1);
  rheos_function_free(increment);
  rheos_watch *watch = watch_sums(&p, &t);
  rheos_tensor *element;
  bool end;
  expect_status_take(rheos_dataset_iterator_next(p.iterator, &element, &end, NULL), RHEOS_ABORTED,
                     "seen enough");
  rheos_watch_free(watch);
  assert_int_equal(next_int(&p), 2);
  pipeline_free(&p);
}

static void test_dataset__of_the_program_ends_where_it_says(void **state) {
  (void)state;
  for (int64_t parallel = 1; parallel <= 4; parallel += 3) {
    pipeline p;
    pipeline_init(&p);
    rheos_output d = rheos_dataset_program(p.f.scope, "count", &INT64, &RHEOS_SCALAR, 1);
    begin(&p, by_program(&p, d, "slow", parallel), 3);
    for (int64_t i = 0; i < 8; ++i) assert_int_equal(next_int(&p), i * i);
    assert_int_equal(next_int(&p), -1);
    pipeline_free(&p);
  }
}

static void test_dataset__goes_on_behind_an_element_that_failed(void **state) {
  (void)state;
  for (int64_t parallel = 1; parallel <= 4; parallel += 3) {
    pipeline p;
    pipeline_init(&p);
    rheos_output d = by_program(&p, rheos_dataset_range(p.f.scope, 0, 6, 1), "fail", parallel);
    begin(&p, rheos_dataset_prefetch(p.f.scope, d, 2), 4);
    for (int64_t i = 0; i < 6; ++i) {
      if (i != 3) {
        assert_int_equal(next_int(&p), i);
        continue;
      }
      rheos_tensor *element;
      bool end;
      expect_status_take(rheos_dataset_iterator_next(p.iterator, &element, &end, NULL),
                         RHEOS_DATA_LOSS, "three is lost");
      assert_null(element);
    }
    assert_int_equal(next_int(&p), -1);
    pipeline_free(&p);
  }
}

static void test_dataset__keeps_its_order_on_any_number_of_threads(void **state) {
  (void)state;
  for (int32_t threads = 1; threads <= 8; threads *= 2) {
    pipeline p;
    pipeline_init(&p);
    rheos_scope *s = p.f.scope;
    rheos_function *increment = make_increment(s);
    rheos_output d = rheos_dataset_range(s, 0, 3000, 1);
    d = rheos_dataset_map(s, d, increment, 8);
    d = rheos_dataset_map(s, d, increment, RHEOS_DATASET_AUTOTUNE);
    d = rheos_dataset_prefetch(s, d, RHEOS_DATASET_AUTOTUNE);
    begin(&p, d, threads);
    rheos_function_free(increment);
    for (int64_t i = 0; i < 3000; ++i) assert_int_equal(next_int(&p), i + 2);
    assert_int_equal(next_int(&p), -1);
    pipeline_free(&p);
  }
}

// ---- Running ahead

static void test_prefetch__works_while_the_caller_does(void **state) {
  (void)state;
  enum { ELEMENTS = 10 };
  pipeline p;
  pipeline_init(&p);
  p.program.sleep_ms = 2;
  rheos_output d = by_program(&p, rheos_dataset_range(p.f.scope, 0, ELEMENTS, 1), "slow", 1);
  begin(&p, rheos_dataset_prefetch(p.f.scope, d, 2), 2);
  for (int64_t i = 0; i < ELEMENTS; ++i) {
    assert_int_equal(next_int(&p), i * i);
    // The next one is made although nobody asks for it.
    const int wanted = (int)(i + 2 < ELEMENTS ? i + 2 : ELEMENTS);
    for (int ms = 0; ms < 30000 && atomic_load(&p.program.calls) < wanted; ++ms) sleep_ms(1);
    assert_true(atomic_load(&p.program.calls) >= wanted);
  }
  pipeline_free(&p);
}

static void test_prefetch__makes_no_more_than_its_buffer(void **state) {
  (void)state;
  pipeline p;
  pipeline_init(&p);
  p.program.sleep_ms = 1;
  rheos_output d = by_program(&p, rheos_dataset_range(p.f.scope, 0, 1000, 1), "slow", 1);
  begin(&p, rheos_dataset_prefetch(p.f.scope, d, 3), 2);
  assert_int_equal(next_int(&p), 0);
  sleep_ms(100);
  assert_in_range(atomic_load(&p.program.calls), 1, 4);
  pipeline_free(&p);
}

static void test_dataset__calls_with_effects_come_one_at_a_time(void **state) {
  (void)state;
  pipeline p;
  pipeline_init(&p);
  p.program.sleep_ms = 1;
  begin(&p, by_program(&p, rheos_dataset_range(p.f.scope, 0, 40, 1), "slow", 4), 4);
  for (int64_t i = 0; i < 40; ++i) assert_int_equal(next_int(&p), i * i);
  assert_int_equal(atomic_load(&p.program.most_running), 1);
  pipeline_free(&p);
}

// ---- Ending in the middle

static void test_dataset__may_be_left_while_it_runs_ahead(void **state) {
  (void)state;
  for (int round = 0; round < 20; ++round) {
    pipeline p;
    pipeline_init(&p);
    p.program.sleep_ms = round % 3;
    rheos_output d = by_program(&p, rheos_dataset_range(p.f.scope, 0, 1000, 1), "slow", 4);
    begin(&p, rheos_dataset_prefetch(p.f.scope, d, 4), 4);
    for (int64_t i = 0; i < round % 5; ++i) assert_int_equal(next_int(&p), i * i);
    if (round % 2 == 0) rheos_session_close(p.session);
    pipeline_free(&p);
  }
}

static void test_dataset__deadline_ends_the_wait_and_loses_nothing_ahead(void **state) {
  (void)state;
  pipeline p;
  pipeline_init(&p);
  p.program.sleep_ms = 300;
  rheos_output d = by_program(&p, rheos_dataset_range(p.f.scope, 0, 4, 1), "slow", 1);
  begin(&p, rheos_dataset_prefetch(p.f.scope, d, 2), 2);
  assert_int_equal(next_int(&p), 0);
  // Until the next one is under way.
  for (int ms = 0; ms < 30000 && atomic_load(&p.program.calls) < 2; ++ms) sleep_ms(1);
  rheos_tensor *element;
  bool end;
  const rheos_run_options options = {.timeout_ms = 5};
  expect_status_take(rheos_dataset_iterator_next(p.iterator, &element, &end, &options),
                     RHEOS_DEADLINE_EXCEEDED, "5 ms");
  for (int64_t i = 1; i < 4; ++i) assert_int_equal(next_int(&p), i * i);
  assert_int_equal(next_int(&p), -1);
  pipeline_free(&p);
}

static void test_dataset__closed_session_has_no_elements(void **state) {
  (void)state;
  pipeline p;
  pipeline_init(&p);
  begin(&p, rheos_dataset_range(p.f.scope, 0, 4, 1), 2);
  assert_int_equal(next_int(&p), 0);
  rheos_session_close(p.session);
  rheos_tensor *element;
  bool end;
  expect_status_take(rheos_dataset_iterator_next(p.iterator, &element, &end, NULL),
                     RHEOS_FAILED_PRECONDITION, "closed Session");
  pipeline_free(&p);
}

// ---- Which stage is slow

static void test_explain__names_what_binds(void **state) {
  (void)state;
  pipeline p;
  pipeline_init(&p);
  p.program.sleep_ms = 2;
  rheos_output d = by_program(&p, rheos_dataset_range(p.f.scope, 0, 40, 1), "slow", 1);
  begin(&p, rheos_dataset_batch(p.f.scope, d, 4, false), 2);
  char *text;
  assert_ok(rheos_dataset_explain(p.iterator, &text));
  assert_non_null(strstr(text, "Nothing was asked for yet."));
  rheos_free(text);
  while (next_int(&p) >= 0) continue;
  assert_ok(rheos_dataset_explain(p.iterator, &text));
  assert_non_null(strstr(text, "\nMap binds"));
  rheos_free(text);
  pipeline_free(&p);
}

static void test_explain__says_when_the_caller_binds(void **state) {
  (void)state;
  pipeline p;
  pipeline_init(&p);
  begin(&p, rheos_dataset_range(p.f.scope, 0, 5, 1), 2);
  while (next_int(&p) >= 0) sleep_ms(5);
  char *text;
  assert_ok(rheos_dataset_explain(p.iterator, &text));
  assert_non_null(strstr(text, "The caller binds"));
  rheos_free(text);
  pipeline_free(&p);
}

// ---- Traces

static void test_dataset__stages_are_in_the_trace_of_who_asks(void **state) {
  (void)state;
  pipeline p;
  pipeline_init(&p);
  rheos_output d = by_program(&p, rheos_dataset_range(p.f.scope, 0, 1000, 1), "slow", 1);
  begin(&p, rheos_dataset_batch(p.f.scope, d, 50, false), 1);
  rheos_trace *trace = rheos_trace_new(RHEOS_TRACE_STEPS);
  const rheos_run_options options = {.trace = trace};
  for (int i = 0; i < 2; ++i) {
    rheos_tensor *batch;
    bool end;
    rheos_trace_clear(trace);
    assert_ok(rheos_dataset_iterator_next(p.iterator, &batch, &end, &options));
    rheos_tensor_unref(batch);
    char *text;
    size_t size_bytes;
    assert_ok(rheos_trace_to_chrome(trace, &text, &size_bytes));
    static const char *const names[] = {"Iterator::Batch", "Iterator::Map", "Iterator::Range"};
    for (int k = 0; k < 3; ++k) {
      int count = 0;
      for (const char *at = text; (at = strstr(at, names[k])) != NULL; ++at) ++count;
      assert_int_equal(count, k == 0 ? 1 : 50);
    }
    rheos_free(text);
  }
  rheos_trace_free(trace);
  pipeline_free(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dataset__gives_what_it_is_made_of),
      cmocka_unit_test(test_dataset__of_the_program_ends_where_it_says),
      cmocka_unit_test(test_dataset__goes_on_behind_an_element_that_failed),
      cmocka_unit_test(test_dataset__keeps_its_order_on_any_number_of_threads),
      cmocka_unit_test(test_prefetch__works_while_the_caller_does),
      cmocka_unit_test(test_prefetch__makes_no_more_than_its_buffer),
      cmocka_unit_test(test_dataset__calls_with_effects_come_one_at_a_time),
      cmocka_unit_test(test_dataset__may_be_left_while_it_runs_ahead),
      cmocka_unit_test(test_dataset__deadline_ends_the_wait_and_loses_nothing_ahead),
      cmocka_unit_test(test_dataset__closed_session_has_no_elements),
      cmocka_unit_test(test_dataset__tells_watches_what_functions_compute),
      cmocka_unit_test(test_dataset__fails_as_its_watch_says),
      cmocka_unit_test(test_explain__names_what_binds),
      cmocka_unit_test(test_explain__says_when_the_caller_binds),
      cmocka_unit_test(test_dataset__stages_are_in_the_trace_of_who_asks),
  };
  return cmocka_run_group_tests_name("dataset", tests, NULL, NULL);
}
