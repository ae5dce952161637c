// Instructions that are dynamic: shapes and kernel depend on what the inputs hold. A workspace keeps what it
// prepared for one, so that the next step with the same values, or with any where the kernel never
// looked at them beforehand, runs it right away.
#ifndef RHEOS_SRC_PLAN_DYNAMIC_H
#define RHEOS_SRC_PLAN_DYNAMIC_H

#include "plan/segment.h"

// Runs the instruction on what is bound to its inputs; results to workspace->results. After a failure there
// are none.
rheos_status *rheos__run_dynamic(const rheos__segment *segment, const rheos__instruction *in,
                                 rheos__workspace *workspace, rheos__step *step);
void rheos__dynamics_free(rheos__workspace *workspace);

#endif  // RHEOS_SRC_PLAN_DYNAMIC_H
