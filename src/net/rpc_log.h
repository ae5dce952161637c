// Values that a worker received from other tasks, step by step, while a master has it note them:
// for the steps that it traces.
#ifndef RHEOS_SRC_NET_RPC_LOG_H
#define RHEOS_SRC_NET_RPC_LOG_H

#include <pthread.h>

#include "net/run_stats.h"

// What is not fetched is given up once so many came behind it.
enum { RHEOS__MOST_RPC_NOTES = 4096 };

typedef struct rheos__rpc_note {
  int64_t step;
  char *key;  // of the rendezvous
  size_t size_bytes;
  int64_t start_ns, end_ns;  // of the monotonic clock
} rheos__rpc_note;

typedef struct rheos__rpc_log {
  _Atomic int32_t is_on;
  pthread_mutex_t mutex;   // guards what follows
  rheos__rpc_note *notes;  // in a ring
  size_t capacity, first, count;
} rheos__rpc_log;

void rheos__rpc_log_init(rheos__rpc_log *log);
void rheos__rpc_log_deinit(rheos__rpc_log *log);

// Where memory is short nothing is noted.
void rheos__rpc_log_add(rheos__rpc_log *log, int64_t step, const char *key, size_t size_bytes,
                        int64_t start_ns, int64_t end_ns);
// Takes what was noted of the step: appends the bytes of a StepStats.
void rheos__rpc_log_take(rheos__rpc_log *log, int64_t step, rheos__buffer *steps);
void rheos__rpc_log_clear(rheos__rpc_log *log);

#endif  // RHEOS_SRC_NET_RPC_LOG_H
