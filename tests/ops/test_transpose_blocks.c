// Transposed blocks against their definition: all element sizes, shapes around the sizes of tiles
// and bands, any alignment, in one block and in several. What lies around the result stays as it
// was.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ops/kit/stream.h"
#include "ops/kit/transpose_blocks.h"

enum { GUARD = 128, UNTOUCHED = 0xa5 };

typedef struct shape {
  int64_t rows, columns, row_gap, column_gap;
} shape;

static void fill(unsigned char *bytes, size_t count) {
  uint32_t state = 1;
  for (size_t i = 0; i < count; i++) {
    state = state * 1664525u + 1013904223u;
    bytes[i] = (unsigned char)(state >> 24);
  }
}

// The result of exactly the bytes it takes, so that a sanitizer sees what reads or writes beyond.
static void check(int64_t size, const shape *s, int64_t offset, int64_t block, bool stream) {
  const int64_t to_row = s->columns + s->row_gap, from_column = s->rows + s->column_gap;
  const size_t in_bytes = (size_t)(((s->columns - 1) * from_column + s->rows) * size);
  const size_t out_bytes = (size_t)(s->rows * to_row * size) + 2 * GUARD;
  unsigned char *in = malloc(in_bytes), *out = NULL, *expected = malloc(out_bytes);
  assert_int_equal(posix_memalign((void **)&out, 64, out_bytes), 0);
  assert_true(in != NULL && expected != NULL);
  fill(in, in_bytes);
  memset(out, UNTOUCHED, out_bytes);
  memset(expected, UNTOUCHED, out_bytes);
  unsigned char *to = out + offset, *wanted = expected + offset;
  for (int64_t r = 0; r < s->rows; r++) {
    for (int64_t c = 0; c < s->columns; c++) {
      memcpy(wanted + (r * to_row + c) * size, in + (c * from_column + r) * size, (size_t)size);
    }
  }
  const rheos__transposition turn = {(char *)to,  (const char *)in, size,      to_row,
                                     from_column, s->rows,          s->columns};
  for (int64_t j = 0; j < s->columns; j += block) {
    for (int64_t i = 0; i < s->rows; i += block) {
      rheos__transpose_block(&turn, i, i + block < s->rows ? i + block : s->rows, j,
                             j + block < s->columns ? j + block : s->columns, stream);
    }
  }
  rheos__stream_end();
  if (memcmp(out, expected, out_bytes) != 0) {
    fail_msg("%d bytes, %d by %d, gaps %d and %d, offset %d, blocks of %d, stream %d", (int)size,
             (int)s->rows, (int)s->columns, (int)s->row_gap, (int)s->column_gap, (int)offset,
             (int)block, stream);
  }
  free(in), free(out), free(expected);
}

static void test_blocks(void **state) {
  (void)state;
  static const shape shapes[] = {
      {1, 1, 0, 0},     {2, 3, 0, 0},    {3, 200, 0, 0},   {200, 3, 0, 0},   {7, 150, 0, 0},
      {16, 16, 0, 0},   {64, 128, 0, 0}, {128, 64, 0, 5},  {80, 7, 0, 0},    {49, 33, 0, 0},
      {33, 49, 0, 0},   {96, 64, 0, 0},  {100, 130, 0, 3}, {70, 300, 4, 0},  {48, 160, 32, 16},
      {17, 63, 1, 0},   {130, 17, 0, 0}, {64, 8, 8, 0},    {20, 131, 61, 0}, {200, 144, 0, 7},
      {150, 136, 24, 0}};
  static const int64_t sizes[] = {1, 2, 4, 8, 16, 32, 64};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    for (size_t z = 0; z < sizeof sizes / sizeof *sizes; z++) {
      for (int stream = 0; stream < 2; stream++) {
        check(sizes[z], &shapes[k], GUARD, 1024, stream);
        check(sizes[z], &shapes[k], GUARD, 64, stream);
        check(sizes[z], &shapes[k], GUARD - sizes[z], 64, stream);
        check(sizes[z], &shapes[k], GUARD - 1, 64, stream);
      }
    }
  }
}

// Many matrices of these rows and columns, `gap` elements between them in source and result.
static void check_many(int64_t size, int64_t rows, int64_t columns, int64_t count, int64_t gap,
                       int64_t offset, bool stream) {
  const int64_t step = rows * columns + gap;
  const size_t in_bytes = (size_t)(((count - 1) * step + rows * columns) * size);
  const size_t out_bytes = in_bytes + 2 * GUARD;
  unsigned char *in = malloc(in_bytes), *out = NULL, *expected = malloc(out_bytes);
  assert_int_equal(posix_memalign((void **)&out, 64, out_bytes), 0);
  assert_true(in != NULL && expected != NULL);
  fill(in, in_bytes);
  memset(out, UNTOUCHED, out_bytes);
  memset(expected, UNTOUCHED, out_bytes);
  for (int64_t m = 0; m < count; m++) {
    for (int64_t r = 0; r < rows; r++) {
      for (int64_t c = 0; c < columns; c++) {
        memcpy(expected + offset + (m * step + r * columns + c) * size,
               in + (m * step + c * rows + r) * size, (size_t)size);
      }
    }
  }
  const rheos__transposition turn = {
      (char *)out + offset, (const char *)in, size, columns, rows, rows, columns};
  rheos__transpose_many(&turn, count, step * size, step * size, stream);
  rheos__stream_end();
  if (memcmp(out, expected, out_bytes) != 0) {
    fail_msg("%d bytes, %d of %d by %d, gap %d, offset %d, stream %d", (int)size, (int)count,
             (int)rows, (int)columns, (int)gap, (int)offset, stream);
  }
  free(in), free(out), free(expected);
}

static void test_many_small_matrices(void **state) {
  (void)state;
  for (int64_t rows = 1; rows <= 16; rows++) {
    for (int64_t columns = 1; columns <= RHEOS__TRANSPOSE_FEW / rows; columns++) {
      for (int variant = 0; variant < 8; variant++) {
        const int64_t size = variant & 1 ? 4 : 8, count = variant & 2 ? 37 : 1 + columns;
        const bool stream = (variant & 4) != 0;
        check_many(size, rows, columns, count, 0, GUARD, stream);
        check_many(size, rows, columns, count, 3, GUARD, stream);
        check_many(size, rows, columns, count, 0, GUARD - size, stream);
      }
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks),
                                     cmocka_unit_test(test_many_small_matrices)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
