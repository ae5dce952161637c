// What a step does between its waits: which nodes are a stretch, that a step gives the same with
// stretches and without, in whatever order what it waits for comes.
#include <pthread.h>
#include <rheos/control_flow.h>
#include <rheos/ops.h>

#include "graph/counting_allocator.h"
#include "ops/queue_fixture.h"
#include "plan/plan_text.h"
#include "plan/printed.h"
#include "runtime/call/bodies.h"

static counting_allocator counter;

// ---- Graphs

static rheos_output queue_of(fixture *f, const char *name) {
  return scalar_queue(f, "FIFOQueueV2", RHEOS_FLOAT, 20, name);
}

static rheos_output taken(fixture *f, rheos_output queue) {
  return dequeued(f, RHEOS_FLOAT, queue);
}

static rheos_operation put(fixture *f, rheos_output queue, rheos_output value) {
  return add(f, "QueueEnqueueV2", (const rheos_output[]){queue, value}, 2, NULL, 0);
}

// Two queues, and what puts a 3 into the first and a 4 into the second.
typedef struct pair {
  rheos_output a, b;
  rheos_operation fill[2];
} pair;

static pair two_queues(fixture *f) {
  pair q = {.a = queue_of(f, "a"), .b = queue_of(f, "b")};
  q.fill[0] = put(f, q.a, float_scalar(f, 3));
  q.fill[1] = put(f, q.b, float_scalar(f, 4));
  return q;
}

static rheos_output twice_and_one(fixture *f, rheos_output x) {
  return rheos_add(f->scope, rheos_mul(f->scope, x, float_scalar(f, 2)), float_scalar(f, 1));
}

// ---- Plans

typedef struct counts {
  int stretches, entries;
  bool is_on_tokens, has_bodies_on_tokens;
} counts;

static counts counts_of(fixture *f, const rheos_output *fetches, int num_fetches,
                        rheos_toggle raises) {
  check(rheos_scope_finish(f->scope));
  rheos__plan_context context = {.resources = rheos__resources_new(),
                                 .devices = plan_devices(),
                                 .num_devices = 1,
                                 .rewrites.raise_control_flow = raises};
  rheos__bodies *bodies = rheos__bodies_new(&context);
  context.bodies = bodies;
  rheos__edge edges[8];
  for (int i = 0; i < num_fetches; i++) edges[i] = (rheos__edge){fetches[i].id, fetches[i].index};
  rheos__plan *plan = NULL;
  check(rheos__plan_new(f->graph, &context, NULL, 0, edges, num_fetches, NULL, 0, &plan));
  counts found = {.entries = plan->num_entries, .is_on_tokens = plan->flow != NULL};
  for (rheos__structure *s = plan->structures; s != NULL; s = s->next) {
    if (s->kind != RHEOS__STRETCH) continue;
    found.stretches++;
    const rheos__plan *body = NULL;
    check(rheos__graph_part_plan(bodies, &s->parts[0], &body));
    found.has_bodies_on_tokens = found.has_bodies_on_tokens || body->flow != NULL;
  }
  rheos__plan_free(plan);
  rheos__bodies_clear(bodies);
  rheos__bodies_unref(bodies);
  rheos__resources_free(context.resources);
  return found;
}

// ---- Runs

static float run_in(rheos_session *session, rheos_output fetched) {
  rheos_fetch fetch = {fetched, NULL};
  const rheos_run_options options = {.timeout_ms = 20000};
  check(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, &options));
  const float value = *(const float *)rheos_tensor_data(fetch.value);
  rheos_tensor_unref(fetch.value);
  return value;
}

static rheos_status *run_operations(rheos_session *session, const rheos_operation *operations,
                                    size_t count) {
  const rheos_run_options options = {.timeout_ms = 20000};
  return rheos_session_run(session, NULL, 0, NULL, 0, operations, count, &options);
}

// What the fetch gives after the operations have run one after the other, with stretches and
// without.
static void expect(fixture *f, const rheos_operation *before, int num_before, rheos_output fetch,
                   float expected) {
  check(rheos_scope_finish(f->scope));
  const rheos_toggle toggles[] = {RHEOS_TOGGLE_DEFAULT, RHEOS_TOGGLE_OFF};
  for (int i = 0; i < 2; i++) {
    rheos_session *session = NULL;
    const rheos_session_options options = {.rewrites.raise_control_flow = toggles[i]};
    check(rheos_session_new(f->graph, &options, &session));
    for (int k = 0; k < num_before; k++) check(run_operations(session, &before[k], 1));
    assert_true(run_in(session, fetch) == expected);
    rheos_session_free(session);
  }
}

// ---- What is a stretch

static void test_stretches__are_what_waits_for_the_same(void **state) {
  fixture *f = *state;
  const pair q = two_queues(f);
  const rheos_output x = twice_and_one(f, taken(f, q.a)), y = twice_and_one(f, taken(f, q.b));
  const rheos_output all = twice_and_one(f, rheos_mul(f->scope, x, y));
  const counts found = counts_of(f, &all, 1, RHEOS_TOGGLE_DEFAULT);
  assert_true(found.is_on_tokens && !found.has_bodies_on_tokens);
  assert_int_equal(found.stretches, 3);
  assert_int_equal(found.entries, 7);  // and two queues, and what waits for them
  assert_int_equal(counts_of(f, &all, 1, RHEOS_TOGGLE_OFF).stretches, 0);
  expect(f, q.fill, 2, all, 127);
}

static void test_stretches__one_node_is_none(void **state) {
  fixture *f = *state;
  const pair q = two_queues(f);
  const rheos_output sum = rheos_add(f->scope, taken(f, q.a), taken(f, q.b));
  assert_int_equal(counts_of(f, &sum, 1, RHEOS_TOGGLE_DEFAULT).stretches, 0);
  expect(f, q.fill, 2, sum, 7);
}

static void add_three(rheos_scope *s, void *argument, rheos_output *outputs, size_t count) {
  (void)count;
  outputs[0] = rheos_add(s, *(const rheos_output *)argument, rheos_constant_float(s, 3, NULL));
}

static void halve(rheos_scope *s, void *argument, rheos_output *outputs, size_t count) {
  (void)count;
  outputs[0] = rheos_mul(s, *(const rheos_output *)argument, rheos_constant_float(s, 0.5F, NULL));
}

static rheos_output below_hundred(rheos_scope *s, void *unused, const rheos_output *v,
                                  size_t count) {
  (void)unused, (void)count;
  return rheos_less(s, v[0], rheos_constant_float(s, 100, NULL));
}

static void double_it(rheos_scope *s, void *unused, const rheos_output *v, rheos_output *next,
                      size_t count) {
  (void)unused, (void)count;
  next[0] = rheos_mul(s, v[0], rheos_constant_float(s, 2, NULL));
}

// Each is in one stretch with what waits for the same.
static void test_stretches__hold_loops_and_conditionals(void **state) {
  fixture *f = *state;
  const pair q = two_queues(f);
  rheos_output x = taken(f, q.a), y = taken(f, q.b), chosen = {0}, end = {0};
  rheos_cond(f->scope, rheos_less(f->scope, y, float_scalar(f, 9)), add_three, halve, &x, NULL,
             &chosen, 1);
  rheos_while_loop(f->scope, below_hundred, double_it, NULL, &x, 1, NULL, &end);
  const rheos_output all = rheos_add(f->scope, chosen, end);
  const counts found = counts_of(f, &all, 1, RHEOS_TOGGLE_DEFAULT);
  assert_true(found.is_on_tokens && !found.has_bodies_on_tokens);
  assert_int_equal(found.stretches, 2);
  expect(f, q.fill, 2, all, 198);
}

static void take_and_add(rheos_scope *s, void *argument, rheos_output *outputs, size_t count) {
  (void)count;
  fixture inside = {.scope = s};
  outputs[0] = twice_and_one(&inside, taken(&inside, *(const rheos_output *)argument));
}

// What waits in a branch may be dead, so all of it stays on tokens.
static void test_stretches__are_none_around_a_branch_that_waits(void **state) {
  fixture *f = *state;
  rheos_output a = queue_of(f, "a"), b = queue_of(f, "b"), chosen = {0};
  const rheos_operation fill[] = {put(f, a, float_scalar(f, 3)), put(f, b, float_scalar(f, 4))};
  const rheos_output y = twice_and_one(f, taken(f, b));
  rheos_cond(f->scope, rheos_less(f->scope, y, float_scalar(f, 10)), take_and_add, take_and_add, &a,
             NULL, &chosen, 1);
  const rheos_output all = rheos_add(f->scope, chosen, y);
  assert_int_equal(counts_of(f, &all, 1, RHEOS_TOGGLE_DEFAULT).stretches, 0);
  expect(f, fill, 2, all, 16);
}

// A value that only passes is on both sides; what waits for it there does not wait for its own
// stretch.
static void test_stretches__wait_for_what_passes_a_value_on(void **state) {
  fixture *f = *state;
  const pair q = two_queues(f);
  const rheos_output x = twice_and_one(f, taken(f, q.a)), y = taken(f, q.b);
  const rheos_output passed = rheos_operation_output(add(f, "Identity", &x, 1, NULL, 0), 0);
  const rheos_operation awaited = rheos_output_operation(passed);
  rheos_push_control_dependencies(f->scope, &awaited, 1);
  const rheos_output same = rheos_mul(f->scope, x, float_scalar(f, 10));
  const rheos_output other = rheos_mul(f->scope, y, float_scalar(f, 2));
  rheos_scope_pop(f->scope);
  const rheos_output all = rheos_add(f->scope, rheos_add(f->scope, same, other), passed);
  assert_true(counts_of(f, &all, 1, RHEOS_TOGGLE_DEFAULT).stretches >= 2);
  expect(f, q.fill, 2, all, 85);
}

// ---- Variables

static rheos_output variable(fixture *f, float value, rheos_operation *out_initializer) {
  const rheos_shape scalar = {.rank = 0};
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &scalar)};
  const rheos_output v = rheos_operation_output(add(f, "VariableV2", NULL, 0, attrs, 2), 0);
  *out_initializer =
      add(f, "Assign", (const rheos_output[]){v, float_scalar(f, value)}, 2, NULL, 0);
  return v;
}

static rheos_output added_to(fixture *f, rheos_output v, rheos_output value) {
  return rheos_operation_output(add(f, "AssignAdd", (const rheos_output[]){v, value}, 2, NULL, 0),
                                0);
}

// A stretch that is ordered behind a write reads what was written, one that waits for less reads
// before.
static void test_stretches__read_in_the_order_of_levels(void **state) {
  fixture *f = *state;
  rheos_operation before[3];
  const rheos_output v = variable(f, 10, &before[0]);
  const rheos_output a = queue_of(f, "a"), b = queue_of(f, "b");
  before[1] = put(f, a, float_scalar(f, 3));
  before[2] = put(f, b, float_scalar(f, 4));
  const rheos_output x = taken(f, a), y = taken(f, b);
  const rheos_output early = twice_and_one(f, rheos_mul(f->scope, x, v));  // 61
  const rheos_output sum = twice_and_one(f, rheos_add(f->scope, x, y));    // 15
  const rheos_output added = added_to(f, v, sum);                          // 25
  const rheos_operation write = rheos_output_operation(added);
  rheos_push_control_dependencies(f->scope, &write, 1);
  const rheos_output late = rheos_mul(f->scope, v, y);  // 100
  rheos_scope_pop(f->scope);
  const rheos_output all = rheos_add(f->scope, early, late);
  assert_true(counts_of(f, &all, 1, RHEOS_TOGGLE_DEFAULT).stretches >= 2);
  expect(f, before, 3, all, 161);
}

// A reference that is fetched, or goes into what waits, is given by a node on tokens.
static void test_stretches__give_references(void **state) {
  fixture *f = *state;
  rheos_operation before[3];
  const rheos_output v = variable(f, 10, &before[0]);
  const rheos_output a = queue_of(f, "a"), b = queue_of(f, "b"), c = queue_of(f, "c");
  before[1] = put(f, a, float_scalar(f, 3));
  before[2] = put(f, b, float_scalar(f, 4));
  const rheos_output sum = twice_and_one(f, rheos_add(f->scope, taken(f, a), taken(f, b)));
  const rheos_output added = added_to(f, v, sum);  // 25
  const rheos_operation out = put(f, c, added);
  rheos_push_control_dependencies(f->scope, &out, 1);
  const rheos_output back = taken(f, c);
  rheos_scope_pop(f->scope);
  const rheos_output more = twice_and_one(f, rheos_add(f->scope, back, added));  // 101
  expect(f, before, 3, more, 101);
}

// What waits for a read waits for the write that it reads, which is not made again.
static void test_stretches__write_once(void **state) {
  fixture *f = *state;
  rheos_operation before[3];
  const rheos_output v = variable(f, 10, &before[0]);
  const rheos_output a = queue_of(f, "a"), b = queue_of(f, "b");
  before[1] = put(f, a, float_scalar(f, 3));
  before[2] = put(f, b, float_scalar(f, 4));
  const rheos_output added = added_to(f, v, twice_and_one(f, taken(f, a)));  // 17
  const rheos_output read = rheos_operation_output(add(f, "Identity", &added, 1, NULL, 0), 0);
  const rheos_operation awaited = rheos_output_operation(read);
  rheos_push_control_dependencies(f->scope, &awaited, 1);
  const rheos_output late = rheos_mul(f->scope, taken(f, b), float_scalar(f, 5));
  rheos_scope_pop(f->scope);
  const rheos_output all = twice_and_one(f, rheos_add(f->scope, late, read));
  check(rheos_scope_finish(f->scope));
  for (int i = 0; i < 3; i++) check(run_operations(f->session, &before[i], 1));
  assert_true(run_in(f->session, all) == 75);
  assert_true(run_in(f->session, v) == 17);
}

// ---- Steps that feed each other

typedef struct feeder {
  rheos_session *session;
  const rheos_operation *operations;
  size_t count;
  rheos_status *status;
  pthread_t thread;
} feeder;

static void *run_feeder(void *argument) {
  feeder *one = argument;
  one->status = run_operations(one->session, one->operations, one->count);
  return NULL;
}

// What is taken of `from` goes through a stretch into `to`.
static rheos_operation link_queues(fixture *f, rheos_output from, rheos_output to) {
  return put(f, to, twice_and_one(f, taken(f, from)));
}

// An element goes round through four queues, by links of two steps of two sessions that share their
// resources: whichever link is first in its step, and whichever queue the element is in to begin
// with.
static void test_stretches__of_two_steps_feed_each_other(void **state) {
  fixture *f = *state;
  static const char *const names[] = {"a", "b", "c", "d"};
  rheos_output queues[4];
  rheos_operation fills[4], links[2][4], drain[4];
  for (int i = 0; i < 4; i++) {
    queues[i] = queue_of(f, names[i]);
    fills[i] = put(f, queues[i], float_scalar(f, 1));
    drain[i] = rheos_output_operation(taken(f, queues[i]));
  }
  // Three links, of four queues: the element ends in the one before that in which it began.
  for (int i = 0; i < 4; i++) {
    links[0][i] = link_queues(f, queues[i], queues[(i + 1) % 4]);
    links[1][i] = link_queues(f, queues[i], queues[(i + 1) % 4]);
  }
  check(rheos_scope_finish(f->scope));
  rheos_host *host = NULL;
  check(rheos_host_new(NULL, &host));
  feeder feeders[2] = {{.session = NULL}};
  for (int i = 0; i < 2; i++) {
    const rheos_session_options options = {.host = host, .shares_resources = true};
    check(rheos_session_new(f->graph, &options, &feeders[i].session));
  }
  for (int first = 0; first < 4; first++) {
    for (int order = 0; order < 2; order++) {
      const int at[] = {first, (first + 1) % 4, (first + 2) % 4};
      const rheos_operation even[] = {links[0][at[order * 2]], links[0][at[2 - order * 2]]};
      feeders[0].operations = even;
      feeders[0].count = 2;
      feeders[1].operations = &links[1][at[1]];
      feeders[1].count = 1;
      for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&feeders[i].thread, NULL, run_feeder, &feeders[i]), 0);
      }
      check(run_operations(feeders[0].session, &fills[first], 1));
      for (int i = 0; i < 2; i++) {
        pthread_join(feeders[i].thread, NULL);
        check(feeders[i].status);
      }
      const rheos_output last = rheos_operation_output(drain[(first + 3) % 4], 0);
      assert_true(run_in(feeders[0].session, last) == 15);
    }
  }
  for (int i = 0; i < 2; i++) rheos_session_free(feeders[i].session);
  rheos_host_unref(host);
}

// ---- What goes wrong

static void test_stretches__errors_name_the_node_inside(void **state) {
  fixture *f = *state;
  const rheos_output a = queue_of(f, "a"), b = queue_of(f, "b");
  const rheos_operation fill[] = {put(f, a, float_scalar(f, 3)), put(f, b, float_scalar(f, -4))};
  const rheos_output sum = rheos_add(f->scope, taken(f, a), taken(f, b));
  const rheos_output root = rheos_sqrt(f->scope, sum);
  const rheos_attr attr = rheos_attr_string("message", "a sum below 0", 13);
  const rheos_output checked =
      rheos_operation_output(add(f, "CheckNumerics", &root, 1, &attr, 1), 0);
  check(rheos_scope_finish(f->scope));
  for (int i = 0; i < 2; i++) {
    for (int k = 0; k < 2; k++) check(run_operations(f->session, &fill[k], 1));
    rheos_fetch fetch = {checked, NULL};
    rheos_status *status = rheos_session_run(f->session, NULL, 0, &fetch, 1, NULL, 0, NULL);
    assert_non_null(strstr(rheos_status_message(status), "CheckNumerics"));
    assert_null(strstr(rheos_status_message(status), "stretch"));
    expect_error(status, RHEOS_INVALID_ARGUMENT, "a sum below 0");
  }
}

static void test_stretches__survive_short_memory(void **state) {
  fixture *f = *state;
  const pair q = two_queues(f);
  const rheos_output x = twice_and_one(f, taken(f, q.a)), y = twice_and_one(f, taken(f, q.b));
  const rheos_output all = twice_and_one(f, rheos_mul(f->scope, x, y));
  check(rheos_scope_finish(f->scope));
  int num_failed = 0;
  for (int64_t n = 1;; n++) {
    rheos_session *session = NULL;
    check(rheos_session_new(f->graph, &(rheos_session_options){.num_threads = 1}, &session));
    for (int k = 0; k < 2; k++) check(run_operations(session, &q.fill[k], 1));
    counter.fail_at = counter.requests + n;
    rheos_fetch fetch = {all, NULL};
    rheos_status *status = rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL);
    const bool reached = counter.requests >= counter.fail_at;
    counter.fail_at = 0;
    assert_true((status == NULL) == (fetch.value != NULL));
    rheos_tensor_unref(fetch.value);
    if (status != NULL) num_failed++;
    rheos_status_free(status);
    rheos_session_free(session);
    if (!reached) break;
  }
  assert_true(num_failed > 30);
}

static void test_stretches__are_entries(void **state) {
  fixture *f = *state;
  const pair q = two_queues(f);
  const rheos_output x = twice_and_one(f, taken(f, q.a)), y = twice_and_one(f, taken(f, q.b));
  const rheos_output all = rheos_mul(f->scope, x, y);
  check(rheos_scope_finish(f->scope));
  expect_printed(f->session, &(rheos__step_ends){.fetches = &all, .num_fetches = 1}, NULL,
                 "entries",
                 "entries\n"
                 "  e0 FIFOQueueV2 = FIFOQueueV2() -> v0\n"
                 "  e1 FIFOQueueV2_1 = FIFOQueueV2() -> v1\n"
                 "  e2 QueueDequeueV2 = QueueDequeueV2(v0) -> v2\n"
                 "  e3 QueueDequeueV2_1 = QueueDequeueV2(v1) -> v3\n"
                 "  e4 Add = _RaisedStatelessStretch(v2) -> v4; level 1\n"
                 "  e5 Add_1 = _RaisedStatelessStretch(v3) -> v5; level 1\n"
                 "  e6 Mul_2 = Mul(v4, v5) -> v6; level 1\n");
}

#define STRETCH_TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      STRETCH_TEST(test_stretches__are_what_waits_for_the_same),
      STRETCH_TEST(test_stretches__one_node_is_none),
      STRETCH_TEST(test_stretches__hold_loops_and_conditionals),
      STRETCH_TEST(test_stretches__are_none_around_a_branch_that_waits),
      STRETCH_TEST(test_stretches__wait_for_what_passes_a_value_on),
      STRETCH_TEST(test_stretches__read_in_the_order_of_levels),
      STRETCH_TEST(test_stretches__give_references),
      STRETCH_TEST(test_stretches__write_once),
      STRETCH_TEST(test_stretches__of_two_steps_feed_each_other),
      STRETCH_TEST(test_stretches__errors_name_the_node_inside),
      STRETCH_TEST(test_stretches__survive_short_memory),
      STRETCH_TEST(test_stretches__are_entries),
  };
  counting_allocator_install(&counter);
  return cmocka_run_group_tests_name("stretches", tests, NULL, NULL);
}
