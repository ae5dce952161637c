// What lies at a path: found by looking inside, not at the name.
#ifndef RHEOS_CLI_SOURCE_H
#define RHEOS_CLI_SOURCE_H

#include <rheos/format.h>

#include "message.h"
#include "meta_graph.pb-c.h"
#include "options.h"

typedef enum source_kind {
  SOURCE_GRAPH,
  SOURCE_META_GRAPH,
  SOURCE_SAVED_MODEL,
  SOURCE_CHECKPOINT,
  SOURCE_RECORDS,
  SOURCE_EVENTS,
  SOURCE_ARRAYS,
  SOURCE_UNKNOWN,
} source_kind;

// For `kinds` of options.
enum {
  SOURCE_TAGGED = 1 << SOURCE_SAVED_MODEL,
  SOURCE_SIGNED = 1 << SOURCE_META_GRAPH | 1 << SOURCE_SAVED_MODEL,
  SOURCE_RESTORED = 1 << SOURCE_GRAPH | 1 << SOURCE_META_GRAPH,  // with a checkpoint of the user's
  SOURCE_MODELS = SOURCE_RESTORED | SOURCE_SIGNED,
};

typedef struct source {
  source_kind kind;
  char *path;    // of the file that is read; of a checkpoint its prefix
  char *folder;  // of a saved model that was given as a folder, else NULL
  bool is_text;
  rheos_compression compression;  // of records and events
  char **event_files;             // of a folder of events, in the order of their names
  size_t num_event_files;
  rheos_checkpoint_state checkpoint_list;  // of a checkpoint named by its list, else empty
  // Of a graph, a meta graph or a saved model, the message, and as bytes.
  const char *bytes;
  size_t size_bytes;
  char *file;    // what was read, the bytes; of a text NULL, and
  void *parsed;  // the bytes that it says
  char *merged;  // a graph that the message holds in several parts
  message_memory memory;
  Tensorflow__GraphDef *graph_def;
  Tensorflow__MetaGraphDef *meta_graph_def;
  Tensorflow__SavedModel *saved_model;
} source;

// "graph", "meta_graph", "saved_model", "checkpoint", "records", "events", "arrays"
const char *source_kind_name(source_kind kind);

// Of a graph, a meta graph or a saved model: "GraphDef", "MetaGraphDef", "SavedModel".
const char *source_message_type(source_kind kind);

// Finds out what the path names, without reading all of it.
rheos_status *source_open(const char *path, source *out_source);
// Reads the message of a graph, meta graph or saved model.
rheos_status *source_read_message(source *s);
void source_close(source *s);

// Whether all options that are given apply to this kind of source; else a message (wrong usage).
bool source_fits_options(const source *s, const char *command, const option *options,
                         size_t num_options);
// Whether the options apply to what lies at a path, as source_fits_options() has it; true where it
// cannot be opened, which whoever reads it says.
bool path_fits_options(const char *path, const char *command, const option *options,
                       size_t num_options);

// The meta graph of a saved model with exactly these tags ("a,b"), or, for NULL, the first one; of
// a meta graph file that one. NULL without a status if it is a plain graph.
rheos_status *source_meta_graph(const source *s, const char *tags,
                                const Tensorflow__MetaGraphDef **out_meta_graph);

// The bytes of the graph in it, which the source keeps; of a plain graph (NULL) its own.
rheos_status *source_graph_bytes(source *s, const Tensorflow__MetaGraphDef *meta_graph,
                                 const char **out_bytes, size_t *out_size_bytes);

#endif  // RHEOS_CLI_SOURCE_H
