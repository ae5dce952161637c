// Watches of what runs at once: operations, functions that they call, gradients.
#include <math.h>
#include <pthread.h>
#include <rheos/function.h>
#include <rheos/watch.h>
#include <stdio.h>

#include "graph/counting_allocator.h"
#include "ops/array_fixture.h"

enum { MANY = 64 };

typedef struct told {
  char lines[MANY][128];
  int count;
  rheos_watch *to_end;
  rheos_eager *runs;  // an operation, in the function
  rheos_code fails;
} told;

static rheos_tensor *scalar(float value) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &value, &tensor));
  return tensor;
}

static rheos_status *execute(rheos_eager *eager, const char *type, rheos_tensor *a, rheos_tensor *b,
                             rheos_tensor **out_result) {
  rheos_tensor *inputs[] = {a, b};
  const rheos_eager_op op = {.type = type, .inputs = inputs, .num_inputs = b != NULL ? 2 : 1};
  return rheos_eager_execute(eager, &op, out_result, 1);
}

static float run(rheos_eager *eager, const char *type, float a, float b) {
  rheos_tensor *x = scalar(a), *y = scalar(b), *result = NULL;
  check(execute(eager, type, x, y, &result));
  const float value = *(const float *)rheos_tensor_data(result);
  rheos_tensor_unref(x);
  rheos_tensor_unref(y);
  rheos_tensor_unref(result);
  return value;
}

// "name@place value", and what a NaN's operation took.
static rheos_status *note(void *argument, const rheos_seen *seen) {
  told *t = argument;
  assert_true(t->count < MANY);
  char *line = t->lines[t->count++];
  int size = snprintf(line, sizeof t->lines[0], "%s%s%s", seen->name,
                      seen->place[0] != '\0' ? "@" : "", seen->place);
  if (seen->value != NULL && rheos_tensor_dtype(seen->value) == RHEOS_FLOAT) {
    snprintf(line + size, sizeof t->lines[0] - (size_t)size, " %g",
             (double)*(const float *)rheos_tensor_data(seen->value));
  }
  for (size_t i = 0; i < seen->num_inputs; i++) {
    const rheos_statistics *s = seen->inputs[i].statistics;
    size += snprintf(line + size, sizeof t->lines[0] - (size_t)size, "; %g", s ? s->least : -1);
  }
  if (t->runs != NULL) assert_true(run(t->runs, "Mul", 2, 3) == 6);
  if (t->to_end != NULL) rheos_watch_free(t->to_end);
  t->to_end = NULL;
  return t->fails != RHEOS_OK ? rheos_status_new(t->fails, "seen enough") : NULL;
}

static rheos_watch *watch(rheos_eager *eager, const char *names, rheos_watch_what what, told *t) {
  const rheos_watch_options options = {.names = names, .what = what, .seen = note, .argument = t};
  rheos_watch *made = NULL;
  check(rheos_eager_watch(eager, &options, &made));
  return made;
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
static const char *const nothing[] = {NULL};

static rheos_eager *make_eager(int32_t num_threads) {
  rheos_eager *eager = NULL;
  check(rheos_eager_new(&(rheos_eager_options){.num_threads = num_threads}, &eager));
  return eager;
}

static void test_eager_watches__tell_of_operations(void **state) {
  (void)state;
  rheos_eager *eager = make_eager(1);
  told all = {.count = 0}, some = {.count = 0};
  assert_true(run(eager, "AddV2", 1, 2) == 3);
  rheos_watch *first = watch(eager, NULL, RHEOS_WATCH_VALUES, &all);
  rheos_watch *second = watch(eager, "Mul,S*", RHEOS_WATCH_VALUES, &some);
  assert_true(run(eager, "AddV2", 1, 2) == 3);
  assert_true(run(eager, "Sub", 1, 2) == -1);
  EXPECT_LINES(&all, "AddV2:0 3", "Sub:0 -1");
  EXPECT_LINES(&some, "Sub:0 -1");
  rheos_watch_free(first);
  run(eager, "AddV2", 1, 2);
  run(eager, "Sub", 5, 2);
  expect_lines(&all, nothing);
  EXPECT_LINES(&some, "Sub:0 3");
  rheos_watch_free(second);
  run(eager, "Sub", 5, 2);
  expect_lines(&some, nothing);
  rheos_eager_free(eager);
}

static void test_eager_watches__name_where_a_nan_is_made(void **state) {
  (void)state;
  rheos_eager *eager = make_eager(1);
  told t = {.count = 0};
  rheos_watch *nan = watch(eager, NULL, RHEOS_WATCH_FIRST_NAN, &t);
  run(eager, "Mul", INFINITY, 2);
  expect_lines(&t, nothing);
  assert_true(isnan(run(eager, "Mul", INFINITY, 0)));
  EXPECT_LINES(&t, "Mul:0; 0; 0");  // of the finite ones
  run(eager, "AddV2", NAN, 1);
  expect_lines(&t, nothing);  // it was told of where it was made
  run(eager, "Sub", INFINITY, INFINITY);
  EXPECT_LINES(&t, "Sub:0; 0; 0");
  rheos_watch_free(nan);
  nan = watch(eager, NULL, RHEOS_WATCH_FIRST_NAN, &t);
  run(eager, "AddV2", NAN, 1);
  EXPECT_LINES(&t, "AddV2:0; 0; 1");  // nobody has made it
  rheos_watch_free(nan);
  rheos_eager_free(eager);
}

static void test_eager_watches__outlive_and_end_in_their_function(void **state) {
  (void)state;
  rheos_eager *eager = make_eager(1);
  told t = {.count = 0}, late = {.count = 0};
  t.to_end = watch(eager, "*", RHEOS_WATCH_VALUES, &t);
  run(eager, "AddV2", 1, 2);
  run(eager, "AddV2", 1, 2);
  EXPECT_LINES(&t, "AddV2:0 3");
  rheos_watch *last = watch(eager, "*", RHEOS_WATCH_VALUES, &late);
  late.runs = eager;  // what it runs itself is not told of
  run(eager, "AddV2", 1, 2);
  EXPECT_LINES(&late, "AddV2:0 3");
  rheos_eager_free(eager);
  rheos_watch_free(last);
}

static void test_eager_watches__errors_are_the_operations(void **state) {
  (void)state;
  rheos_eager *eager = make_eager(1);
  told t = {.fails = RHEOS_ABORTED};
  rheos_watch *made = watch(eager, "AddV2", RHEOS_WATCH_VALUES, &t);
  rheos_tensor *x = scalar(1), *result = NULL;
  expect_error(execute(eager, "AddV2", x, x, &result), RHEOS_ABORTED, "seen enough");
  assert_null(result);
  rheos_watch_free(made);
  check(execute(eager, "AddV2", x, x, &result));
  rheos_tensor_unref(result);
  rheos_tensor_unref(x);
  rheos_watch_options options = {.names = "*", .argument = &t};
  expect_error(rheos_eager_watch(eager, &options, &made), RHEOS_INVALID_ARGUMENT,
               "needs a function");
  options.seen = note;
  options.what = (rheos_watch_what)7;
  expect_error(rheos_eager_watch(eager, &options, &made), RHEOS_INVALID_ARGUMENT, "no such thing");
  rheos_eager_free(eager);
}

static void test_eager_watches__tell_of_gradients(void **state) {
  (void)state;
  rheos_eager *eager = make_eager(1);
  told t = {.count = 0};
  rheos_tape *tape = NULL;
  rheos_tensor *x = scalar(3), *y = NULL;
  check(rheos_tape_new(eager, &tape));
  check(rheos_tape_watch(tape, x));
  rheos_watch *made = watch(eager, "Square,gradients/*", RHEOS_WATCH_VALUES, &t);
  check(rheos_tape_record(tape));
  check(execute(eager, "Square", x, NULL, &y));
  rheos_tape_stop(tape);
  rheos_tensor_gradient gradient;
  check(rheos_tape_gradient(tape, &y, 1, NULL, &x, 1, &gradient));
  assert_true(*(const float *)rheos_tensor_data(gradient.values) == 6);
  rheos_watch_free(made);
  assert_string_equal(t.lines[0], "Square:0 9");
  assert_true(t.count > 1);
  assert_string_equal(t.lines[t.count - 1], "gradients/Square_grad/Mul_1:0 6");
  rheos_tensor_unref(gradient.values);
  rheos_tensor_unref(x);
  rheos_tensor_unref(y);
  rheos_tape_free(tape);
  rheos_eager_free(eager);
}

// ---- Functions

// root(x) = sqrt(x - 5); outer(x) = root(x) * 2. What "outer" calls is "_outer_root".
static rheos_function *add_functions(rheos_scope *scope) {
  rheos_function *root = rheos_function_begin(scope, "_outer_root", NULL);
  rheos_scope *s = rheos_function_scope(root);
  rheos_output x = rheos_function_argument(root, "x", RHEOS_FLOAT, RHEOS_SCALAR);
  const rheos_output low = rheos_sub(s, x, rheos_constant_float(s, 5, "five"), .name = "low");
  rheos_function_result(root, "y", rheos_sqrt(s, low, .name = "root"));
  assert_true(rheos_function_finish(root, scope));
  rheos_function *outer = rheos_function_begin(scope, "__outer", NULL);
  s = rheos_function_scope(outer);
  x = rheos_function_argument(outer, "x", RHEOS_FLOAT, RHEOS_SCALAR);
  const rheos_output y = rheos_operation_output(rheos_function_call(s, root, &x, 1, "call"), 0);
  const rheos_output two = rheos_constant_float(s, 2, "two");
  rheos_function_result(outer, "y", rheos_mul(s, y, two, .name = "twice"));
  assert_true(rheos_function_finish(outer, scope));
  rheos_function_free(root);
  check(rheos_scope_finish(scope));
  return outer;
}

static rheos_status *call(rheos_eager *eager, const rheos_function *function, float value,
                          float *out_value) {
  const rheos_dtype dtype = RHEOS_FLOAT;
  const rheos_attr attrs[] = {rheos_attr_func("f", rheos_function_func(function)),
                              rheos_attr_types("Tout", &dtype, 1)};
  rheos_tensor *x = NULL, *y = NULL;
  rheos_status *made = rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &value, &x);
  if (made != NULL) return made;
  const rheos_eager_op op = {
      .type = "PartitionedCall", .inputs = &x, .num_inputs = 1, .attrs = attrs, .num_attrs = 2};
  rheos_status *status = rheos_eager_execute(eager, &op, &y, 1);
  if (status == NULL) *out_value = *(const float *)rheos_tensor_data(y);
  rheos_tensor_unref(x);
  rheos_tensor_unref(y);
  return status;
}

static void test_eager_watches__tell_of_what_functions_compute(void **state) {
  (void)state;
  for (int32_t num_threads = 1; num_threads <= 8; num_threads += 7) {
    rheos_eager *eager = make_eager(num_threads);
    rheos_scope *scope = rheos_scope_new(rheos_eager_graph(eager));
    rheos_function *f = add_functions(scope);
    told t = {.count = 0};
    float found;
    check(call(eager, f, 9, &found));
    rheos_watch *made = watch(eager, "low,root,twice,outer", RHEOS_WATCH_VALUES, &t);
    check(call(eager, f, 9, &found));
    assert_true(found == 4);
    EXPECT_LINES(&t, "low:0@outer;0;call;0 4", "root:0@outer;0;call;0 2", "twice:0@outer;0 4",
                 "outer:0 4");
    rheos_watch_free(made);
    check(call(eager, f, 14, &found));
    assert_true(found == 6);
    expect_lines(&t, nothing);
    made = watch(eager, NULL, RHEOS_WATCH_FIRST_NAN, &t);
    for (int i = 0; i < 2; i++) {
      check(call(eager, f, 1, &found));
      assert_true(isnan(found));
      EXPECT_LINES(&t, "root:0@outer;0;call;0; -4");  // each call is a step
    }
    rheos_watch_free(made);
    rheos_function_free(f);
    rheos_scope_free(scope);
    rheos_eager_free(eager);
  }
}

// ---- Threads

typedef struct runner {
  rheos_eager *eager;
  const rheos_function *function;
  pthread_t thread;
  atomic_bool *is_over;
  rheos_status *status;
} runner;

static void *run_on(void *argument) {
  runner *own = argument;
  float found = 0;
  while (own->status == NULL && !atomic_load(own->is_over)) {
    own->status = call(own->eager, own->function, 9, &found);
    assert_true(found == 4 && run(own->eager, "Mul", 2, 3) == 6);
  }
  return NULL;
}

static rheos_status *count(void *argument, const rheos_seen *seen) {
  (void)seen;
  ++*(int *)argument;  // one thread at a time
  return NULL;
}

static void test_eager_watches__come_and_go_while_threads_run(void **state) {
  (void)state;
  rheos_eager *eager = make_eager(2);
  rheos_scope *scope = rheos_scope_new(rheos_eager_graph(eager));
  rheos_function *f = add_functions(scope);
  runner runners[3];
  atomic_bool is_over = false;
  int num_told = 0;
  for (int i = 0; i < 3; i++) {
    runners[i] = (runner){.eager = eager, .function = f, .is_over = &is_over};
    assert_int_equal(pthread_create(&runners[i].thread, NULL, run_on, &runners[i]), 0);
  }
  for (int i = 0; i < 40; i++) {
    static const char *const names[] = {"*", "root,Mul", "nothing"};
    const rheos_watch_options options = {.names = names[i % 3],
                                         .what = (rheos_watch_what)(i % 2),
                                         .seen = count,
                                         .argument = &num_told};
    rheos_watch *made;
    float found;
    check(rheos_eager_watch(eager, &options, &made));
    check(call(eager, f, 9, &found));
    rheos_watch_free(made);
  }
  assert_true(num_told > 40);
  atomic_store(&is_over, true);
  for (int i = 0; i < 3; i++) {
    pthread_join(runners[i].thread, NULL);
    check(runners[i].status);
  }
  rheos_function_free(f);
  rheos_scope_free(scope);
  rheos_eager_free(eager);
}

// ---- Memory

static rheos_status *watch_call(rheos_eager *eager, const rheos_function *f, float *out_value) {
  told t = {.count = 0};
  const rheos_watch_options options = {.what = RHEOS_WATCH_FIRST_NAN, .seen = note, .argument = &t};
  rheos_watch *made = NULL;
  rheos_status *status = rheos_eager_watch(eager, &options, &made);
  if (status == NULL) status = call(eager, f, 9, out_value);
  rheos_watch_free(made);
  return status;
}

static void test_eager_watches__every_allocation_may_fail(void **state) {
  (void)state;
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  rheos_eager *eager = make_eager(1);
  rheos_scope *scope = rheos_scope_new(rheos_eager_graph(eager));
  rheos_function *f = add_functions(scope);
  bool was_reached = true;
  for (int64_t nth = 1; was_reached; nth++) {
    float found = 0;
    rheos_eager_clear(eager);
    counter.fail_at = counter.requests + nth;
    rheos_status *status = watch_call(eager, f, &found);
    was_reached = counter.requests >= counter.fail_at;
    counter.fail_at = 0;
    if (status != NULL) assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
    assert_true(status != NULL || found == 4);
    rheos_status_free(status);
    check(call(eager, f, 14, &found));
    assert_true(found == 6);
  }
  rheos_function_free(f);
  rheos_scope_free(scope);
  rheos_eager_free(eager);
  rheos_set_allocator(NULL);
  assert_int_equal(counter.alive, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_eager_watches__tell_of_operations),
      cmocka_unit_test(test_eager_watches__name_where_a_nan_is_made),
      cmocka_unit_test(test_eager_watches__outlive_and_end_in_their_function),
      cmocka_unit_test(test_eager_watches__errors_are_the_operations),
      cmocka_unit_test(test_eager_watches__tell_of_gradients),
      cmocka_unit_test(test_eager_watches__tell_of_what_functions_compute),
      cmocka_unit_test(test_eager_watches__come_and_go_while_threads_run),
      cmocka_unit_test(test_eager_watches__every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
