// Says on a terminal what is being done, once it has taken a second: one line on standard error,
// which goes away again. Nothing is written where standard error is no terminal.
#ifndef RHEOS_CLI_PROGRESS_H
#define RHEOS_CLI_PROGRESS_H

#include <stdint.h>

// What is being done from now on, "reading records". `total` of some unit, 0: not known. `what`
// stays the caller's.
void progress_begin(const char *what, int64_t total);
void progress_set(int64_t done);
void progress_end(void);  // safe to call twice

#endif  // RHEOS_CLI_PROGRESS_H
