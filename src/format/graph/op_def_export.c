// Definitions of ops as OpDef messages, for files that say how their writer knew the ops, and for
// programs that ask.
#include <rheos/format.h>

#include "format/graph/graph_def.h"
#include "graph/near_op.h"

static const char *const single_kinds[] = {
    [RHEOS_ATTR_STRING] = "string", [RHEOS_ATTR_INT] = "int",   [RHEOS_ATTR_FLOAT] = "float",
    [RHEOS_ATTR_BOOL] = "bool",     [RHEOS_ATTR_TYPE] = "type", [RHEOS_ATTR_SHAPE] = "shape",
    [RHEOS_ATTR_TENSOR] = "tensor", [RHEOS_ATTR_FUNC] = "func",
};

static const char *list_kind(rheos_attr_kind kind) {
  switch (kind) {
    case RHEOS_ATTR_LIST_STRING: return "list(string)";
    case RHEOS_ATTR_LIST_INT: return "list(int)";
    case RHEOS_ATTR_LIST_FLOAT: return "list(float)";
    case RHEOS_ATTR_LIST_BOOL: return "list(bool)";
    case RHEOS_ATTR_LIST_TYPE: return "list(type)";
    case RHEOS_ATTR_LIST_SHAPE: return "list(shape)";
    case RHEOS_ATTR_LIST_TENSOR: return "list(tensor)";
    default: return "list(func)";
  }
}

static char *kind_text(rheos_attr_kind kind) {
  const bool is_single =
      (size_t)kind < sizeof single_kinds / sizeof single_kinds[0] && single_kinds[kind] != NULL;
  return (char *)(uintptr_t)(is_single ? single_kinds[kind] : list_kind(kind));
}

static Tensorflow__OpDef__ArgDef **args_to_proto(const rheos__signature *signature,
                                                 const rheos__arg *args, int32_t count,
                                                 rheos__arena *arena) {
  const size_t n = (size_t)count;
  Tensorflow__OpDef__ArgDef *protos = rheos__arena_alloc(arena, n * sizeof *protos);
  Tensorflow__OpDef__ArgDef **list = rheos__arena_alloc(arena, n * sizeof *list);
  if (protos == NULL || list == NULL) return NULL;
  for (size_t i = 0; i < n; i++) {
    const rheos__arg *arg = &args[i];
    tensorflow__op_def__arg_def__init(&protos[i]);
    protos[i].name = (char *)(uintptr_t)arg->name;
    protos[i].is_ref = arg->is_ref;
    const struct {
      int16_t attr;
      char **name;
    } names[] = {{arg->type_attr, &protos[i].type_attr},
                 {arg->number_attr, &protos[i].number_attr},
                 {arg->type_list_attr, &protos[i].type_list_attr}};
    for (int k = 0; k < 3; k++) {
      if (names[k].attr < 0) continue;
      *names[k].name = (char *)(uintptr_t)signature->attrs[names[k].attr].name;
    }
    if (arg->type_attr < 0 && arg->type_list_attr < 0) {
      protos[i].type = (Tensorflow__DataType)arg->dtype;
    }
    list[i] = &protos[i];
  }
  return list;
}

// The types or strings that the attribute may be, as a list; NULL without an error if any will do.
static rheos_status *allowed_to_proto(const rheos__attr_def *attr, rheos__arena *arena,
                                      Tensorflow__AttrValue **out_proto) {
  *out_proto = NULL;
  rheos_dtype types[64];
  rheos_string strings[64];
  rheos_attr_value value = {.kind = RHEOS_ATTR_LIST_TYPE, .types = types};
  for (int i = 0; i < 64 && attr->allowed_strings == NULL; i++) {
    if (attr->allowed_types >> i & 1) types[value.count++] = (rheos_dtype)i;
  }
  if (attr->allowed_strings != NULL) {
    value = (rheos_attr_value){.kind = RHEOS_ATTR_LIST_STRING, .strings = strings};
    for (; value.count < 64 && attr->allowed_strings[value.count] != NULL; value.count++) {
      const char *text = attr->allowed_strings[value.count];
      strings[value.count] = rheos__borrow_string(text, strlen(text));
    }
  }
  return value.count > 0 ? rheos__attr_to_proto(&value, arena, out_proto) : NULL;
}

static rheos_status *attr_def_to_proto(const rheos__attr_def *attr, rheos__arena *arena,
                                       Tensorflow__OpDef__AttrDef *proto) {
  tensorflow__op_def__attr_def__init(proto);
  proto->name = (char *)(uintptr_t)attr->name;
  proto->type = kind_text(attr->kind);
  proto->has_minimum = attr->has_minimum;
  proto->minimum = attr->minimum;
  if (attr->has_default) {
    RHEOS_TRY(rheos__attr_to_proto(&attr->default_value, arena, &proto->default_value));
  }
  return allowed_to_proto(attr, arena, &proto->allowed_values);
}

static rheos_status *fill_op_def(const rheos__signature *signature, rheos__arena *arena,
                                 Tensorflow__OpDef *proto) {
  const rheos__op_def *op = signature->op;
  const size_t num_attrs = (size_t)signature->num_attrs;
  Tensorflow__OpDef__AttrDef *attrs = rheos__arena_alloc(arena, num_attrs * sizeof *attrs);
  tensorflow__op_def__init(proto);
  proto->name = (char *)(uintptr_t)op->name;
  proto->is_stateful = (op->flags & RHEOS_OP_STATEFUL) != 0;
  proto->is_commutative = (op->flags & RHEOS_OP_COMMUTATIVE) != 0;
  proto->is_aggregate = (op->flags & RHEOS_OP_AGGREGATE) != 0;
  proto->allows_uninitialized_input = (op->flags & RHEOS_OP_TAKES_UNINITIALIZED) != 0;
  proto->n_input_arg = (size_t)signature->num_inputs;
  proto->n_output_arg = (size_t)signature->num_outputs;
  proto->input_arg = args_to_proto(signature, signature->inputs, signature->num_inputs, arena);
  proto->output_arg = args_to_proto(signature, signature->outputs, signature->num_outputs, arena);
  proto->attr = rheos__arena_alloc(arena, num_attrs * sizeof *proto->attr);
  if (attrs == NULL || proto->attr == NULL || proto->input_arg == NULL ||
      proto->output_arg == NULL) {
    return rheos__out_of_memory();
  }
  for (; proto->n_attr < num_attrs; proto->n_attr++) {
    Tensorflow__OpDef__AttrDef *attr = &attrs[proto->n_attr];
    RHEOS_TRY(attr_def_to_proto(&signature->attrs[proto->n_attr], arena, attr));
    proto->attr[proto->n_attr] = attr;
  }
  return NULL;
}

rheos_status *rheos_op_to_op_def(const char *type, void **out_bytes, size_t *out_size_bytes) {
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED(type);
  const rheos__signature *signature = rheos__signature_by_name(type);
  if (signature == NULL) return rheos__no_such_op(type);
  rheos__arena arena;
  rheos__arena_init(&arena);
  rheos__buffer buffer = {0};
  Tensorflow__OpDef proto;
  rheos_status *status = fill_op_def(signature, &arena, &proto);
  if (status == NULL) rheos__proto_pack(&proto.base, &buffer);
  rheos__arena_deinit(&arena);
  if (status == NULL && buffer.failed) status = rheos__out_of_memory();
  if (status != NULL) {
    rheos__buffer_deinit(&buffer);
    return status;
  }
  *out_bytes = buffer.data;
  *out_size_bytes = buffer.size_bytes;
  return NULL;
}
