// Watched edges: outputs whose values a step delivers, each at its place in the order, to who looks
// on (runtime/step/observer.h).
//
// A plan is made with the edges that are watched. For each that it computes it has an entry of its
// own, RHEOS__ENTRY_WATCH, right behind what gives the value, which takes it as any other entry
// would: so no rule drops it or takes its place, its memory is kept, and a fused loop writes it as
// one output more. A reference is watched as the value that is behind it then, if it has one. What
// a part or a function runs is watched in its own plan. Nothing is run for being watched, and
// nothing inside of a call or loop that is watched there is inlined or raised away.
#ifndef RHEOS_SRC_PLAN_ENTRIES_WATCH_H
#define RHEOS_SRC_PLAN_ENTRIES_WATCH_H

#include "graph/graph.h"

typedef struct rheos__watch {
  rheos_graph *graph;  // counted: that of a session, or of a function's body
  rheos__edge edge;
} rheos__watch;

// Counted; constant once it is made.
typedef struct rheos__watches {
  _Atomic int32_t references;
  int32_t count;
  int32_t *order;       // numbers, by graph and edge
  rheos__watch *items;  // as they were asked for
} rheos__watches;

// Edges must exist; handles and variants have no value and are not delivered. NULL when memory is
// short.
rheos__watches *rheos__watches_new(const rheos__watch *items, int32_t count);
rheos__watches *rheos__watches_ref(rheos__watches *watches);  // NULL stays NULL
void rheos__watches_unref(rheos__watches *watches);
bool rheos__watches_equal(const rheos__watches *a, const rheos__watches *b);

// Where those of a node begin in `order`, and how many they are.
int32_t rheos__watches_of_node(const rheos__watches *watches, const rheos_graph *graph, int32_t id,
                               int32_t *out_first);
// Whether any edge of the graph is watched.
bool rheos__watches_any_of(const rheos__watches *watches, const rheos_graph *graph);

#endif  // RHEOS_SRC_PLAN_ENTRIES_WATCH_H
