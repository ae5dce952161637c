// The threads that steps share. The pool owns the cores: libraries that have threads of their own
// are called with one.
#ifndef RHEOS_SRC_RUNTIME_THREADS_POOL_H
#define RHEOS_SRC_RUNTIME_THREADS_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

typedef struct rheos__pool rheos__pool;
typedef rheos_status *(*rheos__pool_body)(void *argument, int64_t first, int64_t last);

// A pool for `num_threads` threads, the caller's included. Threads start with the first parallel
// work.
rheos__pool *rheos__pool_new(int32_t num_threads);
// Whether this process was forked from the one that made the pool: its threads are not here.
bool rheos__pool_is_forked(const rheos__pool *pool);
void rheos__pool_free(rheos__pool *pool);
int32_t rheos__pool_num_threads(const rheos__pool *pool);

// Calls body(argument, first, last) on disjoint ranges that cover [0, num_units), on the caller's
// thread and on the pool's, and waits for all. If some fail, one of the errors comes back. Jobs of
// several callers share the pool's threads; `body` may run a job itself, which shares them too.
// With a NULL pool everything runs on the caller's thread.
rheos_status *rheos__pool_run(rheos__pool *pool, int64_t num_units, rheos__pool_body body,
                              void *argument);

// Of the thread that calls: 0, or the number of a pool's worker, from 1 on.
uint32_t rheos__pool_thread(void);

// The step that the calling thread works for, NULL for none: the one that was set, and of a thread
// that helps with a job that of the job. Setting returns the one before.
struct rheos__step *rheos__pool_step(void);
struct rheos__step *rheos__pool_set_step(struct rheos__step *step);

// While a watch is set for a thread, jobs that it hands out, and jobs inside them, tell it when
// each of the pool's workers was at work on them: one call at a time, all of them before
// rheos__pool_run() returns. A thread that waits for a job and helps with one inside it is not told
// of again.
typedef struct rheos__pool_watch {
  void (*note)(void *argument, uint32_t thread, int64_t start_ns, int64_t end_ns);
  void *argument;
} rheos__pool_watch;

// NULL: none. Returns the one before.
const rheos__pool_watch *rheos__pool_set_watch(const rheos__pool_watch *watch);

// Work that nobody waits for: a free worker does it when it comes to it, before it helps with jobs.
typedef struct rheos__pool_task rheos__pool_task;
struct rheos__pool_task {
  void (*run)(rheos__pool_task *task);  // may free the task
  rheos__pool_task *next;
  bool is_posted;
};

// False, with nothing changed, where no worker could do it: the pool has one thread, or the process
// was forked. The task must not be posted already.
bool rheos__pool_post(rheos__pool *pool, rheos__pool_task *task);
// True if the task was posted and no worker had come to it: now none will.
bool rheos__pool_withdraw(rheos__pool *pool, rheos__pool_task *task);
// Threads of the pool that exist, the callers' not counted, and how many of them run tasks now.
void rheos__pool_count(rheos__pool *pool, int32_t *out_threads, int32_t *out_tasks);

int64_t rheos__clock_ns(void);  // of the monotonic clock

// Work space for a range of units, aligned to 64 bytes, not initialised; NULL when memory is short.
// A thread of a pool keeps its own from one range to the next, and so do threads that run work of a
// pool.
void *rheos__pool_take_scratch(size_t size_bytes);
void rheos__pool_give_scratch(void *scratch);

#endif  // RHEOS_SRC_RUNTIME_THREADS_POOL_H
