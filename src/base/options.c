#include "base/options.h"

rheos_status *rheos__check_options(const char *name, const void *options, size_t given_bytes,
                                   size_t known_bytes) {
  const unsigned char *bytes = options;
  for (size_t i = known_bytes; i < given_bytes; i++) {
    if (bytes[i] == 0) continue;
    return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                            "%s sets a field that Rheos " RHEOS_VERSION_STRING
                            " does not know: the program was built for a newer one",
                            name);
  }
  return NULL;
}

rheos_status *rheos__convert_options(const char *name, const void *options, size_t given_bytes,
                                     void *out_options, size_t known_bytes) {
  memset(out_options, 0, known_bytes);
  RHEOS_TRY(rheos__check_options(name, options, given_bytes, known_bytes));
  memcpy(out_options, options, given_bytes < known_bytes ? given_bytes : known_bytes);
  return NULL;
}
