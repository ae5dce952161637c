// The needed nodes of a graph, with what feeds and fetches become. See graph_cut.h.
#include "format/partition/graph_cut.h"

#include <assert.h>
#include <string.h>

#include "base/file.h"
#include "format/partition/cut_impl.h"
#include "resource/rendezvous.h"

// ---- Nodes

static const char *format(rheos__cutter *c, char *text) {
  const char *kept = text != NULL ? rheos__arena_strdup(&c->arena, text) : NULL;
  rheos__free(text);
  if (kept == NULL) c->failed = true;
  return kept != NULL ? kept : "";
}

const char *rheos__cut_new_name(rheos__cutter *c, const char *prefix, const char *text) {
  for (;;) {
    const char *name =
        format(c, rheos__text_format("%s%s_S%lld", prefix, text, (long long)c->last_number++));
    if (c->failed || rheos_graph_operation(c->graph, name).graph == NULL) return name;
  }
}

const char *rheos__cut_name_of(rheos__cutter *c, int32_t number) {
  if (c->nodes[number].name != NULL) return c->nodes[number].name;
  return format(c, rheos__node_name(c->graph, rheos__cut_graph_node(c, number)));
}

int32_t rheos__cut_add(rheos__cutter *c, const char *name, const char *op, rheos__flow_role role,
                       int32_t device) {
  if (!RHEOS_RESERVE(c->nodes, c->node_capacity, (size_t)c->num_nodes + 1) ||
      !RHEOS_RESERVE(c->order, c->order_capacity, (size_t)c->num_order + 1)) {
    c->failed = true;
    return 0;
  }
  c->nodes[c->num_nodes] = (rheos__cut_node){.is_needed = true,
                                             .name = name,
                                             .op = op,
                                             .role = role,
                                             .device = device,
                                             .dtype = RHEOS_FLOAT,
                                             .control_merge = -1};
  c->order[c->num_order++] = c->num_nodes;
  return c->num_nodes++;
}

void rheos__cut_set_attr(rheos__cutter *c, int32_t number, rheos_attr attr) {
  if (c->failed) return;
  rheos__cut_node *node = &c->nodes[number];
  assert(node->num_attrs < sizeof node->attrs / sizeof node->attrs[0]);
  node->attrs[node->num_attrs++] = attr;
}

void rheos__cut_add_edge(rheos__cutter *c, int32_t number, rheos__edge edge) {
  if (c->failed) return;
  rheos__cut_node *node = &c->nodes[number];
  if (!RHEOS_RESERVE(node->edges, node->edge_capacity, node->num_edges + 1)) {
    c->failed = true;
    return;
  }
  assert(edge.index < 0 || node->num_inputs == node->num_edges);
  node->edges[node->num_edges++] = edge;
  if (edge.index >= 0) ++node->num_inputs;
}

int32_t rheos__cut_add_nothing(rheos__cutter *c, const char *name, int32_t device) {
  rheos_tensor *empty = NULL;
  rheos_status *status = rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(0), &empty);
  if (status != NULL) {
    rheos_status_free(status);
    c->failed = true;
    return 0;
  }
  const int32_t number = rheos__cut_add(c, name, "Const", RHEOS__FLOW_NONE, device);
  rheos__cut_set_attr(c, number, rheos_attr_type("dtype", RHEOS_FLOAT));
  rheos__cut_set_attr(c, number, rheos_attr_tensor("value", empty));
  if (c->failed) rheos_tensor_unref(empty);
  return number;
}

rheos_dtype rheos__cut_dtype(const rheos__cutter *c, rheos__edge edge) {
  if (edge.id >= c->num_graph_nodes) return c->nodes[edge.id].dtype;
  return rheos__cut_graph_node(c, edge.id)->outputs[edge.index].dtype;
}

bool rheos__cut_is_way_back(const rheos__cutter *c, int32_t number, size_t input) {
  const rheos__cut_node *node = &c->nodes[number];
  if (node->role != RHEOS__FLOW_MERGE || input >= node->num_inputs) return false;
  return c->nodes[node->edges[input].id].role == RHEOS__FLOW_NEXT_ITERATION;
}

// ---- What is needed

// The feed that gives the edge, -1: none does. A node that is fed has no control edges: nobody
// waits for it.
static int32_t feed_of(const rheos__cutter *c, rheos__edge edge) {
  for (int32_t i = 0; i < c->cut->num_feeds; ++i) {
    const rheos__edge feed = c->cut->feeds[i];
    if (feed.id == edge.id && (feed.index == edge.index || edge.index < 0)) return i;
  }
  return -1;
}

typedef struct walk {
  struct {
    int32_t id, next;
  } *stack;
  size_t stack_capacity, depth;
  int32_t *later;  // where loops go back from
  size_t later_capacity, num_later;
} walk;

static bool push(rheos__cutter *c, walk *w, int32_t id) {
  if (c->nodes[id].is_needed) return true;
  if (!RHEOS_RESERVE(w->stack, w->stack_capacity, w->depth + 1)) return false;
  c->nodes[id].is_needed = true;
  w->stack[w->depth].id = id;
  w->stack[w->depth++].next = 0;
  return true;
}

static bool is_back(const rheos__cutter *c, const rheos__node *node, int32_t input) {
  if (node->signature->op->flow != RHEOS__FLOW_MERGE || input >= node->num_inputs) return false;
  const rheos__node *from = rheos__cut_graph_node(c, node->edges[input].id);
  return from->signature->op->flow == RHEOS__FLOW_NEXT_ITERATION;
}

static bool note_later(walk *w, int32_t id) {
  if (!RHEOS_RESERVE(w->later, w->later_capacity, w->num_later + 1)) return false;
  w->later[w->num_later++] = id;
  return true;
}

static bool walk_from(rheos__cutter *c, walk *w, int32_t root) {
  if (!push(c, w, root)) return false;
  while (w->depth > 0) {
    const int32_t id = w->stack[w->depth - 1].id, i = w->stack[w->depth - 1].next++;
    const rheos__node *node = rheos__cut_graph_node(c, id);
    if (i == node->num_inputs + node->num_control_inputs) {
      c->order[c->num_order++] = id;
      --w->depth;
      continue;
    }
    const rheos__edge edge = node->edges[i];
    if (feed_of(c, edge) >= 0) continue;
    if (!(is_back(c, node, i) ? note_later(w, edge.id) : push(c, w, edge.id))) return false;
  }
  return true;
}

static bool walk_all(rheos__cutter *c, walk *w) {
  for (int32_t i = 0; i < c->cut->num_fetches; ++i) {
    const rheos__edge fetch = c->cut->fetches[i];
    if (feed_of(c, fetch) < 0 && !walk_from(c, w, fetch.id)) return false;
  }
  for (int32_t i = 0; i < c->cut->num_targets; ++i) {
    if (!walk_from(c, w, c->cut->targets[i])) return false;
  }
  while (w->num_later > 0) {
    if (!walk_from(c, w, w->later[--w->num_later])) return false;
  }
  return true;
}

static void copy_node(rheos__cutter *c, int32_t id) {
  const rheos__node *node = rheos__cut_graph_node(c, id);
  rheos__cut_node *copy = &c->nodes[id];
  copy->op = node->signature->op->name;
  copy->role = node->signature->op->flow;
  copy->device = c->cut->device_of[id];
  copy->control_merge = -1;
  for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; ++i) {
    if (node->edges[i].index >= 0 || feed_of(c, node->edges[i]) < 0) {
      rheos__cut_add_edge(c, id, node->edges[i]);
    }
  }
}

static rheos_status *find_needed(rheos__cutter *c) {
  const size_t count = (size_t)c->num_graph_nodes;
  if (!RHEOS_RESERVE(c->nodes, c->node_capacity, count) ||
      !RHEOS_RESERVE(c->order, c->order_capacity, count)) {
    return rheos__out_of_memory();
  }
  for (size_t i = 0; i < count; ++i) c->nodes[i] = (rheos__cut_node){0};
  c->num_nodes = c->num_graph_nodes;
  walk w = {0};
  const bool is_done = walk_all(c, &w);
  rheos__free(w.stack);
  rheos__free(w.later);
  if (!is_done) return rheos__out_of_memory();
  for (int32_t i = 0; i < c->num_order; ++i) copy_node(c, c->order[i]);
  return c->failed ? rheos__out_of_memory() : NULL;
}

// ---- Feeds and fetches

static const char *tensor_name(rheos__cutter *c, rheos__edge edge) {
  return format(c, rheos__text_format("%s:%d", rheos__cut_name_of(c, edge.id), edge.index));
}

// A _Recv or _Send whose other end is the caller. As TensorFlow's workers have it, both ends are
// the device where the node is: a worker refuses keys of others' devices.
static int32_t add_end(rheos__cutter *c, const char *op, const char *prefix, rheos__edge edge,
                       const char *dtype_attr) {
  const int32_t device = c->cut->device_of[edge.id];
  const rheos__cut_device *here = &c->cut->devices[device];
  const char *name = tensor_name(c, edge);
  const rheos_dtype dtype = rheos_dtype_base(rheos__cut_dtype(c, edge));
  const int32_t number =
      rheos__cut_add(c, rheos__cut_new_name(c, prefix, rheos__cut_name_of(c, edge.id)), op,
                     RHEOS__FLOW_NONE, device);
  if (c->failed) return 0;
  c->nodes[number].dtype = dtype;
  rheos__cut_set_attr(c, number, rheos_attr_bool("client_terminated", true));
  rheos__cut_set_attr(c, number, rheos_attr_string("recv_device", here->name, strlen(here->name)));
  rheos__cut_set_attr(c, number, rheos_attr_string("send_device", here->name, strlen(here->name)));
  rheos__cut_set_attr(c, number,
                      rheos_attr_int("send_device_incarnation", (int64_t)here->incarnation));
  rheos__cut_set_attr(c, number, rheos_attr_string("tensor_name", name, strlen(name)));
  rheos__cut_set_attr(c, number, rheos_attr_type(dtype_attr, dtype));
  return number;
}

static void note_end(rheos__cutter *c, int32_t index, rheos__edge edge, rheos__part_end **ends,
                     size_t *count, size_t *capacity) {
  const rheos__cut_device *here = &c->cut->devices[c->cut->device_of[edge.id]];
  if (c->failed || !RHEOS_RESERVE(*ends, *capacity, *count + 1)) {
    c->failed = true;
    return;
  }
  char *key =
      rheos__rendezvous_key(here->name, here->incarnation, here->name, tensor_name(c, edge), 0, 0);
  if (key == NULL) {
    c->failed = true;
    return;
  }
  (*ends)[(*count)++] = (rheos__part_end){index, key};
}

static rheos__cut_part *part_of(const rheos__cutter *c, int32_t id) {
  return &c->parts[c->cut->devices[c->cut->device_of[id]].part];
}

// What takes the feed takes what is received in its place.
static void add_feed(rheos__cutter *c, int32_t feed, int32_t num_takers) {
  const rheos__edge edge = c->cut->feeds[feed];
  int32_t number = -1;
  for (int32_t i = 0; i < num_takers && !c->failed; ++i) {
    const int32_t taker = c->order[i];
    for (size_t k = 0; k < c->nodes[taker].num_inputs && !c->failed; ++k) {
      const rheos__edge input = c->nodes[taker].edges[k];
      if (input.id != edge.id || input.index != edge.index) continue;
      if (number < 0) number = add_end(c, "_Recv", "_recv_", edge, "tensor_type");
      if (!c->failed) c->nodes[taker].edges[k] = (rheos__edge){number, 0};
    }
  }
  if (number < 0) return;
  rheos__cut_part *part = part_of(c, edge.id);
  note_end(c, feed, edge, &part->feeds, &part->num_feeds, &part->feed_capacity);
}

static void add_fetch(rheos__cutter *c, int32_t fetch) {
  const rheos__edge edge = c->cut->fetches[fetch];
  if (feed_of(c, edge) >= 0) return;  // the caller has it
  for (int32_t i = 0; i < fetch; ++i) {
    const rheos__edge other = c->cut->fetches[i];
    if (other.id == edge.id && other.index == edge.index) return;  // it is sent already
  }
  const int32_t number = add_end(c, "_Send", "_send_", edge, "T");
  rheos__cut_add_edge(c, number, edge);
  rheos__cut_part *part = part_of(c, edge.id);
  note_end(c, fetch, edge, &part->fetches, &part->num_fetches, &part->fetch_capacity);
}

// ---- The whole

static rheos_status *cut_all(rheos__cutter *c) {
  RHEOS_TRY(find_needed(c));
  const int32_t num_takers = c->num_order;
  for (int32_t i = 0; i < c->cut->num_fetches; ++i) add_fetch(c, i);
  for (int32_t i = 0; i < c->cut->num_feeds; ++i) add_feed(c, i, num_takers);
  if (c->failed) return rheos__out_of_memory();
  RHEOS_TRY(rheos__cut_loops(c));
  return rheos__cut_write(c);
}

void rheos__cut_part_deinit(rheos__cut_part *part) {
  rheos__free(part->graph_def);
  for (size_t i = 0; i < part->num_feeds; ++i) rheos__free(part->feeds[i].key);
  for (size_t i = 0; i < part->num_fetches; ++i) rheos__free(part->fetches[i].key);
  rheos__free(part->feeds);
  rheos__free(part->fetches);
  *part = (rheos__cut_part){0};
}

static void deinit(rheos__cutter *c) {
  for (int32_t i = 0; i < c->num_nodes; ++i) {
    rheos__cut_node *node = &c->nodes[i];
    for (size_t k = 0; k < node->num_attrs; ++k) rheos__attr_release(&node->attrs[k].value);
    rheos__free(node->edges);
  }
  rheos__free(c->nodes);
  rheos__free(c->order);
  rheos__free(c->frames);
  rheos__arena_deinit(&c->arena);
}

rheos_status *rheos__graph_cut(rheos_graph *graph, const rheos__cut *cut,
                               rheos__cut_part *out_parts) {
  for (int32_t i = 0; i < cut->num_parts; ++i) out_parts[i] = (rheos__cut_part){0};
  rheos__cutter c = {.graph = graph, .cut = cut, .parts = out_parts};
  c.num_graph_nodes = rheos_graph_num_operations(graph);
  rheos__arena_init(&c.arena);
  rheos__graph_begin_reading(graph);
  rheos_status *status = cut_all(&c);
  rheos__graph_end_reading(graph);
  deinit(&c);
  for (int32_t i = 0; status != NULL && i < cut->num_parts; ++i) {
    rheos__cut_part_deinit(&out_parts[i]);
  }
  return status;
}
