// Collections: lists under names that a graph carries along.
#include <rheos/collections.h>

#include <string.h>

#include "graph/graph_impl.h"

static rheos__collection *find_collection(const rheos_graph *graph, const char *key) {
  for (size_t i = 0; i < graph->num_collections; i++) {
    if (strcmp(graph->collections[i].key, key) == 0) return &graph->collections[i];
  }
  return NULL;
}

static rheos__collection *get_collection(rheos_graph *graph, const char *key) {
  rheos__collection *collection = find_collection(graph, key);
  if (collection != NULL) return collection;
  const char *kept = rheos__intern_text(graph, key, strlen(key));
  if (kept == NULL ||
      !RHEOS_RESERVE(graph->collections, graph->collections_capacity, graph->num_collections + 1)) {
    return NULL;
  }
  collection = &graph->collections[graph->num_collections++];
  *collection = (rheos__collection){.key = kept};
  return collection;
}

static rheos_status *add_item(rheos_graph *graph, const char *key, rheos_item item) {
  rheos__collection *collection = get_collection(graph, key);
  if (collection == NULL ||
      !RHEOS_RESERVE(collection->items, collection->capacity, collection->count + 1)) {
    return rheos__out_of_memory();
  }
  if (item.kind == RHEOS_ITEM_BYTES || item.kind == RHEOS_ITEM_ANY) {
    item.bytes.data = rheos__strndup(item.bytes.data != NULL ? item.bytes.data : "",
                                     item.bytes.data != NULL ? item.bytes.size_bytes : 0);
    if (item.bytes.data == NULL) return rheos__out_of_memory();
  } else {
    item.bytes = (rheos_string){0};
  }
  collection->items[collection->count++] = item;
  return NULL;
}

rheos_status *rheos_graph_add_to_collection(rheos_graph *graph, const char *key, rheos_item item) {
  RHEOS_NEED(graph, key);
  rheos_operation operation = {graph, item.id};
  rheos_output output = {graph, item.id, item.index};
  if ((item.kind == RHEOS_ITEM_OPERATION && rheos__node_of(operation) == NULL) ||
      (item.kind == RHEOS_ITEM_OUTPUT && rheos__output_of(output) == NULL)) {
    return RHEOS_INVALID("the item for collection '%s' is not in the graph", key);
  }
  rheos__graph_lock(graph);
  rheos_status *status = add_item(graph, key, item);
  rheos__graph_unlock(graph);
  return status;
}

int32_t rheos_graph_collection_size(rheos_graph *graph, const char *key) {
  if (graph == NULL || key == NULL) return 0;
  rheos__graph_lock(graph);
  const rheos__collection *collection = find_collection(graph, key);
  int32_t size = collection != NULL ? (int32_t)collection->count : 0;
  rheos__graph_unlock(graph);
  return size;
}

int32_t rheos_graph_num_collections(rheos_graph *graph) {
  if (graph == NULL) return 0;
  rheos__graph_lock(graph);
  const int32_t count = (int32_t)graph->num_collections;
  rheos__graph_unlock(graph);
  return count;
}

const char *rheos_graph_collection_key(rheos_graph *graph, int32_t index) {
  if (graph == NULL) return NULL;
  rheos__graph_lock(graph);
  const bool exists = index >= 0 && (size_t)index < graph->num_collections;
  const char *key = exists ? graph->collections[index].key : NULL;
  rheos__graph_unlock(graph);
  return key;
}

rheos_item rheos_graph_collection_item(rheos_graph *graph, const char *key, int32_t index) {
  if (graph == NULL || key == NULL) return (rheos_item){0};
  rheos__graph_lock(graph);
  const rheos__collection *collection = find_collection(graph, key);
  rheos_item item = {.id = -1};
  if (collection != NULL && index >= 0 && (size_t)index < collection->count) {
    item = collection->items[index];
  }
  rheos__graph_unlock(graph);
  return item;
}
