// Concat, ConcatV2, ConcatOffset.
#include <stdio.h>

#include "graph/build.h"
#include "graph/control_context.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/row_parts.h"

// The ops differ in which input the axis is; values are the others, in order.
typedef struct parts {
  int32_t axis_input, first, count;
} parts;

typedef struct concat_family {
  bool axis_is_last;
} concat_family;

static const concat_family axis_first = {.axis_is_last = false}, axis_last = {.axis_is_last = true};

static parts parts_of(const rheos__op_def *op, int32_t num_inputs) {
  const concat_family *family = op->family;
  const bool last = family->axis_is_last;
  return (parts){last ? num_inputs - 1 : 0, last ? 0 : 1, num_inputs - 1};
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
  if (rank == 0) return RHEOS_INVALID("Can't concatenate scalars (use rheos_stack() instead)");
  if (axis < -(int64_t)rank || axis >= rank) {
    return RHEOS_INVALID(
        "ConcatOp : Expected concatenating dimensions in the range [%d, %d), but got %lld", -rank,
        rank, (long long)axis);
  }
  *out_axis = (int32_t)(axis < 0 ? axis + rank : axis);
  return NULL;
}

static rheos_status *shape_concat(rheos__infer *c) {
  parts p = parts_of(c->op, c->num_inputs);
  rheos_shape ignored;
  RHEOS_TRY(rheos__infer_rank(c, p.axis_input, 0, &ignored));
  const rheos_shape *shapes = c->input_shapes + p.first;
  int32_t rank = -1, axis = -1;
  for (int32_t i = 0; i < p.count && rank < 0; ++i) rank = shapes[i].rank;
  int64_t value;
  if (rank == 0) return RHEOS_INVALID("Can't concatenate scalars (use rheos_stack() instead)");
  if (rank > 0 && rheos__infer_int(c, p.axis_input, &value)) {
    RHEOS_TRY(concat_axis(value, rank, &axis));
  }
  rheos_shape *out = &c->output_shapes[0];
  int64_t total = 0;
  for (int32_t i = 0; i < p.count; ++i) {
    RHEOS_TRY(merge_parts(&shapes[0], &shapes[i], i, axis, out));
    if (axis < 0) continue;
    int64_t size = shapes[i].rank < 0 ? -1 : shapes[i].dims[axis];
    RHEOS_TRY(rheos__dim_add(total, size, &total));
  }
  if (axis >= 0) out->dims[axis] = total;
  return NULL;
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
  parts q = parts_of(p->op, p->num_inputs);
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
  return rheos__prepare_join(p, q.first, q.count, axis);
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
  rheos_operation offsets =
      rheos__op_n(s, "ConcatOffset", NULL, axis_and_shapes, (size_t)q.count + 1, NULL, 0);
  for (int32_t i = 0; i < q.count && offsets.graph != NULL; ++i) {
    rheos_output begin = rheos_operation_output(offsets, i);
    rheos__grad_set(g, q.first + i, rheos__op_3(s, "Slice", grad, begin, axis_and_shapes[i + 1]));
  }
}

// The axis. A constant of another branch or loop than the gradient's is made again, rather than led
// there.
static rheos_output axis_for(rheos__grad *g, rheos_output axis, rheos_output grad) {
  rheos_tensor *value = rheos__constant_value(axis);
  if (value == NULL || rheos_scope_status(g->scope) != NULL) return axis;
  const rheos_control_context *made_in = rheos__output_context_of(axis.graph, axis.id);
  if (made_in == rheos__output_context_of(grad.graph, grad.id)) return axis;
  return rheos_constant(g->scope, value, "Const");
}

static void gradient_concat(rheos__grad *g) {
  rheos_scope *s = g->scope;
  parts q = parts_of(g->op, g->num_inputs);
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
  rheos_output given = axis_for(g, g->inputs[q.axis_input], grad);
  rheos_output rank = rheos__rank_of(s, g->inputs[q.first]);
  given = rheos__cast_to(s, given, RHEOS_INT32);
  rheos_output axis = rheos__named_2(s, "FloorMod", "mod", given, rank);
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
    .family = &axis_first,
};

const rheos__op_def rheos__op_ConcatV2 = {
    .name = "ConcatV2",
    .signature =
        "values: N * T, axis: Tidx -> output: T; N: int >= 2; T: type; "
        "Tidx: {int32, int64} = int32",
    .doc = "`values` one behind the other along dimension `axis`.",
    .shape = shape_concat,
    .gradient = gradient_concat,
    .prepare = prepare_concat,
    .family = &axis_last,
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
      length +=
          (size_t)snprintf(text[k] + length, sizeof text[k] - length, "%s%lld", d == 0 ? "" : " ",
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
    .signature =
        "concat_dim: int32, shape: N * shape_type -> offset: N * shape_type; "
        "N: int >= 2; shape_type: {int32, int64} = int32",
    .doc = "Where tensors of each `shape` begin in their concatenation along `concat_dim`.",
    .shape = shape_concat_offset,
    .gradient = rheos__no_gradient,
    .prepare = prepare_concat_offset,
};
