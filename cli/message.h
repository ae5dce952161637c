// Protobuf messages of TensorFlow's files, in classes of the command's own.
#ifndef RHEOS_CLI_MESSAGE_H
#define RHEOS_CLI_MESSAGE_H

#include <rheos/tensor.h>

#include "tensor.pb-c.h"

// Memory that goes at once. Starts as zeros.
typedef struct message_memory {
  struct memory_block *blocks;
  bool is_short;  // there was no more
} message_memory;

void message_memory_free(message_memory *memory);

// Reads a message from bytes that may be hostile; it lives in `memory`. RHEOS_DATA_LOSS if they are
// none.
rheos_status *message_unpack(const ProtobufCMessageDescriptor *type, const char *bytes,
                             size_t size_bytes, message_memory *memory,
                             ProtobufCMessage **out_message);

// NULL where the message describes no tensor.
rheos_tensor *message_tensor(const Tensorflow__TensorProto *proto);
// A NULL message is a scalar; unknown where it is no shape, or has too many dimensions.
rheos_shape message_shape(const Tensorflow__TensorShapeProto *proto);

#endif  // RHEOS_CLI_MESSAGE_H
