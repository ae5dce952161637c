// What of version 1's control flow is raised to entries of a straight plan, and what stays on
// tokens; both give the same bits.
#include <rheos/control_flow.h>
#include <rheos/gradients.h>
#include <rheos/ops.h>
#include <string.h>

#include "ops/array_fixture.h"
#include "plan/plan_text.h"
#include "plan/printed.h"
#include "plan/raise/raise.h"
#include "resource/resource.h"
#include "runtime/call/bodies.h"

// ---- Plans

// The structures of the plan itself; -1 where it, or a part of it, is on tokens.
static int num_structures(const rheos__plan *plan) {
  int count = 0;
  if (plan->flow != NULL) return -1;
  for (rheos__structure *s = plan->structures; s != NULL; s = s->next, count++) {
    for (int i = 0; i < 2; i++) {
      const rheos__plan *part = NULL;
      check(rheos__graph_part_plan(plan->context.bodies, &s->parts[i], &part));
      if (part->flow != NULL) return -1;
    }
  }
  return count;
}

// Of the plan of the fetch.
static int num_raised(fixture *f, rheos_output fetch, rheos_toggle raises) {
  check(rheos_scope_finish(f->scope));
  rheos__plan_context context = {.resources = rheos__resources_new(),
                                 .devices = plan_devices(),
                                 .num_devices = 1,
                                 .rewrites.raise_control_flow = raises};
  rheos__bodies *bodies = rheos__bodies_new(&context);
  context.bodies = bodies;
  rheos__plan *plan = NULL;
  const rheos__edge edge = {fetch.id, fetch.index};
  check(rheos__plan_new(f->graph, &context, NULL, 0, &edge, 1, NULL, 0, &plan));
  const int count = num_structures(plan);
  rheos__plan_free(plan);
  rheos__bodies_clear(bodies);
  rheos__bodies_unref(bodies);
  rheos__resources_free(context.resources);
  return count;
}

static float value_in(fixture *f, rheos_output fetch, rheos_toggle raises) {
  rheos_session *session = NULL;
  rheos_fetch fetched = {fetch, NULL};
  check(rheos_session_new(f->graph, &(rheos_session_options){.rewrites.raise_control_flow = raises},
                          &session));
  check(rheos_session_run(session, NULL, 0, &fetched, 1, NULL, 0, NULL));
  const float value = *(const float *)rheos_tensor_data(fetched.value);
  rheos_tensor_unref(fetched.value);
  rheos_session_free(session);
  return value;
}

static void expect(fixture *f, rheos_output fetch, int raised, float value) {
  assert_int_equal(num_raised(f, fetch, RHEOS_TOGGLE_DEFAULT), raised);
  assert_int_equal(num_raised(f, fetch, RHEOS_TOGGLE_OFF), -1);
  assert_true(value_in(f, fetch, RHEOS_TOGGLE_DEFAULT) == value);
  assert_true(value_in(f, fetch, RHEOS_TOGGLE_OFF) == value);
}

// ---- Programs

static rheos_output number(rheos_scope *s, float value) {
  return rheos_constant_float(s, value, NULL);
}

static rheos_output below(rheos_scope *s, void *limit, const rheos_output *v, size_t count) {
  (void)count;
  return rheos_less(s, v[0], number(s, *(const float *)limit));
}

static rheos_output inside;  // of the body made last

static void double_it(rheos_scope *s, void *argument, const rheos_output *v, rheos_output *next,
                      size_t count) {
  (void)argument, (void)count;
  next[0] = inside = rheos_mul(s, v[0], number(s, 2));
}

static rheos_output loop_from(rheos_scope *s, rheos_output start, float limit) {
  rheos_output end = {0};
  rheos_while_loop(s, below, double_it, &limit, &start, 1, NULL, &end);
  return end;
}

static void add_three(rheos_scope *s, void *argument, rheos_output *outputs, size_t count) {
  (void)count;
  outputs[0] = rheos_add(s, *(const rheos_output *)argument, number(s, 3));
}

static void loop_to_hundred(rheos_scope *s, void *argument, rheos_output *outputs, size_t count) {
  (void)count;
  outputs[0] = loop_from(s, *(const rheos_output *)argument, 100);
}

static rheos_output cond_of(rheos_scope *s, rheos_output pred, rheos_output value) {
  rheos_output result = {0};
  rheos_cond(s, pred, loop_to_hundred, add_three, &value, NULL, &result, 1);
  return result;
}

static void cond_in_body(rheos_scope *s, void *argument, const rheos_output *v, rheos_output *next,
                         size_t count) {
  (void)argument, (void)count;
  next[0] = cond_of(s, rheos_greater(s, v[0], number(s, 20)), v[0]);
}

static void test_raise__loops_and_conditionals(void **state) {
  fixture *f = *state;
  rheos_scope *s = f->scope;
  const rheos_output end = loop_from(s, number(s, 3), 10);
  expect(f, end, 1, 12);
  const rheos_output first = cond_of(s, rheos_less(s, end, number(s, 12)), end);
  expect(f, first, 2, 15);
  expect(f, cond_of(s, rheos_less(s, end, number(s, 13)), first), 3, 120);
}

static void test_raise__what_lies_in_each_other(void **state) {
  fixture *f = *state;
  rheos_scope *s = f->scope;
  rheos_output end = {0};
  float limit = 50;
  const rheos_output start = number(s, 1);
  rheos_while_loop(s, below, cond_in_body, &limit, &start, 1, NULL, &end);
  expect(f, end, 1, 176);  // 1, 4, 7, .., 22, then 44, 88, 176 in the loop of the branch
}

// Conditionals of the same predicate, of which one needs the other, are apart.
static void test_raise__the_same_predicate_twice(void **state) {
  fixture *f = *state;
  rheos_scope *s = f->scope;
  const rheos_output pred = rheos_less(s, number(s, 1), number(s, 2));
  const rheos_output first = cond_of(s, pred, number(s, 5));
  expect(f, first, 1, 160);
  expect(f, cond_of(s, pred, rheos_sub(s, first, number(s, 150))), 2, 160);
}

static void test_raise__not_what_is_fetched_inside(void **state) {
  fixture *f = *state;
  rheos_scope *s = f->scope;
  (void)loop_from(s, number(s, 3), 10);
  assert_int_equal(num_raised(f, inside, RHEOS_TOGGLE_DEFAULT), -1);
}

// Nodes without a conditional around them: both sides hang together, and one needs what the other
// gives.
static void test_raise__not_what_needs_itself(void **state) {
  fixture *f = *state;
  rheos_scope *s = f->scope;
  const rheos_output pred = rheos_less(s, number(s, 1), number(s, 2));
  const rheos_output one[] = {number(s, 1), pred};
  const rheos_operation sw = add(f, "Switch", one, 2, NULL, 0);
  const rheos_output no = rheos_operation_output(sw, 0), yes = rheos_operation_output(sw, 1);
  const rheos_output a[] = {rheos_neg(s, no), rheos_neg(s, yes)};
  const rheos_output merged = rheos_operation_output(add(f, "Merge", a, 2, NULL, 0), 0);
  const rheos_output again[] = {rheos_square(s, merged), pred};
  const rheos_operation sw_2 = add(f, "Switch", again, 2, NULL, 0);
  const rheos_output b[] = {rheos_add(s, no, rheos_operation_output(sw_2, 0)),
                            rheos_add(s, yes, rheos_operation_output(sw_2, 1))};
  expect(f, merged, 1, -1);
  const rheos_output last = rheos_operation_output(add(f, "Merge", b, 2, NULL, 0), 0);
  assert_int_equal(num_raised(f, last, RHEOS_TOGGLE_DEFAULT), -1);
  assert_true(value_in(f, last, RHEOS_TOGGLE_DEFAULT) == 2);
}

static void test_raise__not_a_merge_that_tells_which(void **state) {
  fixture *f = *state;
  rheos_scope *s = f->scope;
  const rheos_output one[] = {number(s, 1), rheos_less(s, number(s, 1), number(s, 2))};
  const rheos_operation sw = add(f, "Switch", one, 2, NULL, 0);
  const rheos_output sides[] = {rheos_operation_output(sw, 0), rheos_operation_output(sw, 1)};
  const rheos_operation merge = add(f, "Merge", sides, 2, NULL, 0);
  expect(f, rheos_operation_output(merge, 0), 1, 1);
  const rheos_output index = rheos_cast(s, rheos_operation_output(merge, 1), RHEOS_FLOAT);
  assert_int_equal(num_raised(f, index, RHEOS_TOGGLE_DEFAULT), -1);
  assert_true(value_in(f, index, RHEOS_TOGGLE_DEFAULT) == 1);
}

// Squares: the constant of their gradient waits for a Switch of the loop backward.
static void square_it(rheos_scope *s, void *argument, const rheos_output *v, rheos_output *next,
                      size_t count) {
  (void)argument, (void)count;
  next[0] = rheos_square(s, v[0]);
}

static void test_raise__loops_of_gradients(void **state) {
  fixture *f = *state;
  float limit = 10;
  const rheos_output start = number(f->scope, 2);
  rheos_output end = {0};
  rheos_gradient gradient = {0};
  rheos_while_loop(f->scope, below, square_it, &limit, &start, 1, NULL, &end);
  rheos_gradients(f->scope, &end, 1, &start, 1, NULL, &gradient);
  expect(f, gradient.values, 2, 32);  // of x^4
}

// while (v < 10) v = 2 v, of nodes; in the loop `counter` is added to, after the node that
// `waits_for` tells.
enum { NOTHING, SWITCH, IDENTITY };
static rheos_output counting_loop(fixture *f, rheos_output counter, int waits_for) {
  rheos_scope *s = f->scope;
  const rheos_attr frame[] = {rheos_attr_string("frame_name", "counting", 8),
                              rheos_attr_bool("is_constant", true)};
  const rheos_output from = number(s, 3), one = number(s, 1), limit = number(s, 10);
  const rheos_output start = rheos_operation_output(add(f, "Enter", &from, 1, frame, 1), 0);
  const rheos_output by[] = {rheos_operation_output(add(f, "Enter", &counter, 1, frame, 2), 0),
                             rheos_operation_output(add(f, "Enter", &one, 1, frame, 2), 0)};
  const rheos_output end = rheos_operation_output(add(f, "Enter", &limit, 1, frame, 2), 0);
  const rheos_output starts[] = {start, start};
  const rheos_operation merge = add(f, "Merge", starts, 2, NULL, 0);
  const rheos_output v = rheos_operation_output(merge, 0);
  const rheos_output goes_on = rheos_less(s, v, end);
  const rheos_output to[] = {v,
                             rheos_operation_output(add(f, "LoopCond", &goes_on, 1, NULL, 0), 0)};
  const rheos_operation sw = add(f, "Switch", to, 2, NULL, 0);
  const rheos_output back = rheos_operation_output(sw, 1), out = rheos_operation_output(sw, 0);
  const rheos_output inner = rheos_operation_output(add(f, "Identity", &back, 1, NULL, 0), 0);
  const rheos_operation before[] = {sw, rheos_output_operation(inner)};
  const rheos_operation count = rheos_op(s, &(rheos_op_args){
                                                .type = "AssignAddVariableOp",
                                                .inputs = by,
                                                .num_inputs = 2,
                                                .control_inputs = &before[waits_for == IDENTITY],
                                                .num_control_inputs = waits_for == NOTHING ? 0 : 1,
                                            });
  const rheos_output doubled = rheos_add(s, inner, inner);
  const rheos_operation next = rheos_op(s, &(rheos_op_args){.type = "NextIteration",
                                                            .inputs = &doubled,
                                                            .num_inputs = 1,
                                                            .control_inputs = &count,
                                                            .num_control_inputs = 1});
  const rheos_operation exit = add(f, "Exit", &out, 1, NULL, 0);
  check(rheos_scope_finish(s));
  check(rheos_operation_close_loop(merge, 1, rheos_operation_output(next, 0)));
  return rheos_operation_output(exit, 0);
}

// What needs no value of a trip runs once more, when the loop has ended: a body would leave that
// out.
static void expect_counted(fixture *f, int waits_for, int raised, float counted) {
  rheos_scope *s = f->scope;
  const rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT),
                              rheos_attr_shape("shape", &RHEOS_SCALAR)};
  const rheos_output counter = rheos_operation_output(add(f, "VarHandleOp", NULL, 0, attrs, 2), 0);
  const rheos_output zero[] = {counter, number(s, 0)};
  const rheos_operation init = add(f, "AssignVariableOp", zero, 2, NULL, 0);
  const rheos_output end = counting_loop(f, counter, waits_for);
  assert_int_equal(num_raised(f, end, RHEOS_TOGGLE_DEFAULT), raised);
  check(run_target(f, init));
  check(run_target(f, rheos_output_operation(end)));
  const rheos_operation read = add(f, "ReadVariableOp", &counter, 1, attrs, 1);
  rheos_tensor *value = NULL;
  check(run_output(f, read, 0, NULL, &value));
  assert_true(*(const float *)rheos_tensor_data(value) == counted);
  rheos_tensor_unref(value);
}

static void test_raise__effects_of_trips(void **state) { expect_counted(*state, IDENTITY, 1, 2); }
static void test_raise__not_effects_behind_the_end(void **state) {
  expect_counted(*state, SWITCH, -1, 3);
}
static void test_raise__not_effects_that_need_no_trip(void **state) {
  expect_counted(*state, NOTHING, -1, 3);
}

static void test_raise__a_loop_is_an_entry(void **state) {
  fixture *f = *state;
  const rheos_output x =
      rheos_placeholder(f->scope, RHEOS_FLOAT, .shape = &RHEOS_SCALAR, .name = "x");
  const rheos_output end = loop_from(f->scope, x, 100);
  check(rheos_scope_finish(f->scope));
  expect_printed(
      f->session,
      &(rheos__step_ends){.feeds = &x, .num_feeds = 1, .fetches = &end, .num_fetches = 1},
      &RHEOS_SCALAR, "entries instructions",
      "entries\n"
      "  e0 while/Exit = _RaisedStatelessLoop(v0) -> v1\n"
      "instructions\n"
      "  i0 compute e0 of v0 -> v1\n");
}

static void test_raise__a_conditional_is_an_entry(void **state) {
  fixture *f = *state;
  const rheos_output x =
      rheos_placeholder(f->scope, RHEOS_FLOAT, .shape = &RHEOS_SCALAR, .name = "x");
  rheos_output chosen = {0};
  rheos_cond(f->scope, rheos_less(f->scope, x, number(f->scope, 5)), add_three, add_three,
             (void *)(uintptr_t)&x, NULL, &chosen, 1);
  check(rheos_scope_finish(f->scope));
  expect_printed(
      f->session,
      &(rheos__step_ends){.feeds = &x, .num_feeds = 1, .fetches = &chosen, .num_fetches = 1},
      &RHEOS_SCALAR, "entries instructions",
      "entries\n"
      "  e0 Const = Const() -> v1\n"
      "  e1 Less = Less(v0, v1) -> v2\n"
      "  e2 cond/Merge = _RaisedStatelessConditional(v2, v2, v0, v0) -> v3\n"
      "instructions\n"
      "  i0 run e1 of v0, v1 -> v2\n"
      "  i1 compute e2 of v2, v2, v0, v0 -> v3\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_raise__loops_and_conditionals),     TEST(test_raise__what_lies_in_each_other),
      TEST(test_raise__the_same_predicate_twice),   TEST(test_raise__not_what_is_fetched_inside),
      TEST(test_raise__not_what_needs_itself),      TEST(test_raise__not_a_merge_that_tells_which),
      TEST(test_raise__loops_of_gradients),         TEST(test_raise__effects_of_trips),
      TEST(test_raise__not_effects_behind_the_end), TEST(test_raise__not_effects_that_need_no_trip),
      TEST(test_raise__a_loop_is_an_entry),         TEST(test_raise__a_conditional_is_an_entry),
  };
  return cmocka_run_group_tests_name("raise", tests, NULL, NULL);
}
