// RaggedTensorToTensor: rows of unlike lengths side by side, filled up with a default value or cut
// off to the shape that is asked for.
#include <string.h>

#include "ops/kit/array_grad.h"
#include "ops/kit/op_util.h"
#include "ops/ragged/ragged.h"

rheos_status *rheos__partition_kinds(const rheos__attrs *attrs, int32_t num_tensors,
                                     rheos__partition_kind *out_kinds, int32_t *out_ragged_rank) {
  static const char *const names[] = {"FIRST_DIM_SIZE", "VALUE_ROWIDS", "ROW_SPLITS"};
  const rheos_attr_value *types = rheos__attrs_find(attrs, "row_partition_types");
  if (types->count == 0 || types->count > RHEOS_MAX_RANK + 1) {
    return RHEOS_INVALID("%d row partitions: expected between 1 and %d", types->count,
                         RHEOS_MAX_RANK + 1);
  }
  for (int32_t i = 0; i < types->count; i++) {
    const rheos_string *type = &types->strings[i];
    int kind = 0;
    while (kind < 3 && (type->size_bytes != strlen(names[kind]) ||
                        memcmp(type->data, names[kind], type->size_bytes) != 0)) {
      kind++;
    }
    if (kind == 3) {
      return RHEOS_INVALID("Unknown string for partition info type: %.*s", (int)type->size_bytes,
                           type->size_bytes > 0 ? type->data : "");
    }
    if ((kind == RHEOS__FIRST_DIM_SIZE) != (i == 0 && kind != RHEOS__ROW_SPLITS)) {
      return RHEOS_INVALID("Cannot handle %s in %s dimension.", names[kind],
                           i == 0 ? "first" : "an inner");
    }
    out_kinds[i] = (rheos__partition_kind)kind;
  }
  if (num_tensors < types->count) {
    return RHEOS_INVALID("%d row partitions, but %d tensors for them", types->count, num_tensors);
  }
  *out_ragged_rank = types->count - (out_kinds[0] == RHEOS__FIRST_DIM_SIZE);
  return NULL;
}

enum { SHAPE, VALUES, DEFAULT, PARTITIONS };

// ---- The shape of the answer

typedef struct layout {
  rheos__partition_kind kinds[RHEOS_MAX_RANK + 1];
  int32_t ragged_rank, first;  // the first partition behind the number of rows
} layout;

static rheos_status *layout_of(const rheos__attrs *attrs, int32_t num_tensors, layout *out) {
  RHEOS_TRY(rheos__partition_kinds(attrs, num_tensors, out->kinds, &out->ragged_rank));
  out->first = out->kinds[0] == RHEOS__FIRST_DIM_SIZE;
  return NULL;
}

static rheos_status *check_default(const rheos_shape *value, const rheos_shape *values) {
  if (value->rank < 0 || values->rank < 0) return NULL;
  rheos__shape_text a, b;
  bool fits = value->rank < values->rank;
  for (int32_t i = 1; fits && i <= value->rank; i++) {
    const int64_t from = value->dims[value->rank - i], to = values->dims[values->rank - i];
    fits = from == 1 || from == to || from < 0 || to < 0;
  }
  if (fits) return NULL;
  return RHEOS_INVALID("default_value.shape=%s and rt_input.flat_values.shape=%s are incompatible",
                       rheos__shape_text_of(value, &a), rheos__shape_text_of(values, &b));
}

// `asked` with its inner dimensions filled in from the values; a status where they contradict.
static rheos_status *merge_shape(const layout *l, const rheos_shape *asked,
                                 const rheos_shape *values, rheos_shape *out) {
  *out = *asked;
  if (values->rank < 0) return NULL;
  const int32_t rank = values->rank + l->ragged_rank;
  rheos__shape_text a, b;
  if (rank > RHEOS_MAX_RANK) return RHEOS_INVALID("a ragged tensor of rank %d", rank);
  if (asked->rank < 0) *out = rheos__shape_of_rank(rank);
  bool fits = out->rank == rank;
  for (int32_t i = l->ragged_rank + 1; fits && i < rank; i++) {
    const int64_t dim = values->dims[i - l->ragged_rank];
    if (out->dims[i] < 0) out->dims[i] = dim;
    fits = dim < 0 || out->dims[i] == dim;
  }
  if (fits) return NULL;
  return RHEOS_INVALID(
      "values of shape %s in a ragged tensor of rank %d and shape=%s are incompatible",
      rheos__shape_text_of(values, &a), rank, rheos__shape_text_of(asked, &b));
}

static rheos_status *infer(rheos__infer *c) {
  layout l;
  rheos_shape asked;
  RHEOS_TRY(layout_of(c->attrs, c->num_inputs - PARTITIONS, &l));
  RHEOS_TRY(rheos__infer_shape_value(c, SHAPE, &asked));
  RHEOS_TRY(check_default(&c->input_shapes[DEFAULT], &c->input_shapes[VALUES]));
  for (int32_t i = PARTITIONS; i < c->num_inputs; i++) {
    rheos_shape partition;
    RHEOS_TRY(rheos__infer_rank(c, i, i == PARTITIONS && l.first ? 0 : 1, &partition));
  }
  return merge_shape(&l, &asked, &c->input_shapes[VALUES], &c->output_shapes[0]);
}

// ---- The kernel

static rheos_status *asked_shape(const rheos_tensor *tensor, rheos_shape *out) {
  *out = RHEOS_UNKNOWN_SHAPE;
  if (tensor->shape.rank == 0 && rheos__tensor_int_at(tensor, 0) == -1) return NULL;
  if (tensor->shape.rank != 1 || tensor->num_elements > RHEOS_MAX_RANK) {
    return RHEOS_INVALID("shape must be a scalar -1 or a vector of at most %d", RHEOS_MAX_RANK);
  }
  *out = rheos__shape_of_rank((int32_t)tensor->num_elements);
  for (int32_t i = 0; i < out->rank; i++) {
    out->dims[i] = rheos__tensor_int_at(tensor, i);
    if (out->dims[i] < -1) {
      return RHEOS_INVALID("Dimension %lld must be >= -1", (long long)out->dims[i]);
    }
  }
  return NULL;
}

static int64_t at(const rheos_tensor *partition, int64_t i) {
  return rheos__tensor_int_at(partition, i);
}

// The length of the longest row.
static int64_t width_of(rheos__partition_kind kind, const rheos_tensor *partition) {
  int64_t longest = 0, run = 0;
  for (int64_t i = 0; i < partition->num_elements; i++) {
    int64_t length;
    if (kind == RHEOS__ROW_SPLITS) {
      if (i == 0 || __builtin_sub_overflow(at(partition, i), at(partition, i - 1), &length))
        continue;
    } else {
      run = i > 0 && at(partition, i) == at(partition, i - 1) ? run + 1 : 1;
      length = run;
    }
    if (length > longest) longest = length;
  }
  return longest;
}

// For each item of a level, the row of the answer it belongs to (-1: none, it is cut off, as are
// all items from `held` on).
typedef struct places {
  int64_t *items;
  int64_t count, held;
} places;

// Splits can claim any number of rows: so many are followed that are no rows of values.
static const int64_t MAX_ITEMS = INT64_C(1) << 28;

static rheos_status *places_new(int64_t count, int64_t held, places *out) {
  *out = (places){.count = count, .held = held};
  out->items = rheos__alloc_array((size_t)held + 1, sizeof *out->items);
  return out->items != NULL ? NULL : rheos__out_of_memory();
}

static int64_t place_of(const places *p, int64_t item) {
  return item < p->held ? p->items[item] : -1;
}

// Column `column` of a row at `parent` when rows are `size` long.
static int64_t place_in(int64_t parent, int64_t column, int64_t size) {
  return parent < 0 || column >= size ? -1 : parent * size + column;
}

static rheos_status *places_by_splits(const rheos_tensor *splits, const places *parents,
                                      int64_t size, int64_t limit, places *out) {
  const int64_t rows = splits->num_elements - 1;
  if (rows < 0) return RHEOS_INVALID("Invalid row split size: no splits");
  if (rows > parents->count) {
    return RHEOS_INVALID("Row partition size is greater than output size: %lld > %lld",
                         (long long)rows, (long long)parents->count);
  }
  if (at(splits, 0) != 0) return RHEOS_INVALID("Invalid row split size: the first is not 0");
  for (int64_t row = 0; row < rows; row++) {
    if (at(splits, row + 1) < at(splits, row)) {
      return RHEOS_INVALID("Invalid row split size: they do not ascend");
    }
  }
  const int64_t total = at(splits, rows), held = limit >= 0 && limit < total ? limit : total;
  if (limit < 0 && held > MAX_ITEMS) {
    return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "%lld rows are too many", (long long)held);
  }
  RHEOS_TRY(places_new(total, held, out));
  for (int64_t row = 0; row < rows; row++) {
    const int64_t first = at(splits, row);
    for (int64_t i = first; i < at(splits, row + 1) && i < out->held; i++) {
      out->items[i] = place_in(place_of(parents, row), i - first, size);
    }
  }
  return NULL;
}

static rheos_status *places_by_rows(const rheos_tensor *rows, const places *parents, int64_t size,
                                    places *out) {
  RHEOS_TRY(places_new(rows->num_elements, rows->num_elements, out));
  int64_t column = 0;
  for (int64_t i = 0; i < rows->num_elements; i++) {
    const int64_t row = at(rows, i);
    if (row < 0 || row >= parents->count) {
      return RHEOS_INVALID("Got next_value_rowid=%lld which is not less than %lld", (long long)row,
                           (long long)parents->count);
    }
    column = i > 0 && row == at(rows, i - 1) ? column + 1 : 0;
    out->items[i] = place_in(place_of(parents, row), column, size);
  }
  return NULL;
}

// Follows the partitions down: `parents` holds the rows of dimension 0 and in the end the values.
static rheos_status *follow(const layout *l, rheos_tensor *const *partitions,
                            const rheos_shape *shape, int64_t num_values, places *parents) {
  for (int32_t level = 0; level < l->ragged_rank; level++) {
    const int32_t i = level + l->first;
    places next = {0};
    const int64_t limit = level == l->ragged_rank - 1 ? num_values : -1;
    rheos_status *status =
        l->kinds[i] == RHEOS__ROW_SPLITS
            ? places_by_splits(partitions[i], parents, shape->dims[level + 1], limit, &next)
            : places_by_rows(partitions[i], parents, shape->dims[level + 1], &next);
    rheos__free(parents->items);
    *parents = next;
    RHEOS_TRY(status);
  }
  return NULL;
}

// Every element of the answer becomes the default value, repeated.
static rheos_status *fill(const rheos_tensor *value, const rheos_shape *inner, rheos_tensor *out) {
  const int64_t width = rheos__shape_product(inner, 0, inner->rank);
  const size_t bytes = rheos_dtype_size(out->dtype);
  if (value->num_elements == 1) {
    return rheos__fill_elements(out->dtype, out->data, value->data, out->num_elements);
  }
  for (int64_t i = 0; i < out->num_elements; i++) {
    const int64_t from = rheos__broadcast_index(&value->shape, inner, i % width);
    RHEOS_TRY(rheos__copy_elements(out->dtype, (char *)out->data + (size_t)i * bytes,
                                   (const char *)value->data + (size_t)from * bytes, 1));
  }
  return NULL;
}

static rheos_status *first_dimension(const layout *l, const rheos_tensor *partition,
                                     int64_t *out_rows) {
  if (l->first == 0) {
    *out_rows = partition->num_elements - 1;
    return *out_rows >= 0 ? NULL : RHEOS_INVALID("Invalid row split size: no splits");
  }
  if (partition->num_elements != 1) return RHEOS_INVALID("FIRST_DIM_SIZE must be a scalar");
  *out_rows = at(partition, 0);
  return *out_rows >= 0 ? NULL
                        : RHEOS_INVALID("FIRST_DIM_SIZE %lld is negative", (long long)*out_rows);
}

// The rows of dimension 0, of which the answer has `kept`.
static rheos_status *first_places(int64_t rows, int64_t kept, places *out) {
  RHEOS_TRY(places_new(rows, rows < kept ? rows : kept, out));
  for (int64_t i = 0; i < out->held; i++) out->items[i] = i;
  return NULL;
}

static rheos_status *put_values(const rheos_tensor *values, const places *where,
                                rheos_tensor *out) {
  const int64_t width = rheos__shape_product(&values->shape, 1, values->shape.rank);
  const size_t bytes = rheos_dtype_size(values->dtype) * (size_t)width;
  const int64_t count = where->held < values->shape.dims[0] ? where->held : values->shape.dims[0];
  for (int64_t i = 0; i < count; i++) {
    if (where->items[i] < 0) continue;
    RHEOS_TRY(rheos__copy_elements(values->dtype,
                                   (char *)out->data + (size_t)where->items[i] * bytes,
                                   (const char *)values->data + (size_t)i * bytes, width));
  }
  return NULL;
}

static rheos_status *compute(void *state, rheos__step *step, rheos_tensor *const *inputs,
                             rheos_tensor **outputs) {
  (void)step;
  const layout *l = state;
  const rheos_tensor *values = inputs[VALUES];
  rheos_tensor *const *partitions = inputs + PARTITIONS;
  rheos_shape asked, shape, inner = {.rank = values->shape.rank - 1};
  int64_t rows = 0;
  RHEOS_TRY(asked_shape(inputs[SHAPE], &asked));
  RHEOS_TRY(merge_shape(l, &asked, &values->shape, &shape));
  RHEOS_TRY(first_dimension(l, partitions[0], &rows));
  if (shape.dims[0] < 0) shape.dims[0] = rows;
  for (int32_t i = 0; i < l->ragged_rank; i++) {
    if (shape.dims[i + 1] >= 0) continue;
    shape.dims[i + 1] = width_of(l->kinds[i + l->first], partitions[i + l->first]);
  }
  memcpy(inner.dims, values->shape.dims + 1, sizeof *inner.dims * (size_t)inner.rank);
  RHEOS_TRY(rheos__tensor_new(values->dtype, &shape, &outputs[0]));
  if (outputs[0]->num_elements > 0) RHEOS_TRY(fill(inputs[DEFAULT], &inner, outputs[0]));
  places parents;
  const bool some = outputs[0]->num_elements > 0;
  rheos_status *status = first_places(rows, some ? shape.dims[0] : 0, &parents);
  if (status == NULL) status = follow(l, partitions, &shape, values->shape.dims[0], &parents);
  if (status == NULL && some) status = put_values(values, &parents, outputs[0]);
  rheos__free(parents.items);
  return status;
}

static rheos_status *prepare(rheos__prepare *p) {
  layout *l = RHEOS_NEW_STATE(p, layout);
  if (l == NULL) return rheos__out_of_memory();
  RHEOS_TRY(layout_of(p->attrs, p->num_inputs - PARTITIONS, l));
  if (p->input_shapes[VALUES].rank < 1) return RHEOS_INVALID("values must have rows");
  RHEOS_TRY(check_default(&p->input_shapes[DEFAULT], &p->input_shapes[VALUES]));
  p->compute = compute;
  return NULL;
}

// ---- The gradient: the op itself, of row numbers, says which row of values stands where.

static void gradient(rheos__grad *g) {
  static const rheos_output none;
  static const rheos__bound start;
  rheos_scope *s = g->scope;
  layout l;
  rheos_output inputs[PARTITIONS + RHEOS_MAX_RANK + 1];
  const int32_t num_partitions = g->num_inputs - PARTITIONS;
  rheos_status *status = layout_of(g->attrs, num_partitions, &l);
  if (status == NULL && num_partitions > RHEOS_MAX_RANK + 1) {
    status = RHEOS_INVALID("%d row partitions are too many", num_partitions);
  }
  if (status != NULL) {
    rheos_scope_fail_take(s, status);
    return;
  }
  const rheos_output grad = rheos__grad_dense(g, 0);
  const rheos_output value_shape = rheos__shape_of(s, g->inputs[VALUES], RHEOS_INT32);
  const rheos__bound behind = {.present = true, .number = 1 + l.ragged_rank};
  const rheos_output rows =
      rheos__vector_at(s, value_shape, rheos__const_scalar(s, RHEOS_INT32, 0, "Const"));
  inputs[SHAPE] = rheos__vector_slice(s, rheos__shape_of(s, grad, RHEOS_INT32), start, behind);
  inputs[VALUES] = rheos__range(s, none, 0, rows, 0, 1);
  inputs[DEFAULT] = rheos__const_scalar(s, RHEOS_INT32, -1, "Const");
  for (int32_t i = 0; i < num_partitions; i++) inputs[PARTITIONS + i] = g->inputs[PARTITIONS + i];
  const rheos_attr types = {"row_partition_types",
                            *rheos__attrs_find(g->attrs, "row_partition_types")};
  const rheos_output where =
      rheos__named_n(s, "RaggedTensorToTensor", "RaggedTensorToTensor", inputs,
                     (size_t)(PARTITIONS + num_partitions), &types, 1);
  rheos__grad_set(g, VALUES, rheos__op_3(s, "UnsortedSegmentSum", grad, where, rows));
  // The default value stands wherever no row does: segment 0 of ids that are -1 elsewhere.
  const rheos_output is_default = rheos__op_with_number(s, "Less", "Less", where, 0);
  const rheos_output ids =
      rheos__op_with_number(s, "Sub", "sub", rheos__cast_to(s, is_default, RHEOS_INT32), 1);
  const rheos_output one = rheos__const_scalar(s, RHEOS_INT32, 1, "Const");
  const rheos_output sum = rheos__op_3(s, "UnsortedSegmentSum", grad, ids, one);
  const rheos__unbroadcast u = rheos__unbroadcast_always(s, g->inputs[DEFAULT], sum);
  rheos__grad_set(g, DEFAULT, rheos__unbroadcast_to(s, &u, 0, sum));
}

const rheos__op_def rheos__op_RaggedTensorToTensor = {
    .name = "RaggedTensorToTensor",
    .signature =
        "shape: Tshape, values: T, default_value: T, "
        "row_partition_tensors: num_row_partition_tensors * Tindex -> result: T; T: type; "
        "Tindex: {int64, int32}; Tshape: {int64, int32}; "
        "num_row_partition_tensors: int >= 1; row_partition_types: list(string)",
    .doc = "A ragged tensor as a dense one, with `default_value` where its rows end.",
    .shape = infer,
    .gradient = gradient,
    .prepare = prepare,
};
