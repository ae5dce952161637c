// How much planning was done, and what it made.
#ifndef RHEOS_SRC_RUNTIME_SESSION_SESSION_STATS_H
#define RHEOS_SRC_RUNTIME_SESSION_SESSION_STATS_H

#include "runtime/session/plan_cache.h"

// Adds what the plans have cost and hold. The cache's mutex is held.
void rheos__add_plans(const rheos__plan_cache *plans, rheos_session_stats *stats);

#endif  // RHEOS_SRC_RUNTIME_SESSION_SESSION_STATS_H
