// Series: alike members of a scope whose labels differ in a number, "layer", "layer_1", "layer_2".
// Scopes are alike when they hold the same ops, linked likewise. Nodes are when all are linked to
// the same others: so a chain, or many inputs of one sum, but not each product of a model without
// scopes.
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "../hash.h"
#include "hierarchy.h"

enum { LEAST_SCOPES = 3, LEAST_NODES = 5 };

typedef struct member {
  uint64_t key;  // of label and structure
  uint64_t neighbours;
  int64_t number;
  int32_t item;
} member;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Where the last digits of a label are; without any, a '_' and digits are left out at its end.
static void find_digits(const hierarchy_item *item, size_t *out_first, size_t *out_end) {
  size_t end = item->label_bytes;
  while (end > 0 && !is_digit(item->label[end - 1])) end--;
  size_t first = end;
  while (first > 0 && is_digit(item->label[first - 1])) first--;
  *out_first = end > 0 ? first : item->label_bytes;
  *out_end = end > 0 ? end : item->label_bytes;
}

static member member_of(const hierarchy *h, int32_t number) {
  const hierarchy_item *item = &h->items[number];
  size_t first, end;
  find_digits(item, &first, &end);
  member m = {.item = number, .number = 0};
  for (size_t i = first; i < end && m.number < INT64_MAX / 16; i++) {
    m.number = 10 * m.number + (item->label[i] - '0');
  }
  // "layer" goes with "layer_1".
  const size_t stem = first == end || item->label[first - (first > 0)] != '_' ? first : first - 1;
  const uint64_t tail = hash_bytes(7, item->label + end, item->label_bytes - end);
  m.key = hierarchy_mix(hash_bytes(item->hash, item->label, stem) + 3 * tail +
                        (uint64_t)item->kind * 11 + (uint64_t)item->aside * 13);
  return m;
}

static int compare_members(const void *a, const void *b) {
  const member *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->number != y->number) return x->number < y->number ? -1 : 1;
  return x->item < y->item ? -1 : x->item > y->item;
}

static int compare_hashes(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

// Of each item what it is linked to, but for what stands aside and what could be of its series.
static uint64_t *neighbours_of(const hierarchy *h, const uint64_t *keys) {
  uint64_t *sums = command_alloc((size_t)h->count * sizeof *sums);
  for (size_t i = 0; i < h->num_links; i++) {
    const hierarchy_link *link = &h->links[i];
    if (keys[link->from] == keys[link->to]) continue;
    if (h->items[link->from].aside == ASIDE_NOT) {
      sums[link->to] += hierarchy_mix((uint64_t)link->from * 2 + 1);
    }
    if (h->items[link->to].aside == ASIDE_NOT) {
      sums[link->from] += hierarchy_mix((uint64_t)link->to * 2);
    }
  }
  return sums;
}

// Whether all but two, the ends of a chain, have the same neighbours.
static bool are_linked_alike(const member *members, size_t count) {
  uint64_t *all = command_alloc(count * sizeof *all);
  for (size_t i = 0; i < count; i++) all[i] = members[i].neighbours;
  qsort(all, count, sizeof *all, compare_hashes);
  size_t most = 0;
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && all[end] == all[i];) end++;
    if (end - i > most) most = end - i;
  }
  free(all);
  return most + 2 >= count;
}

static void fold(hierarchy *h, const member *members, size_t count) {
  const hierarchy_item first = h->items[members[0].item];
  const bool is_node = first.kind == ITEM_NODE;
  if (first.label_bytes == 0 || count < (is_node ? LEAST_NODES : LEAST_SCOPES)) return;
  if (is_node && !are_linked_alike(members, count)) return;
  int32_t num_nodes = 0;
  for (size_t i = 0; i < count; i++) num_nodes += h->items[members[i].item].num_nodes;
  const int32_t series = hierarchy_add(h, (hierarchy_item){.kind = ITEM_SERIES,
                                                           .aside = first.aside,
                                                           .parent = first.parent,
                                                           .label = first.label,
                                                           .label_bytes = first.label_bytes,
                                                           .num_nodes = num_nodes,
                                                           .hash = first.hash});
  for (size_t i = 0; i < count; i++) h->items[members[i].item].parent = series;
}

static void fold_group(hierarchy *h, member *members, size_t count) {
  if (count > 1) qsort(members, count, sizeof *members, compare_members);
  size_t num_series = 0;
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && members[end].key == members[i].key;) end++;
    num_series += end - i == count;
  }
  // A scope that would be nothing but one series is one already.
  if (num_series == 1) return;
  for (size_t i = 0, end; i < count; i = end) {
    for (end = i + 1; end < count && members[end].key == members[i].key;) end++;
    fold(h, members + i, end - i);
  }
}

void hierarchy_series(hierarchy *h) {
  hierarchy_links(h);
  const int32_t count = h->count;
  int32_t *first, *items;
  hierarchy_members(h, &first, &items);
  uint64_t *keys = command_alloc((size_t)count * sizeof *keys);
  member *members = command_alloc((size_t)count * sizeof *members);
  for (int32_t i = 0; i < count; i++) keys[i] = member_of(h, i).key;
  uint64_t *neighbours = neighbours_of(h, keys);
  for (int32_t group = hierarchy_root(h); group < count; group++) {
    size_t num_members = 0;
    for (int32_t at = first[group]; at < first[group + 1]; at++) {
      members[num_members] = member_of(h, items[at]);
      members[num_members++].neighbours = neighbours[items[at]];
    }
    fold_group(h, members, num_members);
  }
  free(first);
  free(items);
  free(keys);
  free(members);
  free(neighbours);
}
