// Cumsum, Cumprod, CumulativeLogsumexp: running sums and products along one dimension.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <float.h>
#include <math.h>
#include <string.h>

#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"
#include "ops/kit/stream.h"

// One row of `columns` totals at a time, rows `step` elements apart (negative: from the end).
// `exclusive`: each output is the total before its element.
typedef void (*scan_fn)(const void *x, void *z, int64_t rows, int64_t columns, int64_t step,
                        bool exclusive, double *totals);

// Scans `count` rows of `n` elements in a row, `distance` elements from row to row; a few at a
// time, because each waits for its own sum.
typedef void (*scan_rows_fn)(const void *x, void *z, int64_t n, int64_t step, int64_t count,
                             int64_t distance, bool exclusive);

enum { TILE = 128, ABREAST = 4 };

// Whether a scan along a long axis is to stop before element i.
static inline bool stops_at(int64_t i) {
  return i % RHEOS__POLLED_ELEMENTS == 0 && i > 0 && rheos__is_stopping();
}

// The status of a scan that may have stopped so.
static rheos_status *stopped_along(int64_t rows) {
  return rows > RHEOS__POLLED_ELEMENTS && rheos__is_stopping() ? rheos__stopped() : NULL;
}

#define SCAN(S, name, TOTAL, start, formula)                                                  \
  static void name##_##S(const void *x, void *z, int64_t rows, int64_t columns, int64_t step, \
                         bool exclusive, double *scratch) {                                   \
    typedef rheos__computed_##S C;                                                            \
    typedef TOTAL total;                                                                      \
    total *totals = (total *)(void *)scratch;                                                 \
    for (int64_t j = 0; j < columns; j++) totals[j] = start;                                  \
    for (int64_t i = 0; i < rows; i++) {                                                      \
      if (stops_at(i)) return;                                                                \
      const rheos__stored_##S *xs = (const rheos__stored_##S *)x + i * step;                  \
      rheos__stored_##S *zs = (rheos__stored_##S *)z + i * step;                              \
      for (int64_t j = 0; j < columns; j++) {                                                 \
        const C value = RHEOS__LOAD_##S(xs[j]);                                               \
        const total before = totals[j];                                                       \
        totals[j] = formula;                                                                  \
        zs[j] = RHEOS__STORE_##S(exclusive ? before : totals[j]);                             \
      }                                                                                       \
    }                                                                                         \
  }
#define SCAN_ROWS(S, name, TOTAL, start, formula)                                                  \
  static inline __attribute__((always_inline)) void name##_abreast_##S(                            \
      const rheos__stored_##S *x, rheos__stored_##S *z, int64_t n, int64_t step, int64_t distance, \
      bool exclusive, const int abreast) {                                                         \
    typedef rheos__computed_##S C;                                                                 \
    typedef TOTAL total;                                                                           \
    total totals[ABREAST];                                                                         \
    for (int k = 0; k < abreast; k++) totals[k] = start;                                           \
    for (int64_t i = 0, at = 0; i < n; i++, at += step) {                                          \
      if (stops_at(i)) return;                                                                     \
      for (int k = 0; k < abreast; k++) {                                                          \
        const C value = RHEOS__LOAD_##S(x[at + k * distance]);                                     \
        const total before = totals[k];                                                            \
        totals[k] = formula;                                                                       \
        z[at + k * distance] = RHEOS__STORE_##S(exclusive ? before : totals[k]);                   \
      }                                                                                            \
    }                                                                                              \
  }                                                                                                \
  static void name##_rows_##S(const void *x, void *z, int64_t n, int64_t step, int64_t count,      \
                              int64_t distance, bool exclusive) {                                  \
    const rheos__stored_##S *xs = x;                                                               \
    rheos__stored_##S *zs = z;                                                                     \
    for (; count >= ABREAST; count -= ABREAST, xs += ABREAST * distance) {                         \
      name##_abreast_##S(xs, zs, n, step, distance, exclusive, ABREAST);                           \
      zs += ABREAST * distance;                                                                    \
    }                                                                                              \
    for (; count > 0; count--, xs += distance, zs += distance) {                                   \
      name##_abreast_##S(xs, zs, n, step, distance, exclusive, 1);                                 \
    }                                                                                              \
  }
#define SCANS(S, ...) SCAN(S, __VA_ARGS__) SCAN_ROWS(S, __VA_ARGS__)
#define WIDEN(v) ((uint64_t)(int64_t)(v))
RHEOS__FLOATS(SCANS, Cumsum, double, 0, before + value)
RHEOS__INTEGERS(SCANS, Cumsum, uint64_t, 0, before + WIDEN(value))
RHEOS__FLOATS(SCANS, Cumprod, double, 1, before *value)
RHEOS__INTEGERS(SCANS, Cumprod, uint64_t, 1, before *WIDEN(value))

RHEOS__COMPLEXES(SCANS, Cumsum, double _Complex, 0, before + value)
RHEOS__COMPLEXES(SCANS, Cumprod, double _Complex, 1, before *value)

// log(exp(a) + exp(b))
static double log_sum(double a, double b) {
  const double most = a > b ? a : b, least = a > b ? b : a;
  if (isnan(a) || isnan(b)) return NAN;
  return isinf(most) ? most : most + log1p(exp(least - most));
}
RHEOS__FLOATS(SCANS, CumulativeLogsumexp, double, -INFINITY, log_sum(before, (double)value))

// ---- Sums along many rows of floats

#if defined(__GNUC__) && !defined(__clang__)
// Cumulative sums of eight rows at once, equal to those row by row: squares of eight by eight are
// turned, so that a vector has a column of them. A line of each row is read and written in one go,
// as rows that lie a power of two apart fall on each other in the cache.
enum { ROWS = 8, COLUMNS = RHEOS__LINE_BYTES / sizeof(float) };
typedef float eight __attribute__((vector_size(32)));
typedef double totals __attribute__((vector_size(64)));
typedef int32_t places __attribute__((vector_size(32)));

static inline __attribute__((always_inline)) void turn(eight *x) {
  const places low = {0, 8, 1, 9, 4, 12, 5, 13}, high = {2, 10, 3, 11, 6, 14, 7, 15};
  const places first = {0, 1, 8, 9, 4, 5, 12, 13}, last = {2, 3, 10, 11, 6, 7, 14, 15};
  const places front = {0, 1, 2, 3, 8, 9, 10, 11}, back = {4, 5, 6, 7, 12, 13, 14, 15};
  eight y[8];
  for (int k = 0; k < 8; k += 2) {
    y[k] = __builtin_shuffle(x[k], x[k + 1], low);
    y[k + 1] = __builtin_shuffle(x[k], x[k + 1], high);
  }
  for (int k = 0; k < 8; k += 4) {
    x[k] = __builtin_shuffle(y[k], y[k + 2], first);
    x[k + 1] = __builtin_shuffle(y[k], y[k + 2], last);
    x[k + 2] = __builtin_shuffle(y[k + 1], y[k + 3], first);
    x[k + 3] = __builtin_shuffle(y[k + 1], y[k + 3], last);
  }
  for (int k = 0; k < 4; k++) {
    y[k] = __builtin_shuffle(x[k], x[k + 4], front);
    y[k + 4] = __builtin_shuffle(x[k], x[k + 4], back);
  }
  for (int k = 0; k < 8; k++) x[k] = y[k];
}

static inline __attribute__((always_inline)) void sum_square(eight *x, totals *sums,
                                                             bool exclusive) {
  turn(x);
  for (int k = 0; k < 8; k++) {
    const totals before = *sums;
    *sums = before + __builtin_convertvector(x[k], totals);
    x[k] = __builtin_convertvector(exclusive ? before : *sums, eight);
  }
  turn(x);
}

// Of ROWS rows of n elements, n a multiple of COLUMNS; streamed if z is aligned to whole lines.
RHEOS__WIDEST static void sum_rows(const float *x, float *z, int64_t n, bool exclusive,
                                   bool stream) {
  totals sums = {0};
  for (int64_t i = 0; i < n; i += COLUMNS) {
    eight left[ROWS], right[ROWS];
    for (int k = 0; k < ROWS; k++) {
      memcpy(&left[k], x + i + k * n, sizeof *left);
      memcpy(&right[k], x + i + k * n + 8, sizeof *right);
    }
    sum_square(left, &sums, exclusive);
    sum_square(right, &sums, exclusive);
    for (int k = 0; k < ROWS; k++) {
      float line[COLUMNS];
      memcpy(line, &left[k], sizeof *left);
      memcpy(line + 8, &right[k], sizeof *right);
      if (stream) {
        rheos__stream_line(z + i + k * n, line);
      } else {
        memcpy(z + i + k * n, line, sizeof line);
      }
    }
  }
}

// Whether vectors are long enough for that to be faster; the sums are the same.
static bool turning_pays(void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f");
#else
  return true;
#endif
}

// Of as many of `count` rows as this can do; returns how many.
static int64_t sum_many_rows(const float *x, float *z, int64_t n, int64_t count, bool exclusive,
                             bool stream) {
  if (n % COLUMNS != 0 || !turning_pays()) return 0;
  stream = stream && rheos__is_aligned(z, RHEOS__LINE_BYTES);
  const int64_t rows = count / ROWS * ROWS;
  for (int64_t i = 0; i < rows; i += ROWS) sum_rows(x + i * n, z + i * n, n, exclusive, stream);
  if (stream) rheos__stream_end();
  return rows;
}
#else
static int64_t sum_many_rows(const float *x, float *z, int64_t n, int64_t count, bool exclusive,
                             bool stream) {
  (void)x, (void)z, (void)n, (void)count, (void)exclusive, (void)stream;
  return 0;
}
#endif

enum { row_Cumsum, row_Cumprod, row_CumulativeLogsumexp, NUM_ROWS };
#define SCAN_ENTRY(S, name) [row_##name][RHEOS__DTYPE_##S] = name##_##S,
static const scan_fn scans[NUM_ROWS][RHEOS__NUM_DTYPES] = {
    RHEOS__NUMBERS(SCAN_ENTRY, Cumsum) RHEOS__NUMBERS(SCAN_ENTRY, Cumprod)
        RHEOS__COMPLEXES(SCAN_ENTRY, Cumsum) RHEOS__COMPLEXES(SCAN_ENTRY, Cumprod)
            RHEOS__FLOATS(SCAN_ENTRY, CumulativeLogsumexp)};

#define ROWS_ENTRY(S, name) [row_##name][RHEOS__DTYPE_##S] = name##_rows_##S,
static const scan_rows_fn row_scans[NUM_ROWS][RHEOS__NUM_DTYPES] = {
    RHEOS__NUMBERS(ROWS_ENTRY, Cumsum) RHEOS__NUMBERS(ROWS_ENTRY, Cumprod)
        RHEOS__COMPLEXES(ROWS_ENTRY, Cumsum) RHEOS__COMPLEXES(ROWS_ENTRY, Cumprod)
            RHEOS__FLOATS(ROWS_ENTRY, CumulativeLogsumexp)};

typedef struct cumulative {
  scan_fn scan;
  scan_rows_fn scan_rows;
  rheos_shape shape;
  int64_t element_bytes;
  bool exclusive, reverse;
  bool float_sum;  // that rows of which go several at a time
  bool stream;
  rheos_dtype axis_dtype;
  int32_t axis;  // -1: not known before the run
  int64_t unit_tiles;
} cumulative;

static rheos_status *checked_axis(int64_t axis, int32_t rank, int32_t *out_axis) {
  if (axis < -rank || axis >= rank) {
    return RHEOS_INVALID("ScanOp: Expected scan axis in the range [%d, %d), but got %lld",
                         (int)-rank, (int)rank, (long long)axis);
  }
  *out_axis = (int32_t)(axis < 0 ? axis + rank : axis);
  return NULL;
}

typedef struct extents {
  int64_t outer, rows, inner, tiles;
} extents;

static extents extents_of(const rheos_shape *shape, int32_t axis) {
  extents e = {1, shape->dims[axis], 1, 0};
  for (int32_t d = 0; d < axis; d++) e.outer *= shape->dims[d];
  for (int32_t d = axis + 1; d < shape->rank; d++) e.inner *= shape->dims[d];
  e.tiles = (e.inner + TILE - 1) / TILE;
  return e;
}

static void scan_tile(const cumulative *c, const extents *e, const void *x, void *z, int64_t tile,
                      double *scratch) {
  const int64_t outer = tile / e->tiles, column = tile % e->tiles * TILE;
  const int64_t columns = e->inner - column < TILE ? e->inner - column : TILE;
  int64_t first = outer * e->rows * e->inner + column;
  if (c->reverse) first += (e->rows - 1) * e->inner;
  c->scan((const char *)x + first * c->element_bytes, (char *)z + first * c->element_bytes, e->rows,
          columns, c->reverse ? -e->inner : e->inner, c->exclusive, scratch);
}

static rheos_status *run(const void *state, const void *const *inputs, void *const *outputs,
                         void *scratch, int64_t first_unit, int64_t last_unit) {
  const cumulative *c = state;
  int32_t axis = c->axis;
  if (axis < 0) {
    const int64_t given =
        c->axis_dtype == RHEOS_INT64 ? *(const int64_t *)inputs[1] : *(const int32_t *)inputs[1];
    RHEOS_TRY(checked_axis(given, c->shape.rank, &axis));
    first_unit = 0, last_unit = 1;
  }
  const extents e = extents_of(&c->shape, axis);
  const int64_t unit_tiles = c->axis < 0 ? e.outer * e.tiles : c->unit_tiles;
  int64_t end = last_unit * unit_tiles;
  if (end > e.outer * e.tiles) end = e.outer * e.tiles;
  if (e.rows == 0) return NULL;
  if (e.inner == 1) {
    int64_t tile = first_unit * unit_tiles;
    if (c->float_sum) {
      tile += sum_many_rows((const float *)inputs[0] + tile * e.rows,
                            (float *)outputs[0] + tile * e.rows, e.rows, end - tile, c->exclusive,
                            c->stream);
    }
    const int64_t first = tile * e.rows + (c->reverse ? e.rows - 1 : 0);
    c->scan_rows((const char *)inputs[0] + first * c->element_bytes,
                 (char *)outputs[0] + first * c->element_bytes, e.rows, c->reverse ? -1 : 1,
                 end - tile, e.rows, c->exclusive);
    return stopped_along(e.rows);
  }
  for (int64_t t = first_unit * unit_tiles; t < end; t++) {
    scan_tile(c, &e, inputs[0], outputs[0], t, scratch);
  }
  return stopped_along(e.rows);
}

static rheos_status *prepare(rheos__prepare *p, int row) {
  const scan_fn scan = scans[row][p->input_dtypes[0]];
  if (scan == NULL) return rheos__no_kernel(p, p->input_dtypes[0]);
  cumulative *c = RHEOS_NEW_STATE(p, cumulative);
  if (c == NULL) return rheos__out_of_memory();
  c->scan = scan;
  c->scan_rows = row_scans[row][p->input_dtypes[0]];
  c->shape = p->input_shapes[0];
  c->element_bytes = (int64_t)rheos_dtype_size(p->input_dtypes[0]);
  c->exclusive = rheos__attr_bool(p->attrs, "exclusive");
  c->reverse = rheos__attr_bool(p->attrs, "reverse");
  c->float_sum = row == row_Cumsum && p->input_dtypes[0] == RHEOS_FLOAT && !c->reverse;
  c->stream = rheos_shape_num_elements(&c->shape) >= RHEOS__STREAM_FROM / c->element_bytes;
  c->axis_dtype = p->input_dtypes[1];
  c->axis = -1;
  p->run = run;
  p->num_units = 1;
  p->reuse_input = 0;
  p->scratch_bytes = TILE * sizeof(double _Complex);
  p->flops = rheos_shape_num_elements(&c->shape);
  if (c->shape.rank == 0) {
    return RHEOS_INVALID("ScanOp: expected at least a vector, got a scalar");
  }
  if (p->input_values[1] == NULL) return NULL;
  RHEOS_TRY(checked_axis(rheos__tensor_int_at(p->input_values[1], 0), c->shape.rank, &c->axis));
  const extents e = extents_of(&c->shape, c->axis);
  const int64_t tile_elements = e.rows * (e.inner < TILE ? e.inner : TILE);
  c->unit_tiles = tile_elements > 0 && tile_elements < RHEOS__UNIT_ELEMENTS
                      ? RHEOS__UNIT_ELEMENTS / tile_elements
                      : 1;
  // Eight rows go together where there are many.
  if (c->float_sum && e.inner == 1 && e.outer >= 64) c->unit_tiles = (c->unit_tiles + 7) / 8 * 8;
  p->num_units = (e.outer * e.tiles + c->unit_tiles - 1) / c->unit_tiles;
  if (p->num_units == 0) p->num_units = 1;
  return NULL;
}

static rheos_status *scan_shape(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  rheos_shape scalar;
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &scalar));
  c->output_shapes[0] = *in;
  if (in->rank == 0) return RHEOS_INVALID("expected at least a vector, got a scalar");
  const rheos_tensor *axis = rheos__infer_value(c, 1);
  if (axis == NULL || in->rank < 0) return NULL;
  int32_t checked;
  return checked_axis(rheos__tensor_int_at(axis, 0), in->rank, &checked);
}

static rheos_output scan_with(rheos__grad *g, const char *type, rheos_output x, bool exclusive,
                              bool reverse) {
  const rheos_output inputs[] = {x, g->inputs[1]};
  const rheos_attr attrs[] = {rheos_attr_bool("exclusive", exclusive),
                              rheos_attr_bool("reverse", reverse)};
  return rheos_operation_output(rheos__op_n(g->scope, type, NULL, inputs, 2, attrs, 2), 0);
}

static rheos_output scan_node(rheos__grad *g, const char *type, rheos_output x, bool reverse) {
  return scan_with(g, type, x, rheos__attr_bool(g->attrs, "exclusive"), reverse);
}

static void grad_cumsum(rheos__grad *g) {
  const bool reverse = rheos__attr_bool(g->attrs, "reverse");
  rheos__grad_set(g, 0, scan_node(g, "Cumsum", rheos__grad_dense(g, 0), !reverse));
}

// The sums of dz times the running product of x over what comes at or behind each element.
static rheos_output sums_behind(rheos__grad *g, rheos_output x, rheos_output dz) {
  const bool reverse = rheos__attr_bool(g->attrs, "reverse");
  const rheos_output product = scan_node(g, "Cumprod", x, reverse);
  return scan_node(g, "Cumsum", rheos__py_mul(g->scope, product, dz), !reverse);
}

// Where x is 0; and how many zeros come before each element.
static rheos_output zeros_of(rheos__grad *g, rheos_output *out_before) {
  rheos_scope *s = g->scope;
  const rheos_output zeros = rheos__op_with_number(s, "Equal", "Equal", g->inputs[0], 0);
  *out_before = scan_with(g, "Cumsum", rheos__cast_to(s, zeros, RHEOS_INT32), true,
                          rheos__attr_bool(g->attrs, "reverse"));
  return zeros;
}

// By division, but at the first 0, where the products are those of the others; behind it all slopes
// are 0. So they are at the second 0, but the slopes of slopes are not: these too come from
// products of the others.
static void grad_cumprod(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output x = g->inputs[0], dz = rheos__grad_dense(g, 0);
  const rheos_output one = rheos__op_1(s, "OnesLike", x);
  rheos_output before, slopes = rheos__op_2(s, "DivNoNan", sums_behind(g, x, dz), x);
  const rheos_output zeros = zeros_of(g, &before);
  for (int i = 0; i < 2; i++) {
    const rheos_output here =
        rheos__op_2(s, "LogicalAnd", zeros, rheos__op_with_number(s, "Equal", "Equal", before, i));
    const rheos_output others = rheos__op_3(s, "SelectV2", here, one, x);
    slopes = rheos__op_3(s, "SelectV2", here, sums_behind(g, others, dz), slopes);
  }
  rheos__grad_set(g, 0, slopes);
}

// The gradients of either sign by logarithms: sum over the later y of dy exp(x - y).
static rheos_output grad_of_sign(rheos__grad *g, rheos_output dz, const char *compare) {
  rheos_scope *s = g->scope;
  const bool reverse = rheos__attr_bool(g->attrs, "reverse");
  const rheos_dtype dtype = rheos_output_dtype(dz);
  const double lowest = dtype == RHEOS_DOUBLE     ? -DBL_MAX
                        : dtype == RHEOS_FLOAT    ? (double)-FLT_MAX
                        : dtype == RHEOS_BFLOAT16 ? -0x1.fep127
                                                  : -65504;
  const rheos_output zero = rheos__const_scalar(s, dtype, 0, "zero");
  const rheos_output none = rheos__const_scalar(s, dtype, lowest, "lowest");
  const rheos_output log = rheos__op_1(s, "Log", rheos__op_1(s, "Abs", dz));
  const rheos_output logs =
      rheos__op_3(s, "SelectV2", rheos__op_2(s, compare, dz, zero), log, none);
  const rheos_output ratios = rheos__py_sub(s, logs, g->outputs[0]);
  const rheos_output sums = scan_node(g, "CumulativeLogsumexp", ratios, !reverse);
  return rheos__op_1(s, "Exp", rheos__py_add(s, sums, g->inputs[0]));
}

static void grad_logsumexp(rheos__grad *g) {
  const rheos_output dz = rheos__grad_dense(g, 0);
  const rheos_output positive = grad_of_sign(g, dz, "Greater");
  rheos__grad_set(g, 0, rheos__py_sub(g->scope, positive, grad_of_sign(g, dz, "Less")));
}

static rheos_status *prepare_CumulativeLogsumexp(rheos__prepare *p) {
  return prepare(p, row_CumulativeLogsumexp);
}
static rheos_status *prepare_Cumsum(rheos__prepare *p) { return prepare(p, row_Cumsum); }
static rheos_status *prepare_Cumprod(rheos__prepare *p) { return prepare(p, row_Cumprod); }

#define SIGNATURE                                                                           \
  "x: T, axis: Tidx -> out: T; exclusive: bool = false; reverse: bool = false; T: number; " \
  "Tidx: {int32, int64} = int32"

const rheos__op_def rheos__op_Cumsum = {
    .name = "Cumsum",
    .signature = SIGNATURE,
    .doc = "The running sum of `x` along `axis`.",
    .shape = scan_shape,
    .gradient = grad_cumsum,
    .prepare = prepare_Cumsum,
};

const rheos__op_def rheos__op_Cumprod = {
    .name = "Cumprod",
    .signature = SIGNATURE,
    .doc = "The running product of `x` along `axis`.",
    .shape = scan_shape,
    .gradient = grad_cumprod,
    .prepare = prepare_Cumprod,
};

const rheos__op_def rheos__op_CumulativeLogsumexp = {
    .name = "CumulativeLogsumexp",
    .signature =
        "x: T, axis: Tidx -> out: T; exclusive: bool = false; reverse: bool = false; T: floating; "
        "Tidx: {int32, int64} = int32",
    .doc = "The logarithm of the running sum of exponentials of `x` along `axis`.",
    .shape = scan_shape,
    .gradient = grad_logsumexp,
    .prepare = prepare_CumulativeLogsumexp,
};
