// Joint runs: updates that stand together are one, with the bits and the errors of one after
// another.
#include <pthread.h>
#include <rheos/trace.h>

#include "ops/array_fixture.h"
#include "plan/segment/update_group.h"
#include "plan/plan_text.h"
#include "plan/printed.h"
#include "runtime/step/trace.h"

enum { MOST = 100 };

// Variables, each with its initial value, and an update of each.
typedef struct model {
  rheos_output variables[MOST], slots[MOST];
  rheos_operation inits[2 * MOST], updates[MOST];
  int count, num_inits;
} model;

static rheos_output variable(fixture *f, model *m, rheos_shape shape, float phase) {
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &shape)};
  const rheos_output v = rheos_operation_output(add(f, "VariableV2", NULL, 0, attrs, 2), 0);
  const rheos_output inputs[] = {v, waves(f, 1, shape, phase)};
  m->inits[m->num_inits++] = add(f, "Assign", inputs, 2, NULL, 0);
  return v;
}

// Of `sizes[i % num_sizes]` elements each; by momentum if that is wanted, else by gradient descent.
static model build(fixture *f, int count, const int64_t *sizes, int num_sizes, bool momentum) {
  model m = {.count = count};
  const rheos_output rate = float_scalar(f, 0.1f), decay = float_scalar(f, 0.9f);
  for (int i = 0; i < count; i++) {
    const rheos_shape shape = RHEOS_SHAPE(sizes[i % num_sizes]);
    m.variables[i] = variable(f, &m, shape, (float)i);
    m.slots[i] = momentum ? variable(f, &m, shape, 0.5f) : m.variables[i];
    const rheos_output gradient = waves(f, 0.3f, shape, 2 + (float)i);
    const rheos_output by_momentum[] = {m.variables[i], m.slots[i], rate, gradient, decay};
    const rheos_output by_descent[] = {m.variables[i], rate, gradient};
    m.updates[i] = momentum ? add(f, "ApplyMomentum", by_momentum, 5, NULL, 0)
                            : add(f, "ApplyGradientDescent", by_descent, 3, NULL, 0);
  }
  check(rheos_scope_finish(f->scope));
  return m;
}

// How many joint runs the updates have, and how many updates are in them.
static int count_runs(fixture *f, const rheos_operation *updates, int count, int *out_in_them) {
  rheos__resources *resources = rheos__resources_new();
  assert_non_null(resources);
  rheos__plan_context context = {
      .resources = resources, .devices = plan_devices(), .num_devices = 1};
  int32_t targets[MOST];
  for (int i = 0; i < count; i++) targets[i] = updates[i].id;
  rheos__plan *plan = NULL;
  check(rheos__plan_new(f->graph, &context, NULL, 0, NULL, 0, targets, count, &plan));
  rheos__segment *segment = NULL;
  check(rheos__segment_new(plan, NULL, NULL, 0, NULL, &segment));
  int runs = 0;
  *out_in_them = 0;
  for (int i = 0; i < segment->num_sections; i++) {
    const rheos__section *section = &segment->sections[i];
    if (section->kind != RHEOS__SECTION_UPDATES) continue;
    *out_in_them += section->end - section->first;
    runs++;
  }
  rheos__segments_free(segment);
  rheos__plan_free(plan);
  rheos__resources_free(resources);
  return runs;
}

static rheos_session *start(fixture *f, const model *m, int threads) {
  rheos_session *session = NULL;
  const rheos_session_options options = {.num_threads = threads};
  check(rheos_session_new(f->graph, &options, &session));
  check(rheos_session_run(session, NULL, 0, NULL, 0, m->inits, (size_t)m->num_inits, NULL));
  return session;
}

static rheos_tensor *read(rheos_session *session, rheos_output variable) {
  rheos_fetch fetch = {variable, NULL};
  check(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  return fetch.value;
}

static void check_same(rheos_session *a, rheos_session *b, rheos_output variable) {
  rheos_tensor *one = read(a, variable), *other = read(b, variable);
  assert_int_equal(rheos_tensor_size_bytes(one), rheos_tensor_size_bytes(other));
  assert_memory_equal(rheos_tensor_data(one), rheos_tensor_data(other),
                      rheos_tensor_size_bytes(one));
  rheos_tensor_unref(one);
  rheos_tensor_unref(other);
}

// Together with so many threads, against each by itself with one.
static void check_bits(fixture *f, const model *m) {
  rheos_session *alone = start(f, m, 1);
  for (int step = 0; step < 3; step++) {
    for (int i = 0; i < m->count; i++) {
      check(rheos_session_run(alone, NULL, 0, NULL, 0, &m->updates[i], 1, NULL));
    }
  }
  static const int threads[] = {1, 2, 3, 8};
  for (int t = 0; t < 4; t++) {
    rheos_session *together = start(f, m, threads[t]);
    for (int step = 0; step < 3; step++) {
      check(rheos_session_run(together, NULL, 0, NULL, 0, m->updates, (size_t)m->count, NULL));
    }
    for (int i = 0; i < m->count; i++) {
      check_same(alone, together, m->variables[i]);
      check_same(alone, together, m->slots[i]);
    }
    rheos_session_free(together);
  }
  rheos_session_free(alone);
}

static void test_update_group__updates_of_different_variables_are_one(void **state) {
  fixture *f = *state;
  const model m = build(f, 7, (const int64_t[]){3, 64}, 2, true);
  int in_them;
  assert_int_equal(count_runs(f, m.updates, 7, &in_them), 1);
  assert_int_equal(in_them, 7);
  assert_int_equal(count_runs(f, m.updates, 1, &in_them), 0);
}

static void test_update_group__many_updates_are_a_few(void **state) {
  fixture *f = *state;
  const model m = build(f, MOST, (const int64_t[]){3}, 1, false);
  int in_them;
  assert_int_equal(count_runs(f, m.updates, MOST, &in_them), 2);
  assert_int_equal(in_them, MOST);
}

static void test_update_group__bits_are_those_of_one_after_another(void **state) {
  fixture *f = *state;
  static const int64_t sizes[] = {5, 100003, 0, 64, 16384, 16385, 1, 40000};
  const model m = build(f, 20, sizes, 8, true);
  check_bits(f, &m);
}

static void test_update_group__small_updates_keep_their_bits(void **state) {
  fixture *f = *state;
  static const int64_t sizes[] = {5, 0, 64, 1, 17};
  const model m = build(f, MOST, sizes, 5, false);
  check_bits(f, &m);
}

static void test_update_group__two_of_one_variable_are_one_after_another(void **state) {
  fixture *f = *state;
  model m = build(f, 3, (const int64_t[]){4}, 1, false);
  const rheos_output again[] = {m.variables[1], float_scalar(f, 1), waves(f, 1, RHEOS_SHAPE(4), 1)};
  m.updates[3] = add(f, "ApplyGradientDescent", again, 3, NULL, 0);
  check(rheos_scope_finish(f->scope));
  int in_them;
  count_runs(f, m.updates, 4, &in_them);
  assert_true(in_them <= 3);
  m.count = 4;
  m.variables[3] = m.slots[3] = m.variables[1];
  check_bits(f, &m);
}

// A gradient that is another variable's value is the one before the step.
static void test_update_group__gradients_are_read_before(void **state) {
  fixture *f = *state;
  model m = {0};
  const rheos_output a = variable(f, &m, RHEOS_SHAPE(2), 1), b = variable(f, &m, RHEOS_SHAPE(2), 2);
  const rheos_output one = float_scalar(f, 1);
  m.updates[0] = add(f, "ApplyGradientDescent", (const rheos_output[]){a, one, b}, 3, NULL, 0);
  m.updates[1] = add(f, "ApplyGradientDescent", (const rheos_output[]){b, one, a}, 3, NULL, 0);
  check(rheos_scope_finish(f->scope));
  int in_them;
  assert_int_equal(count_runs(f, m.updates, 2, &in_them), 1);
  rheos_session *session = start(f, &m, 2);
  rheos_tensor *old_a = read(session, a), *old_b = read(session, b);
  check(rheos_session_run(session, NULL, 0, NULL, 0, m.updates, 2, NULL));
  rheos_tensor *new_a = read(session, a), *new_b = read(session, b);
  for (int i = 0; i < 2; i++) {
    const float was_a = ((float *)rheos_tensor_data(old_a))[i];
    const float was_b = ((float *)rheos_tensor_data(old_b))[i];
    assert_float_equal(((float *)rheos_tensor_data(new_a))[i], was_a - was_b, 0);
    assert_float_equal(((float *)rheos_tensor_data(new_b))[i], was_b - was_a, 0);
  }
  rheos_tensor_unref(old_a);
  rheos_tensor_unref(old_b);
  rheos_tensor_unref(new_a);
  rheos_tensor_unref(new_b);
  rheos_session_free(session);
}

// One variable has no value: the error is its own, those before it in the plan are changed as they
// would be one by one, and the session goes on.
static void test_update_group__an_error_is_that_of_its_update(void **state) {
  fixture *f = *state;
  model m = build(f, 5, (const int64_t[]){4}, 1, false);
  rheos_session *session = NULL, *fresh = start(f, &m, 2);
  const rheos_session_options options = {.num_threads = 2};
  check(rheos_session_new(f->graph, &options, &session));
  for (int i = 0; i < 5; i++) {
    if (i == 3) continue;
    check(rheos_session_run(session, NULL, 0, NULL, 0, &m.inits[i], 1, NULL));
  }
  expect_error(rheos_session_run(session, NULL, 0, NULL, 0, m.updates, 5, NULL),
               RHEOS_FAILED_PRECONDITION, "uninitialized value VariableV2_3");
  check(rheos_session_run(fresh, NULL, 0, NULL, 0, m.updates, 3, NULL));
  for (int i = 0; i < 5; i++) {
    if (i != 3) check_same(session, fresh, m.variables[i]);
  }
  check(rheos_session_run(session, NULL, 0, NULL, 0, &m.inits[3], 1, NULL));
  check(rheos_session_run(session, NULL, 0, NULL, 0, m.updates, 5, NULL));
  rheos_session_free(session);
  rheos_session_free(fresh);
}

typedef struct racer {
  rheos_session *session;
  rheos_operation updates[2];
} racer;

static void *race(void *argument) {
  const racer *r = argument;
  for (int i = 0; i < 300; i++) {
    check(rheos_session_run(r->session, NULL, 0, NULL, 0, r->updates, 2, NULL));
  }
  return NULL;
}

// Steps of several threads that change the same variables in different orders wait for each other
// only as long as one of them runs.
static void test_update_group__steps_side_by_side_do_not_lock_each_other_out(void **state) {
  fixture *f = *state;
  model m = build(f, 2, (const int64_t[]){1000}, 1, false);
  const rheos_output rate = float_scalar(f, 0.1f), g = waves(f, 0.3f, RHEOS_SHAPE(1000), 2);
  // Updates of the variables a second time, made in the other order.
  for (int i = 0; i < 2; i++) {
    const rheos_output inputs[] = {m.variables[1 - i], rate, g};
    m.updates[2 + i] = add(f, "ApplyGradientDescent", inputs, 3, NULL, 0);
  }
  check(rheos_scope_finish(f->scope));
  rheos_session *session = start(f, &m, 2);
  racer racers[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) {
    racers[i] = (racer){session, {m.updates[2 * i], m.updates[2 * i + 1]}};
    assert_int_equal(pthread_create(&threads[i], NULL, race, &racers[i]), 0);
  }
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  rheos_session_free(session);
}

static void test_update_group__each_update_is_in_a_trace(void **state) {
  fixture *f = *state;
  const model m = build(f, 6, (const int64_t[]){100000, 3, 0}, 3, true);
  rheos_session *session = start(f, &m, 2);
  rheos_trace *trace = rheos_trace_new(0);
  assert_non_null(trace);
  const rheos_run_options options = {.trace = trace};
  check(rheos_session_run(session, NULL, 0, NULL, 0, m.updates, 6, &options));
  assert_false(trace->failed);
  int seen = 0;
  for (size_t i = 0; i < trace->num_events; i++) {
    const rheos__trace_event *event = &trace->events[i];
    const rheos__traced_op *op =
        &trace->segments[trace->visits[event->visit].segment].ops[event->op];
    if (strcmp(op->signature->op->name, "ApplyMomentum") != 0) continue;
    assert_true(event->start_ns > 0 && event->end_ns >= event->start_ns);
    seen++;
  }
  assert_int_equal(seen, 6);
  rheos_trace_free(trace);
  rheos_session_free(session);
}

static void test_update_group__is_a_section(void **state) {
  fixture *f = *state;
  const model m = build(f, 3, (const int64_t[]){64}, 1, false);
  expect_printed(f->session, &(rheos__step_ends){.targets = m.updates, .num_targets = 3}, NULL,
                 "instructions sections",
                 "instructions\n"
                 "  i0 compute e7 of v0, v1, v2 -> v7\n"
                 "  i1 compute e8 of v3, v1, v4 -> v8\n"
                 "  i2 compute e9 of v5, v1, v6 -> v9\n"
                 "sections\n"
                 "  updates i0 to i2\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_update_group__updates_of_different_variables_are_one),
      TEST(test_update_group__many_updates_are_a_few),
      TEST(test_update_group__bits_are_those_of_one_after_another),
      TEST(test_update_group__small_updates_keep_their_bits),
      TEST(test_update_group__two_of_one_variable_are_one_after_another),
      TEST(test_update_group__gradients_are_read_before),
      TEST(test_update_group__an_error_is_that_of_its_update),
      TEST(test_update_group__steps_side_by_side_do_not_lock_each_other_out),
      TEST(test_update_group__each_update_is_in_a_trace),
      TEST(test_update_group__is_a_section),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
