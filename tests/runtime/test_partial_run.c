// Steps in parts, from C: what they compute is what a whole step computes, whatever the parts.
#include <pthread.h>
#include <rheos/rheos.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NUM_FEEDS = 12, NUM_NODES = 120 };

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

static void expect_invalid(rheos_status *status, const char *part) {
  assert_non_null(status);
  if (strstr(rheos_status_message(status), part) == NULL) {
    fail_msg("'%s' is not in '%s'", part, rheos_status_message(status));
  }
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  rheos_status_free(status);
}

// A graph of random sums, products and maxima over placeholders; some nodes wait for an update that
// counts. Each node knows the last placeholder that it needs.
typedef struct random_graph {
  rheos_graph *graph;
  rheos_scope *s;
  uint64_t state;
  rheos_feed feeds[NUM_FEEDS];
  rheos_output nodes[NUM_NODES], count, one;
  int last_feed[NUM_NODES];
  rheos_output fetches[NUM_NODES];  // in the order of the placeholders that they need
  int fetch_feed[NUM_NODES];
  size_t num_fetches;
  rheos_operation init;
} random_graph;

static int below(random_graph *g, int limit) {
  g->state = g->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int)((g->state >> 33) % (uint64_t)limit);
}

static rheos_output op(rheos_scope *s, const char *type, const rheos_output *inputs, size_t count) {
  return rheos_operation_output(
      rheos_op(s, &(rheos_op_args){.type = type, .inputs = inputs, .num_inputs = count}), 0);
}

static void add_node(random_graph *g, int i) {
  static const char *const types[] = {"Add", "Mul", "Maximum"};
  const int a = below(g, i), b = below(g, i);
  const rheos_output inputs[] = {g->nodes[a], g->nodes[b]}, counting[] = {g->count, g->one};
  g->last_feed[i] = g->last_feed[a] > g->last_feed[b] ? g->last_feed[a] : g->last_feed[b];
  if (below(g, 5) > 0) {
    g->nodes[i] = op(g->s, types[below(g, 3)], inputs, 2);
    return;
  }
  const rheos_operation before = {g->graph, g->nodes[b].id};
  rheos_push_control_dependencies(g->s, &before, 1);
  const rheos_operation counted = {g->graph, op(g->s, "AssignAdd", counting, 2).id};
  rheos_scope_pop(g->s);
  rheos_push_control_dependencies(g->s, &counted, 1);
  g->nodes[i] = op(g->s, "Tanh", inputs, 1);
  rheos_scope_pop(g->s);
}

static void build(random_graph *g, uint64_t seed) {
  *g = (random_graph){.graph = rheos_graph_new(), .state = seed};
  g->s = rheos_scope_new(g->graph);
  rheos_get_variable(g->s, "count", RHEOS_FLOAT, RHEOS_SCALAR, rheos_zeros());
  check(rheos_graph_output(g->graph, "count:0", &g->count));
  const float one = 1;
  rheos_tensor *value;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &one, &value));
  g->one = rheos_constant(g->s, value, "one");
  rheos_tensor_unref(value);
  for (int i = 0; i < NUM_FEEDS; i++) {
    const float number = (float)(below(g, 1000) - 500) / 500;
    const rheos_attr dtype = rheos_attr_type("dtype", RHEOS_FLOAT);
    g->nodes[i] = rheos_operation_output(
        rheos_op(g->s, &(rheos_op_args){.type = "Placeholder", .attrs = &dtype, .num_attrs = 1}),
        0);
    g->last_feed[i] = i;
    g->feeds[i].output = g->nodes[i];
    check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SCALAR, &number, &g->feeds[i].value));
  }
  for (int i = NUM_FEEDS; i < NUM_NODES; i++) add_node(g, i);
  for (int i = 0; i < NUM_FEEDS; i++) {
    for (int n = 0; n < NUM_NODES; n++) {
      if (g->last_feed[n] != i || below(g, 4) > 0) continue;
      g->fetch_feed[g->num_fetches] = i;
      g->fetches[g->num_fetches++] = g->nodes[n];
    }
  }
  g->init = rheos_global_variables_initializer(g->s);
  check(rheos_scope_finish(g->s));
}

static void free_graph(random_graph *g) {
  for (int i = 0; i < NUM_FEEDS; i++) rheos_tensor_unref(g->feeds[i].value);
  rheos_scope_free(g->s);
  rheos_graph_unref(g->graph);
}

static float take_float(rheos_tensor *tensor) {
  const float value = *(float *)rheos_tensor_data(tensor);
  rheos_tensor_unref(tensor);
  return value;
}

static void initialize(rheos_session *session, const random_graph *g) {
  check(rheos_session_run(session, NULL, 0, NULL, 0, &g->init, 1, NULL));
}

// The number of updates; it begins anew.
static float take_count(rheos_session *session, const random_graph *g) {
  rheos_fetch fetch = {g->count, NULL};
  check(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  initialize(session, g);
  return take_float(fetch.value);
}

static void run_whole(rheos_session *session, random_graph *g, float *results) {
  rheos_fetch fetches[NUM_NODES];
  for (size_t k = 0; k < g->num_fetches; k++) fetches[k] = (rheos_fetch){g->fetches[k], NULL};
  check(rheos_session_run(session, g->feeds, NUM_FEEDS, fetches, g->num_fetches, NULL, 0, NULL));
  for (size_t k = 0; k < g->num_fetches; k++) results[k] = take_float(fetches[k].value);
}

static int64_t set_up_step(rheos_session *session, const random_graph *g) {
  rheos_output feeds[NUM_FEEDS];
  int64_t handle;
  for (int i = 0; i < NUM_FEEDS; i++) feeds[i] = g->feeds[i].output;
  check(rheos_session_partial_setup(session, feeds, NUM_FEEDS, g->fetches, g->num_fetches, NULL, 0,
                                    &handle));
  assert_true(handle != 0);
  return handle;
}

// A placeholder in each part, and some of what can be computed then; the last part has the rest.
static void run_parts(rheos_session *session, random_graph *g, float *results) {
  const int64_t handle = set_up_step(session, g);
  size_t done = 0;
  for (int i = 0; i < NUM_FEEDS; i++) {
    rheos_fetch fetches[NUM_NODES];
    size_t count = 0;
    for (size_t k = done; k < g->num_fetches && g->fetch_feed[k] <= i; k++) {
      if (i < NUM_FEEDS - 1 && below(g, 4) == 0) break;
      fetches[count++] = (rheos_fetch){g->fetches[k], NULL};
    }
    check(rheos_session_partial_run(session, handle, &g->feeds[i], 1, fetches, count, NULL));
    for (size_t k = 0; k < count; k++) results[done + k] = take_float(fetches[k].value);
    done += count;
  }
  assert_int_equal(done, g->num_fetches);
  expect_invalid(rheos_session_partial_run(session, handle, NULL, 0, NULL, 0, NULL),
                 "Must run 'setup'");
}

static void test_partial_run__gives_what_a_whole_step_gives(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    random_graph g;
    rheos_session *session;
    float whole[NUM_NODES], parts[NUM_NODES];
    build(&g, seed);
    check(rheos_session_new(g.graph, NULL, &session));
    initialize(session, &g);
    run_whole(session, &g, whole);
    const float count = take_count(session, &g);
    for (int round = 0; round < 3; round++) {
      run_parts(session, &g, parts);
      assert_memory_equal(parts, whole, g.num_fetches * sizeof *whole);
      assert_true(take_count(session, &g) == count);  // each update ran once
    }
    rheos_session_free(session);
    free_graph(&g);
  }
}

static void test_partial_run__ends_with_its_session_or_before(void **state) {
  (void)state;
  random_graph g;
  rheos_session *session;
  build(&g, 7);
  check(rheos_session_new(g.graph, NULL, &session));
  initialize(session, &g);
  const int64_t first = set_up_step(session, &g), second = set_up_step(session, &g);
  assert_true(first != second);
  check(rheos_session_partial_run(session, first, g.feeds, 2, NULL, 0, NULL));
  check(rheos_session_partial_run(session, second, g.feeds, 1, NULL, 0, NULL));
  expect_invalid(rheos_session_partial_run(session, first, g.feeds, 1, NULL, 0, NULL),
                 "has already been fed");
  rheos_session_partial_end(session, first);
  rheos_session_partial_end(session, first);
  expect_invalid(rheos_session_partial_run(session, first, g.feeds + 2, 1, NULL, 0, NULL),
                 "Must run 'setup'");
  expect_invalid(rheos_session_partial_run(session, 0, NULL, 0, NULL, 0, NULL), "Must run 'setup'");
  rheos_session_close(session);
  rheos_status *status = rheos_session_partial_run(session, second, g.feeds + 1, 1, NULL, 0, NULL);
  assert_int_equal(rheos_status_code(status), RHEOS_FAILED_PRECONDITION);
  rheos_status_free(status);
  rheos_session_free(session);
  free_graph(&g);
}

static void test_partial_run__refuses_what_is_not_given(void **state) {
  (void)state;
  random_graph g;
  rheos_session *session;
  int64_t handle;
  rheos_output feed;
  build(&g, 5);
  feed = g.feeds[0].output;
  check(rheos_session_new(g.graph, NULL, &session));
  expect_invalid(rheos_session_partial_setup(NULL, &feed, 1, g.fetches, 1, NULL, 0, &handle), "");
  expect_invalid(rheos_session_partial_setup(session, NULL, 1, g.fetches, 1, NULL, 0, &handle), "");
  expect_invalid(rheos_session_partial_setup(session, &feed, 1, NULL, 1, NULL, 0, &handle), "");
  expect_invalid(rheos_session_partial_setup(session, &feed, 1, NULL, 0, NULL, 1, &handle), "");
  expect_invalid(rheos_session_partial_setup(session, &feed, 1, g.fetches, 1, NULL, 0, NULL), "");
  expect_invalid(rheos_session_partial_setup(session, &feed, 1, NULL, 0, NULL, 0, &handle),
                 "at least one target to fetch or execute");
  handle = set_up_step(session, &g);
  const rheos_feed none = {g.feeds[0].output, NULL};
  expect_invalid(rheos_session_partial_run(NULL, handle, NULL, 0, NULL, 0, NULL), "");
  expect_invalid(rheos_session_partial_run(session, handle, NULL, 1, NULL, 0, NULL), "");
  expect_invalid(rheos_session_partial_run(session, handle, NULL, 0, NULL, 1, NULL), "");
  expect_invalid(rheos_session_partial_run(session, handle, &none, 1, NULL, 0, NULL), "");
  rheos_session_partial_end(NULL, handle);
  rheos_session_free(session);
  free_graph(&g);
}

// ---- Threads with steps of their own

typedef struct worker {
  rheos_session *session;
  random_graph *g;
  float results[NUM_NODES];
} worker;

static void *work(void *argument) {
  worker *w = argument;
  random_graph own = *w->g;  // of which the state changes
  for (int i = 0; i < 10; i++) run_parts(w->session, &own, w->results);
  return NULL;
}

static void test_partial_run__threads_have_steps_of_their_own(void **state) {
  (void)state;
  enum { NUM_THREADS = 4 };
  random_graph g;
  worker workers[NUM_THREADS];
  pthread_t threads[NUM_THREADS];
  rheos_session *session;
  float whole[NUM_NODES];
  build(&g, 11);
  check(rheos_session_new(g.graph, NULL, &session));
  initialize(session, &g);
  run_whole(session, &g, whole);
  for (int i = 0; i < NUM_THREADS; i++) {
    workers[i] = (worker){.session = session, .g = &g};
    assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < NUM_THREADS; i++) {
    pthread_join(threads[i], NULL);
    assert_memory_equal(workers[i].results, whole, g.num_fetches * sizeof *whole);
  }
  rheos_session_free(session);
  free_graph(&g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_partial_run__gives_what_a_whole_step_gives),
      cmocka_unit_test(test_partial_run__ends_with_its_session_or_before),
      cmocka_unit_test(test_partial_run__refuses_what_is_not_given),
      cmocka_unit_test(test_partial_run__threads_have_steps_of_their_own),
  };
  return cmocka_run_group_tests_name("partial_run", tests, NULL, NULL);
}
