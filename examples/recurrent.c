// A recurrent net that is trained through a loop over time:
//
//   recurrent [STEPS]
//
// It reads sequences of random numbers one by one, and learns to tell the difference between the
// sums of their first and of their second halves. The loop runs as often as the sequence that is
// fed is long; gradients go back through it.
#include <rheos/rheos.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 32, UNITS = 16, TIME = 10 };

// What the functions that build need from outside.
typedef struct net {
  rheos_array inputs;  // by time, of [batch, 1]
  rheos_output time, from_input, from_state, bias;
} net;

// variables: the time, the state [batch, units]
static rheos_output goes_on(rheos_scope *s, void *argument, const rheos_output *variables,
                            size_t num_variables) {
  const net *n = (const net *)argument;
  (void)num_variables;
  return rheos_less(s, variables[0], n->time);
}

static void step(rheos_scope *s, void *argument, const rheos_output *variables, rheos_output *next,
                 size_t num_variables) {
  const net *n = (const net *)argument;
  (void)num_variables;
  rheos_output now = rheos_array_read(s, n->inputs, variables[0]);
  rheos_output sum = rheos_add(s, rheos_matmul(s, now, n->from_input),
                               rheos_matmul(s, variables[1], n->from_state));
  next[0] = rheos_add(s, variables[0], rheos_constant_int(s, 1, "one"));
  next[1] = rheos_tanh(s, rheos_add(s, sum, n->bias));
}

typedef struct model {
  rheos_output inputs, wanted, loss;
  rheos_operation init, train;
} model;

static rheos_output weights(rheos_scope *s, const char *name, int64_t rows, int64_t columns) {
  return rheos_get_variable(s, name, RHEOS_FLOAT, RHEOS_SHAPE(rows, columns),
                            rheos_glorot_uniform_initializer());
}

static void build(rheos_scope *s, model *m) {
  const rheos_shape sequences = RHEOS_SHAPE(-1, BATCH, 1), scalars = RHEOS_SHAPE(BATCH, 1);
  m->inputs = rheos_placeholder(s, RHEOS_FLOAT, .shape = &sequences, .name = "inputs");
  m->wanted = rheos_placeholder(s, RHEOS_FLOAT, .shape = &scalars, .name = "wanted");
  net n;
  n.time = rheos_gather(s, rheos_shape_op(s, m->inputs), rheos_constant_int(s, 0, "first"));
  const rheos_array_options each = {.element_shape = &scalars};
  n.inputs = rheos_array_unstack(s, rheos_array_new(s, RHEOS_FLOAT, n.time, &each), m->inputs);
  n.from_input = weights(s, "from_input", 1, UNITS);
  n.from_state = weights(s, "from_state", UNITS, UNITS);
  n.bias = rheos_get_variable(s, "bias", RHEOS_FLOAT, RHEOS_SHAPE(UNITS), rheos_zeros());
  rheos_output start[2], after[2];
  start[0] = rheos_constant_int(s, 0, "start");
  start[1] = rheos_matmul(s, rheos_zeros_like(s, m->wanted), n.from_input);
  rheos_while_loop(s, goes_on, step, &n, start, 2, NULL, after);
  rheos_output guess = rheos_matmul(s, after[1], weights(s, "to_output", UNITS, 1));
  rheos_output error = rheos_square(s, rheos_sub(s, guess, m->wanted));
  m->loss = rheos_mean(s, error,
                       rheos_range(s, rheos_constant_int(s, 0, NULL), rheos_rank(s, error),
                                   rheos_constant_int(s, 1, NULL)));
  m->train = rheos_minimize(s, rheos_adam(0.01), m->loss);
  m->init = rheos_global_variables_initializer(s);
}

static void draw(rheos_tensor *inputs, rheos_tensor *wanted) {
  float *x = (float *)rheos_tensor_data(inputs), *y = (float *)rheos_tensor_data(wanted);
  for (int b = 0; b < BATCH; b++) y[b] = 0;
  for (int t = 0; t < TIME; t++) {
    for (int b = 0; b < BATCH; b++) {
      const float value = (float)rand() / (float)RAND_MAX - 0.5F;
      x[t * BATCH + b] = value;
      y[b] += t < TIME / 2 ? value : -value;
    }
  }
}

static rheos_status *train(rheos_session *session, const model *m, int num_steps) {
  rheos_tensor *inputs = NULL, *wanted = NULL;
  rheos_status *status = rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(TIME, BATCH, 1), &inputs);
  if (status == NULL) status = rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(BATCH, 1), &wanted);
  for (int i = 1; i <= num_steps && status == NULL; i++) {
    draw(inputs, wanted);
    const rheos_feed feeds[] = {{m->inputs, inputs}, {m->wanted, wanted}};
    rheos_fetch loss = {m->loss, NULL};
    status = rheos_session_run(session, feeds, 2, &loss, 1, &m->train, 1, NULL);
    if (status == NULL && (i == 1 || i % 100 == 0)) {
      printf("step %d: loss %.4f\n", i, *(const float *)rheos_tensor_data(loss.value));
    }
    rheos_tensor_unref(loss.value);
  }
  rheos_tensor_unref(inputs);
  rheos_tensor_unref(wanted);
  return status;
}

int main(int argc, char **argv) {
  rheos_graph *graph = rheos_graph_new();
  if (graph != NULL) rheos_graph_set_seed(graph, true, 1);
  rheos_scope *scope = rheos_scope_new(graph);
  rheos_session *session = NULL;
  model m;
  build(scope, &m);
  rheos_status *status = rheos_scope_finish(scope);
  if (status == NULL) status = rheos_session_new(graph, NULL, &session);
  if (status == NULL) status = rheos_session_run(session, NULL, 0, NULL, 0, &m.init, 1, NULL);
  if (status == NULL) status = train(session, &m, argc > 1 ? atoi(argv[1]) : 500);
  if (status != NULL) fprintf(stderr, "recurrent: %s\n", rheos_status_message(status));
  int failed = status != NULL;
  rheos_status_free(status);
  rheos_session_free(session);
  rheos_scope_free(scope);
  rheos_graph_unref(graph);
  return failed;
}
