// The watches of a session (<rheos/watch.h>): which edges they watch, and what of a step they are
// told of.
#ifndef RHEOS_SRC_RUNTIME_SESSION_WATCHING_H
#define RHEOS_SRC_RUNTIME_SESSION_WATCHING_H

#include <rheos/watch.h>
#include <stdatomic.h>

#include "plan/entries/watch.h"
#include "runtime/session/run_signature.h"
#include "runtime/step/observer.h"

// Counted: of a session and of its watches.
typedef struct rheos__watch_list rheos__watch_list;
struct rheos__watch_list {
  _Atomic int32_t references;
  _Atomic int32_t num_on;
  pthread_mutex_t mutex;         // guards what follows
  rheos_watch *first;            // that are on, in the order in which they were made
  struct rheos__watch_set *set;  // of all of them; NULL: to be made
  int64_t num_steps;
};

rheos__watch_list *rheos__watch_list_new(void);  // NULL when memory is short
void rheos__watch_list_unref(rheos__watch_list *list);
// Lets go of what it knows of the graph.
void rheos__watch_list_forget(rheos__watch_list *list);

rheos_status *rheos__watch_list_add(rheos__watch_list *list, rheos_graph *graph,
                                    const rheos_watch_options *options, rheos_watch **out_watch);

static inline bool rheos__is_watched(rheos__watch_list *list) {
  return atomic_load_explicit(&list->num_on, memory_order_relaxed) > 0;
}

// One step that is watched.
typedef struct rheos__watched_step {
  struct rheos__watch_set *set;  // counted; NULL: nothing is watched after all
  rheos__watches *watches;       // the set's
  rheos__observer observer;
  int64_t number;
  rheos_statistics *latest;  // by watched edge, where a NaN is looked for; else NULL
  bool *is_known;            // of these
  bool has_told;             // of the NaN
} rheos__watched_step;

// To be deinitialised, after a failure too. `values` are those of the feeds.
rheos_status *rheos__watched_step_init(rheos__watched_step *step, rheos__watch_list *list,
                                       rheos_graph *graph, const rheos__signature_ids *ids,
                                       rheos_tensor *const *values);
void rheos__watched_step_deinit(rheos__watched_step *step);

#endif  // RHEOS_SRC_RUNTIME_SESSION_WATCHING_H
