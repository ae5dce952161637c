#include "net/graph_parts.h"

#include "graph/graph_impl.h"

rheos_status *rheos__add_to_graph(rheos_graph *graph, const void *graph_def, size_t size_bytes,
                                  rheos_import_mapping *mappings, size_t num_mappings) {
  const rheos_import_options options = {
      .any_colocation = true, .input_map = mappings, .num_mappings = num_mappings};
  rheos_scope *scope = rheos_scope_new(graph);
  if (scope == NULL) return rheos__out_of_memory();
  rheos__scope_take_internal_names(scope);
  rheos_import_graph_def(scope, graph_def, size_bytes, &options);
  rheos_status *status = rheos_scope_finish(scope);
  rheos_scope_free(scope);
  return status;
}
