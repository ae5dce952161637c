// The gradient of a region is made once for each question (which outputs have gradients, which
// inputs want them): the nodes that rheos_gradients() adds to the region's graph, cut at the
// region's inputs and outputs, are another region.
#include "runtime/eager/region.h"

#include <string.h>

#include "graph/library.h"

typedef struct maker {
  rheos_region *of;
  const bool *mask;
  rheos_scope *scope;
  rheos_output *ys, *xs, *grad_ys, *stops;
  int32_t *y_index, *x_index;  // which output, which input
  size_t num_ys, num_xs;
  rheos_gradient *grads;  // by x
  // The new region
  rheos__edge *feeds, *fetches;
  int32_t num_feeds, num_fetches;
  // Nodes that are still to be looked at, and those that were
  int32_t *stack;
  bool *is_seen;
  bool *runs_again;  // by output of the region: its node is part of the new one, for another output
  rheos__region_gradient *made;
} maker;

static rheos_output output_at(const rheos_region *r, rheos__edge edge) {
  return (rheos_output){r->graph, edge.id, edge.index};
}

static bool same_edge(rheos__edge a, rheos__edge b) { return a.id == b.id && a.index == b.index; }

static bool may_have_gradient(const rheos_region *r, rheos__edge edge) {
  const rheos_dtype dtype = rheos__graph_node(r->graph, edge.id)->outputs[edge.index].dtype;
  return rheos__is_differentiable(rheos_dtype_base(dtype));
}

static bool init_lists(maker *m) {
  const size_t num_feeds = (size_t)m->of->num_feeds + 1,
               num_fetches = (size_t)m->of->num_fetches + 1;
  m->ys = rheos__alloc_array(num_fetches, sizeof *m->ys);
  m->grad_ys = rheos__alloc_array(num_fetches, sizeof *m->grad_ys);
  m->y_index = rheos__alloc_array(num_fetches, sizeof *m->y_index);
  m->xs = rheos__alloc_array(num_feeds, sizeof *m->xs);
  m->stops = rheos__alloc_array(num_feeds, sizeof *m->stops);
  m->x_index = rheos__alloc_array(num_feeds, sizeof *m->x_index);
  m->grads = rheos__alloc_array(num_feeds, sizeof *m->grads);
  m->fetches = rheos__alloc_array(3 * num_feeds, sizeof *m->fetches);
  m->feeds = rheos__alloc_array(num_feeds + 2 * num_fetches, sizeof *m->feeds);
  m->made = rheos__alloc_zeroed(sizeof *m->made);
  if (m->made == NULL) return false;
  m->made->mask = rheos__alloc_array(num_feeds + num_fetches, sizeof *m->made->mask);
  m->made->inputs = rheos__alloc_array(num_feeds + 2 * num_fetches, sizeof *m->made->inputs);
  m->made->grads = rheos__alloc_array(num_feeds, sizeof *m->made->grads);
  m->scope = rheos_scope_new(m->of->graph);
  return m->ys != NULL && m->grad_ys != NULL && m->y_index != NULL && m->xs != NULL &&
         m->stops != NULL && m->x_index != NULL && m->grads != NULL && m->fetches != NULL &&
         m->feeds != NULL && m->made->mask != NULL && m->made->inputs != NULL &&
         m->made->grads != NULL && m->scope != NULL;
}

static void free_gradient(rheos__region_gradient *made) {
  if (made == NULL) return;
  rheos_region_unref(made->region);
  rheos__free(made->mask);
  rheos__free(made->inputs);
  rheos__free(made->grads);
  rheos__free(made);
}

static void maker_deinit(maker *m) {
  rheos__free(m->ys);
  rheos__free(m->grad_ys);
  rheos__free(m->y_index);
  rheos__free(m->xs);
  rheos__free(m->stops);
  rheos__free(m->x_index);
  rheos__free(m->grads);
  rheos__free(m->fetches);
  rheos__free(m->feeds);
  rheos__free(m->stack);
  rheos__free(m->is_seen);
  rheos__free(m->runs_again);
  rheos_scope_free(m->scope);
  free_gradient(m->made);
}

static void list_ends(maker *m) {
  const rheos_region *r = m->of;
  for (int32_t i = 0; i < r->num_fetches; ++i) {
    if (!m->mask[i] || !may_have_gradient(r, r->fetches[i])) continue;
    m->y_index[m->num_ys] = i;
    m->ys[m->num_ys++] = output_at(r, r->fetches[i]);
  }
  for (int32_t i = 0; i < r->num_feeds; ++i) {
    m->stops[i] = output_at(r, r->feeds[i]);
    if (!m->mask[r->num_fetches + i] || !may_have_gradient(r, r->feeds[i])) continue;
    m->x_index[m->num_xs] = i;
    m->xs[m->num_xs++] = output_at(r, r->feeds[i]);
  }
}

static void add_gradients(maker *m) {
  for (size_t i = 0; i < m->num_ys; ++i) {
    const rheos_attr dtype =
        rheos_attr_type("dtype", rheos_dtype_base(rheos_output_dtype(m->ys[i])));
    const rheos_op_args args = {
        .type = "Placeholder", .name = "grad_ys", .attrs = &dtype, .num_attrs = 1};
    m->grad_ys[i] = rheos_operation_output(rheos_op(m->scope, &args), 0);
  }
  const rheos_gradients_options options = {.grad_ys = m->grad_ys,
                                           .stop_gradients = m->stops,
                                           .num_stop_gradients = (size_t)m->of->num_feeds,
                                           .gradient_function = m->of->eager->gradient_function,
                                           .gradient_argument = m->of->eager->gradient_argument};
  if (rheos_scope_status(m->scope) != NULL) return;
  rheos_gradients(m->scope, m->ys, m->num_ys, m->xs, m->num_xs, &options, m->grads);
}

static void list_fetches(maker *m) {
  for (size_t i = 0; i < m->num_xs; ++i) {
    const rheos_output parts[] = {m->grads[i].values, m->grads[i].indices, m->grads[i].dense_shape};
    m->made->grads[m->x_index[i]].first = m->num_fetches;
    for (int k = 0; k < 3 && parts[k].graph != NULL; ++k) {
      m->fetches[m->num_fetches++] = (rheos__edge){parts[k].id, parts[k].index};
      m->made->grads[m->x_index[i]].count++;
    }
  }
}

// ---- What the gradients are computed from

static void add_feed(maker *m, rheos__edge edge, rheos__backward_source source, int32_t index) {
  for (int32_t i = 0; i < m->num_feeds; ++i) {
    if (same_edge(m->feeds[i], edge)) return;
  }
  m->made->inputs[m->num_feeds] = (rheos__backward_input){source, index};
  m->feeds[m->num_feeds++] = edge;
}

// Whether the region for the gradients is given what the edge carries.
static bool is_given(maker *m, rheos__edge edge) {
  const rheos_region *r = m->of;
  for (size_t i = 0; i < m->num_ys; ++i) {
    if (m->grad_ys[i].id != edge.id) continue;
    add_feed(m, edge, RHEOS__BACKWARD_GRADIENT, m->y_index[i]);
    return true;
  }
  for (int32_t i = 0; i < r->num_feeds; ++i) {
    if (!same_edge(r->feeds[i], edge)) continue;
    add_feed(m, edge, RHEOS__BACKWARD_INPUT, i);
    return true;
  }
  for (int32_t i = 0; i < r->num_fetches; ++i) {
    if (!same_edge(r->fetches[i], edge) || m->runs_again[i]) continue;
    add_feed(m, edge, RHEOS__BACKWARD_OUTPUT, i);
    return true;
  }
  return false;
}

static int32_t visit(maker *m, rheos__edge edge, int32_t depth) {
  if (is_given(m, edge) || m->is_seen[edge.id]) return depth;
  m->is_seen[edge.id] = true;
  m->stack[depth] = edge.id;
  return depth + 1;
}

static void follow_fetches(maker *m) {
  int32_t depth = 0;
  for (int32_t i = 0; i < m->num_fetches; ++i) depth = visit(m, m->fetches[i], depth);
  while (depth > 0) {
    const rheos__node *node = rheos__graph_node(m->of->graph, m->stack[--depth]);
    for (int32_t i = 0; i < node->num_inputs; ++i) depth = visit(m, node->edges[i], depth);
  }
}

// A gradient may need outputs of a call that the region does not give: the call runs again then,
// and all of its outputs are those of that run, so that gradients of the new region pass through
// it.
static bool find_runs_again(maker *m) {
  bool any = false;
  for (int32_t i = 0; i < m->of->num_fetches; ++i) {
    if (!m->is_seen[m->of->fetches[i].id] || m->runs_again[i]) continue;
    m->runs_again[i] = any = true;
  }
  return any;
}

static rheos_status *list_feeds(maker *m) {
  const size_t num_nodes = (size_t)rheos_graph_num_operations(m->of->graph);
  m->stack = rheos__alloc_array(num_nodes, sizeof *m->stack);
  m->is_seen = rheos__alloc_array(num_nodes, sizeof *m->is_seen);
  m->runs_again = rheos__alloc_array((size_t)m->of->num_fetches + 1, sizeof *m->runs_again);
  if (m->stack == NULL || m->is_seen == NULL || m->runs_again == NULL) {
    return rheos__out_of_memory();
  }
  do {
    m->num_feeds = 0;
    memset(m->is_seen, 0, num_nodes * sizeof *m->is_seen);
    follow_fetches(m);
  } while (find_runs_again(m));
  return NULL;
}

static rheos_status *make_gradient(maker *m) {
  if (!init_lists(m)) return rheos__out_of_memory();
  memcpy(m->made->mask, m->mask, (size_t)(m->of->num_feeds + m->of->num_fetches) * sizeof *m->mask);
  list_ends(m);
  if (m->num_ys > 0 && m->num_xs > 0) add_gradients(m);
  RHEOS_TRY(rheos_scope_finish(m->scope));
  list_fetches(m);
  if (m->num_fetches == 0) return NULL;
  RHEOS_TRY(list_feeds(m));
  return rheos__region_new(m->of->eager, m->of->graph, m->feeds, m->num_feeds, m->fetches,
                           m->num_fetches, NULL, 0, &m->made->region);
}

static const rheos__region_gradient *find_gradient(rheos_region *r, const bool *mask) {
  const size_t size = (size_t)(r->num_feeds + r->num_fetches) * sizeof *mask;
  pthread_mutex_lock(&r->mutex);
  const rheos__region_gradient *g = r->gradients;
  while (g != NULL && memcmp(g->mask, mask, size) != 0) g = g->next;
  pthread_mutex_unlock(&r->mutex);
  return g;
}

rheos_status *rheos__gradient_of_region(rheos_region *r, const bool *mask,
                                        const rheos__region_gradient **out_gradient) {
  *out_gradient = find_gradient(r, mask);
  if (*out_gradient != NULL) return NULL;
  maker m = {.of = r, .mask = mask};
  rheos_status *status = make_gradient(&m);
  if (status == NULL) {
    pthread_mutex_lock(&r->mutex);
    m.made->next = r->gradients;
    r->gradients = m.made;
    pthread_mutex_unlock(&r->mutex);
    *out_gradient = m.made;
    m.made = NULL;
  }
  maker_deinit(&m);
  return status;
}

// ---- Calls of functions

// Has the operation give what its gradient needs, by making that for gradients of all outputs.
static rheos_status *extend(rheos_region *r, rheos_region **out_recorded) {
  const int32_t num_outputs = r->num_fetches;
  const size_t count = (size_t)(r->num_feeds + num_outputs);
  bool *mask = rheos__alloc_array(count + 1, sizeof *mask);
  if (mask == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < count; ++i) mask[i] = true;
  maker m = {.of = r, .mask = mask};
  rheos_status *status = init_lists(&m) ? NULL : rheos__out_of_memory();
  if (status == NULL) {
    list_ends(&m);
    if (m.num_ys > 0 && m.num_xs > 0) add_gradients(&m);
    status = rheos_scope_finish(m.scope);
  }
  maker_deinit(&m);
  rheos__free(mask);
  if (status != NULL) return status;
  const int32_t id = r->node;
  const int32_t num_all = rheos__graph_node(r->graph, id)->num_outputs;
  rheos__edge *fetches = rheos__alloc_array((size_t)num_all + 1, sizeof *fetches);
  if (fetches == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < num_all; ++i) fetches[i] = (rheos__edge){id, i};
  status = rheos__region_new(r->eager, r->graph, r->feeds, r->num_feeds, fetches, num_all,
                             r->targets, r->num_targets, out_recorded);
  rheos__free(fetches);
  if (status == NULL) (*out_recorded)->node = id;
  return status;
}

rheos_status *rheos__region_recorded(rheos_region *r, rheos_region **out_recorded) {
  *out_recorded = r;
  if (!r->extends || atomic_load(&r->has_no_gradient)) return NULL;
  pthread_mutex_lock(&r->mutex);
  rheos_region *recorded = r->recorded;
  pthread_mutex_unlock(&r->mutex);
  if (recorded == NULL) {
    rheos_status *status = extend(r, &recorded);
    const rheos_code code = rheos_status_code(status);
    if (code == RHEOS_NOT_FOUND || code == RHEOS_UNIMPLEMENTED) {
      rheos_status_free(status);  // who asks for the gradient meets it
      atomic_store(&r->has_no_gradient, true);
      return NULL;
    }
    if (status != NULL) return status;
    pthread_mutex_lock(&r->mutex);
    if (r->recorded == NULL) {
      r->recorded = recorded;
    } else {  // another thread was faster
      rheos_region_unref(recorded);
      recorded = r->recorded;
    }
    pthread_mutex_unlock(&r->mutex);
  }
  *out_recorded = recorded;
  return NULL;
}
