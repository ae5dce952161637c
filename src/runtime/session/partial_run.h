// A step that is run in parts: which of its nodes have run, and what later parts need of them.
//
// A part runs what its fetches need and no part before it has run. It is a step with a plan of its
// own, in which the values of earlier parts are fed, and nodes that have run count as done: nobody
// waits for them, and a reference that one of them passes on is the one that it was given.
// Constants, variables and what else gives references, handles or variants without changing
// anything are never done: running them again costs nothing and means the same.
#ifndef RHEOS_SRC_RUNTIME_SESSION_PARTIAL_RUN_H
#define RHEOS_SRC_RUNTIME_SESSION_PARTIAL_RUN_H

#include "runtime/session/plan_cache.h"

typedef struct rheos__kept_value {
  rheos__edge edge;
  rheos_tensor *tensor;
} rheos__kept_value;

typedef struct rheos__edge_list {
  rheos__edge *items;
  size_t count, capacity;
} rheos__edge_list;

typedef struct rheos__partial_run {
  int64_t handle;  // that the session gives it
  _Atomic int32_t references;
  struct rheos__partial_run *next;  // of the session's
  pthread_mutex_t mutex;            // held by the thread that runs a part; guards what follows
  rheos_graph *graph;               // borrowed
  rheos__signature_ids ids;         // of the whole step, arrays of its own
  rheos_tensor **fed;  // by feed; NULL before it is fed and when nothing needs it any more
  bool *is_fed, *is_fetched, *is_run;  // by feed, fetch, target
  uint8_t *states;                     // by node
  int32_t num_nodes;
  rheos__kept_value *kept;  // of nodes that have run
  size_t num_kept, kept_capacity;
} rheos__partial_run;

// One part on its way. The first fetches of `ids` are those of the part, in their order.
typedef struct rheos__part {
  rheos__signature_ids ids;
  rheos_tensor **values;   // by feed of `ids`, borrowed from the run
  rheos_tensor **results;  // by fetch of `ids`
  rheos__edge_list feeds, fetches;
  int32_t *targets, *done, *nodes;
  size_t num_targets, target_capacity, num_done, done_capacity, num_nodes, node_capacity;
} rheos__part;

rheos_status *rheos__partial_run_new(rheos_graph *graph, const rheos__signature_ids *ids,
                                     rheos__partial_run **out_run);
rheos__partial_run *rheos__partial_run_ref(rheos__partial_run *run);
void rheos__partial_run_unref(rheos__partial_run *run);

// Takes the values of the feeds `ids` names and finds out what its fetches need. After a failure
// the run is as it was before. `part` is to be freed in any case.
rheos_status *rheos__partial_run_begin(rheos__partial_run *run, const rheos__signature_ids *ids,
                                       rheos_tensor *const *values, rheos__part *part);
// The part has run, its results are there: those that later parts need are kept.
rheos_status *rheos__partial_run_finish(rheos__partial_run *run, const rheos__signature_ids *ids,
                                        const rheos__part *part);
void rheos__part_deinit(rheos__part *part);  // with the results that are still in it

// Whether everything is fed and fetched.
bool rheos__partial_run_is_over(const rheos__partial_run *run);

#endif  // RHEOS_SRC_RUNTIME_SESSION_PARTIAL_RUN_H
