// Update groups: successive updates of variables, an optimizer's, begin and end together, and
// threads share the work of all of them. What each writes is its own, so the bits are those of one
// after another.
#ifndef RHEOS_SRC_PLAN_SEGMENT_UPDATE_GROUP_H
#define RHEOS_SRC_PLAN_SEGMENT_UPDATE_GROUP_H

#include "plan/segment/segment.h"

enum { RHEOS__MAX_UPDATE_GROUP = 64 };  // instructions in one

// Adds them to the sections of the segment.
rheos_status *rheos__find_update_groups(rheos__segment *segment);

#endif  // RHEOS_SRC_PLAN_SEGMENT_UPDATE_GROUP_H
