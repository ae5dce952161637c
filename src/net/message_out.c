#include "net/message.h"

#include "codec/wire.h"
#include "format/message/variant_proto.h"

// A tensor of fewer bytes is copied into the message.
enum { LEAST_BYTES = 4096 };

// Fields of NamedTensorProto and TensorProto.
enum { NAMED_NAME = 1, NAMED_TENSOR = 2, TENSOR_DTYPE = 1, TENSOR_SHAPE = 2, TENSOR_CONTENT = 4 };

void rheos__message_put(rheos__message *message, const ProtobufCMessage *fields) {
  rheos__proto_pack(fields, &message->bytes);
}

void rheos__message_put_bytes(rheos__message *message, int field, const void *bytes,
                              size_t size_bytes) {
  rheos__wire_put_bytes(&message->bytes, field, bytes, size_bytes);
}

static bool is_plain(const rheos_tensor *tensor) {
  return tensor->dtype != RHEOS_STRING && tensor->dtype != RHEOS_RESOURCE &&
         tensor->dtype != RHEOS_VARIANT;
}

static void put_length(rheos__buffer *buffer, int field, size_t size_bytes) {
  rheos__buffer_put_varint(buffer, (uint64_t)field << 3 | RHEOS__WIRE_BYTES);
  rheos__buffer_put_varint(buffer, size_bytes);
}

// What comes before a tensor's bytes in its message. Without bytes all of it.
static void put_head(rheos__buffer *head, const rheos_tensor *tensor) {
  rheos__wire_put_varint(head, TENSOR_DTYPE, (uint64_t)tensor->dtype);
  rheos__wire_put_shape(head, TENSOR_SHAPE, &tensor->shape);
  if (tensor->size_bytes > 0) put_length(head, TENSOR_CONTENT, tensor->size_bytes);
}

static void put_apart(rheos__message *message, rheos_tensor *tensor) {
  if (message->num_tensors == message->capacity) {
    const size_t capacity = message->capacity > 0 ? 2 * message->capacity : 4;
    void *grown = rheos__realloc(message->tensors, capacity * sizeof *message->tensors);
    if (grown == NULL) {
      message->bytes.failed = true;
      return;
    }
    message->tensors = grown;
    message->capacity = capacity;
  }
  message->tensors[message->num_tensors++] =
      (rheos__place_of_tensor){message->bytes.size_bytes, rheos_tensor_ref(tensor)};
}

// `head` is what comes before the tensor's bytes, in messages inside each other.
static void put_content(rheos__message *message, const rheos__buffer *head, rheos_tensor *tensor) {
  if (head->failed) message->bytes.failed = true;
  rheos__buffer_put(&message->bytes, head->data, head->size_bytes);
  if (tensor->size_bytes >= LEAST_BYTES) {
    put_apart(message, tensor);
  } else {
    rheos__buffer_put(&message->bytes, tensor->data, tensor->size_bytes);
  }
}

// The tensor in the host's memory, for as long as somebody holds it: its bytes are read after the
// call that sends them.
static rheos_tensor *host_tensor(rheos_tensor *tensor) {
  rheos_tensor *here = NULL;
  rheos_status *status = tensor->memory != NULL ? rheos__tensor_in(tensor, NULL, &here)
                                                : rheos__tensor_keep(tensor, &here);
  rheos_status_free(status);
  return here;
}

static void put_plain(rheos__message *message, int field, const char *name, rheos_tensor *tensor) {
  rheos__buffer inner = {0}, outer = {0}, *head = &inner;
  put_head(&inner, tensor);
  const size_t rest = tensor->size_bytes;
  if (name != NULL) {
    rheos__wire_put_bytes(&outer, NAMED_NAME, name, strlen(name));
    put_length(&outer, NAMED_TENSOR, inner.size_bytes + rest);
    rheos__buffer_put(&outer, inner.data, inner.size_bytes);
    outer.failed = outer.failed || inner.failed;
    head = &outer;
  }
  put_length(&message->bytes, field, head->size_bytes + rest);
  put_content(message, head, tensor);
  rheos__buffer_deinit(&inner);
  rheos__buffer_deinit(&outer);
}

// Strings and variants. What has no message fails the one that it would be in.
static void put_whole(rheos__message *message, int field, const char *name,
                      const rheos_tensor *tensor) {
  rheos__buffer inner = {0}, outer = {0};
  rheos_status *status = rheos__tensor_message_put(&inner, tensor);
  if (message->status == NULL) {
    message->status = status;
  } else {
    rheos_status_free(status);
  }
  if (name == NULL) {
    rheos__wire_put_message(&message->bytes, field, &inner);
    return;
  }
  rheos__wire_put_bytes(&outer, NAMED_NAME, name, strlen(name));
  rheos__wire_put_message(&outer, NAMED_TENSOR, &inner);
  rheos__wire_put_message(&message->bytes, field, &outer);
}

void rheos__message_put_named(rheos__message *message, int field, const char *name,
                              rheos_tensor *tensor) {
  rheos_tensor *here = host_tensor(tensor);
  if (here == NULL) {
    message->bytes.failed = true;
  } else if (is_plain(here)) {
    put_plain(message, field, name, here);
  } else {
    put_whole(message, field, name, here);
  }
  rheos_tensor_unref(here);
}

void rheos__message_put_tensor(rheos__message *message, int field, rheos_tensor *tensor) {
  rheos__message_put_named(message, field, NULL, tensor);
}

void rheos__message_put_buffer(rheos__message *message, int field, rheos_tensor *tensor) {
  static const char type[] = "type.googleapis.com/tensorflow.RecvBufRespExtra";
  enum { ANY_TYPE = 1, ANY_VALUE = 2, EXTRA_CONTENT = 1 };
  rheos__buffer any = {0}, extra = {0};
  put_length(&extra, EXTRA_CONTENT, tensor->size_bytes);
  rheos__wire_put_bytes(&any, ANY_TYPE, type, sizeof type - 1);
  put_length(&any, ANY_VALUE, extra.size_bytes + tensor->size_bytes);
  rheos__buffer_put(&any, extra.data, extra.size_bytes);
  any.failed = any.failed || extra.failed;
  put_length(&message->bytes, field, any.size_bytes + tensor->size_bytes);
  put_content(message, &any, tensor);
  rheos__buffer_deinit(&extra);
  rheos__buffer_deinit(&any);
}

static void release_tensor(void *tensor) { rheos_tensor_unref(tensor); }

rheos_status *rheos__message_pieces(rheos__message *message, rheos__pieces *out_pieces) {
  *out_pieces = (rheos__pieces){NULL, 0};
  rheos_status *failed = message->status;
  message->status = NULL;
  if (failed != NULL) return failed;
  if (message->bytes.failed) return rheos__out_of_memory();
  rheos__piece *pieces = rheos__alloc_array(2 * message->num_tensors + 1, sizeof *pieces);
  if (pieces == NULL) return rheos__out_of_memory();
  size_t at = 0, count = 0;
  for (size_t i = 0; i <= message->num_tensors; i++) {
    const bool is_last = i == message->num_tensors;
    const size_t end = is_last ? message->bytes.size_bytes : message->tensors[i].at;
    if (end > at) pieces[count++] = (rheos__piece){message->bytes.data + at, end - at, NULL, NULL};
    at = end;
    if (is_last) break;
    rheos_tensor *tensor = message->tensors[i].tensor;
    pieces[count++] = (rheos__piece){tensor->data, tensor->size_bytes, release_tensor, tensor};
  }
  message->num_tensors = 0;  // they are the pieces' now
  message->pieces = pieces;
  *out_pieces = (rheos__pieces){pieces, count};
  return NULL;
}

void rheos__message_deinit(rheos__message *message) {
  for (size_t i = 0; i < message->num_tensors; i++) rheos_tensor_unref(message->tensors[i].tensor);
  rheos__free(message->tensors);
  rheos__free(message->pieces);
  rheos_status_free(message->status);
  rheos__buffer_deinit(&message->bytes);
  *message = (rheos__message){.num_tensors = 0};
}
