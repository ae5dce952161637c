// Who takes what a graph's operations give: edges are kept where they end, and this finds them from
// where they begin. It is made when it is first asked for and grows with the graph.
#ifndef RHEOS_SRC_GRAPH_CONSUMERS_H
#define RHEOS_SRC_GRAPH_CONSUMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rheos__use {
  int32_t id, input;  // who takes it, as which input; of a control edge the number among these
  int32_t index;      // of the output; -1: a control edge
  int32_t next;       // use of the same node's outputs, -1: none
} rheos__use;

// Uses of a node: by who takes it, then by input.
typedef struct rheos__use_list {
  int32_t first, last;  // -1: none
} rheos__use_list;

typedef struct rheos__consumers {
  rheos__use_list *nodes;
  rheos__use *uses;
  size_t node_capacity, use_capacity;
  int32_t num_nodes, num_uses;  // of the graph's nodes those up to here have been looked at
  bool is_stale;                // an edge of one of these has changed
} rheos__consumers;

void rheos__consumers_deinit(rheos__consumers *consumers);

#endif  // RHEOS_SRC_GRAPH_CONSUMERS_H
