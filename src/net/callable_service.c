// What tensorflow.MasterService has of callables.
#include "net/services.h"

#include "master.pb-c.h"
#include "net/master_callable.h"

#define REQUEST(type) ((const Tensorflow__##type##Request *)(const void *)served->request.message)

rheos_status *rheos__serve_MakeCallable(rheos__served *served) {
  const Tensorflow__CallableOptions *o = REQUEST(MakeCallable)->options;
  Tensorflow__MakeCallableResponse reply = TENSORFLOW__MAKE_CALLABLE_RESPONSE__INIT;
  rheos__master_session *session;
  if (o == NULL) return RHEOS_INVALID("a callable needs options");
  if (o->n_tensor_connection > 0) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "callables with a tensor_connection are not served");
  }
  const rheos__master_run run = {
      .feeds = o->feed,
      .fetches = o->fetch,
      .targets = o->target,
      .num_feeds = o->n_feed,
      .num_fetches = o->n_fetch,
      .num_targets = o->n_target,
      .timeout_ms = o->run_options != NULL ? o->run_options->timeout_in_ms : 0,
      .traced = rheos__traced_by_run_options(o->run_options)};
  RHEOS_TRY(rheos__serve_find(served, REQUEST(MakeCallable)->session_handle, &session));
  rheos_status *status = rheos__master_callable_make(session, &run, &reply.handle);
  rheos__master_put_back(session);
  if (status == NULL) rheos__message_put(&served->reply, &reply.base);
  return status;
}

static rheos_status *run_traced(rheos__served *served, rheos__master_session *session,
                                rheos__master_run *run) {
  rheos__run_stats stats = {.steps = {0}};
  run->stats = &stats;
  rheos_status *status = rheos__master_session_run(session, run);
  if (status == NULL && run->traced != 0) {
    rheos__run_stats_put_metadata(&stats, &served->reply, 2);
  }
  rheos__run_stats_deinit(&stats);
  return status;
}

static rheos_status *run_with(rheos__served *served, rheos__master_session *session,
                              rheos__master_run *run) {
  if (served->request.num_tensors != run->num_feeds) {
    return RHEOS_INVALID("the callable takes %zu feeds, got %zu", run->num_feeds,
                         served->request.num_tensors);
  }
  run->values = served->request.tensors;
  run->should_stop = rheos__is_abandoned;
  run->should_stop_argument = served;
  RHEOS_TRY(run_traced(served, session, run));
  for (size_t i = 0; i < run->num_fetches; i++) {
    rheos__message_put_tensor(&served->reply, 1, run->results[i]);
    rheos_tensor_unref(run->results[i]);
  }
  return NULL;
}

static rheos_status *run_found(rheos__served *served, rheos__master_session *session,
                               const rheos__master_callable *callable) {
  rheos__master_run run = callable->run;
  run.results = rheos__alloc_array(run.num_fetches + 1, sizeof(rheos_tensor *));
  if (run.results == NULL) return rheos__out_of_memory();
  rheos_status *status = run_with(served, session, &run);
  rheos__free(run.results);
  return status;
}

rheos_status *rheos__serve_RunCallable(rheos__served *served) {
  rheos__master_session *session;
  rheos__master_callable *callable;
  RHEOS_TRY(rheos__serve_find(served, REQUEST(RunCallable)->session_handle, &session));
  rheos_status *status =
      rheos__master_callable_find(session, REQUEST(RunCallable)->handle, &callable);
  if (status == NULL) {
    status = run_found(served, session, callable);
    rheos__master_callable_unref(session, callable);
  }
  rheos__master_put_back(session);
  return status;
}

rheos_status *rheos__serve_ReleaseCallable(rheos__served *served) {
  rheos__master_session *session;
  RHEOS_TRY(rheos__serve_find(served, REQUEST(ReleaseCallable)->session_handle, &session));
  rheos__master_callable_release(session, REQUEST(ReleaseCallable)->handle);
  rheos__master_put_back(session);
  return NULL;
}
