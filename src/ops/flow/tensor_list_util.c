// Shared parts of the kernels of lists.
#include "ops/flow/tensor_list_util.h"

#include <string.h>

rheos_status *rheos__prepare_list(rheos__prepare *p) {
  const rheos__list_family *family = p->op->family;
  return rheos__answer_compute_operands(p, family->compute);
}

rheos_status *rheos__shape_from_tensor(const rheos_tensor *tensor, rheos_shape *out_shape) {
  *out_shape = RHEOS_UNKNOWN_SHAPE;
  rheos__shape_text text;
  if (tensor->dtype != RHEOS_INT32 && tensor->dtype != RHEOS_INT64) {
    return RHEOS_INVALID("a shape has dtype int32 or int64, got %s",
                         rheos_dtype_name(tensor->dtype));
  }
  if (tensor->shape.rank == 0) {
    if (rheos__tensor_int_at(tensor, 0) == -1) return NULL;
    return RHEOS_INVALID(
        "The only valid scalar shape tensor is the fully unknown shape specified as -1.");
  }
  if (tensor->shape.rank != 1) {
    return RHEOS_INVALID("a shape must be a vector, got shape %s",
                         rheos__shape_text_of(&tensor->shape, &text));
  }
  rheos_shape shape = {.rank = 0};
  for (int64_t i = 0; i < tensor->num_elements; i++) {
    const int64_t dim = rheos__tensor_int_at(tensor, i);
    if (dim < -1) {
      return RHEOS_INVALID("Dimension %lld of a shape must be >= 0, or -1 for unknown, got %lld",
                           (long long)i, (long long)dim);
    }
    RHEOS_TRY(rheos__shape_append(&shape, dim));
  }
  *out_shape = shape;
  return NULL;
}

rheos_status *rheos__list_int(const rheos_tensor *tensor, const char *what, int64_t *out_value) {
  if (tensor->num_elements != 1 || !rheos_dtype_is_integer(tensor->dtype)) {
    rheos__shape_text text;
    return RHEOS_INVALID("%s must be an integer scalar, got shape %s", what,
                         rheos__shape_text_of(&tensor->shape, &text));
  }
  *out_value = rheos__tensor_int_at(tensor, 0);
  return NULL;
}

rheos_status *rheos__list_check_dtype(const rheos__list *list, rheos_dtype dtype) {
  const rheos_dtype actual = rheos__list_spec_of(list)->dtype;
  if (actual == dtype) return NULL;
  return RHEOS_INVALID("Invalid data types; op elements %s but list elements %s",
                       rheos_dtype_name(dtype), rheos_dtype_name(actual));
}

rheos_status *rheos__list_merge_shapes(const rheos_shape *a, const rheos_shape *b,
                                       rheos_shape *out_shape) {
  if (rheos_shape_compatible(a, b)) return rheos__shape_merge(a, b, out_shape);
  if (a->rank != b->rank) {
    return RHEOS_INVALID("Incompatible ranks during merge: %d vs. %d", (int)a->rank, (int)b->rank);
  }
  rheos__shape_text one, other;
  return RHEOS_INVALID("Incompatible shapes during merge: %s vs. %s", rheos__shape_text_of(a, &one),
                       rheos__shape_text_of(b, &other));
}

rheos_status *rheos__list_element_shape(const rheos__list *list, const rheos_tensor *tensor,
                                        rheos_shape *out_shape) {
  rheos_shape told;
  RHEOS_TRY(rheos__shape_from_tensor(tensor, &told));
  return rheos__list_merge_shapes(&told, &rheos__list_spec_of(list)->shape, out_shape);
}

rheos_status *rheos__list_merge_items(rheos_tensor *const *items, int64_t count,
                                      rheos_shape *in_out_shape) {
  for (int64_t i = 0; i < count; i++) {
    if (items[i] == NULL) continue;
    const rheos_shape so_far = *in_out_shape;
    RHEOS_TRY(rheos__list_merge_shapes(&so_far, &items[i]->shape, in_out_shape));
  }
  return NULL;
}

rheos_status *rheos__zeros_of(rheos_dtype dtype, const rheos_shape *shape,
                              rheos_tensor **out_tensor) {
  RHEOS_TRY(rheos__tensor_new(dtype, shape, out_tensor));
  rheos_tensor *tensor = *out_tensor;
  if (tensor->size_bytes > 0) memset(tensor->data, 0, tensor->size_bytes);
  return NULL;
}

rheos_status *rheos__rows_of(const rheos_tensor *tensor, int64_t first, const rheos_shape *shape,
                             rheos_tensor **out_rows) {
  rheos_tensor *rows = NULL;
  RHEOS_TRY(rheos__tensor_new_in(tensor->memory, tensor->dtype, shape, &rows));
  const rheos_shape row = rheos__shape_of_row(&tensor->shape);
  rheos_status *status = rheos__tensor_copy_part(tensor, first * rheos_shape_num_elements(&row),
                                                 rows->num_elements, rows, 0);
  if (status != NULL) {
    rheos_tensor_unref(rows);
    return status;
  }
  *out_rows = rows;
  return NULL;
}

rheos_shape rheos__shape_of_row(const rheos_shape *shape) {
  if (shape->rank < 0) return *shape;
  rheos_shape row = {.rank = 0};
  for (int32_t i = 1; i < shape->rank; i++) row.dims[row.rank++] = shape->dims[i];
  return row;
}

rheos_status *rheos__shape_in_front(int64_t dim, const rheos_shape *shape, rheos_shape *out_shape) {
  *out_shape = *shape;
  if (shape->rank < 0) return NULL;
  *out_shape = (rheos_shape){.rank = 0};
  RHEOS_TRY(rheos__shape_append(out_shape, dim));
  return rheos__shape_append_range(out_shape, shape, 0, shape->rank);
}

rheos_output rheos__list_node(rheos_scope *s, const char *type, const rheos_output *inputs,
                              size_t num_inputs, rheos_dtype dtype) {
  const rheos_attr attr = rheos__list_dtype_attr(dtype);
  return rheos_operation_output(rheos__op_n(s, type, NULL, inputs, num_inputs, &attr, 1), 0);
}

rheos_output rheos__list_element_shape_node(rheos_scope *s, rheos_output list) {
  const rheos_attr attr = {"shape_type", {.kind = RHEOS_ATTR_TYPE, .type = RHEOS_INT32}};
  return rheos_operation_output(rheos__op_n(s, "TensorListElementShape", NULL, &list, 1, &attr, 1),
                                0);
}

rheos_status *rheos__infer_listed(const rheos__infer *c, const rheos_shape *told,
                                  rheos_shape *out_shape) {
  const rheos_shape *listed = c->handle_shapes != NULL ? c->handle_shapes[0] : NULL;
  *out_shape = *told;
  return listed != NULL ? rheos__shape_merge(told, listed, out_shape) : NULL;
}

rheos_status *rheos__infer_list_of(rheos__infer *c, int32_t input) {
  rheos_shape element;
  RHEOS_TRY(rheos__infer_shape_value(c, input, &element));
  return rheos__shape_scalar(c);
}

rheos_status *rheos__infer_element(rheos__infer *c, int32_t input, rheos_shape *out_shape) {
  rheos_shape told;
  RHEOS_TRY(rheos__infer_shape_value(c, input, &told));
  return rheos__infer_listed(c, &told, out_shape);
}
