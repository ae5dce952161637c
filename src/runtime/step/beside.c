// Threads that run what kernels cannot wait for themselves: functions of the program, some of which
// wait for others. They belong to no session, since one that a step was stopped at may outlast it;
// a few of those that have nothing to do stay for a while.
#include "graph/op_def.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

enum { STACK_BYTES = 8 * 1024 * 1024 };  // the program's own code runs there
enum { MAX_IDLE = 16, STAY_S = 5 };

typedef struct worker worker;
struct worker {
  worker *next;  // that is idle
  pthread_t thread;
  pthread_cond_t called;
  void (*run)(void *argument);  // NULL: nothing yet
  void *argument;
};

// The child of a fork has none of the threads.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static worker *idle;
static int32_t num_idle;
static bool is_ending;
static pid_t process;

static void leave_idle(worker *w) {
  worker **at = &idle;
  while (*at != NULL && *at != w) at = &(*at)->next;
  if (*at == NULL) return;
  *at = w->next;
  --num_idle;
}

// With the mutex held. False: the worker is to go; nobody joins it but end_idle().
static bool await_call(worker *w) {
  if (num_idle == MAX_IDLE || is_ending) {
    pthread_detach(w->thread);
    return false;
  }
  w->run = NULL;
  w->next = idle;
  idle = w;
  ++num_idle;
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += STAY_S;
  int waited = 0;
  while (w->run == NULL && !is_ending && waited != ETIMEDOUT) {
    waited = pthread_cond_timedwait(&w->called, &mutex, &until);
  }
  if (w->run != NULL) return true;
  if (is_ending) return false;
  leave_idle(w);
  pthread_detach(w->thread);
  return false;
}

static void *work(void *argument) {
  worker *w = argument;
  w->thread = pthread_self();
  bool goes_on = true;
  while (goes_on) {
    w->run(w->argument);
    pthread_mutex_lock(&mutex);
    goes_on = await_call(w);
    pthread_mutex_unlock(&mutex);
  }
  pthread_cond_destroy(&w->called);
  rheos__free(w);
  return NULL;
}

// A library that is unloaded takes its code along. Who is at a function of the program is not
// waited for.
__attribute__((destructor)) static void end_idle(void) {
  pthread_t threads[MAX_IDLE];
  int32_t count = 0;
  pthread_mutex_lock(&mutex);
  if (process == getpid()) {
    is_ending = true;
    for (worker *w = idle; w != NULL; w = w->next) {
      threads[count++] = w->thread;
      pthread_cond_signal(&w->called);
    }
    idle = NULL;
    num_idle = 0;
  }
  pthread_mutex_unlock(&mutex);
  for (int32_t i = 0; i < count; ++i) pthread_join(threads[i], NULL);
}

static bool start(worker *w) {
  pthread_t thread;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  const bool started = pthread_create(&thread, &attributes, work, w) == 0;
  pthread_attr_destroy(&attributes);
  return started;
}

static bool start_new(void (*run)(void *argument), void *argument) {
  worker *w = rheos__alloc_zeroed(sizeof *w);
  if (w == NULL) return false;
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&w->called, &attributes);
  pthread_condattr_destroy(&attributes);
  w->run = run;
  w->argument = argument;
  if (start(w)) return true;
  pthread_cond_destroy(&w->called);
  rheos__free(w);
  return false;
}

bool rheos__run_beside(void (*run)(void *argument), void *argument) {
  pthread_mutex_lock(&mutex);
  if (process != getpid()) {
    process = getpid();
    idle = NULL;
    num_idle = 0;
  }
  worker *w = idle;
  if (w != NULL) {
    idle = w->next;
    --num_idle;
    w->run = run;
    w->argument = argument;
    pthread_cond_signal(&w->called);
  }
  pthread_mutex_unlock(&mutex);
  return w != NULL || start_new(run, argument);
}
