// What the benchmark programs share: a clock, medians, and the JSON lines that bench/run reads.
#ifndef RHEOS_BENCH_H
#define RHEOS_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <rheos/scope.h>
#include <rheos/session.h>

// A program that works on one thread alone defines it as CLOCK_THREAD_CPUTIME_ID: others may then
// run beside it.
#ifndef BENCH_CLOCK
#define BENCH_CLOCK CLOCK_MONOTONIC
#endif

static inline double now_ns(void) {
  struct timespec t;
  clock_gettime(BENCH_CLOCK, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// Sorts `values`.
static inline double median(double *values, int count) {
  qsort(values, (size_t)count, sizeof *values, by_value);
  return values[count / 2];
}

enum { REPEATS = 9 };

// ns a call of body(argument), the median of REPEATS rounds of `calls`.
static inline double time_calls(void (*body)(void *), void *argument, int calls) {
  double rounds[REPEATS];
  for (int i = 0; i < calls / 10 + 1; i++) body(argument);
  for (int r = 0; r < REPEATS; r++) {
    const double start = now_ns();
    for (int i = 0; i < calls; i++) body(argument);
    rounds[r] = (now_ns() - start) / calls;
  }
  return median(rounds, REPEATS);
}

// ns a call of body(argument), the least of some rounds that take at least half of `round_ns`.
static inline rheos_status *least_ns(rheos_status *(*body)(void *), void *argument, double round_ns,
                                     double *out_ns) {
  enum { ROUNDS = 5 };
  int64_t calls = 1;
  *out_ns = 0;
  for (int r = 0; r < ROUNDS;) {
    const double start = now_ns();
    for (int64_t i = 0; i < calls; i++) {
      rheos_status *status = body(argument);
      if (status) return status;
    }
    const double taken = now_ns() - start;
    if (taken < round_ns / 2) {
      calls *= 2;
      continue;
    }
    if (r == 0 || taken / (double)calls < *out_ns) *out_ns = taken / (double)calls;
    r++;
  }
  return NULL;
}

// `goal` and `peer` of 0 are left out.
static inline void report(const char *row, const char *unit, double rheos, double goal,
                          const char *peer_name, double peer) {
  printf("{\"row\": \"%s\", \"unit\": \"%s\", \"rheos\": %.6g", row, unit, rheos);
  if (goal > 0) printf(", \"goal\": %.6g", goal);
  if (peer > 0) printf(", \"peers\": {\"%s\": %.6g}", peer_name, peer);
  puts("}");
  fflush(stdout);
}

// Ends the program if `status` is not NULL.
static inline void check(rheos_status *status) {
  if (!status) return;
  fprintf(stderr, "benchmark: %s\n", rheos_status_message(status));
  exit(1);
}

// A placeholder for `value`, and the feed that gives it.
static inline rheos_output fed(rheos_scope *s, rheos_tensor *value, rheos_feed *out_feed) {
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", rheos_tensor_shape(value))};
  const rheos_op_args args = {.type = "Placeholder", .attrs = attrs, .num_attrs = 2};
  const rheos_output output = rheos_operation_output(rheos_op(s, &args), 0);
  *out_feed = (rheos_feed){output, value};
  return output;
}

#endif
