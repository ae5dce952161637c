// RaggedBincount and SparseBincount: how often each number occurs in each row.
#include "ops/math/binning.h"
#include "ops/ragged/ragged.h"
#include "ops/sparse/sparse_util.h"

static rheos_status *infer_size(const rheos__infer *c, int32_t input, int64_t *out_size) {
  rheos_shape ignored;
  RHEOS_TRY(rheos__infer_rank(c, input, 0, &ignored));
  *out_size = -1;
  if (rheos__infer_int(c, input, out_size) && *out_size < 0) {
    return RHEOS_INVALID("size (%lld) must be non-negative", (long long)*out_size);
  }
  return NULL;
}

// Makes the bins of `rows` rows (-1: of a vector), all 0, for a vector of values.
static rheos_status *start(const rheos_tensor *values, const rheos_tensor *size,
                           const rheos_tensor *weights, int64_t rows, bool binary,
                           rheos_tensor **out_bins, rheos__counting *out) {
  static const char zero[16];
  if (values->shape.rank != 1) {
    return RHEOS_INVALID("values must be a vector, but have rank %d", values->shape.rank);
  }
  if (size->shape.rank != 0) return RHEOS_INVALID("size must be a scalar");
  if (weights->num_elements != 0 && weights->num_elements != values->num_elements) {
    return RHEOS_INVALID("%lld weights for %lld values", (long long)weights->num_elements,
                         (long long)values->num_elements);
  }
  *out = (rheos__counting){
      .dtype = weights->dtype,
      .size = rheos__tensor_int_at(size, 0),
      .binary = binary,
      .weights = weights->num_elements > 0 ? weights->data : NULL,
      .add = rheos__add_of(weights->dtype),
  };
  if (out->size < 0) {
    return RHEOS_INVALID("size (%lld) must be non-negative", (long long)out->size);
  }
  const rheos_shape shape = rows < 0 ? RHEOS_SHAPE(out->size) : RHEOS_SHAPE(rows, out->size);
  RHEOS_TRY(rheos__tensor_new(weights->dtype, &shape, out_bins));
  out->bins = (*out_bins)->data;
  return rheos__fill_elements(weights->dtype, out->bins, zero, (*out_bins)->num_elements);
}

static rheos_status *prepare_counting(rheos__prepare *p, rheos__compute_fn compute) {
  rheos__operands *o = rheos__keep_operands(p);
  if (o == NULL) return rheos__out_of_memory();
  o->numbers[0] = rheos__attr_bool(p->attrs, "binary_output");
  p->state = o;
  p->compute = compute;
  return NULL;
}

// ---- RaggedBincount

static rheos_status *shape_ragged(rheos__infer *c) {
  rheos_shape splits;
  int64_t size;
  RHEOS_TRY(rheos__infer_rank(c, 0, 1, &splits));
  RHEOS_TRY(infer_size(c, 2, &size));
  const int64_t rows = splits.dims[0] > 0 ? splits.dims[0] - 1 : -1;
  c->output_shapes[0] = RHEOS_SHAPE(rows, size);
  return NULL;
}

static rheos_status *compute_ragged(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  const rheos_tensor *splits = inputs[0], *values = inputs[1];
  rheos__counting k;
  RHEOS_TRY(rheos__check_splits(splits, values->num_elements));
  RHEOS_TRY(start(values, inputs[2], inputs[3], rheos__num_rows(splits), o->numbers[0] != 0,
                  &outputs[0], &k));
  for (int64_t row = 0; row < rheos__num_rows(splits); row++) {
    const int64_t end = rheos__tensor_int_at(splits, row + 1);
    for (int64_t i = rheos__tensor_int_at(splits, row); i < end; i++) {
      RHEOS_TRY(rheos__count(&k, row, rheos__tensor_int_at(values, i), i));
    }
  }
  return NULL;
}

static rheos_status *prepare_ragged(rheos__prepare *p) {
  return prepare_counting(p, compute_ragged);
}

#define COUNT_ATTRS "Tidx: index; T: {int32, int64, float, double}; binary_output: bool = false"
const rheos__op_def rheos__op_RaggedBincount = {
    .name = "RaggedBincount",
    .signature = "splits: int64, values: Tidx, size: Tidx, weights: T -> output: T; " COUNT_ATTRS,
    .doc =
        "How often each number below `size` occurs in each row of a ragged matrix, or the sum of "
        "its `weights`, or whether it occurs.",
    .shape = shape_ragged,
    .prepare = prepare_ragged,
};

// ---- SparseBincount

static rheos_status *shape_sparse(rheos__infer *c) {
  rheos_shape dims;
  int64_t size, rows = -1;
  RHEOS_TRY(rheos__infer_rank(c, 2, 1, &dims));
  RHEOS_TRY(infer_size(c, 3, &size));
  const rheos_tensor *value = c->input_values != NULL ? c->input_values[2] : NULL;
  if (value != NULL && value->num_elements > 1) rows = rheos__tensor_int_at(value, 0);
  if (dims.dims[0] == 1) c->output_shapes[0] = RHEOS_SHAPE(size);
  if (dims.dims[0] > 1) c->output_shapes[0] = RHEOS_SHAPE(rows < 0 ? -1 : rows, size);
  return NULL;
}

static rheos_status *compute_sparse(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                    rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  rheos__sparse sparse;
  rheos__counting k;
  RHEOS_TRY(rheos__sparse_of(inputs, &sparse));
  RHEOS_TRY(rheos__sparse_check_bounds(&sparse));
  if (sparse.rank < 1) return RHEOS_INVALID("a sparse tensor of rank 0 has no rows");
  const int64_t rows = sparse.rank > 1 ? sparse.dims[0] : -1;
  RHEOS_TRY(start(sparse.values, inputs[3], inputs[4], rows, o->numbers[0] != 0, &outputs[0], &k));
  for (int64_t i = 0; i < sparse.count; i++) {
    const int64_t row = rows < 0 ? 0 : sparse.indices[i * sparse.rank];
    RHEOS_TRY(rheos__count(&k, row, rheos__tensor_int_at(sparse.values, i), i));
  }
  return NULL;
}

static rheos_status *prepare_sparse(rheos__prepare *p) {
  return prepare_counting(p, compute_sparse);
}

const rheos__op_def rheos__op_SparseBincount = {
    .name = "SparseBincount",
    .signature =
        "indices: int64, values: Tidx, dense_shape: int64, size: Tidx, weights: T -> "
        "output: T; " COUNT_ATTRS,
    .doc =
        "How often each number below `size` occurs in a sparse vector, or in each row of a sparse "
        "matrix, or the sum of its `weights`, or whether it occurs.",
    .shape = shape_sparse,
    .prepare = prepare_sparse,
};
