// Protobuf's text form, of any message type that the library has: what `.pbtxt` files and the list
// of checkpoints are written in.
#ifndef RHEOS_SRC_FORMAT_MESSAGE_TEXT_FORMAT_H
#define RHEOS_SRC_FORMAT_MESSAGE_TEXT_FORMAT_H

#include "format/message/protobuf.h"

// Appends the message as text, indented by two spaces a level, fields by their numbers, maps by
// their keys, as TensorFlow's Python writes it. Fields that the type does not have are left out: in
// text they would have no name.
rheos_status *rheos__text_print(const ProtobufCMessage *message, rheos__buffer *text);

// Appends the bytes of a message of that type that the text describes, as rheos__proto_pack()
// writes them. RHEOS_DATA_LOSS with line and column if it describes none; a field that the type
// does not have is an error, as in TensorFlow. `name` says in the error what is being read: a path,
// or "text".
rheos_status *rheos__text_parse(const ProtobufCMessageDescriptor *descriptor, const char *text,
                                size_t text_bytes, const char *name, rheos__buffer *bytes);

// The type of that name, with or without "tensorflow." in front; NULL if the library has none.
const ProtobufCMessageDescriptor *rheos__message_type(const char *name, size_t name_bytes);

// The message that an Any of this type URL holds, NULL if its type is not known.
const ProtobufCMessageDescriptor *rheos__any_type(const char *url, size_t url_bytes);

#endif  // RHEOS_SRC_FORMAT_MESSAGE_TEXT_FORMAT_H
