// Paths of gradients: two passes over the nodes, from the xs to what depends on them and from the
// ys back. No recursion: a chain of a million nodes is ordinary.
#include "autodiff/paths.h"

#include <assert.h>

#include "graph/graph.h"
#include "ops/flow/loop_grad.h"

// ---- What is looked at

bool rheos__paths_init(rheos__paths *p, const rheos_output *xs, size_t num_xs) {
  p->graph = rheos_scope_graph(p->scope);
  p->first_id = INT32_MAX;
  for (size_t i = 0; i < num_xs; i++) {
    if (xs[i].id < p->first_id) p->first_id = xs[i].id;
  }
  for (size_t i = 0; i < p->num_ys; i++) {
    if (p->ys[i].id >= p->end_id) p->end_id = p->ys[i].id + 1;
  }
  if (p->options->recorded != NULL) p->first_id = 0;
  if (p->end_id < p->first_id) p->end_id = p->first_id;
  if (rheos__graph_is_unordered(p->graph)) {
    p->first_id = 0;
    p->end_id = rheos_graph_num_operations(p->graph);
  }
  const size_t count = (size_t)(p->end_id - p->first_id);
  p->flags = rheos__alloc_array(count, sizeof *p->flags);
  p->pending = rheos__alloc_array(count, sizeof *p->pending);
  if (p->flags == NULL || p->pending == NULL) {
    rheos_scope_fail_take(p->scope, rheos__out_of_memory());
    return false;
  }
  for (size_t i = 0; i < num_xs; i++) {
    rheos__path_set(p, xs[i].id, RHEOS__PATH_REACHED | RHEOS__PATH_IS_X);
  }
  for (size_t i = 0; i < p->num_ys; i++) rheos__path_set(p, p->ys[i].id, RHEOS__PATH_IS_Y);
  return true;
}

void rheos__paths_deinit(rheos__paths *p) {
  rheos__free(p->flags);
  rheos__free(p->pending);
  rheos__loops_deinit(&p->loops);
}

// ---- Which nodes lie between

static bool carries_gradient(const rheos__paths *p, rheos__edge edge) {
  return rheos__is_differentiable(rheos__graph_node(p->graph, edge.id)->outputs[edge.index].dtype);
}

// Inputs come before the nodes that read them, so one pass in order of creation sees every path.
static void mark_reached_in_order(rheos__paths *p) {
  for (int32_t id = p->first_id; id < p->end_id; id++) {
    const rheos__node *node = rheos__graph_node(p->graph, id);
    for (int32_t i = 0; i < node->num_inputs; i++) {
      if (!rheos__path_has(p, node->edges[i].id, RHEOS__PATH_REACHED)) continue;
      if (carries_gradient(p, node->edges[i])) rheos__path_set(p, id, RHEOS__PATH_REACHED);
    }
  }
}

static void mark_between_in_order(rheos__paths *p) {
  for (int32_t id = p->end_id - 1; id >= p->first_id; id--) {
    if (!rheos__path_has(p, id, RHEOS__PATH_REACHED)) continue;
    if (rheos__path_has(p, id, RHEOS__PATH_IS_Y)) rheos__path_set(p, id, RHEOS__PATH_BETWEEN);
    if (!rheos__path_has(p, id, RHEOS__PATH_BETWEEN)) continue;
    const rheos__node *node = rheos__graph_node(p->graph, id);
    for (int32_t i = 0; i < node->num_inputs; i++) {
      int32_t from = node->edges[i].id;
      if (!rheos__path_has(p, from, RHEOS__PATH_REACHED)) continue;
      rheos__path_set(p, from, RHEOS__PATH_BETWEEN);
      p->pending[from - p->first_id]++;
    }
  }
}

// ---- The same where nodes are made after those that read them: the Switches of branches, loops

// Who reads each node, by node.
typedef struct readers {
  int32_t *starts;  // of each node's in `items`, and the end
  int32_t *items;
} readers;

static bool list_readers(const rheos__paths *p, readers *r) {
  const size_t count = (size_t)p->end_id;
  r->starts = rheos__alloc_array(count + 2, sizeof *r->starts);
  if (r->starts == NULL) return false;
  for (int32_t id = 0; id < p->end_id; id++) {
    const rheos__node *node = rheos__graph_node(p->graph, id);
    for (int32_t i = 0; i < node->num_inputs; i++) r->starts[node->edges[i].id + 2]++;
  }
  for (size_t i = 2; i < count + 2; i++) r->starts[i] += r->starts[i - 1];
  r->items = rheos__alloc_array((size_t)r->starts[count + 1] + 1, sizeof *r->items);
  if (r->items == NULL) return false;
  for (int32_t id = 0; id < p->end_id; id++) {
    const rheos__node *node = rheos__graph_node(p->graph, id);
    for (int32_t i = 0; i < node->num_inputs; i++) {
      r->items[r->starts[node->edges[i].id + 1]++] = id;
    }
  }
  return true;
}

static bool reads_gradient_of(const rheos__paths *p, int32_t id, int32_t from) {
  const rheos__node *node = rheos__graph_node(p->graph, id);
  for (int32_t i = 0; i < node->num_inputs; i++) {
    if (node->edges[i].id == from && carries_gradient(p, node->edges[i])) return true;
  }
  return false;
}

static bool passes_handle(const rheos__op_def *op) {
  return op->flow == RHEOS__FLOW_ENTER || op->flow == RHEOS__FLOW_SWITCH ||
         (op->flags & RHEOS_OP_FORWARDS) != 0;
}

// What a loop pushes on a stack is popped by the loop that computes its gradients: the stack is
// reached too.
static void reach_stack(rheos__paths *p, int32_t id, int32_t *stack, int32_t *depth) {
  const rheos__node *node = rheos__graph_node(p->graph, id);
  if (node->signature->op->gradient != rheos__gradient_stack_push) return;
  do {
    id = node->edges[0].id;
    node = rheos__graph_node(p->graph, id);
  } while (node->num_inputs > 0 && passes_handle(node->signature->op));
  if (rheos__path_has(p, id, RHEOS__PATH_REACHED)) return;
  rheos__path_set(p, id, RHEOS__PATH_REACHED);
  stack[(*depth)++] = id;
}

// `stack` has room for all nodes.
static void mark_reached_by_readers(rheos__paths *p, const readers *r, int32_t *stack) {
  int32_t depth = 0;
  for (int32_t id = 0; id < p->end_id; id++) {
    if (rheos__path_has(p, id, RHEOS__PATH_REACHED)) stack[depth++] = id;
  }
  while (depth > 0) {
    const int32_t from = stack[--depth];
    for (int32_t i = r->starts[from]; i < r->starts[from + 1]; i++) {
      const int32_t id = r->items[i];
      if (rheos__path_has(p, id, RHEOS__PATH_REACHED) || !reads_gradient_of(p, id, from)) continue;
      rheos__path_set(p, id, RHEOS__PATH_REACHED);
      stack[depth++] = id;
      reach_stack(p, id, stack, &depth);
    }
  }
}

static void mark_between(rheos__paths *p, int32_t id, int32_t *between, int32_t *count) {
  if (!rheos__path_has(p, id, RHEOS__PATH_REACHED) || rheos__path_has(p, id, RHEOS__PATH_BETWEEN))
    return;
  rheos__path_set(p, id, RHEOS__PATH_BETWEEN);
  between[(*count)++] = id;
}

// Breadth first, since the loops backward are made in this order.
static int32_t mark_between_by_inputs(rheos__paths *p, int32_t *between) {
  int32_t count = 0;
  for (size_t i = 0; i < p->num_ys; i++) mark_between(p, p->ys[i].id, between, &count);
  for (int32_t at = 0; at < count; at++) {
    const rheos__node *node = rheos__graph_node(p->graph, between[at]);
    for (int32_t i = 0; i < node->num_inputs; i++) {
      const int32_t from = node->edges[i].id;
      if (rheos__path_has(p, from, RHEOS__PATH_REACHED)) p->pending[from]++;
      mark_between(p, from, between, &count);
    }
  }
  return count;
}

// All Exits of a loop are gone back through, or none.
static void add_loop(rheos__paths *p, int32_t exit) {
  const bool colocate = p->options->colocate_gradients_with_ops;
  if (colocate) rheos_push_colocation(p->scope, (rheos_operation){p->graph, exit});
  const rheos__loop *loop = rheos__loops_add(&p->loops, p->scope, exit);
  if (colocate) rheos_scope_pop(p->scope);
  for (int32_t i = 0; loop != NULL && i < loop->num_exits; i++) {
    const int32_t other = loop->exits[i];
    if (!rheos__path_covers(p, other) || rheos__path_has(p, other, RHEOS__PATH_BETWEEN)) continue;
    rheos__path_set(p, other, RHEOS__PATH_BETWEEN);
    const int32_t from = rheos__graph_node(p->graph, other)->edges[0].id;
    if (rheos__path_has(p, from, RHEOS__PATH_BETWEEN)) p->pending[from]++;
  }
}

static void mark_in_any_order(rheos__paths *p) {
  assert(p->first_id == 0 && p->end_id <= rheos_graph_num_operations(p->graph));
  readers r = {0};
  int32_t *stack = rheos__alloc_array((size_t)p->end_id + 1, sizeof *stack);
  if (stack != NULL && list_readers(p, &r)) {
    mark_reached_by_readers(p, &r, stack);
    const int32_t count = mark_between_by_inputs(p, stack);
    for (int32_t i = 0; i < count && rheos_scope_status(p->scope) == NULL; i++) {
      if (rheos__is_loop_exit(p->graph, stack[i])) add_loop(p, stack[i]);
    }
  } else {
    rheos_scope_fail_take(p->scope, rheos__out_of_memory());
  }
  rheos__free(stack);
  rheos__free(r.starts);
  rheos__free(r.items);
}

void rheos__paths_mark(rheos__paths *p) {
  if (rheos__graph_is_unordered(p->graph)) {
    mark_in_any_order(p);
    return;
  }
  mark_reached_in_order(p);
  mark_between_in_order(p);
}

// ---- What was recorded

static bool is_watched(const rheos_recorded *r, rheos__edge edge, int32_t by) {
  for (size_t i = 0; i < r->num_watched; i++) {
    if (r->watched[i].id == edge.id && r->watched[i].index == edge.index && r->since[i] <= by) {
      return true;
    }
  }
  return false;
}

static bool takes_recorded(const rheos__paths *p, const rheos_recorded *r, int32_t id) {
  const rheos__node *node = rheos__graph_node(p->graph, id);
  for (int32_t i = 0; i < node->num_inputs; i++) {
    const rheos__edge edge = node->edges[i];
    if (!carries_gradient(p, edge)) continue;
    if (rheos__path_has(p, edge.id, RHEOS__PATH_RECORDED)) return true;
    if (rheos__path_has(p, edge.id, RHEOS__PATH_WATCHED) && is_watched(r, edge, id)) return true;
  }
  return false;
}

static void mark_recorded(rheos__paths *p, const rheos_recorded *r) {
  for (size_t i = 0; i < r->num_watched; i++)
    rheos__path_set(p, r->watched[i].id, RHEOS__PATH_WATCHED);
  for (size_t i = 0; i < r->num_spans; i++) {
    const int32_t end = r->spans[2 * i + 1] < p->end_id ? r->spans[2 * i + 1] : p->end_id;
    for (int32_t id = r->spans[2 * i] > 0 ? r->spans[2 * i] : 0; id < end; id++) {
      if (takes_recorded(p, r, id)) rheos__path_set(p, id, RHEOS__PATH_RECORDED);
    }
  }
}

// What is neither watched nor recorded has no gradient, unless it is a y itself.
bool rheos__paths_lead_to(const rheos__paths *p, rheos_output x) {
  const rheos_recorded *r = p->options->recorded;
  if (r == NULL || rheos__graph_is_unordered(p->graph) ||
      rheos__path_has(p, x.id, RHEOS__PATH_RECORDED))
    return true;
  for (size_t i = 0; i < p->num_ys; i++) {
    if (p->ys[i].id == x.id && p->ys[i].index == x.index) return true;
  }
  return is_watched(r, (rheos__edge){x.id, x.index}, INT32_MAX);
}

static void stop_at_unrecorded(rheos__paths *p) {
  const rheos_recorded *r = p->options->recorded;
  if (r == NULL || rheos__graph_is_unordered(p->graph)) return;
  mark_recorded(p, r);
  for (int32_t id = p->first_id; id < p->end_id; id++) {
    if (!rheos__path_has(p, id, RHEOS__PATH_RECORDED)) rheos__path_set(p, id, RHEOS__PATH_STOP);
  }
}

// An x stops the gradients unless they go on from it to another x.
void rheos__paths_mark_stops(rheos__paths *p, const rheos_output *xs, size_t num_xs) {
  for (size_t i = 0; i < num_xs; i++) {
    if (!rheos__path_covers(p, xs[i].id)) continue;
    const rheos__node *node = rheos__graph_node(p->graph, xs[i].id);
    bool is_last = true;
    for (int32_t k = 0; k < node->num_inputs; k++) {
      int32_t from = node->edges[k].id;
      if (rheos__path_covers(p, from) && p->pending[from - p->first_id] > 0) is_last = false;
    }
    if (is_last) rheos__path_set(p, xs[i].id, RHEOS__PATH_STOP);
  }
  for (size_t i = 0; i < p->options->num_stop_gradients; i++) {
    rheos__path_set(p, p->options->stop_gradients[i].id, RHEOS__PATH_STOP);
  }
  stop_at_unrecorded(p);
}
