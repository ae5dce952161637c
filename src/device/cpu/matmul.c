// Matrix products by the library. The rows of the result are cut into blocks whose size depends on
// the shapes alone, and each block is computed by one call, so that any number of threads gives the
// same bits.
#include "device/cpu/matmul.h"

#include <string.h>

#include "device/cpu/onednn.h"

enum { BLOCK_ROWS = 128, MAX_BLOCKS = 16 };

typedef struct matmul_state {
  int64_t m, n, k;
  int64_t lda, ldb;
  int64_t block_rows;
  bool transpose_a, transpose_b;
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
  p->flops = 2 * state->m * state->n * state->k;
  *out_state = state;
  return NULL;
}

static rheos_status *run_blas(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first, int64_t last) {
  (void)scratch;
  const matmul_state *s = state;
  const float *a = inputs[0], *b = inputs[1];
  float *c = outputs[0];
  for (int64_t unit = first; unit < last; ++unit) {
    int64_t row = unit * s->block_rows;
    int64_t rows = s->block_rows < s->m - row ? s->block_rows : s->m - row;
    const float *a_block = s->transpose_a ? a + row : a + row * s->lda;
    RHEOS_TRY(rheos__sgemm(s->transpose_a, s->transpose_b, rows, s->n, s->k, a_block, s->lda, b,
                           s->ldb, c + row * s->n, s->n));
  }
  return NULL;
}

static rheos_status *run_zero(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first, int64_t last) {
  (void)inputs;
  (void)scratch;
  (void)first;
  (void)last;
  const matmul_state *s = state;
  memset(outputs[0], 0, (size_t)(s->m * s->n) * sizeof(float));
  return NULL;
}

rheos_status *rheos__matmul_prepare_blas(rheos__prepare *p) {
  if (!is_float_product(p)) return NULL;
  matmul_state *state = NULL;
  RHEOS_TRY(describe(p, &state));
  if (state->m == 0 || state->n == 0 || state->k == 0) {
    p->run = run_zero;
    return NULL;
  }
  int64_t blocks = (state->m + BLOCK_ROWS - 1) / BLOCK_ROWS;
  if (blocks > MAX_BLOCKS) blocks = MAX_BLOCKS;
  state->block_rows = (state->m + blocks - 1) / blocks;
  p->num_units = (state->m + state->block_rows - 1) / state->block_rows;
  p->unit_elements = state->block_rows * state->n;
  p->run = run_blas;
  return NULL;
}
