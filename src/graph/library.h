// The functions of a graph's library. A function is a graph of its own: arguments and results are nodes
// there. Its body is made when it is first asked for, once for each set of values of its attributes, so
// that a large library costs nothing until it is called.
#ifndef RHEOS_SRC_GRAPH_LIBRARY_H
#define RHEOS_SRC_GRAPH_LIBRARY_H

#include "graph/graph.h"

typedef struct rheos__function {
  const char *name;
  rheos_graph *graph;    // the body; kept by the library
  rheos__edge *args;     // the outputs of its argument nodes, by index
  rheos__edge *results;  // what its result nodes take, by index
  int32_t *targets;      // what else a call runs: what has effects, and what the function lists
  int32_t num_args, num_results, num_targets;
} rheos__function;

// Fills in the body of `func`: nodes of `function->graph`, which is empty, and the first targets, in that
// graph's memory. RHEOS_NOT_FOUND if the library does not have it. The library's graph is locked.
typedef rheos_status *(*rheos__make_body)(rheos_graph *graph, const rheos_func *func,
                                          rheos__function *function);
rheos_status *rheos__graph_set_body_maker(rheos_graph *graph, rheos__make_body make_body);

// The function of that name and with those values of its attributes in the library of `graph` (of a body:
// that of the graph which the function is of). It lives as long as that graph; what `func` points to has to, too.
rheos_status *rheos__graph_function(rheos_graph *graph, const rheos_func *func,
                                    const rheos__function **out_function);

// The dtype of an argument, of a result.
rheos_dtype rheos__function_arg_dtype(const rheos__function *function, int32_t arg);
rheos_dtype rheos__function_result_dtype(const rheos__function *function, int32_t result);

void rheos__library_free(rheos_graph *graph);

#endif  // RHEOS_SRC_GRAPH_LIBRARY_H
