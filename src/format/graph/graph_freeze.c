// Variables as constants. The graph is changed as a message; the values come from a session on a
// graph with the same nodes.
#include <rheos/graph_util.h>
#include <stdlib.h>

#include "base/options.h"
#include "format/graph/graph_edit.h"
#include "format/message/tensor_proto.h"
#include "graph/op_tally.h"
#include "ops/kit/op_util.h"

// A variable that becomes a constant.
typedef struct frozen {
  const char *name;
  bool is_resource;
  Tensorflow__AttrValue *dtype;
  rheos_tensor *value;
} frozen;

enum { NOT_FROZEN = -1, NOT_KNOWN = -2 };

typedef struct freeze {
  rheos__graph_edit edit;
  rheos_session *session;
  const rheos_freeze_options *options;
  frozen *variables;
  size_t num_variables;
  int32_t *behind;  // of each node: the variable that it is, or passes on, or NOT_FROZEN
} freeze;

// ---- Which nodes are what

static bool is_one_of(const char *op, const char *const *list) {
  for (; *list != NULL; list++) {
    if (strcmp(op, *list) == 0) return true;
  }
  return false;
}

static const char *const variable_ops[] = {"Variable", "VariableV2", "VarHandleOp", NULL};
static const char *const reading_ops[] = {"ReadVariableOp", "ResourceGather", "ResourceGatherNd",
                                          NULL};
// These have the handle as their output. Of a reference only what is read goes further.
static const char *const passing_ops[] = {"Identity", "Switch",      "RefSwitch", "Enter",
                                          "RefEnter", "RefIdentity", NULL};

static bool is_named(const char *name, const char *const *list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (strcmp(name, list[i]) == 0) return true;
  }
  return false;
}

static bool is_chosen(const freeze *f, const char *name) {
  const rheos_freeze_options *o = f->options;
  if (o->variables != NULL && !is_named(name, o->variables, o->num_variables)) return false;
  return !is_named(name, o->kept_variables, o->num_kept_variables);
}

// The node that a passing one has its output from.
static int32_t node_before(const freeze *f, int32_t node) {
  const Tensorflow__NodeDef *def = f->edit.def->node[node];
  return def->n_input > 0 ? rheos__graph_edit_find(&f->edit, def->input[0]) : -1;
}

// Goes back to the variable, through what passes it on, and notes it for all on the way. Who comes
// back to a node of the way meets NOT_FROZEN.
static void find_behind(freeze *f, int32_t start) {
  int32_t found = NOT_FROZEN;
  for (int32_t node = start; node >= 0; node = node_before(f, node)) {
    if (f->behind[node] != NOT_KNOWN) {
      found = f->behind[node];
      break;
    }
    f->behind[node] = NOT_FROZEN;
    if (!is_one_of(f->edit.def->node[node]->op, passing_ops)) return;
  }
  for (int32_t node = start; found != NOT_FROZEN && f->behind[node] == NOT_FROZEN;) {
    f->behind[node] = found;
    node = node_before(f, node);
  }
}

static rheos_status *find_variables(freeze *f) {
  const Tensorflow__GraphDef *def = f->edit.def;
  f->variables = rheos__alloc_array(def->n_node, sizeof *f->variables);
  f->behind = rheos__arena_alloc(&f->edit.arena, def->n_node * sizeof *f->behind);
  if (f->variables == NULL || f->behind == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < def->n_node; i++) {
    f->behind[i] = NOT_KNOWN;
    const Tensorflow__NodeDef *node = def->node[i];
    if (!is_one_of(node->op, variable_ops) || !is_chosen(f, node->name)) continue;
    Tensorflow__AttrValue *dtype = rheos__node_def_attr(node, "dtype");
    if (dtype == NULL) return RHEOS_INVALID("the variable '%s' has no dtype", node->name);
    f->behind[i] = (int32_t)f->num_variables;
    const bool is_resource = strcmp(node->op, "VarHandleOp") == 0;
    f->variables[f->num_variables++] = (frozen){node->name, is_resource, dtype, NULL};
  }
  for (size_t i = 0; i < def->n_node; i++) {
    if (f->behind[i] == NOT_KNOWN) find_behind(f, (int32_t)i);
  }
  return NULL;
}

// The nodes of the whole, of which only those stay that the outputs need.
static rheos_status *extract(freeze *f, const char *const *outputs, size_t num_outputs) {
  RHEOS_TRY(rheos__graph_edit_strip(&f->edit, outputs, num_outputs));
  // What is left gets an index again.
  void *bytes;
  size_t size_bytes;
  RHEOS_TRY(rheos__graph_edit_bytes(&f->edit, &bytes, &size_bytes));
  rheos__graph_edit_deinit(&f->edit);
  rheos_status *status = rheos__graph_edit_init(&f->edit, bytes, size_bytes);
  rheos__free(bytes);
  return status;
}

// ---- What cannot be frozen

// Whether the node takes its input as a reference or a handle, to change or to ask it.
static bool takes_variable(const Tensorflow__NodeDef *def, size_t input, bool is_resource) {
  if (is_one_of(def->op, passing_ops)) return false;
  if (is_one_of(def->op, reading_ops)) return input != 0;
  if (is_resource) return true;
  const rheos__signature *signature = rheos__signature_by_name(def->op);
  // Ops that take references have them as single arguments, first.
  return signature != NULL && input < (size_t)signature->num_inputs &&
         signature->inputs[input].is_ref;
}

static rheos_status *check_takers(const freeze *f) {
  rheos__op_tally takers = {0};
  const char *variable = "";  // the first that is taken
  rheos_status *status = NULL;
  for (size_t i = 0; i < f->edit.def->n_node && status == NULL; i++) {
    const Tensorflow__NodeDef *def = f->edit.def->node[i];
    bool takes = false;
    for (size_t k = 0; k < def->n_input && !takes; k++) {
      if (def->input[k][0] == '^') continue;
      const int32_t node = rheos__graph_edit_find(&f->edit, def->input[k]);
      if (node < 0 || f->behind[node] == NOT_FROZEN) continue;
      const frozen *taken = &f->variables[f->behind[node]];
      takes = takes_variable(def, k, taken->is_resource);
      if (takes && takers.count == 0) variable = taken->name;
    }
    if (takes) status = rheos__op_tally_add(&takers, def->op, def->name);
  }
  if (status == NULL && takers.count > 0) {
    char text[2048];
    rheos__op_tally_text(&takers, text, sizeof text);
    status = rheos_status_new(RHEOS_UNIMPLEMENTED, "variable '%s' cannot become a constant for %s",
                              variable, text);
  }
  rheos__op_tally_deinit(&takers);
  return status;
}

// ---- Values

// The output of the session's graph that has the variable's value; a read is added where the graph
// has none.
static rheos_status *value_output(const freeze *f, const frozen *variable, rheos_scope *scope,
                                  rheos_output *out_output) {
  rheos_graph *graph = rheos_session_graph(f->session);
  RHEOS_TRY(rheos_graph_output(graph, variable->name, out_output));
  if (rheos_output_dtype(*out_output) != RHEOS_RESOURCE) return NULL;
  const rheos_attr dtype = rheos_attr_type("dtype", (rheos_dtype)variable->dtype->type);
  *out_output = rheos_operation_output(
      rheos__op_n(scope, "ReadVariableOp", "freeze/Read", out_output, 1, &dtype, 1), 0);
  return rheos_scope_finish(scope);
}

static rheos_status *read_values(freeze *f) {
  if (f->num_variables == 0) return NULL;
  rheos_fetch *fetches = rheos__alloc_array(f->num_variables, sizeof *fetches);
  rheos_scope *scope = rheos_scope_new(rheos_session_graph(f->session));
  rheos_status *status = fetches != NULL && scope != NULL ? NULL : rheos__out_of_memory();
  for (size_t i = 0; i < f->num_variables && status == NULL; i++) {
    status = value_output(f, &f->variables[i], scope, &fetches[i].output);
  }
  if (status == NULL) {
    status = rheos_session_run(f->session, NULL, 0, fetches, f->num_variables, NULL, 0, NULL);
  }
  for (size_t i = 0; i < f->num_variables && status == NULL; i++) {
    f->variables[i].value = fetches[i].value;
  }
  rheos_scope_free(scope);
  rheos__free(fetches);
  return status;
}

// ---- New nodes

static rheos_status *new_node(freeze *f, const char *name, const char *op, size_t num_attrs,
                              Tensorflow__NodeDef **out_node) {
  rheos__arena *arena = &f->edit.arena;
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
static rheos_status *add_attr(freeze *f, Tensorflow__NodeDef *node, const char *name,
                              Tensorflow__AttrValue *value) {
  Tensorflow__NodeDef__AttrEntry *entry = rheos__arena_alloc(&f->edit.arena, sizeof *entry);
  if (entry == NULL) return rheos__out_of_memory();
  tensorflow__node_def__attr_entry__init(entry);
  entry->key = (char *)(uintptr_t)name;
  entry->value = value;
  node->attr[node->n_attr++] = entry;
  return NULL;
}

static rheos_status *add_type(freeze *f, Tensorflow__NodeDef *node, const char *name,
                              rheos_dtype dtype) {
  const rheos_attr_value value = rheos_attr_type(name, dtype).value;
  Tensorflow__AttrValue *proto;
  RHEOS_TRY(rheos__attr_to_proto(&value, &f->edit.arena, &proto));
  return add_attr(f, node, name, proto);
}

// The tensor stays alive until the message is written.
static rheos_status *new_const(freeze *f, const char *name, rheos_tensor *value,
                               Tensorflow__NodeDef **out_node) {
  RHEOS_TRY(new_node(f, name, "Const", 2, out_node));
  const rheos_attr_value tensor = rheos_attr_tensor("value", value).value;
  Tensorflow__AttrValue *proto;
  RHEOS_TRY(rheos__attr_to_proto(&tensor, &f->edit.arena, &proto));
  RHEOS_TRY(add_type(f, *out_node, "dtype", rheos_tensor_dtype(value)));
  return add_attr(f, *out_node, "value", proto);
}

static rheos_status *identity_of(freeze *f, const Tensorflow__NodeDef *read, const frozen *variable,
                                 Tensorflow__NodeDef **out_node) {
  RHEOS_TRY(new_node(f, read->name, "Identity", 2, out_node));
  (*out_node)->device = read->device;
  (*out_node)->input = read->input;
  (*out_node)->n_input = read->n_input;
  RHEOS_TRY(add_attr(f, *out_node, "T", variable->dtype));
  Tensorflow__AttrValue *colocated = rheos__node_def_attr(read, "_class");
  return colocated != NULL ? add_attr(f, *out_node, "_class", colocated) : NULL;
}

static rheos_status *int32_attr(freeze *f, int64_t number, Tensorflow__AttrValue **out_value) {
  Tensorflow__TensorProto *tensor = rheos__arena_alloc(&f->edit.arena, sizeof *tensor);
  int32_t *values = rheos__arena_alloc(&f->edit.arena, sizeof *values);
  *out_value = rheos__arena_alloc(&f->edit.arena, sizeof **out_value);
  if (tensor == NULL || values == NULL || *out_value == NULL) return rheos__out_of_memory();
  const rheos_shape scalar = RHEOS_SCALAR;
  tensorflow__tensor_proto__init(tensor);
  tensor->dtype = (Tensorflow__DataType)RHEOS_INT32;
  RHEOS_TRY(rheos__shape_to_proto(&scalar, &f->edit.arena, &tensor->tensor_shape));
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
static rheos_status *gather_of(freeze *f, const Tensorflow__NodeDef *read, const frozen *variable,
                               Tensorflow__NodeDef **out_node, Tensorflow__NodeDef **out_axis) {
  const bool is_nd = strcmp(read->op, "ResourceGatherNd") == 0;
  if (read->n_input < 2) return RHEOS_INVALID("Node '%s' has no indices", read->name);
  RHEOS_TRY(new_node(f, read->name, is_nd ? "GatherNd" : "GatherV2", 4, out_node));
  (*out_node)->device = read->device;
  char **inputs = rheos__arena_alloc(&f->edit.arena, (read->n_input + 1) * sizeof *inputs);
  if (inputs == NULL) return rheos__out_of_memory();
  (*out_node)->input = inputs;
  (*out_node)->n_input = read->n_input + (is_nd ? 0 : 1);
  memcpy(inputs, read->input, 2 * sizeof *inputs);
  memcpy(inputs + (is_nd ? 2 : 3), read->input + 2, (read->n_input - 2) * sizeof *inputs);
  Tensorflow__AttrValue *indices = rheos__node_def_attr(read, "Tindices");
  if (indices != NULL) RHEOS_TRY(add_attr(f, *out_node, "Tindices", indices));
  RHEOS_TRY(add_attr(f, *out_node, "Tparams", variable->dtype));
  if (is_nd) return NULL;
  RHEOS_TRY(add_type(f, *out_node, "Taxis", RHEOS_INT32));
  Tensorflow__AttrValue *batch_dims = rheos__node_def_attr(read, "batch_dims"), *axis;
  const int64_t first = batch_dims != NULL ? batch_dims->i : 0;
  if (first < 0 || first > RHEOS_MAX_RANK) {
    return RHEOS_INVALID("Node '%s': batch_dims %lld", read->name, (long long)first);
  }
  if (first != 0) RHEOS_TRY(add_attr(f, *out_node, "batch_dims", batch_dims));
  char *name = joined(&f->edit.arena, read->name, "/axis");
  if (name == NULL) return rheos__out_of_memory();
  inputs[2] = name;
  RHEOS_TRY(new_node(f, name, "Const", 2, out_axis));
  RHEOS_TRY(add_type(f, *out_axis, "dtype", RHEOS_INT32));
  RHEOS_TRY(int32_attr(f, first, &axis));
  return add_attr(f, *out_axis, "value", axis);
}

// What passes a handle on passes the value on instead.
static void retype(Tensorflow__NodeDef *node, const frozen *variable) {
  for (size_t i = 0; i < node->n_attr; i++) {
    if (strcmp(node->attr[i]->key, "T") == 0) node->attr[i]->value = variable->dtype;
  }
  if (strncmp(node->op, "Ref", 3) == 0) node->op += 3;
}

static rheos_status *convert_node(freeze *f, size_t index, Tensorflow__NodeDef **out_node,
                                  Tensorflow__NodeDef **out_axis) {
  Tensorflow__NodeDef *node = f->edit.def->node[index];
  *out_node = node;
  *out_axis = NULL;
  if (is_one_of(node->op, reading_ops)) {
    const int32_t from = node->n_input > 0 ? rheos__graph_edit_find(&f->edit, node->input[0]) : -1;
    if (from < 0 || f->behind[from] == NOT_FROZEN) return NULL;
    const frozen *variable = &f->variables[f->behind[from]];
    if (strcmp(node->op, "ReadVariableOp") == 0) return identity_of(f, node, variable, out_node);
    return gather_of(f, node, variable, out_node, out_axis);
  }
  if (f->behind[index] == NOT_FROZEN) return NULL;
  frozen *variable = &f->variables[f->behind[index]];
  if (is_one_of(node->op, variable_ops)) {
    return new_const(f, node->name, variable->value, out_node);
  }
  retype(node, variable);
  return NULL;
}

static rheos_status *convert(freeze *f) {
  const size_t count = f->edit.def->n_node;
  Tensorflow__NodeDef **nodes = rheos__arena_alloc(&f->edit.arena, 2 * count * sizeof *nodes);
  if (nodes == NULL) return rheos__out_of_memory();
  size_t made = 0;
  for (size_t i = 0; i < count; i++) {
    Tensorflow__NodeDef *node, *axis;
    RHEOS_TRY(convert_node(f, i, &node, &axis));
    if (axis != NULL) nodes[made++] = axis;
    nodes[made++] = node;
  }
  f->edit.def->node = nodes;
  f->edit.def->n_node = made;
  return NULL;
}

rheos_status *rheos_graph_def_freeze_sized(const void *bytes, size_t size_bytes,
                                           rheos_session *session, const char *const *outputs,
                                           size_t num_outputs, const rheos_freeze_options *options,
                                           size_t options_bytes, void **out_bytes,
                                           size_t *out_size_bytes) {
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED(session);
  RHEOS_NEED_BYTES(bytes, size_bytes);
  RHEOS_NEED_TEXTS(outputs, num_outputs);
  rheos_freeze_options known;
  *out_bytes = NULL;
  *out_size_bytes = 0;
  RHEOS_TRY(RHEOS_READ_OPTIONS(rheos_freeze_options, options, options_bytes, &known));
  freeze f = {.session = session, .options = &known};
  rheos_status *status = rheos__graph_edit_init(&f.edit, bytes, size_bytes);
  if (status == NULL) status = extract(&f, outputs, num_outputs);
  if (status == NULL) status = find_variables(&f);
  if (status == NULL) status = check_takers(&f);
  if (status == NULL) status = read_values(&f);
  if (status == NULL) status = convert(&f);
  if (status == NULL) status = rheos__graph_edit_bytes(&f.edit, out_bytes, out_size_bytes);
  for (size_t i = 0; i < f.num_variables; i++) rheos_tensor_unref(f.variables[i].value);
  rheos__free(f.variables);
  rheos__graph_edit_deinit(&f.edit);
  return status;
}
