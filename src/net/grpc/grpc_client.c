#include "net/grpc/grpc_transport.h"

// A call that is waited for has a queue of its own, which the waiting thread polls itself. The ends
// of all others come out of one queue of the channel, which one thread polls.

enum { POLL_MS = 10, MAX_SPARE_QUEUES = 8 };

struct rheos__channel {
  grpc_channel *channel;
  char *authorization;  // the value; NULL: none
  rheos__grpc_identity identity;
  grpc_completion_queue *queue;
  pthread_t thread;
  bool has_thread;  // guarded, as what follows, by the mutex
  grpc_completion_queue *spare[MAX_SPARE_QUEUES];
  int num_spare;
  pthread_mutex_t mutex;
};

struct rheos__outgoing {
  rheos__channel *channel;
  rheos__replied_fn replied;
  void *argument;
  grpc_call *call;
  grpc_metadata authorization;
  grpc_metadata_array initial, trailing;
  grpc_byte_buffer *request, *reply;
  grpc_status_code code;
  grpc_slice details;
  bool was_stopped;              // by whoever waits
  atomic_int references;         // the queue and the handle
  grpc_completion_queue *queue;  // its own, of one that is held
};

// ---- Calls

static void outgoing_deinit(rheos__outgoing *outgoing) {
  if (outgoing->call != NULL) grpc_call_unref(outgoing->call);
  if (outgoing->request != NULL) grpc_byte_buffer_destroy(outgoing->request);
  if (outgoing->reply != NULL) grpc_byte_buffer_destroy(outgoing->reply);
  grpc_metadata_array_destroy(&outgoing->initial);
  grpc_metadata_array_destroy(&outgoing->trailing);
  grpc_slice_unref(outgoing->details);
}

void rheos__grpc_forget(rheos__outgoing *outgoing) {
  if (atomic_fetch_sub(&outgoing->references, 1) != 1) return;
  outgoing_deinit(outgoing);
  free(outgoing);
}

static gpr_timespec deadline_of(int64_t timeout_ms) {
  if (timeout_ms <= 0) return gpr_inf_future(GPR_CLOCK_REALTIME);
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(timeout_ms, GPR_TIMESPAN));
}

// False when memory is short; what there is is for outgoing_deinit().
static bool begin(rheos__outgoing *outgoing, rheos__channel *channel, const rheos__call *call,
                  grpc_completion_queue *queue) {
  outgoing->channel = channel;
  outgoing->replied = call->replied;
  outgoing->argument = call->argument;
  outgoing->details = grpc_empty_slice();
  grpc_metadata_array_init(&outgoing->initial);
  grpc_metadata_array_init(&outgoing->trailing);
  outgoing->request = rheos__grpc_buffer_of(call->request);
  if (outgoing->request == NULL) return false;
  const grpc_slice method = grpc_slice_from_copied_string(call->method);
  outgoing->call = grpc_channel_create_call(channel->channel, NULL, GRPC_PROPAGATE_DEFAULTS, queue,
                                            method, NULL, deadline_of(call->timeout_ms), NULL);
  grpc_slice_unref(method);
  grpc_op ops[6] = {
      {.op = GRPC_OP_SEND_INITIAL_METADATA,
       .flags = call->waits ? GRPC_INITIAL_METADATA_WAIT_FOR_READY |
                                  GRPC_INITIAL_METADATA_WAIT_FOR_READY_EXPLICITLY_SET
                            : 0},
      {.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = outgoing->request},
      {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT},
      {.op = GRPC_OP_RECV_INITIAL_METADATA,
       .data.recv_initial_metadata.recv_initial_metadata = &outgoing->initial},
      {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &outgoing->reply},
      {.op = GRPC_OP_RECV_STATUS_ON_CLIENT,
       .data.recv_status_on_client = {.trailing_metadata = &outgoing->trailing,
                                      .status = &outgoing->code,
                                      .status_details = &outgoing->details}}};
  if (channel->authorization != NULL) {
    outgoing->authorization =
        (grpc_metadata){.key = grpc_slice_from_static_string(RHEOS__GRPC_TOKEN_KEY),
                        .value = grpc_slice_from_static_string(channel->authorization)};
    ops[0].data.send_initial_metadata.count = 1;
    ops[0].data.send_initial_metadata.metadata = &outgoing->authorization;
  }
  return grpc_call_start_batch(outgoing->call, ops, sizeof ops / sizeof *ops, outgoing, NULL) ==
         GRPC_CALL_OK;
}

static void tell_error(const rheos__outgoing *outgoing, rheos_code code, const char *message) {
  const rheos__reply reply = {.code = code, .message = message};
  outgoing->replied(outgoing->argument, &reply);
}

// "MEANING (MESSAGE)" where there is a meaning.
static void tell_explained(const rheos__outgoing *outgoing, rheos_code code, const char *message) {
  char text[1024];
  const char *meaning = rheos__grpc_explain(message, &outgoing->channel->identity, &code);
  if (meaning != NULL) snprintf(text, sizeof text, "%s (%s)", meaning, message);
  tell_error(outgoing, code, meaning != NULL ? text : message);
}

// A text of gRPC's, which has no NUL; some is enough to tell what went wrong.
static void tell_details(const rheos__outgoing *outgoing, rheos_code code) {
  char few[512], *text = few;
  const size_t size = GRPC_SLICE_LENGTH(outgoing->details);
  if (size >= sizeof few) text = malloc(size + 1);
  const size_t kept = text != NULL ? size : sizeof few - 1;
  if (text == NULL) text = few;
  memcpy(text, GRPC_SLICE_START_PTR(outgoing->details), kept);
  text[kept] = '\0';
  tell_explained(outgoing, code, text);
  if (text != few) free(text);
}

static void tell(const rheos__outgoing *outgoing) {
  rheos__grpc_bytes bytes;
  const int code = (int)outgoing->code;
  if (code != GRPC_STATUS_OK) {
    tell_details(outgoing,
                 code > 0 && code <= RHEOS_UNAUTHENTICATED ? (rheos_code)code : RHEOS_UNKNOWN);
  } else if (!rheos__grpc_bytes_init(&bytes, outgoing->reply)) {
    tell_error(outgoing, RHEOS_RESOURCE_EXHAUSTED, "the reply cannot be read");
  } else {
    const rheos__reply reply = {.code = RHEOS_OK, .chunks = bytes.chunks};
    outgoing->replied(outgoing->argument, &reply);
    rheos__grpc_bytes_deinit(&bytes);
  }
}

// ---- Waited for

static grpc_completion_queue *take_queue(rheos__channel *channel) {
  grpc_completion_queue *queue = NULL;
  pthread_mutex_lock(&channel->mutex);
  if (channel->num_spare > 0) queue = channel->spare[--channel->num_spare];
  pthread_mutex_unlock(&channel->mutex);
  return queue != NULL ? queue : grpc_completion_queue_create_for_pluck(NULL);
}

static void end_queue(grpc_completion_queue *queue) {
  grpc_completion_queue_shutdown(queue);
  grpc_completion_queue_destroy(queue);
}

static void give_queue(rheos__channel *channel, grpc_completion_queue *queue) {
  pthread_mutex_lock(&channel->mutex);
  const bool is_kept = channel->num_spare < MAX_SPARE_QUEUES;
  if (is_kept) channel->spare[channel->num_spare++] = queue;
  pthread_mutex_unlock(&channel->mutex);
  if (!is_kept) end_queue(queue);
}

static void wait_for(rheos__outgoing *outgoing, grpc_completion_queue *queue,
                     bool (*should_stop)(void *), void *should_stop_argument) {
  const bool is_asked = should_stop != NULL;
  for (;;) {
    const gpr_timespec until =
        is_asked && !outgoing->was_stopped ? deadline_of(POLL_MS) : deadline_of(0);
    const grpc_event found = grpc_completion_queue_pluck(queue, outgoing, until, NULL);
    if (found.type == GRPC_OP_COMPLETE) return;
    if (is_asked && should_stop(should_stop_argument)) {
      outgoing->was_stopped = true;
      grpc_call_cancel(outgoing->call, NULL);
    }
  }
}

void rheos__grpc_call(rheos__channel *channel, const rheos__call *call, bool (*should_stop)(void *),
                      void *should_stop_argument) {
  rheos__outgoing outgoing = {.was_stopped = false};
  grpc_completion_queue *queue = take_queue(channel);
  if (begin(&outgoing, channel, call, queue)) {
    wait_for(&outgoing, queue, should_stop, should_stop_argument);
    tell(&outgoing);
  } else {
    tell_error(&outgoing, RHEOS_RESOURCE_EXHAUSTED, "out of memory");
  }
  outgoing_deinit(&outgoing);
  give_queue(channel, queue);
}

// ---- Not waited for

static void *poll_replies(void *argument) {
  rheos__channel *channel = argument;
  for (;;) {
    const grpc_event found =
        grpc_completion_queue_next(channel->queue, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
    if (found.type != GRPC_OP_COMPLETE) return NULL;
    tell(found.tag);
    rheos__grpc_forget(found.tag);
  }
}

static bool ensure_thread(rheos__channel *channel) {
  pthread_mutex_lock(&channel->mutex);
  if (!channel->has_thread) {
    channel->has_thread = pthread_create(&channel->thread, NULL, poll_replies, channel) == 0;
  }
  const bool has_thread = channel->has_thread;
  pthread_mutex_unlock(&channel->mutex);
  return has_thread;
}

rheos__outgoing *rheos__grpc_start(rheos__channel *channel, const rheos__call *call) {
  rheos__outgoing *outgoing = ensure_thread(channel) ? calloc(1, sizeof *outgoing) : NULL;
  if (outgoing == NULL) return NULL;
  atomic_init(&outgoing->references, 2);
  if (begin(outgoing, channel, call, channel->queue)) return outgoing;
  outgoing_deinit(outgoing);
  free(outgoing);
  return NULL;
}

void rheos__grpc_cancel(rheos__outgoing *outgoing) { grpc_call_cancel(outgoing->call, NULL); }

// ---- Held

// What comes of it is noticed by whoever polls the connection for something else.
rheos__outgoing *rheos__grpc_hold(rheos__channel *channel, const rheos__call *call) {
  rheos__outgoing *outgoing = calloc(1, sizeof *outgoing);
  if (outgoing == NULL) return NULL;
  outgoing->queue = take_queue(channel);
  if (begin(outgoing, channel, call, outgoing->queue)) return outgoing;
  outgoing_deinit(outgoing);
  give_queue(channel, outgoing->queue);
  free(outgoing);
  return NULL;
}

void rheos__grpc_let_go(rheos__outgoing *held) {
  rheos__channel *channel = held->channel;
  grpc_completion_queue *queue = held->queue;
  grpc_call_cancel(held->call, NULL);
  grpc_completion_queue_pluck(queue, held, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
  outgoing_deinit(held);
  free(held);
  give_queue(channel, queue);
}

// ---- Channels

static grpc_channel_credentials *credentials_of(const rheos__keys *keys) {
  if (keys == NULL) return grpc_insecure_credentials_create();
  grpc_ssl_pem_key_cert_pair pair = {keys->private_key, keys->certificate};
  return grpc_ssl_credentials_create(keys->roots, keys->certificate != NULL ? &pair : NULL, NULL,
                                     NULL);
}

// Connections are the channel's own, so that one session's end is no other's; a server that comes
// back is found again within a second or two.
static grpc_channel *new_channel(const char *address, grpc_channel_credentials *credentials) {
  grpc_arg all[] = {
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, .value.integer = -1},
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, .value.integer = -1},
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, .value.integer = 1},
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_ENABLE_HTTP_PROXY, .value.integer = 0},
      {.type = GRPC_ARG_INTEGER,
       .key = GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS,
       .value.integer = 100},
      // How long a server may take to greet, too.
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, .value.integer = 4000},
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, .value.integer = 1000},
      {.type = GRPC_ARG_INTEGER, .key = GRPC_ARG_ENABLE_RETRIES, .value.integer = 0},
  };
  const grpc_channel_args args = {.num_args = sizeof all / sizeof *all, .args = all};
  return grpc_channel_create(address, credentials, &args);
}

static bool fail(char *error, const char *text) {
  snprintf(error, RHEOS__TRANSPORT_ERROR_BYTES, "%s", text);
  return false;
}

static bool keep_token(rheos__channel *channel, const char *token) {
  if (token == NULL) return true;
  const size_t size = strlen(RHEOS__GRPC_TOKEN_PREFIX) + strlen(token) + 1;
  channel->authorization = malloc(size);
  if (channel->authorization == NULL) return false;
  snprintf(channel->authorization, size, "%s%s", RHEOS__GRPC_TOKEN_PREFIX, token);
  return true;
}

bool rheos__grpc_connect(const rheos__connect *options, rheos__channel **out_channel, char *error) {
  *out_channel = NULL;
  rheos__channel *channel = calloc(1, sizeof *channel);
  if (channel == NULL || !keep_token(channel, options->token)) {
    free(channel);
    return fail(error, "out of memory");
  }
  grpc_init();
  pthread_mutex_init(&channel->mutex, NULL);
  channel->queue = grpc_completion_queue_create_for_next(NULL);
  grpc_channel_credentials *credentials = credentials_of(options->keys);
  if (options->keys != NULL) {
    channel->identity = (rheos__grpc_identity){true, options->keys->certificate != NULL};
  }
  if (credentials != NULL) {
    channel->channel = new_channel(options->address, credentials);
    grpc_channel_credentials_release(credentials);
    *out_channel = channel;
    return true;
  }
  rheos__grpc_disconnect(channel);
  return fail(error, "the keys cannot be used");
}

void rheos__grpc_disconnect(rheos__channel *channel) {
  if (channel->channel != NULL) grpc_channel_destroy(channel->channel);
  grpc_completion_queue_shutdown(channel->queue);
  if (channel->has_thread) pthread_join(channel->thread, NULL);
  grpc_completion_queue_destroy(channel->queue);
  for (int i = 0; i < channel->num_spare; i++) end_queue(channel->spare[i]);
  pthread_mutex_destroy(&channel->mutex);
  free(channel->authorization);
  free(channel);
  grpc_shutdown();
}
