// Places in a block: never two at once on the same bytes, joined when they are free.
#include "base/offset_allocator.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MANY = 300, ROUNDS = 20000 };

typedef struct taken {
  size_t offset, bytes;
  int32_t place;
} taken;

static void test_offset_allocator__random_places_never_overlap(void **state) {
  (void)state;
  rheos__offset_allocator space;
  rheos__offset_allocator_init(&space);
  taken all[MANY];
  int count = 0;
  size_t alive = 0, most = 0;
  uint64_t random = 1;
  for (int round = 0; round < ROUNDS; round++) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    const uint64_t dice = random >> 33;
    if (count == MANY || (count > 0 && dice % 2 == 0)) {
      const int which = (int)(dice / 2 % (uint64_t)count);
      rheos__offset_allocator_give(&space, all[which].place);
      alive -= all[which].bytes;
      all[which] = all[--count];
      continue;
    }
    taken t = {.bytes = (size_t)1 << (dice / 2 % 16)};
    t.bytes += (size_t)(dice / 64) % t.bytes;
    assert_true(rheos__offset_allocator_take(&space, t.bytes, &t.offset, &t.place));
    assert_int_equal(t.offset % 64, 0);
    assert_true(t.offset + t.bytes <= space.end);
    for (int i = 0; i < count; i++) {
      assert_true(t.offset + t.bytes <= all[i].offset || all[i].offset + all[i].bytes <= t.offset);
    }
    all[count++] = t;
    alive += t.bytes;
    if (alive > most) most = alive;
  }
  assert_true(space.end < 2 * most);
  while (count > 0) rheos__offset_allocator_give(&space, all[--count].place);
  const size_t end = space.end;  // all is one free place again
  size_t offset;
  int32_t place;
  assert_true(rheos__offset_allocator_take(&space, end, &offset, &place));
  assert_int_equal(offset, 0);
  assert_int_equal(space.end, end);
  rheos__offset_allocator_deinit(&space);
}

static void test_offset_allocator__neighbours_are_joined(void **state) {
  (void)state;
  rheos__offset_allocator space;
  rheos__offset_allocator_init(&space);
  size_t offset;
  int32_t places[4], large;
  for (int i = 0; i < 4; i++)
    assert_true(rheos__offset_allocator_take(&space, 1000, &offset, &places[i]));
  const size_t end = space.end;
  rheos__offset_allocator_give(&space, places[2]);
  rheos__offset_allocator_give(&space, places[0]);
  rheos__offset_allocator_give(&space, places[1]);
  assert_true(rheos__offset_allocator_take(&space, 3000, &offset, &large));
  assert_int_equal(offset, 0);
  assert_int_equal(space.end, end);
  rheos__offset_allocator_give(&space, places[3]);
  assert_true(rheos__offset_allocator_take(&space, 5000, &offset, &places[3]));  // grows at the end
  assert_int_equal(offset, 3008);
  assert_int_equal(space.end, 3008 + 5056);
  rheos__offset_allocator_deinit(&space);
}

static void test_offset_allocator__sizes_beyond_all_memory_are_refused(void **state) {
  (void)state;
  rheos__offset_allocator space;
  rheos__offset_allocator_init(&space);
  size_t offset;
  int32_t place;
  assert_false(rheos__offset_allocator_take(&space, SIZE_MAX, &offset, &place));
  assert_true(rheos__offset_allocator_take(&space, SIZE_MAX / 2, &offset, &place));
  assert_false(rheos__offset_allocator_take(&space, SIZE_MAX / 2 + 1000, &offset, &place));
  assert_true(
      rheos__offset_allocator_take(&space, 0, &offset, &place));  // a place of its own for nothing
  rheos__offset_allocator_deinit(&space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_offset_allocator__random_places_never_overlap),
      cmocka_unit_test(test_offset_allocator__neighbours_are_joined),
      cmocka_unit_test(test_offset_allocator__sizes_beyond_all_memory_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
