// Gradients of loops built in C: against differences, and building when memory is short. That the
// nodes are TensorFlow's is shown by tests/python/ops/test_loop_gradients.py.
#include <math.h>
#include <rheos/control_flow.h>
#include <rheos/format.h>
#include <rheos/gradients.h>
#include <rheos/session.h>

#include "graph/graph_fixture.h"

#include "graph/build.h"
#include "graph/counting_allocator.h"

// x, w and the number of trips, and what is made of them.
typedef struct program {
  rheos_output x, w, n, y;
} program;

static rheos_output placeholder(rheos_scope *s, rheos_dtype dtype, const char *name) {
  const rheos_shape shape = RHEOS_SCALAR;
  const rheos_attr attrs[] = {rheos_attr_type("dtype", dtype), rheos_attr_shape("shape", &shape)};
  return rheos_operation_output(rheos__op_n(s, "Placeholder", name, NULL, 0, attrs, 2), 0);
}

static rheos_output below_n(rheos_scope *s, void *argument, const rheos_output *variables,
                            size_t num_variables) {
  (void)num_variables;
  return rheos__op_2(s, "Less", variables[0], ((const program *)argument)->n);
}

static rheos_output next_trip(rheos_scope *s, rheos_output trip) {
  return rheos__op_2(s, "Add", trip, rheos_constant_int(s, 1, "one"));
}

static void sine(rheos_scope *s, void *argument, rheos_output *outputs, size_t num_outputs) {
  for (size_t i = 0; i < num_outputs; i++) {
    outputs[i] = rheos__op_1(s, "Sin", *(const rheos_output *)argument);
  }
}

static void itself(rheos_scope *s, void *argument, rheos_output *outputs, size_t num_outputs) {
  (void)s;
  for (size_t i = 0; i < num_outputs; i++) outputs[i] = *(const rheos_output *)argument;
}

// sin(x * w) in the first trips, then x * w.
static void branching(rheos_scope *s, void *argument, const rheos_output *variables,
                      rheos_output *next, size_t num_variables) {
  (void)num_variables;
  rheos_output product = rheos__op_2(s, "Mul", variables[1], ((const program *)argument)->w);
  const rheos_output first = rheos__op_2(s, "Less", variables[0], rheos_constant_int(s, 2, "two"));
  next[0] = next_trip(s, variables[0]);
  rheos_cond(s, first, sine, itself, &product, NULL, &next[1], 1);
}

// As many trips of a loop within as the loop around has made.
static void nesting(rheos_scope *s, void *argument, const rheos_output *variables,
                    rheos_output *next, size_t num_variables) {
  (void)num_variables;
  program inner = *(const program *)argument;
  inner.n = variables[0];
  const rheos_output start[] = {rheos_constant_int(s, 0, "zero"), variables[1]};
  rheos_output after[2];
  rheos_while_loop(s, below_n, branching, &inner, start, 2, NULL, after);
  next[0] = next_trip(s, variables[0]);
  next[1] = rheos__op_2(s, "Mul", after[1], inner.w);
}

static program build(rheos_scope *s, rheos_body_function body) {
  program p = {placeholder(s, RHEOS_DOUBLE, "x"),
               placeholder(s, RHEOS_DOUBLE, "w"),
               placeholder(s, RHEOS_INT32, "n"),
               {NULL, 0, 0}};
  const rheos_output start[] = {rheos_constant_int(s, 0, "zero"), p.x};
  rheos_output after[2] = {{NULL, 0, 0}, {NULL, 0, 0}};
  rheos_while_loop(s, below_n, body, &p, start, 2, NULL, after);
  p.y = after[1];
  return p;
}

static double compute(rheos_session *session, const program *p, rheos_output fetched, double x,
                      double w, int32_t n) {
  rheos_tensor *values[3];
  assert_ok(rheos_tensor_from_values(RHEOS_DOUBLE, RHEOS_SCALAR, &x, &values[0]));
  assert_ok(rheos_tensor_from_values(RHEOS_DOUBLE, RHEOS_SCALAR, &w, &values[1]));
  assert_ok(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &n, &values[2]));
  const rheos_feed feeds[] = {{p->x, values[0]}, {p->w, values[1]}, {p->n, values[2]}};
  rheos_fetch fetch = {.output = fetched};
  assert_ok(rheos_session_run(session, feeds, 3, &fetch, 1, NULL, 0, NULL));
  const double result = *(const double *)rheos_tensor_data(fetch.value);
  rheos_tensor_unref(fetch.value);
  for (int i = 0; i < 3; i++) rheos_tensor_unref(values[i]);
  return result;
}

// Makes the gradients, and compares them with differences.
static void check_slopes(graph_fixture *f, const program *p, const int32_t *trips,
                         int32_t num_trips) {
  assert_scope_ok(f->scope);
  const rheos_output xs[] = {p->x, p->w};
  rheos_gradient slopes[2];
  rheos_gradients(f->scope, &p->y, 1, xs, 2, NULL, slopes);
  assert_scope_ok(f->scope);
  rheos_session *session = NULL;
  assert_ok(rheos_session_new(f->graph, NULL, &session));
  const double x = 0.75, w = 0.9, h = 1e-6;
  for (int32_t i = 0; i < num_trips; i++) {
    const int32_t n = trips[i];
    const double by_x =
        (compute(session, p, p->y, x + h, w, n) - compute(session, p, p->y, x - h, w, n)) / (2 * h);
    const double by_w =
        (compute(session, p, p->y, x, w + h, n) - compute(session, p, p->y, x, w - h, n)) / (2 * h);
    assert_true(fabs(compute(session, p, slopes[0].values, x, w, n) - by_x) < 1e-7);
    assert_true(fabs(compute(session, p, slopes[1].values, x, w, n) - by_w) < 1e-7);
  }
  rheos_session_free(session);
}

static void check(rheos_body_function body, const int32_t *trips, int32_t num_trips) {
  graph_fixture f = fixture_new();
  const program p = build(f.scope, body);
  check_slopes(&f, &p, trips, num_trips);
  fixture_free(&f);
}

static void test_loop__has_the_gradients_that_differences_have(void **state) {
  (void)state;
  const int32_t trips[] = {0, 1, 2, 7, 100000};
  check(branching, trips, 5);
}

static void test_loop_within_a_loop__has_them_too(void **state) {
  (void)state;
  const int32_t trips[] = {0, 1, 2, 7};
  check(nesting, trips, 4);
}

static rheos_output output_named(graph_fixture *f, const char *name) {
  rheos_output output;
  assert_ok(rheos_graph_output(f->graph, name, &output));
  return output;
}

// A file of the program, imported twice: the second takes what the first gives.
static void import_twice(graph_fixture *f, const void *bytes, size_t size_bytes) {
  const rheos_import_options first = {.prefix = "a"};
  rheos_import_graph_def(f->scope, bytes, size_bytes, &first);
  rheos_import_mapping mappings[] = {{.from = "x", .to = output_named(f, "a/y:0")},
                                     {.from = "w", .to = output_named(f, "a/w:0")},
                                     {.from = "n", .to = output_named(f, "a/n:0")}};
  const rheos_import_options second = {.prefix = "b", .input_map = mappings, .num_mappings = 3};
  rheos_import_graph_def(f->scope, bytes, size_bytes, &second);
  assert_scope_ok(f->scope);
}

static void check_imported(rheos_body_function body) {
  graph_fixture f = fixture_new();
  const program p = build(f.scope, body);
  rheos__op_n(f.scope, "Identity", "y", &p.y, 1, NULL, 0);
  void *bytes = NULL;
  size_t size_bytes = 0;
  assert_ok(rheos_graph_to_graph_def(f.graph, &bytes, &size_bytes));
  fixture_free(&f);
  f = fixture_new();
  import_twice(&f, bytes, size_bytes);
  rheos_free(bytes);
  const program both = {.x = output_named(&f, "a/x:0"),
                        .w = output_named(&f, "a/w:0"),
                        .n = output_named(&f, "a/n:0"),
                        .y = output_named(&f, "b/y:0")};
  const int32_t trips[] = {0, 1, 2, 5};
  check_slopes(&f, &both, trips, 4);
  fixture_free(&f);
}

static void test_loops_of_a_file__have_gradients_however_often_it_is_imported(void **state) {
  (void)state;
  check_imported(branching);
  check_imported(nesting);
}

static void test_gradient_of_a_gradient_of_a_loop__is_refused(void **state) {
  (void)state;
  graph_fixture f = fixture_new();
  const program p = build(f.scope, branching);
  rheos_gradient slope, second;
  rheos_gradients(f.scope, &p.y, 1, &p.w, 1, NULL, &slope);
  assert_scope_ok(f.scope);
  rheos_gradients(f.scope, &slope.values, 1, &p.w, 1, NULL, &second);
  expect_error(f.scope, RHEOS_UNIMPLEMENTED, "Second-order gradient for while loops");
  fixture_free(&f);
}

// Builds a loop with its gradients; whether memory was enough.
static bool build_and_free(void) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = graph != NULL ? rheos_scope_new(graph) : NULL;
  bool enough = false;
  if (s != NULL) {
    const program p = build(s, nesting);
    const rheos_output xs[] = {p.x, p.w};
    rheos_gradient slopes[2];
    rheos_gradients(s, &p.y, 1, xs, 2, NULL, slopes);
    rheos_status *status = rheos_scope_finish(s);
    enough = status == NULL;
    if (status != NULL) assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
    rheos_status_free(status);
  }
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  return enough;
}

static bool fails_cleanly(int64_t fail_at, bool fail_after) {
  counting_allocator counter = {.fail_at = fail_at, .fail_after = fail_after};
  counting_allocator_install(&counter);
  const bool enough = build_and_free();
  rheos_set_allocator(NULL);
  assert_int_equal(counter.alive, 0);
  return !enough;
}

static void test_gradients_of_loops__fail_with_a_status_when_memory_is_short(void **state) {
  (void)state;
  assert_true(build_and_free());  // what is made once for the process
  int64_t request = 1;
  while (fails_cleanly(request, true)) request++;
  assert_true(request > 20);
  for (int64_t i = 1; i < request; i++) fails_cleanly(i, false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_loop__has_the_gradients_that_differences_have),
      cmocka_unit_test(test_loop_within_a_loop__has_them_too),
      cmocka_unit_test(test_loops_of_a_file__have_gradients_however_often_it_is_imported),
      cmocka_unit_test(test_gradient_of_a_gradient_of_a_loop__is_refused),
      cmocka_unit_test(test_gradients_of_loops__fail_with_a_status_when_memory_is_short),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
