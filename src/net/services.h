// Methods of the two services, as rheos__services lists them.
#ifndef RHEOS_SRC_NET_SERVICES_H
#define RHEOS_SRC_NET_SERVICES_H

#include "net/server.h"

#define RHEOS__DECLARE(constant, name) rheos_status *rheos__serve_##name(rheos__served *served);
RHEOS__MASTER_METHODS(RHEOS__DECLARE)
RHEOS__WORKER_METHODS(RHEOS__DECLARE)
#undef RHEOS__DECLARE

// The devices of the server's host, in the arena.
rheos_status *rheos__own_devices(const rheos_server *server, rheos__arena *arena,
                                 Tensorflow__DeviceAttributes ***out_devices);

#endif  // RHEOS_SRC_NET_SERVICES_H
