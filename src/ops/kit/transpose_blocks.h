// Matrices transposed: the inner two loops of a transpose, and all that makes them fast.
#ifndef RHEOS_SRC_OPS_KIT_TRANSPOSE_BLOCKS_H
#define RHEOS_SRC_OPS_KIT_TRANSPOSE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

enum { RHEOS__TRANSPOSE_BAND = 64 };  // columns that are best taken together

// Element (r, c) of the result, at to + (r * to_row + c) * size, is the one of the source at
// from + (c * from_column + r) * size. `size` is 1, 2, 4, 8, 16, 32 or 64 bytes.
typedef struct rheos__transposition {
  char *to;
  const char *from;
  int64_t size, to_row, from_column, rows, columns;
} rheos__transposition;

// Makes the rows [first_row, last_row) and columns [first_column, last_column) of the result. If it
// streams (stream.h), a line of the caches that lies across the first column is left to whoever
// makes the columns before, and the one across the last is made whole; so calls for neighbouring
// columns together make every element once.
void rheos__transpose_block(const rheos__transposition *t, int64_t first_row, int64_t last_row,
                            int64_t first_column, int64_t last_column, bool stream);

// Transposes `count` whole matrices, each `from_step` and `to_step` bytes behind the one before, of
// elements of 4 or 8 bytes and at most RHEOS__TRANSPOSE_FEW of them: there are no tiles to be made
// of such.
enum { RHEOS__TRANSPOSE_FEW = 64 };
void rheos__transpose_many(const rheos__transposition *t, int64_t count, int64_t from_step,
                           int64_t to_step, bool stream);

#endif  // RHEOS_SRC_OPS_KIT_TRANSPOSE_BLOCKS_H
