// Effects in the order of the program: control inputs for the nodes of a function's body.
#ifndef RHEOS_SRC_GRAPH_EFFECT_ORDER_H
#define RHEOS_SRC_GRAPH_EFFECT_ORDER_H

#include "graph/graph.h"

// Gives the nodes from number `first` on control inputs, as rheos_function_order_effects() says.
rheos_status *rheos__order_effects(rheos_graph *graph, int32_t first);

// Whether the node has effects, or state, that calls of a body must not leave out.
bool rheos__is_ordered(const rheos__node *node);

// Whether it is a member of a collective, so others wait for it, in this body too.
bool rheos__meets_others(const rheos__node *node);

// Whether it has effects on no resource that it takes: it asserts, prints, calls the program. Not
// what draws random numbers. Of a call only what its own op says.
bool rheos__has_loose_effects(const rheos_graph *graph, const rheos__node *node);

#endif  // RHEOS_SRC_GRAPH_EFFECT_ORDER_H
