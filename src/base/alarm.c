#include "base/alarm.h"

#include <assert.h>
#include <time.h>

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void rheos__alarms_init(rheos__alarms *alarms) {
  pthread_condattr_t attributes;
  *alarms = (rheos__alarms){.has_thread = false};
  pthread_mutex_init(&alarms->mutex, NULL);
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&alarms->changed, &attributes);
  pthread_condattr_destroy(&attributes);
}

void rheos__alarms_deinit(rheos__alarms *alarms) {
  assert(alarms->first == NULL);
  pthread_mutex_lock(&alarms->mutex);
  alarms->is_ending = true;
  pthread_cond_broadcast(&alarms->changed);
  pthread_mutex_unlock(&alarms->mutex);
  if (alarms->has_thread) pthread_join(alarms->thread, NULL);
  pthread_cond_destroy(&alarms->changed);
  pthread_mutex_destroy(&alarms->mutex);
}

// ---- With the mutex held

static void unlink_alarm(rheos__alarms *alarms, rheos__alarm *alarm) {
  if (alarm->before != NULL) {
    alarm->before->next = alarm->next;
  } else {
    alarms->first = alarm->next;
  }
  if (alarm->next != NULL) alarm->next->before = alarm->before;
  alarm->before = alarm->next = NULL;
  alarm->is_set = false;
}

static rheos__alarm *earliest(const rheos__alarms *alarms) {
  rheos__alarm *found = alarms->first;
  for (rheos__alarm *a = found; a != NULL; a = a->next) {
    if (a->at_ns < found->at_ns) found = a;
  }
  return found;
}

static void sleep_until(rheos__alarms *alarms, int64_t at_ns) {
  const struct timespec until = {.tv_sec = (time_t)(at_ns / 1000000000),
                                 .tv_nsec = (long)(at_ns % 1000000000)};
  pthread_cond_timedwait(&alarms->changed, &alarms->mutex, &until);
}

static void ring(rheos__alarms *alarms, rheos__alarm *alarm) {
  unlink_alarm(alarms, alarm);
  alarms->ringing = alarm;
  pthread_mutex_unlock(&alarms->mutex);
  alarm->ring(alarm);
  pthread_mutex_lock(&alarms->mutex);
  alarms->ringing = NULL;
  pthread_cond_broadcast(&alarms->changed);
}

static void *run(void *argument) {
  rheos__alarms *alarms = argument;
  pthread_mutex_lock(&alarms->mutex);
  while (!alarms->is_ending) {
    rheos__alarm *next = earliest(alarms);
    if (next == NULL) {
      pthread_cond_wait(&alarms->changed, &alarms->mutex);
    } else if (next->at_ns > now_ns()) {
      sleep_until(alarms, next->at_ns);
    } else {
      ring(alarms, next);
    }
  }
  pthread_mutex_unlock(&alarms->mutex);
  return NULL;
}

// ---- For others

int64_t rheos__alarm_after(double seconds) {
  const double most = 1e9;  // some thirty years
  return now_ns() + (int64_t)((seconds < most ? seconds : most) * 1e9);
}

bool rheos__alarm_set(rheos__alarms *alarms, rheos__alarm *alarm) {
  pthread_mutex_lock(&alarms->mutex);
  if (!alarms->has_thread) {
    alarms->has_thread = pthread_create(&alarms->thread, NULL, run, alarms) == 0;
  }
  if (alarms->has_thread) {
    alarm->next = alarms->first;
    if (alarm->next != NULL) alarm->next->before = alarm;
    alarms->first = alarm;
    alarm->is_set = true;
    pthread_cond_broadcast(&alarms->changed);
  }
  const bool is_set = alarm->is_set;
  pthread_mutex_unlock(&alarms->mutex);
  return is_set;
}

void rheos__alarm_cancel(rheos__alarms *alarms, rheos__alarm *alarm) {
  pthread_mutex_lock(&alarms->mutex);
  if (alarm->is_set) unlink_alarm(alarms, alarm);
  while (alarms->ringing == alarm) pthread_cond_wait(&alarms->changed, &alarms->mutex);
  pthread_mutex_unlock(&alarms->mutex);
}
