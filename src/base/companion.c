#include "base/companion.h"

#include <dlfcn.h>
#include <rheos/base.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

static const void *open_companion(const char *path, const char *symbol) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return NULL;
  const char *const *version = dlsym(library, symbol);
  if (version != NULL && strcmp(*version, RHEOS_VERSION_STRING) == 0) return version;
  dlclose(library);
  return NULL;
}

const void *rheos__companion_find(const char *path, const char *file, const char *symbol) {
  static const char here_too = 0;
  static const char *const folders[] = {"", "../lib/"};
  if (path != NULL) return open_companion(path, symbol);
  Dl_info here;
  if (dladdr(&here_too, &here) == 0 || here.dli_fname == NULL) return NULL;
  const char *slash = strrchr(here.dli_fname, '/');
  if (slash == NULL) return NULL;
  const int length = (int)(slash + 1 - here.dli_fname);
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    char whole[PATH_BYTES];
    const int written =
        snprintf(whole, sizeof whole, "%.*s%s%s", length, here.dli_fname, folders[i], file);
    if (written < 0 || written >= PATH_BYTES) continue;
    const void *found = open_companion(whole, symbol);
    if (found != NULL) return found;
  }
  return NULL;
}
