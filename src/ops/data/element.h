// Pieces that datasets make elements of: rows of tensors, tensors of rows, seeds.
#ifndef RHEOS_SRC_OPS_DATA_ELEMENT_H
#define RHEOS_SRC_OPS_DATA_ELEMENT_H

#include "ops/data/dataset.h"
#include "ops/kit/philox.h"

// Row `row` of a tensor of rank 1 or more, as a tensor of its own.
// (Here and below `*tensor` may hold a place, which is used where it fits: rheos__tensor_place().)
rheos_status *rheos__tensor_row(const rheos_tensor *from, int64_t row, rheos_tensor **tensor);

// A scalar of a dtype of integers or floating-point numbers.
rheos_status *rheos__tensor_of_int(rheos_dtype dtype, int64_t value, rheos_tensor **tensor);

// Rows of one shape put together.
typedef struct rheos__stack {
  rheos_tensor *tensor;  // with room for `capacity` rows; NULL before the first
  rheos_tensor *place;   // to be used again
  rheos_shape row;
  int64_t count, capacity;
} rheos__stack;

// Makes room for rows of a dtype and shape that are expected, `most` at once if `is_sure` that they
// will come.
rheos_status *rheos__stack_expect(rheos__stack *stack, rheos_dtype dtype, const rheos_shape *row,
                                  int64_t most, bool is_sure);
// A place for the next row, the caller's; NULL: there is none yet, or no memory for it.
rheos_tensor *rheos__stack_place(rheos__stack *stack);
// Adds a row that was made where it belongs: in the place, or where the rows of somebody else's
// block of `most` begin, which becomes the stack's. Else false; `*row` may be NULL afterwards.
bool rheos__stack_adopt(rheos__stack *stack, rheos_tensor **row, int64_t most);

// Adds a row; at most `most` will come. A shape that is not the first one's is refused, naming
// `component`.
rheos_status *rheos__stack_add(rheos__stack *stack, const rheos_tensor *row, int64_t most,
                               int32_t component);
// The rows as one tensor; the stack is empty then, also after a failure.
rheos_status *rheos__stack_take(rheos__stack *stack, rheos_tensor **out_tensor);
static inline void rheos__stack_deinit(rheos__stack *stack) {
  rheos_tensor_unref(stack->place);
  rheos_tensor_unref(stack->tensor);
  *stack = (rheos__stack){0};
}

// The two seeds in inputs `arg` and the next one; where both are 0, some.
rheos_status *rheos__dataset_seeds(const rheos__dataset *dataset, int32_t arg, int64_t *out_seeds);

// Some seeds in place of two that are both 0.
rheos_status *rheos__random_seeds(int64_t *seeds);

static inline void rheos__philox_singles_skip(rheos__philox_singles *singles, int64_t count) {
  rheos__philox_skip(&singles->philox, (uint64_t)count / 4);
  for (int64_t i = 0; i < count % 4; ++i) rheos__philox_next(singles);
}

#endif  // RHEOS_SRC_OPS_DATA_ELEMENT_H
