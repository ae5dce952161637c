// A plan of a session that is looked at, not run.
#ifndef RHEOS_SRC_RUNTIME_SESSION_SESSION_PLAN_H
#define RHEOS_SRC_RUNTIME_SESSION_SESSION_PLAN_H

#include <rheos/session.h>

#include "plan/segment/segment.h"
#include "runtime/session/run_signature.h"

// The plan that the session would run, and its first segment for feeds of these shapes, which the
// plan owns; NULL where version 1's control flow runs on tokens, so that there are no segments. The
// caller frees the plan, before the session.
rheos_status *rheos__session_plan(rheos_session *session, const rheos__step_ends *ends,
                                  const rheos_shape *shapes, rheos__plan **out_plan,
                                  const rheos__segment **out_segment);

#endif  // RHEOS_SRC_RUNTIME_SESSION_SESSION_PLAN_H
