// Fingerprints, written after the published descriptions of FarmHash (the variant of CityHash that
// is frozen as Fingerprint64), MurmurHash64A and SipHash-2-4. All read little-endian words.
#include "base/fingerprint.h"

#include <string.h>

static uint64_t word(const char *at) {
  uint64_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static uint64_t half_word(const char *at) {
  uint32_t value;
  memcpy(&value, at, sizeof value);
  return value;
}

static uint64_t right(uint64_t value, int bits) { return value >> bits | value << (64 - bits); }

// ---- Fingerprint64: one formula for each class of lengths, then blocks of 64 bytes

static const uint64_t K0 = 0xc3a5c85c97cb3127u, K1 = 0xb492b66fbe98f273u, K2 = 0x9ae16a3b2f90404fu;

static uint64_t fold(uint64_t value) { return value ^ value >> 47; }

static uint64_t join(uint64_t u, uint64_t v, uint64_t factor) {
  const uint64_t a = fold((u ^ v) * factor);
  return fold((v ^ a) * factor) * factor;
}

static uint64_t upto_16(const char *s, size_t n) {
  const uint64_t factor = K2 + n * 2;
  if (n >= 8) {
    const uint64_t a = word(s) + K2, b = word(s + n - 8);
    return join(right(b, 37) * factor + a, (right(a, 25) + b) * factor, factor);
  }
  if (n >= 4) return join(n + (half_word(s) << 3), half_word(s + n - 4), factor);
  if (n == 0) return K2;
  const uint64_t first = (unsigned char)s[0], middle = (unsigned char)s[n / 2];
  const uint64_t last = (unsigned char)s[n - 1];
  return fold((first + (middle << 8)) * K2 ^ (n + (last << 2)) * K0) * K2;
}

static uint64_t upto_32(const char *s, size_t n) {
  const uint64_t factor = K2 + n * 2;
  const uint64_t a = word(s) * K1, b = word(s + 8);
  const uint64_t c = word(s + n - 8) * factor, d = word(s + n - 16) * K2;
  return join(right(a + b, 43) + right(c, 30) + d, a + right(b + K2, 18) + c, factor);
}

static uint64_t upto_64(const char *s, size_t n) {
  const uint64_t factor = K2 + n * 2;
  const uint64_t a = word(s) * K2, b = word(s + 8);
  const uint64_t c = word(s + n - 8) * factor, d = word(s + n - 16) * K2;
  const uint64_t y = right(a + b, 43) + right(c, 30) + d;
  const uint64_t z = join(y, a + right(b + K2, 18) + c, factor);
  const uint64_t e = word(s + 16) * factor, f = word(s + 24);
  const uint64_t g = (y + word(s + n - 32)) * factor, h = (z + word(s + n - 24)) * factor;
  return join(right(e + f, 43) + right(g, 30) + h, e + right(f + a, 18) + g, factor);
}

typedef struct state {
  uint64_t x, y, z, v[2], w[2];
} state;

// 32 bytes into a pair.
static void mix_half(const char *s, uint64_t a, uint64_t b, uint64_t pair[2]) {
  a += word(s);
  b = right(b + a + word(s + 24), 21);
  const uint64_t start = a;
  a += word(s + 8) + word(s + 16);
  b += right(a, 44);
  pair[0] = a + word(s + 24);
  pair[1] = b + start;
}

// 64 bytes into the state; `scale` is 1, and 9 for the last block.
static void mix_block(state *t, const char *s, uint64_t factor, uint64_t scale) {
  t->x = right(t->x + t->y + t->v[0] + word(s + 8), 37) * factor;
  t->y = right(t->y + t->v[1] + word(s + 48), 42) * factor;
  t->x ^= t->w[1] * scale;
  t->y += t->v[0] * scale + word(s + 40);
  t->z = right(t->z + t->w[0], 33) * factor;
  mix_half(s, t->v[1] * factor, t->x + t->w[0], t->v);
  mix_half(s + 32, t->z + t->w[1], t->y + word(s + 16), t->w);
  const uint64_t x = t->x;
  t->x = t->z;
  t->z = x;
}

uint64_t rheos__fingerprint(const void *data, size_t n) {
  const char *s = data;
  if (n <= 16) return upto_16(s, n);
  if (n <= 32) return upto_32(s, n);
  if (n <= 64) return upto_64(s, n);
  const uint64_t seed = 81, y = seed * K1 + 113;
  state t = {.x = seed * K2 + word(s), .y = y, .z = fold(y * K2 + 113) * K2};
  const char *last = s + n - 64;
  const size_t tail = (n - 1) & 63;
  for (size_t left = (n - 1) / 64; left > 0; left--, s += 64) mix_block(&t, s, K1, 1);
  const uint64_t factor = K1 + ((t.z & 0xff) << 1);
  t.w[0] += tail;
  t.v[0] += t.w[0];
  t.w[0] += t.v[0];
  mix_block(&t, last, factor, 9);
  return join(join(t.v[0], t.w[0], factor) + fold(t.y) * K0 + t.z,
              join(t.v[1], t.w[1], factor) + t.x, factor);
}

// ---- MurmurHash64A

uint64_t rheos__murmur_hash(const void *data, size_t n) {
  const uint64_t factor = 0xc6a4a7935bd1e995u, seed = 0xdecafcaffeu;
  const char *s = data;
  uint64_t hash = seed ^ n * factor;
  for (; n >= 8; n -= 8, s += 8) {
    uint64_t k = word(s) * factor;
    k = (k ^ k >> 47) * factor;
    hash = (hash ^ k) * factor;
  }
  if (n > 0) {
    uint64_t rest = 0;
    memcpy(&rest, s, n);
    hash = (hash ^ rest) * factor;
  }
  hash = (hash ^ hash >> 47) * factor;
  return hash ^ hash >> 47;
}

// ---- SipHash-2-4

static void sip_rounds(uint64_t v[4], int count) {
  for (int i = 0; i < count; i++) {
    v[0] += v[1];
    v[2] += v[3];
    v[1] = right(v[1], 51) ^ v[0];
    v[3] = right(v[3], 48) ^ v[2];
    v[0] = right(v[0], 32) + v[3];
    v[2] += v[1];
    v[3] = right(v[3], 43) ^ v[0];
    v[1] = right(v[1], 47) ^ v[2];
    v[2] = right(v[2], 32);
  }
}

static void sip_word(uint64_t v[4], uint64_t m) {
  v[3] ^= m;
  sip_rounds(v, 2);
  v[0] ^= m;
}

uint64_t rheos__sip_hash(const uint64_t key[2], const void *data, size_t n) {
  uint64_t v[4] = {key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
                   key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u};
  const char *s = data;
  size_t left = n;
  for (; left >= 8; left -= 8, s += 8) sip_word(v, word(s));
  uint64_t last = 0;
  if (left > 0) memcpy(&last, s, left);
  sip_word(v, last | (uint64_t)n << 56);
  v[2] ^= 0xff;
  sip_rounds(v, 4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}
