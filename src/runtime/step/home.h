// A home for steps: what a session, an eager context or a server has for the steps that it runs,
// whatever these do. Every step begins and ends here, so a deadline, a cancellation and the closing
// of the home mean the same to all of them, and whoever asks what waits is told of all.
#ifndef RHEOS_SRC_RUNTIME_STEP_HOME_H
#define RHEOS_SRC_RUNTIME_STEP_HOME_H

#include <pthread.h>

#include "plan/entries/plan.h"
#include "runtime/step/step.h"
#include "runtime/step/tasks.h"
#include "runtime/step/watch_list.h"

enum { RHEOS__HOME_CLOSED = 1, RHEOS__HOME_USER = 2 };  // as `users` counts

struct rheos__home {
  const char *owner;  // what is closed, as errors say it: "Session"
  rheos_host *host;
  rheos__resources *own_resources;  // NULL: it has the host's
  rheos__plan_context context;      // of the plans that its steps run
  rheos__bodies *bodies;            // functions that steps call
  rheos__tasks *tasks;              // what goes on between steps
  rheos__bell closing;              // rings when it is closed
  rheos__waits waits;               // what its steps wait for
  bool shares_instances;            // all its steps take part in the same collectives
  _Atomic int64_t users;            // who may not be disturbed: steps, threads that plan
  pthread_mutex_t mutex;            // guards what follows
  pthread_cond_t empty;
  bool is_empty;                    // it is closed, and the last user has left
  rheos__collectives *collectives;  // NULL until a step asks
  rheos__instances *instances;      // that its steps share; NULL until one asks, or if they do not
  rheos__watch_list *watches;       // of its owner, borrowed; NULL: it has none. Not guarded
  struct rheos__watched_function *watched_functions;  // that datasets call: watched_calls.c
  struct rheos__watched_bodies *outliving;            // that are called by what went: the same
};

typedef struct rheos__home_options {
  const char *owner;
  rheos_host *host;             // NULL: one of its own,
  rheos_host_options own_host;  // with these devices and threads; zeros where a host is given
  bool has_resources;           // of its own, which go when it is closed
  bool shares_instances;        // of collectives, among all of its steps; else each has its own
  // What plans know beside the host, the resources and the bodies, which the home fills in. Of
  // `num_threads` more than the host has count as none: all of the host's.
  rheos__plan_context context;
} rheos__home_options;

// Makes a home of zeros. To be deinitialised, after a failure too.
rheos_status *rheos__home_init(rheos__home *home, const rheos__home_options *options);
// Closes it. No user may be left, other than in a forked child.
void rheos__home_deinit(rheos__home *home);

// Steps and tasks that are under way are stopped and waited for, and none begins any more. Any
// number of threads may close it, but no step of its own.
void rheos__home_close(rheos__home *home);
// Lets go of the plans of functions, and of its own resources. It is closed.
void rheos__home_clear(rheos__home *home);

// Counts the caller in: the home is not closed before it leaves. RHEOS_FAILED_PRECONDITION if it is
// closed.
static inline rheos_status *rheos__home_enter(rheos__home *home);
static inline void rheos__home_leave(rheos__home *home);

// Enters and begins a step; if that fails nothing has begun.
static inline rheos_status *rheos__home_begin_step(rheos__home *home,
                                                   const rheos_run_options *options,
                                                   rheos__step *step);
// Ends it as rheos__step_end_take() does, and leaves.
static inline rheos_status *rheos__home_end_step_take(rheos__step *step, rheos_status *status);

static inline bool rheos__home_is_closed(const rheos__home *home) {
  return (atomic_load(&home->users) & RHEOS__HOME_CLOSED) != 0;
}

// ---- Who enters or leaves changes one number, and takes no lock; only the last one to leave a
// home that is closed wakes who closes it. From then on the home may be gone: nothing is looked at
// after leaving.

rheos_status *rheos__home_closed_error(const rheos__home *home);
void rheos__home_say_empty(rheos__home *home);

static inline rheos_status *rheos__home_enter(rheos__home *home) {
  int64_t users = atomic_load_explicit(&home->users, memory_order_relaxed);
  while (__builtin_expect((users & RHEOS__HOME_CLOSED) == 0, 1)) {
    if (atomic_compare_exchange_weak(&home->users, &users, users + RHEOS__HOME_USER)) return NULL;
  }
  return rheos__home_closed_error(home);
}

static inline void rheos__home_leave(rheos__home *home) {
  const int64_t users = atomic_fetch_sub(&home->users, RHEOS__HOME_USER);
  if (users == RHEOS__HOME_USER + RHEOS__HOME_CLOSED) rheos__home_say_empty(home);
}

static inline rheos_status *rheos__home_begin_step(rheos__home *home,
                                                   const rheos_run_options *options,
                                                   rheos__step *step) {
  RHEOS_TRY(rheos__home_enter(home));
  rheos__step_init(step, home, options);
  rheos_status *status = rheos__step_begin(step);
  if (status != NULL) rheos__home_leave(home);
  return status;
}

static inline rheos_status *rheos__home_end_step_take(rheos__step *step, rheos_status *status) {
  rheos__home *home = step->home;
  status = rheos__step_end_take(step, status);
  rheos__home_leave(home);
  return status;
}

#endif  // RHEOS_SRC_RUNTIME_STEP_HOME_H
