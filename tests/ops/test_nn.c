// Softmax and its losses, bias, scans, arg reductions, top k: units, extreme logits, bad data.
#include <math.h>

#include "ops/kernel_fixture.h"

// Runs whole and unit by unit; all outputs have to agree.
static void check_units(kernel *k) {
  rheos_tensor *whole[KERNEL_MAX];
  kernel_run_ok(k);
  memcpy(whole, k->outputs, sizeof whole);
  memset(k->outputs, 0, sizeof k->outputs);
  k->unit_by_unit = true;
  kernel_run_ok(k);
  assert_true(k->prepared.num_units > 1);
  for (int i = 0; i < KERNEL_MAX && whole[i] != NULL; i++) {
    assert_same_tensor(k->outputs[i], whole[i]);
    rheos_tensor_unref(whole[i]);
  }
  kernel_clear(k);
  kernel_free_inputs(k);
}

static void test_nn__units_give_the_same_bits(void **state) {
  (void)state;
  const int32_t seven = 7;
  int32_t labels[900];
  for (int i = 0; i < 900; i++) labels[i] = i % 37;
  kernel kernels[] = {
      {.op = "Softmax", .output_dtypes = {RHEOS_FLOAT}},
      {.op = "LogSoftmax", .output_dtypes = {RHEOS_FLOAT}},
      {.op = "SoftmaxCrossEntropyWithLogits",
       .inputs = {NULL, noise_of(RHEOS_SHAPE(900, 37), 2)},
       .output_dtypes = {RHEOS_FLOAT, RHEOS_FLOAT}},
      {.op = "SparseSoftmaxCrossEntropyWithLogits",
       .inputs = {NULL, ints_of(RHEOS_SHAPE(900), labels)},
       .output_dtypes = {RHEOS_FLOAT, RHEOS_FLOAT}},
      {.op = "BiasAdd",
       .inputs = {NULL, noise_of(RHEOS_SHAPE(37), 2)},
       .attrs = {rheos_attr_string("data_format", "NHWC", 4)},
       .output_dtypes = {RHEOS_FLOAT}},
      {.op = "ArgMax",
       .inputs = {NULL, ints_of(RHEOS_SCALAR, (const int32_t[]){1})},
       .is_constant = {false, true},
       .output_dtypes = {RHEOS_INT64}},
      {.op = "Cumsum",
       .inputs = {NULL, ints_of(RHEOS_SCALAR, (const int32_t[]){1})},
       .is_constant = {false, true},
       .attrs = {rheos_attr_bool("exclusive", true), rheos_attr_bool("reverse", true)},
       .output_dtypes = {RHEOS_FLOAT}},
      {.op = "TopKV2",
       .inputs = {NULL, ints_of(RHEOS_SCALAR, &seven)},
       .is_constant = {false, true},
       .output_dtypes = {RHEOS_FLOAT, RHEOS_INT32}},
  };
  for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
    kernels[i].inputs[0] = noise_of(RHEOS_SHAPE(900, 37), 1);
    check_units(&kernels[i]);
  }
}

static void test_nn__large_logits_do_not_overflow(void **state) {
  (void)state;
  const float logits[] = {1000, 0, -1000, -1000}, expected[] = {1, 0, 0.5f, 0.5f};
  kernel k = {.op = "Softmax",
              .inputs = {floats_of(RHEOS_SHAPE(2, 2), logits)},
              .output_dtypes = {RHEOS_FLOAT}};
  kernel_run_ok(&k);
  assert_floats(&k, 0, expected, 4);
  kernel_clear(&k);
  kernel_free_inputs(&k);
}

static void test_nn__label_out_of_range_fails(void **state) {
  (void)state;
  const int32_t labels[][2] = {{0, 5}, {-1, 0}};
  const char *const texts[] = {
      "Received a label value of 5 which is outside the valid range of [0, 3).  Label values: 0 5",
      "Received a label value of -1 which is outside the valid range of [0, 3)."};
  for (int i = 0; i < 2; i++) {
    kernel k = {.op = "SparseSoftmaxCrossEntropyWithLogits",
                .inputs = {noise_of(RHEOS_SHAPE(2, 3), 1), ints_of(RHEOS_SHAPE(2), labels[i])},
                .output_dtypes = {RHEOS_FLOAT, RHEOS_FLOAT}};
    kernel_run_fails(&k, RHEOS_INVALID_ARGUMENT, texts[i]);
    kernel_free_inputs(&k);
  }
}

// What the losses say about a row of labels and the class they name.
static void test_nn__both_losses_agree(void **state) {
  (void)state;
  const int32_t classes[] = {2, 0};
  const float one_hot[] = {0, 0, 1, 1, 0, 0};
  kernel sparse = {.op = "SparseSoftmaxCrossEntropyWithLogits",
                   .inputs = {noise_of(RHEOS_SHAPE(2, 3), 1), ints_of(RHEOS_SHAPE(2), classes)},
                   .output_dtypes = {RHEOS_FLOAT, RHEOS_FLOAT}};
  kernel dense = {.op = "SoftmaxCrossEntropyWithLogits",
                  .inputs = {noise_of(RHEOS_SHAPE(2, 3), 1), floats_of(RHEOS_SHAPE(2, 3), one_hot)},
                  .output_dtypes = {RHEOS_FLOAT, RHEOS_FLOAT}};
  kernel_run_ok(&sparse);
  kernel_run_ok(&dense);
  for (int output = 0; output < 2; output++) {
    for (int64_t i = 0; i < sparse.outputs[output]->num_elements; i++) {
      const float a = ((float *)sparse.outputs[output]->data)[i];
      const float b = ((float *)dense.outputs[output]->data)[i];
      assert_float_equal(a, b, 1e-6);
    }
  }
  kernel_clear(&sparse);
  kernel_clear(&dense);
  kernel_free_inputs(&sparse);
  kernel_free_inputs(&dense);
}

static void test_nn__top_k_takes_the_first_of_equal_ones(void **state) {
  (void)state;
  const float values[] = {1, 3, 2, 3, 3}, best[] = {3, 3, 3};
  const int32_t k_value = 3, indices[] = {1, 3, 4};
  for (int known = 0; known < 2; known++) {
    kernel k = {.op = "TopKV2",
                .inputs = {floats_of(RHEOS_SHAPE(5), values), ints_of(RHEOS_SCALAR, &k_value)},
                .is_constant = {false, known == 1},
                .output_dtypes = {RHEOS_FLOAT, RHEOS_INT32}};
    kernel_run_ok(&k);
    assert_floats(&k, 0, best, 3);
    assert_memory_equal(k.outputs[1]->data, indices, sizeof indices);
    kernel_clear(&k);
    kernel_free_inputs(&k);
  }
}

static void test_nn__arg_max_passes_over_nan(void **state) {
  (void)state;
  const float values[] = {NAN, 1, 2, NAN};
  const int32_t axis = 0;
  kernel k = {.op = "ArgMax",
              .inputs = {floats_of(RHEOS_SHAPE(4), values), ints_of(RHEOS_SCALAR, &axis)},
              .output_dtypes = {RHEOS_INT64}};
  kernel_run_ok(&k);
  assert_int_equal(*(int64_t *)k.outputs[0]->data, 2);
  kernel_clear(&k);
  kernel_free_inputs(&k);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nn__units_give_the_same_bits),
      cmocka_unit_test(test_nn__large_logits_do_not_overflow),
      cmocka_unit_test(test_nn__label_out_of_range_fails),
      cmocka_unit_test(test_nn__both_losses_agree),
      cmocka_unit_test(test_nn__top_k_takes_the_first_of_equal_ones),
      cmocka_unit_test(test_nn__arg_max_passes_over_nan),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
