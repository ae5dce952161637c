// Structs of options, which programs fill in and later versions of the library add fields to.
#ifndef RHEOS_SRC_BASE_OPTIONS_H
#define RHEOS_SRC_BASE_OPTIONS_H

#include "base/status.h"

// RHEOS_FAILED_PRECONDITION, naming the struct, if the program's `given_bytes` of it have anything but
// zeros behind the `known_bytes` that this library knows.
rheos_status *rheos__check_options(const char *name, const void *options, size_t given_bytes,
                                   size_t known_bytes);

// The program's options (NULL: the defaults) as this library knows them: what an older program does
// not have is zero. Errors as above.
rheos_status *rheos__read_options(const char *name, const void *options, size_t given_bytes,
                                  void *out_options, size_t known_bytes);
#define RHEOS_READ_OPTIONS(type, options, given_bytes, out_options) \
  rheos__read_options(#type, (options), (given_bytes), (type *){(out_options)}, sizeof(type))

#endif  // RHEOS_SRC_BASE_OPTIONS_H
