// A running step: what the executor and the kernels it calls may ask of it.
#ifndef RHEOS_SRC_RUNTIME_STEP_STEP_H
#define RHEOS_SRC_RUNTIME_STEP_STEP_H

#include <rheos/session.h>
#include <stdatomic.h>

#include "graph/op_def.h"
#include "resource/collective.h"
#include "resource/rendezvous.h"
#include "runtime/step/host.h"
#include "runtime/step/observer.h"
#include "runtime/threads/pool.h"

struct rheos_cancellation {
  _Atomic int cancelled;
  rheos__bell bell;
};

// What else a step has to do while a kernel waits in the body that a plan on tokens has called.
typedef struct rheos__others rheos__others;
struct rheos__others {
  bool (*can_go_on)(const rheos__others *others);
  bool (*go_on)(rheos__others *others, rheos__step *step);  // whether there was something
  rheos__others *outer;  // of the body that this plan is of; NULL: none
  bool has_failed;       // the step is over
};

// What a step that waits does so for.
typedef struct rheos__awaited {
  bool (*is_over)(const void *argument);
  const void *argument;
} rheos__awaited;

typedef struct rheos__strands rheos__strands;  // strands.h
typedef struct rheos__home rheos__home;        // home.h

enum { RHEOS__STEP_BUDGET_NS = 1000000 };  // of guessed work between two polls

struct rheos__step {
  rheos__home *home;                 // NULL: it has no threads, and nothing but its options ends it
  rheos__pool *pool;                 // of the home's host
  const rheos_run_options *options;  // may be NULL
  rheos__step *outer;                // that its thread works for too
  int64_t deadline_ns;               // of the monotonic clock; 0: none
  int64_t next_ask_ns;               // when should_stop is asked again
  float budget_ns;                   // of guessed work before the step is polled again
  _Atomic int stopped;               // a rheos_code; 0: go on
  rheos__resources *resources;       // that live as long as the step; NULL until a kernel asks
  rheos__rendezvous *rendezvous;     // counted; NULL until a kernel asks
  rheos__instances *instances;       // of collectives; counted; NULL until a kernel asks
  rheos__trip trip;                  // that a kernel on tokens runs in
  int32_t depth;                     // of the calls under way
  struct rheos__call_states *states;         // of the iterator that is asked; NULL: none is
  const struct rheos__inferring *inferring;  // bodies whose results are being found out: bodies.c
  rheos__observers *observers;               // NULL: it has none
  // Waiting: waiting.h
  rheos__bell bell;  // rings when something that the step waits for is done
  rheos__attempt *
      *aside;             // where the kernel under way may leave its attempt; NULL: it waits itself
  rheos__others *others;  // of who called the body that runs; NULL: it can only sleep
  rheos__awaited awaited;
  rheos__strands *strands;  // NULL until a body waits while another one could run
  int32_t num_sleeps;
  bool is_listening;
  bool may_wait;  // of what it runs, something may have to wait: what that took is not to be lost
  bool has_told;  // the error of what waited says why the step was stopped
};

// A step of the home, which the caller has entered. `home` and `options` may be NULL. Their trace
// becomes an observer; others are added before the step begins.
void rheos__step_init(rheos__step *step, rheos__home *home, const rheos_run_options *options);

// What strands.h has of the step, if it has any.
void rheos__strands_free(rheos__step *step);

// Frees what the step has of its own.
static inline void rheos__step_deinit(rheos__step *step) {
  if (step->strands != NULL) rheos__strands_free(step);
  if (step->resources != NULL) rheos__resources_free(step->resources);
  step->resources = NULL;
  if (step->rendezvous != NULL) rheos__rendezvous_unref(step->rendezvous);
  step->rendezvous = NULL;
  if (step->instances != NULL) rheos__instances_unref(step->instances);
  step->instances = NULL;
  if (step->is_listening) rheos__bell_deinit(&step->bell);
  if (step->observers != NULL) rheos__free(step->observers->shares);
  step->observers = NULL;
}

// Begins, on the calling thread, which works for it until it ends. Fails, and nothing has begun, if
// its cancellation came before it.
static inline rheos_status *rheos__step_begin(rheos__step *step);
// Ends it, and deinitialises it. Comes back with `status`, which is taken, or with why the step was
// stopped; then what it gave is incomplete. A step that ends after its deadline has failed too,
// unless it may have had to wait.
static inline rheos_status *rheos__step_end_take(rheos__step *step, rheos_status *status);

// Whether to stop, looked up afresh: cancellation, deadline, and now and then should_stop. Only the
// thread that runs the step may call it.
bool rheos__step_poll(rheos__step *step);

// Has the step cancelled, from whichever of its threads.
void rheos__step_stop(rheos__step *step);

static inline bool rheos__step_is_observed(const rheos__step *step) {
  return step->observers != NULL;
}

// Whether threads share so much work (rheos__step_parallel).
bool rheos__step_is_parallel(const rheos__step *step, int64_t flops);

// The error of a stopped step.
rheos_status *rheos__step_error(const rheos__step *step);

// ---- Most steps have nothing that could stop them and nobody who looks on: those begin and end
// without a call.

rheos_status *rheos__step_greet(rheos__step *step);
rheos_status *rheos__step_part_take(rheos__step *step, rheos_status *status);

static inline rheos_status *rheos__step_begin(rheos__step *step) {
  if (step->options != NULL || rheos__step_is_observed(step)) RHEOS_TRY(rheos__step_greet(step));
  step->outer = rheos__pool_set_step(step);
  return NULL;
}

static inline rheos_status *rheos__step_end_take(rheos__step *step, rheos_status *status) {
  rheos__pool_set_step(step->outer);
  if (atomic_load(&step->stopped) != 0 || step->deadline_ns != 0 || rheos__step_is_observed(step)) {
    status = rheos__step_part_take(step, status);
  }
  rheos__step_deinit(step);
  return status;
}

#endif  // RHEOS_SRC_RUNTIME_STEP_STEP_H
