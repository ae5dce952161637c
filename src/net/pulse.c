#include "net/pulse.h"

#include <time.h>

#include "base/alloc.h"
#include "base/status.h"
#include "net/methods.h"
#include "runtime/threads/pool.h"

// The transport looks every second whether a task that was not there has come.
enum { PERIOD_MS = 1500, ANSWER_MS = 4000 };

struct rheos__asked_task {
  rheos__pulse *pulse;
  rheos__outgoing *question;  // NULL: it is not being asked
};

rheos_status *rheos__pulse_init(rheos__pulse *pulse, int32_t num_tasks) {
  pthread_mutex_init(&pulse->mutex, NULL);
  pthread_cond_init(&pulse->changed, NULL);
  pulse->tasks = rheos__alloc_array((size_t)num_tasks + 1, sizeof *pulse->tasks);
  if (pulse->tasks == NULL) return rheos__out_of_memory();
  for (int32_t i = 0; i < num_tasks; i++) pulse->tasks[i].pulse = pulse;
  pulse->num_tasks = num_tasks;
  return NULL;
}

// ---- Asking

// Whether there was one.
static bool lose_calls(rheos__pulse *pulse, int32_t task) {
  bool any = false;
  for (rheos__watched_call *call = pulse->calls; call != NULL; call = call->next) {
    if (call->task != task || atomic_exchange(&call->is_lost, true)) continue;
    call->lose(call);
    any = true;
  }
  return any;
}

static void take_answer(void *argument, const rheos__reply *reply) {
  rheos__asked_task *asked = argument;
  rheos__pulse *pulse = asked->pulse;
  const bool is_lost = reply->code == RHEOS_UNAVAILABLE || reply->code == RHEOS_DEADLINE_EXCEEDED;
  pthread_mutex_lock(&pulse->mutex);
  const int32_t task = (int32_t)(asked - pulse->tasks);
  if (is_lost && lose_calls(pulse, task) && pulse->told_lost != NULL) {
    pulse->told_lost(pulse->told_lost_argument, task);
  }
  pulse->transport->forget(asked->question);
  asked->question = NULL;
  pulse->num_asked--;
  pthread_cond_broadcast(&pulse->changed);
  pthread_mutex_unlock(&pulse->mutex);
}

// With the mutex held, so the answer is taken when the question is known.
static void ask(rheos__pulse *pulse, int32_t task) {
  rheos__asked_task *asked = &pulse->tasks[task];
  rheos__channel *channel = pulse->channel(pulse->argument, task);
  const rheos__call call = {.method = rheos__method_names[RHEOS__GET_STATUS],
                            .timeout_ms = ANSWER_MS,
                            .replied = take_answer,
                            .argument = asked};
  if (channel == NULL) return;
  asked->question = pulse->transport->start(channel, &call);
  if (asked->question != NULL) pulse->num_asked++;
}

static void ask_for_late(rheos__pulse *pulse) {
  const int64_t late_ns = rheos__clock_ns() - (int64_t)PERIOD_MS * 1000000;
  for (const rheos__watched_call *call = pulse->calls; call != NULL; call = call->next) {
    if (call->since_ns > late_ns || pulse->tasks[call->task].question != NULL) continue;
    ask(pulse, call->task);
  }
}

static void sleep_a_period(rheos__pulse *pulse) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += PERIOD_MS % 1000 * 1000000;
  until.tv_sec += PERIOD_MS / 1000 + until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  int timed_out = 0;
  while (!pulse->is_ending && timed_out == 0) {
    timed_out = pthread_cond_timedwait(&pulse->changed, &pulse->mutex, &until);
  }
}

static void *beat(void *argument) {
  rheos__pulse *pulse = argument;
  pthread_mutex_lock(&pulse->mutex);
  while (!pulse->is_ending) {
    if (pulse->calls == NULL) {
      pthread_cond_wait(&pulse->changed, &pulse->mutex);
      continue;
    }
    sleep_a_period(pulse);
    if (!pulse->is_ending) ask_for_late(pulse);
  }
  pthread_mutex_unlock(&pulse->mutex);
  return NULL;
}

// ---- Calls

// Without a thread, when the process may have no more, nothing is noticed but what the transport
// notices.
void rheos__pulse_watch(rheos__pulse *pulse, rheos__watched_call *call) {
  call->since_ns = rheos__clock_ns();
  pthread_mutex_lock(&pulse->mutex);
  if (!pulse->has_thread) {
    pulse->has_thread = pthread_create(&pulse->thread, NULL, beat, pulse) == 0;
  }
  if (pulse->calls == NULL) pthread_cond_broadcast(&pulse->changed);
  call->next = pulse->calls;
  if (call->next != NULL) call->next->before = call;
  pulse->calls = call;
  pthread_mutex_unlock(&pulse->mutex);
}

void rheos__pulse_unwatch(rheos__pulse *pulse, rheos__watched_call *call) {
  pthread_mutex_lock(&pulse->mutex);
  if (call->before != NULL) call->before->next = call->next;
  if (call->before == NULL) pulse->calls = call->next;
  if (call->next != NULL) call->next->before = call->before;
  pthread_mutex_unlock(&pulse->mutex);
}

void rheos__pulse_deinit(rheos__pulse *pulse) {
  pthread_mutex_lock(&pulse->mutex);
  pulse->is_ending = true;
  pthread_cond_broadcast(&pulse->changed);
  for (int32_t i = 0; i < pulse->num_tasks; i++) {
    if (pulse->tasks[i].question != NULL) pulse->transport->cancel(pulse->tasks[i].question);
  }
  while (pulse->num_asked > 0) pthread_cond_wait(&pulse->changed, &pulse->mutex);
  pthread_mutex_unlock(&pulse->mutex);
  if (pulse->has_thread) pthread_join(pulse->thread, NULL);
  rheos__free(pulse->tasks);
  pthread_cond_destroy(&pulse->changed);
  pthread_mutex_destroy(&pulse->mutex);
}
