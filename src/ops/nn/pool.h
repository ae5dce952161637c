// What pooling ops have in common, in two and three dimensions.
#ifndef RHEOS_SRC_OPS_NN_POOL_H
#define RHEOS_SRC_OPS_NN_POOL_H

#include "ops/kit/array_util.h"
#include "ops/kit/window.h"

typedef struct rheos__pool {
  rheos__windows windows;
  int64_t batch, channels;  // of the result of pooling
  int64_t depth;            // channels of the image that one channel of the result is made of
  bool batch_in_index;      // of argmax
  rheos__steps in, out;     // of the image and of the result
} rheos__pool;

typedef enum rheos__pool_kind {
  RHEOS__POOL_MAX,
  RHEOS__POOL_MAX_3D,
  RHEOS__POOL_ARGMAX,
  RHEOS__POOL_AVERAGE,
  RHEOS__POOL_MAX_GRAD,
  RHEOS__POOL_MAX_3D_GRAD,
  RHEOS__POOL_AVERAGE_GRAD,
  RHEOS__POOL_MAX_GRAD_GRAD,
  RHEOS__POOL_NUM_KINDS,
} rheos__pool_kind;

// What an op is given and gives, by letters: `i` something of the image's shape, `p` of the
// result's, `s` the shape of the image, `k` the sizes of the window, `d` its strides; "ipp>i".
typedef struct rheos__pool_op {
  rheos__pool_kind kind;
  int32_t spatial;
  const char *roles;
} rheos__pool_op;

// The pooling from attributes and the image's shape, of which parts may be unknown (-1). `sizes`
// and `strides` replace the attributes where they are not NULL.
rheos_status *rheos__pool_fit(const rheos__attrs *attrs, const rheos__pool_op *op,
                              const rheos_shape *image, const int64_t *sizes,
                              const int64_t *strides, rheos__pool *out_pool,
                              rheos_shape *out_shape);

// The reference kernel computes units [0, units) by this.
typedef void (*rheos__pool_fn)(const rheos__pool *p, const void *const *inputs,
                               void *const *outputs, bool wide_index, int64_t unit);
// NULL if there is none for the dtype.
rheos__pool_fn rheos__pool_kernel(rheos__pool_kind kind, rheos_dtype dtype);
int64_t rheos__pool_units(rheos__pool_kind kind, const rheos__pool *p);

// The state of the kernel. A faster one is this with another `fn`, and the units that it wants.
typedef struct rheos__pool_state {
  const rheos__pool_op *op;
  rheos__operands *operands;
  rheos__pool pool;
  rheos__pool_fn fn;
  int64_t units;
  bool late;  // the window's sizes are known only while running
  bool wide_index;
} rheos__pool_state;

// The state of the gradient that goes to elements by their indices.
typedef struct rheos__argmax_grad {
  rheos_dtype index_dtype;
  rheos__add_fn add;
  size_t element_bytes;
  int64_t elements, pooled;     // of the result; of what arrives
  int64_t image, pooled_image;  // of one batch entry, unless indices count the batch
} rheos__argmax_grad;

#endif  // RHEOS_SRC_OPS_NN_POOL_H
