// Fails the n-th allocation for every n of a small program that builds a graph with variables,
// gradients and an optimizer, runs it in a session and frees everything: no crash, no leak, and a
// status that says so.
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rheos/scope.h>
#include <rheos/session.h>
#include <rheos/train.h>

// ---- An allocator that counts what is alive and fails on request

static atomic_llong live_bytes, live_blocks, num_allocations;
static long long fail_at, fail_until;  // allocations [fail_at, fail_until), counted from 1

enum { HEADER_BYTES = 16 };

static bool shall_fail(void) {
  long long n = atomic_fetch_add(&num_allocations, 1) + 1;
  return n >= fail_at && n < fail_until;
}

static void *note(char *block, size_t size_bytes) {
  if (!block) return NULL;
  memcpy(block, &size_bytes, sizeof size_bytes);
  atomic_fetch_add(&live_bytes, (long long)size_bytes);
  atomic_fetch_add(&live_blocks, 1);
  return block + HEADER_BYTES;
}

static char *forget(void *memory) {
  char *block = (char *)memory - HEADER_BYTES;
  size_t size_bytes;
  memcpy(&size_bytes, block, sizeof size_bytes);
  atomic_fetch_sub(&live_bytes, (long long)size_bytes);
  atomic_fetch_sub(&live_blocks, 1);
  return block;
}

static void *count_allocate(void *user, size_t size_bytes) {
  (void)user;
  if (shall_fail() || size_bytes > SIZE_MAX - HEADER_BYTES) return NULL;
  return note(malloc(size_bytes + HEADER_BYTES), size_bytes);
}

static void *count_reallocate(void *user, void *memory, size_t size_bytes) {
  if (!memory) return count_allocate(user, size_bytes);
  if (shall_fail() || size_bytes > SIZE_MAX - HEADER_BYTES) return NULL;
  char *block = realloc(forget(memory), size_bytes + HEADER_BYTES);
  return note(block, size_bytes);
}

static void count_release(void *user, void *memory) {
  (void)user;
  if (memory) free(forget(memory));
}

// ---- The program

static rheos_output add_2(rheos_scope *s, const char *type, rheos_output a, rheos_output b) {
  rheos_output inputs[] = {a, b};
  rheos_op_args args = {.type = type, .inputs = inputs, .num_inputs = 2};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

static rheos_output placeholder(rheos_scope *s, rheos_shape shape, const char *name) {
  rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT), rheos_attr_shape("shape", &shape)};
  rheos_op_args args = {.type = "Placeholder", .name = name, .attrs = attrs, .num_attrs = 2};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

typedef struct model {
  rheos_output x, y, guess, loss;
  rheos_operation train, init;
} model;

static void build(rheos_scope *s, rheos_optimizer optimizer, model *m) {
  rheos_push_name_scope(s, "model");
  m->x = placeholder(s, RHEOS_SHAPE(-1, 2), "x");
  m->y = placeholder(s, RHEOS_SHAPE(-1, 1), "y");
  rheos_output w =
      rheos_get_variable(s, "w", RHEOS_FLOAT, RHEOS_SHAPE(2, 1), rheos_constant_initializer(0.5));
  rheos_output b = rheos_get_variable(s, "b", RHEOS_FLOAT, RHEOS_SHAPE(1), rheos_zeros());
  m->guess = add_2(s, "Add", add_2(s, "MatMul", m->x, w), b);
  rheos_output difference = add_2(s, "Sub", m->guess, m->y);
  rheos_output square = add_2(s, "Mul", difference, difference);
  int32_t axes[] = {0, 1};
  rheos_tensor *both = NULL;
  rheos_status *status = rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(2), axes, &both);
  if (status) rheos_scope_fail_take(s, status);
  m->loss = both ? add_2(s, "Sum", square, rheos_constant(s, both, "axes")) : m->loss;
  rheos_tensor_unref(both);
  rheos_scope_pop(s);
  m->train = rheos_minimize(s, optimizer, m->loss);
  m->init = rheos_global_variables_initializer(s);
}

static rheos_status *train_in_parts(rheos_session *session, const model *m,
                                    const rheos_feed *feeds) {
  const rheos_output fed[] = {m->x, m->y}, fetched[] = {m->guess, m->loss};
  rheos_fetch guess = {m->guess, NULL}, loss = {m->loss, NULL};
  int64_t handle;
  rheos_status *status =
      rheos_session_partial_setup(session, fed, 2, fetched, 2, &m->train, 1, &handle);
  if (!status) status = rheos_session_partial_run(session, handle, feeds, 1, &guess, 1, NULL);
  if (!status) status = rheos_session_partial_run(session, handle, feeds + 1, 1, &loss, 1, NULL);
  rheos_tensor_unref(guess.value);
  rheos_tensor_unref(loss.value);
  return status;
}

static rheos_status *train(rheos_session *session, const model *m) {
  float x[] = {1, 2, 3, 4, 5, 6}, y[] = {1, 2, 3};
  rheos_feed feeds[2] = {{m->x, NULL}, {m->y, NULL}};
  rheos_status *status =
      rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(3, 2), x, &feeds[0].value);
  if (!status) {
    status = rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(3, 1), y, &feeds[1].value);
  }
  if (!status) status = rheos_session_run(session, NULL, 0, NULL, 0, &m->init, 1, NULL);
  for (int step = 0; step < 2 && !status; step++) {
    rheos_fetch loss = {m->loss, NULL};
    status = rheos_session_run(session, feeds, 2, &loss, 1, &m->train, 1, NULL);
    rheos_tensor_unref(loss.value);
  }
  if (!status) status = train_in_parts(session, m, feeds);
  rheos_tensor_unref(feeds[0].value);
  rheos_tensor_unref(feeds[1].value);
  return status;
}

static rheos_status *run_callable(rheos_session *session, const model *m) {
  rheos_callable *callable = NULL;
  rheos_output fetch = rheos_operation_output(rheos_output_operation(m->x), 0);
  rheos_status *status = rheos_callable_new(session, &m->x, 1, &fetch, 1, NULL, 0, &callable);
  rheos_tensor *value = NULL, *answer = NULL;
  float x[] = {1, 2};
  if (!status) status = rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(1, 2), x, &value);
  if (!status) status = rheos_callable_run(callable, &value, &answer, NULL);
  rheos_tensor_unref(answer);
  rheos_tensor_unref(value);
  rheos_callable_free(callable);
  return status;
}

static rheos_status *no_memory(void) {
  return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "no memory");
}

static rheos_status *program(rheos_optimizer optimizer, bool with_session) {
  rheos_graph *graph = rheos_graph_new();
  if (!graph) return no_memory();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_session *session = NULL;
  model m = {0};
  rheos_status *status = s ? NULL : no_memory();
  if (s) {
    build(s, optimizer, &m);
    status = rheos_scope_finish(s);
  }
  rheos_session_options options = {.num_threads = 2};
  if (!status && with_session) status = rheos_session_new(graph, &options, &session);
  if (!status && with_session) status = train(session, &m);
  if (!status && with_session) status = run_callable(session, &m);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  return status;
}

// ---- The sweep

static void run_failing(rheos_optimizer optimizer, bool with_session, long long from,
                        long long until) {
  long long bytes = atomic_load(&live_bytes), blocks = atomic_load(&live_blocks);
  atomic_store(&num_allocations, 0);
  fail_at = from;
  fail_until = until;
  rheos_status *status = program(optimizer, with_session);
  fail_at = fail_until = 0;
  // A failed allocation may be survived (a smaller cache), but then the program succeeds.
  if (status && rheos_status_code(status) != RHEOS_RESOURCE_EXHAUSTED) {
    fail_msg("allocation %lld: %s: %s", from, rheos_code_name(rheos_status_code(status)),
             rheos_status_message(status));
  }
  rheos_status_free(status);
  if (atomic_load(&live_bytes) != bytes || atomic_load(&live_blocks) != blocks) {
    fail_msg("allocation %lld: %lld bytes in %lld blocks leaked", from,
             (long long)atomic_load(&live_bytes) - bytes,
             (long long)atomic_load(&live_blocks) - blocks);
  }
}

static void sweep(rheos_optimizer optimizer, bool with_session) {
  // Tables that the process keeps are made by the first run.
  rheos_status *status = program(optimizer, with_session);
  if (status) fail_msg("without failures: %s", rheos_status_message(status));
  atomic_store(&num_allocations, 0);
  status = program(optimizer, with_session);
  assert_null(status);
  long long count = atomic_load(&num_allocations);
  for (long long n = 1; n <= count + 1; n++) run_failing(optimizer, with_session, n, n + 1);
  for (long long n = 1; n <= count + 1; n += 7) run_failing(optimizer, with_session, n, 1LL << 60);
  print_message("%lld allocations\n", count);
}

static void test_failing_allocator__building_survives(void **state) {
  (void)state;
  sweep(rheos_gradient_descent(0.1), false);
}
static void test_failing_allocator__building_adam_survives(void **state) {
  (void)state;
  sweep(rheos_adam(0.1), false);
}
static void test_failing_allocator__running_survives(void **state) {
  (void)state;
  sweep(rheos_gradient_descent(0.1), true);
}
static void test_failing_allocator__running_momentum_survives(void **state) {
  (void)state;
  sweep(rheos_momentum(0.1, 0.9), true);
}

int main(void) {
  const rheos_allocator counting = {count_allocate, count_reallocate, count_release, NULL};
  rheos_set_allocator(&counting);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_failing_allocator__building_survives),
      cmocka_unit_test(test_failing_allocator__building_adam_survives),
      cmocka_unit_test(test_failing_allocator__running_survives),
      cmocka_unit_test(test_failing_allocator__running_momentum_survives),
  };
  return cmocka_run_group_tests_name("failing_allocator", tests, NULL, NULL);
}
