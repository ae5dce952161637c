// Hashes of bytes whose values are part of TensorFlow's contract: the same in every version and on
// every machine. For tables in memory there is base/hash.h.
#ifndef RHEOS_SRC_BASE_FINGERPRINT_H
#define RHEOS_SRC_BASE_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

// FarmHash's Fingerprint64.
uint64_t rheos__fingerprint(const void *data, size_t size_bytes);
// The hash of StringToHashBucket: MurmurHash64A under TensorFlow's seed.
uint64_t rheos__murmur_hash(const void *data, size_t size_bytes);
// SipHash-2-4 under a key of 128 bits.
uint64_t rheos__sip_hash(const uint64_t key[2], const void *data, size_t size_bytes);

#endif  // RHEOS_SRC_BASE_FINGERPRINT_H
