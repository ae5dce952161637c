// Linux promises memory that it does not have and ends the process that takes it at its word. So
// large allocations are compared with what is left: /proc/meminfo, and the files of control groups
// (of both versions) where a container shows its own.
#include "base/available_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The number behind `key` at the start of a line; UINT64_MAX if there is none.
static uint64_t number_of(const char *path, const char *key) {
  uint64_t number = UINT64_MAX;
  char line[160];
  const size_t key_bytes = strlen(key);
  FILE *file = fopen(path, "re");
  if (file == NULL) return UINT64_MAX;
  while (number == UINT64_MAX && fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, key, key_bytes) != 0) continue;
    if (sscanf(line + key_bytes, "%" SCNu64, &number) != 1) break;  // "max"
  }
  fclose(file);
  return number;
}

static uint64_t of_machine(void) {
  const uint64_t available = number_of("/proc/meminfo", "MemAvailable:");
  if (available > UINT64_MAX / 4096) return UINT64_MAX;
  const uint64_t swap = number_of("/proc/meminfo", "SwapFree:");
  return (available + (swap < UINT64_MAX / 4096 ? swap : 0)) * 1024;
}

// What a group may still take: files that it has only read are given back when memory is short.
static uint64_t of_group(const char *limit_file, const char *usage_file, const char *stat_file,
                         const char *cache_key) {
  const uint64_t limit = number_of(limit_file, ""), usage = number_of(usage_file, "");
  if (limit == UINT64_MAX || usage == UINT64_MAX) return UINT64_MAX;
  const uint64_t cache = number_of(stat_file, cache_key);
  const uint64_t held = cache < usage ? usage - cache : usage;
  return held < limit ? limit - held : 0;
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

#define GROUP "/sys/fs/cgroup/"

uint64_t rheos__available_memory(void) {
  const uint64_t second =
      of_group(GROUP "memory.max", GROUP "memory.current", GROUP "memory.stat", "inactive_file ");
  const uint64_t first =
      of_group(GROUP "memory/memory.limit_in_bytes", GROUP "memory/memory.usage_in_bytes",
               GROUP "memory/memory.stat", "total_inactive_file ");
  return least(of_machine(), least(first, second));
}
