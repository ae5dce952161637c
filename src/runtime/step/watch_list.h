// The watches of a session, or of an eager context (<rheos/watch.h>), and the edges that they name.
#ifndef RHEOS_SRC_RUNTIME_STEP_WATCH_LIST_H
#define RHEOS_SRC_RUNTIME_STEP_WATCH_LIST_H

#include <rheos/watch.h>
#include <stdatomic.h>

#include "plan/entries/watch.h"

struct rheos_watch {
  _Atomic int32_t references;      // the handle, and sets
  struct rheos__watch_list *list;  // counted
  char *names;                     // "": all
  rheos_watch_options options;
  rheos_watch *next;
  pthread_mutex_t mutex;  // recursive: a watch may be ended by its own function
  _Atomic bool has_matched;
  bool is_off;        // guarded by it
  bool has_told_nan;  // guarded by it
};

// The edges that watches name, in one list, and who watches each. Constant once it is made.
typedef struct rheos__watch_set {
  _Atomic int32_t references;
  rheos__watches *watches;
  int32_t *first;          // by edge, and one more: where its watchers begin
  rheos_watch **watchers;  // counted
  size_t num_watchers;
  int32_t num_nodes;  // of a session's graph, and its functions, when it was made
  size_t num_functions;
  bool looks_for_nan;
  bool calls;  // functions have edges in it
} rheos__watch_set;

rheos__watch_set *rheos__watch_set_ref(rheos__watch_set *set);  // NULL stays NULL
void rheos__watch_set_unref(rheos__watch_set *set);

// Counted: of who is watched, and of its watches.
typedef struct rheos__watch_list rheos__watch_list;
struct rheos__watch_list {
  _Atomic int32_t references;
  _Atomic int32_t num_on;
  _Atomic int64_t version;  // changes as watches come and go
  pthread_mutex_t mutex;    // guards what follows
  rheos_watch *first;       // that are on, in the order in which they were made
  rheos__watch_set *set;    // of all of them, for a session's graph; NULL: to be made
  int64_t num_steps;
};

rheos__watch_list *rheos__watch_list_new(void);  // NULL when memory is short
void rheos__watch_list_unref(rheos__watch_list *list);
// Lets go of what it knows of the graph.
void rheos__watch_list_forget(rheos__watch_list *list);

rheos_status *rheos__watch_list_add(rheos__watch_list *list, const rheos_watch_options *options,
                                    rheos_watch **out_watch);
rheos_status *rheos__check_watch_options(const rheos_watch_options *options);
// RHEOS_NOT_FOUND, with names that are near, where `names` (as of the options) name no operation of
// the graph or of its functions.
rheos_status *rheos__check_watched_names(rheos_graph *graph, const char *names);

static inline bool rheos__is_watched(rheos__watch_list *list) {
  return atomic_load_explicit(&list->num_on, memory_order_relaxed) > 0;
}

// What all watches that are on watch of the graph and its library, as the graph is now, counted,
// and the number of the step; a set of NULL: none is on.
rheos_status *rheos__watch_list_begin_step(rheos__watch_list *list, rheos_graph *graph,
                                           rheos__watch_set **out_set, int64_t *out_number);
int64_t rheos__watch_list_count_step(rheos__watch_list *list);

// A part of a graph that is run.
typedef struct rheos__watched_part {
  rheos_graph *graph;
  const rheos__edge *feeds;
  int32_t num_feeds;
  const rheos__node *op;  // an operation that runs at once, known by its type; NULL: there is none
} rheos__watched_part;

// What they watch of the part's graph, but for what is fed, and of the functions that its nodes
// call and these call in turn. Who looks for a NaN knows what is fed. Counted; NULL: none is on.
// `out_version` is that of the list it was made of.
rheos_status *rheos__watch_set_of_part(rheos__watch_list *list, const rheos__watched_part *part,
                                       rheos__watch_set **out_set, int64_t *out_version);

#endif  // RHEOS_SRC_RUNTIME_STEP_WATCH_LIST_H
