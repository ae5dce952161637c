// What is shared: neighbours with the same bytes, and nothing else.
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena_share.h"

static void test_arena_share__gives_equal_neighbours_once(void **state) {
  (void)state;
  rheos__arena arena;
  rheos__arena_init(&arena);
  for (int round = 0; round < 2; round++) {
    int a[9] = {1, 2}, b[9] = {1, 3};
    const void *first = rheos__arena_share(&arena, a, sizeof a);
    assert_ptr_equal(rheos__arena_share(&arena, a, sizeof a), first);
    const void *second = rheos__arena_share(&arena, b, sizeof b);
    assert_ptr_not_equal(first, second);
    assert_memory_equal(first, a, sizeof a);
    assert_memory_equal(second, b, sizeof b);
    assert_ptr_equal(rheos__arena_share(&arena, b, sizeof b), second);
    assert_ptr_not_equal(rheos__arena_share(&arena, b, sizeof b[0]), second);
    const void *again = rheos__arena_share(&arena, a, sizeof a);
    assert_memory_equal(again, a, sizeof a);
    rheos__arena_reset(&arena);
  }
  rheos__arena_deinit(&arena);
}

static void test_arena_share__looks_at_no_byte_outside(void **state) {
  (void)state;
  rheos__arena arena;
  rheos__arena_init(&arena);
  char bytes[4000] = {0};
  for (size_t size = 1; size < sizeof bytes; size = size * 3 + 1) {  // more than there is, at first
    const char *copy = rheos__arena_share(&arena, bytes, size);
    assert_memory_equal(copy, bytes, size);
    assert_int_equal((uintptr_t)copy % 16, 0);
    memset(bytes, (int)size & 0x7f, sizeof bytes);
  }
  rheos__arena_deinit(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_arena_share__gives_equal_neighbours_once),
      cmocka_unit_test(test_arena_share__looks_at_no_byte_outside),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
