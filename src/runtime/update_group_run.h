// Runs updates of variables that begin and end together; see plan/update_group.h.
#ifndef RHEOS_SRC_RUNTIME_UPDATE_GROUP_RUN_H
#define RHEOS_SRC_RUNTIME_UPDATE_GROUP_RUN_H

#include "plan/update_group.h"
#include "runtime/step.h"
#include "runtime/trace.h"

// Runs all of them, noted in the trace if there is one. False if nothing was done, since one of
// them fails or memory is short: run one by one, they tell.
bool rheos__run_update_group(const rheos__segment *segment, const rheos__update_group *run,
                             rheos__workspace *workspace, rheos__step *step, rheos_trace *trace);

#endif  // RHEOS_SRC_RUNTIME_UPDATE_GROUP_RUN_H
