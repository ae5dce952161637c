#include "net/remote_callable.h"

#include "master.pb-c.h"
#include "net/remote_step.h"

static rheos__remote_callable *remote(rheos_callable *base) {
  return (rheos__remote_callable *)base;
}

static rheos__remote_session *session_of(const rheos__remote_callable *callable) {
  return rheos__remote(callable->base.session);
}

// ---- Making and ending

rheos_status *rheos__remote_make_callable(rheos_callable *base) {
  pthread_mutex_init(&remote(base)->mutex, NULL);
  return NULL;
}

static rheos_status *make_named(rheos__remote_callable *callable, const rheos__step_names *names,
                                const rheos_run_options *options) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__make_callable_response__descriptor};
  rheos__remote_session *session = session_of(callable);
  const rheos__signature_ids *ids = &callable->base.ids;
  Tensorflow__MakeCallableRequest fields = TENSORFLOW__MAKE_CALLABLE_REQUEST__INIT;
  Tensorflow__CallableOptions wanted = TENSORFLOW__CALLABLE_OPTIONS__INIT;
  rheos__message request = {0};
  rheos__received reply;
  wanted.feed = names->feeds;
  wanted.n_feed = (size_t)ids->num_feeds;
  wanted.fetch = names->fetches;
  wanted.n_fetch = (size_t)ids->num_fetches;
  wanted.target = names->targets;
  wanted.n_target = (size_t)ids->num_targets;
  fields.session_handle = session->handle;
  fields.options = &wanted;
  rheos__message_put(&request, &fields.base);
  rheos_status *status = rheos__remote_call(&session->server, RHEOS__MAKE_CALLABLE, &request, 0,
                                            options, &form, &reply);
  if (status == NULL) {
    callable->handle =
        ((const Tensorflow__MakeCallableResponse *)(const void *)reply.message)->handle;
    atomic_store(&callable->is_made, 1);
  }
  rheos__received_deinit(&reply);
  rheos__message_deinit(&request);
  return status;
}

static rheos_status *make(rheos__remote_callable *callable, const rheos_run_options *options) {
  rheos__step_names names;
  rheos__arena arena;
  RHEOS_TRY(rheos__remote_bring_up(session_of(callable), options));
  rheos__arena_init(&arena);
  rheos_status *status =
      rheos__remote_names(callable->base.session, &callable->base.ids, &arena, &names);
  if (status == NULL) status = make_named(callable, &names, options);
  rheos__arena_deinit(&arena);
  return status;
}

static rheos_status *make_once(rheos__remote_callable *callable, const rheos_run_options *options) {
  rheos_status *status = NULL;
  if (atomic_load(&callable->is_made) != 0) return NULL;
  pthread_mutex_lock(&callable->mutex);
  if (atomic_load(&callable->is_made) == 0) status = make(callable, options);
  pthread_mutex_unlock(&callable->mutex);
  return status;
}

static void tell_end(const rheos__remote_callable *callable) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__release_callable_response__descriptor};
  rheos__remote_session *session = session_of(callable);
  Tensorflow__ReleaseCallableRequest fields = TENSORFLOW__RELEASE_CALLABLE_REQUEST__INIT;
  rheos__message request = {0};
  rheos__received reply;
  fields.session_handle = session->handle;
  fields.handle = callable->handle;
  rheos__message_put(&request, &fields.base);
  rheos_status_free(rheos__remote_call(&session->server, RHEOS__RELEASE_CALLABLE, &request,
                                       RHEOS__REMOTE_WORD_MS, NULL, &form, &reply));
  rheos__received_deinit(&reply);
  rheos__message_deinit(&request);
}

// With a session that was closed its callables are gone.
void rheos__remote_release_callable(rheos_callable *base) {
  rheos__remote_callable *callable = remote(base);
  const bool is_closed = atomic_load(&session_of(callable)->server.is_closed) != 0;
  if (atomic_load(&callable->is_made) != 0 && !is_closed) tell_end(callable);
  pthread_mutex_destroy(&callable->mutex);
}

// ---- Running

static rheos_status *take_results(const rheos__received *reply, int32_t count,
                                  rheos_tensor **out_values) {
  if (reply->num_tensors != (size_t)count) {
    return rheos_status_new(RHEOS_INTERNAL, "the server gave %zu values for %d fetches",
                            reply->num_tensors, (int)count);
  }
  for (int32_t i = 0; i < count; i++) out_values[i] = rheos_tensor_ref(reply->tensors[i]);
  return NULL;
}

static rheos_status *run_made(const rheos__remote_callable *callable, rheos_tensor *const *values,
                              rheos_tensor **out_values, const rheos_run_options *options) {
  static const rheos__message_form form = {
      .descriptor = &tensorflow__run_callable_response__descriptor, .tensors = 1};
  rheos__remote_session *session = session_of(callable);
  const rheos__signature_ids *ids = &callable->base.ids;
  Tensorflow__RunCallableRequest fields = TENSORFLOW__RUN_CALLABLE_REQUEST__INIT;
  rheos__message request = {0};
  rheos__received reply;
  fields.session_handle = session->handle;
  fields.handle = callable->handle;
  rheos__message_put(&request, &fields.base);
  for (int32_t i = 0; i < ids->num_feeds; i++) rheos__message_put_tensor(&request, 3, values[i]);
  rheos_status *status = rheos__remote_call(&session->server, RHEOS__RUN_CALLABLE, &request, 0,
                                            options, &form, &reply);
  if (status == NULL) status = take_results(&reply, ids->num_fetches, out_values);
  rheos__received_deinit(&reply);
  rheos__message_deinit(&request);
  return status;
}

// RunCallable tells no deadline and asks for no trace, and RunStep does.
rheos_status *rheos__remote_run_callable(rheos_callable *base, rheos_tensor *const *values,
                                         rheos_tensor **out_values,
                                         const rheos_run_options *options) {
  rheos__remote_callable *callable = remote(base);
  if (options != NULL && (options->timeout_ms > 0 || options->trace != NULL)) {
    return rheos__remote_run(base->session, &base->ids, values, out_values, options);
  }
  RHEOS_TRY(rheos__remote_check_feeds(base->session->graph, &base->ids, values));
  RHEOS_TRY(rheos__remote_check_open(session_of(callable)));
  RHEOS_TRY(make_once(callable, options));
  return run_made(callable, values, out_values, options);
}
