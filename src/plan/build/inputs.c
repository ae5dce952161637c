// What the inputs of a plan's nodes are, where calls are inlined and structures raised. See
// builder.h.
#include "plan/build/builder.h"

#include <assert.h>
#include <string.h>

// Of nodes of bodies, for each plan.
enum { MAX_INLINED_NODES = 1 << 16 };

// ---- What is inlined

// The call that the node is, if it is inlined.
static const rheos__inlined_call *inlined_at(const rheos__builder *b, int32_t id) {
  const int32_t call = b->marks[id].call;
  return call > 0 ? &b->plan->inlined->calls[call - 1] : NULL;
}

static int32_t beginning_of(const rheos__inlined_call *call) {
  return call->first + call->num_nodes;
}

// An edge of a body as one of the plan.
static rheos__edge edge_inside(const rheos__inlined_call *call, rheos__edge edge) {
  return (rheos__edge){call != NULL ? edge.id + call->first : edge.id, edge.index};
}

rheos_status *rheos__builder_add_later(rheos__builder *b, int32_t id) {
  if (!RHEOS_RESERVE(b->later, b->later_capacity, b->num_later + 1)) return rheos__out_of_memory();
  b->later[b->num_later++] = id;
  return NULL;
}

// What a call is given and waits for runs for its effects, though its body may not read it.
static rheos_status *add_inputs_later(rheos__builder *b, int32_t id) {
  const rheos__inlined_call *around = rheos__builder_call_around(b, id);
  const rheos__node *node = rheos__builder_node(b, id);
  for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; ++i) {
    const rheos__edge edge = edge_inside(around, node->edges[i]);
    const bool is_argument =
        around != NULL && rheos__argument_at(around->function, edge.id - around->first) >= 0;
    if (is_argument || rheos__builder_has(b, edge)) continue;
    RHEOS_TRY(rheos__builder_add_later(b, edge.id));
  }
  return NULL;
}

static rheos_status *inline_call(rheos__builder *b, int32_t id, const rheos__function *function) {
  rheos__inlined *inlined = b->plan->inlined;
  const rheos__inlined_call *call = rheos__inlined_add(inlined, id, function);
  const size_t count = call != NULL ? (size_t)inlined->end : 0;
  if (call == NULL || !RHEOS_RESERVE(b->marks, b->mark_capacity, count)) {
    return rheos__out_of_memory();
  }
  memset(b->marks + call->first, 0, (count - (size_t)call->first) * sizeof *b->marks);
  b->marks[id].call = (int32_t)inlined->num_calls;
  for (int32_t i = 0; i < function->num_targets; ++i) {
    RHEOS_TRY(rheos__builder_add_later(b, call->first + function->targets[i]));
  }
  return add_inputs_later(b, id);
}

static bool inlines(const rheos__plan *plan) {
  return !plan->context.rewrites.disable_meta_optimizer &&
         plan->context.rewrites.function_optimization != RHEOS_TOGGLE_OFF &&
         plan->inlined->end - plan->inlined->first < MAX_INLINED_NODES;
}

// Whether it is given the value of a reference, which is read when it is called.
static bool reads_references(const rheos__builder *b, const rheos__node *node) {
  rheos__edge reference;
  for (int32_t i = 0; i < node->num_inputs; ++i) {
    if (rheos__builder_find_reference(b, node->edges[i], &reference)) return true;
  }
  return false;
}

// Whether what the call gives is watched, or something in its body.
static bool is_watched(const rheos__builder *b, int32_t id, const rheos__function *function) {
  const rheos__watches *watches = b->plan->context.watches;
  int32_t first;
  if (watches == NULL) return false;
  const bool is_own = rheos__builder_call_around(b, id) == NULL;
  return rheos__watches_any_of(watches, function->graph) ||
         (is_own && rheos__watches_of_node(watches, b->plan->graph, id, &first) > 0);
}

// Looks, once, at whether a node is a call that is inlined. A target is not: it runs though nobody
// takes what it gives.
rheos_status *rheos__builder_look_at_call(rheos__builder *b, int32_t id) {
  const rheos__node *node = rheos__builder_node(b, id);
  if (b->pass != RHEOS__WITHOUT_FLOW || b->marks[id].call != 0 ||
      (node->signature->op->flags & RHEOS_OP_IS_CALL) == 0) {
    return NULL;
  }
  const rheos__inlined_call *around = rheos__builder_call_around(b, id);
  if (around != NULL && id == beginning_of(around)) return NULL;
  rheos_graph *graph = around != NULL ? around->function->graph : b->plan->graph;
  const rheos__function *function = rheos__inlinable(b->plan, graph, node);
  if (function == NULL || (around == NULL && reads_references(b, node))) {
    b->marks[id].call = RHEOS__CALL_STAYS;
  } else if (!inlines(b->plan) || (around == NULL && b->is_target[id]) ||
             is_watched(b, id, function)) {
    b->marks[id].call = RHEOS__CALL_ONLY_READS;
  } else {
    return inline_call(b, id, function);
  }
  return NULL;
}

// What waits for an argument of a body waits for what is given.
static void resolve_wait(const rheos__builder *b, rheos__edge *edge) {
  const rheos__inlined_call *around;
  while ((around = rheos__builder_call_around(b, edge->id)) != NULL &&
         edge->id != beginning_of(around)) {
    const int32_t index = rheos__argument_at(around->function, edge->id - around->first);
    if (index < 0) return;
    const rheos__edge given = rheos__builder_node(b, around->id)->edges[index];
    edge->id = edge_inside(rheos__builder_call_around(b, around->id), given).id;
  }
}

rheos_status *rheos__builder_resolve(rheos__builder *b, rheos__edge *edge) {
  if (edge->index < 0) resolve_wait(b, edge);
  while (edge->index >= 0) {
    const rheos__node *node = rheos__builder_node(b, edge->id);
    const rheos__inlined_call *around = rheos__builder_call_around(b, edge->id);
    const unsigned moves = RHEOS_OP_ARG | RHEOS_OP_PLACEHOLDER | RHEOS_OP_IS_CALL;
    const unsigned flags = node->signature->op->flags & moves;
    const bool is_done = b->marks[edge->id].state == RHEOS__MARK_DONE;
    if ((flags == 0 && !is_done) || rheos__plan_feed_of(b->plan, *edge) >= 0) return NULL;
    if (is_done) {
      assert(rheos_dtype_is_ref(node->outputs[edge->index].dtype) && node->num_inputs > 0);
      *edge = node->edges[0];
      continue;
    }
    if (around != NULL && (flags & RHEOS_OP_IS_CALL) == 0) {
      const int32_t index = rheos__argument_at(around->function, edge->id - around->first);
      assert(index >= 0);
      *edge = edge_inside(rheos__builder_call_around(b, around->id),
                          rheos__builder_node(b, around->id)->edges[index]);
      continue;
    }
    RHEOS_TRY(rheos__builder_look_at_call(b, edge->id));
    const rheos__inlined_call *call = inlined_at(b, edge->id);
    if (call == NULL) return NULL;
    *edge = edge_inside(call, call->function->results[edge->index]);
  }
  return rheos__builder_look_at_call(b, edge->id);
}

rheos__part rheos__builder_part(const rheos__builder *b, int32_t id) {
  const rheos__inlined_call *around = rheos__builder_call_around(b, id);
  if (around != NULL && id == beginning_of(around)) return RHEOS__PART_BEGINNING;
  return b->marks[id].call > 0 ? RHEOS__PART_END : RHEOS__PART_NODE;
}

int32_t rheos__builder_num_edges(const rheos__builder *b, int32_t id) {
  const rheos__part of = rheos__builder_part(b, id);
  if (of == RHEOS__PART_END) {
    const rheos__function *function = inlined_at(b, id)->function;
    return 1 + function->num_results + function->num_targets;
  }
  const rheos__node *node = rheos__builder_node(b, id);
  const int32_t count = node->num_inputs + node->num_control_inputs;
  const rheos__inlined_call *around = rheos__builder_call_around(b, id);
  if (of == RHEOS__PART_BEGINNING)
    return count + (rheos__builder_call_around(b, around->id) != NULL);
  return count + (around != NULL && (node->signature->op->flags & RHEOS_OP_STATEFUL) != 0);
}

static rheos__edge raw_edge(const rheos__builder *b, int32_t id, int32_t i) {
  const rheos__part of = rheos__builder_part(b, id);
  const rheos__inlined_call *around = rheos__builder_call_around(b, id);
  if (of == RHEOS__PART_END) {
    const rheos__inlined_call *call = inlined_at(b, id);
    const rheos__function *function = call->function;
    if (i == 0) return (rheos__edge){beginning_of(call), -1};
    if (i <= function->num_results) return edge_inside(call, function->results[i - 1]);
    return (rheos__edge){call->first + function->targets[i - 1 - function->num_results], -1};
  }
  const rheos__node *node = rheos__builder_node(b, id);
  if (of == RHEOS__PART_BEGINNING) around = rheos__builder_call_around(b, around->id);
  if (i < node->num_inputs + node->num_control_inputs) return edge_inside(around, node->edges[i]);
  return (rheos__edge){beginning_of(around), -1};
}

rheos_status *rheos__builder_edge(rheos__builder *b, int32_t id, int32_t i, rheos__edge *out_edge) {
  *out_edge = raw_edge(b, id, i);
  RHEOS_TRY(rheos__builder_resolve(b, out_edge));
  if (rheos__builder_part(b, id) != RHEOS__PART_NODE && !rheos__builder_has(b, *out_edge))
    out_edge->index = -1;
  return NULL;
}

static bool has_structures(const rheos__builder *b) {
  return b->raised.count > 0 && (b->pass == RHEOS__RAISED || b->pass == RHEOS__WITH_FRAMES);
}

int32_t rheos__builder_visited(const rheos__builder *b, int32_t id) {
  if (!has_structures(b) || id >= b->num_nodes || b->raised.of_node[id] == 0) return id;
  return b->num_nodes + b->raised.of_node[id] - 1;
}

rheos__structure *rheos__builder_structure(const rheos__builder *b, int32_t visited) {
  return has_structures(b) && visited >= b->num_nodes ? b->raised.structures[visited - b->num_nodes]
                                                      : NULL;
}
