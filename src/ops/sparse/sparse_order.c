// Ops that move the values of sparse tensors: SparseReorder, SparseReshape, SparseConcat,
// SparseSplit, SparseSlice, SparseFillEmptyRows.
#include <string.h>

#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"
#include "ops/sparse/sparse_util.h"

static void copy_row(int64_t *to, const int64_t *from, int64_t rank) {
  memcpy(to, from, (size_t)rank * sizeof *to);
}

// ---- SparseReorder

// outputs: indices and values in the order given.
static rheos_status *write_in_order(const rheos__sparse *x, const int64_t *order,
                                    rheos_tensor *indices, rheos_tensor *values) {
  for (int64_t i = 0; i < x->count; i++) {
    copy_row((int64_t *)indices->data + i * x->rank, x->indices + order[i] * x->rank, x->rank);
    RHEOS_TRY(rheos__copy_value(values, i, x->values, order[i]));
  }
  return NULL;
}

static rheos_status *compute_reorder(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  rheos__sparse x;
  int64_t *order;
  (void)state, (void)step;
  RHEOS_TRY(rheos__sparse_of(inputs, &x));
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &inputs[0]->shape, &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(x.values->dtype, &x.values->shape, &outputs[1]));
  RHEOS_TRY(rheos__sparse_order(x.indices, x.count, x.rank, &order));
  rheos_status *status = write_in_order(&x, order, outputs[0], outputs[1]);
  rheos__free(order);
  return status;
}

static rheos_status *prepare_reorder(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_reorder);
}

static rheos_status *shape_reorder(rheos__infer *c) {
  RHEOS_TRY(rheos__infer_sparse(c, 0, NULL));
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &c->output_shapes[0]));
  return rheos__infer_rank(c, 1, 1, &c->output_shapes[1]);
}

// Reorders the numbers 0, 1, ... in the same way, and turns that around.
static void gradient_reorder(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 1);
  const rheos_output shape = rheos__shape_node(s, g->inputs[0]);
  const rheos_output count =
      rheos__vector_at(s, shape, rheos__const_scalar(s, RHEOS_INT32, 0, "rows"));
  const rheos_output inputs[] = {g->inputs[0], rheos__py_range(s, count), g->inputs[2]};
  const rheos_operation order = rheos__op_n(s, "SparseReorder", NULL, inputs, 3, NULL, 0);
  if (rheos_scope_status(s) != NULL) return;
  const rheos_output back = rheos__op_1(s, "InvertPermutation", rheos_operation_output(order, 1));
  rheos__grad_set(g, 1, rheos__gather(s, grad, back));
}

const rheos__op_def rheos__op_SparseReorder = {
    .name = "SparseReorder",
    .signature =
        "input_indices: int64, input_values: T, input_shape: int64 -> output_indices: int64, "
        "output_values: T; T: type",
    .doc = "The sparse tensor with its values in the order in which a dense one has them.",
    .shape = shape_reorder,
    .gradient = gradient_reorder,
    .prepare = prepare_reorder,
};

// ---- SparseReshape

static rheos_status *find_unknown(const int64_t *dims, int64_t rank, int64_t *out_unknown,
                                  int64_t *out_product) {
  *out_unknown = -1;
  *out_product = 1;
  for (int64_t d = 0; d < rank; d++) {
    if (dims[d] == -1 && *out_unknown >= 0) {
      return RHEOS_INVALID("only one output dimension may be -1, not both %lld and %lld",
                           (long long)*out_unknown, (long long)d);
    }
    if (dims[d] == -1) {
      *out_unknown = d;
    } else if (dims[d] < 0) {
      return RHEOS_INVALID("size %lld must be non-negative, not %lld", (long long)d,
                           (long long)dims[d]);
    } else if (__builtin_mul_overflow(*out_product, dims[d], out_product)) {
      return RHEOS_INVALID("the new shape has too many elements to count");
    }
  }
  return NULL;
}

// The new shape with its unknown dimension filled in.
static rheos_status *resolve_shape(const int64_t *wanted, int64_t rank, int64_t cells,
                                   int64_t *dims) {
  int64_t unknown, product;
  RHEOS_TRY(find_unknown(wanted, rank, &unknown, &product));
  copy_row(dims, wanted, rank);
  if (unknown >= 0) {
    if (product == 0) {
      return RHEOS_INVALID(
          "reshape cannot infer the missing input size for an empty tensor "
          "unless all specified input sizes are non-zero");
    }
    if (cells % product != 0) {
      return RHEOS_INVALID(
          "Input to reshape is a SparseTensor with %lld dense values, but the "
          "requested shape requires a multiple of %lld",
          (long long)cells, (long long)product);
    }
    dims[unknown] = cells / product;
  } else if (product != cells) {
    return RHEOS_INVALID(
        "Input to reshape is a tensor with %lld dense values, but the requested "
        "shape has %lld",
        (long long)cells, (long long)product);
  }
  return NULL;
}

static rheos_status *check_reshape(rheos_tensor *const *inputs) {
  rheos__shape_text text;
  if (inputs[0]->shape.rank != 2) {
    return RHEOS_INVALID("Input indices should be a matrix but received shape %s",
                         rheos__shape_text_of(&inputs[0]->shape, &text));
  }
  for (int k = 1; k < 3; k++) {
    if (inputs[k]->shape.rank == 1) continue;
    return RHEOS_INVALID("%s shape should be a vector but received shape %s",
                         k == 1 ? "Input" : "Target",
                         rheos__shape_text_of(&inputs[k]->shape, &text));
  }
  if (inputs[0]->shape.dims[1] != inputs[1]->num_elements) {
    return RHEOS_INVALID("Input tensor rank must match input shape length.");
  }
  return NULL;
}

static rheos_status *compute_reshape(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)state, (void)step;
  RHEOS_TRY(check_reshape(inputs));
  const int64_t *indices = inputs[0]->data, *from = inputs[1]->data;
  const int64_t count = inputs[0]->shape.dims[0];
  const int64_t rank = inputs[1]->num_elements, new_rank = inputs[2]->num_elements;
  int64_t cells;
  RHEOS_TRY(rheos__sparse_product(from, rank, &cells));
  const rheos__sparse x = {indices, from, NULL, count, rank};
  RHEOS_TRY(rheos__sparse_check_bounds(&x));
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(count, new_rank), &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(new_rank), &outputs[1]));
  int64_t *to = outputs[0]->data, *dims = outputs[1]->data;
  RHEOS_TRY(resolve_shape(inputs[2]->data, new_rank, cells, dims));
  int64_t since = 0;
  for (int64_t i = 0; i < count; i++) {
    if (rheos__stops_after(&since, rank + new_rank, RHEOS__POLLED_ELEMENTS)) {
      return rheos__stopped();
    }
    int64_t place = 0;
    for (int64_t d = 0; d < rank; d++) place = place * from[d] + indices[i * rank + d];
    for (int64_t d = new_rank - 1; d >= 0; d--) {
      to[i * new_rank + d] = place % dims[d];
      place /= dims[d];
    }
  }
  return NULL;
}

static rheos_status *prepare_reshape(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_reshape);
}

static rheos_status *shape_reshape(rheos__infer *c) {
  rheos_shape indices, from, to;
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &indices));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &from));
  RHEOS_TRY(rheos__infer_rank(c, 2, 1, &to));
  c->output_shapes[0] = RHEOS_SHAPE(indices.dims[0], to.dims[0]);
  c->output_shapes[1] = to;
  return NULL;
}

const rheos__op_def rheos__op_SparseReshape = {
    .name = "SparseReshape",
    .signature =
        "input_indices: int64, input_shape: int64, new_shape: int64 -> output_indices: int64, "
        "output_shape: int64",
    .doc =
        "The indices of the same values under another shape of as many elements; one dimension may "
        "be "
        "-1.",
    .shape = shape_reshape,
    .gradient = rheos__no_gradient,
    .prepare = prepare_reshape,
};

// ---- SparseConcat

// The inputs of SparseConcat are all indices, then all values, then all shapes.
static rheos_status *concat_part(rheos_tensor *const *inputs, int32_t n, int32_t i,
                                 rheos__sparse *out_part) {
  rheos_tensor *const three[] = {inputs[i], inputs[n + i], inputs[2 * n + i]};
  return rheos__sparse_of(three, out_part);
}

static rheos_status *check_parts(rheos_tensor *const *inputs, int32_t n, int64_t concat_dim,
                                 int64_t *out_axis, int64_t *out_size, int64_t *out_count) {
  rheos__sparse first, part;
  RHEOS_TRY(concat_part(inputs, n, 0, &first));
  if (concat_dim < -first.rank || concat_dim >= first.rank) {
    return RHEOS_INVALID("Concat dimension must be in range [-%lld, %lld), got %lld",
                         (long long)first.rank, (long long)first.rank, (long long)concat_dim);
  }
  *out_axis = concat_dim < 0 ? concat_dim + first.rank : concat_dim;
  *out_size = *out_count = 0;
  for (int32_t i = 0; i < n; i++) {
    RHEOS_TRY(concat_part(inputs, n, i, &part));
    if (part.rank != first.rank) {
      return RHEOS_INVALID(
          "Ranks of all input tensors must match: expected %lld but got %lld at "
          "position %d",
          (long long)first.rank, (long long)part.rank, i);
    }
    for (int64_t d = 0; d < part.rank; d++) {
      if (d == *out_axis || part.dims[d] == first.dims[d]) continue;
      return RHEOS_INVALID(
          "Input shapes must match: expected %lld for dimension %lld but got "
          "%lld at position %d",
          (long long)first.dims[d], (long long)d, (long long)part.dims[d], i);
    }
    RHEOS_TRY(rheos__sparse_check_bounds(&part));
    if (__builtin_add_overflow(*out_size, part.dims[*out_axis], out_size)) {
      return RHEOS_INVALID("the dimension of the result is too large");
    }
    *out_count += part.count;
  }
  return NULL;
}

// The parts one behind the other, indices along `axis` moved on: not in order yet.
static rheos_status *join_parts(rheos_tensor *const *inputs, int32_t n, int64_t axis,
                                rheos_tensor *indices, rheos_tensor *values) {
  int64_t row = 0, offset = 0;
  for (int32_t i = 0; i < n; i++) {
    rheos__sparse part;
    RHEOS_TRY(concat_part(inputs, n, i, &part));
    for (int64_t j = 0; j < part.count; j++, row++) {
      int64_t *to = (int64_t *)indices->data + row * part.rank;
      copy_row(to, part.indices + j * part.rank, part.rank);
      to[axis] += offset;
      RHEOS_TRY(rheos__copy_value(values, row, part.values, j));
    }
    offset += part.dims[axis];
  }
  return NULL;
}

static rheos_status *sorted(const rheos_tensor *indices, const rheos_tensor *values, int64_t rank,
                            rheos_tensor **outputs) {
  const rheos__sparse joined = {indices->data, NULL, values, values->num_elements, rank};
  int64_t *order;
  RHEOS_TRY(rheos__sparse_order(joined.indices, joined.count, rank, &order));
  rheos_status *status = write_in_order(&joined, order, outputs[0], outputs[1]);
  rheos__free(order);
  return status;
}

static rheos_status *compute_concat(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  const rheos__operands *o = state;
  const int32_t n = o->num_inputs / 3;
  int64_t axis = 0, size = 0, count = 0;
  (void)step;
  RHEOS_TRY(check_parts(inputs, n, rheos__attr_int(o->attrs, "concat_dim"), &axis, &size, &count));
  const rheos_dtype dtype = inputs[n]->dtype;
  const int64_t rank = inputs[2 * n]->num_elements;
  RHEOS_TRY(rheos__sparse_new(dtype, count, rank, outputs));
  copy_row(outputs[2]->data, inputs[2 * n]->data, rank);
  ((int64_t *)outputs[2]->data)[axis] = size;
  rheos_tensor *indices = NULL, *values = NULL;
  rheos_status *status = rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(count, rank), &indices);
  if (status == NULL) status = rheos__tensor_new(dtype, &RHEOS_SHAPE(count), &values);
  if (status == NULL) status = join_parts(inputs, n, axis, indices, values);
  if (status == NULL) status = sorted(indices, values, rank, outputs);
  rheos_tensor_unref(indices);
  rheos_tensor_unref(values);
  return status;
}

static rheos_status *prepare_concat(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_concat);
}

static rheos_status *shape_concat(rheos__infer *c) {
  const int32_t n = c->num_inputs / 3;
  int64_t rank = -1, count = 0;
  for (int32_t i = 0; i < n; i++) {
    rheos_shape indices, values, dims;
    RHEOS_TRY(rheos__infer_rank(c, i, 2, &indices));
    RHEOS_TRY(rheos__infer_rank(c, n + i, 1, &values));
    RHEOS_TRY(rheos__infer_rank(c, 2 * n + i, 1, &dims));
    const int64_t found = indices.dims[1] >= 0 ? indices.dims[1] : dims.dims[0];
    RHEOS_TRY(rheos__infer_same_rows(c, i, n + i));
    if (dims.dims[0] >= 0 && found != dims.dims[0]) {
      return RHEOS_INVALID("indices of %lld coordinates in a shape of %lld", (long long)found,
                           (long long)dims.dims[0]);
    }
    if (rank >= 0 && found >= 0 && rank != found) {
      return RHEOS_INVALID("Ranks of all input tensors must match: expected %lld but got %lld",
                           (long long)rank, (long long)found);
    }
    if (found >= 0) rank = found;
    const int64_t rows = indices.dims[0] >= 0 ? indices.dims[0] : values.dims[0];
    count = rows < 0 || count < 0 ? -1 : count + rows;
  }
  rheos__infer_sparse_output(c, 0, rank);
  c->output_shapes[0].dims[0] = c->output_shapes[1].dims[0] = count;
  return NULL;
}

const rheos__op_def rheos__op_SparseConcat = {
    .name = "SparseConcat",
    .signature =
        "indices: N * int64, values: N * T, shapes: N * int64 -> output_indices: int64, "
        "output_values: T, output_shape: int64; concat_dim: int; N: int >= 2; T: type",
    .doc = "Sparse tensors one behind the other along dimension `concat_dim`.",
    .shape = shape_concat,
    .gradient = rheos__no_gradient,
    .prepare = prepare_concat,
};

// ---- SparseSplit

typedef struct split {
  rheos__sparse x;
  int64_t axis, num_split;
  int64_t size, larger;  // of the parts: the first `larger` ones have one more
} split;

static int64_t part_of(const split *t, int64_t at) {
  const int64_t in_larger = t->larger * (t->size + 1);
  return at < in_larger ? at / (t->size + 1) : t->larger + (at - in_larger) / t->size;
}
static int64_t part_start(const split *t, int64_t part) {
  return part * t->size + (part < t->larger ? part : t->larger);
}

static rheos_status *check_split(rheos_tensor *const *inputs, split *t) {
  RHEOS_TRY(rheos__sparse_of(inputs + 1, &t->x));
  if (inputs[0]->num_elements != 1) return RHEOS_INVALID("Input axis should be a scalar");
  const int64_t axis = *(const int64_t *)inputs[0]->data, rank = t->x.rank;
  if (axis < -rank || axis >= rank) {
    return RHEOS_INVALID("Input axis should be in range [-%lld, %lld), got %lld", (long long)rank,
                         (long long)rank, (long long)axis);
  }
  t->axis = axis < 0 ? axis + rank : axis;
  const int64_t dim = t->x.dims[t->axis];
  if (t->num_split < 1 || t->num_split > dim) {
    return RHEOS_INVALID(
        "Input num_split should be between 1 and the splitting dimension size "
        "(%lld), got %lld",
        (long long)dim, (long long)t->num_split);
  }
  t->size = dim / t->num_split;
  t->larger = dim % t->num_split;
  return rheos__sparse_check_bounds(&t->x);
}

// outputs: all indices, all values, all shapes. `counts` is zeros, and so again afterwards the
// number of values of each part.
static rheos_status *write_parts(const split *t, int64_t *counts, rheos_tensor **outputs) {
  const rheos__sparse *x = &t->x;
  const int64_t n = t->num_split;
  for (int64_t i = 0; i < x->count; i++) counts[part_of(t, x->indices[i * x->rank + t->axis])]++;
  for (int64_t part = 0; part < n; part++) {
    rheos_tensor *three[3] = {NULL};
    rheos_status *status = rheos__sparse_new(x->values->dtype, counts[part], x->rank, three);
    for (int k = 0; k < 3; k++) outputs[k * n + part] = three[k];
    RHEOS_TRY(status);
    copy_row(three[2]->data, x->dims, x->rank);
    ((int64_t *)three[2]->data)[t->axis] = t->size + (part < t->larger);
    counts[part] = 0;
  }
  for (int64_t i = 0; i < x->count; i++) {
    const int64_t *from = x->indices + i * x->rank, part = part_of(t, from[t->axis]);
    const int64_t row = counts[part]++;
    int64_t *to = (int64_t *)outputs[part]->data + row * x->rank;
    copy_row(to, from, x->rank);
    to[t->axis] -= part_start(t, part);
    RHEOS_TRY(rheos__copy_value(outputs[n + part], row, x->values, i));
  }
  return NULL;
}

static rheos_status *compute_split(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                   rheos_tensor **outputs) {
  const rheos__operands *o = state;
  split t = {.num_split = o->num_outputs / 3};
  (void)step;
  RHEOS_TRY(check_split(inputs, &t));
  int64_t *counts = rheos__alloc_array((size_t)t.num_split, sizeof *counts);
  if (counts == NULL) return rheos__out_of_memory();
  rheos_status *status = write_parts(&t, counts, outputs);
  rheos__free(counts);
  return status;
}

static rheos_status *prepare_split(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_split);
}

static rheos_status *shape_split(rheos__infer *c) {
  int64_t rank;
  RHEOS_TRY(rheos__infer_sparse(c, 1, &rank));
  const int32_t n = c->num_outputs / 3;
  for (int32_t i = 0; i < n; i++) {
    c->output_shapes[i] = RHEOS_SHAPE(-1, rank);
    c->output_shapes[n + i] = RHEOS_SHAPE(-1);
    c->output_shapes[2 * n + i] = RHEOS_SHAPE(rank);
  }
  return NULL;
}

const rheos__op_def rheos__op_SparseSplit = {
    .name = "SparseSplit",
    .signature =
        "split_dim: int64, indices: int64, values: T, shape: int64 -> "
        "output_indices: num_split * int64, output_values: num_split * T, "
        "output_shape: num_split * int64; num_split: int >= 1; T: type",
    .doc =
        "`num_split` parts of a sparse tensor along dimension `split_dim`, the first ones larger "
        "by "
        "one "
        "where it does not divide evenly.",
    .shape = shape_split,
    .prepare = prepare_split,
};
