// The tables that rules look at: who takes whose outputs, what is needed, what lies behind nodes
// that only pass values on.
#include "lint/lint.h"

#include <rheos/train.h>

// ---- Making

static void count_uses(rheos__lint_graph *g) {
  for (int32_t id = 0; id < g->num_nodes; id++) {
    const rheos__node *node = g->nodes[id];
    for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; i++) {
      if (node->edges[i].id < g->num_nodes) g->first_use[node->edges[i].id + 1]++;
    }
  }
  for (int32_t id = 0; id < g->num_nodes; id++) g->first_use[id + 1] += g->first_use[id];
}

// `next` has where the next use of each node goes.
static void fill_uses(rheos__lint_graph *g, int32_t *next) {
  for (int32_t id = 0; id < g->num_nodes; id++) {
    const rheos__node *node = g->nodes[id];
    for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; i++) {
      const rheos__edge edge = node->edges[i];
      if (edge.id >= g->num_nodes) continue;
      const bool is_control = i >= node->num_inputs;
      g->uses[next[edge.id]++] =
          (rheos__lint_use){id, is_control ? -1 : i, is_control ? -1 : edge.index};
    }
  }
}

bool rheos__lint_graph_init(rheos__lint_graph *out_graph, rheos_graph *graph,
                            const char *function) {
  rheos__lint_graph *g = out_graph;
  *g = (rheos__lint_graph){.graph = graph, .function = function};
  g->num_nodes = rheos_graph_num_operations(graph);
  const size_t count = (size_t)g->num_nodes;
  g->nodes = rheos__alloc_array(count + 1, sizeof *g->nodes);
  g->ops = rheos__alloc_array(count + 1, sizeof *g->ops);
  g->first_use = rheos__alloc_array(count + 1, sizeof *g->first_use);
  g->asked = rheos__alloc_array(count + 1, sizeof *g->asked);
  g->reached = rheos__alloc_array(count + 1, sizeof *g->reached);
  int32_t *next = rheos__alloc_array(count + 1, sizeof *next);
  bool is_made = g->nodes && g->ops && g->first_use && g->asked && g->reached && next;
  for (int32_t id = 0; is_made && id < g->num_nodes; id++) {
    g->nodes[id] = rheos__graph_node(graph, id);
    g->ops[id] = g->nodes[id]->signature->op->name;
  }
  if (is_made) {
    count_uses(g);
    memcpy(next, g->first_use, (count + 1) * sizeof *next);
    g->uses = rheos__alloc_array((size_t)g->first_use[count] + 1, sizeof *g->uses);
    is_made = g->uses != NULL;
  }
  if (is_made) fill_uses(g, next);
  rheos__free(next);
  if (!is_made) rheos__lint_graph_deinit(g);
  return is_made;
}

void rheos__lint_graph_deinit(rheos__lint_graph *g) {
  rheos__free(g->nodes);
  rheos__free(g->ops);
  rheos__free(g->first_use);
  rheos__free(g->uses);
  rheos__free(g->asked);
  rheos__free(g->reached);
  *g = (rheos__lint_graph){0};
}

bool rheos__lint_mark_needed(const rheos__lint_graph *g, bool *marks) {
  int32_t *stack = rheos__alloc_array((size_t)g->num_nodes + 1, sizeof *stack);
  int32_t count = 0;
  if (stack == NULL) return false;
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (marks[id]) stack[count++] = id;
  }
  while (count > 0) {
    const rheos__node *node = g->nodes[stack[--count]];
    for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; i++) {
      const int32_t from = node->edges[i].id;
      if (from >= g->num_nodes || marks[from]) continue;
      marks[from] = true;
      stack[count++] = from;
    }
  }
  rheos__free(stack);
  return true;
}

// ---- Asking

bool rheos__lint_is_one(const rheos__lint_graph *g, int32_t id, const char *const *ops) {
  for (; *ops != NULL; ops++) {
    if (rheos__lint_is(g, id, *ops)) return true;
  }
  return false;
}

rheos__edge rheos__lint_input(const rheos__lint_graph *g, int32_t id, int32_t input) {
  const rheos__edge none = {-1, -1};
  if (id < 0 || input < 0 || input >= g->nodes[id]->num_inputs) return none;
  const rheos__edge edge = g->nodes[id]->edges[input];
  return edge.id < g->num_nodes ? edge : none;
}

// Of a walk backwards: a loop of version 1 has no end.
enum { MOST_STEPS = 100 };

rheos__edge rheos__lint_behind(const rheos__lint_graph *g, rheos__edge edge, bool reshapes) {
  static const char *const passing[] = {"Identity",
                                        "StopGradient",
                                        "PreventGradient",
                                        "CheckNumerics",
                                        "Snapshot",
                                        "PlaceholderWithDefault",
                                        NULL};
  static const char *const reshaping[] = {"Reshape", "Squeeze", "ExpandDims", NULL};
  for (int step = 0; edge.id >= 0 && step < MOST_STEPS; step++) {
    const bool passes = rheos__lint_is_one(g, edge.id, passing) ||
                        (reshapes && rheos__lint_is_one(g, edge.id, reshaping));
    const rheos__edge next = rheos__lint_input(g, edge.id, 0);
    if (!passes || next.id < 0) break;
    edge = next;
  }
  return edge;
}

const rheos_shape *rheos__lint_shape(const rheos__lint_graph *g, rheos__edge edge) {
  static const rheos_shape unknown = {.rank = -1};
  if (edge.id < 0 || edge.index < 0 || edge.index >= g->nodes[edge.id]->num_outputs) {
    return &unknown;
  }
  return g->nodes[edge.id]->outputs[edge.index].shape;
}

rheos_dtype rheos__lint_dtype(const rheos__lint_graph *g, rheos__edge edge) {
  if (edge.id < 0 || edge.index < 0 || edge.index >= g->nodes[edge.id]->num_outputs) {
    return RHEOS_INVALID_DTYPE;
  }
  return rheos_dtype_base(g->nodes[edge.id]->outputs[edge.index].dtype);
}

bool rheos__lint_is_variable(const rheos__lint_graph *g, int32_t id) {
  static const char *const ops[] = {"VariableV2", "Variable", "VarHandleOp", NULL};
  return rheos__lint_is_one(g, id, ops);
}

static bool begins_with(const char *text, const char *beginning) {
  return strncmp(text, beginning, strlen(beginning)) == 0;
}

bool rheos__lint_is_training(const rheos__lint_graph *g, int32_t id) {
  const char *op = g->ops[id];
  return begins_with(op, "Apply") || begins_with(op, "SparseApply") ||
         begins_with(op, "ResourceApply") || begins_with(op, "ResourceSparseApply");
}

bool rheos__lint_is_update(const rheos__lint_graph *g, int32_t id) {
  const char *op = g->ops[id];
  return begins_with(op, "Assign") || begins_with(op, "Scatter") ||
         begins_with(op, "ResourceScatter") || begins_with(op, "ResourceStridedSliceAssign") ||
         begins_with(op, "StridedSliceAssign") || rheos__lint_is_training(g, id);
}

int32_t rheos__lint_variable_of(const rheos__lint_graph *g, rheos__edge edge) {
  for (int step = 0; edge.id >= 0 && !rheos__lint_is_variable(g, edge.id); step++) {
    static const char *const ops[] = {"Identity", "Switch",         "RefSwitch",   "Enter",
                                      "RefEnter", "ReadVariableOp", "RefIdentity", NULL};
    const rheos__edge next = rheos__lint_input(g, edge.id, 0);
    const bool passes = rheos__lint_is_one(g, edge.id, ops) || rheos__lint_is_update(g, edge.id);
    if (!passes || step == MOST_STEPS) return -1;
    edge = next;
  }
  return edge.id;
}

bool rheos__lint_is_first_value(const rheos__lint_graph *g, int32_t id) {
  static const char *const assignments[] = {"Assign", "AssignVariableOp", NULL};
  static const char *const restoring[] = {"RestoreV2", "Restore", "RestoreSlice", NULL};
  if (!rheos__lint_is_one(g, id, assignments)) return false;
  const rheos__edge value = rheos__lint_behind(g, rheos__lint_input(g, id, 1), true);
  if (rheos__lint_is_one(g, value.id, restoring)) return true;
  const rheos_variable variable = rheos_variable_of(
      (rheos_output){g->graph, rheos__lint_variable_of(g, rheos__lint_input(g, id, 0)), 0});
  return variable.graph == NULL || variable.initializer.id == id;
}

bool rheos__lint_has_variables(const rheos__lint_graph *g) {
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (rheos__lint_is_variable(g, id)) return true;
  }
  return false;
}

bool rheos__lint_needs_variable(rheos__lint_findings *found, const rheos__lint_graph *g,
                                rheos__edge edge) {
  bool *seen = rheos__alloc_array((size_t)g->num_nodes + 1, sizeof *seen);
  int32_t *stack = rheos__alloc_array((size_t)g->num_nodes + 1, sizeof *stack);
  bool needs = false;
  if (seen == NULL || stack == NULL) found->is_short = true;
  int32_t count = 0;
  if (!found->is_short && edge.id >= 0) {
    seen[edge.id] = true;
    stack[count++] = edge.id;
  }
  while (count > 0 && !needs) {
    const int32_t id = stack[--count];
    needs = rheos__lint_is_variable(g, id) || rheos__lint_is(g, id, "ReadVariableOp");
    for (int32_t i = 0; i < g->nodes[id]->num_inputs; i++) {
      const int32_t from = g->nodes[id]->edges[i].id;
      if (from >= g->num_nodes || seen[from]) continue;
      seen[from] = true;
      stack[count++] = from;
    }
  }
  rheos__free(seen);
  rheos__free(stack);
  return needs;
}

const char *rheos__lint_name(rheos__lint_findings *found, const rheos__lint_graph *g, int32_t id) {
  char *name = rheos__node_name(g->graph, g->nodes[id]);
  const char *kept = name != NULL ? rheos__arena_strdup(found->arena, name) : NULL;
  rheos__free(name);
  if (kept == NULL) found->is_short = true;
  return kept != NULL ? kept : "";
}

void *rheos__lint_alloc(rheos__lint_findings *found, size_t count, size_t element_bytes) {
  size_t size_bytes;
  void *memory = NULL;
  if (rheos__mul_size(count > 0 ? count : 1, element_bytes, &size_bytes)) {
    memory = rheos__arena_alloc_zeroed(found->arena, size_bytes);
  }
  if (memory == NULL) found->is_short = true;
  return memory;
}
