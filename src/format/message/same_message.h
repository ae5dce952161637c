// Whether bytes say the same: protobuf leaves open in which order the entries of a map are written.
#ifndef RHEOS_SRC_FORMAT_MESSAGE_SAME_MESSAGE_H
#define RHEOS_SRC_FORMAT_MESSAGE_SAME_MESSAGE_H

#include <rheos/tensor.h>

#include "format/message/protobuf.h"

// Whether two messages of that type are the same, but for the order of maps. Bytes that are no such
// message are an error.
rheos_status *rheos__is_same_message(const ProtobufCMessageDescriptor *descriptor, rheos_string a,
                                     rheos_string b, bool *out_same);

#endif  // RHEOS_SRC_FORMAT_MESSAGE_SAME_MESSAGE_H
