// A transport within one process, which stands in for gRPC's under the thread sanitizer: that
// cannot see into gRPC, and so not what our own threads do between two calls. A call has a thread
// on either side. It is built as librheos-grpc.so in that build alone; addresses are ports of this
// process.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "net/transport.h"

enum { FIRST_PORT = 50000, POLL_MS = 10 };

struct rheos__listener {
  rheos__listen options;  // but for the address
  int port;
  pthread_mutex_t mutex;  // guards what follows
  pthread_cond_t changed;
  bool is_stopping;
  int num_threads, num_calls;
  rheos__incoming *calls;  // without a reply
  rheos__listener *next;
};

// Both sides of a call.
struct rheos__incoming {
  rheos__listener *listener;
  rheos__channel *channel;
  char *method, *request;
  size_t request_bytes;
  int64_t timeout_ms;
  bool waits;
  rheos__replied_fn replied;
  void *argument;
  atomic_int references;
  rheos__incoming *before, *next;  // of the listener
  pthread_mutex_t mutex;           // guards what follows
  pthread_cond_t changed;
  bool has_end;  // a reply, or why there is none
  rheos_code code;
  char *text;  // of the reply, or the error
  size_t text_bytes;
  bool is_abandoned;
};
struct rheos__outgoing {
  rheos__incoming call;
};

struct rheos__channel {
  int port;
  pthread_mutex_t mutex;  // guards what follows
  pthread_cond_t changed;
  int num_threads;
};

static pthread_mutex_t listeners_mutex = PTHREAD_MUTEX_INITIALIZER;
static rheos__listener *listeners;

static struct timespec after_ms(int64_t ms) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_nsec += ms % 1000 * 1000000;
  time.tv_sec += ms / 1000 + time.tv_nsec / 1000000000;
  time.tv_nsec %= 1000000000;
  return time;
}

static bool is_past(struct timespec until) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec != until.tv_sec ? now.tv_sec > until.tv_sec : now.tv_nsec >= until.tv_nsec;
}

static bool begin_thread(void *(*run)(void *), void *argument) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, run, argument) != 0) return false;
  pthread_detach(thread);
  return true;
}

static char *join(rheos__pieces pieces, size_t *out_bytes) {
  size_t size = 0, at = 0;
  for (size_t i = 0; i < pieces.count; i++) size += pieces.pieces[i].size_bytes;
  char *all = malloc(size + 1);
  for (size_t i = 0; i < pieces.count; i++) {
    const rheos__piece *piece = &pieces.pieces[i];
    if (all != NULL && piece->size_bytes > 0) memcpy(all + at, piece->data, piece->size_bytes);
    at += piece->size_bytes;
    if (piece->release != NULL) piece->release(piece->owner);
  }
  if (all != NULL) all[size] = '\0';
  *out_bytes = size;
  return all;
}

// ---- Calls

static void call_unref(rheos__incoming *call) {
  if (atomic_fetch_sub(&call->references, 1) != 1) return;
  pthread_cond_destroy(&call->changed);
  pthread_mutex_destroy(&call->mutex);
  free(call->method);
  free(call->request);
  free(call->text);
  free(call);
}

// Only the first end counts.
static bool end_call(rheos__incoming *call, rheos_code code, char *text, size_t text_bytes) {
  pthread_mutex_lock(&call->mutex);
  const bool is_first = !call->has_end;
  if (is_first) {
    call->has_end = true;
    call->code = code;
    call->text = text;
    call->text_bytes = text_bytes;
    pthread_cond_broadcast(&call->changed);
  }
  pthread_mutex_unlock(&call->mutex);
  if (!is_first) free(text);
  return is_first;
}

static void abandon(rheos__incoming *call, rheos_code code, const char *why) {
  end_call(call, code, strdup(why), strlen(why));
  pthread_mutex_lock(&call->mutex);
  call->is_abandoned = true;
  pthread_mutex_unlock(&call->mutex);
}

static rheos__incoming *call_new(rheos__channel *channel, const rheos__call *options) {
  rheos__incoming *call = calloc(1, sizeof(rheos__outgoing));
  size_t request_bytes;
  char *request = join(options->request, &request_bytes), *method = strdup(options->method);
  if (call == NULL || request == NULL || method == NULL) {
    free(call);
    free(request);
    free(method);
    return NULL;
  }
  *call = (rheos__incoming){.channel = channel,
                            .method = method,
                            .request = request,
                            .request_bytes = request_bytes,
                            .timeout_ms = options->timeout_ms,
                            .waits = options->waits,
                            .replied = options->replied,
                            .argument = options->argument};
  pthread_mutex_init(&call->mutex, NULL);
  pthread_cond_init(&call->changed, NULL);
  atomic_init(&call->references, 1);
  return call;
}

// ---- Servers

static bool listen_at(const rheos__listen *options, rheos__listener **out_listener, char *error) {
  static int next_port = FIRST_PORT;
  rheos__listener *listener = calloc(1, sizeof *listener);
  int port = atoi(strrchr(options->address, ':') + 1);
  *out_listener = NULL;
  if (listener == NULL) {
    snprintf(error, RHEOS__TRANSPORT_ERROR_BYTES, "out of memory");
    return false;
  }
  listener->options = *options;
  pthread_mutex_init(&listener->mutex, NULL);
  pthread_cond_init(&listener->changed, NULL);
  pthread_mutex_lock(&listeners_mutex);
  if (port == 0) port = next_port++;
  bool is_taken = false;
  for (const rheos__listener *other = listeners; other != NULL; other = other->next) {
    is_taken = is_taken || other->port == port;
  }
  listener->port = port;
  if (!is_taken) {
    listener->next = listeners;
    listeners = listener;
  }
  pthread_mutex_unlock(&listeners_mutex);
  if (!is_taken) {
    *out_listener = listener;
    return true;
  }
  free(listener);
  snprintf(error, RHEOS__TRANSPORT_ERROR_BYTES, "cannot listen at %s", options->address);
  return false;
}

static int port_of(const rheos__listener *listener) { return listener->port; }

static void *serve(void *argument) {
  rheos__incoming *call = argument;
  rheos__listener *listener = call->listener;
  const rheos__chunk chunk = {call->request, call->request_bytes};
  for (int i = 0; i < listener->options.num_methods; i++) {
    if (strcmp(listener->options.methods[i], call->method) != 0) continue;
    listener->options.called(listener->options.argument, i, call, (rheos__chunks){&chunk, 1});
  }
  call_unref(call);
  pthread_mutex_lock(&listener->mutex);
  listener->num_threads--;
  pthread_cond_broadcast(&listener->changed);
  pthread_mutex_unlock(&listener->mutex);
  return NULL;
}

static void link_call(rheos__incoming *call) {
  rheos__listener *listener = call->listener;
  call->next = listener->calls;
  if (call->next != NULL) call->next->before = call;
  listener->calls = call;
  listener->num_calls++;
  listener->num_threads++;
}

static void unlink_call(rheos__incoming *call) {
  rheos__listener *listener = call->listener;
  pthread_mutex_lock(&listener->mutex);
  if (call->before != NULL) call->before->next = call->next;
  if (call->before == NULL) listener->calls = call->next;
  if (call->next != NULL) call->next->before = call->before;
  listener->num_calls--;
  pthread_cond_broadcast(&listener->changed);
  pthread_mutex_unlock(&listener->mutex);
}

static void reply(rheos__incoming *call, rheos_code code, const char *message,
                  rheos__pieces pieces) {
  size_t size;
  char *text = join(pieces, &size);
  if (code != RHEOS_OK) {
    free(text);
    text = strdup(message);
    size = strlen(message);
  }
  end_call(call, code, text, size);
  unlink_call(call);
  call_unref(call);
}

static bool is_abandoned(const rheos__incoming *incoming) {
  rheos__incoming *call = (rheos__incoming *)(uintptr_t)incoming;
  pthread_mutex_lock(&call->mutex);
  const bool abandoned = call->is_abandoned;
  pthread_mutex_unlock(&call->mutex);
  return abandoned;
}

static void stop(rheos__listener *listener, int64_t grace_ms, void (*end_calls)(void *),
                 void *argument) {
  const struct timespec until = after_ms(grace_ms);
  pthread_mutex_lock(&listeners_mutex);
  rheos__listener **place = &listeners;
  while (*place != NULL && *place != listener) place = &(*place)->next;
  if (*place != NULL) *place = listener->next;
  pthread_mutex_unlock(&listeners_mutex);
  pthread_mutex_lock(&listener->mutex);
  listener->is_stopping = true;
  while (listener->num_calls > 0 && !is_past(until)) {
    pthread_cond_timedwait(&listener->changed, &listener->mutex, &until);
  }
  for (rheos__incoming *call = listener->calls; call != NULL; call = call->next) {
    abandon(call, RHEOS_UNAVAILABLE, "the server was stopped");
  }
  pthread_mutex_unlock(&listener->mutex);
  end_calls(argument);
  pthread_mutex_lock(&listener->mutex);
  while (listener->num_calls > 0 || listener->num_threads > 0) {
    pthread_cond_wait(&listener->changed, &listener->mutex);
  }
  pthread_mutex_unlock(&listener->mutex);
}

static void unlisten(rheos__listener *listener) {
  pthread_cond_destroy(&listener->changed);
  pthread_mutex_destroy(&listener->mutex);
  free(listener);
}

// ---- Clients

static bool connect_to(const rheos__connect *options, rheos__channel **out_channel, char *error) {
  const char *port = strrchr(options->address, ':');
  rheos__channel *channel = calloc(1, sizeof *channel);
  (void)error;
  if (channel == NULL) abort();
  pthread_mutex_init(&channel->mutex, NULL);
  pthread_cond_init(&channel->changed, NULL);
  channel->port = port != NULL ? atoi(port + 1) : -1;
  *out_channel = channel;
  return true;
}

static void disconnect(rheos__channel *channel) {
  pthread_mutex_lock(&channel->mutex);
  while (channel->num_threads > 0) pthread_cond_wait(&channel->changed, &channel->mutex);
  pthread_mutex_unlock(&channel->mutex);
  pthread_cond_destroy(&channel->changed);
  pthread_mutex_destroy(&channel->mutex);
  free(channel);
}

// Hands the call to who listens there. False: nobody does.
static bool hand_over(rheos__incoming *call) {
  pthread_mutex_lock(&listeners_mutex);
  rheos__listener *listener = listeners;
  while (listener != NULL && listener->port != call->channel->port) listener = listener->next;
  bool is_taken = false;
  if (listener != NULL) {
    pthread_mutex_lock(&listener->mutex);
    is_taken = !listener->is_stopping;
    call->listener = listener;
    if (is_taken) link_call(call);
    pthread_mutex_unlock(&listener->mutex);
  }
  pthread_mutex_unlock(&listeners_mutex);
  if (!is_taken) return false;
  atomic_fetch_add(&call->references, 2);  // who serves, and who replies
  if (!begin_thread(serve, call)) abort();
  return true;
}

static bool has_end(rheos__incoming *call) {
  pthread_mutex_lock(&call->mutex);
  const bool is_over = call->has_end;
  pthread_mutex_unlock(&call->mutex);
  return is_over;
}

// Until the call is over, or a while has gone by.
static void wait_a_while(rheos__incoming *call) {
  const struct timespec until = after_ms(POLL_MS);
  pthread_mutex_lock(&call->mutex);
  if (!call->has_end) pthread_cond_timedwait(&call->changed, &call->mutex, &until);
  pthread_mutex_unlock(&call->mutex);
}

static void wait_for(rheos__incoming *call, bool (*should_stop)(void *), void *argument) {
  const struct timespec until = after_ms(call->timeout_ms);
  bool is_there = false;
  while (!has_end(call)) {
    if (!is_there) is_there = hand_over(call);
    if (!is_there && !call->waits) abandon(call, RHEOS_UNAVAILABLE, "nobody listens there");
    wait_a_while(call);
    if (call->timeout_ms > 0 && is_past(until)) {
      abandon(call, RHEOS_DEADLINE_EXCEEDED, "Deadline Exceeded");
    }
    if (should_stop != NULL && should_stop(argument)) abandon(call, RHEOS_CANCELLED, "CANCELLED");
  }
  const rheos__chunk chunk = {call->text, call->text_bytes};
  const rheos__reply end = {.code = call->code,
                            .message = call->text,
                            .chunks = {&chunk, call->code == RHEOS_OK ? 1 : 0}};
  if (call->replied != NULL) call->replied(call->argument, &end);
}

static void call_and_wait(rheos__channel *channel, const rheos__call *options,
                          bool (*should_stop)(void *), void *argument) {
  rheos__incoming *call = call_new(channel, options);
  if (call == NULL) abort();
  wait_for(call, should_stop, argument);
  call_unref(call);
}

static void *wait_apart(void *argument) {
  rheos__incoming *call = argument;
  rheos__channel *channel = call->channel;
  wait_for(call, NULL, NULL);
  call_unref(call);
  pthread_mutex_lock(&channel->mutex);
  channel->num_threads--;
  pthread_cond_broadcast(&channel->changed);
  pthread_mutex_unlock(&channel->mutex);
  return NULL;
}

static rheos__outgoing *start(rheos__channel *channel, const rheos__call *options) {
  rheos__incoming *call = call_new(channel, options);
  if (call == NULL) return NULL;
  atomic_fetch_add(&call->references, 1);
  pthread_mutex_lock(&channel->mutex);
  channel->num_threads++;
  pthread_mutex_unlock(&channel->mutex);
  if (!begin_thread(wait_apart, call)) abort();
  return (rheos__outgoing *)call;
}

static void cancel(rheos__outgoing *outgoing) {
  abandon(&outgoing->call, RHEOS_CANCELLED, "CANCELLED");
}

static void forget(rheos__outgoing *outgoing) { call_unref(&outgoing->call); }

// The thread of the call ends soon; disconnect() waits for it.
static void let_go(rheos__outgoing *held) {
  cancel(held);
  forget(held);
}

__attribute__((visibility("default"))) extern const rheos__transport rheos__grpc_transport;
const rheos__transport rheos__grpc_transport = {
    .version = RHEOS_VERSION_STRING,
    .listen = listen_at,
    .port = port_of,
    .stop = stop,
    .unlisten = unlisten,
    .reply = reply,
    .is_abandoned = is_abandoned,
    .connect = connect_to,
    .disconnect = disconnect,
    .call = call_and_wait,
    .start = start,
    .cancel = cancel,
    .forget = forget,
    .hold = start,
    .let_go = let_go,
};
