// MatrixSolveLs: the x that makes |a x - b|^2 + l |x|^2 smallest, by singular values: each of b's
// components along u is divided by s (or s + l / s). LAPACK stores by columns and so sees the
// transpose of a: its first factor is the conjugate of v, by columns, its second u, by rows.
#include <float.h>
#include <math.h>
#include <string.h>

#include "ops/kit/array_util.h"
#include "ops/linalg/lapack.h"
#include "ops/linalg/linalg_grad.h"

enum { FAST = 0 };  // flags

static int inner_of(const rheos__matrix_kernel *k) {
  return k->a.rows < k->a.columns ? k->a.rows : k->a.columns;
}

static void scale_row(const rheos__lapack *l, void *row, int64_t count, double factor) {
  const int64_t parts = l->is_complex ? 2 : 1;
  for (int64_t i = 0; i < count * parts; ++i) {
    if (l->real_bytes == sizeof(double)) {
      ((double *)row)[i] *= factor;
    } else {
      ((float *)row)[i] = (float)((double)((float *)row)[i] * factor);
    }
  }
}

// What stands for 1 / s; false where the matrix has not full rank and has to.
static bool factor_of(const rheos__matrix_kernel *k, double s, double largest, double regularizer,
                      double *out_factor) {
  const bool regularized = k->flags[FAST] && regularizer > 0;
  const int outer = k->a.rows > k->a.columns ? k->a.rows : k->a.columns;
  const double least =
      largest * outer *
      (k->lapack->real_bytes == sizeof(double) ? DBL_EPSILON : (double)FLT_EPSILON);
  *out_factor = regularized ? s / (s * s + regularizer) : s > least ? 1 / s : 0;
  return regularized || s > least || !k->flags[FAST];
}

static rheos_status *solve_one(const rheos__matrix_kernel *k, const void *const *inputs,
                               void *const *outputs, char *scratch, int64_t unit) {
  const rheos__lapack *l = k->lapack;
  const int m = k->a.rows, n = k->a.columns, inner = inner_of(k), columns = k->b.columns;
  const double regularizer = *(const double *)inputs[2];
  const size_t bytes = l->element_bytes;
  void *x = rheos__matrix_out(k, outputs[0], (int64_t)n * columns, unit);
  const void *b = rheos__matrix_in(k, inputs[1], k->b.size, unit);
  if (!(regularizer >= 0)) return RHEOS_INVALID("l2_regularizer must be >= 0.");
  memset(x, 0, (size_t)n * (size_t)columns * bytes);
  if (inner == 0) return NULL;
  void *a = rheos__carve(&scratch, k->a.size, bytes);
  void *values = rheos__carve(&scratch, inner, l->real_bytes);
  void *v = rheos__carve(&scratch, (int64_t)n * inner, bytes);
  void *u = rheos__carve(&scratch, (int64_t)m * inner, bytes);
  void *along = rheos__carve(&scratch, (int64_t)inner * columns, bytes);
  void *real_work = rheos__carve(&scratch, k->counts[1], l->real_bytes);
  int *int_work = rheos__carve(&scratch, 8 * (int64_t)inner, sizeof *int_work);
  memcpy(a, rheos__matrix_in(k, inputs[0], k->a.size, unit), (size_t)k->a.size * bytes);
  if (!rheos__lapack_is_finite(l, a, k->a.size) ||
      l->svd('S', n, m, a, values, v, n, u, inner, scratch, k->work_count, real_work, int_work) !=
          0) {
    return RHEOS_INVALID("Input matrix has no singular values: it is not finite");
  }
  l->product(true, false, inner, columns, m, u, b, along);
  for (int i = 0; i < inner; ++i) {
    double factor;
    if (!factor_of(k, rheos__lapack_real_at(l, values, i), rheos__lapack_real_at(l, values, 0),
                   regularizer, &factor)) {
      return RHEOS_INVALID("Input matrix was rank deficient!");
    }
    scale_row(l, (char *)along + (size_t)i * (size_t)columns * bytes, columns, factor);
  }
  l->product(true, false, n, columns, inner, v, along, x);
  return NULL;
}

static rheos_status *prepare(rheos__prepare *p) {
  rheos__matrix_kernel *k;
  if (p->input_dtypes[0] == RHEOS_HALF) return rheos__no_kernel(p, RHEOS_HALF);
  RHEOS_TRY(rheos__matrix_kernel_new(p, 2, &k));
  const int m = k->a.rows, n = k->a.columns;
  const int64_t inner = inner_of(k), outer = m > n ? m : n, columns = k->b.columns;
  const size_t bytes = k->lapack->element_bytes, real_bytes = k->lapack->real_bytes;
  k->one = solve_one;
  k->flags[FAST] = rheos__attr_bool(p->attrs, "fast");
  if (inner > 0) {
    double none[2];
    int no_ints[1];
    k->work_count = (int)k->lapack->svd('S', n, m, none, none, none, n, none, (int)inner, NULL, -1,
                                        none, no_ints);
    // As LAPACK's description of rwork says.
    const int64_t square = 5 * inner * inner + 5 * inner;
    const int64_t oblong = 2 * outer * inner + 2 * inner * inner + inner;
    k->counts[1] = !k->lapack->is_complex ? 1 : square > oblong ? square : oblong;
    p->scratch_bytes =
        rheos__carved_bytes(k->a.size, bytes) + rheos__carved_bytes(inner, real_bytes) +
        rheos__carved_bytes(n * inner, bytes) + rheos__carved_bytes(m * inner, bytes) +
        rheos__carved_bytes(inner * columns, bytes) +
        rheos__carved_bytes(k->counts[1], real_bytes) +
        rheos__carved_bytes(8 * inner, sizeof(int)) + rheos__carved_bytes(k->work_count, bytes);
  }
  return rheos__answer_matrices(p, k, n * columns == 0 ? 0 : k->a.count,
                                10.0 * (double)(inner * inner) * (double)outer);
}

static rheos_shape with_unknown_matrices(rheos_shape shape) {
  shape.dims[shape.rank - 2] = shape.dims[shape.rank - 1] = -1;
  return shape;
}

static rheos_status *shape(rheos__infer *c) {
  rheos_shape a = c->input_shapes[0], b = c->input_shapes[1], scalar;
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 2));
  RHEOS_TRY(rheos__infer_rank_at_least(c, 1, 2));
  RHEOS_TRY(rheos__infer_rank(c, 2, 0, &scalar));
  if (a.rank < 0 && b.rank < 0) return NULL;
  // The batches of one that is not known are the other's.
  if (a.rank < 0) a = with_unknown_matrices(b);
  if (b.rank < 0) b = with_unknown_matrices(a);
  const int64_t rows = a.dims[a.rank - 2], own = b.dims[b.rank - 2];
  const int64_t n = a.dims[a.rank - 1], columns = b.dims[b.rank - 1];
  if (rows >= 0 && own >= 0 && rows != own) {
    return RHEOS_INVALID("Dimensions must be equal, but are %lld and %lld", (long long)rows,
                         (long long)own);
  }
  a.rank -= 2;
  b.rank -= 2;
  rheos_shape *out = &c->output_shapes[0];
  RHEOS_TRY(rheos__shape_merge(&a, &b, out));
  RHEOS_TRY(rheos__shape_append(out, n));
  return rheos__shape_append(out, columns);
}

// ---- Gradient: x = (a^H a + l)^-1 a^H b for tall a, a^H (a a^H + l)^-1 b for wide ones

// The Cholesky factor of a^H a + l, or of a a^H + l.
static rheos_output gramian_factor(rheos__grad *g, bool tall) {
  rheos_scope *s = g->scope;
  const rheos_output a = g->inputs[0];
  const rheos_output regularizer = rheos__cast_to(s, g->inputs[2], rheos_output_dtype(a));
  const rheos_output gramian = rheos__matmul_adj(s, a, tall, a, !tall);
  const rheos_output diagonal = rheos__op_1(s, "MatrixDiagPart", gramian);
  const rheos_output sum = rheos__py_add(s, diagonal, regularizer);
  return rheos__op_1(s, "Cholesky", rheos__op_2(s, "MatrixSetDiag", gramian, sum));
}

static rheos_output solved(rheos_scope *s, rheos_output factor, rheos_output b) {
  const rheos_output half = rheos__triangular_solve_node(s, factor, b, true, false);
  return rheos__triangular_solve_node(s, factor, half, true, true);
}

static void gradient(rheos__grad *g) {
  rheos_scope *s = g->scope;
  if (rheos_scope_status(s) != NULL) return;
  const rheos_output a = g->inputs[0], b = g->inputs[1], x = g->outputs[0];
  const rheos_output grad = rheos__grad_dense(g, 0);
  const rheos_shape of_a = rheos_output_shape(a);
  if (of_a.rank < 2 || of_a.dims[of_a.rank - 2] < 0 || of_a.dims[of_a.rank - 1] < 0) {
    rheos_scope_fail_take(s, rheos_status_new(RHEOS_UNIMPLEMENTED,
                                              "no gradient of MatrixSolveLs of matrices whose size "
                                              "is not known"));
    return;
  }
  const bool tall = of_a.dims[of_a.rank - 1] <= of_a.dims[of_a.rank - 2];
  const rheos_output factor = gramian_factor(g, tall);
  if (tall) {
    const rheos_output z = solved(s, factor, grad);
    const rheos_output outer = rheos__matmul_adj(s, x, false, z, true);
    const rheos_output both = rheos__py_add(s, outer, rheos__adjoint(s, outer));
    rheos__grad_set(g, 0,
                    rheos__py_sub(s, rheos__matmul_adj(s, b, false, z, true),
                                  rheos__matmul_adj(s, a, false, both, false)));
    rheos__grad_set(g, 1, rheos__matmul_adj(s, a, false, z, false));
    return;
  }
  const rheos_output grad_b = solved(s, factor, rheos__matmul_adj(s, a, false, grad, false));
  const rheos_output along = solved(s, factor, b);
  const rheos_output first =
      rheos__matmul_adj(s, grad_b, false, rheos__matmul_adj(s, along, true, a, false), false);
  const rheos_output rest = rheos__py_sub(s, grad, rheos__matmul_adj(s, a, true, grad_b, false));
  rheos__grad_set(g, 0, rheos__py_sub(s, rheos__matmul_adj(s, along, false, rest, true), first));
  rheos__grad_set(g, 1, grad_b);
}

const rheos__op_def rheos__op_MatrixSolveLs = {
    .name = "MatrixSolveLs",
    .signature =
        "matrix: T, rhs: T, l2_regularizer: double -> output: T; "
        "T: {double, float, half, complex64, complex128}; fast: bool = true",
    .doc =
        "The x that makes |`matrix` x - `rhs`|^2 + `l2_regularizer` |x|^2 smallest; if not `fast`, "
        "the shortest such x, without regularizer.",
    .flags = RHEOS_OP_GRADIENT_OF_SHAPES,
    .shape = shape,
    .gradient = gradient,
    .prepare = prepare,
};

const rheos__op_def rheos__op_BatchMatrixSolveLs = {
    .name = "BatchMatrixSolveLs",
    .signature =
        "matrix: T, rhs: T, l2_regularizer: double -> output: T; T: {double, float}; "
        "fast: bool = true",
    .doc = "The old name of MatrixSolveLs.",
    .shape = shape,
    .prepare = prepare,
};
