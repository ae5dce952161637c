// The collection of a graph's summaries, and one summary of all of them.
#include <rheos/events.h>

#include <rheos/collections.h>

#include "graph/build.h"

void rheos_collect_summary(rheos_scope *scope, rheos_output summary) {
  if (rheos_scope_status(scope) != NULL) return;
  rheos_graph *graph = rheos_scope_graph(scope);
  if (summary.graph != graph) {
    rheos_scope_fail_take(scope, RHEOS_INVALID("a summary of another graph cannot be collected"));
    return;
  }
  const rheos_item item = {.kind = RHEOS_ITEM_OUTPUT, .id = summary.id, .index = summary.index};
  rheos_status *status = rheos_graph_add_to_collection(graph, RHEOS_COLLECTION_SUMMARIES, item);
  if (status != NULL) rheos_scope_fail_take(scope, status);
}

rheos_output rheos_merge_all_summaries(rheos_scope *scope, const char *key) {
  const rheos_output none = {NULL, 0, 0};
  rheos_graph *graph = rheos_scope_graph(scope);
  if (key == NULL) key = RHEOS_COLLECTION_SUMMARIES;
  const int32_t size = rheos_graph_collection_size(graph, key);
  rheos_output *summaries = rheos__alloc_array((size_t)size, sizeof *summaries);
  if (summaries == NULL) {
    rheos_scope_fail_take(scope, rheos__out_of_memory());
    return none;
  }
  size_t count = 0;
  for (int32_t i = 0; i < size; i++) {
    const rheos_item item = rheos_graph_collection_item(graph, key, i);
    if (item.kind != RHEOS_ITEM_OUTPUT) continue;
    summaries[count++] = (rheos_output){graph, item.id, item.index};
  }
  rheos_operation merged = {NULL, 0};
  if (count > 0) {
    rheos_push_name_scope(scope, "Merge");
    merged = rheos__op_n(scope, "MergeSummary", NULL, summaries, count, NULL, 0);
    rheos_scope_pop(scope);
  }
  rheos__free(summaries);
  return merged.graph != NULL ? rheos_operation_output(merged, 0) : none;
}
