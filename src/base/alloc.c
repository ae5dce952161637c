// The allocator hook and the helpers on top of it. Aligned memory is cut from the hook's memory, so
// that a replacement need not know about alignment.
#if defined(__linux__)
#define _DEFAULT_SOURCE  // madvise
#endif
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "base/available_memory.h"
#include "base/large_blocks.h"
#include "base/small_blocks.h"

enum { HUGE_FROM = RHEOS__HUGE_PAGE, PAGE = 4096 };

// Asks for huge pages: kernels walk over large tensors, and with pages of 4 KiB the processor
// spends a good part of that finding pages. A hint; where it is not taken nothing is lost.
static void prefer_huge_pages(void *memory, size_t size_bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  const size_t skip = -(uintptr_t)memory % PAGE;
  if (memory == NULL || size_bytes < HUGE_FROM) return;
  madvise((char *)memory + skip, (size_bytes - skip) / PAGE * PAGE, MADV_HUGEPAGE);
#else
  (void)memory, (void)size_bytes;
#endif
}

// From here on it pays to ask what is left: asking takes less than a hundredth of the time that the
// system needs to hand out so many pages.
static const size_t LARGE_BYTES = (size_t)256 << 20;

static bool is_there(size_t size_bytes) {
  return size_bytes < LARGE_BYTES || size_bytes <= rheos__available_memory();
}

static void *default_allocate(void *user, size_t size_bytes) {
  (void)user;
  if (size_bytes >= HUGE_FROM && rheos__large_blocks_work()) {
    return rheos__large_alloc_listed(size_bytes);
  }
  if (!is_there(size_bytes)) return NULL;
  void *memory = malloc(size_bytes);
  prefer_huge_pages(memory, size_bytes);
  return memory;
}

static void default_release(void *user, void *memory) {
  (void)user;
  if (!rheos__large_free_listed(memory)) free(memory);
}

static void *default_reallocate(void *user, void *memory, size_t size_bytes) {
  const size_t room = rheos__large_room_listed(memory);
  if (room > 0) {
    if (size_bytes <= room && size_bytes >= room / 4) return memory;
    void *moved = default_allocate(user, size_bytes);
    if (moved == NULL) return NULL;
    memcpy(moved, memory, size_bytes < room ? size_bytes : room);
    default_release(user, memory);
    return moved;
  }
  if (!is_there(size_bytes)) return NULL;
  void *moved = realloc(memory, size_bytes);
  prefer_huge_pages(moved, size_bytes);
  return moved;
}

static const rheos_allocator default_allocator = {default_allocate, default_reallocate,
                                                  default_release, NULL};
static rheos_allocator allocator = {default_allocate, default_reallocate, default_release, NULL};
bool rheos__allocator_is_default = true;

void rheos_set_allocator(const rheos_allocator *replacement) {
  allocator = replacement != NULL ? *replacement : default_allocator;
  rheos__allocator_is_default = allocator.allocate == default_allocate;
}

void *rheos__alloc(size_t size_bytes) {
  return allocator.allocate(allocator.user, size_bytes != 0 ? size_bytes : 1);
}

void *rheos__alloc_zeroed(size_t size_bytes) {
  void *memory = rheos__alloc(size_bytes);
  if (memory != NULL) memset(memory, 0, size_bytes);
  return memory;
}

void *rheos__alloc_array(size_t count, size_t element_bytes) {
  size_t size_bytes;
  if (!rheos__mul_size(count, element_bytes, &size_bytes)) return NULL;
  return rheos__alloc_zeroed(size_bytes);
}

void *rheos__realloc(void *memory, size_t size_bytes) {
  return allocator.reallocate(allocator.user, memory, size_bytes != 0 ? size_bytes : 1);
}

void rheos__free(void *memory) {
  if (memory != NULL) allocator.release(allocator.user, memory);
}

void rheos_free(void *memory) { rheos__free(memory); }

enum { ALIGNMENT = 64 };

// The word before aligned memory is where the block starts; 1 for one of the large blocks.
static const uintptr_t IS_LARGE = 1;

void *rheos__alloc_aligned(size_t size_bytes) {
  if (size_bytes >= RHEOS__LARGE_FROM && rheos__allocator_is_default &&
      rheos__large_blocks_work()) {
    uintptr_t *start = rheos__large_alloc(size_bytes);
    if (start != NULL) start[-1] = IS_LARGE;
    return start;
  }
  size_t padded;
  if (!rheos__add_size(size_bytes, ALIGNMENT + sizeof(void *), &padded)) return NULL;
  char *memory = rheos__alloc(padded);
  if (memory == NULL) return NULL;
  uintptr_t start =
      ((uintptr_t)memory + sizeof(void *) + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1);
  ((uintptr_t *)start)[-1] = (uintptr_t)memory;
  return (void *)start;
}

void rheos__free_aligned(void *memory) {
  if (memory == NULL) return;
  const uintptr_t start = ((uintptr_t *)memory)[-1];
  if (start == IS_LARGE) {
    rheos__large_free(memory);
  } else {
    rheos__free((void *)start);
  }
}

void rheos__default_free(void *memory) { default_release(NULL, memory); }

char *rheos__strndup(const char *text, size_t size_bytes) {
  char *copy = rheos__alloc(size_bytes + 1);
  if (copy == NULL) return NULL;
  memcpy(copy, text, size_bytes);
  copy[size_bytes] = '\0';
  return copy;
}

char *rheos__strdup(const char *text) { return rheos__strndup(text, strlen(text)); }

bool rheos__reserve(void **items, size_t *capacity, size_t count, size_t element_bytes) {
  if (count <= *capacity) return true;
  size_t larger = *capacity * 2 > count ? *capacity * 2 : count;
  if (larger < 8) larger = 8;
  size_t size_bytes;
  if (!rheos__mul_size(larger, element_bytes, &size_bytes)) return false;
  // What becomes large moves to large blocks, which malloc would go on copying within its own.
  const bool moves =
      size_bytes >= HUGE_FROM && rheos__allocator_is_default && rheos__large_blocks_work();
  void *grown = moves ? rheos__alloc(size_bytes) : rheos__realloc(*items, size_bytes);
  if (grown == NULL) return false;
  if (moves && *capacity > 0) {
    memcpy(grown, *items, *capacity * element_bytes);
    rheos__free(*items);
  }
  *items = grown;
  *capacity = larger;
  return true;
}
