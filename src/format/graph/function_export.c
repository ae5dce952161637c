// A function that a program made, as a FunctionDef. Outputs of nodes are called
// "node:output:number" there, arguments by their names.
#include "format/graph/function_export.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

typedef struct writer {
  const rheos__made_function *made;
  rheos_graph *body;
  rheos__arena *arena;
  int32_t *arg_of;  // by node: the argument that it is, else -1
} writer;

static char *node_name(const writer *w, int32_t id, size_t room_before, size_t room_behind) {
  const rheos_operation operation = {w->body, id};
  const size_t length = rheos_operation_name(operation, NULL, 0);
  char *text = rheos__arena_alloc(w->arena, room_before + length + room_behind + 1);
  if (text != NULL) rheos_operation_name(operation, text + room_before, length + 1);
  return text;
}

static int64_t length_of(const rheos__node *node, const rheos__arg *arg) {
  const rheos__signature *signature = node->signature;
  const int16_t attr = arg->number_attr >= 0 ? arg->number_attr : arg->type_list_attr;
  if (attr < 0) return 1;
  const rheos_attr_value *value = rheos__attrs_find(node->attrs, signature->attrs[attr].name);
  if (value == NULL) return 0;
  return arg->number_attr >= 0 ? value->i : value->count;
}

// "node:output:number"
static char *output_text(const writer *w, rheos__edge edge) {
  const rheos__node *node = rheos__graph_node(w->body, edge.id);
  int64_t index = edge.index;
  const char *name = "output";
  for (int32_t i = 0; i < node->signature->num_outputs; i++) {
    const rheos__arg *arg = &node->signature->outputs[i];
    const int64_t length = length_of(node, arg);
    name = arg->name;
    if (index < length) break;
    index -= length;
  }
  const size_t room = strlen(name) + 24;
  char *text = node_name(w, edge.id, 0, room);
  const size_t length = text != NULL ? strlen(text) : 0;
  if (text != NULL) snprintf(text + length, room, ":%s:%lld", name, (long long)index);
  return text;
}

static char *edge_text(const writer *w, rheos__edge edge) {
  const int32_t arg = w->arg_of[edge.id];
  if (edge.index < 0) {
    char *text = node_name(w, edge.id, 1, 0);
    if (text != NULL) text[0] = '^';
    return text;
  }
  return arg >= 0 ? (char *)(uintptr_t)w->made->arg_names[arg] : output_text(w, edge);
}

static rheos_status *node_to_proto(const writer *w, int32_t id, Tensorflow__NodeDef *def) {
  const rheos__node *node = rheos__graph_node(w->body, id);
  const size_t count = (size_t)node->num_inputs + (size_t)node->num_control_inputs;
  tensorflow__node_def__init(def);
  def->name = node_name(w, id, 0, 0);
  def->op = (char *)(uintptr_t)node->signature->op->name;
  def->device = (char *)(uintptr_t)node->device;
  def->input = rheos__arena_alloc(w->arena, (count + 1) * sizeof *def->input);
  if (def->name == NULL || def->input == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) {
    // What waits for an argument waits for nothing.
    if (node->edges[i].index < 0 && w->arg_of[node->edges[i].id] >= 0) continue;
    char *text = edge_text(w, node->edges[i]);
    if (text == NULL) return rheos__out_of_memory();
    def->input[def->n_input++] = text;
  }
  return rheos__attrs_to_proto(node->signature, node->attrs, w->arena, def);
}

static rheos_status *arg_to_proto(const char *name, rheos_dtype dtype, rheos__arena *arena,
                                  Tensorflow__OpDef__ArgDef **out_arg) {
  Tensorflow__OpDef__ArgDef *arg = rheos__arena_alloc(arena, sizeof *arg);
  if (arg == NULL) return rheos__out_of_memory();
  tensorflow__op_def__arg_def__init(arg);
  arg->name = (char *)(uintptr_t)name;
  arg->type = (Tensorflow__DataType)dtype;
  *out_arg = arg;
  return NULL;
}

static rheos_status *signature_to_proto(const writer *w, Tensorflow__FunctionDef *def) {
  const rheos__function *f = &w->made->function;
  Tensorflow__OpDef *op = rheos__arena_alloc(w->arena, sizeof *op);
  if (op == NULL) return rheos__out_of_memory();
  tensorflow__op_def__init(op);
  def->signature = op;
  op->name = (char *)(uintptr_t)f->name;
  op->is_stateful = w->made->is_stateful;
  const size_t num_args = (size_t)f->num_args, num_results = (size_t)f->num_results;
  const size_t num_controls = (size_t)w->made->num_controls;
  op->input_arg = rheos__arena_alloc(w->arena, (num_args + 1) * sizeof *op->input_arg);
  op->output_arg = rheos__arena_alloc(w->arena, (num_results + 1) * sizeof *op->output_arg);
  if (op->input_arg == NULL || op->output_arg == NULL) return rheos__out_of_memory();
  for (; op->n_input_arg < num_args; op->n_input_arg++) {
    RHEOS_TRY(arg_to_proto(w->made->arg_names[op->n_input_arg],
                           rheos__function_arg_dtype(f, (int32_t)op->n_input_arg), w->arena,
                           &op->input_arg[op->n_input_arg]));
  }
  for (; op->n_output_arg < num_results; op->n_output_arg++) {
    RHEOS_TRY(arg_to_proto(w->made->result_names[op->n_output_arg],
                           rheos__function_result_dtype(f, (int32_t)op->n_output_arg), w->arena,
                           &op->output_arg[op->n_output_arg]));
  }
  op->control_output = (char **)(uintptr_t)w->made->control_names;
  op->n_control_output = num_controls;
  return NULL;
}

static rheos_status *results_to_proto(const writer *w, Tensorflow__FunctionDef *def) {
  const rheos__function *f = &w->made->function;
  const size_t num_results = (size_t)f->num_results, num_controls = (size_t)w->made->num_controls;
  Tensorflow__FunctionDef__RetEntry *results =
      rheos__arena_alloc(w->arena, (num_results + 1) * sizeof *results);
  Tensorflow__FunctionDef__ControlRetEntry *controls =
      rheos__arena_alloc(w->arena, (num_controls + 1) * sizeof *controls);
  def->ret = rheos__arena_alloc(w->arena, (num_results + 1) * sizeof *def->ret);
  def->control_ret = rheos__arena_alloc(w->arena, (num_controls + 1) * sizeof *def->control_ret);
  if (results == NULL || controls == NULL || def->ret == NULL || def->control_ret == NULL) {
    return rheos__out_of_memory();
  }
  for (; def->n_ret < num_results; def->n_ret++) {
    Tensorflow__FunctionDef__RetEntry *entry = &results[def->n_ret];
    tensorflow__function_def__ret_entry__init(entry);
    entry->key = (char *)(uintptr_t)w->made->result_names[def->n_ret];
    entry->value = edge_text(w, f->results[def->n_ret]);
    if (entry->value == NULL) return rheos__out_of_memory();
    def->ret[def->n_ret] = entry;
  }
  for (; def->n_control_ret < num_controls; def->n_control_ret++) {
    Tensorflow__FunctionDef__ControlRetEntry *entry = &controls[def->n_control_ret];
    tensorflow__function_def__control_ret_entry__init(entry);
    entry->key = (char *)(uintptr_t)w->made->control_names[def->n_control_ret];
    entry->value = node_name(w, f->targets[def->n_control_ret], 0, 0);
    if (entry->value == NULL) return rheos__out_of_memory();
    def->control_ret[def->n_control_ret] = entry;
  }
  return NULL;
}

static rheos_status *attrs_to_proto(const writer *w, Tensorflow__FunctionDef *def) {
  const size_t count = (size_t)w->made->attrs->count;
  Tensorflow__FunctionDef__AttrEntry *entries =
      rheos__arena_alloc(w->arena, (count + 1) * sizeof *entries);
  def->attr = rheos__arena_alloc(w->arena, (count + 1) * sizeof *def->attr);
  if (entries == NULL || def->attr == NULL) return rheos__out_of_memory();
  for (; def->n_attr < count; def->n_attr++) {
    Tensorflow__FunctionDef__AttrEntry *entry = &entries[def->n_attr];
    tensorflow__function_def__attr_entry__init(entry);
    entry->key = (char *)(uintptr_t)w->made->attrs->items[def->n_attr].name;
    RHEOS_TRY(
        rheos__attr_to_proto(&w->made->attrs->items[def->n_attr].value, w->arena, &entry->value));
    def->attr[def->n_attr] = entry;
  }
  return NULL;
}

// What is known of the shapes of arguments, as TensorFlow notes it: the attribute `_output_shapes`.
static rheos_status *arg_attrs_to_proto(const writer *w, Tensorflow__FunctionDef *def) {
  const rheos__function *f = &w->made->function;
  typedef struct arg_attr {
    Tensorflow__FunctionDef__ArgAttrEntry entry;
    Tensorflow__FunctionDef__ArgAttrs attrs;
    Tensorflow__FunctionDef__ArgAttrs__AttrEntry attr;
    Tensorflow__FunctionDef__ArgAttrs__AttrEntry *list[1];
  } arg_attr;
  arg_attr *all = rheos__arena_alloc(w->arena, ((size_t)f->num_args + 1) * sizeof *all);
  def->arg_attr = rheos__arena_alloc(w->arena, ((size_t)f->num_args + 1) * sizeof *def->arg_attr);
  if (all == NULL || def->arg_attr == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < f->num_args; i++) {
    const rheos__edge edge = f->args[i];
    const rheos_attr_value shape = {
        .kind = RHEOS_ATTR_LIST_SHAPE,
        .count = 1,
        .shapes = rheos__graph_node(w->body, edge.id)->outputs[edge.index].shape};
    arg_attr *a = &all[i];
    tensorflow__function_def__arg_attr_entry__init(&a->entry);
    tensorflow__function_def__arg_attrs__init(&a->attrs);
    tensorflow__function_def__arg_attrs__attr_entry__init(&a->attr);
    a->attr.key = (char *)(uintptr_t)"_output_shapes";
    RHEOS_TRY(rheos__attr_to_proto(&shape, w->arena, &a->attr.value));
    a->list[0] = &a->attr;
    a->attrs.attr = a->list;
    a->attrs.n_attr = 1;
    a->entry.key = (uint32_t)i;
    a->entry.value = &a->attrs;
    def->arg_attr[def->n_arg_attr++] = &a->entry;
  }
  return NULL;
}

static rheos_status *nodes_to_proto(const writer *w, Tensorflow__FunctionDef *def) {
  const size_t count = (size_t)rheos_graph_num_operations(w->body);
  Tensorflow__NodeDef *nodes = rheos__arena_alloc(w->arena, (count + 1) * sizeof *nodes);
  def->node_def = rheos__arena_alloc(w->arena, (count + 1) * sizeof *def->node_def);
  if (nodes == NULL || def->node_def == NULL) return rheos__out_of_memory();
  for (size_t id = 0; id < count; id++) {
    if (w->arg_of[id] >= 0) continue;
    Tensorflow__NodeDef *node = &nodes[def->n_node_def];
    rheos_status *status = node_to_proto(w, (int32_t)id, node);
    if (status != NULL) return rheos__status_at_take(status, w->body, (int32_t)id);
    def->node_def[def->n_node_def++] = node;
  }
  return NULL;
}

static rheos_status *write_function(writer *w, rheos__buffer *buffer) {
  const rheos__function *f = &w->made->function;
  const size_t count = (size_t)rheos_graph_num_operations(w->body);
  w->arg_of = rheos__arena_alloc(w->arena, (count + 1) * sizeof *w->arg_of);
  if (w->arg_of == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) w->arg_of[i] = -1;
  for (int32_t i = 0; i < f->num_args; i++) w->arg_of[f->args[i].id] = i;
  Tensorflow__FunctionDef def;
  tensorflow__function_def__init(&def);
  RHEOS_TRY(signature_to_proto(w, &def));
  RHEOS_TRY(nodes_to_proto(w, &def));
  RHEOS_TRY(results_to_proto(w, &def));
  RHEOS_TRY(attrs_to_proto(w, &def));
  RHEOS_TRY(arg_attrs_to_proto(w, &def));
  rheos__proto_pack(&def.base, buffer);
  return NULL;
}

rheos_status *rheos__made_function_to_bytes(const rheos__made_function *made,
                                            rheos__buffer *buffer) {
  rheos__arena arena;
  rheos__arena_init(&arena);
  writer w = {.made = made, .body = made->function.graph, .arena = &arena};
  rheos__graph_lock(w.body);
  rheos_status *status = write_function(&w, buffer);
  rheos__graph_unlock(w.body);
  rheos__arena_deinit(&arena);
  return status;
}
