// Graphics cards by OpenCL, on what PoCL makes of a processor: their memory, steps of which an
// allocation fails, sums of any length, kernels on several threads. Skipped where there is none.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rheos/rheos.h>

#include "device/opencl/opencl.h"
#include "graph/counting_allocator.h"

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

// ---- Memory

enum { BLOCKS = 64, ROUNDS = 400 };

static uint32_t next_random(uint32_t *state) { return *state = *state * 1664525u + 1013904223u; }

static void test_blocks_keep_their_bytes(void **unused) {
  (void)unused;
  rheos__device device;
  void *blocks[BLOCKS] = {NULL};
  size_t sizes[BLOCKS] = {0};
  static unsigned char bytes[1 << 16], back[1 << 16];
  uint32_t state = 7;
  check(rheos__opencl_device_init(&device, 0));
  rheos__memory *memory = device.memory;
  for (int round = 0; round < ROUNDS; round++) {
    const size_t i = next_random(&state) >> 16 & (BLOCKS - 1);
    if (blocks[i] != NULL) {
      memset(bytes, (int)i + 1, sizes[i]);
      check(rheos__memory_copy(NULL, back, memory, blocks[i], sizes[i]));
      assert_memory_equal(back, bytes, sizes[i]);
      rheos__memory_free(memory, blocks[i]);
    }
    sizes[i] = (next_random(&state) >> 8) % sizeof bytes + 1;
    blocks[i] = rheos__memory_allocate(memory, sizes[i]);
    assert_non_null(blocks[i]);
    assert_int_equal((uintptr_t)blocks[i] % 64, 0);
    memset(bytes, (int)i + 1, sizes[i]);
    check(rheos__memory_copy(memory, blocks[i], NULL, bytes, sizes[i]));
  }
  for (size_t i = 0; i < BLOCKS; i++) rheos__memory_free(memory, blocks[i]);
  assert_null(rheos__memory_allocate(memory, (size_t)1 << 50));
  rheos__device_deinit(&device);
}

// ---- Steps

typedef struct program {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_output x, y;
} program;

// The mean of the products of the rows of x, and a tail of elementwise ops.
static void build(program *p, const char *device) {
  p->graph = rheos_graph_new();
  p->s = rheos_scope_new(p->graph);
  rheos_push_device(p->s, device);
  const rheos_shape shape = RHEOS_SHAPE(-1, 5);
  p->x = rheos_placeholder(p->s, RHEOS_FLOAT, .shape = &shape, .name = "x");
  const int32_t axis = 0;
  rheos_tensor *axes = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(1), &axis, &axes));
  const rheos_output along = rheos_constant(p->s, axes, NULL);
  rheos_tensor_unref(axes);
  const rheos_output product = rheos_matmul(p->s, p->x, p->x, .transpose_b = true);
  p->y = rheos_mean(p->s, rheos_tanh(p->s, rheos_square(p->s, product)), along);
  check(rheos_scope_finish(p->s));
}

static void program_free(program *p) {
  rheos_scope_free(p->s);
  rheos_graph_unref(p->graph);
}

static rheos_status *run(const program *p, rheos_session *session, int64_t rows,
                         rheos_tensor **out) {
  rheos_tensor *x = NULL;
  RHEOS_TRY(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(rows, 5), &x));
  float *values = rheos_tensor_data(x);
  for (int64_t i = 0; i < 5 * rows; i++) values[i] = (float)(i % 7) * 0.125f - 0.25f;
  const rheos_feed feed = {p->x, x};
  rheos_fetch fetch = {p->y, NULL};
  rheos_status *status = rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL);
  rheos_tensor_unref(x);
  *out = fetch.value;
  return status;
}

static void assert_near(const rheos_tensor *a, const rheos_tensor *b) {
  assert_true(rheos_shape_equal(rheos_tensor_shape(a), rheos_tensor_shape(b)));
  const float *x = rheos_tensor_data(a), *y = rheos_tensor_data(b);
  for (int64_t i = 0; i < rheos_tensor_num_elements(a); i++) assert_float_equal(x[i], y[i], 1e-5);
}

static void test_shapes_of_all_sizes(void **unused) {
  (void)unused;
  static const int64_t rows[] = {0, 1, 2, 31, 63, 64, 65, 127, 200, 1000};
  program cpu, card;
  rheos_session *on_cpu = NULL, *on_card = NULL;
  build(&cpu, "/device:CPU:0");
  build(&card, "/device:GPU:0");
  check(rheos_session_new(cpu.graph, NULL, &on_cpu));
  check(rheos_session_new(card.graph, NULL, &on_card));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    rheos_tensor *expected = NULL, *actual = NULL, *again = NULL;
    check(run(&cpu, on_cpu, rows[i], &expected));
    check(run(&card, on_card, rows[i], &actual));
    check(run(&card, on_card, rows[i], &again));
    if (rows[i] > 0) assert_near(actual, expected);
    assert_memory_equal(rheos_tensor_data(actual), rheos_tensor_data(again),
                        rheos_tensor_size_bytes(actual));
    rheos_tensor_unref(expected);
    rheos_tensor_unref(actual);
    rheos_tensor_unref(again);
  }
  rheos_session_free(on_cpu);
  rheos_session_free(on_card);
  program_free(&cpu);
  program_free(&card);
}

// One whole go with a counting allocator; whether all went well.
static bool go(counting_allocator *counter, int64_t fail_at) {
  program p;
  rheos_session *session = NULL;
  rheos_tensor *y = NULL;
  build(&p, "/device:GPU:0");
  *counter = (counting_allocator){.fail_at = fail_at};
  counting_allocator_install(counter);
  rheos_status *status = rheos_session_new(p.graph, NULL, &session);
  if (status == NULL) status = run(&p, session, 70, &y);
  counter->fail_at = 0;
  const bool is_fine = status == NULL;
  if (status != NULL) assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
  rheos_status_free(status);
  rheos_tensor_unref(y);
  if (session != NULL) {  // it goes on
    check(run(&p, session, 70, &y));
    assert_float_equal(((const float *)rheos_tensor_data(y))[0], 0.02, 0.05);
    rheos_tensor_unref(y);
  }
  rheos_session_free(session);
  rheos_set_allocator(NULL);
  program_free(&p);
  return is_fine;
}

static void test_failing_allocations(void **unused) {
  (void)unused;
  counting_allocator counter;
  assert_true(go(&counter, 0));  // the card has its programs now
  int64_t failed = 0;
  for (int64_t at = 1; !go(&counter, at); at += at < 40 ? 1 : 7) failed++;
  assert_true(failed > 10);
}

typedef struct worker {
  const program *program;
  rheos_session *session;
  const rheos_tensor *expected;
} worker;

static void *work(void *argument) {
  const worker *w = argument;
  for (int i = 0; i < 20; i++) {
    rheos_tensor *y = NULL;
    check(run(w->program, w->session, 100, &y));
    assert_memory_equal(rheos_tensor_data(y), rheos_tensor_data(w->expected),
                        rheos_tensor_size_bytes(y));
    rheos_tensor_unref(y);
  }
  return NULL;
}

static void test_threads(void **unused) {
  (void)unused;
  enum { THREADS = 4 };
  program p;
  rheos_session *session = NULL;
  rheos_tensor *expected = NULL;
  pthread_t threads[THREADS];
  build(&p, "/device:GPU:0");
  check(rheos_session_new(p.graph, NULL, &session));
  check(run(&p, session, 100, &expected));
  worker w = {&p, session, expected};
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, work, &w), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  rheos_tensor_unref(expected);
  rheos_session_free(session);
  program_free(&p);
}

int main(void) {
  setenv("RHEOS_OPENCL", "cpu", 1);
  if (rheos__opencl_count() == 0) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blocks_keep_their_bytes),
      cmocka_unit_test(test_shapes_of_all_sizes),
      cmocka_unit_test(test_failing_allocations),
      cmocka_unit_test(test_threads),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
