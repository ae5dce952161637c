// The log of `rheos serve`: a line for each event, on standard error.
#ifndef RHEOS_CLI_SERVE_LOG_H
#define RHEOS_CLI_SERVE_LOG_H

#include <rheos/server.h>

typedef enum serve_log_format { SERVE_LOG_NONE, SERVE_LOG_TEXT, SERVE_LOG_JSON } serve_log_format;

// Prints time, level, event and fields; `format` is a serve_log_format. For any thread.
void serve_log(void *format, const rheos_server_event *event);

#endif  // RHEOS_CLI_SERVE_LOG_H
