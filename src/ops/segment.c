// Sums of rows by the segment they belong to.
#include "graph/build.h"
#include "ops/array_grad.h"
#include "ops/array_util.h"
#include "ops/op_util.h"

#define NUMBER_TYPES                                                                     \
  "{float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, " \
  "bfloat16, uint16, complex128, half, uint32, uint64}"

static rheos_status *needs_add(rheos__prepare *p, rheos__run_fn run) {
  if (rheos__add_of(p->output_dtypes[0]) == NULL) {
    p->decline_reason = "elements of this dtype cannot be added";
    return NULL;
  }
  return rheos__answer_run_operands(p, run, 1);
}

// ---- UnsortedSegmentSum

static rheos_status *shape_unsorted_segment(rheos__infer *c) {
  const rheos_shape *data = &c->input_shapes[0], *ids = &c->input_shapes[1];
  rheos_shape ignored;
  RHEOS_TRY(rheos__infer_rank(c, 2, 0, &ignored));
  int64_t count = -1;
  if (rheos__infer_int(c, 2, &count) && count < 0) {
    return RHEOS_INVALID("Input num_segments == %lld must not be negative.", (long long)count);
  }
  if (data->rank < 0 || ids->rank < 0) return NULL;
  bool fits = ids->rank <= data->rank;
  for (int32_t d = 0; d < ids->rank && fits; ++d) {
    fits = data->dims[d] < 0 || ids->dims[d] < 0 || data->dims[d] == ids->dims[d];
  }
  if (!fits) {
    rheos__shape_text a, b;
    return RHEOS_INVALID("data.shape = %s does not start with segment_ids.shape = %s",
                         rheos__shape_text_of(data, &a), rheos__shape_text_of(ids, &b));
  }
  c->output_shapes[0] = RHEOS_SHAPE(count);
  return rheos__shape_append_range(&c->output_shapes[0], data, ids->rank, data->rank);
}

static rheos_status *run_unsorted_segment_sum(const void *state, const void *const *inputs,
                                              void *const *outputs, void *scratch,
                                              int64_t first_unit, int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  static const char zero[16];
  const rheos__operands *o = state;
  const rheos_shape *data = &o->input_shapes[0], *ids = &o->input_shapes[1];
  rheos_dtype dtype = o->output_dtypes[0];
  int64_t run = rheos__shape_product(data, ids->rank, data->rank);
  int64_t rows = rheos_shape_num_elements(ids), limit = o->output_shapes[0].dims[0];
  int64_t bytes = run * (int64_t)rheos_dtype_size(dtype);
  rheos__add_fn add = rheos__add_of(dtype);
  RHEOS_TRY(rheos__fill_elements(dtype, outputs[0], zero,
                                 rheos_shape_num_elements(&o->output_shapes[0])));
  for (int64_t row = 0; row < rows; ++row) {
    int64_t id = rheos__operand_int(o, inputs, 1, row);
    if (id < 0) continue;  // left out
    if (id >= limit) {
      return RHEOS_INVALID("segment_ids[%lld] = %lld is out of range [0, %lld)", (long long)row,
                           (long long)id, (long long)limit);
    }
    add((char *)outputs[0] + id * bytes, (const char *)inputs[0] + row * bytes, run);
  }
  return NULL;
}

static rheos_status *prepare_unsorted_segment_sum(rheos__prepare *p) {
  return needs_add(p, run_unsorted_segment_sum);
}

// d data: the row of the gradient that each row went to, zeros for rows that were left out.
static void gradient_unsorted_segment_sum(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_output grad = rheos__grad_dense(g, 0), ids = g->inputs[1];
  if (rheos_scope_status(s) != NULL) return;
  rheos_output zero_ids = rheos__zeros_like(s, ids);
  rheos_output clipped = rheos__op_2(s, "Maximum", ids, zero_ids);
  rheos_output rows = rheos__gather(s, grad, clipped);
  rheos_output taken = rheos__op_with_number(s, "GreaterEqual", "GreaterEqual", ids, 0);
  rheos_shape ids_shape = rheos_output_shape(ids), rows_shape = {.rank = -1};
  if (rheos__is_some(rows)) rows_shape = rheos_output_shape(rows);
  if (ids_shape.rank >= 0 && rows_shape.rank >= 0) {
    for (int32_t d = ids_shape.rank; d < rows_shape.rank; ++d) {
      taken = rheos__expand_dims(s, taken, -1);
    }
  } else {  // as many dimensions of size 1 as the rows have more
    rheos_output shape = rheos__shape_of(s, taken, RHEOS_INT32);
    rheos_output extra =
        rheos__py_sub(s, rheos__rank_of(s, rows), rheos__rank_of(s, taken));
    rheos__node_scope node;
    rheos__push_node_scope(s, "ones", &node);
    rheos_output one = rheos__const_scalar(s, RHEOS_INT32, 1, "Const");
    rheos_output length = rheos__expand_dims(s, extra, 0);
    rheos_output fill_inputs[] = {length, one};
    rheos_output ones = rheos__named_n(s, "Fill", node.name, fill_inputs, 2, NULL, 0);
    rheos_scope_pop(s);
    rheos_output parts[] = {shape, ones};
    taken = rheos__op_2(s, "Reshape", taken, rheos__concat(s, parts, 2, 0));
  }
  rheos__node_scope node;
  rheos__push_node_scope(s, "ones_like", &node);
  rheos_output shape = rheos__shape_of(s, rows, RHEOS_INT32);
  rheos_output fill_inputs[] = {shape, rheos__const_scalar(s, RHEOS_BOOL, 1, "Const")};
  rheos_output ones = rheos__named_n(s, "Fill", node.name, fill_inputs, 2, NULL, 0);
  rheos_scope_pop(s);
  rheos_output mask = rheos__named_2(s, "LogicalAnd", "and", taken, ones);
  rheos_output zeros = rheos__zeros_like(s, rows);
  rheos__grad_set(g, 0, rheos__op_3(s, "Select", mask, rows, zeros));
}

const rheos__op_def rheos__op_UnsortedSegmentSum = {
    .name = "UnsortedSegmentSum",
    .signature = "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T; "
                 "T: " NUMBER_TYPES "; Tindices: {int16, int32, int64}; "
                 "Tnumsegments: {int32, int64} = int32",
    .doc = "Row i of the result is the sum of the rows of `data` whose segment id is i.",
    .shape = shape_unsorted_segment,
    .gradient = gradient_unsorted_segment_sum,
    .prepare = prepare_unsorted_segment_sum,
};

// ---- SegmentSum: ids ascend, and the last one says how many segments there are

static rheos_status *shape_segment_sum(rheos__infer *c) {
  const rheos_shape *data = &c->input_shapes[0];
  rheos_shape ids;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &ids));
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  if (data->rank < 0) return NULL;
  if (data->dims[0] >= 0 && ids.dims[0] >= 0 && data->dims[0] != ids.dims[0]) {
    return RHEOS_INVALID("segment_ids should be the same size as dimension 0 of input.");
  }
  c->output_shapes[0] = *data;
  c->output_shapes[0].dims[0] = -1;
  const rheos_tensor *value = c->input_values == NULL ? NULL : c->input_values[1];
  if (value == NULL) return NULL;
  int64_t count = value->num_elements;
  int64_t last = count == 0 ? -1 : rheos__tensor_int_at(value, count - 1);
  if (last >= -1 && last < INT64_MAX) c->output_shapes[0].dims[0] = last + 1;
  return NULL;
}

static rheos_status *sum_segments(const rheos__operands *o, const rheos_tensor *data,
                                  const rheos_tensor *ids, rheos_tensor *out) {
  static const char zero[16];
  int64_t rows = ids->num_elements, limit = out->shape.dims[0], previous = 0;
  int64_t run = rheos__shape_product(&data->shape, 1, data->shape.rank);
  int64_t bytes = run * (int64_t)rheos_dtype_size(data->dtype);
  rheos__add_fn add = rheos__add_of(o->output_dtypes[0]);
  RHEOS_TRY(rheos__fill_elements(data->dtype, out->data, zero, out->num_elements));
  for (int64_t row = 0; row < rows; ++row) {
    int64_t id = rheos__tensor_int_at(ids, row);
    if (id < 0 || id >= limit) {
      return RHEOS_INVALID("Segment id %lld out of range [0, %lld), possibly because "
                           "'segment_ids' input is not sorted.",
                           (long long)id, (long long)limit);
    }
    if (id < previous) return RHEOS_INVALID("segment ids are not increasing");
    previous = id;
    add((char *)out->data + id * bytes, (const char *)data->data + row * bytes, run);
  }
  return NULL;
}

static rheos_status *compute_segment_sum(void *state, rheos__step *step,
                                         rheos_tensor *const *inputs, rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  const rheos_tensor *ids = inputs[1];
  int64_t rows = ids->num_elements, last = -1;
  if (rows > 0) {
    last = rheos__tensor_int_at(ids, rows - 1);
    int64_t first = rheos__tensor_int_at(ids, 0);
    if (first < 0 || last < 0) {
      return RHEOS_INVALID("Segment id %lld out of range [0, %lld), possibly because "
                           "'segment_ids' input is not sorted.",
                           (long long)(first < 0 ? first : last), (long long)last + 1);
    }
    if (last < first) return RHEOS_INVALID("segment ids are not increasing");
  }
  if (last == INT64_MAX) return RHEOS_INVALID("Segment id %lld is too large", (long long)last);
  rheos_shape shape = inputs[0]->shape;
  shape.dims[0] = last + 1;
  RHEOS_TRY(rheos_tensor_new(o->output_dtypes[0], shape, &outputs[0]));
  return sum_segments(o, inputs[0], ids, outputs[0]);
}

static rheos_status *prepare_segment_sum(rheos__prepare *p) {
  if (rheos__add_of(p->output_dtypes[0]) == NULL) {
    p->decline_reason = "elements of this dtype cannot be added";
    return NULL;
  }
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = compute_segment_sum;
  return NULL;
}

static void gradient_segment_sum(rheos__grad *g) {
  rheos__grad_set(g, 0, rheos__gather(g->scope, rheos__grad_dense(g, 0), g->inputs[1]));
}

const rheos__op_def rheos__op_SegmentSum = {
    .name = "SegmentSum",
    .signature = "data: T, segment_ids: Tindices -> output: T; T: " NUMBER_TYPES
                 "; Tindices: {int32, int64}",
    .doc = "Row i of the result is the sum of the rows of `data` whose segment id is i; ids "
           "ascend.",
    .shape = shape_segment_sum,
    .gradient = gradient_segment_sum,
    .prepare = prepare_segment_sum,
};
