// The attributes that operations have: what they hold, and their values.
#include "handles.h"

#include <stdlib.h>
#include <string.h>

// The value, with an error if there is none.
static bool find(TF_Operation *oper, const char *name, rheos_attr_value *out_value,
                 TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(oper, "the operation", status)) return false;
  if (!capi_need(name, "the attribute's name", status)) return false;
  *out_value = rheos_operation_attr(capi_operation_of(oper), name);
  if (out_value->kind != RHEOS_ATTR_NONE) return true;
  capi_fail(status, TF_NOT_FOUND, "No attr named '%s' in NodeDef:\n\t [[{{node %s}}]]", name,
            oper->name);
  return false;
}

static const char *const KIND_NAMES[] = {
    "nothing",     "string",     "int",        "float",       "bool",         "type",
    "shape",       "tensor",     "func",       "placeholder", "list(string)", "list(int)",
    "list(float)", "list(bool)", "list(type)", "list(shape)", "list(tensor)", "list(func)",
};

// The value, with an error if it is of another kind. A list without elements is one of any kind.
static bool find_kind(TF_Operation *oper, const char *name, rheos_attr_kind kind,
                      rheos_attr_value *out_value, TF_Status *status) {
  if (!find(oper, name, out_value, status)) return false;
  bool are_empty = kind >= RHEOS_ATTR_LIST_STRING && out_value->kind >= RHEOS_ATTR_LIST_STRING &&
                   out_value->count == 0;
  if (out_value->kind == kind || are_empty) return true;
  capi_fail(status, TF_INVALID_ARGUMENT,
            "AttrValue had value with type '%s' when '%s' expected for attr '%s' of '%s'",
            KIND_NAMES[out_value->kind], KIND_NAMES[kind], name, oper->name);
  return false;
}

// How many of a list's elements there is room for; with an error if nobody takes them.
static int room(const void *values, int max_values, rheos_attr_value list, TF_Status *status) {
  if (list.count == 0 || max_values <= 0) return 0;
  if (!capi_need(values, "values", status)) return 0;
  return max_values < list.count ? max_values : list.count;
}

// ---- What it holds

static TF_AttrType type_of_kind(rheos_attr_kind kind) {
  switch (kind) {
    case RHEOS_ATTR_INT:
    case RHEOS_ATTR_LIST_INT: return TF_ATTR_INT;
    case RHEOS_ATTR_FLOAT:
    case RHEOS_ATTR_LIST_FLOAT: return TF_ATTR_FLOAT;
    case RHEOS_ATTR_BOOL:
    case RHEOS_ATTR_LIST_BOOL: return TF_ATTR_BOOL;
    case RHEOS_ATTR_TYPE:
    case RHEOS_ATTR_LIST_TYPE: return TF_ATTR_TYPE;
    case RHEOS_ATTR_SHAPE:
    case RHEOS_ATTR_LIST_SHAPE: return TF_ATTR_SHAPE;
    case RHEOS_ATTR_TENSOR:
    case RHEOS_ATTR_LIST_TENSOR: return TF_ATTR_TENSOR;
    case RHEOS_ATTR_FUNC:
    case RHEOS_ATTR_LIST_FUNC: return TF_ATTR_FUNC;
    case RHEOS_ATTR_PLACEHOLDER: return TF_ATTR_PLACEHOLDER;
    default: return TF_ATTR_STRING;
  }
}

// An empty list does not say of what it is, where nothing in it tells; the op's definition does.
static rheos_attr_kind declared_kind(TF_Operation *oper, const char *name, rheos_attr_kind kind) {
  const rheos_op_def *op = rheos_operation_op_def(capi_operation_of(oper));
  for (int i = 0; i < rheos_op_def_num_attrs(op); i++) {
    rheos_op_attr attr = rheos_op_def_attr(op, i);
    if (strcmp(attr.name, name) == 0) return attr.kind;
  }
  return kind;
}

static int64_t total_size_of(rheos_attr_value value) {
  int64_t total = 0;
  switch (value.kind) {
    case RHEOS_ATTR_STRING:
    case RHEOS_ATTR_PLACEHOLDER: return (int64_t)value.s.size_bytes;
    case RHEOS_ATTR_FUNC: return -1;
    case RHEOS_ATTR_SHAPE: return value.shape->rank;
    case RHEOS_ATTR_LIST_STRING:
      for (int i = 0; i < value.count; i++) total += (int64_t)value.strings[i].size_bytes;
      return total;
    case RHEOS_ATTR_LIST_SHAPE:
      for (int i = 0; i < value.count; i++) {
        if (value.shapes[i].rank > 0) total += value.shapes[i].rank;
      }
      return total;
    default: return -1;
  }
}

TF_AttrMetadata TF_OperationGetAttrMetadata(TF_Operation *oper, const char *attr_name,
                                            TF_Status *status) {
  rheos_attr_value value;
  TF_AttrMetadata metadata = {0};
  if (!find(oper, attr_name, &value, status)) {
    if (oper != NULL && attr_name != NULL) {
      capi_fail(status, TF_INVALID_ARGUMENT, "Operation '%s' has no attr named '%s'.", oper->name,
                attr_name);
    }
    return metadata;
  }
  rheos_attr_kind kind = value.kind;
  metadata.is_list = kind >= RHEOS_ATTR_LIST_STRING;
  metadata.list_size = metadata.is_list ? value.count : -1;
  if (metadata.is_list && value.count == 0) kind = declared_kind(oper, attr_name, kind);
  metadata.type = type_of_kind(kind);
  metadata.total_size = total_size_of(value);
  return metadata;
}

// ---- Values

void TF_OperationGetAttrString(TF_Operation *oper, const char *attr_name, void *value,
                               size_t max_length, TF_Status *status) {
  rheos_attr_value found;
  if (!find_kind(oper, attr_name, RHEOS_ATTR_STRING, &found, status)) return;
  size_t size = found.s.size_bytes < max_length ? found.s.size_bytes : max_length;
  if (size > 0 && capi_need(value, "the value", status)) memcpy(value, found.s.data, size);
}

void TF_OperationGetAttrStringList(TF_Operation *oper, const char *attr_name, void **values,
                                   size_t *lengths, int max_values, void *storage,
                                   size_t storage_size, TF_Status *status) {
  rheos_attr_value list;
  char *to = storage;
  if (!find_kind(oper, attr_name, RHEOS_ATTR_LIST_STRING, &list, status)) return;
  int count = room(values, max_values, list, status);
  if (count > 0 && !capi_need(lengths, "lengths", status)) return;
  for (int i = 0; i < count; i++) {
    size_t size = list.strings[i].size_bytes;
    if (size > storage_size) {
      capi_fail(status, TF_INVALID_ARGUMENT,
                "Not enough storage to hold the requested list of strings");
      return;
    }
    if (size > 0 && !capi_need(to, "the storage", status)) return;
    values[i] = to;
    lengths[i] = size;
    if (size > 0) memcpy(to, list.strings[i].data, size);
    to = to == NULL ? NULL : to + size;
    storage_size -= size;
  }
}

void TF_OperationGetAttrInt(TF_Operation *oper, const char *attr_name, int64_t *value,
                            TF_Status *status) {
  rheos_attr_value found;
  if (!find_kind(oper, attr_name, RHEOS_ATTR_INT, &found, status)) return;
  if (capi_need(value, "the value", status)) *value = found.i;
}

void TF_OperationGetAttrFloat(TF_Operation *oper, const char *attr_name, float *value,
                              TF_Status *status) {
  rheos_attr_value found;
  if (!find_kind(oper, attr_name, RHEOS_ATTR_FLOAT, &found, status)) return;
  if (capi_need(value, "the value", status)) *value = found.f;
}

void TF_OperationGetAttrBool(TF_Operation *oper, const char *attr_name, unsigned char *value,
                             TF_Status *status) {
  rheos_attr_value found;
  if (!find_kind(oper, attr_name, RHEOS_ATTR_BOOL, &found, status)) return;
  if (capi_need(value, "the value", status)) *value = found.b;
}

void TF_OperationGetAttrType(TF_Operation *oper, const char *attr_name, TF_DataType *value,
                             TF_Status *status) {
  rheos_attr_value found;
  if (!find_kind(oper, attr_name, RHEOS_ATTR_TYPE, &found, status)) return;
  if (capi_need(value, "the value", status)) *value = (TF_DataType)found.type;
}

void TF_OperationGetAttrIntList(TF_Operation *oper, const char *attr_name, int64_t *values,
                                int max_values, TF_Status *status) {
  rheos_attr_value list;
  if (!find_kind(oper, attr_name, RHEOS_ATTR_LIST_INT, &list, status)) return;
  int count = room(values, max_values, list, status);
  for (int i = 0; i < count; i++) values[i] = list.ints[i];
}

void TF_OperationGetAttrFloatList(TF_Operation *oper, const char *attr_name, float *values,
                                  int max_values, TF_Status *status) {
  rheos_attr_value list;
  if (!find_kind(oper, attr_name, RHEOS_ATTR_LIST_FLOAT, &list, status)) return;
  int count = room(values, max_values, list, status);
  for (int i = 0; i < count; i++) values[i] = list.floats[i];
}

void TF_OperationGetAttrBoolList(TF_Operation *oper, const char *attr_name, unsigned char *values,
                                 int max_values, TF_Status *status) {
  rheos_attr_value list;
  if (!find_kind(oper, attr_name, RHEOS_ATTR_LIST_BOOL, &list, status)) return;
  int count = room(values, max_values, list, status);
  for (int i = 0; i < count; i++) values[i] = list.bools[i];
}

void TF_OperationGetAttrTypeList(TF_Operation *oper, const char *attr_name, TF_DataType *values,
                                 int max_values, TF_Status *status) {
  rheos_attr_value list;
  if (!find_kind(oper, attr_name, RHEOS_ATTR_LIST_TYPE, &list, status)) return;
  int count = room(values, max_values, list, status);
  for (int i = 0; i < count; i++) values[i] = (TF_DataType)list.types[i];
}

void TF_OperationGetAttrShape(TF_Operation *oper, const char *attr_name, int64_t *value,
                              int num_dims, TF_Status *status) {
  rheos_attr_value found;
  if (!find_kind(oper, attr_name, RHEOS_ATTR_SHAPE, &found, status)) return;
  for (int i = 0; i < found.shape->rank && i < num_dims; i++) {
    if (!capi_need(value, "the value", status)) return;
    value[i] = found.shape->dims[i];
  }
}

void TF_OperationGetAttrShapeList(TF_Operation *oper, const char *attr_name, int64_t **dims,
                                  int *num_dims, int num_shapes, int64_t *storage, int storage_size,
                                  TF_Status *status) {
  rheos_attr_value list;
  if (!find_kind(oper, attr_name, RHEOS_ATTR_LIST_SHAPE, &list, status)) return;
  int count = room(dims, num_shapes, list, status);
  if (count > 0 && !capi_need(num_dims, "num_dims", status)) return;
  for (int i = 0; i < count; i++) {
    int rank = list.shapes[i].rank;
    num_dims[i] = rank;
    dims[i] = rank < 0 ? NULL : storage;
    if (rank <= 0) continue;
    if (rank > storage_size) {
      capi_fail(status, TF_INVALID_ARGUMENT,
                "Not enough storage to hold the requested list of shapes");
      return;
    }
    if (!capi_need(storage, "the storage", status)) return;
    memcpy(storage, list.shapes[i].dims, (size_t)rank * sizeof *storage);
    storage += rank;
    storage_size -= rank;
  }
}

void TF_OperationGetAttrTensor(TF_Operation *oper, const char *attr_name, TF_Tensor **value,
                               TF_Status *status) {
  rheos_attr_value found;
  if (value != NULL) *value = NULL;
  if (!find_kind(oper, attr_name, RHEOS_ATTR_TENSOR, &found, status)) return;
  if (capi_need(value, "the value", status)) {
    capi_take(status, capi_tensor_of(found.tensor, value));
  }
}

void TF_OperationGetAttrTensorList(TF_Operation *oper, const char *attr_name, TF_Tensor **values,
                                   int max_values, TF_Status *status) {
  rheos_attr_value list;
  if (!find_kind(oper, attr_name, RHEOS_ATTR_LIST_TENSOR, &list, status)) return;
  int count = room(values, max_values, list, status);
  for (int i = 0; i < count; i++) values[i] = NULL;
  for (int i = 0; i < count; i++) {
    if (!capi_take(status, capi_tensor_of(list.tensors[i], &values[i]))) return;
  }
}

// ---- Values as messages, from the operation's NodeDef: attributes are its field 5, a map

// The AttrValue of that name inside the bytes of a NodeDef.
static bool find_attr_value(capi_wire node, const char *name, capi_wire *out_value) {
  size_t length = strlen(name);
  for (capi_field field; capi_wire_next(&node, &field);) {
    capi_wire key = {0};
    if (field.number != 5 || !capi_wire_find(field.bytes, 1, &key)) continue;
    if (capi_wire_size(key) != length || memcmp(key.at, name, length) != 0) continue;
    *out_value = (capi_wire){0};
    capi_wire_find(field.bytes, 2, out_value);
    return true;
  }
  return false;
}

// Calls `use` with the AttrValue.
static void with_attr_value(TF_Operation *oper, const char *name, TF_Status *status,
                            void (*use)(capi_wire value, void *argument, TF_Status *status),
                            void *argument) {
  rheos_attr_value value;
  void *bytes = NULL;
  size_t size = 0;
  capi_wire message = {0};
  if (!find(oper, name, &value, status)) {
    if (TF_GetCode(status) == TF_NOT_FOUND) {
      capi_fail(status, TF_INVALID_ARGUMENT, "Operation '%s' has no attr named '%s'.", oper->name,
                name);
    }
    return;
  }
  rheos_status *error = rheos_operation_to_node_def(capi_operation_of(oper), &bytes, &size);
  if (capi_take(status, error) && find_attr_value(capi_wire_of(bytes, size), name, &message)) {
    use(message, argument, status);
  }
  rheos_free(bytes);
}

static void copy_whole(capi_wire value, void *argument, TF_Status *status) {
  capi_buffer_copy(argument, value.at, capi_wire_size(value), status);
}

void TF_OperationGetAttrValueProto(TF_Operation *oper, const char *attr_name,
                                   TF_Buffer *output_attr_value, TF_Status *status) {
  with_attr_value(oper, attr_name, status, copy_whole, output_attr_value);
}

// An AttrValue's field 7 is a shape; of its field 1, a list, field 7 are the shapes.
static void copy_shape(capi_wire value, void *argument, TF_Status *status) {
  capi_wire shape = {0};
  if (!capi_wire_find(value, 7, &shape)) {
    capi_fail(status, TF_INVALID_ARGUMENT, "the attribute is no shape");
    return;
  }
  capi_buffer_copy(argument, shape.at, capi_wire_size(shape), status);
}

void TF_OperationGetAttrTensorShapeProto(TF_Operation *oper, const char *attr_name,
                                         TF_Buffer *value, TF_Status *status) {
  with_attr_value(oper, attr_name, status, copy_shape, value);
}

typedef struct shape_buffers {
  TF_Buffer **values;
  int count;
} shape_buffers;

static void copy_shapes(capi_wire value, void *argument, TF_Status *status) {
  shape_buffers *to = argument;
  capi_wire list = {0};
  int i = 0;
  capi_wire_find(value, 1, &list);
  for (capi_field field; i < to->count && capi_wire_next(&list, &field);) {
    if (field.number != 7) continue;
    to->values[i] = TF_NewBufferFromString(field.bytes.at, capi_wire_size(field.bytes));
    if (to->values[i++] == NULL) capi_fail_for_memory(status);
  }
}

void TF_OperationGetAttrTensorShapeProtoList(TF_Operation *oper, const char *attr_name,
                                             TF_Buffer **values, int max_values,
                                             TF_Status *status) {
  rheos_attr_value list;
  if (!find_kind(oper, attr_name, RHEOS_ATTR_LIST_SHAPE, &list, status)) return;
  shape_buffers to = {.values = values, .count = room(values, max_values, list, status)};
  if (to.count > 0) with_attr_value(oper, attr_name, status, copy_shapes, &to);
}

// ---- Going over them

int TF_OperationGetNumAttrs(TF_Operation *oper) {
  return oper == NULL ? 0 : rheos_operation_num_attrs(capi_operation_of(oper));
}

int TF_OperationGetAttrNameLength(TF_Operation *oper, int i) {
  if (i < 0 || i >= TF_OperationGetNumAttrs(oper)) return -1;
  return (int)strlen(rheos_operation_attr_at(capi_operation_of(oper), i).name);
}

void TF_OperationGetAttrName(TF_Operation *oper, int i, char *output, TF_Status *status) {
  capi_succeed(status);
  int length = TF_OperationGetAttrNameLength(oper, i);
  if (length < 0) {
    capi_fail(status, TF_INVALID_ARGUMENT, "the operation has no attribute of number %d", i);
  } else if (capi_need(output, "the output", status)) {
    memcpy(output, rheos_operation_attr_at(capi_operation_of(oper), i).name, (size_t)length + 1);
  }
}
