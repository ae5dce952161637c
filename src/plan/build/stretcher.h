// What finding stretches works on: stretches.c tells what each node waits for and raises what is
// found, homes.c tells where each node is.
#ifndef RHEOS_SRC_PLAN_BUILD_STRETCHER_H
#define RHEOS_SRC_PLAN_BUILD_STRETCHER_H

#include "plan/build/builder.h"
#include "plan/raise/raise_impl.h"

enum { RHEOS__MAX_WAITS = 256, RHEOS__MAX_WAIT_SETS = 256 };
enum { RHEOS__WAIT_SET_WORDS = RHEOS__MAX_WAITS / 64 + 1 };  // phases have the last one

// Where a node is: the number of a set of ops that wait; or
enum {
  RHEOS__NOWHERE = -1,  // not needed
  RHEOS__FREE = -2,     // in every stretch that asks for it
  RHEOS__BY_ITSELF = -3,
  RHEOS__MANY = -4,  // asked for by several stretches, or from outside
};

typedef struct rheos__wait_set {
  uint64_t bits[RHEOS__WAIT_SET_WORDS];
} rheos__wait_set;

typedef struct rheos__stretcher {
  rheos__builder *b;
  rheos_graph *graph;
  rheos__wait_set of_sets[RHEOS__MAX_WAIT_SETS];
  int32_t num_sets, num_waits;
  rheos__raised units;  // loops and conditionals, each of which is in one stretch as a whole
  int32_t *unit_sets;
  // By node:
  int32_t *homes;
  int32_t *sets;      // of the ops that its inputs wait for
  int32_t *waits;     // one more than its number among those that may wait; 0: it may not
  int32_t *phases;    // how many come before its own: phases.c
  bool *is_apart;     // as if it waited
  bool *is_calm;      // it follows from constants and variables, and could be computed at any time
  bool *is_passing;   // of one that is free: it hands on a value that is not
  int32_t *takers;    // of a calm one: the only stretch that takes it; RHEOS__NOWHERE: none yet;
                      // RHEOS__MANY
  int32_t *touchers;  // of what names a variable: the only stretch that does more; likewise
  int32_t *draft_stamps;  // one more than the set whose draft waits for it
  bool *is_output;        // one of its outputs is one of its stretch
  bool *is_used_inside;
  // By set:
  rheos__draft *drafts;
  int32_t *num_members;
  bool any_new_apart, is_refused;
} rheos__stretcher;

static inline const rheos__node *rheos__stretcher_node(const rheos__stretcher *s, int32_t id) {
  return rheos__graph_node(s->graph, id);
}

static inline int32_t rheos__node_num_edges(const rheos__node *node) {
  return node->num_inputs + node->num_control_inputs;
}

static inline bool rheos__stretcher_is_fed(const rheos__stretcher *s, rheos__edge edge) {
  return rheos__plan_feed_of(s->b->plan, edge) >= 0;
}

// Whether who waits for the ops of a set waits for those of the other one too.
static inline bool rheos__stretcher_holds_all(const rheos__stretcher *s, int32_t set,
                                              int32_t other) {
  for (int i = 0; i < RHEOS__WAIT_SET_WORDS; ++i) {
    if ((s->of_sets[other].bits[i] & ~s->of_sets[set].bits[i]) != 0) return false;
  }
  return true;
}

// The loop or conditional that a node is in; -1: in none.
static inline int32_t rheos__stretcher_unit_of(const rheos__stretcher *s, int32_t id) {
  return s->units.count > 0 ? s->units.of_node[id] - 1 : -1;
}

// ---- homes.c

// Where each node is, by what it waits for.
void rheos__stretcher_find_homes(rheos__stretcher *s);
// What the edge is of, and whether that is a reference: what reads one takes that.
rheos__edge rheos__stretcher_look_through(const rheos__stretcher *s, rheos__edge edge,
                                          bool *out_is_reference);
// The value that an edge hands on.
rheos__edge rheos__stretcher_value_behind(const rheos__stretcher *s, rheos__edge edge);
// What waits for a read of a reference waits for what gave the reference.
rheos__edge rheos__stretcher_wait_behind(const rheos__stretcher *s, rheos__edge edge);
// The node that names the variable whose value input `i` is, or whose value the node reads through
// it; -1: it is something else.
int32_t rheos__stretcher_variable_read(const rheos__stretcher *s, const rheos__node *node,
                                       int32_t i);

#endif  // RHEOS_SRC_PLAN_BUILD_STRETCHER_H
