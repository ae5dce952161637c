#include "base/sha256.h"

#include <string.h>

enum { BLOCK = 64, LENGTH_AT = 56 };

// The first 32 bits of the fractions of the cube roots of the first 64 primes.
static const uint32_t constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotated(uint32_t x, int by) { return x >> by | x << (32 - by); }

static void add_block(uint32_t *state, const uint8_t *block) {
  uint32_t w[64], v[8];
  for (int i = 0; i < 16; i++) {
    const uint8_t *b = block + 4 * i;
    w[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
  }
  for (int i = 16; i < 64; i++) {
    const uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) +
           (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
  }
  memcpy(v, state, sizeof v);
  for (int i = 0; i < 64; i++) {
    const uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
    const uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
    const uint32_t one = v[7] + (rotated(v[4], 6) ^ rotated(v[4], 11) ^ rotated(v[4], 25)) +
                         choice + constants[i] + w[i];
    const uint32_t two = (rotated(v[0], 2) ^ rotated(v[0], 13) ^ rotated(v[0], 22)) + majority;
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += one;
    v[0] = one + two;
  }
  for (int i = 0; i < 8; i++) state[i] += v[i];
}

void rheos__sha256_init(rheos__sha256 *sha) {
  *sha = (rheos__sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                   0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void rheos__sha256_add(rheos__sha256 *sha, const void *data, size_t size_bytes) {
  const uint8_t *bytes = data;
  size_t filled = (size_t)(sha->num_bytes % BLOCK);
  sha->num_bytes += size_bytes;
  while (size_bytes > 0) {
    const size_t taken = size_bytes < BLOCK - filled ? size_bytes : BLOCK - filled;
    memcpy(sha->block + filled, bytes, taken);
    bytes += taken;
    size_bytes -= taken;
    filled += taken;
    if (filled < BLOCK) return;
    add_block(sha->state, sha->block);
    filled = 0;
  }
}

void rheos__sha256_finish(rheos__sha256 *sha, uint8_t out[RHEOS__SHA256_BYTES]) {
  static const uint8_t padding[BLOCK] = {0x80};
  const uint64_t bits = sha->num_bytes * 8;
  const size_t filled = (size_t)(sha->num_bytes % BLOCK);
  uint8_t length[8];
  for (int i = 0; i < 8; i++) length[i] = (uint8_t)(bits >> (56 - 8 * i));
  rheos__sha256_add(sha, padding, (filled < LENGTH_AT ? LENGTH_AT : LENGTH_AT + BLOCK) - filled);
  rheos__sha256_add(sha, length, sizeof length);
  for (int i = 0; i < RHEOS__SHA256_BYTES; i++) {
    out[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
  }
}

void rheos__sha256_text(const uint8_t digest[RHEOS__SHA256_BYTES], char out[RHEOS__SHA256_TEXT]) {
  static const char digits[] = "0123456789abcdef";
  for (int i = 0; i < RHEOS__SHA256_BYTES; i++) {
    out[2 * i] = digits[digest[i] >> 4];
    out[2 * i + 1] = digits[digest[i] & 15];
  }
  out[2 * RHEOS__SHA256_BYTES] = '\0';
}
