// Attributes apart from their operation: read as messages, and given to another.
#include "eager_handles.h"

#include <stdlib.h>
#include <string.h>

// A TFE_OpAttrs is the operation whose attributes they are, which they do not outlive.
const TFE_OpAttrs *TFE_OpGetAttrs(const TFE_Op *op) { return (const TFE_OpAttrs *)op; }

// An operation without inputs that has all of them, with "_" before their names: any op may have
// such.
static rheos_operation make_carrier(rheos_scope *scope, const capi_attrs *attrs, capi_pool *pool) {
  rheos_attr *named = capi_pool_copy(pool, attrs->attrs, attrs->count * sizeof *named);
  bool is_whole = named != NULL;
  for (size_t i = 0; is_whole && i < attrs->count; i++) {
    size_t length = strlen(attrs->attrs[i].name);
    char *name = capi_pool_get(pool, length + 2);
    is_whole = name != NULL;
    if (!is_whole) break;
    name[0] = '_';
    memcpy(name + 1, attrs->attrs[i].name, length);
    named[i].name = name;
  }
  if (!is_whole) {
    rheos_scope_fail_take(scope, rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory"));
    return (rheos_operation){0};
  }
  return rheos_op(scope,
                  &(rheos_op_args){.type = "NoOp", .attrs = named, .num_attrs = attrs->count});
}

// Calls `use` with each attribute's name and AttrValue.
static rheos_status *each(const capi_attrs *attrs,
                          void (*use)(capi_wire name, capi_wire value, void *argument),
                          void *argument) {
  capi_pool pool = {0};
  void *bytes = NULL;
  size_t size = 0;
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = graph == NULL ? NULL : rheos_scope_new(graph);
  rheos_status *error = NULL;
  if (scope == NULL) {
    error = rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
  } else {
    rheos_operation carrier = make_carrier(scope, attrs, &pool);
    error = rheos_scope_finish(scope);
    if (error == NULL) error = rheos_operation_to_node_def(carrier, &bytes, &size);
  }
  capi_wire node = capi_wire_of(bytes, error == NULL ? size : 0);
  for (capi_field field; capi_wire_next(&node, &field);) {
    capi_wire name = {0}, value = {0};
    if (field.number != 5 || !capi_wire_find(field.bytes, 1, &name)) continue;
    capi_wire_find(field.bytes, 2, &value);
    if (capi_wire_size(name) < 1) continue;
    name.at++;
    use(name, value, argument);
  }
  rheos_free(bytes);
  capi_pool_free(&pool);
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
  return error;
}

// ---- As a NameAttrList, whose field 1 is the op and field 2 a map

static void write_one(capi_wire name, capi_wire value, void *argument) {
  capi_message entry = {0};
  capi_write_bytes(&entry, 1, name.at, capi_wire_size(name));
  capi_write_bytes(&entry, 2, value.at, capi_wire_size(value));
  capi_write_message(argument, 2, &entry);
}

void TFE_OpAttrsSerialize(const TFE_OpAttrs *attrs, TF_Buffer *buf, TF_Status *status) {
  const TFE_Op *op = (const TFE_Op *)attrs;
  capi_message message = {0};
  capi_succeed(status);
  if (!capi_need(op, "the attributes", status) || !capi_need(op->type, "the op", status)) return;
  capi_write_text(&message, 1, op->type);
  if (capi_take(status, each(&op->attrs, write_one, &message))) {
    if (message.failed) {
      capi_fail_for_memory(status);
    } else {
      capi_buffer_copy(buf, message.bytes, message.size, status);
    }
  }
  free(message.bytes);
}

// ---- For another operation

static void set_one(capi_wire name, capi_wire value, void *argument) {
  TFE_Op *op = argument;
  char *text = strndup((const char *)name.at, capi_wire_size(name));
  TF_Status *status = TF_NewStatus();
  bool is_set =
      text != NULL && status != NULL &&
      capi_attrs_set_proto(&op->attrs, text, value.at == NULL ? "" : (const char *)value.at,
                           capi_wire_size(value), status);
  if (!is_set) {
    capi_attrs_fail_take(
        &op->attrs,
        rheos_status_new(status == NULL ? RHEOS_RESOURCE_EXHAUSTED : (rheos_code)TF_GetCode(status),
                         "attribute '%s': %s", text == NULL ? "" : text, TF_Message(status)));
  }
  TF_DeleteStatus(status);
  free(text);
}

// What the operation has itself stays.
void TFE_OpAddAttrs(TFE_Op *op, const TFE_OpAttrs *attrs) {
  const TFE_Op *from = (const TFE_Op *)attrs;
  if (op == NULL || from == NULL || from == op) return;
  rheos_status *error = each(&from->attrs, set_one, op);
  if (error != NULL) capi_attrs_fail_take(&op->attrs, error);
}

// ---- Attributes without an operation

struct TF_AttrBuilder {
  char *op;
  capi_attrs attrs;
};

TF_AttrBuilder *TF_NewAttrBuilder(const char *op_name) {
  if (op_name == NULL) return NULL;
  TF_AttrBuilder *builder = calloc(1, sizeof *builder);
  if (builder != NULL) builder->op = strdup(op_name);
  if (builder != NULL && builder->op != NULL) return builder;
  free(builder);
  return NULL;
}

void TF_DeleteAttrBuilder(TF_AttrBuilder *builder) {
  if (builder == NULL) return;
  capi_attrs_free(&builder->attrs);
  free(builder->op);
  free(builder);
}

void TF_AttrBuilderSetType(TF_AttrBuilder *builder, const char *attr_name, TF_DataType value) {
  if (builder == NULL) return;
  capi_attrs_set(&builder->attrs, attr_name,
                 (rheos_attr_value){.kind = RHEOS_ATTR_TYPE, .type = (rheos_dtype)value});
}

void TF_AttrBuilderSetTypeList(TF_AttrBuilder *builder, const char *attr_name,
                               const TF_DataType *values, int num_values) {
  if (builder == NULL) return;
  capi_attrs_set_list(&builder->attrs, attr_name, RHEOS_ATTR_LIST_TYPE, values, num_values);
}

// Kernels of the CPU take every type that the op's definition allows.
void TF_AttrBuilderCheckCanRunOnDevice(TF_AttrBuilder *builder, const char *device_type,
                                       TF_Status *status) {
  capi_succeed(status);
  if (!capi_need(builder, "the attributes", status) ||
      !capi_need(device_type, "the device", status)) {
    return;
  }
  const rheos_op_def *op = rheos_op_def_find(NULL, builder->op);
  if (builder->attrs.error != NULL) {
    capi_take(status, builder->attrs.error);
    builder->attrs.error = NULL;
  } else if (op == NULL) {
    capi_fail(status, TF_NOT_FOUND, "Op type not registered '%s' in Rheos", builder->op);
  } else if (strcmp(device_type, "CPU") != 0 || !rheos_op_def_has_kernel(op)) {
    capi_fail(status, TF_NOT_FOUND,
              "Could not find device for node: {{node %s}} = %s[]: there is no kernel for '%s'",
              builder->op, builder->op, device_type);
  }
}
