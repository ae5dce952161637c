// Random graphs of the ops that rules look at, wired in all ways, with feeds and fetches in the
// middle, variables that are written and control dependencies: with all rules and without any, a
// step gives the same bits and the same errors, except those of what is only waited for, which is
// not run. A graph has either transposes or products: a product that takes a transpose in may have
// another kernel, with another order of summing. Usage: test_rewrite_random [first seed [number of
// graphs]]
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rheos/rheos.h>

enum {
  NUM_GRAPHS = 1500,
  NODES = 40,
  POOL = 80,
  MOST_FEEDS = 6,
  MOST_FETCHES = 8,
  STEPS = 2,
  SIZE = 3
};

static uint64_t first_seed = 1;
static int num_graphs = NUM_GRAPHS;

typedef struct maker {
  uint64_t seed, state;
  bool has_transposes;
  rheos_graph *graph;
  rheos_scope *s;
  rheos_output pool[POOL];  // floats, mostly [SIZE, SIZE]
  int pool_size;
  rheos_output variable;
  rheos_feed feeds[MOST_FEEDS];
  int num_feeds;
  rheos_operation init;
} maker;

static uint64_t next(maker *m) {  // splitmix64
  uint64_t z = m->state += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}
static int below(maker *m, int limit) { return (int)(next(m) % (uint64_t)limit); }
static bool once_in(maker *m, int n) { return below(m, n) == 0; }

static void check(const maker *m, rheos_status *status) {
  if (status == NULL) return;
  fail_msg("seed %llu: %s", (unsigned long long)m->seed, rheos_status_message(status));
}

static void keep(maker *m, rheos_output output) {
  if (output.graph != NULL && m->pool_size < POOL) m->pool[m->pool_size++] = output;
}

static rheos_output pick(maker *m) {  // the latest more often: long patterns
  const int last = m->pool_size;
  return m->pool[once_in(m, 2) ? last - 1 - below(m, last < 4 ? last : 4) : below(m, last)];
}

static rheos_tensor *numbers(maker *m, rheos_shape shape) {
  static const float odd[] = {0, -0.0F, 1, 2, -1, INFINITY, NAN, 0.5F};
  rheos_tensor *tensor = NULL;
  check(m, rheos_tensor_new(RHEOS_FLOAT, shape, &tensor));
  float *data = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); ++i) {
    data[i] = once_in(m, 8) ? odd[below(m, 8)] : (float)(below(m, 65) - 32) / 8;
  }
  return tensor;
}

static rheos_output constant(maker *m) {
  static const float usual[] = {0, -0.0F, 1, 2, 0.5F, 3};
  static const rheos_shape shapes[] = {{.rank = 0},
                                       {.rank = 0},
                                       {.rank = 1, .dims = {SIZE}},
                                       {.rank = 2, .dims = {SIZE, SIZE}},
                                       {.rank = 1, .dims = {1}}};
  rheos_tensor *tensor = numbers(m, shapes[below(m, 5)]);
  if (rheos_tensor_num_elements(tensor) == 1) {
    *(float *)rheos_tensor_data(tensor) = usual[below(m, 6)];
  }
  rheos_output output = rheos_constant(m->s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

static rheos_output ints(maker *m, int count, int a, int b) {
  rheos_tensor *tensor = NULL;
  check(m, rheos_tensor_new(RHEOS_INT32, RHEOS_SHAPE(count), &tensor));
  memcpy(rheos_tensor_data(tensor), (int32_t[]){a, b}, (size_t)count * sizeof(int32_t));
  rheos_output output = rheos_constant(m->s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

static rheos_output unary(maker *m, rheos_output x) {
  static const char *const types[] = {"Neg",  "Abs",     "Relu",      "Relu6",        "Identity",
                                      "Tanh", "Sigmoid", "Elu",       "StopGradient", "Floor",
                                      "Ceil", "Round",   "LeakyRelu", "Exp",          "Square",
                                      "Log",  "Softmax"};
  rheos_op_args args = {.type = types[below(m, 17)], .inputs = &x, .num_inputs = 1};
  rheos_operation control = {m->graph, pick(m).id};
  args.control_inputs = &control;
  args.num_control_inputs = once_in(m, 12);
  return rheos_operation_output(rheos_op(m->s, &args), 0);
}

static rheos_output binary(maker *m, rheos_output x, rheos_output y) {
  static const char *const types[] = {"Add",     "AddV2",   "Sub", "Mul",
                                      "RealDiv", "BiasAdd", "Pow", "MatMul"};
  const rheos_output inputs[] = {x, y};
  rheos_op_args args = {
      .type = types[below(m, m->has_transposes ? 7 : 8)], .inputs = inputs, .num_inputs = 2};
  return rheos_operation_output(rheos_op(m->s, &args), 0);
}

static rheos_output write(maker *m, rheos_output value) {
  const rheos_output inputs[] = {m->variable, value};
  rheos_op_args args = {
      .type = once_in(m, 2) ? "Assign" : "AssignAdd", .inputs = inputs, .num_inputs = 2};
  return rheos_operation_output(rheos_op(m->s, &args), 0);
}

static void add_node(maker *m) {
  rheos_output x = pick(m), y = {0};
  switch (below(m, 12)) {
    case 0: y = constant(m); break;
    case 1:
      if (!m->has_transposes) break;
      y = rheos_transpose(m->s, x, once_in(m, 4) ? ints(m, 2, 0, 1) : ints(m, 2, 1, 0));
      break;
    case 2:
      y = once_in(m, 2) ? rheos_reshape(m->s, x, ints(m, 1, -1, 0))
                        : rheos_reshape(m->s, x, ints(m, 2, SIZE, SIZE));
      break;
    case 3:
      if (m->has_transposes) break;
      y = rheos_matmul(m->s, x, pick(m), .transpose_a = once_in(m, 3),
                       .transpose_b = once_in(m, 3));
      break;
    case 4: y = rheos_cast(m->s, x, RHEOS_FLOAT); break;
    case 5: y = once_in(m, 3) ? write(m, x) : m->variable; break;
    case 6:
    case 7: y = unary(m, x); break;
    case 8: y = binary(m, x, constant(m)); break;
    case 9: y = binary(m, constant(m), x); break;
    case 10:
      y = rheos_bias_add(m->s, x, rheos_reshape(m->s, constant(m), ints(m, 1, -1, 0)));
      break;
    default: y = binary(m, x, pick(m));
  }
  rheos_status *status = rheos_scope_finish(m->s);  // shapes that do not fit
  if (status == NULL) keep(m, y);
  rheos_status_free(status);
}

static void build(maker *m) {
  const rheos_shape known = RHEOS_SHAPE(SIZE, SIZE), partial = RHEOS_SHAPE(-1, SIZE);
  for (int i = 0; i < 3; ++i) {
    rheos_output x = rheos_placeholder(m->s, RHEOS_FLOAT,
                                       .shape = i == 0   ? &known
                                                : i == 1 ? &partial
                                                         : NULL);
    m->feeds[m->num_feeds++] = (rheos_feed){x, numbers(m, known)};
    keep(m, x);
  }
  m->variable = rheos_get_variable(m->s, "v", RHEOS_FLOAT, known, rheos_constant_initializer(0.5));
  keep(m, m->variable);
  m->init = rheos_global_variables_initializer(m->s);
  check(m, rheos_scope_finish(m->s));
  for (int i = 0; i < NODES; ++i) add_node(m);
  while (m->num_feeds < MOST_FEEDS && once_in(m, 2)) {  // in the middle
    const rheos_output fed = pick(m);
    bool again = fed.id == m->variable.id || rheos_dtype_is_ref(rheos_output_dtype(fed));
    for (int i = 0; i < m->num_feeds; ++i) again |= m->feeds[i].output.id == fed.id;
    const rheos_shape shape = rheos_output_shape(fed);
    if (again || !rheos_shape_is_known(&shape)) break;
    m->feeds[m->num_feeds++] = (rheos_feed){fed, numbers(m, shape)};
  }
}

// The values of some steps, or the first error.
typedef struct answer {
  rheos_fetch fetches[STEPS][MOST_FETCHES];
  rheos_status *status;
} answer;

static void run(const maker *m, const rheos_rewrite_options *rewrites, const rheos_output *outputs,
                int num_outputs, answer *out) {
  rheos_session *session = NULL;
  rheos_session_options options = {.num_threads = 1, .rewrites = *rewrites};
  check(m, rheos_session_new(m->graph, &options, &session));
  check(m, rheos_session_run(session, NULL, 0, NULL, 0, &m->init, 1, NULL));
  *out = (answer){0};
  for (int step = 0; step < STEPS && out->status == NULL; ++step) {
    for (int i = 0; i < num_outputs; ++i) out->fetches[step][i].output = outputs[i];
    out->status = rheos_session_run(session, m->feeds, (size_t)m->num_feeds, out->fetches[step],
                                    (size_t)num_outputs, NULL, 0, NULL);
  }
  rheos_session_free(session);
}

static bool same(const rheos_tensor *a, const rheos_tensor *b) {
  return rheos_shape_equal(rheos_tensor_shape(a), rheos_tensor_shape(b)) &&
         memcmp(rheos_tensor_data(a), rheos_tensor_data(b), rheos_tensor_size_bytes(a)) == 0;
}

static const char *difference(const rheos_tensor *a, const rheos_tensor *b) {
  static char text[128];
  const float *x = rheos_tensor_data(a), *y = rheos_tensor_data(b);
  for (int64_t i = 0; i < rheos_tensor_num_elements(a); ++i) {
    if (memcmp(&x[i], &y[i], sizeof *x) == 0) continue;
    snprintf(text, sizeof text, "[%d] %a with rules, %a without", (int)i, (double)x[i],
             (double)y[i]);
    break;
  }
  return text;
}

static void compare(const maker *m, answer *with, answer *without, int num_outputs) {
  const unsigned long long seed = m->seed;
  if ((with->status == NULL) != (without->status == NULL) ||
      (with->status != NULL &&
       rheos_status_code(with->status) != rheos_status_code(without->status))) {
    fail_msg("seed %llu: with rules: %s; without: %s", seed,
             with->status ? rheos_status_message(with->status) : "no error",
             without->status ? rheos_status_message(without->status) : "no error");
  }
  for (int step = 0; step < STEPS; ++step) {
    for (int i = 0; i < num_outputs; ++i) {
      rheos_tensor *a = with->fetches[step][i].value, *b = without->fetches[step][i].value;
      if ((a == NULL) != (b == NULL) || (a != NULL && !same(a, b))) {
        fail_msg("seed %llu: step %d: fetch %d (%s, %s) differs", seed, step, i,
                 rheos_operation_type(rheos_output_operation(with->fetches[step][i].output)),
                 difference(a, b));
      }
      rheos_tensor_unref(a);
      rheos_tensor_unref(b);
    }
  }
  rheos_status_free(with->status);
  rheos_status_free(without->status);
}

static void answer_free(answer *a, int num_outputs) {
  for (int step = 0; step < STEPS; ++step) {
    for (int i = 0; i < num_outputs; ++i) rheos_tensor_unref(a->fetches[step][i].value);
  }
  rheos_status_free(a->status);
}

static bool try_graph(uint64_t seed) {
  maker m = {.seed = seed, .state = seed, .has_transposes = seed % 2 != 0};
  m.graph = rheos_graph_new();
  m.s = rheos_scope_new(m.graph);
  build(&m);
  rheos_output outputs[MOST_FETCHES];
  const int num_outputs = 1 + below(&m, MOST_FETCHES);
  for (int i = 0; i < num_outputs; ++i) outputs[i] = pick(&m);
  static const rheos_rewrite_options all = {0}, none = {.disable_meta_optimizer = true};
  answer with, without;
  run(&m, &all, outputs, num_outputs, &with);
  run(&m, &none, outputs, num_outputs, &without);
  if (without.status != NULL && with.status == NULL) {  // what failed was only waited for
    answer_free(&with, num_outputs);
    run(&m, &(rheos_rewrite_options){.dependency_optimization = RHEOS_TOGGLE_OFF}, outputs,
        num_outputs, &with);
  }
  const bool ran = without.status == NULL;
  compare(&m, &with, &without, num_outputs);
  for (int i = 0; i < m.num_feeds; ++i) rheos_tensor_unref(m.feeds[i].value);
  rheos_scope_free(m.s);
  rheos_graph_unref(m.graph);
  return ran;
}

static void test_rewrite_random__rules_change_no_bit(void **state) {
  (void)state;
  int num_ran = 0;
  for (int i = 0; i < num_graphs; ++i) num_ran += try_graph(first_seed + (uint64_t)i);
  assert_true(num_ran * 2 > num_graphs);  // most of them compare values
}

int main(int argc, char **argv) {
  if (argc > 1) first_seed = strtoull(argv[1], NULL, 10);
  if (argc > 2) num_graphs = atoi(argv[2]);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rewrite_random__rules_change_no_bit)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
