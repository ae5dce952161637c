// Which node of one list is which of another: by their names, and where these differ, by what the
// nodes are and take. For graphs, and for the bodies of functions.
#ifndef RHEOS_CLI_NODE_MATCH_H
#define RHEOS_CLI_NODE_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "graph.pb-c.h"

enum { NODE_NONE = -1 };

typedef struct node_list {
  Tensorflow__NodeDef **nodes;
  int32_t count;
  int32_t *by_name;  // sorted
} node_list;

// Which function of one library is which of another, sorted by the first's names: borrowed.
typedef struct function_names {
  struct function_pair {
    const char *a, *b;
  } *pairs;
  size_t count;
} function_names;

typedef struct node_match {
  const function_names *functions;
  node_list a, b;
  int32_t *of_a, *of_b;  // by node: which it is in the other list, or NODE_NONE
} node_match;

void node_match_init(node_match *m, const function_names *functions, Tensorflow__NodeDef **a,
                     size_t num_a, Tensorflow__NodeDef **b, size_t num_b);
void node_match_deinit(node_match *m);

// The node that an input ("x", "x:1", "^x", in functions "x:out:0") comes from; NODE_NONE: it is
// not in the list. `*out_rest` is what follows the name, "" for output 0.
int32_t node_of_input(const node_list *list, const char *input, const char **out_rest);
// Whether input text `a` of the one list is `b` of the other.
bool node_inputs_equal(const node_match *m, const char *a, const char *b);
// Whether both are set alike, of functions where they name the same. NULL: it is not set.
bool node_attrs_equal(const node_match *m, const Tensorflow__AttrValue *a,
                      const Tensorflow__AttrValue *b);
// How much of a function's name is the program's: what follows numbers it.
size_t function_stem(const char *name);

#endif  // RHEOS_CLI_NODE_MATCH_H
