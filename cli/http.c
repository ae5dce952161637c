// One handler for all that is asked; what is not GET or HEAD is refused here.
#include "http.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"

http_reply http_text(unsigned code, const char *type, const char *text) {
  return (http_reply){code, type, command_format("%s", text), strlen(text)};
}

#ifdef RHEOS_WITH_MICROHTTPD

#include <arpa/inet.h>
#include <dlfcn.h>
#include <microhttpd.h>

// At once, and for how long without a word.
enum { MAX_CONNECTIONS = 64, SILENCE_S = 10 };

// The name of its library since 2017.
#define LIBRARY "libmicrohttpd.so.12"
#define FUNCTIONS(X)                 \
  X(MHD_start_daemon)                \
  X(MHD_stop_daemon)                 \
  X(MHD_get_daemon_info)             \
  X(MHD_lookup_connection_value)     \
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

// Nothing of a page is for other pages: they may neither read nor frame it.
static enum MHD_Result answer(struct MHD_Connection *connection, const http_reply *reply) {
  static const char *const headers[][2] = {
      {"Cache-Control", "no-store"},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
  };
  struct MHD_Response *response =
      http.MHD_create_response_from_buffer(reply->text_bytes, reply->text, MHD_RESPMEM_MUST_COPY);
  if (response == NULL) return MHD_NO;
  http.MHD_add_response_header(response, "Content-Type", reply->type);
  for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
    http.MHD_add_response_header(response, headers[i][0], headers[i][1]);
  }
  const enum MHD_Result result = http.MHD_queue_response(connection, reply->code, response);
  http.MHD_destroy_response(response);
  return result;
}

static enum MHD_Result handle(void *argument, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_bytes, void **state) {
  const http_port *port = argument;
  const http_request request = {
      url, http.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host"),
      http.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin")};
  http_reply reply;
  (void)version;
  (void)data;
  (void)state;
  *data_bytes = 0;
  if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0) {
    port->handler(port->argument, &request, &reply);
  } else {
    reply = http_text(405, "text/plain", "only GET\n");
  }
  const enum MHD_Result result = answer(connection, &reply);
  free(reply.text);
  return result;
}

static struct MHD_Daemon *start(http_port *port, unsigned flags, const struct sockaddr *at) {
  return http.MHD_start_daemon(MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | flags, 0, NULL,
                               NULL, handle, port, MHD_OPTION_SOCK_ADDR, at,
                               MHD_OPTION_CONNECTION_LIMIT, (unsigned)MAX_CONNECTIONS,
                               MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_S, MHD_OPTION_END);
}

rheos_status *http_open(http_port *port, const char *what, const char *address, int32_t number,
                        http_handler handler, void *argument) {
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)number)};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)number)};
  *port = (http_port){.handler = handler, .argument = argument, .number = number};
  if (!open_library()) {
    return rheos_status_new(RHEOS_UNIMPLEMENTED,
                            "%s needs " LIBRARY
                            ": Debian's package libmicrohttpd12"
                            " (libmicrohttpd12t64 from Debian 13 on)",
                            what);
  }
  if (inet_pton(AF_INET, address, &four.sin_addr) == 1) {
    port->daemon = start(port, 0, (const struct sockaddr *)&four);
  } else if (inet_pton(AF_INET6, address, &six.sin6_addr) == 1) {
    port->daemon = start(port, MHD_USE_IPv6, (const struct sockaddr *)&six);
  } else {
    return rheos_status_new(RHEOS_INVALID_ARGUMENT, "'%s' is no address for %s", address, what);
  }
  if (port->daemon == NULL) {
    return rheos_status_new(RHEOS_UNAVAILABLE, "could not answer at %s port %d for %s", address,
                            (int)number, what);
  }
  const union MHD_DaemonInfo *info =
      http.MHD_get_daemon_info(port->daemon, MHD_DAEMON_INFO_BIND_PORT);
  if (info != NULL) port->number = info->port;
  return NULL;
}

void http_close(http_port *port) {
  if (port->daemon != NULL) http.MHD_stop_daemon(port->daemon);
  port->daemon = NULL;
}

#else

rheos_status *http_open(http_port *port, const char *what, const char *address, int32_t number,
                        http_handler handler, void *argument) {
  *port = (http_port){.handler = handler, .argument = argument, .number = number};
  (void)address;
  return rheos_status_new(RHEOS_UNIMPLEMENTED,
                          "%s needs a build with libmicrohttpd (libmicrohttpd-dev)", what);
}

void http_close(http_port *port) { (void)port; }

#endif
