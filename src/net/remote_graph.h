// A session on a server, and the graph there: it goes to the server once, then what was added to
// it.
#ifndef RHEOS_SRC_NET_REMOTE_GRAPH_H
#define RHEOS_SRC_NET_REMOTE_GRAPH_H

#include "config.pb-c.h"
#include "net/remote_call.h"
#include "runtime/session/session_kind.h"

typedef struct rheos__remote_session {
  rheos_session base;
  rheos__remote_server server;
  Tensorflow__ConfigProto *config;  // in the arena
  rheos__arena arena;
  pthread_mutex_t mutex;                   // guards what follows
  char *handle;                            // NULL: the server does not know the session yet
  rheos__outgoing *held;                   // shows the server that the client is there; NULL: none
  int64_t version;                         // of the graph there
  int32_t num_sent;                        // operations
  struct rheos__remote_partial *partials;  // steps in parts that are open
  int64_t last_partial;
  rheos_device_attributes *devices;  // in the arena; NULL: not asked for yet
  size_t num_devices;
} rheos__remote_session;

static inline rheos__remote_session *rheos__remote(rheos_session *session) {
  return (rheos__remote_session *)session;
}

// RHEOS_FAILED_PRECONDITION if the session was closed.
rheos_status *rheos__remote_check_open(const rheos__remote_session *session);
// Sees to it that the server has the graph as it is now.
rheos_status *rheos__remote_bring_up(rheos__remote_session *session,
                                     const rheos_run_options *options);

#endif  // RHEOS_SRC_NET_REMOTE_GRAPH_H
