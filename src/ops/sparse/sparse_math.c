// Arithmetic on sparse tensors: SparseAdd, SparseSparseMaximum and Minimum, SparseReduceSum and
// Max, SparseSoftmax.
#include <math.h>
#include <string.h>

#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/elements.h"
#include "ops/kit/op_util.h"
#include "ops/sparse/sparse_util.h"

// ---- Two sparse tensors side by side: SparseAdd and the larger or smaller values

static rheos_status *check_same_shape(const rheos__sparse *a, const rheos__sparse *b) {
  if (a->rank != b->rank) {
    return RHEOS_INVALID("Operands do not have the same ranks; got %lld and %lld",
                         (long long)a->rank, (long long)b->rank);
  }
  for (int64_t d = 0; d < a->rank; d++) {
    if (a->dims[d] == b->dims[d]) continue;
    return RHEOS_INVALID("Operands' shapes do not match: got %lld and %lld for dimension %lld",
                         (long long)a->dims[d], (long long)b->dims[d], (long long)d);
  }
  return NULL;
}

typedef struct merged_row {
  int64_t a, b;  // the rows that it comes from; -1: none
} merged_row;

// The rows of both operands, equal ones as one; `rows` has room for all. Returns how many.
static int64_t merge_rows(const rheos__sparse *a, const rheos__sparse *b, merged_row *rows) {
  int64_t i = 0, j = 0, count = 0;
  while (i < a->count || j < b->count) {
    const int order = i >= a->count   ? 1
                      : j >= b->count ? -1
                                      : rheos__sparse_compare(a->indices + i * a->rank,
                                                              b->indices + j * b->rank, a->rank);
    rows[count++] = (merged_row){order <= 0 ? i++ : -1, order >= 0 ? j++ : -1};
  }
  return count;
}

static const void *value_at(const rheos__sparse *x, int64_t row, const void *absent) {
  if (row < 0) return absent;
  return (const char *)x->values->data + row * (int64_t)rheos_dtype_size(x->values->dtype);
}

// Writes the rows out, with loop(a, b) as their values; 0 stands for what is absent.
static rheos_status *write_merged(const rheos__sparse *a, const rheos__sparse *b,
                                  const merged_row *rows, int64_t count, rheos__loop loop,
                                  rheos_tensor **outputs) {
  const double zero[2] = {0};
  const rheos_dtype dtype = a->values->dtype;
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(count, a->rank), &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(dtype, &RHEOS_SHAPE(count), &outputs[1]));
  for (int64_t i = 0; i < count; i++) {
    const int64_t *from =
        rows[i].a >= 0 ? a->indices + rows[i].a * a->rank : b->indices + rows[i].b * b->rank;
    memcpy((int64_t *)outputs[0]->data + i * a->rank, from, (size_t)a->rank * sizeof *from);
    const void *in[] = {value_at(a, rows[i].a, zero), value_at(b, rows[i].b, zero)};
    loop(in, (char *)outputs[1]->data + i * (int64_t)rheos_dtype_size(dtype), 1, 0, 0);
  }
  return NULL;
}

static rheos_status *two_operands(rheos_tensor *const *inputs, rheos__sparse *a, rheos__sparse *b) {
  RHEOS_TRY(rheos__sparse_of(inputs, a));
  RHEOS_TRY(rheos__sparse_of(inputs + 3, b));
  return check_same_shape(a, b);
}

static merged_row *new_rows(const rheos__sparse *a, const rheos__sparse *b) {
  return rheos__alloc_array((size_t)a->count + (size_t)b->count, sizeof(merged_row));
}

static double magnitude_at(const rheos_tensor *x, int64_t i) {
  if (x->dtype == RHEOS_COMPLEX64) {
    const float *part = (const float *)x->data + 2 * i;
    return (double)hypotf(part[0], part[1]);
  }
  if (x->dtype == RHEOS_COMPLEX128) {
    const double *part = (const double *)x->data + 2 * i;
    return hypot(part[0], part[1]);
  }
  return fabs(rheos__real_at(x, i));
}

// Whether a row stays: one that both operands have only if its sum is not below the threshold.
static bool is_kept(const merged_row *row, const rheos_tensor *values, int64_t i,
                    double threshold) {
  return row->a < 0 || row->b < 0 || magnitude_at(values, i) >= threshold;
}

static rheos_status *keep_large(rheos_tensor **sums, const merged_row *rows, double threshold,
                                rheos_tensor **outputs) {
  const rheos_tensor *indices = sums[0], *values = sums[1];
  const int64_t rank = indices->shape.dims[1];
  int64_t count = 0;
  for (int64_t i = 0; i < values->num_elements; i++) {
    count += is_kept(&rows[i], values, i, threshold);
  }
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(count, rank), &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(values->dtype, &RHEOS_SHAPE(count), &outputs[1]));
  for (int64_t i = 0, row = 0; i < values->num_elements; i++) {
    if (!is_kept(&rows[i], values, i, threshold)) continue;
    memcpy((int64_t *)outputs[0]->data + row * rank, (const int64_t *)indices->data + i * rank,
           (size_t)rank * sizeof(int64_t));
    RHEOS_TRY(rheos__copy_value(outputs[1], row++, values, i));
  }
  return NULL;
}

static rheos_status *compute_add(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                 rheos_tensor **outputs) {
  rheos__sparse a, b;
  rheos_tensor *sums[2] = {NULL};
  (void)state, (void)step;
  RHEOS_TRY(two_operands(inputs, &a, &b));
  if (inputs[6]->shape.rank != 0) {
    rheos__shape_text text;
    return RHEOS_INVALID("The magnitude threshold must be a scalar: got shape %s",
                         rheos__shape_text_of(&inputs[6]->shape, &text));
  }
  merged_row *rows = new_rows(&a, &b);
  if (rows == NULL) return rheos__out_of_memory();
  const int64_t count = merge_rows(&a, &b, rows);
  rheos_status *status =
      write_merged(&a, &b, rows, count, rheos__binary_loop(RHEOS__ADD, a.values->dtype), sums);
  if (status == NULL) status = keep_large(sums, rows, rheos__real_at(inputs[6], 0), outputs);
  rheos__free(rows);
  rheos_tensor_unref(sums[0]);
  rheos_tensor_unref(sums[1]);
  RHEOS_TRY(status);
  return rheos_tensor_copy(inputs[2], &outputs[2]);
}

static rheos_status *prepare_add(rheos__prepare *p) {
  const rheos_dtype dtype = p->output_dtypes[1];
  if (rheos__binary_loop(RHEOS__ADD, dtype) == NULL) return rheos__no_kernel(p, dtype);
  return rheos__answer_compute_operands(p, compute_add);
}

static rheos_status *infer_two(rheos__infer *c, int64_t *out_rank) {
  int64_t a, b;
  RHEOS_TRY(rheos__infer_sparse(c, 0, &a));
  RHEOS_TRY(rheos__infer_sparse(c, 3, &b));
  if (a >= 0 && b >= 0 && a != b) {
    return RHEOS_INVALID("Operands do not have the same ranks; got %lld and %lld", (long long)a,
                         (long long)b);
  }
  *out_rank = a >= 0 ? a : b;
  return NULL;
}

static rheos_status *shape_add(rheos__infer *c) {
  int64_t rank;
  rheos_shape scalar;
  RHEOS_TRY(infer_two(c, &rank));
  RHEOS_TRY(rheos__infer_rank(c, 6, 0, &scalar));
  rheos__infer_sparse_output(c, 0, rank);
  return NULL;
}

static void gradient_add(rheos__grad *g) {
  const rheos_output inputs[] = {rheos__grad_dense(g, 1), g->inputs[0], g->inputs[3],
                                 g->outputs[0]};
  const rheos_operation grad = rheos__op_n(g->scope, "SparseAddGrad", NULL, inputs, 4, NULL, 0);
  if (rheos_scope_status(g->scope) != NULL) return;
  rheos__grad_set(g, 1, rheos_operation_output(grad, 0));
  rheos__grad_set(g, 4, rheos_operation_output(grad, 1));
}

const rheos__op_def rheos__op_SparseAdd = {
    .name = "SparseAdd",
    .signature =
        "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, "
        "b_shape: int64, thresh: Treal -> sum_indices: int64, sum_values: T, sum_shape: int64; "
        "T: " RHEOS__SPARSE_NUMBERS "; Treal: " RHEOS__SPARSE_REALS,
    .doc =
        "The sum of two sparse tensors of one shape; where both have a value, only if the sum is "
        "not "
        "below `thresh` in magnitude.",
    .shape = shape_add,
    .gradient = gradient_add,
    .prepare = prepare_add,
};

// ---- SparseAddGrad

static rheos_status *check_add_grad(rheos_tensor *const *inputs) {
  for (int k = 1; k < 4; k++) {
    rheos__shape_text text;
    if (inputs[k]->shape.rank != 2) {
      return RHEOS_INVALID("indices should be matrices but received shape %s",
                           rheos__shape_text_of(&inputs[k]->shape, &text));
    }
    if (inputs[k]->shape.dims[1] != inputs[1]->shape.dims[1]) {
      return RHEOS_INVALID("The densified operands should have the same ndims");
    }
  }
  if (inputs[0]->shape.rank != 1) return RHEOS_INVALID("backprop_val_grad should be a vector");
  if (inputs[0]->num_elements != inputs[3]->shape.dims[0]) {
    return RHEOS_INVALID(
        "# elements of backprop_val_grad and # rows of sum_indices should match "
        "(#nnz of sum): got %lld and %lld",
        (long long)inputs[0]->num_elements, (long long)inputs[3]->shape.dims[0]);
  }
  return NULL;
}

// The gradients of one operand: what stands in the sum at its indices, and 0 where the sum left a
// value out.
static rheos_status *gradient_of(const rheos_tensor *grad, const rheos_tensor *sum,
                                 const rheos_tensor *operand, rheos_tensor **out) {
  const int64_t rank = sum->shape.dims[1], count = operand->shape.dims[0];
  const int64_t *sums = sum->data, *rows = operand->data;
  RHEOS_TRY(rheos__tensor_new(grad->dtype, &RHEOS_SHAPE(count), out));
  memset((*out)->data, 0, (*out)->size_bytes);
  for (int64_t i = 0, k = 0; i < count && k < sum->shape.dims[0];) {
    const int order = rheos__sparse_compare(rows + i * rank, sums + k * rank, rank);
    if (order == 0) RHEOS_TRY(rheos__copy_value(*out, i, grad, k));
    i += order <= 0;
    k += order >= 0;
  }
  return NULL;
}

static rheos_status *compute_add_grad(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  (void)state, (void)step;
  RHEOS_TRY(check_add_grad(inputs));
  RHEOS_TRY(gradient_of(inputs[0], inputs[3], inputs[1], &outputs[0]));
  return gradient_of(inputs[0], inputs[3], inputs[2], &outputs[1]);
}

static rheos_status *prepare_add_grad(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_add_grad);
}

static rheos_status *shape_add_grad(rheos__infer *c) {
  rheos_shape a, b;
  RHEOS_TRY(rheos__infer_rank(c, 1, 2, &a));
  RHEOS_TRY(rheos__infer_rank(c, 2, 2, &b));
  c->output_shapes[0] = RHEOS_SHAPE(a.dims[0]);
  c->output_shapes[1] = RHEOS_SHAPE(b.dims[0]);
  return NULL;
}

const rheos__op_def rheos__op_SparseAddGrad = {
    .name = "SparseAddGrad",
    .signature =
        "backprop_val_grad: T, a_indices: int64, b_indices: int64, sum_indices: int64 -> "
        "a_val_grad: T, b_val_grad: T; T: " RHEOS__SPARSE_NUMBERS,
    .doc = "The gradients of SparseAdd by the values of its operands.",
    .shape = shape_add_grad,
    .gradient = rheos__no_gradient,
    .prepare = prepare_add_grad,
};

// ---- SparseSparseMaximum, SparseSparseMinimum

static rheos_status *compute_extreme(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  const rheos__operands *o = state;
  rheos__sparse a, b;
  (void)step;
  RHEOS_TRY(two_operands(inputs, &a, &b));
  RHEOS_TRY(rheos__sparse_check_bounds(&a));
  RHEOS_TRY(rheos__sparse_check_bounds(&b));
  merged_row *rows = new_rows(&a, &b);
  if (rows == NULL) return rheos__out_of_memory();
  const int64_t count = merge_rows(&a, &b, rows);
  const rheos__loop loop = rheos__binary_loop((rheos__binary)o->numbers[0], a.values->dtype);
  rheos_status *status = write_merged(&a, &b, rows, count, loop, outputs);
  rheos__free(rows);
  return status;
}

static rheos_status *prepare_extreme(rheos__prepare *p, rheos__binary kind) {
  const rheos_dtype dtype = p->output_dtypes[1];
  if (rheos__binary_loop(kind, dtype) == NULL) return rheos__no_kernel(p, dtype);
  RHEOS_TRY(rheos__answer_compute_operands(p, compute_extreme));
  ((rheos__operands *)p->state)->numbers[0] = (int64_t)kind;
  return NULL;
}
static rheos_status *prepare_maximum(rheos__prepare *p) {
  return prepare_extreme(p, RHEOS__MAXIMUM);
}
static rheos_status *prepare_minimum(rheos__prepare *p) {
  return prepare_extreme(p, RHEOS__MINIMUM);
}

static rheos_status *shape_extreme(rheos__infer *c) {
  int64_t rank;
  RHEOS_TRY(infer_two(c, &rank));
  c->output_shapes[0] = RHEOS_SHAPE(-1, rank);
  c->output_shapes[1] = RHEOS_SHAPE(-1);
  return NULL;
}

#define TWO                                                                        \
  "a_indices: int64, a_values: T, a_shape: int64, b_indices: int64, b_values: T, " \
  "b_shape: int64 -> output_indices: int64, output_values: T; T: "

const rheos__op_def rheos__op_SparseSparseMaximum = {
    .name = "SparseSparseMaximum",
    .signature = TWO RHEOS__SPARSE_REALS,
    .doc = "The larger values of two sparse tensors of one shape; 0 stands for absent ones.",
    .shape = shape_extreme,
    .gradient = rheos__no_gradient,
    .prepare = prepare_maximum,
};

const rheos__op_def rheos__op_SparseSparseMinimum = {
    .name = "SparseSparseMinimum",
    .signature = TWO RHEOS__SPARSE_NUMBERS,
    .doc = "The smaller values of two sparse tensors of one shape; 0 stands for absent ones.",
    .shape = shape_extreme,
    .gradient = rheos__no_gradient,
    .prepare = prepare_minimum,
};

// ---- Reductions

// Which dimensions are summed over; for rheos__free().
static rheos_status *reduced_dims(const rheos_tensor *axes, int64_t rank, bool **out_reduced) {
  rheos__shape_text text;
  if (axes->shape.rank > 1) {
    return RHEOS_INVALID("Expected reduction_axes to be a scalar or a vector; got shape: %s",
                         rheos__shape_text_of(&axes->shape, &text));
  }
  for (int64_t i = 0; i < axes->num_elements; i++) {
    const int32_t axis = ((const int32_t *)axes->data)[i];
    if (axis >= -rank && axis < rank) continue;
    return RHEOS_INVALID("Invalid reduction dimension %d, for input with %lld dimensions.", axis,
                         (long long)rank);
  }
  *out_reduced = rheos__alloc_array((size_t)rank, sizeof **out_reduced);
  if (*out_reduced == NULL) return rheos__out_of_memory();
  for (int64_t i = 0; i < axes->num_elements; i++) {
    const int32_t axis = ((const int32_t *)axes->data)[i];
    (*out_reduced)[axis < 0 ? axis + rank : axis] = true;
  }
  return NULL;
}

// The dimensions that stay, as they are or 1; returns how many.
static int64_t reduce_row(const int64_t *row, const bool *reduced, int64_t rank, bool keep,
                          int64_t instead, int64_t *out) {
  int64_t count = 0;
  for (int64_t d = 0; d < rank; d++) {
    if (!reduced[d] || keep) out[count++] = reduced[d] ? instead : row[d];
  }
  return count;
}

typedef struct reduction {
  rheos__sparse x;
  bool *reduced;
  int64_t *rows;   // of each value, what stays of its index: new_rank of them
  int64_t *dims;   // of the result
  int64_t *order;  // in which `rows` ascend
  int64_t new_rank;
  bool keep;
  rheos__loop loop;
} reduction;

static void free_reduction(reduction *r) {
  rheos__free(r->reduced);
  rheos__free(r->rows);
  rheos__free(r->dims);
  rheos__free(r->order);
}

static rheos_status *start_reduction(rheos_tensor *const *inputs, reduction *r) {
  RHEOS_TRY(rheos__sparse_of(inputs, &r->x));
  RHEOS_TRY(rheos__sparse_check_bounds(&r->x));
  const int64_t rank = r->x.rank;
  RHEOS_TRY(reduced_dims(inputs[3], rank, &r->reduced));
  size_t cells;
  if (!rheos__mul_size((size_t)r->x.count, (size_t)rank, &cells)) return rheos__out_of_memory();
  r->rows = rheos__alloc_array(cells, sizeof *r->rows);
  r->dims = rheos__alloc_array((size_t)rank, sizeof *r->dims);
  if (r->rows == NULL || r->dims == NULL) return rheos__out_of_memory();
  r->new_rank = reduce_row(r->x.dims, r->reduced, rank, r->keep, 1, r->dims);
  for (int64_t i = 0; i < r->x.count; i++) {
    reduce_row(r->x.indices + i * rank, r->reduced, rank, r->keep, 0, r->rows + i * r->new_rank);
  }
  return rheos__sparse_order(r->rows, r->x.count, r->new_rank, &r->order);
}

static const int64_t *row_of(const reduction *r, int64_t i) {
  return r->rows + r->order[i] * r->new_rank;
}

// to[place] is loop() over the values first, first + 1, ... of one row; returns the one behind.
static int64_t reduce_run(const reduction *r, int64_t first, rheos_tensor *to, int64_t place) {
  const int64_t size = (int64_t)rheos_dtype_size(to->dtype);
  const char *values = r->x.values->data;
  char *out = (char *)to->data + place * size;
  memcpy(out, values + r->order[first] * size, (size_t)size);
  int64_t i = first + 1;
  for (; i < r->x.count; i++) {
    if (rheos__sparse_compare(row_of(r, first), row_of(r, i), r->new_rank) != 0) break;
    r->loop((const void *const[]){out, values + r->order[i] * size}, out, 1, 0, 0);
  }
  return i;
}

static rheos_status *reduce_dense(const reduction *r, rheos_tensor **outputs) {
  rheos_shape shape;
  RHEOS_TRY(rheos__sparse_dense_shape(r->dims, r->new_rank, &shape));
  RHEOS_TRY(rheos__tensor_new(r->x.values->dtype, &shape, &outputs[0]));
  memset(outputs[0]->data, 0, outputs[0]->size_bytes);
  for (int64_t i = 0; i < r->x.count;) {
    int64_t place = 0;
    for (int64_t d = 0; d < r->new_rank; d++) place = place * r->dims[d] + row_of(r, i)[d];
    i = reduce_run(r, i, outputs[0], place);
  }
  return NULL;
}

static rheos_status *reduce_sparse(const reduction *r, rheos_tensor **outputs) {
  int64_t count = 0;
  for (int64_t i = 0; i < r->x.count; i++) {
    count += i == 0 || rheos__sparse_compare(row_of(r, i - 1), row_of(r, i), r->new_rank) != 0;
  }
  RHEOS_TRY(rheos__sparse_new(r->x.values->dtype, count, r->new_rank, outputs));
  const size_t row_bytes = (size_t)r->new_rank * sizeof(int64_t);
  memcpy(outputs[2]->data, r->dims, row_bytes);
  for (int64_t i = 0, row = 0; i < r->x.count; row++) {
    memcpy((int64_t *)outputs[0]->data + row * r->new_rank, row_of(r, i), row_bytes);
    i = reduce_run(r, i, outputs[1], row);
  }
  return NULL;
}

static rheos_status *compute_reduce(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  const rheos__operands *o = state;
  reduction r = {
      .keep = rheos__attr_bool(o->attrs, "keep_dims"),
      .loop = rheos__binary_loop((rheos__binary)o->numbers[0], inputs[1]->dtype),
  };
  (void)step;
  rheos_status *status = start_reduction(inputs, &r);
  if (status == NULL) {
    status = o->num_outputs == 1 ? reduce_dense(&r, outputs) : reduce_sparse(&r, outputs);
  }
  free_reduction(&r);
  return status;
}

static rheos_status *prepare_reduce(rheos__prepare *p, rheos__binary kind) {
  const rheos_dtype dtype = p->input_dtypes[1];
  if (rheos__binary_loop(kind, dtype) == NULL) return rheos__no_kernel(p, dtype);
  RHEOS_TRY(rheos__answer_compute_operands(p, compute_reduce));
  ((rheos__operands *)p->state)->numbers[0] = (int64_t)kind;
  return NULL;
}
static rheos_status *prepare_sum(rheos__prepare *p) { return prepare_reduce(p, RHEOS__ADD); }
static rheos_status *prepare_max(rheos__prepare *p) { return prepare_reduce(p, RHEOS__MAXIMUM); }

static rheos_status *shape_reduce(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_sparse(c, 0, NULL));
  if (c->num_outputs == 3) {
    rheos__infer_sparse_output(c, 0, -1);
    return NULL;
  }
  rheos_shape dims;
  int64_t axes[RHEOS_MAX_RANK];
  int32_t count, axis;
  RHEOS_TRY(rheos__infer_shape_value(c, 2, &dims));
  if (dims.rank < 0 || !rheos__infer_ints(c, 3, axes, RHEOS_MAX_RANK, &count)) return NULL;
  bool reduced[RHEOS_MAX_RANK] = {false};
  for (int32_t i = 0; i < count; i++) {
    RHEOS_TRY(rheos__normal_axis(axes[i], dims.rank, &axis));
    reduced[axis] = true;
  }
  const bool keep = rheos__attr_bool(c->attrs, "keep_dims");
  c->output_shapes[0] = RHEOS_SCALAR;
  c->output_shapes[0].rank =
      (int32_t)reduce_row(dims.dims, reduced, dims.rank, keep, 1, c->output_shapes[0].dims);
  return NULL;
}

// Every value gets the gradient of the sum that it went into: its index divided by how many
// elements of each dimension make one of the result.
static void gradient_sum(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0), shape = g->inputs[2];
  const rheos_output axes = rheos__flatten(s, g->inputs[3]);
  const rheos_output rank = rheos__op_1(s, "Size", shape);
  const rheos_output wrapped = rheos__op_2(s, "FloorMod", rheos__py_add(s, axes, rank), rank);
  const rheos_output parts_at[] = {rheos__py_range(s, rank), wrapped};
  const rheos_output narrow = rheos__cast_to(s, shape, RHEOS_INT32);
  const rheos_output parts[] = {narrow, rheos__ones_like(s, wrapped)};
  const rheos_output inputs[] = {parts_at[0], parts_at[1], parts[0], parts[1]};
  const rheos_operation stitch = rheos__op_n(s, "DynamicStitch", NULL, inputs, 4, NULL, 0);
  if (rheos_scope_status(s) != NULL) return;
  const rheos_output kept = rheos_operation_output(stitch, 0);
  const rheos_output steps =
      rheos__cast_to(s, rheos__op_2(s, "FloorDiv", narrow, kept), RHEOS_INT64);
  const rheos_output whole = rheos__op_2(s, "Reshape", grad, kept);
  const rheos_output at = rheos__op_2(s, "FloorDiv", g->inputs[0], steps);
  rheos__grad_set(g, 1, rheos__op_2(s, "GatherNd", whole, at));
}

#define REDUCED \
  "input_indices: int64, input_values: T, input_shape: int64, reduction_axes: int32 -> "
#define DENSE "output: T; keep_dims: bool = false; T: "
#define SPARSE \
  "output_indices: int64, output_values: T, output_shape: int64; keep_dims: bool = false; T: "
#define REDUCE(op, text, about, gradient_fn, prepare_fn) \
  const rheos__op_def rheos__op_##op = {                 \
      .name = #op,                                       \
      .signature = REDUCED text,                         \
      .doc = about,                                      \
      .shape = shape_reduce,                             \
      .gradient = gradient_fn,                           \
      .prepare = prepare_fn,                             \
  }
REDUCE(SparseReduceSum, DENSE RHEOS__SPARSE_NUMBERS,
       "The sums of a sparse tensor over `reduction_axes`, as a dense tensor.", gradient_sum,
       prepare_sum);
REDUCE(SparseReduceMax, DENSE RHEOS__SPARSE_REALS,
       "The largest values of a sparse tensor over `reduction_axes`, as a dense tensor that is 0 "
       "where there are none.",
       NULL, prepare_max);
REDUCE(SparseReduceSumSparse, SPARSE RHEOS__SPARSE_NUMBERS,
       "The sums of a sparse tensor over `reduction_axes`, as a sparse tensor.", NULL, prepare_sum);
REDUCE(SparseReduceMaxSparse, SPARSE RHEOS__SPARSE_REALS,
       "The largest values of a sparse tensor over `reduction_axes`, as a sparse tensor.", NULL,
       prepare_max);

// ---- SparseSoftmax: over the values that share all indices but the last

static double exponential(rheos_dtype dtype, double x) {
  return dtype == RHEOS_DOUBLE ? exp(x) : (double)expf((float)x);
}

static void store(rheos_tensor *x, int64_t i, double value) {
  if (x->dtype == RHEOS_DOUBLE) {
    ((double *)x->data)[i] = value;
  } else if (x->dtype == RHEOS_FLOAT) {
    ((float *)x->data)[i] = (float)value;
  } else {
    ((uint16_t *)x->data)[i] = rheos__float_to_half((float)value);
  }
}

// Rows first, first + 1, ..., last - 1 of the order are one group.
static void softmax_group(const rheos__sparse *x, const int64_t *order, int64_t first, int64_t last,
                          rheos_tensor *out) {
  double largest = -INFINITY, total = 0;
  for (int64_t i = first; i < last; i++) {
    const double value = rheos__real_at(x->values, order[i]);
    if (value > largest || isnan(value)) largest = value;
  }
  for (int64_t i = first; i < last; i++) {
    total += exponential(out->dtype, rheos__real_at(x->values, order[i]) - largest);
  }
  for (int64_t i = first; i < last; i++) {
    store(out, order[i],
          exponential(out->dtype, rheos__real_at(x->values, order[i]) - largest) / total);
  }
}

static void softmax_groups(const rheos__sparse *x, const int64_t *order, rheos_tensor *out) {
  for (int64_t first = 0, last; first < x->count; first = last) {
    const int64_t *row = x->indices + order[first] * x->rank;
    for (last = first + 1; last < x->count; last++) {
      const int64_t *next = x->indices + order[last] * x->rank;
      if (rheos__sparse_compare(row, next, x->rank - 1) != 0) break;
    }
    softmax_group(x, order, first, last, out);
  }
}

static rheos_status *compute_softmax(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  rheos__sparse x;
  int64_t *order;
  (void)state, (void)step;
  RHEOS_TRY(rheos__sparse_of(inputs, &x));
  if (x.rank < 2) {
    return RHEOS_INVALID("Input should have rank >= 2, but received rank %lld", (long long)x.rank);
  }
  RHEOS_TRY(rheos__tensor_new(x.values->dtype, &x.values->shape, &outputs[0]));
  RHEOS_TRY(rheos__sparse_order(x.indices, x.count, x.rank, &order));
  softmax_groups(&x, order, outputs[0]);
  rheos__free(order);
  return NULL;
}

static rheos_status *prepare_softmax(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_softmax);
}

static rheos_status *shape_softmax(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_sparse(c, 0, NULL));
  return rheos__infer_rank(c, 1, 1, &c->output_shapes[0]);
}

// (grad - the sum of grad * softmax over the group) * softmax
static void gradient_softmax(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0), indices = g->inputs[0], shape = g->inputs[2];
  const rheos_output product = rheos__py_mul(s, grad, g->outputs[0]);
  const int32_t last[] = {-1};
  const rheos_attr keep[] = {rheos_attr_bool("keep_dims", true)};
  const rheos_output reduce_inputs[] = {indices, product, shape,
                                        rheos__const_ints(s, last, 1, "axis")};
  const rheos_operation sum = rheos__op_n(s, "SparseReduceSum", NULL, reduce_inputs, 4, keep, 1);
  if (rheos_scope_status(s) != NULL) return;
  const rheos_output negative = rheos__op_1(s, "Neg", rheos_operation_output(sum, 0));
  const rheos_output add_inputs[] = {indices, grad, shape, negative};
  const rheos_operation add = rheos__op_n(s, "SparseDenseCwiseAdd", NULL, add_inputs, 4, NULL, 0);
  if (rheos_scope_status(s) != NULL) return;
  rheos__grad_set(g, 1, rheos__py_mul(s, rheos_operation_output(add, 0), g->outputs[0]));
}

const rheos__op_def rheos__op_SparseSoftmax = {
    .name = "SparseSoftmax",
    .signature =
        "sp_indices: int64, sp_values: T, sp_shape: int64 -> output: T; T: {half, float, double}",
    .doc = "Softmax along the last dimension over the values that there are.",
    .shape = shape_softmax,
    .gradient = gradient_softmax,
    .prepare = prepare_softmax,
};
