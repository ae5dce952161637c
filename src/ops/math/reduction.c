// Reductions over some dimensions: one row for each formula, as in elementwise.h.
//
// Neighbouring dimensions that are reduced, or kept, together are joined, so that what is left
// alternates. Either the innermost is reduced: then an output is a sum of contiguous runs, made in
// 16 lanes that are joined as a tree, in blocks; or it is kept: then runs are added to a tile of
// totals. Floats are summed in double. The order depends on shapes only, never on threads.
#include "ops/math/reduction.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <complex.h>
#include <math.h>
#include <string.h>

#include "base/numbers.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/array_util.h"
#include "ops/kit/extremes.h"
#include "ops/kit/op_util.h"

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

#define FORMULAS(ROW)                                                                              \
  ROW(Sum, FLOATS, RHEOS__WIDEST, double, 0, a + x, a + b, a)                                      \
  ROW(Sum, INTEGERS, , uint64_t, 0, a + WIDEN(x), a + b, a)                                        \
  ROW(Mean, FLOATS, RHEOS__WIDEST, double, 0, a + x, a + b, a / (double)count)                     \
  ROW(Mean, SIGNED, , int64_t, 0, WIDEN(a) + WIDEN(x), WIDEN(a) + WIDEN(b),                        \
      count > 0 ? a / count : 0)                                                                   \
  ROW(Mean, UNSIGNED, , uint64_t, 0, a + x, a + b, count > 0 ? a / (uint64_t)count : 0)            \
  ROW(Prod, FLOATS, , double, 1, a *x, a *b, a)                                                    \
  ROW(Prod, INTEGERS, , uint64_t, 1, a *WIDEN(x), a *b, a)                                         \
  ROW(Sum, COMPLEXES, , double _Complex, 0, a + x, a + b, a)                                       \
  ROW(Mean, COMPLEXES, , double _Complex, 0, a + x, a + b, a / (double)count)                      \
  ROW(Prod, COMPLEXES, , double _Complex, 1, a *x, a *b, a)                                        \
  ROW(EuclideanNorm, COMPLEXES, , double, 0, a + SQUARED_SIZE((double _Complex)x), a + b, sqrt(a)) \
  ROW(Max, FLOATS, RHEOS__WIDE, C, RHEOS__LOWEST, (x > a) | (x != x) ? x : a,                      \
      (b > a) | (b != b) ? b : a, a)                                                               \
  ROW(Max, INTEGERS, , C, RHEOS__LOWEST, x > a ? x : a, b > a ? b : a, a)                          \
  ROW(Min, FLOATS, RHEOS__WIDE, C, RHEOS__HIGHEST, (x < a) | (x != x) ? x : a,                     \
      (b < a) | (b != b) ? b : a, a)                                                               \
  ROW(Min, INTEGERS, , C, RHEOS__HIGHEST, x < a ? x : a, b < a ? b : a, a)                         \
  ROW(EuclideanNorm, FLOATS, , double, 0, a + (double)x * (double)x, a + b, sqrt(a))               \
  ROW(EuclideanNorm, INTEGERS, , double, 0, a + (double)x * (double)x, a + b, (int64_t)sqrt(a))    \
  ROW(L2Loss, FLOATS, RHEOS__WIDE, double, 0, a + (double)x * (double)x, a + b, a / 2)             \
  ROW(All, BOOLS, , bool, true, (unsigned)a &(unsigned)x, (unsigned)a &(unsigned)b, a)             \
  ROW(Any, BOOLS, , bool, false, (unsigned)a | (unsigned)x, (unsigned)a | (unsigned)b, a)

#define REDUCER_TYPES(S, TOTAL)                          \
  typedef rheos__computed_##S C __attribute__((unused)); \
  typedef TOTAL total

#define REDUCER(S, qualifier, name, TOTAL, initial, step, join, result, ...)                 \
  static void name##_start_##S(void *totals, int64_t n) {                                    \
    REDUCER_TYPES(S, TOTAL);                                                                 \
    total *t = totals;                                                                       \
    for (int64_t i = 0; i < n; i++) t[i] = initial;                                          \
  }                                                                                          \
  qualifier static void name##_block_##S(void *into, const void *values, int64_t n) {        \
    REDUCER_TYPES(S, TOTAL);                                                                 \
    const rheos__stored_##S *xs = values;                                                    \
    total lanes[LANES];                                                                      \
    for (int j = 0; j < LANES; j++) lanes[j] = initial;                                      \
    int64_t i = 0;                                                                           \
    for (; i + LANES <= n; i += LANES) {                                                     \
      RHEOS__KEEP_LANES for (int j = 0; j < LANES; j++) {                                    \
        const C x = RHEOS__LOAD_##S(xs[i + j]);                                              \
        const total a = lanes[j];                                                            \
        lanes[j] = (total)(step);                                                            \
      }                                                                                      \
    }                                                                                        \
    for (int j = 0; i < n; i++, j++) {                                                       \
      const C x = RHEOS__LOAD_##S(xs[i]);                                                    \
      const total a = lanes[j];                                                              \
      lanes[j] = (total)(step);                                                              \
    }                                                                                        \
    for (int width = LANES / 2; width > 0; width /= 2) {                                     \
      for (int j = 0; j < width; j++) {                                                      \
        const total a = lanes[j], b = lanes[j + width];                                      \
        lanes[j] = (total)(join);                                                            \
      }                                                                                      \
    }                                                                                        \
    const total a = *(total *)into, b = lanes[0];                                            \
    *(total *)into = (total)(join);                                                          \
  }                                                                                          \
  static void name##_run_##S(void *into, const void *values, int64_t n) {                    \
    REDUCER_TYPES(S, TOTAL);                                                                 \
    const rheos__stored_##S *xs = values;                                                    \
    if (n >= LANES) {                                                                        \
      for (int64_t i = 0; i < n; i += BLOCK_ELEMENTS) {                                      \
        name##_block_##S(into, xs + i, n - i < BLOCK_ELEMENTS ? n - i : BLOCK_ELEMENTS);     \
      }                                                                                      \
      return;                                                                                \
    }                                                                                        \
    total a = *(total *)into;                                                                \
    for (int64_t i = 0; i < n; i++) {                                                        \
      const C x = RHEOS__LOAD_##S(xs[i]);                                                    \
      a = (total)(step);                                                                     \
    }                                                                                        \
    *(total *)into = a;                                                                      \
  }                                                                                          \
  qualifier static void name##_columns_##S(void *totals, const void *values, int64_t n,      \
                                           int64_t rows, int64_t step_elements) {            \
    REDUCER_TYPES(S, TOTAL);                                                                 \
    const rheos__stored_##S *xs = values;                                                    \
    total *t = totals;                                                                       \
    int64_t row = 0;                                                                         \
    const int64_t whole = n - n % LANES;                                                     \
    for (; row + ROWS <= rows; row += ROWS, xs += ROWS * step_elements) {                    \
      for (int64_t i = 0; i < whole; i += LANES) {                                           \
        total lanes[LANES];                                                                  \
        for (int j = 0; j < LANES; j++) lanes[j] = t[i + j];                                 \
        for (int k = 0; k < ROWS; k++) {                                                     \
          const rheos__stored_##S *row_xs = xs + k * step_elements + i;                      \
          RHEOS__KEEP_LANES for (int j = 0; j < LANES; j++) {                                \
            const C x = RHEOS__LOAD_##S(row_xs[j]);                                          \
            const total a = lanes[j];                                                        \
            lanes[j] = (total)(step);                                                        \
          }                                                                                  \
        }                                                                                    \
        for (int j = 0; j < LANES; j++) t[i + j] = lanes[j];                                 \
      }                                                                                      \
      for (int64_t i = whole; i < n; i++) {                                                  \
        total a = t[i];                                                                      \
        for (int k = 0; k < ROWS; k++) {                                                     \
          const C x = RHEOS__LOAD_##S(xs[k * step_elements + i]);                            \
          a = (total)(step);                                                                 \
        }                                                                                    \
        t[i] = a;                                                                            \
      }                                                                                      \
    }                                                                                        \
    for (; row < rows; row++, xs += step_elements) {                                         \
      RHEOS__INDEPENDENT for (int64_t i = 0; i < n; i++) {                                   \
        const C x = RHEOS__LOAD_##S(xs[i]);                                                  \
        const total a = t[i];                                                                \
        t[i] = (total)(step);                                                                \
      }                                                                                      \
    }                                                                                        \
  }                                                                                          \
  static void name##_join_##S(void *totals, const void *others, int64_t n) {                 \
    REDUCER_TYPES(S, TOTAL);                                                                 \
    total *t = totals;                                                                       \
    const total *o = others;                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                        \
      const total a = t[i], b = o[i];                                                        \
      t[i] = (total)(join);                                                                  \
    }                                                                                        \
  }                                                                                          \
  static void name##_finish_##S(void *out, const void *totals, int64_t n, int64_t count) {   \
    REDUCER_TYPES(S, TOTAL);                                                                 \
    (void)count;                                                                             \
    const total *t = totals;                                                                 \
    rheos__stored_##S *zs = out;                                                             \
    for (int64_t i = 0; i < n; i++) {                                                        \
      const total a = t[i];                                                                  \
      zs[i] = RHEOS__STORE_##S(result);                                                      \
    }                                                                                        \
  }                                                                                          \
  static const reducer name##_##S = {name##_start_##S,   name##_run_##S,  name##_block_##S,  \
                                     name##_columns_##S, name##_join_##S, name##_finish_##S, \
                                     __VA_ARGS__,        RHEOS__DTYPE_##S};

#define ROW(name, dtypes, qualifier, TOTAL, start, step, join, result)                        \
  RHEOS__##dtypes(REDUCER, qualifier, name, TOTAL, start, step, join, result, #TOTAL, #start, \
                  #step, #join, #result)
FORMULAS(ROW)
#undef ROW

// ---- What to do, settled by shapes and axes

typedef rheos__reduction reduction;
typedef rheos__reduced_span span;

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
    s.count = rheos__min(r->piece_inner, r->inner - s.start);
  } else {
    s.first_run = piece * r->piece_runs;
    s.last_run = rheos__min(s.first_run + r->piece_runs, r->runs);
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
    result.width = rheos__min(r->tile, r->inner - column);
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
    const int64_t count = rheos__min(rows - k % rows, s->last_run - k);
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
  const int64_t end = rheos__min(last_unit * r->unit_items, r->num_items);
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
    r->tile = rheos__min(r->inner, MAX_TILE);
    r->num_items = r->num_outputs / r->inner * ((r->inner + r->tile - 1) / r->tile);
    item_elements = r->count * r->tile;
  }
  r->unit_items = rheos__max(RHEOS__UNIT_ELEMENTS / rheos__max(item_elements, 1), 1);
  r->num_units = rheos__max((r->num_items + r->unit_items - 1) / r->unit_items, 1);
}

static void plan_pieces(reduction *r) {
  r->num_pieces = 1;
  const double elements = (double)r->count * (double)r->num_outputs;
  if (r->num_items == 0 || r->num_units >= FEW_UNITS) return;
  const int64_t most = rheos__min((int64_t)(elements / (double)r->num_items / PIECE_ELEMENTS),
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

rheos_status *rheos__reduction_axes(const rheos_tensor *axes, int32_t rank, bool *out_reduced) {
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
      return RHEOS_INVALID("Invalid reduction arguments: Axes contains duplicate dimension: %lld",
                           (long long)d);
    }
    out_reduced[d] = true;
  }
  return NULL;
}

rheos_shape rheos__reduced_shape(const rheos_shape *shape, const bool *reduced, bool keep_dims) {
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
    RHEOS_TRY(rheos__reduction_axes(axes, in->rank, reduced));
    *out = rheos__reduced_shape(in, reduced, keep_dims);
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
  RHEOS_TRY(rheos__reduction_axes(inputs[1], shape->rank, reduced));
  RHEOS_TRY(rheos_tensor_new(late->dtype, rheos__reduced_shape(shape, reduced, late->keep_dims),
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
  RHEOS_TRY(rheos__tensor_new(r->out_dtype, &r->out_shape, &outputs[0]));
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
  RHEOS_TRY(rheos__reduction_axes(p->input_values[1], p->input_shapes[0].rank, reduced));
  return prepare_with(p, by, reduced, one_is_itself);
}

// ---- Ops: OP(name, input, types, gradient, whether one element is its own reduction, doc)
#define REDUCED(T) "input: " T ", reduction_indices: Tidx -> output: " T
#define ATTRIBUTES "keep_dims: bool = false; "
#define INDEX "Tidx: {int32, int64} = int32"
#define OPS(OP)                                                                     \
  OP(All, REDUCED("bool"), "", rheos__no_gradient, true,                            \
     "Whether all of `input` is true along `reduction_indices`.")                   \
  OP(Any, REDUCED("bool"), "", rheos__no_gradient, true,                            \
     "Whether any of `input` is true along `reduction_indices`.")                   \
  OP(EuclideanNorm, REDUCED("T"), "T: number; ", rheos__grad_euclidean_norm, false, \
     "The root of the sum of squares of `input` along `reduction_indices`.")        \
  OP(Max, REDUCED("T"), "T: number; ", rheos__grad_extreme, true,                   \
     "The largest of `input` along `reduction_indices`.")                           \
  OP(Mean, REDUCED("T"), "T: number; ", rheos__grad_mean, true,                     \
     "The mean of `input` along `reduction_indices`.")                              \
  OP(Min, REDUCED("T"), "T: number; ", rheos__grad_extreme, true,                   \
     "The smallest of `input` along `reduction_indices`.")                          \
  OP(Prod, REDUCED("T"), "T: number; ", rheos__grad_prod, true,                     \
     "The product of `input` along `reduction_indices`.")                           \
  OP(Sum, REDUCED("T"), "T: number; ", rheos__grad_sum, true,                       \
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

#define OP(op, input, types, gradient_fn, one_is_itself, about)               \
  static rheos_status *prepare_##op(rheos__prepare *p) {                      \
    return prepare(p, reducers[row_##op][p->input_dtypes[0]], one_is_itself); \
  }                                                                           \
  const rheos__op_def rheos__op_##op = {                                      \
      .name = #op,                                                            \
      .signature = input "; " ATTRIBUTES types INDEX,                         \
      .doc = about,                                                           \
      .shape = reduction_shape,                                               \
      .gradient = gradient_fn,                                                \
      .prepare = prepare_##op,                                                \
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
    .name = "L2Loss",
    .signature = "t: T -> output: T; T: {half, bfloat16, float, double}",
    .doc = "Half the sum of squares of `t`.",
    .shape = rheos__shape_scalar,
    .gradient = rheos__grad_l2_loss,
    .prepare = prepare_L2Loss,
};
