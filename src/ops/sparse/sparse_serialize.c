// Sparse tensors as strings or variants and back: three each, of indices, values and shape.
#include "ops/sparse/sparse_serialize.h"

#include <string.h>

#include "ops/io/tensor_message.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/packed_tensors.h"
#include "ops/sparse/sparse_util.h"

enum { PARTS = 3 };

// ---- SerializeSparse, SerializeManySparse

static rheos_status *check_parts(rheos_tensor *const *inputs) {
  const rheos_shape *indices = &inputs[0]->shape, *values = &inputs[1]->shape;
  const rheos_shape *dims = &inputs[2]->shape;
  rheos__shape_text text;
  if (indices->rank != 2) {
    return RHEOS_INVALID("Input indices should be a matrix but received shape %s",
                         rheos__shape_text_of(indices, &text));
  }
  if (values->rank != 1) {
    return RHEOS_INVALID("Input values should be a vector but received shape %s",
                         rheos__shape_text_of(values, &text));
  }
  if (dims->rank != 1) {
    return RHEOS_INVALID("Input shape should be a vector but received shape %s",
                         rheos__shape_text_of(dims, &text));
  }
  return NULL;
}

// One of the parts as element `index` of strings or variants.
static rheos_status *put_part(rheos_tensor *part, rheos_tensor *to, int64_t index) {
  if (to->dtype == RHEOS_STRING) return rheos__put_tensor_message(part, to, index);
  rheos_tensor *kept = NULL;
  RHEOS_TRY(rheos__tensor_keep(part, &kept));
  return rheos__packed_tensors_take(RHEOS__PACKED_TENSOR, &kept, 1,
                                    (rheos__variant **)to->data + index);
}

static rheos_dtype serialized_dtype(const void *state) {
  return ((const rheos__operands *)state)->output_dtypes[0];
}

rheos_status *rheos__serialize_sparse(rheos_tensor *const *inputs, rheos_dtype dtype,
                                      rheos_tensor **outputs) {
  RHEOS_TRY(check_parts(inputs));
  RHEOS_TRY(rheos__tensor_new(dtype, &RHEOS_SHAPE(PARTS), &outputs[0]));
  for (int i = 0; i < PARTS; i++) RHEOS_TRY(put_part(inputs[i], outputs[0], i));
  return NULL;
}

static rheos_status *compute_serialize(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                       rheos_tensor **outputs) {
  (void)step;
  return rheos__serialize_sparse(inputs, serialized_dtype(state), outputs);
}

// The entries [first, last), without their first index, as row `row` of what is serialized.
static rheos_status *put_row(const rheos__sparse *sparse, int64_t first, int64_t last, int64_t row,
                             rheos_tensor *to) {
  const int64_t rank = sparse->rank - 1, count = last - first;
  const rheos_dtype dtype = sparse->values->dtype;
  rheos_tensor *parts[PARTS] = {NULL, NULL, NULL};
  rheos_status *status = rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(count, rank), &parts[0]);
  if (status == NULL) status = rheos__tensor_new(dtype, &RHEOS_SHAPE(count), &parts[1]);
  if (status == NULL) {
    status = rheos_tensor_from_values(RHEOS_INT64, RHEOS_SHAPE(rank), sparse->dims + 1, &parts[2]);
  }
  for (int64_t i = 0; status == NULL && i < count; i++) {
    memcpy((int64_t *)parts[0]->data + i * rank, sparse->indices + (first + i) * sparse->rank + 1,
           (size_t)rank * sizeof(int64_t));
    status = rheos__copy_value(parts[1], i, sparse->values, first + i);
  }
  for (int i = 0; status == NULL && i < PARTS; i++) {
    status = put_part(parts[i], to, row * PARTS + i);
  }
  for (int i = 0; i < PARTS; i++) rheos_tensor_unref(parts[i]);
  return status;
}

rheos_status *rheos__serialize_rows(rheos_tensor *const *inputs, rheos_dtype dtype,
                                    rheos__step *step, rheos_tensor **outputs) {
  rheos__sparse sparse;
  RHEOS_TRY(check_parts(inputs));
  RHEOS_TRY(rheos__sparse_of(inputs, &sparse));
  if (sparse.rank <= 1) {
    return RHEOS_INVALID("Rank of input SparseTensor should be > 1, but saw rank: %lld",
                         (long long)sparse.rank);
  }
  RHEOS_TRY(rheos__sparse_check_bounds(&sparse));
  for (int64_t i = 1; i < sparse.count; i++) {
    const int64_t *row = sparse.indices + i * sparse.rank;
    if (rheos__sparse_compare(row - sparse.rank, row, sparse.rank) < 0) continue;
    return rheos__sparse_bad_row(row, sparse.rank, i, "is out of order or repeated");
  }
  RHEOS_TRY(rheos__tensor_new(dtype, &RHEOS_SHAPE(sparse.dims[0], PARTS), &outputs[0]));
  int64_t first = 0;
  for (int64_t row = 0; row < sparse.dims[0]; row++) {
    int64_t last = first;
    if (row % 1024 == 0 && rheos__step_should_stop(step)) {
      return rheos_status_new(RHEOS_CANCELLED, "Step was cancelled.");
    }
    while (last < sparse.count && sparse.indices[last * sparse.rank] == row) last++;
    RHEOS_TRY(put_row(&sparse, first, last, row, outputs[0]));
    first = last;
  }
  return NULL;
}

static rheos_status *compute_serialize_many(void *state, rheos__step *step,
                                            rheos_tensor *const *inputs, rheos_tensor **outputs) {
  return rheos__serialize_rows(inputs, serialized_dtype(state), step, outputs);
}

static rheos_status *prepare(rheos__prepare *p, rheos__compute_fn compute) {
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = compute;
  return NULL;
}

static rheos_status *prepare_serialize(rheos__prepare *p) { return prepare(p, compute_serialize); }
static rheos_status *prepare_serialize_many(rheos__prepare *p) {
  return prepare(p, compute_serialize_many);
}

static rheos_status *infer_parts(const rheos__infer *c) {
  rheos_shape ignored;
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &ignored));
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &ignored));
  return rheos__infer_rank(c, 2, 1, &ignored);
}
static rheos_status *shape_serialize(rheos__infer *c) {
  c->output_shapes[0] = RHEOS_SHAPE(PARTS);
  return infer_parts(c);
}
static rheos_status *shape_serialize_many(rheos__infer *c) {
  c->output_shapes[0] = RHEOS_SHAPE(-1, PARTS);
  return infer_parts(c);
}

#define SERIALIZE_SIGNATURE                                                                       \
  "sparse_indices: int64, sparse_values: T, sparse_shape: int64 -> serialized_sparse: out_type; " \
  "T: type; out_type: {string, variant} = string"
const rheos__op_def rheos__op_SerializeSparse = {
    .name = "SerializeSparse",
    .signature = SERIALIZE_SIGNATURE,
    .doc = "A sparse tensor as three strings or variants.",
    .flags = RHEOS_OP_TAKES_VARIANTS,
    .shape = shape_serialize,
    .prepare = prepare_serialize,
};
const rheos__op_def rheos__op_SerializeManySparse = {
    .name = "SerializeManySparse",
    .signature = SERIALIZE_SIGNATURE,
    .doc = "Each slice of a sparse tensor along its first dimension as three strings or variants.",
    .flags = RHEOS_OP_TAKES_VARIANTS,
    .shape = shape_serialize_many,
    .prepare = prepare_serialize_many,
};

// ---- DeserializeSparse, DeserializeManySparse

// Sparse tensors of one rank, put together.
typedef struct pile {
  rheos_tensor **parts;  // PARTS of each
  int64_t count, rank, num_values;
  int64_t dims[RHEOS_MAX_RANK];  // the largest of all
} pile;

static rheos_status *check_pile(const pile *p, int64_t i, rheos_dtype dtype) {
  rheos_tensor *const *parts = p->parts + i * PARTS;
  RHEOS_TRY(check_parts(parts));
  if (parts[0]->dtype != RHEOS_INT64 || parts[2]->dtype != RHEOS_INT64) {
    return RHEOS_INVALID("indices and shape of SparseTensor[%lld] are not int64", (long long)i);
  }
  if (parts[1]->dtype != dtype) {
    return RHEOS_INVALID(
        "Requested SparseTensor of type %s but SparseTensor[%lld].values.dtype() == %s",
        rheos_dtype_name(dtype), (long long)i, rheos_dtype_name(parts[1]->dtype));
  }
  const int64_t rank = parts[2]->num_elements;
  if (parts[0]->shape.dims[0] != parts[1]->num_elements || parts[0]->shape.dims[1] != rank) {
    return RHEOS_INVALID("indices, values and shape of SparseTensor[%lld] do not fit each other",
                         (long long)i);
  }
  if (p->rank >= 0 && rank != p->rank) {
    return RHEOS_INVALID(
        "Inconsistent shape across SparseTensors: rank prior to SparseTensor[%lld] was: %lld but "
        "rank of SparseTensor[%lld] is: %lld",
        (long long)i, (long long)p->rank, (long long)i, (long long)rank);
  }
  if (rank > RHEOS_MAX_RANK) return RHEOS_INVALID("a SparseTensor of rank %lld", (long long)rank);
  return NULL;
}

// What element `index` stands for, a reference.
static rheos_status *read_part(const rheos_tensor *from, int64_t index, rheos_tensor **out_part) {
  if (from->dtype == RHEOS_STRING) {
    return rheos__tensor_of_message((const rheos_string *)from->data + index, out_part);
  }
  rheos_tensor *const *tensors;
  int32_t count;
  RHEOS_TRY(rheos__packed_tensors_of(from, index, "DeserializeSparse", &tensors, &count));
  if (count != 1) return RHEOS_INVALID("the variant is no part of a SparseTensor");
  *out_part = rheos_tensor_ref(tensors[0]);
  return NULL;
}

static rheos_status *read_pile(const rheos_tensor *serialized, rheos_dtype dtype, pile *p) {
  for (int64_t i = 0; i < p->count; i++) {
    for (int64_t k = i * PARTS; k < (i + 1) * PARTS; k++) {
      RHEOS_TRY(read_part(serialized, k, &p->parts[k]));
    }
    RHEOS_TRY(check_pile(p, i, dtype));
    rheos_tensor *const *parts = p->parts + i * PARTS;
    p->rank = parts[2]->num_elements;
    p->num_values += parts[1]->num_elements;
    for (int64_t d = 0; d < p->rank; d++) {
      const int64_t dim = ((const int64_t *)parts[2]->data)[d];
      if (i == 0 || dim > p->dims[d]) p->dims[d] = dim;
    }
  }
  return NULL;
}

// The leading dimensions of `strings` go before those of the sparse tensors.
static rheos_status *join_pile(const pile *p, const rheos_shape *strings, rheos_dtype dtype,
                               rheos_tensor **outputs) {
  const int32_t before = strings->rank - 1;
  const int64_t rank = before + p->rank;
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(p->num_values, rank), &outputs[0]));
  RHEOS_TRY(rheos__tensor_new(dtype, &RHEOS_SHAPE(p->num_values), &outputs[1]));
  RHEOS_TRY(rheos__tensor_new(RHEOS_INT64, &RHEOS_SHAPE(rank), &outputs[2]));
  int64_t *dims = outputs[2]->data, *row = outputs[0]->data;
  for (int32_t d = 0; d < before; d++) dims[d] = strings->dims[d];
  for (int64_t d = 0; d < p->rank; d++) dims[before + d] = p->dims[d];
  int64_t at = 0;
  for (int64_t i = 0; i < p->count; i++) {
    rheos_tensor *const *parts = p->parts + i * PARTS;
    for (int64_t k = 0; k < parts[1]->num_elements; k++, row += rank) {
      int64_t rest = i;
      for (int32_t d = before - 1; d >= 0; d--) {
        row[d] = rest % strings->dims[d];
        rest /= strings->dims[d];
      }
      for (int64_t d = 0; d < p->rank; d++) {
        row[before + d] = ((const int64_t *)parts[0]->data)[k * p->rank + d];
      }
      RHEOS_TRY(rheos__copy_value(outputs[1], at++, parts[1], k));
    }
  }
  return NULL;
}

rheos_status *rheos__deserialize_sparse(const rheos_tensor *serialized, rheos_dtype dtype,
                                        rheos_tensor **outputs) {
  const rheos_shape *shape = &serialized->shape;
  rheos__shape_text text;
  if (shape->rank < 1 || shape->dims[shape->rank - 1] != PARTS) {
    return RHEOS_INVALID("Serialized sparse should have 3 columns but has shape %s",
                         rheos__shape_text_of(shape, &text));
  }
  pile p = {.count = serialized->num_elements / PARTS, .rank = -1};
  if (p.count == 0) {
    return RHEOS_INVALID(
        "Serialized sparse should have at least 1 serialized tensor, but has a zero dimension %s",
        rheos__shape_text_of(shape, &text));
  }
  p.parts = rheos__alloc_array((size_t)(p.count * PARTS), sizeof *p.parts);
  if (p.parts == NULL) return rheos__out_of_memory();
  rheos_status *status = read_pile(serialized, dtype, &p);
  if (status == NULL) status = join_pile(&p, shape, dtype, outputs);
  for (int64_t k = 0; k < p.count * PARTS; k++) rheos_tensor_unref(p.parts[k]);
  rheos__free(p.parts);
  return status;
}

static rheos_status *compute_deserialize(void *state, rheos__step *step,
                                         rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step;
  return rheos__deserialize_sparse(inputs[0], ((const rheos__operands *)state)->output_dtypes[1],
                                   outputs);
}

static rheos_status *prepare_deserialize(rheos__prepare *p) {
  return prepare(p, compute_deserialize);
}

static rheos_status *shape_deserialize(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  if (in->rank > 0 && in->dims[in->rank - 1] >= 0 && in->dims[in->rank - 1] != PARTS) {
    return RHEOS_INVALID("Dimension must be 3 but is %lld", (long long)in->dims[in->rank - 1]);
  }
  rheos__infer_sparse_output(c, 0, -1);
  return NULL;
}
static rheos_status *shape_deserialize_many(rheos__infer *c) {
  rheos_shape ignored;
  RHEOS_TRY(rheos__infer_rank(c, 0, 2, &ignored));
  return shape_deserialize(c);
}

#define DESERIALIZE_OUTPUTS " -> sparse_indices: int64, sparse_values: dtype, sparse_shape: int64; "
const rheos__op_def rheos__op_DeserializeSparse = {
    .name = "DeserializeSparse",
    .signature = "serialized_sparse: Tserialized" DESERIALIZE_OUTPUTS
                 "dtype: type; Tserialized: {string, variant} = string",
    .doc = "The sparse tensors in `serialized_sparse` (..., 3), as one.",
    .flags = RHEOS_OP_TAKES_VARIANTS,
    .shape = shape_deserialize,
    .prepare = prepare_deserialize,
};
const rheos__op_def rheos__op_DeserializeManySparse = {
    .name = "DeserializeManySparse",
    .signature = "serialized_sparse: string" DESERIALIZE_OUTPUTS "dtype: type",
    .doc = "The sparse tensors in the rows of `serialized_sparse`, as one with a dimension more.",
    .shape = shape_deserialize_many,
    .prepare = prepare_deserialize,
};
