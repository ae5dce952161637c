// Hashing for tables in memory; not stable between versions.
#ifndef RHEOS_SRC_BASE_HASH_H
#define RHEOS_SRC_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t rheos__hash_mix(uint64_t hash, uint64_t value) {
  hash ^= value;
  hash *= 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

uint64_t rheos__hash_bytes(uint64_t seed, const void *data, size_t size_bytes);

#endif  // RHEOS_SRC_BASE_HASH_H
