// How steady the machine is: arithmetic in registers alone, which waits for nothing but the
// processor, on one thread and on all at once. Where a round takes 1.5 times another, a core is
// shared with work that this machine does not see, and no timing of anything says more than that.
#include <pthread.h>
#include <unistd.h>

#include "bench.h"

enum { ROUNDS = 25, MOST_THREADS = 64, CHAINS = 8, STEPS = 4000000 };

typedef struct worker {
  pthread_t thread;
  double ns, result;
} worker;

static void *work(void *argument) {
  worker *w = argument;
  double chains[CHAINS];
  for (int i = 0; i < CHAINS; i++) chains[i] = i;
  const double start = now_ns();
  for (int k = 0; k < STEPS; k++) {
    for (int i = 0; i < CHAINS; i++) chains[i] = chains[i] * 0.999999 + 1e-6;
  }
  w->ns = now_ns() - start;
  w->result = 0;
  for (int i = 0; i < CHAINS; i++) w->result += chains[i];
  return NULL;
}

// The time of the slowest of so many threads at once.
static double round_ns(worker *workers, int threads) {
  int started = 1;
  while (started < threads &&
         pthread_create(&workers[started].thread, NULL, work, &workers[started]) == 0) {
    started++;
  }
  work(&workers[0]);
  double slowest = workers[0].ns;
  for (int i = 1; i < started; i++) {
    pthread_join(workers[i].thread, NULL);
    if (workers[i].ns > slowest) slowest = workers[i].ns;
  }
  return slowest;
}

static void report_rounds(const char *what, double *rounds, double fastest) {
  const double middle = median(rounds, ROUNDS);
  printf(
      "{\"row\": \"arithmetic in registers, %s: median round over the fastest\", \"unit\": \"x\", "
      "\"rheos\": %.3g, \"peers\": {\"slowest round\": %.3g}}\n",
      what, middle / fastest, rounds[ROUNDS - 1] / fastest);
}

int main(void) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  const int threads = processors < 1              ? 1
                      : processors < MOST_THREADS ? (int)processors
                                                  : MOST_THREADS;
  static worker workers[MOST_THREADS];
  double alone[ROUNDS], together[ROUNDS];
  for (int r = 0; r < ROUNDS; r++) {
    alone[r] = round_ns(workers, 1);
    together[r] = round_ns(workers, threads);
  }
  double fastest = alone[0];
  for (int r = 1; r < ROUNDS; r++) fastest = alone[r] < fastest ? alone[r] : fastest;
  report_rounds("1 thread", alone, fastest);
  report_rounds("a thread each processor", together, fastest);
  return 0;
}
