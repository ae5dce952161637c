// One step that is watched: its observer tells the watches what it delivers.
#ifndef RHEOS_SRC_RUNTIME_STEP_WATCHED_STEP_H
#define RHEOS_SRC_RUNTIME_STEP_WATCHED_STEP_H

#include "runtime/step/observer.h"
#include "runtime/step/watch_list.h"

typedef struct rheos__watched_step {
  rheos__watch_set *set;    // counted; NULL: nothing is watched after all
  rheos__watches *watches;  // the set's
  rheos__watch_list *list;  // borrowed
  rheos__observer observer;
  const rheos__node *op;  // of the part
  const char *within;     // the function that the step is a call of; NULL: none
  int64_t number;
  rheos_statistics *latest;  // by watched edge, where a NaN is looked for; else NULL
  bool *is_known;            // of these
  bool has_told;             // of the NaN
  bool was_fed_numbers, was_fed_nan;
  bool is_short;    // an operation alone: a NaN that it was given, or read, was told of before
  bool is_telling;  // on the step's thread
} rheos__watched_step;

// A step of the session whose list it is. `values` are by feed; NULL is not looked at. To be
// deinitialised, after a failure too.
rheos_status *rheos__watched_step_init(rheos__watched_step *step, rheos__watch_list *list,
                                       const rheos__watched_part *part,
                                       rheos_tensor *const *values);
// A step of that set, which gets a reference.
rheos_status *rheos__watched_step_init_with(rheos__watched_step *step, rheos__watch_list *list,
                                            rheos__watch_set *set, const rheos__watched_part *part,
                                            rheos_tensor *const *values);
void rheos__watched_step_deinit(rheos__watched_step *step);

// Whether the calling thread is in a function of one of the list's watches, which what that
// function runs is not told to.
bool rheos__is_telling(const rheos__watch_list *list);

#endif  // RHEOS_SRC_RUNTIME_STEP_WATCHED_STEP_H
