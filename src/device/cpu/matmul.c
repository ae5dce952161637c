// Large matrix products: by the library, or by our own loops where the second operand is
// transposed, since the library transposes it number by number, and for few rows. The result is
// cut into units of some rows or some columns that depend on the shapes alone, so that any number
// of threads gives the same bits, and each of its pieces gets its bias and activation while it is
// at hand.
#include "device/cpu/matmul.h"

#include <string.h>

#include "base/numbers.h"
#include "device/cpu/onednn.h"
#include "device/cpu/panels.h"
#include "ops/nn/fused.h"

// The least rows and columns of a unit. The library makes a copy of the second operand for each
// call, so that few calls are better.
enum { UNIT_ROWS = 256, LEAST_COLUMNS = 128, UNIT_COLUMNS = 512 };
enum { MOST_UNITS = 16 };
// The rows for our own loops where the second operand is not transposed: few, or so many that the
// library, which packs the second operand for each unit of rows, would pack it often, or any where
// it is laid down once; and the least columns and depth for more than few.
enum { LEAST_ROWS = 4, MANY_ROWS = 256, LEAST_SIDE = 64 };
// The least rows that pay for turning the second operand, or first operand and result.
enum { LEAST_TURNING_ROWS = 16 };

typedef struct matmul_state {
  int64_t m, n, k;
  int64_t lda, ldb;
  int64_t block_rows, block_columns;
  bool transpose_a, transpose_b;
  bool has_epilogue, keeps_panels;
  rheos__panels panels;
  rheos__epilogue epilogue;
} matmul_state;

static bool is_float_product(rheos__prepare *p) {
  if (p->input_dtypes[0] != RHEOS_FLOAT) {
    p->decline_reason = "not float32";
    return false;
  }
  const rheos_shape *a = &p->input_shapes[0], *b = &p->input_shapes[1];
  if (a->rank != 2 || b->rank != 2) {
    p->decline_reason = "not two matrices";
    return false;
  }
  return true;
}

static rheos_status *describe(rheos__prepare *p, matmul_state **out_state) {
  matmul_state *state = RHEOS_NEW_STATE(p, matmul_state);
  if (state == NULL) return rheos__out_of_memory();
  const rheos_shape *a = &p->input_shapes[0], *b = &p->input_shapes[1];
  state->transpose_a = rheos__attr_bool(p->attrs, "transpose_a");
  state->transpose_b = rheos__attr_bool(p->attrs, "transpose_b");
  state->m = a->dims[state->transpose_a ? 1 : 0];
  state->k = a->dims[state->transpose_a ? 0 : 1];
  state->n = b->dims[state->transpose_b ? 0 : 1];
  state->lda = a->dims[1];
  state->ldb = b->dims[1];
  p->flops = rheos__flops(2.0 * (double)state->m * (double)state->n * (double)state->k);
  *out_state = state;
  return NULL;
}

static int64_t parts(int64_t whole, int64_t part) { return (whole + part - 1) / part; }

// ---- By the library

static rheos_status *run_library(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first, int64_t last) {
  (void)scratch;
  const matmul_state *s = state;
  const float *a = inputs[0], *b = inputs[1];
  float *c = outputs[0];
  for (int64_t unit = first; unit < last; ++unit) {
    const bool by_columns = s->block_columns < s->n;
    const int64_t row = by_columns ? 0 : unit * s->block_rows;
    const int64_t column = by_columns ? unit * s->block_columns : 0;
    const int64_t rows = rheos__min(s->block_rows, s->m - row);
    const int64_t columns = rheos__min(s->block_columns, s->n - column);
    RHEOS_TRY(rheos__sgemm(s->transpose_a, s->transpose_b, rows, columns, s->k,
                           a + row * (s->transpose_a ? 1 : s->lda), s->lda,
                           b + column * (s->transpose_b ? s->ldb : 1), s->ldb,
                           c + row * s->n + column, s->n));
    if (s->has_epilogue) {
      rheos__epilogue_run_piece(&s->epilogue, inputs, c, row, row + rows, column, column + columns);
    }
  }
  return NULL;
}

// By rows, if there are enough of them to keep the library at its speed, else by columns.
static void cut(matmul_state *s) {
  s->block_rows = s->m;
  s->block_columns = s->n;
  if (s->m > UNIT_ROWS || s->n < 2 * LEAST_COLUMNS) {
    s->block_rows = parts(s->m, rheos__min(parts(s->m, UNIT_ROWS), MOST_UNITS));
    return;
  }
  const int64_t wide = parts(s->n, UNIT_COLUMNS);
  const int64_t units = rheos__min(wide < 2 ? 2 : wide, MOST_UNITS);
  s->block_columns = parts(parts(s->n, units), 64) * 64;
}

// ---- By panels

typedef struct panel_work {
  const matmul_state *state;
  const void *const *inputs;
  float *c;
} panel_work;

static void finish_piece(const void *argument, int64_t first_row, int64_t last_row,
                         int64_t first_column, int64_t last_column) {
  const panel_work *w = argument;
  rheos__epilogue_run_piece(&w->state->epilogue, w->inputs, w->c, first_row, last_row, first_column,
                            last_column);
}

static rheos_status *run_panels(const void *state, const void *const *inputs, void *const *outputs,
                                void *scratch, int64_t first, int64_t last) {
  const matmul_state *s = state;
  const panel_work w = {s, inputs, outputs[0]};
  rheos__panels panels = s->panels;
  const float *b = inputs[1];
  if (s->keeps_panels) {
    const rheos__packed *packed = inputs[1];
    panels.is_packed = packed->packed != NULL;
    b = panels.is_packed ? packed->packed : packed->plain;
  }
  rheos__panels_run(&panels, inputs[0], b, outputs[0], first, last, scratch,
                    s->has_epilogue ? finish_piece : NULL, &w);
  return NULL;
}

// What panels depend on.
typedef struct panels_key {
  int64_t n, k, b_row, b_column;
} panels_key;

static rheos_status *pack(const void *state, const void *from, void *packed) {
  const matmul_state *s = state;
  rheos__panels_pack_all(&s->panels, from, packed);
  return NULL;
}

// A second operand that stays is laid down once. The bits are the same.
static rheos_status *keep_panels(rheos__prepare *p, matmul_state *s) {
  const panels_key key = {s->n, s->k, s->panels.b_row, s->panels.b_column};
  p->packing = (rheos__packing_request){.input = 1,
                                        .bytes = (size_t)(s->n * s->k) * sizeof(float),
                                        .key = rheos__arena_copy(p->arena, &key, sizeof key),
                                        .key_bytes = sizeof key,
                                        .make = pack,
                                        .state = s};
  if (p->packing.key == NULL) return rheos__out_of_memory();
  s->keeps_panels = true;
  return NULL;
}

static void cut_panels(matmul_state *s) {
  s->panels = (rheos__panels){.m = s->m,
                              .n = s->n,
                              .k = s->k,
                              .a_row = s->transpose_a ? 1 : s->lda,
                              .a_column = s->transpose_a ? s->lda : 1,
                              .b_row = s->transpose_b ? 1 : s->ldb,
                              .b_column = s->transpose_b ? s->ldb : 1};
  rheos__panels_cut(&s->panels);
}

static rheos_status *answer_panels(rheos__prepare *p, matmul_state *s) {
  p->scratch_bytes = rheos__panels_scratch_bytes(&s->panels);
  p->num_units = s->panels.column_units * s->panels.row_units;
  p->run = run_panels;
  return rheos__input_stays(p, 1) ? keep_panels(p, s) : NULL;
}

// ---- The kernels

static rheos_status *run_zero(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first, int64_t last) {
  (void)scratch;
  (void)first;
  (void)last;
  const matmul_state *s = state;
  memset(outputs[0], 0, (size_t)(s->m * s->n) * sizeof(float));
  if (s->has_epilogue) {
    rheos__epilogue_run_piece(&s->epilogue, inputs, outputs[0], 0, s->m, 0, s->n);
  }
  return NULL;
}

static bool has_rows_for_panels(rheos__prepare *p, const matmul_state *s) {
  if (s->m <= RHEOS__PANELS_FEW_ROWS) return s->m >= LEAST_ROWS;
  if (s->n < LEAST_SIDE || s->k < LEAST_SIDE) return false;
  return s->m >= MANY_ROWS || rheos__input_stays(p, 1);
}

static rheos_status *answer(rheos__prepare *p, matmul_state *s) {
  if (s->m == 0 || s->n == 0 || s->k == 0) {
    p->run = run_zero;
    return NULL;
  }
  cut_panels(s);
  if (s->transpose_b && !s->transpose_a && s->m >= LEAST_TURNING_ROWS) {
    return answer_panels(p, s);
  }
  if (!s->transpose_b && !s->transpose_a && has_rows_for_panels(p, s)) return answer_panels(p, s);
  if (s->transpose_a && !s->transpose_b && s->k >= LEAST_SIDE && s->panels.packs_rows) {
    return answer_panels(p, s);
  }
  cut(s);
  p->num_units = parts(s->m, s->block_rows) * parts(s->n, s->block_columns);
  if (s->block_columns >= s->n) p->unit_elements = s->block_rows * s->n;
  p->run = run_library;
  return NULL;
}

rheos_status *rheos__matmul_prepare_blas(rheos__prepare *p) {
  if (!is_float_product(p)) return NULL;
  matmul_state *state = NULL;
  RHEOS_TRY(describe(p, &state));
  return answer(p, state);
}

rheos_status *rheos__matmul_prepare_fused_blas(rheos__prepare *p) {
  if (!is_float_product(p)) return NULL;
  matmul_state *state = NULL;
  RHEOS_TRY(describe(p, &state));
  RHEOS_TRY(rheos__epilogue_of(p, state->n, 1, &state->epilogue));
  state->has_epilogue = true;
  RHEOS_TRY(answer(p, state));
  const double elements = (double)state->m * (double)state->n;
  p->flops = rheos__flops((double)p->flops + elements * (double)state->epilogue.flops);
  return NULL;
}
