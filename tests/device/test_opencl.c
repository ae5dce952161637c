// Graphics cards by OpenCL, on what PoCL makes of a processor: their memory, steps of which an
// allocation fails, sums of any length, kernels on several threads. Skipped where there is none.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rheos/rheos.h>

#include "device/card_program.h"
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
  check(rheos__opencl_device_init(&device, 0, 0, 0));
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

static void assert_near(const rheos_tensor *a, const rheos_tensor *b) {
  assert_true(rheos_shape_equal(rheos_tensor_shape(a), rheos_tensor_shape(b)));
  const float *x = rheos_tensor_data(a), *y = rheos_tensor_data(b);
  for (int64_t i = 0; i < rheos_tensor_num_elements(a); i++) assert_float_equal(x[i], y[i], 1e-5);
}

static void test_shapes_of_all_sizes(void **unused) {
  (void)unused;
  static const int64_t rows[] = {0, 1, 2, 31, 63, 64, 65, 127, 200, 1000};
  card_program cpu, card;
  rheos_session *on_cpu = NULL, *on_card = NULL;
  card_program_init(&cpu, "/device:CPU:0");
  card_program_init(&card, "/device:GPU:0");
  check(rheos_session_new(cpu.graph, NULL, &on_cpu));
  check(rheos_session_new(card.graph, NULL, &on_card));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    rheos_tensor *expected = NULL, *actual = NULL, *again = NULL;
    check(card_program_run(&cpu, on_cpu, rows[i], &expected));
    check(card_program_run(&card, on_card, rows[i], &actual));
    check(card_program_run(&card, on_card, rows[i], &again));
    if (rows[i] > 0) assert_near(actual, expected);
    assert_memory_equal(rheos_tensor_data(actual), rheos_tensor_data(again),
                        rheos_tensor_size_bytes(actual));
    rheos_tensor_unref(expected);
    rheos_tensor_unref(actual);
    rheos_tensor_unref(again);
  }
  rheos_session_free(on_cpu);
  rheos_session_free(on_card);
  card_program_deinit(&cpu);
  card_program_deinit(&card);
}

// One whole go with a counting allocator; whether all went well.
static bool go(counting_allocator *counter, int64_t fail_at) {
  card_program p;
  rheos_session *session = NULL;
  rheos_tensor *y = NULL;
  card_program_init(&p, "/device:GPU:0");
  *counter = (counting_allocator){.fail_at = fail_at};
  counting_allocator_install(counter);
  rheos_status *status = rheos_session_new(p.graph, NULL, &session);
  if (status == NULL) status = card_program_run(&p, session, 70, &y);
  counter->fail_at = 0;
  const bool is_fine = status == NULL;
  if (status != NULL) assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
  rheos_status_free(status);
  rheos_tensor_unref(y);
  if (session != NULL) {  // it goes on
    check(card_program_run(&p, session, 70, &y));
    assert_float_equal(((const float *)rheos_tensor_data(y))[0], 0.02, 0.05);
    rheos_tensor_unref(y);
  }
  rheos_session_free(session);
  rheos_set_allocator(NULL);
  card_program_deinit(&p);
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
  const card_program *program;
  rheos_session *session;
  const rheos_tensor *expected;
} worker;

static void *work(void *argument) {
  const worker *w = argument;
  for (int i = 0; i < 20; i++) {
    rheos_tensor *y = NULL;
    check(card_program_run(w->program, w->session, 100, &y));
    assert_memory_equal(rheos_tensor_data(y), rheos_tensor_data(w->expected),
                        rheos_tensor_size_bytes(y));
    rheos_tensor_unref(y);
  }
  return NULL;
}

static void test_threads(void **unused) {
  (void)unused;
  enum { THREADS = 4 };
  card_program p;
  rheos_session *session = NULL;
  rheos_tensor *expected = NULL;
  pthread_t threads[THREADS];
  card_program_init(&p, "/device:GPU:0");
  check(rheos_session_new(p.graph, NULL, &session));
  check(card_program_run(&p, session, 100, &expected));
  worker w = {&p, session, expected};
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, work, &w), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  rheos_tensor_unref(expected);
  rheos_session_free(session);
  card_program_deinit(&p);
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
