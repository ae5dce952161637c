// Graphs without what can go: copies are found on the imported graph, whose edges are then moved.
#include <rheos/lint.h>

#include <rheos/format.h>
#include <rheos/graph_util.h>

#include "base/text.h"
#include "lint/lint.h"

typedef struct mending {
  rheos_graph *graph;
  rheos__arena arena;
  rheos__lint_findings found;
  rheos__lint_graph g;
  int32_t *first;      // of each node, the first that computes the same
  const char **names;  // of the nodes that stay
  size_t num_names;
} mending;

// Whether somebody waits for the node, or it is what a program asks for by its name: nobody takes
// it.
static bool has_to_stay(const rheos__lint_graph *g, int32_t id) {
  for (int32_t u = g->first_use[id]; u < g->first_use[id + 1]; u++) {
    if (g->uses[u].input < 0) return true;
  }
  return rheos__lint_num_uses(g, id) == 0;
}

static rheos_status *move_edges(mending *m) {
  for (int32_t id = 0; id < m->g.num_nodes; id++) {
    const rheos__node *node = m->g.nodes[id];
    for (int32_t i = 0; i < node->num_inputs; i++) {
      const rheos__edge edge = node->edges[i];
      const int32_t first = m->first[edge.id];
      if (first == edge.id) continue;
      RHEOS_TRY(rheos__graph_set_input(m->graph, id, i, (rheos__edge){first, edge.index}));
    }
  }
  return NULL;
}

static rheos_status *find_what_stays(mending *m) {
  const size_t count = (size_t)m->g.num_nodes;
  m->first = rheos__lint_alloc(&m->found, count, sizeof *m->first);
  int32_t *sizes = rheos__lint_alloc(&m->found, count, sizeof *sizes);
  m->names = rheos__lint_alloc(&m->found, count, sizeof *m->names);
  if (!m->found.is_short) rheos__lint_find_copies(&m->found, &m->g, m->first, sizes);
  for (int32_t id = 0; id < m->g.num_nodes && !m->found.is_short; id++) {
    const bool stays = m->first[id] == id || has_to_stay(&m->g, id);
    if (stays) m->names[m->num_names++] = rheos__lint_name(&m->found, &m->g, id);
  }
  return m->found.is_short ? rheos__out_of_memory() : NULL;
}

static rheos_status *import(const void *bytes, size_t size_bytes, rheos_graph **out_graph) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *scope = graph != NULL ? rheos_scope_new(graph) : NULL;
  rheos_status *status = rheos__out_of_memory();
  if (scope != NULL) {
    const rheos_import_options options = {.keep_unknown_ops = true, .any_colocation = true};
    rheos_import_graph_def(scope, bytes, size_bytes, &options);
    status = rheos_scope_finish(scope);
  }
  rheos_scope_free(scope);
  if (status == NULL) {
    *out_graph = graph;
  } else {
    rheos_graph_unref(graph);
  }
  return status;
}

// What is left of the graph: what the outputs need, or all that stays.
static rheos_status *write(mending *m, const char *const *outputs, size_t num_outputs,
                           void **out_bytes, size_t *out_size_bytes) {
  void *whole;
  size_t whole_bytes;
  RHEOS_TRY(move_edges(m));
  RHEOS_TRY(rheos_graph_to_graph_def(m->graph, &whole, &whole_bytes));
  rheos_status *status = rheos_graph_def_strip(
      whole, whole_bytes, num_outputs > 0 ? outputs : m->names,
      num_outputs > 0 ? num_outputs : m->num_names, out_bytes, out_size_bytes);
  rheos_free(whole);
  return status;
}

static rheos_status *count_nodes(const void *bytes, size_t size_bytes, int32_t *out_count) {
  rheos_graph *graph;
  RHEOS_TRY(import(bytes, size_bytes, &graph));
  *out_count = rheos_graph_num_operations(graph);
  rheos_graph_unref(graph);
  return NULL;
}

rheos_status *rheos_graph_def_mend(const void *bytes, size_t size_bytes, const char *const *outputs,
                                   size_t num_outputs, void **out_bytes, size_t *out_size_bytes,
                                   int32_t *out_num_removed) {
  mending m = {0};
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_OUT(out_num_removed);
  RHEOS_NEED_BYTES(bytes, size_bytes);
  RHEOS_NEED_TEXTS(outputs, num_outputs);
  RHEOS_TRY(import(bytes, size_bytes, &m.graph));
  rheos__arena_init(&m.arena);
  m.found.arena = &m.arena;
  rheos_status *status = NULL;
  if (!rheos__lint_graph_init(&m.g, m.graph, "")) status = rheos__out_of_memory();
  if (status == NULL) status = find_what_stays(&m);
  if (status == NULL) status = write(&m, outputs, num_outputs, out_bytes, out_size_bytes);
  int32_t left = 0;
  if (status == NULL) status = count_nodes(*out_bytes, *out_size_bytes, &left);
  if (status == NULL) {
    *out_num_removed = m.g.num_nodes - left;
  } else {
    rheos_free(*out_bytes);
    *out_bytes = NULL;
    *out_size_bytes = 0;
  }
  rheos__lint_graph_deinit(&m.g);
  rheos__arena_deinit(&m.arena);
  rheos_graph_unref(m.graph);
  return status;
}
