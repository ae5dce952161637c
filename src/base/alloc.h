// Memory: every heap use of the library goes through these, and so through the replaceable
// allocator.
#ifndef RHEOS_SRC_BASE_ALLOC_H
#define RHEOS_SRC_BASE_ALLOC_H

#include <rheos/base.h>

// NULL when memory is short: also, unless the allocator was replaced, when a large block is more
// than the machine has left. Size 0 gives a valid pointer.
void *rheos__alloc(size_t size_bytes);
void *rheos__alloc_zeroed(size_t size_bytes);
// Zeroed array; NULL also when count * element_bytes overflows.
void *rheos__alloc_array(size_t count, size_t element_bytes);
void *rheos__realloc(void *memory, size_t size_bytes);
// Memory aligned to 64 bytes, freed with rheos__free_aligned().
void *rheos__alloc_aligned(size_t size_bytes);
void rheos__free(void *memory);
void rheos__free_aligned(void *memory);
char *rheos__strdup(const char *text);
char *rheos__strndup(const char *text, size_t size_bytes);

static inline bool rheos__mul_size(size_t a, size_t b, size_t *out_product) {
  return !__builtin_mul_overflow(a, b, out_product);
}
static inline bool rheos__add_size(size_t a, size_t b, size_t *out_sum) {
  return !__builtin_add_overflow(a, b, out_sum);
}

// Grows `*items` (of `element_bytes` each) so that `count` fit, at least doubling. False when
// memory is short; the array is then unchanged.
bool rheos__reserve(void **items, size_t *capacity, size_t count, size_t element_bytes);
#define RHEOS_RESERVE(items, capacity, count) \
  rheos__reserve((void **)&(items), &(capacity), (count), sizeof *(items))

#endif  // RHEOS_SRC_BASE_ALLOC_H
