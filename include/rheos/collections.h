// Collections: lists of operations, tensors, variables, byte strings and numbers that a graph keeps
// under a key.
#ifndef RHEOS_COLLECTIONS_H
#define RHEOS_COLLECTIONS_H

#include <rheos/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RHEOS_COLLECTION_GLOBAL_VARIABLES "variables"
#define RHEOS_COLLECTION_LOCAL_VARIABLES "local_variables"
#define RHEOS_COLLECTION_TRAINABLE_VARIABLES "trainable_variables"
#define RHEOS_COLLECTION_TRAIN_OP "train_op"

typedef enum rheos_item_kind {
  RHEOS_ITEM_OPERATION,
  RHEOS_ITEM_OUTPUT,
  RHEOS_ITEM_VARIABLE,  // `index` counts variables of the graph, see train.h
  RHEOS_ITEM_BYTES,
  RHEOS_ITEM_INT,
  RHEOS_ITEM_FLOAT,
  RHEOS_ITEM_ANY,  // a message of type Any, as bytes
} rheos_item_kind;

typedef struct rheos_item {
  rheos_item_kind kind;  // says which of the following it holds
  int32_t id;            // of the node
  int32_t index;         // of the output or of the variable
  rheos_string bytes;    // BYTES, ANY
  int64_t i;             // INT
  float f;               // FLOAT
} rheos_item;

RHEOS_STATUS rheos_graph_add_to_collection(rheos_graph *graph, const char *key, rheos_item item);
RHEOS_API int32_t rheos_graph_collection_size(rheos_graph *graph, const char *key);
// `index` is below the size.
RHEOS_API rheos_item rheos_graph_collection_item(rheos_graph *graph, const char *key,
                                                 int32_t index);
// The keys, in the order in which they were first used; NULL past the end.
RHEOS_API int32_t rheos_graph_num_collections(rheos_graph *graph);
RHEOS_API const char *rheos_graph_collection_key(rheos_graph *graph, int32_t index);

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_COLLECTIONS_H
