// The functions that watched plans call have bodies of their own, for each set of edges
// (plan/entries/watch.h): other plans and bodies are as if nobody watched.
#ifndef RHEOS_SRC_RUNTIME_CALL_WATCHED_BODIES_H
#define RHEOS_SRC_RUNTIME_CALL_WATCHED_BODIES_H

#include "runtime/call/bodies.h"

// The bodies of watched plans, by what they watch. They stay as long as who runs the plans.
typedef struct rheos__watched_bodies {
  struct rheos__watched_bodies *next;
  rheos__watches *watches;  // counted
  rheos__bodies *bodies;
} rheos__watched_bodies;

// The bodies for equal watches, which are made if there are none. `context` is that of the plans
// that are not watched.
rheos_status *rheos__watched_bodies_find(rheos__watched_bodies **first,
                                         const rheos__plan_context *context,
                                         rheos__watches *watches,
                                         rheos__watched_bodies **out_found);
// No step runs, and none will.
void rheos__watched_bodies_clear(rheos__watched_bodies *first);
void rheos__watched_bodies_free(rheos__watched_bodies *first);

#endif  // RHEOS_SRC_RUNTIME_CALL_WATCHED_BODIES_H
