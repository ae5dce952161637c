// Small blocks: threads keep some of them and give them back at their end, and another allocator
// gets none that it has not made and loses none that it has.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rheos/base.h>

#include "base/small_blocks.h"

enum { MANY = 100, BYTES = 256 };

static void test_small_blocks__are_all_different(void **state) {
  (void)state;
  for (int round = 0; round < 3; round++) {
    char *blocks[MANY];
    for (int i = 0; i < MANY; i++) {
      blocks[i] = rheos__small_alloc(i % RHEOS__SMALL_CLASSES, BYTES);
      assert_non_null(blocks[i]);
      memset(blocks[i], i, BYTES);
    }
    for (int i = 0; i < MANY; i++) {
      for (int k = 0; k < BYTES; k++) assert_int_equal(blocks[i][k], (char)i);
      rheos__small_free(i % RHEOS__SMALL_CLASSES, blocks[i]);
    }
  }
}

// Takes a block from the main thread and leaves some of its own behind.
static void *work(void *argument) {
  rheos__small_free(1, argument);
  void *blocks[MANY];
  for (int i = 0; i < MANY; i++) blocks[i] = rheos__small_alloc(1, BYTES);
  for (int i = 0; i < MANY; i++) rheos__small_free(1, blocks[i]);
  return NULL;
}

static void test_small_blocks__go_from_thread_to_thread(void **state) {
  (void)state;
  for (int i = 0; i < 20; i++) {
    pthread_t thread;
    void *block = rheos__small_alloc(1, BYTES);
    assert_non_null(block);
    assert_int_equal(pthread_create(&thread, NULL, work, block), 0);
    pthread_join(thread, NULL);
  }
}

static int live;

static void *allocate(void *user, size_t size_bytes) {
  (void)user;
  live++;
  char *block = malloc(size_bytes + 16);
  return block != NULL ? block + 16 : NULL;
}

static void *reallocate(void *user, void *memory, size_t size_bytes) {
  (void)user, (void)memory, (void)size_bytes;
  return NULL;
}

static void release(void *user, void *memory) {
  (void)user;
  live--;
  free((char *)memory - 16);
}

static void test_small_blocks__leave_other_allocators_alone(void **state) {
  (void)state;
  rheos__small_free(2, rheos__small_alloc(2, BYTES));  // may be kept
  const rheos_allocator other = {allocate, reallocate, release, NULL};
  rheos_set_allocator(&other);
  void *blocks[] = {rheos__small_alloc(2, BYTES), rheos__small_alloc(2, BYTES)};
  assert_int_equal(live, 2);
  rheos__small_free(2, blocks[0]);
  rheos__small_free(2, blocks[1]);
  assert_int_equal(live, 0);
  rheos_set_allocator(NULL);
  rheos__small_free(2, rheos__small_alloc(2, BYTES));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_small_blocks__are_all_different),
      cmocka_unit_test(test_small_blocks__go_from_thread_to_thread),
      cmocka_unit_test(test_small_blocks__leave_other_allocators_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
