// The limit is the kernel's, of writable memory that is the process's own (RLIMIT_DATA): every
// allocation fails there, whoever makes it, and files that are mapped do not count.
#include "limit.h"

#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "command.h"

static struct rlimit before;
static uint64_t room;  // 0: there is no limit
static uint64_t size_found;

static int add_size(const char *path, const struct stat *found, int kind) {
  (void)path;
  if (kind == FTW_F && S_ISREG(found->st_mode)) size_found += (uint64_t)found->st_size;
  return 0;
}

static uint64_t size_of(const char *path) {
  size_found = 0;
  ftw(path, add_size, 16);
  return size_found;
}

// "512M" in bytes, "none" as 0.
static bool parse_size(const char *text, uint64_t *out_bytes) {
  static const char units[] = "KMGT";
  *out_bytes = 0;
  if (strcmp(text, "none") == 0) return true;
  char *end;
  const double number = strtod(text, &end);
  const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
  if (end == text || !(number > 0) || (*end != '\0' && (unit == NULL || end[1] != '\0'))) {
    return false;
  }
  double bytes = number;
  for (int i = 0; unit != NULL && i <= unit - units; i++) bytes *= 1024;
  if (bytes < 1 || bytes > 9e18) return false;
  *out_bytes = (uint64_t)bytes;
  return true;
}

// OpenBLAS starts a thread for each other processor as it is loaded, which takes a buffer of 128 MB
// (written to where it is used) and a stack when it comes to run. It may not have come to that, and
// what it does where it gets none is try again for ever.
#define BYTES_OF_A_THREAD ((uint64_t)136 << 20)

// What counts for the limit now, or soon will whatever is read.
static uint64_t held(void) {
  uint64_t kilobytes = 0;
  uint64_t threads = 1;
  FILE *file = fopen("/proc/self/status", "r");
  if (file == NULL) return 0;
  char line[256];
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "VmData:", 7) == 0) kilobytes = strtoull(line + 7, NULL, 10);
    if (strncmp(line, "Threads:", 8) == 0) threads = strtoull(line + 8, NULL, 10);
  }
  fclose(file);
  if (kilobytes == 0) return 0;
  const uint64_t others = (threads - 1) * BYTES_OF_A_THREAD;
  return kilobytes * 1024 > others ? kilobytes * 1024 : others;
}

bool limit_begin(const char *command, const char *path, const char *given) {
  if (given == NULL) {
    room = LIMIT_BASE_BYTES + LIMIT_MULTIPLE * size_of(path);
  } else if (!parse_size(given, &room)) {
    command_usage_error("%s: --memory-limit is a size such as 512M or 8G, or none; not '%s'",
                        command, given);
    return false;
  }
  const uint64_t now = held();
  if (room == 0 || now == 0 || getrlimit(RLIMIT_DATA, &before) != 0 ||
      before.rlim_cur < now + room) {
    room = 0;
    return true;
  }
  const struct rlimit limit = {now + room, before.rlim_max};
  if (setrlimit(RLIMIT_DATA, &limit) != 0) room = 0;
  return true;
}

void limit_end(void) {
  if (room != 0) setrlimit(RLIMIT_DATA, &before);
  room = 0;
}

rheos_status *limit_explain_take(rheos_status *status) {
  if (room == 0 || rheos_status_code(status) != RHEOS_RESOURCE_EXHAUSTED) return status;
  const double gigabytes = (double)room / 1e9;
  limit_end();  // saying so needs memory
  char *more =
      command_format(": reading it takes more than %.1f GB; --memory-limit raises that", gigabytes);
  status = command_add_take(status, more);
  free(more);
  return status;
}
