// Two pages over HTTP. What is asked for otherwise does not exist.
#include "metrics_port.h"

#include <stdlib.h>
#include <string.h>

#define TYPE "text/plain; version=0.0.4; charset=utf-8"

static http_reply metrics_of(rheos_server *server) {
  char *text;
  rheos_status *status = rheos_server_metrics(server, &text);
  if (status != NULL) {
    rheos_status_free(status);
    return http_text(500, TYPE, "out of memory\n");
  }
  const http_reply reply = http_text(200, TYPE, text);
  rheos_free(text);
  return reply;
}

static void handle(void *argument, const http_request *request, http_reply *out_reply) {
  metrics_port *port = argument;
  if (strcmp(request->path, "/metrics") == 0) {
    *out_reply = metrics_of(port->server);
  } else if (strcmp(request->path, "/healthz") == 0) {
    const bool is_draining = atomic_load(&port->is_draining);
    *out_reply = http_text(is_draining ? 503 : 200, TYPE, is_draining ? "draining\n" : "ok\n");
  } else {
    *out_reply = http_text(404, TYPE, "there are /healthz and /metrics\n");
  }
}

rheos_status *metrics_port_open(metrics_port *port, rheos_server *server, const char *bind,
                                int32_t number) {
  port->server = server;
  return http_open(&port->http, "--metrics-port", bind, number, handle, port);
}

void metrics_port_close(metrics_port *port) { http_close(&port->http); }
