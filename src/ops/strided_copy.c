// The engine of all strided copies, so that a transpose, a slice and a broadcast differ only in the
// loops they ask for. Large results are streamed past the caches (stream.h).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <string.h>

#include "ops/array_util.h"
#include "ops/elementwise.h"
#include "ops/stream.h"

void rheos__copy_init(rheos__copy *copy, rheos_dtype dtype) {
  copy->dtype = dtype;
  copy->rank = 0;
  copy->num_elements = 1;
  copy->in_start = copy->out_start = 0;
}

void rheos__copy_add(rheos__copy *copy, int64_t dim, int64_t in_step, int64_t out_step) {
  copy->num_elements = (int64_t)((uint64_t)copy->num_elements * (uint64_t)dim);
  if (dim <= 1) return;  // 0: nothing will be copied
  int32_t last = copy->rank - 1;
  if (last >= 0 && copy->in_steps[last] == dim * in_step &&
      copy->out_steps[last] == dim * out_step) {
    copy->dims[last] *= dim;
  } else {
    last = copy->rank++;
    copy->dims[last] = dim;
  }
  copy->in_steps[last] = in_step;
  copy->out_steps[last] = out_step;
}

// ---- Rows: one stretch of the innermost loop

#define STRIDED(type)                                                                 \
  static void strided_##type(char *to, int64_t to_step, const char *from, int64_t from_step, \
                             int64_t count) {                                         \
    const type *x = (const type *)from;                                               \
    type *y = (type *)to;                                                             \
    if (from_step == 0 && to_step == 1) {                                             \
      const type value = *x;                                                          \
      for (int64_t i = 0; i < count; ++i) y[i] = value;                               \
    } else if (from_step == -1 && to_step == 1) {                                     \
      for (int64_t i = 0; i < count; ++i) y[i] = x[-i];                               \
    } else if (to_step == 1) {                                                        \
      for (int64_t i = 0; i < count; ++i) y[i] = x[i * from_step];                    \
    } else {                                                                          \
      for (int64_t i = 0; i < count; ++i) y[i * to_step] = x[i * from_step];          \
    }                                                                                 \
  }
typedef struct sixteen_bytes {
  uint64_t low, high;
} sixteen_bytes;
STRIDED(uint8_t)
STRIDED(uint16_t)
STRIDED(uint32_t)
STRIDED(uint64_t)
STRIDED(sixteen_bytes)

typedef void (*strided_fn)(char *to, int64_t to_step, const char *from, int64_t from_step,
                           int64_t count);

static strided_fn strided_of(size_t size) {
  switch (size) {
    case 1: return strided_uint8_t;
    case 2: return strided_uint16_t;
    case 4: return strided_uint32_t;
    case 8: return strided_uint64_t;
    default: return strided_sixteen_bytes;
  }
}

static rheos_status *strided_strings(char *to, int64_t to_step, const char *from,
                                     int64_t from_step, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    RHEOS_TRY(rheos__copy_elements(RHEOS_STRING, (rheos_string *)to + i * to_step,
                                   (const rheos_string *)from + i * from_step, 1));
  }
  return NULL;
}

// The elements of one line the other way round.
#define TURN_LINE(type)                                                                \
  static inline void turn_line_##type(char *to, const char *from) {                    \
    enum { COUNT = RHEOS__LINE_BYTES / sizeof(type) };                                 \
    type x[COUNT], y[COUNT];                                                           \
    memcpy(x, from, sizeof x);                                                         \
    RHEOS__INDEPENDENT for (int i = 0; i < COUNT; ++i) y[i] = x[COUNT - 1 - i];        \
    memcpy(to, y, sizeof y);                                                           \
  }                                                                                    \
  static void turn_lines_##type(char *to, const char *from, int64_t lines) {           \
    _Alignas(RHEOS__LINE_BYTES) char turned[RHEOS__LINE_BYTES];                        \
    for (; lines > 0; --lines, from += RHEOS__LINE_BYTES, to -= RHEOS__LINE_BYTES) {   \
      turn_line_##type(turned, from);                                                  \
      rheos__stream_line(to, turned);                                                  \
    }                                                                                  \
  }
TURN_LINE(uint32_t)
TURN_LINE(uint64_t)

// A row of elements of 4 or 8 bytes in the other direction, from its end, so that reading goes
// forwards, as the processor expects. `from` is the last element of the source.
static bool reverse_streamed(char *to, const char *from, int64_t size, int64_t count) {
  const int64_t bytes = count * size;
  const int64_t head = (int64_t)(-(uintptr_t)to % RHEOS__LINE_BYTES);
  if ((size != 4 && size != 8) || head % size != 0 || bytes < head + RHEOS__LINE_BYTES) return false;
  const int64_t lines = (bytes - head) / RHEOS__LINE_BYTES;
  const int64_t end = head + lines * RHEOS__LINE_BYTES;
  const strided_fn reverse = strided_of((size_t)size);
  const char *first = from + size - end;  // of the source's whole lines
  reverse(to + end, 1, first - size, -1, (bytes - end) / size);
  if (size == 4) {
    turn_lines_uint32_t(to + end - RHEOS__LINE_BYTES, first, lines);
  } else {
    turn_lines_uint64_t(to + end - RHEOS__LINE_BYTES, first, lines);
  }
  reverse(to, 1, from, -1, head / size);
  return true;
}

// Whether all bytes of an element are the same, as those of 0 are.
static bool is_one_byte(const char *value, size_t size) {
  for (size_t i = 1; i < size; ++i) {
    if (value[i] != value[0]) return false;
  }
  return true;
}

enum { STREAMED_ROW = 512 };  // bytes; of shorter rows too much are lines begun and ended

// `ahead`: how many bytes on the next row of the source lies.
static rheos_status *copy_row(rheos_dtype dtype, char *to, int64_t to_step, const char *from,
                              int64_t from_step, int64_t count, bool stream, int64_t ahead) {
  if (dtype == RHEOS_STRING) return strided_strings(to, to_step, from, from_step, count);
  const size_t size = rheos_dtype_size(dtype), bytes = (size_t)count * size;
  if (to_step == 1 && from_step == 1) {
    if (stream && bytes >= STREAMED_ROW) {
      rheos__stream_copy(to, from, bytes, ahead);
    } else {
      memcpy(to, from, bytes);
    }
  } else if (to_step == 1 && from_step == -1 && stream && bytes >= STREAMED_ROW &&
             reverse_streamed(to, from, (int64_t)size, count)) {
    return NULL;
  } else if (to_step == 1 && from_step == 0 && bytes >= STREAMED_ROW && is_one_byte(from, size)) {
    memset(to, *from, bytes);
  } else {
    strided_of(size)(to, to_step, from, from_step, count);
  }
  return NULL;
}

rheos_status *rheos__fill_elements(rheos_dtype dtype, void *to, const void *value, int64_t count) {
  return count > 0 ? copy_row(dtype, to, 1, value, 0, count, false, 0) : NULL;
}

// ---- Transposes: rows of the result are columns of the source. Square tiles go through a buffer, so
// that whole cache lines are read and written even where rows lie a power of two apart and fall on
// each other in the cache. Tiles are taken in blocks that stay within few pages; where the result is
// streamed, in bands along the rows of the source, which the processor then fetches ahead.

enum { TILE = 16, BLOCK_ROWS = 256, BLOCK_COLUMNS = 64, BAND = 4 * TILE, AHEAD_BYTES = 128 };

#define TURN(type)                                                                   \
  static void turn_##type(type to[TILE][TILE], type from[TILE][TILE]) {              \
    for (int i = 0; i < TILE; ++i) {                                                 \
      for (int k = 0; k < TILE; ++k) to[i][k] = from[k][i];                          \
    }                                                                                \
  }
TURN(uint8_t)
TURN(uint16_t)
TURN(sixteen_bytes)

// By squares that fit into vectors of 16 bytes.
#if defined(__GNUC__) && !defined(__clang__)
typedef uint32_t four __attribute__((vector_size(16)));
typedef uint64_t two __attribute__((vector_size(16)));

static void turn_uint32_t(uint32_t to[TILE][TILE], uint32_t from[TILE][TILE]) {
  const four low = {0, 4, 1, 5}, high = {2, 6, 3, 7}, first = {0, 1, 4, 5}, last = {2, 3, 6, 7};
  for (int i = 0; i < TILE; i += 4) {
    for (int k = 0; k < TILE; k += 4) {
      four x[4], y[4];
      for (int j = 0; j < 4; ++j) memcpy(&x[j], &from[k + j][i], sizeof x[j]);
      const four a = __builtin_shuffle(x[0], x[1], low), b = __builtin_shuffle(x[2], x[3], low);
      const four c = __builtin_shuffle(x[0], x[1], high), d = __builtin_shuffle(x[2], x[3], high);
      y[0] = __builtin_shuffle(a, b, first), y[1] = __builtin_shuffle(a, b, last);
      y[2] = __builtin_shuffle(c, d, first), y[3] = __builtin_shuffle(c, d, last);
      for (int j = 0; j < 4; ++j) memcpy(&to[i + j][k], &y[j], sizeof y[j]);
    }
  }
}

static void turn_uint64_t(uint64_t to[TILE][TILE], uint64_t from[TILE][TILE]) {
  const two first = {0, 2}, last = {1, 3};
  for (int i = 0; i < TILE; i += 2) {
    for (int k = 0; k < TILE; k += 2) {
      two x[2];
      for (int j = 0; j < 2; ++j) memcpy(&x[j], &from[k + j][i], sizeof x[j]);
      const two y[2] = {__builtin_shuffle(x[0], x[1], first), __builtin_shuffle(x[0], x[1], last)};
      for (int j = 0; j < 2; ++j) memcpy(&to[i + j][k], &y[j], sizeof y[j]);
    }
  }
}
#else
TURN(uint32_t)
TURN(uint64_t)
#endif

// A block of the result of `rows` by `columns`, whose rows are `to_row` elements apart, from columns
// of the source that are `from_column` elements apart.
typedef struct block {
  char *to;
  const char *from;
  int64_t to_row, from_column, rows, columns;
} block;

#define TILED(type)                                                                            \
  static void whole_tile_##type(type *y, int64_t to_row, const type *x, int64_t from_column,   \
                                bool stream) {                                                 \
    _Alignas(RHEOS__LINE_BYTES) type read[TILE][TILE], turned[TILE][TILE];                     \
    for (int64_t k = 0; k < TILE; ++k) {                                                       \
      memcpy(read[k], x + k * from_column, sizeof read[k]);                                    \
      if (stream) __builtin_prefetch((const char *)(x + k * from_column) + AHEAD_BYTES);       \
    }                                                                                          \
    turn_##type(turned, read);                                                                 \
    for (int64_t i = 0; i < TILE; ++i) {                                                       \
      for (size_t b = 0; stream && b < sizeof turned[i]; b += RHEOS__STREAM_PART) {            \
        rheos__stream_part((char *)(y + i * to_row) + b, (char *)turned[i] + b);               \
      }                                                                                        \
      if (!stream) memcpy(y + i * to_row, turned[i], sizeof turned[i]);                        \
    }                                                                                          \
  }                                                                                            \
  static void tile_##type(type *y, int64_t to_row, const type *x, int64_t from_column,         \
                          int64_t rows, int64_t columns, bool stream) {                        \
    type tile[TILE][TILE];                                                                     \
    if (rows >= TILE && columns >= TILE) {                                                     \
      whole_tile_##type(y, to_row, x, from_column, stream);                                    \
      return;                                                                                  \
    }                                                                                          \
    rows = rows < TILE ? rows : TILE;                                                          \
    columns = columns < TILE ? columns : TILE;                                                 \
    for (int64_t k = 0; k < columns; ++k) {                                                    \
      for (int64_t row = 0; row < rows; ++row) tile[row][k] = x[k * from_column + row];        \
    }                                                                                          \
    for (int64_t row = 0; row < rows; ++row) {                                                 \
      memcpy(y + row * to_row, tile[row], (size_t)columns * sizeof **tile);                    \
    }                                                                                          \
  }                                                                                            \
  static void tiled_##type(const block *b, bool stream) {                                      \
    const type *x = (const type *)b->from;                                                     \
    type *y = (type *)b->to;                                                                   \
    for (int64_t j = 0; j < b->columns; j += BAND) {                                           \
      for (int64_t i = 0; i < b->rows; i += TILE) {                                            \
        for (int64_t k = j; k < j + BAND && k < b->columns; k += TILE) {                       \
          tile_##type(y + i * b->to_row + k, b->to_row, x + k * b->from_column + i,            \
                      b->from_column, b->rows - i, b->columns - k, stream);                    \
        }                                                                                      \
      }                                                                                        \
    }                                                                                          \
  }
TILED(uint8_t)
TILED(uint16_t)
TILED(uint32_t)
TILED(uint64_t)
TILED(sixteen_bytes)

// Rows of the innermost two loops that can be copied as one transpose, from a row's start on.
static int64_t transposable_rows(const rheos__copy *copy, const int64_t *index, int64_t count) {
  int32_t inner = copy->rank - 1;
  if (inner < 1 || index[inner] != 0 || copy->dtype == RHEOS_STRING ||
      copy->out_steps[inner] != 1 || copy->in_steps[inner] == 1 ||
      copy->in_steps[inner - 1] != 1) {
    return 0;
  }
  int64_t rows = count / copy->dims[inner], left = copy->dims[inner - 1] - index[inner - 1];
  return rows < left ? rows : left;
}

typedef void (*tiled_fn)(const block *b, bool stream);

static tiled_fn tiled_of(size_t size) {
  switch (size) {
    case 1: return tiled_uint8_t;
    case 2: return tiled_uint16_t;
    case 4: return tiled_uint32_t;
    case 8: return tiled_uint64_t;
    default: return tiled_sixteen_bytes;
  }
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static void transpose_rows(const rheos__copy *copy, char *to, const char *from, int64_t rows,
                           bool stream) {
  const int32_t inner = copy->rank - 1;
  const int64_t to_row = copy->out_steps[inner - 1], column = copy->in_steps[inner];
  const int64_t columns = copy->dims[inner], size = (int64_t)rheos_dtype_size(copy->dtype);
  const tiled_fn tiled = tiled_of((size_t)size);
  // Tiles of less than a line would leave lines half written.
  if (stream && TILE * size >= RHEOS__LINE_BYTES && to_row * size % RHEOS__LINE_BYTES == 0 &&
      rheos__is_aligned(to, RHEOS__LINE_BYTES)) {
    tiled(&(block){to, from, to_row, column, rows, columns}, true);
    return;
  }
  for (int64_t i = 0; i < rows; i += BLOCK_ROWS) {
    for (int64_t j = 0; j < columns; j += BLOCK_COLUMNS) {
      const block b = {to + (i * to_row + j) * size,  from + (j * column + i) * size,  to_row,
                       column, smaller(rows - i, BLOCK_ROWS), smaller(columns - j, BLOCK_COLUMNS)};
      tiled(&b, false);
    }
  }
}

// ---- All loops

static rheos_status *copy_range(const rheos__copy *copy, const void *in, void *out, int64_t first,
                                int64_t last, bool stream) {
  int64_t size = (int64_t)rheos_dtype_size(copy->dtype);
  const char *from = (const char *)in + copy->in_start * size;
  char *to = (char *)out + copy->out_start * size;
  int32_t inner = copy->rank - 1;
  if (inner < 0) return copy_row(copy->dtype, to, 1, from, 1, 1, false, 0);
  const int64_t ahead = inner > 0 ? copy->in_steps[inner - 1] * size : 0;
  int64_t index[RHEOS__COPY_RANK];
  int64_t rest = first;
  for (int32_t d = inner; d >= 0; --d) {
    index[d] = rest % copy->dims[d];
    rest /= copy->dims[d];
    from += index[d] * copy->in_steps[d] * size;
    to += index[d] * copy->out_steps[d] * size;
  }
  while (first < last) {
    int32_t moving = inner;  // the loop that goes on
    int64_t count = transposable_rows(copy, index, last - first);
    if (count > 1) {
      transpose_rows(copy, to, from, count, stream);
      moving = inner - 1;
      first += count * copy->dims[inner];
    } else {
      count = smaller(copy->dims[inner] - index[inner], last - first);
      RHEOS_TRY(copy_row(copy->dtype, to, copy->out_steps[inner], from, copy->in_steps[inner],
                         count, stream, ahead));
      first += count;
    }
    index[moving] += count;
    from += count * copy->in_steps[moving] * size;
    to += count * copy->out_steps[moving] * size;
    for (int32_t d = moving; d > 0 && index[d] == copy->dims[d]; --d) {
      from += (copy->in_steps[d - 1] - copy->dims[d] * copy->in_steps[d]) * size;
      to += (copy->out_steps[d - 1] - copy->dims[d] * copy->out_steps[d]) * size;
      index[d] = 0;
      index[d - 1]++;
    }
  }
  return NULL;
}

rheos_status *rheos__copy_run(const rheos__copy *copy, const void *in, void *out, int64_t first,
                              int64_t last) {
  if (first >= last) return NULL;
  const int64_t size = (int64_t)rheos_dtype_size(copy->dtype);
  const bool stream = copy->num_elements >= RHEOS__STREAM_FROM / (size > 0 ? size : 1);
  rheos_status *status = copy_range(copy, in, out, first, last, stream);
  if (stream) rheos__stream_end();
  return status;
}

// ---- The kernel of ops that are one copy

// Brings the loop along which the source is contiguous next to the innermost one, along which the
// result is: the two are then a transpose.
static void pair_loops(rheos__copy *copy) {
  const int32_t inner = copy->rank - 1;
  if (inner < 2 || copy->out_steps[inner] != 1 || copy->in_steps[inner] == 1) return;
  for (int32_t d = 0; d < inner - 1; ++d) {
    if (copy->in_steps[d] != 1) continue;
    const int64_t dim = copy->dims[d], out_step = copy->out_steps[d];
    for (int32_t k = d; k < inner - 1; ++k) {
      copy->dims[k] = copy->dims[k + 1];
      copy->in_steps[k] = copy->in_steps[k + 1];
      copy->out_steps[k] = copy->out_steps[k + 1];
    }
    copy->dims[inner - 1] = dim;
    copy->in_steps[inner - 1] = 1;
    copy->out_steps[inner - 1] = out_step;
    return;
  }
}

typedef struct copy_kernel {
  rheos__copy copy;
  bool ready;
  int32_t data_input;
  rheos__copy_make make;
  const rheos__operands *operands;
} copy_kernel;

static rheos_status *run_copy(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  const copy_kernel *k = state;
  rheos__copy made;
  const rheos__copy *copy = &k->copy;
  if (!k->ready) {
    RHEOS_TRY(k->make(k->operands, inputs, &made));
    pair_loops(&made);
    copy = &made;
  }
  int64_t last = last_unit * RHEOS__COPY_UNIT;
  if (last > copy->num_elements) last = copy->num_elements;
  return rheos__copy_run(copy, inputs[k->data_input], outputs[0], first_unit * RHEOS__COPY_UNIT,
                         last);
}

// Makes the copy beforehand if all inputs but the data are constant.
static rheos_status *make_ready(rheos__prepare *p, copy_kernel *k) {
  const void *inputs[8] = {NULL};
  if (p->num_inputs > 8) return NULL;
  for (int32_t i = 0; i < p->num_inputs; ++i) {
    if (i == k->data_input) continue;
    if (p->input_values == NULL || p->input_values[i] == NULL) return NULL;
    inputs[i] = p->input_values[i]->data;
  }
  RHEOS_TRY(k->make(k->operands, inputs, &k->copy));
  pair_loops(&k->copy);
  k->ready = true;
  return NULL;
}

rheos_status *rheos__answer_copy(rheos__prepare *p, int32_t data_input, rheos__copy_make make) {
  copy_kernel *k = RHEOS_NEW_STATE(p, copy_kernel);
  if (k == NULL) return rheos__out_of_memory();
  k->data_input = data_input;
  k->make = make;
  k->operands = rheos__keep_operands(p);
  if (k->operands == NULL) return rheos__out_of_memory();
  RHEOS_TRY(make_ready(p, k));
  int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  return rheos__answer_run(p, run_copy, (count + RHEOS__COPY_UNIT - 1) / RHEOS__COPY_UNIT);
}

