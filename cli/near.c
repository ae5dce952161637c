#include "near.h"

#include <stdlib.h>
#include <string.h>

#include "base/edits.h"
#include "command.h"

static bool is_end_of(const char *end, size_t end_bytes, const char *path, size_t path_bytes) {
  return path_bytes > end_bytes && path[path_bytes - end_bytes - 1] == '/' &&
         memcmp(path + path_bytes - end_bytes, end, end_bytes) == 0;
}

void near_offer(near_names *near, const char *candidate) {
  const size_t wanted_bytes = strlen(near->wanted), bytes = strlen(candidate);
  const size_t most = rheos__most_edits(wanted_bytes);
  if (wanted_bytes == 0) return;
  size_t distance = most;
  if (!is_end_of(near->wanted, wanted_bytes, candidate, bytes)) {
    distance = rheos__edits_between(near->wanted, candidate, most);
    if (distance > most || distance >= wanted_bytes) return;
  }
  size_t at = near->count;
  while (at > 0 && distance < near->distances[at - 1]) at--;
  if (at == NEAR_MOST) return;
  if (near->count == NEAR_MOST) free(near->names[--near->count]);
  for (size_t i = near->count; i > at; i--) {
    near->names[i] = near->names[i - 1];
    near->distances[i] = near->distances[i - 1];
  }
  near->names[at] = command_format("%s", candidate);
  near->distances[at] = distance;
  near->count++;
}

char *near_take_text(near_names *near) {
  char *text = command_format("%s", near->count > 0 ? "; did you mean " : "");
  for (size_t i = 0; i < near->count; i++) {
    char *longer =
        command_format("%s'%s'%s", text, near->names[i], i + 1 < near->count ? ", " : "?");
    free(text);
    free(near->names[i]);
    text = longer;
  }
  near->count = 0;
  return text;
}
