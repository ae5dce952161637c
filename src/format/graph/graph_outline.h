// A GraphDef read only so far as to know its nodes and how they hang together: attributes, with
// constants and all, are most of a graph and stay in the bytes until a node is added.
#ifndef RHEOS_SRC_FORMAT_GRAPH_GRAPH_OUTLINE_H
#define RHEOS_SRC_FORMAT_GRAPH_GRAPH_OUTLINE_H

#include "codec/wire.h"
#include "format/graph/graph_def.h"

// Checks all of the message (RHEOS_DATA_LOSS) and reads it into the arena. Of its nodes there are
// name, op, inputs and device; (*out_nodes)[i] are the bytes of node i, for
// rheos__proto_unpack_checked().
rheos_status *rheos__graph_def_outline(const void *bytes, size_t size_bytes, rheos__arena *arena,
                                       const Tensorflow__GraphDef **out_def,
                                       const rheos__wire **out_nodes);

#endif  // RHEOS_SRC_FORMAT_GRAPH_GRAPH_OUTLINE_H
