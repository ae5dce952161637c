// Errors inside the library.
#ifndef RHEOS_SRC_BASE_STATUS_H
#define RHEOS_SRC_BASE_STATUS_H

#include <rheos/base.h>
#include <stdarg.h>

// The static status for "out of memory".
RHEOS_MUST_USE rheos_status *rheos__out_of_memory(void);

RHEOS_MUST_USE rheos_status *rheos__status_newv(rheos_code code, const char *format, va_list args);

// Adds the node and its source line to the error, once: an error that names a node keeps it. `file`
// may be NULL. Takes `status` and returns the error to go on with.
RHEOS_MUST_USE rheos_status *rheos__status_at_node_take(rheos_status *status, const char *node,
                                                        const char *file, int line);

// The error of a call's body: adds the function. The node that calls is added next, and is the one that
// the error is known by. Takes `status` likewise.
RHEOS_MUST_USE rheos_status *rheos__status_in_function_take(rheos_status *status,
                                                            const char *function);

// Short forms for the common codes.
#define RHEOS_INVALID(...) rheos_status_new(RHEOS_INVALID_ARGUMENT, __VA_ARGS__)
#define RHEOS_NOTFOUND(...) rheos_status_new(RHEOS_NOT_FOUND, __VA_ARGS__)

// Returns the error of `expression` from the function. Only where nothing is held.
#define RHEOS_TRY(expression)                                         \
  do {                                                                \
    rheos_status *try_status_ = (expression);                         \
    if (__builtin_expect(try_status_ != NULL, 0)) return try_status_; \
  } while (0)

#endif  // RHEOS_SRC_BASE_STATUS_H
