// Memory of whole batches in which a stage makes its elements, so that they need not be copied when
// they are put together: element `first` + k is row k of a block. A stack takes such a block over
// when its first row comes (rheos__stack_adopt()).
#ifndef RHEOS_SRC_OPS_DATA_ROW_BLOCKS_H
#define RHEOS_SRC_OPS_DATA_ROW_BLOCKS_H

#include "tensor/tensor.h"

typedef struct rheos__row_blocks {
  int64_t size;        // rows; 0: there are no blocks
  int64_t first;       // the number of an element that is the first of its batch
  int64_t most_bytes;  // of a block
  int32_t num_components, num_wasted;
  const rheos_dtype *types;
  rheos_shape *rows;      // by component; unknown until the first element tells
  rheos_tensor **blocks;  // of the batch under way; NULL: none
} rheos__row_blocks;

// Of elements of these dtypes and, as far as is known, shapes, which stay the caller's.
rheos_status *rheos__row_blocks_init(rheos__row_blocks *blocks, int64_t size,
                                     int32_t num_components, const rheos_dtype *types,
                                     const rheos_shape *shapes);
void rheos__row_blocks_deinit(rheos__row_blocks *blocks);
// Puts places for the components of that element, asked for in order, where they are NULL, or
// nothing.
void rheos__row_blocks_place(rheos__row_blocks *blocks, int64_t number, rheos_tensor **element);
// What became of an element: its shapes are those expected next. Where places are of no use there
// will be none.
void rheos__row_blocks_learn(rheos__row_blocks *blocks, rheos_tensor *const *element);

#endif  // RHEOS_SRC_OPS_DATA_ROW_BLOCKS_H
