// Kernels of graphics cards that read along one dimension what lies along another, in squares or
// columns: transposes, sums over all dimensions but the last, batch normalization, depthwise
// convolutions. What is summed are small whole numbers, so the CPU's answer is exact. As for cards
// and as for processors; skipped where there is no device.
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include <rheos/rheos.h>

#include "device/opencl/card.h"
#include "device/opencl/opencl.h"

static void check(rheos_status *status) {
  if (status != NULL) fail_msg("%s", rheos_status_message(status));
}

static rheos_output whole_numbers(rheos_scope *s, const int32_t *numbers, int32_t count) {
  rheos_tensor *tensor = NULL;
  check(rheos_tensor_from_values(RHEOS_INT32, RHEOS_SHAPE(count), numbers, &tensor));
  const rheos_output output = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

// A transpose by `order`, or a sum over what `order` begins with.
typedef struct layout_case {
  rheos_dtype dtype;
  int32_t rank, num_summed;  // 0: a transpose
  int64_t dims[5];
  int32_t order[5];
} layout_case;

static rheos_tensor *run_on(const char *device, const layout_case *c, rheos_tensor *x) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_push_device(s, device);
  const rheos_output from = rheos_placeholder(s, RHEOS_FLOAT);
  const rheos_output cast = rheos_cast(s, from, c->dtype);
  const int32_t count = c->num_summed > 0 ? c->num_summed : c->rank;
  const rheos_output numbers = whole_numbers(s, c->order, count);
  const rheos_output y =
      c->num_summed > 0 ? rheos_sum(s, cast, numbers) : rheos_transpose(s, cast, numbers);
  check(rheos_scope_finish(s));
  rheos_session *session = NULL;
  check(rheos_session_new(graph, NULL, &session));
  const rheos_feed feed = {from, x};
  rheos_fetch fetch = {y, NULL};
  check(rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL));
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  return fetch.value;
}

static rheos_tensor *numbers_for(const layout_case *c) {
  rheos_tensor *tensor = NULL;
  rheos_shape shape = {.rank = c->rank};
  for (int32_t d = 0; d < c->rank; d++) shape.dims[d] = c->dims[d];
  check(rheos_tensor_new(RHEOS_FLOAT, shape, &tensor));
  float *values = rheos_tensor_data(tensor);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    values[i] = (float)((i * 7 + i / 13 + i / 1009) % 9) - 4.0F;
  }
  return tensor;
}

static void try_case(const layout_case *c) {
  rheos_tensor *x = numbers_for(c), *expected = run_on("/device:CPU:0", c, x);
  for (int blocks = 0; blocks < 2; blocks++) {
    rheos__opencl_want_blocks(0, blocks != 0);
    rheos_tensor *actual = run_on("/device:GPU:0", c, x);
    assert_true(rheos_shape_equal(rheos_tensor_shape(actual), rheos_tensor_shape(expected)));
    assert_memory_equal(rheos_tensor_data(actual), rheos_tensor_data(expected),
                        rheos_tensor_size_bytes(expected));
    rheos_tensor_unref(actual);
  }
  rheos_tensor_unref(expected);
  rheos_tensor_unref(x);
}

static void test_transposes(void **unused) {
  (void)unused;
  static const layout_case cases[] = {
      {RHEOS_FLOAT, 2, 0, {37, 70}, {1, 0}},
      {RHEOS_FLOAT, 2, 0, {64, 32}, {1, 0}},
      {RHEOS_FLOAT, 2, 0, {7, 1000}, {1, 0}},
      {RHEOS_DOUBLE, 3, 0, {3, 40, 33}, {0, 2, 1}},
      {RHEOS_HALF, 3, 0, {9, 5, 65}, {2, 1, 0}},
      {RHEOS_BOOL, 3, 0, {33, 3, 31}, {1, 2, 0}},
      {RHEOS_INT8, 4, 0, {2, 11, 13, 17}, {0, 3, 1, 2}},
      {RHEOS_FLOAT, 4, 0, {2, 17, 9, 10}, {0, 2, 3, 1}},
      {RHEOS_FLOAT, 5, 0, {3, 8, 2, 9, 10}, {4, 2, 0, 3, 1}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) try_case(&cases[i]);
}

static void test_sums_of_columns(void **unused) {
  (void)unused;
  static const layout_case cases[] = {
      {RHEOS_FLOAT, 2, 1, {33, 1}, {0}},           {RHEOS_FLOAT, 2, 1, {5000, 70}, {0}},
      {RHEOS_FLOAT, 2, 1, {300, 33}, {0}},         {RHEOS_DOUBLE, 3, 2, {40, 50, 7}, {0, 1}},
      {RHEOS_FLOAT, 3, 1, {5, 600, 31}, {1}},      {RHEOS_INT32, 2, 1, {2048, 64}, {0}},
      {RHEOS_FLOAT, 4, 2, {3, 40, 5, 65}, {0, 2}}, {RHEOS_HALF, 2, 1, {100, 130}, {0}},
      {RHEOS_FLOAT, 2, 1, {70000, 3}, {0}},
  };
  static const int32_t units[] = {1, 2, 100};
  const int32_t own_units = rheos__card_at(0)->num_units;
  for (int u = 0; u < 3; u++) {
    rheos__card_at(0)->num_units = units[u];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) try_case(&cases[i]);
  }
  rheos__card_at(0)->num_units = own_units;
}

// ---- Batch normalization

enum { NORM_RESULTS = 6, MOST_CHANNELS = 64 };

static rheos_output channel_numbers(rheos_scope *s, int64_t count, float first) {
  float values[MOST_CHANNELS];
  rheos_tensor *tensor = NULL;
  for (int64_t i = 0; i < count; i++) values[i] = first + (float)i * 0.01F;
  check(rheos_tensor_from_values(RHEOS_FLOAT, RHEOS_SHAPE(count), values, &tensor));
  const rheos_output output = rheos_constant(s, tensor, NULL);
  rheos_tensor_unref(tensor);
  return output;
}

// What a step makes of it, and of its square as a gradient.
static void normalize(const char *device, const layout_case *c, const char *format, rheos_tensor *x,
                      rheos_fetch *fetches) {
  const int64_t channels = c->dims[format[1] == 'C' ? 1 : 3];
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_push_device(s, device);
  const rheos_output from = rheos_placeholder(s, RHEOS_FLOAT);
  const rheos_output scale = channel_numbers(s, channels, 0.7F);
  const rheos_output offset = channel_numbers(s, channels, -0.1F);
  const rheos_fused_batch_norm_v3_outputs y =
      rheos_fused_batch_norm_v3(s, from, scale, offset, offset, scale, .data_format = format);
  const rheos_fused_batch_norm_grad_v3_outputs grads =
      rheos_fused_batch_norm_grad_v3(s, rheos_square(s, from), from, scale, y.reserve_space_1,
                                     y.reserve_space_2, y.reserve_space_3, .data_format = format);
  check(rheos_scope_finish(s));
  const rheos_output results[NORM_RESULTS] = {y.y,
                                              y.batch_mean,
                                              y.batch_variance,
                                              grads.x_backprop,
                                              grads.scale_backprop,
                                              grads.offset_backprop};
  for (int i = 0; i < NORM_RESULTS; i++) fetches[i] = (rheos_fetch){results[i], NULL};
  rheos_session *session = NULL;
  check(rheos_session_new(graph, NULL, &session));
  const rheos_feed feed = {from, x};
  check(rheos_session_run(session, &feed, 1, fetches, NORM_RESULTS, NULL, 0, NULL));
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

static void assert_near(const rheos_tensor *actual, const rheos_tensor *expected) {
  assert_true(rheos_shape_equal(rheos_tensor_shape(actual), rheos_tensor_shape(expected)));
  const float *a = rheos_tensor_data(actual), *e = rheos_tensor_data(expected);
  for (int64_t i = 0; i < rheos_tensor_num_elements(actual); i++) {
    const float size = e[i] < 0 ? -e[i] : e[i];
    assert_float_equal(a[i], e[i], 2e-5F * (size > 1 ? size : 1));
  }
}

static void test_batch_normalization(void **unused) {
  (void)unused;
  static const layout_case cases[] = {{RHEOS_FLOAT, 4, 0, {6, 30, 20, 37}, {0}},
                                      {RHEOS_FLOAT, 4, 0, {1, 3, 2, 64}, {0}},
                                      {RHEOS_FLOAT, 4, 0, {2, 11, 9, 3}, {0}}};
  static const int32_t units[] = {1, 100};
  const int32_t own_units = rheos__card_at(0)->num_units;
  for (int way = 0; way < 18; way++) {
    const layout_case *c = &cases[way / 6];
    const char *format = way % 6 == 5 ? "NCHW" : "NHWC";
    rheos_fetch expected[NORM_RESULTS], actual[NORM_RESULTS];
    rheos_tensor *x = numbers_for(c);
    rheos__opencl_want_blocks(0, way % 6 == 4);
    rheos__card_at(0)->num_units = units[way % 2];
    normalize("/device:CPU:0", c, format, x, expected);
    normalize("/device:GPU:0", c, format, x, actual);
    for (int i = 0; i < NORM_RESULTS; i++) {
      assert_near(actual[i].value, expected[i].value);
      rheos_tensor_unref(expected[i].value);
      rheos_tensor_unref(actual[i].value);
    }
    rheos_tensor_unref(x);
  }
  rheos__card_at(0)->num_units = own_units;
}

// ---- Convolutions of each channel by itself

static void convolve(const char *device, rheos_tensor *x, rheos_tensor *y, rheos_fetch *fetches) {
  const rheos_shape *shape = rheos_tensor_shape(x);
  const int32_t sizes[] = {3, 3, (int32_t)shape->dims[3], 1};
  const int64_t ones[] = {1, 1, 1, 1};
  int32_t in[4];
  for (int d = 0; d < 4; d++) in[d] = (int32_t)shape->dims[d];
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_push_device(s, device);
  const rheos_output from = rheos_placeholder(s, RHEOS_FLOAT);
  const rheos_output filter = rheos_placeholder(s, RHEOS_FLOAT);
  const rheos_output there = rheos_depthwise_conv2d_native(s, from, filter, ones, 4, "SAME");
  const rheos_output results[] = {there,
                                  rheos_depthwise_conv2d_native_backprop_filter(
                                      s, from, whole_numbers(s, sizes, 4), there, ones, 4, "SAME"),
                                  rheos_depthwise_conv2d_native_backprop_input(
                                      s, whole_numbers(s, in, 4), filter, there, ones, 4, "SAME")};
  check(rheos_scope_finish(s));
  for (int i = 0; i < 3; i++) fetches[i] = (rheos_fetch){results[i], NULL};
  rheos_session *session = NULL;
  check(rheos_session_new(graph, NULL, &session));
  const rheos_feed feeds[] = {{from, x}, {filter, y}};
  check(rheos_session_run(session, feeds, 2, fetches, 3, NULL, 0, NULL));
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
}

static void test_channels_by_themselves(void **unused) {
  (void)unused;
  static const layout_case images = {RHEOS_FLOAT, 4, 0, {2, 30, 31, 70}, {0}};
  static const layout_case filters = {RHEOS_FLOAT, 4, 0, {3, 3, 70, 1}, {0}};
  rheos_tensor *x = numbers_for(&images), *filter = numbers_for(&filters);
  rheos_fetch expected[3], actual[3];
  const int32_t own_units = rheos__card_at(0)->num_units;
  convolve("/device:CPU:0", x, filter, expected);
  for (int way = 0; way < 3; way++) {
    rheos__opencl_want_blocks(0, way == 2);
    rheos__card_at(0)->num_units = way == 1 ? 100 : 1;  // parts of the depth, or none
    convolve("/device:GPU:0", x, filter, actual);
    for (int i = 0; i < 3; i++) {
      assert_memory_equal(rheos_tensor_data(actual[i].value), rheos_tensor_data(expected[i].value),
                          rheos_tensor_size_bytes(expected[i].value));
      rheos_tensor_unref(actual[i].value);
    }
  }
  rheos__card_at(0)->num_units = own_units;
  for (int i = 0; i < 3; i++) rheos_tensor_unref(expected[i].value);
  rheos_tensor_unref(x);
  rheos_tensor_unref(filter);
}

int main(void) {
  setenv("RHEOS_OPENCL", "cpu", 1);
  if (rheos__opencl_count() == 0) return 77;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_transposes),
      cmocka_unit_test(test_sums_of_columns),
      cmocka_unit_test(test_batch_normalization),
      cmocka_unit_test(test_channels_by_themselves),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
