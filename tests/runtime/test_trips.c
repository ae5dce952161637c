// Trips of loops that are like the one before run without entering their bodies again: they give
// what loops on tokens give, whatever kernels keep of a variable, and fail as others do.
#include <rheos/control_flow.h>
#include <rheos/gradients.h>
#include <rheos/ops.h>
#include <stdio.h>
#include <string.h>

#include "graph/counting_allocator.h"
#include "ops/array_fixture.h"
#include "tensor/tensor.h"

static counting_allocator counter;

static rheos_output number(rheos_scope *s, float value) {
  return rheos_constant_float(s, value, NULL);
}

static rheos_output below(rheos_scope *s, void *argument, const rheos_output *v, size_t count) {
  (void)count;
  return rheos_less(s, v[0], number(s, *(const float *)argument));
}

static rheos_session *session_of(fixture *f, rheos_toggle raises) {
  rheos_session *session = NULL;
  const rheos_session_options options = {.num_threads = 1, .rewrites.raise_control_flow = raises};
  check(rheos_session_new(f->graph, &options, &session));
  return session;
}

static void expect_same_bits(fixture *f, const rheos_output *outputs, size_t count) {
  check(rheos_scope_finish(f->scope));
  rheos_fetch fetches[2][4] = {0};
  for (int i = 0; i < 2; i++) {
    rheos_session *session = session_of(f, i == 0 ? RHEOS_TOGGLE_DEFAULT : RHEOS_TOGGLE_OFF);
    for (size_t k = 0; k < count; k++) fetches[i][k].output = outputs[k];
    check(rheos_session_run(session, NULL, 0, fetches[i], count, NULL, 0, NULL));
    rheos_session_free(session);
  }
  for (size_t k = 0; k < count; k++) {
    rheos_tensor *const raised = fetches[0][k].value, *const tokens = fetches[1][k].value;
    assert_int_equal(raised->size_bytes, tokens->size_bytes);
    assert_memory_equal(raised->data, tokens->data, raised->size_bytes);
    rheos_tensor_unref(raised);
    rheos_tensor_unref(tokens);
  }
}

// ---- Programs

enum { COUNT, VALUE, KEPT, NUM_VARIABLES };

// One is computed where it is, one in turn in two places, one stays; a Stack keeps what two began
// with.
static void next_values(rheos_scope *s, void *argument, const rheos_output *v, rheos_output *next,
                        size_t count) {
  (void)argument, (void)count;
  next[COUNT] = rheos_add(s, v[COUNT], number(s, 1));
  next[VALUE] =
      rheos_tanh(s, rheos_add(s, rheos_mul(s, v[VALUE], v[KEPT]), rheos_square(s, v[VALUE])));
  next[KEPT] = v[KEPT];
}

// Values and gradients of a loop of 300 trips, more than there are between two polls.
static void make_gradients(fixture *f, rheos_output outputs[4]) {
  static float limit = 300;
  rheos_scope *s = f->scope;
  const float numbers[] = {0.5F, -0.25F, 1.5F};
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(3), numbers, &tensor));
  const rheos_output start[] = {number(s, 0), rheos_constant(s, tensor, NULL),
                                rheos_constant(s, tensor, NULL)};
  rheos_tensor_unref(tensor);
  rheos_while_loop(s, below, next_values, &limit, start, NUM_VARIABLES, NULL, outputs);
  rheos_gradient gradients[2] = {0};
  rheos_gradients(s, &outputs[VALUE], 1, &start[VALUE], 2, NULL, gradients);
  outputs[0] = outputs[VALUE];
  outputs[1] = gradients[0].values;
  outputs[2] = gradients[1].values;
}

// Variables that change places have no trip like the one before.
static void exchange(rheos_scope *s, void *argument, const rheos_output *v, rheos_output *next,
                     size_t count) {
  (void)argument, (void)count;
  next[COUNT] = rheos_add(s, v[COUNT], number(s, 1));
  next[VALUE] = v[KEPT];
  next[KEPT] = rheos_add(s, v[VALUE], v[KEPT]);
}

static void fail_late(rheos_scope *s, void *argument, const rheos_output *v, rheos_output *next,
                      size_t count) {
  (void)argument, (void)count;
  const rheos_output root = rheos_sqrt(s, rheos_sub(s, number(s, 20), v[COUNT]));
  next[COUNT] = rheos_add(s, v[COUNT], number(s, 1));
  next[VALUE] = rheos_add(s, rheos_check_numerics(s, root, "too late"), v[VALUE]);
}

// ---- Tests

static void test_trips__give_the_bits_of_tokens(void **state) {
  rheos_output outputs[4];
  make_gradients(*state, outputs);
  expect_same_bits(*state, outputs, 3);
}

static void test_trips__of_variables_that_change_places(void **state) {
  fixture *f = *state;
  float limit = 30;
  const rheos_output start[] = {number(f->scope, 0), number(f->scope, 1), number(f->scope, 2)};
  rheos_output outputs[NUM_VARIABLES];
  rheos_while_loop(f->scope, below, exchange, &limit, start, NUM_VARIABLES, NULL, outputs);
  expect_same_bits(f, outputs, NUM_VARIABLES);
}

static void test_trips__fail_like_others(void **state) {
  fixture *f = *state;
  float limits[] = {18, 25};
  const rheos_output start[] = {number(f->scope, 0), number(f->scope, 0)};
  rheos_output outputs[2][2];
  for (int i = 0; i < 2; i++) {
    rheos_while_loop(f->scope, below, fail_late, &limits[i], start, 2, NULL, outputs[i]);
  }
  check(rheos_scope_finish(f->scope));
  rheos_session *session = session_of(f, RHEOS_TOGGLE_DEFAULT);
  for (int round = 0; round < 3; round++) {
    rheos_fetch fetch = {outputs[1][1], NULL};
    expect_error(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL),
                 RHEOS_INVALID_ARGUMENT, "too late");
    fetch.output = outputs[0][1];
    check(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
    rheos_tensor_unref(fetch.value);
  }
  rheos_session_free(session);
}

static void test_trips__survive_short_memory(void **state) {
  fixture *f = *state;
  rheos_output outputs[4];
  make_gradients(f, outputs);
  check(rheos_scope_finish(f->scope));
  rheos_session *session = session_of(f, RHEOS_TOGGLE_DEFAULT);
  int num_failed = 0;
  // All requests of a step that is prepared, in strides: what is behind the first trips is alike.
  for (int64_t n = 1;; n += n < 100 ? 1 : 17) {
    rheos_fetch fetches[3] = {{outputs[0], NULL}, {outputs[1], NULL}, {outputs[2], NULL}};
    counter.fail_at = counter.requests + n;
    rheos_status *status = rheos_session_run(session, NULL, 0, fetches, 3, NULL, 0, NULL);
    const bool reached = counter.requests >= counter.fail_at;
    counter.fail_at = 0;
    for (int i = 0; i < 3; i++) rheos_tensor_unref(fetches[i].value);
    if (status != NULL) {
      assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
      rheos_status_free(status);
      num_failed++;
    }
    if (!reached) break;
  }
  assert_true(num_failed > 50);
  rheos_session_free(session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_trips__give_the_bits_of_tokens),
      TEST(test_trips__of_variables_that_change_places),
      TEST(test_trips__fail_like_others),
      TEST(test_trips__survive_short_memory),
  };
  counting_allocator_install(&counter);
  const int num_failed = cmocka_run_group_tests_name("trips", tests, NULL, NULL);
  const int64_t alive = counter.alive;  // nothing of what failed has leaked
  if (alive != 0) fprintf(stderr, "%lld blocks are left\n", (long long)alive);
  return num_failed + (alive != 0);
}
