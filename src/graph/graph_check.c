// The invariants of a graph, as assertions.
#include "graph/graph_check.h"

#include <assert.h>
#include <string.h>

#include "graph/graph_impl.h"

#ifdef NDEBUG
void rheos__graph_check(const rheos_graph *graph) { (void)graph; }
#else

static void check_edges(const rheos_graph *graph, const rheos__node *node, int32_t num_nodes) {
  for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; ++i) {
    const rheos__edge edge = node->edges[i];
    assert(edge.id >= 0 && edge.id < num_nodes);
    if (i >= node->num_inputs) {
      assert(edge.index == -1);
      continue;
    }
    assert(edge.index >= 0 && edge.index < rheos__graph_node(graph, edge.id)->num_outputs);
  }
}

static void check_outputs(const rheos__node *node) {
  for (int32_t i = 0; i < node->num_outputs; ++i) {
    const rheos_shape *shape = node->outputs[i].shape;
    assert(shape->rank >= -1 && shape->rank <= RHEOS_MAX_RANK);
    for (int32_t d = 0; d < shape->rank; ++d) assert(shape->dims[d] >= -1);
    assert(rheos_dtype_name(node->outputs[i].dtype) != NULL);
  }
}

// A name is of one node, and is found by its text.
static void check_name(const rheos_graph *graph, const rheos__node *node, int32_t id) {
  assert(node->name > 0 && node->name < graph->names.count);
  const rheos__name_entry *entry = &graph->names.entries[node->name];
  assert(entry->node == id && entry->parent < graph->names.count);
  char *text = rheos__node_name(graph, node);
  if (text == NULL) return;  // memory is short
  assert(rheos__names_find(&graph->names, text, strlen(text)) == node->name);
  assert(rheos__names_is_used(&graph->names, text, strlen(text)));
  rheos__free(text);
}

static void check_set(const rheos__intern_set *set) {
  assert((set->num_slots & (set->num_slots - 1)) == 0 && set->count * 2 <= set->num_slots);
  size_t count = 0;
  for (size_t i = 0; i < set->num_slots; ++i) count += set->slots[i] != NULL;
  assert(count == set->count);
}

void rheos__graph_check(const rheos_graph *graph) {
  const int32_t num_nodes = rheos_graph_num_operations(graph);
  assert((size_t)num_nodes <= graph->num_chunks * RHEOS__CHUNK_NODES);
  assert(graph->num_chunks <= graph->directory_capacity);
  for (int32_t id = 0; id < num_nodes; ++id) {
    const rheos__node *node = rheos__graph_node(graph, id);
    assert(node->signature != NULL && node->attrs != NULL && node->device != NULL);
    assert(node->source_file == 0 || node->source_file < graph->strings.count);
    check_edges(graph, node, num_nodes);
    check_outputs(node);
    check_name(graph, node, id);
  }
  check_set(&graph->shapes);
  check_set(&graph->attr_sets);
  check_set(&graph->own_ops);
}

#endif  // NDEBUG
