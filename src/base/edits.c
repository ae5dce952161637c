// Levenshtein's distance with transpositions, row by row, given up as soon as rows are beyond what
// counts.
#include "base/edits.h"

#include <string.h>

enum { MOST_BYTES = 255 };

static size_t min_of(size_t a, size_t b) { return a < b ? a : b; }

size_t rheos__edits_between(const char *a, const char *b, size_t most) {
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
    // Changed places reach over a row: one edit more may still follow from the row above.
    if (least > most + 1) return least;
    size_t *const oldest = before;
    before = above;
    above = row;
    row = oldest;
  }
  return above[b_bytes];
}
