// Crowds: where a group holds more boxes than can be laid out and looked at, what is linked goes
// together into boxes of its own, which are cut likewise until all are small.
#include <stdlib.h>

#include "../command.h"
#include "hierarchy.h"

enum { MOST_CROWDS = 60, LEAST_MEMBERS = 20 };

// Neighbours of members of the groups that are cut: those of item i are
// to[first[i] ... first[i + 1]).
typedef struct neighbours {
  size_t *first;
  int32_t *to;
} neighbours;

static void find_neighbours(const hierarchy *h, neighbours *n) {
  n->first = command_alloc(((size_t)h->count + 2) * sizeof *n->first);
  n->to = command_alloc(2 * h->num_links * sizeof *n->to);
  for (size_t i = 0; i < h->num_links; i++) {
    n->first[h->links[i].from + 2]++;
    n->first[h->links[i].to + 2]++;
  }
  for (int32_t i = 1; i <= h->count; i++) n->first[i + 1] += n->first[i];
  for (size_t i = 0; i < h->num_links; i++) {
    const hierarchy_link *link = &h->links[i];
    for (int way = 0; way < 2; way++) {
      const size_t at = n->first[(way == 0 ? link->from : link->to) + 1]++;
      n->to[at] = way == 0 ? link->to : link->from;
    }
  }
}

typedef struct cutting {
  hierarchy *h;
  neighbours near;
  int32_t *queue;    // members that are linked to what was placed
  bool *is_waiting;  // of each item: it is in the queue, or was
} cutting;

static void put_into(hierarchy *h, int32_t crowd, int32_t item) {
  h->items[crowd].num_nodes += h->items[item].num_nodes;
  h->items[item].parent = crowd;
}

// From each member that is left, in the order of the graph, one goes along the links, breadth
// first; what is met fills one crowd after the other. So all but the last one are full.
static void cut_group(cutting *c, int32_t group, const int32_t *members, int32_t count) {
  const int32_t even = (count + MOST_CROWDS - 1) / MOST_CROWDS;
  const int32_t most = even > LEAST_MEMBERS ? even : LEAST_MEMBERS;
  int32_t crowd = -1, placed = 0;
  for (int32_t i = 0; i < count; i++) {
    int32_t at = 0, end = 0;
    if (!c->is_waiting[members[i]]) c->queue[end++] = members[i];
    c->is_waiting[members[i]] = true;
    for (; at < end; at++) {
      if (placed++ % most == 0) {
        crowd =
            hierarchy_add(c->h, (hierarchy_item){.kind = ITEM_CROWD, .parent = group, .label = ""});
      }
      const int32_t item = c->queue[at];
      put_into(c->h, crowd, item);
      for (size_t k = c->near.first[item]; k < c->near.first[item + 1]; k++) {
        const int32_t other = c->near.to[k];
        if (c->is_waiting[other] || c->h->items[other].aside != ASIDE_NOT) continue;
        c->is_waiting[other] = true;
        c->queue[end++] = other;
      }
    }
  }
}

// The members of a group that are drawn, if they are too many; else 0.
static int32_t too_many(const hierarchy *h, const int32_t *members, int32_t count,
                        int32_t *out_drawn) {
  int32_t drawn = 0;
  for (int32_t i = 0; i < count; i++) {
    if (h->items[members[i]].aside == ASIDE_NOT) out_drawn[drawn++] = members[i];
  }
  return drawn > HIERARCHY_MOST_BOXES ? drawn : 0;
}

// One cut of each group that needs one; false if none did.
static bool cut_once(hierarchy *h) {
  const int32_t count = h->count;
  int32_t *first, *members, *drawn = command_alloc((size_t)count * sizeof *drawn);
  hierarchy_members(h, &first, &members);
  cutting c = {.h = h};
  for (int32_t group = hierarchy_root(h); group < count; group++) {
    const int32_t num_drawn =
        too_many(h, members + first[group], first[group + 1] - first[group], drawn);
    if (num_drawn == 0) continue;
    if (c.queue == NULL) {
      find_neighbours(h, &c.near);
      c.queue = command_alloc((size_t)count * sizeof *c.queue);
      c.is_waiting = command_alloc((size_t)count * sizeof *c.is_waiting);
    }
    cut_group(&c, group, drawn, num_drawn);
  }
  free(first);
  free(members);
  free(drawn);
  free(c.near.first);
  free(c.near.to);
  free(c.queue);
  free(c.is_waiting);
  return h->count > count;
}

void hierarchy_crowds(hierarchy *h) {
  do {
    hierarchy_links(h);
  } while (cut_once(h));
}
