// Calls of a server by a client that is no task of its cluster. Who waits for one asks every few
// seconds whether the server is there.
#ifndef RHEOS_SRC_NET_REMOTE_CALL_H
#define RHEOS_SRC_NET_REMOTE_CALL_H

#include <rheos/session.h>
#include <stdatomic.h>

#include "net/credentials.h"
#include "net/message.h"
#include "net/methods.h"

typedef struct rheos__remote_server {
  const rheos__transport *transport;
  rheos__channel *channel;  // NULL: there is none
  char *target;             // "grpc://host:port"
  rheos__credentials credentials;
  _Atomic int32_t is_closed;  // calls end, but that which tells of the end
  atomic_bool was_lost;       // the last call that ended had no answer
} rheos__remote_server;

// How long the server may take to answer what takes no time; one that gave no answer before.
enum { RHEOS__REMOTE_WORD_MS = 10000, RHEOS__REMOTE_LAST_WORD_MS = 1000 };

// Whether that is a target of a server, "grpc://host:port".
bool rheos__is_remote(const char *target);
// Makes the connection; the first call uses it. `credentials`: as rheos__credentials_init(). To be
// disconnected, after a failure too.
rheos_status *rheos__remote_connect(rheos__remote_server *server, const char *target,
                                    const rheos_credentials *credentials);
void rheos__remote_disconnect(rheos__remote_server *server);

// Calls and waits, at most so long (0: as long as it takes), and no longer than the options say
// (NULL: nothing). The reply is read as `form` says, and is to be deinitialised in any case.
rheos_status *rheos__remote_call(rheos__remote_server *server, rheos__method method,
                                 rheos__message *request, int64_t timeout_ms,
                                 const rheos_run_options *options, const rheos__message_form *form,
                                 rheos__received *received);
// The error that a server answered with: RHEOS_CANCELLED where the session was closed meanwhile, of
// which the server then knows nothing any more.
rheos_status *rheos__remote_error(const rheos__remote_server *server, rheos_code code,
                                  const char *message);
// How long the call of a step with these options may last.
int64_t rheos__remote_timeout_ms(const rheos_run_options *options);

#endif  // RHEOS_SRC_NET_REMOTE_CALL_H
