// Sessions on a server, as TensorFlow's clients speak to its masters: what a session of that kind
// can do, and what it is asked about its devices.
#include "runtime/session/session_kind.h"

#include "master.pb-c.h"
#include "net/remote_callable.h"
#include "net/remote_partial.h"
#include "net/remote_step.h"

// ---- What it is asked

static void forget_devices(rheos__remote_session *session) {
  for (int32_t i = 0; i < session->num_devices; i++) rheos__free(session->devices[i]);
  rheos__free(session->devices);
  session->devices = NULL;
  session->num_devices = 0;
}

static rheos_status *add_devices(rheos__remote_session *session,
                                 Tensorflow__DeviceAttributes *const *devices, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char *name = rheos__strdup(devices[i]->name);
    if (name == NULL) return rheos__out_of_memory();
    session->devices[session->num_devices++] = name;
  }
  return NULL;
}

static rheos_status *keep_devices(rheos__remote_session *session,
                                  const Tensorflow__ListDevicesResponse *reply) {
  const size_t count = reply->n_local_device + reply->n_remote_device;
  forget_devices(session);
  session->devices = rheos__alloc_array(count + 1, sizeof *session->devices);
  if (session->devices == NULL) return rheos__out_of_memory();
  RHEOS_TRY(add_devices(session, reply->local_device, reply->n_local_device));
  return add_devices(session, reply->remote_device, reply->n_remote_device);
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

// Asked of the server once. The table's functions promise not to change the session; what the
// server said is kept in it for the next question.
static rheos__remote_session *with_devices(const rheos_session *base) {
  rheos__remote_session *session = rheos__remote((rheos_session *)(uintptr_t)base);
  if (session->num_devices > 0) return session;
  rheos_status *status = rheos__remote_bring_up(session, NULL);
  pthread_mutex_lock(&session->mutex);
  if (status == NULL && session->num_devices == 0) status = fetch_devices(session);
  if (status != NULL) forget_devices(session);
  pthread_mutex_unlock(&session->mutex);
  rheos_status_free(status);
  return session;
}

static int32_t num_devices(const rheos_session *base) { return with_devices(base)->num_devices; }

static const char *device(const rheos_session *base, int32_t index) {
  const rheos__remote_session *session = with_devices(base);
  return index >= 0 && index < session->num_devices ? session->devices[index] : NULL;
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
  return rheos__remote_connect(&session->server, options->target);
}

static void tell_end(rheos__remote_session *session) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__close_session_response__descriptor};
  Tensorflow__CloseSessionRequest fields = TENSORFLOW__CLOSE_SESSION_REQUEST__INIT;
  rheos__message request = {0};
  rheos__received reply;
  fields.session_handle = session->handle;
  rheos__message_put(&request, &fields.base);
  rheos_status_free(rheos__remote_call(&session->server, RHEOS__CLOSE_SESSION, &request,
                                       RHEOS__REMOTE_WORD_MS, NULL, &form, &reply));
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
  rheos__remote_disconnect(&session->server);
  forget_devices(session);
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
    .num_devices = num_devices,
    .device = device,
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
