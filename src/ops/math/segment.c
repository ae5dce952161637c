// Rows joined by the segment they belong to: sums, means, products and extremes, of ids that ascend
// (Segment) or come in any order (UnsortedSegment).
#include "ops/math/segment.h"

#include <float.h>
#include <string.h>

#include "graph/build.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/elementwise.h"
#include "ops/kit/op_util.h"

#define REAL_TYPES \
  "{float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
#define NUMBER_TYPES "number"

// ---- Rows

rheos__segment_kind rheos__segment_kind_named(const char *op) {
  static const char *const names[] = {
      [RHEOS__SEGMENT_SUM] = "SegmentSum",      [RHEOS__SEGMENT_MEAN] = "SegmentMean",
      [RHEOS__SEGMENT_SQRT_N] = "SegmentSqrtN", [RHEOS__SEGMENT_PROD] = "SegmentProd",
      [RHEOS__SEGMENT_MAX] = "SegmentMax",      [RHEOS__SEGMENT_MIN] = "SegmentMin"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strstr(op, names[i]) != NULL) return (rheos__segment_kind)i;
  }
  return RHEOS__SEGMENT_SUM;
}

rheos__change_kind rheos__segment_change(rheos__segment_kind kind) {
  switch (kind) {
    case RHEOS__SEGMENT_PROD: return RHEOS__CHANGE_MUL;
    case RHEOS__SEGMENT_MAX: return RHEOS__CHANGE_NEWEST_MAX;
    case RHEOS__SEGMENT_MIN: return RHEOS__CHANGE_NEWEST_MIN;
    default: return RHEOS__CHANGE_ADD;
  }
}

rheos__change rheos__segment_join(rheos__segment_kind kind, rheos_dtype dtype) {
  return rheos__change_of(rheos__segment_change(kind), dtype);
}

#define DIVIDE_CASE(S, by)                                                                     \
  case RHEOS__DTYPE_##S: {                                                                     \
    rheos__stored_##S *z = row;                                                                \
    for (int64_t i = 0; i < width; i++) z[i] = RHEOS__STORE_##S(RHEOS__LOAD_##S(z[i]) / (by)); \
    break;                                                                                     \
  }

void rheos__divide_row(rheos_dtype dtype, void *row, int64_t width, double divisor) {
  switch (dtype) {
    RHEOS__FLOATS(DIVIDE_CASE, divisor)
    RHEOS__COMPLEXES(DIVIDE_CASE, divisor)
    RHEOS__INTEGERS(DIVIDE_CASE, (int64_t)divisor)
    default: break;
  }
}

void rheos__segment_start(rheos__segment_kind kind, rheos_dtype dtype, bool sorted, void *out) {
#define LIMIT_CASE(S, ...)                                                                         \
  case RHEOS__DTYPE_##S: {                                                                         \
    const rheos__computed_##S half_range = (rheos__computed_##S)1                                  \
                                           << (8 * sizeof(rheos__computed_##S) - 2);               \
    const bool is_signed = (rheos__computed_##S) - 1 < 1;                                          \
    const rheos__computed_##S top = is_signed ? (rheos__computed_##S)(half_range - 1 + half_range) \
                                              : (rheos__computed_##S) - 1;                         \
    *(rheos__stored_##S *)out = RHEOS__STORE_##S(one         ? 1                                   \
                                                 : !extreme  ? 0                                   \
                                                 : high      ? top                                 \
                                                 : is_signed ? -top - 1                            \
                                                             : 0);                                 \
    return;                                                                                        \
  }
#define FLOAT_CASE(S, top)                                                                    \
  case RHEOS__DTYPE_##S:                                                                      \
    *(rheos__stored_##S *)out = RHEOS__STORE_##S(one ? 1 : !extreme ? 0 : high ? top : -top); \
    return;
  const bool one = kind == RHEOS__SEGMENT_PROD, high = kind == RHEOS__SEGMENT_MIN;
  const bool extreme = !sorted && (high || kind == RHEOS__SEGMENT_MAX);
  switch (dtype) {
    RHEOS__INTEGERS(LIMIT_CASE, )
    FLOAT_CASE(float, FLT_MAX)
    FLOAT_CASE(double, DBL_MAX)
    FLOAT_CASE(half, 65504.0f)
    FLOAT_CASE(bfloat16, 0x1.fep127f)
    FLOAT_CASE(complex64, 0)
    FLOAT_CASE(complex128, 0)
    default: memset(out, 0, 16); break;
  }
}

rheos_status *rheos__check_segment(int64_t id, int64_t previous, int64_t limit) {
  if (id < 0 || id >= limit) {
    return RHEOS_INVALID(
        "Segment id %lld out of range [0, %lld), possibly because 'segment_ids' "
        "input is not sorted.",
        (long long)id, (long long)limit);
  }
  return id < previous ? RHEOS_INVALID("segment ids are not increasing") : NULL;
}

// ---- UnsortedSegment

typedef struct unsorted {
  const rheos__operands *operands;
  rheos__change join;
  char start[16];
} unsorted;

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

static rheos_status *run_unsorted_segment(const void *state, const void *const *inputs,
                                          void *const *outputs, void *scratch, int64_t first_unit,
                                          int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const unsorted *k = state;
  const rheos__operands *o = k->operands;
  const rheos_shape *data = &o->input_shapes[0], *ids = &o->input_shapes[1];
  rheos_dtype dtype = o->output_dtypes[0];
  int64_t run = rheos__shape_product(data, ids->rank, data->rank);
  int64_t rows = rheos_shape_num_elements(ids), limit = o->output_shapes[0].dims[0];
  int64_t bytes = run * (int64_t)rheos_dtype_size(dtype);
  RHEOS_TRY(rheos__fill_elements(dtype, outputs[0], k->start,
                                 rheos_shape_num_elements(&o->output_shapes[0])));
  for (int64_t row = 0; row < rows; ++row) {
    int64_t id = rheos__operand_int(o, inputs, 1, row);
    if (id < 0) continue;  // left out
    if (id >= limit) {
      return RHEOS_INVALID("segment_ids[%lld] = %lld is out of range [0, %lld)", (long long)row,
                           (long long)id, (long long)limit);
    }
    k->join((char *)outputs[0] + id * bytes, (const char *)inputs[0] + row * bytes, run, false);
  }
  return NULL;
}

static rheos_status *prepare_unsorted(rheos__prepare *p, rheos__segment_kind kind) {
  const rheos__change join = rheos__segment_join(kind, p->output_dtypes[0]);
  if (join == NULL) return rheos__no_kernel(p, p->output_dtypes[0]);
  unsorted *k = RHEOS_NEW_STATE(p, unsorted);
  if (k == NULL) return rheos__out_of_memory();
  k->operands = rheos__keep_operands(p);
  if (k->operands == NULL) return rheos__out_of_memory();
  k->join = join;
  rheos__segment_start(kind, p->output_dtypes[0], false, k->start);
  return rheos__answer_run(p, run_unsorted_segment, 1);
}

// Rows of `params` by ids, zeros where ids are negative. `mask`, of the shape of the rows, says
// where they are not; it is made if it is none yet.
static rheos_output gather_rows(rheos_scope *s, rheos_output params, rheos_output ids,
                                rheos_output clipped, rheos_output *mask) {
  rheos_output rows = rheos__gather(s, params, clipped);
  if (rheos_scope_status(s) != NULL) return rows;
  if (!rheos__is_some(*mask)) {
    rheos_output taken = rheos__op_with_number(s, "GreaterEqual", "GreaterEqual", ids, 0);
    rheos_shape ids_shape = rheos_output_shape(ids), rows_shape = rheos_output_shape(rows);
    if (ids_shape.rank >= 0 && rows_shape.rank >= 0) {
      for (int32_t d = ids_shape.rank; d < rows_shape.rank; ++d) {
        taken = rheos__expand_dims(s, taken, -1);
      }
    } else {  // as many dimensions of size 1 as the rows have more
      rheos_output shape = rheos__shape_of(s, taken, RHEOS_INT32);
      rheos_output extra = rheos__py_sub(s, rheos__rank_of(s, rows), rheos__rank_of(s, taken));
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
    *mask = rheos__named_2(s, "LogicalAnd", "and", taken, ones);
  }
  rheos_output zeros = rheos__zeros_like(s, rows);
  return rheos__op_3(s, "Select", *mask, rows, zeros);
}

static rheos_output clipped_ids(rheos_scope *s, rheos_output ids) {
  rheos_output zero_ids = rheos__zeros_like(s, ids);
  return rheos__op_2(s, "Maximum", ids, zero_ids);
}

// d data: the row of the gradient that each row went to, zeros for rows that were left out.
static void gradient_unsorted_sum(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_output grad = rheos__grad_dense(g, 0), mask = {0};
  if (rheos_scope_status(s) != NULL) return;
  rheos__grad_set(g, 0, gather_rows(s, grad, g->inputs[1], clipped_ids(s, g->inputs[1]), &mask));
}

// Shared equally among the rows that are the extreme of their segment.
static void gradient_unsorted_extreme(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_output grad = rheos__grad_dense(g, 0), ids = g->inputs[1], mask = {0};
  if (rheos_scope_status(s) != NULL) return;
  rheos_output clipped = clipped_ids(s, ids);
  rheos_output extremes = gather_rows(s, g->outputs[0], ids, clipped, &mask);
  rheos_output selected = rheos__op_2(s, "Equal", g->inputs[0], extremes);
  selected = rheos__op_2(s, "LogicalAnd", selected, mask);
  if (rheos_scope_status(s) != NULL) return;
  rheos_output ones = rheos__cast_to(s, selected, rheos_output_dtype(grad));
  rheos_output number = rheos__op_3(s, "UnsortedSegmentSum", ones, ids, g->inputs[2]);
  rheos_output shares = rheos__py_div(s, grad, number);
  rheos_output rows = gather_rows(s, shares, ids, clipped, &mask);
  rheos_output zeros = rheos__zeros_like(s, rows);
  rheos__grad_set(g, 0, rheos__op_3(s, "SelectV2", selected, rows, zeros));
}

// The products without one element each, by division; where a segment has one zero, only that one
// has a share, the product of the others, and where it has two none has.
static void gradient_unsorted_prod(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_output grad = rheos__grad_dense(g, 0), data = g->inputs[0], ids = g->inputs[1];
  rheos_output count = g->inputs[2], mask = {0};
  if (rheos_scope_status(s) != NULL) return;
  rheos_output is_zero = rheos__op_with_number(s, "Equal", "Equal", data, 0);
  rheos_output zeros =
      rheos__op_3(s, "UnsortedSegmentSum", rheos__cast_to(s, is_zero, RHEOS_INT32), ids, count);
  rheos_output many = rheos__op_with_number(s, "Greater", "Greater", zeros, 1);
  grad = rheos__op_3(s, "SelectV2", many, rheos__zeros_like(s, grad), grad);
  rheos_output filled = rheos__op_3(s, "SelectV2", is_zero, rheos__ones_like(s, data), data);
  rheos_output others = rheos__op_3(s, "UnsortedSegmentProd", filled, ids, count);
  rheos_output clipped = clipped_ids(s, ids);
  rheos_output quotient = rheos__py_div(s, rheos__gather(s, g->outputs[0], clipped), filled);
  rheos_output slope =
      rheos__op_3(s, "SelectV2", is_zero, rheos__gather(s, others, clipped), quotient);
  rheos__grad_set(g, 0, rheos__py_mul(s, gather_rows(s, grad, ids, clipped, &mask), slope));
}

#define UNSORTED(op, kind, types, slope, about)                                                   \
  static rheos_status *prepare_unsorted_##op(rheos__prepare *p) {                                 \
    return prepare_unsorted(p, RHEOS__SEGMENT_##kind);                                            \
  }                                                                                               \
  const rheos__op_def rheos__op_UnsortedSegment##op = {                                           \
      .name = "UnsortedSegment" #op,                                                              \
      .signature =                                                                                \
          "data: T, segment_ids: Tindices, num_segments: Tnumsegments -> output: T; T: " types    \
          "; Tindices: {int16, int32, int64}; Tnumsegments: {int32, int64} = int32",              \
      .doc = "Row i of the result is the " about " of the rows of `data` whose segment id is i.", \
      .shape = shape_unsorted_segment,                                                            \
      .gradient = slope,                                                                          \
      .prepare = prepare_unsorted_##op,                                                           \
  };
UNSORTED(Sum, SUM, NUMBER_TYPES, gradient_unsorted_sum, "sum")
UNSORTED(Prod, PROD, NUMBER_TYPES, gradient_unsorted_prod, "product")
UNSORTED(Max, MAX, REAL_TYPES, gradient_unsorted_extreme, "largest")
UNSORTED(Min, MIN, REAL_TYPES, gradient_unsorted_extreme, "smallest")

// ---- Segment: ids ascend, and the last one says how many segments there are

typedef struct sorted {
  const rheos__operands *operands;
  rheos__segment_kind kind;
  rheos__change join;
  char gap[16];
} sorted;

static rheos_status *shape_segment(rheos__infer *c) {
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
  const rheos_tensor *value = rheos__infer_value(c, 1);
  if (value == NULL) return NULL;
  int64_t count = value->num_elements;
  int64_t last = count == 0 ? -1 : rheos__tensor_int_at(value, count - 1);
  if (last >= -1 && last < INT64_MAX) c->output_shapes[0].dims[0] = last + 1;
  return NULL;
}

static rheos_status *join_segments(const sorted *k, const rheos_tensor *data,
                                   const rheos_tensor *ids, rheos_tensor *out) {
  int64_t rows = ids->num_elements, limit = out->shape.dims[0], previous = -1, count = 0;
  int64_t run = rheos__shape_product(&data->shape, 1, data->shape.rank);
  int64_t bytes = run * (int64_t)rheos_dtype_size(data->dtype);
  char *to = out->data;
  const bool mean = k->kind == RHEOS__SEGMENT_MEAN;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t id = rheos__tensor_int_at(ids, row);
    RHEOS_TRY(rheos__check_segment(id, previous < 0 ? 0 : previous, limit));
    const char *from = (const char *)data->data + row * bytes;
    if (id == previous) {
      k->join(to + id * bytes, from, run, false);
      count++;
      continue;
    }
    if (mean && count > 1)
      rheos__divide_row(data->dtype, to + previous * bytes, run, (double)count);
    RHEOS_TRY(rheos__fill_elements(data->dtype, to + (previous + 1) * bytes, k->gap,
                                   (id - previous - 1) * run));
    RHEOS_TRY(rheos__copy_elements(data->dtype, to + id * bytes, from, run));
    previous = id;
    count = 1;
  }
  if (mean && count > 1) rheos__divide_row(data->dtype, to + previous * bytes, run, (double)count);
  return NULL;
}

static rheos_status *compute_segment(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)step;
  const sorted *k = state;
  const rheos_tensor *ids = inputs[1];
  int64_t rows = ids->num_elements, last = -1;
  if (rows > 0) {
    last = rheos__tensor_int_at(ids, rows - 1);
    if (last == INT64_MAX) return RHEOS_INVALID("Segment id %lld is too large", (long long)last);
    for (int64_t row = 0, previous = 0; row < rows; ++row) {  // before memory is asked for
      const int64_t id = rheos__tensor_int_at(ids, row);
      RHEOS_TRY(rheos__check_segment(id, previous, last + 1));
      previous = id;
    }
  }
  rheos_shape shape = inputs[0]->shape;
  shape.dims[0] = last + 1;
  RHEOS_TRY(rheos__tensor_new(k->operands->output_dtypes[0], &shape, &outputs[0]));
  return join_segments(k, inputs[0], ids, outputs[0]);
}

static rheos_status *prepare_sorted(rheos__prepare *p, rheos__segment_kind kind) {
  const rheos__change join = rheos__segment_join(kind, p->output_dtypes[0]);
  if (join == NULL) return rheos__no_kernel(p, p->output_dtypes[0]);
  sorted *k = RHEOS_NEW_STATE(p, sorted);
  if (k == NULL) return rheos__out_of_memory();
  k->operands = rheos__keep_operands(p);
  if (k->operands == NULL) return rheos__out_of_memory();
  k->kind = kind;
  k->join = join;
  rheos__segment_start(kind, p->output_dtypes[0], true, k->gap);
  p->compute = compute_segment;
  return NULL;
}

static void gradient_sum(rheos__grad *g) {
  rheos__grad_set(g, 0, rheos__gather(g->scope, rheos__grad_dense(g, 0), g->inputs[1]));
}

static void gradient_mean(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0);
  const rheos_output number =
      rheos__op_2(s, "SegmentSum", rheos__ones_like(s, g->inputs[0]), g->inputs[1]);
  rheos__grad_set(g, 0, rheos__gather(s, rheos__py_div(s, grad, number), g->inputs[1]));
}

static void gradient_extreme(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0), ids = g->inputs[1];
  if (rheos_scope_status(s) != NULL) return;
  const rheos_output zeros = rheos__zeros_like(s, g->inputs[0]);
  const rheos_output extremes = rheos__gather(s, g->outputs[0], ids);
  const rheos_output selected = rheos__op_2(s, "Equal", g->inputs[0], extremes);
  const rheos_output ones = rheos__cast_to(s, selected, rheos_output_dtype(grad));
  const rheos_output shares = rheos__py_div(s, grad, rheos__op_2(s, "SegmentSum", ones, ids));
  const rheos_output rows = rheos__gather(s, shares, ids);
  rheos__grad_set(g, 0, rheos__op_3(s, "SelectV2", selected, rows, zeros));
}

// As of UnsortedSegmentProd.
static void gradient_prod(rheos__grad *g) {
  rheos_scope *s = g->scope;
  rheos_output grad = rheos__grad_dense(g, 0), data = g->inputs[0], ids = g->inputs[1];
  if (rheos_scope_status(s) != NULL) return;
  rheos_output is_zero = rheos__op_with_number(s, "Equal", "Equal", data, 0);
  rheos_output zeros = rheos__op_2(s, "SegmentSum", rheos__cast_to(s, is_zero, RHEOS_INT32), ids);
  rheos_output many = rheos__op_with_number(s, "Greater", "Greater", zeros, 1);
  grad = rheos__op_3(s, "SelectV2", many, rheos__zeros_like(s, grad), grad);
  rheos_output filled = rheos__op_3(s, "SelectV2", is_zero, rheos__ones_like(s, data), data);
  rheos_output others = rheos__op_2(s, "SegmentProd", filled, ids);
  rheos_output quotient = rheos__py_div(s, rheos__gather(s, g->outputs[0], ids), filled);
  rheos_output slope = rheos__op_3(s, "SelectV2", is_zero, rheos__gather(s, others, ids), quotient);
  rheos__grad_set(g, 0, rheos__py_mul(s, rheos__gather(s, grad, ids), slope));
}

#define SORTED(op, kind, types, slope, about)                                                    \
  static rheos_status *prepare_sorted_##op(rheos__prepare *p) {                                  \
    return prepare_sorted(p, RHEOS__SEGMENT_##kind);                                             \
  }                                                                                              \
  const rheos__op_def rheos__op_Segment##op = {                                                  \
      .name = "Segment" #op,                                                                     \
      .signature =                                                                               \
          "data: T, segment_ids: Tindices -> output: T; T: " types "; Tindices: {int32, int64}", \
      .doc = "Row i of the result is the " about                                                 \
             " of the rows of `data` whose segment id is i; ids "                                \
             "ascend.",                                                                          \
      .shape = shape_segment,                                                                    \
      .gradient = slope,                                                                         \
      .prepare = prepare_sorted_##op,                                                            \
  };
SORTED(Sum, SUM, NUMBER_TYPES, gradient_sum, "sum")
SORTED(Mean, MEAN, NUMBER_TYPES, gradient_mean, "mean")
SORTED(Prod, PROD, NUMBER_TYPES, gradient_prod, "product")
SORTED(Max, MAX, REAL_TYPES, gradient_extreme, "largest")
SORTED(Min, MIN, REAL_TYPES, gradient_extreme, "smallest")
