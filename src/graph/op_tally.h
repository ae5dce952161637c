// Ops counted for a message: which, how many nodes of each, and the name of the first.
#ifndef RHEOS_SRC_GRAPH_OP_TALLY_H
#define RHEOS_SRC_GRAPH_OP_TALLY_H

#include "graph/graph.h"

typedef struct rheos__op_tally {
  struct rheos__op_count {
    const char *op;  // borrowed
    char *node;
    int64_t count;
  } *items;
  size_t capacity, count;
} rheos__op_tally;  // starts as zeros

// `node` is copied.
rheos_status *rheos__op_tally_add(rheos__op_tally *tally, const char *op, const char *node);
// "'Foo' (2 nodes, the first is 'a'), 'Bar' ('b')": as much as fits, ended by "...".
void rheos__op_tally_text(const rheos__op_tally *tally, char *text, size_t size_bytes);
void rheos__op_tally_deinit(rheos__op_tally *tally);

#endif  // RHEOS_SRC_GRAPH_OP_TALLY_H
