// What a graph keeps of files and only files know: the library of functions, versions, fields of
// messages that nothing here reads.
#ifndef RHEOS_SRC_FORMAT_GRAPH_GRAPH_EXTRAS_H
#define RHEOS_SRC_FORMAT_GRAPH_GRAPH_EXTRAS_H

#include "format/graph/graph_def.h"

// A range of bytes of one of the buffers below.
typedef struct rheos__extra {
  int32_t id;        // of the node
  const char *name;  // or of the function; in the graph's memory
  size_t at, size_bytes;
} rheos__extra;

typedef struct rheos__graph_extras {
  rheos__buffer functions;      // FunctionDef messages, those of removed functions too
  size_t removed_bytes;         // of these
  rheos__extra *function_list;  // a removed one has no bytes
  size_t function_capacity, num_functions;
  uint32_t *function_slots;  // by the hash of the name, one more than the number; at most half full
  size_t num_function_slots;
  rheos__buffer library_rest;  // the other fields of the library
  rheos__buffer node_fields;   // of NodeDefs, by node with rising ids
  rheos__extra *node_list;
  size_t node_capacity, num_nodes;
  rheos__buffer graph_rest;  // the other fields of the GraphDef
  int32_t producer, min_consumer;
  int32_t *bad_consumers;
  size_t bad_consumer_capacity, num_bad_consumers;
} rheos__graph_extras;

// The graph's extras, made at the first call; NULL when memory is short. The graph is locked.
rheos__graph_extras *rheos__graph_extras_of(rheos_graph *graph);

// Adds the functions of a GraphDef's library, which become ops of the graph, and its gradients. A
// function that is there already has to be the same. `bytes` are those that `def` was read from.
rheos_status *rheos__graph_add_library(rheos_graph *graph, const Tensorflow__GraphDef *def,
                                       const void *bytes, size_t size_bytes);

// The message of that name; NULL if there is none.
const rheos__extra *rheos__find_function(const rheos__graph_extras *extras, const char *name);

// Narrows the versions that the graph fits by those of a file.
rheos_status *rheos__graph_add_versions(rheos_graph *graph, const Tensorflow__VersionDef *versions);

// Keeps the fields of a NodeDef beside name, op, inputs, device and attributes. Ids rise from call
// to call.
rheos_status *rheos__graph_keep_node_fields(rheos_graph *graph, int32_t id,
                                            const Tensorflow__NodeDef *def);
// The fields that were kept of node `id`; *out_size_bytes is 0 if there are none.
const void *rheos__graph_node_fields(const rheos__graph_extras *extras, int32_t id,
                                     size_t *out_size_bytes);
// Keeps the fields of a GraphDef beside nodes, library and versions.
rheos_status *rheos__graph_keep_fields(rheos_graph *graph, const Tensorflow__GraphDef *def);

#endif  // RHEOS_SRC_FORMAT_GRAPH_GRAPH_EXTRAS_H
