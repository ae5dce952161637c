// A MetaGraphDef on its way out of a graph: what the parts that write its fields share.
#ifndef RHEOS_SRC_FORMAT_SAVED_MODEL_META_EXPORT_H
#define RHEOS_SRC_FORMAT_SAVED_MODEL_META_EXPORT_H

#include <rheos/saved_model.h>

#include "base/arena.h"
#include "codec/buffer.h"
#include "format/graph/graph_savers.h"
#include "format/message/protobuf.h"

typedef struct rheos__meta_export {
  rheos_graph *graph;
  const rheos_meta_graph_options *options;
  const char *scope;  // that is written, "": all
  char **unbound;     // inputs from outside of it, for rheos_free()
  size_t num_unbound;
  rheos__saver_scopes dropped;  // savers that are not written
  rheos__arena arena;
  rheos__buffer out;
} rheos__meta_export;

// The name of an operation, and of an output, "x:0", as it is written; "" for none. In the arena;
// NULL when memory is short.
char *rheos__meta_node_name(rheos__meta_export *e, rheos_operation operation);
char *rheos__meta_output_name(rheos__meta_export *e, rheos_output output);

// Whether the operation is written.
rheos_status *rheos__meta_is_below(rheos__meta_export *e, rheos_operation operation,
                                   bool *out_is_below);
// What is asked for has to be in what is written. `what` names it.
rheos_status *rheos__meta_check(rheos__meta_export *e, rheos_operation operation, const char *what);

bool rheos__meta_has_saver(const rheos__meta_export *e);
// The SaverDef's bytes; those of the buffer count when no error comes back.
rheos_status *rheos__meta_saver_bytes(rheos__meta_export *e, rheos__buffer *out);

// An entry of MetaGraphDef's map of collections.
void rheos__meta_put_collection(rheos__meta_export *e, const char *key,
                                const ProtobufCMessage *value);

// All that are to be written, by key, so that the same graph gives the same bytes.
rheos_status *rheos__meta_put_collections(rheos__meta_export *e);

#endif  // RHEOS_SRC_FORMAT_SAVED_MODEL_META_EXPORT_H
