// LAPACK and BLAS as the families of linear algebra use them: one table of functions a dtype, so
// that kernels are written once. Matrices are stored by columns, as LAPACK wants them: a row-major
// matrix is its own transpose. Dimensions are at least 1.
//
// The library (OpenBLAS) would spread a call over threads of its own: calls are made between
// rheos__lapack_begin() and rheos__lapack_end(), which keep it to the calling thread.
//
// A build without it (RHEOS_WITH_LAPACK=OFF) has lapack_left_out.c in place of lapack.c.
#ifndef RHEOS_SRC_OPS_LINALG_LAPACK_H
#define RHEOS_SRC_OPS_LINALG_LAPACK_H

#include "graph/op_def.h"

void rheos__lapack_begin(void);
void rheos__lapack_end(void);

// Whether the library may be called: it was not left out, and has kernels for this processor.
bool rheos__lapack_is_there(void);
// A status that names the op where it may not: asked before any function of a table but `product`
// of float32.
rheos_status *rheos__lapack_missing(const char *op);

// Functions return LAPACK's `info`: 0, or how it failed. `work` holds `work_count` elements, whose
// best number is the answer when `work` is NULL.
typedef struct rheos__lapack {
  size_t element_bytes, real_bytes;
  rheos_dtype dtype;
  bool is_complex;
  // a = u^H u, u in the upper triangle.
  int (*cholesky)(int n, void *a);
  // p a = l u, in place.
  int (*lu)(int m, int n, void *a, int *pivots);
  int (*lu_solve)(bool adjoint, int n, int nrhs, const void *lu, const int *pivots, void *b);
  int64_t (*lu_inverse)(int n, void *lu, const int *pivots, void *work, int work_count);
  // b = op(a)^-1 b, of row-major matrices: a (n,n) triangular, b (n,k).
  void (*triangular_solve)(bool lower, bool adjoint, int n, int k, const void *a, void *b);
  // c = a b (m,n), of row-major matrices, either operand adjoint: a is (m,k), b (k,n) after that.
  void (*product)(bool adjoint_a, bool adjoint_b, int m, int n, int k, const void *a, const void *b,
                  void *c);
  // Householder vectors and r (upper), then the first k columns of q.
  int64_t (*qr)(int m, int n, void *a, void *tau, void *work, int work_count);
  int64_t (*qr_q)(int m, int n, int k, void *a, const void *tau, void *work, int work_count);
  // a = u diag(s) vt. job: 'A' all of u and vt, 'S' the first min(m,n), 'N' neither.
  int64_t (*svd)(char job, int m, int n, void *a, void *s, void *u, int ldu, void *vt, int ldvt,
                 void *work, int work_count, void *real_work, int *int_work);
  // Eigenvalues, rising, and vectors (unless only `values`) in place of a, whose upper triangle
  // is read. The three counts of work are answered in `counts` when `work` is NULL.
  int (*eigh)(bool values, int n, void *a, void *w, void *work, void *real_work, int *int_work,
              int64_t *counts);
  // Eigenvalues of any matrix to `w`, its vectors, of length 1, to `v` unless that is NULL; of
  // complex numbers alone. `real_work` has 2 n elements. With `work` NULL the best count of it.
  int64_t (*eig)(int n, void *a, void *w, void *v, void *work, int64_t work_count, void *real_work);
} rheos__lapack;

// a = vs t vs^H of complex numbers of double precision, t upper triangular in place of a, its
// diagonal also in `w`. `real_work` has n elements. With `work` NULL the best count of it.
int64_t rheos__schur(int n, void *a, void *w, void *vs, void *work, int64_t work_count,
                     double *real_work);

// NULL if there is none for the dtype. half is computed in float.
const rheos__lapack *rheos__lapack_of(rheos_dtype dtype);
// As rheos__lapack_of(), without the library: float32 alone, and of it `product`.
const rheos__lapack *rheos__lapack_plain(rheos_dtype dtype);

// The largest dimension that work spaces of all functions can be counted for. It also bounds how
// late a step sees its deadline: between matrices, of which one of n rows takes up to n^3 / 2
// nanoseconds.
enum { RHEOS__LAPACK_MAX = 16384 };

// ---- Batches of matrices, the last two dimensions of an operand

typedef struct rheos__matrices {
  int64_t count;
  int rows, columns;
  int64_t size;  // rows * columns
} rheos__matrices;

// A status if the rank is below 2 or a dimension above RHEOS__LAPACK_MAX.
rheos_status *rheos__matrices_of(const rheos_shape *shape, rheos__matrices *out_matrices);

// to = from (rows, columns), or its transpose, between the dtype of a tensor (half) and that of the
// table (float) in either direction.
void rheos__matrix_load(const rheos__lapack *l, rheos_dtype dtype, const void *from, void *to,
                        int64_t rows, int64_t columns, bool transpose);
void rheos__matrix_store(const rheos__lapack *l, rheos_dtype dtype, const void *from, void *to,
                         int64_t rows, int64_t columns, bool transpose);
void rheos__matrix_conjugate(const rheos__lapack *l, void *matrix, int64_t count);

// ---- Kernels that do the same to every matrix of a batch

typedef struct rheos__matrix_kernel rheos__matrix_kernel;
struct rheos__matrix_kernel {
  const rheos__lapack *lapack;
  rheos_dtype dtype;     // of the tensors
  size_t stored_bytes;   // of one element of them
  rheos__matrices a, b;  // of inputs 0 and 1
  bool flags[2];         // the op's own
  int work_count;
  int64_t counts[3];  // of eigh's work
  int64_t num_units;
  rheos_shape batches[3];  // of inputs 0 and 1 and the output, where they broadcast
  // Does matrix number `unit`.
  rheos_status *(*one)(const rheos__matrix_kernel *k, const void *const *inputs,
                       void *const *outputs, char *scratch, int64_t unit);
};

// A state for inputs that are batches of matrices (the first `num_matrices` of them); a status if
// LAPACK has no functions for the dtype of input 0, or the shapes are no matrices.
rheos_status *rheos__matrix_kernel_new(rheos__prepare *p, int num_matrices,
                                       rheos__matrix_kernel **out_kernel);
// Answers with a run over `count` matrices, `flops` each.
rheos_status *rheos__answer_matrices(rheos__prepare *p, rheos__matrix_kernel *k, int64_t count,
                                     double flops);

// The next `count` elements of scratch memory, and the bytes they take of it.
static inline size_t rheos__carved_bytes(int64_t count, size_t element_bytes) {
  return ((size_t)count * element_bytes + 63) / 64 * 64;
}
static inline void *rheos__carve(char **scratch, int64_t count, size_t element_bytes) {
  void *memory = *scratch;
  *scratch += rheos__carved_bytes(count, element_bytes);
  return memory;
}
// Matrix number `unit` of an input or output of `size` elements a matrix.
static inline const void *rheos__matrix_in(const rheos__matrix_kernel *k, const void *data,
                                           int64_t size, int64_t unit) {
  return (const char *)data + (size_t)(unit * size) * k->stored_bytes;
}
static inline void *rheos__matrix_out(const rheos__matrix_kernel *k, void *data, int64_t size,
                                      int64_t unit) {
  return (char *)data + (size_t)(unit * size) * k->stored_bytes;
}

// ---- Shape functions

// The last two dimensions of the input as one dimension: a status if they are known not to be
// equal.
rheos_status *rheos__infer_square(const rheos__infer *c, int32_t input, rheos_shape *out_shape);
rheos_status *rheos__shape_square(rheos__infer *c);  // output 0 like input 0, square matrices

// Element `index` of real numbers as precise as those of `l`.
static inline double rheos__lapack_real_at(const rheos__lapack *l, const void *data,
                                           int64_t index) {
  return l->real_bytes == sizeof(double) ? ((const double *)data)[index]
                                         : (double)((const float *)data)[index];
}
// Whether no element of so many is infinite or NaN.
bool rheos__lapack_is_finite(const rheos__lapack *l, const void *data, int64_t count);

#endif  // RHEOS_SRC_OPS_LINALG_LAPACK_H
