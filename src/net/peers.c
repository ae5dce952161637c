#include "net/peers.h"

rheos_status *rheos__peers_init(rheos__peers *peers, const rheos__transport *transport,
                                rheos__cluster *cluster, const rheos__connect *options) {
  *peers = (rheos__peers){.transport = transport, .cluster = *cluster};
  *cluster = (rheos__cluster){NULL, 0};
  if (options != NULL) peers->options = *options;
  pthread_mutex_init(&peers->mutex, NULL);
  pthread_cond_init(&peers->none_left, NULL);
  const size_t count = (size_t)peers->cluster.num_tasks;
  peers->channels = rheos__alloc_zeroed((count + 1) * sizeof(rheos__channel *));
  return peers->channels != NULL ? NULL : rheos__out_of_memory();
}

void rheos__peers_deinit(rheos__peers *peers) {
  pthread_mutex_lock(&peers->mutex);
  while (peers->num_calls > 0) pthread_cond_wait(&peers->none_left, &peers->mutex);
  pthread_mutex_unlock(&peers->mutex);
  for (int32_t i = 0; peers->channels != NULL && i < peers->cluster.num_tasks; i++) {
    if (peers->channels[i] != NULL) peers->transport->disconnect(peers->channels[i]);
  }
  rheos__free(peers->channels);
  rheos__cluster_deinit(&peers->cluster);
  pthread_cond_destroy(&peers->none_left);
  pthread_mutex_destroy(&peers->mutex);
}

static rheos_status *connect_to(rheos__peers *peers, int32_t task) {
  char error[RHEOS__TRANSPORT_ERROR_BYTES];
  rheos__connect options = peers->options;
  options.address = peers->cluster.tasks[task].address;
  if (peers->transport->connect(&options, &peers->channels[task], error)) return NULL;
  return rheos_status_new(RHEOS_UNAVAILABLE, "%s (%s): %s", peers->cluster.tasks[task].name,
                          options.address, error);
}

static rheos_status *channel_to(rheos__peers *peers, int32_t task, rheos__channel **out_channel) {
  rheos_status *status = NULL;
  pthread_mutex_lock(&peers->mutex);
  if (peers->channels[task] == NULL) status = connect_to(peers, task);
  *out_channel = peers->channels[task];
  pthread_mutex_unlock(&peers->mutex);
  return status;
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
  rheos__peers *peers;
  int32_t task;
  rheos__peer_replied_fn replied;
  void *argument;
  rheos__outgoing *outgoing;
  _Atomic int32_t references;  // the handle, and whoever tells how it ended
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
  call->replied(call->argument, status_of(peers, call->task, reply), reply->chunks);
  unref(call);
  count_calls(peers, -1);
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
  RHEOS_TRY(channel_to(peers, call->task, &channel));
  RHEOS_TRY(rheos__message_pieces(request, &c.request));
  count_calls(peers, 1);
  call->outgoing = peers->transport->start(channel, &c);
  if (call->outgoing != NULL) return NULL;
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
  call->task = task;
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

// ---- Waited for

typedef struct waited_call {
  const rheos__peers *peers;
  int32_t task;
  const rheos__message_form *form;
  rheos__received *received;
  rheos_status *status;
} waited_call;

static void receive_reply(void *argument, const rheos__reply *reply) {
  waited_call *call = argument;
  call->status = status_of(call->peers, call->task, reply);
  if (call->status != NULL || call->form == NULL) return;
  call->status = rheos__receive_message(call->form, reply->chunks, call->received);
}

rheos_status *rheos__peers_call(rheos__peers *peers, int32_t task, const char *method,
                                rheos__message *request, const rheos__peer_options *options,
                                bool (*should_stop)(void *), void *should_stop_argument,
                                const rheos__message_form *form, rheos__received *out_received) {
  rheos__channel *channel;
  waited_call call = {peers, task, form, out_received, NULL};
  rheos__call c = {.method = method,
                   .timeout_ms = options->timeout_ms,
                   .waits = options->waits,
                   .replied = receive_reply,
                   .argument = &call};
  if (out_received != NULL) *out_received = (rheos__received){.bytes = ""};
  RHEOS_TRY(channel_to(peers, task, &channel));
  RHEOS_TRY(rheos__message_pieces(request, &c.request));
  peers->transport->call(channel, &c, should_stop, should_stop_argument);
  return call.status;
}
