#include "net/remote_call.h"

#include "runtime/step/step.h"

// How much longer than a step's own deadline its call may last, so that the server tells what was
// late; how often a server that is silent is asked whether it is there.
enum { GRACE_MS = 500, PING_MS = 3000, PONG_MS = 5000 };

static const char scheme[] = "grpc://";

// ---- Connections

bool rheos__is_remote(const char *target) { return strncmp(target, scheme, strlen(scheme)) == 0; }

rheos_status *rheos__remote_connect(rheos__remote_server *server, const char *target,
                                    const rheos_credentials *credentials) {
  RHEOS_TRY(rheos__transport_find(&server->transport));
  server->target = rheos__strdup(target);
  if (server->target == NULL) return rheos__out_of_memory();
  RHEOS_TRY(rheos__credentials_init(&server->credentials, credentials));
  return rheos__credentials_connect(&server->credentials, server->transport, "the server",
                                    target + strlen(scheme), &server->channel);
}

void rheos__remote_disconnect(rheos__remote_server *server) {
  if (server->channel != NULL) server->transport->disconnect(server->channel);
  rheos__credentials_deinit(&server->credentials);
  rheos__free(server->target);
}

// ---- Whether the server is there

// Asked by who waits for something else.
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

static ping *send_ping(rheos__remote_server *server) {
  ping *p = rheos__alloc(sizeof *p);
  if (p == NULL) return NULL;
  atomic_init(&p->references, 2);
  atomic_init(&p->state, PING_SENT);
  const rheos__call call = {.method = rheos__method_names[RHEOS__GET_STATUS],
                            .timeout_ms = PONG_MS,
                            .replied = take_pong,
                            .argument = p};
  rheos__outgoing *outgoing = server->transport->start(server->channel, &call);
  if (outgoing == NULL) {
    rheos__free(p);
    return NULL;
  }
  server->transport->forget(outgoing);
  return p;
}

// ---- Calls

// A call, as it is waited for.
typedef struct waited {
  rheos__remote_server *server;
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
    if (now >= w->ping_at_ns) w->ping = send_ping(w->server);
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
  if (atomic_load(&w->server->is_closed) != 0 && !w->is_goodbye) return true;
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

rheos_status *rheos__remote_error(const rheos__remote_server *server, rheos_code code,
                                  const char *message) {
  if (atomic_load(&server->is_closed) == 0) return rheos_status_new(code, "%s", message);
  return rheos_status_new(RHEOS_CANCELLED, "Session was closed.");
}

static rheos_status *error_of(const waited *w, const rheos__reply *reply) {
  const char *target = w->server->target;
  if (w->is_lost) {
    return rheos_status_new(RHEOS_UNAVAILABLE, "the server at %s does not answer", target);
  }
  switch (reply->code) {
    case RHEOS_UNAVAILABLE:
    case RHEOS_UNAUTHENTICATED:
    case RHEOS_DEADLINE_EXCEEDED:
      return rheos_status_new(reply->code, "the server at %s: %s", target, reply->message);
    default: return rheos__remote_error(w->server, reply->code, reply->message);
  }
}

static void take_reply(void *argument, const rheos__reply *reply) {
  waited *w = argument;
  atomic_store(&w->server->was_lost, w->is_lost || reply->code == RHEOS_UNAVAILABLE);
  w->status = reply->code != RHEOS_OK ? error_of(w, reply)
                                      : rheos__receive_message(w->form, reply->chunks, w->received);
}

rheos_status *rheos__remote_call(rheos__remote_server *server, rheos__method method,
                                 rheos__message *request, int64_t timeout_ms,
                                 const rheos_run_options *options, const rheos__message_form *form,
                                 rheos__received *received) {
  waited w = {.server = server,
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
  server->transport->call(server->channel, &call, should_stop, &w);
  ping_unref(w.ping);
  return w.status;
}

int64_t rheos__remote_timeout_ms(const rheos_run_options *options) {
  return options != NULL && options->timeout_ms > 0 ? options->timeout_ms + GRACE_MS : 0;
}
