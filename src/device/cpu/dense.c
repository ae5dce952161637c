// MatMul and _FusedMatMul by the loops of dense_kernel.c, where these beat the library: up to some
// ten million multiply-adds. A unit is a tile's height of rows, or of a single row some columns.
#include "device/cpu/dense.h"

static const double MOST_FLOPS = 1 << 24;
enum { TILE_ROWS = 6, UNIT_COLUMNS = 512, FEW_ROWS = 4 };

// A matrix that few rows use once comes from far: the library streams it better.
static const int64_t FEW_ROWS_MOST_ELEMENTS = 1 << 16;

typedef struct dense_state {
  rheos__dense dense;
  rheos__dense_fn run;
  int64_t m, block_rows, block_columns;  // of a unit; all, or all columns, or the only row
  int32_t bias;                          // input; -1: none
  bool transpose_b, keeps_transposed;
  bool has_epilogue;  // what the loops do not do: behind them
  rheos__epilogue epilogue;
} dense_state;

// to (columns, rows) = from (rows, columns) transposed, a few rows at a time so that lines stay
// near.
static void transpose(const float *restrict from, int64_t rows, int64_t columns,
                      float *restrict to) {
  for (int64_t first = 0; first < rows; first += 16) {
    const int64_t end = first + 16 < rows ? first + 16 : rows;
    for (int64_t k = 0; k < columns; k++) {
      for (int64_t j = first; j < end; j++) to[k * rows + j] = from[j * columns + k];
    }
  }
}

// What a matrix that stays is transposed to, once.
static rheos_status *pack(const void *state, const void *from, void *packed) {
  const dense_state *s = state;
  transpose(from, s->dense.n, s->dense.k, packed);
  return NULL;
}

static rheos_status *keep_transposed(rheos__prepare *p, dense_state *s) {
  const int64_t key[] = {s->dense.n, s->dense.k};
  p->packing = (rheos__packing_request){.input = 1,
                                        .bytes = (size_t)(s->dense.n * s->dense.k) * sizeof(float),
                                        .at_once = true,
                                        .key = rheos__arena_copy(p->arena, key, sizeof key),
                                        .key_bytes = sizeof key,
                                        .make = pack,
                                        .state = s};
  if (p->packing.key == NULL) return rheos__out_of_memory();
  s->transpose_b = false;
  s->keeps_transposed = true;
  return NULL;
}

static rheos_status *run_dense(const void *state, const void *const *inputs, void *const *outputs,
                               void *scratch, int64_t first_unit, int64_t last_unit) {
  const dense_state *s = state;
  rheos__dense d = s->dense;
  const float *b = s->keeps_transposed ? ((const rheos__packed *)inputs[1])->packed : inputs[1];
  float *c = outputs[0];
  int64_t first = 0, last = s->m;
  if (s->block_columns < d.n) {
    d.first_column = first_unit * s->block_columns;
    if (last_unit * s->block_columns < d.n) d.end_column = last_unit * s->block_columns;
  } else {
    first = first_unit * s->block_rows;
    if (last_unit * s->block_rows < last) last = last_unit * s->block_rows;
  }
  if (s->bias >= 0) d.bias = inputs[s->bias];
  if (s->transpose_b) {
    transpose(b, d.n, d.k, scratch);
    b = scratch;
  }
  s->run(&d, inputs[0], b, c, first, last);
  if (s->has_epilogue) {
    rheos__epilogue_run(&s->epilogue, inputs, c, first * d.n, (last - first) * d.n);
  }
  return NULL;
}

static const char *why_not(const dense_state *s) {
  const double k = (double)s->dense.k, n = (double)s->dense.n;
  if (2.0 * (double)s->m * n * k > MOST_FLOPS) return "large enough for a library";
  if (s->m < FEW_ROWS && s->dense.n * s->dense.k > FEW_ROWS_MOST_ELEMENTS) {
    return "a matrix to stream";
  }
  if (s->transpose_b && s->m < FEW_ROWS) return "turning the second matrix round does not pay";
  return NULL;
}

// What is common to both ops; `out_state` is NULL where it declines.
static rheos_status *describe(rheos__prepare *p, dense_state **out_state) {
  *out_state = NULL;
  if (p->input_dtypes[0] != RHEOS_FLOAT) {
    p->decline_reason = "not float32";
    return NULL;
  }
  dense_state *s = RHEOS_NEW_STATE(p, dense_state);
  if (s == NULL) return rheos__out_of_memory();
  const rheos_shape *a = &p->input_shapes[0];
  const bool transpose_a = rheos__attr_bool(p->attrs, "transpose_a");
  s->transpose_b = rheos__attr_bool(p->attrs, "transpose_b");
  s->m = p->output_shapes[0].dims[0];
  s->bias = -1;
  s->dense.n = s->dense.end_column = p->output_shapes[0].dims[1];
  s->dense.k = a->dims[transpose_a ? 0 : 1];
  s->dense.a_row = transpose_a ? 1 : s->dense.k;
  s->dense.a_column = transpose_a ? s->m : 1;
  s->dense.b_row = s->dense.c_row = s->dense.n;
  p->decline_reason = why_not(s);
  if (p->decline_reason != NULL) return NULL;
  s->block_rows = s->m;
  s->block_columns = s->dense.n;
  s->run = rheos__dense_kernel();
  p->run = run_dense;
  p->flops = rheos__flops(2.0 * (double)s->m * (double)s->dense.n * (double)s->dense.k);
  if (s->transpose_b && s->dense.n * s->dense.k > 0 && rheos__input_stays(p, 1)) {
    RHEOS_TRY(keep_transposed(p, s));
  }
  if (s->transpose_b) p->scratch_bytes = (size_t)(s->dense.n * s->dense.k) * sizeof(float);
  *out_state = s;
  return NULL;
}

// A transposed matrix is transposed once for all units; an epilogue takes a row as a whole.
static void split(rheos__prepare *p, dense_state *s) {
  if (s->transpose_b) return;
  if (s->m == 1 && s->dense.n > UNIT_COLUMNS && !s->has_epilogue) {
    s->block_columns = p->unit_elements = UNIT_COLUMNS;
    p->num_units = (s->dense.n + UNIT_COLUMNS - 1) / UNIT_COLUMNS;
  } else if (s->m > TILE_ROWS) {
    const int64_t tiles = (s->m + TILE_ROWS - 1) / TILE_ROWS;
    s->block_rows = (s->m + tiles - 1) / tiles;
    p->unit_elements = s->block_rows * s->dense.n;
    p->num_units = (s->m + s->block_rows - 1) / s->block_rows;
  }
}

rheos_status *rheos__dense_prepare_matmul(rheos__prepare *p) {
  dense_state *s;
  RHEOS_TRY(describe(p, &s));
  if (s != NULL) split(p, s);
  return NULL;
}

bool rheos__dense_does(const rheos__epilogue *e) {
  if (e->norm >= 0 || e->side >= 0) return false;
  return e->activation == RHEOS__NO_ACTIVATION || e->activation == RHEOS__RELU ||
         e->activation == RHEOS__RELU6 || e->activation == RHEOS__LEAKY_RELU;
}

rheos_status *rheos__dense_prepare_fused_matmul(rheos__prepare *p) {
  dense_state *s;
  RHEOS_TRY(describe(p, &s));
  if (s == NULL) return NULL;
  RHEOS_TRY(rheos__epilogue_of(p, s->dense.n, 1, &s->epilogue));
  const rheos__epilogue *e = &s->epilogue;
  if (rheos__dense_does(e)) {
    s->bias = e->bias;
    s->dense.activation = e->activation;
    s->dense.alpha = (float)e->alpha;
  } else {
    s->has_epilogue = true;
  }
  split(p, s);
  const double elements = (double)s->m * (double)s->dense.n;
  p->flops = rheos__flops((double)p->flops + elements * (double)e->flops);
  return NULL;
}
