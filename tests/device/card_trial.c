#include "device/card_trial.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "device/opencl/opencl.h"
#include "graph/build.h"
#include "tensor/tensor.h"

enum { MAX_OUTPUTS = 5 };

static void check(const card_trial *t, rheos_status *status) {
  if (status != NULL) fail_msg("%s: %s", t->op, rheos_status_message(status));
}

void card_trial_add(card_trial *t, rheos_tensor *input) { t->inputs[t->num_inputs++] = input; }
void card_trial_add_attr(card_trial *t, rheos_attr attr) { t->attrs[t->num_attrs++] = attr; }

rheos_tensor *card_trial_numbers(rheos_dtype dtype, rheos_shape shape, uint32_t seed) {
  rheos_tensor *tensor = NULL;
  rheos_status_free(rheos_tensor_new(dtype, shape, &tensor));
  assert_non_null(tensor);
  void *data = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    seed = seed * 1664525u + 1013904223u;
    const float value = (float)(seed >> 16) / 65536.0f * 40 - 20;
    const float eighths = roundf(value * 8) / 8;
    switch (dtype) {
      case RHEOS_DOUBLE: ((double *)data)[i] = (double)eighths; break;
      case RHEOS_HALF: ((uint16_t *)data)[i] = rheos__float_to_half(eighths); break;
      case RHEOS_BFLOAT16: ((uint16_t *)data)[i] = rheos__float_to_bfloat16(eighths); break;
      case RHEOS_UINT8: ((uint8_t *)data)[i] = (uint8_t)(seed >> 24); break;
      case RHEOS_INT32: ((int32_t *)data)[i] = (int32_t)value; break;
      default: ((float *)data)[i] = eighths;
    }
  }
  return tensor;
}

rheos_tensor *card_trial_ints(const int32_t *values, int64_t count) {
  rheos_tensor *tensor = NULL;
  rheos_status_free(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(count), values, &tensor));
  assert_non_null(tensor);
  return tensor;
}

static void run_on(const card_trial *t, const char *device, int times, rheos_tensor **outputs) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_session *session = NULL;
  rheos_output inputs[CARD_TRIAL_INPUTS];
  rheos_feed feeds[CARD_TRIAL_INPUTS];
  rheos_fetch fetches[MAX_OUTPUTS];
  size_t num_feeds = 0;
  for (int i = 0; i < t->num_inputs; i++) {
    const rheos_dtype dtype = rheos_tensor_dtype(t->inputs[i]);
    if (!rheos_dtype_is_floating(dtype) || (t->first_constant > 0 && i >= t->first_constant)) {
      inputs[i] = rheos_constant(s, t->inputs[i], NULL);
      continue;
    }
    inputs[i] = rheos_placeholder(s, dtype);
    feeds[num_feeds++] = (rheos_feed){inputs[i], t->inputs[i]};
  }
  rheos_push_device(s, device);
  const rheos_operation op =
      rheos__op_n(s, t->op, "trial", inputs, (size_t)t->num_inputs, t->attrs, (size_t)t->num_attrs);
  check(t, rheos_scope_finish(s));
  check(t, rheos_session_new(graph, NULL, &session));
  for (int time = 0; time < times; time++) {
    for (int i = 0; i < t->num_outputs; i++) {
      fetches[i] = (rheos_fetch){rheos_operation_output(op, i), NULL};
    }
    check(t, rheos_session_run(session, feeds, num_feeds, fetches, (size_t)t->num_outputs, NULL, 0,
                               NULL));
    for (int i = 0; i < t->num_outputs; i++) {
      outputs[time * t->num_outputs + i] = fetches[i].value;
    }
  }
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

static double number_at(const rheos_tensor *tensor, int64_t index) {
  const void *data = rheos_tensor_data(tensor);
  switch (rheos_tensor_dtype(tensor)) {
    case RHEOS_FLOAT: return (double)((const float *)data)[index];
    case RHEOS_DOUBLE: return ((const double *)data)[index];
    case RHEOS_HALF: return (double)rheos__half_to_float(((const uint16_t *)data)[index]);
    case RHEOS_BFLOAT16: return (double)rheos__bfloat16_to_float(((const uint16_t *)data)[index]);
    default: return (double)rheos__tensor_int_at(tensor, index);
  }
}

// What differs is told with where it is.
static void compare(const card_trial *t, const rheos_tensor *expected, const rheos_tensor *actual,
                    double tolerance) {
  const size_t size = rheos_tensor_size_bytes(expected);
  assert_int_equal(rheos_tensor_size_bytes(actual), size);
  if (size == 0 || memcmp(rheos_tensor_data(actual), rheos_tensor_data(expected), size) == 0) {
    return;
  }
  double largest = 1;
  const int64_t count = rheos_tensor_num_elements(expected);
  for (int64_t i = 0; i < count; i++) largest = fmax(largest, fabs(number_at(expected, i)));
  for (int64_t i = 0; i < count; i++) {
    const double x = number_at(expected, i), y = number_at(actual, i);
    if (x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= tolerance * largest) continue;
    fail_msg("%s: element %lld of %lld is %.9g, not %.9g", t->op, (long long)i, (long long)count, y,
             x);
  }
}

static int64_t elements_of(const card_trial *t, rheos_tensor *const *outputs) {
  int64_t count = 0;
  for (int i = 0; i < t->num_outputs; i++) count += rheos_tensor_num_elements(outputs[i]);
  return count;
}

void card_trial_check(card_trial *t) {
  rheos_tensor *expected[MAX_OUTPUTS], *actual[2 * MAX_OUTPUTS];
  run_on(t, "/device:CPU:0", 1, expected);
  for (int blocks = 0; blocks < 2; blocks++) {
    rheos__opencl_want_blocks(0, blocks != 0);
    const int64_t before = rheos__opencl_num_kernels(0);
    run_on(t, "/device:GPU:0", 2, actual);
    if (elements_of(t, expected) > 0) assert_true(rheos__opencl_num_kernels(0) > before);
    for (int i = 0; i < t->num_outputs; i++) {
      compare(t, expected[i], actual[i], t->tolerance);
      compare(t, actual[i], actual[t->num_outputs + i], 0);
      rheos_tensor_unref(actual[i]);
      rheos_tensor_unref(actual[t->num_outputs + i]);
    }
  }
  rheos__opencl_want_blocks(0, true);
  for (int i = 0; i < t->num_outputs; i++) rheos_tensor_unref(expected[i]);
  for (int i = 0; i < t->num_inputs; i++) rheos_tensor_unref(t->inputs[i]);
}
