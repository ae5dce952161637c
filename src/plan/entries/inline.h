// Calls whose bodies take their places in a plan, so that fusion and folding reach through them.
//
// A plan names nodes by ids. Those from `first` of this table on are nodes of functions' bodies:
// each call that is inlined has a row of them, as long as its body's graph. Behind them one more id
// stands for the call's beginning, and the id of the node that calls for its end: both are entries
// that only wait. What reads variables in the body waits for the beginning, so for all that the
// call is given; who waits for the call waits for its end. Other entries of the body are entries as
// any, which keep the name and line of their node, and of the calls that they are in, for errors.
//
// A call is inlined where its body is small and neither writes, nor waits, nor keeps anything under
// the names of its nodes; a call that would be but for an option (function_optimization) has the
// same place in the order, so results are the same.
#ifndef RHEOS_SRC_PLAN_ENTRIES_INLINE_H
#define RHEOS_SRC_PLAN_ENTRIES_INLINE_H

#include <stdatomic.h>

#include "graph/library.h"

typedef struct rheos__inlined_call {
  const rheos__function *function;  // its graph is counted
  int32_t id;                       // of the node that calls; may be inlined itself
  int32_t first;                    // the id of the body's first node
  int32_t num_nodes;                // of the body
} rheos__inlined_call;

typedef struct rheos__inlined {
  _Atomic int32_t references;
  int32_t first, end;  // ids of the body's nodes
  rheos__inlined_call *calls;
  size_t num_calls, capacity;
} rheos__inlined;

typedef struct rheos__plan rheos__plan;

// `first` is the number of nodes of the plan's graph. NULL when memory is short.
rheos__inlined *rheos__inlined_new(int32_t first);
rheos__inlined *rheos__inlined_ref(rheos__inlined *inlined);
void rheos__inlined_unref(rheos__inlined *inlined);
// Forgets all calls.
void rheos__inlined_clear(rheos__inlined *inlined);
// Adds a call. NULL when memory is short.
const rheos__inlined_call *rheos__inlined_add(rheos__inlined *inlined, int32_t id,
                                              const rheos__function *function);

// The call that the node, which is of a body, is in.
const rheos__inlined_call *rheos__inlined_find(const rheos__inlined *inlined, int32_t id);

// The call that the node is in, NULL if it is the graph's own. `inlined` may be NULL.
static inline const rheos__inlined_call *rheos__inlined_call_of(const rheos__inlined *inlined,
                                                                int32_t id) {
  return inlined == NULL || id < inlined->first ? NULL : rheos__inlined_find(inlined, id);
}

// The graph that it is in, and its id there.
const rheos_graph *rheos__inlined_place(const rheos__inlined *inlined, const rheos_graph *graph,
                                        int32_t id, int32_t *out_id);

// The node of an id; of a call's beginning the node that calls.
static inline const rheos__node *rheos__inlined_node(const rheos__inlined *inlined,
                                                     const rheos_graph *graph, int32_t id) {
  if (inlined != NULL && id >= inlined->first) {
    graph = rheos__inlined_place(inlined, graph, id, &id);
  }
  return rheos__graph_node(graph, id);
}

// The node's name behind those of the calls it is in. NULL when memory is short.
char *rheos__inlined_name(const rheos__inlined *inlined, const rheos_graph *graph, int32_t id);
// The status with the name and line of the node, and of the calls that it is in.
rheos_status *rheos__inlined_status_at_take(rheos_status *status, const rheos__inlined *inlined,
                                            const rheos_graph *graph, int32_t id);
// The node of the graph itself that the id belongs to: itself or the outermost call.
int32_t rheos__inlined_outermost(const rheos__inlined *inlined, int32_t id);

// Which argument of the function the node of its body is, -1: none.
int32_t rheos__argument_at(const rheos__function *function, int32_t id);

// The function that the node of `graph` calls, if its body may take the call's place; else NULL. A
// body that calls itself may not.
const rheos__function *rheos__inlinable(const rheos__plan *plan, rheos_graph *graph,
                                        const rheos__node *node);

#endif  // RHEOS_SRC_PLAN_ENTRIES_INLINE_H
