// Which function of one graph's library is which of another's.
#ifndef RHEOS_CLI_GRAPH_MATCH_H
#define RHEOS_CLI_GRAPH_MATCH_H

#include "node_match.h"

typedef struct function_library {
  Tensorflow__FunctionDef **functions;
  size_t count;
} function_library;

typedef struct graph_match {
  function_library a, b;
  int32_t *of_a, *of_b;  // by function: which it is in the other library, or NODE_NONE
  function_names names;  // of those that both have
} graph_match;

// Borrows from both. Functions are the same by their names, else by what these are without the
// number behind them, in their order.
void graph_match_init(graph_match *m, const Tensorflow__GraphDef *a, const Tensorflow__GraphDef *b);
void graph_match_deinit(graph_match *m);

const char *function_name(const Tensorflow__FunctionDef *function);  // "" where it has none

#endif  // RHEOS_CLI_GRAPH_MATCH_H
