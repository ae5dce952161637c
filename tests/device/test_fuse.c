// Elementwise fusion: fewer instructions, the same bits, for random chains over dtypes, broadcasts,
// shapes and numbers of threads; and what may not be fused is not.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rheos/rheos.h>

#include "device/cpu/compiled_loop.h"
#include "graph/counting_allocator.h"
#include "plan/printed.h"

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

static rheos_output op(rheos_scope *s, const char *type, const rheos_output *inputs, size_t count,
                       rheos_attr attr) {
  rheos_op_args args = {.type = type,
                        .inputs = inputs,
                        .num_inputs = count,
                        .attrs = &attr,
                        .num_attrs = attr.name != NULL ? 1 : 0};
  return rheos_operation_output(rheos_op(s, &args), 0);
}
static rheos_output op_1(rheos_scope *s, const char *type, rheos_output x) {
  return op(s, type, &x, 1, (rheos_attr){0});
}
static rheos_output op_2(rheos_scope *s, const char *type, rheos_output x, rheos_output y) {
  rheos_output inputs[] = {x, y};
  return op(s, type, inputs, 2, (rheos_attr){0});
}
static rheos_output op_3(rheos_scope *s, const char *type, rheos_output x, rheos_output y,
                         rheos_output z) {
  rheos_output inputs[] = {x, y, z};
  return op(s, type, inputs, 3, (rheos_attr){0});
}
static rheos_output cast(rheos_scope *s, rheos_output x, rheos_dtype dtype) {
  return op(s, "Cast", &x, 1, rheos_attr_type("DstT", dtype));
}

static rheos_output reduce(rheos_scope *s, const char *type, rheos_output x, const int32_t *axes,
                           int count) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_INT32, RHEOS_SHAPE(count), &tensor));
  memcpy(rheos_tensor_data(tensor), axes, (size_t)count * sizeof *axes);
  rheos_output inputs[] = {x, rheos_constant(s, tensor, NULL)};
  rheos_tensor_unref(tensor);
  return op(s, type, inputs, 2, rheos_attr_bool("keep_dims", true));
}

// A tensor of small numbers, some with fractions.
static rheos_tensor *numbers(rheos_dtype dtype, rheos_shape shape, unsigned seed) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(dtype, shape, &tensor));
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); ++i) {
    seed = seed * 1664525u + 1013904223u;
    const int value = (int)(seed >> 24) - 128;
    if (dtype == RHEOS_FLOAT) ((float *)rheos_tensor_data(tensor))[i] = (float)value / 32;
    if (dtype == RHEOS_DOUBLE) ((double *)rheos_tensor_data(tensor))[i] = value / 32.0;
    if (dtype == RHEOS_INT32) ((int32_t *)rheos_tensor_data(tensor))[i] = value / 8;
  }
  return tensor;
}

enum { MAX_FEEDS = 8, MAX_FETCHES = 16 };

typedef struct program {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_output feeds[MAX_FEEDS];
  rheos_shape shapes[MAX_FEEDS];
  size_t num_feeds;
  rheos_output fetches[MAX_FETCHES];
  size_t num_fetches;
} program;

static program program_new(void) {
  program p = {.graph = rheos_graph_new()};
  p.s = rheos_scope_new(p.graph);
  return p;
}

static void program_free(program *p) {
  rheos_scope_free(p->s);
  rheos_graph_unref(p->graph);
}

static rheos_output feed(program *p, rheos_dtype dtype, rheos_shape shape) {
  p->shapes[p->num_feeds] = shape;
  return p->feeds[p->num_feeds++] = rheos_placeholder(p->s, dtype, .name = "x");
}

static rheos_status *try_run(const program *p, rheos_session *session, unsigned seed,
                             rheos_tensor **out_values) {
  rheos_feed feeds[MAX_FEEDS];
  rheos_fetch fetches[MAX_FETCHES] = {0};
  for (size_t i = 0; i < p->num_feeds; ++i) {
    feeds[i].output = p->feeds[i];
    feeds[i].value = numbers(rheos_output_dtype(p->feeds[i]), p->shapes[i], seed + (unsigned)i);
  }
  for (size_t i = 0; i < p->num_fetches; ++i) fetches[i].output = p->fetches[i];
  rheos_status *status =
      rheos_session_run(session, feeds, p->num_feeds, fetches, p->num_fetches, NULL, 0, NULL);
  for (size_t i = 0; i < p->num_feeds; ++i) rheos_tensor_unref(feeds[i].value);
  for (size_t i = 0; i < p->num_fetches; ++i) out_values[i] = fetches[i].value;
  return status;
}

static rheos_session *session_of(const program *p, bool fused, int threads) {
  rheos_session *session = NULL;
  rheos_session_options options = {.num_threads = threads};
  if (!fused) options.rewrites.elementwise_fusion = RHEOS_TOGGLE_OFF;
  check(rheos_session_new(p->graph, &options, &session));
  return session;
}

static int64_t num_instructions(const rheos_session *session) {
  rheos_session_stats stats;
  rheos_session_get_stats(session, &stats);
  return stats.num_instructions;
}

static void assert_same(rheos_tensor *const *a, rheos_tensor *const *b, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    assert_int_equal(rheos_tensor_num_elements(a[i]), rheos_tensor_num_elements(b[i]));
    const size_t bytes = rheos_tensor_size_bytes(a[i]);
    assert_int_equal(bytes, rheos_tensor_size_bytes(b[i]));
    if (bytes > 0) assert_memory_equal(rheos_tensor_data(a[i]), rheos_tensor_data(b[i]), bytes);
  }
}

static void free_values(rheos_tensor **values, size_t count) {
  for (size_t i = 0; i < count; ++i) rheos_tensor_unref(values[i]);
}

// Runs it both ways, with different numbers, and gives the instructions of both. Loops are compiled
// after the first run, where there is a compiler.
static void compare(const program *p, int threads, int64_t *out_plain, int64_t *out_fused) {
  check(rheos_scope_finish(p->s));
  rheos_session *plain = session_of(p, false, 1), *fused = session_of(p, true, threads);
  for (unsigned seed = 1; seed <= 3; ++seed) {
    rheos_tensor *a[MAX_FETCHES] = {0}, *b[MAX_FETCHES] = {0};
    check(try_run(p, plain, seed, a));
    check(try_run(p, fused, seed, b));
    (void)rheos__compiled_loops_wait();
    assert_same(a, b, p->num_fetches);
    free_values(a, p->num_fetches);
    free_values(b, p->num_fetches);
  }
  *out_plain = num_instructions(plain);
  *out_fused = num_instructions(fused);
  rheos_session_free(plain);
  rheos_session_free(fused);
}

static void expect(const program *p, int64_t plain, int64_t fused) {
  int64_t is_plain, is_fused;
  compare(p, 2, &is_plain, &is_fused);
  assert_int_equal(is_plain, plain);
  assert_int_equal(is_fused, fused);
}

// ---- What is fused

static void test_fuse__a_chain_is_one_instruction(void **state) {
  (void)state;
  program p = program_new();
  rheos_output x = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(100, 33));
  rheos_output row = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(33));
  rheos_output column = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(100, 1));
  rheos_output y = op_2(p.s, "Mul", x, rheos_constant_float(p.s, 3, NULL));
  y = op_2(p.s, "AddV2", y, row);
  y = op_2(p.s, "Sub", column, op_1(p.s, "Tanh", y));
  y = op_2(p.s, "Maximum", op_2(p.s, "Mul", y, y), x);
  p.fetches[p.num_fetches++] = y;
  expect(&p, 6, 1);
  program_free(&p);
}

static void test_fuse__the_loop_runs_all_of_them(void **state) {
  (void)state;
  program p = program_new();
  const rheos_output x = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(100, 33));
  const rheos_output row = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(33));
  const rheos_output y = op_1(p.s, "Tanh", op_2(p.s, "AddV2", op_2(p.s, "Mul", x, x), row));
  check(rheos_scope_finish(p.s));
  rheos_session *session = session_of(&p, true, 1);
  expect_printed(
      session,
      &(rheos__step_ends){.feeds = p.feeds, .num_feeds = 2, .fetches = &y, .num_fetches = 1},
      p.shapes, "values instructions",
      "values\n"
      "  v0 x float [100,33]: fed\n"
      "  v1 x_1 float [33]: fed\n"
      "  v2 Mul float [100,33]: fused; by elementwise_fusion\n"
      "  v3 AddV2 float [100,33]: fused; by elementwise_fusion\n"
      "  v4 Tanh float [100,33]: result; fetched\n"
      "instructions\n"
      "  i0 run e2 of v0, v1 -> v4; runs e0 e1 e2, by elementwise_fusion\n");
  rheos_session_free(session);
  program_free(&p);
}

static void test_fuse__dtypes_may_change_inside(void **state) {
  (void)state;
  program p = program_new();
  rheos_output x = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(5000));
  rheos_output n = cast(p.s, op_2(p.s, "Mul", x, x), RHEOS_INT32);
  rheos_output wide = cast(p.s, n, RHEOS_DOUBLE);
  rheos_output narrow = cast(p.s, wide, RHEOS_HALF);
  rheos_output small = op_2(p.s, "Less", narrow, cast(p.s, x, RHEOS_HALF));
  p.fetches[p.num_fetches++] = op_3(p.s, "SelectV2", small, wide, cast(p.s, x, RHEOS_DOUBLE));
  expect(&p, 8, 1);
  program_free(&p);
}

static void test_fuse__a_fetched_intermediate_is_an_output(void **state) {
  (void)state;
  program p = program_new();
  rheos_output x = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(70, 1000));
  rheos_output a = op_1(p.s, "Exp", op_1(p.s, "Neg", x));
  rheos_output b = op_1(p.s, "Sqrt", a), c = op_2(p.s, "Mul", a, b);
  p.fetches[p.num_fetches++] = c;
  p.fetches[p.num_fetches++] = a;
  p.fetches[p.num_fetches++] = a;
  expect(&p, 4, 2);  // the second only holds room for `a`
  program_free(&p);
}

static void test_fuse__several_readers_outside_are_served(void **state) {
  (void)state;
  program p = program_new();
  rheos_output x = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(40, 40));
  rheos_output a = op_1(p.s, "Neg", x), b = op_1(p.s, "Abs", a), c = op_1(p.s, "Square", b);
  rheos_output u = op_2(p.s, "MatMul", a, b), v = op_2(p.s, "MatMul", c, u);
  p.fetches[p.num_fetches++] = v;
  expect(&p, 5, 5);  // two held, one loop, two products
  program_free(&p);
}

static void test_fuse__gradients_are_fused(void **state) {
  (void)state;
  program p = program_new();
  rheos_output x = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(64, 64));
  rheos_output y = op_1(p.s, "Sigmoid", op_1(p.s, "Tanh", op_1(p.s, "Softplus", x)));
  rheos_gradient dx;
  rheos_gradients(p.s, &y, 1, &x, 1, NULL, &dx);
  p.fetches[p.num_fetches++] = dx.values;
  int64_t plain, fused;
  compare(&p, 3, &plain, &fused);
  assert_true(plain >= 7);
  assert_true(fused <= 2);
  program_free(&p);
}

// ---- Reductions at the end

static void test_fuse__a_reduction_ends_a_cluster(void **state) {
  (void)state;
  program p = program_new();
  rheos_output x = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(100, 33));
  rheos_output row = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(33));
  rheos_output y = op_1(p.s, "Square", op_2(p.s, "Mul", x, row));
  p.fetches[p.num_fetches++] = reduce(p.s, "Sum", y, (int32_t[]){1}, 1);
  expect(&p, 3, 1);
  p.fetches[p.num_fetches++] = y;
  expect(&p, 3, 2);  // the second only holds room for `y`
  p.fetches[p.num_fetches++] = op_1(p.s, "Neg", y);
  expect(&p, 4, 3);  // `Neg` comes after the sum
  program_free(&p);
}

static void test_fuse__only_the_first_reduction_does(void **state) {
  (void)state;
  program p = program_new();
  rheos_output x = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(60, 50));
  rheos_output y = op_1(p.s, "Exp", x);
  p.fetches[p.num_fetches++] = reduce(p.s, "Sum", y, (int32_t[]){1}, 1);
  p.fetches[p.num_fetches++] = reduce(p.s, "Max", y, (int32_t[]){0}, 1);
  expect(&p, 3, 3);  // one held, the loop with the sum, the other one
  program_free(&p);
}

// Rows short and long, columns, everything, alternating dimensions: on all numbers of threads.
static void test_fuse__reductions_keep_their_order(void **state) {
  (void)state;
  static const struct {
    rheos_shape shape;
    int32_t axes[2], num_axes;
  } cases[] = {
      {{.rank = 1, .dims = {300007}}, {0}, 1},
      {{.rank = 1, .dims = {4099}}, {0}, 1},
      {{.rank = 1, .dims = {9}}, {0}, 1},
      {{.rank = 2, .dims = {20011, 3}}, {1}, 1},
      {{.rank = 2, .dims = {20011, 3}}, {0}, 1},
      {{.rank = 2, .dims = {300, 700}}, {1}, 1},
      {{.rank = 2, .dims = {300, 700}}, {0}, 1},
      {{.rank = 2, .dims = {6, 9001}}, {1}, 1},
      {{.rank = 2, .dims = {60, 2500}}, {0}, 1},
      {{.rank = 2, .dims = {60, 2049}}, {0}, 1},
      {{.rank = 3, .dims = {20, 30, 400}}, {0, 2}, 2},
      {{.rank = 3, .dims = {20, 30, 40}}, {0, 2}, 2},
      {{.rank = 3, .dims = {50, 60, 70}}, {1}, 1},
      {{.rank = 3, .dims = {50, 60, 70}}, {0, 1}, 2},
  };
  static const char *const types[] = {"Sum", "Mean", "Max", "Prod", "EuclideanNorm"};
  static const int threads[] = {1, 2, 3, 8};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    for (unsigned t = 0; t < 4; ++t) {
      program p = program_new();
      rheos_output x = feed(&p, RHEOS_FLOAT, cases[i].shape);
      rheos_output y = op_1(p.s, "Tanh", op_2(p.s, "Mul", x, x));
      if (t % 2 == 1) y = cast(p.s, y, RHEOS_DOUBLE);
      rheos_output z = reduce(p.s, types[(i + t) % 5], y, cases[i].axes, cases[i].num_axes);
      p.fetches[p.num_fetches++] = z;
      if (t >= 2) p.fetches[p.num_fetches++] = op_2(p.s, "Sub", y, z);
      int64_t plain, fused;
      compare(&p, threads[t], &plain, &fused);
      assert_true(fused < plain);
      program_free(&p);
    }
  }
}

static void test_fuse__sums_of_lists_are_fused(void **state) {
  (void)state;
  program p = program_new();
  rheos_output x = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(70, 30));
  rheos_output y = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(70, 30));
  rheos_output terms[] = {op_1(p.s, "Tanh", x), op_2(p.s, "Mul", x, y), y, x};
  rheos_output two = op(p.s, "AddN", terms, 2, (rheos_attr){0});
  terms[0] = op_1(p.s, "Neg", two);
  p.fetches[p.num_fetches++] = op_1(p.s, "Abs", op(p.s, "AddN", terms, 3, (rheos_attr){0}));
  expect(&p, 6, 1);
  p.fetches[p.num_fetches++] = op(p.s, "AddN", terms, 4, (rheos_attr){0});
  expect(&p, 7, 4);  // more terms are no part of a loop: two are held for them
  program_free(&p);
}

// ---- On vector registers

// Numbers at the edges among ordinary ones. No NaN is fed: which of two NaNs a sum is like depends
// on the order of the operands in the machine's instruction.
static rheos_tensor *edges(int64_t count, int64_t stride) {
  static const float values[] = {0,       -0.0f,  1,     -1,       0.5f,      3e38f, -3e38f, 1e-45f,
                                 -1e-45f, 1e-38f, 1e38f, INFINITY, -INFINITY, 7.25f, -0.75f};
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SHAPE(count), &tensor));
  float *data = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < count; ++i) data[i] = values[i / stride % 15];
  return tensor;
}

// Every op that has instructions there, in every form: fused and not, the same bits.
static void test_fuse__registers_give_the_bits_of_the_rows(void **state) {
  (void)state;
  static const char *const ops[] = {"Mul",      "AddV2",       "Sub",      "RealDiv",
                                    "Div",      "Maximum",     "Minimum",  "SquaredDifference",
                                    "TanhGrad", "SigmoidGrad", "ReluGrad", "Neg",
                                    "Abs",      "Square",      "Relu",     "Reciprocal",
                                    "Inv"};
  enum { COUNT = 15 * 15 * 9 };  // no multiple of a block
  for (size_t i = 0; i < sizeof ops / sizeof *ops; ++i) {
    for (int form = 0; form < (i < 11 ? 7 : 1); ++form) {
      if (form >= 5 && i >= 8 && i < 11) continue;  // their operands are alike
      program p = program_new();
      rheos_output x = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(COUNT));
      rheos_output y = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(COUNT)), z;
      rheos_output number = feed(&p, RHEOS_FLOAT, RHEOS_SCALAR);
      rheos_output half = op_2(p.s, "Mul", x, rheos_constant_float(p.s, 0.5f, NULL));
      if (i >= 11) {
        z = op_1(p.s, ops[i], half);
      } else {
        rheos_output lefts[] = {half, y, half, x, half, half, number};
        rheos_output rights[] = {y, half, half, y, x, number, half};
        z = op_2(p.s, ops[i], lefts[form], rights[form]);
      }
      z = op_2(p.s, "AddV2", z, rheos_constant_float(p.s, 0.25f, NULL));
      p.fetches[p.num_fetches++] = op_2(p.s, "Mul", z, y);
      if (form == 3) p.fetches[p.num_fetches++] = half;
      check(rheos_scope_finish(p.s));
      rheos_feed feeds[] = {{x, edges(COUNT, 1)}, {y, edges(COUNT, 15)}, {number, NULL}};
      for (int which = 0; which < 15; ++which) {
        check(rheos_tensor_new(RHEOS_FLOAT, RHEOS_SCALAR, &feeds[2].value));
        memcpy(rheos_tensor_data(feeds[2].value),
               (float *)rheos_tensor_data(feeds[0].value) + which, sizeof(float));
        rheos_tensor *values[2][2] = {{NULL}};
        for (int fused = 0; fused < 2; ++fused) {
          rheos_session *session = NULL;
          rheos_session_options options = {.num_threads = 1,
                                           .rewrites.compiled_loops = RHEOS_TOGGLE_OFF};
          if (fused == 0) options.rewrites.elementwise_fusion = RHEOS_TOGGLE_OFF;
          check(rheos_session_new(p.graph, &options, &session));
          rheos_fetch fetches[] = {{p.fetches[0], NULL}, {p.fetches[1], NULL}};
          check(rheos_session_run(session, feeds, 3, fetches, p.num_fetches, NULL, 0, NULL));
          values[fused][0] = fetches[0].value;
          values[fused][1] = fetches[1].value;
          rheos_session_free(session);
        }
        assert_same(values[0], values[1], p.num_fetches);
        free_values(values[0], 2);
        free_values(values[1], 2);
        rheos_tensor_unref(feeds[2].value);
        if (form < 5) break;  // it is not read
      }
      rheos_tensor_unref(feeds[0].value);
      rheos_tensor_unref(feeds[1].value);
      program_free(&p);
    }
  }
}

// ---- What is not

static void test_fuse__what_may_fail_stays_alone(void **state) {
  (void)state;
  program p = program_new();
  rheos_output x = feed(&p, RHEOS_INT32, RHEOS_SHAPE(300));
  rheos_output y = op_2(p.s, "AddV2", x, x);
  rheos_op_args args = {.type = "FloorDiv",
                        .name = "bad",
                        .num_inputs = 2,
                        .inputs = (rheos_output[]){y, op_2(p.s, "Sub", y, y)}};
  rheos_output bad = rheos_operation_output(rheos_op(p.s, &args), 0);
  p.fetches[p.num_fetches++] = op_1(p.s, "Neg", op_1(p.s, "Square", bad));
  check(rheos_scope_finish(p.s));
  rheos_session *session = session_of(&p, true, 2);
  rheos_tensor *value[1];
  rheos_status *status = try_run(&p, session, 1, value);
  assert_non_null(status);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  assert_non_null(strstr(rheos_status_message(status), "bad"));
  rheos_status_free(status);
  assert_int_equal(num_instructions(session), 4);  // two held in one loop, the division, two in one
  rheos_session_free(session);
  program_free(&p);
}

// A variable is read before it is assigned to, as by itself.
static void test_fuse__reads_before_writes_stay_there(void **state) {
  (void)state;
  for (int fused = 0; fused < 2; ++fused) {
    program p = program_new();
    const rheos_shape shape = RHEOS_SHAPE(200);
    rheos_attr attrs[] = {rheos_attr_type("dtype", RHEOS_FLOAT), rheos_attr_shape("shape", &shape)};
    rheos_op_args args = {.type = "VariableV2", .attrs = attrs, .num_attrs = 2};
    rheos_output v = rheos_operation_output(rheos_op(p.s, &args), 0);
    rheos_tensor *two = NULL;
    check(rheos_tensor_new(RHEOS_FLOAT, shape, &two));
    for (int i = 0; i < 200; ++i) ((float *)rheos_tensor_data(two))[i] = 2;
    rheos_output start = rheos_assign(p.s, v, rheos_constant(p.s, two, NULL));
    rheos_tensor_unref(two);
    rheos_output twice = op_2(p.s, "AddV2", v, v);
    rheos_output square = op_2(p.s, "Mul", twice, twice);
    rheos_operation assign = rheos_output_operation(rheos_assign(p.s, v, square));
    rheos_operation init = rheos_output_operation(start);
    rheos_push_control_dependencies(p.s, &assign, 1);
    rheos_output after = op_1(p.s, "Neg", op_2(p.s, "AddV2", twice, v));
    rheos_scope_pop(p.s);
    check(rheos_scope_finish(p.s));
    rheos_session *session = session_of(&p, fused != 0, 2);
    check(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
    rheos_fetch fetch = {after, NULL};
    check(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
    assert_float_equal(((float *)rheos_tensor_data(fetch.value))[199], -(4 + 16), 0);
    rheos_tensor_unref(fetch.value);
    rheos_session_free(session);
    program_free(&p);
  }
}

// ---- Random programs

typedef struct maker {
  program p;
  unsigned seed;
  rheos_output pool[64];
  int count;
} maker;

static unsigned pick(maker *m, unsigned below) {
  m->seed = m->seed * 1664525u + 1013904223u;
  return (m->seed >> 8) % below;
}

// A recent value mostly, of `dtype`; cast where none is.
static rheos_output value_of(maker *m, rheos_dtype dtype) {
  for (int tries = 0; tries < 8; ++tries) {
    const unsigned back = pick(m, pick(m, 3) == 0 ? (unsigned)m->count : 4);
    rheos_output x = m->pool[(int)back < m->count ? m->count - 1 - (int)back : 0];
    if (rheos_output_dtype(x) == dtype) return x;
  }
  return cast(m->p.s, m->pool[pick(m, (unsigned)m->count)], dtype);
}

static rheos_output random_op(maker *m) {
  static const rheos_dtype dtypes[] = {RHEOS_FLOAT, RHEOS_FLOAT,    RHEOS_FLOAT, RHEOS_DOUBLE,
                                       RHEOS_HALF,  RHEOS_BFLOAT16, RHEOS_INT32, RHEOS_INT8};
  static const char *const of_floats[] = {"Neg",  "Abs",   "Square", "Tanh",     "Sigmoid",
                                          "Relu", "Floor", "Sin",    "Softplus", "Sign"};
  static const char *const of_numbers[] = {"Neg", "Abs", "Square", "Sign"};
  static const char *const of_two[] = {"AddV2", "Sub", "Mul", "Maximum", "Minimum"};
  static const char *const tests[] = {"Less", "GreaterEqual", "Equal"};
  rheos_scope *s = m->p.s;
  const rheos_dtype dtype = dtypes[pick(m, 8)];
  const bool whole = rheos_dtype_is_integer(dtype);
  switch (pick(m, 10)) {
    case 0:
    case 1:
    case 2: {
      const bool squares = dtype != RHEOS_INT8;  // TensorFlow has no Square of it
      return whole ? op_1(s, of_numbers[pick(m, squares ? 4 : 2)], value_of(m, dtype))
                   : op_1(s, of_floats[pick(m, 10)], value_of(m, dtype));
    }
    case 3: {
      rheos_output test = op_2(s, tests[pick(m, 3)], value_of(m, dtype), value_of(m, dtype));
      return op_3(s, "SelectV2", test, value_of(m, dtype), value_of(m, dtype));
    }
    case 4: {  // no elementwise op: ends clusters, and gives a column, a row or a number
      static const char *const kinds[] = {"Max", "Sum", "Mean", "Min", "Prod", "EuclideanNorm"};
      static const int32_t axes[] = {-1, 0, 1};
      rheos_output wide = op_2(s, "AddV2", m->pool[0], value_of(m, RHEOS_FLOAT));
      if (pick(m, 3) == 0) wide = cast(s, wide, pick(m, 2) ? RHEOS_DOUBLE : RHEOS_HALF);
      const unsigned which = pick(m, 4);
      return reduce(s, kinds[pick(m, 6)], wide, axes + which % 3, which == 1 ? 2 : 1);
    }
    case 5: {
      rheos_output terms[4];
      const unsigned count = 2 + pick(m, 3);
      for (unsigned i = 0; i < count; ++i) {
        terms[i] = op_2(s, "Mul", m->pool[0], value_of(m, RHEOS_FLOAT));
      }
      return op(s, "AddN", terms, count, (rheos_attr){0});
    }
    default: return op_2(s, of_two[pick(m, 5)], value_of(m, dtype), value_of(m, dtype));
  }
}

static void test_fuse__random_programs_keep_their_bits(void **state) {
  (void)state;
  static const int64_t rows[] = {1, 3, 50, 700}, columns[] = {1, 7, 64, 900};
  static const int threads[] = {1, 2, 3, 8};
  int64_t all_plain = 0, all_fused = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    maker m = {.p = program_new(), .seed = seed * 7919};
    const int64_t r = rows[seed % 4], c = columns[seed / 4 % 4];
    m.pool[m.count++] = feed(&m.p, RHEOS_FLOAT, RHEOS_SHAPE(r, c));
    m.pool[m.count++] = feed(&m.p, RHEOS_FLOAT, RHEOS_SHAPE(c));
    m.pool[m.count++] = feed(&m.p, RHEOS_FLOAT, RHEOS_SHAPE(r, 1));
    m.pool[m.count++] = feed(&m.p, RHEOS_INT32, RHEOS_SCALAR);
    m.pool[m.count++] = feed(&m.p, RHEOS_DOUBLE, RHEOS_SHAPE(r, c));
    while (m.count < 45) {
      m.pool[m.count] = random_op(&m);
      ++m.count;
    }
    for (int i = 0; i < 6; ++i) {
      const int back = i * (1 + (int)pick(&m, 5));
      m.p.fetches[m.p.num_fetches++] = m.pool[m.count - 1 - back];
    }
    int64_t plain, fused;
    compare(&m.p, threads[seed % 4], &plain, &fused);
    all_plain += plain;
    all_fused += fused;
    program_free(&m.p);
  }
  assert_true(all_fused * 3 < all_plain * 2);  // by a third at least
}

static void test_fuse__new_shapes_are_fused_anew(void **state) {
  (void)state;
  program p = program_new();
  rheos_output x = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(1));
  rheos_output y = op_2(p.s, "Mul", op_1(p.s, "Exp", x), x);
  p.fetches[p.num_fetches++] = op_1(p.s, "Neg", y);
  check(rheos_scope_finish(p.s));
  rheos_session *plain = session_of(&p, false, 1), *fused = session_of(&p, true, 2);
  for (int64_t n = 0; n < 100000; n = n * 3 + 1) {
    p.shapes[0] = RHEOS_SHAPE(n);
    rheos_tensor *a[1], *b[1];
    check(try_run(&p, plain, 5, a));
    check(try_run(&p, fused, 5, b));
    assert_same(a, b, 1);
    free_values(a, 1);
    free_values(b, 1);
  }
  rheos_session_free(plain);
  rheos_session_free(fused);
  program_free(&p);
}

// More members, and more inputs, than one loop takes.
static void test_fuse__long_and_wide_clusters_are_cut(void **state) {
  (void)state;
  program p = program_new();
  rheos_output x = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(50, 20));
  rheos_output row = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(20)), y = x;
  for (int i = 0; i < 200; ++i) y = op_2(p.s, i % 2 ? "AddV2" : "Sub", y, i % 3 ? row : x);
  rheos_output z[64];
  for (int i = 0; i < 64; ++i) {
    z[i] = op_2(p.s, "Mul", y, rheos_constant_float(p.s, (float)i + 2, NULL));
  }
  for (int n = 64; n > 1; n /= 2) {
    for (int i = 0; i < n / 2; ++i) z[i] = op_2(p.s, "AddV2", z[2 * i], z[2 * i + 1]);
  }
  p.fetches[p.num_fetches++] = z[0];
  int64_t plain, fused;
  compare(&p, 2, &plain, &fused);
  assert_int_equal(plain, 200 + 64 + 63);
  assert_in_range(fused, 2, 60);
  program_free(&p);
}

static void test_fuse__failing_allocations_are_reported(void **state) {
  (void)state;
  program p = program_new();
  rheos_output x = feed(&p, RHEOS_FLOAT, RHEOS_SHAPE(40, 1000));
  rheos_output a = op_1(p.s, "Exp", op_1(p.s, "Neg", x)), b = op_1(p.s, "Sqrt", a);
  p.fetches[p.num_fetches++] = op_2(p.s, "Mul", a, b);
  p.fetches[p.num_fetches++] = a;
  check(rheos_scope_finish(p.s));
  bool done = false;
  for (int64_t n = 1; !done; ++n) {
    assert_true(n < 1000);
    rheos_feed fed = {x, numbers(RHEOS_FLOAT, p.shapes[0], 1)};
    rheos_session *session = session_of(&p, true, 1);
    rheos_fetch fetches[2] = {{p.fetches[0], NULL}, {p.fetches[1], NULL}};
    counting_allocator counter = {.fail_at = n};
    counting_allocator_install(&counter);
    rheos_status *status = rheos_session_run(session, &fed, 1, fetches, 2, NULL, 0, NULL);
    done = counter.requests < n;
    rheos_set_allocator(NULL);
    assert_true(status == NULL || rheos_status_code(status) == RHEOS_RESOURCE_EXHAUSTED);
    rheos_status_free(status);
    rheos_tensor_unref(fetches[0].value);
    rheos_tensor_unref(fetches[1].value);
    rheos_tensor_unref(fed.value);
    rheos_session_free(session);
  }
  program_free(&p);
}

int main(void) {
  rheos__compile_at_once(true);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_fuse__a_chain_is_one_instruction),
      cmocka_unit_test(test_fuse__the_loop_runs_all_of_them),
      cmocka_unit_test(test_fuse__dtypes_may_change_inside),
      cmocka_unit_test(test_fuse__a_fetched_intermediate_is_an_output),
      cmocka_unit_test(test_fuse__several_readers_outside_are_served),
      cmocka_unit_test(test_fuse__gradients_are_fused),
      cmocka_unit_test(test_fuse__a_reduction_ends_a_cluster),
      cmocka_unit_test(test_fuse__only_the_first_reduction_does),
      cmocka_unit_test(test_fuse__reductions_keep_their_order),
      cmocka_unit_test(test_fuse__sums_of_lists_are_fused),
      cmocka_unit_test(test_fuse__registers_give_the_bits_of_the_rows),
      cmocka_unit_test(test_fuse__what_may_fail_stays_alone),
      cmocka_unit_test(test_fuse__reads_before_writes_stay_there),
      cmocka_unit_test(test_fuse__random_programs_keep_their_bits),
      cmocka_unit_test(test_fuse__new_shapes_are_fused_anew),
      cmocka_unit_test(test_fuse__long_and_wide_clusters_are_cut),
      cmocka_unit_test(test_fuse__failing_allocations_are_reported),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
