// Recurrent cells as one op on graphics cards: sequences and steps of odd sizes and of 1, of no
// inputs, with and without peepholes, sequences that end before their last step, forward and
// backward, as the CPU has it, by kernels for cards and for processors. Skipped where there is no
// device.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rheos/rheos.h>

#include "device/opencl/opencl.h"

enum { MOST_INPUTS = 18, MOST_FETCHES = 15 };

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

typedef struct sizes {
  int64_t steps, batch, inputs, cells, length;
} sizes;

// A cell and its gradient, which is given the cell's inputs, outputs, and gradients of some of
// these.
typedef struct cell {
  const char *op, *gradient;
  bool is_sequence, has_peephole;
  int num_inputs, num_kept;  // outputs that the gradient takes
  int grads[2], num_grads;   // outputs that stand for their own gradients
} cell;

static const cell cells[] = {
    {"BlockLSTM", "BlockLSTMGrad", true, true, 9, 7, {1, 6}, 2},
    {"BlockLSTM", "BlockLSTMGrad", true, false, 9, 7, {1, 6}, 2},
    {"BlockLSTMV2", "BlockLSTMGradV2", true, true, 9, 7, {1, 6}, 2},
    {"LSTMBlockCell", "LSTMBlockCellGrad", false, true, 8, 6, {1, 6}, 2},
    {"GRUBlockCell", "GRUBlockCellGrad", false, false, 6, 3, {3}, 1},
};

static rheos_tensor *numbers(rheos_shape shape, uint32_t *state) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, shape, &tensor));
  float *values = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    *state = *state * 1664525u + 1013904223u;
    values[i] = (float)(*state >> 8) / 16777216.0f - 0.5f;
  }
  return tensor;
}

static void make_inputs(const cell *c, const sizes *z, rheos_tensor **inputs) {
  const rheos_shape state = RHEOS_SHAPE(z->batch, z->cells), one = RHEOS_SHAPE(z->cells);
  const int64_t width = z->inputs + z->cells;
  uint32_t seed = 7;
  if (!c->is_sequence && c->num_inputs == 6) {
    const rheos_shape shapes[] = {RHEOS_SHAPE(z->batch, z->inputs), state,
                                  RHEOS_SHAPE(width, 2 * z->cells), RHEOS_SHAPE(width, z->cells),
                                  RHEOS_SHAPE(2 * z->cells),        one};
    for (int i = 0; i < 6; i++) inputs[i] = numbers(shapes[i], &seed);
    return;
  }
  const rheos_shape x = c->is_sequence ? RHEOS_SHAPE(z->steps, z->batch, z->inputs)
                                       : RHEOS_SHAPE(z->batch, z->inputs);
  const rheos_shape shapes[] = {x,   state, state, RHEOS_SHAPE(width, 4 * z->cells),
                                one, one,   one,   RHEOS_SHAPE(4 * z->cells)};
  if (c->is_sequence) {
    check(rheos_tensor_from_values(RHEOS_INT64, RHEOS_SCALAR, &z->length, &inputs[0]));
  }
  for (int i = 0; i < 8; i++) inputs[c->is_sequence + i] = numbers(shapes[i], &seed);
}

static rheos_operation op_with(rheos_scope *s, const char *type, const rheos_output *inputs,
                               int count, const rheos_attr *attr) {
  const rheos_op_args args = {.type = type,
                              .inputs = inputs,
                              .num_inputs = (size_t)count,
                              .attrs = attr,
                              .num_attrs = attr != NULL};
  return rheos_op(s, &args);
}

// The cell's outputs and its gradient's; how many these are.
static int run(const cell *c, const char *device, rheos_tensor *const *inputs,
               rheos_fetch *fetches) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_output values[MOST_INPUTS];
  rheos_feed feeds[MOST_INPUTS];
  const rheos_attr peephole = rheos_attr_bool("use_peephole", c->has_peephole);
  const rheos_attr *attr = c->grads[0] == 1 ? &peephole : NULL;
  rheos_push_device(s, device);
  for (int i = 0; i < c->num_inputs; i++) {
    values[i] = rheos_placeholder(s, rheos_tensor_dtype(inputs[i]));
    feeds[i] = (rheos_feed){values[i], inputs[i]};
  }
  const rheos_operation forward = op_with(s, c->op, values, c->num_inputs, attr);
  int count = c->num_inputs, num_fetches = 0;
  for (int i = 0; i < c->num_kept; i++) values[count++] = rheos_operation_output(forward, i);
  for (int i = 0; i < c->num_grads; i++) {
    values[count++] = rheos_operation_output(forward, c->grads[i]);
  }
  const rheos_operation backward = op_with(s, c->gradient, values, count, attr);
  check(rheos_scope_finish(s));
  const rheos_operation both[] = {forward, backward};
  for (int k = 0; k < 2; k++) {
    for (int32_t i = 0; i < rheos_operation_num_outputs(both[k]); i++) {
      fetches[num_fetches++] = (rheos_fetch){rheos_operation_output(both[k], i), NULL};
    }
  }
  rheos_session *session = NULL;
  check(rheos_session_new(graph, NULL, &session));
  check(rheos_session_run(session, feeds, (size_t)c->num_inputs, fetches, (size_t)num_fetches, NULL,
                          0, NULL));
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  return num_fetches;
}

static void assert_close(const rheos_tensor *expected, const rheos_tensor *actual) {
  assert_true(rheos_shape_equal(rheos_tensor_shape(expected), rheos_tensor_shape(actual)));
  const float *x = rheos_tensor_data(expected), *y = rheos_tensor_data(actual);
  for (int64_t i = 0; i < rheos_tensor_num_elements(expected); i++) {
    assert_true(fabsf(x[i] - y[i]) <= 2e-5f * (1 + fabsf(x[i])));
  }
}

static void try_cell(const cell *c, const sizes *z) {
  rheos_tensor *inputs[MOST_INPUTS];
  rheos_fetch expected[MOST_FETCHES], actual[MOST_FETCHES];
  make_inputs(c, z, inputs);
  const int count = run(c, "/device:CPU:0", inputs, expected);
  const int64_t before = rheos__opencl_num_kernels(0);
  run(c, "/device:GPU:0", inputs, actual);
  assert_true(rheos__opencl_num_kernels(0) >= before + 4);
  for (int i = 0; i < count; i++) {
    assert_close(expected[i].value, actual[i].value);
    rheos_tensor_unref(expected[i].value);
    rheos_tensor_unref(actual[i].value);
  }
  for (int i = 0; i < c->num_inputs; i++) rheos_tensor_unref(inputs[i]);
}

static void test_opencl_recurrent__cells_are_the_cpus(void **unused) {
  (void)unused;
  static const sizes all[] = {
      {1, 1, 1, 1, 1}, {5, 3, 7, 9, 5}, {6, 17, 20, 33, 4}, {4, 2, 0, 5, 4}, {3, 150, 1, 2, 0}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    rheos__opencl_want_blocks(0, i % 2 == 0);
    for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) try_cell(&cells[k], &all[i]);
  }
}

int main(void) {
  setenv("RHEOS_OPENCL", "cpu", 1);
  if (rheos__opencl_count() == 0) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_opencl_recurrent__cells_are_the_cpus)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
