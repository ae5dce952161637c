// AttrValues: attributes as messages.
#include "handles.h"

#include <string.h>

// Fields of an AttrValue, and of its lists.
enum {
  LIST = 1,
  STRING = 2,
  INT = 3,
  FLOAT = 4,
  BOOL = 5,
  TYPE = 6,
  SHAPE = 7,
  TENSOR = 8,
  PLACEHOLDER = 9,  // in a list: functions
  FUNC = 10,
};

// Reads a TensorShapeProto: field 2 is a dimension, whose field 1 is its size; field 3 says that
// the rank is not known.
bool capi_read_shape(capi_wire wire, rheos_shape *out_shape) {
  *out_shape = RHEOS_SCALAR;
  for (capi_field field; wire.at < wire.end;) {
    if (!capi_wire_next(&wire, &field)) return false;
    if (field.number == 3 && field.value != 0) {
      *out_shape = RHEOS_UNKNOWN_SHAPE;
      return true;
    }
    if (field.number != 2) continue;
    if (field.type != 2 || out_shape->rank == RHEOS_MAX_RANK) return false;
    int64_t *dim = &out_shape->dims[out_shape->rank++];
    *dim = 0;
    for (capi_field part; capi_wire_next(&field.bytes, &part);) {
      if (part.number == 1) *dim = (int64_t)part.value;
    }
    if (*dim < -1) return false;
  }
  return true;
}

// The name of a NameAttrList, of a function without attributes of its own.
static bool read_func(capi_attrs *attrs, capi_wire wire, rheos_func *out_func) {
  capi_wire name = {0}, attr = {0};
  capi_wire_find(wire, 1, &name);
  *out_func = (rheos_func){.name = {.size_bytes = capi_wire_size(name)}};
  out_func->name.data = capi_pool_text(&attrs->pool, (const char *)name.at, capi_wire_size(name));
  return out_func->name.data != NULL && !capi_wire_find(wire, 2, &attr);
}

static rheos_tensor *read_tensor(capi_attrs *attrs, capi_wire wire) {
  rheos_tensor *value = NULL;
  rheos_status *error = rheos_tensor_from_proto(wire.at, capi_wire_size(wire), &value);
  if (error != NULL) {
    capi_attrs_fail_take(attrs, error);
    return NULL;
  }
  return capi_attrs_hold_take(attrs, value);
}

static float float_of(uint64_t bits) {
  uint32_t low = (uint32_t)bits;
  float value;
  memcpy(&value, &low, sizeof value);
  return value;
}

// ---- Lists

// Where elements of a list go, as many as there is room for.
typedef struct elements {
  rheos_attr_kind kind;
  void *values;
  int32_t count, capacity;
} elements;

static const struct {
  rheos_attr_kind kind;
  size_t bytes;
} LISTS[] = {
    [STRING] = {RHEOS_ATTR_LIST_STRING, sizeof(rheos_string)},
    [INT] = {RHEOS_ATTR_LIST_INT, sizeof(int64_t)},
    [FLOAT] = {RHEOS_ATTR_LIST_FLOAT, sizeof(float)},
    [BOOL] = {RHEOS_ATTR_LIST_BOOL, sizeof(bool)},
    [TYPE] = {RHEOS_ATTR_LIST_TYPE, sizeof(rheos_dtype)},
    [SHAPE] = {RHEOS_ATTR_LIST_SHAPE, sizeof(rheos_shape)},
    [TENSOR] = {RHEOS_ATTR_LIST_TENSOR, sizeof(rheos_tensor *)},
    [PLACEHOLDER] = {RHEOS_ATTR_LIST_FUNC, sizeof(rheos_func)},
};

static bool add_number(elements *to, int number, uint64_t value) {
  int32_t at = to->count;
  if (at == to->capacity) return false;
  to->count++;
  switch (number) {
    case INT: ((int64_t *)to->values)[at] = (int64_t)value; return true;
    case FLOAT: ((float *)to->values)[at] = float_of(value); return true;
    case BOOL: ((bool *)to->values)[at] = value != 0; return true;
    case TYPE: ((rheos_dtype *)to->values)[at] = (rheos_dtype)value; return true;
    default: return false;
  }
}

// Numbers may stand together, in one field of bytes.
static bool add_packed(elements *to, int number, capi_wire wire) {
  while (wire.at < wire.end) {
    uint64_t value = 0;
    if (number == FLOAT) {
      if (capi_wire_size(wire) < 4) return false;
      memcpy(&value, wire.at, 4);
      wire.at += 4;
    } else if (!capi_wire_varint(&wire, &value)) {
      return false;
    }
    if (!add_number(to, number, value)) return false;
  }
  return true;
}

static bool add_bytes(capi_attrs *attrs, elements *to, int number, capi_wire wire) {
  if (number == INT || number == FLOAT || number == BOOL || number == TYPE) {
    return add_packed(to, number, wire);
  }
  int32_t at = to->count;
  if (at == to->capacity) return false;
  to->count++;
  switch (number) {
    case STRING: {
      char *copy = capi_pool_text(&attrs->pool, (const char *)wire.at, capi_wire_size(wire));
      ((rheos_string *)to->values)[at] = (rheos_string){copy, capi_wire_size(wire)};
      return copy != NULL;
    }
    case SHAPE: return capi_read_shape(wire, &((rheos_shape *)to->values)[at]);
    case TENSOR: return (((rheos_tensor **)to->values)[at] = read_tensor(attrs, wire)) != NULL;
    case PLACEHOLDER: return read_func(attrs, wire, &((rheos_func *)to->values)[at]);
    default: return false;
  }
}

static bool read_list(capi_attrs *attrs, const char *name, capi_wire wire) {
  elements to = {0};
  int kind = 0;
  for (capi_field field; wire.at < wire.end;) {
    size_t left = capi_wire_size(wire);  // no element takes less than a byte
    if (!capi_wire_next(&wire, &field)) return false;
    if (field.number < STRING || field.number > PLACEHOLDER) continue;
    if (to.values == NULL) {
      kind = field.number;
      to.kind = LISTS[kind].kind;
      to.capacity = left > INT32_MAX ? INT32_MAX : (int32_t)left;
      to.values = capi_pool_get(&attrs->pool, (size_t)to.capacity * LISTS[kind].bytes);
      if (to.values == NULL) return false;
    }
    if (field.number != kind) return false;
    if (!(field.type == 2 ? add_bytes(attrs, &to, kind, field.bytes)
                          : add_number(&to, kind, field.value))) {
      return false;
    }
  }
  capi_attrs_set_list(attrs, name, to.values == NULL ? RHEOS_ATTR_LIST_INT : to.kind, to.values,
                      to.count);
  return true;
}

// ---- Values

static bool read_value(capi_attrs *attrs, const char *name, capi_field field) {
  rheos_attr_value value = {0};
  rheos_shape shape;
  rheos_func func;
  switch (field.number) {
    case LIST: return read_list(attrs, name, field.bytes);
    case STRING:
    case PLACEHOLDER:
      value = capi_string_value(field.bytes.at, capi_wire_size(field.bytes));
      if (field.number == PLACEHOLDER) value.kind = RHEOS_ATTR_PLACEHOLDER;
      break;
    case INT: value = (rheos_attr_value){.kind = RHEOS_ATTR_INT, .i = (int64_t)field.value}; break;
    case FLOAT:
      value = (rheos_attr_value){.kind = RHEOS_ATTR_FLOAT, .f = float_of(field.value)};
      break;
    case BOOL: value = (rheos_attr_value){.kind = RHEOS_ATTR_BOOL, .b = field.value != 0}; break;
    case TYPE:
      value = (rheos_attr_value){.kind = RHEOS_ATTR_TYPE, .type = (rheos_dtype)field.value};
      break;
    case SHAPE:
      if (!capi_read_shape(field.bytes, &shape)) return false;
      value = (rheos_attr_value){.kind = RHEOS_ATTR_SHAPE, .shape = &shape};
      break;
    case TENSOR:
      value =
          (rheos_attr_value){.kind = RHEOS_ATTR_TENSOR, .tensor = read_tensor(attrs, field.bytes)};
      if (value.tensor == NULL) return false;
      break;
    case FUNC:
      if (!read_func(attrs, field.bytes, &func)) return false;
      value = (rheos_attr_value){.kind = RHEOS_ATTR_FUNC, .func = &func};
      break;
    default: return true;  // a field that is not known
  }
  capi_attrs_set(attrs, name, value);
  return true;
}

bool capi_attrs_set_proto(capi_attrs *attrs, const char *name, const void *proto, size_t proto_len,
                          TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(name, "the attribute's name", status) ||
      (proto_len > 0 && !capi_need(proto, "the AttrValue", status))) {
    return false;
  }
  rheos_status *error = rheos_message_check("AttrValue", proto, proto_len);
  bool is_read = error == NULL;
  rheos_status_free(error);
  capi_wire wire = capi_wire_of(proto, proto_len);
  for (capi_field field; is_read && capi_wire_next(&wire, &field);) {
    is_read = read_value(attrs, name, field);
  }
  if (attrs->error != NULL) {
    capi_take(status, attrs->error);
    attrs->error = NULL;
    return false;
  }
  if (!is_read) capi_fail(status, TF_INVALID_ARGUMENT, "Unparseable AttrValue proto");
  return is_read;
}
