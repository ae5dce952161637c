// Graphics cards, and whatever else OpenCL drivers offer: one kind of device, "GPU". OpenCL's
// loader, libOpenCL.so.1, is opened at run time; where it or a driver is missing there are none.
//
// The environment variable RHEOS_OPENCL says which devices take part: unset, or "gpu": graphics
// cards; "cpu": processors too, such as PoCL's, which tests run on; "off": none, and no driver is
// looked for.
#ifndef RHEOS_SRC_DEVICE_OPENCL_OPENCL_H
#define RHEOS_SRC_DEVICE_OPENCL_OPENCL_H

#include "device/device.h"

extern const rheos__device_kind rheos__opencl_kind;

// How many devices there are. The first call looks for them, which may load drivers. Any thread.
int32_t rheos__opencl_count(void);

// Device `index` of a host, which is card `card` of those. All devices that are made of one share
// its queue and its memory, of which each has so much at most; 0: what all have together.
rheos_status *rheos__opencl_device_init(rheos__device *device, int32_t index, int32_t card,
                                        int64_t memory_limit_bytes);
int32_t rheos__opencl_card(const rheos__device *device);
int64_t rheos__opencl_memory_limit(const rheos__device *device);
// Bytes that are taken there, and the most that were.
void rheos__opencl_memory_use(const rheos__device *device, int64_t *out_bytes, int64_t *out_peak);
void rheos__opencl_reset_memory_peak(const rheos__device *device);

// Bytes of memory that the card has, and a text about it that the process keeps.
int64_t rheos__opencl_memory_bytes(int32_t index);
const char *rheos__opencl_description(int32_t index);
// Whether kernels are written as for processors or as for graphics cards, from now on: for tests,
// which have processors.
void rheos__opencl_want_blocks(int32_t index, bool wants);
// Kernels that it was given so far, and copies between it and the host.
int64_t rheos__opencl_num_kernels(int32_t index);
int64_t rheos__opencl_num_copies(int32_t index);

#endif  // RHEOS_SRC_DEVICE_OPENCL_OPENCL_H
