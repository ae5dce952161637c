// Devices: where the entries of a plan run and the bytes of its values lie.
//
// A kind of device is a constant table of functions; a device is one of a kind, with an index and a
// name, such as /job:localhost/replica:0/task:0/device:CPU:0. A plan has a list of devices, the first of
// which is a CPU: what no other device has a kernel for runs there, and so does everything about
// strings, resources and references. A segment of a plan belongs to one device, whose kind allocates
// its memory, prepares its kernels and finishes it; values that another device needs are copied.
//
// Devices of a kind that uses the host's memory (CPUs) share one memory, and nothing is copied between
// them. Any other device has a memory of its own, which only its kernels and `copy` touch.
#ifndef RHEOS_SRC_DEVICE_DEVICE_H
#define RHEOS_SRC_DEVICE_DEVICE_H

#include "graph/device_name.h"
#include "graph/op_def.h"

typedef struct rheos__segment rheos__segment;

typedef struct rheos__device_kind {
  const char *name;       // the type in names of devices: "CPU"
  bool uses_host_memory;  // then reference kernels run on it, and `copy` is NULL
  int32_t max_operands;   // of an instruction that `finish` makes
  // Whether it has a kernel for nodes with these attributes. A kernel may still decline a node for its
  // shapes, which fails the step.
  bool (*has_kernel)(const rheos__op_def *op, const rheos__attrs *attrs);
  // Its kernels for the op, best first, NULL-terminated; NULL if there are none. On a device that uses
  // the host's memory the op's reference kernel comes after them.
  const rheos__prepare_fn *(*variants)(const rheos__op_def *op);
  // A block of the device's memory, 64-byte aligned; NULL when memory is short. Free accepts NULL.
  void *(*allocate)(const rheos__device *device, size_t size_bytes);
  void (*free)(const rheos__device *device, void *block);
  // Copies bytes to or from the memory of a device of this kind; the other side may be one of this kind
  // too, or the host, whose device is NULL. On return the bytes are there, and what ran before on
  // either device has been done.
  rheos_status *(*copy)(const rheos__device *to, void *to_bytes, const rheos__device *from,
                        const void *from_bytes, size_t size_bytes);
  // Optional: changes the instructions of a segment whose kernels are prepared and whose memory is not
  // placed yet, to fewer or faster ones (fuses, compiles).
  rheos_status *(*finish)(const rheos__device *device, rheos__segment *segment);
  // Optional: returns when all that was given to the device has been done. Asked at the end of a step,
  // before its memory is used again.
  rheos_status *(*synchronize)(const rheos__device *device);
} rheos__device_kind;

struct rheos__device {
  const rheos__device_kind *kind;
  int32_t index;  // among those of its kind
  char name[64];  // in full
  rheos__device_name parsed_name;
  void *state;  // of the kind
};

// A device of this process, of index 0 to 9999. The kind's name is short.
void rheos__device_init(rheos__device *device, const rheos__device_kind *kind, int32_t index,
                        void *state);

// Whether kernels of either find the values of both.
static inline bool rheos__share_memory(const rheos__device *a, const rheos__device *b) {
  return a == b || (a->kind->uses_host_memory && b->kind->uses_host_memory);
}

#endif  // RHEOS_SRC_DEVICE_DEVICE_H
