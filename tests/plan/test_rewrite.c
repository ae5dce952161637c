// The rules, before and after: what a plan runs in place of what the program wrote, and that the
// bits are the same.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/plan_text.h"

typedef struct fixture {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_output x;  // floats, [?, 4]
} fixture;

static int set_up(void **state) {
  fixture *f = malloc(sizeof *f);
  f->graph = rheos_graph_new();
  f->s = rheos_scope_new(f->graph);
  f->x = rheos_placeholder(f->s, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(-1, 4), .name = "x");
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  rheos_scope_free(f->s);
  rheos_graph_unref(f->graph);
  free(f);
  feed_extremes = false;
  return 0;
}

// ---- Passing on

static void test_rewrite__what_passes_on_goes(void **state) {
  fixture *f = *state;
  rheos_output same = rheos_identity(f->s, f->x);
  same = rheos_stop_gradient(f->s, rheos_identity(f->s, same));
  check_plan_of(f->s, f->x, rheos_neg(f->s, same, .name = "y"), "y = Neg(x)\n");
}

static void test_rewrite__a_fetched_identity_is_its_input(void **state) {
  fixture *f = *state;
  rheos_output y = rheos_neg(f->s, f->x, .name = "y");
  rheos_output same = rheos_identity(f->s, y);
  rheos_output fetches[] = {same, y, rheos_identity(f->s, f->x)};
  check_plan(f->s, NULL, &f->x, 1, fetches, 3, "y = Neg(x)\n");
}

static void test_rewrite__a_fed_identity_stays(void **state) {
  fixture *f = *state;
  rheos_output same = rheos_identity(f->s, f->x, .name = "same");
  rheos_output y = rheos_neg(f->s, rheos_identity(f->s, same), .name = "y");
  check_plan_of(f->s, same, y, "y = Neg(same)\n");
}

static void test_rewrite__options_turn_groups_off(void **state) {
  fixture *f = *state;
  rheos_output same = rheos_identity(f->s, f->x, .name = "same");
  rheos_output fetches[] = {rheos_neg(f->s, same, .name = "y"), rheos_neg(f->s, same, .name = "z")};
  rheos_rewrite_options off = {.dependency_optimization = RHEOS_TOGGLE_OFF};
  check_plan(f->s, &off, &f->x, 1, fetches, 2, "same = Identity(x)\ny = Neg(same)\n");
  off = (rheos_rewrite_options){.common_subgraph_elimination = RHEOS_TOGGLE_OFF};
  check_plan(f->s, &off, &f->x, 1, fetches, 2, "y = Neg(x)\nz = Neg(x)\n");
  off = (rheos_rewrite_options){.disable_meta_optimizer = true};
  check_plan(f->s, &off, &f->x, 1, fetches, 2,
             "same = Identity(x)\ny = Neg(same)\nz = Neg(same)\n");
}

// ---- Common subexpressions

static void test_rewrite__the_same_twice_runs_once(void **state) {
  fixture *f = *state;
  rheos_output ys[2];
  for (int i = 0; i < 2; ++i) {
    rheos_output two = rheos_constant_float(f->s, 2, NULL);
    ys[i] = rheos_mul(f->s, rheos_exp(f->s, f->x, .name = "exp"), two, .name = "mul");
  }
  rheos_output y = rheos_sub(f->s, ys[0], ys[1], .name = "y");
  check_plan_of(f->s, f->x, y, "exp = Exp(x)\nmul = Mul(exp, Const)\ny = Sub(mul, mul)\n");
}

static void test_rewrite__random_numbers_stay_apart(void **state) {
  fixture *f = *state;
  rheos_output shape = int_vector(f->s, 1, (int32_t[]){2});
  rheos_output a = rheos_random_uniform(f->s, shape, RHEOS_FLOAT, .seed = 1, .name = "a");
  rheos_output b = rheos_random_uniform(f->s, shape, RHEOS_FLOAT, .seed = 1, .name = "b");
  check_plan_of(f->s, (rheos_output){0}, rheos_sub(f->s, a, b, .name = "y"),
                "a = RandomUniform(Const)\nb = RandomUniform(Const)\ny = Sub(a, b)\n");
}

// ---- Arithmetic

static void test_rewrite__numbers_that_change_nothing_go(void **state) {
  fixture *f = *state;
  feed_extremes = true;
  rheos_output one = rheos_constant_float(f->s, 1, NULL),
               zero = rheos_constant_float(f->s, 0, NULL);
  rheos_output y = rheos_mul(f->s, one, rheos_mul(f->s, f->x, one));
  y = rheos_sub(f->s, rheos_realdiv(f->s, y, one), zero);
  y = rheos_add(f->s, y, rheos_constant_float(f->s, -0.0F, NULL));
  check_plan_of(f->s, f->x, rheos_exp(f->s, y, .name = "y"), "y = Exp(x)\n");
}

static rheos_output condition(fixture *f, int64_t count, bool first, bool others) {
  const bool values[] = {first, others, others};
  rheos_tensor *tensor = NULL;
  assert_null(rheos_tensor_from_values(RHEOS_BOOL, RHEOS_SHAPE(count), values, &tensor));
  const rheos_output constant = rheos_constant(f->s, tensor, "c");
  rheos_tensor_unref(tensor);
  return constant;
}

static void test_rewrite__a_branch_never_taken_is_not_computed(void **state) {
  fixture *f = *state;
  rheos_output x = rheos_placeholder(f->s, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(2), .name = "p");
  rheos_output a = rheos_exp(f->s, x, .name = "a"), b = rheos_neg(f->s, x, .name = "b");
  rheos_output y = rheos_select(f->s, condition(f, 2, true, true), a, b);
  check_plan_of(f->s, x, rheos_square(f->s, y, .name = "y"), "a = Exp(p)\ny = Square(a)\n");
  rheos_output z = rheos_select_v2(f->s, condition(f, 2, false, false), a, b);
  check_plan_of(f->s, x, rheos_square(f->s, z, .name = "z"), "b = Neg(p)\nz = Square(b)\n");
}

static void test_rewrite__a_branch_that_counts_stays(void **state) {
  fixture *f = *state;
  rheos_output x = rheos_placeholder(f->s, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(2), .name = "p");
  rheos_output scalar = rheos_constant_float(f->s, 3, "three");
  rheos_output both = condition(f, 2, true, false);
  check_plan_of(f->s, x, rheos_select_v2(f->s, both, x, scalar, .name = "y"),
                "y = SelectV2(c, p, three)\n");
  // The condition gives the shape.
  check_plan_of(f->s, x,
                rheos_select_v2(f->s, condition(f, 2, false, false), x, scalar, .name = "z"),
                "z = SelectV2(c_1, p, three)\n");
  rheos_output rows = rheos_select(f->s, condition(f, 3, true, true), f->x, f->x, .name = "rows");
  check_plan_of(f->s, f->x, rows, "rows = Select(c_2, x, x)\n");  // of how many, is not known
}

static void test_rewrite__a_zero_that_counts_stays(void **state) {
  fixture *f = *state;
  feed_extremes = true;
  rheos_output zero = rheos_constant_float(f->s, 0, "zero");
  rheos_output sum = rheos_add(f->s, f->x, zero, .name = "sum");
  rheos_output y = rheos_sub(f->s, zero, sum, .name = "y");
  check_plan_of(f->s, f->x, y, "sum = Add(x, zero)\ny = Sub(zero, sum)\n");
}

static void test_rewrite__integers_have_one_zero(void **state) {
  fixture *f = *state;
  rheos_output x = rheos_placeholder(f->s, RHEOS_INT32, .shape = &RHEOS_SHAPE(5), .name = "i");
  rheos_output one = rheos_constant_int(f->s, 1, NULL), zero = rheos_constant_int(f->s, 0, NULL);
  rheos_output y = rheos_add(f->s, zero, rheos_floordiv(f->s, x, one));
  check_plan_of(f->s, x, rheos_square(f->s, y, .name = "y"), "y = Square(i)\n");
}

static void test_rewrite__a_number_that_gives_the_shape_stays(void **state) {
  fixture *f = *state;
  rheos_output x = rheos_placeholder(f->s, RHEOS_FLOAT, .shape = &RHEOS_SCALAR, .name = "scalar");
  rheos_tensor *tensor = NULL;
  assert_null(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(1, 1), &tensor));
  *(float *)rheos_tensor_data(tensor) = 1;
  rheos_output one = rheos_constant(f->s, tensor, "one");
  rheos_tensor_unref(tensor);
  check_plan_of(f->s, x, rheos_mul(f->s, x, one, .name = "y"), "y = Mul(scalar, one)\n");
  check_plan_of(f->s, f->x, rheos_neg(f->s, rheos_mul(f->s, f->x, one), .name = "z"),
                "z = Neg(x)\n");
}

static void test_rewrite__what_is_done_twice(void **state) {
  fixture *f = *state;
  feed_extremes = true;
  rheos_output y = rheos_neg(f->s, rheos_neg(f->s, f->x));
  y = rheos_abs(f->s, rheos_abs(f->s, y, .name = "abs"));
  y = rheos_floor(f->s, rheos_floor(f->s, y, .name = "floor"));
  y = rheos_relu(f->s, rheos_relu(f->s, y, .name = "relu"));
  y = rheos_cast(f->s, y, RHEOS_FLOAT);
  check_plan_of(f->s, f->x, y, "abs = Abs(x)\nfloor = Floor(abs)\nrelu = Relu(floor)\n");
}

static void test_rewrite__last_bits_change_only_when_asked(void **state) {
  fixture *f = *state;
  rheos_output two = rheos_constant_float(f->s, 2, "two");
  rheos_output y = rheos_pow(
      f->s, rheos_log(f->s, rheos_softmax(f->s, f->x, .name = "p"), .name = "l"), two, .name = "y");
  check_plan_of(f->s, f->x, y, "p = Softmax(x)\nl = Log(p)\ny = Pow(l, two)\n");
  rheos_rewrite_options aggressive = {.arithmetic_optimization = RHEOS_TOGGLE_AGGRESSIVE};
  char *text = plan_text(f->graph, &aggressive, &f->x, 1, &y, 1);
  assert_string_equal(text, "l = LogSoftmax(x)\ny = Square(l)\n");
  free(text);
}

// The loss at the first row of logits, in a session with the option.
static float loss_with(const fixture *f, rheos_output loss, rheos_toggle toggle,
                       const float *logits) {
  rheos_session *session = NULL;
  const rheos_session_options options = {.num_threads = 1,
                                         .rewrites.arithmetic_optimization = toggle};
  assert_null(rheos_session_new(f->graph, &options, &session));
  rheos_tensor *x = NULL;
  assert_null(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(1, 4), logits, &x));
  rheos_feed feed = {f->x, x};
  rheos_fetch fetch = {loss, NULL};
  assert_null(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL));
  const float value = *(const float *)rheos_tensor_data(fetch.value);
  rheos_tensor_unref(fetch.value);
  rheos_tensor_unref(x);
  rheos_session_free(session);
  return value;
}

// -sum(labels * log(softmax(x))): what is left of it is one loop, so it needs no op of its own.
static void test_rewrite__cross_entropy_needs_no_probabilities(void **state) {
  fixture *f = *state;
  const rheos_output labels = rheos_constant_float(f->s, 0.25F, "labels");
  const rheos_output log = rheos_log(f->s, rheos_softmax(f->s, f->x, .name = "p"), .name = "l");
  const rheos_output sum = rheos_sum(f->s, rheos_mul(f->s, labels, log, .name = "m"),
                                     int_vector(f->s, 1, (int32_t[]){1}), .name = "sum");
  const rheos_output loss = rheos_neg(f->s, sum, .name = "loss");
  check_plan_of(f->s, f->x, loss,
                "p = Softmax(x)\nl = Log(p)\nm = Mul(labels, l)\nsum = Sum(m, Const)\n"
                "loss = Neg(sum)\n");
  const rheos_rewrite_options aggressive = {.arithmetic_optimization = RHEOS_TOGGLE_AGGRESSIVE};
  char *text = plan_text(f->graph, &aggressive, &f->x, 1, &loss, 1);
  assert_string_equal(text,
                      "l = LogSoftmax(x)\nm = Mul(labels, l)\nsum = Sum(m, Const)\n"
                      "loss = Neg(sum)\n");
  free(text);
  const float ordinary[] = {0.5F, -1, 2, 0}, far[] = {0, 0, 0, 300};
  const float plain = loss_with(f, loss, RHEOS_TOGGLE_DEFAULT, ordinary);
  assert_true(fabsf(loss_with(f, loss, RHEOS_TOGGLE_AGGRESSIVE, ordinary) - plain) < 1e-6F);
  // Where a probability is too small for a float the rule gives what was meant.
  assert_true(isinf(loss_with(f, loss, RHEOS_TOGGLE_DEFAULT, far)));
  assert_true(loss_with(f, loss, RHEOS_TOGGLE_AGGRESSIVE, far) == 225);
}

// ---- Transposes

static rheos_output transpose(fixture *f, rheos_output x, int count, const int32_t *permutation) {
  return rheos_transpose(f->s, x, int_vector(f->s, count, permutation), .name = "transpose");
}

static void test_rewrite__transposes_cancel_out(void **state) {
  fixture *f = *state;
  rheos_output x =
      rheos_placeholder(f->s, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(2, -1, 4), .name = "t");
  rheos_output there = transpose(f, x, 3, (int32_t[]){1, 2, 0});
  rheos_output back = transpose(f, there, 3, (int32_t[]){2, 0, -2});
  rheos_output still = transpose(f, back, 3, (int32_t[]){0, 1, 2});
  check_plan_of(f->s, x, rheos_neg(f->s, still, .name = "y"), "y = Neg(t)\n");
}

static void test_rewrite__products_take_transposes_in(void **state) {
  fixture *f = *state;
  const int32_t swap[] = {1, 0}, swap_last[] = {0, 2, 1};
  rheos_output w = rheos_placeholder(f->s, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(7, 4), .name = "w");
  rheos_output feeds[2] = {f->x, w};
  rheos_output y = rheos_matmul(f->s, f->x, transpose(f, w, 2, swap), .name = "y");
  check_plan(f->s, NULL, feeds, 2, &y, 1, "y = MatMul(x, w; transpose_b)\n");
  rheos_output z = rheos_matmul(f->s, transpose(f, w, 2, swap), transpose(f, f->x, 2, swap),
                                .transpose_a = true, .name = "z");
  check_plan(f->s, NULL, feeds, 2, &z, 1, "z = MatMul(w, x; transpose_b)\n");
  rheos_output b =
      rheos_placeholder(f->s, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(3, 5, 4), .name = "b");
  rheos_output q = rheos_batch_matmul_v2(f->s, b, transpose(f, b, 3, swap_last), .name = "q");
  check_plan_of(f->s, b, q, "q = BatchMatMulV2(b, b; adj_y)\n");
}

// The fed numbers have sums without rounding, so that no kernel's order of summing shows.
static void test_rewrite__transposes_are_taken_in_at_all_sizes(void **state) {
  fixture *f = *state;
  static const int64_t sizes[][3] = {{20, 64, 64}, {33, 129, 65}, {128, 300, 200}, {1, 500, 7}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    const int64_t rows = sizes[i][0], depth = sizes[i][1], columns = sizes[i][2];
    const rheos_shape a = RHEOS_SHAPE(depth, rows), b = RHEOS_SHAPE(columns, depth);
    rheos_output feeds[2] = {rheos_placeholder(f->s, RHEOS_FLOAT, .shape = &a),
                             rheos_placeholder(f->s, RHEOS_FLOAT, .shape = &b)};
    rheos_output y = rheos_matmul(f->s, transpose(f, feeds[0], 2, (int32_t[]){1, 0}),
                                  transpose(f, feeds[1], 2, (int32_t[]){1, 0}));
    check_plan(f->s, NULL, feeds, 2, &y, 1, NULL);
  }
}

static void test_rewrite__reshapes_that_cannot_fail_become_one(void **state) {
  fixture *f = *state;
  rheos_output x = rheos_placeholder(f->s, RHEOS_FLOAT, .shape = &RHEOS_SHAPE(3, 4), .name = "r");
  rheos_output flat = rheos_reshape(f->s, x, int_vector(f->s, 1, (int32_t[]){-1}));
  rheos_output y = rheos_reshape(f->s, flat, int_vector(f->s, 2, (int32_t[]){3, 4}));
  check_plan_of(f->s, x, rheos_neg(f->s, y, .name = "y"), "y = Neg(r)\n");
  y = rheos_reshape(f->s, f->x, int_vector(f->s, 1, (int32_t[]){12}), .name = "may_fail");
  y = rheos_reshape(f->s, y, int_vector(f->s, 2, (int32_t[]){4, 3}), .name = "z");
  check_plan_of(f->s, f->x, y, "may_fail = Reshape(x, Const_2)\nz = Reshape(may_fail, Const_3)\n");
}

// ---- Constants

// The bytes of the intermediates of a step that takes nothing.
static int64_t arena_bytes(rheos_graph *graph, rheos_output y, rheos_toggle folding) {
  rheos_session *session = NULL;
  rheos_session_options options = {.num_threads = 1, .rewrites.constant_folding = folding};
  assert_null(rheos_session_new(graph, &options, &session));
  rheos_fetch fetch = {y, NULL};
  assert_null(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  rheos_session_stats stats;
  rheos_session_get_stats(session, &stats);
  rheos_tensor_unref(fetch.value);
  rheos_session_free(session);
  return stats.arena_bytes;
}

static void test_rewrite__constants_are_folded_up_to_a_size(void **state) {
  fixture *f = *state;
  for (int size = 100; size <= 1000000; size *= 10) {
    rheos_output dims = int_vector(f->s, 1, (int32_t[]){size});
    rheos_output y = rheos_fill(f->s, dims, rheos_constant_float(f->s, 2, NULL));
    y = rheos_exp(f->s, rheos_cumsum(f->s, y, rheos_constant_int(f->s, 0, NULL)));
    y = rheos_max(f->s, y, rheos_constant_int(f->s, 0, NULL));
    assert_null(rheos_scope_finish(f->s));
    const bool is_small = size * (int)sizeof(float) <= 1 << 16;
    assert_int_equal(arena_bytes(f->graph, y, RHEOS_TOGGLE_ON) == 0, is_small);
    assert_true(arena_bytes(f->graph, y, RHEOS_TOGGLE_OFF) >= size * (int)sizeof(float));
  }
}

// ---- What only others wait for

static rheos_operation waiting_for(rheos_scope *s, rheos_output output) {
  rheos_operation control = rheos_output_operation(output);
  return rheos_op(
      s, &(rheos_op_args){.type = "NoOp", .control_inputs = &control, .num_control_inputs = 1});
}

// Instructions of a step that runs `target`; *out_code is how it ended.
static int64_t instructions_of(const fixture *f, rheos_operation target, rheos_toggle toggle,
                               float number, rheos_code *out_code) {
  rheos_session *session = NULL;
  rheos_session_options options = {.num_threads = 1};
  options.rewrites.dependency_optimization = toggle;
  options.rewrites.remapping = RHEOS_TOGGLE_OFF;  // a sum and its elements would be one
  assert_null(rheos_session_new(f->graph, &options, &session));
  rheos_tensor *value = NULL;
  assert_null(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(2, 4), &value));
  for (int i = 0; i < 8; ++i) ((float *)rheos_tensor_data(value))[i] = number;
  rheos_feed feed = {f->x, value};
  rheos_status *status = rheos_session_run(session, &feed, 1, NULL, 0, &target, 1, NULL);
  *out_code = rheos_status_code(status);
  rheos_status_free(status);
  rheos_session_stats stats;
  rheos_session_get_stats(session, &stats);
  rheos_tensor_unref(value);
  rheos_session_free(session);
  return stats.num_instructions;
}

static void test_rewrite__what_only_others_wait_for_goes(void **state) {
  fixture *f = *state;
  rheos_output sum = rheos_sum(f->s, rheos_exp(f->s, f->x), rheos_constant_int(f->s, 0, NULL));
  rheos_operation waiting = waiting_for(f->s, sum);
  rheos_output message = rheos_check_numerics(f->s, f->x, "odd");
  rheos_operation checked = waiting_for(f->s, message);
  assert_null(rheos_scope_finish(f->s));
  rheos_code code;
  assert_int_equal(instructions_of(f, waiting, RHEOS_TOGGLE_ON, 1, &code), 0);
  assert_int_equal(instructions_of(f, waiting, RHEOS_TOGGLE_OFF, 1, &code), 2);
  // What the program asked to run is run, and so is what may stop the step.
  const rheos_operation asked = rheos_output_operation(sum);
  assert_int_equal(instructions_of(f, asked, RHEOS_TOGGLE_ON, 1, &code), 2);
  assert_int_equal(instructions_of(f, checked, RHEOS_TOGGLE_ON, 1, &code), 1);
  assert_int_equal(code, RHEOS_OK);
  instructions_of(f, checked, RHEOS_TOGGLE_ON, NAN, &code);
  assert_int_equal(code, RHEOS_INVALID_ARGUMENT);
}

// An optimizer waits for the gradients of both factors; that of the fed one is not computed.
static void test_rewrite__gradients_of_feeds_go(void **state) {
  fixture *f = *state;
  rheos_output w = rheos_get_variable(f->s, "w", RHEOS_FLOAT, RHEOS_SHAPE(4, 3),
                                      rheos_constant_initializer(0.5));
  rheos_output axes = int_vector(f->s, 2, (int32_t[]){0, 1});
  rheos_output loss = rheos_sum(f->s, rheos_matmul(f->s, f->x, w), axes);
  rheos_operation init = rheos_global_variables_initializer(f->s);
  rheos_operation train = rheos_minimize(f->s, rheos_gradient_descent(0.5), loss);
  assert_null(rheos_scope_finish(f->s));
  rheos_tensor *after[2] = {NULL};
  int64_t instructions[2];
  for (int on = 0; on < 2; ++on) {
    rheos_session *session = NULL;
    rheos_session_options options = {.num_threads = 1};
    options.rewrites.dependency_optimization = on ? RHEOS_TOGGLE_ON : RHEOS_TOGGLE_OFF;
    assert_null(rheos_session_new(f->graph, &options, &session));
    assert_null(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
    rheos_tensor *value = NULL;
    assert_null(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(2, 4), &value));
    for (int i = 0; i < 8; ++i) ((float *)rheos_tensor_data(value))[i] = (float)i;
    rheos_feed feed = {f->x, value};
    assert_null(rheos_session_run(session, &feed, 1, NULL, 0, &train, 1, NULL));
    rheos_session_stats stats;
    rheos_session_get_stats(session, &stats);
    instructions[on] = stats.num_instructions;
    rheos_fetch fetch = {w, NULL};
    assert_null(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
    after[on] = fetch.value;
    rheos_tensor_unref(value);
    rheos_session_free(session);
  }
  assert_true(instructions[1] < instructions[0]);
  assert_memory_equal(rheos_tensor_data(after[0]), rheos_tensor_data(after[1]), 12 * sizeof(float));
  assert_true(*(float *)rheos_tensor_data(after[0]) == 0.5F - 0.5F * 4);
  rheos_tensor_unref(after[0]);
  rheos_tensor_unref(after[1]);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_rewrite__what_passes_on_goes),
      TEST(test_rewrite__a_fetched_identity_is_its_input),
      TEST(test_rewrite__a_fed_identity_stays),
      TEST(test_rewrite__options_turn_groups_off),
      TEST(test_rewrite__the_same_twice_runs_once),
      TEST(test_rewrite__random_numbers_stay_apart),
      TEST(test_rewrite__numbers_that_change_nothing_go),
      TEST(test_rewrite__a_branch_never_taken_is_not_computed),
      TEST(test_rewrite__a_branch_that_counts_stays),
      TEST(test_rewrite__a_zero_that_counts_stays),
      TEST(test_rewrite__integers_have_one_zero),
      TEST(test_rewrite__a_number_that_gives_the_shape_stays),
      TEST(test_rewrite__what_is_done_twice),
      TEST(test_rewrite__last_bits_change_only_when_asked),
      cmocka_unit_test_setup_teardown(test_rewrite__cross_entropy_needs_no_probabilities, set_up,
                                      tear_down),
      TEST(test_rewrite__transposes_cancel_out),
      TEST(test_rewrite__products_take_transposes_in),
      TEST(test_rewrite__transposes_are_taken_in_at_all_sizes),
      TEST(test_rewrite__reshapes_that_cannot_fail_become_one),
      TEST(test_rewrite__constants_are_folded_up_to_a_size),
      TEST(test_rewrite__what_only_others_wait_for_goes),
      TEST(test_rewrite__gradients_of_feeds_go),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
