// A large allocation that the machine has no room for fails, before the system ends a process.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <rheos/scope.h>
#include <rheos/session.h>

#include "base/alloc.h"
#include "base/available_memory.h"

// More than is left now, and less than most systems refuse by themselves; skips where none tells.
static uint64_t too_much(void) {
  const uint64_t available = rheos__available_memory();
  if (available == UINT64_MAX) skip();
  return available + available / 16 + ((uint64_t)1 << 30);
}

static void test_available_memory__is_part_of_what_is_there(void **state) {
  (void)state;
  const uint64_t available = rheos__available_memory();
  if (available == UINT64_MAX) skip();
  assert_true(available > (uint64_t)16 << 20);
  assert_true(available < (uint64_t)1 << 50);
}

static void test_available_memory__bounds_large_blocks(void **state) {
  (void)state;
  const size_t size_bytes = (size_t)too_much();
  assert_null(rheos__alloc(size_bytes));
  assert_null(rheos__alloc_aligned(size_bytes));
  void *memory = rheos__alloc(16);
  assert_non_null(memory);
  assert_null(rheos__realloc(memory, size_bytes));
  rheos__free(memory);
}

static int num_asked;

static void *count_and_give(void *user, size_t size_bytes) {
  (void)user, (void)size_bytes;
  num_asked++;
  return malloc(16);
}
static void *no_more(void *user, void *memory, size_t size_bytes) {
  (void)user, (void)memory, (void)size_bytes;
  return NULL;
}
static void give_back(void *user, void *memory) {
  (void)user;
  free(memory);
}

static void test_available_memory__leaves_other_allocators_alone(void **state) {
  (void)state;
  const size_t size_bytes = (size_t)too_much();
  const rheos_allocator own = {count_and_give, no_more, give_back, NULL};
  rheos_set_allocator(&own);
  void *memory = rheos__alloc(size_bytes);
  rheos__free(memory);
  rheos_set_allocator(NULL);
  assert_non_null(memory);
  assert_int_equal(num_asked, 1);
}

// Fill(dims, 0) of more bytes than there are, with dims fed or constant.
static void test_available_memory__ends_a_step_with_a_status(void **state) {
  (void)state;
  const int64_t dims[] = {1 << 20, (int64_t)(too_much() >> 22)};
  const float zero = 0;
  rheos_tensor *shape, *value;
  assert_null(rheos_tensor_from_values(RHEOS_INT64, RHEOS_SHAPE(2), dims, &shape));
  assert_null(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &zero, &value));
  for (int fed = 0; fed < 2; fed++) {
    rheos_graph *graph = rheos_graph_new();
    rheos_scope *s = rheos_scope_new(graph);
    rheos_attr dtype = rheos_attr_type("dtype", RHEOS_INT64);
    rheos_op_args placeholder = {.type = "Placeholder", .attrs = &dtype, .num_attrs = 1};
    rheos_output inputs[] = {
        fed ? rheos_operation_output(rheos_op(s, &placeholder), 0) : rheos_constant(s, shape, NULL),
        rheos_constant(s, value, NULL)};
    rheos_op_args fill = {.type = "Fill", .inputs = inputs, .num_inputs = 2};
    rheos_output filled = rheos_operation_output(rheos_op(s, &fill), 0);
    rheos_op_args negate = {.type = "Neg", .inputs = &filled, .num_inputs = 1};
    rheos_fetch fetch = {rheos_operation_output(rheos_op(s, &negate), 0), NULL};
    rheos_session *session;
    assert_null(rheos_scope_finish(s));
    assert_null(rheos_session_new(graph, NULL, &session));
    rheos_feed feed = {inputs[0], shape};
    rheos_status *status = rheos_session_run(session, &feed, (size_t)fed, &fetch, 1, NULL, 0, NULL);
    assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
    rheos_status_free(status);
    rheos_session_free(session);
    rheos_scope_free(s);
    rheos_graph_unref(graph);
  }
  rheos_tensor_unref(shape);
  rheos_tensor_unref(value);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_available_memory__is_part_of_what_is_there),
      cmocka_unit_test(test_available_memory__bounds_large_blocks),
      cmocka_unit_test(test_available_memory__leaves_other_allocators_alone),
      cmocka_unit_test(test_available_memory__ends_a_step_with_a_status),
  };
  return cmocka_run_group_tests_name("available_memory", tests, NULL, NULL);
}
