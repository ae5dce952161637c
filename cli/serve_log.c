// Lines of the log: each is written at once, so that those of threads do not mix.
#include "serve_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

// "2026-01-31T12:00:00.123Z"
static void write_time(char *text, size_t size) {
  struct timespec now;
  struct tm parts;
  clock_gettime(CLOCK_REALTIME, &now);
  gmtime_r(&now.tv_sec, &parts);
  const size_t used = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &parts);
  snprintf(text + used, size - used, ".%03dZ", (int)(now.tv_nsec / 1000000));
}

// As a JSON string, quotes included, for free(). Bytes that are no ASCII stay as they are.
static char *quoted(const char *text) {
  char *to = command_realloc(NULL, 6 * strlen(text) + 3), *at = to;
  *at++ = '"';
  for (; *text != '\0'; text++) {
    const unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\') {
      *at++ = '\\';
      *at++ = (char)c;
    } else if (c < ' ' || c == 0x7f) {
      at += sprintf(at, "\\u%04x", c);
    } else {
      *at++ = (char)c;
    }
  }
  *at++ = '"';
  *at = '\0';
  return to;
}

static const char *subject_of(const char *event) {
  if (strncmp(event, "session_", 8) == 0) return "session";
  if (strncmp(event, "task_", 5) == 0) return "task";
  return strncmp(event, "call_", 5) == 0 ? "call" : "server";
}

void serve_log(void *format, const rheos_server_event *event) {
  const serve_log_format wanted = *(const serve_log_format *)format;
  char time[40];
  if (wanted == SERVE_LOG_NONE) return;
  write_time(time, sizeof time);
  char *subject = quoted(event->subject), *detail = quoted(event->detail);
  char *line = command_format(
      wanted == SERVE_LOG_JSON
          ? "{\"time\":\"%s\",\"level\":\"%s\",\"event\":\"%s\",\"%s\":%s,\"detail\":%s}\n"
          : "%s %s %s %s=%s detail=%s\n",
      time, event->is_warning ? "warning" : "info", event->name, subject_of(event->name), subject,
      detail);
  const ssize_t written = write(STDERR_FILENO, line, strlen(line));
  (void)written;  // there is nobody to tell
  free(line);
  free(detail);
  free(subject);
}
