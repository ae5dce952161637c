// "TEST", a kind of device with a memory of its own, in which the CPU's kernels run.
//
// Its memory can be neither read nor written but by its kernels and copies: a CPU kernel that gets
// a pointer into it ends the program, and its kernels refuse pointers that lie elsewhere. Freed
// blocks are filled with a pattern. It has kernels for what changes variables of numbers; none for
// Tanh and Sqrt, nor for what else has state, and it declines other nodes whose kernels take
// tensors.
#ifndef RHEOS_TESTS_DEVICE_PRIVATE_DEVICE_H
#define RHEOS_TESTS_DEVICE_PRIVATE_DEVICE_H

#include "device/device.h"

extern const rheos__device_kind private_device_kind;

// What a device has done since it was made.
typedef struct private_device_counts {
  int64_t num_kernels, num_from_host, num_to_host, num_between, num_within, num_synchronized;
  int64_t blocks_in_use;
} private_device_counts;

rheos_status *private_device_init(rheos__device *device, int32_t index);
void private_device_deinit(rheos__device *device);
private_device_counts private_device_count(const rheos__device *device);

#endif  // RHEOS_TESTS_DEVICE_PRIVATE_DEVICE_H
