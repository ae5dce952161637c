// Sessions that masters have on a worker, and that nobody will end: their master is gone, or was
// started anew. Masters are asked for their status now and then.
#ifndef RHEOS_SRC_NET_ORPHANS_H
#define RHEOS_SRC_NET_ORPHANS_H

#include "net/worker.h"

typedef struct rheos__orphans {
  rheos__worker *worker;
  int64_t gone_ns;         // how long a master may be gone
  int64_t ask_at_ns;       // the next time
  int64_t *gone_since_ns;  // by task of the cluster; 0: it is there, or nobody has asked
  bool *is_master;         // by task, while they are asked
} rheos__orphans;

// To be deinitialised, after a failure too.
rheos_status *rheos__orphans_init(rheos__orphans *orphans, rheos__worker *worker, int64_t gone_ns);
void rheos__orphans_deinit(rheos__orphans *orphans);

// Asks the masters, if it is time to, and ends the sessions of those that are gone. May take some
// seconds; `should_stop` ends it early.
void rheos__orphans_look(rheos__orphans *orphans, bool (*should_stop)(void *argument),
                         void *should_stop_argument);

#endif  // RHEOS_SRC_NET_ORPHANS_H
