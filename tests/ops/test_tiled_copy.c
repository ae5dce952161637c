// Copies by tiles against their definition: dimensions of random sizes and number in any order, all
// element sizes, any part of the tiles at a time. What lies around the result stays as it was.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/kit/stream.h"
#include "ops/kit/tiled_copy.h"

enum { GUARD = 128, UNTOUCHED = 0xa5, MOST_RANK = 6 };

static uint32_t random_state = 1;
static int64_t draw(int64_t below) {
  random_state = random_state * 1664525u + 1013904223u;
  return (int64_t)(random_state >> 8) % below;
}

static void *lines_of(size_t bytes) {
  void *memory = NULL;
  assert_int_equal(posix_memalign(&memory, RHEOS__LINE_BYTES, bytes), 0);
  return memory;
}

typedef struct order {
  int32_t rank;
  int64_t dims[MOST_RANK];
  int32_t perm[MOST_RANK];
} order;

static rheos__copy copy_of(const order *o) {
  int64_t in_steps[MOST_RANK], out_steps[MOST_RANK], step = 1;
  for (int32_t d = o->rank - 1; d >= 0; --d) in_steps[d] = step, step *= o->dims[d];
  step = 1;
  for (int32_t d = o->rank - 1; d >= 0; --d) out_steps[d] = step, step *= o->dims[o->perm[d]];
  rheos__copy copy;
  rheos__copy_init(&copy, RHEOS_UINT8);
  for (int32_t d = 0; d < o->rank; ++d) {
    rheos__copy_add(&copy, o->dims[o->perm[d]], in_steps[o->perm[d]], out_steps[d]);
  }
  return copy;
}

static void copy_one_by_one(const rheos__copy *copy, int64_t size, const char *in, char *out) {
  for (int64_t i = 0; i < copy->num_elements; ++i) {
    int64_t rest = i, from = 0, to = 0;
    for (int32_t d = copy->rank - 1; d >= 0; --d) {
      from += rest % copy->dims[d] * copy->in_steps[d];
      to += rest % copy->dims[d] * copy->out_steps[d];
      rest /= copy->dims[d];
    }
    memcpy(out + to * size, in + from * size, (size_t)size);
  }
}

// Whether there is a plan. The source is of exactly the bytes it takes, so that a sanitizer sees
// what reads beyond.
static bool check(const order *o, int64_t size, int64_t offset) {
  const rheos__copy copy = copy_of(o);
  rheos__tiled *t = malloc(sizeof *t);
  assert_non_null(t);
  if (!rheos__tiled_plan(&copy, size, t)) return free(t), false;
  const size_t bytes = (size_t)(copy.num_elements * size), out_bytes = bytes + 2 * GUARD;
  char *in = malloc(bytes), *out = lines_of(out_bytes), *expected = malloc(out_bytes);
  char *scratch = lines_of(rheos__tiled_scratch_bytes(t));
  assert_true(in != NULL && expected != NULL);
  for (size_t i = 0; i < bytes; ++i) in[i] = (char)draw(256);
  memset(out, UNTOUCHED, out_bytes);
  memset(expected, UNTOUCHED, out_bytes);
  copy_one_by_one(&copy, size, in, expected + offset);
  for (int64_t first = 0; first < t->num_tiles;) {
    int64_t last = first + 1 + draw(t->num_tiles);
    if (last > t->num_tiles) last = t->num_tiles;
    rheos__tiled_run(t, in, out + offset, scratch, first, last);
    first = last;
  }
  if (memcmp(out, expected, out_bytes) != 0) {
    fail_msg("rank %d: %d %d %d %d %d %d by %d %d %d %d %d %d, %d bytes, offset %d", (int)o->rank,
             (int)o->dims[0], (int)o->dims[1], (int)o->dims[2], (int)o->dims[3], (int)o->dims[4],
             (int)o->dims[5], (int)o->perm[0], (int)o->perm[1], (int)o->perm[2], (int)o->perm[3],
             (int)o->perm[4], (int)o->perm[5], (int)size, (int)offset);
  }
  free(in), free(out), free(expected), free(scratch), free(t);
  return true;
}

// Where `keeps_last`, elements that lie together stay so.
static order random_order(bool keeps_last) {
  static const int64_t dims[] = {2, 3, 4, 5, 7, 8, 12, 16, 17, 31, 64, 100, 129, 300, 1030};
  order o = {.rank = 2 + (int32_t)draw(MOST_RANK - 1)};
  int64_t left = 60000;  // elements
  for (int32_t d = 0; d < o.rank; ++d) {
    do {
      o.dims[d] = dims[draw((int64_t)(sizeof dims / sizeof *dims))];
    } while (o.dims[d] > left && left >= 2);
    if (left < 2) o.dims[d] = 1;
    left /= o.dims[d];
    o.perm[d] = d;
  }
  for (int32_t d = o.rank - 1 - keeps_last; d > 0; --d) {
    const int32_t other = (int32_t)draw(d + 1), kept = o.perm[d];
    o.perm[d] = o.perm[other], o.perm[other] = kept;
  }
  return o;
}

static void test_orders(void **state) {
  (void)state;
  int planned = 0, of_bytes = 0;
  for (int i = 0; i < 600; ++i) {
    const order o = random_order(draw(2) == 0);
    const int64_t size = (int64_t)1 << draw(7);
    const bool done = check(&o, size, draw(2) == 0 ? GUARD : GUARD - size);
    planned += done, of_bytes += done && size < 4;
  }
  // One dimension, or small elements that lie alone, are left to others.
  assert_true(planned > 200);
  assert_true(of_bytes > 20);
}

// Shapes around the sizes of tiles.
static void test_edges(void **state) {
  (void)state;
  for (int64_t rows = 1; rows < 300; rows = rows * 3 / 2 + 1) {
    for (int64_t columns = 255; columns <= 259; ++columns) {
      const order swapped = {.rank = 3, .dims = {rows, columns, 3}, .perm = {1, 0, 2}};
      const order transposed = {.rank = 2, .dims = {columns, rows}, .perm = {1, 0}};
      for (int64_t size = 4; size <= 16; size *= 2) {
        check(&swapped, size, GUARD);
        check(&transposed, size, GUARD);
      }
      check(&swapped, 1, GUARD);
    }
  }
}

// Four runs of which the second and third lie the other way round in the source.
static void test_short_dimensions(void **state) {
  (void)state;
  const order halves = {.rank = 4, .dims = {64, 3, 2, 2}, .perm = {3, 2, 1, 0}};
  const order twos = {.rank = 6, .dims = {300, 2, 2, 2, 2, 2}, .perm = {5, 4, 3, 2, 1, 0}};
  for (int64_t size = 4; size <= 64; size *= 2) {
    assert_true(check(&halves, size, GUARD));
    assert_true(check(&twos, size, GUARD));
  }
}

static void test_what_is_no_transpose(void **state) {
  (void)state;
  rheos__tiled *t = malloc(sizeof *t);
  assert_non_null(t);
  rheos__copy copy;
  rheos__copy_init(&copy, RHEOS_FLOAT);
  rheos__copy_add(&copy, 64, 0, 64);  // repeats a row
  rheos__copy_add(&copy, 64, 1, 1);
  assert_false(rheos__tiled_plan(&copy, 4, t));
  rheos__copy_init(&copy, RHEOS_FLOAT);
  rheos__copy_add(&copy, 64, 1, 64);  // leaves out rows of the source
  rheos__copy_add(&copy, 64, 128, 1);
  assert_false(rheos__tiled_plan(&copy, 4, t));
  rheos__copy_init(&copy, RHEOS_FLOAT);
  rheos__copy_add(&copy, 64, -1, 64);  // turns it round
  rheos__copy_add(&copy, 64, 64, 1);
  assert_false(rheos__tiled_plan(&copy, 4, t));
  free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders), cmocka_unit_test(test_edges),
                                     cmocka_unit_test(test_short_dimensions),
                                     cmocka_unit_test(test_what_is_no_transpose)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
