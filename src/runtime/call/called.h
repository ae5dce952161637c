// What a plan calls, and what that calls in turn: bodies with their plans, for whoever looks at
// plans.
#ifndef RHEOS_SRC_RUNTIME_CALL_CALLED_H
#define RHEOS_SRC_RUNTIME_CALL_CALLED_H

#include "graph/library.h"
#include "plan/entries/plan.h"

typedef struct rheos__called {
  int32_t depth;              // 0: called by the plan that was asked about
  const rheos__plan *caller;  // whose
  int32_t entry;              // calls it
  const char *role;           // what it is there: "then_branch", "body", "f"; "call" by its name
  int32_t number;             // in a list of functions; -1: it is in none
  const char *function;       // its name; NULL: part of the graph, raised (plan/raise/raise.h)
  struct rheos__graph_part *part;  // that part
  const rheos_func *func;          // the attribute; NULL: the op itself is the function
  const rheos__plan *plan;  // without segments where no shapes were asked for; NULL: `problem`
  rheos_status *problem;    // why there is none
  bool is_again;            // the plan came before; what it calls does not come again
  int64_t trips;  // of a loop, for what it calls: where they are known beforehand; else -1
} rheos__called;

// Calls `visit` for each body, what it calls right behind it, until it fails. No step runs
// meanwhile.
rheos_status *rheos__visit_called(const rheos__plan *plan,
                                  rheos_status *(*visit)(void *argument,
                                                         const rheos__called *called),
                                  void *argument);

// How often the loop's body runs; -1: nobody knows before.
int64_t rheos__known_trips(const rheos__called *loop, const rheos__function *condition,
                           const rheos__function *body);
int64_t rheos__known_trips_of_for(const rheos__called *loop);

#endif  // RHEOS_SRC_RUNTIME_CALL_CALLED_H
