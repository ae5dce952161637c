// Scopes: a stack of states, so that a push saves one and a pop brings it back, whatever it was. A
// scope that is NULL is one that has failed: nothing is done with it.
#include <rheos/scope.h>

#include <string.h>

#include "graph/build.h"
#include "graph/graph_impl.h"

rheos_scope *rheos_scope_new(rheos_graph *graph) {
  if (graph == NULL) return NULL;
  rheos_scope *scope = graph != NULL ? rheos__alloc_zeroed(sizeof *scope) : NULL;
  if (scope == NULL) return NULL;
  scope->graph = rheos_graph_ref(graph);
  scope->now.device = "";
  scope->now.variable_prefix = "";
  return scope;
}

static void drop_controllers(rheos_scope *scope, size_t keep) {
  while (scope->num_controllers > keep) {
    rheos__controller *controller = &scope->controllers[--scope->num_controllers];
    rheos__free(controller->inputs);
    rheos__free(controller->seen);
  }
}

void rheos_scope_free(rheos_scope *scope) {
  if (scope == NULL) return;
  drop_controllers(scope, 0);
  rheos__free(scope->controllers);
  rheos__free(scope->saved);
  rheos_status_free(scope->status);
  rheos_graph_unref(scope->graph);
  rheos__free(scope);
}

rheos_graph *rheos_scope_graph(const rheos_scope *scope) {
  return scope != NULL ? scope->graph : NULL;
}

void rheos_scope_take_any_name(rheos_scope *scope, bool takes) {
  if (scope != NULL) scope->takes_any_name = takes;
}

const rheos_status *rheos_scope_status(const rheos_scope *scope) {
  return scope != NULL ? scope->status : rheos__no_scope();
}

rheos_status *rheos_scope_finish(rheos_scope *scope) {
  if (scope == NULL) return rheos__no_scope();
  rheos_status *status = scope->status;
  scope->status = NULL;
  return status;
}

void rheos_scope_fail_take(rheos_scope *scope, rheos_status *status) {
  if (scope != NULL && scope->status == NULL) {
    scope->status = status;
  } else {
    rheos_status_free(status);
  }
}

// ---- The stack

// Saves the state. False if nothing further is to be done: an earlier error, or memory is short.
static bool save_state(rheos_scope *scope) {
  if (scope == NULL) return false;
  if (scope->num_unsaved > 0 ||
      !RHEOS_RESERVE(scope->saved, scope->saved_capacity, scope->num_saved + 1)) {
    scope->num_unsaved++;
    rheos_scope_fail_take(scope, rheos__out_of_memory());
    return false;
  }
  scope->saved[scope->num_saved++] = scope->now;
  return scope->status == NULL;
}

void rheos_scope_pop(rheos_scope *scope) {
  if (scope == NULL) return;
  if (scope->num_unsaved > 0) {
    scope->num_unsaved--;
  } else if (scope->num_saved > 0) {
    scope->now = scope->saved[--scope->num_saved];
    drop_controllers(scope, scope->now.num_controllers);
  } else {
    rheos_scope_fail_take(scope, rheos_status_new(RHEOS_FAILED_PRECONDITION,
                                                  "a scope was popped that was never pushed"));
  }
}

void rheos__join_frames(rheos_scope *scope) {
  if (scope == NULL) return;
  if (scope->num_unsaved > 0) {
    scope->num_unsaved--;
  } else if (scope->num_saved > 0) {
    scope->num_saved--;
  }
}

// ---- Names

static rheos_status *enter_name(rheos_scope *scope, const char *name) {
  size_t length = name != NULL ? strlen(name) : 0;
  rheos__names *names = &scope->graph->names;
  if (length != 0 && !rheos__name_is_valid(scope->now.name, name, length)) {
    return RHEOS_INVALID("'%s' is not a valid scope name", name);
  }
  if (length == 0) {
    scope->now.name = 0;
    return NULL;
  }
  if (name[length - 1] == '/') {
    return rheos__names_at(names, name, length - 1, false, &scope->now.name);
  }
  return rheos__names_take(names, scope->now.name, name, length, &scope->now.name);
}

void rheos__push_unchanged(rheos_scope *scope) { save_state(scope); }

void rheos__push_name(rheos_scope *scope, uint32_t entry) {
  if (save_state(scope)) scope->now.name = entry;
}

void rheos_push_name_scope(rheos_scope *scope, const char *name) {
  if (!save_state(scope)) return;
  uint32_t before = scope->now.name;
  rheos__graph_lock(scope->graph);
  rheos_status *status = enter_name(scope, name);
  rheos__graph_unlock(scope->graph);
  if (status == NULL) return;
  scope->now.name = before;
  rheos_scope_fail_take(scope, status);
}

size_t rheos_scope_name(const rheos_scope *scope, char *buffer, size_t size_bytes) {
  if (buffer == NULL) size_bytes = 0;
  if (size_bytes > 0) buffer[0] = '\0';
  if (scope == NULL) return 0;
  rheos__graph_lock(scope->graph);
  size_t length = rheos__names_format(&scope->graph->names, scope->now.name, buffer, size_bytes);
  rheos__graph_unlock(scope->graph);
  return length;
}

static size_t unique_name(rheos_scope *scope, const char *name, size_t length, bool mark_as_used,
                          char *buffer, size_t size_bytes) {
  rheos__names *names = &scope->graph->names;
  if (!mark_as_used) {
    return rheos__names_peek(names, scope->now.name, name, length, buffer, size_bytes);
  }
  uint32_t entry;
  rheos_status *status = rheos__names_take(names, scope->now.name, name, length, &entry);
  rheos_status_free(status);
  return status == NULL ? rheos__names_format(names, entry, buffer, size_bytes) : 0;
}

size_t rheos_scope_unique_name(rheos_scope *scope, const char *name, bool mark_as_used,
                               char *buffer, size_t size_bytes) {
  if (buffer == NULL) size_bytes = 0;
  if (size_bytes > 0) buffer[0] = '\0';
  if (scope == NULL || name == NULL) return 0;
  size_t length = strlen(name);
  if (!rheos__name_is_valid(scope->now.name, name, length)) return 0;
  rheos__graph_lock(scope->graph);
  length = unique_name(scope, name, length, mark_as_used, buffer, size_bytes);
  rheos__graph_unlock(scope->graph);
  return length;
}

// ---- Devices

rheos_status *rheos__merge_device(rheos_graph *graph, const char *outer, const char *inner,
                                  const char **out_device) {
  *out_device = outer;
  if (inner[0] == '\0') return NULL;
  rheos__device_name outer_name, inner_name;
  RHEOS_TRY(rheos__device_name_parse(outer, &outer_name));
  RHEOS_TRY(rheos__device_name_parse(inner, &inner_name));
  rheos__device_name merged = rheos__device_name_merge(&outer_name, &inner_name);
  char text[256];
  size_t length = rheos__device_name_format(&merged, text, sizeof text);
  const char *interned = rheos__intern_text(graph, text, length);
  if (interned == NULL) return rheos__out_of_memory();
  *out_device = interned;
  return NULL;
}

void rheos_push_device(rheos_scope *scope, const char *device) {
  if (!save_state(scope)) return;
  if (device == NULL) {
    scope->now.device = "";
    return;
  }
  rheos__graph_lock(scope->graph);
  rheos_status *status =
      rheos__merge_device(scope->graph, scope->now.device, device, &scope->now.device);
  rheos__graph_unlock(scope->graph);
  if (status != NULL) rheos_scope_fail_take(scope, status);
}

// ---- Control dependencies

static rheos_status *check_operations(const rheos_scope *scope, const rheos_operation *operations,
                                      size_t count) {
  RHEOS_NEED_LIST(operations, count);
  for (size_t i = 0; i < count; i++) {
    if (operations[i].graph == scope->graph && operations[i].id >= 0 &&
        operations[i].id < rheos_graph_num_operations(scope->graph)) {
      continue;
    }
    return RHEOS_INVALID(operations[i].graph == NULL || operations[i].graph == scope->graph
                             ? "control input %zu is no operation"
                             : "control input %zu is an operation of another graph",
                         i);
  }
  return NULL;
}

static rheos_status *add_controller(rheos_scope *scope, const rheos_operation *operations,
                                    size_t count) {
  RHEOS_TRY(check_operations(scope, operations, count));
  if (!RHEOS_RESERVE(scope->controllers, scope->controllers_capacity, scope->num_controllers + 1)) {
    return rheos__out_of_memory();
  }
  rheos__controller controller = {.inputs = rheos__alloc_array(count, sizeof(int32_t))};
  if (controller.inputs == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) {
    int32_t id = operations[i].id;
    size_t k = 0;
    while (k < controller.num_inputs && controller.inputs[k] != id) k++;
    if (k == controller.num_inputs) controller.inputs[controller.num_inputs++] = id;
  }
  scope->controllers[scope->num_controllers++] = controller;
  scope->now.num_controllers = scope->num_controllers;
  return NULL;
}

void rheos_push_control_dependencies(rheos_scope *scope, const rheos_operation *operations,
                                     size_t count) {
  if (!save_state(scope)) return;
  if (operations == NULL && count == 0) {
    scope->now.first_controller = scope->now.num_controllers;
    scope->now.context = NULL;  // another thing to wait for
    return;
  }
  rheos_status *status = add_controller(scope, operations, count);
  if (status != NULL) rheos_scope_fail_take(scope, status);
}

size_t rheos__scope_max_controls(const rheos_scope *scope) {
  size_t count = 0;
  for (size_t i = scope->now.first_controller; i < scope->now.num_controllers; i++) {
    count += scope->controllers[i].num_inputs;
  }
  return count;
}

static bool was_made_inside(const rheos__controller *controller, int32_t id) {
  size_t low = 0, high = controller->num_seen;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (controller->seen[middle].last < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < controller->num_seen && controller->seen[low].first <= id;
}

static bool is_dominated(const rheos__controller *controller, const rheos_output *inputs,
                         size_t num_inputs) {
  for (size_t i = 0; i < num_inputs; i++) {
    if (was_made_inside(controller, inputs[i].id)) return true;
  }
  return false;
}

static bool is_among(int32_t id, const rheos_output *inputs, size_t num_inputs, const int32_t *ids,
                     size_t num_ids) {
  for (size_t i = 0; i < num_inputs; i++) {
    if (inputs[i].id == id) return true;
  }
  for (size_t i = 0; i < num_ids; i++) {
    if (ids[i] == id) return true;
  }
  return false;
}

size_t rheos__scope_controls(const rheos_scope *scope, const rheos_output *inputs,
                             size_t num_inputs, int32_t *ids) {
  size_t count = 0;
  for (size_t i = scope->now.first_controller; i < scope->now.num_controllers; i++) {
    const rheos__controller *controller = &scope->controllers[i];
    if (is_dominated(controller, inputs, num_inputs)) continue;
    for (size_t k = 0; k < controller->num_inputs; k++) {
      int32_t id = controller->inputs[k];
      if (!is_among(id, inputs, num_inputs, ids, count)) ids[count++] = id;
    }
  }
  return count;
}

bool rheos__scope_reserve_seen(rheos_scope *scope) {
  for (size_t i = scope->now.first_controller; i < scope->now.num_controllers; i++) {
    rheos__controller *controller = &scope->controllers[i];
    if (!RHEOS_RESERVE(controller->seen, controller->seen_capacity, controller->num_seen + 1)) {
      return false;
    }
  }
  return true;
}

void rheos__scope_record(rheos_scope *scope, int32_t id) {
  for (size_t i = scope->now.first_controller; i < scope->now.num_controllers; i++) {
    rheos__controller *controller = &scope->controllers[i];
    size_t count = controller->num_seen;
    if (count > 0 && controller->seen[count - 1].last == id - 1) {
      controller->seen[count - 1].last = id;
    } else {
      controller->seen[controller->num_seen++] = (struct rheos__id_range){id, id};
    }
  }
}

// ---- Colocation

// Adds "loc:@name" to a sorted list unless it is there; `list` has room.
static void insert_group(rheos_string *list, int32_t *count, rheos_string group) {
  int32_t at = 0;
  for (; at < *count; at++) {
    int order = strcmp(list[at].data, group.data);
    if (order == 0) return;
    if (order > 0) break;
  }
  memmove(&list[at + 1], &list[at], (size_t)(*count - at) * sizeof *list);
  list[at] = group;
  ++*count;
}

static bool is_group(const rheos_string *string) {
  return string->size_bytes > 5 && memcmp(string->data, "loc:@", 5) == 0;
}

// "loc:@name" of a node, in the arena of the graph.
static bool own_group(rheos_graph *graph, const rheos__node *node, rheos_string *out_group) {
  size_t length = rheos__names_format(&graph->names, node->name, NULL, 0);
  char *text = rheos__arena_alloc(&graph->arena, length + 6);
  if (text == NULL) return false;
  memcpy(text, "loc:@", 5);
  rheos__names_format(&graph->names, node->name, text + 5, length + 1);
  *out_group = (rheos_string){text, length + 5};
  return true;
}

// A node that is colocated itself stands for those it is colocated with.
static rheos_status *colocate(rheos_scope *scope, int32_t id) {
  rheos_graph *graph = scope->graph;
  const rheos__node *node = rheos__graph_node(graph, id);
  const rheos_attr_value *groups = rheos__attrs_find(node->attrs, "_class");
  int32_t num_groups = groups != NULL && groups->kind == RHEOS_ATTR_LIST_STRING ? groups->count : 0;
  int32_t count = scope->now.num_colocation;
  rheos_string *list =
      rheos__arena_alloc(&graph->arena, (size_t)(count + num_groups + 1) * sizeof *list);
  if (list == NULL) return rheos__out_of_memory();
  if (count != 0) memcpy(list, scope->now.colocation, (size_t)count * sizeof *list);
  bool found = false;
  for (int32_t i = 0; i < num_groups; i++) {
    if (!is_group(&groups->strings[i])) continue;
    insert_group(list, &count, groups->strings[i]);
    found = true;
  }
  rheos_string own;
  if (!found) {
    if (!own_group(graph, node, &own)) return rheos__out_of_memory();
    insert_group(list, &count, own);
  }
  scope->now.colocation = list;
  scope->now.num_colocation = count;
  // Like TensorFlow, colocation is stronger than the devices around it and in it.
  scope->now.device = "";
  if (node->device[0] != '\0') scope->now.colocation_device = node->device;
  return NULL;
}

void rheos_push_colocation(rheos_scope *scope, rheos_operation operation) {
  if (!save_state(scope)) return;
  if (operation.graph == NULL) {
    scope->now.num_colocation = 0;
    scope->now.colocation_device = NULL;
    scope->now.device = "";
    return;
  }
  rheos_status *status = check_operations(scope, &operation, 1);
  if (status == NULL) {
    rheos__graph_lock(scope->graph);
    status = colocate(scope, operation.id);
    rheos__graph_unlock(scope->graph);
  }
  if (status != NULL) rheos_scope_fail_take(scope, status);
}

// ---- Attributes

static rheos_status *add_attr(rheos_scope *scope, const char *op_type, rheos_attr attr) {
  rheos_graph *graph = scope->graph;
  const bool is_container = attr.name != NULL && strcmp(attr.name, "container") == 0 &&
                            attr.value.kind == RHEOS_ATTR_STRING;
  if (!is_container && (attr.name == NULL || attr.name[0] != '_')) {
    return RHEOS_INVALID("an attribute for all operations starts with '_', '%s' does not",
                         attr.name != NULL ? attr.name : "");
  }
  if (!rheos__attr_value_is_sound(&attr.value)) {
    return RHEOS_INVALID("attribute '%s' has no valid value", attr.name);
  }
  attr.name = rheos__intern_text(graph, attr.name, strlen(attr.name));
  rheos__scope_attr *link = rheos__arena_alloc(&graph->arena, sizeof *link);
  if (attr.name == NULL || link == NULL) return rheos__out_of_memory();
  if (op_type != NULL) {
    op_type = rheos__intern_text(graph, op_type, strlen(op_type));
    if (op_type == NULL) return rheos__out_of_memory();
  }
  // Kept by the graph, as a set of its own.
  const rheos__attrs *kept = rheos__intern_attrs(graph, &attr, 1);
  if (kept == NULL) return rheos__out_of_memory();
  *link = (rheos__scope_attr){scope->now.attrs, op_type, kept->items[0]};
  scope->now.attrs = link;
  return NULL;
}

static void push_attr(rheos_scope *scope, const char *op_type, rheos_attr attr) {
  if (!save_state(scope)) return;
  rheos__graph_lock(scope->graph);
  rheos_status *status = add_attr(scope, op_type, attr);
  rheos__graph_unlock(scope->graph);
  if (status != NULL) rheos_scope_fail_take(scope, status);
}

void rheos_push_attr(rheos_scope *scope, rheos_attr attr) { push_attr(scope, NULL, attr); }

void rheos_push_attr_of_type(rheos_scope *scope, const char *op_type, rheos_attr attr) {
  push_attr(scope, op_type, attr);
}

// ---- Source lines

void rheos_scope_set_source(rheos_scope *scope, const char *file, int32_t line) {
  if (scope == NULL) return;
  scope->source_line = line > 0 ? (uint32_t)line : 0;
  if (file != NULL && scope->source_file != NULL && strcmp(file, scope->source_file) == 0) return;
  scope->source_file = NULL;
  scope->source_file_number = 0;
  if (file == NULL) return;
  rheos_graph *graph = scope->graph;
  rheos__graph_lock(graph);
  // A line is a help, not a promise: it is left out when memory is short.
  if (rheos__intern(&graph->strings, &graph->arena, file, strlen(file),
                    &scope->source_file_number) &&
      scope->source_file_number != 0) {
    scope->source_file = rheos__interned(&graph->strings, scope->source_file_number);
  }
  rheos__graph_unlock(graph);
}

// ---- Variable scopes

rheos__variable_scope rheos__scope_variable_scope(const rheos_scope *scope) {
  if (scope == NULL) return (rheos__variable_scope){"", 0};
  return (rheos__variable_scope){scope->now.variable_prefix, scope->now.variable_reuse};
}

void rheos__push_variable_frame(rheos_scope *scope, const char *prefix, int reuse) {
  if (!save_state(scope)) return;
  rheos__graph_lock(scope->graph);
  const char *kept = rheos__intern_text(scope->graph, prefix, strlen(prefix));
  rheos__graph_unlock(scope->graph);
  if (kept == NULL) {
    rheos_scope_fail_take(scope, rheos__out_of_memory());
    return;
  }
  scope->now.variable_prefix = kept;
  scope->now.variable_reuse = reuse;
}
