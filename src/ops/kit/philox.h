// Philox4x32-10 (Salmon et al., 2011), counted as TensorFlow counts it: a key and a counter of 128
// bits; each step of the counter gives four numbers of 32 bits.
#ifndef RHEOS_SRC_OPS_KIT_PHILOX_H
#define RHEOS_SRC_OPS_KIT_PHILOX_H

#include <stdint.h>

typedef struct rheos__philox {
  uint32_t key[2];
  uint32_t counter[4];  // least significant first
} rheos__philox;

// The generator of TensorFlow's stateful random ops for two seeds.
static inline rheos__philox rheos__philox_of(uint64_t seed, uint64_t seed2) {
  return (rheos__philox){
      {(uint32_t)seed, (uint32_t)(seed >> 32)},
      {0, 0, (uint32_t)seed2, (uint32_t)(seed2 >> 32)},
  };
}

// Goes on by `count` steps. As in TensorFlow, a count from 2^64 - 2^32 on may lose the carry into
// the upper half: such counts are negative ones.
static inline void rheos__philox_skip(rheos__philox *philox, uint64_t count) {
  const uint32_t low = (uint32_t)count;
  uint32_t high = (uint32_t)(count >> 32);
  philox->counter[0] += low;
  high += philox->counter[0] < low;
  philox->counter[1] += high;
  if (philox->counter[1] < high && ++philox->counter[2] == 0) ++philox->counter[3];
}

// The four numbers at the counter; does not move it.
static inline void rheos__philox_block(const rheos__philox *philox, uint32_t out[4]) {
  uint32_t a = philox->counter[0], b = philox->counter[1];
  uint32_t c = philox->counter[2], d = philox->counter[3];
  uint32_t k0 = philox->key[0], k1 = philox->key[1];
  for (int round = 0; round < 10; round++) {
    const uint64_t p0 = (uint64_t)0xD2511F53u * a, p1 = (uint64_t)0xCD9E8D57u * c;
    a = (uint32_t)(p1 >> 32) ^ b ^ k0;
    b = (uint32_t)p1;
    c = (uint32_t)(p0 >> 32) ^ d ^ k1;
    d = (uint32_t)p0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  out[0] = a, out[1] = b, out[2] = c, out[3] = d;
}

// One number at a time.
typedef struct rheos__philox_singles {
  rheos__philox philox;
  uint32_t block[4];
  int used;
} rheos__philox_singles;

static inline rheos__philox_singles rheos__philox_singles_of(rheos__philox philox) {
  return (rheos__philox_singles){.philox = philox, .used = 4};
}

static inline uint32_t rheos__philox_next(rheos__philox_singles *singles) {
  if (singles->used == 4) {
    rheos__philox_block(&singles->philox, singles->block);
    rheos__philox_skip(&singles->philox, 1);
    singles->used = 0;
  }
  return singles->block[singles->used++];
}

#endif  // RHEOS_SRC_OPS_KIT_PHILOX_H
