// "Did you mean": of many names the few that are most like one that was misspelt.
#ifndef RHEOS_CLI_NEAR_H
#define RHEOS_CLI_NEAR_H

#include <stdbool.h>
#include <stddef.h>

enum { NEAR_MOST = 3 };

// Nearest first.
typedef struct near_names {
  const char *wanted;  // borrowed
  char *names[NEAR_MOST];
  size_t distances[NEAR_MOST];
  size_t count;
} near_names;

// A candidate is kept if few edits make one name of the other, or if it ends in "/" and the name.
void near_offer(near_names *near, const char *candidate);

// "; did you mean 'a', 'b'?", or "" where no candidate was near; for free(). Frees the names.
char *near_take_text(near_names *near);

#endif  // RHEOS_CLI_NEAR_H
