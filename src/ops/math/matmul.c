// Matrix products, one and many. These are the reference kernels: a row of the result at a time, so
// that the second operand is walked along its rows. Faster ones are in device/cpu/matmul.c.
#pragma GCC optimize("O3")
#include <complex.h>
#include <string.h>

#include "graph/build.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/math/product.h"

#define PRODUCT_TYPES "bfloat16, half, float, double, int32, int64, complex64, complex128"
#define UNSIGNED_TYPES ", uint8, uint16, uint32, uint64"

// ---- Loops: row i of c (m,n) = row i of a (m,k) times b (k,n), either operand stored transposed
typedef rheos__product product;
typedef rheos__row_loop row_loop;

// Sums in A; unsigned for integers, so that overflow wraps.
#define ROW_LOOP(name, S, A, LOAD_A, LOAD_B)                                           \
  static void row_##name(const product *s, const void *va, const void *vb, void *vc,   \
                         int64_t row) {                                                \
    const S *a = (const S *)va + row * s->a_row, *b = vb;                              \
    S *c = (S *)vc + row * s->n;                                                       \
    for (int64_t j = 0; j < s->n; ++j) c[j] = 0;                                       \
    for (int64_t k = 0; k < s->k; ++k) {                                               \
      const A x = LOAD_A(a[k * s->a_column]);                                          \
      const S *b_row = b + k * s->b_row;                                               \
      if (s->b_column == 1) {                                                          \
        for (int64_t j = 0; j < s->n; ++j) c[j] = (S)((A)c[j] + x * LOAD_B(b_row[j])); \
      } else {                                                                         \
        for (int64_t j = 0; j < s->n; ++j) {                                           \
          c[j] = (S)((A)c[j] + x * LOAD_B(b_row[j * s->b_column]));                    \
        }                                                                              \
      }                                                                                \
    }                                                                                  \
  }

#define PLAIN_float(v) (v)
#define PLAIN_double(v) (v)
#define PLAIN_int16(v) ((uint32_t)(v))
#define PLAIN_int32(v) ((uint32_t)(v))
#define PLAIN_int64(v) ((uint64_t)(v))
#define CONJUGATE_A(v) (s->conjugate_a ? conj(v) : (v))
#define CONJUGATE_B(v) (s->conjugate_b ? conj(v) : (v))

ROW_LOOP(float, float, float, PLAIN_float, PLAIN_float)
ROW_LOOP(double, double, double, PLAIN_double, PLAIN_double)
ROW_LOOP(int16, int16_t, uint32_t, PLAIN_int16, PLAIN_int16)
ROW_LOOP(int32, int32_t, uint32_t, PLAIN_int32, PLAIN_int32)
ROW_LOOP(int64, int64_t, uint64_t, PLAIN_int64, PLAIN_int64)
ROW_LOOP(complex128, double complex, double complex, CONJUGATE_A, CONJUGATE_B)
#undef CONJUGATE_A
#undef CONJUGATE_B
#define CONJUGATE_A(v) (s->conjugate_a ? conjf(v) : (v))
#define CONJUGATE_B(v) (s->conjugate_b ? conjf(v) : (v))
ROW_LOOP(complex64, float complex, float complex, CONJUGATE_A, CONJUGATE_B)

// Half precision sums in float: an element at a time, so that it is rounded once.
#define HALF_LOOP(name, LOAD, STORE)                                                 \
  static void row_##name(const product *s, const void *va, const void *vb, void *vc, \
                         int64_t row) {                                              \
    const uint16_t *a = (const uint16_t *)va + row * s->a_row, *b = vb;              \
    uint16_t *c = (uint16_t *)vc + row * s->n;                                       \
    for (int64_t j = 0; j < s->n; ++j) {                                             \
      float sum = 0;                                                                 \
      for (int64_t k = 0; k < s->k; ++k) {                                           \
        sum += LOAD(a[k * s->a_column]) * LOAD(b[k * s->b_row + j * s->b_column]);   \
      }                                                                              \
      c[j] = STORE(sum);                                                             \
    }                                                                                \
  }
HALF_LOOP(half, rheos__half_to_float, rheos__float_to_half)
HALF_LOOP(bfloat16, rheos__bfloat16_to_float, rheos__float_to_bfloat16)

rheos__row_loop rheos__row_loop_of(rheos_dtype dtype) {
  switch (dtype) {
    case RHEOS_FLOAT: return row_float;
    case RHEOS_DOUBLE: return row_double;
    case RHEOS_INT16: return row_int16;
    case RHEOS_INT32: return row_int32;
    case RHEOS_INT64: return row_int64;
    case RHEOS_HALF: return row_half;
    case RHEOS_BFLOAT16: return row_bfloat16;
    case RHEOS_COMPLEX64: return row_complex64;
    case RHEOS_COMPLEX128: return row_complex128;
    default: return NULL;
  }
}

// The last two dimensions of both operands.
static product describe(const rheos_shape *a, const rheos_shape *b, bool transpose_a,
                        bool transpose_b) {
  int64_t a_rows = a->dims[a->rank - 2], a_columns = a->dims[a->rank - 1];
  int64_t b_rows = b->dims[b->rank - 2], b_columns = b->dims[b->rank - 1];
  product s = {.m = transpose_a ? a_columns : a_rows,
               .k = transpose_a ? a_rows : a_columns,
               .n = transpose_b ? b_rows : b_columns};
  s.a_row = transpose_a ? 1 : a_columns;
  s.a_column = transpose_a ? a_columns : 1;
  s.b_row = transpose_b ? 1 : b_columns;
  s.b_column = transpose_b ? b_columns : 1;
  return s;
}

// ---- Kernels: a unit is a block of rows of one product

rheos_status *rheos__products_run(const rheos__products *s, const void *a, const void *b, void *c,
                                  int64_t block, void *scratch) {
  const int64_t first = block * s->block_rows, left = s->product.m - first;
  const int64_t last = first + (left < s->block_rows ? left : s->block_rows);
  if (s->rows != NULL) return s->rows(&s->product, a, b, c, first, last, scratch);
  for (int64_t row = first; row < last; ++row) s->loop(&s->product, a, b, c, row);
  return NULL;
}

typedef struct batch_state {
  rheos__products products;
  size_t element_bytes;
  rheos_shape a_batch, b_batch, batch;  // the dimensions before the last two
  int64_t a_step, b_step, c_step;       // elements of one matrix
} batch_state;

static rheos_status *run_products(const void *state, const void *const *inputs,
                                  void *const *outputs, void *scratch, int64_t first,
                                  int64_t last) {
  const batch_state *s = state;
  const int64_t blocks = rheos__products_blocks(&s->products), end = s->products.count * blocks;
  if (last > end) last = end;
  for (int64_t unit = first; unit < last; ++unit) {
    const int64_t batch = unit / blocks;
    int64_t a_at = rheos__broadcast_index(&s->a_batch, &s->batch, batch) * s->a_step;
    int64_t b_at = rheos__broadcast_index(&s->b_batch, &s->batch, batch) * s->b_step;
    RHEOS_TRY(
        rheos__products_run(&s->products, (const char *)inputs[0] + (size_t)a_at * s->element_bytes,
                            (const char *)inputs[1] + (size_t)b_at * s->element_bytes,
                            (char *)outputs[0] + (size_t)(batch * s->c_step) * s->element_bytes,
                            unit % blocks, scratch));
  }
  return NULL;
}

static rheos_shape leading_dims(const rheos_shape *shape) {
  rheos_shape leading = *shape;
  leading.rank -= 2;
  return leading;
}

static rheos_status *prepare_products(rheos__prepare *p, bool transpose_a, bool transpose_b) {
  const rheos_shape *a = &p->input_shapes[0], *b = &p->input_shapes[1];
  if (a->rank < 2 || b->rank < 2) return RHEOS_INVALID("expected matrices");
  batch_state *s = RHEOS_NEW_STATE(p, batch_state);
  if (s == NULL) return rheos__out_of_memory();
  rheos__row_loop loop = rheos__row_loop_of(p->input_dtypes[0]);
  if (loop == NULL) return rheos__no_kernel(p, p->input_dtypes[0]);
  s->batch = leading_dims(&p->output_shapes[0]);
  s->products = (rheos__products){.dtype = p->input_dtypes[0],
                                  .product = describe(a, b, transpose_a, transpose_b),
                                  .count = rheos_shape_num_elements(&s->batch),
                                  .loop = loop,
                                  .block_rows = 1};
  const product *one = &s->products.product;
  s->element_bytes = rheos_dtype_size(p->input_dtypes[0]);
  s->a_batch = leading_dims(a);
  s->b_batch = leading_dims(b);
  s->a_step = one->m * one->k;
  s->b_step = one->k * one->n;
  s->c_step = one->m * one->n;
  p->num_units = s->products.count * one->m;
  p->flops = rheos__flops(2.0 * (double)s->products.count * (double)s->c_step * (double)one->k);
  p->run = run_products;
  return NULL;
}

static rheos_status *prepare_matmul(rheos__prepare *p) {
  return prepare_products(p, rheos__attr_bool(p->attrs, "transpose_a"),
                          rheos__attr_bool(p->attrs, "transpose_b"));
}

// adj_x is the conjugate transpose.
static rheos_status *prepare_batch_matmul(rheos__prepare *p) {
  bool adj_x = rheos__attr_bool(p->attrs, "adj_x"), adj_y = rheos__attr_bool(p->attrs, "adj_y");
  RHEOS_TRY(prepare_products(p, adj_x, adj_y));
  rheos__products *s = p->state;
  s->product.conjugate_a = adj_x;
  s->product.conjugate_b = adj_y;
  return NULL;
}

// ---- Shapes

static rheos_status *inner_mismatch(const rheos_shape *a, const rheos_shape *b, int64_t k_a,
                                    int64_t k_b) {
  return rheos__shape_unfit(RHEOS_INVALID("Dimensions must be equal, but are %lld and %lld",
                                          (long long)k_a, (long long)k_b),
                            "Matrix size-incompatible: In[0]:", a, ", In[1]:", b);
}

// The last two dimensions of the product of two shapes of rank 2 and more.
static rheos_status *product_dims(const rheos_shape *a, const rheos_shape *b, bool transpose_a,
                                  bool transpose_b, int64_t *out_rows, int64_t *out_columns) {
  const int64_t *a_dims = a->dims + a->rank - 2, *b_dims = b->dims + b->rank - 2;
  int64_t k_a = a_dims[transpose_a ? 0 : 1], k_b = b_dims[transpose_b ? 1 : 0];
  if (k_a >= 0 && k_b >= 0 && k_a != k_b) return inner_mismatch(a, b, k_a, k_b);
  *out_rows = a_dims[transpose_a ? 1 : 0];
  *out_columns = b_dims[transpose_b ? 0 : 1];
  return NULL;
}

static rheos_status *shape_matmul(rheos__infer *c) {
  rheos_shape a, b;
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &a));
  RHEOS_TRY(rheos__infer_rank(c, 1, 2, &b));
  rheos_shape *out = &c->output_shapes[0];
  out->rank = 2;
  return product_dims(&a, &b, rheos__attr_bool(c->attrs, "transpose_a"),
                      rheos__attr_bool(c->attrs, "transpose_b"), &out->dims[0], &out->dims[1]);
}

static rheos_status *shape_batch(rheos__infer *c, bool broadcasts) {
  const char *unfit = "In[0] and In[1] must have compatible batch dimensions:";
  rheos_shape a = c->input_shapes[0], b = c->input_shapes[1];
  for (int32_t i = 0; i < 2; ++i) {
    int32_t rank = c->input_shapes[i].rank;
    if (rank >= 0 && rank < 2) {
      return RHEOS_INVALID("Shape must be at least rank 2 but is rank %d", (int)rank);
    }
  }
  if (!broadcasts && a.rank < 0 && b.rank >= 0) a = rheos__shape_of_rank(b.rank);
  if (!broadcasts && b.rank < 0 && a.rank >= 0) b = rheos__shape_of_rank(a.rank);
  if (a.rank < 0 || b.rank < 0) return NULL;
  rheos_shape a_batch = leading_dims(&a), b_batch = leading_dims(&b), batch;
  if (broadcasts) {
    RHEOS_TRY(rheos__shape_unfit(rheos__shape_broadcast(&a_batch, &b_batch, &batch), unfit, &a,
                                 " vs.", &b));
  } else {
    RHEOS_TRY(
        rheos__shape_unfit(rheos__shape_merge(&a_batch, &b_batch, &batch), unfit, &a, " vs.", &b));
  }
  int64_t rows = -1, columns = -1;
  RHEOS_TRY(product_dims(&a, &b, rheos__attr_bool(c->attrs, "adj_x"),
                         rheos__attr_bool(c->attrs, "adj_y"), &rows, &columns));
  if (batch.rank + 2 > RHEOS_MAX_RANK)
    return RHEOS_INVALID("more than %d dimensions", RHEOS_MAX_RANK);
  batch.dims[batch.rank++] = rows;
  batch.dims[batch.rank++] = columns;
  c->output_shapes[0] = batch;
  return NULL;
}

static rheos_status *shape_batch_matmul(rheos__infer *c) { return shape_batch(c, false); }
static rheos_status *shape_batch_matmul_v2(rheos__infer *c) { return shape_batch(c, true); }

// ---- Gradients

static rheos_output multiply(rheos_scope *s, const char *type, const char *name, rheos_output a,
                             rheos_output b, const char *flag_a, bool a_value, const char *flag_b,
                             bool b_value) {
  const rheos_output inputs[] = {a, b};
  const rheos_attr attrs[] = {rheos_attr_bool(flag_a, a_value), rheos_attr_bool(flag_b, b_value)};
  return rheos_operation_output(rheos__op_n(s, type, name, inputs, 2, attrs, 2), 0);
}

// c = op(a) op(b): each gradient is a product of the other operand and the gradient of c, in the
// order and with the transposes that undo the forward ones.
static void both_gradients(rheos__grad *g, const char *type, const char *flag_a, const char *flag_b,
                           rheos_output a, rheos_output b) {
  rheos_scope *s = g->scope;
  rheos_output grad = rheos__grad_dense(g, 0);
  bool ta = rheos__attr_bool(g->attrs, flag_a), tb = rheos__attr_bool(g->attrs, flag_b);
  rheos_output grad_a, grad_b;
  if (!ta) {
    grad_a = multiply(s, type, "MatMul", grad, b, flag_a, false, flag_b, !tb);
  } else {
    grad_a = multiply(s, type, "MatMul", b, grad, flag_a, tb, flag_b, true);
  }
  if (!tb) {
    grad_b = multiply(s, type, "MatMul", a, grad, flag_a, !ta, flag_b, false);
  } else {
    grad_b = multiply(s, type, "MatMul", grad, a, flag_a, true, flag_b, ta);
  }
  rheos__grad_set(g, 0, grad_a);
  rheos__grad_set(g, 1, grad_b);
}

static void gradient_matmul(rheos__grad *g) {
  // A transpose is no adjoint: complex operands are conjugated first.
  rheos_output a = rheos__conj(g->scope, g->inputs[0]);
  rheos_output b = rheos__conj(g->scope, g->inputs[1]);
  both_gradients(g, "MatMul", "transpose_a", "transpose_b", a, b);
}

static void gradient_batch_matmul(rheos__grad *g) {
  both_gradients(g, "BatchMatMulV2", "adj_x", "adj_y", g->inputs[0], g->inputs[1]);
}

void rheos__grad_sum_batches(rheos__grad *g) {
  rheos_shape x = rheos_output_shape(g->inputs[0]), y = rheos_output_shape(g->inputs[1]);
  if (rheos_shape_is_known(&x) && rheos_shape_equal(&x, &y)) return;
  rheos_scope *s = g->scope;
  rheos_output shapes[2], batches[2];
  for (int i = 0; i < 2; ++i) shapes[i] = rheos__shape_of(s, g->inputs[i], RHEOS_INT32);
  for (int i = 0; i < 2; ++i) {  // shape[:-2]
    batches[i] = rheos__vector_slice(s, shapes[i], (rheos__bound){.present = false},
                                     (rheos__bound){.present = true, .number = -2});
  }
  rheos_operation axes = rheos__op_n(s, "BroadcastGradientArgs", NULL, batches, 2, NULL, 0);
  for (int i = 0; i < 2; ++i) {
    rheos_output summed =
        rheos__sum_over(s, g->in_grads[i].values, rheos_operation_output(axes, i), false);
    rheos__grad_set(g, i, rheos__op_2(s, "Reshape", summed, shapes[i]));
  }
}

static void gradient_batch_matmul_v2(rheos__grad *g) {
  gradient_batch_matmul(g);
  rheos__grad_sum_batches(g);
}

const rheos__op_def rheos__op_MatMul = {
    .name = "MatMul",
    .signature =
        "a: T, b: T -> product: T; transpose_a: bool = false; "
        "transpose_b: bool = false; T: {" PRODUCT_TYPES UNSIGNED_TYPES
        "}; grad_a: bool = false; grad_b: bool = false",
    .doc = "The matrix product of `a` and `b`, either of them transposed first.",
    .flags = RHEOS_OP_BY_ROWS,
    .shape = shape_matmul,
    .gradient = gradient_matmul,
    .prepare = prepare_matmul,
};

const rheos__op_def rheos__op_BatchMatMul = {
    .name = "BatchMatMul",
    .signature = "x: T, y: T -> output: T; T: {" PRODUCT_TYPES
                 "}; adj_x: bool = false; adj_y: bool = false; "
                 "grad_x: bool = false; grad_y: bool = false",
    .doc = "The matrix products of two batches of the same shape.",
    .shape = shape_batch_matmul,
    .gradient = gradient_batch_matmul,
    .prepare = prepare_batch_matmul,
};

const rheos__op_def rheos__op_BatchMatMulV2 = {
    .name = "BatchMatMulV2",
    .signature = "x: T, y: T -> output: T; T: {int16, " PRODUCT_TYPES UNSIGNED_TYPES
                 "}; adj_x: bool = false; adj_y: bool = false; "
                 "grad_x: bool = false; grad_y: bool = false",
    .doc = "The matrix products of two batches, broadcast against each other.",
    .shape = shape_batch_matmul_v2,
    .gradient = gradient_batch_matmul_v2,
    .prepare = prepare_batch_matmul,
};
