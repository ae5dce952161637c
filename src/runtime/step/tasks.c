// Tasks of a home: the pool runs them, each in a step of its own that ends with the home.
#include "runtime/step/tasks.h"

#include <assert.h>
#include <pthread.h>

#include "base/alloc.h"
#include "base/available_memory.h"
#include "runtime/step/home.h"

typedef struct rheos__posted posted;
struct rheos__posted {
  rheos__pool_task base;
  rheos__tasks *of;
  rheos__task *task;
  posted *next, *previous;  // of those that have not begun
};

struct rheos__tasks {
  _Atomic int32_t references;
  _Atomic int64_t buffered;
  int64_t budget;
  pthread_mutex_t mutex;  // guards what follows
  pthread_cond_t idle;
  rheos__home *home;  // until it is closed
  rheos_host *host;   // the home's
  posted *first;
  int32_t num_running;
  bool is_closed;
};

rheos__tasks *rheos__tasks_new(rheos__home *home) {
  rheos__tasks *tasks = rheos__alloc_zeroed(sizeof *tasks);
  if (tasks == NULL) return NULL;
  atomic_init(&tasks->references, 1);
  pthread_mutex_init(&tasks->mutex, NULL);
  pthread_cond_init(&tasks->idle, NULL);
  tasks->home = home;
  tasks->host = home->host;
  const uint64_t available = rheos__available_memory();
  tasks->budget = available > INT64_MAX ? INT64_MAX / 2 : (int64_t)(available / 2);
  return tasks;
}

_Atomic int64_t *rheos__tasks_buffered(rheos__tasks *tasks) { return &tasks->buffered; }
int64_t rheos__tasks_budget(const rheos__tasks *tasks) { return tasks->budget; }

rheos__tasks *rheos__step_tasks(const rheos__step *step) {
  rheos__tasks *tasks = step != NULL && step->home != NULL ? step->home->tasks : NULL;
  if (tasks != NULL) atomic_fetch_add_explicit(&tasks->references, 1, memory_order_relaxed);
  return tasks;
}

void rheos__tasks_unref(rheos__tasks *tasks) {
  if (tasks == NULL) return;
  if (atomic_fetch_sub_explicit(&tasks->references, 1, memory_order_acq_rel) > 1) return;
  pthread_cond_destroy(&tasks->idle);
  pthread_mutex_destroy(&tasks->mutex);
  rheos__free(tasks);
}

rheos_cancellation *rheos__cancellation_new(void) { return rheos_cancellation_new(); }
void rheos__cancellation_cancel(rheos_cancellation *cancellation) { rheos_cancel(cancellation); }
void rheos__cancellation_free(rheos_cancellation *cancellation) {
  rheos_cancellation_free(cancellation);
}

int32_t rheos__tasks_capacity(const rheos__tasks *tasks) {
  if (tasks == NULL || rheos__pool_is_forked(tasks->host->pool)) return 0;
  return rheos__pool_num_threads(tasks->host->pool) - 1;
}

// ---- Running, with the mutex held but for the run itself

static void begin(rheos__tasks *tasks) {
  ++tasks->num_running;
  atomic_fetch_add_explicit(&tasks->references, 1, memory_order_relaxed);
}

static void end(rheos__tasks *tasks) {
  pthread_mutex_lock(&tasks->mutex);
  if (--tasks->num_running == 0) pthread_cond_broadcast(&tasks->idle);
  pthread_mutex_unlock(&tasks->mutex);
  rheos__tasks_unref(tasks);
}

static void unlink_posted(posted *p) {
  *(p->previous != NULL ? &p->previous->next : &p->of->first) = p->next;
  if (p->next != NULL) p->next->previous = p->previous;
  p->task->posted = NULL;
}

// What stops a task, the task itself has to tell those that wait for it.
static void run_step(const rheos__tasks *tasks, rheos__task *task) {
  const rheos_run_options options = {.cancellation = task->cancellation};
  rheos__step step;
  rheos__step_init(&step, tasks->home, &options);
  rheos_status *status = rheos__step_begin(&step);
  if (status == NULL) {
    task->run(task, &step);
    status = rheos__step_end_take(&step, NULL);
  } else {
    task->drop(task);
  }
  rheos_status_free(status);
}

static void run_posted(rheos__pool_task *base) {
  posted *p = (posted *)base;
  rheos__tasks *tasks = p->of;
  rheos__task *task = p->task;
  pthread_mutex_lock(&tasks->mutex);
  const bool is_closed = tasks->is_closed;
  begin(tasks);
  unlink_posted(p);
  pthread_mutex_unlock(&tasks->mutex);
  rheos__free(p);
  if (is_closed) {
    task->drop(task);
  } else {
    run_step(tasks, task);
  }
  end(tasks);
  rheos__tasks_unref(tasks);  // the posted one's
}

bool rheos__task_post(rheos__tasks *tasks, rheos__task *task) {
  if (rheos__tasks_capacity(tasks) == 0) return false;
  posted *p = rheos__alloc_zeroed(sizeof *p);
  if (p == NULL) return false;
  *p = (posted){.base = {.run = run_posted}, .of = tasks, .task = task};
  pthread_mutex_lock(&tasks->mutex);
  assert(task->posted == NULL);
  p->next = tasks->first;
  if (p->next != NULL) p->next->previous = p;
  tasks->first = p;
  task->posted = p;
  atomic_fetch_add_explicit(&tasks->references, 1, memory_order_relaxed);
  const bool is_posted = !tasks->is_closed && rheos__pool_post(tasks->host->pool, &p->base);
  if (!is_posted) unlink_posted(p);
  pthread_mutex_unlock(&tasks->mutex);
  if (is_posted) return true;
  rheos__free(p);
  rheos__tasks_unref(tasks);
  return false;
}

// With the mutex held. The posted one's reference is the caller's then.
static bool withdraw(rheos__tasks *tasks, posted *p) {
  if (!rheos__pool_withdraw(tasks->host->pool, &p->base)) return false;
  unlink_posted(p);
  return true;
}

bool rheos__task_withdraw(rheos__tasks *tasks, rheos__task *task) {
  pthread_mutex_lock(&tasks->mutex);
  posted *p = task->posted;
  const bool is_out = p != NULL && withdraw(tasks, p);
  pthread_mutex_unlock(&tasks->mutex);
  if (!is_out) return false;
  rheos__free(p);
  rheos__tasks_unref(tasks);
  return true;
}

bool rheos__tasks_run_here(rheos__tasks *tasks, void (*body)(void *argument, rheos__step *step),
                           void *argument) {
  if (tasks == NULL) return false;
  pthread_mutex_lock(&tasks->mutex);
  const bool is_closed = tasks->is_closed;
  if (!is_closed) begin(tasks);
  pthread_mutex_unlock(&tasks->mutex);
  if (is_closed) return false;
  rheos__step step;
  rheos__step_init(&step, tasks->home, NULL);
  rheos_status *status = rheos__step_begin(&step);
  if (status == NULL) {
    body(argument, &step);
    status = rheos__step_end_take(&step, NULL);
  }
  rheos_status_free(status);
  end(tasks);
  return true;
}

// ---- The end

// One that has not begun, withdrawn; NULL: there is none, or a worker has each.
static posted *withdraw_any(rheos__tasks *tasks) {
  for (posted *p = tasks->first; p != NULL; p = p->next) {
    if (withdraw(tasks, p)) return p;
  }
  return NULL;
}

// A forked child has none of the threads that ran tasks.
static bool are_gone(const rheos__tasks *tasks) { return rheos__pool_is_forked(tasks->host->pool); }

void rheos__tasks_close(rheos__tasks *tasks) {
  if (tasks == NULL) return;
  pthread_mutex_lock(&tasks->mutex);
  tasks->is_closed = true;
  for (posted *p; !are_gone(tasks) && (p = withdraw_any(tasks)) != NULL;) {
    rheos__task *task = p->task;
    pthread_mutex_unlock(&tasks->mutex);
    rheos__free(p);
    task->drop(task);
    rheos__tasks_unref(tasks);
    pthread_mutex_lock(&tasks->mutex);
  }
  while (!are_gone(tasks) && (tasks->num_running > 0 || tasks->first != NULL)) {
    pthread_cond_wait(&tasks->idle, &tasks->mutex);
  }
  pthread_mutex_unlock(&tasks->mutex);
}

int32_t rheos__tasks_num_running(rheos__tasks *tasks) {
  pthread_mutex_lock(&tasks->mutex);
  const int32_t count = tasks->num_running;
  pthread_mutex_unlock(&tasks->mutex);
  return count;
}
