// Cholesky factors and what flows back through them.
#include <math.h>
#include <string.h>

#include "ops/kit/array_grad.h"
#include "ops/linalg/lapack.h"
#include "ops/linalg/linalg_grad.h"

// Sets elements [first, first + count * step) of a matrix, `step` apart, to a real number.
static void set_elements(const rheos__lapack *l, void *matrix, int64_t first, int64_t count,
                         double value) {
  char *at = (char *)matrix + (size_t)first * l->element_bytes;
  for (int64_t i = 0; i < count; ++i, at += l->element_bytes) {
    memset(at, 0, l->element_bytes);
    if (l->real_bytes == sizeof(float)) {
      *(float *)(void *)at = (float)value;
    } else {
      *(double *)(void *)at = value;
    }
  }
}

// Only the lower triangle is read. By columns that is the upper one of the transpose.
static rheos_status *cholesky_one(const rheos__matrix_kernel *k, const void *const *inputs,
                                  void *const *outputs, char *scratch, int64_t unit) {
  (void)scratch;
  const int n = k->a.rows;
  void *out = rheos__matrix_out(k, outputs[0], k->a.size, unit);
  const void *in = rheos__matrix_in(k, inputs[0], k->a.size, unit);
  if (out != in) memcpy(out, in, (size_t)k->a.size * k->stored_bytes);
  const bool failed = k->lapack->cholesky(n, out) != 0;
  for (int64_t i = 0; i < n; ++i) {
    if (failed) set_elements(k->lapack, out, i * n, i + 1, NAN);
    set_elements(k->lapack, out, i * n + i + 1, n - i - 1, 0);
  }
  return NULL;
}

static rheos_status *prepare_cholesky(rheos__prepare *p) {
  rheos__matrix_kernel *k;
  if (p->input_dtypes[0] == RHEOS_HALF) return rheos__no_kernel(p, RHEOS_HALF);
  RHEOS_TRY(rheos__matrix_kernel_new(p, 1, &k));
  const double n = k->a.rows;
  k->one = cholesky_one;
  p->reuse_input = 0;
  return rheos__answer_matrices(p, k, k->a.size == 0 ? 0 : k->a.count, n * n * n / 3);
}

// a = l l^T. With m the lower triangle of l^T grad, its diagonal halved, the gradient of a is
// l^-T m l^-1, made symmetric.
static void gradient_cholesky(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output l = g->outputs[0], grad = rheos__grad_dense(g, 0);
  const rheos_output middle =
      rheos__lower_half_diagonal(s, rheos__matmul_adj(s, l, true, grad, false));
  const rheos_output left = rheos__triangular_solve_node(s, l, middle, true, true);
  const rheos_output both = rheos__triangular_solve_node(s, l, rheos__adjoint(s, left), true, true);
  const rheos_output sum = rheos__py_add(s, both, rheos__adjoint(s, both));
  rheos__grad_set(g, 0, rheos__op_with_number(s, "Mul", "mul", sum, 0.5));
}

const rheos__op_def rheos__op_Cholesky = {
    .name = "Cholesky",
    .signature = "input: T -> output: T; T: {double, float, half, complex64, complex128}",
    .doc = "The lower triangular l with l l^H = `input`; NaN if that is not positive definite.",
    .shape = rheos__shape_square,
    .gradient = gradient_cholesky,
    .prepare = prepare_cholesky,
};

const rheos__op_def rheos__op_BatchCholesky = {
    .name = "BatchCholesky",
    .signature = "input: T -> output: T; T: {double, float}",
    .doc = "The old name of Cholesky.",
    .shape = rheos__shape_square,
    .prepare = prepare_cholesky,
};

// ---- CholeskyGrad: the same formula on numbers

#define GRAD_LOOPS(S)                                                         \
  static void lower_half_diagonal_##S(int n, void *matrix) {                  \
    S *m = matrix;                                                            \
    for (int64_t i = 0; i < n; ++i) {                                         \
      m[i * n + i] *= (S)0.5;                                                 \
      for (int64_t j = i + 1; j < n; ++j) m[i * n + j] = 0;                   \
    }                                                                         \
  }                                                                           \
  static void keep_lower_##S(int n, void *matrix) {                           \
    S *m = matrix;                                                            \
    for (int64_t i = 0; i < n; ++i) {                                         \
      for (int64_t j = i + 1; j < n; ++j) m[i * n + j] = 0;                   \
    }                                                                         \
  }                                                                           \
  static void make_symmetric_##S(int n, void *matrix) {                       \
    S *m = matrix;                                                            \
    for (int64_t i = 0; i < n; ++i) {                                         \
      for (int64_t j = 0; j < i; ++j) {                                       \
        m[i * n + j] = m[j * n + i] = (S)0.5 * (m[i * n + j] + m[j * n + i]); \
      }                                                                       \
    }                                                                         \
  }
GRAD_LOOPS(float)
GRAD_LOOPS(double)

static rheos_status *cholesky_grad_one(const rheos__matrix_kernel *k, const void *const *inputs,
                                       void *const *outputs, char *scratch, int64_t unit) {
  const rheos__lapack *l = k->lapack;
  const bool is_float = k->dtype == RHEOS_FLOAT;
  const int n = k->a.rows;
  void *factor = rheos__carve(&scratch, k->a.size, l->element_bytes);
  void *grad = rheos__carve(&scratch, k->a.size, l->element_bytes);
  void *middle = rheos__carve(&scratch, k->a.size, l->element_bytes);
  void *out = rheos__matrix_out(k, outputs[0], k->a.size, unit);
  rheos__matrix_load(l, k->dtype, rheos__matrix_in(k, inputs[0], k->a.size, unit), factor, n, n,
                     false);
  rheos__matrix_load(l, k->dtype, rheos__matrix_in(k, inputs[1], k->a.size, unit), grad, n, n,
                     false);
  (is_float ? keep_lower_float : keep_lower_double)(n, factor);
  (is_float ? keep_lower_float : keep_lower_double)(n, grad);
  l->product(true, false, n, n, n, factor, grad, middle);
  (is_float ? lower_half_diagonal_float : lower_half_diagonal_double)(n, middle);
  l->triangular_solve(true, true, n, n, factor, middle);
  rheos__matrix_load(l, k->dtype, middle, out, n, n, true);
  l->triangular_solve(true, true, n, n, factor, out);
  (is_float ? make_symmetric_float : make_symmetric_double)(n, out);
  return NULL;
}

static rheos_status *prepare_cholesky_grad(rheos__prepare *p) {
  rheos__matrix_kernel *k;
  if (p->input_dtypes[0] == RHEOS_HALF) return rheos__no_kernel(p, RHEOS_HALF);
  RHEOS_TRY(rheos__matrix_kernel_new(p, 2, &k));
  const double n = k->a.rows;
  k->one = cholesky_grad_one;
  p->scratch_bytes = 3 * rheos__carved_bytes(k->a.size, k->lapack->element_bytes);
  return rheos__answer_matrices(p, k, k->a.size == 0 ? 0 : k->a.count, 4 * n * n * n);
}

static rheos_status *shape_cholesky_grad(rheos__infer *c) {
  rheos_shape l, grad;
  RHEOS_TRY(rheos__infer_square(c, 0, &l));
  RHEOS_TRY(rheos__infer_square(c, 1, &grad));
  return rheos__shape_merge(&l, &grad, &c->output_shapes[0]);
}

const rheos__op_def rheos__op_CholeskyGrad = {
    .name = "CholeskyGrad",
    .signature = "l: T, grad: T -> output: T; T: {half, float, double}",
    .doc = "The gradient of the matrix whose Cholesky factor is `l`, from that of `l`.",
    .shape = shape_cholesky_grad,
    .prepare = prepare_cholesky_grad,
};

const rheos__op_def rheos__op_BatchCholeskyGrad = {
    .name = "BatchCholeskyGrad",
    .signature = "l: T, grad: T -> output: T; T: {float, double}",
    .doc = "The old name of CholeskyGrad.",
    .shape = shape_cholesky_grad,
    .prepare = prepare_cholesky_grad,
};
