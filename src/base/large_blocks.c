// Large blocks by size classes, four to a doubling. What is kept is never more than was in use at
// one time since the last trim; beyond that the blocks freed longest ago go back to the system.
#if defined(__linux__)
#define _DEFAULT_SOURCE  // MAP_ANONYMOUS, madvise
#endif
#include "base/large_blocks.h"

#include <pthread.h>

#include "base/alloc.h"

#if defined(__SANITIZE_ADDRESS__) || !defined(__linux__)

bool rheos__large_blocks_work(void) { return false; }
void *rheos__large_alloc(size_t size_bytes) { return (void)size_bytes, NULL; }
void rheos__large_free(void *block) { (void)block; }
void *rheos__large_alloc_listed(size_t size_bytes) { return (void)size_bytes, NULL; }
bool rheos__large_free_listed(void *memory) { return (void)memory, false; }
size_t rheos__large_room_listed(const void *memory) { return (void)memory, 0; }
void rheos__large_trim(void) {}
size_t rheos__large_kept_bytes(void) { return 0; }

#else

#include <sys/mman.h>

#include "base/available_memory.h"

enum { HEADER_BYTES = 64, NUM_CLASSES = 4 * 64, PAGE = 4096, LOOK_AHEAD = 2 };

static const size_t CHECKED_FROM = (size_t)256 << 20;  // asking what is left takes time of its own
static const size_t KEPT_AT_LEAST = (size_t)64 << 20;

typedef struct block {
  size_t mapped_bytes;
  int32_t class;
  struct block *next, *before;    // kept ones of the class, latest first; or listed ones
  struct block *younger, *older;  // all kept ones
} block;
_Static_assert(sizeof(block) + sizeof(void *) <= HEADER_BYTES, "the header, and the caller's word");

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // guards what follows
static block *heads[NUM_CLASSES];
static block *youngest, *oldest;
static block *listed;  // in use
static size_t kept_bytes, used_bytes, most_used_bytes;

static void lock(void) { pthread_mutex_lock(&mutex); }
static void unlock(void) { pthread_mutex_unlock(&mutex); }

// A child that is forked while another thread is in here must not find the lock taken.
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void watch_forks(void) { pthread_atfork(lock, unlock, unlock); }

bool rheos__large_blocks_work(void) { return true; }

// The class of a size, and the size that all its blocks have.
static bool class_of(size_t bytes, int32_t *out_class, size_t *out_rounded) {
  const int shift = 63 - __builtin_clzll((unsigned long long)bytes);
  const size_t step = (size_t)1 << (shift - 2);
  if (!rheos__add_size(bytes, step - 1, out_rounded)) return false;
  *out_rounded &= ~(step - 1);
  const int rounded_shift = 63 - __builtin_clzll((unsigned long long)*out_rounded);
  *out_class = rounded_shift * 4 + (int32_t)(*out_rounded >> (rounded_shift - 2) & 3);
  return true;
}

static void unlink_block(block *b) {
  if (b->before != NULL)
    b->before->next = b->next;
  else
    heads[b->class] = b->next;
  if (b->next != NULL) b->next->before = b->before;
  if (b->younger != NULL)
    b->younger->older = b->older;
  else
    youngest = b->older;
  if (b->older != NULL)
    b->older->younger = b->younger;
  else
    oldest = b->younger;
  kept_bytes -= b->mapped_bytes;
}

static void link_block(block *b) {
  b->before = NULL;
  b->next = heads[b->class];
  if (b->next != NULL) b->next->before = b;
  heads[b->class] = b;
  b->younger = NULL;
  b->older = youngest;
  if (youngest != NULL)
    youngest->younger = b;
  else
    oldest = b;
  youngest = b;
  kept_bytes += b->mapped_bytes;
}

static void unmap(block *b) { munmap(b, b->mapped_bytes); }

static block *map(size_t bytes) {
  const size_t extra = bytes >= RHEOS__HUGE_PAGE ? RHEOS__HUGE_PAGE : 0;
  size_t all;
  if (!rheos__add_size(bytes, extra, &all)) return NULL;
  char *start = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) return NULL;
  if (extra == 0) return (block *)start;
  const size_t skip = -(uintptr_t)start % RHEOS__HUGE_PAGE;
  if (skip > 0) munmap(start, skip);
  if (skip < extra) munmap(start + skip + bytes, extra - skip);
#if defined(MADV_HUGEPAGE)
  madvise(start + skip, bytes, MADV_HUGEPAGE);
#endif
  return (block *)(start + skip);
}

static bool is_there(size_t bytes) {
  return bytes < CHECKED_FROM || bytes <= rheos__available_memory();
}

static block *map_checked(size_t bytes) {
  block *b = is_there(bytes) ? map(bytes) : NULL;
  if (b != NULL) return b;
  rheos__large_trim();
  return is_there(bytes) ? map(bytes) : NULL;
}

// One that is kept, of this class or little above.
static block *take_kept(int32_t class) {
  for (int32_t c = class; c <= class + LOOK_AHEAD && c < NUM_CLASSES; c++) {
    if (heads[c] == NULL) continue;
    block *b = heads[c];
    unlink_block(b);
    return b;
  }
  return NULL;
}

void *rheos__large_alloc(size_t size_bytes) {
  size_t bytes;
  int32_t class;
  if (!rheos__add_size(size_bytes, HEADER_BYTES + PAGE, &bytes) ||
      !class_of(bytes, &class, &bytes)) {
    return NULL;
  }
  bytes &= ~(size_t)(PAGE - 1);
  pthread_once(&once, watch_forks);
  lock();
  block *b = take_kept(class);
  if (b != NULL) used_bytes += b->mapped_bytes;
  unlock();
  if (b == NULL) {
    b = map_checked(bytes);
    if (b == NULL) return NULL;
    *b = (block){.mapped_bytes = bytes, .class = class};
    lock();
    used_bytes += bytes;
    unlock();
  }
  return (char *)b + HEADER_BYTES;
}

void rheos__large_free(void *memory) {
  block *b = (block *)(void *)((char *)memory - HEADER_BYTES);
  block *leaving = NULL;
  lock();
  if (used_bytes > most_used_bytes)
    most_used_bytes = used_bytes;  // highest before something is freed
  used_bytes -= b->mapped_bytes;
  link_block(b);
  const size_t limit = most_used_bytes > KEPT_AT_LEAST ? most_used_bytes : KEPT_AT_LEAST;
  while (kept_bytes > limit) {
    block *old = oldest;
    unlink_block(old);
    old->next = leaving;
    leaving = old;
  }
  unlock();
  while (leaving != NULL) {
    block *next = leaving->next;
    unmap(leaving);
    leaving = next;
  }
}

// ---- Those that are known by their address

static const size_t LISTED_KEPT_BELOW = (size_t)256 << 20;  // larger ones come and go with files

void *rheos__large_alloc_listed(size_t size_bytes) {
  void *memory = rheos__large_alloc(size_bytes);
  if (memory == NULL) return NULL;
  block *b = (block *)(void *)((char *)memory - HEADER_BYTES);
  lock();
  b->before = NULL;
  b->next = listed;
  if (listed != NULL) listed->before = b;
  listed = b;
  unlock();
  return memory;
}

// Hardly any other memory lies so far behind the start of a huge page: those few are looked up.
static block *find_listed(const void *memory) {
  if ((uintptr_t)memory % RHEOS__HUGE_PAGE != HEADER_BYTES) return NULL;
  block *b = listed;
  while (b != NULL && (const char *)b + HEADER_BYTES != (const char *)memory) b = b->next;
  return b;
}

size_t rheos__large_room_listed(const void *memory) {
  if ((uintptr_t)memory % RHEOS__HUGE_PAGE != HEADER_BYTES) return 0;
  lock();
  const block *b = find_listed(memory);
  const size_t room = b != NULL ? b->mapped_bytes - HEADER_BYTES : 0;
  unlock();
  return room;
}

bool rheos__large_free_listed(void *memory) {
  if ((uintptr_t)memory % RHEOS__HUGE_PAGE != HEADER_BYTES) return false;
  lock();
  block *b = find_listed(memory);
  if (b == NULL) {
    unlock();
    return false;
  }
  if (b->before != NULL)
    b->before->next = b->next;
  else
    listed = b->next;
  if (b->next != NULL) b->next->before = b->before;
  const bool leaves = b->mapped_bytes >= LISTED_KEPT_BELOW;
  if (leaves) used_bytes -= b->mapped_bytes;
  unlock();
  if (leaves)
    unmap(b);
  else
    rheos__large_free(memory);
  return true;
}

void rheos__large_trim(void) {
  lock();
  block *leaving = youngest;
  youngest = oldest = NULL;
  for (int32_t i = 0; i < NUM_CLASSES; i++) heads[i] = NULL;
  kept_bytes = 0;
  most_used_bytes = used_bytes;
  unlock();
  while (leaving != NULL) {
    block *older = leaving->older;
    unmap(leaving);
    leaving = older;
  }
}

size_t rheos__large_kept_bytes(void) {
  lock();
  const size_t bytes = kept_bytes;
  unlock();
  return bytes;
}

#endif
