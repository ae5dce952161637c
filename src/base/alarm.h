// Alarms: functions that are called when their time has come, by a thread that is there while any
// is set. For what waits without a thread of its own.
#ifndef RHEOS_SRC_BASE_ALARM_H
#define RHEOS_SRC_BASE_ALARM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

// Zeros but for the first two.
typedef struct rheos__alarm {
  void (*ring)(struct rheos__alarm *alarm);  // takes no long time
  int64_t at_ns;                             // of the monotonic clock
  bool is_set;
  struct rheos__alarm *before, *next;
} rheos__alarm;

typedef struct rheos__alarms {
  pthread_mutex_t mutex;  // guards what follows
  pthread_cond_t changed;
  pthread_t thread;
  bool has_thread, is_ending;
  rheos__alarm *first;    // in no order
  rheos__alarm *ringing;  // whose function runs
} rheos__alarms;

void rheos__alarms_init(rheos__alarms *alarms);
void rheos__alarms_deinit(rheos__alarms *alarms);  // none is set

// So many seconds from now.
int64_t rheos__alarm_after(double seconds);
// False, and it will not ring, where the process may have no more threads.
bool rheos__alarm_set(rheos__alarms *alarms, rheos__alarm *alarm);
// The alarm, which need not be set, rings no more on return: if it does now, that is waited for.
void rheos__alarm_cancel(rheos__alarms *alarms, rheos__alarm *alarm);

#endif  // RHEOS_SRC_BASE_ALARM_H
