// Ops that only one graph has: the functions of its library, and what a file defines of its own.
#include "graph/graph.h"

#include <string.h>

#include "base/hash.h"
#include "graph/build.h"
#include "graph/graph_impl.h"

static uint64_t hash_of_name(const void *name) { return rheos__hash_bytes(0, name, strlen(name)); }

static uint64_t hash_of_signature(const void *candidate) {
  return hash_of_name(((const rheos__signature *)candidate)->op->name);
}

static bool same_name(const void *candidate, const void *wanted) {
  return strcmp(((const rheos__signature *)candidate)->op->name, wanted) == 0;
}

void *rheos__graph_alloc(rheos_graph *graph, size_t size_bytes) {
  return rheos__arena_alloc_zeroed(&graph->arena, size_bytes);
}

rheos_status *rheos__graph_add_signature(rheos_graph *graph, const rheos__signature *signature) {
  const char *name = signature->op->name;
  const void **slot =
      rheos__intern_slot(&graph->own_ops, hash_of_name(name), same_name, hash_of_signature, name);
  if (slot == NULL) return rheos__out_of_memory();
  if (*slot == NULL) graph->own_ops.count++;
  *slot = signature;
  return NULL;
}

const rheos__signature *rheos__graph_signature(rheos_graph *graph, const char *type) {
  const rheos__signature *signature = rheos__signature_by_name(type);
  for (; signature == NULL && graph != NULL; graph = graph->outer) {
    if (graph->own_ops.count == 0) continue;
    const void **slot = rheos__intern_find(&graph->own_ops, hash_of_name(type), same_name, type);
    if (slot != NULL) signature = *slot;
    if (signature != NULL && (signature->op->flags & RHEOS_OP_REMOVED) != 0) signature = NULL;
  }
  return signature;
}
