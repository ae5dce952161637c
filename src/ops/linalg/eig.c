// Eigenvalues and vectors of any square matrices: Eig. They are complex, so real matrices are
// computed as complex ones. LAPACK stores by columns.
#include <complex.h>
#include <string.h>

#include "base/numbers.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/linalg/lapack.h"
#include "ops/linalg/linalg_grad.h"

enum { VECTORS };

static rheos_status *shape_eig(rheos__infer *c) {
  const bool vectors = rheos__attr_bool(c->attrs, "compute_v");
  rheos_shape shape;
  RHEOS_TRY(rheos__infer_square(c, 0, &shape));
  c->output_shapes[1] = vectors ? shape : RHEOS_SHAPE(0);
  if (shape.rank >= 0) shape.rank--;
  c->output_shapes[0] = shape;
  return NULL;
}

// ---- The kernel

// A row-major matrix as complex numbers by columns.
static void load(const rheos__matrix_kernel *k, const void *from, void *to) {
  const int64_t n = k->a.rows;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      const int64_t in = i * n + j, out = j * n + i;
      switch (k->dtype) {
        case RHEOS_FLOAT: ((float complex *)to)[out] = ((const float *)from)[in]; break;
        case RHEOS_DOUBLE: ((double complex *)to)[out] = ((const double *)from)[in]; break;
        case RHEOS_COMPLEX64: ((float complex *)to)[out] = ((const float complex *)from)[in]; break;
        default: ((double complex *)to)[out] = ((const double complex *)from)[in]; break;
      }
    }
  }
}

static double complex value_at(const rheos__lapack *l, const void *values, int64_t i) {
  return l->dtype == RHEOS_COMPLEX64 ? ((const float complex *)values)[i]
                                     : ((const double complex *)values)[i];
}

// The numbers of the values by their size, of equal ones as they came, which is TensorFlow's order.
static void order_by_size(const rheos__lapack *l, const void *values, int n, int *order) {
  for (int i = 0; i < n; i++) {
    const double size = cabs(value_at(l, values, i));
    int at = i;
    for (; at > 0 && cabs(value_at(l, values, order[at - 1])) > size; at--) {
      order[at] = order[at - 1];
    }
    order[at] = i;
  }
}

// Element (row, column) of the vectors, which lie by columns, to row-major `out`.
static void store_vectors(const rheos__lapack *l, const char *vectors, int n, const int *order,
                          char *out) {
  const size_t bytes = l->element_bytes;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      memcpy(out + (size_t)(i * n + j) * bytes,
             vectors + (size_t)(order[j] * (int64_t)n + i) * bytes, bytes);
    }
  }
}

static rheos_status *eig_one(const rheos__matrix_kernel *k, const void *const *inputs,
                             void *const *outputs, char *scratch, int64_t unit) {
  const rheos__lapack *l = k->lapack;
  const int n = k->a.rows;
  const size_t bytes = l->element_bytes;
  const bool vectors = k->flags[VECTORS];
  char *a = rheos__carve(&scratch, k->a.size, bytes);
  char *values = rheos__carve(&scratch, n, bytes);
  char *v = rheos__carve(&scratch, vectors ? k->a.size : 1, bytes);
  void *work = rheos__carve(&scratch, k->counts[0], bytes);
  void *real_work = rheos__carve(&scratch, 2 * (int64_t)n, l->real_bytes);
  int *order = rheos__carve(&scratch, n, sizeof *order);
  load(k, rheos__matrix_in(k, inputs[0], k->a.size, unit), a);
  if (!rheos__lapack_is_finite(l, a, k->a.size) ||
      l->eig(n, a, values, vectors ? v : NULL, work, k->counts[0], real_work) != 0) {
    return RHEOS_INVALID("Eigen decomposition was not successful. The input might not be valid.");
  }
  order_by_size(l, values, n, order);
  char *out = (char *)outputs[0] + (size_t)(unit * n) * bytes;
  for (int i = 0; i < n; i++) {
    memcpy(out + (size_t)i * bytes, values + (size_t)order[i] * bytes, bytes);
  }
  if (vectors) {
    store_vectors(l, v, n, order, (char *)outputs[1] + (size_t)(unit * k->a.size) * bytes);
  }
  return NULL;
}

static rheos_status *prepare_eig(rheos__prepare *p) {
  const rheos_dtype in = p->input_dtypes[0];
  const bool is_double = in == RHEOS_DOUBLE || in == RHEOS_COMPLEX128;
  const rheos_dtype out = is_double ? RHEOS_COMPLEX128 : RHEOS_COMPLEX64;
  if (p->output_dtypes[0] != out) {
    return RHEOS_INVALID("the eigenvalues of matrices of %s are %s, not %s", rheos_dtype_name(in),
                         rheos_dtype_name(out), rheos_dtype_name(p->output_dtypes[0]));
  }
  rheos__matrix_kernel *k;
  RHEOS_TRY(rheos__matrix_kernel_new(p, 1, &k));
  const int n = k->a.rows;
  if (n != k->a.columns) return RHEOS_INVALID("Input matrix must be square.");
  k->flags[VECTORS] = rheos__attr_bool(p->attrs, "compute_v");
  k->lapack = rheos__lapack_of(out);
  k->one = eig_one;
  if (n == 0) return rheos__answer_matrices(p, k, 0, 0);
  const rheos__lapack *l = k->lapack;
  double none[2];
  k->counts[0] = l->eig(n, none, none, k->flags[VECTORS] ? none : NULL, NULL, 0, NULL) + 1;
  p->scratch_bytes = rheos__carved_bytes(k->a.size, l->element_bytes) * 2 +
                     rheos__carved_bytes(n, l->element_bytes) +
                     rheos__carved_bytes(k->counts[0], l->element_bytes) +
                     rheos__carved_bytes(2 * (int64_t)n, l->real_bytes) +
                     rheos__carved_bytes(n, sizeof(int));
  return rheos__answer_matrices(p, k, k->a.count, 25.0 * n * n * n);
}

// ---- The gradient

static rheos_output cast_to(rheos_scope *s, rheos_output x, rheos_dtype dtype) {
  const rheos_attr attr = rheos_attr_type("DstT", dtype);
  return rheos_operation_output(rheos__op_n(s, "Cast", NULL, &x, 1, &attr, 1), 0);
}

// conj(1 / (e_j - e_i)) in row i and column j, 0 on the diagonal.
static rheos_output inverse_differences(rheos_scope *s, rheos_output e) {
  const rheos_output differences =
      rheos__py_sub(s, rheos__expand_dims(s, e, -2), rheos__expand_dims(s, e, -1));
  const rheos_output inverse = rheos__op_1(s, "Reciprocal", differences);
  return rheos__op_1(s, "Conj", rheos__op_2(s, "MatrixSetDiag", inverse, rheos__zeros_like(s, e)));
}

// What the vectors add to the middle: f * (v^H dv - v^H v diag(real(v^H dv))), as vectors keep
// their length.
static rheos_output of_vectors(rheos_scope *s, rheos_output e, rheos_output v, rheos_output dv,
                               rheos_dtype dtype) {
  const rheos_dtype real = dtype == RHEOS_COMPLEX64 ? RHEOS_FLOAT : RHEOS_DOUBLE;
  const rheos_output turn = rheos__matmul_adj(s, v, true, dv, false);
  const rheos_output along = cast_to(s, cast_to(s, turn, real), dtype);
  const rheos_output diagonal =
      rheos__op_1(s, "MatrixDiag", rheos__op_1(s, "MatrixDiagPart", along));
  const rheos_output kept =
      rheos__matmul_adj(s, rheos__matmul_adj(s, v, true, v, false), false, diagonal, false);
  return rheos__py_mul(s, inverse_differences(s, e), rheos__py_sub(s, turn, kept));
}

static void gradient_eig(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(g->outputs[0]));
  rheos_output e = g->outputs[0], v = g->outputs[1];
  rheos_output middle = rheos__op_1(s, "MatrixDiag", rheos__grad_dense(g, 0));
  if (rheos__attr_bool(g->attrs, "compute_v")) {
    middle = rheos__py_add(s, middle, of_vectors(s, e, v, rheos__grad_dense(g, 1), dtype));
  } else {
    const rheos_attr attr = rheos_attr_type("Tout", dtype);
    const rheos_operation again = rheos__op_n(s, "Eig", NULL, g->inputs, 1, &attr, 1);
    if (again.graph == NULL) return;
    v = rheos_operation_output(again, 1);
  }
  const rheos_output adjoint = rheos__adjoint(s, v);
  const rheos_output grad =
      rheos__op_2(s, "MatrixSolve", adjoint, rheos__matmul_adj(s, middle, false, adjoint, false));
  const rheos_dtype in = rheos_dtype_base(rheos_output_dtype(g->inputs[0]));
  rheos__grad_set(g, 0, in == dtype ? grad : cast_to(s, grad, in));
}

const rheos__op_def rheos__op_Eig = {
    .name = "Eig",
    .signature =
        "input: T -> e: Tout, v: Tout; compute_v: bool = true; "
        "T: {float, double, complex64, complex128}; Tout: {complex64, complex128}",
    .doc = "Eigenvalues `e`, by their size, and vectors of length 1 of square matrices.",
    .shape = shape_eig,
    .gradient = gradient_eig,
    .prepare = prepare_eig,
};
