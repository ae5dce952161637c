// Functions of the program: each session calls its own.
#include <pthread.h>
#include <time.h>

#include "ops/array_fixture.h"
#include "runtime/step/step.h"

// Gives its input times the number that `argument` points to.
static rheos_status *multiply(void *argument, const char *token, rheos_tensor *const *inputs,
                              size_t num_inputs, rheos_tensor **outputs, size_t num_outputs) {
  assert_string_equal(token, "times");
  assert_int_equal(num_inputs, 1);
  assert_int_equal(num_outputs, 1);
  const float value = *(const float *)rheos_tensor_data(inputs[0]) * *(const float *)argument;
  return rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &value, &outputs[0]);
}

static rheos_output call(fixture *f) {
  const rheos_output x = float_scalar(f, 7);
  const rheos_dtype dtype = RHEOS_FLOAT;
  const rheos_attr attrs[] = {rheos_attr_string("token", "times", 5),
                              rheos_attr_types("Tout", &dtype, 1)};
  return rheos_operation_output(add(f, "PyFunc", &x, 1, attrs, 2), 0);
}

static float value_in(rheos_session *session, rheos_output output) {
  rheos_fetch fetch = {.output = output};
  check(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  const float value = *(const float *)rheos_tensor_data(fetch.value);
  rheos_tensor_unref(fetch.value);
  return value;
}

static void test_program_function__belongs_to_the_session(void **state) {
  fixture *f = *state;
  const rheos_output y = call(f);
  float two = 2, three = 3;
  rheos_session_options options = {.program_function = multiply, .program_argument = &two};
  rheos_session *doubling, *tripling;
  check(rheos_session_new(f->graph, &options, &doubling));
  options.program_argument = &three;
  check(rheos_session_new(f->graph, &options, &tripling));
  assert_float_equal(value_in(doubling, y), 14, 0);
  assert_float_equal(value_in(tripling, y), 21, 0);
  assert_float_equal(value_in(doubling, y), 14, 0);
  rheos_session_free(doubling);
  rheos_session_free(tripling);
}

static void test_program_function__is_missed_where_there_is_none(void **state) {
  fixture *f = *state;
  rheos_tensor *out;
  const rheos_output y = call(f);
  expect_error(run_output(f, rheos_output_operation(y), 0, NULL, &out), RHEOS_UNIMPLEMENTED,
               "the program has no function times to call");
}

// ---- Functions that hold up the step

typedef struct meeting {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int32_t num_here, num_needed;
  bool is_over;
} meeting;

// Comes back when all have come, or it is over: how many had.
static rheos_status *meet(void *argument, const char *token, rheos_tensor *const *inputs,
                          size_t num_inputs, rheos_tensor **outputs, size_t num_outputs) {
  meeting *m = argument;
  (void)token, (void)inputs, (void)num_inputs;
  pthread_mutex_lock(&m->mutex);
  ++m->num_here;
  pthread_cond_broadcast(&m->changed);
  while (m->num_here % m->num_needed != 0 && !m->is_over) {
    pthread_cond_wait(&m->changed, &m->mutex);
  }
  const float value = (float)m->num_here;
  pthread_mutex_unlock(&m->mutex);
  if (num_outputs == 0) return NULL;
  return rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &value, &outputs[0]);
}

static rheos_output meet_with(fixture *f, const rheos_output *x) {
  const rheos_dtype dtype = RHEOS_FLOAT;
  const rheos_attr attrs[] = {rheos_attr_string("token", "meet", 4),
                              rheos_attr_types("Tout", &dtype, 1)};
  return rheos_operation_output(add(f, "PyFunc", x, x != NULL ? 1 : 0, attrs, 2), 0);
}

enum { MANY = 8 };

static void test_program_function__waits_for_others_of_its_step(void **state) {
  fixture *f = *state;
  meeting m = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, MANY, false};
  const rheos_session_options options = {.program_function = meet, .program_argument = &m};
  rheos_session *session;
  check(rheos_session_new(f->graph, &options, &session));
  const rheos_output x = float_scalar(f, 1);
  rheos_fetch fetches[MANY];
  for (int i = 0; i < MANY; ++i) {
    fetches[i] = (rheos_fetch){.output = meet_with(f, i % 2 == 0 ? NULL : &x)};
  }
  for (int round = 1; round <= 20; ++round) {
    check(rheos_session_run(session, NULL, 0, fetches, MANY, NULL, 0, NULL));
    for (int i = 0; i < MANY; ++i) {
      assert_float_equal(*(const float *)rheos_tensor_data(fetches[i].value), round * MANY, 0);
      rheos_tensor_unref(fetches[i].value);
    }
  }
  rheos_session_free(session);
}

static void *end_later(void *argument) {
  meeting *m = argument;
  nanosleep(&(struct timespec){.tv_nsec = 100 * 1000 * 1000}, NULL);
  pthread_mutex_lock(&m->mutex);
  m->is_over = true;
  pthread_cond_broadcast(&m->changed);
  pthread_mutex_unlock(&m->mutex);
  return NULL;
}

// Each has another function behind it, so that none is called by the step's own thread.
static void run_too_long(fixture *f, meeting *m, bool leaves) {
  const rheos_session_options options = {
      .program_function = meet, .program_argument = m, .leaves_functions = leaves};
  rheos_session *session;
  check(rheos_session_new(f->graph, &options, &session));
  rheos_fetch fetches[2];
  for (int i = 0; i < 2; ++i) {
    const rheos_output first = meet_with(f, NULL);
    fetches[i] = (rheos_fetch){.output = meet_with(f, &first)};
  }
  const rheos_run_options run = {.timeout_ms = 20};
  expect_error(rheos_session_run(session, NULL, 0, fetches, 2, NULL, 0, &run),
               RHEOS_DEADLINE_EXCEEDED, "for the return of function");
  rheos_session_free(session);
}

static void test_program_function__is_waited_for_unless_it_may_be_left(void **state) {
  fixture *f = *state;
  meeting m = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 1000, false};
  pthread_t ends;
  assert_int_equal(pthread_create(&ends, NULL, end_later, &m), 0);
  run_too_long(f, &m, false);
  assert_true(m.is_over);
  pthread_join(ends, NULL);

  static meeting left = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 1000, false};
  run_too_long(f, &left, true);
  pthread_mutex_lock(&left.mutex);
  assert_false(left.is_over);
  pthread_mutex_unlock(&left.mutex);
  end_later(&left);
  nanosleep(&(struct timespec){.tv_nsec = 50 * 1000 * 1000}, NULL);  // they go, with what they hold
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_program_function__belongs_to_the_session),
      TEST(test_program_function__is_missed_where_there_is_none),
      TEST(test_program_function__waits_for_others_of_its_step),
      TEST(test_program_function__is_waited_for_unless_it_may_be_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
