// Regions of a program's graph.
#include <rheos/eager.h>

#include "graph/handles.h"
#include "runtime/eager/region.h"

static rheos_status *list_edges(const rheos_graph *graph, const rheos_output *outputs, size_t count,
                                const char *what, rheos__edge **out_edges) {
  *out_edges = NULL;
  RHEOS_TRY(rheos__check_outputs(graph, outputs, count, what, false));
  *out_edges = rheos__alloc_array(count + 1, sizeof **out_edges);
  if (*out_edges == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; ++i) {
    (*out_edges)[i] = (rheos__edge){outputs[i].id, outputs[i].index};
  }
  return NULL;
}

static rheos_status *list_targets(const rheos_graph *graph, const rheos_operation *targets,
                                  size_t count, int32_t **out_ids) {
  *out_ids = rheos__alloc_array(count + 1, sizeof **out_ids);
  if (*out_ids == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; ++i) {
    RHEOS_TRY(rheos__check_operation(graph, targets[i], "targets"));
    (*out_ids)[i] = targets[i].id;
  }
  return NULL;
}

rheos_status *rheos_region_new(rheos_eager *eager, const rheos_output *feeds, size_t num_feeds,
                               const rheos_output *fetches, size_t num_fetches,
                               const rheos_operation *targets, size_t num_targets,
                               rheos_region **out_region) {
  RHEOS_OUT(out_region);
  RHEOS_NEED(eager);
  RHEOS_NEED_LIST(feeds, num_feeds);
  RHEOS_NEED_LIST(fetches, num_fetches);
  RHEOS_NEED_LIST(targets, num_targets);
  if (num_feeds > INT32_MAX || num_fetches > INT32_MAX || num_targets > INT32_MAX) {
    return RHEOS_INVALID("%zu feeds, %zu fetches and %zu targets: at most %d of each", num_feeds,
                         num_fetches, num_targets, INT32_MAX);
  }
  rheos_graph *graph = num_fetches > 0   ? fetches[0].graph
                       : num_targets > 0 ? targets[0].graph
                                         : NULL;
  if (graph == NULL) return RHEOS_INVALID("a region needs something to fetch or execute");
  rheos__edge *feed_edges = NULL, *fetch_edges = NULL;
  int32_t *ids = NULL;
  rheos_status *status = list_edges(graph, feeds, num_feeds, "feeds", &feed_edges);
  if (status == NULL) status = list_edges(graph, fetches, num_fetches, "fetches", &fetch_edges);
  if (status == NULL) status = list_targets(graph, targets, num_targets, &ids);
  if (status == NULL) {
    status = rheos__region_new(eager, graph, feed_edges, (int32_t)num_feeds, fetch_edges,
                               (int32_t)num_fetches, ids, (int32_t)num_targets, out_region);
  }
  rheos__free(feed_edges);
  rheos__free(fetch_edges);
  rheos__free(ids);
  return status;
}
