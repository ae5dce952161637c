// Many small layers, from C: a batch of 20 rows through Dense(64, relu) a hundred times over, the
// weights in variables, and single products; against the multiply-add peak of one core, measured
// here. The layers are fused as the rewriting of plans does it. One thread is timed by its
// processor time, several by the clock: only then does a busy machine show.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "fp-contract=fast")
#endif
#include <string.h>

#include <rheos/scope.h>
#include <rheos/session.h>

#include "bench.h"

enum { BATCH = 20, PIXELS = 784, WIDTH = 64, LAYERS = 100, CLASSES = 10, ROUNDS = 41 };

static double own_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

// ---- The peak: independent multiply-adds in registers

#if defined(__x86_64__)
#define PEAK(name, target_name, bytes, sums)                                   \
  __attribute__((target(target_name))) static double name(int turns) {         \
    typedef float vector __attribute__((vector_size(bytes)));                  \
    vector sum[sums] = {{0}}, a = {1}, b = {1};                                \
    for (int k = 0; k < sums; k++) __asm__ volatile("" : "+v"(sum[k]));        \
    for (int i = 0; i < turns; i++) {                                          \
      __asm__ volatile("" : "+v"(a), "+v"(b));                                 \
      _Pragma("GCC unroll 24") for (int k = 0; k < sums; k++) sum[k] += a * b; \
    }                                                                          \
    for (int k = 0; k < sums; k++) __asm__ volatile("" ::"v"(sum[k]));         \
    return (double)turns * sums * (double)(bytes / 4) * 2;                     \
  }
PEAK(peak_512, "arch=x86-64-v4,prefer-vector-width=512", 64, 24)
PEAK(peak_256, "arch=x86-64-v3", 32, 12)
#endif

// Floating-point operations a nanosecond; 0 if that is not known for this processor.
static double measured_peak(void) {
  double most = 0;
#if defined(__x86_64__)
  for (int i = 0; i < ROUNDS; i++) {
    const double start = own_ns();
    double flops = 0;
    if (__builtin_cpu_supports("avx512f")) {
      flops = peak_512(20000);
    } else if (__builtin_cpu_supports("fma")) {
      flops = peak_256(40000);
    }
    const double rate = flops / (own_ns() - start);
    if (rate > most) most = rate;
  }
#endif
  return most;
}

// ---- The model

typedef struct model {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_session *session;
  rheos_output x, y;
  double flops;
} model;

static rheos_output op(model *m, const char *type, const char *name, const rheos_output *inputs,
                       size_t num_inputs, const rheos_attr *attrs, size_t num_attrs) {
  return rheos_operation_output(rheos_op(m->s, &(rheos_op_args){.type = type,
                                                                .name = name,
                                                                .inputs = inputs,
                                                                .num_inputs = num_inputs,
                                                                .attrs = attrs,
                                                                .num_attrs = num_attrs}),
                                0);
}

static rheos_output variable(model *m, rheos_shape shape) {
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &shape)};
  const rheos_output v = op(m, "VariableV2", NULL, NULL, 0, attrs, 2);
  rheos_tensor *value = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, shape, &value));
  float *numbers = rheos_tensor_data(value);
  for (int64_t i = 0; i < rheos_tensor_num_elements(value); i++) {
    numbers[i] = (float)(i * 37 % 101 - 50) / 400;
  }
  const rheos_output inputs[] = {v, rheos_constant(m->s, value, NULL)};
  rheos_tensor_unref(value);
  op(m, "Assign", NULL, inputs, 2, NULL, 0);
  return v;
}

static void add_layer(model *m, int64_t in, int64_t out, bool relu) {
  const rheos_string ops[] = {{(char *)(uintptr_t)"BiasAdd", 7}, {(char *)(uintptr_t)"Relu", 4}};
  const rheos_attr attr = {"fused_ops",
                           {.kind = RHEOS_ATTR_LIST_STRING, .count = relu ? 2 : 1, .strings = ops}};
  const rheos_output inputs[] = {m->y, variable(m, RHEOS_SHAPE(in, out)),
                                 variable(m, RHEOS_SHAPE(out))};
  m->y = op(m, "_FusedMatMul", "dense", inputs, 3, &attr, 1);
  m->flops += 2.0 * BATCH * (double)in * (double)out;
}

static void start(model *m, int threads) {
  rheos_session_options options = {.num_threads = threads};
  check(rheos_scope_finish(m->s));
  rheos_session_free(m->session);
  check(rheos_session_new(m->graph, &options, &m->session));
  for (int32_t id = 0; id < rheos_graph_num_operations(m->graph); id++) {
    const rheos_operation assign = {m->graph, id};
    if (strcmp(rheos_operation_type(assign), "Assign") != 0) continue;
    check(rheos_session_run(m->session, NULL, 0, NULL, 0, &assign, 1, NULL));
  }
}

// The median time of a step.
static double time_model(model *m, int threads, double (*clock)(void)) {
  rheos_tensor *x = NULL;
  start(m, threads);
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(BATCH, PIXELS), &x));
  for (int i = 0; i < BATCH * PIXELS; i++) ((float *)rheos_tensor_data(x))[i] = (float)(i % 7);
  const rheos_feed feed = {m->x, x};
  double rounds[ROUNDS];
  for (int r = -10; r < ROUNDS; r++) {
    const double begin = clock();
    for (int i = 0; i < 10; i++) {
      rheos_fetch fetch = {m->y, NULL};
      check(rheos_session_run(m->session, &feed, 1, &fetch, 1, NULL, 0, NULL));
      rheos_tensor_unref(fetch.value);
    }
    if (r >= 0) rounds[r] = (clock() - begin) / 10;
  }
  rheos_tensor_unref(x);
  return median(rounds, ROUNDS);
}

int main(void) {
  const double peak = measured_peak();
  model m = {.graph = rheos_graph_new()};
  m.s = rheos_scope_new(m.graph);
  const rheos_shape shape = RHEOS_SHAPE(BATCH, PIXELS);
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &shape)};
  m.x = m.y = op(&m, "Placeholder", "x", NULL, 0, attrs, 2);
  add_layer(&m, PIXELS, WIDTH, true);
  for (int i = 1; i < LAYERS; i++) add_layer(&m, WIDTH, WIDTH, true);
  add_layer(&m, WIDTH, CLASSES, false);
  const double limit = peak > 0 ? m.flops / peak : 0;
  const double one = time_model(&m, 1, own_ns);
  report("100 dense layers, batch 20, 1 thread", "us", one / 1e3, 1.1 * limit / 1e3, "limit",
         limit / 1e3);
  const double one_by_clock = time_model(&m, 1, now_ns);
  report("100 dense layers, batch 20, 2 threads", "us", time_model(&m, 2, now_ns) / 1e3,
         one_by_clock / 1.7e3, "1 thread", one_by_clock / 1e3);
  rheos_session_free(m.session);
  rheos_scope_free(m.s);
  rheos_graph_unref(m.graph);
  return 0;
}
