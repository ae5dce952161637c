// Hashes of what groups hold, links between members of a group, and the whole.
#include "hierarchy.h"

#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "../hash.h"

uint64_t hierarchy_mix(uint64_t hash) {
  hash = (hash ^ hash >> 31) * UINT64_C(0x9e3779b97f4a7c15);
  return hash ^ hash >> 29;
}

int32_t hierarchy_add(hierarchy *h, hierarchy_item item) {
  if ((size_t)h->count == h->capacity) {
    h->capacity = 2 * h->capacity + 64;
    h->items = command_realloc(h->items, h->capacity * sizeof *h->items);
  }
  h->items[h->count] = item;
  return h->count++;
}

// ---- What lies where

int32_t *hierarchy_depths(const hierarchy *h) {
  int32_t *depths = command_alloc((size_t)h->count * sizeof *depths);
  for (int32_t i = 0; i < h->count; i++) {
    for (int32_t at = h->items[i].parent; at >= 0; at = h->items[at].parent) depths[i]++;
  }
  return depths;
}

int32_t hierarchy_lift(const hierarchy *h, const int32_t *depths, int32_t *from, int32_t *to) {
  while (depths[*from] > depths[*to]) *from = h->items[*from].parent;
  while (depths[*to] > depths[*from]) *to = h->items[*to].parent;
  while (h->items[*from].parent != h->items[*to].parent) {
    *from = h->items[*from].parent;
    *to = h->items[*to].parent;
  }
  return h->items[*from].parent;
}

void hierarchy_members(const hierarchy *h, int32_t **out_first, int32_t **out_members) {
  int32_t *first = command_alloc(((size_t)h->count + 2) * sizeof *first);
  int32_t *members = command_alloc((size_t)h->count * sizeof *members);
  for (int32_t i = 0; i < h->count; i++) {
    if (h->items[i].parent >= 0) first[h->items[i].parent + 2]++;
  }
  for (int32_t i = 1; i <= h->count; i++) first[i + 1] += first[i];
  for (int32_t i = 0; i < h->count; i++) {
    if (h->items[i].parent >= 0) members[first[h->items[i].parent + 1]++] = i;
  }
  *out_first = first;
  *out_members = members;
}

// ---- What groups hold

static uint64_t edge_hash(const hierarchy *h, int32_t node, const hierarchy_edge *edge) {
  return hierarchy_mix(3 * h->items[edge->from].hash + 5 * h->items[node].hash +
                       (uint64_t)edge->output);
}

// Sums, since the order of members says nothing. Called before there are series, so groups come
// behind what they lie in.
static void count_and_hash(hierarchy *h) {
  const int32_t root = hierarchy_root(h);
  int32_t *depths = hierarchy_depths(h);
  for (int32_t i = 0; i < root; i++) {
    h->items[i].num_nodes = 1;
    h->items[i].hash = hierarchy_mix(hash_bytes(1, h->nodes.ops[i], strlen(h->nodes.ops[i])));
  }
  for (int32_t i = 0; i < root; i++) {
    for (size_t at = h->nodes.first_edge[i]; at < h->nodes.first_edge[i + 1]; at++) {
      const hierarchy_edge *edge = &h->nodes.edges[at];
      int32_t from = edge->from, to = i;
      if (from == HIERARCHY_MISSING || from == to) continue;
      h->items[hierarchy_lift(h, depths, &from, &to)].hash += edge_hash(h, i, edge);
    }
  }
  for (int32_t i = 0; i < root; i++) {
    h->items[h->items[i].parent].num_nodes++;
    h->items[h->items[i].parent].hash += h->items[i].hash;
  }
  for (int32_t i = h->count - 1; i > root; i--) {
    h->items[i].hash = hierarchy_mix(h->items[i].hash + (uint64_t)h->items[i].num_nodes);
    h->items[h->items[i].parent].num_nodes += h->items[i].num_nodes;
    h->items[h->items[i].parent].hash += h->items[i].hash;
  }
  free(depths);
}

// ---- Links

static int compare_links(const void *a, const void *b) {
  const hierarchy_link *x = a, *y = b;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  if (x->from != y->from) return x->from < y->from ? -1 : 1;
  return x->to < y->to ? -1 : x->to > y->to;
}

static hierarchy_link link_of(int32_t group, int32_t from, int32_t to, const hierarchy_edge *edge) {
  hierarchy_link link = {.group = group, .from = from, .to = to, .type = HIERARCHY_MIXED};
  if (edge->output == HIERARCHY_CONTROL) {
    link.controls = 1;
    return link;
  }
  link.count = 1;
  link.type = edge->type;
  link.bytes = edge->bytes;
  return link;
}

static void join_links(hierarchy_link *into, const hierarchy_link *link) {
  if (into->count == 0) into->type = link->type;
  if (link->count > 0 && link->type != into->type) into->type = HIERARCHY_MIXED;
  into->count += link->count;
  into->controls += link->controls;
  if (__builtin_add_overflow(into->bytes, link->bytes, &into->bytes)) into->bytes = INT64_MAX;
}

void hierarchy_links(hierarchy *h) {
  free(h->links);
  int32_t *depths = hierarchy_depths(h);
  const size_t num_edges = h->nodes.first_edge[h->nodes.count];
  hierarchy_link *links = command_alloc(num_edges * sizeof *links);
  size_t count = 0, joined = 0;
  for (int32_t i = 0; i < h->nodes.count; i++) {
    for (size_t at = h->nodes.first_edge[i]; at < h->nodes.first_edge[i + 1]; at++) {
      const hierarchy_edge *edge = &h->nodes.edges[at];
      int32_t from = edge->from, to = i;
      if (from == HIERARCHY_MISSING || from == to) continue;
      const int32_t group = hierarchy_lift(h, depths, &from, &to);
      links[count++] = link_of(group, from, to, edge);
    }
  }
  if (count > 1) qsort(links, count, sizeof *links, compare_links);
  for (size_t i = 0; i < count; i++) {
    if (joined > 0 && compare_links(&links[joined - 1], &links[i]) == 0) {
      join_links(&links[joined - 1], &links[i]);
    } else {
      links[joined++] = links[i];
    }
  }
  h->links = links;
  h->num_links = joined;
  free(depths);
}

// ---- Classes of equal groups

typedef struct hashed {
  uint64_t hash;
  int32_t item;
} hashed;

static int compare_hashed(const void *a, const void *b) {
  const hashed *x = a, *y = b;
  if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
  return x->item < y->item ? -1 : x->item > y->item;
}

static void find_classes(hierarchy *h) {
  hashed *scopes = command_alloc((size_t)h->count * sizeof *scopes);
  h->classes = command_alloc((size_t)h->count * sizeof *h->classes);
  size_t count = 0;
  int32_t num_classes = 0;
  for (int32_t i = hierarchy_root(h) + 1; i < h->count; i++) {
    if (h->items[i].kind == ITEM_SCOPE) scopes[count++] = (hashed){h->items[i].hash, i};
  }
  if (count > 1) qsort(scopes, count, sizeof *scopes, compare_hashed);
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && scopes[end].hash == scopes[i].hash;) end++;
    if (end == i + 1) continue;
    num_classes++;
    for (size_t k = i; k < end; k++) h->classes[scopes[k].item] = num_classes;
  }
  free(scopes);
}

// ---- The whole

void hierarchy_init(hierarchy *h, const hierarchy_nodes *nodes) {
  *h = (hierarchy){.nodes = *nodes};
  for (int32_t i = 0; i < nodes->count; i++) {
    hierarchy_add(h, (hierarchy_item){.kind = ITEM_NODE, .label = ""});
  }
  hierarchy_add(h, (hierarchy_item){.kind = ITEM_SCOPE, .parent = -1, .label = ""});
  hierarchy_scopes(h);
  count_and_hash(h);
  hierarchy_aside_nodes(h);
  hierarchy_series(h);
  hierarchy_crowds(h);
  hierarchy_links(h);
  find_classes(h);
}

void hierarchy_deinit(hierarchy *h) {
  free(h->items);
  free(h->links);
  free(h->classes);
}
