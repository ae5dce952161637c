// Strands: where several bodies that a step has called wait, any of them may be the first that can
// go on, so each but the first runs on a thread of its own. Only the strand whose turn it is runs;
// it gives the turn away where it would sleep. So what the strands of a step share needs no locks.
#ifndef RHEOS_SRC_RUNTIME_STEP_STRANDS_H
#define RHEOS_SRC_RUNTIME_STEP_STRANDS_H

#include "runtime/step/step.h"

// Begins a strand that calls run(argument), `depth` calls deep and inside of `others`, and gives it
// the turn; comes back when the calling strand has its turn again, which may be before the other
// has ended. Where no thread can be had for it nothing is called, and `*out_begun` is false.
rheos_status *rheos__strand_begin(rheos__step *step, int32_t depth, rheos__others *others,
                                  void (*run)(void *argument), void *argument, bool *out_begun);

// Gives the turn to another strand that can go on or, if there is none, to the step's own thread,
// where the step sleeps; comes back with the turn. False: the calling strand may sleep.
bool rheos__strands_turn(rheos__step *step);

// Whether the calling thread is the step's own.
bool rheos__strand_is_own(const rheos__step *step);
#endif  // RHEOS_SRC_RUNTIME_STEP_STRANDS_H
