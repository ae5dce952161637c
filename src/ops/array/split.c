// Split, SplitV.

#include "graph/build.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"
#include "ops/kit/row_parts.h"

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
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  if (c->input_shapes[2].rank > 0) {
    return RHEOS_INVALID("split_dim must be a scalar but has rank %d", c->input_shapes[2].rank);
  }
  if (lengths->rank >= 0 &&
      (lengths->rank != 1 || (lengths->dims[0] >= 0 && lengths->dims[0] != c->num_outputs))) {
    rheos__shape_text text;
    return RHEOS_INVALID(
        "size_splits must be a vector with one element for each of %d outputs, "
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

static rheos_status *prepare_split_late(rheos__prepare *p, int32_t data_input, int32_t axis_input) {
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
  return rheos__prepare_take_apart(p, 1, axis);
}

static rheos_status *prepare_split_v(rheos__prepare *p) {
  const rheos_tensor *value = p->input_values[2];
  if (value == NULL) return prepare_split_late(p, 0, 2);
  int32_t axis = 0;
  RHEOS_TRY(split_axis(rheos__tensor_int_at(value, 0), p->input_shapes[0].rank, &axis));
  return rheos__prepare_take_apart(p, 0, axis);
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
    .signature =
        "split_dim: int32, value: T -> output: num_split * T; num_split: int >= 1; "
        "T: type",
    .doc = "`value` in `num_split` equal parts along dimension `split_dim`.",
    .shape = shape_split,
    .gradient = gradient_split,
    .prepare = prepare_split,
};

const rheos__op_def rheos__op_SplitV = {
    .name = "SplitV",
    .signature =
        "value: T, size_splits: Tlen, split_dim: int32 -> output: num_split * T; "
        "num_split: int >= 1; T: type; Tlen: {int8, int32, int64} = int64",
    .doc = "`value` in parts of `size_splits` along dimension `split_dim`; one size may be -1.",
    .shape = shape_split_v,
    .gradient = gradient_split_v,
    .prepare = prepare_split_v,
};
