// The order of effects in a function's body: that of the program, by control inputs. A pass over the nodes
// in their order keeps, of each resource, who wrote it last and who has read it since.
#include "graph/effect_order.h"

#include <rheos/control_flow.h>

#include "graph/graph_impl.h"

typedef struct reader {
  int32_t id, next;  // next: of the same resource, -1 for none
} reader;

typedef struct order {
  rheos_graph *graph;
  int32_t num_nodes;
  int32_t *writers, *readers;  // of each node as what gives a resource: a node id, an index; or -1
  reader *all_readers;
  size_t readers_capacity, num_readers;
  int32_t last_stateful;  // of what has effects on no resource
  int32_t *waits;         // whom the node at hand has to wait for
  size_t waits_capacity, num_waits;
} order;

static unsigned flags_of(const rheos__node *node) { return node->signature->op->flags; }

static bool is_cell(rheos_dtype dtype) {
  return dtype == RHEOS_RESOURCE || rheos_dtype_is_ref(dtype);
}

static rheos_dtype edge_dtype(const rheos_graph *graph, rheos__edge edge) {
  return rheos__graph_node(graph, edge.id)->outputs[edge.index].dtype;
}

// The node that gives the resource: what passes its first input on is looked through.
static int32_t origin(const rheos_graph *graph, rheos__edge edge) {
  for (;;) {
    const rheos__node *node = rheos__graph_node(graph, edge.id);
    if (edge.index != 0 || node->num_inputs == 0 || (flags_of(node) & RHEOS_OP_CALLS) != 0) {
      return edge.id;
    }
    const rheos_dtype dtype = edge_dtype(graph, node->edges[0]);
    if (dtype != edge_dtype(graph, edge) || node->edges[0].id >= edge.id) return edge.id;
    edge = node->edges[0];
  }
}

// What is made in a branch or loop of version 1 is dead, or elsewhere, for what is not.
static bool in_same_context(const order *o, int32_t a, int32_t b) {
  if (o->graph->contexts.count == 0) return true;
  return rheos_operation_control_context((rheos_operation){o->graph, a}) ==
         rheos_operation_control_context((rheos_operation){o->graph, b});
}

static bool add_wait(order *o, int32_t waits, int32_t id) {
  if (id < 0 || !in_same_context(o, waits, id)) return true;
  for (size_t i = 0; i < o->num_waits; i++) {
    if (o->waits[i] == id) return true;
  }
  if (!RHEOS_RESERVE(o->waits, o->waits_capacity, o->num_waits + 1)) return false;
  o->waits[o->num_waits++] = id;
  return true;
}

static bool note_read(order *o, int32_t cell, int32_t id) {
  if (!RHEOS_RESERVE(o->all_readers, o->readers_capacity, o->num_readers + 1)) return false;
  o->all_readers[o->num_readers] = (reader){id, o->readers[cell]};
  o->readers[cell] = (int32_t)o->num_readers++;
  return true;
}

static bool note_write(order *o, int32_t cell, int32_t id) {
  for (int32_t r = o->readers[cell]; r >= 0; r = o->all_readers[r].next) {
    if (o->all_readers[r].id != id && !add_wait(o, id, o->all_readers[r].id)) return false;
  }
  o->readers[cell] = -1;
  o->writers[cell] = id;
  return true;
}

// What the node does to the resources that it takes. False when memory is short.
static bool visit_resources(order *o, int32_t id, bool *out_any) {
  const rheos__node *node = rheos__graph_node(o->graph, id);
  const bool only_reads = (flags_of(node) & RHEOS_OP_ONLY_READS) != 0;
  *out_any = false;
  for (int32_t i = 0; i < node->num_inputs; i++) {
    if (!is_cell(edge_dtype(o->graph, node->edges[i]))) continue;
    const int32_t cell = origin(o->graph, node->edges[i]);
    *out_any = true;
    if (o->writers[cell] != id && !add_wait(o, id, o->writers[cell])) return false;
    if (!(only_reads ? note_read(o, cell, id) : note_write(o, cell, id))) return false;
  }
  return true;
}

bool rheos__is_ordered(const rheos__node *node) {
  const unsigned quiet = RHEOS_OP_ARG | RHEOS_OP_RETVAL | RHEOS_OP_PLACEHOLDER;
  const unsigned flags = flags_of(node);
  if ((flags & quiet) != 0 || (flags & (RHEOS_OP_STATEFUL | RHEOS_OP_WRITES)) == 0) return false;
  // What only gives a handle does nothing to what is behind it.
  return node->num_inputs > 0 || node->num_outputs == 0 || !is_cell(node->outputs[0].dtype);
}

// Draws of random numbers do not see each other.
static bool draws(const rheos__node *node) {
  return rheos__attrs_find(node->attrs, "seed2") != NULL;
}

static bool visit(order *o, int32_t id) {
  const rheos__node *node = rheos__graph_node(o->graph, id);
  if (node->num_inputs > 0 && node->num_outputs > 0 && is_cell(node->outputs[0].dtype) &&
      origin(o->graph, (rheos__edge){id, 0}) != id) {
    return true;  // it only passes a resource on
  }
  bool takes_resources;
  o->num_waits = 0;
  if (!visit_resources(o, id, &takes_resources)) return false;
  if (!takes_resources && rheos__is_ordered(node) && !draws(node)) {
    if (!add_wait(o, id, o->last_stateful)) return false;
    o->last_stateful = id;
  }
  return rheos__graph_add_controls(o->graph, id, o->waits, o->num_waits);
}

static bool init(order *o, rheos_graph *graph) {
  const int32_t count = rheos_graph_num_operations(graph);
  *o = (order){.graph = graph, .num_nodes = count, .last_stateful = -1};
  o->writers = rheos__alloc_array((size_t)count + 1, sizeof *o->writers);
  o->readers = rheos__alloc_array((size_t)count + 1, sizeof *o->readers);
  if (o->writers == NULL || o->readers == NULL) return false;
  for (int32_t id = 0; id < count; id++) o->writers[id] = o->readers[id] = -1;
  return true;
}

static void deinit(order *o) {
  rheos__free(o->writers);
  rheos__free(o->readers);
  rheos__free(o->all_readers);
  rheos__free(o->waits);
}

rheos_status *rheos__order_effects(rheos_graph *graph, int32_t first) {
  order o;
  rheos__graph_lock(graph);
  bool whole = init(&o, graph);
  for (int32_t id = first < 0 ? 0 : first; whole && id < o.num_nodes; id++) whole = visit(&o, id);
  rheos__graph_unlock(graph);
  deinit(&o);
  return whole ? NULL : rheos__out_of_memory();
}
