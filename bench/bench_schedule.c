// What planning, dispatch, threads and traces cost, from C. One JSON object a line; processor time
// of the calling thread where one thread works, the wall clock where several do.
#include <string.h>

#include <rheos/ops.h>
#include <rheos/scope.h>
#include <rheos/session.h>

#include "bench.h"

static double time_ns(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double own_ns(void) { return time_ns(CLOCK_THREAD_CPUTIME_ID); }

typedef struct program {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_output x, y;
  rheos_session *session;
  rheos_tensor *value;
} program;

static program start(void) {
  program p = {.graph = rheos_graph_new()};
  p.s = rheos_scope_new(p.graph);
  p.x = rheos_placeholder(p.s, RHEOS_FLOAT);
  return p;
}

static void open_session(program *p, int threads, bool plain) {
  check(rheos_scope_finish(p->s));
  const rheos_session_options options = {.num_threads = threads,
                                         .rewrites.disable_meta_optimizer = plain};
  check(rheos_session_new(p->graph, &options, &p->session));
}

static void feed(program *p, rheos_shape shape) {
  rheos_tensor_unref(p->value);
  check(rheos_tensor_new(RHEOS_FLOAT, shape, &p->value));
  float *data = rheos_tensor_data(p->value);
  for (int64_t i = 0; i < rheos_tensor_num_elements(p->value); i++)
    data[i] = 0.001f * (float)(i % 7);
}

static void step(program *p, const rheos_run_options *options) {
  const rheos_feed fed = {p->x, p->value};
  rheos_fetch fetch = {p->y, NULL};
  check(rheos_session_run(p->session, &fed, 1, &fetch, 1, NULL, 0, options));
  rheos_tensor_unref(fetch.value);
}

static void finish(program *p) {
  rheos_tensor_unref(p->value);
  rheos_session_free(p->session);
  rheos_scope_free(p->s);
  rheos_graph_unref(p->graph);
}

// Own time of a step, the median of a few.
static double own_time(program *p, const rheos_run_options *options, rheos_trace *trace) {
  double rounds[REPEATS];
  step(p, options);
  for (int i = 0; i < REPEATS; i++) {
    if (trace != NULL) rheos_trace_clear(trace);
    const double begin = own_ns();
    step(p, options);
    rounds[i] = own_ns() - begin;
  }
  return median(rounds, REPEATS);
}

// `chains` of `length` adds each, no two of them alike, nothing folded, merged or fused.
static void bench_dispatch(int chains, int length, const char *row) {
  enum { CONSTANTS = 1000 };
  program p = start();
  static rheos_output constants[CONSTANTS];
  for (int i = 0; i < CONSTANTS; i++) constants[i] = rheos_constant_float(p.s, (float)i, NULL);
  rheos_output *ends = malloc((size_t)chains * sizeof *ends);
  if (ends == NULL) exit(1);
  for (int c = 0; c < chains; c++) {
    ends[c] = p.x;
    for (int i = 0; i < length; i++) {
      ends[c] = rheos_add(p.s, ends[c], constants[(c * 7 + i) % CONSTANTS]);
    }
  }
  p.y = chains > 1 ? rheos_add_n(p.s, ends, (size_t)chains) : ends[0];
  open_session(&p, 1, true);
  feed(&p, RHEOS_SCALAR);
  const double nodes = (double)chains * length;
  report(row, "ns", own_time(&p, NULL, NULL) / nodes, 25, "", 0);
  free(ends);
  finish(&p);
}

static rheos_output matrix(rheos_scope *s, int64_t rows, int64_t columns) {
  rheos_tensor *t = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(rows, columns), &t));
  float *data = rheos_tensor_data(t);
  for (int64_t i = 0; i < rows * columns; i++) data[i] = 0.01f * (float)(i % 11) - 0.05f;
  const rheos_output output = rheos_constant(s, t, NULL);
  rheos_tensor_unref(t);
  return output;
}

// Towers of products that are too small to be split.
static void bench_wide(void) {
  enum { TOWERS = 8, LAYERS = 6, SIDE = 64, STEPS = 200 };
  double times[2];
  for (int threads = 1; threads <= 2; threads++) {
    program p = start();
    rheos_output ends[TOWERS];
    for (int t = 0; t < TOWERS; t++) {
      ends[t] = p.x;
      for (int i = 0; i < LAYERS; i++) {
        ends[t] = rheos_relu(p.s, rheos_matmul(p.s, ends[t], matrix(p.s, SIDE, SIDE)));
      }
      ends[t] = rheos_mul(p.s, ends[t], rheos_constant_float(p.s, (float)t, NULL));
    }
    p.y = rheos_add_n(p.s, ends, TOWERS);
    open_session(&p, threads, true);
    feed(&p, RHEOS_SHAPE(SIDE, SIDE));
    double rounds[REPEATS];
    for (int r = 0; r < REPEATS; r++) {
      const double begin = now_ns();
      for (int i = 0; i < STEPS; i++) step(&p, NULL);
      rounds[r] = (now_ns() - begin) / STEPS;
    }
    times[threads - 1] = median(rounds, REPEATS);
    finish(&p);
  }
  report("8 towers of 6 products of 64x64, 2 threads", "us", times[1] / 1e3, 0, "1 thread",
         times[0] / 1e3);
}

static void bench_idle(void) {
  program p = start();
  p.y = rheos_tanh(p.s, p.x);
  open_session(&p, 2, false);
  feed(&p, RHEOS_SHAPE(1 << 20));
  for (int i = 0; i < 10; i++) step(&p, NULL);
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  const double cpu = time_ns(CLOCK_PROCESS_CPUTIME_ID), wall = time_ns(CLOCK_MONOTONIC);
  nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
  const double used = time_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  report("idle session after 50 ms: processor time", "%",
         100 * used / (time_ns(CLOCK_MONOTONIC) - wall), 1, "", 0);
  finish(&p);
}

static rheos_output int_pair(rheos_scope *s, int32_t a, int32_t b) {
  rheos_tensor *t = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(2), (const int32_t[]){a, b}, &t));
  const rheos_output output = rheos_constant(s, t, NULL);
  rheos_tensor_unref(t);
  return output;
}

// 1,000 dense layers, five nodes each; then other batch sizes, whose steps are planned anew.
static void bench_planning(void) {
  enum { LAYERS = 1000, WIDTH = 8, SIZES = 9 };
  program p = start();
  p.y = rheos_reshape(p.s, p.x, int_pair(p.s, -1, WIDTH));
  for (int i = 0; i < LAYERS; i++) {
    const rheos_output bias = rheos_constant_float(p.s, 0.01f * (float)i, NULL);
    p.y = rheos_tanh(p.s, rheos_add(p.s, rheos_matmul(p.s, p.y, matrix(p.s, WIDTH, WIDTH)), bias));
  }
  const double nodes = rheos_graph_num_operations(p.graph);
  open_session(&p, 1, false);
  feed(&p, RHEOS_SHAPE(2, WIDTH));
  double begin = own_ns();
  step(&p, NULL);
  report("first run, 5,000 nodes", "ms", (own_ns() - begin) / 1e6, 150, "", 0);
  double rounds[SIZES];
  for (int i = 0; i < SIZES; i++) {
    feed(&p, RHEOS_SHAPE(3 + i, WIDTH));
    begin = own_ns();
    step(&p, NULL);
    const double first = own_ns() - begin;
    begin = own_ns();
    step(&p, NULL);
    rounds[i] = first - (own_ns() - begin);
  }
  report("a new batch size, 5,000 nodes: a node", "ns", median(rounds, SIZES) / nodes, 2000, "", 0);
  finish(&p);
}

static void bench_trace(void) {
  enum { LENGTH = 20000 };
  program p = start();
  p.y = p.x;
  for (int i = 0; i < LENGTH; i++) p.y = rheos_add(p.s, p.y, p.x);
  open_session(&p, 1, true);
  feed(&p, RHEOS_SCALAR);
  rheos_trace *trace = rheos_trace_new(RHEOS_TRACE_STEPS);
  if (trace == NULL) exit(1);
  const rheos_run_options options = {.trace = trace};
  const double off = own_time(&p, NULL, NULL), on = own_time(&p, &options, trace);
  report("a trace: a node of a chain, more than without", "ns", (on - off) / LENGTH, 100, "", 0);
  rheos_trace_free(trace);
  finish(&p);
}

int main(void) {
  bench_dispatch(1, 100000, "dispatch: a chain of 100,000 adds, a node");
  bench_dispatch(1000, 1000, "dispatch: 1,000 chains of 1,000 adds, a node");
  bench_wide();
  bench_idle();
  bench_planning();
  bench_trace();
  return 0;
}
