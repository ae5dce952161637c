// Nodes that errors of other processes mention. These know names; where the program made the nodes,
// only the process that has the graph knows.
#ifndef RHEOS_SRC_GRAPH_NODE_MENTIONS_H
#define RHEOS_SRC_GRAPH_NODE_MENTIONS_H

#include "graph/graph.h"

// The status with the source lines of the nodes that its message names as "[[node x]]",
// "[[{{node x}}]]" or "{{node x}}", and known by the first that the graph has. One that is known by
// a node has its line already. Takes `status`.
RHEOS_MUST_USE rheos_status *rheos__status_with_lines_take(rheos_status *status,
                                                           rheos_graph *graph);

// The status for another process: "[[node x]]" is "[[{{node x}}]]" there, by which TensorFlow's
// clients find the node and its lines. Takes `status`.
RHEOS_MUST_USE rheos_status *rheos__status_for_others_take(rheos_status *status);

#endif  // RHEOS_SRC_GRAPH_NODE_MENTIONS_H
