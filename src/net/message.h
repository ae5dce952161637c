// Messages of the protocol: protobuf's, but for the tensors in them. A tensor's bytes go out from
// where they lie, and come in with one copy, into the tensor.
#ifndef RHEOS_SRC_NET_MESSAGE_H
#define RHEOS_SRC_NET_MESSAGE_H

#include <rheos/tensor.h>

#include "format/message/protobuf.h"
#include "net/transport.h"

// ---- Out

typedef struct rheos__place_of_tensor {
  size_t at;  // the bytes of the message that come before
  rheos_tensor *tensor;
} rheos__place_of_tensor;

// Starts as zeros. Once memory is short it stays failed: rheos__message_pieces() tells.
typedef struct rheos__message {
  rheos__buffer bytes;  // all but those of large tensors
  rheos__place_of_tensor *tensors;
  size_t num_tensors, capacity;
  rheos__piece *pieces;
  rheos_status *status;  // why it cannot be sent: what rheos__message_pieces() says
} rheos__message;

// Appends fields: those of a message; bytes, or a message that is bytes already; a TensorProto, and
// one in a NamedTensorProto.
void rheos__message_put(rheos__message *message, const ProtobufCMessage *fields);
void rheos__message_put_bytes(rheos__message *message, int field, const void *bytes,
                              size_t size_bytes);
void rheos__message_put_tensor(rheos__message *message, int field, rheos_tensor *tensor);
void rheos__message_put_named(rheos__message *message, int field, const char *name,
                              rheos_tensor *tensor);
// A field `transport_options` with a RecvBufRespExtra of the tensor's bytes, which nobody changes.
void rheos__message_put_buffer(rheos__message *message, int field, rheos_tensor *tensor);
// The message as pieces, once, which last as long as it does but for what the receiver holds.
rheos_status *rheos__message_pieces(rheos__message *message, rheos__pieces *out_pieces);
void rheos__message_deinit(rheos__message *message);

// ---- In

// How a message is read: which of its fields are no part of `descriptor`'s message; 0: none.
typedef struct rheos__message_form {
  const ProtobufCMessageDescriptor *descriptor;
  int tensors;     // a list of TensorProto
  bool are_named;  // of NamedTensorProto
  int bytes;       // one whose bytes are kept as they are
} rheos__message_form;

typedef struct rheos__received {
  ProtobufCMessage *message;  // without those fields
  char **names;               // of the tensors, if they are named
  rheos_tensor **tensors;
  size_t num_tensors, capacity;
  const char *bytes;
  size_t size_bytes;
  rheos__arena arena;
} rheos__received;

// From bytes that may be hostile: RHEOS_INVALID_ARGUMENT if they are no such message. To be
// deinitialised, after a failure too.
rheos_status *rheos__receive_message(const rheos__message_form *form, rheos__chunks chunks,
                                     rheos__received *out_received);
void rheos__received_deinit(rheos__received *received);
// What such a field's bytes hold, as a vector of uint8. RHEOS_INVALID_ARGUMENT if they hold none.
rheos_status *rheos__read_buffer(const char *bytes, size_t size_bytes, rheos_tensor **out_tensor);

#endif  // RHEOS_SRC_NET_MESSAGE_H
