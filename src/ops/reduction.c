// Reductions over some dimensions: one row for each formula, as in elementwise.h.
//
// Neighbouring dimensions that are reduced, or kept, together are joined, so that what is left
// alternates. Either the innermost is reduced: then an output is a sum of contiguous runs, made in
// 16 lanes that are joined as a tree, in blocks; or it is kept: then runs are added to a tile of
// totals. Floats are summed in double. The order depends on shapes only, never on threads.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <complex.h>
#include <math.h>
#include <string.h>

#include "ops/elementwise.h"
#include "ops/array_util.h"
#include "ops/op_util.h"
#include "ops/reduction.h"

enum {
  LANES = RHEOS__REDUCED_LANES,
  ROWS = 8,
  BLOCK_ELEMENTS = RHEOS__REDUCED_BLOCK,
  MAX_TILE = RHEOS__REDUCED_TILE,
  TOTAL_BYTES = RHEOS__TOTAL_BYTES,
};
enum { FEW_UNITS = 8, PIECE_ELEMENTS = 32768, MAX_PIECES = 64 };

typedef rheos__reducer reducer;

// ---- Formulas: ROW(op, dtypes, qualifier, type of a total, start, total a after x,
// totals a and b joined, result of total a over `count` elements)
#define WIDEN(v) ((uint64_t)(int64_t)(v))
#define SQUARED_SIZE(v) (creal(v) * creal(v) + cimag(v) * cimag(v))
#define LOWEST                                                                                  \
  _Generic((C)0, float: -INFINITY, double: -(double)INFINITY, int8_t: INT8_MIN,                 \
           int16_t: INT16_MIN, int32_t: INT32_MIN, int64_t: INT64_MIN, default: 0)
#define HIGHEST                                                                                 \
  _Generic((C)0, float: INFINITY, double: (double)INFINITY, int8_t: INT8_MAX,                   \
           int16_t: INT16_MAX, int32_t: INT32_MAX, int64_t: INT64_MAX, uint8_t: UINT8_MAX,      \
           uint16_t: UINT16_MAX, uint32_t: UINT32_MAX, uint64_t: UINT64_MAX)

#define FORMULAS(ROW)                                                                           \
  ROW(Sum, FLOATS, RHEOS__WIDEST, double, 0, a + x, a + b, a)                                     \
  ROW(Sum, INTEGERS, , uint64_t, 0, a + WIDEN(x), a + b, a)                                     \
  ROW(Mean, FLOATS, RHEOS__WIDEST, double, 0, a + x, a + b, a / (double)count)                    \
  ROW(Mean, SIGNED, , int64_t, 0, WIDEN(a) + WIDEN(x), WIDEN(a) + WIDEN(b),                     \
      count > 0 ? a / count : 0)                                                                \
  ROW(Mean, UNSIGNED, , uint64_t, 0, a + x, a + b, count > 0 ? a / (uint64_t)count : 0)         \
  ROW(Prod, FLOATS, , double, 1, a * x, a * b, a)                                               \
  ROW(Prod, INTEGERS, , uint64_t, 1, a * WIDEN(x), a * b, a)                                    \
  ROW(Sum, COMPLEXES, , double _Complex, 0, a + x, a + b, a)                                    \
  ROW(Mean, COMPLEXES, , double _Complex, 0, a + x, a + b, a / (double)count)                   \
  ROW(Prod, COMPLEXES, , double _Complex, 1, a * x, a * b, a)                                   \
  ROW(EuclideanNorm, COMPLEXES, , double, 0, a + SQUARED_SIZE((double _Complex)x), a + b, sqrt(a)) \
  ROW(Max, FLOATS, RHEOS__WIDE, C, LOWEST, (x > a) | (x != x) ? x : a,                          \
      (b > a) | (b != b) ? b : a, a)                                                            \
  ROW(Max, INTEGERS, , C, LOWEST, x > a ? x : a, b > a ? b : a, a)                              \
  ROW(Min, FLOATS, RHEOS__WIDE, C, HIGHEST, (x < a) | (x != x) ? x : a,                         \
      (b < a) | (b != b) ? b : a, a)                                                            \
  ROW(Min, INTEGERS, , C, HIGHEST, x < a ? x : a, b < a ? b : a, a)                             \
  ROW(EuclideanNorm, FLOATS, , double, 0, a + (double)x * (double)x, a + b, sqrt(a))            \
  ROW(EuclideanNorm, INTEGERS, , double, 0, a + (double)x * (double)x, a + b, (int64_t)sqrt(a)) \
  ROW(L2Loss, FLOATS, RHEOS__WIDE, double, 0, a + (double)x * (double)x, a + b, a / 2)          \
  ROW(All, BOOLS, , bool, true, (unsigned)a & (unsigned)x, (unsigned)a & (unsigned)b, a)        \
  ROW(Any, BOOLS, , bool, false, (unsigned)a | (unsigned)x, (unsigned)a | (unsigned)b, a)       

#define REDUCER_TYPES(S, TOTAL)                           \
  typedef rheos__computed_##S C __attribute__((unused)); \
  typedef TOTAL total

#define REDUCER(S, qualifier, name, TOTAL, initial, step, join, result)                         \
  static void name##_start_##S(void *totals, int64_t n) {                                       \
    REDUCER_TYPES(S, TOTAL);                                                                    \
    total *t = totals;                                                                          \
    for (int64_t i = 0; i < n; i++) t[i] = initial;                                             \
  }                                                                                             \
  qualifier static void name##_block_##S(void *into, const void *values, int64_t n) {           \
    REDUCER_TYPES(S, TOTAL);                                                                    \
    const rheos__stored_##S *xs = values;                                                       \
    total lanes[LANES];                                                                         \
    for (int j = 0; j < LANES; j++) lanes[j] = initial;                                         \
    int64_t i = 0;                                                                              \
    for (; i + LANES <= n; i += LANES) {                                                        \
      RHEOS__KEEP_LANES for (int j = 0; j < LANES; j++) {                                       \
        const C x = RHEOS__LOAD_##S(xs[i + j]);                                                 \
        const total a = lanes[j];                                                               \
        lanes[j] = (total)(step);                                                               \
      }                                                                                         \
    }                                                                                           \
    for (int j = 0; i < n; i++, j++) {                                                          \
      const C x = RHEOS__LOAD_##S(xs[i]);                                                       \
      const total a = lanes[j];                                                                 \
      lanes[j] = (total)(step);                                                                 \
    }                                                                                           \
    for (int width = LANES / 2; width > 0; width /= 2) {                                        \
      for (int j = 0; j < width; j++) {                                                         \
        const total a = lanes[j], b = lanes[j + width];                                         \
        lanes[j] = (total)(join);                                                               \
      }                                                                                         \
    }                                                                                           \
    const total a = *(total *)into, b = lanes[0];                                               \
    *(total *)into = (total)(join);                                                             \
  }                                                                                             \
  static void name##_run_##S(void *into, const void *values, int64_t n) {                       \
    REDUCER_TYPES(S, TOTAL);                                                                    \
    const rheos__stored_##S *xs = values;                                                       \
    if (n >= LANES) {                                                                           \
      for (int64_t i = 0; i < n; i += BLOCK_ELEMENTS) {                                         \
        name##_block_##S(into, xs + i, n - i < BLOCK_ELEMENTS ? n - i : BLOCK_ELEMENTS);        \
      }                                                                                         \
      return;                                                                                   \
    }                                                                                           \
    total a = *(total *)into;                                                                   \
    for (int64_t i = 0; i < n; i++) {                                                           \
      const C x = RHEOS__LOAD_##S(xs[i]);                                                       \
      a = (total)(step);                                                                        \
    }                                                                                           \
    *(total *)into = a;                                                                         \
  }                                                                                             \
  qualifier static void name##_columns_##S(void *totals, const void *values, int64_t n,         \
                                           int64_t rows, int64_t step_elements) {               \
    REDUCER_TYPES(S, TOTAL);                                                                    \
    const rheos__stored_##S *xs = values;                                                       \
    total *t = totals;                                                                          \
    int64_t row = 0;                                                                            \
    const int64_t whole = n - n % LANES;                                                        \
    for (; row + ROWS <= rows; row += ROWS, xs += ROWS * step_elements) {                       \
      for (int64_t i = 0; i < whole; i += LANES) {                                              \
        total lanes[LANES];                                                                     \
        for (int j = 0; j < LANES; j++) lanes[j] = t[i + j];                                    \
        for (int k = 0; k < ROWS; k++) {                                                        \
          const rheos__stored_##S *row_xs = xs + k * step_elements + i;                         \
          RHEOS__KEEP_LANES for (int j = 0; j < LANES; j++) {                                   \
            const C x = RHEOS__LOAD_##S(row_xs[j]);                                             \
            const total a = lanes[j];                                                           \
            lanes[j] = (total)(step);                                                           \
          }                                                                                     \
        }                                                                                       \
        for (int j = 0; j < LANES; j++) t[i + j] = lanes[j];                                    \
      }                                                                                         \
      for (int64_t i = whole; i < n; i++) {                                                     \
        total a = t[i];                                                                         \
        for (int k = 0; k < ROWS; k++) {                                                        \
          const C x = RHEOS__LOAD_##S(xs[k * step_elements + i]);                               \
          a = (total)(step);                                                                    \
        }                                                                                       \
        t[i] = a;                                                                               \
      }                                                                                         \
    }                                                                                           \
    for (; row < rows; row++, xs += step_elements) {                                            \
      RHEOS__INDEPENDENT for (int64_t i = 0; i < n; i++) {                                      \
        const C x = RHEOS__LOAD_##S(xs[i]);                                                     \
        const total a = t[i];                                                                   \
        t[i] = (total)(step);                                                                   \
      }                                                                                         \
    }                                                                                           \
  }                                                                                             \
  static void name##_join_##S(void *totals, const void *others, int64_t n) {                    \
    REDUCER_TYPES(S, TOTAL);                                                                    \
    total *t = totals;                                                                          \
    const total *o = others;                                                                    \
    for (int64_t i = 0; i < n; i++) {                                                           \
      const total a = t[i], b = o[i];                                                           \
      t[i] = (total)(join);                                                                     \
    }                                                                                           \
  }                                                                                             \
  static void name##_finish_##S(void *out, const void *totals, int64_t n, int64_t count) {      \
    REDUCER_TYPES(S, TOTAL);                                                                    \
    (void)count;                                                                                \
    const total *t = totals;                                                                    \
    rheos__stored_##S *zs = out;                                                                \
    for (int64_t i = 0; i < n; i++) {                                                           \
      const total a = t[i];                                                                     \
      zs[i] = RHEOS__STORE_##S(result);                                                         \
    }                                                                                           \
  }                                                                                             \
  static const reducer name##_##S = {                                                           \
      name##_start_##S, name##_run_##S,  name##_block_##S, name##_columns_##S,                  \
      name##_join_##S, name##_finish_##S};

#define ROW(name, dtypes, qualifier, TOTAL, start, step, join, result) \
  RHEOS__##dtypes(REDUCER, qualifier, name, TOTAL, start, step, join, result)
FORMULAS(ROW)
#undef ROW

// ---- What to do, settled by shapes and axes

typedef rheos__reduction reduction;
typedef rheos__reduced_span span;

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

// Element offset of combination `index` of some dimensions, the last fastest.
static int64_t offset_of(int64_t index, int32_t rank, const int64_t *dims, const int64_t *steps) {
  int64_t offset = 0;
  for (int32_t d = rank - 1; d > 0; d--) {
    offset += index % dims[d] * steps[d];
    index /= dims[d];
  }
  return rank > 0 ? offset + index * steps[0] : 0;
}

int64_t rheos__reduction_offset(const reduction *r, int64_t run) {
  return offset_of(run, r->num_reduced, r->reduced_dims, r->reduced_steps);
}

static span whole_span(const reduction *r) { return (span){0, r->runs, 0, r->inner}; }

span rheos__reduction_span(const reduction *r, int64_t piece) {
  span s = whole_span(r);
  if (r->piece_inner < r->inner) {
    const int64_t run_pieces = (r->inner + r->piece_inner - 1) / r->piece_inner;
    s.first_run = piece / run_pieces;
    s.last_run = s.first_run + 1;
    s.start = piece % run_pieces * r->piece_inner;
    s.count = smaller(r->piece_inner, r->inner - s.start);
  } else {
    s.first_run = piece * r->piece_runs;
    s.last_run = smaller(s.first_run + r->piece_runs, r->runs);
  }
  return s;
}

// An item: `width` outputs from number `output` on, one or a tile; the first element is at `base`.
typedef struct item {
  const char *base;
  int64_t output, width;
} item;

rheos__reduced_item rheos__reduction_item(const reduction *r, int64_t index) {
  int64_t row = index, column = 0;
  rheos__reduced_item result = {.output = index, .width = 1};
  if (!r->inner_reduced) {
    const int64_t tiles = (r->inner + r->tile - 1) / r->tile;
    row = index / tiles;
    column = index % tiles * r->tile;
    result.width = smaller(r->tile, r->inner - column);
    result.output = row * r->inner + column;
  }
  result.at = column + offset_of(row, r->num_kept, r->kept_dims, r->kept_steps);
  return result;
}

static item item_at(const reduction *r, const char *in, int64_t index) {
  const rheos__reduced_item it = rheos__reduction_item(r, index);
  return (item){in + it.at * r->in_bytes, it.output, it.width};
}

static void add_runs(const reduction *r, const item *it, const span *s, void *total) {
  for (int64_t k = s->first_run; k < s->last_run; k++) {
    const int64_t offset = rheos__reduction_offset(r, k);
    r->by->run(total, it->base + (offset + s->start) * r->in_bytes, s->count);
  }
}

// Along the last of the reduced dimensions in one go.
static void add_columns(const reduction *r, const item *it, const span *s, void *totals) {
  const int32_t last = r->num_reduced - 1;
  const int64_t rows = last < 0 ? 1 : r->reduced_dims[last];
  const int64_t step = last < 0 ? 0 : r->reduced_steps[last];
  for (int64_t k = s->first_run; k < s->last_run;) {
    const int64_t count = smaller(rows - k % rows, s->last_run - k);
    const int64_t offset = rheos__reduction_offset(r, k);
    r->by->columns(totals, it->base + offset * r->in_bytes, it->width, count, step);
    k += count;
  }
}

static void add_span(const reduction *r, const item *it, const span *s, void *totals) {
  r->by->start(totals, it->width);
  if (r->inner_reduced) {
    add_runs(r, it, s, totals);
  } else {
    add_columns(r, it, s, totals);
  }
}

static rheos_status *run(const void *state, const void *const *inputs, void *const *outputs,
                         void *scratch, int64_t first_unit, int64_t last_unit) {
  const reduction *r = state;
  const int64_t end = smaller(last_unit * r->unit_items, r->num_items);
  const span all = whole_span(r);
  _Alignas(TOTAL_BYTES) char one[TOTAL_BYTES];
  if (r->inner_reduced && r->runs == 1 && r->num_kept <= 1) {  // rows one after the other
    const char *row = (const char *)inputs[0] + first_unit * r->unit_items * r->inner * r->in_bytes;
    char *out = (char *)outputs[0] + first_unit * r->unit_items * r->out_bytes;
    for (int64_t i = first_unit * r->unit_items; i < end; i++) {
      r->by->start(one, 1);
      r->by->run(one, row, r->inner);
      r->by->finish(out, one, 1, r->count);
      row += r->inner * r->in_bytes;
      out += r->out_bytes;
    }
    return NULL;
  }
  void *totals = r->inner_reduced ? one : scratch;
  for (int64_t i = first_unit * r->unit_items; i < end; i++) {
    const item it = item_at(r, inputs[0], i);
    add_span(r, &it, &all, totals);
    r->by->finish((char *)outputs[0] + it.output * r->out_bytes, totals, it.width, r->count);
  }
  return NULL;
}

// ---- Few items of many elements: in pieces, whose totals are joined in order

typedef struct piecewise {
  const reduction *r;
  const char *in;
  char *totals;  // of piece after piece of item after item
} piecewise;

size_t rheos__reduction_total_bytes(const reduction *r) {
  return (size_t)(r->inner_reduced ? 1 : r->tile) * TOTAL_BYTES;
}

static rheos_status *run_pieces(void *argument, int64_t first, int64_t last) {
  const piecewise *w = argument;
  const reduction *r = w->r;
  for (int64_t i = first; i < last; i++) {
    const int64_t index = i % r->num_items, piece = i / r->num_items;
    const item it = item_at(r, w->in, index);
    const span s = rheos__reduction_span(r, piece);
    const size_t at = (size_t)(index * r->num_pieces + piece);
    add_span(r, &it, &s, w->totals + at * rheos__reduction_total_bytes(r));
  }
  return NULL;
}

void rheos__reduction_join(const reduction *r, char *totals, char *out) {
  const size_t bytes = rheos__reduction_total_bytes(r);
  for (int64_t i = 0; i < r->num_items; i++) {
    const rheos__reduced_item it = rheos__reduction_item(r, i);
    char *first = totals + (size_t)(i * r->num_pieces) * bytes;
    for (int64_t k = 1; k < r->num_pieces; k++) {
      r->by->join(first, first + (size_t)k * bytes, it.width);
    }
    r->by->finish(out + it.output * r->out_bytes, first, it.width, r->count);
  }
}

static rheos_status *reduce_in_pieces(const reduction *r, rheos__step *step, const void *in,
                                      void *out) {
  const int64_t pieces = r->num_items * r->num_pieces;
  piecewise w = {r, in, rheos__alloc_aligned((size_t)pieces * rheos__reduction_total_bytes(r))};
  if (w.totals == NULL) return rheos__out_of_memory();
  const int64_t flops = rheos__flops((double)r->count * (double)r->num_outputs);
  rheos_status *status = rheos__step_parallel(step, pieces, flops, run_pieces, &w);
  if (status == NULL) rheos__reduction_join(r, w.totals, out);
  rheos__free_aligned(w.totals);
  return status;
}

// Joins the dimensions of `shape`; `reduced` says which are reduced.
static void plan_dimensions(reduction *r, const rheos_shape *shape, const bool *reduced) {
  int64_t dims[RHEOS_MAX_RANK];
  bool flags[RHEOS_MAX_RANK];
  int32_t rank = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    if (shape->dims[d] == 1) continue;
    if (rank > 0 && flags[rank - 1] == reduced[d]) {
      dims[rank - 1] *= shape->dims[d];
    } else {
      dims[rank] = shape->dims[d];
      flags[rank++] = reduced[d];
    }
  }
  r->inner = rank > 0 ? dims[rank - 1] : 1;
  r->inner_reduced = rank == 0 || flags[rank - 1];
  r->runs = 1;
  int64_t step = r->inner;
  for (int32_t d = rank - 2; d >= 0; d--) {
    if (flags[d]) {
      r->runs *= dims[d];
      r->num_reduced++;
    } else {
      r->num_kept++;
    }
  }
  int32_t kept = r->num_kept, gone = r->num_reduced;
  for (int32_t d = rank - 2; d >= 0; d--) {
    int64_t *to_dims = flags[d] ? &r->reduced_dims[--gone] : &r->kept_dims[--kept];
    int64_t *to_steps = flags[d] ? &r->reduced_steps[gone] : &r->kept_steps[kept];
    *to_dims = dims[d];
    *to_steps = step;
    step *= dims[d];
  }
}

static void plan_units(reduction *r) {
  int64_t item_elements = r->count;
  r->num_items = r->num_outputs;
  if (!r->inner_reduced && r->num_outputs > 0) {
    // Rows are read a tile's piece at a time: where it is less than two pages, that is four times
    // slower than reading on.
    r->tile = smaller(r->inner, MAX_TILE);
    r->num_items = r->num_outputs / r->inner * ((r->inner + r->tile - 1) / r->tile);
    item_elements = r->count * r->tile;
  }
  r->unit_items = larger(RHEOS__UNIT_ELEMENTS / larger(item_elements, 1), 1);
  r->num_units = larger((r->num_items + r->unit_items - 1) / r->unit_items, 1);
}

static void plan_pieces(reduction *r) {
  r->num_pieces = 1;
  const double elements = (double)r->count * (double)r->num_outputs;
  if (r->num_items == 0 || r->num_units >= FEW_UNITS) return;
  const int64_t most = smaller((int64_t)(elements / (double)r->num_items / PIECE_ELEMENTS),
                               MAX_PIECES / r->num_items);
  if (most < 2) return;
  if (r->inner_reduced && r->runs < most) {
    r->piece_runs = 1;
    r->piece_inner = (r->inner + most / r->runs - 1) / (most / r->runs);
    r->num_pieces = r->runs * ((r->inner + r->piece_inner - 1) / r->piece_inner);
  } else {
    r->piece_inner = r->inner;
    r->piece_runs = (r->runs + most - 1) / most;
    r->num_pieces = (r->runs + r->piece_runs - 1) / r->piece_runs;
  }
}

static void plan(reduction *r, const reducer *by, rheos_dtype dtype, const rheos_shape *shape,
                 const bool *reduced) {
  *r = (reduction){.by = by, .count = 1, .num_outputs = 1};
  r->in_bytes = r->out_bytes = (int64_t)rheos_dtype_size(dtype);
  for (int32_t d = 0; d < shape->rank; d++) {
    if (reduced[d]) {
      r->count *= shape->dims[d];
    } else {
      r->num_outputs *= shape->dims[d];
    }
  }
  plan_dimensions(r, shape, reduced);
  plan_units(r);
  plan_pieces(r);
}

// ---- Axes and shapes

// Marks the dimensions that `axes` names; negative ones count from the end.
static rheos_status *mark_axes(const rheos_tensor *axes, int32_t rank, bool *out_reduced) {
  memset(out_reduced, 0, RHEOS_MAX_RANK * sizeof *out_reduced);
  if (axes->shape.rank > 1) {
    rheos__shape_text text;
    return RHEOS_INVALID("expected a scalar or vector of axes, got shape %s",
                         rheos__shape_text_of(&axes->shape, &text));
  }
  for (int64_t i = 0; i < axes->num_elements; i++) {
    const int64_t axis = rheos__tensor_int_at(axes, i);
    if (axis < -rank || axis >= rank) {
      return RHEOS_INVALID("Invalid reduction dimension (%lld for input with %d dimension(s)",
                           (long long)axis, (int)rank);
    }
    const int64_t d = axis < 0 ? axis + rank : axis;
    if (out_reduced[d]) {
      return RHEOS_INVALID(
          "Invalid reduction arguments: Axes contains duplicate dimension: %lld", (long long)d);
    }
    out_reduced[d] = true;
  }
  return NULL;
}

static rheos_shape reduced_shape(const rheos_shape *shape, const bool *reduced, bool keep_dims) {
  rheos_shape out = RHEOS_SCALAR;
  for (int32_t d = 0; d < shape->rank; d++) {
    if (!reduced[d]) {
      out.dims[out.rank++] = shape->dims[d];
    } else if (keep_dims) {
      out.dims[out.rank++] = 1;
    }
  }
  return out;
}

static rheos_status *reduction_shape(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  rheos_shape *out = &c->output_shapes[0];
  const bool keep_dims = rheos__attr_bool(c->attrs, "keep_dims");
  if (c->input_shapes[1].rank > 1) {
    return RHEOS_INVALID("Shape must be at most rank 1 but is rank %d", c->input_shapes[1].rank);
  }
  if (in->rank < 0) return NULL;
  const rheos_tensor *axes = rheos__infer_value(c, 1);
  int64_t values[RHEOS_MAX_RANK];
  int32_t count;
  rheos_tensor view;
  if (axes == NULL && rheos__infer_ints(c, 1, values, RHEOS_MAX_RANK, &count)) {
    rheos__tensor_init_view(&view, RHEOS_INT64, &RHEOS_SHAPE(count), values);
    axes = &view;
  }
  if (axes != NULL) {
    bool reduced[RHEOS_MAX_RANK];
    RHEOS_TRY(mark_axes(axes, in->rank, reduced));
    *out = reduced_shape(in, reduced, keep_dims);
  } else if (keep_dims) {
    out->rank = in->rank;
    for (int32_t d = 0; d < in->rank; d++) out->dims[d] = -1;
  }
  return NULL;
}

// ---- Kernels

typedef struct late_reduction {
  const reducer *by;
  rheos_dtype dtype;
  bool keep_dims;
} late_reduction;

// The axes are known only now.
static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  const late_reduction *late = state;
  const rheos_shape *shape = &inputs[0]->shape;
  bool reduced[RHEOS_MAX_RANK];
  RHEOS_TRY(mark_axes(inputs[1], shape->rank, reduced));
  RHEOS_TRY(rheos_tensor_new(late->dtype, reduced_shape(shape, reduced, late->keep_dims),
                             &outputs[0]));
  reduction r;
  plan(&r, late->by, late->dtype, shape, reduced);
  _Alignas(64) char totals[MAX_TILE * TOTAL_BYTES];
  const void *in = inputs[0]->data;
  void *out = outputs[0]->data;
  if (r.num_pieces > 1) return reduce_in_pieces(&r, step, in, out);
  return run(&r, &in, &out, totals, 0, r.num_units);
}

static rheos_status *prepare_late(rheos__prepare *p, const reducer *by) {
  late_reduction *late = RHEOS_NEW_STATE(p, late_reduction);
  if (late == NULL) return rheos__out_of_memory();
  late->by = by;
  late->dtype = p->input_dtypes[0];
  late->keep_dims = rheos__attr_bool(p->attrs, "keep_dims");
  p->compute = compute;
  return NULL;
}

static rheos_status *compute_large(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  const reduction *r = state;
  RHEOS_TRY(rheos_tensor_new(r->out_dtype, r->out_shape, &outputs[0]));
  return reduce_in_pieces(r, step, inputs[0]->data, outputs[0]->data);
}

const reduction *rheos__reduction_of(rheos__run_fn kernel, rheos__compute_fn large,
                                     const void *state) {
  return kernel == run || large == compute_large ? state : NULL;
}

static rheos_status *prepare_with(rheos__prepare *p, const reducer *by, const bool *reduced,
                                  bool one_is_itself) {
  const rheos_shape *shape = &p->input_shapes[0];
  reduction *r = RHEOS_NEW_STATE(p, reduction);
  if (r == NULL) return rheos__out_of_memory();
  plan(r, by, p->input_dtypes[0], shape, reduced);
  if (r->count == 1 && one_is_itself) {
    p->alias_input = 0;
    return NULL;
  }
  r->out_dtype = p->output_dtypes[0];
  r->out_shape = p->output_shapes[0];
  if (r->num_pieces > 1) {
    p->compute = compute_large;
    return NULL;
  }
  p->run = run;
  p->num_units = r->num_units;
  p->scratch_bytes = r->inner_reduced ? 0 : (size_t)r->tile * TOTAL_BYTES;
  p->flops = rheos__flops((double)r->count * r->num_outputs);
  return NULL;
}

static rheos_status *prepare(rheos__prepare *p, const reducer *by, bool one_is_itself) {
  if (by == NULL) return rheos__no_kernel(p, p->input_dtypes[0]);
  if (p->input_values[1] == NULL) return prepare_late(p, by);
  bool reduced[RHEOS_MAX_RANK];
  RHEOS_TRY(mark_axes(p->input_values[1], p->input_shapes[0].rank, reduced));
  return prepare_with(p, by, reduced, one_is_itself);
}

// ---- Gradients

// TensorFlow's reduced_shape(): the shape with 1 for the reduced dimensions, in nodes.
static rheos_output kept_dims_of(rheos_scope *s, rheos_output dims, rheos_output axes) {
  axes = rheos__cast_to(s, axes, RHEOS_INT32);
  if (rheos_scope_status(s) != NULL) return axes;
  const rheos_shape of_dims = rheos_output_shape(dims);
  const rheos_output rank =
      rheos_shape_is_known(&of_dims)
          ? rheos__const_scalar(s, RHEOS_INT32, (double)of_dims.dims[0], "Size")
          : rheos__op_1(s, "Size", dims);
  axes = rheos__named_2(s, "FloorMod", "mod", rheos__py_add(s, axes, rank), rank);
  const rheos_output axes_shape = rheos__shape_of(s, axes, RHEOS_INT32);
  const rheos_output range = rheos__py_range(s, rank);
  rheos__node_scope inside;
  rheos__push_node_scope(s, "Fill", &inside);
  const rheos_output one = rheos__const_scalar(s, RHEOS_INT32, 1, "value");
  const rheos_output ones = rheos__named_2(s, "Fill", inside.name, axes_shape, one);
  rheos_scope_pop(s);
  const rheos_output inputs[] = {range, axes, dims, ones};
  const rheos_attr count = rheos_attr_int("N", 2);
  return rheos_operation_output(rheos__op_n(s, "DynamicStitch", NULL, inputs, 4, &count, 1), 0);
}

// x // max(y, 1)
static rheos_output safe_quotient(rheos_scope *s, rheos_output x, rheos_output y) {
  const rheos_output at_least_1 = rheos__op_with_number(s, "Maximum", "Maximum", y, 1);
  return rheos__named_2(s, "FloorDiv", "floordiv", x, at_least_1);
}

// Whether the axes are 0, 1, ..., rank - 1.
static bool names_all_in_order(const rheos_tensor *axes, int32_t rank) {
  if (axes->shape.rank != 1 || axes->num_elements != rank) return false;
  for (int32_t d = 0; d < rank; d++) {
    if (rheos__tensor_int_at(axes, d) != d) return false;
  }
  return true;
}

static rheos_output tiled_over_all(rheos__grad *g, rheos_output dy, const rheos_shape *shape) {
  rheos_scope *s = g->scope;
  rheos_shape ones = {.rank = shape->rank};
  int32_t dims[RHEOS_MAX_RANK];
  for (int32_t d = 0; d < shape->rank; d++) ones.dims[d] = 1, dims[d] = (int32_t)shape->dims[d];
  const rheos_output kept = rheos__reshape_to(s, dy, &ones);
  const rheos_output multiples = rheos_shape_is_known(shape)
                                     ? rheos__const_ints(s, dims, shape->rank, "Const")
                                     : rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
  return rheos__op_2(s, "Tile", kept, multiples);
}

// TensorFlow works the factors out from nodes, once for a shape and axes, and leaves these there.
// Nothing reads them, but default seeds are counts of nodes.
static void leave_shape_nodes(rheos_scope *s, const rheos_shape *shape, const rheos_shape *kept,
                              const rheos_tensor *axes) {
  rheos_shape key = {.rank = (int32_t)axes->num_elements};
  int32_t dims[RHEOS_MAX_RANK], kept_dims[RHEOS_MAX_RANK], indices[RHEOS_MAX_RANK];
  if (axes->num_elements > RHEOS_MAX_RANK) return;
  for (int32_t i = 0; i < key.rank; i++) {
    indices[i] = (int32_t)rheos__tensor_int_at(axes, i);
    key.dims[i] = indices[i];
  }
  for (int32_t d = 0; d < shape->rank; d++) {
    dims[d] = (int32_t)shape->dims[d];
    kept_dims[d] = (int32_t)kept->dims[d];
  }
  bool first = false;
  rheos_status *status = rheos__graph_note_shapes(rheos_scope_graph(s), RHEOS__REDUCED_SHAPES,
                                                  shape, &key, &first);
  if (status != NULL) rheos_scope_fail_take(s, status);
  if (!first) return;
  rheos__node_scope inside;
  rheos__push_node_scope(s, "Cast", &inside);
  const rheos_output of_shape = rheos__const_ints(s, dims, shape->rank, "x");
  rheos_scope_pop(s);
  rheos__push_node_scope(s, "Cast", &inside);
  const rheos_output of_axes = rheos__const_ints(s, indices, key.rank, "x");
  rheos_scope_pop(s);
  kept_dims_of(s, of_shape, of_axes);
  rheos__push_node_scope(s, "Maximum", &inside);
  const rheos_output of_kept = rheos__const_ints(s, kept_dims, shape->rank, "x");
  const rheos_output one = rheos__const_scalar(s, RHEOS_INT32, 1, "y");
  const rheos_output at_least_1 = rheos__named_2(s, "Maximum", inside.name, of_kept, one);
  rheos_scope_pop(s);
  rheos__push_node_scope(s, "floordiv", &inside);
  const rheos_output whole = rheos__const_ints(s, dims, shape->rank, "x");
  rheos__named_2(s, "FloorDiv", inside.name, whole, at_least_1);
  rheos_scope_pop(s);
}

// Constants where the shape and the axes are known.
static rheos_output tiled_by_constants(rheos__grad *g, rheos_output dy, const rheos_shape *shape,
                                       const rheos_tensor *axes, const bool *reduced) {
  const rheos_shape kept = reduced_shape(shape, reduced, true);
  leave_shape_nodes(g->scope, shape, &kept, axes);
  rheos_shape multiples = kept;
  for (int32_t d = 0; d < shape->rank; d++) multiples.dims[d] = reduced[d] ? shape->dims[d] : 1;
  return rheos__tile_by(g->scope, rheos__reshape_to(g->scope, dy, &kept), &multiples);
}

// The axes, if they are a constant or nodes that come to one, as a range up to the rank does.
static rheos_status *find_axes(rheos_output axes, rheos_tensor **out_axes) {
  rheos_tensor *constant = (rheos_tensor *)(uintptr_t)rheos__constant_value(axes);
  *out_axes = NULL;
  if (constant != NULL) {
    *out_axes = rheos_tensor_ref(constant);
    return NULL;
  }
  rheos_shape known;
  const rheos__edge edge = {axes.id, axes.index};
  if (!rheos__partial_value(axes.graph, edge, &known) || !rheos_shape_is_known(&known)) return NULL;
  int32_t values[RHEOS_MAX_RANK];
  for (int32_t i = 0; i < known.rank; i++) values[i] = (int32_t)known.dims[i];
  return rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(known.rank), values, out_axes);
}

static bool grad_of_known_axes(rheos__grad *g, rheos_output dy, const rheos_tensor *axes,
                               rheos_output *out_grad) {
  const rheos_shape shape = rheos_output_shape(g->inputs[0]);
  bool reduced[RHEOS_MAX_RANK];
  if (shape.rank < 0) return false;
  if (names_all_in_order(axes, shape.rank)) {
    *out_grad = tiled_over_all(g, dy, &shape);
    return true;
  }
  rheos_status *status = mark_axes(axes, shape.rank, reduced);
  const bool known = status == NULL && rheos_shape_is_known(&shape);
  rheos_status_free(status);
  if (known) *out_grad = tiled_by_constants(g, dy, &shape, axes, reduced);
  return known;
}

// What arrives, repeated along the reduced dimensions.
static rheos_output sum_grad(rheos__grad *g, rheos_output dy) {
  rheos_scope *s = g->scope;
  rheos_tensor *axes;
  rheos_output grad = {0};
  rheos_status *status = find_axes(g->inputs[1], &axes);
  if (status != NULL) {
    rheos_scope_fail_take(s, status);
    return grad;
  }
  const bool done = axes != NULL && grad_of_known_axes(g, dy, axes, &grad);
  rheos_tensor_unref(axes);
  if (done) return grad;
  const rheos_output dims = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
  const rheos_output kept = kept_dims_of(s, dims, g->inputs[1]);
  const rheos_output multiples = safe_quotient(s, dims, kept);
  return rheos__op_2(s, "Tile", rheos__op_2(s, "Reshape", dy, kept), multiples);
}

static void grad_sum(rheos__grad *g) {
  rheos__grad_set(g, 0, sum_grad(g, rheos__grad_dense(g, 0)));
}

// The product of a vector of dimensions, as a node
static rheos_output product_of(rheos_scope *s, rheos_output dims) {
  const int32_t zero = 0;
  const rheos_output axes = rheos__const_ints(s, &zero, 1, "Const");
  return rheos__op_2(s, "Prod", dims, axes);
}

static void grad_mean(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output sum = sum_grad(g, rheos__grad_dense(g, 0));
  if (rheos_scope_status(s) != NULL) return;
  const rheos_dtype dtype = rheos_output_dtype(sum);
  const rheos_shape in = rheos_output_shape(g->inputs[0]);
  const rheos_shape out = rheos_output_shape(g->outputs[0]);
  rheos_output factor;
  if (rheos_shape_is_known(&in) && rheos_shape_is_known(&out)) {
    const int64_t outputs = larger(rheos_shape_num_elements(&out), 1);
    const int64_t count = rheos_shape_num_elements(&in) / outputs;
    factor = rheos__const_scalar(s, dtype, (double)count, "Const");
  } else {
    const rheos_output in_dims = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
    const rheos_output out_dims = rheos__shape_of(s, g->outputs[0], RHEOS_INT32);
    const rheos_output inputs = product_of(s, in_dims);
    factor = rheos__cast_to(s, safe_quotient(s, inputs, product_of(s, out_dims)), dtype);
  }
  rheos__grad_set(g, 0, rheos__py_div(s, sum, factor));
}

// Shared equally among the elements that are the extreme.
static void grad_extreme(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_output dy = rheos__grad_dense(g, 0);
  if (rheos_scope_status(s) != NULL) return;
  const rheos_dtype dtype = rheos_output_dtype(dy);
  const rheos_output dims = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
  const rheos_output kept = kept_dims_of(s, dims, g->inputs[1]);
  const rheos_output y = rheos__op_2(s, "Reshape", g->outputs[0], kept);
  dy = rheos__op_2(s, "Reshape", dy, kept);
  const rheos_output equal = rheos__op_2(s, "Equal", y, g->inputs[0]);
  const rheos_output selected = rheos__cast_to(s, equal, dtype);
  const rheos_output sum = rheos__sum_over(s, selected, g->inputs[1], false);
  const rheos_output number = rheos__op_2(s, "Reshape", sum, kept);
  rheos__grad_set(g, 0, rheos__py_mul(s, rheos__py_div(s, selected, number), dy));
}

// Cumprod along dimension 0 without the element itself.
static rheos_output others(rheos_scope *s, rheos_output x, bool reverse) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "Cumprod", &inside);
  const rheos_output inputs[] = {x, rheos__const_scalar(s, RHEOS_INT32, 0, "axis")};
  const rheos_attr attrs[] = {rheos_attr_bool("exclusive", true),
                              rheos_attr_bool("reverse", reverse)};
  const rheos_operation node = rheos__op_n(s, "Cumprod", inside.name, inputs, 2, attrs, 2);
  rheos_scope_pop(s);
  return rheos_operation_output(node, 0);
}

static rheos_output gathered(rheos_scope *s, rheos_output dims, rheos_output indices) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "GatherV2", &inside);
  const rheos_output inputs[] = {dims, indices,
                                 rheos__const_scalar(s, RHEOS_INT32, 0, "axis")};
  const rheos_operation node = rheos__op_n(s, "GatherV2", inside.name, inputs, 3, NULL, 0);
  rheos_scope_pop(s);
  return rheos_operation_output(node, 0);
}

static rheos_output concatenated(rheos_scope *s, rheos_output a, rheos_output b) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "concat", &inside);
  const rheos_output inputs[] = {a, b, rheos__const_scalar(s, RHEOS_INT32, 0, "axis")};
  const rheos_attr count = rheos_attr_int("N", 2);
  const rheos_operation node = rheos__op_n(s, "ConcatV2", inside.name, inputs, 3, &count, 1);
  rheos_scope_pop(s);
  return rheos_operation_output(node, 0);
}

static rheos_output reshaped_to_matrix(rheos_scope *s, rheos_output x, rheos_output rows,
                                       rheos_output columns) {
  rheos__node_scope inside;
  rheos__push_node_scope(s, "Reshape", &inside);
  const rheos_output sizes[] = {rows, columns};
  const rheos_attr count = rheos_attr_int("N", 2);
  const rheos_output dims =
      rheos_operation_output(rheos__op_n(s, "Pack", "shape", sizes, 2, &count, 1), 0);
  const rheos_output matrix = rheos__named_2(s, "Reshape", inside.name, x, dims);
  rheos_scope_pop(s);
  return matrix;
}

// What arrives times the product of the other elements, which is that of those before and those
// after: no division, so zeros do no harm. The reduced dimensions are brought to the front for it.
static void grad_prod(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_shape flat = RHEOS_SHAPE(-1);
  rheos_output dy = rheos__grad_dense(g, 0);
  if (rheos_scope_status(s) != NULL) return;
  const rheos_output dims = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
  const rheos_output axes = rheos__reshape_to(s, g->inputs[1], &flat);
  const rheos_output kept = kept_dims_of(s, dims, g->inputs[1]);
  const rheos_output multiples = safe_quotient(s, dims, kept);
  dy = rheos__op_2(s, "Tile", rheos__op_2(s, "Reshape", dy, kept), multiples);
  rheos_push_device(s, "/cpu:0");
  const rheos_shape shape = rheos_output_shape(g->inputs[0]);
  const rheos_output rank = shape.rank >= 0
                                ? rheos__const_scalar(s, RHEOS_INT32, shape.rank, "Rank")
                                : rheos__op_1(s, "Rank", g->inputs[0]);
  const rheos_output positive =
      rheos__named_2(s, "FloorMod", "mod",
                     rheos__py_add(s, axes, rheos__cast_to(s, rank, rheos_output_dtype(axes))),
                     rheos__cast_to(s, rank, rheos_output_dtype(axes)));
  const rheos_output reduced = rheos__cast_to(s, positive, RHEOS_INT32);
  const rheos_output kept_axes =
      rheos__op_2(s, "ListDiff", rheos__py_range(s, rank), reduced);
  const rheos_output order = concatenated(s, reduced, kept_axes);
  const rheos_output rows = product_of(s, gathered(s, dims, reduced));
  const rheos_output columns = product_of(s, gathered(s, dims, kept_axes));
  rheos_scope_pop(s);
  const rheos_output permuted = rheos__named_2(s, "Transpose", "transpose", g->inputs[0], order);
  const rheos_output permuted_dims = rheos__shape_of(s, permuted, RHEOS_INT32);
  const rheos_output matrix = reshaped_to_matrix(s, permuted, rows, columns);
  const rheos_output before = others(s, matrix, false);
  const rheos_output after = others(s, matrix, true);
  const rheos_output product = rheos__py_mul(s, rheos__conj(s, before), rheos__conj(s, after));
  const rheos_output y = rheos__op_2(s, "Reshape", product, permuted_dims);
  const rheos_output back = rheos__op_1(s, "InvertPermutation", order);
  const rheos_output z = rheos__py_mul(s, dy, rheos__named_2(s, "Transpose", "transpose", y, back));
  rheos__grad_set(g, 0, rheos__op_2(s, "Reshape", z, dims));
}

// x / (y / g), with y and g repeated along the reduced dimensions
static void grad_euclidean_norm(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_output y = g->outputs[0], dy = rheos__grad_dense(g, 0);
  if (rheos_scope_status(s) != NULL) return;
  if (!rheos__attr_bool(g->attrs, "keep_dims")) {
    const rheos_output dims = rheos__shape_of(s, g->inputs[0], RHEOS_INT32);
    const rheos_output kept = kept_dims_of(s, dims, g->inputs[1]);
    y = rheos__op_2(s, "Reshape", y, kept);
    dy = rheos__op_2(s, "Reshape", dy, kept);
  }
  const rheos_output ratio = rheos__py_div(s, y, dy);
  rheos__grad_set(g, 0, rheos__py_div(s, g->inputs[0], ratio));
}

static void grad_l2_loss(rheos__grad *g) {
  rheos__grad_set(g, 0, rheos__py_mul(g->scope, g->inputs[0], rheos__grad_dense(g, 0)));
}

// ---- Ops: OP(name, input, types, gradient, whether one element is its own reduction, doc)
#define REDUCED(T) "input: " T ", reduction_indices: Tidx -> output: " T
#define ATTRIBUTES "keep_dims: bool = false; "
#define INDEX "Tidx: {int32, int64} = int32"
#define OPS(OP)                                                                                 \
  OP(All, REDUCED("bool"), "", rheos__no_gradient, true,                                        \
     "Whether all of `input` is true along `reduction_indices`.")                               \
  OP(Any, REDUCED("bool"), "", rheos__no_gradient, true,                                        \
     "Whether any of `input` is true along `reduction_indices`.")                               \
  OP(EuclideanNorm, REDUCED("T"), "T: number; ", grad_euclidean_norm, false,                    \
     "The root of the sum of squares of `input` along `reduction_indices`.")                    \
  OP(Max, REDUCED("T"), "T: number; ", grad_extreme, true,                                      \
     "The largest of `input` along `reduction_indices`.")                                       \
  OP(Mean, REDUCED("T"), "T: number; ", grad_mean, true,                                        \
     "The mean of `input` along `reduction_indices`.")                                          \
  OP(Min, REDUCED("T"), "T: number; ", grad_extreme, true,                                      \
     "The smallest of `input` along `reduction_indices`.")                                      \
  OP(Prod, REDUCED("T"), "T: number; ", grad_prod, true,                                        \
     "The product of `input` along `reduction_indices`.")                                       \
  OP(Sum, REDUCED("T"), "T: number; ", grad_sum, true,                                          \
     "The sum of `input` along `reduction_indices`.")

enum {
#define OP(name, input, types, gradient, one_is_itself, doc) row_##name,
  OPS(OP) row_L2Loss,
  NUM_ROWS
#undef OP
};

#define REDUCER_ENTRY(S, name) [row_##name][RHEOS__DTYPE_##S] = &name##_##S,
static const reducer *const reducers[NUM_ROWS][RHEOS__NUM_DTYPES] = {
#define ROW(name, dtypes, qualifier, TOTAL, start, step, join, result) \
  RHEOS__##dtypes(REDUCER_ENTRY, name)
    FORMULAS(ROW)
#undef ROW
};

#define OP(name, input, types, gradient, one_is_itself, doc)                                    \
  static rheos_status *prepare_##name(rheos__prepare *p) {                                      \
    return prepare(p, reducers[row_##name][p->input_dtypes[0]], one_is_itself);                 \
  }                                                                                             \
  const rheos__op_def rheos__op_##name = {                                                      \
      #name,           input "; " ATTRIBUTES types INDEX, doc, 0, reduction_shape, gradient,    \
      prepare_##name,                                                                           \
  };
OPS(OP)

rheos_status *rheos__prepare_sum(rheos__prepare *p, const bool *reduced) {
  const reducer *by = reducers[row_Sum][p->input_dtypes[0]];
  if (by == NULL) return rheos__no_kernel(p, p->input_dtypes[0]);
  return prepare_with(p, by, reduced, true);
}

static rheos_status *prepare_L2Loss(rheos__prepare *p) {
  const reducer *by = reducers[row_L2Loss][p->input_dtypes[0]];
  if (by == NULL) return rheos__no_kernel(p, p->input_dtypes[0]);
  bool all[RHEOS_MAX_RANK];
  for (int32_t d = 0; d < RHEOS_MAX_RANK; d++) all[d] = true;
  return prepare_with(p, by, all, false);
}

const rheos__op_def rheos__op_L2Loss = {
    "L2Loss",     "t: T -> output: T; T: {half, bfloat16, float, double}",
    "Half the sum of squares of `t`.",
    0,            rheos__shape_scalar,
    grad_l2_loss, prepare_L2Loss,
};
