// Transposes of matrices. Square tiles go through a buffer, so that whole cache lines are read and
// written even where rows lie a power of two apart and fall on each other in the cache. Tiles are
// taken in bands along the rows of the source; what comes next there is fetched into the second
// level, because rows a power of two apart leave no place for it in the first. Large results are
// streamed by lines: tile by tile where rows begin with a line, else gathered first. Elements of 4
// bytes go by squares of several tiles there, and the next is fetched while one is written.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include "ops/kit/transpose_blocks.h"

#include <assert.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/numbers.h"
#include "ops/kit/stream.h"
#include "ops/kit/transpose_square.h"

enum { TILE = 16, FEW = 8, BAND = RHEOS__TRANSPOSE_BAND, MOST_BYTES = 64 };
enum { AHEAD_BYTES = 256, SHORT_BYTES = 1024 };  // rows of the source that are soon at their end

typedef struct wide_2 {
  uint64_t parts[2];
} wide_2;
typedef struct wide_4 {
  uint64_t parts[4];
} wide_4;
typedef struct wide_8 {
  uint64_t parts[8];
} wide_8;

// ---- A tile: to[i][k] = from[k][i] for i < rows, k < columns; what lies beside may be written too

#define TURN(type)                                                                   \
  static void transpose_##type(type to[TILE][TILE], type from[TILE][TILE], int rows, \
                               int columns) {                                        \
    if (rows == TILE && columns == TILE) {                                           \
      for (int i = 0; i < TILE; i++) {                                               \
        for (int k = 0; k < TILE; k++) to[i][k] = from[k][i];                        \
      }                                                                              \
      return;                                                                        \
    }                                                                                \
    for (int i = 0; i < rows; i++) {                                                 \
      for (int k = 0; k < columns; k++) to[i][k] = from[k][i];                       \
    }                                                                                \
  }
TURN(uint8_t)
TURN(uint16_t)
TURN(wide_2)
TURN(wide_4)
TURN(wide_8)

// Four columns of the source, so many bytes apart.
static inline void transpose_square(char *to, int64_t to_row_bytes, const char *from,
                                    int64_t from_column_bytes) {
  const char *const columns[4] = {from, from + from_column_bytes, from + 2 * from_column_bytes,
                                  from + 3 * from_column_bytes};
  rheos__transpose_square(to, to_row_bytes, columns);
}

// By squares that fit into vectors of 16 bytes.
#if defined(__GNUC__) && !defined(__clang__)
typedef uint64_t two __attribute__((vector_size(16)));

static void transpose_uint32_t(uint32_t to[TILE][TILE], uint32_t from[TILE][TILE], int rows,
                               int columns) {
  for (int i = 0; i < rows; i += 4) {
    for (int k = 0; k < columns; k += 4) {
      transpose_square((char *)&to[i][k], sizeof to[0], (const char *)&from[k][i], sizeof from[0]);
    }
  }
}

static void transpose_uint64_t(uint64_t to[TILE][TILE], uint64_t from[TILE][TILE], int rows,
                               int columns) {
  const two first = {0, 2}, last = {1, 3};
  for (int i = 0; i < rows; i += 2) {
    for (int k = 0; k < columns; k += 2) {
      two x[2];
      for (int j = 0; j < 2; j++) memcpy(&x[j], &from[k + j][i], sizeof x[j]);
      const two y[2] = {__builtin_shuffle(x[0], x[1], first), __builtin_shuffle(x[0], x[1], last)};
      for (int j = 0; j < 2; j++) memcpy(&to[i + j][k], &y[j], sizeof y[j]);
    }
  }
}
#else
TURN(uint32_t)
TURN(uint64_t)
#endif

// A tile of whole lines of 4-byte elements, from memory to memory, in registers of a line each.
#if defined(__x86_64__) && defined(__GNUC__)
#define LINES __attribute__((target("avx512f")))
LINES static void tile_by_lines(char *to, int64_t to_row_bytes, const char *from,
                                int64_t from_column_bytes, bool stream, int64_t ahead) {
  __m512i x[TILE], y[TILE];
  for (int k = 0; k < TILE; k++) {
    x[k] = _mm512_loadu_si512(from + k * from_column_bytes);
    __builtin_prefetch((const void *)((uintptr_t)(from + k * from_column_bytes) + (uintptr_t)ahead),
                       0, 2);
  }
  for (int k = 0; k < TILE; k += 2) {
    y[k] = _mm512_unpacklo_epi32(x[k], x[k + 1]);
    y[k + 1] = _mm512_unpackhi_epi32(x[k], x[k + 1]);
  }
  for (int k = 0; k < TILE; k += 4) {
    x[k] = _mm512_unpacklo_epi64(y[k], y[k + 2]);
    x[k + 1] = _mm512_unpackhi_epi64(y[k], y[k + 2]);
    x[k + 2] = _mm512_unpacklo_epi64(y[k + 1], y[k + 3]);
    x[k + 3] = _mm512_unpackhi_epi64(y[k + 1], y[k + 3]);
  }
  for (int k = 0; k < 4; k++) {
    y[k] = _mm512_shuffle_i32x4(x[k], x[k + 4], 0x88);
    y[k + 4] = _mm512_shuffle_i32x4(x[k], x[k + 4], 0xdd);
    y[k + 8] = _mm512_shuffle_i32x4(x[k + 8], x[k + 12], 0x88);
    y[k + 12] = _mm512_shuffle_i32x4(x[k + 8], x[k + 12], 0xdd);
  }
  for (int k = 0; k < 4; k++) {
    x[k] = _mm512_shuffle_i32x4(y[k], y[k + 8], 0x88);
    x[k + 4] = _mm512_shuffle_i32x4(y[k + 4], y[k + 12], 0x88);
    x[k + 8] = _mm512_shuffle_i32x4(y[k], y[k + 8], 0xdd);
    x[k + 12] = _mm512_shuffle_i32x4(y[k + 4], y[k + 12], 0xdd);
  }
  if (stream) {
    for (int k = 0; k < TILE; k++) _mm512_stream_si512((void *)(to + k * to_row_bytes), x[k]);
  } else {
    for (int k = 0; k < TILE; k++) _mm512_storeu_si512(to + k * to_row_bytes, x[k]);
  }
}
static bool has_lines(int64_t size) { return size == 4 && __builtin_cpu_supports("avx512f"); }
#else
static void tile_by_lines(char *to, int64_t to_row_bytes, const char *from,
                          int64_t from_column_bytes, bool stream, int64_t ahead) {
  (void)to, (void)to_row_bytes, (void)from, (void)from_column_bytes, (void)stream, (void)ahead;
}
static bool has_lines(int64_t size) { return (void)size, false; }
#endif

// ---- Tiles of any dtype: read a part of the source, put what it becomes at `to`

// Up to TILE columns of the source of up to TILE rows each. All `rows` columns of the result's tile
// are written, TILE elements each where `whole`: elements beyond the last are of no meaning.
typedef void (*tile_fn)(char *to, int64_t to_row_bytes, const char *from, int64_t from_column_bytes,
                        int rows, int columns, bool whole, int64_t ahead);

#define TILE_FN(type)                                                                              \
  static void tile_##type(char *to, int64_t to_row_bytes, const char *from,                        \
                          int64_t from_column_bytes, int rows, int columns, bool whole,            \
                          int64_t ahead) {                                                         \
    _Alignas(RHEOS__LINE_BYTES) type read[TILE][TILE], transposed[TILE][TILE];                     \
    for (int k = 0; k < columns; k++, from += from_column_bytes) {                                 \
      if (rows == TILE) {                                                                          \
        memcpy(read[k], from, sizeof read[k]);                                                     \
      } else {                                                                                     \
        memset(&read[k][rows & ~3], 0, 4 * sizeof(type));                                          \
        for (int i = 0; i < rows; i++) memcpy(&read[k][i], from + i * sizeof(type), sizeof(type)); \
      }                                                                                            \
      __builtin_prefetch((const void *)((uintptr_t)from + (uintptr_t)ahead), 0, 2);                \
    }                                                                                              \
    if (columns < TILE) memset(read[columns], 0, (size_t)(TILE - columns) * sizeof read[0]);       \
    transpose_##type(transposed, read, rows, columns);                                             \
    for (int i = 0; i < rows; i++, to += to_row_bytes) {                                           \
      if (whole) {                                                                                 \
        memcpy(to, transposed[i], sizeof transposed[i]);                                           \
      } else {                                                                                     \
        for (int k = 0; k < columns; k++)                                                          \
          memcpy(to + k * sizeof(type), &transposed[i][k], sizeof(type));                          \
      }                                                                                            \
    }                                                                                              \
  }
TILE_FN(uint8_t)
TILE_FN(uint16_t)
TILE_FN(uint32_t)
TILE_FN(uint64_t)
TILE_FN(wide_2)
TILE_FN(wide_4)
TILE_FN(wide_8)

static tile_fn tile_of(int64_t size) {
  switch (size) {
    case 1: return tile_uint8_t;
    case 2: return tile_uint16_t;
    case 4: return tile_uint32_t;
    case 8: return tile_uint64_t;
    case 16: return tile_wide_2;
    case 32: return tile_wide_4;
    default: return tile_wide_8;
  }
}

// ---- Rows or columns too few for tiles: element by element, along the longer ones

typedef void (*line_fn)(char *to, int64_t to_step_bytes, const char *from, int64_t from_step_bytes,
                        int64_t count);

#define LINE_FN(type)                                                                   \
  static void line_##type(char *to, int64_t to_step_bytes, const char *from,            \
                          int64_t from_step_bytes, int64_t count) {                     \
    for (int64_t i = 0; i < count; i++, to += to_step_bytes, from += from_step_bytes) { \
      memcpy(to, from, sizeof(type));                                                   \
    }                                                                                   \
  }
LINE_FN(uint8_t)
LINE_FN(uint16_t)
LINE_FN(uint32_t)
LINE_FN(uint64_t)
LINE_FN(wide_2)

static line_fn line_of(int64_t size) {
  switch (size) {
    case 1: return line_uint8_t;
    case 2: return line_uint16_t;
    case 4: return line_uint32_t;
    case 8: return line_uint64_t;
    default: return line_wide_2;
  }
}

// How far on the source is fetched: in its row, or, where that soon ends and the next one follows,
// in the next band.
static int64_t ahead_of(const rheos__transposition *t) {
  const bool goes_on = t->rows == t->from_column && t->rows * t->size < SHORT_BYTES;
  return goes_on ? BAND * t->from_column * t->size : AHEAD_BYTES;
}

static const char *source_at(const rheos__transposition *t, int64_t row, int64_t column) {
  return t->from + (column * t->from_column + row) * t->size;
}
static char *result_at(const rheos__transposition *t, int64_t row, int64_t column) {
  return t->to + (row * t->to_row + column) * t->size;
}

static void stream_lines(char *to, const char *from, int64_t bytes) {
  for (int64_t b = 0; b < bytes; b += RHEOS__LINE_BYTES) rheos__stream_line(to + b, from + b);
}

// ---- Ways to go over the tiles of rows [i0, i1) and columns [j0, j1)

static void plain(const rheos__transposition *t, int64_t i0, int64_t i1, int64_t j0, int64_t j1) {
  const tile_fn tile = tile_of(t->size);
  const int64_t to_row = t->to_row * t->size, from_column = t->from_column * t->size;
  const int64_t ahead = ahead_of(t);
  for (int64_t j = j0; j < j1; j += BAND) {
    for (int64_t i = i0; i < i1; i += TILE) {
      for (int64_t k = j; k < rheos__min(j + BAND, j1); k += TILE) {
        const int columns = (int)rheos__min(j1 - k, TILE);
        tile(result_at(t, i, k), to_row, source_at(t, i, k), from_column,
             (int)rheos__min(i1 - i, TILE), columns, columns == TILE, ahead);
      }
    }
  }
}

// Where rows begin with a line and tiles are of whole ones.
static void by_tiles(const rheos__transposition *t, int64_t i0, int64_t i1, int64_t j0,
                     int64_t j1) {
  const tile_fn tile = tile_of(t->size);
  const bool lines = has_lines(t->size);
  const int64_t to_row = t->to_row * t->size, from_column = t->from_column * t->size;
  const int64_t ahead = ahead_of(t), bytes = TILE * t->size;
  _Alignas(RHEOS__LINE_BYTES) char transposed[TILE * TILE * MOST_BYTES];
  for (int64_t j = j0; j < j1; j += BAND) {
    for (int64_t i = i0; i < i1; i += TILE) {
      for (int64_t k = j; k < rheos__min(j + BAND, j1); k += TILE) {
        char *to = result_at(t, i, k);
        if (lines) {
          tile_by_lines(to, to_row, source_at(t, i, k), from_column, true, ahead);
          continue;
        }
        tile(transposed, bytes, source_at(t, i, k), from_column, TILE, TILE, true, ahead);
        for (int r = 0; r < TILE; r++) stream_lines(to + r * to_row, transposed + r * bytes, bytes);
      }
    }
  }
}

// The first column from `column` on at which a line begins in row `row`; not before the first
// column, nor behind the last.
static int64_t line_from(const rheos__transposition *t, int64_t row, int64_t column) {
  if (column == 0) return 0;
  const int64_t missing = (int64_t)(-(uintptr_t)result_at(t, row, column) % RHEOS__LINE_BYTES);
  return rheos__min(column + missing / t->size, t->columns);
}

// A piece of a row of the result, which ends with a line, or the row.
static void store_piece(char *to, const char *from, int64_t bytes) {
  const int64_t head = rheos__min((int64_t)(-(uintptr_t)to % RHEOS__LINE_BYTES), bytes);
  const int64_t lines = (bytes - head) / RHEOS__LINE_BYTES * RHEOS__LINE_BYTES;
  memcpy(to, from, (size_t)head);
  stream_lines(to + head, from + head, lines);
  memcpy(to + head + lines, from + head + lines, (size_t)(bytes - head - lines));
}

// Columns [j, reach) of `count` rows of the result from row i on, into rows of `width` elements.
static void gather_rows(const rheos__transposition *t, int64_t i, int64_t count, int64_t j,
                        int64_t reach, char *rows, int64_t width) {
  const int64_t to_row = width * t->size, from_column = t->from_column * t->size;
  const bool lines = has_lines(t->size);
  const tile_fn tile = tile_of(t->size);
  const line_fn line = line_of(t->size);
  const int64_t ahead = ahead_of(t), few = count % TILE < FEW ? count % TILE : 0;
  for (int64_t k = j; k < reach; k += TILE) {
    const int columns = (int)rheos__min(reach - k, TILE);
    for (int64_t r = 0; r < count - few; r += TILE) {
      char *to = rows + r * to_row + (k - j) * t->size;
      const char *from = source_at(t, i + r, k);
      if (lines && columns == TILE && count - r >= TILE) {
        tile_by_lines(to, to_row, from, from_column, false, ahead);
      } else {
        tile(to, to_row, from, from_column, (int)rheos__min(count - r, TILE), columns, true, ahead);
      }
    }
  }
  for (int64_t r = count - few; r < count; r++) {
    line(rows + r * to_row, t->size, source_at(t, i + r, j), from_column, reach - j);
  }
}

// Where lines lie across rows: a band is gathered with what is needed to fill its last lines. Four
// lines of each column are read at once, which need not stay in the cache then.
static void gathered(const rheos__transposition *t, int64_t i0, int64_t i1, int64_t j0,
                     int64_t j1) {
  enum { WIDTH = 3 * BAND, ROWS_BYTES = 4 * RHEOS__LINE_BYTES };
  const int64_t width = WIDTH * t->size, band = t->size > 8 ? BAND : 2 * BAND;
  const int64_t more = RHEOS__LINE_BYTES / t->size - 1, height = ROWS_BYTES / t->size;
  _Alignas(RHEOS__LINE_BYTES) char rows[ROWS_BYTES * WIDTH];
  for (int64_t j = j0; j < j1; j += band) {
    const int64_t end = rheos__min(j + band, j1), reach = rheos__min(end + more, t->columns);
    for (int64_t i = i0; i < i1; i += height) {
      const int64_t count = rheos__min(i1 - i, height);
      gather_rows(t, i, count, j, reach, rows, WIDTH);
      for (int64_t r = 0; r < count; r++) {
        const int64_t first = line_from(t, i + r, j), last = line_from(t, i + r, end);
        store_piece(result_at(t, i + r, first), rows + r * width + (first - j) * t->size,
                    (last - first) * t->size);
      }
    }
  }
}

// Rows that follow each other at once, TILE of which are whole lines. Tiles write beyond the end of
// their row, over what later ones put right.
static void continuous(const rheos__transposition *t, int64_t i0, int64_t i1) {
  const tile_fn tile = tile_of(t->size);
  const line_fn line = line_of(t->size);
  const bool lines = has_lines(t->size);
  const int64_t row = t->columns * t->size, from_column = t->from_column * t->size;
  const int64_t few = t->columns % TILE < FEW ? t->columns % TILE : 0, end = t->columns - few;
  _Alignas(RHEOS__LINE_BYTES) char rows[TILE * (BAND + 1) * 16];
  int64_t i = i0;
  for (; i + TILE <= i1; i += TILE) {
    for (int64_t k = (end + TILE - 1) / TILE * TILE - TILE; k >= 0; k -= TILE) {
      char *to = rows + k * t->size;
      const int columns = (int)rheos__min(end - k, TILE);
      if (lines && columns == TILE) {
        tile_by_lines(to, row, source_at(t, i, k), from_column, false, AHEAD_BYTES);
      } else {
        tile(to, row, source_at(t, i, k), from_column, TILE, columns, true, AHEAD_BYTES);
      }
    }
    for (int64_t k = end; k < t->columns; k++) {
      line(rows + k * t->size, row, source_at(t, i, k), t->size, TILE);
    }
    stream_lines(result_at(t, i, 0), rows, TILE * row);
  }
  plain(t, i, i1, 0, t->columns);
}

// ---- Squares of some lines of 4-byte elements, where rows begin with a line

// While one is written, a line at a time, the next is fetched, so that neither waits for the other:
// `next` is where that begins, or NULL.
enum {
  SQUARE = 64,
  SQUARE_ROW = (SQUARE + TILE) * 4,
  SQUARE_LINES = SQUARE * 4 / RHEOS__LINE_BYTES
};

static void square(char *to, int64_t to_row, const char *from, int64_t from_column,
                   const char *next, bool lines) {
  _Alignas(RHEOS__LINE_BYTES) char transposed[SQUARE * SQUARE_ROW];
  for (int64_t k = 0; lines && k < SQUARE; k += TILE) {
    for (int64_t i = 0; i < SQUARE; i += TILE) {
      tile_by_lines(transposed + i * SQUARE_ROW + k * 4, SQUARE_ROW, from + k * from_column + i * 4,
                    from_column, false, 0);
    }
  }
  for (int64_t k = 0; !lines && k < SQUARE; k += 4) {
    for (int64_t i = 0; i < SQUARE; i += 4) {
      transpose_square(transposed + i * SQUARE_ROW + k * 4, SQUARE_ROW,
                       from + k * from_column + i * 4, from_column);
    }
  }
  for (int64_t r = 0; r < SQUARE; r++, to += to_row) {
    const char *row = transposed + r * SQUARE_ROW;
    for (int64_t b = 0; b < SQUARE_LINES * RHEOS__LINE_BYTES; b += RHEOS__LINE_BYTES) {
      if (next != NULL) __builtin_prefetch(next + r * from_column + b, 0, 3);
      rheos__stream_line(to + b, row + b);
    }
  }
}

// Whole squares, along the rows of the result.
static void by_squares(const rheos__transposition *t, int64_t i0, int64_t i1, int64_t j0,
                       int64_t j1) {
  const bool lines = has_lines(t->size);
  for (int64_t i = i0; i < i1; i += SQUARE) {
    for (int64_t j = j0; j < j1; j += SQUARE) {
      const bool goes_on = j + SQUARE < j1, ends = !goes_on && i + SQUARE >= i1;
      const char *next = goes_on ? source_at(t, i, j + SQUARE) : source_at(t, i + SQUARE, j0);
      square(result_at(t, i, j), t->to_row * t->size, source_at(t, i, j), t->from_column * t->size,
             ends ? NULL : next, lines);
    }
  }
}

void rheos__transpose_block(const rheos__transposition *t, int64_t i0, int64_t i1, int64_t j0,
                            int64_t j1, bool stream) {
  assert(i0 >= 0 && i0 <= i1 && i1 <= t->rows && j0 >= 0 && j0 <= j1 && j1 <= t->columns);
  const int64_t row = t->to_row * t->size, tile = TILE * t->size;
  const bool whole = rheos__is_aligned(t->to, RHEOS__LINE_BYTES);
  const bool lines = whole && row % RHEOS__LINE_BYTES == 0;
  const int64_t i = i0 + (i1 - i0) / SQUARE * SQUARE, j = j0 + (j1 - j0) / SQUARE * SQUARE;
  if (!stream || !rheos__is_aligned(t->to, (size_t)t->size)) {
    plain(t, i0, i1, j0, j1);
  } else if (t->columns <= BAND && t->to_row == t->columns && whole && t->size <= 16 &&
             !(lines && t->columns % TILE == 0) && TILE * row % RHEOS__LINE_BYTES == 0 &&
             i0 % TILE == 0) {
    continuous(t, i0, i1);
  } else if (lines && t->size == 4 && i > i0 && j > j0 && j0 % TILE == 0) {
    by_squares(t, i0, i, j0, j);
    if (j < j1) rheos__transpose_block(t, i0, i, j, j1, stream);
    if (i < i1) rheos__transpose_block(t, i, i1, j0, j1, stream);
  } else if (lines && tile % RHEOS__LINE_BYTES == 0 && j0 % TILE == 0) {
    const int64_t rows = i0 + (i1 - i0) / TILE * TILE, columns = j0 + (j1 - j0) / TILE * TILE;
    by_tiles(t, i0, rows, j0, columns);
    plain(t, i0, rows, columns, j1);
    plain(t, rows, i1, j0, j1);
  } else if (t->size <= 16) {
    gathered(t, i0, i1, j0, j1);
  } else {
    plain(t, i0, i1, j0, j1);
  }
}

// ---- Many small matrices

#define FEW_FN(type)                                                                        \
  static void few_##type(char *to, int64_t to_row_bytes, const char *from,                  \
                         int64_t from_column_bytes, int64_t rows, int64_t columns) {        \
    for (int64_t i = 0; i < rows; i++, to += to_row_bytes, from += sizeof(type)) {          \
      for (int64_t k = 0; k < columns; k++) {                                               \
        memcpy(to + k * (int64_t)sizeof(type), from + k * from_column_bytes, sizeof(type)); \
      }                                                                                     \
    }                                                                                       \
  }
FEW_FN(uint32_t)
FEW_FN(uint64_t)

static void transpose_some(const rheos__transposition *t, char *to, int64_t to_step,
                           const char *from, int64_t from_step, int64_t count) {
  const int64_t to_row = t->to_row * t->size, from_column = t->from_column * t->size;
  assert(t->size == 4 || t->size == 8);
  const bool squares = t->size == 4 && t->rows % 4 == 0 && t->columns % 4 == 0;
  for (int64_t m = 0; m < count; m++, to += to_step, from += from_step) {
    for (int64_t i = 0; squares && i < t->rows; i += 4) {
      for (int64_t k = 0; k < t->columns; k += 4) {
        transpose_square(to + i * to_row + k * 4, to_row, from + k * from_column + i * 4,
                         from_column);
      }
    }
    if (squares) continue;
    if (t->size == 4) {
      few_uint32_t(to, to_row, from, from_column, t->rows, t->columns);
    } else {
      few_uint64_t(to, to_row, from, from_column, t->rows, t->columns);
    }
  }
}

void rheos__transpose_many(const rheos__transposition *t, int64_t count, int64_t from_step,
                           int64_t to_step, bool stream) {
  enum { GROUP = 16 };  // together they are whole lines
  const int64_t bytes = t->rows * t->columns * t->size;
  _Alignas(RHEOS__LINE_BYTES) char transposed[GROUP * RHEOS__TRANSPOSE_FEW * 8];
  int64_t m = 0;
  if (stream && t->to_row == t->columns && to_step == bytes &&
      rheos__is_aligned(t->to, RHEOS__LINE_BYTES)) {
    assert(bytes <= RHEOS__TRANSPOSE_FEW * 8);
    for (; m + GROUP <= count; m += GROUP) {
      transpose_some(t, transposed, bytes, t->from + m * from_step, from_step, GROUP);
      stream_lines(t->to + m * bytes, transposed, GROUP * bytes);
    }
  }
  transpose_some(t, t->to + m * to_step, to_step, t->from + m * from_step, from_step, count - m);
}
