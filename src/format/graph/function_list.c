// The functions of a graph's library, as programs ask for them: those of files, then those that
// were made.
#include <rheos/format.h>

#include <string.h>

#include "format/graph/function_export.h"
#include "format/graph/graph_extras.h"

// The index'th function of a file that is still there; NULL past the end, with how many there are.
static const rheos__extra *read_at(rheos_graph *graph, size_t index, size_t *out_count) {
  const rheos__graph_extras *extras = rheos__graph_format_slot(graph)->data;
  *out_count = 0;
  for (size_t i = 0; extras != NULL && i < extras->num_functions; i++) {
    if (extras->function_list[i].size_bytes == 0) continue;  // it was removed
    if ((*out_count)++ == index) return &extras->function_list[i];
  }
  return NULL;
}

static size_t count_made(rheos_graph *graph) {
  size_t count = 0;
  while (rheos__library_made_at(graph, count) != NULL) count++;
  return count;
}

size_t rheos_graph_num_functions(rheos_graph *graph) {
  if (graph == NULL) return 0;
  graph = rheos__library_graph(graph);
  rheos__graph_lock(graph);
  size_t count;
  read_at(graph, SIZE_MAX, &count);
  count += count_made(graph);
  rheos__graph_unlock(graph);
  return count;
}

static const char *name_at(rheos_graph *graph, size_t index) {
  size_t num_read;
  const rheos__extra *read = read_at(graph, index, &num_read);
  if (read != NULL) return read->name;
  const rheos__made_function *made = rheos__library_made_at(graph, index - num_read);
  return made != NULL ? made->function.name : NULL;
}

const char *rheos_graph_function_name(rheos_graph *graph, size_t index) {
  if (graph == NULL) return NULL;
  graph = rheos__library_graph(graph);
  rheos__graph_lock(graph);
  const char *name = name_at(graph, index);
  rheos__graph_unlock(graph);
  return name;
}

const char *rheos_graph_function_gradient(rheos_graph *graph, const char *name) {
  if (graph == NULL || name == NULL) return NULL;
  graph = rheos__library_graph(graph);
  rheos__graph_lock(graph);
  const char *gradient = rheos__library_gradient_of(graph, name);
  rheos__graph_unlock(graph);
  return gradient;
}

static rheos_status *put_function(rheos_graph *graph, const char *name, rheos__buffer *buffer) {
  const rheos__graph_extras *extras = rheos__graph_format_slot(graph)->data;
  const rheos__extra *read = extras != NULL ? rheos__find_function(extras, name) : NULL;
  if (read != NULL) {
    rheos__buffer_put(buffer, extras->functions.data + read->at, read->size_bytes);
    return NULL;
  }
  const rheos__made_function *made = rheos__library_find_made(graph, name);
  if (made == NULL) return RHEOS_NOTFOUND("the library has no function '%s'", name);
  return rheos__made_function_to_bytes(made, buffer);
}

rheos_status *rheos_graph_function_def(rheos_graph *graph, const char *name, void **out_bytes,
                                       size_t *out_size_bytes) {
  RHEOS_OUT(out_bytes);
  RHEOS_OUT(out_size_bytes);
  RHEOS_NEED(graph, name);
  graph = rheos__library_graph(graph);
  rheos__buffer buffer = {0};
  rheos__graph_lock(graph);
  rheos_status *status = put_function(graph, name, &buffer);
  rheos__graph_unlock(graph);
  if (status == NULL && buffer.failed) status = rheos__out_of_memory();
  if (status != NULL) {
    rheos__buffer_deinit(&buffer);
    return status;
  }
  *out_bytes = buffer.data;
  *out_size_bytes = buffer.size_bytes;
  return NULL;
}
