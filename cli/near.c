// Names are compared by Levenshtein's distance, in which neighbours that changed places are one edit too,
// row by row, and given up as soon as a row is beyond what still counts as near, so that a million names
// take no time to speak of.
#include "near.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"

enum { MOST_BYTES = 255 };

static size_t min_of(size_t a, size_t b) { return a < b ? a : b; }

// The edits between two names, or more than `most`.
static size_t edits_between(const char *a, size_t a_bytes, const char *b, size_t b_bytes,
                            size_t most) {
  size_t rows[3][MOST_BYTES + 1], *before = rows[0], *above = rows[1], *row = rows[2];
  for (size_t k = 0; k <= b_bytes; k++) above[k] = before[k] = k;
  for (size_t i = 1; i <= a_bytes; i++) {
    size_t least = row[0] = i;
    for (size_t k = 1; k <= b_bytes; k++) {
      const size_t changed = above[k - 1] + (a[i - 1] != b[k - 1]);
      row[k] = min_of(changed, min_of(above[k], row[k - 1]) + 1);
      if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1]) {
        row[k] = min_of(row[k], before[k - 2] + 1);
      }
      least = min_of(least, row[k]);
    }
    // Changed places reach over a row: one edit more may still follow from the row above.
    if (least > most + 1) return least;
    size_t *const oldest = before;
    before = above;
    above = row;
    row = oldest;
  }
  return above[b_bytes];
}

static bool is_end_of(const char *end, size_t end_bytes, const char *path, size_t path_bytes) {
  return path_bytes > end_bytes && path[path_bytes - end_bytes - 1] == '/' &&
         memcmp(path + path_bytes - end_bytes, end, end_bytes) == 0;
}

void near_offer(near_names *near, const char *candidate) {
  const size_t wanted_bytes = strlen(near->wanted), bytes = strlen(candidate);
  if (wanted_bytes == 0 || wanted_bytes > MOST_BYTES || bytes > MOST_BYTES) return;
  const size_t most = 1 + wanted_bytes / 4;
  size_t distance = most;
  if (!is_end_of(near->wanted, wanted_bytes, candidate, bytes)) {
    if (bytes > wanted_bytes + most || wanted_bytes > bytes + most) return;
    distance = edits_between(near->wanted, wanted_bytes, candidate, bytes, most);
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
