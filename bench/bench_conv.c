// Convolutions and matrix products in a session against oneDNN called directly with as many threads
// of its own, in turn. The session makes calls of one thread, of parts: what is compared is its
// cost, and its division of the work. The least of many rounds, as others may run beside. One JSON
// object a line; bench/run makes a table of it.
#include <string.h>

#include "base/alloc.h"
#include "bench.h"

// The peer: the library's own calls of oneDNN, compiled once more without their limit to one
// thread.
static int peer_threads = 1;
#define RHEOS__DNNL_THREADS peer_threads
#define rheos__sgemm peer_sgemm
#define rheos__dnnl_conv_new peer_conv_new
#define rheos__dnnl_conv_free peer_conv_free
#define rheos__dnnl_conv_run peer_conv_run
#define rheos__dnnl_conv_scratch_bytes peer_conv_scratch_bytes
#include "device/cpu/onednn.c"

enum {
  ROUNDS = 15,
  CALLS = 4,
  BATCH = 16,
  SIDE = 28,
  CHANNELS = 64,
  PAUSE_NS = 40000000,
  RUN_NS = 10000000
};

typedef struct body {
  void (*call)(void *);
  void *argument;
  double least_ns;
} body;

// Threads of OpenMP wait for more work by spinning, for 300,000 times what the processor pauses,
// and would take a core from what is measured next. The first calls behind a pause find cores that
// sleep, which may take milliseconds to wake; those behind them are what a program sees whose steps
// follow each other.
static void pause_between(void) { nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL); }

static void measure(body *bodies, int count) {
  for (int round = -2; round < ROUNDS; round++) {
    for (int i = 0; i < count; i++) {
      pause_between();
      const double begin = now_ns();
      for (int call = 0; call < CALLS || now_ns() - begin < RUN_NS; call++) {
        const double start = now_ns();
        bodies[i].call(bodies[i].argument);
        const double ns = now_ns() - start;
        if (round < 0 || ns < bodies[i].least_ns) bodies[i].least_ns = ns;
      }
    }
  }
}

static void report_threads(const char *name, int threads, double rheos, double peer) {
  printf(
      "{\"row\": \"%s, %d thread%s\", \"unit\": \"us\", \"rheos\": %.6g, \"goal\": %.6g, "
      "\"peers\": {\"oneDNN, as many threads\": %.6g}}\n",
      name, threads, threads > 1 ? "s" : "", rheos / 1e3, 1.05 * peer / 1e3, peer / 1e3);
  fflush(stdout);
}

static rheos_tensor *pattern(rheos_shape shape) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, shape, &tensor));
  float *values = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) values[i] = (float)(i % 7) - 3;
  return tensor;
}

// ---- The peer

typedef struct direct {
  rheos__dnnl_conv *conv;
  rheos_tensor *image, *filter, *result;
  void *scratch;
} direct;

static void run_direct(void *argument) {
  const direct *d = argument;
  check(rheos__dnnl_conv_run(d->conv, rheos_tensor_data(d->image), rheos_tensor_data(d->filter),
                             rheos_tensor_data(d->result), 0, 0, 1, d->scratch));
}

static direct new_direct(rheos__dnnl_pass pass, int64_t size) {
  const int64_t c = CHANNELS, row = SIDE * c, all = SIDE * row, pad = size / 2;
  const rheos__dnnl_conv_shape shape = {.rank = 4,
                                        .filter_rank = 4,
                                        .image = {BATCH, c, SIDE, SIDE},
                                        .image_strides = {all, 1, row, c},
                                        .result = {BATCH, c, SIDE, SIDE},
                                        .result_strides = {all, 1, row, c},
                                        .filter = {c, c, size, size},
                                        .filter_strides = {1, c, size * c * c, c * c},
                                        .strides = {1, 1},
                                        .before = {pad, pad},
                                        .after = {pad, pad}};
  direct d = {.image = pattern(RHEOS_SHAPE(BATCH, SIDE, SIDE, CHANNELS)),
              .filter = pattern(RHEOS_SHAPE(size, size, CHANNELS, CHANNELS)),
              .result = pattern(RHEOS_SHAPE(BATCH, SIDE, SIDE, CHANNELS))};
  check(rheos__dnnl_conv_new(pass, &shape, &d.conv));
  if (!d.conv) check(rheos_status_new(RHEOS_INTERNAL, "oneDNN has no kernel"));
  d.scratch = rheos__alloc_aligned(rheos__dnnl_conv_scratch_bytes(d.conv));
  if (!d.scratch) check(rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "no memory"));
  return d;
}

static void free_direct(direct *d) {
  rheos__dnnl_conv_free(d->conv);
  rheos_tensor_unref(d->image);
  rheos_tensor_unref(d->filter);
  rheos_tensor_unref(d->result);
  rheos__free_aligned(d->scratch);
}

// ---- The session

typedef struct step {
  rheos_session *session;
  rheos_feed feeds[2];
  rheos_operation target;
} step;

static void run_step(void *argument) {
  step *s = argument;
  check(rheos_session_run(s->session, s->feeds, 2, NULL, 0, &s->target, 1, NULL));
}

static rheos_output sizes_of(rheos_scope *s, const rheos_tensor *tensor) {
  int32_t dims[4];
  for (int i = 0; i < 4; i++) dims[i] = (int32_t)rheos_tensor_shape(tensor)->dims[i];
  rheos_tensor *value = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(4), dims, &value));
  const rheos_output output = rheos_constant(s, value, NULL);
  rheos_tensor_unref(value);
  return output;
}

static void compare(const char *name, const direct *d, void (*peer)(void *), rheos_graph *graph,
                    step *one, int threads) {
  const rheos_session_options options = {.num_threads = threads};
  check(rheos_session_new(graph, &options, &one->session));
  body bodies[] = {{run_step, one, 0}, {peer, (void *)d, 0}};
  measure(bodies, 2);
  report_threads(name, threads, bodies[0].least_ns, bodies[1].least_ns);
  rheos_session_free(one->session);
}

static void bench_conv(const char *name, rheos__dnnl_pass pass, const direct *d, int threads) {
  static const char *const types[] = {"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"};
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  step one = {0};
  rheos_output inputs[3];
  if (pass == RHEOS__DNNL_FORWARD) {
    inputs[0] = fed(s, d->image, &one.feeds[0]);
    inputs[1] = fed(s, d->filter, &one.feeds[1]);
  } else if (pass == RHEOS__DNNL_BACKWARD_IMAGE) {
    inputs[0] = sizes_of(s, d->image);
    inputs[1] = fed(s, d->filter, &one.feeds[0]);
    inputs[2] = fed(s, d->result, &one.feeds[1]);
  } else {
    inputs[0] = fed(s, d->image, &one.feeds[0]);
    inputs[1] = sizes_of(s, d->filter);
    inputs[2] = fed(s, d->result, &one.feeds[1]);
  }
  const int64_t strides[] = {1, 1, 1, 1};
  const rheos_attr attrs[] = {rheos_attr_ints("strides", strides, 4),
                              rheos_attr_string("padding", "SAME", 4)};
  one.target = rheos_op(s, &(rheos_op_args){.type = types[pass],
                                            .inputs = inputs,
                                            .num_inputs = pass == RHEOS__DNNL_FORWARD ? 2 : 3,
                                            .attrs = attrs,
                                            .num_attrs = 2});
  check(rheos_scope_finish(s));
  compare(name, d, run_direct, graph, &one, threads);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

// ---- Matrix products, of the same operands

static void run_product(void *argument) {
  const direct *d = argument;
  const int64_t n = rheos_tensor_shape(d->image)->dims[0];
  check(rheos__sgemm(false, false, n, n, n, rheos_tensor_data(d->image), n,
                     rheos_tensor_data(d->filter), n, rheos_tensor_data(d->result), n));
}

static void bench_product(int64_t n, int threads, const char *prefix) {
  char name[60];
  snprintf(name, sizeof name, "matrix product of %d by %d", (int)n, (int)n);
  if (strncmp(name, prefix, strlen(prefix)) != 0) return;
  direct d = {.image = pattern(RHEOS_SHAPE(n, n)),
              .filter = pattern(RHEOS_SHAPE(n, n)),
              .result = pattern(RHEOS_SHAPE(n, n))};
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  step one = {0};
  const rheos_output inputs[] = {fed(s, d.image, &one.feeds[0]), fed(s, d.filter, &one.feeds[1])};
  one.target = rheos_op(s, &(rheos_op_args){.type = "MatMul", .inputs = inputs, .num_inputs = 2});
  check(rheos_scope_finish(s));
  compare(name, &d, run_product, graph, &one, threads);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  free_direct(&d);
}

// With an argument, only the rows whose name begins so.
int main(int argc, char **argv) {
  const char *prefix = argc > 1 ? argv[1] : "";
  static const char *const passes[] = {"forward", "by image", "by filter"};
  for (int threads = 1; threads <= 2; threads++) {
    peer_threads = threads;
    for (int64_t n = 256; n <= 1024; n *= 2) bench_product(n, threads, prefix);
    for (int64_t size = 3; size >= 1; size -= 2) {
      for (int pass = 0; pass < 3; pass++) {
        char name[60];
        snprintf(name, sizeof name, "conv %dx%d %s", (int)size, (int)size, passes[pass]);
        if (strncmp(name, prefix, strlen(prefix)) != 0) continue;
        direct d = new_direct((rheos__dnnl_pass)pass, size);
        bench_conv(name, (rheos__dnnl_pass)pass, &d, threads);
        free_direct(&d);
      }
    }
  }
  return 0;
}
