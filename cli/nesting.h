// What lies in what in a graph: loops and conditionals of version 1's nodes, and functions by the
// nodes that call them, in functions and in the graph.
#ifndef RHEOS_CLI_NESTING_H
#define RHEOS_CLI_NESTING_H

#include "contexts.h"
#include "text.h"

typedef struct nested {
  int32_t depth;
  const char *node;      // that calls; of a loop its frame, of a conditional what tells the branch
  const char *op;        // of the node; NULL: a loop or conditional of version 1
  const char *role;      // the attribute, "call" by the name of the op; "loop", "conditional"
  int32_t number;        // in a list of functions; -1: it is in none
  const char *function;  // NULL: of version 1
  const Tensorflow__FunctionDef *body;  // NULL: of version 1, or the library has no such function
  int64_t num_nodes;
  int32_t at;        // of what calls: its number among the nodes of the graph or function
  int32_t drawn_as;  // the item where the function came first
  bool is_again;     // the function came before; what it calls does not come again
  int32_t parent, first_child, last_child, next_sibling;  // in the order of making; -1: none
} nested;

typedef struct nesting {
  nested *items;
  int32_t count;
  size_t capacity;
  int32_t *order;  // the numbers of the items, each behind what it lies in
  contexts contexts;
  const Tensorflow__FunctionDef **by_name;  // the library, sorted
  size_t num_functions;
} nesting;

void nesting_init(nesting *n, const view *v);
void nesting_deinit(nesting *n);
const Tensorflow__FunctionDef *nesting_function(const nesting *n, const char *name);  // or NULL

void show_nesting(const nesting *n, int32_t most);
void show_nesting_json(const nesting *n, json *j);  // "bodies"

#endif  // RHEOS_CLI_NESTING_H
