// What the ops that parse examples are asked for: attributes, keys and names, shapes of outputs.
#include "ops/io/parse_columns.h"

#include "ops/kit/array_util.h"

// ---- Attributes

rheos_status *rheos__dense_stride(const rheos_shape *shape, bool *out_varies, int64_t *out_stride) {
  rheos_shape row = *shape;
  *out_varies = shape->rank > 0 && shape->dims[0] < 0;
  if (*out_varies) row.dims[0] = 1;
  *out_stride = rheos_shape_num_elements(&row);
  if (*out_stride >= 0) return NULL;
  return RHEOS_INVALID("the shape has too many elements");
}

static bool row_is_known(const rheos_shape *shape) {
  for (int32_t d = 1; d < shape->rank; d++) {
    if (shape->dims[d] < 0) return false;
  }
  return shape->rank >= 0;
}

static const rheos_attr_value *list_attr(const rheos__attrs *attrs, const char *name,
                                         int32_t *out_count) {
  const rheos_attr_value *value = name != NULL ? rheos__attrs_find(attrs, name) : NULL;
  *out_count = value != NULL ? value->count : 0;
  return value;
}

rheos_status *rheos__column_group_of(const rheos__attrs *attrs, const rheos__column_attrs *names,
                                     rheos__column_group *out_group) {
  rheos__column_group *g = out_group;
  int32_t num_shapes, num_splits;
  const rheos_attr_value *sparse = list_attr(attrs, names->sparse_types, &g->num_sparse);
  const rheos_attr_value *dense = list_attr(attrs, names->dense_types, &g->num_dense);
  const rheos_attr_value *shapes = list_attr(attrs, names->dense_shapes, &num_shapes);
  const rheos_attr_value *ragged = list_attr(attrs, names->ragged_types, &g->num_ragged);
  const rheos_attr_value *splits = list_attr(attrs, names->split_types, &num_splits);
  g->sparse_types = sparse != NULL ? sparse->types : NULL;
  g->dense_types = dense != NULL ? dense->types : NULL;
  g->dense_shapes = shapes != NULL ? shapes->shapes : NULL;
  g->ragged_types = ragged != NULL ? ragged->types : NULL;
  g->split_types = splits != NULL ? splits->types : NULL;
  if (num_shapes != g->num_dense) {
    return RHEOS_INVALID("len(%s) is %d, but len(%s) is %d", names->dense_shapes, (int)num_shapes,
                         names->dense_types, (int)g->num_dense);
  }
  if (num_splits != g->num_ragged) {
    return RHEOS_INVALID("len(%s) is %d, but len(%s) is %d", names->split_types, (int)num_splits,
                         names->ragged_types, (int)g->num_ragged);
  }
  for (int32_t i = 0; i < num_shapes; i++) {
    bool varies;
    int64_t stride;
    if (row_is_known(&g->dense_shapes[i])) {
      RHEOS_TRY(rheos__dense_stride(&g->dense_shapes[i], &varies, &stride));
      continue;
    }
    rheos__shape_text text;
    return RHEOS_INVALID("%s[%d] has unknown rank or unknown inner dimensions: %s",
                         names->dense_shapes, (int)i,
                         rheos__shape_text_of(&g->dense_shapes[i], &text));
  }
  return NULL;
}

// ---- Shapes

void rheos__infer_sparse_columns(rheos__infer *c, int32_t first, int32_t count, int64_t rank) {
  for (int32_t i = 0; i < count; i++) {
    c->output_shapes[first + i] = RHEOS_SHAPE(-1, rank);
    c->output_shapes[first + count + i] = RHEOS_SHAPE(-1);
    c->output_shapes[first + 2 * count + i] = RHEOS_SHAPE(rank);
  }
}

rheos_status *rheos__infer_dense_columns(rheos__infer *c, int32_t first,
                                         const rheos__column_group *group,
                                         const rheos_shape *prefix) {
  for (int32_t i = 0; i < group->num_dense; i++) {
    const rheos_shape *inner = &group->dense_shapes[i];
    rheos_shape shape = *prefix;
    if (prefix->rank >= 0) {
      RHEOS_TRY(rheos__shape_append_range(&shape, inner, 0, inner->rank));
    }
    c->output_shapes[first + i] = shape;
  }
  return NULL;
}

// ---- Inputs

rheos_status *rheos__parse_key(const rheos_tensor *tensor, const char *what,
                               rheos_string *out_key) {
  if (tensor->num_elements != 1) {
    return RHEOS_INVALID("Expected each of %s to be a scalar, got %lld elements", what,
                         (long long)tensor->num_elements);
  }
  *out_key = *(const rheos_string *)tensor->data;
  return NULL;
}

rheos_status *rheos__parse_names(const rheos_tensor *names, const rheos_tensor *serialized,
                                 const rheos_string **out_names) {
  *out_names = names->num_elements > 0 ? names->data : NULL;
  if (*out_names == NULL || rheos_shape_equal(&names->shape, &serialized->shape)) return NULL;
  rheos__shape_text a, b;
  return RHEOS_INVALID(
      "Expected names have the same shape as serialized: name.shape=%s, "
      "serialized.shape=%s",
      rheos__shape_text_of(&names->shape, &a), rheos__shape_text_of(&serialized->shape, &b));
}

rheos_status *rheos__check_serialized(const rheos_shape *shape, bool may_be_scalar) {
  if (shape->rank == 1 || (shape->rank == 0 && may_be_scalar)) return NULL;
  rheos__shape_text text;
  return RHEOS_INVALID("Expected serialized to be a %s, got shape: %s",
                       may_be_scalar ? "scalar or vector" : "vector",
                       rheos__shape_text_of(shape, &text));
}

rheos_status *rheos__parse_keys(rheos_string *keys, int32_t *at, const rheos_tensor *tensor,
                                int32_t count, const char *what, const char *expected) {
  if (tensor->num_elements != count) {
    return RHEOS_INVALID("Expected len(%s) == %s but got: %lld vs. %d", what, expected,
                         (long long)tensor->num_elements, (int)count);
  }
  for (int32_t i = 0; i < count; i++) keys[(*at)++] = ((const rheos_string *)tensor->data)[i];
  return NULL;
}
