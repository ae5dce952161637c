// A graph, cut into one for each task or device that takes part in a step, as TensorFlow cuts it:
// an edge from one part to another becomes a _Send and a _Recv of one key, what is fed is received
// from the caller and what is fetched is sent to it. A loop with nodes on several devices gets a
// control loop on each, which goes round by the loop's condition, so that what is received comes
// once in each trip. A part is run as a whole, with what meets the others at a rendezvous
// (resource/rendezvous.h).
#ifndef RHEOS_SRC_FORMAT_PARTITION_GRAPH_CUT_H
#define RHEOS_SRC_FORMAT_PARTITION_GRAPH_CUT_H

#include "graph/graph.h"

typedef struct rheos__cut_device {
  const char *name;      // in full
  uint64_t incarnation;  // tells it from one that had the name before
  int32_t part;          // that its nodes are in
} rheos__cut_device;

typedef struct rheos__cut {
  // What a step is asked for; the rest of the graph is in no part.
  const rheos__edge *feeds, *fetches;
  const int32_t *targets;
  int32_t num_feeds, num_fetches, num_targets;
  const rheos__cut_device *devices;
  int32_t num_devices, num_parts;
  const int16_t *device_of;  // by node of the graph
} rheos__cut;

// A feed or fetch that a part receives or sends.
typedef struct rheos__part_end {
  int32_t index;  // of the step's feeds or fetches
  char *key;      // at the rendezvous
} rheos__part_end;

typedef struct rheos__cut_part {
  void *graph_def;  // for rheos__free()
  size_t size_bytes;
  int32_t num_nodes;
  rheos__part_end *feeds, *fetches;  // of what is fetched several times, the first
  size_t num_feeds, num_fetches, feed_capacity, fetch_capacity;
} rheos__cut_part;

// `out_parts` has room for all parts; one without nodes has an empty graph. After a failure all are
// empty. RHEOS_INVALID_ARGUMENT where a reference or resource would have to be sent.
rheos_status *rheos__graph_cut(rheos_graph *graph, const rheos__cut *cut,
                               rheos__cut_part *out_parts);
void rheos__cut_part_deinit(rheos__cut_part *part);

#endif  // RHEOS_SRC_FORMAT_PARTITION_GRAPH_CUT_H
