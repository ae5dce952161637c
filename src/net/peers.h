// The other tasks of a cluster, as one task knows them: each has a connection, made when it is
// first called. Errors of calls name the task.
#ifndef RHEOS_SRC_NET_PEERS_H
#define RHEOS_SRC_NET_PEERS_H

#include <pthread.h>
#include <stdatomic.h>

#include "net/cluster.h"
#include "net/credentials.h"
#include "net/message.h"
#include "net/pulse.h"

typedef struct rheos__peers {
  const rheos__transport *transport;
  rheos__cluster cluster;
  const rheos__credentials *credentials;  // the owner's
  rheos__channel **channels;
  rheos__pulse pulse;
  pthread_mutex_t mutex;  // guards what follows, and the list of channels
  pthread_cond_t none_left;
  int32_t num_calls;  // that were started
} rheos__peers;

// Takes the cluster, after a failure too. To be deinitialised, after a failure too.
rheos_status *rheos__peers_init(rheos__peers *peers, const rheos__transport *transport,
                                rheos__cluster *cluster, const rheos__credentials *credentials);
// Waits for calls that were started.
void rheos__peers_deinit(rheos__peers *peers);

// How a call to a peer ended; `status` is the callee's, and names the task. The chunks are read in
// the callee.
typedef void (*rheos__peer_replied_fn)(void *argument, rheos_status *status, rheos__chunks chunks);

typedef struct rheos__peer_call rheos__peer_call;

typedef struct rheos__peer_options {
  int64_t timeout_ms;  // 0: none
  bool waits;          // until the peer can be reached
  bool may_be_late;    // of a call that is started: nobody watches whether the peer is there
} rheos__peer_options;

// Starts a call, with what the message holds. `replied` is called once, by some thread, unless this
// fails. The handle, for whoever may cancel it, is to be forgotten.
rheos_status *rheos__peers_start(rheos__peers *peers, int32_t task, const char *method,
                                 rheos__message *request, const rheos__peer_options *options,
                                 rheos__peer_replied_fn replied, void *argument,
                                 rheos__peer_call **out_call);
void rheos__peer_call_cancel(rheos__peer_call *call);
void rheos__peer_call_forget(rheos__peer_call *call);

// Tells a peer something, without waiting; one that cannot be reached is not told.
enum { RHEOS__TELL_MS = 10000 };
void rheos__peers_tell(rheos__peers *peers, int32_t task, const char *method,
                       const ProtobufCMessage *fields);

// Calls and waits. The reply is read as `form` says (NULL: it says nothing).
rheos_status *rheos__peers_call(rheos__peers *peers, int32_t task, const char *method,
                                rheos__message *request, const rheos__peer_options *options,
                                bool (*should_stop)(void *), void *should_stop_argument,
                                const rheos__message_form *form, rheos__received *out_received);

#endif  // RHEOS_SRC_NET_PEERS_H
