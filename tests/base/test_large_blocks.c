// Large blocks come back for the next request, within bounds, and none is given out twice.
#include "base/large_blocks.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"

static const size_t MIB = (size_t)1 << 20;

static void test_large_blocks__come_back(void **state) {
  (void)state;
  if (!rheos__large_blocks_work()) skip();
  rheos__large_trim();
  void *first = rheos__large_alloc(5 * MIB), *second = rheos__large_alloc(5 * MIB);
  assert_non_null(first);
  assert_ptr_not_equal(first, second);
  assert_int_equal((uintptr_t)first % 64, 0);
  assert_int_equal(rheos__large_kept_bytes(), 0);
  memset(first, 1, 5 * MIB);
  rheos__large_free(first);
  assert_true(rheos__large_kept_bytes() >= 5 * MIB);
  assert_ptr_equal(rheos__large_alloc(5 * MIB - 1000), first);
  rheos__large_free(first);
  void *other = rheos__large_alloc(MIB);  // far smaller: not out of the larger one
  assert_ptr_not_equal(other, first);
  rheos__large_free(other);
  rheos__large_free(second);
  rheos__large_trim();
  assert_int_equal(rheos__large_kept_bytes(), 0);
}

static void test_large_blocks__keep_no_more_than_was_used(void **state) {
  (void)state;
  if (!rheos__large_blocks_work()) skip();
  rheos__large_trim();
  for (size_t size = MIB; size < 64 * MIB; size += 700000) {  // one at a time, none of them alike
    rheos__large_free(rheos__large_alloc(size));
    assert_true(rheos__large_kept_bytes() <= 80 * MIB);
  }
  assert_true(rheos__large_kept_bytes() > 0);
  rheos__large_trim();
}

static void test_large_blocks__impossible_sizes_are_refused(void **state) {
  (void)state;
  assert_null(rheos__large_alloc(SIZE_MAX));
  assert_null(rheos__large_alloc(SIZE_MAX / 2));
  assert_null(rheos__alloc_aligned(SIZE_MAX - 10));
}

static void *use_blocks(void *argument) {
  unsigned char *blocks[8] = {NULL};
  const unsigned char mark = (unsigned char)(uintptr_t)argument;
  for (unsigned round = 0; round < 400; round++) {
    const unsigned i = (round * 7 + mark) % 8;
    const size_t size = (64 + (round * 37 + mark) % 400) << 10;
    if (blocks[i] != NULL && blocks[i][0] != mark) return argument;
    rheos__free_aligned(blocks[i]);
    blocks[i] = rheos__alloc_aligned(size);
    if (blocks[i] == NULL) return argument;
    blocks[i][0] = blocks[i][size - 1] = mark;
  }
  for (int i = 0; i < 8; i++) rheos__free_aligned(blocks[i]);
  return NULL;
}

static void test_large_blocks__threads_share_them(void **state) {
  (void)state;
  pthread_t threads[4];
  for (uintptr_t i = 0; i < 4; i++) pthread_create(&threads[i], NULL, use_blocks, (void *)(i + 1));
  for (int i = 0; i < 4; i++) {
    void *wrong = NULL;
    pthread_join(threads[i], &wrong);
    assert_null(wrong);
  }
  rheos__large_trim();
}

static void test_large_blocks__ordinary_memory_is_told_apart(void **state) {
  (void)state;
  enum { COUNT = 6 };
  unsigned char *blocks[COUNT];
  for (size_t i = 0; i < COUNT; i++) {  // some large ones, some not
    blocks[i] = rheos__alloc(i % 2 == 0 ? 3 * MIB : 1000);
    assert_non_null(blocks[i]);
    assert_int_equal(rheos__large_room_listed(blocks[i]) > 0,
                     i % 2 == 0 && rheos__large_blocks_work());
    memset(blocks[i], (int)i, 1000);
  }
  for (size_t i = 0; i < COUNT; i++) {  // grow, and shrink until they are large no more
    blocks[i] = rheos__realloc(blocks[i], 9 * MIB);
    assert_non_null(blocks[i]);
    assert_int_equal(blocks[i][999], i);
    blocks[i][9 * MIB - 1] = 1;
    blocks[i] = rheos__realloc(blocks[i], 900);
    assert_non_null(blocks[i]);
    assert_int_equal(blocks[i][899], i);
  }
  for (size_t i = 0; i < COUNT; i++) rheos__free(blocks[i]);
  unsigned char *grown = NULL;
  size_t capacity = 0;
  for (size_t count = 1; count < 40 * MIB; count = count * 3 / 2 + 1) {
    assert_true(rheos__reserve((void **)&grown, &capacity, count, 1));
    grown[count - 1] = (unsigned char)(count % 251);
  }
  for (size_t count = 1; count < 40 * MIB; count = count * 3 / 2 + 1) {
    assert_int_equal(grown[count - 1], count % 251);
  }
  rheos__free(grown);
  rheos__large_trim();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_large_blocks__come_back),
      cmocka_unit_test(test_large_blocks__keep_no_more_than_was_used),
      cmocka_unit_test(test_large_blocks__impossible_sizes_are_refused),
      cmocka_unit_test(test_large_blocks__threads_share_them),
      cmocka_unit_test(test_large_blocks__ordinary_memory_is_told_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
