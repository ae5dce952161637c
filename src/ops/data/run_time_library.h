// Libraries that are opened when a dataset or reader needs them, so that Rheos runs without them.
#ifndef RHEOS_SRC_OPS_DATA_RUN_TIME_LIBRARY_H
#define RHEOS_SRC_OPS_DATA_RUN_TIME_LIBRARY_H

#include "base/status.h"

// A function of the library and where its address goes, which is that of a pointer to such a
// function.
typedef struct rheos__library_function {
  const char *name;
  void *to;
} rheos__library_function;

// Opens a library and looks its functions up; RHEOS_FAILED_PRECONDITION naming Debian's `package`
// if it is not there or lacks one.
rheos_status *rheos__library_open(const char *file, const char *package,
                                  const rheos__library_function *functions, size_t count,
                                  void **out_library);
void rheos__library_close(void *library);  // NULL: nothing

#endif  // RHEOS_SRC_OPS_DATA_RUN_TIME_LIBRARY_H
