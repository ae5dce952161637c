// A thread writes the line, so that it also appears while the library is busy for long.
#include "progress.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_MS = 1000, NEXT_MS = 200 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_t writer;
static bool is_running, is_ending;  // guarded by the mutex, with the two below
static const char *subject;
static int64_t whole;
static _Atomic int64_t so_far;

static void write_line(int64_t elapsed_ms) {
  const int64_t done = atomic_load(&so_far);
  fprintf(stderr, "\r\033[Krheos: %s", subject);
  if (whole > 0) {
    fprintf(stderr, ", %d %%", (int)(100.0 * (double)done / (double)whole));
  } else if (done > 0) {
    fprintf(stderr, ", %lld", (long long)done);
  }
  fprintf(stderr, ", %lld s", (long long)(elapsed_ms / 1000));
  fflush(stderr);
}

static void *write_lines(void *unused) {
  (void)unused;
  int64_t elapsed_ms = 0, wait_ms = FIRST_MS;
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  pthread_mutex_lock(&mutex);
  while (!is_ending) {
    until.tv_nsec += wait_ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (!is_ending && pthread_cond_timedwait(&changed, &mutex, &until) == 0) {
    }
    elapsed_ms += wait_ms;
    wait_ms = NEXT_MS;
    if (!is_ending) write_line(elapsed_ms);
  }
  if (elapsed_ms > FIRST_MS) fputs("\r\033[K", stderr);
  pthread_mutex_unlock(&mutex);
  return NULL;
}

void progress_begin(const char *what, int64_t total) {
  progress_end();
  if (!isatty(STDERR_FILENO)) return;
  subject = what;
  whole = total;
  atomic_store(&so_far, 0);
  is_ending = false;
  is_running = pthread_create(&writer, NULL, write_lines, NULL) == 0;
}

void progress_set(int64_t done) { atomic_store(&so_far, done); }

void progress_end(void) {
  if (!is_running) return;
  pthread_mutex_lock(&mutex);
  is_ending = true;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  pthread_join(writer, NULL);
  is_running = false;
}
