#include "near.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"

enum { MOST_BYTES = 255 };

static size_t min_of(size_t a, size_t b) { return a < b ? a : b; }

// Levenshtein's distance with transpositions, row by row, given up as soon as rows are beyond
// `most`: then
// more than that comes back, as for names of more than 255 bytes.
static size_t edits_between(const char *a, const char *b, size_t most) {
  const size_t a_bytes = strlen(a), b_bytes = strlen(b);
  if (a_bytes > MOST_BYTES || b_bytes > MOST_BYTES) return most + 1;
  if (a_bytes > b_bytes + most || b_bytes > a_bytes + most) return most + 1;
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
    // A transposition reaches over a row: one edit more may still follow from the row above.
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
  const size_t most = 1 + wanted_bytes / 4;
  if (wanted_bytes == 0) return;
  size_t distance = most;
  if (!is_end_of(near->wanted, wanted_bytes, candidate, bytes)) {
    distance = edits_between(near->wanted, candidate, most);
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
