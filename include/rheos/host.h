// Hosts: what sessions run on and may share: devices, threads, packed operands, and a container of
// variables and other resources.
#ifndef RHEOS_HOST_H
#define RHEOS_HOST_H

#include <rheos/op_def.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rheos_host rheos_host;

// A device /device:GPU:N: a graphics card, or a part of its memory.
typedef struct rheos_gpu_device {
  int32_t card RHEOS_LEFT_OUT;       // of rheos_num_graphics_cards()
  int32_t reserved_ RHEOS_LEFT_OUT;  // zero
  // The most that tensors there take; 0: four fifths of the memory of the card.
  int64_t memory_limit_bytes RHEOS_LEFT_OUT;
} rheos_gpu_device;

typedef struct rheos_host_options {
  int32_t num_cpu_devices RHEOS_LEFT_OUT;  // 0: one, /device:CPU:0
  int32_t num_threads RHEOS_LEFT_OUT;      // of all its sessions together; 0: one for each core
  // Which task of a cluster it is, as the names of its devices say. NULL: "localhost".
  const char *job RHEOS_LEFT_OUT;
  int32_t replica RHEOS_LEFT_OUT;
  int32_t task RHEOS_LEFT_OUT;
  // Graphics cards, /device:GPU:0, ..., at most; 0: all that OpenCL finds, below: none.
  int32_t num_gpu_devices RHEOS_LEFT_OUT;
  int32_t reserved_ RHEOS_LEFT_OUT;  // zero
  // What these are, num_gpu_devices of them: none for 0. NULL: the cards in their order.
  const rheos_gpu_device *gpu_devices RHEOS_LEFT_OUT;
} rheos_host_options;

// A host (counted), which each of its sessions holds on to. `options` may be NULL. Steps of several
// sessions that run at the same time share its threads, and operands that kernels like packed are
// packed once. Resources are shared by those sessions that ask for it (rheos_session_options).
RHEOS_MUST_USE static inline rheos_status *rheos_host_new(const rheos_host_options *options,
                                                          rheos_host **out_host);
RHEOS_API rheos_host *rheos_host_ref(rheos_host *host);
RHEOS_API void rheos_host_unref(rheos_host *host);  // with the last one, shared resources are freed

// What is known of a device. Texts are of who tells of it.
typedef struct rheos_device_attributes {
  const char *name;            // in full
  const char *type;            // "CPU"
  int64_t memory_limit_bytes;  // as TensorFlow tells of CPUs; nothing keeps to it
  uint64_t incarnation;        // another one where the device was started anew
} rheos_device_attributes;

// The names of the devices, "/job:localhost/replica:0/task:0/device:CPU:0" where the options say no
// other task, ...
RHEOS_API int32_t rheos_host_num_devices(const rheos_host *host);
RHEOS_API const char *rheos_host_device(const rheos_host *host, int32_t index);

RHEOS_API int32_t rheos_host_num_threads(const rheos_host *host);

// How many graphics cards OpenCL finds, which hosts have as /device:GPU:0, ...; processors count
// too where the environment variable RHEOS_OPENCL is "cpu". The first call may load drivers. Any
// thread.
RHEOS_API int32_t rheos_num_graphics_cards(void);
// The name of card `index` and its driver; NULL if there is none. The process keeps it.
RHEOS_API const char *rheos_graphics_card(int32_t index);

// Bytes that tensors and steps have on a device with a memory of its own, and the most that they
// had since the host was made, or since the peak was reset; zeros of others.
RHEOS_STATUS rheos_host_memory_use(const rheos_host *host, int32_t device, int64_t *out_bytes,
                                   int64_t *out_peak_bytes);
RHEOS_STATUS rheos_host_reset_memory_peak(rheos_host *host, int32_t device);

// Whether a CPU can run the op: has a kernel for it, or needs none. An op that a file only defines
// has none.
RHEOS_API bool rheos_op_def_has_kernel(const rheos_op_def *op);

// ---- How large a struct of options is in the program, the library is told (base.h, Options): what
// is declared above is inline over these

RHEOS_STATUS rheos_host_new_sized(const rheos_host_options *options, size_t options_bytes,
                                  rheos_host **out_host);
RHEOS_MUST_USE static inline rheos_status *rheos_host_new(const rheos_host_options *options,
                                                          rheos_host **out_host) {
  return rheos_host_new_sized(options, sizeof *options, out_host);
}

#ifdef __cplusplus
}
#endif

#endif  // RHEOS_HOST_H
