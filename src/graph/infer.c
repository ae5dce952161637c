// Ready-made shape functions, and what shape functions of the op families are made from.
#include "graph/op_def.h"

#include <string.h>

rheos_status *rheos__shape_unchanged(rheos__infer *c) {
  for (int32_t i = 0; i < c->num_outputs; i++) c->output_shapes[i] = c->input_shapes[0];
  return NULL;
}

rheos_status *rheos__shape_scalar(rheos__infer *c) {
  for (int32_t i = 0; i < c->num_outputs; i++) c->output_shapes[i] = RHEOS_SCALAR;
  return NULL;
}

rheos_status *rheos__shape_broadcast_2(rheos__infer *c) {
  return rheos__shape_broadcast(&c->input_shapes[0], &c->input_shapes[1], &c->output_shapes[0]);
}

rheos_status *rheos__shape_none(rheos__infer *c) {
  (void)c;
  return NULL;
}

rheos_shape rheos__infer_variable_shape(const rheos__infer *c, int32_t input) {
  if (c->input_dtypes[input] != RHEOS_RESOURCE) return c->input_shapes[input];
  const rheos_shape *shape = c->handle_shapes != NULL ? c->handle_shapes[input] : NULL;
  return shape != NULL ? *shape : RHEOS_UNKNOWN_SHAPE;
}

static rheos_shape all_unknown(int32_t rank) {
  rheos_shape shape = {.rank = rank};
  for (int32_t i = 0; i < rank; i++) shape.dims[i] = -1;
  return shape;
}

rheos_status *rheos__dim_add(int64_t dim, int64_t more, int64_t *out_sum) {
  *out_sum = -1;
  if (dim < 0 || more < 0) return NULL;
  if (!__builtin_add_overflow(dim, more, out_sum)) return NULL;
  *out_sum = -1;
  return RHEOS_INVALID("Dimension size overflow from adding %lld and %lld", (long long)dim,
                       (long long)more);
}

rheos_status *rheos__infer_rank(const rheos__infer *c, int32_t input, int32_t rank,
                                rheos_shape *out_shape) {
  const rheos_shape *shape = &c->input_shapes[input];
  *out_shape = shape->rank < 0 ? all_unknown(rank) : *shape;
  if (shape->rank < 0 || shape->rank == rank) return NULL;
  return RHEOS_INVALID("Shape must be rank %d but is rank %d: input %d has shape %s", rank,
                       shape->rank, input, rheos__shape_text_of(shape, &(rheos__shape_text){{0}}));
}

// The elements of a constant as dimensions.
static rheos_status *shape_of_constant(const rheos_tensor *value, rheos_shape *out_shape) {
  if (!rheos_dtype_is_integer(value->dtype)) {
    return RHEOS_INVALID("a shape has dtype int32 or int64, got %s",
                         rheos_dtype_name(value->dtype));
  }
  if (value->shape.rank == 0 && rheos__tensor_int_at(value, 0) == -1) return NULL;  // unknown
  if (value->shape.rank != 1) {
    return RHEOS_INVALID("a shape must be a vector, got shape %s",
                         rheos__shape_text_of(&value->shape, &(rheos__shape_text){{0}}));
  }
  if (value->num_elements > RHEOS_MAX_RANK) {
    return RHEOS_INVALID("rank %lld is more than the maximum of %d", (long long)value->num_elements,
                         RHEOS_MAX_RANK);
  }
  rheos_shape shape = {.rank = (int32_t)value->num_elements};
  for (int32_t i = 0; i < shape.rank; i++) {
    shape.dims[i] = rheos__tensor_int_at(value, i);
    if (shape.dims[i] < -1) {
      return RHEOS_INVALID("Dimension %d of a shape must be >= 0, or -1 for unknown, got %lld", i,
                           (long long)shape.dims[i]);
    }
  }
  *out_shape = shape;
  return NULL;
}

rheos_status *rheos__infer_shape_value(rheos__infer *c, int32_t input, rheos_shape *out_shape) {
  *out_shape = RHEOS_UNKNOWN_SHAPE;
  if (c->input_values != NULL && c->input_values[input] != NULL) {
    return shape_of_constant(c->input_values[input], out_shape);
  }
  const rheos_shape *shape = &c->input_shapes[input];
  if (shape->rank > 1) {
    return RHEOS_INVALID("a shape must be a vector, got shape %s",
                         rheos__shape_text_of(shape, &(rheos__shape_text){{0}}));
  }
  if (c->partial != NULL && c->partial(c->partial_argument, input, out_shape)) return NULL;
  *out_shape = RHEOS_UNKNOWN_SHAPE;
  if (shape->rank != 1 || shape->dims[0] < 0) return NULL;
  if (shape->dims[0] > RHEOS_MAX_RANK) {
    return RHEOS_INVALID("rank %lld is more than the maximum of %d", (long long)shape->dims[0],
                         RHEOS_MAX_RANK);
  }
  *out_shape = all_unknown((int32_t)shape->dims[0]);
  return NULL;
}
