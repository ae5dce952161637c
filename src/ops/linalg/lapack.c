// The tables of LAPACK functions. The `_work` forms of LAPACKE allocate nothing for matrices stored
// by columns.
#include "ops/linalg/lapack.h"

#include <cblas.h>
#include <complex.h>
#include <lapacke.h>
#include <pthread.h>

// OpenBLAS keeps one number of threads for the process. It is set to one while any call of ours
// runs, and put back by the last.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int num_running, threads_before;

void rheos__lapack_begin(void) {
  pthread_mutex_lock(&mutex);
  if (num_running++ == 0) {
    threads_before = openblas_get_num_threads();
    if (threads_before != 1) openblas_set_num_threads(1);
  }
  pthread_mutex_unlock(&mutex);
}

void rheos__lapack_end(void) {
  pthread_mutex_lock(&mutex);
  if (--num_running == 0 && threads_before != 1) openblas_set_num_threads(threads_before);
  pthread_mutex_unlock(&mutex);
}

int64_t rheos__schur(int n, void *a, void *w, void *vs, void *work, int64_t work_count,
                     double *real_work) {
  lapack_complex_double best = 0;
  lapack_int found = 0;
  const int size = n > 0 ? n : 1;
  const int info =
      LAPACKE_zgees_work(LAPACK_COL_MAJOR, 'V', 'N', NULL, n, (lapack_complex_double *)a, size,
                         &found, (lapack_complex_double *)w, (lapack_complex_double *)vs, size,
                         work == NULL ? &best : (lapack_complex_double *)work,
                         work == NULL ? -1 : (int)work_count, real_work, NULL);
  return work == NULL ? (int64_t)creal(best) : info;
}

// ---- What the four dtypes share: p is LAPACK's letter, S the element, L LAPACK's name for it
#define SHARED_FUNCTIONS(p, S, L, ADJOINT)                                                    \
  static int cholesky_##p(int n, void *a) {                                                   \
    return LAPACKE_##p##potrf_work(LAPACK_COL_MAJOR, 'U', n, (L *)a, n);                      \
  }                                                                                           \
  static int lu_##p(int m, int n, void *a, int *pivots) {                                     \
    return LAPACKE_##p##getrf_work(LAPACK_COL_MAJOR, m, n, (L *)a, m, pivots);                \
  }                                                                                           \
  static int lu_solve_##p(bool adjoint, int n, int nrhs, const void *lu, const int *pivots,   \
                          void *b) {                                                          \
    return LAPACKE_##p##getrs_work(LAPACK_COL_MAJOR, adjoint ? ADJOINT : 'N', n, nrhs,        \
                                   (const L *)lu, n, pivots, (L *)b, n);                      \
  }                                                                                           \
  static int64_t lu_inverse_##p(int n, void *lu, const int *pivots, void *work, int count) {  \
    L best;                                                                                   \
    const int info =                                                                          \
        LAPACKE_##p##getri_work(LAPACK_COL_MAJOR, n, (L *)lu, n, pivots,                      \
                                work == NULL ? &best : (L *)work, work == NULL ? -1 : count); \
    return work == NULL ? (int64_t)creal(best) : info;                                        \
  }                                                                                           \
  static int64_t qr_##p(int m, int n, void *a, void *tau, void *work, int count) {            \
    L best;                                                                                   \
    const int info =                                                                          \
        LAPACKE_##p##geqrf_work(LAPACK_COL_MAJOR, m, n, (L *)a, m, (L *)tau,                  \
                                work == NULL ? &best : (L *)work, work == NULL ? -1 : count); \
    return work == NULL ? (int64_t)creal(best) : info;                                        \
  }

SHARED_FUNCTIONS(s, float, float, 'T')
SHARED_FUNCTIONS(d, double, double, 'T')
SHARED_FUNCTIONS(c, float complex, lapack_complex_float, 'C')
SHARED_FUNCTIONS(z, double complex, lapack_complex_double, 'C')

// ---- Where LAPACK has other names or arguments for complex numbers
#define REAL_FUNCTIONS(p, L)                                                                       \
  static int64_t qr_q_##p(int m, int n, int k, void *a, const void *tau, void *work, int count) {  \
    L best;                                                                                        \
    const int info =                                                                               \
        LAPACKE_##p##orgqr_work(LAPACK_COL_MAJOR, m, n, k, (L *)a, m, (const L *)tau,              \
                                work == NULL ? &best : (L *)work, work == NULL ? -1 : count);      \
    return work == NULL ? (int64_t)best : info;                                                    \
  }                                                                                                \
  static int64_t svd_##p(char job, int m, int n, void *a, void *s, void *u, int ldu, void *vt,     \
                         int ldvt, void *work, int count, void *real_work, int *int_work) {        \
    (void)real_work;                                                                               \
    L best;                                                                                        \
    const int info = LAPACKE_##p##gesdd_work(                                                      \
        LAPACK_COL_MAJOR, job, m, n, (L *)a, m, (L *)s, (L *)u, ldu, (L *)vt, ldvt,                \
        work == NULL ? &best : (L *)work, work == NULL ? -1 : count, int_work);                    \
    return work == NULL ? (int64_t)best : info;                                                    \
  }                                                                                                \
  static int eigh_##p(bool values, int n, void *a, void *w, void *work, void *real_work,           \
                      int *int_work, int64_t *counts) {                                            \
    (void)real_work;                                                                               \
    if (work != NULL) {                                                                            \
      return LAPACKE_##p##syevd_work(LAPACK_COL_MAJOR, values ? 'N' : 'V', 'U', n, (L *)a, n,      \
                                     (L *)w, (L *)work, (int)counts[0], int_work, (int)counts[2]); \
    }                                                                                              \
    L best = 0;                                                                                    \
    lapack_int best_int = 0;                                                                       \
    const int info = LAPACKE_##p##syevd_work(LAPACK_COL_MAJOR, values ? 'N' : 'V', 'U', n, (L *)a, \
                                             n, (L *)w, &best, -1, &best_int, -1);                 \
    counts[0] = (int64_t)best;                                                                     \
    counts[1] = 0;                                                                                 \
    counts[2] = best_int;                                                                          \
    return info;                                                                                   \
  }                                                                                                \
  static void triangular_solve_##p(bool lower, bool adjoint, int n, int k, const void *a,          \
                                   void *b) {                                                      \
    cblas_##p##trsm(CblasRowMajor, CblasLeft, lower ? CblasLower : CblasUpper,                     \
                    adjoint ? CblasTrans : CblasNoTrans, CblasNonUnit, n, k, 1, (const L *)a, n,   \
                    (L *)b, k);                                                                    \
  }                                                                                                \
  static void product_##p(bool adjoint_a, bool adjoint_b, int m, int n, int k, const void *a,      \
                          const void *b, void *c) {                                                \
    cblas_##p##gemm(CblasRowMajor, adjoint_a ? CblasTrans : CblasNoTrans,                          \
                    adjoint_b ? CblasTrans : CblasNoTrans, m, n, k, 1, (const L *)a,               \
                    adjoint_a ? m : k, (const L *)b, adjoint_b ? k : n, 0, (L *)c, n);             \
  }

REAL_FUNCTIONS(s, float)
REAL_FUNCTIONS(d, double)

#define COMPLEX_FUNCTIONS(p, L, R)                                                                 \
  static int64_t qr_q_##p(int m, int n, int k, void *a, const void *tau, void *work, int count) {  \
    L best;                                                                                        \
    const int info =                                                                               \
        LAPACKE_##p##ungqr_work(LAPACK_COL_MAJOR, m, n, k, (L *)a, m, (const L *)tau,              \
                                work == NULL ? &best : (L *)work, work == NULL ? -1 : count);      \
    return work == NULL ? (int64_t)creal(best) : info;                                             \
  }                                                                                                \
  static int64_t svd_##p(char job, int m, int n, void *a, void *s, void *u, int ldu, void *vt,     \
                         int ldvt, void *work, int count, void *real_work, int *int_work) {        \
    L best;                                                                                        \
    const int info = LAPACKE_##p##gesdd_work(                                                      \
        LAPACK_COL_MAJOR, job, m, n, (L *)a, m, (R *)s, (L *)u, ldu, (L *)vt, ldvt,                \
        work == NULL ? &best : (L *)work, work == NULL ? -1 : count, (R *)real_work, int_work);    \
    return work == NULL ? (int64_t)creal(best) : info;                                             \
  }                                                                                                \
  static int eigh_##p(bool values, int n, void *a, void *w, void *work, void *real_work,           \
                      int *int_work, int64_t *counts) {                                            \
    if (work != NULL) {                                                                            \
      return LAPACKE_##p##heevd_work(LAPACK_COL_MAJOR, values ? 'N' : 'V', 'U', n, (L *)a, n,      \
                                     (R *)w, (L *)work, (int)counts[0], (R *)real_work,            \
                                     (int)counts[1], int_work, (int)counts[2]);                    \
    }                                                                                              \
    L best = 0;                                                                                    \
    R best_real = 0;                                                                               \
    lapack_int best_int = 0;                                                                       \
    const int info = LAPACKE_##p##heevd_work(LAPACK_COL_MAJOR, values ? 'N' : 'V', 'U', n, (L *)a, \
                                             n, (R *)w, &best, -1, &best_real, -1, &best_int, -1); \
    counts[0] = (int64_t)creal(best);                                                              \
    counts[1] = (int64_t)best_real;                                                                \
    counts[2] = best_int;                                                                          \
    return info;                                                                                   \
  }                                                                                                \
  static int64_t eig_##p(int n, void *a, void *w, void *v, void *work, int64_t work_count,         \
                         void *real_work) {                                                        \
    L best = 0, unused;                                                                            \
    R best_real = 0; /* written by who asks for the best count, too */                             \
    const int info = LAPACKE_##p##geev_work(                                                       \
        LAPACK_COL_MAJOR, 'N', v == NULL ? 'N' : 'V', n, (L *)a, n, (L *)w, &unused, n,            \
        v == NULL ? &unused : (L *)v, n, work == NULL ? &best : (L *)work,                         \
        work == NULL ? -1 : (int)work_count, work == NULL ? &best_real : (R *)real_work);          \
    return work == NULL ? (int64_t)creal(best) : info;                                             \
  }                                                                                                \
  static void triangular_solve_##p(bool lower, bool adjoint, int n, int k, const void *a,          \
                                   void *b) {                                                      \
    const L one = 1;                                                                               \
    cblas_##p##trsm(CblasRowMajor, CblasLeft, lower ? CblasLower : CblasUpper,                     \
                    adjoint ? CblasConjTrans : CblasNoTrans, CblasNonUnit, n, k, &one, a, n, b,    \
                    k);                                                                            \
  }                                                                                                \
  static void product_##p(bool adjoint_a, bool adjoint_b, int m, int n, int k, const void *a,      \
                          const void *b, void *c) {                                                \
    const L one = 1, zero = 0;                                                                     \
    cblas_##p##gemm(CblasRowMajor, adjoint_a ? CblasConjTrans : CblasNoTrans,                      \
                    adjoint_b ? CblasConjTrans : CblasNoTrans, m, n, k, &one, a,                   \
                    adjoint_a ? m : k, b, adjoint_b ? k : n, &zero, c, n);                         \
  }

COMPLEX_FUNCTIONS(c, lapack_complex_float, float)
COMPLEX_FUNCTIONS(z, lapack_complex_double, double)

#define EIG_OF_true(p) eig_##p
#define EIG_OF_false(p) NULL
#define TABLE(p, S, R, D, complex_numbers)      \
  {                                             \
      .element_bytes = sizeof(S),               \
      .real_bytes = sizeof(R),                  \
      .dtype = D,                               \
      .is_complex = complex_numbers,            \
      .cholesky = cholesky_##p,                 \
      .lu = lu_##p,                             \
      .lu_solve = lu_solve_##p,                 \
      .lu_inverse = lu_inverse_##p,             \
      .triangular_solve = triangular_solve_##p, \
      .product = product_##p,                   \
      .qr = qr_##p,                             \
      .qr_q = qr_q_##p,                         \
      .svd = svd_##p,                           \
      .eigh = eigh_##p,                         \
      .eig = EIG_OF_##complex_numbers(p),       \
  }

const rheos__lapack *rheos__lapack_of(rheos_dtype dtype) {
  static const rheos__lapack tables[] = {
      TABLE(s, float, float, RHEOS_FLOAT, false),
      TABLE(d, double, double, RHEOS_DOUBLE, false),
      TABLE(c, float complex, float, RHEOS_COMPLEX64, true),
      TABLE(z, double complex, double, RHEOS_COMPLEX128, true),
  };
  if (!rheos__lapack_is_there()) return rheos__lapack_plain(dtype);
  if (dtype == RHEOS_HALF) dtype = RHEOS_FLOAT;
  for (size_t i = 0; i < sizeof tables / sizeof *tables; ++i) {
    if (tables[i].dtype == dtype) return &tables[i];
  }
  return NULL;
}

bool rheos__lapack_is_there(void) {
#ifdef __x86_64__
  return __builtin_cpu_supports("sse3");  // the oldest that OpenBLAS has kernels for
#else
  return true;
#endif
}

rheos_status *rheos__lapack_missing(const char *op) {
  if (rheos__lapack_is_there()) return NULL;
  return rheos_status_new(
      RHEOS_UNIMPLEMENTED,
      "%s is not available on this processor: LAPACK (OpenBLAS) needs one with SSE3", op);
}
