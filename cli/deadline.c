// Reading a file asks nobody whether to go on, so a signal ends the process there; a step is told.
#include "deadline.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

enum { MOST_SECONDS = 31536000, GRACE_MS = 1000 };

static int64_t end_ms;     // 0: there is no deadline
static const char *limit;  // as it was given
static char message[160];

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void end_process(int number) {
  (void)number;
  (void)!write(STDERR_FILENO, message, strlen(message));
  _exit(EXIT_FAILURE);
}

// 0: none any more.
static void set_timer(int64_t ms) {
  const struct itimerval timer = {.it_value = {ms / 1000, (suseconds_t)(ms % 1000 * 1000)}};
  setitimer(ITIMER_REAL, &timer, NULL);
}

bool deadline_begin(const char *command, const char *given) {
  if (given == NULL) return true;
  char *end;
  const double seconds = strtod(given, &end);
  if (end == given || *end != '\0' || !(seconds > 0 && seconds <= MOST_SECONDS)) {
    command_usage_error("%s: --time-limit is a number of seconds such as 2.5; not '%s'", command,
                        given);
    return false;
  }
  limit = given;
  snprintf(message, sizeof message, "rheos: %s: it takes longer than --time-limit %.60s\n", command,
           given);
  const int64_t ms = (int64_t)ceil(seconds * 1000);
  end_ms = now_ms() + ms;
  signal(SIGALRM, end_process);
  set_timer(ms);
  return true;
}

int64_t deadline_of_step(void) {
  if (end_ms == 0) return 0;
  const int64_t now = now_ms(), left = now < end_ms ? end_ms - now : 1;
  set_timer(left + GRACE_MS);
  return left;
}

void deadline_end(void) {
  if (end_ms != 0) set_timer(0);
  end_ms = 0;
}

rheos_status *deadline_explain_take(rheos_status *status) {
  if (end_ms == 0 || status == NULL || rheos_status_code(status) != RHEOS_DEADLINE_EXCEEDED) {
    return status;
  }
  char *more = command_format(" (--time-limit %s)", limit);
  status = command_add_take(status, more);
  free(more);
  return status;
}
