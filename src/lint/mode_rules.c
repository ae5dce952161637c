// Rules about dropout and statistics of batches where nothing is trained.
#include "lint/lint.h"

#include "lint/run_log.h"

// A value times what is 0 or 1 by chance: Mul(x, Cast(GreaterEqual(uniform, rate))), or a choice
// by it, or Mul(x, Floor(keep + uniform)) as it was once written.
static bool is_uniform(const rheos__lint_graph *g, rheos__edge edge) {
  static const char *const random[] = {"RandomUniform", "StatelessRandomUniform",
                                       "StatelessRandomUniformV2", NULL};
  static const char *const passing[] = {"Add", "AddV2", "Mul", "Sub", "Identity", NULL};
  for (int depth = 0; depth < 6 && edge.id >= 0; depth++) {
    if (rheos__lint_is_one(g, edge.id, random)) return true;
    if (!rheos__lint_is_one(g, edge.id, passing)) return false;
    const rheos__edge second = rheos__lint_input(g, edge.id, 1);
    if (rheos__lint_is_one(g, second.id, random)) return true;
    if (second.id >= 0 && !rheos__lint_is(g, second.id, "Const") &&
        rheos__lint_is_one(g, second.id, passing)) {
      const rheos__edge first = rheos__lint_input(g, edge.id, 0);
      edge = rheos__lint_is(g, first.id, "Const") ? second : first;
    } else {
      edge = rheos__lint_input(g, edge.id, 0);
    }
  }
  return false;
}

static bool is_mask(const rheos__lint_graph *g, rheos__edge edge) {
  static const char *const compared[] = {"GreaterEqual", "Greater", "Less", "LessEqual", NULL};
  if (rheos__lint_is(g, edge.id, "Cast")) edge = rheos__lint_input(g, edge.id, 0);
  if (rheos__lint_is(g, edge.id, "Floor")) return is_uniform(g, rheos__lint_input(g, edge.id, 0));
  if (!rheos__lint_is_one(g, edge.id, compared)) return false;
  return is_uniform(g, rheos__lint_input(g, edge.id, 0)) ||
         is_uniform(g, rheos__lint_input(g, edge.id, 1));
}

static bool is_dropout(const rheos__lint_graph *g, int32_t id) {
  static const char *const choices[] = {"Select", "SelectV2", NULL};
  if (rheos__lint_is_one(g, id, choices)) return is_mask(g, rheos__lint_input(g, id, 0));
  return rheos__lint_is(g, id, "Mul") &&
         (is_mask(g, rheos__lint_input(g, id, 1)) || is_mask(g, rheos__lint_input(g, id, 0)));
}

// Normalization of batches scales by what is learned; the kernel is used with ones to normalize
// each element by itself.
static bool is_learned(const rheos__lint_graph *g, rheos__edge edge) {
  edge = rheos__lint_behind(g, edge, true);
  if (rheos__lint_is(g, edge.id, "Cast")) edge = rheos__lint_input(g, edge.id, 0);
  return rheos__lint_is(g, edge.id, "ReadVariableOp") || rheos__lint_variable_of(g, edge) >= 0;
}

static bool is_training_norm(const rheos__lint_graph *g, int32_t id) {
  if (strncmp(g->ops[id], "FusedBatchNorm", 14) != 0 || strstr(g->ops[id], "Grad") != NULL) {
    return false;
  }
  const rheos_attr_value *value = rheos__attrs_find(g->nodes[id]->attrs, "is_training");
  return value != NULL && value->kind == RHEOS_ATTR_BOOL && value->b &&
         is_learned(g, rheos__lint_input(g, id, 1));
}

enum { MOST_INPUTS = 1000 };

// Whether a conditional decides about the node: what it takes, directly or by a few nodes, comes
// from a Switch. `*budget` is how many more inputs are looked at.
static bool is_conditional(const rheos__lint_graph *g, int32_t id, int depth, int *budget) {
  const rheos__node *node = g->nodes[id];
  for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; i++) {
    const int32_t from = node->edges[i].id;
    if (from >= g->num_nodes) continue;
    if ((*budget)-- <= 0) return false;
    if (rheos__lint_is(g, from, "Switch")) return true;
    if (depth > 0 && is_conditional(g, from, depth - 1, budget)) return true;
  }
  return false;
}

void rheos__lint_training_mode(rheos__lint_findings *found, const rheos__lint_graph *g) {
  if (!g->is_serving) return;
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (g->has_asked && !g->reached[id]) continue;
    const bool drops = is_dropout(g, id);
    if (!drops && !is_training_norm(g, id)) continue;
    int budget = MOST_INPUTS;
    if (is_conditional(g, id, 6, &budget)) continue;
    rheos__lint_tell(found, g, id, "'%s' %s in what serves", rheos__lint_name(found, g, id),
                     drops ? "drops values by chance" : "normalizes by the batch's statistics");
  }
}

// ---- In runs

enum { PREDICTIONS = 10 };

// Tells of dropout among the marked nodes, unless something there changes a variable.
static void tell_dropout(rheos__lint_findings *found, const rheos__lint_graph *g, const bool *marks,
                         int64_t num_runs) {
  int32_t dropout = -1;
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!marks[id]) continue;
    if (rheos__lint_is_update(g, id)) return;
    int budget = MOST_INPUTS;
    if (dropout < 0 && is_dropout(g, id) && !is_conditional(g, id, 6, &budget)) dropout = id;
  }
  if (dropout < 0) return;
  rheos__lint_tell(found, g, dropout, "%lld runs that train nothing reached the dropout '%s'",
                   (long long)num_runs, rheos__lint_name(found, g, dropout));
}

void rheos__lint_dropout_in_runs(rheos__lint_findings *found, const rheos__lint_graph *g) {
  bool *marks = rheos__lint_alloc(found, (size_t)g->num_nodes + 1, sizeof *marks);
  for (size_t i = 0; g->function[0] == '\0' && i < g->runs->num_asked; i++) {
    const rheos__asked *asked = &g->runs->asked[i];
    if (asked->num_runs < PREDICTIONS || found->is_short) continue;
    memset(marks, 0, (size_t)g->num_nodes * sizeof *marks);
    for (int32_t k = 0; k < asked->num_ids; k++) {
      if (asked->ids[k] < g->num_nodes) marks[asked->ids[k]] = true;
    }
    if (!rheos__lint_mark_needed(g, marks)) found->is_short = true;
    if (!found->is_short) tell_dropout(found, g, marks, asked->num_runs);
  }
}
