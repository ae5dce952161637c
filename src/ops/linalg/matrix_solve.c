// What follows from the LU factors of square matrices: inverses, determinants, solutions. And
// solutions for triangular matrices. A row-major matrix is a transpose to LAPACK: what is not
// hindered by that (inverses, determinants) is done in place.
#include <math.h>
#include <string.h>

#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/linalg/lapack.h"
#include "ops/linalg/linalg_grad.h"

#define MATRIX_TYPES "{double, float, half, complex64, complex128}"

static rheos_status *square_kernel(rheos__prepare *p, int num_matrices,
                                   rheos__matrix_kernel **out_kernel) {
  RHEOS_TRY(rheos__matrix_kernel_new(p, num_matrices, out_kernel));
  if ((*out_kernel)->a.rows != (*out_kernel)->a.columns) {
    return RHEOS_INVALID("Input matrix must be square.");
  }
  return NULL;
}

// Element i of the diagonal of an n by n matrix as a real and an imaginary part.
static void diagonal_at(const rheos__lapack *l, const void *matrix, int64_t n, int64_t i,
                        double *out_parts) {
  const int64_t parts = l->is_complex ? 2 : 1, at = (i * n + i) * parts;
  const bool is_double = l->real_bytes == sizeof(double);
  for (int64_t k = 0; k < 2; ++k) {
    out_parts[k] = k >= parts  ? 0
                   : is_double ? ((const double *)matrix)[at + k]
                               : (double)((const float *)matrix)[at + k];
  }
}

// A pivot of 0 or NaN: not to be divided by.
static bool has_bad_pivot(const rheos__lapack *l, const void *lu, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    double parts[2];
    diagonal_at(l, lu, n, i, parts);
    if (!(fabs(parts[0]) + fabs(parts[1]) > 0)) return true;
  }
  return false;
}

// ---- MatrixInverse

enum { ADJOINT = 0, LOWER = 1 };  // flags

static rheos_status *inverse_one(const rheos__matrix_kernel *k, const void *const *inputs,
                                 void *const *outputs, char *scratch, int64_t unit) {
  const rheos__lapack *l = k->lapack;
  const int n = k->a.rows;
  int *pivots = rheos__carve(&scratch, n, sizeof *pivots);
  void *a = rheos__carve(&scratch, k->a.size, l->element_bytes);
  const bool adjoint = k->flags[ADJOINT];
  rheos__matrix_load(l, k->dtype, rheos__matrix_in(k, inputs[0], k->a.size, unit), a, n, n,
                     adjoint);
  if (adjoint) rheos__matrix_conjugate(l, a, k->a.size);
  l->lu(n, n, a, pivots);
  if (has_bad_pivot(l, a, n)) return RHEOS_INVALID("Input is not invertible.");
  l->lu_inverse(n, a, pivots, scratch, k->work_count);
  rheos__matrix_store(l, k->dtype, a, rheos__matrix_out(k, outputs[0], k->a.size, unit), n, n,
                      false);
  return NULL;
}

static rheos_status *prepare_inverse(rheos__prepare *p) {
  rheos__matrix_kernel *k;
  RHEOS_TRY(square_kernel(p, 1, &k));
  const double n = k->a.rows;
  k->one = inverse_one;
  k->flags[ADJOINT] = rheos__attr_bool(p->attrs, "adjoint");
  p->reuse_input = 0;
  if (k->a.size == 0) return rheos__answer_matrices(p, k, 0, 0);
  double none[2];
  k->work_count = (int)k->lapack->lu_inverse(k->a.rows, none, NULL, NULL, -1);
  const size_t bytes = k->lapack->element_bytes;
  p->scratch_bytes = rheos__carved_bytes(k->a.rows, sizeof(int)) +
                     rheos__carved_bytes(k->a.size, bytes) +
                     rheos__carved_bytes(k->work_count, bytes);
  return rheos__answer_matrices(p, k, k->a.count, 2 * n * n * n);
}

static void gradient_inverse(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output inverse = g->outputs[0], grad = rheos__grad_dense(g, 0);
  const bool adjoint = rheos__attr_bool(g->attrs, "adjoint");
  // a -> a^-1: -(a^-H grad a^-H); of the adjoint, the adjoint of that.
  const rheos_output right = rheos__matmul_adj(s, grad, adjoint, inverse, !adjoint);
  rheos__grad_set(g, 0, rheos__negated(s, rheos__matmul_adj(s, inverse, !adjoint, right, false)));
}

const rheos__op_def rheos__op_MatrixInverse = {
    .name = "MatrixInverse",
    .signature = "input: T -> output: T; adjoint: bool = false; T: " MATRIX_TYPES,
    .doc = "The inverses of the square matrices `input`, or of their adjoints.",
    .shape = rheos__shape_square,
    .gradient = gradient_inverse,
    .prepare = prepare_inverse,
};

const rheos__op_def rheos__op_BatchMatrixInverse = {
    .name = "BatchMatrixInverse",
    .signature = "input: T -> output: T; adjoint: bool = false; T: {double, float}",
    .doc = "The old name of MatrixInverse.",
    .shape = rheos__shape_square,
    .prepare = prepare_inverse,
};

// ---- MatrixDeterminant, LogMatrixDeterminant

// A determinant as mantissa (real, imaginary) * 2^exponent, so that no product overflows.
typedef struct determinant {
  double parts[2];
  int64_t exponent;
} determinant;

static void scale(determinant *d) {
  const double largest = fmax(fabs(d->parts[0]), fabs(d->parts[1]));
  if (!(largest > 0) || isinf(largest)) return;
  int exponent;
  frexp(largest, &exponent);
  for (int i = 0; i < 2; ++i) d->parts[i] = ldexp(d->parts[i], -exponent);
  d->exponent += exponent;
}

static determinant determinant_of(const rheos__matrix_kernel *k, const void *const *inputs,
                                  char *scratch, int64_t unit) {
  const rheos__lapack *l = k->lapack;
  const int n = k->a.rows;
  determinant d = {.parts = {1, 0}};
  if (n == 0) return d;
  int *pivots = rheos__carve(&scratch, n, sizeof *pivots);
  void *a = rheos__carve(&scratch, k->a.size, l->element_bytes);
  rheos__matrix_load(l, k->dtype, rheos__matrix_in(k, inputs[0], k->a.size, unit), a, n, n, true);
  l->lu(n, n, a, pivots);
  for (int i = 0; i < n; ++i) {
    double x[2];
    diagonal_at(l, a, n, i, x);
    if (pivots[i] != i + 1) x[0] = -x[0], x[1] = -x[1];
    if (l->is_complex) {
      const double real = d.parts[0] * x[0] - d.parts[1] * x[1];
      d.parts[1] = d.parts[0] * x[1] + d.parts[1] * x[0];
      d.parts[0] = real;
    } else {
      d.parts[0] *= x[0];
    }
    scale(&d);
  }
  return d;
}

static void store_number(const rheos__lapack *l, void *data, int64_t index, double real,
                         double imaginary) {
  const int64_t parts = l->is_complex ? 2 : 1;
  const double both[] = {real, imaginary};
  for (int64_t i = 0; i < parts; ++i) {
    if (l->real_bytes == sizeof(double)) {
      ((double *)data)[index * parts + i] = both[i];
    } else {
      ((float *)data)[index * parts + i] = (float)both[i];
    }
  }
}

static int clamped_exponent(int64_t exponent) {
  return exponent > 100000 ? 100000 : exponent < -100000 ? -100000 : (int)exponent;
}

static rheos_status *determinant_one(const rheos__matrix_kernel *k, const void *const *inputs,
                                     void *const *outputs, char *scratch, int64_t unit) {
  const determinant d = determinant_of(k, inputs, scratch, unit);
  const int exponent = clamped_exponent(d.exponent);
  store_number(k->lapack, outputs[0], unit, ldexp(d.parts[0], exponent),
               ldexp(d.parts[1], exponent));
  return NULL;
}

static rheos_status *log_determinant_one(const rheos__matrix_kernel *k, const void *const *inputs,
                                         void *const *outputs, char *scratch, int64_t unit) {
  const determinant d = determinant_of(k, inputs, scratch, unit);
  const double size = hypot(d.parts[0], d.parts[1]);
  const bool is_zero = size == 0;
  store_number(k->lapack, outputs[0], unit, is_zero ? d.parts[0] : d.parts[0] / size,
               is_zero ? d.parts[1] : d.parts[1] / size);
  store_number(k->lapack, outputs[1], unit, log(size) + (double)d.exponent * log(2.0), 0);
  return NULL;
}

static rheos_status *prepare_determinants(rheos__prepare *p) {
  rheos__matrix_kernel *k;
  if (p->input_dtypes[0] == RHEOS_HALF) return rheos__no_kernel(p, RHEOS_HALF);
  RHEOS_TRY(square_kernel(p, 1, &k));
  const double n = k->a.rows;
  k->one = p->num_outputs == 1 ? determinant_one : log_determinant_one;
  p->scratch_bytes = rheos__carved_bytes(k->a.rows, sizeof(int)) +
                     rheos__carved_bytes(k->a.size, k->lapack->element_bytes);
  return rheos__answer_matrices(p, k, k->a.count, n * n * n * 2 / 3);
}

static rheos_status *shape_determinant(rheos__infer *c) {
  rheos_shape shape;
  RHEOS_TRY(rheos__infer_square(c, 0, &shape));
  if (shape.rank >= 0) shape.rank -= 2;
  for (int32_t i = 0; i < c->num_outputs; ++i) c->output_shapes[i] = shape;
  return NULL;
}

// factor * a^-H for each matrix a.
static void set_determinant_gradient(rheos__grad *g, rheos_output factor) {
  rheos_scope *s = g->scope;
  const rheos_attr adjoint = rheos_attr_bool("adjoint", true);
  const rheos_output inverse =
      rheos__named_n(s, "MatrixInverse", NULL, &g->inputs[0], 1, &adjoint, 1);
  const rheos_output column = rheos__expand_dims(s, rheos__expand_dims(s, factor, -1), -1);
  rheos__grad_set(g, 0, rheos__py_mul(s, column, inverse));
}

static rheos_output conjugate_if_complex(rheos_scope *s, rheos_output x) {
  if (!rheos__is_some(x) || !rheos_dtype_is_complex(rheos_output_dtype(x))) return x;
  return rheos__op_1(s, "Conj", x);
}

static void gradient_determinant(rheos__grad *g) {
  const rheos_output d = conjugate_if_complex(g->scope, g->outputs[0]);
  set_determinant_gradient(g, rheos__py_mul(g->scope, rheos__grad_dense(g, 0), d));
}

// The sign does not vary, or for complex numbers is taken as if it did not.
static void gradient_log_determinant(rheos__grad *g) {
  set_determinant_gradient(g, rheos__grad_dense(g, 1));
}

const rheos__op_def rheos__op_MatrixDeterminant = {
    .name = "MatrixDeterminant",
    .signature = "input: T -> output: T; T: {half, float, double, complex64, complex128}",
    .doc = "The determinants of the square matrices `input`.",
    .shape = shape_determinant,
    .gradient = gradient_determinant,
    .prepare = prepare_determinants,
};

const rheos__op_def rheos__op_BatchMatrixDeterminant = {
    .name = "BatchMatrixDeterminant",
    .signature = "input: T -> output: T; T: {float, double, complex64, complex128}",
    .doc = "The old name of MatrixDeterminant.",
    .shape = shape_determinant,
    .prepare = prepare_determinants,
};

const rheos__op_def rheos__op_LogMatrixDeterminant = {
    .name = "LogMatrixDeterminant",
    .signature =
        "input: T -> sign: T, log_abs_determinant: T; "
        "T: {half, float, double, complex64, complex128}",
    .doc = "The signs and the logarithms of the absolute values of the determinants of `input`.",
    .shape = shape_determinant,
    .gradient = gradient_log_determinant,
    .prepare = prepare_determinants,
};

// ---- MatrixSolve

static rheos_status *shape_solve_with(rheos__infer *c, bool broadcasts) {
  rheos_shape a, b = c->input_shapes[1];
  RHEOS_TRY(rheos__infer_square(c, 0, &a));
  RHEOS_TRY(rheos__infer_rank_at_least(c, 1, 2));
  if (a.rank < 0 || b.rank < 0) return NULL;
  const int64_t rows = a.dims[a.rank - 2], own = b.dims[b.rank - 2];
  const int64_t columns = b.dims[b.rank - 1];
  if (rows >= 0 && own >= 0 && rows != own) {
    return RHEOS_INVALID(
        "Input matrix and rhs are incompatible: Dimensions must be equal, but are %lld and %lld",
        (long long)rows, (long long)own);
  }
  a.rank -= 2;
  b.rank -= 2;
  rheos_shape *out = &c->output_shapes[0];
  if (broadcasts) {
    RHEOS_TRY(rheos__shape_broadcast(&a, &b, out));
  } else if (a.rank != b.rank) {
    return RHEOS_INVALID("All input tensors must have the same rank.");
  } else {
    RHEOS_TRY(rheos__shape_merge(&a, &b, out));
  }
  RHEOS_TRY(rheos__shape_append(out, rows >= 0 ? rows : own));
  return rheos__shape_append(out, columns);
}

// Where one of the two is not known at all, the result has the other's dimensions but the last.
static rheos_status *shape_solve(rheos__infer *c) {
  RHEOS_TRY(shape_solve_with(c, false));
  if (c->output_shapes[0].rank >= 0) return NULL;
  rheos_shape square;
  RHEOS_TRY(rheos__infer_square(c, 0, &square));
  if (square.rank >= 0) {
    square.dims[square.rank - 1] = -1;
    c->output_shapes[0] = square;
  } else {
    c->output_shapes[0] = c->input_shapes[1];
  }
  return NULL;
}

static rheos_status *solve_one(const rheos__matrix_kernel *k, const void *const *inputs,
                               void *const *outputs, char *scratch, int64_t unit) {
  const rheos__lapack *l = k->lapack;
  const int n = k->a.rows, columns = k->b.columns;
  int *pivots = rheos__carve(&scratch, n, sizeof *pivots);
  void *a = rheos__carve(&scratch, k->a.size, l->element_bytes);
  void *b = rheos__carve(&scratch, k->b.size, l->element_bytes);
  rheos__matrix_load(l, k->dtype, rheos__matrix_in(k, inputs[0], k->a.size, unit), a, n, n, true);
  rheos__matrix_load(l, k->dtype, rheos__matrix_in(k, inputs[1], k->b.size, unit), b, n, columns,
                     true);
  l->lu(n, n, a, pivots);
  if (has_bad_pivot(l, a, n)) return RHEOS_INVALID("Input matrix is not invertible.");
  l->lu_solve(k->flags[ADJOINT], n, columns, a, pivots, b);
  rheos__matrix_store(l, k->dtype, b, rheos__matrix_out(k, outputs[0], k->b.size, unit), columns, n,
                      true);
  return NULL;
}

static rheos_status *prepare_solve(rheos__prepare *p) {
  rheos__matrix_kernel *k;
  if (p->input_dtypes[0] == RHEOS_HALF) return rheos__no_kernel(p, RHEOS_HALF);
  RHEOS_TRY(square_kernel(p, 2, &k));
  const double n = k->a.rows, columns = k->b.columns;
  const size_t bytes = k->lapack->element_bytes;
  k->one = solve_one;
  k->flags[ADJOINT] = rheos__attr_bool(p->attrs, "adjoint");
  p->scratch_bytes = rheos__carved_bytes(k->a.rows, sizeof(int)) +
                     rheos__carved_bytes(k->a.size, bytes) + rheos__carved_bytes(k->b.size, bytes);
  return rheos__answer_matrices(p, k, k->b.size == 0 ? 0 : k->a.count,
                                n * n * n * 2 / 3 + 2 * n * n * columns);
}

// c = a^-1 b, or of the adjoint of a: gradients of b, and of a as an outer product of that with c.
static rheos_output gradient_of_matrix(rheos__grad *g, rheos_output grad_b, bool adjoint) {
  rheos_scope *s = g->scope;
  const rheos_output c = g->outputs[0];
  return rheos__negated(s, adjoint ? rheos__matmul_adj(s, c, false, grad_b, true)
                                   : rheos__matmul_adj(s, grad_b, false, c, true));
}

static void gradient_solve(rheos__grad *g) {
  const bool adjoint = rheos__attr_bool(g->attrs, "adjoint");
  const rheos_output inputs[] = {g->inputs[0], rheos__grad_dense(g, 0)};
  const rheos_attr attr = rheos_attr_bool("adjoint", !adjoint);
  const rheos_output grad_b = rheos__named_n(g->scope, "MatrixSolve", NULL, inputs, 2, &attr, 1);
  rheos__grad_set(g, 0, gradient_of_matrix(g, grad_b, adjoint));
  rheos__grad_set(g, 1, grad_b);
}

const rheos__op_def rheos__op_MatrixSolve = {
    .name = "MatrixSolve",
    .signature = "matrix: T, rhs: T -> output: T; adjoint: bool = false; T: " MATRIX_TYPES,
    .doc = "The x with `matrix` x = `rhs`, for square matrices or their adjoints.",
    .shape = shape_solve,
    .gradient = gradient_solve,
    .prepare = prepare_solve,
};

const rheos__op_def rheos__op_BatchMatrixSolve = {
    .name = "BatchMatrixSolve",
    .signature = "matrix: T, rhs: T -> output: T; adjoint: bool = false; T: {double, float}",
    .doc = "The old name of MatrixSolve.",
    .shape = shape_solve,
    .prepare = prepare_solve,
};

// ---- MatrixTriangularSolve

static rheos_status *shape_triangular_solve(rheos__infer *c) { return shape_solve_with(c, true); }

static rheos_status *triangular_one(const rheos__matrix_kernel *k, const void *const *inputs,
                                    void *const *outputs, char *scratch, int64_t unit) {
  (void)scratch;
  const int64_t a = rheos__broadcast_index(&k->batches[0], &k->batches[2], unit);
  const int64_t b = rheos__broadcast_index(&k->batches[1], &k->batches[2], unit);
  void *out = rheos__matrix_out(k, outputs[0], k->b.size, unit);
  memcpy(out, rheos__matrix_in(k, inputs[1], k->b.size, b), (size_t)k->b.size * k->stored_bytes);
  k->lapack->triangular_solve(k->flags[LOWER], k->flags[ADJOINT], k->a.rows, k->b.columns,
                              rheos__matrix_in(k, inputs[0], k->a.size, a), out);
  return NULL;
}

static rheos_status *prepare_triangular_solve(rheos__prepare *p) {
  rheos__matrix_kernel *k;
  if (p->input_dtypes[0] == RHEOS_HALF) return rheos__no_kernel(p, RHEOS_HALF);
  RHEOS_TRY(square_kernel(p, 2, &k));
  k->one = triangular_one;
  k->flags[ADJOINT] = rheos__attr_bool(p->attrs, "adjoint");
  k->flags[LOWER] = rheos__attr_bool(p->attrs, "lower");
  k->batches[0] = p->input_shapes[0];
  k->batches[1] = p->input_shapes[1];
  k->batches[2] = p->output_shapes[0];
  for (int i = 0; i < 3; ++i) k->batches[i].rank -= 2;
  const int64_t count = rheos_shape_num_elements(&k->batches[2]);
  return rheos__answer_matrices(p, k, k->b.size == 0 ? 0 : count, (double)k->a.size * k->b.columns);
}

static void gradient_triangular_solve(rheos__grad *g) {
  const bool adjoint = rheos__attr_bool(g->attrs, "adjoint");
  const bool lower = rheos__attr_bool(g->attrs, "lower");
  const rheos_output grad_b = rheos__triangular_solve_node(
      g->scope, g->inputs[0], rheos__grad_dense(g, 0), lower, !adjoint);
  const rheos_output grad_a = gradient_of_matrix(g, grad_b, adjoint);
  rheos__grad_set(g, 0, rheos__band_part(g->scope, grad_a, lower ? -1 : 0, lower ? 0 : -1));
  rheos__grad_set(g, 1, grad_b);
  rheos__grad_sum_batches(g);
}

const rheos__op_def rheos__op_MatrixTriangularSolve = {
    .name = "MatrixTriangularSolve",
    .signature =
        "matrix: T, rhs: T -> output: T; lower: bool = true; adjoint: bool = false; "
        "T: {bfloat16, double, float, half, complex64, complex128}",
    .doc = "The x with `matrix` x = `rhs`, for triangular matrices or their adjoints.",
    .shape = shape_triangular_solve,
    .gradient = gradient_triangular_solve,
    .prepare = prepare_triangular_solve,
};

const rheos__op_def rheos__op_BatchMatrixTriangularSolve = {
    .name = "BatchMatrixTriangularSolve",
    .signature =
        "matrix: T, rhs: T -> output: T; lower: bool = true; adjoint: bool = false; "
        "T: {double, float}",
    .doc = "The old name of MatrixTriangularSolve.",
    .shape = shape_triangular_solve,
    .prepare = prepare_triangular_solve,
};

// ---- Lu

static rheos_status *shape_lu(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_square(c, 0, &c->output_shapes[0]));
  c->output_shapes[1] = c->output_shapes[0];
  if (c->output_shapes[1].rank >= 0) c->output_shapes[1].rank--;
  return NULL;
}

static rheos_status *lu_one(const rheos__matrix_kernel *k, const void *const *inputs,
                            void *const *outputs, char *scratch, int64_t unit) {
  const rheos__lapack *l = k->lapack;
  const int n = k->a.rows;
  const rheos_dtype index = k->flags[0] ? RHEOS_INT64 : RHEOS_INT32;
  int *pivots = rheos__carve(&scratch, n, sizeof *pivots);
  int *rows = rheos__carve(&scratch, n, sizeof *rows);
  void *a = rheos__carve(&scratch, k->a.size, l->element_bytes);
  rheos__matrix_load(l, k->dtype, rheos__matrix_in(k, inputs[0], k->a.size, unit), a, n, n, true);
  l->lu(n, n, a, pivots);
  if (has_bad_pivot(l, a, n)) return RHEOS_INVALID("Input is not invertible.");
  rheos__matrix_store(l, k->dtype, a, rheos__matrix_out(k, outputs[0], k->a.size, unit), n, n,
                      true);
  // Pivots are rows that were exchanged one after the other.
  for (int i = 0; i < n; ++i) rows[i] = i;
  for (int i = 0; i < n; ++i) {
    const int other = pivots[i] - 1, row = rows[i];
    rows[i] = rows[other];
    rows[other] = row;
  }
  for (int i = 0; i < n; ++i) rheos__set_int(index, outputs[1], unit * n + i, rows[i]);
  return NULL;
}

static rheos_status *prepare_lu(rheos__prepare *p) {
  rheos__matrix_kernel *k;
  if (p->input_dtypes[0] == RHEOS_HALF) return rheos__no_kernel(p, RHEOS_HALF);
  RHEOS_TRY(square_kernel(p, 1, &k));
  const double n = k->a.rows;
  k->one = lu_one;
  k->flags[0] = p->output_dtypes[1] == RHEOS_INT64;
  p->scratch_bytes = 2 * rheos__carved_bytes(k->a.rows, sizeof(int)) +
                     rheos__carved_bytes(k->a.size, k->lapack->element_bytes);
  return rheos__answer_matrices(p, k, k->a.size == 0 ? 0 : k->a.count, n * n * n * 2 / 3);
}

const rheos__op_def rheos__op_Lu = {
    .name = "Lu",
    .signature = "input: T -> lu: T, p: output_idx_type; T: " MATRIX_TYPES
                 "; output_idx_type: {int32, int64} = int32",
    .doc = "The factors l (below the diagonal, with ones on it) and u of the rows `p` of `input`.",
    .shape = shape_lu,
    .prepare = prepare_lu,
};
