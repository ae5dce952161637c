// Loops on graphics cards that read rows from an array and write their states to another, forward
// and backward: what arrays and stacks keep stays on the card, and the shapes that gradients ask
// for stay on the host. So what a step copies does not grow with the trips. Skipped where there is
// no device.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rheos/rheos.h>

#include "device/opencl/opencl.h"

enum { ROWS = 4, WIDTH = 6, TRIP = 0, STATE, FLOW, NUM_VARIABLES };

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

typedef struct program {
  rheos_graph *graph;
  rheos_scope *s;
  rheos_output x, weights, length, rows, states, gradient;
} program;

static rheos_output op_of(rheos_scope *s, const char *type, const rheos_output *inputs,
                          size_t count, const char *attr, rheos_operation *out_operation) {
  const rheos_attr dtype = {attr, {.kind = RHEOS_ATTR_TYPE, .type = RHEOS_FLOAT}};
  const rheos_op_args args = {.type = type,
                              .inputs = inputs,
                              .num_inputs = count,
                              .attrs = &dtype,
                              .num_attrs = attr != NULL};
  const rheos_operation operation = rheos_op(s, &args);
  if (out_operation != NULL) *out_operation = operation;
  return rheos_operation_output(operation, 0);
}

static rheos_output number(rheos_scope *s, int32_t value) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &value, &tensor));
  const rheos_output output = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

static rheos_output goes_on(rheos_scope *s, void *argument, const rheos_output *v, size_t count) {
  (void)count;
  return rheos_less(s, v[TRIP], ((const program *)argument)->length);
}

static void next_values(rheos_scope *s, void *argument, const rheos_output *v, rheos_output *next,
                        size_t count) {
  const program *p = argument;
  (void)count;
  const rheos_output read[] = {p->rows, v[TRIP], v[FLOW]};
  const rheos_output row = op_of(s, "TensorArrayReadV3", read, 3, "dtype", NULL);
  const rheos_output sum = rheos_add(s, rheos_matmul(s, v[STATE], p->weights), row);
  next[TRIP] = rheos_add(s, v[TRIP], number(s, 1));
  next[STATE] = rheos_mul(s, rheos_tanh(s, sum), rheos_sigmoid(s, sum));
  const rheos_output write[] = {p->states, v[TRIP], next[STATE], v[FLOW]};
  next[FLOW] = op_of(s, "TensorArrayWriteV3", write, 4, "T", NULL);
}

static rheos_output range(const program *p) {
  const rheos_output ends[] = {number(p->s, 0), p->length, number(p->s, 1)};
  return op_of(p->s, "Range", ends, 3, NULL, NULL);
}

static void build(program *p, const char *device) {
  const rheos_shape rows = RHEOS_SHAPE(-1, ROWS, WIDTH), square = RHEOS_SHAPE(WIDTH, WIDTH);
  rheos_operation array;
  rheos_output last[NUM_VARIABLES];
  rheos_gradient gradient = {0};
  p->graph = rheos_graph_new();
  p->s = rheos_scope_new(p->graph);
  rheos_scope *s = p->s;
  rheos_push_device(s, device);
  p->x = rheos_placeholder(s, RHEOS_FLOAT, .shape = &rows);
  p->weights = rheos_placeholder(s, RHEOS_FLOAT, .shape = &square);
  p->length = rheos_placeholder(s, RHEOS_INT32, .shape = &RHEOS_SCALAR);
  p->states = op_of(s, "TensorArrayV3", &p->length, 1, "dtype", NULL);
  p->rows = op_of(s, "TensorArrayV3", &p->length, 1, "dtype", &array);
  const rheos_output scatter[] = {p->rows, range(p), p->x, rheos_operation_output(array, 1)};
  const rheos_output zero = rheos_constant_float(s, 0, NULL);
  const rheos_output zeros = rheos_mul(s, rheos_sum(s, p->x, number(s, 0)), zero);
  const rheos_output first[] = {number(s, 0), zeros,
                                op_of(s, "TensorArrayScatterV3", scatter, 4, "T", NULL)};
  const rheos_shape shapes[] = {RHEOS_SCALAR, RHEOS_UNKNOWN_SHAPE, RHEOS_SCALAR};
  const rheos_while_options options = {.shapes = shapes};
  rheos_while_loop(s, goes_on, next_values, p, first, NUM_VARIABLES, &options, last);
  const rheos_output gather[] = {p->states, range(p), last[FLOW]};
  const rheos_output all = op_of(s, "TensorArrayGatherV3", gather, 3, "dtype", NULL);
  rheos_gradients(s, &all, 1, &p->weights, 1, NULL, &gradient);
  p->gradient = gradient.values;
  check(rheos_scope_finish(s));
}

static rheos_tensor *numbers(rheos_shape shape) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, shape, &tensor));
  float *values = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    values[i] = (float)((i * 37) % 29 - 14) / 29;
  }
  return tensor;
}

static rheos_tensor *run(const program *p, rheos_session *session, int32_t length) {
  rheos_feed feeds[] = {{p->x, numbers(RHEOS_SHAPE(length, ROWS, WIDTH))},
                        {p->weights, numbers(RHEOS_SHAPE(WIDTH, WIDTH))},
                        {p->length, NULL}};
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SCALAR, &length, &feeds[2].value));
  rheos_fetch fetch = {p->gradient, NULL};
  check(rheos_session_run(session, feeds, 3, &fetch, 1, NULL, 0, NULL));
  for (int i = 0; i < 3; i++) rheos_tensor_unref(feeds[i].value);
  return fetch.value;
}

static void assert_close(const rheos_tensor *expected, const rheos_tensor *actual) {
  const float *x = rheos_tensor_data(expected), *y = rheos_tensor_data(actual);
  assert_true(rheos_shape_equal(rheos_tensor_shape(expected), rheos_tensor_shape(actual)));
  for (int64_t i = 0; i < rheos_tensor_num_elements(expected); i++) {
    assert_true(fabsf(x[i] - y[i]) <= 1e-5f * (1 + fabsf(x[i])));
  }
}

// Where nothing asks for a device, floats are on the card and whole numbers are not.
static void test_opencl_loops__trips_copy_nothing(void **unused) {
  (void)unused;
  static const int32_t lengths[] = {3, 12};
  program cpu, card;
  rheos_session *on_cpu = NULL, *on_card = NULL;
  int64_t copies[2];
  build(&cpu, "/device:CPU:0");
  build(&card, "");
  check(rheos_session_new(cpu.graph, NULL, &on_cpu));
  check(rheos_session_new(card.graph, NULL, &on_card));
  for (int i = 0; i < 2; i++) {
    rheos_tensor *expected = run(&cpu, on_cpu, lengths[i]);
    rheos_tensor_unref(run(&card, on_card, lengths[i]));  // constants are there
    const int64_t before = rheos__opencl_num_copies(0), kernels = rheos__opencl_num_kernels(0);
    rheos_tensor *actual = run(&card, on_card, lengths[i]);
    copies[i] = rheos__opencl_num_copies(0) - before;
    assert_true(rheos__opencl_num_kernels(0) - kernels > 8 * lengths[i]);
    assert_close(expected, actual);
    rheos_tensor_unref(expected);
    rheos_tensor_unref(actual);
  }
  assert_int_equal(copies[0], copies[1]);
  assert_true(copies[0] <= 8);
  rheos_session_free(on_cpu);
  rheos_session_free(on_card);
  rheos_scope_free(cpu.s);
  rheos_scope_free(card.s);
  rheos_graph_unref(cpu.graph);
  rheos_graph_unref(card.graph);
}

int main(void) {
  setenv("RHEOS_OPENCL", "cpu", 1);
  if (rheos__opencl_count() == 0) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_opencl_loops__trips_copy_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
