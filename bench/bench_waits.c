// What waiting costs a step: 50 small layers on one input, of which parts are dequeued instead of
// fed, from one queue or several that are full. Processor time of the one thread. One JSON object a
// line.
#include <rheos/ops.h>
#include <rheos/scope.h>
#include <rheos/session.h>

#define BENCH_CLOCK CLOCK_THREAD_CPUTIME_ID
#include "bench.h"

enum { LAYERS = 50, WIDTH = 48, STEPS = 2000, MOST_QUEUES = 8 };

typedef struct net {
  rheos_graph *graph;
  rheos_session *session;
  rheos_output input, result;  // of a step without queues: what is fed
  rheos_operation fill[MOST_QUEUES];
  int num_queues;
  rheos_tensor *fed;
} net;

static rheos_tensor *ones(rheos_shape shape) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, shape, &tensor));
  float *values = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rheos_shape_num_elements(&shape); i++) values[i] = 0.1F;
  return tensor;
}

static rheos_output constant(rheos_scope *s, rheos_shape shape) {
  rheos_tensor *tensor = ones(shape);
  const rheos_output output = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

static rheos_operation op(rheos_scope *s, const char *type, const rheos_output *inputs,
                          size_t num_inputs, const rheos_attr *attrs, size_t num_attrs) {
  return rheos_op(s, &(rheos_op_args){.type = type,
                                      .inputs = inputs,
                                      .num_inputs = num_inputs,
                                      .attrs = attrs,
                                      .num_attrs = num_attrs});
}

// An element of a queue that is filled with enough for all steps.
static rheos_output dequeued(net *n, rheos_scope *s) {
  const rheos_dtype dtype = RHEOS_FLOAT;
  const rheos_shape shape = RHEOS_SHAPE(1, WIDTH);
  const rheos_attr attrs[] = {rheos_attr_types("component_types", &dtype, 1),
                              {"shapes", {RHEOS_ATTR_LIST_SHAPE, 1, {.shapes = &shape}}}};
  const rheos_output handle = rheos_operation_output(op(s, "FIFOQueueV2", NULL, 0, attrs, 2), 0);
  const rheos_output many[] = {handle, constant(s, RHEOS_SHAPE(STEPS, 1, WIDTH))};
  n->fill[n->num_queues++] = op(s, "QueueEnqueueManyV2", many, 2, NULL, 0);
  const rheos_operation taken = op(s, "QueueDequeueV2", &handle, 1, attrs, 1);
  return rheos_operation_output(taken, 0);
}

static void net_init(net *n, int num_queues) {
  *n = (net){.graph = rheos_graph_new()};
  rheos_scope *s = rheos_scope_new(n->graph);
  rheos_output x = n->input = rheos_placeholder(s, RHEOS_FLOAT);
  for (int i = 0; i < num_queues; i++) {
    const rheos_output taken = dequeued(n, s);
    x = i == 0 ? taken : rheos_add(s, x, taken);
  }
  for (int i = 0; i < LAYERS; i++) {
    const rheos_output weights = constant(s, RHEOS_SHAPE(WIDTH, WIDTH));
    x = rheos_relu(s, rheos_add(s, rheos_matmul(s, x, weights, false, false),
                                constant(s, RHEOS_SHAPE(WIDTH))));
  }
  n->result = x;
  check(rheos_scope_finish(s));
  rheos_scope_free(s);
  check(rheos_session_new(n->graph, &(rheos_session_options){.num_threads = 1}, &n->session));
  n->fed = ones(RHEOS_SHAPE(1, WIDTH));
}

static void net_deinit(net *n) {
  rheos_session_free(n->session);
  rheos_tensor_unref(n->fed);
  rheos_graph_unref(n->graph);
}

static double round_ns(net *n) {
  check(rheos_session_run(n->session, NULL, 0, NULL, 0, n->fill, (size_t)n->num_queues, NULL));
  const rheos_feed feed = {n->input, n->fed};
  const double start = now_ns();
  for (int i = 0; i < STEPS; i++) {
    rheos_fetch fetch = {n->result, NULL};
    check(
        rheos_session_run(n->session, &feed, n->num_queues == 0 ? 1 : 0, &fetch, 1, NULL, 0, NULL));
    rheos_tensor_unref(fetch.value);
  }
  return (now_ns() - start) / STEPS;
}

int main(void) {
  static const int counts[] = {0, 1, 2, 4, 8};
  static const double goals[] = {0, 0, 1.2, 0, 1.5};  // times the step of one queue
  double one_us = 0;
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    net n;
    net_init(&n, counts[i]);
    round_ns(&n);
    double rounds[REPEATS];
    for (int r = 0; r < REPEATS; r++) rounds[r] = round_ns(&n);
    const double us = median(rounds, REPEATS) * 1e-3;
    if (counts[i] == 1) one_us = us;
    char row[64];
    snprintf(row, sizeof row, "50 layers behind %d queues, C", counts[i]);
    report(row, "us", us, goals[i] * one_us, "behind one", counts[i] > 1 ? one_us : 0);
    net_deinit(&n);
  }
  return 0;
}
