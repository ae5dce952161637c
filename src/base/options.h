// Structs of options, which programs fill in and later versions of the library add fields to.
#ifndef RHEOS_SRC_BASE_OPTIONS_H
#define RHEOS_SRC_BASE_OPTIONS_H

#include <string.h>

#include "base/status.h"

// RHEOS_FAILED_PRECONDITION, naming the struct, if the program's `given_bytes` of it have anything
// but zeros behind the `known_bytes` that this library knows.
rheos_status *rheos__check_options(const char *name, const void *options, size_t given_bytes,
                                   size_t known_bytes);

// As rheos__check_options(), and copies what both sides know; the rest becomes zero.
rheos_status *rheos__convert_options(const char *name, const void *options, size_t given_bytes,
                                     void *out_options, size_t known_bytes);

// The program's options (NULL: the defaults) as this library knows them. Errors as above.
static inline rheos_status *rheos__read_options(const char *name, const void *options,
                                                size_t given_bytes, void *out_options,
                                                size_t known_bytes) {
  if (options == NULL) {
    memset(out_options, 0, known_bytes);
    return NULL;
  }
  if (given_bytes != known_bytes) {
    return rheos__convert_options(name, options, given_bytes, out_options, known_bytes);
  }
  memcpy(out_options, options, known_bytes);
  return NULL;
}
#define RHEOS_READ_OPTIONS(type, options, given_bytes, out_options) \
  rheos__read_options(#type, (options), (given_bytes), (out_options), sizeof(type))

// What an optional number is if it is left out.
static inline int64_t rheos__int_or(rheos_optional_int number, int64_t otherwise) {
  return number.given || number.value != 0 ? number.value : otherwise;
}
static inline float rheos__float_or(rheos_optional_float number, float otherwise) {
  return number.given || number.value != 0 ? number.value : otherwise;
}

#endif  // RHEOS_SRC_BASE_OPTIONS_H
