// What a step and a node cost, from C: one JSON object a line on standard output, the peers (plain
// C) measured in the same run. bench/run makes a table of it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rheos/scope.h>
#include <rheos/session.h>
#include <rheos/train.h>

#include "bench.h"
#include "graph/graph.h"

enum { CHAIN = 1000000 };

static rheos_output op_1(rheos_scope *s, const char *type, rheos_output a) {
  rheos_op_args args = {.type = type, .inputs = &a, .num_inputs = 1};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

static rheos_output op_2(rheos_scope *s, const char *type, rheos_output a, rheos_output b) {
  rheos_output inputs[] = {a, b};
  rheos_op_args args = {.type = type, .inputs = inputs, .num_inputs = 2};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

static rheos_output placeholder(rheos_scope *s) {
  rheos_attr dtype = rheos_attr_type("dtype", RHEOS_FLOAT);
  rheos_op_args args = {.type = "Placeholder", .attrs = &dtype, .num_attrs = 1};
  return rheos_operation_output(rheos_op(s, &args), 0);
}

static rheos_tensor *scalar(float value) {
  rheos_tensor *t = NULL;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &value, &t));
  return t;
}

typedef struct program {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_session *session;
  rheos_callable *callable;
  rheos_tensor *values[2];
  rheos_feed feeds[2];
  size_t num_feeds, num_fetches;
  rheos_fetch fetch;
} program;

static void start(program *p) {
  memset(p, 0, sizeof *p);
  p->graph = rheos_graph_new();
  p->s = rheos_scope_new(p->graph);
}

static void finish(program *p) {
  rheos_callable_free(p->callable);
  rheos_session_free(p->session);
  rheos_scope_free(p->s);
  rheos_graph_unref(p->graph);
  rheos_tensor_unref(p->values[0]);
  rheos_tensor_unref(p->values[1]);
}

static void call(void *argument) {
  program *p = argument;
  rheos_tensor *out = NULL;
  check(rheos_callable_run(p->callable, p->values, &out, NULL));
  rheos_tensor_unref(out);
}

static void run(void *argument) {
  program *p = argument;
  check(rheos_session_run(p->session, p->feeds, p->num_feeds, &p->fetch, 1, NULL, 0, NULL));
  rheos_tensor_unref(p->fetch.value);
}

// ---- One op

static float add_one(float x) { return x + 1; }
static float (*volatile add_one_pointer)(float) = add_one;
static volatile float sink;
static void plain_add(void *argument) {
  (void)argument;
  sink = add_one_pointer(sink);
}

static void bench_one_op(void) {
  program p;
  start(&p);
  rheos_output x = placeholder(p.s);
  rheos_output y = op_2(p.s, "Add", x, rheos_constant_float(p.s, 1, NULL));
  check(rheos_scope_finish(p.s));
  check(rheos_session_new(p.graph, NULL, &p.session));
  check(rheos_callable_new(p.session, &x, 1, &y, 1, NULL, 0, &p.callable));
  p.values[0] = scalar(2);
  p.feeds[0] = (rheos_feed){x, p.values[0]};
  p.num_feeds = 1;
  p.fetch.output = y;
  double plain = time_calls(plain_add, NULL, 1000000);
  report("one scalar add, callable, C", "ns", time_calls(call, &p, 100000), 500,
         "plain C, call by pointer", plain);
  report("one scalar add, session_run, C", "ns", time_calls(run, &p, 100000), 0, "", 0);
  finish(&p);
}

// ---- The linear regression: y_guess = m x + b, loss = (y - y_guess)^2, gradient descent

typedef struct line {
  float m, b, x, y, loss;
} line;

static void plain_step(void *argument) {
  volatile line *l = argument;
  float difference = l->y - (l->m * l->x + l->b);
  l->loss = difference * difference;
  float slope = -2 * difference * 1e-3f;
  l->m -= slope * l->x;
  l->b -= slope;
}

static void bench_linear_regression(void) {
  program p;
  start(&p);
  rheos_output m = rheos_get_variable(p.s, "m", RHEOS_FLOAT, RHEOS_SCALAR, rheos_zeros());
  rheos_output b = rheos_get_variable(p.s, "b", RHEOS_FLOAT, RHEOS_SCALAR, rheos_zeros());
  rheos_output x = placeholder(p.s), y = placeholder(p.s);
  rheos_output guess = op_2(p.s, "Add", op_2(p.s, "Mul", m, x), b);
  rheos_output loss = op_1(p.s, "Square", op_2(p.s, "Sub", y, guess));
  rheos_operation train = rheos_minimize(p.s, rheos_gradient_descent(1e-3), loss);
  rheos_operation init = rheos_global_variables_initializer(p.s);
  check(rheos_scope_finish(p.s));
  check(rheos_session_new(p.graph, NULL, &p.session));
  check(rheos_session_run(p.session, NULL, 0, NULL, 0, &init, 1, NULL));
  rheos_output feeds[] = {x, y};
  check(rheos_callable_new(p.session, feeds, 2, &loss, 1, &train, 1, &p.callable));
  p.values[0] = scalar(0.5f);
  p.values[1] = scalar(1.75f);
  line plain = {0, 0, 0.5f, 1.75f, 0};
  double peer = time_calls(plain_step, &plain, 1000000);
  report("linear regression step, C", "ns", time_calls(call, &p, 50000), 1500, "plain C", peer);
  finish(&p);
}

// ---- A chain of a million nodes

typedef struct plain_node {
  struct plain_node *input;
  float (*function)(float);
} plain_node;

static double plain_chain(double *out_run_ns) {
  double begin = now_ns();
  plain_node *first = calloc(1, sizeof *first), *node = first;
  plain_node **order = malloc(CHAIN * sizeof *order);
  if (!first || !order) exit(1);
  for (int i = 0; i < CHAIN; i++) {
    plain_node *next = malloc(sizeof *next);
    if (!next) exit(1);
    *next = (plain_node){node, add_one};
    order[i] = node = next;
  }
  double built = now_ns() - begin;
  begin = now_ns();
  float value = 0;
  for (int i = 0; i < CHAIN; i++) value = order[i]->function(value);
  sink = value;
  *out_run_ns = now_ns() - begin;
  for (int i = 0; i < CHAIN; i++) free(order[i]);
  free(order);
  free(first);
  return built;
}

// `own_constants`: every add has a constant of its own, as `x = x + 1` makes it.
static void bench_chain(bool own_constants) {
  double plain_run, plain_build = plain_chain(&plain_run);
  program p;
  start(&p);
  rheos_output x = rheos_get_variable(p.s, "x", RHEOS_FLOAT, RHEOS_SCALAR, rheos_zeros());
  rheos_output one = rheos_constant_float(p.s, 1, NULL);
  rheos_operation init = rheos_global_variables_initializer(p.s);
  double begin = now_ns();
  for (int i = 0; i < CHAIN; i++) {
    if (own_constants) one = rheos_constant_float(p.s, 1, NULL);
    x = op_2(p.s, "Add", x, one);
  }
  double built = now_ns() - begin;
  check(rheos_scope_finish(p.s));
  check(rheos_session_new(p.graph, NULL, &p.session));
  check(rheos_session_run(p.session, NULL, 0, NULL, 0, &init, 1, NULL));
  p.fetch.output = x;
  begin = now_ns();
  run(&p);
  double first = now_ns() - begin;
  double later[5];
  for (int i = 0; i < 5; i++) {
    begin = now_ns();
    run(&p);
    later[i] = now_ns() - begin;
  }
  double nodes = rheos_graph_num_operations(p.graph);
  double bytes = (double)rheos__graph_size_bytes(p.graph) / nodes;
  char row[120];
  const char *which = own_constants ? "1M x = x + 1, 2M nodes" : "1M x = x + 1, 1M nodes";
  snprintf(row, sizeof row, "%s: build, C", which);
  report(row, "ms", built / 1e6, 500, "plain C, malloc a node", plain_build / 1e6);
  snprintf(row, sizeof row, "%s: a node built", which);
  report(row, "ns", built / nodes, 0, "plain C, malloc a node", plain_build / CHAIN);
  snprintf(row, sizeof row, "%s: a node in the graph", which);
  report(row, "bytes", bytes, 200, "", 0);
  snprintf(row, sizeof row, "%s: first run", which);
  report(row, "ms", first / 1e6, 2000, "plain C", plain_run / 1e6);
  snprintf(row, sizeof row, "%s: later runs", which);
  report(row, "ms", median(later, 5) / 1e6, 0, "plain C", plain_run / 1e6);
  finish(&p);
}

// ---- Larger kernels

enum { ELEMENTS = 1 << 20 };

typedef struct vectors {
  float *a, *b, *out;
} vectors;

static void plain_vector_add(void *argument) {
  const vectors *v = argument;
  for (int i = 0; i < ELEMENTS; i++) v->out[i] = v->a[i] + v->b[i];
}

static void plain_vector_chain(void *argument) {
  const vectors *v = argument;
  for (int i = 0; i < ELEMENTS; i++) v->out[i] = (v->a[i] + v->b[i]) * v->a[i] - v->b[i];
}

static rheos_tensor *vector(void) {
  rheos_tensor *t = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(ELEMENTS), &t));
  float *data = rheos_tensor_data(t);
  for (int i = 0; i < ELEMENTS; i++) data[i] = (float)(i % 1000) * 0.001f;
  return t;
}

static void bench_vectors(bool chain) {
  program p;
  start(&p);
  rheos_output feeds[] = {placeholder(p.s), placeholder(p.s)};
  rheos_output y = op_2(p.s, "Add", feeds[0], feeds[1]);
  if (chain) y = op_2(p.s, "Sub", op_2(p.s, "Mul", y, feeds[0]), feeds[1]);
  check(rheos_scope_finish(p.s));
  check(rheos_session_new(p.graph, NULL, &p.session));
  check(rheos_callable_new(p.session, feeds, 2, &y, 1, NULL, 0, &p.callable));
  p.values[0] = vector();
  p.values[1] = vector();
  vectors v = {rheos_tensor_data(p.values[0]), rheos_tensor_data(p.values[1]),
               malloc(ELEMENTS * sizeof(float))};
  if (!v.out) exit(1);
  double peer = time_calls(chain ? plain_vector_chain : plain_vector_add, &v, 20);
  report(chain ? "(a + b) * a - b, 1M floats, C" : "a + b, 1M floats, C", "us",
         time_calls(call, &p, 20) / 1e3, 0, "plain C loop, one thread", peer / 1e3);
  free(v.out);
  finish(&p);
}

int main(void) {
  bench_one_op();
  bench_linear_regression();
  bench_vectors(false);
  bench_vectors(true);
  bench_chain(false);
  bench_chain(true);
  return 0;
}
