// Hashes for tables in memory: FNV-1a.
#ifndef RHEOS_CLI_HASH_H
#define RHEOS_CLI_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t hash_bytes(uint64_t seed, const char *bytes, size_t size_bytes) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ seed;
  for (size_t i = 0; i < size_bytes; i++) {
    hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
  }
  return hash ^ hash >> 32;
}

#endif  // RHEOS_CLI_HASH_H
