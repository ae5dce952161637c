// Sessions on a server: the graph goes there once, then what is added to it; steps are names and
// tensors. As TensorFlow's clients speak to its masters.
#include "runtime/session/session_kind.h"

#include <rheos/format.h>
#include <stdio.h>

#include "graph/graph.h"
#include "master.pb-c.h"
#include "net/message.h"
#include "net/methods.h"
#include "net/ids.h"
#include "runtime/threads/pool.h"

static const char scheme[] = "grpc://";

// How long the server may take to answer what takes no time; how much longer than a step's own
// deadline its call may last, so that the server tells what was late; and how often a server that
// is silent is asked whether it is there.
enum { WORD_MS = 10000, GRACE_MS = 500, PING_MS = 3000, PONG_MS = 5000 };

typedef struct remote_session {
  rheos_session base;
  const rheos__transport *transport;
  rheos__channel *channel;
  char *target;
  Tensorflow__ConfigProto *config;  // in the arena
  rheos__arena arena;
  _Atomic int32_t is_closed;
  pthread_mutex_t mutex;  // guards what follows
  char *handle;           // NULL: the server does not know the session yet
  int64_t version;        // of the graph there
  int32_t num_sent;       // operations
  char **devices;
  int32_t num_devices;
} remote_session;

static remote_session *remote(rheos_session *session) { return (remote_session *)session; }

static bool is_for(const char *target) { return strncmp(target, scheme, strlen(scheme)) == 0; }

// ---- Calls

// Whether the server is there, asked by who waits for something else.
typedef struct ping {
  _Atomic int32_t references;  // who waits, and who takes the answer
  _Atomic int32_t state;       // below
} ping;
enum { PING_SENT, PING_ANSWERED, PING_LOST };

static void ping_unref(ping *p) {
  if (p != NULL && atomic_fetch_sub(&p->references, 1) == 1) rheos__free(p);
}

static void take_pong(void *argument, const rheos__reply *reply) {
  ping *p = argument;
  const bool is_lost = reply->code == RHEOS_UNAVAILABLE || reply->code == RHEOS_DEADLINE_EXCEEDED;
  atomic_store(&p->state, is_lost ? PING_LOST : PING_ANSWERED);
  ping_unref(p);
}

static ping *send_ping(remote_session *session) {
  ping *p = rheos__alloc(sizeof *p);
  if (p == NULL) return NULL;
  atomic_init(&p->references, 2);
  atomic_init(&p->state, PING_SENT);
  const rheos__call call = {.method = rheos__method_names[RHEOS__GET_STATUS],
                            .timeout_ms = PONG_MS,
                            .replied = take_pong,
                            .argument = p};
  rheos__outgoing *outgoing = session->transport->start(session->channel, &call);
  if (outgoing == NULL) {
    rheos__free(p);
    return NULL;
  }
  session->transport->forget(outgoing);
  return p;
}

// A call, as it is waited for.
typedef struct waited {
  remote_session *session;
  const rheos__message_form *form;
  rheos__received *received;
  const rheos_run_options *options;  // NULL: nothing stops it but the end of the session
  bool is_goodbye;                   // the end of the session is what it tells
  int64_t ping_at_ns;
  ping *ping;
  bool is_lost;
  rheos_status *status;
} waited;

static bool is_lost(waited *w) {
  const int64_t now = rheos__clock_ns();
  if (w->ping == NULL) {
    if (w->ping_at_ns == 0) w->ping_at_ns = now + (int64_t)PING_MS * 1000000;
    if (now >= w->ping_at_ns) w->ping = send_ping(w->session);
    return false;
  }
  const int32_t state = atomic_load(&w->ping->state);
  if (state == PING_SENT) return false;
  ping_unref(w->ping);
  w->ping = NULL;
  w->ping_at_ns = now + (int64_t)PING_MS * 1000000;
  return state == PING_LOST;
}

static bool should_stop(void *argument) {
  waited *w = argument;
  const rheos_run_options *options = w->options;
  if (atomic_load(&w->session->is_closed) != 0 && !w->is_goodbye) return true;
  if (options != NULL && options->cancellation != NULL &&
      atomic_load(&options->cancellation->cancelled) != 0) {
    return true;
  }
  if (options != NULL && options->should_stop != NULL &&
      options->should_stop(options->should_stop_argument)) {
    return true;
  }
  w->is_lost = is_lost(w);
  return w->is_lost;
}

static rheos_status *error_of(const waited *w, const rheos__reply *reply) {
  const char *target = w->session->target;
  if (w->is_lost) {
    return rheos_status_new(RHEOS_UNAVAILABLE, "the server at %s does not answer", target);
  }
  switch (reply->code) {
    case RHEOS_UNAVAILABLE:
    case RHEOS_UNAUTHENTICATED:
    case RHEOS_DEADLINE_EXCEEDED:
      return rheos_status_new(reply->code, "the server at %s: %s", target, reply->message);
    default: return rheos_status_new(reply->code, "%s", reply->message);
  }
}

static void take_reply(void *argument, const rheos__reply *reply) {
  waited *w = argument;
  w->status = reply->code != RHEOS_OK ? error_of(w, reply)
                                      : rheos__receive_message(w->form, reply->chunks, w->received);
}

static rheos_status *call_server(remote_session *session, rheos__method method,
                                 rheos__message *request, int64_t timeout_ms,
                                 const rheos_run_options *options, const rheos__message_form *form,
                                 rheos__received *received) {
  waited w = {.session = session,
              .form = form,
              .received = received,
              .options = options,
              .is_goodbye = method == RHEOS__CLOSE_SESSION};
  rheos__call call = {.method = rheos__method_names[method],
                      .timeout_ms = timeout_ms,
                      .replied = take_reply,
                      .argument = &w};
  *received = (rheos__received){.bytes = ""};
  RHEOS_TRY(rheos__message_pieces(request, &call.request));
  session->transport->call(session->channel, &call, should_stop, &w);
  ping_unref(w.ping);
  return w.status;
}

// ---- The graph

static rheos_status *create(remote_session *session, rheos__message *request, int64_t timeout_ms,
                            const rheos_run_options *options) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__create_session_response__descriptor};
  Tensorflow__CreateSessionRequest fields = TENSORFLOW__CREATE_SESSION_REQUEST__INIT;
  rheos__received reply;
  fields.config = session->config;
  fields.target = session->target;
  rheos__message_put(request, &fields.base);
  rheos_status *status =
      call_server(session, RHEOS__CREATE_SESSION, request, timeout_ms, options, &form, &reply);
  if (status == NULL) {
    const Tensorflow__CreateSessionResponse *r = (const void *)reply.message;
    session->handle = rheos__strdup(r->session_handle);
    session->version = r->graph_version;
    if (session->handle == NULL) status = rheos__out_of_memory();
  }
  rheos__received_deinit(&reply);
  return status;
}

static rheos_status *extend(remote_session *session, rheos__message *request, int64_t timeout_ms,
                            const rheos_run_options *options) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__extend_session_response__descriptor};
  Tensorflow__ExtendSessionRequest fields = TENSORFLOW__EXTEND_SESSION_REQUEST__INIT;
  rheos__received reply;
  fields.session_handle = session->handle;
  fields.current_graph_version = session->version;
  rheos__message_put(request, &fields.base);
  rheos_status *status =
      call_server(session, RHEOS__EXTEND_SESSION, request, timeout_ms, options, &form, &reply);
  if (status == NULL) {
    session->version =
        ((const Tensorflow__ExtendSessionResponse *)(const void *)reply.message)->new_graph_version;
  }
  rheos__received_deinit(&reply);
  return status;
}

static rheos_status *send_graph(remote_session *session, int64_t timeout_ms,
                                const rheos_run_options *options) {
  const int32_t count = rheos_graph_num_operations(session->base.graph);
  void *bytes;
  size_t size;
  rheos__message request = {0};
  RHEOS_TRY(rheos_graph_to_graph_def_from(session->base.graph, session->num_sent, &bytes, &size));
  rheos__message_put_bytes(&request, session->handle == NULL ? 1 : 2, bytes, size);
  rheos_free(bytes);
  rheos_status *status = session->handle == NULL ? create(session, &request, timeout_ms, options)
                                                 : extend(session, &request, timeout_ms, options);
  if (status == NULL) session->num_sent = count;
  rheos__message_deinit(&request);
  return status;
}

// The server has the graph as it is now.
static rheos_status *bring_up(remote_session *session, const rheos_run_options *options) {
  const int64_t timeout_ms = options != NULL ? options->timeout_ms : 0;
  rheos_status *status = NULL;
  if (atomic_load(&session->is_closed) != 0) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION, "Session has been closed.");
  }
  pthread_mutex_lock(&session->mutex);
  if (session->handle == NULL ||
      session->num_sent < rheos_graph_num_operations(session->base.graph)) {
    status = send_graph(session, timeout_ms > 0 ? timeout_ms + GRACE_MS : 0, options);
  }
  pthread_mutex_unlock(&session->mutex);
  return status;
}

// ---- Steps

static char *name_of(const rheos_graph *graph, rheos__edge edge, rheos__arena *arena) {
  char *name = rheos__node_name(graph, rheos__graph_node(graph, edge.id));
  if (name == NULL) return NULL;
  const size_t room = strlen(name) + 16;
  char *full = rheos__arena_alloc(arena, room);
  if (full != NULL && edge.index >= 0) snprintf(full, room, "%s:%d", name, (int)edge.index);
  if (full != NULL && edge.index < 0) snprintf(full, room, "%s", name);
  rheos__free(name);
  return full;
}

static bool name_all(const rheos_graph *graph, const rheos__edge *edges, int32_t count,
                     rheos__arena *arena, char ***out_names) {
  char **names = *out_names = rheos__arena_alloc(arena, ((size_t)count + 1) * sizeof *names);
  for (int32_t i = 0; names != NULL && i < count; i++) {
    names[i] = name_of(graph, edges[i], arena);
    if (names[i] == NULL) return false;
  }
  return names != NULL;
}

static bool name_targets(const rheos_graph *graph, const int32_t *targets, int32_t count,
                         rheos__arena *arena, char ***out_names) {
  char **names = *out_names = rheos__arena_alloc(arena, ((size_t)count + 1) * sizeof *names);
  for (int32_t i = 0; names != NULL && i < count; i++) {
    names[i] = name_of(graph, (rheos__edge){targets[i], -1}, arena);
    if (names[i] == NULL) return false;
  }
  return names != NULL;
}

static rheos_tensor *find_named(const rheos__received *reply, const char *name) {
  for (size_t i = 0; i < reply->num_tensors; i++) {
    if (strcmp(reply->names[i], name) == 0) return reply->tensors[i];
  }
  return NULL;
}

static rheos_status *take_results(const rheos__received *reply, char *const *fetches, int32_t count,
                                  rheos_tensor **out_values) {
  const Tensorflow__RunStepResponse *r = (const void *)reply->message;
  if (r->status_code != 0) {
    return rheos_status_new((rheos_code)r->status_code, "%s", r->status_error_message);
  }
  for (int32_t i = 0; i < count; i++) {
    rheos_tensor *value = find_named(reply, fetches[i]);
    if (value == NULL) {
      return rheos_status_new(RHEOS_INTERNAL, "the server gave no value for %s", fetches[i]);
    }
    out_values[i] = rheos_tensor_ref(value);
  }
  return NULL;
}

typedef struct step_names {
  char **feeds, **fetches, **targets;
} step_names;

static rheos_status *name_step(const rheos_session *session, const rheos__signature_ids *ids,
                               rheos__arena *arena, step_names *names) {
  const rheos_graph *graph = session->graph;
  return name_all(graph, ids->feeds, ids->num_feeds, arena, &names->feeds) &&
                 name_all(graph, ids->fetches, ids->num_fetches, arena, &names->fetches) &&
                 name_targets(graph, ids->targets, ids->num_targets, arena, &names->targets)
             ? NULL
             : rheos__out_of_memory();
}

static rheos_status *run_named(remote_session *session, const rheos__signature_ids *ids,
                               const step_names *names, rheos_tensor *const *values,
                               rheos_tensor **out_values, const rheos_run_options *options) {
  static const rheos__message_form form = {
      .descriptor = &tensorflow__run_step_response__descriptor, .tensors = 1, .are_named = true};
  const int64_t timeout_ms = options != NULL ? options->timeout_ms : 0;
  Tensorflow__RunStepRequest fields = TENSORFLOW__RUN_STEP_REQUEST__INIT;
  Tensorflow__RunOptions run_options = TENSORFLOW__RUN_OPTIONS__INIT;
  rheos__message request = {0};
  rheos__received reply;
  run_options.timeout_in_ms = timeout_ms;
  fields.session_handle = session->handle;
  fields.options = &run_options;
  fields.fetch = names->fetches;
  fields.n_fetch = (size_t)ids->num_fetches;
  fields.target = names->targets;
  fields.n_target = (size_t)ids->num_targets;
  fields.store_errors_in_response_body = true;
  fields.request_id = (int64_t)rheos__random_id();
  rheos__message_put(&request, &fields.base);
  for (int32_t i = 0; i < ids->num_feeds; i++) {
    rheos__message_put_named(&request, 2, names->feeds[i], values[i]);
  }
  rheos_status *status =
      call_server(session, RHEOS__RUN_STEP, &request, timeout_ms > 0 ? timeout_ms + GRACE_MS : 0,
                  options, &form, &reply);
  if (status == NULL) status = take_results(&reply, names->fetches, ids->num_fetches, out_values);
  rheos__received_deinit(&reply);
  rheos__message_deinit(&request);
  return status;
}

static rheos_status *check_feeds(const rheos_graph *graph, const rheos__signature_ids *ids,
                                 rheos_tensor *const *values) {
  for (int32_t i = 0; i < ids->num_feeds; i++) {
    RHEOS_TRY(rheos__check_feed(graph, ids->feeds[i], values[i]));
  }
  return NULL;
}

static rheos_status *run(rheos_session *base, const rheos__signature_ids *ids,
                         rheos_tensor *const *values, rheos_tensor **out_values,
                         const rheos_run_options *options) {
  remote_session *session = remote(base);
  step_names names;
  rheos__arena arena;
  for (int32_t i = 0; i < ids->num_fetches; i++) out_values[i] = NULL;
  RHEOS_TRY(check_feeds(base->graph, ids, values));
  RHEOS_TRY(bring_up(session, options));
  rheos__arena_init(&arena);
  rheos_status *status = name_step(base, ids, &arena, &names);
  if (status == NULL) status = run_named(session, ids, &names, values, out_values, options);
  rheos__arena_deinit(&arena);
  for (int32_t i = 0; status != NULL && i < ids->num_fetches; i++) {
    rheos_tensor_unref(out_values[i]);
    out_values[i] = NULL;
  }
  return status;
}

// ---- Steps in parts, which servers do not serve yet

static rheos_status *partial_setup(rheos_session *session, const rheos__signature_ids *ids,
                                   int64_t *out_handle) {
  (void)session;
  (void)ids;
  (void)out_handle;
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "steps in parts on a server are not there yet");
}

static rheos_status *partial_run(rheos_session *session, int64_t handle,
                                 const rheos__signature_ids *ids, rheos_tensor *const *values,
                                 rheos_tensor **out_values, const rheos_run_options *options) {
  (void)handle;
  (void)values;
  (void)out_values;
  (void)options;
  return partial_setup(session, ids, &handle);
}

static void partial_end(rheos_session *session, int64_t handle) {
  (void)session;
  (void)handle;
}

// ---- Callables

static rheos_status *make_callable(rheos_callable *callable) {
  (void)callable;
  return NULL;
}

static void release_callable(rheos_callable *callable) { (void)callable; }

static rheos_status *run_callable(rheos_callable *callable, rheos_tensor *const *values,
                                  rheos_tensor **out_values, const rheos_run_options *options) {
  return run(callable->session, &callable->ids, values, out_values, options);
}

// ---- What it is asked

static void forget_devices(remote_session *session) {
  for (int32_t i = 0; i < session->num_devices; i++) rheos__free(session->devices[i]);
  rheos__free(session->devices);
  session->devices = NULL;
  session->num_devices = 0;
}

static rheos_status *add_devices(remote_session *session,
                                 Tensorflow__DeviceAttributes *const *devices, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char *name = rheos__strdup(devices[i]->name);
    if (name == NULL) return rheos__out_of_memory();
    session->devices[session->num_devices++] = name;
  }
  return NULL;
}

static rheos_status *keep_devices(remote_session *session,
                                  const Tensorflow__ListDevicesResponse *reply) {
  const size_t count = reply->n_local_device + reply->n_remote_device;
  forget_devices(session);
  session->devices = rheos__alloc_array(count + 1, sizeof *session->devices);
  if (session->devices == NULL) return rheos__out_of_memory();
  RHEOS_TRY(add_devices(session, reply->local_device, reply->n_local_device));
  return add_devices(session, reply->remote_device, reply->n_remote_device);
}

// With the mutex held.
static rheos_status *fetch_devices(remote_session *session) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__list_devices_response__descriptor};
  Tensorflow__ListDevicesRequest fields = TENSORFLOW__LIST_DEVICES_REQUEST__INIT;
  rheos__message request = {0};
  rheos__received reply;
  fields.session_handle = session->handle;
  rheos__message_put(&request, &fields.base);
  rheos_status *status =
      call_server(session, RHEOS__LIST_DEVICES, &request, WORD_MS, NULL, &form, &reply);
  rheos__message_deinit(&request);
  if (status == NULL) status = keep_devices(session, (const void *)reply.message);
  rheos__received_deinit(&reply);
  return status;
}

// Asked of the server once. The table's functions promise not to change the session; what the
// server said is kept in it for the next question.
static remote_session *with_devices(const rheos_session *base) {
  remote_session *session = remote((rheos_session *)(uintptr_t)base);
  if (session->num_devices > 0) return session;
  rheos_status *status = bring_up(session, NULL);
  pthread_mutex_lock(&session->mutex);
  if (status == NULL && session->num_devices == 0) status = fetch_devices(session);
  if (status != NULL) forget_devices(session);
  pthread_mutex_unlock(&session->mutex);
  rheos_status_free(status);
  return session;
}

static int32_t num_devices(const rheos_session *base) { return with_devices(base)->num_devices; }

static const char *device(const rheos_session *base, int32_t index) {
  const remote_session *session = with_devices(base);
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

static rheos_status *read_config(remote_session *session, const rheos_session_options *options) {
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
  remote_session *session = remote(base);
  char error[RHEOS__TRANSPORT_ERROR_BYTES];
  pthread_mutex_init(&session->mutex, NULL);
  rheos__arena_init(&session->arena);
  RHEOS_TRY(rheos__transport_find(&session->transport));
  RHEOS_TRY(read_config(session, options));
  session->target = rheos__strdup(options->target);
  if (session->target == NULL) return rheos__out_of_memory();
  const rheos__connect wanted = {.address = session->target + strlen(scheme)};
  if (session->transport->connect(&wanted, &session->channel, error)) return NULL;
  return rheos_status_new(RHEOS_UNAVAILABLE, "the server at %s: %s", session->target, error);
}

static void tell_end(remote_session *session) {
  static const rheos__message_form form = {.descriptor =
                                               &tensorflow__close_session_response__descriptor};
  Tensorflow__CloseSessionRequest fields = TENSORFLOW__CLOSE_SESSION_REQUEST__INIT;
  rheos__message request = {0};
  rheos__received reply;
  fields.session_handle = session->handle;
  rheos__message_put(&request, &fields.base);
  rheos_status_free(
      call_server(session, RHEOS__CLOSE_SESSION, &request, WORD_MS, NULL, &form, &reply));
  rheos__received_deinit(&reply);
  rheos__message_deinit(&request);
}

static void close_session(rheos_session *base) {
  remote_session *session = remote(base);
  if (session->channel == NULL || atomic_exchange(&session->is_closed, 1) != 0) return;
  pthread_mutex_lock(&session->mutex);
  if (session->handle != NULL) tell_end(session);
  pthread_mutex_unlock(&session->mutex);
}

static void deinit(rheos_session *base) {
  remote_session *session = remote(base);
  if (session->channel != NULL) session->transport->disconnect(session->channel);
  forget_devices(session);
  rheos__free(session->handle);
  rheos__free(session->target);
  rheos__arena_deinit(&session->arena);
  pthread_mutex_destroy(&session->mutex);
}

const rheos__session_kind rheos__remote_session_kind = {
    .name = "remote",
    .is_for = is_for,
    .session_bytes = sizeof(remote_session),
    .callable_bytes = sizeof(rheos_callable),
    .init = init,
    .close = close_session,
    .deinit = deinit,
    .num_devices = num_devices,
    .device = device,
    .waiting = waiting,
    .get_stats = get_stats,
    .run = run,
    .partial_setup = partial_setup,
    .partial_run = partial_run,
    .partial_end = partial_end,
    .make_callable = make_callable,
    .release_callable = release_callable,
    .run_callable = run_callable,
};
