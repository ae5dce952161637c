// Joint runs: successive updates of variables, an optimizer's, begin and end together, and threads
// share the work of all of them. What each writes is its own, so the bits are those of one after
// another.
#ifndef RHEOS_SRC_PLAN_JOINT_H
#define RHEOS_SRC_PLAN_JOINT_H

#include "plan/stretch.h"

enum { RHEOS__MAX_JOINT = 64 };  // instructions in one

// Fills in stretch->joint_runs.
rheos_status *rheos__find_joint_runs(rheos__stretch *stretch);

#endif  // RHEOS_SRC_PLAN_JOINT_H
