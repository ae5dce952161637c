// How long a command may take that reads a file and runs what is in it.
#ifndef RHEOS_CLI_DEADLINE_H
#define RHEOS_CLI_DEADLINE_H

#include <rheos/base.h>
#include <stdbool.h>
#include <stdint.h>

// From here on the process ends, with a message, when the time is over: `given` seconds ("2.5", of
// --time-limit), or never where it is NULL. False after a message (wrong usage) if it is no time.
bool deadline_begin(const char *command, const char *given);
// For rheos_run_options.timeout_ms: what is left, at least 1; 0: for ever. A step ends by itself
// then, and says where it was; the process ends if that takes a second more.
int64_t deadline_of_step(void);
void deadline_end(void);
// The status; where a step took too long, with the option's value. Takes it.
rheos_status *deadline_explain_take(rheos_status *status);

#endif  // RHEOS_CLI_DEADLINE_H
