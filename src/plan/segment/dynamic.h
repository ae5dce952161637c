// Instructions that are dynamic: shapes and kernel depend on what the inputs hold. A workspace
// keeps what it prepared for one, so that the next step with the same values, or with any where the
// kernel never looked at them beforehand, runs it right away.
#ifndef RHEOS_SRC_PLAN_SEGMENT_DYNAMIC_H
#define RHEOS_SRC_PLAN_SEGMENT_DYNAMIC_H

#include "plan/segment/segment.h"

// Runs the instruction on what is bound to its inputs; results to workspace->results. After a
// failure there are none.
rheos_status *rheos__run_dynamic(const rheos__segment *segment, const rheos__instruction *in,
                                 rheos__workspace *workspace, rheos__step *step);
// As rheos__run_dynamic(), for an entry of a plan with control flow, into `results`. `out_cells`
// are by output what it refers to, borrowed; NULL: nothing.
rheos_status *rheos__run_flow_node(const rheos__plan *plan, int32_t entry,
                                   rheos_tensor *const *inputs, rheos__resource *const *cells,
                                   rheos__workspace *workspace, rheos_tensor **results,
                                   rheos__step *step, rheos__resource **out_cells);
void rheos__dynamics_free(rheos__workspace *workspace);

#endif  // RHEOS_SRC_PLAN_SEGMENT_DYNAMIC_H
