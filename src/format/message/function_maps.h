// Keys of 0 in the maps of functions.
#ifndef RHEOS_SRC_FORMAT_MESSAGE_FUNCTION_MAPS_H
#define RHEOS_SRC_FORMAT_MESSAGE_FUNCTION_MAPS_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"

// FunctionDef's maps go by the number of an argument, of which the first is 0. protobuf-c leaves
// out what is 0, which is the same by the rules, but TensorFlow writes both key and value always,
// and Netron reads no entry without. While a message is packed, such entries are therefore bytes
// already. What was there before lies in the arena; NULL: no function has such a map.
typedef struct rheos__whole_maps rheos__whole_maps;

// `message` may be of any type; only graphs, meta graphs, saved models and libraries are looked
// into. False if memory is short: nothing has changed then.
bool rheos__whole_maps_begin(const ProtobufCMessage *message, rheos__arena *arena,
                             rheos__whole_maps **out_maps);
void rheos__whole_maps_end(rheos__whole_maps *maps);

#endif  // RHEOS_SRC_FORMAT_MESSAGE_FUNCTION_MAPS_H
