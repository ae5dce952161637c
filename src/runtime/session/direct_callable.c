#include "runtime/session/direct_callable.h"

static rheos__direct_callable *direct(rheos_callable *callable) {
  return (rheos__direct_callable *)callable;
}

// The plan with a reference for the caller, made anew if the graph was changed. With the session's
// mutex held, which is open while a plan is made.
static rheos_status *current_plan(rheos__direct_callable *callable, rheos__direct_session *session,
                                  const rheos_run_options *options, rheos__cached_plan **out_plan) {
  if (callable->plan == NULL || !rheos__plan_is_current(callable->plan->plan)) {
    rheos__cached_plan *renewed = NULL;
    RHEOS_TRY(rheos__plan_cache_get(&session->plans, &callable->base.ids, options, &renewed));
    rheos__cached_plan_unref(callable->plan);
    callable->plan = renewed;
  }
  *out_plan = rheos__cached_plan_ref(callable->plan);
  return NULL;
}

rheos_status *rheos__direct_make_callable(rheos_callable *callable) {
  rheos__direct_session *session = rheos__direct(callable->session);
  RHEOS_TRY(rheos__home_enter(&session->home));
  pthread_mutex_lock(&session->mutex);
  rheos_status *status =
      rheos__plan_cache_get(&session->plans, &callable->ids, NULL, &direct(callable)->plan);
  pthread_mutex_unlock(&session->mutex);
  rheos__home_leave(&session->home);
  return status;
}

void rheos__direct_release_callable(rheos_callable *callable) {
  rheos__cached_plan_unref(direct(callable)->plan);
}

// By a plan that watches what the session's watches name.
static rheos_status *run_watched(rheos_callable *callable, rheos_tensor *const *values,
                                 const rheos__bound *bound, rheos_tensor **out_values,
                                 const rheos_run_options *options, rheos__rendezvous *rendezvous) {
  rheos__direct_session *session = rheos__direct(callable->session);
  rheos__signature_ids ids = callable->ids;
  rheos__watched_step step;
  rheos__cached_plan *plan = NULL;
  rheos_status *status = rheos__direct_watch(session, &ids, values, &step);
  if (status == NULL) status = rheos__direct_plan(session, &ids, options, &plan);
  if (status == NULL) {
    status = rheos__direct_run_take(session, plan, values, bound, out_values, options,
                                    step.watches != NULL ? &step.observer : NULL, rendezvous);
  }
  rheos__watched_step_deinit(&step);
  return status;
}

// `bound` or `out_values` is NULL, and `rendezvous` may be.
static rheos_status *run(rheos_callable *callable, rheos_tensor *const *values,
                         const rheos__bound *bound, rheos_tensor **out_values,
                         const rheos_run_options *options, rheos__rendezvous *rendezvous) {
  rheos__direct_session *session = rheos__direct(callable->session);
  rheos__cached_plan *plan = NULL;
  RHEOS_TRY(rheos__home_enter(&session->home));
  if (rheos__is_watched(session->watches)) {
    rheos_status *watched = run_watched(callable, values, bound, out_values, options, rendezvous);
    rheos__home_leave(&session->home);
    return watched;
  }
  pthread_mutex_lock(&session->mutex);
  rheos_status *status = current_plan(direct(callable), session, options, &plan);
  if (status == NULL) ++session->num_runs;
  pthread_mutex_unlock(&session->mutex);
  if (status == NULL) {
    status =
        rheos__direct_run_take(session, plan, values, bound, out_values, options, NULL, rendezvous);
  }
  rheos__home_leave(&session->home);
  return status;
}

rheos_status *rheos__direct_run_callable(rheos_callable *callable, rheos_tensor *const *values,
                                         rheos_tensor **out_values,
                                         const rheos_run_options *options) {
  return run(callable, values, NULL, out_values, options, NULL);
}

rheos_status *rheos__direct_run_part(rheos_callable *callable, rheos_tensor *const *values,
                                     rheos_tensor **out_values, const rheos_run_options *options,
                                     rheos__rendezvous *rendezvous) {
  for (int32_t i = 0; i < callable->ids.num_fetches; ++i) out_values[i] = NULL;
  rheos_status *status = run(callable, values, NULL, out_values, options, rendezvous);
  if (status != NULL) rheos__rendezvous_abort(rendezvous, status);
  return status;
}

rheos_status *rheos__direct_run_bound(rheos_callable *callable, const rheos_run_options *options) {
  return run(callable, callable->bound->values, callable->bound, NULL, options, NULL);
}

int64_t rheos__direct_callable_cost_ns(const rheos_callable *callable) {
  const rheos__cached_plan *plan = ((const rheos__direct_callable *)callable)->plan;
  return atomic_load_explicit(&plan->cost_ns, memory_order_relaxed);
}
