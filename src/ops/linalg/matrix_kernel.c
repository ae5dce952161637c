// Batches of matrices for kernels that call LAPACK: how they are loaded and stored, gone over, and
// what their shapes must be.
#include "ops/linalg/lapack.h"

#include <complex.h>
#include <math.h>

#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

// ---- Batches of matrices

rheos_status *rheos__matrices_of(const rheos_shape *shape, rheos__matrices *out_matrices) {
  if (shape->rank < 2) {
    return RHEOS_INVALID("Input tensor must have rank >= 2, got %d", (int)shape->rank);
  }
  const int64_t rows = shape->dims[shape->rank - 2], columns = shape->dims[shape->rank - 1];
  if (rows > RHEOS__LAPACK_MAX || columns > RHEOS__LAPACK_MAX) {
    rheos__shape_text text;
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "matrices of more than %d rows or columns are not supported, got "
                            "shape %s",
                            RHEOS__LAPACK_MAX, rheos__shape_text_of(shape, &text));
  }
  *out_matrices = (rheos__matrices){.count = rheos__shape_product(shape, 0, shape->rank - 2),
                                    .rows = (int)rows,
                                    .columns = (int)columns,
                                    .size = rows * columns};
  return NULL;
}

#define PLAIN(v) (v)
#define COPY_MATRIX(name, FROM, TO, CONVERT)                                             \
  static void copy_##name(const void *v_from, void *v_to, int64_t rows, int64_t columns, \
                          bool transpose) {                                              \
    const FROM *from = v_from;                                                           \
    TO *to = v_to;                                                                       \
    for (int64_t i = 0; i < rows; ++i) {                                                 \
      for (int64_t j = 0; j < columns; ++j) {                                            \
        to[transpose ? j * rows + i : i * columns + j] = CONVERT(from[i * columns + j]); \
      }                                                                                  \
    }                                                                                    \
  }
COPY_MATRIX(float, float, float, PLAIN)
COPY_MATRIX(double, double, double, PLAIN)
COPY_MATRIX(complex128, double complex, double complex, PLAIN)
COPY_MATRIX(from_half, uint16_t, float, rheos__half_to_float)
COPY_MATRIX(to_half, float, uint16_t, rheos__float_to_half)

void rheos__matrix_load(const rheos__lapack *l, rheos_dtype dtype, const void *from, void *to,
                        int64_t rows, int64_t columns, bool transpose) {
  if (dtype == RHEOS_HALF) {
    copy_from_half(from, to, rows, columns, transpose);
  } else if (l->element_bytes == 4) {
    copy_float(from, to, rows, columns, transpose);
  } else if (l->element_bytes == 8) {
    copy_double(from, to, rows, columns, transpose);
  } else {
    copy_complex128(from, to, rows, columns, transpose);
  }
}

void rheos__matrix_store(const rheos__lapack *l, rheos_dtype dtype, const void *from, void *to,
                         int64_t rows, int64_t columns, bool transpose) {
  if (dtype == RHEOS_HALF) {
    copy_to_half(from, to, rows, columns, transpose);
  } else {
    rheos__matrix_load(l, dtype, from, to, rows, columns, transpose);
  }
}

void rheos__matrix_conjugate(const rheos__lapack *l, void *matrix, int64_t count) {
  if (l->dtype == RHEOS_COMPLEX64) {
    float *parts = matrix;
    for (int64_t i = 0; i < count; ++i) parts[2 * i + 1] = -parts[2 * i + 1];
  } else if (l->dtype == RHEOS_COMPLEX128) {
    double *parts = matrix;
    for (int64_t i = 0; i < count; ++i) parts[2 * i + 1] = -parts[2 * i + 1];
  }
}

// ---- Kernels

rheos_status *rheos__matrix_kernel_new(rheos__prepare *p, int num_matrices,
                                       rheos__matrix_kernel **out_kernel) {
  rheos__matrix_kernel *k = RHEOS_NEW_STATE(p, rheos__matrix_kernel);
  *out_kernel = k;
  if (k == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__lapack_missing(p->op->name));
  k->dtype = p->input_dtypes[0];
  k->lapack = rheos__lapack_of(k->dtype);
  if (k->lapack == NULL) return rheos__no_kernel(p, k->dtype);
  k->stored_bytes = rheos_dtype_size(k->dtype);
  RHEOS_TRY(rheos__matrices_of(&p->input_shapes[0], &k->a));
  return num_matrices > 1 ? rheos__matrices_of(&p->input_shapes[1], &k->b) : NULL;
}

static rheos_status *run_matrices(const void *state, const void *const *inputs,
                                  void *const *outputs, void *scratch, int64_t first,
                                  int64_t last) {
  const rheos__matrix_kernel *k = state;
  rheos_status *status = NULL;
  if (last > k->num_units) last = k->num_units;
  rheos__lapack_begin();
  for (int64_t unit = first; unit < last && status == NULL; ++unit) {
    status = k->one(k, inputs, outputs, scratch, unit);
  }
  rheos__lapack_end();
  return status;
}

rheos_status *rheos__answer_matrices(rheos__prepare *p, rheos__matrix_kernel *k, int64_t count,
                                     double flops) {
  const double all = flops * (double)count;
  k->num_units = p->num_units = count;
  p->flops = all < 1e18 ? (int64_t)all : (int64_t)1e18;
  p->run = run_matrices;
  return NULL;
}

// ---- Shapes

rheos_status *rheos__infer_square(const rheos__infer *c, int32_t input, rheos_shape *out_shape) {
  *out_shape = c->input_shapes[input];
  RHEOS_TRY(rheos__infer_rank_at_least(c, input, 2));
  if (out_shape->rank < 0) return NULL;
  int64_t *rows = &out_shape->dims[out_shape->rank - 2];
  int64_t *columns = &out_shape->dims[out_shape->rank - 1];
  if (*rows >= 0 && *columns >= 0 && *rows != *columns) {
    return RHEOS_INVALID(
        "Input matrix must be square: Dimensions must be equal, but are %lld and %lld",
        (long long)*rows, (long long)*columns);
  }
  if (*rows < 0) *rows = *columns;
  *columns = *rows;
  return NULL;
}

rheos_status *rheos__shape_square(rheos__infer *c) {
  return rheos__infer_square(c, 0, &c->output_shapes[0]);
}

bool rheos__lapack_is_finite(const rheos__lapack *l, const void *data, int64_t count) {
  const int64_t parts = l->is_complex ? 2 : 1;
  for (int64_t i = 0; i < count * parts; ++i) {
    if (!isfinite(rheos__lapack_real_at(l, data, i))) return false;
  }
  return true;
}
