// Runs groups of branches over the threads; see plan/branches.c.
#ifndef RHEOS_SRC_RUNTIME_BRANCH_RUN_H
#define RHEOS_SRC_RUNTIME_BRANCH_RUN_H

#include "plan/segment.h"
#include "runtime/step.h"
#include "runtime/trace.h"

// Runs the instructions of the group that are in a branch. The error is that of the first of them, in
// the order of the plan, that would fail on one thread; `*out_failed` is its instruction, else
// INT32_MAX. A step that is stopped is no error yet. `marks`: of each instruction of the group,
// filled in for those that run; NULL: there is no trace.
rheos_status *rheos__run_branches(const rheos__segment *segment, const rheos__branch_group *group,
                                  const rheos__workspace *workspace, rheos__step *step,
                                  rheos__trace_mark *marks, int32_t *out_failed);

#endif  // RHEOS_SRC_RUNTIME_BRANCH_RUN_H
