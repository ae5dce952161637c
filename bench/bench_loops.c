// Rows of 16 million floats where arithmetic binds, against loops written by hand: compiled for
// this very processor with all that the compiler may do to speed, where the C library's functions
// become its vector ones (4 units in the last place). Processor time of one thread, the least of
// some rounds, in turn. One JSON object a line.
#include <float.h>
#include <math.h>
#include <string.h>

#include <rheos/scope.h>
#include <rheos/session.h>

#define BENCH_CLOCK CLOCK_THREAD_CPUTIME_ID
#include "bench.h"

enum { SIDE = 4096, ELEMENTS = SIDE * SIDE, ROUNDS = 9, BEST = 8 };

#define EACH(name, formula)                                                                  \
  static void name(const float *restrict xs, const float *restrict ys, float *restrict zs) { \
    (void)ys;                                                                                \
    for (int i = 0; i < ELEMENTS; i++) {                                                     \
      const float x = xs[i];                                                                 \
      zs[i] = formula;                                                                       \
    }                                                                                        \
  }
EACH(loop_exp, expf(x))
EACH(loop_log, logf(x))
EACH(loop_tanh, tanhf(x))
EACH(loop_sigmoid, 1 / (1 + expf(-x)))
EACH(loop_erf, erff(x))
EACH(loop_sin, sinf(x))
EACH(loop_pow, powf(x, ys[i]))

static void loop_softmax(const float *restrict x, const float *restrict y, float *restrict z) {
  (void)y;
  for (int row = 0; row < SIDE; row++, x += SIDE, z += SIDE) {
    float largest = x[0], sum = 0;
    for (int i = 0; i < SIDE; i++) largest = x[i] > largest ? x[i] : largest;
    for (int i = 0; i < SIDE; i++) {
      z[i] = expf(x[i] - largest);
      sum += z[i];
    }
    for (int i = 0; i < SIDE; i++) z[i] *= 1 / sum;
  }
}

// The running sum in double, as the op has it.
static void loop_cumsum(const float *restrict x, const float *restrict y, float *restrict z) {
  (void)y;
  for (int row = 0; row < SIDE; row++, x += SIDE, z += SIDE) {
    double sum = 0;
    for (int i = 0; i < SIDE; i++) {
      sum += (double)x[i];
      z[i] = (float)sum;
    }
  }
}

// The best so far, sorted; most elements are only compared with the last of them.
static void loop_top(const float *restrict x, const float *restrict y, float *restrict z) {
  (void)y;
  for (int row = 0; row < SIDE; row++, x += SIDE, z += BEST) {
    float best[BEST];
    for (int k = 0; k < BEST; k++) best[k] = -FLT_MAX;
    for (int i = 0; i < SIDE; i++) {
      if (x[i] <= best[BEST - 1]) continue;
      int at = BEST - 1;
      for (; at > 0 && x[i] > best[at - 1]; at--) best[at] = best[at - 1];
      best[at] = x[i];
    }
    memcpy(z, best, sizeof best);
  }
}

typedef struct row {
  const char *name, *op;
  int num_inputs;
  void (*loop)(const float *restrict, const float *restrict, float *restrict);
  int32_t number;  // the second input, where it is not another operand
} row;

static rheos_tensor *numbers(unsigned seed) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(SIDE, SIDE), &tensor));
  float *values = rheos_tensor_data(tensor);
  for (int i = 0; i < ELEMENTS; i++) {
    seed = seed * 1664525u + 1013904223u;
    values[i] = (float)(seed >> 8) * 0x1p-24f;
  }
  return tensor;
}

static void bench(const row *r, rheos_tensor *const *operands, float *z) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_feed feeds[2];
  rheos_output inputs[2] = {fed(s, operands[0], &feeds[0])};
  if (r->number > 0) {
    inputs[1] = rheos_constant_int(s, r->number, NULL);
  } else if (r->num_inputs > 1) {
    inputs[1] = fed(s, operands[1], &feeds[1]);
  }
  const rheos_operation op =
      rheos_op(s, &(rheos_op_args){.type = r->op, .inputs = inputs, .num_inputs = r->num_inputs});
  check(rheos_scope_finish(s));
  const size_t num_feeds = r->number > 0 ? 1 : (size_t)r->num_inputs;
  rheos_session *session = NULL;
  const rheos_session_options options = {.num_threads = 1};
  check(rheos_session_new(graph, &options, &session));
  double ours = 0, theirs = 0;
  for (int round = 0; round < ROUNDS; round++) {
    const double begin = now_ns();
    check(rheos_session_run(session, feeds, num_feeds, NULL, 0, &op, 1, NULL));
    const double middle = now_ns();
    r->loop(rheos_tensor_data(operands[0]), rheos_tensor_data(operands[1]), z);
    const double end = now_ns();
    if (round == 0 || middle - begin < ours) ours = middle - begin;
    if (round == 0 || end - middle < theirs) theirs = end - middle;
  }
  char name[60];
  snprintf(name, sizeof name, "%s, C", r->name);
  report(name, "ms", ours / 1e6, 1.2 * theirs / 1e6, "loop by hand", theirs / 1e6);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

int main(void) {
  static const row rows[] = {
      {"exp", "Exp", 1, loop_exp, 0},
      {"log", "Log", 1, loop_log, 0},
      {"tanh", "Tanh", 1, loop_tanh, 0},
      {"sigmoid", "Sigmoid", 1, loop_sigmoid, 0},
      {"erf", "Erf", 1, loop_erf, 0},
      {"sin", "Sin", 1, loop_sin, 0},
      {"pow", "Pow", 2, loop_pow, 0},
      {"softmax", "Softmax", 1, loop_softmax, 0},
      {"cumulative sum of rows", "Cumsum", 2, loop_cumsum, 1},
      {"top 8 of rows", "TopKV2", 2, loop_top, BEST},
  };
  rheos_tensor *operands[] = {numbers(1), numbers(2), numbers(3)};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bench(&rows[i], operands, rheos_tensor_data(operands[2]));
  }
  for (int k = 0; k < 3; k++) rheos_tensor_unref(operands[k]);
  return 0;
}
