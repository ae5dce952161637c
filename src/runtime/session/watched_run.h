// Runs of a session that an observer looks at, and whose plans watch edges (plan/entries/watch.h).
//
// What is watched is a part of a plan's signature. The functions that such plans call have bodies
// of their own, for each set of edges, which stay as long as the session: other plans and bodies
// are as if nobody watched.
#ifndef RHEOS_SRC_RUNTIME_SESSION_WATCHED_RUN_H
#define RHEOS_SRC_RUNTIME_SESSION_WATCHED_RUN_H

#include "runtime/call/bodies.h"

// rheos_session_run() of a direct session, with an observer. `watches` may be NULL: no edge is
// watched; what is delivered has the numbers of its items.
rheos_status *rheos__session_run_watched(rheos_session *session, const rheos_feed *feeds,
                                         size_t num_feeds, rheos_fetch *fetches, size_t num_fetches,
                                         const rheos_operation *targets, size_t num_targets,
                                         const rheos_run_options *options, rheos__watches *watches,
                                         const rheos__observer *observer);

// The bodies of a session's watched plans, by what they watch.
typedef struct rheos__watched_bodies {
  struct rheos__watched_bodies *next;
  rheos__watches *watches;  // counted
  rheos__bodies *bodies;
} rheos__watched_bodies;

// The bodies for equal watches, which are made if there are none. `context` is that of the
// session's plans.
rheos_status *rheos__watched_bodies_find(rheos__watched_bodies **first,
                                         const rheos__plan_context *context,
                                         rheos__watches *watches,
                                         rheos__watched_bodies **out_found);
// No step runs, and none will.
void rheos__watched_bodies_clear(rheos__watched_bodies *first);
void rheos__watched_bodies_free(rheos__watched_bodies *first);

#endif  // RHEOS_SRC_RUNTIME_SESSION_WATCHED_RUN_H
