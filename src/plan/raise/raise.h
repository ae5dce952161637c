// Raising: version 1's loops and conditionals become entries of a straight plan.
//
// A loop is what Enter, Merge, Switch, LoopCond, NextIteration and Exit of one frame make; its
// condition and body become parts of the same graph (graph/calls.h) that are plans of their own.
// The condition is fed the Merges, the body the true sides of the Switches, both the constant
// Enters. A conditional is what lies between Switches of one predicate and Merges; each side is a
// part that is fed the Switches.
//
// One level of a graph is raised as a whole or not at all: what lies outside of all loops and
// conditionals, of which the outermost ones become entries. Those inside are raised when the plans
// of the parts are made. What has another form, or could mean something else when raised, stays on
// tokens (flow.h): references, ops that wait, values that are fed or fetched inside, control edges
// to and from the machinery itself, nodes of one side that need the other. What lies between ops
// that wait is raised too: stretches.c.
#ifndef RHEOS_SRC_PLAN_RAISE_RAISE_H
#define RHEOS_SRC_PLAN_RAISE_RAISE_H

#include "graph/calls.h"
#include "plan/entries/flow.h"

typedef struct rheos__raised {
  int32_t count;
  rheos__structure **structures;  // in the plan's arena
  int32_t *of_node;    // one more than the number of the structure that took the node; 0: none did
  int32_t *output_of;  // by node: of its structure, the output that the node gives; else -1
} rheos__raised;

// `order` are the nodes that the plan needs. `out_raised->count` is 0 where nothing is raised.
rheos_status *rheos__raise(rheos__plan *plan, const rheos__flow_frames *frames,
                           const int32_t *order, int32_t num_order, const int32_t *targets,
                           int32_t num_targets, rheos__raised *out_raised);
// Of nodes none of which was taken.
rheos_status *rheos__raised_init(rheos__raised *raised, int32_t num_nodes);
void rheos__raised_deinit(rheos__raised *raised);
// Whether the plan's options let anything be raised.
bool rheos__is_raising(const rheos__plan *plan);

#endif  // RHEOS_SRC_PLAN_RAISE_RAISE_H
