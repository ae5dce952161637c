// An element that comes out for each work-item: of packed diagonals, or of matrices (TO_MATRIX),
// where elsewhere stands the same everywhere, or what a matrix has there (HAS_MATRIX).
kernel void bands(global const char *bx, ulong ox, global const char *be, ulong oe,
                  global char *bz, ulong oz, long count, long lower, long upper, long rows,
                  long columns, long num_diagonals, long longest) {
  const long at = get_global_id(0);
  if (at >= count) return;
  global const WORD *x = (global const WORD *)(bx + ox), *other = (global const WORD *)(be + oe);
#if TO_MATRIX
  const long row = at / columns % rows, column = at % columns, batch = at / columns / rows;
  const long diagonal = column - row, number = upper - diagonal;
  const long place = row - first_row_of(diagonal) +
                     diagonal_start(diagonal, rows, columns, longest, UPPER_LEFT, LOWER_LEFT);
  const bool is_there = diagonal >= lower && number >= 0 && number < num_diagonals &&
                        place >= 0 && place < longest;
  const long from = (batch * num_diagonals + number) * longest + place;
#else
  const long batch = at / longest / num_diagonals;
  const long diagonal = upper - at / longest % num_diagonals;
  const long place = at % longest -
                     diagonal_start(diagonal, rows, columns, longest, UPPER_LEFT, LOWER_LEFT);
  const long row = place + first_row_of(diagonal), column = place + first_column_of(diagonal);
  const bool is_there = diagonal >= lower && place >= 0 && row < rows && column < columns;
  const long from = (batch * rows + row) * columns + column;
#endif
  ((global WORD *)(bz + oz))[at] = is_there ? x[from] : other[HAS_MATRIX ? at : 0];
}
