// Bodies of the functions in a library: from FunctionDef messages to graphs.
#ifndef RHEOS_SRC_FORMAT_GRAPH_FUNCTION_BODY_H
#define RHEOS_SRC_FORMAT_GRAPH_FUNCTION_BODY_H

#include "format/graph/graph_extras.h"
#include "graph/library.h"

// A rheos__make_body: from the messages in the graph's extras.
rheos_status *rheos__make_body_of_message(rheos_graph *graph, const rheos_func *func,
                                          rheos__function *function);

#endif  // RHEOS_SRC_FORMAT_GRAPH_FUNCTION_BODY_H
