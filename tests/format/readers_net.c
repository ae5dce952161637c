// Readers of what comes over the wire of a cluster: requests of every method, in pieces of any
// size, and clusters as JSON.
#include <stdlib.h>
#include <string.h>

#include "config.pb-c.h"
#include "format/readers.h"
#include "master.pb-c.h"
#include "net/cluster.h"
#include "net/server.h"
#include "worker.pb-c.h"

enum { MOST_CHUNKS = 4096 };

// The first byte says the method, the second how many bytes a chunk has; 0: all.
rheos_status *read_request(const void *data, size_t size_bytes) {
  const unsigned char *bytes = data;
  if (size_bytes < 2) return RHEOS_INVALID("too short");
  const rheos__service *service = &rheos__services[bytes[0] % RHEOS__NUM_METHODS];
  size_t step = bytes[1] > 0 ? bytes[1] : size_bytes, count = 0;
  if (size_bytes / step >= MOST_CHUNKS) step = size_bytes;
  rheos__chunk *chunks = calloc(MOST_CHUNKS, sizeof *chunks);
  if (chunks == NULL) return rheos__out_of_memory();
  for (size_t at = 2; at < size_bytes; at += step) {
    const size_t rest = size_bytes - at;
    chunks[count++] = (rheos__chunk){(const char *)bytes + at, rest < step ? rest : step};
  }
  rheos__received received;
  rheos_status *status =
      rheos__receive_message(&service->form, (rheos__chunks){chunks, count}, &received);
  rheos__received_deinit(&received);
  free(chunks);
  return status;
}

rheos_status *read_cluster_json(const void *data, size_t size_bytes) {
  rheos__cluster cluster;
  rheos_status *status = rheos__cluster_from_json(data, size_bytes, &cluster);
  rheos__cluster_deinit(&cluster);
  return status;
}

// ---- Seeds

static void give(take_seed take, void *argument, rheos__method method, unsigned char step,
                 rheos__message *message) {
  rheos__pieces pieces;
  char seed[4096] = {(char)method, (char)step};
  size_t size = 2;
  if (rheos__message_pieces(message, &pieces) != NULL) abort();
  for (size_t i = 0; i < pieces.count; i++) {
    const rheos__piece *piece = &pieces.pieces[i];
    if (size + piece->size_bytes > sizeof seed) abort();
    memcpy(seed + size, piece->data, piece->size_bytes);
    size += piece->size_bytes;
    if (piece->release != NULL) piece->release(piece->owner);
  }
  take(argument, seed, size);
  rheos__message_deinit(message);
}

static rheos_tensor *numbers(void) {
  static const float values[] = {1, 2, 3, 4, 5, 6};
  rheos_tensor *tensor;
  if (rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(2, 3), values, &tensor) != NULL) abort();
  return tensor;
}

static rheos_tensor *words(void) {
  rheos_tensor *tensor;
  if (rheos_tensor_new(RHEOS_STRING, RHEOS_SHAPE(2), &tensor) != NULL ||
      rheos_tensor_set_string(tensor, 0, "some", 4) != NULL) {
    abort();
  }
  return tensor;
}

static void run_step_seed(take_seed take, void *argument, unsigned char step) {
  Tensorflow__RunStepRequest fields = TENSORFLOW__RUN_STEP_REQUEST__INIT;
  char *fetches[] = {"y:0", "z:1"};
  rheos__message message = {0};
  rheos_tensor *x = numbers(), *text = words();
  fields.session_handle = "0123456789abcdef";
  fields.fetch = fetches;
  fields.n_fetch = 2;
  rheos__message_put(&message, &fields.base);
  rheos__message_put_named(&message, 2, "x:0", x);
  rheos__message_put_named(&message, 2, "text:0", text);
  give(take, argument, RHEOS__RUN_STEP, step, &message);
  rheos_tensor_unref(x);
  rheos_tensor_unref(text);
}

static void callable_seed(take_seed take, void *argument) {
  Tensorflow__RunCallableRequest fields = TENSORFLOW__RUN_CALLABLE_REQUEST__INIT;
  rheos__message message = {0};
  rheos_tensor *x = numbers();
  fields.handle = 7;
  rheos__message_put(&message, &fields.base);
  rheos__message_put_tensor(&message, 3, x);
  give(take, argument, RHEOS__RUN_CALLABLE, 5, &message);
  rheos_tensor_unref(x);
}

static void session_seed(take_seed take, void *argument) {
  Tensorflow__CreateSessionRequest fields = TENSORFLOW__CREATE_SESSION_REQUEST__INIT;
  Tensorflow__ConfigProto config = TENSORFLOW__CONFIG_PROTO__INIT;
  rheos__message message = {0};
  config.operation_timeout_in_ms = 1000;
  fields.config = &config;
  rheos__message_put(&message, &fields.base);
  rheos__message_put_bytes(&message, 1, "\x0a\x02\x0a\x00", 4);
  give(take, argument, RHEOS__CREATE_SESSION, 3, &message);
}

void request_seeds(take_seed take, void *argument) {
  run_step_seed(take, argument, 0);
  run_step_seed(take, argument, 1);
  callable_seed(take, argument);
  session_seed(take, argument);
}

void cluster_json_seeds(take_seed take, void *argument) {
  static const char *const texts[] = {
      "{\"ps\": [\"localhost:2222\", \"[::1]:2223\"], \"worker\": {\"0\": \"10.0.0.1:80\"}}",
      "{\"worker\": {\"7\": \"a:1\", 9: \"b:2\"}}", "{}"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    take(argument, texts[i], strlen(texts[i]));
  }
}
