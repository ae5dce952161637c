// Convolutions in a session against one call of oneDNN on the same images, which is what the session
// makes of them in parts: what is left is the cost of a step, and the gain of threads. One JSON object
// a line; bench/run makes a table of it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rheos/scope.h>
#include <rheos/session.h>

#include "base/alloc.h"
#include "device/cpu/onednn.h"

enum { REPEATS = 15, BATCH = 16, SIDE = 28, CHANNELS = 64 };

static double now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median_ns(void (*body)(void *), void *argument) {
  double rounds[REPEATS];
  for (int i = 0; i < 2; i++) body(argument);
  for (int i = 0; i < REPEATS; i++) {
    const double start = now_ns();
    body(argument);
    rounds[i] = now_ns() - start;
  }
  qsort(rounds, REPEATS, sizeof *rounds, by_value);
  return rounds[REPEATS / 2];
}

static void check(rheos_status *status) {
  if (!status) return;
  fprintf(stderr, "bench_conv: %s\n", rheos_status_message(status));
  exit(1);
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

static rheos_output fed(rheos_scope *s, rheos_tensor *value, rheos_feed *out_feed) {
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", rheos_tensor_shape(value))};
  const rheos_op_args args = {.type = "Placeholder", .attrs = attrs, .num_attrs = 2};
  const rheos_output output = rheos_operation_output(rheos_op(s, &args), 0);
  *out_feed = (rheos_feed){output, value};
  return output;
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

static double time_session(rheos__dnnl_pass pass, const direct *d, int threads) {
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
  const rheos_session_options options = {.num_threads = threads};
  check(rheos_session_new(graph, &options, &one.session));
  const double result = median_ns(run_step, &one);
  rheos_session_free(one.session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  return result;
}

int main(void) {
  static const char *const passes[] = {"forward", "by image", "by filter"};
  for (int64_t size = 3; size >= 1; size -= 2) {
    for (int pass = 0; pass < 3; pass++) {
      direct d = new_direct((rheos__dnnl_pass)pass, size);
      const double peer = median_ns(run_direct, &d);
      for (int threads = 1; threads <= 2; threads++) {
        const double rheos = time_session((rheos__dnnl_pass)pass, &d, threads);
        printf("{\"row\": \"conv %dx%d %s, %d thread%s\", \"unit\": \"us\", \"rheos\": %.6g, "
               "\"peers\": {\"oneDNN, 1 thread\": %.6g}}\n",
               (int)size, (int)size, passes[pass], threads, threads > 1 ? "s" : "", rheos / 1e3,
               peer / 1e3);
        fflush(stdout);
      }
      free_direct(&d);
    }
  }
  return 0;
}
