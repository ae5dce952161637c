// Four by four elements of 4 bytes transposed, in registers where the compiler knows how.
#ifndef RHEOS_SRC_OPS_KIT_TRANSPOSE_SQUARE_H
#define RHEOS_SRC_OPS_KIT_TRANSPOSE_SQUARE_H

#include <stdint.h>
#include <string.h>

// Row i of the result, at to + i * to_row_bytes, is element i of the four columns.
#if defined(__GNUC__) && !defined(__clang__)
typedef uint32_t rheos__four __attribute__((vector_size(16)));

static inline void rheos__transpose_square(char *to, int64_t to_row_bytes,
                                           const char *const columns[4]) {
  const rheos__four low = {0, 4, 1, 5}, high = {2, 6, 3, 7};
  const rheos__four first = {0, 1, 4, 5}, last = {2, 3, 6, 7};
  rheos__four x[4], y[4];
  for (int j = 0; j < 4; j++) memcpy(&x[j], columns[j], sizeof x[j]);
  const rheos__four a = __builtin_shuffle(x[0], x[1], low);
  const rheos__four b = __builtin_shuffle(x[2], x[3], low);
  const rheos__four c = __builtin_shuffle(x[0], x[1], high);
  const rheos__four d = __builtin_shuffle(x[2], x[3], high);
  y[0] = __builtin_shuffle(a, b, first), y[1] = __builtin_shuffle(a, b, last);
  y[2] = __builtin_shuffle(c, d, first), y[3] = __builtin_shuffle(c, d, last);
  for (int j = 0; j < 4; j++) memcpy(to + j * to_row_bytes, &y[j], sizeof y[j]);
}
#else
static inline void rheos__transpose_square(char *to, int64_t to_row_bytes,
                                           const char *const columns[4]) {
  for (int i = 0; i < 4; i++, to += to_row_bytes) {
    for (int k = 0; k < 4; k++) memcpy(to + 4 * k, columns[k] + 4 * i, 4);
  }
}
#endif

#endif  // RHEOS_SRC_OPS_KIT_TRANSPOSE_SQUARE_H
