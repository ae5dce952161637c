// Graphs as GraphDef messages: what the exporter and the importer share. The functions themselves
// are public, see <rheos/format.h>.
#ifndef RHEOS_SRC_FORMAT_GRAPH_GRAPH_DEF_H
#define RHEOS_SRC_FORMAT_GRAPH_GRAPH_DEF_H

#include <rheos/format.h>

#include "format/message/protobuf.h"
#include "graph.pb-c.h"
#include "graph/graph.h"

// The version of TensorFlow's graph format that is written: that of TensorFlow 1.15.
enum { RHEOS__GRAPH_PRODUCER = 134 };

// No message of protocol buffers is larger.
#define RHEOS__MAX_MESSAGE_BYTES INT64_C(2147483647)

// Where the values of large constants go instead of into the message.
typedef struct rheos__side_files {
  size_t least_bytes;  // of what counts as large
  // Writes the elements of a tensor; the name of the file, in the arena, is what the node says.
  rheos_status *(*write)(void *user, const rheos_tensor *tensor, rheos__arena *arena,
                         char **out_name);
  void *user;
} rheos__side_files;
// As rheos_graph_to_graph_def(), with large constants as ImmutableConst nodes.
rheos_status *rheos__graph_to_bytes_beside(rheos_graph *graph, const rheos__side_files *side,
                                           void **out_bytes, size_t *out_size_bytes);

// Whether the attribute is one that TensorFlow 1.15 does not know, with its default: it is not
// written, so that what both can do goes both ways.
bool rheos__attr_is_left_out(const rheos__signature *signature, const rheos_attr *attr);

// In the arena; bytes of strings and tensors stay where they are.
rheos_status *rheos__attr_to_proto(const rheos_attr_value *value, rheos__arena *arena,
                                   Tensorflow__AttrValue **out_proto);

// A node without its inputs, in the arena.
rheos_status *rheos__node_to_proto(rheos_graph *graph, int32_t id, rheos__arena *arena,
                                   Tensorflow__NodeDef *def);

// Appends the fields of a GraphDef beside its nodes: the library and versions. The graph is locked.
rheos_status *rheos__graph_put_rest(rheos_graph *graph, rheos__buffer *buffer);

// Fills in the attributes of a node, in the arena.
rheos_status *rheos__attrs_to_proto(const rheos__signature *signature, const rheos__attrs *attrs,
                                    rheos__arena *arena, Tensorflow__NodeDef *def);

// In the arena, strings and lists in the message's memory or the arena. Tensors have a reference
// that rheos__attr_release() gives back; nothing is held after a failure.
rheos_status *rheos__attr_from_proto(const Tensorflow__AttrValue *proto, rheos__arena *arena,
                                     rheos_attr_value *out_value);

// Makes the op that the message defines one of the graph's own. The graph is locked.
rheos_status *rheos__graph_add_op_def(rheos_graph *graph, const Tensorflow__OpDef *proto);
// As rheos__graph_add_op_def(), for the message of a function: an op that calls the function.
rheos_status *rheos__graph_add_function_op(rheos_graph *graph, const Tensorflow__OpDef *proto);
// A signature, in the graph's memory, for a node of an op that nothing defines: so many inputs and
// outputs of these dtypes (RHEOS_INVALID_DTYPE: not known), no attributes.
rheos_status *rheos__graph_guess_signature(rheos_graph *graph, const char *type,
                                           const rheos_dtype *inputs, size_t num_inputs,
                                           const rheos_dtype *outputs, size_t num_outputs,
                                           const rheos__signature **out_signature);

#endif  // RHEOS_SRC_FORMAT_GRAPH_GRAPH_DEF_H
