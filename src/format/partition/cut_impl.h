// What the files that cut a graph share: the nodes that a step needs and those that cutting adds.
#ifndef RHEOS_SRC_FORMAT_PARTITION_CUT_IMPL_H
#define RHEOS_SRC_FORMAT_PARTITION_CUT_IMPL_H

#include "base/arena.h"
#include "codec/buffer.h"
#include "format/partition/graph_cut.h"

// A node of the graph has its id as its number, one that was added a number behind all ids.
typedef struct rheos__cut_node {
  bool is_needed;
  const char *name;  // of one that was added, in the arena
  const char *op;
  rheos__flow_role role;
  int32_t device;
  int32_t frame;         // that its inputs are in
  int32_t frame_behind;  // of an Enter: that its output is in
  rheos__edge *edges;    // from nodes by their numbers: inputs, then control inputs
  size_t num_inputs, num_edges, edge_capacity;
  rheos_attr attrs[8];  // of one that was added
  size_t num_attrs;
  rheos_dtype dtype;  // of its output
  // Of the edges that come from other devices, within a loop: how many, and the Merge of the
  // control loop that what is received along them waits for.
  int32_t num_far_inputs, control_merge;
} rheos__cut_node;

typedef struct rheos__cut_frame {
  const char *name;           // "": the root, which is the first
  int32_t parent, condition;  // nodes: LoopCond; -1: none
  int64_t parallel_iterations;
} rheos__cut_frame;

typedef struct rheos__cutter {
  rheos_graph *graph;
  const rheos__cut *cut;
  rheos__cut_part *parts;
  rheos__cut_node *nodes;
  size_t node_capacity;
  int32_t num_graph_nodes, num_nodes;
  int32_t *order;  // of needed nodes: inputs first, but for a loop's way back
  size_t order_capacity;
  int32_t num_order;
  rheos__cut_frame *frames;
  size_t frame_capacity;
  int32_t num_frames;
  int64_t last_number;  // in names
  bool failed;          // memory was short: what was added is of no use
  rheos__arena arena;
} rheos__cutter;

static inline const rheos__node *rheos__cut_graph_node(const rheos__cutter *c, int32_t number) {
  return rheos__graph_node(c->graph, number);
}

// "prefix" and "text_S3", a name that the graph does not have.
const char *rheos__cut_new_name(rheos__cutter *c, const char *prefix, const char *text);
// The name of any node, in the arena.
const char *rheos__cut_name_of(rheos__cutter *c, int32_t number);

// A node that is added; its number. Nodes may move.
int32_t rheos__cut_add(rheos__cutter *c, const char *name, const char *op, rheos__flow_role role,
                       int32_t device);
void rheos__cut_set_attr(rheos__cutter *c, int32_t number, rheos_attr attr);
void rheos__cut_add_edge(rheos__cutter *c, int32_t number, rheos__edge edge);
// A constant without elements, for what nobody looks at.
int32_t rheos__cut_add_nothing(rheos__cutter *c, const char *name, int32_t device);

// Whether input `input` of the node comes back from the end of a loop.
bool rheos__cut_is_way_back(const rheos__cutter *c, int32_t number, size_t input);
// Of an output; of a node that was added it is the only one.
rheos_dtype rheos__cut_dtype(const rheos__cutter *c, rheos__edge edge);

// ---- cut_loops.c

// Adds control loops where loops lie on several devices.
rheos_status *rheos__cut_loops(rheos__cutter *c);

// ---- cut_reads.c

// Gives what reads a variable in another part a read of its own, where that has to wait. Frames are
// known.
rheos_status *rheos__cut_reads(rheos__cutter *c);

// ---- cut_parts.c

// Writes the graphs of the parts.
rheos_status *rheos__cut_write(rheos__cutter *c);

#endif  // RHEOS_SRC_FORMAT_PARTITION_CUT_IMPL_H
