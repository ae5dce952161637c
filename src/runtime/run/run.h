// A run of a plan under way, for the files that the executor is made of.
#ifndef RHEOS_SRC_RUNTIME_RUN_RUN_H
#define RHEOS_SRC_RUNTIME_RUN_RUN_H

#include "runtime/run/executor.h"

typedef struct rheos__run {
  rheos__plan *plan;
  rheos__workspace *workspace;
  rheos__step *step;
  rheos__place *place;        // of the segment under way; NULL: the step is not observed
  rheos__call *call;          // that this run is of; NULL: it is the step itself
  const rheos__bound *bound;  // where the fetches go; NULL: into tensors of their own
  rheos_tensor **spares;  // of a call: by fetch, tensors that values may be computed in, or NULL
} rheos__run;

// ---- A segment that is entered: executor.c

// Runs the segment's instructions, until one fails.
rheos_status *rheos__run_segment(rheos__run *r, const rheos__segment *segment);
// Lets go of what they have made.
void rheos__release_tensors(rheos__workspace *workspace, const rheos__segment *segment);

// ---- Fetched values: fetch.c

// Gives the fetched values of a segment the tensors that they are computed in.
rheos_status *rheos__run_place_fetched(const rheos__run *r, const rheos__segment *segment);
// Tensors for the caller, after the segment that was last.
rheos_status *rheos__run_take_fetches(rheos__run *r, const rheos__segment *last,
                                      rheos_tensor **out_values);
// As rheos__run_take_fetches(), into what the caller bound to the fetches.
rheos_status *rheos__run_store_fetches(rheos__run *r, const rheos__segment *last);

// ---- Version 1's control flow: flow_run.c

// The whole run of a plan with control flow. The run has a workspace.
rheos_status *rheos__run_flow(rheos__run *r, const rheos__parameters *parameters,
                              rheos_tensor **out_values, double *out_cost_ns);
// Gives the run of such a plan a workspace, and takes it back from a step; calls keep theirs.
rheos_status *rheos__run_take_workspace(rheos__run *r);
void rheos__run_give_workspace(rheos__run *r);

// ---- The way through the segments: enter.c

// The root for what the run is given, or the segment behind one by the shapes of what came without
// one; marked as running. The run gets a workspace with the root.
rheos_status *rheos__run_enter_root(rheos__run *r, const rheos__parameters *parameters,
                                    rheos__segment **out_root);
rheos_status *rheos__run_enter_child(rheos__run *r, rheos__segment *segment,
                                     rheos__segment **out_child);
// Ends what a step entered, up to `last`, and gives its workspace back. Calls keep theirs.
void rheos__run_leave(rheos__run *r, rheos__segment *last);

#endif  // RHEOS_SRC_RUNTIME_RUN_RUN_H
