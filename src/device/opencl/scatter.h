// Writing at places that indices name, in variables and in tensors. Rows that go to one place are
// joined in their order. An index that is out of range is passed over: nothing waits for the card
// to see it.
#ifndef RHEOS_SRC_DEVICE_OPENCL_SCATTER_H
#define RHEOS_SRC_DEVICE_OPENCL_SCATTER_H

#include "device/opencl/launch.h"

// Rows and their places as sorted keys, place << 32 | row, in memory of so many bytes. Behind as
// many keys as are sorted is how many elements a place has.
typedef struct rheos__placing {
  rheos__stage_operand indices, keys;
  rheos_dtype index_dtype;
  int64_t num_rows, depth;  // each row is `depth` numbers
  // The sizes of the dimensions that these are in, and how many elements a place has; NULL: numbers
  // tell of a run, whose first kernel this then is: RHEOS_MAX_RANK sizes, and the elements
  const int64_t *dims;
  int64_t run;
} rheos__placing;

bool rheos__placing_can(const rheos__card *card, const rheos__placing *placing);
int64_t rheos__placing_keys(const rheos__placing *placing);
size_t rheos__placing_bytes(const rheos__placing *placing);
int32_t rheos__placing_stages(const rheos__placing *placing);
void rheos__placing_add(rheos__launch *launch, const rheos__placing *placing);

// Joins rows of updates with what is at their places by a formula in x, which is there, and y.
typedef struct rheos__joining {
  const rheos__placing *placing;
  rheos__stage_operand updates, to;
  rheos_dtype dtype;
  const char *formula;  // NULL: y
  // The work-items of a row: its elements where they are known. And the elements from one row of
  // the updates, and one element, to another
  int64_t lanes, from_row, from_each;
} rheos__joining;

void rheos__joining_add(rheos__launch *launch, const rheos__joining *joining);

rheos_status *rheos__cl_prepare_scatter_nd(rheos__prepare *p);
rheos_status *rheos__cl_prepare_tensor_scatter(rheos__prepare *p);
rheos_status *rheos__cl_prepare_scatter(rheos__prepare *p);
rheos_status *rheos__cl_prepare_unsorted_segment(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_SCATTER_H
