#include "ops/data/run_time_library.h"

#include <dlfcn.h>
#include <string.h>

rheos_status *rheos__library_open(const char *file, const char *package,
                                  const rheos__library_function *functions, size_t count,
                                  void **out_library) {
  *out_library = NULL;
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    return rheos_status_new(RHEOS_FAILED_PRECONDITION,
                            "this needs %s, which is not there: Debian's package %s brings it",
                            file, package);
  }
  for (size_t i = 0; i < count; ++i) {
    void *const address = dlsym(library, functions[i].name);
    if (address == NULL) {
      rheos__library_close(library);
      return rheos_status_new(RHEOS_FAILED_PRECONDITION, "%s has no function %s", file,
                              functions[i].name);
    }
    memcpy(functions[i].to, &address, sizeof address);
  }
  *out_library = library;
  return NULL;
}

void rheos__library_close(void *library) {
  if (library != NULL) dlclose(library);
}
