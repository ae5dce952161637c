// Conditional accumulators: resources that add up gradients and give their mean, or sum, when there
// are enough of them. Gradients of an older step than the accumulator's are dropped.
#ifndef RHEOS_SRC_OPS_DATA_FLOW_ACCUMULATOR_H
#define RHEOS_SRC_OPS_DATA_FLOW_ACCUMULATOR_H

#include "graph/op_def.h"
#include "resource/waitable.h"

typedef struct rheos__accumulator {
  rheos__waitable waitable;  // its mutex guards all that follows
  rheos_dtype dtype;
  rheos_shape shape;  // of gradients, as far as it is known
  bool is_sum;        // not the mean
  int64_t step;       // gradients of steps before it are dropped
  int64_t count;      // of gradients in `sum`
  rheos_tensor *sum;  // NULL until there is one; of slices: rows
  // Of slices: the rows' indices, and how many gradients each holds.
  int64_t *indices, *row_counts;
} rheos__accumulator;

// Accumulators of slices are a kind of their own. The argument of a new one is a rheos__accumulator
// with dtype, shape and is_sum.
extern const rheos__resource_kind rheos__accumulator_kind, rheos__slice_accumulator_kind;

// The accumulator behind input 0; a status if it is another kind of resource, or of other
// gradients.
rheos_status *rheos__accumulator_of(const rheos__prepare *p, const rheos__resource_kind *kind,
                                    rheos__accumulator **out_accumulator);
rheos_status *rheos__prepare_accumulator(rheos__prepare *p);  // of the kind that the family names
rheos_status *rheos__prepare_on_accumulator(rheos__prepare *p);

// Whether a gradient of that step, input 1, is dropped.
rheos_status *rheos__accumulator_drops(const rheos__accumulator *a, const rheos_tensor *local_step,
                                       bool *out_drops);

// to += from, and to /= divisor, of half, float and double.
void rheos__add_elements(rheos_dtype dtype, void *to, const void *from, int64_t count);
void rheos__divide_elements(rheos_dtype dtype, void *to, int64_t divisor, int64_t count);

// Waits for as many gradients as input 1 says; `give` makes the outputs, under the mutex, and may
// leave nothing of them in the accumulator.
typedef rheos_status *(*rheos__accumulator_give)(rheos__accumulator *a, rheos_tensor **outputs);
rheos_status *rheos__accumulator_take(rheos__accumulator *a, rheos__step *step,
                                      const rheos_tensor *num_required,
                                      rheos__accumulator_give give, rheos_tensor **outputs);

#define RHEOS__ACCUMULATED                                                                      \
  "dtype: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, " \
  "bfloat16, uint16, complex128, half, uint32, uint64}"

#endif  // RHEOS_SRC_OPS_DATA_FLOW_ACCUMULATOR_H
