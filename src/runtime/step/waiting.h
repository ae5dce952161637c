// How steps wait: for what, and until when.
#ifndef RHEOS_SRC_RUNTIME_STEP_WAITING_H
#define RHEOS_SRC_RUNTIME_STEP_WAITING_H

#include "resource/waitable.h"
#include "runtime/step/step.h"

// Whether `status` is what a kernel answers whose attempt was set aside.
bool rheos__is_set_aside(const rheos_status *status);

// Sleeps until the step's bell rings, one of its attempts having been done since the last look, or
// the step is to stop, which a poll tells.
void rheos__step_sleep(rheos__step *step);

// Waits until `is_over` says so, the step is to stop, or something failed that it went on with: it
// goes on with whatever else there is, and sleeps when nothing is left.
void rheos__step_wait(rheos__step *step, bool (*is_over)(const void *argument),
                      const void *argument);
// Of what the step went on with something has failed: who waits gives up.
bool rheos__step_others_failed(const rheos__step *step);
rheos_status *rheos__others_error(void);

// Ends what an attempt does for the step, which goes on without it. False if it was done.
bool rheos__attempt_end(rheos__attempt *attempt, rheos__step *step);

// The answer of an attempt that is done, which is taken, or a failure of one that had to be
// withdrawn because the step is to stop. The attempt may go on with another one: then that is set
// aside.
rheos_status *rheos__attempt_answer_take(rheos__attempt *attempt, rheos__step *step,
                                         rheos_tensor **outputs);

#endif  // RHEOS_SRC_RUNTIME_STEP_WAITING_H
