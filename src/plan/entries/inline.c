// What may be inlined, and the table of what is. See inline.h.
#include "plan/entries/inline.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "plan/entries/plan.h"
#include "plan/entries/prepare.h"

// Of a body with those that it calls; of bodies in each other.
enum { MAX_BODY_NODES = 64, MAX_BODY_DEPTH = 8 };

// ---- The table

rheos__inlined *rheos__inlined_new(int32_t first) {
  rheos__inlined *inlined = rheos__alloc_zeroed(sizeof *inlined);
  if (inlined == NULL) return NULL;
  atomic_init(&inlined->references, 1);
  inlined->first = inlined->end = first;
  return inlined;
}

rheos__inlined *rheos__inlined_ref(rheos__inlined *inlined) {
  if (inlined != NULL) atomic_fetch_add_explicit(&inlined->references, 1, memory_order_relaxed);
  return inlined;
}

void rheos__inlined_clear(rheos__inlined *inlined) {
  for (size_t i = 0; i < inlined->num_calls; ++i) {
    rheos_graph_unref(inlined->calls[i].function->graph);
  }
  inlined->num_calls = 0;
  inlined->end = inlined->first;
}

void rheos__inlined_unref(rheos__inlined *inlined) {
  if (inlined == NULL) return;
  if (atomic_fetch_sub_explicit(&inlined->references, 1, memory_order_acq_rel) > 1) return;
  rheos__inlined_clear(inlined);
  rheos__free(inlined->calls);
  rheos__free(inlined);
}

const rheos__inlined_call *rheos__inlined_add(rheos__inlined *inlined, int32_t id,
                                              const rheos__function *function) {
  if (!RHEOS_RESERVE(inlined->calls, inlined->capacity, inlined->num_calls + 1)) return NULL;
  rheos__inlined_call *call = &inlined->calls[inlined->num_calls++];
  *call = (rheos__inlined_call){.function = function,
                                .id = id,
                                .first = inlined->end,
                                .num_nodes = rheos_graph_num_operations(function->graph)};
  rheos_graph_ref(function->graph);
  inlined->end += call->num_nodes + 1;
  return call;
}

const rheos__inlined_call *rheos__inlined_find(const rheos__inlined *inlined, int32_t id) {
  assert(id >= inlined->first && id < inlined->end);
  size_t first = 0, end = inlined->num_calls;
  while (end - first > 1) {
    const size_t middle = first + (end - first) / 2;
    if (inlined->calls[middle].first <= id) {
      first = middle;
    } else {
      end = middle;
    }
  }
  return &inlined->calls[first];
}

// Of a call's beginning, the node that calls.
static int32_t node_id(const rheos__inlined *inlined, int32_t id) {
  const rheos__inlined_call *call = rheos__inlined_call_of(inlined, id);
  return call != NULL && id == call->first + call->num_nodes ? call->id : id;
}

const rheos_graph *rheos__inlined_place(const rheos__inlined *inlined, const rheos_graph *graph,
                                        int32_t id, int32_t *out_id) {
  id = node_id(inlined, id);
  const rheos__inlined_call *call = rheos__inlined_call_of(inlined, id);
  *out_id = call != NULL ? id - call->first : id;
  return call != NULL ? call->function->graph : graph;
}

int32_t rheos__inlined_outermost(const rheos__inlined *inlined, int32_t id) {
  const rheos__inlined_call *call;
  while ((call = rheos__inlined_call_of(inlined, id)) != NULL) id = call->id;
  return id;
}

char *rheos__inlined_name(const rheos__inlined *inlined, const rheos_graph *graph, int32_t id) {
  const bool is_beginning = node_id(inlined, id) != id;
  char *name = is_beginning ? rheos__strdup("_begin") : NULL;
  if (is_beginning && name == NULL) return NULL;
  for (id = node_id(inlined, id);;) {
    int32_t local;
    const rheos_graph *place = rheos__inlined_place(inlined, graph, id, &local);
    char *own = rheos__node_name(place, rheos__graph_node(place, local));
    if (own != NULL && name != NULL) {
      char *both = rheos__text_format("%s/%s", own, name);
      rheos__free(own);
      own = both;
    }
    rheos__free(name);
    name = own;
    const rheos__inlined_call *call = rheos__inlined_call_of(inlined, id);
    if (name == NULL || call == NULL) return name;
    id = call->id;
  }
}

rheos_status *rheos__inlined_status_at_take(rheos_status *status, const rheos__inlined *inlined,
                                            const rheos_graph *graph, int32_t id) {
  for (id = node_id(inlined, id);;) {
    int32_t local;
    const rheos_graph *place = rheos__inlined_place(inlined, graph, id, &local);
    status = rheos__status_at_take(status, place, local);
    const rheos__inlined_call *call = rheos__inlined_call_of(inlined, id);
    if (call == NULL) return status;
    status = rheos__status_in_function_take(status, call->function->name);
    id = call->id;
  }
}

// ---- What may be inlined

int32_t rheos__argument_at(const rheos__function *function, int32_t id) {
  const unsigned flags = rheos__graph_node(function->graph, id)->signature->op->flags;
  if ((flags & (RHEOS_OP_ARG | RHEOS_OP_PLACEHOLDER)) == 0) return -1;
  for (int32_t i = 0; i < function->num_args; ++i) {
    if (function->args[i].id == id) return i;
  }
  return -1;
}

static bool says_not(const rheos__attrs *attrs) {
  const rheos_attr_value *value = attrs != NULL ? rheos__attrs_find(attrs, "_noinline") : NULL;
  return value != NULL && value->kind == RHEOS_ATTR_BOOL && value->b;
}

static const rheos__function *called_by(rheos_graph *graph, const rheos__node *node) {
  const rheos__op_def *op = node->signature->op;
  const rheos_func by_name = {.name = {(char *)(uintptr_t)op->name, strlen(op->name)},
                              .attrs = node->attrs->items,
                              .num_attrs = (size_t)node->attrs->count};
  const rheos_func *func = &by_name;
  if (op->prepare != rheos__prepare_call_by_name) func = rheos__attrs_find(node->attrs, "f")->func;
  const rheos__function *function = NULL;
  rheos_status *status = rheos__graph_function(graph, func, &function);
  rheos_status_free(status);  // the call itself says so
  return status == NULL && !function->is_never_inlined ? function : NULL;
}

static bool types_fit(const rheos__function *f, const rheos_graph *graph, const rheos__node *node) {
  if (f->num_args != node->num_inputs || f->num_results != node->num_outputs) return false;
  for (int32_t i = 0; i < f->num_args; ++i) {
    const rheos__edge edge = node->edges[i];
    // Where a reference is given, the time of the call tells which value it has.
    if (rheos__graph_node(graph, edge.id)->outputs[edge.index].dtype !=
        rheos__function_arg_dtype(f, i)) {
      return false;
    }
  }
  for (int32_t i = 0; i < f->num_results; ++i) {
    if (node->outputs[i].dtype != rheos__function_result_dtype(f, i)) return false;
  }
  return true;
}

static bool has_kernel(const rheos__plan *plan, const rheos__node *node) {
  return rheos__runs_by_itself(node->signature->op) ||
         rheos__device_has_kernel(plan->context.devices[0], node->signature->op, node->attrs);
}

// A node that may be anywhere in the order of what its call needs and what needs the call.
static bool is_quiet(const rheos__plan *plan, const rheos__node *node) {
  const rheos__op_def *op = node->signature->op;
  if (op->flow != RHEOS__FLOW_NONE || !has_kernel(plan, node)) return false;
  for (int32_t i = 0; i < node->num_outputs; ++i) {
    if (rheos_dtype_is_ref(node->outputs[i].dtype)) return false;
  }
  const unsigned never = RHEOS_OP_WRITES | RHEOS_OP_WAITS | RHEOS_OP_ASSERTS | RHEOS_OP_WANTS_NAME |
                         RHEOS_OP_PLACEHOLDER | RHEOS_OP_REMOVED;
  if ((op->flags & never) != 0) return false;
  return (op->flags & RHEOS_OP_STATEFUL) == 0 || (op->flags & RHEOS_OP_READS_VARIABLE) != 0;
}

typedef struct bodies {
  const rheos__function *of[MAX_BODY_DEPTH];
  int depth, num_nodes;
} bodies;

// Whether the function may be inlined; iterative over nodes, and no deeper than MAX_BODY_DEPTH.
static bool is_small(const rheos__plan *plan, const rheos__function *f, bodies *b) {
  if (b->depth == MAX_BODY_DEPTH) return false;
  for (int i = 0; i < b->depth; ++i) {
    if (b->of[i] == f) return false;
  }
  b->of[b->depth++] = f;
  const int32_t count = rheos_graph_num_operations(f->graph);
  bool fits = count <= 4 * MAX_BODY_NODES;
  for (int32_t id = 0; fits && id < count; ++id) {
    const rheos__node *node = rheos__graph_node(f->graph, id);
    const unsigned flags = node->signature->op->flags;
    if ((flags & RHEOS_OP_RETVAL) != 0 || rheos__argument_at(f, id) >= 0) continue;
    fits = ++b->num_nodes <= MAX_BODY_NODES;
    if (!fits) break;
    if ((flags & RHEOS_OP_IS_CALL) != 0) {
      const rheos__function *inner = called_by(f->graph, node);
      const bool is_inlined = inner != NULL && !says_not(node->attrs) &&
                              types_fit(inner, f->graph, node) && is_small(plan, inner, b);
      fits = is_inlined;
    } else {
      fits = is_quiet(plan, node);
    }
  }
  --b->depth;
  return fits;
}

const rheos__function *rheos__inlinable(const rheos__plan *plan, rheos_graph *graph,
                                        const rheos__node *node) {
  if ((node->signature->op->flags & RHEOS_OP_IS_CALL) == 0 || says_not(node->attrs) ||
      plan->context.num_devices != 1) {
    return NULL;
  }
  const rheos__function *function = called_by(graph, node);
  if (function == NULL || !types_fit(function, graph, node)) return NULL;
  bodies b = {0};
  return is_small(plan, function, &b) ? function : NULL;
}
