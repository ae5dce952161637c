// The plans of a session by their signatures. Plans are made while the session's mutex is open, so
// that threads with different signatures plan side by side; of those that want the same new one,
// the first makes it and the others wait. Plans are counted: one may leave the cache while a step
// runs it.
#ifndef RHEOS_SRC_RUNTIME_SESSION_PLAN_CACHE_H
#define RHEOS_SRC_RUNTIME_SESSION_PLAN_CACHE_H

#include <stdatomic.h>

#include "plan/entries/plan.h"
#include "runtime/session/run_signature.h"
#include "runtime/step/step.h"

typedef enum rheos__plan_state {
  RHEOS__PLAN_IS_MADE_NOW,
  RHEOS__PLAN_READY,
  RHEOS__PLAN_FAILED,
} rheos__plan_state;

typedef struct rheos__cached_plan {
  _Atomic int32_t references;
  rheos__signature_ids ids;  // arrays of its own
  rheos__plan_state state;   // guarded by the session's mutex
  rheos__plan *plan;         // NULL until it is ready
  _Atomic int64_t cost_ns;   // a guess at the time of one run
} rheos__cached_plan;

typedef struct rheos__plan_cache {
  // Makes the plan of a signature; called by any number of threads at once.
  rheos_status *(*make)(void *argument, const rheos__signature_ids *ids, rheos__plan **out_plan);
  void *argument;
  pthread_mutex_t *mutex;      // the session's; guards what follows
  rheos__home *home;           // whose closing ends waiting; may be NULL
  pthread_cond_t made;         // a plan is, or has failed
  rheos__cached_plan **plans;  // latest first
  size_t num_plans, capacity, max_plans;
  int64_t num_made;
} rheos__plan_cache;

// `cache` holds zeros but for make, argument, mutex, home and max_plans.
void rheos__plan_cache_init(rheos__plan_cache *cache);
void rheos__plan_cache_deinit(rheos__plan_cache *cache);

// Lets go of all plans; none is being made. The mutex is not held.
void rheos__plan_cache_clear(rheos__plan_cache *cache);

// The plan of the signature, ready, with a reference for the caller. The mutex is held, but not
// while a plan is made. Who waits for another thread obeys `options` (may be NULL); failed plans
// are not kept.
rheos_status *rheos__plan_cache_get(rheos__plan_cache *cache, const rheos__signature_ids *ids,
                                    const rheos_run_options *options,
                                    rheos__cached_plan **out_plan);

rheos__cached_plan *rheos__cached_plan_ref(rheos__cached_plan *plan);
void rheos__cached_plan_unref(rheos__cached_plan *plan);

#endif  // RHEOS_SRC_RUNTIME_SESSION_PLAN_CACHE_H
