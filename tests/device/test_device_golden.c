// Conformance: every recorded case whose op a device with a memory of its own has a kernel for
// gives the CPU's bits, or its error, there. Usage: test_device_golden [op]
#include <stdio.h>
#include <string.h>

#include "device/private_device.h"
#include "ops/op_harness.h"
#include "runtime/step/host.h"

static rheos_host *host;
static rheos__device device;
static int num_compared;

static bool is_wanted(const op_case *c) { return op_case_runs_on(c, &device); }

// Of dtypes that never leave the CPU, where the case's inputs and outputs do not tell.
static bool is_host_only(const rheos_status *status) {
  return strstr(rheos_status_message(status), "no supported kernel for TEST devices") != NULL;
}

static void check_mode(const op_case *c, build_mode mode) {
  const rheos_session_options options = {.host = host};
  op_result expected, actual;
  rheos_status *on_cpu = op_case_run_on(c, mode, &options, NULL, &expected);
  rheos_status *on_device = op_case_run_on(c, mode, &options, "/device:TEST:0", &actual);
  if (on_device == NULL || !is_host_only(on_device)) {
    num_compared++;
    if (rheos_status_code(on_cpu) != rheos_status_code(on_device)) {
      op_wrong(c, "mode %d: on the device %s", (int)mode, op_status_text(on_device));
    } else if (!on_cpu && !op_results_identical(&expected, &actual)) {
      op_wrong(c, "mode %d: other bits on the device", (int)mode);
    }
  }
  rheos_status_free(on_cpu);
  rheos_status_free(on_device);
  op_result_free(&expected);
  op_result_free(&actual);
}

static void check_cases(const op_cases *cases, size_t first, size_t end) {
  for (size_t i = first; i < end; i++) {
    if (!is_wanted(&cases->items[i])) continue;
    check_mode(&cases->items[i], BUILD_AS_RECORDED);
    check_mode(&cases->items[i], BUILD_UNKNOWN_SHAPES);
    check_mode(&cases->items[i], BUILD_CONSTANT);
  }
}

static bool check_totals(void) {
  const private_device_counts counts = private_device_count(&device);
  printf("%d runs compared, %lld kernels on the device\n", num_compared,
         (long long)counts.num_kernels);
  return num_compared > 5000 && counts.num_kernels > 2000 && counts.blocks_in_use == 0;
}

int main(int argc, char **argv) {
  rheos_status *status = rheos_host_new(&(rheos_host_options){.num_threads = 2}, &host);
  if (!status) status = private_device_init(&device, 0);
  if (!status) status = rheos__host_add_device(host, &device);
  if (status) {
    fprintf(stderr, "%s\n", rheos_status_message(status));
    return 1;
  }
  int failed = op_tests_run("device_golden", check_cases, is_wanted, argc, argv);
  if (argc == 1 && !check_totals()) failed = 1;
  rheos_host_unref(host);
  private_device_deinit(&device);
  return failed;
}
