// Of traced runs: how often each body ran, such as the trips of a loop, and the time in it.
#ifndef RHEOS_CLI_BENCH_BODIES_H
#define RHEOS_CLI_BENCH_BODIES_H

#include "runtime/trace.h"
#include "text.h"

typedef struct bench_body {
  char *body;    // the function; "cond", "body", ... of a loop or conditional of version 1
  char *caller;  // the node that calls it, and
  char *op;      // its op
  int64_t runs;
  double ns;
  const rheos_graph *graph;  // of the caller, which is node `id` there
  int32_t id;
} bench_body;

typedef struct bench_bodies {
  bench_body *items;
  size_t count;
} bench_bodies;

// Adds what is in the trace. `own_ns`, by event: its time without that of the bodies that it called.
void bench_bodies_add(bench_bodies *bodies, const rheos_trace *trace, double *own_ns);
// From sums to the means of one run, times `scale`, most time first.
void bench_bodies_finish(bench_bodies *bodies, size_t num_runs, double scale);
void bench_bodies_print(const bench_bodies *bodies);
void bench_bodies_print_json(const bench_bodies *bodies, json *j);  // "bodies"
void bench_bodies_deinit(bench_bodies *bodies);

#endif  // RHEOS_CLI_BENCH_BODIES_H
