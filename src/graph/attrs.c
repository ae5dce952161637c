// Attribute sets, kept once for all nodes that have the same, and the getters of op_def.h.
#include "graph/op_def.h"

#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "graph/graph_impl.h"

// ---- Getters

const rheos_attr_value *rheos__attrs_find(const rheos__attrs *attrs, const char *name) {
  if (attrs == NULL) return NULL;
  for (int32_t i = 0; i < attrs->count; i++) {
    if (attrs->items[i].name == name || strcmp(attrs->items[i].name, name) == 0) {
      return &attrs->items[i].value;
    }
  }
  return NULL;
}

static const rheos_attr_value *find_kind(const rheos__attrs *attrs, const char *name,
                                         rheos_attr_kind kind) {
  const rheos_attr_value *value = rheos__attrs_find(attrs, name);
  bool fits = value != NULL && value->kind == kind;
  assert(fits && "the signature guarantees this attribute");
  return fits ? value : NULL;
}

int64_t rheos__attr_int(const rheos__attrs *attrs, const char *name) {
  const rheos_attr_value *value = find_kind(attrs, name, RHEOS_ATTR_INT);
  return value != NULL ? value->i : 0;
}

float rheos__attr_float(const rheos__attrs *attrs, const char *name) {
  const rheos_attr_value *value = find_kind(attrs, name, RHEOS_ATTR_FLOAT);
  return value != NULL ? value->f : 0;
}

bool rheos__attr_bool(const rheos__attrs *attrs, const char *name) {
  const rheos_attr_value *value = find_kind(attrs, name, RHEOS_ATTR_BOOL);
  return value != NULL && value->b;
}

rheos_dtype rheos__attr_type(const rheos__attrs *attrs, const char *name) {
  const rheos_attr_value *value = find_kind(attrs, name, RHEOS_ATTR_TYPE);
  return value != NULL ? value->type : RHEOS_INVALID_DTYPE;
}

rheos_shape rheos__attr_shape(const rheos__attrs *attrs, const char *name) {
  const rheos_attr_value *value = find_kind(attrs, name, RHEOS_ATTR_SHAPE);
  return value != NULL ? *value->shape : RHEOS_UNKNOWN_SHAPE;
}

const char *rheos__attr_string(const rheos__attrs *attrs, const char *name) {
  const rheos_attr_value *value = find_kind(attrs, name, RHEOS_ATTR_STRING);
  return value != NULL && value->s.data != NULL ? value->s.data : "";
}

// ---- Hashing and comparing by value

enum { SMALL_TENSOR_BYTES = 64 };

static bool by_content(const rheos_tensor *tensor) {
  return tensor->size_bytes <= SMALL_TENSOR_BYTES && tensor->memory == NULL;
}

static uint64_t hash_string(uint64_t hash, const rheos_string *string) {
  if (string->size_bytes == 0) return rheos__hash_mix(hash, 0);
  return rheos__hash_bytes(hash, string->data, string->size_bytes);
}

static uint64_t hash_shape(uint64_t hash, const rheos_shape *shape) {
  hash = rheos__hash_mix(hash, (uint64_t)(int64_t)shape->rank);
  for (int32_t i = 0; i < shape->rank; i++) {
    hash = rheos__hash_mix(hash, (uint64_t)shape->dims[i]);
  }
  return hash;
}

static uint64_t hash_tensor(uint64_t hash, const rheos_tensor *tensor) {
  if (!by_content(tensor)) return rheos__hash_mix(hash, (uint64_t)(uintptr_t)tensor);
  hash = hash_shape(rheos__hash_mix(hash, (uint64_t)tensor->dtype), &tensor->shape);
  if (tensor->dtype != RHEOS_STRING) {
    return rheos__hash_bytes(hash, tensor->data, tensor->size_bytes);
  }
  for (int64_t i = 0; i < tensor->num_elements; i++) {
    hash = hash_string(hash, (const rheos_string *)tensor->data + i);
  }
  return hash;
}

static bool same_tensor(const rheos_tensor *a, const rheos_tensor *b) {
  if (a == b) return true;
  if (!by_content(a) || !by_content(b) || a->dtype != b->dtype || a->listed != b->listed ||
      !rheos_shape_equal(&a->shape, &b->shape)) {
    return false;
  }
  if (a->dtype != RHEOS_STRING) {
    return a->size_bytes == 0 || memcmp(a->data, b->data, a->size_bytes) == 0;
  }
  for (int64_t i = 0; i < a->num_elements; i++) {
    const rheos_string *x = a->data, *y = b->data;
    if (!rheos__string_equal(&x[i], &y[i])) return false;
  }
  return true;
}

// Bytes of an element of a list that is plain memory; 0 for shapes, strings and tensors.
static size_t plain_element_bytes(rheos_attr_kind kind) {
  switch (kind) {
    case RHEOS_ATTR_LIST_INT: return sizeof(int64_t);
    case RHEOS_ATTR_LIST_FLOAT: return sizeof(float);
    case RHEOS_ATTR_LIST_BOOL: return sizeof(bool);
    case RHEOS_ATTR_LIST_TYPE: return sizeof(rheos_dtype);
    default: return 0;
  }
}

static uint64_t hash_func(uint64_t hash, const rheos_func *func) {
  hash = hash_string(hash_string(hash, &func->name), &func->original_);
  hash = rheos__hash_mix(hash, func->num_attrs);
  for (size_t i = 0; i < func->num_attrs; i++) {
    hash = rheos__attr_hash(hash, &func->attrs[i]);
  }
  return hash;
}

static bool same_func(const rheos_func *a, const rheos_func *b) {
  if (!rheos__string_equal(&a->name, &b->name) ||
      !rheos__string_equal(&a->original_, &b->original_) || a->num_attrs != b->num_attrs) {
    return false;
  }
  for (size_t i = 0; i < a->num_attrs; i++) {
    if (strcmp(a->attrs[i].name, b->attrs[i].name) != 0 ||
        !rheos__attr_value_equal(&a->attrs[i].value, &b->attrs[i].value)) {
      return false;
    }
  }
  return true;
}

static uint64_t hash_list(uint64_t hash, const rheos_attr_value *value) {
  size_t plain_bytes = plain_element_bytes(value->kind);
  if (value->count == 0) return hash;
  if (plain_bytes != 0) {
    return rheos__hash_bytes(hash, value->ints, (size_t)value->count * plain_bytes);
  }
  for (int32_t i = 0; i < value->count; i++) {
    if (value->kind == RHEOS_ATTR_LIST_SHAPE) {
      hash = hash_shape(hash, &value->shapes[i]);
    } else if (value->kind == RHEOS_ATTR_LIST_TENSOR) {
      hash = hash_tensor(hash, value->tensors[i]);
    } else if (value->kind == RHEOS_ATTR_LIST_FUNC) {
      hash = hash_func(hash, &value->funcs[i]);
    } else {
      hash = hash_string(hash, &value->strings[i]);
    }
  }
  return hash;
}

static uint64_t hash_value(uint64_t hash, const rheos_attr_value *value) {
  hash = rheos__hash_mix(hash, (uint64_t)value->kind << 32 | (uint32_t)value->count);
  switch (value->kind) {
    case RHEOS_ATTR_NONE: return hash;
    case RHEOS_ATTR_INT: return rheos__hash_mix(hash, (uint64_t)value->i);
    case RHEOS_ATTR_FLOAT: return rheos__hash_bytes(hash, &value->f, sizeof value->f);
    case RHEOS_ATTR_BOOL: return rheos__hash_mix(hash, value->b);
    case RHEOS_ATTR_TYPE: return rheos__hash_mix(hash, (uint64_t)value->type);
    case RHEOS_ATTR_SHAPE: return hash_shape(hash, value->shape);
    case RHEOS_ATTR_TENSOR: return hash_tensor(hash, value->tensor);
    case RHEOS_ATTR_FUNC: return hash_func(hash, value->func);
    case RHEOS_ATTR_STRING:
    case RHEOS_ATTR_PLACEHOLDER: return hash_string(hash, &value->s);
    default: return hash_list(hash, value);
  }
}

uint64_t rheos__attr_hash(uint64_t hash, const rheos_attr *attr) {
  return hash_value(rheos__hash_bytes(hash, attr->name, strlen(attr->name)), &attr->value);
}

static bool same_list(const rheos_attr_value *a, const rheos_attr_value *b) {
  size_t plain_bytes = plain_element_bytes(a->kind);
  if (plain_bytes != 0) {
    return a->count == 0 || memcmp(a->ints, b->ints, (size_t)a->count * plain_bytes) == 0;
  }
  for (int32_t i = 0; i < a->count; i++) {
    bool same = a->kind == RHEOS_ATTR_LIST_SHAPE ? rheos_shape_equal(&a->shapes[i], &b->shapes[i])
                : a->kind == RHEOS_ATTR_LIST_TENSOR ? same_tensor(a->tensors[i], b->tensors[i])
                : a->kind == RHEOS_ATTR_LIST_FUNC
                    ? same_func(&a->funcs[i], &b->funcs[i])
                    : rheos__string_equal(&a->strings[i], &b->strings[i]);
    if (!same) return false;
  }
  return true;
}

bool rheos__attr_value_equal(const rheos_attr_value *a, const rheos_attr_value *b) {
  if (a->kind != b->kind || a->count != b->count) return false;
  switch (a->kind) {
    case RHEOS_ATTR_NONE: return true;
    case RHEOS_ATTR_INT: return a->i == b->i;
    case RHEOS_ATTR_FLOAT: return memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case RHEOS_ATTR_BOOL: return a->b == b->b;
    case RHEOS_ATTR_TYPE: return a->type == b->type;
    case RHEOS_ATTR_SHAPE: return rheos_shape_equal(a->shape, b->shape);
    case RHEOS_ATTR_TENSOR: return same_tensor(a->tensor, b->tensor);
    case RHEOS_ATTR_FUNC: return same_func(a->func, b->func);
    case RHEOS_ATTR_STRING:
    case RHEOS_ATTR_PLACEHOLDER: return rheos__string_equal(&a->s, &b->s);
    default: return same_list(a, b);
  }
}

// ---- Copies in the arena

static bool copy_string(rheos__arena *arena, rheos_string *string) {
  char *copy = rheos__arena_alloc(arena, string->size_bytes + 1);
  if (copy == NULL) return false;
  if (string->size_bytes != 0) memcpy(copy, string->data, string->size_bytes);
  copy[string->size_bytes] = '\0';
  string->data = copy;
  return true;
}

static bool copy_strings(rheos__arena *arena, rheos_attr_value *value) {
  rheos_string *copies =
      rheos__arena_copy(arena, value->strings, (size_t)value->count * sizeof *copies);
  if (copies == NULL) return false;
  value->strings = copies;
  for (int32_t i = 0; i < value->count; i++) {
    if (!copy_string(arena, &copies[i])) return false;
  }
  return true;
}

// A tensor to keep: counted, unless it is a view, or in another memory than the host's.
static rheos_tensor *keep_tensor(rheos_tensor *tensor) {
  if (tensor->memory == NULL &&
      atomic_load_explicit(&tensor->references, memory_order_relaxed) != 0) {
    return rheos_tensor_ref(tensor);
  }
  rheos_tensor *copy;
  rheos_status_free(rheos__tensor_copy_to(tensor, NULL, &copy));
  return copy;
}

static void release_func(const rheos_func *func) {
  for (size_t i = 0; i < func->num_attrs; i++) rheos__attr_release(&func->attrs[i].value);
}

void rheos__attr_release(const rheos_attr_value *value) {
  if (value->kind == RHEOS_ATTR_TENSOR) rheos_tensor_unref(value->tensor);
  if (value->kind == RHEOS_ATTR_FUNC) release_func(value->func);
  for (int32_t i = 0; i < value->count; i++) {
    if (value->kind == RHEOS_ATTR_LIST_TENSOR) rheos_tensor_unref(value->tensors[i]);
    if (value->kind == RHEOS_ATTR_LIST_FUNC) release_func(&value->funcs[i]);
  }
}

static bool copy_tensors(rheos__arena *arena, rheos_attr_value *value) {
  rheos_tensor **copies = rheos__arena_alloc(arena, (size_t)value->count * sizeof *copies);
  if (copies == NULL) return false;
  for (int32_t i = 0; i < value->count; i++) {
    copies[i] = keep_tensor(value->tensors[i]);
    if (copies[i] == NULL) {
      while (i-- > 0) rheos_tensor_unref(copies[i]);
      return false;
    }
  }
  value->tensors = copies;
  return true;
}

static bool copy_value(rheos__arena *arena, rheos_attr_value *value);

static bool copy_func(rheos__arena *arena, rheos_func *func) {
  rheos_string name = {.data = NULL};
  rheos_attr *attrs = rheos__arena_copy(arena, func->attrs, func->num_attrs * sizeof *attrs);
  if (attrs == NULL || !copy_string(arena, &func->name) || !copy_string(arena, &func->original_)) {
    return false;
  }
  const size_t count = func->num_attrs;
  func->attrs = attrs;
  for (func->num_attrs = 0; func->num_attrs < count; func->num_attrs++) {
    rheos_attr *attr = &attrs[func->num_attrs];
    name = (rheos_string){(char *)(uintptr_t)attr->name, strlen(attr->name)};
    if (!copy_string(arena, &name) || !copy_value(arena, &attr->value)) {
      release_func(func);
      return false;
    }
    attr->name = name.data;
  }
  return true;
}

static bool copy_funcs(rheos__arena *arena, rheos_attr_value *value) {
  rheos_func *copies =
      rheos__arena_copy(arena, value->funcs, (size_t)value->count * sizeof *copies);
  if (copies == NULL) return false;
  for (int32_t i = 0; i < value->count; i++) {
    if (copy_func(arena, &copies[i])) continue;
    while (i-- > 0) release_func(&copies[i]);
    return false;
  }
  value->funcs = copies;
  return true;
}

// Makes the value independent of the caller's memory. False: memory is short, nothing is held.
static bool copy_value(rheos__arena *arena, rheos_attr_value *value) {
  switch (value->kind) {
    case RHEOS_ATTR_SHAPE:
      value->shape = rheos__arena_copy(arena, value->shape, sizeof *value->shape);
      return value->shape != NULL;
    case RHEOS_ATTR_TENSOR:
      value->tensor = keep_tensor(value->tensor);
      return value->tensor != NULL;
    case RHEOS_ATTR_FUNC: {
      rheos_func *func = rheos__arena_copy(arena, value->func, sizeof *func);
      value->func = func;
      return func != NULL && copy_func(arena, func);
    }
    case RHEOS_ATTR_LIST_FUNC: return copy_funcs(arena, value);
    case RHEOS_ATTR_STRING:
    case RHEOS_ATTR_PLACEHOLDER: return copy_string(arena, &value->s);
    case RHEOS_ATTR_LIST_STRING: return copy_strings(arena, value);
    case RHEOS_ATTR_LIST_TENSOR: return copy_tensors(arena, value);
    case RHEOS_ATTR_LIST_SHAPE:
      value->shapes =
          rheos__arena_copy(arena, value->shapes, (size_t)value->count * sizeof *value->shapes);
      return value->shapes != NULL;
    default:
      if (plain_element_bytes(value->kind) == 0) return true;
      value->ints = rheos__arena_copy(arena, value->ints,
                                      (size_t)value->count * plain_element_bytes(value->kind));
      return value->ints != NULL;
  }
}

// ---- Interning

typedef struct attr_items {
  const rheos_attr *items;
  int32_t count;
  uint64_t hash;
} attr_items;

static uint64_t hash_of_attrs(const void *candidate) {
  return ((const rheos__attrs *)candidate)->hash;
}

static bool same_attrs(const void *candidate, const void *wanted) {
  const rheos__attrs *attrs = candidate;
  const attr_items *items = wanted;
  if (attrs->hash != items->hash || attrs->count != items->count) return false;
  for (int32_t i = 0; i < attrs->count; i++) {
    if (attrs->items[i].name != items->items[i].name ||
        !rheos__attr_value_equal(&attrs->items[i].value, &items->items[i].value)) {
      return false;
    }
  }
  return true;
}

void rheos__attrs_release(const rheos__attrs *attrs) {
  for (int32_t i = 0; i < attrs->count; i++) rheos__attr_release(&attrs->items[i].value);
}

static rheos__attrs *copy_attrs(rheos__arena *arena, const attr_items *items) {
  size_t items_bytes = (size_t)items->count * sizeof(rheos_attr);
  rheos__attrs *attrs = rheos__arena_alloc(arena, sizeof *attrs + items_bytes);
  if (attrs == NULL) return NULL;
  attrs->hash = items->hash;
  for (attrs->count = 0; attrs->count < items->count; attrs->count++) {
    rheos_attr *attr = &attrs->items[attrs->count];
    *attr = items->items[attrs->count];
    if (!copy_value(arena, &attr->value)) {
      rheos__attrs_release(attrs);
      return NULL;
    }
  }
  return attrs;
}

const rheos__attrs *rheos__intern_attrs(rheos_graph *graph, const rheos_attr *items,
                                        int32_t count) {
  attr_items wanted = {items, count, (uint64_t)count};
  for (int32_t i = 0; i < count; i++) {
    wanted.hash = rheos__hash_mix(wanted.hash, (uint64_t)(uintptr_t)items[i].name);
    wanted.hash = hash_value(wanted.hash, &items[i].value);
  }
  const void **slot =
      rheos__intern_slot(&graph->attr_sets, wanted.hash, same_attrs, hash_of_attrs, &wanted);
  if (slot == NULL) return NULL;
  if (*slot == NULL) {
    *slot = copy_attrs(&graph->arena, &wanted);
    graph->attr_sets.count += *slot != NULL;
  }
  return *slot;
}
