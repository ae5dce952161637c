// How messages name the place of an element.
#ifndef RHEOS_SRC_OPS_KIT_POSITION_TEXT_H
#define RHEOS_SRC_OPS_KIT_POSITION_TEXT_H

#include <rheos/tensor.h>

// "[1,2]"; "" for a scalar.
typedef struct rheos__position_text {
  char text[RHEOS_MAX_RANK * 24];
} rheos__position_text;

// The place of element `at` in row-major order; the text is that in `text`.
const char *rheos__position_text_of(const rheos_shape *shape, int64_t at,
                                    rheos__position_text *text);

#endif  // RHEOS_SRC_OPS_KIT_POSITION_TEXT_H
