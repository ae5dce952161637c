// Loops that compute the gradients of other loops. A loop backward makes as many trips as the loop
// forward made. What it reads of the forward trips it pops from stacks, on which the loop forward
// pushes it; what is the same in all trips, or constant, needs no stack. Structure, names and order
// of creation are those of TensorFlow 1.15.
#ifndef RHEOS_SRC_GRAPH_BACKWARD_LOOP_H
#define RHEOS_SRC_GRAPH_BACKWARD_LOOP_H

#include <rheos/gradients.h>

#include "graph/control_context.h"

// The Merge that the gradient of a loop's Switch begins with.
typedef struct rheos__backward_merge {
  int32_t switch_id;
  rheos_gradient merged;
} rheos__backward_merge;

struct rheos__backward_loop {
  rheos_control_context *forward, *backward;
  rheos__backward_loop *outer;       // of the loop around; NULL: none, or it is not differentiated
  rheos_control_context *called_in;  // where gradients are asked for
  int32_t forward_index, backward_index;  // the NextIterations of the counters
  int32_t forward_sync, backward_sync;    // order pushes and pops; -1 until they are made
  rheos__context_values history;          // values forward, and what they are backward
  rheos__backward_merge *merges;
  size_t merges_capacity, num_merges;
};

// Adds the counter of trips to the loop `forward`, and a loop that makes as many. The scope's
// context is the one that gradients are asked for in. It belongs to the new loop's context. NULL
// with an error in the scope.
rheos__backward_loop *rheos__backward_loop_new(rheos_scope *scope, rheos_control_context *forward,
                                               rheos__backward_loop *outer);
void rheos__backward_loop_free(rheos__backward_loop *loop);

// The loop forward of a loop that computes gradients; NULL for others.
const rheos_control_context *rheos__forward_of(const rheos_control_context *context);
// The loop backward that the scope is in, if that is the one of the loop that the node's values, or
// the node itself, are in; else NULL.
rheos__backward_loop *rheos__backward_loop_of(const rheos_scope *scope, int32_t id);
rheos__backward_loop *rheos__backward_loop_by_context(const rheos_scope *scope, int32_t id);

// What `value`, of the loop forward, is in the trip backward that belongs to it. The scope is in
// the loop backward.
rheos__edge rheos__backward_value(rheos_scope *scope, rheos__backward_loop *loop,
                                  rheos__edge value);
// A stack on which the loop forward pushes the value in each trip; `dead_branch`: for the side of a
// conditional that is not that of the value's context.
rheos_output rheos__backward_push(rheos_scope *scope, rheos__backward_loop *loop,
                                  rheos_output value, bool dead_branch);
// Takes what was pushed for `value` from `stack`, in the loop backward.
rheos_output rheos__backward_pop(rheos_scope *scope, rheos__backward_loop *loop, rheos_output stack,
                                 rheos_output value, bool dead_branch);

// An Enter, or RefEnter, of a variable of `context`, in which the scope is, with the shape of
// `data` if `has_shape`; noted among the loop's.
rheos_output rheos__backward_enter(rheos_scope *scope, rheos_control_context *context,
                                   rheos_output data, bool has_shape, const char *name);
// An Exit, noted among the loop's.
rheos_output rheos__backward_exit(rheos_scope *scope, rheos_control_context *context,
                                  rheos_output data, const char *name);
// Leads `next` back to the Merge.
void rheos__backward_lead_back(rheos_scope *scope, rheos_output merge, rheos_output next);

#endif  // RHEOS_SRC_GRAPH_BACKWARD_LOOP_H
