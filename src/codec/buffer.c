// The growing buffer and varints (seven bits a byte, lowest first, the top bit says that more
// follow).
#include "codec/buffer.h"

#include <assert.h>

char *rheos__buffer_extend(rheos__buffer *buffer, size_t size_bytes) {
  size_t larger;
  // Room for nothing is a place too, not NULL.
  if (buffer->failed || !rheos__add_size(buffer->size_bytes, size_bytes, &larger) ||
      !RHEOS_RESERVE(buffer->data, buffer->capacity, larger > 0 ? larger : 1)) {
    buffer->failed = true;
    return NULL;
  }
  char *start = buffer->data + buffer->size_bytes;
  buffer->size_bytes = larger;
  assert(buffer->size_bytes <= buffer->capacity);
  return start;
}

void rheos__buffer_put(rheos__buffer *buffer, const void *data, size_t size_bytes) {
  if (size_bytes == 0) return;
  char *to = rheos__buffer_extend(buffer, size_bytes);
  if (to != NULL) memcpy(to, data, size_bytes);
}

void rheos__buffer_put_32(rheos__buffer *buffer, uint32_t value) {
  rheos__buffer_put(buffer, &value, sizeof value);
}

void rheos__buffer_put_64(rheos__buffer *buffer, uint64_t value) {
  rheos__buffer_put(buffer, &value, sizeof value);
}

void rheos__buffer_put_text(rheos__buffer *buffer, const char *text) {
  rheos__buffer_put(buffer, text, strlen(text));
}

size_t rheos__varint_bytes(uint64_t value) {
  size_t count = 1;
  while (value >>= 7) count++;
  return count;
}

void rheos__buffer_put_varint(rheos__buffer *buffer, uint64_t value) {
  unsigned char bytes[10];
  size_t count = 0;
  for (; value >= 128; value >>= 7) bytes[count++] = (unsigned char)(value | 128);
  bytes[count++] = (unsigned char)value;
  assert(count <= sizeof bytes);
  rheos__buffer_put(buffer, bytes, count);
}

bool rheos__read_varint(const char **at, const char *end, uint64_t *out_value) {
  uint64_t value = 0;
  const char *p = *at;
  assert(p <= end);
  for (int shift = 0; shift < 64; shift += 7) {
    if (p == end) return false;
    unsigned char byte = (unsigned char)*p++;
    if (shift == 63 && byte > 1) return false;
    value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) {
      *at = p;
      *out_value = value;
      return true;
    }
  }
  return false;
}
