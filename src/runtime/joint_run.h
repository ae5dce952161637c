// Runs updates of variables that begin and end together; see plan/joint.h.
#ifndef RHEOS_SRC_RUNTIME_JOINT_RUN_H
#define RHEOS_SRC_RUNTIME_JOINT_RUN_H

#include "plan/joint.h"
#include "runtime/step.h"
#include "runtime/trace.h"

// Runs all of them, noted in the trace if there is one. False if nothing was done, since one of
// them fails or memory is short: run one by one, they tell.
bool rheos__run_joint(const rheos__stretch *stretch, const rheos__joint_run *run,
                      rheos__frame *frame, rheos__step *step, rheos_trace *trace);

#endif  // RHEOS_SRC_RUNTIME_JOINT_RUN_H
