// The side port of `rheos serve`: /healthz and /metrics over HTTP, by libmicrohttpd.
#ifndef RHEOS_CLI_METRICS_PORT_H
#define RHEOS_CLI_METRICS_PORT_H

#include <rheos/server.h>
#include <stdatomic.h>

#include "http.h"

typedef struct metrics_port {
  http_port http;
  rheos_server *server;
  atomic_bool is_draining;  // the server takes no more calls: /healthz says so
} metrics_port;

// Begins to answer at "host:port" (the host is an address; [::1]:1 of version 6).
// RHEOS_UNIMPLEMENTED where libmicrohttpd is not, or was not when this was built. The server lasts
// longer.
rheos_status *metrics_port_open(metrics_port *port, rheos_server *server, const char *bind,
                                int32_t number);
void metrics_port_close(metrics_port *port);

#endif  // RHEOS_CLI_METRICS_PORT_H
