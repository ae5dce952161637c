// Runs inside runs: bodies that are entered again and again with the same workspace, what they take
// over from their callers, and what they are specialised to.
#include <math.h>
#include <stdlib.h>

#include "graph/counting_allocator.h"
#include "ops/array_fixture.h"
#include "runtime/run/executor.h"
#include "runtime/session/session_plan.h"
#include "runtime/step/trace.h"

enum { SIDE = 64 };

typedef struct body {
  rheos_session *session;
  rheos__plan *plan;
  rheos__call call;
  rheos__step step;
} body;

// The plan of `fetches` in a session of its own.
static body body_new_with(fixture *f, const rheos_output *feeds, int32_t num_feeds,
                          const rheos_output *fetches, int32_t num_fetches,
                          const rheos_session_options *options) {
  body b = {.session = NULL};
  const rheos_output any = float_scalar(f, 1);
  check(rheos_scope_finish(f->scope));
  check(rheos_session_new(f->graph, options, &b.session));
  rheos__plan *first = NULL;
  const rheos__segment *segment = NULL;
  check(rheos__session_plan(b.session, &(rheos__step_ends){.fetches = &any, .num_fetches = 1}, NULL,
                            &first, &segment));
  rheos__edge in[4], out[4];
  for (int32_t i = 0; i < num_feeds; i++) in[i] = (rheos__edge){feeds[i].id, feeds[i].index};
  for (int32_t i = 0; i < num_fetches; i++) {
    out[i] = (rheos__edge){fetches[i].id, fetches[i].index};
  }
  check(rheos__plan_new(f->graph, &first->context, in, num_feeds, out, num_fetches, NULL, 0,
                        &b.plan));
  rheos__plan_free(first);
  rheos__step_init(&b.step, NULL, NULL);
  b.call.plan = b.plan;
  return b;
}

static body body_new(fixture *f, const rheos_output *feeds, int32_t num_feeds,
                     const rheos_output *fetches, int32_t num_fetches) {
  const rheos_session_options options = {.num_threads = 1};
  return body_new_with(f, feeds, num_feeds, fetches, num_fetches, &options);
}

static void body_free(body *b) {
  rheos__call_deinit(&b->call);
  for (const rheos__segment *at = b->plan->roots; at != NULL; at = at->next) {
    assert_int_equal(at->num_running, 0);
  }
  rheos__plan_free(b->plan);
  rheos__step_deinit(&b->step);
  rheos_session_free(b->session);
}

static rheos_output op_2(fixture *f, const char *type, rheos_output a, rheos_output b) {
  const rheos_output inputs[] = {a, b};
  return rheos_operation_output(add(f, type, inputs, 2, NULL, 0), 0);
}

static rheos_status *call_1(body *b, rheos_tensor *x, bool given, rheos_tensor **value) {
  rheos_tensor *tensors[] = {x};
  const bool gives[] = {given};
  const rheos__parameters parameters = {.tensors = tensors, .given = given ? gives : NULL};
  return rheos__call_run(&b->call, &parameters, &b->step, value);
}

static void test_call__gives_the_bits_of_a_step(void **state) {
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_output w = waves(f, 0.1f, RHEOS_SHAPE(SIDE, SIDE), 1);
  const rheos_output y = rheos_operation_output(
      add(f, "Tanh", (const rheos_output[]){op_2(f, "MatMul", x, w)}, 1, NULL, 0), 0);
  body b = body_new(f, &x, 1, &y, 1);
  rheos_tensor *fed = wave(RHEOS_SHAPE(SIDE, SIDE), 2);
  rheos_fetch fetch = {y, NULL};
  check(rheos_session_run(b.session, &(rheos_feed){x, fed}, 1, &fetch, 1, NULL, 0, NULL));
  for (int i = 0; i < 3; i++) {
    rheos_tensor *value = NULL;
    check(call_1(&b, fed, false, &value));
    assert_memory_equal(rheos_tensor_data(value), rheos_tensor_data(fetch.value),
                        rheos_tensor_size_bytes(value));
    rheos_tensor_unref(value);
  }
  assert_int_equal(b.plan->num_specializations, 1);
  rheos_tensor_unref(fetch.value);
  rheos_tensor_unref(fed);
  body_free(&b);
}

static void test_call__results_take_over_what_is_given(void **state) {
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_output y = op_2(f, "AddV2", x, float_scalar(f, 1));
  body b = body_new(f, &x, 1, &y, 1);
  rheos_tensor *value = wave(RHEOS_SHAPE(SIDE, SIDE), 2);
  const float before = ((float *)rheos_tensor_data(value))[7];
  const void *bytes = rheos_tensor_data(value);
  for (int i = 0; i < 10; i++) {
    rheos_tensor *x_value = value;
    value = NULL;
    check(call_1(&b, x_value, true, &value));
    assert_ptr_equal(rheos_tensor_data(value), bytes);
  }
  float expected = before;
  for (int i = 0; i < 10; i++) expected += 1;
  assert_true(((float *)rheos_tensor_data(value))[7] == expected);
  rheos_tensor_unref(value);
  body_free(&b);
}

static void test_call__what_is_not_given_stays(void **state) {
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_output fetches[] = {op_2(f, "AddV2", x, float_scalar(f, 1)), x};
  body b = body_new(f, &x, 1, fetches, 2);
  rheos_tensor *fed = wave(RHEOS_SHAPE(SIDE), 2), *same = wave(RHEOS_SHAPE(SIDE), 2);
  rheos_tensor *values[2] = {NULL, NULL};
  check(call_1(&b, fed, false, values));
  assert_memory_equal(rheos_tensor_data(fed), rheos_tensor_data(same), SIDE * sizeof(float));
  assert_ptr_equal(rheos_tensor_data(values[1]), rheos_tensor_data(fed));  // passed on, not copied
  rheos_tensor_unref(values[0]);
  rheos_tensor_unref(values[1]);
  // Given, but fetched as well: it stays too.
  values[0] = values[1] = NULL;
  check(call_1(&b, fed, true, values));
  assert_memory_equal(rheos_tensor_data(values[1]), rheos_tensor_data(same), SIDE * sizeof(float));
  assert_ptr_not_equal(rheos_tensor_data(values[0]), rheos_tensor_data(values[1]));
  rheos_tensor_unref(values[0]);
  rheos_tensor_unref(values[1]);
  rheos_tensor_unref(same);
  body_free(&b);
}

// The fixture anew, with all memory counted; NULL: with the usual allocator again.
static void start_counting(void **state, counting_allocator *counter) {
  tear_down(state);
  if (counter != NULL) {
    counting_allocator_install(counter);
  } else {
    rheos_set_allocator(NULL);
  }
  set_up(state);
}

static void test_call__from_the_second_time_on_takes_no_memory(void **state) {
  counting_allocator counter = {0};
  start_counting(state, &counter);
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_output n = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_output w = waves(f, 0.1f, RHEOS_SHAPE(SIDE, SIDE), 1);
  const rheos_output feeds[] = {x, n};
  const rheos_output fetches[] = {op_2(f, "MatMul", x, w), op_2(f, "AddV2", n, float_scalar(f, 1))};
  body b = body_new(f, feeds, 2, fetches, 2);
  rheos_tensor *at[] = {wave(RHEOS_SHAPE(SIDE, SIDE), 2), wave(RHEOS_SCALAR, 0)};
  rheos_tensor *values[] = {wave(RHEOS_SHAPE(SIDE, SIDE), 0), NULL};
  const bool given[] = {false, true};  // a product cannot be written over its operand
  const rheos__parameters parameters = {.tensors = at, .given = given};
  for (int i = 0; i < 20; i++) {
    if (i == 2) counter.requests = 0;
    check(rheos__call_run(&b.call, &parameters, &b.step, values));
    rheos_tensor *spare = at[0];
    at[0] = values[0];
    at[1] = values[1];
    values[0] = spare;
    values[1] = NULL;
  }
  assert_int_equal(counter.requests, 0);
  assert_true(((float *)rheos_tensor_data(at[1]))[0] >= 19);
  for (int i = 0; i < 2; i++) {
    rheos_tensor_unref(at[i]);
    rheos_tensor_unref(values[i]);
  }
  body_free(&b);
  start_counting(state, NULL);
}

static void test_call__shapes_choose_the_segment(void **state) {
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_output y = op_2(f, "AddV2", x, float_scalar(f, 1));
  body b = body_new(f, &x, 1, &y, 1);
  for (int i = 0; i < 6; i++) {
    rheos_tensor *fed = wave(RHEOS_SHAPE(3 + i % 2), 0), *value = NULL;
    check(call_1(&b, fed, false, &value));
    assert_shape(value, RHEOS_SHAPE(3 + i % 2));
    rheos_tensor_unref(value);
    rheos_tensor_unref(fed);
  }
  assert_int_equal(b.plan->num_specializations, 2);
  body_free(&b);
}

// A body whose shapes depend on values goes through several segments.
static void test_call__dynamic_shapes_choose_what_follows(void **state) {
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(-1));
  const rheos_output one = float_scalar(f, 0);
  const rheos_output greater = op_2(f, "Greater", x, one);
  const rheos_output where =
      rheos_operation_output(add(f, "Where", (const rheos_output[]){greater}, 1, NULL, 0), 0);
  const rheos_output y =
      rheos_operation_output(add(f, "Neg", (const rheos_output[]){where}, 1, NULL, 0), 0);
  body b = body_new(f, &x, 1, &y, 1);
  for (int i = 0; i < 6; i++) {
    rheos_tensor *fed = wave(RHEOS_SHAPE(5), 0), *value = NULL;
    for (int k = 0; k < 5; k++) ((float *)rheos_tensor_data(fed))[k] = k <= i % 3 ? 1 : -1;
    check(call_1(&b, fed, false, &value));
    assert_shape(value, RHEOS_SHAPE(i % 3 + 1, 1));
    rheos_tensor_unref(value);
    rheos_tensor_unref(fed);
  }
  body_free(&b);
}

static rheos__resource *variable_of(rheos__resources *resources, const char *name, float value) {
  const rheos_dtype dtype = RHEOS_FLOAT;
  rheos__resource *cell = NULL;
  check(rheos__resources_get(resources, &rheos__variable_kind, name, &dtype, &cell));
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SCALAR, &tensor));
  *(float *)rheos_tensor_data(tensor) = value;
  rheos__variable_assign_take((rheos__variable_cell *)cell, tensor);
  return cell;
}

static void test_call__cells_choose_the_segment(void **state) {
  fixture *f = *state;
  const rheos_shape scalar = RHEOS_SCALAR;
  const rheos_attr handle_attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                                     rheos_attr_shape("shape", &scalar)};
  const rheos_output handle =
      rheos_operation_output(add(f, "VarHandleOp", NULL, 0, handle_attrs, 2), 0);
  const rheos_attr dtype = rheos_attr_type("dtype", RHEOS_FLOAT);
  const rheos_output read =
      rheos_operation_output(add(f, "ReadVariableOp", &handle, 1, &dtype, 1), 0);
  const rheos_output y = op_2(f, "AddV2", read, float_scalar(f, 1));
  body b = body_new(f, &handle, 1, &y, 1);
  rheos__resources *resources = rheos__resources_new();
  rheos__resource *cells[] = {variable_of(resources, "a", 10), variable_of(resources, "b", 20)};
  for (int i = 0; i < 6; i++) {
    rheos_tensor *none[] = {NULL}, *value = NULL;
    const rheos__parameters parameters = {.tensors = none, .cells = &cells[i % 2]};
    check(rheos__call_run(&b.call, &parameters, &b.step, &value));
    assert_true(*(float *)rheos_tensor_data(value) == (i % 2 == 0 ? 11 : 21));
    rheos_tensor_unref(value);
  }
  assert_int_equal(b.plan->num_specializations, 2);
  body_free(&b);
  rheos__resource_unref(cells[0]);
  rheos__resource_unref(cells[1]);
  rheos__resources_free(resources);
}

static void test_call__a_failure_frees_what_was_given(void **state) {
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_attr message = rheos_attr_string("message", "not a number", 12);
  const rheos_output y = rheos_operation_output(add(f, "CheckNumerics", &x, 1, &message, 1), 0);
  body b = body_new(f, &x, 1, &y, 1);
  for (int i = 0; i < 4; i++) {
    rheos_tensor *fed = wave(RHEOS_SHAPE(SIDE), 0), *value = wave(RHEOS_SHAPE(SIDE), 0);
    if (i % 2 == 1) ((float *)rheos_tensor_data(fed))[3] = NAN;
    rheos_status *status = call_1(&b, fed, true, &value);
    if (i % 2 == 1) {
      expect_error(status, RHEOS_INVALID_ARGUMENT, "not a number");
      assert_null(value);
    } else {
      check(status);
    }
    rheos_tensor_unref(value);
  }
  body_free(&b);
}

// Every request for memory fails once: the call says so, and runs the next time.
static void test_call__short_memory_leaves_it_usable(void **state) {
  counting_allocator counter = {0};
  start_counting(state, &counter);
  fixture *f = *state;
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_output w = waves(f, 0.1f, RHEOS_SHAPE(SIDE, SIDE), 1);
  const rheos_output y = op_2(f, "MatMul", op_2(f, "MatMul", x, w), w);
  bool failed = true;
  for (int64_t nth = 1; failed; nth++) {
    body b = body_new(f, &x, 1, &y, 1);
    rheos_tensor *fed = wave(RHEOS_SHAPE(SIDE, SIDE), 2), *value = NULL;
    counter.fail_at = counter.requests + nth;
    rheos_status *status = call_1(&b, fed, false, &value);
    counter.fail_at = 0;
    failed = status != NULL;
    if (failed) {
      assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
      rheos_status_free(status);
      assert_null(value);
      check(call_1(&b, fed, false, &value));
    }
    rheos_tensor_unref(value);
    rheos_tensor_unref(fed);
    body_free(&b);
  }
  start_counting(state, NULL);
  assert_int_equal(counter.alive, 0);
}

// ---- A run inside a run

typedef struct nest {
  body outer, inner;
  int depth;  // bodies under way
} nest;

// What PyFunc calls while the outer plan runs: the inner body, in the same step.
static rheos_status *run_inner(void *argument, const char *token, rheos_tensor *const *inputs,
                               size_t num_inputs, rheos_tensor **outputs, size_t num_outputs) {
  nest *n = argument;
  (void)token;
  assert_int_equal(num_inputs, 1);
  assert_int_equal(num_outputs, 1);
  const rheos__parameters parameters = {.tensors = inputs};
  n->depth++;
  rheos_status *status = rheos__call_run(&n->inner.call, &parameters, &n->outer.step, &outputs[0]);
  n->depth--;
  return status;
}

// z = inner(x) + 1, where the inner body gives x * 2 or fails where x is not a number.
static void test_call__runs_inside_a_step(void **state) {
  fixture *f = *state;
  nest n = {.depth = 0};
  const rheos_output x = rheos_placeholder(f->scope, RHEOS_FLOAT);
  const rheos_attr message = rheos_attr_string("message", "not a number", 12);
  const rheos_output checked =
      rheos_operation_output(add(f, "CheckNumerics", &x, 1, &message, 1), 0);
  const rheos_output twice = op_2(f, "Mul", checked, float_scalar(f, 2));
  n.inner = body_new(f, &x, 1, &twice, 1);
  const rheos_dtype dtype = RHEOS_FLOAT;
  const rheos_attr attrs[] = {rheos_attr_string("token", "inner", 5),
                              rheos_attr_types("Tout", &dtype, 1)};
  const rheos_output called = rheos_operation_output(add(f, "PyFunc", &x, 1, attrs, 2), 0);
  const rheos_output z = op_2(f, "AddV2", called, float_scalar(f, 1));
  n.outer =
      body_new_with(f, &x, 1, &z, 1,
                    &(rheos_session_options){
                        .num_threads = 1, .program_function = run_inner, .program_argument = &n});
  rheos_trace *trace = rheos_trace_new(RHEOS_TRACE_STEPS);
  const rheos_run_options options = {.trace = trace};
  for (int i = 0; i < 4; i++) {
    rheos_tensor *fed = wave(RHEOS_SHAPE(3), 0), *value = NULL;
    for (int k = 0; k < 3; k++) ((float *)rheos_tensor_data(fed))[k] = (float)(k + i);
    if (i == 3) ((float *)rheos_tensor_data(fed))[1] = NAN;
    double cost_ns;
    rheos__step_init(&n.outer.step, NULL, &options);
    check(rheos__step_begin(&n.outer.step));
    rheos_status *status =
        rheos__execute(n.outer.plan, &fed, NULL, &n.outer.step, &value, &cost_ns);
    assert_null(n.outer.step.observers->place);
    status = rheos__step_end_take(&n.outer.step, status);
    if (i == 3) {
      expect_error(status, RHEOS_INVALID_ARGUMENT, "not a number");
      assert_null(value);
    } else {
      check(status);
      for (int k = 0; k < 3; k++) {
        assert_true(((float *)rheos_tensor_data(value))[k] == (float)(2 * (k + i) + 1));
      }
    }
    rheos_tensor_unref(value);
    rheos_tensor_unref(fed);
  }
  assert_int_equal(n.inner.plan->num_specializations, 1);
  // Each event lies in the time of its visit, and a body's visit in that of its caller.
  assert_false(trace->failed);
  int32_t visits_inside = 0;
  for (size_t i = 0; i < trace->num_events; i++) {
    const rheos__trace_visit *visit = &trace->visits[trace->events[i].visit];
    assert_true(visit->start_ns <= trace->events[i].start_ns);
    assert_true(trace->events[i].end_ns <= visit->end_ns);
  }
  for (size_t i = 1; i < trace->num_visits; i++) {
    const rheos__trace_visit *inner = &trace->visits[i], *outer = &trace->visits[i - 1];
    if (inner->segment == outer->segment || inner->end_ns > outer->end_ns) continue;
    assert_true(outer->start_ns <= inner->start_ns);
    visits_inside++;
  }
  assert_int_equal(visits_inside, 3);
  rheos_trace_free(trace);
  body_free(&n.outer);
  body_free(&n.inner);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_call__gives_the_bits_of_a_step),
      TEST(test_call__results_take_over_what_is_given),
      TEST(test_call__what_is_not_given_stays),
      TEST(test_call__from_the_second_time_on_takes_no_memory),
      TEST(test_call__shapes_choose_the_segment),
      TEST(test_call__dynamic_shapes_choose_what_follows),
      TEST(test_call__cells_choose_the_segment),
      TEST(test_call__a_failure_frees_what_was_given),
      TEST(test_call__short_memory_leaves_it_usable),
      TEST(test_call__runs_inside_a_step),
  };
  return cmocka_run_group_tests_name("call", tests, NULL, NULL);
}
