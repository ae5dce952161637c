// Parts of a segment that threads may go through side by side, each with instructions of its own.
#ifndef RHEOS_SRC_PLAN_SEGMENT_BRANCHES_H
#define RHEOS_SRC_PLAN_SEGMENT_BRANCHES_H

#include "plan/segment/segment.h"

// Operands and outputs of an instruction in a branch, at most.
enum { RHEOS__BRANCH_OPERANDS = 32, RHEOS__MAX_BRANCHES = 32 };

// Adds sections to the segment where `num_threads` would gain clearly more than handing over costs.
// Before rheos__place_memory().
rheos_status *rheos__find_branches(rheos__segment *segment, int32_t num_threads);

#endif  // RHEOS_SRC_PLAN_SEGMENT_BRANCHES_H
