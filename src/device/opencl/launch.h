// Kernels as states of plans: `run` finds the buffers of its operands and gives one kernel after
// another to the card's queue.
//
// The first arguments of a kernel are its operands: for each the buffer and the byte that it begins
// at, (global char *, ulong). Numbers follow, which are set once, when the kernel is prepared.
#ifndef RHEOS_SRC_DEVICE_OPENCL_LAUNCH_H
#define RHEOS_SRC_DEVICE_OPENCL_LAUNCH_H

#include "base/text.h"
#include "device/device.h"
#include "device/opencl/blast.h"
#include "device/opencl/card.h"
#include "ops/kit/elementwise.h"

enum { RHEOS__SCRATCH = -1 };

typedef struct rheos__stage_operand {
  int32_t number;         // of the inputs and then the outputs of the op, or RHEOS__SCRATCH
  uint64_t offset_bytes;  // where it begins in that
} rheos__stage_operand;

// Work-items, and how many of them are a group; global numbers need not be multiples of it, so a
// kernel asks whether its place is there. A group of 0: the usual one.
typedef struct rheos__grid {
  uint32_t num_dims;
  size_t items[3], group[3];
} rheos__grid;

typedef struct rheos__stage {
  cl_kernel kernel;                     // or NULL:
  const rheos__blast_product *product;  // of the three operands, by CLBlast
  const rheos__stage_operand *operands;
  rheos__card_place *placed;            // where the operands lay last: what is set
  int32_t num_operands, num_arguments;  // arguments: those that are set
  rheos__grid grid;
} rheos__stage;

typedef struct rheos__launch {
  rheos__card *card;
  rheos__arena *arena;
  int32_t num_inputs, num_stages, stage_capacity;
  double work;     // multiplications and additions, and bytes
  const char *op;  // its type; NULL: it is several
  bool cannot;     // a kernel does not run here
  rheos_status *status;
  rheos__stage *stages;
} rheos__launch;

// One of at most `num_stages` kernels, for an op of so many inputs. What goes wrong while it is
// made is kept, and rheos__launch_end() tells; NULL when memory is short.
rheos__launch *rheos__launch_begin(rheos__card *card, rheos__arena *arena, int32_t num_inputs,
                                   int32_t num_stages);
void rheos__launch_add(rheos__launch *launch, const char *source, const char *name,
                       const rheos__stage_operand *operands, int32_t num_operands,
                       const rheos__grid *grid);
// As rheos__launch_add(), of a text that it ends.
void rheos__launch_add_text(rheos__launch *launch, rheos__text *text, const char *name,
                            const rheos__stage_operand *operands, int32_t num_operands,
                            const rheos__grid *grid);
// A product by CLBlast, which can.
void rheos__launch_add_product(rheos__launch *launch, const rheos__blast_product *product,
                               const rheos__stage_operand *operands);
// The next argument of the newest kernel: bytes, or room for so many in a group's own memory.
void rheos__launch_set(rheos__launch *launch, const void *value, size_t size_bytes);
void rheos__launch_set_local(rheos__launch *launch, size_t size_bytes);
static inline void rheos__launch_set_number(rheos__launch *launch, int64_t number) {
  const cl_long value = number;
  rheos__launch_set(launch, &value, sizeof value);
}

// The work of what is prepared.
double rheos__launch_work(const rheos__prepare *p);

// Answers `p` with it, or declines where a kernel does not compile; frees it unless it is the
// answer. `scratch_bytes`: what its kernels take together.
rheos_status *rheos__launch_end(rheos__launch *launch, rheos__prepare *p, size_t scratch_bytes);

// The kernel of a plan, whose state it is, and its release.
rheos_status *rheos__launch_run(const void *launch, const void *const *inputs, void *const *outputs,
                                void *scratch, int64_t first_unit, int64_t last_unit);
void rheos__launch_release(void *launch);
// As rheos__launch_run(), with numbers of this run alone as the last arguments of its one kernel.
rheos_status *rheos__launch_run_with(const rheos__launch *launch, const void *const *inputs,
                                     void *const *outputs, void *scratch, const uint64_t *numbers,
                                     int32_t num_numbers);

static inline rheos__card *rheos__card_of(const rheos__device *device) {
  return (rheos__card *)device->state;
}

#endif  // RHEOS_SRC_DEVICE_OPENCL_LAUNCH_H
