// Copies of nodes from one graph to another, such as of a function's body to where it is called.
#ifndef RHEOS_SRC_GRAPH_NODE_COPIES_H
#define RHEOS_SRC_GRAPH_NODE_COPIES_H

#include <rheos/scope.h>

#include "graph/graph.h"

// Where the outputs of a graph's nodes are in another one.
typedef struct rheos__copier {
  rheos_graph *from;
  rheos_scope *to;
  int32_t num_nodes;
  int32_t *order;         // the nodes, each behind its inputs
  int32_t *nodes;         // by node: its copy, -1: none
  int32_t *starts;        // by node: where its outputs are in...
  rheos_output *outputs;  // ...these, none where there is no copy
  // What is done with each copy, before others read it. NULL: nothing.
  void (*copied)(void *argument, rheos_graph *graph, int32_t id);
  void *argument;
  // Whether names are within the scope's, and nodes colocated with each other by name. Else names
  // stay as they are where nothing has them.
  bool is_named_in_scope;
} rheos__copier;

// RHEOS_UNIMPLEMENTED if the graph has loops of version 1.
rheos_status *rheos__copier_init(rheos__copier *c, rheos_graph *from, rheos_scope *to);
void rheos__copier_deinit(rheos__copier *c);
// Says what stands for an output.
void rheos__copier_put(rheos__copier *c, rheos__edge edge, rheos_output output);
rheos_output rheos__copier_at(const rheos__copier *c, rheos__edge edge);
// Copies the nodes of which `wanted` is true and nothing stands for yet, and constants that these
// read. Errors go to the scope.
void rheos__copy_nodes(rheos__copier *c, const bool *wanted);
// What stands for an output; a constant is copied.
rheos_output rheos__copy_edge(rheos__copier *c, rheos__edge edge);

// Marks what the marked nodes need, also by control edges if `with_controls`. `marked` has an entry
// for each node. False: memory is short.
bool rheos__mark_inputs(const rheos_graph *graph, bool *marked, bool with_controls);

// Nodes that give the same wherever they are: no inputs, no state.
bool rheos__is_free(const rheos__node *node);

#endif  // RHEOS_SRC_GRAPH_NODE_COPIES_H
