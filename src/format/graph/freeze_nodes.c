// Nodes that read a value in place of the variable that it was read of.
#include "format/graph/freeze_nodes.h"

#include "format/message/tensor_proto.h"

bool rheos__is_one_of(const char *op, const char *const *list) {
  for (; *list != NULL; list++) {
    if (strcmp(op, *list) == 0) return true;
  }
  return false;
}

const char *const rheos__reading_ops[] = {"ReadVariableOp", "ResourceGather", "ResourceGatherNd",
                                          NULL};
const char *const rheos__passing_ops[] = {"Identity", "Switch",      "RefSwitch", "Enter",
                                          "RefEnter", "RefIdentity", NULL};

rheos_status *rheos__freeze_new_node(rheos__arena *arena, const char *name, const char *op,
                                     size_t num_attrs, Tensorflow__NodeDef **out_node) {
  Tensorflow__NodeDef *node = rheos__arena_alloc(arena, sizeof *node);
  if (node == NULL) return rheos__out_of_memory();
  tensorflow__node_def__init(node);
  node->name = (char *)(uintptr_t)name;
  node->op = (char *)(uintptr_t)op;
  node->attr = rheos__arena_alloc(arena, num_attrs * sizeof *node->attr);
  if (node->attr == NULL) return rheos__out_of_memory();
  *out_node = node;
  return NULL;
}

// The node has room for it.
rheos_status *rheos__freeze_add_attr(rheos__arena *arena, Tensorflow__NodeDef *node,
                                     const char *name, Tensorflow__AttrValue *value) {
  Tensorflow__NodeDef__AttrEntry *entry = rheos__arena_alloc(arena, sizeof *entry);
  if (entry == NULL) return rheos__out_of_memory();
  tensorflow__node_def__attr_entry__init(entry);
  entry->key = (char *)(uintptr_t)name;
  entry->value = value;
  node->attr[node->n_attr++] = entry;
  return NULL;
}

rheos_status *rheos__freeze_add_type(rheos__arena *arena, Tensorflow__NodeDef *node,
                                     const char *name, rheos_dtype dtype) {
  const rheos_attr_value value = rheos_attr_type(name, dtype).value;
  Tensorflow__AttrValue *proto;
  RHEOS_TRY(rheos__attr_to_proto(&value, arena, &proto));
  return rheos__freeze_add_attr(arena, node, name, proto);
}

rheos_status *rheos__freeze_identity(rheos__arena *arena, const Tensorflow__NodeDef *read,
                                     Tensorflow__AttrValue *dtype_of_variable,
                                     Tensorflow__NodeDef **out_node) {
  RHEOS_TRY(rheos__freeze_new_node(arena, read->name, "Identity", 2, out_node));
  (*out_node)->device = read->device;
  (*out_node)->input = read->input;
  (*out_node)->n_input = read->n_input;
  RHEOS_TRY(rheos__freeze_add_attr(arena, *out_node, "T", dtype_of_variable));
  Tensorflow__AttrValue *colocated = rheos__node_def_attr(read, "_class");
  return colocated != NULL ? rheos__freeze_add_attr(arena, *out_node, "_class", colocated) : NULL;
}

static rheos_status *int32_attr(rheos__arena *arena, int64_t number,
                                Tensorflow__AttrValue **out_value) {
  Tensorflow__TensorProto *tensor = rheos__arena_alloc(arena, sizeof *tensor);
  int32_t *values = rheos__arena_alloc(arena, sizeof *values);
  *out_value = rheos__arena_alloc(arena, sizeof **out_value);
  if (tensor == NULL || values == NULL || *out_value == NULL) return rheos__out_of_memory();
  const rheos_shape scalar = RHEOS_SCALAR;
  tensorflow__tensor_proto__init(tensor);
  tensor->dtype = (Tensorflow__DataType)RHEOS_INT32;
  RHEOS_TRY(rheos__shape_to_proto(&scalar, arena, &tensor->tensor_shape));
  values[0] = (int32_t)number;
  tensor->int_val = values;
  tensor->n_int_val = 1;
  tensorflow__attr_value__init(*out_value);
  (*out_value)->value_case = TENSORFLOW__ATTR_VALUE__VALUE_TENSOR;
  (*out_value)->tensor = tensor;
  return NULL;
}

static char *joined(rheos__arena *arena, const char *name, const char *behind) {
  const size_t name_bytes = strlen(name), behind_bytes = strlen(behind);
  char *text = rheos__arena_alloc(arena, name_bytes + behind_bytes + 1);
  if (text == NULL) return NULL;
  memcpy(text, name, name_bytes);
  memcpy(text + name_bytes, behind, behind_bytes + 1);
  return text;
}

// A ResourceGather has no axis: it gathers behind the batch dimensions.
rheos_status *rheos__freeze_gather(rheos__arena *arena, const Tensorflow__NodeDef *read,
                                   Tensorflow__AttrValue *dtype_of_variable,
                                   Tensorflow__NodeDef **out_node, Tensorflow__NodeDef **out_axis) {
  const bool is_nd = strcmp(read->op, "ResourceGatherNd") == 0;
  if (read->n_input < 2) return RHEOS_INVALID("Node '%s' has no indices", read->name);
  RHEOS_TRY(
      rheos__freeze_new_node(arena, read->name, is_nd ? "GatherNd" : "GatherV2", 4, out_node));
  (*out_node)->device = read->device;
  char **inputs = rheos__arena_alloc(arena, (read->n_input + 1) * sizeof *inputs);
  if (inputs == NULL) return rheos__out_of_memory();
  (*out_node)->input = inputs;
  (*out_node)->n_input = read->n_input + (is_nd ? 0 : 1);
  memcpy(inputs, read->input, 2 * sizeof *inputs);
  memcpy(inputs + (is_nd ? 2 : 3), read->input + 2, (read->n_input - 2) * sizeof *inputs);
  Tensorflow__AttrValue *indices = rheos__node_def_attr(read, "Tindices");
  if (indices != NULL) RHEOS_TRY(rheos__freeze_add_attr(arena, *out_node, "Tindices", indices));
  RHEOS_TRY(rheos__freeze_add_attr(arena, *out_node, "Tparams", dtype_of_variable));
  if (is_nd) return NULL;
  RHEOS_TRY(rheos__freeze_add_type(arena, *out_node, "Taxis", RHEOS_INT32));
  Tensorflow__AttrValue *batch_dims = rheos__node_def_attr(read, "batch_dims"), *axis;
  const int64_t first = batch_dims != NULL ? batch_dims->i : 0;
  if (first < 0 || first > RHEOS_MAX_RANK) {
    return RHEOS_INVALID("Node '%s': batch_dims %lld", read->name, (long long)first);
  }
  if (first != 0) RHEOS_TRY(rheos__freeze_add_attr(arena, *out_node, "batch_dims", batch_dims));
  char *name = joined(arena, read->name, "/axis");
  if (name == NULL) return rheos__out_of_memory();
  inputs[2] = name;
  RHEOS_TRY(rheos__freeze_new_node(arena, name, "Const", 2, out_axis));
  RHEOS_TRY(rheos__freeze_add_type(arena, *out_axis, "dtype", RHEOS_INT32));
  RHEOS_TRY(int32_attr(arena, first, &axis));
  return rheos__freeze_add_attr(arena, *out_axis, "value", axis);
}

// What passes a handle on passes the value on instead.
void rheos__freeze_retype(Tensorflow__NodeDef *node, Tensorflow__AttrValue *dtype_of_variable) {
  for (size_t i = 0; i < node->n_attr; i++) {
    if (strcmp(node->attr[i]->key, "T") == 0) node->attr[i]->value = dtype_of_variable;
  }
  if (strncmp(node->op, "Ref", 3) == 0) node->op += 3;
}
