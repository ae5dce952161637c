// Graphs that came over the wire.
#ifndef RHEOS_SRC_NET_GRAPH_PARTS_H
#define RHEOS_SRC_NET_GRAPH_PARTS_H

#include <rheos/format.h>

// Adds the nodes of a GraphDef, whose names may be internal ones, and which may take inputs from
// nodes that are there, as the mappings say.
rheos_status *rheos__add_to_graph(rheos_graph *graph, const void *graph_def, size_t size_bytes,
                                  rheos_import_mapping *mappings, size_t num_mappings);

#endif  // RHEOS_SRC_NET_GRAPH_PARTS_H
