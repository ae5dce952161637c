// The nodes of a graph or of a function's body in one form: names, ops, edges, types of outputs.
#ifndef RHEOS_CLI_PAGE_NODES_H
#define RHEOS_CLI_PAGE_NODES_H

#include "../table.h"
#include "../view.h"
#include "hierarchy.h"

typedef struct page_output {
  int32_t type;   // its row of types
  int64_t bytes;  // dimensions that are not known count as 1
} page_output;

typedef struct page_nodes {
  const view *view;
  bool is_function;
  int32_t count;
  const char **names, **ops, **devices;
  const char **frames;               // of an Enter its loop's, else NULL
  const Tensorflow__NodeDef **defs;  // NULL: an argument or result of a function
  size_t *first_edge;                // of each node, and one more
  hierarchy_edge *edges;
  size_t *first_output;  // likewise
  page_output *outputs;
  size_t output_capacity;
  name_table types;  // "float [2,?]"
  name_table frame_names;
} page_nodes;

void page_nodes_of_graph(page_nodes *n, const view *v);
// Arguments come first as nodes of the op "_Arg", results last as "_Retval". Of an op that is not
// known an edge's output is its number among those of one name.
void page_nodes_of_function(page_nodes *n, const view *v, const Tensorflow__FunctionDef *function);
void page_nodes_deinit(page_nodes *n);

// "script.py:12", where the program made the node, for free(); NULL: not known.
char *page_nodes_source(const page_nodes *n, int32_t node);

#endif  // RHEOS_CLI_PAGE_NODES_H
