// The smaller and the larger of two numbers.
#ifndef RHEOS_SRC_BASE_NUMBERS_H
#define RHEOS_SRC_BASE_NUMBERS_H

#include <stdint.h>

static inline int64_t rheos__min(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t rheos__max(int64_t a, int64_t b) { return a > b ? a : b; }

#endif  // RHEOS_SRC_BASE_NUMBERS_H
