#include "net/peers.h"

// The channel that a call to the task is under way on.
static rheos__channel *channel_in_use(void *argument, int32_t task) {
  rheos__peers *peers = argument;
  pthread_mutex_lock(&peers->mutex);
  rheos__channel *channel = peers->channels[task];
  pthread_mutex_unlock(&peers->mutex);
  return channel;
}

rheos_status *rheos__peers_init(rheos__peers *peers, const rheos__transport *transport,
                                rheos__cluster *cluster, const rheos__credentials *credentials) {
  *peers = (rheos__peers){.transport = transport, .cluster = *cluster, .credentials = credentials};
  *cluster = (rheos__cluster){NULL, 0};
  pthread_mutex_init(&peers->mutex, NULL);
  pthread_cond_init(&peers->none_left, NULL);
  const size_t count = (size_t)peers->cluster.num_tasks;
  peers->channels = rheos__alloc_zeroed((count + 1) * sizeof(rheos__channel *));
  peers->pulse =
      (rheos__pulse){.transport = transport, .channel = channel_in_use, .argument = peers};
  rheos_status *status = rheos__pulse_init(&peers->pulse, peers->cluster.num_tasks);
  if (status == NULL && peers->channels == NULL) status = rheos__out_of_memory();
  return status;
}

void rheos__peers_deinit(rheos__peers *peers) {
  pthread_mutex_lock(&peers->mutex);
  while (peers->num_calls > 0) pthread_cond_wait(&peers->none_left, &peers->mutex);
  pthread_mutex_unlock(&peers->mutex);
  rheos__pulse_deinit(&peers->pulse);
  for (int32_t i = 0; peers->channels != NULL && i < peers->cluster.num_tasks; i++) {
    if (peers->channels[i] != NULL) peers->transport->disconnect(peers->channels[i]);
  }
  rheos__free(peers->channels);
  rheos__cluster_deinit(&peers->cluster);
  pthread_cond_destroy(&peers->none_left);
  pthread_mutex_destroy(&peers->mutex);
}

static rheos_status *connect_to(rheos__peers *peers, int32_t task) {
  const rheos__cluster_task *t = &peers->cluster.tasks[task];
  return rheos__credentials_connect(peers->credentials, peers->transport, t->name, t->address,
                                    &peers->channels[task]);
}

static rheos_status *channel_to(rheos__peers *peers, int32_t task, rheos__channel **out_channel) {
  rheos_status *status = NULL;
  pthread_mutex_lock(&peers->mutex);
  if (peers->channels[task] == NULL) status = connect_to(peers, task);
  *out_channel = peers->channels[task];
  pthread_mutex_unlock(&peers->mutex);
  return status;
}

static rheos_status *lost(const rheos__peers *peers, int32_t task) {
  const rheos__cluster_task *t = &peers->cluster.tasks[task];
  return rheos_status_new(RHEOS_UNAVAILABLE, "%s at %s does not answer", t->name, t->address);
}

// What the transport says of a peer that it did not reach names the peer; what the peer itself says
// is handed on.
static rheos_status *status_of(const rheos__peers *peers, int32_t task, const rheos__reply *reply) {
  const rheos__cluster_task *t = &peers->cluster.tasks[task];
  switch (reply->code) {
    case RHEOS_OK: return NULL;
    case RHEOS_UNAVAILABLE:
    case RHEOS_DEADLINE_EXCEEDED:
    case RHEOS_UNAUTHENTICATED:
      return rheos_status_new(reply->code, "%s at %s: %s", t->name, t->address, reply->message);
    default: return rheos_status_new(reply->code, "%s", reply->message);
  }
}

// ---- Started

struct rheos__peer_call {
  rheos__watched_call watched;
  rheos__peers *peers;
  rheos__peer_replied_fn replied;
  void *argument;
  rheos__outgoing *_Atomic outgoing;  // NULL: it is being started
  _Atomic int32_t references;         // the handle, and whoever tells how it ended
  bool is_watched;
};

static void unref(rheos__peer_call *call) {
  if (atomic_fetch_sub(&call->references, 1) == 1) rheos__free(call);
}

static void count_calls(rheos__peers *peers, int32_t change) {
  pthread_mutex_lock(&peers->mutex);
  peers->num_calls += change;
  if (peers->num_calls == 0) pthread_cond_broadcast(&peers->none_left);
  pthread_mutex_unlock(&peers->mutex);
}

static void take_reply(void *argument, const rheos__reply *reply) {
  rheos__peer_call *call = argument;
  rheos__peers *peers = call->peers;
  const int32_t task = call->watched.task;
  if (call->is_watched) rheos__pulse_unwatch(&peers->pulse, &call->watched);
  const bool is_lost = reply->code != RHEOS_OK && atomic_load(&call->watched.is_lost);
  rheos_status *status = is_lost ? lost(peers, task) : status_of(peers, task, reply);
  call->replied(call->argument, status, reply->chunks);
  unref(call);
  count_calls(peers, -1);
}

// A call that is lost before it is known here is cancelled by who starts it.
static void lose_started(rheos__watched_call *watched) {
  rheos__peer_call *call = (rheos__peer_call *)watched;
  rheos__outgoing *outgoing = atomic_load(&call->outgoing);
  if (outgoing != NULL) call->peers->transport->cancel(outgoing);
}

static rheos_status *begin(rheos__peer_call *call, const char *method, rheos__message *request,
                           const rheos__peer_options *options) {
  rheos__peers *peers = call->peers;
  rheos__channel *channel;
  rheos__call c = {.method = method,
                   .timeout_ms = options->timeout_ms,
                   .waits = options->waits,
                   .replied = take_reply,
                   .argument = call};
  RHEOS_TRY(channel_to(peers, call->watched.task, &channel));
  RHEOS_TRY(rheos__message_pieces(request, &c.request));
  count_calls(peers, 1);
  call->is_watched = !options->may_be_late;
  if (call->is_watched) rheos__pulse_watch(&peers->pulse, &call->watched);
  rheos__outgoing *outgoing = peers->transport->start(channel, &c);
  atomic_store(&call->outgoing, outgoing);
  if (outgoing != NULL && atomic_load(&call->watched.is_lost)) peers->transport->cancel(outgoing);
  if (outgoing != NULL) return NULL;
  if (call->is_watched) rheos__pulse_unwatch(&peers->pulse, &call->watched);
  count_calls(peers, -1);
  return rheos__out_of_memory();
}

rheos_status *rheos__peers_start(rheos__peers *peers, int32_t task, const char *method,
                                 rheos__message *request, const rheos__peer_options *options,
                                 rheos__peer_replied_fn replied, void *argument,
                                 rheos__peer_call **out_call) {
  *out_call = NULL;
  rheos__peer_call *call = rheos__alloc_zeroed(sizeof *call);
  if (call == NULL) return rheos__out_of_memory();
  call->peers = peers;
  call->watched.task = task;
  call->watched.lose = lose_started;
  call->replied = replied;
  call->argument = argument;
  atomic_init(&call->references, 2);
  rheos_status *status = begin(call, method, request, options);
  if (status == NULL) {
    *out_call = call;
  } else {
    rheos__free(call);
  }
  return status;
}

void rheos__peer_call_cancel(rheos__peer_call *call) {
  call->peers->transport->cancel(call->outgoing);
}

void rheos__peer_call_forget(rheos__peer_call *call) {
  call->peers->transport->forget(call->outgoing);
  unref(call);
}

static void forget_reply(void *argument, rheos_status *status, rheos__chunks chunks) {
  (void)argument;
  (void)chunks;
  rheos_status_free(status);
}

void rheos__peers_tell(rheos__peers *peers, int32_t task, const char *method,
                       const ProtobufCMessage *fields) {
  const rheos__peer_options options = {.timeout_ms = RHEOS__TELL_MS};
  rheos__message request = {0};
  rheos__peer_call *call = NULL;
  rheos__message_put(&request, fields);
  rheos_status_free(
      rheos__peers_start(peers, task, method, &request, &options, forget_reply, NULL, &call));
  if (call != NULL) rheos__peer_call_forget(call);
  rheos__message_deinit(&request);
}

// ---- Waited for

typedef struct waited_call {
  rheos__watched_call watched;
  const rheos__peers *peers;
  bool (*should_stop)(void *argument);
  void *should_stop_argument;
  const rheos__message_form *form;
  rheos__received *received;
  rheos_status *status;
} waited_call;

// Whoever waits asks every 10 ms.
static void lose_waited(rheos__watched_call *watched) { (void)watched; }

static bool should_stop_waiting(void *argument) {
  waited_call *call = argument;
  return atomic_load(&call->watched.is_lost) ||
         (call->should_stop != NULL && call->should_stop(call->should_stop_argument));
}

static void receive_reply(void *argument, const rheos__reply *reply) {
  waited_call *call = argument;
  const int32_t task = call->watched.task;
  const bool is_lost = reply->code != RHEOS_OK && atomic_load(&call->watched.is_lost);
  call->status = is_lost ? lost(call->peers, task) : status_of(call->peers, task, reply);
  if (call->status != NULL || call->form == NULL) return;
  call->status = rheos__receive_message(call->form, reply->chunks, call->received);
}

rheos_status *rheos__peers_call(rheos__peers *peers, int32_t task, const char *method,
                                rheos__message *request, const rheos__peer_options *options,
                                bool (*should_stop)(void *), void *should_stop_argument,
                                const rheos__message_form *form, rheos__received *out_received) {
  rheos__channel *channel;
  waited_call call = {.watched = {.task = task, .lose = lose_waited},
                      .peers = peers,
                      .should_stop = should_stop,
                      .should_stop_argument = should_stop_argument,
                      .form = form,
                      .received = out_received};
  rheos__call c = {.method = method,
                   .timeout_ms = options->timeout_ms,
                   .waits = options->waits,
                   .replied = receive_reply,
                   .argument = &call};
  if (out_received != NULL) *out_received = (rheos__received){.bytes = ""};
  RHEOS_TRY(channel_to(peers, task, &channel));
  RHEOS_TRY(rheos__message_pieces(request, &c.request));
  if (!options->waits) rheos__pulse_watch(&peers->pulse, &call.watched);
  peers->transport->call(channel, &c, should_stop_waiting, &call);
  if (!options->waits) rheos__pulse_unwatch(&peers->pulse, &call.watched);
  return call.status;
}
