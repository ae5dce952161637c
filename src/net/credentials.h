// The credentials of one side of a connection: what a program gave, or else what the environment
// names, as a transport wants them.
#ifndef RHEOS_SRC_NET_CREDENTIALS_H
#define RHEOS_SRC_NET_CREDENTIALS_H

#include <rheos/credentials.h>

#include "net/transport.h"

typedef struct rheos__credentials {
  rheos__keys keys;  // own copies
  char *token;       // NULL: none
} rheos__credentials;

// `given` may be NULL. RHEOS_INVALID_ARGUMENT, or what the system says of a file, naming which of
// them cannot be used. To be deinitialised, after a failure too.
rheos_status *rheos__credentials_init(rheos__credentials *credentials,
                                      const rheos_credentials *given);
void rheos__credentials_deinit(rheos__credentials *credentials);

// Whether only this machine reaches that address ("host" or "host:port").
bool rheos__is_loopback(const char *address);

// What a listener is to have of them, at that address.
rheos_status *rheos__credentials_listen(const rheos__credentials *credentials,
                                        bool takes_callers_without_certificate,
                                        rheos__listen *listen);
// A channel to that address. Errors name it, and who is there.
rheos_status *rheos__credentials_connect(const rheos__credentials *credentials,
                                         const rheos__transport *transport, const char *who,
                                         const char *address, rheos__channel **out_channel);

#endif  // RHEOS_SRC_NET_CREDENTIALS_H
