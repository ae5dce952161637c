// InplaceUpdate, InplaceAdd, InplaceSub: a tensor with some of its rows changed.
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/variable_util.h"

typedef struct rows {
  rheos_dtype dtype;
  int64_t count, size, changes;  // rows, elements of one, how many are changed
  rheos__change_kind kind;
} rows;

// Row numbers count from the end if they are negative, and go around.
static rheos_status *run_rows(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first, int64_t last) {
  const rows *r = state;
  const int64_t row_bytes = r->size * (int64_t)rheos_dtype_size(r->dtype);
  (void)scratch, (void)first, (void)last;
  if (r->count == 0 || r->size == 0) return NULL;
  if (outputs[0] != inputs[0]) {
    RHEOS_TRY(rheos__copy_elements(r->dtype, outputs[0], inputs[0], r->count * r->size));
  }
  for (int64_t i = 0; i < r->changes; ++i) {
    const int64_t row = (((const int32_t *)inputs[1])[i] % r->count + r->count) % r->count;
    char *to = (char *)outputs[0] + row * row_bytes;
    const char *from = (const char *)inputs[2] + i * row_bytes;
    RHEOS_TRY(rheos__change_elements(r->kind, r->dtype, to, from, r->size, false));
  }
  return NULL;
}

static rheos_status *prepare(rheos__prepare *p, rheos__change_kind kind) {
  rows *r = RHEOS_NEW_STATE(p, rows);
  if (r == NULL) return rheos__out_of_memory();
  const rheos_shape *x = &p->input_shapes[0];
  *r = (rows){
      .dtype = p->input_dtypes[0],
      .count = x->dims[0],
      .size = rheos__shape_product(x, 1, x->rank),
      .changes = p->input_shapes[1].dims[0],
      .kind = kind,
  };
  RHEOS_TRY(rheos__check_change(p, kind, r->dtype));
  if (r->dtype != RHEOS_STRING) p->reuse_input = 0;
  p->flops = rheos__flops((double)r->changes * (double)r->size);
  return rheos__answer_run(p, run_rows, 1);
}

static rheos_status *prepare_update(rheos__prepare *p) { return prepare(p, RHEOS__CHANGE_SET); }
static rheos_status *prepare_add(rheos__prepare *p) { return prepare(p, RHEOS__CHANGE_ADD); }
static rheos_status *prepare_sub(rheos__prepare *p) { return prepare(p, RHEOS__CHANGE_SUB); }

static rheos_status *shape(rheos__infer *c) {
  const rheos_shape *x = &c->input_shapes[0], *v = &c->input_shapes[2];
  rheos_shape i;
  rheos__shape_text a, b;
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &i));
  c->output_shapes[0] = *x;
  if (x->rank < 0 || v->rank < 0) return NULL;
  rheos_shape wanted = *x;
  wanted.dims[0] = i.dims[0];
  if (rheos_shape_compatible(&wanted, v)) return NULL;
  return RHEOS_INVALID("v of shape %s does not have a row of x, of shape %s, for each index",
                       rheos__shape_text_of(v, &b), rheos__shape_text_of(x, &a));
}

#define INPLACE(op, words, kernel)                                                            \
  const rheos__op_def rheos__op_##op = {.name = #op,                                          \
                                        .signature = "x: T, i: int32, v: T -> y: T; T: type", \
                                        .doc = words,                                         \
                                        .shape = shape,                                       \
                                        .prepare = kernel}

INPLACE(InplaceUpdate, "`x` with the rows `i` set to those of `v`.", prepare_update);
INPLACE(InplaceAdd, "`x` with the rows of `v` added to the rows `i`.", prepare_add);
INPLACE(InplaceSub, "`x` with the rows of `v` subtracted from the rows `i`.", prepare_sub);
