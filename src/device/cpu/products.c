// Blocks of rows of matrix products, one library call each. What the blocks are depends on the
// shapes alone, so that any number of threads gives the same bits.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif
#include "device/cpu/products.h"

#include <limits.h>
#include <string.h>
#ifdef RHEOS_WITH_LAPACK
#include <cblas.h>
#endif

#include "device/cpu/onednn.h"
#include "ops/kit/elementwise.h"
#include "ops/linalg/lapack.h"
#include "ops/math/product.h"

enum { SMALL_FLOPS = 20000, BLOCK_ROWS = 128, MAX_BLOCKS = 16 };

typedef rheos__product product;

// ---- How an operand lies in memory

typedef struct stored {
  bool transposed;
  int64_t leading;  // elements from row to row, or from column to column
} stored;

// Of a matrix with `rows` rows and `columns` columns. Where both steps are 1 it has one row or one
// column, and either reading does; but a library conjugates only what it transposes.
static stored stored_as(int64_t row, int64_t column, bool conjugate, int64_t rows,
                        int64_t columns) {
  const bool transposed = column != 1 || (row == 1 && conjugate);
  const int64_t step = transposed ? column : row, least = transposed ? rows : columns;
  return (stored){transposed, step < least ? least : step};
}
static stored stored_a(const product *s) {
  return stored_as(s->a_row, s->a_column, s->conjugate_a, s->m, s->k);
}
static stored stored_b(const product *s) {
  return stored_as(s->b_row, s->b_column, s->conjugate_b, s->k, s->n);
}

static bool is_stored(int64_t row, int64_t column, bool conjugate) {
  return column == 1 ? !conjugate || row == 1 : row == 1;
}

// ---- Rows

static rheos_status *rows_float(const product *s, const void *va, const void *b, void *vc,
                                int64_t first, int64_t last, void *scratch) {
  (void)scratch;
  const float *a = va;
  float *c = vc;
  const stored x = stored_a(s), y = stored_b(s);
  return rheos__sgemm(x.transposed, y.transposed, last - first, s->n, s->k, a + first * s->a_row,
                      x.leading, b, y.leading, c + first * s->n, s->n);
}

#ifdef RHEOS_WITH_LAPACK
static CBLAS_TRANSPOSE transpose_of(const stored *x, bool conjugate) {
  return !x->transposed ? CblasNoTrans : conjugate ? CblasConjTrans : CblasTrans;
}

#define BLAS_ROWS(p, name, T, ONE, ZERO)                                                         \
  static rheos_status *rows_##name(const product *s, const void *va, const void *b, void *vc,    \
                                   int64_t first, int64_t last, void *scratch) {                 \
    (void)scratch;                                                                               \
    const T *a = va;                                                                             \
    T *c = vc;                                                                                   \
    const stored x = stored_a(s), y = stored_b(s);                                               \
    rheos__lapack_begin();                                                                       \
    cblas_##p##gemm(CblasRowMajor, transpose_of(&x, s->conjugate_a),                             \
                    transpose_of(&y, s->conjugate_b), (int)(last - first), (int)s->n, (int)s->k, \
                    ONE, a + first * s->a_row, (int)x.leading, b, (int)y.leading, ZERO,          \
                    c + first * s->n, (int)s->n);                                                \
    rheos__lapack_end();                                                                         \
    return NULL;                                                                                 \
  }
static const float one_c[] = {1, 0}, zero_c[] = {0, 0};
static const double one_z[] = {1, 0}, zero_z[] = {0, 0};
BLAS_ROWS(d, double, double, 1, 0)
BLAS_ROWS(c, complex64, float _Complex, one_c, zero_c)
BLAS_ROWS(z, complex128, double _Complex, one_z, zero_z)
#endif  // RHEOS_WITH_LAPACK

// ---- Sixteen-bit floats: in float, rounded once. The second operand is converted some columns at
// a time.

enum { PANEL = 256 };
static const int64_t MAX_HALF_DEPTH = 1 << 14;  // bounds the scratch memory

// Halves are floats with a smaller exponent: right but for a factor, and for infinities and NaN.
static inline float half_value(uint32_t half) {
  const uint32_t size = (half & 0x7fffu) << 13;
  float value;
  memcpy(&value, &size, sizeof value);
  value *= 0x1p112f;
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits = size >= 0x0f800000u ? size | 0x7f800000u : bits;
  bits |= (half & 0x8000u) << 16;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline float bfloat16_value(uint32_t half) {
  const uint32_t bits = half << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

#define WIDEN(name)                                                                     \
  RHEOS__WIDEST static void widen_##name(const uint16_t *from, int64_t step, int64_t n, \
                                         float *to) {                                   \
    if (step == 1) {                                                                    \
      for (int64_t i = 0; i < n; i++) to[i] = name##_value(from[i]);                    \
    } else {                                                                            \
      for (int64_t i = 0; i < n; i++) to[i] = name##_value(from[i * step]);             \
    }                                                                                   \
  }
WIDEN(half)
WIDEN(bfloat16)

static size_t half_scratch(const product *s, int64_t block_rows) {
  const int64_t width = s->n < PANEL ? s->n : PANEL;
  return sizeof(float) * (size_t)(block_rows * s->k + s->k * width + block_rows * width);
}

#define HALF_ROWS(name)                                                                        \
  static rheos_status *rows_##name(const product *s, const void *va, const void *vb, void *vc, \
                                   int64_t first, int64_t last, void *scratch) {               \
    const uint16_t *a = va, *b = vb;                                                           \
    uint16_t *c = vc;                                                                          \
    const int64_t rows = last - first, most = s->n < PANEL ? s->n : PANEL;                     \
    float *x = scratch, *y = x + rows * s->k, *z = y + s->k * most;                            \
    for (int64_t i = 0; i < rows; i++) {                                                       \
      widen_##name(a + (first + i) * s->a_row, s->a_column, s->k, x + i * s->k);               \
    }                                                                                          \
    for (int64_t j = 0; j < s->n; j += PANEL) {                                                \
      const int64_t width = s->n - j < PANEL ? s->n - j : PANEL;                               \
      for (int64_t k = 0; k < s->k; k++) {                                                     \
        widen_##name(b + k * s->b_row + j * s->b_column, s->b_column, width, y + k * width);   \
      }                                                                                        \
      RHEOS_TRY(rheos__sgemm(false, false, rows, width, s->k, x, s->k, y, width, z, width));   \
      for (int64_t i = 0; i < rows; i++) {                                                     \
        uint16_t *to = c + (first + i) * s->n + j;                                             \
        for (int64_t n = 0; n < width; n++) to[n] = rheos__float_to_##name(z[i * width + n]);  \
      }                                                                                        \
    }                                                                                          \
    return NULL;                                                                               \
  }
HALF_ROWS(half)
HALF_ROWS(bfloat16)

// ---- The kernel

static rheos__rows_fn rows_of(rheos_dtype dtype) {
  switch (dtype) {
    case RHEOS_FLOAT: return rows_float;
    case RHEOS_HALF: return rows_half;
    case RHEOS_BFLOAT16: return rows_bfloat16;
#ifdef RHEOS_WITH_LAPACK
    case RHEOS_DOUBLE: return rows_double;
    case RHEOS_COMPLEX64: return rows_complex64;
    case RHEOS_COMPLEX128: return rows_complex128;
#endif
    default: return NULL;
  }
}

static bool is_half(rheos_dtype dtype) { return dtype == RHEOS_HALF || dtype == RHEOS_BFLOAT16; }
static bool is_of_blas(rheos_dtype dtype) { return dtype != RHEOS_FLOAT && !is_half(dtype); }

static const char *why_not(const rheos__products *s) {
  const product *p = &s->product;
  if (rows_of(s->dtype) == NULL) return "no library for the dtype";
  if (is_of_blas(s->dtype) && !rheos__lapack_is_there()) {
    return "no library on this processor";
  }
  if (p->m == 0 || p->n == 0 || p->k == 0) return "an empty product";
  if (2.0 * (double)p->m * (double)p->n * (double)p->k < SMALL_FLOPS) {
    return "too small for a library call";
  }
  if (p->m > INT_MAX || p->n > INT_MAX || p->k > INT_MAX) return "too large for the library";
  if (!is_stored(p->a_row, p->a_column, p->conjugate_a) ||
      !is_stored(p->b_row, p->b_column, p->conjugate_b)) {
    return "operands that no library takes";
  }
  if (is_half(s->dtype) && p->k > MAX_HALF_DEPTH) {
    return "too much to convert";
  }
  return NULL;
}

rheos_status *rheos__products_prepare_library(rheos__prepare *p) {
  RHEOS_TRY(rheos__prepare_reference(p));
  rheos__products *s = p->state;
  p->decline_reason = why_not(s);
  if (p->decline_reason != NULL) return NULL;
  const int64_t m = s->product.m, most = (m + BLOCK_ROWS - 1) / BLOCK_ROWS;
  const int64_t blocks = most < MAX_BLOCKS ? most : MAX_BLOCKS;
  s->rows = rows_of(s->dtype);
  s->block_rows = (m + blocks - 1) / blocks;
  if (is_half(s->dtype)) {
    if (s->block_rows > BLOCK_ROWS) s->block_rows = BLOCK_ROWS;
    s->scratch_bytes = half_scratch(&s->product, s->block_rows);
  }
  if (p->run != NULL) {
    p->num_units = s->count * rheos__products_blocks(s);
    p->scratch_bytes = s->scratch_bytes;
  }
  return NULL;
}
