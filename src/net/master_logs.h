// What workers note of the values that they receive in a step that is traced: asked for by the
// methods Logging, before the step and after it.
#ifndef RHEOS_SRC_NET_MASTER_LOGS_H
#define RHEOS_SRC_NET_MASTER_LOGS_H

#include "net/master_session.h"

// Has all tasks of the plan note them, or no more.
void rheos__master_logs_turn(const rheos__master_session *session, const rheos__master_plan *plan,
                             bool is_on);
// Adds what they noted of the step. A task that does not tell has nothing to tell.
void rheos__master_logs_take(const rheos__master_session *session, const rheos__master_plan *plan,
                             int64_t step, rheos__run_stats *stats);

#endif  // RHEOS_SRC_NET_MASTER_LOGS_H
