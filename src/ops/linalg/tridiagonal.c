// Tridiagonal matrices, given by their three diagonals: products and systems of equations.
#include <math.h>
#include <string.h>

#include "base/complex.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/elements.h"
#include "ops/kit/op_util.h"
#include "ops/linalg/linalg_grad.h"

// ---- Elements of the four dtypes, computed in complex numbers of double precision

typedef double complex number;

// ---- Gradients' nodes

// x[..., first:last, :]; last 0: to the end.
static rheos_output rows(rheos_scope *s, rheos_output x, int32_t first, int32_t last) {
  const int32_t begin[] = {0, first, 0}, end[] = {0, last, 0}, ones[] = {1, 1, 1};
  const rheos_output inputs[] = {x, rheos__const_ints(s, begin, 3, "stack"),
                                 rheos__const_ints(s, end, 3, "stack_1"),
                                 rheos__const_ints(s, ones, 3, "stack_2")};
  const rheos_attr masks[] = {rheos_attr_int("ellipsis_mask", 1), rheos_attr_int("begin_mask", 4),
                              rheos_attr_int("end_mask", last == 0 ? 6 : 4)};
  return rheos__named_n(s, "StridedSlice", "strided_slice", inputs, 4, masks, 3);
}

// Rows one up, or one down; a row of zeros comes in.
static rheos_output shifted_up(rheos_scope *s, rheos_output x) {
  const rheos_output parts[] = {rows(s, x, 1, 0), rheos__zeros_like(s, rows(s, x, 0, 1))};
  return rheos__concat(s, parts, 2, -2);
}
static rheos_output shifted_down(rheos_scope *s, rheos_output x) {
  const rheos_output parts[] = {rheos__zeros_like(s, rows(s, x, 0, 1)), rows(s, x, 0, -1)};
  return rheos__concat(s, parts, 2, -2);
}

// The sum over the columns of a b, as a row [..., 1, n].
static rheos_output sum_of_product(rheos_scope *s, rheos_output a, rheos_output b) {
  const int32_t last = -1;
  const rheos_output sum =
      rheos__sum_over(s, rheos__py_mul(s, a, b), rheos__const_ints(s, &last, 1, "Const"), false);
  return rheos__expand_dims(s, sum, -2);
}

// ---- TridiagonalMatMul

static rheos_status *merge_batches(const rheos__infer *c, int32_t input, int32_t rank_below,
                                   rheos_shape *batch) {
  rheos_shape own = c->input_shapes[input];
  if (own.rank < 0) return NULL;
  if (own.rank < rank_below) {
    return RHEOS_INVALID("Input tensor %d must have rank >= %d, got %d", input, rank_below,
                         own.rank);
  }
  own.rank -= rank_below;
  const rheos_shape before = *batch;
  return rheos__shape_merge(&before, &own, batch);
}

static rheos_status *infer_matmul(rheos__infer *c) {
  static const char *const names[] = {"superdiagonal", "maindiagonal", "subdiagonal"};
  rheos_shape batch = RHEOS_UNKNOWN_SHAPE;
  int64_t n = -1, columns = -1;
  for (int32_t i = 0; i < 4; i++) RHEOS_TRY(merge_batches(c, i, 2, &batch));
  for (int32_t i = 0; i < 4; i++) {
    const rheos_shape *in = &c->input_shapes[i];
    if (in->rank < 0) continue;
    const int64_t above = in->dims[in->rank - 2], last = in->dims[in->rank - 1];
    const int64_t length = i < 3 ? last : above;
    if (i < 3 && above >= 0 && above != 1) return RHEOS_INVALID("Invalid %s shape.", names[i]);
    if (length >= 0 && n >= 0 && length != n) {
      return RHEOS_INVALID("Invalid %s shape.", i < 3 ? names[i] : "rhs");
    }
    if (length >= 0) n = length;
    if (i == 3) columns = last;
  }
  if (batch.rank < 0) return NULL;
  c->output_shapes[0] = batch;
  RHEOS_TRY(rheos__shape_append(&c->output_shapes[0], n));
  return rheos__shape_append(&c->output_shapes[0], columns);
}

static rheos_status *run_matmul(const void *state, const void *const *inputs, void *const *outputs,
                                void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const rheos__operands *o = state;
  const rheos_dtype dtype = o->input_dtypes[3];
  const rheos_shape *shape = &o->input_shapes[3];
  const int64_t n = shape->dims[shape->rank - 2], columns = shape->dims[shape->rank - 1];
  const int64_t count = rheos_shape_num_elements(shape);
  for (int64_t i = 0; i < count; i++) {
    const int64_t row = i / columns % n, diagonal = i / columns;
    number sum =
        rheos__complex_at(dtype, inputs[1], diagonal) * rheos__complex_at(dtype, inputs[3], i);
    if (row + 1 < n) {
      sum += rheos__complex_at(dtype, inputs[0], diagonal) *
             rheos__complex_at(dtype, inputs[3], i + columns);
    }
    if (row > 0) {
      sum += rheos__complex_at(dtype, inputs[2], diagonal) *
             rheos__complex_at(dtype, inputs[3], i - columns);
    }
    rheos__set_complex(dtype, outputs[0], i, sum);
  }
  return NULL;
}

static rheos_status *prepare_matmul(rheos__prepare *p) {
  return rheos__answer_run_operands(p, run_matmul, 1);
}

static void grad_matmul(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0), rhs = rheos__conj(s, g->inputs[3]);
  const rheos_output above = rheos__adjoint(s, g->inputs[0]);
  const rheos_output main = rheos__adjoint(s, g->inputs[1]);
  const rheos_output below = rheos__adjoint(s, g->inputs[2]);
  rheos__grad_set(g, 0, sum_of_product(s, shifted_up(s, rhs), grad));
  rheos__grad_set(g, 1, sum_of_product(s, rhs, grad));
  rheos__grad_set(g, 2, sum_of_product(s, shifted_down(s, rhs), grad));
  const rheos_output parts = rheos__py_add(s, shifted_down(s, rheos__py_mul(s, above, grad)),
                                           rheos__py_mul(s, main, grad));
  rheos__grad_set(g, 3, rheos__py_add(s, parts, shifted_up(s, rheos__py_mul(s, below, grad))));
}

const rheos__op_def rheos__op_TridiagonalMatMul = {
    .name = "TridiagonalMatMul",
    .signature =
        "superdiag: T, maindiag: T, subdiag: T, rhs: T -> output: T; "
        "T: {double, float, complex64, complex128}",
    .doc = "The product of tridiagonal matrices, each diagonal as a row, and `rhs`.",
    .shape = infer_matmul,
    .gradient = grad_matmul,
    .prepare = prepare_matmul,
};

// ---- TridiagonalSolve

static rheos_status *infer_solve(rheos__infer *c) {
  rheos_shape batch = RHEOS_UNKNOWN_SHAPE;
  const rheos_shape *diagonals = &c->input_shapes[0], *rhs = &c->input_shapes[1];
  RHEOS_TRY(merge_batches(c, 0, 2, &batch));
  RHEOS_TRY(merge_batches(c, 1, 2, &batch));
  int64_t n = -1;
  if (diagonals->rank >= 0) {
    const int64_t three = diagonals->dims[diagonals->rank - 2];
    n = diagonals->dims[diagonals->rank - 1];
    if (three >= 0 && three != 3) {
      return RHEOS_INVALID(
          "Expected diagonals to be provided as a matrix with 3 rows, got %lld rows.",
          (long long)three);
    }
  }
  if (rhs->rank < 0) return NULL;
  const int64_t equations = rhs->dims[rhs->rank - 2];
  if (n >= 0 && equations >= 0 && n != equations) {
    return RHEOS_INVALID(
        "Expected the same number of left-hand sides and right-hand sides, got %lld and %lld.",
        (long long)n, (long long)equations);
  }
  c->output_shapes[0] = batch;
  RHEOS_TRY(rheos__shape_append(&c->output_shapes[0], n < 0 ? equations : n));
  return rheos__shape_append(&c->output_shapes[0], rhs->dims[rhs->rank - 1]);
}

// The rows of the triangular matrix that elimination leaves: three diagonals of it.
typedef struct eliminated {
  number *diagonal, *above, *above_2, *x;
} eliminated;

// Solves in place of e->x (n, columns). Row i + 1 is eliminated by row i, or the other way round
// where `pivot` allows and its first number is larger.
static bool solve(int64_t n, int64_t columns, const number *below, bool pivot, bool perturb,
                  eliminated *e) {
  for (int64_t i = 0; i < n; i++) {
    const bool has_next = i + 1 < n;
    number lower = has_next ? below[i + 1] : 0;
    if (pivot && has_next && cabs(lower) > cabs(e->diagonal[i])) {
      const number first[] = {e->diagonal[i], e->above[i]};
      e->diagonal[i] = lower, lower = first[0];
      e->above[i] = e->diagonal[i + 1], e->diagonal[i + 1] = first[1];
      e->above_2[i] = e->above[i + 1], e->above[i + 1] = 0;
      for (int64_t c = 0; c < columns; c++) {
        const number swap = e->x[i * columns + c];
        e->x[i * columns + c] = e->x[(i + 1) * columns + c];
        e->x[(i + 1) * columns + c] = swap;
      }
    }
    if (e->diagonal[i] == 0) {
      if (!perturb) return false;
      e->diagonal[i] = 1e-300;
    }
    if (!has_next) continue;
    const number factor = lower / e->diagonal[i];
    e->diagonal[i + 1] -= factor * e->above[i];
    e->above[i + 1] -= factor * e->above_2[i];
    for (int64_t c = 0; c < columns; c++)
      e->x[(i + 1) * columns + c] -= factor * e->x[i * columns + c];
  }
  for (int64_t i = n - 1; i >= 0; i--) {
    for (int64_t c = 0; c < columns; c++) {
      number value = e->x[i * columns + c];
      if (i + 1 < n) value -= e->above[i] * e->x[(i + 1) * columns + c];
      if (i + 2 < n) value -= e->above_2[i] * e->x[(i + 2) * columns + c];
      e->x[i * columns + c] = value / e->diagonal[i];
    }
  }
  return true;
}

static rheos_status *compute_solve(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  const rheos_tensor *diagonals = inputs[0], *rhs = inputs[1];
  const rheos_dtype dtype = rhs->dtype;
  const int64_t n = rhs->shape.dims[rhs->shape.rank - 2];
  const int64_t columns = rhs->shape.dims[rhs->shape.rank - 1];
  RHEOS_TRY(rheos__tensor_new(dtype, &rhs->shape, &outputs[0]));
  if (rhs->num_elements == 0) return NULL;
  const int64_t size = n * columns, count = rhs->num_elements / size;
  number *memory = rheos__alloc_array((size_t)(4 * n) + (size_t)size, sizeof *memory);
  if (memory == NULL) return rheos__out_of_memory();
  number *below = memory + 3 * n;
  eliminated e = {memory, memory + n, memory + 2 * n, memory + 4 * n};
  for (int64_t b = 0; b < count; b++) {
    for (int64_t i = 0; i < n; i++) {
      e.above[i] = i + 1 < n ? rheos__complex_at(dtype, diagonals->data, b * 3 * n + i) : 0;
      e.diagonal[i] = rheos__complex_at(dtype, diagonals->data, b * 3 * n + n + i);
      below[i] = rheos__complex_at(dtype, diagonals->data, b * 3 * n + 2 * n + i);
      e.above_2[i] = 0;
    }
    for (int64_t i = 0; i < size; i++) e.x[i] = rheos__complex_at(dtype, rhs->data, b * size + i);
    const bool solved = solve(n, columns, below, rheos__attr_bool(o->attrs, "partial_pivoting"),
                              rheos__attr_bool(o->attrs, "perturb_singular"), &e);
    for (int64_t i = 0; i < size; i++) {
      rheos__set_complex(dtype, outputs[0]->data, b * size + i, solved ? e.x[i] : CMPLX(NAN, NAN));
    }
  }
  rheos__free(memory);
  return NULL;
}

static rheos_status *prepare_solve(rheos__prepare *p) {
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = compute_solve;
  return NULL;
}

// The transposed matrix has the diagonals above and below exchanged, each moved by one.
static rheos_output transposed(rheos_scope *s, rheos_output diagonals) {
  const rheos_output above = rows(s, diagonals, 0, 1), below = rows(s, diagonals, 2, 0);
  const rheos_output zero = rheos__zeros_like(s, rheos__columns(s, above, 0, 1));
  const rheos_output first[] = {rheos__columns(s, below, 1, 0), zero};
  const rheos_output last[] = {zero, rheos__columns(s, above, 0, -1)};
  const rheos_output parts[] = {rheos__concat(s, first, 2, -1), rows(s, diagonals, 1, 2),
                                rheos__concat(s, last, 2, -1)};
  return rheos__concat(s, parts, 3, -2);
}

static void grad_solve(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0), x = g->outputs[0];
  const rheos_output inputs[] = {transposed(s, g->inputs[0]), grad};
  const rheos_attr attrs[] = {
      rheos_attr_bool("partial_pivoting", rheos__attr_bool(g->attrs, "partial_pivoting")),
      rheos_attr_bool("perturb_singular", rheos__attr_bool(g->attrs, "perturb_singular"))};
  const rheos_output grad_rhs =
      rheos__named_n(s, "TridiagonalSolve", "TridiagonalSolve", inputs, 2, attrs, 2);
  const rheos_output parts[] = {sum_of_product(s, grad_rhs, shifted_up(s, x)),
                                sum_of_product(s, grad_rhs, x),
                                sum_of_product(s, grad_rhs, shifted_down(s, x))};
  rheos__grad_set(g, 0, rheos__negated(s, rheos__concat(s, parts, 3, -2)));
  rheos__grad_set(g, 1, grad_rhs);
}

const rheos__op_def rheos__op_TridiagonalSolve = {
    .name = "TridiagonalSolve",
    .signature =
        "diagonals: T, rhs: T -> output: T; partial_pivoting: bool = true; "
        "perturb_singular: bool = false; T: {double, float, complex64, complex128}",
    .doc =
        "Solves equations with tridiagonal matrices: rows of `diagonals` are the diagonal above, "
        "the main one, and the one below.",
    .shape = infer_solve,
    .gradient = grad_solve,
    .prepare = prepare_solve,
};
