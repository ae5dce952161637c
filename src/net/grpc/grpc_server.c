#include "net/grpc/grpc_transport.h"

#include <errno.h>

// Threads poll for calls and serve those that they find. One that is busy, and may be for long, is
// replaced: there is always one that polls.
enum { MAX_IDLE = 4 };

typedef enum event_kind { CALLED, REPLIED, ENDED, STOPPED } event_kind;

// What comes out of the queue.
typedef struct event {
  event_kind kind;
  rheos__incoming *call;
} event;

struct rheos__incoming {
  rheos__listener *listener;
  int method;  // -1: one that nobody serves
  grpc_call *call;
  grpc_metadata_array metadata;
  grpc_call_details details;
  gpr_timespec deadline;
  grpc_byte_buffer *request;
  event called, replied, ended;
  grpc_slice message;
  int cancelled;
  atomic_bool is_abandoned;
  atomic_int references;  // events that are to come, and the callee
};

struct rheos__listener {
  rheos__called_fn called;
  void (*refused)(void *argument, const char *caller, const char *why);
  void *argument;
  char *token;
  grpc_server *server;
  grpc_completion_queue *queue;
  void **methods;  // as registered
  int num_methods, port;
  event stopped;
  bool is_stopping;  // guarded, as what follows, by the mutex
  bool has_stopped;
  int num_threads, num_idle;
  int num_calls;    // under way, until their replies are sent
  int num_awaited;  // calls that were asked for and have not been taken yet
  pthread_mutex_t mutex;
  pthread_cond_t changed;
};

// ---- Calls

static void incoming_unref(rheos__incoming *call) {
  if (atomic_fetch_sub(&call->references, 1) != 1) return;
  if (call->call != NULL) grpc_call_unref(call->call);
  if (call->request != NULL) grpc_byte_buffer_destroy(call->request);
  grpc_metadata_array_destroy(&call->metadata);
  grpc_call_details_destroy(&call->details);
  grpc_slice_unref(call->message);
  free(call);
}

static void count_awaited(rheos__listener *listener, int change) {
  pthread_mutex_lock(&listener->mutex);
  listener->num_awaited += change;
  if (listener->num_awaited == 0) pthread_cond_broadcast(&listener->changed);
  pthread_mutex_unlock(&listener->mutex);
}

// Asks for the next call of a method.
static void request_call(rheos__listener *listener, int method) {
  rheos__incoming *call = calloc(1, sizeof *call);
  if (call == NULL) return;  // the method is asked for again when a call of it is over
  call->listener = listener;
  call->method = method;
  grpc_metadata_array_init(&call->metadata);
  grpc_call_details_init(&call->details);
  call->message = grpc_empty_slice();
  call->called = (event){CALLED, call};
  call->replied = (event){REPLIED, call};
  call->ended = (event){ENDED, call};
  atomic_init(&call->references, 1);
  count_awaited(listener, 1);
  const grpc_call_error failed =
      method >= 0
          ? grpc_server_request_registered_call(
                listener->server, listener->methods[method], &call->call, &call->deadline,
                &call->metadata, &call->request, listener->queue, listener->queue, &call->called)
          : grpc_server_request_call(listener->server, &call->call, &call->details, &call->metadata,
                                     listener->queue, listener->queue, &call->called);
  if (failed == GRPC_CALL_OK) return;
  incoming_unref(call);
  count_awaited(listener, -1);
}

static void count_calls(rheos__listener *listener, int change) {
  pthread_mutex_lock(&listener->mutex);
  listener->num_calls += change;
  if (listener->num_calls == 0) pthread_cond_broadcast(&listener->changed);
  pthread_mutex_unlock(&listener->mutex);
}

void rheos__grpc_reply(rheos__incoming *call, rheos_code code, const char *message,
                       rheos__pieces reply) {
  grpc_byte_buffer *buffer = rheos__grpc_buffer_of(reply);
  if (buffer == NULL && code == RHEOS_OK) {
    code = RHEOS_RESOURCE_EXHAUSTED;
    message = "out of memory";
  }
  if (code != RHEOS_OK) call->message = grpc_slice_from_copied_string(message);
  grpc_op ops[3] = {{.op = GRPC_OP_SEND_INITIAL_METADATA}, {.op = GRPC_OP_SEND_STATUS_FROM_SERVER}};
  ops[1].data.send_status_from_server.status = (grpc_status_code)code;
  if (code != RHEOS_OK) ops[1].data.send_status_from_server.status_details = &call->message;
  size_t num_ops = 2;
  if (code == RHEOS_OK) {
    ops[2].op = GRPC_OP_SEND_MESSAGE;
    ops[2].data.send_message.send_message = buffer;
    num_ops = 3;
  }
  rheos__listener *listener = call->listener;
  atomic_fetch_add(&call->references, 1);
  if (grpc_call_start_batch(call->call, ops, num_ops, &call->replied, NULL) != GRPC_CALL_OK) {
    incoming_unref(call);
    count_calls(listener, -1);
  }
  if (buffer != NULL) grpc_byte_buffer_destroy(buffer);
  incoming_unref(call);
}

bool rheos__grpc_is_abandoned(const rheos__incoming *call) {
  return atomic_load(&call->is_abandoned);
}

static void refuse(rheos__incoming *call, rheos_code code, const char *message) {
  rheos__grpc_reply(call, code, message, (rheos__pieces){NULL, 0});
}

static void refuse_caller(rheos__incoming *call, const char *why) {
  char *peer = grpc_call_get_peer(call->call);
  const rheos__listener *listener = call->listener;
  if (listener->refused != NULL) listener->refused(listener->argument, peer, why);
  gpr_free(peer);
  refuse(call, RHEOS_UNAUTHENTICATED, why);
}

static bool slice_is(grpc_slice slice, const char *text) {
  return grpc_slice_str_cmp(slice, text) == 0;
}

// In as much time for one wrong token as for another.
static bool is_token(grpc_slice value, const char *token) {
  const size_t prefix = strlen(RHEOS__GRPC_TOKEN_PREFIX), size = strlen(token);
  if (GRPC_SLICE_LENGTH(value) != prefix + size) return false;
  const char *bytes = (const char *)GRPC_SLICE_START_PTR(value);
  unsigned char differs = memcmp(bytes, RHEOS__GRPC_TOKEN_PREFIX, prefix) != 0;
  for (size_t i = 0; i < size; i++) differs |= (unsigned char)(bytes[prefix + i] ^ token[i]);
  return differs == 0;
}

static bool brings_token(const rheos__incoming *call) {
  const char *token = call->listener->token;
  if (token == NULL) return true;
  for (size_t i = 0; i < call->metadata.count; i++) {
    const grpc_metadata *pair = &call->metadata.metadata[i];
    if (slice_is(pair->key, RHEOS__GRPC_TOKEN_KEY) && is_token(pair->value, token)) return true;
  }
  return false;
}

static void serve(rheos__incoming *call) {
  rheos__grpc_bytes bytes;
  if (call->method < 0) {
    refuse(call, RHEOS_UNIMPLEMENTED, "nobody serves this method");
  } else if (!brings_token(call)) {
    refuse_caller(call, "the call brings no valid access token");
  } else if (!rheos__grpc_bytes_init(&bytes, call->request)) {
    refuse(call, RHEOS_RESOURCE_EXHAUSTED, "the request cannot be read");
  } else {
    const rheos__listener *listener = call->listener;
    listener->called(listener->argument, call->method, call, bytes.chunks);
    rheos__grpc_bytes_deinit(&bytes);
  }
}

static void begin_call(rheos__incoming *call) {
  const grpc_op op = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER,
                      .data.recv_close_on_server.cancelled = &call->cancelled};
  count_calls(call->listener, 1);
  atomic_fetch_add(&call->references, 1);
  if (grpc_call_start_batch(call->call, &op, 1, &call->ended, NULL) != GRPC_CALL_OK) {
    incoming_unref(call);
  }
  request_call(call->listener, call->method);
  count_awaited(call->listener, -1);  // it counts as a call now
  serve(call);
}

// ---- Threads

static void *poll_calls(void *argument);

// With the mutex held.
static void add_thread(rheos__listener *listener) {
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (pthread_create(&thread, &attributes, poll_calls, listener) == 0) {
    listener->num_threads++;
    listener->num_idle++;
  }
  pthread_attr_destroy(&attributes);
}

static void leave_idle(rheos__listener *listener) {
  pthread_mutex_lock(&listener->mutex);
  if (--listener->num_idle == 0) add_thread(listener);
  pthread_mutex_unlock(&listener->mutex);
}

// Whether the thread is to go on.
static bool become_idle(rheos__listener *listener) {
  pthread_mutex_lock(&listener->mutex);
  const bool goes_on = listener->num_idle < MAX_IDLE;
  if (goes_on) listener->num_idle++;
  pthread_mutex_unlock(&listener->mutex);
  return goes_on;
}

static bool take_event(rheos__listener *listener, const event *e, bool succeeded) {
  rheos__incoming *call = e->call;
  switch (e->kind) {
    case CALLED:
      if (!succeeded) {  // the server stops
        incoming_unref(call);
        count_awaited(listener, -1);
        return true;
      }
      leave_idle(listener);
      begin_call(call);
      return become_idle(listener);
    case ENDED:
      if (call->cancelled != 0) atomic_store(&call->is_abandoned, true);
      incoming_unref(call);
      return true;
    case REPLIED:
      incoming_unref(call);
      count_calls(listener, -1);
      return true;
    case STOPPED: break;
  }
  pthread_mutex_lock(&listener->mutex);
  listener->has_stopped = true;
  pthread_cond_broadcast(&listener->changed);
  pthread_mutex_unlock(&listener->mutex);
  return true;
}

static void *poll_calls(void *argument) {
  rheos__listener *listener = argument;
  bool is_idle = true;
  while (is_idle) {
    const grpc_event found =
        grpc_completion_queue_next(listener->queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
    if (found.type != GRPC_OP_COMPLETE) break;
    is_idle = take_event(listener, found.tag, found.success != 0);
  }
  pthread_mutex_lock(&listener->mutex);
  if (is_idle) listener->num_idle--;
  listener->num_threads--;
  pthread_cond_broadcast(&listener->changed);
  pthread_mutex_unlock(&listener->mutex);
  return NULL;
}

// ---- Making and ending

static bool fail(char *error, const char *text, const char *about) {
  snprintf(error, RHEOS__TRANSPORT_ERROR_BYTES, text, about);
  return false;
}

static grpc_server_credentials *credentials_of(const rheos__listen *options) {
  const rheos__keys *keys = options->keys;
  if (keys == NULL) return grpc_insecure_server_credentials_create();
  grpc_ssl_pem_key_cert_pair pair = {keys->private_key, keys->certificate};
  return grpc_ssl_server_credentials_create_ex(
      keys->roots, &pair, 1,
      keys->roots != NULL && !options->takes_callers_without_certificate
          ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
          : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
      NULL);
}

static bool open_port(rheos__listener *listener, const rheos__listen *options, char *error) {
  grpc_server_credentials *credentials = credentials_of(options);
  if (credentials == NULL) return fail(error, "the keys cannot be used%s", "");
  listener->port = grpc_server_add_http2_port(listener->server, options->address, credentials);
  grpc_server_credentials_release(credentials);
  if (listener->port > 0) return true;
  return fail(error,
              options->keys != NULL ? "could not listen at %s: the port is in use, or certificate "
                                      "and private key do not belong together"
                                    : "could not listen at %s",
              options->address);
}

static grpc_server *new_server(const rheos__listen *options) {
  const int most = options->max_request_bytes < INT32_MAX ? (int)options->max_request_bytes : -1;
  grpc_arg all[] = {
      {.type = GRPC_ARG_INTEGER,
       .key = GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH,
       .value.integer = options->max_request_bytes > 0 ? most : -1},
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, .value.integer = -1},
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_ALLOW_REUSEPORT, .value.integer = 0},
      // Clients may ask every few seconds whether the server is there.
      {.type = GRPC_ARG_INTEGER,
       .key = GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
       .value.integer = 1000},
      // Clients that are cut off are noticed, also while they wait.
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_KEEPALIVE_TIME_MS, .value.integer = 60000},
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_KEEPALIVE_TIMEOUT_MS, .value.integer = 20000},
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, .value.integer = 0},
  };
  const grpc_channel_args args = {.num_args = sizeof all / sizeof *all, .args = all};
  return grpc_server_create(&args, NULL);
}

static bool register_methods(rheos__listener *listener, const rheos__listen *options) {
  listener->methods = calloc((size_t)options->num_methods, sizeof *listener->methods);
  if (listener->methods == NULL) return false;
  for (int i = 0; i < options->num_methods; i++) {
    listener->methods[i] = grpc_server_register_method(
        listener->server, options->methods[i], NULL, GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0);
    if (listener->methods[i] == NULL) return false;
  }
  listener->num_methods = options->num_methods;
  return true;
}

static void start(rheos__listener *listener) {
  grpc_server_start(listener->server);
  for (int i = -1; i < listener->num_methods; i++) request_call(listener, i);
  pthread_mutex_lock(&listener->mutex);
  add_thread(listener);
  pthread_mutex_unlock(&listener->mutex);
}

bool rheos__grpc_listen(const rheos__listen *options, rheos__listener **out_listener, char *error) {
  rheos__listener *listener = calloc(1, sizeof *listener);
  *out_listener = NULL;
  if (listener == NULL) return fail(error, "out of memory%s", "");
  grpc_init();
  pthread_mutex_init(&listener->mutex, NULL);
  pthread_cond_init(&listener->changed, NULL);
  listener->called = options->called;
  listener->argument = options->argument;
  listener->refused = options->refused;
  listener->stopped = (event){STOPPED, NULL};
  listener->token = options->token != NULL ? strdup(options->token) : NULL;
  listener->server = new_server(options);
  listener->queue = grpc_completion_queue_create_for_next(NULL);
  grpc_server_register_completion_queue(listener->server, listener->queue, NULL);
  if (options->token != NULL && listener->token == NULL)
    fail(error, "out of memory%s", "");
  else if (!register_methods(listener, options))
    fail(error, "methods are listed twice%s", "");
  else if (open_port(listener, options, error))
    *out_listener = listener;
  start(listener);
  if (*out_listener != NULL) return true;
  rheos__grpc_stop(listener, 0, NULL, NULL);
  rheos__grpc_unlisten(listener);
  return false;
}

int rheos__grpc_port(const rheos__listener *listener) { return listener->port; }

static struct timespec time_after_ms(int64_t ms) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_sec += ms / 1000;
  time.tv_nsec += ms % 1000 * 1000000;
  if (time.tv_nsec >= 1000000000) {
    time.tv_sec++;
    time.tv_nsec -= 1000000000;
  }
  return time;
}

void rheos__grpc_stop(rheos__listener *listener, int64_t grace_ms, void (*end_calls)(void *),
                      void *end_calls_argument) {
  pthread_mutex_lock(&listener->mutex);
  const bool is_first = !listener->is_stopping;
  listener->is_stopping = true;
  pthread_mutex_unlock(&listener->mutex);
  if (is_first) {
    grpc_server_shutdown_and_notify(listener->server, listener->queue, &listener->stopped);
  }
  const struct timespec until = time_after_ms(grace_ms);
  pthread_mutex_lock(&listener->mutex);
  int timed_out = grace_ms > 0 ? 0 : ETIMEDOUT;
  // Clients that have a connection and no call under way are not waited for.
  while (!listener->has_stopped && listener->num_calls > 0 && timed_out == 0) {
    timed_out = pthread_cond_timedwait(&listener->changed, &listener->mutex, &until);
  }
  pthread_mutex_unlock(&listener->mutex);
  grpc_server_cancel_all_calls(listener->server);
  if (end_calls != NULL) end_calls(end_calls_argument);
  pthread_mutex_lock(&listener->mutex);
  while (!listener->has_stopped || listener->num_calls > 0 || listener->num_awaited > 0) {
    pthread_cond_wait(&listener->changed, &listener->mutex);
  }
  pthread_mutex_unlock(&listener->mutex);
}

void rheos__grpc_unlisten(rheos__listener *listener) {
  grpc_completion_queue_shutdown(listener->queue);
  pthread_mutex_lock(&listener->mutex);
  while (listener->num_threads > 0) pthread_cond_wait(&listener->changed, &listener->mutex);
  pthread_mutex_unlock(&listener->mutex);
  grpc_server_destroy(listener->server);
  grpc_completion_queue_destroy(listener->queue);
  pthread_cond_destroy(&listener->changed);
  pthread_mutex_destroy(&listener->mutex);
  free(listener->methods);
  free(listener->token);
  free(listener);
  grpc_shutdown();
}
