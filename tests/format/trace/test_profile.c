// What operations and bodies took, added up over traces.
#include <rheos/rheos.h>

#include "graph/counting_allocator.h"
#include "graph/graph_fixture.h"

enum { TRIPS = 5, RUNS = 3 };

static rheos_output goes_on(rheos_scope *s, void *argument, const rheos_output *variables,
                            size_t num_variables) {
  (void)argument;
  (void)num_variables;
  return rheos_less(s, variables[0], rheos_const_f32(s, TRIPS));
}

static void step(rheos_scope *s, void *argument, const rheos_output *variables, rheos_output *next,
                 size_t num_variables) {
  (void)argument;
  (void)num_variables;
  next[0] = rheos_add(s, variables[0], rheos_const_f32(s, 1));
}

typedef struct fixture {
  graph_fixture graph;
  rheos_session *session;
  rheos_output x, end;
  rheos_trace *trace;
} fixture;

// A loop from x on: its trips are known when it runs.
static fixture set_up(void) {
  fixture f = {.graph = fixture_new()};
  rheos_scope *s = f.graph.scope;
  f.x = rheos_placeholder(s, RHEOS_FLOAT, .shape = &RHEOS_SCALAR, .name = "x");
  rheos_while_loop(s, goes_on, step, NULL, &f.x, 1, NULL, &f.end);
  f.end = rheos_sqrt(s, f.end);
  assert_scope_ok(s);
  assert_ok(rheos_session_new(f.graph.graph, NULL, &f.session));
  f.trace = rheos_trace_new(RHEOS_TRACE_STEPS);
  return f;
}

static void tear_down(fixture *f) {
  rheos_trace_free(f->trace);
  rheos_session_free(f->session);
  fixture_free(&f->graph);
}

static void run(const fixture *f) {
  const float zero = 0;
  rheos_tensor *value;
  assert_ok(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &zero, &value));
  const rheos_feed feed = {f->x, value};
  rheos_fetch fetch = {.output = f->end};
  const rheos_run_options options = {.trace = f->trace};
  assert_ok(rheos_session_run(f->session, &feed, 1, &fetch, 1, NULL, 0, &options));
  rheos_tensor_unref(fetch.value);
  rheos_tensor_unref(value);
}

static void test_profile__counts_operations_and_bodies_of_all_traces(void **state) {
  (void)state;
  fixture f = set_up();
  rheos_profile *profile = rheos_profile_new();
  int64_t all_ns = 0, ns;
  for (int i = 0; i < RUNS; i++) {
    rheos_trace_clear(f.trace);
    run(&f);
    assert_ok(rheos_profile_add(profile, f.trace, &ns));
    assert_true(ns > 0);
    all_ns += ns;
  }
  int64_t sum_ns = 0, num_roots = 0;
  for (size_t i = 0; i < rheos_profile_num_ops(profile); i++) {
    const rheos_profile_op op = rheos_profile_op_at(profile, i);
    sum_ns += op.ns;
    if (strcmp(op.op, "Sqrt") == 0) num_roots = op.count;
  }
  assert_int_equal(sum_ns, all_ns);
  assert_int_equal(num_roots, RUNS);
  // The graph may be gone.
  tear_down(&f);
  bool has_body = false;
  for (size_t i = 0; i < rheos_profile_num_bodies(profile); i++) {
    const rheos_profile_body body = rheos_profile_body_at(profile, i);
    assert_memory_equal(body.node, "while/", 6);
    assert_true(body.ns > 0);
    has_body |= strcmp(body.body, "body") == 0;
    assert_int_equal(body.runs, strcmp(body.body, "body") == 0 ? RUNS * TRIPS : RUNS * (TRIPS + 1));
  }
  assert_true(has_body);
  assert_null(rheos_profile_op_at(profile, rheos_profile_num_ops(profile)).op);
  assert_null(rheos_profile_body_at(profile, rheos_profile_num_bodies(profile)).body);
  rheos_profile_free(profile);
}

static void test_profile__nothing_is_empty(void **state) {
  (void)state;
  rheos_profile *profile = rheos_profile_new();
  rheos_trace *trace = rheos_trace_new(RHEOS_TRACE_STEPS);
  assert_ok(rheos_profile_add(profile, trace, NULL));
  assert_int_equal(rheos_profile_num_ops(profile) + rheos_profile_num_ops(NULL), 0);
  assert_int_equal(rheos_profile_num_bodies(profile) + rheos_profile_num_bodies(NULL), 0);
  rheos_trace_free(trace);
  rheos_profile_free(profile);
  rheos_profile_free(NULL);
}

static void test_profile__survives_short_memory(void **state) {
  (void)state;
  counting_allocator counter = {0};
  counting_allocator_install(&counter);
  fixture f = set_up();
  run(&f);
  int failures = 0;
  for (int64_t n = 1; n < 200; n++) {
    rheos_profile *profile = rheos_profile_new();
    counter.requests = 0;
    counter.fail_at = n;
    rheos_status *status = rheos_profile_add(profile, f.trace, NULL);
    const bool was_met = counter.requests >= n;
    counter.fail_at = 0;
    if (status != NULL) assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
    failures += status != NULL;
    rheos_status_free(status);
    rheos_profile_free(profile);
    if (!was_met) break;
  }
  tear_down(&f);
  rheos_set_allocator(NULL);
  assert_int_equal(counter.alive, 0);
  assert_true(failures > 5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_profile__counts_operations_and_bodies_of_all_traces),
      cmocka_unit_test(test_profile__nothing_is_empty),
      cmocka_unit_test(test_profile__survives_short_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
