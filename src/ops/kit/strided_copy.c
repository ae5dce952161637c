// The engine of all strided copies, so that a transpose, a slice and a broadcast differ only in the
// loops they ask for. Large results are streamed past the caches (stream.h).
#include "ops/kit/array_util.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <assert.h>
#include <string.h>

#include "base/numbers.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/stream.h"
#include "ops/kit/tiled_copy.h"
#include "ops/kit/transpose_blocks.h"

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
    assert(copy->rank < RHEOS__COPY_RANK);
    last = copy->rank++;
    copy->dims[last] = dim;
  }
  copy->in_steps[last] = in_step;
  copy->out_steps[last] = out_step;
}

// ---- Rows: one stretch of the innermost loop

#define STRIDED(type)                                                                        \
  static void strided_##type(char *to, int64_t to_step, const char *from, int64_t from_step, \
                             int64_t count) {                                                \
    const type *x = (const type *)from;                                                      \
    type *y = (type *)to;                                                                    \
    if (from_step == 0 && to_step == 1) {                                                    \
      const type value = *x;                                                                 \
      for (int64_t i = 0; i < count; ++i) y[i] = value;                                      \
    } else if (from_step == -1 && to_step == 1) {                                            \
      for (int64_t i = 0; i < count; ++i) y[i] = x[-i];                                      \
    } else if (to_step == 1) {                                                               \
      for (int64_t i = 0; i < count; ++i) y[i] = x[i * from_step];                           \
    } else {                                                                                 \
      for (int64_t i = 0; i < count; ++i) y[i * to_step] = x[i * from_step];                 \
    }                                                                                        \
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

static rheos_status *strided_strings(char *to, int64_t to_step, const char *from, int64_t from_step,
                                     int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    RHEOS_TRY(rheos__copy_elements(RHEOS_STRING, (rheos_string *)to + i * to_step,
                                   (const rheos_string *)from + i * from_step, 1));
  }
  return NULL;
}

// The elements of one line the other way round.
#define TRANSPOSE_LINE(type)                                                         \
  static inline void transpose_line_##type(char *to, const char *from) {             \
    enum { COUNT = RHEOS__LINE_BYTES / sizeof(type) };                               \
    type x[COUNT], y[COUNT];                                                         \
    memcpy(x, from, sizeof x);                                                       \
    RHEOS__INDEPENDENT for (int i = 0; i < COUNT; ++i) y[i] = x[COUNT - 1 - i];      \
    memcpy(to, y, sizeof y);                                                         \
  }                                                                                  \
  static void transpose_lines_##type(char *to, const char *from, int64_t lines) {    \
    _Alignas(RHEOS__LINE_BYTES) char transposed[RHEOS__LINE_BYTES];                  \
    for (; lines > 0; --lines, from += RHEOS__LINE_BYTES, to -= RHEOS__LINE_BYTES) { \
      transpose_line_##type(transposed, from);                                       \
      rheos__stream_line(to, transposed);                                            \
    }                                                                                \
  }
TRANSPOSE_LINE(uint32_t)
TRANSPOSE_LINE(uint64_t)

// A row of elements of 4 or 8 bytes in the other direction, from its end, so that reading goes
// forwards, as the processor expects. `from` is the last element of the source.
static bool reverse_streamed(char *to, const char *from, int64_t size, int64_t count) {
  const int64_t bytes = count * size;
  const int64_t head = (int64_t)(-(uintptr_t)to % RHEOS__LINE_BYTES);
  if ((size != 4 && size != 8) || head % size != 0 || bytes < head + RHEOS__LINE_BYTES)
    return false;
  const int64_t lines = (bytes - head) / RHEOS__LINE_BYTES;
  const int64_t end = head + lines * RHEOS__LINE_BYTES;
  const strided_fn reverse = strided_of((size_t)size);
  const char *first = from + size - end;  // of the source's whole lines
  reverse(to + end, 1, first - size, -1, (bytes - end) / size);
  if (size == 4) {
    transpose_lines_uint32_t(to + end - RHEOS__LINE_BYTES, first, lines);
  } else {
    transpose_lines_uint64_t(to + end - RHEOS__LINE_BYTES, first, lines);
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

// Bytes; of shorter rows too much are lines begun and ended.
enum { STREAMED_ROW = 512, AHEAD_BYTES = 2048 };

// One value in all of a row that begins with an element.
static void fill_streamed(char *to, const char *value, size_t size, size_t bytes) {
  _Alignas(RHEOS__LINE_BYTES) char line[RHEOS__LINE_BYTES];
  for (size_t b = 0; b < sizeof line; b += size) memcpy(line + b, value, size);
  const size_t head = -(uintptr_t)to % RHEOS__LINE_BYTES;
  assert(sizeof line % size == 0 && head <= bytes);
  memcpy(to, line, head);
  size_t at = head;
  for (; at + sizeof line <= bytes; at += sizeof line) rheos__stream_line(to + at, line);
  memcpy(to + at, line, bytes - at);
}

static bool is_of_lines(const char *to, size_t bytes) {
  return bytes % RHEOS__LINE_BYTES == 0 && rheos__is_aligned(to, RHEOS__LINE_BYTES);
}

// `ahead`: how many bytes on lies what of the source should be fetched meanwhile.
static rheos_status *copy_row(rheos_dtype dtype, char *to, int64_t to_step, const char *from,
                              int64_t from_step, int64_t count, bool stream, int64_t ahead) {
  if (dtype == RHEOS_STRING) return strided_strings(to, to_step, from, from_step, count);
  const size_t size = rheos_dtype_size(dtype), bytes = (size_t)count * size;
  if (to_step == 1 && from_step == 1) {
    if (stream && (bytes >= STREAMED_ROW || is_of_lines(to, bytes))) {
      rheos__stream_copy(to, from, bytes, ahead);
    } else {
      memcpy(to, from, bytes);
    }
  } else if (to_step == 1 && from_step == -1 && stream && bytes >= STREAMED_ROW &&
             reverse_streamed(to, from, (int64_t)size, count)) {
    return NULL;
  } else if (to_step == 1 && from_step == 0 && stream && bytes >= STREAMED_ROW &&
             rheos__is_aligned(to, size)) {
    fill_streamed(to, from, size, bytes);
  } else if (to_step == 1 && from_step == 0 && bytes >= STREAMED_ROW && is_one_byte(from, size)) {
    memset(to, *from, bytes);
  } else {
    strided_of(size)(to, to_step, from, from_step, count);
  }
  return NULL;
}

// Whether a result of so many elements is streamed.
static bool is_streamed(rheos_dtype dtype, int64_t num_elements) {
  return num_elements >= RHEOS__STREAM_FROM / rheos__max((int64_t)rheos_dtype_size(dtype), 1);
}

rheos_status *rheos__fill_part(rheos_dtype dtype, void *to, const void *value, int64_t count,
                               int64_t whole) {
  if (count <= 0) return NULL;
  const bool stream = is_streamed(dtype, whole);
  rheos_status *status = copy_row(dtype, to, 1, value, 0, count, stream, 0);
  if (stream) rheos__stream_end();
  return status;
}

rheos_status *rheos__fill_elements(rheos_dtype dtype, void *to, const void *value, int64_t count) {
  return rheos__fill_part(dtype, to, value, count, count);
}

// ---- Transposes

// Rows of the innermost two loops that can be copied as one transpose, from a row's start on.
static int64_t transposable_rows(const rheos__copy *copy, const int64_t *index, int64_t count) {
  int32_t inner = copy->rank - 1;
  if (inner < 1 || index[inner] != 0 || copy->dtype == RHEOS_STRING ||
      copy->out_steps[inner] != 1 || copy->in_steps[inner] == 1 || copy->in_steps[inner - 1] != 1) {
    return 0;
  }
  int64_t rows = count / copy->dims[inner], left = copy->dims[inner - 1] - index[inner - 1];
  return rows < left ? rows : left;
}

static rheos__transposition transposition_of(const rheos__copy *copy, char *to, const char *from,
                                             int64_t rows) {
  const int32_t inner = copy->rank - 1;
  return (rheos__transposition){.to = to,
                                .from = from,
                                .size = (int64_t)rheos_dtype_size(copy->dtype),
                                .to_row = copy->out_steps[inner - 1],
                                .from_column = copy->in_steps[inner],
                                .rows = rows,
                                .columns = copy->dims[inner]};
}

// ---- All loops

static rheos_status *copy_range(const rheos__copy *copy, const void *in, void *out, int64_t first,
                                int64_t last, bool stream) {
  int64_t size = (int64_t)rheos_dtype_size(copy->dtype);
  const char *from = (const char *)in + copy->in_start * size;
  char *to = (char *)out + copy->out_start * size;
  int32_t inner = copy->rank - 1;
  if (inner < 0) return copy_row(copy->dtype, to, 1, from, 1, 1, false, 0);
  // Some rows on, if they are short.
  const int64_t rows_ahead = AHEAD_BYTES / rheos__max(copy->dims[inner] * size, 1) + 1;
  const int64_t ahead = inner > 0 ? copy->in_steps[inner - 1] * size * rows_ahead : 0;
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
      const rheos__transposition matrix = transposition_of(copy, to, from, count);
      rheos__transpose_block(&matrix, 0, matrix.rows, 0, matrix.columns, stream);
      moving = inner - 1;
      first += count * copy->dims[inner];
    } else {
      count = rheos__min(copy->dims[inner] - index[inner], last - first);
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
  assert(first >= 0 && last <= copy->num_elements);
  const bool stream = is_streamed(copy->dtype, copy->num_elements);
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

// A transpose that is known beforehand: matrices one after the other, or blocks of larger ones.
typedef struct transposed {
  rheos__transposition matrix;  // the first; `to` and `from` count from the tensors
  bool stream;
  int32_t rank;  // loops around
  int64_t dims[RHEOS__COPY_RANK], in_steps[RHEOS__COPY_RANK], out_steps[RHEOS__COPY_RANK];  // bytes
  int64_t num_matrices, unit_matrices;
  int64_t block_rows, block_columns, row_blocks, column_blocks;
} transposed;

typedef struct copy_kernel {
  rheos__copy copy;
  transposed transposed;
  rheos__tiled *tiled;
  int64_t unit_tiles;
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

// Runs of a few elements that are moved together become elements, so that what is left is a
// transpose. Returns the size of an element.
static int64_t join_runs(rheos__copy *copy) {
  int64_t size = (int64_t)rheos_dtype_size(copy->dtype);
  const int32_t inner = copy->rank - 1;
  const int64_t run = inner < 0 ? 1 : copy->dims[inner];
  if (inner < 2 || copy->in_steps[inner] != 1 || copy->out_steps[inner] != 1) return size;
  if (run * size > RHEOS__LINE_BYTES || ((run * size) & (run * size - 1)) != 0) return size;
  if (copy->in_start % run != 0 || copy->out_start % run != 0) return size;
  for (int32_t d = 0; d < inner; ++d) {
    if (copy->in_steps[d] % run != 0 || copy->out_steps[d] % run != 0) return size;
  }
  for (int32_t d = 0; d < inner; ++d) copy->in_steps[d] /= run, copy->out_steps[d] /= run;
  copy->in_start /= run, copy->out_start /= run;
  copy->rank--;
  return size * run;
}

static int64_t quotient_up(int64_t a, int64_t b) { return a / b + (a % b != 0); }

enum { TURN_BLOCK = 1 << 18, TURN_BATCH = RHEOS__COPY_UNIT };  // elements of a unit

// Fills in `t` if the copy is a transpose of matrices.
static bool plan_turned(const rheos__copy *whole, transposed *t) {
  rheos__copy copy = *whole;
  if (copy.dtype == RHEOS_STRING || copy.num_elements == 0) return false;
  const int64_t size = join_runs(&copy);
  const bool stream = is_streamed(copy.dtype, copy.num_elements);
  pair_loops(&copy);
  const int32_t inner = copy.rank - 1;
  if (inner < 1 || copy.out_steps[inner] != 1 || copy.in_steps[inner - 1] != 1) return false;
  if (copy.in_steps[inner] < 2 || copy.out_steps[inner - 1] < copy.dims[inner]) return false;
  *t = (transposed){.stream = stream, .rank = inner - 1, .num_matrices = 1, .unit_matrices = 1};
  t->matrix = transposition_of(&copy, NULL, NULL, copy.dims[inner - 1]);
  t->matrix.size = size;
  for (int32_t d = 0; d < t->rank; ++d) {
    t->dims[d] = copy.dims[d];
    t->in_steps[d] = copy.in_steps[d] * size;
    t->out_steps[d] = copy.out_steps[d] * size;
    t->num_matrices *= copy.dims[d];
  }
  const int64_t rows = t->matrix.rows, columns = t->matrix.columns, band = RHEOS__TRANSPOSE_BAND;
  t->block_columns = rheos__min(columns, rheos__max(band, TURN_BLOCK / 4 / rows / band * band));
  t->block_rows = rheos__min(rows, rheos__max(band, TURN_BLOCK / t->block_columns / band * band));
  assert(t->block_rows >= 1 && t->block_columns >= 1);
  t->row_blocks = quotient_up(rows, t->block_rows);
  t->column_blocks = quotient_up(columns, t->block_columns);
  if (t->row_blocks * t->column_blocks == 1) {
    t->unit_matrices = rheos__max(1, TURN_BATCH / (rows * columns));
  }
  return copy.in_start == 0 && copy.out_start == 0;
}

// Small matrices along one loop.
static bool are_many(const transposed *t) {
  const int64_t few = RHEOS__TRANSPOSE_FEW;
  return t->rank == 1 && t->row_blocks * t->column_blocks == 1 && t->matrix.rows <= few &&
         t->matrix.columns <= few / t->matrix.rows && (t->matrix.size == 4 || t->matrix.size == 8);
}

static rheos_status *run_many(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  const copy_kernel *k = state;
  const transposed *t = &k->transposed;
  assert(t->rank == 1 && t->row_blocks * t->column_blocks == 1);
  const int64_t first = first_unit * t->unit_matrices;
  const int64_t end = rheos__min(last_unit * t->unit_matrices, t->num_matrices);
  rheos__transposition matrix = t->matrix;
  matrix.from = (const char *)inputs[k->data_input] + first * t->in_steps[0];
  matrix.to = (char *)outputs[0] + first * t->out_steps[0];
  rheos__transpose_many(&matrix, end - first, t->in_steps[0], t->out_steps[0], t->stream);
  if (t->stream) rheos__stream_end();
  return NULL;
}

static rheos_status *run_turned(const void *state, const void *const *inputs, void *const *outputs,
                                void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  const copy_kernel *k = state;
  const transposed *t = &k->transposed;
  const int64_t blocks = t->row_blocks * t->column_blocks;
  rheos__transposition matrix = t->matrix;
  for (int64_t unit = first_unit; unit < last_unit; ++unit) {
    const int64_t first = unit / blocks * t->unit_matrices, block = unit % blocks;
    const int64_t row = block % t->row_blocks * t->block_rows;
    const int64_t column = block / t->row_blocks * t->block_columns;
    for (int64_t m = first; m < rheos__min(first + t->unit_matrices, t->num_matrices); ++m) {
      matrix.from = inputs[k->data_input];
      matrix.to = outputs[0];
      int64_t rest = m;
      for (int32_t d = t->rank - 1; d >= 0; --d) {
        matrix.from += rest % t->dims[d] * t->in_steps[d];
        matrix.to += rest % t->dims[d] * t->out_steps[d];
        rest /= t->dims[d];
      }
      rheos__transpose_block(&matrix, row, rheos__min(row + t->block_rows, matrix.rows), column,
                             rheos__min(column + t->block_columns, matrix.columns), t->stream);
    }
  }
  if (t->stream) rheos__stream_end();
  return NULL;
}

// ---- Copies by tiles

static rheos_status *run_tiled(const void *state, const void *const *inputs, void *const *outputs,
                               void *scratch, int64_t first_unit, int64_t last_unit) {
  const copy_kernel *k = state;
  rheos__tiled_run(k->tiled, inputs[k->data_input], outputs[0], scratch, first_unit * k->unit_tiles,
                   rheos__min(last_unit * k->unit_tiles, k->tiled->num_tiles));
  return NULL;
}

// Whether tiles were measured to be faster than rows or matrices: runs too short to be streamed one
// by one, matrices of a few rows or columns, and small ones far apart. `joined` has elements of
// `size`.
static bool wants_tiles(const rheos__copy *joined, int64_t size, const transposed *matrices) {
  enum { WIDE = 8, FEW_ROWS = 8, FEW_COLUMNS = 16, SMALL = 32 };
  const int64_t dtype_size = (int64_t)rheos_dtype_size(joined->dtype);
  const int32_t inner = joined->rank - 1;
  if (inner < 1 || joined->dtype == RHEOS_STRING) return false;
  if (matrices == NULL) return joined->dims[inner] * size < STREAMED_ROW;
  if (size > dtype_size && size >= WIDE) return true;
  const int64_t rows = matrices->matrix.rows, columns = matrices->matrix.columns;
  if (size != 4 && size != 8) return false;
  return rows < FEW_ROWS || columns < FEW_COLUMNS || (rows <= SMALL && columns <= SMALL);
}

// Leaves k->tiled NULL where tiles are of no use.
static rheos_status *plan_tiled(rheos__prepare *p, copy_kernel *k, const transposed *matrices) {
  rheos__copy joined = k->copy;
  if (!is_streamed(joined.dtype, joined.num_elements)) return NULL;
  const int64_t size = join_runs(&joined);
  if (!wants_tiles(&joined, size, matrices)) return NULL;
  rheos__tiled *tiled = rheos__arena_alloc(p->arena, sizeof *tiled);
  if (tiled == NULL) return rheos__out_of_memory();
  if (!rheos__tiled_plan(&joined, size, tiled)) return NULL;
  k->tiled = tiled;
  k->unit_tiles = rheos__max(1, TURN_BLOCK / (tiled->out_run * tiled->out_runs));
  return NULL;
}

enum { MAX_INPUTS = 8 };

// The values of the inputs but those that the copy is of; false unless all are constant.
static bool values_of(const rheos__prepare *p, int32_t data_input, int32_t base_input,
                      const void *inputs[MAX_INPUTS]) {
  if (p->num_inputs > MAX_INPUTS) return false;
  for (int32_t i = 0; i < p->num_inputs; ++i) {
    inputs[i] = NULL;
    if (i == data_input || i == base_input) continue;
    if (p->input_values == NULL || p->input_values[i] == NULL) return false;
    inputs[i] = p->input_values[i]->data;
  }
  return true;
}

// Makes the copy beforehand if all inputs but the data are constant.
static rheos_status *make_ready(rheos__prepare *p, copy_kernel *k) {
  const void *inputs[MAX_INPUTS];
  if (!values_of(p, k->data_input, k->data_input, inputs)) return NULL;
  RHEOS_TRY(k->make(k->operands, inputs, &k->copy));
  pair_loops(&k->copy);
  k->ready = true;
  return NULL;
}

rheos_status *rheos__answer_copy(rheos__prepare *p, int32_t data_input, rheos__copy_make make) {
  assert(data_input >= 0 && data_input < p->num_inputs);
  copy_kernel *k = RHEOS_NEW_STATE(p, copy_kernel);
  if (k == NULL) return rheos__out_of_memory();
  k->data_input = data_input;
  k->make = make;
  k->operands = rheos__keep_operands(p);
  if (k->operands == NULL) return rheos__out_of_memory();
  RHEOS_TRY(make_ready(p, k));
  const bool turns = k->ready && plan_turned(&k->copy, &k->transposed);
  if (k->ready) RHEOS_TRY(plan_tiled(p, k, turns ? &k->transposed : NULL));
  if (k->tiled != NULL) {
    p->scratch_bytes = rheos__tiled_scratch_bytes(k->tiled);
    return rheos__answer_run(p, run_tiled, quotient_up(k->tiled->num_tiles, k->unit_tiles));
  }
  if (turns) {
    const transposed *t = &k->transposed;
    const int64_t batches = quotient_up(t->num_matrices, t->unit_matrices);
    return rheos__answer_run(p, are_many(t) ? run_many : run_turned,
                             batches * t->row_blocks * t->column_blocks);
  }
  int64_t count = rheos_shape_num_elements(&p->output_shapes[0]);
  return rheos__answer_run(p, run_copy, (count + RHEOS__COPY_UNIT - 1) / RHEOS__COPY_UNIT);
}

const rheos__copy *rheos__copy_of(rheos__run_fn run, const void *state, int32_t *out_data_input) {
  if (run != run_copy && run != run_turned && run != run_many && run != run_tiled) return NULL;
  const copy_kernel *k = state;
  *out_data_input = k->data_input;
  return k->ready ? &k->copy : NULL;
}

// ---- Over something else

typedef struct spread_kernel {
  rheos__spread spread;
  rheos__copy_make make;
  const rheos__operands *operands;
} spread_kernel;

static rheos_status *run_spread(const void *state, const void *const *inputs, void *const *outputs,
                                void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  static const char zero[16];
  const spread_kernel *k = state;
  const rheos__spread *s = &k->spread;
  const rheos_dtype dtype = k->operands->output_dtypes[0];
  const int64_t count = rheos_shape_num_elements(&k->operands->output_shapes[0]);
  rheos__copy copy = s->copy;
  if (!s->ready) RHEOS_TRY(k->make(k->operands, inputs, &copy));
  if (s->base_input < 0 && dtype != RHEOS_STRING) {
    RHEOS_TRY(rheos__fill_elements(dtype, outputs[0], zero, count));
  }
  if (s->base_input >= 0 && inputs[s->base_input] != outputs[0]) {
    RHEOS_TRY(rheos__copy_elements(dtype, outputs[0], inputs[s->base_input], count));
  }
  return rheos__copy_all(&copy, inputs[s->data_input], outputs[0]);
}

rheos_status *rheos__answer_spread(rheos__prepare *p, int32_t base_input, int32_t data_input,
                                   rheos__copy_make make) {
  spread_kernel *k = RHEOS_NEW_STATE(p, spread_kernel);
  const void *inputs[MAX_INPUTS];
  if (k == NULL) return rheos__out_of_memory();
  k->spread.base_input = base_input;
  k->spread.data_input = data_input;
  k->make = make;
  k->operands = rheos__keep_operands(p);
  if (k->operands == NULL) return rheos__out_of_memory();
  if (values_of(p, data_input, base_input, inputs)) {
    RHEOS_TRY(make(k->operands, inputs, &k->spread.copy));
    k->spread.ready = true;
  }
  return rheos__answer_run(p, run_spread, 1);
}

const rheos__spread *rheos__spread_of(rheos__run_fn run, const void *state) {
  if (run != run_spread) return NULL;
  const rheos__spread *spread = &((const spread_kernel *)state)->spread;
  return spread->ready ? spread : NULL;
}
