// What stands in for graphics cards in a build without OpenCL's headers.
#include "device/opencl/opencl.h"

int32_t rheos__opencl_count(void) { return 0; }

rheos_status *rheos__opencl_device_init(rheos__device *device, int32_t index) {
  (void)device, (void)index;
  return rheos_status_new(RHEOS_UNIMPLEMENTED, "this build of Rheos has no graphics cards");
}

int64_t rheos__opencl_memory_bytes(int32_t index) {
  (void)index;
  return 0;
}

const char *rheos__opencl_description(int32_t index) {
  (void)index;
  return "";
}

int64_t rheos__opencl_num_kernels(int32_t index) {
  (void)index;
  return 0;
}
