// Attributes as programs set them, one call each, kept until the operation is made.
#include "handles.h"

#include <stdlib.h>
#include <string.h>

void capi_attrs_fail_take(capi_attrs *attrs, rheos_status *error) {
  if (attrs->error != NULL) {
    rheos_status_free(error);
  } else {
    attrs->error = error;
  }
}

static void fail_for_memory(capi_attrs *attrs) {
  capi_attrs_fail_take(attrs, rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory"));
}

static void fail_for_value(capi_attrs *attrs, const char *name) {
  capi_attrs_fail_take(
      attrs, rheos_status_new(RHEOS_INVALID_ARGUMENT, "the value given for attribute '%s' is none",
                              name == NULL ? "(NULL)" : name));
}

void capi_attrs_free(capi_attrs *attrs) {
  for (size_t i = 0; i < attrs->num_tensors; i++) rheos_tensor_unref(attrs->tensors[i]);
  free(attrs->tensors);
  free(attrs->attrs);
  capi_pool_free(&attrs->pool);
  rheos_status_free(attrs->error);
  *attrs = (capi_attrs){0};
}

const rheos_attr *capi_attrs_find(const capi_attrs *attrs, const char *name) {
  for (size_t i = 0; i < attrs->count; i++) {
    if (strcmp(attrs->attrs[i].name, name) == 0) return &attrs->attrs[i];
  }
  return NULL;
}

void capi_attrs_remove(capi_attrs *attrs, const char *name) {
  rheos_attr *at = (rheos_attr *)(uintptr_t)capi_attrs_find(attrs, name);
  if (at != NULL) *at = attrs->attrs[--attrs->count];
}

// Bytes of an element of a list of that kind, of the value itself where it is no list; 0: it holds
// no bytes elsewhere.
static size_t element_bytes(rheos_attr_kind kind) {
  switch (kind) {
    case RHEOS_ATTR_LIST_INT: return sizeof(int64_t);
    case RHEOS_ATTR_LIST_FLOAT: return sizeof(float);
    case RHEOS_ATTR_LIST_BOOL: return sizeof(bool);
    case RHEOS_ATTR_LIST_TYPE: return sizeof(rheos_dtype);
    case RHEOS_ATTR_LIST_SHAPE:
    case RHEOS_ATTR_SHAPE: return sizeof(rheos_shape);
    case RHEOS_ATTR_LIST_STRING: return sizeof(rheos_string);
    case RHEOS_ATTR_LIST_FUNC:
    case RHEOS_ATTR_FUNC: return sizeof(rheos_func);
    case RHEOS_ATTR_LIST_TENSOR: return sizeof(rheos_tensor *);
    default: return 0;
  }
}

void capi_attrs_set(capi_attrs *attrs, const char *name, rheos_attr_value value) {
  if (name == NULL) {
    fail_for_value(attrs, name);
    return;
  }
  if (attrs->keeps_first && capi_attrs_find(attrs, name) != NULL) return;
  size_t bytes = element_bytes(value.kind);
  if (bytes > 0) {
    bool is_list = value.kind >= RHEOS_ATTR_LIST_STRING;
    size_t size = bytes * (is_list ? (size_t)value.count : 1);
    value.ints = capi_pool_copy(&attrs->pool, value.ints, size);
    if (value.ints == NULL) fail_for_memory(attrs);
  }
  if (value.kind == RHEOS_ATTR_STRING || value.kind == RHEOS_ATTR_PLACEHOLDER) {
    value.s.data = capi_pool_text(&attrs->pool, value.s.data, value.s.size_bytes);
    if (value.s.data == NULL) fail_for_memory(attrs);
  }
  if (attrs->error != NULL) return;
  rheos_attr *to = (rheos_attr *)(uintptr_t)capi_attrs_find(attrs, name);
  char *copy = capi_pool_text(&attrs->pool, name, strlen(name));
  if (copy == NULL ||
      (to == NULL && !capi_grow(&attrs->attrs, attrs->count, sizeof *attrs->attrs))) {
    fail_for_memory(attrs);
    return;
  }
  if (to == NULL) to = &attrs->attrs[attrs->count++];
  *to = (rheos_attr){.name = copy, .value = value};
}

rheos_attr_value capi_string_value(const void *value, size_t length) {
  return (rheos_attr_value){.kind = RHEOS_ATTR_STRING,
                            .s = {.data = (char *)(uintptr_t)value, .size_bytes = length}};
}

void capi_attrs_set_list(capi_attrs *attrs, const char *name, rheos_attr_kind kind,
                         const void *values, int num_values) {
  if (num_values < 0 || (values == NULL && num_values > 0)) {
    fail_for_value(attrs, name);
    return;
  }
  rheos_attr_value value = {.kind = kind, .count = num_values};
  value.ints = values;
  capi_attrs_set(attrs, name, value);
}

// Zeros for `count` elements; NULL with an error if there are none to be had.
static void *new_list(capi_attrs *attrs, const char *name, const void *values, int count,
                      size_t bytes) {
  if (count < 0 || (values == NULL && count > 0)) {
    fail_for_value(attrs, name);
    return NULL;
  }
  void *list = capi_pool_get(&attrs->pool, (size_t)count * bytes);
  if (list == NULL) fail_for_memory(attrs);
  return list;
}

void capi_attrs_set_strings(capi_attrs *attrs, const char *name, const void *const *values,
                            const size_t *lengths, int num_values) {
  rheos_string *list = new_list(attrs, name, lengths, num_values, sizeof *list);
  if (list == NULL) return;
  for (int i = 0; i < num_values; i++) {
    if (values == NULL || (values[i] == NULL && lengths[i] > 0)) {
      fail_for_value(attrs, name);
      return;
    }
    list[i].size_bytes = lengths[i];
    list[i].data = capi_pool_text(&attrs->pool, values[i], lengths[i]);
    if (list[i].data == NULL) fail_for_memory(attrs);
  }
  capi_attrs_set_list(attrs, name, RHEOS_ATTR_LIST_STRING, list, num_values);
}

void capi_attrs_set_bools(capi_attrs *attrs, const char *name, const unsigned char *values,
                          int num_values) {
  bool *list = new_list(attrs, name, values, num_values, sizeof *list);
  if (list == NULL) return;
  for (int i = 0; i < num_values; i++) list[i] = values[i] != 0;
  capi_attrs_set_list(attrs, name, RHEOS_ATTR_LIST_BOOL, list, num_values);
}

void capi_attrs_set_func(capi_attrs *attrs, const char *name, const char *value, size_t length) {
  if (value == NULL) {
    fail_for_value(attrs, name);
    return;
  }
  rheos_func func = {.name = {.size_bytes = length}};
  func.name.data = capi_pool_text(&attrs->pool, value, length);
  if (func.name.data == NULL) fail_for_memory(attrs);
  capi_attrs_set(attrs, name, (rheos_attr_value){.kind = RHEOS_ATTR_FUNC, .func = &func});
}

static bool read_shape(capi_attrs *attrs, const char *name, const int64_t *dims, int num_dims,
                       rheos_shape *out_shape) {
  if (capi_shape(dims, num_dims, out_shape)) return true;
  capi_attrs_fail_take(
      attrs, rheos_status_new(RHEOS_INVALID_ARGUMENT,
                              "attribute '%s' is given a shape of %d dimensions that none can have",
                              name == NULL ? "(NULL)" : name, num_dims));
  return false;
}

void capi_attrs_set_shape(capi_attrs *attrs, const char *name, const int64_t *dims, int num_dims) {
  rheos_shape shape;
  if (!read_shape(attrs, name, dims, num_dims, &shape)) return;
  capi_attrs_set(attrs, name, (rheos_attr_value){.kind = RHEOS_ATTR_SHAPE, .shape = &shape});
}

void capi_attrs_set_shapes(capi_attrs *attrs, const char *name, const int64_t *const *dims,
                           const int *num_dims, int num_shapes) {
  rheos_shape *list = new_list(attrs, name, num_dims, num_shapes, sizeof *list);
  if (list == NULL) return;
  for (int i = 0; i < num_shapes; i++) {
    if (!read_shape(attrs, name, dims == NULL ? NULL : dims[i], num_dims[i], &list[i])) return;
  }
  capi_attrs_set_list(attrs, name, RHEOS_ATTR_LIST_SHAPE, list, num_shapes);
}

rheos_tensor *capi_attrs_hold_take(capi_attrs *attrs, rheos_tensor *value) {
  if (!capi_grow(&attrs->tensors, attrs->num_tensors, sizeof(rheos_tensor *))) {
    rheos_tensor_unref(value);
    fail_for_memory(attrs);
    return NULL;
  }
  attrs->tensors[attrs->num_tensors++] = value;
  return value;
}

// What a tensor has now, which the attributes hold: programs go on writing to its memory. NULL with
// an error.
static rheos_tensor *hold(capi_attrs *attrs, const TF_Tensor *tensor) {
  rheos_tensor *shared = NULL, *value = NULL;
  rheos_status *error = capi_tensor_value(tensor, &shared);
  if (error == NULL) error = rheos_tensor_copy(shared, &value);
  rheos_tensor_unref(shared);
  if (error == NULL) return capi_attrs_hold_take(attrs, value);
  capi_attrs_fail_take(attrs, error);
  return NULL;
}

void capi_attrs_set_tensors(capi_attrs *attrs, const char *name, TF_Tensor *const *values,
                            int num_values, bool is_list) {
  rheos_tensor **list = new_list(attrs, name, values, num_values, sizeof *list);
  if (list == NULL) return;
  for (int i = 0; i < num_values; i++) {
    list[i] = hold(attrs, values[i]);
    if (list[i] == NULL) return;
  }
  if (is_list) {
    capi_attrs_set_list(attrs, name, RHEOS_ATTR_LIST_TENSOR, list, num_values);
  } else {
    capi_attrs_set(attrs, name, (rheos_attr_value){.kind = RHEOS_ATTR_TENSOR, .tensor = list[0]});
  }
}

void capi_attrs_infer(capi_attrs *attrs, rheos_op_argument argument, const rheos_dtype *types,
                      int count) {
  if (argument.number_attr != NULL && capi_attrs_find(attrs, argument.number_attr) == NULL) {
    capi_attrs_set(attrs, argument.number_attr,
                   (rheos_attr_value){.kind = RHEOS_ATTR_INT, .i = count});
  }
  if (argument.type_list_attr != NULL && capi_attrs_find(attrs, argument.type_list_attr) == NULL) {
    capi_attrs_set_list(attrs, argument.type_list_attr, RHEOS_ATTR_LIST_TYPE, types, count);
  }
}
