// Attribute values to protobuf and back.
#include "format/graph/graph_def.h"

#include "format/message/tensor_proto.h"

// ---- To messages

static ProtobufCBinaryData binary_of(const rheos_string *string) {
  return (ProtobufCBinaryData){string->size_bytes, (uint8_t *)string->data};
}

static char *text_of(const rheos_string *string, rheos__arena *arena) {
  char *text = rheos__arena_alloc(arena, string->size_bytes + 1);
  if (text == NULL) return NULL;
  if (string->size_bytes > 0) memcpy(text, string->data, string->size_bytes);
  text[string->size_bytes] = '\0';
  return text;
}

static rheos_status *attrs_to_map(const rheos_func *func, rheos__arena *arena,
                                  Tensorflow__NameAttrList *proto) {
  typedef Tensorflow__NameAttrList__AttrEntry entry;
  entry *entries = rheos__arena_alloc(arena, func->num_attrs * sizeof *entries);
  proto->attr = rheos__arena_alloc(arena, func->num_attrs * sizeof *proto->attr);
  if (entries == NULL || proto->attr == NULL) return rheos__out_of_memory();
  proto->n_attr = func->num_attrs;
  for (size_t i = 0; i < func->num_attrs; i++) {
    tensorflow__name_attr_list__attr_entry__init(&entries[i]);
    entries[i].key = (char *)(uintptr_t)func->attrs[i].name;
    RHEOS_TRY(rheos__attr_to_proto(&func->attrs[i].value, arena, &entries[i].value));
    proto->attr[i] = &entries[i];
  }
  return NULL;
}

static rheos_status *func_to_proto(const rheos_func *func, rheos__arena *arena,
                                   Tensorflow__NameAttrList **out_proto) {
  if (func->original_.size_bytes > 0) {
    return RHEOS_PROTO_UNPACK(name_attr_list, func->original_.data, func->original_.size_bytes,
                              arena, out_proto);
  }
  Tensorflow__NameAttrList *proto = rheos__arena_alloc(arena, sizeof *proto);
  if (proto == NULL) return rheos__out_of_memory();
  tensorflow__name_attr_list__init(proto);
  proto->name = text_of(&func->name, arena);
  if (proto->name == NULL) return rheos__out_of_memory();
  RHEOS_TRY(attrs_to_map(func, arena, proto));
  *out_proto = proto;
  return NULL;
}

// Allocates proto->LIST for the value's elements and goes through them with index i.
#define EACH(list)                                                      \
  proto->n_##list = count;                                              \
  proto->list = rheos__arena_alloc(arena, count * sizeof *proto->list); \
  if (proto->list == NULL) return rheos__out_of_memory();               \
  for (size_t i = 0; i < count; i++)

static rheos_status *list_to_proto(const rheos_attr_value *value, rheos__arena *arena,
                                   Tensorflow__AttrValue__ListValue *proto) {
  size_t count = (size_t)value->count;
  switch (value->kind) {
    case RHEOS_ATTR_LIST_STRING: {
      EACH(s) proto->s[i] = binary_of(&value->strings[i]);
      return NULL;
    }
    case RHEOS_ATTR_LIST_INT: {
      EACH(i) proto->i[i] = value->ints[i];
      return NULL;
    }
    case RHEOS_ATTR_LIST_FLOAT: {
      EACH(f) proto->f[i] = value->floats[i];
      return NULL;
    }
    case RHEOS_ATTR_LIST_BOOL: {
      EACH(b) proto->b[i] = value->bools[i];
      return NULL;
    }
    case RHEOS_ATTR_LIST_TYPE: {
      EACH(type) proto->type[i] = (Tensorflow__DataType)value->types[i];
      return NULL;
    }
    case RHEOS_ATTR_LIST_SHAPE: {
      EACH(shape) RHEOS_TRY(rheos__shape_to_proto(&value->shapes[i], arena, &proto->shape[i]));
      return NULL;
    }
    case RHEOS_ATTR_LIST_TENSOR: {
      EACH(tensor) RHEOS_TRY(rheos__tensor_to_proto(value->tensors[i], arena, &proto->tensor[i]));
      return NULL;
    }
    default: {
      EACH(func) RHEOS_TRY(func_to_proto(&value->funcs[i], arena, &proto->func[i]));
      return NULL;
    }
  }
}

static rheos_status *fill_proto(const rheos_attr_value *value, rheos__arena *arena,
                                Tensorflow__AttrValue *proto) {
  switch (value->kind) {
    case RHEOS_ATTR_NONE: return NULL;
    case RHEOS_ATTR_STRING:
      proto->value_case = TENSORFLOW__ATTR_VALUE__VALUE_S;
      proto->s = binary_of(&value->s);
      return NULL;
    case RHEOS_ATTR_INT:
      proto->value_case = TENSORFLOW__ATTR_VALUE__VALUE_I;
      proto->i = value->i;
      return NULL;
    case RHEOS_ATTR_FLOAT:
      proto->value_case = TENSORFLOW__ATTR_VALUE__VALUE_F;
      proto->f = value->f;
      return NULL;
    case RHEOS_ATTR_BOOL:
      proto->value_case = TENSORFLOW__ATTR_VALUE__VALUE_B;
      proto->b = value->b;
      return NULL;
    case RHEOS_ATTR_TYPE:
      proto->value_case = TENSORFLOW__ATTR_VALUE__VALUE_TYPE;
      proto->type = (Tensorflow__DataType)value->type;
      return NULL;
    case RHEOS_ATTR_SHAPE:
      proto->value_case = TENSORFLOW__ATTR_VALUE__VALUE_SHAPE;
      return rheos__shape_to_proto(value->shape, arena, &proto->shape);
    case RHEOS_ATTR_TENSOR:
      proto->value_case = TENSORFLOW__ATTR_VALUE__VALUE_TENSOR;
      return rheos__tensor_to_proto(value->tensor, arena, &proto->tensor);
    case RHEOS_ATTR_FUNC:
      proto->value_case = TENSORFLOW__ATTR_VALUE__VALUE_FUNC;
      return func_to_proto(value->func, arena, &proto->func);
    case RHEOS_ATTR_PLACEHOLDER:
      proto->value_case = TENSORFLOW__ATTR_VALUE__VALUE_PLACEHOLDER;
      proto->placeholder = text_of(&value->s, arena);
      return proto->placeholder != NULL ? NULL : rheos__out_of_memory();
    default:
      proto->value_case = TENSORFLOW__ATTR_VALUE__VALUE_LIST;
      proto->list = rheos__arena_alloc(arena, sizeof *proto->list);
      if (proto->list == NULL) return rheos__out_of_memory();
      tensorflow__attr_value__list_value__init(proto->list);
      return list_to_proto(value, arena, proto->list);
  }
}

rheos_status *rheos__attr_to_proto(const rheos_attr_value *value, rheos__arena *arena,
                                   Tensorflow__AttrValue **out_proto) {
  *out_proto = NULL;
  Tensorflow__AttrValue *proto = rheos__arena_alloc(arena, sizeof *proto);
  if (proto == NULL) return rheos__out_of_memory();
  tensorflow__attr_value__init(proto);
  RHEOS_TRY(fill_proto(value, arena, proto));
  *out_proto = proto;
  return NULL;
}

// ---- From messages

static rheos_string string_of(const ProtobufCBinaryData *binary) {
  return (rheos_string){(char *)binary->data, binary->len};
}

static rheos_string name_of(char *text) { return (rheos_string){text, strlen(text)}; }

static rheos_status *type_from_proto(int64_t number, rheos_dtype *out_type) {
  int64_t base = number > RHEOS_REF ? number - RHEOS_REF : number;
  RHEOS_TRY(rheos__dtype_from_proto(base, out_type));
  *out_type = (rheos_dtype)number;
  return NULL;
}

// Tensors read so far are counted in value->count, so that they can be given back.
static rheos_status *tensors_from_proto(const Tensorflow__AttrValue__ListValue *list,
                                        rheos__arena *arena, rheos_attr_value *value) {
  rheos_tensor **tensors = rheos__arena_alloc(arena, list->n_tensor * sizeof *tensors);
  if (tensors == NULL) return rheos__out_of_memory();
  value->tensors = tensors;
  value->kind = RHEOS_ATTR_LIST_TENSOR;
  for (value->count = 0; (size_t)value->count < list->n_tensor; value->count++) {
    rheos_status *status =
        rheos__tensor_from_proto(list->tensor[value->count], &tensors[value->count]);
    if (status == NULL) continue;
    rheos__attr_release(value);
    return status;
  }
  return NULL;
}

static rheos_status *read_value(const Tensorflow__AttrValue *proto, rheos__arena *arena,
                                rheos_attr_value *out_value);

// Attributes with values that cannot be read here are left out: see keep_original().
static rheos_status *func_from_proto(const Tensorflow__NameAttrList *proto, rheos__arena *arena,
                                     rheos_func *out_func) {
  rheos_attr *attrs = rheos__arena_alloc(arena, proto->n_attr * sizeof *attrs);
  if (attrs == NULL) return rheos__out_of_memory();
  *out_func = (rheos_func){.name = name_of(proto->name), .attrs = attrs};
  for (size_t i = 0; i < proto->n_attr; i++) {
    rheos_attr *attr = &attrs[out_func->num_attrs];
    attr->name = proto->attr[i]->key;
    rheos_status *status = read_value(proto->attr[i]->value, arena, &attr->value);
    if (status == NULL) {
      out_func->num_attrs++;
    } else if (rheos_status_code(status) == RHEOS_RESOURCE_EXHAUSTED) {
      rheos__attr_release(&(rheos_attr_value){.kind = RHEOS_ATTR_FUNC, .func = out_func});
      return status;
    } else {
      rheos_status_free(status);
    }
  }
  return NULL;
}

static rheos_status *funcs_from_proto(Tensorflow__NameAttrList *const *protos, size_t count,
                                      rheos__arena *arena, rheos_attr_value *value) {
  rheos_func *funcs = rheos__arena_alloc(arena, count * sizeof *funcs);
  if (funcs == NULL) return rheos__out_of_memory();
  if (count > INT32_MAX) return RHEOS_INVALID("a list of %zu values", count);
  value->kind = RHEOS_ATTR_LIST_FUNC;
  value->funcs = funcs;
  for (value->count = 0; (size_t)value->count < count; value->count++) {
    rheos_status *status = func_from_proto(protos[value->count], arena, &funcs[value->count]);
    if (status == NULL) continue;
    rheos__attr_release(value);
    return status;
  }
  return NULL;
}

// Keeps the message's bytes with the function, to be written again, if what would be written for
// the function's name and attributes differs: the message has values or fields that cannot be read
// here.
static rheos_status *keep_original(const Tensorflow__NameAttrList *proto, rheos__arena *arena,
                                   rheos_func *func) {
  Tensorflow__NameAttrList *written;
  RHEOS_TRY(func_to_proto(func, arena, &written));
  const size_t size_bytes = protobuf_c_message_get_packed_size(&proto->base);
  const size_t written_bytes = protobuf_c_message_get_packed_size(&written->base);
  uint8_t *bytes = rheos__arena_alloc(arena, size_bytes);
  uint8_t *other = rheos__arena_alloc(arena, written_bytes);
  if (bytes == NULL || other == NULL) return rheos__out_of_memory();
  protobuf_c_message_pack(&proto->base, bytes);
  protobuf_c_message_pack(&written->base, other);
  if (size_bytes != written_bytes || memcmp(bytes, other, size_bytes) != 0) {
    func->original_ = (rheos_string){(char *)bytes, size_bytes};
  }
  return NULL;
}

static rheos_status *keep_originals(const Tensorflow__AttrValue *proto, rheos__arena *arena,
                                    const rheos_attr_value *value) {
  if (value->kind == RHEOS_ATTR_FUNC) {
    return keep_original(proto->func, arena, (rheos_func *)(uintptr_t)value->func);
  }
  for (int32_t i = 0; value->kind == RHEOS_ATTR_LIST_FUNC && i < value->count; i++) {
    RHEOS_TRY(
        keep_original(proto->list->func[i], arena, (rheos_func *)(uintptr_t)&value->funcs[i]));
  }
  return NULL;
}

// Goes through proto's LIST with index i, storing into a new array `to` of `type`, which becomes
// the value's FIELD.
#define LIST(list_kind, list, type, field)                                    \
  size_t count = proto->n_##list;                                             \
  type *to = rheos__arena_alloc(arena, count * sizeof *to);                   \
  if (to == NULL) return rheos__out_of_memory();                              \
  if (count > INT32_MAX) return RHEOS_INVALID("a list of %zu values", count); \
  value->kind = list_kind;                                                    \
  value->count = (int32_t)count;                                              \
  value->field = to;                                                          \
  for (size_t i = 0; i < count; i++)

// A list has elements of one kind; an empty one could be of any, here it is of strings.
static rheos_status *list_from_proto(const Tensorflow__AttrValue__ListValue *proto,
                                     rheos__arena *arena, rheos_attr_value *value) {
  if (proto->n_i > 0) {
    LIST(RHEOS_ATTR_LIST_INT, i, int64_t, ints) to[i] = proto->i[i];
  } else if (proto->n_f > 0) {
    LIST(RHEOS_ATTR_LIST_FLOAT, f, float, floats) to[i] = proto->f[i];
  } else if (proto->n_b > 0) {
    LIST(RHEOS_ATTR_LIST_BOOL, b, bool, bools) to[i] = proto->b[i] != 0;
  } else if (proto->n_type > 0) {
    LIST(RHEOS_ATTR_LIST_TYPE, type, rheos_dtype, types) {
      RHEOS_TRY(type_from_proto(proto->type[i], &to[i]));
    }
  } else if (proto->n_shape > 0) {
    LIST(RHEOS_ATTR_LIST_SHAPE, shape, rheos_shape, shapes) {
      RHEOS_TRY(rheos__shape_from_proto(proto->shape[i], &to[i]));
    }
  } else if (proto->n_func > 0) {
    return funcs_from_proto(proto->func, proto->n_func, arena, value);
  } else if (proto->n_tensor > 0) {
    return tensors_from_proto(proto, arena, value);
  } else {
    LIST(RHEOS_ATTR_LIST_STRING, s, rheos_string, strings) to[i] = string_of(&proto->s[i]);
  }
  return NULL;
}

static rheos_status *fill_value(const Tensorflow__AttrValue *proto, rheos__arena *arena,
                                rheos_attr_value *value) {
  switch (proto->value_case) {
    case TENSORFLOW__ATTR_VALUE__VALUE_S:
      value->kind = RHEOS_ATTR_STRING;
      value->s = string_of(&proto->s);
      return NULL;
    case TENSORFLOW__ATTR_VALUE__VALUE_I:
      value->kind = RHEOS_ATTR_INT;
      value->i = proto->i;
      return NULL;
    case TENSORFLOW__ATTR_VALUE__VALUE_F:
      value->kind = RHEOS_ATTR_FLOAT;
      value->f = proto->f;
      return NULL;
    case TENSORFLOW__ATTR_VALUE__VALUE_B:
      value->kind = RHEOS_ATTR_BOOL;
      value->b = proto->b != 0;
      return NULL;
    case TENSORFLOW__ATTR_VALUE__VALUE_TYPE:
      value->kind = RHEOS_ATTR_TYPE;
      return type_from_proto(proto->type, &value->type);
    case TENSORFLOW__ATTR_VALUE__VALUE_SHAPE: {
      rheos_shape *shape = rheos__arena_alloc(arena, sizeof *shape);
      if (shape == NULL) return rheos__out_of_memory();
      value->kind = RHEOS_ATTR_SHAPE;
      value->shape = shape;
      return rheos__shape_from_proto(proto->shape, shape);
    }
    case TENSORFLOW__ATTR_VALUE__VALUE_TENSOR:
      RHEOS_TRY(rheos__tensor_from_proto(proto->tensor, &value->tensor));
      value->kind = RHEOS_ATTR_TENSOR;
      return NULL;
    case TENSORFLOW__ATTR_VALUE__VALUE_FUNC: {
      rheos_func *func = rheos__arena_alloc(arena, sizeof *func);
      if (func == NULL) return rheos__out_of_memory();
      RHEOS_TRY(func_from_proto(proto->func, arena, func));
      value->kind = RHEOS_ATTR_FUNC;
      value->func = func;
      return NULL;
    }
    case TENSORFLOW__ATTR_VALUE__VALUE_PLACEHOLDER:
      value->kind = RHEOS_ATTR_PLACEHOLDER;
      value->s = name_of(proto->placeholder);
      return NULL;
    case TENSORFLOW__ATTR_VALUE__VALUE_LIST: return list_from_proto(proto->list, arena, value);
    default: return RHEOS_INVALID("it has no value");
  }
}

static rheos_status *read_value(const Tensorflow__AttrValue *proto, rheos__arena *arena,
                                rheos_attr_value *out_value) {
  *out_value = (rheos_attr_value){.kind = RHEOS_ATTR_NONE};
  if (proto == NULL) return RHEOS_INVALID("it has no value");
  rheos_attr_value value = *out_value;
  RHEOS_TRY(fill_value(proto, arena, &value));
  *out_value = value;
  return NULL;
}

rheos_status *rheos__attr_from_proto(const Tensorflow__AttrValue *proto, rheos__arena *arena,
                                     rheos_attr_value *out_value) {
  RHEOS_TRY(read_value(proto, arena, out_value));
  rheos_status *status = keep_originals(proto, arena, out_value);
  if (status == NULL) return NULL;
  rheos__attr_release(out_value);
  *out_value = (rheos_attr_value){.kind = RHEOS_ATTR_NONE};
  return status;
}
