// Rules about what nothing runs, and what runs where it should not.
#include "lint/lint.h"

#include <rheos/collections.h>
#include <stdio.h>

#include "graph/library.h"
#include "lint/run_log.h"

// ---- Checks and prints

// Whether what takes a node leads to something that is more than a way out of a conditional or a
// function of checks: then who built it knows of it.
static bool leads_on(const rheos__lint_graph *g, int32_t id, int depth) {
  static const char *const passing[] = {"Identity", "Merge", "Switch", NULL};
  for (int32_t u = g->first_use[id]; u < g->first_use[id + 1]; u++) {
    const int32_t user = g->uses[u].id;
    const bool passes = g->uses[u].input >= 0 || rheos__lint_num_uses(g, user) > 0;
    if (!passes || !rheos__lint_is_one(g, user, passing) || depth == 0) return true;
    if (user > id && leads_on(g, user, depth - 1)) return true;
  }
  return false;
}

// In a function every check runs, as whatever has effects.
void rheos__lint_unused_check(rheos__lint_findings *found, const rheos__lint_graph *g) {
  static const char *const ops[] = {"Print", "PrintV2", "Assert", "CheckNumerics", NULL};
  if (g->function[0] != '\0') return;
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!rheos__lint_is_one(g, id, ops) || g->reached[id] || leads_on(g, id, 4)) continue;
    rheos__lint_tell(found, g, id, "nothing takes or waits for '%s', a %s, so that it never runs",
                     rheos__lint_name(found, g, id), g->ops[id]);
  }
}

void rheos__lint_unused_placeholder(rheos__lint_findings *found, const rheos__lint_graph *g) {
  if (g->function[0] != '\0') return;
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!rheos__lint_is(g, id, "Placeholder") || rheos__lint_num_uses(g, id) > 0) continue;
    if (g->asked[id]) continue;
    rheos__lint_tell(found, g, id, "nothing takes the placeholder '%s'",
                     rheos__lint_name(found, g, id));
  }
}

// ---- Updates of moving averages

// Where a moving average is kept that normalization reads: AssignSub(variable, (variable - x) * d)
// with a read of the variable itself.
static bool is_moving_average(const rheos__lint_graph *g, int32_t id) {
  static const char *const ops[] = {"AssignSub", "AssignSubVariableOp", NULL};
  if (!rheos__lint_is_one(g, id, ops)) return false;
  const rheos__edge delta = rheos__lint_input(g, id, 1);
  const rheos__edge difference = rheos__lint_input(g, delta.id, 0);
  if (!rheos__lint_is(g, delta.id, "Mul") || !rheos__lint_is(g, difference.id, "Sub")) return false;
  const int32_t variable = rheos__lint_variable_of(g, rheos__lint_input(g, id, 0));
  const int32_t of = rheos__lint_variable_of(g, rheos__lint_input(g, difference.id, 0));
  return variable >= 0 && variable == of;
}

// Whether a value comes from what a batch has on average, or as its variance: averages of variables
// are kept by programs that may ask for them seldom.
static bool is_of_batch(const rheos__lint_graph *g, rheos__edge edge, int depth) {
  static const char *const reductions[] = {"Mean", "FusedBatchNorm", "FusedBatchNormV2",
                                           "FusedBatchNormV3", NULL};
  // The variance of a batch is corrected by its size: Mul.
  static const char *const passing[] = {"Switch", "Merge", "Mul", "Cast", NULL};
  edge = rheos__lint_behind(g, edge, true);
  if (rheos__lint_is_one(g, edge.id, reductions)) return true;
  if (depth == 0 || !rheos__lint_is_one(g, edge.id, passing)) return false;
  const bool chooses = rheos__lint_is(g, edge.id, "Merge");
  return is_of_batch(g, rheos__lint_input(g, edge.id, 0), depth - 1) ||
         (chooses && is_of_batch(g, rheos__lint_input(g, edge.id, 1), depth - 1));
}

static bool is_of_statistics(const rheos__lint_graph *g, int32_t id) {
  const rheos__edge delta = rheos__lint_input(g, id, 1);
  const rheos__edge difference = rheos__lint_input(g, delta.id, 0);
  return is_of_batch(g, rheos__lint_input(g, difference.id, 1), 6);
}

static bool is_in_collection(const rheos__lint_graph *g, const char *key, int32_t id) {
  const int32_t count = rheos_graph_collection_size(g->graph, key);
  for (int32_t i = 0; i < count; i++) {
    const rheos_item item = rheos_graph_collection_item(g->graph, key, i);
    if (item.kind == RHEOS_ITEM_OPERATION && item.id == id) return true;
    if (item.kind == RHEOS_ITEM_OUTPUT && item.id == id) return true;
  }
  return false;
}

enum { TRAINING_RUNS = 10 };

// How many of the runs apply gradients.
static int64_t count_training_runs(rheos__lint_findings *found, const rheos__lint_graph *g) {
  const rheos_run_log *log = g->runs;
  int64_t count = 0;
  bool *marks = rheos__lint_alloc(found, (size_t)g->num_nodes + 1, sizeof *marks);
  for (size_t i = 0; marks != NULL && i < log->num_asked && count < TRAINING_RUNS; i++) {
    memset(marks, 0, (size_t)g->num_nodes * sizeof *marks);
    for (int32_t k = 0; k < log->asked[i].num_ids; k++) {
      if (log->asked[i].ids[k] < g->num_nodes) marks[log->asked[i].ids[k]] = true;
    }
    if (!rheos__lint_mark_needed(g, marks)) found->is_short = true;
    for (int32_t id = 0; id < g->num_nodes; id++) {
      if (!marks[id] || !rheos__lint_is_training(g, id)) continue;
      count += log->asked[i].num_runs;
      break;
    }
  }
  return count;
}

// Whether the graph trains: an optimizer updates a variable, and that ran often enough where runs
// are known.
static bool trains(rheos__lint_findings *found, const rheos__lint_graph *g) {
  bool has_training = false;
  for (int32_t id = 0; id < g->num_nodes && !has_training; id++) {
    has_training = rheos__lint_is_training(g, id);
  }
  if (!has_training || g->runs == NULL) return has_training;
  return count_training_runs(found, g) >= TRAINING_RUNS;
}

void rheos__lint_unused_updates(rheos__lint_findings *found, const rheos__lint_graph *g) {
  if (g->function[0] != '\0' || !trains(found, g)) return;
  for (int32_t id = 0; id < g->num_nodes; id++) {
    const bool is_listed = is_in_collection(g, "update_ops", id);
    if (!is_listed && !(is_moving_average(g, id) && is_of_statistics(g, id))) continue;
    if (g->reached[id] || (g->runs == NULL && leads_on(g, id, 4))) continue;
    rheos__lint_tell(found, g, id,
                     "variables are trained and '%s', which keeps what inference needs, never runs",
                     rheos__lint_name(found, g, id));
  }
}

// ---- What no run reached

// What is not there for its value: it belongs to a variable, a saver, a summary, a queue, ...
static bool is_auxiliary(rheos__lint_findings *found, const rheos__lint_graph *g, int32_t id) {
  static const char *const ops[] = {"NoOp",
                                    "Const",
                                    "Placeholder",
                                    "PlaceholderWithDefault",
                                    "MergeSummary",
                                    "Print",
                                    "Assert",
                                    "CheckNumerics",
                                    "SaveV2",
                                    "RestoreV2",
                                    "ReadVariableOp",
                                    "VarIsInitializedOp",
                                    "IsVariableInitialized",
                                    "Identity",
                                    "NextIteration",
                                    "ControlTrigger",
                                    "Switch",
                                    "Exit",
                                    "Shape",
                                    NULL};
  if (rheos__lint_is_one(g, id, ops) || rheos__lint_is_variable(g, id)) return true;
  if (rheos__lint_is_update(g, id) || strstr(g->ops[id], "Summary") != NULL) return true;
  const char *name = rheos__lint_name(found, g, id);
  return strstr(name, "gradients") != NULL || strncmp(name, "save", 4) == 0 ||
         strstr(name, "report_uninitialized") != NULL || strstr(name, "/Initializer/") != NULL ||
         rheos__has_effects(g->nodes[id]);
}

// Marks what gradients were made of, by the names of the gradients' nodes,
// "gradients/Sum_grad/Fill": a loss is built to be differentiated, whoever looks at it.
static void mark_differentiated(rheos__lint_findings *found, const rheos__lint_graph *g,
                                bool *marks) {
  for (int32_t id = 0; id < g->num_nodes && !found->is_short; id++) {
    const char *name = rheos__lint_name(found, g, id), *of = strchr(name, '/');
    const char *end = of != NULL ? strstr(of, "_grad/") : NULL;
    char source[256];
    if (end == NULL || (size_t)(end - of) > sizeof source) continue;
    snprintf(source, sizeof source, "%.*s", (int)(end - of - 1), of + 1);
    const rheos_operation operation = rheos_graph_operation(g->graph, source);
    if (operation.graph != NULL && operation.id < g->num_nodes) marks[operation.id] = true;
  }
}

void rheos__lint_unreached_ops(rheos__lint_findings *found, const rheos__lint_graph *g) {
  if (g->function[0] != '\0' || !g->has_asked) return;
  bool *marks = rheos__lint_alloc(found, (size_t)g->num_nodes, sizeof *marks);
  if (marks != NULL) mark_differentiated(found, g, marks);
  for (int32_t id = 0; id < g->num_nodes && !found->is_short; id++) {
    if (g->reached[id] || marks[id] || rheos__lint_num_uses(g, id) > 0 ||
        is_auxiliary(found, g, id))
      continue;
    rheos__lint_tell(found, g, id, "nothing that was asked for needs '%s'",
                     rheos__lint_name(found, g, id));
  }
}

// ---- Updates that no run reached

enum { LONG_RUNS = 100 };

void rheos__lint_unrun_update(rheos__lint_findings *found, const rheos__lint_graph *g) {
  if (g->function[0] != '\0' || g->runs->num_runs < LONG_RUNS) return;
  for (int32_t id = 0; id < g->num_nodes; id++) {
    const bool fills = strncmp(g->ops[id], "QueueEnqueue", 12) == 0;
    if (g->reached[id] || (!fills && !rheos__lint_is_update(g, id))) continue;
    if (rheos__lint_is_first_value(g, id)) continue;
    rheos__lint_tell(found, g, id, "none of %lld runs reached '%s', a %s",
                     (long long)g->runs->num_runs, rheos__lint_name(found, g, id), g->ops[id]);
  }
}
