// The arguments of an op as the fields of a struct: where they are, and a node made of them.
#include "graph/op_args.h"

#include <string.h>

#include "base/alloc.h"
#include "base/options.h"
#include "graph/handles.h"

// ---- Fields

typedef struct field_layout {
  size_t size_bytes, alignment_bytes;
} field_layout;

static const field_layout layouts[] = {[RHEOS__FIELD_NONE] = {0, 1},
#define LAYOUT(kind, type, count_type) \
  [RHEOS__FIELD_##                     \
      kind] = {sizeof(type) + (sizeof(count_type) > 1 ? sizeof(count_type) : 0), _Alignof(type)},
                                       RHEOS__OP_FIELDS(LAYOUT)
#undef LAYOUT
};

static bool is_list(const rheos__arg *arg) {
  return arg->number_attr >= 0 || arg->type_list_attr >= 0;
}

static bool is_inferred(const rheos__signature *s, int32_t attr) {
  for (int32_t i = 0; i < s->num_inputs; i++) {
    const rheos__arg *input = &s->inputs[i];
    if (input->type_attr == attr || input->number_attr == attr || input->type_list_attr == attr) {
      return true;
    }
  }
  return false;
}

// NONE for kinds that structs do not carry.
static rheos__op_field_kind kind_of_attr(const rheos__attr_def *attr) {
  const rheos_attr_value *value = attr->has_default ? &attr->default_value : NULL;
  switch (attr->kind) {
    case RHEOS_ATTR_INT:
      return value != NULL && value->i != 0 ? RHEOS__FIELD_OPTIONAL_INT : RHEOS__FIELD_INT;
    case RHEOS_ATTR_FLOAT:
      return value != NULL && value->f != 0 ? RHEOS__FIELD_OPTIONAL_FLOAT : RHEOS__FIELD_FLOAT;
    case RHEOS_ATTR_BOOL:
      return value != NULL && value->b ? RHEOS__FIELD_NOT_BOOL : RHEOS__FIELD_BOOL;
    case RHEOS_ATTR_TYPE: return RHEOS__FIELD_DTYPE;
    case RHEOS_ATTR_STRING: return RHEOS__FIELD_TEXT;
    case RHEOS_ATTR_SHAPE: return RHEOS__FIELD_SHAPE;
    case RHEOS_ATTR_TENSOR: return RHEOS__FIELD_TENSOR;
    case RHEOS_ATTR_LIST_STRING: return RHEOS__FIELD_LIST_STRING;
    case RHEOS_ATTR_LIST_INT: return RHEOS__FIELD_LIST_INT;
    case RHEOS_ATTR_LIST_FLOAT: return RHEOS__FIELD_LIST_FLOAT;
    case RHEOS_ATTR_LIST_BOOL: return RHEOS__FIELD_LIST_BOOL;
    case RHEOS_ATTR_LIST_TYPE: return RHEOS__FIELD_LIST_TYPE;
    case RHEOS_ATTR_LIST_SHAPE: return RHEOS__FIELD_LIST_SHAPE;
    default: return RHEOS__FIELD_NONE;
  }
}

// The field of the first attribute from `attr` on that has a default, or has none; past the last
// one `index` is the number of attributes.
static rheos__op_field attr_field(const rheos__signature *s, int32_t attr, bool has_default) {
  for (; attr < s->num_attrs; attr++) {
    if (s->attrs[attr].has_default != has_default || is_inferred(s, attr)) continue;
    rheos__op_field_kind kind = kind_of_attr(&s->attrs[attr]);
    if (kind != RHEOS__FIELD_NONE) return (rheos__op_field){.kind = kind, .index = attr};
  }
  return (rheos__op_field){.index = attr};
}

// What comes after `field`, without its place.
static rheos__op_field following(const rheos__signature *s, const rheos__op_field *field) {
  bool is_input = field->kind <= RHEOS__FIELD_INPUTS;
  if (field->kind == RHEOS__FIELD_NAME) return (rheos__op_field){.kind = RHEOS__FIELD_NONE};
  if (field->kind == RHEOS__FIELD_END) return (rheos__op_field){.kind = RHEOS__FIELD_NAME};
  if (is_input) {
    int32_t input = field->kind == RHEOS__FIELD_NONE ? 0 : field->index + 1;
    if (input < s->num_inputs) {
      return (rheos__op_field){
          .kind = is_list(&s->inputs[input]) ? RHEOS__FIELD_INPUTS : RHEOS__FIELD_INPUT,
          .index = input};
    }
  }
  bool is_required = is_input || !s->attrs[field->index].has_default;
  int32_t attr = is_input ? 0 : field->index + 1;
  rheos__op_field next = attr_field(s, attr, !is_required);
  if (next.kind == RHEOS__FIELD_NONE && is_required) next = attr_field(s, 0, true);
  if (next.kind == RHEOS__FIELD_NONE) next.kind = RHEOS__FIELD_END;
  return next;
}

static size_t aligned(size_t offset, size_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

bool rheos__next_op_field(const rheos__signature *signature, rheos__op_field *field) {
  size_t end = field->offset_bytes + field->size_bytes;
  *field = following(signature, field);
  field->size_bytes = layouts[field->kind].size_bytes;
  field->offset_bytes = aligned(end, layouts[field->kind].alignment_bytes);
  return field->kind != RHEOS__FIELD_NONE;
}

// The name, a pointer, is the last field, and no other needs a stricter alignment: nothing is
// padded behind it.
size_t rheos__op_args_bytes(const rheos__signature *signature) {
  rheos__op_field field = {.kind = RHEOS__FIELD_NONE};
  while (field.kind != RHEOS__FIELD_NAME) rheos__next_op_field(signature, &field);
  return field.offset_bytes + field.size_bytes;
}

// ---- A node

// The value that the field at `at` gives to its attribute; kind NONE if it gives none.
static rheos_attr_value value_of_field(const rheos__attr_def *attr, rheos__op_field_kind kind,
                                       const void *at) {
  rheos_attr_value value = {.kind = RHEOS_ATTR_NONE};
  bool given = !attr->has_default;
  switch (kind) {
    case RHEOS__FIELD_INT:
      value.i = *(const int64_t *)at;
      given |= value.i != 0;
      break;
    case RHEOS__FIELD_OPTIONAL_INT: {
      const rheos_optional_int *number = at;
      value.i = number->value;
      given |= number->given || number->value != 0;
      break;
    }
    case RHEOS__FIELD_FLOAT:
      value.f = *(const float *)at;
      given |= value.f != 0;
      break;
    case RHEOS__FIELD_OPTIONAL_FLOAT: {
      const rheos_optional_float *number = at;
      value.f = number->value;
      given |= number->given || number->value != 0;
      break;
    }
    case RHEOS__FIELD_BOOL:
      value.b = *(const bool *)at;
      given |= value.b;
      break;
    case RHEOS__FIELD_NOT_BOOL:
      value.b = !*(const bool *)at;
      given |= !value.b;
      break;
    case RHEOS__FIELD_DTYPE:
      value.type = *(const rheos_dtype *)at;
      given = value.type != RHEOS_INVALID_DTYPE;
      break;
    case RHEOS__FIELD_TEXT: {
      const char *text = *(const char *const *)at;
      given = text != NULL;
      if (given) value.s = rheos__borrow_string(text, strlen(text));
      break;
    }
    default: {
      // A pointer, and of a list the count behind it.
      memcpy(&value.ints, at, sizeof value.ints);
      const bool counted = kind >= RHEOS__FIELD_LIST_STRING;
      if (counted) value.count = *(const int32_t *)((const char *)at + sizeof value.ints);
      given = value.ints != NULL || (counted && !attr->has_default);
    }
  }
  if (given) value.kind = attr->kind;
  return value;
}

// Copies the inputs of all fields, one after the other, to `inputs` (NULL: only counts them).
static size_t join_inputs(const rheos__signature *s, const char *args, rheos_output *inputs) {
  size_t total = 0;
  rheos__op_field field = {.kind = RHEOS__FIELD_NONE};
  while (rheos__next_op_field(s, &field) && field.kind <= RHEOS__FIELD_INPUTS) {
    const void *at = args + field.offset_bytes;
    const rheos_output *from = at;
    size_t count = 1;
    if (field.kind == RHEOS__FIELD_INPUTS) {
      from = *(const rheos_output *const *)at;
      count = *(const size_t *)((const char *)at + sizeof from);
    }
    if (inputs != NULL && count != 0) memcpy(inputs + total, from, count * sizeof *inputs);
    total += count;
  }
  return total;
}

static bool has_lists(const rheos__signature *s) {
  for (int32_t i = 0; i < s->num_inputs; i++) {
    if (is_list(&s->inputs[i])) return true;
  }
  return false;
}

static rheos_operation add_node(rheos_scope *scope, const rheos__signature *s, const char *args,
                                size_t args_bytes) {
  rheos_attr attrs[RHEOS__MAX_SIGNATURE_ITEMS];
  rheos_op_args node = {.type = s->op->name, .attrs = attrs};
  rheos__op_field field = {.kind = RHEOS__FIELD_NONE};
  while (rheos__next_op_field(s, &field) && field.offset_bytes + field.size_bytes <= args_bytes) {
    const void *at = args + field.offset_bytes;
    if (field.kind == RHEOS__FIELD_NAME) node.name = *(const char *const *)at;
    if (field.kind <= RHEOS__FIELD_INPUTS || field.kind >= RHEOS__FIELD_END) continue;
    const rheos__attr_def *attr = &s->attrs[field.index];
    rheos_attr_value value = value_of_field(attr, field.kind, at);
    if (value.kind != RHEOS_ATTR_NONE) attrs[node.num_attrs++] = (rheos_attr){attr->name, value};
  }
  if (!has_lists(s)) {  // the inputs are the first fields, one after the other
    node.inputs = (const rheos_output *)(const void *)args;
    node.num_inputs = (size_t)s->num_inputs;
    return rheos_op(scope, &node);
  }
  node.num_inputs = join_inputs(s, args, NULL);
  rheos_output *inputs = rheos__alloc_array(node.num_inputs, sizeof *inputs);
  if (inputs == NULL) {
    rheos_scope_fail_take(scope, rheos__out_of_memory());
    return (rheos_operation){NULL, 0};
  }
  join_inputs(s, args, inputs);
  node.inputs = inputs;
  rheos_operation operation = rheos_op(scope, &node);
  rheos__free(inputs);
  return operation;
}

rheos_operation rheos_op_from_struct(rheos_scope *scope, const char *type, const void *args,
                                     size_t args_bytes) {
  if (!rheos__scope_goes_on(scope, RHEOS_LIST_STATUS((const char *)args, args_bytes))) {
    return (rheos_operation){NULL, 0};
  }
  const rheos__signature *signature = type != NULL ? rheos__signature_by_name(type) : NULL;
  if (signature == NULL) return rheos_op(scope, &(rheos_op_args){.type = type});  // which says so
  rheos_status *status =
      rheos__check_options(type, args, args_bytes, rheos__op_args_bytes(signature));
  if (status == NULL) return add_node(scope, signature, args, args_bytes);
  rheos_scope_fail_take(scope, status);
  return (rheos_operation){NULL, 0};
}
