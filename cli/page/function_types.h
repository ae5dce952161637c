// Types and shapes in the body of a function: inferred on a graph that is made of it.
#ifndef RHEOS_CLI_PAGE_FUNCTION_TYPES_H
#define RHEOS_CLI_PAGE_FUNCTION_TYPES_H

#include "nodes.h"

// A graph with the body's nodes, whose arguments are placeholders of the shapes that the function
// or who calls it tells; for unref. `n` has names and edges. NULL: it cannot be made, or there are
// so many functions that it would take long.
rheos_graph *function_types_graph(const page_nodes *n, const Tensorflow__FunctionDef *function);

#endif  // RHEOS_CLI_PAGE_FUNCTION_TYPES_H
