// `rheos view --serve`: the page on a port of this machine, anew when what it shows has changed.
#ifndef RHEOS_CLI_PAGE_SERVE_PAGE_H
#define RHEOS_CLI_PAGE_SERVE_PAGE_H

#include "shown.h"

typedef struct serve_page {
  const char *path;
  const show_options *plan;  // how a step is planned, if it is; its tags are those of the graph
  const option *rows;        // of the command
  size_t num_rows;
} serve_page;

// Answers at 127.0.0.1 until SIGINT or SIGTERM; port 0: at one that is free. Prints "ready" and the
// address. What is not there yet, or cannot be read, is looked for again.
rheos_status *serve_page_run(const serve_page *page, int32_t port);

#endif  // RHEOS_CLI_PAGE_SERVE_PAGE_H
