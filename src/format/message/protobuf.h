// Protobuf messages in and out, over protobuf-c.
#ifndef RHEOS_SRC_FORMAT_MESSAGE_PROTOBUF_H
#define RHEOS_SRC_FORMAT_MESSAGE_PROTOBUF_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "codec/buffer.h"

// Appends the message's bytes. (While it does, maps of functions in it look different: nobody else
// may read the message.)
void rheos__proto_pack(const ProtobufCMessage *message, rheos__buffer *buffer);

// Reads a message of that type from bytes that may be hostile. Everything it needs comes from the
// arena (which is not emptied after a failure). RHEOS_DATA_LOSS if the bytes are not such a
// message.
rheos_status *rheos__proto_unpack(const ProtobufCMessageDescriptor *descriptor, const void *bytes,
                                  size_t size_bytes, rheos__arena *arena,
                                  ProtobufCMessage **out_message);

// The two halves of it: whether the bytes can be given to protobuf-c, of which it still may refuse
// some, and giving them. What is inside a message that was checked is checked too.
rheos_status *rheos__proto_check(const ProtobufCMessageDescriptor *descriptor, const char *bytes,
                                 size_t size_bytes);
rheos_status *rheos__proto_unpack_checked(const ProtobufCMessageDescriptor *descriptor,
                                          const void *bytes, size_t size_bytes, rheos__arena *arena,
                                          ProtobufCMessage **out_message);

// *out_message = a `Type` (in lower case `type`), as protobuf-c names them.
#define RHEOS_PROTO_UNPACK(type, bytes, size_bytes, arena, out_message)                  \
  rheos__proto_unpack(&tensorflow__##type##__descriptor, (bytes), (size_bytes), (arena), \
                      (ProtobufCMessage **)(out_message))

#endif  // RHEOS_SRC_FORMAT_MESSAGE_PROTOBUF_H
