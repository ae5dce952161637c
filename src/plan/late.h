// Instructions that come late: shapes and kernel depend on what the inputs hold. A frame keeps what it
// prepared for one, so that the next step with the same values, or with any where the kernel never
// looked at them beforehand, runs it right away.
#ifndef RHEOS_SRC_PLAN_LATE_H
#define RHEOS_SRC_PLAN_LATE_H

#include "plan/stretch.h"

// Runs the instruction on what is bound to its inputs; results to frame->results. After a failure there
// are none.
rheos_status *rheos__run_late(const rheos__stretch *stretch, const rheos__instruction *in,
                              rheos__frame *frame, rheos__step *step);
void rheos__lates_free(rheos__frame *frame);

#endif  // RHEOS_SRC_PLAN_LATE_H
