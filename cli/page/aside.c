// What stands aside: constants, summaries, savers, initializers; found by ops and names.
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "hierarchy.h"

static bool is_one_of(const char *op, const char *const *ops) {
  for (; *ops != NULL; ops++) {
    if (strcmp(op, *ops) == 0) return true;
  }
  return false;
}

static bool has_suffix(const char *text, const char *suffix) {
  const size_t size_bytes = strlen(text), suffix_bytes = strlen(suffix);
  return size_bytes >= suffix_bytes && strcmp(text + size_bytes - suffix_bytes, suffix) == 0;
}

// "w/Initializer/zeros", "w/initial_value"
static bool is_initial(const char *name) {
  return strstr(name, "/Initializer/") != NULL || has_suffix(name, "/initial_value") ||
         has_suffix(name, "/IsInitialized/VarIsInitializedOp");
}

// "w/Assign" of a variable "w".
static bool is_first_assignment(const hierarchy_nodes *nodes, int32_t node) {
  static const char *const ops[] = {"Assign", "AssignVariableOp", NULL};
  if (!is_one_of(nodes->ops[node], ops)) return false;
  const size_t at = nodes->first_edge[node];
  if (at == nodes->first_edge[node + 1] || nodes->edges[at].from == HIERARCHY_MISSING) return false;
  const char *variable = nodes->names[nodes->edges[at].from], *name = nodes->names[node];
  const size_t size_bytes = strlen(variable);
  return strncmp(name, variable, size_bytes) == 0 && strcmp(name + size_bytes, "/Assign") == 0;
}

static hierarchy_aside aside_by_itself(const hierarchy_nodes *nodes, int32_t node) {
  static const char *const constants[] = {"Const", "HostConst", NULL};
  static const char *const summaries[] = {"MergeSummary", "SummaryWriter", "FlushSummaryWriter",
                                          "CloseSummaryWriter", NULL};
  static const char *const savers[] = {
      "Save",         "SaveV2",          "SaveSlices",         "Restore",         "RestoreV2",
      "RestoreSlice", "ShardedFilename", "MergeV2Checkpoints", "ShardedFilespec", NULL};
  const char *op = nodes->ops[node];
  if (is_one_of(op, savers)) return ASIDE_SAVER;
  if (has_suffix(op, "Summary") || has_suffix(op, "SummaryV2") || is_one_of(op, summaries)) {
    return ASIDE_SUMMARY;
  }
  if (is_initial(nodes->names[node]) || is_first_assignment(nodes, node) ||
      strcmp(op, "VarIsInitializedOp") == 0 || strcmp(op, "IsVariableInitialized") == 0) {
    return ASIDE_INITIALIZER;
  }
  return is_one_of(op, constants) ? ASIDE_CONSTANT : ASIDE_NOT;
}

// An assignment of what a saver read, and what waits for nothing but what stands aside.
static hierarchy_aside aside_by_inputs(const hierarchy *h, int32_t node) {
  static const char *const assignments[] = {"Assign", "AssignVariableOp", "Identity", NULL};
  const hierarchy_nodes *nodes = &h->nodes;
  const size_t first = nodes->first_edge[node], end = nodes->first_edge[node + 1];
  const bool is_group = strcmp(nodes->ops[node], "NoOp") == 0;
  hierarchy_aside found = ASIDE_NOT;
  for (size_t at = first; at < end; at++) {
    const int32_t from = nodes->edges[at].from;
    const hierarchy_aside aside = from == HIERARCHY_MISSING ? ASIDE_NOT : h->items[from].aside;
    if (is_group && (aside == ASIDE_NOT || aside == ASIDE_CONSTANT)) return ASIDE_NOT;
    if (is_group || aside == ASIDE_SAVER) found = aside;
  }
  return is_group || is_one_of(nodes->ops[node], assignments) ? found : ASIDE_NOT;
}

// Where all that takes a node's outputs stands aside for one reason, a constant or a step on the
// way there does for that one too.
static void follow_consumers(hierarchy *h) {
  static const char *const ways[] = {
      "Const", "Identity", "ReadVariableOp", "Pack", "StringJoin", "PlaceholderWithDefault", NULL};
  enum { NOBODY = -1, SEVERAL = -2 };
  const hierarchy_nodes *nodes = &h->nodes;
  int *reasons = command_alloc((size_t)nodes->count * sizeof *reasons);
  for (int32_t i = 0; i < nodes->count; i++) reasons[i] = NOBODY;
  for (int32_t i = nodes->count - 1; i >= 0; i--) {
    hierarchy_item *item = &h->items[i];
    if (reasons[i] > ASIDE_CONSTANT && is_one_of(nodes->ops[i], ways)) {
      item->aside = (hierarchy_aside)reasons[i];
    }
    for (size_t at = nodes->first_edge[i]; at < nodes->first_edge[i + 1]; at++) {
      const int32_t from = nodes->edges[at].from;
      if (from == HIERARCHY_MISSING) continue;
      const bool is_first = reasons[from] == NOBODY;
      if (is_first) reasons[from] = (int)item->aside;
      if (!is_first && reasons[from] != (int)item->aside) reasons[from] = SEVERAL;
    }
  }
  free(reasons);
}

// A group whose members all stand aside does, for the reason of its first node.
static void set_aside_groups(hierarchy *h) {
  const int32_t root = hierarchy_root(h);
  bool *has_others = command_alloc((size_t)h->count * sizeof *has_others);
  for (int32_t i = 0; i < root; i++) {
    hierarchy_item *around = &h->items[h->items[i].parent];
    if (h->items[i].aside == ASIDE_NOT) has_others[h->items[i].parent] = true;
    if (around->aside == ASIDE_NOT || around->aside == ASIDE_CONSTANT) {
      around->aside = h->items[i].aside;
    }
  }
  for (int32_t i = h->count - 1; i > root; i--) {
    hierarchy_item *around = &h->items[h->items[i].parent];
    if (has_others[i]) {
      has_others[h->items[i].parent] = true;
      h->items[i].aside = ASIDE_NOT;
    } else if (around->aside == ASIDE_NOT || around->aside == ASIDE_CONSTANT) {
      around->aside = h->items[i].aside;
    }
  }
  h->items[root].aside = ASIDE_NOT;
  free(has_others);
}

void hierarchy_aside_nodes(hierarchy *h) {
  for (int32_t i = 0; i < h->nodes.count; i++) {
    h->items[i].aside = aside_by_itself(&h->nodes, i);
  }
  for (int32_t i = 0; i < h->nodes.count; i++) {
    if (h->items[i].aside == ASIDE_NOT) h->items[i].aside = aside_by_inputs(h, i);
  }
  follow_consumers(h);
  set_aside_groups(h);
}
