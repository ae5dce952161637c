#include "base/companion.h"

#include <dlfcn.h>
#include <rheos/base.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

static const void *open_companion(const char *path, const char *symbol) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return NULL;
  const char *const *version = dlsym(library, symbol);
  if (version != NULL && strcmp(*version, RHEOS_VERSION_STRING) == 0) return version;
  dlclose(library);
  return NULL;
}

// Where the code of this file is: of a program its own path, which it may have been called by from
// a folder that is no longer the current one.
static bool find_self(char *path) {
  static const char here_too = 0;
  Dl_info here;
  if (dladdr(&here_too, &here) == 0 || here.dli_fname == NULL) return false;
  if (here.dli_fname[0] == '/') {
    return snprintf(path, PATH_BYTES, "%s", here.dli_fname) < PATH_BYTES;
  }
  const ssize_t size = readlink("/proc/self/exe", path, PATH_BYTES - 1);
  if (size <= 0) return false;
  path[size] = '\0';
  return true;
}

const void *rheos__companion_find(const char *path, const char *file, const char *symbol) {
  static const char *const folders[] = {"", "rheos/", "../lib/", "../lib/rheos/"};
  char self[PATH_BYTES], whole[PATH_BYTES];
  if (path != NULL) return open_companion(path, symbol);
  if (!find_self(self)) return NULL;
  const char *slash = strrchr(self, '/');
  if (slash == NULL) return NULL;
  const int length = (int)(slash + 1 - self);
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
    const int written = snprintf(whole, sizeof whole, "%.*s%s%s", length, self, folders[i], file);
    if (written < 0 || written >= PATH_BYTES) continue;
    const void *found = open_companion(whole, symbol);
    if (found != NULL) return found;
  }
  return NULL;
}
