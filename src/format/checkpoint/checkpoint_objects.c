// The names of variables in checkpoints that TensorFlow 2 wrote by objects: they stand in a
// TrackableObjectGraph message, which is a tensor of the checkpoint.
#include <rheos/format.h>

#include <stdlib.h>

#include "format/message/protobuf.h"
#include "objects.pb-c.h"
#include "tensor/tensor.h"

static const char GRAPH_KEY[] = "_CHECKPOINTABLE_OBJECT_GRAPH";

static int compare_names(const void *a, const void *b) {
  const rheos_object_name *one = a, *other = b;
  const int order = strcmp(one->full_name, other->full_name);
  return order != 0 ? order : strcmp(one->key, other->key);
}

static bool is_named(const Tensorflow__TrackableObjectGraph__TrackableObject__SerializedTensor *a) {
  return a->full_name[0] != '\0';
}

// The entries, and behind them their texts.
static rheos_status *fill_names(const Tensorflow__TrackableObjectGraph *graph,
                                rheos_object_name **out_names, size_t *out_count) {
  size_t count = 0, text_bytes = 0, size_bytes;
  for (size_t i = 0; i < graph->n_nodes; i++) {
    for (size_t k = 0; k < graph->nodes[i]->n_attributes; k++) {
      if (!is_named(graph->nodes[i]->attributes[k])) continue;
      count++;
      text_bytes += strlen(graph->nodes[i]->attributes[k]->full_name) +
                    strlen(graph->nodes[i]->attributes[k]->checkpoint_key) + 2;
    }
  }
  if (count == 0) return NULL;
  if (!rheos__mul_size(count, sizeof **out_names, &size_bytes) ||
      !rheos__add_size(size_bytes, text_bytes, &size_bytes)) {
    return rheos__out_of_memory();
  }
  rheos_object_name *names = rheos__alloc(size_bytes);
  if (names == NULL) return rheos__out_of_memory();
  char *text = (char *)(names + count);
  size_t at = 0;
  for (size_t i = 0; i < graph->n_nodes; i++) {
    for (size_t k = 0; k < graph->nodes[i]->n_attributes; k++) {
      if (!is_named(graph->nodes[i]->attributes[k])) continue;
      const char *const texts[] = {graph->nodes[i]->attributes[k]->full_name,
                                   graph->nodes[i]->attributes[k]->checkpoint_key};
      names[at++] = (rheos_object_name){text, text + strlen(texts[0]) + 1};
      for (int t = 0; t < 2; t++) {
        const size_t bytes = strlen(texts[t]) + 1;
        memcpy(text, texts[t], bytes);
        text += bytes;
      }
    }
  }
  qsort(names, count, sizeof *names, compare_names);
  *out_names = names;
  *out_count = count;
  return NULL;
}

rheos_status *rheos_checkpoint_reader_object_names(rheos_checkpoint_reader *reader,
                                                   rheos_object_name **out_names,
                                                   size_t *out_count) {
  RHEOS_OUT(out_names);
  RHEOS_OUT(out_count);
  RHEOS_NEED(reader);
  size_t index;
  if (!rheos_checkpoint_reader_find(reader, GRAPH_KEY, &index)) return NULL;
  rheos_tensor *tensor;
  RHEOS_TRY(rheos_checkpoint_reader_read(reader, index, &tensor));
  rheos_status *status = NULL;
  if (tensor->dtype == RHEOS_STRING && tensor->num_elements == 1) {
    const rheos_string *bytes = (const rheos_string *)tensor->data;
    rheos__arena arena;
    rheos__arena_init(&arena);
    Tensorflow__TrackableObjectGraph *graph;
    status =
        RHEOS_PROTO_UNPACK(trackable_object_graph, bytes->data, bytes->size_bytes, &arena, &graph);
    if (status == NULL) status = fill_names(graph, out_names, out_count);
    rheos__arena_deinit(&arena);
  }
  rheos_tensor_unref(tensor);
  return status;
}
