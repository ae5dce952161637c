// Pages over HTTP, by libmicrohttpd, which is opened where a port is asked for: it brings GnuTLS
// along, and who wants no port needs neither.
#ifndef RHEOS_CLI_HTTP_H
#define RHEOS_CLI_HTTP_H

#include <rheos/base.h>

typedef struct http_request {
  const char *path;    // "/metrics"
  const char *host;    // as the headers say, NULL: they do not
  const char *origin;  // likewise
} http_request;

typedef struct http_reply {
  unsigned code;
  const char *type;  // "text/html; charset=utf-8"
  char *text;        // for free()
  size_t text_bytes;
} http_reply;

// Fills in a reply to GET or HEAD. Called on a thread of the port's, once at a time.
typedef void (*http_handler)(void *argument, const http_request *request, http_reply *out_reply);

typedef struct http_port {
  void *daemon;  // NULL: it is not open
  http_handler handler;
  void *argument;
  int32_t number;
} http_port;

// Begins to answer at an address of IP, version 4 or 6; number 0: at a port that is free, which
// `port->number` then is. `what` is the option that asks for it. RHEOS_UNIMPLEMENTED where
// libmicrohttpd is not, or was not when this was built.
rheos_status *http_open(http_port *port, const char *what, const char *address, int32_t number,
                        http_handler handler, void *argument);
void http_close(http_port *port);

// A reply of a copy of the text.
http_reply http_text(unsigned code, const char *type, const char *text);

#endif  // RHEOS_CLI_HTTP_H
