// Devices: where the entries of a plan run and the bytes of its values lie.
//
// A kind of device is a constant table of functions; a device is one of a kind, with an index and a
// name, such as /job:localhost/replica:0/task:0/device:CPU:0. A plan has a list of devices, the
// first of which is a CPU: what no other device has a kernel for runs there, and so does everything
// about strings, resources and references. A segment of a plan belongs to one device, whose kind
// allocates its memory, prepares its kernels and finishes it; values that another device needs are
// copied. Bodies of functions, branches and loops take and give tensors that lie on devices.
//
// Devices in the host's memory (CPUs) share it, and nothing is copied between them. Any other
// device has a memory of its own (tensor/memory.h), whose addresses the host never reads: plans add
// offsets to them and hand them to kernels, and only the device's kernels and the memory's `copy`
// know what is behind.
#ifndef RHEOS_SRC_DEVICE_DEVICE_H
#define RHEOS_SRC_DEVICE_DEVICE_H

#include "graph/device_name.h"
#include "graph/op_def.h"

typedef struct rheos__segment rheos__segment;

typedef struct rheos__device_kind {
  const char *name;      // the type in names of devices: "CPU"
  int32_t max_operands;  // of an instruction that `finish` makes
  // Whether it has a kernel for nodes with these attributes. A kernel may still decline a node for
  // its shapes: then the CPU runs it, on copies. Of an op that gives a reference or handle: whether
  // it has kernels for those that change what is behind it.
  bool (*has_kernel)(const rheos__device *device, const rheos__op_def *op,
                     const rheos__attrs *attrs);
  // Optional: whether the node is better here than on a CPU, where nothing says on which it is.
  bool (*prefers)(const rheos__device *device, const rheos__op_def *op, const rheos__attrs *attrs);
  // Optional: whether programs may count on a kernel that it does not have, for TensorFlow's
  // devices of its kind have it: then a CPU runs what asks for the device, be placement soft or
  // not.
  bool (*owes_kernel)(const rheos__device *device, const rheos__op_def *op,
                      const rheos__attrs *attrs);
  // Optional: whether its kernels of the op know the values of the argument when they are prepared,
  // or read them on the host when they run: then these stay in the host's memory.
  bool (*takes_on_host)(const rheos__device *device, const rheos__op_def *op,
                        const rheos__arg *arg);
  // The device's kernels for the op, best first, NULL-terminated; NULL if there are none. On a
  // device in the host's memory the op's reference kernel comes after them.
  const rheos__prepare_fn *(*variants)(const rheos__op_def *op);
  // Optional: changes the instructions of a segment whose kernels are prepared and whose memory is
  // not placed yet, to fewer or faster ones (fuses, compiles).
  rheos_status *(*finish)(const rheos__device *device, rheos__segment *segment);
  // Optional: returns when all that was given to the device has been done. Asked at the end of a
  // step whose values go to the host; a body's run ends without, and so does what a program runs
  // eagerly: whatever a device is given it does after what it was given before, so memory is used
  // again at once.
  rheos_status *(*synchronize)(const rheos__device *device);
  // Optional: sees to it that what was given to the device is begun. Asked at the end of a run that
  // nobody waits for.
  void (*flush)(const rheos__device *device);
} rheos__device_kind;

struct rheos__device {
  const rheos__device_kind *kind;
  rheos__memory *memory;  // its own, with a reference; NULL: the host's
  int32_t index;          // among those of its kind
  char name[128];         // in full
  rheos__device_name parsed_name;
  void *state;  // of the kind
};

// What is told of the memory of each device: TensorFlow's number for CPUs. Nothing keeps to it.
enum { RHEOS__MEMORY_LIMIT_BYTES = 256 << 20 };

// The job of a device that no other one is set for.
#define RHEOS__LOCAL_JOB "localhost"

// A device of index 0 to 9999, of a host by itself. The kind's name is short. Takes the reference
// to the memory, whose `device` becomes the name; NULL: it is in the host's.
void rheos__device_init(rheos__device *device, const rheos__device_kind *kind, int32_t index,
                        rheos__memory *memory, void *state);
// Lets go of the memory, which stays for tensors that still lie in it. Sessions with the device are
// gone.
void rheos__device_deinit(rheos__device *device);

// Names it as one of the task that `place` tells.
void rheos__device_set_task(rheos__device *device, const rheos__device_name *place);

static inline bool rheos__device_has_kernel(const rheos__device *device, const rheos__op_def *op,
                                            const rheos__attrs *attrs) {
  return device->kind->has_kernel(device, op, attrs);
}

// Whether reference kernels run on it, and kernels of the CPU find its values.
static inline bool rheos__is_on_host(const rheos__device *device) { return device->memory == NULL; }

// Whether kernels of either find the values of both.
static inline bool rheos__share_memory(const rheos__device *a, const rheos__device *b) {
  return a->memory == b->memory;
}

#endif  // RHEOS_SRC_DEVICE_DEVICE_H
