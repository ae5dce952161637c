// Products of matrices, by a kernel of our own.
#ifndef RHEOS_SRC_DEVICE_OPENCL_CARD_PRODUCT_H
#define RHEOS_SRC_DEVICE_OPENCL_CARD_PRODUCT_H

#include "base/text.h"
#include "device/opencl/launch.h"

// c = a b, for each place of the batch: operands as numbered for stages, from bytes on.
typedef struct rheos__card_product {
  rheos_dtype dtype;
  rheos__stage_operand a, b, c;
  int64_t m, n, k;
  bool transpose_a, transpose_b;
  bool takes_scratch;       // behind what other kernels of the launch have there:
  uint64_t scratch_offset;  // bytes
  // The batch: dimensions, and how many matrices a and b move along each
  int32_t rank;
  int64_t dims[RHEOS_MAX_RANK], a_steps[RHEOS_MAX_RANK], b_steps[RHEOS_MAX_RANK];
} rheos__card_product;

// How many rows, columns, products a number, and products there are.
typedef struct rheos__sizes {
  int64_t m, n, k, count;
  bool takes_scratch;
  uint64_t scratch_offset;
  bool batch_inside;  // numbers of the next place of the batch follow those of a row in memory
} rheos__sizes;

// What is added takes this many stages at most; one without scratch.
enum { RHEOS__PRODUCT_STAGES = 2 };

// Adds the kernels of product.cl for these sizes, behind `text` that says what A, B and C are;
// frees it. `set` sets the further arguments of the newest kernel, from `more`. Returns the bytes
// of scratch that they take.
size_t rheos__product_add_text(rheos__launch *launch, rheos__text *text, rheos_dtype dtype,
                               const rheos__stage_operand *operands, const rheos__sizes *sizes,
                               void (*set)(rheos__launch *launch, const void *more),
                               const void *more);

bool rheos__product_can(const rheos__card *card, rheos_dtype dtype);
size_t rheos__product_add(rheos__launch *launch, const rheos__card_product *product);

rheos_status *rheos__cl_prepare_matmul(rheos__prepare *p);
rheos_status *rheos__cl_prepare_batch_matmul(rheos__prepare *p);

#endif  // RHEOS_SRC_DEVICE_OPENCL_CARD_PRODUCT_H
