// Ops between sparse and dense tensors: SparseToDense, SparseTensorDenseMatMul,
// SparseTensorDenseAdd, and the products and sums by element.
#include <stdio.h>
#include <string.h>

#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"
#include "ops/sparse/sparse_util.h"

// ---- SparseToDense

// The indices as rows: a scalar is one index of one dimension, a vector several of these.
static void index_rows(const rheos_shape *indices, int64_t *out_count, int64_t *out_rank) {
  *out_count = indices->rank == 0 ? 1 : indices->dims[0];
  *out_rank = indices->rank == 2 ? indices->dims[1] : 1;
}

static rheos_status *check_to_dense(rheos_tensor *const *inputs) {
  const rheos_shape *indices = &inputs[0]->shape, *values = &inputs[2]->shape;
  int64_t count, rank;
  rheos__shape_text text;
  if (indices->rank > 2) {
    return RHEOS_INVALID("sparse_indices should be a scalar, vector, or matrix, got shape %s",
                         rheos__shape_text_of(indices, &text));
  }
  if (inputs[1]->shape.rank != 1) {
    return RHEOS_INVALID("output_shape must be rank 1, got shape %s",
                         rheos__shape_text_of(&inputs[1]->shape, &text));
  }
  index_rows(indices, &count, &rank);
  if (inputs[1]->num_elements != rank) {
    return RHEOS_INVALID("output_shape has incorrect number of elements: %lld should be: %lld",
                         (long long)inputs[1]->num_elements, (long long)rank);
  }
  if (values->rank > 1 || (values->rank == 1 && values->dims[0] != count)) {
    return RHEOS_INVALID("sparse_values has incorrect shape %s, should be [] or [%lld]",
                         rheos__shape_text_of(values, &text), (long long)count);
  }
  if (inputs[3]->shape.rank != 0) return RHEOS_INVALID("default_value should be a scalar.");
  return NULL;
}

// Where row `row` stands in the dense tensor; -1 if it does not.
static int64_t place_of(const int64_t *row, const rheos_shape *shape) {
  int64_t place = 0;
  for (int32_t d = 0; d < shape->rank; d++) {
    if (row[d] < 0 || row[d] >= shape->dims[d]) return -1;
    place = place * shape->dims[d] + row[d];
  }
  return place;
}

static rheos_status *check_order(const int64_t *rows, const rheos_shape *shape, int64_t i) {
  if (i == 0) return NULL;
  const int64_t *row = rows + i * shape->rank;
  const int order = rheos__sparse_compare(row - shape->rank, row, shape->rank);
  if (order < 0) return NULL;
  return rheos__sparse_bad_row(row, shape->rank, i,
                               order == 0 ? "is repeated"
                                          : "is out of order. Many sparse ops require sorted "
                                            "indices. Use rheos_sparse_reorder() to create a "
                                            "correctly ordered copy.");
}

static rheos_status *scatter_values(const int64_t *rows, int64_t count, bool validate,
                                    const rheos_tensor *values, rheos_tensor *out) {
  const rheos_shape *shape = &out->shape;
  rheos__shape_text text;
  for (int64_t i = 0; i < count; i++) {
    const int64_t place = place_of(rows + i * shape->rank, shape);
    if (place < 0 && validate) {
      char problem[256];
      snprintf(problem, sizeof problem, "is out of bounds: need 0 <= index < %s",
               rheos__shape_text_of(shape, &text));
      return rheos__sparse_bad_row(rows + i * shape->rank, shape->rank, i, problem);
    }
    if (place < 0) {
      return RHEOS_INVALID("Indices are not valid (out of bounds).  Shape: %s",
                           rheos__shape_text_of(shape, &text));
    }
    if (validate) RHEOS_TRY(check_order(rows, shape, i));
    RHEOS_TRY(rheos__copy_value(out, place, values, values->shape.rank == 0 ? 0 : i));
  }
  return NULL;
}

// Indices of any width as int64, for rheos__free().
static rheos_status *wide_indices(const rheos_tensor *indices, int64_t **out_rows) {
  *out_rows = rheos__alloc_array((size_t)indices->num_elements, sizeof **out_rows);
  if (*out_rows == NULL) return rheos__out_of_memory();
  for (int64_t i = 0; i < indices->num_elements; i++) {
    (*out_rows)[i] = rheos__tensor_int_at(indices, i);
  }
  return NULL;
}

static rheos_status *compute_to_dense(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                      rheos_tensor **outputs) {
  const rheos__operands *o = state;
  rheos_shape shape;
  int64_t count, rank, *rows;
  (void)step;
  RHEOS_TRY(check_to_dense(inputs));
  index_rows(&inputs[0]->shape, &count, &rank);
  RHEOS_TRY(wide_indices(inputs[1], &rows));
  rheos_status *status = rheos__sparse_dense_shape(rows, rank, &shape);
  rheos__free(rows);
  RHEOS_TRY(status);
  RHEOS_TRY(rheos__tensor_new(inputs[2]->dtype, &shape, &outputs[0]));
  RHEOS_TRY(rheos__fill_elements(inputs[3]->dtype, outputs[0]->data, inputs[3]->data,
                                 outputs[0]->num_elements));
  RHEOS_TRY(wide_indices(inputs[0], &rows));
  status = scatter_values(rows, count, rheos__attr_bool(o->attrs, "validate_indices"), inputs[2],
                          outputs[0]);
  rheos__free(rows);
  return status;
}

static rheos_status *prepare_to_dense(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_to_dense);
}

static rheos_status *shape_to_dense(rheos__infer *c) {
  rheos_shape ignored;
  if (c->input_shapes[0].rank > 2) return RHEOS_INVALID("sparse_indices has rank above 2");
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &ignored));
  RHEOS_TRY(rheos__infer_rank(c, 3, 0, &ignored));
  return rheos__infer_shape_value(c, 1, &c->output_shapes[0]);
}

// Indices may be one number, or one for each value, where the tensor is a vector; one value may
// stand for all.
static void gradient_to_dense(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0);
  const int32_t rank = rheos_output_shape(g->inputs[0]).rank;
  rheos_output indices = g->inputs[0];
  if (rank == 0 || rank == 1) indices = rheos__reshape_to(s, indices, &RHEOS_SHAPE(-1, 1));
  rheos_output by_values = rheos__op_2(s, "GatherNd", grad, indices);
  const rheos_output of_values = rheos__py_range(s, rheos__op_1(s, "Rank", by_values));
  const rheos_output all = rheos__py_range(s, rheos__op_1(s, "Rank", grad));
  const rheos_output whole = rheos__sum_over(s, grad, all, false);
  const rheos_output taken = rheos__sum_over(s, by_values, of_values, false);
  if (rheos_output_shape(g->inputs[2]).rank == 0) by_values = taken;
  rheos__grad_set(g, 2, by_values);
  rheos__grad_set(g, 3, rheos__py_sub(s, whole, taken));
}

const rheos__op_def rheos__op_SparseToDense = {
    .name = "SparseToDense",
    .signature =
        "sparse_indices: Tindices, output_shape: Tindices, sparse_values: T, default_value: T -> "
        "dense: T; validate_indices: bool = true; T: type; Tindices: {int32, int64}",
    .doc =
        "A tensor of `output_shape` with `sparse_values` at `sparse_indices` and `default_value` "
        "everywhere else.",
    .shape = shape_to_dense,
    .gradient = gradient_to_dense,
    .prepare = prepare_to_dense,
};

// ---- SparseTensorDenseMatMul

typedef struct product {
  const rheos_tensor *indices, *values, *b;
  rheos_tensor *out;
  rheos__loop multiply, add;
  bool adjoint_a, adjoint_b;
  int64_t rows, inner, columns;
} product;

static rheos_status *check_product(rheos_tensor *const *inputs, product *m) {
  const rheos_tensor *indices = inputs[0], *values = inputs[1], *dims = inputs[2], *b = inputs[3];
  rheos__shape_text text;
  if (b->shape.rank != 2) return RHEOS_INVALID("Tensor 'b' is not a matrix");
  if (dims->shape.rank != 1) return RHEOS_INVALID("Tensor 'a_shape' is not a vector");
  if (dims->num_elements != 2) return RHEOS_INVALID("Tensor 'a_shape' must have 2 elements");
  if (values->shape.rank != 1) return RHEOS_INVALID("Tensor 'a_values' is not a vector");
  if (indices->shape.rank != 2) return RHEOS_INVALID("Tensor 'a_indices' is not a matrix");
  if (indices->shape.dims[0] != values->num_elements) {
    return RHEOS_INVALID(
        "Number of rows of a_indices does not match number of entries in a_values");
  }
  if (indices->shape.dims[1] != 2) {
    return RHEOS_INVALID(
        "Number of columns of a_indices does not match number of entries in "
        "a_shape");
  }
  const int64_t *a_dims = dims->data;
  m->rows = a_dims[m->adjoint_a];
  m->inner = a_dims[!m->adjoint_a];
  m->columns = b->shape.dims[!m->adjoint_b];
  if (m->inner != b->shape.dims[m->adjoint_b]) {
    return RHEOS_INVALID(
        "Cannot multiply A and B because inner dimension does not match: %lld vs. %lld.  Did you "
        "forget a transpose?  Dimensions of A: [%lld, %lld).  Dimensions of B: %s",
        (long long)m->inner, (long long)b->shape.dims[m->adjoint_b], (long long)a_dims[0],
        (long long)a_dims[1], rheos__shape_text_of(&b->shape, &text));
  }
  return NULL;
}

// Element `index` of x, conjugated if it is complex and `adjoint`.
static const void *element(const rheos_tensor *x, int64_t index, bool adjoint, double *room) {
  const char *at = (const char *)x->data + index * (int64_t)rheos_dtype_size(x->dtype);
  if (!adjoint || !rheos_dtype_is_complex(x->dtype)) return at;
  memcpy(room, at, rheos_dtype_size(x->dtype));
  if (x->dtype == RHEOS_COMPLEX64) {
    ((float *)room)[1] = -((float *)room)[1];
  } else {
    room[1] = -room[1];
  }
  return room;
}

// Row `row` of the result gets `value` times row `inner` of b.
static void add_row(const product *m, const void *value, int64_t row, int64_t inner) {
  const int64_t size = (int64_t)rheos_dtype_size(m->out->dtype);
  const int64_t row_step = m->adjoint_b ? 1 : m->columns, step = m->adjoint_b ? m->inner : 1;
  for (int64_t j = 0; j < m->columns; j++) {
    double room[2], term[2];
    char *to = (char *)m->out->data + (row * m->columns + j) * size;
    const void *b = element(m->b, inner * row_step + j * step, m->adjoint_b, room);
    m->multiply((const void *const[]){value, b}, term, 1, 0, 0);
    m->add((const void *const[]){to, term}, to, 1, 0, 0);
  }
}

enum { PRODUCTS_BETWEEN_POLLS = 1 << 16 };

static rheos_status *add_products(const product *m) {
  int64_t since = 0;
  for (int64_t i = 0; i < m->values->num_elements; i++) {
    const int64_t row = rheos__tensor_int_at(m->indices, 2 * i + m->adjoint_a);
    const int64_t inner = rheos__tensor_int_at(m->indices, 2 * i + !m->adjoint_a);
    if (inner < 0 || inner >= m->inner) {
      return RHEOS_INVALID("k (%lld) from index[%lld,%d] out of bounds (>=%lld)", (long long)inner,
                           (long long)i, !m->adjoint_a, (long long)m->inner);
    }
    if (row < 0 || row >= m->rows) {
      return RHEOS_INVALID("m (%lld) from index[%lld,%d] out of bounds (>=%lld)", (long long)row,
                           (long long)i, m->adjoint_a, (long long)m->rows);
    }
    if (rheos__stops_after(&since, 1 + m->columns, PRODUCTS_BETWEEN_POLLS)) {
      return rheos__stopped();
    }
    double room[2];
    add_row(m, element(m->values, i, m->adjoint_a, room), row, inner);
  }
  return NULL;
}

static rheos_status *compute_product(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  const rheos__operands *o = state;
  const rheos_dtype dtype = inputs[1]->dtype;
  product m = {
      .indices = inputs[0],
      .values = inputs[1],
      .b = inputs[3],
      .multiply = rheos__binary_loop(RHEOS__MUL, dtype),
      .add = rheos__binary_loop(RHEOS__ADD, dtype),
      .adjoint_a = rheos__attr_bool(o->attrs, "adjoint_a"),
      .adjoint_b = rheos__attr_bool(o->attrs, "adjoint_b"),
  };
  (void)step;
  RHEOS_TRY(check_product(inputs, &m));
  RHEOS_TRY(rheos__tensor_new(dtype, &RHEOS_SHAPE(m.rows, m.columns), &outputs[0]));
  memset(outputs[0]->data, 0, outputs[0]->size_bytes);
  m.out = outputs[0];
  return add_products(&m);
}

static rheos_status *prepare_product(rheos__prepare *p) {
  const rheos_dtype dtype = p->output_dtypes[0];
  const bool has_loops = rheos__binary_loop(RHEOS__MUL, dtype) != NULL &&
                         rheos__binary_loop(RHEOS__ADD, dtype) != NULL;
  return has_loops ? rheos__answer_compute_operands(p, compute_product)
                   : rheos__no_kernel(p, dtype);
}

static rheos_status *shape_product(rheos__infer *c) {
  rheos_shape ignored, b, a = RHEOS_SHAPE(-1, -1), dims;
  const bool adjoint_a = rheos__attr_bool(c->attrs, "adjoint_a");
  const bool adjoint_b = rheos__attr_bool(c->attrs, "adjoint_b");
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &ignored));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &ignored));
  RHEOS_TRY(rheos__infer_rank(c, 2, 1, &dims));
  RHEOS_TRY(rheos__infer_rank(c, 3, 2, &b));
  rheos_shape value;
  RHEOS_TRY(rheos__infer_shape_value(c, 2, &value));
  if (value.rank >= 0 && value.rank != 2) {
    return RHEOS_INVALID("Tensor 'a_shape' must have 2 elements");
  }
  if (value.rank == 2) a = value;
  const int64_t a_inner = a.dims[!adjoint_a], b_inner = b.dims[adjoint_b];
  if (a_inner >= 0 && b_inner >= 0 && a_inner != b_inner) {
    return RHEOS_INVALID("Dimensions must be equal, but are %lld and %lld", (long long)a_inner,
                         (long long)b_inner);
  }
  c->output_shapes[0] = RHEOS_SHAPE(a.dims[adjoint_a], b.dims[!adjoint_b]);
  return NULL;
}

// Column `column` of the indices.
static rheos_output index_column(rheos_scope *s, rheos_output indices, int32_t column) {
  return rheos__op_3(s, "GatherV2", indices, rheos__const_scalar(s, RHEOS_INT32, column, "column"),
                     rheos__const_scalar(s, RHEOS_INT32, 1, "axis"));
}

// b: the adjoint product. Values: row by row the product of what the value was multiplied with.
static void gradient_product(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const bool adjoint_a = rheos__attr_bool(g->attrs, "adjoint_a");
  const bool adjoint_b = rheos__attr_bool(g->attrs, "adjoint_b");
  const rheos_output grad = rheos__grad_dense(g, 0), b = g->inputs[3];
  if (rheos_scope_status(s) != NULL) return;
  const bool conjugate = rheos_dtype_is_complex(rheos_output_dtype(grad));
  const int32_t swap[] = {1, 0};
  const rheos_output inputs[] = {g->inputs[0], g->inputs[1], g->inputs[2], grad};
  const rheos_attr attrs[] = {rheos_attr_bool("adjoint_a", !adjoint_a)};
  rheos_output by_b = rheos__named_n(s, "SparseTensorDenseMatMul", NULL, inputs, 4, attrs, 1);
  const rheos_output perm = rheos__const_ints(s, swap, 2, "perm");
  if (adjoint_b) by_b = rheos__transpose_by(s, by_b, perm, conjugate);
  rheos__grad_set(g, 3, by_b);
  const rheos_output rows = index_column(s, g->inputs[0], 0);
  const rheos_output columns = index_column(s, g->inputs[0], 1);
  const rheos_output of_grad = rheos__gather(s, grad, adjoint_a ? columns : rows);
  rheos_output other = adjoint_b ? rheos__transpose_by(s, b, perm, conjugate) : b;
  other = rheos__gather(s, other, adjoint_a ? rows : columns);
  if (conjugate) other = rheos__op_1(s, "Conj", other);
  const int32_t axis[] = {1};
  rheos_output by_values = rheos__sum_axes(s, rheos__py_mul(s, of_grad, other), axis, 1, false);
  if (conjugate && adjoint_a) by_values = rheos__op_1(s, "Conj", by_values);
  rheos__grad_set(g, 1, by_values);
}

const rheos__op_def rheos__op_SparseTensorDenseMatMul = {
    .name = "SparseTensorDenseMatMul",
    .signature =
        "a_indices: Tindices, a_values: T, a_shape: int64, b: T -> product: T; T: type; "
        "Tindices: {int32, int64} = int64; adjoint_a: bool = false; adjoint_b: bool = false",
    .doc =
        "The product of a sparse matrix and the matrix `b`, either transposed and conjugated if "
        "asked "
        "for.",
    .shape = shape_product,
    .gradient = gradient_product,
    .prepare = prepare_product,
};

// ---- SparseTensorDenseAdd

static rheos_status *check_dense_add(rheos_tensor *const *inputs) {
  const rheos_tensor *indices = inputs[0], *values = inputs[1], *dims = inputs[2], *b = inputs[3];
  if (indices->shape.rank != 2 || values->shape.rank != 1 || dims->shape.rank != 1 ||
      indices->shape.dims[0] != values->num_elements ||
      indices->shape.dims[1] != dims->num_elements) {
    return RHEOS_INVALID("the indices, values and shape of the sparse operand do not fit");
  }
  if (dims->num_elements != b->shape.rank) {
    return RHEOS_INVALID("Dimensions %d and %lld are not compatible", b->shape.rank,
                         (long long)dims->num_elements);
  }
  for (int32_t d = 0; d < b->shape.rank; d++) {
    const int64_t dim = rheos__tensor_int_at(dims, d);
    if (dim == b->shape.dims[d]) continue;
    return RHEOS_INVALID(
        "Dimension %d does not equal (no broadcasting is supported): sparse side "
        "%lld vs dense side %lld",
        d, (long long)dim, (long long)b->shape.dims[d]);
  }
  return NULL;
}

static rheos_status *compute_dense_add(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  const rheos_tensor *values = inputs[1];
  const rheos__loop add = rheos__binary_loop(RHEOS__ADD, values->dtype);
  const int64_t size = (int64_t)rheos_dtype_size(values->dtype);
  (void)state, (void)step;
  RHEOS_TRY(check_dense_add(inputs));
  RHEOS_TRY(rheos_tensor_copy(inputs[3], &outputs[0]));
  const rheos_shape *shape = &outputs[0]->shape;
  for (int64_t i = 0; i < values->num_elements; i++) {
    int64_t row[RHEOS_MAX_RANK] = {0};
    for (int32_t d = 0; d < shape->rank; d++) {
      row[d] = rheos__tensor_int_at(inputs[0], i * shape->rank + d);
    }
    const int64_t place = place_of(row, shape);
    if (place < 0)
      return rheos__sparse_bad_row(row, shape->rank, i, "is out of the dense tensor's shape");
    char *to = (char *)outputs[0]->data + place * size;
    const void *value = (const char *)values->data + i * size;
    add((const void *const[]){to, value}, to, 1, 0, 0);
  }
  return NULL;
}

static rheos_status *prepare_dense_add(rheos__prepare *p) {
  const rheos_dtype dtype = p->output_dtypes[0];
  if (rheos__binary_loop(RHEOS__ADD, dtype) == NULL) return rheos__no_kernel(p, dtype);
  return rheos__answer_compute_operands(p, compute_dense_add);
}

static rheos_status *shape_dense_add(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_sparse(c, 0, NULL));
  c->output_shapes[0] = c->input_shapes[3];
  return NULL;
}

static void gradient_dense_add(rheos__grad *g) {
  const rheos_output grad = rheos__grad_dense(g, 0);
  rheos__grad_set(g, 1, rheos__op_2(g->scope, "GatherNd", grad, g->inputs[0]));
  rheos__grad_set(g, 3, grad);
}

const rheos__op_def rheos__op_SparseTensorDenseAdd = {
    .name = "SparseTensorDenseAdd",
    .signature =
        "a_indices: Tindices, a_values: T, a_shape: Tindices, b: T -> output: T; "
        "T: " RHEOS__SPARSE_NUMBERS "; Tindices: {int32, int64}",
    .doc = "The sum of a sparse tensor and the tensor `b` of the same shape.",
    .shape = shape_dense_add,
    .gradient = gradient_dense_add,
    .prepare = prepare_dense_add,
};

// ---- SparseDenseCwiseAdd, SparseDenseCwiseMul, SparseDenseCwiseDiv: the dense operand is
// broadcast to the sparse one.

static bool broadcasts_to(const rheos_shape *from, const rheos_shape *to) {
  if (from->rank > to->rank) return false;
  for (int32_t d = 1; d <= from->rank; d++) {
    const int64_t dim = from->dims[from->rank - d];
    if (dim != 1 && dim != to->dims[to->rank - d]) return false;
  }
  return true;
}

static rheos_status *check_cwise(const rheos__sparse *a, const rheos_tensor *dense,
                                 rheos_shape *out_shape) {
  rheos__shape_text x, y;
  RHEOS_TRY(rheos__sparse_dense_shape(a->dims, a->rank, out_shape));
  if (!broadcasts_to(&dense->shape, out_shape)) {
    return RHEOS_INVALID(
        "SparseDenseBinaryOpShared broadcasts dense to sparse only; got "
        "incompatible shapes: %s vs. %s",
        rheos__shape_text_of(out_shape, &x), rheos__shape_text_of(&dense->shape, &y));
  }
  int64_t cells;
  RHEOS_TRY(rheos__sparse_product(a->dims, a->rank, &cells));
  return rheos__sparse_check_bounds(a);
}

static rheos_status *compute_cwise(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  const rheos__operands *o = state;
  const rheos__loop loop = rheos__binary_loop((rheos__binary)o->numbers[0], inputs[1]->dtype);
  const int64_t size = (int64_t)rheos_dtype_size(inputs[1]->dtype);
  rheos__sparse a;
  rheos_shape shape;
  (void)step;
  RHEOS_TRY(rheos__sparse_of(inputs, &a));
  RHEOS_TRY(check_cwise(&a, inputs[3], &shape));
  RHEOS_TRY(rheos__tensor_new(a.values->dtype, &a.values->shape, &outputs[0]));
  for (int64_t i = 0; i < a.count; i++) {
    const int64_t place = place_of(a.indices + i * a.rank, &shape);
    const int64_t at = rheos__broadcast_index(&inputs[3]->shape, &shape, place);
    const void *in[] = {(const char *)a.values->data + i * size,
                        (const char *)inputs[3]->data + at * size};
    if (loop(in, (char *)outputs[0]->data + i * size, 1, 0, 0) == 0) continue;
    return RHEOS_INVALID(
        "SparseDenseCwiseDiv cannot divide by zero, but input dense tensor "
        "contains zero");
  }
  return NULL;
}

static rheos_status *prepare_cwise(rheos__prepare *p, rheos__binary kind) {
  const rheos_dtype dtype = p->output_dtypes[0];
  if (rheos__binary_loop(kind, dtype) == NULL || rheos_dtype_is_complex(dtype)) {
    return rheos__no_kernel(p, dtype);
  }
  RHEOS_TRY(rheos__answer_compute_operands(p, compute_cwise));
  ((rheos__operands *)p->state)->numbers[0] = (int64_t)kind;
  return NULL;
}
static rheos_status *prepare_cwise_add(rheos__prepare *p) { return prepare_cwise(p, RHEOS__ADD); }
static rheos_status *prepare_cwise_mul(rheos__prepare *p) { return prepare_cwise(p, RHEOS__MUL); }
static rheos_status *prepare_cwise_div(rheos__prepare *p) { return prepare_cwise(p, RHEOS__DIV); }

static rheos_status *shape_cwise(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_sparse(c, 0, NULL));
  c->output_shapes[0] = RHEOS_SHAPE(c->input_shapes[0].rank == 2 ? c->input_shapes[0].dims[0] : -1);
  if (c->output_shapes[0].dims[0] < 0 && c->input_shapes[1].rank == 1) {
    c->output_shapes[0] = c->input_shapes[1];
  }
  return NULL;
}

// The elements of the dense operand that stand at the indices, broadcast: index modulo shape, the
// dimensions in front left out.
static rheos_output dense_values(rheos_scope *s, const rheos__grad *g, rheos_output *out_indices) {
  const rheos_output dense = g->inputs[3];
  const rheos_output shape = rheos__cast_to(s, rheos__shape_node(s, dense), RHEOS_INT64);
  const rheos_output lengths[] = {rheos__op_1(s, "Size", g->inputs[2]),
                                  rheos__op_1(s, "Rank", dense)};
  const rheos_output in_front = rheos__op_2(s, "Sub", lengths[0], lengths[1]);
  const rheos_output begin[] = {rheos__const_scalar(s, RHEOS_INT32, 0, "row"), in_front};
  const int32_t all[] = {-1, -1};
  const rheos_output indices = rheos__op_3(s, "Slice", g->inputs[0], rheos__stack(s, begin, 2, 0),
                                           rheos__const_ints(s, all, 2, "size"));
  *out_indices = rheos__op_2(s, "FloorMod", indices, shape);
  return rheos__op_2(s, "GatherNd", dense, *out_indices);
}

static void gradient_cwise(rheos__grad *g, bool divides) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0);
  rheos_output indices;
  const rheos_output dense = dense_values(s, g, &indices);
  const rheos_output value = g->inputs[1];
  const rheos_output shape = rheos__cast_to(s, rheos__shape_node(s, g->inputs[3]), RHEOS_INT64);
  rheos_output by_dense;
  if (divides) {
    rheos__grad_set(g, 1, rheos__py_div(s, grad, dense));
    const rheos_output quotient = rheos__py_div(s, rheos__op_1(s, "Neg", value), dense);
    by_dense = rheos__py_mul(s, grad, rheos__py_div(s, quotient, dense));
  } else {
    rheos__grad_set(g, 1, rheos__py_mul(s, grad, dense));
    by_dense = rheos__py_mul(s, grad, value);
  }
  rheos__grad_set(g, 3, rheos__op_3(s, "ScatterNd", indices, by_dense, shape));
}
static void gradient_cwise_mul(rheos__grad *g) { gradient_cwise(g, false); }
static void gradient_cwise_div(rheos__grad *g) { gradient_cwise(g, true); }

#define CWISE(op, about, gradient_fn, prepare_fn)                                     \
  const rheos__op_def rheos__op_##op = {                                              \
      .name = #op,                                                                    \
      .signature =                                                                    \
          "sp_indices: int64, sp_values: T, sp_shape: int64, dense: T -> output: T; " \
          "T: " RHEOS__SPARSE_NUMBERS,                                                \
      .doc = about,                                                                   \
      .shape = shape_cwise,                                                           \
      .gradient = gradient_fn,                                                        \
      .prepare = prepare_fn,                                                          \
  }
CWISE(SparseDenseCwiseAdd,
      "The values of a sparse tensor plus what stands at their places in `dense`, which is "
      "broadcast.",
      NULL, prepare_cwise_add);
CWISE(SparseDenseCwiseMul,
      "The values of a sparse tensor times what stands at their places in `dense`, which is "
      "broadcast.",
      gradient_cwise_mul, prepare_cwise_mul);
CWISE(SparseDenseCwiseDiv,
      "The values of a sparse tensor divided by what stands at their places in `dense`, which is "
      "broadcast.",
      gradient_cwise_div, prepare_cwise_div);
