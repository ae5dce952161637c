// Products of matrices, and what can be seen as one: for each place `at` of the third dimension
//   C(row, column) = sum over deep < k of A(row, deep) * B(deep, column).
// Who includes this says what PARAMETERS there are, how to SET_UP, and how to find A, B and C; and
// A_DEEP and B_COLUMN: whether neighbours in memory are those along `deep`, along `column`.

// A group makes a TILE x TILE part of the result: each of its SIDE x SIDE work-items makes
// EACH x EACH numbers, over DEEP rows and columns at a time, which it brings into the group's own
// memory.
#define TILE 64
#define SIDE 16
#define EACH 4
#define DEEP 16
kernel void product(global const char *ba, ulong oa, global const char *bb, ulong ob,
                    global char *bc, ulong oc, long m, long n, long k PARAMETERS) {
  const ulong at = get_global_id(2);
  SET_UP
  local COMPUTED a_part[DEEP][TILE + 1], b_part[DEEP][TILE + 1];
  const int x = get_local_id(0), y = get_local_id(1), mine = y * SIDE + x;
  const long first_row = (long)get_group_id(1) * TILE, first_column = (long)get_group_id(0) * TILE;
  COMPUTED sums[EACH][EACH];
  for (int i = 0; i < EACH; i++) {
    for (int j = 0; j < EACH; j++) sums[i][j] = 0;
  }
  for (long from = 0; from < k; from += DEEP) {
    for (int i = mine; i < TILE * DEEP; i += SIDE * SIDE) {
      const int a_deep = A_DEEP ? i % DEEP : i / TILE, a_at = A_DEEP ? i / DEEP : i % TILE;
      const int b_deep = B_COLUMN ? i / TILE : i % DEEP, b_at = B_COLUMN ? i % TILE : i / DEEP;
      const long row = first_row + a_at, column = first_column + b_at;
      a_part[a_deep][a_at] = row < m && from + a_deep < k ? A(row, from + a_deep) : 0;
      b_part[b_deep][b_at] = column < n && from + b_deep < k ? B(from + b_deep, column) : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int d = 0; d < DEEP; d++) {
      COMPUTED xs[EACH], ys[EACH];
      for (int i = 0; i < EACH; i++) xs[i] = a_part[d][y + i * SIDE];
      for (int j = 0; j < EACH; j++) ys[j] = b_part[d][x + j * SIDE];
      for (int i = 0; i < EACH; i++) {
        for (int j = 0; j < EACH; j++) sums[i][j] = MULTIPLY_ADD(xs[i], ys[j], sums[i][j]);
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < EACH; i++) {
    for (int j = 0; j < EACH; j++) {
      const long row = first_row + y + i * SIDE, column = first_column + x + j * SIDE;
      if (row < m && column < n) C(row, column) = STORE(sums[i][j]);
    }
  }
}

// A work-item makes ROWS x COLUMNS numbers in registers: on processors, whose work-items share no
// memory that is faster, and wait for each other at a cost.
#define ROWS 4
#define COLUMNS 16
#define ADD_PRODUCTS(column)                                              \
  for (long deep = 0; deep < k; deep++) {                                 \
    COMPUTED ys[COLUMNS];                                                 \
    for (int j = 0; j < COLUMNS; j++) ys[j] = B(deep, column);            \
    for (int i = 0; i < ROWS; i++) {                                      \
      const COMPUTED value = A(rows[i], deep);                            \
      for (int j = 0; j < COLUMNS; j++) sums[i][j] = MULTIPLY_ADD(value, ys[j], sums[i][j]); \
    }                                                                     \
  }
kernel void block(global const char *ba, ulong oa, global const char *bb, ulong ob,
                  global char *bc, ulong oc, long m, long n, long k PARAMETERS) {
  const ulong at = get_global_id(2);
  const long first_row = (long)get_global_id(1) * ROWS;
  const long first_column = (long)get_global_id(0) * COLUMNS;
  if (first_row >= m || first_column >= n) return;
  SET_UP
  long rows[ROWS];
  COMPUTED sums[ROWS][COLUMNS];
  for (int i = 0; i < ROWS; i++) {
    rows[i] = min(first_row + i, m - 1);
    for (int j = 0; j < COLUMNS; j++) sums[i][j] = 0;
  }
  if (first_column + COLUMNS <= n) {
    ADD_PRODUCTS(first_column + j)
  } else {
    ADD_PRODUCTS(min(first_column + j, n - 1))
  }
  for (int i = 0; i < ROWS && first_row + i < m; i++) {
    for (int j = 0; j < COLUMNS && first_column + j < n; j++) {
      C(first_row + i, first_column + j) = STORE(sums[i][j]);
    }
  }
}

// A work-item makes one number: where there are few rows or columns.
kernel void each(global const char *ba, ulong oa, global const char *bb, ulong ob, global char *bc,
                 ulong oc, long m, long n, long k PARAMETERS) {
  const ulong at = get_global_id(2);
  const long column = get_global_id(0), row = get_global_id(1);
  if (row >= m || column >= n) return;
  SET_UP
  COMPUTED sum = 0;
  for (long deep = 0; deep < k; deep++) sum = MULTIPLY_ADD(A(row, deep), B(deep, column), sum);
  C(row, column) = STORE(sum);
}

// A group makes one number: where there are few of them, each of many products.
#define GROUP 128
kernel void group_each(global const char *ba, ulong oa, global const char *bb, ulong ob,
                       global char *bc, ulong oc, long m, long n, long k PARAMETERS) {
  const ulong at = get_group_id(2);
  const long column = get_group_id(0), row = get_group_id(1);
  SET_UP
  local COMPUTED sums[GROUP];
  const int mine = get_local_id(0);
  COMPUTED sum = 0;
  for (long deep = mine; deep < k; deep += GROUP) {
    sum = MULTIPLY_ADD(A(row, deep), B(deep, column), sum);
  }
  sums[mine] = sum;
  for (int width = GROUP / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mine < width) sums[mine] += sums[mine + width];
  }
  if (mine == 0) C(row, column) = STORE(sums[0]);
}
