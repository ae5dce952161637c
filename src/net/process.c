#include "net/process.h"

#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int64_t rheos__process_memory_bytes(void) {
  char text[128];
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return 0;
  text[size] = '\0';
  const char *resident = strchr(text, ' ');  // the second number, in pages
  return resident != NULL ? strtoll(resident, NULL, 10) * sysconf(_SC_PAGESIZE) : 0;
}

void rheos__process_trim_memory(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}
