// Roll: dimensions turned round. Each rolled dimension has two parts that change places, so that
// the whole is one strided copy for each choice of parts.
#include "graph/build.h"
#include "ops/kit/array_grad.h"
#include "ops/kit/array_util.h"

static rheos_status *shape_roll(rheos__infer *c) {
  const rheos_shape *shift = &c->input_shapes[1], *axis = &c->input_shapes[2];
  RHEOS_TRY(rheos__infer_rank_at_least(c, 0, 1));
  if (shift->rank > 1 || axis->rank > 1) {
    return RHEOS_INVALID(
        "%s must be a scalar or a 1-D vector: Shape must be at most rank 1 but is "
        "rank %d",
        shift->rank > 1 ? "shift" : "axis", shift->rank > 1 ? shift->rank : axis->rank);
  }
  const int64_t shifts = rheos_shape_num_elements(shift), axes = rheos_shape_num_elements(axis);
  if (shifts >= 0 && axes >= 0 && shifts != axes) {
    return RHEOS_INVALID(
        "shift and axis must have the same size: Dimension 0 in both shapes must "
        "be equal, but are %lld and %lld",
        (long long)shifts, (long long)axes);
  }
  c->output_shapes[0] = c->input_shapes[0];
  return NULL;
}

// How far each dimension is transposed, at least 0 and less than its size.
static rheos_status *read_shifts(const rheos__operands *o, const void *const *inputs,
                                 int64_t *shifts) {
  const rheos_shape *in = &o->input_shapes[0];
  const int64_t count = rheos_shape_num_elements(&o->input_shapes[2]);
  for (int32_t d = 0; d < in->rank; ++d) shifts[d] = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t axis = rheos__operand_int(o, inputs, 2, i);
    const int64_t shift = rheos__operand_int(o, inputs, 1, i);
    if (axis < -(int64_t)in->rank || axis >= in->rank) {
      return RHEOS_INVALID("axis %lld is out of range", (long long)axis);
    }
    const int32_t d = (int32_t)(axis < 0 ? axis + in->rank : axis);
    const int64_t size = in->dims[d] > 0 ? in->dims[d] : 1;
    shifts[d] = (shifts[d] + shift % size + size) % size;
  }
  return NULL;
}

static rheos_status *run_roll(const void *state, const void *const *inputs, void *const *outputs,
                              void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const rheos__operands *o = state;
  const rheos_shape *in = &o->input_shapes[0];
  int64_t shifts[RHEOS_MAX_RANK], steps[RHEOS_MAX_RANK];
  RHEOS_TRY(read_shifts(o, inputs, shifts));
  if (rheos_shape_num_elements(in) == 0) return NULL;
  rheos__row_major_steps(in, steps);
  for (unsigned parts = 0; parts < 1u << in->rank; ++parts) {
    rheos__copy copy;
    rheos__copy_init(&copy, o->output_dtypes[0]);
    for (int32_t d = 0; d < in->rank; ++d) {  // a part that comes to the front, or the others
      const bool front = parts >> d & 1;
      const int64_t rest = in->dims[d] - shifts[d];
      if (front) copy.in_start += rest * steps[d];
      if (!front) copy.out_start += shifts[d] * steps[d];
      rheos__copy_add(&copy, front ? shifts[d] : rest, steps[d], steps[d]);
    }
    RHEOS_TRY(rheos__copy_all(&copy, inputs[0], outputs[0]));
  }
  return NULL;
}

static rheos_status *prepare_roll(rheos__prepare *p) {
  return rheos__answer_run_operands(p, run_roll, 1);
}

static void gradient_roll(rheos__grad *g) {
  rheos_scope *s = g->scope;
  const rheos_output grad = rheos__grad_dense(g, 0);
  const rheos_output back = rheos__op_1(s, "Neg", g->inputs[1]);
  rheos__grad_set(g, 0, rheos__op_3(s, "Roll", grad, back, g->inputs[2]));
}

const rheos__op_def rheos__op_Roll = {
    .name = "Roll",
    .signature =
        "input: T, shift: Tshift, axis: Taxis -> output: T; T: type; "
        "Tshift: {int32, int64}; Taxis: {int32, int64}",
    .doc = "`input` with the elements along each `axis` moved on by `shift`, round the end.",
    .shape = shape_roll,
    .gradient = gradient_roll,
    .prepare = prepare_roll,
};

// ---- UnravelIndex: flat places as rows of coordinates

static rheos_status *shape_unravel(rheos__infer *c) {
  rheos_shape dims;
  const rheos_shape *indices = &c->input_shapes[0];
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &dims));
  if (indices->rank > 1) {
    return RHEOS_INVALID("The indices can only be scalar or vector, got rank %d", indices->rank);
  }
  if (indices->rank < 0) return NULL;
  c->output_shapes[0] = dims;
  return indices->rank == 0 ? NULL : rheos__shape_append(&c->output_shapes[0], indices->dims[0]);
}

static rheos_status *run_unravel(const void *state, const void *const *inputs, void *const *outputs,
                                 void *scratch, int64_t first_unit, int64_t last_unit) {
  (void)scratch, (void)first_unit, (void)last_unit;
  const rheos__operands *o = state;
  const int64_t rank = o->input_shapes[1].dims[0];
  const int64_t count = rheos_shape_num_elements(&o->input_shapes[0]);
  int64_t size = 1;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t dim = rheos__operand_int(o, inputs, 1, d);
    if (dim <= 0) return RHEOS_INVALID("Input dims cannot contain a dim of %lld", (long long)dim);
    if (__builtin_mul_overflow(size, dim, &size)) return RHEOS_INVALID("dims are too large");
  }
  for (int64_t i = 0; i < count; ++i) {
    int64_t place = rheos__operand_int(o, inputs, 0, i);
    if (place < 0 || place >= size) {
      return RHEOS_INVALID("index %lld is out of bound as with dims", (long long)place);
    }
    for (int64_t d = rank - 1; d >= 0; --d) {
      const int64_t dim = rheos__operand_int(o, inputs, 1, d);
      rheos__set_int(o->output_dtypes[0], outputs[0], d * count + i, place % dim);
      place /= dim;
    }
  }
  return NULL;
}

static rheos_status *prepare_unravel(rheos__prepare *p) {
  return rheos__answer_run_operands(p, run_unravel, 1);
}

const rheos__op_def rheos__op_UnravelIndex = {
    .name = "UnravelIndex",
    .signature = "indices: Tidx, dims: Tidx -> output: Tidx; Tidx: {int32, int64} = int32",
    .doc =
        "The coordinates in a tensor of shape `dims` of the flat places `indices`, one dimension "
        "a row.",
    .shape = shape_unravel,
    .prepare = prepare_unravel,
};
