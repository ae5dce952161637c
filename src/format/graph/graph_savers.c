// A saver is told by its scope, as in TensorFlow: all that lies beside a node that saves or
// restores.
#include "format/graph/graph_savers.h"

#include <string.h>

#include "format/graph/graph_edit.h"

static bool saves_or_restores(const char *op) {
  static const char *const ops[] = {
      "SaveV2",    "Save",    "SaveSlice",    "LegacySave",    "LegacySaveSlice",
      "RestoreV2", "Restore", "RestoreSlice", "LegacyRestore", "LegacyRestoreSlice"};
  for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
    if (strcmp(ops[i], op) == 0) return true;
  }
  return false;
}

// The length of the scope with its "/"; 0 for a name at the top.
static size_t scope_bytes(const char *name) {
  const char *slash = strrchr(name, '/');
  return slash != NULL ? (size_t)(slash - name) + 1 : 0;
}

static bool is_in(const char *name, const char *scope, size_t length) {
  return strncmp(name, scope, length) == 0;
}

bool rheos__saver_scopes_have(const rheos__saver_scopes *scopes, const char *name) {
  for (size_t i = 0; i < scopes->count; i++) {
    if (is_in(name, scopes->items[i], strlen(scopes->items[i]))) return true;
  }
  return false;
}

static bool is_kept(const char *name, size_t length, const char *const kept[2]) {
  for (int i = 0; i < 2; i++) {
    if (kept[i] != NULL && scope_bytes(kept[i]) == length && is_in(name, kept[i], length)) {
      return true;
    }
  }
  return false;
}

// Whether the scope, without its "/", is itself a node that saves or restores.
static bool is_saver(const Tensorflow__GraphDef *def, const char *name, size_t length) {
  for (size_t i = 0; i < def->n_node; i++) {
    const Tensorflow__NodeDef *node = def->node[i];
    if (saves_or_restores(node->op) && strlen(node->name) == length &&
        is_in(name, node->name, length)) {
      return true;
    }
  }
  return false;
}

static rheos_status *find_scopes(const Tensorflow__GraphDef *def, const char *const kept[2],
                                 rheos__arena *arena, rheos__saver_scopes *out_scopes) {
  size_t most = 0;
  for (size_t i = 0; i < def->n_node; i++) most += saves_or_restores(def->node[i]->op);
  out_scopes->items = rheos__arena_alloc(arena, most * sizeof *out_scopes->items);
  if (out_scopes->items == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < def->n_node; i++) {
    const char *name = def->node[i]->name;
    const size_t length = scope_bytes(name);
    if (!saves_or_restores(def->node[i]->op) || length == 0 || is_kept(name, length, kept) ||
        rheos__saver_scopes_have(out_scopes, name) || is_saver(def, name, length - 1)) {
      continue;
    }
    char *scope = rheos__arena_alloc(arena, length + 1);
    if (scope == NULL) return rheos__out_of_memory();
    memcpy(scope, name, length);
    scope[length] = '\0';
    out_scopes->items[out_scopes->count++] = scope;
  }
  return NULL;
}

static rheos_status *drop(const rheos__saver_scopes *scopes, Tensorflow__GraphDef *def) {
  size_t kept = 0;
  for (size_t i = 0; i < def->n_node; i++) {
    Tensorflow__NodeDef *node = def->node[i];
    if (rheos__saver_scopes_have(scopes, node->name)) continue;
    for (size_t k = 0; k < node->n_input; k++) {
      const char *input = node->input[k];
      if (!rheos__saver_scopes_have(scopes, input + (input[0] == '^'))) continue;
      return RHEOS_INVALID("'%s' takes '%s' of a saver that is left out", node->name, input);
    }
    def->node[kept++] = node;
  }
  def->n_node = kept;
  return NULL;
}

rheos_status *rheos__graph_def_without_savers(const void *bytes, size_t size_bytes,
                                              const char *const kept[2], rheos__arena *arena,
                                              rheos__saver_scopes *out_scopes, void **out_bytes,
                                              size_t *out_size_bytes) {
  *out_scopes = (rheos__saver_scopes){NULL, 0};
  *out_bytes = NULL;
  *out_size_bytes = 0;
  rheos__graph_edit edit;
  rheos_status *status = rheos__graph_edit_init(&edit, bytes, size_bytes);
  if (status == NULL) status = find_scopes(edit.def, kept, arena, out_scopes);
  if (status == NULL) status = drop(out_scopes, edit.def);
  if (status == NULL) status = rheos__graph_edit_bytes(&edit, out_bytes, out_size_bytes);
  rheos__graph_edit_deinit(&edit);
  return status;
}
