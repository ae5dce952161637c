// The master of a server: the sessions of its clients.
#ifndef RHEOS_SRC_NET_MASTER_H
#define RHEOS_SRC_NET_MASTER_H

#include "net/master_session.h"
#include "net/metrics.h"

typedef struct rheos__master_entry {
  rheos__master_session *session;
  struct rheos__master_entry *next;
} rheos__master_entry;

typedef struct rheos__master {
  const rheos__transport *transport;
  rheos__metrics *metrics;
  pthread_mutex_t mutex;  // guards what follows, and what sessions say that it does
  rheos__master_entry *sessions;
  int32_t num_sessions, max_sessions;
} rheos__master;

void rheos__master_init(rheos__master *master);
void rheos__master_deinit(rheos__master *master);  // closes all sessions

int32_t rheos__master_count(rheos__master *master);  // how many sessions there are
// Whether there may be one more: RHEOS_RESOURCE_EXHAUSTED.
rheos_status *rheos__master_check_room(rheos__master *master);
// Keeps a session, with the reference that the caller has.
rheos_status *rheos__master_add_take(rheos__master *master, rheos__master_session *session);
// The session of that handle, with a reference. RHEOS_ABORTED if there is none: this master may be
// one that was started anew. A call for it is under way until it is put back.
rheos_status *rheos__master_find(rheos__master *master, const char *handle,
                                 rheos__master_session **out_session);
void rheos__master_put_back(rheos__master_session *session);
// Closes a session; and all; with why.
rheos_status *rheos__master_close(rheos__master *master, const char *handle, const char *why);
void rheos__master_close_all(rheos__master *master, const char *why);

#endif  // RHEOS_SRC_NET_MASTER_H
