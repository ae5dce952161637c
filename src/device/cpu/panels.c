// Blocks of the second operand are turned into panels: each holds so many columns as a tile of the
// kernel is wide, row after row without gaps, so that the kernel streams it whatever the matrix's
// own steps are; and a transposed matrix costs hardly more. The first operand is read where it
// lies. Where b is transposed and a is much smaller, a is laid down instead, the transposed result
// comes out, and is transposed: the sums are the same.
// Where a is transposed, the numbers of a row lie so far apart that they push each other out of the
// caches. Narrow tiles, which want more of them for as much arithmetic, wait for that: for these,
// strips of a as high as a tile are laid down too.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include "device/cpu/panels.h"

#include <string.h>

#include "base/numbers.h"

// A block: at most MOST_DEPTH rows of b by BLOCK_COLUMNS columns, read again for BLOCK_ROWS rows of
// a. The result is read and written once a block of rows of b, so that few deep ones are better:
// one panel of them shall stay in the second-level cache.
enum { MOST_DEPTH = 1024, BLOCK_COLUMNS = 256, BLOCK_ROWS = 240, TILE_ROWS = 6 };

// The most rows of a for a result that is transposed, the most elements of a, the columns at a
// time.
enum { MOST_TURNED_ROWS = 192, MOST_TURNED = 1 << 19, TURNED_COLUMNS = 96 };

// Rows of a that are laid down at a time, and how far their numbers are apart at least; of vectors
// of how many columns the tiles are narrow.
enum { PACKED_ROWS = 8 * TILE_ROWS, FAR = 64, NARROW = 16 };

enum { UNIT_COLUMNS = 64, MOST_UNITS = 16, LEAST_UNIT_ROWS = 192 };

static int64_t parts(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

// Blocks of rows of b alike in depth.
static int64_t block_depth(const rheos__panels *p) {
  return p->k > MOST_DEPTH ? parts(p->k, parts(p->k, MOST_DEPTH)) : p->k;
}

void rheos__panels_cut(rheos__panels *p) {
  p->packs_rows = p->a_row == 1 && p->a_column >= FAR && p->m > RHEOS__PANELS_FEW_ROWS &&
                  p->n >= BLOCK_COLUMNS / 2 && rheos__dense_columns() <= NARROW;
  const int64_t step = p->packs_rows ? BLOCK_COLUMNS : UNIT_COLUMNS, columns = parts(p->n, step);
  p->column_units = rheos__min(columns, MOST_UNITS);
  p->unit_columns = parts(columns, p->column_units) * step;
  p->column_units = parts(p->n, p->unit_columns);
  const int64_t wanted = parts(MOST_UNITS, p->column_units);
  p->row_units = rheos__min(wanted, parts(p->m, LEAST_UNIT_ROWS));
  const int64_t tiles = parts(p->m, TILE_ROWS);
  p->unit_rows = parts(tiles, p->row_units) * TILE_ROWS;
  p->row_units = parts(p->m, p->unit_rows);
  p->transposes_result = p->b_column != 1 && p->m <= MOST_TURNED_ROWS && p->m <= p->n / 4 &&
                         p->k <= MOST_TURNED / p->m;
  if (p->transposes_result) {
    p->row_units = 1;
    p->unit_rows = p->m;
  }
}

size_t rheos__panels_scratch_bytes(const rheos__panels *p) {
  if (p->transposes_result) return sizeof(float) * (size_t)(p->m * (p->k + TURNED_COLUMNS));
  const int64_t rows = p->packs_rows ? PACKED_ROWS : 0;
  return sizeof(float) * (size_t)(block_depth(p) * (BLOCK_COLUMNS + rows));
}

// ---- Packing

typedef float vector __attribute__((vector_size(16), may_alias));
typedef float in_memory __attribute__((vector_size(16), aligned(4), may_alias));
#define AT(p) (*(in_memory *)(uintptr_t)(p))

static void pack_rows(const float *b, int64_t b_row, int64_t depth, int64_t columns, int width,
                      float *to, int64_t first, int64_t panel_rows) {
  for (int64_t k = 0; k < depth; k++) {
    const float *row = b + k * b_row;
    for (int64_t j = 0; j < columns; j += width) {
      const int64_t n = rheos__min(width, columns - j);
      memcpy(to + j * panel_rows + (first + k) * n, row + j, (size_t)n * sizeof *to);
    }
  }
}

// Four rows of `from` become four columns of `to`, four numbers at a time.
static void transpose_four(const float *from, int64_t step, int64_t depth, float *to,
                           int64_t width) {
  int64_t k = 0;
  for (; k + 4 <= depth; k += 4) {
    const vector a = AT(from + k), b = AT(from + step + k), c = AT(from + 2 * step + k),
                 d = AT(from + 3 * step + k);
    const vector ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const vector cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const vector ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const vector cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    AT(to + k * width) = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    AT(to + (k + 1) * width) = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    AT(to + (k + 2) * width) = __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5);
    AT(to + (k + 3) * width) = __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7);
  }
  for (; k < depth; k++) {
    for (int j = 0; j < 4; j++) to[k * width + j] = from[j * step + k];
  }
}

// A panel of a matrix that lies column after column: a strip of its depth at a time, so that the
// lines that are written stay near. Rows of `to` are `to_step` apart.
static void transpose_panel(const float *b, int64_t step, int64_t depth, int64_t n, float *to,
                            int64_t to_step) {
  enum { STRIP = 64 };
  for (int64_t k = 0; k < depth; k += STRIP) {
    const int64_t strip = rheos__min(STRIP, depth - k);
    int64_t j = 0;
    for (; j + 4 <= n; j += 4) {
      transpose_four(b + j * step + k, step, strip, to + k * to_step + j, to_step);
    }
    for (; j < n; j++) {
      for (int64_t i = 0; i < strip; i++) to[(k + i) * to_step + j] = b[j * step + k + i];
    }
  }
}

void rheos__panels_pack(const float *b, int64_t b_row, int64_t b_column, int64_t depth,
                        int64_t columns, float *to, int64_t first, int64_t panel_rows) {
  const int width = rheos__dense_columns();
  if (b_column == 1) {
    pack_rows(b, b_row, depth, columns, width, to, first, panel_rows);
    return;
  }
  for (int64_t j = 0; j < columns; j += width) {
    const int64_t n = rheos__min(width, columns - j);
    transpose_panel(b + j * b_column, b_column, depth, n, to + j * panel_rows + first * n, n);
  }
}

// Block by block of rows, in each panel by panel: that of column j has j * depth elements before
// it.
void rheos__panels_pack_all(const rheos__panels *p, const float *b, float *to) {
  const int64_t most = block_depth(p);
  for (int64_t k = 0; k < p->k; k += most) {
    const int64_t depth = rheos__min(most, p->k - k);
    rheos__panels_pack(b + k * p->b_row, p->b_row, p->b_column, depth, p->n, to + k * p->n, 0,
                       depth);
  }
}

// ---- Running

typedef struct piece {
  int64_t first_row, last_row, first_column, last_column;
} piece;

// For few rows a block would be laid down to be read but a few times. The sums have the same order.
static void run_in_place(const rheos__panels *p, const float *a, const float *b, float *c,
                         const piece *at) {
  const int64_t columns = at->last_column - at->first_column;
  const rheos__dense d = {.n = columns,
                          .k = p->k,
                          .a_row = p->a_row,
                          .a_column = p->a_column,
                          .b_row = p->b_row,
                          .c_row = p->n,
                          .end_column = columns};
  rheos__dense_kernel()(&d, a, b + at->first_column, c + at->first_column, at->first_row,
                        at->last_row);
}

// Rows [first, last) of a's columns from `a` on in strips of a tile's height, number after number.
static void pack_strips(const rheos__panels *p, const float *a, int64_t depth, int64_t first,
                        int64_t last, float *to) {
  for (int64_t k = 0; k < depth; k++) {
    const float *column = a + k * p->a_column;
    for (int64_t i = first; i < last; i += TILE_ROWS) {
      const int64_t rows = rheos__min(TILE_ROWS, last - i);
      float *strip = to + (i - first) * depth + k * rows;
      if (rows == TILE_ROWS) {
        memcpy(strip, column + i, TILE_ROWS * sizeof *to);
      } else {
        for (int64_t r = 0; r < rows; r++) strip[r] = column[i + r];
      }
    }
  }
}

// A block of b's columns by the piece's rows, for `d.k` rows of b.
static void run_strips(const rheos__panels *p, rheos__dense d, const float *a, const float *panels,
                       float *c, const piece *at, float *strips) {
  const rheos__dense_fn run = rheos__dense_kernel();
  const int64_t width = rheos__dense_columns(), columns = at->last_column - at->first_column;
  d.a_row = 1;
  for (int64_t i = at->first_row; i < at->last_row; i += PACKED_ROWS) {
    const int64_t last = rheos__min(i + PACKED_ROWS, at->last_row);
    pack_strips(p, a, d.k, i, last, strips);
    for (int64_t j = 0; j < columns; j += width) {
      d.n = d.b_row = d.end_column = rheos__min(width, columns - j);
      for (int64_t row = i; row < last; row += TILE_ROWS) {
        d.a_column = rheos__min(TILE_ROWS, last - row);
        run(&d, strips + (row - i) * d.k, panels + j * d.k, c + row * p->n + at->first_column + j,
            0, d.a_column);
      }
    }
  }
}

static void run_piece(const rheos__panels *p, const float *a, const float *b, float *c,
                      const piece *at, float *panels) {
  const rheos__dense_fn run = rheos__dense_kernel();
  const int width = rheos__dense_columns();
  const int64_t columns = at->last_column - at->first_column;
  if (!p->is_packed && p->b_column == 1 && p->m <= RHEOS__PANELS_FEW_ROWS) {
    run_in_place(p, a, b, c, at);
    return;
  }
  const int64_t most = block_depth(p);
  for (int64_t k = 0; k < p->k; k += most) {
    const int64_t depth = rheos__min(most, p->k - k);
    rheos__dense d = {
        .k = depth, .a_row = p->a_row, .a_column = p->a_column, .c_row = p->n, .adds = k > 0};
    const float *from = panels;
    if (p->is_packed) {
      from = b + k * p->n + at->first_column * depth;
    } else {
      rheos__panels_pack(b + k * p->b_row + at->first_column * p->b_column, p->b_row, p->b_column,
                         depth, columns, panels, 0, depth);
    }
    if (p->packs_rows && panels != NULL) {
      run_strips(p, d, a + k * p->a_column, from, c, at, panels + most * BLOCK_COLUMNS);
      continue;
    }
    for (int64_t i = at->first_row; i < at->last_row; i += BLOCK_ROWS) {
      const int64_t last = rheos__min(i + BLOCK_ROWS, at->last_row);
      for (int64_t j = 0; j < columns; j += width) {
        d.n = d.b_row = d.end_column = rheos__min(width, columns - j);
        run(&d, a + k * p->a_column, from + j * depth, c + at->first_column + j, i, last);
      }
    }
  }
}

// Columns [first, last) of the result, which come out as rows.
static void run_transposed(const rheos__panels *p, const float *a, const float *b, float *c,
                           int64_t first, int64_t last, float *scratch) {
  const rheos__dense_fn run = rheos__dense_kernel();
  const int64_t width = rheos__dense_columns(), m = p->m;
  const rheos__panels transposed = {.n = m, .k = p->k, .b_row = p->a_column, .b_column = p->a_row};
  rheos__panels_pack_all(&transposed, a, scratch);
  float *rows = scratch + m * p->k;
  const int64_t most = block_depth(p);
  for (int64_t i = first; i < last; i += TURNED_COLUMNS) {
    const int64_t count = rheos__min(TURNED_COLUMNS, last - i);
    for (int64_t k = 0; k < p->k; k += most) {
      rheos__dense d = {.k = rheos__min(most, p->k - k),
                        .a_row = p->b_column,
                        .a_column = p->b_row,
                        .c_row = m,
                        .adds = k > 0};
      for (int64_t j = 0; j < m; j += width) {
        d.n = d.b_row = d.end_column = rheos__min(width, m - j);
        run(&d, b + i * p->b_column + k * p->b_row, scratch + k * m + j * d.k, rows + j, 0, count);
      }
    }
    transpose_panel(rows, m, m, count, c + i, p->n);
  }
}

void rheos__panels_run(const rheos__panels *p, const float *a, const float *b, float *c,
                       int64_t first_unit, int64_t last_unit, void *scratch,
                       rheos__panels_done_fn done, const void *argument) {
  if (p->transposes_result && !p->is_packed && first_unit < last_unit) {
    const int64_t first = first_unit * p->unit_columns;
    const int64_t last = rheos__min(last_unit * p->unit_columns, p->n);
    run_transposed(p, a, b, c, first, last, scratch);
    if (done != NULL) done(argument, 0, p->m, first, last);
    return;
  }
  for (int64_t unit = first_unit; unit < last_unit;) {
    const int64_t column = unit / p->row_units, row = unit % p->row_units;
    const int64_t rows = rheos__min(p->row_units - row, last_unit - unit);
    int64_t units = rows;
    piece at = {row * p->unit_rows, rheos__min((row + rows) * p->unit_rows, p->m),
                column * p->unit_columns, rheos__min((column + 1) * p->unit_columns, p->n)};
    // As many whole columns of units as a block takes
    while (rows == p->row_units && unit + units + rows <= last_unit &&
           at.last_column - at.first_column + p->unit_columns <= BLOCK_COLUMNS) {
      at.last_column = rheos__min(at.last_column + p->unit_columns, p->n);
      units += rows;
    }
    const piece whole = at;
    for (; at.first_column < whole.last_column; at.first_column = at.last_column) {
      at.last_column = rheos__min(at.first_column + BLOCK_COLUMNS, whole.last_column);
      run_piece(p, a, b, c, &at, scratch);
      if (done != NULL) {
        done(argument, at.first_row, at.last_row, at.first_column, at.last_column);
      }
    }
    unit += units;
  }
}
