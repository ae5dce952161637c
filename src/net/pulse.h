// Whether the tasks that are waited for are there. A call to a task that has not answered for a
// while is watched: the task is asked every second and a half for its status, and where it does not
// answer that within four, the calls to it are lost. So a task that was killed, frozen or cut off
// is noticed where no call has a deadline.
#ifndef RHEOS_SRC_NET_PULSE_H
#define RHEOS_SRC_NET_PULSE_H

#include <pthread.h>
#include <stdatomic.h>

#include "net/transport.h"

typedef struct rheos__watched_call rheos__watched_call;

// Part of a call. Zeros but for these two.
struct rheos__watched_call {
  int32_t task;
  // Ends the call, which is lost; called with the pulse's mutex.
  void (*lose)(rheos__watched_call *call);
  int64_t since_ns;
  atomic_bool is_lost;
  rheos__watched_call *before, *next;
};

typedef struct rheos__pulse rheos__pulse;
typedef struct rheos__asked_task rheos__asked_task;

struct rheos__pulse {
  const rheos__transport *transport;
  // The channel to a task; NULL: there is none.
  rheos__channel *(*channel)(void *argument, int32_t task);
  void *argument;
  void (*told_lost)(void *argument, int32_t task);  // of a task whose calls are lost; NULL: nobody
  void *told_lost_argument;
  pthread_mutex_t mutex;  // guards what follows
  pthread_cond_t changed;
  pthread_t thread;
  bool has_thread, is_ending;
  rheos__watched_call *calls;
  rheos__asked_task *tasks;
  int32_t num_tasks, num_asked;
};

// Of so many tasks. To be deinitialised, after a failure too.
rheos_status *rheos__pulse_init(rheos__pulse *pulse, int32_t num_tasks);
void rheos__pulse_deinit(rheos__pulse *pulse);  // nothing is watched

void rheos__pulse_watch(rheos__pulse *pulse, rheos__watched_call *call);
void rheos__pulse_unwatch(rheos__pulse *pulse, rheos__watched_call *call);

#endif  // RHEOS_SRC_NET_PULSE_H
