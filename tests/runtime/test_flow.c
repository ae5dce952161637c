// Version 1's control flow, of nodes put together by hand: loops of any number of trips, nested,
// branches and what is dead in them, references, and what is wrong. All of it twice: raised where
// that is possible, and on tokens.
#include <stdio.h>
#include <time.h>

#include "graph/counting_allocator.h"
#include "graph/graph.h"
#include "ops/array_fixture.h"

static counting_allocator counter;
static rheos_rewrite_options rewrites;

static rheos_output out_of(rheos_operation op, int32_t index) {
  return rheos_operation_output(op, index);
}

static rheos_output op_1(fixture *f, const char *type, rheos_output a) {
  return out_of(add(f, type, &a, 1, NULL, 0), 0);
}

static rheos_output op_2(fixture *f, const char *type, rheos_output a, rheos_output b) {
  return out_of(add(f, type, (const rheos_output[]){a, b}, 2, NULL, 0), 0);
}

// A scalar that is made where `after` is not dead, in its loop.
static rheos_output int_after(fixture *f, int32_t value, rheos_operation after) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &value, &tensor));
  const rheos_attr attrs[] = {rheos_attr_tensor("value", tensor),
                              rheos_attr_type("dtype", RHEOS_INT32)};
  const rheos_operation op = rheos_op(f->scope, &(rheos_op_args){.type = "Const",
                                                                 .attrs = attrs,
                                                                 .num_attrs = 2,
                                                                 .control_inputs = &after,
                                                                 .num_control_inputs = 1});
  rheos_tensor_unref(tensor);
  return out_of(op, 0);
}

static rheos_operation no_op_after(fixture *f, rheos_operation after) {
  return rheos_op(f->scope, &(rheos_op_args){
                                .type = "NoOp", .control_inputs = &after, .num_control_inputs = 1});
}

static rheos_output enter(fixture *f, rheos_output data, const char *frame, bool is_constant) {
  const bool is_ref = rheos_dtype_is_ref(rheos_output_dtype(data));
  const rheos_attr attrs[] = {rheos_attr_string("frame_name", frame, strlen(frame)),
                              rheos_attr_bool("is_constant", is_constant)};
  return out_of(add(f, is_ref ? "RefEnter" : "Enter", &data, 1, attrs, 2), 0);
}

static rheos_operation merge(fixture *f, rheos_output a, rheos_output b) {
  const bool is_ref = rheos_dtype_is_ref(rheos_output_dtype(a));
  return add(f, is_ref ? "RefMerge" : "Merge", (const rheos_output[]){a, b}, 2, NULL, 0);
}

static rheos_operation switch_(fixture *f, rheos_output data, rheos_output pred) {
  const bool is_ref = rheos_dtype_is_ref(rheos_output_dtype(data));
  return add(f, is_ref ? "RefSwitch" : "Switch", (const rheos_output[]){data, pred}, 2, NULL, 0);
}

// while (i < limit) i = i + 1, begun; the caller's body comes between.
typedef struct loop {
  rheos_operation merge, switch_;
  rheos_output cond;  // LoopCond
  rheos_output body;  // the variable within the body
  rheos_output exit;
} loop;

static loop begin_loop(fixture *f, const char *frame, rheos_output start, rheos_output limit) {
  loop l;
  const rheos_output entered = enter(f, start, frame, false);
  const rheos_output bound = enter(f, limit, frame, true);
  l.merge = merge(f, entered, entered);
  l.cond = op_1(f, "LoopCond", op_2(f, "Less", out_of(l.merge, 0), bound));
  l.switch_ = switch_(f, out_of(l.merge, 0), l.cond);
  l.body = op_1(f, "Identity", out_of(l.switch_, 1));
  l.exit = op_1(f, "Exit", out_of(l.switch_, 0));
  return l;
}

static void end_loop(fixture *f, const loop *l, rheos_output next) {
  check(rheos_scope_finish(f->scope));
  check(rheos_operation_close_loop(l->merge, 1, op_1(f, "NextIteration", next)));
}

// Another variable of the loop.
typedef struct carried {
  rheos_operation merge;
  rheos_output body, exit;
} carried;

static carried carry(fixture *f, const loop *l, const char *frame, rheos_output start) {
  carried c;
  const rheos_output entered = enter(f, start, frame, false);
  c.merge = merge(f, entered, entered);
  const rheos_operation s = switch_(f, out_of(c.merge, 0), l->cond);
  const bool is_ref = rheos_dtype_is_ref(rheos_output_dtype(start));
  c.body = is_ref ? out_of(s, 1) : op_1(f, "Identity", out_of(s, 1));
  c.exit = op_1(f, is_ref ? "RefExit" : "Exit", out_of(s, 0));
  return c;
}

static void carry_on(fixture *f, const carried *c, rheos_output next) {
  const bool is_ref = rheos_dtype_is_ref(rheos_output_dtype(next));
  check(rheos_scope_finish(f->scope));
  check(rheos_operation_close_loop(c->merge, 1,
                                   op_1(f, is_ref ? "RefNextIteration" : "NextIteration", next)));
}

static rheos_output add_one(fixture *f, rheos_output x) {
  const rheos_operation after = {x.graph, x.id};
  return op_2(f, "AddV2", x, int_after(f, 1, after));
}

static int32_t int_of(fixture *f, rheos_output fetched, const fed *values) {
  rheos_tensor *tensor = NULL;
  check(run_output(f, rheos_output_operation(fetched), fetched.index, values, &tensor));
  assert_int_equal(rheos_tensor_dtype(tensor), RHEOS_INT32);
  const int32_t value = *(const int32_t *)rheos_tensor_data(tensor);
  rheos_tensor_unref(tensor);
  return value;
}

static void expect_failure(fixture *f, rheos_output fetched, const fed *values, rheos_code code,
                           const char *part) {
  rheos_tensor *tensor = NULL;
  expect_error(run_output(f, rheos_output_operation(fetched), fetched.index, values, &tensor), code,
               part);
  assert_null(tensor);
}

static rheos_output fed_int(fixture *f, fed *values, int32_t value) {
  return feed(f, values, RHEOS_INT32, RHEOS_SCALAR, &value);
}

static rheos_output fed_bool(fixture *f, fed *values, bool value) {
  return feed(f, values, RHEOS_BOOL, RHEOS_SCALAR, &value);
}

static void set_int(fed *values, size_t at, int32_t value) {
  *(int32_t *)rheos_tensor_data(values->feeds[at].value) = value;
}

static void set_bool(fed *values, size_t at, bool value) {
  *(bool *)rheos_tensor_data(values->feeds[at].value) = value;
}

// ---- Loops

static void test_loop__of_any_number_of_trips(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  const rheos_output start = fed_int(f, &values, 0), limit = fed_int(f, &values, 0);
  loop l = begin_loop(f, "while", start, limit);
  const carried sum = carry(f, &l, "while", int_scalar(f, 100));
  carry_on(f, &sum, op_2(f, "AddV2", sum.body, l.body));
  end_loop(f, &l, add_one(f, l.body));
  const int32_t trips[] = {0, 1, 7, 3, 1000, 0};
  for (size_t i = 0; i < sizeof trips / sizeof *trips; i++) {
    set_int(&values, 1, trips[i]);
    assert_int_equal(int_of(f, l.exit, &values), trips[i]);
    assert_int_equal(int_of(f, sum.exit, &values), 100 + trips[i] * (trips[i] - 1) / 2);
  }
  free_feeds(&values);
}

static double now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void test_loop__of_many_trips_stays_in_its_memory(void **state) {
  fixture *f = *state;
  enum { TRIPS = 100000 };
  fed values = {.count = 0};
  loop l = begin_loop(f, "while", int_scalar(f, 0), fed_int(f, &values, 10));
  end_loop(f, &l, add_one(f, l.body));
  assert_int_equal(int_of(f, l.exit, &values), 10);
  set_int(&values, 0, TRIPS);
  const clock_t start = clock();
  assert_int_equal(int_of(f, l.exit, &values), TRIPS);
  const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
  fprintf(stderr, "  %.0f ns of a processor's time a trip\n", seconds * 1e9 / TRIPS);
  free_feeds(&values);
}

// What a run with so many trips asks the allocator for.
static int64_t requests_of_trips(fixture *f, rheos_output fetched, fed *values, int32_t trips) {
  set_int(values, 0, trips);
  const int64_t before = counter.requests;
  rheos_fetch fetch = {.output = fetched};
  check(rheos_session_run(f->session, values->feeds, values->count, &fetch, 1, NULL, 0, NULL));
  rheos_tensor_unref(fetch.value);
  return counter.requests - before;
}

static void test_loop__of_shapes_that_stay_allocates_nothing_from_the_second_trip(void **state) {
  fixture *f = *state;
  if (rewrites.raise_control_flow == RHEOS_TOGGLE_OFF) return;  // values of tokens are their own
  fed values = {.count = 0};
  loop l = begin_loop(f, "while", int_scalar(f, 0), fed_int(f, &values, 2));
  rheos_tensor *rows;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(300), &rows));
  const carried row = carry(f, &l, "while", rheos_constant(f->scope, rows, NULL));
  rheos_tensor_unref(rows);
  const rheos_output sum = op_2(f, "AddV2", row.body, row.body);
  carry_on(f, &row, op_2(f, "Maximum", op_2(f, "Sub", sum, row.body), sum));
  end_loop(f, &l, add_one(f, l.body));
  check(rheos_scope_finish(f->scope));
  for (int i = 0; i < 3; i++) requests_of_trips(f, row.exit, &values, 5);  // makes plans and room
  const int64_t few = requests_of_trips(f, row.exit, &values, 4);
  const int64_t many = requests_of_trips(f, row.exit, &values, 2000);
  assert_int_equal(many, few);
  free_feeds(&values);
}

enum { DEPTH = 4 };

// A loop in the body of a loop, four deep, in which the innermost counts all trips.
static rheos_output nested_count(fixture *f, rheos_output count, const rheos_output *limits,
                                 rheos_output zero, int32_t depth) {
  if (depth == DEPTH)
    return op_2(f, "AddV2", count, int_after(f, 1, rheos_output_operation(count)));
  char frame[32];
  snprintf(frame, sizeof frame, "level_%d", (int)depth);
  loop l = begin_loop(f, frame, zero, limits[depth]);
  const carried total = carry(f, &l, frame, count);
  rheos_output inner_limits[DEPTH];
  for (int32_t i = depth + 1; i < DEPTH; i++) inner_limits[i] = enter(f, limits[i], frame, true);
  const rheos_output inner_zero = int_after(f, 0, rheos_output_operation(l.body));
  carry_on(f, &total, nested_count(f, total.body, inner_limits, inner_zero, depth + 1));
  end_loop(f, &l, add_one(f, l.body));
  return total.exit;
}

static void test_loop__nests_four_deep(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  rheos_output limits[DEPTH];
  for (int32_t i = 0; i < DEPTH; i++) limits[i] = fed_int(f, &values, i + 2);
  const rheos_output count = nested_count(f, int_scalar(f, 0), limits, int_scalar(f, 0), 0);
  assert_int_equal(int_of(f, count, &values), 2 * 3 * 4 * 5);
  set_int(&values, 2, 0);
  assert_int_equal(int_of(f, count, &values), 0);
  set_int(&values, 2, 1);
  assert_int_equal(int_of(f, count, &values), 2 * 3 * 1 * 5);
  free_feeds(&values);
}

static void test_loop__may_change_shapes(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  loop l = begin_loop(f, "while", int_scalar(f, 0), fed_int(f, &values, 5));
  const rheos_output first = enter(f, floats(f, RHEOS_SHAPE(1), &(float){2}), "while", false);
  check(rheos_scope_finish(f->scope));
  check(rheos_output_set_shape(first, RHEOS_SHAPE(1)));
  carried list = {.merge = merge(f, first, first)};
  assert_int_equal(rheos_output_shape(out_of(list.merge, 0)).dims[0], 1);
  const rheos_operation s = switch_(f, out_of(list.merge, 0), l.cond);
  const rheos_output body = op_1(f, "Identity", out_of(s, 1));
  list.exit = op_1(f, "Exit", out_of(s, 0));
  const rheos_output axis = int_after(f, 0, rheos_output_operation(l.body));
  carry_on(f, &list,
           out_of(add(f, "ConcatV2", (const rheos_output[]){body, body, axis}, 3, NULL, 0), 0));
  end_loop(f, &l, add_one(f, l.body));
  // What is known of the shapes holds in all trips.
  const rheos_shape shape = rheos_output_shape(list.exit);
  assert_int_equal(shape.rank, 1);
  assert_int_equal(shape.dims[0], -1);
  rheos_tensor *tensor = NULL;
  check(run_output(f, rheos_output_operation(list.exit), 0, &values, &tensor));
  float twos[32];
  for (int i = 0; i < 32; i++) twos[i] = 2;
  expect_floats(tensor, RHEOS_SHAPE(32), twos);
  free_feeds(&values);
}

static void test_loop__that_never_ends_is_stopped(void **state) {
  fixture *f = *state;
  loop l = begin_loop(f, "while", int_scalar(f, 0), int_scalar(f, 1));
  end_loop(f, &l, l.body);
  check(rheos_scope_finish(f->scope));
  rheos_fetch fetch = {l.exit, NULL};
  const rheos_run_options options = {.timeout_ms = 30};
  const double start = now_ns();
  expect_error(rheos_session_run(f->session, NULL, 0, &fetch, 1, NULL, 0, &options),
               RHEOS_DEADLINE_EXCEEDED, "30 ms");
  assert_true(now_ns() - start < 5e9);
  assert_null(fetch.value);
}

// ---- Branches

typedef struct cond {
  rheos_operation x;  // the Switch of the value
  rheos_operation merged;
} cond;

// x + 1 if pred, else -x.
static cond make_cond(fixture *f, rheos_output pred, rheos_output x) {
  cond c = {.x = switch_(f, x, pred)};
  const rheos_output no = op_1(f, "Neg", out_of(c.x, 0));
  const rheos_output yes = add_one(f, out_of(c.x, 1));
  c.merged = merge(f, no, yes);
  return c;
}

static void test_cond__takes_a_side(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  const rheos_output pred = fed_bool(f, &values, true);
  const cond c = make_cond(f, pred, fed_int(f, &values, 5));
  for (int i = 0; i < 4; i++) {
    set_bool(&values, 0, i % 2 == 0);
    assert_int_equal(int_of(f, out_of(c.merged, 0), &values), i % 2 == 0 ? 6 : -5);
    assert_int_equal(int_of(f, out_of(c.merged, 1), &values), i % 2 == 0 ? 1 : 0);
  }
  free_feeds(&values);
}

static void test_cond__fetches_of_the_other_side_fail(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  const rheos_output pred = fed_bool(f, &values, true);
  const cond c = make_cond(f, pred, fed_int(f, &values, 5));
  assert_int_equal(int_of(f, out_of(c.x, 1), &values), 5);
  expect_failure(f, out_of(c.x, 0), &values, RHEOS_INVALID_ARGUMENT,
                 "Retval[0] does not have value");
  // Through ops of several inputs and outputs, and by a control edge.
  const rheos_output joined = op_2(f, "AddV2", out_of(c.x, 0), int_scalar(f, 1));
  expect_failure(f, joined, &values, RHEOS_INVALID_ARGUMENT, "does not have value");
  const rheos_output after = int_after(f, 3, rheos_output_operation(joined));
  expect_failure(f, after, &values, RHEOS_INVALID_ARGUMENT, "does not have value");
  set_bool(&values, 0, false);
  assert_int_equal(int_of(f, after, &values), 3);
  free_feeds(&values);
}

static void test_cond__a_fed_value_in_a_branch_is_not_dead(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  const rheos_output pred = fed_bool(f, &values, true);
  const rheos_operation s = switch_(f, int_scalar(f, 5), pred);
  const rheos_output inside = op_1(f, "Identity", out_of(s, 0));
  const rheos_output more = add_one(f, inside);
  expect_failure(f, op_1(f, "Neg", inside), &values, RHEOS_INVALID_ARGUMENT, "value");
  rheos_tensor *nine = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &(int32_t){9}, &nine));
  values.feeds[values.count++] = (rheos_feed){inside, nine};
  assert_int_equal(int_of(f, op_1(f, "Neg", inside), &values), -9);
  assert_int_equal(int_of(f, inside, &values), 9);
  assert_int_equal(int_of(f, more, &values), 10);
  free_feeds(&values);
}

static void test_control_trigger__is_never_dead(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  const rheos_operation s = switch_(f, int_scalar(f, 5), fed_bool(f, &values, true));
  const rheos_operation dead = rheos_output_operation(op_1(f, "Neg", out_of(s, 0)));
  const rheos_operation trigger = rheos_op(
      f->scope,
      &(rheos_op_args){.type = "ControlTrigger", .control_inputs = &dead, .num_control_inputs = 1});
  assert_int_equal(int_of(f, int_after(f, 8, trigger), &values), 8);
  expect_failure(f, int_after(f, 8, no_op_after(f, dead)), &values, RHEOS_INVALID_ARGUMENT,
                 "value");
  free_feeds(&values);
}

static void test_switch_n__takes_the_last_for_others(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  const rheos_output inputs[] = {int_scalar(f, 5), fed_int(f, &values, 0)};
  const rheos_attr attr = rheos_attr_int("num_outs", 3);
  const rheos_operation s = rheos_op(f->scope, &(rheos_op_args){.type = "_SwitchN",
                                                                .name = "switch_n",
                                                                .inputs = inputs,
                                                                .num_inputs = 2,
                                                                .attrs = &attr,
                                                                .num_attrs = 1});
  const rheos_output all[] = {out_of(s, 0), out_of(s, 1), out_of(s, 2)};
  const rheos_operation m = add(f, "Merge", all, 3, NULL, 0);
  const int32_t asked[] = {0, 1, 2, 3, -1}, taken[] = {0, 1, 2, 2, 2};
  for (int i = 0; i < 5; i++) {
    set_int(&values, 0, asked[i]);
    assert_int_equal(int_of(f, out_of(m, 1), &values), taken[i]);
    assert_int_equal(int_of(f, out_of(m, 0), &values), 5);
  }
  free_feeds(&values);
}

static void test_merge__of_two_that_are_alive_takes_the_first(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  const rheos_output four = fed_int(f, &values, 4), five = fed_int(f, &values, 5);
  const rheos_operation m = merge(f, four, five);
  assert_int_equal(int_of(f, out_of(m, 0), &values), 4);
  assert_int_equal(int_of(f, out_of(m, 1), &values), 0);
  free_feeds(&values);
}

static void test_cond__in_a_loop_and_loop_in_a_cond(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  const rheos_output pred = fed_bool(f, &values, true), limit = fed_int(f, &values, 6);
  const rheos_operation start = switch_(f, int_scalar(f, 0), pred);
  const rheos_operation bound = switch_(f, limit, pred);
  loop l = begin_loop(f, "while", out_of(start, 1), out_of(bound, 1));
  const carried sum = carry(f, &l, "while", out_of(switch_(f, int_scalar(f, 1), pred), 1));
  // sum + 1 where i is above 2, else -sum
  const rheos_output two = int_after(f, 2, rheos_output_operation(l.body));
  const cond c = make_cond(f, op_2(f, "Greater", l.body, two), sum.body);
  carry_on(f, &sum, out_of(c.merged, 0));
  end_loop(f, &l, add_one(f, l.body));
  const rheos_output other = op_1(f, "Neg", out_of(bound, 0));
  const rheos_operation result = merge(f, other, sum.exit);
  assert_int_equal(int_of(f, out_of(result, 0), &values), -1 + 3);
  assert_int_equal(int_of(f, out_of(result, 1), &values), 1);
  set_bool(&values, 0, false);  // the loop is dead
  assert_int_equal(int_of(f, out_of(result, 0), &values), -6);
  assert_int_equal(int_of(f, out_of(result, 1), &values), 0);
  expect_failure(f, sum.exit, &values, RHEOS_INVALID_ARGUMENT, "does not have value");
  set_bool(&values, 0, true);
  set_int(&values, 1, 0);
  assert_int_equal(int_of(f, out_of(result, 0), &values), 1);
  free_feeds(&values);
}

// ---- References

typedef struct variable {
  rheos_output ref;
  rheos_operation initializer;
} variable;

static variable make_variable(fixture *f, const char *name, int32_t value) {
  const rheos_shape scalar = RHEOS_SCALAR;
  const rheos_attr attrs[] = {rheos_attr_shape("shape", &scalar),
                              rheos_attr_type("dtype", RHEOS_INT32),
                              rheos_attr_string("shared_name", name, strlen(name))};
  variable v = {.ref = out_of(add(f, "VariableV2", NULL, 0, attrs, 3), 0)};
  v.initializer = add(f, "Assign", (const rheos_output[]){v.ref, int_scalar(f, value)}, 2, NULL, 0);
  check(run_target(f, v.initializer));
  return v;
}

static void test_references__are_switched_and_merged(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  const variable a = make_variable(f, "a", 10), b = make_variable(f, "b", 20);
  const rheos_output pred = fed_bool(f, &values, true);
  const rheos_operation switch_a = switch_(f, a.ref, pred), switch_b = switch_(f, b.ref, pred);
  const rheos_operation either = merge(f, out_of(switch_b, 0), out_of(switch_a, 1));
  assert_int_equal(rheos_output_dtype(out_of(either, 0)), RHEOS_INT32 + RHEOS_REF);
  const rheos_output added = op_2(f, "AssignAdd", out_of(either, 0), int_scalar(f, 1));
  assert_int_equal(int_of(f, added, &values), 11);
  assert_int_equal(int_of(f, a.ref, NULL), 11);
  assert_int_equal(int_of(f, b.ref, NULL), 20);
  set_bool(&values, 0, false);
  assert_int_equal(int_of(f, added, &values), 21);
  assert_int_equal(int_of(f, a.ref, NULL), 11);
  const rheos_output refs[] = {fed_int(f, &values, 0), a.ref, b.ref};
  const rheos_output chosen =
      op_2(f, "AssignAdd", out_of(add(f, "RefSelect", refs, 3, NULL, 0), 0), int_scalar(f, 100));
  assert_int_equal(int_of(f, chosen, &values), 111);
  set_int(&values, 1, 1);
  assert_int_equal(int_of(f, chosen, &values), 121);
  set_int(&values, 1, 2);
  expect_failure(f, chosen, &values, RHEOS_INVALID_ARGUMENT, "Index must be in the range [0, 2)");
  free_feeds(&values);
}

static void test_references__are_read_when_the_reader_runs(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  const variable v = make_variable(f, "v", 0);
  loop l = begin_loop(f, "while", int_scalar(f, 0), fed_int(f, &values, 4));
  const rheos_output ref = enter(f, v.ref, "while", true);
  const rheos_output added = op_2(f, "AssignAdd", ref, l.body);
  const rheos_operation after = rheos_output_operation(added);
  const carried trace = carry(f, &l, "while", int_scalar(f, 0));
  // trace * 10 + v, after the assignment of the trip
  const rheos_output ten = int_after(f, 10, rheos_output_operation(l.body));
  const rheos_operation read = rheos_op(f->scope, &(rheos_op_args){.type = "Identity",
                                                                   .inputs = &ref,
                                                                   .num_inputs = 1,
                                                                   .control_inputs = &after,
                                                                   .num_control_inputs = 1});
  carry_on(f, &trace, op_2(f, "AddV2", op_2(f, "Mul", trace.body, ten), out_of(read, 0)));
  end_loop(f, &l, add_one(f, l.body));
  assert_int_equal(int_of(f, trace.exit, &values), 136);  // 0, 1, 3, 6
  assert_int_equal(int_of(f, v.ref, NULL), 6);
  // Behind the loop what was assigned in it is seen.
  const rheos_operation left = rheos_output_operation(trace.exit);
  const rheos_operation behind = rheos_op(f->scope, &(rheos_op_args){.type = "Identity",
                                                                     .inputs = &v.ref,
                                                                     .num_inputs = 1,
                                                                     .control_inputs = &left,
                                                                     .num_control_inputs = 1});
  assert_int_equal(int_of(f, out_of(behind, 0), &values), 12);
  rheos_fetch fetches[] = {{v.ref, NULL}, {trace.exit, NULL}};
  check(rheos_session_run(f->session, values.feeds, values.count, fetches, 2, NULL, 0, NULL));
  expect_ints(fetches[0].value, RHEOS_SCALAR, &(int32_t){18});
  rheos_tensor_unref(fetches[1].value);
  free_feeds(&values);
}

static void test_references__pass_through_loops(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  const variable v = make_variable(f, "v", 3);
  loop l = begin_loop(f, "while", int_scalar(f, 0), fed_int(f, &values, 5));
  const carried ref = carry(f, &l, "while", v.ref);
  const rheos_output one = int_after(f, 1, rheos_output_operation(l.body));
  carry_on(f, &ref, op_2(f, "AssignAdd", ref.body, one));
  end_loop(f, &l, add_one(f, l.body));
  assert_int_equal(int_of(f, ref.exit, &values), 8);
  assert_int_equal(int_of(f, v.ref, NULL), 8);
  free_feeds(&values);
}

// ---- What is wrong

static void test_errors__name_the_node(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  const rheos_output many = feed(f, &values, RHEOS_BOOL, RHEOS_SHAPE(2), (bool[]){true, false});
  const rheos_operation s = switch_(f, int_scalar(f, 1), many);
  expect_failure(f, out_of(s, 0), &values, RHEOS_INVALID_ARGUMENT,
                 "The second input must be a scalar, but it has shape [2]");
  expect_failure(f, out_of(s, 0), &values, RHEOS_INVALID_ARGUMENT, "Switch");
  const rheos_output cond = op_1(f, "LoopCond", many);
  expect_failure(f, cond, &values, RHEOS_INVALID_ARGUMENT, "LoopCond");
  free_feeds(&values);
}

static void test_errors__in_a_trip_leave_the_session_usable(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  loop l = begin_loop(f, "while", int_scalar(f, 0), fed_int(f, &values, 9));
  const carried sum = carry(f, &l, "while", int_scalar(f, 0));
  const rheos_output zero = enter(f, fed_int(f, &values, 5), "while", true);
  // fails where i comes to the number that is fed
  carry_on(f, &sum, op_2(f, "FloorDiv", l.body, op_2(f, "Sub", zero, l.body)));
  end_loop(f, &l, add_one(f, l.body));
  for (int i = 0; i < 3; i++) {
    set_int(&values, 1, 5);
    expect_failure(f, sum.exit, &values, RHEOS_INVALID_ARGUMENT, "FloorDiv");
    set_int(&values, 1, 100);
    assert_int_equal(int_of(f, sum.exit, &values), 0);
  }
  free_feeds(&values);
}

static void test_errors__of_frames(void **state) {
  fixture *f = *state;
  const rheos_output inside = enter(f, int_scalar(f, 1), "inside", false);
  const rheos_output mixed = op_2(f, "AddV2", inside, int_scalar(f, 2));
  expect_failure(f, mixed, NULL, RHEOS_INVALID_ARGUMENT, "inputs from different frames");
  const rheos_output deeper = enter(f, inside, "deeper", false);
  const rheos_output again = enter(f, int_scalar(f, 1), "deeper", false);
  const rheos_output both = op_2(f, "AddV2", deeper, again);
  expect_failure(f, both, NULL, RHEOS_INTERNAL, "Mismatched parent frames");
  expect_failure(f, enter(f, inside, "inside", false), NULL, RHEOS_INTERNAL,
                 "Mismatched parent frames for \"inside\": \"inside\" vs \"\"");
  expect_failure(f, op_1(f, "Exit", int_scalar(f, 1)), NULL, RHEOS_INVALID_ARGUMENT,
                 "it is in no loop");
  expect_failure(f, enter(f, int_scalar(f, 1), "", false), NULL, RHEOS_INVALID_ARGUMENT,
                 "frame name");
}

static void test_errors__of_cycles(void **state) {
  fixture *f = *state;
  const rheos_output entered = enter(f, int_scalar(f, 1), "while", false);
  const rheos_operation m = merge(f, entered, entered);
  const rheos_output round = op_1(f, "Neg", out_of(m, 0));
  check(rheos_scope_finish(f->scope));
  expect_error(rheos_operation_close_loop(m, 1, round), RHEOS_INVALID_ARGUMENT, "NextIteration");
  const rheos_output next = op_1(f, "NextIteration", round);
  check(rheos_scope_finish(f->scope));
  expect_error(rheos_operation_close_loop(m, 2, next), RHEOS_INVALID_ARGUMENT, "input 2");
  expect_error(rheos_operation_close_loop(rheos_output_operation(round), 0, next),
               RHEOS_INVALID_ARGUMENT, "Merge");
  check(rheos__graph_set_input(f->graph, m.id, 1, (rheos__edge){round.id, 0}));
  expect_failure(f, round, NULL, RHEOS_INVALID_ARGUMENT, "cycle");
}

static void test_errors__of_a_fetch_in_a_loop(void **state) {
  fixture *f = *state;
  loop l = begin_loop(f, "while", int_scalar(f, 0), int_scalar(f, 3));
  end_loop(f, &l, add_one(f, l.body));
  expect_failure(f, l.body, NULL, RHEOS_INTERNAL, "Retval[0] has already been set");
}

static void test_errors__of_an_exit_in_two_trips(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  loop l = begin_loop(f, "while", int_scalar(f, 3), fed_int(f, &values, 4));
  end_loop(f, &l, add_one(f, l.body));
  // of a value that every trip has, beside one that only the last has
  const rheos_output both = op_2(f, "AddV2", op_1(f, "Exit", l.body), l.exit);
  for (int i = 0; i < 2; i++) {
    set_int(&values, 0, 6);
    expect_failure(f, both, &values, RHEOS_INVALID_ARGUMENT, "in two of its trips");
    set_int(&values, 0, 4);
    assert_int_equal(int_of(f, both, &values), 7);
  }
  free_feeds(&values);
}

static void test_abort__fails_the_step(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  const rheos_operation s = switch_(f, int_scalar(f, 1), fed_bool(f, &values, false));
  const rheos_operation yes = rheos_output_operation(op_1(f, "Identity", out_of(s, 1)));
  const rheos_attr attr = rheos_attr_string("error_msg", "enough", 6);
  const rheos_operation abort_op = rheos_op(f->scope, &(rheos_op_args){.type = "Abort",
                                                                       .attrs = &attr,
                                                                       .num_attrs = 1,
                                                                       .control_inputs = &yes,
                                                                       .num_control_inputs = 1});
  check(rheos_scope_finish(f->scope));
  check(rheos_session_run(f->session, values.feeds, values.count, NULL, 0, &abort_op, 1, NULL));
  set_bool(&values, 0, true);
  expect_error(
      rheos_session_run(f->session, values.feeds, values.count, NULL, 0, &abort_op, 1, NULL),
      RHEOS_ABORTED, "enough");
  free_feeds(&values);
}

// ---- Short memory

// A session that runs `fetched` twice, while the n-th request from now on fails.
static rheos_status *run_with_failure(fixture *f, rheos_output fetched, const fed *values) {
  rheos_session *session = NULL;
  rheos_status *status = rheos_session_new(
      f->graph, &(rheos_session_options){.num_threads = 1, .rewrites = rewrites}, &session);
  for (int i = 0; status == NULL && i < 2; i++) {
    rheos_fetch fetch = {fetched, NULL};
    status = rheos_session_run(session, values->feeds, values->count, &fetch, 1, NULL, 0, NULL);
    assert_true((status == NULL) == (fetch.value != NULL));
    rheos_tensor_unref(fetch.value);
  }
  rheos_session_free(session);
  return status;
}

static void test_flow__survives_short_memory(void **state) {
  fixture *f = *state;
  fed values = {.count = 0};
  loop l = begin_loop(f, "while", int_scalar(f, 0), fed_int(f, &values, 3));
  const carried sum = carry(f, &l, "while", int_scalar(f, 1));
  const cond c = make_cond(
      f, op_2(f, "Less", l.body, int_after(f, 1, rheos_output_operation(l.body))), sum.body);
  carry_on(f, &sum, out_of(c.merged, 0));
  end_loop(f, &l, add_one(f, l.body));
  check(rheos_scope_finish(f->scope));
  int num_failed = 0;
  for (int64_t n = 1;; n++) {
    counter.fail_at = counter.requests + n;
    rheos_status *status = run_with_failure(f, sum.exit, &values);
    const bool reached = counter.requests >= counter.fail_at;
    counter.fail_at = 0;
    if (status != NULL) {
      assert_int_equal(rheos_status_code(status), RHEOS_RESOURCE_EXHAUSTED);
      rheos_status_free(status);
      num_failed++;
    }
    if (!reached) break;
  }
  assert_true(num_failed > 50);
  free_feeds(&values);
}

static int set_up_session(void **state) {
  set_up(state);
  fixture *f = *state;
  rheos_session_free(f->session);
  check(rheos_session_new(f->graph, &(rheos_session_options){.rewrites = rewrites}, &f->session));
  return 0;
}

#define FLOW_TEST(name) cmocka_unit_test_setup_teardown(name, set_up_session, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      FLOW_TEST(test_loop__of_any_number_of_trips),
      FLOW_TEST(test_loop__of_many_trips_stays_in_its_memory),
      FLOW_TEST(test_loop__of_shapes_that_stay_allocates_nothing_from_the_second_trip),
      FLOW_TEST(test_loop__nests_four_deep),
      FLOW_TEST(test_loop__may_change_shapes),
      FLOW_TEST(test_loop__that_never_ends_is_stopped),
      FLOW_TEST(test_cond__takes_a_side),
      FLOW_TEST(test_cond__fetches_of_the_other_side_fail),
      FLOW_TEST(test_cond__a_fed_value_in_a_branch_is_not_dead),
      FLOW_TEST(test_control_trigger__is_never_dead),
      FLOW_TEST(test_switch_n__takes_the_last_for_others),
      FLOW_TEST(test_merge__of_two_that_are_alive_takes_the_first),
      FLOW_TEST(test_cond__in_a_loop_and_loop_in_a_cond),
      FLOW_TEST(test_references__are_switched_and_merged),
      FLOW_TEST(test_references__are_read_when_the_reader_runs),
      FLOW_TEST(test_references__pass_through_loops),
      FLOW_TEST(test_errors__name_the_node),
      FLOW_TEST(test_errors__in_a_trip_leave_the_session_usable),
      FLOW_TEST(test_errors__of_frames),
      FLOW_TEST(test_errors__of_cycles),
      FLOW_TEST(test_errors__of_a_fetch_in_a_loop),
      FLOW_TEST(test_errors__of_an_exit_in_two_trips),
      FLOW_TEST(test_abort__fails_the_step),
      FLOW_TEST(test_flow__survives_short_memory),
  };
  counting_allocator_install(&counter);
  const int num_failed = cmocka_run_group_tests_name("flow", tests, NULL, NULL);
  rewrites.raise_control_flow = RHEOS_TOGGLE_OFF;
  return num_failed + cmocka_run_group_tests_name("flow on tokens", tests, NULL, NULL);
}
