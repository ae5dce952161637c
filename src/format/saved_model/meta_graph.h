// MetaGraphDefs inside the library: how their descriptions are made.
#ifndef RHEOS_SRC_FORMAT_SAVED_MODEL_META_GRAPH_H
#define RHEOS_SRC_FORMAT_SAVED_MODEL_META_GRAPH_H

#include <rheos/saved_model.h>

#include "codec/wire.h"
#include "format/message/protobuf.h"

// Reads the message; `bytes` are taken over in any case: with rheos__free() if they are `owned`,
// else they stay valid as long as the description.
rheos_status *rheos__meta_graph_of(rheos__wire bytes, char *owned,
                                   rheos_meta_graph **out_meta_graph);

// Whether bytes are text: no message of bytes is without control characters, but for an empty one.
bool rheos__is_text(const char *data, size_t size_bytes);

// The file, for rheos__free(): its bytes, or, where it is a message as text, that as bytes.
rheos_status *rheos__read_message(const ProtobufCMessageDescriptor *descriptor, const char *path,
                                  char **out_data, size_t *out_size_bytes);

// Writes a message, as bytes or as text.
rheos_status *rheos__write_message(const char *type, const char *path, const void *bytes,
                                   size_t size_bytes, bool as_text);

// An item of a collection of bytes as it is where the graph is below a prefix: names in messages
// that are known, and other texts, get it in front, as in TensorFlow. What is new is in the arena.
rheos_status *rheos__collection_bytes_below(const char *key, const char *prefix, rheos_string bytes,
                                            rheos__arena *arena, rheos_string *out_bytes);

// The reverse, where what is below a scope is written without it: whether an item is, and the item
// with its names changed. As in TensorFlow other texts are below it by their first bytes, and come
// through as they are.
rheos_status *rheos__collection_bytes_are_within(const char *key, const char *scope,
                                                 rheos_string bytes, rheos__arena *arena,
                                                 bool *out_are_within);
rheos_status *rheos__collection_bytes_within(const char *key, const char *scope, rheos_string bytes,
                                             rheos__arena *arena, rheos_string *out_bytes);

// Whether variables stand in the collection of that key as VariableDef messages.
bool rheos__is_variables_key(const char *key);

// What is wrong with handles, names and lists of the options; NULL if nothing.
rheos_status *rheos__check_meta_graph_options(const rheos_graph *graph,
                                              const rheos_meta_graph_options *options);

#endif  // RHEOS_SRC_FORMAT_SAVED_MODEL_META_GRAPH_H
