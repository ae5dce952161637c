// Batch normalization on graphics cards of channels whose elements several groups sum up, and whose
// mean is far from zero: what the CPU gives, on what PoCL makes of a processor. Skipped where there
// is no device.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rheos/rheos.h>

#include "device/opencl/opencl.h"

enum { RESULTS = 6 };

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

// Of one mean they are the same each time, of another other ones.
static rheos_tensor *floats(rheos_shape shape, float mean, float spread) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_new(RHEOS_FLOAT, shape, &tensor));
  float *values = rheos_tensor_data(tensor);
  uint32_t state = 5 + 7919 * (uint32_t)(100 * mean);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    state = state * 1664525u + 1013904223u;
    values[i] = mean + spread * ((float)(state >> 8) * 0x1p-24f - 0.5f);
  }
  return tensor;
}

static rheos_output constant(rheos_scope *s, rheos_tensor *taken) {
  const rheos_output output = rheos_constant(s, taken, NULL);
  rheos_tensor_unref(taken);
  return output;
}

static void run(const char *device, const char *format, rheos_shape shape, rheos_fetch *fetches) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_session *session = NULL;
  const rheos_shape channels = RHEOS_SHAPE(shape.dims[format[1] == 'C' ? 1 : 3]);
  rheos_push_device(s, device);
  const rheos_output scale = constant(s, floats(channels, 1, 1));
  const rheos_output offset = constant(s, floats(channels, 0, 2));
  const rheos_output x = rheos_placeholder(s, RHEOS_FLOAT, .shape = &shape);
  const rheos_output dy = rheos_placeholder(s, RHEOS_FLOAT, .shape = &shape);
  const rheos_fused_batch_norm_v3_outputs y =
      rheos_fused_batch_norm_v3(s, x, scale, offset, offset, scale, .data_format = format,
                                .exponential_avg_factor = rheos_float(0.25));
  const rheos_fused_batch_norm_grad_v3_outputs grad =
      rheos_fused_batch_norm_grad_v3(s, dy, x, scale, y.reserve_space_1, y.reserve_space_2,
                                     y.reserve_space_3, .data_format = format);
  check(rheos_scope_finish(s));
  check(rheos_session_new(graph, NULL, &session));
  const rheos_output results[RESULTS] = {y.y,
                                         y.batch_mean,
                                         y.batch_variance,
                                         grad.x_backprop,
                                         grad.scale_backprop,
                                         grad.offset_backprop};
  for (int i = 0; i < RESULTS; i++) fetches[i] = (rheos_fetch){results[i], NULL};
  const rheos_feed feeds[] = {{x, floats(shape, 300, 2)}, {dy, floats(shape, 0.1f, 1)}};
  check(rheos_session_run(session, feeds, 2, fetches, RESULTS, NULL, 0, NULL));
  for (int i = 0; i < 2; i++) rheos_tensor_unref(feeds[i].value);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

static void assert_near(const rheos_tensor *actual, const rheos_tensor *expected) {
  const float *x = rheos_tensor_data(actual), *y = rheos_tensor_data(expected);
  const int64_t count = rheos_tensor_num_elements(expected);
  float largest = 0;
  for (int64_t i = 0; i < count; i++) largest = fmaxf(largest, fabsf(y[i]));
  for (int64_t i = 0; i < count; i++) assert_float_equal(x[i], y[i], 2e-5 * largest);
}

static void check_shape(const char *format, rheos_shape shape) {
  rheos_fetch expected[RESULTS], actual[RESULTS];
  run("/device:CPU:0", format, shape, expected);
  run("/device:GPU:0", format, shape, actual);
  for (int i = 0; i < RESULTS; i++) {
    assert_near(actual[i].value, expected[i].value);
    rheos_tensor_unref(expected[i].value);
    rheos_tensor_unref(actual[i].value);
  }
}

static void test_many_rows(void **unused) {
  (void)unused;
  // Of one part, of several, the last of them shorter; of fewer channels than a group has, and
  // more.
  static const int64_t sizes[][4] = {
      {1, 3, 7, 70}, {4, 9, 11, 5}, {8, 28, 28, 33}, {7, 31, 37, 64}, {2, 13, 17, 1100}};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const int64_t *d = sizes[i];
    check_shape("NHWC", RHEOS_SHAPE(d[0], d[1], d[2], d[3]));
    check_shape("NCHW", RHEOS_SHAPE(d[0], d[3], d[1], d[2]));
  }
}

int main(void) {
  setenv("RHEOS_OPENCL", "cpu", 1);
  if (rheos__opencl_count() == 0) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
