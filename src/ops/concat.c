// Joining tensors along a dimension and taking them apart again. Around that dimension a tensor is
// a matrix: rows for the dimensions before it, in each row one contiguous run for each part.
#include <stdio.h>
#include <string.h>

#include "graph/build.h"
#include "ops/array_grad.h"
#include "ops/array_util.h"
#include "ops/op_util.h"

// ---- Concat, ConcatV2

// The ops differ in which input the axis is; values are the others, in order.
typedef struct parts {
  int32_t axis_input, first, count;
} parts;

static parts parts_of(const char *type, int32_t num_inputs) {
  bool v2 = strcmp(type, "ConcatV2") == 0;
  return (parts){v2 ? num_inputs - 1 : 0, v2 ? 0 : 1, num_inputs - 1};
}

// The shape that two parts share, but for the dimension `axis` (-1: unknown which, ranks only).
static rheos_status *merge_parts(const rheos_shape *first, const rheos_shape *shape, int32_t index,
                                 int32_t axis, rheos_shape *merged) {
  rheos__shape_text a, b;
  if (shape->rank < 0) return NULL;
  if (merged->rank < 0) {
    *merged = rheos__shape_of_rank(shape->rank);
  } else if (shape->rank != merged->rank) {
    return RHEOS_INVALID(
        "ConcatOp : Ranks of all input tensors should match: shape[0] = %s vs. shape[%d] = %s",
        rheos__shape_text_of(first, &a), index, rheos__shape_text_of(shape, &b));
  }
  for (int32_t d = 0; d < shape->rank && axis >= 0; ++d) {
    if (d == axis || shape->dims[d] < 0) continue;
    if (merged->dims[d] >= 0 && merged->dims[d] != shape->dims[d]) {
      return RHEOS_INVALID(
          "ConcatOp : Dimensions of inputs should match: shape[0] = %s vs. shape[%d] = %s",
          rheos__shape_text_of(first, &a), index, rheos__shape_text_of(shape, &b));
    }
    merged->dims[d] = shape->dims[d];
  }
  return NULL;
}

static rheos_status *concat_axis(int64_t axis, int32_t rank, int32_t *out_axis) {
  if (rank == 0) return RHEOS_INVALID("Can't concatenate scalars (use tf.stack instead)");
  if (axis < -(int64_t)rank || axis >= rank) {
    return RHEOS_INVALID(
        "ConcatOp : Expected concatenating dimensions in the range [%d, %d), but got %lld", -rank,
        rank, (long long)axis);
  }
  *out_axis = (int32_t)(axis < 0 ? axis + rank : axis);
  return NULL;
}

static rheos_status *shape_concat(rheos__infer *c) {
  parts p = parts_of(c->op->name, c->num_inputs);
  rheos_shape ignored;
  RHEOS_TRY(rheos__infer_rank(c, p.axis_input, 0, &ignored));
  const rheos_shape *shapes = c->input_shapes + p.first;
  int32_t rank = -1, axis = -1;
  for (int32_t i = 0; i < p.count && rank < 0; ++i) rank = shapes[i].rank;
  int64_t value;
  if (rank == 0) return RHEOS_INVALID("Can't concatenate scalars (use tf.stack instead)");
  if (rank > 0 && rheos__infer_int(c, p.axis_input, &value)) {
    RHEOS_TRY(concat_axis(value, rank, &axis));
  }
  rheos_shape *out = &c->output_shapes[0];
  int64_t total = 0;
  for (int32_t i = 0; i < p.count; ++i) {
    RHEOS_TRY(merge_parts(&shapes[0], &shapes[i], i, axis, out));
    if (axis < 0) continue;
    int64_t size = shapes[i].rank < 0 ? -1 : shapes[i].dims[axis];
    if (size < 0 || total < 0 || __builtin_add_overflow(total, size, &total)) total = -1;
  }
  if (axis >= 0) out->dims[axis] = total;
  return NULL;
}

// One part of a row: `bytes` at `offset`.
typedef struct piece {
  int64_t elements, offset;
  int32_t index;  // of the input or output
} piece;

typedef struct rows {
  rheos_dtype dtype;
  int64_t num_rows, row_elements;
  int32_t num_pieces;
  piece pieces[];
} rows;

enum { TARGET_BYTES = 65536 };

// So many rows make one unit of work.
static int64_t rows_of_unit(const rows *r) {
  int64_t bytes = r->row_elements * (int64_t)rheos_dtype_size(r->dtype);
  if (bytes <= 0) return TARGET_BYTES;
  return bytes >= TARGET_BYTES ? 1 : TARGET_BYTES / bytes;
}

static rheos_status *answer_rows(rheos__prepare *p, rows *r, rheos__run_fn run) {
  p->state = r;
  int64_t per_unit = rows_of_unit(r);
  return rheos__answer_run(p, run, (r->num_rows + per_unit - 1) / per_unit);
}

// Walks the pieces of the rows in some units; `joining` copies them into output 0, else out of
// `data`.
static rheos_status *copy_rows(const rows *r, bool joining, const void *const *inputs,
                               const void *data, void *const *outputs, int64_t first_unit,
                               int64_t last_unit) {
  int64_t per_unit = rows_of_unit(r), size = (int64_t)rheos_dtype_size(r->dtype);
  int64_t last = last_unit * per_unit < r->num_rows ? last_unit * per_unit : r->num_rows;
  for (int64_t row = first_unit * per_unit; row < last; ++row) {
    for (int32_t i = 0; i < r->num_pieces; ++i) {
      const piece *q = &r->pieces[i];
      int64_t whole = (row * r->row_elements + q->offset) * size;
      int64_t part = row * q->elements * size;
      const char *from =
          joining ? (const char *)inputs[q->index] + part : (const char *)data + whole;
      char *to = joining ? (char *)outputs[0] + whole : (char *)outputs[q->index] + part;
      if (r->dtype != RHEOS_STRING) {
        memcpy(to, from, (size_t)(q->elements * size));
      } else {
        RHEOS_TRY(rheos__copy_elements(r->dtype, to, from, q->elements));
      }
    }
  }
  return NULL;
}

static rheos_status *run_join(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  return copy_rows(state, true, inputs, NULL, outputs, first_unit, last_unit);
}

static rows *rows_new(rheos__prepare *p, int32_t capacity) {
  return rheos__arena_alloc_zeroed(p->arena, sizeof(rows) + (size_t)capacity * sizeof(piece));
}

// Adds a piece behind the others; empty ones are left out.
static void rows_add(rows *r, int32_t index, int64_t elements) {
  if (elements > 0) r->pieces[r->num_pieces++] = (piece){elements, r->row_elements, index};
  r->row_elements += elements;
}

// Joins the inputs [first, first + count) along `axis` of the output: inputs with fewer dimensions
// (Pack) have `axis` left out.
static rheos_status *prepare_join(rheos__prepare *p, int32_t first, int32_t count, int32_t axis) {
  rows *r = rows_new(p, count);
  if (r == NULL) return rheos__out_of_memory();
  r->dtype = p->output_dtypes[0];
  r->num_rows = rheos__shape_product(&p->output_shapes[0], 0, axis);
  for (int32_t i = first; i < first + count; ++i) {
    const rheos_shape *shape = &p->input_shapes[i];
    rows_add(r, i, rheos__shape_product(shape, axis, shape->rank));
  }
  return answer_rows(p, r, run_join);
}

// The axis came after the kernel was prepared: the shape was known without it.
static rheos_status *run_concat_late(const void *state, const void *const *inputs,
                                     void *const *outputs, void *scratch, int64_t first_unit,
                                     int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const rheos__operands *o = state;
  int32_t axis_input = (int32_t)o->numbers[0], first = (int32_t)o->numbers[1], axis = 0;
  const rheos_shape *out = &o->output_shapes[0];
  RHEOS_TRY(concat_axis(rheos__operand_int(o, inputs, axis_input, 0), out->rank, &axis));
  int64_t rows_total = rheos__shape_product(out, 0, axis), offset = 0;
  int64_t row_elements = rheos__shape_product(out, axis, out->rank);
  for (int32_t i = first; i < first + o->num_inputs - 1; ++i) {
    const rheos_shape *shape = &o->input_shapes[i];
    for (int32_t d = 0; d < out->rank; ++d) {
      if (d != axis && shape->dims[d] != out->dims[d]) {
        return RHEOS_INVALID("ConcatOp : Dimensions of inputs should match");
      }
    }
    int64_t elements = rheos__shape_product(shape, axis, shape->rank);
    if (offset + elements > row_elements) {
      return RHEOS_INVALID("ConcatOp : the inputs do not fit the expected shape");
    }
    rheos__copy copy;
    rheos__copy_init(&copy, o->output_dtypes[0]);
    copy.out_start = offset;
    rheos__copy_add(&copy, rows_total, elements, row_elements);
    rheos__copy_add(&copy, elements, 1, 1);
    RHEOS_TRY(rheos__copy_all(&copy, inputs[i], outputs[0]));
    offset += elements;
  }
  return NULL;
}

static rheos_status *prepare_concat(rheos__prepare *p) {
  parts q = parts_of(p->op->name, p->num_inputs);
  const rheos_tensor *value = p->input_values[q.axis_input];
  if (value == NULL) {
    rheos__operands *o = rheos__keep_operands(p);
    if (o == NULL) return rheos__out_of_memory();
    o->numbers[0] = q.axis_input;
    o->numbers[1] = q.first;
    p->state = o;
    return rheos__answer_run(p, run_concat_late, 1);
  }
  int32_t axis = 0;
  RHEOS_TRY(concat_axis(rheos__tensor_int_at(value, 0), p->output_shapes[0].rank, &axis));
  return prepare_join(p, q.first, q.count, axis);
}

// ---- The gradient of Concat: the slices that came from each input

// Shapes of the values: constants if all are known; else the first one that is not still gets its
// Shape node, and then one ShapeN gives them all. TensorFlow builds the same.
static bool part_shapes(rheos__grad *g, parts q, rheos_output *shapes) {
  rheos_scope *s = g->scope;
  const rheos_output *values = g->inputs + q.first;
  int32_t i = 0;
  for (; i < q.count; ++i) {
    rheos_shape shape = rheos_output_shape(values[i]);
    shapes[i] = rheos__shape_of(s, values[i], RHEOS_INT32);
    if (!rheos_shape_is_known(&shape)) break;
  }
  if (i == q.count) return true;
  rheos_operation all = rheos__op_n(s, "ShapeN", NULL, values, (size_t)q.count, NULL, 0);
  if (all.graph == NULL) return false;
  for (i = 0; i < q.count; ++i) shapes[i] = rheos_operation_output(all, i);
  return true;
}

// Many parts: one SplitV by the sizes along the dimension.
static void split_by_sizes(rheos__grad *g, parts q, rheos_output grad, rheos_output axis,
                           const rheos_output *shapes) {
  rheos_scope *s = g->scope;
  rheos_output table = rheos__stack(s, shapes, q.count, 1);
  rheos__node_scope node;
  rheos__push_node_scope(s, "Slice", &node);
  rheos_output begin = rheos__stack_number(s, "begin", axis, 0);
  rheos_output size = rheos__const_ints(s, (int32_t[]){1, -1}, 2, "size");
  rheos_output slice_inputs[] = {table, begin, size};
  rheos_output sizes = rheos__named_n(s, "Slice", node.name, slice_inputs, 3, NULL, 0);
  rheos_scope_pop(s);
  rheos_output split_inputs[] = {grad, rheos__op_1(s, "Squeeze", sizes), axis};
  rheos_attr attr = rheos_attr_int("num_split", q.count);
  rheos_operation split = rheos__op_n(s, "SplitV", "split", split_inputs, 3, &attr, 1);
  for (int32_t i = 0; i < q.count && split.graph != NULL; ++i) {
    rheos__grad_set(g, q.first + i, rheos_operation_output(split, i));
  }
}

static void slice_by_offsets(rheos__grad *g, parts q, rheos_output grad, rheos_output axis,
                             rheos_output *axis_and_shapes) {
  rheos_scope *s = g->scope;
  axis_and_shapes[0] = axis;
  rheos_operation offsets = rheos__op_n(s, "ConcatOffset", NULL, axis_and_shapes,
                                        (size_t)q.count + 1, NULL, 0);
  for (int32_t i = 0; i < q.count && offsets.graph != NULL; ++i) {
    rheos_output begin = rheos_operation_output(offsets, i);
    rheos__grad_set(g, q.first + i, rheos__op_3(s, "Slice", grad, begin, axis_and_shapes[i + 1]));
  }
}

static void gradient_concat(rheos__grad *g) {
  rheos_scope *s = g->scope;
  parts q = parts_of(rheos_operation_type(g->operation), g->num_inputs);
  rheos_output grad = rheos__grad_dense(g, 0);
  if (q.count == 1) {
    rheos__grad_set(g, q.first, grad);
    return;
  }
  rheos_output *shapes = rheos__alloc_array((size_t)q.count + 1, sizeof *shapes);
  if (shapes == NULL) {
    rheos_scope_fail_take(s, rheos__out_of_memory());
    return;
  }
  rheos_output rank = rheos__rank_of(s, g->inputs[q.first]);
  rheos_output axis = rheos__named_2(s, "FloorMod", "mod", g->inputs[q.axis_input], rank);
  if (part_shapes(g, q, shapes + 1)) {
    if (q.count > 16) {
      split_by_sizes(g, q, grad, axis, shapes + 1);
    } else {
      slice_by_offsets(g, q, grad, axis, shapes);
    }
  }
  rheos__free(shapes);
}

const rheos__op_def rheos__op_Concat = {
    .name = "Concat",
    .signature = "concat_dim: int32, values: N * T -> output: T; N: int >= 2; T: type",
    .doc = "`values` one behind the other along dimension `concat_dim`.",
    .shape = shape_concat,
    .gradient = gradient_concat,
    .prepare = prepare_concat,
};

const rheos__op_def rheos__op_ConcatV2 = {
    .name = "ConcatV2",
    .signature = "values: N * T, axis: Tidx -> output: T; N: int >= 2; T: type; "
                 "Tidx: {int32, int64} = int32",
    .doc = "`values` one behind the other along dimension `axis`.",
    .shape = shape_concat,
    .gradient = gradient_concat,
    .prepare = prepare_concat,
};

// ---- ConcatOffset

static rheos_status *shape_concat_offset(rheos__infer *c) {
  rheos_shape ignored;
  RHEOS_TRY(rheos__infer_rank(c, 0, 0, &ignored));
  for (int32_t i = 0; i < c->num_outputs; ++i) c->output_shapes[i] = c->input_shapes[i + 1];
  return NULL;
}

static rheos_status *mismatch(const rheos__operands *o, const void *const *inputs, int32_t input,
                              int32_t axis) {
  char text[2][RHEOS_MAX_RANK * 24] = {"", ""};
  for (int32_t k = 0; k < 2; ++k) {
    int32_t from = k == 0 ? input : 1;
    int64_t rank = o->input_shapes[from].dims[0];
    size_t length = 0;
    for (int32_t d = 0; d < rank && d < RHEOS_MAX_RANK; ++d) {
      length += (size_t)snprintf(text[k] + length, sizeof text[k] - length, "%s%lld",
                                 d == 0 ? "" : " ",
                                 (long long)rheos__operand_int(o, inputs, from, d));
    }
  }
  return RHEOS_INVALID(
      "All dimensions except %d must match. Input %d has shape [%s] and doesn't match input 0 with "
      "shape [%s].",
      axis, input - 1, text[0], text[1]);
}

static rheos_status *run_concat_offset(const void *state, const void *const *inputs,
                                       void *const *outputs, void *scratch, int64_t first_unit,
                                       int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const rheos__operands *o = state;
  int64_t rank = o->input_shapes[1].dims[0], offset = 0;
  int64_t axis = rheos__operand_int(o, inputs, 0, 0);
  if (axis < -rank || axis >= rank) {
    return RHEOS_INVALID("Concat dim is out of range: %lld vs. %lld", (long long)axis,
                         (long long)rank);
  }
  if (axis < 0) axis += rank;
  for (int32_t i = 1; i < o->num_inputs; ++i) {
    if (o->input_shapes[i].dims[0] != rank) {
      return RHEOS_INVALID("input %d should contain %lld elements, but got %lld", i - 1,
                           (long long)rank, (long long)o->input_shapes[i].dims[0]);
    }
    for (int64_t d = 0; d < rank; ++d) {
      int64_t size = rheos__operand_int(o, inputs, i, d);
      if (d != axis && size != rheos__operand_int(o, inputs, 1, d)) {
        return mismatch(o, inputs, i, (int32_t)axis);
      }
      rheos__set_int(o->output_dtypes[i - 1], outputs[i - 1], d, d == axis ? offset : 0);
    }
    offset += rheos__operand_int(o, inputs, i, axis);
  }
  return NULL;
}

static rheos_status *prepare_concat_offset(rheos__prepare *p) {
  for (int32_t i = 1; i < p->num_inputs; ++i) {
    if (p->input_shapes[i].rank == 1) continue;
    rheos__shape_text text;
    return RHEOS_INVALID("input %d should be a vector, but got shape %s", i,
                         rheos__shape_text_of(&p->input_shapes[i], &text));
  }
  return rheos__answer_run_operands(p, run_concat_offset, 1);
}

const rheos__op_def rheos__op_ConcatOffset = {
    .name = "ConcatOffset",
    .signature = "concat_dim: int32, shape: N * shape_type -> offset: N * shape_type; "
                 "N: int >= 2; shape_type: {int32, int64} = int32",
    .doc = "Where tensors of each `shape` begin in their concatenation along `concat_dim`.",
    .shape = shape_concat_offset,
    .gradient = rheos__no_gradient,
    .prepare = prepare_concat_offset,
};

// ---- Split, SplitV

static rheos_status *split_axis(int64_t axis, int32_t rank, int32_t *out_axis) {
  if (axis < -(int64_t)rank || axis >= rank) {
    return RHEOS_INVALID("-input rank(%d) <= split_dim < input rank (%d), but got %lld", -rank,
                         rank, (long long)axis);
  }
  *out_axis = (int32_t)(axis < 0 ? axis + rank : axis);
  return NULL;
}

// All outputs get the shape of the input with nothing known of dimension `axis` (-1: of any).
static void outputs_like(rheos__infer *c, const rheos_shape *in, int32_t axis) {
  for (int32_t i = 0; i < c->num_outputs; ++i) {
    if (in->rank >= 0 && axis < 0) c->output_shapes[i] = rheos__shape_of_rank(in->rank);
    if (axis < 0) continue;
    c->output_shapes[i] = *in;
    c->output_shapes[i].dims[axis] = -1;
  }
}

static rheos_status *shape_split(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[1];
  if (c->input_shapes[0].rank > 0) {
    return RHEOS_INVALID("split_dim must be a scalar but has rank %d", c->input_shapes[0].rank);
  }
  int64_t value, count = c->num_outputs;
  int32_t axis = -1;
  if (in->rank >= 0 && rheos__infer_int(c, 0, &value)) {
    RHEOS_TRY(split_axis(value, in->rank, &axis));
  }
  outputs_like(c, in, axis);
  if (axis < 0 || in->dims[axis] < 0) return NULL;
  if (in->dims[axis] % count != 0) {
    return RHEOS_INVALID(
        "Number of ways to split should evenly divide the split dimension, but got split_dim %d "
        "(size = %lld) and num_split %lld",
        axis, (long long)in->dims[axis], (long long)count);
  }
  for (int32_t i = 0; i < count; ++i) c->output_shapes[i].dims[axis] = in->dims[axis] / count;
  return NULL;
}

// `sizes` with the -1 among them found out, if there is one and `total` is known.
static rheos_status *resolve_sizes(const rheos_tensor *given, int64_t total, int64_t *sizes) {
  int64_t sum = 0, unknown = -1;
  for (int64_t i = 0; i < given->num_elements; ++i) {
    sizes[i] = rheos__tensor_int_at(given, i);
    if (sizes[i] == -1) {
      if (unknown >= 0) return RHEOS_INVALID("There can only be one -1 in the input.");
      unknown = i;
    } else if (sizes[i] < 0 || __builtin_add_overflow(sum, sizes[i], &sum)) {
      return RHEOS_INVALID("Split size at index %lld must be >= 0. Got: %lld", (long long)i,
                           (long long)sizes[i]);
    }
  }
  if (total < 0) return NULL;
  if (unknown >= 0 ? sum > total : sum != total) {
    return RHEOS_INVALID(
        "Determined shape must either match input shape along split_dim exactly if fully "
        "specified, or be less than the size of the input along split_dim if not fully specified. "
        " Got: %lld",
        (long long)sum);
  }
  if (unknown >= 0) sizes[unknown] = total - sum;
  return NULL;
}

static rheos_status *shape_split_v(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0], *lengths = &c->input_shapes[1];
  if (c->input_shapes[2].rank > 0) {
    return RHEOS_INVALID("split_dim must be a scalar but has rank %d", c->input_shapes[2].rank);
  }
  if (lengths->rank >= 0 &&
      (lengths->rank != 1 || (lengths->dims[0] >= 0 && lengths->dims[0] != c->num_outputs))) {
    rheos__shape_text text;
    return RHEOS_INVALID("size_splits must be a vector with one element for each of %d outputs, "
                         "got shape %s",
                         c->num_outputs, rheos__shape_text_of(lengths, &text));
  }
  int64_t value;
  int32_t axis = -1;
  if (in->rank >= 0 && rheos__infer_int(c, 2, &value)) {
    RHEOS_TRY(split_axis(value, in->rank, &axis));
  }
  outputs_like(c, in, axis);
  if (axis < 0 || c->input_values == NULL || c->input_values[1] == NULL) return NULL;
  int64_t *sizes = rheos__alloc_array((size_t)c->num_outputs, sizeof *sizes);
  if (sizes == NULL) return rheos__out_of_memory();
  rheos_status *status = resolve_sizes(c->input_values[1], in->dims[axis], sizes);
  for (int32_t i = 0; i < c->num_outputs && status == NULL; ++i) {
    c->output_shapes[i].dims[axis] = sizes[i];
  }
  rheos__free(sizes);
  return status;
}

static rheos_status *run_take_apart(const void *state, const void *const *inputs,
                                    void *const *outputs, void *scratch, int64_t first_unit,
                                    int64_t last_unit) {
  (void)scratch;
  return copy_rows(state, false, inputs, inputs[0], outputs, first_unit, last_unit);
}

static rheos_status *run_split(const void *state, const void *const *inputs, void *const *outputs,
                               void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch;
  return copy_rows(state, false, inputs, inputs[1], outputs, first_unit, last_unit);
}

// Takes `in` apart along `axis` into the outputs, which have sizes of their own along it or, for
// Unpack, no such dimension.
static rheos_status *prepare_take_apart(rheos__prepare *p, const rheos_shape *in, int32_t axis,
                                        rheos__run_fn run) {
  rows *r = rows_new(p, p->num_outputs);
  if (r == NULL) return rheos__out_of_memory();
  r->dtype = p->output_dtypes[0];
  r->num_rows = rheos_shape_num_elements(in) == 0 ? 0 : rheos__shape_product(in, 0, axis);
  for (int32_t i = 0; i < p->num_outputs; ++i) {
    rows_add(r, i, rheos__shape_product(&p->output_shapes[i], axis, p->output_shapes[i].rank));
  }
  if (r->num_rows > 0 && r->row_elements != rheos__shape_product(in, axis, in->rank)) {
    return RHEOS_INVALID("the parts do not add up to the input");
  }
  return answer_rows(p, r, run);
}

// The axis is fed, but the shapes did not need it.
typedef struct late_split {
  const rheos__operands *operands;
  int32_t data_input, axis_input;
} late_split;

static rheos_status *run_split_late(const void *state, const void *const *inputs,
                                    void *const *outputs, void *scratch, int64_t first_unit,
                                    int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const late_split *late = state;
  const rheos__operands *o = late->operands;
  const rheos_shape *in = &o->input_shapes[late->data_input];
  int32_t axis = 0;
  RHEOS_TRY(split_axis(rheos__operand_int(o, inputs, late->axis_input, 0), in->rank, &axis));
  int64_t num_rows = rheos__shape_product(in, 0, axis), offset = 0;
  int64_t row_elements = rheos__shape_product(in, axis, in->rank);
  for (int32_t i = 0; i < o->num_outputs; ++i) {
    const rheos_shape *out = &o->output_shapes[i];
    for (int32_t d = 0; d < in->rank; ++d) {
      if (d != axis && out->dims[d] != in->dims[d]) return RHEOS_INVALID("the parts do not fit");
    }
    int64_t elements = rheos__shape_product(out, axis, out->rank);
    if (offset + elements > row_elements) return RHEOS_INVALID("the parts do not fit");
    rheos__copy copy;
    rheos__copy_init(&copy, o->output_dtypes[i]);
    copy.in_start = offset;
    rheos__copy_add(&copy, num_rows, row_elements, elements);
    rheos__copy_add(&copy, elements, 1, 1);
    RHEOS_TRY(rheos__copy_all(&copy, inputs[late->data_input], outputs[i]));
    offset += elements;
  }
  return NULL;
}

static rheos_status *prepare_split_late(rheos__prepare *p, int32_t data_input,
                                        int32_t axis_input) {
  late_split *late = RHEOS_NEW_STATE(p, late_split);
  if (late == NULL) return rheos__out_of_memory();
  late->operands = rheos__keep_operands(p);
  late->data_input = data_input;
  late->axis_input = axis_input;
  if (late->operands == NULL) return rheos__out_of_memory();
  return rheos__answer_run(p, run_split_late, 1);
}

static rheos_status *prepare_split(rheos__prepare *p) {
  const rheos_tensor *value = p->input_values[0];
  if (value == NULL) return prepare_split_late(p, 1, 0);
  int32_t axis = 0;
  RHEOS_TRY(split_axis(rheos__tensor_int_at(value, 0), p->input_shapes[1].rank, &axis));
  return prepare_take_apart(p, &p->input_shapes[1], axis, run_split);
}

static rheos_status *prepare_split_v(rheos__prepare *p) {
  const rheos_tensor *value = p->input_values[2];
  if (value == NULL) return prepare_split_late(p, 0, 2);
  int32_t axis = 0;
  RHEOS_TRY(split_axis(rheos__tensor_int_at(value, 0), p->input_shapes[0].rank, &axis));
  return prepare_take_apart(p, &p->input_shapes[0], axis, run_take_apart);
}

// d value: the gradients of the parts joined again.
static void join_gradients(rheos__grad *g, int32_t input, int32_t axis_input) {
  rheos_output *grads = rheos__alloc_array((size_t)g->num_outputs + 1, sizeof *grads);
  if (grads == NULL) {
    rheos_scope_fail_take(g->scope, rheos__out_of_memory());
    return;
  }
  for (int32_t i = 0; i < g->num_outputs; ++i) grads[i] = rheos__grad_dense(g, i);
  rheos_output joined = grads[0];
  if (g->num_outputs > 1) {
    joined = rheos__concat_at(g->scope, grads, g->num_outputs, g->inputs[axis_input]);
  }
  rheos__grad_set(g, input, joined);
  rheos__free(grads);
}

static void gradient_split(rheos__grad *g) { join_gradients(g, 1, 0); }

static void gradient_split_v(rheos__grad *g) { join_gradients(g, 0, 2); }

const rheos__op_def rheos__op_Split = {
    .name = "Split",
    .signature = "split_dim: int32, value: T -> output: num_split * T; num_split: int >= 1; "
                 "T: type",
    .doc = "`value` in `num_split` equal parts along dimension `split_dim`.",
    .shape = shape_split,
    .gradient = gradient_split,
    .prepare = prepare_split,
};

const rheos__op_def rheos__op_SplitV = {
    .name = "SplitV",
    .signature = "value: T, size_splits: Tlen, split_dim: int32 -> output: num_split * T; "
                 "num_split: int >= 1; T: type; Tlen: {int8, int32, int64} = int64",
    .doc = "`value` in parts of `size_splits` along dimension `split_dim`; one size may be -1.",
    .shape = shape_split_v,
    .gradient = gradient_split_v,
    .prepare = prepare_split_v,
};

// ---- Pack, Unpack

static rheos_status *pack_axis(const rheos__attrs *attrs, int32_t rank, int32_t *out_axis) {
  int64_t axis = rheos__attr_int(attrs, "axis");
  if (axis < -(int64_t)rank || axis >= rank) {
    return RHEOS_INVALID("axis = %lld not in [%d, %d)", (long long)axis, -rank, rank);
  }
  *out_axis = (int32_t)(axis < 0 ? axis + rank : axis);
  return NULL;
}

// In which way two shapes do not go together.
static void tell_unlike(const rheos_shape *a, const rheos_shape *b, char *text, size_t size) {
  int32_t d = 0;
  if (a->rank != b->rank) {
    snprintf(text, size, "Shapes must be equal rank, but are %d and %d", a->rank, b->rank);
    return;
  }
  while (d + 1 < a->rank && (a->dims[d] < 0 || b->dims[d] < 0 || a->dims[d] == b->dims[d])) ++d;
  snprintf(text, size, "Dimension %d in both shapes must be equal", d);
}

static rheos_status *shape_pack(rheos__infer *c) {
  rheos_shape merged = RHEOS_UNKNOWN_SHAPE;
  for (int32_t i = 0; i < c->num_inputs; ++i) {
    rheos_shape before = merged;
    rheos__shape_text a, b;
    if (!rheos_shape_compatible(&merged, &c->input_shapes[i])) {
      char why[64];
      tell_unlike(&merged, &c->input_shapes[i], why, sizeof why);
      return RHEOS_INVALID("%s: Shapes of all inputs must match: values[0].shape = %s != "
                           "values[%d].shape = %s", why,
                           rheos__shape_text_of(&c->input_shapes[0], &a), i,
                           rheos__shape_text_of(&c->input_shapes[i], &b));
    }
    RHEOS_TRY(rheos__shape_merge(&before, &c->input_shapes[i], &merged));
  }
  if (merged.rank < 0) return NULL;
  int32_t axis = 0;
  RHEOS_TRY(pack_axis(c->attrs, merged.rank + 1, &axis));
  rheos_shape *out = &c->output_shapes[0];
  *out = RHEOS_SCALAR;
  RHEOS_TRY(rheos__shape_append_range(out, &merged, 0, axis));
  RHEOS_TRY(rheos__shape_append(out, c->num_inputs));
  return rheos__shape_append_range(out, &merged, axis, merged.rank);
}

static rheos_status *prepare_pack(rheos__prepare *p) {
  int32_t axis = 0;
  RHEOS_TRY(pack_axis(p->attrs, p->output_shapes[0].rank, &axis));
  return prepare_join(p, 0, p->num_inputs, axis);
}

static void gradient_pack(rheos__grad *g) {
  rheos_output grad = rheos__grad_dense(g, 0);
  rheos_attr attrs[] = {rheos_attr_int("num", g->num_inputs),
                        rheos_attr_int("axis", rheos__attr_int(g->attrs, "axis"))};
  rheos_operation apart = rheos__op_n(g->scope, "Unpack", "unstack", &grad, 1, attrs, 2);
  for (int32_t i = 0; i < g->num_inputs && apart.graph != NULL; ++i) {
    rheos__grad_set(g, i, rheos_operation_output(apart, i));
  }
}

const rheos__op_def rheos__op_Pack = {
    .name = "Pack",
    .signature = "values: N * T -> output: T; N: int >= 1; T: type; axis: int = 0",
    .doc = "`values`, all of one shape, along a new dimension `axis`.",
    .shape = shape_pack,
    .gradient = gradient_pack,
    .prepare = prepare_pack,
};

// ---- ParallelConcat: Pack of rows [1, ..], of which the op says the whole shape beforehand

static rheos_status *shape_parallel_concat(rheos__infer *c) {
  rheos__shape_text a, b;
  const rheos_shape whole = rheos__attr_shape(c->attrs, "shape");
  if (!rheos_shape_is_known(&whole)) {
    return RHEOS_INVALID("shape attr must be fully defined");
  }
  if (whole.rank == 0 || whole.dims[0] != c->num_inputs) {
    return RHEOS_INVALID("%d values do not make the shape %s", c->num_inputs,
                         rheos__shape_text_of(&whole, &b));
  }
  rheos_shape row = whole;
  row.dims[0] = 1;
  for (int32_t i = 0; i < c->num_inputs; ++i) {
    if (rheos_shape_compatible(&c->input_shapes[i], &row)) continue;
    return RHEOS_INVALID("value %d has the shape %s, not %s", i,
                         rheos__shape_text_of(&c->input_shapes[i], &a),
                         rheos__shape_text_of(&row, &b));
  }
  c->output_shapes[0] = whole;
  return NULL;
}

static rheos_status *prepare_parallel_concat(rheos__prepare *p) {
  return prepare_join(p, 0, p->num_inputs, 0);
}

const rheos__op_def rheos__op_ParallelConcat = {
    .name = "ParallelConcat",
    .signature = "values: N * T -> output: T; N: int >= 1; T: type; shape: shape",
    .doc = "`values`, each one row [1, ..], as the rows of a tensor of shape `shape`.",
    .shape = shape_parallel_concat,
    .prepare = prepare_parallel_concat,
};

// ---- Unpack

static rheos_status *shape_unpack(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  if (in->rank < 0) return NULL;
  if (in->rank == 0) return RHEOS_INVALID("Shape must be at least rank 1 but is rank 0");
  int32_t axis = 0;
  RHEOS_TRY(pack_axis(c->attrs, in->rank, &axis));
  if (in->dims[axis] >= 0 && in->dims[axis] != c->num_outputs) {
    rheos__shape_text text;
    return RHEOS_INVALID("Input shape axis %d must equal %d, got shape %s", axis, c->num_outputs,
                         rheos__shape_text_of(in, &text));
  }
  for (int32_t i = 0; i < c->num_outputs; ++i) {
    c->output_shapes[i] = RHEOS_SCALAR;
    RHEOS_TRY(rheos__shape_append_range(&c->output_shapes[i], in, 0, axis));
    RHEOS_TRY(rheos__shape_append_range(&c->output_shapes[i], in, axis + 1, in->rank));
  }
  return NULL;
}

static rheos_status *prepare_unpack(rheos__prepare *p) {
  int32_t axis = 0;
  RHEOS_TRY(pack_axis(p->attrs, p->input_shapes[0].rank, &axis));
  return prepare_take_apart(p, &p->input_shapes[0], axis, run_take_apart);
}

static void gradient_unpack(rheos__grad *g) {
  rheos_output *grads = rheos__alloc_array((size_t)g->num_outputs, sizeof *grads);
  if (grads == NULL) {
    rheos_scope_fail_take(g->scope, rheos__out_of_memory());
    return;
  }
  for (int32_t i = 0; i < g->num_outputs; ++i) grads[i] = rheos__grad_dense(g, i);
  int32_t axis = (int32_t)rheos__attr_int(g->attrs, "axis");
  rheos__grad_set(g, 0, rheos__stack(g->scope, grads, g->num_outputs, axis));
  rheos__free(grads);
}

const rheos__op_def rheos__op_Unpack = {
    .name = "Unpack",
    .signature = "value: T -> output: num * T; num: int >= 0; T: type; axis: int = 0",
    .doc = "The `num` parts of `value` along dimension `axis`, which they lose.",
    .shape = shape_unpack,
    .gradient = gradient_unpack,
    .prepare = prepare_unpack,
};
