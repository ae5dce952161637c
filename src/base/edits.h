// How many edits are between two names, to find what a misspelt one was meant to be.
#ifndef RHEOS_SRC_BASE_EDITS_H
#define RHEOS_SRC_BASE_EDITS_H

#include <stddef.h>

// Letters to be added, taken away or changed, and neighbours to change places, one edit each; more
// than `most` where it is more, or where a name has more than 255 bytes. A name that is nothing
// like another takes no time to speak of.
size_t rheos__edits_between(const char *a, const char *b, size_t most);

// How many edits a misspelt name may be away.
static inline size_t rheos__most_edits(size_t name_bytes) { return 1 + name_bytes / 4; }

#endif  // RHEOS_SRC_BASE_EDITS_H
