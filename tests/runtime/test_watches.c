// Watches of a session, as programs use them.
#include <math.h>
#include <rheos/ops.h>
#include <rheos/watch.h>
#include <stdio.h>

#include "graph/counting_allocator.h"
#include "ops/array_fixture.h"

enum { MANY = 128 };

typedef struct told {
  char lines[MANY][192];
  int count;
  rheos_statistics last;
  rheos_watch *to_end;  // by the function itself
  rheos_code fails;
} told;

// "name@place#step value" or "name@place#step least..most, n NaN"
static rheos_status *note(void *argument, const rheos_seen *seen) {
  told *t = argument;
  char *line = t->lines[t->count];
  int size = snprintf(line, sizeof t->lines[0], "%s%s%s#%d ", seen->name,
                      seen->place[0] != '\0' ? "@" : "", seen->place, (int)seen->step);
  assert_true(t->count++ < MANY);
  if (seen->value != NULL && rheos_tensor_dtype(seen->value) == RHEOS_FLOAT) {
    snprintf(line + size, sizeof t->lines[0] - (size_t)size, "%g",
             (double)*(const float *)rheos_tensor_data(seen->value));
  }
  if (seen->statistics != NULL) {
    t->last = *seen->statistics;
    size += snprintf(line + size, sizeof t->lines[0] - (size_t)size, "%g..%g, %d NaN",
                     t->last.least, t->last.most, (int)t->last.num_nan);
  }
  for (size_t i = 0; i < seen->num_inputs; i++) {
    char name[64];
    const rheos_statistics *s = seen->inputs[i].statistics;
    rheos_operation_name((rheos_operation){seen->inputs[i].output.graph, seen->inputs[i].output.id},
                         name, sizeof name);
    size += snprintf(line + size, sizeof t->lines[0] - (size_t)size, "; %s", name);
    if (s != NULL) {
      size +=
          snprintf(line + size, sizeof t->lines[0] - (size_t)size, " %g..%g", s->least, s->most);
    }
  }
  if (t->to_end != NULL) rheos_watch_free(t->to_end);
  t->to_end = NULL;
  return t->fails != RHEOS_OK ? rheos_status_new(t->fails, "seen enough") : NULL;
}

static rheos_watch *watch(rheos_session *session, const char *names, rheos_watch_what what,
                          told *t) {
  const rheos_watch_options options = {.names = names, .what = what, .seen = note, .argument = t};
  rheos_watch *made = NULL;
  check(rheos_session_watch(session, &options, &made));
  return made;
}

static rheos_status *run_tensor(rheos_session *session, rheos_output x, rheos_tensor *value,
                                rheos_output y, float *out_value) {
  const rheos_feed feed = {x, value};
  rheos_fetch fetch = {.output = y};
  rheos_status *status = rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL);
  if (status == NULL) *out_value = *(const float *)rheos_tensor_data(fetch.value);
  rheos_tensor_unref(fetch.value);
  return status;
}

static rheos_status *run_fed(rheos_session *session, rheos_output x, float value, rheos_output y,
                             float *out_value) {
  rheos_tensor *fed;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &value, &fed));
  rheos_status *status = run_tensor(session, x, fed, y, out_value);
  rheos_tensor_unref(fed);
  return status;
}

static void run(rheos_session *session, rheos_output x, float value, rheos_output y, float wanted) {
  float found = 0;
  check(run_fed(session, x, value, y, &found));
  assert_float_equal(found, wanted, 1e-6);
}

static void expect_lines(told *t, const char *const *lines) {
  int count = 0;
  for (; lines[count] != NULL; count++) {
    assert_true(count < t->count);
    assert_string_equal(t->lines[count], lines[count]);
  }
  assert_int_equal(t->count, count);
  t->count = 0;
}
#define EXPECT_LINES(t, ...) expect_lines((t), (const char *const[]){__VA_ARGS__, NULL})

typedef struct straight {
  rheos_output x, y;
} straight;

// y = -(x * 2 + 1), in a scope.
static straight build(fixture *f) {
  rheos_scope *s = f->scope;
  const rheos_output x = rheos_placeholder(s, RHEOS_FLOAT, .name = "x");
  rheos_push_name_scope(s, "layer");
  const rheos_output product =
      rheos_mul(s, x, rheos_constant_float(s, 2, "two"), .name = "product");
  const rheos_output sum = rheos_add(s, product, rheos_constant_float(s, 1, "one"), .name = "sum");
  rheos_scope_pop(s);
  const rheos_output y = rheos_neg(s, sum, .name = "y");
  check(rheos_scope_finish(s));
  return (straight){x, y};
}

static void test_watches__tell_of_what_steps_compute(void **state) {
  fixture *f = *state;
  const straight g = build(f);
  told values = {.count = 0}, numbers = {.count = 0};
  rheos_watch *some = watch(f->session, "layer/p*,y", RHEOS_WATCH_VALUES, &values);
  run(f->session, g.x, 3, g.y, -7);
  EXPECT_LINES(&values, "layer/product:0#0 6", "y:0#0 -7");
  rheos_watch *all = watch(f->session, NULL, RHEOS_WATCH_STATISTICS, &numbers);
  run(f->session, g.x, 4, g.y, -9);
  EXPECT_LINES(&values, "layer/product:0#1 8", "y:0#1 -9");
  assert_true(numbers.count >= 3);
  rheos_watch_free(some);
  numbers.count = 0;
  run(f->session, g.x, 5, g.y, -11);
  assert_int_equal(values.count, 0);
  assert_true(numbers.count >= 3);
  rheos_watch_free(all);
  numbers.count = 0;
  run(f->session, g.x, 5, g.y, -11);
  assert_int_equal(numbers.count, 0);
}

static void test_watches__tell_of_callables_and_of_what_comes_later(void **state) {
  fixture *f = *state;
  const straight g = build(f);
  told t = {.count = 0};
  rheos_callable *callable;
  check(rheos_callable_new(f->session, &g.x, 1, &g.y, 1, NULL, 0, &callable));
  rheos_watch *all = watch(f->session, "y*", RHEOS_WATCH_VALUES, &t);
  rheos_tensor *value, *result = NULL;
  const float one = 1;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &one, &value));
  check(rheos_callable_run(callable, &value, &result, NULL));
  assert_float_equal(*(const float *)rheos_tensor_data(result), -3, 0);
  rheos_tensor_unref(result);
  EXPECT_LINES(&t, "y:0#0 -3");
  const rheos_output later = rheos_square(f->scope, g.y, .name = "y_later");
  check(rheos_scope_finish(f->scope));
  run(f->session, g.x, 1, later, 9);
  EXPECT_LINES(&t, "y:0#1 -3", "y_later:0#1 9");
  rheos_watch_free(all);
  check(rheos_callable_run(callable, &value, &result, NULL));
  rheos_tensor_unref(result);
  assert_int_equal(t.count, 0);
  rheos_tensor_unref(value);
  rheos_callable_free(callable);
}

static void test_watches__name_the_first_nan(void **state) {
  fixture *f = *state;
  rheos_scope *s = f->scope;
  const rheos_output x = rheos_placeholder(s, RHEOS_FLOAT, .name = "x");
  const rheos_output low = rheos_sub(s, x, rheos_constant_float(s, 5, "five"), .name = "low");
  const rheos_output root = rheos_sqrt(s, low, .name = "root");
  const rheos_output y = rheos_add(s, root, x, .name = "y");
  check(rheos_scope_finish(s));
  told t = {.count = 0};
  float found;
  rheos_watch *nan = watch(f->session, NULL, RHEOS_WATCH_FIRST_NAN, &t);
  run(f->session, x, 9, y, 11);
  assert_int_equal(t.count, 0);
  check(run_fed(f->session, x, 1, y, &found));
  assert_true(isnan(found));
  EXPECT_LINES(&t, "root:0#1 0..0, 1 NaN; low -4..-4");
  check(run_fed(f->session, x, NAN, y, &found));
  EXPECT_LINES(&t, "low:0#2 0..0, 1 NaN; x 0..0; five 5..5");
  rheos_watch_free(nan);
}

static void test_watches__end_in_their_function_and_after_their_session(void **state) {
  fixture *f = *state;
  const straight g = build(f);
  told t = {.count = 0};
  t.to_end = watch(f->session, "*", RHEOS_WATCH_VALUES, &t);
  run(f->session, g.x, 3, g.y, -7);
  assert_int_equal(t.count, 1);
  rheos_session *session = NULL;
  check(rheos_session_new(f->graph, NULL, &session));
  rheos_watch *last = watch(session, "*", RHEOS_WATCH_VALUES, &t);
  run(session, g.x, 3, g.y, -7);
  rheos_session_free(session);
  rheos_watch_free(last);
  rheos_watch_free(NULL);
}

static void test_watches__errors_are_the_operations(void **state) {
  fixture *f = *state;
  const straight g = build(f);
  told t = {.count = 0, .fails = RHEOS_ABORTED};
  rheos_watch *made = watch(f->session, "layer/sum", RHEOS_WATCH_VALUES, &t);
  float found;
  expect_error(run_fed(f->session, g.x, 3, g.y, &found), RHEOS_ABORTED, "seen enough");
  rheos_watch_free(made);
  run(f->session, g.x, 3, g.y, -7);
  rheos_watch_options options = {.names = "layer/smu", .seen = note, .argument = &t};
  expect_error(rheos_session_watch(f->session, &options, &made), RHEOS_NOT_FOUND,
               "no operation is called 'layer/smu'; near it are layer/sum");
  options.seen = NULL;
  expect_error(rheos_session_watch(f->session, &options, &made), RHEOS_INVALID_ARGUMENT,
               "needs a function");
}

// ---- Threads

typedef struct runner {
  rheos_session *session;
  straight g;
  pthread_t thread;
  atomic_bool *is_over;
  rheos_status *status;
} runner;

static void *run_on(void *argument) {
  runner *own = argument;
  float found;
  while (own->status == NULL && !atomic_load(own->is_over)) {
    own->status = run_fed(own->session, own->g.x, 3, own->g.y, &found);
  }
  return NULL;
}

static rheos_status *count(void *argument, const rheos_seen *seen) {
  (void)seen;
  ++*(int *)argument;  // one thread at a time
  return NULL;
}

// Watches come and go while other threads run steps.
static void test_watches__come_and_go_between_steps_of_other_threads(void **state) {
  fixture *f = *state;
  const straight g = build(f);
  runner runners[3];
  atomic_bool is_over = false;
  int num_told = 0;
  for (int i = 0; i < 3; i++) {
    runners[i] = (runner){.session = f->session, .g = g, .is_over = &is_over};
    assert_int_equal(pthread_create(&runners[i].thread, NULL, run_on, &runners[i]), 0);
  }
  for (int i = 0; i < 40; i++) {
    const rheos_watch_options options = {.names = i % 2 == 0 ? "*" : "layer/sum",
                                         .what = (rheos_watch_what)(i % 3),
                                         .seen = count,
                                         .argument = &num_told};
    rheos_watch *made;
    check(rheos_session_watch(f->session, &options, &made));
    run(f->session, g.x, 3, g.y, -7);
    rheos_watch_free(made);
  }
  assert_true(num_told > 0);
  atomic_store(&is_over, true);
  for (int i = 0; i < 3; i++) {
    pthread_join(runners[i].thread, NULL);
    check(runners[i].status);
  }
}

// ---- Statistics

static void test_watches__statistics_count_all_numbers(void **state) {
  (void)state;
  enum { COUNT = 10007 };
  rheos_tensor *tensor;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(COUNT), &tensor));
  float *data = rheos_tensor_data(tensor);
  double sum = 0, squares = 0;
  for (int i = 0; i < COUNT; i++) {
    data[i] = (float)(i % 21 - 10);
    sum += (double)data[i];
    squares += (double)data[i] * (double)data[i];
  }
  rheos_statistics s;
  check(rheos_tensor_statistics(tensor, &s));
  assert_int_equal(s.count, COUNT);
  assert_int_equal(s.num_negative + s.num_zero + s.num_positive, COUNT);
  assert_int_equal(s.num_zero, (COUNT - 11) / 21 + 1);
  assert_float_equal(s.least, -10, 0);
  assert_float_equal(s.most, 10, 0);
  assert_float_equal(s.mean, sum / COUNT, 1e-6);
  assert_float_equal(s.norm, sqrt(squares), 1e-3);
  data[5000] = NAN;
  data[5001] = INFINITY;
  data[3] = -INFINITY;
  check(rheos_tensor_statistics(tensor, &s));
  assert_int_equal(s.num_nan, 1);
  assert_int_equal(s.num_positive_infinite, 1);
  assert_int_equal(s.num_negative_infinite, 1);
  assert_int_equal(s.num_nan + s.num_negative + s.num_zero + s.num_positive, COUNT);
  assert_float_equal(s.most, 10, 0);
  data[0] = 3e38f;  // whose square is no float
  check(rheos_tensor_statistics(tensor, &s));
  assert_float_equal(s.most / 3e38, 1, 1e-6);
  assert_float_equal(s.norm / 3e38, 1, 1e-6);
  rheos_tensor_unref(tensor);
}

static void test_watches__histograms_count_the_finite_numbers(void **state) {
  (void)state;
  float values[] = {0, 1, 2, 32, 31.5f, NAN, INFINITY, -INFINITY};
  rheos_tensor *tensor;
  rheos_histogram h;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(8), values, &tensor));
  check(rheos_tensor_histogram(tensor, &h));
  assert_true(h.least == 0 && h.most == 32);
  assert_true(h.counts[0] == 1 && h.counts[1] == 1 && h.counts[2] == 1 && h.counts[31] == 2);
  rheos_tensor_unref(tensor);
  enum { MANY_NUMBERS = 1000 };
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(MANY_NUMBERS), &tensor));
  float *data = rheos_tensor_data(tensor);
  for (int i = 0; i < MANY_NUMBERS; i++) data[i] = (float)(i % 32) + (i % 32 == 31 ? 1.0f : 0.5f);
  data[0] = 0;
  check(rheos_tensor_histogram(tensor, &h));
  for (int k = 0; k < RHEOS_HISTOGRAM_BUCKETS; k++) {
    assert_int_equal(h.counts[k], MANY_NUMBERS / 32 + (k < MANY_NUMBERS % 32));
  }
  rheos_tensor_unref(tensor);
  const double far[] = {-1.7e308, 1.7e308, 0};
  check(rheos_tensor_from_values(RHEOS_DOUBLE, RHEOS_SHAPE(3), far, &tensor));
  check(rheos_tensor_histogram(tensor, &h));
  assert_true(h.counts[0] == 1 && h.counts[16] == 1 && h.counts[31] == 1);
  rheos_tensor_unref(tensor);
  const int32_t same[] = {7, 7, 7};
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(3), same, &tensor));
  check(rheos_tensor_histogram(tensor, &h));
  assert_true(h.counts[0] == 3 && h.least == 7 && h.most == 7);
  rheos_tensor_unref(tensor);
  check(rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(2), &tensor));
  expect_error(rheos_tensor_histogram(tensor, &h), RHEOS_INVALID_ARGUMENT, "has no numbers");
  rheos_tensor_unref(tensor);
}

static void test_watches__statistics_are_of_any_numbers(void **state) {
  (void)state;
  static const rheos_dtype dtypes[] = {RHEOS_DOUBLE, RHEOS_INT32,    RHEOS_UINT8,     RHEOS_INT64,
                                       RHEOS_BOOL,   RHEOS_BFLOAT16, RHEOS_COMPLEX64, RHEOS_HALF};
  rheos_statistics s;
  for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
    rheos_tensor *zeros;
    check(rheos_tensor_new(dtypes[i], RHEOS_SHAPE(3, 4), &zeros));
    memset(rheos_tensor_data(zeros), 0, rheos_tensor_size_bytes(zeros));
    check(rheos_tensor_statistics(zeros, &s));
    assert_int_equal(s.num_zero, s.count);
    assert_int_equal(s.count, dtypes[i] == RHEOS_COMPLEX64 ? 24 : 12);
    rheos_tensor_unref(zeros);
  }
  rheos_tensor *none, *text;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(0), &none));
  check(rheos_tensor_statistics(none, &s));
  assert_int_equal(s.count, 0);
  check(rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(2), &text));
  expect_error(rheos_tensor_statistics(text, &s), RHEOS_INVALID_ARGUMENT, "string has no numbers");
  rheos_tensor_unref(none);
  rheos_tensor_unref(text);
}

// ---- Memory

static void test_watches__every_allocation_may_fail(void **state) {
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  set_up(state);
  fixture *f = *state;
  const straight g = build(f);
  told t = {.count = 0};
  bool failed = true;
  for (int64_t nth = 1; failed; nth++) {
    const rheos_watch_options options = {
        .names = "layer/*,y", .what = RHEOS_WATCH_FIRST_NAN, .seen = note, .argument = &t};
    rheos_watch *made = NULL;
    rheos_session *session = NULL;
    rheos_tensor *fed;
    const float value = -1;
    float found;
    check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &value, &fed));
    check(rheos_session_new(f->graph, NULL, &session));
    counter.fail_at = counter.requests + nth;
    rheos_status *status = rheos_session_watch(session, &options, &made);
    if (status == NULL) status = run_tensor(session, g.x, fed, g.y, &found);
    counter.fail_at = 0;
    failed = status != NULL;
    if (failed) assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
    rheos_status_free(status);
    run(session, g.x, 3, g.y, -7);
    rheos_session_free(session);
    rheos_watch_free(made);
    rheos_tensor_unref(fed);
  }
  tear_down(state);
  rheos_set_allocator(NULL);
  assert_int_equal(counter.alive, 0);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_watches__tell_of_what_steps_compute),
      TEST(test_watches__tell_of_callables_and_of_what_comes_later),
      TEST(test_watches__name_the_first_nan),
      TEST(test_watches__end_in_their_function_and_after_their_session),
      TEST(test_watches__errors_are_the_operations),
      TEST(test_watches__come_and_go_between_steps_of_other_threads),
      cmocka_unit_test(test_watches__statistics_count_all_numbers),
      cmocka_unit_test(test_watches__statistics_are_of_any_numbers),
      cmocka_unit_test(test_watches__histograms_count_the_finite_numbers),
      cmocka_unit_test(test_watches__every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
