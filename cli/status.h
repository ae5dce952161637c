// Short forms for errors. The names are the command's own: those that begin with RHEOS_ are the
// library's.
#ifndef RHEOS_CLI_STATUS_H
#define RHEOS_CLI_STATUS_H

#include <rheos/base.h>

#define INVALID(...) rheos_status_new(RHEOS_INVALID_ARGUMENT, __VA_ARGS__)
#define NOT_FOUND(...) rheos_status_new(RHEOS_NOT_FOUND, __VA_ARGS__)
#define NO_MEMORY() rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory")

// Returns the error of `expression` from the function. Only where nothing is held.
#define TRY(expression)                          \
  do {                                           \
    rheos_status *try_status_ = (expression);    \
    if (try_status_ != NULL) return try_status_; \
  } while (0)

#endif  // RHEOS_CLI_STATUS_H
