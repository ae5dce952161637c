// The invariants of a graph.
#ifndef RHEOS_SRC_GRAPH_GRAPH_CHECK_H
#define RHEOS_SRC_GRAPH_GRAPH_CHECK_H

#include "graph/graph.h"

// In builds with assertions, asserts what holds between any two additions: edges lead to outputs
// that are there, every node has the name that leads to it, what is interned is counted. Nobody
// adds meanwhile.
void rheos__graph_check(const rheos_graph *graph);

#endif  // RHEOS_SRC_GRAPH_GRAPH_CHECK_H
