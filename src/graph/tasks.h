// Work that goes on between steps, on the threads of the session's host: what prefetches. Defined
// by the runtime, which ends it before the session is closed.
#ifndef RHEOS_SRC_GRAPH_TASKS_H
#define RHEOS_SRC_GRAPH_TASKS_H

#include <stdatomic.h>

#include "graph/op_def.h"

// The tasks of a session. Counted, since what posts tasks may outlive the session.
typedef struct rheos__tasks rheos__tasks;

// At the start of the poster's own struct, zeros but for the first three.
typedef struct rheos__task rheos__task;
struct rheos__task {
  // Runs in a step of its own. May free the task.
  void (*run)(rheos__task *task, rheos__step *step);
  void (*drop)(rheos__task *task);          // instead: it was cancelled, or the session is closed
  struct rheos_cancellation *cancellation;  // stops that step
  struct rheos__posted *posted;             // while it waits for a thread
};

// What stops tasks: the public type of <rheos/session.h>, for kernels.
typedef struct rheos_cancellation rheos_cancellation;
rheos_cancellation *rheos__cancellation_new(void);
void rheos__cancellation_cancel(rheos_cancellation *cancellation);
void rheos__cancellation_free(rheos_cancellation *cancellation);

// The tasks of the session that the step is of, with a reference for the caller; NULL: it has none.
rheos__tasks *rheos__step_tasks(const rheos__step *step);
void rheos__tasks_unref(rheos__tasks *tasks);  // NULL: nothing

// How many tasks can run at a time: 0 where there are no threads for them.
int32_t rheos__tasks_capacity(const rheos__tasks *tasks);
// Bytes that what runs ahead in the session holds, to be added to, and those that it should hold at
// most: half of the memory that could be had when the session was made.
_Atomic int64_t *rheos__tasks_buffered(rheos__tasks *tasks);
int64_t rheos__tasks_budget(const rheos__tasks *tasks);
// False, and then `run` and `drop` are not called: there is no thread for it, no memory, or the
// session is closed.
bool rheos__task_post(rheos__tasks *tasks, rheos__task *task);
// True if it had not begun: it will not.
bool rheos__task_withdraw(rheos__tasks *tasks, rheos__task *task);
// Calls body(argument, step) here, in a step of its own. False if the session is closed.
bool rheos__tasks_run_here(rheos__tasks *tasks, void (*body)(void *argument, rheos__step *step),
                           void *argument);

// For kernels that sleep where no attempt can stand: the bell that wakes the step, which hears from
// now on what ends it; and sleeping until that rings. False: the step is to stop.
rheos__bell *rheos__step_listen(rheos__step *step);
bool rheos__step_doze(rheos__step *step);
// What the session tells who asks, from now on until rheos__waits_forget(); once it is noted,
// nothing.
struct rheos__wait;
void rheos__step_note_wait(rheos__step *step, struct rheos__wait *wait);

// Whether what the step does is noted in a trace, and noting a part of what a kernel does under a
// name that stays. By the thread that runs the step.
bool rheos__step_is_noted(const rheos__step *step);
void rheos__step_note(rheos__step *step, const char *name, int64_t start_ns, int64_t end_ns);

#endif  // RHEOS_SRC_GRAPH_TASKS_H
