// ArgMax and ArgMin: where along one dimension the extreme is, the first of several. NaN is never
// the extreme, as in TensorFlow.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include <math.h>
#include <string.h>

#include "ops/kit/elementwise.h"
#include "ops/kit/extremes.h"
#include "ops/kit/op_util.h"

// Finds the index for each of `columns` columns of a [rows, columns] block whose rows are `step`
// elements apart. `best` has room for `columns` values of 8 bytes.
typedef void (*scan_fn)(const void *x, int64_t rows, int64_t columns, int64_t step,
                        int64_t *indices, void *best);

enum { TILE = 256, LANES = 16, BLOCK = 2048 };

// The extreme of n elements, in lanes that are vector code.
#define SCAN_BLOCK(S, name, compare, start)                                            \
  RHEOS__WIDE static rheos__computed_##S name##_block_##S(const rheos__stored_##S *xs, \
                                                          int64_t n) {                 \
    typedef rheos__computed_##S C;                                                     \
    C lanes[LANES];                                                                    \
    int64_t i = 0;                                                                     \
    for (int j = 0; j < LANES; j++) lanes[j] = start;                                  \
    for (; i + LANES <= n; i += LANES) {                                               \
      RHEOS__KEEP_LANES for (int j = 0; j < LANES; j++) {                              \
        const C value = RHEOS__LOAD_##S(xs[i + j]);                                    \
        lanes[j] = value compare lanes[j] ? value : lanes[j];                          \
      }                                                                                \
    }                                                                                  \
    for (int j = 0; i < n; i++, j++) {                                                 \
      const C value = RHEOS__LOAD_##S(xs[i]);                                          \
      lanes[j] = value compare lanes[j] ? value : lanes[j];                            \
    }                                                                                  \
    for (int width = LANES / 2; width > 0; width /= 2) {                               \
      for (int j = 0; j < width; j++) {                                                \
        lanes[j] = lanes[j + width] compare lanes[j] ? lanes[j + width] : lanes[j];    \
      }                                                                                \
    }                                                                                  \
    return lanes[0];                                                                   \
  }

// A single column: the block that has the extreme first, then the place in it.
#define SCAN_COLUMN(S, name, compare, start)                                          \
  RHEOS__WIDE static int64_t name##_place_##S(const rheos__stored_##S *xs, int64_t n, \
                                              rheos__computed_##S extreme) {          \
    int64_t at = 0;                                                                   \
    for (; at + LANES <= n; at += LANES) {                                            \
      int found = 0;                                                                  \
      RHEOS__KEEP_LANES for (int j = 0; j < LANES; j++) {                             \
        found |= RHEOS__LOAD_##S(xs[at + j]) == extreme;                              \
      }                                                                               \
      if (found) break;                                                               \
    }                                                                                 \
    while (RHEOS__LOAD_##S(xs[at]) != extreme) at++;                                  \
    return at;                                                                        \
  }                                                                                   \
  static int64_t name##_column_##S(const rheos__stored_##S *xs, int64_t rows) {       \
    typedef rheos__computed_##S C;                                                    \
    C extreme = start;                                                                \
    int64_t block = 0;                                                                \
    for (int64_t i = 0; i < rows; i += BLOCK) {                                       \
      const C value = name##_block_##S(xs + i, rows - i < BLOCK ? rows - i : BLOCK);  \
      if (value compare extreme) extreme = value, block = i;                          \
    }                                                                                 \
    if (extreme == start) return 0;                                                   \
    return block + name##_place_##S(xs + block, rows - block, extreme);               \
  }

#define SCAN(S, name, compare, start)                                                \
  SCAN_BLOCK(S, name, compare, start)                                                \
  SCAN_COLUMN(S, name, compare, start)                                               \
  static void name##_##S(const void *x, int64_t rows, int64_t columns, int64_t step, \
                         int64_t *indices, void *best) {                             \
    typedef rheos__computed_##S C;                                                   \
    const rheos__stored_##S *xs = x;                                                 \
    C *extremes = best;                                                              \
    if (columns == 1 && step == 1 && rows > LANES) {                                 \
      indices[0] = name##_column_##S(xs, rows);                                      \
      return;                                                                        \
    }                                                                                \
    for (int64_t j = 0; j < columns; j++) extremes[j] = start, indices[j] = 0;       \
    for (int64_t i = 0; i < rows; i++) {                                             \
      for (int64_t j = 0; j < columns; j++) {                                        \
        const C value = RHEOS__LOAD_##S(xs[i * step + j]);                           \
        if (!(value compare extremes[j])) continue;                                  \
        extremes[j] = value;                                                         \
        indices[j] = i;                                                              \
      }                                                                              \
    }                                                                                \
  }
RHEOS__NUMBERS_AND_BOOLS(SCAN, ArgMax, >, RHEOS__LOWEST)
RHEOS__NUMBERS_AND_BOOLS(SCAN, ArgMin, <, RHEOS__HIGHEST)

enum { row_ArgMax, row_ArgMin, NUM_ROWS };
#define SCAN_ENTRY(S, name) [row_##name][RHEOS__DTYPE_##S] = name##_##S,
static const scan_fn scans[NUM_ROWS][RHEOS__NUM_DTYPES] = {
    RHEOS__NUMBERS_AND_BOOLS(SCAN_ENTRY, ArgMax) RHEOS__NUMBERS_AND_BOOLS(SCAN_ENTRY, ArgMin)};

// Input [outer, rows, inner], output [outer, inner], in tiles of columns.
typedef struct arg_reduce {
  scan_fn scan;
  int64_t outer, rows, inner;
  int64_t tiles;  // of the inner dimension
  int64_t unit_tiles, num_units;
  int64_t in_bytes;
  rheos_dtype out_dtype;
} arg_reduce;

static void store_indices(void *out, rheos_dtype dtype, const int64_t *indices, int64_t n) {
  for (int64_t j = 0; j < n; j++) {
    switch (dtype) {
      case RHEOS_INT64: ((int64_t *)out)[j] = indices[j]; break;
      case RHEOS_INT32: ((int32_t *)out)[j] = (int32_t)indices[j]; break;
      default: ((uint16_t *)out)[j] = (uint16_t)indices[j]; break;
    }
  }
}

static rheos_status *run(const void *state, const void *const *inputs, void *const *outputs,
                         void *scratch, int64_t first_unit, int64_t last_unit) {
  const arg_reduce *a = state;
  int64_t *indices = scratch;
  void *best = indices + TILE;
  int64_t end = last_unit * a->unit_tiles;
  if (end > a->outer * a->tiles) end = a->outer * a->tiles;
  for (int64_t t = first_unit * a->unit_tiles; t < end; t++) {
    const int64_t outer = t / a->tiles, column = t % a->tiles * TILE;
    const int64_t n = a->inner - column < TILE ? a->inner - column : TILE;
    const char *from =
        (const char *)inputs[0] + (outer * a->rows * a->inner + column) * a->in_bytes;
    a->scan(from, a->rows, n, a->inner, indices, best);
    const int64_t at = (outer * a->inner + column) * (int64_t)rheos_dtype_size(a->out_dtype);
    store_indices((char *)outputs[0] + at, a->out_dtype, indices, n);
  }
  return NULL;
}

static rheos_status *find_axis(const rheos_tensor *dimension, const rheos_shape *shape,
                               int32_t *out_axis) {
  if (dimension->num_elements != 1) {
    rheos__shape_text text;
    return RHEOS_INVALID("dim must be a scalar, but received tensor of shape: %s",
                         rheos__shape_text_of(&dimension->shape, &text));
  }
  const int64_t axis = rheos__tensor_int_at(dimension, 0);
  const int32_t rank = shape->rank;
  if (axis < -rank || axis >= rank) {
    return RHEOS_INVALID("Expected dimension in the range [%d, %d), but got %lld", (int)-rank,
                         (int)rank, (long long)axis);
  }
  *out_axis = (int32_t)(axis < 0 ? axis + rank : axis);
  return NULL;
}

static rheos_shape without_axis(const rheos_shape *shape, int32_t axis) {
  rheos_shape out = {.rank = shape->rank - 1};
  for (int32_t d = 0, to = 0; d < shape->rank; d++) {
    if (d != axis) out.dims[to++] = shape->dims[d];
  }
  return out;
}

static rheos_status *plan(arg_reduce *a, const rheos_shape *shape, int32_t axis) {
  a->outer = a->inner = 1;
  for (int32_t d = 0; d < axis; d++) a->outer *= shape->dims[d];
  for (int32_t d = axis + 1; d < shape->rank; d++) a->inner *= shape->dims[d];
  a->rows = shape->dims[axis];
  if (a->rows == 0 && a->outer * a->inner > 0) {
    rheos__shape_text text;
    return RHEOS_INVALID("Reduction axis %d is empty in shape %s", (int)axis,
                         rheos__shape_text_of(shape, &text));
  }
  a->tiles = (a->inner + TILE - 1) / TILE;
  const int64_t tile_elements = a->rows * (a->inner < TILE ? a->inner : TILE);
  a->unit_tiles = 1;
  if (tile_elements < RHEOS__UNIT_ELEMENTS && tile_elements > 0) {
    a->unit_tiles = RHEOS__UNIT_ELEMENTS / tile_elements;
  }
  a->num_units = (a->outer * a->tiles + a->unit_tiles - 1) / a->unit_tiles;
  if (a->num_units == 0) a->num_units = 1;
  return NULL;
}

// The dimension is known only now.
static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  arg_reduce a = *(const arg_reduce *)state;
  int32_t axis = 0;
  (void)step;
  RHEOS_TRY(find_axis(inputs[1], &inputs[0]->shape, &axis));
  RHEOS_TRY(plan(&a, &inputs[0]->shape, axis));
  RHEOS_TRY(rheos_tensor_new(a.out_dtype, without_axis(&inputs[0]->shape, axis), &outputs[0]));
  int64_t scratch[2 * TILE];
  const void *in = inputs[0]->data;
  void *out = outputs[0]->data;
  return run(&a, &in, &out, scratch, 0, a.num_units);
}

static rheos_status *prepare(rheos__prepare *p, int row) {
  const scan_fn scan = scans[row][p->input_dtypes[0]];
  if (scan == NULL) return rheos__no_kernel(p, p->input_dtypes[0]);
  arg_reduce *a = RHEOS_NEW_STATE(p, arg_reduce);
  if (a == NULL) return rheos__out_of_memory();
  a->scan = scan;
  a->in_bytes = (int64_t)rheos_dtype_size(p->input_dtypes[0]);
  a->out_dtype = p->output_dtypes[0];
  if (p->input_values[1] == NULL) {
    p->compute = compute;
    return NULL;
  }
  int32_t axis = 0;
  RHEOS_TRY(find_axis(p->input_values[1], &p->input_shapes[0], &axis));
  RHEOS_TRY(plan(a, &p->input_shapes[0], axis));
  p->run = run;
  p->num_units = a->num_units;
  p->scratch_bytes = 2 * TILE * sizeof(int64_t);
  p->flops = rheos__flops((double)a->outer * a->rows * a->inner);
  return NULL;
}

static rheos_status *arg_shape(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  rheos_shape dimension;
  RHEOS_TRY(rheos__infer_rank(c, 1, 0, &dimension));
  if (in->rank < 0) return NULL;
  // Nothing else can come of a vector, so its dimension is left to the step, as in TensorFlow:
  // graphs with a wrong one in a part that is never run are around.
  if (in->rank <= 1) {
    c->output_shapes[0] = (rheos_shape){0};
    return NULL;
  }
  const rheos_tensor *value = rheos__infer_value(c, 1);
  if (value != NULL) {
    int32_t axis = 0;
    RHEOS_TRY(find_axis(value, in, &axis));
    c->output_shapes[0] = without_axis(in, axis);
    return NULL;
  }
  // Which dimension goes is not known: only what all have in common is.
  c->output_shapes[0].rank = in->rank - 1;
  for (int32_t d = 0; d < in->rank - 1; d++) c->output_shapes[0].dims[d] = -1;
  return NULL;
}

static rheos_status *prepare_ArgMax(rheos__prepare *p) { return prepare(p, row_ArgMax); }
static rheos_status *prepare_ArgMin(rheos__prepare *p) { return prepare(p, row_ArgMin); }

#define ARGUMENTS "input: T, dimension: Tidx -> output: output_type; "
#define TYPES           \
  "T: {number, bool}; " \
  "Tidx: {int16, int32, int64} = int32; "

const rheos__op_def rheos__op_ArgMax = {
    .name = "ArgMax",
    .signature = ARGUMENTS TYPES "output_type: {int16, uint16, int32, int64} = int64",
    .doc = "The index of the largest value of `input` along `dimension`.",
    .shape = arg_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_ArgMax,
};

const rheos__op_def rheos__op_ArgMin = {
    .name = "ArgMin",
    .signature = ARGUMENTS TYPES "output_type: {int32, int64} = int64",
    .doc = "The index of the smallest value of `input` along `dimension`.",
    .shape = arg_shape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_ArgMin,
};
