// Files that somebody still works on, told from those that a killed process has left: by a lock of
// the system, which ends with the process.
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int rheos__file_hold(const char *path) {
  const int hold = open(path, O_RDONLY | O_CLOEXEC);
  struct stat info;
  if (hold < 0) return -1;
  while (flock(hold, LOCK_SH) != 0 && errno == EINTR) continue;
  // Whoever looked for leftovers may have taken it away just before.
  if (fstat(hold, &info) == 0 && info.st_nlink > 0) return hold;
  close(hold);
  return -1;
}

void rheos__file_let_go(int hold) {
  if (hold >= 0) close(hold);
}

bool rheos__file_is_held(const char *path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return false;
  const bool is_held = flock(file, LOCK_EX | LOCK_NB) != 0;
  close(file);
  return is_held;
}

bool rheos__file_is_older(const char *path, int64_t seconds) {
  struct stat info;
  return lstat(path, &info) == 0 && time(NULL) - info.st_ctime > seconds;
}
