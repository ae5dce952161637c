// A pool with one job at a time. Threads that are done spin for a moment before they sleep, because
// waking one costs a hundred times what handing over to a spinning one does.
#include "runtime/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

enum { SPINS = 4000, STACK_BYTES = 256 * 1024 };

// A thread takes a share of what is left, so that threads of different speed are done at nearly the
// same time: at first one of two for each thread, in the end one of sixteen of the whole. Every other
// thread takes from the end: what it does next lies beside what it has in its cache. The units are
// counted by grains, so that both ends of what is left are in one number that is changed at once.
enum { SHARES_LEFT = 2, LEAST_SHARES = 16, MOST_GRAINS = 1 << 30 };

typedef struct job {
  rheos__pool_body body;
  void *argument;
  int64_t num_units, units_a_grain, num_shares, least_share;  // a share in grains
  _Atomic uint64_t left;  // grains: the first, and above it the one behind the last
  _Atomic(rheos_status *) error;
  const rheos__pool_watch *watch;  // may be NULL
} job;

// What a thread keeps; slot 0 is for whoever runs a job.
typedef struct slot {
  void *memory;
  size_t size_bytes;
  uint32_t thread;
  bool is_taken;
} slot;

static _Thread_local slot *own_slot;  // of the job that the thread works on
static _Thread_local const rheos__pool_watch *own_watch;

typedef struct start {
  rheos__pool *pool;
  slot *slot;
} start;

struct rheos__pool {
  int32_t num_threads;
  int32_t num_started;     // of num_threads - 1 workers
  pid_t process;           // whose threads they are: a forked child has none of them
  pthread_mutex_t region;  // held while a job runs
  pthread_mutex_t mutex;   // guards what follows
  pthread_cond_t work, done;
  job *open;               // workers may join it
  _Atomic int32_t active;  // workers inside it; changed under the mutex
  bool stopping;
  _Atomic uint64_t generation;  // of jobs
  slot *slots;                  // of each thread; the caller's is guarded by `region`
  start *starts;
  pthread_t threads[];
};

static void free_pool(rheos__pool *pool) {
  for (int32_t i = 0; i < pool->num_threads; ++i) rheos__free_aligned(pool->slots[i].memory);
  rheos__free(pool->slots);
  rheos__free(pool->starts);
  rheos__free(pool);
}

rheos__pool *rheos__pool_new(int32_t num_threads) {
  if (num_threads < 1) num_threads = 1;
  rheos__pool *pool =
      rheos__alloc_zeroed(sizeof *pool + (size_t)num_threads * sizeof pool->threads[0]);
  if (pool == NULL) return NULL;
  pool->slots = rheos__alloc_array((size_t)num_threads, sizeof *pool->slots);
  pool->starts = rheos__alloc_array((size_t)num_threads, sizeof *pool->starts);
  if (pool->slots == NULL || pool->starts == NULL) {
    free_pool(pool);
    return NULL;
  }
  for (int32_t i = 0; i < num_threads; ++i) pool->slots[i].thread = (uint32_t)i;
  pool->num_threads = num_threads;
  pool->process = getpid();
  pthread_mutex_init(&pool->region, NULL);
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->work, NULL);
  pthread_cond_init(&pool->done, NULL);
  return pool;
}

bool rheos__pool_is_forked(const rheos__pool *pool) {
  return pool != NULL && pool->process != getpid();
}

void rheos__pool_free(rheos__pool *pool) {
  if (pool == NULL) return;
  if (rheos__pool_is_forked(pool)) {  // nobody to join, and locks that nobody may ever open
    free_pool(pool);
    return;
  }
  pthread_mutex_lock(&pool->mutex);
  pool->stopping = true;
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
  atomic_fetch_add(&pool->generation, 1);
  for (int32_t i = 0; i < pool->num_started; ++i) pthread_join(pool->threads[i], NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->work);
  pthread_mutex_destroy(&pool->mutex);
  pthread_mutex_destroy(&pool->region);
  free_pool(pool);
}

int32_t rheos__pool_num_threads(const rheos__pool *pool) {
  return pool != NULL ? pool->num_threads : 1;
}

uint32_t rheos__pool_thread(void) { return own_slot != NULL ? own_slot->thread : 0; }

void rheos__pool_set_watch(const rheos__pool_watch *watch) { own_watch = watch; }

int64_t rheos__clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static uint64_t grains(int64_t first, int64_t last) {
  return (uint64_t)last << 32 | (uint64_t)first;
}

// The next units to do, false if there are none.
static bool take_share(job *j, int64_t *out_first, int64_t *out_last) {
  const bool from_end = own_slot->thread % 2 == 1;
  uint64_t left = atomic_load_explicit(&j->left, memory_order_relaxed), rest;
  int64_t first, last;
  do {
    first = (int64_t)(left & UINT32_MAX);
    last = (int64_t)(left >> 32);
    if (first >= last) return false;
    int64_t share = (last - first) / j->num_shares;
    if (share < j->least_share) share = j->least_share;
    if (share > last - first) share = last - first;
    rest = from_end ? grains(first, last - share) : grains(first + share, last);
    first = from_end ? last - share : first;
    last = first + share;
  } while (!atomic_compare_exchange_weak_explicit(&j->left, &left, rest, memory_order_relaxed,
                                                  memory_order_relaxed));
  *out_first = first * j->units_a_grain;
  *out_last = last * j->units_a_grain < j->num_units ? last * j->units_a_grain : j->num_units;
  return true;
}

// Whether there was anything left to do.
static bool work_on(job *j) {
  for (bool took_any = false;; took_any = true) {
    int64_t first, last;
    if (!take_share(j, &first, &last)) return took_any;
    rheos_status *status = j->body(j->argument, first, last);
    if (status == NULL) continue;
    rheos_status *none = NULL;
    if (!atomic_compare_exchange_strong(&j->error, &none, status)) rheos_status_free(status);
    atomic_store(&j->left, 0);
  }
}

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("yield");
#endif
}

void *rheos__pool_take_scratch(size_t size_bytes) {
  slot *s = own_slot;
  if (s == NULL || s->is_taken) return rheos__alloc_aligned(size_bytes);
  if (s->size_bytes < size_bytes) {
    rheos__free_aligned(s->memory);
    s->size_bytes = 0;
    s->memory = rheos__alloc_aligned(size_bytes);
    if (s->memory == NULL) return NULL;
    s->size_bytes = size_bytes;
  }
  s->is_taken = true;
  return s->memory;
}

void rheos__pool_give_scratch(void *scratch) {
  slot *s = own_slot;
  if (s != NULL && s->is_taken && s->memory == scratch) {
    s->is_taken = false;
  } else {
    rheos__free_aligned(scratch);
  }
}

static void *worker(void *argument) {
  const start *with = argument;
  rheos__pool *pool = with->pool;
  own_slot = with->slot;
  uint64_t seen = 0;
  for (;;) {
    for (int spin = 0; spin < SPINS && atomic_load(&pool->generation) == seen; ++spin) {
      pause_briefly();
    }
    pthread_mutex_lock(&pool->mutex);
    while (pool->open == NULL && !pool->stopping) {
      seen = atomic_load(&pool->generation);
      pthread_cond_wait(&pool->work, &pool->mutex);
    }
    if (pool->stopping) {
      pthread_mutex_unlock(&pool->mutex);
      return NULL;
    }
    job *j = pool->open;
    seen = atomic_load(&pool->generation);
    ++pool->active;
    pthread_mutex_unlock(&pool->mutex);
    const int64_t start = j->watch != NULL ? rheos__clock_ns() : 0;
    const bool took_any = work_on(j);
    const int64_t end = j->watch != NULL ? rheos__clock_ns() : 0;
    pthread_mutex_lock(&pool->mutex);
    if (took_any && j->watch != NULL) {
      j->watch->note(j->watch->argument, own_slot->thread, start, end);
    }
    if (pool->open == j) pool->open = NULL;  // nothing is left to take
    if (--pool->active == 0) pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->mutex);
  }
}

// Fewer threads than asked for is no error: the caller's thread does the rest.
static void start_threads(rheos__pool *pool) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  while (pool->num_started < pool->num_threads - 1) {
    const int32_t number = pool->num_started;
    pool->starts[number] = (start){pool, &pool->slots[number + 1]};
    if (pthread_create(&pool->threads[number], &attributes, worker, &pool->starts[number]) != 0) {
      break;
    }
    ++pool->num_started;
  }
  pthread_attr_destroy(&attributes);
}

rheos_status *rheos__pool_run(rheos__pool *pool, int64_t num_units, rheos__pool_body body,
                              void *argument) {
  if (num_units <= 0) return NULL;
  if (pool == NULL || pool->num_threads == 1 || num_units == 1 || rheos__pool_is_forked(pool) ||
      pthread_mutex_trylock(&pool->region) != 0) {
    return body(argument, 0, num_units);
  }
  if (pool->num_started < pool->num_threads - 1) start_threads(pool);
  job j = {.body = body, .argument = argument, .num_units = num_units, .watch = own_watch};
  j.num_shares = (int64_t)pool->num_threads * SHARES_LEFT;
  j.units_a_grain = num_units / MOST_GRAINS + 1;
  const int64_t num_grains = (num_units - 1) / j.units_a_grain + 1;
  j.least_share = num_grains / ((int64_t)pool->num_threads * LEAST_SHARES);
  if (j.least_share < 1) j.least_share = 1;
  atomic_init(&j.left, grains(0, num_grains));
  pthread_mutex_lock(&pool->mutex);
  pool->open = &j;
  atomic_fetch_add(&pool->generation, 1);
  pthread_cond_broadcast(&pool->work);
  pthread_mutex_unlock(&pool->mutex);
  slot *outer = own_slot;  // of another pool, if this work is part of its
  own_slot = &pool->slots[0];
  work_on(&j);
  own_slot = outer;
  pthread_mutex_lock(&pool->mutex);
  pool->open = NULL;
  pthread_mutex_unlock(&pool->mutex);
  for (int spin = 0; spin < SPINS && atomic_load(&pool->active) != 0; ++spin) pause_briefly();
  pthread_mutex_lock(&pool->mutex);
  while (pool->active != 0) pthread_cond_wait(&pool->done, &pool->mutex);
  pthread_mutex_unlock(&pool->mutex);
  pthread_mutex_unlock(&pool->region);
  return atomic_load(&j.error);
}
