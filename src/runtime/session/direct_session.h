// A direct session: it plans and runs the steps of its graph itself, on its host.
#ifndef RHEOS_SRC_RUNTIME_SESSION_DIRECT_SESSION_H
#define RHEOS_SRC_RUNTIME_SESSION_DIRECT_SESSION_H

#include "runtime/session/partial_run.h"
#include "runtime/session/plan_cache.h"
#include "runtime/session/session_kind.h"
#include "runtime/step/watched_step.h"

typedef struct rheos__direct_session {
  rheos_session base;
  rheos__home home;
  rheos__watch_list *watches;
  bool feeds_any_shape;
  pthread_mutex_t mutex;  // guards what follows
  rheos__plan_cache plans;
  struct rheos__watched_bodies *watched;  // latest first
  rheos__partial_run *partial_runs;       // latest first
  int64_t last_handle;                    // of these
  int64_t num_runs;
} rheos__direct_session;

extern const rheos__session_kind rheos__direct_session_kind;

static inline rheos__direct_session *rheos__direct(rheos_session *session) {
  return (rheos__direct_session *)session;
}

// ---- Of who has entered the session's home

// The plan of the signature, with a reference for the caller, for a run that is counted.
rheos_status *rheos__direct_plan(rheos__direct_session *session, const rheos__signature_ids *ids,
                                 const rheos_run_options *options, rheos__cached_plan **out_plan);
// Checks the values, runs the plan as a step, and gives the plan's reference back. `bound` or
// `out_values` is NULL, and `observer` may be. `rendezvous` is that of a step of which this is a
// part; NULL: it is none.
rheos_status *rheos__direct_run_take(rheos__direct_session *session, rheos__cached_plan *plan,
                                     rheos_tensor *const *values, const rheos__bound *bound,
                                     rheos_tensor **out_values, const rheos_run_options *options,
                                     const rheos__observer *observer,
                                     rheos__rendezvous *rendezvous);

// A step while the session is watched: what its plan is to watch goes into `ids`, with the hash.
// The step is to be deinitialised, after a failure too.
rheos_status *rheos__direct_watch(rheos__direct_session *session, rheos__signature_ids *ids,
                                  rheos_tensor *const *values, rheos__watched_step *out_step);

#endif  // RHEOS_SRC_RUNTIME_SESSION_DIRECT_SESSION_H
