#include "base/random_id.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic uint64_t next;

static void begin(void) {
  uint64_t seed;
  if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) {
    seed = (uint64_t)time(NULL) << 20 ^ (uint64_t)getpid();
  }
  atomic_store(&next, seed);
}

// SplitMix64: Steele, Lea, Flood, Fast splittable pseudorandom number generators, OOPSLA 2014. One
// to one, so ids of a process differ.
uint64_t rheos__random_id(void) {
  pthread_once(&once, begin);
  uint64_t z = atomic_fetch_add(&next, UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}
