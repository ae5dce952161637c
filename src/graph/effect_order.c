// The order of effects in a function's body: that of the program, by control inputs. A pass over
// the nodes in their order keeps, of each resource, who wrote it last and who has read it since,
// and who had the last loose effect, which is on no resource. Such a one waits for the writes
// before it, so that a failed assertion leaves what the program did before, and writes wait for it.
#include "graph/effect_order.h"

#include <rheos/control_flow.h>

#include "graph/graph_impl.h"
#include "graph/library.h"

typedef struct reader {
  int32_t id, next;  // next: of the same resource, -1 for none
} reader;

typedef struct order {
  rheos_graph *graph;
  int32_t num_nodes;
  int32_t *writers, *readers;  // of each node as what gives a resource: a node id, an index; or -1
  reader *all_readers;
  size_t readers_capacity, num_readers;
  int32_t last_loose;  // of what has loose effects
  int32_t *writes;     // of resources, since then
  size_t writes_capacity, num_writes;
  int32_t *waits;  // whom the node at hand has to wait for
  size_t waits_capacity, num_waits;
  bool *is_loose;       // of each node, whether it has loose effects
  int32_t *iterates;    // of each node as what gives a resource: who made that an iterator, or -1
  int32_t *reached_by;  // of each node, whose datasets it was found to be part of last
  int32_t *pipeline;    // stages to look at
  size_t pipeline_capacity, num_pipeline;
  int32_t *waited_by;  // of each node, who was given a wait for it last
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
  if (o->waited_by[id] == waits) return true;
  o->waited_by[id] = waits;
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
  if (o->num_writes > 0 && o->writes[o->num_writes - 1] == id) return true;
  if (!RHEOS_RESERVE(o->writes, o->writes_capacity, o->num_writes + 1)) return false;
  o->writes[o->num_writes++] = id;
  return add_wait(o, id, o->last_loose);
}

static bool visit_cell(order *o, int32_t id, int32_t cell, bool only_reads) {
  if (o->writers[cell] != id && !add_wait(o, id, o->writers[cell])) return false;
  return only_reads ? note_read(o, cell, id) : note_write(o, cell, id);
}

// Whether the functions that the node calls are a dataset's, which run when its elements are asked
// for.
static bool keeps_functions(const rheos__node *node) {
  const unsigned keeps = RHEOS_OP_CALLS | RHEOS_OP_TAKES_VARIANTS;
  return (flags_of(node) & keeps) == keeps && node->num_outputs > 0 &&
         node->outputs[0].dtype == RHEOS_VARIANT;
}

static bool push_pipeline(order *o, int32_t id, int32_t producer) {
  if (o->reached_by[producer] == id) return true;
  o->reached_by[producer] = id;
  const rheos__node *node = rheos__graph_node(o->graph, producer);
  const unsigned lists = RHEOS_OP_MAKES_LIST | RHEOS_OP_CHANGES_LIST;
  if ((flags_of(node) & lists) != 0) return true;
  if ((flags_of(node) & RHEOS_OP_CALLS) != 0 && !keeps_functions(node)) return true;
  if (!RHEOS_RESERVE(o->pipeline, o->pipeline_capacity, o->num_pipeline + 1)) return false;
  o->pipeline[o->num_pipeline++] = producer;
  return true;
}

// What asks for elements of datasets does what the functions of these may do to the resources that
// they captured. `consumer`: the node that takes the datasets.
static bool visit_pipelines(order *o, int32_t id, int32_t consumer) {
  const rheos__node *node = rheos__graph_node(o->graph, consumer);
  for (int32_t i = 0; i < node->num_inputs; i++) {
    if (edge_dtype(o->graph, node->edges[i]) != RHEOS_VARIANT) continue;
    if (!push_pipeline(o, id, node->edges[i].id)) return false;
  }
  while (o->num_pipeline > 0) {
    const rheos__node *stage = rheos__graph_node(o->graph, o->pipeline[--o->num_pipeline]);
    for (int32_t i = 0; i < stage->num_inputs; i++) {
      const rheos__edge edge = stage->edges[i];
      const rheos_dtype dtype = edge_dtype(o->graph, edge);
      if (dtype == RHEOS_VARIANT && !push_pipeline(o, id, edge.id)) return false;
      if (is_cell(dtype) && !visit_cell(o, id, origin(o->graph, edge), false)) return false;
    }
  }
  return true;
}

// What is given a dataset with a resource makes that an iterator over it.
static void note_iterator(order *o, const rheos__node *node, int32_t id) {
  for (int32_t i = 0; i < node->num_inputs; i++) {
    if (!is_cell(edge_dtype(o->graph, node->edges[i]))) continue;
    o->iterates[origin(o->graph, node->edges[i])] = id;
  }
}

// What the node does to the resources that it takes. False when memory is short.
static bool visit_resources(order *o, int32_t id) {
  const rheos__node *node = rheos__graph_node(o->graph, id);
  if (keeps_functions(node)) return true;
  const bool only_reads = (flags_of(node) & RHEOS_OP_ONLY_READS) != 0;
  bool takes_datasets = false, takes_cells = false;
  for (int32_t i = 0; i < node->num_inputs; i++) {
    const rheos_dtype dtype = edge_dtype(o->graph, node->edges[i]);
    takes_datasets = takes_datasets || dtype == RHEOS_VARIANT;
    if (!is_cell(dtype)) continue;
    takes_cells = true;
    const int32_t cell = origin(o->graph, node->edges[i]);
    if (!visit_cell(o, id, cell, only_reads)) return false;
    if (o->iterates[cell] >= 0 && !visit_pipelines(o, id, o->iterates[cell])) return false;
  }
  const bool calls = (flags_of(node) & RHEOS_OP_CALLS) != 0;
  const bool passes_on = node->num_outputs > 0 && node->outputs[0].dtype == RHEOS_VARIANT;
  if (!takes_datasets || (!calls && passes_on)) return true;
  if (takes_cells && !calls) note_iterator(o, node, id);
  return visit_pipelines(o, id, id);
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

bool rheos__has_loose_effects(const rheos_graph *graph, const rheos__node *node) {
  if (!rheos__is_ordered(node) || draws(node)) return false;
  for (int32_t i = 0; i < node->num_inputs; i++) {
    if (is_cell(edge_dtype(graph, node->edges[i]))) return false;
  }
  return true;
}

bool rheos__meets_others(const rheos__node *node) {
  return rheos__attrs_find(node->attrs, "timeout_seconds") != NULL;
}

// Of a call, what its function has.
static bool is_loose(const order *o, const rheos__node *node) {
  if (rheos__meets_others(node)) return false;  // they may be in the same body
  if (rheos__has_loose_effects(o->graph, node)) return true;
  return (flags_of(node) & RHEOS_OP_CALLS) != 0 && rheos__is_ordered(node) &&
         (rheos__node_holds(o->graph, node) & RHEOS__HAS_LOOSE_EFFECTS) != 0;
}

static bool visit_loose(order *o, int32_t id) {
  if (!add_wait(o, id, o->last_loose)) return false;
  for (size_t i = 0; i < o->num_writes; i++) {
    if (o->writes[i] != id && !add_wait(o, id, o->writes[i])) return false;
  }
  o->num_writes = 0;
  o->last_loose = id;
  return true;
}

static bool visit(order *o, int32_t id) {
  const rheos__node *node = rheos__graph_node(o->graph, id);
  if (node->num_inputs > 0 && node->num_outputs > 0 && is_cell(node->outputs[0].dtype) &&
      origin(o->graph, (rheos__edge){id, 0}) != id) {
    return true;  // it only passes a resource on
  }
  o->num_waits = 0;
  if (!visit_resources(o, id)) return false;
  if (o->is_loose[id] && !visit_loose(o, id)) return false;
  return rheos__graph_add_controls(o->graph, id, o->waits, o->num_waits);
}

static bool init(order *o, rheos_graph *graph) {
  const int32_t count = rheos_graph_num_operations(graph);
  *o = (order){.graph = graph, .num_nodes = count, .last_loose = -1};
  o->writers = rheos__alloc_array((size_t)count + 1, sizeof *o->writers);
  o->readers = rheos__alloc_array((size_t)count + 1, sizeof *o->readers);
  o->waited_by = rheos__alloc_array((size_t)count + 1, sizeof *o->waited_by);
  o->is_loose = rheos__alloc_array((size_t)count + 1, sizeof *o->is_loose);
  o->iterates = rheos__alloc_array((size_t)count + 1, sizeof *o->iterates);
  o->reached_by = rheos__alloc_array((size_t)count + 1, sizeof *o->reached_by);
  if (o->writers == NULL || o->readers == NULL || o->waited_by == NULL || o->is_loose == NULL ||
      o->iterates == NULL || o->reached_by == NULL) {
    return false;
  }
  for (int32_t id = 0; id < count; id++) {
    o->writers[id] = o->readers[id] = o->waited_by[id] = -1;
    o->iterates[id] = o->reached_by[id] = -1;
    o->is_loose[id] = is_loose(o, rheos__graph_node(graph, id));
  }
  return true;
}

static void deinit(order *o) {
  rheos__free(o->writers);
  rheos__free(o->readers);
  rheos__free(o->all_readers);
  rheos__free(o->writes);
  rheos__free(o->waits);
  rheos__free(o->iterates);
  rheos__free(o->reached_by);
  rheos__free(o->pipeline);
  rheos__free(o->waited_by);
  rheos__free(o->is_loose);
}

rheos_status *rheos__order_effects(rheos_graph *graph, int32_t first) {
  order o;
  bool whole = init(&o, graph);  // which looks into functions, whose graphs are locked for it
  rheos__graph_lock(graph);
  for (int32_t id = first < 0 ? 0 : first; whole && id < o.num_nodes; id++) whole = visit(&o, id);
  rheos__graph_unlock(graph);
  deinit(&o);
  return whole ? NULL : rheos__out_of_memory();
}
