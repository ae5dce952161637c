// Contexts of nodes that came without them. A GraphDef says which nodes there are, not which loops
// and branches they were made in; gradients need to know. The structure tells it: Enters of one
// frame are a loop, outputs of Switches by one predicate are the sides of a conditional, and a node
// is where its inputs are. What has another form than a program gives it stays without a context,
// and gradients through it are refused.
#ifndef RHEOS_SRC_GRAPH_CONTEXT_RECOVERY_H
#define RHEOS_SRC_GRAPH_CONTEXT_RECOVERY_H

#include "graph/control_context.h"

// Notes that the contexts of these nodes are not known yet. A context that a node is given later
// ends that. The graph is locked.
rheos_status *rheos__contexts_note_foreign(rheos_graph *graph, const int32_t *ids, int32_t count);

// Makes the contexts of the nodes that were noted, and puts the nodes into them.
void rheos__contexts_recover(rheos_scope *scope);

#endif  // RHEOS_SRC_GRAPH_CONTEXT_RECOVERY_H
