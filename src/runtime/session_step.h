// Steps of a session that run no plan of it: what goes over a dataset.
#ifndef RHEOS_SRC_RUNTIME_SESSION_STEP_H
#define RHEOS_SRC_RUNTIME_SESSION_STEP_H

#include "runtime/step.h"

// Begins a step on the calling thread; the session is not closed before it is ended. The options must last
// as long, and may be NULL. After a failure nothing has begun.
rheos_status *rheos__session_begin_step(rheos_session *session, const rheos_run_options *options,
                                        rheos__step *step, rheos__step **out_before);
// Ends it. What comes back is `status`, which is taken, or why the step was stopped.
rheos_status *rheos__session_end_step_take(rheos_session *session, rheos__step *step,
                                           rheos__step *before, rheos_status *status);

#endif  // RHEOS_SRC_RUNTIME_SESSION_STEP_H
