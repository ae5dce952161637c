// A multiply-and-fold hash over eight bytes at a time.
#include "base/hash.h"

#include <string.h>

uint64_t rheos__hash_bytes(uint64_t seed, const void *data, size_t size_bytes) {
  const unsigned char *bytes = data;
  uint64_t hash = rheos__hash_mix(seed, size_bytes);
  for (; size_bytes >= 8; bytes += 8, size_bytes -= 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    hash = rheos__hash_mix(hash, word);
  }
  uint64_t tail = 0;
  if (size_bytes > 0) memcpy(&tail, bytes, size_bytes);  // `data` may be NULL
  return rheos__hash_mix(hash, tail);
}
