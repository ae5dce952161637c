// Where diagonals lie in matrices and where in their packed rows: plain functions, so that they are
// part of programs for graphics cards too.
#ifndef RHEOS_SRC_OPS_ARRAY_BAND_FORMULAS_H
#define RHEOS_SRC_OPS_ARRAY_BAND_FORMULAS_H

#ifndef __OPENCL_VERSION__
#include <stdbool.h>
#include <stdint.h>
#endif

// The row, and the column, that a diagonal begins at.
static inline int64_t first_row_of(int64_t diagonal) { return diagonal < 0 ? -diagonal : 0; }
static inline int64_t first_column_of(int64_t diagonal) { return diagonal > 0 ? diagonal : 0; }

static inline int64_t diagonal_length(int64_t diagonal, int64_t rows, int64_t columns) {
  const int64_t down = rows - first_row_of(diagonal), across = columns - first_column_of(diagonal);
  return down < across ? down : across;
}

// Where it starts in its packed row; `upper_left`, `lower_left`: whether diagonals above, and
// below, start at the left.
static inline int64_t diagonal_start(int64_t diagonal, int64_t rows, int64_t columns,
                                     int64_t longest, bool upper_left, bool lower_left) {
  const bool is_left = (diagonal >= 0 && upper_left) || (diagonal <= 0 && lower_left);
  return is_left ? 0 : longest - diagonal_length(diagonal, rows, columns);
}

#endif  // RHEOS_SRC_OPS_ARRAY_BAND_FORMULAS_H
