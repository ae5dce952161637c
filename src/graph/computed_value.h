// What a small part of a graph computes of constants, found while shapes are inferred: shapes that
// programs work out with any op, not only with those whose meaning the graph knows by itself
// (partial.c).
#ifndef RHEOS_SRC_GRAPH_COMPUTED_VALUE_H
#define RHEOS_SRC_GRAPH_COMPUTED_VALUE_H

#include "graph/graph.h"

// A value that is known otherwise; counted. NULL: it is not.
typedef rheos_tensor *(*rheos__known_value)(void *argument, rheos__edge edge);

// The value of the edge, by the reference kernels of ops without state, from what `known` gives;
// counted. NULL: something of it is not known or too much to compute now, or an op fails;
// `out_no_memory` is set if memory was short for it, else left as it is.
rheos_tensor *rheos__computed_value(const rheos_graph *graph, rheos__edge edge,
                                    rheos__known_value known, void *argument, bool *out_no_memory);

#endif  // RHEOS_SRC_GRAPH_COMPUTED_VALUE_H
