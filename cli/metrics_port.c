// Two pages over HTTP. What is asked for otherwise does not exist.
#include "metrics_port.h"

#include <string.h>

#ifdef RHEOS_WITH_MICROHTTPD

#include <arpa/inet.h>
#include <dlfcn.h>
#include <microhttpd.h>

// At once, and for how long without a word.
enum { MAX_CONNECTIONS = 64, SILENCE_S = 10 };

// libmicrohttpd is opened where a port is asked for: it brings GnuTLS along, and who wants no port
// needs neither. Its library has been called so since 2017.
#define LIBRARY "libmicrohttpd.so.12"
#define FUNCTIONS(X)                 \
  X(MHD_start_daemon)                \
  X(MHD_stop_daemon)                 \
  X(MHD_create_response_from_buffer) \
  X(MHD_add_response_header)         \
  X(MHD_queue_response)              \
  X(MHD_destroy_response)
#define POINTER(name) __typeof__(name) *name;
static struct {
  FUNCTIONS(POINTER)
} http;

static bool open_library(void) {
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return false;
#define FIND(name)                                                  \
  http.name = (__typeof__(name) *)(uintptr_t)dlsym(library, #name); \
  if (http.name == NULL) return false;
  FUNCTIONS(FIND)
  return true;
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned code, const char *text,
                              enum MHD_ResponseMemoryMode mode) {
  struct MHD_Response *response =
      http.MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, mode);
  if (response == NULL) return MHD_NO;
  http.MHD_add_response_header(response, "Content-Type",
                               "text/plain; version=0.0.4; charset=utf-8");
  const enum MHD_Result result = http.MHD_queue_response(connection, code, response);
  http.MHD_destroy_response(response);
  return result;
}

static enum MHD_Result answer_metrics(struct MHD_Connection *connection, rheos_server *server) {
  char *text;
  rheos_status *status = rheos_server_metrics(server, &text);
  if (status != NULL) {
    rheos_status_free(status);
    return answer(connection, 500, "out of memory\n", MHD_RESPMEM_PERSISTENT);
  }
  const enum MHD_Result result = answer(connection, 200, text, MHD_RESPMEM_MUST_COPY);
  rheos_free(text);
  return result;
}

static enum MHD_Result handle(void *argument, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_bytes, void **state) {
  metrics_port *port = argument;
  (void)version;
  (void)data;
  (void)state;
  *data_bytes = 0;
  if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
    return answer(connection, 405, "only GET\n", MHD_RESPMEM_PERSISTENT);
  }
  if (strcmp(url, "/metrics") == 0) return answer_metrics(connection, port->server);
  if (strcmp(url, "/healthz") != 0) {
    return answer(connection, 404, "there are /healthz and /metrics\n", MHD_RESPMEM_PERSISTENT);
  }
  const bool is_draining = atomic_load(&port->is_draining);
  return answer(connection, is_draining ? 503 : 200, is_draining ? "draining\n" : "ok\n",
                MHD_RESPMEM_PERSISTENT);
}

static struct MHD_Daemon *start(metrics_port *port, unsigned flags, const struct sockaddr *at) {
  return http.MHD_start_daemon(MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | flags, 0, NULL,
                               NULL, handle, port, MHD_OPTION_SOCK_ADDR, at,
                               MHD_OPTION_CONNECTION_LIMIT, (unsigned)MAX_CONNECTIONS,
                               MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_S, MHD_OPTION_END);
}

rheos_status *metrics_port_open(metrics_port *port, rheos_server *server, const char *bind,
                                int32_t number) {
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)number)};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)number)};
  if (!open_library()) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED, "--metrics-port needs " LIBRARY
                                                 ": Debian's package libmicrohttpd12"
                                                 " (libmicrohttpd12t64 from Debian 13 on)");
  }
  port->server = server;
  if (inet_pton(AF_INET, bind, &four.sin_addr) == 1) {
    port->daemon = start(port, 0, (const struct sockaddr *)&four);
  } else if (inet_pton(AF_INET6, bind, &six.sin6_addr) == 1) {
    port->daemon = start(port, MHD_USE_IPv6, (const struct sockaddr *)&six);
  } else {
    return rheos_status_new(RHEOS_INVALID_ARGUMENT, "'%s' is no address for metrics", bind);
  }
  if (port->daemon != NULL) return NULL;
  return rheos_status_new(RHEOS_UNAVAILABLE, "could not answer for metrics at %s port %d", bind,
                          (int)number);
}

void metrics_port_close(metrics_port *port) {
  if (port->daemon != NULL) http.MHD_stop_daemon(port->daemon);
  port->daemon = NULL;
}

#else

rheos_status *metrics_port_open(metrics_port *port, rheos_server *server, const char *bind,
                                int32_t number) {
  (void)port;
  (void)server;
  (void)bind;
  (void)number;
  return rheos_status_new(RHEOS_UNIMPLEMENTED,
                          "--metrics-port needs a build with libmicrohttpd (libmicrohttpd-dev)");
}

void metrics_port_close(metrics_port *port) { (void)port; }

#endif
