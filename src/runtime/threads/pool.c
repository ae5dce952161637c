// A pool with any number of jobs at a time. Threads that are done spin for a moment before they
// sleep, because waking one costs a hundred times what handing over to a spinning one does.
//
// Who hands a job out works on it until nothing is left to take. A free worker goes to the open job
// that has the most left for each thread inside it, and looks again when another job opens, so that
// jobs that run side by side share the workers. A job may be handed out by the work of another one:
// it is inner to that. Who waits for the last shares of a job helps only with jobs inner to it,
// since all else might keep it longer than the wait. So every thread waits for threads further
// inside than itself, and never two for each other.
#include "runtime/threads/pool.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

// Tasks call functions, of the program too, which want a stack as deep as that of a caller.
enum { SPINS = 4000, STACK_BYTES = 8 * 1024 * 1024 };

// A thread takes a share of what is left, so that threads of different speed are done at nearly the
// same time: at first one of two for each thread, in the end one of sixteen of the whole. Every
// other thread takes from the end: what it does next lies beside what it has in its cache. The
// units are counted by grains, so that both ends of what is left are in one number that is changed
// at once.
enum { SHARES_LEFT = 2, LEAST_SHARES = 16, MOST_GRAINS = 1 << 30 };

typedef struct job {
  rheos__pool_body body;
  void *argument;
  int64_t num_units, num_grains, units_a_grain, num_shares, least_share;  // a share in grains
  _Atomic uint64_t left;  // grains: the first, and above it the one behind the last
  _Atomic(rheos_status *) error;
  const rheos__pool_watch *watch;  // may be NULL
  const struct job *outer;         // whose work handed this one out; may be NULL
  struct rheos__step *step;        // that it is work of; may be NULL
  // Guarded by the pool's mutex.
  struct job *next;  // of those that are open
  bool is_open;
  _Atomic int32_t num_helpers;  // threads inside it besides its own
} job;

// What a thread keeps.
typedef struct slot {
  rheos__pool *pool;
  struct slot *next;  // of those that no caller has
  void *memory;
  size_t size_bytes;
  uint32_t thread;  // 0: one for whoever hands out a job
  bool is_taken;
} slot;

static _Thread_local slot *own_slot;      // in the pool that the thread works for
static _Thread_local const job *own_job;  // that it works on
static _Thread_local const rheos__pool_watch *own_watch;
static _Thread_local struct rheos__step *own_step;

struct rheos__pool {
  int32_t num_threads;
  pid_t process;          // whose threads they are: a forked child has none of them
  pthread_mutex_t mutex;  // guards what follows
  pthread_cond_t work;    // a job was opened
  pthread_cond_t done;    // the last helper has left a job, or an inner job was opened
  job *open;              // workers may join these
  rheos__pool_task *first_task, *last_task;  // posted ones
  int32_t num_running_tasks;
  slot *free_slots;     // of callers
  int32_t num_started;  // of num_threads - 1 workers
  bool stopping;
  _Atomic uint64_t num_opened, num_inner_opened;  // jobs; they are looked at without the mutex too
  slot *slots;                                    // of one caller and the workers
  pthread_t threads[];
};

static void free_pool(rheos__pool *pool) {
  for (int32_t i = 0; pool->slots != NULL && i < pool->num_threads; ++i) {
    rheos__free_aligned(pool->slots[i].memory);
  }
  for (slot *s = pool->free_slots, *next; s != NULL; s = next) {
    next = s->next;
    if (s == pool->slots) continue;
    rheos__free_aligned(s->memory);
    rheos__free(s);
  }
  rheos__free(pool->slots);
  rheos__free(pool);
}

rheos__pool *rheos__pool_new(int32_t num_threads) {
  if (num_threads < 1) num_threads = 1;
  rheos__pool *pool =
      rheos__alloc_zeroed(sizeof *pool + (size_t)num_threads * sizeof pool->threads[0]);
  if (pool == NULL) return NULL;
  pool->num_threads = num_threads;
  pool->slots = rheos__alloc_array((size_t)num_threads, sizeof *pool->slots);
  if (pool->slots == NULL) {
    free_pool(pool);
    return NULL;
  }
  for (int32_t i = 0; i < num_threads; ++i) {
    pool->slots[i] = (slot){.pool = pool, .thread = (uint32_t)i};
  }
  pool->free_slots = pool->slots;
  pool->process = getpid();
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
  atomic_fetch_add(&pool->num_opened, 1);  // for those who spin
  for (int32_t i = 0; i < pool->num_started; ++i) pthread_join(pool->threads[i], NULL);
  pthread_cond_destroy(&pool->done);
  pthread_cond_destroy(&pool->work);
  pthread_mutex_destroy(&pool->mutex);
  free_pool(pool);
}

int32_t rheos__pool_num_threads(const rheos__pool *pool) {
  return pool != NULL ? pool->num_threads : 1;
}

uint32_t rheos__pool_thread(void) { return own_slot != NULL ? own_slot->thread : 0; }

struct rheos__step *rheos__pool_step(void) { return own_step; }

struct rheos__step *rheos__pool_set_step(struct rheos__step *step) {
  struct rheos__step *before = own_step;
  own_step = step;
  return before;
}

const rheos__pool_watch *rheos__pool_set_watch(const rheos__pool_watch *watch) {
  const rheos__pool_watch *before = own_watch;
  own_watch = watch;
  return before;
}

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
  assert(first >= 0 && first < last && last <= j->num_grains);
  *out_first = first * j->units_a_grain;
  *out_last = last * j->units_a_grain < j->num_units ? last * j->units_a_grain : j->num_units;
  return true;
}

// Whoever helps leaves between two shares: a worker when another job was opened, who waits for
// `awaited` when that is done.
typedef struct help {
  rheos__pool *pool;
  uint64_t num_opened;  // when the worker came
  const job *awaited;   // NULL: the thread is a free worker
} help;

static bool shall_leave(const help *h) {
  if (h->awaited != NULL) return atomic_load(&h->awaited->num_helpers) == 0;
  return atomic_load_explicit(&h->pool->num_opened, memory_order_relaxed) != h->num_opened;
}

// `h` is NULL for the job's own thread. Whether there was anything left to do.
static bool work_on(job *j, const help *h) {
  const job *outer = own_job;
  struct rheos__step *before = rheos__pool_set_step(j->step);
  own_job = j;
  bool took_any = false;
  int64_t first, last;
  while (!(took_any && h != NULL && shall_leave(h)) && take_share(j, &first, &last)) {
    took_any = true;
    rheos_status *status = j->body(j->argument, first, last);
    if (status == NULL) continue;
    rheos_status *none = NULL;
    if (!atomic_compare_exchange_strong(&j->error, &none, status)) rheos_status_free(status);
    atomic_store(&j->left, 0);
  }
  own_job = outer;
  rheos__pool_set_step(before);
  return took_any;
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

// ---- The open jobs, with the mutex held

#ifdef NDEBUG
static void check_pool(const rheos__pool *pool) { (void)pool; }
#else
// The lists of jobs and tasks are whole, and nobody counts threads that are not there.
static void check_pool(const rheos__pool *pool) {
  const rheos__pool_task *last = NULL;
  assert(pool->num_started >= 0 && pool->num_started < pool->num_threads);
  assert(pool->num_running_tasks >= 0 && pool->num_running_tasks <= pool->num_started);
  for (const job *j = pool->open; j != NULL; j = j->next) {
    const uint64_t left = atomic_load(&j->left);
    assert(j->is_open && j->num_helpers >= 0);
    assert((int64_t)(left >> 32) <= j->num_grains);
    assert(j->outer != j);
  }
  for (const rheos__pool_task *task = pool->first_task; task != NULL; task = task->next) {
    assert(task->is_posted && task->run != NULL);
    last = task;
  }
  assert(pool->last_task == last);
}
#endif

static void open_job(rheos__pool *pool, job *j) {
  assert(!j->is_open && j->num_helpers == 0);
  j->next = pool->open;
  pool->open = j;
  j->is_open = true;
  check_pool(pool);
  atomic_fetch_add(&pool->num_opened, 1);
  pthread_cond_broadcast(&pool->work);
  if (j->outer == NULL) return;
  atomic_fetch_add(&pool->num_inner_opened, 1);
  pthread_cond_broadcast(&pool->done);
}

static void close_job(rheos__pool *pool, job *j) {
  if (!j->is_open) return;
  job **place = &pool->open;
  while (*place != j) place = &(*place)->next;
  *place = j->next;
  j->is_open = false;
  check_pool(pool);
}

// The part of the job that is left for each thread inside it and one more.
static double part_left(const job *j) {
  const uint64_t left = atomic_load_explicit(&j->left, memory_order_relaxed);
  const int64_t grains_left = (int64_t)(left >> 32) - (int64_t)(left & UINT32_MAX);
  if (grains_left <= 0) return 0;
  return (double)grains_left / (double)j->num_grains / (double)(j->num_helpers + 2);
}

static bool is_inner(const job *j, const job *outer) {
  while (j != NULL && j != outer) j = j->outer;
  return j != NULL;
}

// The one that a thread helps best; of those inner to `outer` if that is not NULL. NULL: none.
static job *best_job(const rheos__pool *pool, const job *outer) {
  job *best = NULL;
  double most = 0;
  for (job *j = pool->open; j != NULL; j = j->next) {
    if (outer != NULL && !is_inner(j, outer)) continue;
    const double part = part_left(j);
    if (part <= most) continue;
    best = j;
    most = part;
  }
  return best;
}

// Lets go of the mutex meanwhile. `awaited` is what the thread waits for, NULL for a free worker.
static void help_with(rheos__pool *pool, job *j, const job *awaited) {
  const help h = {pool, atomic_load(&pool->num_opened), awaited};
  const bool is_noted = j->watch != NULL && awaited == NULL;
  assert(own_slot->pool == pool && j->is_open);
  assert(awaited == NULL || is_inner(j, awaited));
  ++j->num_helpers;
  pthread_mutex_unlock(&pool->mutex);
  const int64_t start = is_noted ? rheos__clock_ns() : 0;
  const bool took_any = work_on(j, &h);
  const int64_t end = is_noted ? rheos__clock_ns() : 0;
  pthread_mutex_lock(&pool->mutex);
  if (took_any && is_noted) j->watch->note(j->watch->argument, own_slot->thread, start, end);
  if (part_left(j) <= 0) close_job(pool, j);
  if (--j->num_helpers == 0) pthread_cond_broadcast(&pool->done);
}

// With the mutex held, which is open meanwhile. Whether there was one.
static bool run_task(rheos__pool *pool) {
  rheos__pool_task *task = pool->first_task;
  if (task == NULL || pool->stopping) return false;
  pool->first_task = task->next;
  if (pool->first_task == NULL) pool->last_task = NULL;
  task->is_posted = false;
  ++pool->num_running_tasks;
  pthread_mutex_unlock(&pool->mutex);
  task->run(task);
  pthread_mutex_lock(&pool->mutex);
  --pool->num_running_tasks;
  return true;
}

// Waits if there is none, and runs tasks meanwhile; NULL when the pool ends.
static job *next_job(rheos__pool *pool) {
  while (run_task(pool)) continue;
  job *j = best_job(pool, NULL);
  if (j != NULL) return j;
  const uint64_t seen = atomic_load(&pool->num_opened);
  pthread_mutex_unlock(&pool->mutex);
  for (int spin = 0; spin < SPINS && atomic_load(&pool->num_opened) == seen; ++spin) {
    pause_briefly();
  }
  pthread_mutex_lock(&pool->mutex);
  while (!pool->stopping && (j = best_job(pool, NULL)) == NULL) {
    if (!run_task(pool)) pthread_cond_wait(&pool->work, &pool->mutex);
  }
  return j;
}

static void *worker(void *argument) {
  own_slot = argument;
  rheos__pool *pool = own_slot->pool;
  pthread_mutex_lock(&pool->mutex);
  for (job *j; (j = next_job(pool)) != NULL;) help_with(pool, j, NULL);
  pthread_mutex_unlock(&pool->mutex);
  return NULL;
}

// Fewer threads than asked for is no error: the caller's thread does the rest.
static void start_threads(rheos__pool *pool) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return;
  pthread_attr_setstacksize(&attributes, STACK_BYTES);
  while (pool->num_started < pool->num_threads - 1) {
    const int32_t number = pool->num_started;
    if (pthread_create(&pool->threads[number], &attributes, worker, &pool->slots[number + 1]) !=
        0) {
      break;
    }
    ++pool->num_started;
  }
  pthread_attr_destroy(&attributes);
}

// ---- Tasks

bool rheos__pool_post(rheos__pool *pool, rheos__pool_task *task) {
  if (pool == NULL || pool->num_threads == 1 || rheos__pool_is_forked(pool)) return false;
  pthread_mutex_lock(&pool->mutex);
  assert(!task->is_posted);
  if (pool->num_started < pool->num_threads - 1) start_threads(pool);
  const bool can = pool->num_started > 0 && !pool->stopping;
  if (can) {
    task->next = NULL;
    task->is_posted = true;
    *(pool->last_task != NULL ? &pool->last_task->next : &pool->first_task) = task;
    pool->last_task = task;
    check_pool(pool);
    atomic_fetch_add(&pool->num_opened, 1);
    pthread_cond_signal(&pool->work);
  }
  pthread_mutex_unlock(&pool->mutex);
  return can;
}

bool rheos__pool_withdraw(rheos__pool *pool, rheos__pool_task *task) {
  pthread_mutex_lock(&pool->mutex);
  const bool was_posted = task->is_posted;
  rheos__pool_task **place = &pool->first_task, *before = NULL;
  while (was_posted && *place != task) {
    before = *place;
    place = &before->next;
  }
  if (was_posted) {
    *place = task->next;
    if (pool->last_task == task) pool->last_task = before;
    task->is_posted = false;
    check_pool(pool);
  }
  pthread_mutex_unlock(&pool->mutex);
  return was_posted;
}

void rheos__pool_count(rheos__pool *pool, int32_t *out_threads, int32_t *out_tasks) {
  pthread_mutex_lock(&pool->mutex);
  *out_threads = pool->num_started;
  *out_tasks = pool->num_running_tasks;
  pthread_mutex_unlock(&pool->mutex);
}

// ---- Handing out

// NULL when memory is short, but never for a caller that is alone.
static slot *take_slot(rheos__pool *pool) {
  slot *s = pool->free_slots;
  if (s != NULL) {
    pool->free_slots = s->next;
    return s;
  }
  s = rheos__alloc_zeroed(sizeof *s);
  if (s != NULL) s->pool = pool;
  return s;
}

static void give_slot(rheos__pool *pool, slot *s) {
  assert(s->pool == pool && !s->is_taken);
  s->next = pool->free_slots;
  pool->free_slots = s;
}

// Waits until nobody else is inside the job, with the mutex held when it begins and ends.
static void wait_for_helpers(rheos__pool *pool, job *j) {
  while (j->num_helpers != 0) {
    job *inner = best_job(pool, j);
    if (inner != NULL) {
      help_with(pool, inner, j);
      continue;
    }
    const uint64_t seen = atomic_load(&pool->num_inner_opened);
    pthread_mutex_unlock(&pool->mutex);
    for (int spin = 0; spin < SPINS && atomic_load(&j->num_helpers) != 0 &&
                       atomic_load(&pool->num_inner_opened) == seen;
         ++spin) {
      pause_briefly();
    }
    pthread_mutex_lock(&pool->mutex);
    while (j->num_helpers != 0 && atomic_load(&pool->num_inner_opened) == seen) {
      pthread_cond_wait(&pool->done, &pool->mutex);
    }
  }
}

static void cut_into_grains(job *j, int32_t num_threads) {
  assert(j->num_units > 0 && num_threads > 0);
  j->num_shares = (int64_t)num_threads * SHARES_LEFT;
  j->units_a_grain = j->num_units / MOST_GRAINS + 1;
  j->num_grains = (j->num_units - 1) / j->units_a_grain + 1;
  assert(j->num_grains > 0 && j->num_grains <= MOST_GRAINS);
  j->least_share = j->num_grains / ((int64_t)num_threads * LEAST_SHARES);
  if (j->least_share < 1) j->least_share = 1;
  atomic_init(&j->left, grains(0, j->num_grains));
}

// The watch of the caller's thread; a worker's is that of the job that it works on.
static const rheos__pool_watch *find_watch(const rheos__pool *pool) {
  if (own_watch != NULL || own_job == NULL || own_slot->pool != pool) return own_watch;
  return own_job->watch;
}

rheos_status *rheos__pool_run(rheos__pool *pool, int64_t num_units, rheos__pool_body body,
                              void *argument) {
  if (num_units <= 0) return NULL;
  if (pool == NULL || pool->num_threads == 1 || num_units == 1 || rheos__pool_is_forked(pool)) {
    return body(argument, 0, num_units);
  }
  job j = {.body = body,
           .argument = argument,
           .num_units = num_units,
           .watch = find_watch(pool),
           .outer = own_job,
           .step = own_step};
  cut_into_grains(&j, pool->num_threads);
  slot *before = own_slot;  // may be of another pool, if this work is part of its
  const bool is_inside = before != NULL && before->pool == pool;
  pthread_mutex_lock(&pool->mutex);
  slot *own = is_inside ? before : take_slot(pool);
  if (own == NULL) {
    pthread_mutex_unlock(&pool->mutex);
    return body(argument, 0, num_units);
  }
  if (pool->num_started < pool->num_threads - 1) start_threads(pool);
  open_job(pool, &j);
  pthread_mutex_unlock(&pool->mutex);
  own_slot = own;
  work_on(&j, NULL);
  pthread_mutex_lock(&pool->mutex);
  close_job(pool, &j);
  wait_for_helpers(pool, &j);
  if (!is_inside) give_slot(pool, own);
  pthread_mutex_unlock(&pool->mutex);
  own_slot = before;
  return atomic_load(&j.error);
}
