// What is left to run of a step that is run in parts. See partial_run.h.
#include "runtime/session/partial_run.h"

#include <assert.h>
#include <string.h>

#include "graph/graph.h"

enum {               // the state of a node
  NEEDED = 1 << 0,   // by the whole step
  DONE = 1 << 1,     // ran in a part before
  IN_PART = 1 << 2,  // runs in this part
  STATES_KEPT = NEEDED | DONE,
};

static bool same_edge(rheos__edge a, rheos__edge b) { return a.id == b.id && a.index == b.index; }

static int32_t find_edge(const rheos__edge *edges, size_t count, rheos__edge edge) {
  for (size_t i = 0; i < count; ++i) {
    if (same_edge(edges[i], edge)) return (int32_t)i;
  }
  return -1;
}

static rheos_status *add_edge(rheos__edge_list *list, rheos__edge edge) {
  if (find_edge(list->items, list->count, edge) >= 0) return NULL;
  if (!RHEOS_RESERVE(list->items, list->capacity, list->count + 1)) return rheos__out_of_memory();
  list->items[list->count++] = edge;
  return NULL;
}

static const rheos__node *node_of(const rheos__partial_run *run, int32_t id) {
  return rheos__graph_node(run->graph, id);
}

static bool has_bytes(rheos_dtype dtype) {
  return !rheos_dtype_is_ref(dtype) && dtype != RHEOS_RESOURCE && dtype != RHEOS_VARIANT;
}

// The plain read of a variable: reading happens when the consumer needs the value (plan.h).
static bool is_read(const rheos_graph *graph, const rheos__node *node) {
  if ((node->signature->op->flags & RHEOS_OP_FORWARDS) == 0 || node->num_inputs != 1 ||
      node->num_control_inputs != 0) {
    return false;
  }
  const rheos__edge edge = node->edges[0];
  return rheos_dtype_is_ref(rheos__graph_node(graph, edge.id)->outputs[edge.index].dtype);
}

// Whether the node runs again in each part that needs it.
static bool runs_again(const rheos_graph *graph, const rheos__node *node) {
  const unsigned flags = node->signature->op->flags;
  if (is_read(graph, node)) return true;
  if ((flags & RHEOS_OP_WRITES) != 0) return false;
  for (int32_t i = 0; i < node->num_outputs; ++i) {
    if (!has_bytes(node->outputs[i].dtype)) return true;
  }
  return node->num_inputs == 0 && (flags & RHEOS_OP_STATEFUL) == 0;
}

// ---- Making and ending

static void *copy_of(const void *items, size_t size_bytes) {
  void *copy = rheos__alloc(size_bytes + 1);
  if (copy != NULL && size_bytes > 0) memcpy(copy, items, size_bytes);
  return copy;
}

static rheos_status *init_arrays(rheos__partial_run *run, const rheos__signature_ids *ids) {
  const size_t num_feeds = (size_t)ids->num_feeds, num_fetches = (size_t)ids->num_fetches;
  const size_t num_targets = (size_t)ids->num_targets;
  run->num_nodes = rheos_graph_num_operations(run->graph);
  run->ids = *ids;
  run->ids.feeds = copy_of(ids->feeds, num_feeds * sizeof *ids->feeds);
  run->ids.fetches = copy_of(ids->fetches, num_fetches * sizeof *ids->fetches);
  run->ids.targets = copy_of(ids->targets, num_targets * sizeof *ids->targets);
  run->fed = rheos__alloc_array(num_feeds, sizeof(rheos_tensor *));
  run->is_fed = rheos__alloc_array(num_feeds, sizeof *run->is_fed);
  run->is_fetched = rheos__alloc_array(num_fetches, sizeof *run->is_fetched);
  run->is_run = rheos__alloc_array(num_targets, sizeof *run->is_run);
  run->states = rheos__alloc_array((size_t)run->num_nodes, sizeof *run->states);
  const bool made = run->ids.feeds != NULL && run->ids.fetches != NULL &&
                    run->ids.targets != NULL && run->fed != NULL && run->is_fed != NULL &&
                    run->is_fetched != NULL && run->is_run != NULL && run->states != NULL;
  return made ? NULL : rheos__out_of_memory();
}

// Marks a node as needed, and puts it where its inputs will be looked at.
static void need(rheos__partial_run *run, int32_t id, int32_t *stack, int32_t *depth) {
  if ((run->states[id] & NEEDED) != 0) return;
  run->states[id] |= NEEDED;
  stack[(*depth)++] = id;
}

static rheos_status *mark_needed(rheos__partial_run *run) {
  const rheos__signature_ids *ids = &run->ids;
  int32_t *stack = rheos__alloc_array((size_t)run->num_nodes, sizeof *stack), depth = 0;
  if (stack == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < ids->num_fetches; ++i) {
    if (find_edge(ids->feeds, (size_t)ids->num_feeds, ids->fetches[i]) >= 0) continue;
    need(run, ids->fetches[i].id, stack, &depth);
  }
  for (int32_t i = 0; i < ids->num_targets; ++i) need(run, ids->targets[i], stack, &depth);
  while (depth > 0) {
    const rheos__node *node = node_of(run, stack[--depth]);
    for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; ++i) {
      if (find_edge(ids->feeds, (size_t)ids->num_feeds, node->edges[i]) >= 0) continue;
      need(run, node->edges[i].id, stack, &depth);
    }
  }
  rheos__free(stack);
  return NULL;
}

rheos_status *rheos__partial_run_new(rheos_graph *graph, const rheos__signature_ids *ids,
                                     rheos__partial_run **out_run) {
  *out_run = NULL;
  rheos__partial_run *run = rheos__alloc_zeroed(sizeof *run);
  if (run == NULL) return rheos__out_of_memory();
  pthread_mutex_init(&run->mutex, NULL);
  atomic_store(&run->references, 1);
  run->graph = graph;
  rheos_status *status = init_arrays(run, ids);
  if (status == NULL) status = mark_needed(run);
  if (status != NULL) {
    rheos__partial_run_unref(run);
    return status;
  }
  *out_run = run;
  return NULL;
}

rheos__partial_run *rheos__partial_run_ref(rheos__partial_run *run) {
  atomic_fetch_add(&run->references, 1);
  return run;
}

void rheos__partial_run_unref(rheos__partial_run *run) {
  if (run == NULL || atomic_fetch_sub(&run->references, 1) != 1) return;
  for (int32_t i = 0; run->fed != NULL && i < run->ids.num_feeds; ++i) {
    rheos_tensor_unref(run->fed[i]);
  }
  for (size_t i = 0; i < run->num_kept; ++i) rheos_tensor_unref(run->kept[i].tensor);
  rheos__free((void *)(uintptr_t)run->ids.feeds);
  rheos__free((void *)(uintptr_t)run->ids.fetches);
  rheos__free((void *)(uintptr_t)run->ids.targets);
  rheos__free(run->fed);
  rheos__free(run->is_fed);
  rheos__free(run->is_fetched);
  rheos__free(run->is_run);
  rheos__free(run->states);
  rheos__free(run->kept);
  pthread_mutex_destroy(&run->mutex);
  rheos__free(run);
}

void rheos__part_deinit(rheos__part *part) {
  for (int32_t i = 0; part->results != NULL && i < part->ids.num_fetches; ++i) {
    rheos_tensor_unref(part->results[i]);
  }
  rheos__free(part->values);
  rheos__free(part->results);
  rheos__free(part->feeds.items);
  rheos__free(part->fetches.items);
  rheos__free(part->targets);
  rheos__free(part->done);
  rheos__free(part->nodes);
}

bool rheos__partial_run_is_over(const rheos__partial_run *run) {
  for (int32_t i = 0; i < run->ids.num_feeds; ++i) {
    if (!run->is_fed[i]) return false;
  }
  for (int32_t i = 0; i < run->ids.num_fetches; ++i) {
    if (!run->is_fetched[i]) return false;
  }
  return true;
}

// ---- What may be asked for

// "The feed x:0 <what>"
static rheos_status *wrong(const rheos__partial_run *run, const char *kind, rheos__edge edge,
                           const char *what) {
  char *name = rheos__node_name(run->graph, node_of(run, edge.id));
  if (name == NULL) return rheos__out_of_memory();
  rheos_status *status = RHEOS_INVALID("%s %s:%d %s", kind, name, (int)edge.index, what);
  rheos__free(name);
  return status;
}

// Each of `asked` is among those of the step and was not there before.
static rheos_status *check_new(const rheos__partial_run *run, const char *kind, bool are_feeds,
                               const rheos__edge *asked, int32_t num_asked) {
  const rheos__edge *known = are_feeds ? run->ids.feeds : run->ids.fetches;
  const bool *was_there = are_feeds ? run->is_fed : run->is_fetched;
  const size_t count = (size_t)(are_feeds ? run->ids.num_feeds : run->ids.num_fetches);
  for (int32_t i = 0; i < num_asked; ++i) {
    const int32_t at = find_edge(known, count, asked[i]);
    if (at < 0) return wrong(run, kind, asked[i], "was not specified in partial_run_setup.");
    if (was_there[at] || (are_feeds && find_edge(asked, (size_t)i, asked[i]) >= 0)) {
      return wrong(run, kind, asked[i],
                   are_feeds ? "has already been fed." : "has already been fetched.");
    }
  }
  return NULL;
}

// ---- What a part needs

static rheos_status *add_done(rheos__part *part, int32_t id) {
  for (size_t i = 0; i < part->num_done; ++i) {
    if (part->done[i] == id) return NULL;
  }
  if (!RHEOS_RESERVE(part->done, part->done_capacity, part->num_done + 1)) {
    return rheos__out_of_memory();
  }
  part->done[part->num_done++] = id;
  return NULL;
}

// A reference that a node passes on whose state has one of `states` is the one that it was given.
static rheos__edge reference_behind(const rheos__partial_run *run, rheos__edge edge, int states) {
  while (edge.index >= 0 && (run->states[edge.id] & states) != 0) {
    const rheos__node *node = node_of(run, edge.id);
    if (!rheos_dtype_is_ref(node->outputs[edge.index].dtype) || runs_again(run->graph, node)) break;
    assert(node->num_inputs > 0);
    edge = node->edges[0];
  }
  return edge;
}

static rheos_status *run_too(rheos__partial_run *run, rheos__part *part, int32_t id) {
  if ((run->states[id] & IN_PART) != 0) return NULL;
  if (!RHEOS_RESERVE(part->nodes, part->node_capacity, part->num_nodes + 1)) {
    return rheos__out_of_memory();
  }
  run->states[id] |= IN_PART;
  part->nodes[part->num_nodes++] = id;
  return NULL;
}

// All that follows from one edge: a value that is there, a node that is done, or one that has to
// run.
static rheos_status *reach(rheos__partial_run *run, rheos__part *part, rheos__edge edge) {
  for (rheos__edge at = edge;;) {
    if ((run->states[at.id] & DONE) != 0) RHEOS_TRY(add_done(part, at.id));
    const rheos__edge behind = reference_behind(run, at, DONE);
    if (same_edge(behind, at)) break;
    at = node_of(run, at.id)->edges[0];
  }
  edge = reference_behind(run, edge, DONE);
  for (int32_t i = 0; i < run->ids.num_feeds; ++i) {
    const rheos__edge feed = run->ids.feeds[i];
    if (feed.id != edge.id || (feed.index != edge.index && edge.index >= 0)) continue;
    if (!run->is_fed[i]) {
      return wrong(run, "Fetch", feed,
                   "can't be computed from the feeds that have been fed so far.");
    }
    return edge.index >= 0 ? add_edge(&part->feeds, edge) : add_done(part, edge.id);
  }
  if ((run->states[edge.id] & DONE) == 0) return run_too(run, part, edge.id);
  return edge.index >= 0 ? add_edge(&part->feeds, edge) : NULL;
}

// Everything behind the nodes from `first` on. After a failure they are none of the part's.
static rheos_status *reach_all(rheos__partial_run *run, rheos__part *part, size_t first,
                               rheos_status *status) {
  for (size_t at = first; status == NULL && at < part->num_nodes; ++at) {
    const rheos__node *node = node_of(run, part->nodes[at]);
    for (int32_t i = 0; status == NULL && i < node->num_inputs + node->num_control_inputs; ++i) {
      status = reach(run, part, node->edges[i]);
    }
  }
  if (status == NULL) return NULL;
  while (part->num_nodes > first) run->states[part->nodes[--part->num_nodes]] &= STATES_KEPT;
  return status;
}

// A target runs in the first part that has all it needs.
static rheos_status *reach_targets(rheos__partial_run *run, rheos__part *part) {
  for (int32_t i = 0; i < run->ids.num_targets; ++i) {
    const int32_t id = run->ids.targets[i];
    if (run->is_run[i]) continue;
    const size_t first = part->num_nodes;
    rheos_status *status = reach_all(run, part, first, run_too(run, part, id));
    if (status != NULL && rheos_status_code(status) != RHEOS_INVALID_ARGUMENT) return status;
    const bool can_run = status == NULL;
    rheos_status_free(status);
    if (!can_run) continue;
    if (!RHEOS_RESERVE(part->targets, part->target_capacity, part->num_targets + 1)) {
      return rheos__out_of_memory();
    }
    part->targets[part->num_targets++] = id;
    run->is_run[i] = true;
  }
  return NULL;
}

// ---- What later parts need

// A value that stays needed: of a node that has run by the end of the part, or of a feed.
static rheos_status *need_later(const rheos__partial_run *run, rheos__edge edge,
                                rheos__edge_list *out_values, bool *needs_feed) {
  edge = reference_behind(run, edge, DONE | IN_PART);
  const int32_t feed = find_edge(run->ids.feeds, (size_t)run->ids.num_feeds, edge);
  if (feed >= 0) {
    needs_feed[feed] = true;
    return NULL;
  }
  const uint8_t state = run->states[edge.id];
  if ((state & (DONE | IN_PART)) == 0 || runs_again(run->graph, node_of(run, edge.id))) return NULL;
  return add_edge(out_values, edge);
}

// What the nodes take that have not run by the end of the part, and what is still to be fetched.
static rheos_status *find_needed_later(const rheos__partial_run *run,
                                       const rheos__signature_ids *part_ids,
                                       rheos__edge_list *out_values, bool *needs_feed) {
  for (int32_t id = 0; id < run->num_nodes; ++id) {
    const uint8_t state = run->states[id];
    if ((state & NEEDED) == 0 || (state & DONE) != 0) continue;
    const rheos__node *node = node_of(run, id);
    if ((state & IN_PART) != 0 && !runs_again(run->graph, node)) continue;
    for (int32_t i = 0; i < node->num_inputs; ++i) {
      RHEOS_TRY(need_later(run, node->edges[i], out_values, needs_feed));
    }
  }
  for (int32_t i = 0; i < run->ids.num_fetches; ++i) {
    const rheos__edge fetch = run->ids.fetches[i];
    if (run->is_fetched[i]) continue;
    if (find_edge(part_ids->fetches, (size_t)part_ids->num_fetches, fetch) >= 0) continue;
    RHEOS_TRY(need_later(run, fetch, out_values, needs_feed));
  }
  return NULL;
}

static rheos_tensor *value_of(const rheos__partial_run *run, rheos__edge edge) {
  const int32_t feed = find_edge(run->ids.feeds, (size_t)run->ids.num_feeds, edge);
  if (feed >= 0) return run->fed[feed];
  for (size_t i = 0; i < run->num_kept; ++i) {
    if (same_edge(run->kept[i].edge, edge)) return run->kept[i].tensor;
  }
  return NULL;
}

// ---- A part

// Fetches what later parts need of the nodes that run now, behind the part's own fetches.
static rheos_status *add_kept_fetches(rheos__partial_run *run, const rheos__signature_ids *ids,
                                      rheos__part *part) {
  rheos__edge_list later = {0};
  bool *needs_feed = rheos__alloc_array((size_t)run->ids.num_feeds, sizeof *needs_feed);
  rheos_status *status =
      needs_feed == NULL ? rheos__out_of_memory() : find_needed_later(run, ids, &later, needs_feed);
  for (size_t i = 0; status == NULL && i < later.count; ++i) {
    if ((run->states[later.items[i].id] & DONE) == 0) {
      status = add_edge(&part->fetches, later.items[i]);
    }
  }
  rheos__free(needs_feed);
  rheos__free(later.items);
  return status;
}

static rheos_status *fill_part(const rheos__partial_run *run, rheos__part *part) {
  part->ids = (rheos__signature_ids){.feeds = part->feeds.items,
                                     .fetches = part->fetches.items,
                                     .targets = part->targets,
                                     .done = part->done,
                                     .num_feeds = (int32_t)part->feeds.count,
                                     .num_fetches = (int32_t)part->fetches.count,
                                     .num_targets = (int32_t)part->num_targets,
                                     .num_done = (int32_t)part->num_done};
  rheos__signature_ids_hash(&part->ids);
  part->values = rheos__alloc_array(part->feeds.count, sizeof *part->values);
  part->results = rheos__alloc_array(part->fetches.count, sizeof *part->results);
  if (part->values == NULL || part->results == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < part->feeds.count; ++i) {
    part->values[i] = value_of(run, part->feeds.items[i]);
    assert(part->values[i] != NULL);
  }
  return NULL;
}

static rheos_status *find_part(rheos__partial_run *run, const rheos__signature_ids *ids,
                               rheos__part *part) {
  rheos_status *status = NULL;
  for (int32_t i = 0; status == NULL && i < ids->num_fetches; ++i) {
    status = reach(run, part, ids->fetches[i]);
    // Twice the same fetch is two fetches: the list is filled without add_edge().
    if (!RHEOS_RESERVE(part->fetches.items, part->fetches.capacity, part->fetches.count + 1)) {
      rheos_status_free(status);
      return rheos__out_of_memory();
    }
    part->fetches.items[part->fetches.count++] = reference_behind(run, ids->fetches[i], DONE);
  }
  RHEOS_TRY(reach_all(run, part, 0, status));
  RHEOS_TRY(reach_targets(run, part));
  RHEOS_TRY(add_kept_fetches(run, ids, part));
  return fill_part(run, part);
}

static void take_feeds(rheos__partial_run *run, const rheos__signature_ids *ids,
                       rheos_tensor *const *values) {
  for (int32_t i = 0; i < ids->num_feeds; ++i) {
    const int32_t at = find_edge(run->ids.feeds, (size_t)run->ids.num_feeds, ids->feeds[i]);
    run->fed[at] = rheos_tensor_ref(values[i]);
    run->is_fed[at] = true;
  }
}

static void give_feeds_back(rheos__partial_run *run, const rheos__signature_ids *ids) {
  for (int32_t i = 0; i < ids->num_feeds; ++i) {
    const int32_t at = find_edge(run->ids.feeds, (size_t)run->ids.num_feeds, ids->feeds[i]);
    rheos_tensor_unref(run->fed[at]);
    run->fed[at] = NULL;
    run->is_fed[at] = false;
  }
}

rheos_status *rheos__partial_run_begin(rheos__partial_run *run, const rheos__signature_ids *ids,
                                       rheos_tensor *const *values, rheos__part *part) {
  *part = (rheos__part){0};
  RHEOS_TRY(check_new(run, "The feed", true, ids->feeds, ids->num_feeds));
  RHEOS_TRY(check_new(run, "The fetch", false, ids->fetches, ids->num_fetches));
  take_feeds(run, ids, values);
  rheos_status *status = find_part(run, ids, part);
  if (status != NULL) give_feeds_back(run, ids);
  return status;
}

// ---- After a part

// Feeds belong to the caller, who may change their bytes when the part is over.
static rheos_status *keep_feeds(rheos__partial_run *run, const rheos__signature_ids *ids,
                                const bool *needs_feed) {
  for (int32_t i = 0; i < run->ids.num_feeds; ++i) {
    rheos_tensor *copy = NULL;
    const bool is_new = find_edge(ids->feeds, (size_t)ids->num_feeds, run->ids.feeds[i]) >= 0;
    if (run->fed[i] == NULL || (needs_feed[i] && !is_new)) continue;
    if (needs_feed[i]) RHEOS_TRY(rheos_tensor_copy(run->fed[i], &copy));
    rheos_tensor_unref(run->fed[i]);
    run->fed[i] = copy;
  }
  return NULL;
}

static rheos_status *keep_values(rheos__partial_run *run, const rheos__part *part,
                                 const rheos__edge_list *later) {
  rheos__kept_value *kept = rheos__alloc_array(later->count, sizeof *kept);
  if (kept == NULL) return rheos__out_of_memory();
  for (size_t i = 0; i < later->count; ++i) {
    const rheos__edge edge = later->items[i];
    const int32_t at = find_edge(part->fetches.items, part->fetches.count, edge);
    rheos_tensor *value = at >= 0 ? part->results[at] : value_of(run, edge);
    assert(value != NULL);
    kept[i] = (rheos__kept_value){edge, rheos_tensor_ref(value)};
  }
  for (size_t i = 0; i < run->num_kept; ++i) rheos_tensor_unref(run->kept[i].tensor);
  rheos__free(run->kept);
  run->kept = kept;
  run->num_kept = run->kept_capacity = later->count;
  return NULL;
}

rheos_status *rheos__partial_run_finish(rheos__partial_run *run, const rheos__signature_ids *ids,
                                        const rheos__part *part) {
  for (int32_t i = 0; i < run->ids.num_fetches; ++i) {
    const rheos__edge fetch = run->ids.fetches[i];
    if (find_edge(ids->fetches, (size_t)ids->num_fetches, fetch) >= 0) run->is_fetched[i] = true;
  }
  rheos__edge_list later = {0};
  bool *needs_feed = rheos__alloc_array((size_t)run->ids.num_feeds, sizeof *needs_feed);
  rheos_status *status =
      needs_feed == NULL ? rheos__out_of_memory() : find_needed_later(run, ids, &later, needs_feed);
  if (status == NULL) status = keep_values(run, part, &later);
  if (status == NULL) status = keep_feeds(run, ids, needs_feed);
  for (size_t i = 0; i < part->num_nodes; ++i) {
    const int32_t id = part->nodes[i];
    run->states[id] &= STATES_KEPT;
    if (!runs_again(run->graph, node_of(run, id))) run->states[id] |= DONE;
  }
  rheos__free(needs_feed);
  rheos__free(later.items);
  return status;
}
