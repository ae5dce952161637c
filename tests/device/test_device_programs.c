// Recorded programs of calls, branches, loops and datasets give on a device with a memory of its
// own what TensorFlow gave, and the CPU's bits. All nodes ask for the device, those of functions
// too; what it has no kernel for is the CPU's, so that bodies are of both.
#include "device/private_device.h"
#include "format/format_support.h"
#include "runtime/recorded_programs.h"
#include "runtime/step/host.h"

static void expect_programs(const char *folder, int32_t num_threads) {
  rheos_host *host = NULL;
  rheos__device device;
  expect_ok(rheos_host_new(&(rheos_host_options){.num_threads = num_threads}, &host));
  expect_ok(private_device_init(&device, 0));
  expect_ok(rheos__host_add_device(host, &device));
  run_recorded_programs_on(folder, host, "/device:TEST:0");
  rheos_host_unref(host);
  const private_device_counts counts = private_device_count(&device);
  private_device_deinit(&device);
  assert_true(counts.num_kernels > 1000);
  assert_int_equal(counts.blocks_in_use, 0);
}

static void test_device_programs__of_functions(void **state) {
  (void)state;
  expect_programs("functions", 2);
}

static void test_device_programs__of_datasets(void **state) {
  (void)state;
  expect_programs("datasets", 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_device_programs__of_functions),
      cmocka_unit_test(test_device_programs__of_datasets),
  };
  return cmocka_run_group_tests_name("device_programs", tests, NULL, NULL);
}
