// Numbers that are checked, or rounded as if they were quantized, on what PoCL makes of a
// processor. Skipped where there is no device.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/card_trial.h"
#include "device/opencl/opencl.h"
#include "graph/build.h"

static const int64_t counts[] = {0, 1, 5, 127, 4096, 70001};
enum { NUM_COUNTS = sizeof counts / sizeof *counts };

// ---- Checks

static rheos_status *run_check(int64_t count, int64_t place, float value) {
  rheos_graph *graph = rheos_graph_new();
  rheos_scope *s = rheos_scope_new(graph);
  rheos_session *session = NULL;
  rheos_tensor *x = card_trial_numbers(RHEOS_FLOAT, RHEOS_SHAPE(count), 3);
  if (place >= 0) ((float *)rheos_tensor_data(x))[place] = value;
  rheos_push_device(s, "/device:GPU:0");
  const rheos_output given = rheos_placeholder(s, RHEOS_FLOAT);
  const rheos_attr message = rheos_attr_string("message", "on the way", 10);
  const rheos_operation check = rheos__op_n(s, "CheckNumerics", "check", &given, 1, &message, 1);
  const rheos_feed feed = {given, x};
  rheos_fetch fetch = {rheos_operation_output(check, 0), NULL};
  assert_null(rheos_scope_finish(s));
  assert_null(rheos_session_new(graph, NULL, &session));
  rheos_status *status = rheos_session_run(session, &feed, 1, &fetch, 1, NULL, 0, NULL);
  if (status == NULL) {
    assert_memory_equal(rheos_tensor_data(fetch.value), rheos_tensor_data(x), (size_t)count * 4);
    rheos_tensor_unref(fetch.value);
  }
  rheos_tensor_unref(x);
  rheos_session_free(session);
  rheos_scope_free(s);
  rheos_graph_unref(graph);
  return status;
}

static void refused(rheos_status *status, const char *what) {
  assert_int_equal(rheos_status_code(status), RHEOS_INVALID_ARGUMENT);
  assert_non_null(strstr(rheos_status_message(status), what));
  rheos_status_free(status);
}

static void test_checks_find_one_flaw(void **unused) {
  (void)unused;
  for (int i = 0; i < NUM_COUNTS; i++) {
    assert_null(run_check(counts[i], -1, 0));
    if (counts[i] == 0) continue;
    refused(run_check(counts[i], 0, NAN), "on the way : Tensor had NaN values");
    refused(run_check(counts[i], counts[i] - 1, -INFINITY), "on the way : Tensor had Inf values");
  }
}

// ---- Rounded as if quantized

static rheos_tensor *ends(rheos_dtype dtype, int64_t count, double first) {
  rheos_tensor *tensor =
      card_trial_numbers(dtype, count > 0 ? RHEOS_SHAPE(count) : RHEOS_SCALAR, 1);
  for (int64_t i = 0; i < rheos_tensor_num_elements(tensor); i++) {
    const double end = first + (double)(i % 7) / 2;
    if (dtype == RHEOS_DOUBLE) {
      ((double *)rheos_tensor_data(tensor))[i] = end;
    } else {
      ((float *)rheos_tensor_data(tensor))[i] = (float)end;
    }
  }
  return tensor;
}

// `channels`: with a range each; 0: one for all.
static void try_fake(int64_t rows, int64_t channels, bool is_gradient) {
  const char *const names[] = {"FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsGradient",
                               "FakeQuantWithMinMaxVarsPerChannel",
                               "FakeQuantWithMinMaxVarsPerChannelGradient"};
  card_trial t = {.op = names[2 * (channels > 0) + is_gradient],
                  .num_outputs = is_gradient ? 3 : 1,
                  .tolerance = is_gradient ? 1e-6 : 0};
  for (uint32_t i = 0; i < (is_gradient ? 2 : 1); i++) {
    card_trial_add(
        &t, card_trial_numbers(RHEOS_FLOAT, RHEOS_SHAPE(rows, channels > 0 ? channels : 3), 5 + i));
  }
  card_trial_add(&t, ends(RHEOS_FLOAT, channels, -7.3));
  card_trial_add(&t, ends(RHEOS_FLOAT, channels, 5.1));
  card_trial_add_attr(&t, rheos_attr_int("num_bits", 5));
  card_trial_check(&t);
}

static void test_fake_quantization_of_all_sizes(void **unused) {
  (void)unused;
  for (int i = 0; i < NUM_COUNTS; i++) {
    for (int is_gradient = 0; is_gradient < 2; is_gradient++) {
      try_fake(counts[i], 0, is_gradient != 0);
      try_fake(counts[i], 2, is_gradient != 0);
      try_fake(counts[i] % 50, 300, is_gradient != 0);
    }
  }
}

static void try_rounding(int64_t rows, int64_t axis, rheos_dtype dtype, bool is_given) {
  const int64_t slices = axis < 0 ? 0 : axis == 0 ? rows : 3;
  card_trial t = {.op = "QuantizeAndDequantizeV2", .num_outputs = 1};
  card_trial_add(&t, card_trial_numbers(dtype, RHEOS_SHAPE(rows, 3, 2), 13));
  card_trial_add(&t, ends(dtype, slices, -6.7));
  card_trial_add(&t, ends(dtype, slices, 9.9));
  card_trial_add_attr(&t, rheos_attr_bool("range_given", is_given));
  card_trial_add_attr(&t, rheos_attr_int("axis", axis));
  card_trial_check(&t);
}

static void test_rounding_of_all_sizes(void **unused) {
  (void)unused;
  for (int i = 0; i < NUM_COUNTS; i++) {
    try_rounding(counts[i], -1, RHEOS_FLOAT, false);
    try_rounding(counts[i], 1, RHEOS_DOUBLE, false);
    try_rounding(counts[i], 1, RHEOS_FLOAT, true);
    if (counts[i] % 200 > 0) try_rounding(counts[i] % 200, 0, RHEOS_FLOAT, false);
  }
}

int main(void) {
  setenv("RHEOS_OPENCL", "cpu", 1);
  if (rheos__opencl_count() == 0) return 77;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_checks_find_one_flaw),
                                     cmocka_unit_test(test_fake_quantization_of_all_sizes),
                                     cmocka_unit_test(test_rounding_of_all_sizes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
