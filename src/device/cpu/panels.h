// Large products of float32 matrices by the loops of dense_kernel.c: the second operand is laid
// down in panels as wide as a tile, a block that stays in the second-level cache at a time.
#ifndef RHEOS_SRC_DEVICE_CPU_PANELS_H
#define RHEOS_SRC_DEVICE_CPU_PANELS_H

#include "device/cpu/dense.h"

// Up to so many rows b is read where it lies, unless it is in panels already or transposed.
enum { RHEOS__PANELS_FEW_ROWS = 32 };

// c (m,n) = a (m,k) b (k,n), c row-major without gaps. Element (k, j) of b is at k * b_row + j *
// b_column, one of which is 1. The work is cut into units of some columns by some rows, those of
// the same columns in a row: how depends on the shape alone.
typedef struct rheos__panels {
  int64_t m, n, k;
  int64_t a_row, a_column, b_row, b_column;
  int64_t unit_columns, unit_rows, column_units, row_units;
  bool is_packed;  // b is in panels already, as rheos__panels_pack_all() puts it
  // Set with the units: b is transposed and a much smaller; a is transposed. See panels.c
  bool transposes_result, packs_rows;
} rheos__panels;

// Sets the units.
void rheos__panels_cut(rheos__panels *p);
size_t rheos__panels_scratch_bytes(const rheos__panels *p);

// All of b in panels: as many floats as it has elements. They depend on n, k, b_row, b_column and
// rheos__dense_columns() alone.
void rheos__panels_pack_all(const rheos__panels *p, const float *b, float *to);

// Each element is the sum over k in order, whatever units are asked for together. `done`, if not
// NULL, is told of each piece of the result that is complete.
typedef void (*rheos__panels_done_fn)(const void *argument, int64_t first_row, int64_t last_row,
                                      int64_t first_column, int64_t last_column);
void rheos__panels_run(const rheos__panels *p, const float *a, const float *b, float *c,
                       int64_t first_unit, int64_t last_unit, void *scratch,
                       rheos__panels_done_fn done, const void *argument);

// Lays `depth` rows of `columns` columns of b down in panels of rheos__dense_columns() columns, one
// after the other, the last of what is left. Each panel has `panel_rows` rows, of which these are
// some, from row `first` on.
void rheos__panels_pack(const float *b, int64_t b_row, int64_t b_column, int64_t depth,
                        int64_t columns, float *to, int64_t first, int64_t panel_rows);

#endif  // RHEOS_SRC_DEVICE_CPU_PANELS_H
