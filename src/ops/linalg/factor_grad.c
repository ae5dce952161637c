// Gradients of orthogonal factors. An element of a gradient is infinite where two singular values
// or eigenvalues are one: the differences divided by are made safe at 0.
#include "ops/linalg/factor_grad.h"

#include "ops/kit/array_grad.h"
#include "ops/linalg/linalg_grad.h"

static bool refuse(rheos_scope *s, const char *why) {
  rheos_scope_fail_take(s, rheos_status_new(RHEOS_UNIMPLEMENTED, "%s", why));
  return false;
}

// Rows and columns of the input, which the gradient has to know.
static bool known_matrix(rheos__grad *g, int64_t *out_rows, int64_t *out_columns) {
  if (rheos_scope_status(g->scope) != NULL) return false;
  const rheos_shape shape = rheos_output_shape(g->inputs[0]);
  if (shape.rank < 2 || shape.dims[shape.rank - 2] < 0 || shape.dims[shape.rank - 1] < 0) {
    return refuse(g->scope, "no gradient of matrix factors of unknown inner shape");
  }
  *out_rows = shape.dims[shape.rank - 2];
  *out_columns = shape.dims[shape.rank - 1];
  return true;
}

static bool is_complex(rheos_scope *s, rheos_output x) {
  return rheos_scope_status(s) == NULL && rheos_dtype_is_complex(rheos_output_dtype(x));
}

static rheos_output diag(rheos_scope *s, rheos_output x) { return rheos__op_1(s, "MatrixDiag", x); }

// ---- Qr: of a = q r with at least as many rows as columns

// x r^-H for upper triangular r.
static rheos_output times_inverse_adjoint(rheos_scope *s, rheos_output x, rheos_output r) {
  const rheos_output turned = rheos__adjoint(s, x);
  return rheos__adjoint(s, rheos__triangular_solve_node(s, r, turned, false, false));
}

static rheos_output minus_adjoint(rheos_scope *s, rheos_output x) {
  return rheos__py_sub(s, x, rheos__adjoint(s, x));
}

// A diagonal matrix of the imaginary part that x has on its diagonal.
static rheos_output imaginary_diagonal(rheos_scope *s, rheos_output x) {
  if (rheos_scope_status(s) != NULL) return x;
  const rheos_output line = rheos__op_1(s, "MatrixDiagPart", x);
  const bool single = rheos_output_dtype(x) == RHEOS_COMPLEX64;
  const rheos_attr type = rheos_attr_type("Tout", single ? RHEOS_FLOAT : RHEOS_DOUBLE);
  const rheos_output real = rheos__named_n(s, "Real", NULL, &line, 1, &type, 1);
  if (rheos_scope_status(s) != NULL) return x;
  return diag(s, rheos__py_sub(s, line, rheos__cast_to(s, real, rheos_output_dtype(x))));
}

static rheos_output deep_qr(rheos_scope *s, rheos_output q, rheos_output r, rheos_output dq,
                            rheos_output dr) {
  const rheos_output qdq = rheos__matmul_adj(s, q, true, dq, false);
  const rheos_output rdr = rheos__matmul_adj(s, r, false, dr, true);
  const rheos_output both = rheos__py_add(s, minus_adjoint(s, qdq), minus_adjoint(s, rdr));
  const rheos_output lower = rheos__band_part(s, both, -1, 0);
  const rheos_output inner = rheos__py_add(s, dr, times_inverse_adjoint(s, lower, r));
  const rheos_output rest = rheos__py_sub(s, dq, rheos__matmul_adj(s, q, false, qdq, false));
  const rheos_output grad = rheos__py_add(s, rheos__matmul_adj(s, q, false, inner, false),
                                          times_inverse_adjoint(s, rest, r));
  if (!is_complex(s, q)) return grad;
  // The phases: r has a real diagonal.
  const rheos_output phases = imaginary_diagonal(s, rheos__py_sub(s, rdr, rheos__adjoint(s, qdq)));
  const rheos_output turned = rheos__matmul_adj(s, q, false, phases, true);
  return rheos__py_add(s, grad, times_inverse_adjoint(s, turned, r));
}

void rheos__gradient_qr(rheos__grad *g) {
  rheos_scope *s = g->scope;
  int64_t m, n;
  if (!known_matrix(g, &m, &n)) return;
  if (m > n && rheos__attr_bool(g->attrs, "full_matrices")) {
    refuse(s, "no gradient of Qr with full_matrices of more rows than columns");
    return;
  }
  const rheos_output q = g->outputs[0], r = g->outputs[1];
  const rheos_output dq = rheos__grad_dense(g, 0), dr = rheos__grad_dense(g, 1);
  if (m >= n) {
    rheos__grad_set(g, 0, deep_qr(s, q, r, dq, dr));
    return;
  }
  // a = [x, y], r = [u, v] with square u: x = q u and y = q v.
  const int32_t at = (int32_t)m;
  const rheos_output y = rheos__columns(s, g->inputs[0], at, 0);
  const rheos_output u = rheos__columns(s, r, 0, at), du = rheos__columns(s, dr, 0, at);
  const rheos_output dv = rheos__columns(s, dr, at, 0);
  const rheos_output more = rheos__py_add(s, dq, rheos__matmul_adj(s, y, false, dv, true));
  const rheos_output parts[] = {deep_qr(s, q, u, more, du),
                                rheos__matmul_adj(s, q, false, dv, false)};
  rheos__grad_set(g, 0, rheos__concat(s, parts, 2, -1));
}

// ---- SelfAdjointEigV2

// 1 / (x_j - x_i) in row i and column j. The diagonal is set to 0, so that nothing of the safe
// reciprocal's steep slope there comes into gradients of gradients.
static rheos_output inverse_differences(rheos_scope *s, rheos_output x) {
  const rheos_output differences =
      rheos__py_sub(s, rheos__expand_dims(s, x, -2), rheos__expand_dims(s, x, -1));
  return rheos__op_2(s, "MatrixSetDiag", rheos__safe_reciprocal(s, differences),
                     rheos__zeros_like(s, x));
}

void rheos__gradient_eigh(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_output v = g->outputs[1], middle = diag(s, rheos__grad_dense(g, 0));
  if (rheos__attr_bool(g->attrs, "compute_v")) {
    const rheos_output turn = rheos__matmul_adj(s, v, true, rheos__grad_dense(g, 1), false);
    middle =
        rheos__py_add(s, middle, rheos__py_mul(s, inverse_differences(s, g->outputs[0]), turn));
  } else {
    const rheos_operation again = rheos__op_n(s, "SelfAdjointEigV2", NULL, g->inputs, 1, NULL, 0);
    if (again.graph == NULL) return;
    v = rheos_operation_output(again, 1);
  }
  const rheos_output grad =
      rheos__matmul_adj(s, v, false, rheos__matmul_adj(s, middle, false, v, true), false);
  // Only the lower triangle was read.
  const rheos_output sum = rheos__py_add(s, grad, rheos__adjoint(s, grad));
  rheos__grad_set(g, 0, rheos__lower_half_diagonal(s, sum));
}

// ---- Svd

// The parts of one case: a (m,n) = u diag(s) v^H with m <= n, or the same of the adjoint.
typedef struct svd_parts {
  rheos_output u, v, grad_u, grad_v, s, grad_s;
  int32_t m, n;
  bool full;
} svd_parts;

static rheos_output plus_adjoint(rheos_scope *s, rheos_output x) {
  return rheos__py_add(s, x, rheos__adjoint(s, x));
}

// What reaches a through the columns of v beyond its row space.
static rheos_output beyond_rows(rheos_scope *s, const svd_parts *p, rheos_output v1,
                                rheos_output grad_v1) {
  const rheos_output turned = rheos__adjoint(s, grad_v1);
  const rheos_output inside = rheos__matmul_adj(s, turned, false, v1, false);
  rheos_output rest = rheos__py_sub(s, turned, rheos__matmul_adj(s, inside, false, v1, true));
  if (p->full) {
    const rheos_output v2 = rheos__columns(s, p->v, p->m, p->n);
    const rheos_output grad_v2 = rheos__columns(s, p->grad_v, p->m, p->n);
    const rheos_output across = rheos__matmul_adj(s, v1, true, grad_v2, false);
    rest = rheos__py_sub(s, rest, rheos__matmul_adj(s, across, false, v2, true));
  }
  const rheos_output scaled =
      rheos__matmul_adj(s, p->u, false, diag(s, rheos__safe_reciprocal(s, p->s)), false);
  return rheos__matmul_adj(s, scaled, false, rest, false);
}

static rheos_output svd_gradient(rheos_scope *s, const svd_parts *p) {
  const rheos_output squares = rheos__py_mul(s, p->s, p->s);
  const rheos_output f = inverse_differences(s, squares), s_mat = diag(s, p->s);
  const bool is_square = p->m == p->n;
  const rheos_output v1 = is_square ? p->v : rheos__columns(s, p->v, 0, p->m);
  const rheos_output grad_v1 = is_square ? p->grad_v : rheos__columns(s, p->grad_v, 0, p->m);
  const rheos_output f_u = rheos__py_mul(s, f, rheos__matmul_adj(s, p->u, true, p->grad_u, false));
  const rheos_output f_v = rheos__py_mul(s, f, rheos__matmul_adj(s, v1, true, grad_v1, false));
  rheos_output middle = rheos__py_add(
      s, diag(s, p->grad_s), rheos__matmul_adj(s, plus_adjoint(s, f_u), false, s_mat, false));
  middle =
      rheos__py_add(s, middle, rheos__matmul_adj(s, s_mat, false, plus_adjoint(s, f_v), false));
  if (is_complex(s, v1)) {  // the phases of the vectors: singular values are real
    const rheos_output turn = rheos__matmul_adj(s, v1, true, grad_v1, false);
    const rheos_output scaled = rheos__matmul_adj(s, diag(s, rheos__safe_reciprocal(s, p->s)),
                                                  false, imaginary_diagonal(s, turn), false);
    middle = rheos__py_sub(s, middle, scaled);
  }
  const rheos_output grad =
      rheos__matmul_adj(s, p->u, false, rheos__matmul_adj(s, middle, false, v1, true), false);
  return is_square ? grad : rheos__py_add(s, grad, beyond_rows(s, p, v1, grad_v1));
}

static void gradient_of_values(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_operation again = rheos__op_n(s, "Svd", NULL, g->inputs, 1, NULL, 0);
  if (again.graph == NULL) return;
  const rheos_output right = rheos__matmul_adj(s, diag(s, rheos__grad_dense(g, 0)), false,
                                               rheos_operation_output(again, 2), true);
  rheos__grad_set(g, 0,
                  rheos__matmul_adj(s, rheos_operation_output(again, 1), false, right, false));
}

void rheos__gradient_svd(rheos__grad *g) {
  rheos_scope *s = g->scope;
  if (!rheos__attr_bool(g->attrs, "compute_uv")) {
    gradient_of_values(g);
    return;
  }
  int64_t m, n;
  if (!known_matrix(g, &m, &n)) return;
  const bool turn = m > n;
  svd_parts p = {.s = g->outputs[0],
                 .u = g->outputs[turn ? 2 : 1],
                 .v = g->outputs[turn ? 1 : 2],
                 .m = (int32_t)(turn ? n : m),
                 .n = (int32_t)(turn ? m : n),
                 .full = rheos__attr_bool(g->attrs, "full_matrices")};
  if (p.full && p.n - p.m > 1) {
    refuse(s, "no gradient of Svd with full_matrices unless rows and columns differ by 1 at most");
    return;
  }
  p.grad_s = rheos__grad_dense(g, 0);
  p.grad_u = rheos__grad_dense(g, turn ? 2 : 1);
  p.grad_v = rheos__grad_dense(g, turn ? 1 : 2);
  const rheos_output grad = svd_gradient(s, &p);
  rheos__grad_set(g, 0, turn ? rheos__adjoint(s, grad) : grad);
}
