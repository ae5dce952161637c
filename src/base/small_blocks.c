// Most kernels that return tensors return small ones, a step makes and drops them by the dozen, and the
// way through malloc and back takes longer than what is computed. So each thread keeps a few.
#include "base/small_blocks.h"

#include <pthread.h>

#include "base/alloc.h"

enum { KEPT_A_CLASS = 16 };

typedef struct kept_block {
  struct kept_block *next;
} kept_block;

typedef struct kept_blocks {
  kept_block *first[RHEOS__SMALL_CLASSES];
  int32_t count[RHEOS__SMALL_CLASSES];
  bool is_watched;
} kept_blocks;

static _Thread_local kept_blocks own_blocks;
static pthread_key_t thread_end;
static bool has_thread_end;

// Only what came from the default allocator is kept, so it goes back there whatever is set by now.
static void free_kept(void *argument) {
  kept_blocks *kept = argument;
  for (int i = 0; i < RHEOS__SMALL_CLASSES; i++) {
    while (kept->first[i] != NULL) {
      kept_block *block = kept->first[i];
      kept->first[i] = block->next;
      rheos__default_free(block);
    }
    kept->count[i] = 0;
  }
  kept->is_watched = false;
}

static void make_thread_end(void) { has_thread_end = pthread_key_create(&thread_end, free_kept) == 0; }

// A library that is unloaded takes its functions along.
__attribute__((destructor)) static void forget_thread_ends(void) {
  if (has_thread_end) pthread_key_delete(thread_end);
  has_thread_end = false;
}

static bool watch_thread_end(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_thread_end);
  own_blocks.is_watched = has_thread_end && pthread_setspecific(thread_end, &own_blocks) == 0;
  return own_blocks.is_watched;
}

// The address sanitizer is to see every use after the end.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SEES_USES
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(SEES_USES)
static const bool keeps_blocks = false;
#else
static const bool keeps_blocks = true;
#endif

void *rheos__small_alloc(int32_t block_class, size_t size_bytes) {
  kept_block *block = own_blocks.first[block_class];
  if (block == NULL || !rheos__is_default_allocator()) return rheos__alloc(size_bytes);
  own_blocks.first[block_class] = block->next;
  own_blocks.count[block_class]--;
  return block;
}

void rheos__small_free(int32_t block_class, void *memory) {
  if (!keeps_blocks || !rheos__is_default_allocator() ||
      own_blocks.count[block_class] == KEPT_A_CLASS ||
      (!own_blocks.is_watched && !watch_thread_end())) {
    rheos__free(memory);
    return;
  }
  kept_block *block = memory;
  block->next = own_blocks.first[block_class];
  own_blocks.first[block_class] = block;
  own_blocks.count[block_class]++;
}
