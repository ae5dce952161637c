// Resources that ops wait for: queues and their kin. What an op wants of one is an attempt.
// Attempts that put and attempts that take stand in two lines, each served in its order, the first
// one until it is done, unless its kind lets others pass; whoever changes the resource serves both
// lines. So the thread that brings what was missing does the work of the one that waits, and rings
// its bell.
#ifndef RHEOS_SRC_RESOURCE_WAITABLE_H
#define RHEOS_SRC_RESOURCE_WAITABLE_H

#include "base/bell.h"
#include "resource/resource.h"

typedef struct rheos__waitable rheos__waitable;
typedef struct rheos__attempt rheos__attempt;
typedef struct rheos__step rheos__step;

typedef enum rheos__side { RHEOS__PUTS, RHEOS__TAKES } rheos__side;

// What became of an attempt that was tried.
typedef enum rheos__tried {
  RHEOS__TRIED_IN_VAIN,   // nothing has changed
  RHEOS__TRIED_PROGRESS,  // something has, and it is to be tried again
  RHEOS__TRIED_DONE,      // it is over: `status` says how
} rheos__tried;

typedef struct rheos__attempt_kind {
  const char *what;                              // that it waits for: "an element"
  rheos__tried (*run)(rheos__attempt *attempt);  // under the resource's mutex
  // Puts back what was taken by an attempt that ends before it is done; under the mutex. NULL:
  // nothing.
  void (*give_back)(rheos__attempt *attempt);
  // What the op answers when the attempt is done and was no failure, on the step's thread; it may
  // begin another attempt by rheos__step_attempt_take(). NULL: nothing.
  rheos_status *(*finish)(rheos__attempt *attempt, rheos__step *step, rheos_tensor **outputs);
  void (*deinit)(rheos__attempt *attempt);  // frees what the attempt holds; NULL: nothing
  bool lets_pass;                           // those behind it in its line are tried while it waits
  // The attempt goes on by itself, so a step ends with it: where something else of the step has
  // failed, and, unless it may be left, where the step is to stop.
  bool is_awaited, may_be_left;
} rheos__attempt_kind;

// Something that a step waits for, as reports tell it: `what` of `kind` 'name'.
typedef struct rheos__wait rheos__wait;
struct rheos__wait {
  const char *what, *kind, *name;
  int64_t since_ns;               // of the monotonic clock
  const _Atomic bool *is_over;    // NULL: it ends where it is forgotten
  struct rheos__waits *noted_by;  // NULL: nobody
  rheos__wait *before, *after;
};

// Zeros but for what rheos__attempt_init() sets; in memory of rheos__alloc(), at its start.
struct rheos__attempt {
  const rheos__attempt_kind *kind;
  rheos__waitable *on;  // counted
  rheos__side side;
  rheos_status *status;  // of an attempt that is done: its failure
  rheos__bell *bell;     // of who waits
  _Atomic bool is_done;  // set under the mutex
  rheos__attempt *previous, *next;
  rheos__wait wait;  // once it is noted
};

struct rheos__waitable {
  rheos__resource base;
  pthread_mutex_t mutex;
  rheos__attempt *first[2], *last[2];  // by side
};

void rheos__waitable_init(rheos__waitable *waitable);
void rheos__waitable_deinit(rheos__waitable *waitable);

void rheos__attempt_init(rheos__attempt *attempt, const rheos__attempt_kind *kind,
                         rheos__waitable *on, rheos__side side);
// Joins its line and serves both; true if it is done then, and nobody else looks at it any more.
// Until it was ended the bell must last.
bool rheos__attempt_begin(rheos__attempt *attempt, rheos__bell *bell);
// Leaves the line if it still stands there, giving back what it took. False if it was done.
bool rheos__attempt_withdraw(rheos__attempt *attempt);
// After that, or before it began.
void rheos__attempt_free(rheos__attempt *attempt);

static inline bool rheos__attempt_is_done(const rheos__attempt *attempt) {
  return atomic_load(&attempt->is_done);
}

// ---- Who waits, for a report

typedef struct rheos__waits {
  pthread_mutex_t mutex;
  rheos__wait *first;
} rheos__waits;

void rheos__waits_init(rheos__waits *waits);
void rheos__waits_deinit(rheos__waits *waits);
// From now on until it is forgotten; `waits` NULL: nothing.
void rheos__waits_note(rheos__waits *waits, rheos__wait *wait);
void rheos__waits_forget(rheos__wait *wait);
// An attempt from now on, which is `now_ns`, until it is freed.
void rheos__waits_note_attempt(rheos__waits *waits, rheos__attempt *attempt, int64_t now_ns);
// A line for each that is not over: what is waited for and how long, at `now_ns` of the monotonic
// clock; for rheos__free().
rheos_status *rheos__waits_tell(rheos__waits *waits, int64_t now_ns, char **out_text);

// ---- With the resource's mutex held

// Serves both lines as long as that changes anything.
void rheos__waitable_serve(rheos__waitable *waitable);
// Ends all attempts of a side with errors of that code and text.
void rheos__waitable_fail(rheos__waitable *waitable, rheos__side side, rheos_code code,
                          const char *text);

#endif  // RHEOS_SRC_RESOURCE_WAITABLE_H
