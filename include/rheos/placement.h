// Placement: on which device each operation of a graph runs, and why, without a session.
#ifndef RHEOS_PLACEMENT_H
#define RHEOS_PLACEMENT_H

#include <rheos/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rheos_placement_options {
  // The devices, in full, of any number of tasks: "/job:worker/replica:0/task:1/device:CPU:0". The
  // first is where operations are that nothing sends elsewhere; masters have their own task's
  // there. NULL: one CPU of this process.
  const char *const *devices RHEOS_LEFT_OUT;
  size_t num_devices RHEOS_LEFT_OUT;
  bool allow_soft_placement RHEOS_LEFT_OUT;
  bool reserved_[7] RHEOS_LEFT_OUT;  // zeros
} rheos_placement_options;

typedef struct rheos_placement {
  rheos_operation operation;  // of the graph
  const char *asked;          // the device that the operation asks for, "" for none
  const char *given;          // one of the devices
  const char *why;  // "asked for", "colocated with x", "beside v, whose reference or handle it ..."
} rheos_placement;

// Where sessions on these devices, CPUs and behind them graphics cards, which need not be there,
// place the operations: one placement for each, in their order. The caller frees the list, with its
// texts, by rheos_free(). `options` may be NULL. RHEOS_INVALID_ARGUMENT, with the operations that
// matter and their lines, for a device that is not there and for colocations that cannot be.
RHEOS_MUST_USE static inline rheos_status *rheos_graph_place(const rheos_graph *graph,
                                                             const rheos_placement_options *options,
                                                             rheos_placement **out_placements,
                                                             size_t *out_count);

// ---- How large the struct of options is in the program (base.h, Options)

RHEOS_STATUS rheos_graph_place_sized(const rheos_graph *graph,
                                     const rheos_placement_options *options, size_t options_bytes,
                                     rheos_placement **out_placements, size_t *out_count);
RHEOS_MUST_USE static inline rheos_status *rheos_graph_place(const rheos_graph *graph,
                                                             const rheos_placement_options *options,
                                                             rheos_placement **out_placements,
                                                             size_t *out_count) {
  return rheos_graph_place_sized(graph, options, sizeof *options, out_placements, out_count);
}

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_PLACEMENT_H
