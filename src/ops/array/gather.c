// Reading by indices: Gather, GatherNd, and OneHot, which is reading rows of an identity matrix.
#include "ops/array/gather.h"

#include <stdio.h>
#include <string.h>

#include "graph/build.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/polling.h"
#include "ops/kit/position_text.h"

// ---- Gather, GatherV2

// params (batch..., outer..., limit, inner...), indices (batch..., rest...) give
// (batch..., outer..., rest..., inner...).
typedef struct gather {
  rheos_dtype dtype, index_dtype;
  int64_t batch, outer, limit, inner, count;  // count: indices of one batch
  int64_t slots_per_unit;
  rheos_shape indices;
} gather;

static rheos_status *bad_index(const rheos_shape *indices, int64_t at, int64_t value,
                               int64_t limit) {
  rheos__position_text position;
  return RHEOS_INVALID("indices%s = %lld is not in [0, %lld)",
                       rheos__position_text_of(indices, at, &position), (long long)value,
                       (long long)limit);
}

static rheos_status *gather_axis(int64_t axis, int32_t rank, int32_t *out_axis) {
  if (rank == 0) return RHEOS_INVALID("params must be at least 1 dimensional");
  if (axis < -(int64_t)rank || axis >= rank) {
    return RHEOS_INVALID("Expected axis in the range [%d, %d), but got %lld", -rank, rank,
                         (long long)axis);
  }
  *out_axis = (int32_t)(axis < 0 ? axis + rank : axis);
  return NULL;
}

// The attribute, counted from the end of the indices if it is negative.
static rheos_status *gather_batch_dims(const rheos__attrs *attrs, int32_t indices_rank,
                                       int32_t axis, int32_t *out_batch_dims) {
  const rheos_attr_value *value = rheos__attrs_find(attrs, "batch_dims");
  int64_t dims = value == NULL ? 0 : value->i;
  if (dims < -(int64_t)indices_rank || dims > indices_rank) {
    return RHEOS_INVALID("Expected batch_dims in the range [%d, %d], but got %lld", -indices_rank,
                         indices_rank, (long long)dims);
  }
  if (dims < 0) dims += indices_rank;
  if (dims > axis) {
    return RHEOS_INVALID("batch_dims (%lld) must be less than or equal to axis (%d)",
                         (long long)dims, axis);
  }
  *out_batch_dims = (int32_t)dims;
  return NULL;
}

static rheos_status *gathered_shape(const rheos_shape *params, const rheos_shape *indices,
                                    int32_t axis, int32_t batch_dims, rheos_shape *out) {
  *out = RHEOS_SCALAR;
  for (int32_t d = 0; d < batch_dims; ++d) {
    int64_t a = params->dims[d], b = indices->dims[d];
    if (a >= 0 && b >= 0 && a != b) {
      return RHEOS_INVALID("params.shape[%d]: %lld should be equal to indices.shape[%d]: %lld", d,
                           (long long)a, d, (long long)b);
    }
    RHEOS_TRY(rheos__shape_append(out, a >= 0 ? a : b));
  }
  RHEOS_TRY(rheos__shape_append_range(out, params, batch_dims, axis));
  RHEOS_TRY(rheos__shape_append_range(out, indices, batch_dims, indices->rank));
  return rheos__shape_append_range(out, params, axis + 1, params->rank);
}

static rheos_status *shape_gather(rheos__infer *c) {
  const rheos_shape *params = &c->input_shapes[0], *indices = &c->input_shapes[1];
  int64_t axis_value = 0;
  bool axis_known = true;
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  if (c->num_inputs > 2) {
    rheos_shape ignored;
    RHEOS_TRY(rheos__infer_rank(c, 2, 0, &ignored));
    axis_known = rheos__infer_int(c, 2, &axis_value);
  }
  if (params->rank < 0 || indices->rank < 0) return NULL;
  int32_t axis = 0, batch_dims = 0;
  if (!axis_known) {
    RHEOS_TRY(gather_batch_dims(c->attrs, indices->rank, params->rank, &batch_dims));
    int32_t rank = params->rank + indices->rank - 1 - batch_dims;
    if (rank <= RHEOS_MAX_RANK) c->output_shapes[0] = rheos__shape_of_rank(rank);
    return NULL;
  }
  RHEOS_TRY(gather_axis(axis_value, params->rank, &axis));
  RHEOS_TRY(gather_batch_dims(c->attrs, indices->rank, axis, &batch_dims));
  return gathered_shape(params, indices, axis, batch_dims, &c->output_shapes[0]);
}

enum { GATHERED_BETWEEN_POLLS = 1 << 17 };

// Slots [first, last) of (batch, outer, count): one run of `inner` elements each.
static rheos_status *gather_slots(const gather *k, const void *params, const void *indices,
                                  void *out, int64_t first, int64_t last) {
  int64_t size = (int64_t)rheos_dtype_size(k->dtype), run = k->inner * size;
  int64_t since = 0;
  for (int64_t slot = first; slot < last; ++slot) {
    if (rheos__stops_after(&since, 1 + k->inner, GATHERED_BETWEEN_POLLS)) return rheos__stopped();
    int64_t block = slot / k->count, batch = block / k->outer;
    int64_t at = batch * k->count + slot % k->count;
    int64_t index = rheos__int_in(k->index_dtype, indices, at);
    if (index < 0 || index >= k->limit) return bad_index(&k->indices, at, index, k->limit);
    const char *from = (const char *)params + (block * k->limit + index) * run;
    char *to = (char *)out + slot * run;
    if (k->dtype == RHEOS_STRING) {
      RHEOS_TRY(rheos__copy_elements(k->dtype, to, from, k->inner));
    } else if (run == 4) {
      *(uint32_t *)(void *)to = *(const uint32_t *)(const void *)from;
    } else {
      memcpy(to, from, (size_t)run);
    }
  }
  return NULL;
}

static rheos_status *run_gather(const void *state, const void *const *inputs, void *const *outputs,
                                void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  const gather *k = state;
  int64_t total = k->batch * k->outer * k->count, last = last_unit * k->slots_per_unit;
  return gather_slots(k, inputs[0], inputs[1], outputs[0], first_unit * k->slots_per_unit,
                      last < total ? last : total);
}

static void describe(const rheos_shape *params, const rheos_shape *indices, int32_t axis,
                     int32_t batch_dims, gather *k) {
  k->batch = rheos__shape_product(params, 0, batch_dims);
  k->outer = rheos__shape_product(params, batch_dims, axis);
  k->limit = params->dims[axis];
  k->inner = rheos__shape_product(params, axis + 1, params->rank);
  k->count = rheos__shape_product(indices, batch_dims, indices->rank);
  k->indices = *indices;
  int64_t bytes = k->inner * (int64_t)rheos_dtype_size(k->dtype);
  k->slots_per_unit = bytes >= 65536 || bytes < 0 ? 1 : 65536 / (bytes + 1) + 1;
}

rheos_status *rheos__gathered_rows_shape(const rheos__attrs *attrs, const rheos_shape *params,
                                         const rheos_shape *indices, rheos_shape *out_shape) {
  int32_t batch_dims = 0;
  if (params->rank == 0) return RHEOS_INVALID("params must be at least 1 dimensional");
  if (params->rank < 0 || indices->rank < 0) return NULL;
  RHEOS_TRY(gather_batch_dims(attrs, indices->rank, params->rank - 1, &batch_dims));
  return gathered_shape(params, indices, batch_dims, batch_dims, out_shape);
}

rheos_status *rheos__gather_rows(const rheos__attrs *attrs, const rheos_tensor *params,
                                 const rheos_tensor *indices, rheos_tensor **out_rows) {
  rheos_shape shape = RHEOS_UNKNOWN_SHAPE;
  int32_t axis = 0;
  RHEOS_TRY(rheos__gathered_rows_shape(attrs, &params->shape, &indices->shape, &shape));
  RHEOS_TRY(gather_batch_dims(attrs, indices->shape.rank, params->shape.rank - 1, &axis));
  RHEOS_TRY(rheos__tensor_new(params->dtype, &shape, out_rows));
  gather k = {.dtype = params->dtype, .index_dtype = indices->dtype};
  describe(&params->shape, &indices->shape, axis, axis, &k);
  return gather_slots(&k, params->data, indices->data, (*out_rows)->data, 0,
                      k.batch * k.outer * k.count);
}

// The axis came after the shape was known.
static rheos_status *run_gather_late(const void *state, const void *const *inputs,
                                     void *const *outputs, void *scratch, int64_t first_unit,
                                     int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const rheos__operands *o = state;
  const rheos_shape *params = &o->input_shapes[0], *indices = &o->input_shapes[1];
  int32_t axis = 0, batch_dims = 0;
  rheos_shape shape;
  RHEOS_TRY(gather_axis(rheos__operand_int(o, inputs, 2, 0), params->rank, &axis));
  RHEOS_TRY(gather_batch_dims(o->attrs, indices->rank, axis, &batch_dims));
  RHEOS_TRY(gathered_shape(params, indices, axis, batch_dims, &shape));
  if (!rheos_shape_equal(&shape, &o->output_shapes[0])) {
    return RHEOS_INVALID("axis %d does not lead to the expected shape", axis);
  }
  gather k = {.dtype = o->input_dtypes[0], .index_dtype = o->input_dtypes[1]};
  describe(params, indices, axis, batch_dims, &k);
  return gather_slots(&k, inputs[0], inputs[1], outputs[0], 0, k.batch * k.outer * k.count);
}

static rheos_status *prepare_gather(rheos__prepare *p) {
  const rheos_shape *params = &p->input_shapes[0], *indices = &p->input_shapes[1];
  int32_t axis = 0, batch_dims = 0;
  if (p->num_inputs > 2) {
    if (p->input_values[2] == NULL) return rheos__answer_run_operands(p, run_gather_late, 1);
    int64_t value = rheos__tensor_int_at(p->input_values[2], 0);
    RHEOS_TRY(gather_axis(value, params->rank, &axis));
  }
  RHEOS_TRY(gather_batch_dims(p->attrs, indices->rank, axis, &batch_dims));
  gather *k = RHEOS_NEW_STATE(p, gather);
  if (k == NULL) return rheos__out_of_memory();
  k->dtype = p->input_dtypes[0];
  k->index_dtype = p->input_dtypes[1];
  describe(params, indices, axis, batch_dims, k);
  int64_t total = k->batch * k->outer * k->count;
  return rheos__answer_run(p, run_gather, (total + k->slots_per_unit - 1) / k->slots_per_unit);
}

// ---- The gradient of Gather and GatherV2

static const rheos__bound unbounded = {.present = false};

static rheos__bound at_number(int32_t number) {
  return (rheos__bound){.present = true, .number = number};
}

static rheos__bound at_tensor(rheos_output tensor) {
  return (rheos__bound){.present = true, .tensor = tensor};
}

// The shape of params as int32, beside params.
static rheos_output params_shape_of(rheos_scope *s, rheos_output params) {
  rheos_push_colocation(s, rheos_output_operation(params));
  rheos_output shape = rheos__shape_of(s, params, RHEOS_INT64);
  shape = rheos__cast_to(s, shape, RHEOS_INT32);
  rheos_scope_pop(s);
  return shape;
}

// Along dimension 0 the gradient is its rows: IndexedSlices.
static void gradient_rows(rheos__grad *g, rheos_output grad, rheos_output params_shape,
                          rheos_output indices_size) {
  rheos_scope *s = g->scope;
  rheos_output parts[] = {indices_size,
                          rheos__vector_slice(s, params_shape, at_number(1), unbounded)};
  rheos_output values_shape = rheos__concat(s, parts, 2, 0);
  g->in_grads[0].values = rheos__op_2(s, "Reshape", grad, values_shape);
  g->in_grads[0].indices = rheos__op_2(s, "Reshape", g->inputs[1], indices_size);
  g->in_grads[0].dense_shape = params_shape;
}

// A concatenation of vectors where member `member` is made inside its name scope: [-1] if `tensor`
// is none, [tensor] else.
static rheos_output concat_with(rheos_scope *s, rheos_output *parts, int32_t count, int32_t member,
                                const char *member_name, rheos_output tensor, int32_t number) {
  rheos__node_scope node;
  rheos__push_node_scope(s, "concat", &node);
  parts[member] = rheos__is_some(tensor)
                      ? rheos__named_n(s, "Pack", member_name, &tensor, 1, NULL, 0)
                      : rheos__const_ints(s, &number, 1, member_name);
  parts[count] = rheos__const_scalar(s, RHEOS_INT32, 0, "axis");
  rheos_output result = rheos__named_n(s, "ConcatV2", node.name, parts, (size_t)count + 1, NULL, 0);
  rheos_scope_pop(s);
  return result;
}

static rheos_output sum_in_batches(rheos_scope *s, rheos_output grad, rheos_output indices,
                                   rheos_output rows, int32_t batch_dims);

// Along another dimension: that dimension is moved to the front (of its batch), rows are added up
// by index, and it is moved back.
static void gradient_along_axis(rheos__grad *g, rheos_output grad, rheos_output params_shape,
                                int32_t batch_dims) {
  static const rheos_output none;
  rheos_scope *s = g->scope;
  rheos_output axis = rheos__cast_to(s, g->inputs[2], RHEOS_INT32), parts[5];
  rheos_output outer = rheos__vector_slice(s, params_shape, unbounded, at_tensor(axis));
  rheos_output from_axis = rheos__vector_slice(s, params_shape, at_tensor(axis), unbounded);
  rheos_output inner = rheos__vector_slice(s, from_axis, at_number(1), unbounded);
  parts[0] = outer, parts[2] = inner;
  rheos_output values_shape = concat_with(s, parts, 3, 1, "values_1", none, -1);
  rheos_output values_dims = rheos__size_of(s, values_shape);
  rheos_output axis_dims = rheos__size_of(s, outer);
  rheos_output batch_axes = rheos__range(s, none, 0, none, batch_dims, 1);
  rheos_output outer_axes = rheos__range(s, none, batch_dims, axis_dims, 0, 1);
  rheos_output after = rheos__op_with_number(s, "AddV2", "add", axis_dims, 1);
  rheos_output inner_axes = rheos__range(s, after, 0, values_dims, 0, 1);
  rheos_output values = rheos__op_2(s, "Reshape", grad, values_shape);
  parts[0] = batch_axes, parts[2] = outer_axes, parts[3] = inner_axes;
  rheos_output to_front = concat_with(s, parts, 4, 1, "values_1", axis_dims, 0);
  rheos_output moved = rheos__transpose_by(s, values, to_front, false);
  rheos_output limit = rheos__vector_at(s, params_shape, axis);
  rheos_output sums;
  if (batch_dims > 0) {
    sums = sum_in_batches(s, moved, g->inputs[1], limit, batch_dims);
  } else {
    rheos_output size = rheos__expand_dims(s, rheos__size_of(s, g->inputs[1]), 0);
    rheos_output flat = rheos__op_2(s, "Reshape", g->inputs[1], size);
    sums = rheos__op_3(s, "UnsortedSegmentSum", moved, flat, limit);
  }
  parts[0] = batch_axes;
  parts[1] = rheos__op_with_number(s, "AddV2", "add", outer_axes, 1);
  parts[3] = inner_axes;
  rheos_output back = concat_with(s, parts, 4, 2, "values_2", none, batch_dims);
  rheos__grad_set(g, 0, rheos__transpose_by(s, sums, back, false));
}

// batch_dims counted from the end of the indices' dimensions.
static int32_t batch_dims_of(rheos__grad *g, int32_t indices_rank) {
  const rheos_attr_value *attr = rheos__attrs_find(g->attrs, "batch_dims");
  if (attr == NULL) return 0;
  return (int32_t)(attr->i < 0 && indices_rank >= 0 ? attr->i + indices_rank : attr->i);
}

// Indices (batch..., k) of rows each within its batch, as indices of the rows of all batches.
static rheos_output indices_in_all(rheos_scope *s, rheos_output indices, rheos_output batch_shape,
                                   rheos_output num_batches, rheos_output rows,
                                   int32_t batch_dims) {
  static const rheos_output none;
  const rheos_output inner =
      rheos__op_with_number(s, "Sub", "sub", rheos__rank_of(s, indices), batch_dims);
  const rheos_output ones = rheos__op_2(s, "Fill", rheos__expand_dims(s, inner, 0),
                                        rheos__const_scalar(s, RHEOS_INT32, 1, "value"));
  const rheos_output first = rheos__py_mul(s, rheos__range(s, none, 0, num_batches, 0, 1), rows);
  const rheos_output parts[] = {batch_shape, ones};
  const rheos_output spread = rheos__op_2(s, "Reshape", first, rheos__concat(s, parts, 2, 0));
  return rheos__py_add(s, rheos__cast_to(s, indices, RHEOS_INT32), spread);
}

// The gradient (batch..., rows, ...) of gathered rows, summed up by index in each batch.
static rheos_output sum_in_batches(rheos_scope *s, rheos_output grad, rheos_output indices,
                                   rheos_output rows, int32_t batch_dims) {
  static const rheos_output none;
  const rheos_output shape = rheos__shape_of(s, grad, RHEOS_INT32);
  const rheos_output batch_shape = rheos__vector_slice(s, shape, unbounded, at_number(batch_dims));
  const rheos_output row_shape =
      rheos__vector_slice(s, shape, at_number(batch_dims + 1), unbounded);
  rheos_output parts[3] = {none, row_shape};
  const rheos_output flat_shape = concat_with(s, parts, 2, 0, "values_0", none, -1);
  const rheos_output num_batches =
      rheos__op_2(s, "Prod", batch_shape, rheos__const_scalar(s, RHEOS_INT32, 0, "axis"));
  const rheos_output all = indices_in_all(s, indices, batch_shape, num_batches, rows, batch_dims);
  const rheos_output size = rheos__expand_dims(s, rheos__size_of(s, indices), 0);
  const rheos_output sums =
      rheos__op_3(s, "UnsortedSegmentSum", rheos__op_2(s, "Reshape", grad, flat_shape),
                  rheos__op_2(s, "Reshape", all, size), rheos__py_mul(s, rows, num_batches));
  const rheos_output whole[] = {batch_shape, rheos__expand_dims(s, rows, 0), row_shape};
  return rheos__op_2(s, "Reshape", sums, rheos__concat(s, whole, 3, 0));
}

void rheos__gradient_of_rows(rheos__grad *g, rheos_output params_shape) {
  rheos_output size = rheos__expand_dims(g->scope, rheos__size_of(g->scope, g->inputs[1]), 0);
  if (rheos_scope_status(g->scope) != NULL) return;
  gradient_rows(g, rheos__grad_dense(g, 0), params_shape, size);
}

static void gradient_gather(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_output grad = rheos__grad_dense(g, 0);
  const int32_t indices_rank = rheos_output_shape(g->inputs[1]).rank;
  const int32_t batch_dims = batch_dims_of(g, indices_rank);
  if (batch_dims < 0) {
    rheos_scope_fail_take(s, rheos_status_new(RHEOS_UNIMPLEMENTED,
                                              "no gradient of GatherV2 with a negative "
                                              "batch_dims and indices of unknown rank"));
    return;
  }
  rheos_output params_shape = params_shape_of(s, g->inputs[0]);
  rheos_output size = rheos__expand_dims(s, rheos__size_of(s, g->inputs[1]), 0);
  const rheos_tensor *axis = g->num_inputs > 2 ? rheos__constant_value(g->inputs[2]) : NULL;
  bool rows = g->num_inputs < 3 || (axis != NULL && rheos__tensor_int_at(axis, 0) == 0);
  if (rheos_scope_status(s) != NULL) return;
  if (rows) {
    gradient_rows(g, grad, params_shape, size);
  } else {
    gradient_along_axis(g, grad, params_shape, batch_dims);
  }
}

const rheos__op_def rheos__op_Gather = {
    .name = "Gather",
    .signature =
        "params: Tparams, indices: Tindices -> output: Tparams; "
        "validate_indices: bool = true; Tparams: type; Tindices: {int32, int64}",
    .doc = "The rows `indices` of `params`.",
    .shape = shape_gather,
    .gradient = gradient_gather,
    .prepare = prepare_gather,
};

const rheos__op_def rheos__op_GatherV2 = {
    .name = "GatherV2",
    .signature =
        "params: Tparams, indices: Tindices, axis: Taxis -> output: Tparams; "
        "batch_dims: int = 0; Tparams: type; Tindices: {int16, int32, int64}; "
        "Taxis: {int32, int64}",
    .doc = "The slices `indices` of `params` along dimension `axis`.",
    .shape = shape_gather,
    .gradient = gradient_gather,
    .prepare = prepare_gather,
};

// ---- GatherNd

rheos_status *rheos__gathered_places_shape(const rheos_shape *params, const rheos_shape *indices,
                                           rheos_shape *out) {
  if (indices->rank == 0) return RHEOS_INVALID("indices must be at least a vector");
  if (params->rank < 0 || indices->rank < 0) return NULL;
  int64_t depth = indices->dims[indices->rank - 1];
  if (depth < 0) return NULL;
  if (depth > params->rank) {
    return RHEOS_INVALID(
        "index innermost dimension length must be <= params rank; saw: %lld vs. %d",
        (long long)depth, params->rank);
  }
  *out = RHEOS_SCALAR;
  RHEOS_TRY(rheos__shape_append_range(out, indices, 0, indices->rank - 1));
  return rheos__shape_append_range(out, params, (int32_t)depth, params->rank);
}

static rheos_status *shape_gather_nd(rheos__infer *c) {
  return rheos__gathered_places_shape(&c->input_shapes[0], &c->input_shapes[1],
                                      &c->output_shapes[0]);
}

static rheos_status *run_gather_nd(const void *state, const void *const *inputs,
                                   void *const *outputs, void *scratch, int64_t first_unit,
                                   int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  static const char zero[16];
  const rheos__operands *o = state;
  const rheos_shape *params = &o->input_shapes[0], *indices = &o->input_shapes[1];
  int64_t depth = indices->dims[indices->rank - 1];
  int64_t rows = rheos__shape_product(indices, 0, indices->rank - 1);
  int64_t run = rheos__shape_product(params, (int32_t)depth, params->rank);
  int64_t size = (int64_t)rheos_dtype_size(o->output_dtypes[0]), place;
  rheos__shape_text text;
  if (rows > 0 && rheos_shape_num_elements(params) == 0 &&
      rheos_shape_num_elements(&o->output_shapes[0]) > 0) {
    return RHEOS_INVALID("Requested more than 0 entries, but params is empty.  Params shape: %s",
                         rheos__shape_text_of(params, &text));
  }
  int64_t since = 0;
  for (int64_t row = 0; row < rows; ++row) {
    if (rheos__stops_after(&since, 1 + run, GATHERED_BETWEEN_POLLS)) return rheos__stopped();
    char *to = (char *)outputs[0] + row * run * size;
    if (!rheos__place_of(o->input_dtypes[1], inputs[1], row, depth, params, &place)) {
      if (o->ignore_bad_indices) {
        RHEOS_TRY(rheos__fill_elements(o->output_dtypes[0], to, zero, run));
        continue;
      }
      return rheos__bad_place(o, inputs[1], 1, row, depth, params, "param shape");
    }
    RHEOS_TRY(rheos__copy_elements(o->output_dtypes[0], to,
                                   (const char *)inputs[0] + place * run * size, run));
  }
  return NULL;
}

rheos_status *rheos__gather_places(const rheos_tensor *params, const rheos_tensor *indices,
                                   rheos_tensor **out_places) {
  rheos_shape shapes[] = {params->shape, indices->shape}, result = RHEOS_UNKNOWN_SHAPE;
  RHEOS_TRY(rheos__gathered_places_shape(&shapes[0], &shapes[1], &result));
  RHEOS_TRY(rheos__tensor_new(params->dtype, &result, out_places));
  rheos_dtype dtypes[] = {params->dtype, indices->dtype};
  rheos__operands o = {.num_inputs = 2,
                       .num_outputs = 1,
                       .input_dtypes = dtypes,
                       .output_dtypes = dtypes,
                       .input_shapes = shapes,
                       .output_shapes = &result};
  const void *inputs[] = {params->data, indices->data};
  return run_gather_nd(&o, inputs, (void *[]){(*out_places)->data}, NULL, 0, 1);
}

static rheos_status *prepare_gather_nd(rheos__prepare *p) {
  rheos__operands *o = rheos__keep_operands(p);
  if (o == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__bad_indices_policy(p->attrs, &o->ignore_bad_indices));
  p->state = o;
  return rheos__answer_run(p, run_gather_nd, 1);
}

static void gradient_gather_nd(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_output grad = rheos__grad_dense(g, 0), indices = g->inputs[1];
  if (rheos_scope_status(s) != NULL) return;
  const rheos_dtype dtype = rheos_dtype_base(rheos_output_dtype(indices));
  if (dtype == RHEOS_INT16) indices = rheos__cast_to(s, indices, RHEOS_INT32);
  rheos_output shape = rheos__shape_of(s, g->inputs[0], dtype == RHEOS_INT16 ? RHEOS_INT32 : dtype);
  rheos_attr policy;
  const size_t num_attrs = rheos__bad_indices_attr(g, &policy);
  rheos_shape table = rheos_output_shape(indices);
  if (table.rank == 2 && table.dims[1] == 1 && num_attrs == 0) {  // whole rows
    rheos_attr axes = rheos_attr_ints("squeeze_dims", (int64_t[]){-1}, 1);
    g->in_grads[0].values = grad;
    g->in_grads[0].indices = rheos__named_n(s, "Squeeze", NULL, &indices, 1, &axes, 1);
    g->in_grads[0].dense_shape = shape;
    return;
  }
  if (table.rank == 1) {  // one place, and ScatterNd wants a list of them
    indices = rheos__expand_dims(s, indices, 0);
    grad = rheos__expand_dims(s, grad, 0);
  }
  const rheos_output inputs[] = {indices, grad, shape};
  rheos__grad_set(g, 0, rheos__named_n(s, "ScatterNd", NULL, inputs, 3, &policy, num_attrs));
}

const rheos__op_def rheos__op_GatherNd = {
    .name = "GatherNd",
    .signature =
        "params: Tparams, indices: Tindices -> output: Tparams; Tparams: type; "
        "Tindices: {int16, int32, int64}" RHEOS__BAD_INDICES_POLICY,
    .doc = "The elements or slices of `params` that the innermost dimension of `indices` names.",
    .shape = shape_gather_nd,
    .gradient = gradient_gather_nd,
    .prepare = prepare_gather_nd,
};

// ---- OneHot

static rheos_status *one_hot_axis(const rheos__attrs *attrs, int32_t rank, int32_t *out_axis) {
  int64_t axis = rheos__attr_int(attrs, "axis");
  if (axis < -1 || axis > rank) {
    return RHEOS_INVALID("Expected axis to be -1 or between [0, %d).  But received: %lld", rank + 1,
                         (long long)axis);
  }
  *out_axis = (int32_t)(axis == -1 ? rank : axis);
  return NULL;
}

static rheos_status *shape_one_hot(rheos__infer *c) {
  static const char *const names[] = {"indices", "depth", "on_value", "off_value"};
  const rheos_shape *indices = &c->input_shapes[0];
  for (int32_t i = 1; i < 4; ++i) {
    rheos__shape_text text;
    if (c->input_shapes[i].rank <= 0) continue;
    return RHEOS_INVALID("%s must be a scalar, but got: %s", names[i],
                         rheos__shape_text_of(&c->input_shapes[i], &text));
  }
  int64_t depth = -1;
  if (rheos__infer_int(c, 1, &depth) && depth < 0) {
    return RHEOS_INVALID("depth must be non-negative, got: %lld", (long long)depth);
  }
  if (indices->rank < 0) return NULL;
  int32_t axis = 0;
  RHEOS_TRY(one_hot_axis(c->attrs, indices->rank, &axis));
  rheos_shape *out = &c->output_shapes[0];
  *out = RHEOS_SCALAR;
  RHEOS_TRY(rheos__shape_append_range(out, indices, 0, axis));
  RHEOS_TRY(rheos__shape_append(out, depth));
  return rheos__shape_append_range(out, indices, axis, indices->rank);
}

typedef struct one_hot {
  rheos_dtype dtype, index_dtype;
  int64_t rows, depth, columns;
  int64_t unit_rows;
} one_hot;

// All off, then one on for each index that is in range: indices (rows, columns) give
// (rows, depth, columns).
static rheos_status *run_one_hot(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  enum { FAR_BYTES = 4096 };
  const one_hot *h = state;
  const int64_t first = first_unit * h->unit_rows, end = last_unit * h->unit_rows;
  const int64_t last = end < h->rows ? end : h->rows;
  if (first >= last) return NULL;
  const int64_t block = h->depth * h->columns, size = (int64_t)rheos_dtype_size(h->dtype);
  char *out = outputs[0];
  // Short blocks stay in the cache until the one of each is set.
  const bool far = block * size >= FAR_BYTES;
  RHEOS_TRY(rheos__fill_part(h->dtype, out + first * block * size, inputs[3],
                             (last - first) * block, far ? h->rows * block : 0));
  for (int64_t i = first * h->columns; i < last * h->columns; ++i) {
    const int64_t index = rheos__int_in(h->index_dtype, inputs[0], i);
    if (index < 0 || index >= h->depth) continue;
    const int64_t at = (i / h->columns) * block + index * h->columns + i % h->columns;
    RHEOS_TRY(rheos__copy_elements(h->dtype, out + at * size, inputs[2], 1));
  }
  return NULL;
}

static rheos_status *prepare_one_hot(rheos__prepare *p) {
  one_hot *h = RHEOS_NEW_STATE(p, one_hot);
  if (h == NULL) return rheos__out_of_memory();
  const rheos_shape *indices = &p->input_shapes[0];
  int32_t axis = 0;
  RHEOS_TRY(one_hot_axis(p->attrs, indices->rank, &axis));
  h->dtype = p->output_dtypes[0];
  h->index_dtype = p->input_dtypes[0];
  h->depth = p->output_shapes[0].dims[axis];
  int64_t block = 1;
  if (rheos_shape_num_elements(&p->output_shapes[0]) > 0) {
    h->rows = rheos__shape_product(indices, 0, axis);
    h->columns = rheos__shape_product(indices, axis, indices->rank);
    block = h->depth * h->columns;
  }
  h->unit_rows = block < RHEOS__COPY_UNIT ? RHEOS__COPY_UNIT / block : 1;
  return rheos__answer_run(p, run_one_hot, (h->rows + h->unit_rows - 1) / h->unit_rows);
}

const rheos__op_def rheos__op_OneHot = {
    .name = "OneHot",
    .signature =
        "indices: TI, depth: int32, on_value: T, off_value: T -> output: T; "
        "axis: int = -1; T: type; TI: {uint8, int8, int32, int64} = int64",
    .doc =
        "`on_value` at the place of each index along a new dimension of size `depth`, "
        "`off_value` elsewhere.",
    .shape = shape_one_hot,
    .gradient = rheos__no_gradient,
    .prepare = prepare_one_hot,
};
