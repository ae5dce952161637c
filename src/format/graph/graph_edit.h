// GraphDef messages that are changed as messages: read, nodes found by name, written.
#ifndef RHEOS_SRC_FORMAT_GRAPH_GRAPH_EDIT_H
#define RHEOS_SRC_FORMAT_GRAPH_GRAPH_EDIT_H

#include "format/graph/graph_def.h"

typedef struct rheos__named_node {
  const char *name;
  int32_t node;
} rheos__named_node;

typedef struct rheos__graph_edit {
  Tensorflow__GraphDef *def;
  rheos__named_node *by_name;  // of the nodes as they were read, sorted
  size_t num_names;
  rheos__arena arena;  // what is put into the message lives here
} rheos__graph_edit;

// rheos__graph_edit_deinit() is due in any case.
rheos_status *rheos__graph_edit_init(rheos__graph_edit *edit, const void *bytes, size_t size_bytes);
void rheos__graph_edit_deinit(rheos__graph_edit *edit);
// The bytes of the message, for rheos_free().
rheos_status *rheos__graph_edit_bytes(const rheos__graph_edit *edit, void **out_bytes,
                                      size_t *out_size_bytes);

// The node that an input or output names ("x", "x:1", "^x"), -1 if there is none.
int32_t rheos__graph_edit_find(const rheos__graph_edit *edit, const char *input);

// Drops the nodes that the outputs do not need. Nodes are no longer found by name. RHEOS_NOT_FOUND
// if an output is not there.
rheos_status *rheos__graph_edit_strip(rheos__graph_edit *edit, const char *const *outputs,
                                      size_t num_outputs);

// NULL if the node has no such attribute.
Tensorflow__AttrValue *rheos__node_def_attr(const Tensorflow__NodeDef *def, const char *name);

#endif  // RHEOS_SRC_FORMAT_GRAPH_GRAPH_EDIT_H
