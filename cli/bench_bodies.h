// Of traced runs: how often each body ran, such as the trips of a loop, and the time in it.
#ifndef RHEOS_CLI_BENCH_BODIES_H
#define RHEOS_CLI_BENCH_BODIES_H

#include <rheos/trace.h>

#include "text.h"

typedef struct bench_body {
  const char *body;    // the function; "cond", "body", ... of a loop or conditional of version 1
  const char *caller;  // the node that calls it, and
  const char *op;      // its op
  int64_t runs;
  double ns;
} bench_body;

typedef struct bench_bodies {
  bench_body *items;  // most time first
  size_t count;
} bench_bodies;

// The means of one of so many runs, times `scale`; the profile's texts are borrowed.
void bench_bodies_init(bench_bodies *bodies, const rheos_profile *profile, size_t num_runs,
                       double scale);
void bench_bodies_print(const bench_bodies *bodies);
void bench_bodies_print_json(const bench_bodies *bodies, json *j);  // "bodies"
void bench_bodies_deinit(bench_bodies *bodies);

#endif  // RHEOS_CLI_BENCH_BODIES_H
