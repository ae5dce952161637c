// Scopes by the names of nodes, and loops of version 1 by their frames: the scope that holds most
// of a frame is the loop, and what of the frame is named elsewhere goes into it, too. Where a scope
// holds much else, the loop is a group of its own in it.
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "../hash.h"
#include "frames.h"
#include "hierarchy.h"

// ---- Scopes: found by the group that they lie in and their label

typedef struct scope_table {
  int32_t *slots;  // an item plus 1, 0: free
  size_t num_slots, count;
} scope_table;

static size_t scope_slot(const hierarchy *h, const scope_table *t, int32_t parent,
                         const char *label, size_t label_bytes) {
  size_t at = (size_t)hash_bytes((uint64_t)parent * 31, label, label_bytes) & (t->num_slots - 1);
  for (; t->slots[at] != 0; at = (at + 1) & (t->num_slots - 1)) {
    const hierarchy_item *item = &h->items[t->slots[at] - 1];
    if (item->parent == parent && item->label_bytes == label_bytes &&
        memcmp(item->label, label, label_bytes) == 0) {
      break;
    }
  }
  return at;
}

static void grow_table(const hierarchy *h, scope_table *t) {
  scope_table larger = {.num_slots = 2 * t->num_slots + 1024 - t->num_slots % 1024};
  while ((larger.num_slots & (larger.num_slots - 1)) != 0) larger.num_slots++;
  larger.slots = command_alloc(larger.num_slots * sizeof *larger.slots);
  larger.count = t->count;
  for (size_t i = 0; i < t->num_slots; i++) {
    if (t->slots[i] == 0) continue;
    const hierarchy_item *item = &h->items[t->slots[i] - 1];
    larger.slots[scope_slot(h, &larger, item->parent, item->label, item->label_bytes)] =
        t->slots[i];
  }
  free(t->slots);
  *t = larger;
}

static int32_t scope_in(hierarchy *h, scope_table *t, int32_t parent, const char *label,
                        size_t label_bytes) {
  if (2 * t->count >= t->num_slots) grow_table(h, t);
  const size_t at = scope_slot(h, t, parent, label, label_bytes);
  if (t->slots[at] == 0) {
    t->slots[at] = 1 + hierarchy_add(h, (hierarchy_item){.kind = ITEM_SCOPE,
                                                         .parent = parent,
                                                         .label = label,
                                                         .label_bytes = label_bytes});
    t->count++;
  }
  return t->slots[at] - 1;
}

// The '/' that ends the first label of a name; NULL: the name is one label. Labels are not empty,
// so what stands about a '/' of "a//b" or "a/" belongs to them.
static const char *label_end(const char *name) {
  for (const char *at = strchr(name, '/'); at != NULL; at = strchr(at + 1, '/')) {
    if (at > name && at[1] != '\0') return at;
  }
  return NULL;
}

// Makes the scopes along a name that begins in a group, up to `stop` (NULL: to its last label);
// `*name` is then what is left.
static int32_t walk(hierarchy *h, scope_table *t, int32_t group, const char **name,
                    const char *stop) {
  const char *end;
  for (int depth = 0; depth < HIERARCHY_MOST_DEPTH && (end = label_end(*name)) != NULL; depth++) {
    if (stop != NULL && end > stop) break;
    group = scope_in(h, t, group, *name, (size_t)(end - *name));
    *name = end + 1;
  }
  return group;
}

static void place_node(hierarchy *h, scope_table *t, int32_t node, int32_t group,
                       const char *name) {
  group = walk(h, t, group, &name, NULL);  // which may move the items
  h->items[node].parent = group;
  h->items[node].label = name;
  h->items[node].label_bytes = strlen(name);
}

static void place_by_names(hierarchy *h, scope_table *t) {
  for (int32_t i = 0; i < h->nodes.count; i++) {
    place_node(h, t, i, hierarchy_root(h), h->nodes.names[i]);
  }
}

// ---- Loops

// Where the nodes of a frame go.
typedef struct loop {
  const char *home;  // the scope that holds most of them, as the start of a name: borrowed
  size_t home_bytes;
  bool is_alone;      // that scope holds little else: it is the loop
  int32_t item;       // the loop; 0: not made yet
  int32_t elsewhere;  // what of it has other names; 0: nothing
} loop;

typedef struct loops {
  hierarchy *h;
  scope_table *scopes;
  const frames *frames;
  loop *all;  // by frame
} loops;

// The names of a scope as places in one of its nodes' names; the whole graph's is "".
static void set_home(loop *l, const hierarchy *h, int32_t scope) {
  size_t before = 0;
  if (scope == hierarchy_root(h)) return;
  for (int32_t at = h->items[scope].parent; at != hierarchy_root(h); at = h->items[at].parent) {
    before += h->items[at].label_bytes + 1;
  }
  l->home = h->items[scope].label - before;
  l->home_bytes = before + h->items[scope].label_bytes;
}

// The innermost scope that holds more than half of these nodes. `counts` is zeros, by item.
static int32_t scope_of_most(const hierarchy *h, const int32_t *nodes, int32_t count,
                             int32_t *counts) {
  int32_t best = hierarchy_root(h);
  for (int32_t i = 0; i < count; i++) {
    for (int32_t at = h->items[nodes[i]].parent; at >= 0; at = h->items[at].parent) {
      // Scopes come behind what they lie in.
      if (2 * ++counts[at] > count && at > best) best = at;
    }
  }
  for (int32_t i = 0; i < count; i++) {
    for (int32_t at = h->items[nodes[i]].parent; at >= 0; at = h->items[at].parent) counts[at] = 0;
  }
  return best;
}

static int32_t *count_inside(const hierarchy *h) {
  int32_t *inside = command_alloc((size_t)h->count * sizeof *inside);
  for (int32_t i = 0; i < h->nodes.count; i++) {
    for (int32_t at = h->items[i].parent; at >= 0; at = h->items[at].parent) inside[at]++;
  }
  return inside;
}

// The scopes by names are there.
static void find_homes(loops *l) {
  const hierarchy *h = l->h;
  const int32_t num_nodes = h->nodes.count, num_frames = l->frames->count;
  int32_t *first = command_alloc(((size_t)num_frames + 2) * sizeof *first);
  int32_t *nodes = command_alloc((size_t)num_nodes * sizeof *nodes);
  int32_t *counts = command_alloc((size_t)h->count * sizeof *counts), *inside = count_inside(h);
  for (int32_t i = 0; i < num_nodes; i++) first[l->frames->of_node[i] + 2]++;
  for (int32_t i = 1; i <= num_frames; i++) first[i + 1] += first[i];
  for (int32_t i = 0; i < num_nodes; i++) nodes[first[l->frames->of_node[i] + 1]++] = i;
  for (int32_t i = 1; i < num_frames; i++) {
    const int32_t scope = scope_of_most(h, nodes + first[i], first[i + 1] - first[i], counts);
    set_home(&l->all[i], h, scope);
    l->all[i].is_alone =
        scope != hierarchy_root(h) && 2 * l->frames->rows[i].num_nodes >= inside[scope];
  }
  free(first);
  free(nodes);
  free(counts);
  free(inside);
}

// Whether a name is of a loop's scope, or is that scope's own where it may be.
static bool is_at_home(const loop *l, const char *name, size_t name_bytes) {
  if (l->home_bytes == 0) return true;
  if (name_bytes < l->home_bytes || memcmp(name, l->home, l->home_bytes) != 0) return false;
  return name_bytes > l->home_bytes + 1 && name[l->home_bytes] == '/';
}

static size_t behind_home(const loop *l) { return l->home_bytes + (l->home_bytes > 0); }

static int32_t elsewhere_in(loops *l, int32_t frame);

static int32_t make_loop(loops *l, int32_t number) {
  const frame *row = &l->frames->rows[number];
  const loop *own = &l->all[number], *outer = &l->all[row->parent];
  const char *name = own->home, *end = own->home + own->home_bytes;
  int32_t group = hierarchy_root(l->h);
  if (row->parent != FRAME_NONE) {
    const bool is_same = own->home_bytes == outer->home_bytes &&
                         (own->home_bytes == 0 || memcmp(name, outer->home, own->home_bytes) == 0);
    if (is_same) {
      group = outer->item;
      name = end;
    } else if (own->home_bytes > 0 && is_at_home(outer, name, own->home_bytes)) {
      group = outer->item;
      name += behind_home(outer);
    } else if (own->home_bytes > 0) {
      group = elsewhere_in(l, row->parent);
    }
  }
  if (own->home_bytes > 0 && name < end) group = walk(l->h, l->scopes, group, &name, end);
  hierarchy_item *scope = &l->h->items[group];
  if (own->is_alone && scope->kind == ITEM_SCOPE && scope->loop == NULL) {
    scope->loop = row->name;
    return group;
  }
  return hierarchy_add(l->h, (hierarchy_item){.kind = ITEM_LOOP,
                                              .parent = group,
                                              .label = row->name,
                                              .label_bytes = strlen(row->name),
                                              .loop = row->name});
}

// The loop's group; those around it are made first.
static int32_t loop_of(loops *l, int32_t number) {
  loop *own = &l->all[number];
  const int32_t around = l->frames->rows[number].parent;
  if (own->item != 0) return own->item;
  if (around != FRAME_NONE) loop_of(l, around);
  own->item = make_loop(l, number);
  return own->item;
}

static int32_t elsewhere_in(loops *l, int32_t number) {
  const int32_t item = loop_of(l, number);
  if (l->all[number].elsewhere == 0) {
    l->all[number].elsewhere =
        hierarchy_add(l->h, (hierarchy_item){.kind = ITEM_ELSEWHERE, .parent = item, .label = ""});
  }
  return l->all[number].elsewhere;
}

static void place_by_loops(loops *l) {
  for (int32_t i = 0; i < l->h->nodes.count; i++) {
    const char *name = l->h->nodes.names[i];
    const int32_t number = l->frames->of_node[i];
    const loop *own = &l->all[number];
    if (number == FRAME_NONE) {
      place_node(l->h, l->scopes, i, hierarchy_root(l->h), name);
    } else if (is_at_home(own, name, strlen(name))) {
      const int32_t group = loop_of(l, number);
      place_node(l->h, l->scopes, i, group, name + behind_home(own));
    } else {
      place_node(l->h, l->scopes, i, elsewhere_in(l, number), name);
    }
  }
}

// What lies where is found by names first, then told anew.
static void find_loops(hierarchy *h, scope_table *t, const frames *f) {
  loops l = {.h = h, .scopes = t, .frames = f};
  l.all = command_alloc((size_t)f->count * sizeof *l.all);
  for (int32_t i = 0; i < f->count; i++) l.all[i].home = "";
  find_homes(&l);
  h->count = hierarchy_root(h) + 1;
  memset(t->slots, 0, t->num_slots * sizeof *t->slots);
  t->count = 0;
  place_by_loops(&l);
  free(l.all);
}

// ---- The whole

// What is named as a scope goes into it.
static void put_named_into_scopes(hierarchy *h, const scope_table *t) {
  for (int32_t i = 0; i < h->nodes.count; i++) {
    hierarchy_item *item = &h->items[i];
    const int32_t scope = t->slots[scope_slot(h, t, item->parent, item->label, item->label_bytes)];
    if (scope == 0) continue;
    item->parent = scope - 1;
    item->label_bytes = 0;
  }
}

// Whether a scope says nothing but the start of the label of what it holds.
static bool is_chain(const hierarchy_item *scope, int32_t size, const hierarchy_item *only) {
  const bool has_label = only->kind == ITEM_NODE || only->kind == ITEM_SCOPE;
  return scope->kind == ITEM_SCOPE && scope->loop == NULL && size == 1 && has_label &&
         only->label_bytes > 0;
}

// A scope that holds one item only becomes a part of that item's label. Groups come behind what
// they lie in, so the parents of those that stay are final.
static void join_chains(hierarchy *h) {
  int32_t *sizes = command_alloc((size_t)h->count * sizeof *sizes);
  int32_t *last = command_alloc((size_t)h->count * sizeof *last);
  int32_t *numbers = command_alloc((size_t)h->count * sizeof *numbers);
  for (int32_t i = 0; i < h->count; i++) {
    if (h->items[i].parent < 0) continue;
    sizes[h->items[i].parent]++;
    last[h->items[i].parent] = i;
  }
  const int32_t root = hierarchy_root(h);
  int32_t count = root;
  for (int32_t i = root; i < h->count; i++) {
    const bool is_joined = i > root && is_chain(&h->items[i], sizes[i], &h->items[last[i]]);
    numbers[i] = is_joined ? -1 : count++;
  }
  for (int32_t pass = 0; pass < 2; pass++) {  // groups from above, then nodes
    const int32_t first = pass == 0 ? root + 1 : 0, last = pass == 0 ? h->count : root;
    for (int32_t i = first; i < last; i++) {
      hierarchy_item *item = &h->items[i];
      const hierarchy_item *around = &h->items[item->parent];
      if (numbers[item->parent] >= 0) continue;
      item->label -= around->label_bytes + 1;
      item->label_bytes += around->label_bytes + 1;
      item->parent = around->parent;
    }
  }
  for (int32_t i = 0; i < h->count; i++) {
    hierarchy_item *item = &h->items[i];
    if (item->parent >= 0) item->parent = numbers[item->parent];
    if (i >= root && numbers[i] >= 0) h->items[numbers[i]] = *item;
  }
  h->count = count;
  free(sizes);
  free(last);
  free(numbers);
}

void hierarchy_scopes(hierarchy *h) {
  scope_table table = {.num_slots = 0};
  frames f;
  frames_find(&f, &h->nodes);
  grow_table(h, &table);
  place_by_names(h, &table);
  if (f.count > 1) find_loops(h, &table, &f);
  frames_deinit(&f);
  put_named_into_scopes(h, &table);
  free(table.slots);
  join_chains(h);
}
