// Ops that see the same bytes under another shape. Their kernels are aliases: nothing moves.
#include "graph/build.h"
#include "ops/kit/array_util.h"
#include "ops/kit/op_util.h"

// d input: the gradient in the shape of the input.
static void gradient_reshape(rheos__grad *g) {
  rheos_output grad = rheos__grad_dense(g, 0);
  rheos_output shape = rheos__shape_of(g->scope, g->inputs[0], RHEOS_INT32);
  rheos__grad_set(g, 0, rheos__op_2(g->scope, "Reshape", grad, shape));
}

// ---- Reshape

// Product of the dimensions that are known, and not 0 if `but_zeros`; false when it overflows.
static bool product_of(const rheos_shape *shape, bool but_zeros, int64_t *out_product) {
  *out_product = 1;
  for (int32_t i = 0; i < shape->rank; ++i) {
    int64_t dim = shape->dims[i];
    if (dim < 0 || (dim == 0 && but_zeros)) continue;
    if (__builtin_mul_overflow(*out_product, dim, out_product)) return false;
  }
  return true;
}

static bool has_zero(const rheos_shape *shape) {
  for (int32_t i = 0; i < shape->rank; ++i) {
    if (shape->dims[i] == 0) return true;
  }
  return false;
}

// Finds the size of the one dimension that follows from the others. Beside a 0 any size would do:
// what is asked for then is the quotient of all that is not 0.
static rheos_status *deduce(rheos_shape *shape, int32_t at, const rheos_shape *input) {
  int64_t others, num_elements;
  bool zeros = has_zero(shape);
  if (!product_of(shape, zeros, &others) || !product_of(input, zeros, &num_elements)) {
    return RHEOS_INVALID("the requested shape is too large");
  }
  if (num_elements % others != 0 && !(zeros && has_zero(input))) {
    return RHEOS_INVALID(
        "Input to reshape is a tensor with %lld values, but the requested shape requires a "
        "multiple of %lld",
        (long long)num_elements, (long long)others);
  }
  shape->dims[at] = num_elements / others;
  return NULL;
}

// How many dimensions of a shape that is known in part are unknown.
static int32_t count_unknown(const rheos_shape *shape, int32_t *out_last) {
  int32_t count = 0;
  for (int32_t i = 0; i < shape->rank; ++i) {
    if (shape->dims[i] != -1) continue;
    *out_last = i;
    count++;
  }
  return count;
}

// What follows for `shape`, whose dimension `at` is -1 (-1: none is), where the input is only known
// in part.
static rheos_status *resolve_in_part(rheos_shape *shape, int32_t at, const rheos_shape *input) {
  int64_t known, wanted;
  if (input->rank < 0 || !product_of(input, false, &known) || !product_of(shape, false, &wanted)) {
    return NULL;
  }
  if (at >= 0) {
    if (known == 0 && wanted != 0) shape->dims[at] = 0;
    return NULL;
  }
  if (known == 0 && wanted != 0) {
    rheos__shape_text text;
    return RHEOS_INVALID("Cannot reshape a tensor with 0 elements to shape %s (%lld elements)",
                         rheos__shape_text_of(shape, &text), (long long)wanted);
  }
  int32_t last;
  if (known != 0 && wanted % known != 0 && count_unknown(input, &last) == 1) {
    return RHEOS_INVALID("Dimension size must be evenly divisible by %lld but is %lld",
                         (long long)known, (long long)wanted);
  }
  return NULL;
}

// `shape` as it was asked for, exact: every -1 is to be deduced.
static rheos_status *resolve(rheos_shape *shape, const rheos_shape *input) {
  int32_t at = -1;
  for (int32_t i = 0; i < shape->rank; ++i) {
    if (shape->dims[i] >= 0) continue;
    if (shape->dims[i] < -1) {
      return RHEOS_INVALID("Size %d must be non-negative, not %lld", (int)i,
                           (long long)shape->dims[i]);
    }
    if (at >= 0) {
      return RHEOS_INVALID("Only one input size may be -1, not both %d and %d", at, i);
    }
    at = i;
  }
  int64_t num_elements = rheos_shape_num_elements(input), wanted;
  if (num_elements < 0) return resolve_in_part(shape, at, input);
  if (at >= 0) RHEOS_TRY(deduce(shape, at, input));
  if (!product_of(shape, false, &wanted) || wanted != num_elements) {
    rheos__shape_text text;
    return RHEOS_INVALID(
        "Input to reshape is a tensor with %lld values, but the requested shape has %lld: "
        "cannot reshape to shape %s",
        (long long)num_elements, (long long)wanted, rheos__shape_text_of(shape, &text));
  }
  return NULL;
}

static rheos_status *shape_reshape(rheos__infer *c) {
  rheos_shape vector;
  RHEOS_TRY(rheos__infer_rank(c, 1, 1, &vector));
  rheos_shape *shape = &c->output_shapes[0];
  RHEOS_TRY(rheos__infer_shape_value(c, 1, shape));
  if (shape->rank < 0) return NULL;
  if (c->input_values != NULL && c->input_values[1] != NULL) {
    return resolve(shape, &c->input_shapes[0]);
  }
  // Known in part: a -1 may stand for an unknown number that is no "-1" at all.
  int64_t num_elements = rheos_shape_num_elements(&c->input_shapes[0]);
  int32_t at = -1;
  if (shape->rank == 0) return resolve(shape, &c->input_shapes[0]);
  int64_t others;
  if (num_elements <= 0 || count_unknown(shape, &at) != 1) return NULL;
  if (product_of(shape, false, &others) && others > 0 && num_elements % others == 0) {
    shape->dims[at] = num_elements / others;
  }
  return NULL;
}

// The shape is not a constant: that it leads where the plan expects is seen when it is there.
static rheos_status *compute_reshape(void *state, rheos__step *step, rheos_tensor *const *inputs,
                                     rheos_tensor **outputs) {
  (void)step;
  const rheos__operands *o = state;
  rheos_shape shape = rheos__shape_of_rank(o->output_shapes[0].rank);
  for (int32_t d = 0; d < shape.rank; ++d) shape.dims[d] = rheos__tensor_int_at(inputs[1], d);
  RHEOS_TRY(resolve(&shape, &inputs[0]->shape));
  if (!rheos_shape_compatible(&shape, &o->output_shapes[0])) {
    rheos__shape_text got, expected;
    return RHEOS_INVALID("the requested shape is %s where %s was expected",
                         rheos__shape_text_of(&shape, &got),
                         rheos__shape_text_of(&o->output_shapes[0], &expected));
  }
  if (rheos__tensor_can_keep(inputs[0])) return rheos_tensor_reshaped(inputs[0], shape, outputs);
  RHEOS_TRY(rheos_tensor_copy(inputs[0], outputs));
  outputs[0]->shape = shape;
  return NULL;
}

static rheos_status *prepare_reshape(rheos__prepare *p) {
  if (p->input_values[1] != NULL) return rheos__prepare_alias(p);
  p->state = rheos__keep_operands(p);
  if (p->state == NULL) return rheos__out_of_memory();
  p->compute = compute_reshape;
  return NULL;
}

const rheos__op_def rheos__op_Reshape = {
    .name = "Reshape",
    .signature = "tensor: T, shape: Tshape -> output: T; T: type; Tshape: {int32, int64} = int32",
    .doc = "The elements of `tensor` under `shape`, where one -1 follows from the others.",
    .shape = shape_reshape,
    .gradient = gradient_reshape,
    .prepare = prepare_reshape,
};

// ---- Squeeze

static rheos_status *squeeze_all(const rheos_shape *in, rheos_shape *out) {
  *out = RHEOS_SCALAR;
  for (int32_t i = 0; i < in->rank; ++i) {
    if (in->dims[i] < 0) {  // may or may not go
      *out = RHEOS_UNKNOWN_SHAPE;
      return NULL;
    }
    if (in->dims[i] != 1) out->dims[out->rank++] = in->dims[i];
  }
  return NULL;
}

static rheos_status *shape_squeeze(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  const rheos_attr_value *axes = rheos__attrs_find(c->attrs, "squeeze_dims");
  if (in->rank < 0) return NULL;
  if (axes == NULL || axes->count == 0) return squeeze_all(in, &c->output_shapes[0]);
  bool goes[RHEOS_MAX_RANK] = {false};
  for (int32_t i = 0; i < axes->count; ++i) {
    int64_t axis = axes->ints[i];
    if (axis < -in->rank || axis >= in->rank) {
      return RHEOS_INVALID("Tried to squeeze dim index %lld for tensor with %d dimensions.",
                           (long long)axis, in->rank);
    }
    if (axis < 0) axis += in->rank;
    if (in->dims[axis] >= 0 && in->dims[axis] != 1) {
      return RHEOS_INVALID("Can not squeeze dim[%lld], expected a dimension of 1, got %lld",
                           (long long)axis, (long long)in->dims[axis]);
    }
    goes[axis] = true;
  }
  rheos_shape *out = &c->output_shapes[0];
  *out = RHEOS_SCALAR;
  for (int32_t i = 0; i < in->rank; ++i) {
    if (!goes[i]) out->dims[out->rank++] = in->dims[i];
  }
  return NULL;
}

const rheos__op_def rheos__op_Squeeze = {
    .name = "Squeeze",
    .signature = "input: T -> output: T; T: type; squeeze_dims: list(int) >= 0 = []",
    .doc = "`input` without the dimensions of size 1, all of them or those in `squeeze_dims`.",
    .shape = shape_squeeze,
    .gradient = gradient_reshape,
    .prepare = rheos__prepare_alias,
};

// ---- ExpandDims

static rheos_status *shape_expand_dims(rheos__infer *c) {
  const rheos_shape *in = &c->input_shapes[0];
  int64_t axis;
  if (in->rank < 0) return NULL;
  if (c->input_values != NULL && c->input_values[1] != NULL &&
      c->input_values[1]->num_elements != 1) {
    return RHEOS_INVALID("'dim' must be a tensor with a single value, got %lld",
                         (long long)c->input_values[1]->num_elements);
  }
  if (!rheos__infer_int(c, 1, &axis)) {
    if (in->rank < RHEOS_MAX_RANK) c->output_shapes[0] = rheos__shape_of_rank(in->rank + 1);
    return NULL;
  }
  if (axis < -in->rank - 1 || axis > in->rank) {
    return RHEOS_INVALID(
        "Tried to expand dim index %lld for tensor with %d dimensions: dim %lld not in the "
        "interval [%d, %d].",
        (long long)axis, in->rank, (long long)axis, -in->rank - 1, in->rank);
  }
  int32_t at = (int32_t)(axis < 0 ? axis + in->rank + 1 : axis);
  rheos_shape *out = &c->output_shapes[0];
  *out = RHEOS_SCALAR;
  RHEOS_TRY(rheos__shape_append_range(out, in, 0, at));
  RHEOS_TRY(rheos__shape_append(out, 1));
  return rheos__shape_append_range(out, in, at, in->rank);
}

const rheos__op_def rheos__op_ExpandDims = {
    .name = "ExpandDims",
    .signature = "input: T, dim: Tdim -> output: T; T: type; Tdim: {int32, int64} = int32",
    .doc = "`input` with a dimension of size 1 put in at `dim`.",
    .shape = shape_expand_dims,
    .gradient = gradient_reshape,
    .prepare = rheos__prepare_alias,
};
