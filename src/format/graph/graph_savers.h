// Savers' nodes in GraphDefs, by the scopes they lie in.
#ifndef RHEOS_SRC_FORMAT_GRAPH_GRAPH_SAVERS_H
#define RHEOS_SRC_FORMAT_GRAPH_GRAPH_SAVERS_H

#include "format/graph/graph_def.h"

// Scopes with their "/".
typedef struct rheos__saver_scopes {
  char **items;
  size_t count;
} rheos__saver_scopes;

// Whether a node of that name lies in one of them.
bool rheos__saver_scopes_have(const rheos__saver_scopes *scopes, const char *name);

// The bytes of a GraphDef for rheos_free(), without what lies in the scopes of nodes that save and
// restore, but for those that the nodes `kept` (NULL: none) lie in. The scopes come out too, in the
// arena. RHEOS_INVALID_ARGUMENT if another node needs what is left out.
rheos_status *rheos__graph_def_without_savers(const void *bytes, size_t size_bytes,
                                              const char *const kept[2], rheos__arena *arena,
                                              rheos__saver_scopes *out_scopes, void **out_bytes,
                                              size_t *out_size_bytes);

#endif  // RHEOS_SRC_FORMAT_GRAPH_GRAPH_SAVERS_H
