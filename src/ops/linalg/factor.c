// Orthogonal factors: Qr, Svd, eigenvectors of self-adjoint matrices. LAPACK stores by columns, so
// that it sees the transpose of a row-major matrix: Svd lets it have that and exchanges u and v.
#include <math.h>
#include <string.h>

#include "base/numbers.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/linalg/factor_grad.h"
#include "ops/linalg/lapack.h"

#define FACTOR_TYPES "{double, float, half, complex64, complex128}"

static void set_real(const rheos__lapack *l, void *data, int64_t index, double value) {
  if (l->real_bytes == sizeof(double)) {
    ((double *)data)[index] = value;
  } else {
    ((float *)data)[index] = (float)value;
  }
}

// Real numbers as elements of the matrices' dtype.
static void store_reals(const rheos__lapack *l, const void *from, void *to, int64_t count) {
  const int64_t parts = l->is_complex ? 2 : 1;
  for (int64_t i = 0; i < count; ++i) {
    set_real(l, to, i * parts, rheos__lapack_real_at(l, from, i));
    if (l->is_complex) set_real(l, to, i * parts + 1, 0);
  }
}

static void fill_nan(const rheos__lapack *l, void *to, int64_t count) {
  const int64_t parts = l->is_complex ? 2 : 1;
  for (int64_t i = 0; i < count * parts; ++i) set_real(l, to, i, NAN);
}

// A square matrix with ones on its diagonal, in the dtype of the tensor.
static rheos_status *set_identity(const rheos__matrix_kernel *k, void *to, int64_t n) {
  memset(to, 0, (size_t)(n * n) * k->stored_bytes);
  for (int64_t i = 0; i < n; ++i) {
    char *at = (char *)to + (size_t)(i * n + i) * k->stored_bytes;
    if (k->dtype == RHEOS_HALF) {
      *(uint16_t *)(void *)at = rheos__float_to_half(1);
    } else {
      set_real(k->lapack, at, 0, 1);
    }
  }
  return NULL;
}

// A work space that was asked for as a floating-point number: rounded up.
static int rounded_up(int64_t count) {
  const int64_t enough = count + count / 1000000 + 1;
  return enough < INT32_MAX ? (int)enough : INT32_MAX;
}

// The dimensions before the last two, and two more.
static rheos_status *matrix_shape(const rheos_shape *in, int64_t rows, int64_t columns,
                                  rheos_shape *out) {
  *out = *in;
  out->dims[in->rank - 2] = rows;
  out->dims[in->rank - 1] = columns;
  return NULL;
}

static int64_t smaller_dim(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return 0;
  return a < 0 || b < 0 ? -1 : a < b ? a : b;
}

// ---- Qr

enum { FULL = 0, VECTORS = 1 };  // flags

static rheos_status *shape_qr(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 2));
  if (in->rank < 0) return NULL;
  const int64_t m = in->dims[in->rank - 2], n = in->dims[in->rank - 1];
  const int64_t inner = rheos__attr_bool(c->attrs, "full_matrices") ? m : smaller_dim(m, n);
  RHEOS_TRY(matrix_shape(in, m, inner, &c->output_shapes[0]));
  return matrix_shape(in, inner, n, &c->output_shapes[1]);
}

static rheos_status *qr_one(const rheos__matrix_kernel *k, const void *const *inputs,
                            void *const *outputs, char *scratch, int64_t unit) {
  const rheos__lapack *l = k->lapack;
  const int m = k->a.rows, n = k->a.columns, steps = rheos__min(m, n);
  const int inner = k->flags[FULL] ? m : steps;
  void *q = rheos__matrix_out(k, outputs[0], (int64_t)m * inner, unit);
  if (steps == 0) return inner == 0 ? NULL : set_identity(k, q, m);
  const size_t bytes = l->element_bytes;
  char *a = rheos__carve(&scratch, (int64_t)m * rheos__max(n, inner), bytes);
  char *r = rheos__carve(&scratch, (int64_t)inner * n, bytes);
  void *tau = rheos__carve(&scratch, steps, bytes);
  rheos__matrix_load(l, k->dtype, rheos__matrix_in(k, inputs[0], k->a.size, unit), a, m, n, true);
  l->qr(m, n, a, tau, scratch, k->work_count);
  memset(r, 0, (size_t)inner * (size_t)n * bytes);
  for (int64_t i = 0; i < steps; ++i) {
    for (int64_t j = i; j < n; ++j)
      memcpy(r + (i * n + j) * (int64_t)bytes, a + (j * m + i) * (int64_t)bytes, bytes);
  }
  l->qr_q(m, inner, steps, a, tau, scratch, k->work_count);
  rheos__matrix_store(l, k->dtype, a, q, inner, m, true);
  rheos__matrix_store(l, k->dtype, r, rheos__matrix_out(k, outputs[1], (int64_t)inner * n, unit),
                      inner, n, false);
  return NULL;
}

static rheos_status *prepare_qr(rheos__prepare *p) {
  rheos__matrix_kernel *k;
  RHEOS_TRY(rheos__matrix_kernel_new(p, 1, &k));
  const int m = k->a.rows, n = k->a.columns, steps = rheos__min(m, n);
  k->one = qr_one;
  k->flags[FULL] = rheos__attr_bool(p->attrs, "full_matrices");
  const int inner = k->flags[FULL] ? m : steps;
  if (steps > 0) {
    double none[2];
    const int64_t first = k->lapack->qr(m, n, none, none, NULL, -1);
    const int64_t second = k->lapack->qr_q(m, inner, steps, none, none, NULL, -1);
    k->work_count = rounded_up(first > second ? first : second);
    const size_t bytes = k->lapack->element_bytes;
    p->scratch_bytes = rheos__carved_bytes((int64_t)m * rheos__max(n, inner), bytes) +
                       rheos__carved_bytes((int64_t)inner * n, bytes) +
                       rheos__carved_bytes(steps, bytes) +
                       rheos__carved_bytes(k->work_count, bytes);
  }
  return rheos__answer_matrices(p, k, m == 0 ? 0 : k->a.count, 4.0 * m * n * steps);
}

const rheos__op_def rheos__op_Qr = {
    .name = "Qr",
    .signature = "input: T -> q: T, r: T; full_matrices: bool = false; T: " FACTOR_TYPES,
    .doc = "Orthonormal columns `q` and upper triangular `r` with `q` `r` = `input`.",
    .flags = RHEOS_OP_GRADIENT_OF_SHAPES,
    .shape = shape_qr,
    .gradient = rheos__gradient_qr,
    .prepare = prepare_qr,
};

// ---- Svd

static rheos_status *shape_svd(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 2));
  const bool vectors = rheos__attr_bool(c->attrs, "compute_uv");
  const bool full = rheos__attr_bool(c->attrs, "full_matrices");
  if (!vectors) c->output_shapes[1] = c->output_shapes[2] = RHEOS_SHAPE(0);
  if (in->rank < 0) return NULL;
  const int64_t m = in->dims[in->rank - 2], n = in->dims[in->rank - 1];
  const int64_t inner = smaller_dim(m, n);
  c->output_shapes[0] = *in;
  c->output_shapes[0].dims[--c->output_shapes[0].rank - 1] = inner;
  if (!vectors) return NULL;
  RHEOS_TRY(matrix_shape(in, m, full ? m : inner, &c->output_shapes[1]));
  return matrix_shape(in, n, full ? n : inner, &c->output_shapes[2]);
}

// LAPACK is given the transpose: its first factor is the conjugate of v by columns, its second u by
// rows.
static rheos_status *svd_one(const rheos__matrix_kernel *k, const void *const *inputs,
                             void *const *outputs, char *scratch, int64_t unit) {
  const rheos__lapack *l = k->lapack;
  const int m = k->a.rows, n = k->a.columns, inner = rheos__min(m, n);
  const bool vectors = k->flags[VECTORS];
  const int of_u = k->flags[FULL] ? m : inner, of_v = k->flags[FULL] ? n : inner;
  void *s = rheos__matrix_out(k, outputs[0], inner, unit);
  void *u = vectors ? rheos__matrix_out(k, outputs[1], (int64_t)m * of_u, unit) : NULL;
  void *v = vectors ? rheos__matrix_out(k, outputs[2], (int64_t)n * of_v, unit) : NULL;
  if (inner == 0) {
    if (vectors && of_u > 0) RHEOS_TRY(set_identity(k, u, m));
    if (vectors && of_v > 0) RHEOS_TRY(set_identity(k, v, n));
    return NULL;
  }
  void *a = rheos__carve(&scratch, k->a.size, l->element_bytes);
  void *values = rheos__carve(&scratch, inner, l->real_bytes);
  void *v_columns = rheos__carve(&scratch, vectors ? (int64_t)n * of_v : 1, l->element_bytes);
  void *real_work = rheos__carve(&scratch, k->counts[1], l->real_bytes);
  int *int_work = rheos__carve(&scratch, 8 * (int64_t)inner, sizeof *int_work);
  memcpy(a, rheos__matrix_in(k, inputs[0], k->a.size, unit), (size_t)k->a.size * l->element_bytes);
  const char job = !vectors ? 'N' : k->flags[FULL] ? 'A' : 'S';
  const bool ok = rheos__lapack_is_finite(l, a, k->a.size) &&
                  l->svd(job, n, m, a, values, v_columns, n, vectors ? u : a, vectors ? of_u : 1,
                         scratch, k->work_count, real_work, int_work) == 0;
  if (!ok) {
    fill_nan(l, s, inner);
    if (vectors) fill_nan(l, u, (int64_t)m * of_u);
    if (vectors) fill_nan(l, v, (int64_t)n * of_v);
    return NULL;
  }
  store_reals(l, values, s, inner);
  if (vectors) {
    rheos__matrix_store(l, k->dtype, v_columns, v, of_v, n, true);
    rheos__matrix_conjugate(l, v, (int64_t)n * of_v);
  }
  return NULL;
}

static rheos_status *prepare_svd(rheos__prepare *p) {
  rheos__matrix_kernel *k;
  if (p->input_dtypes[0] == RHEOS_HALF) return rheos__no_kernel(p, RHEOS_HALF);
  RHEOS_TRY(rheos__matrix_kernel_new(p, 1, &k));
  const int m = k->a.rows, n = k->a.columns;
  const int64_t inner = rheos__min(m, n), outer = rheos__max(m, n);
  k->one = svd_one;
  k->flags[FULL] = rheos__attr_bool(p->attrs, "full_matrices");
  k->flags[VECTORS] = rheos__attr_bool(p->attrs, "compute_uv");
  const bool vectors = k->flags[VECTORS];
  const int of_u = k->flags[FULL] ? m : (int)inner, of_v = k->flags[FULL] ? n : (int)inner;
  if (inner > 0) {
    double none[2];
    int no_ints[1];
    const char job = !vectors ? 'N' : k->flags[FULL] ? 'A' : 'S';
    k->work_count = rounded_up(k->lapack->svd(job, n, m, none, none, none, n, none,
                                              vectors ? of_u : 1, NULL, -1, none, no_ints));
    // As LAPACK's description of rwork says.
    const int64_t square = 5 * inner * inner + 5 * inner;
    const int64_t oblong = 2 * outer * inner + 2 * inner * inner + inner;
    k->counts[1] = !k->lapack->is_complex ? 1
                   : !vectors             ? 7 * inner
                                          : (square > oblong ? square : oblong);
    const size_t bytes = k->lapack->element_bytes;
    p->scratch_bytes =
        rheos__carved_bytes(k->a.size, bytes) + rheos__carved_bytes(inner, k->lapack->real_bytes) +
        rheos__carved_bytes(vectors ? (int64_t)n * of_v : 1, bytes) +
        rheos__carved_bytes(k->counts[1], k->lapack->real_bytes) +
        rheos__carved_bytes(8 * inner, sizeof(int)) + rheos__carved_bytes(k->work_count, bytes);
  }
  return rheos__answer_matrices(p, k, outer == 0 ? 0 : k->a.count,
                                10.0 * (double)(inner * inner) * (double)outer);
}

const rheos__op_def rheos__op_Svd = {
    .name = "Svd",
    .signature =
        "input: T -> s: T, u: T, v: T; compute_uv: bool = true; "
        "full_matrices: bool = false; T: " FACTOR_TYPES,
    .doc = "Singular values `s`, falling, and vectors with `u` diag(`s`) `v`^H = `input`.",
    .flags = RHEOS_OP_GRADIENT_OF_SHAPES,
    .shape = shape_svd,
    .gradient = rheos__gradient_svd,
    .prepare = prepare_svd,
};

const rheos__op_def rheos__op_BatchSvd = {
    .name = "BatchSvd",
    .signature =
        "input: T -> s: T, u: T, v: T; compute_uv: bool = true; "
        "full_matrices: bool = false; T: {double, float, complex64, complex128}",
    .doc = "The old name of Svd.",
    .shape = shape_svd,
    .prepare = prepare_svd,
};

// ---- SelfAdjointEigV2

static rheos_status *shape_eigh(rheos__infer *c) {
  const bool vectors = rheos__attr_bool(c->attrs, "compute_v");
  rheos_shape shape;
  RHEOS_TRY(rheos__infer_square(c, 0, &shape));
  c->output_shapes[1] = vectors ? shape : RHEOS_SHAPE(0);
  if (shape.rank >= 0) shape.rank--;
  c->output_shapes[0] = shape;
  return NULL;
}

static bool lower_is_finite(const rheos__lapack *l, const void *a, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (!rheos__lapack_is_finite(l, (const char *)a + (size_t)(i * n) * l->element_bytes, i + 1))
      return false;
  }
  return true;
}

// Eigenvalues of matrix number `unit` to `e`, vectors by rows to `v` unless that is NULL.
static rheos_status *eigh(const rheos__matrix_kernel *k, const void *const *inputs, void *e,
                          void *v, char *scratch, int64_t unit) {
  const rheos__lapack *l = k->lapack;
  const int n = k->a.rows;
  void *a = rheos__carve(&scratch, k->a.size, l->element_bytes);
  void *values = rheos__carve(&scratch, n, l->real_bytes);
  void *work = rheos__carve(&scratch, k->counts[0], l->element_bytes);
  void *real_work = rheos__carve(&scratch, k->counts[1], l->real_bytes);
  int64_t counts[3] = {k->counts[0], k->counts[1], k->counts[2]};
  memcpy(a, rheos__matrix_in(k, inputs[0], k->a.size, unit), (size_t)k->a.size * l->element_bytes);
  if (!lower_is_finite(l, a, n) ||
      l->eigh(v == NULL, n, a, values, work, real_work, (int *)(void *)scratch, counts) != 0) {
    return RHEOS_INVALID(
        "Self-adjoint eigen decomposition was not successful. The input might "
        "not be valid.");
  }
  store_reals(l, values, e, n);
  if (v == NULL) return NULL;
  rheos__matrix_store(l, k->dtype, a, v, n, n, true);
  rheos__matrix_conjugate(l, v, k->a.size);
  return NULL;
}

static rheos_status *eigh_one(const rheos__matrix_kernel *k, const void *const *inputs,
                              void *const *outputs, char *scratch, int64_t unit) {
  void *v = k->flags[VECTORS] ? rheos__matrix_out(k, outputs[1], k->a.size, unit) : NULL;
  return eigh(k, inputs, rheos__matrix_out(k, outputs[0], k->a.rows, unit), v, scratch, unit);
}

// Both in one matrix: the values are its first row.
static rheos_status *joined_eigh_one(const rheos__matrix_kernel *k, const void *const *inputs,
                                     void *const *outputs, char *scratch, int64_t unit) {
  char *out = rheos__matrix_out(k, outputs[0], k->a.size + k->a.rows, unit);
  return eigh(k, inputs, out, out + (size_t)k->a.rows * k->stored_bytes, scratch, unit);
}

static rheos_status *prepare_eigh(rheos__prepare *p) {
  rheos__matrix_kernel *k;
  if (p->input_dtypes[0] == RHEOS_HALF) return rheos__no_kernel(p, RHEOS_HALF);
  RHEOS_TRY(rheos__matrix_kernel_new(p, 1, &k));
  const int n = k->a.rows;
  if (n != k->a.columns) return RHEOS_INVALID("Input matrix must be square.");
  const bool joined = p->num_outputs == 1;
  k->flags[VECTORS] = joined || rheos__attr_bool(p->attrs, "compute_v");
  k->one = joined ? joined_eigh_one : eigh_one;
  if (n == 0) return rheos__answer_matrices(p, k, 0, 0);
  double none[2];
  k->lapack->eigh(!k->flags[VECTORS], n, none, none, NULL, NULL, NULL, k->counts);
  for (int i = 0; i < 3; ++i) k->counts[i] = rounded_up(k->counts[i]);
  p->scratch_bytes = rheos__carved_bytes(k->a.size, k->lapack->element_bytes) +
                     rheos__carved_bytes(n, k->lapack->real_bytes) +
                     rheos__carved_bytes(k->counts[0], k->lapack->element_bytes) +
                     rheos__carved_bytes(k->counts[1], k->lapack->real_bytes) +
                     rheos__carved_bytes(k->counts[2], sizeof(int));
  return rheos__answer_matrices(p, k, k->a.count, 9.0 * n * n * n);
}

const rheos__op_def rheos__op_SelfAdjointEigV2 = {
    .name = "SelfAdjointEigV2",
    .signature = "input: T -> e: T, v: T; compute_v: bool = true; T: " FACTOR_TYPES,
    .doc = "Eigenvalues `e`, rising, and vectors of self-adjoint matrices, by their lower halves.",
    .shape = shape_eigh,
    .gradient = rheos__gradient_eigh,
    .prepare = prepare_eigh,
};

const rheos__op_def rheos__op_BatchSelfAdjointEigV2 = {
    .name = "BatchSelfAdjointEigV2",
    .signature = "input: T -> e: T, v: T; compute_v: bool = true; T: {double, float}",
    .doc = "The old name of SelfAdjointEigV2.",
    .shape = shape_eigh,
    .prepare = prepare_eigh,
};

static rheos_status *shape_joined_eigh(rheos__infer *c) {
  rheos_shape *out = &c->output_shapes[0];
  RHEOS_TRY(rheos__infer_square(c, 0, out));
  if (out->rank < 0) return NULL;
  return rheos__dim_add(out->dims[out->rank - 2], 1, &out->dims[out->rank - 2]);
}

const rheos__op_def rheos__op_SelfAdjointEig = {
    .name = "SelfAdjointEig",
    .signature = "input: T -> output: T; T: {double, float, half}",
    .doc = "Eigenvalues (the first row) and vectors (the others) of self-adjoint matrices.",
    .shape = shape_joined_eigh,
    .prepare = prepare_eigh,
};

const rheos__op_def rheos__op_BatchSelfAdjointEig = {
    .name = "BatchSelfAdjointEig",
    .signature = "input: T -> output: T; T: {double, float}",
    .doc = "The old name of SelfAdjointEig.",
    .shape = shape_joined_eigh,
    .prepare = prepare_eigh,
};
