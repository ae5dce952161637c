#include "net/master_callable.h"

#include "net/master_names.h"

// ---- Making and ending

static void callable_free(rheos__master_session *session, rheos__master_callable *callable) {
  rheos__master_plan_unref(session, callable->run.plan);
  rheos__arena_deinit(&callable->arena);
  rheos__free(callable);
}

// With the session's mutex held.
static rheos_status *plan_and_link(rheos__master_session *session,
                                   rheos__master_callable *callable) {
  if (session->is_closed) return rheos_status_new(RHEOS_CANCELLED, "Session was closed.");
  RHEOS_TRY(rheos__master_plan_get(session, &callable->run, &callable->run.plan));
  callable->handle = ++session->last_callable;
  callable->next = session->callables;
  session->callables = callable;
  return NULL;
}

rheos_status *rheos__master_callable_make(rheos__master_session *session,
                                          const rheos__master_run *run, int64_t *out_handle) {
  rheos__master_callable *callable = rheos__alloc_zeroed(sizeof *callable);
  if (callable == NULL) return rheos__out_of_memory();
  rheos__arena_init(&callable->arena);
  callable->references = 1;
  rheos_status *status = rheos__master_copy_names(run, &callable->arena, &callable->run);
  if (status == NULL) {
    pthread_mutex_lock(&session->mutex);
    status = plan_and_link(session, callable);
    *out_handle = callable->handle;
    pthread_mutex_unlock(&session->mutex);
  }
  if (status != NULL) callable_free(session, callable);
  return status;
}

void rheos__master_callable_unref(rheos__master_session *session,
                                  rheos__master_callable *callable) {
  pthread_mutex_lock(&session->mutex);
  const bool is_last = --callable->references == 0;
  pthread_mutex_unlock(&session->mutex);
  if (is_last) callable_free(session, callable);
}

// ---- By handle

// With the session's mutex held.
static rheos__master_callable **place_of(rheos__master_session *session, int64_t handle) {
  rheos__master_callable **place = &session->callables;
  while (*place != NULL && (*place)->handle != handle) place = &(*place)->next;
  return place;
}

// As TensorFlow says it.
static rheos_status *no_callable(const rheos__master_session *session, int64_t handle) {
  if (session->is_closed) return rheos_status_new(RHEOS_CANCELLED, "Session was closed.");
  if (handle > session->last_callable || handle <= 0) {
    return RHEOS_INVALID("No such callable handle: %lld", (long long)handle);
  }
  return RHEOS_INVALID("Attempted to run callable after handle was released: %lld",
                       (long long)handle);
}

rheos_status *rheos__master_callable_find(rheos__master_session *session, int64_t handle,
                                          rheos__master_callable **out_callable) {
  pthread_mutex_lock(&session->mutex);
  rheos__master_callable *callable = *place_of(session, handle);
  if (callable != NULL) callable->references++;
  rheos_status *status = callable != NULL ? NULL : no_callable(session, handle);
  pthread_mutex_unlock(&session->mutex);
  *out_callable = callable;
  return status;
}

void rheos__master_callable_release(rheos__master_session *session, int64_t handle) {
  pthread_mutex_lock(&session->mutex);
  rheos__master_callable **place = place_of(session, handle), *callable = *place;
  if (callable != NULL) *place = callable->next;
  pthread_mutex_unlock(&session->mutex);
  if (callable != NULL) rheos__master_callable_unref(session, callable);
}

void rheos__master_callables_release_all(rheos__master_session *session) {
  pthread_mutex_lock(&session->mutex);
  rheos__master_callable *callable = session->callables;
  session->callables = NULL;
  pthread_mutex_unlock(&session->mutex);
  while (callable != NULL) {
    rheos__master_callable *next = callable->next;
    rheos__master_callable_unref(session, callable);
    callable = next;
  }
}
