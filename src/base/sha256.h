// SHA-256 (FIPS 180-4): tells whether bytes are those that were written, and names files by what
// they were made of.
#ifndef RHEOS_SRC_BASE_SHA256_H
#define RHEOS_SRC_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { RHEOS__SHA256_BYTES = 32, RHEOS__SHA256_TEXT = 65 };

typedef struct rheos__sha256 {
  uint32_t state[8];
  uint64_t num_bytes;  // so far
  uint8_t block[64];   // the last ones, which do not fill a block yet
} rheos__sha256;

void rheos__sha256_init(rheos__sha256 *sha);
void rheos__sha256_add(rheos__sha256 *sha, const void *data, size_t size_bytes);
void rheos__sha256_finish(rheos__sha256 *sha, uint8_t out[RHEOS__SHA256_BYTES]);

// As hexadecimal digits and a NUL.
void rheos__sha256_text(const uint8_t digest[RHEOS__SHA256_BYTES], char out[RHEOS__SHA256_TEXT]);

#endif  // RHEOS_SRC_BASE_SHA256_H
