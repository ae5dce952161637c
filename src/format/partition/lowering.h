// Calls of functions that lie on several tasks, made part of the graph, which then can be cut: the
// nodes of a function take the place of a call of it, an If, Case or While becomes nodes of version
// 1, as TensorFlow lowers them before it places a graph. What lies on one task stays as it is.
#ifndef RHEOS_SRC_FORMAT_PARTITION_LOWERING_H
#define RHEOS_SRC_FORMAT_PARTITION_LOWERING_H

#include "graph/library.h"

// A call that has become a NoOp, which runs when all of it has run. What it gave others give.
typedef struct rheos__lowered_call {
  int32_t id, num_outputs;
  rheos__edge *outputs;              // perhaps of lowered calls
  int32_t first_made, first_behind;  // the nodes that were made of it
  int32_t depth;                     // of calls in each other, from 1
} rheos__lowered_call;

typedef struct rheos__lowered_calls {
  rheos__lowered_call *items;  // by id
  size_t capacity, count;
} rheos__lowered_calls;

// Lowers what has to be among the nodes from `first` on, and in them, and leads those that take
// what it gave to where that is now. After a failure the graph is of no use. RHEOS_UNIMPLEMENTED
// where a function has loops of version 1, or a loop takes one variable or another from trip to
// trip.
rheos_status *rheos__lower_calls(rheos_graph *graph, int32_t first, rheos__lowered_calls *calls);

// As rheos_graph_output(), also for outputs of calls that were lowered: gives where they are now.
rheos_status *rheos__lowered_output(const rheos__lowered_calls *calls, rheos_graph *graph,
                                    const char *name, rheos_output *out_output);
void rheos__lowered_calls_deinit(rheos__lowered_calls *calls);

// ---- Of its own files

typedef enum rheos__call_kind {
  RHEOS__NO_CALL,
  RHEOS__CALL,
  RHEOS__CALL_IF,
  RHEOS__CALL_CASE,
  RHEOS__CALL_WHILE,
} rheos__call_kind;
rheos__call_kind rheos__call_kind_of(const rheos__node *node);

// The functions that such a node calls: of an If the one for true first, of a While its condition.
// An array for rheos__free().
rheos_status *rheos__functions_of_call(rheos_graph *graph, const rheos__node *node,
                                       const rheos__function ***out_functions, size_t *out_count);

// Adds the nodes that do what the call does and sets `outputs`; the call itself becomes a NoOp that
// waits for them.
rheos_status *rheos__lower_call(rheos_graph *graph, int32_t id, rheos__edge *outputs);

#endif  // RHEOS_SRC_FORMAT_PARTITION_LOWERING_H
