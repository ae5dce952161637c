// Closes the sessions of a server that nobody needs any more: those whose client is gone, those
// that no call has come for in too long a time, and on the worker those whose master is gone. A
// client of Rheos's shows that it is there by a call that lasts as long as its session
// (HoldSession); others are known by their calls alone.
#ifndef RHEOS_SRC_NET_CARETAKER_H
#define RHEOS_SRC_NET_CARETAKER_H

#include <pthread.h>

#include "net/master.h"
#include "net/orphans.h"

typedef struct rheos__caretaker {
  const rheos__transport *transport;
  rheos__master *master;
  rheos__orphans orphans;  // the worker's
  int64_t gone_ns;         // how long a client may be gone
  int64_t idle_ns;         // how long a session may be idle; 0: for ever
  pthread_t thread;
  bool has_thread;
  pthread_mutex_t mutex;  // guards what follows
  pthread_cond_t changed;
  bool is_stopping;
} rheos__caretaker;

// Begins to look after the sessions of master and worker, which last longer. To be deinitialised,
// after a failure too.
rheos_status *rheos__caretaker_init(rheos__caretaker *caretaker, rheos__master *master,
                                    rheos__worker *worker, const rheos__transport *transport,
                                    int32_t gone_s, int32_t idle_s);
void rheos__caretaker_deinit(rheos__caretaker *caretaker);

// Keeps a call that shows that the session's client is there; it is answered when it ends, or the
// session does. It takes the place of one that was there.
void rheos__caretaker_hold(rheos__caretaker *caretaker, rheos__master_session *session,
                           rheos__incoming *call);
// Answers all such calls, and those that come later at once.
void rheos__caretaker_stop(rheos__caretaker *caretaker);

#endif  // RHEOS_SRC_NET_CARETAKER_H
