// From a node and the shapes of its inputs to a prepared kernel.
#ifndef RHEOS_SRC_PLAN_ENTRIES_PREPARE_H
#define RHEOS_SRC_PLAN_ENTRIES_PREPARE_H

#include "plan/entries/plan.h"

// The arrays of a prepare that the plan fills in; kernels read the same ones through the prepare.
typedef struct rheos__prepare_arrays {
  rheos_dtype *input_dtypes;
  rheos_shape *input_shapes;
  rheos_tensor **input_values;
  rheos__resource **input_resources;
  rheos_shape *output_shapes;
} rheos__prepare_arrays;

// Fills in what the entry itself tells, for a kernel of the device. The arrays for inputs and
// outputs lie in `arena`: dtypes as the graph has them, shapes unknown, values and cells NULL.
rheos_status *rheos__prepare_init(rheos__prepare *p, const rheos__plan *plan,
                                  const rheos__entry *entry, const rheos__device *device,
                                  rheos__arena *arena, rheos__prepare_arrays *out_arrays);

// Infers the output shapes, which are those of `p`, from the inputs'.
rheos_status *rheos__prepare_shapes(const rheos__prepare *p, rheos_shape *output_shapes);

// Asks the device's variants, then the reference if it may run there.
rheos_status *rheos__prepare_kernel(rheos__prepare *p);

// The cell that an output of a prepared node refers to, borrowed; NULL: none.
static inline rheos__resource *rheos__prepared_cell(const rheos__prepare *p, int32_t output) {
  if (p->called_resources != NULL) return p->called_resources[output];
  return output == 0 ? p->output_resource : NULL;
}

// Takes the answer back, so that the kernels may be asked again. The state has been released.
void rheos__prepare_clear(rheos__prepare *p);

// The argument that the flat input `input` belongs to.
const rheos__arg *rheos__arg_of_input(const rheos__signature *signature, const rheos__attrs *attrs,
                                      int32_t input);

// Fails where a handle arrives at an argument of any dtype whose kernel would look at a value.
// After rheos__prepare_kernel().
rheos_status *rheos__check_handles(const rheos__entry *entry, const rheos__prepare *p);

// Runs the kernel on tensors, output shapes known unless it is a `compute`. `in` and `out` are room
// for pointers to the inputs and outputs. After a failure the caller frees what is in `outputs`.
rheos_status *rheos__run_prepared(const rheos__prepare *p, rheos_tensor *const *inputs,
                                  rheos__step *step, const void **in, void **out,
                                  rheos_tensor **outputs);

bool rheos__all_known(const rheos_shape *shapes, int32_t count);

#endif  // RHEOS_SRC_PLAN_ENTRIES_PREPARE_H
