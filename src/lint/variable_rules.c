// Rules about variables that nothing reads, trains or initializes. Of resource variables in
// functions the handles are arguments; these are looked at where they are made.
#include "lint/lint.h"

#include <rheos/train.h>

// What one node says of a variable that it takes.
typedef struct variable_uses {
  bool is_read, is_assigned, is_updated, is_trained, is_passed_on;
} variable_uses;

static bool is_assignment(const rheos__lint_graph *g, int32_t id) {
  static const char *const ops[] = {"Assign", "AssignVariableOp", NULL};
  return rheos__lint_is_one(g, id, ops);
}

static bool is_keeping(const rheos__lint_graph *g, int32_t id) {
  static const char *const ops[] = {"SaveV2",
                                    "SaveSlices",
                                    "Save",
                                    "IsVariableInitialized",
                                    "VariableShape",
                                    "VarIsInitializedOp",
                                    "DestroyResourceOp",
                                    NULL};
  return rheos__lint_is_one(g, id, ops);
}

// Whether a read's value goes anywhere but into savers and into what nothing takes.
static bool is_value_used(const rheos__lint_graph *g, int32_t read) {
  if (g->asked[read]) return true;
  for (int32_t u = g->first_use[read]; u < g->first_use[read + 1]; u++) {
    if (!is_keeping(g, g->uses[u].id)) return true;
  }
  return false;
}

static void look_at_use(const rheos__lint_graph *g, const rheos__lint_use *use,
                        variable_uses *uses) {
  static const char *const reads[] = {"Identity", "ReadVariableOp", NULL};
  const int32_t id = use->id;
  if (use->input < 0 || is_keeping(g, id)) return;
  if (rheos__lint_is_one(g, id, reads)) {
    uses->is_read |= is_value_used(g, id);
  } else if (use->input == 0 && is_assignment(g, id)) {
    uses->is_assigned = true;
    uses->is_updated |= !rheos__lint_is_first_value(g, id);
  } else if (use->input == 0 && rheos__lint_is_update(g, id)) {
    uses->is_updated = true;
    uses->is_trained |= rheos__lint_is_training(g, id);
  } else {
    uses->is_read = uses->is_passed_on = true;
  }
}

static variable_uses uses_of(const rheos__lint_graph *g, int32_t variable) {
  variable_uses uses = {.is_read = g->asked[variable]};
  for (int32_t u = g->first_use[variable]; u < g->first_use[variable + 1]; u++) {
    look_at_use(g, &g->uses[u], &uses);
  }
  return uses;
}

// A counter is there to be looked at from outside, and is not trainable, or, where that is not
// known, a scalar.
static bool is_counter(const rheos__lint_graph *g, int32_t id) {
  const rheos_variable variable = rheos_variable_of((rheos_output){g->graph, id, 0});
  if (variable.graph != NULL) return !variable.trainable;
  const rheos_attr_value *shape = rheos__attrs_find(g->nodes[id]->attrs, "shape");
  return shape != NULL && shape->kind == RHEOS_ATTR_SHAPE && shape->shape->rank == 0;
}

void rheos__lint_unread_variable(rheos__lint_findings *found, const rheos__lint_graph *g) {
  if (g->function[0] != '\0' || g->is_serving) return;
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!rheos__lint_is_variable(g, id)) continue;
    const variable_uses uses = uses_of(g, id);
    if (uses.is_read || uses.is_updated || is_counter(g, id)) continue;
    rheos__lint_tell(found, g, id, "nothing reads the variable '%s'",
                     rheos__lint_name(found, g, id));
  }
}

static bool is_trainable(const rheos__lint_graph *g, int32_t id) {
  const rheos_variable variable = rheos_variable_of((rheos_output){g->graph, id, 0});
  return variable.graph != NULL && variable.trainable;
}

void rheos__lint_untrained_variable(rheos__lint_findings *found, const rheos__lint_graph *g) {
  bool trains = false;
  if (g->function[0] != '\0') return;
  for (int32_t id = 0; id < g->num_nodes && !trains; id++) trains = rheos__lint_is_training(g, id);
  for (int32_t id = 0; trains && id < g->num_nodes; id++) {
    if (!rheos__lint_is_variable(g, id) || !is_trainable(g, id)) continue;
    const variable_uses uses = uses_of(g, id);
    if (!uses.is_read || uses.is_passed_on || uses.is_updated) continue;
    rheos__lint_tell(found, g, id, "others are trained and '%s', which is trainable, is not",
                     rheos__lint_name(found, g, id));
  }
}

// What serves is restored by whoever loads it.
void rheos__lint_uninitialized_variable(rheos__lint_findings *found, const rheos__lint_graph *g) {
  if (g->function[0] != '\0' || g->is_serving) return;
  for (int32_t id = 0; id < g->num_nodes; id++) {
    if (!rheos__lint_is_variable(g, id)) continue;
    const variable_uses uses = uses_of(g, id);
    if (!uses.is_read || uses.is_assigned || uses.is_passed_on) continue;
    rheos__lint_tell(found, g, id, "nothing assigns a first value to the variable '%s'",
                     rheos__lint_name(found, g, id));
  }
}
