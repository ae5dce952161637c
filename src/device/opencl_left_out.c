// What stands in for graphics cards in a build without OpenCL's headers.
#include "device/opencl/opencl.h"

static bool has_kernel(const rheos__device *device, const rheos__op_def *op,
                       const rheos__attrs *attrs) {
  (void)device, (void)op, (void)attrs;
  return false;
}

const rheos__device_kind rheos__opencl_kind = {.name = "GPU", .has_kernel = has_kernel};

int32_t rheos__opencl_count(void) { return 0; }

rheos_status *rheos__opencl_device_init(rheos__device *device, int32_t index, int32_t card,
                                        int64_t memory_limit_bytes) {
  (void)device, (void)index, (void)card, (void)memory_limit_bytes;
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "this build of Rheos has no graphics cards");
}

int32_t rheos__opencl_card(const rheos__device *device) {
  (void)device;
  return 0;
}

int64_t rheos__opencl_memory_limit(const rheos__device *device) {
  (void)device;
  return 0;
}

void rheos__opencl_memory_use(const rheos__device *device, int64_t *out_bytes, int64_t *out_peak) {
  (void)device;
  *out_bytes = *out_peak = 0;
}

void rheos__opencl_reset_memory_peak(const rheos__device *device) { (void)device; }

int64_t rheos__opencl_memory_bytes(int32_t index) {
  (void)index;
  return 0;
}

const char *rheos__opencl_description(int32_t index) {
  (void)index;
  return "";
}

void rheos__opencl_want_blocks(int32_t index, bool wants) { (void)index, (void)wants; }

int64_t rheos__opencl_num_kernels(int32_t index) {
  (void)index;
  return 0;
}

int64_t rheos__opencl_num_copies(int32_t index) {
  (void)index;
  return 0;
}
