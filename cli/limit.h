// How much memory reading a file may take: a file of a megabyte can unpack to many gigabytes.
#ifndef RHEOS_CLI_LIMIT_H
#define RHEOS_CLI_LIMIT_H

#include <rheos/base.h>
#include <stdbool.h>

// From here on memory ends at what is held now and LIMIT_BASE_BYTES and LIMIT_MULTIPLE times the
// size of the file or folder `path`, or at `given` ("512M", "8G", "none") if that is not NULL.
// False after a message (wrong usage) if `given` is no size.
#define LIMIT_BASE_BYTES ((size_t)1 << 30)
#define LIMIT_MULTIPLE 64
bool limit_begin(const char *command, const char *path, const char *given);
void limit_end(void);

// The status; where memory was short while there is a limit, with how to raise it. Takes it.
rheos_status *limit_explain_take(rheos_status *status);

#endif  // RHEOS_CLI_LIMIT_H
