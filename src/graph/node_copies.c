// See node_copies.h.
#include "graph/node_copies.h"

#include <string.h>

#include "base/arena.h"
#include "graph/build.h"

// Puts a node behind its inputs in the order; `state`: 0 not seen, 1 open, 2 done. `stack` has
// room.
static rheos_status *order_node(rheos__copier *c, int32_t root, uint8_t *state, int32_t *stack,
                                int32_t *num_ordered) {
  int32_t depth = 0;
  if (state[root] == 0) stack[depth++] = root;
  while (depth > 0) {
    const int32_t id = stack[depth - 1];
    const rheos__node *node = rheos__graph_node(c->from, id);
    if (state[id] == 2) {
      depth--;
      continue;
    }
    const bool was_open = state[id] == 1;
    state[id] = 1;
    bool is_ready = true;
    for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; i++) {
      const int32_t from = node->edges[i].id;
      if (state[from] == 2) continue;
      if (state[from] == 1 || was_open) {
        return rheos_status_new(RHEOS_UNIMPLEMENTED,
                                "copies of functions with loops of version 1 in them");
      }
      is_ready = false;
    }
    if (is_ready) {
      state[id] = 2;
      c->order[(*num_ordered)++] = id;
      depth--;
      continue;
    }
    for (int32_t i = node->num_inputs + node->num_control_inputs - 1; i >= 0; i--) {
      const int32_t from = node->edges[i].id;
      if (state[from] == 0) stack[depth++] = from;
    }
  }
  return NULL;
}

static rheos_status *order_nodes(rheos__copier *c, size_t num_edges) {
  const size_t count = (size_t)c->num_nodes;
  uint8_t *state = rheos__alloc_array(count + 1, sizeof *state);
  int32_t *stack = rheos__alloc_array(num_edges + count + 1, sizeof *stack);
  rheos_status *status = state == NULL || stack == NULL ? rheos__out_of_memory() : NULL;
  int32_t num_ordered = 0;
  for (int32_t id = 0; id < c->num_nodes && status == NULL; id++) {
    status = order_node(c, id, state, stack, &num_ordered);
  }
  rheos__free(state);
  rheos__free(stack);
  return status;
}

rheos_status *rheos__copier_init(rheos__copier *c, rheos_graph *from, rheos_scope *to) {
  *c = (rheos__copier){.from = from, .to = to, .num_nodes = rheos_graph_num_operations(from)};
  const size_t count = (size_t)c->num_nodes;
  c->order = rheos__alloc_array(count + 1, sizeof *c->order);
  c->nodes = rheos__alloc_array(count + 1, sizeof *c->nodes);
  c->starts = rheos__alloc_array(count + 1, sizeof *c->starts);
  if (c->order == NULL || c->nodes == NULL || c->starts == NULL) return rheos__out_of_memory();
  size_t num_outputs = 0, num_edges = 0;
  for (int32_t id = 0; id < c->num_nodes; id++) {
    const rheos__node *node = rheos__graph_node(from, id);
    c->nodes[id] = -1;
    c->starts[id] = (int32_t)num_outputs;
    num_outputs += (size_t)node->num_outputs;
    num_edges += (size_t)node->num_inputs + (size_t)node->num_control_inputs;
  }
  c->outputs = rheos__alloc_array(num_outputs + 1, sizeof *c->outputs);
  if (c->outputs == NULL) return rheos__out_of_memory();
  return order_nodes(c, num_edges);
}

void rheos__copier_deinit(rheos__copier *c) {
  rheos__free(c->order);
  rheos__free(c->nodes);
  rheos__free(c->starts);
  rheos__free(c->outputs);
  *c = (rheos__copier){0};
}

void rheos__copier_put(rheos__copier *c, rheos__edge edge, rheos_output output) {
  c->outputs[c->starts[edge.id] + edge.index] = output;
}

rheos_output rheos__copier_at(const rheos__copier *c, rheos__edge edge) {
  return c->outputs[c->starts[edge.id] + edge.index];
}

bool rheos__is_free(const rheos__node *node) {
  const unsigned wrong = RHEOS_OP_STATEFUL | RHEOS_OP_WRITES | RHEOS_OP_PLACEHOLDER | RHEOS_OP_ARG |
                         RHEOS_OP_VARIABLE | RHEOS_OP_CALLS;
  return node->num_inputs == 0 && (node->signature->op->flags & wrong) == 0;
}

// The node's name if nothing has it; else one like it.
static char *name_of_copy(const rheos__copier *c, const rheos__node *node) {
  char *name = rheos__node_name(c->from, node);
  if (name == NULL || c->is_named_in_scope) return name;
  const size_t length = strlen(name);
  char *exact = rheos__alloc(length + 2);
  if (exact != NULL) {
    memcpy(exact, name, length + 1);
    const bool is_taken = rheos_graph_operation(rheos_scope_graph(c->to), name).graph != NULL;
    if (!is_taken) memcpy(exact + length, "/", 2);
  }
  rheos__free(name);
  return exact;
}

static void learn_shapes(const rheos__copier *c, int32_t id, const rheos__node *node) {
  for (int32_t i = 0; i < node->num_outputs; i++) {
    const rheos_output output = {rheos_scope_graph(c->to), c->nodes[id], i};
    rheos__copier_put((rheos__copier *)(uintptr_t)c, (rheos__edge){id, i}, output);
    const rheos_shape shape = *node->outputs[i].shape;
    const rheos_shape own = rheos_output_shape(output);
    if (shape.rank < 0 || rheos_shape_equal(&shape, &own)) continue;
    rheos_status_free(rheos_output_set_shape(output, shape));
  }
}

// "loc:@" and the name that the copy of that node has.
static bool rename_group(const rheos__copier *c, rheos_string *group, rheos__arena *arena) {
  static const char prefix[] = "loc:@";
  const size_t length = sizeof prefix - 1, scope_length = rheos_scope_name(c->to, NULL, 0);
  if (scope_length == 0 || group->size_bytes <= length ||
      memcmp(group->data, prefix, length) != 0) {
    return true;
  }
  char *text = rheos__arena_alloc(arena, scope_length + 1 + group->size_bytes);
  if (text == NULL) return false;
  memcpy(text, prefix, length);
  rheos_scope_name(c->to, text + length, scope_length + 1);
  text[length + scope_length] = '/';
  memcpy(text + length + scope_length + 1, group->data + length, group->size_bytes - length);
  *group = (rheos_string){text, scope_length + 1 + group->size_bytes};
  return true;
}

// The attributes of the copy; NULL when memory is short.
static const rheos_attr *attrs_of_copy(const rheos__copier *c, const rheos__node *node,
                                       rheos__arena *arena) {
  const rheos_attr_value *groups = rheos__attrs_find(node->attrs, "_class");
  if (!c->is_named_in_scope || groups == NULL || groups->kind != RHEOS_ATTR_LIST_STRING ||
      groups->count == 0) {
    return node->attrs->items;
  }
  const size_t count = (size_t)node->attrs->count, num_groups = (size_t)groups->count;
  rheos_attr *attrs = rheos__arena_copy(arena, node->attrs->items, count * sizeof *attrs);
  rheos_string *renamed = rheos__arena_copy(arena, groups->strings, num_groups * sizeof *renamed);
  if (attrs == NULL || renamed == NULL) return NULL;
  for (size_t i = 0; i < num_groups; i++) {
    if (!rename_group(c, &renamed[i], arena)) return NULL;
  }
  for (size_t i = 0; i < count; i++) {
    if (strcmp(attrs[i].name, "_class") == 0) attrs[i].value.strings = renamed;
  }
  return attrs;
}

// Sets `args` in the arena; false when memory is short.
static bool describe_copy(const rheos__copier *c, const rheos__node *node, rheos__arena *arena,
                          rheos_op_args *args) {
  const size_t num_inputs = (size_t)node->num_inputs;
  rheos_output *inputs = rheos__arena_alloc(arena, (num_inputs + 1) * sizeof *inputs);
  rheos_operation *controls =
      rheos__arena_alloc(arena, ((size_t)node->num_control_inputs + 1) * sizeof *controls);
  const rheos_attr *attrs = attrs_of_copy(c, node, arena);
  if (inputs == NULL || controls == NULL || attrs == NULL) return false;
  *args = (rheos_op_args){.type = node->signature->op->name,
                          .inputs = inputs,
                          .num_inputs = num_inputs,
                          .attrs = attrs,
                          .num_attrs = (size_t)node->attrs->count,
                          .control_inputs = controls,
                          .device = node->device};
  for (size_t i = 0; i < num_inputs; i++) inputs[i] = rheos__copier_at(c, node->edges[i]);
  for (int32_t i = 0; i < node->num_control_inputs; i++) {
    const int32_t copy = c->nodes[node->edges[num_inputs + (size_t)i].id];
    if (copy < 0) continue;  // of the other part, or an argument
    controls[args->num_control_inputs++] = (rheos_operation){rheos_scope_graph(c->to), copy};
  }
  return true;
}

static void copy_node(rheos__copier *c, int32_t id) {
  const rheos__node *node = rheos__graph_node(c->from, id);
  char *name = name_of_copy(c, node);
  rheos_op_args args;
  rheos__arena arena;
  rheos__arena_init(&arena);
  if (name == NULL || !describe_copy(c, node, &arena, &args)) {
    rheos_scope_fail_take(c->to, rheos__out_of_memory());
  } else {
    const char *file;
    int32_t line;
    rheos_operation_source((rheos_operation){c->from, id}, &file, &line);
    rheos_scope_set_source(c->to, file, line);
    args.name = name;
    const rheos_operation copy = rheos__op_of_file(c->to, &args, node->signature);
    if (copy.graph != NULL) {
      c->nodes[id] = copy.id;
      learn_shapes(c, id, node);
      if (c->copied != NULL) c->copied(c->argument, copy.graph, copy.id);
    }
  }
  rheos__arena_deinit(&arena);
  rheos__free(name);
}

static bool stands_for(const rheos__copier *c, int32_t id) {
  if (c->nodes[id] >= 0) return true;
  return rheos__graph_node(c->from, id)->num_outputs > 0 && c->outputs[c->starts[id]].graph != NULL;
}

void rheos__copy_nodes(rheos__copier *c, const bool *wanted) {
  for (int32_t i = 0; i < c->num_nodes && rheos_scope_status(c->to) == NULL; i++) {
    const int32_t id = c->order[i];
    if (!wanted[id] || stands_for(c, id)) continue;
    const rheos__node *node = rheos__graph_node(c->from, id);
    for (int32_t k = 0; k < node->num_inputs; k++) {
      const int32_t from = node->edges[k].id;
      if (!stands_for(c, from) && rheos__is_free(rheos__graph_node(c->from, from))) {
        copy_node(c, from);
      }
    }
    copy_node(c, id);
  }
}

rheos_output rheos__copy_edge(rheos__copier *c, rheos__edge edge) {
  if (!stands_for(c, edge.id) && rheos__is_free(rheos__graph_node(c->from, edge.id))) {
    copy_node(c, edge.id);
  }
  return rheos__copier_at(c, edge);
}

bool rheos__mark_inputs(const rheos_graph *graph, bool *marked, bool with_controls) {
  const int32_t count = rheos_graph_num_operations(graph);
  int32_t *stack = rheos__alloc_array((size_t)count + 1, sizeof *stack);
  if (stack == NULL) return false;
  int32_t depth = 0;
  for (int32_t id = 0; id < count; id++) {
    if (marked[id]) stack[depth++] = id;
  }
  while (depth > 0) {
    const rheos__node *node = rheos__graph_node(graph, stack[--depth]);
    const int32_t num_edges = node->num_inputs + (with_controls ? node->num_control_inputs : 0);
    for (int32_t i = 0; i < num_edges; i++) {
      const int32_t from = node->edges[i].id;
      if (marked[from]) continue;
      marked[from] = true;
      stack[depth++] = from;
    }
  }
  rheos__free(stack);
  return true;
}
