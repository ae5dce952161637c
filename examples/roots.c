// Square roots by Newton's steps, in a graph with a loop and a conditional:
//
//   roots [NUMBER ...]
//
// The loop runs until a step changes next to nothing, or for 50 steps; negative numbers have no
// root, and for them the other branch, without a loop, is taken.
#include <math.h>
#include <rheos/rheos.h>
#include <stdio.h>
#include <stdlib.h>

// What the functions that build need from outside.
typedef struct problem {
  rheos_output number, zero, half, enough;
} problem;

// variables: the guess, and how far the step before moved it.
static rheos_output moves(rheos_scope *s, void *argument, const rheos_output *variables,
                          size_t num_variables) {
  const problem *p = (const problem *)argument;
  (void)num_variables;
  return rheos_greater(s, variables[1], p->enough);
}

static void newton_step(rheos_scope *s, void *argument, const rheos_output *variables,
                        rheos_output *next, size_t num_variables) {
  const problem *p = (const problem *)argument;
  (void)num_variables;
  rheos_output sum = rheos_add(s, variables[0], rheos_realdiv(s, p->number, variables[0]));
  next[0] = rheos_mul(s, p->half, sum);
  next[1] = rheos_abs(s, rheos_sub(s, next[0], variables[0]));
}

static void root(rheos_scope *s, void *argument, rheos_output *outputs, size_t num_outputs) {
  const problem *p = (const problem *)argument;
  const rheos_output start[] = {rheos_add(s, p->number, p->half), p->half};
  const rheos_while_options options = {.max_iterations = rheos_constant_int(s, 50, "most")};
  rheos_output after[2];
  rheos_while_loop(s, moves, newton_step, argument, start, 2, &options, after);
  for (size_t i = 0; i < num_outputs; i++) outputs[i] = after[i];
}

static void no_root(rheos_scope *s, void *argument, rheos_output *outputs, size_t num_outputs) {
  (void)argument;
  for (size_t i = 0; i < num_outputs; i++) outputs[i] = rheos_constant_float(s, NAN, "no_root");
}

static rheos_status *build(rheos_graph *graph, rheos_output *out_number, rheos_output *out_root) {
  rheos_scope *s = rheos_scope_new(graph);
  if (s == NULL) return rheos_status_new(RHEOS_RESOURCE_EXHAUSTED, "out of memory");
  const rheos_shape scalar = RHEOS_SCALAR;
  problem p;
  p.number = rheos_placeholder(s, RHEOS_FLOAT, .shape = &scalar, .name = "number");
  p.zero = rheos_constant_float(s, 0, "zero");
  p.half = rheos_constant_float(s, 0.5F, "half");
  p.enough = rheos_constant_float(s, 1e-6F, "enough");
  rheos_output has_root = rheos_greater_equal(s, p.number, p.zero);
  rheos_cond(s, has_root, root, no_root, &p, NULL, out_root, 1);
  *out_number = p.number;
  rheos_status *status = rheos_scope_finish(s);
  rheos_scope_free(s);
  return status;
}

static rheos_status *print_root(rheos_session *session, rheos_output number, rheos_output root_of,
                                float value) {
  rheos_tensor *tensor;
  rheos_status *status = rheos_tensor_new(RHEOS_FLOAT, RHEOS_SCALAR, &tensor);
  if (status != NULL) return status;
  *(float *)rheos_tensor_data(tensor) = value;
  rheos_feed feed = {number, tensor};
  rheos_fetch fetch = {root_of, NULL};
  status = rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL);
  if (status == NULL) printf("%g: %g\n", value, *(const float *)rheos_tensor_data(fetch.value));
  rheos_tensor_unref(fetch.value);
  rheos_tensor_unref(tensor);
  return status;
}

int main(int argc, char **argv) {
  rheos_graph *graph = rheos_graph_new();
  rheos_output number, root_of;
  rheos_session *session = NULL;
  rheos_status *status = build(graph, &number, &root_of);
  if (status == NULL) status = rheos_session_new(graph, NULL, &session);
  for (int i = 1; i < argc && status == NULL; i++) {
    status = print_root(session, number, root_of, strtof(argv[i], NULL));
  }
  if (argc == 1 && status == NULL) status = print_root(session, number, root_of, 2);
  if (status != NULL) fprintf(stderr, "roots: %s\n", rheos_status_message(status));
  int failed = status != NULL;
  rheos_status_free(status);
  rheos_session_free(session);
  rheos_graph_unref(graph);
  return failed;
}
