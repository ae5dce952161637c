// The limits of a server: what its options say that it takes of others.
#ifndef RHEOS_SRC_NET_SERVER_LIMITS_H
#define RHEOS_SRC_NET_SERVER_LIMITS_H

#include "net/server.h"

// Of a server with credentials and a worker. RHEOS_INVALID_ARGUMENT.
rheos_status *rheos__server_set_limits(rheos_server *server, const rheos_server_options *options);
// Whether the process has room for a call of that method: RHEOS_RESOURCE_EXHAUSTED.
rheos_status *rheos__server_check_memory(const rheos_server *server, int method);

#endif  // RHEOS_SRC_NET_SERVER_LIMITS_H
