// The edges that are watched, found by node.
#include "plan/entries/watch.h"

#include <stdatomic.h>
#include <string.h>

// By graph, node and output.
static int compare(const rheos__watch *a, const rheos__watch *b) {
  if (a->graph != b->graph) return (uintptr_t)a->graph < (uintptr_t)b->graph ? -1 : 1;
  if (a->edge.id != b->edge.id) return a->edge.id < b->edge.id ? -1 : 1;
  return (a->edge.index > b->edge.index) - (a->edge.index < b->edge.index);
}

// Stable, so that equal ones stay in the order in which they were asked for: a heap would not be.
static void sort(rheos__watches *w, int32_t *room) {
  for (int32_t width = 1; width < w->count; width *= 2) {
    for (int32_t first = 0; first < w->count; first += 2 * width) {
      const int32_t middle = first + width < w->count ? first + width : w->count;
      const int32_t end = middle + width < w->count ? middle + width : w->count;
      for (int32_t a = first, b = middle, to = first; to < end; ++to) {
        const bool takes_a = a < middle && (b == end || compare(&w->items[w->order[a]],
                                                                &w->items[w->order[b]]) <= 0);
        room[to] = w->order[takes_a ? a++ : b++];
      }
    }
    memcpy(w->order, room, (size_t)w->count * sizeof *room);
  }
}

rheos__watches *rheos__watches_new(const rheos__watch *items, int32_t count) {
  rheos__watches *w = rheos__alloc_zeroed(sizeof *w);
  int32_t *room = rheos__alloc_array((size_t)count, sizeof *room);
  if (w != NULL) {
    atomic_init(&w->references, 1);
    w->order = rheos__alloc_array((size_t)count, sizeof *w->order);
    w->items = rheos__alloc_array((size_t)count, sizeof *w->items);
  }
  if (w == NULL || room == NULL || w->order == NULL || w->items == NULL) {
    rheos__watches_unref(w);
    rheos__free(room);
    return NULL;
  }
  for (; w->count < count; ++w->count) {
    w->items[w->count] = items[w->count];
    rheos_graph_ref(items[w->count].graph);
    w->order[w->count] = w->count;
  }
  sort(w, room);
  rheos__free(room);
  return w;
}

rheos__watches *rheos__watches_ref(rheos__watches *watches) {
  if (watches != NULL) atomic_fetch_add_explicit(&watches->references, 1, memory_order_relaxed);
  return watches;
}

void rheos__watches_unref(rheos__watches *watches) {
  if (watches == NULL) return;
  if (atomic_fetch_sub_explicit(&watches->references, 1, memory_order_acq_rel) > 1) return;
  for (int32_t i = 0; i < watches->count; ++i) rheos_graph_unref(watches->items[i].graph);
  rheos__free(watches->items);
  rheos__free(watches->order);
  rheos__free(watches);
}

bool rheos__watches_equal(const rheos__watches *a, const rheos__watches *b) {
  if (a == NULL || b == NULL || a->count != b->count) return a == b;
  for (int32_t i = 0; i < a->count; ++i) {
    if (compare(&a->items[i], &b->items[i]) != 0) return false;
  }
  return true;
}

// The first in `order` that does not come before the edge.
static int32_t first_from(const rheos__watches *w, const rheos__watch *wanted) {
  int32_t first = 0, end = w->count;
  while (first < end) {
    const int32_t middle = first + (end - first) / 2;
    if (compare(&w->items[w->order[middle]], wanted) < 0) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

static rheos__watch edge_of(const rheos_graph *graph, int32_t id) {
  return (rheos__watch){(rheos_graph *)(uintptr_t)graph, {id, 0}};
}

int32_t rheos__watches_of_node(const rheos__watches *watches, const rheos_graph *graph, int32_t id,
                               int32_t *out_first) {
  const rheos__watch from = edge_of(graph, id), behind = edge_of(graph, id + 1);
  *out_first = first_from(watches, &from);
  return first_from(watches, &behind) - *out_first;
}

bool rheos__watches_any_of(const rheos__watches *watches, const rheos_graph *graph) {
  if (watches == NULL) return false;
  const rheos__watch from = edge_of(graph, 0);
  const int32_t first = first_from(watches, &from);
  return first < watches->count && watches->items[watches->order[first]].graph == graph;
}
