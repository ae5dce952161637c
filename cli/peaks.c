// Peaks: independent multiply-adds in registers for arithmetic, a copy of arrays that no cache
// holds for memory. The best of several rounds counts, since it is a limit that is looked for.
#include "peaks.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_THREADS = 256, ROUNDS = 5, STREAM_BYTES = 64 << 20 };

// Workers wait until it is known how many of them there are.
typedef struct meeting {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool is_complete;
  pthread_barrier_t round;
} meeting;

typedef struct worker {
  meeting *meeting;
  double seconds[ROUNDS];  // that a round took
  double work;             // of a round
  char *from, *to;
  float sink;
} worker;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// `Wide` vectors of `Lanes` floats, each multiplied and added to on its own: enough to fill the
// pipelines. Returns how many operations that were.
#define MULTIPLY_ADD(name, options, Lanes, Wide)                                 \
  options static double name(float *sink) {                                      \
    typedef float vector __attribute__((vector_size(Lanes * sizeof(float))));    \
    enum { TIMES = 2000000 / (Lanes * Wide) * 64 };                              \
    vector sums[Wide];                                                           \
    _Pragma("GCC unroll 32") for (int k = 0; k < Wide; k++) {                    \
      sums[k] = (vector){0} + (float)k * 1e-6f;                                  \
    }                                                                            \
    const vector factor = (vector){0} + 0.999f, term = (vector){0} + 1e-3f;      \
    for (int i = 0; i < TIMES; i++) {                                            \
      _Pragma("GCC unroll 32") for (int k = 0; k < Wide; k++) {                  \
        sums[k] = sums[k] * factor + term;                                       \
      }                                                                          \
      __asm__ volatile("");                                                      \
    }                                                                            \
    _Pragma("GCC unroll 32") for (int k = 0; k < Wide; k++) *sink += sums[k][0]; \
    return 2.0 * Lanes * Wide * TIMES;                                           \
  }

#if defined(__x86_64__)
#define TARGET(features) __attribute__((target(features), optimize("fp-contract=fast")))
MULTIPLY_ADD(multiply_add_512, TARGET("avx512f,fma"), 16, 24)
MULTIPLY_ADD(multiply_add_256, TARGET("avx2,fma"), 8, 12)
#endif
MULTIPLY_ADD(multiply_add_128, __attribute__((optimize("fp-contract=fast"))), 4, 8)

static double multiply_add(float *sink) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return multiply_add_512(sink);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return multiply_add_256(sink);
  }
#endif
  return multiply_add_128(sink);
}

static void *work(void *argument) {
  worker *w = argument;
  pthread_mutex_lock(&w->meeting->mutex);
  while (!w->meeting->is_complete) pthread_cond_wait(&w->meeting->changed, &w->meeting->mutex);
  pthread_mutex_unlock(&w->meeting->mutex);
  for (int round = 0; round < ROUNDS; round++) {
    pthread_barrier_wait(&w->meeting->round);
    const double begin = now();
    if (w->from != NULL) {
      memcpy(w->to, w->from, STREAM_BYTES);
      w->sink += w->to[round];
      w->work = 2.0 * STREAM_BYTES;
    } else {
      w->work = multiply_add(&w->sink);
    }
    w->seconds[round] = now() - begin;
  }
  return NULL;
}

// The work a second of the best round, by its slowest thread.
static double best_rate(const worker *workers, int count) {
  double best = 0;
  for (int round = 0; round < ROUNDS; round++) {
    double longest = 0;
    for (int i = 0; i < count; i++) {
      if (workers[i].seconds[round] > longest) longest = workers[i].seconds[round];
    }
    if (longest > 0 && workers[0].work * count / longest > best) {
      best = workers[0].work * count / longest;
    }
  }
  return best;
}

// By fewer than `count` where no more threads can be made.
static double measure(worker *workers, int count) {
  pthread_t threads[MAX_THREADS];
  meeting m = {.mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  for (int i = 0; i < count; i++) workers[i].meeting = &m;
  int started = 1;
  while (started < count && pthread_create(&threads[started], NULL, work, &workers[started]) == 0) {
    started++;
  }
  pthread_barrier_init(&m.round, NULL, (unsigned)started);
  pthread_mutex_lock(&m.mutex);
  m.is_complete = true;
  pthread_cond_broadcast(&m.changed);
  pthread_mutex_unlock(&m.mutex);
  work(&workers[0]);
  for (int i = 1; i < started; i++) pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&m.round);
  return best_rate(workers, started);
}

peaks peaks_measure(int num_threads) {
  const int count = num_threads < 1 ? 1 : num_threads > MAX_THREADS ? MAX_THREADS : num_threads;
  peaks found = {.num_threads = count};
  worker *workers = calloc((size_t)count, sizeof *workers);
  if (workers == NULL) return found;
  found.gflops = measure(workers, count) * 1e-9;
  bool enough = true;
  for (int i = 0; i < count; i++) {
    workers[i].from = malloc(STREAM_BYTES);
    workers[i].to = malloc(STREAM_BYTES);
    enough = enough && workers[i].from != NULL && workers[i].to != NULL;
    if (enough) {
      memset(workers[i].from, 1, STREAM_BYTES);
      memset(workers[i].to, 2, STREAM_BYTES);
    }
  }
  if (enough) found.gbytes = measure(workers, count) * 1e-9;
  for (int i = 0; i < count; i++) {
    free(workers[i].from);
    free(workers[i].to);
  }
  free(workers);
  return found;
}
