// Random numbers: Philox against its authors' answers, kernels against numbers that TensorFlow
// gives for the same seeds, and how the generator lives on between runs.
#include "ops/kernel_fixture.h"
#include "ops/kit/philox.h"

static void check_philox(uint32_t fill, uint32_t key, const uint32_t *expected) {
  const rheos__philox philox = {{key, key}, {fill, fill, fill, fill}};
  uint32_t block[4];
  rheos__philox_block(&philox, block);
  assert_memory_equal(block, expected, sizeof block);
}

static void test_philox__gives_the_published_answers(void **state) {
  (void)state;
  const uint32_t of_zeros[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  const uint32_t of_ones[] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
  check_philox(0, 0, of_zeros);
  check_philox(0xffffffff, 0xffffffff, of_ones);
}

static void test_philox__skips_carry_over(void **state) {
  (void)state;
  rheos__philox philox = {{0, 0}, {0xffffffff, 0xffffffff, 0xffffffff, 7}};
  rheos__philox_skip(&philox, 1);
  const uint32_t expected[] = {0, 0, 0, 8};
  assert_memory_equal(philox.counter, expected, sizeof expected);
}

static kernel random_kernel(rheos__resources *resources, const char *op, int32_t count,
                            int64_t seed, int64_t seed2) {
  return (kernel){.op = op,
                  .node_name = op,
                  .inputs = {ints_of(RHEOS_SHAPE(1), &count)},
                  .attrs = {rheos_attr_int("seed", seed), rheos_attr_int("seed2", seed2)},
                  .output_dtypes = {RHEOS_FLOAT},
                  .resources = resources};
}

static void check_two_runs(const char *op, const float *first, const float *second) {
  rheos__resources *resources = rheos__resources_new();
  kernel k = random_kernel(resources, op, 3, 1, 2);
  kernel_run_ok(&k);
  for (int i = 0; i < 3; i++) assert_float_equal(((float *)k.outputs[0]->data)[i], first[i], 1e-6);
  kernel_clear(&k);
  kernel_run_ok(&k);
  for (int i = 0; i < 3; i++) assert_float_equal(((float *)k.outputs[0]->data)[i], second[i], 1e-6);
  kernel_clear(&k);
  kernel_free_inputs(&k);
  rheos__resources_free(resources);
}

static void test_random__seeds_give_tensorflows_numbers(void **state) {
  (void)state;
  const float uniform[] = {0.406396746635437f, 0.8575996160507202f, 0.05539584159851074f};
  const float uniform_next[] = {0.16840732097625732f, 0.8891061544418335f, 0.5354969501495361f};
  check_two_runs("RandomUniform", uniform, uniform_next);
  const float normal[] = {-1.0467792749404907f, 0.8397045731544495f, 1.235836386680603f};
  const float normal_next[] = {-1.2113008499145508f, 1.4475805759429932f, 0.025218026712536812f};
  check_two_runs("RandomStandardNormal", normal, normal_next);
  check_two_runs("TruncatedNormal", normal, normal_next);
}

static void test_random__truncated_numbers_are_within_two(void **state) {
  (void)state;
  rheos__resources *resources = rheos__resources_new();
  kernel k = random_kernel(resources, "TruncatedNormal", 20001, 3, 4);
  kernel_run_ok(&k);
  for (int i = 0; i < 20001; i++) {
    const float value = ((float *)k.outputs[0]->data)[i];
    assert_true(value > -2 && value < 2);
  }
  kernel_clear(&k);
  kernel_free_inputs(&k);
  rheos__resources_free(resources);
}

static void test_random__a_shorter_run_is_a_prefix(void **state) {
  (void)state;
  rheos__resources *resources = rheos__resources_new(), *others = rheos__resources_new();
  kernel whole = random_kernel(resources, "RandomUniform", 40000, 5, 6);
  kernel part = random_kernel(others, "RandomUniform", 17, 5, 6);
  kernel_run_ok(&whole);
  kernel_run_ok(&part);
  assert_memory_equal(whole.outputs[0]->data, part.outputs[0]->data, 17 * sizeof(float));
  kernel_clear(&whole);
  kernel_clear(&part);
  kernel_free_inputs(&whole);
  kernel_free_inputs(&part);
  rheos__resources_free(resources);
  rheos__resources_free(others);
}

static void test_random__no_seeds_give_other_numbers_each_time(void **state) {
  (void)state;
  float first[4];
  for (int i = 0; i < 2; i++) {
    rheos__resources *resources = rheos__resources_new();
    kernel k = random_kernel(resources, "RandomUniform", 4, 0, 0);
    kernel_run_ok(&k);
    if (i == 0) memcpy(first, k.outputs[0]->data, sizeof first);
    if (i == 1) assert_memory_not_equal(first, k.outputs[0]->data, sizeof first);
    kernel_clear(&k);
    kernel_free_inputs(&k);
    rheos__resources_free(resources);
  }
}

static void test_random__shuffle_keeps_every_row(void **state) {
  (void)state;
  int32_t rows[100], seen[100] = {0};
  for (int32_t i = 0; i < 100; i++) rows[i] = i;
  rheos__resources *resources = rheos__resources_new();
  kernel k = {.op = "RandomShuffle",
              .node_name = "shuffle",
              .inputs = {ints_of(RHEOS_SHAPE(50, 2), rows)},
              .attrs = {rheos_attr_int("seed", 1), rheos_attr_int("seed2", 2)},
              .output_dtypes = {RHEOS_INT32},
              .resources = resources};
  kernel_run_ok(&k);
  const int32_t *out = k.outputs[0]->data;
  for (int i = 0; i < 50; i++) {
    assert_int_equal(out[2 * i] + 1, out[2 * i + 1]);
    seen[out[2 * i]]++;
  }
  for (int i = 0; i < 100; i += 2) assert_int_equal(seen[i], 1);
  kernel_clear(&k);
  kernel_free_inputs(&k);
  rheos__resources_free(resources);
}

static void test_random__bad_arguments_fail(void **state) {
  (void)state;
  rheos__resources *resources = rheos__resources_new();
  kernel k = random_kernel(resources, "RandomUniform", -1, 1, 2);
  kernel_run_fails(&k, RHEOS_INVALID_ARGUMENT, "Dimension -1 must be >= 0");
  kernel_free_inputs(&k);
  const int32_t shape = 2, low = 5, high = 5;
  kernel ints = {.op = "RandomUniformInt",
                 .node_name = "ints",
                 .inputs = {ints_of(RHEOS_SHAPE(1), &shape), ints_of(RHEOS_SCALAR, &low),
                            ints_of(RHEOS_SCALAR, &high)},
                 .attrs = {rheos_attr_int("seed", 1), rheos_attr_int("seed2", 2)},
                 .output_dtypes = {RHEOS_INT32},
                 .resources = resources};
  kernel_run_fails(&ints, RHEOS_INVALID_ARGUMENT, "Need minval < maxval, got 5 >= 5");
  kernel_free_inputs(&ints);
  rheos__resources_free(resources);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_philox__gives_the_published_answers),
      cmocka_unit_test(test_philox__skips_carry_over),
      cmocka_unit_test(test_random__seeds_give_tensorflows_numbers),
      cmocka_unit_test(test_random__truncated_numbers_are_within_two),
      cmocka_unit_test(test_random__a_shorter_run_is_a_prefix),
      cmocka_unit_test(test_random__no_seeds_give_other_numbers_each_time),
      cmocka_unit_test(test_random__shuffle_keeps_every_row),
      cmocka_unit_test(test_random__bad_arguments_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
