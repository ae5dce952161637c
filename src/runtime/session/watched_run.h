// Runs of a session that an observer looks at, and whose plans watch edges (plan/entries/watch.h).
// What is watched is a part of a plan's signature.
#ifndef RHEOS_SRC_RUNTIME_SESSION_WATCHED_RUN_H
#define RHEOS_SRC_RUNTIME_SESSION_WATCHED_RUN_H

#include "runtime/call/watched_bodies.h"

// rheos_session_run() of a direct session, with an observer. `watches` may be NULL: no edge is
// watched; what is delivered has the numbers of its items.
rheos_status *rheos__session_run_watched(rheos_session *session, const rheos_feed *feeds,
                                         size_t num_feeds, rheos_fetch *fetches, size_t num_fetches,
                                         const rheos_operation *targets, size_t num_targets,
                                         const rheos_run_options *options, rheos__watches *watches,
                                         const rheos__observer *observer);

#endif  // RHEOS_SRC_RUNTIME_SESSION_WATCHED_RUN_H
