// Chains of ten operations on each element, cheap or with tanh, exp and sigmoid, against one loop
// written by hand: compiled for this very processor with all that the compiler may do to speed, its
// functions the C library's vector ones. The least of some rounds, in turn. One JSON object a line.
#include <math.h>
#include <pthread.h>
#include <time.h>

#include <rheos/scope.h>
#include <rheos/session.h>

// Others may run beside the rows of one thread: those are of its own time.
static clockid_t row_clock;
#define BENCH_CLOCK row_clock
#include "bench.h"

enum { MANY = 1 << 24, FEW = 4096, ROUNDS = 9, CALLS = 2000, STEPS = 10, GOAL_FEW_US = 3 };

// An operation on what the one before it made, and on a number or on the first input.
typedef struct step {
  const char *op;
  float number;
  enum { ALONE, NUMBER, INPUT } with;
} step;

static const step cheap_steps[STEPS] = {
    {"Mul", 0.5f, NUMBER},   {"AddV2", 0.1f, NUMBER}, {"Relu", 0, ALONE}, {"Mul", 0.3f, NUMBER},
    {"AddV2", 0.2f, NUMBER}, {"Neg", 0, ALONE},       {"Abs", 0, ALONE},  {"Mul", 0.7f, NUMBER},
    {"AddV2", 0.3f, NUMBER}, {"Sub", 0, INPUT}};
static const step heavy_steps[STEPS] = {
    {"Mul", 0.5f, NUMBER}, {"AddV2", 0.1f, NUMBER}, {"Tanh", 0, ALONE}, {"Exp", 0, ALONE},
    {"Mul", 0.3f, NUMBER}, {"AddV2", 0.2f, NUMBER}, {"Relu", 0, ALONE}, {"Neg", 0, ALONE},
    {"Sigmoid", 0, ALONE}, {"Sub", 0, INPUT}};

typedef void (*loop)(const float *restrict x, float *restrict y, int count);

static float relu(float x) { return x > 0 ? x : 0; }

static void cheap_loop(const float *restrict x, float *restrict y, int count) {
  for (int i = 0; i < count; i++) {
    const float z = relu(x[i] * 0.5f + 0.1f) * 0.3f + 0.2f;
    y[i] = fabsf(-z) * 0.7f + 0.3f - x[i];
  }
}

static void heavy_loop(const float *restrict x, float *restrict y, int count) {
  for (int i = 0; i < count; i++) {
    const float z = relu(expf(tanhf(x[i] * 0.5f + 0.1f)) * 0.3f + 0.2f);
    y[i] = 1 / (1 + expf(z)) - x[i];
  }
}

typedef struct share {
  loop body;
  const float *x;
  float *y;
  int count;
} share;

static void *run_share(void *argument) {
  const share *s = argument;
  s->body(s->x, s->y, s->count);
  return NULL;
}

// On one thread, or half of it on another.
static void run_loop(const share *whole, int threads) {
  const int half = threads == 2 ? whole->count / 2 : 0;
  share first = {whole->body, whole->x, whole->y, half};
  share second = {whole->body, whole->x + half, whole->y + half, whole->count - half};
  pthread_t helper;
  const bool helped = half > 0 && pthread_create(&helper, NULL, run_share, &first) == 0;
  if (!helped && half > 0) run_share(&first);
  run_share(&second);
  if (helped) pthread_join(helper, NULL);
}

static rheos_callable *chain_of(rheos_session **out_session, const step *steps, rheos_tensor *input,
                                int threads) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_feed feed;
  const rheos_output x = fed(s, input, &feed);
  rheos_output y = x;
  for (int i = 0; i < STEPS; i++) {
    rheos_output inputs[2] = {y, x};
    if (steps[i].with == NUMBER) inputs[1] = rheos_constant_float(s, steps[i].number, NULL);
    const rheos_op_args op = {
        .type = steps[i].op, .inputs = inputs, .num_inputs = steps[i].with == ALONE ? 1 : 2};
    y = rheos_operation_output(rheos_op(s, &op), 0);
  }
  check(rheos_scope_finish(s));
  const rheos_session_options options = {.num_threads = threads};
  check(rheos_session_new(graph, &options, out_session));
  rheos_callable *callable = NULL;
  check(rheos_callable_new(*out_session, &x, 1, &y, 1, NULL, 0, &callable));
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  return callable;
}

// ns of `calls` runs of the chain; the last one's result, if it is wanted.
static double run_chain(rheos_callable *callable, rheos_tensor *input, int calls,
                        rheos_tensor **out_result) {
  const double begin = now_ns();
  for (int i = 0; i < calls; i++) {
    rheos_tensor *result = NULL;
    check(rheos_callable_run(callable, &input, &result, NULL));
    if (i + 1 < calls || out_result == NULL)
      rheos_tensor_unref(result);
    else
      *out_result = result;
  }
  return now_ns() - begin;
}

static void compare(const char *name, rheos_tensor *result, const float *expected, int count) {
  const float *values = rheos_tensor_data(result);
  for (int i = 0; i < count; i++) {
    if (fabsf(values[i] - expected[i]) <= 1e-5f) continue;
    fprintf(stderr, "benchmark: %s: %g and %g differ\n", name, (double)values[i],
            (double)expected[i]);
    exit(1);
  }
  rheos_tensor_unref(result);
}

static void bench(const char *name, const step *steps, loop body, int count, int threads) {
  rheos_tensor *input = NULL, *result = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(count), &input));
  float *x = rheos_tensor_data(input), *y = malloc((size_t)count * sizeof *y);
  if (y == NULL) exit(1);
  for (int i = 0; i < count; i++) x[i] = (float)(i % 1000) * 1e-3f;
  rheos_session *session = NULL;
  rheos_callable *callable = chain_of(&session, steps, input, threads);
  const share whole = {body, x, y, count};
  run_loop(&whole, threads);
  run_chain(callable, input, 1, &result);
  compare(name, result, y, count);
  const int calls = count == MANY ? 1 : CALLS;
  double ours = 0, theirs = 0;
  for (int round = 0; round < ROUNDS; round++) {
    const double ns = run_chain(callable, input, calls, NULL);
    const double begin = now_ns();
    for (int i = 0; i < calls; i++) run_loop(&whole, threads);
    const double loop_ns = now_ns() - begin;
    if (round == 0 || ns < ours) ours = ns;
    if (round == 0 || loop_ns < theirs) theirs = loop_ns;
  }
  const double scale = 1e3 * calls;
  const double goal = count == MANY ? 1.15 * theirs / scale : theirs / scale + GOAL_FEW_US;
  char row[100];
  snprintf(row, sizeof row, "10 %s ops on %s floats, %d thread%s, C", name,
           count == MANY ? "16M" : "4,096", threads, threads > 1 ? "s" : "");
  report(row, "us", ours / scale, goal, "loop by hand", theirs / scale);
  rheos_callable_free(callable);
  rheos_session_free(session);
  rheos_tensor_unref(input);
  free(y);
}

int main(void) {
  for (int threads = 1; threads <= 2; threads++) {
    row_clock = threads == 1 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
    bench("cheap", cheap_steps, cheap_loop, MANY, threads);
    bench("heavy", heavy_steps, heavy_loop, MANY, threads);
  }
  row_clock = CLOCK_THREAD_CPUTIME_ID;
  bench("cheap", cheap_steps, cheap_loop, FEW, 1);
  bench("heavy", heavy_steps, heavy_loop, FEW, 1);
  return 0;
}
