// Ragged tensors as variants, and ragged tensors made of tensors of them: how datasets have them. A
// variant holds the splits, outermost first, and then the values.
#include "ops/kit/op_util.h"
#include "ops/kit/packed_tensors.h"
#include "ops/ragged/ragged.h"

// ---- RaggedTensorToVariant

// Rows [first, last) of a tensor, as one of its own.
static rheos_status *copy_rows(const rheos_tensor *from, int64_t first, int64_t last, bool is_row,
                               rheos_tensor **out) {
  rheos_shape shape = from->shape;
  const int64_t width = rheos__shape_product(&shape, 1, shape.rank);
  if (is_row) {
    shape.rank--;
    for (int32_t d = 0; d < shape.rank; d++) shape.dims[d] = from->shape.dims[d + 1];
  } else {
    shape.dims[0] = last - first;
  }
  RHEOS_TRY(rheos__tensor_new(from->dtype, &shape, out));
  const char *data = from->data;
  return rheos__copy_elements(from->dtype, (*out)->data,
                              data + (size_t)(first * width) * rheos_dtype_size(from->dtype),
                              (last - first) * width);
}

// The splits between rows [first, last), from 0 on.
static rheos_status *copy_splits(const rheos_tensor *splits, int64_t first, int64_t last,
                                 rheos_tensor **out) {
  RHEOS_TRY(rheos__tensor_new(splits->dtype, &RHEOS_SHAPE(last - first + 1), out));
  const int64_t start = rheos__tensor_int_at(splits, first);
  for (int64_t i = first; i <= last; i++) {
    rheos__set_int(splits->dtype, (*out)->data, i - first, rheos__tensor_int_at(splits, i) - start);
  }
  return NULL;
}

static void unref_all(rheos_tensor **tensors, int32_t count) {
  for (int32_t i = 0; i < count; i++) rheos_tensor_unref(tensors[i]);
}

// Row `row` of the tensor with `levels` splits before its values.
static rheos_status *pack_row(rheos_tensor *const *inputs, int32_t levels, int64_t row,
                              rheos__variant **out) {
  rheos_tensor *parts[RHEOS_MAX_RANK + 1] = {NULL};
  int32_t count = 0;
  int64_t first = row, last = row + 1;
  rheos_status *status = NULL;
  for (int32_t level = 0; status == NULL && level < levels; level++) {
    if (level > 0) status = copy_splits(inputs[level], first, last, &parts[count++]);
    const int64_t begin = rheos__tensor_int_at(inputs[level], first);
    last = rheos__tensor_int_at(inputs[level], last);
    first = begin;
  }
  if (status == NULL) {
    status = copy_rows(inputs[levels], first, last, levels == 0, &parts[count++]);
  }
  if (status == NULL) return rheos__packed_tensors_take(RHEOS__PACKED_RAGGED, parts, count, out);
  unref_all(parts, count);
  return status;
}

static rheos_status *pack_whole(rheos_tensor *const *inputs, int32_t levels, rheos_tensor **out) {
  rheos_tensor *parts[RHEOS_MAX_RANK + 1] = {NULL};
  for (int32_t i = 0; i <= levels; i++) {
    rheos_status *status = rheos__tensor_keep(inputs[i], &parts[i]);
    if (status == NULL) continue;
    unref_all(parts, i);
    return status;
  }
  rheos__variant *packed;
  RHEOS_TRY(rheos__packed_tensors_take(RHEOS__PACKED_RAGGED, parts, levels + 1, &packed));
  return rheos__variant_tensor_take(packed, out);
}

// Fails unless each level has as many rows as the one before it says.
static rheos_status *check_levels(rheos_tensor *const *inputs, int32_t levels) {
  if (levels > 0 && inputs[levels]->shape.rank < 1) {
    return RHEOS_INVALID("the values of a ragged tensor are a scalar");
  }
  for (int32_t i = 0; i < levels; i++) {
    const rheos_tensor *inner = inputs[i + 1];
    if (inner->shape.rank < 1) return RHEOS_INVALID("ragged splits must be a vector");
    const int64_t rows = i + 1 < levels ? rheos__num_rows(inner) : inner->shape.dims[0];
    RHEOS_TRY(rheos__check_splits(inputs[i], rows));
  }
  return NULL;
}

static rheos_status *compute_to_variant(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                        rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  const int32_t levels = o->num_inputs - 1;
  RHEOS_TRY(check_levels(inputs, levels));
  if (!rheos__attr_bool(o->attrs, "batched_input")) return pack_whole(inputs, levels, &outputs[0]);
  if (inputs[levels]->shape.rank < 1) return RHEOS_INVALID("Can't unbatch rank-0 tensor.");
  const int64_t rows = levels > 0 ? rheos__num_rows(inputs[0]) : inputs[0]->shape.dims[0];
  RHEOS_TRY(rheos__tensor_new(RHEOS_VARIANT, &RHEOS_SHAPE(rows), &outputs[0]));
  for (int64_t row = 0; row < rows; row++) {
    RHEOS_TRY(pack_row(inputs, levels, row, (rheos__variant **)outputs[0]->data + row));
  }
  return NULL;
}

static rheos_status *prepare_to_variant(rheos__prepare *p) {
  if (p->num_inputs > RHEOS_MAX_RANK + 1) return RHEOS_INVALID("a ragged rank is too large");
  return rheos__answer_compute_operands(p, compute_to_variant);
}

static rheos_status *shape_to_variant(rheos__infer *c) {
  const int32_t levels = c->num_inputs - 1;
  rheos_shape ignored;
  for (int32_t i = 0; i < levels; i++) RHEOS_TRY(rheos__infer_rank(c, i, 1, &ignored));
  if (levels > 0) RHEOS_TRY(rheos__infer_rank_at_least(c, levels, 1));
  if (!rheos__attr_bool(c->attrs, "batched_input")) {
    c->output_shapes[0] = RHEOS_SCALAR;
    return NULL;
  }
  const rheos_shape *outer = &c->input_shapes[0];
  int64_t rows = outer->rank > 0 ? outer->dims[0] : -1;
  if (levels > 0 && rows >= 0) rows = rows > 0 ? rows - 1 : 0;
  c->output_shapes[0] = RHEOS_SHAPE(rows);
  return NULL;
}

const rheos__op_def rheos__op_RaggedTensorToVariant = {
    .name = "RaggedTensorToVariant",
    .signature =
        "rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: Tvalues -> encoded_ragged: "
        "variant; RAGGED_RANK: int >= 0; Tvalues: type; Tsplits: index = int64; batched_input: "
        "bool",
    .doc = "A ragged tensor as a variant, or each of its rows as one.",
    .flags = RHEOS_OP_TAKES_VARIANTS,
    .shape = shape_to_variant,
    .gradient = rheos__no_gradient,
    .prepare = prepare_to_variant,
};

// ---- RaggedTensorFromVariant

typedef struct components {
  const rheos_tensor *variants;
  int64_t count;
  int32_t levels;  // splits of each
} components;

// Tensor `part` of component `index`, counted from the splits.
static rheos_status *part_of(const components *c, int64_t index, int32_t part,
                             rheos_tensor **out_part) {
  rheos_tensor *const *tensors;
  int32_t count;
  RHEOS_TRY(
      rheos__packed_tensors_of(c->variants, index, "RaggedTensorFromVariant", &tensors, &count));
  if (count != c->levels + 1) {
    return RHEOS_INVALID(
        "Encoded input RaggedTensorVariant has ragged_rank=%d.  Expected ragged_rank=%d.",
        (int)count - 1, (int)c->levels);
  }
  *out_part = tensors[part];
  return NULL;
}

static int64_t rows_of(const components *c, const rheos_tensor *outermost) {
  return c->levels > 0 ? rheos__num_rows(outermost) : outermost->shape.dims[0];
}

// Splits of a dimension of the variants, which is not ragged.
static rheos_status *even_splits(rheos_dtype dtype, int64_t rows, int64_t length,
                                 rheos_tensor **out) {
  RHEOS_TRY(rheos__tensor_new(dtype, &RHEOS_SHAPE(rows + 1), out));
  for (int64_t row = 0; row <= rows; row++) rheos__set_int(dtype, (*out)->data, row, row * length);
  return NULL;
}

// Splits by which each row is a component.
static rheos_status *splits_of_components(const components *c, rheos_dtype dtype,
                                          rheos_tensor **out) {
  RHEOS_TRY(rheos__tensor_new(dtype, &RHEOS_SHAPE(c->count + 1), out));
  int64_t at = 0;
  rheos__set_int(dtype, (*out)->data, 0, 0);
  for (int64_t i = 0; i < c->count; i++) {
    rheos_tensor *outermost;
    RHEOS_TRY(part_of(c, i, 0, &outermost));
    if (outermost->shape.rank < 1)
      return RHEOS_INVALID("a component of a ragged tensor is a scalar");
    at += rows_of(c, outermost);
    rheos__set_int(dtype, (*out)->data, i + 1, at);
  }
  return NULL;
}

// The splits of one level of all components, behind each other.
static rheos_status *join_splits(const components *c, int32_t level, rheos_dtype dtype,
                                 rheos_tensor **out) {
  int64_t rows = 0, row = 0, start = 0;
  rheos_tensor *splits;
  for (int64_t i = 0; i < c->count; i++) {
    RHEOS_TRY(part_of(c, i, level, &splits));
    if (splits->dtype != dtype || splits->shape.rank != 1 || splits->num_elements < 1) {
      return RHEOS_INVALID("Expected row_splits Tensor dtype: %s, found: %s",
                           rheos_dtype_name(dtype), rheos_dtype_name(splits->dtype));
    }
    rows += rheos__num_rows(splits);
  }
  RHEOS_TRY(rheos__tensor_new(dtype, &RHEOS_SHAPE(rows + 1), out));
  rheos__set_int(dtype, (*out)->data, 0, 0);
  for (int64_t i = 0; i < c->count; i++) {
    RHEOS_TRY(part_of(c, i, level, &splits));
    const int64_t last = rheos__num_rows(splits);
    for (int64_t k = 1; k <= last; k++) {
      rheos__set_int(dtype, (*out)->data, ++row, start + rheos__tensor_int_at(splits, k));
    }
    start += rheos__tensor_int_at(splits, last);
  }
  return NULL;
}

// Fails unless the values are of the dtype, and of one shape but for the number of rows.
static rheos_status *check_values(const rheos_tensor *values, const rheos_tensor *first,
                                  rheos_dtype dtype, int32_t from) {
  if (values->dtype != dtype) {
    return RHEOS_INVALID("Expected values Tensor dtype: %s, found: %s", rheos_dtype_name(dtype),
                         rheos_dtype_name(values->dtype));
  }
  bool fits = values->shape.rank == first->shape.rank && values->shape.rank >= from;
  for (int32_t d = from; fits && d < values->shape.rank; d++) {
    fits = values->shape.dims[d] == first->shape.dims[d];
  }
  if (fits) return NULL;
  rheos__shape_text text, other;
  return RHEOS_INVALID("the values of components have the shapes %s and %s",
                       rheos__shape_text_of(&first->shape, &text),
                       rheos__shape_text_of(&values->shape, &other));
}

// The values of all components: behind each other, or with the dimensions of the variants before
// them.
static rheos_status *join_values(const components *c, bool is_stacked, rheos_dtype dtype,
                                 rheos_tensor **out) {
  rheos_shape shape = RHEOS_SHAPE(0);
  rheos_tensor *first = NULL, *values;
  if (c->count > 0) {
    RHEOS_TRY(part_of(c, 0, c->levels, &first));
    shape = first->shape;
  }
  int64_t rows = 0;
  for (int64_t i = 0; i < c->count; i++) {
    RHEOS_TRY(part_of(c, i, c->levels, &values));
    RHEOS_TRY(check_values(values, first, dtype, is_stacked ? 0 : 1));
    if (!is_stacked) rows += values->shape.dims[0];
  }
  if (!is_stacked) {
    shape.dims[0] = rows;
  } else if (c->count > 0 || c->variants->shape.rank > 0) {
    rheos_shape whole = c->variants->shape;
    for (int32_t d = 0; c->count > 0 && d < shape.rank; d++) {
      RHEOS_TRY(rheos__shape_append(&whole, shape.dims[d]));
    }
    shape = whole;
  }
  RHEOS_TRY(rheos__tensor_new(dtype, &shape, out));
  char *to = (*out)->data;
  for (int64_t i = 0; i < c->count; i++) {
    RHEOS_TRY(part_of(c, i, c->levels, &values));
    RHEOS_TRY(rheos__copy_elements(dtype, to, values->data, values->num_elements));
    to += (size_t)values->num_elements * rheos_dtype_size(dtype);
  }
  return NULL;
}

static rheos_status *compute_from_variant(void *state, rheos__step *step,
                                          rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  const rheos_shape *shape = &inputs[0]->shape;
  const int64_t wanted = rheos__attr_int(o->attrs, "output_ragged_rank");
  int64_t levels = rheos__attr_int(o->attrs, "input_ragged_rank");
  const bool is_absurd = wanted < 0 || wanted > INT32_MAX;  // and the difference might overflow
  if (levels < 0 && !is_absurd) levels = wanted - shape->rank;
  const bool is_stacked = wanted == 0 && levels == 0;
  if (is_absurd || levels < 0 || (levels != wanted - shape->rank && !is_stacked)) {
    return RHEOS_INVALID(
        "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); "
        "output_ragged_rank: %lld, input_ragged_rank: %lld, encoded_variant.dims(): %d",
        (long long)wanted, (long long)levels, (int)shape->rank);
  }
  const components c = {inputs[0], inputs[0]->num_elements, (int32_t)levels};
  const rheos_dtype splits = o->num_outputs > 1 ? o->output_dtypes[0] : RHEOS_INT64;
  const rheos_dtype dtype = o->output_dtypes[o->num_outputs - 1];
  int32_t at = 0;
  if (!is_stacked && shape->rank > 0) {
    for (int32_t d = 0; d + 1 < shape->rank; d++) {
      const int64_t rows = rheos__shape_product(shape, 0, d + 1);
      RHEOS_TRY(even_splits(splits, rows, shape->dims[d + 1], &outputs[at++]));
    }
    RHEOS_TRY(splits_of_components(&c, splits, &outputs[at++]));
  }
  for (int32_t level = 0; level < c.levels; level++) {
    RHEOS_TRY(join_splits(&c, level, splits, &outputs[at++]));
  }
  return join_values(&c, is_stacked, dtype, &outputs[at]);
}

static rheos_status *prepare_from_variant(rheos__prepare *p) {
  return rheos__answer_compute_operands(p, compute_from_variant);
}

static rheos_status *shape_from_variant(rheos__infer *c) {
  const int64_t wanted = rheos__attr_int(c->attrs, "output_ragged_rank");
  const int64_t levels = rheos__attr_int(c->attrs, "input_ragged_rank");
  const int32_t rank = c->input_shapes[0].rank;
  if (rank >= 0 && levels >= 0 && wanted > 0 && levels != wanted - rank) {
    return RHEOS_INVALID(
        "output_ragged_rank must be equal to input_ragged_rank + rank(encoded_ragged): %lld, %lld "
        "and %d",
        (long long)wanted, (long long)levels, (int)rank);
  }
  for (int64_t i = 0; i < wanted; i++) c->output_shapes[i] = RHEOS_SHAPE(-1);
  c->output_shapes[wanted] = RHEOS_UNKNOWN_SHAPE;
  return NULL;
}

const rheos__op_def rheos__op_RaggedTensorFromVariant = {
    .name = "RaggedTensorFromVariant",
    .signature =
        "encoded_ragged: variant -> output_nested_splits: output_ragged_rank * Tsplits, "
        "output_dense_values: Tvalues; input_ragged_rank: int >= -1; output_ragged_rank: int >= 0; "
        "Tvalues: type; Tsplits: index = int64",
    .doc = "The ragged tensors in `encoded_ragged` as one, its dimensions before theirs.",
    .flags = RHEOS_OP_TAKES_VARIANTS,
    .shape = shape_from_variant,
    .gradient = rheos__no_gradient,
    .prepare = prepare_from_variant,
};
