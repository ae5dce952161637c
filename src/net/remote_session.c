// Sessions on a server, as TensorFlow's clients speak to its masters: what a session of that kind
// can do, and what it is asked about its devices.
#include "runtime/session/session_kind.h"

#include "master.pb-c.h"
#include "net/remote_callable.h"
#include "net/remote_partial.h"
#include "net/remote_step.h"

// ---- What it is asked

static rheos_status *keep_device(rheos__remote_session *session,
                                 const Tensorflow__DeviceAttributes *told,
                                 rheos_device_attributes *device) {
  *device =
      (rheos_device_attributes){.name = rheos__arena_strdup(&session->arena, told->name),
                                .type = rheos__arena_strdup(&session->arena, told->device_type),
                                .memory_limit_bytes = told->memory_limit,
                                .incarnation = told->incarnation};
  return device->name != NULL && device->type != NULL ? NULL : rheos__out_of_memory();
}

static rheos_status *keep_devices(rheos__remote_session *session,
                                  const Tensorflow__ListDevicesResponse *reply) {
  const size_t count = reply->n_local_device + reply->n_remote_device;
  rheos_device_attributes *devices =
      rheos__arena_alloc(&session->arena, (count + 1) * sizeof *devices);
  if (devices == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; i++) {
    const bool is_local = i < reply->n_local_device;
    RHEOS_TRY(keep_device(
        session,
        is_local ? reply->local_device[i] : reply->remote_device[i - reply->n_local_device],
        &devices[i]));
  }
  session->devices = devices;
  session->num_devices = count;
  return NULL;
}

// With the mutex held.
static rheos_status *fetch_devices(rheos__remote_session *session) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__list_devices_response__descriptor};
  Tensorflow__ListDevicesRequest fields = TENSORFLOW__LIST_DEVICES_REQUEST__INIT;
  rheos__message request = {0};
  rheos__received reply;
  fields.session_handle = session->handle;
  rheos__message_put(&request, &fields.base);
  rheos_status *status = rheos__remote_call(&session->server, RHEOS__LIST_DEVICES, &request,
                                            RHEOS__REMOTE_WORD_MS, NULL, &form, &reply);
  rheos__message_deinit(&request);
  if (status == NULL) status = keep_devices(session, (const void *)reply.message);
  rheos__received_deinit(&reply);
  return status;
}

static rheos_status *list_devices(rheos_session *base, const rheos_device_attributes **out_devices,
                                  size_t *out_count) {
  rheos__remote_session *session = rheos__remote(base);
  rheos_status *status = rheos__remote_bring_up(session, NULL);
  pthread_mutex_lock(&session->mutex);
  if (status == NULL && session->devices == NULL) status = fetch_devices(session);
  if (status == NULL) {
    *out_devices = session->devices;
    *out_count = session->num_devices;
  }
  pthread_mutex_unlock(&session->mutex);
  return status;
}

// What waits does so on the server.
static rheos_status *waiting(rheos_session *session, char **out_text) {
  (void)session;
  *out_text = rheos__strdup("");
  return *out_text != NULL ? NULL : rheos__out_of_memory();
}

static void get_stats(rheos_session *session, rheos_session_stats *out_stats) {
  (void)session;
  (void)out_stats;
}

// ---- Making and ending

static rheos_status *read_config(rheos__remote_session *session,
                                 const rheos_session_options *options) {
  if (options->config_bytes > 0) {
    return RHEOS_PROTO_UNPACK(config_proto, options->config, options->config_bytes, &session->arena,
                              &session->config);
  }
  session->config = rheos__arena_alloc(&session->arena, sizeof *session->config);
  if (session->config == NULL) return rheos__out_of_memory();
  tensorflow__config_proto__init(session->config);
  session->config->allow_soft_placement = options->allow_soft_placement;
  session->config->log_device_placement = options->log_device_placement;
  session->config->isolate_session_state = !options->shares_resources;
  return NULL;
}

static rheos_status *init(rheos_session *base, const rheos_session_options *options) {
  rheos__remote_session *session = rheos__remote(base);
  pthread_mutex_init(&session->mutex, NULL);
  rheos__arena_init(&session->arena);
  RHEOS_TRY(read_config(session, options));
  return rheos__remote_connect(&session->server, options->target, &options->credentials);
}

static void tell_end(rheos__remote_session *session) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__close_session_response__descriptor};
  Tensorflow__CloseSessionRequest fields = TENSORFLOW__CLOSE_SESSION_REQUEST__INIT;
  rheos__message request = {0};
  rheos__received reply;
  const int64_t timeout_ms =
      atomic_load(&session->server.was_lost) ? RHEOS__REMOTE_LAST_WORD_MS : RHEOS__REMOTE_WORD_MS;
  fields.session_handle = session->handle;
  rheos__message_put(&request, &fields.base);
  rheos_status_free(rheos__remote_call(&session->server, RHEOS__CLOSE_SESSION, &request, timeout_ms,
                                       NULL, &form, &reply));
  rheos__received_deinit(&reply);
  rheos__message_deinit(&request);
}

static void close_session(rheos_session *base) {
  rheos__remote_session *session = rheos__remote(base);
  if (session->server.channel == NULL || atomic_exchange(&session->server.is_closed, 1) != 0)
    return;
  pthread_mutex_lock(&session->mutex);
  if (session->handle != NULL) tell_end(session);
  pthread_mutex_unlock(&session->mutex);
}

static void deinit(rheos_session *base) {
  rheos__remote_session *session = rheos__remote(base);
  if (session->held != NULL) session->server.transport->let_go(session->held);
  rheos__remote_disconnect(&session->server);
  rheos__remote_forget_partials(session);
  rheos__free(session->handle);
  rheos__arena_deinit(&session->arena);
  pthread_mutex_destroy(&session->mutex);
}

const rheos__session_kind rheos__remote_session_kind = {
    .name = "remote",
    .is_for = rheos__is_remote,
    .session_bytes = sizeof(rheos__remote_session),
    .callable_bytes = sizeof(rheos__remote_callable),
    .init = init,
    .close = close_session,
    .deinit = deinit,
    .list_devices = list_devices,
    .waiting = waiting,
    .get_stats = get_stats,
    .run = rheos__remote_run,
    .partial_setup = rheos__remote_partial_setup,
    .partial_run = rheos__remote_partial_run,
    .partial_end = rheos__remote_partial_end,
    .make_callable = rheos__remote_make_callable,
    .release_callable = rheos__remote_release_callable,
    .run_callable = rheos__remote_run_callable,
};
