// Stores that go past the caches, for results that are too large to stay in them anyway: the lines
// they fill need not be read first, which is a third of the traffic of a copy.
#ifndef RHEOS_SRC_OPS_KIT_STREAM_H
#define RHEOS_SRC_OPS_KIT_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

// Results of so many bytes are streamed.
#define RHEOS__STREAM_FROM ((int64_t)16 << 20)

enum { RHEOS__LINE_BYTES = 64, RHEOS__STREAM_PART = 16 };

static inline bool rheos__is_aligned(const void *memory, size_t alignment) {
  return (uintptr_t)memory % alignment == 0;
}

// Stores 16 bytes to an address that is a multiple of 16. Whole cache lines have to be stored in
// one go, and rheos__stream_end() called before anyone else may read.
static inline void rheos__stream_part(void *to, const void *from) {
#if defined(__SSE2__)
  _mm_stream_si128(to, _mm_loadu_si128(from));
#else
  memcpy(to, from, RHEOS__STREAM_PART);
#endif
}

static inline void rheos__stream_line(void *to, const void *from) {
  for (int part = 0; part < RHEOS__LINE_BYTES; part += RHEOS__STREAM_PART) {
    rheos__stream_part((char *)to + part, (const char *)from + part);
  }
}

static inline void rheos__stream_end(void) {
#if defined(__SSE2__)
  _mm_sfence();
#endif
}

// memcpy() of the kind. `ahead`: how many bytes on lies what will be copied next, which is fetched
// meanwhile; the processor expects it to follow at once.
static inline void rheos__stream_copy(void *to, const void *from, size_t size_bytes,
                                      int64_t ahead) {
  char *out = to;
  const char *in = from;
  const size_t head = -(uintptr_t)to % RHEOS__LINE_BYTES;
  if (size_bytes < head + RHEOS__LINE_BYTES) {
    memcpy(to, from, size_bytes);
    return;
  }
  memcpy(out, in, head);
  size_t at = head;
  for (; at + RHEOS__LINE_BYTES <= size_bytes; at += RHEOS__LINE_BYTES) {
    __builtin_prefetch((const void *)((uintptr_t)(in + at) + (uintptr_t)ahead), 0, 2);
    rheos__stream_line(out + at, in + at);
  }
  memcpy(out + at, in + at, size_bytes - at);
}

#endif  // RHEOS_SRC_OPS_KIT_STREAM_H
