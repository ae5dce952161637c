// Optimizers: three to five steps of each are what TensorFlow 1.15.5 computed; slots, counters,
// refusals.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <rheos/front_end.h>
#include <rheos/rheos.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
  rheos_graph *graph;
  rheos_scope *s;
} fixture;

static int setup(void **state) {
  fixture *f = calloc(1, sizeof(fixture));
  f->graph = rheos_graph_new();
  f->s = rheos_scope_new(f->graph);
  *state = f;
  return f->s == NULL;
}

static int teardown(void **state) {
  fixture *f = *state;
  rheos_scope_free(f->s);
  rheos_graph_unref(f->graph);
  free(f);
  return 0;
}

static rheos_output op_n(rheos_scope *s, const char *type, const rheos_output *inputs, size_t n) {
  rheos_op_args args = {.type = type, .inputs = inputs, .num_inputs = n};
  return rheos_operation_output(rheos_op(s, &args), 0);
}
#define OP(s, type, ...)                           \
  op_n((s), (type), (rheos_output[]){__VA_ARGS__}, \
       sizeof((rheos_output[]){__VA_ARGS__}) / sizeof(rheos_output))

static rheos_output constant(rheos_scope *s, rheos_dtype dtype, rheos_shape shape,
                             const void *values) {
  rheos_tensor *tensor = NULL;
  assert_null(rheos_tensor_from_values(dtype, shape, values, &tensor));
  rheos_output output = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

static void assert_fine(rheos_scope *s) {
  rheos_status *status = rheos_scope_finish(s);
  if (status != NULL) fprintf(stderr, "%s\n", rheos_status_message(status));
  assert_null(status);
}

// ---- Recorded steps

// table (3,2) read by rows 2, 0, 2, plus bias (2), squared and summed: make_optimizers.py's
// program.
typedef struct program {
  rheos_variable table, bias, step;
  rheos_output loss;
} program;

static program make_program(rheos_scope *s, bool use_resource) {
  const float start[] = {1, -2, 0.5f, 3, -1, 0.25f};
  const int32_t ids[] = {2, 0, 2}, axes[] = {0, 1};
  rheos_graph_use_resource_variables(rheos_scope_graph(s), use_resource);
  rheos_initializer value = {.kind = RHEOS_INIT_VALUE};
  value.value = constant(s, RHEOS_FLOAT, RHEOS_SHAPE(3, 2), start);
  program p = {0};
  p.table = rheos_get_variable_record(s, "table", RHEOS_FLOAT, RHEOS_SHAPE(3, 2), value, true);
  p.bias = rheos_get_variable_record(s, "bias", RHEOS_FLOAT, RHEOS_SHAPE(2), rheos_zeros(), true);
  p.step = rheos_get_variable_record(s, "step", RHEOS_INT64, RHEOS_SCALAR, rheos_zeros(), false);
  rheos_output indices = constant(s, RHEOS_INT32, RHEOS_SHAPE(3), ids);
  rheos_output rows =
      use_resource ? rheos_resource_gather(s, p.table.handle, indices, RHEOS_FLOAT)
                   : OP(s, "GatherV2", p.table.value, indices, rheos_constant_int(s, 0, NULL));
  rheos_output sum = OP(s, "AddV2", rows, p.bias.value);
  p.loss = OP(s, "Sum", OP(s, "Square", sum), constant(s, RHEOS_INT32, RHEOS_SHAPE(2), axes));
  return p;
}

typedef struct kind {
  const char *name;  // in optimizer_steps.txt
  rheos_optimizer optimizer;
} kind;

static size_t all_kinds(rheos_variable step, kind out[16]) {
  const kind kinds[] = {{"descent", rheos_gradient_descent(0.1)},
                        {"momentum", rheos_momentum(0.1, 0.9)},
                        {"adagrad", rheos_adagrad(0.1)},
                        {"adam", rheos_adam(0.1)},
                        {"rmsprop", rheos_rmsprop(0.1)},
                        {"centered", rheos_rmsprop(0.1)},
                        {"adadelta", rheos_adadelta(0.5)},
                        {"ftrl", rheos_ftrl(0.1)},
                        {"shrunk_ftrl", rheos_ftrl(0.1)},
                        {"proximal_descent", rheos_proximal_gradient_descent(0.1)},
                        {"proximal_adagrad", rheos_proximal_adagrad(0.1)},
                        {"adagrad_da", rheos_adagrad_da(0.1, step)}};
  memcpy(out, kinds, sizeof(kinds));
  out[1].optimizer.use_nesterov = true;
  out[4].optimizer.momentum = 0.5;
  out[4].optimizer.epsilon = out[5].optimizer.epsilon = out[6].optimizer.epsilon = 1e-3;
  out[5].optimizer.centered = true;
  out[7].optimizer.l1_regularization_strength = 0.01;
  out[8].optimizer.learning_rate_power = -0.4;
  out[8].optimizer.l2_regularization_strength = 0.1;
  out[8].optimizer.l2_shrinkage_regularization_strength = 0.1;
  out[9].optimizer.l1_regularization_strength = 0.05;
  out[10].optimizer.l1_regularization_strength = 0.05;
  out[10].optimizer.l2_regularization_strength = 0.1;
  out[11].optimizer.l1_regularization_strength = 0.01;
  out[11].optimizer.l2_regularization_strength = 0.1;
  return sizeof(kinds) / sizeof(kinds[0]);
}

// The recorded values of a variable; their number, 0 if there are none.
static size_t recorded_values(const char *optimizer, const char *variable, double out[8]) {
  FILE *file = fopen(RHEOS_SOURCE_DIR "/tests/golden/optimizer_steps.txt", "r");
  assert_non_null(file);
  char line[512], name[64], of[128];
  size_t count = 0;
  while (count == 0 && fgets(line, sizeof(line), file) != NULL) {
    int used = 0;
    assert_int_equal(sscanf(line, "%63s %127s%n", name, of, &used), 2);
    if (strcmp(name, optimizer) != 0 || strcmp(of, variable) != 0) continue;
    for (int more = 0; sscanf(line + used, "%lf%n", &out[count], &more) == 1; used += more) count++;
  }
  fclose(file);
  return count;
}

static double element(const rheos_tensor *tensor, size_t i) {
  const void *data = rheos_tensor_data(tensor);
  return rheos_tensor_dtype(tensor) == RHEOS_INT64 ? (double)((const int64_t *)data)[i]
                                                   : ((const float *)data)[i];
}

static void compare_variable(rheos_session *session, const char *optimizer,
                             rheos_variable variable) {
  char name[128];
  rheos_operation_name(rheos_output_operation(variable.handle), name, sizeof(name));
  double want[8];
  size_t count = recorded_values(optimizer, name, want);
  rheos_fetch fetch = {.output = variable.value};
  assert_null(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  assert_true(count > 0);
  assert_int_equal(rheos_tensor_num_elements(fetch.value), count);
  for (size_t i = 0; i < count; i++) {
    double found = element(fetch.value, i);
    if (fabs(found - want[i]) <= 1e-6 + 1e-5 * fabs(want[i])) continue;
    fail_msg("%s: %s[%zu] is %.9g, not %.9g", optimizer, name, i, found, want[i]);
  }
  rheos_tensor_unref(fetch.value);
}

static void five_steps(size_t which, bool use_resource) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  program p = make_program(s, use_resource);
  kind kinds[16];
  all_kinds(p.step, kinds);
  rheos_operation train = rheos_minimize_with(s, kinds[which].optimizer, p.loss,
                                              &(rheos_minimize_options){.global_step = &p.step});
  rheos_operation init = rheos_global_variables_initializer(s);
  assert_fine(s);
  rheos_session *session = NULL;
  assert_null(rheos_session_new(graph, NULL, &session));
  assert_null(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  for (int i = 0; i < 5; i++) {
    assert_null(rheos_session_run(session, NULL, 0, NULL, 0, &train, 1, NULL));
  }
  for (int32_t i = 0; i < rheos_graph_num_variables(graph); i++) {
    compare_variable(session, kinds[which].name, rheos_graph_variable(graph, i));
  }
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

// Dense and sparse updates, rows that occur twice, slots and all.
static void test_optimizer__takes_the_recorded_steps(void **state) {
  (void)state;
  kind kinds[16];
  size_t count = all_kinds((rheos_variable){0}, kinds);
  for (size_t i = 0; i < count; i++) {
    five_steps(i, false);
    five_steps(i, true);
  }
}

static void assert_fails(rheos_scope *s, const char *want) {
  rheos_status *status = rheos_scope_finish(s);
  assert_non_null(status);
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  assert_string_equal(rheos_status_message(status), want);
  rheos_status_free(status);
}

static void assert_name(rheos_operation operation, const char *want) {
  char name[128];
  rheos_operation_name(operation, name, sizeof(name));
  assert_string_equal(name, want);
}

static void run(rheos_session *session, rheos_operation target) {
  rheos_status *status = rheos_session_run(session, NULL, 0, NULL, 0, &target, 1, NULL);
  if (status != NULL) fprintf(stderr, "%s\n", rheos_status_message(status));
  assert_null(status);
}

// sum(w * w), or of the rows 1, 3 and 1 again.
static rheos_variable squares(rheos_scope *s, bool rows, rheos_output *out_loss) {
  const float vector[] = {1, -2, 3}, table[] = {1, 2, 3, 4, 5, 6, 7, 8};
  const int32_t ids[] = {1, 3, 1}, axes[] = {0, 1};
  rheos_output start = rows ? constant(s, RHEOS_FLOAT, RHEOS_SHAPE(4, 2), table)
                            : constant(s, RHEOS_FLOAT, RHEOS_SHAPE(3), vector);
  rheos_variable w = rheos_variable_new(s, start, &(rheos_variable_options){.name = "w"});
  rheos_output used = w.value;
  if (rows) {
    used = OP(s, "GatherV2", w.value, constant(s, RHEOS_INT32, RHEOS_SHAPE(3), ids),
              rheos_constant_int(s, 0, NULL));
  }
  *out_loss = OP(s, "Sum", OP(s, "Mul", used, used),
                 constant(s, RHEOS_INT32, RHEOS_SHAPE(rows ? 2 : 1), axes));
  return w;
}

static void assert_three_steps(void **state, rheos_optimizer optimizer, bool rows,
                               const float *want, int count) {
  fixture *f = *state;
  rheos_output loss;
  rheos_variable w = squares(f->s, rows, &loss);
  rheos_operation step = rheos_minimize(f->s, optimizer, loss);
  rheos_operation init = rheos_global_variables_initializer(f->s);
  assert_fine(f->s);
  rheos_session *session = NULL;
  assert_null(rheos_session_new(f->graph, NULL, &session));
  run(session, init);
  for (int i = 0; i < 3; i++) run(session, step);
  rheos_fetch fetch = {.output = w.value};
  assert_null(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  const float *got = rheos_tensor_data(fetch.value);
  for (int i = 0; i < count; i++) {
    if (fabsf(got[i] - want[i]) > 2e-6f * (1 + fabsf(want[i]))) {
      fprintf(stderr, "element %d: got %.9g, want %.9g\n", i, (double)got[i], (double)want[i]);
      fail();
    }
  }
  rheos_tensor_unref(fetch.value);
  rheos_session_free(session);
}

static rheos_optimizer nesterov(void) {
  rheos_optimizer optimizer = rheos_momentum(0.1, 0.9);
  optimizer.use_nesterov = true;
  return optimizer;
}

#define STEPS_TEST(name, optimizer, rows, count, ...)              \
  static void test_optimizer__##name(void **state) {               \
    const float want[] = {__VA_ARGS__};                            \
    assert_three_steps(state, (optimizer), (rows), want, (count)); \
  }

STEPS_TEST(gradient_descent, rheos_gradient_descent(0.1), false, 3, 0.511999965f, -1.02399993f,
           1.53600001f)
STEPS_TEST(gradient_descent_rows, rheos_gradient_descent(0.1), true, 8, 1, 2, 0.648000002f,
           0.864000082f, 5, 6, 3.58400011f, 4.09599972f)
STEPS_TEST(momentum, rheos_momentum(0.1, 0.9), false, 3, 0.0620000064f, -0.124000013f, 0.186000109f)
STEPS_TEST(momentum_rows, rheos_momentum(0.1, 0.9), true, 8, 1, 2, -1.62f, -2.15999985f, 5, 6,
           0.434000015f, 0.496000051f)
STEPS_TEST(nesterov, nesterov(), false, 3, -0.108351976f, 0.216703951f, -0.325055897f)
STEPS_TEST(nesterov_rows, nesterov(), true, 8, 1, 2, -1.2998879f, -1.73318374f, 5, 6, -0.758463621f,
           -0.866815805f)
STEPS_TEST(adagrad, rheos_adagrad(0.1), false, 3, 0.782299221f, -1.77629662f, 2.7745719f)
STEPS_TEST(adagrad_rows, rheos_adagrad(0.1), true, 8, 1, 2, 2.77441263f, 3.7736733f, 5, 6,
           6.77277613f, 7.77261829f)
STEPS_TEST(adam, rheos_adam(0.1), false, 3, 0.701587319f, -1.70062447f, 2.70038271f)
STEPS_TEST(adam_rows, rheos_adam(0.1), true, 8, 1, 2, 2.70038271f, 3.70027494f, 5, 6, 6.70014906f,
           7.70012903f)

static void test_optimizer__takes_numbers_from_tensors(void **state) {
  fixture *f = *state;
  rheos_output rate = rheos_constant_float(f->s, 0.1f, "rate");
  rheos_optimizer optimizer = rheos_gradient_descent(5);
  optimizer.learning_rate_tensor = rate;
  const float want[] = {0.511999965f, -1.02399993f, 1.53600001f};
  assert_three_steps(state, optimizer, false, want, 3);
}

static void test_optimizer__keeps_slots(void **state) {
  fixture *f = *state;
  rheos_output loss;
  rheos_variable w = squares(f->s, false, &loss);
  rheos_optimizer adam = rheos_adam(0.1);
  rheos_minimize(f->s, adam, loss);
  rheos_variable m = rheos_optimizer_slot(f->graph, w, "Adam", "m");
  rheos_variable power =
      rheos_optimizer_slot(f->graph, (rheos_variable){.graph = NULL}, "Adam", "beta1_power");
  assert_name(rheos_output_operation(m.handle), "w/Adam");
  assert_name(rheos_output_operation(power.handle), "beta1_power");
  assert_false(m.trainable);
  assert_null(rheos_optimizer_slot(f->graph, w, "Momentum", "momentum").graph);
  // An optimizer finds its slots again, another one makes its own.
  int32_t count = rheos_graph_num_variables(f->graph);
  rheos_minimize(f->s, adam, loss);
  assert_int_equal(rheos_graph_num_variables(f->graph), count);
  rheos_optimizer other = rheos_adam(0.2);
  other.identity = 1;
  rheos_minimize(f->s, other, loss);
  assert_fine(f->s);
  assert_int_equal(rheos_graph_num_variables(f->graph), count + 4);
  rheos_variable other_m = rheos_optimizer_own_slot(f->graph, other, w, "m");
  assert_name(rheos_output_operation(other_m.handle), "w/Adam_2");
  assert_int_equal(rheos_optimizer_own_slot(f->graph, adam, w, "m").index, m.index);
  assert_int_equal(rheos_graph_collection_size(f->graph, RHEOS_COLLECTION_TRAIN_OP), 3);
}

static void test_optimizer__of_ones_own_makes_slots(void **state) {
  fixture *f = *state;
  rheos_output loss;
  rheos_variable w = squares(f->s, false, &loss);
  rheos_optimizer mine = {.name = "Mine"};
  rheos_variable a = rheos_optimizer_make_slot(f->s, mine, w, "a", rheos_ones(), NULL);
  rheos_variable again = rheos_optimizer_make_slot(f->s, mine, w, "a", rheos_ones(), NULL);
  rheos_initializer value = {.kind = RHEOS_INIT_VALUE, .value = loss};
  rheos_variable b = rheos_optimizer_make_slot(f->s, mine, w, "b", value, "Other");
  assert_fine(f->s);
  assert_int_equal(a.index, again.index);
  assert_name(rheos_output_operation(a.handle), "w/Mine");
  assert_name(rheos_output_operation(b.handle), "w/Other");
  assert_int_equal(rheos_output_shape(a.handle).rank, 1);
  assert_int_equal(rheos_output_shape(b.handle).rank, 0);
}

static void test_optimizer__counts_steps(void **state) {
  fixture *f = *state;
  rheos_output loss;
  squares(f->s, false, &loss);
  rheos_variable step =
      rheos_get_variable_record(f->s, "step", RHEOS_INT64, RHEOS_SCALAR, rheos_zeros(), false);
  rheos_operation train = rheos_minimize_with(f->s, rheos_adam(0.1), loss,
                                              &(rheos_minimize_options){.global_step = &step});
  rheos_operation init = rheos_global_variables_initializer(f->s);
  assert_fine(f->s);
  assert_string_equal(rheos_operation_type(train), "AssignAdd");
  assert_name(train, "Adam");
  rheos_session *session = NULL;
  assert_null(rheos_session_new(f->graph, NULL, &session));
  run(session, init);
  for (int i = 0; i < 4; i++) run(session, train);
  rheos_fetch fetch = {.output = step.value};
  assert_null(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  assert_int_equal(*(int64_t *)rheos_tensor_data(fetch.value), 4);
  rheos_tensor_unref(fetch.value);
  rheos_session_free(session);
}

static void test_optimizer__leaves_variables_without_a_gradient(void **state) {
  fixture *f = *state;
  rheos_output loss;
  rheos_variable w = squares(f->s, false, &loss);
  rheos_get_variable(f->s, "unused", RHEOS_FLOAT, RHEOS_SHAPE(2), rheos_zeros());
  rheos_variable *variables = NULL;
  rheos_gradient *gradients = NULL;
  assert_int_equal(
      rheos_compute_gradients(f->s, rheos_adam(0.1), loss, NULL, 0, &variables, &gradients), 2);
  assert_int_equal(variables[0].index, w.index);
  assert_non_null(gradients[0].values.graph);
  assert_null(gradients[1].values.graph);
  rheos_operation step =
      rheos_apply_gradients(f->s, rheos_adam(0.1), variables, gradients, 2, NULL, "step");
  assert_fine(f->s);
  assert_name(step, "step");
  assert_int_equal(rheos_graph_num_variables(f->graph), 6);
  rheos_free(variables);
  rheos_free(gradients);
}

static void test_optimizer__refuses_what_cannot_be_trained(void **state) {
  fixture *f = *state;
  rheos_scope *s = f->s;
  rheos_output loss = rheos_constant_float(s, 3, NULL);
  rheos_minimize(s, rheos_adam(0.1), loss);
  assert_fails(s, "No variables to optimize.");
  rheos_variable w =
      rheos_get_variable_record(s, "w", RHEOS_FLOAT, RHEOS_SHAPE(2, 3), rheos_zeros(), true);
  rheos_minimize(s, rheos_adam(0.1), loss);
  assert_fails(s,
               "No gradients provided for any variable, check your graph for ops that do not "
               "support gradients, between variables [\"<tf.Variable 'w:0' shape=(2, 3) "
               "dtype=float32_ref>\"] and loss Tensor(\"Const:0\", shape=(), dtype=float32).");
  rheos_minimize(s, rheos_adam(0.1), rheos_constant_int(s, 3, "whole"));
  assert_fails(s,
               "Invalid type int32 for whole:0, expected: [float32, float64, float16, "
               "bfloat16].");
  rheos_gradient nothing = {.values = {NULL, 0, 0}};
  rheos_apply_gradients(s, rheos_adam(0.1), &w, &nothing, 1, NULL, NULL);
  assert_fails(s,
               "No gradients provided for any variable: [\"<tf.Variable 'w:0' shape=(2, 3) "
               "dtype=float32_ref>\"].");
  rheos_apply_gradients(s, rheos_adam(0.1), NULL, NULL, 0, NULL, NULL);
  assert_fails(s, "No variables provided.");
  rheos_minimize(s, rheos_adam(0.1), (rheos_output){NULL, 0, 0});
  assert_fails(s, "the loss is no tensor");
  assert_int_equal(rheos_graph_num_variables(f->graph), 1);
}

// A gradient of Floor, which the library has none of: the one that comes in.
static bool straight_through(void *argument, rheos_scope *s, rheos_operation operation,
                             const char *type, const rheos_gradient *out_gradients,
                             rheos_gradient *in_gradients) {
  (void)operation;
  int *calls = argument;
  *calls += 1;
  assert_string_equal(type, "StraightThrough");
  in_gradients[0].values = rheos_mul(s, out_gradients[0].values, rheos_const_f32(s, 2));
  return true;
}

static void test_optimizer__minimize_takes_a_gradient_function(void **state) {
  fixture *f = *state;
  rheos_scope *s = f->s;
  rheos_output w = rheos_get_variable(s, "w", RHEOS_FLOAT, RHEOS_SCALAR, rheos_ones());
  rheos_push_attr(s, rheos_attr_string("_gradient_op_type", "StraightThrough", 15));
  rheos_output loss = rheos_floor(s, w);
  rheos_scope_pop(s);
  int calls = 0;
  const rheos_minimize_options options = {.gradient_function = straight_through,
                                          .gradient_argument = &calls};
  rheos_operation train = rheos_minimize_with(s, rheos_gradient_descent(0.25), loss, &options);
  rheos_operation init = rheos_global_variables_initializer(s);
  assert_null(rheos_scope_finish(s));
  assert_int_equal(calls, 1);
  rheos_session *session;
  assert_null(rheos_session_new(f->graph, NULL, &session));
  assert_null(rheos_session_run(session, NULL, 0, NULL, 0, &init, 1, NULL));
  assert_null(rheos_session_run(session, NULL, 0, NULL, 0, &train, 1, NULL));
  rheos_fetch fetch = {w, NULL};
  assert_null(rheos_session_run(session, NULL, 0, &fetch, 1, NULL, 0, NULL));
  assert_float_equal(*(float *)rheos_tensor_data(fetch.value), 0.5, 0);
  rheos_tensor_unref(fetch.value);
  rheos_session_free(session);
}

// Each kind, and the two whose op depends on a choice, against what the ops say of themselves.
static void test_optimizer__describes_what_its_op_takes(void **state) {
  (void)state;
  size_t count = 0;
  for (int kind = 1; kind <= RHEOS_OPTIMIZER_ADAGRAD_DA; kind++) {
    for (int other = 0; other < 2; other++) {
      rheos_optimizer optimizer = {.kind = (rheos_optimizer_kind)kind,
                                   .initial_accumulator_value = 0.5,
                                   .centered = other != 0,
                                   .l2_shrinkage_regularization_strength = other};
      rheos_optimizer_parts parts = rheos_optimizer_describe(optimizer);
      char type[64];
      snprintf(type, sizeof type, "ResourceApply%s", parts.op);
      const rheos_op_def *op = rheos_op_def_find(NULL, type);
      assert_non_null(op);
      assert_int_equal(rheos_op_def_num_inputs(op), 1 + strlen(parts.inputs));
      for (int i = 0; i < RHEOS_OPTIMIZER_MAX_SLOTS; i++) {
        const bool is_slot = strchr(parts.inputs, 'a' + i) != NULL;
        assert_true((parts.slots[i] != NULL) == is_slot);
        count +=
            is_slot && strcmp(parts.slots[i], "accumulator") == 0 && parts.slot_values[i] == 0.5;
      }
      assert_non_null(parts.numbers[0]);
    }
  }
  assert_int_equal(count, 4);  // Adagrad and ProximalAdagrad, twice
  assert_float_equal(rheos_optimizer_describe(rheos_adam(0.1)).defaults[2], 0.999, 0);
  assert_float_equal(rheos_optimizer_describe(rheos_rmsprop(0.1)).slot_values[0], 1, 0);
  assert_null(rheos_optimizer_describe((rheos_optimizer){0}).kind);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(test_optimizer__##name, setup, teardown)
  const struct CMUnitTest tests[] = {
      TEST(gradient_descent),
      TEST(gradient_descent_rows),
      TEST(momentum),
      TEST(momentum_rows),
      TEST(nesterov),
      TEST(nesterov_rows),
      TEST(adagrad),
      TEST(adagrad_rows),
      TEST(adam),
      TEST(adam_rows),
      TEST(takes_the_recorded_steps),
      TEST(takes_numbers_from_tensors),
      TEST(minimize_takes_a_gradient_function),
      TEST(keeps_slots),
      TEST(of_ones_own_makes_slots),
      TEST(counts_steps),
      TEST(leaves_variables_without_a_gradient),
      TEST(refuses_what_cannot_be_trained),
      TEST(describes_what_its_op_takes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
