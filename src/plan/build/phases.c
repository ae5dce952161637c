// Phases: what a step does before members of collectives begin.
//
// A member of a collective brings its value and then waits for others, which wait for it too. So it
// is to begin as soon as its value is there, while the step goes on with what it does not need:
// sums of gradients are on their way while others are computed. First comes what the first few
// members need, then what the next few need besides, and last all else. A node's phase is the first
// one of those of the members that follow from it. So phases only grow along edges, and stretches
// may be cut by them as by what nodes wait for (stretches.c). Members that follow from less come
// first, as gradients of the last layers do.
#include "plan/build/builder.h"

#include <stdlib.h>
#include <string.h>

#include "graph/effect_order.h"

enum { MAX_PHASES = 8 };  // more stretches cost more than waits that end sooner save

typedef struct meeting {
  int32_t id;
  int64_t num_needed;  // nodes that it follows from
} meeting;

typedef struct phaser {
  const rheos__builder *b;
  meeting *meetings;
  int32_t count;
  int32_t *stamps;  // of each node: one more than the last member found to follow from it
} phaser;

static int by_needs(const void *a, const void *b) {
  const meeting *x = a, *y = b;
  if (x->num_needed != y->num_needed) return x->num_needed < y->num_needed ? -1 : 1;
  return x->id < y->id ? -1 : 1;
}

static void stamp_inputs(const phaser *p, int32_t id, int32_t stamp) {
  const rheos__node *node = rheos__graph_node(p->b->plan->graph, id);
  for (int32_t i = 0; i < node->num_inputs + node->num_control_inputs; ++i) {
    const rheos__edge edge = node->edges[i];
    if (rheos__plan_feed_of(p->b->plan, edge) < 0) p->stamps[edge.id] = stamp;
  }
}

// Stamps all that the member follows from; how many nodes that are.
static int64_t stamp_needs(const phaser *p, int32_t id, int32_t stamp) {
  int64_t count = 0;
  stamp_inputs(p, id, stamp);
  for (size_t i = p->b->num_order; i > 0; --i) {
    const int32_t other = p->b->order[i - 1];
    if (p->stamps[other] != stamp) continue;
    stamp_inputs(p, other, stamp);
    ++count;
  }
  return count;
}

static void find_meetings(phaser *p, const int32_t *waits) {
  for (size_t i = 0; i < p->b->num_order; ++i) {
    const int32_t id = p->b->order[i];
    if (waits[id] == 0 || !rheos__meets_others(rheos__graph_node(p->b->plan->graph, id))) continue;
    p->meetings[p->count++] = (meeting){.id = id};
  }
}

static void set_phases(phaser *p, int32_t *phases) {
  const rheos__builder *b = p->b;
  const int32_t num_phases = p->count < MAX_PHASES ? p->count : MAX_PHASES;
  for (int32_t m = 0; m < p->count; ++m) {
    p->meetings[m].num_needed = stamp_needs(p, p->meetings[m].id, m + 1);
  }
  qsort(p->meetings, (size_t)p->count, sizeof *p->meetings, by_needs);
  for (size_t i = 0; i < b->num_order; ++i) phases[b->order[i]] = num_phases;
  for (int32_t m = p->count; m > 0; --m) {  // the first one last
    const int32_t phase = (int32_t)((int64_t)(m - 1) * num_phases / p->count);
    const int32_t stamp = p->count + m;
    stamp_needs(p, p->meetings[m - 1].id, stamp);
    for (size_t i = 0; i < b->num_order; ++i) {
      if (p->stamps[b->order[i]] == stamp) phases[b->order[i]] = phase;
    }
  }
}

rheos_status *rheos__find_phases(rheos__builder *b, const int32_t *waits, int32_t *phases) {
  phaser p = {.b = b};
  p.meetings = rheos__alloc_array(b->num_order + 1, sizeof *p.meetings);
  p.stamps = rheos__alloc_zeroed(((size_t)b->num_nodes + 1) * sizeof *p.stamps);
  rheos_status *status = p.meetings == NULL || p.stamps == NULL ? rheos__out_of_memory() : NULL;
  if (status == NULL) find_meetings(&p, waits);
  if (p.count > 1) set_phases(&p, phases);
  rheos__free(p.meetings);
  rheos__free(p.stamps);
  return status;
}
