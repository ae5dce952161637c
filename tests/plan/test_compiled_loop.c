// Compiled loops: the bits of the rows, for every op, dtype and way to broadcast; and what happens
// where no compiler is there, at a fork, and when threads meet a loop while it is being compiled.
// Without LLVM to build with only what needs no compiler is tested.
#include "device/cpu/compiled_loop.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "device/cpu/fused_float.h"
#include <rheos/rheos.h>

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

// ---- Programs: some ops on two tensors of one shape, a row, a column and a number

enum { EDGES = 18, ROWS = 37, COLUMNS = 83, COUNT = ROWS * COLUMNS, FEEDS = 5 };

typedef struct program {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_output x, y, row, column, number, result, other;
} program;

static program program_new(rheos_dtype dtype) {
  program p = {.graph = rheos_graph_new()};
  p.s = rheos_scope_new(p.graph);
  rheos_output *all[] = {&p.x, &p.y, &p.row, &p.column, &p.number};
  for (int i = 0; i < FEEDS; i++) *all[i] = rheos_placeholder(p.s, dtype, .name = "x");
  return p;
}

static void program_free(program *p) {
  rheos_scope_free(p->s);
  rheos_graph_unref(p->graph);
}

static rheos_output op(program *p, const char *type, rheos_output x, rheos_output y, rheos_output z,
                       int count) {
  const rheos_output inputs[] = {x, y, z};
  const rheos_op_args args = {.type = type, .inputs = inputs, .num_inputs = (size_t)count};
  return rheos_operation_output(rheos_op(p->s, &args), 0);
}
static rheos_output op_1(program *p, const char *type, rheos_output x) {
  return op(p, type, x, x, x, 1);
}
static rheos_output op_2(program *p, const char *type, rheos_output x, rheos_output y) {
  return op(p, type, x, y, y, 2);
}

static rheos_output cast(program *p, rheos_output x, rheos_dtype dtype) {
  const rheos_attr attr = rheos_attr_type("DstT", dtype);
  const rheos_op_args args = {
      .type = "Cast", .inputs = &x, .num_inputs = 1, .attrs = &attr, .num_attrs = 1};
  return rheos_operation_output(rheos_op(p->s, &args), 0);
}

// Numbers at the edges of the dtype among ordinary ones.
static void put(rheos_dtype dtype, void *data, int64_t i, int which) {
  static const double edges[EDGES] = {0,     -0.0,  1,      -1,    0.5,      3e38,
                                      -3e38, 1e-45, -1e-45, 1e38,  INFINITY, -INFINITY,
                                      7.25,  -2.5,  1.5,    1e-38, 6,        -0.75};
  const double v = edges[which % EDGES];
  const double fits = fabs(v) < 1e9 ? v : v < 0 ? -2147483648.0 : 2147483647.0;
  if (dtype == RHEOS_FLOAT) ((float *)data)[i] = (float)v;
  if (dtype == RHEOS_DOUBLE) ((double *)data)[i] = which % EDGES == 5 ? 1e308 : v;
  if (dtype == RHEOS_INT32) ((int32_t *)data)[i] = (int32_t)fits + (which % EDGES == 4);
  if (dtype == RHEOS_INT64) {
    ((int64_t *)data)[i] = (int64_t)fits * (which % EDGES == 9 ? 1 << 20 : 1);
  }
  if (dtype == RHEOS_BOOL) ((bool *)data)[i] = which % 3 == 0;
}

static rheos_tensor *tensor_of(rheos_dtype dtype, rheos_shape shape, int stride, int from) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(dtype, shape, &tensor));
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    put(dtype, rheos_tensor_data(tensor), i, (int)(i / stride) + from);
  }
  return tensor;
}

static void feeds_of(const program *p, rheos_dtype dtype, int from, rheos_feed *feeds) {
  const rheos_output all[] = {p->x, p->y, p->row, p->column, p->number};
  const rheos_shape shapes[] = {RHEOS_SHAPE(ROWS, COLUMNS), RHEOS_SHAPE(ROWS, COLUMNS),
                                RHEOS_SHAPE(COLUMNS), RHEOS_SHAPE(ROWS, 1), RHEOS_SCALAR};
  for (int i = 0; i < FEEDS; i++) {
    feeds[i] = (rheos_feed){all[i], tensor_of(dtype, shapes[i], i == 1 ? EDGES : 1, from + i)};
  }
}

static rheos_session *session_of(const program *p, bool compiled, int threads) {
  rheos_session *session = NULL;
  rheos_session_options options = {.num_threads = threads};
  if (!compiled) options.rewrites.elementwise_fusion = RHEOS_TOGGLE_OFF;
  check(rheos_session_new(p->graph, &options, &session));
  return session;
}

static void run(const program *p, rheos_session *session, const rheos_feed *feeds,
                rheos_tensor **out) {
  rheos_fetch fetches[] = {{p->result, NULL}, {p->other, NULL}};
  check(rheos_session_run(session, feeds, FEEDS, fetches, 2, NULL, 0, NULL));
  out[0] = fetches[0].value;
  out[1] = fetches[1].value;
}

// Equal bits; of NaNs only that they are some, since which of two NaNs a sum is like depends on the
// order of the operands in the machine's instruction.
static bool are_same(const rheos_tensor *a, const rheos_tensor *b) {
  const rheos_dtype dtype = rheos_tensor_dtype(a);
  const size_t bytes = rheos_dtype_size(dtype);
  for (int64_t i = 0; i < rheos_tensor_num_elements(a); i++) {
    const char *x = (const char *)rheos_tensor_data(a) + (size_t)i * bytes;
    const char *y = (const char *)rheos_tensor_data(b) + (size_t)i * bytes;
    if (memcmp(x, y, bytes) == 0) continue;
    const bool nan = dtype == RHEOS_FLOAT ? isnan(*(const float *)x) && isnan(*(const float *)y)
                                          : dtype == RHEOS_DOUBLE && isnan(*(const double *)x) &&
                                                isnan(*(const double *)y);
    if (!nan) return false;
  }
  return true;
}

// Gives how many loops were compiled for it.
static int64_t expect_same_bits(program *p, rheos_dtype dtype, const char *what) {
  int64_t loops, before, compiled;
  check(rheos_scope_finish(p->s));
  rheos__compiled_loops_count(&loops, &before);
  rheos_session *plain = session_of(p, false, 1);
  for (int threads = 1; threads <= 2; threads++) {
    rheos_session *session = session_of(p, true, threads);
    for (int round = 0; round < 3; round++) {
      rheos_feed feeds[FEEDS];
      rheos_tensor *expected[2], *actual[2];
      feeds_of(p, dtype, round, feeds);
      run(p, plain, feeds, expected);
      run(p, session, feeds, actual);
      (void)rheos__compiled_loops_wait();
      if (!are_same(expected[0], actual[0]) || !are_same(expected[1], actual[1])) {
        fail_msg("%s of %s: other bits, round %d", what, rheos_dtype_name(dtype), round);
      }
      for (int i = 0; i < FEEDS; i++) rheos_tensor_unref(feeds[i].value);
      for (int i = 0; i < 2; i++) rheos_tensor_unref(expected[i]), rheos_tensor_unref(actual[i]);
    }
    rheos_session_free(session);
  }
  rheos_session_free(plain);
  rheos__compiled_loops_count(&loops, &compiled);
  return compiled - before;
}

// ---- The bits

static const char *const of_floats[] = {"RealDiv",        "Div",         "DivNoNan", "MulNoNan",
                                        "TanhGrad",       "SigmoidGrad", "SqrtGrad", "RsqrtGrad",
                                        "ReciprocalGrad", "InvGrad"};
static const char *const of_numbers[] = {
    "AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference", "ReluGrad"};
static const char *const float_functions[] = {"Sqrt", "Rsqrt", "Reciprocal", "Inv",      "Floor",
                                              "Ceil", "Rint",  "Round",      "LeakyRelu"};
static const char *const functions[] = {"Neg", "Abs", "Square", "Relu", "Relu6", "Sign"};
static const char *const tests[] = {"Greater",   "GreaterEqual", "Less",
                                    "LessEqual", "Equal",        "NotEqual"};
#define LENGTH(list) (int)(sizeof(list) / sizeof((list)[0]))

// All of it is one loop, or the one of the op before it in the lists, which computes the same.
static void expect_one_loop(program *p, rheos_dtype dtype, const char *type) {
  static const char *const same[] = {"Div", "InvGrad", "Inv", "Round"};
  int64_t expected = 1;
  for (int i = 0; i < LENGTH(same); i++) expected -= strcmp(same[i], type) == 0;
  const int64_t compiled = expect_same_bits(p, dtype, type);
  if (rheos__compiled_loops_wait()) assert_int_equal(compiled, expected);
}

// With what is broadcast at either side.
static void try_two(rheos_dtype dtype, const char *type, bool gradient) {
  program p = program_new(dtype);
  rheos_output z = op_2(&p, type, p.x, p.y);
  if (gradient) {
    z = op_2(&p, type, z, p.y);
  } else {
    const rheos_output others[] = {p.row, p.column, p.number, p.x};
    for (int i = 0; i < 4; i++) z = op_2(&p, type, z, others[i]);
    for (int i = 0; i < 4; i++) z = op_2(&p, type, others[i], op_2(&p, type, z, p.y));
  }
  p.other = op_2(&p, type, p.x, z);
  p.result = op_2(&p, "Sub", p.other, p.x);
  expect_one_loop(&p, dtype, type);
  program_free(&p);
}

static void try_one(rheos_dtype dtype, const char *type) {
  program p = program_new(dtype);
  p.other = op_1(&p, type, p.x);
  p.result = op_2(&p, "Maximum", op_1(&p, type, op_2(&p, "AddV2", p.other, p.row)), p.y);
  expect_one_loop(&p, dtype, type);
  program_free(&p);
}

static void try_test(rheos_dtype dtype, const char *type) {
  program p = program_new(dtype);
  const rheos_output a = op_2(&p, type, p.x, p.y), b = op_2(&p, type, p.x, p.row);
  const rheos_output c = op_2(&p, "LogicalOr", a, op_1(&p, "LogicalNot", b));
  p.other = op_2(&p, "LogicalAnd", c, op_2(&p, type, p.x, p.number));
  p.result = op(&p, "SelectV2", c, op(&p, "SelectV2", p.other, p.x, p.row, 3), p.number, 3);
  expect_one_loop(&p, dtype, type);
  program_free(&p);
}

static void test_compiled_loop__has_the_bits_of_the_rows(void **state) {
  (void)state;
  static const rheos_dtype dtypes[] = {RHEOS_FLOAT, RHEOS_DOUBLE, RHEOS_INT32, RHEOS_INT64};
  for (int t = 0; t < LENGTH(dtypes); t++) {
    for (int i = 0; i < LENGTH(of_numbers); i++) {
      try_two(dtypes[t], of_numbers[i], strcmp(of_numbers[i], "ReluGrad") == 0);
    }
    for (int i = 0; i < LENGTH(functions); i++) try_one(dtypes[t], functions[i]);
    for (int i = 0; i < LENGTH(tests); i++) try_test(dtypes[t], tests[i]);
    if (t > 1) continue;
    for (int i = 0; i < LENGTH(of_floats); i++) {
      try_two(dtypes[t], of_floats[i], strstr(of_floats[i], "Grad") != NULL);
    }
    for (int i = 0; i < LENGTH(float_functions); i++) try_one(dtypes[t], float_functions[i]);
  }
}

static void test_compiled_loop__casts_like_the_rows(void **state) {
  (void)state;
  static const rheos_dtype dtypes[] = {RHEOS_FLOAT, RHEOS_DOUBLE, RHEOS_INT32, RHEOS_INT64,
                                       RHEOS_BOOL};
  for (int from = 0; from < LENGTH(dtypes); from++) {
    for (int to = 0; to < LENGTH(dtypes); to++) {
      if (from == to || (from < 2 && (to == 2 || to == 3))) continue;
      program p = program_new(dtypes[from]);
      p.other = cast(&p, p.x, dtypes[to]);
      p.result = cast(&p, p.other, RHEOS_DOUBLE);
      if (dtypes[to] == RHEOS_DOUBLE) p.result = op_1(&p, "Neg", p.other);
      const int64_t compiled = expect_same_bits(&p, dtypes[from], rheos_dtype_name(dtypes[to]));
      if (rheos__compiled_loops_wait()) assert_int_equal(compiled, 1);
      program_free(&p);
    }
  }
}

// What cannot be compiled stands between what can.
static void test_compiled_loop__stands_beside_rows(void **state) {
  (void)state;
  program p = program_new(RHEOS_FLOAT);
  rheos_output a = op_2(&p, "Mul", op_2(&p, "AddV2", p.x, p.row), p.y);
  rheos_output b = op_1(&p, "Tanh", op_2(&p, "Sub", a, p.x));
  rheos_output c = op_2(&p, "AddV2", op_2(&p, "Mul", b, a), p.column);
  p.other = cast(&p, cast(&p, c, RHEOS_HALF), RHEOS_FLOAT);
  p.result = op_2(&p, "Maximum", op_2(&p, "Mul", p.other, a), b);
  const int64_t compiled = expect_same_bits(&p, RHEOS_FLOAT, "a mixture");
  if (rheos__compiled_loops_wait()) assert_int_equal(compiled, 3);
  program_free(&p);
}

// ---- When it is compiled, and when not

static rheos__loop_program sum_of(int32_t steps) {
  rheos__loop_program p;
  memset(&p, 0, sizeof p);
  p.num_steps = steps;
  for (int32_t i = 0; i < steps; i++) {
    rheos__loop_step *s = &p.steps[i];
    s->code = RHEOS__SIMPLE_ADD, s->num_in = 2;
    s->dtype = s->out_dtype = RHEOS_FLOAT;
    s->in[0].kind = i == 0 ? RHEOS__LOOP_EACH : RHEOS__LOOP_STEP;
    s->in[0].from = (uint8_t)(i == 0 ? 0 : i - 1);
    s->in[1] = (rheos__loop_input){RHEOS__LOOP_NUMBER, 1};
  }
  p.steps[steps - 1].is_stored = 1;
  p.steps[steps - 1].out = 2;
  return p;
}

static void test_compiled_loop__is_one_for_a_program(void **state) {
  (void)state;
  const rheos__loop_program two = sum_of(2), three = sum_of(3);
  rheos__compiled_loop *loop = rheos__compiled_loop_of(&two);
  assert_ptr_equal(loop, rheos__compiled_loop_of(&two));
  if (loop != NULL) assert_ptr_not_equal(loop, rheos__compiled_loop_of(&three));
}

static void test_compiled_loop__waits_until_it_pays(void **state) {
  (void)state;
  const rheos__loop_program program = sum_of(4);
  rheos__compile_at_once(false);
  rheos__compiled_loop *loop = rheos__compiled_loop_of(&program);
  rheos__compile_at_once(true);
  if (loop == NULL) skip();
  for (int i = 0; i < 100; i++) assert_null(rheos__compiled_loop_fn(loop, 100000));
  (void)rheos__compiled_loops_wait();
  assert_null(rheos__compiled_loop_fn(loop, (int64_t)1 << 30));
  if (!rheos__compiled_loops_wait()) skip();
  rheos__loop_fn fn = rheos__compiled_loop_fn(loop, 1);
  assert_non_null(fn);
  float x[75], y = 0.5f, z[75];
  for (int i = 0; i < 75; i++) x[i] = (float)i;
  for (int count = 0; count <= 74; count++) {
    memset(z, 0, sizeof z);
    fn((char *[]){(char *)x, (char *)&y, (char *)z}, 0, count, 0);
    for (int i = 0; i < 75; i++) assert_float_equal(z[i], i < count ? (float)i + 2 : 0, 0);
  }
}

static void test_compiled_loop__that_fails_stays_a_program(void **state) {
  (void)state;
  rheos__loop_program program = sum_of(2);
  program.steps[1].code = 255;
  rheos__compiled_loop *loop = rheos__compiled_loop_of(&program);
  if (loop == NULL) skip();
  for (int i = 0; i < 5; i++) {
    assert_null(rheos__compiled_loop_fn(loop, 100));
    (void)rheos__compiled_loops_wait();
  }
}

// ---- Other processes. These come first, so that nothing is compiled yet.

// Runs a program in a child, which expects compiled loops if there is a compiler (-1), or none (0).
static void in_child(void (*before)(void), int64_t expected) {
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    if (before != NULL) before();
    program p = program_new(RHEOS_FLOAT);
    p.other = op_2(&p, "Mul", p.x, p.y);
    p.result = op_2(&p, "AddV2", p.other, p.number);
    const int64_t compiled = expect_same_bits(&p, RHEOS_FLOAT, "a child");
    const bool found = rheos__compiled_loops_wait();
    program_free(&p);
    if (expected < 0 && found) _exit(compiled > 0 ? 0 : 1);
    _exit(compiled == 0 ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static void without_library(void) { rheos__compiled_loops_from("/nowhere/librheos-jit.so"); }
static void with_other_library(void) { rheos__compiled_loops_from("libm.so.6"); }
static void by_environment(void) { setenv("RHEOS_JIT", "off", 1); }

static void test_compiled_loop__is_not_missed(void **state) {
  (void)state;
  in_child(without_library, 0);
  in_child(with_other_library, 0);
  in_child(by_environment, 0);
  in_child(NULL, -1);
}

static void test_compiled_loop__survives_forks(void **state) {
  (void)state;
#ifdef __SANITIZE_THREAD__
  skip();  // it lets no child of a program with threads start one
#endif
  for (int32_t steps = 5; steps < 25; steps++) {
    const rheos__loop_program program = sum_of(steps);
    rheos__compiled_loop *loop = rheos__compiled_loop_of(&program);
    if (loop == NULL) skip();
    (void)rheos__compiled_loop_fn(loop, 1000);
    if (steps % 5 == 0) in_child(NULL, -1);
  }
  if (!rheos__compiled_loops_wait()) skip();
  for (int32_t steps = 5; steps < 25; steps++) {
    const rheos__loop_program program = sum_of(steps);
    assert_non_null(rheos__compiled_loop_fn(rheos__compiled_loop_of(&program), 1));
  }
}

// ---- Threads

typedef struct runner {
  const program *p;
  rheos_session *session;
  const rheos_feed *feeds;
  rheos_tensor *const *expected;
  bool same;
} runner;

static void *keep_running(void *argument) {
  runner *r = argument;
  r->same = true;
  for (int i = 0; i < 200; i++) {
    rheos_tensor *actual[2];
    run(r->p, r->session, r->feeds, actual);
    r->same &= are_same(r->expected[0], actual[0]) && are_same(r->expected[1], actual[1]);
    rheos_tensor_unref(actual[0]);
    rheos_tensor_unref(actual[1]);
  }
  return NULL;
}

static void test_compiled_loop__may_come_while_threads_run(void **state) {
  (void)state;
  enum { THREADS = 4 };
  program p = program_new(RHEOS_DOUBLE);
  p.other = op_2(&p, "Sub", op_2(&p, "Mul", p.x, p.row), p.number);
  p.result = op_2(&p, "Maximum", op_2(&p, "AddV2", p.other, p.column), p.y);
  check(rheos_scope_finish(p.s));
  rheos_feed feeds[FEEDS];
  rheos_tensor *expected[2];
  feeds_of(&p, RHEOS_DOUBLE, 3, feeds);
  rheos_session *plain = session_of(&p, false, 1), *session = session_of(&p, true, 2);
  run(&p, plain, feeds, expected);
  runner runners[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    runners[i] = (runner){&p, session, feeds, expected, false};
    assert_int_equal(pthread_create(&threads[i], NULL, keep_running, &runners[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    assert_true(runners[i].same);
  }
  for (int i = 0; i < FEEDS; i++) rheos_tensor_unref(feeds[i].value);
  for (int i = 0; i < 2; i++) rheos_tensor_unref(expected[i]);
  rheos_session_free(plain);
  rheos_session_free(session);
  program_free(&p);
}

static void test_compiled_loop__is_switched_off(void **state) {
  (void)state;
  int64_t before, after, compiled;
  rheos__compiled_loops_count(&before, &compiled);
  program p = program_new(RHEOS_FLOAT);
  p.other = op_2(&p, "Mul", op_2(&p, "Mul", p.x, p.y), p.y);
  p.result = op_2(&p, "Sub", p.other, p.row);
  check(rheos_scope_finish(p.s));
  rheos_session *session = NULL;
  const rheos_session_options options = {.rewrites.compiled_loops = RHEOS_TOGGLE_OFF};
  check(rheos_session_new(p.graph, &options, &session));
  rheos_feed feeds[FEEDS];
  rheos_tensor *values[2];
  feeds_of(&p, RHEOS_FLOAT, 3, feeds);
  run(&p, session, feeds, values);
  rheos__compiled_loops_count(&after, &compiled);
  assert_int_equal(before, after);
  for (int i = 0; i < FEEDS; i++) rheos_tensor_unref(feeds[i].value);
  for (int i = 0; i < 2; i++) rheos_tensor_unref(values[i]);
  rheos_session_free(session);
  program_free(&p);
}

int main(void) {
  const struct CMUnitTest all[] = {
      cmocka_unit_test(test_compiled_loop__is_not_missed),
      cmocka_unit_test(test_compiled_loop__survives_forks),
      cmocka_unit_test(test_compiled_loop__has_the_bits_of_the_rows),
      cmocka_unit_test(test_compiled_loop__casts_like_the_rows),
      cmocka_unit_test(test_compiled_loop__stands_beside_rows),
      cmocka_unit_test(test_compiled_loop__is_one_for_a_program),
      cmocka_unit_test(test_compiled_loop__waits_until_it_pays),
      cmocka_unit_test(test_compiled_loop__that_fails_stays_a_program),
      cmocka_unit_test(test_compiled_loop__may_come_while_threads_run),
      cmocka_unit_test(test_compiled_loop__is_switched_off),
  };
  rheos__compile_at_once(true);
  return cmocka_run_group_tests(all, NULL, NULL);
}
