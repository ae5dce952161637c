// What a server has done, in numbers, and the events that it tells its program of.
#ifndef RHEOS_SRC_NET_METRICS_H
#define RHEOS_SRC_NET_METRICS_H

#include <rheos/server.h>

#include "base/text.h"
#include "net/methods.h"
#include "net/transport.h"

enum { RHEOS__NUM_CODES = RHEOS_UNAUTHENTICATED + 1, RHEOS__NUM_LATENCIES = 14 };

// Starts as zeros.
typedef struct rheos__metrics {
  rheos_server_event_function tell;  // NULL: nobody is told
  void *tell_argument;
  _Atomic int64_t calls[RHEOS__NUM_METHODS][RHEOS__NUM_CODES];
  _Atomic int64_t seconds[RHEOS__NUM_METHODS][RHEOS__NUM_LATENCIES];  // by how long they took
  _Atomic int64_t nanoseconds[RHEOS__NUM_METHODS];                    // all together
  _Atomic int64_t bytes_in, bytes_out;
  _Atomic int64_t sessions_made, sessions_dropped, tasks_lost, calls_refused;
} rheos__metrics;

void rheos__metrics_count_call(rheos__metrics *metrics, int method, rheos_code code,
                               int64_t took_ns);
void rheos__metrics_count_in(rheos__metrics *metrics, rheos__chunks chunks);
void rheos__metrics_count_out(rheos__metrics *metrics, rheos__pieces pieces);

// Counts an event and tells of it. The texts are read in the call.
void rheos__metrics_session_made(rheos__metrics *metrics, const char *handle);
void rheos__metrics_session_closed(rheos__metrics *metrics, const char *handle, const char *why);
void rheos__metrics_session_dropped(rheos__metrics *metrics);
void rheos__metrics_task_lost(rheos__metrics *metrics, const char *task);
void rheos__metrics_call_refused(rheos__metrics *metrics, const char *method, const char *why);

// As Prometheus reads them.
void rheos__metrics_write(const rheos__metrics *metrics, rheos__text *text);
// One number of a kind ("gauge", "counter"), with what it is.
void rheos__metrics_write_number(rheos__text *text, const char *kind, const char *name,
                                 const char *about, int64_t value);

#endif  // RHEOS_SRC_NET_METRICS_H
