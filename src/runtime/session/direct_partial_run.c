#include "runtime/session/direct_partial_run.h"

// ---- Those that are open

static int64_t add(rheos__direct_session *session, rheos__partial_run *run) {
  pthread_mutex_lock(&session->mutex);
  const int64_t handle = run->handle = ++session->last_handle;
  run->next = session->partial_runs;
  session->partial_runs = run;
  pthread_mutex_unlock(&session->mutex);
  return handle;
}

// With a reference for the caller.
static rheos_status *find(rheos__direct_session *session, int64_t handle,
                          rheos__partial_run **out_run) {
  pthread_mutex_lock(&session->mutex);
  rheos__partial_run *run = session->partial_runs;
  while (run != NULL && run->handle != handle) run = run->next;
  if (run != NULL) *out_run = rheos__partial_run_ref(run);
  pthread_mutex_unlock(&session->mutex);
  return run != NULL ? NULL : RHEOS_INVALID("Must run 'setup' before performing partial runs!");
}

void rheos__direct_partial_end(rheos_session *base, int64_t handle) {
  rheos__direct_session *session = rheos__direct(base);
  rheos__partial_run *found = NULL;
  pthread_mutex_lock(&session->mutex);
  for (rheos__partial_run **link = &session->partial_runs; *link != NULL; link = &(*link)->next) {
    if ((*link)->handle != handle) continue;
    found = *link;
    *link = found->next;
    break;
  }
  pthread_mutex_unlock(&session->mutex);
  rheos__partial_run_unref(found);
}

void rheos__direct_forget_partial_runs(rheos__direct_session *session) {
  pthread_mutex_lock(&session->mutex);
  rheos__partial_run *run = session->partial_runs;
  session->partial_runs = NULL;
  pthread_mutex_unlock(&session->mutex);
  while (run != NULL) {
    rheos__partial_run *next = run->next;
    rheos__partial_run_unref(run);
    run = next;
  }
}

// ---- Setting up

// Whether the whole could be planned.
static rheos_status *plan_whole(rheos__direct_session *session, const rheos__signature_ids *ids) {
  rheos__cached_plan *plan = NULL;
  pthread_mutex_lock(&session->mutex);
  rheos_status *status = rheos__plan_cache_get(&session->plans, ids, NULL, &plan);
  pthread_mutex_unlock(&session->mutex);
  rheos__cached_plan_unref(plan);
  return status;
}

rheos_status *rheos__direct_partial_setup(rheos_session *base, const rheos__signature_ids *ids,
                                          int64_t *out_handle) {
  rheos__direct_session *session = rheos__direct(base);
  rheos__partial_run *run = NULL;
  RHEOS_TRY(rheos__home_enter(&session->home));
  rheos_status *status = plan_whole(session, ids);
  if (status == NULL) status = rheos__partial_run_new(base->graph, ids, &run);
  if (status == NULL) *out_handle = add(session, run);
  rheos__home_leave(&session->home);
  return status;
}

// ---- Running

static rheos_status *run_part(rheos__direct_session *session, rheos__part *part,
                              const rheos_run_options *options) {
  if (part->ids.num_fetches == 0 && part->ids.num_targets == 0) return NULL;
  rheos__cached_plan *plan = NULL;
  RHEOS_TRY(rheos__direct_plan(session, &part->ids, options, &plan));
  return rheos__direct_run_take(session, plan, part->values, NULL, part->results, options, NULL,
                                NULL);
}

// With the run's mutex held. `*out_is_over`: the handle stands for nothing any more.
static rheos_status *run_next(rheos__direct_session *session, rheos__partial_run *run,
                              const rheos__signature_ids *ids, rheos_tensor *const *values,
                              const rheos_run_options *options, rheos_tensor **out_values,
                              bool *out_is_over) {
  for (int32_t i = 0; i < ids->num_feeds; ++i) {
    RHEOS_TRY(rheos__check_feed(session->base.graph, ids->feeds[i], values[i], false));
  }
  rheos__part part;
  rheos_status *status = rheos__partial_run_begin(run, ids, values, &part);
  if (status == NULL) {
    status = run_part(session, &part, options);
    if (status == NULL) status = rheos__partial_run_finish(run, ids, &part);
    *out_is_over = status != NULL || rheos__partial_run_is_over(run);
  }
  for (int32_t i = 0; status == NULL && i < ids->num_fetches; ++i) {
    out_values[i] = rheos_tensor_ref(part.results[i]);
  }
  rheos__part_deinit(&part);
  return status;
}

static rheos_status *find_and_run(rheos__direct_session *session, int64_t handle,
                                  const rheos__signature_ids *ids, rheos_tensor *const *values,
                                  rheos_tensor **out_values, const rheos_run_options *options) {
  bool is_over = false;
  rheos__partial_run *run = NULL;
  RHEOS_TRY(find(session, handle, &run));
  pthread_mutex_lock(&run->mutex);
  rheos_status *status = run_next(session, run, ids, values, options, out_values, &is_over);
  pthread_mutex_unlock(&run->mutex);
  if (is_over) rheos__direct_partial_end(&session->base, handle);
  rheos__partial_run_unref(run);
  return status;
}

rheos_status *rheos__direct_partial_run(rheos_session *base, int64_t handle,
                                        const rheos__signature_ids *ids,
                                        rheos_tensor *const *values, rheos_tensor **out_values,
                                        const rheos_run_options *options) {
  rheos__direct_session *session = rheos__direct(base);
  RHEOS_TRY(rheos__home_enter(&session->home));
  rheos_status *status = find_and_run(session, handle, ids, values, out_values, options);
  rheos__home_leave(&session->home);
  return status;
}
