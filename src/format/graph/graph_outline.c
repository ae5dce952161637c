// Outlines of graphs: the nodes are walked over twice, to count and to copy what is kept, each into
// one piece of memory.
#include "format/graph/graph_outline.h"

enum { GRAPH_NODE = 1, NODE_NAME = 1, NODE_OP = 2, NODE_INPUT = 3, NODE_DEVICE = 4 };

// A text with a NUL behind it, at `*at`, which moves behind it.
static char *put_text(char **at, rheos__wire text) {
  char *start = *at;
  const size_t size_bytes = rheos__wire_size(text);
  memcpy(start, text.at, size_bytes);
  start[size_bytes] = '\0';
  *at += size_bytes + 1;
  return start;
}

// The message was checked: every field is sound, and texts are bytes.
static rheos_status *read_node(rheos__wire bytes, rheos__arena *arena,
                               Tensorflow__NodeDef **out_node) {
  rheos__wire wire = bytes;
  rheos__wire_field field;
  bool sound;
  size_t num_inputs = 0, text_bytes = 0;
  while (rheos__wire_next(&wire, &field, &sound)) {
    if (field.number > NODE_DEVICE) continue;
    num_inputs += field.number == NODE_INPUT;
    text_bytes += rheos__wire_size(field.data) + 1;
  }
  Tensorflow__NodeDef *node =
      rheos__arena_alloc(arena, sizeof *node + num_inputs * sizeof *node->input + text_bytes);
  if (node == NULL) return rheos__out_of_memory();
  tensorflow__node_def__init(node);
  node->input = (char **)(void *)(node + 1);
  char *text = (char *)(node->input + num_inputs);
  for (wire = bytes; rheos__wire_next(&wire, &field, &sound);) {
    switch (field.number) {
      case NODE_NAME: node->name = put_text(&text, field.data); break;
      case NODE_OP: node->op = put_text(&text, field.data); break;
      case NODE_INPUT: node->input[node->n_input++] = put_text(&text, field.data); break;
      case NODE_DEVICE: node->device = put_text(&text, field.data); break;
      default: break;
    }
  }
  *out_node = node;
  return NULL;
}

static bool is_node(const rheos__wire_field *field) {
  return field->number == GRAPH_NODE && field->type == RHEOS__WIRE_BYTES;
}

static rheos_status *read_nodes(const void *bytes, size_t size_bytes, rheos__arena *arena,
                                Tensorflow__GraphDef *def, const rheos__wire **out_nodes) {
  rheos__wire graph = rheos__wire_of(bytes, size_bytes);
  rheos__wire_field field;
  bool sound;
  size_t count = 0;
  while (rheos__wire_next(&graph, &field, &sound)) count += is_node(&field);
  rheos__wire *nodes = rheos__arena_alloc(arena, count * sizeof *nodes);
  def->node = rheos__arena_alloc(arena, count * sizeof *def->node);
  if (nodes == NULL || def->node == NULL) return rheos__out_of_memory();
  for (graph = rheos__wire_of(bytes, size_bytes); rheos__wire_next(&graph, &field, &sound);) {
    if (!is_node(&field)) continue;
    nodes[def->n_node] = field.data;
    RHEOS_TRY(read_node(field.data, arena, &def->node[def->n_node]));
    def->n_node++;
  }
  *out_nodes = nodes;
  return NULL;
}

// Everything but the nodes, in the arena.
static rheos_status *read_rest(const void *bytes, size_t size_bytes, rheos__arena *arena,
                               Tensorflow__GraphDef **out_def) {
  rheos__wire graph = rheos__wire_of(bytes, size_bytes);
  rheos__wire_field field;
  bool sound;
  rheos__buffer rest = {0};
  size_t rest_bytes = 0;
  for (const char *start = graph.at; rheos__wire_next(&graph, &field, &sound); start = graph.at) {
    if (is_node(&field)) continue;
    rest_bytes += (size_t)(graph.at - start);
    if (rest_bytes > INT32_MAX) break;  // which is no message: before it is copied
    rheos__buffer_put(&rest, start, (size_t)(graph.at - start));
  }
  rheos_status *status =
      rest_bytes > INT32_MAX
          ? rheos_status_new(RHEOS_DATA_LOSS, "a GraphDef has 2 GB or more beside its nodes")
      : rest.failed ? rheos__out_of_memory()
                    : rheos__proto_unpack_checked(
                          &tensorflow__graph_def__descriptor, rest.size_bytes > 0 ? rest.data : "",
                          rest.size_bytes, arena, (ProtobufCMessage **)out_def);
  rheos__buffer_deinit(&rest);  // protobuf-c copies
  return status;
}

rheos_status *rheos__graph_def_outline(const void *bytes, size_t size_bytes, rheos__arena *arena,
                                       const Tensorflow__GraphDef **out_def,
                                       const rheos__wire **out_nodes) {
  Tensorflow__GraphDef *def;
  RHEOS_TRY(rheos__proto_check(&tensorflow__graph_def__descriptor, size_bytes > 0 ? bytes : "",
                               size_bytes));
  RHEOS_TRY(read_rest(bytes, size_bytes, arena, &def));
  RHEOS_TRY(read_nodes(bytes, size_bytes, arena, def, out_nodes));
  *out_def = def;
  return NULL;
}
