// Bytes being written and read: a growing buffer, little-endian integers, varints.
#ifndef RHEOS_SRC_CODEC_BUFFER_H
#define RHEOS_SRC_CODEC_BUFFER_H

#include <string.h>

#include "base/alloc.h"
#include "base/status.h"

_Static_assert(
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
    "TensorFlow's files are little-endian, and so are the machines Rheos is written for");

// Starts as zeros. Once memory is short it stays `failed` and takes nothing more, so a writer
// checks once, at the end.
typedef struct rheos__buffer {
  char *data;
  size_t size_bytes, capacity;
  bool failed;
} rheos__buffer;

static inline void rheos__buffer_deinit(rheos__buffer *buffer) {
  rheos__free(buffer->data);
  *buffer = (rheos__buffer){0};
}

// Room for more bytes at the end, which the caller fills; NULL after a failure.
char *rheos__buffer_extend(rheos__buffer *buffer, size_t size_bytes);
void rheos__buffer_put(rheos__buffer *buffer, const void *data, size_t size_bytes);
void rheos__buffer_put_32(rheos__buffer *buffer, uint32_t value);
void rheos__buffer_put_64(rheos__buffer *buffer, uint64_t value);
void rheos__buffer_put_text(rheos__buffer *buffer, const char *text);
void rheos__buffer_put_varint(rheos__buffer *buffer, uint64_t value);
// How many bytes that takes.
size_t rheos__varint_bytes(uint64_t value);

static inline uint32_t rheos__load_32(const void *data) {
  uint32_t value;
  memcpy(&value, data, sizeof value);
  return value;
}
static inline uint64_t rheos__load_64(const void *data) {
  uint64_t value;
  memcpy(&value, data, sizeof value);
  return value;
}

// Reads the varint at `*at`, which moves behind it, but not past `end`. False if it is cut or
// longer than 64 bits.
bool rheos__read_varint(const char **at, const char *end, uint64_t *out_value);

#endif  // RHEOS_SRC_CODEC_BUFFER_H
