// The loops that one call differentiates: for each a loop backward (graph/backward_loop.h), and
// which of its Exits have been reached. They are visited together, once all have been.
#ifndef RHEOS_SRC_AUTODIFF_LOOPS_H
#define RHEOS_SRC_AUTODIFF_LOOPS_H

#include "graph/backward_loop.h"

typedef struct rheos__loop {
  rheos_control_context *forward;
  rheos__backward_loop *backward;
  int32_t *exits, *enters;  // nodes, as they were before
  int32_t num_exits, num_enters;
  int32_t num_pending;         // Exits that have not been reached yet
  int32_t *unused, *deferred;  // Exits, in the order they were met
  int32_t num_unused, num_deferred;
} rheos__loop;

typedef struct rheos__loops {
  rheos__loop *items;  // in the order they were met
  size_t capacity, count;
} rheos__loops;

bool rheos__is_loop_exit(const rheos_graph *graph, int32_t id);
// Whether the node passes a loop's variable to its body or out of it.
bool rheos__is_loop_switch(const rheos_graph *graph, int32_t id);

// The loop that the node is in, if it is among `loops`; else NULL.
rheos__loop *rheos__loops_find(const rheos__loops *loops, const rheos_graph *graph, int32_t id);
// The loop of the values that the node gives, if it is among `loops`; else NULL.
rheos__loop *rheos__loops_find_output(const rheos__loops *loops, const rheos_graph *graph,
                                      int32_t id);
// Adds the loop of an Exit. NULL if it was there, or with an error in the scope.
rheos__loop *rheos__loops_add(rheos__loops *loops, rheos_scope *scope, int32_t exit);
void rheos__loops_deinit(rheos__loops *loops);

// Zeros for an Exit that nothing of the ys comes from.
rheos_output rheos__zeros_for_exit(const rheos__loops *loops, rheos_scope *scope,
                                   rheos_output exit);
// Zeros for an output of a node of the loop, in the loop backward, where the scope is.
rheos_output rheos__zeros_in_loop(rheos__loop *loop, rheos_scope *scope, rheos_output output);
// Gives the Merges backward that nothing came back to zeros for the trips but the last.
void rheos__loops_finish(const rheos__loops *loops, rheos_scope *scope);

#endif  // RHEOS_SRC_AUTODIFF_LOOPS_H
