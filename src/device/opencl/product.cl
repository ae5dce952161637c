// Products of matrices, and what can be seen as one: for each place `at` of a batch
//   C(row, column) = sum over deep < k of A(row, deep) * B(deep, column).
// Who includes this says what PARAMETERS there are, how to SET_UP for `at`, and where numbers lie. A
// place in A is found in two steps, A_ROW(row) and A_DEEP(deep), each of the type A_PLACE, so that
// neither is computed for every number; A_AT(row's, deep's) reads it. B_COLUMN, B_DEEP, B_PLACE and
// B_AT are the same for B; C_AT(C_ROW(row), C_COLUMN(column)) is written. A_ALONG_DEEP and
// B_ALONG_COLUMN: whether neighbours in memory are those along `deep`, along `column`.

// All of that is numbered in one dimension, for some cards have few groups along others. Several
// groups may have a part of the depth each (`parts` > 1): they leave sums in scratch memory, which
// join_parts() adds in their order.
#define BEGIN(number)                                                                   \
  const ulong share_at = (number);                                                      \
  const ulong at = share_at / (ulong)parts;                                             \
  const place part = share_at % (ulong)parts, rows = m, columns = n;                    \
  const place share = ((place)k + (place)parts - 1) / (place)parts;                     \
  const place first = min(part * share, (place)k), last = min(first + share, (place)k); \
  SET_UP

#define PUT(row, column, sum)                                                           \
  if (parts == 1) {                                                                     \
    C_AT(C_ROW(row), C_COLUMN(column)) = STORE(sum);                                    \
  } else {                                                                              \
    ((global COMPUTED *)(bc + oc))[(share_at * m + (row)) * n + (column)] = sum;        \
  }

// A group makes a TILE x TILE part of the result: each of its SIDE x SIDE work-items makes
// EACH x EACH numbers in registers, by vectors of 4, over STEP rows and columns at a time, which
// the group brings into its own memory: each item LOADS numbers of either matrix, while the
// numbers before are multiplied.
#ifdef EACH
#define SIDE 16
#define ITEMS (SIDE * SIDE)
#define TILE (SIDE * EACH)
#define VECTORS (EACH / 4)
#define LOADS 4
#define STEP (LOADS * ITEMS / TILE)

// Where the i-th number that an item brings lies: `in_deep` of STEP, `in_side` of TILE.
#define A_IN_DEEP(i) (A_ALONG_DEEP ? mine % STEP : mine / TILE + (i) * (ITEMS / TILE))
#define A_IN_SIDE(i) (A_ALONG_DEEP ? mine / STEP + (i) * (ITEMS / STEP) : mine % TILE)
#define B_IN_DEEP(i) (B_ALONG_COLUMN ? mine / TILE + (i) * (ITEMS / TILE) : mine % STEP)
#define B_IN_SIDE(i) (B_ALONG_COLUMN ? mine % TILE : mine / STEP + (i) * (ITEMS / STEP))

#define BRING(from)                                                                  \
  for (int i = 0; i < LOADS; i++) {                                                  \
    const bool a_is = first_row + A_IN_SIDE(i) < rows && (from) + A_IN_DEEP(i) < last; \
    const bool b_is = first_column + B_IN_SIDE(i) < columns && (from) + B_IN_DEEP(i) < last; \
    a_next[i] = a_is ? A_AT(a_rows[A_ALONG_DEEP ? i : 0], a_deep[A_IN_DEEP(i)]) : 0; \
    b_next[i] = b_is ? B_AT(b_columns[B_ALONG_COLUMN ? 0 : i], b_deep[B_IN_DEEP(i)]) : 0; \
  }
#define FIND_DEEP(from)                  \
  if (mine < STEP) {                     \
    a_deep[mine] = A_DEEP((from) + mine); \
    b_deep[mine] = B_DEEP((from) + mine); \
  }
#define ADD_ROW(i, component)                                                              \
  for (int j = 0; j < VECTORS; j++) {                                                      \
    sums[4 * v + i][j] = MULTIPLY_ADD_VECTOR((VECTOR)(xs[v].component), ys[j], sums[4 * v + i][j]); \
  }
#define PUT_COMPONENT(component, j)                                                         \
  if (row < rows && column + j < columns) PUT(row, column + j, sums[i][v].component)

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void product(
    global const char *ba, ulong oa, global const char *bb, ulong ob, global char *bc, ulong oc,
    long m, long n, long k, long parts, long count PARAMETERS) {
  const number group = get_group_id(0);
  const number tiles_down = (m + TILE - 1) / TILE, tiles_across = (n + TILE - 1) / TILE;
  BEGIN(group / tiles_across / tiles_down)
  local VECTOR a_part[STEP][TILE / 4 + 1], b_part[STEP][TILE / 4 + 1];
  local A_PLACE a_deep[STEP];
  local B_PLACE b_deep[STEP];
  const int mine = get_local_id(0), x = mine % SIDE, y = mine / SIDE;
  const place first_row = (place)(group / tiles_across % tiles_down) * TILE;
  const place first_column = (place)(group % tiles_across) * TILE;
  A_PLACE a_rows[A_ALONG_DEEP ? LOADS : 1];
  B_PLACE b_columns[B_ALONG_COLUMN ? 1 : LOADS];
  COMPUTED a_next[LOADS], b_next[LOADS];
  VECTOR sums[EACH][VECTORS];
  for (int i = 0; i < EACH; i++) {
    for (int v = 0; v < VECTORS; v++) sums[i][v] = 0;
  }
  for (int i = 0; i < (A_ALONG_DEEP ? LOADS : 1); i++) {
    a_rows[i] = A_ROW(first_row + A_IN_SIDE(i));
  }
  for (int i = 0; i < (B_ALONG_COLUMN ? 1 : LOADS); i++) {
    b_columns[i] = B_COLUMN(first_column + B_IN_SIDE(i));
  }
  FIND_DEEP(first)
  barrier(CLK_LOCAL_MEM_FENCE);
  BRING(first)
  barrier(CLK_LOCAL_MEM_FENCE);
  for (place from = first; from < last; from += STEP) {
    for (int i = 0; i < LOADS; i++) {
      ((local COMPUTED *)a_part[A_IN_DEEP(i)])[A_IN_SIDE(i)] = a_next[i];
      ((local COMPUTED *)b_part[B_IN_DEEP(i)])[B_IN_SIDE(i)] = b_next[i];
    }
    FIND_DEEP(from + STEP)
    barrier(CLK_LOCAL_MEM_FENCE);
    BRING(from + STEP)
    for (int d = 0; d < STEP; d++) {
      VECTOR xs[VECTORS], ys[VECTORS];
      for (int v = 0; v < VECTORS; v++) {
        xs[v] = a_part[d][v * SIDE + y];
        ys[v] = b_part[d][v * SIDE + x];
      }
      for (int v = 0; v < VECTORS; v++) {
        ADD_ROW(0, s0)
        ADD_ROW(1, s1)
        ADD_ROW(2, s2)
        ADD_ROW(3, s3)
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int i = 0; i < EACH; i++) {
    const place row = first_row + (i / 4 * SIDE + y) * 4 + i % 4;
    for (int v = 0; v < VECTORS; v++) {
      const place column = first_column + (v * SIDE + x) * 4;
      PUT_COMPONENT(s0, 0)
      PUT_COMPONENT(s1, 1)
      PUT_COMPONENT(s2, 2)
      PUT_COMPONENT(s3, 3)
    }
  }
}
#endif

// A work-item makes ROWS x COLUMNS numbers in registers: on processors, whose work-items share no
// memory that is faster, and wait for each other at a cost.
#define ROWS 4
#define COLUMNS 16
#define ADD_PRODUCTS(column)                                                    \
  for (place deep = first; deep < last; deep++) {                               \
    const A_PLACE a_deep = A_DEEP(deep);                                        \
    const B_PLACE b_deep = B_DEEP(deep);                                        \
    COMPUTED ys[COLUMNS];                                                       \
    for (int j = 0; j < COLUMNS; j++) ys[j] = B_AT(B_COLUMN(column), b_deep);   \
    for (int i = 0; i < ROWS; i++) {                                            \
      const COMPUTED value = A_AT(a_rows[i], a_deep);                           \
      for (int j = 0; j < COLUMNS; j++) sums[i][j] = MULTIPLY_ADD(value, ys[j], sums[i][j]); \
    }                                                                           \
  }
kernel void block(global const char *ba, ulong oa, global const char *bb, ulong ob,
                  global char *bc, ulong oc, long m, long n, long k, long parts,
                  long count PARAMETERS) {
  const place first_row = (place)get_global_id(1) * ROWS;
  const place first_column = (place)get_global_id(0) * COLUMNS;
  if (first_row >= (place)m || first_column >= (place)n) return;
  BEGIN(get_global_id(2))
  A_PLACE a_rows[ROWS];
  COMPUTED sums[ROWS][COLUMNS];
  for (int i = 0; i < ROWS; i++) {
    a_rows[i] = A_ROW(min(first_row + i, rows - 1));
    for (int j = 0; j < COLUMNS; j++) sums[i][j] = 0;
  }
  if (first_column + COLUMNS <= columns) {
    ADD_PRODUCTS(first_column + j)
  } else {
    ADD_PRODUCTS(min(first_column + j, columns - 1))
  }
  for (int i = 0; i < ROWS && first_row + i < rows; i++) {
    for (int j = 0; j < COLUMNS && first_column + j < columns; j++) {
      PUT(first_row + i, first_column + j, sums[i][j])
    }
  }
}

// The number that a work-item makes, of so many parts: neighbours in memory are next to each other,
// which where BATCH_INSIDE are those of a row, then of one place of the batch after another.
#if BATCH_INSIDE
#define FIND_NUMBER(parts)                                                                 \
  const number batch = (number)count / ((number)m * (number)n * (number)(parts));          \
  const number rest = index / (number)n / batch;                                           \
  const place column = index % (number)n, row = rest % (number)m;                          \
  const ulong found = index / (number)n % batch * (ulong)(parts) + rest / (number)m;
#else
#define FIND_NUMBER(parts)                                                                 \
  const place column = index % (number)n, row = index / (number)n % (number)m;             \
  const ulong found = index / (number)n / (number)m;
#endif

// A work-item makes one number: where there are few rows or columns.
kernel void each(global const char *ba, ulong oa, global const char *bb, ulong ob, global char *bc,
                 ulong oc, long m, long n, long k, long parts, long count PARAMETERS) {
  const number index = get_global_id(0);
  if (index >= (number)count) return;
  FIND_NUMBER(parts)
  BEGIN(found)
  const A_PLACE a_row = A_ROW(row);
  const B_PLACE b_column = B_COLUMN(column);
  COMPUTED sum = 0;
  for (place deep = first; deep < last; deep++) {
    sum = MULTIPLY_ADD(A_AT(a_row, A_DEEP(deep)), B_AT(b_column, B_DEEP(deep)), sum);
  }
  PUT(row, column, sum)
}

// A group makes one number: where there are few of them, each of many products.
#define GROUP 128
kernel void group_each(global const char *ba, ulong oa, global const char *bb, ulong ob,
                       global char *bc, ulong oc, long m, long n, long k, long parts,
                  long count PARAMETERS) {
  const number index = get_group_id(0);
  const place column = index % (number)n, row = index / (number)n % (number)m;
  BEGIN(index / (number)n / (number)m)
  local COMPUTED sums[GROUP];
  const int mine = get_local_id(0);
  const A_PLACE a_row = A_ROW(row);
  const B_PLACE b_column = B_COLUMN(column);
  COMPUTED sum = 0;
  for (place deep = first + mine; deep < last; deep += GROUP) {
    sum = MULTIPLY_ADD(A_AT(a_row, A_DEEP(deep)), B_AT(b_column, B_DEEP(deep)), sum);
  }
  sums[mine] = sum;
  for (int width = GROUP / 2; width > 0; width /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (mine < width) sums[mine] += sums[mine + width];
  }
  if (mine == 0) PUT(row, column, sums[0])
}

// The sums of the parts of the depth (A), added in their order; a work-item for each number.
kernel void join_parts(global const char *ba, ulong oa, global const char *bb, ulong ob,
                       global char *bc, ulong oc, long m, long n, long k, long parts,
                  long count PARAMETERS) {
  const number index = get_global_id(0);
  if (index >= (number)count) return;
  FIND_NUMBER(1)
  const ulong at = found;
  SET_UP
  global const COMPUTED *sums = (global const COMPUTED *)(ba + oa);
  COMPUTED sum = 0;
  for (long part = 0; part < parts; part++) {
    sum += sums[((at * parts + part) * m + row) * n + column];
  }
  C_AT(C_ROW(row), C_COLUMN(column)) = STORE(sum);
}
