// Who waits for whom beside operands, kept true while rules change a plan. What waits for an entry
// that is dropped waits for what that waited for and took; what takes a value that was passed on
// waits for whom the entry waited that passed it on.
#ifndef RHEOS_SRC_PLAN_ENTRIES_WAIT_LISTS_H
#define RHEOS_SRC_PLAN_ENTRIES_WAIT_LISTS_H

#include "plan/entries/plan.h"

typedef struct rheos__wait_lists {
  int32_t *heads;  // of each entry, in `links`; -1: it waits for nobody. NULL: no entry waits
  struct rheos__wait_link {
    int32_t wait;  // an entry; or the complement of one: for whom that one waits
    int32_t next;  // -1: none
  } *links;
  size_t num_links, link_capacity;
} rheos__wait_lists;

rheos_status *rheos__wait_lists_init(rheos__wait_lists *lists, const rheos__plan *plan);
void rheos__wait_lists_deinit(rheos__wait_lists *lists);

// From now on `entry` waits for whom `through` waits. -1 for either: nothing happens.
rheos_status *rheos__wait_through(rheos__wait_lists *lists, int32_t entry, int32_t through);

// Writes the lists down as the plan's waits. The plan has its dropped entries still; what is
// written are the places that the others will have without them. `producer` gives the entry that an
// operand, by its place in plan->operands, is of by now, -1 for a feed.
rheos_status *rheos__wait_lists_store(const rheos__wait_lists *lists, rheos__plan *plan,
                                      int32_t (*producer)(void *argument, int32_t operand),
                                      void *argument);

#endif  // RHEOS_SRC_PLAN_ENTRIES_WAIT_LISTS_H
