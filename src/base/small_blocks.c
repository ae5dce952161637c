// Most kernels that return tensors return small ones, a step makes and drops them by the dozen, and
// the way through malloc and back takes longer than what is computed. So each thread keeps a few.
#include "base/small_blocks.h"

#include <assert.h>
#include <pthread.h>

enum { KEPT_A_CLASS = 64 };

_Thread_local rheos__kept_blocks rheos__own_blocks;
static pthread_key_t thread_end;
static bool has_thread_end;

// Only what came from the default allocator is kept, so it goes back there whatever is set by now.
static void free_kept(void *argument) {
  rheos__kept_blocks *kept = argument;
  for (int i = 0; i < RHEOS__SMALL_CLASSES; i++) {
    while (kept->first[i] != NULL) {
      rheos__kept_block *block = kept->first[i];
      kept->first[i] = block->next;
      rheos__default_free(block);
    }
    kept->room[i] = 0;
  }
  kept->is_watched = false;
}

static void make_thread_end(void) {
  has_thread_end = pthread_key_create(&thread_end, free_kept) == 0;
}

// A library that is unloaded takes its functions along. After the destructors that end threads,
// which have none of these numbers.
__attribute__((destructor(101))) static void forget_thread_ends(void) {
  if (has_thread_end) pthread_key_delete(thread_end);
  has_thread_end = false;
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

// From here on the thread keeps blocks, if it is sure that they are freed at its end.
static void watch_thread_end(rheos__kept_blocks *own) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_thread_end);
  own->is_watched = has_thread_end && pthread_setspecific(thread_end, own) == 0;
  for (int i = 0; own->is_watched && i < RHEOS__SMALL_CLASSES; i++) own->room[i] = KEPT_A_CLASS;
}

void rheos__small_free_full(int32_t block_class, void *memory) {
  assert(block_class >= 0 && block_class < RHEOS__SMALL_CLASSES);
  rheos__kept_blocks *own = &rheos__own_blocks;
  if (keeps_blocks && rheos__allocator_is_default && !own->is_watched) {
    watch_thread_end(own);
    if (own->is_watched) {
      rheos__small_free(block_class, memory);
      return;
    }
  }
  rheos__free(memory);
}
