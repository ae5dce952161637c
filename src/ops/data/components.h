// What an op on iterators is declared to give, by its attributes output_types and output_shapes.
#ifndef RHEOS_SRC_OPS_DATA_COMPONENTS_H
#define RHEOS_SRC_OPS_DATA_COMPONENTS_H

#include "ops/data/dataset.h"

typedef struct rheos__components {
  int32_t count;
  const rheos_dtype *types;
  const rheos_shape *shapes;  // NULL: nothing is said of them
} rheos__components;

// Borrowed from the attributes.
rheos_status *rheos__components_of(const rheos__attrs *attrs, rheos__components *out_components);
// Fails, in TensorFlow's words, unless what there is fits what is wanted.
rheos_status *rheos__components_check(const rheos__components *wanted,
                                      const rheos__components *got);

#endif  // RHEOS_SRC_OPS_DATA_COMPONENTS_H
