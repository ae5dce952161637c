// Nodes that only order others: groups, and values that wait.
#ifndef RHEOS_SRC_GRAPH_DEPENDENCIES_H
#define RHEOS_SRC_GRAPH_DEPENDENCIES_H

#include <rheos/gradients.h>

#include "graph/build.h"

// "control_dependency": the value of `output` once `after` has run, colocated with it.
rheos_output rheos__with_dependency(rheos_scope *s, rheos_operation after, rheos_output output);

// Replaces every gradient that is there by one that waits for all of them, in the name scope
// "tuple".
void rheos__gate_gradients(rheos_scope *s, rheos_gradient *gradients, int32_t count);

// The name of the scope that is open now with "/" behind it: as the name of a node it means the
// node that carries the scope's own name. A fresh string for rheos__free(); NULL sets the error.
char *rheos__scope_node_name(rheos_scope *s);

#endif  // RHEOS_SRC_GRAPH_DEPENDENCIES_H
