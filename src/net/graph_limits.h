// What a server takes of the graphs that others send it: how large they may be, and whether their
// ops may use files and call the program.
#ifndef RHEOS_SRC_NET_GRAPH_LIMITS_H
#define RHEOS_SRC_NET_GRAPH_LIMITS_H

#include <rheos/base.h>

typedef struct rheos__graph_limits {
  bool refuses_files;            // and functions of the program
  int64_t max_bytes, max_nodes;  // 0: any number
} rheos__graph_limits;

// Looks at a GraphDef, the functions in its library too, before anything is made of it; `num_nodes`
// are there already. RHEOS_PERMISSION_DENIED, RHEOS_RESOURCE_EXHAUSTED, or RHEOS_INVALID_ARGUMENT
// if it is none. What no limit asks for is not looked at.
rheos_status *rheos__graph_limits_check(const rheos__graph_limits *limits, int64_t num_nodes,
                                        const void *graph_def, size_t size_bytes);

#endif  // RHEOS_SRC_NET_GRAPH_LIMITS_H
