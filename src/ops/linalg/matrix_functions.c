// Functions of square matrices: the square root and logarithm by Schur's form, in which a function
// of a triangular matrix is found element by element, the exponential by scaling and squaring.
// Everything is computed in complex numbers of double precision. A row-major matrix is seen by
// columns as its transpose, and a function of the transpose is the transpose of the function. A
// step sees its deadline between matrices: one of n rows takes some n^3 nanoseconds.
#include <math.h>
#include <string.h>

#include "base/complex.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/op_util.h"
#include "ops/linalg/lapack.h"
#include "ops/linalg/linalg_grad.h"

typedef double complex number;

// Of one matrix (n,n), by columns: element (i, j) is at [i + j * n].
typedef struct workspace {
  int n;
  number *a, *b, *c, *vectors, *values, *work;
  double *real_work;
  int64_t work_count;
  number *memory;
} workspace;

typedef rheos_status *(*matrix_fn)(workspace *w);  // makes `a` a function of `a`

typedef struct batch {
  matrix_fn fn;
  rheos_dtype dtype;
  rheos__matrices shape;
  const void *in;
  void *out;
} batch;

static rheos_status *workspace_new(int n, workspace *out) {
  const size_t size = (size_t)n * (size_t)n;
  *out = (workspace){.n = n};
  out->work_count = rheos__schur(n, NULL, NULL, NULL, NULL, 0, NULL);
  if (out->work_count < n) out->work_count = n;
  out->memory =
      rheos__alloc_array(4 * size + 2 * (size_t)n + (size_t)out->work_count, sizeof *out->memory);
  if (out->memory == NULL) return rheos__out_of_memory();
  out->a = out->memory;
  out->b = out->a + size;
  out->c = out->b + size;
  out->vectors = out->c + size;
  out->values = out->vectors + size;
  out->real_work = (double *)(out->values + n);
  out->work = out->values + 2 * n;
  return NULL;
}

static void fill(number *a, int n, number value) {
  for (size_t i = 0; i < (size_t)n * (size_t)n; i++) a[i] = value;
}

static void identity(number *a, int n) {
  fill(a, n, 0);
  for (size_t i = 0; i < (size_t)n; i++) a[i * (size_t)n + i] = 1;
}

// c = a b, or a b^H
static void product(int n, const number *a, const number *b, bool adjoint, number *c) {
  const size_t size = (size_t)n;
  fill(c, n, 0);
  for (size_t j = 0; j < size; j++) {
    for (size_t k = 0; k < size; k++) {
      const number factor = adjoint ? conj(b[j + k * size]) : b[k + j * size];
      for (size_t i = 0; i < size; i++) c[i + j * size] += a[i + k * size] * factor;
    }
  }
}

// The largest sum of absolute values in a column.
static double norm_of(const number *a, int n) {
  double most = 0;
  for (int j = 0; j < n; j++) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += cabs(a[i + (size_t)j * (size_t)n]);
    if (!(sum <= most)) most = sum;  // NaN stays
  }
  return most;
}

// a = vectors t vectors^H; t, upper triangular, takes the place of a. All of it is NaN if a is not
// finite.
static rheos_status *schur(workspace *w) {
  const size_t count = (size_t)w->n * (size_t)w->n;
  bool is_finite = true;
  for (size_t i = 0; i < count; i++) {
    is_finite = is_finite && isfinite(creal(w->a[i])) && isfinite(cimag(w->a[i]));
  }
  if (!is_finite) {
    for (size_t i = 0; i < count; i++) w->a[i] = w->vectors[i] = NAN;
    return NULL;
  }
  const int64_t info =
      rheos__schur(w->n, w->a, w->values, w->vectors, w->work, w->work_count, w->real_work);
  if (info == 0) return NULL;
  return RHEOS_INVALID("The eigenvalues of a matrix were not found.");
}

static void from_schur(workspace *w) {
  product(w->n, w->vectors, w->a, false, w->b);
  product(w->n, w->b, w->vectors, true, w->a);
}

// The square root of the upper triangular `t`, in its place, column by column.
static void triangular_root(number *t, int n) {
  const size_t size = (size_t)n;
  for (int j = 0; j < n; j++) {
    number *column = t + (size_t)j * size;
    column[j] = csqrt(column[j]);
    for (int i = j - 1; i >= 0; i--) {
      number sum = column[i];
      for (int k = i + 1; k < j; k++) sum -= t[(size_t)i + (size_t)k * size] * column[k];
      column[i] = sum / (t[(size_t)i + (size_t)i * size] + column[j]);
    }
  }
}

static rheos_status *square_root(workspace *w) {
  RHEOS_TRY(schur(w));
  triangular_root(w->a, w->n);
  from_schur(w);
  return NULL;
}

// x = (1 + node (t - 1))^-1 (t - 1) weight, added to `sum`; all upper triangular.
static void add_fraction(const number *t, int n, double node, double weight, number *x,
                         number *sum) {
  const size_t size = (size_t)n;
  for (int j = 0; j < n; j++) {
    for (int i = j; i >= 0; i--) {
      number value = t[(size_t)i + (size_t)j * size] - (i == j ? 1 : 0);
      for (int k = i + 1; k <= j; k++) {
        value -= node * t[(size_t)i + (size_t)k * size] * x[(size_t)k + (size_t)j * size];
      }
      value /= 1 + node * (t[(size_t)i + (size_t)i * size] - 1);
      x[(size_t)i + (size_t)j * size] = value;
      sum[(size_t)i + (size_t)j * size] += weight * value;
    }
  }
}

// Roots are taken until the matrix is near 1; then the integral of (t - 1) / (1 + x (t - 1)) over x
// from 0 to 1 by the rule of Gauss and Legendre with 8 nodes.
static rheos_status *logarithm(workspace *w) {
  static const double nodes[] = {0.1834346424956498049, 0.5255324099163289858,
                                 0.7966664774136267396, 0.9602898564975362317};
  static const double weights[] = {0.3626837833783619830, 0.3137066458778872873,
                                   0.2223810344533744705, 0.1012285362903762591};
  const size_t size = (size_t)w->n;
  double scale = 1;
  RHEOS_TRY(schur(w));
  for (size_t i = 0; i < size; i++) {
    if (w->a[i + i * size] != 0 && isfinite(cabs(w->a[i + i * size]))) continue;
    fill(w->a, w->n, CMPLX(NAN, NAN));  // no logarithm
    return NULL;
  }
  for (int root = 0; root < 100; root++) {
    identity(w->b, w->n);
    for (size_t i = 0; i < size * size; i++) w->b[i] = w->a[i] - w->b[i];
    if (!(norm_of(w->b, w->n) > 0.1)) break;
    triangular_root(w->a, w->n);
    scale *= 2;
  }
  fill(w->b, w->n, 0);
  fill(w->c, w->n, 0);
  for (int k = 0; k < 8; k++) {
    const double side = k % 2 == 0 ? nodes[k / 2] : -nodes[k / 2];
    add_fraction(w->a, w->n, (1 + side) / 2, weights[k / 2] / 2 * scale, w->b, w->c);
  }
  memcpy(w->a, w->c, size * size * sizeof *w->a);
  from_schur(w);
  return NULL;
}

// Halved until it is small, the power series, then squared as often as it was halved.
static rheos_status *exponential(workspace *w) {
  const int n = w->n;
  const size_t size = (size_t)n * (size_t)n;
  const double norm = norm_of(w->a, n);
  if (!isfinite(norm)) {
    fill(w->a, n, CMPLX(NAN, NAN));
    return NULL;
  }
  int halvings = 0;
  (void)frexp(norm, &halvings);
  halvings = halvings < -1 ? 0 : halvings + 1;
  for (size_t i = 0; i < size; i++)
    w->a[i] = CMPLX(ldexp(creal(w->a[i]), -halvings), ldexp(cimag(w->a[i]), -halvings));
  identity(w->b, n);
  for (int k = 17; k >= 1; k--) {  // b = 1 + a b / k
    product(n, w->a, w->b, false, w->c);
    identity(w->b, n);
    for (size_t i = 0; i < size; i++) w->b[i] += w->c[i] / k;
  }
  for (int k = 0; k < halvings; k++) {
    product(n, w->b, w->b, false, w->c);
    memcpy(w->b, w->c, size * sizeof *w->b);
  }
  memcpy(w->a, w->b, size * sizeof *w->a);
  return NULL;
}

// ---- Elements

static void load(rheos_dtype dtype, const void *from, int64_t first, int64_t count, number *to) {
  for (int64_t i = 0; i < count; i++) {
    switch (dtype) {
      case RHEOS_HALF: to[i] = rheos__half_to_float(((const uint16_t *)from)[first + i]); break;
      case RHEOS_FLOAT: to[i] = ((const float *)from)[first + i]; break;
      case RHEOS_DOUBLE: to[i] = ((const double *)from)[first + i]; break;
      case RHEOS_COMPLEX64: to[i] = ((const float complex *)from)[first + i]; break;
      default: to[i] = ((const double complex *)from)[first + i]; break;
    }
  }
}

// Real matrices whose function is not real have none: NaN.
static void store(rheos_dtype dtype, const number *from, int64_t first, int64_t count, void *to) {
  double size = 0, imaginary = 0;
  for (int64_t i = 0; i < count; i++) {
    size = fmax(size, cabs(from[i]));
    imaginary = fmax(imaginary, fabs(cimag(from[i])));
  }
  const bool is_real = imaginary <= 1e-6 * size;
  for (int64_t i = 0; i < count; i++) {
    const double real = is_real ? creal(from[i]) : NAN;
    switch (dtype) {
      case RHEOS_HALF: ((uint16_t *)to)[first + i] = rheos__float_to_half((float)real); break;
      case RHEOS_FLOAT: ((float *)to)[first + i] = (float)real; break;
      case RHEOS_DOUBLE: ((double *)to)[first + i] = real; break;
      case RHEOS_COMPLEX64: ((float complex *)to)[first + i] = (float complex)from[i]; break;
      default: ((double complex *)to)[first + i] = from[i]; break;
    }
  }
}

static rheos_status *do_matrices(void *argument, int64_t first, int64_t last) {
  const batch *b = argument;
  workspace w;
  RHEOS_TRY(workspace_new(b->shape.rows, &w));
  rheos_status *status = NULL;
  rheos__lapack_begin();
  for (int64_t i = first; i < last && status == NULL; i++) {
    load(b->dtype, b->in, i * b->shape.size, b->shape.size, w.a);
    if (isfinite(norm_of(w.a, w.n))) {
      status = b->fn(&w);
    } else {
      fill(w.a, w.n, CMPLX(NAN, NAN));
    }
    store(b->dtype, w.a, i * b->shape.size, b->shape.size, b->out);
  }
  rheos__lapack_end();
  rheos__free(w.memory);
  return status;
}

static rheos_status *compute(const char *op, matrix_fn fn, rheos__step *step,
                             rheos_tensor *const *inputs, rheos_tensor **outputs) {
  if (fn != exponential) RHEOS_TRY(rheos__lapack_missing(op));
  batch b = {.fn = fn, .dtype = inputs[0]->dtype, .in = inputs[0]->data};
  RHEOS_TRY(rheos__matrices_of(&inputs[0]->shape, &b.shape));
  if (b.shape.rows != b.shape.columns) return RHEOS_INVALID("Input matrix must be square.");
  RHEOS_TRY(rheos__tensor_new(b.dtype, &inputs[0]->shape, &outputs[0]));
  if (outputs[0]->num_elements == 0) return NULL;
  b.out = outputs[0]->data;
  const double n = b.shape.rows;
  return rheos__step_parallel(
      step, b.shape.count, rheos__flops(200 * n * n * n * (double)b.shape.count), do_matrices, &b);
}

// ---- Gradients: of any function f, what arrives at f(a) goes back as the upper right quarter of
// f([[b, g], [0, b]]), with b the adjoint of a.

static rheos_output rows(rheos_scope *s, rheos_output x, rheos_output begin, rheos_output end,
                         int64_t begin_mask, int64_t end_mask) {
  const int32_t ones[] = {1, 1, 1};
  const rheos_output inputs[] = {x, begin, end, rheos__const_ints(s, ones, 3, "stack_2")};
  const rheos_attr masks[] = {rheos_attr_int("ellipsis_mask", 1),
                              rheos_attr_int("begin_mask", begin_mask),
                              rheos_attr_int("end_mask", end_mask)};
  return rheos__named_n(s, "StridedSlice", "strided_slice", inputs, 4, masks, 3);
}

static void gradient(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0);
  const rheos_output adjoint = rheos__adjoint(s, g->inputs[0]);
  const rheos_output upper[] = {adjoint, grad};
  const rheos_output lower[] = {rheos__zeros_like(s, adjoint), adjoint};
  const rheos_output halves[] = {rheos__concat(s, upper, 2, -1), rheos__concat(s, lower, 2, -1)};
  const rheos_output whole =
      rheos__op_1(s, g->operation.graph != NULL ? rheos_operation_type(g->operation) : "",
                  rheos__concat(s, halves, 2, -2));
  // n, as the row of the vector shape(a) that counts columns
  const rheos__bound last = {.present = true, .number = -1};
  const rheos__bound all = {.present = false};
  const rheos_output n =
      rheos__vector_slice(s, rheos__shape_of(s, adjoint, RHEOS_INT32), last, all);
  const int32_t zero = 0;
  const rheos_output none_yet = rheos__const_ints(s, &zero, 1, "Const");
  const rheos_output from_parts[] = {none_yet, none_yet, n}, to_parts[] = {none_yet, n, none_yet};
  rheos__grad_set(
      g, 0,
      rows(s, whole, rheos__concat(s, from_parts, 3, 0), rheos__concat(s, to_parts, 3, 0), 2, 4));
}

#define FUNCTION(op, fn, types, text)                                                            \
  static rheos_status *compute_##op(void *state, rheos__step *step, rheos_tensor *const *inputs, \
                                    rheos_tensor **outputs) {                                    \
    (void)state;                                                                                 \
    return compute(#op, fn, step, inputs, outputs);                                              \
  }                                                                                              \
  const rheos__op_def rheos__op_##op = {                                                         \
      .name = #op,                                                                               \
      .signature = "input: T -> output: T; T: " types,                                           \
      .doc = text,                                                                               \
      .shape = rheos__shape_square,                                                              \
      .gradient = gradient,                                                                      \
      .compute = compute_##op,                                                                   \
  };
#define ALL_TYPES "{double, float, half, complex64, complex128}"
FUNCTION(MatrixExponential, exponential, ALL_TYPES, "The exponential of square matrices.")
FUNCTION(MatrixLogarithm, logarithm, "{complex64, complex128}",
         "The principal logarithm of square matrices; NaN where there is none.")
FUNCTION(MatrixSquareRoot, square_root, ALL_TYPES,
         "The matrix whose product with itself is `input`; NaN where there is none.")
