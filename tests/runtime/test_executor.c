// Steps that fail halfway: the error names the node, and the session works on, whatever allocation
// of a step failed.
#include <stdatomic.h>

#include "ops/array_fixture.h"

static atomic_llong num_allocations;
static long long fail_at, fail_until;  // allocations [fail_at, fail_until), counted from 1

static bool shall_fail(void) {
  const long long n = atomic_fetch_add(&num_allocations, 1) + 1;
  return n >= fail_at && n < fail_until;
}

static void *allocate(void *user, size_t size_bytes) {
  (void)user;
  return shall_fail() ? NULL : malloc(size_bytes);
}

static void *reallocate(void *user, void *memory, size_t size_bytes) {
  (void)user;
  return shall_fail() ? NULL : realloc(memory, size_bytes);
}

static void release(void *user, void *memory) {
  (void)user;
  free(memory);
}

// A step with a write, a value whose shape only the run knows, and what depends on that.
typedef struct program {
  rheos_output x, fetches[2];
  rheos_operation init, write;
} program;

static rheos_output op_1(fixture *f, const char *type, rheos_output x) {
  return rheos_operation_output(add(f, type, &x, 1, NULL, 0), 0);
}

static program build(fixture *f) {
  program p;
  const rheos_shape shape = RHEOS_SHAPE(4);
  const float zeros[] = {0, 0, 0, 0};
  p.x = rheos_placeholder(f->scope, RHEOS_FLOAT, .shape = &shape);
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &shape)};
  const rheos_output v = rheos_operation_output(add(f, "VariableV2", NULL, 0, attrs, 2), 0);
  const rheos_output start[] = {v, floats(f, shape, zeros)}, more[] = {v, p.x};
  p.init = add(f, "Assign", start, 2, NULL, 0);
  p.write = add(f, "AssignAdd", more, 2, NULL, 0);
  p.fetches[0] = op_1(f, "Neg", op_1(f, "Unique", p.x));
  p.fetches[1] = op_1(f, "Exp", op_1(f, "Neg", p.x));
  check(rheos_scope_finish(f->scope));
  return p;
}

static rheos_status *step(rheos_session *session, const program *p, const rheos_tensor *x,
                          rheos_fetch *fetches) {
  const rheos_feed feed = {p->x, (rheos_tensor *)(uintptr_t)x};
  fetches[0] = (rheos_fetch){p->fetches[0], NULL};
  fetches[1] = (rheos_fetch){p->fetches[1], NULL};
  return rheos_session_run(session, &feed, 1, fetches, 2, &p->write, 1, NULL);
}

static void expect_step(rheos_session *session, const program *p, const rheos_tensor *x) {
  rheos_fetch fetches[2];
  check(step(session, p, x, fetches));
  expect_floats(fetches[0].value, RHEOS_SHAPE(2), (float[]){-1, -2});
  assert_float_equal(*(float *)rheos_tensor_data(fetches[1].value), expf(-1), 1e-6f);
  rheos_tensor_unref(fetches[1].value);
}

// `from`: the allocation of the session's first step, or of a later one, that fails.
static bool fails_once(fixture *f, const program *p, const rheos_tensor *x, long long from,
                       bool is_later) {
  rheos_session *session = NULL;
  const rheos_session_options options = {.num_threads = 1};
  check(rheos_session_new(f->graph, &options, &session));
  check(rheos_session_run(session, NULL, 0, NULL, 0, &p->init, 1, NULL));
  if (is_later) expect_step(session, p, x);
  atomic_store(&num_allocations, 0);
  fail_at = from;
  fail_until = from + 1;
  rheos_fetch fetches[2];
  rheos_status *status = step(session, p, x, fetches);
  fail_at = fail_until = 0;
  const bool was_reached = atomic_load(&num_allocations) >= from;
  if (status != NULL) {
    assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
    assert_null(fetches[0].value);
    assert_null(fetches[1].value);
  } else {
    rheos_tensor_unref(fetches[0].value);
    rheos_tensor_unref(fetches[1].value);
  }
  rheos_status_free(status);
  expect_step(session, p, x);
  rheos_session_free(session);
  return was_reached;
}

static void test_executor__a_step_without_memory_leaves_the_session_usable(void **state) {
  fixture *f = *state;
  const program p = build(f);
  const float numbers[] = {1, 2, 1, 2};
  rheos_tensor *x = NULL;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(4), numbers, &x));
  for (int later = 0; later < 2; ++later) {
    long long n = 1;
    while (fails_once(f, &p, x, n, later == 1)) ++n;
    assert_true(n > 2);  // there was something to fail
  }
  rheos_tensor_unref(x);
}

static void test_executor__what_fails_is_named_and_the_next_step_runs(void **state) {
  fixture *f = *state;
  const rheos_shape shape = RHEOS_SHAPE(2);
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT, .shape = &shape);
  const rheos_attr message = rheos_attr_string("message", "odd", 3);
  const rheos_operation checked = rheos_op(f->scope, &(rheos_op_args){.type = "CheckNumerics",
                                                                      .name = "checked",
                                                                      .inputs = &x,
                                                                      .num_inputs = 1,
                                                                      .attrs = &message,
                                                                      .num_attrs = 1});
  const rheos_output y = op_1(f, "Neg", rheos_operation_output(checked, 0));
  check(rheos_scope_finish(f->scope));
  const float values[2][2] = {{1, NAN}, {1, 2}};
  for (int round = 0; round < 4; ++round) {
    rheos_feed feed = {x, NULL};
    check(rheos_tensor_from_values(RHEOS_FLOAT, shape, values[round % 2], &feed.value));
    rheos_fetch fetch = {y, NULL};
    rheos_status *status = rheos_session_run(f->session, &feed, 1, &fetch, 1, NULL, 0, NULL);
    if (round % 2 == 0) {
      assert_non_null(status);
      assert_string_equal(rheos_status_node(status), "checked");
      assert_null(fetch.value);
      rheos_status_free(status);
    } else {
      check(status);
      expect_floats(fetch.value, shape, (float[]){-1, -2});
    }
    rheos_tensor_unref(feed.value);
  }
}

int main(void) {
  const rheos_allocator allocator = {
      .allocate = allocate, .reallocate = reallocate, .release = release};
  rheos_set_allocator(&allocator);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(
          test_executor__a_step_without_memory_leaves_the_session_usable, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_executor__what_fails_is_named_and_the_next_step_runs,
                                      set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
