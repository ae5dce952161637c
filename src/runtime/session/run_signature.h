// What a run asks for: feeds, fetches and targets of a caller, checked, as ids of the graph.
#ifndef RHEOS_SRC_RUNTIME_SESSION_RUN_SIGNATURE_H
#define RHEOS_SRC_RUNTIME_SESSION_RUN_SIGNATURE_H

#include <rheos/session.h>

#include "graph/graph.h"

typedef struct rheos__signature_ids {
  const rheos__edge *feeds, *fetches;
  const int32_t *targets;
  const int32_t *done;  // nodes that ran before, in another part of the step
  int32_t num_feeds, num_fetches, num_targets, num_done;
  const struct rheos__watched_bodies *watched;  // what the plan watches; NULL: nothing
  bool any_shapes;  // feeds have others than the graph knows: what goes by these is left
  uint64_t hash;
} rheos__signature_ids;

// Sets the hash, after the rest.
void rheos__signature_ids_hash(rheos__signature_ids *ids);

// From where to where a step goes, as a caller says it.
typedef struct rheos__step_ends {
  const rheos_output *feeds;
  size_t num_feeds;
  const rheos_output *fetches;
  size_t num_fetches;
  const rheos_operation *targets;
  size_t num_targets;
} rheos__step_ends;

// Fails for what is not in the graph, saying which in the caller's list it is. The arrays of the
// ids lie in `*out_memory`, for rheos__free().
rheos_status *rheos__signature_ids_of(const rheos_graph *graph, const rheos__step_ends *ends,
                                      rheos__signature_ids *out_ids, void **out_memory);

// The ids of one run, with the values of its feeds and room for its results: a few in place.
enum { RHEOS__FEW_IDS = 16 };
typedef struct rheos__run_signature {
  rheos__signature_ids ids;
  rheos_tensor **values;   // by feed, borrowed
  rheos_tensor **results;  // by fetch, not set
  rheos__edge few_feeds[RHEOS__FEW_IDS], few_fetches[RHEOS__FEW_IDS];
  int32_t few_targets[RHEOS__FEW_IDS];
  rheos_tensor *few_values[RHEOS__FEW_IDS], *few_results[RHEOS__FEW_IDS];
  void *memory;  // of many
} rheos__run_signature;

// To be deinitialised only after a success.
rheos_status *rheos__run_signature_init(rheos__run_signature *signature, const rheos_graph *graph,
                                        const rheos_feed *feeds, size_t num_feeds,
                                        const rheos_fetch *fetches, size_t num_fetches,
                                        const rheos_operation *targets, size_t num_targets);
static inline void rheos__run_signature_deinit(rheos__run_signature *signature) {
  rheos__free(signature->memory);
}

// Whether the value can be fed there; `any_shape`: whatever its shape is.
rheos_status *rheos__check_feed(const rheos_graph *graph, rheos__edge edge,
                                const rheos_tensor *value, bool any_shape);
// Whether the shapes of all values that are there are such as the graph knows them.
bool rheos__feeds_fit(const rheos_graph *graph, const rheos__signature_ids *ids,
                      rheos_tensor *const *values);

#endif  // RHEOS_SRC_RUNTIME_SESSION_RUN_SIGNATURE_H
