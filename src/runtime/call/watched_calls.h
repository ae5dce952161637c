// The functions of datasets while the home's owner is watched: whichever step made a dataset, and
// whichever goes over it, each call is a step of its own that is told of. Also what watched plans
// leave behind.
#ifndef RHEOS_SRC_RUNTIME_CALL_WATCHED_CALLS_H
#define RHEOS_SRC_RUNTIME_CALL_WATCHED_CALLS_H

#include "graph/library.h"
#include "runtime/call/watched_bodies.h"
#include "runtime/step/home.h"

// What of a function is watched.
typedef struct rheos__watched_function {
  struct rheos__watched_function *next;
  const rheos__function *function;
  rheos_graph *graph;     // of it; counted
  rheos__watch_set *set;  // counted
  int64_t version;        // of the watches when it was made
  rheos__bodies *bodies;  // NULL: nothing is watched
} rheos__watched_function;

// Takes bodies that no new site will be of. Where a dataset has sites of them, the home keeps them.
void rheos__home_leave_bodies(rheos__home *home, rheos__bodies *bodies, rheos__watches *watches);

// No step runs, and none will.
void rheos__watched_calls_clear(rheos__home *home);
void rheos__watched_calls_free(rheos__home *home);

#endif  // RHEOS_SRC_RUNTIME_CALL_WATCHED_CALLS_H
