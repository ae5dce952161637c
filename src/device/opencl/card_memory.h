// The memory of a card: see tensor/memory.h for what its addresses mean to others.
#ifndef RHEOS_SRC_DEVICE_OPENCL_CARD_MEMORY_H
#define RHEOS_SRC_DEVICE_OPENCL_CARD_MEMORY_H

#include "device/opencl/card.h"
#include "tensor/memory.h"

// The card's buffers, which it keeps until the process ends.
typedef struct rheos__card_pool rheos__card_pool;
rheos_status *rheos__card_pool_new(rheos__card *card, rheos__card_pool **out_pool);
// Makes a buffer of so many bytes, or of none yet, at least as large, a new one whose bytes are
// anything; it counts as the others do, but nothing else lies in it. With the card's lock held.
cl_int rheos__card_pool_take(rheos__card *card, size_t size_bytes, cl_mem *memory,
                             size_t *memory_bytes);

// A memory whose blocks come from them, of so many bytes together at most; 0: of what they have.
rheos_status *rheos__card_memory_new(rheos__card *card, int64_t limit_bytes,
                                     rheos__memory **out_memory);
int64_t rheos__card_memory_limit(const rheos__memory *memory);
// Bytes of its blocks, and the most that they had together.
void rheos__card_memory_use(const rheos__memory *memory, int64_t *out_bytes, int64_t *out_peak);
void rheos__card_memory_reset_peak(rheos__memory *memory);

typedef struct rheos__card_place {
  cl_mem buffer;
  cl_ulong offset;  // bytes
} rheos__card_place;

// What an address in the card's memory means. `buffer` is NULL where it is none.
rheos__card_place rheos__card_place_of(const rheos__card *card, const void *address);

#endif  // RHEOS_SRC_DEVICE_OPENCL_CARD_MEMORY_H
