// Variables as constants. The graph is changed as a message; the values come from a session on a
// graph with the same nodes.
#include <rheos/graph_util.h>

#include <stdlib.h>

#include "base/options.h"
#include "format/graph/freeze_functions.h"
#include "format/graph/freeze_nodes.h"
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
  rheos__frozen_functions functions;
} freeze;

// ---- Which nodes are what

static const char *const variable_ops[] = {"Variable", "VariableV2", "VarHandleOp", NULL};

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
    if (!rheos__is_one_of(f->edit.def->node[node]->op, rheos__passing_ops)) return;
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
    if (!rheos__is_one_of(node->op, variable_ops) || !is_chosen(f, node->name)) continue;
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
  if (rheos__is_one_of(def->op, rheos__passing_ops)) return false;
  if (rheos__is_one_of(def->op, rheos__reading_ops)) return input != 0;
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
      takes = takes_variable(def, k, taken->is_resource) &&
              !(taken->is_resource && rheos__can_give_value(&f->functions, def, k));
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

// The tensor stays alive until the message is written.
static rheos_status *new_const(freeze *f, const char *name, rheos_tensor *value,
                               Tensorflow__NodeDef **out_node) {
  RHEOS_TRY(rheos__freeze_new_node(&f->edit.arena, name, "Const", 2, out_node));
  const rheos_attr_value tensor = rheos_attr_tensor("value", value).value;
  Tensorflow__AttrValue *proto;
  RHEOS_TRY(rheos__attr_to_proto(&tensor, &f->edit.arena, &proto));
  RHEOS_TRY(rheos__freeze_add_type(&f->edit.arena, *out_node, "dtype", rheos_tensor_dtype(value)));
  return rheos__freeze_add_attr(&f->edit.arena, *out_node, "value", proto);
}

// The node calls functions, which get values for variables that are frozen.
static rheos_status *convert_call(freeze *f, Tensorflow__NodeDef *node) {
  size_t count = 0;
  bool any = false;
  Tensorflow__AttrValue **dtypes = rheos__alloc_array(node->n_input + 1, sizeof *dtypes);
  if (dtypes == NULL) return rheos__out_of_memory();
  for (; count < node->n_input && node->input[count][0] != '^'; count++) {
    const int32_t from = rheos__graph_edit_find(&f->edit, node->input[count]);
    if (from < 0 || f->behind[from] == NOT_FROZEN) continue;
    const frozen *variable = &f->variables[f->behind[from]];
    if (variable->is_resource) dtypes[count] = variable->dtype;
    any = any || variable->is_resource;
  }
  rheos_status *status = any ? rheos__give_values(&f->functions, node, dtypes, count) : NULL;
  rheos__free(dtypes);
  return status;
}

static rheos_status *convert_node(freeze *f, size_t index, Tensorflow__NodeDef **out_node,
                                  Tensorflow__NodeDef **out_axis) {
  Tensorflow__NodeDef *node = f->edit.def->node[index];
  rheos__arena *arena = &f->edit.arena;
  *out_node = node;
  *out_axis = NULL;
  if (rheos__is_one_of(node->op, rheos__reading_ops)) {
    const int32_t from = node->n_input > 0 ? rheos__graph_edit_find(&f->edit, node->input[0]) : -1;
    if (from < 0 || f->behind[from] == NOT_FROZEN) return NULL;
    const frozen *variable = &f->variables[f->behind[from]];
    if (strcmp(node->op, "ReadVariableOp") == 0)
      return rheos__freeze_identity(arena, node, variable->dtype, out_node);
    return rheos__freeze_gather(arena, node, variable->dtype, out_node, out_axis);
  }
  if (f->behind[index] == NOT_FROZEN) return convert_call(f, node);
  frozen *variable = &f->variables[f->behind[index]];
  if (rheos__is_one_of(node->op, variable_ops)) {
    return new_const(f, node->name, variable->value, out_node);
  }
  rheos__freeze_retype(node, variable->dtype);
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
  if (status == NULL) status = rheos__frozen_functions_init(&f.functions, &f.edit);
  if (status == NULL) status = check_takers(&f);
  if (status == NULL) status = read_values(&f);
  if (status == NULL) status = convert(&f);
  if (status == NULL) status = rheos__frozen_functions_finish(&f.functions);
  if (status == NULL) status = rheos__graph_edit_bytes(&f.edit, out_bytes, out_size_bytes);
  for (size_t i = 0; i < f.num_variables; i++) rheos_tensor_unref(f.variables[i].value);
  rheos__free(f.variables);
  rheos__frozen_functions_deinit(&f.functions);
  rheos__graph_edit_deinit(&f.edit);
  return status;
}
