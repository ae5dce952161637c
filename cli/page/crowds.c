// Crowds: where a group holds more boxes than can be laid out and looked at, what is linked goes
// together into boxes of its own, which are cut likewise until all are small.
#include <stdlib.h>
#include <string.h>

#include "../command.h"
#include "hierarchy.h"

enum { MOST_CROWDS = 60, LEAST_MEMBERS = 20 };

// Neighbours of members of the groups that are cut: those of item i are
// to[first[i] ... first[i + 1]), with how many edges lead there.
typedef struct neighbours {
  size_t *first;
  int32_t *to, *counts;
} neighbours;

static void find_neighbours(const hierarchy *h, neighbours *n) {
  n->first = command_alloc(((size_t)h->count + 2) * sizeof *n->first);
  n->to = command_alloc(2 * h->num_links * sizeof *n->to);
  n->counts = command_alloc(2 * h->num_links * sizeof *n->counts);
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
      n->counts[at] = link->count + link->controls;
    }
  }
}

typedef struct cutting {
  hierarchy *h;
  neighbours near;
  int32_t *crowd_of;  // of each item of before: the crowd that it was put into, -1: none yet
  int32_t *sizes;     // of crowds, by item
  int32_t *weights;   // of crowds, while a member's is looked for
} cutting;

// The crowd with room that most edges of a member lead to; -1: none.
static int32_t nearest_crowd(const cutting *c, int32_t item, int32_t group, int32_t most) {
  int32_t best = -1;
  for (size_t at = c->near.first[item]; at < c->near.first[item + 1]; at++) {
    const int32_t crowd = c->crowd_of[c->near.to[at]];
    if (crowd < 0 || c->h->items[crowd].parent != group || c->sizes[crowd] >= most) continue;
    c->weights[crowd] += c->near.counts[at];
    if (best < 0 || c->weights[crowd] > c->weights[best]) best = crowd;
  }
  for (size_t at = c->near.first[item]; at < c->near.first[item + 1]; at++) {
    const int32_t crowd = c->crowd_of[c->near.to[at]];
    if (crowd >= 0) c->weights[crowd] = 0;
  }
  return best;
}

// `members` stand in the order of the graph. Those that no edge leads to go to the crowd that is
// open, so that no more crowds are made than the members fill.
static void cut_group(cutting *c, int32_t group, const int32_t *members, int32_t count) {
  const int32_t even = (count + MOST_CROWDS - 1) / MOST_CROWDS;
  const int32_t most = even > LEAST_MEMBERS ? even : LEAST_MEMBERS;
  int32_t open = -1;
  for (int32_t i = 0; i < count; i++) {
    int32_t crowd = nearest_crowd(c, members[i], group, most);
    if (crowd < 0 && (open < 0 || c->sizes[open] >= most)) {
      open =
          hierarchy_add(c->h, (hierarchy_item){.kind = ITEM_CROWD, .parent = group, .label = ""});
    }
    if (crowd < 0) crowd = open;
    c->crowd_of[members[i]] = crowd;
    c->sizes[crowd]++;
    c->h->items[crowd].num_nodes += c->h->items[members[i]].num_nodes;
    c->h->items[members[i]].parent = crowd;
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
    if (c.crowd_of == NULL) {
      find_neighbours(h, &c.near);
      c.crowd_of = command_alloc((size_t)count * sizeof *c.crowd_of);
      memset(c.crowd_of, -1, (size_t)count * sizeof *c.crowd_of);
      c.sizes = command_alloc(2 * (size_t)count * sizeof *c.sizes);
      c.weights = command_alloc(2 * (size_t)count * sizeof *c.weights);
    }
    cut_group(&c, group, drawn, num_drawn);
  }
  free(first);
  free(members);
  free(drawn);
  free(c.near.first);
  free(c.near.to);
  free(c.near.counts);
  free(c.crowd_of);
  free(c.sizes);
  free(c.weights);
  return h->count > count;
}

void hierarchy_crowds(hierarchy *h) {
  do {
    hierarchy_links(h);
  } while (cut_once(h));
}
